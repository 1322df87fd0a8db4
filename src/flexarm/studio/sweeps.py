"""Sweeps in a page: results by member, a map with the position of each member, ranges, and computation."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import end_runs_when
from flexarm.foundation.messages import collect_warnings, shorten, shown
from flexarm.foundation.progress import report_progress
from flexarm.foundation.validation import Array, real
from flexarm.plotting.films import encode_png
from flexarm.studio.case import SCALE, Parameter, StudioCase
from flexarm.studio.panels.parameters import field_label
from flexarm.studio.panels.widgets import render_figure

if TYPE_CHECKING:
    import xarray as xr


MEMBER_KINDS = ("sweep", "monte_carlo")
SUCCESSFUL = ("completed", "stopped")


def is_sweep(data: Any) -> bool:
    """Return True if a Dataset is the result of a sweep of any kind, not a run."""
    return "status" in getattr(data, "data_vars", ()) or getattr(data, "attrs", {}).get("kind") == "sensitivity"


class SweepResults:
    """The result of `fa.sweep` or `fa.monte_carlo`: `columns` are the parameters of all members by name."""

    def __init__(self, data: Any) -> None:
        if not is_sweep(data):
            raise TypeError(f"sweep = {shown(data)}: must be the Dataset of a sweep, as returned by fa.sweep")
        if data.attrs.get("kind") not in MEMBER_KINDS:
            raise ValueError("sweep: has no members to open; use the result of fa.sweep or fa.monte_carlo")
        from flexarm.plotting.sweeps import sweep_fields  # imports Matplotlib, which pages load only when needed

        self.data: xr.Dataset = data
        self.size = int(data["status"].size)
        if not self.size:
            raise ValueError("sweep: has no members")
        self.is_grid = data["status"].dims != ("member",)  # all combinations of values, not a list
        columns = [data[name].values for name in sweep_fields(data)]
        columns = [each.ravel() for each in np.meshgrid(*columns, indexing="ij")] if self.is_grid else columns
        self.columns = dict(zip(sweep_fields(data), columns, strict=True))
        if not self.quantities:
            raise ValueError("sweep: none of its measures is a number")

    @cached_property
    def quantities(self) -> list[str]:
        """Names of the measures that can be drawn, the default first."""
        from flexarm.plotting.sweeps import default_quantity

        known = list(self._measures)
        usual = default_quantity(self.data) if known else ""
        if usual.startswith("tip."):  # the axis along which members differ most
            spread = {name: np.ptp(self.values(name)[self.are_successful]) for name in known if name.startswith("tip.")}
            usual = max(spread, key=lambda name: spread[name]) if self.are_successful.any() else usual
        return sorted(known, key=lambda name: name != usual)

    @cached_property
    def _measures(self) -> dict[str, xr.DataArray]:
        from flexarm.plotting.sweeps import drawable_quantities

        return drawable_quantities(self.data)

    @property
    def are_successful(self) -> Any:
        """True for each member whose run was completed or stopped."""
        return np.isin(self.data["status"].values.ravel(), SUCCESSFUL)

    def values(self, quantity: str) -> Array:
        """Return a quantity of all members in order; nan for members that failed."""
        return np.asarray(self._of_members(self._measures[quantity]), dtype=float)

    def _of_members(self, measure: xr.DataArray) -> Any:
        """Return a measure of all members, shape (size, ...)."""
        dims = self.data["status"].dims
        return measure.transpose(*dims, ...).values.reshape(self.size, *measure.shape[len(dims) :])

    def changes(self, member: int) -> dict[str, Any]:
        """Return the parameters of a member by name."""
        if not 0 <= member < self.size:
            raise ValueError(f"member = {member}: must be 0 to {self.size - 1}")
        return {name: column[[member]].tolist()[0] for name, column in self.columns.items()}

    def find_members(self, values: Mapping[str, float]) -> list[int]:
        """Return the members with the given values of all fields."""
        matches = np.ones(self.size, dtype=bool)
        for name, column in self.columns.items():
            if name not in values or column.dtype.kind not in "iuf":
                return []
            matches &= np.isclose(column, values[name], rtol=1e-9, atol=0.0)
        return [int(each) for each in np.flatnonzero(matches)]

    def describe(self, member: int, quantity: str) -> str:
        """Return a sentence with the parameters of a member, its status, and its value of a quantity."""
        changed = ", ".join(
            f"{name} = {_format(value)}{_unit(self.data[name])}" for name, value in self.changes(member).items()
        )
        if self.are_successful[member]:
            value = _format(float(self.values(quantity)[member]))
            found = f"{quantity} = {value}{_unit(self._measures[quantity])}"
        else:
            reason = str(self._of_members(self.data["reason"])[member]) if "reason" in self.data else ""
            found = ", ".join(filter(None, (str(self._of_members(self.data["status"])[member]), reason)))
        return shorten(f"member {member} ({changed}): {found}", 400)

    def final_tip(self, member: int) -> Array | None:
        """Return the final position of the tip, or None if it was not measured."""
        if "tip" not in self.data or self.data["tip"].dims[-1] != "axis":
            return None
        found = np.asarray(self._of_members(self.data["tip"])[member], dtype=float)
        return found if found.shape == (3,) and np.isfinite(found).all() else None


def _unit(values: xr.DataArray) -> str:
    unit = values.attrs.get("units", "")
    return "" if unit in ("", "1") else f" {unit}"


def _format(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


MAP_SIZE_INCH = (4.4, 3.7)
MIN_COLUMN_INCH = 2.4  # width of each of several plots


class SweepMap:
    """A picture of a quantity of a sweep; fields beyond the two axes are fixed at the values of a member."""

    def __init__(self, sweep: SweepResults, quantity: str, member: int) -> None:
        from PIL import Image

        from flexarm.plotting.sweeps import plot_sweep

        self.sweep, self.quantity = sweep, quantity
        names = list(sweep.columns)
        self.fixed = {name: sweep.changes(member)[name] for name in names[2:]} if sweep.is_grid else {}
        figure = plot_sweep(sweep.data, quantity, **self.fixed)
        count = 1 if sweep.is_grid else min(4, len(names))
        image = render_figure(figure, (max(MAP_SIZE_INCH[0], MIN_COLUMN_INCH * count), MAP_SIZE_INCH[1]))
        self._png = base64.b64encode(encode_png(Image.fromarray(image))).decode()
        members = np.flatnonzero(np.all([sweep.columns[name] == value for name, value in self.fixed.items()], axis=0))
        members = members if self.fixed else np.arange(sweep.size)
        values, size = sweep.values(quantity)[members], np.array([image.shape[1], image.shape[0]])
        positions = []
        for axes, field in zip(figure.axes, names[:count]):
            if sweep.is_grid and len(names) > 1:
                values = self._coordinates(names[1], members)
            y = values
            if sweep.is_grid:  # crosses mark members that failed
                y = np.where(np.isfinite(values), values, axes.get_ylim()[0])
            pixels = axes.transData.transform(np.column_stack([self._coordinates(field, members), y])) / size
            positions.append(np.column_stack([pixels[:, 0], 1 - pixels[:, 1]]))
        where = np.concatenate(positions)
        drawn = np.isfinite(where).all(axis=1)
        self._positions, self._members = where[drawn], np.tile(members, count)[drawn]
        inside = [axes.get_window_extent().get_points() / size for axes in figure.axes[:count]]
        self._plot_areas = [(low[0], 1 - high[1], high[0], 1 - low[1]) for low, high in inside]

    def _coordinates(self, field: str, members: Any) -> Array:
        """Return the coordinates of members along a field; strings are numbered."""
        column, known = self.sweep.columns[field][members], self.sweep.data[field].values
        if known.dtype.kind in "UOb":
            column = [known.tolist().index(each) for each in column.tolist()]
        return np.asarray(column, dtype=float)

    def member_at(self, x: float, y: float) -> int | None:
        """Return the member nearest to a position in the picture, or None outside of the plots."""
        if not any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in self._plot_areas):
            return None
        offset = self._positions - [x, y]
        if self.sweep.is_grid and len(self.sweep.columns) == 1:
            offset = offset * [1.0, 0.05]  # on a line plot, mainly the horizontal distance counts
        return int(self._members[np.linalg.norm(offset, axis=1).argmin()])

    def html(self, member: int | None) -> str:
        """Return the picture with a ring around a member; `page.js` reports clicks in it."""
        rings = "".join(
            f'<i class="studio-ring" style="left:{100 * x:.2f}%;top:{100 * y:.2f}%"></i>'
            for x, y in self._positions[self._members == (-1 if member is None else member)]
        )
        return (
            f'<div data-studio="map"><img alt="map of the sweep" src="data:image/png;base64,{self._png}">{rings}</div>'
        )


CONTROL_ROOTS = ("torque", "motion", "q0", "gains", "references")  # shapers and controllers depend on these


def sweepable_parameters(case: StudioCase | None) -> dict[str, Parameter]:
    """Return all parameters, by name, that can vary while all members have the same shapers and controllers."""
    if case is None:
        return {}
    hidden = () if case.control.is_off else CONTROL_ROOTS
    parameters = (each for each in case.parameters() if each.is_sweepable)
    return {each.name: each for each in parameters if each.name.partition(".")[0] not in hidden}


def is_valid(case: StudioCase, name: str, value: float) -> bool:
    """Return True if a case accepts a value."""
    try:
        case.with_({name: value})
    except Exception:
        return False
    return True


MAX_MEMBER_COUNT = 10_000
DEFAULT_COUNT = 11  # of values in a range
SWEEP_PROGRESS = "sweeping"


@dataclass(frozen=True)
class Range:
    """Equidistant values of a field, both ends included."""

    field: str
    first: float
    last: float
    count: int
    is_integer: bool = False

    @staticmethod
    def around(number: Parameter, possible: Callable[[float], bool]) -> Range:
        """Return the range from half to one and a half times the current value, as far as values are `possible`."""
        field, now = number.name, number.value
        if number.is_integer:
            first = now - 1 if now > 1 and possible(now - 1) else now
            return Range(field, first, first + 3, 4, True)
        width = 0.5 * abs(now) if now else 0.5
        first, last = (_range_end(now, sign * width, possible) for sign in (-1, 1))
        return Range(field, first, last, DEFAULT_COUNT)

    def values(self) -> list[float] | list[int]:
        """Return the values; raise an error if the range is invalid."""
        if self.count < 1:
            raise ValueError(f"{self.field}: count = {self.count}: must be a whole number, at least 1")
        if not (np.isfinite(self.first) and np.isfinite(self.last)):
            raise ValueError(f"{self.field}: from and to must be numbers")
        if self.count > MAX_MEMBER_COUNT:
            raise ValueError(f"{self.field}: count = {self.count}: at most {MAX_MEMBER_COUNT} members can be run here")
        if self.count > 1 and self.first == self.last:
            raise ValueError(f"{self.field}: from {self.first:g} to {self.last:g} do not give {self.count} values")
        found = np.linspace(self.first, self.last, self.count)
        return np.unique(np.round(found).astype(int)).tolist() if self.is_integer else [float(each) for each in found]

    @property
    def section(self) -> dict[str, Any]:
        """The range as in a file's `sweep` section."""
        ends = (round(self.first), round(self.last)) if self.is_integer else (self.first, self.last)
        return {"from": ends[0], "to": ends[1], "count": self.count}


