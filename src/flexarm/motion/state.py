"""The state of an integration as one column, and where its parts stand.

(q, v, a, aux, work, lost, given, drained): accelerations, the auxiliary ones of generalised-alpha, the energy put in
and dissipated so far, integrated by the method itself, and their rates; then, where there are constraints, their
multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array


@dataclass(frozen=True)
class Layout:
    """Places of the parts: `state[layout.q]`, or `states[:, layout.q]` of states in rows."""

    n: int
    multipliers: int = 0

    @property
    def size(self) -> int:
        return 4 * self.n + 4 + self.multipliers

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
    def motion(self) -> slice:
        """q, v and a together."""
        return slice(0, 3 * self.n)

    @cached_property
    def work(self) -> int:
        return 4 * self.n

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
        return slice(number * self.n, (number + 1) * self.n)

    def at_rest(self, q: Array, v: Array) -> Array:
        """A state of these coordinates and rates, all else zero."""
        state = np.zeros(self.size)
        state[self.q], state[self.v] = q, v
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
        names = ("q", "v", "a", "aux", "work", "lost", "given", "drained")
        parts = {name: column[getattr(layout, name)] for name in names}
        return State(**parts, forces=column[layout.forces] if layout.multipliers else None)

    @property
    def column(self) -> Any:
        parts = (self.q, self.v, self.a, self.aux, self.work, self.lost, self.given, self.drained)
        return ca.vertcat(*parts) if self.forces is None else ca.vertcat(*parts, self.forces)
