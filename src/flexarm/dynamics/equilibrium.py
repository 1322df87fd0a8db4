"""Static equilibrium under gravity and constant loads, with or without constraints (Newton's method)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from flexarm.dynamics.accuracy.stiffening import exact_system, system_for_posture
from flexarm.dynamics.accuracy.validity import ValidityWarning, exact_model_hint, warn_of_posture
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.system import System, as_system
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

MAX_NEWTON_ITERATIONS = 50
MAX_SETTLING_ITERATIONS = 300
MAX_NEWTON_CHANGE = 0.3  # largest accepted change in one step, in units of a coordinate's size
MAX_COORDINATE = 100.0  # in units of a coordinate's size: an iteration that leads beyond diverges
INITIAL_LOAD_STEP, MIN_LOAD_STEP = 0.25, 1e-4  # increments of the load, as shares of all of it
NEUTRAL_SHARE = 1e-12  # of the largest stiffness or force: what is smaller is rounding
RANK_TOLERANCE = 1e-6  # scaled diagonal of R, below which a column depends on the others

Load = tuple[str, float | None, Array]
"""Link, distance from its root (m, None is the tip), and force and torque (6,) in world axes."""


@dataclass(frozen=True, eq=False)
class StaticBalance:
    """Generalized forces on a robot at rest: springs, gravity, constant loads and constant actuator torques.

    `torque` are torques by actuator; an actuated coordinate with a torque is not held. A `share` is the part of
    gravity, loads and torques that acts.
    """

    system: System
    loads: tuple[Load, ...] = ()
    torque: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def held(self) -> tuple[int, ...]:
        """Indices of the actuated coordinates without a given torque."""
        return tuple(each.coordinate.index for each in self.system.actuators if each.name not in self.torque)

    @cached_property
    def _actuation(self) -> Array:
        given = [self.torque.get(name, 0.0) for name in self.system.inputs]
        return np.asarray(self.system.input_matrix @ np.array(given, dtype=float))

    def force(self, q: Array, share: float = 1.0) -> Array:
        """Return the generalized forces (nq,) that are missing to equilibrium, without those of constraints."""
        applied = self._actuation + sum(self.system.load_forces(*each, q)[0] for each in self.loads)
        return np.asarray(self.system.spring_forces(q) + share * (self.system.gravity(q) - applied))

    def stiffness(self, q: Array, share: float = 1.0, constraint_forces: Array | None = None) -> Array:
        """Return the tangent stiffness (nq, nq) of springs, gravity, loads and constraint forces."""
        out = self.system.stiffness_matrix(q) + share * self.system.gravity_stiffness(q)
        for each in self.loads:
            out = out + share * self.system.load_forces(*each, q)[1]
        if constraint_forces is not None and len(constraint_forces):
            out = out + self.system.constraint_stiffness(q, constraint_forces)
        return np.asarray(out)

    def constraint_forces(self, q: Array, free: list[int], share: float = 1.0) -> Array:
        """Return the constraint forces (rows,) of the robot released at rest; exact in equilibrium."""
        J = self.system.constraint_jacobian(q)[:, free]
        if not len(J):
            return np.zeros(0)
        G = np.linalg.solve(self.system.mass_matrix(q)[np.ix_(free, free)], J.T)
        return np.asarray(np.linalg.solve(J @ G, -G.T @ self.force(q, share)[free]))


def displacements(system: System, q: Array, kept: list[int]) -> tuple[list[int], Array]:
    """Return independent coordinates among the kept ones, and displacements Z (kept, independent) on the constraints.

    Joints are dependent in preference to deflections, so that motions without energy stay so exactly.
    """
    if not system.constraints:
        return kept, np.eye(len(kept))
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


def holdable_coordinates(
    system: System, q: Array, first: Collection[int] = (), actuated: Collection[int] | None = None
) -> list[int]:
    """Return actuated coordinates that can be held while the other joints still meet the constraints.

    They are tried in the robot's order, those in `first` before the others; without constraints all are held.
    `actuated` are all actuated coordinates unless given.
    """
    if actuated is None:
        actuated = [each.coordinate.index for each in system.actuators]
    if not system.constraints:
        return list(actuated)
    A = system.constraint_jacobian(q) * system.sizes / system.constraint_scales[:, None]
    joints = [each.index for each in system.coordinates if each.kind == "joint"]
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


def posture_at(robot: Robot | System, q: Vector | Literal["equilibrium"], loads: tuple[Load, ...] = ()) -> Array:
    """Return a posture: the one given, or for "equilibrium" that in which the robot rests."""
    if not isinstance(q, str):
        return as_system(robot).posture(q)
    if q != "equilibrium":
        raise ValueError(f"q = {q!r}: must be 'equilibrium', or coordinates by name or as an array")
    return find_equilibrium(robot, None, loads)


def named_actuators(system: System, q: Vector) -> set[int]:
    """Return the actuated coordinates of the joints that a mapping q names, which are held before others."""
    coordinates = [system.coordinates[system.index(name)] for name in q] if isinstance(q, Mapping) else []
    links = {each.link for each in coordinates if each.kind != "elastic"}
    return {each.coordinate.index for each in system.actuators if each.link in links}


def find_equilibrium(
    robot: Robot | System, q: Vector = None, loads: tuple[Load, ...] = (), torque: Mapping[str, float] | None = None
) -> Array:
    """Return the coordinates of a robot at rest; see `flexarm.equilibrium`."""
    if not isinstance(robot, (System, Robot)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, or its equations of motion, fa.System(robot)")
    system = robot if isinstance(robot, System) else System(robot, native=False)
    out = system.posture(q)
    if out.ndim != 1:
        raise ValueError(f"q has shape {out.shape}: must be one posture")
    named, balance = named_actuators(system, q), StaticBalance(system, loads, torque or {})
    try:
        found = _solve(balance, out, named)
    except ArithmeticError as error:
        exact = exact_system(robot, "no static equilibrium was found")
        if exact is None:
            raise
        try:
            found = _solve(replace(balance, system=exact), out, named)
        except ArithmeticError:
            raise error from None
        warn_of_posture(exact, found)
        _warn_of_limits(exact, found, out)
        return found
    if (exact := system_for_posture(robot, found, loads)) is not None:
        system, found = exact, _solve(replace(balance, system=exact), out, named)
    warn_of_posture(system, found)
    _warn_of_limits(system, found, out)
    return found


def _warn_of_limits(system: System, found: Array, start: Array) -> None:
    """Warn of joints that rest beyond their limits, which exert no forces unless they have stops."""
    travels = {
        each.index: travel
        for link in system.robot.links
        for each, travel in zip(system.joints(link.name), system.robot.travels(link), strict=True)
        if travel is not None and getattr(link.joint, "stop", None) is None
    }
    for k, (low, high) in travels.items():
        if found[k] != start[k] and not low <= found[k] <= high:
            warn(
                f"'{system.names[k]}' rests at {found[k]:.4g} {system.units[k]}, beyond its limits {low:g} to "
                f"{high:g}: limits exert no force in equilibrium; give the joint a stop",
                ValidityWarning,
            )


def _solve(balance: StaticBalance, q: Array, first: Collection[int]) -> Array:
    """Return the equilibrium; `first` are actuated coordinates that are held in preference to others."""
    system, held = balance.system, list(balance.held)
    if system.constraints:
        held = holdable_coordinates(system, Assembly(system, ()).posture(q), first, balance.held)
        q = Assembly(system, held).posture(q)
    loose = [k for k in range(system.nq) if k not in held]
    if not loose:
        return q
    if balance.torque or any(link.joint.is_passive for link in system.robot.links):
        return _settle(balance, q, loose)  # downhill: Newton's method may jump to another assembly
    try:
        return _stable_equilibrium(balance, q, loose)
    except ArithmeticError as error:
        if not system.constraints:
            raise
        raise ArithmeticError(f"{error.args[0]}{_holding(system, loose)}") from None


def _stable_equilibrium(balance: StaticBalance, q: Array, loose: list[int]) -> Array:
    """Return the stable equilibrium by Newton's method, with an increasing load where a step would be too large."""
    found = _newton(balance, q, loose, 1.0, is_bounded=not balance.system.constraints)
    if found is None:
        found = _follow_load(balance, q, loose)
    return _require_stable(balance, found, loose)


