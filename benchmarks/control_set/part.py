"""Results of one part of the benchmark: rows of a table and panels of a figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """`holds` is None where nothing was asked: a number to compare with."""

    asked: str
    found: str
    holds: bool | None = None


@dataclass(frozen=True)
class Part:
    """Rows of a table, and panels, functions that draw into a plot."""

    rows: list[Row] = field(default_factory=list)
    panels: list[Callable[[Any], None]] = field(default_factory=list)


def below(asked: str, found: float, bound: float, unit: str = "") -> Row:
    """A number that must not exceed a bound."""
    return Row(asked, f"{found:.1e}{unit}", bool(found <= bound))
