"""The loop over time: chunks of compiled steps, error control, sampling, what stops a run."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.assembly import Assembly
from flexarm.motion.events import Watch
from flexarm.motion.methods import State
from flexarm.motion.sampling import between
from flexarm.motion.schedule import Schedule
from flexarm.motion.stepper import Stepper
from flexarm.motion.sundials import SundialsStepper

SAFETY = 0.9
FIRST_STEP = 0.01  # s, and of the duration: long, since the error control is quick to shorten it
SMALLEST_STEP = 1e-11  # of the duration: below this a run has met a singularity
MOST_STEPS = 5_000_000
ABSURD = 1e100  # a state beyond this is as good as not a number
ITERATIONS = (2, 4, 8, 16)  # of Newton's method in a step: more are taken when these do not converge
UNSOLVED = 0.03  # s^2: how long an acceleration that the iteration still corrects is thought to act, squared
HOPELESS = 100  # times what is allowed: steps of fixed size whose iteration leaves this much are reported


@dataclass
class Statistics:
    """What the solver did."""

    steps: int = 0
    rejected: int = 0
    unsolved: int = 0  # steps of fixed size whose iteration did not converge
    computed: int = 0  # steps, those that were not accurate enough included
    chunks: int = 0
    smallest_step: float = float("inf")
    largest_step: float = 0.0
    loop_time: float = 0.0


@dataclass
class Tolerance:
    """How far the links may be from where they should be: rtol times the robot's length, and atol (m).

    A step may add its share, a tenth of that times rtol ** (1 / order): a method of that order then ends with errors in
    proportion to rtol. The share does not shrink with the step as an error per second would: the vibration of stiff
    links that no step resolves is bounded by its amplitude, however many steps there are.
    """

    rtol: float
    atol: float
    length: float

    @property
    def allowed(self) -> float:
        return self.rtol * self.length + self.atol

    def share(self, order: int) -> float:
        return float(0.1 * self.allowed * (self.allowed / self.length) ** (1 / order))


@dataclass
class Integration:
    """One run: samples at the wanted times as far as it came, and the `reason` why it ended."""

    schedule: Schedule
    steppers: Callable[[int], Stepper | SundialsStepper]  # by the number of iterations in a step
    duration: float
    tolerance: Tolerance
    dt: float | None
    wanted: Array
    watch: Watch
    report: Callable[[float], None]
    times: list[float] = field(default_factory=list)
    blocks: list[Array] = field(default_factory=list)  # of states at these times, in rows
    commands: list[tuple[float, Array]] = field(default_factory=list)  # of a digital controller
    statistics: Statistics = field(default_factory=Statistics)
    reason: str = "completed"

    def __post_init__(self) -> None:
        self._iterations = ITERATIONS[0]
        self.stepper = self.steppers(self._iterations)

    def run(self, q: Array, v: Array) -> None:
        n = self.stepper.plant.n
        state = np.zeros(State.size(n, self.stepper.plant.rows))
        state[:n], state[n : 2 * n] = q, v
        t, dt = 0.0, self.dt or FIRST_STEP * min(1.0, self.duration)
        self._last = state
        try:
            self._listen(state, 0.0)
        except StopIteration as event:  # nothing is lost yet
            raise ValueError(str(event)) from None
        first = self._restarted(state, 0.0, 0.0)
        self.times, self.blocks = [0.0], [first[None, :]]
        a = first[2 * n : 3 * n]
        if not np.isfinite(a).all():
            raise ValueError(self.stepper.plant.system._why_not_finite(first[:n], a))
        try:
            for stop in self._stops():
                self._listen(state, t)
                self._jumped = True
                while t < stop:
                    t, state, dt = self._advance(t, state, dt, stop)
        except KeyboardInterrupt:
            self.reason = f"interrupted at t = {t:.6g} s"
        except StopIteration as event:
            self.reason = str(event)

    def _stops(self) -> list[float]:
        """Times that must be step boundaries: jumps of inputs, samples of a digital controller, the end."""
        found = set(self.schedule.breaks(self.duration))
        feedback = self.schedule.feedback
        if feedback is not None and feedback.rate is not None:
            count = int(np.ceil(self.duration * feedback.rate - 1e-9))
            found |= {k / feedback.rate for k in range(1, count)}
        return sorted(found)

    def _advance(self, t: float, state: Array, dt: float, stop: float) -> tuple[float, Array, float]:
        """One chunk: those of its steps that lie before `stop` and are accurate enough."""
        stepper, statistics = self.stepper, self.statistics
        steps = max(1, int(np.ceil((stop - t) / dt - 1e-9)))
        size = (stop - t) / steps if steps <= stepper.count or self.dt else dt
        state = self._restarted(state, t, size) if self._jumped else self._rescaled(state, size)
        share, solved = self.tolerance.share(stepper.method.order), self.tolerance.allowed / UNSOLVED
        limits = (np.finfo(float).max,) * 2 if self.dt else (share, solved)
        used = self._compute(t, state, size, stop, min(steps, stepper.count), limits)
        excess, unsolved = _largest(stepper.errors[:used]) / share, _largest(stepper.left[:used]) / solved
        struggles = unsolved.max(initial=0.0) > max(1.0, 0.0 if self.dt else excess.max(initial=0.0))
        if struggles and self._iterate_more():
            return t, state, dt
        excess = np.maximum(excess, unsolved) if not self.dt else np.where(np.isinf(unsolved), np.inf, excess)
        excess = np.where((np.abs(stepper.states[:used]) < ABSURD).all(axis=1), excess, np.inf)
        bad = np.isinf(excess) if self.dt else ~(excess <= 1)
        good = int(bad.argmax()) if bad.any() else used
        statistics.chunks += 1
        statistics.computed += used
        statistics.rejected += good < used
        if good:
            times = np.asarray(t + size * np.arange(good + 1), dtype=float)
            if good == steps:
                times[-1] = stop
            self._accept(times, np.vstack([state, stepper.states[:good]]))
            t, state = float(times[-1]), stepper.states[good - 1].copy()
            self._last = state
            self._jumped, self._size = False, size
            statistics.steps += good
            statistics.smallest_step = min(statistics.smallest_step, size)
            statistics.largest_step = max(statistics.largest_step, size)
            statistics.unsolved += int((unsolved[:good] > HOPELESS).sum())
        if self.dt:
            if good < used:
                raise StopIteration(self._failure(t, "is not a number with this fixed step", good))
            return t, state, dt
        peak = float(excess[good] if good < used else excess.max())
        change = SAFETY * max(peak, 1e-10) ** (-1 / stepper.method.estimate) if np.isfinite(peak) else 0.1
        proposed = size * float(np.clip(change, 0.1, 4.0))
        if proposed < SMALLEST_STEP * self.duration and size >= dt:
            worst = min(good, used - 1)
            raise StopIteration(self._failure(t, f"changes too fast (the step fell to {proposed:.2g} s)", worst))
        if statistics.steps > MOST_STEPS:
            raise StopIteration(f"gave up at t = {t:.6g} s after {statistics.steps} steps; allow a larger rtol")
        return t, state, max(dt, proposed) if good == used and size < dt else proposed  # a stop cuts steps short

    def _iterate_more(self) -> bool:
        """Go over to steps with more iterations, if there are any."""
        later = [count for count in ITERATIONS if count > self._iterations]
        if not later or not isinstance(self.stepper, Stepper) or not self.stepper.method.implicit:
            return False
        self._iterations = later[0]
        self.stepper = self.steppers(self._iterations)
        return True

    def _failure(self, t: float, what: str, step: int) -> str:
        n = self.stepper.plant.n
        q = np.abs(self.stepper.states[step, :n] / self.stepper.sizes)
        worst = int(np.argmax(np.where(np.isfinite(q), q, np.inf))) if n else 0
        return f"diverged at t = {t:.6g} s: '{self.stepper.plant.system.names[worst]}' {what}{self._singularity()}"

    def _singularity(self) -> str:
        """The end of a sentence about a failure where constraints are at fault."""
        plant = self.stepper.plant
        if plant.constraint_solver is None:
            return ""
        names = Assembly(plant.system, plant.driven).nearly_singular(self._last[: plant.n])
        return f"; the mechanism is nearly singular there: {names} cannot be held" if names else ""

    def _compute(self, t: float, state: Array, dt: float, stop: float, steps: int, limits: tuple[float, float]) -> int:
        nodes = np.array(self.stepper.method.nodes)
        times = (t + dt * (np.arange(steps)[:, None] + nodes)).ravel()
        inputs = self.schedule.inputs(np.minimum(times, np.nextafter(stop, -np.inf)), self._held)
        start = clock.perf_counter()
        taken = self.stepper(state, inputs, dt, steps, limits)
        self.statistics.loop_time += clock.perf_counter() - start
        return taken

    def _accept(self, times: Array, states: Array) -> None:
        """Keep the samples of these steps; stop where something that is watched happens."""
        n = self.stepper.plant.n
        event = self.watch.first(times, states, n, self.stepper.sizes)
        end = float(times[-1]) if event is None else event.time
        have = len(self.times)
        count = int(np.searchsorted(self.wanted, end, side="right"))
        if count > have:
            self.times += self.wanted[have:count].tolist()
            self.blocks.append(between(times, states, self.wanted[have:count], n))
        self.report(end)
        if event is not None:
            if end > self.times[-1]:
                self.times.append(end)
                self.blocks.append(between(times, states, np.array([end]), n))
            raise StopIteration(event.sentence)

    def _listen(self, state: Array, t: float) -> None:
        """Ask a digital controller, once a period, for the torques that it holds until the next one."""
        n, feedback = self.stepper.plant.n, self.schedule.feedback
        if feedback is None or feedback.rate is None:
            return
        if len(self.commands) <= int(np.floor(t * feedback.rate + 1e-9)):
            said = self.schedule.command(t, state[:n], state[n : 2 * n])
            if not np.isfinite(said).all():
                name = self.stepper.plant.system.inputs[int((~np.isfinite(said)).argmax())]
                raise StopIteration(
                    f"the feedback law gave {said[~np.isfinite(said)][0]} for '{name}' at t = {t:.6g} s"
                )
            self.commands.append((t, said))

    @property
    def _held(self) -> Array | None:
        return self.commands[-1][1] if self.commands else None

    def _rescaled(self, state: Array, size: float) -> Array:
        """The state for a step of another size: auxiliary accelerations lead the others by a fraction of the step."""
        if size == self._size:
            return state
        n, out = self.stepper.plant.n, state.copy()
        a, aux = out[2 * n : 3 * n], out[3 * n : 4 * n]
        aux[:] = a + (aux - a) * (size / self._size)
        return out

    def _restarted(self, state: Array, t: float, dt: float) -> Array:
        """The state with accelerations and powers computed anew, since inputs may have jumped."""
        n = self.stepper.plant.n
        out = state.copy()
        for k, each in self.schedule.motions.items():
            out[k], out[n + k] = each(t), each(t, 1)
        u = self.schedule.inputs(np.array([t]), self._held)[0]
        plant, softening = self.stepper.plant, self.stepper.method.softening(dt)
        if (
            plant.constraint_solver is not None and plant.constraint_solver.projects
        ):  # a driven joint's speed may have jumped
            q, v, *_ = plant.constraint_solver.settled(out[:n], out[n : 2 * n], out[2 * n : 3 * n], u)
            out[:n], out[n : 2 * n] = q.full()[:, 0], v.full()[:, 0]
        scales = (np.array([float(each)]) for each in softening)
        a, given, drained, *forces = self.stepper.start(out[:n], out[n : 2 * n], u, *scales)
        out[2 * n : 3 * n] = out[3 * n : 4 * n] = a
        out[4 * n + 2], out[4 * n + 3] = given, drained
        if forces:
            out[4 * n + 4 :] = forces[0]
        return out


def _largest(displacements: Array) -> Array:
    """Of each step's links; infinite where one is not a number."""
    worst = displacements.max(axis=1, initial=0.0)
    return np.where(np.isfinite(worst), worst, np.inf)
