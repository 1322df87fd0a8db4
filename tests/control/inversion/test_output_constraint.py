"""Output constraints: positions, axes, and joints that serve neither."""

import numpy as np
import pytest

import flexarm as fa
from tests.control.arms import double

BAR = {
    "section": fa.Section.rectangle(0.006, 0.03),
    "material": fa.Material(7e10, 2700.0, damping=1e-3),
    "flexible": fa.Flexible(bend_y=1, stiffening="none"),
}


def test_three_joints_in_a_plane_take_the_axes_along():
    arm = fa.Robot(links=[fa.Link(name, 0.5, **BAR) for name in "abc"])
    path = {
        "a": fa.minimum_jerk(0, 0.5, 1.0),
        "b": fa.minimum_jerk(1.0, 0.5, 1.0),
        "c": fa.minimum_jerk(-0.5, 0.3, 1.0),
    }
    found = fa.invert(arm, path, 1.0)
    t = found.t - found.before
    rigid = fa.System(arm.rigid(), native=False)
    expected = rigid.frame("c", None, np.stack([each(t) for each in path.values()], axis=1))
    assert found.system.frame("c", None, found.q) == pytest.approx(expected, abs=1e-9)
    assert np.abs(found.q[:, found.system.elastic]).max() > 1e-4
    run = found.play(rtol=1e-6, native=False)
    assert found.missed(run).max() < 1e-5


def test_joints_beyond_the_point_follow_their_references():
    """The upper link's tip follows; the fore link, beyond it, turns by its own profile."""
    path = {"upper": fa.minimum_jerk(0, 0.5, 1.0), "fore": fa.minimum_jerk(1.0, 1.3, 1.0)}
    found = fa.invert(double(damping=0.02), path, 1.0, output=("upper", None))
    assert found.q[:, found.system.index("fore.q")] == pytest.approx(path["fore"](found.t - found.before), abs=1e-9)
    tip = found.system.tip(found.q, "upper")
    assert np.arctan2(tip[:, 1], tip[:, 0]) == pytest.approx(path["upper"](found.t - found.before), abs=1e-9)


def test_a_link_that_slides_through_its_joint():
    arm = fa.Robot(
        links=[
            fa.Link("base", 0.5, mass=1.0),
            fa.Link("boom", 1.2, fa.FixedPrismatic(), section=BAR["section"], material=BAR["material"],
                    flexible=fa.Flexible(bend_y=2), payload=fa.PointMass(0.3)),
        ]
    )  # fmt: skip
    path = {"base": fa.minimum_jerk(0, 0.8, 1.5), "boom": fa.minimum_jerk(0.6, 0.9, 1.5)}
    found = fa.invert(arm, path, 1.5)
    run = found.play(rtol=1e-6, native=False)
    assert found.missed(run).max() < 1e-4


@pytest.mark.slow
def test_an_arm_in_space():
    links = ("column", "upper", "fore")
    arm = fa.library.rrr_arm().with_({f"links.{name}.material.damping": 1e-3 for name in links})
    ends = ((0, 1.0), (-0.5, -0.2), (1.0, 0.6))
    found = fa.invert(arm, {name: fa.minimum_jerk(*each, 3.0) for name, each in zip(links, ends)}, 3.0)
    run = found.play(rtol=1e-6)
    assert found.missed(run).max() < 1e-4


@pytest.mark.slow
def test_around_a_circle_with_more_modes():
    """With a heavy tip short steps find no solution: zeros pass through infinity."""
    turn = fa.minimum_jerk(0, 2 * np.pi, 1.5)
    circle = lambda t: (0.8 + 0.2 * np.cos(turn(t)), 0.3 + 0.2 * np.sin(turn(t)), 0.0)  # noqa: E731
    exact = {f"links.{name}.flexible.stiffening": "exact" for name in ("upper", "fore")}
    found = fa.invert(double(3).with_(exact), circle, 1.5, q0={"fore.q": 1.0})
    assert found.missed(found.play(rtol=1e-6)).max() < 1e-5
    assert found.missed(found.play(double(5).with_(exact), rtol=1e-6)).max() < 1e-4
