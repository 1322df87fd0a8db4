"""Many runs as a page needs them: members by number, what each changes, and what came of it.

A sweep as a picture whose points are members: what `fa.plot_sweep` draws, and where in it each member is.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.messages import shorten, shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.studio.panels.widgets import image_of

if TYPE_CHECKING:
    import xarray as xr


KINDS = ("sweep", "monte_carlo")
RAN = ("completed", "stopped")


def is_sweep(data: Any) -> bool:
    """Whether a Dataset is that of many runs, of whatever kind; that of one run has times."""
    return "status" in getattr(data, "data_vars", ()) or getattr(data, "attrs", {}).get("kind") == "sensitivity"


class SweepResults:
    """The Dataset of `fa.sweep` or `fa.monte_carlo`."""

    def __init__(self, data: Any) -> None:
        if not is_sweep(data):
            raise TypeError(f"sweep = {shown(data)}: must be the Dataset of a sweep, as fa.sweep gives it")
        if data.attrs.get("kind") not in KINDS:
            raise ValueError("sweep: has no members to be opened; fa.sweep and fa.monte_carlo have")
        self.data: xr.Dataset = data
        self.dimensions = tuple(str(each) for each in data["status"].dims)
        self.size = int(data["status"].size)
        if not self.size:
            raise ValueError("sweep: has no members")
        if not self.quantities:
            raise ValueError("sweep: none of its measures is a number")

    @property
    def together(self) -> bool:
        """Whether members are in a row, and not all combinations of values."""
        return self.dimensions == ("member",)

    @property
    def fields(self) -> list[str]:
        if not self.together:
            return list(self.dimensions)
        return [str(name) for name, each in self.data.coords.items() if each.dims == ("member",) and name != "member"]

    @property
    def quantities(self) -> list[str]:
        """What can be drawn, the usual one first."""
        from flexarm.plotting.sweeps import (
            usual_quantity,  # with Matplotlib, which a page without a sweep does not need
        )

        known = list(self._known)
        usual = usual_quantity(self.data) if known else ""
        if usual.startswith("tip."):  # the direction in which members differ most
            usual = max((name for name in known if name.startswith("tip.")), key=self._spread)
        return sorted(known, key=lambda name: name != usual)

    def _spread(self, quantity: str) -> float:
        values = self.values(quantity)
        values = values[np.isfinite(values)]
        return float(np.ptp(values)) if values.size else 0.0

    @property
    def _known(self) -> dict[str, xr.DataArray]:
        from flexarm.plotting.sweeps import quantities

        return quantities(self.data)

    def values(self, quantity: str) -> Array:
        """A quantity of all members, by their numbers; nan of those that failed."""
        known = self._known
        if quantity not in known:
            raise ValueError(f"show: the sweep has no {quantity!r}{suggestion(quantity, list(known))}")
        return np.asarray(known[quantity].transpose(*self.dimensions).values, dtype=float).ravel()

    def place(self, member: int) -> dict[str, int]:
        """Where a member is along the dimensions."""
        where = np.unravel_index(member, self.data["status"].shape)
        return dict(zip(self.dimensions, (int(each) for each in where), strict=True))

    def changes(self, member: int) -> dict[str, Any]:
        """What a member changes, by the names that `fa.sweep` knows."""
        one = self.data.isel(self.place(self._checked(member)))
        return {name: _plain(one[name].values[()]) for name in self.fields}

    def members(self, values: Mapping[str, float]) -> list[int]:
        """Those that have these values of all fields."""
        if not all(name in values for name in self.fields):
            return []
        every = np.arange(self.size)
        good = np.ones(self.size, dtype=bool)
        where = np.unravel_index(every, self.data["status"].shape)
        for k, name in enumerate(self.fields):
            column = self.data[name].values
            if column.dtype.kind not in "iuf":
                return []
            own = column[every] if self.together else column[where[k]]
            good &= np.isclose(own, values[name], rtol=1e-9, atol=0.0)
        return [int(each) for each in every[good]]

    def status(self, member: int) -> str:
        return str(self.data["status"].isel(self.place(member)).item())

    def words(self, member: int, quantity: str) -> str:
        """A member in a sentence: what it changes, how it ended, and its value of a quantity."""
        changed = ", ".join(
            f"{name} = {_short(value)}{self._unit(name)}" for name, value in self.changes(member).items()
        )
        status = self.status(member)
        if status not in RAN:
            reason = str(self.data["reason"].isel(self.place(member)).item()) if "reason" in self.data else ""
            return shorten(f"member {member} ({changed}): {status}{f', {reason}' if reason else ''}", 400)
        value = self.values(quantity)[member]
        return shorten(f"member {member} ({changed}): {quantity} = {_short(float(value))}{self._unit(quantity)}", 400)

    def tip(self, member: int) -> Array | None:
        """Where the tip was at the end, if that was measured."""
        if "tip" not in self.data or self.data["tip"].dims[-1] != "axis":
            return None
        found = np.asarray(self.data["tip"].isel(self.place(member)).values, dtype=float)
        return found if found.shape == (3,) and np.isfinite(found).all() else None

    @property
    def duration(self) -> float | None:
        """Of the runs (s), as far as it is known."""
        try:
            return float(json.loads(self.data.attrs["options"])["duration"])
        except (KeyError, ValueError, TypeError):
            return None

    @property
    def robot(self) -> str:
        """The name of the robot that was swept."""
        return str(self.data.attrs.get("robot", ""))

    def _unit(self, name: str) -> str:
        found = self._known.get(name) if name not in self.fields else self.data[name]
        unit = "" if found is None else found.attrs.get("units", "")
        return "" if unit in ("", "1") else f" {unit}"

    def _checked(self, member: int) -> int:
        if not 0 <= member < self.size:
            raise ValueError(f"member = {member}: must be 0 to {self.size - 1}")
        return member


def _plain(value: Any) -> Any:
    """A value of a Dataset as robots take it."""
    return value.item() if isinstance(value, np.generic) else value


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


SIZE = (4.4, 3.7)  # inches
COLUMN = 2.4  # inches, at least, of each of several plots
DOT = (
    "box-sizing:content-box;width:14px;height:14px;margin:-9px 0 0 -9px;"
    "border:2px solid #fff;outline:2px solid #d1495b;border-radius:50%"
)


class SweepMap:
    """The picture of a quantity of a sweep. Fields beyond the two that are drawn have the values of a member."""

    def __init__(self, sweep: SweepResults, quantity: str, member: int) -> None:
        from flexarm.plotting.sweeps import plot_sweep

        self.sweep, self.quantity = sweep, quantity
        self.held = sweep.place(member) if not sweep.together else {}
        self.held = {name: self.held[name] for name in sweep.dimensions[2:]}
        at = {name: sweep.changes(member)[name] for name in self.held}
        figure = plot_sweep(sweep.data, quantity, **at)
        columns = min(4, len(sweep.fields)) if sweep.together else 1
        image = image_of(figure, (max(SIZE[0], COLUMN * columns), SIZE[1]))
        size = np.array([image.shape[1], image.shape[0]])
        self._members, self._places = self._found(figure.axes, size)
        self._cells = not sweep.together and len(sweep.dimensions) > 1
        inside = [axes.get_window_extent().get_points() / size for axes in figure.axes[:columns]]
        self._frames = [(low[0], 1 - high[1], high[0], 1 - low[1]) for low, high in inside]
        self._png = _png(image)

    def _found(self, axes: list[Any], size: Array) -> tuple[Any, Array]:
        """Numbers of members, and where they are in the picture, from its upper left corner, as parts of its size."""
        shown = self.sweep.data["status"].isel(self.held).size
        numbers = np.arange(self.sweep.size).reshape(self.sweep.data["status"].shape)
        numbers = numbers[tuple(self.held.get(name, slice(None)) for name in self.sweep.dimensions)].ravel()
        assert len(numbers) == shown
        values = self.sweep.values(self.quantity)[numbers]
        members, places = [], []
        for k, field in enumerate(self.sweep.fields[:4] if self.sweep.together else self.sweep.dimensions[:1]):
            x, y = self._along(field, numbers), values
            if not self.sweep.together and len(self.sweep.dimensions) > 1:
                y = self._along(self.sweep.dimensions[1], numbers)
            elif not self.sweep.together:  # members that failed have no height of their own
                y = np.where(np.isfinite(y), y, axes[k].get_ylim()[0])
            pixels = axes[k].transData.transform(np.column_stack([x, y])) / size
            members.append(numbers)
            places.append(np.column_stack([pixels[:, 0], 1 - pixels[:, 1]]))
        found, where = np.concatenate(members), np.concatenate(places)
        good = np.isfinite(where).all(axis=1)
        return found[good], where[good]

    def _along(self, field: str, numbers: Any) -> Array:
        """Where members are along a field; words stand side by side."""
        values = self.sweep.data[field].values
        places = np.arange(len(values)) if values.dtype.kind in "UOb" else values
        if self.sweep.together:
            return np.asarray(places[numbers], dtype=float)
        where = np.unravel_index(numbers, self.sweep.data["status"].shape)[self.sweep.dimensions.index(field)]
        return np.asarray(places[where], dtype=float)

    def member_at(self, x: float, y: float) -> int | None:
        """The member nearest to a place in the picture; None beside the plots."""
        if not any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in self._frames):
            return None
        if not len(self._members):
            return None
        apart = self._places - [x, y]
        if not self._cells and not self.sweep.together:
            apart = apart * [1.0, 0.05]  # along a line, what counts is how far across
        return int(self._members[np.linalg.norm(apart, axis=1).argmin()])

    def html(self, member: int | None) -> str:
        """The picture with a ring around a member, if there is one; clicks in it are told by `page.js`."""
        rings = "".join(
            f'<div style="position:absolute;left:{100 * x:.2f}%;top:{100 * y:.2f}%;{DOT}"></div>'
            for x, y in self._places[self._members == (-1 if member is None else member)]
        )
        image = f'<img alt="map of the sweep" src="data:image/png;base64,{self._png}" style="width:100%;display:block">'
        return f'<div data-studio="map" style="position:relative;cursor:crosshair;margin:4px 8px">{image}{rings}</div>'

    def place(self, member: int) -> tuple[float, float]:
        """Where a member is, the first time that it is drawn."""
        x, y = self._places[self._members == member][0]
        return float(x), float(y)


def _png(image: Any) -> str:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(image).save(out, format="PNG")
    return base64.b64encode(out.getvalue()).decode()
