"""Spectra of runs and arrays, and the sampling of quantities of a run at equidistant times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.foundation.validation import Array, real_array, real_number, whole_number
from flexarm.results.by_name import one_quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.results.run import Run


STEP_TOLERANCE = 1e-6  # relative difference of the sampling steps that still count as equal
MAX_SAMPLE_COUNT = 2_000_000
Window = Literal["hann", "hamming", "blackman", "flattop", "none"]
Scaling = Literal["amplitude", "density"]
Trend = Literal["mean", "line", "none"]
WINDOWS = {"hann": "hann", "hamming": "hamming", "blackman": "blackman", "flattop": "flattop", "none": "boxcar"}
MIN_SAMPLE_COUNT = 8
OVERSAMPLING = 4  # factor of the sampling rate with which content beyond half the sampling rate is detected
HIGH_FREQUENCY_FRACTION = 0.9  # of half the sampling rate: content above it suggests content beyond the limit
ALIAS_THRESHOLD = 0.01  # amplitude, relative to the largest, beyond half the sampling rate that causes a warning
MIN_PEAK_TO_LEAKAGE = 2.0  # smallest ratio of a peak to the leakage of larger peaks at its frequency


@dataclass(frozen=True)
class SampledSignal:
    """Samples of a quantity at equidistant times: its name, unit, times (s) and values."""

    name: str
    unit: str
    times: Array
    values: Array

    @property
    def sample(self) -> float:
        """Return the sampling period (s)."""
        return float((self.times[-1] - self.times[0]) / (len(self.times) - 1))

    @property
    def duration(self) -> float:
        """Return the duration of all samples (s), each counted until the next one."""
        return self.sample * len(self.times)


def check_samples(t: Any, x: Any, least: int, name: str = "x", unit: str = "") -> SampledSignal:
    """Return the user's arrays as samples; raise ValueError if times are not equidistant or a value is missing."""
    times, values = np.array(real_array("t", t)), np.array(real_array(name, x))
    if times.ndim != 1 or len(times) < least:
        raise ValueError(f"t has shape {times.shape}: must be at least {least} times (s)")
    if values.shape != times.shape:
        raise ValueError(f"{name} has shape {values.shape}: must have a value for each of {len(times)} times")
    for word, each in (("t", times), (name, values)):
        if not np.isfinite(each).all():
            wrong = int((~np.isfinite(each)).argmax())
            raise ValueError(f"{word}[{wrong}] = {each[wrong]}: must be finite")
    steps = np.diff(times)
    if steps.min() <= 0 or np.ptp(steps) > STEP_TOLERANCE * steps.mean():
        raise ValueError(f"t: must rise at equal distances, and here are {steps.min():.6g} to {steps.max():.6g} s")
    return SampledSignal(name, unit, times, values)


def sample_run(
    run: Run, names: list[str], after: Any, before: Any, sample: Any, least: int, finer: int = 1
) -> list[SampledSignal]:
    """Sample quantities of a run at intervals `sample`, divided by `finer` if the run is continuous."""
    first, last, step = sampling_range(run, after, before, sample)
    own = run.array("time")
    if run.continuous:
        step /= finer
        ratio = (last - first) / step
        count = int(np.floor(ratio + STEP_TOLERANCE)) if ratio < MAX_SAMPLE_COUNT + 1 else MAX_SAMPLE_COUNT + 1
        if count < least:
            raise ValueError(
                f"sample: from {first:g} to {last:g} s there are {count} samples, {step:.4g} s apart, and "
                f"{least} are needed; give a shorter one, or take a longer part"
            )
        if count > MAX_SAMPLE_COUNT:
            raise ValueError(f"sample = {step:.4g}: makes more than {MAX_SAMPLE_COUNT} samples")
        times = np.asarray(first + step * np.arange(count), dtype=float)
        at = run.at(np.minimum(times, own[-1]))
        return [read_quantity(at, name, times) for name in names]
    here = (own >= first - STEP_TOLERANCE * step) & (own < last - STEP_TOLERANCE * step)
    times = own[here]
    if sample is not None or len(times) < least or np.ptp(np.diff(times)) > STEP_TOLERANCE * step:
        raise ValueError(
            "this run can be read at its samples only, so that these must be equally far apart and sample=... be left "
            f"out (and there are {len(times)} of them from {first:g} to {last:g} s)"
        )
    return [read_quantity(run, name, times, here) for name in names]


def sampling_range(run: Run, after: Any, before: Any, sample: Any) -> tuple[float, float, float]:
    """Return start, end and sampling period (s) from the arguments of a user, with defaults from the run."""
    own = run.array("time")
    end = float(own[-1])
    first = 0.0 if after is None else real_number("after", after, "s", least=0)
    last = end if before is None else real_number("before", before, "s", above=0)
    if last > end * (1 + STEP_TOLERANCE):
        raise ValueError(f"before = {last:g}: must not be later than {end:g} s, where the run ends")
    if first >= last:
        end_word = "where the run ends" if before is None else "which is before=..."
        raise ValueError(f"after = {first:g}: must be earlier than {last:g} s, {end_word}")
    if sample is not None:
        return first, last, real_number("sample", sample, "s", above=0)
    if len(own) < 2:
        raise ValueError("this run has one sample only")
    return first, last, float(np.median(np.diff(own)))


