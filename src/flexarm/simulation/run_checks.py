"""Checks of a run while it is integrated: missed contacts, singular inertia, divergence, and its size before it starts.

A joint may run into a stiff stop and return within one step. The ends of the step look valid and the error estimate is
small, but the interpolated motion dives deep into the stop, or the energy of the step is not balanced.
"""

from __future__ import annotations

import os
import time as clock
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.system import System
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.integrators.compiled_step import Report
from flexarm.integrators.group_inputs import GroupInputs
from flexarm.integrators.lanes import Lanes
from flexarm.integrators.plant import Plant
from flexarm.integrators.state import Layout
from flexarm.profiles.bandwidth import Bandwidth, StepBounds
from flexarm.results.checks import OF_LAWS
from flexarm.results.energy_balance import leaks
from flexarm.results.step_history import between
from flexarm.robot import MovingJoint
from flexarm.simulation.members import MemberRobots

CHECKED_FRACTIONS = np.array([0.25, 0.5, 0.75])  # of a step: where it is looked at
MIN_STEP_S = 1e-8  # s: such steps have tried enough
MAX_CONTACT_LEAK = 0.01  # of the largest energy of the motion so far: what a step in contact may put in or take out


class Contacts:
    """The stops of a robot's joints in one run; `report` evaluates its energies."""

    def __init__(self, system: System, report: Report) -> None:
        self._report = report
        self._stops = [
            (system.joint(link.name).index, *link.joint.limits)
            for link in system.robot.links
            if isinstance(link.joint, MovingJoint) and link.joint.stop is not None and link.joint.limits is not None
            if not leaks(system.robot)
        ]
        self._largest = 0.0  # J

    @property
    def any(self) -> bool:
        """True if there are stops."""
        return bool(self._stops)

    def first_missed(self, times: Array, states: Array, layout: Layout) -> int | None:
        """Return the first of the steps between these nodes that jumped over a contact, if one did."""
        rows = self._in_contact(times, states, layout)
        rows = rows[np.diff(times)[rows] >= MIN_STEP_S]
        if not rows.size:
            return None
        inside = times[rows, None] + np.diff(times)[rows, None] * CHECKED_FRACTIONS
        looked_at = between(times, states, inside.ravel(), layout).reshape(*inside.shape, -1)
        path = np.concatenate([states[rows, None], looked_at, states[rows + 1, None]], axis=1)
        leaked, moving = _balance(path, layout, self._report)
        most = np.maximum.accumulate(np.maximum(moving, self._largest))
        jumped = leaked > MAX_CONTACT_LEAK * most
        passed = int(jumped.argmax()) if jumped.any() else len(rows)
        self._largest = float(most[passed - 1]) if passed else self._largest
        return int(rows[passed]) if passed < len(rows) else None

    def _in_contact(self, times: Array, states: Array, layout: Layout) -> NDArray[np.intp]:
        """The steps in which a joint is, or may have been, in a stop."""
        touched = np.zeros(len(times) - 1, dtype=bool)
        for place, lower, upper in self._stops:
            q, v = states[:, layout.q][:, place], np.abs(states[:, layout.v][:, place])
            reach = np.maximum(v[:-1], v[1:]) * np.diff(times)
            touched |= (np.minimum(q[:-1], q[1:]) - reach < lower) | (np.maximum(q[:-1], q[1:]) + reach > upper)
        return np.flatnonzero(touched)


def _balance(path: Array, layout: Layout, report: Report) -> tuple[Array, Array]:
    """Return the largest error of the energy balance at points along each step, and the largest energy at its ends."""
    flat = path.reshape(-1, path.shape[-1])
    inputs = np.zeros((len(flat), report.inputs))
    energies = report(*(flat[:, part] for part in layout.motions), inputs)[0].reshape(*path.shape[:2], -1)
    total = energies.sum(axis=2) - path[..., layout.work] + path[..., layout.lost]
    moving = energies[:, [0, -1]][..., [0, 1, 3]].sum(axis=2).max(axis=1)  # gravity has its zero anywhere
    return np.abs(total - total[:, :1]).max(axis=1), moving


UNUSUAL_ACCELERATION = 1e6  # times the acceleration of the whole robot under the same torque
TORQUE_SPREAD = 0.1  # relative difference between the torques of actuators with which the inertia is tested


class ForceResponse(Protocol):
    """Interface to the response of members to forces: any stepper."""

    plant: Plant
    lanes: Lanes
    sizes: Array
    unusual: Array

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]: ...


