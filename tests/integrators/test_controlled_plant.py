"""States of laws are integrated with the robot, by every method."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import flexarm as fa
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.plant import Plant

ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=3.0)])  # a joint of 1 kg m2
BEAM = fa.Robot(
    "beam",
    links=[
        fa.Link(
            "a",
            1.0,
            material=fa.Material(2.1e11, 7850),
            section=fa.Section.rectangle(0.02, 0.004),
            flexible=fa.Flexible(bend_y=2),
        )
    ],
)
KP, KD, KI, LAG = 20.0, 6.0, 15.0, 0.05


def pid(t, x):
    error = x.reference("a.q") - x["a.q"]
    torque = KP * error - KD * x.state("rate") + KI * x.state("sum")
    return [torque], {"sum": error, "rate": (x["a.q'"] - x.state("rate")) / LAG}


PID = fa.Feedback(pid, references={"a.q": 1.0}, states={"sum": 0.0, "rate": 0.0})


def exact(t):
    """q, q', sum and filtered rate of the rod under `pid`, which is linear."""
    A = np.array([[0, 1, 0, 0, 0], [-KP, 0, KI, -KD, KP], [-1, 0, 0, 0, 1], [0, 1 / LAG, 0, -1 / LAG, 0], [0] * 5])
    return np.array([expm(A * each) @ [0, 0, 0, 0, 1.0] for each in t])[:, :4]


@pytest.mark.parametrize("method", ["auto", "esdirk", "dop853", "generalized-alpha", "rk45", "bdf"])
def test_a_linear_loop_against_its_exponential(method):
    rtol = 1e-5 if method == "generalized-alpha" else 1e-7
    run = fa.simulate(ROD, 2.0, torque=PID, native=False, rtol=rtol, method=method, sample=0.1)
    found = np.column_stack([run.data.q.values, run.data.v.values, run.data.law_states.values])
    missed = np.abs(found - exact(run.data.time.values)).max(axis=0)
    assert missed[[0, 2]].max() < (30 if method == "bdf" else 5) * rtol
    assert missed.max() < 200 * rtol  # rates, and what is one, are read between steps less well than places
    assert list(run.data.law_state.values) == ["sum", "rate"]
    assert np.array_equal(run["law.rate"].values, found[:, 3])


def test_the_tolerance_holds_for_what_states_do():
    """Torques that only states make: their errors count as what they move. (second = (1 - cos 9t) / 81)"""

    def law(t, x):
        return [x.state("second")], {"first": np.cos(9 * t), "second": x.state("first")}

    feedback = fa.Feedback(law, states={"first": 0.0, "second": 0.0})
    t = np.linspace(0, 6, 13)
    whole = t**2 / 2 / 81 - (1 - np.cos(9 * t)) / 9**4
    for rtol in (1e-4, 1e-6):
        run = fa.simulate(ROD, 6.0, torque=feedback, native=False, rtol=rtol, sample=0.5)
        assert np.abs(run["a.q"].values - whole).max() < 2 * rtol


def test_energy_is_balanced_and_torques_are_those_of_the_states():
    run = fa.simulate(BEAM, 1.0, torque=PID, native=False, rtol=1e-7)
    assert run.statistics["energy_balance"] < 1e-5 * run.data.work.values.max()
    states = run.data.law_states.values
    torque = KP * (1 - run["a.q"].values) - KD * states[:, 1] + KI * states[:, 0]
    assert_allclose(run.data.torque.values[:, 0], torque, atol=1e-9)
    assert run.at(0.517).data.law_states.shape == (1, 2)


def test_driven_joints_and_loads_beside_states():
    bars = fa.Robot("bars", links=[fa.Link(name, 0.5, mass=1.0) for name in "abc"])

    def law(t, x):
        error = 0.5 - x["a.q"]
        return [20 * error + 10 * x.state("sum") - 3 * x["a.q'"], -x["b.q'"], 0.0], {"sum": error}

    options = {"torque": fa.Feedback(law, states={"sum": 0.0}), "motion": {"c": fa.cycloid(0, 1, 0.5)}}
    options |= {"loads": [fa.PointLoad("b", 0.5, force=[0, 1.0, 0])], "native": False}
    loose, tight = (fa.simulate(bars, 1.0, rtol=rtol, **options) for rtol in (1e-4, 1e-7))
    assert_allclose(loose.data.tip.values[-1], tight.data.tip.values[-1], atol=2e-4)
    assert_allclose(loose.data.law_states.values[-1], tight.data.law_states.values[-1], atol=1e-4)
    assert tight.statistics["energy_balance"] < 1e-6


