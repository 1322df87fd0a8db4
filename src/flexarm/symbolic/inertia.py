"""The mass matrix of one piece: int mu J^T J dx, with J = dr/dq in the axes of the piece's frame.

J^T J does not depend on the axes in which J is written (My et al. use the ground's, eq. 11 and 12), and the integral
over x was done when the piece was made.
"""

from __future__ import annotations

from flexarm.symbolic.algebra import ZERO, Expr, Vector, cross, dot, nonzero, number, plus, times
from flexarm.symbolic.frames import Frame, apply
from flexarm.symbolic.pieces import Piece


class Carrier:
    """A frame's Jacobians, and what all pieces on it share."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.velocity = {column: frame.here(parts) for column, parts in frame.velocity.items()}
        self._squares: dict[tuple[int, int], Expr] = {}

    def square(self, a: int, b: int) -> Expr:
        """V_a . V_b, each pair of frames meeting in one rotation."""
        if (a, b) not in self._squares:
            one, other = self.frame.velocity.get(a, {}), self.frame.velocity.get(b, {})
            out = number(0)
            for first, v in one.items():
                for second, w in other.items():
                    out += dot(v, w if first is second else apply(first.rotation(second), w))
            self._squares[a, b] = self._squares[b, a] = out
        return self._squares[a, b]


class PieceInertia:
    """Entries of a piece's mass matrix and of its weight."""

    def __init__(self, carrier: Carrier, piece: Piece) -> None:
        self.carrier, self.piece = carrier, piece
        self.columns = sorted({*carrier.frame.moved_by, *piece.columns})
        own = {column: place for place, column in enumerate(piece.columns)}
        self._own = own
        self._omega = carrier.frame.omega
        self._momentum: dict[int, Vector] = {}
        self._spin: dict[int, Vector] = {}
        for column in self.columns:
            A, k = (piece.A[own[column]], piece.k[own[column]]) if column in own else (ZERO, ZERO)
            omega = self._omega.get(column, ZERO)
            self._momentum[column] = plus(cross(omega, piece.c), A) if nonzero(omega) else A
            self._spin[column] = k

    def entry(self, a: int, b: int) -> Expr:
        """m V_a.V_b + V_a.s_b + V_b.s_a + Omega_a.(I Omega_b + k_b) + Omega_b.k_a + own, s = Omega x c + A."""
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
        """d/dq_a of the potential of gravity; `upward` is minus gravity in the ground's axes."""
        frame = self.carrier.frame
        lifted = {each: times(self.piece.mass, v) for each, v in frame.velocity.get(a, {}).items()}
        lifted[frame] = plus(lifted.get(frame, ZERO), self._momentum[a])
        return sum((dot(v, apply(each.rotation(ground), upward)) for each, v in lifted.items()), number(0))
