"""Inverse dynamics along motions, and torques against gravity, for rigid and flexible robots."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.control.robots import DOWN, pendulum, weighty

MOTION = {"a": fa.minimum_jerk(0.0, 0.8, 3.0), "b": fa.minimum_jerk(0.0, -0.5, 3.0)}


def test_a_rigid_robot_follows_exactly():
    arm = weighty()
    run = fa.simulate(arm.rigid(), 3.0, torque=fa.feedforward(arm, MOTION, 3.0), native=False)
    for link, expected in MOTION.items():
        assert_allclose(run[f"{link}.q"].values, expected(run.time.values), atol=1e-4)


def test_the_error_of_a_flexible_one_falls_with_each_model():
    arm, start = weighty(), fa.equilibrium(weighty())
    error = {}
    for model in (None, "rigid", "quasi-static"):
        torques = None if model is None else fa.feedforward(arm, MOTION, 3.0, model=model)
        run = fa.simulate(arm, 3.0, torque=fa.pd(arm, 40.0, 4.0, MOTION, feedforward=torques), q0=start, native=False)
        error[model] = max(np.abs(run[f"{link}.q"].values - MOTION[link](run.time.values)).max() for link in "ab")
    assert error[None] > 0.08
    assert error["rigid"] < 0.01
    assert error["quasi-static"] < 0.001


@pytest.mark.parametrize("drive", [None, fa.Drive(stiffness=60.0, damping=0.5, rotor_inertia=0.02)])
def test_at_rest_it_is_the_torque_of_the_equilibrium(drive):
    arm, at = weighty(drive), {"a": 0.3, "b": -0.4}
    found = fa.feedforward(arm, at, 1.0, model="quasi-static")
    held = fa.gravity_torque(arm, at, model="flexible").references
    for link in at:
        assert found[link](0.4) == pytest.approx(held[f"gravity.{link}"](0.0), rel=1e-8)


def test_quasi_static_is_rigid_where_links_are_stiff():
    with pytest.warns(fa.UnitsWarning):
        arm = weighty().with_({f"links.{link}.material": fa.Material(7e16, 2700.0) for link in "ab"})
    rigid, bent = (fa.feedforward(arm, MOTION, 3.0, model=model) for model in ("rigid", "quasi-static"))
    for link in MOTION:
        assert_allclose(bent[link](np.linspace(0, 3, 50)), rigid[link](np.linspace(0, 3, 50)), atol=1e-6)


def test_torques_jump_where_accelerations_do():
    """m l^2 times the acceleration of a trapezoid, to both sides; held outside."""
    arm = pendulum()
    way = fa.trapezoid(0.0, 1.0, speed=1.0, acceleration=2.0)
    torque = fa.feedforward(arm, {"a": way}, 2.0)["a"]
    assert [torque(t) for t in (0.2, 0.75, 1.2)] == pytest.approx([2.0, 0.0, -2.0], abs=1e-9)
    assert len(torque.jumps()) >= 2
    run = fa.simulate(arm, 2.0, torque={"a": torque}, native=False)
    assert run["a.q"].values[-1] == pytest.approx(1.0, abs=1e-5)
    wavy = fa.feedforward(arm, {"a": fa.sine(0.2, 1.0)}, 1.5)["a"]
    assert wavy(9.0) == pytest.approx(wavy(1.5))


def test_motions_that_no_torque_makes_are_refused():
    arm = pendulum(gravity=DOWN)
    for motion, what in ((fa.step(0.0, 1.0, 0.5), "it jumps"), (fa.ramp(0.0, 1.0, 0.2, 0.6), "its speed jumps")):
        with pytest.raises(ValueError, match=rf"motion\['a'\]: {what} at t = 0"):
            fa.feedforward(arm, {"a": motion}, 1.0)
    with pytest.raises(ArithmeticError, match="no quasi-static deflection"):
        fa.feedforward(weighty(), {"a": fa.minimum_jerk(0, 50.0, 0.1), "b": 0.0}, 0.1, model="quasi-static")


def test_a_feedforward_of_data_requires_a_value_after_them():
    """A spline that does not end at zero is refused if the run is longer, unless `after` is given."""
    arm = weighty()
    times = [0.0, 0.5, 1.0]

    def controller(torque):
        return fa.pd(arm, 40.0, 4.0, MOTION, feedforward={"a": torque})

    with pytest.raises(ValueError, match=r"feedforward\.a = spline\(3 points\): its data reach from 0 to 1 s"):
        fa.simulate(arm, 2.0, torque=controller(fa.spline(times, [0.0, 1.0, 2.0])), native=False)
    for torque in (fa.spline(times, [2.0, 1.0, 0.0]), fa.spline(times, [0.0, 1.0, 2.0], after="zero")):
        assert controller(torque).references["feedforward.a"](5.0) == 0.0
    assert controller(fa.spline(times, [0.0, 1.0, 2.0], after="hold")).references["feedforward.a"](5.0) == 2.0


# --- torques against gravity ---

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
        torque = fa.pd(arm, 30.0, 2.0, goal) + fa.gravity_torque(arm, posture, model=model)
        run = fa.simulate(arm, 3.0, torque=torque, q0=start, native=False)
        error[model] = max(abs(run[f"{link}.{name}"].values[-1] - goal[link]) for link in goal)
    assert error["flexible"] < 1e-6
    assert 1e-3 < error["rigid"] < 0.05


def test_a_posture_takes_what_its_equilibrium_takes():
    arm, at = weighty(), {"a": 0.3, "b": -0.4}
    system = fa.System(arm, native=False)
    q = fa.equilibrium(system, {"a.q": 0.3, "b.q": -0.4})
    forces = system.gravity(q) + system.spring_forces(q)
    found = fa.gravity_torque(system, at, model="flexible").references
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
