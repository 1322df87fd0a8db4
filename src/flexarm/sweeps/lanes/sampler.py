"""What a member's robot gives to a batch: numbers, sizes, where it begins, what is watched; as one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.foundation.heard import heard
from flexarm.foundation.numbers import Array
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.system import System
from flexarm.motion.events import Watch
from flexarm.motion.loads import loads_of
from flexarm.motion.plan import lightest, moving_masses
from flexarm.motion.schedule import Schedule
from flexarm.motion.start import initial_state
from flexarm.motion.step_size import Tolerance
from flexarm.motion.traced_law import TracedLaw
from flexarm.robot import Robot
from flexarm.sweeps.applied import applied, changed_robot
from flexarm.sweeps.lanes.candidates import parted
from flexarm.sweeps.lanes.crew import ROUGH, Crew
from flexarm.sweeps.lanes.surrogate import Scale
from flexarm.sweeps.member import Case

REMEMBERED = 32  # rows
CLOSE = 1e-10  # of the largest of the entries among which one is: how well numbers of a robot are known


PARTS = ("numbers", "sizes", "whole", "masses", "limits", "turns", "slideways", "q", "v")
"""Of a row, in this order."""
EACH = ("whole", "masses", "limits", "slideways")  # parts whose entries are not compared with each other
ROUGHLY = ("sizes", "turns")  # largest values, by which members are judged, not computed


class OtherStructure(ValueError):
    """A member's robot is of another structure than that of its cohort."""


@dataclass(frozen=True)
class Sampler:
    """Rows of members that change a `robot` so that it is of the structure of `system`, driven as the `schedule`
    says."""

    case: Case
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
        with heard():  # what is said of all of them is in `Cohort.doubts`
            q, v = initial_state(system, self.schedule, begun.q0, begun.v0)
        links = system.robot.links
        length, mass = sum(each.length for each in links) or 1.0, sum(each.total_mass for each in links) or 1.0
        watch = Watch(system, None)
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
                own = self.system.structure.numbers.vector_of(system._described[1])
            except ValueError as error:
                raise OtherStructure(str(error)) from None
        every, places = [own], Numbers()
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
    def _watch(self) -> Watch:
        return Watch(self.system, None)

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

    def crew(self, rows: Array, of: Tolerance, slowest: Array | None = None) -> Crew:
        """Return the members of a batch from their rows; `of` the tolerance of one of them."""
        numbers, sizes, whole, masses, limits, turns, slideways, q, v = np.split(rows, self._ends[:-1], axis=1)
        lower, upper = np.split(limits, 2, axis=1)
        length, mass = whole.T
        links = len(self.system.robot.links)
        least: Any = lightest(masses[:, :links].T, masses[:, links:].T)
        lengths: Any = length
        tolerance = replace(of, length=lengths, mass=least)
        law = np.repeat(self.schedule.law_start[None], len(rows), axis=0)
        return Crew(
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
        )

    @property
    def watched(self) -> bool:
        """Whether robots have conditions that depend on where they are (supports, riders)."""
        return bool(self._watch.conditions)
