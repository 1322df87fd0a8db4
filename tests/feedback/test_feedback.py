"""Feedback laws: what is traced is what was written, and what cannot be traced is refused."""

import functools
import gc
import itertools
import json
import math
import threading

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import flexarm as fa
from flexarm.feedback.digital_law import DigitalLaw
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import Instant
from flexarm.feedback.traced_law import TracedLaw
from flexarm.integrators import compiled_step
from flexarm.profiles.segments import MOST_KNOTS

ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=3.0)])  # a joint of 1 kg m2
TWO = fa.Robot("two", links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)])


def run(torque, duration=1.0, robot=ROD, **options):
    return fa.simulate(robot, duration, torque=torque, native=False, **{"rtol": 1e-6, **options})


PROFILES = [
    fa.cycloid(0.0, 1.0, 0.8),
    fa.sine(1.0, 2.0, phase=0.3),
    fa.chirp(1.0, 1.0, 3.0, 0.6),
    fa.spin_up(2.0, 0.5),
    fa.bang_bang(1.0, (0.3, 0.7)),
    fa.step(0.0, 1.0, 0.25),
    fa.ramp(0.0, 1.0, 0.2, 0.4),
    fa.spline(np.linspace(0, 1, 2000), np.sin(5 * np.linspace(0, 1, 2000))),
    fa.spline([0.2, 0.5, 0.8], [0.0, 1.0, -1.0]),
]


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
@pytest.mark.parametrize("rate", [0, 1, 2])
def test_a_profile_inside_a_law_is_that_profile(profile, rate):
    """A law that adds nothing to a profile moves the robot as the profile alone does."""

    known = fa.Profile(profile.starts, tuple(_Rate(piece, rate) for piece in profile.pieces), "rate")
    inside, outside = run(lambda t, q, v: [profile(t, rate)]), run({"a": known})
    assert_allclose(inside["a.q"].values, outside["a.q"].values, atol=1e-12)
    assert_allclose(inside.torque.values, outside.torque.values, atol=1e-12)


class _Rate:
    def __init__(self, piece, rate):
        self.piece, self.rate = piece, rate

    def value(self, t, rate):
        return self.piece.value(t, self.rate + rate)

    def look(self, begin, end, rate):
        return self, self.piece.look(begin, end, self.rate + rate)[1]


def test_torques_in_the_results_are_those_that_moved_the_robot():
    aim = fa.cycloid(0.0, 1.0, 0.8)

    def law(t, q, v):
        return [200 * (aim(t) - q[0]) - 20 * v[0]]

    found = run(law)
    q, v, a = (found.data[name].values[:, 0] for name in "qva")
    assert_allclose(found.torque.values[:, 0], a, atol=2e-3 * np.abs(a).max())
    told = [law(t, [x], [dx])[0] for t, x, dx in zip(found.time.values, q, v)]
    assert_allclose(found.torque.values[:, 0], told, atol=1e-12)


@pytest.mark.parametrize(
    ("switch", "scale", "shift"),
    [
        ((0.3333, 0.7777), 1.0, -0.1),
        ((0.2, 0.7), 1.0, -0.15),  # delays whose jumps are met only to rounding
        ((0.3, 0.8), 1.0, -0.07),
        ((0.28, 0.9), 1.0, -0.3),
        ((0.2, 0.7), 0.7, 0.0),
        ((0.2, 0.7), -1.0, 1.1),  # time that runs backwards
        ((0.3, 0.9), -0.5, 0.97),
    ],
)
@pytest.mark.parametrize("options", [{"dt": 0.01}, {"rtol": 1e-6}, {"method": "rk45"}])
def test_jumps_of_a_profile_inside_a_law_are_met_exactly_whatever_its_time(switch, scale, shift, options):
    """A torque of constant pieces on a unit inertia: the way is made of parabolas."""
    push, end = fa.bang_bang(1.0, switch), 2.0
    found = run(lambda t, q, v: [push(scale * t + shift)], end, sample=0.1, **options)
    edges = sorted(t for s in (0.0, *switch) if 0 < (t := (s - shift) / scale) < end)
    q = v = 0.0
    for start, stop in itertools.pairwise([0.0, *edges, end]):
        a = push(scale * (start + stop) / 2 + shift)
        q, v = q + v * (stop - start) + a * (stop - start) ** 2 / 2, v + a * (stop - start)
    assert found["a.q"].values[-1] == pytest.approx(q, abs=1e-12)
    between = np.abs(found.time.values[:, None] - np.array(edges)).min(axis=1) > 1e-9
    assert_allclose(found.torque.values[between, 0], found.data["a"].values[between, 0], atol=1e-9)
    assert found.statistics["steps"] < 500


