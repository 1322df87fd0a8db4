"""Torques known before a run: inverse dynamics along given motions, and torques against gravity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import casadi as ca
import numpy as np

from flexarm.analysis.rigid_kinematics import require_tree
from flexarm.control.per_joint import DrivenJoint, as_system, driven_joints, require_known, values_by_link
from flexarm.dynamics.equilibrium import equilibrium
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning, exact_model_hint
from flexarm.feedback.composition import Answer, composed
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.profiles.standard import spline
from flexarm.robot import Robot

MAX_ITERATIONS = 30
STEP_TOLERANCE = 1e-11  # Newton step, in units of each coordinate's characteristic size
SPLINE_TOLERANCE = 1e-7  # error of the splines between their points, relative to the largest torque
MAX_DURATION_S = 1e9  # floating-point times beyond it do not resolve a motion
INITIAL_POINT_COUNT, MAX_POINT_COUNT = 17, 20_000  # of a spline


@dataclass(frozen=True)
class GivenTorques:
    """Law whose torques are its references `feedforward.upper`, ..."""

    is_memoryless: ClassVar[bool] = True

    name: str
    links: tuple[str, ...]

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        return {link: x.reference(f"{self.name}.{link}") for link in self.links}, {}


def given_torques(torques: Mapping[str, Any], name: str, rate: float | None) -> Feedback:
    """Return a feedback of torques by link: numbers, profiles or functions of t."""
    references = {f"{name}.{link}": each for link, each in torques.items()}
    return composed(GivenTorques(name, tuple(torques)), [*torques], references=references, rate=rate)


def given_feedback(system: System, feedforward: Any, rate: float | None) -> Feedback | None:
    """Return the feedback that the argument `feedforward=` of a controller defines, or None."""
    if feedforward is None or isinstance(feedforward, Feedback):
        return feedforward
    if not isinstance(feedforward, Mapping) or not feedforward:
        raise TypeError(
            f"feedforward = {shown(feedforward)}: must be torques by link, as fa.feedforward gives them, or a Feedback"
        )
    require_known("feedforward", feedforward, [each.link for each in driven_joints(system)])
    return given_torques(feedforward, "feedforward", rate)


def gravity_torque(
    robot: Robot | System,
    posture: Mapping[str, float] | None = None,
    *,
    model: Literal["rigid", "flexible"] = "rigid",
    rate: float | None = None,
) -> Feedback:
    """Create torques that hold a robot against gravity, to be added to others: `pd(...) + gravity_torque(arm)`.

    Parameters
    ----------
    robot : Robot or System
        Robot without closed loops, or its equations of motion.
    posture : dict of str to float, optional
        Joint coordinates (rad or m) by link at which the robot is held (those of motors for elastic drives); torques
        are then constant. By default torques follow the measured coordinates.
    model : {"rigid", "flexible"}, optional
        "rigid" uses the weight of the rigid twin (the same robot with rigid links and drives), "flexible" that of the
        deflected robot: at its measured coordinates, or in equilibrium at `posture`.
    rate : float, optional
        Sample rate (Hz), that of the feedback to which it is added.

    Returns
    -------
    Feedback
        Law for `simulate(torque=...)`.

    See Also
    --------
    feedforward : Torques along a motion.
    equilibrium : Posture in which a robot rests.

    Examples
    --------
    >>> from flexarm.robot import Link, PointMass, Revolute
    >>> arm = Robot(links=[Link("arm", 2.0, Revolute("y"), mass=0.0, payload=PointMass(1.0))], gravity=(0, 0, -9.81))
    >>> gravity_torque(arm, {"arm": 0.0}).references["gravity.arm"](0.0)  # turning down is positive
    -19.62
    """
    system = as_system(robot)
    if model not in ("rigid", "flexible"):
        raise ValueError(f"model = {shown(model)}: must be 'rigid' or 'flexible'")
    require_tree(system, "a torque against gravity")
    joints = driven_joints(system)
    links = [each.link for each in joints]
    if posture is not None:
        given = values_by_link("posture", posture, links)
        at = {link: real_number(f"posture['{link}']", each, "rad or m") for link, each in given.items()}
        return given_torques(_holding_torques(system, joints, at, model), "gravity", rate)
    if model == "flexible":
        own = {each.link: system.joint(each.link).index for each in joints}
        return composed(FlexibleWeight(system.casadi["gravity"], tuple(joints), tuple(own.values())), links, rate=rate)
    twin = System(system.robot.rigid(), native=False)
    signals = {each.link: each.signal for each in joints}
    order = tuple(signals[each.link] for each in twin.coordinates)
    places = tuple(twin.joint(each.link).index for each in joints)
    return composed(RigidWeight(twin.casadi["gravity"], tuple(joints), places, order), links, rate=rate)


@dataclass(frozen=True)
class RigidWeight:
    """Law of the weight of a rigid twin whose coordinates are measured signals."""

    gravity: ca.Function
    joints: tuple[DrivenJoint, ...]
    places: tuple[int, ...]
    signals: tuple[str, ...]

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        return _torques(self.gravity(ca.vertcat(*(x[each] for each in self.signals))), self.joints, self.places), {}


@dataclass(frozen=True)
class FlexibleWeight:
    """Law of the weight of a robot at all its coordinates; a motor behind a spring carries the weight of its joint."""

    gravity: ca.Function
    joints: tuple[DrivenJoint, ...]
    places: tuple[int, ...]

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        q = x.q
        every = ca.SX(q) if isinstance(q, ca.SX) else ca.DM(list(map(float, q)))
        return _torques(self.gravity(every), self.joints, self.places), {}


def _torques(forces: Any, joints: tuple[DrivenJoint, ...], places: tuple[int, ...]) -> dict[str, Any]:
    found = (forces[place] / joint.gear for joint, place in zip(joints, places, strict=True))
    return {joint.link: float(each) if isinstance(each, ca.DM) else each for joint, each in zip(joints, found)}


def _holding_torques(
    system: System, joints: list[DrivenJoint], at: Mapping[str, float], model: str
) -> dict[str, float]:
    """Return the constant torques by link that hold the robot at a posture."""
    if model == "rigid":
        twin = System(system.robot.rigid(), native=False)
        forces = twin.gravity({twin.joint(link).name: each for link, each in at.items()})
        return {each.link: float(forces[twin.joint(each.link).index] / each.gear) for each in joints}
    names = {each.link: {each.signal, system.joint(each.link).name} for each in joints}
    q = equilibrium(system, {name: at[link] for link, both in names.items() for name in both})
    forces = system.inverse_dynamics(q, None, None)
    return {each.link: float(forces[system.index(each.signal)] / each.gear) for each in joints}


def quasi_static(system: System, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """Return states (n, nq) with quasi-static deflections for the motion (n, actuators) of the actuated coordinates.

    The other coordinates are in equilibrium with weight and inertia of the motion. Joints behind springs move with
    their actuators, deflections of links have no rates.
    """
    driven = [each.coordinate.index for each in system.actuators]
    passive = [k for k in range(system.nq) if k not in driven]
    states = [np.zeros((len(q), system.nq)) for _ in range(3)]
    for state, given in zip(states, (q, v, a), strict=True):
        state[:, driven] = given
        for k, each in enumerate(system.actuators):
            state[:, system.joint(each.link).index] = given[:, k]
    at, speeds, accelerations = states
    if not passive:
        return at, speeds, accelerations
    last = np.inf
    for _ in range(MAX_ITERATIONS):
        forces = system.inverse_dynamics(at, speeds, accelerations)[:, passive]
        slopes = system.linearization(at, speeds, accelerations).K[:, passive][:, :, passive]
        change = np.linalg.solve(slopes, -forces[..., None])[..., 0]
        at[:, passive] += change
        size = float(np.abs(change / system.sizes[passive]).max())
        if size < STEP_TOLERANCE or last / 2 < size < 1e-8:  # rounding is all that is left
            return at, speeds, accelerations
        if not np.isfinite(size):
            break
        last = size
    raise ArithmeticError(
        "motion: no quasi-static deflection was found; the links are too soft for its accelerations"
        f"{exact_model_hint(system.robot)}"
    )


def feedforward(
    robot: Robot | System,
    motion: Mapping[str, Any],
    duration: float,
    *,
    model: Literal["rigid", "quasi-static"] = "rigid",
) -> dict[str, Profile]:
    """Compute the torques that move a robot's joints along given motions.

    Parameters
    ----------
    robot : Robot or System
        Robot without closed loops, or its equations of motion.
    motion : dict of str to float, Profile or callable
        Motion of each joint by link (that of the motor for elastic drives): numbers, profiles or functions of t.
    duration : float
        End of the computed torques (s); they are constant before t = 0 and after it.
    model : {"rigid", "quasi-static"}, optional
        "rigid" is the inverse dynamics of the rigid twin (the same robot with rigid links and drives); "quasi-static"
        that of the robot whose links and drives are deflected, at every moment, by weight and inertia of the motion.

    Returns
    -------
    dict of str to Profile
        Torques (N m) or forces (N) by link, for `simulate(torque=...)` or `pd(..., feedforward=...)`.

    Raises
    ------
    ValueError
        If a motion jumps, or its speed does.
    ArithmeticError
        If no quasi-static deflection exists because links are too soft.

    Warns
    -----
    ValidityWarning
        If the motion is not smooth enough for accurate torques.

    See Also
    --------
    gravity_torque : Torques against gravity.
    rigid_torques : Torques along a path of the tip.
    invert : Torques with which the tip of the flexible robot follows a path.

    Examples
    --------
    >>> from flexarm.profiles.standard import cycloid
    >>> from flexarm.robot import Link, PointMass
    >>> rod = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))])
    >>> torque = feedforward(rod, {"rod": cycloid(0.0, 1.0, 2.0)}, 2.0)
    >>> bool(abs(torque["rod"](0.5) - 18 * cycloid(0.0, 1.0, 2.0)(0.5, 2)) < 1e-6)  # m l^2 times the acceleration
    True
    """
    system = as_system(robot)
    if model not in ("rigid", "quasi-static"):
        raise ValueError(f"model = {shown(model)}: must be 'rigid' or 'quasi-static'")
    require_tree(system, "a feedforward torque")
    links = [each.link for each in driven_joints(system)]
    given = values_by_link("motion", motion, links)
    profiles = {link: profile(given[link], f"motion['{link}']") for link in links}
    end = real_number("duration", duration, "s", above=0, most=MAX_DURATION_S)
    if model == "rigid":
        system = System(system.robot.rigid(), native=False)
    profiles = {link: each.look(0.0, end, 2)[0] for link, each in profiles.items()}
    for link, each in profiles.items():
        _require_smooth(link, each, end)
    return InverseDynamics(system, tuple(profiles.values()), end).torques()


@dataclass(frozen=True)
class InverseDynamics:
    """Inverse dynamics along profiles of the actuated coordinates, in the order of the actuators."""

    system: System
    motion: tuple[Profile, ...]
    end: float

    def torques(self) -> dict[str, Profile]:
        """Return splines of the torques by link, one between every two breaks of the motion."""
        edges = sorted({0.0, self.end, *(b for each in self.motion for b in each.breaks if 0 < b < self.end)})
        parts = [self._spline_segment(*both) for both in pairwise(edges)]
        return {link: _join(edges, [part[k] for part in parts]) for k, link in enumerate(self.system.inputs)}

    def _spline_segment(self, begin: float, end: float) -> list[Profile]:
        """Return splines from `begin` to `end`, with points added until they are accurate between them."""
        from scipy.interpolate import CubicSpline

        times = np.linspace(begin, end, INITIAL_POINT_COUNT)
        values = self._evaluate(times, begin, end)
        while True:
            middles = (times[1:] + times[:-1]) / 2
            between = self._evaluate(middles, begin, end)
            missed = np.abs(CubicSpline(times, values)(middles) - between).max(axis=0)
            share = float((missed / np.maximum(np.abs(values).max(), 1e-300)).max())
            if share <= SPLINE_TOLERANCE:
                break
            if 2 * len(times) > MAX_POINT_COUNT:
                sentence = f"the torques are off by up to {share:.1g} of the largest between their {len(times)} points"
                warn(f"{sentence}; the motion is not smooth there", ValidityWarning, stacklevel=5)
                break
            every = np.concatenate([times, middles])
            order = np.argsort(every, kind="stable")
            times, values = every[order], np.concatenate([values, between])[order]
        return [spline(times.tolist(), each.tolist(), after="hold") for each in values.T]

    def _evaluate(self, times: Array, begin: float, end: float) -> Array:
        """Return the torques (times, actuators), with the profile segments that hold between two breaks."""
        middle = (begin + end) / 2
        rows = [
            np.array(
                [_active_segment(each, middle).value(times, order) * np.ones(len(times)) for each in self.motion]
            ).T
            for order in range(3)
        ]
        state = quasi_static(self.system, *rows)
        forces = self.system.inverse_dynamics(*state)
        if not np.isfinite(forces).all():
            raise ValueError("motion: its torques are not finite; it is too fast or too far")
        return np.asarray(forces[:, [a.coordinate.index for a in self.system.actuators]] / self._gears)

    @property
    def _gears(self) -> Array:
        return np.array([each.gear for each in self.system.actuators])


def _active_segment(given: Profile, t: float) -> Any:
    return given.pieces[int(np.searchsorted(np.array(given.breaks), t, side="right"))]


def _join(edges: list[float], parts: list[Profile]) -> Profile:
    """Return one profile of several splines, held outside."""
    starts = (-np.inf, *edges)
    pieces = (parts[0].pieces[0], *(each.pieces[1] for each in parts), parts[-1].pieces[2])
    return Profile(starts, pieces, f"feedforward({edges[-1]:g} s)")


def _require_smooth(link: str, given: Profile, end: float) -> None:
    """Raise ValueError if a joint or its speed jumps, which would take an unbounded torque."""
    for at, before, after in zip(given.breaks, given.pieces, given.pieces[1:], strict=False):
        if not 0 < at < end:
            continue
        for order, what in enumerate(("it", "its speed")):
            left, right = (float(np.ravel(each.value(np.array([at]), order))[0]) for each in (before, after))
            if abs(right - left) > 1e-9 * max(1.0, abs(left), abs(right)):
                raise ValueError(
                    f"motion['{link}']: {what} jumps at t = {at:g} s, which no torque does; take a smooth profile such "
                    "as fa.minimum_jerk"
                )
