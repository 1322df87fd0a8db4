"""Torques that are known before a run, as a feedback that others can be added to.

Torques that carry a robot's weight: at measured coordinates, or for a posture in which it is to be held.

How links and drives deflect under a motion that is slow against their vibration.

Torques by inverse dynamics along given motions of the joints.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import casadi as ca
import numpy as np

from flexarm.analysis.rigid_kinematics import require_tree
from flexarm.control.per_joint import DrivenJoint, driven_joints, require_known, system_of, values_by_link
from flexarm.dynamics.equilibrium import equilibrium
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning, exact_model_hint
from flexarm.feedback.composition import Answer, composed
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.profiles.standard import spline
from flexarm.robot import Robot


@dataclass(frozen=True)
class GivenTorques:
    """A law that says what its references say: `feedforward.upper`, ..."""

    is_memoryless: ClassVar[bool] = True

    name: str
    links: tuple[str, ...]

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        return {link: x.reference(f"{self.name}.{link}") for link in self.links}, {}


def given_torques(torques: Mapping[str, Any], name: str, rate: float | None) -> Feedback:
    """A feedback of numbers, profiles or functions of t by link."""
    references = {f"{name}.{link}": each for link, each in torques.items()}
    return composed(GivenTorques(name, tuple(torques)), [*torques], references=references, rate=rate)


def given_feedback(system: System, feedforward: Any, rate: float | None) -> Feedback | None:
    """What `feedforward=` of a controller asks for."""
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
    model: Literal["rigid", "flexible"] = "rigid",
    rate: float | None = None,
) -> Feedback:
    """Torques that hold a robot against gravity, to be added to others: `fa.pd(...) + fa.gravity_torque(arm)`.

    robot: which is held.
    posture: by link where its joints (motors of elastic drives) are to be held: torques are then constant. Without it
    they are those of where the joints are.
    model: "rigid" is the weight of the rigid twin with its joints there (motors, of elastic drives); "flexible" that of
    the robot as it is bent: as coordinates of links and joints say, or in the equilibrium of a posture.
    rate: sample rate (Hz), that of the feedback to which it is added.

    >>> from flexarm.robot import Link, PointMass, Revolute
    >>> arm = Robot(links=[Link("arm", 2.0, Revolute("y"), mass=0.0, payload=PointMass(1.0))], gravity=(0, 0, -9.81))
    >>> gravity_torque(arm, {"arm": 0.0}).references["gravity.arm"](0.0)  # turning down is positive
    -19.62
    """
    system = system_of(robot)
    if model not in ("rigid", "flexible"):
        raise ValueError(f"model = {shown(model)}: must be 'rigid' or 'flexible'")
    require_tree(system, "a torque against gravity")
    joints = driven_joints(system)
    links = [each.link for each in joints]
    if posture is not None:
        given = values_by_link("posture", posture, links)
        at = {link: real_number(f"posture['{link}']", each, "rad or m") for link, each in given.items()}
        return given_torques(_held(system, joints, at, model), "gravity", rate)
    if model == "flexible":
        own = {each.link: system.joint(each.link).index for each in joints}
        return composed(BentWeight(system.casadi["gravity"], tuple(joints), tuple(own.values())), links, rate=rate)
    twin = System(system.robot.rigid(), native=False)
    signals = {each.link: each.signal for each in joints}
    order = tuple(signals[each.link] for each in twin.coordinates)
    places = tuple(twin.joint(each.link).index for each in joints)
    return composed(RigidWeight(twin.casadi["gravity"], tuple(joints), places, order), links, rate=rate)


@dataclass(frozen=True)
class RigidWeight:
    """Of a rigid twin whose coordinates are signals."""

    gravity: ca.Function
    joints: tuple[DrivenJoint, ...]
    places: tuple[int, ...]
    signals: tuple[str, ...]

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        return _torques(self.gravity(ca.vertcat(*(x[each] for each in self.signals))), self.joints, self.places), {}


@dataclass(frozen=True)
class BentWeight:
    """Of a robot with all its coordinates. Behind a spring the motor has no weight: it carries its joint's."""

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


def _held(system: System, joints: list[DrivenJoint], at: Mapping[str, float], model: str) -> dict[str, float]:
    if model == "rigid":
        twin = System(system.robot.rigid(), native=False)
        forces = twin.gravity({twin.joint(link).name: each for link, each in at.items()})
        return {each.link: float(forces[twin.joint(each.link).index] / each.gear) for each in joints}
    names = {each.link: {each.signal, system.joint(each.link).name} for each in joints}
    q = equilibrium(system, {name: at[link] for link, both in names.items() for name in both})
    forces = system.inverse_dynamics(q, None, None)
    return {each.link: float(forces[system.index(each.signal)] / each.gear) for each in joints}


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
        f"{exact_model_hint(system.robot)}"
    )


ACCURATE = 1e-7  # of the largest torque, that splines may miss between their points
LONGEST = 1e9  # s: beyond it times have no digits left for a motion
POINTS, MOST_POINTS = 17, 20_000  # of a spline


