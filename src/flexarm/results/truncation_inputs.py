"""Inputs of a run on an even grid of times, for linear robots with any shapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from flexarm.dynamics.accuracy.shape_truncation import WARNING_WEIGHT, Comparison
from flexarm.dynamics.accuracy.straight_motion import motion_forces
from flexarm.dynamics.system import System
from flexarm.feedback.linearized_law import LinearizedLaw, continuous_law, linearized
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule
from flexarm.profiles.derived import pieces_of
from flexarm.profiles.profile import Profile
from flexarm.profiles.segments import Opaque
from flexarm.results.linear_response import product
from flexarm.robot import MovingJoint

POINTS_PER_PERIOD = 8  # of the fastest mode that is followed
SAMPLES_PER_POINT = 3  # of inputs, whose mean counts
MIN_POINTS, MAX_POINTS = 200, 6000
MOTION_POINTS = 300  # at which forces of the motion are evaluated, which changes slowly
LAW_POINTS = 1000  # at which a law is evaluated
AT_REST = 0.1  # distance from the linear static deflection, as a share of it, of links at rest in equilibrium
STILL = 1e-9  # angle (rad) or distance (m): joints that move less rest

Samples = tuple[Array, Array]  # times, and rows of values


@dataclass(frozen=True)
class JointMotion:
    """Slow motion of the joints in a run: times, and coordinates and rates by link."""

    times: Array
    positions: dict[str, Array]
    rates: dict[str, Array]


@dataclass(frozen=True)
class SampledInputs:
    """Inputs on an even grid of times: means over each interval.

    drives: by actuator its kind and values: "acceleration", "torque" or "law" (zero);
    loads: by load, values of its six components; friction: Coulomb friction by link;
    motion: None if joints rest, or if their motion is not known;
    law: (nu + states, times), torques and rates of states that do not depend on the state.
    """

    dt: float
    points: int
    drives: list[tuple[str, Array]]
    loads: list[list[Array]]
    friction: dict[str, Array]
    motion: JointMotion | None
    law: Array


@dataclass(frozen=True)
class FeedbackLoop:
    """A linearized law around a linear robot.

    slopes: (nu + states, 2 nq + states), of torques and of rates of states; torques: (n, nu), generalized forces of
    unit torques; readings: (bases, nq, n), coordinates that the law reads; rest: (nu + states, times), what does not
    depend on the state; start: states at the start.
    """

    slopes: Array
    torques: Array
    readings: Array
    rest: Array
    start: Array


@dataclass(frozen=True)
class Excitation:
    """Forces on a linear robot on an even grid of times.

    held: columns of joints and motors whose motion is given; forces: (n, times), means over each interval;
    start: (bases, 2, n), coordinates and rates at the start; loop: the law, if one moves joints.
    """

    dt: float
    held: tuple[int, ...]
    forces: Array
    start: Array
    loop: FeedbackLoop | None


class NotCompared(ValueError):
    """Inputs that cannot be given to another robot."""


class RunInputs:
    """Inputs of a run as functions of time, for any basis.

    start: (2, nq), coordinates and rates at the start.
    rates: times, and rates of all coordinates in the course of the run. They stand for motions that are functions of
        the user, which are not called again, and give the forces of the motion.
    torques: times, and torques of all actuators, that stand for functions of the user and for digital controllers.
    loads: times, and the components of all loads, (times, loads, 6).
    law_states: times, and states of a law.
    stuck: links whose joints do not move, apart from those of the run (because of friction).
    """

    def __init__(
        self,
        system: System,
        schedule: Schedule,
        duration: float,
        start: Array,
        rates: Samples | None = None,
        torques: Samples | None = None,
        loads: Samples | None = None,
        law_states: Samples | None = None,
        stuck: frozenset[str] = frozenset(),
    ) -> None:
        self.system, self.schedule, self.duration, self.start = system, schedule, duration, start
        self.rates, self.torques, self.loads = rates, torques, loads
        self.law_states, self.stuck = law_states, stuck

    def with_stuck(self, links: frozenset[str]) -> RunInputs:
        """Return the same inputs with joints that do not move apart from their motion in the run."""
        recorded = self.rates, self.torques, self.loads, self.law_states
        return RunInputs(self.system, self.schedule, self.duration, self.start, *recorded, links)

    def key(self, these: Comparison) -> tuple[object, ...] | None:
        """Return what decides the estimate; None if recorded motions or torques do.

        Profiles are compared by value, splines by identity. Functions of the user are not compared: they may give
        other values in the next run.
        """
        loads = [(load.link, load.x, *parts) for load, parts in self.schedule.loads]
        if self.schedule.feedback is not None or not self.schedule.is_data:
            return None
        inputs = (*self.schedule.torques, None, *self.schedule.motions.items(), None, *loads)
        return these, self.duration, inputs, self.start.tobytes(), self.rates is None

    @cached_property
    def law(self) -> LinearizedLaw | None:
        """The law, linearized about the run; None if there is none, or if it cannot be evaluated."""
        feedback, n = self.schedule.feedback, self.system.nq
        law = None if feedback is None else continuous_law(feedback, self.system, self.schedule.law)
        if law is None or self.rates is None or any(is_function(each.profile) for each in law.channels):
            return None
        every = np.linspace(0, len(self.rates[0]) - 1, min(len(self.rates[0]), LAW_POINTS)).astype(int)
        times, v = self.rates[0][every], self.rates[1][every, :n]
        q = self._positions[every]
        own = np.repeat(law.start[None, :], len(times), axis=0)
        if self.law_states is not None:
            own = np.stack([np.interp(times, self.law_states[0], each) for each in self.law_states[1].T], axis=1)
        inside = np.minimum(times, np.nextafter(self.duration, 0.0))  # at the end a profile may jump
        return linearized(law, inside, q, v, own)

    @cached_property
    def kinds(self) -> list[str]:
        """What moves the joint of each actuator: "motion", "held" (motion as recorded), "law" or "torque"."""
        found, feedback = [], self.schedule.feedback
        for k, actuator in enumerate(self.system.actuators):
            if actuator.coordinate.index in self.schedule.motions:
                found.append("motion")
            elif actuator.link in self.stuck:
                found.append("held")
            elif feedback is None:
                found.append("torque")
            elif self.law is not None:
                found.append("law")
            else:
                idle = self.torques is not None and not self.torques[1][:, k].any()
                found.append("torque" if idle else "held")
        return found

    def held(self, these: Comparison) -> tuple[int, ...]:
        """Return the columns of joints and motors whose motion is given."""
        return self._columns(these, "motion", "held")

    @property
    def controlled_links(self) -> frozenset[str]:
        """Links whose joints a law moves that is evaluated."""
        pairs = zip(self.system.actuators, self.kinds, strict=True)
        return frozenset(each.link for each, kind in pairs if kind == "law")

    def holds(self, these: Comparison) -> bool:
        """Return True if joints move as given, or under a law that is stiffer than the inertia of the links.

        A law is so if it moves each joint less than inertia would under the same torque, at the first frequency of the
        robot with its joints held.
        """
        held, law = set(self.held(these)), self.controlled(these)
        frequencies = these.frequencies(these.actuated).refined
        if {*held, *law} != set(these.actuated) or not frequencies:
            return False
        if not law:
            return True
        assert self.law is not None
        omega, nq = 2 * np.pi * min(frequencies), self.system.nq
        for k, (actuator, column) in enumerate(zip(self.system.actuators, these.actuated, strict=True)):
            place = actuator.coordinate.index
            slope = actuator.gear * np.hypot(self.law.slopes[k, place], omega * self.law.slopes[k, nq + place])
            if column in law and slope < omega**2 * these.straight.mass[column, column]:
                return False
        return True

    def controlled(self, these: Comparison) -> tuple[int, ...]:
        """Return the columns of joints and motors that a law moves which is evaluated."""
        return self._columns(these, "law")

    def _columns(self, these: Comparison, *kinds: str) -> tuple[int, ...]:
        columns = dict(zip(these.straight.rigid, these.actuated, strict=True))
        pairs = zip(self.system.actuators, self.kinds, strict=True)
        return tuple(columns[actuator.link] for actuator, kind in pairs if kind in kinds)

    def sampled(self, these: Comparison) -> SampledInputs:
        """Return the inputs on a grid that follows modes that matter, and jumps of the inputs.

        A run that would need too many points is followed from its start as long as they suffice.
        """
        figures = [these.frequencies(self.held(these))]
        if controlled := self.controlled(these):
            figures.append(these.frequencies(sorted({*self.held(these), *controlled})))
        inside = (each for each in self.schedule.jumps if 0 < each < self.duration)
        jumps = np.array(sorted({0.0, self.duration, *inside}))  # np.unique imports numpy.ma
        slowest = 1.0 / self.duration
        fastest = min(
            1 / (POINTS_PER_PERIOD * max(max(each.refined, default=slowest) for each in figures)),
            float(np.diff(jumps).min()) / 2,
            float(self.schedule.pace.longest.min(initial=np.inf)),
        )
        points = int(np.clip(np.ceil(self.duration / fastest), MIN_POINTS, MAX_POINTS))
        pairs = [pair for each in figures for pair in zip(each.refined, each.weight, strict=True)]
        strong = [each for each, weight in pairs if weight >= WARNING_WEIGHT]
        dt = min(self.duration / points, 1 / (POINTS_PER_PERIOD * max(strong, default=slowest)))
        points = min(points, int(np.ceil(self.duration / dt - 1e-9)))
        edges = np.minimum(np.arange(points + 1) * dt, self.duration)
        fine = np.asarray((np.arange(SAMPLES_PER_POINT * points) + 0.5) * (dt / SAMPLES_PER_POINT), dtype=float)

        def mean(values: Array) -> Array:
            return np.asarray(values.reshape(points, SAMPLES_PER_POINT).mean(axis=1))

        drives = [self._drive(k, kind, fine, edges, mean) for k, kind in enumerate(self.kinds)]
        loads = []
        for k, (_, parts) in enumerate(self.schedule.loads):
            if not any(map(is_function, parts)):
                loads.append([mean(part.values(fine)) for part in parts])
            elif self.loads is not None:
                loads.append([mean(np.interp(fine, self.loads[0], each)) for each in self.loads[1][:, k].T])
            else:
                raise NotCompared("a load is a function, which is not called again")
        law = np.zeros((0, points))
        if self.law is not None:
            law = np.stack([mean(np.interp(fine, self.law.times, each)) for each in self.law.rest.T])
        motion = self._motion(min(strong, default=np.inf))
        return SampledInputs(dt, points, drives, loads, self._friction(edges), motion, law)

    def _drive(self, k: int, kind: str, fine: Array, edges: Array, mean: Callable[[Array], Array]) -> tuple[str, Array]:
        """Return what moves an actuator, and its values."""
        place = self.system.actuators[k].coordinate.index
        if kind in ("motion", "held"):
            # A speed that jumps is an acceleration within one interval.
            return "acceleration", np.diff(self._rate(place, edges)) / np.diff(edges)
        if kind == "law":
            return "law", np.zeros(len(edges) - 1)
        if self.schedule.feedback is not None:
            return "torque", np.zeros(len(edges) - 1)
        if not is_function(self.schedule.torques[k]):
            return "torque", mean(self.schedule.torques[k].values(fine))
        if self.torques is None:
            raise NotCompared("a torque is a function, which is not called again")
        return "torque", mean(np.interp(fine, self.torques[0], self.torques[1][:, k]))

    def _rate(self, place: int, times: Array) -> Array:
        """Return the rate of a coordinate: of its motion, or as recorded."""
        motion = self.schedule.motions.get(place)
        if motion is not None and not is_function(motion):
            return np.asarray(motion.values(np.minimum(times, np.nextafter(self.duration, 0.0)), 1))
        if self.rates is None:
            raise NotCompared("the motion of joints was not stored")
        return np.asarray(np.interp(times, self.rates[0], self.rates[1][:, place]))

    @cached_property
    def _positions(self) -> Array:
        """Coordinates at the times of the rates, (times, nq)."""
        assert self.rates is not None
        times, v = self.rates
        steps = np.diff(times)[:, None] * (v[1:] + v[:-1]) / 2
        return np.asarray(self.start[0] + np.vstack([np.zeros(v.shape[1]), np.cumsum(steps, axis=0)]))

    def _motion(self, frequency: float) -> JointMotion | None:
        """Return the motion of the joints; without vibrations of this frequency (Hz) or faster if it is not given."""
        if self.rates is None:
            return None
        times, (recorded, _) = np.linspace(0.0, self.duration, MOTION_POINTS), self.rates
        half = np.clip(1 / frequency, self.duration / MOTION_POINTS, self.duration) / 2
        before, after = np.maximum(times - half, 0.0), np.minimum(times + half, self.duration)
        positions, rates, moves = dict[str, Array](), dict[str, Array](), False
        for each in self.system.coordinates:
            if each.kind != "joint":
                continue
            q = self._positions[:, each.index]
            moves |= bool(np.ptp(q) > STILL)
            if each.index in self.schedule.motions:
                positions[each.link], rates[each.link] = np.interp(times, recorded, q), self._rate(each.index, times)
                continue
            begin, middle, end = (np.interp(at, recorded, q) for at in (before, times, after))
            positions[each.link] = (begin + 2 * middle + end) / 4
            rates[each.link] = (end - begin) / (after - before)
        return JointMotion(times, positions, rates) if moves else None

    def _friction(self, edges: Array) -> dict[str, Array]:
        """Return Coulomb friction in the recorded motion, by link with a joint that has it and is not held."""
        held = {
            one.link for one, kind in zip(self.system.actuators, self.kinds, strict=True) if kind in ("motion", "held")
        }
        found = dict[str, Array]()
        for link in self.system.robot.links if self.rates is not None else ():
            joint = link.joint
            if isinstance(joint, MovingJoint) and joint.coulomb and link.name not in held:
                rate = self._rate(self.system.joint(link.name).index, (edges[1:] + edges[:-1]) / 2)
                found[link.name] = -joint.coulomb * np.tanh(rate / joint.coulomb_speed)
        return found

    def excitation(self, these: Comparison, sampled: SampledInputs) -> Excitation:
        """Return the inputs as generalized forces on the coordinates of both bases."""
        straight, names = these.straight, [link.name for link in self.system.robot.links]
        columns, unit = dict(zip(straight.rigid, these.actuated, strict=True)), np.eye(len(straight.mass))
        parts = [(unit[straight.rigid[link][0]], values) for link, values in sampled.friction.items()]
        for actuator, (kind, values) in zip(self.system.actuators, sampled.drives, strict=True):
            column = columns[actuator.link]
            push = actuator.gear * unit[column] if kind == "torque" else -straight.mass @ these.rigid_motions[column]
            parts.append((push, values))
        for (load, _), components in zip(self.schedule.loads, sampled.loads, strict=True):
            for wrench, values in zip(np.eye(6), components, strict=True):
                parts.append((straight.force(names[load.link], load.x, wrench.tolist()), values))
        kept = [(force, values) for force, values in parts if values.any() and force.any()]
        if sampled.motion is None:
            kept.append((straight.weight, np.ones(sampled.points)))
        forces = np.zeros((len(straight.mass), sampled.points))
        if kept:
            columns_of, values_of = zip(*kept, strict=True)
            forces += product(np.column_stack(columns_of), np.array(values_of))
        if sampled.motion is not None:
            forces += self._forces_of(these, sampled.motion, np.asarray((np.arange(sampled.points) + 0.5) * sampled.dt))
        loop = self._loop(these, sampled.law) if self.controlled_links else None
        return Excitation(sampled.dt, self.held(these), forces, self._start(these), loop)

    def _loop(self, these: Comparison, rest: Array) -> FeedbackLoop:
        """Return the law around both bases."""
        assert self.law is not None
        straight, nq = these.straight, self.system.nq
        columns, unit = dict(zip(straight.rigid, these.actuated, strict=True)), np.eye(len(straight.mass))
        pairs = zip(self.system.actuators, self.kinds, strict=True)
        torques = np.array([(kind == "law") * each.gear * unit[columns[each.link]] for each, kind in pairs]).T
        readings, posture = np.zeros((2, nq, len(straight.mass))), np.zeros(nq)
        for each in self.system.coordinates:
            if each.kind != "elastic":
                joint, motor = straight.rigid[each.link]
                readings[:, each.index, joint if each.kind == "joint" else motor] = 1.0
                posture[each.index] = self.start[0, self.system.joint(each.link).index]
        loose = np.flatnonzero(self.system.elastic)
        for basis in range(2):
            readings[basis][np.ix_(loose, these.elastic_columns(basis))] = these.readings(basis)
        rest = rest + (self.law.slopes[:, :nq] @ posture)[:, None]
        return FeedbackLoop(self.law.slopes, torques, readings, rest, self.law.start)

    def _forces_of(self, these: Comparison, motion: JointMotion, times: Array) -> Array:
        """Return weight and forces of velocities at times, (n, times)."""
        known = motion_forces(these.straight, motion.positions, motion.rates)
        place = np.minimum(times / (motion.times[1] - motion.times[0]), len(motion.times) - 1 - 1e-9)
        left = place.astype(int)
        return np.asarray(known[:, left] + (place - left) * (known[:, left + 1] - known[:, left]))

    def _start(self, these: Comparison) -> Array:
        """Return coordinates and their rates at the start, for both bases, apart from what is held.

        A robot at rest in static equilibrium is so in both bases, each with its own deflections; else the start is that
        of the run, projected on the shapes.
        """
        straight = these.straight
        start = np.zeros((2, 2, len(straight.mass)))
        loose = np.flatnonzero(self.system.elastic)
        columns, sags = these.elastic_columns(these.run_basis), these.static_deflections
        bent = self.start[0][loose]
        settled = np.linalg.norm(bent - sags[these.run_basis][columns]) <= AT_REST * np.linalg.norm(bent)
        if settled and not np.any(self.start[1][loose]):
            start[0, 0], start[1, 0] = sags[:2]
        else:
            start[:, :, columns] = self.start[:, loose]
        place = {(each.link, each.kind): each.index for each in self.system.coordinates if each.kind != "elastic"}
        held = self.held(these)
        for link, (joint, motor) in straight.rigid.items():
            start[:, 1, joint] = self.start[1, place[link, "joint"]]
            if motor is not None:
                wound = self.start[:, place[link, "motor"]] - self.start[:, place[link, "joint"]]
                start[:, 0, motor], start[:, 1, motor] = wound[0], self.start[1, place[link, "motor"]]
                if motor in held:  # the joint moves apart from it
                    start[:, :, joint] = -wound
        start[:, :, list(held)] = 0.0
        return start


def is_function(profile: Profile) -> bool:
    """Return True if a profile calls a function of the user."""
    return any(isinstance(each, Opaque) for each in pieces_of(profile))
