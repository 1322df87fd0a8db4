"""Results of all members in arrays, and the Dataset that is made of them."""

from __future__ import annotations

import json
import platform
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm._version import __version__
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import recorded_torque
from flexarm.foundation.validation import Array
from flexarm.results.run import Run
from flexarm.sweeps.case import Outcome, Outcomes, SweepCase
from flexarm.sweeps.measures import STANDARD_MEASURES, Measures, StandardMeasure, standard_measures
from flexarm.sweeps.plan import SweepPlan

if TYPE_CHECKING:
    import xarray as xr

NUMBERS = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")  # in warnings: those that differ by these are of one kind
MAX_WARNING_KINDS = 5  # in a summary
MISSING = "missing"  # the status of a member that was not run: the sweep was interrupted


class Table:
    """Values of measures, a row for each member. Text is kept only for members that have some."""

    def __init__(self, plan: SweepPlan, measures: Measures | None = None) -> None:
        self.plan = plan
        self._measures = standard_measures() if measures is None else measures
        self.values: dict[str, Array] = {}
        self.status = np.full(len(plan), MISSING, dtype="U11")
        self.reasons: dict[int, str] = {}
        self.warnings: dict[int, tuple[str, ...]] = {}
        self.exact: set[int] = set()  # numbers of members that were repeated with exact links
        self.runs: dict[int, Run] = {}

    def add(self, outcome: Outcome) -> Outcome:
        """Add an outcome and return it; it has failed if its measures do not fit those of the others."""
        number = outcome.number
        if misfit := self._misfit({name: np.shape(value) for name, value in outcome.values.items()}):
            outcome = Outcome(number, {}, "failed", misfit)
        for name, value in outcome.values.items():
            self._column(name, np.shape(value))[number] = value
        self.status[number] = outcome.status
        if outcome.reason:
            self.reasons[number] = outcome.reason
        if outcome.warnings:
            self.warnings[number] = outcome.warnings
        if outcome.is_exact:
            self.exact.add(number)
        if outcome.run is not None:
            self.runs[number] = outcome.run
        return outcome

    def take(self, found: Outcomes) -> Outcomes:
        """Add the outcomes of many members, column by column, and return them."""
        whole = found.in_columns
        if whole.size and (misfit := self._misfit({name: rows.shape[1:] for name, rows in found.values.items()})):
            endings = {**found.endings, **dict.fromkeys(whole.tolist(), ("failed", misfit))}
            found, whole = replace(found, values={}, endings=endings, warnings={}), whole[:0]
        numbers = found.numbers
        for name, rows in found.values.items() if whole.size else ():
            self._column(name, rows.shape[1:])[numbers[whole]] = rows[whole]
        self.status[numbers] = "completed"
        for place, (status, reason) in found.endings.items():
            self.status[numbers[place]] = status
            if reason:
                self.reasons[int(numbers[place])] = reason
        self.warnings |= {int(numbers[place]): each for place, each in found.warnings.items()}
        return replace(found, single={place: self.add(each) for place, each in found.single.items()})

    def _column(self, name: str, shape: tuple[int, ...]) -> Array:
        if name not in self.values:
            self.values[name] = np.full((len(self.plan), *shape), np.nan)
        return self.values[name]

    def _misfit(self, shapes: Mapping[str, tuple[int, ...]]) -> str:
        """Return which measure is not of the shape that it has for other members; empty if all fit."""
        for name, shape in shapes.items():
            if name in self.values and self.values[name].shape[1:] != shape:
                others = self.values[name].shape[1:]
                return f"measure {name!r} gave an array of shape {shape}, where another member gave {others}"
        return ""

    @property
    def missing(self) -> list[int]:
        """Numbers of members that are not done."""
        return np.flatnonzero(self.status == MISSING).tolist()

    def summary(self) -> str:
        """Return failures, early ends and warnings in sentences; empty if there are none."""
        failed = int((self.status == "failed").sum())
        count = len(self.plan)
        sentences = []
        if failed:
            reasons = Counter(self.reasons[k] for k in np.flatnonzero(self.status == "failed").tolist())
            first = min(k for k in self.reasons if self.status[k] == "failed")
            notes = "; ".join(f"{times} x {reason}" for reason, times in reasons.most_common(3))
            more = f" and {len(reasons) - 3} more reasons" if len(reasons) > 3 else ""
            which = f"the first is member {first} ({self.plan.words(first)})"
            sentences.append(f"{failed} of {count} members failed ({notes}{more}), {which}")
        if stopped := int((self.status == "stopped").sum()):
            first = min(k for k in self.reasons if self.status[k] == "stopped")
            sentences.append(
                f"{stopped} of {count} members stopped, the first is member {first}: {self.reasons[first]}"
            )
        sentences += self._warning_kinds()
        return ". ".join(sentences)

    def _warning_kinds(self) -> list[str]:
        """Return a sentence for each kind of warning: of how many members, and the first of them."""
        kinds: dict[str, list[int]] = {}
        sentences: dict[str, str] = {}
        for number in sorted(self.warnings):
            for each in self.warnings[number]:
                kind = NUMBERS.sub("#", each)
                sentences.setdefault(kind, each)
                kinds.setdefault(kind, []).append(number)
        common = sorted(kinds.items(), key=lambda each: -len(each[1]))
        count = len(self.plan)
        found = [
            f"{len(members)} of {count} members warn, the first is member {members[0]}: {sentences[kind]}"
            for kind, members in common[:MAX_WARNING_KINDS]
        ]
        if len(common) > MAX_WARNING_KINDS:
            found.append(f"and {len(common) - MAX_WARNING_KINDS} more kinds of warnings, see the variable 'warnings'")
        return found

    def _standard(self, name: str) -> StandardMeasure | None:
        """Return a standard measure; None if the name belongs to a measure of the user."""
        standard = STANDARD_MEASURES.get(name)
        return standard if standard is not None and self._measures[name] is standard.function else None

    def _dimensions(self, name: str) -> tuple[str, ...]:
        standard = self._standard(name)
        return () if standard is None else standard.dimensions

    def _about(self, name: str, rows: Array, units: list[str]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the dimensions of a measure beyond those of the sweep, and its attributes."""
        standard = self._standard(name)
        if standard is None or len(standard.dimensions) != rows.ndim - 1:
            dims = [f"{name}_{k}" for k in range(1, rows.ndim)]
            return tuple(each + "_" * (each in self._measures) for each in dims), {"long_name": name}
        unit = units[0] if standard.dimensions == ("input",) and len(set(units)) == 1 else standard.unit
        return standard.dimensions, {"long_name": standard.meaning} | ({"units": unit} if unit else {})

    def histories(self) -> tuple[tuple[str, ...], Any, dict[str, str]]:
        """Return the runs as a variable of a Dataset in memory."""
        found = np.full(len(self.plan), None, dtype=object)
        for k, run in self.runs.items():
            found[k] = run
        return self.plan.dimensions, found.reshape(self.plan.shape), {"long_name": "history of each member"}

    def dataset(self, case: SweepCase, kind: str, attributes: Mapping[str, Any]) -> xr.Dataset:
        """Return labelled results; dimensions are the swept fields."""
        import xarray as xr

        plan, shape, dimensions = self.plan, self.plan.shape, self.plan.dimensions
        variables: dict[str, Any] = {}
        used: dict[str, int] = {}
        labels = _names(case)
        for name in self._measures:
            rows = self.values.get(name)
            if rows is None:  # of runs that failed, all of them
                rows = np.full((len(plan), *(len(labels[each]) for each in self._dimensions(name))), np.nan)
            dims, about = self._about(name, rows, labels["input_unit"])
            if 0 in rows.shape[1:]:
                continue
            used |= dict(zip(dims, rows.shape[1:], strict=True))
            variables[name] = ((*dimensions, *dims), rows.reshape(*shape, *rows.shape[1:]), about)
        variables["status"] = (dimensions, self.status.reshape(shape), {"long_name": "how each run ended"})
        words = {"reason": self.reasons, "warnings": {k: "; ".join(each) for k, each in self.warnings.items()}}
        meanings = {"reason": "why it ended early", "warnings": "warnings of the run"}
        for name, notes in words.items():
            if notes or name == "reason":
                column = np.full(len(plan), "", dtype=object)
                for k, sentence in notes.items():
                    column[k] = sentence
                variables[name] = (dimensions, column.reshape(shape), {"long_name": meanings[name]})
        if self.exact:
            column = np.isin(np.arange(len(plan)), list(self.exact))
            variables["is_exact"] = (dimensions, column.reshape(shape), {"long_name": "repeated with exact links"})
        if self.runs:
            variables["run"] = self.histories()
        made = {
            "kind": kind,
            "robot": case.robot.name,
            "model": System(case.robot, native=False).model,
            "options": json.dumps(_options(case), default=_plain),
            "version": __version__,
            "python": platform.python_version(),
            **attributes,
        }
        return xr.Dataset(variables, coords={**_coordinates(plan), **_labels(labels, used)}, attrs=made)


def _coordinates(plan: SweepPlan) -> dict[str, Any]:
    found = {}
    for each, column in zip(plan.fields, plan.columns, strict=True):
        about = {"long_name": each.meaning} | ({"units": each.unit} if each.unit else {})
        found[each.name] = (plan.dimensions[0] if plan.elementwise else each.name, np.array(column), about)
    if plan.elementwise:
        found["member"] = ("member", np.arange(len(plan)), {"long_name": "number of the member"})
    return found


def _names(case: SweepCase) -> dict[str, list[str]]:
    """Return the names of links, axes and actuators."""
    system = System(case.robot, native=False)
    inputs = {"input": list(system.inputs), "input_unit": list(system.input_units)}
    return {"link": [link.name for link in case.robot.links], "axis": list("xyz"), **inputs}


def _labels(names: Mapping[str, list[str]], used: Mapping[str, int]) -> dict[str, Any]:
    """Return the coordinates of the dimensions that measures have."""
    found: dict[str, Any] = {
        name: (name, names[name]) for name, count in used.items() if name in names and len(names[name]) == count
    }
    if "input" in found:
        found["input_unit"] = ("input", names["input_unit"])
    return found


def _options(case: SweepCase) -> dict[str, Any]:
    return {
        "duration": case.duration,
        "torque": recorded_torque(case.torque),
        "motion": repr(dict(case.motion or {})),
        "loads": repr(list(case.loads or ())),
        "q0": case.q0 if isinstance(case.q0, str) else _plain(case.q0),
        "v0": _plain(case.v0),
        **case.options,
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return np.asarray(value).tolist() if isinstance(value, (list, tuple, np.ndarray)) else repr(value)