@pytest.mark.parametrize(
    "time",
    {
        "modulo": lambda t: t % 0.5,
        "fmod": lambda t: np.fmod(t, 0.5),
        "floor": lambda t: t - 0.5 * np.floor(t / 0.5),
        "where": lambda t: t - np.where(t > 0.6, 0.6, 0.0),
        "comparison": lambda t: t - 0.6 * (t > 0.6),
    }.values(),
)
def test_time_that_jumps_is_not_taken_for_a_shift(time):
    ramp = fa.ramp(0.0, 1.0, 0.0, 1.0)
    found = run(lambda t, q, v: [ramp(time(t))], 0.97, rtol=1e-5)
    t = found.time.values
    assert_allclose(found.torque.values[:, 0], ramp(np.array([float(time(x)) for x in t])), atol=1e-12)


def test_delayed_profiles_rest_before_they_begin():
    for profile, rest in (
        (fa.cycloid(0.2, 1.0, 0.8), 0.2),
        (fa.spin_up(3.0, 1.0), 0.0),
        (fa.chirp(1.0, 1.0, 3.0, 1.0), 0.0),
        (fa.bang_bang(1.0, (0.3, 0.6)), 0.0),
        (fa.ramp(0.1, 1.0, 0.5, 1.0), 0.1),
    ):
        assert (profile(-0.4), profile(-0.4, 1), profile(-0.4, 2)) == (rest, 0.0, 0.0)


def test_profiles_may_be_made_inside_a_law():
    def law(t, q, v):
        return [fa.chirp(1.0, 1.0, 3.0, 0.6)(t) + fa.spline([0.0, 0.5, 1.0], [0.0, 1.0, 0.0])(t)]

    sweep, curve = fa.chirp(1.0, 1.0, 3.0, 0.6), fa.spline([0.0, 0.5, 1.0], [0.0, 1.0, 0.0])
    found = run(law)
    assert_allclose(found.torque.values[:, 0], sweep(found.time.values) + curve(found.time.values), atol=1e-12)


def test_a_profile_of_something_else_than_time_is_its_formula():
    spring = fa.spline([-2.0, -1.0, 0.0, 1.0, 2.0], [2.0, 0.8, 0.0, -0.8, -2.0])
    traced = run(lambda t, q, v: [spring(q[0])], q0={"a.q": 1.0})
    called = run(fa.Feedback(lambda t, q, v: [spring(float(q[0]))], rate=5000), q0={"a.q": 1.0})
    assert_allclose(traced["a.q"].values, called["a.q"].values, atol=5e-4)
    long = fa.spline(np.arange(MOST_KNOTS + 1.0), np.zeros(MOST_KNOTS + 1))
    with pytest.raises(TypeError, match=f"a spline of {MOST_KNOTS + 1} points"):
        run(lambda t, q, v: [long(q[0])])


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
@pytest.mark.parametrize("rate", [0, 1, 2])
def test_formulas_of_profiles_equal_their_values(profile, rate):
    if len(profile.pieces) > 1 and hasattr(profile.pieces[1], "curve") and len(profile.pieces[1].curve.x) > MOST_KNOTS:
        with pytest.raises(ValueError, match="a spline of 2000 points"):
            profile(ca.SX.sym("t"), rate)
        return
    t = ca.MX.sym("t") if rate == 1 else ca.SX.sym("t")
    formula = ca.Function("f", [t], [profile(t, rate)])
    times = np.array([-0.1, 0.0, 0.2, 0.25, 0.3, 0.41, 0.5, 0.6, 0.7, 0.8, 0.9, 1.5])
    assert_allclose([float(formula(each)) for each in times], profile(times, rate), rtol=1e-9, atol=1e-9)


