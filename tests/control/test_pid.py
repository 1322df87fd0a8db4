"""Joint PID and PD: steady errors, wind-up, elastic drives, moving references."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.control.closed_loops import poles
from tests.control.robots import DOWN, pendulum, weighty
from tests.simulation.test_constraints import at, four_bar


@pytest.mark.parametrize("rate", [None, 50])
def test_the_integral_ends_as_the_weight(rate):
    arm = pendulum(gravity=DOWN, axis="y")
    goal = 0.4
    weight = -9.81 * np.cos(goal)
    controller = fa.pid(arm, 60.0, 60.0, 15.0, {"a": goal}, rate=rate)
    run = fa.simulate(arm, 9.0, torque=controller, native=False)
    assert run["a.q"].values[-1] == pytest.approx(goal, abs=1e-4)
    assert run.torque.values[-1, 0] == pytest.approx(weight, rel=1e-4)
    alone = fa.simulate(arm, 3.0, torque=fa.pd(arm, 60.0, 15.0, {"a": goal}, rate=rate), native=False)
    assert abs(alone["a.q"].values[-1] - goal) > 0.1


def test_its_poles_are_those_of_the_formula():
    controller = fa.pid(pendulum(), 50.0, 30.0, 10.0, {"a": 0.0})
    exact = np.roots([1, 10.0, 50.0, 30.0])
    assert_allclose(poles(pendulum(), controller), sorted(exact[exact.imag >= 0], key=abs), rtol=1e-9)


@pytest.mark.parametrize("rate", [None, 50])
def test_back_calculation_ends_wind_up(rate):
    """After a large step under a torque limit, an integral without back-calculation overshoots."""
    arm = pendulum()

    def overshoot(**more):
        controller = fa.pid(arm, 20.0, 12.0, 9.0, {"a": 3.0}, limit=2.0, rate=rate, **more)
        return fa.simulate(arm, 9.0, torque=controller, native=False)["a.q"].values.max() - 3.0

    assert overshoot(tracking_time=1e6) > 0.8  # as without
    assert overshoot() < 0.4
    assert overshoot(tracking_time=0.2) < 0.4


def test_digital_integrals_approach_the_compiled_one():
    def last(rate):
        controller = fa.pid(pendulum(), 20.0, 20.0, 4.0, {"a": 1.0}, rate=rate, limit=6.0)
        return fa.simulate(pendulum(), 1.0, torque=controller, native=False)["a.q"].values[-1]

    missed = [last(rate) - last(None) for rate in (100, 200, 400)]
    assert_allclose(np.divide(missed[:-1], missed[1:]), 2.0, rtol=0.2)


def test_limits_count_with_the_feedforward_and_those_of_motors():
    arm = pendulum(gravity=DOWN, axis="y")
    weight = fa.gravity_torque(arm)
    controller = fa.pid(arm, 60.0, 60.0, 15.0, {"a": 0.0}, feedforward=weight, actuators={"a": fa.Actuator(limit=9.0)})
    assert controller.gains["limit.a"] == 9.0
    run = fa.simulate(arm, 0.3, torque=controller, native=False)  # its weight is 9.81: it falls, and u is more than 9
    assert_allclose(run.torque.values[:, 0], -9.0, atol=1e-9)
    plain = fa.pid(arm, 60.0, 60.0, 15.0, {"a": 0.0}, feedforward={"a": -9.81})
    run = fa.simulate(arm, 0.3, torque=plain, native=False)
    assert np.abs(run["a.q"].values).max() < 1e-9


def test_gains_of_no_integral_do_nothing():
    arm = weighty()
    aims = {"a": 0.0, "b": 0.0}
    controller = fa.pid(arm, 20.0, {"b": 5.0}, {"a": 2.0}, aims, limit=3.0)
    assert (controller.gains["ki.a"], controller.gains["reset.a"]) == (0.0, 0.0)
    assert controller.gains["reset.b"] == pytest.approx(5.0 / 20.0)
    with pytest.raises(ValueError, match="tracking_time: give one"):
        fa.pid(arm, 0.0, 5.0, 0.0, aims, limit=3.0)
    with pytest.raises(ValueError, match=r"tracking_time = 0.001 s: must be at least the law's period, 0.01 s"):
        fa.pid(arm, 1.0, 5.0, 1.0, aims, tracking_time=1e-3, rate=100)


def test_limits_that_come_later_are_refused():
    """The integral would wind up behind limits that are added later."""
    arm = pendulum()
    own = fa.pid(arm, 20.0, 8.0, 2.0, {"a": 1.0}, limit=5.0)
    for other in (
        fa.Feedback(lambda t, x: [0.0], limit=2.0),
        fa.Feedback(lambda t, x: [0.0], actuators={"a": fa.Actuator(limit=2.0)}),
    ):
        for one, second in ((own, other), (other, own)):
            with pytest.raises(ValueError, match=r"give the limits to the first, fa.pid"):
                one + second
    assert (own + fa.Feedback(lambda t, x: [0.0], limit=5.0)).limit == 5.0


# --- PD ---


def test_a_joint_moves_as_a_spring_and_a_damper_move_it():
    """1 kg m2: q'' = kp (r - q) - kd q'."""
    run = fa.simulate(pendulum(), 2.0, torque=fa.pd(pendulum(), 20.0, 2.0, {"a": 1.0}), native=False)
    t, omega = run.time.values, np.sqrt(19.0)
    exact = 1 - np.exp(-t) * (np.cos(omega * t) + np.sin(omega * t) / omega)
    assert_allclose(run["a.q"].values, exact, atol=1e-4)


