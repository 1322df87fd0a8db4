"""Rows of parameters of the members of a cohort: computed from their robots, or interpolated where they are many.

A row has all that a batch needs of a member: numbers of the plant, sizes, initial state, limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.dynamics.accuracy.validity import STATION_COUNT, deflections
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.system import System
from flexarm.feedback.traced_law import TracedLaw
from flexarm.foundation.messages import collect_warnings
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.loads import loads_of
from flexarm.integrators.step_size import Tolerance
from flexarm.robot import Robot
from flexarm.simulation.events import EventDetector
from flexarm.simulation.initial_state import initial_state
from flexarm.simulation.options import lightest, moving_masses
from flexarm.sweeps.apply_changes import apply_changes, robot_with
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble.member_data import SIZE_TOLERANCE, DeflectionSignals, MemberData
from flexarm.sweeps.ensemble.member_groups import MemberGroup, MemberOfGroup, changes_by_kind
from flexarm.sweeps.ensemble.parameter_interpolation import Scale, Surrogate, surrogate

FOLLOWED_STATIONS = (STATION_COUNT // 2, STATION_COUNT - 1)  # of links: the middle and the tip
MAX_STORED_ROWS = 32
ROW_TOLERANCE = 1e-10  # of the largest entry among those that are compared: accuracy of interpolated rows
MIN_INTERPOLATED = 24  # members: fewer are not worth the nodes of an interpolation
MAX_CORNER_FIELDS = 4  # fields of which all corners are tried
DESCRIPTION_ERRORS = (ValueError, TypeError, KeyError, ArithmeticError)

PARTS = ("numbers", "sizes", "whole", "masses", "limits", "turns", "slideways", "q", "v")
"""Parts of a row, in this order."""
INDEPENDENT = ("whole", "masses", "limits", "slideways")  # parts whose entries are not compared with each other
ROUGH = ("sizes", "turns")  # largest values, by which members are judged, not computed


class OtherStructure(ValueError):
    """The robot of a member is of another structure than that of its cohort."""


@dataclass(frozen=True)
class RowMaker:
    """Makes rows of members that change a `robot` of the structure of `system`, driven as the `schedule` has it."""

    case: SweepCase
    robot: Robot
    system: System
    schedule: Schedule
    _rows: dict[frozenset[tuple[str, Any]], Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    def row(self, changes: Mapping[str, Any]) -> Array:
        """Return the row of a member (read-only).

        Raises
        ------
        OtherStructure
            If its robot is of another structure.
        ValueError
            If there is no such robot.
        """
        key = frozenset(changes.items())
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= MAX_STORED_ROWS:
                self._rows.clear()
            row = self._rows[key] = self._row(changes)
            row.setflags(write=False)
        return row

    def _row(self, changes: Mapping[str, Any]) -> Array:
        kinds = changes_by_kind(changes)
        system = System(robot_with(self.robot, kinds.robot), native=False)
        begun = apply_changes(replace(self.case, robot=system.robot), kinds.state)
        with collect_warnings():  # those that all members have are in `Cohort.warnings`
            q, v = initial_state(system, self.schedule, begun.q0, begun.v0)
        links = system.robot.links
        length, mass = system.robot.size, sum(each.total_mass for each in links) or 1.0
        events = EventDetector(system, None)
        limits = np.array([bounds for bounds, _ in events.limits.values()]).reshape(-1, 2)
        if list(events.limits) != list(self._events.limits) or list(events.ends) != list(self._events.ends):
            raise OtherStructure("other joints have limits")
        every = [
            self._numbers(system),
            system.sizes,
            [length, mass],
            np.concatenate(moving_masses(system.robot)),
            limits.T.ravel(),
            system._unit_turns,
            [extent for _, extent in events.ends.values()],
            q,
            v,
        ]
        return np.concatenate([np.asarray(each, dtype=float) for each in every])

    def _numbers(self, system: System) -> Array:
        """Return the numbers of a robot for functions of the plant."""
        own = system.numbers
        if system.structure is not self.system.structure:
            try:
                own = self.system.structure.parameters.vector_of(system._described[1])
            except ValueError as error:
                raise OtherStructure(str(error)) from None
        every, places = [own], Parameters()
        for k, (load, _) in enumerate(loads_of(system, self.case.loads)):
            system.add_place(places, f"loads.{k}", load)
        if places.entries:
            every.append(places.vector)
        law = self.schedule.law
        if law is not None and law.places:
            assert self.schedule.feedback is not None
            every.append(np.array(TracedLaw(self.schedule.feedback, system).places, dtype=float))
        row = np.concatenate([*every, self.schedule.law_weights])
        if len(row) != len(self.schedule.given.numbers):
            raise OtherStructure("its loads act on places of another kind")
        return row

    @cached_property
    def _events(self) -> EventDetector:
        return EventDetector(self.system, None)

    @property
    def has_conditions(self) -> bool:
        """True if robots have conditions that depend on where they are (supports, riders)."""
        return bool(self._events.conditions)

    @cached_property
    def _ends(self) -> list[int]:
        """Where the parts of a row end."""
        n, limited, sliding = self.system.nq, len(self._events.limits), len(self._events.ends)
        masses = sum(map(len, moving_masses(self.system.robot)))
        sizes = [len(self.schedule.given.numbers), n, 2, masses, 2 * limited, n, sliding, n, n]
        return [int(each) for each in np.cumsum(sizes)]

    @cached_property
    def scale(self) -> Scale:
        """How accurate rows must be: entries are compared with those of their matrix, or of their part."""
        entries = self.system._described[1].entries
        owners = np.repeat(np.arange(len(entries)), [len(each.names) for each in entries])
        rest = self._ends[0] - len(owners)
        names = [owners, len(entries) + np.arange(rest)]
        next_one, close = len(entries) + rest, [np.full(self._ends[0], ROW_TOLERANCE)]
        for part, size in zip(PARTS[1:], np.diff(self._ends).tolist(), strict=True):
            names.append(next_one + (np.arange(size) if part in INDEPENDENT else np.zeros(size, dtype=int)))
            close.append(np.full(size, SIZE_TOLERANCE if part in ROUGH else ROW_TOLERANCE))
            next_one += size
        return Scale(np.concatenate(names), np.concatenate(close))

    def member_data(self, rows: Array, of: Tolerance, slowest: Array | None = None) -> MemberData:
        """Return the members of a batch from their rows; `of`: the tolerance of one of them."""
        numbers, sizes, whole, masses, limits, turns, slideways, q, v = np.split(rows, self._ends[:-1], axis=1)
        lower, upper = np.split(limits, 2, axis=1)
        length, mass = whole.T
        links = len(self.system.robot.links)
        least: Any = lightest(masses[:, :links].T, masses[:, links:].T)
        lengths: Any = length
        tolerance = replace(of, length=lengths, mass=least)
        return MemberData(
            numbers,
            sizes,
            q,
            v,
            law_states=np.repeat(self.schedule.law_start[None], len(rows), axis=0),
            allowed=np.asarray(tolerance.allowed),
            solved=np.asarray(tolerance.solved),
            push=mass * length**2,
            lower=lower,
            upper=upper,
            turns=turns,
            slideways=slideways,
            limited=list(self._events.limits),
            sliding=list(self._events.ends),
            far=self._events.far,
            slowest=np.zeros(len(rows)) if slowest is None else slowest,
            signals=self._signals,
        )

    @cached_property
    def _signals(self) -> DeflectionSignals:
        """Deflections of second-order links of the typical member, which stand for those of the others."""
        system = self.system
        places, shapes, may_be_fast = [], [], []
        for k, link in enumerate(system.robot.links):
            if link.flexible is None or link.stiffening != "shortening":
                continue
            own = {
                axis: [each.index for each in system.coordinates if (each.link, each.family) == (link.name, family)]
                for axis, family in enumerate(("bend_y", "bend_z"))
            }
            every = deflections(system, link, np.diag(system.sizes)) / link.length  # (coordinates, stations, axes)
            for station, (axis, indices) in product(FOLLOWED_STATIONS, own.items()):
                if indices:
                    places.append((k, station, axis))
                    shapes.append(np.where(np.isin(np.arange(system.nq), indices), every[:, station, axis], 0.0))
                    may_be_fast.append(len(indices) > 1)
        links, stations, axes = np.array(places, dtype=np.int64).reshape(-1, 3).T.copy()
        every_shape = np.reshape(shapes, (len(shapes), system.nq))
        return DeflectionSignals(links, stations, axes, every_shape, np.array(may_be_fast, dtype=bool))


@dataclass(frozen=True)
class Rows:
    """Rows of members in order: a `source` that interpolates them in these fields, or a row for each."""

    fields: tuple[str, ...]
    source: Surrogate | Array

    def select(self, these: MemberGroup, places: Sequence[int]) -> Array:
        """Return the rows of the members with these indices."""
        if isinstance(self.source, Surrogate):
            return self.source(these.points(self.fields))
        return self.source[list(places)]


def rows_of(maker: RowMaker, these: MemberGroup) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the rows of those members that are of the cohort, and which those are.

    Raises
    ------
    ValueError
        If a member is no robot.
    """
    fields, everyone = tuple(sorted(these.fields("robot", "state"))), np.ones(len(these), dtype=bool)
    if not fields:
        return Rows(fields, np.repeat(maker.row({})[None], len(these), axis=0)), everyone
    may_interpolate = len(these) > MIN_INTERPOLATED and not np.isnan(these.points(fields)).any()
    if may_interpolate and not _has_jumping_parameters(maker.robot):
        made = _interpolated(maker, these, fields)
        if made is not None:
            return Rows(fields, made), everyone
    require_robots(maker.robot, these)
    firsts, which = these.equal("robot", "state")
    known = [_computed(maker, these[place]) for place in firsts]
    found = [known[kind] for kind in which.tolist()]
    mine = [row for row in found if row is not None]
    return Rows(fields, np.stack(mine) if mine else np.zeros((0, 0))), np.array([row is not None for row in found])


