"""Frequencies and damping of vibrations that die away: by the logarithmic decrement, or by a matrix pencil."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.analysis.spectra import Recorded, given, recorded
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.results.run import Run

Method = Literal["matrix-pencil", "log-decrement"]

METHODS = ("matrix-pencil", "log-decrement")
LEAST = 8  # samples
COLUMNS = 160  # of the pencil at the most: more take long and tell little
NOTHING = 1e-11  # of the largest singular value: rounding
MORE = 4  # vibrations beyond those asked for that may be in the signal, so that they do not blur them
EXTREMES = 4  # that a decrement needs
UNEVEN = 0.2  # of half a period: extremes that are further from their places are not those of one vibration
DEGREE = 5  # of the spline in which extremes are looked for


@dataclass(frozen=True, eq=False)
class Decay:
    """offset + the sum of A exp(-zeta omega s) cos(omega sqrt(1 - zeta^2) s + phase), s since the first sample.

    frequencies: omega / (2 pi) of each vibration, as undamped (Hz, ascending); damping_ratios: zeta, negative where it
    grows; amplitudes: A at the first sample; phases: rad. fit: the share of the signal's variation that they reproduce,
    1 if all. times, values: the signal; name and unit are its; method: what found them.
    """

    name: str
    unit: str
    frequencies: Array
    damping_ratios: Array
    amplitudes: Array
    phases: Array
    offset: float
    fit: float
    method: str
    times: Array
    values: Array

    @property
    def damped_frequencies(self) -> Array:
        """At which they swing to and fro (Hz)."""
        return np.asarray(self.frequencies * np.sqrt(1 - self.damping_ratios**2))

    def __call__(self, t: Any) -> Array:
        """What they add up to at times t (s)."""
        s = real_array("t", t)[..., None] - self.times[0]
        omega = 2 * np.pi * self.frequencies
        waves = np.exp(-self.damping_ratios * omega * s) * np.cos(2 * np.pi * self.damped_frequencies * s + self.phases)
        return np.asarray(self.offset + (self.amplitudes * waves).sum(axis=-1))

    def plot(self) -> Figure:
        """The signal and what was found in it."""
        from flexarm.plotting.frequency import decay_figure

        return decay_figure(self)

    def __repr__(self) -> str:
        found = [f"{f:.5g} Hz with ratio {zeta:.3g}" for f, zeta in zip(self.frequencies, self.damping_ratios)]
        return f"Decay of {self.name}: {', '.join(found)} (fit {self.fit:.6g})"


def decay(t: Any, x: Any, *, modes: int = 1, method: Method = "matrix-pencil") -> Decay:
    """Vibrations in values x at times t (s, equally far apart) that nothing drives: the `modes` strongest,
    by their squares summed over the times.

    method: matrix-pencil is for one or several, log-decrement for a single one with some extremes to count.

    >>> t = np.linspace(0, 2, 400)
    >>> decay(t, 1 + 3 * np.exp(-t) * np.cos(20 * t))
    Decay of x: 3.1871 Hz with ratio 0.0499 (fit 1)
    """
    _checked(modes, method)
    return _found(given(t, x, LEAST), int(modes), method)


def run_decay(run: Run, name: str, after: Any, before: Any, sample: Any, modes: int, method: Method) -> Decay:
    """Of a quantity of a run by name."""
    _checked(modes, method)
    (samples,) = recorded(run, [name], after, before, sample, LEAST)
    return _found(samples, int(modes), method)


def _checked(modes: object, method: object) -> None:
    count = whole_number("modes", modes, least=1)
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method = {shown(method)}: is not known{suggestion(method, METHODS)}")
    if method == "log-decrement" and count > 1:
        raise ValueError(f"modes = {count}: a logarithmic decrement is that of one vibration; take matrix-pencil")


def _found(samples: Recorded, modes: int, method: str) -> Decay:
    x, scale = samples.values, float(np.ptp(samples.values))
    if scale == 0:
        raise ValueError(f"'{samples.name}' does not change from {samples.times[0]:g} to {samples.times[-1]:g} s")
    if method == "log-decrement":
        rates = np.array([_decrement(samples)])
        others = rates[:0]
    else:
        rates, others = _pencil(samples, modes)
    s = samples.times - samples.times[0]
    every = np.concatenate([rates, others])
    columns = np.exp(np.multiply.outer(s, every))
    sizes = np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)  # some of the others may grow fast
    matrix = np.column_stack([columns.real / sizes, -columns.imag / sizes, np.ones(len(s))])
    found = np.linalg.lstsq(matrix, x - x.mean(), rcond=None)[0]
    parts = (found[: len(every)] + 1j * found[len(every) : -1]) / sizes
    order = np.argsort(np.abs(rates), kind="stable")
    rates, parts = rates[order], parts[: len(rates)][order]
    offset = float(found[-1] + x.mean())
    made = offset + (np.exp(np.multiply.outer(s, rates)) @ parts).real
    fit = 1 - float(((x - made) ** 2).sum() / ((x - x.mean()) ** 2).sum())
    return Decay(
        samples.name,
        samples.unit,
        np.abs(rates) / (2 * np.pi),
        -rates.real / np.abs(rates),
        np.abs(parts),
        np.angle(parts),
        offset,
        fit,
        method,
        samples.times,
        x,
    )


def _pencil(samples: Recorded, modes: int) -> tuple[Any, Any]:
    """Rates (1/s, positive imaginary parts) of the strongest vibrations, and of the others that are in the signal.

    A constant is a motion that neither decays nor swings.
    """
    rates, _, strength = motions(samples, 2 * (modes + MORE) + 1)
    z = np.exp(rates * samples.sample)
    swings = np.flatnonzero((z.imag > 1e-9 * np.abs(z)) & (np.abs(z.imag) > 0))
    swings = swings[np.argsort(-strength[swings], kind="stable")]
    if len(swings) < modes:
        raise ValueError(
            f"modes = {modes}: '{samples.name}' has {len(swings)} that vibrate from {samples.times[0]:g} to "
            f"{samples.times[-1]:g} s"
        )
    still = np.flatnonzero((np.abs(z.imag) <= 1e-9 * np.abs(z)) & (np.abs(z - 1) > 1e-6) & (z.real > 0))
    return rates[swings[:modes]], np.concatenate([rates[swings[modes:]], rates[still]])


def motions(samples: Recorded, most: int) -> tuple[Any, Any, Any]:
    """Rates (1/s) of the sum of exponentials that a signal is, at `most` so many; their complex sizes at the first
    sample, and how much of the signal each is.

    Rows of samples, each shifted by one, span what z^k of all motions spans; the shift within that space has the z as
    eigenvalues.
    """
    x, count = samples.values, len(samples.values)
    width = min(count // 2, COLUMNS)
    rows = np.lib.stride_tricks.sliding_window_view(x, width + 1)
    triangle = np.linalg.qr(rows, mode="r") if len(rows) > 3 * width else rows
    _, sizes, space = np.linalg.svd(triangle, full_matrices=False)
    rank = min(int((sizes > NOTHING * sizes[0]).sum()), most, width)
    space = space[:rank].T
    z = np.linalg.eigvals(np.linalg.lstsq(space[:-1], space[1:], rcond=None)[0])
    z = z[np.abs(z) > np.finfo(float).eps].astype(complex)
    rates = np.log(z) / samples.sample
    columns = np.exp(np.multiply.outer(np.arange(count) * samples.sample, rates))
    norms = np.linalg.norm(columns, axis=0)
    parts = np.linalg.lstsq(columns / norms, x.astype(complex), rcond=None)[0]
    return rates, parts / norms, np.abs(parts)


def _decrement(samples: Recorded) -> complex:
    """Rate of one vibration from its extremes, which are half a period apart; what they differ by knows no offset."""
    from scipy.interpolate import PPoly, make_interp_spline

    path = make_interp_spline(samples.times, samples.values, k=DEGREE)
    turns = PPoly.from_spline(path.derivative()).roots(extrapolate=False)
    turns = np.unique(turns[np.isfinite(turns)])
    if len(turns) < EXTREMES:
        raise ValueError(
            f"'{samples.name}' has {len(turns)} extremes from {samples.times[0]:g} to {samples.times[-1]:g} s, and "
            f"{EXTREMES} are needed for a decrement"
        )
    number = np.arange(len(turns))
    half, start = np.polyfit(number, turns, 1)
    if np.abs(turns - start - half * number).max() > UNEVEN * half:
        raise ValueError(
            f"'{samples.name}' is not one vibration: its extremes are not equally far apart; take "
            "method='matrix-pencil', or a later part"
        )
    swings = np.abs(np.diff(path(turns)))
    slope = np.polyfit(number[:-1], np.log(swings), 1)[0]
    return complex(slope / half, np.pi / half)
