"""Gains of state feedback and of observers: python-control's, of models that were looked at before."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from flexarm.control.reachable import require_moved
from flexarm.control.weights import Cost
from flexarm.foundation.numbers import Array


def python_control(what: str) -> ModuleType:
    try:
        import control
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{what} needs python-control: pip install 'flexarm[control]'") from None
    return control  # type: ignore[no-any-return]


def regulator(
    A: Array, B: Array, cost: Cost, states: Sequence[str], inputs: Sequence[str], dt: float | None
) -> tuple[Array, Array]:
    """K of u = -K x, and P of the cost x0' P x0 that is left."""
    Q, N, R = (cost[0] + cost[0].T) / 2, cost[1], (cost[2] + cost[2].T) / 2  # products are so to rounding only
    actors = " and ".join(repr(each) for each in inputs)
    require_moved(A, B, states, f"cannot be moved by {actors}", dt)
    first = np.linalg.solve(R, N.T)  # u = -first x + ... leaves a cost without cross terms, and a better posed equation
    steered, seen = A - B @ first, Q - N @ first
    seen = (seen + seen.T) / 2
    require_moved(steered.T, seen, states, "has no weight in Q, so that nothing would be done about it", dt)
    library = python_control("lqr")
    solve = library.lqr if dt is None else library.dlqr
    size = float(np.abs(R).max())  # Schur's form is found more surely of a cost of this size
    K, P, poles = _solved(solve, steered, B, seen / size, R / size)
    _require_decay(poles, dt)
    return np.atleast_2d(K) + first, np.atleast_2d(P) * size


def observer(
    A: Array, C: Array, process: Array, noise: Array, states: Sequence[str], outputs: Sequence[str], dt: float | None
) -> Array:
    """L of x' = A x + ... + L (y - C x); of a sampled model M, which corrects before the next period is foreseen."""
    shown = " and ".join(repr(each) for each in outputs)
    require_moved(A.T, C.T, states, f"is not seen in {shown}", dt)
    require_moved(
        A, process, states, "is reached by no noise of `process`, so that an observer would not follow it", dt
    )
    library = python_control("lqg")
    values, vectors = np.linalg.eigh(process)
    G = vectors * np.sqrt(np.maximum(values, 0.0))
    solve = library.lqe if dt is None else library.dlqe
    L, P, poles = _solved(solve, A, G, C, np.eye(len(A)), noise)
    _require_decay(poles, dt)
    if dt is None:
        return np.atleast_2d(L)
    return np.asarray(np.linalg.solve(C @ P @ C.T + noise, C @ P).T)


def _solved(solve: Any, *matrices: Array) -> Any:
    try:
        return solve(*matrices)
    except Exception as error:  # of LAPACK, SciPy or python-control, each in words of its own
        raise ValueError(
            "the Riccati equation of these weights has no solution that can be computed "
            f"({str(error).splitlines()[0] if str(error) else type(error).__name__}); take weights that are less far "
            "apart, or a model of fewer states (lin.reduce)"
        ) from None


def _require_decay(poles: Any, dt: float | None) -> None:
    slowest = np.max(np.real(poles)) if dt is None else np.max(np.abs(poles)) - 1
    if not slowest < 0:
        raise ValueError(
            "the Riccati equation was solved too inaccurately: not all poles decay; take weights that are less far "
            "apart, or a model of fewer states (lin.reduce)"
        )
