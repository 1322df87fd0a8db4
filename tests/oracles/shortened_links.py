"""Serial robots of hinges whose links shorten when they bend: transformation matrices and the kinetic energy's terms.

The high-order model of the spatial manipulators of n flexible links and n flexible joints of Advances in Mechanical
Engineering 2013, 216014 (doi 10.1155/2013/216014), which extends `transformation_matrices` by the longitudinal
shortening. A point of link i is W_i h with

    h = h0 + h1 + h2,   h0 = (1, x, 0, 0),   h1 = sum_k delta_k n_k(x),   h2 = 1/2 sum_lk delta_l delta_k s_lk(x),

s_lk = -int_0^x (v_l' v_k' + w_l' w_k') along the axis. The kinetic energy of a link is

    T = 1/2 Tr(dW G dW') + sum_k ddelta_k Tr(dW D_k W') + 1/2 sum_lk ddelta_l ddelta_k Tr(W C_lk W'),
    G = int mu h h',   D_k = int mu h h_k',   C_lk = int mu h_l h_k',   h_k = dh / ddelta_k,

which is what the coefficients of the paper's eqs. 21 to 23 add up to; its underlined terms are those with h2. The mass
matrix follows from the derivatives of all W_i by the coordinates, the other forces from Lagrange's equations with
derivatives of the mass matrix and of the potential by complex steps, so that they are known to rounding.

The integrals are sums over Gauss points, those from the root to a point over Gauss points of their own. Options:

- `order`: products of a term of order a with one of order b, rates counted as deflections, are kept up to a + b. The
  paper keeps all (4). Equations that are linear in the deflection need 2, and flexarm keeps these.
- `products`: flexarm's shapes describe curvatures in the axes of the bent section, which gives h2 and the angles at the
  tip products of two families, too: stretch and twist move points of a bent link across its axis, bending in two planes
  rolls its sections. The paper has the shortening alone (False).
- `definite`: terms of third and fourth order with which flexarm keeps the mass matrix definite (docs/theory.md): the
  shortening as a line sigma x in the angular momentum, and squares of what stretch and twist sweep.
- `linear` and `spin` are those of `transformation_matrices`. Masses at the tip have all terms whatever `order` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tests.oracles import transformation_matrices
from tests.oracles.transformation_matrices import CLAMPED_FREE, Link, Matrix, bending, pseudo_inertia, rod, skew, turns

POINTS = np.polynomial.legendre.leggauss(40)
STEP = 1e-30
LEVER, SWING = 4 / 3, 1 / 2  # share of the line sigma x, and of its rate


@dataclass(frozen=True)
class Arm(transformation_matrices.Arm):
    """Links one behind the other, the first on the ground, as in `transformation_matrices`."""

    order: int = 4
    products: bool = True
    definite: bool = False

    def equations(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """M and h of M q'' + h = generalised forces."""
        M, _ = self._energies(q)
        steps = [self._energies(q + 1j * STEP * row) for row in np.eye(len(q))]
        rates = np.array([mass.imag for mass, _ in steps]) / STEP
        h = np.einsum("kij,k,j->i", rates, v, v) - np.einsum("ijk,j,k->i", rates, v, v) / 2
        h += np.array([potential.imag for _, potential in steps]) / STEP
        return self._with_joints(M, h, q)

    def _energies(self, q: Matrix) -> tuple[Matrix, complex]:
        """Mass matrix and potential of the weight of all links, without rotors and springs."""
        count = len(q)
        V, by_q = _homogeneous(np.zeros(3), self.base), np.zeros((count, 4, 4))
        M, potential = np.zeros((count, count), q.dtype), 0.0
        for k, (beam, (joint, elastic)) in enumerate(zip(self._beams, self._places(), strict=True)):
            link = beam.link
            place = _homogeneous(np.array(link.offset if k else (0.0, 0.0, 0.0)), link.mount)
            R, slope, _ = turns(np.array(link.axis), q[joint])
            A = place @ _homogeneous(np.zeros(3), R)
            W, by_q = V @ A, by_q @ A
            by_q[joint, :, 1:] += (V @ place)[:, 1:] @ slope
            G, D, C = beam.coefficients(q[elastic], self.order, self.definite, self.spin)
            mixed = np.einsum("iab,kbc,ac->ik", by_q, D, W)
            M += np.einsum("iab,bc,jac->ij", by_q, G, by_q)
            M[:, elastic] += mixed
            M[elastic, :] += mixed.T
            M[elastic, elastic] += np.einsum("ab,lkbc,ac->lk", W, C, W) + beam.polar
            potential -= np.array([0.0, *self.gravity]) @ W @ G[:, 0]
            E, by_delta = self._tip(beam, q[elastic])
            V, by_q = W @ E, by_q @ E
            by_q[elastic] += W @ by_delta
        return M, potential

    def _tip(self, beam: Beam, delta: Matrix) -> tuple[Matrix, Matrix]:
        """Return E and its derivatives by each delta."""
        moves, angles = beam.link.tip
        F, Q = beam.tip_forms
        place = np.array([beam.link.length, 0, 0]) + delta @ moves + delta @ F @ delta / 2
        by_place = moves + np.einsum("akl,l->ka", F, delta)
        R, by_angle, _ = self._turned(delta @ angles + delta @ Q @ delta / 2, np.zeros(3))
        by_R = np.einsum("ka,abc->kbc", angles + np.einsum("akl,l->ka", Q, delta), by_angle)
        out = np.zeros((len(delta), 4, 4), R.dtype)
        out[:, 1:, 0], out[:, 1:, 1:] = by_place, by_R
        return _homogeneous(place, R), out

    @cached_property
    def _beams(self) -> list[Beam]:
        return [Beam(link, self.products) for link in self.links]


@dataclass(frozen=True)
class Beam:
    """A link with its displacements of second order."""

    link: Link
    products: bool

    @cached_property
    def tip_forms(self) -> tuple[Matrix, Matrix]:
        """(3, n, n): forms of displacements and of angles of second order."""
        return self.forms(self.link.length)

    def forms(self, x: float) -> tuple[Matrix, Matrix]:
        """Forms of displacements and angles of second order at x, delta' F delta / 2."""
        s, weights = (POINTS[0] + 1) * x / 2, POINTS[1] * x / 2
        du, dv, dw, theta, ddv, ddw = _families(self.link, s)

        def both(one: Matrix, other: Matrix, lever: Matrix | float = 1.0) -> Matrix:
            product = one.T @ (np.reshape(weights * lever, (-1, 1)) * other)
            return product + product.T

        arm, none = x - s, np.zeros((self.link.count, self.link.count))
        shortening = -(both(dv, dv) + both(dw, dw)) / 2
        if not self.products:
            return np.array([shortening, none, none]), np.array([none, none, none])
        across = both(du, dv) - both(theta, ddw, arm), both(du, dw) + both(theta, ddv, arm)
        return np.array([shortening, *across]), -np.array([both(dw, ddv), both(theta, ddv), both(theta, ddw)])

    @cached_property
    def points(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Masses of the axis' points, h0 (p, 4), n_k (p, n, 4) and s_lk (p, 4, n, n)."""
        x, weights, moves, _ = self.link.points
        return self._points(x, self.link.mass * weights, moves)

    @cached_property
    def lump(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """The same of the mass at the tip."""
        x = np.array([self.link.length])
        return self._points(x, np.array([self.link.tip_mass]), self.link.shapes(x)[0])

    def _points(self, x: Matrix, mass: Matrix, moves: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        still, second = np.zeros((len(x), 4)), np.zeros((len(x), 4, self.link.count, self.link.count))
        still[:, 0], still[:, 1] = 1, x
        second[:, 1:] = [self.forms(each)[0] for each in x]
        return mass, still, moves, second

    @cached_property
    def polar(self) -> Matrix:
        """(n, n): int j theta_l theta_k."""
        return self.link.constants(True)[3]

    def coefficients(self, delta: Matrix, order: int, definite: bool, spin: bool) -> tuple[Matrix, Matrix, Matrix]:
        """G (4, 4), D_k (n, 4, 4) and C_lk (n, n, 4, 4) at a deflection."""
        axis, lump = _products(self.points, delta, order), _products(self.lump, delta, 4)
        G, D, C = (one + other for one, other in zip(axis, lump, strict=True))
        if self.link.inertia is not None:
            G += pseudo_inertia(*self.link.inertia)
        if spin:
            _, weights, _, angles = self.link.points
            G += np.diag([0, -1, 1, 1]) * self.link.spin * weights.sum() / 2
            D[:, 1:, 1:] += (
                np.einsum("p,pk,ab->kab", self.link.spin * weights, angles[:, :, 0], -skew(np.eye(3)[0])) / 2
            )
        if definite:
            for total, more in zip((G, D, C), self._definite(delta), strict=True):
                total += more
        return G, D, C

    def _definite(self, delta: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Return the terms of third and fourth order that flexarm keeps."""
        mass, still, moves, second = self.points
        x, n = still[:, 1], len(delta)
        G, D, C = (np.zeros((*shape, 4, 4), delta.dtype) for shape in ((), (n,), (n, n)))
        if not n:
            return G, D, C
        # The shortening as a line, int mu x (sigma x) = int mu x s.
        b = np.einsum("p,pka->ka", mass * x, moves)
        form = -np.einsum("p,plk->lk", mass * x, second[:, 1]) / (mass @ x**2)
        sigma, rate = delta @ form @ delta / 2, form @ delta
        shift = -LEVER * sigma * (delta @ b)
        G[1, :] += shift
        G[:, 1] += shift
        D[:, 1, :] += SWING * np.outer(rate, delta @ b) - LEVER * sigma * b
        C[:, :, 1, 1] -= np.outer(rate, b[:, 1]) + np.outer(b[:, 1], rate)
        # What stretch and twist sweep across the axis: as a line in x that shapes of bending can do.
        lines = np.array([np.ones_like(x), x])
        for axis, other in ((2, 3), (3, 2)):
            first = np.einsum("ip,pk->ik", mass * lines, moves[:, :, axis])
            swept = np.einsum("ip,plk,k->il", mass * lines, second[:, axis], delta)
            if not second[:, axis].any():
                continue
            bends = moves[:, np.abs(moves[:, :, axis]).any(0), axis]
            images = lines.T
            if bends.shape[1] > 1:
                images = bends @ np.linalg.solve(bends.T @ (mass[:, None] * bends), bends.T @ (mass * lines).T)
            fitted = np.linalg.pinv(images.T @ (mass[:, None] * images), rcond=1e-9) @ swept
            places = np.einsum("ip,pk,k->i", mass * lines, moves[:, :, other], delta)
            D[:, other, axis] += places @ fitted
            C[:, :, 1, 1] += first.T @ fitted + fitted.T @ first + swept.T @ fitted
        return G, D, C


def _products(points: tuple[Matrix, Matrix, Matrix, Matrix], delta: Matrix, order: int) -> tuple[Matrix, ...]:
    """Sum mu h h', mu h h_k' and mu h_l h_k' over points, products of terms up to an order."""
    mass, still, moves, second = points
    bent = second @ delta  # (p, 4, n)
    h = [still, np.einsum("k,pka->pa", delta, moves), bent @ delta / 2]
    by_delta = {1: moves, 2: bent.transpose(0, 2, 1)}
    G = sum(_sum("p,pa,pb->ab", mass, h[i], h[j]) for i in range(3) for j in range(3) if i + j <= order)
    D = sum(_sum("p,pa,pkb->kab", mass, h[i], by_delta[j]) for i in range(3) for j in (1, 2) if i + j <= order)
    C = sum(_sum("p,pla,pkb->lkab", mass, by_delta[i], by_delta[j]) for i in (1, 2) for j in (1, 2) if i + j <= order)
    return np.asarray(G), np.asarray(D), np.asarray(C)


def _sum(how: str, *arrays: Matrix) -> Matrix:
    return np.einsum(how, *arrays, optimize=True)


def _families(link: Link, x: Matrix) -> list[Matrix]:
    """(points, n): u', v', w', theta, v'' and w'' of each shape."""
    names = ("stretch", "bend_y", "bend_z", "twist", "bend_y", "bend_z")
    kinds = (1, 1, 1, 0, 2, 2)
    out = []
    for family, kind in zip(names, kinds, strict=True):
        values = np.zeros((len(x), link.count))
        if family in link.families:
            start = link.families.index(family) * link.modes
            scale = 1 / np.sqrt(link.length * (link.spin if family == "twist" else link.mass)) / link.length**kind
            for k in range(link.modes):
                values[:, start + k] = scale * _shape(family, k, kind, x / link.length)
        out.append(values)
    return out


def _shape(family: str, k: int, kind: int, x: Matrix) -> Matrix:
    if kind < 2:
        return (bending if family.startswith("bend") else rod)(k, x)[kind]
    z = CLAMPED_FREE[k]
    sigma = (np.cosh(z) + np.cos(z)) / (np.sinh(z) + np.sin(z))
    return (-1) ** k * z**2 * (np.cosh(z * x) + np.cos(z * x) - sigma * (np.sinh(z * x) + np.sin(z * x)))


def _homogeneous(place: Matrix, R: Matrix) -> Matrix:
    """Return a transformation of vectors with a leading one, which may be complex."""
    out = np.eye(4, dtype=np.result_type(place, R))
    out[1:, 0], out[1:, 1:] = place, R
    return out
