"""Actuators: limits, lag, slew and delay between the command of a law and the torque."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.outputs import require_links
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.coefficients import CoefficientSegment


@dataclass(frozen=True)
class Actuator:
    """Actuator of a joint, between the command of a control law and the torque.

    Actuators are given by link, `fa.Feedback(actuators={"fore": fa.Actuator(...)})`.

    Parameters
    ----------
    limit : float, optional
        Largest command (N m or N).
    lag : float, optional
        Time constant of a first-order lag (s): torque' = (command - torque) / lag.
    slew : float, optional
        Largest rate of the torque (N m/s or N/s). A law that is traced needs a lag with it.
    delay : float, optional
        Time from a command to its effect (s), a whole number of periods of a law with a sampling rate.
    start : float, optional
        Torque at the start, until the first command takes effect, if there is a lag, a slew limit or a delay.

    Examples
    --------
    >>> Actuator(limit=20.0, lag=0.005).lag
    0.005
    """

    limit: float = np.inf
    lag: float = 0.0
    slew: float = np.inf
    delay: float = 0.0
    start: float = 0.0

    def __post_init__(self) -> None:
        for name in ("limit", "slew"):
            if not isinstance(getattr(self, name), float) or getattr(self, name) != np.inf:
                real_number(f"Actuator: {name}", getattr(self, name), above=0)
        for name in ("lag", "delay"):
            real_number(f"Actuator: {name}", getattr(self, name), "s", least=0)
        if real_number("Actuator: start", self.start) and not (self.moves or self.delay):
            raise ValueError(f"Actuator: start = {self.start:g}: is for one with a lag, a slew or a delay")

    @property
    def moves(self) -> bool:
        """True if the torque takes time to change."""
        return bool(self.lag or np.isfinite(self.slew))

    def torque_rate(self, command: Any, torque: Any) -> Any:
        """Return the rate of the torque as an expression.

        Parameters
        ----------
        command, torque : casadi.SX or casadi.MX
            Command of the law and present torque.

        Returns
        -------
        casadi.SX or casadi.MX
        """
        wanted = (command - torque) / self.lag
        return wanted if self.slew == np.inf else ca.fmin(ca.fmax(wanted, -self.slew), self.slew)


def checked_actuators(given: object, rate: float | None) -> dict[str, Actuator]:
    """Validate and copy the actuators of a law with this sampling rate."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(
            f"Feedback: actuators = {shown(given)}: must be a mapping by link, {{'fore': fa.Actuator(lag=0.005)}}"
        )
    for name, each in given.items():
        if not isinstance(name, str) or not isinstance(each, Actuator):
            raise TypeError(f"Feedback: actuators[{shown(name)}] = {shown(each)}: must be a fa.Actuator, by link name")
        where = f"Feedback: actuators['{name}']"
        if rate is None and each.delay:
            raise ValueError(f"{where}: a delay of {each.delay:g} s needs a law with a sample rate: rate=1000")
        if rate is None and np.isfinite(each.slew) and not each.lag:
            raise ValueError(f"{where}: a slew needs a lag beside it, or a law with a sample rate: rate=1000")
    return dict(given)


