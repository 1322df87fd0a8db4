import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.results.step_history import StepHistory
from flexarm.results.vibration import REFINEMENTS, Vibration, refined, refinement, vibration

BAR = fa.Link(
    "bar",
    length=1.0,
    section=fa.Section.rectangle(0.01, 0.01),
    material=fa.Material(E=7e10, rho=2700.0),
    flexible=fa.Flexible(bend_y=1),
    joint=fa.Weld(),
)
ARM = fa.Robot(links=[BAR])
SYSTEM = fa.System(ARM, native=False)
PLUCKED = {"bar.bend_y[1]": 0.01}


def nodes(amplitude, frequency, slow=0.0, duration=10.0):
    t = np.linspace(0, duration, 20_001)
    w, size = 2 * np.pi * frequency, SYSTEM.sizes[0]
    rows = np.zeros((len(t), 7))
    rows[:, 0] = size * (amplitude * np.sin(w * t) + slow * np.sin(t))
    rows[:, 1] = size * (amplitude * w * np.cos(w * t) + slow * np.cos(t))
    return StepHistory(t, rows, 5)


def test_a_vibration_is_found_with_its_frequency():
    found = vibration(nodes(0.1, 20.0), SYSTEM.coordinates, SYSTEM.sizes, 1e-4)
    assert found.place == 0
    assert found.frequency == pytest.approx(20.0, rel=0.05)


@pytest.mark.parametrize(
    ("swinging", "rtol"),
    [
        (nodes(0.0005, 20.0, slow=0.5), 1e-6),  # small beside the way that the link bends
        (nodes(0.0004, 20.0), 1e-4),  # may be an error
        (nodes(0.1, 0.5), 1e-4),  # a few swings
        (nodes(0.0, 20.0), 1e-4),
    ],
)
def test_what_is_small_or_seldom_is_no_vibration(swinging, rtol):
    assert vibration(swinging, SYSTEM.coordinates, SYSTEM.sizes, rtol) is None


def test_ripples_on_a_slow_motion_count():
    assert vibration(nodes(0.02, 50.0, slow=0.5), SYSTEM.coordinates, SYSTEM.sizes, 1e-4).frequency == pytest.approx(
        50, rel=0.1
    )


def test_samples_are_refined_within_bounds():
    assert refinement(None, 1.0, 1000, 4) == 1
    assert refinement(Vibration(0, 10.0), 0.01, 1000, 4) == 1
    assert refinement(Vibration(0, 40.0), 0.01, 1000, 4) == 5  # of 1, 2, 5, 10 and 20
    assert refinement(Vibration(0, 1e6), 0.01, 1000, 4) == REFINEMENTS[-1]
    assert refinement(Vibration(0, 1e6), 0.01, 1000, 10_000) == 1


def test_times_that_were_there_are_there_still_to_the_last_bit():
    times = np.append(0.06 * np.arange(1000), 59.95)
    fine = refined(times, 7)
    assert np.isin(times, fine).all()
    assert (np.diff(fine) > 0).all()


def test_the_default_sample_shows_what_vibrates():
    frequency = fa.modes(ARM).frequencies[0]
    run = fa.simulate(ARM, 60.0, q0=PLUCKED, method="rk45", native=False)
    assert frequency * 0.06 > 0.4  # a thousandth would show something else
    assert run.statistics["vibration"]["bar.bend_y[1]"] == pytest.approx(frequency, rel=0.05)
    assert run.options["sample"] <= 0.06 / np.ceil(6 * 0.95 * frequency * 0.06) + 1e-12
    assert_allclose(np.diff(run.array("time")), run.options["sample"], rtol=1e-6)
    base = 60 / 1000 * np.arange(1001)
    assert np.isin(base[:-1], run.array("time")).all()
    assert_allclose(run.array("q")[:50, 0], 0.01 * np.cos(2 * np.pi * frequency * run.array("time")[:50]), atol=1e-3)


def test_a_sample_that_is_too_long_is_told_and_a_short_one_is_not():
    with pytest.warns(
        fa.ValidityWarning, match=r"'bar.bend_y\[1\]' vibrates at about 8.* Hz, which samples every 0.5 s"
    ):
        run = fa.simulate(ARM, 10.0, q0=PLUCKED, method="rk45", sample=0.5, native=False)
    assert run.options["sample"] == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fa.simulate(ARM, 10.0, q0=PLUCKED, method="rk45", sample=0.02, native=False)
