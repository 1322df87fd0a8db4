"""Rows as functions of one field: rational interpolation, with as few nodes as it takes.

Numbers of a robot are smooth in each of its fields, and often have poles beyond its range: a length to the minus third
power, modes with a tip mass, which change fastest where that mass goes to zero. Quotients of polynomials meet those
with a fraction of the nodes that polynomials take. Of Chebyshev's nodes every other one is met by construction
(barycentric formula); weights are such that the nodes between are met as well as can be (the idea of the AAA algorithm:
Nakatsukasa, Sete and Trefethen, SIAM J. Sci. Comput. 40, A1494, 2018), and among these those that come closest to a
polynomial's, so that no poles are made that the rows do not have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexarm.foundation.numbers import Array

LEVELS = (3, 5, 9, 17, 33)  # nodes; each has those of the one before
PROBES = 4  # rows by which a level is judged, of the nodes that the next one would add
SHARE = 0.3  # of what is allowed, along one field
LOOKS = 129  # places at which a denominator is looked at
LOST = 1e-6  # of a polynomial's weights: less of them is nothing

Line = Callable[[float], Array]  # from a place between -1 and 1 to a row


@dataclass(frozen=True)
class Axis:
    """Places of nodes between -1 and 1, and by entry of a row the weights of the rows there."""

    nodes: Array
    weights: Array  # (nodes, entries)

    def at(self, local: Array, rows: Array, of_points: bool = False) -> Array:
        """(points, ..., entries) from rows (nodes, ..., entries), or from those of each point (points, nodes, ...,
        entries). A point on a node has its row, whatever the weights."""
        away = local[:, None] - self.nodes
        met = away == 0
        exact = met.any(axis=1)
        inverse = np.where(exact[:, None], met, 1 / np.where(met, 1.0, away))
        between = (1,) * (rows.ndim - of_points - 2)
        sums = (inverse @ self.weights).reshape(len(local), *between, -1)
        weighted = rows * self.weights.reshape(len(self.nodes), *between, -1)
        values = _summed(inverse, weighted, of_points) / sums
        if exact.any():
            values[exact] = _summed(inverse[exact], rows[exact] if of_points else rows, of_points)
        return values

    def only(self, entries: Array) -> Axis:
        return Axis(self.nodes, self.weights[:, entries])


def _summed(factors: Array, rows: Array, of_points: bool) -> Array:
    """(points, ..., entries) of factors (points, nodes): sums over the nodes of rows, which may be those of points."""
    if of_points:
        return np.asarray(np.einsum("xn,xn...e->x...e", factors, rows))
    return (factors @ rows.reshape(len(rows), -1)).reshape(len(factors), *rows.shape[1:])


def axis(line: Line, largest: Callable[[Array], Array], close: Array, least: int = 0) -> Axis | None:
    """Along a line of rows; None where no level is enough.

    largest: of rows, by entry, with what a difference is compared. close: by entry, how small that must be.
    least: nodes that it must have.
    """
    for count in LEVELS:
        if count // 2 + 1 < least:
            continue
        nodes, places = chebyshev(count), _probes(count)
        rows, probes = (np.stack([line(each) for each in some]) for some in (nodes, places))
        scale = largest(rows)
        made = Axis(nodes[::2], _weights(nodes, rows / scale, SHARE * close))
        off = np.abs(made.at(places, rows[::2]) - probes) / scale
        if (off <= SHARE * close).all() and not _has_poles(made):
            return made
    return None


def chebyshev(count: int) -> Array:
    """Nodes from -1 to 1, both among them; the one in the middle is 0."""
    nodes = -np.cos(np.pi * np.arange(count) / (count - 1))
    nodes[count // 2] = 0.0
    return nodes


def _probes(count: int) -> Array:
    """Some of the nodes that the next level would add, the outermost among them."""
    new = chebyshev(2 * count - 1)[1::2]
    return np.asarray(new[np.unique(np.linspace(0, len(new) - 1, PROBES).round().astype(int))])


def _weights(nodes: Array, rows: Array, close: Array) -> Array:
    """Of every other node, (nodes, entries): those of a polynomial, as far as the rows between leave that open."""
    met = nodes[::2]
    plain = np.array([1 / np.prod(each - met[met != each]) for each in met])
    plain /= np.linalg.norm(plain)
    weights = np.repeat(plain[:, None], rows.shape[1], axis=1)
    moved = (rows != rows[0]).any(axis=0)  # few of many entries
    weights[:, moved] = _nearest(plain, nodes, rows[:, moved], close[moved])
    return weights


def _nearest(plain: Array, nodes: Array, rows: Array, close: Array) -> Array:
    """Of weights (nodes, entries) that meet the rows between, those that come closest to the plain ones."""
    met, between = nodes[::2], nodes[1::2]
    loewner = (rows[1::2, None] - rows[None, ::2]) / (between[:, None] - met)[:, :, None]
    _, sizes, directions = np.linalg.svd(np.moveaxis(loewner, 2, 0))
    free = np.ones((rows.shape[1], len(met)), dtype=bool)
    free[:, : sizes.shape[1]] = sizes <= close[:, None]
    along = np.where(free, directions @ plain, 0.0)
    weights = np.einsum("en,enm->em", along, directions)
    lost = np.abs(along).max(axis=1) < LOST
    weights[lost] = directions[lost, -1]  # the one direction that meets them best
    return np.asarray(weights.T)


def _has_poles(made: Axis) -> bool:
    """Whether the denominator of any entry changes its sign between the nodes."""
    places, count = np.linspace(-1, 1, LOOKS), len(made.nodes)
    products = [np.prod(places[:, None] - np.delete(made.nodes, k), axis=1) for k in range(count)]
    denominators = np.stack(products, axis=1) @ made.weights
    return bool(((denominators.min(axis=0) <= 0) & (denominators.max(axis=0) >= 0)).any())
