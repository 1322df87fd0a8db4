"""Quantities of a run at times that are equally far apart, by name: what spectra, decays and responses are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.codegen.lock import building
from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown
from flexarm.mechanics.system import System
from flexarm.motion.series import named
from flexarm.motion.signals import Output, Signals

if TYPE_CHECKING:
    from flexarm.motion.run import Run

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
