"""Computed torque with damping of flexible deflections, and feedback linearization of robots with elastic joints.

Computed torque is the inverse dynamics of the rigid twin (the same robot with rigid links and drives), M(q) a + h(q,
q'), a = r'' + kd (r' - q') + kp (r - q). On the rigid robot the error obeys e'' + kd e' + kp e = 0. Links and drives of
stiffness 1/eps^2 follow on a manifold of quasi-static deflections; about it, with joints r and deflections f, the
boundary layer is (Siciliano and Book 1988)

    f'' = -H_ff K f + (H_fr + H_ff B_f) u_f,  H = M(q)^-1,

whose energy f' H_ff^-1 f' / 2 + f K f / 2 changes by f' (B_f - M_fr M_rr^-1) u_f. So u_f = -gain (w - M_rr^-1 M_rf f')
never increases it: w are rates of the wind-up of drives, and the rest is the speed at which joints recoil from
deflections.

Feedback linearization of rigid links with elastic drives (Spong 1987) yields chains of four integrators. With
n(q, q', q'') = M(q) q'' + h(q, q'), the links obey n = k (theta - q) and the motors J theta'' + k (theta - q) = u:
rotors spin relative to their own links only, so no inertia couples the two. Then n' = k (theta' - q') and n'' = k
(theta'' - q''), of which q'' and q''' follow from the state, and u from the desired q''''.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from flexarm.analysis.rigid_kinematics import RigidTwin, require_tree
from flexarm.codegen.library import building
from flexarm.control.feedforward import plain
from flexarm.control.per_joint import complete_by_link, joint_numbers, joint_references
from flexarm.dynamics.bodies import elastic_drive
from flexarm.dynamics.quantity_names import derivative
from flexarm.dynamics.system import System
from flexarm.feedback.actuators import Actuator
from flexarm.feedback.composition import Answer, composed
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.feedback.sensors import Sensor
from flexarm.foundation.messages import shown
from flexarm.profiles.derived import second_rate
from flexarm.robot import Robot

COUPLING_TOLERANCE = 1e-12  # inertia between motors and links, relative to the largest
ORDER = 4


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
    """Create a computed-torque controller with optional damping of flexible deflections.

    Parameters
    ----------
    robot : Robot or System
        Robot without constraints, or its equations of motion.
    kp : float, sequence of float or dict of str to float
        Gain of the error (1/s2), for all joints, in their order, or by link.
    kd : float, sequence of float or dict of str to float
        Gain of the rate of the error (1/s), for all joints, in their order, or by link.
    references : dict of str to float, Profile or callable
        References by link: numbers, profiles or functions of t, {"upper": fa.minimum_jerk(0, 1, 2), "fore": 0.5}.
    fast : float, sequence of float or dict of str to float, optional
        Gain (N m s/rad or N s/m) of the speed with which joints recoil from deflections of links and drives. It damps
        them without changing the tracked motion, and reads the rates of elastic coordinates. Zero (default) omits it;
        too large values make deflections so slow that they disturb the tracking.
    limit : float, sequence of float or dict of str to float, optional
        Largest torque (N m) or force (N) of the actuators, as in `Feedback`.
    rate : float, optional
        Sample rate (Hz) of a digital controller; continuous by default.
    sensors : dict of str to Sensor, optional
        Sensors by signal, as in `Feedback`.
    actuators : dict of str to Actuator, optional
        Actuators by link, as in `Feedback`.

    Returns
    -------
    Feedback
        Law for `simulate(torque=...)`; its gains can be changed without a new compilation.

    Raises
    ------
    ValueError
        If the robot has constraints, or a gain is not positive.

    See Also
    --------
    elastic_joint_linearization : Exact linearization with elastic drives.
    pd : Without a model of the robot.

    Notes
    -----
    The torque is the inverse dynamics of the rigid twin, the same robot with rigid links and drives. For a rigid robot
    the error e obeys e'' + kd e' + kp e = 0.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> law = computed_torque(library.two_link_arm(), kp=25.0, kd=10.0, references={"upper": 0.5, "fore": 1.0})
    >>> law.gains["kp"].tolist()
    [25.0, 25.0]
    """
    twin = RigidTwin(robot)
    require_tree(twin.system, "computed torque")
    rigid, links = twin.rigid, [each.link for each in twin.rigid.coordinates]
    gains = {"kp": joint_numbers("kp", kp, links), "kd": joint_numbers("kd", kd, links)}
    damping = joint_numbers("fast", fast, links, least=0.0)
    if any(damping):
        gains["fast"] = damping
    fields = {"rate": rate, "limit": limit, "sensors": sensors, "actuators": actuators}
    profiles = joint_references(references, list(rigid.names))
    gears = {link: each.gear for link, each in zip(rigid.inputs, twin.system.actuators, strict=True)}
    with building:
        recoil = _recoil(twin) if any(damping) else None
        law = ComputedTorqueLaw(gears, rigid.names, twin.system.names, rigid.casadi["inverse_dynamics"], recoil)
    return composed(law, rigid.inputs, gains=gains, references=profiles, **fields)


@dataclass(frozen=True)
class ComputedTorqueLaw:
    """Law of the inverse dynamics of a twin with coordinates `joints` and, with `recoil`, of damping."""

    gears: Mapping[str, float]
    joints: tuple[str, ...]
    coordinates: tuple[str, ...]
    inverse_dynamics: ca.Function
    recoil: ca.Function | None

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        q, v = (ca.vertcat(*(x[derivative(name, order)] for name in self.joints)) for order in range(2))
        r, dr, ddr = (ca.vertcat(*(x.reference(name, order) for name in self.joints)) for order in range(3))
        kp, kd = ca.vertcat(gains["kp"]), ca.vertcat(gains["kd"])
        force = self.inverse_dynamics(q, v, ddr + kd * (dr - v) + kp * (r - q))
        if self.recoil is not None:
            rates = ca.vertcat(*(x[derivative(name)] for name in self.coordinates))
            force -= ca.vertcat(gains["fast"]) * self.recoil(q, rates)
        return {link: plain(force[k] / gear) for k, (link, gear) in enumerate(self.gears.items())}, {}


def _recoil(twin: RigidTwin) -> ca.Function:
    """Return the function (q of joints, all rates) -> w - M_rr^-1 M_rf f', on which the fast loop acts, by joint."""
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


