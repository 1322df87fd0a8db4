"""What is found on the nodes of members while they run: extremes of readings, swings, and how far coordinates go.

The nodes of a group are evaluated by `codegen/groups.c` as soon as its driver returns; no nodes are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.groups import GroupDriver
from flexarm.dynamics.arguments import POSITION_TOLERANCE
from flexarm.dynamics.bodies import Coordinate
from flexarm.foundation.validation import Array
from flexarm.integrators.lanes import Lanes
from flexarm.integrators.step_size import Tolerance
from flexarm.results.energy_balance import REST_SHARE, ROUNDING_SHARE
from flexarm.results.step_history import CUBIC, LOW_ORDER, WITH_RATES
from flexarm.results.step_history import EQUAL_TIMES as TIME_ROUNDING
from flexarm.results.stiffening_check import FREE_FREQUENCY_ERROR, HIGHER_FREQUENCY_ERROR, HIGHER_MODES
from flexarm.results.vibration import ABOVE_ERRORS, MIN_SWING_SHARE
from flexarm.simulation.events import MAX_NODE_ANGLE, MAX_STOP_OVERRUN, Event
from flexarm.sweeps.ensemble.lane_code import ReadingLayout
from flexarm.sweeps.ensemble.lane_stepper import LaneStepper
from flexarm.sweeps.ensemble.member_data import SIZE_TOLERANCE, MemberData
from flexarm.sweeps.measures import MIN_SAMPLE_COUNT

SWINGS = ("link_bends", "phases", "phase_errors", "swing_far_times", "swing_bends", "far_bends")
MEASURE_NAMES = ("residual", "kinetic", "elastic", "gravity", "drive", "work", "dissipated", "balance", "end")


@dataclass(frozen=True)
class Sampling:
    """Samples of the members of a batch.

    Parameters
    ----------
    times : ndarray
        Times of the samples (s).
    includes_nodes : bool
        True if nodes count as samples.
    """

    times: Array
    includes_nodes: bool


class NodeStatistics:
    """Extremes of the readings of members, and the vibration of their deflections. (`Observer`.)

    Attributes
    ----------
    furthest : ndarray, shape (groups, coordinates, lanes)
        How far each coordinate went.
    swings, fast_swings : ndarray of int, shape (groups, coordinates, lanes)
        Number of swings from one turning point to the next, and of those that are faster than a sample.
    """

    def __init__(
        self,
        stepper: LaneStepper,
        members: MemberData,
        sampling: Sampling,
        tolerance: Tolerance,
        last_jumps: Array,
        looks_at_all: bool,
    ) -> None:
        self.stepper, self.lanes, self._duration = stepper, stepper.lanes, tolerance.horizon
        self._last_jumps = stepper.lanes.pack_values(last_jumps)
        lanes, groups, sizes = stepper.lanes, stepper.lanes.groups, stepper.sizes
        self.samples, taken = np.zeros((2, groups), dtype=np.int64)
        self.extremes = Extremes(lanes, stepper.readings, self.samples)
        slack, half = POSITION_TOLERANCE * (members.upper - members.lower), members.slideways * (0.5 + MAX_STOP_OVERRUN)
        by_lane = {
            "far": (1 - SIZE_TOLERANCE) * members.far * members.sizes,
            "turns": members.turns,
            "lower": np.hstack([members.lower - slack, members.slideways / 2 - half]),
            "upper": np.hstack([members.upper + slack, members.slideways / 2 + half]),
        }
        bounds = {name: lanes.pack(each) for name, each in by_lane.items()}
        self.furthest, self.swings, self.fast_swings = (np.zeros(sizes.shape, kind) for kind in (float, int, int))
        at, method, signals = stepper.layout, stepper.method, members.signals
        by_signal, start = (groups, len(signals), lanes.lanes), signals.shapes @ (stepper.states[:, at.q] / sizes)
        self._signals = {name: np.zeros(by_signal) for name in SWINGS}
        self._signals |= {name: start.copy() for name in ("swing_begin", "swing_far")}
        self._signals["swing_begin_times"] = np.full(by_signal, -np.inf)
        self._signals["is_falling"] = np.zeros(by_signal, dtype=np.int64)
        bounded = np.array([*members.limited, *members.sliding], dtype=np.int64)
        arrays = {
            "states": stepper.states,
            "buffer": np.zeros(max(2 * len(stepper.nodes), at.n * lanes.lanes)),
            "is_active": stepper.is_active,
            "places": bounded,
            "kinds": _kinds(stepper.plant.structure.equations.chain.coordinates.all),
            "wanted": sampling.times,
            "quintic": np.ascontiguousarray(WITH_RATES, dtype=float),
            "cubic": np.ascontiguousarray(CUBIC, dtype=float),
            "reaching": np.repeat([1.0, 0.0], [len(members.limited), len(members.sliding)]),  # limits: between nodes
            "taken": taken,
            "samples": self.samples,
            "steps": stepper.steps,
            "living": stepper.is_alive,
            "furthest": self.furthest,
            "fastest": np.zeros((groups, lanes.lanes)),
            "beyond": stepper.beyond,
            "range": self.extremes.since,
            "node_range": self.extremes.nodes,
            "first": self.extremes.first,
            "turned_at": np.ascontiguousarray(stepper.states[:, at.q]),
            "turning_times": np.full(sizes.shape, -np.inf),
            **self._signals,
            "signal_links": signals.links,
            "signal_stations": signals.stations,
            "signal_shapes": signals.shapes,
            "fast_errors": np.pi * np.where(signals.may_be_fast, HIGHER_FREQUENCY_ERROR, FREE_FREQUENCY_ERROR),
            "deflections": np.zeros((3, stepper.capacity + 1, lanes.lanes)),
            "fast_limits": lanes.pack_values(np.pi / (HIGHER_MODES * np.exp(members.slowest))),
            "swings": self.swings,
            "fast_swings": self.fast_swings,
            "sizes": sizes,
            "unusual": stepper.unusual,
            **bounds,
        }
        self.driver = GroupDriver(
            stepper.library,
            stepper.controls,
            stepper.fill,
            stepper.fill_readings,
            arrays,
            every=at.every,
            coordinates=at.n,
            bounded=len(bounded),
            readings=stepper.readings.count,
            wanted_count=len(sampling.times),
            reads_nodes=sampling.includes_nodes,
            is_low_order=method.order <= LOW_ORDER,
            checks_all=looks_at_all,
            close=TIME_ROUNDING * sampling.times[-1],
            sample=float(sampling.times[1] - sampling.times[0]),
            smallest_share=MIN_SWING_SHARE,
            error_level=ABOVE_ERRORS * tolerance.rtol,
            largest_turn=float((1 - SIZE_TOLERANCE) * MAX_NODE_ANGLE),
            slow_error=np.pi * FREE_FREQUENCY_ERROR,
            signals=len(signals),
        )
        stepper.connect(self.driver, list(bounds.values()))

    # --- while members run ---

    def begin(self, states: Array) -> None:
        """Do nothing: the first node is evaluated with the first step."""

    def begin_stretch(self, t: float) -> None:
        """Separate readings at the last jump of the inputs of members."""
        self.extremes.separate((self._last_jumps > 0) & (np.abs(self._last_jumps - t) <= 1e-12 * self._duration))

    def count(self, group: int, control: Any, excess: int) -> None:
        """Do nothing: steps are counted by group."""

    def accept(self, group: int, times: Array, path: Array, events: Mapping[int, Event], jumped: bool) -> None:
        for member, event in sorted(events.items(), key=lambda each: each[1].time):
            self.driver.read_until(event.time)
            self.extremes.freeze(member)
        self.driver.finish()

    def end(self, member: int) -> None:
        self.extremes.freeze(member)

    # --- results ---

    @property
    def phase_errors(self) -> Array:
        """Largest error of each signal by the phase of the vibration, as a share of the length of its link, (members,
        signals); the last swing, which has not ended, counts."""
        rows, known = self.lanes.unpack, self._signals
        phase = rows(known["phases"]) + np.pi * FREE_FREQUENCY_ERROR * rows(known["swing_bends"])
        swing = np.abs(rows(known["swing_far"] - known["swing_begin"])) / 2
        return np.asarray(np.maximum(rows(known["phase_errors"]), swing * np.minimum(2.0, phase)))

    @property
    def largest_bends(self) -> Array:
        """Largest deflection of the link of each signal, as a share of its length, (members, signals)."""
        return np.asarray(np.sqrt(self.lanes.unpack(self._signals["link_bends"])))


class Extremes:
    """Smallest and largest value of each reading of each member, (groups, 2, readings, lanes).

    `since` the last jump of the inputs, from which the residual vibration is computed, and before; at `nodes`, where
    energies have no error of the interpolation. `first`: the first readings; `samples`: their number by group.
    """

    def __init__(self, lanes: Lanes, readings: ReadingLayout, samples: NDArray[np.int64]) -> None:
        self._lanes, self._at, self._samples = lanes, readings, samples
        shape = (3, lanes.groups, 2, readings.count, lanes.lanes)
        self._before, self.since, self.nodes = np.full(shape, np.inf) * np.array([1, -1])[:, None, None]
        self._samples_before = np.zeros((lanes.groups, lanes.lanes), dtype=int)
        self.first = np.full((lanes.groups, readings.count, lanes.lanes), np.nan)
        self._frozen: dict[int, list[Array]] = {}

    def separate(self, where: NDArray[np.bool_]) -> None:
        """Separate readings before the last jump of inputs from those since, in these lanes, (groups, lanes)."""
        if not where.any():
            return
        self._samples_before[where] = np.broadcast_to(self._samples[:, None], where.shape)[where]
        everywhere = np.broadcast_to(where[:, None, None], self.since.shape)
        for side, (known, nothing) in enumerate(zip(self._all, (np.inf, -np.inf), strict=True)):
            self._before[:, side][everywhere[:, side]] = known[everywhere[:, side]]
            self.since[:, side][everywhere[:, side]] = nothing

    def freeze(self, member: int) -> None:
        """Keep the readings of a member: its lane will repeat another one."""
        if member not in self._frozen:
            self._frozen[member] = [self._lanes.of(each, member).copy() for each in self._every]

    def thaw(self) -> None:
        """Return lanes to the members that have ended."""
        for member, kept in self._frozen.items():
            group, lane = self._lanes.place(member)
            for each, own in zip(self._every, kept, strict=True):
                each[group, ..., lane] = own

    @property
    def _every(self) -> tuple[Array, Array, Array]:
        return self._before, self.since, self.nodes

    @property
    def _all(self) -> tuple[Array, Array]:
        """Smallest and largest of all readings, (groups, readings, lanes) each."""
        return np.minimum(self._before[:, 0], self.since[:, 0]), np.maximum(self._before[:, 1], self.since[:, 1])

    def energy_errors(self, moderate: Array) -> Array:
        """Return what the integration added or removed, as a share of the energy that moved, by member.

        `moderate`: energy of robots that move about once in their run (J); where less moved the share is zero, as in
        `results/energy_balance.py`.
        """
        (low, high), (least, most) = self._all, self.nodes.swapaxes(0, 1)
        at, first = self._at, self.first[:, self._at.gained]
        balance = np.maximum(0.0, np.maximum(most[:, at.gained] - first, first - least[:, at.gained]))
        moved = np.maximum(high[:, 0], (high - low)[:, at.stores].max(axis=1))
        every = np.maximum(np.abs(high), np.abs(low))[:, at.stores].max(axis=1)
        balance, moved, every = self._lanes.unpack(np.stack([balance, moved, every], axis=1)).T
        moving = np.isfinite(balance) & (moved > np.maximum(REST_SHARE * moderate, ROUNDING_SHARE * every))
        return np.where(moving, balance / np.where(moving, moved, 1.0), 0.0)

    def measures(self, last: Array, ends: Array, duration: float) -> dict[str, Array]:
        """Return the usual measures by name, a row for each member.

        `last`: readings at the end, (groups, readings, lanes); `ends`: when that was, (groups, lanes). The residual
        vibration of runs that ended early is nan.
        """
        self.since[:, 0], self.since[:, 1] = np.fmin(self.since[:, 0], last), np.fmax(self.since[:, 1], last)
        (low, high), at, rows = self._all, self._at, self._lanes.unpack
        swing = np.sqrt(np.square((self.since[:, 1] - self.since[:, 0])[:, at.tip] / 2).sum(axis=1))
        samples = self._samples[:, None] - self._samples_before + 1
        residual = np.where((ends >= duration) & (samples >= MIN_SAMPLE_COUNT), swing, np.nan)
        balance = last[:, at.gained] - self.first[:, at.gained]
        single = np.stack([residual, *np.moveaxis(last[:, at.stores], 1, 0), balance, ends], axis=1)
        return {
            "peak_deflection": rows(np.sqrt(high[:, at.deflections])),
            "tip": rows(last[:, at.tip]),
            "peak_torque": rows(np.maximum(np.abs(high), np.abs(low))[:, at.torques]),
            **dict(zip(MEASURE_NAMES, rows(single).T.copy(), strict=True)),
        }


def _kinds(coordinates: Sequence[Coordinate]) -> NDArray[np.int64]:
    """Return equal numbers for coordinates of one link that are elastic, or not."""
    of_each = [(each.link, each.kind == "elastic") for each in coordinates]
    every = [*dict.fromkeys(of_each)]
    return np.array([every.index(each) for each in of_each], dtype=np.int64)
