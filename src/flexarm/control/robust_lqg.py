"""Requirements on the closed loops of a family of models, as functions of the gains of one compensator.

One compensator for a family of models: the gains of an observer and its feedback, tuned for the worst of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.augmented_model import DesignTask
from flexarm.control.linear_controller import LinearController, limits_of
from flexarm.control.lqg import compensator
from flexarm.control.riccati import by_name, rows
from flexarm.dynamics.validity import ValidityWarning
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_number

FASTEST = 20.0  # poles of the closed loops, against the fastest one of the models and of the first design
EARLY, LATE = 50, 150  # moments at which responses are looked at: until they are to be settled, and four times as long
HUGE = 1e80
PARTS = ("A", "B", "C", "watched", "x0")


@dataclass(frozen=True, eq=False)
class DesignModel:
    """A model of the family: from commands to what is measured and what is to settle, after an impulse."""

    A: Array
    B: Array
    C: Array
    watched: Array
    x0: Array


@dataclass(frozen=True, eq=False)
class ModelSet:
    """Requirements on closed loops, as functions of the gains of a compensator in a row."""

    start: LinearController
    plants: list[DesignModel]
    bounds: Array
    within: float
    room: Array

    @cached_property
    def _task(self) -> DesignTask:
        return DesignTask(self.start.model, {}, self.start.references)

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
    def _stacks(self) -> list[DesignModel]:
        """Plants of equal order in one, so that numpy goes through them."""
        orders = sorted({len(each.A) for each in self.plants})
        groups = [[each for each in self.plants if len(each.A) == order] for order in orders]
        return [DesignModel(*(np.stack([getattr(each, name) for each in group]) for name in PARTS)) for group in groups]

    @cached_property
    def _measured(self) -> Array:
        C, D = rows(self.start.model, self.start.measured, "start")
        if D.any():
            raise ValueError(
                "start: inputs act on its outputs at once (D is not zero); take a model that is not reduced"
            )
        return C

    def _of(self, plants: DesignModel, K: Array, L: Array, inner: Array) -> Array:
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


SHARPNESS = (2.0, 8.0, 32.0)  # of the smooth maximum, one after the other
ITERATIONS = 200


def robust_lqg(
    start: LinearController,
    models: Sequence[StateSpace],
    impulse: Mapping[str, float],
    settled: Mapping[str, float],
    within: float,
    limit: Any = None,
) -> LinearController:
    """The compensator that serves a whole family of models best: gains of feedback and observer, tuned from those of a
    first design until the worst response of all models is as good as can be found.

    start: from `fa.lqg`, in continuous time; it need not be stable for all models.
    models: of the family, with the inputs of the design, what it measures, and the signals below.
    impulse: by input the impulse that hits the models at rest, {"tip.fx": 1.0} (N s or N m s).
    settled: by output how far it may be away (in its unit) after `within` so many seconds. All poles decay at least as
    exp(-t / (2 within)).
    limit: of actuators, as in `fa.Feedback`; commands stay within it, so that all remains linear.

    `design.worst` tells the worst requirement of all as a part of what is allowed: one that is met is below 1. A
    warning tells where it is not.
    """
    family = _family(start, models, impulse, settled, within, limit)
    found, worst = _tuned(family)
    if not worst <= 1:
        warnings.warn(
            f"no compensator of this order was found that meets all requirements: the worst is {worst:.3g} of what is "
            "allowed; allow more, start from another design, or take models that differ less",
            ValidityWarning,
            stacklevel=2,
        )
    return replace(family.design(found), worst=worst)


def _family(start: Any, models: Any, impulse: Any, settled: Any, within: Any, limit: Any) -> ModelSet:
    if not isinstance(start, LinearController) or start.L is None or start.dt is not None:
        raise TypeError(f"start = {shown(start)}: must be a design of fa.lqg in continuous time")
    if "integral" in start.states:
        raise ValueError("start: has integrals, which settle last; tune one without them")
    if not isinstance(models, Sequence) or not models or not all(isinstance(each, StateSpace) for each in models):
        raise TypeError(f"models = {shown(models)}: must be a list of linear models, from fa.linearize")
    within = real_number("within", within, "s", above=0)
    pushes, bounds = _impulses(impulse), by_name("settled", settled)
    limits = {} if limit is None else limits_of(limit, start.model)
    actors = [each.name for each in start.model.inputs]
    for name in limits:
        if name not in start.model.held:
            raise KeyError(f"limit: there is no actuator '{name}'{suggestion(name, list(start.model.held))}")
    room = np.array([limits.get(name, np.inf) - abs(start.model.held[name]) for name in actors])
    if not (room > 0).all():
        name = actors[int((room <= 0).argmax())]
        raise ValueError(f"limit: '{name}' takes {abs(start.model.held[name]):.4g} to hold the posture alone")
    plants = [_plant(start, each, k, pushes, bounds) for k, each in enumerate(models)]
    return ModelSet(start, plants, np.array(list(bounds.values())), within, room)


def _impulses(given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"impulse = {shown(given)}: must be impulses by input, {{'tip.fx': 1.0}}")
    return {str(name): real_number(f"impulse['{name}']", value) for name, value in given.items()}


def _plant(
    start: LinearController, model: StateSpace, place: int, pushes: dict[str, float], bounds: dict[str, float]
) -> DesignModel:
    where = f"models[{place}]"
    names = [each.name for each in model.inputs]
    if model.dt is not None:
        raise ValueError(f"{where} is sampled; give models in continuous time")
    for argument, wanted in (("model", [each.name for each in start.model.inputs]), ("impulse", list(pushes))):
        for name in wanted:
            if name not in names:
                raise KeyError(f"{argument}: {where} has no input '{name}'{suggestion(name, names)}")
    x0 = sum((size * model.B[:, names.index(name)] for name, size in pushes.items()), np.zeros(len(model.A)))
    B = model.B[:, [names.index(each.name) for each in start.model.inputs]]
    plain = model.part(None, [each.name for each in start.model.inputs])
    C, D = rows(plain, start.measured, where)
    watched, direct = rows(plain, list(bounds), f"settled: {where}")
    if D.any() or direct.any():
        raise ValueError(
            f"{where}: inputs act on its outputs at once (D is not zero); take models that are not reduced"
        )
    return DesignModel(model.A, B, C, watched, x0)


def _tuned(family: ModelSet) -> tuple[Array, float]:
    """Gains that make the largest requirement as small as can be found: a smooth maximum that becomes sharper."""
    from scipy.optimize import minimize

    def smooth(x: Array, sharpness: float) -> float:
        values = np.log(np.clip(family.requirements(x * family.scales), 1e-12, HUGE))
        top = float(values.max())
        return top + float(np.log(np.exp(sharpness * (values - top)).sum())) / sharpness

    x = family.first / family.scales
    best, worst = x, float(family.requirements(family.first).max())
    for sharpness in SHARPNESS:
        x = minimize(smooth, x, args=(sharpness,), method="BFGS", options={"maxiter": ITERATIONS}).x
        here = float(family.requirements(x * family.scales).max())
        if here < worst:
            best, worst = x, here
    return best * family.scales, worst
