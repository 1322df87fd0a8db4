"""Numerical derivatives from samples of a function, with error estimates.

Polynomials interpolate 5, 7 and 9 evenly spaced samples and are differentiated at one of them: the middle one, or an
end for one-sided differences. This equals Richardson extrapolation of central differences. The change between
successive polynomials estimates the error.
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
    """Return the weights of a function's values at integer `nodes` in its derivative at 0, which is one of them.

    >>> derivative_weights([-1, 0, 1])
    [-0.5, 0.0, 0.5]
    """

    def denominator(node: int) -> int:
        return prod(node - other for other in nodes if other != node)

    found = {node: -denominator(0) / (denominator(node) * node) for node in nodes if node}
    return [found.get(node, 0.0 - sum(found.values())) for node in nodes]


def derivative(values: Mapping[int, Array], step: float) -> tuple[Array, Array, Array]:
    """Return the derivative at 0 from values at nine multiples of a step, and the last two corrections to it.

    The corrections are the changes from 7 to 9 points and from 5 to 7 points.
    """
    nodes = sorted(values, key=abs)
    low, middle, high = (_difference(nodes[:count], values) / step for count in (5, 7, 9))
    return high, high - middle, middle - low


def derivative_jump(values: Mapping[int, Array], step: float) -> float:
    """Return the largest difference of the one-sided derivatives, since central differences do not detect a kink."""
    sides = [[node for node in values if 0 <= sign * node <= 4] for sign in (1, -1)]
    if min(map(len, sides)) < 5:
        return 0.0
    right, left = (_difference(nodes, values) / step for nodes in sides)
    return float(np.abs(right - left).max(initial=0.0))


def _difference(nodes: Sequence[int], values: Mapping[int, Array]) -> Array:
    changes = [
        weight * (values[node] - values[0])
        for node, weight in zip(nodes, derivative_weights(nodes), strict=True)
        if node
    ]
    return np.asarray(sum(changes))


def estimated_error(last: Array, before: Array) -> float:
    """Estimate the error of a derivative from its last two corrections, which decrease in geometric progression."""
    latest, earlier = (float(np.abs(change).max(initial=0.0)) for change in (last, before))
    return latest * min(1.0, latest / earlier) if earlier else latest
