"""Error of runs by too few shapes, against runs with more."""

import threading
import warnings

import numpy as np
import pytest
import scipy.linalg

import flexarm as fa
from flexarm.integrators.inputs import Schedule
from flexarm.results import truncation_check
from tests.dynamics.test_shape_truncation import STEEL, loaded_arm

TORQUE = {"upper": fa.bang_bang(20.0, (0.5, 1.0)), "fore": fa.bang_bang(5.0, (0.5, 1.0))}


def true_error(robot, finer, duration, **inputs):
    """Return the largest distance between tips of links, as a share of the peak deflection."""
    runs, tips = [], []
    for each in (robot, finer):
        run = fa.simulate(each, duration, sample=duration / 500, rtol=1e-5, native=False, progress=False, **inputs)
        system = fa.System(run.robot, native=False)
        runs.append(run)
        tips.append([system.frame(link.name, None, run.array("q"))[..., :3, 3] for link in each.links])
    distance = np.linalg.norm(np.subtract(*tips), axis=2).max()
    return runs[0].truncation.error, distance / np.abs(runs[1].array("deflection")).max()


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("kind", ["torque", "motion", "controller", "gravity", "load"])
def test_the_estimate_is_near_the_error_of_the_run(kind):
    one, two = (
        fa.Robot(
            links=[
                fa.Link(
                    "arm",
                    1.0,
                    fa.Revolute("z"),
                    section=fa.Section.rectangle(0.01, 0.01),
                    material=fa.Material(70e9, 2700.0, damping=1e-4),
                    flexible=fa.Flexible(bend_y=shapes),
                    hub=fa.PointMass(0.5, inertia=0.02),
                )
            ],
            gravity=(0, -9.81 if kind == "gravity" else 0, 0),
        )
        for shapes in (1, 2)
    )
    move = fa.minimum_jerk(0.0, 0.3, 0.15)
    inputs = {
        "torque": {"torque": {"arm": fa.bang_bang(1.0, (0.1, 0.2))}},
        "motion": {"motion": {"arm": move}},
        "controller": {"torque": fa.pd(one, 200.0, 10.0, references={"arm": move})},
        "gravity": {"motion": {"arm": 0.0}},
        "load": {"motion": {"arm": 0.0}, "loads": [fa.PointLoad("arm", 0.5, force=(0.0, 2.0, 0.0))]},
    }[kind]
    estimate, error = true_error(one, two, 0.4, **inputs)
    assert error > 0.001
    assert estimate == pytest.approx(error, rel=0.25)


def test_a_run_with_too_few_shapes_says_so_once():
    with pytest.warns(fa.ValidityWarning) as said:
        run = fa.simulate(loaded_arm(2), 1.5, torque=TORQUE, native=False)
    few = [str(each.message) for each in said if "too few shapes" in str(each.message)]
    assert len(few) == 1
    assert "a mode at 50.79 Hz is computed as 51.74 Hz" in few[0]
    assert run.truncation.error > 0.01
    assert run.truncation.shapes["upper"]["bend_y"] in (3, 4)


