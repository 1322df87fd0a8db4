"""W1 in MuJoCo: each link a chain of rigid segments with springs between them.

A link has a spring of EI / h in the middle of each of its `segments` stretches of length h, so half a segment at each
end: this converges with h squared. No contacts, no constraints, no gravity.
"""

from __future__ import annotations

import time

import mujoco
import numpy as np

from peers.result import Failed, Result


def two_link_arm(segments: int, dt: float, integrator: str = "implicitfast") -> Result:
    start = time.perf_counter()
    E, rho, width, damping = 2e10, 7850.0, 0.005, 1e-3
    A, EI = width**2, E * width**4 / 12
    spec = mujoco.MjSpec()
    spec.option.timestep = dt
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    spec.option.gravity = [0, 0, 0]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    body, place = spec.worldbody, 0.0
    for name, length in (("upper", 1.0), ("fore", 0.5)):
        h = length / segments
        for k in range(segments + 1):
            size = h if 0 < k < segments else h / 2
            mass = rho * A * size
            inertia = mass * size**2 / 12
            body = body.add_body(pos=[place, 0, 0], explicitinertial=True)
            body.mass, body.ipos, body.inertia = mass, [size / 2, 0, 0], [inertia / 10, inertia, inertia]
            hinge = body.add_joint(name=f"{name}{k}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
            if k:
                hinge.stiffness[0], hinge.damping[0] = EI / h, damping * EI / h
            place = size
        spec.add_actuator(target=f"{name}0", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    tip = body.add_body(pos=[place, 0, 0], explicitinertial=True)
    tip.mass, tip.ipos, tip.inertia = 0.15, [0, 0, 0], [1e-12, 1e-12, 1e-12]
    tip.add_site(name="tip")
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    every = max(1, round(0.01 / dt))
    times = every * dt * np.arange(round(10 / dt) // every + 1)
    track = np.empty((len(times), 3))
    track[0] = data.site_xpos[0]
    ready = time.perf_counter()
    for k, t in enumerate(times[:-1]):
        sign = 1 if t < 1 - 1e-9 else -1 if t < 2 - 1e-9 else 0
        data.ctrl[:] = sign * 0.02, sign * 0.005
        mujoco.mj_step(model, data, every)
        track[k + 1] = data.site_xpos[0]
    end = time.perf_counter()
    if any(warning.number for warning in data.warning):
        raise Failed("unstable: MuJoCo warned of a huge acceleration and started anew")
    return Result(times, track, end - ready, end - start, (len(times) - 1) * every)