def test_rates_of_references_count():
    """A PD that uses the rate of a ramp follows it without lag."""
    aim = fa.ramp(0.0, 4.0, 0.0, 4.0)
    torque = fa.pd(pendulum(), 20.0, 9.0, {"a": aim})
    run = fa.simulate(pendulum(), 4.0, torque=torque, v0={"a.q": 1.0}, native=False)
    assert_allclose(run["a.q"].values, aim(run.time.values), atol=1e-6)


def test_a_digital_one_approaches_the_compiled_one():
    """With its period, to first order: what is held is half a period old."""
    exact = fa.simulate(pendulum(), 1.0, torque=fa.pd(pendulum(), 20.0, 2.0, {"a": 1.0}), native=False)["a.q"].values[
        -1
    ]
    missed = [
        fa.simulate(pendulum(), 1.0, torque=fa.pd(pendulum(), 20.0, 2.0, {"a": 1.0}, rate=rate), native=False)["a.q"]
        .values[-1] - exact
        for rate in (50, 100, 200)
    ]  # fmt: skip
    assert_allclose(np.divide(missed[:-1], missed[1:]), 2.0, rtol=0.1)


@pytest.mark.parametrize("gear", [1.0, 10.0])
def test_behind_an_elastic_drive_it_holds_the_motor(gear):
    """Collocated: stable whatever the gains; on the side of the joint the same gains shake it."""
    at = "motor" if gear > 1 else "joint"
    drive = fa.Drive(stiffness=1000.0, damping=0.2, rotor_inertia=0.2 / gear**2, gear_ratio=gear, torque_at=at)
    arm = pendulum(drive)
    held, shaken = (fa.pd(arm, 50.0, 10.0, {"a": 0.0}, side=side) for side in ("motor", "joint"))
    assert set(held.references) == {"a.motor"}
    # (0.2 s^2 + 10.2 s + 1050) (s^2 + 0.2 s + 1000) = (0.2 s + 1000)^2, in which gains are those at the joint
    exact = np.roots(np.polysub(np.polymul([0.2, 10.2, 1050], [1, 0.2, 1000]), np.polymul([0.2, 1000], [0.2, 1000])))
    assert_allclose(poles(arm, held), sorted(exact[exact.imag > 0], key=abs), rtol=1e-9)
    assert poles(arm, held).real.max() < -1
    assert poles(arm, shaken).real.max() > 1


def test_gains_are_by_link_and_tuned_without_compiling():
    from flexarm.feedback.traced_law import TracedLaw

    arm = fa.library.two_link_arm()
    system = fa.System(arm, native=False)
    aims = {"upper": 0.1, "fore": 0.2}
    first, second = (fa.pd(arm, {"upper": k, "fore": 3.0}, k, aims) for k in (10.0, 20.0))
    assert second.gains == {"kp.upper": 20.0, "kp.fore": 3.0, "kd.upper": 20.0, "kd.fore": 20.0}
    assert TracedLaw(first, system).identity == TracedLaw(second, system).identity
    alone = fa.pd(arm, {"fore": 3.0}, 1.0, {"fore": 0.2})
    assert set(alone.gains) == {"kp.fore", "kd.fore"}
    both = alone + fa.pd(arm, {"upper": 10.0}, 10.0, {"upper": 0.1})
    together = fa.pd(arm, {"fore": 3.0, "upper": 10.0}, {"fore": 1.0, "upper": 10.0}, aims)
    runs = [fa.simulate(system, 0.2, torque=each) for each in (both, together)]
    assert_allclose(runs[0].data["q"].values, runs[1].data["q"].values, atol=1e-9)