def _newton(balance: StaticBalance, q: Array, loose: list[int], share: float, is_bounded: bool = True) -> Array | None:
    """Return the equilibrium under a share of the load by Newton's method; None if it diverges.

    If it is bounded, a large step counts as divergence.
    """
    system, out, last = balance.system, q.copy(), np.inf
    scale = (system.sizes * system.meshes)[loose]
    try:
        multipliers = balance.constraint_forces(out, loose, share)
        for _ in range(MAX_NEWTON_ITERATIONS):
            K = balance.stiffness(out, share, multipliers)[np.ix_(loose, loose)]
            J = system.constraint_jacobian(out)[:, loose]
            left = np.concatenate([balance.force(out, share)[loose], system.constraint(out)])
            matrix = np.block([[K, J.T], [J, np.zeros((len(J), len(J)))]])
            solution = np.linalg.solve(matrix, -left)
            change, multipliers = solution[: len(loose)], solution[len(loose) :]
            size, moved = float(np.abs(change / scale).max()), np.abs((out - q)[loose] / scale).max()
            if is_bounded and (not size <= MAX_NEWTON_CHANGE or moved > 3 * MAX_NEWTON_CHANGE):
                return None
            out[loose] += change
            if size < 1e-13 or last / 2 < size < 1e-8:  # rounding is all that is left
                return out
            if not np.isfinite(size) or np.abs(out[loose] / scale).max() > MAX_COORDINATE:
                return None
            last = size
    except np.linalg.LinAlgError:  # singular
        pass
    return None


