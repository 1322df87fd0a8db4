"""Events that end a run: joint limits, conditions of the user, and absurd deflections."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from flexarm.dynamics.accuracy.validity import node_turns
from flexarm.dynamics.arguments import POSITION_TOLERANCE
from flexarm.dynamics.constraints.initial_projection import min_support_distance
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.system import System
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.interrupts import Status, failure_reason
from flexarm.foundation.messages import shown
from flexarm.foundation.named_arrays import call_error, named_array
from flexarm.foundation.validation import Array
from flexarm.integrators.state import Layout
from flexarm.results.step_history import LOW_ORDER, between
from flexarm.robot import FixedPrismatic, Link, Robot
from flexarm.robot.joints import SlideJoint

BEYOND_REASON = 10.0  # lengths of a link
CURLED_FACTOR = 10  # times that, where links may be curled up
MAX_NODE_ANGLE = 2 * np.pi  # rad between two nodes of an exact link: they know nothing of its shape any more
SHORTEST_PART = 1e-4  # of a link: a part that bends must not become shorter in a run
TURN_ITERATIONS = (
    3  # times that the moment is sought at which a coordinate turns back, along straight lines of its rate
)
LEAST_PARTS, MOST_PARTS = 4, 64  # of a step of high order, at whose ends conditions are looked at
MAX_STOP_OVERRUN = 0.05  # of a link: a slide that is deeper in a stop at the link's very end has left it


@dataclass(frozen=True)
class Event:
    """Something that ends a run. At a limit, the coordinate `place` is put there: a root is found to rounding only."""

    time: float
    sentence: str
    status: Status = "stopped"
    place: int | None = None
    bound: float = 0.0

    def settled(self, state: Array) -> Array:
        out = state.copy()
        if self.place is not None:
            out[self.place] = self.bound
        return out


@dataclass(frozen=True)
class Condition:
    """A function of (t, q, v) that is positive while all is well. One of the user's may fail, or give no number."""

    name: str
    value: Callable[[float, Array, Array], float]
    sentence: Callable[[float], str]
    status: Status = "stopped"

    def event(self, times: Array, states: Array, layout: Layout) -> Event | None:
        """The first time at which it is not positive, if any but the first node has that."""
        for row in range(1, len(times)):
            t = float(times[row])
            try:
                value = self.value(t, states[row, layout.q], states[row, layout.v])
                if value <= 0:
                    time = _crossing(self.value, times, states, layout, row)
                    return Event(time, self.sentence(time), self.status)
            except Exception as error:
                return Event(t, failure_reason(f"'{self.name}'", t, error), "failed")
            if np.isnan(value):
                return Event(t, f"'{self.name}' gave nan at t = {t:.6g} s", "failed")
        return None


