"""Spectra of what a run did: which frequencies are in it, and how much of each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from flexarm.analysis.recorded import Recorded, given, recorded
from flexarm.foundation.numbers import Array, real_number, whole_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.reach import ValidityWarning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.motion.run import Run

Window = Literal["hann", "hamming", "blackman", "flattop", "none"]
Scaling = Literal["amplitude", "density"]
Trend = Literal["mean", "line", "none"]

WINDOWS = {"hann": "hann", "hamming": "hamming", "blackman": "blackman", "flattop": "flattop", "none": "boxcar"}
SCALINGS = ("amplitude", "density")
TRENDS = ("mean", "line", "none")
LEAST = 8  # samples
FINER = 4  # times as many samples tell what is beyond half the sampling rate
NEAR = 0.9  # of half the sampling rate: what is there may go on beyond
MINDED = 0.01  # of the largest amplitude
LEAKED = 2.0  # times what larger peaks leak to a frequency: less is no peak of its own


class Peak(NamedTuple):
    """A line of a spectrum: its frequency (Hz) and the amplitude of the sine there, in the quantity's unit."""

    frequency: float
    amplitude: float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """One-sided spectrum: a sine of amplitude A is a line of height A (`amplitude`); `density` is that of its power.

    name, unit: of the quantity. frequency: Hz, from zero to half the sampling rate. window: what samples were weighted
    with. sample: time between them (s). scaling: what `plot` draws. samples: what was transformed, with `weights`.
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
        """Distance of lines that can be told apart (Hz): the window's equivalent noise bandwidth."""
        return float((self.weights**2).sum() / self.weights.sum() ** 2 / self.sample)

    @property
    def density(self) -> Array:
        """One-sided density of power, in the square of the unit per Hz: its integral is the mean square."""
        once = np.zeros(len(self.frequency), dtype=bool)
        once[0], once[-1] = True, len(self.weights) % 2 == 0
        return np.asarray(np.where(once, 1.0, 0.5) * self.amplitude**2 / self.resolution)

    def peaks(self, most: int = 5, least: float = 0.05) -> list[Peak]:
        """Lines, the highest first: at `most` so many, none below `least` of the highest, and none that is only what
        the window lets leak from a higher one. Frequencies are found between those of the spectrum."""
        most = whole_number("most", most, least=1)
        least = real_number("least", least, above=0, most=1)
        a = self.amplitude
        tops = np.flatnonzero((a[1:-1] > a[:-2]) & (a[1:-1] >= a[2:])) + 1
        top = float(a[tops].max(initial=0.0))
        found: list[Peak] = []
        for k in tops[np.argsort(-a[tops], kind="stable")]:
            if len(found) == most or not a[k] >= least * top or top == 0:
                break
            leaked = sum(each.amplitude * self._leak(self.frequency[k] - each.frequency) for each in found)
            if a[k] > LEAKED * leaked:
                found.append(self._refined(int(k)))
        return sorted(found, key=lambda each: -each.amplitude)

    def _refined(self, k: int) -> Peak:
        """The top of the transform of the weighted samples between two lines of the spectrum."""
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

    def _leak(self, away: float) -> float:
        """Of a line of height one, so far away (Hz), at most: between zeros of the window's transform, too."""
        step = float(self.frequency[1])
        around = away + step * np.linspace(-0.5, 0.5, 5)
        return max(self._transform(self.weights, float(f)) for f in around) / float(self.weights.sum())

    def _transform(self, values: Array, f: float) -> float:
        return float(abs(values @ np.exp(-2j * np.pi * f * self.sample * np.arange(len(values)))))

    def plot(self) -> Figure:
        """The spectrum over frequency, with its peaks."""
        from flexarm.show.spectra import spectrum_figure

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
    """The spectrum of values x at times t (s, equally far apart).

    window: hann tells near lines apart, flattop has the truest heights, "none" is exact for whole periods.
    scaling: amplitude (a sine of amplitude A is a line of height A), or the density of power, per Hz.
    trend: what is taken off before: the mean, a straight line, or nothing.

    >>> t = np.arange(1000) / 100
    >>> spectrum(t, 3 * np.sin(2 * np.pi * 5.03 * t)).peaks(1)[0].frequency.__round__(3)
    5.03
    """
    _checked(window, scaling, trend)
    samples = given(t, x, LEAST)
    found = _spectrum(samples, window, scaling, trend)
    late = found.amplitude[found.frequency > NEAR * found.frequency[-1]]
    _warn(samples.name, found, float(late.max(initial=0.0)), "close to half the sampling rate", 3)
    return found


def run_spectrum(
    run: Run, name: str, after: Any, before: Any, sample: Any, window: Window, scaling: Scaling, trend: Trend
) -> Spectrum:
    """Of a quantity of a run by name. A run that can be read anywhere is asked what lies beyond the spectrum's end."""
    _checked(window, scaling, trend)
    finer = FINER if run.continuous else 1
    (samples,) = recorded(run, [name], after, before, sample, finer * LEAST, finer)
    every = samples.values[: len(samples.values) // finer * finer]
    coarse = Recorded(samples.name, samples.unit, samples.times[: len(every) : finer], every[::finer])
    found = _spectrum(coarse, window, scaling, trend)
    if finer > 1:
        fine = _spectrum(samples, window, scaling, trend)
        beyond = fine.amplitude[fine.frequency > found.frequency[-1]]
        _warn(name, found, float(beyond.max(initial=0.0)), "above half the sampling rate")
    else:
        late = found.amplitude[found.frequency > NEAR * found.frequency[-1]]
        _warn(name, found, float(late.max(initial=0.0)), "close to half the sampling rate")
    return found


def _checked(window: object, scaling: object, trend: object) -> None:
    for word, value, known in (
        ("window", window, list(WINDOWS)),
        ("scaling", scaling, list(SCALINGS)),
        ("trend", trend, list(TRENDS)),
    ):
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{word} = {shown(value)}: is not known{suggestion(value, known)}")


def _spectrum(samples: Recorded, window: str, scaling: str, trend: str) -> Spectrum:
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


def _warn(name: str, found: Spectrum, beyond: float, where: str, level: int = 4) -> None:
    top = float(found.amplitude[1:].max(initial=0.0))
    share = beyond / max(top, beyond, np.finfo(float).tiny)
    if share > MINDED:
        warnings.warn(
            f"'{name}' has content {where} ({found.frequency[-1]:.4g} Hz), {share:.0%} of the largest: it "
            f"shows up at wrong frequencies; take samples more often than every {found.sample:.4g} s",
            ValidityWarning,
            stacklevel=level,
        )
