"""Riccati equations: weights and noises by name, sampled costs, gains of state feedback and of observers.

Modes that inputs do not reach or outputs do not show are reported by name (Popov-Belevitch-Hautus test).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace, python_control
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number

REACHABILITY_TOLERANCE = 1e-9  # ratio of the smallest to the largest singular value of the balanced pencil
DECAY_TOLERANCE = 1e-9  # decay rate, relative to the fastest pole, below which a mode counts as undamped
MAX_WEIGHT = 1e100  # squares of larger weights overflow
MAX_QUADRATURE_STEP = 0.5  # largest product of a quadrature step and the fastest rate of a model
Cost = tuple[Array, Array, Array]
"""Matrices Q, N, R of the cost x'Q x + 2 x'N u + u'R u."""


def require_reachable(A: Array, B: Array, names: Sequence[str], by: str, dt: float | None = None) -> None:
    """Raise ValueError if B does not reach an undamped mode; `by` ends the message, "cannot be moved by 'fore'"."""
    from scipy.linalg import matrix_balance

    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    pushed = B / scale[:, None]
    sizes = np.linalg.norm(pushed, axis=0)
    pushed = pushed[:, sizes > 0] / sizes[sizes > 0]
    values, vectors = np.linalg.eig(balanced)
    fastest = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    for pole, vector in zip(values, vectors.T, strict=True):
        grows = pole.real >= -DECAY_TOLERANCE * fastest if dt is None else abs(pole) >= 1 - 1e-9
        if not grows or pole.imag < 0:
            continue
        size = max(abs(pole), float(np.linalg.norm(balanced, 2)), 1e-300)
        pencil = np.hstack([(balanced - pole * np.eye(len(A))) / size, pushed])
        left, found, _ = np.linalg.svd(pencil)
        if found[-1] <= REACHABILITY_TOLERANCE * found[0]:
            unreached = np.abs(left[:, -1])
            shares = unreached * np.abs(vector)
            state = shares if shares.max() > 1e-6 * unreached.max() else unreached
            raise ValueError(f"{describe_mode(complex(pole), state, names, dt)} {by}")


def describe_mode(pole: complex, shares: Array, names: Sequence[str], dt: float | None = None) -> str:
    """Return a description such as "the mode at 12.3 Hz (mostly fore.bend_y[1])"."""
    rate = pole if dt is None else np.log(complex(pole)) / dt
    name = names[int(np.argmax(shares))]
    if abs(rate.imag) > 1e-6 * max(abs(rate), 1e-9):
        return f"the mode at {abs(rate) / (2 * np.pi):.4g} Hz (mostly {name})"
    kind = "the rigid motion" if abs(rate) < 1e-5 else f"the motion that grows as exp({rate.real:.4g} t)"
    return f"{kind} (mostly {name})"


def output_rows(model: StateSpace, names: Sequence[str], where: str) -> tuple[Array, Array]:
    """Return C and D of outputs or states by name."""
    outputs, states = ([each.name for each in part] for part in (model.outputs, model.states))
    n, known = len(states), [*outputs, *states]
    C, D = np.vstack([model.C, np.eye(n)]), np.vstack([model.D, np.zeros((n, model.D.shape[1]))])
    for name in names:
        if name not in known:
            hint = suggestion(name, [*dict.fromkeys(known)])
            raise KeyError(f"{where}: the model has no output or state {shown(name)}{hint}")
    rows = [known.index(name) for name in names]
    return C[rows], D[rows]


def positive_number(where: str, value: Any) -> float:
    """Return a checked positive number that is not too large."""
    return real_number(where, real_number(where, value, above=0), most=MAX_WEIGHT)