class InertiaMonitor:
    """Check of the inertia of members. Accelerations that were found to be usual are not checked again.

    States are (groups, entries, lanes); messages are returned by member.
    """

    def __init__(self, members: MemberRobots, stepper: ForceResponse) -> None:
        self._members, self._stepper, self._layout = members, stepper, stepper.plant.layout

    def infinite_at_start(self, first: Array, running: Sequence[int]) -> dict[int, str]:
        """Return why the first accelerations of members are not finite."""
        found, lanes = {}, self._stepper.lanes
        is_finite = np.asarray(np.isfinite(first[:, self._layout.a]).all(axis=1))
        finite = lanes.unpack(is_finite[:, None])[:, 0]
        for member in () if finite.all() else running:
            if not finite[member]:
                state = lanes.of(first, member)
                found[member] = self._singularity(member, state) or self._too_large(member, state)
        return found

    def singular_at_start(
        self, first: Array, running: Sequence[int], inputs: GroupInputs | None = None
    ) -> dict[int, str]:
        """Return which members answer to torques with accelerations that are as good as infinite."""
        lanes, at, plant = self._stepper.lanes, self._layout, self._stepper.plant
        without = np.zeros((lanes.groups, plant.input_count, lanes.lanes))
        given = None if inputs is None or plant.law is None else inputs.at(0.0)[0]
        if given is not None:  # gains of the law, which may divide by one
            without[:, plant.input_places[7]] = given[:, plant.input_places[7]]
        pushed, push = without.copy(), lanes.pack_values(self._members.push)
        pushed[:, plant.input_places[1]] = push[:, None] * (1 + TORQUE_SPREAD * np.arange(plant.nu))[:, None]
        still = first.copy()
        still[:, at.every_v] = 0.0
        at_once = np.zeros(lanes.groups)
        a, b = (self._stepper.start(still, each, at_once)[0][:, : at.n] for each in (without, pushed))
        gained = np.abs((b - a) / self._stepper.sizes).max(axis=1, initial=0.0)
        far = ~(lanes.unpack(gained[:, None])[:, 0] <= UNUSUAL_ACCELERATION)
        reasons = {each: self._singularity(each, lanes.of(first, each)) for each in running if far[each]}
        return {member: reason for member, reason in reasons.items() if reason is not None}

    def singular_along(self, path: Array, group: int, running: Sequence[int]) -> dict[int, str]:
        """Return which members of a group have absurd accelerations, because their mass matrix is singular, on nodes
        (nodes, entries, lanes)."""
        found, unusual = {}, self._stepper.unusual[group]
        largest = np.abs(path[:, self._layout.a] / self._stepper.sizes[group]).max(axis=1, initial=0.0)
        if not (largest > unusual).any():
            return {}
        for member in running:
            lane = self._stepper.lanes.place(member)[1]
            worst = int(largest[:, lane].argmax())
            if largest[worst, lane] > unusual[lane]:
                if (reason := self._singularity(member, path[worst, :, lane])) is not None:
                    found[member] = reason
                unusual[lane] = 10 * largest[worst, lane]
        return found

    def _too_large(self, member: int, state: Array) -> str:
        """Return the message for accelerations that are not finite at the start, naming the largest initial value."""
        system = self._members.system(member)
        given = {"q0": state[self._layout.q], "v0": state[self._layout.v]}
        worst = {name: np.abs(values / system.sizes) for name, values in given.items()}
        name = max(worst, key=lambda each: float(worst[each].max(initial=0.0)))
        k = int(worst[name].argmax())
        largest = f"{name} of '{system.names[k]}' is {given[name][k]:g}"
        return f"the first accelerations are not finite: q0, v0, a torque or a load is too large ({largest})"

    def _singularity(self, member: int, state: Array) -> str | None:
        return self._members.system(member).singularity(state[self._layout.q], self._stepper.plant.driven)


def divergence(
    system: System, plant: Plant, t: float, last: Array, tried: Array, fell: float | None, name: str = ""
) -> str:
    """Return the message for a step from the `last` valid state at time t whose result `tried` is invalid.

    `fell` is the step size to which the method went down (s; None for fixed steps); the failing quantity is found
    unless `name` is given.
    """
    layout = plant.layout
    what = "is not a number with this fixed step"
    if fell is not None:
        what = f"changes too fast (the step fell to {fell:.2g} s)"
    q = np.abs(tried[layout.q] / system.sizes)
    worst = int(np.argmax(np.where(np.isfinite(q), q, np.inf))) if len(q) else 0
    name = name or f"'{system.names[worst]}'"
    return f"diverged at t = {t:.6g} s: {name} {what}{_singularity(system, plant, last[layout.q])}"


def _singularity(system: System, plant: Plant, q: Array) -> str:
    """The end of a sentence about a failure where constraints, or a lack of inertia, are at fault."""
    if plant.constraint_solver is None:
        found = system.singularity(q, plant.driven, nearly=True)
        if found is None:
            return ""
        if system.singularity(np.where(system.elastic, 0.0, q), plant.driven, nearly=True) is None:
            return "; links bend further there than their model bears: their mass matrix is nearly singular"
        return f"; {found.replace('is singular', 'is nearly singular there')}"
    names = Assembly(system, plant.driven).nearly_singular(q)
    return f"; the mechanism is nearly singular there: {names} cannot be held" if names else ""


