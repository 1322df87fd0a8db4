"""Steps of many members in groups of SIMD lanes. (A `Stepper`.)"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from flexarm.codegen.driver import CONTROL_TYPE, DriverStatus
from flexarm.codegen.groups import LONGEST_PASS_S, GroupDriver
from flexarm.codegen.simd_library import LaneFunction
from flexarm.foundation.validation import Array
from flexarm.integrators.group_inputs import Failures, GroupInputs
from flexarm.integrators.lanes import Lanes
from flexarm.integrators.step_size import MOST_COORDINATES, STEP_ERROR_SHARE, LocalSpectrum, Tolerance
from flexarm.integrators.stepper import USUAL_ACCELERATION
from flexarm.sweeps.ensemble.lane_code import READ, SMALL, START, LaneCode, ReadingLayout

CAPACITY = 256  # steps of a group in one call of the driver,
MAX_PATH_BYTES = 4e6  # unless they take more memory than this
MIN_CAPACITY = 16


class LaneStepper:
    """Steps and compiled functions of a plant and a method.

    Parameters
    ----------
    numbers : ndarray, shape (members, numbers)
        Of the robots.
    sizes : ndarray, shape (members, coordinates)
        What is large for each coordinate.
    """

    def __init__(self, code: LaneCode, numbers: Array, sizes: Array) -> None:
        assert code.library is not None
        self.library, self.code, self.method = code.library, code, code.method
        self.plant, self.layout = code.plant, code.plant.layout
        self.order, self.explicit = self.method.order, self.method.explicit
        self.softens, self.nodes = any(self.method.softening(1.0)), self.method.nodes
        self.lanes = Lanes(len(numbers), code.width.lanes)
        self.numbers, self.sizes = self.lanes.pack(numbers)[:, None], self.lanes.pack(sizes)
        self.readings = ReadingLayout(len(self.plant.structure.equations.chain.bodies), self.plant.nu)
        self.failures: Failures = {}

    # --- functions of states ---

    def numbers_of(self, member: int) -> Array:
        return np.asarray(self.lanes.of(self.numbers, member)[0])

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]:
        at, lanes, groups = self.layout, self.lanes.lanes, self.lanes.groups
        by_group = np.array([self.method.softening(each) for each in sizes.tolist()], dtype=float).reshape(groups, -1)
        softening = [np.repeat(each[:, None, None, None], lanes, axis=3) for each in by_group.T]
        entries = [at.every, 1, 1, *([at.multipliers] if at.multipliers else [])]
        out = [np.zeros((groups, 1, size, lanes)) for size in entries]
        given = [*_rows(states[:, at.every_q], states[:, at.every_v], inputs), *softening, self.numbers]
        LaneFunction(self.library, START, given, out)(1)
        return [each[:, 0] for each in out]

    def read(self, states: Array, inputs: Array) -> Array:
        """Return readings of states with these inputs, (groups, readings, lanes)."""
        at = self.layout
        parts = [states[:, each] for each in (at.every_q, at.every_v, at.every_a)]
        out = np.empty((self.lanes.groups, 1, self.readings.count, self.lanes.lanes))
        LaneFunction(self.library, READ, [*_rows(*parts, inputs, states[:, [at.work, at.lost]]), self.numbers], [out])(
            1
        )
        return out[:, 0]

    def kinetic(self, states: Array, inputs: Array) -> Array:
        return self.read(states, inputs)[:, 0]

    def spectra(self, states: Array, inputs: Array) -> list[LocalSpectrum]:
        """Return the spectrum of small motions of every member about its state."""
        at, lanes, free = self.layout, self.lanes.lanes, len(self.plant.free)
        if self.plant.shared is not None or free > MOST_COORDINATES:
            return [LocalSpectrum.of(*np.zeros((3, 0, 0)))] * self.lanes.members
        out = [np.zeros((self.lanes.groups, 1, free * free, lanes)) for _ in range(3)]
        given = [*_rows(states[:, at.every_q], states[:, at.every_v], inputs), self.numbers]
        LaneFunction(self.library, SMALL, given, out)(1)
        square = (self.lanes.members, free, free)
        matrices = [self.lanes.unpack(each[:, 0]).reshape(square).swapaxes(1, 2) for each in out]
        return [LocalSpectrum.of(*each) for each in zip(*matrices, strict=True)]

    def longest_steps(self, inputs: Array, duration: float) -> Array:
        at, free = self.layout, self.plant.free
        v, a = (self.lanes.unpack(self.states[:, part])[:, free] for part in (at.every_v, at.every_a))
        moving = (each.moving(*rates) for each, rates in zip(self.spectra(self.states, inputs), zip(v, a), strict=True))
        return np.array([self.method.longest_step(each.rates, duration) for each in moving])

    # --- steps ---

    def prepare(self, states: Array, horizon: float, allowed: Array, solved: Array) -> None:
        """Make the arrays of the driver, for members in these states, (groups, entries, lanes).

        `horizon` (s), `allowed` (m) and `solved` (J), of each member, are those of a `Tolerance`.
        """
        at, lanes, groups, stages = self.layout, self.lanes.lanes, self.lanes.groups, len(self.nodes)
        self.states, self.capacity = (
            states,
            max(MIN_CAPACITY, min(CAPACITY, int(MAX_PATH_BYTES / (8 * at.size * lanes)))),
        )
        self.times, self.path = np.zeros(self.capacity + 1), np.zeros((self.capacity + 1, at.size, lanes))
        self.errors, self.left = np.zeros((2, self.code.measures, lanes))
        self.stage_inputs, self.stage_times = np.zeros((stages, self.plant.input_count, lanes)), np.zeros(stages)
        self.unsolved_limits, self._solved = self.lanes.pack_values(allowed), self.lanes.pack_values(solved)
        self.error_limits = STEP_ERROR_SHARE * self.unsolved_limits
        self.unusual, self.steps = np.full((groups, lanes), USUAL_ACCELERATION), np.zeros(groups, dtype=np.int64)
        self.unsolved = np.zeros((groups, lanes), dtype=np.int64)  # steps of fixed size, by lane
        self.is_alive = np.full((groups, lanes), -1, dtype=np.int64)  # all bits, for members that are running
        self.is_active, self.beyond = np.ones(groups, dtype=np.int64), np.zeros((groups, lanes), dtype=np.int64)
        self.controls = self._made_controls(horizon)

    def _made_controls(self, horizon: float) -> Any:
        """Return the records of the driver, one for each group."""
        at, method = self.layout, self.method
        self._kept = np.array(self.nodes), np.full(self.lanes.lanes, horizon), np.zeros((at.size, self.lanes.lanes))
        controls: Any = np.zeros(self.lanes.groups, CONTROL_TYPE)
        values = {
            "states": at.size,
            "measures": self.code.measures,
            "columns": self.plant.input_count,
            "stages": len(self.nodes),
            "first_acceleration": at.every_a.start,
            "first_auxiliary": at.every_aux.start,
            "accelerations": at.every,
            "block": max(1, method.patience // 2),
            "exponent": -1 / method.estimate,
            "patience": np.inf if method.explicit else LONGEST_PASS_S,  # explicit steps are bounded between calls
            "shortest_taken": np.inf,
        }
        shared = {
            **dict(zip(("nodes", "horizon", "start"), self._kept, strict=True)),
            "stage_times": self.stage_times,
            "inputs": self.stage_inputs,
            "times": self.times,
            "path": self.path,
            "errors": self.errors,
            "left": self.left,
        }
        by_group = {
            "numbers": self.numbers,
            "solved": self._solved,
            "error_limit": self.error_limits,
            "unsolved_limit": self.unsolved_limits,
            "unsolved_by_lane": self.unsolved,
        }
        for name, value in values.items():
            controls[name] = value
        for name, each in shared.items():
            controls[name] = each.ctypes.data
        for name, each in by_group.items():
            controls[name] = addresses(each)
        return controls

    def connect(self, driver: GroupDriver, by_lane: list[Array]) -> None:
        """Use a driver of the groups; `by_lane`: arrays, (groups, ..., lanes), in which lanes copy others."""
        self.driver, self._by_lane = driver, by_lane
        self._error: BaseException | None = None

    def set_bounds(self, tolerance: Tolerance, is_fixed: bool, smallest: float) -> None:
        self.controls["is_fixed"], self.controls["smallest"] = is_fixed, smallest

    def begin_stretch(self, t: float, inputs: GroupInputs) -> None:
        self.inputs = inputs
        self._segments, has_segments = inputs.segments(t)
        self.controls["segments"] = 0
        if self._segments is not None:
            self.controls["segments"] = np.where(has_segments, addresses(self._segments), 0)
            self.controls["input_lanes"] = self._segments.shape[-1]

    def fill(self) -> int:
        """Fill the inputs of the present group at its stage times; 1 if a function of the user failed."""
        try:
            self.failures = self.inputs.fill(self.driver.group, self.stage_times, self.stage_inputs)
        except BaseException as error:
            self._error = error
            return 1
        return bool(self.failures)

    def fill_readings(self) -> int:
        """Fill the same for readings, with nan where a function fails."""
        try:
            self.inputs.fill(self.driver.group, self.stage_times, self.stage_inputs)
        except Exception:
            self.stage_inputs[:] = np.nan
        return 0

    def drive(self, check: Callable[[], None]) -> Iterator[tuple[int, DriverStatus]]:
        self.driver.group, self.failures = 0, {}
        while self.driver.group < self.lanes.groups:
            check()
            if self.driver.advance():
                if self._error is not None:
                    raise self._error
                status = DriverStatus(int(self.driver.batch["status"]))
                if status == DriverStatus.COULD_NOT_RUN:
                    raise RuntimeError("the machine code of the steps could not be run; native=False does without it")
                yield self.driver.group, status
                self.driver.group += 1

    def rows(self, group: int) -> int:
        return int(self.controls["steps"][group])

    def settle(self, group: int, row: int) -> None:
        self.states[group] = self.path[row]
        self.steps[group] += row

    def may_have_event(self, group: int, lane: int) -> bool:
        return bool(self.beyond[group, lane])

    def copy_lane(self, group: int, source: int, target: int) -> None:
        self.is_alive[group, target] = 0
        for each in (*self._by_lane, self.states, self.numbers, self.sizes, self.unusual):
            each[group, ..., target] = each[group, ..., source]
        for each in (self.error_limits, self.unsolved_limits, self._solved):
            each[group, target] = each[group, source]

    def stop_group(self, group: int) -> None:
        self.is_active[group] = 0


def addresses(array: Any) -> Any:
    """Return the addresses of the entries of an array along its first axis."""
    return np.asarray(array.ctypes.data + array.strides[0] * np.arange(len(array)) * (len(array) > 1), dtype=np.uintp)


def _rows(*parts: Array) -> list[Array]:
    """Return arrays (groups, entries, lanes) as one row each, (groups, 1, entries, lanes)."""
    return [np.ascontiguousarray(each)[:, None] for each in parts]