def elastic_joint_linearization(
    robot: Robot | System,
    poles: Any,
    references: Any,
    *,
    limit: Any = None,
    rate: float | None = None,
    sensors: Mapping[str, Sensor] | None = None,
    actuators: Mapping[str, Actuator] | None = None,
) -> Feedback:
    """Create a feedback linearization of a robot with elastic drives.

    The errors of the links obey linear equations of order 4.

    Parameters
    ----------
    robot : Robot or System
        Robot with rigid links, all of whose joints have elastic drives without damping, or its equations of motion.
    poles : sequence of complex or dict of str to sequence of complex
        Four poles of the errors (1/s; complex ones in pairs), for all joints or by link.
    references : dict of str to float, Profile or callable
        References by link: numbers, profiles or formulas of t, {"arm": fa.rest_to_rest(0, 1, 2)}. A reference whose
        first three rates do not jump is tracked without error, from a start on it.
    limit : float, sequence of float or dict of str to float, optional
        Largest torque (N m) or force (N) of the actuators, as in `Feedback`.
    rate : float, optional
        Sample rate (Hz) of a digital controller; continuous by default.
    sensors : dict of str to Sensor, optional
        Sensors by signal, as in `Feedback`.
    actuators : dict of str to Actuator, optional
        Actuators by link, as in `Feedback`.

    Returns
    -------
    Feedback
        Law for `simulate(torque=...)` with the gains "k0" to "k3".

    Raises
    ------
    ValueError
        If links are flexible, a drive is rigid or damped, or a pole is not stable.

    See Also
    --------
    computed_torque : For flexible links.

    Notes
    -----
    The law is exact for Spong's model, in which rotors contribute only the spin relative to their own links.

    References
    ----------
    .. [1] M. W. Spong, "Modeling and control of elastic joint robots", J. Dyn. Sys., Meas., Control 109, 1987.

    Examples
    --------
    >>> import flexarm as fa
    >>> soft = fa.Revolute("z", drive=fa.Drive(stiffness=100.0, rotor_inertia=0.1))
    >>> arm = fa.Robot("arm", links=[fa.Link("arm", 1.0, soft, mass=3.0)])
    >>> law = elastic_joint_linearization(arm, [-5, -5, -6, -6], {"arm": 1.0})
    >>> law.gains["k0"].tolist(), law.gains["k3"].tolist()
    ([900.0], [22.0])
    """
    twin = RigidTwin(robot)
    require_tree(twin.system, "feedback linearization")
    _require_elastic_joints(twin.system)
    names, links = twin.rigid.names, [each.link for each in twin.rigid.coordinates]
    if isinstance(poles, Mapping):
        rows = [_polynomial(f"poles['{link}']", each) for link, each in complete_by_link("poles", poles, links)]
    else:
        rows = [_polynomial("poles", poles)] * len(links)
    # coefficients of the errors and of their derivatives
    gains = {f"k{k}": [row[k] for row in rows] for k in range(ORDER)}
    fields = {"rate": rate, "limit": limit, "sensors": sensors, "actuators": actuators}
    profiles = joint_references(references, list(names))
    for name, each in list(profiles.items()):
        profiles[derivative(name, 2)] = second_rate(each, f"references['{name}']")
    motors = tuple(f"{link}.motor" for link in links)
    with building:
        law = LinearizingLaw(tuple(links), names, motors, _torques(twin.system, names, motors))
    return composed(law, links, gains=gains, references=profiles, **fields)


