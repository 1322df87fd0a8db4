"""Weights and intensities by name, as the matrices that Riccati equations take; costs and noises of sampled models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown, suggestion

LARGEST = 1e100  # of a weight: squares of larger ones are no floats
SMALL_STEP = 0.5  # of a step of the quadrature times the fastest rate of a model
Cost = tuple[Array, Array, Array]
"""Q, N, R of the integral of x'Q x + 2 x'N u + u'R u."""


def rows(model: StateSpace, names: Sequence[str], where: str) -> tuple[Array, Array]:
    """C and D of outputs or states by name."""
    outputs, states = ([each.name for each in part] for part in (model.outputs, model.states))
    C, D = np.zeros((len(names), len(model.A))), np.zeros((len(names), model.B.shape[1]))
    for k, name in enumerate(names):
        if name in outputs:
            C[k], D[k] = model.C[outputs.index(name)], model.D[outputs.index(name)]
        elif name in states:
            C[k, states.index(name)] = 1.0
        else:
            known = list(dict.fromkeys([*outputs, *states]))
            raise KeyError(f"{where}: the model has no output or state {shown(name)}{suggestion(name, known)}")
    return C, D


def positive(where: str, value: Any) -> float:
    return real_number(where, real_number(where, value, above=0), most=LARGEST)


def by_name(where: str, given: Any, known: Sequence[str] | None = None) -> dict[str, float]:
    """Positive numbers by name."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{where} = {shown(given)}: must be a mapping of positive numbers by name")
    for name, value in given.items():
        if known is not None and name not in known:
            raise KeyError(f"{where}: there is no {shown(name)}{suggestion(name, known)}")
        positive(f"{where}['{name}']", value)
    return {str(name): float(value) for name, value in given.items()}


def symmetric(where: str, given: Any, count: int) -> Array:
    """A matrix that is symmetric and has no negative eigenvalue."""
    matrix = real_array(where, given)
    if matrix.shape != (count, count) or not (np.abs(matrix) <= LARGEST).all():
        raise ValueError(f"{where} = {shown(given)}: must be finite numbers in {count} rows and columns, or by name")
    size = np.abs(matrix).max(initial=0.0)
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * size or np.linalg.eigvalsh(matrix).min() < -1e-9 * size:
        raise ValueError(f"{where} = {shown(given)}: must be symmetric, without negative eigenvalues")
    return np.asarray((matrix + matrix.T) / 2)


def cost_of(model: StateSpace, Q: Any, R: Any) -> Cost:
    """Of weights of outputs and states (or a matrix for the states), and of inputs (or one number for all, or a
    matrix)."""
    inputs = [each.name for each in model.inputs]
    if isinstance(R, Mapping):
        found = by_name("R", R, inputs)
        if missing := [name for name in inputs if name not in found]:
            raise ValueError(f"R has no weight for '{missing[0]}'; an input that costs nothing would be without bounds")
        effort = np.diag([found[name] for name in inputs])
    elif np.ndim(R):
        effort = symmetric("R", R, len(inputs))
        if np.linalg.eigvalsh(effort).min() <= 0:
            raise ValueError(f"R = {shown(R)}: must be positive definite; an input that costs nothing has no bounds")
    else:
        effort = positive("R", R) * np.eye(len(inputs))
    if isinstance(Q, Mapping):
        weights = by_name("Q", Q)
        C, D = rows(model, list(weights), "Q")
        W = np.diag(list(weights.values()))
        return C.T @ W @ C, C.T @ W @ D, effort + D.T @ W @ D
    n = len(model.A)
    if not np.ndim(Q):
        raise TypeError(f"Q = {shown(Q)}: must be weights by name, {{'tip.y': 100.0}}, or a matrix of {n} rows")
    return symmetric("Q", Q, n), np.zeros((n, len(inputs))), effort


def sampled_cost(A: Array, B: Array, cost: Cost, dt: float) -> Cost:
    """What a period costs with inputs held, of the state at its beginning: exact (Van Loan), in steps that are
    doubled so that fast modes do not overflow."""
    n, m = B.shape
    Q, N, R = cost
    F = np.block([[A, B], [np.zeros((m, n + m))]])
    found = accumulated(F.T, np.block([[Q, N], [N.T, R]]), dt)
    return found[:n, :n], found[:n, n:], found[n:, n:]


def accumulated(F: Array, W: Array, dt: float) -> Array:
    """The integral of exp(F t) W exp(F' t) from 0 to dt."""
    from scipy.linalg import expm

    n = len(F)
    fastest = float(np.abs(np.linalg.eigvals(F)).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(max(dt * fastest / SMALL_STEP, 1.0)))))
    h = dt / 2**halvings
    both = expm(np.block([[-F, W], [np.zeros((n, n)), F.T]]) * h)
    onward = both[n:, n:].T
    found = onward @ both[:n, n:]
    for _ in range(halvings):
        found = found + onward @ found @ onward.T
        onward = onward @ onward
    return np.asarray((found + found.T) / 2)
