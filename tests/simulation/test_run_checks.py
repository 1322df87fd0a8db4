"""Robots some of whose coordinates move no mass."""

import numpy as np
import pytest

import flexarm as fa


def rails(first_mass: float) -> fa.Robot:
    """Two slides along one line: only the sum of their ways moves the second's mass."""
    slide = fa.SlidingPrismatic()
    return fa.Robot(links=[fa.Link("a", 1.0, slide, mass=first_mass), fa.Link("b", 1.0, slide, mass=1.0)])


@pytest.mark.parametrize("torque", [None, {"a": 1.0}, {"b": 1.0}, {"b": fa.step(0.0, 1.0, 0.2)}])
@pytest.mark.parametrize("method", ["generalized-alpha", "rk45", "adams"])
def test_a_run_without_inertia_does_not_start(torque, method):
    with pytest.raises(ValueError, match=r"singular: 'a\.q', 'b\.q' slide along the same direction, and no mass"):
        fa.simulate(rails(0.0), 0.5, torque=torque, method=method, q0={"b.q": 0.5}, native=False)


def test_a_light_rail_is_not_taken_for_none():
    run = fa.simulate(rails(1e-3), 0.1, torque={"b": 0.05}, q0={"b.q": 0.5}, native=False)
    # the rail is pushed back by the force that drives the slide, against its own mass alone
    assert run["a.q"].values[-1] == pytest.approx(-0.05 / 1e-3 * 0.1**2 / 2, rel=1e-6)
    assert run["b.q"].values[-1] - 0.5 + run["a.q"].values[-1] == pytest.approx(0.05 * 0.1**2 / 2, rel=1e-4)


def test_a_run_that_becomes_singular_on_its_way_ends_there():
    """A stick that turns about itself has no inertia; the hinge before it turns that axis into its own."""
    links = [
        fa.Link("arm", 1.0, fa.Revolute("x"), mass=1.0, offset=(0, 0, 0)),
        fa.Link("hand", 0.5, fa.Revolute("z"), mass=1.0),
    ]
    robot = fa.Robot(links=links)
    assert fa.System(robot, native=False).singularity({"hand.q": 0.0}) is not None
    with pytest.warns(fa.ValidityWarning, match="ended early: diverged"):
        run = fa.simulate(
            robot, 2.0, torque={"arm": 1.0}, motion={"hand": lambda t: np.pi / 2 * (1 - t)}, native=False, rtol=1e-3
        )
    assert 0.9 < run.time.values[-1] < 1.0 + 1e-9
    assert "singular" in run.reason


def test_a_posture_without_inertia_on_the_way_is_named():
    """Two hinges with a massless link between: straight, the inner one turns nothing that the outer one does not."""
    links = [fa.Link("a", 1.0, mass=0.0), fa.Link("b", 1.0, mass=0.0, payload=fa.PointMass(1.0))]
    robot = fa.Robot(links=links)
    assert fa.System(robot, native=False).singularity({"b.q": 0.5}) is None
    with pytest.warns(fa.ValidityWarning, match="ended early"):
        run = fa.simulate(robot, 5.0, q0={"b.q": 0.3}, v0={"b.q": -0.1}, native=False)
    assert "the mass matrix is" in run.reason
    assert "singular" in run.reason
