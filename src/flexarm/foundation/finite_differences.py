"""Derivatives of functions that are only known at points, with an estimate of what is wrong with them.

Polynomials through 5, 7 and 9 evenly spaced points, the derivative of which is taken at one of the points (the middle,
or an end where there is nothing on the other side): what central differences extrapolated to smaller and smaller steps
give. How much two more points change tells the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from flexarm.foundation.validation import Array

CENTRAL = range(-4, 5)
FORWARD = range(9)
BACKWARD = range(-8, 1)


def derivative_weights(nodes: Sequence[int]) -> list[float]:
    """Of a function's values at `nodes` in its derivative at 0, which is among them.

    >>> weights([-1, 0, 1])
    [-0.5, 0.0, 0.5]
    """

    def spread(node: int) -> int:
        return prod(node - other for other in nodes if other != node)

    found = {node: -spread(0) / (spread(node) * node) for node in nodes if node}
    return [found.get(node, 0.0 - sum(found.values())) for node in nodes]


def derivative(values: Mapping[int, Array], step: float) -> tuple[Array, Array, Array]:
    """The derivative at 0 from values at nine multiples of a step; what the last two points changed in it, and
    what the two before."""
    nodes = sorted(values, key=abs)
    low, middle, high = (_through(nodes[:count], values) / step for count in (5, 7, 9))
    return high, high - middle, middle - low


def derivative_jump(values: Mapping[int, Array], step: float) -> float:
    """How far the derivatives of both sides are apart: central differences do not see a kink in their middle."""
    sides = [[node for node in values if 0 <= sign * node <= 4] for sign in (1, -1)]
    if min(map(len, sides)) < 5:
        return 0.0
    right, left = (_through(nodes, values) / step for nodes in sides)
    return float(np.abs(right - left).max(initial=0.0))


def _through(nodes: Sequence[int], values: Mapping[int, Array]) -> Array:
    changes = [
        weight * (values[node] - values[0])
        for node, weight in zip(nodes, derivative_weights(nodes), strict=True)
        if node
    ]
    return np.asarray(sum(changes))


def estimated_error(last: Array, before: Array) -> float:
    """How far off a derivative is, from what the last points changed: changes fall in geometric progression until they
    are rounding."""
    latest, earlier = (float(np.abs(change).max(initial=0.0)) for change in (last, before))
    return latest * min(1.0, latest / earlier) if earlier else latest
