"""Signals by name in laws: traced, sampled and read from runs they are the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.feedback.feedback import takes_view
from flexarm.feedback.measurements import Instant, Reader, TracedView
from flexarm.feedback.outputs import Gains
from flexarm.feedback.traced_law import TracedLaw

STEEL = fa.Material(2.1e11, 7850)
SPATIAL = fa.Robot(
    "spatial",
    links=[
        fa.Link("post", 0.5, joint=fa.Revolute(axis="z"), mass=2.0),
        fa.Link(
            "arm",
            1.0,
            joint=fa.Revolute(axis="y"),
            material=STEEL,
            section=fa.Section.rectangle(0.02, 0.01),
            flexible=fa.Flexible(bend_y=2, bend_z=1, twist=1, stiffening="shortening"),
        ),
    ],
)
PLANAR = fa.Robot(
    "planar",
    gravity=(0.0, -9.81, 0.0),
    links=[
        fa.Link("upper", 1.0, mass=1.0),
        fa.Link("fore", 0.8, material=STEEL, section=fa.Section.rectangle(0.01, 0.004), flexible=fa.Flexible(bend_y=2)),
    ],
)
NAMES = {
    "planar": [
        "fore.q", "fore.q'", "fore.bend_y[1]'", "tip.x", "tip.y'", "fore(0.3).y", "upper.tip.x'", "deflection.fore.y",
        "deflection.fore.y'", "fore.strain(0.1)", "fore.strain(0.1)'", "fore.strain(0.2, 0.001, 0)",
    ],
    "spatial": ["arm.q", "tip.z", "tip.x'", "arm(0.4).y'", "deflection.arm.z", "arm.strain(0.2, 0.003, 0.001)'"],
}  # fmt: skip


@pytest.mark.parametrize("robot", [PLANAR, SPATIAL], ids=lambda robot: robot.name)
def test_a_traced_signal_is_the_sampled_one(robot):
    system, random = fa.System(robot, native=False), np.random.default_rng(1)
    names = NAMES[robot.name]

    def law(t, x):
        return [sum(x[name] for name in names)] * system.nu

    traced, reader = TracedLaw(fa.Feedback(law), system), Reader(system)
    for _ in range(3):
        q, v, a = 0.1 * random.standard_normal((3, system.nq))
        found = traced.torques(np.array([0.0]), q[None], v[None], np.zeros((1, 0)))[0, 0]
        assert_allclose(found, sum(reader(name, Instant(0.0, q, v, a)) for name in names), rtol=1e-12)


@pytest.mark.parametrize("robot", [PLANAR, SPATIAL], ids=lambda robot: robot.name)
def test_primes_are_rates(robot):
    """Against differences along a motion with constant acceleration."""
    system, h = fa.System(robot, native=False), 1e-5
    reader, random = Reader(system), np.random.default_rng(2)
    q, v, a = 0.1 * random.standard_normal((3, system.nq))
    for name in NAMES[robot.name]:
        base = name.rstrip("'")
        ends = [
            [reader(each, Instant(t, q + v * t + a * t**2 / 2, v + a * t, a)) for t in (-h, h)]
            for each in (base, f"{base}'")
        ]
        rates = [(after - before) / (2 * h) for before, after in ends]
        assert_allclose(reader(f"{base}'", Instant(0.0, q, v, a)), rates[0], rtol=1e-6, atol=1e-8)
        if "strain" not in base:
            assert_allclose(reader(f"{base}''", Instant(0.0, q, v, a)), rates[1], rtol=1e-6, atol=1e-8)


def test_a_digital_law_reads_what_the_run_tells():
    """Forces inside the robot and accelerations, too: those before the law speaks."""
    seen = []

    def law(t, x):
        seen.append([x["tip.y"], x["fore.moment(0.2)"], x["reaction.fore.fx"], x["tip.y''"], x.tip[0], x.v["fore.q"]])
        return [0.0, 0.0]

    run = fa.simulate(PLANAR, 0.2, torque=fa.Feedback(law, rate=50), sample=0.02, native=False, rtol=1e-7)
    found = np.array(seen)
    at = run.at(np.arange(len(found)) / 50)
    assert_allclose(found[:, 0], at["tip.y"].values, atol=1e-9)
    assert_allclose(found[1:, 1], run.moment("fore", 0.2).values[1 : len(found), 2], rtol=1e-3, atol=1e-5)
    assert_allclose(found[1:, 2], run.reaction("fore").values[1 : len(found), 0], rtol=1e-3, atol=1e-5)
    assert_allclose(found[:, 4], at["tip.x"].values, atol=1e-9)
    assert_allclose(found[:, 5], at.data.v.sel(coordinate="fore.q").values, atol=1e-7)


def test_references_are_profiles_with_their_rates():
    aim = fa.shaper("zv", frequency=2.0)(fa.cycloid(0.0, 1.0, 0.3))

    def by_name(t, x):
        return [x.reference("way") + 2 * x.reference("way", 1) + 3 * x.reference("way", 2), 0.0]

    def by_hand(t, q, v):
        return [aim(t) + 2 * aim(t, 1) + 3 * aim(t, 2), 0.0]

    runs = [
        fa.simulate(PLANAR, 0.5, torque=each, native=False)
        for each in (fa.Feedback(by_name, references={"way": aim}), by_hand)
    ]
    assert_allclose(runs[0].data.torque.values, runs[1].data.torque.values, atol=1e-12)
    assert_allclose(runs[0].data.q.values, runs[1].data.q.values, atol=1e-12)


def test_another_robot_of_the_same_structure_has_the_same_law():
    """Numbers of places are inputs of the compiled step."""

    def law(t, x):
        return [-x["fore(0.3).y"], -x["fore.strain(0.1)"]]

    longer = PLANAR.with_({"links.fore.length": 0.9})
    laws = [TracedLaw(fa.Feedback(law), fa.System(each, native=False)) for each in (PLANAR, longer)]
    assert laws[0].identity == laws[1].identity
    assert laws[0].places != laws[1].places


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (lambda t, x: [x["for.q"], 0], "there is no output 'for.q'.*did you mean"),
        (lambda t, x: [x["tip.w'"], 0], "there is no output"),
        (lambda t, x: [x["tip.y''"], 0], "depends on accelerations.*rate=1000"),
        (lambda t, x: [x["reaction.fore.fx"], 0], "depends on accelerations"),
        (lambda t, x: [x["fore.moment(0.1)"], 0], "depends on accelerations"),
        (lambda t, x: [x.reference("fore.q"), 0], "there is no reference 'fore.q'"),
        (lambda t, x: [x.state("sum"), 0], "there is no state 'sum'"),
        (lambda t, x: [x[0], 0], "signals are read by name"),
        (lambda t, x: [x["upper.strain(0.1)"], 0], "is rigid and has no strain"),
        (lambda t, x: [x["fore(7).y"], 0], "7"),
        (lambda t, x: [1.0 if x["fore.q"] > 0 else 0.0, 0], "np.where"),
    ],
)
def test_what_a_law_cannot_read_is_told(law, sentence):
    with pytest.raises((KeyError, TypeError, ValueError), match=sentence):
        fa.simulate(PLANAR, 0.1, torque=law, native=False)


def test_which_laws_see_signals():
    assert takes_view(lambda t, x: 0)
    assert takes_view(lambda t, x, kp=2.0: 0)
    assert takes_view(lambda t, x, gains: 0, {})
    assert not takes_view(lambda t, q, v: 0)
    assert not takes_view(lambda t, q, v: 0, {})  # refused: it has no gains
    assert not takes_view(lambda *all_of_them: 0)
    with pytest.raises(TypeError, match=r"states are read from x; write it as law\(t, x\)"):
        fa.Feedback(lambda t, q, v: [0.0, 0.0], states={"sum": 0.0})
    with pytest.raises(TypeError, match="must take"):
        fa.Feedback(lambda t, q: [0.0, 0.0])


def test_numbers_of_a_place_are_asked_for_once():
    system = fa.System(PLANAR, native=False)
    view = TracedView(None, system, {}, Gains({}, "state"), (system.equations.q, system.equations.v))
    assert view["tip.y"] is view["tip.y"]
    assert len(view.symbols) == 1


def test_forces_at_the_first_sample_are_those_without_torque():
    """Of a constraint and of a joint behind it, as in a run that no law drives."""
    links = [fa.Link("crank", 0.3, mass=1.0), fa.Link("coupler", 1.0, mass=1.0)]
    slider = fa.Robot("slider", links=links, constraints=[fa.OnLine("coupler")], gravity=(0.0, -9.81, 0.0))
    seen = []

    def law(t, x):
        seen.append([x["reaction.on-line[0].y"], x["reaction.coupler.fy"]])
        return [0.0, 0.0]

    start = {"crank.q": 0.7, "coupler.q": -np.arcsin(0.3 * np.sin(0.7)) - 0.7}
    fa.simulate(slider, 0.1, torque=fa.Feedback(law, rate=20), q0=start, native=False)
    free = fa.simulate(slider, 0.1, q0=start, native=False)
    assert_allclose(
        seen[0], [free["reaction.on-line[0].y"].values[0], free.reaction("coupler").values[0, 1]], rtol=1e-6
    )
