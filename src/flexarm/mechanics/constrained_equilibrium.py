"""Static equilibrium of a robot with constraints, and small displacements that respect them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.assembly import Assembly
from flexarm.mechanics.system import System

ITERATIONS = 50
RANK = 1e-6  # against the largest: below this a column adds nothing to the others


def constrained_equilibrium(system: System, q: Array, first: Collection[int] = ()) -> Array:
    """Return where the robot comes to rest under gravity on its constraints, by Newton's method.

    first: actuated coordinates that are held before the others.
    """
    held = holdable(system, Assembly(system, ()).posture(q), first)
    q = Assembly(system, held).posture(q)
    loose = [k for k in range(system.nq) if k not in held]
    scale = system.sizes[loose]
    forces = multipliers(system, q, loose)
    size = np.inf
    for _ in range(ITERATIONS):
        J = system.constraint_jacobian(q)[:, loose]
        K = tangent_stiffness(system, q, forces)[np.ix_(loose, loose)]
        rows = len(J)
        left = np.concatenate([_weight(system, q)[loose], system.constraint(q)])
        matrix = np.block([[K, J.T], [J, np.zeros((rows, rows))]])
        solution = np.linalg.solve(matrix, -left)
        change, forces = solution[: len(loose)], solution[len(loose) :]
        q = q.copy()
        q[loose] += change
        size, last = float(np.abs(change / scale).max(initial=0.0)), size
        if size < 1e-13 or last / 2 < size < 1e-8:  # rounding is all that is left
            return _stable(system, q, loose, K)
        if not np.isfinite(change).all() or np.abs(q[loose] / scale).max() > 100:
            break
    worst = system.names[loose[int(np.abs(q[loose] / scale).argmax())]]
    raise ArithmeticError(
        f"no static equilibrium was found on the constraints: '{worst}' does not settle{_holding(system, loose)}"
    )


def tangent_stiffness(system: System, q: Array, forces: Array) -> Array:
    """Of springs, gravity and constraint forces that turn with the robot."""
    return np.asarray(system.stiffness_matrix(q) + system.gravity_stiffness(q) + system.constraint_stiffness(q, forces))


def multipliers(system: System, q: Array, free: list[int]) -> Array:
    """Constraint forces of the robot that is let go at rest: exact in equilibrium."""
    J = system.constraint_jacobian(q)[:, free]
    G = np.linalg.solve(system.mass_matrix(q)[np.ix_(free, free)], J.T)
    return np.asarray(np.linalg.solve(J @ G, -G.T @ _weight(system, q)[free]))


def displacements(system: System, q: Array, kept: list[int]) -> tuple[list[int], Array]:
    """Independent coordinates among the kept ones, and Z (kept, independent): displacements that respect the
    constraints. Joints follow rather than deflections, so that what costs no energy stays so exactly."""
    J, last = system.constraint_jacobian(q)[:, kept], following(system, q, kept)
    after = [kept.index(k) for k in last]
    independent = [k for k in range(len(kept)) if k not in after]
    Z = np.eye(len(kept))[:, independent]
    Z[after] = -np.linalg.solve(J[:, after], J[:, independent])
    return [kept[k] for k in independent], Z


def following(system: System, q: Array, kept: list[int]) -> list[int]:
    """Those of the kept coordinates that the constraints move, one for each row that can be met; joints first."""
    A = system.constraint_jacobian(q)[:, kept] * system.sizes[kept] / system.constraint_scales[:, None]
    loose = [k for k, place in enumerate(kept) if system.coordinates[place].kind == "joint"]
    others = [k for k in range(len(kept)) if k not in loose]
    found = _pivots(A, loose)
    found += _pivots(_without(A, found), others)
    return [kept[k] for k in found]


def _weight(system: System, q: Array) -> Array:
    return np.asarray(system.gravity(q) + system.spring_forces(q))


def holdable(system: System, q: Array, first: Collection[int] = ()) -> list[int]:
    """Return actuated coordinates that can be held while the other joints still meet the constraints.

    They are tried in the robot's order, those in `first` before the others.
    """
    sizes = system.sizes
    A = system.constraint_jacobian(q) * sizes / system.constraint_scales[:, None]
    joints = [each.index for each in system.coordinates if each.kind == "joint"]
    actuated = [each.coordinate.index for each in system.actuators]
    held: list[int] = []
    needed = len(_pivots(A, joints))
    for k in sorted(actuated, key=lambda k: k not in first):
        if len(_pivots(A, [j for j in joints if j not in (*held, k)])) == needed:
            held.append(k)
    return held


def _pivots(A: Array, columns: list[int]) -> list[int]:
    """Columns among these that are independent, the largest first."""
    from scipy.linalg import qr

    if not columns or not np.abs(A).max(initial=0.0):
        return []
    _, R, order = qr(A[:, columns], pivoting=True, mode="economic")
    count = int((np.abs(np.diag(R)) > RANK).sum())
    return [columns[k] for k in order[:count]]


def _without(A: Array, columns: list[int]) -> Array:
    """What is left of the rows when these columns have done their part."""
    if not columns:
        return A
    Q, _ = np.linalg.qr(A[:, columns])
    return np.asarray(A - Q @ (Q.T @ A))


def _stable(system: System, q: Array, loose: list[int], K: Array) -> Array:
    _, Z = displacements(system, q, loose)
    if Z.shape[1] == 0:
        return q
    values, vectors = np.linalg.eigh(Z.T @ (K + K.T) @ Z / 2)
    if values[0] < -1e-9 * max(abs(values[-1]), 1e-300):
        worst = system.names[loose[int(np.abs(Z @ vectors[:, 0]).argmax())]]
        raise ArithmeticError(
            f"no stable equilibrium was found on the constraints: '{worst}' gives way under its load"
            f"{_holding(system, loose)}"
        )
    return q


def _holding(system: System, loose: list[int]) -> str:
    """Return a clause that names the coordinates that were held."""
    held = [name for k, name in enumerate(system.names) if k not in loose]
    which = f"held were {', '.join(held)}" if held else "no joint was held"
    return f"; {which}: name in q the joints that are to be held, {{'{system.actuators[0].link}.q': 0.0}}"
