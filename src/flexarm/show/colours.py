"""Colours and dashes of curves, readable in grey. Whoever needs no figure needs no more."""

from __future__ import annotations

from typing import Any

# far apart also for those who see colours otherwise; different dashes: readable in grey
STYLES: list[tuple[str, Any]] = [
    ("#0b3c5d", "-"),
    ("#d9600f", "--"),
    ("#009988", "-."),
    ("#a326d6", (0, (2, 1))),
    ("#7d3a1c", (0, (5, 1))),
    ("#8877dd", (0, (3, 1, 1, 1))),
    ("#5f5f5f", (0, (8, 2))),
]
TWIN = "0.6"  # what is drawn only for comparison
JOINT = "0.15"
