"""Static equilibrium: where the links and drives come to rest under gravity with the actuators held."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.constrained_equilibrium import constrained_equilibrium
from flexarm.mechanics.system import System, Vector

ITERATIONS = 50


def equilibrium(system: System, q: Vector = None) -> Array:
    """Coordinates of a `system` at rest with every actuated coordinate held where q puts it.

    A joint with an elastic drive is held at its motor; a joint without one is held itself. In a robot with constraints
    joints are held in their order as long as the others can still close the loops. Newton's method.

    >>> from flexarm.robot import Drive, Link, PointMass, Revolute, Robot
    >>> hinge = Revolute("y", drive=Drive(stiffness=981.0, rotor_inertia=0.1))
    >>> arm = Robot(links=[Link("arm", 1.0, hinge, mass=0.0, payload=PointMass(1.0))], gravity=(0, 0, -9.81))
    >>> equilibrium(System(arm)).round(4)  # the joint sags by 0.01 rad, its motor is held
    array([0.01, 0.  ])
    """
    if not isinstance(system, System):
        raise TypeError(f"system = {shown(system)}: must be a System, such as fa.System(robot)")
    out = system.posture(q)
    if out.ndim != 1:
        raise ValueError(f"q has shape {out.shape}: the equilibrium near one posture at a time is found")
    if system.constraints:
        return constrained_equilibrium(system, out)
    held = {each.coordinate.index for each in system.actuators}
    loose = [k for k in range(system.nq) if k not in held]
    if not loose:
        return out
    here = np.ix_(loose, loose)
    scale = system.sizes[loose]
    for _ in range(ITERATIONS):
        force = (system.gravity(out) + system.spring_forces(out))[loose]
        change = np.linalg.solve((system.stiffness_matrix(out) + system.gravity_stiffness(out))[here], -force)
        out[loose] += change
        if np.abs(change / scale).max() < 1e-13:
            return _stable(system, out, loose)
        if not np.isfinite(change).all() or np.abs(out[loose] / scale).max() > 10:
            break
    worst = system.names[loose[int(np.abs(out[loose] / scale).argmax())]]
    raise ArithmeticError(f"no static equilibrium was found: '{worst}' runs away; its link is too soft for its load")


def _stable(system: System, q: Array, loose: list[int]) -> Array:
    here = np.ix_(loose, loose)
    values, vectors = np.linalg.eigh((system.stiffness_matrix(q) + system.gravity_stiffness(q))[here])
    if values[0] < 0:
        worst = system.names[loose[int(np.abs(vectors[:, 0]).argmax())]]
        raise ArithmeticError(f"no static equilibrium was found: '{worst}' buckles; its link is too soft for its load")
    return q
