"""How links and drives deflect under a motion that is slow against their vibration."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.reach import way_out
from flexarm.mechanics.system import System

ITERATIONS = 30
CONVERGED = 1e-11  # of what is large for a coordinate


def quasi_static(system: System, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """(n, nq) states from those of actuated coordinates (n, actuators): what is loose takes the place in which springs
    balance weight and inertia of the motion; it moves with its actuator (joints behind springs) or not at all (links).
    """
    driven = [each.coordinate.index for each in system.actuators]
    loose = [k for k in range(system.nq) if k not in driven]
    states = [np.zeros((len(q), system.nq)) for _ in range(3)]
    for state, given in zip(states, (q, v, a), strict=True):
        state[:, driven] = given
        for k, each in enumerate(system.actuators):
            state[:, system.joint(each.link).index] = given[:, k]
    at, speeds, accelerations = states
    if not loose:
        return at, speeds, accelerations
    last = np.inf
    for _ in range(ITERATIONS):
        forces = system.inverse_dynamics(at, speeds, accelerations)[:, loose]
        slopes = system.linearization(at, speeds, accelerations).K[:, loose][:, :, loose]
        change = np.linalg.solve(slopes, -forces[..., None])[..., 0]
        at[:, loose] += change
        size = float(np.abs(change / system.sizes[loose]).max())
        if size < CONVERGED or last / 2 < size < 1e-8:  # rounding is all that is left
            return at, speeds, accelerations
        if not np.isfinite(size):
            break
        last = size
    raise ArithmeticError(
        "motion: no quasi-static deflection was found; the links are too soft for its accelerations"
        f"{way_out(system.robot)}"
    )
