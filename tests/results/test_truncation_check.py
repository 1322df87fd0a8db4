"""Error of runs by too few shapes, against runs with more."""

import threading
import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.integrators.inputs import Schedule
from flexarm.results import truncation_check
from tests.dynamics.accuracy.test_shape_truncation import STEEL, loaded_arm

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
    assert run.truncation.shapes["upper"]["bend_y"] == 6  # for the deflection of this link; tips need 4


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


AL = fa.Material(70e9, 2700.0, damping=1e-5)
FLAT = fa.Section.rectangle(0.006, 0.020)


def bar(shapes):
    """A light bar on a hinge without a motor's inertia, with a payload."""
    hub, payload = fa.PointMass(0.3, inertia=0.001), fa.PointMass(0.1, inertia=0.01)
    flexible = fa.Flexible(bend_y=shapes)
    return fa.Robot(links=[fa.Link("bar", 1.0, section=FLAT, material=AL, flexible=flexible, hub=hub, payload=payload)])


def pair(shapes, hub=None, **joint):
    """Two light links."""
    flexible = fa.Flexible(bend_y=shapes)
    fields = {"section": FLAT, "material": AL, "flexible": flexible, "hub": hub}
    links = [fa.Link("a", 0.6, fa.Revolute("z", **joint), **fields), fa.Link("b", 0.5, fa.Revolute("z"), **fields)]
    return fa.Robot(links=links)


SWITCHED = fa.bang_bang(0.3, (0.5, 1.0))
RUNS = {
    "thrown": (pair, 1.0, {"v0": {"a.q": 3.0}, "q0": {"b.q": 1.0}}),
    "ramps as motions": (pair, 1.0, {"motion": {"a": fa.ramp(0, 0.3, 0.2, 0.7), "b": 0.0}}),
    "a torque as a law": (bar, 2.0, {"torque": lambda t, q, v: [SWITCHED(t)]}),
    "a law that damps": (bar, 2.0, {"torque": lambda t, q, v: [SWITCHED(t) - 0.05 * v["bar.q"]]}),
    "a weak law": (
        bar,
        2.0,
        {"torque": lambda t, q, v: [SWITCHED(t) + 0.3 * (0.3 - q["bar.q"]) - 0.1 * v["bar.q"]]},
    ),
    "a load that cannot be traced": (
        bar,
        1.0,
        {"loads": [fa.PointLoad("bar", None, [0, lambda t: 0.5 if float(t) > 0.3 else 0.0, 0])]},
    ),
}


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("kind", RUNS)
def test_errors_of_runs_without_usual_inputs_are_seen(kind):
    make, duration, inputs = RUNS[kind]
    estimate, error = true_error(make(1), make(2), duration, **inputs)
    assert error > 0.03
    assert estimate == pytest.approx(error, rel=0.4)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("rate", [None, 2000.0])
