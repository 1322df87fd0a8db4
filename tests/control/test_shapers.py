"""Shapers: theory, and their effect on a robot."""

import itertools
import math
import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.control.shapers import KINDS


@pytest.mark.parametrize(
    ("kind", "width", "periods"),
    [
        ("zv", 0.064, 0.5),
        ("zvd", 0.287, 1.0),
        ("zvdd", 0.480, 1.5),
        ("ei", 0.3995, 1.0),
        ("two-hump-ei", 0.7245, 1.5),
        ("three-hump-ei", 0.964, 2.0),
    ],
)
def test_widths_and_durations(kind, width, periods):
    """Published for 5 % of residual vibration, undamped (Singhose)."""
    found = fa.shaper(kind, frequency=2.0)
    assert found.insensitivity(0.05) == pytest.approx(width, abs=5e-4)
    assert found.duration == pytest.approx(periods / 2.0)
    assert sum(found.amplitudes) == pytest.approx(1.0)
    assert found.residual(2.0) < 0.0501


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.3])
def test_an_oscillator_has_the_predicted_residual(kind, ratio):
    """Its own response to the impulses, from the sum of decaying sines, against that to one impulse at the last."""
    omega = 3.0
    found = fa.shaper(kind, frequency=omega / (2 * np.pi), ratio=ratio)
    root = omega * np.sqrt(1 - ratio**2)
    t = found.duration + np.linspace(0, 2 * np.pi / root, 2001)
    swing = sum(
        a * np.exp(-ratio * omega * (t - d)) * np.sin(root * (t - d)) for a, d in zip(found.amplitudes, found.delays)
    )
    envelope = np.abs(swing * np.exp(ratio * omega * (t - found.duration))).max()
    assert envelope == pytest.approx(found.residual(omega / (2 * np.pi), ratio), abs=1e-5)
    if kind in ("zv", "zvd", "zvdd"):
        assert envelope < 1e-9


def test_several_modes_at_once():
    found = fa.shaper("zv", frequency=[1.0, 3.3], ratio=[0.0, 0.05])
    assert found.residual(1.0) < 1e-12
    assert found.residual(3.3, 0.05) < 1e-12
    assert len(found.delays) == 4


def test_a_shaped_profile_is_the_sum_of_its_copies():
    command, found = fa.cycloid(0.2, 1.0, 2.0), fa.shaper("zvd", frequency=1.5)
    shaped, t = found(command), np.linspace(-1, 4, 301)
    for rate in range(3):
        expected = sum(a * command(t - d, rate) for a, d in zip(found.amplitudes, found.delays))
        assert shaped(t, rate) == pytest.approx(expected, abs=1e-12)
    assert shaped.breaks == pytest.approx(sorted({b + d for b in command.breaks for d in found.delays}))
    assert shaped(-1.0) == 0.2
    assert shaped(10.0) == 1.0


def test_functions_are_held_before_they_begin():
    def late(t):
        if t < 0:
            raise ValueError("must not be called")
        return float(t)

    assert fa.shaper("zv", frequency=1.0)(late)(0.25) == pytest.approx(0.125)
    assert fa.shaper("zv", frequency=1.0)(fa.step(0.0, 2.0))(0.25) == pytest.approx(1.0)


def test_zvd_cuts_what_is_left_on_the_two_link_arm():
    """The search finds 256 times; at least 50 are required."""
    arm, left = fa.library.two_link_arm(), []
    commands = {"upper": fa.cycloid(0, 0.2, 2.5), "fore": fa.cycloid(0, 0.3, 2.5)}
    shaper = fa.shaper("zvd", arm, modes=1, q={"upper.q": 0.1, "fore.q": 0.2})
    for motion in (commands, {name: shaper(each) for name, each in commands.items()}):
        run = fa.simulate(arm, 9.0, motion=motion, native=False, rtol=1e-6)
        left.append(run.residual("tip", after=2.6 + shaper.duration))
    assert left[0] > 50 * left[1]


