"""What acts on links from outside of their tree: loads on points, and constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.codegen.lock import building
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array, real_array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.wrenches import force_first, turned
from flexarm.robot.constraints import PointSupport

if TYPE_CHECKING:
    from flexarm.mechanics.system import System


BALANCED = 1e-6  # of the forces on coordinates: what constraints must leave of them


@dataclass(frozen=True)
class OuterForce:
    """A wrench (..., 6) on a link about a point p (..., 3), both in the world, that touches the link at x (...)."""

    link: int
    x: Array
    p: Array
    wrench: Array


def outer_forces(
    system: System, motion: tuple[Array, Array, Array], loads: Any, constraint_forces: Any
) -> list[OuterForce]:
    """All of them in a state (q, v, a), from what a user gives."""
    q, pushed = motion[0], _loads(system, motion[0], loads)
    if constraint_forces is None and not pushed and system.constraints:
        constraint_forces = _balancing(system, motion)
    return [*pushed, *_constraints(system, q, constraint_forces)]


def _balancing(system: System, motion: tuple[Array, Array, Array]) -> Array | None:
    """Forces of the constraints that move the coordinates without an actuator as they move, if these tell them."""
    driven = {each.coordinate.index for each in system.actuators}
    passive = [k for k in range(system.nq) if k not in driven]
    shape = np.broadcast_shapes(*(each.shape for each in motion))
    q, v, a = (np.broadcast_to(each, shape).reshape(-1, system.nq) for each in motion)
    taken = system.inverse_dynamics(q, v, a)
    found = []
    for row, needed in zip(system.constraint_jacobian(q)[:, :, passive], taken[:, passive], strict=True):
        forces, told = row_forces(row, needed)
        left = row.T @ forces - needed
        if not told or np.abs(left).max(initial=0.0) > BALANCED * np.abs(needed).max(initial=1e-300):
            return None
        found.append(forces)
    return np.array(found).reshape(*shape[:-1], -1)


def row_forces(J: Array, needed: Array) -> tuple[Array, bool]:
    """Forces of rows J (rows, coordinates) that come nearest to what coordinates need, and whether these tell them."""
    sizes = np.maximum(np.abs(J).max(axis=1, initial=0.0), 1e-300)
    forces, _, rank, _ = np.linalg.lstsq((J / sizes[:, None]).T, needed, rcond=1e-9)
    return np.asarray(forces / sizes), bool(rank == len(J))


def _loads(system: System, q: Array, loads: Any) -> list[OuterForce]:
    if not isinstance(loads, Sequence) or isinstance(loads, str):
        raise TypeError(f"loads = {shown(loads)}: must be a list of (link, x, wrench)")
    found = []
    for k, load in enumerate(loads):
        if not isinstance(load, Sequence) or isinstance(load, str) or len(load) != 3:
            raise TypeError(
                f"loads[{k}] = {shown(load)}: must be (link, x, wrench): a name, a distance from its root (m; None is "
                "the tip), and force and torque in world axes, six numbers (N, N m)"
            )
        link, x, given = load
        try:
            number, at = system.place(link, x)
        except (KeyError, ValueError) as error:
            raise type(error)(f"loads[{k}]: {error.args[0]}") from None
        wrench = real_array(f"loads[{k}]", given)
        if wrench.ndim == 0 or wrench.shape[-1] != 6:
            raise ValueError(
                f"loads[{k}]: the wrench has shape {wrench.shape}: its last dimension must be 6, force (N) and torque "
                "(N m) in world axes"
            )
        found.append(OuterForce(number, np.array(at), system.frame(link, at, q)[..., :3, 3], wrench))
    return found


def _constraints(system: System, q: Array, forces: Any) -> list[OuterForce]:
    rows = system.constraints
    with building:
        touches = system.structure.held_places.touches if rows else []  # a guide's own grip is part of its joint
    if forces is None:
        if touches:
            raise ValueError(
                "constraint_forces: is required, since the robot has constraints that this state (and its loads) does "
                f"not tell: one force for each of {', '.join(rows)}, as run['reaction'] has them"
            )
        return []
    given = real_array("constraint_forces", forces)
    if given.ndim == 0 or given.shape[-1] != len(rows):
        raise ValueError(
            f"constraint_forces has shape {given.shape}: its last dimension must be {len(rows)}, one for each row of "
            f"the constraints ({', '.join(rows) or 'there are none'})"
        )
    if not touches:
        return []
    pulled, R, p = system._call(system.structure.functions.held, given, q=q)
    found = []
    for k, touch in enumerate(touches):
        wrench = turned(R[..., 3 * k : 3 * k + 3], force_first(pulled[..., k]))
        constraint = system.robot.every_constraint[touch.constraint]
        if touch.side == "root":
            x = _where(system, touch.constraint, q)
        else:
            _, _, at = constraint.places["link" if touch.side == "place" else touch.side]
            x = np.array(system.robot.links[touch.link].length if at is None else at)
        found.append(OuterForce(touch.link, x, p[..., k], wrench))
    return found


def _where(system: System, constraint: int, q: Array) -> Array:
    """(...): where on its link a support stands."""
    supports = [k for k, each in enumerate(system.robot.every_constraint) if isinstance(each, PointSupport)]
    _, _, where = system.structure.constraints.supports[supports.index(constraint)]
    flat = q.reshape(-1, system.nq)
    found = np.array([float(where(each, system.numbers)) for each in flat])
    return found.reshape(q.shape[:-1])
