"""Shapers: their theory, and what they do to a robot."""

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
def test_an_oscillator_is_left_as_the_residual_says(kind, ratio):
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
        wanted = sum(a * command(t - d, rate) for a, d in zip(found.amplitudes, found.delays))
        assert shaped(t, rate) == pytest.approx(wanted, abs=1e-12)
    assert shaped.breaks == pytest.approx(sorted({b + d for b in command.breaks for d in found.delays}))
    assert shaped(-1.0) == 0.2
    assert shaped(10.0) == 1.0


def test_functions_are_held_before_they_begin():
    def late(t):
        if t < 0:
            raise ValueError("nobody calls me then")
        return float(t)

    assert fa.shaper("zv", frequency=1.0)(late)(0.25) == pytest.approx(0.125)
    assert fa.shaper("zv", frequency=1.0)(fa.step(2.0))(0.25) == pytest.approx(1.0)


def test_zvd_cuts_what_is_left_on_the_two_link_arm():
    """256 times were found; at least 50 are asked for."""
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
        (lambda: fa.shaper("zv", frequency=-1.0), "frequency = -1.0: must be"),
        (lambda: fa.shaper("zv", frequency=1.0, ratio=1.2), "what is over-damped does not vibrate"),
        (lambda: fa.shaper("zv", frequency=[1.0, 2.0], ratio=[0.1]), "give one for each"),
        (lambda: fa.shaper("ei", frequency=1.0, residual=1.0), "must be below 1"),
        (lambda: fa.shaper("zv", fa.library.two_link_arm(), modes=99), "has .* modes that vibrate"),
        (lambda: fa.shaper("zv", frequency=1.0)(fa.shaper("zv", frequency=2.0)), "shapers together are"),
    ],
)
def test_what_cannot_be_is_said(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()