def test_shaped_commands_in_laws_and_figures():
    shaper = fa.shaper("ei", frequency=0.5)
    way = shaper(fa.cycloid(0, 0.1, 1.0))
    arm = fa.library.two_link_arm()

    def law(t, q, v):
        return [20 * (way(t) - q["upper.q"]) - 5 * v["upper.q"], 0.0]

    run = fa.simulate(arm, 0.2, torque=law, native=False)
    assert run.reason == "completed"
    assert len(shaper.plot().axes) == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fa.shaper("zvx", frequency=1.0), "there is no such shaper; did you mean 'zv"),
        (lambda: fa.shaper("zv"), "give a robot, or frequency"),
        (lambda: fa.shaper("zv", frequency=1.0, modes=2), "modes: applies to a robot's modes"),
        (lambda: fa.shaper("zv", fa.library.two_link_arm(), ratio=0.1), "ratio = 0.1: the robot's modes have theirs"),
        (lambda: fa.shaper("zv", frequency=-1.0), "frequency = -1.0: must be"),
        (lambda: fa.shaper("zv", frequency=1.0, ratio=1.2), "what is over-damped does not vibrate"),
        (lambda: fa.shaper("zv", frequency=[1.0, 2.0], ratio=[0.1]), "give one for each"),
        (lambda: fa.shaper("ei", frequency=1.0, residual=1.0), "must be below 1"),
        (lambda: fa.shaper("zv", fa.library.two_link_arm(), modes=99), "has .* modes that vibrate"),
        (lambda: fa.shaper("zv", frequency=1.0)(fa.shaper("zv", frequency=2.0)), "shapers together are"),
        (lambda: fa.shaper("zv", frequency=1.0).insensitivity(mode=1), "mode = 1: the shaper is for 1 of them"),
        (lambda: fa.shaper("zv", frequency=1.0).residual([[1.0, 2.0]]), r"frequency has shape \(1, 2\)"),
    ],
)
def test_invalid_arguments_are_refused(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()


ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=3.0)])  # a joint of 1 kg m2


@pytest.mark.parametrize(
    ("kind", "frequency", "switch"),
    [("zv", 4.4, (0.1, 0.9)), ("zvd", 1.5, (0.7, 1.0)), ("zvdd", 4.7, (0.1, 1.0)), ("ei", 2.0, (0.1, 0.6))],
)
@pytest.mark.parametrize("options", [{"dt": 0.01}, {"rtol": 1e-6}, {"method": "rk45"}])
def test_jumps_of_a_shaped_command_are_met_exactly(kind, frequency, switch, options):
    """The side of a jump depends on rounding of t - delay. A unit inertia under constant torques moves on parabolas."""
    found, push, end = fa.shaper(kind, frequency=frequency), fa.bang_bang(1.0, switch), 2.0
    edges = sorted({0.0, end, *(e + d for e in (0.0, *switch) for d in found.delays)})
    q = v = 0.0
    for start, stop in itertools.pairwise(each for each in edges if each <= end):
        a = sum(A * push((start + stop) / 2 - d) for A, d in zip(found.amplitudes, found.delays))
        q, v = q + v * (stop - start) + a * (stop - start) ** 2 / 2, v + a * (stop - start)
    for torque in ({"a": found(push)}, lambda t, q, v: [found(push)(t)]):
        run = fa.simulate(ROD, end, torque=torque, native=False, sample=0.1, **options)
        assert run["a.q"].values[-1] == pytest.approx(q, abs=1e-12)


def test_jumps_of_a_shaped_function_are_met_exactly():
    def push(t):
        return 1.0 if t < 0.45 else 0.0

    found = fa.shaper("zv", frequency=1.7)
    late = found.delays[1] + 0.45
    way = 0.5 * sum(1 / 2 - (1 - off) ** 2 / 2 for off in (0.45, late))  # the second copy waits at push(0)
    for options in ({"dt": 0.01}, {"method": "rk45"}):
        run = fa.simulate(ROD, 1.0, torque={"a": found(push)}, native=False, **options)
        assert run["a.q"].values[-1] == pytest.approx(way, abs=1e-12)


