"""The bounded motion that belongs to an output on its path, by one of three methods, on times fine enough for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from flexarm.control.collocation import FEWEST, Ring, static
from flexarm.control.inverted import Inversion
from flexarm.control.linear_inversion import Motion, linear_motion
from flexarm.control.servo import Goals, Servo
from flexarm.control.windows import LONGEST, SmallMotionsAtRest, windows
from flexarm.foundation.numbers import Array
from flexarm.mechanics.reach import ValidityWarning, warn_of_furthest

METHODS = ("nonlinear", "linear", "quasi-static")
FIRST_STEPS, STEPS = 100, 1000  # along the path: where refinement begins, and where nothing is refined
ACCURATE = 2e-5  # of the way of the joints: what finer steps may still change in any coordinate
SMOOTH = 3e-3  # of the largest torque, in the mean of squares
LARGEST = 5_000_000  # nodes times coordinates squared: some 400 MB
LEFT = 1e-3  # of the largest departure from rest: what a window may cut off without a word


@dataclass(frozen=True)
class Nodes:
    """Times of a ring: `lead` steps before the path, so many `along` it, and `rest` after it."""

    begin: float
    step: float
    lead: int
    along: int
    rest: int

    @property
    def times(self) -> Array:
        return self.begin + self.step * (np.arange(self.lead + self.along + self.rest) - self.lead)

    def halved(self) -> Nodes:
        return Nodes(self.begin, self.step / 2, 2 * self.lead, 2 * self.along, 2 * self.rest)


@dataclass(frozen=True)
class Search:
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
        found = windows(self._ends[:1] if self.method == "linear" else self._ends, self.servo.path.duration)
        return tuple(own if given is None else given for own, given in zip(found, (self.before, self.after)))  # type: ignore[return-value]

    def _nodes(self, steps: int, before: float, after: float) -> Nodes:
        path = self.servo.path
        if self.sample is not None:
            steps = ceil(path.duration / self.sample - 1e-9)
        step = path.duration / steps
        lead, rest = ceil(before / step - 1e-9), ceil(after / step - 1e-9) + 1
        nodes = Nodes(path.begin, step, lead, steps, max(rest, FEWEST - lead - steps))
        if self._size(nodes) > LARGEST:
            raise ValueError(
                f"sample = {step:.3g} s: takes {len(nodes.times)} times from {before:.3g} s before the path to "
                f"{after:.3g} s after it, too many for {self.servo.system.nq} coordinates; take longer steps, or "
                "shorter windows (before, after)"
            )
        return nodes

    def _size(self, nodes: Nodes) -> int:
        return (nodes.lead + nodes.along + nodes.rest) * self.servo.system.nq**2

    # --- methods ---

    def _rigid(self, goals: Goals) -> Motion:
        torques = self.servo.torques(goals.q, goals.v, goals.a)
        return Motion(goals.q, goals.v, goals.a, torques, goals.q)

    def _quasi_static(self, goals: Goals) -> Motion:
        q = static(self.servo, goals, loaded=True)
        return Motion(q, goals.v, goals.a, self.servo.torques(q, goals.v, goals.a), q)

    def _refined(self, nodes: Nodes) -> tuple[Nodes, Goals, Motion, float | None]:
        """On finer and finer nodes, until they change next to nothing."""
        goals = self.servo.goals(nodes.times)
        motion = self._on_ring(nodes, goals, static(self.servo, goals, loaded=True))
        if self.sample is not None:
            return nodes, goals, motion, None
        while True:
            finer = nodes.halved()
            if self._size(finer) > LARGEST:
                warnings.warn(
                    f"the motion along the path is known to {error:.1g} of it only, at steps of {nodes.step:.2g} s; "
                    "more of them would be too many",
                    ValidityWarning,
                    stacklevel=5,
                )
                return nodes, goals, motion, error
            goals = self.servo.goals(finer.times)
            guess = _resampled(motion.q - motion.base) + static(self.servo, goals, loaded=False)
            found = self._on_ring(finer, goals, guess)
            error, rough = self._change(motion, found)
            nodes, motion = finer, found
            if error <= ACCURATE and rough <= SMOOTH:
                return nodes, goals, motion, error

    def _on_ring(self, nodes: Nodes, goals: Goals, guess: Array) -> Motion:
        ring = Ring(self.servo, goals, nodes.step, static(self.servo, goals, loaded=False))
        q = ring.solved(guess, self.tell)
        if q is None:
            raise ArithmeticError(
                "tip: no bounded motion was found along the path; a slower path, a stiffer robot, or longer windows "
                "(before, after) may help"
            )
        v, a = ring.rates(q)
        return Motion(q, v, a, self.servo.torques(q, v, a), ring.statics)

    def _change(self, one: Motion, finer: Motion) -> tuple[float, float]:
        """Of the path, in the coordinate that changes most; and of the torques."""
        away = np.abs(finer.q[::2] - one.q) / self.servo.system.sizes
        rough = np.sqrt(((finer.torques[::2] - one.torques) ** 2).mean(axis=0))
        largest = np.abs(finer.torques - finer.torques[0]).max(axis=0).max()
        return float(away.max() / max(self.servo.path.extent, 1e-300)), float(rough.max() / max(largest, 1e-300))

    # --- result ---

    def _result(self, nodes: Nodes, goals: Goals, motion: Motion, error: float | None) -> Inversion:
        system = self.servo.system
        warn_of_furthest(system, motion.q)
        left = self._left(motion)
        if left > LEFT:
            warnings.warn(
                f"before and after: {left:.2g} of the largest departure from rest is cut off at the ends of the window, "
                f"from {nodes.lead * nodes.step:.3g} s before the path on; give it more time, or the robot more "
                f"damping (unless given, windows are no longer than {LONGEST:g} times the path)",
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
            q0=dict(zip(system.names, motion.base[0].tolist())),
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
