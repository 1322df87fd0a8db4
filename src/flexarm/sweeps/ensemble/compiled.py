"""The compiled code of a plant and a method for lanes, shared by all batches that want the same.

Functions of a plant for many robots at once: starts of steps, readings of states, small motions.

Inputs of the members of a batch at any times, shared by all or of each member.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.compiler import Build
from flexarm.codegen.driver import SEGMENT
from flexarm.codegen.groups import group_source
from flexarm.codegen.library import building
from flexarm.codegen.simd_library import LaneFunction, LaneLibrary, Width, widest
from flexarm.foundation.interrupts import StopRun
from flexarm.foundation.validation import Array
from flexarm.integrators.compiled_step import report
from flexarm.integrators.inputs import SAME, Schedule
from flexarm.integrators.method import Method
from flexarm.integrators.plant import Plant
from flexarm.integrators.step_size import MOST_COORDINATES, LocalSpectrum, small_motions
from flexarm.results.step_history import LOW
from flexarm.sweeps.ensemble.lanes import LaneArrays, ReadingLayout

STEP, START, READ, SMALL = NAMES = ("flexarm_step", "flexarm_start", "flexarm_read", "flexarm_small_motions")
REMEMBERED = 16  # codes that are kept in memory; all of them are kept on disk

_codes: OrderedDict[tuple[object, ...], LaneCode] = OrderedDict()


class LaneCode:
    """Steps, starts, what is read of states, and small motions of one plant and method, for several robots at once."""

    def __init__(self, plant: Plant, method: Method, width: Width) -> None:
        self.plant, self.method, self.width = plant, method, width
        decides = None if method.identity is None else (*plant.identity, method.identity)

        def make() -> list[ca.Function]:
            made = (method.step(plant), plant.start, read(plant, method.order), small_motions(plant))
            return [_named(name, each) for name, each in zip(NAMES, made, strict=True)]

        self._library = LaneLibrary(NAMES, make, decides, width, group_source(STEP, READ))

    @cached_property
    def library(self) -> ctypes.CDLL | None:
        """None where there is no compiler, or it failed (one line says why)."""
        with building:
            return self._library.loaded

    @property
    def build(self) -> Build:
        """How the library was compiled."""
        return self._library.build

    @cached_property
    def measures(self) -> int:
        """How many errors a step tells."""
        with building:
            return self.plant.measures


def lane_code_of(plant: Plant, method: Method, width: Width | None = None) -> LaneCode:
    """Made, or found where it was made before."""
    width = width or widest()
    if method.identity is None:
        return LaneCode(plant, method, width)
    key = (*plant.identity, method.identity, width)
    with building:
        if key not in _codes:
            _codes[key] = LaneCode(plant, method, width)
            while len(_codes) > REMEMBERED:
                _codes.popitem(last=False)
        _codes.move_to_end(key)
        return _codes[key]


def read(plant: Plant, order: int) -> ca.Function:
    """(q, v, a, u, work and loss, numbers) -> what a run tells of a sample, in one column, of whose entries only the
    largest and the least are wanted (`readings.Readings` names them). States between steps are put onto the
    constraints; what drives a joint follows from the equations, as in `results/outputs.py`."""
    sizes = (plant.n, plant.n, plant.n, plant.input_count, 2)
    q, v, a, u, spent = (ca.MX.sym(name, size) for name, size in zip("qvaus", sizes))
    solver, forces, here, rates, gains = plant.constraint_solver, None, q, v, a
    if solver is not None and solver.projects:
        here, rates = plant.projected(q, v, u)
    if plant.driven and order > LOW:
        gains, forces = plant.motion(here, rates, u)
    elif plant.driven and solver is not None:
        about = solver.at(here, plant.factor(here, rates, u, 0, 0))
        forces = solver._multipliers(about, plant.residual(here, rates, gains, u))
    energies, _, tip, missing, bends = report(plant)(here, rates, gains, u, plant.numbers)
    if forces is not None and solver is not None:
        missing = missing + solver.pull(here, forces)[plant.driven]
    torques = plant.commanded(here, rates, u, missing)
    gained = ca.sum1(energies) - spent[0] + spent[1]
    column = ca.vertcat(energies, spent, gained, tip, ca.sum1(bends**2).T, torques)
    return plant.step_function("read", [q, v, a, u, spent], [column])


def _named(name: str, function: ca.Function) -> Any:
    """The same function under another name."""
    inputs = function.mx_in()
    return ca.Function(name, inputs, function.call(inputs))


class LaneStepper:
    """Compiled functions of a plant and a method with the parameters of each member, (members, numbers)."""

    def __init__(self, code: LaneCode, numbers: Array) -> None:
        assert code.library is not None
        self.library, self.code, self.method = code.library, code, code.method
        self.plant, self.layout = code.plant, code.plant.layout
        self.arrays = LaneArrays(len(numbers), code.width.lanes)
        self.nodes = self.method.nodes
        self.numbers = self.arrays.packed(numbers)[:, None]
        self.readings = ReadingLayout(len(self.plant.structure.equations.chain.bodies), self.plant.nu)

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]:
        """Return accelerations, powers put in and lost, with constraints their multipliers, (groups, entries, lanes)
        each, for first steps of these sizes (s, by group); inputs are (groups or 1, entries, lanes)."""
        at, lanes, groups = self.layout, self.arrays.lanes, self.arrays.groups
        q, v = (np.ascontiguousarray(states[:, part])[:, None] for part in (at.every_q, at.every_v))
        by_group = np.array([self.method.softening(each) for each in sizes.tolist()], dtype=float).reshape(groups, -1)
        softening = [np.repeat(each[:, None, None, None], lanes, axis=3) for each in by_group.T]
        entries = [at.every, 1, 1, *([at.multipliers] if at.multipliers else [])]
        out = [np.zeros((groups, 1, size, lanes)) for size in entries]
        given = [q, v, np.ascontiguousarray(inputs)[:, None], *softening, self.numbers]
        LaneFunction(self.library, START, given, out)(1)
        return [each[:, 0] for each in out]

    def read(self, states: Array, inputs: Array) -> Array:
        """Return readings of states with these inputs, (groups, readings, lanes); both are (groups, entries, lanes)."""
        at, lanes = self.layout, self.arrays.lanes
        parts = [states[:, each] for each in (at.every_q, at.every_v, at.every_a)]
        given = [np.ascontiguousarray(each)[:, None] for each in (*parts, inputs, states[:, [at.work, at.lost]])]
        out = np.empty((self.arrays.groups, 1, self.readings.count, lanes))
        LaneFunction(self.library, READ, [*given, self.numbers], [out])(1)
        return out[:, 0]

    def spectra(self, states: Array, inputs: Array) -> list[LocalSpectrum]:
        """Return the spectrum of small motions of every member about its state."""
        at, lanes, free = self.layout, self.arrays.lanes, len(self.plant.free)
        if self.plant.shared is not None or free > MOST_COORDINATES:
            return [LocalSpectrum.of(*np.zeros((3, 0, 0)))] * self.arrays.members
        q, v = (np.ascontiguousarray(states[:, part])[:, None] for part in (at.every_q, at.every_v))
        out = [np.zeros((self.arrays.groups, 1, free * free, lanes)) for _ in range(3)]
        given = [q, v, np.ascontiguousarray(inputs)[:, None], self.numbers]
        LaneFunction(self.library, SMALL, given, out)(1)
        square = (self.arrays.members, free, free)
        matrices = [self.arrays.rows(each[:, 0]).reshape(square).swapaxes(1, 2) for each in out]
        return [LocalSpectrum.of(*each) for each in zip(*matrices, strict=True)]


class LaneInputs:
    """Schedules, of which each member follows one.

    Parameters
    ----------
    which : ndarray of int, shape (members,)
        The place of the schedule of each member.
    parameters : ndarray, shape (members, parameters), or None
        Gains and limits of the law of each member; None where all have those of their schedule.
    """

    def __init__(
        self,
        schedules: Sequence[Schedule],
        which: NDArray[np.intp],
        parameters: Array | None,
        plant: Plant,
        arrays: LaneArrays,
    ) -> None:
        self.schedules, self.which, self._arrays = list(schedules), which.copy(), arrays
        self._parameters = None if parameters is None else parameters.copy()
        self._before = self.which.copy(), None if parameters is None else parameters.copy()
        self._of_law, self.count = plant.input_places[7], plant.input_count
        self._table: np.ndarray | None = None
        self._same = 0.0

    @property
    def differ(self) -> bool:
        """Whether members may have different inputs."""
        return len(self.schedules) > 1 or self._parameters is not None

    def copy_lane(self, group: int, source: int, target: int) -> None:
        """Let a lane have the inputs of another one of its group."""
        if self._table is not None and self.differ:
            self._table[group, :, target] = self._table[group, :, source]
        one, other = (group * self._arrays.lanes + lane for lane in (source, target))
        if other < self._arrays.members:
            self.which[other] = self.which[one]
            if self._parameters is not None:
                self._parameters[other] = self._parameters[one]

    def restore(self) -> None:
        """Let every member have its own inputs again."""
        self.which, self._parameters = self._before

    # --- values ---

    def at(self, times: Array) -> tuple[Array, dict[int, StopRun]]:
        """Return inputs at times (s) up to the first at which a function of the user fails, (groups or 1, times,
        entries, lanes), and the failures there by the place of their schedule."""
        found, failures = {}, {}
        for place in np.unique(self.which).tolist() if len(self.schedules) > 1 else [0]:
            found[place], failure = self.schedules[place].inputs_until_failure(times)
            if failure is not None:
                failures[place] = failure
        first = min(map(len, found.values()))
        failures = {place: each for place, each in failures.items() if len(found[place]) == first}
        return self._packed({place: rows[:first] for place, rows in found.items()}), failures

    def _packed(self, found: dict[int, Array]) -> Array:
        """Return rows of schedules as (groups or 1, times, entries, lanes)."""
        if not self.differ:
            (rows,) = found.values()
            packed = np.empty((1, *rows.shape, self._arrays.lanes))
            packed[...] = rows[:, :, None]
            return packed
        count = len(next(iter(found.values())))
        members = np.empty((self._arrays.members, count, self.count))
        for place, rows in found.items():
            members[self.which == place] = rows
        if self._parameters is not None:
            members[:, :, self._of_law] = self._parameters[:, None]
        packed = self._arrays.packed(members.reshape(len(members), -1))
        return packed.reshape(self._arrays.groups, count, self.count, self._arrays.lanes)

    def fill_group(self, group: int, times: Array, out: Array) -> dict[int, StopRun]:
        """Fill the inputs of a group at times (s), (times, entries, lanes); rows from the time of a failure on are not
        numbers. Return the failures by the place of their schedule."""
        failures: dict[int, StopRun] = {}
        rows: dict[int, Array] = {}
        for lane in range(self._arrays.lanes):
            member = min(group * self._arrays.lanes + lane, self._arrays.members - 1)
            place = int(self.which[member])
            if place not in rows:
                found, failure = self.schedules[place].inputs_until_failure(times)
                rows[place] = np.full((len(times), self.count), np.nan)
                rows[place][: len(found)] = found
                if failure is not None:
                    failures[place] = failure
            out[:, :, lane] = rows[place]
            if self._parameters is not None:
                out[:, self._of_law, lane] = self._parameters[member]
        return failures

    def at_own_times(self, times: Array) -> Array:
        """Return inputs of each member at a time of its own (s), (groups, entries, lanes); not numbers where a function
        fails."""
        members = np.full((self._arrays.members, self.count), np.nan)
        for place in np.unique(self.which).tolist():
            here = np.flatnonzero(self.which == place)
            distinct, back = np.unique(times[here], return_inverse=True)
            rows = np.full((len(distinct), self.count), np.nan)
            for k, t in enumerate(distinct):
                one, failure = self.schedules[place].inputs_until_failure(np.array([t]))
                if failure is None:
                    rows[k] = one[0]
            members[here] = rows[back]
        if self._parameters is not None:
            members[:, self._of_law] = self._parameters
        return self._arrays.packed(members)

    # --- tables ---

    def tables(self, t: float) -> tuple[np.ndarray | None, np.ndarray]:
        """Return coefficients of the inputs from a stop t until the next one, and the groups that have them.

        Returns
        -------
        segments : ndarray of SEGMENT, shape (groups or 1, columns, lanes or 1), or None
        has_segments : ndarray of bool, shape (groups,)
            False where an input of a member can only be called.
        """
        groups, lanes = self._arrays.groups, self._arrays.lanes
        self._kept = [each.over(self.after(t)) for each in self.schedules]  # they own arrays that segments refer to
        found = [each.segments for each in self._kept]
        if not self.differ:
            self._table = None if found[0] is None else found[0][None, :, None]
            return self._table, np.full(groups, self._table is not None)
        has = np.array([each is not None for each in found])[self.which]
        every = np.stack([np.zeros(self.count, SEGMENT) if each is None else each for each in found])[self.which]
        if self._parameters is not None:
            every["offset"][:, self._of_law] = self._parameters
        more = groups * lanes - len(every)
        every, has = np.concatenate([every, every[-1:].repeat(more, 0)]), np.concatenate([has, has[-1:].repeat(more)])
        self._table = np.ascontiguousarray(every.reshape(groups, lanes, -1).swapaxes(1, 2))
        return self._table, np.asarray(has.reshape(groups, lanes).all(axis=1))

    # --- times ---

    def stops(self, duration: float) -> list[float]:
        """Return times that must be step boundaries: where inputs of any member jump, and the end."""
        every = sorted({time for each in self.schedules for time in each.stops(duration)})
        out: list[float] = []
        self._same = SAME * duration
        for time in every:
            if not out or time > out[-1] + self._same:
                out.append(time)
        out[-1] = duration
        return out

    def after(self, t: float) -> float:
        """Return a time just after the jumps of all members that are at the stop t but for rounding."""
        return t + 2 * self._same if t > 0 and len(self.schedules) > 1 else t

    def ahead(self, t: float, stop: float) -> tuple[float, float]:
        """Return the longest step that resolves the inputs of all members at time t, and until when."""
        found = [each.pace.ahead(t, stop) for each in self.schedules]
        return min(longest for longest, _ in found), min(until for _, until in found)

    @property
    def last_jumps(self) -> Array:
        """By member, the time of the last jump of its inputs (s)."""
        return np.array([each.last_jump for each in self.schedules])[self.which]
