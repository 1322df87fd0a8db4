"""The state of an integration as one column, and where its parts stand.

(q, v, a, aux, work, lost, given, drained): accelerations, the auxiliary ones of generalised-alpha, the energy put in
and dissipated so far, integrated by the method itself, and their rates; then, where there are constraints, their
multipliers. The states of a law stand behind the robot's own coordinates in each of the first four
(`integrators/controlled_plant.py`): `every_q` has them, `q` has not.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array


@dataclass(frozen=True)
class Layout:
    """Places of the parts: `state[layout.q]`, or `states[:, layout.q]` of states in rows."""

    n: int  # coordinates of the robot
    multipliers: int = 0
    states: int = 0  # of a law

    @property
    def every(self) -> int:
        """Coordinates, with those of the law's states."""
        return self.n + self.states

    @property
    def size(self) -> int:
        return 4 * self.every + 4 + self.multipliers

    @cached_property
    def q(self) -> slice:
        return self._vector(0)

    @cached_property
    def v(self) -> slice:
        return self._vector(1)

    @cached_property
    def a(self) -> slice:
        return self._vector(2)

    @cached_property
    def aux(self) -> slice:
        return self._vector(3)

    @cached_property
    def every_q(self) -> slice:
        return self._every(0)

    @cached_property
    def every_v(self) -> slice:
        return self._every(1)

    @cached_property
    def every_a(self) -> slice:
        return self._every(2)

    @cached_property
    def every_aux(self) -> slice:
        return self._every(3)

    @cached_property
    def law_states(self) -> slice:
        return slice(self.v.stop, self.v.start + self.every)

    @cached_property
    def motion(self) -> slice:
        """q, v and a together, with what the law's states are in them."""
        return slice(0, 3 * self.every)

    @property
    def motions(self) -> tuple[slice, slice, slice]:
        """The three of them."""
        return self.every_q, self.every_v, self.every_a

    @cached_property
    def work(self) -> int:
        return 4 * self.every

    @property
    def lost(self) -> int:
        return self.work + 1

    @property
    def given(self) -> int:
        return self.work + 2

    @property
    def drained(self) -> int:
        return self.work + 3

    @cached_property
    def energies(self) -> slice:
        """Work and loss, then their rates."""
        return slice(self.work, self.work + 4)

    @cached_property
    def forces(self) -> slice:
        """Multipliers of the constraints."""
        return slice(self.work + 4, self.size)

    def _vector(self, number: int) -> slice:
        return slice(number * self.every, number * self.every + self.n)

    def _every(self, number: int) -> slice:
        return slice(number * self.every, (number + 1) * self.every)

    def at_rest(self, q: Array, v: Array, states: Array | float = 0.0) -> Array:
        """A state of these coordinates, rates and states of a law, all else zero."""
        state = np.zeros(self.size)
        state[self.q], state[self.v], state[self.law_states] = q, v, states
        return state


@dataclass(frozen=True)
class State:
    """The parts of a state as expressions."""

    q: Any
    v: Any
    a: Any
    aux: Any
    work: Any
    lost: Any
    given: Any
    drained: Any
    forces: Any = None

    @staticmethod
    def of(column: Any, layout: Layout) -> State:
        parts = {name: column[getattr(layout, f"every_{name}")] for name in ("q", "v", "a", "aux")}
        parts |= {name: column[getattr(layout, name)] for name in ("work", "lost", "given", "drained")}
        return State(**parts, forces=column[layout.forces] if layout.multipliers else None)

    @property
    def column(self) -> Any:
        parts = (self.q, self.v, self.a, self.aux, self.work, self.lost, self.given, self.drained)
        return ca.vertcat(*parts) if self.forces is None else ca.vertcat(*parts, self.forces)
