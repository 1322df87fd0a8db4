"""Robots that several benchmarks (and tests of instruction counts) measure."""

from __future__ import annotations

import flexarm as fa


def planar_chain(count: int) -> fa.Robot:
    """design.md's arm continued to `count` links."""
    upper, fore = fa.library.two_link_arm().links
    middle = [fore.model_copy(update={"name": f"link{k}", "payload": None}) for k in range(count - 2)]
    return fa.Robot(links=[upper, *middle, fore])


def spatial_chain(count: int, damping: float = 0.0) -> fa.Robot:
    """Links with three modes in each of the four families."""
    flexible = fa.Flexible(bend_y=3, bend_z=3, twist=3, stretch=3)
    material = fa.Material(7e10, 2700, damping=damping)
    fields = {"section": fa.Section.rectangle(0.02, 0.03), "material": material, "flexible": flexible}
    return fa.Robot(links=[fa.Link(f"link{k}", 1.0, fa.Revolute("zyx"[k % 3]), **fields) for k in range(count)])


def sliding_pair(kind: str, modes: int = 3) -> fa.Robot:
    """The two-link arm with its second link hung by a joint of another kind: R, Pa or Pb."""
    upper, fore = fa.library.two_link_arm().links
    joints = {"R": fa.Revolute(), "Pa": fa.SlidingPrismatic(), "Pb": fa.FixedPrismatic()}
    changes = {"joint": joints[kind], "flexible": fa.Flexible(bend_y=modes)}
    return fa.Robot(links=[upper, fore.model_copy(update=changes)])
