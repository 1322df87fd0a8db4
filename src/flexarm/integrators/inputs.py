"""Inputs of a run: which profile or law drives what, and the inputs of a plant at any times."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import count, takewhile
from typing import Any

import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.bodies import ActuatorInput
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.system import System
from flexarm.feedback.actuators import HeldTorques
from flexarm.feedback.digital_law import Commands, DigitalLaw, Replay
from flexarm.feedback.feedback import feedback_of
from flexarm.feedback.measurements import Instant
from flexarm.feedback.traced_law import TracedLaw
from flexarm.foundation.interrupts import StopRun, failure_reason
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array
from flexarm.integrators.constraint_solver import Stabilization
from flexarm.integrators.controlled_plant import ControlledPlant, error_weights
from flexarm.integrators.loads import loads_of
from flexarm.integrators.plant import Loads, Plant, PlantParameters
from flexarm.profiles.bandwidth import Bandwidth, StepBounds, combined_bandwidth, node_factor, unlimited_bandwidth
from flexarm.profiles.coefficients import CoefficientSegment, SegmentTable, Stretch
from flexarm.profiles.derived import DATA_SEGMENTS, pieces_of
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile, require_data
from flexarm.profiles.standard import constant
from flexarm.profiles.tracing import Channel

EQUAL_TIMES = 1e-12  # of the run: times that are nearer than this are one stop


class Schedule:
    """All inputs of one run: torques by profile or law, prescribed motions, and loads."""

    def __init__(self, system: System, torque: Any, motion: Any, loads: Any) -> None:
        self.system = system
        self.feedback = feedback_of(torque)
        self.torques = _torques(system, torque if self.feedback is None else None)
        self.motions = _motions(system, motion)
        self._require_one_master(torque)
        self.loads = loads_of(system, loads)
        self.driven = list(self.motions)
        digital = self.feedback is not None and self.feedback.rate is not None
        self.controller: DigitalLaw | Replay | None = None
        if self.feedback and digital:
            self.controller = DigitalLaw(self.feedback, system)
        self.law = TracedLaw(self.feedback, system) if self.feedback and not digital else None
        self._weights = np.zeros(0 if self.law is None else 3 * len(self.law.states))
        self.outlooks: dict[str, Bandwidth] = {}
        self._outlook = unlimited_bandwidth()
        self.pace = StepBounds.of(np.zeros((0, 3)), np.inf)
        self._late: list[tuple[float, float]] = []
        self._table_of: tuple[int, SegmentTable | None] | None = None

    def look(self, duration: float, q: Array, v: Array) -> None:
        """Learn how fast all inputs are between 0 and the duration, and where functions jump; of a law's own formula of
        t, in the state in which the run begins."""
        self.require_data(duration)
        seen: list[tuple[str, Bandwidth]] = []

        def known(name: str, each: Profile, order: int) -> Profile:
            found, outlook = each.look(0.0, duration, order)
            seen.append((name, outlook))
            return found

        self.torques = [known(name, each, 0) for name, each in zip(self._torque_names, self.torques, strict=True)]
        self.loads = [
            (load, [known(f"loads[{k}]", each, 0) for each in parts]) for k, (load, parts) in enumerate(self.loads)
        ]
        for k, each in self.motions.items():
            self.motions[k] = found = known(f"the motion of '{self.system.names[k]}'", each, 2)
            if found.starts != each.starts:
                _require_no_jump(found, next(one for one in self.system.actuators if one.coordinate.index == k))
        if self.law is not None:
            seen += [("a profile in the feedback law", each.look(0.0, duration)) for each in self.law.channels]
            seen.append(("the feedback law", self.law.look(duration, q, v)))
        self.outlooks = {name: combined_bandwidth(each for source, each in seen if source == name) for name, _ in seen}
        self._outlook = combined_bandwidth(self.outlooks.values())
        self.pace = StepBounds.of(self._outlook.stretches, duration)
        vars(self).pop("jumps", None)  # functions may jump, too
        self._late = self._late_jumps(duration)
        self.last_jump = max((time for time in self.jumps if 0 <= time < duration), default=0.0)
        if self.law is not None and self.law.states:
            with building:
                plant, numbers = self._robot_plant("projection"), self.given.numbers
            self._weights = error_weights(self.system, plant, self.law, numbers, (q, v), duration)
            del self.given  # they are among its numbers

    def require_data(self, duration: float) -> None:
        """Raise a ValueError if a torque or a load is needed outside its data and its value there was not specified.

        Torques are those of joints and those that controllers add as `feedforward`.
        """
        references = {} if self.feedback is None else self.feedback.references or {}
        added = [(name, each) for name, each in references.items() if name.startswith("feedforward.")]
        loads = [(f"loads[{k}]", each) for k, (_, parts) in enumerate(self.loads) for each in parts]
        for name, each in (*zip(self._torque_names, self.torques, strict=True), *added, *loads):
            require_data(each, name, None if np.isinf(duration) else duration)

    def replayed(self, commands: Commands) -> Schedule:
        """Return the same inputs with recorded outputs of the digital controller instead of the controller."""
        if self.controller is None:
            return self
        out = copy(self)
        out.controller = Replay(self.controller.rate, commands, self.controller.quickest)
        return out

    @property
    def is_data(self) -> bool:
        """True if torques, motions and loads are given by numbers: they are the same whenever they are evaluated."""
        profiles = [*self.torques, *self.motions.values(), *(part for _, parts in self.loads for part in parts)]
        return all(isinstance(piece, DATA_SEGMENTS) for each in profiles for piece in pieces_of(each))

    @property
    def law_weights(self) -> Array:
        """Weights of the errors of the law's states, among the numbers of the plant."""
        return self._weights

    @property
    def law_start(self) -> Array:
        """The states of the law with which a run begins."""
        return np.zeros(0) if self.law is None else self.law.start

    def instant(self, t: float, q: Array, v: Array, a: Array, multipliers: Array) -> Instant:
        """Return what a digital controller may read; inputs are those before its output changes."""
        return Instant(t, q, v, a, self._loads_at, -multipliers if self.system.constraints else None)

    def _loads_at(self, t: float) -> list[tuple[str, float, Array]]:
        names = [link.name for link in self.system.robot.links]
        return [(names[load.link], load.x, np.array([float(each(t)) for each in parts])) for load, parts in self.loads]

    def statistics(self, nodes: Sequence[float]) -> dict[str, float | None]:
        """Return the largest step size that resolves all inputs for a method with these nodes, and the resolution of
        sampled functions (s).

        None if nothing bounds the steps, or no function was sampled.
        """
        longest = float(self.pace.longest.min()) * node_factor(nodes)
        return {
            "longest_step_by_inputs": longest if np.isfinite(longest) else None,
            "input_jumps": len(self.jumps),
            "last_input_jump": self.last_jump,
            "input_probes": self._outlook.probes,
            "input_resolution": self._outlook.resolution or None,
        }

    @property
    def _torque_names(self) -> list[str]:
        return [f"the torque of '{name}'" for name in self.system.inputs]

    def _require_one_master(self, torque: Any) -> None:
        """Refuse a torque at a joint whose motion is prescribed.

        A law computes torques of all actuators: at such a joint they count as part of what the motion needs.
        """
        for actuator, given in zip(self.system.actuators, self.torques, strict=True):
            named = actuator.name in torque if isinstance(torque, Mapping) else given != constant(0.0)
            if named and actuator.coordinate.index in self.motions:
                raise ValueError(
                    f"torque.{actuator.name}: has no effect, since motion prescribes how the joint moves; leave one of "
                    "them out (the torque that a motion takes is in run.torque)"
                )

    def plant(self, stabilization: Stabilization = "projection") -> Plant:
        robot = self._robot_plant(stabilization)
        return ControlledPlant(robot) if self.law is not None and self.law.states else robot

    def _robot_plant(self, stabilization: Stabilization) -> Plant:
        return Plant(self.system.structure, self.driven, self._loaded, self.law, stabilization)

    @cached_property
    def _loaded(self) -> Loads:
        places = Parameters()
        for k, (load, _) in enumerate(self.loads):
            self.system.add_place(places, f"loads.{k}", load.link, load.x)
        return Loads(tuple(load.link for load, _ in self.loads), places)

    @cached_property
    def given(self) -> PlantParameters:
        """Numbers of the robot for the functions of the plant."""
        places = np.zeros(0) if self.law is None else np.array(self.law.places, dtype=float)
        numbers = np.concatenate([self.system.numbers, self._loaded.places.vector, places, self._weights])
        return PlantParameters(numbers, np.concatenate([self.system.sizes, np.ones(len(self._weights) // 3)]))

    @property
    def _sources(self) -> list[tuple[str, Any]]:
        """Everything that gives inputs, with what a sentence calls it."""
        return [
            *zip(self._torque_names, self.torques, strict=True),
            *((f"loads[{k}]", each) for k, (_, parts) in enumerate(self.loads) for each in parts),
            *((f"the motion of '{self.system.names[k]}'", each) for k, each in self.motions.items()),
            *(("a profile in the feedback law", each) for each in (self.law.channels if self.law else ())),
        ]

    @cached_property
    def jumps(self) -> frozenset[float]:
        """Times at which inputs may jump."""
        breaks = (each.breaks for _, each in self._sources)
        return frozenset(self._outlook.jumps).union(*breaks)

    def jumps_at(self, t: float) -> bool:
        return t == 0 or any(abs(each - t) <= 1e-12 * max(t, each) for each in self._jumps)

    @cached_property
    def _jumps(self) -> list[float]:
        """Times of jumps, once the inputs are known."""
        return sorted(self.jumps)

    def stops(self, duration: float) -> Iterator[float]:
        """Times that must be step boundaries: where inputs may jump, samples of a digital controller, the end."""
        jumps, last = {time for time in self.jumps if 0 < time < duration}, 0.0
        for time in heapq.merge(sorted(jumps), self._ticks(duration), [duration]):
            if time > last + EQUAL_TIMES * duration:  # a jump and a sample may be the same but for rounding
                last = min(time, duration)
                yield last

    def breakpoints(self, duration: float) -> Iterator[float]:
        """Return the same without samples of a digital controller, but for those at which inputs may jump."""
        jumps, last = {time for time in self.jumps if 0 < time < duration}, 0.0
        rate, slack = 1.0 if self.controller is None else self.controller.rate, EQUAL_TIMES * duration
        for time in (*sorted(jumps), duration):
            tick = 0.0 if self.controller is None else round(time * rate) / rate
            stop = tick if last + slack < tick < time <= tick + slack else time
            if stop > last + slack:
                last = stop
                yield last

    def _late_jumps(self, duration: float) -> list[tuple[float, float]]:
        """Jumps that are a stop but for rounding: (that stop, the last of them). Inputs are those after all of them."""
        jumps = {time for time in self.jumps if 0 < time < duration}
        rate = None if self.controller is None else self.controller.rate
        ticks = set() if rate is None else {round(time * rate) / rate for time in jumps}
        found, stop = dict[float, float](), 0.0
        for time in sorted(jumps | ticks):
            if time > stop + EQUAL_TIMES * duration:
                stop = time
            elif time in jumps and time > stop:
                found[stop] = time
        return list(found.items())

    def _ticks(self, duration: float) -> Iterator[float]:
        """Samples of the digital controller inside the run: one by one, since there may be millions."""
        if self.controller is not None:
            yield from takewhile(lambda t: t < duration, (k / self.controller.rate for k in count(1)))

    def inputs(self, t: Array, held: Callable[[Array], Array] | Array | None = None) -> Array:
        """Rows of plant inputs at times t; `held` replaces the torques by a digital controller's."""
        rows, now = [t], held(t) if callable(held) else held
        for stop, last in self._late:
            t = np.where((t >= stop) & (t < last), last, t)
        rows += [*now] if now is not None else [each.values(t) for each in self.torques]
        rows += [each.values(t) for _, parts in self.loads for each in parts]
        rows += [each.values(t, order) for order in range(3) for each in self.motions.values()]
        if self.law is not None:
            rows += [*(channel(t) for channel in self.law.channels), *self.law.parameters]
        out = np.empty((len(t), len(rows)))
        for k, row in enumerate(rows):
            out[:, k] = row
        return out

    def inputs_until_failure(
        self, t: Array, held: Callable[[Array], Array] | None = None
    ) -> tuple[Array, StopRun | None]:
        """Return the inputs up to the first time at which a function of the user fails or is not finite, and that
        failure.
        """
        try:
            rows = self.inputs(t, held)
            if np.isfinite(rows).all():
                return rows, None
        except Exception:
            pass  # it is found below, time by time
        for k in range(len(t)):
            if (failure := self._failure(t[k : k + 1])) is not None:
                return self.inputs(t[:k], held), failure
        return self.inputs(t, held), None

    def table(self, t: float, held: HeldTorques | None = None) -> SegmentTable | None:
        """Return the coefficients of the inputs from t until the next stop, or kink of what is held; None if one of
        them can only be called."""
        for stop, last in self._late:
            t = last if stop <= t < last else t
        stretch = bisect_right(self._jumps, t)
        if self._table_of is None or self._table_of[0] != stretch:
            segments = self._segments(t)
            self._table_of = stretch, None if segments is None else SegmentTable(segments)
        found = self._table_of[1]
        return found if found is None or held is None else found.replaced(1, held.segments(t))

    def _segments(self, t: float) -> list[CoefficientSegment] | None:
        """Return the coefficients of all inputs from t until the next stop; None where one can only be called."""
        wanted: list[tuple[Profile | Channel, int]] = [(each, 0) for each in self.torques]
        wanted += [(each, 0) for _, parts in self.loads for each in parts]
        wanted += [(each, order) for order in range(3) for each in self.motions.values()]
        wanted += [(each, 0) for each in (() if self.law is None else self.law.channels)]
        run = Stretch(0.0, float(self.pace.edges[-1]), self.pace.edges_between)
        found = [CoefficientSegment(slope=1.0)]
        for source, order in wanted:
            one = source.segment(t, run) if isinstance(source, Channel) else source.segment(t, run, order)
            if one is None:
                return None
            found.append(one)
        return found + [
            CoefficientSegment(offset=float(each)) for each in (() if self.law is None else self.law.parameters)
        ]

    def _failure(self, t: Array) -> StopRun | None:
        for name, source in self._sources:
            try:
                values = [float(source(t)[0])]
                values += [float(source(t, order)[0]) for order in (1, 2) if source in self.motions.values()]
            except Exception as error:
                return StopRun(failure_reason(name, float(t[0]), error))
            if not np.isfinite(values).all():
                return StopRun(f"{name} is not finite at t = {t[0]:.6g} s")
        return None


def _torques(system: System, torque: Any) -> list[Profile]:
    if torque is None:
        return [constant(0.0)] * system.nu
    if isinstance(torque, Mapping):
        for name in torque:
            system.require_input(name, "torque")
        return [profile(torque.get(name, 0.0), f"torque.{name}") for name in system.inputs]
    if isinstance(torque, Profile):
        raise TypeError(f"torque = {torque!r}: give profiles by link name{suggestion('', system.inputs)}")
    values = np.atleast_1d(real_array("torque", torque))
    if values.shape != (system.nu,):
        raise ValueError(f"torque has shape {values.shape}: give one number for each of {', '.join(system.inputs)}")
    return [profile(float(value), f"torque[{k}]") for k, value in enumerate(values)]


def _motions(system: System, motion: Any) -> dict[int, Profile]:
    if motion is not None and not isinstance(motion, Mapping):
        raise TypeError(f"motion = {shown(motion)}: must be a mapping by link name")
    found = {}
    for name, given in (motion or {}).items():
        system.require_input(name, "motion", "joint")
        actuator = system.actuators[system.inputs.index(name)]
        found[actuator.coordinate.index] = moving = profile(given, f"motion.{name}")
        _require_no_jump(moving, actuator)
    return dict(sorted(found.items()))


def _require_no_jump(moving: Profile, actuator: ActuatorInput) -> None:
    for time, jump in moving.jumps():
        if time > 0:
            by = f"{jump:.3g} {actuator.coordinate.unit} at t = {time:g} s"
            raise ValueError(
                f"motion.{actuator.name} = {moving!r}: jumps by {by}, which no joint can follow; give it a ramp, a "
                "cycloid or a spline"
            )
