"""What is kept of a run: functions of it by name; the usual ones unless others are asked for.

A member by itself, as `fa.simulate` runs it: for what does not fit into lanes, and for second looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from flexarm.feedback.feedback import Feedback
from flexarm.foundation.messages import collect_warnings, shown, suggestion
from flexarm.foundation.messages import error_text as sentence
from flexarm.foundation.validation import Array
from flexarm.results.dataset import ENERGIES
from flexarm.results.run import Run
from flexarm.results.step_history import EQUAL_TIMES
from flexarm.simulation.simulate import simulate
from flexarm.sweeps.apply_changes import applied
from flexarm.sweeps.case import Member, Outcome, SweepCase

Measure = Callable[[Run], Any]
Measures = Mapping[str, Measure]

MIN_SAMPLE_COUNT = 3  # samples from which an amplitude is computed
OWN = ("status", "reason", "warnings", "is_exact", "run", "member")  # variables that a sweep adds itself
COORDINATES = ("link", "axis", "input", "input_unit", "field", "quantile", "unit", "value", "step")  # of its results,
DERIVED = ("_quantiles", "_first_order", "_derivative", "_derivative_error")  # and what is made of measures


@dataclass(frozen=True)
class Usual:
    """A measure that everybody wants: what it is of a run, dimensions beyond those of the sweep, unit and meaning."""

    function: Measure
    dimensions: tuple[str, ...]
    unit: str
    meaning: str


def peak_deflection(run: Run) -> Array:
    return np.asarray(np.linalg.norm(run.array("deflection"), axis=2).max(axis=0))


def residual(run: Run) -> float:
    """Half of how far the tip goes to and fro after the last time at which inputs jump; nan of a run that ended early,
    which says nothing of what is left."""
    time = run.array("time")
    late = run.array("tip")[time >= run.statistics["last_input_jump"] - EQUAL_TIMES * time[-1]]
    if len(late) < MIN_SAMPLE_COUNT or run.status != "completed":
        return float("nan")
    swings: Array = np.ptp(late, axis=0) / 2
    return float(np.linalg.norm(swings))


def tip(run: Run) -> Array:
    return np.asarray(run.array("tip")[-1], dtype=float)


def peak_torque(run: Run) -> Array:
    return np.asarray(np.abs(run.array("torque")).max(axis=0, initial=0.0))


def end(run: Run) -> float:
    return float(run.array("time")[-1])


@dataclass(frozen=True)
class AtEnd:
    """An energy when the run ends. (A class: functions inside functions cannot be sent to other processes.)"""

    name: str

    def __call__(self, run: Run) -> float:
        return float(run.array(self.name)[-1])


USUAL: dict[str, Usual] = {
    "peak_deflection": Usual(peak_deflection, ("link",), "m", "largest deflection of each link's tip"),
    "residual": Usual(residual, (), "m", "half of how far the tip goes to and fro after the last jump of the inputs"),
    "tip": Usual(tip, ("axis",), "m", "position of the last link's tip at the end"),
    "peak_torque": Usual(peak_torque, ("input",), "", "largest torque or force of each actuator"),
    **{name: Usual(AtEnd(name), (), "J", f"{words}, at the end") for name, words in ENERGIES.items()},
    "end": Usual(end, (), "s", "time at which the run ended"),
}


def usual_measures() -> dict[str, Measure]:
    """The functions of the usual measures by name."""
    return {name: each.function for name, each in USUAL.items()}


def are_usual(measures: Measures | None) -> bool:
    """Whether there is none but usual ones, which can be told without histories."""
    return measures is None or all(name in USUAL and USUAL[name].function is each for name, each in measures.items())


def checked_measures(measure: Any) -> dict[str, Measure] | None:
    """The functions that `measure` asks for: one or several, by name, names of usual ones; None for all of these."""
    if measure is None:
        return None
    if isinstance(measure, str) or callable(measure):
        measure = [measure]
    if isinstance(measure, (list, tuple)):
        measure = {_called(each): each for each in measure}
    if not isinstance(measure, Mapping) or not measure:
        raise TypeError(
            f"measure = {shown(measure)}: must be functions of a run by name, {{'peak': lambda run: ...}}, or names of "
            f"usual measures ({', '.join(USUAL)})"
        )
    return {_checked_name(name): _function(name, each) for name, each in measure.items()}


def _called(measure: Any) -> Any:
    """What a measure in a list is called."""
    name = measure if isinstance(measure, str) else getattr(measure, "__name__", "measure")
    return name if isinstance(name, str) and (name.isidentifier() or isinstance(measure, str)) else "measure"


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name or "/" in name:
        raise TypeError(f"measure: {shown(name)} is no name of a measure")
    if name in OWN:
        raise ValueError(f"measure: {name!r} is what the sweep itself tells of a member; take another name")
    if name in COORDINATES or name.endswith(DERIVED):
        raise ValueError(f"measure: {name!r} is what results of sweeps call something else; take another name")
    return name


def _function(name: str, given: Any) -> Measure:
    if isinstance(given, str):
        if given not in USUAL:
            raise ValueError(f"measure: there is no {given!r}{suggestion(given, list(USUAL))}")
        return USUAL[given].function
    if not callable(given):
        raise TypeError(f"measure[{name!r}] = {shown(given)}: must be a function of a run")
    function: Measure = given
    return function


class MeasureFailed(ValueError):
    """A function of the user's that raised, or gave no number; what others gave."""

    others: Mapping[str, Array] = MappingProxyType({})


