"""Computed torque of the rigid twin, with a fast loop that takes energy out of what bends (singular perturbations).

The slow law is inverse dynamics of the rigid twin: M(q) a + h(q, q'), a = r'' + kd (r' - q') + kp (r - q). On the rigid
robot the error obeys e'' + kd e' + kp e = 0. Links and drives that are stiff by 1/eps^2 follow on a manifold of
quasi-static deflections; about it, with joints r and deflections f, the boundary layer is (Siciliano and Book 1988)

    f'' = -H_ff K f + (H_fr + H_ff B_f) u_f,  H = M(q)^-1,

whose energy f' H_ff^-1 f' / 2 + f K f / 2 changes by f' (B_f - M_fr M_rr^-1) u_f. So u_f = -gain (w - M_rr^-1 M_rf f')
never adds to it: w are speeds of drives' wind-up, and the rest is the speed at which joints recoil from what bends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from flexarm.analysis.places import Twin
from flexarm.codegen.lock import building
from flexarm.control.joint_numbers import free_twin, joint_numbers, joint_references
from flexarm.foundation.numbers import real_number
from flexarm.mechanics.system import System
from flexarm.motion.actuators import Actuator
from flexarm.motion.laws import Feedback
from flexarm.motion.sensors import Sensor
from flexarm.robot import Robot


def computed_torque(
    robot: Robot | System,
    kp: Any,
    kd: Any,
    references: Any,
    *,
    fast: Any = 0.0,
    limit: Any = None,
    rate: float | None = None,
    sensors: Mapping[str, Sensor] | None = None,
    actuators: Mapping[str, Actuator] | None = None,
) -> Feedback:
    """Computed torque of a robot's rigid twin along `references`, as a law for `simulate(torque=...)`.

    robot: with any links and drives; of a rigid one the error e obeys e'' + kd e' + kp e = 0.
    kp, kd: of the error (1/s2) and its rate (1/s): one for all, one for each joint, or by link.
    references: by link numbers, profiles or functions of t, {"upper": fa.minimum_jerk(0, 1, 2), "fore": 0.5}.
    fast: torque against the speed (N m s/rad or N s/m) with which joints recoil from links that bend and drives that
    wind up, given in the same ways: it damps them without changing where joints are to go. It reads the rates of
    elastic coordinates, as strain gauges along the links would tell them. Zero leaves it out; too much of it makes
    deflections so slow that they disturb the tracking.
    limit, rate, sensors, actuators: as in `fa.Feedback`. Gains are in `feedback.gains`; others compile nothing new.

    >>> from flexarm.robot import library
    >>> law = computed_torque(library.two_link_arm(), kp=25.0, kd=10.0, references={"upper": 0.5, "fore": 1.0})
    >>> law.gains["kp"].tolist()
    [25.0, 25.0]
    """
    twin = free_twin(robot, "computed torque")
    names, links = list(twin.rigid.names), [each.link for each in twin.rigid.coordinates]
    gains = {
        "kp": joint_numbers("kp", kp, links),
        "kd": joint_numbers("kd", kd, links),
        "fast": joint_numbers("fast", fast, links, least=0.0),
    }
    if not any(gains["fast"]):
        del gains["fast"]
    if rate is not None:
        real_number("rate", rate, "Hz", above=0)
    wanted = joint_references(references, names)
    with building:
        law = _Law(twin, "fast" in gains)
    more: Any = {"sensors": sensors, "actuators": actuators}
    return Feedback(law, rate=rate, limit=limit, gains=gains, references=wanted, **more)


class _Law:
    """law(t, x, gains) with the twin's equations as CasADi functions. It remembers nothing."""

    def __init__(self, twin: Twin, fast: bool) -> None:
        self._joints = list(twin.rigid.names)
        self.links = tuple(twin.rigid.inputs)
        self._gears = [each.gear for each in twin.system.actuators]
        self._slow = twin.rigid.casadi["inverse_dynamics"]
        self._recoil = _recoil(twin) if fast else None
        self._names = list(twin.system.names)

    def __repr__(self) -> str:
        return f"computed torque of {', '.join(self.links)}"

    def __deepcopy__(self, memo: Any) -> _Law:
        return self

    def __call__(self, t: Any, x: Any, gains: Any) -> Any:
        q, v = (ca.vertcat(*(read(name) for name in self._joints)) for read in (x.__getitem__, x.rate))
        r, dr, ddr = (ca.vertcat(*(x.reference(name, rate) for name in self._joints)) for rate in (0, 1, 2))
        kp, kd = ca.vertcat(gains["kp"]), ca.vertcat(gains["kd"])
        force = self._slow(q, v, ddr + kd * (dr - v) + kp * (r - q))
        if self._recoil is not None:
            every = ca.vertcat(*(x.rate(name) for name in self._names))
            force -= ca.vertcat(gains["fast"]) * self._recoil(q, every)
        torques = [force[k] / gear for k, gear in enumerate(self._gears)]
        return torques if isinstance(force, ca.SX) else np.array([float(each) for each in torques])


def _recoil(twin: Twin) -> ca.Function:
    """(q of the joints, all rates) -> w - M_rr^-1 M_rf f': what the fast loop acts against, by joint."""
    system, rigid = twin.system, twin.rigid
    q, rates = ca.SX.sym("q", rigid.nq), ca.SX.sym("rates", system.nq)
    posture, bending, wind_up = ca.SX(system.nq, 1), ca.SX(rates), ca.SX(rigid.nq, 1)
    motors = {each.link: each.index for each in system.coordinates if each.kind == "motor"}
    for k, place in enumerate(twin.joints):
        posture[place], bending[place] = q[k], 0
        link = rigid.coordinates[k].link
        if link in motors:
            posture[motors[link]] = q[k]
            wind_up[k] = rates[motors[link]] - rates[place]
            bending[motors[link]] = wind_up[k]
    momentum = system.casadi["momentum"](ca.densify(posture), bending)
    joints = [
        momentum[place] + (momentum[motors[each.link]] if each.link in motors else 0)
        for place, each in zip(twin.joints, rigid.coordinates, strict=True)
    ]
    inertia = rigid.casadi["mass_matrix"](q)
    return ca.Function("recoil", [q, rates], [ca.densify(wind_up - ca.solve(inertia, ca.vertcat(*joints)))])
