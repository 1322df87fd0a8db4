"""Results of sweeps in a page: members by number, and a map of a quantity with the position of each member."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
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
    """The result of `fa.sweep` or `fa.monte_carlo`."""

    def __init__(self, data: Any) -> None:
        if not is_sweep(data):
            raise TypeError(f"sweep = {shown(data)}: must be the Dataset of a sweep, as returned by fa.sweep")
        if data.attrs.get("kind") not in MEMBER_KINDS:
            raise ValueError("sweep: has no members to open; use the result of fa.sweep or fa.monte_carlo")
        self.data: xr.Dataset = data
        self.dimensions = tuple(str(each) for each in data["status"].dims)
        self.size = int(data["status"].size)
        if not self.size:
            raise ValueError("sweep: has no members")
        if not self.quantities:
            raise ValueError("sweep: none of its measures is a number")

    @property
    def is_list(self) -> bool:
        """True if members form a list, not a grid of all combinations of values."""
        return self.dimensions == ("member",)

    @property
    def fields(self) -> list[str]:
        """Names of the varied parameters."""
        if not self.is_list:
            return list(self.dimensions)
        return [str(name) for name, each in self.data.coords.items() if each.dims == ("member",) and name != "member"]

    @property
    def quantities(self) -> list[str]:
        """Names of the measures that can be drawn, the default first."""
        from flexarm.plotting.sweeps import default_quantity  # imports Matplotlib, which pages load only when needed

        known = list(self._quantities)
        usual = default_quantity(self.data) if known else ""
        if usual.startswith("tip."):  # the axis along which members differ most
            usual = max((name for name in known if name.startswith("tip.")), key=self._spread)
        return sorted(known, key=lambda name: name != usual)

    def _spread(self, quantity: str) -> float:
        values = self.values(quantity)
        values = values[np.isfinite(values)]
        return float(np.ptp(values)) if values.size else 0.0

    @property
    def _quantities(self) -> dict[str, xr.DataArray]:
        from flexarm.plotting.sweeps import drawable_quantities

        return drawable_quantities(self.data)

    def values(self, quantity: str) -> Array:
        """Return a quantity of all members in order; nan for members that failed."""
        known = self._quantities
        if quantity not in known:
            raise ValueError(f"show: the sweep has no {quantity!r}{suggestion(quantity, list(known))}")
        return np.asarray(known[quantity].transpose(*self.dimensions).values, dtype=float).ravel()

    def index_of(self, member: int) -> dict[str, int]:
        """Return the index of a member along each dimension."""
        where = np.unravel_index(member, self.data["status"].shape)
        return dict(zip(self.dimensions, (int(each) for each in where), strict=True))

    def changes(self, member: int) -> dict[str, Any]:
        """Return the parameters of a member by name."""
        one = self.data.isel(self.index_of(self._check_member(member)))
        return {name: _to_python(one[name].values[()]) for name in self.fields}

    def find_members(self, values: Mapping[str, float]) -> list[int]:
        """Return the members with the given values of all fields."""
        if not all(name in values for name in self.fields):
            return []
        members = np.arange(self.size)
        matches = np.ones(self.size, dtype=bool)
        where = np.unravel_index(members, self.data["status"].shape)
        for k, name in enumerate(self.fields):
            column = self.data[name].values
            if column.dtype.kind not in "iuf":
                return []
            coordinates = column[members] if self.is_list else column[where[k]]
            matches &= np.isclose(coordinates, values[name], rtol=1e-9, atol=0.0)
        return [int(each) for each in members[matches]]

    def status(self, member: int) -> str:
        return str(self.data["status"].isel(self.index_of(member)).item())

    def describe(self, member: int, quantity: str) -> str:
        """Return a sentence with the parameters of a member, its status, and its value of a quantity."""
        changed = ", ".join(
            f"{name} = {_format(value)}{self._unit(name)}" for name, value in self.changes(member).items()
        )
        status = self.status(member)
        if status not in SUCCESSFUL:
            reason = str(self.data["reason"].isel(self.index_of(member)).item()) if "reason" in self.data else ""
            return shorten(f"member {member} ({changed}): {status}{f', {reason}' if reason else ''}", 400)
        value = self.values(quantity)[member]
        return shorten(f"member {member} ({changed}): {quantity} = {_format(float(value))}{self._unit(quantity)}", 400)

    def final_tip(self, member: int) -> Array | None:
        """Return the final position of the tip, or None if it was not measured."""
        if "tip" not in self.data or self.data["tip"].dims[-1] != "axis":
            return None
        found = np.asarray(self.data["tip"].isel(self.index_of(member)).values, dtype=float)
        return found if found.shape == (3,) and np.isfinite(found).all() else None

    @property
    def duration(self) -> float | None:
        """Duration of the runs (s), or None if unknown."""
        try:
            return float(json.loads(self.data.attrs["options"])["duration"])
        except (KeyError, ValueError, TypeError):
            return None

    @property
    def robot(self) -> str:
        """Name of the robot."""
        return str(self.data.attrs.get("robot", ""))

    def _unit(self, name: str) -> str:
        found = self._quantities.get(name) if name not in self.fields else self.data[name]
        unit = "" if found is None else found.attrs.get("units", "")
        return "" if unit in ("", "1") else f" {unit}"

    def _check_member(self, member: int) -> int:
        if not 0 <= member < self.size:
            raise ValueError(f"member = {member}: must be 0 to {self.size - 1}")
        return member


def _to_python(value: Any) -> Any:
    """Convert a NumPy scalar to a Python value."""
    return value.item() if isinstance(value, np.generic) else value


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
        self.fixed = sweep.index_of(member) if not sweep.is_list else {}
        self.fixed = {name: self.fixed[name] for name in sweep.dimensions[2:]}
        at = {name: sweep.changes(member)[name] for name in self.fixed}
        figure = plot_sweep(sweep.data, quantity, **at)
        columns = min(4, len(sweep.fields)) if sweep.is_list else 1
        image = render_figure(figure, (max(MAP_SIZE_INCH[0], MIN_COLUMN_INCH * columns), MAP_SIZE_INCH[1]))
        size = np.array([image.shape[1], image.shape[0]])
        self._members, self._positions = self._locate_members(figure.axes, size)
        self._is_grid = not sweep.is_list and len(sweep.dimensions) > 1
        inside = [axes.get_window_extent().get_points() / size for axes in figure.axes[:columns]]
        self._plot_areas = [(low[0], 1 - high[1], high[0], 1 - low[1]) for low, high in inside]
        self._png = base64.b64encode(encode_png(Image.fromarray(image))).decode()

    def _locate_members(self, axes: list[Any], size: Array) -> tuple[Any, Array]:
        """Return member numbers and their positions from the upper left corner, relative to the picture's size."""
        shown = self.sweep.data["status"].isel(self.fixed).size
        numbers = np.arange(self.sweep.size).reshape(self.sweep.data["status"].shape)
        numbers = numbers[tuple(self.fixed.get(name, slice(None)) for name in self.sweep.dimensions)].ravel()
        assert len(numbers) == shown
        values = self.sweep.values(self.quantity)[numbers]
        members, positions = [], []
        for k, field in enumerate(self.sweep.fields[:4] if self.sweep.is_list else self.sweep.dimensions[:1]):
            x, y = self._coordinates(field, numbers), values
            if not self.sweep.is_list and len(self.sweep.dimensions) > 1:
                y = self._coordinates(self.sweep.dimensions[1], numbers)
            elif not self.sweep.is_list:  # members that failed have no value
                y = np.where(np.isfinite(y), y, axes[k].get_ylim()[0])
            pixels = axes[k].transData.transform(np.column_stack([x, y])) / size
            members.append(numbers)
            positions.append(np.column_stack([pixels[:, 0], 1 - pixels[:, 1]]))
        found, where = np.concatenate(members), np.concatenate(positions)
        is_finite = np.isfinite(where).all(axis=1)
        return found[is_finite], where[is_finite]

    def _coordinates(self, field: str, numbers: Any) -> Array:
        """Return the coordinates of members along a field; strings are numbered."""
        values = self.sweep.data[field].values
        positions = np.arange(len(values)) if values.dtype.kind in "UOb" else values
        if self.sweep.is_list:
            return np.asarray(positions[numbers], dtype=float)
        where = np.unravel_index(numbers, self.sweep.data["status"].shape)[self.sweep.dimensions.index(field)]
        return np.asarray(positions[where], dtype=float)

    def member_at(self, x: float, y: float) -> int | None:
        """Return the member nearest to a position in the picture, or None outside of the plots."""
        if not any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in self._plot_areas):
            return None
        if not len(self._members):
            return None
        offset = self._positions - [x, y]
        if not self._is_grid and not self.sweep.is_list:
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