def test_every_run_traces_its_law_anew():
    class Spring:
        k = 20.0

        def __call__(self, t, q, v):
            return [self.k * (1 - q[0])]

    spring = Spring()
    first = run(spring)["a.q"].values[-1]
    spring.k = 40.0
    second = run(spring)["a.q"].values[-1]
    assert first == pytest.approx(1 - math.cos(math.sqrt(20)), abs=1e-4)
    assert second == pytest.approx(1 - math.cos(math.sqrt(40)), abs=1e-4)
    gain = 20.0

    def law(t, q, v):
        return [gain * (1 - q[0])]

    assert run(law)["a.q"].values[-1] == first
    gain = 40.0
    assert run(law)["a.q"].values[-1] == second


def test_laws_are_forgotten_after_their_runs():
    for k in range(3 * compiled_step.MAX_STORED_METHODS):
        run(lambda t, q, v, k=k: [-float(k) * q[0]], 0.01)
    gc.collect()
    assert len(compiled_step._codes) <= compiled_step.MAX_STORED_METHODS


class Integrator:
    def __init__(self):
        self.sum = 0.0

    def __call__(self, t, q, v):
        self.sum += 1 - q[0]
        return [self.sum]


class Latch:
    """Holds the robot where it was when it was called first."""

    def __init__(self):
        self.start = None

    def __call__(self, t, q, v):
        if self.start is None:
            self.start = q[0]
        return [10 * (self.start - q[0])]


class LatchOfSignals(Latch):
    def __call__(self, t, x):
        if self.start is None:
            self.start = x
        return [10 * (self.start["a.q"] - x["a.q"])]


CURVE = CubicSpline([0, 1, 2], [0, 1, 0])


def _swallowed(t, q, v):
    try:
        return [float(q[0])]
    except Exception:
        return [0.0]


def _in_place(t, q, v):
    e = q
    e -= 1
    return [q[0]]


UNTRACEABLE = {
    "a conversion that is caught": _swallowed,
    "a change in place": _in_place,
    "a memory": Integrator(),
    "a memory of the first state": Latch(),
    "a memory of the first signals": LatchOfSignals(),
    "random numbers that sleep": lambda t, q, v: [np.where(t > 1.5, np.random.default_rng().uniform(), 0.0)],
    "random numbers": lambda t, q, v: [np.random.default_rng().uniform()],
    "a conversion by math": lambda t, q, v: [math.sin(t)],
    "a conversion by float": lambda t, q, v: [1.0 if float(q[0]) < 0.1 else 0.0],
    "a conversion by numpy": lambda t, q, v: [np.searchsorted([0.5], np.asarray(t, dtype=float))],
    "a decision": lambda t, q, v: [1.0 if q[0] < 0.1 else 0.0],
    "a spline of SciPy": lambda t, q, v: [CURVE(t)],
}


@pytest.mark.parametrize("law", UNTRACEABLE.values(), ids=UNTRACEABLE)
def test_a_law_that_cannot_be_traced_is_refused_with_the_way_out(law):
    with pytest.raises(TypeError, match=r"feedback law .*fa.Feedback\(law, rate=1000\)"):
        run(law)


def test_the_way_out_works_with_the_same_controller():
    integrator = Integrator()
    with pytest.raises(TypeError, match="rate=1000"):
        run(integrator)
    assert integrator.sum == 0.0  # tracing left no symbol in its memory
    found = run(fa.Feedback(integrator, rate=100), 0.1)
    assert found.torque.values[-1, 0] > 5.0


