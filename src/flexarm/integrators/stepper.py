"""Interface between the integration loop and the steps of a method, for one robot or for groups of lanes."""

from __future__ import annotations

import time as clock
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from flexarm.codegen.driver import CONTROL_TYPE, Driver, DriverStatus
from flexarm.foundation.interrupts import StopRun
from flexarm.foundation.validation import Array
from flexarm.integrators.compiled_step import Report
from flexarm.integrators.group_inputs import Failures, GroupInputs
from flexarm.integrators.lanes import Lanes
from flexarm.integrators.plant import Plant
from flexarm.integrators.step_size import Tolerance

USUAL_ACCELERATION = 1e6  # lengths a second squared: less is not unusual in a run, whatever causes it


class Stepper(Protocol):
    """Interface between the integration loop and a method on a plant, for groups of lanes.

    Attributes
    ----------
    softens : bool
        True if accelerations after a jump depend on the size of the step that follows.
    nodes : tuple of float
        Fractions of a step at which inputs are needed.
    states : ndarray, shape (groups, entries, lanes)
        States at the present times.
    controls : ndarray of CONTROL_TYPE, shape (groups,)
        Instructions to the driver: times, stops and step sizes.
    times, path : ndarray, shape (nodes,) and (nodes, entries, lanes)
        Nodes of the group that was driven last, and what was tried after them.
    errors, left : ndarray, shape (measures, lanes)
        Errors of its last attempt (m), and what the iteration left.
    failures : dict
        Failures of functions of the user that are inputs of that group.
    """

    plant: Plant
    lanes: Lanes
    order: int
    explicit: bool
    softens: bool
    nodes: tuple[float, ...]
    capacity: int
    states: Array
    sizes: Array  # (groups, coordinates, lanes): what is large for each
    unusual: Array  # (groups, lanes): accelerations beyond this are looked at, in sizes a second squared
    error_limits: Array  # (groups, lanes): of errors of a step (m),
    unsolved_limits: Array  # and of what iterations leave
    steps: Any  # (groups,): taken so far
    failures: Failures

    @property
    def controls(self) -> Any: ...

    @property
    def times(self) -> Array: ...

    @property
    def path(self) -> Array: ...

    @property
    def errors(self) -> Array: ...

    @property
    def left(self) -> Array: ...

    def set_bounds(self, tolerance: Tolerance, is_fixed: bool, smallest: float) -> None:
        """Set the tolerance of the steps, whether their size is fixed, and the smallest size (s)."""

    def begin_stretch(self, t: float, inputs: GroupInputs) -> None:
        """Use the inputs from a stop at time t until the next one."""

    def drive(self, check: Callable[[], None]) -> Iterator[tuple[int, DriverStatus]]:
        """Take steps in all groups that have not reached their stops, with one call of the driver for each.

        Yields the groups whose nodes must be looked at, and why their driver returned. `check` raises if the run
        should end.
        """

    def rows(self, group: int) -> int:
        """Return the number of nodes after the first of the last call."""

    def settle(self, group: int, row: int) -> None:
        """Continue from a node of the last call."""

    def may_have_event(self, group: int, lane: int) -> bool:
        """Return False if the nodes of a lane are known to be far from all limits."""

    def copy_lane(self, group: int, source: int, target: int) -> None:
        """Give a lane the state, numbers and bounds of another one of its group."""

    def stop_group(self, group: int) -> None:
        """Drive a group no longer: all its members have ended."""

    def numbers_of(self, member: int) -> Array:
        """Return the numbers of a member for functions of the plant."""

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]:
        """Return accelerations, power of the inputs, power dissipated and, with constraints, their multipliers.

        Each is (groups, entries, lanes), for first steps of these sizes (s, by group); inputs are (groups or 1,
        entries, lanes).
        """

    def kinetic(self, states: Array, inputs: Array) -> Array:
        """Return the kinetic energy (J), (groups, lanes)."""

    def longest_steps(self, inputs: Array, duration: float) -> Array:
        """Return the step size of each member with which motions about its state stay bounded (s), (members,)."""


