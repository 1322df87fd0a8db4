"""Digital laws: called once a period, with sensors and actuators."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.actuators import HeldTorques, Motors
from flexarm.feedback.feedback import Feedback, takes_view
from flexarm.feedback.measurements import NO_STATES, Instant, LawView, Reader, SampledView
from flexarm.feedback.outputs import Gains, split_output, state_values, vector
from flexarm.feedback.sensors import Senses
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

Commands = list[tuple[float, HeldTorques]]


class DigitalLaw:
    """A law that is called once a period with copies of the state; its torques are held until the next call."""

    def __init__(self, feedback: Feedback, system: System) -> None:
        assert feedback.rate is not None
        self.system, self.rate, self.law = system, float(feedback.rate), feedback.law
        self._sees = takes_view(feedback.law, feedback.gains)
        self._gains = () if feedback.gains is None else (feedback.gains,)
        self.limits, self.references = feedback.limits(system), feedback.references or {}
        self.own = None if feedback.states is None else Gains(feedback.states, "state")
        self._states = self.own or NO_STATES
        self.reader = Reader(system)
        self.senses = Senses(feedback.sensors or {}, self.reader, self.rate)
        self.motors = Motors(feedback.actuators or {}, system, self.rate)
        self.looked: set[Hashable] = set()

    @property
    def unread(self) -> list[str]:
        """Sensors at which it has not looked so far."""
        return self.senses.unread(self.looked)

    @property
    def quickest(self) -> float:
        """Largest step size (s) that resolves its actuators."""
        return self.motors.quickest

    @property
    def lags(self) -> Array:
        """Time constants of its actuators (s)."""
        return self.motors.lag

    @property
    def has_kinks(self) -> bool:
        """True if torques may change otherwise between two samples."""
        return bool((self.motors.slew < np.inf).any())

    def ask(self, t: Any, view: LawView) -> tuple[Any, Mapping[str, Any]]:
        """Call the law; return torques, and next values of its states by name."""
        seen = (view,) if self._sees else (view.q, view.v)
        return split_output(self.law(t, *seen, *self._gains), self.own, "next values")

    def __call__(self, at: Instant) -> HeldTorques:
        """Torques of all actuators from now on; a ValueError where one is not a number."""
        sensed = self.senses(at)
        view = SampledView(at, self.reader, self.references, self._states, sensed, 1 / self.rate, self.looked)
        output, state_output = self.ask(at.t, view)
        torques = np.clip(vector(output, self.system), -self.limits, self.limits)
        require_finite(torques, self.system)
        if self.own is not None:
            self._states = state_values(state_output, self.own)
        return self.motors(at.t, np.asarray(torques))


def require_finite(torques: Array, system: System) -> None:
    """Raise a ValueError where a torque that a law gave is not finite."""
    if not np.isfinite(torques).all():
        wrong = int((~np.isfinite(torques)).argmax())
        raise ValueError(f"it gave {torques[wrong]} for '{system.inputs[wrong]}'")


@dataclass(frozen=True)
class Replay:
    """Digital controller that replays the recorded outputs of another one, which may have a memory."""

    rate: float
    commands: Commands
    quickest: float

    @property
    def lags(self) -> Array:
        """Time constants of the actuators (s)."""
        return self.commands[0][1].lag

    @property
    def has_kinks(self) -> bool:
        """True if torques may change otherwise between two samples."""
        return bool((self.commands[0][1].slew < np.inf).any())

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