def _follow_load(balance: StaticBalance, q: Array, loose: list[int]) -> Array:
    """Follow the equilibrium while the load increases from zero.

    Full Newton steps may end in a coiled equilibrium of a soft link that it would not reach.
    """
    system, out, load, step = balance.system, q.copy(), 0.0, INITIAL_LOAD_STEP
    out[np.intersect1d(loose, np.flatnonzero(system.elastic))] = 0.0
    joints = {each.link: k for k, each in enumerate(system.coordinates) if each.kind == "joint"}
    for k, each in enumerate(system.coordinates):
        if each.kind == "motor":  # its spring is relaxed, too
            out[joints[each.link]] = out[k]
    if system.constraints:
        out = _assembly(system, loose).posture(out)
    while load < 1.0:
        found = _newton(balance, out, loose, min(load + step, 1.0))
        if found is not None:
            out, load, step = found, min(load + step, 1.0), 1.5 * step
        elif (step := step / 2) < MIN_LOAD_STEP:
            worst = system.names[loose[int(np.abs(out[loose] / system.sizes[loose]).argmax())]]
            raise ArithmeticError(
                f"no static equilibrium was found: '{worst}' diverges at {load:.0%} of the load; its link is too soft "
                f"for it{exact_model_hint(system.robot)}"
            )
    return out


def _require_stable(balance: StaticBalance, q: Array, loose: list[int]) -> Array:
    """Return the equilibrium; raise ArithmeticError if the robot leaves it."""
    system = balance.system
    _, Z = displacements(system, q, loose)
    if Z.shape[1] == 0:
        return q
    K = balance.stiffness(q, 1.0, balance.constraint_forces(q, loose))[np.ix_(loose, loose)]
    values, vectors = np.linalg.eigh(Z.T @ (K + K.T) @ Z / 2)
    if values[0] >= (-1e-9 * max(abs(values[-1]), 1e-300) if system.constraints else 0.0):
        return q
    worst = system.names[loose[int(np.abs(Z @ vectors[:, 0]).argmax())]]
    if system.constraints:
        raise ArithmeticError(f"no stable equilibrium was found on the constraints: '{worst}' gives way under its load")
    raise ArithmeticError(
        f"no static equilibrium was found: '{worst}' buckles; its link is too soft for its load"
        f"{exact_model_hint(system.robot)}"
    )


def _assembly(system: System, loose: list[int]) -> Assembly:
    return Assembly(system, [k for k in range(system.nq) if k not in loose])


def _holding(system: System, loose: list[int]) -> str:
    """Return a clause that names the coordinates that were held."""
    held = [name for k, name in enumerate(system.names) if k not in loose]
    which = f"held were {', '.join(held)}" if held else "no joint was held"
    if not system.actuators:
        return f"; {which}: no joint has an actuator"
    return f"; {which}: name in q the joints that are to be held, {{'{system.actuators[0].joint.name}': 0.0}}"


def _settle(balance: StaticBalance, q: Array, loose: list[int]) -> Array:
    """Return the posture of least potential energy downhill from q, for robots with joints that are not held.

    Directions of negative stiffness are descended as if it were positive. Directions without stiffness and force are
    left alone.
    """
    system, out, here, last = balance.system, q.copy(), np.ix_(loose, loose), np.inf
    scale = (system.sizes * system.meshes)[loose]
    for _ in range(MAX_SETTLING_ITERATIONS):
        force = balance.force(out)[loose] * scale
        K = balance.stiffness(out, 1.0, balance.constraint_forces(out, loose))[here] * np.outer(scale, scale)
        if system.constraints:  # orthonormal displacements on them, in scaled coordinates
            Z = np.linalg.qr(displacements(system, out, loose)[1] / scale[:, None])[0]
            if not Z.size:
                return out
            force, K = Z.T @ force, Z.T @ K @ Z
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        along, noise = vectors.T @ force, NEUTRAL_SHARE * max(np.abs(K).max(), np.abs(force).max(), 1e-300)
        slopes = np.where(np.abs(values) > noise, np.abs(values), np.inf)
        pushed = np.isinf(slopes) & (np.abs(along) > noise)
        slopes[pushed] = np.abs(along[pushed]) / MAX_NEWTON_CHANGE
        change = -vectors @ (along / slopes)
        if system.constraints:
            vectors, change = Z @ vectors, Z @ change
        size = float(np.abs(change).max())
        if size < 1e-13 or last / 2 < size < 1e-8:
            if values[0] < -noise:
                worst = system.names[loose[int(np.abs(vectors[:, 0]).argmax())]]
                raise ArithmeticError(
                    f"no stable equilibrium was found: '{worst}' gives way at this posture; give another start in q"
                )
            return out
        out[loose] += scale * change * min(1.0, MAX_NEWTON_CHANGE / size)
        if system.constraints:
            out = _assembly(system, loose).posture(out)
        last = size
    worst = system.names[loose[int(np.abs((out - q)[loose] / scale).argmax())]]
    reason = ": neither springs nor gravity balance the given torques and loads" if balance.torque else ""
    raise ArithmeticError(f"no static equilibrium was found: '{worst}' does not settle{reason}")
