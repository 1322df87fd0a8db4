"""Gains of feedback laws: numbers that go in, the same for traced and digital laws, and what is refused."""

import functools
import math
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.outputs import Gains, checked_gains
from flexarm.feedback.traced_law import TracedLaw

ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=3.0)])  # a joint of 1 kg m2
TWO = fa.Robot("two", links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)])


def run(torque, duration=1.0, robot=ROD, **options):
    return fa.simulate(robot, duration, torque=torque, native=False, **{"rtol": 1e-6, **options})


def spring(t, q, v, gains):
    return [gains["kp"] * (1 - q[0])]


METHODS = ["generalized-alpha", "newmark", "rk4", "rk45", "adams", "bdf"]


@pytest.mark.parametrize("method", METHODS)
def test_a_spring_of_each_stiffness_swings_as_it_must(method):
    for kp in (20.0, 40.0):
        found = run(fa.Feedback(spring, gains={"kp": kp}), method=method)
        assert found["a.q"].values[-1] == pytest.approx(1 - math.cos(math.sqrt(kp)), abs=1e-4)


def test_gains_are_the_same_numbers_as_constants_in_the_law():
    aim, kp, kd = fa.cycloid(0.0, 1.0, 0.8), np.array([20.0, 5.0]), 2.0

    def with_gains(t, q, v, gains):
        return gains["kp"] * (aim(t) - q) - gains["kd"] * v

    def without(t, q, v):
        return kp * (aim(t) - q) - kd * v

    gains = {"kp": kp, "kd": kd}
    found = run(fa.Feedback(with_gains, gains=gains, limit=3.0), robot=TWO)
    wanted = run(fa.Feedback(without, limit=3.0), robot=TWO)
    assert_allclose(found.data["q"].values, wanted.data["q"].values, atol=1e-12)
    assert_allclose(found.torque.values, wanted.torque.values, atol=1e-9)
    assert np.abs(found.torque.values).max() == 3.0
    digital = run(fa.Feedback(with_gains, gains=gains, limit=3.0, rate=2000), robot=TWO)
    assert_allclose(digital.data["q"].values, wanted.data["q"].values, atol=5e-3)


def test_gains_on_a_driven_robot_with_loads_and_constraints():
    """All other inputs stand before them: none may be taken for another."""
    law, push = {"kp": 5.0}, fa.PointLoad("b", force=[0, 0.3, 0])
    rail = TWO.with_({"constraints": [fa.OnLine("b", direction="x", point=[0, math.sqrt(2), 0])]})
    for robot, options in (
        (TWO, {"motion": {"a": fa.cycloid(0.0, 1.0, 1.0)}, "loads": [push]}),
        (rail, {"q0": [math.pi / 4, 0.0], "loads": [push]}),
    ):
        found = run(
            fa.Feedback(lambda t, q, v, gains: [0.0, -gains["kp"] * q["b.q"]], gains=law), 0.2, robot, **options
        )
        wanted = run(lambda t, q, v: [0.0, -5.0 * q["b.q"]], 0.2, robot, **options)
        assert_allclose(found.data["q"].values, wanted.data["q"].values, atol=1e-11)
        assert_allclose(found.torque.values, wanted.torque.values, atol=1e-9)


@pytest.mark.parametrize("method", ["generalized-alpha", "rk45"])
def test_a_profile_may_be_delayed_by_a_gain(method):
    """Its jump stays a step boundary: a unit torque on a unit inertia from t = delay on."""
    push = fa.step(0.0, 1.0, 0.25)
    for delay in (0.0, 0.125, 0.3):
        late = fa.Feedback(lambda t, q, v, gains: [push(t - gains["delay"])], gains={"delay": delay})
        found = run(late, method=method, sample=0.1)
        assert found["a.q"].values[-1] == pytest.approx((0.75 - delay) ** 2 / 2, abs=1e-12)


