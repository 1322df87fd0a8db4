"""What ends a run before its time: joint limits, a user's condition, deflections beyond all reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.bodies import gripped
from flexarm.mechanics.system import System
from flexarm.motion.sampling import between
from flexarm.robot import FixedPrismatic, Link, MovingJoint, Robot, SlidingPrismatic
from flexarm.robot.joints import Prismatic

BEYOND_REASON = 10.0  # lengths of a link
OVERRUN = 0.05  # of a link: a slide that is deeper in a stop at the link's very end has left it
ROUNDING = 1e-9  # of a joint's travel: a motion that ends at a limit does not pass it


@dataclass(frozen=True)
class Event:
    time: float
    sentence: str


@dataclass(frozen=True)
class Condition:
    """A function of (t, q, v) that is positive while all is well."""

    value: Callable[[float, Array, Array], float]
    sentence: Callable[[float], str]


class Watch:
    """Everything that is watched in a run."""

    def __init__(self, system: System, stop: Any) -> None:
        self.names = system.names
        self.elastic = np.array(["[" in name for name in self.names], dtype=bool)
        self.limits = {
            system.index(f"{link.name}.q"): (travel, link.joint.unit)
            for link in system.robot.links
            if isinstance(link.joint, MovingJoint)
            and link.joint.stop is None
            and (travel := system.robot.travel(link)) is not None
        }
        self.ends = {
            system.index(f"{link.name}.q"): (link.name, length)
            for link in system.robot.links
            if isinstance(link.joint, Prismatic) and link.joint.stop is not None
            if (length := _slideway(system.robot, link)) is not None
        }
        given = [] if stop is None else [stop] if callable(stop) else list(stop)
        self.conditions = [
            *(_meeting(system, link, on) for link, on in _riders(system.robot)),
            *_supports(system),
            *(_condition(function) for function in given),
        ]

    def first(self, times: Array, states: Array, n: int, sizes: Array) -> Event | None:
        """The first event on a stretch of nodes (the first of them is known to be well); `sizes` say what is large."""
        found = [
            *self._runaways(times, states, n, sizes),
            *self._limits(times, states, n),
            *self._overrun_stops(times, states),
            *self._conditions(times, states, n),
        ]
        return min(found, key=lambda event: event.time, default=None)

    def _runaways(self, times: Array, states: Array, n: int, sizes: Array) -> list[Event]:
        far = np.abs(states[:, :n] / sizes) * self.elastic > BEYOND_REASON
        if not far.any():
            return []
        row = int(far.any(axis=1).argmax())
        name = self.names[int(far[row].argmax())]
        sentence = f"diverged at t = {times[row]:.6g} s: '{name}' bends its link by {BEYOND_REASON:g} times its length"
        return [Event(float(times[max(row - 1, 0)]), sentence)]  # what lies beyond is not worth keeping

    def _limits(self, times: Array, states: Array, n: int) -> list[Event]:
        found = []
        for place, ((lower, upper), unit) in self.limits.items():
            at, slack = states[:, place], ROUNDING * (upper - lower)
            for beyond, bound, word in ((at < lower - slack, lower, "lower"), (at > upper + slack, upper, "upper")):
                if beyond.any():
                    row = int(beyond.argmax())

                    def gap(t: float, q: Array, v: Array, place: int = place, bound: float = bound) -> float:
                        return float(q[place] - bound)

                    time = _crossing(gap, times, states, n, row)
                    sentence = f"'{self.names[place]}' reached its {word} limit {bound:g} {unit} at t = {time:.6g} s"
                    found.append(Event(time, sentence))
        return found

    def _overrun_stops(self, times: Array, states: Array) -> list[Event]:
        """A stop is a spring: a slide may overrun it and leave its link."""
        found = []
        for place, (link, length) in self.ends.items():
            off = np.abs(states[:, place] - length / 2) > length * (0.5 + OVERRUN)
            if off.any():
                time = float(times[int(off.argmax())])
                found.append(Event(time, f"'{link}.q' overran its stop and left its link at t = {time:.6g} s"))
        return found

    def _conditions(self, times: Array, states: Array, n: int) -> list[Event]:
        found = []
        for condition in self.conditions:
            for row in range(1, len(times)):
                if condition.value(float(times[row]), states[row, :n], states[row, n : 2 * n]) <= 0:
                    time = _crossing(condition.value, times, states, n, row)
                    found.append(Event(time, condition.sentence(time)))
                    break
        return found


def _supports(system: System) -> list[Condition]:
    """Links must not slide off their supports."""
    if not system.constraints:
        return []
    return [
        _support(name, link, where, system.robot.link(link).length)
        for name, link, where in system._equations.constraints.supports
    ]


def _support(name: str, link: str, where: Callable[..., Any], length: float) -> Condition:
    def left(t: float, q: Array, v: Array) -> float:
        x = float(where(q))
        return min(x, length - x) + 1e-9 * length  # a support at the very end is on the link

    return Condition(left, lambda time: f"link '{link}' slid off its support '{name}' at t = {time:.6g} s")


def _slideway(robot: Robot, link: Link) -> float | None:
    """Length along which a prismatic joint can slide; None on the ground."""
    parent = robot.parents[[each.name for each in robot.links].index(link.name)]
    if isinstance(link.joint, FixedPrismatic):
        return link.length
    return None if parent is None else robot.links[parent].length


def _riders(robot: Robot) -> list[tuple[Link, Link]]:
    """Slides that ride along a link which itself slides through its joint."""
    pairs = zip(robot.links, robot.parents, strict=True)
    found = [(link, robot.links[parent]) for link, parent in pairs if parent is not None]
    return [
        (link, on)
        for link, on in found
        if isinstance(link.joint, SlidingPrismatic) and isinstance(on.joint, FixedPrismatic) and gripped(on)
    ]


def _meeting(system: System, rider: Link, on: Link) -> Condition:
    """The rider may come as far as the joint through which its carrier slides."""
    slide, out = system.index(f"{rider.name}.q"), system.index(f"{on.name}.q")
    side: list[float] = []

    def gap(t: float, q: Array, v: Array) -> float:
        ahead = float(q[slide] + q[out] - on.length)
        if not side:
            side.append(1.0 if ahead >= 0 else -1.0)
        return side[0] * ahead

    return Condition(gap, lambda time: f"'{rider.name}.q' met the joint of link '{on.name}' at t = {time:.6g} s")


def _condition(function: Callable[..., Any]) -> Condition:
    name = getattr(function, "__name__", "condition")
    return Condition(
        lambda t, q, v: float(function(t, q, v)), lambda time: f"'{name}' reached zero at t = {time:.6g} s"
    )


def _crossing(value: Callable[[float, Array, Array], float], times: Array, states: Array, n: int, row: int) -> float:
    """The time between two nodes at which a function of the state is zero."""
    if row == 0:
        return float(times[0])
    from scipy.optimize import brentq

    low, high = float(times[row - 1]), float(times[row])

    def at(t: float) -> float:
        state = between(times, states, np.array([t]), n)[0]
        return value(t, state[:n], state[n : 2 * n])

    if at(low) * at(high) >= 0:  # one of them is where it happens
        return low if abs(at(low)) < abs(at(high)) else high
    return float(brentq(at, low, high, xtol=1e-12 * max(1.0, high)))
