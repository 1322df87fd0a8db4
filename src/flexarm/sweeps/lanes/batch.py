"""A batch of members that run together: chunks of steps that all of them share, each member ending where it would
alone."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from flexarm.codegen.driver import UNSOLVED_EXCESS
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.budget import MOST_STEPS
from flexarm.motion.divergence import divergence
from flexarm.motion.events import Watch
from flexarm.motion.integration import FEW, KICK, NEAR
from flexarm.motion.outlook import share
from flexarm.motion.sampling import between
from flexarm.motion.step_size import SAFELY, Tolerance
from flexarm.motion.validity import unsolved_steps
from flexarm.sweeps.lanes.bounds import Bounds
from flexarm.sweeps.lanes.company import Company, End
from flexarm.sweeps.lanes.crew import Crew
from flexarm.sweeps.lanes.lane_code import LaneCode
from flexarm.sweeps.lanes.lane_inputs import LaneInputs
from flexarm.sweeps.lanes.lane_stepper import LaneStepper
from flexarm.sweeps.lanes.samples import Samples
from flexarm.sweeps.lanes.shared_steps import shared_steps
from flexarm.sweeps.lanes.swings import Swings
from flexarm.sweeps.lanes.watching import Watching

CHUNK = 64  # steps a call
STRAGGLING = 1e-4  # of the longest step so far: members that want shorter ones are run by themselves


class Cancelled(Exception):
    """Whoever waits for a batch does not want it any more."""


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
    """One batch. `run` computes it; then `ends` tell how members ended that did so early, `measures` what came of all.
    `stragglers` must be run by themselves.

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
        self.crew, self.duration = crew, tolerance.horizon
        self.stepper = stepper = LaneStepper(
            code, CHUNK, crew.numbers, crew.share, crew.allowed, crew.solved, self.duration, own_inputs
        )
        self.inputs, self.layout, self.arrays = inputs(stepper), stepper.layout, stepper.arrays
        self.step_size = shared_steps(tolerance, self.duration, dt)
        self.bounds, self.samples = Bounds(crew, stepper), Samples(stepper, self.inputs, wanted, with_steps)
        coordinates = stepper.plant.structure.equations.chain.coordinates.all
        rtol, sample = tolerance.rtol, float(wanted[1] - wanted[0])
        self.swings = None if with_steps else Swings(stepper, coordinates, self.bounds, rtol, sample)
        self.system_of, self._cancelled = system_of, cancelled
        self._company = Company(crew, stepper, self.inputs, self.samples, self.bounds, system_of)
        self._watching = Watching(self._company, watch_of, watched, self.duration)
        self.nodes = Nodes() if keep else None
        self.steps, self.loop_time = 0, 0.0  # s in steps
        self.stragglers: set[int] = set()  # members that were left out
        self._seen = share(stepper.nodes)  # of the time in which inputs turn, a step that sees it
        self._size, self._longest = 1.0, 0.0  # of the last steps, and the longest so far (s)
        self._unsolved = np.zeros((self.arrays.groups, self.arrays.lanes), dtype=int)  # steps of fixed size

    @property
    def ends(self) -> dict[int, End]:
        """Of members that ended early."""
        return self._company.ends

    def end_of(self, member: int) -> End:
        """Of any, once all have run."""
        company = self._company
        return self.ends.get(member) or End(company.t, self.arrays.of(company.state, member).copy())

    @property
    def doubts(self) -> dict[int, tuple[str, ...]]:
        """What should be known of members that did not end early, of those that took bad steps."""
        bad = self._company.those(self._unsolved > 0)
        counts = {member: int(self._unsolved[self.arrays.place(member)]) for member in bad}
        return {member: (unsolved_steps(count, self.steps, self.step_size.dt),) for member, count in counts.items()}

    @property
    def node_time(self) -> float:
        """How long loops over the nodes of steps took (s); what begins steps is part of `loop_time`."""
        loops = [self.bounds.loop, self.samples.loop]
        if self.swings is not None:
            loops.append(self.swings.loop)
        return sum(each.seconds for each in loops)

    # --- the loop ---

    def run(self) -> None:
        company = self._company
        self._stable, self._ahead = np.inf, FEW
        known = self._watching.require_start()
        for stop in self.inputs.stops(self.duration):
            self._jumped = True
            if company.alive.any() and company.t < stop:
                self._brace(known)
                known = None
            while company.alive.any() and company.t < stop:
                if self._cancelled():
                    raise Cancelled
                self._advance(stop)

    def _advance(self, stop: float) -> None:
        """One chunk: those of its steps that lie before `stop` and count."""
        if not self._jumped:
            self._restrain(self._company.state)
        longest = self._stable
        if self.step_size.heeds_inputs:
            seen, stop = self.inputs.ahead(self._company.t, stop)
            longest = min(longest, seen * self._seen)
        most = min(self._ahead, self.stepper.count)
        size, steps = self.step_size.plan(stop - self._company.t, most, longest)
        before = self._anew(size) if self._jumped else self._company.state
        if before is None:
            return
        longer = 1.0 if self._jumped else size / self._size
        used = self._compute(before, longer, size, stop, min(steps, most))
        if not used:
            return
        self._ahead = 2 * most if used == most else FEW
        verdict = self.step_size.judge(self.stepper, used)
        self.steps += verdict.good
        times = np.asarray(self._company.t + size * np.arange(verdict.good + 1), dtype=float)
        if verdict.good == steps:
            times[-1] = stop
        if verdict.good:
            if self.step_size.fixed:
                self._unsolved += (self.stepper.excess(verdict.good)[1] > UNSOLVED_EXCESS).sum(axis=1)
            self._accept(times, verdict.good)
            self._jumped, self._size = False, size
            self._longest = max(self._longest, size)
        if not self.step_size.adapt(verdict, size, self.stepper.method.estimate):
            self._end_guilty(min(verdict.good, used - 1))
        elif verdict.good < used and self.step_size.dt < STRAGGLING * self._longest:
            self._leave_out(verdict.good)
        elif not self.step_size.fixed and self.steps > MOST_STEPS:
            sentence = f"gave up at t = {self._company.t:.6g} s after {MOST_STEPS} steps; allow a larger rtol"
            for member in self._company.living:
                self._company.end_here(member, sentence)

    def _compute(self, states: Array, longer: float, dt: float, stop: float, steps: int) -> int:
        """Steps of size dt from states of steps that these are so many times longer than, and how many were taken."""
        nodes = np.array(self.stepper.nodes)
        times = (self._company.t + dt * (np.arange(steps)[:, None] + nodes)).ravel()
        inputs = self._company.given(np.minimum(times, np.nextafter(stop, -np.inf)), len(nodes))
        if inputs is None:
            return 0
        steps = inputs.shape[1] // len(nodes)
        inputs = inputs[:, : steps * len(nodes)].reshape(len(inputs), steps, -1, self.arrays.lanes)
        least, begin = self.step_size.least(dt, self.stepper.method.estimate), clock.perf_counter()
        taken = self.stepper(states, longer, inputs, dt, steps, self.step_size.most, least)
        self.loop_time += clock.perf_counter() - begin
        return taken

    # --- what these steps tell ---

    def _accept(self, times: Array, good: int) -> None:
        """Take what these steps tell; members end where something that is watched happens to them."""
        ended = self._watching.events(times, good)
        states = {}
        for member, event in ended.items():
            own = self.arrays.of(self.stepper.path[:, : good + 1], member)
            found = between(times, own, np.array([event.time]), self.layout, self.stepper.method.order)[0]
            states[member] = event.settled(found)
        if self.swings is not None:
            self.swings.take(good, float(times[1] - times[0]))
        self.samples.take(times, {member: event.time for member, event in ended.items()})
        if self.nodes is not None:
            self.nodes.blocks.append((times, self.stepper.path[:, : good + 1].copy(), self._jumped))
        self._company.t, self._company.state[:] = float(times[-1]), self.stepper.path[:, good]
        for member, event in ended.items():
            self._company.end(member, event.time, states[member], event.sentence, event.status)
        self._watching.require_inertia()

    def _end_guilty(self, step: int) -> None:
        """End the members for which there is no way on, so that the others find one."""
        company, fell = self._company, None if self.step_size.fixed else self.step_size.dt
        for member in self._guilty(step):
            last, tried = (self.arrays.of(each, member) for each in (company.state, self.stepper.path[:, step + 1]))
            sentence = divergence(self.system_of(member), self.stepper.plant, company.t, last, tried, fell)
            company.end_here(member, sentence)
        self._go_on()

    def _guilty(self, step: int) -> list[int]:
        """Members for which a step of the last call is not good enough."""
        error, left = self.stepper.excess(step + 1)
        excess = np.maximum(error, left)[:, step]
        bad = ~np.isfinite(excess) if self.step_size.fixed else ~(excess <= 1)
        if not bad.any():
            bad = excess >= excess.max()
        return self._company.those(bad)

    def _go_on(self) -> None:
        """Without those that have just ended."""
        self.step_size.begin_anew()
        self._jumped = True
        if self._company.alive.any():
            self._brace()

    def _leave_out(self, step: int) -> None:
        """Leave out members that want steps far shorter than all took so far: nobody should wait for them."""
        for member in self._guilty(step):
            self.stragglers.add(member)
            self._company.end_here(member, "")
        self._go_on()

    # --- where inputs jump ---

    def _brace(self, known: Array | None = None) -> None:
        """Take shorter steps where inputs have jumped so that accelerations did; states after the jump may be known."""
        company, at = self._company, self.layout
        here = company.restarted(0.0) if known is None else known
        while here is None and company.alive.any():
            here = company.restarted(0.0)
        if here is None:
            return
        company.jump = here
        old, new = (each[:, at.a] / company.bounds.sizes for each in (company.state, here))
        kick, largest = (np.abs(each).max(axis=1, initial=0.0) for each in (new - old, new))
        if (kick > KICK * largest).any():
            self.step_size.restart()
        self._restrain(here)

    def _anew(self, size: float) -> Array | None:
        """States after a jump, for a step of this size."""
        return self._company.restarted(size) if any(self.stepper.method.softening(1.0)) else self._company.jump

    def _restrain(self, states: Array) -> None:
        """Keep steps that an explicit method may choose stable, in these postures and those that are near."""
        company, q = self._company, states[:, self.layout.q]
        if self.step_size.fixed or not self.stepper.method.explicit:
            return
        if not self._jumped and (np.abs((q - company.restrained) / company.bounds.sizes) < NEAR).all():
            return
        company.restrained = q.copy()
        given = company.given(np.array([company.t]))
        if given is None:
            return
        free = self.stepper.plant.free
        v, a = (self.arrays.rows(states[:, part]) for part in (self.layout.every_v, self.layout.every_a))
        spectra = self.stepper.spectra(states, given[:, 0])
        longest = {
            k: self.stepper.method.longest_step(spectra[k].moving(v[k, free], a[k, free]).rates, self.duration)
            for k in company.living
        }
        least = STRAGGLING * min(self.duration, max(longest.values(), default=np.inf))
        for member in (member for member, each in longest.items() if each < least):
            self.stragglers.add(member)
            company.end_here(member, "")
        self._stable = SAFELY * min((each for each in longest.values() if each >= least), default=np.inf)

    # --- what comes of it ---

    def measures(self) -> dict[str, Array]:
        """By name, values of the usual measures, a row for each member; none where nobody could begin. Lanes of members
        that ended are theirs again."""
        company = self._company
        if self.samples.extremes.first is None:
            return {}
        self.stepper.restore(self.crew.numbers)
        self.inputs.restore()
        self.samples.extremes.thaw()
        own, times = self.arrays.rows(company.state).copy(), np.full(len(self.crew), company.t)
        for member, end in self.ends.items():
            own[member], times[member] = end.state, end.time
        states = self.arrays.packed(own)
        asked = np.where(times > 0, np.nextafter(times, -np.inf), times)
        last = self.stepper.read(states, self.inputs.at_own_times(asked))
        return self.samples.extremes.values(last, self.arrays.packed(times[:, None])[:, 0], self.duration)
