"""A linear law with states of its own about a posture, as `fa.Feedback` takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.foundation.numbers import Array


@dataclass(frozen=True, eq=False)
class Matrices:
    """u = C s + D y + F r and s' = A s + B y + G r + H w + W (u - w), w what the limits leave of u.

    In a sampled law the second gives the next states. All of y, r, u are against the posture.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    F: Array
    G: Array
    H: Array
    W: Array


class LinearLaw:
    """law(t, x) of a controller. It remembers nothing."""

    follows_limits = True  # its states do

    def __init__(
        self,
        model: StateSpace,
        matrices: Matrices,
        measured: Sequence[str],
        references: Sequence[str],
        states: Mapping[str, int],
        limits: Mapping[str, float],
        name: str,
    ) -> None:
        self._own, self._states = matrices, dict(states)
        self._measured = [(each, operating_value(model, each)) for each in measured]
        self._references = [(each, operating_value(model, each)) for each in references]
        self._inputs = [each.name for each in model.inputs]
        self._held, self._limits = dict(model.held), dict(limits)
        self.links = tuple(self._held)  # actuators that are no inputs hold their torque
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __deepcopy__(self, memo: Any) -> LinearLaw:
        return self

    def __call__(self, t: Any, x: Any) -> Any:
        own = self._own
        y = ca.vertcat(*(x[name] - value for name, value in self._measured))
        r = ca.vertcat(ca.DM(0, 1), *(x.reference(name) - value for name, value in self._references))
        s = ca.vertcat(ca.DM(0, 1), *(ca.vertcat(x.state(name)) for name in self._states))
        u = _times(own.C, s) + _times(own.D, y) + _times(own.F, r)
        w = ca.vertcat(*(self._within(name, u[k]) for k, name in enumerate(self._inputs)))
        torques = {**self._held, **{name: _plain(w[k]) + self._held[name] for k, name in enumerate(self._inputs)}}
        if not self._states:
            return torques
        told = _times(own.A, s) + _times(own.B, y) + _times(own.G, r) + _times(own.H, w)
        told += _times(own.W, u - w)
        ends = np.cumsum([0, *self._states.values()]).tolist()
        parts = {name: told[ends[k] : ends[k + 1]] for k, name in enumerate(self._states)}
        return torques, {name: each if isinstance(each, ca.SX) else each.full().ravel() for name, each in parts.items()}

    def _within(self, name: str, u: Any) -> Any:
        if name not in self._limits:
            return u
        most, held = self._limits[name], self._held[name]
        return ca.fmin(ca.fmax(u, -most - held), most - held)


def operating_value(model: StateSpace, name: str) -> float:
    """What an output or a state is in the posture of a model."""
    if name in model.outputs_at:
        return model.outputs_at[name]
    return model.at.get(name, 0.0)  # rates are zero: models that move are refused


def _times(matrix: Array, vector: Any) -> Any:
    return ca.mtimes(ca.sparsify(ca.DM(matrix)), vector) if matrix.shape[1] else ca.DM.zeros(len(matrix), 1)


def _plain(value: Any) -> Any:
    return value if isinstance(value, ca.SX) else float(value)