@pytest.mark.parametrize("method", ["esdirk", "dop853", "generalized-alpha", "newmark-baumgarte"])
def test_a_closed_loop_with_states(method):
    """A slider and crank under a PI controller: its state is the integral that it should be."""
    links = [fa.Link("crank", 0.3, mass=1.0), fa.Link("coupler", 1.0, mass=1.0)]
    robot = fa.Robot("slider", links=links, constraints=[fa.OnLine("coupler")])

    def law(t, x):
        error = 1.0 - x["crank.q"]
        return [6 * error + 4 * x.state("sum") - 2 * x["crank.q'"], 0.0], {"sum": error}

    feedback = fa.Feedback(law, states={"sum": 0.0})
    run = fa.simulate(robot, 1.0, torque=feedback, method=method, native=False, rtol=1e-5, sample=0.01)
    t, error = run.data.time.values, 1.0 - run["crank.q"].values
    summed = np.concatenate([[0.0], np.cumsum((error[1:] + error[:-1]) / 2 * np.diff(t))])
    assert_allclose(run.data.law_states.values[:, 0], summed, atol=2e-4)
    assert run.data.violation.values.max() < 1e-6 or method == "newmark-baumgarte"
    assert run.statistics["energy_balance"] < 1e-3


def test_states_may_be_vectors():
    A = np.array([[0.0, 1.0], [-4.0, -0.4]])

    def law(t, x):
        z = x.state("z")
        return [z[0]], {"z": A @ z}

    run = fa.simulate(ROD, 1.0, torque=fa.Feedback(law, states={"z": [1.0, 0.0]}), native=False, rtol=1e-8)
    expected = [(expm(A * t) @ [1.0, 0.0]) for t in run.data.time.values]
    assert_allclose(run.data.law_states.values, expected, atol=1e-7)
    assert list(run.data.law_state.values) == ["z[1]", "z[2]"]


def test_every_run_starts_anew_and_threads_do_not_meet():
    found = {}

    def work(key):
        found[key] = fa.simulate(BEAM, 0.3, torque=PID, native=False).data.law_states.values

    work("alone")
    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for k in range(3):
        assert np.array_equal(found[k], found["alone"])


def test_a_saved_run_keeps_its_states(tmp_path):
    run = fa.simulate(ROD, 0.5, torque=PID, native=False)
    run.save(tmp_path / "run.nc")
    again = fa.Run.load(tmp_path / "run.nc")
    assert_allclose(again.data.law_states.values, run.data.law_states.values)
    assert_allclose(again.at(0.217)["a.q"].values, run.at(0.217)["a.q"].values, atol=1e-12)


def test_verified_and_stopped_runs():
    run = fa.simulate(ROD, 2.0, torque=PID, native=False, verify=True, events=lambda t, q, v: 0.8 - q["a.q"])
    assert run.error_estimate < 1e-4
    assert run["a.q"].values[-1] == pytest.approx(0.8, abs=1e-6)


def test_a_plant_without_states_is_what_it_was():
    system = fa.System(ROD, native=False)
    assert type(Schedule(system, lambda t, q, v: [0.0], None, ()).plant()) is Plant


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (lambda t, x: [0.0], "returns torques and the rates of its states by name"),
        (lambda t, x: ([0.0], {}), "returned no rates of 'z'"),
        (lambda t, x: ([0.0], {"z": [0, 0], "y": 0.0}), "has no state 'y'"),
        (lambda t, x: ([0.0], {"z": 0.0}), "has 1 entries, the state 2"),
        (lambda t, x: ([0.0], {"z": ["a", 0]}), "must be numbers"),
    ],
)
def test_what_a_law_says_of_its_states_is_checked(law, sentence):
    with pytest.raises((TypeError, ValueError, KeyError), match=sentence):
        fa.simulate(ROD, 0.1, torque=fa.Feedback(law, states={"z": [0.0, 0.0]}), native=False)


def test_digital_states_are_next_values():
    """A discrete integrator, sample by sample."""

    def law(t, x):
        return [0.1], {"sum": x.state("sum") + x.period, "last": x["a.q"]}

    seen = []

    def watched(t, x):
        seen.append((x.state("sum"), x.state("last")))
        return law(t, x)

    feedback = fa.Feedback(watched, rate=100, states={"sum": 0.0, "last": -1.0})
    for _ in range(2):  # every run starts anew
        seen.clear()
        run = fa.simulate(ROD, 0.1, torque=feedback, native=False, rtol=1e-8)
        assert_allclose([each[0] for each in seen], np.arange(len(seen)) / 100, atol=1e-12)
        assert seen[0][1] == -1.0
        assert_allclose([each[1] for each in seen[1:]], run.at(np.arange(len(seen) - 1) / 100)["a.q"].values, atol=1e-9)