def test_the_numbers_that_are_told_do():
    robot = loaded_arm(2)
    with pytest.warns(fa.ValidityWarning, match="too few shapes"):
        run = fa.simulate(robot, 1.5, torque=TORQUE, native=False)
    changes = {
        f"links.{link}.flexible.{family}": n
        for link, each in run.truncation.shapes.items()
        for family, n in each.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", fa.ValidityWarning)
        again = fa.simulate(robot.with_(changes), 1.5, torque=TORQUE, native=False)
    assert again.truncation.error < 0.01


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_figures_are_saved_with_the_run(tmp_path):
    run = fa.simulate(loaded_arm(2), 0.2, torque=TORQUE, native=False)
    run.save(tmp_path / "run.nc")
    assert fa.Run.load(tmp_path / "run.nc").truncation == run.truncation
    assert run.truncation.free.own


def test_estimates_do_not_mix_in_threads_and_after_changes():
    """Runs that differ in one number have their own estimates, in any thread and any order."""
    payloads = [1.0, 2.0, 3.0, 4.0]

    def estimate(payload):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fa.ValidityWarning)
            return fa.simulate(
                loaded_arm(2, payload), 0.3, torque=TORQUE, native=False, progress=False
            ).truncation.error

    alone = [estimate(payload) for payload in payloads]
    truncation_check._known.clear()
    found = {}
    threads = [threading.Thread(target=lambda p=p: found.update({p: estimate(p)})) for p in reversed(payloads)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [found[payload] for payload in payloads] == alone
    assert len(set(alone)) == 4


def test_what_has_no_estimate_says_why():
    run = fa.simulate(loaded_arm(2).rigid(), 0.01, native=False)
    assert run.truncation.error is None
    assert "no flexible link" in run.truncation.reason


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_members_of_sweeps_are_checked():
    study = fa.sweep(
        loaded_arm(2), {"links.fore.payload.mass": [3.0, 4.0, 5.0]}, duration=1.5, torque=TORQUE, progress=False
    )
    assert any("too few shapes" in str(each) for each in study["warnings"].values)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_estimates_of_runs_of_one_robot_do_not_mix():
    """Duration, link, place of a load and joints that are driven decide the estimate, in any order of runs."""
    push = fa.PointLoad("upper", 1.0, force=(0.0, 5.0, 0.0))
    cases = [
        {"duration": 0.02, "torque": {"upper": 5.0}},
        {"duration": 0.04, "torque": {"upper": 5.0}},
        {"duration": 0.04, "torque": {"fore": 5.0}},
        {"duration": 0.04, "loads": [push]},
        {"duration": 0.04, "loads": [fa.PointLoad("upper", 0.3, force=(0.0, 5.0, 0.0))]},
        {"duration": 0.04, "loads": [push], "motion": {"upper": 0.0}},
    ]

    def estimate(case):
        return fa.simulate(loaded_arm(2), **case, native=False, progress=False).truncation.error

    in_sequence = [estimate(case) for case in cases]
    for case, expected in zip(cases, in_sequence, strict=True):
        truncation_check._known.clear()
        assert estimate(case) == expected
    assert len(set(in_sequence)) == len(cases)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("side", [0.02, 0.05])
def test_a_static_error_counts_where_a_robot_rests_in_equilibrium(side):
    section = fa.Section.rectangle(side, side)
    one, two = (
        loaded_arm(shapes).with_({"links.upper.section": section, "links.fore.section": section}, gravity=(0, -9.81, 0))
        for shapes in (1, 2)
    )
    estimate, error = true_error(one, two, 0.05, motion={"upper": 0.0, "fore": 0.0}, q0="equilibrium")
    assert error > 0.01
    assert estimate == pytest.approx(error, rel=0.3)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_functions_of_the_user_are_not_called_again(monkeypatch):
    times, calls = [], []

    def torque(t):
        times.append(float(t))
        return 5.0 if float(t) < 0.1 else -5.0

    def watched(*given, own=truncation_check.estimate):
        before = len(times)
        found = own(*given)
        calls.append(len(times) - before)
        return found

    monkeypatch.setattr(truncation_check, "estimate", watched)
    run = fa.simulate(loaded_arm(2), 0.2, torque={"upper": torque}, native=False, progress=False)
    assert run.truncation.error is not None
    assert calls == [0]


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("duration", [2.0, 200.0])
def test_long_runs_and_short_pulses_are_seen(duration):
    """The estimate of a run that rests after a pulse does not depend on how long it rests."""
    system = fa.System(loaded_arm(2), native=False)
    schedule = Schedule(system, {"upper": fa.bang_bang(20.0, (0.002, 0.004))}, None, None)
    schedule.look(duration, np.zeros(system.nq), np.zeros(system.nq))
    inputs = truncation_check.RunInputs(system, schedule, duration, np.zeros((2, system.nq)))
    assert truncation_check.estimate_of(inputs).error > 0.05


def test_twist_is_compared():
    shaft = fa.Link(
        "shaft",
        1.0,
        fa.Revolute("x"),
        section=fa.Section.circle(0.01),
        material=STEEL,
        flexible=fa.Flexible(twist=2, basis=fa.Modes(tip_mass=0.0)),
        payload=fa.PointMass(1.0, inertia=0.02),
    )
    with pytest.warns(fa.ValidityWarning, match=r"too few shapes.*of 'shaft'"):
        fa.modes(fa.Robot(links=[shaft]))


@pytest.fixture
def sampled(monkeypatch):
    """Count how often inputs are sampled for an estimate."""
    calls, own = [], truncation_check.RunInputs.sampled

    def counted(self, these):
        calls.append(self.duration)
        return own(self, these)

    monkeypatch.setattr(truncation_check.RunInputs, "sampled", counted)
    return calls


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_the_same_inputs_are_estimated_once(sampled):
    arm = loaded_arm(2)
    errors = [
        fa.simulate(
            arm, duration, torque={"upper": fa.bang_bang(size, (0.05, 0.1))}, native=False, progress=False
        ).truncation.error
        for size, duration in ((5.25, 0.2), (5.25, 0.2), (5.25, 0.21), (6.25, 0.2))
    ]
    assert sampled == [0.2, 0.21, 0.2]
    assert errors[0] == errors[1]


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("kind", ["formula", "function"])
def test_a_function_that_has_changed_is_estimated_again(kind):
    state = {"start": 0.0}

    def formula(t):
        return 5.0 * np.cos(40.0 * t + state["start"])

    def function(t):
        return float(formula(float(t)))

    arm, torque = loaded_arm(2), {"upper": formula if kind == "formula" else function}
    first, same = (fa.simulate(arm, 0.2, torque=torque, native=False, progress=False).truncation for _ in range(2))
    state["start"] = 1.5
    other = fa.simulate(arm, 0.2, torque=torque, native=False, progress=False).truncation
    assert first.error == same.error
    assert other.error != pytest.approx(first.error, rel=1e-3)


@pytest.mark.parametrize("decay", [0.0, 0.02, 0.9])
@pytest.mark.parametrize("count", [1, 255, 256, 257, 3000])
def test_responses_are_those_of_the_recurrence(decay, count):
    """Every mode, step by step with the exact solution of x'' + 2 d x' + w^2 x = f for constant f."""
    rng = np.random.default_rng(1)
    omega, dt = np.array([1.0, 7.0, 30.0]), 0.05
    pushes, values, start = rng.normal(size=(3, 2)), rng.normal(size=(2, count)), rng.normal(size=(2, 3))
    found = truncation_check._responses(omega, decay * omega, pushes, values, start, dt)
    for k, w in enumerate(omega):
        system = np.array([[0.0, 1.0, 0.0], [-(w**2), -2 * decay * w, 1.0], [0.0, 0.0, 0.0]])
        through = scipy.linalg.expm(system * dt)
        x, expected = np.array([*start[:, k], 0.0]), []
        for force in (pushes @ values)[k]:
            expected.append(x[0])
            x = through @ [*x[:2], force]
        np.testing.assert_allclose(found[k], expected, rtol=1e-8, atol=1e-8)
