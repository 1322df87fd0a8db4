"""A sweep as a picture whose points are members: what `fa.plot_sweep` draws, and where in it each member is."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.studio.picture import image_of
from flexarm.studio.sweep import Sweep

SIZE = (4.4, 3.7)  # inches
COLUMN = 2.4  # inches, at least, of each of several plots
DOT = (
    "box-sizing:content-box;width:14px;height:14px;margin:-9px 0 0 -9px;"
    "border:2px solid #fff;outline:2px solid #d1495b;border-radius:50%"
)


class SweepMap:
    """The picture of a quantity of a sweep. Fields beyond the two that are drawn have the values of a member."""

    def __init__(self, sweep: Sweep, quantity: str, member: int) -> None:
        from flexarm.show.sweeps import plot_sweep

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