# --- names ---


def read_quantity(run: Run, name: str, times: Array, here: Any = slice(None)) -> SampledSignal:
    """Return a quantity of a run by name, as samples at `times`."""
    if not isinstance(name, str):
        raise TypeError(f"{shown(name)}: must be the name of a quantity of the run")
    found = one_quantity(run, name)
    values = np.asarray(found, dtype=float)[here]
    if not np.isfinite(values).all():
        raise ValueError(f"'{name}' is not a number at t = {times[int((~np.isfinite(values)).argmax())]:g} s")
    return SampledSignal(name, found.attrs.get("units", ""), times, values)


class Peak(NamedTuple):
    """Peak of a spectrum: its frequency (Hz) and the amplitude of the sine there, in the quantity's unit."""

    frequency: float
    amplitude: float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """One-sided amplitude spectrum of a signal.

    Parameters
    ----------
    name : str
        Name of the quantity.
    unit : str
        Unit of the quantity.
    frequency : ndarray, shape (n,)
        Frequencies (Hz), from zero to half the sampling rate.
    amplitude : ndarray, shape (n,)
        Amplitudes, in `unit`: a sine of amplitude A is a line of height A.
    window : str
        Window with which the samples were weighted.
    sample : float
        Sampling period (s).
    scaling : {"amplitude", "density"}
        Quantity that `plot` draws.
    samples : ndarray
        Samples that were transformed, detrended and weighted.
    weights : ndarray
        Weights of the window.

    See Also
    --------
    flexarm.spectrum : Spectrum of an array.
    flexarm.Run.spectrum : Spectrum of a quantity of a run.
    """

    name: str
    unit: str
    frequency: Array
    amplitude: Array
    window: str
    sample: float
    scaling: str
    samples: Array
    weights: Array

    @property
    def resolution(self) -> float:
        """Distance of lines that can be separated (Hz): the equivalent noise bandwidth of the window."""
        return float((self.weights**2).sum() / self.weights.sum() ** 2 / self.sample)

    @property
    def density(self) -> Array:
        """One-sided power spectral density, in `unit` squared per Hz; its integral is the mean square."""
        once = np.zeros(len(self.frequency), dtype=bool)
        once[0], once[-1] = True, len(self.weights) % 2 == 0
        return np.asarray(np.where(once, 1.0, 0.5) * self.amplitude**2 / self.resolution)

    def peaks(self, most: int = 5, least: float = 0.05) -> list[Peak]:
        """Find the highest peaks, at frequencies interpolated between the lines of the spectrum.

        Parameters
        ----------
        most : int, optional
            Largest number of peaks.
        least : float, optional
            Smallest amplitude of a peak, relative to the highest one, between 0 and 1.

        Returns
        -------
        list of Peak
            Frequency (Hz) and amplitude of each peak, the highest first. Side lobes of the window are left out.
        """
        most = whole_number("most", most, least=1)
        least = real_number("least", least, above=0, most=1)
        a = self.amplitude
        tops = np.flatnonzero((a[1:-1] > a[:-2]) & (a[1:-1] >= a[2:])) + 1
        top = float(a[tops].max(initial=0.0))
        found: list[Peak] = []
        for k in tops[np.argsort(-a[tops], kind="stable")]:
            if len(found) == most or not a[k] >= least * top or top == 0:
                break
            leaked = sum(each.amplitude * self._leakage(self.frequency[k] - each.frequency) for each in found)
            if a[k] > MIN_PEAK_TO_LEAKAGE * leaked:
                found.append(self._interpolate_peak(int(k)))
        return sorted(found, key=lambda each: -each.amplitude)

    def _interpolate_peak(self, k: int) -> Peak:
        """Return the peak of the transform of the weighted samples within one line of the spectrum's line k."""
        from scipy.optimize import minimize_scalar

        step = float(self.frequency[1])
        low, high = max(self.frequency[k] - step, 0.0), self.frequency[k] + step
        found = minimize_scalar(
            lambda f: -self._transform(self.samples, f),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-7 * step},
        )
        return Peak(float(found.x), float(2 * -found.fun / self.weights.sum()))

    def _leakage(self, away: float) -> float:
        """Return the largest leakage of a line of height one to frequencies about `away` Hz from it."""
        step = float(self.frequency[1])
        around = away + step * np.linspace(-0.5, 0.5, 5)
        return max(self._transform(self.weights, float(f)) for f in around) / float(self.weights.sum())

    def _transform(self, values: Array, f: float) -> float:
        return float(abs(values @ np.exp(-2j * np.pi * f * self.sample * np.arange(len(values)))))

    def plot(self) -> Figure:
        """Plot the spectrum over frequency with its peaks.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from flexarm.plotting.frequency import spectrum_figure

        return spectrum_figure(self)

    def __repr__(self) -> str:
        return f"Spectrum of {self.name}, {len(self.frequency)} lines to {self.frequency[-1]:.4g} Hz ({self.window})"


def spectrum(
    t: Any,
    x: Any,
    *,
    window: Window = "hann",
    scaling: Scaling = "amplitude",
    trend: Trend = "mean",
) -> Spectrum:
    """Compute the amplitude spectrum of a signal.

    Parameters
    ----------
    t : array_like, shape (n,)
        Equidistant times (s), at least eight.
    x : array_like, shape (n,)
        Values.
    window : {"hann", "hamming", "blackman", "flattop", "none"}, optional
        Window. "hann" separates close lines, "flattop" has the most accurate amplitudes, "none" is exact for whole
        periods.
    scaling : {"amplitude", "density"}, optional
        Quantity that `Spectrum.plot` draws: amplitude, or power spectral density per Hz.
    trend : {"mean", "line", "none"}, optional
        Trend that is subtracted first: the mean, a straight line, or nothing.

    Returns
    -------
    Spectrum
        Amplitudes over frequency.

    Raises
    ------
    ValueError
        If times are not equidistant, a value is not finite, or an option does not exist.

    Warns
    -----
    ValidityWarning
        If the signal has content near half the sampling rate, which may be aliased.

    See Also
    --------
    flexarm.Run.spectrum : Spectrum of a quantity of a run.
    flexarm.decay : Frequencies and damping of decaying vibrations.

    Examples
    --------
    >>> t = np.arange(1000) / 100
    >>> spectrum(t, 3 * np.sin(2 * np.pi * 5.03 * t)).peaks(1)[0].frequency.__round__(3)
    5.03
    """
    _check_choices(window, scaling, trend)
    found = _compute_spectrum(check_samples(t, x, MIN_SAMPLE_COUNT), window, scaling, trend)
    _warn_of_aliasing(found, None)
    return found


def run_spectrum(
    run: Run, name: str, after: Any, before: Any, sample: Any, window: Window, scaling: Scaling, trend: Trend
) -> Spectrum:
    """Compute a spectrum for `Run.spectrum`; oversampling detects content beyond half the sampling rate."""
    _check_choices(window, scaling, trend)
    finer = OVERSAMPLING if run.continuous else 1
    (samples,) = sample_run(run, [name], after, before, sample, finer * MIN_SAMPLE_COUNT, finer)
    end = len(samples.values) // finer * finer
    coarse = replace(samples, times=samples.times[:end:finer], values=samples.values[:end:finer])
    found = _compute_spectrum(coarse, window, scaling, trend)
    _warn_of_aliasing(found, _compute_spectrum(samples, window, scaling, trend) if finer > 1 else None)
    return found


def _check_choices(window: object, scaling: object, trend: object) -> None:
    for word, value, known in (
        ("window", window, list(WINDOWS)),
        ("scaling", scaling, list(get_args(Scaling))),
        ("trend", trend, list(get_args(Trend))),
    ):
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{word} = {shown(value)}: is not known{suggestion(value, known)}")


def _compute_spectrum(samples: SampledSignal, window: str, scaling: str, trend: str) -> Spectrum:
    from scipy.signal import detrend, get_window

    x = samples.values
    if trend != "none":
        x = detrend(x, type="constant" if trend == "mean" else "linear")
    weights = get_window(WINDOWS[window], len(x), fftbins=True)
    weighted = x * weights
    amplitude = 2 * np.abs(np.fft.rfft(weighted)) / weights.sum()
    amplitude[0] /= 2
    if len(x) % 2 == 0:
        amplitude[-1] /= 2
    frequency = np.asarray(np.fft.rfftfreq(len(x), samples.sample), dtype=float)
    return Spectrum(
        samples.name, samples.unit, frequency, amplitude, window, samples.sample, scaling, weighted, weights
    )


def _warn_of_aliasing(found: Spectrum, fine: Spectrum | None) -> None:
    """Warn if there is content above half the sampling rate, by a finer spectrum, or close to it."""
    limit = found.frequency[-1]
    if fine is None:
        late, where = found.amplitude[found.frequency > HIGH_FREQUENCY_FRACTION * limit], "close to"
    else:
        late, where = fine.amplitude[fine.frequency > limit], "above"
    beyond, top = float(late.max(initial=0.0)), float(found.amplitude[1:].max(initial=0.0))
    share = beyond / max(top, beyond, np.finfo(float).tiny)
    if share > ALIAS_THRESHOLD:
        warn(
            f"'{found.name}' has content {where} half the sampling rate ({limit:.4g} Hz), {share:.0%} of the largest: "
            f"it shows up at wrong frequencies; take samples more often than every {found.sample:.4g} s",
            ValidityWarning,
        )
