"""Products of two families of shapes, of which places and momenta of second order are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.beam.second_order import Product
from flexarm.mechanics.jets import Jet

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Shapes
    from flexarm.mechanics.symbols import SymbolsUnder


def summed(
    products: Sequence[Product], shapes: Shapes, numbers: SymbolsUnder, eta: Jet, integrated: str | None = None
) -> Jet:
    """(3,): by axis, what the products (all of them, or those integrated so often) add up to with blocks of numbers."""
    zero = ca.SX(1, 1)
    parts = {axis: Jet(zero, zero, zero) for axis in range(3)}
    for k, each in enumerate(products):
        if str(k) not in numbers or integrated not in (None, each.integrated):
            continue
        one, block = eta.of(shapes.columns[each.one]), numbers[str(k)]
        same = each.one == each.other
        value = one.form(block) if same else one.form_with(block, eta.of(shapes.columns[each.other]))
        parts[each.axis] = parts[each.axis] + value
    return parts[0].above(parts[1]).above(parts[2])


def pulled(products: Sequence[Product], shapes: Shapes, numbers: SymbolsUnder, eta: Any, push: Any) -> Any:
    """(n,): what a force (3,) on the sum of products is on eta. Written out, it shares what the sum is made of."""
    found = ca.SX.zeros(eta.shape)
    for k, each in enumerate(products):
        if str(k) not in numbers:
            continue
        block, along = numbers[str(k)], push[each.axis]
        one, other = shapes.columns[each.one], shapes.columns[each.other]
        found[one] += along * (block @ eta[other])
        if each.one != each.other:
            found[other] += along * (block.T @ eta[one])
    return found
