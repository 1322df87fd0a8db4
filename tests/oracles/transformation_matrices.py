"""Serial robots of hinges by 4 x 4 transformation matrices, Lagrange's equations and recursive coefficients.

The spatial manipulators of n flexible links and n flexible joints of Advances in Mechanical Engineering 2013, 216014
(doi 10.1155/2013/216014), after W. J. Book, "Recursive Lagrangian dynamics of flexible manipulator arms", International
Journal of Robotics Research 3, 1984. Links have modes of a clamped-free beam: bending, stretch and twist. A point of
link i is W_i h, h = (1, x, 0, 0) + sum_k delta_k n_k(x), and

    W_j = V_{j-1} A_j,   V_j = W_j E_j,   A_j of the joint, E_j = H_j + sum_k delta_jk M_jk of the bent link.

The kinetic energy is a trace of W', W and constants C = int mu h0 h0', C_k = int mu h0 n_k', C_lk = int mu n_l n_k'.
With G = C + sum delta_k (C_k + C_k') + sum delta_l delta_k C_lk and D_k = C_k + sum delta_l C_lk, and with what is
outboard summed up inward,

    F_j = G_j + E_j Phi_j E_j',   Phi_j = A_{j+1} F_{j+1} A_{j+1}',   S_hk = D_hk + E_h Phi_h M_hk',

inertia coefficients are, U_j = dA_j / dq_j and T_jh taking W_j to W_h = W_j T_jh,

    J_jh   = Tr(V_{j-1} U_j T_jh F_h U_h' V_{h-1}')            joint and joint, j <= h
    J_jhk  = Tr(V_{j-1} U_j T_jh S_hk W_h')                    joint and mode, j <= h
    J_jhk  = Tr(V_{j-1} U_j F_j (A_{h+1} T_{h+1,j})' M_hk' W_h')   j > h
    I_jfhk = Tr(W_j M_jf A_{j+1} T_{j+1,h} S_hk W_h')          mode and mode, j < h
    I_hfhk = Tr(W_h (C_hfk + M_hf Phi_h M_hk') W_h') + int j theta_f theta_k

and what is left without second rates, ddW being that of W without those of coordinates, comes from

    Q_j = G_j ddW_j' + 2 sum delta_k' D_jk dW_j' + E_j A_{j+1} Q_{j+1}

in the places of F and S. The coefficients are derived anew here, from the virtual work of the points. This is the
zero-order model, without the terms of the longitudinal shortening.

Two things that the papers do, and what they leave out:

- `linear=True`: E_j is linear in delta, so the section at the tip is turned by 1 + hat(angles), which is no rotation:
  dE/d(delta) lacks terms of first order in the slopes, and so do the coefficients of all modes but those of the last
  link. Here by default E_j turns by the angles about z, then y, then x; M_jk is its derivative, and what is left of its
  second rate goes into ddW.
- `spin=False`: twist moves sections against the link only, 1/2 int j theta'^2. Here by default sections have their
  whole angular velocity about the axis, 1/2 int j (omega_x + theta')^2: C gets j diag(0, -1, 1, 1) / 2, of a body that
  resists turning about x alone, and C_k the skew moment of j theta_k.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

Matrix = np.ndarray

FAMILIES = ("bend_y", "bend_z", "twist", "stretch")
POINTS = np.polynomial.legendre.leggauss(60)
CLAMPED_FREE = (1.8751040687119611, 4.6940911329741745, 7.8547574382376126, 10.995540734875467)


@dataclass(frozen=True)
class Link:
    """A uniform beam along x behind a hinge, with `modes` of each family and its stiffness (EI_z, EI_y, GJ, EA).

    spin: inertia about the axis per length. tip_mass: a point at the far end. inertia: of a rigid body of any shape,
    added to the beam's: mass, centre and inertia about the root, in link axes.
    """

    length: float
    mass: float  # per length
    stiffness: dict[str, float] = field(default_factory=dict)
    modes: int = 0
    spin: float = 0.0
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)  # of the hinge, a unit vector
    mount: Matrix = field(default_factory=lambda: np.eye(3))
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the hinge from the end of the link before
    tip_mass: float = 0.0
    inertia: tuple[float, Matrix, Matrix] | None = None
    spring: float | None = None  # of the joint; None: rigid
    rotor: float = 0.0

    @cached_property
    def families(self) -> list[str]:
        return [name for name in FAMILIES if name in self.stiffness]

    @property
    def count(self) -> int:
        return len(self.families) * self.modes

    def shapes(self, x: Matrix) -> tuple[Matrix, Matrix]:
        """(points, n, 4) displacements with a leading zero, and (points, n, 3) rotations; modes of unit mass."""
        moves, turns = np.zeros((len(x), self.count, 4)), np.zeros((len(x), self.count, 3))
        for start, name in enumerate(self.families):
            for k in range(self.modes):
                column = start * self.modes + k
                value, slope = (bending if name.startswith("bend") else rod)(k, x / self.length)
                scale = 1 / np.sqrt(self.length * (self.spin if name == "twist" else self.mass))
                if name == "twist":
                    turns[:, column, 0] = scale * value
                    continue
                axis = {"stretch": 0, "bend_y": 1, "bend_z": 2}[name]
                moves[:, column, 1 + axis] = scale * value
                if axis:
                    turns[:, column, 3 - axis] = (1, -1)[axis - 1] * scale * slope / self.length
        return moves, turns

    @cached_property
    def K(self) -> Matrix:
        """Diagonal: squares of the frequencies."""
        out = []
        for name in self.families:
            inertia = self.spin if name == "twist" else self.mass
            for k in range(self.modes):
                bends = name.startswith("bend")
                wave = CLAMPED_FREE[k] ** 4 / self.length**4 if bends else ((k + 0.5) * np.pi / self.length) ** 2
                out.append(self.stiffness[name] / inertia * wave)
        return np.diag(out)

    @cached_property
    def tip(self) -> tuple[Matrix, Matrix]:
        """(n, 3): displacements and rotations."""
        moves, turns = self.shapes(np.array([self.length]))
        return moves[0, :, 1:], turns[0]

    @cached_property
    def points(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Of the axis: places, weights, and the shapes there."""
        x, weights = (POINTS[0] + 1) * self.length / 2, POINTS[1] * self.length / 2
        return x, weights, *self.shapes(x)

    def constants(self, spin: bool) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """C (4, 4), C_k (n, 4, 4), C_lk (n, n, 4, 4), and int j theta_l theta_k (n, n)."""
        x, weights, moves, turns = self.points
        x, mass = np.append(x, self.length), np.append(self.mass * weights, self.tip_mass)
        moves = np.concatenate([moves, self.shapes(x[-1:])[0]])
        still = np.zeros((len(x), 4))
        still[:, 0], still[:, 1] = 1, x
        C = np.einsum("p,pa,pb->ab", mass, still, still)
        C_k = np.einsum("p,pa,pkb->kab", mass, still, moves)
        C_lk = np.einsum("p,pla,pkb->lkab", mass, moves, moves)
        polar = self.spin * weights
        if self.inertia is not None:
            C += pseudo_inertia(*self.inertia)
        if spin:
            C += np.diag([0, -1, 1, 1]) * polar.sum() / 2
            twisted = np.einsum("p,pk->k", polar, turns[:, :, 0]) / 2
            C_k[:, 2, 3] += twisted
            C_k[:, 3, 2] -= twisted
        return C, C_k, C_lk, np.einsum("p,pl,pk->lk", polar, turns[:, :, 0], turns[:, :, 0])


