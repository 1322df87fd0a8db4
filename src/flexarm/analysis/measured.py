"""Frequency responses as runs tell them: what an output did, against what an input did, frequency by frequency."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexarm.analysis.all_time import AllTime, Complex
from flexarm.analysis.recorded import read, stretch
from flexarm.foundation.numbers import Array, real_array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.reach import ValidityWarning
from flexarm.mechanics.system import System
from flexarm.motion.signals import Signals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flexarm.motion.run import Run

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
        from flexarm.show.spectra import response_figure

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
