"""Torques for a path of the tip: played back the tip follows, before the path and after it the robot prepares."""

import threading

import numpy as np
import pytest

import flexarm as fa
from flexarm.control.inversion.output_constraint import OutputConstraint
from tests.control.arms import MOVE, double, single, sprung

WAY = np.pi / 2  # m, of a tip at 1 m


@pytest.fixture(scope="module")
def found():
    return fa.invert(single(), {"arm": MOVE}, 1.0)


@pytest.fixture(scope="module")
def run(found):
    return found.play(rtol=1e-6, native=False)


def angle(tip):
    return np.arctan2(tip[:, 1], tip[:, 0])


# --- a quarter of a turn ---


def test_the_tip_of_a_single_link_follows_a_quarter_of_a_turn(found, run):
    assert found.missed(run).max() < 2e-4 * WAY  # nearly all of it along the link, which bends
    late = np.abs(angle(run.array("tip")) - MOVE(run.array("time") - found.before))
    assert late.max() < 3e-6
    assert found.error_estimate < 5e-5
    assert found.left < 1e-5


def test_it_follows_with_two_more_modes(found):
    run = found.play(single(4), native=False)
    assert found.missed(run).max() < 5e-4 * WAY


def test_the_torque_starts_before_the_tip_moves(found):
    before = found.t < found.before - 1e-9
    largest = np.abs(found.torques).max()
    assert found.before > 0.1
    assert np.ptp(found.tip[before], axis=0).max() == 0
    assert np.abs(found.torques[before]).max() > 0.05 * largest
    assert np.abs(found.torques[0]).max() < 1e-5 * largest


def test_torques_of_the_rigid_twin_miss_the_path():
    rigid = fa.invert(single().rigid(), {"arm": MOVE}, 1.0)
    run = fa.simulate(single(), 1.0, torque=rigid.torque, native=False)
    late = np.abs(angle(run.array("tip")) - MOVE(run.array("time"))).max()
    assert late > 1e-3


def test_a_path_in_space_is_that_of_the_joints(found):
    """One joint takes the tip along its circle only."""
    path = fa.invert(single(), lambda t: (np.cos(MOVE(t)), np.sin(MOVE(t)), 0.0), 1.0)
    assert path.torques == pytest.approx(found.torques, abs=1e-5)


def test_zeros_are_those_of_the_linear_model(found):
    lin = fa.linearize(single(), inputs=["arm"], outputs=["tip.y"])
    expected = np.sort(np.abs(lin.zeros.real))
    assert np.sort(np.abs(found.zeros.real)) == pytest.approx(np.repeat(expected, 2), rel=1e-4)
    assert found.before >= 12 / expected[0]


def test_the_motion_obeys_the_equations_of_motion(found):
    system = found.system
    forces = system.inverse_dynamics(found.q, found.v, found.a)
    assert forces[:, 0] == pytest.approx(found.torques[:, 0])
    assert np.abs(forces[:, 1:]).max() < 1e-8
    assert angle(system.tip(found.q)) == pytest.approx(MOVE(found.t - found.before), abs=1e-10)


def test_profiles_for_simulate(found):
    assert found.torque["arm"](found.t) == pytest.approx(found.torques[:, 0])
    assert found.motion["arm"](found.t) == pytest.approx(found.q[:, 0])
    driven = fa.simulate(single(), found.duration, motion=found.motion, q0=found.q0, rtol=1e-6, native=False)
    assert found.missed(driven).max() < 1e-3 * WAY


def test_steps_are_of_order_four_on_a_smooth_path():
    path = {"arm": fa.rest_to_rest(0.0, 1.0, 1.0, smooth=6)}
    torques = [fa.invert(single(1), path, 1.0, sample=1 / n, before=0.3, after=0.3).torques for n in (40, 80, 160)]
    coarse, fine = (
        np.abs(a[:52] - b[:104:2]).max() for a, b in ((torques[0], torques[1]), (torques[1][::2], torques[2][::2]))
    )
    assert 3.6 < np.log2(coarse / fine) < 4.4


# --- other robots ---


def test_a_rigid_robot_takes_its_inverse_dynamics():
    arm = double(gravity=(0, -9.81, 0)).rigid()
    path = {"upper": fa.minimum_jerk(-0.3, 0.2, 1.0), "fore": fa.minimum_jerk(1.5, 0.8, 1.0)}
    found = fa.invert(arm, path, 1.0)
    assert found.before == 0
    t = found.t[:-1]
    states = (np.stack([each(t, rate) for each in path.values()], axis=1) for rate in range(3))
    assert found.torques[:-1] == pytest.approx(fa.System(arm, native=False).inverse_dynamics(*states), abs=1e-12)