def feedforward(
    robot: Robot | System,
    motion: Mapping[str, Any],
    duration: float,
    model: Literal["rigid", "quasi-static"] = "rigid",
) -> dict[str, Profile]:
    """Torques by link that move a robot's joints: for `simulate(torque=...)` or `fa.pd(..., feedforward=...)`.

    robot: whose joints are moved.
    motion: by link numbers, profiles or functions of t that its joints (motors, of elastic drives) are to follow.
    duration: until when torques are computed (s); before t = 0 and after it they are held.
    model: "rigid" is the inverse dynamics of the rigid twin; "quasi-static" that of the robot whose links and drives
    are bent, at every moment, as weight and inertia of the motion bend them.

    >>> from flexarm.profiles.standard import cycloid
    >>> from flexarm.robot import Link, PointMass
    >>> rod = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))])
    >>> torque = feedforward(rod, {"rod": cycloid(0.0, 1.0, 2.0)}, 2.0)
    >>> bool(abs(torque["rod"](0.5) - 18 * cycloid(0.0, 1.0, 2.0)(0.5, 2)) < 1e-6)  # m l^2 times the acceleration
    True
    """
    system = system_of(robot)
    if model not in ("rigid", "quasi-static"):
        raise ValueError(f"model = {shown(model)}: must be 'rigid' or 'quasi-static'")
    require_tree(system, "a feedforward torque")
    links = [each.link for each in driven_joints(system)]
    given = values_by_link("motion", motion, links)
    wanted = {link: profile(given[link], f"motion['{link}']") for link in links}
    end = real_number("duration", duration, "s", above=0, most=LONGEST)
    if model == "rigid":
        system = System(system.robot.rigid(), native=False)
    wanted = {link: each.look(0.0, end, 2)[0] for link, each in wanted.items()}
    for link, each in wanted.items():
        _require_smooth(link, each, end)
    return InverseDynamics(system, tuple(wanted.values()), end).torques()


@dataclass(frozen=True)
class InverseDynamics:
    """Of actuated coordinates along profiles, in the order of the actuators."""

    system: System
    motion: tuple[Profile, ...]
    end: float

    def torques(self) -> dict[str, Profile]:
        """Splines, one between every two breaks of the motion."""
        edges = sorted({0.0, self.end, *(b for each in self.motion for b in each.breaks if 0 < b < self.end)})
        parts = [self._part(*both) for both in pairwise(edges)]
        return {link: _joined(edges, [part[k] for part in parts]) for k, link in enumerate(self.system.inputs)}

    def _part(self, begin: float, end: float) -> list[Profile]:
        """With points halved until splines tell what is between them."""
        from scipy.interpolate import CubicSpline

        times = np.linspace(begin, end, POINTS)
        values = self._at(times, begin, end)
        while True:
            middles = (times[1:] + times[:-1]) / 2
            between = self._at(middles, begin, end)
            missed = np.abs(CubicSpline(times, values)(middles) - between).max(axis=0)
            share = float((missed / np.maximum(np.abs(values).max(), 1e-300)).max())
            if share <= ACCURATE:
                break
            if 2 * len(times) > MOST_POINTS:
                sentence = f"the torques are off by up to {share:.1g} of the largest between their {len(times)} points"
                warnings.warn(f"{sentence}; the motion is not smooth there", ValidityWarning, stacklevel=5)
                break
            every = np.concatenate([times, middles])
            order = np.argsort(every, kind="stable")
            times, values = every[order], np.concatenate([values, between])[order]
        return [spline(times.tolist(), each.tolist(), after="hold") for each in values.T]

    def _at(self, times: Array, begin: float, end: float) -> Array:
        """(times, actuators), by the pieces that hold between two breaks."""
        middle = (begin + end) / 2
        rows = [
            np.array([_piece(each, middle).value(times, rate) * np.ones(len(times)) for each in self.motion]).T
            for rate in range(3)
        ]
        state = quasi_static(self.system, *rows)
        forces = self.system.inverse_dynamics(*state)
        if not np.isfinite(forces).all():
            raise ValueError("motion: its torques are not finite; it is too fast or too far")
        return np.asarray(forces[:, [a.coordinate.index for a in self.system.actuators]] / self._gears)

    @property
    def _gears(self) -> Array:
        return np.array([each.gear for each in self.system.actuators])


def _piece(given: Profile, t: float) -> Any:
    return given.pieces[int(np.searchsorted(np.array(given.breaks), t, side="right"))]


def _joined(edges: list[float], parts: list[Profile]) -> Profile:
    """Held outside."""
    starts = (-np.inf, *edges)
    pieces = (parts[0].pieces[0], *(each.pieces[1] for each in parts), parts[-1].pieces[2])
    return Profile(starts, pieces, f"feedforward({edges[-1]:g} s)")


def _require_smooth(link: str, given: Profile, end: float) -> None:
    """A joint that jumps, or whose speed does, would take a torque without bound."""
    for at, before, after in zip(given.breaks, given.pieces, given.pieces[1:], strict=False):
        if not 0 < at < end:
            continue
        for rate, what in enumerate(("it", "its speed")):
            left, right = (float(np.ravel(each.value(np.array([at]), rate))[0]) for each in (before, after))
            if abs(right - left) > 1e-9 * max(1.0, abs(left), abs(right)):
                raise ValueError(
                    f"motion['{link}']: {what} jumps at t = {at:g} s, which no torque does; take a smooth profile such "
                    "as fa.minimum_jerk"
                )
