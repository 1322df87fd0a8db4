"""The bounded motion that belongs to an output on its path, by one of three methods, on times fine enough for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from flexarm.control.inversion.output_constraint import Goals, Servo
from flexarm.control.inversion.result import Inversion
from flexarm.control.inversion.solvers import (
    MAX_WINDOW_DURATIONS,
    MIN_NODE_COUNT,
    Motion,
    Ring,
    SmallMotionsAtRest,
    linear_motion,
    static,
    windows,
)
from flexarm.dynamics.validity import ValidityWarning, warn_of_furthest
from flexarm.foundation.validation import Array

METHODS = ("nonlinear", "linear", "quasi-static")
FIRST_STEPS, MOST_STEPS = 50, 3200  # along the path: where refinement begins and ends
STEPS, COARSEST = 1000, 10  # where nothing is refined, and the fewest that a user may ask for
ACCURATE = 5e-5  # of the way of the joints: what finer steps may still change in any coordinate
SMOOTH = 3e-3  # of the largest torque, in the mean of squares
INACCURATE = 1e-3  # of the way of the joints: what is worth a warning
LARGEST = 5_000_000  # nodes times coordinates squared: some 400 MB
NOT_LINEAR = 0.05  # of the largest torque: what small motions may be wrong by without a word
LEFT = 1e-3  # of the largest departure from rest: what a window may cut off without a word


@dataclass(frozen=True)
class TimeGrid:
    """Times of a ring: `lead` steps before the path, so many `along` it, and `rest` after it."""

    begin: float
    step: float
    lead: int
    along: int
    rest: int

    @property
    def times(self) -> Array:
        return np.asarray(self.begin + self.step * (np.arange(self.lead + self.along + self.rest) - self.lead))

    def halved(self) -> TimeGrid:
        return TimeGrid(self.begin, self.step / 2, 2 * self.lead, 2 * self.along, 2 * self.rest)


@dataclass(frozen=True)
class SearchOptions:
    """What was asked for. tell: how far it is."""

    servo: Servo
    method: str
    before: float | None
    after: float | None
    sample: float | None
    tell: Callable[[float], None]

    def found(self) -> Inversion:
        rigid = not self.servo.passive
        if self.method == "quasi-static" or rigid:
            nodes, error = self._nodes(STEPS, self.before or 0.0, self.after or 0.0), None
            goals = self.servo.goals(nodes.times)
            motion = self._rigid(goals) if rigid else self._quasi_static(goals)
        else:
            before, after = self._windows
            if self.method == "linear":
                nodes, error = self._nodes(STEPS, before, after), None
                goals = self.servo.goals(nodes.times)
                motion = linear_motion(self._ends[0], goals, nodes.step)
                self._warn_of_posture(motion)
            else:
                nodes, goals, motion, error = self._refined(self._nodes(FIRST_STEPS, before, after))
        return self._result(nodes, goals, motion, error)

    # --- windows ---

    @cached_property
    def _ends(self) -> list[SmallMotionsAtRest]:
        """At rest at both ends of the path."""
        found = []
        for t in (self.servo.path.begin, self.servo.path.end):
            goals = self.servo.goals(np.array([t]))
            found.append(SmallMotionsAtRest(self.servo, static(self.servo, goals, loaded=False)[0], goals))
        return found

    @property
    def _windows(self) -> tuple[float, float]:
        if self.before is not None and self.after is not None:
            return self.before, self.after
        found = windows(self._ends[:1] if self.method == "linear" else self._ends, self.servo.path.duration)
        return (found[0] if self.before is None else self.before, found[1] if self.after is None else self.after)

    def _nodes(self, steps: int, before: float, after: float) -> TimeGrid:
        path = self.servo.path
        if self.sample is not None:
            if self.sample * COARSEST > path.duration * (1 + 1e-9):
                raise ValueError(
                    f"sample = {self.sample:g} s: must be at most a {COARSEST}th of the path's {path.duration:.3g} s"
                )
            steps = ceil(min(path.duration / self.sample, 1.0 * LARGEST) - 1e-9)
        while self.sample is None and steps < MOST_STEPS and not path.seen(steps):
            steps *= 2
        step = path.duration / steps
        if not path.seen(steps):
            raise ValueError(
                f"sample = {step:.3g} s: is too long to see how the path moves between its times, at its fastest; take "
                "shorter steps, or a shorter path (times)"
            )
        if (before / step + after / step + steps) * self.servo.system.nq**2 > LARGEST:
            raise ValueError(
                f"sample = {step:.3g} s: takes too many times from {before:.3g} s before the path to {after:.3g} s "
                f"after it for {self.servo.system.nq} coordinates; take longer steps, or shorter windows (before, "
                "after)"
            )
        lead, rest = ceil(before / step - 1e-9), ceil(after / step - 1e-9) + 1
        return TimeGrid(path.begin, step, lead, steps, max(rest, MIN_NODE_COUNT - lead - steps))

    def _size(self, nodes: TimeGrid) -> int:
        return (nodes.lead + nodes.along + nodes.rest) * self.servo.system.nq**2

    # --- methods ---

    def _rigid(self, goals: Goals) -> Motion:
        torques = self.servo.torques(goals.q, goals.v, goals.a)
        return Motion(goals.q, goals.v, goals.a, torques, goals.q)

    def _quasi_static(self, goals: Goals) -> Motion:
        q = static(self.servo, goals, loaded=True)
        return Motion(q, goals.v, goals.a, self.servo.torques(q, goals.v, goals.a), q)

    def _refined(self, nodes: TimeGrid) -> tuple[TimeGrid, Goals, Motion, float | None]:
        """On finer and finer nodes, until they change next to nothing, or more than those before: steps that resolve
        zeros which run through infinity along the path find no bounded motion, or a rougher one."""
        goals = self.servo.goals(nodes.times)
        motion = self._first(nodes, goals)
        if self.sample is not None:
            return nodes, goals, motion, None
        error, rougher = np.inf, False
        while error > ACCURATE and nodes.along < MOST_STEPS and self._size(finer := nodes.halved()) <= LARGEST:
            closer = self.servo.goals(finer.times)
            ring = self._ring(finer, closer)
            q = ring.solved(_resampled(motion.q - motion.base) + ring.statics, self.tell)
            found = None if q is None else self._motion(ring, q)
            change, rough = (np.inf, np.inf) if found is None else self._change(motion, found)
            if rougher := found is None or change > error:
                break
            nodes, goals, motion, error = finer, closer, found, max(change, ACCURATE * rough / SMOOTH)
        if error > INACCURATE:
            known = "not known how well" if error == np.inf else f"known to {error:.1g} of it only"
            why = "shorter ones find nothing smoother" if rougher else "more of them would be too many (sample)"
            warnings.warn(
                f"tip: the motion along the path is {known}, at steps of {nodes.step:.2g} s; {why}. Play the torques "
                "back before they are trusted",
                ValidityWarning,
                stacklevel=4,
            )
        return nodes, goals, motion, float(error)

    def _first(self, nodes: TimeGrid, goals: Goals) -> Motion:
        ring = self._ring(nodes, goals)
        q = ring.solved(static(self.servo, goals, loaded=True), self.tell)
        q = ring.sped_up(self.tell) if q is None else q
        if q is None:
            raise ArithmeticError(
                "tip: no bounded motion was found along the path; a slower path, a stiffer robot, longer windows "
                "(before, after) or longer steps (sample) may help"
            )
        return self._motion(ring, q)

    def _ring(self, nodes: TimeGrid, goals: Goals) -> Ring:
        return Ring(self.servo, goals, nodes.step, static(self.servo, goals, loaded=False))

    def _motion(self, ring: Ring, q: Array) -> Motion:
        v, a = ring.rates(q)
        return Motion(q, v, a, self.servo.torques(q, v, a), ring.statics)

    def _change(self, one: Motion, finer: Motion) -> tuple[float, float]:
        """Of the path, in the coordinate that changes most; and of the torques."""
        away = np.abs(finer.q[::2] - one.q) / self.servo.system.sizes
        rough = np.sqrt(((finer.torques[::2] - one.torques) ** 2).mean(axis=0))
        largest = np.abs(finer.torques - finer.torques[0]).max(axis=0).max()
        return float(away.max() / max(self.servo.path.extent, 1e-300)), float(rough.max() / max(largest, 1e-300))

    def _warn_of_posture(self, motion: Motion) -> None:
        """Where the linear model has left the posture that it is about."""
        exact = self.servo.torques(motion.q, motion.v, motion.a)
        off = np.abs(exact - motion.torques).max() / max(float(np.abs(motion.torques).max()), 1e-300)
        if off > NOT_LINEAR:
            warnings.warn(
                f"method = 'linear': the equations of motion take other torques for this motion, by {off:.0%} of the "
                "largest, so the path is long for a model about its start; take method='nonlinear'",
                ValidityWarning,
                stacklevel=4,
            )

    # --- result ---

    def _result(self, nodes: TimeGrid, goals: Goals, motion: Motion, error: float | None) -> Inversion:
        system = self.servo.system
        warn_of_furthest(system, motion.q)
        left = self._left(motion)
        if left > LEFT:
            warnings.warn(
                f"before and after: {left:.2g} of the largest departure from rest is cut off at the ends of the "
                f"window, from {nodes.lead * nodes.step:.3g} s before the path on; give it more time, or the robot "
                f"more damping (unless given, windows are no longer than {MAX_WINDOW_DURATIONS:g} times the path)",
                ValidityWarning,
                stacklevel=4,
            )
        zeros = np.zeros(0) if self.method == "quasi-static" or not self.servo.passive else self._zeros
        return Inversion(
            system,
            nodes.times - nodes.times[0],
            motion.q,
            motion.v,
            motion.a,
            motion.torques,
            goals.positions,
            start=motion.base[0],
            before=nodes.lead * nodes.step,
            after=(nodes.rest - 1) * nodes.step,
            inputs=system.inputs,
            place=self.servo.place,
            method=self.method,
            zeros=zeros,
            left=left,
            error_estimate=error,
        )

    @property
    def _zeros(self) -> Array:
        return np.concatenate([each.zeros for each in self._ends[: 1 if self.method == "linear" else 2]])

    def _left(self, motion: Motion) -> float:
        away = np.abs((motion.q - motion.base) / self.servo.system.sizes).max(axis=1)
        return float(max(away[0], away[-1]) / max(away.max(), 1e-300))


def _resampled(values: Array) -> Array:
    """Periodic values at twice as many times."""
    from scipy.signal import resample

    return np.asarray(resample(values, 2 * len(values), axis=0))
