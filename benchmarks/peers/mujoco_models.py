"""W1 in MuJoCo: each link a chain of rigid segments with springs between them.

A link has a spring of EI / h in the middle of each of its `segments` stretches of length h, so half a segment at each
end: this converges with h squared. No contacts, no constraints, no gravity.
"""

from __future__ import annotations

import time

import mujoco
import numpy as np

from peers.result import Failed, Result

E, RHO, WIDTH, DAMPING, PAYLOAD = 2e10, 7850.0, 0.005, 1e-3, 0.15  # W1
TORQUES = (0.02, 0.005)  # N m, of the joints


def two_link_spec(
    segments: tuple[int, int], dt: float, integrator: str, payload: float = PAYLOAD, upper_E: float = E
) -> mujoco.MjSpec:
    """What `compile` makes a model of. `segments` of the upper link and the forearm, `payload` (kg) at the tip,
    `upper_E` (Pa) the modulus of the upper link."""
    A = WIDTH**2
    spec = mujoco.MjSpec()
    spec.option.timestep = dt
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    spec.option.gravity = [0, 0, 0]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    body, place = spec.worldbody, 0.0
    for name, length, modulus, count in (("upper", 1.0, upper_E, segments[0]), ("fore", 0.5, E, segments[1])):
        h, EI = length / count, modulus * WIDTH**4 / 12
        for k in range(count + 1):
            size = h if 0 < k < count else h / 2
            mass = RHO * A * size
            inertia = mass * size**2 / 12
            body = body.add_body(pos=[place, 0, 0], explicitinertial=True)
            body.mass, body.ipos, body.inertia = mass, [size / 2, 0, 0], [inertia / 10, inertia, inertia]
            hinge = body.add_joint(name=f"{name}{k}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
            if k:
                hinge.stiffness[0], hinge.damping[0] = EI / h, DAMPING * EI / h
            place = size
        spec.add_actuator(target=f"{name}0", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    tip = body.add_body(pos=[place, 0, 0], explicitinertial=True)
    tip.mass, tip.ipos, tip.inertia = payload, [0, 0, 0], [1e-12, 1e-12, 1e-12]
    tip.add_site(name="tip")
    return spec


def sign(t: float) -> int:
    """Of the torques, which are turned round after a second, and end after two."""
    return 1 if t < 1 - 1e-9 else -1 if t < 2 - 1e-9 else 0


def two_link_arm(segments: int, dt: float, integrator: str = "implicitfast") -> Result:
    start = time.perf_counter()
    model = two_link_spec((segments, segments), dt, integrator).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    every = max(1, round(0.01 / dt))
    times = every * dt * np.arange(round(10 / dt) // every + 1)
    track = np.empty((len(times), 3))
    track[0] = data.site_xpos[0]
    ready = time.perf_counter()
    for k, t in enumerate(times[:-1]):
        data.ctrl[:] = np.multiply(sign(t), TORQUES)
        mujoco.mj_step(model, data, every)
        track[k + 1] = data.site_xpos[0]
    end = time.perf_counter()
    if any(warning.number for warning in data.warning):
        raise Failed("unstable: MuJoCo warned of a huge acceleration and restarted")
    return Result(times, track, end - ready, end - start, (len(times) - 1) * every)
