"""Measures: functions of a run by name, whose values a sweep keeps; and members that are run by themselves."""

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
from flexarm.sweeps.apply_changes import apply_changes
from flexarm.sweeps.case import Member, Outcome, SweepCase

Measure = Callable[[Run], Any]
Measures = Mapping[str, Measure]

MIN_SAMPLE_COUNT = 3  # samples from which an amplitude is computed
OWN = ("status", "reason", "warnings", "is_exact", "run", "member")  # variables that a sweep adds itself
COORDINATES = ("link", "axis", "input", "input_unit", "field", "quantile", "unit", "value", "step")  # of its results,
DERIVED = ("_quantiles", "_first_order", "_derivative", "_derivative_error")  # and what is made of measures


@dataclass(frozen=True)
class StandardMeasure:
    """A standard measure: its function, dimensions beyond those of the sweep, unit and meaning."""

    function: Measure
    dimensions: tuple[str, ...]
    unit: str
    meaning: str


def peak_deflection(run: Run) -> Array:
    return np.asarray(np.linalg.norm(run.array("deflection"), axis=2).max(axis=0))


def residual(run: Run) -> float:
    """Return half the range of the tip's motion after the last jump of the inputs; nan if the run ended early."""
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
    """Energy at the end of a run. (A class, since nested functions cannot be sent to other processes.)"""

    name: str

    def __call__(self, run: Run) -> float:
        return float(run.array(self.name)[-1])


STANDARD_MEASURES: dict[str, StandardMeasure] = {
    "peak_deflection": StandardMeasure(peak_deflection, ("link",), "m", "largest deflection of each link's tip"),
    "residual": StandardMeasure(residual, (), "m", "half the range of the tip after the last jump of the inputs"),
    "tip": StandardMeasure(tip, ("axis",), "m", "position of the last link's tip at the end"),
    "peak_torque": StandardMeasure(peak_torque, ("input",), "", "largest torque or force of each actuator"),
    **{name: StandardMeasure(AtEnd(name), (), "J", f"{words}, at the end") for name, words in ENERGIES.items()},
    "end": StandardMeasure(end, (), "s", "time at which the run ended"),
}


def standard_measures() -> dict[str, Measure]:
    """Return the functions of the standard measures by name."""
    return {name: each.function for name, each in STANDARD_MEASURES.items()}


def are_standard(measures: Measures | None) -> bool:
    """Return True if all measures are standard ones, which need no histories."""
    return measures is None or all(
        name in STANDARD_MEASURES and STANDARD_MEASURES[name].function is each for name, each in measures.items()
    )


def checked_measures(measure: Any) -> dict[str, Measure] | None:
    """Return the functions for the argument `measure`, by name; None for all standard ones."""
    if measure is None:
        return None
    if isinstance(measure, str) or callable(measure):
        measure = [measure]
    if isinstance(measure, (list, tuple)):
        measure = {_name_of(each): each for each in measure}
    if not isinstance(measure, Mapping) or not measure:
        raise TypeError(
            f"measure = {shown(measure)}: must be functions of a run by name, {{'peak': lambda run: ...}}, or names of "
            f"usual measures ({', '.join(STANDARD_MEASURES)})"
        )
    return {_checked_name(name): _function(name, each) for name, each in measure.items()}


def _name_of(measure: Any) -> Any:
    """Return the name of a measure in a list."""
    name = measure if isinstance(measure, str) else getattr(measure, "__name__", "measure")
    return name if isinstance(name, str) and (name.isidentifier() or isinstance(measure, str)) else "measure"


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name or "/" in name:
        raise TypeError(f"measure: {shown(name)} is no name of a measure")
    if name in OWN:
        raise ValueError(f"measure: {name!r} is a variable that every sweep has; take another name")
    if name in COORDINATES or name.endswith(DERIVED):
        raise ValueError(f"measure: {name!r} is what results of sweeps call something else; take another name")
    return name


def _function(name: str, given: Any) -> Measure:
    if isinstance(given, str):
        if given not in STANDARD_MEASURES:
            if "." in given:
                raise ValueError(
                    f"measure: {given!r} is no standard measure; for a quantity over time give a function of the run, "
                    f"measure={{'peak': lambda run: abs(run[{given!r}].values).max()}}"
                )
            raise ValueError(f"measure: there is no {given!r}{suggestion(given, list(STANDARD_MEASURES))}")
        return STANDARD_MEASURES[given].function
    if not callable(given):
        raise TypeError(f"measure[{name!r}] = {shown(given)}: must be a function of a run")
    function: Measure = given
    return function


class MeasureFailed(ValueError):
    """A function of the user raised an error, or returned no number; `others` has the values of the others."""

    others: Mapping[str, Array] = MappingProxyType({})


def evaluate_measures(run: Run, measures: Measures) -> dict[str, Array]:
    """Return the values of measures for a run, as arrays; raise `MeasureFailed` if one fails."""
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
            mine = apply_changes(case, member.changes)
            found = simulate(
                mine.robot,
                mine.duration,
                torque=_with_fresh_controller(mine.torque),
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
    )  # the status has it
    is_exact = bool(found.statistics.get("stiffening", {}).get("repeated"))
    return replace(made, warnings=sentences, is_exact=is_exact)


def outcome_of_run(number: int, run: Run, measures: Measures, keep_run: bool) -> Outcome:
    """Return the outcome of a run: its measures, unless it failed."""
    try:
        values = evaluate_measures(run, measures) if run.status != "failed" else {}
    except MeasureFailed as error:
        return Outcome(number, error.others, "failed", str(error))
    reason = "" if run.status == "completed" else run.reason
    return Outcome(number, values, run.status, reason, run if keep_run else None)


def _with_fresh_controller(torque: Any) -> Any:
    """Return torques with a copy of the digital controller: each member begins with its initial memory."""
    if not isinstance(torque, Feedback) or torque.rate is None:
        return torque
    try:
        return replace(torque, law=deepcopy(torque.law))
    except Exception:  # what cannot be copied is called as it is
        return torque