def positive_by_name(where: str, given: Any, known: Sequence[str] | None = None) -> dict[str, float]:
    """Return a checked mapping of positive numbers by name."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{where} = {shown(given)}: must be a mapping of positive numbers by name")
    for name, value in given.items():
        if known is not None and name not in known:
            raise KeyError(f"{where}: there is no {shown(name)}{suggestion(name, known)}")
        positive_number(f"{where}['{name}']", value)
    return {str(name): float(value) for name, value in given.items()}


def semidefinite_matrix(where: str, given: Any, count: int) -> Array:
    """Return a checked symmetric matrix without negative eigenvalues."""
    matrix = real_array(where, given)
    if matrix.shape != (count, count) or not (np.abs(matrix) <= MAX_WEIGHT).all():
        raise ValueError(f"{where} = {shown(given)}: must be finite numbers in {count} rows and columns, or by name")
    size = np.abs(matrix).max(initial=0.0)
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * size or np.linalg.eigvalsh(matrix).min() < -1e-9 * size:
        raise ValueError(f"{where} = {shown(given)}: must be symmetric, without negative eigenvalues")
    return np.asarray((matrix + matrix.T) / 2)


def quadratic_cost(model: StateSpace, Q: Any, R: Any) -> Cost:
    """Return the quadratic cost of weights by name, of a number (R) or of matrices."""
    inputs = [each.name for each in model.inputs]
    if isinstance(R, Mapping):
        found = positive_by_name("R", R, inputs)
        if missing := [name for name in inputs if name not in found]:
            raise ValueError(f"R has no weight for '{missing[0]}'; an input that costs nothing would be without bounds")
        effort = np.diag([found[name] for name in inputs])
    elif np.ndim(R):
        effort = semidefinite_matrix("R", R, len(inputs))
        if np.linalg.eigvalsh(effort).min() <= 0:
            raise ValueError(f"R = {shown(R)}: must be positive definite; an input that costs nothing has no bounds")
    else:
        effort = positive_number("R", R) * np.eye(len(inputs))
    if isinstance(Q, Mapping):
        weights = positive_by_name("Q", Q)
        C, D = output_rows(model, list(weights), "Q")
        W = np.diag(list(weights.values()))
        return C.T @ W @ C, C.T @ W @ D, effort + D.T @ W @ D
    n = len(model.A)
    if not np.ndim(Q):
        raise TypeError(f"Q = {shown(Q)}: must be weights by name, {{'tip.y': 100.0}}, or a matrix of {n} rows")
    return semidefinite_matrix("Q", Q, n), np.zeros((n, len(inputs))), effort


def sampled_cost(A: Array, B: Array, cost: Cost, dt: float) -> Cost:
    """Return the exact cost of one period with constant inputs, in terms of the state at its beginning (Van Loan)."""
    n, m = B.shape
    Q, N, R = cost
    F = np.block([[A, B], [np.zeros((m, n + m))]])
    found = integrated_gramian(F.T, np.block([[Q, N], [N.T, R]]), dt)
    return found[:n, :n], found[:n, n:], found[n:, n:]


def integrated_gramian(F: Array, W: Array, dt: float) -> Array:
    """Return the integral of exp(F t) W exp(F' t) from 0 to dt, by doubling so that fast modes do not overflow."""
    from scipy.linalg import expm

    n = len(F)
    fastest = float(np.abs(np.linalg.eigvals(F)).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(max(dt * fastest / MAX_QUADRATURE_STEP, 1.0)))))
    h = dt / 2**halvings
    both = expm(np.block([[-F, W], [np.zeros((n, n)), F.T]]) * h)
    onward = both[n:, n:].T
    found = onward @ both[:n, n:]
    for _ in range(halvings):
        found = found + onward @ found @ onward.T
        onward = onward @ onward
    return np.asarray((found + found.T) / 2)


def regulator_gain(
    A: Array, B: Array, cost: Cost, states: Sequence[str], inputs: Sequence[str], dt: float | None
) -> tuple[Array, Array]:
    """Return the gain K of u = -K x, and P of the optimal cost x0' P x0."""
    Q, N, R = (cost[0] + cost[0].T) / 2, cost[1], (cost[2] + cost[2].T) / 2  # symmetric up to rounding
    actors = " and ".join(repr(each) for each in inputs)
    require_reachable(A, B, states, f"cannot be moved by {actors}", dt)
    first = np.linalg.solve(R, N.T)  # u = -first x + ... removes the cross terms, and improves the conditioning
    steered, weight = A - B @ first, Q - N @ first
    weight = (weight + weight.T) / 2
    require_reachable(steered.T, weight, states, "has no weight in Q, so that nothing would be done about it", dt)
    library = python_control("lqr")
    solve = library.lqr if dt is None else library.dlqr
    # the Schur decomposition is more robust for some scales of the cost, on which the gain does not depend
    sizes = [float(np.abs(each).max()) for each in (R, weight)]
    (K, P, _), size = _solve_scaled(lambda c: solve(steered, B, weight / c, R / c), sizes, dt)
    return np.atleast_2d(K) + first, np.atleast_2d(P) * size


def observer_gain(
    A: Array, C: Array, process: Array, noise: Array, states: Sequence[str], outputs: Sequence[str], dt: float | None
) -> Array:
    """Return the gain L of x' = A x + ... + L (y - C x); if sampled, that of the correction before the prediction."""
    names = " and ".join(repr(each) for each in outputs)
    require_reachable(A.T, C.T, states, f"is not seen in {names}", dt)
    require_reachable(
        A, process, states, "is reached by no noise of `process`, so that an observer would not follow it", dt
    )
    library = python_control("lqg")
    values, vectors = np.linalg.eigh(process)
    G = vectors * np.sqrt(np.maximum(values, 0.0))
    solve = library.lqe if dt is None else library.dlqe
    every = np.eye(len(A))
    sizes = [float(np.abs(process).max()), 1.0]
    (L, P, _), size = _solve_scaled(lambda c: solve(A, G, C, every / c, noise / c), sizes, dt)
    if dt is None:
        return np.atleast_2d(L)
    return np.asarray(np.linalg.solve(C @ P @ C.T + noise / size, C @ P).T)


def _solve_scaled(solve: Callable[[float], Any], sizes: Sequence[float], dt: float | None) -> tuple[Any, float]:
    """Return the first solution whose poles decay, and the scale of the cost with which it was found."""
    why = "not all poles decay"
    for size in sizes:
        if not size:
            continue
        try:
            found = solve(size)
        except Exception as error:  # LAPACK, SciPy and python-control raise various exceptions
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            continue
        poles = found[2]
        if (np.max(np.real(poles)) if dt is None else np.max(np.abs(poles)) - 1) < 0:
            return found, size
    raise ValueError(
        f"the Riccati equation of these weights has no solution that can be computed ({why}); take weights that are "
        "less far apart, or a model of fewer states (lin.reduce)"
    )
