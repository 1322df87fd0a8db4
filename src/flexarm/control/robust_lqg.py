"""One compensator for a family of models: the gains of an observer and its feedback, tuned for the worst of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.family import HUGE, Family, Plant
from flexarm.control.linear_controller import LinearController, limits_of
from flexarm.control.weights import by_name, rows
from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.reach import ValidityWarning

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


def _family(start: Any, models: Any, impulse: Any, settled: Any, within: Any, limit: Any) -> Family:
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
    return Family(start, plants, np.array(list(bounds.values())), within, room)


def _impulses(given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"impulse = {shown(given)}: must be impulses by input, {{'tip.fx': 1.0}}")
    return {str(name): real_number(f"impulse['{name}']", value) for name, value in given.items()}


def _plant(
    start: LinearController, model: StateSpace, place: int, pushes: dict[str, float], bounds: dict[str, float]
) -> Plant:
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
    return Plant(model.A, B, C, watched, x0)


def _tuned(family: Family) -> tuple[Array, float]:
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