def test_joints_beside_a_controlled_one_are_free(rate):
    hub = fa.PointMass(0.3, inertia=0.001)
    one, two = (pair(shapes, hub) for shapes in (2, 4))
    reference = {"a": fa.minimum_jerk(0, 0.5, 0.8)}
    law = fa.pd(one, {"a": 10.0}, {"a": 0.5}, references=reference, rate=rate)
    estimate, error = true_error(one, two, 1.5, torque=law)
    assert error < 0.01
    assert estimate < 0.01


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_laws_with_states_are_followed():
    one, two = (pair(shapes, fa.PointMass(0.3, inertia=0.001)) for shapes in (2, 4))
    law = fa.pid(
        one, {"a": 40.0, "b": 20.0}, {"a": 40.0, "b": 10.0}, {"a": 4.0, "b": 1.0}, references={"a": 0.5, "b": 0.0}
    )
    estimate, error = true_error(one, two, 1.0, torque=law)
    assert error > 0.01
    assert estimate == pytest.approx(error, rel=0.3)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize(
    ("stiffness", "inputs"),
    [
        (20.0, {"q0": {"bar.q": 0.3, "bar.motor": 0.0}}),
        (200.0, {"motion": {"bar": fa.ramp(0, 0.3, 0.05, 0.1)}}),
        (200.0, {"motion": {"bar": 0.0}, "q0": {"bar.q": 0.1}}),
    ],
    ids=["wound", "moved", "held and wound"],
)
def test_elastic_drives_are_estimated(stiffness, inputs):
    def arm(shapes):
        drive = fa.Drive(stiffness=stiffness, rotor_inertia=1e-3)
        flexible = fa.Flexible(bend_y=shapes)
        link = fa.Link("bar", 1.0, fa.Revolute("z", drive=drive), section=FLAT, material=AL, flexible=flexible)
        return fa.Robot(links=[link])

    estimate, error = true_error(arm(1), arm(2), 0.3, **inputs)
    assert error > 0.01
    assert estimate == pytest.approx(error, rel=0.4)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_coulomb_friction_is_not_covered_and_widens_the_estimate():
    one, two = (
        pair(shapes, fa.PointMass(0.3, inertia=0.001)).with_(
            {"links.a.joint.coulomb": 0.02, "links.b.joint.coulomb": 0.02, "links.b.payload": fa.PointMass(0.1)}
        )
        for shapes in (2, 4)
    )
    run = fa.simulate(one, 1.5, torque={"a": SWITCHED}, native=False, progress=False)
    assert "Coulomb friction of 'a', 'b' is not covered" in run.truncation.reason
    estimate, error = true_error(one, two, 1.5, torque={"a": SWITCHED})
    assert error > 0.1
    assert estimate > 0.5 * error


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_large_bending_is_a_reason():
    push = fa.PointLoad("bar", None, [0, 2.0, 0])
    soft = bar(1).with_({"links.bar.material.E": 5e8, "links.bar.flexible.stiffening": "exact"})
    run = fa.simulate(soft, 0.5, motion={"bar": 0.0}, loads=[push], native=False, progress=False)
    assert "of its length: the error may be larger" in run.truncation.reason


def test_programming_errors_are_not_swallowed(monkeypatch):
    def failing(self, these):
        raise ValueError("cannot reshape array")

    monkeypatch.setattr(truncation_check.RunInputs, "sampled", failing)
    truncation_check._known.clear()
    with pytest.raises(ValueError, match="cannot reshape"):
        fa.simulate(bar(1), 0.05, torque={"bar": 0.3}, native=False, progress=False)


def test_deflections_are_compared_with_their_own_peaks():
    """The tip is right where the deflection is not: joints of an arm with light motors move against its links."""
    steel, section = fa.Material(2.1e11, 7850.0), fa.Section.rectangle(0.012, 0.030)

    def arm(shapes):
        hub, flexible = fa.PointMass(1.0, inertia=0.02), fa.Flexible(bend_y=shapes)
        fields = {"section": section, "material": steel, "flexible": flexible, "hub": hub}
        fore = fa.Link("fore", 0.8, payload=fa.PointMass(4.0), **fields)
        return fa.Robot(links=[fa.Link("upper", 1.0, **fields), fore])

    torque = {"upper": fa.bang_bang(20, (0.5, 1)), "fore": fa.bang_bang(6, (0.5, 1))}
    with pytest.warns(fa.ValidityWarning, match="the deflection of 'upper' is off by about .* of its own peak"):
        run = fa.simulate(arm(3), 2.0, torque=torque, progress=False)
    finer = fa.simulate(arm(6), 2.0, torque=torque, progress=False)
    bent = finer.at(run.array("time")).array("deflection")[:, 0, 1]
    error = np.abs(run.array("deflection")[:, 0, 1] - bent).max() / np.abs(bent).max()
    assert run.truncation.error < 0.01
    assert run.truncation.deflection["upper"] == pytest.approx(error, rel=0.4)


def test_robots_that_are_not_compared_say_so_where_few_shapes_bend():
    def supported(shapes):
        return bar(shapes).with_(constraints=[fa.PointSupport("bar", (0.5, 0, 0), "y")])

    with pytest.warns(fa.ValidityWarning, match="constraints.* are not compared with more shapes: bend_y=2 of 'bar'"):
        run = fa.simulate(supported(2), 0.1, torque={"bar": 1.0}, native=False, progress=False)
    assert run.truncation.error is None
    assert "constraints" in run.truncation.reason
    with warnings.catch_warnings():
        warnings.simplefilter("error", fa.ValidityWarning)
        fa.simulate(supported(4), 0.1, torque={"bar": 0.1}, native=False, progress=False)