def test_the_way_out_works_with_a_closure_that_remembers():
    memory = []

    def law(t, q, v):
        memory.append(1 - q[0])
        return [0.01 * sum(memory)]

    with pytest.raises(TypeError, match="rate=1000"):
        run(law)
    assert memory == []
    assert run(fa.Feedback(law, rate=100), 0.1).torque.values[-1, 0] > 0.05


@pytest.mark.parametrize(
    "function",
    {
        "sum": lambda q: np.sum(q),
        "norm": lambda q: np.linalg.norm(q),
        "mean": lambda q: np.mean(q),
        "dot": lambda q: np.dot(np.array([[1.0, 2.0]]), q),
        "sin": lambda q: np.sin(q)[0],
        "matmul": lambda q: np.array([[1.0, 2.0]]) @ q,
        "gains": lambda q: np.array([1.0, 2.0]) @ q,
        "square": lambda q: q @ q,
        "clip": lambda q: np.clip(q, -0.35, 0.35)[1],
        "max": lambda q: np.max(q),
        "mask": lambda q: q[[False, True]],
        "array of a mask": lambda q: (np.array([1.0, 2.0]) * q[0])[np.array([False, True])],
    }.values(),
)
def test_numpy_functions_of_all_coordinates(function):
    def law(t, q, v):
        return [-1e-2 * function(q), 0.0]

    start = {"a.q": 0.3, "b.q": 0.4}
    digital = fa.Feedback(lambda *state: _floats(law(*state)), rate=5000)
    traced, called = (run(each, 0.1, TWO, q0=start) for each in (law, digital))
    assert_allclose(traced.torque.values[0], called.torque.values[0], rtol=1e-12)


def _floats(values):
    return [float(np.squeeze(each)) for each in values]


def test_conversions_of_symbols_stay_as_they_are_elsewhere():
    run(lambda t, q, v: [q[0]], 0.01)
    assert math.isnan(float(ca.SX.sym("x")))
    assert float(ca.SX(3.0)) == 3.0


def test_names_of_actuators_and_coordinates_are_checked():
    for rate in (None, 100):
        with pytest.raises((KeyError, ValueError), match="no actuator at 'A'"):
            run(fa.Feedback(lambda t, q, v: {"A": 1.0}, rate=rate))
        with pytest.raises((KeyError, ValueError), match=r"no coordinate 'b\.q'; did you mean 'a\.q'"):
            run(fa.Feedback(lambda t, q, v: [q["b.q"]], rate=rate))
        with pytest.raises(ValueError, match="2 torques; there are 1 actuators: a"):
            run(fa.Feedback(lambda t, q, v: [1.0, 2.0], rate=rate))
        with pytest.raises((TypeError, ValueError), match="None"):
            run(fa.Feedback(lambda t, q, v: None, rate=rate))
    with pytest.raises(ValueError, match="there is a nan in it"):
        run(lambda t, q, v: [np.nan * q[0]])


@pytest.mark.parametrize("rate", [None, 1000])
def test_coordinates_can_be_read_by_name(rate):
    names = run(fa.Feedback(lambda t, q, v: {"b": -q["b.q"] - v["b.q"]}, rate=rate), robot=TWO, q0={"b.q": 0.5})
    places = run(fa.Feedback(lambda t, q, v: [0.0, -q[1] - v[1]], rate=rate), robot=TWO, q0={"b.q": 0.5})
    assert_allclose(names.data["q"].values, places.data["q"].values, rtol=0, atol=0)


def test_laws_may_have_more_parameters_with_defaults():
    def law(t, q, v, gain=20.0):
        return [gain * (1 - q[0])]

    one = run(law)["a.q"].values[-1]
    assert run(functools.partial(law, gain=20.0))["a.q"].values[-1] == one
    assert run(functools.partial(law, gain=40.0))["a.q"].values[-1] != one
    for wrong in (lambda t: 1.0, lambda t, q, v, w: 1.0):
        with pytest.raises(TypeError, match=r"torque = .*must take \(t, q, v\)"):
            run(wrong)