@dataclass(frozen=True)
class HeldTorques:
    """Torques (nu, ...) of actuators from a time on, for held commands."""

    since: float
    start: Array
    target: Array
    lag: Array
    slew: Array

    @staticmethod
    def plain(since: float, target: Array) -> HeldTorques:
        none = np.zeros(len(target))
        return HeldTorques(since, target, target, none, none + np.inf)

    @property
    def still(self) -> bool:
        """True if the torques equal the commands."""
        return bool((self.start == self.target).all())

    @cached_property
    def kinks(self) -> tuple[float, ...]:
        """Times at which torques no longer change as fast as they may, ascending."""
        if self.still:
            return ()
        ends = {
            self.since + self._ramp(int(k)) for k in np.flatnonzero((self.slew < np.inf) & (self.start != self.target))
        }
        return tuple(sorted(end for end in ends if end > self.since))

    def _ramp(self, k: int) -> float:
        """Return how long the torque changes at its slew limit (s): until it is within slew times lag of its target."""
        gap = abs(self.target[k] - self.start[k])
        return float(max(0.0, (gap - self.slew[k] * self.lag[k]) / self.slew[k])) if self.slew[k] < np.inf else 0.0

    def __call__(self, t: Array) -> Array:
        out = np.repeat(self.target[:, None], np.size(t), axis=1)
        if not self.still:
            after = np.maximum(np.ravel(t) - self.since, 0.0)
            for k in np.flatnonzero(self.start != self.target):
                out[k] = self._moving(int(k), after)
        return out

    def segments(self, t: float) -> list[CoefficientSegment]:
        """Return the coefficients of each torque from t until the next kink."""
        found = [CoefficientSegment(offset=float(each)) for each in self.target]
        for k in map(int, np.flatnonzero(self.start != self.target)):
            gap, lag, slew, ramp = self.target[k] - self.start[k], self.lag[k], self.slew[k], self._ramp(k)
            sign = float(np.sign(gap))
            if t < self.since + ramp:
                found[k] = CoefficientSegment(float(self.start[k]), sign * float(slew), shift=-self.since)
            elif lag:
                left = sign * min(abs(gap), slew * lag) if ramp else gap
                found[k] = replace(
                    found[k], decaying=-float(left), decay_rate=1 / float(lag), shift=-float(self.since + ramp)
                )
        return found

    def _moving(self, k: int, after: Array) -> Array:
        """Return the torque: at the slew limit first, then by the lag."""
        gap, lag, slew = self.target[k] - self.start[k], self.lag[k], self.slew[k]
        if not lag and slew == np.inf:
            return np.full(after.shape, self.target[k])
        close, ramp = slew * lag if lag else 0.0, self._ramp(k)
        rising = self.start[k] + np.sign(gap) * slew * after if ramp else self.start[k]
        left = np.sign(gap) * min(abs(gap), close) if ramp else gap
        falling = left * np.exp(-np.maximum(after - ramp, 0.0) / lag) if lag else 0.0
        return np.asarray(np.where(after < ramp, rising, self.target[k] - falling))


class Motors:
    """The actuators of one run with a digital law: what they do with each of its commands."""

    def __init__(self, actuators: Mapping[str, Actuator], system: System, rate: float) -> None:
        require_links(actuators, system, "Feedback: actuators")
        each = [actuators.get(name, Actuator()) for name in system.inputs]
        self.lag, self.slew = (np.array([getattr(one, name) for one in each]) for name in ("lag", "slew"))
        self.moves = np.array([one.moves for one in each], dtype=bool)
        self.start = np.array([one.start for one in each])
        self.waits = [_periods(one.delay, rate, name) for one, name in zip(each, system.inputs, strict=True)]
        self._commands: list[Array] = []
        self._last: HeldTorques | None = None

    @property
    def quickest(self) -> float:
        """The shortest lag (s): steps must see it."""
        return float(np.where(self.lag > 0, self.lag, np.inf).min(initial=np.inf))

    def __call__(self, t: float, command: Array) -> HeldTorques:
        """Return the held torques from the time of a command to the next one."""
        target = self._delayed(command) if any(self.waits) else command
        start = target
        if self.moves.any():
            before = self.start if self._last is None else self._last(np.array([t]))[:, 0]
            start = np.where(self.moves, before, target)
        self._last = HeldTorques(t, start, target, self.lag, self.slew)
        return self._last

    def _delayed(self, command: Array) -> Array:
        """Return the commands that take effect now."""
        self._commands.append(command)
        arrived = len(self._commands) - 1 - np.array(self.waits, dtype=int)
        target = [self._commands[one][k] if one >= 0 else self.start[k] for k, one in enumerate(arrived.tolist())]
        del self._commands[: max(0, len(self._commands) - 1 - max(self.waits))]
        return np.array(target)


def _periods(delay: float, rate: float, name: str) -> int:
    periods = delay * rate
    if abs(periods - round(periods)) > 1e-6 * max(1.0, periods):
        raise ValueError(
            f"Feedback: actuators['{name}']: delay = {delay:g} s: must be a whole number of the law's periods, "
            f"{1 / rate:g} s"
        )
    return round(periods)
