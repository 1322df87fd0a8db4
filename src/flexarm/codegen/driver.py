"""The integration loop between two breakpoints, compiled with a step (`driver.c`) or in Python.

Both evaluate inputs, take a step, judge its error, choose the size of the next one and record nodes, by the same rules.
The one in Python serves where there is no machine code, and tests compare the other one with it.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from enum import IntEnum
from importlib.resources import files
from typing import Any, Protocol

import numpy as np

from flexarm.codegen.loops import Runner, tied
from flexarm.foundation.validation import Array

SAFETY = 0.9  # of the step size that would just meet the tolerance
SMALLEST_CHANGE, LARGEST_CHANGE = 0.1, 4.0  # factors from one step size to the next
SMALLEST_EXCESS = 1e-10  # smaller errors count as this
LARGEST_STATE = 1e100  # a state beyond this counts as not a number
UNSOLVED_EXCESS = 100.0  # times what is allowed: steps of fixed size whose iteration leaves this much are counted
TIME_SLACK = 1e-9  # of a step: a stop that is so little beyond it is reached by it
NO_LIMIT = 2**62  # steps, attempts or samples
MAX_CALL_S = 1e-3  # s after which a driver returns, so that interrupts are seen

# Read when the program starts: the file may change while it runs.
SOURCE = files("flexarm.codegen").joinpath("driver.c").read_text()

SEGMENT_TYPE = np.dtype(
    [
        *((name, float) for name in ("scale", "shift", "offset", "slope", "curvature")),
        *((name, float) for name in ("amplitude", "frequency", "phase", "growth", "decaying", "decay_rate")),
        *((name, np.int64) for name in ("intervals", "terms", "knots", "rows")),
    ]
)
"""An input over a stretch without jumps, as `driver.c` describes it; the last two are addresses of arrays."""


class DriverStatus(IntEnum):
    """Why a driver returned."""

    REACHED_STOP = 0
    ENOUGH_STEPS = 1  # or attempts
    TIME_IS_UP = 2
    STEP_TOO_SMALL = 3
    INPUTS_FAILED = 4
    COULD_NOT_RUN = 5


class DriverInputs(Protocol):
    """Inputs of a plant over a stretch without jumps.

    Attributes
    ----------
    segments : numpy.ndarray or None
        Rows of `SEGMENT`, one for each input (and lane); None where some input can only be called.
    """

    @property
    def segments(self) -> Any: ...

    def __call__(self, times: Array) -> Array:
        """Return rows of inputs at times (s)."""


_FILL = ctypes.CFUNCTYPE(ctypes.c_int)


class DriverControl(ctypes.Structure):
    """Instructions to a driver, and its results; the same structure as `flexarm_control` in `driver.c`."""

    _fields_ = (
        *((name, ctypes.c_longlong) for name in ("states", "measures", "columns", "stages", "input_lanes")),
        *((name, ctypes.c_longlong) for name in ("first_acceleration", "first_auxiliary", "accelerations")),
        *(
            (name, ctypes.c_longlong)
            for name in ("block", "block_steps", "is_fixed", "was_rejected", "most_steps", "most_attempts")
        ),
        *((name, ctypes.c_longlong) for name in ("steps", "attempts", "rejected", "unsolved")),
        *((name, ctypes.c_double) for name in ("t", "stop", "dt", "longest", "smallest")),
        *((name, ctypes.c_double) for name in ("previous", "recent_excess", "former_excess", "patience", "exponent")),
        *((name, ctypes.c_double) for name in ("shortest_taken", "longest_taken")),
        *((name, ctypes.c_void_p) for name in ("nodes", "numbers", "horizon", "solved")),
        *((name, ctypes.c_void_p) for name in ("error_limit", "unsolved_limit", "segments")),
        *((name, ctypes.c_void_p) for name in ("stage_times", "inputs", "times", "path", "errors", "left", "start")),
        ("fill_inputs", _FILL),
        ("unsolved_by_lane", ctypes.c_void_p),
    )

    def next_size(self) -> tuple[float, bool]:
        """Return the size of the next step (s), and whether it ends at the stop."""
        remaining, size = self.stop - self.t, self.dt if self.is_fixed else min(self.dt, self.longest)
        count = math.ceil(remaining / size - TIME_SLACK)
        if self.is_fixed:
            return size, count <= 1
        return (remaining / max(count, 1) if count <= 2 else size), count <= 1


def _numpy_kind(kind: Any) -> Any:
    return {ctypes.c_longlong: np.int64, ctypes.c_double: np.float64}.get(kind, np.uintp)


CONTROL_TYPE = np.dtype([(each[0], _numpy_kind(each[1])) for each in DriverControl._fields_])
"""`DriverControl` as a record: an array of these has one for each group."""


def next_sizes(controls: Any) -> Array:
    """Return the size of the next step of each group (s), as `DriverControl.next_size` has it."""
    remaining = controls["stop"] - controls["t"]
    size = np.where(controls["is_fixed"] != 0, controls["dt"], np.minimum(controls["dt"], controls["longest"]))
    count = np.maximum(1, np.ceil(remaining / size - TIME_SLACK))
    return np.asarray(np.where((controls["is_fixed"] != 0) | (count > 2), size, remaining / count))


class Driver:
    """A step and the arrays on which it works, ready to be driven from one breakpoint to the next.

    Parameters
    ----------
    states, measures, columns : int
        Numbers in a state, in an error, and in the inputs at one time.
    nodes : sequence of float
        Fractions of a step at which inputs are needed.
    numbers : numpy.ndarray
        Of the robot.
    accelerations, auxiliary : slice
        Their places in a state.
    estimate, patience : int
        Order of the error estimate, and for how many steps an error counts in the choice of the next ones.
    capacity : int
        Steps that one call takes at most.
    """

    def __init__(
        self,
        states: int,
        measures: int,
        columns: int,
        nodes: Sequence[float],
        numbers: Array,
        accelerations: slice,
        auxiliary: slice,
        estimate: int,
        patience: int,
        capacity: int,
    ) -> None:
        self.capacity = capacity
        self.times, self.path = np.zeros(capacity + 1), np.zeros((capacity + 1, states))
        self.errors, self.left = np.zeros((2, measures))
        self._inputs, self._stage_times = np.zeros((len(nodes), columns)), np.zeros(len(nodes))
        self._nodes, self._numbers, self._start = np.array(nodes), numbers, np.zeros(states)
        self._bounds = {name: np.zeros(1) for name in ("horizon", "solved", "error_limit", "unsolved_limit")}
        self._accelerations, self._auxiliary = accelerations, auxiliary
        self._callable: Callable[[Array], Array] | None = None
        self._failure: BaseException | None = None
        arrays = {
            "nodes": self._nodes,
            "numbers": numbers,
            "stage_times": self._stage_times,
            "inputs": self._inputs,
            "times": self.times,
            "path": self.path,
            "errors": self.errors,
            "left": self.left,
            "start": self._start,
            **self._bounds,
        }
        self.control = DriverControl(
            states=states,
            measures=measures,
            columns=columns,
            stages=len(nodes),
            input_lanes=1,
            first_acceleration=accelerations.start,
            first_auxiliary=auxiliary.start,
            accelerations=accelerations.stop - accelerations.start,
            exponent=-1 / estimate,
            block=max(1, patience // 2),
            patience=MAX_CALL_S,
            shortest_taken=math.inf,
            fill_inputs=_FILL(self._fill),
            **{name: each.ctypes.data for name, each in arrays.items()},
        )

    def set_bounds(self, **values: float) -> None:
        """Set `horizon` (s), `solved` (J), `error_limit` (m) and `unsolved_limit` (m) of the steps that follow."""
        for name, value in values.items():
            self._bounds[name][:] = value

    def connect(self, step: Runner) -> None:
        """Drive this step from now on, in the virtual machine or as machine code."""
        self.run: Callable[[], int]
        if step.library is None:
            slots = [self._start, self._inputs.reshape(-1), np.zeros(1)]
            slots += [self._bounds["horizon"], self._bounds["solved"], self._numbers]
            after = np.zeros(len(self._start))
            evaluate = tied(step.function, slots, [after, self.errors, self.left])
            self.run = lambda: self._drive(slots[2], after, evaluate)
            return
        drive, reference = step.drive, ctypes.byref(self.control)
        self.run = lambda: int(drive(reference))

    def advance(self, inputs: DriverInputs, run: Callable[[], int] | None = None) -> DriverStatus:
        """Take steps from the state in `path[0]` at `control.t` until the stop, or until something else ends them.

        Afterwards `times` and `path` hold the nodes, `control.steps` of them beyond the first. What was tried last is
        in the row that follows; its errors are in `errors` and `left`. A `run` is another loop around this one.
        """
        segments = inputs.segments
        self.control.segments = None if segments is None else segments.ctypes.data
        self._callable, self._failure = inputs, None
        status = DriverStatus((run or self.run)())
        self._callable = None
        if self._failure is not None:
            raise self._failure
        if status == DriverStatus.COULD_NOT_RUN:
            raise RuntimeError("the machine code of the steps could not be run; native=False does without it")
        return status

    def inputs_at(self, times: Array) -> Array | None:
        """Return rows of inputs at times (s), inside `advance`; None where that failed, and the loop ends."""
        try:
            assert self._callable is not None
            return self._callable(times)
        except BaseException as error:
            self._failure = error
            return None

    def _fill(self) -> int:
        """Fill the inputs at the times of the stages; 1 where that failed, and the loop ends."""
        rows = self.inputs_at(self._stage_times)
        if rows is None:
            return 1
        self._inputs[:] = rows
        return 0

    def _drive(self, dt: Array, after: Array, evaluate: Callable[[], None]) -> int:
        """The loop of `driver.c` in Python."""
        c, began = self.control, time.perf_counter()
        c.steps = c.attempts = c.rejected = c.unsolved = 0
        self.times[0] = c.t
        while c.t < c.stop:
            if c.steps >= c.most_steps or c.attempts >= c.most_attempts:
                return DriverStatus.ENOUGH_STEPS
            if c.attempts and time.perf_counter() - began > c.patience:
                return DriverStatus.TIME_IS_UP
            h, lands = c.next_size()
            is_short = h < c.dt
            np.minimum(c.t + h * self._nodes, math.nextafter(c.stop, -math.inf), out=self._stage_times)
            if self._fill():
                return DriverStatus.INPUTS_FAILED
            self._start[:], dt[:] = self.path[c.steps], h
            if 0 < c.previous != h:  # auxiliary accelerations lead the others by a share of the step
                a, aux = self._start[self._accelerations], self._start[self._auxiliary]
                aux[:] = a + (aux - a) * (h / c.previous)
            evaluate()
            self.path[c.steps + 1] = after
            c.attempts += 1
            excess = self._excess(after)
            proposed = h * self._change(excess, h)
            if math.isfinite(excess) if c.is_fixed else excess <= 1:
                c.steps += 1
                c.t = self.times[c.steps] = c.stop if lands else c.t + h
                c.previous, c.was_rejected = h, False
                c.shortest_taken, c.longest_taken = min(c.shortest_taken, h), max(c.longest_taken, h)
                if not c.is_fixed and not (is_short and proposed < c.dt):
                    c.dt = proposed
                continue
            c.rejected += 1
            c.was_rejected = True
            too_small = c.is_fixed or c.t + proposed == c.t or (proposed < c.smallest and not is_short)
            c.dt = c.dt if c.is_fixed else proposed
            if too_small:
                return DriverStatus.STEP_TOO_SMALL
        return DriverStatus.REACHED_STOP

    def _change(self, excess: float, h: float) -> float:
        """Return the factor from this step size to the next.

        In a vibration errors vanish twice a period: the largest one of some steps decides, those of this block of steps
        and of the one before.
        """
        c, largest = self.control, max(excess, SMALLEST_EXCESS)
        if not math.isfinite(excess):
            return SMALLEST_CHANGE
        if excess <= 1:
            scale = (h / c.previous) ** (-1 / c.exponent) if c.previous > 0 else 0.0
            c.recent_excess, c.former_excess = c.recent_excess * scale, c.former_excess * scale
            largest = max(largest, c.recent_excess, c.former_excess)
            c.recent_excess = max(c.recent_excess, excess)
            c.block_steps += 1
            if c.block_steps >= c.block:
                c.former_excess, c.recent_excess, c.block_steps = c.recent_excess, 0.0, 0
        change = SAFETY * largest**c.exponent
        if c.was_rejected and excess <= 1:
            change = min(change, 1.0)
        return float(min(max(change, SMALLEST_CHANGE), LARGEST_CHANGE))

    def _excess(self, after: Array) -> float:
        """Return the largest error, or what the iteration left, in units of what is allowed."""
        if not (np.abs(after) < LARGEST_STATE).all():
            return math.inf
        error, left = (float(each.max(initial=0.0)) for each in (self.errors, self.left))
        if not (math.isfinite(error) and math.isfinite(left)):
            return math.inf
        unsolved = left / self._bounds["unsolved_limit"][0]
        self.control.unsolved += bool(self.control.is_fixed and unsolved > UNSOLVED_EXCESS)
        return float(max(error / self._bounds["error_limit"][0], unsolved))


def driver_source(step: str) -> str:
    """Return C that drives a step of this name."""
    text = SOURCE
    constants: dict[str, Any] = {
        name: globals()[name]
        for name in (
            "SAFETY",
            "SMALLEST_CHANGE",
            "LARGEST_CHANGE",
            "SMALLEST_EXCESS",
            "LARGEST_STATE",
            "UNSOLVED_EXCESS",
            "TIME_SLACK",
        )
    }
    for name, value in constants.items():
        text = text.replace(f"@{name}@", repr(value))
    return text.replace("@STEP@", step)
