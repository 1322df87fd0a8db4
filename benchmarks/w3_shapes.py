"""Shapes for the links of the spatial arm, W3: column, upper and fore."""

from __future__ import annotations

import flexarm as fa

Shapes = tuple[fa.Flexible, fa.Flexible, fa.Flexible]
MESH = 16  # elements of a link, of which modes are kept


def elements(count: int, twist: int | None = None) -> Shapes:
    few = min(count, 2) if twist is None else twist
    return (fa.Flexible(bend_y=count, bend_z=count, twist=few, basis="elements"),) * 3


def reduced(column: int, upper: int, fore: int) -> Shapes:
    """Craig-Bampton with as many modes, less what does not move the tip: the column's twist turns its joint but not the
    arm, no spin stiffens it, and nothing hangs at the fore link that could twist it."""
    basis = fa.Reduced(MESH, interface="fixed")
    return (
        fa.Flexible(bend_y=column, bend_z=column, basis=basis, stiffening="none"),
        fa.Flexible(bend_y=upper, bend_z=upper, twist=1, basis=basis),
        fa.Flexible(bend_y=fore, bend_z=fore, basis=basis),
    )


def fine(modes: int = 8, twist: int = 3) -> Shapes:
    """All modes that matter, and more."""
    return (fa.Flexible(bend_y=modes, bend_z=modes, twist=twist, basis=fa.Reduced(MESH, interface="fixed")),) * 3