def _require_elastic_joints(system: System) -> None:
    """Raise ValueError if the robot cannot be linearized: flexible links, rigid or damped drives, coupled inertia."""
    robot = system.robot
    bent = [each.name for each in system.coordinates if each.kind == "elastic"]
    if bent:
        raise ValueError(
            f"robot '{robot.name}': its links bend ({bent[0]}), and what bends has no actuators of its own, so that no "
            "feedback makes it linear; take fa.computed_torque with fast=..., or rigid links"
        )
    motors = {each.link for each in system.coordinates if each.kind == "motor"}
    for link in system.inputs:
        drive = elastic_drive(robot.link(link))
        if link not in motors or drive is None:
            raise ValueError(
                f"robot '{robot.name}': the drive of '{link}' is rigid; all joints must have elastic drives"
            )
        if drive.damping:
            raise ValueError(
                f"robot '{robot.name}': the drive of '{link}' has damping = {drive.damping:g}: through it torques act "
                "on the third rate of the joint, not on the fourth, and the chain of four integrators is not there; "
                "leave it out"
            )
    M = system.mass_matrix(np.linspace(0.3, 0.7, system.nq))
    at = [each.index for each in system.coordinates if each.kind == "motor"]
    others = [k for k in range(system.nq) if k not in at]
    if np.abs(M[np.ix_(at, others)]).max(initial=0.0) > COUPLING_TOLERANCE * np.abs(M).max():
        raise ValueError(
            f"robot '{robot.name}': inertia couples motors and links, so that no static feedback linearizes it"
        )


