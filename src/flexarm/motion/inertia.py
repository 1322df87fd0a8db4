"""Coordinates that move without moving any mass: found by how a robot answers forces, named by its mass matrix.

To compute a mass matrix and its eigenvalues takes longer than many a run, so that is done only when accelerations are
beyond anything that is usual.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.ending import Ending
from flexarm.motion.plant import Plant

UNUSUAL = 1e6  # times the acceleration of the whole robot under the same torque
AT_LEAST = 1e6  # lengths a second squared: less than that is not unusual in a run, whatever causes it


class Answering(Protocol):
    """What tells how a robot answers forces: any stepper."""

    plant: Plant
    sizes: Array

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]: ...


class InertiaWatch:
    """Of one run: what was found usual once is not asked about again."""

    def __init__(self, system: System, stepper: Answering) -> None:
        self.system, self.plant, self.layout = system, stepper.plant, stepper.plant.layout
        self._stepper, self.unusual = stepper, AT_LEAST

    def require_at_start(self, state: Array) -> None:
        """Raise where the first accelerations are not finite, or the answer to a torque is as good as infinite."""
        a = state[self.layout.a]
        if not np.isfinite(a).all():
            raise ValueError(self._singularity(state) or self._too_large(state))
        if self._answer(state) > UNUSUAL and (sentence := self._singularity(state)) is not None:
            raise ValueError(sentence)

    def _too_large(self, state: Array) -> str:
        """Return the message for accelerations that are not finite at the start, naming the largest initial value."""
        given = {"q0": state[self.layout.q], "v0": state[self.layout.v]}
        worst = {name: np.abs(values / self.system.sizes) for name, values in given.items()}
        name = max(worst, key=lambda each: float(worst[each].max(initial=0.0)))
        k = int(worst[name].argmax())
        largest = f"{name} of '{self.system.names[k]}' is {given[name][k]:g}"
        return f"the first accelerations are not finite: q0, v0, a torque or a load is too large ({largest})"

    def require(self, t: float, states: Array) -> None:
        """End the run where accelerations have become absurd because the mass matrix is singular."""
        accelerations = np.abs(states[:, self.layout.a] / self.system.sizes).max(axis=1, initial=0.0)
        worst = int(accelerations.argmax())
        if accelerations[worst] > self.unusual:
            if (sentence := self._singularity(states[worst])) is not None:
                raise Ending(f"diverged at t = {t:.6g} s: {sentence}")
            self.unusual = 10 * float(accelerations[worst])

    def _answer(self, state: Array) -> float:
        """The largest acceleration that a torque at all actuators adds, against that of the robot as a whole."""
        links = self.system.robot.links
        length, mass = sum(each.length for each in links) or 1.0, sum(each.total_mass for each in links) or 1.0
        torque = mass * length**2  # turns the robot as a whole by about 1 rad/s2
        rest = np.zeros(self.plant.input_count)
        if self.plant.law is not None:  # it may divide by a gain
            rest[self.plant.input_places[7]] = self.plant.law.parameters
        pushed = rest.copy()
        pushed[self.plant.input_places[1]] = torque * (1 + 0.1 * np.arange(self.system.nu))
        q, v = state[self.layout.every_q], np.zeros(self.layout.every)
        without, under = (self._stepper.start(q, v, u, 0.0)[0] for u in (rest, pushed))
        gained = np.abs((under - without) / self._stepper.sizes)
        return float(gained.max(initial=0.0)) if np.isfinite(gained).all() else np.inf

    def _singularity(self, state: Array) -> str | None:
        return self.system.singularity(state[self.layout.q], self.plant.driven)
