"""Quantities of a run at times that are equally far apart, by name: what spectra, decays and responses are made of.

Spectra of what a run did: which frequencies are in it, and how much of each.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning
from flexarm.feedback.signals import Output, Signals
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number, whole_number
from flexarm.results.by_name import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.results.run import Run


EVEN = 1e-6  # of the distance between times: by so much they may differ
MOST = 2_000_000  # samples


@dataclass(frozen=True)
class Recorded:
    """A quantity over time: its name, its unit, times (s) at equal distances and values."""

    name: str
    unit: str
    times: Array
    values: Array

    @property
    def sample(self) -> float:
        """Time from one to the next (s)."""
        return float((self.times[-1] - self.times[0]) / (len(self.times) - 1))

    @property
    def duration(self) -> float:
        """What samples stand for, each for the time to the next (s)."""
        return self.sample * len(self.times)


def given(t: Any, x: Any, least: int, name: str = "x", unit: str = "") -> Recorded:
    """Arrays of the user's, if times are equally far apart and no value is missing."""
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
    if steps.min() <= 0 or np.ptp(steps) > EVEN * steps.mean():
        raise ValueError(f"t: must rise at equal distances, and here are {steps.min():.6g} to {steps.max():.6g} s")
    return Recorded(name, unit, times, values)


def recorded(
    run: Run, names: list[str], after: Any, before: Any, sample: Any, least: int, finer: int = 1
) -> list[Recorded]:
    """Quantities of a run from a time to another, that excluded; at equal distances `sample`, each divided by `finer`
    where the run can be read between its samples."""
    first, last, step = stretch(run, after, before, sample)
    own = run.array("time")
    if run.continuous:
        count = _count(first, last, step / finer, least)
        times = np.asarray(first + step / finer * np.arange(count), dtype=float)
        at = run.at(np.minimum(times, own[-1]))
    else:
        here = (own >= first - EVEN * step) & (own < last - EVEN * step)
        times, at = own[here], run
        if sample is not None or len(times) < least or np.ptp(np.diff(times)) > EVEN * step:
            raise ValueError(
                "this run can be read at its samples only, so that these must be equally far apart and sample=... be "
                f"left out (and there are {len(times)} of them from {first:g} to {last:g} s)"
            )
        return [read(at, name, times, here) for name in names]
    return [read(at, name, times) for name in names]


def stretch(run: Run, after: Any, before: Any, sample: Any) -> tuple[float, float, float]:
    own = run.array("time")
    end = float(own[-1])
    first = 0.0 if after is None else real_number("after", after, "s", least=0)
    last = end if before is None else real_number("before", before, "s", above=0)
    if last > end * (1 + EVEN):
        raise ValueError(f"before = {last:g}: must not be later than {end:g} s, where the run ends")
    if first >= last:
        end_word = "where the run ends" if before is None else "which is before=..."
        raise ValueError(f"after = {first:g}: must be earlier than {last:g} s, {end_word}")
    if sample is not None:
        return first, last, real_number("sample", sample, "s", above=0)
    if len(own) < 2:
        raise ValueError("this run has one sample only")
    return first, last, float(np.median(np.diff(own)))


def _count(first: float, last: float, step: float, least: int) -> int:
    ratio = (last - first) / step
    count = int(np.floor(ratio + EVEN)) if ratio < MOST + 1 else MOST + 1
    if count < least:
        raise ValueError(
            f"sample: from {first:g} to {last:g} s there are {count} samples, {step:.4g} s apart, and {least} are "
            "needed; give a shorter one, or take a longer part"
        )
    if count > MOST:
        raise ValueError(f"sample = {step:.4g}: makes more than {MOST} samples")
    return count


# --- names ---


def read(run: Run, name: str, times: Array, here: Any = slice(None)) -> Recorded:
    if not isinstance(name, str):
        raise TypeError(f"{shown(name)}: must be the name of a quantity of the run")
    if name in run.names:
        values, unit = np.asarray(run[name], dtype=float), named(run.data, name).unit
    else:
        values, unit = _output(run, name)
    values = values[here]
    if not np.isfinite(values).all():
        raise ValueError(f"'{name}' is not a number at t = {times[int((~np.isfinite(values)).argmax())]:g} s")
    return Recorded(name, unit, times, values)


def _output(run: Run, name: str) -> tuple[Array, str]:
    """One of those that `fa.linearize` knows by the same name: rates of places and coordinates, strains."""
    system = System(run.robot, native=False)
    signals = Signals(system, {each: (place[0], place[1]) for each, place in run.options.get("points", {}).items()})
    try:
        found = signals.output(name)
    except KeyError:
        run[name]  # says what is there;
        named(run.data, name)  # a point has parts
        raise
    states = [run.array(each) for each in "qva"]
    if found.path is not None:
        return _along(system, found, states), found.unit
    if found.read is not None and ".strain(" in name:
        return np.asarray(found.read(*states, (), None)), found.unit
    raise KeyError(
        f"there is no '{name}' over time; run.moment, run.force and run.reaction give arrays for fa.spectrum"
    )


def _along(system: System, output: Output, states: list[Array]) -> Array:
    """Values of an expression, or of its rates, at many states."""
    e = system.equations
    with building:
        function = ca.Function("output", [e.q, e.v, e.a, e.p], [output.expression(e)])
    count = len(states[0])
    numbers = ca.repmat(ca.DM(system.numbers), 1, count)
    return np.asarray(function.map(count)(*(each.T for each in states), numbers).full().ravel())


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
