"""Nodes along a geometrically exact link, and the constants of its kinetic energy.

The axis is r(x) = int_0^x t dx, with t = (1 + u') R e_x the direction of the axis times its stretch. t is computed at
nodes (Gauss points of each piece of the link) and interpolated between them by polynomials with a correction, so that
functions linear in the shapes (1, u', v', w') are reproduced exactly. Then r(x) = sum_h L_h(x) t_h, and the kinetic
energy has constant coefficients: with V the velocity of the start of a piece,

    1/2 int mu |V + sum_h L_h dt_h|^2 = 1/2 m V.V + V . sum_h beta_h dt_h + 1/2 sum_hk B_hk dt_h . dt_k.

It is a sum of squares for any nodes, so the mass matrix of a link is definite in every configuration.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from flexarm.beam import polynomials
from flexarm.beam.bases import quadrature
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, merge_breaks
from flexarm.beam.properties import rotation
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import Reduced, Splines

# Smaller relative singular values are rounding, since shapes of two families may be the same functions.
SINGULAR_VALUE_TOLERANCE = 1e-9

NODES_PER_ELEMENT = 3  # slopes of Hermite cubics are quadratic


@dataclass(frozen=True)
class NodePiece:
    """Nodes and integrals of a part of a link between steps of its section, or of an element."""

    start: float
    end: float
    nodes: Array  # (G,): x of the nodes
    mass: float
    beta: Array  # (G,): int mu L_h
    B: Array  # (G, G): int mu L_h L_k
    weights: Array  # (G,): L_h at the end
    spin: Array  # (3, G, G): int j l_h l_k, j the rotary inertia about each axis, l_h the interpolation of rotations


class LinkNodes:
    """Nodes of a flexible link, piece by piece."""

    def __init__(self, integrals: LinkIntegrals) -> None:
        self._of = integrals
        self._separating_counts: dict[int, int] = {}

    @cached_property
    def breaks(self) -> Array:
        """Ends of the pieces: each element is a piece; modes are smooth between steps of the section."""
        of, meshed = self._of, self.meshed
        if meshed:
            return merge_breaks(*(space.breaks for space in of.shapes.values()), of.properties.steps)
        return of.properties.steps[[0, -1]] if of.smooth else of.properties.steps

    @property
    def meshed(self) -> bool:
        """True if the shapes are those of elements or splines."""
        flexible = self._of.link.flexible
        return flexible is not None and flexible.meshed

    @property
    def per_piece(self) -> int:
        """Number of nodes on each piece.

        Foreshortening consists of products of two shapes, so twice the shapes of a family are needed; these also
        reproduce all functions linear in the shapes.
        """
        if self.meshed:
            basis = getattr(self._of.link.flexible, "basis", None)
            return basis.degree if isinstance(basis, Splines) else NODES_PER_ELEMENT
        widths: dict[str, int] = {name: place.stop - place.start for name, place in self._of.columns.items()}
        bends = [widths[name] for name in ("bend_y", "bend_z") if name in widths] or [0]
        enough = 2 * max(bends) + (1 if len(bends) > 1 else 0)
        count = max(enough, max(bends) + 2, 2 * widths.get("twist", 0)) + widths.get("stretch", 0)
        return self._separating_count(count) if self._reduced else count

    @property
    def _reduced(self) -> bool:
        flexible = self._of.link.flexible
        return flexible is not None and isinstance(flexible.basis, Reduced)

    def _separating_count(self, count: int) -> int:
        """Increase a count of nodes until they distinguish component modes, whose slopes jump inside a piece."""
        if count not in self._separating_counts:
            self._separating_counts[count] = self._find_separating_count(count)
        return self._separating_counts[count]

    def _find_separating_count(self, count: int) -> int:
        spaces = [(one, of) for of in self._of.shapes.values() for one in (of.derivative(), rotation(of))]
        finest = Grid(merge_breaks(self.breaks, *(of.breaks for _, of in spaces)), 2).x
        ends = [*zip(self.breaks[:-1].tolist(), self.breaks[1:].tolist(), strict=True)]

        def separated(start: float, end: float, x: Array) -> bool:
            everywhere = finest[(finest > start) & (finest < end)]
            return all(_rank(one(x)) == _rank(one(everywhere)) for one, _ in spaces)

        while count < len(finest) and not all(
            separated(start, end, Grid(np.array([start, end]), count).x) for start, end in ends
        ):
            count += 1
        return count

    @cached_property
    def places(self) -> Array:
        """Places x of all nodes, piece by piece."""
        return Grid(self.breaks, self.per_piece).x

    @cached_property
    def _grid(self) -> Grid:
        """Grid for products of two interpolations, whose degree is higher than that of the shapes of a mesh."""
        of = self._of
        densities = [of.properties.mass, *of.rotary]
        usual = quadrature([*of.shapes.values()], densities)
        return Grid(usual.breaks, max(usual.count, self.per_piece + 1 + max(each.degree for each in densities) // 2))

    @cached_property
    def pieces(self) -> list[NodePiece]:
        """Nodes and integrals of each piece."""
        of = self._of
        rotary = of.rotary
        grid = self._grid
        mass = grid.weights * of.properties.mass(grid)[:, 0]
        inertia = np.stack([grid.weights * each(grid)[:, 0] for each in rotary])
        found = []
        for k, (start, end) in enumerate(zip(self.breaks[:-1].tolist(), self.breaks[1:].tolist(), strict=True)):
            inside = slice(*np.searchsorted(grid.x, [start, end]).tolist())
            x = grid.x[inside]
            L, spin = self._axis[k].integral(x), self._turns[k].values(x)
            m = mass[inside]
            forms = np.zeros((3, self.per_piece, self.per_piece))
            for axis, weights in enumerate(inertia[:, inside]):
                forms[axis] = spin.T @ (weights[:, None] * spin)
            ends = self._axis[k].integral(np.array([end]))[0]
            nodes = self._axis[k].nodes
            found.append(NodePiece(start, end, nodes, float(m.sum()), m @ L, L.T @ (m[:, None] * L), ends, forms))
        return found

    @cached_property
    def _axis(self) -> list[_Interpolation]:
        """Interpolation of the direction of the axis on each piece."""
        spaces = [of for name, of in self._of.shapes.items() if name != "twist"]
        return self._interpolations([(space.derivative(), space) for space in spaces])

    @cached_property
    def _turns(self) -> list[_Interpolation]:
        """Interpolation of the rotation of the sections and of its rates on each piece."""
        shapes = self._of.shapes
        spaces = [rotation(shapes[name]) for name in ("bend_y", "bend_z") if name in shapes]
        spaces += [shapes["twist"]] if "twist" in shapes else []
        return self._interpolations([(space, space.integral()) for space in spaces])

    def _interpolations(self, exact: list[tuple[PiecewisePolynomials, PiecewisePolynomials]]) -> list[_Interpolation]:
        ends = zip(self.breaks[:-1].tolist(), self.breaks[1:].tolist(), strict=True)
        return [_Interpolation(start, end, self.per_piece, [] if self.meshed else exact) for start, end in ends]

    def convected_integrals(self) -> tuple[Array, Array]:
        """Return int mu L_h C_k and int mu C_h C_k of a link of one piece, shape (G, G) each.

        C = L + (length - x) L' is the velocity of material that flows through the shapes of a sliding link. For a
        uniform link int mu C is 2 beta.
        """
        (only,), of = self._axis, self._of
        grid = self._grid
        mass = (grid.weights * of.properties.mass(grid)[:, 0])[:, None]
        L = only.integral(grid.x)
        C = L + (of.length - grid.x)[:, None] * only.values(grid.x)
        return L.T @ (mass * C), C.T @ (mass * C)

    def weights(self, x: float) -> Array:
        """Return the weights of the directions at the nodes in r(x), shape (nodes,)."""
        out = np.zeros(len(self.places))
        for k, piece in enumerate(self.pieces):
            own = slice(k * self.per_piece, (k + 1) * self.per_piece)
            if x >= piece.end:
                out[own] = piece.weights
            elif x > piece.start:
                out[own] = self._axis[k].integral(np.array([x]))[0]
        return out

    def weight_functions(self) -> PiecewisePolynomials:
        """Return the weights as functions of x, for a joint that slides along a link of one piece."""
        (only,) = self._axis
        spaces = self._of.shapes.values()
        breaks = merge_breaks(*(space.breaks for space in spaces))
        degree = max(only.count, *(space.degree for space in spaces))
        values = only.integral(Grid(breaks, degree + 1).x).reshape(len(breaks) - 1, degree + 1, only.count)
        return PiecewisePolynomials(breaks, np.einsum("kg,pgn->kpn", polynomials.projection(degree), values))


def link_nodes(integrals: LinkIntegrals) -> LinkNodes:
    """Return the nodes of a link, cached with its integrals."""
    found: LinkNodes = vars(integrals).setdefault("_nodes", LinkNodes(integrals))
    return found


def _rank(values: Array) -> int:
    """Return the rank of functions together with a constant."""
    if not values.size:
        return 0
    whole = np.hstack([np.ones((len(values), 1)), values / (np.abs(values).max() or 1.0)])
    sizes = np.linalg.svd(whole, compute_uv=False)
    return int((sizes > SINGULAR_VALUE_TOLERANCE * sizes[0]).sum())


class _Interpolation:
    """Interpolation through the Gauss points of an interval.

    It is exact for the functions `exact` (with their antiderivatives) if there are enough nodes to distinguish them.
    """

    def __init__(
        self, start: float, end: float, count: int, exact: list[tuple[PiecewisePolynomials, PiecewisePolynomials]]
    ) -> None:
        self.start, self.end, self.count = start, end, count
        self.nodes = Grid(np.array([start, end]), count).x
        self._exact = exact
        self._at_nodes = np.hstack([np.zeros((count, 0)), *(function(self.nodes) for function, _ in exact)])
        # least-squares amplitudes of the functions without their mean, which polynomials reproduce
        varying = self._at_nodes - self._at_nodes.mean(axis=0)
        left, sizes, right = np.linalg.svd(varying, full_matrices=False)
        kept = sizes > SINGULAR_VALUE_TOLERANCE * np.linalg.norm(self._at_nodes)
        amplitudes = right.T[:, kept] / sizes[kept] @ left[:, kept].T
        self._amplitudes = amplitudes - amplitudes.mean(axis=1, keepdims=True)

    def _polynomials(self, x: Array) -> Array:
        """Return the Legendre polynomials of this interval at x, shape (points, degrees)."""
        return polynomials.legendre_values((2 * x - self.start - self.end) / (self.end - self.start), self.count - 1)

    def values(self, x: Array) -> Array:
        """Return the interpolation functions at x, shape (points, nodes)."""
        plain = self._polynomials(x) @ polynomials.projection(self.count - 1)
        return self._corrected(plain, [function(x) for function, _ in self._exact])

    def integral(self, x: Array) -> Array:
        """Return the integrals of the interpolation functions from the start to x, shape (points, nodes)."""
        local = (2 * x - self.start - self.end) / (self.end - self.start)
        powers = (
            polynomials.legendre_values(local, self.count)
            @ polynomials.integration(self.count - 1)
            * ((self.end - self.start) / 2)
        )
        begin = np.array([self.start])
        grown = [whole(x) - whole(begin) for _, whole in self._exact]
        return self._corrected(powers @ polynomials.projection(self.count - 1), grown)

    def _corrected(self, plain: Array, exact: list[Array]) -> Array:
        if not exact:
            return np.asarray(plain)
        return np.asarray(plain + (np.hstack(exact) - plain @ self._at_nodes) @ self._amplitudes)
