"""How members are run: the options of `fa.simulate`, checked once for all of them.

What a member's robot gives to a batch: numbers, sizes, where it begins, what is watched; as one row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from flexarm.codegen.simd_library import SimdWidth
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import STATION_COUNT, deflections
from flexarm.feedback.traced_law import TracedLaw
from flexarm.foundation.messages import collect_warnings, suggestion
from flexarm.foundation.validation import Array, real_number
from flexarm.integrators.constraint_solver import Stabilization
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.loads import loads_of
from flexarm.integrators.method import Method
from flexarm.integrators.registry import chosen_stabilization
from flexarm.integrators.step_size import Tolerance
from flexarm.robot import Robot
from flexarm.simulation.events import EventDetector
from flexarm.simulation.initial_state import initial_state
from flexarm.simulation.options import IntegrationOptions, lightest, moving_masses, tolerance_of
from flexarm.simulation.run_checks import require_finite_work, sample_times
from flexarm.simulation.simulate import MIN_DURATION_S
from flexarm.sweeps.apply_changes import applied, changed_robot
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble.classify import parted
from flexarm.sweeps.ensemble.lanes import ROUGH, DeflectionSignals, MemberArrays
from flexarm.sweeps.ensemble.parameter_interpolation import Scale

FOLLOWED_STATIONS = (STATION_COUNT // 2, STATION_COUNT - 1)  # of links: the middle and the tip


@dataclass(frozen=True)
class Settings:
    """As `fa.simulate` takes them; `width`: of the lanes, where it is not that of the processor."""

    method: str | Method = "auto"
    radius: float | None = None
    stabilization: Stabilization = "projection"
    rtol: float = 1e-4
    atol: float = 0.0
    dt: float | None = None
    sample: float | None = None
    points: Mapping[str, tuple[str, float]] | None = None
    events: Any = None
    verify: bool = False
    native: Any = "auto"
    width: SimdWidth | None = None

    @staticmethod
    def of(options: Mapping[str, Any], width: SimdWidth | None = None) -> Settings:
        known = [each.name for each in fields(Settings) if each.name != "width"]
        for name in options:
            if name not in known:
                raise TypeError(f"there is no option '{name}'{suggestion(name, known)}")
        return Settings(**options, width=width)

    @property
    def chooses(self) -> bool:
        """Whether the method is left open."""
        return self.method == "auto" and self.radius is None and self.dt is None

    def plan(self, robot: Robot, duration: float) -> IntegrationOptions:
        """Of the runs of this robot."""
        duration = real_number("duration", real_number("duration", duration, "s", above=0), "s", least=MIN_DURATION_S)
        dt = None if self.dt is None else real_number("dt", self.dt, "s", above=0)
        require_finite_work(duration, dt, None)
        tolerance = tolerance_of(robot, self.rtol, self.atol, duration)
        held = chosen_stabilization(self.stabilization, self.method)
        return IntegrationOptions(self.method, self.radius, dt, tolerance, held, self.native)

    def samples(self, duration: float, coordinates: int) -> Array:
        sample = None if self.sample is None else real_number("sample", self.sample, "s", above=0)
        return sample_times(float(duration), sample, coordinates)


REMEMBERED = 32  # rows
CLOSE = 1e-10  # of the largest of the entries among which one is: how well numbers of a robot are known


PARTS = ("numbers", "sizes", "whole", "masses", "limits", "turns", "slideways", "q", "v")
"""Of a row, in this order."""
EACH = ("whole", "masses", "limits", "slideways")  # parts whose entries are not compared with each other
ROUGHLY = ("sizes", "turns")  # largest values, by which members are judged, not computed


class OtherStructure(ValueError):
    """A member's robot is of another structure than that of its cohort."""