W = 40.0


def wave(x):
    """Rates of a state p = cos(W t) that knows nothing of the robot."""
    return {"p": x.state("s"), "s": -W * W * x.state("p")}


WAVE = {"p": 1.0, "s": 0.0}


@pytest.mark.parametrize("method", ["auto", "dop853", "rk45"])
@pytest.mark.parametrize(
    "torque",
    [
        lambda t, x: 0.01,
        lambda t, x: np.where(t > 1, x.state("p"), 0.0),
        lambda t, x: x.state("s") * x.reference("late"),
    ],
    ids=["none", "later", "by a reference that is zero"],
)
def test_states_are_followed_though_no_torque_reads_them_yet(torque, method):
    feedback = fa.Feedback(
        lambda t, x: ([torque(t, x)], wave(x)), states=WAVE, references={"late": fa.step(0.0, 1e-2, 1.0)}
    )
    run = fa.simulate(ROD, 1.5, torque=feedback, native=False, rtol=1e-6, method=method)
    assert_allclose(run["law.p"].values, np.cos(W * run.time.values), atol=2e-4)


def test_states_that_grow_are_followed_as_parts_of_themselves():
    feedback = fa.Feedback(lambda t, x: ([1.0], {"p": 20 * x.state("p")}), states={"p": 1.0})
    run = fa.simulate(ROD, 1.0, torque=feedback, native=False, rtol=1e-6)
    assert run["law.p"].values[-1] == pytest.approx(np.exp(20), rel=1e-5)
    assert run.statistics["steps"] < 200


@pytest.mark.parametrize(
    ("rate", "start"),
    [(lambda p: p**2, 1.0), (lambda p: 300 * p, 1.0), (np.log, -1.0)],
    ids=["escapes", "grows", "nan"],
)
def test_a_state_that_fails_is_named(rate, start):
    feedback = fa.Feedback(lambda t, x: ([1.0], {"p": rate(x.state("p"))}), states={"p": start})
    with pytest.warns(fa.ValidityWarning, match="diverged at t = .*: the law's state 'p'"):
        fa.simulate(ROD, 2.0, torque=feedback, native=False)


@pytest.mark.parametrize("lag", [1e-6, 1e-9])
def test_a_filter_that_is_too_fast_to_follow_takes_an_implicit_method(lag):
    def law(t, x):
        return [20 * (1 - x["a.q"]) - 6 * x.state("rate")], {"rate": (x["a.q'"] - x.state("rate")) / lag}

    run = fa.simulate(ROD, 2.0, torque=fa.Feedback(law, states={"rate": 0.0}), native=False, rtol=1e-6, sample=0.2)
    A = np.array([[0, 1, 0], [-20, -6, 20], [0, 0, 0]])
    exact = [(expm(A * t) @ [0, 0, 1.0])[0] for t in run.time.values]
    assert_allclose(run["a.q"].values, exact, atol=2 * lag + 1e-7)
    assert run.statistics["steps"] < 1000


def test_kinks_of_a_torque_are_none_of_the_states():
    """Steps need not be short for the sake of a rate that is smooth."""
    feedback = fa.Feedback(pid, references={"a.q": 1.0}, states={"sum": 0.0, "rate": 0.0}, limit=5.0)
    law = Schedule(fa.System(ROD, native=False), feedback, None, ()).law
    assert law.abrupt
    assert not law.abrupt_states.any()
    assert fa.simulate(ROD, 2.0, torque=feedback, native=False).statistics["steps"] < 250


@pytest.mark.parametrize(
    ("states", "name"), [({"motor.a": 0.0}, "motor.a"), ({"z": [0.0, 1.0], "z[2]": 0.0}, r"z\[2\]")]
)
def test_states_have_names_of_their_own(states, name):
    """One would be lost in the run."""
    feedback = fa.Feedback(lambda t, x: ([0.0], states), states=states, actuators={"a": fa.Actuator(lag=0.1)})
    with pytest.raises(ValueError, match=f"two of its states would be called '{name}'"):
        fa.simulate(ROD, 0.1, torque=feedback, native=False)
