"""A batch of members that run at once, in groups of SIMD lanes with step sizes of their own.

The loop is that of a single run (`simulation/integration.py`): compiled steps from breakpoint to breakpoint, and
Python at
breakpoints, where it restarts the accelerations of all members together. Each member ends where it would alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from flexarm.codegen.driver import LARGEST_STATE, NO_LIMIT, TIME_SLACK, DriverStatus
from flexarm.codegen.groups import PassStatus, next_sizes
from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import StopRun
from flexarm.foundation.validation import Array
from flexarm.integrators.step_size import AFTER_JUMP, FIRST_STEP, SAFELY, Tolerance
from flexarm.profiles.bandwidth import share
from flexarm.results.checks import unsolved_steps
from flexarm.results.step_history import between
from flexarm.simulation.events import Event, Watch
from flexarm.simulation.integration import FEW, KICK, NEAR
from flexarm.simulation.run_checks import MOST_STEPS, divergence
from flexarm.sweeps.ensemble.batch_state import BatchState, End, Terminations, initial_states
from flexarm.sweeps.ensemble.compiled import LaneCode, LaneInputs, LaneStepper
from flexarm.sweeps.ensemble.group_arrays import GroupArrays
from flexarm.sweeps.ensemble.lanes import MemberArrays

UNSTABLE_SHARE = 1e-4  # of the longest stable step of all members: one that needs shorter steps is run by itself


class BatchCancelled(Exception):
    """The result of a batch is no longer wanted."""


@dataclass
class StoredNodes:
    """Nodes of the groups of a batch: by group blocks of times, states (nodes, entries, lanes), and whether the inputs
    jump before the first."""

    blocks: dict[int, list[tuple[Array, Array, bool]]] = field(default_factory=dict)

    def stretches(self, group: int) -> list[tuple[Array, Array]]:
        """Return the nodes of a group between jumps of the inputs."""
        found: list[list[tuple[Array, Array]]] = []
        for times, states, is_first in self.blocks.get(group, ()):
            if is_first or not found:
                found.append([(times, states)])
            else:
                found[-1].append((times[1:], states[1:]))  # the first node is the last of the block before
        return [tuple(map(np.concatenate, zip(*each, strict=True))) for each in found]  # type: ignore[misc]


class MemberBatch:
    """Members that run at once.

    After `run`, `ends` has the members that ended early, `measures` the values of all. `unstable` members must be run
    by themselves.

    Parameters
    ----------
    wanted : ndarray
        Times of samples (s).
    reads_nodes : bool
        Whether nodes count as samples.
    system_of, watch_of : callable
        Return the system and the events of a member, by its place; called where they are needed.
    checks_all : bool
        Whether members have conditions that must be evaluated on all steps.
    keep : bool
        Whether nodes are stored.
    is_cancelled : callable
        Returns True once the result is no longer wanted.
    """

    def __init__(
        self,
        code: LaneCode,
        crew: MemberArrays,
        inputs: Callable[[LaneStepper], LaneInputs],
        tolerance: Tolerance,
        dt: float | None,
        wanted: Array,
        reads_nodes: bool,
        system_of: Callable[[int], System],
        watch_of: Callable[[int], Watch],
        checks_all: bool,
        keep: bool = False,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.crew, self.duration, self.dt, self.system_of = crew, tolerance.horizon, dt, system_of
        self.reads_nodes = reads_nodes
        self.stepper = stepper = LaneStepper(code, crew.numbers)
        self.arrays, self.layout, self.inputs = stepper.arrays, stepper.layout, inputs(stepper)
        states = initial_states(stepper, crew)
        self.groups = GroupArrays(
            stepper,
            crew,
            states,
            tolerance,
            dt is not None,
            wanted,
            reads_nodes,
            checks_all or keep,
            self._fill_inputs,
            self._fill_readings,
        )
        self._state = BatchState(crew, stepper, self.inputs, self.groups, system_of)
        self._terminations = Terminations(self._state, watch_of, checks_all, self.duration)
        self.nodes = StoredNodes() if keep else None
        self.unstable: set[int] = set()
        self._is_cancelled = is_cancelled
        self._failures: dict[int, StopRun] = {}  # of inputs of the present group, by the place of their schedule
        self._error: BaseException | None = None
        self._softens = any(stepper.method.softening(1.0))
        self._stable = np.full(self.arrays.groups, np.inf)  # the longest stable step of explicit methods (s)
        self._restrained = states[:, self.layout.q].copy()  # coordinates at which it was computed
        self._last_jumps = self.arrays.packed(self.inputs.last_jumps[:, None])[:, 0]

    # --- results ---

    @property
    def ends(self) -> dict[int, End]:
        """Of members that ended early."""
        return self._state.ends

    def end_of(self, member: int) -> End:
        """Return the end of a member once all have run."""
        state = self._state
        return self.ends.get(member) or End(state.time_of(member), self.arrays.of(state.states, member).copy())

    def steps_of(self, member: int) -> tuple[Array, Array]:
        """Return times and states of the steps of a member, if nodes are stored: (steps,) and (steps, entries)."""
        assert self.nodes is not None
        group, lane = self.arrays.place(member)
        stretches = self.nodes.stretches(group)
        times = np.concatenate([np.zeros(0), *(each for each, _ in stretches)])
        states = [np.zeros((0, self.layout.size)), *(each[..., lane] for _, each in stretches)]
        kept = times <= self.end_of(member).time
        return times[kept], np.concatenate(states)[kept]

    @property
    def warnings(self) -> dict[int, tuple[str, ...]]:
        """By member, warnings of steps that were not solved."""
        unsolved = self.arrays.rows(self.groups.unsolved[:, None])[:, 0]
        found: dict[int, tuple[str, ...]] = {}
        for member in np.flatnonzero(self._state.is_running & (unsolved > 0)).tolist():
            steps = int(self.groups.steps[self.arrays.place(member)[0]])
            found[member] = (unsolved_steps(int(unsolved[member]), steps, float(self.dt or 0.0)),)
        return found

    @property
    def loop_time(self) -> float:
        """Time in compiled steps (s)."""
        return float(self.groups.driver.batch["step_seconds"])

    @property
    def node_time(self) -> float:
        """Time in the evaluation of their nodes (s)."""
        return float(self.groups.driver.batch["node_seconds"])

    def measures(self) -> dict[str, Array]:
        """Return values of the usual measures by name, a row for each member; none if no member could begin."""
        state, extremes = self._state, self.groups.extremes
        if not self.groups.samples.any():
            return {}
        self.stepper.numbers[:] = self.arrays.packed(self.crew.numbers)[:, None]
        self.inputs.restore()
        extremes.thaw()
        own = self.arrays.rows(state.states).copy()
        times = np.repeat(self.groups.controls["t"], self.arrays.lanes)[: len(self.crew)]
        for member, end in self.ends.items():
            own[member], times[member] = end.state, end.time
        states = self.arrays.packed(own)
        asked = np.where(times > 0, np.nextafter(times, -np.inf), times)
        last = self.stepper.read(states, self.inputs.at_own_times(asked))
        return extremes.values(last, self.arrays.packed(times[:, None])[:, 0], self.duration)

    # --- the loop ---

    def run(self) -> None:
        """Integrate all members to the end of the run, or to their own."""
        known, t = self._terminations.require_start(), 0.0
        self.groups.controls["dt"] = FIRST_STEP * min(1.0, self.duration) if self.dt is None else self.dt
        for stop in self.inputs.stops(self.duration):
            if t < stop and self._state.is_running.any():
                self._begin_stretch(t, known)
                known = None
                for until, longest in self._pieces(t, stop):
                    self._advance(t, until, longest)
                    t = until

    def _pieces(self, t: float, stop: float) -> Iterator[tuple[float, float]]:
        """Yield parts of a stretch, and the longest step that resolves the inputs there."""
        if self.dt is not None:
            yield stop, np.inf
            return
        seen = share(self.stepper.nodes)
        while t < stop:
            longest, t = self.inputs.ahead(t, stop)
            yield t, longest * seen

    def _begin_stretch(self, t: float, known: Array | None) -> None:
        """Restart accelerations where inputs may have jumped, and take shorter steps in groups that are kicked."""
        state, controls, at = self._state, self.groups.controls, self.layout
        self._stretch_begin, here = t, known
        while here is None and state.is_running.any():
            here = state.restarted(t, np.zeros(len(controls)))
        self.groups.extremes.separate((self._last_jumps > 0) & (np.abs(self._last_jumps - t) <= 1e-12 * self.duration))
        if here is None:
            return
        old, new = (each[:, at.a] / self.groups.sizes for each in (state.states, here))
        kick, largest = (np.abs(each).max(axis=1, initial=0.0) for each in (new - old, new))
        state.states[:] = here
        if self.dt is None:
            self._shorten((kick > KICK * largest).any(axis=1))
        controls["previous"], controls["was_rejected"] = 0.0, 0
        self.groups.connect_inputs(*self.inputs.tables(t))
        self._ahead = FEW if self.stepper.method.explicit else self.groups.capacity

    def _shorten(self, groups: Array) -> None:
        """Take short steps next in some groups."""
        dt = self.groups.controls["dt"]
        dt[groups] = AFTER_JUMP * np.minimum(dt[groups], FIRST_STEP * min(1.0, self.duration))

    def _advance(self, t: float, stop: float, longest: float) -> None:
        """Integrate all groups from t to a time until which no input jumps."""
        groups, controls, driver = self.groups, self.groups.controls, self.groups.driver
        controls["stop"] = stop
        if self.dt is not None:
            controls["dt"] = (stop - t) / max(1, ceil((stop - t) / self.dt - TIME_SLACK))
        while ((groups.is_active != 0) & (controls["t"] < stop)).any():
            self._restrain()
            controls["longest"] = np.minimum(longest, self._stable)
            controls["most_steps"] = self._ahead
            controls["most_attempts"] = NO_LIMIT
            if self._softens:
                self._restart_softly(t)
            driver.group = 0
            while driver.group < self.arrays.groups:
                if self._is_cancelled():
                    raise BatchCancelled
                if (status := driver.advance()) != PassStatus.ALL_ADVANCED:
                    self._attend(driver.group, status)
                    driver.group += 1
            self._end_endless()
            self._ahead = min(2 * self._ahead, groups.capacity)

    def _restart_softly(self, t: float) -> None:
        """Restart groups that have not moved since the inputs jumped for a first step of its size."""
        controls = self.groups.controls
        first = (controls["previous"] == 0) & (controls["t"] == t) & (self.groups.is_active != 0)
        if first.any():
            controls["most_attempts"][first] = 1
            restarted = self._state.restarted(t, next_sizes(controls))
            if restarted is not None:
                self._state.states[first] = restarted[first]

    def _end_endless(self) -> None:
        """End members of groups that have taken too many steps."""
        for group in np.flatnonzero((self.groups.steps > MOST_STEPS) & (self.dt is None)).tolist():
            for member in self._state.running_in(group):
                t = self._state.time_of(member)
                self._state.end_here(member, f"gave up at t = {t:.6g} s after {MOST_STEPS} steps; allow a larger rtol")

    # --- inputs that are functions of the user ---

    def _fill_inputs(self) -> int:
        try:
            groups = self.groups
            self._failures = self.inputs.fill_group(groups.driver.group, groups.stage_times, groups.inputs)
        except BaseException as error:
            self._error = error
            return 1
        return bool(self._failures)

    def _fill_readings(self) -> int:
        try:
            groups = self.groups
            self.inputs.fill_group(groups.driver.group, groups.stage_times, groups.inputs)
        except Exception:
            self.groups.inputs[:] = np.nan
        return 0

    # --- groups that need attention ---

    def _attend(self, group: int, status: PassStatus) -> None:
        """Look for events on the last nodes of a group, evaluate these, and end members that cannot go on."""
        groups, state, driver = self.groups, self._state, self.groups.driver
        steps, ended = int(groups.controls["steps"][group]), {}
        if status == PassStatus.BEFORE_EVALUATION and steps:
            times, path = groups.times[: steps + 1], groups.path[: steps + 1]
            ended = self._terminations.events(group, times, path)
            if self.nodes is not None:
                is_first = times[0] == self._stretch_begin
                self.nodes.blocks.setdefault(group, []).append((times.copy(), path.copy(), is_first))
            found = {member: self._state_at(member, each, times, path) for member, each in ended.items()}
            for member, event in sorted(ended.items(), key=lambda each: each[1].time):
                driver.read_until(event.time)
                groups.extremes.freeze(member)
            driver.finish()
            for member, event in ended.items():
                state.end(member, event.time, found[member], event.sentence, event.status)
        self._terminations.require_inertia(group)
        if status == PassStatus.BEFORE_EVALUATION:
            self._end_failed(group, DriverStatus(int(driver.batch["status"])), steps)

    def _state_at(self, member: int, event: Event, times: Array, path: Array) -> Array:
        """Return the state of a member at an event between nodes of its group."""
        own = path[..., self.arrays.place(member)[1]]
        found = between(times, own, np.array([event.time]), self.layout, self.stepper.method.order)[0]
        return event.settled(found)

    def _end_failed(self, group: int, status: DriverStatus, steps: int) -> None:
        """End the members of a group for which its driver found no way on."""
        state = self._state
        if self._error is not None:
            raise self._error
        if status == DriverStatus.COULD_NOT_RUN:
            raise RuntimeError("the machine code of the steps could not be run; native=False does without it")
        if status == DriverStatus.INPUTS_FAILED and not steps:  # else they fail again at the first of the next steps
            state.end_failed_inputs(self._failures, group)
        if status == DriverStatus.STEP_TOO_SMALL:
            controls = self.groups.controls
            last_size = None if self.dt is not None else float(controls["dt"][group])
            for member in self._diverging(group, steps):
                last, lane = self.arrays.of(state.states, member), self.arrays.place(member)[1]
                tried, t = self.groups.path[steps + 1, :, lane], state.time_of(member)
                reason = divergence(self.system_of(member), self.stepper.plant, t, last, tried, last_size)
                state.end_here(member, reason)
            if self.dt is None:
                controls["dt"][group] = AFTER_JUMP * FIRST_STEP * min(1.0, self.duration)
                controls["was_rejected"][group] = 0

    def _diverging(self, group: int, steps: int) -> list[int]:
        """Return the members of a group whose last attempt was not accurate enough."""
        groups = self.groups
        tried = np.abs(groups.path[steps + 1]).max(axis=0)
        limits = (groups.share[group], groups.allowed[group])
        each = (one.max(axis=0, initial=0.0) / limit for one, limit in zip((groups.errors, groups.left), limits))
        excess = np.where(tried < LARGEST_STATE, np.maximum(*each), np.inf)
        excess = np.where(np.isnan(excess), np.inf, excess)
        bad = ~np.isfinite(excess) if self.dt is not None else excess > 1
        if not bad.any():
            bad = excess >= excess.max()
        return [member for member in self._state.running_in(group) if bad[self.arrays.place(member)[1]]]

    # --- stability ---

    def _restrain(self) -> None:
        """Keep steps of an explicit method stable in the present postures."""
        state, q, method = self._state, self._state.states[:, self.layout.q], self.stepper.method
        if self.dt is not None or not method.explicit:
            return
        is_near = (np.abs((q - self._restrained) / self.groups.sizes) < NEAR).all(axis=(1, 2))
        moved = ~is_near | (self.groups.controls["previous"] == 0)
        if not moved.any():
            return
        self._restrained[moved] = q[moved]
        times = np.repeat(self.groups.controls["t"], self.arrays.lanes)[: len(self.crew)]
        inputs = self.inputs.at_own_times(times)
        if not np.isfinite(inputs).all():
            return
        free = self.stepper.plant.free
        v, a = (self.arrays.rows(state.states[:, part]) for part in (self.layout.every_v, self.layout.every_a))
        spectra = self.stepper.spectra(state.states, inputs)
        longest = {
            k: method.longest_step(spectra[k].moving(v[k, free], a[k, free]).rates, self.duration)
            for k in state.running
        }
        least = UNSTABLE_SHARE * min(self.duration, max(longest.values(), default=np.inf))
        self._stable[moved] = np.inf
        for member, each in longest.items():
            if each < least:
                self.unstable.add(member)
                state.end_here(member, "")
            elif moved[group := self.arrays.place(member)[0]]:
                self._stable[group] = min(self._stable[group], SAFELY * each)