def test_de_luca_and_sicilianos_gains():
    """PD of motors takes energy from every mode. Stiff gains nearly clamp the joints: undamped links vibrate for
    minutes, at the locked frequencies; with 5 % in the first mode they settle."""
    gains = {"upper": 160.0, "fore": 60.0}, {"upper": 11.0, "fore": 1.1}
    goal = {"upper": 0.5, "fore": 0.5}
    at = {f"{link}.q": each for link, each in goal.items()}
    arm = fa.library.de_luca_siciliano_arm()
    found = poles(arm, fa.pd(arm, *gains, goal), at)
    assert found.real.max() < 0
    locked = fa.modes(arm, q=at, joints="locked").frequencies[0]
    assert abs(found[0]) / (2 * np.pi) == pytest.approx(locked, rel=0.02)
    assert -found[0].real == pytest.approx(6.3e-3, rel=0.02)

    damped = fa.library.de_luca_siciliano_arm(damping=0.1 / (2 * np.pi * 0.48))
    torque = fa.pd(damped, *gains, goal)
    assert poles(damped, torque, at)[0].real == pytest.approx(-0.05 * 2.73, rel=0.2)
    run = fa.simulate(damped, 40.0, torque=torque, sample=0.05, native=False)
    left = np.abs(run.data["q"].values[run.time.values > 35.0] - fa.System(damped).vector(at)).max()
    assert left < 0.5 * 0.005


def test_missing_or_unknown_links_are_refused():
    arm = weighty()
    with pytest.raises(ValueError, match="references: there is none for 'b'; a number holds it there"):
        fa.pd(arm, 1.0, 1.0, {"a": 0.0})
    with pytest.raises(KeyError, match="kp: there is no actuator at 'c'; there are a, b"):
        fa.pd(arm, {"c": 1.0}, 1.0, {"a": 0.0})
    with pytest.raises(ValueError, match="kd: names 'b', which gets no torque since kp does not name it"):
        fa.pd(arm, {"a": 1.0}, {"b": 1.0}, {"a": 0.0})
    with pytest.raises(ValueError, match="ki: names 'b'"):
        fa.pid(arm, {"a": 1.0}, {"b": 1.0}, 1.0, {"a": 0.0})
    with pytest.raises(ValueError, match="no joint that could be driven"):
        fa.pd(fa.Robot(links=[fa.Link("a", 1.0, fa.Weld(), mass=1.0)]), 1.0, 1.0, {"a": 0.0})


def test_slides_and_closed_loops_are_held_too():
    slide = fa.Robot(
        links=[
            fa.Link("rail", 2.0, fa.Weld(), mass=1.0),
            fa.Link("cart", 0.5, fa.SlidingPrismatic(), mass=0.0, payload=fa.PointMass(2.0)),
        ]
    )
    run = fa.simulate(slide, 6.0, torque=fa.pd(slide, 8.0, 8.0, {"cart": 1.0}), native=False)  # 2 kg: critical
    assert_allclose(run["cart.q"].values, 1 - (1 + 2 * run.time.values) * np.exp(-2 * run.time.values), atol=2e-4)
    links = [fa.Link(name, 1.0, mass=1.0) for name in "ab"]
    loop = fa.Robot(links=links, constraints=[fa.OnLine("b", direction="x")])
    run = fa.simulate(loop, 4.0, torque=fa.pd(loop, 20.0, 8.0, {"a": 0.5, "b": -1.0}), q0={"a.q": 0.2}, native=False)
    assert run["a.q"].values[-1] == pytest.approx(0.5, abs=1e-3)
    assert run["b.q"].values[-1] == pytest.approx(-1.0, abs=1e-3)


def test_passive_joints_of_a_loop_need_no_reference():
    """A four-bar is held by its crank alone: the others follow, and get no torque."""
    robot = four_bar()
    hold = fa.pd(robot, 50.0, 5.0, references={"crank": 1.0})
    assert sorted(hold.gains) == ["kd.crank", "kp.crank"]
    run = fa.simulate(robot, 0.1, torque=hold, q0=at(1.0), native=False)
    assert_allclose(run["crank.q"].values, 1.0, atol=1e-9)
    assert not run["torque"].sel(input=["coupler", "rocker"]).values.any()
    with pytest.raises(ValueError, match="references: there is none for 'coupler'"):
        fa.pd(robot, {"crank": 50.0, "coupler": 1.0}, 5.0, references={"crank": 1.0})
    with pytest.raises(ValueError, match="kd: names 'rocker', which gets no torque since references do not name it"):
        fa.pd(robot, 50.0, {"crank": 1.0, "rocker": 1.0}, references={"crank": 1.0})
    with pytest.raises(KeyError, match="no actuator at 'krank'"):
        fa.pd(robot, 50.0, 5.0, references={"crank": 1.0, "krank": 1.0})
