"""Members that run together: where they are, what drives them, and who of them has ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.ending import Status
from flexarm.sweeps.lanes.bounds import Bounds
from flexarm.sweeps.lanes.crew import Crew
from flexarm.sweeps.lanes.lane_inputs import LaneInputs
from flexarm.sweeps.lanes.lane_stepper import LaneStepper
from flexarm.sweeps.lanes.samples import Samples


@dataclass
class End:
    """How a member ended."""

    time: float
    state: Array
    reason: str = "completed"
    status: Status = "completed"


class Company:
    """A crew at the time `t` in the states `state`, (groups, entries, lanes). Lanes of members that ended do what that
    of another does.

    jump: states after the last jump of the inputs. restrained: where steps were last found to be stable.
    system_of: of a member's place, made where it is needed.
    """

    def __init__(
        self,
        crew: Crew,
        stepper: LaneStepper,
        inputs: LaneInputs,
        samples: Samples,
        bounds: Bounds,
        system_of: Callable[[int], System],
    ) -> None:
        self.crew, self.stepper, self.inputs, self.samples, self.system_of = crew, stepper, inputs, samples, system_of
        self.bounds = bounds
        self.arrays, self.layout, self.plant = stepper.arrays, stepper.layout, stepper.plant
        at = self.layout
        rows = np.zeros((len(crew), at.size))
        rows[:, at.q], rows[:, at.v], rows[:, at.law_states] = crew.q, crew.v, crew.law_states
        self.t, self.state = 0.0, self.arrays.packed(rows)
        self.jump, self.restrained = self.state.copy(), self.state[:, at.q].copy()
        self.ends: dict[int, End] = {}
        self.alive = np.ones(len(crew), dtype=bool)  # members that have not ended

    @property
    def living(self) -> list[int]:
        found: list[int] = np.flatnonzero(self.alive).tolist()
        return found

    def those(self, lanes: Any) -> list[int]:
        """Members that live in these lanes (groups, lanes)."""
        found: list[int] = np.flatnonzero(self.arrays.rows(lanes[:, None])[:, 0] & self.alive).tolist()
        return found

    def singular(self, member: int, state: Array) -> str | None:
        """Why accelerations of a member cannot be told in these states, if that is so."""
        return self.system_of(member).singularity(self.arrays.of(state, member)[self.layout.q], self.plant.driven)

    def end_here(self, member: int, reason: str, status: Status = "failed") -> None:
        self.end(member, self.t, self.arrays.of(self.state, member), reason, status)

    def end(self, member: int, time: float, state: Array, reason: str, status: Status) -> None:
        """A member ends; its lane goes on with what another does."""
        self.samples.end(member)
        self.bounds.end(*self.arrays.place(member))
        self.ends[member], self.alive[member] = End(time, state.copy(), reason, status), False
        living = self.living
        if not living:
            return
        twin, left_over = living[0], range(len(self.crew), self.arrays.groups * self.arrays.lanes)
        idle = [*np.flatnonzero(~self.alive).tolist(), *left_over]  # they may have done what this one did
        for each in idle:
            self.stepper.replace(each, twin)
            for packed in (self.state, self.jump, self.restrained, self.bounds.unusual, *self.bounds.packed):
                self.arrays.copy(packed, twin, each)
            if each < len(self.crew):
                self.inputs.replace(each, twin)

    def given(self, times: Array, least: int = 1) -> Array | None:
        """Inputs at these times, or the first of them; None where not even the `least` number of them is known: then
        the members whose functions failed have ended."""
        inputs, failures = self.inputs.at(times)
        if inputs.shape[1] >= least:
            return inputs
        for member in self.living:
            if (failure := failures.get(int(self.inputs.which[member]))) is not None:
                self.end_here(member, str(failure), failure.status)
        return None

    def restarted(self, dt: float) -> Array | None:
        """States with accelerations and powers computed anew; None if inputs fail here."""
        given = self.given(np.array([self.t]))
        if given is None:
            return None
        u, out, at, places = given[:, 0], self.state.copy(), self.layout, self.plant.input_places
        for k, place in enumerate(self.plant.driven):
            out[:, at.q][:, place], out[:, at.v][:, place] = u[:, places[3]][:, k], u[:, places[4]][:, k]
        a, put_in, drained, *forces = self.stepper.start(out, u, dt)
        out[:, at.every_a] = out[:, at.every_aux] = a
        out[:, at.given], out[:, at.drained] = put_in[:, 0], drained[:, 0]
        if forces:
            out[:, at.forces] = forces[0]
        return out