MOST_STEPS = 100_000_000  # some minutes of the smallest robot
MOST_CALLS = 10_000_000  # of a digital controller: each is a call of Python
NUMBERS_A_SAMPLE = 12  # for each coordinate: q, v, a and what they pass through on their way into the results
NOTICE_AFTER_S, LONG_RUN_S = 5.0, 600.0  # s: a run that will take so long gives a notice after so many seconds


def sample_times(duration: float, sample: float | None, coordinates: int) -> Array:
    """Times of the samples, both ends among them; a ValueError where they do not fit into memory."""
    step = duration / 1000 if sample is None else sample
    if step > duration:
        raise ValueError(f"sample = {sample:g}: must be at most the duration, {duration:g} s")
    needed = duration / step * (NUMBERS_A_SAMPLE * coordinates + 50) * 8
    if needed > (room := memory() / 2):
        raise ValueError(
            f"sample = {sample:g}: {duration / step:.3g} samples of this robot need about {needed / 1e9:.3g} GB of "
            f"memory, and {room / 1e9:.3g} GB may be used; take a longer time between samples (s)"
        )
    count = int(np.floor(duration / step + 1e-9))
    times = step * np.arange(count + 1)
    if duration - times[-1] <= 1e-9 * duration:
        times[-1] = duration
    return np.asarray(times if times[-1] == duration else np.append(times, duration), dtype=float)


def require_finite_work(duration: float, dt: float | None, rate: float | None) -> None:
    """Refuse steps and calls of a controller that would never end."""
    if dt is not None and dt > duration:
        raise ValueError(f"dt = {dt:g}: is longer than the duration, {duration:g} s")
    if dt is not None and duration / dt > MOST_STEPS:
        raise ValueError(
            f"dt = {dt:g}: makes {duration / dt:.3g} steps of the duration, {duration:g} s; at most "
            f"{MOST_STEPS:.0e} are taken; take a longer step (s), or leave dt out"
        )
    if rate is not None and duration * rate > MOST_CALLS:
        raise ValueError(
            f"Feedback: rate = {rate:g}: makes {duration * rate:.3g} calls in {duration:g} s, and at most "
            f"{MOST_CALLS:.0e} are made; take a lower rate (Hz)"
        )


def require_seen_inputs(outlooks: Mapping[str, Bandwidth], pace: StepBounds, duration: float, dt: float | None) -> None:
    """Refuse inputs that take too many steps to be seen; warn of those that will not be."""
    for name, each in outlooks.items():
        if each.unresolved:
            _doubt(
                f"{name} is faster than could be found out by calling it {each.probes} times, at t = "
                f"{each.fastest:.4g} s within {each.longest:.2g} s: there the result depends on where the steps "
                "happen to be; give a profile, whose bandwidth is known (fa.sine, fa.chirp, fa.spline)"
            )
    if not outlooks or not np.isfinite(pace.longest).any():
        return
    name, fastest = min(outlooks.items(), key=lambda item: item[1].longest)
    seen = f"{name} is so fast at t = {fastest.fastest:.4g} s that only steps up to {fastest.longest:.3g} s see it"
    if dt is None and pace.steps > MOST_STEPS:
        raise ValueError(
            f"{seen}: that makes {pace.steps:.3g} of the duration, {duration:g} s, and at most {MOST_STEPS:.0e} are "
            "taken; give a slower input, or a dt (s) that does not see it"
        )
    if dt is not None and dt > fastest.longest:
        _doubt(f"dt = {dt:g}: {seen}; take a shorter dt, or leave it out")


def _doubt(sentence: str) -> None:
    warn(sentence, ValidityWarning)


def memory() -> float:
    """Return the memory of this machine (bytes), or a low guess if it is unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8e9


class DurationNotice:
    """Says once, when a run promises to take long, how long; a law in it (not of a digital controller) may be why."""

    def __init__(self, duration: float, law: bool = False) -> None:
        self.duration, self._begin, self._said = duration, clock.perf_counter(), False
        self._hint = f"; {OF_LAWS}" if law else ""

    def update(self, t: float) -> None:
        spent = clock.perf_counter() - self._begin
        if self._said or spent < NOTICE_AFTER_S or not t:
            return
        if (total := spent * self.duration / t) > LONG_RUN_S:
            self._said = True
            warn(
                f"after {spent:.0f} s this run has come to t = {t:.3g} of {self.duration:g} s: it will take about "
                f"{total / 60:.0f} minutes; a larger rtol or dt is faster, and Ctrl-C keeps what was computed"
                f"{self._hint}",
                ValidityWarning,
            )
