"""Results of sweeps in a page: members by number, and a map of a quantity with the position of each member."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.messages import shorten, shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.plotting.films import encode_png
from flexarm.studio.panels.widgets import render_figure

if TYPE_CHECKING:
    import xarray as xr


MEMBER_KINDS = ("sweep", "monte_carlo")
SUCCESSFUL = ("completed", "stopped")


def is_sweep(data: Any) -> bool:
    """Return True if a Dataset is the result of a sweep of any kind, not a run."""
    return "status" in getattr(data, "data_vars", ()) or getattr(data, "attrs", {}).get("kind") == "sensitivity"


class SweepResults:
    """The result of `fa.sweep` or `fa.monte_carlo`.

    Attributes
    ----------
    data : Dataset
    columns : dict of str to ndarray, shape (size,)
        Values of each varied parameter for all members, by name.
    size : int
        Number of members.
    is_grid : bool
        True if members are all combinations of values, not a list.
    """

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
        self.is_grid = data["status"].dims != ("member",)
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
        if quantity not in self._measures:
            raise ValueError(f"show: the sweep has no {quantity!r}{suggestion(quantity, list(self._measures))}")
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

    @property
    def duration(self) -> float | None:
        """Duration of the runs (s), or None if unknown."""
        try:
            return float(json.loads(self.data.attrs["options"])["duration"])
        except (KeyError, ValueError, TypeError):
            return None


def _unit(values: xr.DataArray) -> str:
    unit = values.attrs.get("units", "")
    return "" if unit in ("", "1") else f" {unit}"


def _format(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


MAP_SIZE_INCH = (4.4, 3.7)
MIN_COLUMN_INCH = 2.4  # width of each of several plots
RING_STYLE = (
    "box-sizing:content-box;width:14px;height:14px;margin:-9px 0 0 -9px;"
    "border:2px solid #fff;outline:2px solid #d1495b;border-radius:50%"
)


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
            f'<div style="position:absolute;left:{100 * x:.2f}%;top:{100 * y:.2f}%;{RING_STYLE}"></div>'
            for x, y in self._positions[self._members == (-1 if member is None else member)]
        )
        image = f'<img alt="map of the sweep" src="data:image/png;base64,{self._png}" style="width:100%;display:block">'
        return f'<div data-studio="map" style="position:relative;cursor:crosshair;margin:4px 8px">{image}{rings}</div>'

    def position(self, member: int) -> tuple[float, float]:
        """Return the first position of a member in the picture."""
        x, y = self._positions[self._members == member][0]
        return float(x), float(y)