def test_limits_are_those_that_were_given():
    limit = np.array([1.0, 2.0])
    feedback = fa.Feedback(lambda t, q, v: [10.0, -10.0], limit=limit)
    limit[:] = -5.0
    assert_allclose(run(feedback, 0.02, TWO).torque.values[0], (1, -2))


def test_a_profile_that_is_not_called_is_told():
    aim = fa.cycloid(0.0, 1.0, 1.0)
    with pytest.raises(TypeError, match=r"write aim\(t\), not aim"):
        run(lambda t, q, v: [aim - q[0]])
    with pytest.raises(TypeError, match=r"one law \(t, q, v\) is given for all actuators"):
        run({"a": lambda t, q, v: 1.0})


def test_limits_are_for_all_for_each_or_by_name():
    def law(t, q, v):
        return [10.0, -10.0]

    for limit, expected in ((3.0, (3, -3)), ([1.0, 2.0], (1, -2)), ({"b": 4.0}, (10, -4))):
        for rate in (None, 100):
            found = run(fa.Feedback(law, rate=rate, limit=limit), 0.02, TWO)
            assert_allclose(found.torque.values[0], expected)
    for limit, sentence in (
        ([1.0], "give one number, or one for each of a, b"),
        ({"c": 1.0}, "limit: there is no actuator at 'c'"),
        ([1.0, -1.0], "must be positive"),
        (0.0, "limit = 0.0: must be positive"),
        ({"a": np.nan}, r"limit\['a'\] = nan"),
        ("much", "limit = 'much': must be a number"),
    ):
        with pytest.raises((ValueError, KeyError), match=sentence):
            run(fa.Feedback(law, limit=limit), 0.02, TWO)


@pytest.mark.parametrize("what", ["law", "stop"])
def test_laws_and_conditions_get_copies(what):
    def meddle(t, q, v):
        q -= 0.5
        v[:] = 7.0
        return [0.0] if what == "law" else 1.0

    found = run(fa.Feedback(meddle, rate=50)) if what == "law" else run(None, events=meddle)
    assert np.abs(found.data["q"].values).max() == 0.0


def test_a_controller_that_raises_late_keeps_what_was_computed():
    def breaks(t, q, v):
        if t > 0.5:
            raise RuntimeError("the sensor broke")
        return [1.0]

    with pytest.warns(fa.ValidityWarning, match="ended early"):
        found = run(fa.Feedback(breaks, rate=100))
    assert found.reason == "the feedback law failed at t = 0.51 s (RuntimeError: the sensor broke)"
    assert found.time.values[-1] == pytest.approx(0.51)
    assert found["a.q"].values[-1] == pytest.approx(0.51**2 / 2)
    with pytest.raises(ValueError, match=r"the feedback law failed at t = 0 s \(RuntimeError: broken at once\)"):
        run(fa.Feedback(lambda t, q, v: _raise(RuntimeError("broken at once")), rate=100))


@pytest.mark.parametrize("error", [StopIteration(), ValueError("no"), KeyError("x")])
def test_whatever_a_controller_raises_is_told(error):
    with pytest.warns(fa.ValidityWarning, match="ended early"):
        found = run(fa.Feedback(lambda t, q, v: [1.0] if t < 0.2 else _raise(error), rate=100))
    assert type(error).__name__ in found.reason
    assert found.time.values[-1] == pytest.approx(0.2)


def _raise(error):
    raise error


def test_the_same_law_traced_in_threads_at_once():
    system, found = fa.System(TWO, native=False), []

    def work():
        found.append(TracedLaw(Feedback(lambda t, q, v: [fa.sine(1, 1)(t) - q["a.q"], -v[1]]), system).identity)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 4
    assert len(set(found)) == 1


