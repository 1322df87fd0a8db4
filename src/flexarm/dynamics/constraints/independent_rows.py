"""Which rows of the constraints say something.

A planar robot's loop is closed out of its plane by itself: rows that no coordinate moves are left out. Where the plane
is askew to the axes, the rows are turned into it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexarm.dynamics.bodies import Coordinates
from flexarm.dynamics.parameters import Parameters
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

SAMPLE_COUNT = 5  # random postures at which rows are looked at
ROW_TOLERANCE = 1e-10  # of a row that is a robot's length or a radian: what moves it less is rounding

Key = tuple[int, str]  # of a block of rows: the number of its constraint, and m or rad


@dataclass(frozen=True)
class ConstraintRows:
    """The rows of one constraint in one unit, as they are written."""

    name: str
    count: int
    unit: str


@dataclass(frozen=True)
class SelectedRows:
    """Of a block: the rows that are kept, and what turns them into as many as are needed."""

    kept: tuple[int, ...]
    turned: int | None = None

    def __str__(self) -> str:
        kept = ", ".join(str(row + 1) for row in self.kept) or "none"
        return kept if self.turned is None else f"{kept} (turned into {self.turned})"


def sample_rows(at: Callable[[Array], tuple[Array, Array]], coordinates: Coordinates) -> tuple[Array, Array]:
    """Values (rows, samples) and scaled Jacobians side by side, at random postures."""
    rng, found = np.random.default_rng(0), []
    share = np.array([0.05 if each.kind == "elastic" else 1.0 for each in coordinates.all])
    for _ in range(SAMPLE_COUNT):
        value, slope = at(rng.uniform(-1, 1, coordinates.count) * coordinates.sizes * share)
        found.append((value[:, 0], slope * coordinates.sizes))
    return np.column_stack([value for value, _ in found]), np.hstack([slope for _, slope in found])


def select_rows(
    parameters: Parameters, block: ConstraintRows, values: Array, slopes: Array, scale: float
) -> SelectedRows:
    """What is kept of a block, from its values and slopes (scale: what is large for them); with the numbers that turn
    it, if it must be turned."""
    values, slopes = _finite_columns(values / scale), _finite_columns(slopes / scale)
    if not slopes.shape[1]:  # nothing is known: then all rows stay
        slopes = np.eye(block.count)
    moved = np.abs(slopes).max(axis=1, initial=0.0) > ROW_TOLERANCE
    _require_closed(block, values[~moved], scale)
    closing = SelectedRows(tuple(np.flatnonzero(moved).tolist()))
    if moved.sum() >= 2:
        turn, sizes, _ = np.linalg.svd(slopes[moved], full_matrices=False)
        idle = sizes <= ROW_TOLERANCE * sizes[0]
        if idle.any():
            _require_closed(block, turn[:, idle].T @ values[moved], scale)
            closing = SelectedRows(closing.kept, int((~idle).sum()))
            parameters.add(rotation_name(block), "1", _fix_signs(turn[:, ~idle].T))
    parameters.fact(f"constraints.{block.name}", f"keeps of its rows ({block.unit})", str(closing))
    return closing


def _finite_columns(columns: Array) -> Array:
    """Without postures at which a row is no number: a link may not reach its support there."""
    return columns[:, np.isfinite(columns).all(axis=0)]


def rotation_name(block: ConstraintRows) -> str:
    return f"constraints.{block.name}.turn.{block.unit}"


def _fix_signs(rows: Array) -> Array:
    """Singular vectors have no sign of their own: make the largest entry positive."""
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return np.asarray(rows * np.sign(largest)[:, None])


def _require_closed(block: ConstraintRows, values: Array, scale: float) -> None:
    """What no coordinate moves must be zero by itself."""
    gap = float(np.abs(values).max(initial=0.0))
    if gap > 1e-9:
        what = "apart" if block.unit == "m" else "out of line"
        raise ValueError(
            f"'{block.name}' cannot close: its two sides stay {gap * scale:.4g} {block.unit} {what} in a "
            "direction in which the robot cannot move"
        )
