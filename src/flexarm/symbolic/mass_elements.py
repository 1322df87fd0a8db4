"""Mass of finite elements and rigid bodies, and the mass matrix of a piece: int mu J^T J dx with J = dr/dq.

The velocity of a point is V + Omega x rho + sum_a N_a dq_a, with the velocities of the frame of the link and the
displacement fields of the coordinates of the piece. The mass matrix depends on a few integrals of rho and N_a over x.
J is in the axes of the frame of the piece; My et al. (eq. 11 and 12) use those of the ground, with the same J^T J.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flexarm.foundation.validation import Array
from flexarm.symbolic import algebra
from flexarm.symbolic.algebra import ZERO, Expr, Rows, Vector, cross, dot, is_nonzero, number, plus, ratio, times
from flexarm.symbolic.beams import Beam, node_displacement
from flexarm.symbolic.frames import Frame, apply


@dataclass
class MassPiece:
    """Inertia of a piece relative to its frame.

    Mass, first moment c and inertia; by own coordinate (`columns`) A = int mu N and k = int mu rho x N; M, K and D of
    the own coordinates.
    """

    mass: Expr = 0
    c: Vector = ZERO
    inertia: Rows = field(default_factory=lambda: [[0] * 3 for _ in range(3)])
    columns: list[int] = field(default_factory=list)
    A: list[Vector] = field(default_factory=list)
    k: list[Vector] = field(default_factory=list)
    M: Rows = field(default_factory=list)
    K: Rows = field(default_factory=list)
    D: Rows = field(default_factory=list)


@dataclass(frozen=True)
class ClosedFormDamping:
    """Damping of a link: factors of its stiffness and mass matrices, and a matrix from damping ratios."""

    stiffness: Expr = 0
    mass: Expr = 0
    ratios: Array | None = None


def lump_piece(mass: Expr, offset: Vector, inertia: Rows) -> MassPiece:
    """Return a rigid body with its centre at an offset and its inertia about the centre, in the axes of its frame."""
    x, y, z = offset
    steiner = [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
    rows = [[one + mass * two for one, two in zip(*pair, strict=True)] for pair in zip(inertia, steiner, strict=True)]
    return MassPiece(mass, times(mass, offset), rows)


def element_piece(beam: Beam, j: int, damped: ClosedFormDamping) -> MassPiece:
    """Return element j = 0, 1, ... of a planar link: r_ij = (j l_e + x, S u) of My et al., eq. (3)."""
    m, size = beam.m, beam.l / beam.elements
    start = j * size
    nodes = beam.mesh[2 * j : 2 * j + 4]
    kept = [k for k, node in enumerate(nodes) if node is not None]
    u = [node_displacement(node) for node in nodes]
    mass = algebra.mass(m, size)
    a = algebra.moment(m, size)
    b = [start * one + two for one, two in zip(a, algebra.first_moment(m, size), strict=True)]
    spread = sum((u[p] * mass[p][q] * u[q] for p in kept for q in kept), number(0))
    along = m * size * (start**2 + start * size + size**2 * ratio(1, 3))
    off = -sum((u[p] * b[p] for p in kept), number(0))
    inertia = [[spread, off, 0], [off, along, 0], [0, 0, along + spread]]
    for row, (sections, _) in beam.rotary.items():
        inertia[row][row] += sections * size
    if 2 in beam.rotary:
        b, mass = _with_turning_sections(b, mass, beam.rotary[2][0], size)
    M, K = (
        [[matrix[p][q] for q in kept] for p in kept]
        for matrix in (mass, algebra.stiffness(beam.rigidity["bend_y"][0], size))
    )
    return MassPiece(
        mass=m * size,
        c=(m * size * (start + size * ratio(1, 2)), sum((u[p] * a[p] for p in kept), number(0)), 0),
        inertia=inertia,
        columns=[node[0] for node in nodes if node is not None],
        A=[(0, a[p], 0) for p in kept],
        k=[(0, 0, b[p]) for p in kept],
        M=M,
        K=K,
        D=[[damped.stiffness * one + damped.mass * two for one, two in zip(*pair, strict=True)] for pair in zip(K, M)],
    )


def _with_turning_sections(b: Sequence[Expr], mass: Rows, sections: Expr, size: Expr) -> tuple[list[Expr], Rows]:
    """Return the first moments and the mass matrix of an element with the rotary inertia of its sections."""
    turned = [one + sections * two for one, two in zip(b, algebra.SLOPE_MOMENT, strict=True)]
    slopes = algebra.slope_products(sections, size)
    return turned, [[one + two for one, two in zip(*pair, strict=True)] for pair in zip(mass, slopes, strict=True)]


class Carrier:
    """Jacobians of a frame, and products that its pieces share."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.velocity = {column: frame.resolve(parts) for column, parts in frame.velocity.items()}
        self._squares: dict[tuple[int, int], Expr] = {}

    def square(self, a: int, b: int) -> Expr:
        """Return V_a . V_b, with one rotation for each pair of frames."""
        if (a, b) not in self._squares:
            one, other = self.frame.velocity.get(a, {}), self.frame.velocity.get(b, {})
            out = number(0)
            for first, v in one.items():
                for second, w in other.items():
                    out += dot(v, w if first is second else apply(first.rotation(second), w))
            self._squares[a, b] = self._squares[b, a] = out
        return self._squares[a, b]


class PieceInertia:
    """Entries of the mass matrix and of the gravity term of a piece."""

    def __init__(self, carrier: Carrier, piece: MassPiece) -> None:
        self.carrier, self.piece = carrier, piece
        self.columns = sorted({*carrier.frame.moving_coordinates, *piece.columns})
        own = {column: index for index, column in enumerate(piece.columns)}
        self._own = own
        self._omega = carrier.frame.omega
        self._momentum: dict[int, Vector] = {}
        self._spin: dict[int, Vector] = {}
        for column in self.columns:
            A, k = (piece.A[own[column]], piece.k[own[column]]) if column in own else (ZERO, ZERO)
            omega = self._omega.get(column, ZERO)
            self._momentum[column] = plus(cross(omega, piece.c), A) if is_nonzero(omega) else A
            self._spin[column] = k

    def entry(self, a: int, b: int) -> Expr:
        """Return m V_a.V_b + V_a.s_b + V_b.s_a + Omega_a.(I Omega_b + k_b) + Omega_b.k_a + own, s = Omega x c + A."""
        piece, V = self.piece, self.carrier.velocity
        out = number(0)
        if piece.mass != 0 and a in V and b in V:
            out += piece.mass * self.carrier.square(a, b)
        for one, other in ((a, b), (b, a)):
            if one in V:
                out += dot(V[one], self._momentum[other])
            if one in self._omega:
                out += dot(self._omega[one], self._spin[other])
        if a in self._omega and b in self._omega:
            turned = apply(piece.inertia, self._omega[b])  # type: ignore[arg-type]
            out += dot(self._omega[a], turned)
        if a in self._own and b in self._own:
            out += piece.M[self._own[a]][self._own[b]]
        return out

    def weight(self, a: int, upward: Vector, ground: Frame) -> Expr:
        """Return d/dq_a of the potential of gravity; `upward` is minus gravity in the axes of the ground."""
        frame = self.carrier.frame
        lifted = {each: times(self.piece.mass, v) for each, v in frame.velocity.get(a, {}).items()}
        lifted[frame] = plus(lifted.get(frame, ZERO), self._momentum[a])
        return sum((dot(v, apply(each.rotation(ground), upward)) for each, v in lifted.items()), number(0))