def test_gains_are_frozen():
    given = {"kp": 20.0, "row": np.array([1.0, 2.0])}
    feedback = fa.Feedback(lambda t, q, v, gains: [0.0], gains=given)
    given["kp"], given["row"][0], given["more"] = 40.0, 9.0, 1.0
    assert feedback.gains == {"kp": 20.0, "row": [1.0, 2.0]}
    with pytest.raises(TypeError, match="item assignment"):
        feedback.gains["kp"] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        feedback.gains["row"][0] = 1.0
    same = fa.Feedback(feedback.law, gains={"kp": 20, "row": (1, 2)})
    assert same == feedback
    assert hash(same) == hash(feedback)
    assert same != fa.Feedback(feedback.law, gains={"kp": 20.0, "row": [1.0, 3.0]})


def test_a_digital_law_gets_plain_numbers():
    seen = []

    def law(t, q, v, gains):
        seen.append((gains["kp"], gains["row"]))
        return [0.0]

    run(fa.Feedback(law, rate=10, gains={"kp": np.float32(2.0), "row": [1, 2]}), 0.2)
    kp, row = seen[0]
    assert type(kp) is float
    assert_array_equal(row, [1.0, 2.0])
    assert row.dtype == float


@pytest.mark.parametrize("rate", [None, 500])
def test_the_run_carries_its_gains(rate, tmp_path):
    found = run(fa.Feedback(spring, rate=rate, gains={"kp": 20, "spare": [0.1, 2.0]}), 0.1)
    assert found.options["gains"] == {"kp": 20.0, "spare": [0.1, 2.0]}
    assert "gains={'kp': 20.0, 'spare': [0.1, 2.0]}" in found.options["torque"]
    found.save(tmp_path / "run.nc")
    assert fa.Run.load(tmp_path / "run.nc").options["gains"] == found.options["gains"]
    assert "gains" not in run(lambda t, q, v: [0.0], 0.1).options


class Controller:
    """A law as a method and as an object."""

    def __init__(self, sign):
        self.sign = sign

    def law(self, t, q, v, gains):
        return [self.sign * gains["kp"] * (1 - q[0])]

    __call__ = law


class Slotted(Controller):
    __slots__ = ()


def scaled(scale, t, q, v, gains, offset=0.0):
    return [scale * gains["kp"] * (1 - q[0]) + offset]


@pytest.mark.parametrize(
    "law",
    {
        "a bound method": Controller(1).law,
        "an object": Controller(1),
        "an object with slots": Slotted(1),
        "a partial by place": functools.partial(scaled, 1.0),
        "a partial by name": functools.partial(scaled, 1.0, offset=0.0),
        "a partial of a partial": functools.partial(functools.partial(scaled, 1.0), offset=0.0),
        "a partial of a method": functools.partial(Controller(1).law),
        "a default": lambda t, q, v, gains, more=1.0: [more * gains["kp"] * (1 - q[0])],
        "any number of arguments": lambda *given: spring(*given),
        "gains by default": lambda t, q, v, gains=None: spring(t, q, v, gains),
    }.values(),
)
@pytest.mark.parametrize("rate", [None, 200])
def test_any_callable_may_be_a_law(law, rate):
    found, wanted = (run(fa.Feedback(each, rate=rate, gains={"kp": 20.0}), 0.2) for each in (law, spring))
    assert_array_equal(found["a.q"].values, wanted["a.q"].values)


@pytest.mark.parametrize(
    "law",
    {
        "a default": lambda t, q, v, kp=20.0: [kp * (1 - q[0])],
        "a keyword": lambda t, q, v, *, kp=20.0: [kp * (1 - q[0])],
        "a partial": functools.partial(lambda kp, t, q, v: [kp * (1 - q[0])], 20.0),
        "gains in a partial": functools.partial(spring, gains={"kp": 20.0}),
    }.values(),
)
def test_without_gains_laws_may_have_numbers_of_their_own(law):
    assert_array_equal(run(law, 0.2)["a.q"].values, run(lambda t, q, v: [20.0 * (1 - q[0])], 0.2)["a.q"].values)


@pytest.mark.parametrize("rate", [None, 100])
def test_unknown_gains_are_refused_with_the_nearest(rate):
    with pytest.raises((KeyError, ValueError), match=r"the feedback law.*there is no gain 'kpp'; did you mean 'kp'"):
        run(fa.Feedback(lambda t, q, v, gains: [gains["kpp"]], rate=rate, gains={"kp": 1.0, "kd": 2.0}))
    missing = fa.Feedback(lambda t, q, v, gains: [gains.get("ki", 0.0) * q[0]], rate=rate, gains={"kp": 1.0})
    assert not run(missing, 0.1).torque.values.any()


