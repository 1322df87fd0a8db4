"""Requirements on the closed loops of a family of models, as functions of the gains of one compensator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flexarm.control.design_model import Task
from flexarm.control.linear_controller import LinearController
from flexarm.control.lqg import compensator
from flexarm.control.weights import rows
from flexarm.foundation.numbers import Array

FASTEST = 20.0  # poles of the closed loops, against the fastest one of the models and of the first design
EARLY, LATE = 50, 150  # moments at which responses are looked at: until they are to be settled, and four times as long
HUGE = 1e80
PARTS = ("A", "B", "C", "watched", "x0")


@dataclass(frozen=True, eq=False)
class Plant:
    """A model of the family: from commands to what is measured and what is to settle, after an impulse."""

    A: Array
    B: Array
    C: Array
    watched: Array
    x0: Array


@dataclass(frozen=True, eq=False)
class Family:
    """Requirements on closed loops, as functions of the gains of a compensator in a row."""

    start: LinearController
    plants: list[Plant]
    bounds: Array
    within: float
    room: Array

    @cached_property
    def _task(self) -> Task:
        return Task(self.start.model, {}, self.start.references)

    @cached_property
    def _first(self) -> tuple[Array, Array]:
        """K and L of the first design."""
        K, L = self.start.K, self.start.L
        assert K is not None
        assert L is not None
        return K, L

    @cached_property
    def first(self) -> Array:
        return np.concatenate([each.ravel() for each in self._first])

    @cached_property
    def scales(self) -> Array:
        """What is a change of a gain worth the name, by gain."""
        parts = np.split(np.abs(self.first), [self._first[0].size])
        return np.concatenate([np.full(each.shape, each.max() or 1.0) for each in parts])

    @cached_property
    def fastest(self) -> float:
        every = [self.start.closed_loop().poles, *(np.linalg.eigvals(each.A) for each in self.plants)]
        return FASTEST * float(np.abs(np.concatenate(every)).max())

    @cached_property
    def times(self) -> Array:
        """Of looking at commands, and at outputs after the early ones."""
        return self.within * np.concatenate([np.linspace(0, 1, EARLY, endpoint=False), np.linspace(1, 5, LATE)])

    def gains(self, row: Array) -> tuple[Array, Array]:
        K0, L0 = self._first
        K, L = np.split(row, [K0.size])
        return K.reshape(K0.shape), L.reshape(L0.shape)

    def design(self, row: Array) -> LinearController:
        return compensator(self._task, list(self.start.measured), *self.gains(row))

    def requirements(self, row: Array) -> Array:
        """All of them, each as a part of what is allowed."""
        K, L = self.gains(row)
        model = self.start.model
        C0 = self._measured
        inner = model.A - model.B @ K - L @ C0
        return np.concatenate([self._of(plants, K, L, inner) for plants in self._stacks])

    @cached_property
    def _stacks(self) -> list[Plant]:
        """Plants of equal order in one, so that numpy goes through them."""
        orders = sorted({len(each.A) for each in self.plants})
        groups = [[each for each in self.plants if len(each.A) == order] for order in orders]
        return [Plant(*(np.stack([getattr(each, name) for each in group]) for name in PARTS)) for group in groups]

    @cached_property
    def _measured(self) -> Array:
        C, D = rows(self.start.model, self.start.measured, "start")
        if D.any():
            raise ValueError(
                "start: inputs act on its outputs at once (D is not zero); take a model that is not reduced"
            )
        return C

    def _of(self, plants: Plant, K: Array, L: Array, inner: Array) -> Array:
        """Of plants of equal order, stacked."""
        count, n = plants.x0.shape
        t, N = self.times, n + len(inner)
        A = np.empty((count, N, N))
        A[:, :n, :n], A[:, :n, n:] = plants.A, -plants.B @ K
        A[:, n:, :n], A[:, n:, n:] = L @ plants.C, inner
        if not np.isfinite(A).all():
            return np.array([HUGE])
        poles, vectors = np.linalg.eig(A)
        begin = np.concatenate([plants.x0, np.zeros((count, N - n))], axis=1)
        try:
            shares = np.linalg.solve(vectors, begin[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return np.array([HUGE])
        modes = np.exp(np.minimum(t[:, None] * poles[:, None, :], 180.0)) * shares[:, None, :]
        away = (modes[:, EARLY:] @ (plants.watched @ vectors[:, :n]).swapaxes(1, 2)).real
        pushed = (modes @ (K @ vectors[:, n:]).swapaxes(1, 2)).real
        slow = np.exp(np.minimum(self.within * poles.real.max(axis=1) + 0.5, 180.0))
        parts = (away / self.bounds, pushed / self.room, slow, poles / self.fastest)
        return np.concatenate([np.abs(each).ravel() for each in parts])
