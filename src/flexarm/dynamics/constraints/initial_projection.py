"""Projection of initial states onto the constraints, and diagnosis of states where it fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexarm.dynamics.constraints.equations import Row
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.system import System
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import Link

MAX_ITERATIONS = 200
MAX_STEP = 0.5  # change in one iteration, in units of a coordinate's size
GAP_TOLERANCE = 1e-12  # in units of the robot's length or a radian
MAX_REMAINING_GAP = 1e-9  # a larger gap after the iteration cannot be closed
DEPENDENCE_TOLERANCE = 1e-9  # of singular values of the scaled Jacobian, relative to the largest
NEAR_DEPENDENCE_TOLERANCE = 0.02  # a failed run with a smaller singular value met a singular posture
MIN_ROW_NORM = 1e-6  # smallest norm to which rows of the scaled Jacobian are normalized
MIN_SUPPORT_SHARE = 0.01  # closer to a clamped root (share of the length), support forces grow without bound
PERTURBATION = 1e-2  # distance of a second posture, which decides if only the first one is singular


@dataclass(frozen=True)
class Assembly:
    """Constraints of a system with some coordinates held."""

    system: System
    held: Sequence[int]

    def posture(self, q: Array) -> Array:
        """Return the nearest q that satisfies the constraints, which must be independent there.

        The distance is measured in the metric M + K s^2, so that joints move rather than links bend.
        """
        self._require_freedom()
        q = self._close_gap(q)
        self._require_supports_on_links(q)
        self._require_independence(q)
        return q

    def state(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the nearest q and v that satisfy the constraints."""
        q = self.posture(q)
        return q, self._with_change(
            v, self._smallest_change(q, self._jacobian(q), self.system.constraint_jacobian(q) @ v)
        )

    @property
    def free(self) -> list[int]:
        """Indices of the free coordinates."""
        return [k for k in range(self.system.nq) if k not in self.held]

    @property
    def _sizes(self) -> Array:
        return self.system.sizes

    @property
    def _scales(self) -> Array:
        return self.system.constraint_scales

    def _jacobian(self, q: Array) -> Array:
        """Return the constraint Jacobian of the free coordinates."""
        return self.system.constraint_jacobian(q)[:, self.free]

    def _with_change(self, vector: Array, change: Array) -> Array:
        out = vector.copy()
        out[self.free] += change
        return out

    def _smallest_change(self, q: Array, J: Array, gap: Array) -> Array:
        """Return the smallest change of the free coordinates that closes a gap to first order."""
        here = np.ix_(self.free, self.free)
        W = (self.system.mass_matrix(q) + self.system.stiffness_matrix(q))[here]
        size = self._sizes[self.free]
        W = W * np.outer(size, size)  # in scaled coordinates, and positive definite even where nothing has a mass
        W = W + 1e-9 * np.diag(np.full(len(W), np.trace(W) / max(len(W), 1)))
        A = J * size / self._scales[:, None]
        G = np.linalg.solve(W, A.T)
        return np.asarray(-size * (G @ np.linalg.lstsq(A @ G, gap / self._scales, rcond=1e-12)[0]))

    # --- Newton iteration ---

    def _close_gap(self, q: Array) -> Array:
        q, gap = self._iterate(q, range(len(self.system.constraints)))
        worst = np.abs(gap / self._scales)
        if worst.max(initial=0.0) > MAX_REMAINING_GAP:
            raise ValueError(self._open_message(q, gap))
        return q

    def _iterate(self, q: Array, rows: Sequence[int]) -> tuple[Array, Array]:
        """Return q and gap after Newton's method on some rows, with bounded steps that do not increase the gap."""
        rows = list(rows)
        only = np.zeros(len(self.system.constraints))
        only[rows] = 1.0
        gap = self.system.constraint(q) * only
        for _ in range(MAX_ITERATIONS):
            size = np.linalg.norm(gap / self._scales)
            if not size > GAP_TOLERANCE:
                break
            change = self._smallest_change(q, self._jacobian(q) * only[:, None], gap)
            change *= min(1.0, MAX_STEP / max(float(np.abs(change / self._sizes[self.free]).max(initial=0.0)), 1e-300))
            for _ in range(30):
                nearer = self._with_change(q, change)
                left = self._gap(nearer) * only
                if np.linalg.norm(left / self._scales) < size:
                    break
                change = change / 2
            else:
                break
            q, gap = nearer, left
        return q, gap

    def _gap(self, q: Array) -> Array:
        try:
            return self.system.constraint(q)
        except ValueError:  # a slide has left its link
            return np.full(len(self.system.constraints), np.inf)

    def _open_message(self, q: Array, gap: Array) -> str:
        rows = self.system.constraint_rows
        worst = int(np.abs(gap / self._scales).argmax())
        name = self._names(gap / self._scales)
        remains = f"a gap of {abs(gap[worst]):.4g} {rows[worst].unit} remains at '{rows[worst].name}'"
        if len(name) > 1:
            alone = [self._iterate(q, [k for k, row in enumerate(rows) if self._of(row) == each]) for each in name]
            if all(np.abs(left / self._scales).max() <= MAX_REMAINING_GAP for _, left in alone):
                return f"constraints {_listed(name)} contradict each other: {remains}, though each alone can be met"
        held = f", with {_listed([self.system.names[k] for k in self.held])} driven" if self.held else ""
        where = ", ".join(f"{self.system.names[k]} = {q[k]:.4g}" for k in range(min(self.system.nq, 4)))
        return (
            f"{_listed(name)} cannot close{held}: {remains} (at {where}{', ...' if self.system.nq > 4 else ''}); if it "
            "can elsewhere, begin nearer to that (q0)"
        )

    # --- independence ---

    def _require_freedom(self) -> None:
        rows, free = len(self.system.constraints), len(self.free)
        if rows > free:
            raise ValueError(
                f"redundant constraints {_listed(self.system.structure.constraints.names)}: {rows} equations for "
                f"{free} free coordinates, {rows - free} too many; leave some out, or make links flexible"
            )

    def _require_supports_on_links(self, q: Array) -> None:
        for name, link, where in self.system.structure.constraints.supports:
            x, length = float(where(q, self.system.numbers)), self.system.robot.link(link).length
            least = min_support_distance(self.system.robot.link(link))
            if -1e-9 * length <= x < least - 1e-9 * length:
                raise ValueError(
                    f"the support '{name}' is at the root of link '{link}' at the start, {x:.4g} m from it, where the "
                    f"link is held already: it must stand at least {least:.4g} m away"
                )
            if not -1e-9 * length <= x <= (1 + 1e-9) * length:
                raise ValueError(
                    f"the support '{name}' is not on link '{link}' at the start: it stands {x:.4g} m from its root "
                    f"and the link is {length:g} m long"
                )

    def _dependent_combinations(self, q: Array, below: float = DEPENDENCE_TOLERANCE) -> Array:
        """Return combinations of scaled rows (as columns) that no free coordinate changes."""
        A = self._jacobian(q) * self._sizes[self.free] / self._scales[:, None]
        A = A / np.maximum(np.linalg.norm(A, axis=1), MIN_ROW_NORM)[:, None]
        turn, sizes, _ = np.linalg.svd(A)
        sizes = np.concatenate([sizes, np.zeros(len(turn) - len(sizes))])
        return np.asarray(turn[:, sizes < below * max(sizes[0], 1e-300)] if len(sizes) else turn)

    def nearly_singular(self, q: Array) -> str:
        """Return a list of constraints whose equations are nearly dependent; empty if there are none."""
        found = self._dependent_combinations(q, NEAR_DEPENDENCE_TOLERANCE)
        return _listed(self._names(np.abs(found).max(axis=1))) if found.size else ""

    def _require_independence(self, q: Array) -> None:
        found = self._dependent_combinations(q)
        if not found.size:
            return
        involved = _listed(self._names(np.abs(found).max(axis=1)))
        if not self._dependent_combinations(self._perturbed(q)).size:
            raise ValueError(
                f"the posture {self._posture(q)} is singular: {self._singular_message(found)} there, so forces are "
                "undetermined; start from another posture, or let links stretch"
            )
        raise ValueError(
            f"redundant constraints {involved}: {found.shape[1]} of their equations repeat others, so "
            "their forces are undetermined; leave some out"
        )

    def _singular_message(self, combinations: Array) -> str:
        weights = np.abs(combinations).max(axis=1)
        rows = [row for row, weight in zip(self.system.constraints, weights, strict=True) if weight > 0.05]
        if len(rows) == combinations.shape[1]:
            return f"to first order no free coordinate moves {_listed(rows)}"
        return f"the equations {_listed(rows)} constrain the same motion"

    def _perturbed(self, q: Array) -> Array:
        """Return another posture nearby that satisfies the constraints."""
        kick = np.random.default_rng(0).uniform(-1, 1, len(self.free)) * PERTURBATION * self._sizes[self.free]
        rows = range(len(self.system.constraints))
        return self._iterate(self._with_change(q, kick), rows)[0]

    def _posture(self, q: Array) -> str:
        return ", ".join(f"{self.system.names[k]} = {q[k]:.4g}" for k in self.free[:4])

    def _of(self, row: Row) -> str:
        return self.system.structure.constraints.names[row.constraint]

    def _names(self, weights: Array) -> list[str]:
        """Return the names of constraints that contribute to a combination of rows."""
        rows = self.system.constraint_rows
        matter = np.abs(weights) > 0.05 * np.abs(weights).max()
        return list(dict.fromkeys(self._of(row) for row, counts in zip(rows, matter) if counts))


def min_support_distance(link: Link) -> float:
    """Return the smallest distance of a support from the root of a link (m), where a clamped link is held already."""
    clamped = link.flexible is not None and not link.flexible.loose and not is_gripped(link)
    return MIN_SUPPORT_SHARE * link.length if clamped else 0.0


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}" if quoted else ""