@pytest.mark.parametrize(
    ("gains", "sentence"),
    [
        ({}, r"gains = \{\}: is empty"),
        ([1.0], r"gains = \[1.0\]: must be a mapping of numbers by name"),
        ({"kp": math.nan}, r"gains\['kp'\] = nan: must be a finite number"),
        ({"kp": [1.0, math.inf]}, r"gains\['kp'\]\[1\] = inf: must be a finite number"),
        ({"kp": "20"}, r"gains\['kp'\] = '20': must be a number, not text"),
        ({"kp": True}, r"gains\['kp'\] = True: must be a number"),
        ({"kp": [True]}, r"gains\['kp'\] = \[True\]: .* not of booleans"),
        ({"kp": None}, r"gains\['kp'\] = None: must be a number"),
        ({"kp": []}, r"gains\['kp'\] = \[\]: must be"),
        (
            {"kp": [[1.0, 2.0]]},
            r"gains\['kp'\] = \[\[1.0, 2.0\]\]: must be a number or a list of numbers; give each row",
        ),
        ({"kp": [[1.0], [1.0, 2.0]]}, r"gains\['kp'\] = .*equally long"),
        ({"kp": {"a": 1.0}}, r"gains\['kp'\] = \{'a': 1.0\}: must be a number"),
        ({3: 1.0}, r"gains: 3: the name of a gain must be text"),
        ({"": 1.0}, r"gains: '': the name of a gain must be text"),
    ],
)
def test_what_is_no_gain_is_refused_by_name(gains, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        fa.Feedback(spring, gains=gains)


def test_a_law_takes_gains_if_and_only_if_there_are_some():
    with pytest.raises(TypeError, match=r"must take \(t, q, v, gains\) or .*, but too many .* or leave gains out"):
        fa.Feedback(lambda t, q, v: [0.0], gains={"kp": 1.0})
    with pytest.raises(TypeError, match=r"must take \(t, q, v\) or .*missing .*'gains'; .*fa.Feedback\(law, gains="):
        fa.Feedback(spring)
    with pytest.raises(TypeError, match=r"torque = .*missing .*'gains'; .*fa.Feedback\(law, gains="):
        run(spring)
    for default in (20.0, False, np.ones(2)):
        other = lambda t, q, v, kp=default: [q[0]]  # noqa: E731
        with pytest.raises(TypeError, match=r"argument, 'kp', is for something else; read gains\['kp'\] instead"):
            fa.Feedback(other, gains={"kp": 30.0})
    fa.Feedback(lambda *given, a=1, b=2, c=3: [0.0], gains={"kp": 1.0})


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (lambda t, q, v, gains: [gains * q[0]], r"gains are read by name, gains\['kp'\]"),
        (lambda t, q, v, gains: [np.float64(2.0) * gains], r"gains are read by name, gains\['kp'\]"),
        (lambda t, q, v, gains: [gains.kp * q[0]], r"gains are read by name, gains\['kp'\]"),
        (lambda t, q, v, gains: [q[0] if gains["kp"] > 1 else 0.0], "v or gains: use np.where"),
        (lambda t, q, v, gains: [math.sqrt(gains["kp"]) * q[0]], "needs the value of a symbol"),
        (lambda t, q, v, gains: [q[int(gains["kp"])]], "cannot be a gain"),
        (lambda t, q, v, gains: [sum(k for k in gains["row"])], "read entries by place"),
    ],
)
def test_gains_that_are_used_otherwise_are_told(law, sentence):
    with pytest.raises(TypeError, match=sentence):
        run(fa.Feedback(law, gains={"kp": 20.0, "row": [1.0, 2.0]}))