def _polynomial(where: str, given: Any) -> list[float]:
    sentence = f"{where} = {shown(given)}: must be four numbers with negative real parts (1/s), complex ones in pairs"
    if not isinstance(given, (list, tuple, np.ndarray)) or any(isinstance(each, (bool, np.bool_)) for each in given):
        raise TypeError(sentence)
    values = np.asarray(given) if all(isinstance(each, (int, float, complex, np.number)) for each in given) else None
    if values is None or values.shape != (ORDER,) or not np.isfinite(values).all() or not (values.real < 0).all():
        raise ValueError(sentence)
    found = np.poly(values)
    if np.iscomplexobj(found):
        raise ValueError(sentence)
    return found[:0:-1].tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class LinearizingLaw:
    """Law of the feedback linearization, with the function of the torques of all links."""

    links: tuple[str, ...]
    joints: tuple[str, ...]
    motors: tuple[str, ...]
    torques: ca.Function

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        read = [
            ca.vertcat(*(x[derivative(name, order)] for name in names))
            for order in range(2)
            for names in (self.joints, self.motors)
        ]
        second = [derivative(name, 2) for name in self.joints]
        goals = [ca.vertcat(*(x.reference(name, order) for name in self.joints)) for order in range(3)]
        goals += [ca.vertcat(*(x.reference(name, order) for name in second)) for order in (1, 2)]
        torques = self.torques(*read, *goals, *(ca.vertcat(gains[f"k{k}"]) for k in range(ORDER)))
        return {link: plain(torques[k]) for k, link in enumerate(self.links)}, {}


def _torques(system: System, joints: Sequence[str], motors: Sequence[str]) -> ca.Function:
    """Return the function (q, theta, q', theta', r ... r'''', k0 ... k3) -> torques of the actuators."""
    n = len(joints)
    at, behind = ([system.index(name) for name in names] for names in (joints, motors))
    dynamics = system.casadi["inverse_dynamics"]
    drives = [elastic_drive(system.robot.link(name.removesuffix(".q"))) for name in joints]
    stiffness = ca.DM([drive.stiffness or 0.0 for drive in drives if drive is not None])
    q, theta, v, spin = (ca.SX.sym(name, n) for name in ("q", "theta", "v", "spin"))
    a, jerk, snap = (ca.SX.sym(name, n) for name in ("a", "jerk", "snap"))

    def whole(link: Any, motor: Any) -> Any:
        out = ca.SX(system.nq, 1)
        for k in range(n):
            out[at[k]], out[behind[k]] = link[k], motor[k]
        return out

    # forces on the links with drives not wound up: M a + h
    link_forces = ca.vertcat(*(dynamics(whole(q, q), whole(v, v), whole(a, a))[k] for k in at))
    chain = ((q, v), (v, a), (a, jerk), (jerk, snap))

    def rate_of(value: Any) -> Any:
        return sum((ca.jtimes(value, x, dx) for x, dx in chain), ca.SX.zeros(n))

    first = rate_of(link_forces)
    second = rate_of(first)
    inertia = ca.jacobian(link_forces, a)
    zero = ca.SX.zeros(n)
    here = ca.densify(ca.solve(inertia, stiffness * (theta - q) - ca.substitute(link_forces, a, zero)))
    rest = stiffness * (spin - v) - ca.substitute(first, jerk, zero)
    next_one = ca.densify(ca.solve(inertia, rest))  # depends on a
    goals, weights = [ca.SX.sym(f"r{k}", n) for k in range(ORDER + 1)], [ca.SX.sym(f"k{k}", n) for k in range(ORDER)]
    rates = (q, v, a, jerk)
    snap_command = goals[ORDER] + sum((weights[k] * (goals[k] - rates[k]) for k in range(ORDER)), zero)
    push = a + second / stiffness  # theta''
    forces = dynamics(whole(q, theta), whole(v, spin), whole(a, push))
    gears = {each.coordinate.index: each.gear for each in system.actuators}
    torques = ca.vertcat(*(forces[k] / gears[k] for k in behind))
    torques = ca.substitute(torques, snap, ca.densify(snap_command))
    torques = ca.substitute(torques, jerk, next_one)
    torques = ca.substitute(torques, a, here)
    return ca.Function("torques", [q, theta, v, spin, *goals, *weights], [ca.cse(ca.densify(torques))])