@pytest.mark.slow
def test_a_rigid_robot_takes_its_rigid_torques():
    arm, times = double().rigid(), np.linspace(0, 1, 17)
    path = [fa.rest_to_rest(0.9, 0.7, 1.0, smooth=3), fa.rest_to_rest(0.3, 0.5, 1.0, smooth=3), 0.0]
    found = fa.invert(arm, path, times, q0={"fore.q": 1.0})
    plan = fa.rigid_torques(arm, path, times, q0={"fore.q": 1.0})
    for link, each in plan.torque.items():
        assert found.torque[link](found.t) == pytest.approx(each(found.t), abs=1e-6)


def test_two_links_under_gravity():
    arm = double(gravity=(0, -9.81, 0))
    path = {"upper": fa.minimum_jerk(-0.3, 0.2, 1.0), "fore": fa.minimum_jerk(1.5, 0.8, 1.0)}
    found = fa.invert(arm, path, 1.0)
    run = found.play(rtol=1e-6, native=False)
    assert found.missed(run).max() < 1e-4 * np.linalg.norm(np.diff(found.tip, axis=0), axis=1).sum()
    straight = arm.rigid()
    start = fa.System(straight, native=False).tip({"upper.q": -0.3, "fore.q": 1.5})
    assert found.system.tip(found.q0) == pytest.approx(start, abs=1e-9)  # sags, and is there all the same
    assert found.q0["upper.bend_y[1]"] < -1e-3


def test_a_motor_behind_a_spring_takes_the_fourth_rate_of_its_path():
    """tau = (J + Jm) y'' + J Jm / k y''''."""
    path = fa.rest_to_rest(0.0, 1.0, 1.0, smooth=5)
    found = fa.invert(sprung(), {"arm": path}, 1.0, sample=1 / 400)
    t = np.linspace(0.01, 0.99, 99)
    coefficients = np.polynomial.Polynomial(path.pieces[1].coefficients)
    J, Jm, k = 0.3, 0.05, 200.0
    exact = (J + Jm) * coefficients.deriv(2)(t) + J * Jm / k * coefficients.deriv(4)(t)
    assert found.torque["arm"](t) == pytest.approx(exact, abs=1e-4 * np.abs(exact).max())


def test_torques_are_counted_where_the_drive_says():
    path = {"arm": fa.rest_to_rest(0.0, 1.0, 1.0, smooth=5)}
    joint, motor = (
        fa.invert(sprung(gear_ratio=10.0, torque_at=at), path, 1.0, sample=1 / 50) for at in ("joint", "motor")
    )
    assert motor.torques == pytest.approx(joint.torques / 10)


def test_a_function_is_as_smooth_as_profiles_are():
    path = fa.rest_to_rest(0.0, 1.0, 1.0, smooth=5)
    places = fa.invert(
        sprung(), lambda t: (np.cos(path(t)), np.sin(path(t)), 0.0), 1.0, components=["y"], sample=1 / 50
    )
    joints = fa.invert(sprung(), {"arm": path}, 1.0, sample=1 / 50)
    assert places.torques == pytest.approx(joints.torques, abs=1e-3 * np.abs(joints.torques).max())


def test_a_motor_behind_a_spring_needs_a_smooth_path():
    with pytest.raises(ValueError, match=r"tip: the rate of its acceleration jumps at t = 0 s.*smooth=4"):
        fa.invert(sprung(), {"arm": MOVE}, 1.0)


# --- other outputs and methods ---


def test_small_motions_are_those_of_the_linear_model():
    """Apart from the steps, which the FFT does not have, the difference grows with the square of the amplitude."""

    def torques(amplitude, method):
        path = {"upper": (0, amplitude), "fore": (1, 1 + amplitude / 2)}
        moves = {link: fa.rest_to_rest(*ends, 1.0, smooth=5) for link, ends in path.items()}
        return fa.invert(double(), moves, 1.0, method=method, sample=1 / 200, before=0.1, after=0.1).torques / amplitude

    linear, small = torques(1e-3, "linear"), torques(1e-3, "nonlinear")
    assert small == pytest.approx(linear, abs=2e-3 * np.abs(linear).max())
    one, two = (np.abs(torques(amplitude, "nonlinear") - small).max() for amplitude in (0.05, 0.1))
    assert 1.8 < two / one < 2.3  # of torques that were divided by the amplitude