class EventDetector:
    """Everything that is watched in a run."""

    def __init__(self, system: System, events: Any) -> None:
        self._system, self.names = system, system.names
        self.limits = {
            each.index: (_with_lengths(link, travel), each.unit)
            for link in system.robot.links
            if getattr(link.joint, "stop", None) is None
            for each, travel in zip(system.joints(link.name), system.robot.travels(link), strict=True)
            if travel is not None
        }
        self.ends = {
            system.joint(link.name).index: (link.name, length)
            for link in system.robot.links
            if isinstance(link.joint, SlideJoint) and link.joint.stop is not None
            if (length := _slideway(system.robot, link)) is not None
        }
        self.conditions = [
            *(_meeting(system, link, on) for link, on in _riders(system.robot)),
            *_supports(system),
            *(_condition(function, system.names) for function in _functions(events)),
        ]

    @cached_property
    def far(self) -> Array:
        """Multiples of the size of each coordinate beyond which a deflection is absurd."""
        system = self._system
        exact = {link.name for link in system.robot.links if link.stiffening == "exact"}
        curls = np.array([CURLED_FACTOR if each.link in exact else 1 for each in system.coordinates], dtype=float)
        return np.where(system.elastic, BEYOND_REASON * curls * system.meshes, np.inf)

    def require_at_start(self, state: Array, layout: Layout) -> None:
        """A condition must not be met before the run begins (one that begins at zero is left by it)."""
        for each in self.conditions:
            try:
                value = each.value(0.0, state[layout.q], state[layout.v])
            except Exception as error:
                raise ValueError(f"events: {failure_reason(repr(each.name), 0.0, error)}") from error
            if not value >= 0:
                raise ValueError(
                    f"events: '{each.name}' is {value:g} at the start; it must be positive until the run ends"
                )

    def first(
        self, times: Array, states: Array, layout: Layout, sizes: Array, order: int, apart: float = np.inf
    ) -> Event | None:
        """Return the first event on a stretch of nodes of a method of this order; the first node is known to be valid.

        Conditions are evaluated at times no further `apart` (s).
        """
        finer = _with_dips(times, states, layout, apart) if self.conditions and order > LOW_ORDER else (times, states)
        found = [
            *self._runaways(times, states[:, layout.q], sizes),
            *self._coils(times, states[:, layout.q], sizes),
            *self._limits(times, states, layout),
            *self._overrun_stops(times, states),
            *(each.event(*finer, layout) for each in self.conditions),
        ]
        return min((event for event in found if event is not None), key=lambda event: event.time, default=None)

    def _runaways(self, times: Array, q: Array, sizes: Array) -> list[Event]:
        far = np.abs(q / sizes) > self.far
        if not far.any():
            return []
        row = int(far.any(axis=1).argmax())
        name = self.names[int(far[row].argmax())]
        sentence = f"diverged at t = {times[row]:.6g} s: '{name}' bends its link beyond reason"
        return [Event(float(times[max(row - 1, 0)]), sentence, "failed")]  # what lies beyond is not worth keeping

    def _coils(self, times: Array, q: Array, sizes: Array) -> list[Event]:
        if not (np.abs(q) @ self._system._unit_turns > MAX_NODE_ANGLE).any():
            return []
        found = []
        for name, turns in node_turns(self._system, q).items():
            if (coiled := turns > MAX_NODE_ANGLE).any():
                row = int(coiled.argmax())
                bends = [k for k, each in enumerate(self.names) if each.startswith(f"{name}.") and self.far[k] < np.inf]
                worst = self.names[max(bends, key=lambda k: abs(q[row, k] / sizes[k]))]
                beyond = f"'{worst}' bends its link beyond reason: it coils up between the nodes that follow it"
                sentence = f"diverged at t = {times[row]:.6g} s: {beyond}"
                found.append(Event(float(times[max(row - 1, 0)]), sentence, "failed"))
        return found

    def _limits(self, times: Array, states: Array, layout: Layout) -> list[Event]:
        found = []
        for place, ((lower, upper), unit) in self.limits.items():
            nodes, path = _with_turns(times, states, layout, place)
            at, slack = path[:, place], POSITION_TOLERANCE * (upper - lower)
            for beyond, bound, word in ((at < lower - slack, lower, "lower"), (at > upper + slack, upper, "upper")):
                if beyond.any():
                    row = int(beyond.argmax())

                    def gap(t: float, q: Array, v: Array, place: int = place, bound: float = bound) -> float:
                        return float(q[place] - bound)

                    time = _crossing(gap, nodes, path, layout, row)
                    sentence = f"'{self.names[place]}' reached its {word} limit {bound:g} {unit} at t = {time:.6g} s"
                    found.append(Event(time, sentence, "stopped", place, bound))
        return found

    def _overrun_stops(self, times: Array, states: Array) -> list[Event]:
        """A stop is a spring: a slide may overrun it and leave its link."""
        found = []
        for place, (link, length) in self.ends.items():
            off = np.abs(states[:, place] - length / 2) > length * (0.5 + MAX_STOP_OVERRUN)
            if off.any():
                time = float(times[int(off.argmax())])
                found.append(
                    Event(time, f"'{link}.q' overran its stop and left its link at t = {time:.6g} s", "failed")
                )
        return found


def _supports(system: System) -> list[Condition]:
    """Links must not slide off their supports."""
    if not system.constraints:
        return []
    return [
        _support(name, system.robot.link(link), partial(_along, system, where))
        for name, link, where in system.structure.constraints.supports
    ]


def _along(system: System, where: ca.Function, q: Array) -> float:
    return float(where(q, system.numbers))


def _support(name: str, link: Link, where: Callable[[Array], float]) -> Condition:
    least = min_support_distance(link)

    def left(t: float, q: Array, v: Array) -> float:
        x = where(q)
        return min(x - least, link.length - x) + 1e-9 * link.length  # a support at the very end is on the link

    def sentence(time: float) -> str:
        held = f" (or came to its root, where '{link.name}' is held already)" if least else ""
        return f"link '{link.name}' slid off its support '{name}' at t = {time:.6g} s{held}"

    return Condition(name, left, sentence, "failed")


def _with_lengths(link: Link, travel: tuple[float, float]) -> tuple[float, float]:
    """The travel with some length left to each part that bends: one of no length has no finite frequency."""
    if not is_gripped(link) or link.flexible is None:
        return travel
    least = SHORTEST_PART * link.length
    behind = isinstance(link.joint, FixedPrismatic) and link.joint.rear == "flexible"
    return max(travel[0], least), min(travel[1], link.length - least) if behind else travel[1]


