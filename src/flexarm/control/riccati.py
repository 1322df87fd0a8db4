"""Gains of state feedback and of observers: python-control's, of models that were looked at before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        raise ModuleNotFoundError(f"{what} needs python-control: pip install 'control>=0.10.1'") from None
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
    # Schur's form is found more surely of costs of some sizes, and the gain does not depend on them
    sizes = [float(np.abs(each).max()) for each in (R, seen)]
    (K, P, _), size = _solved(lambda c: solve(steered, B, seen / c, R / c), sizes, dt)
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
    every = np.eye(len(A))
    sizes = [float(np.abs(process).max()), 1.0]
    (L, P, _), size = _solved(lambda c: solve(A, G, C, every / c, noise / c), sizes, dt)
    if dt is None:
        return np.atleast_2d(L)
    return np.asarray(np.linalg.solve(C @ P @ C.T + noise / size, C @ P).T)


def _solved(solve: Callable[[float], Any], sizes: Sequence[float], dt: float | None) -> tuple[Any, float]:
    """The first solution whose poles decay, and the size of the cost with which it was found."""
    why = "not all poles decay"
    for size in sizes:
        if not size:
            continue
        try:
            found = solve(size)
        except Exception as error:  # of LAPACK, SciPy or python-control, each in words of its own
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            continue
        poles = found[2]
        if (np.max(np.real(poles)) if dt is None else np.max(np.abs(poles)) - 1) < 0:
            return found, size
    raise ValueError(
        f"the Riccati equation of these weights has no solution that can be computed ({why}); take weights that are "
        "less far apart, or a model of fewer states (lin.reduce)"
    )