def _range_end(now: float, width: float, possible: Callable[[float], bool]) -> float:
    """Return the farthest possible end of a range."""
    for part in (1.0, 0.5, 0.2, 0.05):
        end = float(f"{now + part * width:.6g}")
        if possible(end):
            return end
    return now


def run_sweep(
    case: StudioCase, ranges: list[Range], should_stop: Callable[[], bool], report: Callable[[int, int], None]
) -> tuple[SweepResults, list[str]]:
    """Run all combinations of the ranges, until `should_stop` returns True.

    Returns the results and the warnings. `report` is called with the number of completed members and of all members.
    """
    from flexarm.sweeps.sweep import sweep

    over, known = _sweep_values(ranges), sweepable_parameters(case)
    for name in over:
        if name not in known:
            raise ValueError(
                f"sweep: {name} cannot be varied while shapers or controllers are on: they depend on it; "
                "switch them off"
            )
    case = case.with_({name: 1.0 for name in over if name.endswith(f".{SCALE}")})  # sweeps scale unscaled profiles
    options = case.arguments(System(case.robot, native=False))

    def watch(activity: str, done: float, total: float) -> None:
        if activity == SWEEP_PROGRESS:
            report(int(done), int(total))

    with collect_warnings() as messages:
        try:
            with end_runs_when(should_stop), report_progress(watch):
                data = sweep(case.robot, over, **(options | {"progress": False}))
        except KeyboardInterrupt:
            raise ValueError("the sweep was cancelled before a member was done") from None
    if (data["status"].values == "missing").all():
        raise ValueError("the sweep was cancelled before a member was done")
    return SweepResults(data), messages


