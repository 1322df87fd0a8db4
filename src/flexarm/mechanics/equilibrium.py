"""Static equilibrium: where the links and drives come to rest under gravity with the actuators held."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.arguments import Vector
from flexarm.mechanics.constrained_equilibrium import constrained_equilibrium
from flexarm.mechanics.reach import warn_of_posture, way_out
from flexarm.mechanics.stiffening import exact_system, system_for_posture
from flexarm.mechanics.system import System
from flexarm.robot import Robot

ITERATIONS = 50
REACH = 0.3  # of what is large for a coordinate: further than this one step of Newton's method is not trusted
FIRST_SHARE, LEAST_SHARE = 0.25, 1e-4  # of the load, that one step adds


def equilibrium(system: System | Robot, q: Vector = None) -> Array:
    """Coordinates of a `system` (or robot) at rest with every actuated coordinate held where q puts it.

    A joint with an elastic drive is held at its motor; a joint without one is held itself. In a robot with constraints
    joints are held as long as the others can still close the loops: first those that a mapping q names, then in the
    robot's order. So name the driven joints of a closed loop: `fa.equilibrium(four_bar, {"crank.q": 0.5})`. Newton's
    method; where links bend far, gravity is let grow from nothing.

    >>> from flexarm.robot import Drive, Link, PointMass, Revolute, Robot
    >>> hinge = Revolute("y", drive=Drive(stiffness=981.0, rotor_inertia=0.1))
    >>> arm = Robot(links=[Link("arm", 1.0, hinge, mass=0.0, payload=PointMass(1.0))], gravity=(0, 0, -9.81))
    >>> equilibrium(System(arm)).round(4)  # the joint sags by 0.01 rad, its motor is held
    array([0.01, 0.  ])
    """
    if not isinstance(system, (System, Robot)):
        raise TypeError(f"system = {shown(system)}: must be a System, such as fa.System(robot), or a Robot")
    given = system
    if isinstance(system, Robot):
        system = System(system, native=False)
    out = system.posture(q)
    if out.ndim != 1:
        raise ValueError(f"q has shape {out.shape}: the equilibrium near one posture at a time is found")
    coordinates = [system.coordinates[system.index(name)] for name in q] if isinstance(q, Mapping) else []
    links = {each.link for each in coordinates if each.kind != "elastic"}
    named = {each.coordinate.index for each in system.actuators if each.link in links}
    try:
        found = _found(system, out, named)
    except ArithmeticError as error:
        exact = exact_system(given, "no static equilibrium was found")
        if exact is None:
            raise
        try:
            found = _found(exact, out, named)
        except ArithmeticError:
            raise error from None
        warn_of_posture(exact, found)
        return found
    if (exact := system_for_posture(given, found)) is not None:
        system, found = exact, _found(exact, out, named)
    warn_of_posture(system, found)
    return found


def _found(system: System, q: Array, named: Collection[int]) -> Array:
    return constrained_equilibrium(system, q, named) if system.constraints else _unconstrained(system, q)


def _unconstrained(system: System, out: Array) -> Array:
    held = {each.coordinate.index for each in system.actuators}
    loose = [k for k in range(system.nq) if k not in held]
    if not loose:
        return out
    found = _settled(system, out, loose, 1.0)
    if found is None:  # too far for one step: let the load grow, from the straight robot on
        found = _loaded(system, out, loose)
    return _stable(system, found, loose)


def _loaded(system: System, q: Array, loose: list[int]) -> Array:
    """Follow the equilibrium while gravity grows: full steps of Newton's method may end in a loop that a soft link
    could be in, too, but never comes to."""
    out, load, step = q.copy(), 0.0, FIRST_SHARE
    out[np.intersect1d(loose, np.flatnonzero(system.elastic))] = 0.0
    joints = {each.link: k for k, each in enumerate(system.coordinates) if each.kind == "joint"}
    for k, each in enumerate(system.coordinates):
        if each.kind == "motor":  # its spring is not wound up, either
            out[joints[each.link]] = out[k]
    while load < 1.0:
        found = _settled(system, out, loose, min(load + step, 1.0))
        if found is not None:
            out, load, step = found, min(load + step, 1.0), 1.5 * step
        elif (step := step / 2) < LEAST_SHARE:
            worst = system.names[loose[int(np.abs(out[loose] / system.sizes[loose]).argmax())]]
            raise ArithmeticError(
                f"no static equilibrium was found: '{worst}' runs away at {load:.0%} of the load; its link is too soft "
                f"for it{way_out(system.robot)}"
            )
    return out


def _settled(system: System, q: Array, loose: list[int], load: float) -> Array | None:
    """Newton's method under a share of gravity; None where it goes further than it can see."""
    out, here, last = q.copy(), np.ix_(loose, loose), np.inf
    scale = (system.sizes * system.meshes)[loose]
    for _ in range(ITERATIONS):
        force = (load * system.gravity(out) + system.spring_forces(out))[loose]
        slope = (system.stiffness_matrix(out) + load * system.gravity_stiffness(out))[here]
        change = np.linalg.solve(slope, -force)
        size = np.abs(change / scale).max()
        if not size <= REACH or np.abs((out - q)[loose] / scale).max() > 3 * REACH:
            return None
        out[loose] += change
        if size < 1e-13 or last / 2 < size < 1e-8:  # rounding is all that is left
            return out
        last = size
    return None


def _stable(system: System, q: Array, loose: list[int]) -> Array:
    here = np.ix_(loose, loose)
    values, vectors = np.linalg.eigh((system.stiffness_matrix(q) + system.gravity_stiffness(q))[here])
    if values[0] < 0:
        worst = system.names[loose[int(np.abs(vectors[:, 0]).argmax())]]
        raise ArithmeticError(
            f"no static equilibrium was found: '{worst}' buckles; its link is too soft for its load"
            f"{way_out(system.robot)}"
        )
    return q
