"""Torques against gravity hold a robot at the given posture."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.control.robots import DOWN, pendulum, weighty

SPRING = fa.Drive(stiffness=60.0, damping=0.5, rotor_inertia=0.02)


@pytest.mark.parametrize("rate", [None, 500])
def test_a_rigid_robot_floats(rate):
    """A rigid robot without weight keeps its speed at any posture."""
    arm = weighty().rigid()
    start = {"a.q": 0.3, "b.q": -0.8}
    run = fa.simulate(arm, 0.5, torque=fa.gravity_torque(arm, rate=rate), q0=start, native=False)
    assert_allclose(run.data["q"].values, np.broadcast_to([0.3, -0.8], run.data["q"].shape), atol=1e-9)
    one = pendulum(gravity=DOWN, axis="y")
    moved = fa.simulate(one, 1.0, torque=fa.gravity_torque(one), v0={"a.q": 0.7}, native=False)
    assert_allclose(moved["a.q"].values, 0.7 * moved.time.values, atol=1e-7)


@pytest.mark.parametrize("drive", [None, SPRING])
@pytest.mark.parametrize("posture", [None, {"a": 0.3, "b": -0.4}])
def test_a_pd_with_the_weight_of_the_bent_robot_has_no_error(drive, posture):
    """The rigid twin's weight leaves what deflection changes; a PD alone what its springs give."""
    arm, goal = weighty(drive), {"a": 0.3, "b": -0.4}
    name = "motor" if drive else "q"
    at = {f"{link}.{each}": value for link, value in goal.items() for each in {"q", name}}
    start = fa.equilibrium(arm, at)
    error = {}
    for model in ("flexible", "rigid"):
        torque = fa.pd(arm, 30.0, 2.0, goal) + fa.gravity_torque(arm, posture, model)
        run = fa.simulate(arm, 3.0, torque=torque, q0=start, native=False)
        error[model] = max(abs(run[f"{link}.{name}"].values[-1] - goal[link]) for link in goal)
    assert error["flexible"] < 1e-6
    assert 1e-3 < error["rigid"] < 0.05


def test_a_posture_takes_what_its_equilibrium_takes():
    arm, at = weighty(), {"a": 0.3, "b": -0.4}
    system = fa.System(arm, native=False)
    q = fa.equilibrium(system, {"a.q": 0.3, "b.q": -0.4})
    forces = system.gravity(q) + system.spring_forces(q)
    found = fa.gravity_torque(system, at, "flexible").references
    assert [found[f"gravity.{link}"](0.0) for link in "ab"] == pytest.approx(
        [forces[system.index("a.q")], forces[system.index("b.q")]]
    )


def test_torques_at_the_shaft_are_less_by_the_gear():
    drive = fa.Drive(rotor_inertia=1e-4, gear_ratio=50.0, torque_at="motor")
    found = fa.gravity_torque(pendulum(drive, DOWN, "y"), {"a": 0.0}).references["gravity.a"](0.0)
    assert found == pytest.approx(-9.81 / 50)


def test_closed_loops_are_refused():
    links = [fa.Link(name, 1.0, fa.Revolute("y"), mass=1.0) for name in "ab"]
    loop = fa.Robot(links=links, gravity=DOWN, constraints=[fa.OnLine("b", direction="x")])
    with pytest.raises(ValueError, match="has constraints: which of its actuators"):
        fa.gravity_torque(loop)
    with pytest.raises(ValueError, match="has constraints: which of its actuators"):
        fa.feedforward(loop, {"a": 0.0, "b": 0.0}, 1.0)