def _sweep_values(ranges: list[Range]) -> Mapping[str, Any]:
    names = [each.field for each in ranges]
    if not names:
        raise ValueError("sweep: choose what to vary")
    if len(set(names)) < len(names):
        raise ValueError(f"sweep: {shown(names[0])} is varied twice; choose two fields")
    over = {each.field: each.values() for each in ranges}
    count = int(np.prod([len(values) for values in over.values()]))
    if count > MAX_MEMBER_COUNT:
        raise ValueError(f"sweep: {count} members; at most {MAX_MEMBER_COUNT} can be run here, more with fa.sweep")
    return over


MAX_LISTED_NAMES = 4


def find_member(sweep: SweepResults, base: StudioCase, case: StudioCase | None) -> int | None:
    """Return the member of a sweep of `base` that equals a case, or None."""
    if case is None or case.control != base.control:
        return None
    now = {each.name: each.value for each in case.parameters()}
    for member in sweep.find_members(now)[:1]:
        found = {each.name: each.value for each in base.with_(sweep.changes(member)).parameters()}
        if now.keys() == found.keys() and np.allclose([*now.values()], [*found.values()], rtol=1e-9, atol=0.0):
            return member
    return None


def is_same_case(first: StudioCase, second: StudioCase) -> bool:
    return first.robot is second.robot and first.plan is second.plan and first.control == second.control


