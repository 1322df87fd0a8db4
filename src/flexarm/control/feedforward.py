"""Torques known before a run: inverse dynamics along given motions, and torques against gravity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import casadi as ca
import numpy as np

from flexarm.analysis.rigid_kinematics import require_actuated, require_tree
from flexarm.analysis.rigid_torques import refine_grid
from flexarm.control.per_joint import DrivenJoint, driven_joints, require_known, values_by_link
from flexarm.dynamics.accuracy.validity import exact_model_hint
from flexarm.dynamics.equilibrium import find_equilibrium
from flexarm.dynamics.system import System, as_system
from flexarm.feedback.composition import Answer, composed
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.derived import joined
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.profiles.standard import spline
from flexarm.robot import Robot

MAX_ITERATIONS = 30
STEP_TOLERANCE = 1e-11  # Newton step, in units of each coordinate's characteristic size
MAX_DURATION_S = 1e9  # floating-point times beyond it do not resolve a motion
INITIAL_POINT_COUNT = 17  # of a spline


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
    weigh, signals = system, None
    if model == "rigid":
        weigh, own = System(system.robot.rigid(), native=False), {each.joint: each.signal for each in joints}
        signals = tuple(own.get(name, name) for name in weigh.names)
    places = tuple(weigh.index(each.joint) for each in joints)
    return composed(Weight(weigh.casadi["gravity"], tuple(joints), places, signals), links, rate=rate)


@dataclass(frozen=True)
class Weight:
    """Law of the weight at measured coordinates; a motor behind a spring carries the weight of its joint.

    `gravity` is a function of the coordinates with the names `signals`, or of all if these are None; `places` are the
    coordinates of the joints among its results.
    """

    gravity: ca.Function
    joints: tuple[DrivenJoint, ...]
    places: tuple[int, ...]
    signals: tuple[str, ...] | None

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        if self.signals is not None:
            q = ca.vertcat(*(x[each] for each in self.signals))
        else:
            q = ca.SX(x.q) if isinstance(x.q, ca.SX) else ca.DM(list(map(float, x.q)))
        forces = self.gravity(q)
        return {each.link: plain(forces[k] / each.gear) for each, k in zip(self.joints, self.places)}, {}


def plain(value: Any) -> Any:
    """Return a number of CasADi as a float; symbols are returned unchanged."""
    return float(value) if isinstance(value, ca.DM) else value


def _holding_torques(
    system: System, joints: list[DrivenJoint], at: Mapping[str, float], model: str
) -> dict[str, float]:
    """Return the constant torques by link that hold the robot at a posture."""
    if model == "rigid":
        twin = System(system.robot.rigid(), native=False)
        forces = twin.gravity(find_equilibrium(twin, {each.joint: at[each.link] for each in joints}))
        return {each.link: float(forces[twin.index(each.joint)] / each.gear) for each in joints}
    names = {each.link: {each.signal, each.joint} for each in joints}
    q = find_equilibrium(system, {name: at[link] for link, both in names.items() for name in both})
    forces = system.inverse_dynamics(q, None, None)
    return {each.link: float(forces[system.index(each.signal)] / each.gear) for each in joints}


def quasi_static(system: System, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """Return states for a motion of the actuated coordinates with the others in equilibrium, shape (n, nq)."""
    driven = [each.coordinate.index for each in system.actuators]
    passive = [k for k in range(system.nq) if k not in driven]
    states = [np.zeros((len(q), system.nq)) for _ in range(3)]
    for state, given in zip(states, (q, v, a), strict=True):
        state[:, driven] = given
        for k, each in enumerate(system.actuators):
            state[:, each.joint.index] = given[:, k]
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
    require_actuated(system, "a feedforward torque")
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
        parts = []
        for begin, end in pairwise(edges):
            grid = np.linspace(begin, end, INITIAL_POINT_COUNT)
            start = self._evaluate(grid)
            times, values = refine_grid("motion", grid, start, lambda _, __, t: self._evaluate(t), _spline_error)
            parts.append([spline(times.tolist(), each.tolist(), after="hold") for each in values.T])
        name = f"feedforward({self.end:g} s)"
        return {link: joined(each, edges, name) for link, each in zip(self.system.inputs, zip(*parts), strict=True)}

    def _evaluate(self, times: Array) -> Array:
        """Return the torques (times, actuators), with the profile segments that hold between two breaks."""
        middle = (times[0] + times[-1]) / 2
        active = [each.pieces[int(np.searchsorted(each.breaks, middle, side="right"))] for each in self.motion]
        ones = np.ones(len(times))
        rows = [np.stack([each.value(times, order) * ones for each in active], axis=1) for order in range(3)]
        forces = self.system.inverse_dynamics(*quasi_static(self.system, *rows))
        if not np.isfinite(forces).all():
            raise ValueError("motion: its torques are not finite; it is too fast or too far")
        actuators = self.system.actuators
        return np.asarray(forces[:, [a.coordinate.index for a in actuators]] / np.array([a.gear for a in actuators]))


def _spline_error(times: Array, values: Array, middles: Array, between: Array) -> float:
    """Return the largest error of cubic splines at the middles of their steps, relative to the largest torque."""
    from scipy.interpolate import CubicSpline

    missed = np.abs(CubicSpline(times, values)(middles) - between)
    return float(missed.max() / max(np.abs(values).max(), 1e-300))


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
