"""Initial state of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.arguments import POSITION_TOLERANCE, Vector
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule

REPORTED_CHANGE = (
    1e-4  # of what is large for a coordinate: an initial state that constraints change by more is reported
)


def initial_state(system: System, schedule: Schedule, q0: Vector | str, v0: Vector) -> tuple[Array, Array]:
    """q and v as given, with driven joints where their motions start, on the constraints and within the travel."""
    q, v = _initial(system, schedule, q0), _one(system, v0, "v0")
    for order, (name, given) in enumerate((("q0", q0), ("v0", v0))):
        _require_agreement(system, schedule, name, given, order)
    _require_travel(system, schedule, q)
    return _closed(system, schedule, q, v, v0 is not None) if system.constraints else (q, v)


def _require_agreement(system: System, schedule: Schedule, name: str, given: Vector | str, order: int) -> None:
    """Require that the initial value given for a driven joint is that of its motion."""
    if given is None or isinstance(given, str):
        return
    named = given if isinstance(given, Mapping) else dict(zip(system.names, system.vector(given, name), strict=True))
    for place, motion in schedule.motions.items():
        joint, starts = system.names[place], float(motion(0.0, order))
        if joint in named and abs(named[joint] - starts) > 1e-6 * max(1.0, abs(starts)):
            raise ValueError(
                f"{name}['{joint}'] = {shown(float(named[joint]))}: its motion starts with {starts:g}; leave it out"
            )


def _initial(system: System, schedule: Schedule, q0: Vector | str) -> Array:
    if isinstance(q0, str):
        if q0 != "equilibrium":
            raise ValueError(f"q0 = {q0!r}: must be 'equilibrium', or coordinates by name or as an array")
        from flexarm.dynamics.equilibrium import find_equilibrium

        return find_equilibrium(system, _started(system, schedule, np.zeros(system.nq), ()))
    _one(system, q0, "q0")
    mentioned = system.names if q0 is not None and not isinstance(q0, Mapping) else q0 or ()
    return _started(system, schedule, system.posture(q0, "q0"), mentioned)


def _one(system: System, given: Vector, name: str) -> Array:
    vector = system.vector(given, name)
    if vector.ndim != 1:
        raise ValueError(f"{name} has shape {vector.shape}: a run starts from one state")
    return vector


def _started(system: System, schedule: Schedule, q: Array, mentioned: Collection[str]) -> Array:
    """q with driven coordinates where their motions start, and joints behind driven motors with them."""
    for place, each in schedule.motions.items():
        q[place] = each(0.0)
        joint = next(each.joint for each in system.actuators if each.coordinate.index == place)
        if joint.name not in mentioned:
            q[joint.index] = q[place]
    return q


def _require_travel(system: System, schedule: Schedule, q: Array) -> None:
    """Slides must start on their links, revolute joints within their limits."""
    for link in system.robot.links:
        for each, travel in zip(system.joints(link.name), system.robot.travels(link), strict=True):
            if travel is None:
                continue
            place, unit = each.index, each.unit
            at = float(schedule.motions[place](0.0)) if place in schedule.motions else q[place]
            lower, upper = travel
            slack = POSITION_TOLERANCE * (upper - lower)
            if not lower - slack <= at <= upper + slack:
                name = link.name if len(link.joint.freedoms) == 1 else each.name
                raise ValueError(
                    f"joint '{name}' starts at {at:g} {unit}, outside its travel from {lower:g} to {upper:g} {unit}; "
                    f"give q0={{'{each.name}': ...}}"
                )


def _closed(system: System, schedule: Schedule, q: Array, v: Array, v_given: bool) -> tuple[Array, Array]:
    """The initial state on the constraints, with a warning about what had to move."""
    q, v = q.copy(), v.copy()
    for k, each in schedule.motions.items():
        q[k], v[k] = each(0.0), each(0.0, 1)
    from flexarm.dynamics.constraints.initial_projection import Assembly

    found = Assembly(system, schedule.driven).state(q, v)
    sizes = system.sizes
    for what, old, new, per, heard in (("q0", q, found[0], "", True), ("v0", v, found[1], "/s", v_given)):
        moved = np.abs(new - old) / sizes
        if heard and moved.max(initial=0.0) > REPORTED_CHANGE * max(1.0, float(np.abs(old / sizes).max())):
            k = int(moved.argmax())
            name, unit = system.names[k], system.units[k]
            warn(
                f"{what} does not satisfy the constraints and was moved onto them: '{name}' most, by "
                f"{new[k] - old[k]:.3g} {unit}{per} to {new[k]:.6g}".replace("  ", " "),
                ValidityWarning,
            )
    return found