class ScalarStepper(ABC):
    """Part that steppers of a single robot share: a driver, whose arrays they show as those of one group of one
    lane."""

    driver: Driver
    plant: Plant
    report: Report
    inputs: GroupInputs
    order: int
    explicit: bool
    softens: bool
    nodes: tuple[float, ...]
    lanes = Lanes()
    sampled: Any = None  # the loop that takes samples of a digital controller between stops

    def _share(self, driver: Driver, sizes: Array) -> None:
        self.driver, self.capacity = driver, driver.capacity
        self.states, self.sizes = np.zeros((1, self.plant.layout.size, 1)), sizes[None, : self.plant.layout.n, None]
        self.controls: Any = np.frombuffer(memoryview(driver.control), CONTROL_TYPE)
        self.unusual, self.steps = np.full((1, 1), USUAL_ACCELERATION), np.zeros(1, dtype=np.int64)
        self.error_limits, self.unsolved_limits = np.zeros((2, 1, 1))
        self.times, self.path = driver.times, driver.path[:, :, None]
        self.errors, self.left = driver.errors[:, None], driver.left[:, None]
        self.failures: Failures = {}
        self.loop_time = 0.0

    def set_bounds(self, tolerance: Tolerance, is_fixed: bool, smallest: float) -> None:
        control = self.driver.control
        self.driver.set_bounds(
            horizon=tolerance.horizon,
            solved=tolerance.solved,
            error_limit=tolerance.share,
            unsolved_limit=tolerance.allowed,
        )
        control.is_fixed, control.smallest = is_fixed, smallest
        self.error_limits[:], self.unsolved_limits[:] = tolerance.share, tolerance.allowed

    def begin_stretch(self, t: float, inputs: GroupInputs) -> None:
        segments, _ = inputs.segments(t)
        self.inputs, self._segments = inputs, None if segments is None else segments[0, :, 0]

    @property
    def segments(self) -> Any:
        """Coefficients of the inputs, for the driver."""
        return self._segments

    def __call__(self, times: Array) -> Array:
        """Return rows of inputs at times (s), for the driver; raise `StopRun` where a function of the user fails."""
        schedule = self.inputs.schedules[0]
        rows, failure = schedule.inputs_until_failure(times, self.inputs.held)
        if failure is not None:
            raise failure
        return rows

    def drive(self, check: Callable[[], None]) -> Iterator[tuple[int, DriverStatus]]:
        control = self.driver.control
        if not control.t < control.stop:
            return
        self.driver.path[0], self.failures = self.states[0, :, 0], {}
        began = clock.perf_counter()
        try:
            status = self._advance()
        except StopRun as failure:
            self.failures, status = {0: failure}, DriverStatus.INPUTS_FAILED
        self.loop_time += clock.perf_counter() - began
        if self.sampled is None:  # samples of a controller must be kept first
            check()
        yield 0, status
        check()

    @abstractmethod
    def _advance(self) -> DriverStatus:
        """Take steps until the stop, or until something else ends them."""

    def rows(self, group: int) -> int:
        return int(self.driver.control.steps)

    def kinetic(self, states: Array, inputs: Array) -> Array:
        at, rows = self.plant.layout, states[:, :, 0]
        q, v = rows[:, at.every_q], rows[:, at.every_v]
        return self.report(q, v, np.zeros_like(v), inputs[:, :, 0])[0][:, :1]

    def settle(self, group: int, row: int) -> None:
        self.states[0, :, 0] = self.driver.path[row]
        self.driver.control.t = self.driver.times[row]
        self.steps += row

    def may_have_event(self, group: int, lane: int) -> bool:
        return True

    def copy_lane(self, group: int, source: int, target: int) -> None:
        raise ValueError("there is one lane")

    def stop_group(self, group: int) -> None:
        self.driver.control.stop = self.driver.control.t

    @abstractmethod
    def numbers_of(self, member: int) -> Array: ...

    @abstractmethod
    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]: ...

    @abstractmethod
    def longest_steps(self, inputs: Array, duration: float) -> Array: ...

    @property
    @abstractmethod
    def starts(self) -> Any:
        """Accelerations in many states."""
