"""Many two-link arms in MuJoCo: `mujoco.rollout`, a model for each of them, in threads.

Torques are given for every step. A sensor tells where tips are, also at every step, which is all that is recorded:
`skip_checks` lets states be dropped, which would take some ten times the memory. A step's sensors are those of its
begin, so there is one step more than lie in the time. Positions of semi-implicit Euler are half a step ahead of their
time: the mean of a step and the one before is read, which makes them accurate to second order at no cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np
from mujoco.rollout import Rollout

from peers import mujoco_models
from peers.result import Failed

GROUP = 50  # members of a call: their sensors need not be in memory longer


def two_link_arms(
    pairs: Iterable[tuple[float, float]], segments: tuple[int, int], dt: float, integrator: str
) -> list[mujoco.MjModel]:
    """Of payloads (kg) and moduli of the upper link (Pa)."""
    models = []
    for payload, modulus in pairs:
        spec = mujoco_models.two_link_spec(segments, dt, integrator, payload, modulus)
        spec.add_sensor(type=mujoco.mjtSensor.mjSENS_FRAMEPOS, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="tip")
        models.append(spec.compile())
    return models


def tips(models: Sequence[mujoco.MjModel], duration: float, sample: float, threads: int) -> np.ndarray:
    """Of all arms at all samples, (members, times, axes), m."""
    dt = models[0].opt.timestep
    steps, every = round(duration / dt) + 1, round(sample / dt)
    signs = np.array([mujoco_models.sign(dt * k) for k in range(steps)])
    control = np.multiply.outer(np.ones(GROUP), np.multiply.outer(signs, mujoco_models.TORQUES))
    state = np.zeros((GROUP, mujoco.mj_stateSize(models[0], mujoco.mjtState.mjSTATE_FULLPHYSICS.value)))
    sensors = np.empty((GROUP, steps, 3))
    data = [mujoco.MjData(models[0]) for _ in range(threads)]
    found = []
    with Rollout(nthread=threads if threads > 1 else 0) as rollout:
        for first in range(0, len(models), GROUP):
            these = list(models[first : first + GROUP])
            count = len(these)
            given = (these, data, state[:count], control[:count])
            rollout.rollout(*given, nstep=steps, sensordata=sensors[:count], skip_checks=True)
            later, before = sensors[:count, ::every], sensors[:count, every - 1 :: every]
            found.append(np.concatenate([later[:, :1], (later[:, 1:] + before) / 2], axis=1))
    track = np.concatenate(found)
    if not np.isfinite(track).all() or (np.ptp(track[:, -3:], axis=1).max(axis=1) == 0).any():
        raise Failed("unstable: MuJoCo stopped an arm before its end")  # and repeats what it had
    return track
