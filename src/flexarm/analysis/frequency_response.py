"""Frequency responses measured in a run: the ratio of Fourier integrals of an output and an input.

After the end of the run both signals are continued by the free motions (damped exponentials) that are fitted to its
end, so that the integrals extend over all time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexarm.analysis.damping_identification import exponential_components
from flexarm.analysis.spectra import SampledSignal, read_quantity, sampling_range
from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.quantity_names import derivative, split_derivative, split_section
from flexarm.dynamics.system import System
from flexarm.feedback.signals import Signals
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array, real_array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.results.run import Run


Complex = np.ndarray[Any, np.dtype[np.complex128]]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(3)  # quadrature rule of each piece of the run
PHASE_RESET_INTERVAL = 64  # number of products of phase factors after which they are recomputed, against rounding
TAIL_FRACTION = 0.1  # part of the run, at its end, to which free motions are fitted while the input still acts
MIN_TAIL_FRACTION = 0.02  # shortest part of the run after the input that is used as free motion
INPUT_TOLERANCE = 1e-9  # relative to the largest input; smaller values count as zero
MAX_FREE_MOTION_COUNT = 21
MAX_UNEXPLAINED_END = 1e-3  # relative motion at the end, beyond free motions, above which a warning is given
MAX_MISFIT_AFTER_INPUT, MAX_MISFIT_DURING_INPUT = 1e-3, 1e-7  # relative misfit of the free motions at the end
MIN_TAIL_SAMPLE_COUNT, MAX_TAIL_SAMPLE_COUNT = 60, 600
MIN_PIECE_COUNT, MAX_PIECE_COUNT = 20, 200_000
MIN_DEFAULT_EXCITATION = 0.1  # input spectrum, relative to its maximum, at the frequencies chosen by default
MIN_EXCITATION = 1e-3  # input spectrum, relative to its maximum, below which a frequency is refused
NEIGHBOUR_COUNT = 3  # frequencies on each side from which the coherence is computed
REST_TOLERANCE = 1e-6  # relative kinetic energy, or unbalanced force, above which the robot moves at the start
OTHER_INPUT_TOLERANCE = 1e-6  # relative change of another torque above which it acts as an input
COEFFICIENT_COUNT = 3  # coefficients of the parabola fitted to a response around a frequency


class ContinuedSignals:
    """Input and output over all time: values in the pieces of a run between jumps, and free motions after its end."""

    def __init__(
        self, run: Run, first: float, last: float, step: float, names: tuple[str, str], rest: tuple[float, float]
    ) -> None:
        even = np.linspace(first, last, max(round((last - first) / step), 2) + 1)
        ends = np.unique(np.concatenate([even, run.jumps[(run.jumps > first) & (run.jumps < last)]]))
        halves = np.diff(ends)[:, None] / 2
        self.first, self.last = first, last
        self.times = ((ends[:-1] + ends[1:])[:, None] / 2 + halves * NODES).ravel()
        self.weights = (halves * WEIGHTS).ravel()
        found = self._read(run, self.times, names, rest)
        self.values, self.units = [each.values for each in found], [each.unit for each in found]
        # from `begin` motions are free, or may be, and free motions may misfit by `bound`
        acting = self.times[np.abs(self.values[0]) > INPUT_TOLERANCE * np.abs(self.values[0]).max()]
        later = ends[ends > (acting[-1] if len(acting) else first)]
        is_free = len(later) > 0 and last - later[0] > MIN_TAIL_FRACTION * (last - first)
        begin = float(later[0]) if is_free else last - TAIL_FRACTION * (last - first)
        self.bound = MAX_MISFIT_AFTER_INPUT if is_free else MAX_MISFIT_DURING_INPUT
        begin = max(begin, last - MAX_TAIL_SAMPLE_COUNT * step)
        tail = np.linspace(begin, last, max(MIN_TAIL_SAMPLE_COUNT, round((last - begin) / step)) + 1)[:-1]
        self.tails = [self._tail(each) for each in self._read(run, tail, names, rest)]

    @staticmethod
    def _read(run: Run, times: Array, names: tuple[str, str], rest: tuple[float, float]) -> list[SampledSignal]:
        """Return the signals at given times relative to their values at rest."""
        at = run.at(np.clip(times, 0, float(run.array("time")[-1])))
        found = [read_quantity(at, name, times) for name in names]
        return [replace(each, values=each.values - still) for each, still in zip(found, rest)]

    def _tail(self, samples: SampledSignal) -> tuple[Any, Any, float]:
        """Return rates and amplitudes of the free motions at the end of a signal, and their relative misfit."""
        none = np.zeros(0, dtype=complex)
        size = float(np.abs(samples.values).max())
        if size == 0:
            return none, none, 0.0
        rates, parts, _ = exponential_components(samples, MAX_FREE_MOTION_COUNT)
        s = samples.times - samples.times[0]
        missed = np.abs(samples.values - (np.exp(np.multiply.outer(s, rates)) @ parts).real).max() / size
        if missed > self.bound:
            return none, none, 1.0
        parts = parts * np.exp(rates * (self.last - samples.times[0]))
        return np.minimum(rates.real, 0) + 1j * rates.imag, parts, float(missed)

    def transforms(self, f: Array) -> tuple[Complex, Complex]:
        """Return the Fourier integrals of input and output at frequencies f (Hz)."""
        out = np.zeros((2, len(f)), dtype=complex)
        weighted, wave = np.stack([values * self.weights for values in self.values]), np.ones(0)
        t = self.times - self.first
        even = len(f) > 2 and np.ptp(np.diff(f)) < 1e-9 * f[-1]
        turn = np.exp(-2j * np.pi * (f[1] - f[0]) * t) if even else None
        for k, each in enumerate(f):
            wave = wave * turn if turn is not None and k % PHASE_RESET_INTERVAL else np.exp(-2j * np.pi * each * t)
            out[:, k] = weighted @ wave
        s = 2j * np.pi * f
        for k, (rates, parts, _) in enumerate(self.tails):
            beyond = (parts / (s[:, None] - rates)).sum(axis=1) if len(rates) else 0.0
            out[k] += beyond * np.exp(-s * (self.last - self.first))
        return out[0], out[1]

    def warn_of_end(self, output: str) -> None:
        """Warn if a signal does not decay at the end and is not a sum of free motions: the response is then blurred."""
        late = self.times > self.last - 0.02 * (self.last - self.first)
        for values, (_, _, missed) in zip(self.values, self.tails):
            left = float(np.abs(values[late]).max() / max(np.abs(values).max(), np.finfo(float).tiny))
            if missed * left > MAX_UNEXPLAINED_END:
                warn(
                    f"'{output}' still moves at the end ({left:.1%} of its largest), and not in free motions alone: "
                    "the response is blurred; let the run go on for some periods after the input has ended",
                    ValidityWarning,
                )
                return


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Frequency response from an input to an output of a run.

    Parameters
    ----------
    input : str
        Name of the input.
    output : str
        Name of the output.
    unit : str
        Unit of the response, that of the output per that of the input.
    frequency : ndarray, shape (n,)
        Frequencies (Hz).
    response : ndarray of complex, shape (n,)
        Complex response.
    coherence : ndarray, shape (n,)
        Share of the output around each frequency that a smooth response to the input explains, between 0 and 1. It is
        below 1 where links behave nonlinearly, where the input is weak, and at peaks narrower than the run can resolve.

    See Also
    --------
    flexarm.Run.frf : Compute a frequency response.
    flexarm.StateSpace.frf : Frequency response of a linear model.
    """

    input: str
    output: str
    unit: str
    frequency: Array
    response: Complex
    coherence: Array

    @property
    def magnitude(self) -> Array:
        """Absolute value of the response, in `unit`."""
        return np.asarray(np.abs(self.response))

    @property
    def phase(self) -> Array:
        """Phase in rad, unwrapped."""
        return np.asarray(np.unwrap(np.angle(self.response)))

    def plot(self, other: Any = None) -> Figure:
        """Plot magnitude, phase and coherence.

        Parameters
        ----------
        other : StateSpace, optional
            Linear model with these signals, drawn for comparison.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from flexarm.plotting.frequency import response_figure

        return response_figure(self, other)

    def __repr__(self) -> str:
        low, high = self.frequency.min(), self.frequency.max()
        return f"FrequencyResponse from {self.input} to {self.output}, {low:.4g} to {high:.4g} Hz"


def run_frf(run: Run, input: str, output: str, f: Any, after: Any, before: Any, sample: Any) -> FrequencyResponse:
    """Compute the frequency response of a run for `Run.frf`.

    The response is the ratio of two Fourier integrals, each continued beyond the end of the run by the free motions
    fitted there. Positions and joint coordinates are integrated from accelerations, in which a steady drift does not
    appear.
    """
    first, last, step = sampling_range(run, after, before, sample)
    if not run.continuous:
        raise ValueError("frf: reads a run between its samples, and this one cannot be; simulate it again")
    if not MIN_PIECE_COUNT <= (last - first) / step <= MAX_PIECE_COUNT:
        raise ValueError(
            f"sample = {step:.4g}: must make {MIN_PIECE_COUNT} to {MAX_PIECE_COUNT} pieces of the time from "
            f"{first:g} to {last:g} s"
        )
    system, start = System(run.robot, native=False), run.at(first)
    source, target = _signals(run, system, input, output)
    _warn_of_start(run, system, start, first)
    holds, rest = _holding_torques(system, start), []
    for word, name in (("input", source), ("output", target.name)):
        try:
            value = float(read_quantity(start, name, np.array([first])).values[0])
        except KeyError as error:
            raise KeyError(f"{word}: {error.args[0]}") from None
        rest.append(0.0 if split_derivative(name)[1] == 2 else holds.get(name, value) if word == "input" else value)
    whole = ContinuedSignals(run, first, last, step, (source, target.name), (rest[0], rest[1]))
    grid = np.asarray(np.arange(1, max(int(0.25 * (last - first) / step), 2 * NEIGHBOUR_COUNT + 2)) / (last - first))
    U, Y = whole.transforms(grid)
    size = np.abs(U)
    if size.max() == 0:
        raise ValueError(f"input: '{input}' does nothing from {first:g} to {last:g} s")
    coherence = _coherence(U, Y)
    if f is None:
        chosen = np.flatnonzero(size >= MIN_DEFAULT_EXCITATION * size.max())
        frequency, u, y, shown_coherence = grid[chosen], U[chosen], Y[chosen], coherence[chosen]
    else:
        frequency = np.atleast_1d(real_array("f", f)).astype(float)
        if frequency.ndim != 1 or not len(frequency) or not (np.isfinite(frequency).all() and (frequency > 0).all()):
            raise ValueError(f"f = {shown(f)}: must be positive frequencies (Hz)")
        if frequency.max() > grid[-1]:
            raise ValueError(
                f"f: must be at most {grid[-1]:.4g} Hz; beyond it takes pieces shorter than sample = {step:.4g}"
            )
        u, y = whole.transforms(frequency)
        shown_coherence = np.interp(frequency, grid, coherence)
        if weak := [float(each) for each in frequency[np.abs(u) < MIN_EXCITATION * size.max()]]:
            raise ValueError(f"f: '{input}' does not excite {weak[0]:.4g} Hz")
    _warn_of_others(run, system, source, holds, first, last)
    whole.warn_of_end(output)
    input_unit, output_unit = whole.units[0], target.unit or whole.units[1]
    unit = f"{output_unit}/({input_unit})" if " " in input_unit or "/" in input_unit else f"{output_unit}/{input_unit}"
    response = y / u * (2j * np.pi * frequency) ** target.order
    return FrequencyResponse(input, output, unit, frequency, response, shown_coherence)


class _Target(NamedTuple):
    """Signal read for an output, its order of differentiation relative to the output (0, -1, -2), and the unit."""

    name: str
    order: int = 0
    unit: str = ""


def _signals(run: Run, system: System, input: object, output: object) -> tuple[str, _Target]:
    for word, each in (("input", input), ("output", output)):
        if not isinstance(each, str):
            raise TypeError(f"{word} = {shown(each)}: must be a name")
    assert isinstance(input, str)
    assert isinstance(output, str)
    source = f"torque.{input}" if input in system.inputs else input
    points = {name: (place[0], place[1]) for name, place in run.options.get("points", {}).items()}
    try:
        found = Signals(system, points).output(output)
    except KeyError:
        return source, _Target(output)
    base, order = split_derivative(found.name)
    if base in system.names:
        drifts = system.coordinates[system.index(base)].kind != "elastic"
    else:  # positions drift without bound, deflections and strains do not
        drifts = not base.startswith("deflection.") and split_section(base) is None
    if found.path is None or not drifts:
        return source, _Target(output)
    return source, _Target(derivative(base, 2), order - 2, found.unit)


def _holding_torques(system: System, start: Run) -> dict[str, float]:
    """Return the torques that hold the robot in its initial posture, by name; none with constraints."""
    if system.constraints:
        return {}
    forces = system.inverse_dynamics(start.array("q")[0], None, None)
    return {f"torque.{each.name}": float(forces[each.coordinate.index] / each.gear) for each in system.actuators}


def _warn_of_start(run: Run, system: System, start: Run, first: float) -> None:
    """Warn if the robot moves, or is not in equilibrium, when the evaluated part of the run begins."""
    reason = ""
    if float(start.array("kinetic")[0]) > REST_TOLERANCE * float(run.array("kinetic").max()):
        reason = f"the robot moves at t = {first:g} s, where the part of the run begins"
    elif not system.constraints:
        q, held = start.array("q")[0], {each.coordinate.index for each in system.actuators}
        forces, weight = (
            np.abs(each * system.sizes) for each in (system.inverse_dynamics(q, None, None), system.gravity(q))
        )
        loose = [k for k in range(system.nq) if k not in held]
        if forces[loose].max(initial=0.0) > REST_TOLERANCE * max(float(weight.max(initial=0.0)), np.finfo(float).tiny):
            reason = f"links are not in equilibrium at t = {first:g} s (q0='equilibrium' lets them be)"
    if reason:
        warn(f"{reason}: the response has free motion in it", ValidityWarning)


def _warn_of_others(run: Run, system: System, source: str, holds: dict[str, float], first: float, last: float) -> None:
    """Warn if other actuators or loads act during the run."""
    time = run.array("time")
    here = (time >= first) & (time <= last)
    acting = []
    for each in system.actuators:
        name = f"torque.{each.name}"
        torque, joint = np.asarray(run[name])[here], run.array("a")[here, each.coordinate.index]
        still = holds.get(name, float(torque[0]))
        driven = source == derivative(each.coordinate.name, 2)
        if (
            name != source
            and not driven
            and np.abs(torque - still).max() > OTHER_INPUT_TOLERANCE * max(np.abs(torque).max(), np.abs(still))
        ):
            acting += [each.link] if np.abs(joint).max() > OTHER_INPUT_TOLERANCE * np.abs(run.array("a")).max() else []
    if "loads" in run.data and np.ptp(run.array("loads")[here], axis=0).any():
        acting.append("loads")
    if acting:
        warn(
            f"{', '.join(acting)}: act in this run, too, so that the response is not that to the input alone",
            ValidityWarning,
        )


def _coherence(U: Complex, Y: Complex) -> Array:
    """Return the share of the output that a response, parabolic over neighbouring frequencies, explains."""
    steps = np.arange(-NEIGHBOUR_COUNT, NEIGHBOUR_COUNT + 1)
    count = len(steps)
    middle = np.clip(np.arange(len(U)), NEIGHBOUR_COUNT, len(U) - 1 - NEIGHBOUR_COUNT)
    around = middle[:, None] + steps
    powers = (steps / NEIGHBOUR_COUNT)[:, None] ** np.arange(COEFFICIENT_COUNT)
    u, y = U[around], Y[around]
    scale = np.maximum(np.abs(u).max(axis=1), np.finfo(float).tiny)
    axes, _ = np.linalg.qr(u[:, :, None] / scale[:, None, None] * powers)
    rest = y - np.einsum("kbr,kr->kb", axes, np.einsum("kbr,kb->kr", axes.conj(), y))
    whole = (np.abs(y) ** 2).sum(axis=1)
    missed = (np.abs(rest) ** 2).sum(axis=1) / np.maximum(whole, np.finfo(float).tiny)
    return np.asarray(np.clip(1 - missed * count / (count - COEFFICIENT_COUNT), 0, 1))