def _has_jumping_parameters(robot: Robot) -> bool:
    """Return True if numbers may jump between members.

    Numbers of shapes may be selected for each of them, and damping by the order of frequencies jumps where two of these
    change places.
    """
    flexible = [link.flexible for link in robot.links if link.flexible is not None]
    return any(each.up_to is not None or isinstance(getattr(each.damping, "ratio", None), tuple) for each in flexible)


def require_robots(robot: Robot, these: MemberGroup) -> None:
    """Raise ValueError for the first member whose values make no robot."""
    for each in (these[place] for place in these.equal("robot").firsts):
        try:
            each.robot_of(robot)
        except DESCRIPTION_ERRORS as error:
            raise each.error(error) from None


def _computed(maker: RowMaker, one: MemberOfGroup) -> Array | None:
    """Return the row of a member; None if its robot is of another structure, or finds no equilibrium."""
    try:
        return maker.row(one.smooth)
    except (OtherStructure, ArithmeticError):
        return None
    except DESCRIPTION_ERRORS as error:
        raise one.error(error) from None


def _interpolated(maker: RowMaker, these: MemberGroup, fields: tuple[str, ...]) -> Surrogate | None:
    """Return an interpolation of the rows; None if members must be looked at one by one."""
    at = these.points(fields)

    def named(point: Array) -> Mapping[str, float]:
        return dict(zip(fields, point.tolist(), strict=True))

    ends = np.stack([at.min(axis=0), at.max(axis=0)])
    count = min(len(fields), MAX_CORNER_FIELDS)
    try:
        for corner in np.ndindex(*(2,) * count):
            which = [*corner, *(0,) * (len(fields) - count)]
            robot_with(maker.robot, changes_by_kind(named(ends[which, range(len(fields))])).robot)
        return surrogate(at, lambda point: maker.row(named(point)), maker.scale, np.random.default_rng(0))
    except DESCRIPTION_ERRORS:
        return None
