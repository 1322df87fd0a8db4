"""Selection of independent constraint rows.

Rows that no coordinate moves are left out: the loop of a planar robot stays closed out of its plane. If the plane is
oblique to the axes, the rows are rotated into it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexarm.dynamics.bodies import Coordinates
from flexarm.dynamics.parameters import Parameters
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

SAMPLE_COUNT = 5  # random postures at which rows are evaluated
ROW_TOLERANCE = 1e-10  # smaller derivatives of a row, in units of its characteristic violation, are rounding

Key = tuple[int, str]  # block of rows: index of its constraint, and "m" or "rad"


@dataclass(frozen=True)
class ConstraintRows:
    """Rows of one constraint in one unit, before selection."""

    name: str
    count: int
    unit: str


@dataclass(frozen=True)
class SelectedRows:
    """Indices of the rows of a block that are kept, and the number of rows into which they are rotated, if any."""

    kept: tuple[int, ...]
    turned: int | None = None

    def __str__(self) -> str:
        kept = ", ".join(str(row + 1) for row in self.kept) or "none"
        return kept if self.turned is None else f"{kept} (turned into {self.turned})"


def sample_rows(at: Callable[[Array], tuple[Array, Array]], coordinates: Coordinates) -> tuple[Array, Array]:
    """Return values (rows, samples) and scaled Jacobians side by side, at random postures."""
    rng, found = np.random.default_rng(0), []
    share = np.array([0.05 if each.kind == "elastic" else 1.0 for each in coordinates.all])
    for _ in range(SAMPLE_COUNT):
        value, slope = at(rng.uniform(-1, 1, coordinates.count) * coordinates.sizes * share)
        found.append((value[:, 0], slope * coordinates.sizes))
    return np.column_stack([value for value, _ in found]), np.hstack([slope for _, slope in found])


def select_rows(
    parameters: Parameters, block: ConstraintRows, values: Array, slopes: Array, scale: float
) -> SelectedRows:
    """Select independent rows of a block from samples of their values and scaled Jacobians.

    `scale` is a characteristic violation. If rows must be rotated, the rotation is added to the parameters.
    """
    values, slopes = _finite_columns(values / scale), _finite_columns(slopes / scale)
    if not slopes.shape[1]:  # no valid sample: all rows are kept
        slopes = np.eye(block.count)
    moved = np.abs(slopes).max(axis=1, initial=0.0) > ROW_TOLERANCE
    _require_closed(block, values[~moved], scale)
    selection = SelectedRows(tuple(np.flatnonzero(moved).tolist()))
    if moved.sum() >= 2:
        turn, sizes, _ = np.linalg.svd(slopes[moved], full_matrices=False)
        idle = sizes <= ROW_TOLERANCE * sizes[0]
        if idle.any():
            _require_closed(block, turn[:, idle].T @ values[moved], scale)
            selection = SelectedRows(selection.kept, int((~idle).sum()))
            parameters.add(rotation_name(block), "1", _fix_signs(turn[:, ~idle].T))
    parameters.fact(f"constraints.{block.name}", f"keeps of its rows ({block.unit})", str(selection))
    return selection


def _finite_columns(columns: Array) -> Array:
    """Return the columns without nan: at some postures a link does not reach its support."""
    return columns[:, np.isfinite(columns).all(axis=0)]


def rotation_name(block: ConstraintRows) -> str:
    """Return the name of the parameters that rotate the rows of a block."""
    return f"constraints.{block.name}.turn.{block.unit}"


def _fix_signs(rows: Array) -> Array:
    """Return rows with a positive largest entry: the sign of singular vectors is arbitrary."""
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return np.asarray(rows * np.sign(largest)[:, None])


def _require_closed(block: ConstraintRows, values: Array, scale: float) -> None:
    """Raise a ValueError unless rows that no coordinate moves are zero."""
    gap = float(np.abs(values).max(initial=0.0))
    if gap > 1e-9:
        what = "apart" if block.unit == "m" else "out of line"
        raise ValueError(
            f"'{block.name}' cannot close: its two sides stay {gap * scale:.4g} {block.unit} {what} in a "
            "direction in which the robot cannot move"
        )
