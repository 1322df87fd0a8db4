"""Arrays of the groups of a batch: what their driver needs, and what it finds on their nodes.

By lane: how far coordinates went and may go, oscillations that samples may not show, extremes of readings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from flexarm.codegen.groups import CONTROL_TYPE, LONGEST_PASS_S, GroupDriver
from flexarm.dynamics.arguments import POSITION_TOLERANCE
from flexarm.dynamics.bodies import Coordinate
from flexarm.foundation.validation import Array
from flexarm.integrators.step_size import SMALLEST_STEP, STEP_ERROR_SHARE, Tolerance
from flexarm.results.step_history import CUBIC, LOW_ORDER, WITH_RATES
from flexarm.results.step_history import EQUAL_TIMES as TIME_ROUNDING
from flexarm.results.stiffening_check import FREE_FREQUENCY_ERROR, HIGHER_FREQUENCY_ERROR, HIGHER_MODES
from flexarm.results.vibration import ABOVE_ERRORS, MIN_SWING_SHARE
from flexarm.simulation.events import MAX_NODE_ANGLE, MAX_STOP_OVERRUN
from flexarm.simulation.run_checks import AT_LEAST
from flexarm.sweeps.ensemble.compiled import LaneStepper
from flexarm.sweeps.ensemble.lanes import ROUGH, Extremes, MemberArrays

CAPACITY = 256  # steps of a group in one call of the driver,
MAX_PATH_BYTES = 4e6  # unless they take more memory than this
LEAST_CAPACITY = 16
SWINGS = ("link_bends", "phases", "phase_errors", "swing_far_times", "swing_bends", "far_bends")
COPIED = ("sizes", "far", "turns", "lower", "upper", "unusual", "share", "allowed", "solved")
"""Arrays in which a lane without a member has what another lane of its group has."""


class GroupArrays:
    """Arrays and the driver of the groups of a batch.

    Attributes
    ----------
    controls : ndarray of CONTROL
        By group, time, stop and step size, and where its arrays are.
    states : ndarray, shape (groups, entries, lanes)
    times, path : ndarray
        Nodes of the group that was driven last; `errors` and `left` are of its last attempt, (measures, lanes).
    furthest : ndarray, shape (groups, coordinates, lanes)
        How far each coordinate went.
    living : ndarray of int, shape (groups, lanes)
        All bits of lanes whose member has not ended; `is_active` of groups with such lanes.
    swings, fast_swings : ndarray of int, shape (groups, coordinates, lanes)
        Number of swings from one turning point to the next, and of those that are faster than a sample.
    """

    def __init__(
        self,
        stepper: LaneStepper,
        crew: MemberArrays,
        states: Array,
        tolerance: Tolerance,
        is_fixed: bool,
        wanted: Array,
        reads_nodes: bool,
        checks_all: bool,
        fill_inputs: Callable[[], int],
        fill_readings: Callable[[], int],
    ) -> None:
        at, arrays, method, plant = stepper.layout, stepper.arrays, stepper.method, stepper.plant
        groups, lanes, stages = arrays.groups, arrays.lanes, len(stepper.nodes)
        by_lane = (groups, lanes)
        self.arrays, self.states, self.duration = arrays, states, tolerance.horizon
        self.capacity = max(LEAST_CAPACITY, min(CAPACITY, int(MAX_PATH_BYTES / (8 * at.size * lanes))))
        self.times, self.path = np.zeros(self.capacity + 1), np.zeros((self.capacity + 1, at.size, lanes))
        self.errors, self.left = np.zeros((2, stepper.code.measures, lanes))
        self.inputs, self.stage_times = np.zeros((stages, plant.input_count, lanes)), np.zeros(stages)
        self.unsolved = np.zeros(by_lane, dtype=np.int64)  # steps of fixed size
        self.living, self.is_active = np.full(by_lane, -1, dtype=np.int64), np.ones(groups, dtype=np.int64)
        self.steps, self.samples, self._taken = np.zeros((3, groups), dtype=np.int64)
        self.extremes = Extremes(arrays, stepper.readings, self.samples)

        slack, half = POSITION_TOLERANCE * (crew.upper - crew.lower), crew.slideways * (0.5 + MAX_STOP_OVERRUN)
        by_member = {
            "sizes": crew.sizes,
            "far": (1 - ROUGH) * crew.far * crew.sizes,
            "turns": crew.turns,
            "lower": np.hstack([crew.lower - slack, crew.slideways / 2 - half]),
            "upper": np.hstack([crew.upper + slack, crew.slideways / 2 + half]),
        }
        tolerances = {"share": STEP_ERROR_SHARE * crew.allowed, "allowed": crew.allowed, "solved": crew.solved}
        self._packed = {name: arrays.packed(each) for name, each in by_member.items()}
        self._packed |= {name: arrays.packed(each[:, None])[:, 0] for name, each in tolerances.items()}
        self.unusual = self._packed["unusual"] = np.full(by_lane, AT_LEAST)
        self.sizes, self.share, self.allowed = (self._packed[name] for name in ("sizes", "share", "allowed"))
        self.furthest, self.fastest = np.zeros(self.sizes.shape), np.zeros(by_lane)
        self.beyond = np.zeros(by_lane, dtype=np.int64)
        self.swings, self.fast_swings = np.zeros((2, *self.sizes.shape), dtype=np.int64)
        self._signals = signals = crew.signals
        by_signal = (groups, len(signals), lanes)
        start = signals.shapes @ (states[:, at.q] / self.sizes)
        self._swings = {name: np.zeros(by_signal) for name in SWINGS}
        self._swings |= {name: start.copy() for name in ("swing_begin", "swing_far")}
        self._swings["swing_begin_times"] = np.full(by_signal, -np.inf)
        self._swings["is_falling"] = np.zeros(by_signal, dtype=np.int64)

        self._nodes, self._start = np.array(stepper.nodes), np.zeros((at.size, lanes))
        self._horizon = np.full(lanes, self.duration)
        self.controls = self._controls(stepper, is_fixed)
        self._kinds = _kinds(plant.structure.equations.chain.coordinates.all)
        bounded = np.array([*crew.limited, *crew.sliding], dtype=np.int64)
        reaching = np.repeat([1.0, 0.0], [len(crew.limited), len(crew.sliding)])  # limits may be met between nodes
        loop_arrays = {
            "states": states,
            "buffer": np.zeros(max(2 * stages, at.n * lanes)),
            "is_active": self.is_active,
            "places": bounded,
            "kinds": self._kinds,
            "wanted": wanted,
            "quintic": np.ascontiguousarray(WITH_RATES, dtype=float),
            "cubic": np.ascontiguousarray(CUBIC, dtype=float),
            "reaching": reaching,
            "taken": self._taken,
            "samples": self.samples,
            "steps": self.steps,
            "living": self.living,
            "furthest": self.furthest,
            "fastest": self.fastest,
            "beyond": self.beyond,
            "range": self.extremes.since,
            "node_range": self.extremes.nodes,
            "first": self.extremes.first,
            "turned_at": np.ascontiguousarray(states[:, at.q]),
            "turning_times": np.full(self.sizes.shape, -np.inf),
            **self._swings,
            "signal_links": signals.links,
            "signal_stations": signals.stations,
            "signal_shapes": signals.shapes,
            "fast_errors": np.pi * np.where(signals.may_be_fast, HIGHER_FREQUENCY_ERROR, FREE_FREQUENCY_ERROR),
            "deflections": np.zeros((3, self.capacity + 1, lanes)),
            "fast_limits": arrays.packed(np.pi / (HIGHER_MODES * np.exp(crew.slowest))[:, None])[:, 0],
            "swings": self.swings,
            "fast_swings": self.fast_swings,
            **{name: self._packed[name] for name in ("sizes", "far", "turns", "lower", "upper", "unusual")},
        }
        self.driver = GroupDriver(
            stepper.library,
            self.controls,
            fill_inputs,
            fill_readings,
            loop_arrays,
            every=at.every,
            coordinates=at.n,
            bounded=len(bounded),
            readings=stepper.readings.count,
            wanted_count=len(wanted),
            reads_nodes=reads_nodes,
            is_low_order=method.order <= LOW_ORDER,
            checks_all=checks_all,
            close=TIME_ROUNDING * wanted[-1],
            sample=float(wanted[1] - wanted[0]),
            smallest_share=MIN_SWING_SHARE,
            error_level=ABOVE_ERRORS * tolerance.rtol,
            largest_turn=float((1 - ROUGH) * MAX_NODE_ANGLE),
            slow_error=np.pi * FREE_FREQUENCY_ERROR,
            signals=len(signals),
        )

    def _controls(self, stepper: LaneStepper, is_fixed: bool) -> np.ndarray:
        """Return the records of the driver, one for each group."""
        at, method = stepper.layout, stepper.method
        controls = np.zeros(self.arrays.groups, CONTROL_TYPE)
        values = {
            "states": at.size,
            "measures": stepper.code.measures,
            "columns": stepper.plant.input_count,
            "stages": len(stepper.nodes),
            "first_acceleration": at.every_a.start,
            "first_auxiliary": at.every_aux.start,
            "accelerations": at.every,
            "block": max(1, method.patience // 2),
            "is_fixed": is_fixed,
            "exponent": -1 / method.estimate,
            "smallest": SMALLEST_STEP * min(1.0, self.duration),
            "patience": np.inf if method.explicit else LONGEST_PASS_S,  # explicit steps are limited between calls
            "shortest_taken": np.inf,
        }
        shared = {
            "nodes": self._nodes,
            "horizon": self._horizon,
            "stage_times": self.stage_times,
            "inputs": self.inputs,
            "times": self.times,
            "path": self.path,
            "errors": self.errors,
            "left": self.left,
            "start": self._start,
        }
        by_group = {
            "numbers": stepper.numbers,
            "solved": self._packed["solved"],
            "error_limit": self.share,
            "unsolved_limit": self.allowed,
            "unsolved_by_lane": self.unsolved,
        }
        for name, value in values.items():
            controls[name] = value
        for name, each in shared.items():
            controls[name] = each.ctypes.data
        for name, each in by_group.items():
            controls[name] = addresses(each)
        return controls

    def connect_inputs(self, segments: np.ndarray | None, has_segments: np.ndarray) -> None:
        """Use these segments, (groups or 1, columns, lanes or 1), in groups that have them."""
        self._segments = segments
        self.controls["segments"] = 0
        if segments is not None:
            self.controls["segments"] = np.where(has_segments, addresses(segments), 0)
            self.controls["input_lanes"] = segments.shape[-1]

    @property
    def phase_errors(self) -> Array:
        """Largest error of each signal by the phase of the vibration, as a share of the length of its link, (members,
        signals); the last swing, which has not ended, counts."""
        rows, known = self.arrays.rows, self._swings
        phase = rows(known["phases"]) + np.pi * FREE_FREQUENCY_ERROR * rows(known["swing_bends"])
        swing = np.abs(rows(known["swing_far"] - known["swing_begin"])) / 2
        return np.asarray(np.maximum(rows(known["phase_errors"]), swing * np.minimum(2.0, phase)))

    @property
    def largest_bends(self) -> Array:
        """Largest deflection of the link of each signal, as a share of its length, (members, signals)."""
        return np.asarray(np.sqrt(self.arrays.rows(self._swings["link_bends"])))

    def copy_lane(self, group: int, source: int, target: int) -> None:
        """Let a lane have the bounds and tolerances of another one of its group."""
        for name in COPIED:
            each = self._packed[name]
            each[group, ..., target] = each[group, ..., source]


def addresses(array: np.ndarray) -> np.ndarray:
    """Return the addresses of the entries of an array along its first axis."""
    return np.asarray(array.ctypes.data + array.strides[0] * np.arange(len(array)) * (len(array) > 1), dtype=np.uintp)


def _kinds(coordinates: Sequence[Coordinate]) -> np.ndarray:
    """Return numbers that coordinates of one link and kind, elastic or not, share."""
    of_each = [(each.link, each.kind == "elastic") for each in coordinates]
    every = [*dict.fromkeys(of_each)]
    return np.array([every.index(each) for each in of_each], dtype=np.int64)