@pytest.mark.parametrize(
    "function",
    {
        "by entry": lambda g, q: [g["row"][0] * q[0], g["row"][-1] * q[1]],
        "elementwise": lambda g, q: g["row"] * q,
        "product": lambda g, q: [g["row"] @ q, np.dot(g["row"], q)],
        "clip": lambda g, q: np.clip(100 * q, -g["row"], g["row"]),
        "root": lambda g, q: np.sqrt(g["row"]) * q / g["one"],
        "choice": lambda g, q: np.where(g["one"] > 0.5, q, -q),
        "with arrays": lambda g, q: np.array([1.0, 2.0]) * g["row"] + np.array([g["one"], 0.0]),
        "unpacked": lambda g, q: (lambda row, one: one * row)(**g),
    }.values(),
)
def test_traced_gains_compute_as_numbers_do(function):
    def law(t, q, v, gains):
        return function(gains, q)

    start, gains = {"a.q": 0.3, "b.q": 0.4}, {"row": [2.0, 3.0], "one": 1.5}
    traced, called = (run(fa.Feedback(law, rate=rate, gains=gains), 0.01, TWO, q0=start) for rate in (None, 1000))
    assert_allclose(traced.torque.values[0], called.torque.values[0], rtol=1e-12)


def test_values_of_gains_and_limits_are_no_part_of_what_is_compiled():
    system = fa.System(TWO, native=False)

    def identity(gains, limit):
        return TracedLaw(Feedback(lambda t, q, v, g: g["k"] * q, gains=gains, limit=limit), system).identity

    one = identity({"k": 1.0}, 2.0)
    assert identity({"k": 0.0}, [3.0, 4.0]) == one
    assert identity({"k": 1.0}, {"a": 3.0}) != one  # who has a limit
    assert identity({"k": [1.0, 2.0]}, 2.0) != one


def test_a_controller_that_remembers_is_found_out_though_its_first_answer_is_known():
    """With an integral of zero it says what a controller without one says; that was sound."""

    class PI:
        def __init__(self, ki):
            self.ki, self.sum = ki, 0.0

        def __call__(self, t, q, v, gains):
            torque = gains["kp"] * (1 - q[0]) + self.ki * self.sum
            self.sum = self.sum + (1 - q[0])
            return [torque]

    controller = PI(0.0)
    run(fa.Feedback(controller, gains={"kp": 2.0}), 0.1)
    controller.ki = 1.0
    with pytest.raises(TypeError, match="remembers"):
        run(fa.Feedback(controller, gains={"kp": 2.0}), 0.1)


def test_tracing_leaves_no_symbols_in_defaults_and_partials():
    def remembering(t, q, v, gains, memory=[]):  # noqa: B006
        memory.append(q[0])
        return [gains["kp"] * sum(memory)]

    kept = []

    def closed(t, q, v, gains):
        kept.append(q[0])
        return [gains["kp"] * sum(kept)]

    def stubborn(t, q, v, gains, cannot_be_copied=threading.Lock()):  # noqa: B008
        kept.append(q[0])
        return [gains["kp"] * sum(kept)]

    for law in (stubborn, remembering, functools.partial(closed)):
        with pytest.raises(TypeError, match="rate=1000"):
            run(fa.Feedback(law, gains={"kp": 1.0}))
    assert remembering.__defaults__ == ([],)
    assert kept == []


def test_threads_with_other_gains_do_not_meet():
    stiffness, found = (10.0, 20.0, 30.0, 40.0), {}

    def work(kp):
        found[kp] = run(fa.Feedback(spring, gains={"kp": kp}))["a.q"].values[-1]

    threads = [threading.Thread(target=work, args=(kp,)) for kp in stiffness]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for kp in stiffness:
        assert found[kp] == pytest.approx(1 - math.cos(math.sqrt(kp)), abs=1e-4)


def test_a_law_that_divides_by_a_gain_starts_as_any_other(monkeypatch):
    """Whether a robot lacks inertia is asked with all torques at zero, but not with gains at zero."""
    asked = []
    monkeypatch.setattr(fa.System, "singularity", lambda *given: asked.append(given))
    run(fa.Feedback(lambda t, q, v, gains: [(1 - q[0]) / gains["T"]], gains={"T": 0.1}), 0.1)
    assert not asked


def test_numbers_and_symbols_are_in_one_order():
    gains = checked_gains({"b": [1.0, 2.0], "a": 3.0})
    assert gains.numbers().tolist() == [1.0, 2.0, 3.0]
    seen, column = gains.symbols()
    assert [str(each) for each in (column[0], column[2])] == ["b_0", "a"]
    assert list(seen) == ["b", "a"]
    assert Gains({}).numbers().shape == (0,)
    assert Gains({}).symbols()[1].shape == (0, 1)