def test_functions_wait_where_they_are_at_zero():
    found = fa.shaper("zv", frequency=2.0)
    for rise in (lambda t: 1.0 + t, lambda t: 1.0 + math.sqrt(t) ** 2):  # a formula, and one that can only be called
        shaped = found(rise)
        assert [shaped(t) for t in (-1.0, 0.0, 0.1, 0.3)] == pytest.approx([1.0, 1.0, 1.05, 1.175])
        again = fa.shaper("zv", frequency=3.0)(shaped)
        t = np.linspace(-1, 2, 301)
        assert again(t) == pytest.approx(fa.shaper("zv", frequency=[2.0, 3.0])(rise)(t), abs=1e-12)


def test_a_residual_needs_a_run_beyond_the_command():
    """A quarter of a period determines no amplitude; several quantities have none."""
    run = fa.simulate(ROD, 3.0, torque=lambda t, q, v: [-((2 * np.pi) ** 2) * q[0]], q0={"a.q": 0.1}, native=False)
    assert run.residual("a.q", after=1.6) == pytest.approx(0.1, rel=1e-3)
    with pytest.warns(fa.ValidityWarning, match="does not go to and fro"):
        run.residual("a.q", after=2.8)
    with pytest.raises(ValueError, match="'q': is several quantities"):
        run.residual("q", after=1.0)


def test_a_move_shorter_than_its_shaper_causes_a_warning():
    shaper = fa.shaper("zvd", frequency=1.0)  # 1 s
    with pytest.warns(
        fa.ValidityWarning, match=r"delays by up to 1 s, more than cycloid\(0, 1, 0, 0.4\) takes \(0.4 s\)"
    ):
        shaper(fa.cycloid(0.0, 1.0, 0.4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for command in (fa.cycloid(0.0, 1.0, 2.0), fa.step(0.0, 1.0), fa.sine(1.0, 3.0), 1.0):
            shaper(command)


# --- closed loops ---


def test_a_shaper_of_a_linear_model_has_the_modes_of_the_robot():
    robot = fa.library.two_link_arm(damping=1e-3)
    lin = fa.linearize(robot, {"fore.q": 0.5}, lock=["upper", "fore"])
    found, expected = fa.shaper("zvd", lin, modes=2), fa.shaper("zvd", robot, modes=2, q={"fore.q": 0.5})
    assert found.frequencies == pytest.approx(expected.frequencies, rel=1e-3)
    assert found.ratios == pytest.approx(expected.ratios, rel=1e-2)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_a_reference_shaped_for_the_closed_loop_leaves_no_vibration():
    """A soft PD: its loop is slower than the locked link, whose frequency a shaper of the robot alone would take."""
    flexible = fa.Flexible(bend_y=1, damping=fa.Damping(ratio=0.005))
    section, material = fa.Section.rectangle(0.01, 0.03), fa.Material(E=7e10, rho=2700.0)
    link = fa.Link("beam", 1.0, fa.Revolute("z"), section, material, flexible, payload=fa.PointMass(0.3))
    robot = fa.Robot(links=[link])
    lin = fa.linearize(robot, torque=fa.pd(robot, 40.0, 0.5, {"beam.q": 0.0}))
    left = []
    for shaper in (fa.shaper("zv", lin), fa.shaper("zv", robot)):
        aim = shaper(fa.step(0.0, 0.01))
        feedback = fa.Feedback(
            lambda t, x: {"beam": 40.0 * (x.reference("beam.q") - x["beam.q"]) - 0.5 * x["beam.q'"]},
            references={"beam.q": aim},
        )
        run = fa.simulate(robot, shaper.duration + 0.5, torque=feedback, native=False)
        after = run.time.values > shaper.duration
        left.append(np.ptp(run["beam.q"].values[after]))
    assert left[0] < 0.2 * left[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [({"modes": 9}, "the linear model has"), ({"q": {"beam.q": 1.0}}, "a linear model is given instead of a robot")],
)
def test_bad_linear_models_are_refused(given, words):
    lin = fa.linearize(fa.library.rotating_beam())
    with pytest.raises(ValueError, match=words):
        fa.shaper("zv", lin, **given)
    with pytest.raises(ValueError, match="sampled model"):
        fa.shaper("zv", lin.discrete(0.01))