@dataclass
class Body:
    """One link at an instant: transformations with rates, and its C, C_k, C_lk put together with delta."""

    joint: int
    elastic: slice
    A: Matrix
    U: Matrix
    E: Matrix
    M: Matrix  # (n, 4, 4): how E changes with each delta
    V: Matrix  # of the link before, W_j = V A_j
    W: Matrix
    dW: Matrix
    ddW: Matrix  # without second rates of the coordinates
    G: Matrix
    D: Matrix
    C_lk: Matrix
    polar: Matrix
    rates: Matrix


@dataclass(frozen=True)
class Arm:
    """Links one behind the other, the first on the ground. Coordinates: of each link the joint, the motor behind a
    spring, then its modes."""

    links: tuple[Link, ...]
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    base: Matrix = field(default_factory=lambda: np.eye(3))
    linear: bool = False
    spin: bool = True

    def equations(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """M and h of M q'' + h = generalised forces."""
        bodies = self._outward(q, v)
        M = np.zeros((len(q), len(q)))
        F, Phi = composites(bodies)

        def put(rows: int | slice, columns: int | slice, block: Matrix) -> None:
            M[rows, columns], M[columns, rows] = block, np.transpose(block)

        for h, outer in enumerate(bodies):
            S = outer.D + outer.E @ Phi[h] @ outer.M.transpose(0, 2, 1)
            own = outer.C_lk + outer.M[:, None] @ Phi[h] @ outer.M.transpose(0, 2, 1)
            put(outer.elastic, outer.elastic, np.einsum("ab,lkbc,ac->lk", outer.W, own, outer.W) + outer.polar)
            pulled = outer.V @ outer.U @ F[h]
            T = np.eye(4)
            for j in range(h, -1, -1):
                inner = bodies[j]
                if j < h:
                    through = bodies[j + 1].A @ T
                    T = inner.E @ through
                    bent = inner.W @ inner.M @ through
                    put(inner.elastic, outer.elastic, np.einsum("fab,kbc,ac->fk", bent, S, outer.W))
                    put(inner.elastic, outer.joint, np.einsum("ab,fab->f", pulled, bent))
                moved = inner.V @ inner.U @ T
                put(inner.joint, outer.joint, np.sum(pulled * moved))
                put(inner.joint, outer.elastic, np.einsum("ab,kbc,ac->k", moved, S, outer.W))
        return self._with_joints(M, self._remains(bodies, len(q)), q)

    def accelerations(self, q: Matrix, v: Matrix, forces: Matrix) -> Matrix:
        M, h = self.equations(q, v)
        return np.linalg.solve(M, forces - h)

    def motion(self, q: Matrix, v: Matrix, forces: Matrix, times: Matrix) -> Matrix:
        """(times, n): coordinates under constant forces."""
        from scipy.integrate import solve_ivp

        n = len(q)
        solved = solve_ivp(
            lambda t, y: np.concatenate([y[n:], self.accelerations(y[:n], y[n:], forces)]),
            (times[0], times[-1]),
            np.concatenate([q, v]),
            method="DOP853",
            t_eval=times,
            rtol=1e-9,
            atol=1e-11,
        )
        return np.asarray(solved.y[:n].T)

    # --- outward: transformations ---

    def _places(self) -> list[tuple[int, slice]]:
        """Of each link's joint and modes."""
        out, start = [], 0
        for link in self.links:
            first = start + 1 + (link.spring is not None)
            out.append((start, slice(first, first + link.count)))
            start = first + link.count
        return out

    def _outward(self, q: Matrix, v: Matrix) -> list[Body]:
        V, dV, ddV = homogeneous(np.zeros(3), self.base), np.zeros((4, 4)), np.zeros((4, 4))
        out = []
        for k, (link, (joint, elastic)) in enumerate(zip(self.links, self._places(), strict=True)):
            place = homogeneous(np.array(link.offset if k else (0.0, 0.0, 0.0)), link.mount)
            A, U, UU = (place @ each for each in hinge(np.array(link.axis), q[joint]))
            W = V @ A
            dW = dV @ A + V @ U * v[joint]
            ddW = ddV @ A + 2 * dV @ U * v[joint] + V @ UU * v[joint] ** 2
            delta, rates = q[elastic], v[elastic]
            E, M, ddE = self._bent(link, delta, rates)
            dE = np.einsum("k,kab->ab", rates, M)
            C, C_k, C_lk, polar = self._constants[k]
            D = C_k + np.einsum("l,lkab->kab", delta, C_lk)
            G = C + np.einsum("k,kab->ab", delta, C_k + C_k.transpose(0, 2, 1))
            G += np.einsum("l,k,lkab->ab", delta, delta, C_lk)
            out.append(Body(joint, elastic, A, U, E, M, V, W, dW, ddW, G, D, C_lk, polar, rates))
            V, dV, ddV = W @ E, dW @ E + W @ dE, ddW @ E + 2 * dW @ dE + W @ ddE
        return out

    @cached_property
    def _constants(self) -> list[tuple[Matrix, Matrix, Matrix, Matrix]]:
        return [link.constants(self.spin) for link in self.links]

    def _bent(self, link: Link, delta: Matrix, rates: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """E, its derivatives by each delta, and its second rate without second rates of delta."""
        moves, turns = link.tip
        place = np.array([link.length, 0, 0]) + delta @ moves
        R, by_angle, drift = self._turned(delta @ turns, rates @ turns)
        M = np.zeros((link.count, 4, 4))
        M[:, 1:, 0] = moves
        M[:, 1:, 1:] = np.einsum("ka,abc->kbc", turns, by_angle)
        ddE = np.zeros((4, 4))
        ddE[1:, 1:] = drift
        return homogeneous(place, R), M, ddE

    def _turned(self, angles: Matrix, rates: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Axes turned by angles (about x, y, z), derivatives by each angle, second rate without theirs."""
        hats = np.array([skew(axis) for axis in np.eye(3)])
        if self.linear:
            return np.eye(3) + np.einsum("a,abc->bc", angles, hats), hats, np.zeros((3, 3))
        x, y, z = (turns(axis, angle) for axis, angle in zip(np.eye(3), angles, strict=True))
        first = np.array([z[0] @ y[0] @ x[1], z[0] @ y[1] @ x[0], z[1] @ y[0] @ x[0]])
        drift = (
            z[0] @ y[0] @ x[2] * rates[0] ** 2 + z[0] @ y[2] @ x[0] * rates[1] ** 2 + z[2] @ y[0] @ x[0] * rates[2] ** 2
        )
        drift += 2 * z[0] @ y[1] @ x[1] * rates[0] * rates[1]
        drift += 2 * z[1] @ y[0] @ x[1] * rates[0] * rates[2]
        drift += 2 * z[1] @ y[1] @ x[0] * rates[1] * rates[2]
        return z[0] @ y[0] @ x[0], first, drift

    # --- inward: what is left without second rates ---

    def _remains(self, bodies: list[Body], count: int) -> Matrix:
        out, Q, after = np.zeros(count), np.zeros((4, 4)), np.eye(4)
        g = np.array([0.0, *self.gravity])
        for body in bodies[::-1]:
            outboard = after @ Q
            falling = body.ddW.T.copy()  # gravity pulls on the leading one of h
            falling[0] -= g
            coriolis = np.einsum("k,fkab->fab", body.rates, body.C_lk) @ body.dW.T
            own = body.D.transpose(0, 2, 1) @ falling + 2 * coriolis + body.M @ outboard
            out[body.elastic] = np.einsum("ab,kba->k", body.W, own)
            Q = body.G @ falling + 2 * np.einsum("k,kab->ab", body.rates, body.D) @ body.dW.T + body.E @ outboard
            out[body.joint] = np.trace(body.V @ body.U @ Q)
            after = body.A
        return out

    def _with_joints(self, M: Matrix, h: Matrix, q: Matrix) -> tuple[Matrix, Matrix]:
        """Springs of links and joints, and rotors."""
        for link, (joint, elastic) in zip(self.links, self._places(), strict=True):
            h[elastic] += link.K @ q[elastic]
            if link.spring is None:
                M[joint, joint] += link.rotor
                continue
            wound = link.spring * (q[joint + 1] - q[joint])
            M[joint + 1, joint + 1] = link.rotor
            h[joint + 1] += wound
            h[joint] -= wound
        return M, h


def composites(bodies: list[Body]) -> tuple[list[Matrix], list[Matrix]]:
    """F and Phi of every link, from the last inward."""
    F: list[Matrix] = []
    Phi: list[Matrix] = [np.zeros((4, 4))]
    for body in bodies[::-1]:
        F.append(body.G + body.E @ Phi[-1] @ body.E.T)
        Phi.append(body.A @ F[-1] @ body.A.T)
    return F[::-1], Phi[-2::-1]


# --- modes of a clamped-free beam and rod ---


def bending(k: int, x: Matrix) -> tuple[Matrix, Matrix]:
    """The k-th mode and its slope at x in 0..1; its mean square is 1, its tip goes up."""
    z = CLAMPED_FREE[k]
    sigma = (np.cosh(z) + np.cos(z)) / (np.sinh(z) + np.sin(z))
    sign = (-1) ** k
    value = np.cosh(z * x) - np.cos(z * x) - sigma * (np.sinh(z * x) - np.sin(z * x))
    slope = z * (np.sinh(z * x) + np.sin(z * x) - sigma * (np.cosh(z * x) - np.cos(z * x)))
    return sign * value, sign * slope


def rod(k: int, x: Matrix) -> tuple[Matrix, Matrix]:
    """Of stretch and twist."""
    z, scale = (k + 0.5) * np.pi, (-1) ** k * np.sqrt(2)
    return scale * np.sin(z * x), scale * z * np.cos(z * x)


# --- transformations ---


def homogeneous(place: Matrix, R: Matrix) -> Matrix:
    """Of vectors with a leading one."""
    out = np.eye(4)
    out[1:, 0], out[1:, 1:] = place, R
    return out


def skew(v: Matrix) -> Matrix:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def turns(axis: Matrix, angle: float) -> tuple[Matrix, Matrix, Matrix]:
    """A rotation about a unit axis and two derivatives by its angle."""
    hat = skew(axis)
    R = np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat
    return R, hat @ R, hat @ hat @ R


def hinge(axis: Matrix, angle: float) -> tuple[Matrix, Matrix, Matrix]:
    """The same as 4 x 4 matrices."""
    out = np.zeros((3, 4, 4))
    out[0, 0, 0] = 1
    out[:, 1:, 1:] = turns(axis / np.linalg.norm(axis), angle)
    return out[0], out[1], out[2]


def pseudo_inertia(mass: float, centre: Matrix, inertia: Matrix) -> Matrix:
    """int h h' of a rigid body, from its inertia about the root."""
    out = np.empty((4, 4))
    out[0, 0], out[0, 1:], out[1:, 0] = mass, mass * centre, mass * centre
    out[1:, 1:] = np.trace(inertia) / 2 * np.eye(3) - inertia
    return out