@dataclass(frozen=True)
class MemberSampler:
    """Rows of members that change a `robot` so that it is of the structure of `system`, driven as the `schedule`
    says."""

    case: SweepCase
    robot: Robot
    system: System
    schedule: Schedule
    _rows: dict[frozenset[tuple[str, Any]], Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    def row(self, changes: Mapping[str, Any]) -> Array:
        """All parts one after the other (read-only); `OtherStructure`, or another ValueError where there is no such
        robot. The last few are remembered: who looks at a member may come back to it."""
        key = frozenset(changes.items())
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= REMEMBERED:
                self._rows.clear()
            row = self._rows[key] = self._row(changes)
            row.setflags(write=False)
        return row

    def _row(self, changes: Mapping[str, Any]) -> Array:
        parts = parted(changes)
        system = System(changed_robot(self.robot, parts.robot), native=False)
        begun = applied(replace(self.case, robot=system.robot), parts.state)
        with collect_warnings():  # what is said of all of them is in `Cohort.doubts`
            q, v = initial_state(system, self.schedule, begun.q0, begun.v0)
        links = system.robot.links
        length, mass = sum(each.length for each in links) or 1.0, sum(each.total_mass for each in links) or 1.0
        watch = EventDetector(system, None)
        limits = np.array([bounds for bounds, _ in watch.limits.values()]).reshape(-1, 2)
        if list(watch.limits) != list(self._watch.limits) or list(watch.ends) != list(self._watch.ends):
            raise OtherStructure("other joints have limits")
        every = [
            self._numbers(system),
            system.sizes,
            [length, mass],
            np.concatenate(moving_masses(system.robot)),
            limits.T.ravel(),
            system._unit_turns,
            [extent for _, extent in watch.ends.values()],
            q,
            v,
        ]
        return np.concatenate([np.asarray(each, dtype=float) for each in every])

    def _numbers(self, system: System) -> Array:
        own = system.numbers
        if system.structure is not self.system.structure:
            try:
                own = self.system.structure.parameters.vector_of(system._described[1])
            except ValueError as error:
                raise OtherStructure(str(error)) from None
        every, places = [own], Parameters()
        for k, (load, _) in enumerate(loads_of(system, self.case.loads)):
            system.add_place(places, f"loads.{k}", load.link, load.x)
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
    def _watch(self) -> EventDetector:
        return EventDetector(self.system, None)

    @cached_property
    def _ends(self) -> list[int]:
        """Where parts of a row end."""
        n, limited, sliding = self.system.nq, len(self._watch.limits), len(self._watch.ends)
        masses = sum(map(len, moving_masses(self.system.robot)))
        sizes = [len(self.schedule.given.numbers), n, 2, masses, 2 * limited, n, sliding, n, n]
        return [int(each) for each in np.cumsum(sizes)]

    @cached_property
    def scale(self) -> Scale:
        """How well rows must be known: entries among those of a matrix, or of a part."""
        entries = self.system._described[1].entries
        owners = np.repeat(np.arange(len(entries)), [len(each.names) for each in entries])
        rest = self._ends[0] - len(owners)
        names = [owners, len(entries) + np.arange(rest)]
        next_one, close = len(entries) + rest, [np.full(self._ends[0], CLOSE)]
        for part, size in zip(PARTS[1:], np.diff(self._ends).tolist(), strict=True):
            names.append(next_one + (np.arange(size) if part in EACH else np.zeros(size, dtype=int)))
            close.append(np.full(size, ROUGH if part in ROUGHLY else CLOSE))
            next_one += size
        return Scale(np.concatenate(names), np.concatenate(close))

    def crew(self, rows: Array, of: Tolerance, slowest: Array | None = None) -> MemberArrays:
        """Return the members of a batch from their rows; `of` the tolerance of one of them."""
        numbers, sizes, whole, masses, limits, turns, slideways, q, v = np.split(rows, self._ends[:-1], axis=1)
        lower, upper = np.split(limits, 2, axis=1)
        length, mass = whole.T
        links = len(self.system.robot.links)
        least: Any = lightest(masses[:, :links].T, masses[:, links:].T)
        lengths: Any = length
        tolerance = replace(of, length=lengths, mass=least)
        law = np.repeat(self.schedule.law_start[None], len(rows), axis=0)
        return MemberArrays(
            numbers,
            sizes,
            q,
            v,
            law,
            allowed=np.asarray(tolerance.allowed),
            solved=np.asarray(tolerance.solved),
            push=mass * length**2,
            lower=lower,
            upper=upper,
            turns=turns,
            slideways=slideways,
            limited=list(self._watch.limits),
            sliding=list(self._watch.ends),
            far=self._watch.far,
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
        return DeflectionSignals(
            links, stations, axes, np.reshape(shapes, (len(shapes), system.nq)), np.array(may_be_fast, dtype=bool)
        )

    @property
    def watched(self) -> bool:
        """Whether robots have conditions that depend on where they are (supports, riders)."""
        return bool(self._watch.conditions)
