"""Serial robots of hinges by the absolute coordinates of their links, reduced to joint and elastic coordinates.

R. K. Moolam, F. Braghin and F. Vicentini, "Dynamic modeling and simulation of spatial manipulator with flexible links
and joints". A link has the place R of its root, Euler parameters beta and nodal coordinates q_e of two-node beam
elements (here with the root's eliminated: it is clamped in its hinge). Its mass matrix and its quadratic velocity
forces are sums over points of the beam (eqs. 13, 14); hinges say D_i q_i'' = D_{i-1} q_{i-1}'' + H_i P_i'' + gamma_i
(eq. 34), which is solved for q'' = B P'' + gamma (eqs. 40-43) and put in: B' M B P'' = B' (Q - M gamma) (eq. 44).

The model is of zero order: points of the axis move by S q_e, there is no shortening. Read otherwise than printed are:

- eqs. 35, 42: D_i is to be inverted, but it has one column more than rows, since beta has four entries. A row for its
  norm is added, beta . beta'' = -beta' . beta'.
- eqs. 36, 40: the D_{i-1} below the diagonal is that of eq. 36, at the far end of the link, not the one of eq. 35 on
  the diagonal, and of opposite sign. H_2 stands in the second row. In eq. 37 the rows of the places, zero, are missing.
- eq. 29: the axis of a hinge is constant in the link before. It must turn with the section to which it is fixed, else
  the joint of a bent spatial arm is off at first order of the slopes. In a plane there is no difference.
- eqs. 26, 31, 33: elastic rates of angles are taken as an angular velocity, by a constant matrix. That is so for one
  angle; for three it holds at first order, and is not the rate of any rotation beyond. Here the section is turned by
  its angles about z, then y, then x, and the matrix and its rate follow from that.
- eq. 22: J is multiplied by the second rate of the motor's angle, as in eq. 23; eq. 20: elastic forces are -K q_e.

`printed=True` has hinges as printed in eqs. 26, 29 and 33, to see what that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

Matrix = np.ndarray

FAMILIES = ("bend_y", "bend_z", "twist", "stretch")
GAUSS = np.polynomial.legendre.leggauss(4)  # exact for products of cubics


@dataclass(frozen=True)
class Link:
    """A uniform beam along x behind a hinge. `stiffness` by family (EI_z, EI_y, GJ, EA); a family that is missing
    does not deform. `spin`: inertia of the sections about x, y, z per length, about axes of the straight link."""

    length: float
    mass: float  # per length
    stiffness: dict[str, float] = field(default_factory=dict)
    elements: int = 1
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)  # of the hinge, a unit vector
    mount: Matrix = field(default_factory=lambda: np.eye(3))
    spring: float | None = None  # of the joint; None: rigid
    rotor: float = 0.0

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Of each family among the nodal coordinates: deflection and slope of each node, or twist, or stretch."""
        out, start = {}, 0
        for name in FAMILIES:
            if name in self.stiffness:
                width = self.elements * (2 if name.startswith("bend") else 1)
                out[name] = slice(start, start + width)
                start += width
        return out

    @cached_property
    def count(self) -> int:
        return max((place.stop for place in self.columns.values()), default=0)

    def shapes(self, x: float) -> tuple[Matrix, Matrix, Matrix]:
        """(3, n) displacements and small rotations at x, (families, n) strains."""
        h = self.length / self.elements
        k = min(int(x / h), self.elements - 1)
        s = x / h - k
        cubic = np.array([1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)])
        slope = np.array([6 * s**2 - 6 * s, h * (1 - 4 * s + 3 * s**2), 6 * s - 6 * s**2, h * (3 * s**2 - 2 * s)]) / h
        bend = np.array([12 * s - 6, h * (6 * s - 4), 6 - 12 * s, h * (6 * s - 2)]) / h**2
        line, rise = np.array([1 - s, s]), np.array([-1, 1]) / h
        moves, turns = np.zeros((2, 3, self.count))
        strains = np.zeros((len(FAMILIES), self.count))

        def put(into: Matrix, name: str, values: Matrix) -> None:
            """At the two nodes of the element; the root's are not coordinates."""
            each = len(values) // 2
            place = self.columns[name].start + each * (k - 1)
            kept = values if k else values[each:]
            into[place + len(values) - len(kept) : place + len(values)] = kept

        for name in self.columns:
            row = FAMILIES.index(name)
            if name == "bend_y":
                put(moves[1], name, cubic), put(turns[2], name, slope), put(strains[row], name, bend)
            elif name == "bend_z":
                put(moves[2], name, cubic), put(turns[1], name, -slope), put(strains[row], name, bend)
            else:
                put((turns if name == "twist" else moves)[0], name, line), put(strains[row], name, rise)
        return moves, turns, strains

    @cached_property
    def end(self) -> tuple[Matrix, Matrix]:
        """Displacements and rotations where the next hinge is."""
        return self.shapes(self.length)[:2]

    @cached_property
    def points(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Of a quadrature over all elements: places, weights, displacements and rotations (points, 3, n)."""
        h = self.length / self.elements
        x = np.concatenate([(k + (1 + GAUSS[0]) / 2) * h for k in range(self.elements)])
        shapes = [self.shapes(each) for each in x]
        moves, turns = (np.array([each[k] for each in shapes]) for k in (0, 1))
        return x, np.tile(GAUSS[1] * h / 2, self.elements), moves, turns

    @cached_property
    def K(self) -> Matrix:
        """Eq. 18, assembled."""
        values = np.array([self.stiffness.get(name, 0.0) for name in FAMILIES])
        x, weights, _, _ = self.points
        strains = np.array([self.shapes(each)[2] for each in x])
        return np.einsum("p,f,pfi,pfj->ij", weights, values, strains, strains)


@dataclass
class State:
    """One link's absolute coordinates and their rates."""

    R: Matrix
    A: Matrix
    beta: Matrix
    elastic: Matrix
    rates: Matrix | None = None  # of R, beta, q_e

    @property
    def G(self) -> Matrix:
        """(3, 4): angular velocity in the link's axes per rate of beta."""
        b0, b1, b2, b3 = self.beta
        return 2 * np.array([[-b1, b0, b3, -b2], [-b2, -b3, b0, b1], [-b3, b2, -b1, b0]])

    @property
    def omega(self) -> Matrix:
        assert self.rates is not None
        return self.G @ self.rates[3:7]


@dataclass(frozen=True)
class Arm:
    """Links one behind the other, the first on the ground. Coordinates P: of each link the joint, the motor behind a
    spring, then q_e."""

    links: tuple[Link, ...]
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    base: Matrix = field(default_factory=lambda: np.eye(3))
    printed: bool = False

    def equations(self, P: Matrix, rates: Matrix) -> tuple[Matrix, Matrix]:
        """M and h of M P'' + h = generalised forces (eqs. 45, 46, and 23 of the motors)."""
        relative = self._relative()
        states = self._states(P)
        D, H = self._joints(states)
        B = np.linalg.solve(D, H)
        absolute = B @ rates[relative]
        for state, place in zip(states, self._places(), strict=True):
            state.rates = absolute[place]
        gamma = np.linalg.solve(D, self._gamma(states, rates[relative]))
        M, Q = np.zeros_like(D), np.zeros(len(D))
        for link, state, place in zip(self.links, states, self._places(), strict=True):
            M[place, place], Q[place] = self._link(link, state)
        count = len(P)
        reduced, h = np.zeros((count, count)), np.zeros(count)
        reduced[np.ix_(relative, relative)] = B.T @ M @ B
        h[relative] = -B.T @ (Q - M @ gamma)
        for link, place in zip(self.links, self._joint_places(), strict=True):
            if link.spring is None:
                reduced[place, place] += link.rotor
            else:
                wound = link.spring * (P[place + 1] - P[place])
                reduced[place + 1, place + 1] = link.rotor
                h[place + 1] += wound
                h[place] -= wound
        return reduced, h

    def accelerations(self, P: Matrix, rates: Matrix, forces: Matrix) -> Matrix:
        M, h = self.equations(P, rates)
        return np.linalg.solve(M, forces - h)

    def motion(self, P: Matrix, rates: Matrix, forces: Matrix, times: Matrix) -> Matrix:
        """(times, n): coordinates under constant forces."""
        from scipy.integrate import solve_ivp

        n = len(P)
        solved = solve_ivp(
            lambda t, y: np.concatenate([y[n:], self.accelerations(y[:n], y[n:], forces)]),
            (times[0], times[-1]),
            np.concatenate([P, rates]),
            method="DOP853",
            t_eval=times,
            rtol=1e-9,
            atol=1e-11,
        )
        return np.asarray(solved.y[:n].T)

    # --- where things stand ---

    def _joint_places(self) -> list[int]:
        out, start = [], 0
        for link in self.links:
            out.append(start)
            start += 1 + (link.spring is not None) + link.count
        return out

    def _elastic_places(self) -> list[slice]:
        """Of P."""
        starts = [k + 1 + (link.spring is not None) for k, link in zip(self._joint_places(), self.links, strict=True)]
        return [slice(start, start + link.count) for start, link in zip(starts, self.links, strict=True)]

    def _relative(self) -> Matrix:
        """Places in P of the paper's P, which is without motors."""
        pairs = zip(self._joint_places(), self._elastic_places(), strict=True)
        return np.array([k for joint, elastic in pairs for k in (joint, *range(elastic.start, elastic.stop))])

    def _places(self) -> list[slice]:
        """Of each link's absolute coordinates among all."""
        sizes = [7 + link.count for link in self.links]
        return [slice(sum(sizes[:k]), sum(sizes[: k + 1])) for k in range(len(sizes))]

    # --- kinematics ---

    def _states(self, P: Matrix) -> list[State]:
        R, A, out = np.zeros(3), self.base, []
        for link, joint, elastic in zip(self.links, self._joint_places(), self._elastic_places(), strict=True):
            if out:
                before, last = out[-1], self.links[len(out) - 1]
                moves, turns = last.end
                R = before.R + before.A @ (last.length * np.eye(3)[0] + moves @ before.elastic)
                A = before.A @ section(turns @ before.elastic)[0]
            A = A @ link.mount @ turn(np.array(link.axis), P[joint])
            out.append(State(R, A, euler_parameters(A), P[elastic]))
        return out

    def _end(self, link: Link, state: State) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
        """Place, displacement and rotation shapes at the far end, its axes, and the rate of the rotation's matrix
        times rates; all in link axes."""
        moves, turns = link.end
        place = link.length * np.eye(3)[0] + moves @ state.elastic
        rates = np.zeros(3) if state.rates is None else turns @ state.rates[7:]
        axes, jacobian, drift = section(turns @ state.elastic, rates)
        if self.printed:
            jacobian, drift = np.eye(3), np.zeros(3)
        return place, moves, jacobian @ turns, axes, drift

    def _hinge(self, k: int, states: list[State]) -> Matrix:
        """Axis of a joint in the world (eq. 29)."""
        link, before = self.links[k], states[k - 1]
        axis = link.mount @ np.array(link.axis)
        if not k:
            return self.base @ axis
        turned = np.eye(3) if self.printed else self._end(self.links[k - 1], before)[3]
        return before.A @ turned @ axis

    def _joints(self, states: list[State]) -> tuple[Matrix, Matrix]:
        """The matrices of eq. 40."""
        places, relative = self._places(), [1 + link.count for link in self.links]
        D, H = np.zeros((places[-1].stop, places[-1].stop)), np.zeros((places[-1].stop, sum(relative)))
        column = 0
        for k, (link, state, place) in enumerate(zip(self.links, states, places, strict=True)):
            own = np.eye(7 + link.count)
            own[3:6, 3:7], own[6, 3:7] = state.A @ state.G, state.beta
            D[place, place] = own
            if k:
                last, before = self.links[k - 1], states[k - 1]
                at, moves, turns, _, _ = self._end(last, before)
                far = np.zeros((7 + link.count, 7 + last.count))
                far[:3, :3] = np.eye(3)
                far[:3, 3:7], far[:3, 7:] = -before.A @ skew(at) @ before.G, before.A @ moves
                far[3:6, 3:7], far[3:6, 7:] = before.A @ before.G, before.A @ turns
                D[place, places[k - 1]] = -far
            H[place.start + 3 : place.start + 6, column] = self._hinge(k, states)
            H[place.start + 7 : place.stop, column + 1 : column + 1 + link.count] = np.eye(link.count)
            column += 1 + link.count
        return D, H

    def _gamma(self, states: list[State], rates: Matrix) -> Matrix:
        """Eqs. 32, 33 and the norm of the Euler parameters."""
        out, column = [], 0
        for k, (link, state) in enumerate(zip(self.links, states, strict=True)):
            assert state.rates is not None
            own = np.zeros(7 + link.count)
            own[6] = -state.rates[3:7] @ state.rates[3:7]
            if k:
                last, before = self.links[k - 1], states[k - 1]
                assert before.rates is not None
                at, moves, turns, _, drift = self._end(last, before)
                spin, dq = before.omega, before.rates[7:]
                own[:3] = before.A @ (np.cross(spin, np.cross(spin, at)) + 2 * np.cross(spin, moves @ dq))
                own[3:6] = before.A @ (np.cross(spin, turns @ dq) + drift)
                carried = spin if self.printed else spin + turns @ dq  # what turns the hinge
                own[3:6] += np.cross(before.A @ carried, self._hinge(k, states)) * rates[column]
            out.append(own)
            column += 1 + link.count
        return np.concatenate(out)

    # --- dynamics ---

    def _link(self, link: Link, state: State) -> tuple[Matrix, Matrix]:
        """M (eq. 13) and the forces of velocity, weight and elasticity (eqs. 14, 18, 21), over all points."""
        assert state.rates is not None
        A, G, omega, dq = state.A, state.G, state.omega, state.rates[7:]
        x, weights, moves, turns = link.points
        mass, turning = link.mass * weights, skew(omega)
        u = moves @ state.elastic
        u[:, 0] += x
        L, spinning = np.zeros((2, len(x), 3, 7 + link.count))
        L[:, :, :3], L[:, :, 7:] = np.eye(3), A @ moves
        L[:, :, 3:7] = -A @ np.array([skew(each) for each in u]) @ G
        spinning[:, :, 3:7], spinning[:, :, 7:] = G, turns
        quadratic = (u @ (turning @ turning).T + 2 * (moves @ dq) @ turning.T) @ A.T
        inertia = weights[:, None] * np.array(link.spin)
        M = np.einsum("p,pai,paj->ij", mass, L, L) + np.einsum("pa,pai,paj->ij", inertia, spinning, spinning)
        Q = np.einsum("p,pai,pa->i", mass, L, np.array(self.gravity) - quadratic)
        Q[3:7] -= G.T @ turning @ (inertia * (omega + turns @ dq)).sum(0)
        Q[7:] -= link.K @ state.elastic
        return M, Q


# --- rotations ---


def skew(v: Matrix) -> Matrix:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def turn(axis: Matrix, angle: float) -> Matrix:
    n = axis / np.linalg.norm(axis)
    return np.asarray(np.eye(3) + np.sin(angle) * skew(n) + (1 - np.cos(angle)) * skew(n) @ skew(n))


def section(angles: Matrix, rates: Matrix | None = None) -> tuple[Matrix, Matrix, Matrix]:
    """Axes turned by angles about z, then y, then x (given as x, y, z); the matrix that makes an angular velocity of
    their rates, in the axes before, and its own rate times these rates."""
    X, Y, Z = np.eye(3)
    about_z = turn(Z, angles[2])
    both = about_z @ turn(Y, angles[1])
    jacobian = np.column_stack([both @ X, about_z @ Y, Z])
    da, db, dc = np.zeros(3) if rates is None else rates
    first = dc * Z
    second = first + db * jacobian[:, 1]
    drift = np.cross(first, jacobian[:, 1]) * db + np.cross(second, jacobian[:, 0]) * da
    return both @ turn(X, angles[0]), jacobian, drift


def euler_parameters(A: Matrix) -> Matrix:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(A).as_quat()
    return np.array([w, x, y, z])
