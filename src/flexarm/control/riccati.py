"""Modes that inputs do not move or outputs do not show, by name (Popov, Belevitch and Hautus' test).

Weights and intensities by name, as the matrices that Riccati equations take; costs and noises of sampled models.

Gains of state feedback and of observers: python-control's, of models that were looked at before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number

UNMOVED = 1e-9  # smallest singular value, of a model that is balanced, against its largest
DECAYS = 1e-9  # of the fastest pole: a mode that decays more slowly does not


def require_moved(A: Array, B: Array, names: Sequence[str], by: str, dt: float | None = None) -> None:
    """A ValueError where a mode that does not decay is not reached. The words `by` end the sentence, "cannot be moved
    by 'fore'".
    """
    for pole, state in _unreached(A, B, dt):
        raise ValueError(f"{describe_mode(pole, state, names, dt)} {by}")


def _unreached(A: Array, B: Array, dt: float | None) -> list[tuple[complex, Array]]:
    """Poles that do not decay with the shares of the states in what B does not reach."""
    from scipy.linalg import matrix_balance

    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    pushed = B / scale[:, None]
    sizes = np.linalg.norm(pushed, axis=0)
    pushed = pushed[:, sizes > 0] / sizes[sizes > 0]
    values, vectors = np.linalg.eig(balanced)
    fastest = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    out = []
    for pole, vector in zip(values, vectors.T, strict=True):
        grows = pole.real >= -DECAYS * fastest if dt is None else abs(pole) >= 1 - 1e-9
        if not grows or pole.imag < 0:
            continue
        size = max(abs(pole), float(np.linalg.norm(balanced, 2)), 1e-300)
        pencil = np.hstack([(balanced - pole * np.eye(len(A))) / size, pushed])
        left, found, _ = np.linalg.svd(pencil)
        if found[-1] <= UNMOVED * found[0]:
            lost = np.abs(left[:, -1])
            shares = lost * np.abs(vector)
            out.append((complex(pole), shares if shares.max() > 1e-6 * lost.max() else lost))
    return out


def describe_mode(pole: complex, shares: Array, names: Sequence[str], dt: float | None = None) -> str:
    """ "the mode at 12.3 Hz (mostly fore.bend_y[1])"."""
    rate = pole if dt is None else np.log(complex(pole)) / dt
    name = names[int(np.argmax(shares))]
    if abs(rate.imag) > 1e-6 * max(abs(rate), 1e-9):
        return f"the mode at {abs(rate) / (2 * np.pi):.4g} Hz (mostly {name})"
    kind = "the rigid motion" if abs(rate) < 1e-5 else f"the motion that grows as exp({rate.real:.4g} t)"
    return f"{kind} (mostly {name})"


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