def test_long_ways_are_not_for_the_linear_model():
    path = {"upper": fa.minimum_jerk(0, 1.0, 1.0), "fore": fa.minimum_jerk(1, 2.0, 1.0)}
    with pytest.warns(fa.ValidityWarning, match="method = 'linear': the equations of motion take other torques"):
        fa.invert(double(), path, 1.0, method="linear")


def test_joints_follow_forwards_in_time():
    found = fa.invert(single(), {"arm": MOVE}, 1.0, output="joints", after=0.2)
    assert found.before == 0
    assert found.q[:, 0] == pytest.approx(MOVE(found.t), abs=1e-8)
    run = found.play(rtol=1e-6, native=False)
    assert run.array("q")[:, 0] == pytest.approx(MOVE(run.array("time")), abs=1e-4)
    assert found.missed(run).max() > 0.01  # the tip does not


def test_another_place_follows_its_own_path():
    found = fa.invert(double(2), {"upper": fa.minimum_jerk(0, 0.5, 1.0), "fore": fa.minimum_jerk(1, 1.3, 1.0)}, 1.0,
                       output=("fore", 0.55))  # fmt: skip
    run = found.play(rtol=1e-6, native=False)
    assert found.place == ("fore", 0.55)
    assert found.missed(run).max() < 1e-4


def test_joints_that_are_not_named_are_held():
    found = fa.invert(double(damping=0.02), {"fore": fa.minimum_jerk(1, 1.3, 1.0)}, 1.0, q0={"upper.q": 0.2})
    assert np.abs(found.q[:, found.system.index("upper.q")] - 0.2).max() < 1e-9


def test_quasi_static_joints_make_up_for_gravity():
    arm, slow = single(gravity=(0, -9.81, 0)), fa.minimum_jerk(0.0, 0.5, 20.0)
    found = fa.invert(arm, {"arm": slow}, 20.0, method="quasi-static", sample=0.1)
    system = fa.System(arm, native=False)
    assert angle(system.tip(found.q)) == pytest.approx(slow(found.t), abs=1e-10)
    rest = fa.equilibrium(system, {"arm.q": found.q[0, 0]})
    assert found.q[0] == pytest.approx(rest, abs=1e-9)
    assert angle(system.tip(fa.equilibrium(system, {"arm.q": 0.0}))[None])[0] < -0.02  # what it makes up for


def test_quasi_static_torques_are_those_of_slow_motions():
    def off(duration):
        path = {"arm": fa.rest_to_rest(0.0, 0.5, duration, smooth=5)}
        slow = fa.invert(single(), path, duration, method="quasi-static", sample=duration / 200)
        exact = fa.invert(single(), path, duration, sample=duration / 200)
        return (
            np.abs(slow.torque["arm"](slow.t) - exact.torque["arm"](slow.t + exact.before)).max()
            / np.abs(exact.torques).max()
        )

    assert off(1.0) < 0.05
    assert off(2.0) == pytest.approx(off(1.0) / 4, rel=0.1)


# --- refused, warned, and twice ---


def test_robots_that_cannot_come_to_rest_are_refused():
    path = {"fore": fa.minimum_jerk(1, 1.3, 1.0)}
    with pytest.raises(ValueError, match=r"vibrate at [\d.]+ Hz without end.*fa.Damping"):
        fa.invert(double(damping=0.0), path, 1.0)
    with pytest.raises(ValueError, match=r"needs [\d.]+ s to decay.*\(before and after\)"):
        fa.invert(double(), path, 1.0)


def test_short_windows_cause_a_warning():
    with pytest.warns(fa.ValidityWarning, match="before and after: .* is cut off"):
        found = fa.invert(single(), {"arm": MOVE}, 1.0, before=0.0, after=0.0, sample=0.01)
    assert found.left > 1e-3


