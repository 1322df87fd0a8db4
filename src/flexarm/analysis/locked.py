"""Which joints of a robot can be locked: all, or as many as its loops leave."""

from __future__ import annotations

from flexarm.analysis.modes import Hold
from flexarm.mechanics.arguments import Vector
from flexarm.mechanics.assembly import Assembly
from flexarm.mechanics.constrained_equilibrium import holdable
from flexarm.mechanics.system import System


def locked_joints(system: System, q: Vector = None) -> dict[str, Hold]:
    """By link whether its joint is locked, for `fa.modes(joints=...)` at a posture q.

    Joints of a robot with loops are locked in their order as long as the others can still close the loops, so that
    links vibrate as they do while these are driven.

    >>> from flexarm.robot import library
    >>> locked_joints(System(library.two_link_arm(), native=False))
    {'upper': 'locked', 'fore': 'locked'}
    """
    links = [each.link for each in system.actuators]
    if not system.constraints:
        return dict.fromkeys(links, "locked")
    held = holdable(system, Assembly(system, ()).posture(system.posture(q)))
    return {each.link: "locked" if each.coordinate.index in held else "free" for each in system.actuators}
