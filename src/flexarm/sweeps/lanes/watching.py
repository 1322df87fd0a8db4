"""What ends members of a batch: starts that cannot be, conditions that are watched, inertia that is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import TOO_LARGE
from flexarm.motion.events import Event, Watch
from flexarm.motion.inertia import UNUSUAL
from flexarm.motion.integration import LOOK
from flexarm.sweeps.lanes.company import Company

ANSWERING = 0.1  # by so much the torques of actuators differ that a robot is pushed with


class Watching:
    """Of a company.

    watch_of: of a member's place, made only where something happens to it. always: whether members have conditions
    that must be looked at all the time. duration: of the run (s).
    """

    def __init__(self, company: Company, watch_of: Callable[[int], Watch], always: bool, duration: float) -> None:
        self._company, self._watch_of, self._always, self._duration = company, watch_of, always, duration

    def require_start(self) -> Array | None:
        """End members that cannot begin: with infinite accelerations, or with a condition that is met. The states in
        which the others begin, where nobody has ended since they were found."""
        company, at = self._company, self._company.layout
        while company.alive.any():
            before = len(company.ends)
            first = company.restarted(0.0)
            if first is not None:
                wrong = ~np.isfinite(company.arrays.rows(first[:, at.a])).all(axis=1)
                for member in np.flatnonzero(company.alive & wrong).tolist():
                    company.end_here(member, company.singular(member, first) or TOO_LARGE)
            if first is not None and len(company.ends) == before:
                break
        if not company.alive.any() or first is None:
            return None
        for member in company.those(~(self._answers(first) <= UNUSUAL)):
            if (said := company.singular(member, first)) is not None:
                company.end_here(member, said)
        if self._always:
            for member in company.living:
                try:
                    self._watch_of(member).require_at_start(company.arrays.of(first, member), at)
                except ValueError as error:
                    company.end_here(member, str(error))
        return first if len(company.ends) == before else None

    def _answers(self, first: Array) -> Array:
        """The largest acceleration that a torque at all actuators adds, against that of the robot as a whole."""
        company, plant, arrays = self._company, self._company.plant, self._company.arrays
        places, u = plant.input_places, np.zeros((arrays.groups, plant.input_count, arrays.lanes))
        if plant.law is not None:
            given, _ = company.inputs.at(np.zeros(1))
            u[:, places[7]] = given[:, 0, places[7]]
        pushed, push = u.copy(), arrays.packed(company.crew.push[:, None])
        pushed[:, places[1]] = push * (1 + ANSWERING * np.arange(plant.nu))[:, None]
        still = first.copy()
        still[:, company.layout.every_v] = 0.0
        without, under = (company.stepper.start(still, each, 0.0)[0][:, : company.layout.n] for each in (u, pushed))
        gained = np.abs((under - without) / company.bounds.sizes).max(axis=1, initial=0.0)
        return np.where(np.isfinite(gained), gained, np.inf)

    def events(self, times: Array, good: int) -> dict[int, Event]:
        """The first event of each member to which one may have happened on the last steps; where conditions are
        watched, all of them are looked at."""
        company, stepper, found = self._company, self._company.stepper, {}
        left, self._thrown = company.bounds.look(float(times[1] - times[0]))
        suspects = company.living if self._always else company.those(company.bounds.left) if left else []
        for member in suspects:
            own, sizes = company.arrays.of(stepper.path[:, : good + 1], member), company.crew.sizes[member]
            look = self._duration * LOOK
            event = self._watch_of(member).first(times, own, company.layout, sizes, stepper.method.order, look)
            if event is not None:
                found[member] = event
        return found

    def require_inertia(self) -> None:
        """End members whose accelerations have become absurd because their mass matrix is singular."""
        company, fastest, unusual = self._company, self._company.bounds.fastest, self._company.bounds.unusual
        if not self._thrown:
            return
        for member in company.those(fastest > unusual):
            place = company.arrays.place(member)
            if (said := company.singular(member, company.state)) is not None:
                company.end_here(member, f"diverged at t = {company.t:.6g} s: {said}")
            unusual[place] = 10 * fastest[place]
