"""The mass of a link that bends in one plane by any angle: stiffening "exact".

With dt_h the rates of the directions at its nodes, T = 1/2 m V.V + V . sum beta_h dt_h + 1/2 sum B_hk dt_h . dt_k; two
nodes meet in the cosine and sine of the angle between them.
"""

from __future__ import annotations

import numpy as np

from flexarm.beam.nodes import LinkNodes
from flexarm.foundation.numbers import Array
from flexarm.symbolic import exact
from flexarm.symbolic.algebra import ZERO, Expr, Rows, Vector, cos, number, plus, sin, times
from flexarm.symbolic.exact import Node
from flexarm.symbolic.pieces import Piece
from flexarm.symbolic.scales import Power
from flexarm.symbolic.stiffened_part import StiffenedPart

Pair = tuple[Expr, Expr]
"""A vector along and across the direction of a node."""


class ExactPart(StiffenedPart):
    """A link that no joint grips."""

    def points(self) -> Piece:
        nodes = exact.nodes(self.beam)
        first, second = moments(LinkNodes(self.integrals))
        scales = self.beam.scales
        beta = [scales(float(value), Power(ml=1, l=1)) for value in first]
        B: Rows = [[scales(float(value), Power(ml=1, l=2)) for value in row] for row in second]
        places = [(node.stretch, number(0)) for node in nodes]
        rates = [[(node.stretching[p], node.stretch * node.turning[p]) for node in nodes] for p in range(self.n)]
        turned = [_crosses(B, nodes, places, each) for each in rates]
        return Piece(
            scales(self.integrals.m, Power(ml=1)),
            _weighted(beta, nodes, places),
            self._inertia(B, nodes, _dots(B, nodes, places, places)),
            list(self.shapes.columns),
            [_weighted(beta, nodes, each) for each in rates],
            [(0, 0, each) if exact.turning_axis(self.beam) == 2 else (0, each, 0) for each in turned],
            [[_dots(B, nodes, one, other) for other in rates] for one in rates],
        )

    def _inertia(self, B: Rows, nodes: list[Node], whole: Expr) -> Rows:
        """Return the inertia about the root from that about the axis across the plane of bending."""
        if self.beam.planar:
            return [[0, 0, 0], [0, 0, 0], [0, 0, whole]]  # a planar robot turns about z only
        t, G = [node.direction for node in nodes], [[number(0)] * 3 for _ in range(3)]
        for p in range(3):
            for q in range(p, 3):
                pairs = ((B[h][k], t[h][p] * t[k][q]) for h in range(len(t)) for k in range(len(t)))
                G[p][q] = G[q][p] = sum((weight * product for weight, product in pairs), number(0))
        return [[(whole if p == q else 0) - G[p][q] for q in range(3)] for p in range(3)]


def moments(nodes: LinkNodes) -> tuple[Array, Array]:
    """beta = int mu L and B = int mu L L^T over all nodes of a link, each piece beginning at the end of the last."""
    count = len(nodes.places)
    beta, B, start = np.zeros(count), np.zeros((count, count)), np.zeros(count)
    for k, piece in enumerate(nodes.pieces):
        own = slice(k * nodes.per_piece, (k + 1) * nodes.per_piece)
        inside, mixed = np.zeros(count), np.zeros((count, count))
        inside[own] = piece.beta
        mixed[own, own] = piece.B
        beta += piece.mass * start + inside
        B += piece.mass * np.outer(start, start) + np.outer(start, inside) + np.outer(inside, start) + mixed
        start[own] = piece.weights
    return beta, B


def _weighted(beta: list[Expr], nodes: list[Node], vectors: list[Pair]) -> Vector:
    """The sum of vectors at the nodes, in the link's axes."""
    each = zip(beta, nodes, vectors, strict=True)
    return plus(ZERO, *(times(weight, node.in_link_axes(*vector)) for weight, node, vector in each))


def _dots(B: Rows, nodes: list[Node], one: list[Pair], other: list[Pair]) -> Expr:
    """sum B_hk one_h . other_k."""
    out = number(0)
    for h, k, c, s in _angles(nodes):
        (a, b), (x, y) = one[h], other[k]
        out += B[h][k] * (c * (a * x + b * y) + s * (b * x - a * y))
    return out


def _crosses(B: Rows, nodes: list[Node], one: list[Pair], other: list[Pair]) -> Expr:
    """sum B_hk one_h x other_k."""
    out = number(0)
    for h, k, c, s in _angles(nodes):
        (a, b), (x, y) = one[h], other[k]
        out += B[h][k] * (c * (a * y - b * x) + s * (a * x + b * y))
    return out


def _angles(nodes: list[Node]) -> list[tuple[int, int, Expr, Expr]]:
    """Pairs of nodes with cosine and sine of the angle from one to the other; that of a pair is written one way."""
    out = []
    for h, one in enumerate(nodes):
        for k, other in enumerate(nodes):
            angle = other.angle - one.angle if h < k else one.angle - other.angle
            out.append((h, k, cos(angle), sin(angle) if h < k else -sin(angle)))
    return out
