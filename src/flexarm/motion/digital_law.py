"""Laws that are called once a period, as controllers in a computer are, with their sensors and actuators."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.actuators import HeldTorques, Motors
from flexarm.motion.gains import Gains
from flexarm.motion.law_answers import parted, state_values, vector
from flexarm.motion.law_view import NONE, Instant, Reader, SampledView
from flexarm.motion.laws import Feedback, takes_view
from flexarm.motion.sensors import Senses

Commands = list[tuple[float, HeldTorques]]


class DigitalLaw:
    """A law that is called once a period with copies of the state; its torques are held until the next call."""

    def __init__(self, feedback: Feedback, system: System) -> None:
        assert feedback.rate is not None
        self.system, self.rate, self._law = system, float(feedback.rate), feedback.law
        self._sees = takes_view(feedback.law, feedback.gains)
        self._gains = () if feedback.gains is None else (feedback.gains,)
        self._limits, self._references = feedback.limits(system), feedback.references or {}
        self._own = None if feedback.states is None else Gains(feedback.states, "state")
        self._states = self._own or NONE
        self._reader = Reader(system)
        self._senses = Senses(feedback.sensors or {}, self._reader, self.rate)
        self._motors = Motors(feedback.actuators or {}, system, self.rate)
        self._looked: set[Hashable] = set()

    @property
    def unread(self) -> list[str]:
        """Sensors at which it has not looked so far."""
        return self._senses.unread(self._looked)

    @property
    def quickest(self) -> float:
        """What steps must see of its actuators (s)."""
        return self._motors.quickest

    def __call__(self, at: Instant) -> HeldTorques:
        """Torques of all actuators from now on; a ValueError where one is not a number."""
        sensed = self._senses(at)
        view = SampledView(at, self._reader, self._references, self._states, sensed, 1 / self.rate, self._looked)
        seen = (view,) if self._sees else (view.q, view.v)
        said, told = parted(self._law(at.t, *seen, *self._gains), self._own, "next values")
        torques = np.clip(vector(said, self.system), -self._limits, self._limits)
        if not np.isfinite(torques).all():
            wrong = int((~np.isfinite(torques)).argmax())
            raise ValueError(f"it gave {torques[wrong]} for '{self.system.inputs[wrong]}'")
        if self._own is not None:
            self._states = state_values(told, self._own)
        return self._motors(at.t, np.asarray(torques))


@dataclass(frozen=True)
class Replay:
    """A digital controller that says again what another said: it may have a memory, so it is not asked again."""

    rate: float
    commands: Commands
    quickest: float

    def __call__(self, at: Instant) -> HeldTorques:
        spoken = min(round(at.t * self.rate), len(self.commands) - 1)
        return self.commands[spoken][1]


def held_at(commands: Commands, moments: Array) -> Array:
    """Torques at moments of a run, (nu, moments): of what was commanded last."""
    spoken = np.searchsorted(np.array([t for t, _ in commands]), moments, side="right") - 1
    out = np.array([each.target for _, each in commands])[spoken].T
    for k in np.unique(spoken):
        if not commands[k][1].still:
            here = spoken == k
            out[:, here] = commands[k][1](moments[here])
    return np.asarray(out)
