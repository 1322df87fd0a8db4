"""Robust LQG: gains of an observer and its feedback, tuned for the worst member of a family of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.linear_controller import LinearController, actuator_limits
from flexarm.control.lqg import DesignTask, compensator
from flexarm.control.riccati import output_rows, positive_by_name
from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.foundation.validation import Array, real_number

MAX_POLE_RATIO = 20.0  # largest closed-loop pole, relative to the fastest pole of the models and the first design
EARLY_TIME_COUNT, LATE_TIME_COUNT = 50, 150  # times at which responses are evaluated before and after settling
UNSTABLE_VALUE = 1e80  # value of requirements that cannot be evaluated
SHARPNESS_SEQUENCE = (2.0, 8.0, 32.0)  # of the smooth maximum
MAX_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class DesignModel:
    """Model of the family: from commands to measured and to settling outputs, with the state after an impulse."""

    A: Array
    B: Array
    C: Array
    watched: Array
    x0: Array


class ModelSet:
    """Requirements on closed loops, as functions of the gains of a compensator, stacked in a vector.

    `first` are the gains of the first design, `scales` the characteristic sizes of gains, `fastest` the largest allowed
    magnitude of poles. Outputs are evaluated at all `times` but the early ones.
    """

    def __init__(
        self, start: LinearController, plants: list[DesignModel], bounds: Array, within: float, room: Array
    ) -> None:
        assert start.K is not None
        assert start.L is not None
        self.start, self.plants, self.bounds, self.within, self.room = start, plants, bounds, within, room
        self.K0, self.L0 = start.K, start.L
        self.first = np.concatenate([self.K0.ravel(), self.L0.ravel()])
        self.scales = np.concatenate([np.full(each.size, np.abs(each).max() or 1.0) for each in (self.K0, self.L0)])
        every = [start.closed_loop().poles, *(np.linalg.eigvals(each.A) for each in plants)]
        self.fastest = MAX_POLE_RATIO * float(np.abs(np.concatenate(every)).max())
        early = np.linspace(0, 1, EARLY_TIME_COUNT, endpoint=False)
        self.times = within * np.concatenate([early, np.linspace(1, 5, LATE_TIME_COUNT)])
        self.measured, D = output_rows(start.model, start.measured, "start")
        if D.any():
            raise ValueError(
                "start: inputs act on its outputs at once (D is not zero); take a model that is not reduced"
            )
        orders = sorted({len(each.A) for each in plants})  # plants of equal order are stacked
        groups = ([vars(each).values() for each in plants if len(each.A) == order] for order in orders)
        self._stacked = [DesignModel(*map(np.stack, zip(*group, strict=True))) for group in groups]

    def gains(self, row: Array) -> tuple[Array, Array]:
        """Return K and L of a vector of gains."""
        K, L = np.split(row, [self.K0.size])
        return K.reshape(self.K0.shape), L.reshape(self.L0.shape)

    def design(self, row: Array) -> LinearController:
        """Return the controller of a vector of gains."""
        task = DesignTask(self.start.model, {}, self.start.references)
        return compensator(task, list(self.start.measured), *self.gains(row))

    def requirements(self, row: Array) -> Array:
        """Return all requirements, each relative to its allowed value."""
        (K, L), model = self.gains(row), self.start.model
        inner = model.A - model.B @ K - L @ self.measured
        return np.concatenate([self._evaluate(plants, K, L, inner) for plants in self._stacked])

    def _evaluate(self, plants: DesignModel, K: Array, L: Array, inner: Array) -> Array:
        """Return the requirements of stacked plants of equal order."""
        count, n = plants.x0.shape
        t, N = self.times, n + len(inner)
        A = np.empty((count, N, N))
        A[:, :n, :n], A[:, :n, n:] = plants.A, -plants.B @ K
        A[:, n:, :n], A[:, n:, n:] = L @ plants.C, inner
        if not np.isfinite(A).all():
            return np.array([UNSTABLE_VALUE])
        poles, vectors = np.linalg.eig(A)
        begin = np.concatenate([plants.x0, np.zeros((count, N - n))], axis=1)
        try:
            shares = np.linalg.solve(vectors, begin[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return np.array([UNSTABLE_VALUE])
        modes = np.exp(np.minimum(t[:, None] * poles[:, None, :], 180.0)) * shares[:, None, :]
        deviation = (modes[:, EARLY_TIME_COUNT:] @ (plants.watched @ vectors[:, :n]).swapaxes(1, 2)).real
        commanded = (modes @ (K @ vectors[:, n:]).swapaxes(1, 2)).real
        slow = np.exp(np.minimum(self.within * poles.real.max(axis=1) + 0.5, 180.0))
        parts = (deviation / self.bounds, commanded / self.room, slow, poles / self.fastest)
        return np.concatenate([np.abs(each).ravel() for each in parts])


def robust_lqg(
    start: LinearController,
    models: Sequence[StateSpace],
    impulse: Mapping[str, float],
    settled: Mapping[str, float],
    within: float,
    *,
    limit: Any = None,
) -> LinearController:
    """Tune a compensator for the worst member of a family of models.

    Parameters
    ----------
    start : LinearController
        First design from `lqg` in continuous time, without integrals; it need not be stable for all models.
    models : sequence of StateSpace
        Models of the family, with the inputs and measured outputs of the design and the signals below.
    impulse : dict of str to float
        Impulses (N s or N m s) by input that act on the models at rest, {"tip.fx": 1.0}.
    settled : dict of str to float
        Largest deviation of outputs after the time `within`, by name, in their units.
    within : float
        Settling time (s). All poles must decay at least as exp(-t / (2 within)).
    limit : float, sequence of float or dict of str to float, optional
        Largest torque (N m) or force (N) of the actuators; commands stay within it, so that the loops remain linear.

    Returns
    -------
    LinearController
        Compensator whose worst requirement is as small as was found. Its attribute `worst` is that requirement relative
        to the allowed value, below 1 if all are met.

    Raises
    ------
    TypeError
        If `start` is not a continuous design of `lqg`.
    KeyError
        If a model has no input or output of a given name.

    Warns
    -----
    ValidityWarning
        If a requirement is not met.

    See Also
    --------
    lqg : Design of a first compensator.

    Notes
    -----
    Gains of feedback and observer are varied by the BFGS method on a smooth maximum of all requirements of all models,
    which is made sharper in steps.
    """
    family = _model_set(start, models, impulse, settled, within, limit)
    found, worst = _tune(family)
    if not worst <= 1:
        warn(
            f"no compensator of this order was found that meets all requirements: the worst is {worst:.3g} of what is "
            "allowed; allow more, start from another design, or take models that differ less",
            ValidityWarning,
        )
    return replace(family.design(found), worst=worst)


def _model_set(start: Any, models: Any, impulse: Any, settled: Any, within: Any, limit: Any) -> ModelSet:
    if not isinstance(start, LinearController) or start.L is None or start.dt is not None:
        raise TypeError(f"start = {shown(start)}: must be a design of fa.lqg in continuous time")
    if "integral" in start.states:
        raise ValueError("start: has integrals, which settle last; tune one without them")
    if not isinstance(models, Sequence) or not models or not all(isinstance(each, StateSpace) for each in models):
        raise TypeError(f"models = {shown(models)}: must be a list of linear models, from fa.linearize")
    within = real_number("within", within, "s", above=0)
    if not isinstance(impulse, Mapping) or not impulse:
        raise TypeError(f"impulse = {shown(impulse)}: must be impulses by input, {{'tip.fx': 1.0}}")
    pushes = {str(name): real_number(f"impulse['{name}']", value) for name, value in impulse.items()}
    bounds = positive_by_name("settled", settled)
    limits = {} if limit is None else actuator_limits(limit, start.model)
    actors = [each.name for each in start.model.inputs]
    for name in limits:
        if name not in start.model.held:
            raise KeyError(f"limit: there is no actuator '{name}'{suggestion(name, list(start.model.held))}")
    room = np.array([limits.get(name, np.inf) - abs(start.model.held[name]) for name in actors])
    if not (room > 0).all():
        name = actors[int((room <= 0).argmax())]
        raise ValueError(f"limit: '{name}' takes {abs(start.model.held[name]):.4g} to hold the posture alone")
    plants = [_design_model(start, each, k, pushes, bounds) for k, each in enumerate(models)]
    return ModelSet(start, plants, np.array(list(bounds.values())), within, room)


def _design_model(
    start: LinearController, model: StateSpace, place: int, pushes: dict[str, float], bounds: dict[str, float]
) -> DesignModel:
    where = f"models[{place}]"
    names = [each.name for each in model.inputs]
    if model.dt is not None:
        raise ValueError(f"{where} is sampled; give models in continuous time")
    for argument, names_required in (("model", [each.name for each in start.model.inputs]), ("impulse", list(pushes))):
        for name in names_required:
            if name not in names:
                raise KeyError(f"{argument}: {where} has no input '{name}'{suggestion(name, names)}")
    x0 = sum((size * model.B[:, names.index(name)] for name, size in pushes.items()), np.zeros(len(model.A)))
    B = model.B[:, [names.index(each.name) for each in start.model.inputs]]
    plain = model.part(None, [each.name for each in start.model.inputs])
    C, D = output_rows(plain, start.measured, where)
    watched, direct = output_rows(plain, list(bounds), f"settled: {where}")
    if D.any() or direct.any():
        raise ValueError(
            f"{where}: inputs act on its outputs at once (D is not zero); take models that are not reduced"
        )
    return DesignModel(model.A, B, C, watched, x0)


def _tune(family: ModelSet) -> tuple[Array, float]:
    """Return gains that minimise the largest requirement, by a smooth maximum of growing sharpness."""
    from scipy.optimize import minimize

    def smooth(x: Array, sharpness: float) -> float:
        values = np.log(np.clip(family.requirements(x * family.scales), 1e-12, UNSTABLE_VALUE))
        top = float(values.max())
        return top + float(np.log(np.exp(sharpness * (values - top)).sum())) / sharpness

    x = family.first / family.scales
    best, worst = x, float(family.requirements(family.first).max())
    for sharpness in SHARPNESS_SEQUENCE:
        x = minimize(smooth, x, args=(sharpness,), method="BFGS", options={"maxiter": MAX_ITERATIONS}).x
        here = float(family.requirements(x * family.scales).max())
        if here < worst:
            best, worst = x, here
    return best * family.scales, worst
