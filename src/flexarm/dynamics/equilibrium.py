"""Static equilibrium under gravity with the actuators held, with or without constraints (Newton's method)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import numpy as np

from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.stiffening import exact_system, system_for_posture
from flexarm.dynamics.system import System, as_system
from flexarm.dynamics.validity import exact_model_hint, warn_of_posture
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

MAX_CONSTRAINED_ITERATIONS = 50
RANK_TOLERANCE = 1e-6  # scaled diagonal of R, below which a column depends on the others


def constrained_equilibrium(system: System, q: Array, first: Collection[int] = ()) -> Array:
    """Return the equilibrium under gravity with the constraints satisfied.

    `first` are indices of actuated coordinates that are held in preference to others.
    """
    held = holdable_coordinates(system, Assembly(system, ()).posture(q), first)
    q = Assembly(system, held).posture(q)
    loose = [k for k in range(system.nq) if k not in held]
    scale = system.sizes[loose]
    forces = constraint_multipliers(system, q, loose)
    size = np.inf
    for _ in range(MAX_CONSTRAINED_ITERATIONS):
        J = system.constraint_jacobian(q)[:, loose]
        K = tangent_stiffness(system, q, forces)[np.ix_(loose, loose)]
        rows = len(J)
        left = np.concatenate([_static_force(system, q)[loose], system.constraint(q)])
        matrix = np.block([[K, J.T], [J, np.zeros((rows, rows))]])
        solution = np.linalg.solve(matrix, -left)
        change, forces = solution[: len(loose)], solution[len(loose) :]
        q = q.copy()
        q[loose] += change
        size, last = float(np.abs(change / scale).max(initial=0.0)), size
        if size < 1e-13 or last / 2 < size < 1e-8:  # rounding is all that is left
            return _require_stable_on_constraints(system, q, loose, K)
        if not np.isfinite(change).all() or np.abs(q[loose] / scale).max() > 100:
            break
    worst = system.names[loose[int(np.abs(q[loose] / scale).argmax())]]
    raise ArithmeticError(
        f"no static equilibrium was found on the constraints: '{worst}' does not settle{_holding(system, loose)}"
    )


def tangent_stiffness(system: System, q: Array, forces: Array) -> Array:
    """Return the stiffness (nq, nq) of springs, gravity and constraint forces that rotate with the robot."""
    return np.asarray(system.stiffness_matrix(q) + system.gravity_stiffness(q) + system.constraint_stiffness(q, forces))


def constraint_multipliers(system: System, q: Array, free: list[int]) -> Array:
    """Return the constraint forces (rows,) of the robot released at rest; exact in equilibrium."""
    J = system.constraint_jacobian(q)[:, free]
    G = np.linalg.solve(system.mass_matrix(q)[np.ix_(free, free)], J.T)
    return np.asarray(np.linalg.solve(J @ G, -G.T @ _static_force(system, q)[free]))


def displacements(system: System, q: Array, kept: list[int]) -> tuple[list[int], Array]:
    """Return independent coordinates among the kept ones, and displacements Z (kept, independent) on the constraints.

    Joints are dependent in preference to deflections, so that motions without energy stay so exactly.
    """
    J, last = system.constraint_jacobian(q)[:, kept], dependent_coordinates(system, q, kept)
    after = [kept.index(k) for k in last]
    independent = [k for k in range(len(kept)) if k not in after]
    Z = np.eye(len(kept))[:, independent]
    Z[after] = -np.linalg.solve(J[:, after], J[:, independent])
    return [kept[k] for k in independent], Z


def dependent_coordinates(system: System, q: Array, kept: list[int]) -> list[int]:
    """Return kept coordinates that the constraints determine, one for each independent row; joints first."""
    A = system.constraint_jacobian(q)[:, kept] * system.sizes[kept] / system.constraint_scales[:, None]
    loose = [k for k, place in enumerate(kept) if system.coordinates[place].kind == "joint"]
    others = [k for k in range(len(kept)) if k not in loose]
    found = _independent_columns(A, loose)
    found += _independent_columns(_project_out(A, found), others)
    return [kept[k] for k in found]


def _static_force(system: System, q: Array) -> Array:
    return np.asarray(system.gravity(q) + system.spring_forces(q))


def holdable_coordinates(system: System, q: Array, first: Collection[int] = ()) -> list[int]:
    """Return actuated coordinates that can be held while the other joints still meet the constraints.

    They are tried in the robot's order, those in `first` before the others.
    """
    sizes = system.sizes
    A = system.constraint_jacobian(q) * sizes / system.constraint_scales[:, None]
    joints = [each.index for each in system.coordinates if each.kind == "joint"]
    actuated = [each.coordinate.index for each in system.actuators]
    held: list[int] = []
    needed = len(_independent_columns(A, joints))
    for k in sorted(actuated, key=lambda k: k not in first):
        if len(_independent_columns(A, [j for j in joints if j not in (*held, k)])) == needed:
            held.append(k)
    return held


def _independent_columns(A: Array, columns: list[int]) -> list[int]:
    """Return the independent ones among these columns, the largest first."""
    from scipy.linalg import qr

    if not columns or not np.abs(A).max(initial=0.0):
        return []
    _, R, order = qr(A[:, columns], pivoting=True, mode="economic")
    count = int((np.abs(np.diag(R)) > RANK_TOLERANCE).sum())
    return [columns[k] for k in order[:count]]


def _project_out(A: Array, columns: list[int]) -> Array:
    """Return the rows projected onto the complement of some columns."""
    if not columns:
        return A
    Q, _ = np.linalg.qr(A[:, columns])
    return np.asarray(A - Q @ (Q.T @ A))


def _require_stable_on_constraints(system: System, q: Array, loose: list[int], K: Array) -> Array:
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


MAX_NEWTON_ITERATIONS = 50
MAX_NEWTON_CHANGE = 0.3  # largest accepted change in one step, in units of a coordinate's size
INITIAL_LOAD_STEP, MIN_LOAD_STEP = 0.25, 1e-4  # increments of the load, as shares of gravity


def posture_at(robot: Robot | System, q: Vector | Literal["equilibrium"]) -> Array:
    """Return a posture: the one given, or for "equilibrium" that in which the robot rests."""
    if not isinstance(q, str):
        return as_system(robot).posture(q)
    if q != "equilibrium":
        raise ValueError(f"q = {q!r}: must be 'equilibrium', or coordinates by name or as an array")
    return equilibrium(robot)


def equilibrium(robot: Robot | System, q: Vector = None) -> Array:
    """Return the coordinates of a robot at rest under gravity, with actuated coordinates held.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion. For a `Robot`, links with `stiffening="auto"` are replaced by exact links
        where they bend too far.
    q : array_like or mapping, shape (nq,), optional
        Posture: values of the held coordinates, and start of the iteration for the others; zero if omitted.

    Returns
    -------
    ndarray, shape (nq,)
        Coordinates in equilibrium. A joint with an elastic drive is held at its motor, a joint without one itself.

    Raises
    ------
    ArithmeticError
        If no stable equilibrium is found.

    See Also
    --------
    System.posture : Coordinates with relaxed drives.

    Notes
    -----
    The equilibrium is computed by Newton's method; where links bend far, gravity is increased in steps. In a robot with
    constraints, joints are held as long as the others can still meet the constraints: first those named in a mapping q,
    then in the robot's order. So name the driven joints of a closed loop: `fa.equilibrium(four_bar, {"crank.q": 0.5})`.

    Examples
    --------
    >>> from flexarm.robot import Drive, Link, PointMass, Revolute, Robot
    >>> hinge = Revolute("y", drive=Drive(stiffness=981.0, rotor_inertia=0.1))
    >>> arm = Robot(links=[Link("arm", 1.0, hinge, mass=0.0, payload=PointMass(1.0))], gravity=(0, 0, -9.81))
    >>> equilibrium(System(arm)).round(4)  # the joint sags by 0.01 rad, its motor is held
    array([0.01, 0.  ])
    """
    if not isinstance(robot, (System, Robot)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, or its equations of motion, fa.System(robot)")
    system = robot if isinstance(robot, System) else System(robot, native=False)
    out = system.posture(q)
    if out.ndim != 1:
        raise ValueError(f"q has shape {out.shape}: must be one posture")
    coordinates = [system.coordinates[system.index(name)] for name in q] if isinstance(q, Mapping) else []
    links = {each.link for each in coordinates if each.kind != "elastic"}
    named = {each.coordinate.index for each in system.actuators if each.link in links}
    try:
        found = _solve(system, out, named)
    except ArithmeticError as error:
        exact = exact_system(robot, "no static equilibrium was found")
        if exact is None:
            raise
        try:
            found = _solve(exact, out, named)
        except ArithmeticError:
            raise error from None
        warn_of_posture(exact, found)
        return found
    if (exact := system_for_posture(robot, found)) is not None:
        system, found = exact, _solve(exact, out, named)
    warn_of_posture(system, found)
    return found


def _solve(system: System, q: Array, named: Collection[int]) -> Array:
    return constrained_equilibrium(system, q, named) if system.constraints else _unconstrained(system, q)


def _unconstrained(system: System, out: Array) -> Array:
    held = {each.coordinate.index for each in system.actuators}
    loose = [k for k in range(system.nq) if k not in held]
    if not loose:
        return out
    found = _newton(system, out, loose, 1.0)
    if found is None:  # too far for one step: increase the load, starting at the straight robot
        found = _follow_load(system, out, loose)
    return _require_stable(system, found, loose)


def _follow_load(system: System, q: Array, loose: list[int]) -> Array:
    """Follow the equilibrium while gravity increases from zero.

    Full Newton steps may end in a coiled equilibrium of a soft link that it would not reach.
    """
    out, load, step = q.copy(), 0.0, INITIAL_LOAD_STEP
    out[np.intersect1d(loose, np.flatnonzero(system.elastic))] = 0.0
    joints = {each.link: k for k, each in enumerate(system.coordinates) if each.kind == "joint"}
    for k, each in enumerate(system.coordinates):
        if each.kind == "motor":  # its spring is relaxed, too
            out[joints[each.link]] = out[k]
    while load < 1.0:
        found = _newton(system, out, loose, min(load + step, 1.0))
        if found is not None:
            out, load, step = found, min(load + step, 1.0), 1.5 * step
        elif (step := step / 2) < MIN_LOAD_STEP:
            worst = system.names[loose[int(np.abs(out[loose] / system.sizes[loose]).argmax())]]
            raise ArithmeticError(
                f"no static equilibrium was found: '{worst}' diverges at {load:.0%} of the load; its link is too soft "
                f"for it{exact_model_hint(system.robot)}"
            )
    return out


def _newton(system: System, q: Array, loose: list[int], load: float) -> Array | None:
    """Return the equilibrium under a share of gravity by Newton's method; None if a step is too large."""
    out, here, last = q.copy(), np.ix_(loose, loose), np.inf
    scale = (system.sizes * system.meshes)[loose]
    for _ in range(MAX_NEWTON_ITERATIONS):
        force = (load * system.gravity(out) + system.spring_forces(out))[loose]
        slope = (system.stiffness_matrix(out) + load * system.gravity_stiffness(out))[here]
        change = np.linalg.solve(slope, -force)
        size = np.abs(change / scale).max()
        if not size <= MAX_NEWTON_CHANGE or np.abs((out - q)[loose] / scale).max() > 3 * MAX_NEWTON_CHANGE:
            return None
        out[loose] += change
        if size < 1e-13 or last / 2 < size < 1e-8:  # rounding is all that is left
            return out
        last = size
    return None


def _require_stable(system: System, q: Array, loose: list[int]) -> Array:
    here = np.ix_(loose, loose)
    values, vectors = np.linalg.eigh((system.stiffness_matrix(q) + system.gravity_stiffness(q))[here])
    if values[0] < 0:
        worst = system.names[loose[int(np.abs(vectors[:, 0]).argmax())]]
        raise ArithmeticError(
            f"no static equilibrium was found: '{worst}' buckles; its link is too soft for its load"
            f"{exact_model_hint(system.robot)}"
        )
    return q