def test_a_digital_law_says_which_torque_is_no_number():
    law = DigitalLaw(Feedback(lambda t, q, v: [0.0, np.inf], rate=10), fa.System(TWO, native=False))
    with pytest.raises(ValueError, match="it gave inf for 'b'"):
        law(Instant(0.0, *np.zeros((3, 2))))


@pytest.mark.parametrize(
    ("law", "given", "sentence"),
    [
        (
            lambda t, x: ([-x.state("z")], {}),
            {"states": {"z": 0.0}},
            "the feedback law: it returned no rates of 'z'",
        ),
        (
            lambda t, x: [-x.state("z")],
            {"states": {"z": 0.0}},
            "the feedback law: it gave .*returns torques and the rates",
        ),
        (lambda t, x: ([0.0], {"z": 0.0, "y": 0.0}), {"states": {"z": 0.0}}, "the feedback law: it has no state 'y'"),
        (lambda t, x: [x["a.q''"]], {}, "the feedback law: .* depends on accelerations"),
        (lambda t, x: [x["a(2.0).y"]], {}, "the feedback law: .* must lie on link 'a'"),
        (lambda t, x: [math.sin(x["a.q"])], {}, "use np.sin, not math.sin"),
        (lambda t, x: [x["v.a.q"]], {}, "there is no output .*v.a.q.*; did you mean .*a.q.*'"),
        (lambda t, x, gains: [gains["kp"]], {}, "it takes gains, and there are none"),
    ],
)
def test_mistakes_of_a_law_are_told_as_what_they_are(law, given, sentence):
    with pytest.raises((TypeError, ValueError, KeyError), match=sentence) as told:
        run(Feedback(law, **given))
    assert "plain arithmetic" not in str(told.value) or "math" in sentence


def test_a_feedback_prints_as_one_short_line():
    arm = fa.library.two_link_arm()
    hold = fa.pid(arm, 20.0, 5.0, 1.0, references={"upper": 0.5, "fore": 0.0}, rate=1000, limit=3.0)
    text = repr(hold)
    for part in ("links upper, fore", "rate 1000 Hz", "kp.upper = 20", "integral.fore = 0", "limit 3.0"):
        assert part in text
    assert "Law" not in text
    assert len(text.splitlines()) == 1
    assert len(text) < 500
    law = fa.Feedback(lambda t, q, v, gains: [gains["k"][0]], gains={"k": [1.0, 2.0]})
    assert repr(law) == "Feedback(law <lambda>; continuous; gains k = 2 numbers)"
    many = fa.Feedback(lambda t, q, v, gains: [0.0], gains={f"k{k}": 1.0 for k in range(100)})
    assert "... (100)" in repr(many)
    assert len(repr(many)) < 300


def test_runs_and_sweeps_save_every_field_of_a_feedback():
    """The printed line names references and sensors only; the saved options hold their values."""

    def law(t, x, gains):
        return {"a": gains["kp"] * (x.reference("a.q") - x["a.q"]) + gains["row"][1] * x["a.q'"]}

    given = {"limit": 3.0, "gains": {"kp": 2.0, "row": [0.5, -0.25]}, "references": {"a.q": fa.cycloid(0, 0.3, 2.0)}}
    parts = {"sensors": {"a.q": fa.Sensor(noise=1e-4)}, "actuators": {"a": fa.Actuator(lag=0.02)}}
    feedback = fa.Feedback(law, rate=200, **given, **parts)
    sweep = fa.sweep(ROD, over={"gains.kp": [1.0, 2.0]}, duration=0.05, torque=feedback, measure=["tip"], native=False)
    for text in (run(feedback, 0.05).options["torque"], json.loads(sweep.attrs["options"])["torque"]):
        for part in ("rate=200", "limit=3.0", "{'kp': 2.0, 'row': [0.5, -0.25]}", "{'a.q': cycloid(0, 0.3, 0, 2)}"):
            assert part in text
        assert "noise=0.0001" in text
        assert "lag=0.02" in text
