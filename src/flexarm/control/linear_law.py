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
    is_memoryless = True

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
        y = [x[name] - value for name, value in self._measured]
        r = [x.reference(name) - value for name, value in self._references]
        s = [x.state(name) for name in self._states]
        if any(isinstance(each, ca.SX) for each in (*y, *r, *s)):
            sparse = {name: ca.sparsify(ca.DM(each)) for name, each in vars(self._own).items()}  # without zeros
            return self._evaluate(sparse, *(ca.vertcat(ca.DM(0, 1), *each) for each in (y, r, s)), is_symbolic=True)
        return self._evaluate(vars(self._own), *(_stack(each) for each in (y, r, s)), is_symbolic=False)

    def _evaluate(self, own: Mapping[str, Any], y: Any, r: Any, s: Any, *, is_symbolic: bool) -> Any:
        """Return the torques and, if there are states, their derivatives (next values of a sampled controller)."""
        u = own["C"] @ s + own["D"] @ y + own["F"] @ r
        saturated = [self._saturate(name, u[k], is_symbolic) for k, name in enumerate(self._inputs)]
        torques = {**self._held, **{name: saturated[k] + self._held[name] for k, name in enumerate(self._inputs)}}
        if not self._states:
            return torques
        w = ca.vertcat(*saturated) if is_symbolic else np.array(saturated)
        states = own["A"] @ s + own["B"] @ y + own["G"] @ r + own["H"] @ w + own["W"] @ (u - w)
        ends = np.cumsum([0, *self._states.values()]).tolist()
        return torques, {name: states[ends[k] : ends[k + 1]] for k, name in enumerate(self._states)}

    def _saturate(self, name: str, u: Any, is_symbolic: bool) -> Any:
        if name in self._limits:
            most, held = self._limits[name], self._held[name]
            if is_symbolic:
                return ca.fmin(ca.fmax(u, -most - held), most - held)
            u = np.minimum(np.maximum(u, -most - held), most - held)  # keeps nan
        return u if is_symbolic else float(u)


def operating_value(model: StateSpace, name: str) -> float:
    """What an output or a state is in the posture of a model."""
    if name in model.outputs_at:
        return model.outputs_at[name]
    return model.at.get(name, 0.0)  # rates are zero: models that move are refused


def _stack(values: Sequence[Any]) -> Array:
    """Concatenate numbers and vectors."""
    return np.concatenate([np.ravel(each) for each in values]) if values else np.zeros(0)
