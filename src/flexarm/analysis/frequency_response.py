"""Signals of a run over all time: Fourier integrals that go on after its end with the free motions that it ends in.

Frequency responses as runs tell them: what an output did, against what an input did, frequency by frequency.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexarm.analysis.damping_identification import motions
from flexarm.analysis.spectra import Recorded, read, stretch
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning
from flexarm.feedback.signals import Signals
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.results.run import Run


Complex = np.ndarray[Any, np.dtype[np.complex128]]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(3)  # a piece of the run
TURNS = 64  # frequencies that are one apart, after which rounding in their waves is cut off
TAIL = 0.1  # of the run, its end, unless the input has ended before: what it does there goes on
SHORT = 0.02  # of the run: a shorter time after the input is none
ENDED = 1e-9  # of the largest input
FREE = 21  # motions in it at the most
GOES_ON = 1e-3  # of what it was: an end that moves more, and is no sum of free motions, is told
KNOWN, SURE = 1e-3, 1e-7  # of the end's motion, that free motions may miss: once the input has ended, and before
LEAST, MOST = 60, 600  # samples of the end


class AllTime:
    """Two signals over all time: pieces of a run between which inputs may jump, and what goes on after its end."""

    def __init__(
        self, run: Run, first: float, last: float, step: float, names: tuple[str, str], rest: tuple[float, float]
    ) -> None:
        even = np.linspace(first, last, max(round((last - first) / step), 2) + 1)
        ends = np.unique(np.concatenate([even, run.jumps[(run.jumps > first) & (run.jumps < last)]]))
        lengths, self.breaks = np.diff(ends), ends
        self.first, self.last = first, last
        self.times = ((ends[:-1] + ends[1:])[:, None] / 2 + lengths[:, None] / 2 * NODES).ravel()
        self.weights = (lengths[:, None] / 2 * WEIGHTS).ravel()
        found = self._read(run, self.times, names, rest)
        self.values, self.units = [each.values for each in found], [each.unit for each in found]
        begin, self.bound = self._end_of_input()
        begin = max(begin, last - MOST * step)
        tail = np.linspace(begin, last, max(LEAST, round((last - begin) / step)) + 1)[:-1]
        self.tails = [self._tail(each) for each in self._read(run, tail, names, rest)]

    def _end_of_input(self) -> tuple[float, float]:
        """From when on motions are free, or may be, and what they may miss of the signals then."""
        acting = self.times[np.abs(self.values[0]) > ENDED * np.abs(self.values[0]).max()]
        ended, whole = float(acting[-1]) if len(acting) else self.first, self.last - self.first
        later = [each for each in self.breaks if each > ended]
        free = bool(later) and self.last - later[0] > SHORT * whole
        return (later[0], KNOWN) if free else (self.last - TAIL * whole, SURE)

    @staticmethod
    def _read(run: Run, times: Array, names: tuple[str, str], rest: tuple[float, float]) -> list[Recorded]:
        """Against what they are at rest."""
        at = run.at(np.clip(times, 0, float(run.array("time")[-1])))
        found = [read(at, name, times) for name in names]
        return [replace(each, values=each.values - still) for each, still in zip(found, rest)]

    def _tail(self, samples: Recorded) -> tuple[Any, Any, float]:
        """Rates and sizes, at the end, of the motions that go on; and the share of the end that they miss."""
        nothing = np.zeros(0, dtype=complex)
        size = float(np.abs(samples.values).max())
        if size == 0:
            return nothing, nothing, 0.0
        rates, parts, _ = motions(samples, FREE)
        s = samples.times - samples.times[0]
        missed = np.abs(samples.values - (np.exp(np.multiply.outer(s, rates)) @ parts).real).max() / size
        if missed > self.bound:
            return nothing, nothing, 1.0
        parts = parts * np.exp(rates * (self.last - samples.times[0]))
        return np.minimum(rates.real, 0) + 1j * rates.imag, parts, float(missed)

    def transforms(self, f: Array) -> tuple[Complex, Complex]:
        """Fourier integrals of both at frequencies (Hz)."""
        out = np.zeros((2, len(f)), dtype=complex)
        weighted, wave = np.stack([values * self.weights for values in self.values]), np.ones(0)
        t = self.times - self.first
        even = len(f) > 2 and np.ptp(np.diff(f)) < 1e-9 * f[-1]
        turn = np.exp(-2j * np.pi * (f[1] - f[0]) * t) if even else None
        for k, each in enumerate(f):
            wave = wave * turn if turn is not None and k % TURNS else np.exp(-2j * np.pi * each * t)
            out[:, k] = weighted @ wave
        s = 2j * np.pi * f
        for k, (rates, parts, _) in enumerate(self.tails):
            beyond = (parts / (s[:, None] - rates)).sum(axis=1) if len(rates) else 0.0
            out[k] += beyond * np.exp(-s * (self.last - self.first))
        return out[0], out[1]

    def warn_of_end(self, output: str) -> None:
        """An end at which it moves, and is not understood, blurs the response."""
        late = self.times > self.last - 0.02 * (self.last - self.first)
        for values, (_, _, missed) in zip(self.values, self.tails):
            left = float(np.abs(values[late]).max() / max(np.abs(values).max(), np.finfo(float).tiny))
            if missed * left > GOES_ON:
                warnings.warn(
                    f"'{output}' still moves at the end ({left:.1%} of its largest), and not in free motions alone: "
                    "the response is blurred; let the run go on for some periods after the input has ended",
                    ValidityWarning,
                    stacklevel=4,
                )
                return


LEAST_PIECES, MOST_PIECES = 20, 200_000
EXCITED = 0.1  # of the largest: less of an input excites nothing
BLIND = 1e-3  # of the largest: less of an input tells nothing
NEIGHBOURS = 3  # on each side, of which coherence is made
RESTS = 1e-6  # of the largest kinetic energy, or of the weight: more at the start is motion
OTHERS = 1e-6  # of what is large: more is another input
CURVED = 3  # coefficients of a response around a frequency


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """From an input to an output over frequency (Hz): complex `response` in the units' ratio.

    coherence: the share of the output around each frequency that a smooth response to the input explains, 1 where it
    is all: less where links do not behave linearly, where the input is weak, and at peaks that are narrower than the
    run can tell. input, output, unit: what it is of.
    """

    input: str
    output: str
    unit: str
    frequency: Array
    response: Complex
    coherence: Array

    @property
    def magnitude(self) -> Array:
        return np.asarray(np.abs(self.response))

    @property
    def phase(self) -> Array:
        """rad, without jumps."""
        return np.asarray(np.unwrap(np.angle(self.response)))

    def plot(self, other: Any = None) -> Figure:
        """Magnitude, phase and coherence; `other`: a linear model (StateSpace) with these signals, beside it."""
        from flexarm.plotting.frequency import response_figure

        return response_figure(self, other)

    def __repr__(self) -> str:
        low, high = self.frequency.min(), self.frequency.max()
        return f"FrequencyResponse from {self.input} to {self.output}, {low:.4g} to {high:.4g} Hz"


def run_frf(run: Run, input: str, output: str, f: Any, after: Any, before: Any, sample: Any) -> FrequencyResponse:
    """The ratio of two Fourier integrals, each continued beyond the end of the run by the free motions that its end
    shows. Places and joints are integrated from accelerations, which a steady drift does not show in."""
    first, last, step = stretch(run, after, before, sample)
    if not run.continuous:
        raise ValueError("frf: reads a run between its samples, and this one cannot be; simulate it again")
    if not LEAST_PIECES <= (last - first) / step <= MOST_PIECES:
        raise ValueError(
            f"sample = {step:.4g}: must make {LEAST_PIECES} to {MOST_PIECES} pieces of the time from {first:g} to "
            f"{last:g} s"
        )
    system, start = System(run.robot, native=False), run.at(first)
    source, target = _signals(run, system, input, output)
    values = []
    for word, name in (("input", source), ("output", target.name)):
        try:
            values.append(float(read(start, name, np.array([first])).values[0]))
        except KeyError as error:
            raise KeyError(f"{word}: {error.args[0]}") from None
    _warn_of_start(run, system, start, first)
    holds = _holds(system, start)
    rest = holds.get(source, _rest(source, values[0])), _rest(target.name, values[1])
    whole = AllTime(run, first, last, step, (source, target.name), rest)
    grid = np.asarray(np.arange(1, max(int(0.25 * (last - first) / step), 2 * NEIGHBOURS + 2)) / (last - first))
    U, Y = whole.transforms(grid)
    size = np.abs(U)
    if size.max() == 0:
        raise ValueError(f"input: '{input}' does nothing from {first:g} to {last:g} s")
    coherence = _coherence(U, Y)
    if f is None:
        chosen = np.flatnonzero(size >= EXCITED * size.max())
        frequency, u, y, told = grid[chosen], U[chosen], Y[chosen], coherence[chosen]
    else:
        frequency = np.atleast_1d(real_array("f", f)).astype(float)
        if frequency.ndim != 1 or not len(frequency) or not (np.isfinite(frequency).all() and (frequency > 0).all()):
            raise ValueError(f"f = {shown(f)}: must be positive frequencies (Hz)")
        if frequency.max() > grid[-1]:
            raise ValueError(
                f"f: must be at most {grid[-1]:.4g} Hz; beyond it takes pieces shorter than sample = {step:.4g}"
            )
        u, y = whole.transforms(frequency)
        told = np.interp(frequency, grid, coherence)
        if weak := [float(each) for each in frequency[np.abs(u) < BLIND * size.max()]]:
            raise ValueError(f"f: '{input}' does not excite {weak[0]:.4g} Hz")
    _warn_of_others(run, system, source, holds, first, last)
    whole.warn_of_end(output)
    per, of = whole.units[0], target.unit or whole.units[1]
    unit = f"{of}/({per})" if " " in per or "/" in per else f"{of}/{per}"
    response = y / u * (2j * np.pi * frequency) ** target.rate
    return FrequencyResponse(input, output, unit, frequency, response, told)


class _Target(NamedTuple):
    """What is read for an output, how often the output is differentiated against that (0, -1 or -2), its unit."""

    name: str
    rate: int = 0
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
    if found.path is None or not _drifts(system, output.rstrip("'")):
        return source, _Target(output)
    return source, _Target(output.rstrip("'") + "''", found.rate - 2, found.unit)


def _drifts(system: System, name: str) -> bool:
    """Whether it may go on for ever: places and joints may, deflections and strains do not."""
    if name in system.names:
        return system.coordinates[system.index(name)].kind != "elastic"
    return not (name.startswith("deflection.") or ".strain(" in name)


def _rest(name: str, value: float) -> float:
    """What a signal is at rest: accelerations are zero, others as they begin."""
    return 0.0 if name.endswith("''") or name.startswith("a.") else value


def _holds(system: System, start: Run) -> dict[str, float]:
    """What actuators give where the robot rests as it begins, by the names of their torques; an input that begins with
    a jump begins from there. Unknown on constraints."""
    if system.constraints:
        return {}
    forces = system.inverse_dynamics(start.array("q")[0], None, None)
    return {f"torque.{each.link}": float(forces[each.coordinate.index] / each.gear) for each in system.actuators}


def _warn_of_start(run: Run, system: System, start: Run, first: float) -> None:
    """Motion that is there without the input is not a response to it."""
    said = ""
    if float(start.array("kinetic")[0]) > RESTS * float(run.array("kinetic").max()):
        said = f"the robot moves at t = {first:g} s, where the part of the run begins"
    elif not system.constraints:
        q, held = start.array("q")[0], {each.coordinate.index for each in system.actuators}
        forces, weight = (
            np.abs(each * system.sizes) for each in (system.inverse_dynamics(q, None, None), system.gravity(q))
        )
        loose = [k for k in range(system.nq) if k not in held]
        if forces[loose].max(initial=0.0) > RESTS * max(float(weight.max(initial=0.0)), np.finfo(float).tiny):
            said = f"links are not in equilibrium at t = {first:g} s (q0='equilibrium' lets them be)"
    if said:
        warnings.warn(f"{said}: the response has free motion in it", ValidityWarning, stacklevel=4)


def _warn_of_others(run: Run, system: System, source: str, holds: dict[str, float], first: float, last: float) -> None:
    """Others than the input: actuators that act on joints that move, and loads that change."""
    time = run.array("time")
    here = (time >= first) & (time <= last)
    acting = []
    for each in system.actuators:
        name = f"torque.{each.link}"
        torque, joint = np.asarray(run[name])[here], run.array("a")[here, each.coordinate.index]
        still = holds.get(name, float(torque[0]))
        driven = source in (f"{each.coordinate.name}''", f"a.{each.coordinate.name}")
        if (
            name != source
            and not driven
            and np.abs(torque - still).max() > OTHERS * max(np.abs(torque).max(), np.abs(still))
        ):
            acting += [each.link] if np.abs(joint).max() > OTHERS * np.abs(run.array("a")).max() else []
    if "loads" in run.data and np.ptp(run.array("loads")[here], axis=0).any():
        acting.append("loads")
    if acting:
        warnings.warn(
            f"{', '.join(acting)}: act in this run, too, so that the response is not that to the input alone",
            ValidityWarning,
            stacklevel=4,
        )


def _coherence(U: Complex, Y: Complex) -> Array:
    """Of neighbouring frequencies: what a response that is a parabola around each of them leaves of the output."""
    count = 2 * NEIGHBOURS + 1
    middle = np.clip(np.arange(len(U)), NEIGHBOURS, len(U) - 1 - NEIGHBOURS)
    around = middle[:, None] + np.arange(-NEIGHBOURS, NEIGHBOURS + 1)
    way = (np.arange(-NEIGHBOURS, NEIGHBOURS + 1) / NEIGHBOURS)[:, None] ** np.arange(CURVED)
    u, y = U[around], Y[around]
    scale = np.maximum(np.abs(u).max(axis=1), np.finfo(float).tiny)
    axes, _ = np.linalg.qr(u[:, :, None] / scale[:, None, None] * way)
    rest = y - np.einsum("kbr,kr->kb", axes, np.einsum("kbr,kb->kr", axes.conj(), y))
    whole = (np.abs(y) ** 2).sum(axis=1)
    missed = (np.abs(rest) ** 2).sum(axis=1) / np.maximum(whole, np.finfo(float).tiny)
    return np.asarray(np.clip(1 - missed * count / (count - CURVED), 0, 1))