def measured(run: Run, measures: Measures) -> dict[str, Array]:
    """What the measures give for a run, as arrays of numbers; `MeasureFailed` has those that do, if one fails."""
    found: dict[str, Array] = {}
    failed: MeasureFailed | None = None
    for name, function in measures.items():
        try:
            found[name] = _number(name, function, run)
        except MeasureFailed as error:
            failed = failed or error
    if failed is not None:
        failed.others = found
        raise failed
    return found


def _number(name: str, function: Measure, run: Run) -> Array:
    try:
        given = function(run)
    except Exception as error:
        raise MeasureFailed(f"measure {name!r} failed ({type(error).__name__}: {error})") from None
    try:
        found = np.ma.filled(given.astype(float), np.nan) if isinstance(given, np.ma.MaskedArray) else np.array(given)
    except Exception:
        found = np.array(None)
    if found.dtype.kind not in "iufb":
        raise MeasureFailed(f"measure {name!r} gave {shown(given)}: must be a number, or an array of numbers")
    return np.asarray(found, dtype=float)


def member_outcome(case: SweepCase, member: Member, measures: Measures, keep_run: bool = False) -> Outcome:
    """Simulate a member by itself and return its outcome, also if it cannot run.

    Ctrl-C, which would only end its run, raises KeyboardInterrupt.
    """
    with collect_warnings() as found_warnings:
        try:
            mine = applied(case, member.changes)
            found = simulate(
                mine.robot,
                mine.duration,
                torque=_fresh(mine.torque),
                motion=mine.motion,
                loads=mine.loads,
                q0=mine.q0,
                v0=mine.v0,
                **{"progress": False, **mine.options},
            )
        except Exception as error:  # whatever is wrong with this member, the others go on
            return Outcome(member.number, {}, "failed", f"{type(error).__name__}: {sentence(error)}")
        if found.status == "interrupted":
            raise KeyboardInterrupt
        made = outcome_of_run(member.number, found, measures, keep_run)
    sentences = tuple(
        each for each in found_warnings if not each.startswith("the run ended early")
    )  # its status says so
    is_exact = bool(found.statistics.get("stiffening", {}).get("repeated"))
    return replace(made, warnings=sentences, is_exact=is_exact)


def outcome_of_run(number: int, run: Run, measures: Measures, keep_run: bool) -> Outcome:
    """Return the outcome of a run: its measures, unless it failed."""
    try:
        values = measured(run, measures) if run.status != "failed" else {}
    except MeasureFailed as error:
        return Outcome(number, error.others, "failed", str(error))
    reason = "" if run.status == "completed" else run.reason
    return Outcome(number, values, run.status, reason, run if keep_run else None)


def _fresh(torque: Any) -> Any:
    """A digital controller that is an object remembers what it said: each member begins with a copy of it."""
    if not isinstance(torque, Feedback) or torque.rate is None:
        return torque
    try:
        return replace(torque, law=deepcopy(torque.law))
    except Exception:  # what cannot be copied is called as it is
        return torque
