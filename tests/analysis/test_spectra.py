"""Spectra: amplitudes, power of noise, peaks between lines, aliasing; sampled quantities of runs."""

import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.analysis.spectra import sample_run

T = np.arange(2000) / 200


@pytest.mark.parametrize("window", ["hann", "hamming", "blackman", "flattop", "none"])
def test_a_sine_of_whole_periods_is_a_line_of_its_amplitude(window):
    found = fa.spectrum(T, 3 * np.sin(2 * np.pi * 5 * T + 0.3) + 7, window=window)
    (peak,) = found.peaks()
    assert peak == pytest.approx((5.0, 3.0), rel=1e-2 if window == "flattop" else 1e-4)
    assert found.amplitude.max() == pytest.approx(3.0)
    raw = fa.spectrum(T, 3 * np.sin(2 * np.pi * 5 * T) + 7, window=window, trend="none")
    assert raw.amplitude[0] == pytest.approx(7.0)


def test_peaks_lie_between_lines():
    x = 2 * np.sin(2 * np.pi * 5.033 * T) + 0.3 * np.cos(2 * np.pi * 31.27 * T)
    peaks = fa.spectrum(T, x).peaks()
    assert len(peaks) == 2  # what leaks is none
    assert peaks[0] == pytest.approx((5.033, 2.0), rel=1e-4)
    assert peaks[1] == pytest.approx((31.27, 0.3), rel=1e-3)
    assert fa.spectrum(T, x, window="none").peaks(most=1)[0].frequency == pytest.approx(5.033, rel=1e-2)
    assert len(fa.spectrum(T, x).peaks(least=0.2)) == 1


def test_the_density_adds_up_to_the_power():
    noise = np.random.default_rng(1).normal(size=1001)
    for count in (1000, 1001):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fa.ValidityWarning)  # white noise has no end
            found = fa.spectrum(np.arange(count) * 0.01, noise[:count], window="none", scaling="density")
        assert (found.density * found.frequency[1]).sum() == pytest.approx(noise[:count].var())


def test_a_straight_line_is_taken_off():
    assert fa.spectrum(T, 4 * T + np.sin(2 * np.pi * 20 * T), trend="line").peaks(1)[0].amplitude == pytest.approx(
        1, rel=1e-2
    )
    assert fa.spectrum(T, np.zeros(2000)).peaks() == []


def test_content_close_to_half_the_sampling_rate_causes_a_warning():
    with pytest.warns(fa.ValidityWarning, match="close to half the sampling rate"):
        fa.spectrum(T, np.sin(2 * np.pi * 97.3 * T))


@pytest.fixture(scope="module")
def run():
    robot = fa.library.rotating_beam(modes=2)
    return fa.simulate(robot, 8.0, torque={"beam": fa.bang_bang(1.0, (0.5, 1.0))}, rtol=1e-6, native=False)


def test_a_runs_spectrum_has_the_robots_frequencies(run):
    expected = fa.modes(run.robot).frequencies[1:]
    found = run.spectrum("tip.y", after=1.0, trend="line")
    assert found.unit == "m"
    for f in expected:
        assert any(abs(each.frequency / f - 1) < 2e-3 for each in found.peaks())
    # accelerations of the same lines are larger by the squares of their frequencies
    fast, slow = run.spectrum("tip.y''", after=1.0).peaks()[0], found.peaks()
    same = min(slow, key=lambda each: abs(each.frequency - fast.frequency))
    assert fast.amplitude == pytest.approx(same.amplitude * (2 * np.pi * same.frequency) ** 2, rel=1e-2)


def test_aliasing_causes_a_warning(run):
    highest = fa.modes(run.robot).frequencies[-1]
    with pytest.warns(fa.ValidityWarning, match="above half the sampling rate"):
        run.spectrum("tip.y''", after=1.0, sample=0.7 / highest)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.spectrum("tip.y''", after=1.0, sample=0.2 / highest)


# --- sampled quantities of runs ---


@pytest.fixture(scope="module")
def sampled_run():
    system = fa.System(fa.library.two_link_arm(), native=False)
    points = {"eye": ("fore", 0.2)}
    return fa.simulate(system, 0.2, torque={"upper": 0.1}, points=points, rtol=1e-6, native=False)


def one(sampled_run, name, **options):
    given = {"after": None, "before": None, "sample": 1e-3, "least": 8, **options}
    return sample_run(sampled_run, [name], **given)[0]


def test_samples_are_those_of_the_run_at_their_times(sampled_run):
    found = one(sampled_run, "tip.y", after=0.05, before=0.1)
    assert len(found.times) == 50
    assert found.times[[0, -1]] == pytest.approx([0.05, 0.099])
    assert np.array_equal(found.values, sampled_run.at(found.times)["tip.y"].values)
    assert found.unit == "m"
    assert found.duration == pytest.approx(0.05)


@pytest.mark.parametrize("place", ["tip", "eye", "fore(0.2)", "upper.tip"])
def test_rates_of_places_are_derivatives(sampled_run, place):
    h = 1e-4
    times = np.arange(40) * 1e-3 + 0.1
    link, x = {"tip": ("fore", None), "eye": ("fore", 0.2), "fore(0.2)": ("fore", 0.2), "upper.tip": ("upper", None)}[
        place
    ]
    system = fa.System(sampled_run.robot, native=False)
    ways = [system.frame(link, x, sampled_run.at(times + s * h).array("q"))[:, 1, 3] for s in (-1, 0, 1)]
    first, second = ((ways[2] - ways[0]) / (2 * h), (ways[2] - 2 * ways[1] + ways[0]) / h**2)
    for primes, expected in (("'", first), ("''", second)):
        found = one(sampled_run, f"{place}.y{primes}", after=0.1, before=0.14)
        assert found.unit == ("m/s", "m/s2")[len(primes) - 1]
        assert np.abs(found.values - expected).max() < 2e-3 * np.abs(expected).max()


def test_coordinates_strains_and_what_has_no_history(sampled_run):
    sampled = one(sampled_run, "upper.q''")
    assert np.array_equal(sampled.values, sampled_run.at(sampled.times).array("a")[:, 0])
    half = sampled_run.robot.link("upper").section.extents()["width"] / 2
    strain = one(sampled_run, "upper.strain(0.1)")
    assert strain.values == pytest.approx(sampled_run.at(strain.times).strain("upper", 0.1, at=(half, 0)).values)
    moment = one(sampled_run, "upper.moment(0.1)")
    assert moment.unit == "N m"
    assert moment.values == pytest.approx(sampled_run.at(moment.times).moment("upper", 0.1).sel(axis="z").values)
    with pytest.raises(KeyError, match=r"did you mean 'tip\."):
        one(sampled_run, "tip.w")


def test_a_run_without_steps_has_its_samples_only(sampled_run):
    copy = fa.Run(sampled_run.data)
    assert not copy.continuous
    found = one(copy, "tip.y", sample=None, before=0.1)
    assert np.array_equal(found.values, sampled_run["tip.y"].values[: len(found.values)])
    with pytest.raises(ValueError, match="at its samples only"):
        one(copy, "tip.y", sample=1e-3)
    uneven = fa.Run(sampled_run.data.isel(time=[0, 1, 3, 4, 7, 9, 20, 21, 22, 30]))
    with pytest.raises(ValueError, match="equally far apart"):
        one(uneven, "tip.y", sample=None)
