"""Frequencies and damping ratios of decaying vibrations, by a matrix pencil or the logarithmic decrement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from flexarm.analysis.spectra import SampledSignal, check_samples, sample_run
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.results.run import Run

Method = Literal["matrix-pencil", "log-decrement"]

MIN_SAMPLE_COUNT = 8
MAX_PENCIL_COLUMN_COUNT = 160  # more columns take longer and add little accuracy
SINGULAR_VALUE_TOLERANCE = 1e-11  # relative to the largest singular value
SPARE_VIBRATION_COUNT = 4  # further vibrations that may be in the signal, fitted so that they do not blur the others
MIN_EXTREMUM_COUNT = 4
MAX_EXTREMUM_DEVIATION = 0.2  # of half a period; extremes further from equal distances are not those of one vibration
SPLINE_DEGREE = 5  # spline in which extremes are located


@dataclass(frozen=True, eq=False)
class Decay:
    """Sum of decaying vibrations fitted to a signal.

    The sum is offset + sum A exp(-zeta omega s) cos(omega sqrt(1 - zeta^2) s + phase), s the time since the first
    sample.

    Parameters
    ----------
    name : str
        Name of the signal.
    unit : str
        Unit of the signal.
    frequencies : ndarray, shape (n,)
        Undamped natural frequencies omega / (2 pi) in Hz, ascending.
    damping_ratios : ndarray, shape (n,)
        Damping ratios zeta, negative for a growing vibration.
    amplitudes : ndarray, shape (n,)
        Amplitudes A at the first sample, in `unit`.
    phases : ndarray, shape (n,)
        Phases (rad).
    offset : float
        Constant part, in `unit`.
    fit : float
        Share of the signal's variance that the vibrations reproduce; 1 if all.
    method : str
        Method of identification.
    times : ndarray
        Times of the samples (s).
    values : ndarray
        Values of the samples.

    See Also
    --------
    flexarm.decay : Identify decaying vibrations.
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
        """Frequencies of the damped vibrations (Hz)."""
        return np.asarray(self.frequencies * np.sqrt(1 - self.damping_ratios**2))

    def __call__(self, t: Any) -> Array:
        """Evaluate the fitted sum at times t (s)."""
        s = real_array("t", t)[..., None] - self.times[0]
        omega = 2 * np.pi * self.frequencies
        waves = np.exp(-self.damping_ratios * omega * s) * np.cos(2 * np.pi * self.damped_frequencies * s + self.phases)
        return np.asarray(self.offset + (self.amplitudes * waves).sum(axis=-1))

    def plot(self) -> Figure:
        """Plot the signal and the fitted vibrations.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from flexarm.plotting.frequency import decay_figure

        return decay_figure(self)

    def __repr__(self) -> str:
        found = [f"{f:.5g} Hz with ratio {zeta:.3g}" for f, zeta in zip(self.frequencies, self.damping_ratios)]
        return f"Decay of {self.name}: {', '.join(found)} (fit {self.fit:.6g})"


def decay(t: Any, x: Any, *, modes: int = 1, method: Method = "matrix-pencil") -> Decay:
    """Identify the strongest free vibrations in a signal.

    Parameters
    ----------
    t : array_like, shape (n,)
        Equidistant times (s), at least eight.
    x : array_like, shape (n,)
        Values of a free (undriven) motion.
    modes : int, optional
        Number of vibrations to identify; the strongest are those with the largest sum of squares.
    method : {"matrix-pencil", "log-decrement"}, optional
        "matrix-pencil" identifies one or several vibrations, "log-decrement" a single one with at least four extremes.

    Returns
    -------
    Decay
        Frequencies, damping ratios, amplitudes and phases.

    Raises
    ------
    ValueError
        If the signal does not change, or has fewer vibrations.

    See Also
    --------
    flexarm.Run.decay : Decay of a quantity of a run.
    flexarm.modes : Modes of a model.

    Examples
    --------
    >>> t = np.linspace(0, 2, 400)
    >>> decay(t, 1 + 3 * np.exp(-t) * np.cos(20 * t))
    Decay of x: 3.1871 Hz with ratio 0.0499 (fit 1)
    """
    _check_choices(modes, method)
    return _identify(check_samples(t, x, MIN_SAMPLE_COUNT), int(modes), method)


def run_decay(run: Run, name: str, after: Any, before: Any, sample: Any, modes: int, method: Method) -> Decay:
    """Identify decaying vibrations in a quantity of a run, for `Run.decay`."""
    _check_choices(modes, method)
    (samples,) = sample_run(run, [name], after, before, sample, MIN_SAMPLE_COUNT)
    return _identify(samples, int(modes), method)


def _check_choices(modes: object, method: object) -> None:
    count = whole_number("modes", modes, least=1)
    if not isinstance(method, str) or method not in get_args(Method):
        raise ValueError(f"method = {shown(method)}: is not known{suggestion(method, get_args(Method))}")
    if method == "log-decrement" and count > 1:
        raise ValueError(f"modes = {count}: a logarithmic decrement is that of one vibration; take matrix-pencil")


def _identify(samples: SampledSignal, modes: int, method: str) -> Decay:
    x, scale = samples.values, float(np.ptp(samples.values))
    if scale == 0:
        raise ValueError(f"'{samples.name}' does not change from {samples.times[0]:g} to {samples.times[-1]:g} s")
    is_decrement = method == "log-decrement"
    rates, others = (_decrement_rate(samples), np.zeros(0)) if is_decrement else _pencil_rates(samples, modes)
    s = samples.times - samples.times[0]
    every = np.concatenate([rates, others])
    columns = np.exp(np.multiply.outer(s, every))
    # scaled, since components that grow fast would dominate the least squares
    sizes = np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)
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


def _pencil_rates(samples: SampledSignal, modes: int) -> tuple[Any, Any]:
    """Return the rates (1/s) of the strongest vibrations, and those of all other components but a constant."""
    rates, _, strength = exponential_components(samples, 2 * (modes + SPARE_VIBRATION_COUNT) + 1)
    z = np.exp(rates * samples.sample)
    is_real = np.abs(z.imag) <= 1e-9 * np.abs(z)
    swings = np.flatnonzero(~is_real & (z.imag > 0))
    swings = swings[np.argsort(-strength[swings], kind="stable")]
    if len(swings) < modes:
        raise ValueError(
            f"modes = {modes}: '{samples.name}' has {len(swings)} that vibrate from {samples.times[0]:g} to "
            f"{samples.times[-1]:g} s"
        )
    still = is_real & (np.abs(z - 1) > 1e-6) & (z.real > 0)
    return rates[swings[:modes]], np.concatenate([rates[swings[modes:]], rates[still]])


def exponential_components(samples: SampledSignal, most: int) -> tuple[Any, Any, Any]:
    """Fit a sum of at most `most` exponentials by the matrix pencil method.

    Returns their complex rates (1/s), their complex amplitudes at the first sample, and their norms over the samples.
    Rows of samples, each shifted by one, span the same space as z^k of all components; the shift within that space has
    the z as eigenvalues.
    """
    x, count = samples.values, len(samples.values)
    width = min(count // 2, MAX_PENCIL_COLUMN_COUNT)
    rows = np.lib.stride_tricks.sliding_window_view(x, width + 1)
    triangle = np.linalg.qr(rows, mode="r") if len(rows) > 3 * width else rows
    _, sizes, space = np.linalg.svd(triangle, full_matrices=False)
    rank = min(int((sizes > SINGULAR_VALUE_TOLERANCE * sizes[0]).sum()), most, width)
    space = space[:rank].T
    z = np.linalg.eigvals(np.linalg.lstsq(space[:-1], space[1:], rcond=None)[0])
    z = z[np.abs(z) > np.finfo(float).eps].astype(complex)
    rates = np.log(z) / samples.sample
    columns = np.exp(np.multiply.outer(np.arange(count) * samples.sample, rates))
    norms = np.linalg.norm(columns, axis=0)
    parts = np.linalg.lstsq(columns / norms, x.astype(complex), rcond=None)[0]
    return rates, parts / norms, np.abs(parts)


def _decrement_rate(samples: SampledSignal) -> Any:
    """Return the rate of one vibration from its extremes, half a period apart; an offset has no effect."""
    from scipy.interpolate import PPoly, make_interp_spline

    path = make_interp_spline(samples.times, samples.values, k=SPLINE_DEGREE)
    turns = PPoly.from_spline(path.derivative()).roots(extrapolate=False)
    turns = np.unique(turns[np.isfinite(turns)])
    if len(turns) < MIN_EXTREMUM_COUNT:
        raise ValueError(
            f"'{samples.name}' has {len(turns)} extremes from {samples.times[0]:g} to {samples.times[-1]:g} s, and "
            f"{MIN_EXTREMUM_COUNT} are needed for a decrement"
        )
    number = np.arange(len(turns))
    half, start = np.polyfit(number, turns, 1)
    if np.abs(turns - start - half * number).max() > MAX_EXTREMUM_DEVIATION * half:
        raise ValueError(
            f"'{samples.name}' is not one vibration: its extremes are not equally far apart; take "
            "method='matrix-pencil', or a later part"
        )
    swings = np.abs(np.diff(path(turns)))
    slope = np.polyfit(number[:-1], np.log(swings), 1)[0]
    return np.array([complex(slope / half, np.pi / half)])
