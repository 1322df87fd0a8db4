"""A batch of members that run together: chunks of steps that all of them share, each member ending where it would
alone."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import TOO_LARGE, System
from flexarm.motion.budget import MOST_STEPS
from flexarm.motion.divergence import divergence
from flexarm.motion.ending import Status
from flexarm.motion.events import Event, Watch
from flexarm.motion.inertia import AT_LEAST, UNUSUAL
from flexarm.motion.integration import FEW, KICK, LOOK, NEAR
from flexarm.motion.outlook import share
from flexarm.motion.recorder import HOPELESS
from flexarm.motion.sampling import between
from flexarm.motion.step_size import SAFELY, Tolerance
from flexarm.motion.validity import unsolved_steps
from flexarm.sweeps.lanes.bounds import Bounds
from flexarm.sweeps.lanes.crew import Crew
from flexarm.sweeps.lanes.lane_code import LaneCode
from flexarm.sweeps.lanes.lane_inputs import LaneInputs
from flexarm.sweeps.lanes.lane_stepper import LaneStepper
from flexarm.sweeps.lanes.samples import Samples
from flexarm.sweeps.lanes.shared_steps import shared_steps
from flexarm.sweeps.lanes.swings import Swings

CHUNK = 64  # steps a call
STRAGGLING = 1e-4  # of the longest step so far: members that want shorter ones are run by themselves
ANSWERING = 0.1  # by so much the torques of actuators differ that a robot is pushed with


class Cancelled(Exception):
    """Whoever waits for a batch does not want it any more."""


@dataclass
class End:
    """How a member ended, and what should be known of it."""

    time: float
    state: Array
    reason: str = "completed"
    status: Status = "completed"
    doubts: tuple[str, ...] = ()


@dataclass
class Nodes:
    """The steps of all members, where they are kept: times, states (groups, nodes, entries, lanes), whether
    accelerations were computed anew before the first."""

    blocks: list[tuple[Array, Array, bool]] = field(default_factory=list)

    @cached_property
    def stretches(self) -> list[tuple[Array, Array]]:
        """The same in stretches between jumps of the inputs, once all are there."""
        found: list[list[tuple[Array, Array]]] = []
        for times, states, jumped in self.blocks:
            if jumped or not found:
                found.append([(times, states)])
            else:
                found[-1].append((times[1:], states[:, 1:]))  # the first node is the last of those before
        return [
            (np.concatenate([times for times, _ in each]), np.concatenate([states for _, states in each], axis=1))
            for each in found
        ]


class Batch:
    """One batch. `run` computes it; then `ends` tell how each member ended, `measures` what came of it. `stragglers`
    must be run by themselves.

    wanted: times of samples (s); with_steps: whether what happens at the ends of steps is measured, too.
    system_of, watch_of: of a member's place, made only where something happens to it.
    watched: whether members have conditions that must be looked at all the time.
    keep: whether steps are kept.
    """

    def __init__(
        self,
        code: LaneCode,
        crew: Crew,
        inputs: Callable[[LaneStepper], LaneInputs],
        tolerance: Tolerance,
        dt: float | None,
        wanted: Array,
        with_steps: bool,
        system_of: Callable[[int], System],
        watch_of: Callable[[int], Watch],
        watched: bool,
        keep: bool = False,
        cancelled: Callable[[], bool] = lambda: False,
        own_inputs: bool = True,
    ) -> None:
        self.crew, self.duration, self.tolerance = crew, tolerance.horizon, tolerance
        self.stepper = LaneStepper(
            code, CHUNK, crew.numbers, crew.share, crew.allowed, crew.solved, self.duration, own_inputs
        )
        self.inputs = inputs(self.stepper)
        self.plant, self.layout, self.arrays = self.stepper.plant, self.stepper.layout, self.stepper.arrays
        self.step_size = shared_steps(tolerance, self.duration, dt)
        coordinates, sample = self.plant.structure.equations.chain.coordinates.all, float(wanted[1] - wanted[0])
        swings = Swings(coordinates, self.arrays.packed(crew.sizes), tolerance.rtol, sample)
        self.samples = Samples(self.stepper, self.inputs, wanted, with_steps, swings)
        self.system_of, self._watch_of, self._watched, self._cancelled = system_of, watch_of, watched, cancelled
        self.nodes = Nodes() if keep else None
        self.ends: dict[int, End] = {}
        self.alive = np.ones(len(crew), dtype=bool)  # members that have not ended
        self.steps, self.loop_time = 0, 0.0  # s in steps
        self._unusual = np.full((self.arrays.groups, self.arrays.lanes), AT_LEAST)
        self.stragglers: set[int] = set()  # members that were left out
        self._longest = 0.0  # step so far (s)
        self._unsolved = np.zeros((self.arrays.groups, self.arrays.lanes), dtype=int)  # steps of fixed size
        self._bounds = Bounds(crew, self.arrays)

    # --- the loop ---

    def run(self) -> None:
        at, crew = self.layout, self.crew
        rows = np.zeros((len(crew), at.size))
        rows[:, at.q], rows[:, at.v], rows[:, at.law_states] = crew.q, crew.v, crew.law_states
        self.t, self.state = 0.0, self.arrays.packed(rows)
        self._jump = self.state
        self._stable, self._ahead, self._restrained = np.inf, FEW, self.state[:, at.q].copy()
        self._require_start()
        for stop in self.inputs.stops(self.duration):
            self._jumped = True
            if self.alive.any() and self.t < stop:
                self._brace()
            while self.alive.any() and self.t < stop:
                if self._cancelled():
                    raise Cancelled
                self._advance(stop)
        self.samples.read()
        for member in np.flatnonzero(self.alive).tolist():
            end = self.ends[member] = End(self.t, self.arrays.of(self.state, member).copy())
            if unsolved := int(self._unsolved[self.arrays.place(member)]):
                end.doubts = (unsolved_steps(unsolved, self.steps, self.step_size.dt),)

    def _require_start(self) -> None:
        """End members that cannot begin: with infinite accelerations, or with a condition that is met."""
        while self.alive.any():
            before = len(self.ends)
            first = self._restarted(0.0)
            if first is not None:
                wrong = ~np.isfinite(self.arrays.rows(first[:, self.layout.a])).all(axis=1)
                for member in np.flatnonzero(self.alive & wrong).tolist():
                    why = self._singular(member, first) or TOO_LARGE
                    self._end(member, 0.0, self.arrays.of(self.state, member), why, "failed")
            if first is not None and len(self.ends) == before:
                break
        if not self.alive.any() or first is None:
            return
        answers = self.arrays.rows(self._answers(first)[:, None])[:, 0]
        for member in np.flatnonzero(self.alive & ~(answers <= UNUSUAL)).tolist():
            if (said := self._singular(member, first)) is not None:
                self._end(member, 0.0, self.arrays.of(self.state, member), said, "failed")
        if self._watched:
            for member in np.flatnonzero(self.alive).tolist():
                try:
                    self._watch_of(member).require_at_start(self.arrays.of(first, member), self.layout)
                except ValueError as error:
                    self._end(member, 0.0, self.arrays.of(self.state, member), str(error), "failed")

    def _answers(self, first: Array) -> Array:
        """The largest acceleration that a torque at all actuators adds, against that of the robot as a whole."""
        places, u = self.plant.input_places, np.zeros((self.arrays.groups, self.plant.input_count, self.arrays.lanes))
        if self.plant.law is not None:
            given, _ = self.inputs.at(np.zeros(1))
            u[:, places[7]] = given[:, 0, places[7]]
        pushed, push = u.copy(), self.arrays.packed(self.crew.push[:, None])
        pushed[:, places[1]] = push * (1 + ANSWERING * np.arange(self.plant.nu))[:, None]
        still = first.copy()
        still[:, self.layout.every_v] = 0.0
        without, under = (self.stepper.start(still, each, 0.0)[0][:, : self.layout.n] for each in (u, pushed))
        gained = np.abs((under - without) / self._bounds.sizes).max(axis=1, initial=0.0)
        return np.where(np.isfinite(gained), gained, np.inf)

    def _singular(self, member: int, state: Array) -> str | None:
        return self.system_of(member).singularity(self.arrays.of(state, member)[self.layout.q], self.plant.driven)

    def _advance(self, stop: float) -> None:
        """One chunk: those of its steps that lie before `stop` and count."""
        if not self._jumped:
            self._restrain(self.state)
        longest = self._stable
        if self.step_size.heeds_inputs:
            seen, stop = self.inputs.ahead(self.t, stop)
            longest = min(longest, seen * share(self.stepper.nodes))
        most = min(self._ahead, self.stepper.count)
        size, steps = self.step_size.plan(stop - self.t, most, longest)
        before = self._anew(size) if self._jumped else self._rescaled(size)
        if before is None:
            return
        used = self._compute(before, size, stop, min(steps, most))
        if not used:
            return
        self._ahead = 2 * most if used == most else FEW
        verdict = self.step_size.judge(self.stepper, used)  # type: ignore[arg-type]
        self.steps += verdict.good
        times = np.asarray(self.t + size * np.arange(verdict.good + 1), dtype=float)
        if verdict.good == steps:
            times[-1] = stop
        if verdict.good:
            if self.step_size.fixed:
                self._unsolved += (self.stepper.excess(verdict.good)[1] > HOPELESS).sum(axis=1)
            self._accept(times, verdict.good)
            self._jumped, self._size = False, size
            self._longest = max(self._longest, size)
        if not self.step_size.adapt(verdict, size, self.stepper.method.estimate):
            self._end_guilty(min(verdict.good, used - 1))
        elif verdict.good < used and self.step_size.dt < STRAGGLING * self._longest:
            self._leave_out(verdict.good)
        elif not self.step_size.fixed and self.steps > MOST_STEPS:
            sentence = f"gave up at t = {self.t:.6g} s after {MOST_STEPS} steps; allow a larger rtol"
            for member in np.flatnonzero(self.alive).tolist():
                self._end(member, self.t, self.arrays.of(self.state, member), sentence, "failed")

    def _compute(self, state: Array, dt: float, stop: float, steps: int) -> int:
        nodes = np.array(self.stepper.nodes)
        times = (self.t + dt * (np.arange(steps)[:, None] + nodes)).ravel()
        inputs = self._given(np.minimum(times, np.nextafter(stop, -np.inf)), len(nodes))
        if inputs is None:
            return 0
        steps = inputs.shape[1] // len(nodes)
        inputs = inputs[:, : steps * len(nodes)].reshape(len(inputs), steps, -1, self.arrays.lanes)
        least, begin = self.step_size.least(dt, self.stepper.method.estimate), clock.perf_counter()
        taken = self.stepper(state, inputs, dt, steps, self.step_size.most, least)
        self.loop_time += clock.perf_counter() - begin
        return taken

    def _given(self, times: Array, least: int = 1) -> Array | None:
        """Inputs at these times, or the first of them; None where not even the `least` number of them is known: then
        the members whose functions failed have ended."""
        inputs, failures = self.inputs.at(times)
        if inputs.shape[1] >= least:
            return inputs
        for member in np.flatnonzero(self.alive).tolist():
            if (failure := failures.get(int(self.inputs.which[member]))) is not None:
                self._end(member, self.t, self.arrays.of(self.state, member), str(failure), failure.status)
        return None

    # --- what ends members ---

    def _accept(self, times: Array, good: int) -> None:
        """Take what these steps tell; members end where something that is watched happens to them."""
        ended = self._events(times, good)
        states = {}
        for member, event in ended.items():
            own = self.arrays.of(self.stepper.path[:, : good + 1], member)
            found = between(times, own, np.array([event.time]), self.layout, self.stepper.method.order)[0]
            states[member] = event.settled(found)
        self.samples.take(times, good, {member: event.time for member, event in ended.items()})
        if self.nodes is not None:
            self.nodes.blocks.append((times, self.stepper.path[:, : good + 1].copy(), self._jumped))
        self.t, self.state = float(times[-1]), self.stepper.path[:, good].copy()
        for member, event in ended.items():
            self._end(member, event.time, states[member], event.sentence, event.status)
        self._require_inertia()

    def _events(self, times: Array, good: int) -> dict[int, Event]:
        """The first event of each member to which one may have happened on the last steps."""
        found = {}
        for member in self._suspects(float(times[1] - times[0])):
            own = self.arrays.of(self.stepper.path[:, : good + 1], member)
            event = self._watch_of(member).first(
                times, own, self.layout, self.crew.sizes[member], self.stepper.method.order, self.duration * LOOK
            )
            if event is not None:
                found[member] = event
        return found

    def _suspects(self, h: float) -> list[int]:
        """Members to which something may have happened; where conditions are watched, all of them."""
        if self._watched:
            return np.flatnonzero(self.alive).tolist()
        suspect = self._bounds.may_be_left(self.stepper.ranges, self.layout, h)
        if not suspect.any():
            return []
        return np.flatnonzero(self.arrays.rows(suspect[:, None])[:, 0] & self.alive).tolist()

    def _require_inertia(self) -> None:
        """End members whose accelerations have become absurd because their mass matrix is singular."""
        at, (low, high) = self.layout, self.stepper.ranges.swapaxes(0, 1)
        a = (np.maximum(np.abs(low[:, at.a]), np.abs(high[:, at.a])) / self._bounds.sizes).max(axis=1, initial=0.0)
        if not (a > self._unusual).any():
            return
        for member in np.flatnonzero(self.arrays.rows((a > self._unusual)[:, None])[:, 0] & self.alive).tolist():
            group, lane = self.arrays.place(member)
            if (said := self._singular(member, self.state)) is not None:
                sentence = f"diverged at t = {self.t:.6g} s: {said}"
                self._end(member, self.t, self.arrays.of(self.state, member), sentence, "failed")
            self._unusual[group, lane] = 10 * a[group, lane]

    def _end_guilty(self, step: int) -> None:
        """End the members for which there is no way on, so that the others find one."""
        fell = None if self.step_size.fixed else self.step_size.dt
        for member in self._guilty(step):
            last, tried = (self.arrays.of(each, member) for each in (self.state, self.stepper.path[:, step + 1]))
            sentence = divergence(self.system_of(member), self.plant, self.t, last, tried, fell)
            self._end(member, self.t, last, sentence, "failed")
        self._go_on()

    def _guilty(self, step: int) -> list[int]:
        """Members for which a step of the last call is not good enough."""
        error, left = self.stepper.excess(step + 1)
        excess = np.maximum(error, left)[:, step]
        bad = ~np.isfinite(excess) if self.step_size.fixed else ~(excess <= 1)
        if not bad.any():
            bad = excess >= excess.max()
        found: list[int] = np.flatnonzero(self.arrays.rows(bad[:, None])[:, 0] & self.alive).tolist()
        return found

    def _go_on(self) -> None:
        """Without those that have just ended."""
        self.step_size.begin_anew()
        self._jumped = True
        if self.alive.any():
            self._brace()

    def _leave_out(self, step: int) -> None:
        """Leave out members that want steps far shorter than all took so far: nobody should wait for them."""
        for member in self._guilty(step):
            self.stragglers.add(member)
            self._end(member, self.t, self.arrays.of(self.state, member), "", "failed")
        self._go_on()

    def _end(self, member: int, time: float, state: Array, reason: str, status: Status) -> None:
        """A member ends; its lane goes on with what another does."""
        self.samples.end(member)
        self.ends[member], self.alive[member] = End(time, state.copy(), reason, status), False
        living = np.flatnonzero(self.alive)
        if not len(living):
            return
        twin, left_over = int(living[0]), range(len(self.crew), self.arrays.groups * self.arrays.lanes)
        idle = [*np.flatnonzero(~self.alive).tolist(), *left_over]  # they may have done what this one did
        for each in idle:
            self.stepper.replace(each, twin)
            for packed in (self.state, self._jump, self._restrained, *self._bounds.packed):
                self.arrays.copy(packed, twin, each)
            self._unusual[self.arrays.place(each)] = self._unusual[self.arrays.place(twin)]
            if each < len(self.crew):
                self.inputs.replace(each, twin)

    # --- where inputs jump ---

    def _rescaled(self, size: float) -> Array:
        """States for a step of another size: auxiliary accelerations lead the others by a fraction of the step."""
        if size == self._size:
            return self.state
        out, at = self.state.copy(), self.layout
        ahead = out[:, at.every_aux] - out[:, at.every_a]
        out[:, at.every_aux] = out[:, at.every_a] + ahead * (size / self._size)
        return out

    def _restarted(self, dt: float) -> Array | None:
        """States with accelerations and powers computed anew; None if inputs fail here."""
        given = self._given(np.array([self.t]))
        if given is None:
            return None
        u, out, at, places = given[:, 0], self.state.copy(), self.layout, self.plant.input_places
        for k, place in enumerate(self.plant.driven):
            out[:, at.q][:, place], out[:, at.v][:, place] = u[:, places[3]][:, k], u[:, places[4]][:, k]
        a, put_in, drained, *forces = self.stepper.start(out, u, dt)
        out[:, at.every_a] = out[:, at.every_aux] = a
        out[:, at.given], out[:, at.drained] = put_in[:, 0], drained[:, 0]
        if forces:
            out[:, at.forces] = forces[0]
        return out

    def _brace(self) -> None:
        """Take shorter steps where inputs have jumped so that accelerations did."""
        here = self._restarted(0.0)
        while here is None and self.alive.any():
            here = self._restarted(0.0)
        if here is None:
            return
        self._jump = here
        old, new = self.state[:, self.layout.a] / self._bounds.sizes, here[:, self.layout.a] / self._bounds.sizes
        kick, largest = (np.abs(each).max(axis=1, initial=0.0) for each in (new - old, new))
        if (kick > KICK * largest).any():
            self.step_size.restart()
        self._restrain(here)

    def _anew(self, size: float) -> Array | None:
        """States after a jump, for a step of this size."""
        return self._restarted(size) if any(self.stepper.method.softening(1.0)) else self._jump

    def _restrain(self, states: Array) -> None:
        """Keep steps that an explicit method may choose stable, in these postures and those that are near."""
        q = states[:, self.layout.q]
        if self.step_size.fixed or not self.stepper.method.explicit:
            return
        if not self._jumped and (np.abs((q - self._restrained) / self._bounds.sizes) < NEAR).all():
            return
        self._restrained = q.copy()
        given = self._given(np.array([self.t]))
        if given is None:
            return
        free = self.plant.free
        v, a = (self.arrays.rows(states[:, part]) for part in (self.layout.every_v, self.layout.every_a))
        spectra = self.stepper.spectra(states, given[:, 0])
        longest = [
            self.stepper.method.longest_step(each.moving(v[k, free], a[k, free]).rates, self.duration)
            for k, each in enumerate(spectra)
        ]
        self._stable = SAFELY * min(longest)

    # --- what comes of it ---

    def measures(self) -> list[dict[str, Any]]:
        """By member, values of the usual measures. Lanes of members that ended are theirs again."""
        at, ends = self.layout, [self.ends[member] for member in range(len(self.crew))]
        if self.samples.extremes.first is None:  # nobody could begin
            return [{} for _ in ends]
        self.stepper.restore(self.crew.numbers)
        self.inputs.restore()
        self.samples.extremes.thaw()
        states = self.arrays.packed(np.stack([each.state for each in ends]))
        times = np.array([each.time for each in ends])
        asked = np.where(times > 0, np.nextafter(times, -np.inf), times)
        rows = np.concatenate([states[:, : 3 * at.every], states[:, [at.work, at.lost]]], axis=1)[:, None]
        last = self.stepper.read(rows, self.inputs.at_own_times(asked)[:, None])
        return self.samples.extremes.values(last, self.arrays.packed(times[:, None])[:, 0], self.duration)
