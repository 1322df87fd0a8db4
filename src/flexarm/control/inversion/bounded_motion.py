"""Bounded motion of a robot whose output follows a path, by one of three methods, on a sufficiently fine time grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from flexarm.control.inversion.output_constraint import OutputConstraint, ReferenceSamples
from flexarm.control.inversion.result import Inversion
from flexarm.control.inversion.solvers import (
    MAX_WINDOW_DURATIONS,
    MIN_NODE_COUNT,
    Motion,
    PeriodicCollocation,
    SmallMotionsAtRest,
    actuation_windows,
    linear_motion,
    static_postures,
)
from flexarm.dynamics.accuracy.validity import ValidityWarning, warn_of_furthest
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array

METHODS = ("nonlinear", "linear", "quasi-static")
MIN_STEP_COUNT, MAX_STEP_COUNT = 50, 3200  # steps along the path at which refinement begins and ends
FIXED_STEP_COUNT = 1000  # steps along the path without refinement
MIN_STEPS_PER_PATH = 10  # smallest number of steps that a user may choose
REFINEMENT_TOLERANCE = 5e-5  # change of any coordinate by refinement, relative to the extent of the path
TORQUE_TOLERANCE = 3e-3  # root mean square change of a torque by refinement, relative to the largest torque
MAX_SILENT_ERROR = 1e-3  # error, relative to the extent of the path, above which a warning is given
MAX_PROBLEM_SIZE = 5_000_000  # nodes times squared number of coordinates: about 400 MB
MAX_SILENT_LINEARIZATION_ERROR = 0.05  # relative to the largest torque; a warning is given above
MAX_SILENT_TRUNCATION = 1e-3  # departure from rest at the ends of a window, relative to the largest


@dataclass(frozen=True)
class TimeGrid:
    """Equidistant times: `lead` steps before the path, `along` steps on it and `rest` steps after it."""

    begin: float
    step: float
    lead: int
    along: int
    rest: int

    @property
    def times(self) -> Array:
        """Return the times (s)."""
        return np.asarray(self.begin + self.step * (np.arange(self.lead + self.along + self.rest) - self.lead))

    def halved(self) -> TimeGrid:
        """Return the grid with steps of half the size."""
        return TimeGrid(self.begin, self.step / 2, 2 * self.lead, 2 * self.along, 2 * self.rest)


@dataclass(frozen=True)
class BoundedMotionSearch:
    """Search for the bounded motion with the options of a user; `report` receives the progress between 0 and 1."""

    constraint: OutputConstraint
    method: str
    before: float | None
    after: float | None
    sample: float | None
    report: Callable[[float], None]

    def solve(self) -> Inversion:
        """Compute the bounded motion and the torques."""
        rigid, error = not self.constraint.passive, None
        if self.method == "quasi-static" or rigid:
            nodes = self._nodes(FIXED_STEP_COUNT, self.before or 0.0, self.after or 0.0)
            goals = self.constraint.goals(nodes.times)
            q = goals.q if rigid else static_postures(self.constraint, goals, loaded=True)
            motion = self._motion(q, goals.v, goals.a, q)
        elif self.method == "linear":
            nodes = self._nodes(FIXED_STEP_COUNT, *self._windows)
            goals = self.constraint.goals(nodes.times)
            motion = linear_motion(self._ends[0], goals, nodes.step)
            self._warn_of_posture(motion)
        else:
            nodes, goals, motion, error = self._refine(self._nodes(MIN_STEP_COUNT, *self._windows))
        return self._result(nodes, goals, motion, error)

    def _motion(self, q: Array, v: Array, a: Array, base: Array) -> Motion:
        return Motion(q, v, a, self.constraint.torques(q, v, a), base)

    # --- windows ---

    @cached_property
    def _ends(self) -> list[SmallMotionsAtRest]:
        """Return the linear models at rest at both ends of the path; the linear method has that of its beginning."""
        found = []
        for t in (self.constraint.path.begin, self.constraint.path.end)[: 1 if self.method == "linear" else 2]:
            goals = self.constraint.goals(np.array([t]))
            posture = static_postures(self.constraint, goals, loaded=False)[0]
            found.append(SmallMotionsAtRest(self.constraint, posture, goals))
        return found

    @property
    def _windows(self) -> tuple[float, float]:
        if self.before is not None and self.after is not None:
            return self.before, self.after
        before, after = actuation_windows(self._ends, self.constraint.path.duration)
        return before if self.before is None else self.before, after if self.after is None else self.after

    def _nodes(self, steps: int, before: float, after: float) -> TimeGrid:
        path = self.constraint.path
        if self.sample is not None:
            if self.sample * MIN_STEPS_PER_PATH > path.duration * (1 + 1e-9):
                raise ValueError(
                    f"sample = {self.sample:g} s: must be at most a {MIN_STEPS_PER_PATH}th of the path's "
                    f"{path.duration:.3g} s"
                )
            steps = ceil(min(path.duration / self.sample, 1.0 * MAX_PROBLEM_SIZE) - 1e-9)
        while self.sample is None and steps < MAX_STEP_COUNT and not path.is_resolved_by(steps):
            steps *= 2
        step = path.duration / steps
        if not path.is_resolved_by(steps):
            raise ValueError(
                f"sample = {step:.3g} s: is too long to see how the path moves between its times, at its fastest; take "
                "shorter steps, or a shorter path (times)"
            )
        if (before / step + after / step + steps) * self.constraint.system.nq**2 > MAX_PROBLEM_SIZE:
            raise ValueError(
                f"sample = {step:.3g} s: takes too many times from {before:.3g} s before the path to {after:.3g} s "
                f"after it for {self.constraint.system.nq} coordinates; take longer steps, or shorter windows (before, "
                "after)"
            )
        lead, rest = ceil(before / step - 1e-9), ceil(after / step - 1e-9) + 1
        return TimeGrid(path.begin, step, lead, steps, max(rest, MIN_NODE_COUNT - lead - steps))

    def _refine(self, nodes: TimeGrid) -> tuple[TimeGrid, ReferenceSamples, Motion, float | None]:
        """Refine the grid until the motion converges, or changes more than by the refinement before."""
        from scipy.signal import resample

        goals = self.constraint.goals(nodes.times)
        collocation = self._collocation(nodes, goals)
        q = collocation.solve(static_postures(self.constraint, goals, loaded=True), self.report)
        q = collocation.solve_by_continuation(self.report) if q is None else q
        if q is None:
            raise ArithmeticError(
                "tip: no bounded motion was found along the path; a slower path, a stiffer robot, longer windows "
                "(before, after) or longer steps (sample) may help"
            )
        motion = self._motion(q, *collocation.rates(q), collocation.statics)
        if self.sample is not None:
            return nodes, goals, motion, None
        error, is_rougher = np.inf, False
        while (
            error > REFINEMENT_TOLERANCE
            and nodes.along < MAX_STEP_COUNT
            and len((finer := nodes.halved()).times) * self.constraint.system.nq**2 <= MAX_PROBLEM_SIZE
        ):
            closer = self.constraint.goals(finer.times)
            collocation = self._collocation(finer, closer)
            first = resample(motion.q - motion.base, 2 * len(motion.q), axis=0) + collocation.statics
            q = collocation.solve(first, self.report)
            found = None if q is None else self._motion(q, *collocation.rates(q), collocation.statics)
            change, rough = (np.inf, np.inf) if found is None else self._change(motion, found)
            if is_rougher := found is None or change > error:
                break
            error = max(change, REFINEMENT_TOLERANCE * rough / TORQUE_TOLERANCE)
            nodes, goals, motion = finer, closer, found
        if error > MAX_SILENT_ERROR:
            accuracy = "not known how well" if error == np.inf else f"known to {error:.1g} of it only"
            why = "shorter ones find nothing smoother" if is_rougher else "more of them would be too many (sample)"
            warn(
                f"tip: the motion along the path is {accuracy}, at steps of {nodes.step:.2g} s; {why}. Play the "
                "torques back before they are trusted",
                ValidityWarning,
            )
        return nodes, goals, motion, float(error)

    def _collocation(self, nodes: TimeGrid, goals: ReferenceSamples) -> PeriodicCollocation:
        statics = static_postures(self.constraint, goals, loaded=False)
        return PeriodicCollocation(self.constraint, goals, nodes.step, statics)

    def _change(self, one: Motion, finer: Motion) -> tuple[float, float]:
        """Return the change by refinement of the worst coordinate, relative to the path, and of the worst torque."""
        away = np.abs(finer.q[::2] - one.q) / self.constraint.system.sizes
        rough = np.sqrt(((finer.torques[::2] - one.torques) ** 2).mean(axis=0))
        largest = np.abs(finer.torques - finer.torques[0]).max(axis=0).max()
        return float(away.max() / max(self.constraint.path.extent, 1e-300)), float(rough.max() / max(largest, 1e-300))

    def _warn_of_posture(self, motion: Motion) -> None:
        """Warn if the motion leaves the range in which the linear model is valid."""
        exact = self.constraint.torques(motion.q, motion.v, motion.a)
        off = np.abs(exact - motion.torques).max() / max(float(np.abs(motion.torques).max()), 1e-300)
        if off > MAX_SILENT_LINEARIZATION_ERROR:
            warn(
                f"method = 'linear': the equations of motion take other torques for this motion, by {off:.0%} of the "
                "largest, so the path is long for a model about its start; take method='nonlinear'",
                ValidityWarning,
            )

    # --- result ---

    def _result(self, nodes: TimeGrid, goals: ReferenceSamples, motion: Motion, error: float | None) -> Inversion:
        system = self.constraint.system
        warn_of_furthest(system, motion.q)
        away = np.abs((motion.q - motion.base) / system.sizes).max(axis=1)
        left = float(max(away[0], away[-1]) / max(away.max(), 1e-300))
        if left > MAX_SILENT_TRUNCATION:
            warn(
                f"before and after: {left:.2g} of the largest departure from rest is cut off at the ends of the "
                f"window, from {nodes.lead * nodes.step:.3g} s before the path on; give it more time, or the robot "
                f"more damping (unless given, windows are no longer than {MAX_WINDOW_DURATIONS:g} times the path)",
                ValidityWarning,
            )
        ends = [] if self.method == "quasi-static" or not self.constraint.passive else self._ends
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
            place=self.constraint.place,
            method=self.method,
            zeros=np.concatenate([np.zeros(0), *(each.zeros for each in ends)]),
            left=left,
            error_estimate=error,
        )