@pytest.mark.parametrize(
    ("tip", "words"),
    [
        ({"arm": fa.trapezoid(0, 1, 2.0, 4.0)}, "acceleration at t = 0 s, where it begins"),
        ({"arm": fa.spin_up(1.0, 1.0)}, "speed at t = 1 s, where it ends"),
        ({"arm": fa.step(0.0, 1.0, 0.5)}, "itself jumps at t = 0.5 s"),
        ({"arm": fa.ramp(0.0, 1.0, 0.2, 0.7)}, "its speed jumps at t = 0.2 s"),
        ({"arm": 0.3}, "stays where it is"),
        ({}, "names no joint"),
        (MOVE, "one profile is no place"),
        (lambda t: (2.0 - t, 0.0, 0.0), "tip at t = 0 s .*out of reach"),
        (np.zeros((5, 3)), "tip has shape"),
    ],
)  # fmt: skip
def test_paths_that_cannot_be_followed_are_refused(tip, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fa.invert(single(), tip, 1.0)


def test_joints_beyond_their_travel_are_refused():
    arm = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 0.5, fa.SlidingPrismatic(), mass=1.0)])
    with pytest.raises(ValueError, match=r"tip: 'b.q' = 1.\d+ at t = .* outside of its travel"):
        fa.invert(arm, {"b": fa.minimum_jerk(0.2, 1.5, 1.0)}, 1.0)


def test_more_joints_than_a_pose_determines_are_refused():
    bar = {"mass": 1.0}
    arm = fa.Robot(links=[fa.Link(name, 0.5, **bar) for name in "abcd"])
    with pytest.raises(ValueError, match="does not determine the joints of a, b, c, d"):
        fa.invert(arm, {name: fa.minimum_jerk(0.1, 0.3 + k, 1.0) for k, name in enumerate("abcd")}, 1.0)


def test_joints_as_output_have_no_method():
    with pytest.raises(ValueError, match="method = 'linear': joints as output are driven forwards in time"):
        fa.invert(single(), {"arm": MOVE}, 1.0, output="joints", method="linear")


def test_closed_loops_are_refused():
    arm = fa.Robot(
        links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)], constraints=[fa.OnPlane("b", normal="y")]
    )
    with pytest.raises(ValueError, match="has constraints"):
        fa.invert(arm, {"a": MOVE}, 1.0)


def test_results_are_read_only(found):
    given = {"arm": MOVE}
    again = fa.invert(single(), given, 1.0)
    given.clear()
    assert (again.torques == found.torques).all()
    assert (again.q == found.q).all()
    with pytest.raises(ValueError, match="read-only"):
        again.q[0] = 1.0
    with pytest.raises(TypeError, match="q0: play gives what was found"):
        again.play(q0={})
    with pytest.raises(ValueError, match="robot: has actuators at upper, fore"):
        again.play(double())
    with pytest.raises(TypeError, match="run = 3: must be a Run"):
        again.missed(3)


def test_threads_give_the_same_result(found):
    results = []
    system = fa.System(single(), native=False)
    threads = [threading.Thread(target=lambda: results.append(fa.invert(system, {"arm": MOVE}, 1.0))) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(results) == 2
    assert all((each.torques == found.torques).all() for each in results)


def test_an_interrupt_ends_the_computation(monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(OutputConstraint, "residual", pressed)
    with pytest.raises(KeyboardInterrupt):
        fa.invert(single(), {"arm": MOVE}, 1.0)


def test_long_work_shows_a_bar(monkeypatch, capsys):
    monkeypatch.setattr("flexarm.foundation.progress.BAR_DELAY_S", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    fa.invert(single(1), {"arm": MOVE}, 1.0, sample=0.02, progress=True)
    assert "inverting" in capsys.readouterr().err


def test_a_short_move_in_a_long_time_is_resolved():
    short = fa.minimum_jerk(0.0, 0.5, 0.3)
    found = fa.invert(single(1), {"arm": short}, 12.0, sample=0.01)
    run = found.play(rtol=1e-6, native=False)
    assert angle(run.array("tip")) == pytest.approx(short(run.array("time") - found.before), abs=3e-4)


def test_what_moves_between_two_times_is_not_overlooked():
    """A twitch that is over before a hundredth of the time."""

    def twitch(t):
        return 0.2 * fa.rest_to_rest(0.0, 1.0, 0.3, smooth=5)(t - 0.35) - 0.2 * fa.rest_to_rest(
            0.0, 1.0, 0.3, smooth=5
        )(t - 0.65)

    with pytest.warns(fa.ValidityWarning, match="steps of 0.016 s; more of them would be too many"):
        found = fa.invert(single(1), {"arm": twitch}, 50.0)
    assert np.ptp(found.q[:, 0]) > 0.19
    with pytest.raises(ValueError, match="sample = 1 s: is too long to see"):
        fa.invert(single(1), {"arm": twitch}, 50.0, sample=1.0)