def describe_resets(before: StudioCase, now: StudioCase, swept: set[str]) -> list[str]:
    """Return sentences about settings, other than the swept fields, that opening a member changed back."""
    found = []
    if replace(before.control, plant=None) != replace(now.control, plant=None):
        state = "off, as in the sweep" if now.control.is_off else "those of the sweep"
        found.append(f"Shapers and controllers are {state}; Undo restores yours.")
    values = {each.name: each.value for each in before.parameters()}
    others = [
        field_label(each, "")
        for each in now.parameters()
        if each.name not in swept and each.value != values.get(each.name, each.value)
    ]
    if others:
        more = " ..." if len(others) > MAX_LISTED_NAMES else ""
        found.append(f"Reset to the values of the sweep: {', '.join(others[:MAX_LISTED_NAMES])}{more}.")
    return found


def read_ranges(case: StudioCase) -> dict[str, Range]:
    """Return the ranges of a file's `sweep` section that the page can show."""
    found, known = {}, sweepable_parameters(case)
    over = case.sweep.get("over")
    for name, given in over.items() if isinstance(over, dict) else ():
        if isinstance(given, list) and len(given) > 1 and all(real(each) is not None for each in given):
            equidistant = np.linspace(given[0], given[-1], len(given))
            given = (
                {"from": given[0], "to": given[-1], "count": len(given)} if np.allclose(given, equidistant) else None
            )
        if not isinstance(given, dict) or name not in known or given.get("spacing", "linear") != "linear":
            continue
        first, last, count = (real(given.get(each)) for each in ("from", "to", "count"))
        if first is not None and last is not None and count is not None:
            found[name] = Range(name, first, last, int(count), known[name].is_integer)
    return found


def find_mismatches(sweep: SweepResults, base: StudioCase) -> list[str]:
    """Return sentences about differences between a sweep and the current case."""
    found = []
    robot = sweep.data.attrs.get("robot", base.robot.name)
    if robot != base.robot.name:
        found.append(f"The sweep is of {robot!r}, this robot is {base.robot.name!r}.")
    duration, given = real(base.plan.get("duration")), json.loads(sweep.data.attrs.get("options", "{}"))
    swept = real(given.get("duration")) if isinstance(given, dict) else None
    if swept is not None and duration is not None and abs(swept - duration) > 1e-9 * duration:
        found.append(f"The sweep's runs take {swept:g} s, those of this simulation {duration:g} s.")
    summary = str(sweep.data.attrs.get("summary", ""))
    return found + ([summary] if summary else [])
