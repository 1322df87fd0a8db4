"""Colours and dashes of curves, readable in grey; light to import, since the studio uses them without Matplotlib."""

from __future__ import annotations

from typing import Any

# Colours that colour-blind readers can distinguish; dashes that differ, so that curves are readable in grey.
LINE_STYLES: list[tuple[str, Any]] = [
    ("#0b3c5d", "-"),
    ("#d9600f", "--"),
    ("#009988", "-."),
    ("#a326d6", (0, (2, 1))),
    ("#7d3a1c", (0, (5, 1))),
    ("#8877dd", (0, (3, 1, 1, 1))),
    ("#5f5f5f", (0, (8, 2))),
]
COMPARISON_COLOUR = "0.6"
JOINT_COLOUR = "0.15"