def _slideway(robot: Robot, link: Link) -> float | None:
    """Length along which a prismatic joint can slide; None on the ground."""
    parent = robot.parents[[each.name for each in robot.links].index(link.name)]
    if link.joint.grips:
        return link.length
    return None if parent is None else robot.links[parent].length


def _riders(robot: Robot) -> list[tuple[Link, Link]]:
    """Slides that ride along a link which itself slides through its joint."""
    pairs = zip(robot.links, robot.parents, strict=True)
    found = [(link, robot.links[parent]) for link, parent in pairs if parent is not None]
    return [(link, on) for link, on in found if link.joint.rides and is_gripped(on)]


def _meeting(system: System, rider: Link, on: Link) -> Condition:
    """The rider may come as far as the joint through which its carrier slides."""
    slide, out = system.joint(rider.name).index, system.joint(on.name).index
    side: list[float] = [1.0] if getattr(on.joint, "rear", "") == "none" else []  # behind the joint there is no link

    def gap(t: float, q: Array, v: Array) -> float:
        ahead = float(q[slide] + q[out] - on.length)
        if not side:
            side.append(1.0 if ahead >= 0 else -1.0)
        return side[0] * ahead

    def sentence(time: float) -> str:
        return f"'{rider.name}.q' met the joint of link '{on.name}' at t = {time:.6g} s"

    return Condition(f"way of {rider.name} to the joint of {on.name}", gap, sentence)


def _functions(events: Any) -> list[Callable[..., Any]]:
    """The conditions that `events=` gives."""
    given = [] if events is None else [events] if callable(events) else events
    if not isinstance(given, (list, tuple)) or not all(callable(each) for each in given):
        raise TypeError(f"events = {shown(events)}: must be a function of (t, q, v), or a list of such")
    for function in given:
        if wrong := call_error(function):
            raise TypeError(f"events = {shown(function)}: must take (t, q, v), but {wrong}")
    return list(given)


def _condition(function: Callable[..., Any], names: tuple[str, ...]) -> Condition:
    """Wrap a condition of the user: it gets copies with names."""
    name = getattr(function, "__name__", "condition")

    def value(t: float, q: Array, v: Array) -> float:
        value = function(t, named_array(q, names), named_array(v, names))
        if isinstance(value, (bool, np.bool_)) or np.ndim(value) or not np.isreal(value) or value is None:
            raise TypeError(f"it gave {shown(value)}: must be a number that is positive until the run should end")
        return float(value)

    return Condition(name, value, lambda time: f"'{name}' reached zero at t = {time:.6g} s")


def _with_turns(times: Array, states: Array, layout: Layout, place: int) -> tuple[Array, Array]:
    """The nodes, with points between those where a coordinate turns back: it may have been beyond a limit there."""
    for _ in range(TURN_ITERATIONS):
        v = states[:, layout.v][:, place]
        turns = np.flatnonzero(v[:-1] * v[1:] < 0)
        if not turns.size:
            break
        inside = times[turns] + np.diff(times)[turns] * v[turns] / (v[turns] - v[turns + 1])
        times, states = _with(times, states, inside, layout)
    return times, states


def _with_dips(times: Array, states: Array, layout: Layout, apart: float) -> tuple[Array, Array]:
    """The nodes, with points between them that are no further `apart` (s), as far as that is sensible: steps may be
    long, and a condition met on the way."""
    parts = int(np.clip(np.ceil(np.diff(times).max() / apart), LEAST_PARTS, MOST_PARTS))
    inside = times[:-1, None] + np.diff(times)[:, None] * np.arange(1, parts) / parts
    return _with(times, states, inside.ravel(), layout)


def _with(times: Array, states: Array, inside: Array, layout: Layout) -> tuple[Array, Array]:
    """The nodes and points between them; one that rounding puts on a node is that node, or a stretch had no length."""
    inside = np.setdiff1d(inside, times)
    if not inside.size:
        return times, states
    order = np.argsort(every := np.concatenate([times, inside]), kind="stable")
    return every[order], np.vstack([states, between(times, states, inside, layout)])[order]


def _crossing(
    value: Callable[[float, Array, Array], float], times: Array, states: Array, layout: Layout, row: int
) -> float:
    """The time between two nodes at which a function of the state is zero."""
    if row == 0:
        return float(times[0])
    from scipy.optimize import brentq

    low, high = float(times[row - 1]), float(times[row])

    def at(t: float) -> float:
        state = between(times, states, np.array([t]), layout)[0]
        return value(t, state[layout.q], state[layout.v])

    if at(low) * at(high) >= 0:  # one of them is where it happens
        return low if abs(at(low)) < abs(at(high)) else high
    return float(brentq(at, low, high, xtol=1e-12 * max(1.0, high)))
