"""Poles, transmission zeros and responses of linear models.

Zeros follow Emami-Naeini and Van Dooren (1982), or an eigenproblem of the equations of second order where these exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexarm.foundation.validation import Array, real_array

if TYPE_CHECKING:
    from flexarm.analysis.state_space import StateSpace

MODEL_TOLERANCE = 1e-6  # relative difference below which two models are the same
GAIN_TOLERANCE = 1e-13  # smallest singular value of C M^-1 B, relative to |C| |B|, that is not rounding
RANK_TOLERANCE = 1e-11  # relative size below which a row of the scaled pencil is zero
SINGULAR_VALUE_TOLERANCE = 1e-13  # relative to the largest singular value
PARALLEL_TOLERANCE = 1e-9  # smallest scalar product of unit vectors that is not rounding
SHOWN_PERIOD_COUNT, SHOWN_SAMPLE_COUNT = 8, 800  # default times of responses, periods of the slowest motion
FREQUENCY_BATCH_SIZE = 200  # frequencies solved for in one call


def poles(A: Array) -> Array:
    """Return the eigenvalues of A, sorted by magnitude."""
    return _by_magnitude(np.linalg.eigvals(A))


def _by_magnitude(values: Any) -> Array:
    return np.asarray(values[np.lexsort((values.imag, np.round(np.abs(values), 12)))])


def zeros(A: Array, B: Array, C: Array, D: Array, made_from: SecondOrderModel | None = None) -> Array:
    """Return the transmission zeros, sorted by magnitude.

    If outputs are displacements and inputs are forces, zeros are those of the equations of second order; otherwise the
    system pencil is reduced to one without zeros at infinity (Emami-Naeini and Van Dooren 1982).
    """
    from scipy.linalg import eigvals

    if B.shape[1] != C.shape[0]:
        raise ValueError(
            f"zeros are those of as many outputs as inputs, and here are {C.shape[0]} and {B.shape[1]}: "
            "take a part of the model, lin['tip.y', 'upper']"
        )
    if (second := _second_order(A, B, C, D, made_from)) is not None:
        return _second_order_zeros(second, C[:, : len(second.M)])
    A, B, C, D = _balance(A, B, C, D)
    for _ in range(2):  # rows, then columns
        A, B, C, D = _remove_infinite_zeros(A, B, C, D)
        A, B, C, D = A.T, C.T, B.T, D.T
    states, inputs = A.shape[0], D.shape[1]
    if not states:
        return np.zeros(0, dtype=complex)
    if D.shape[0] != inputs:
        raise ValueError("the model has no zeros of its own: some input or output does nothing")
    if not inputs:
        return poles(A)
    # at a zero, states and inputs lie in the null space of [C D]
    _, _, turned = np.linalg.svd(np.hstack([C, D]))
    seen = turned[inputs:].T
    left, right = np.hstack([A, B]) @ seen, seen[:states]
    found = eigvals(left, right)
    return _by_magnitude(found[np.isfinite(found)])


class SecondOrderModel(NamedTuple):
    """Equations M a + D v + K q = B u from which a model of first order was made; they are more accurate."""

    M: Array
    D: Array
    K: Array
    B: Array


def _second_order(
    A: Array, B: Array, C: Array, D: Array, made_from: SecondOrderModel | None
) -> SecondOrderModel | None:
    """Return the equations of second order if outputs are displacements with C M^-1 B invertible, else None."""
    n, inputs = len(A) // 2, B.shape[1]
    if not inputs or len(A) != 2 * n or n <= inputs or D.any() or B[:n].any() or C[:, n:].any():
        return None
    if A[:n, :n].any() or not np.array_equal(A[:n, n:], np.eye(n)):
        return None
    sizes = np.outer(np.linalg.norm(C[:, :n], axis=1), np.linalg.norm(B[n:], axis=0))
    if (sizes == 0).any() or np.linalg.svd(C[:, :n] @ B[n:] / sizes, compute_uv=False)[-1] < GAIN_TOLERANCE:
        return None
    recovered = SecondOrderModel(np.eye(n), -A[n:, n:], -A[n:, :n], B[n:])
    if made_from is None or [each.shape for each in recovered] != [each.shape for each in made_from]:
        return recovered
    for one, other in zip(recovered[1:], made_from[1:]):  # the matrices of the model may have been replaced
        if _norm(made_from.M @ one - other) > MODEL_TOLERANCE * max(_norm(made_from.M @ one), _norm(other)):
            return recovered
    return made_from


def _second_order_zeros(model: SecondOrderModel, c: Array) -> Array:
    """Return the zeros of s^2 M q + s D q + K q = B u with c q = 0.

    The unknown u is kept: eliminating it first would spoil zeros from a hub to a tip, which are roots of differences of
    large numbers. Without damping the eigenvalue is s^2; with damping s q is a further unknown.
    """
    from scipy.linalg import block_diag, eigvals

    (n, inputs), own = model.B.shape, np.abs(np.diag(model.K)) / np.diag(model.M)
    fast = float(np.sqrt(own[own > 0].min(initial=np.inf)))
    fast = fast if np.isfinite(fast) else 1.0  # a unit of time
    scale = 1 / np.sqrt(np.abs(np.diag(model.K)) + fast**2 * np.diag(model.M))
    M, D, K = (each * scale * scale[:, None] for each in (fast**2 * model.M, fast * model.D, model.K))
    b, c = model.B * scale[:, None], c * scale
    b, c = b / np.abs(b).max(axis=0), c / np.abs(c).max(axis=1)[:, None]
    damped = bool(D.any())
    held, eye = np.zeros((inputs, inputs)), np.eye(n)
    if damped:
        zero = np.zeros((n, n))
        left = np.block([[zero, eye, 0 * b], [-K, -D, b], [c, 0 * c, held]])
        right = block_diag(eye, M, held)
    else:
        left, right = np.block([[-K, b], [c, held]]), block_diag(M, held)
    values = eigvals(left, right, homogeneous_eigvals=True)
    share = np.abs(values[1]) / np.hypot(*np.abs(values))
    count = len(left) - (3 if damped else 2) * inputs
    kept = np.argsort(-share, kind="stable")[:count]  # the others are infinite
    found = values[0][kept] / values[1][kept]
    if not damped:
        roots = np.sqrt(found.astype(complex))
        found = np.concatenate([roots, -roots])
    return _by_magnitude(found.astype(complex) * fast)


def _balance(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """Return the matrices in units in which all have similar size; zeros do not change."""
    from scipy.linalg import matrix_balance

    _, (scale, _) = matrix_balance(A, permute=False, separate=True)
    A, B, C = A * scale / scale[:, None], B / scale[:, None], C * scale
    rows = np.abs(np.hstack([C, D])).max(axis=1, initial=0)
    rows = np.where(rows > 0, rows, 1)[:, None]
    C, D = C / rows, D / rows
    columns = np.abs(np.vstack([B, D])).max(axis=0, initial=0)
    columns = np.where(columns > 0, columns, 1)
    return A, B / columns, C, D / columns


def _remove_infinite_zeros(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """Reduce the pencil until D has full row rank, trading outputs without feedthrough for states."""
    while True:
        states, outputs = A.shape[0], D.shape[0]
        left, sizes, _ = np.linalg.svd(D) if D.size else (np.eye(outputs), np.zeros(0), None)
        rank = int((sizes > RANK_TOLERANCE * max(1.0, _norm(D))).sum())
        if rank == outputs:
            return A, B, C, D
        C, D = left.T @ C, left.T @ D
        idle, C, D = C[rank:], C[:rank], D[:rank]
        _, sizes, turned = np.linalg.svd(idle) if idle.size else (None, np.zeros(0), np.eye(states))
        rank_C = int((sizes > RANK_TOLERANCE * max(_norm(idle), 1e-300)).sum()) if _norm(idle) > RANK_TOLERANCE else 0
        if rank_C == 0:
            return A, B, C, D
        turned = np.roll(turned, -rank_C, axis=0).T  # observed states come last
        A, B, C = turned.T @ A @ turned, turned.T @ B, C @ turned
        kept = states - rank_C
        A, B, C, D = A[:kept, :kept], B[:kept], np.vstack([C[:, :kept], A[kept:, :kept]]), np.vstack([D, B[kept:]])
        if kept == 0:
            return A, B, C, D
        sizes = np.maximum(np.abs(np.hstack([C, D])).max(axis=1, initial=0), 1e-300)
        C, D = C / sizes[:, None], D / sizes[:, None]


def _norm(matrix: Array) -> float:
    return float(np.abs(matrix).max(initial=0.0))


def response(model: StateSpace, f: Array) -> Array:
    """Return the frequency response at frequencies f (Hz), shape (len(f), outputs, inputs)."""
    if not np.isfinite(f).all():
        raise ValueError(f"f = {f[~np.isfinite(f)][0]}: must be frequencies (Hz)")
    s = 2j * np.pi * f
    if model.dt is not None:
        s = np.exp(s * model.dt)
    out = np.empty((len(f), *model.D.shape), dtype=complex)
    identity = np.eye(len(model.A))
    for start in range(0, len(f), FREQUENCY_BATCH_SIZE):
        part = s[start : start + FREQUENCY_BATCH_SIZE, None, None] * identity - model.A
        try:
            states = np.linalg.solve(part, np.broadcast_to(model.B, (len(part), *model.B.shape)))
        except np.linalg.LinAlgError:
            here = f[start : start + FREQUENCY_BATCH_SIZE][np.linalg.matrix_rank(part) < len(identity)]
            at = f"f = {here[0]:g} Hz" if len(here) else "f"
            raise ValueError(f"{at}: the model has a pole there, its response has no bound") from None
        out[start : start + FREQUENCY_BATCH_SIZE] = model.C @ states
    return np.asarray(out + model.D)


def dc_gain(model: StateSpace) -> Array:
    """Return the steady response to unit inputs; entries that grow with the period at low frequencies are infinite."""
    held = model.A if model.dt is None else model.A - np.eye(len(model.A))
    lasting = _count_undamped(held)
    if not lasting:
        return np.asarray(model.D - model.C @ np.linalg.solve(held, model.B))
    sizes = np.abs(np.linalg.eigvals(model.A) if model.dt is None else np.linalg.eigvals(held) / model.dt)
    moving = np.sort(sizes)[lasting:]
    slow = 1e-4 * (float(moving.min()) if len(moving) else 1.0) / (2 * np.pi)
    there, slower = response(model, np.array([slow, slow / 10]))
    return np.where(np.abs(slower) > 5 * np.abs(there), np.inf, slower.real)


def _count_undamped(A: Array) -> int:
    """Return the number of zero eigenvalues of A, of which at most two share one eigenvector (q' = v, v' = 0)."""
    from scipy.linalg import matrix_balance

    if not A.size:
        return 0
    balanced, _ = matrix_balance(A, permute=False, separate=True)
    left, sizes, right = np.linalg.svd(balanced)
    count = int((sizes <= SINGULAR_VALUE_TOLERANCE * sizes.max()).sum())
    if not count:
        return 0
    met = left[:, -count:].T @ right[-count:].T
    return 2 * count - int((np.linalg.svd(met, compute_uv=False) > PARALLEL_TOLERANCE).sum())


def zero_order_hold(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    """Return the state and input matrices over a period dt with constant inputs."""
    from scipy.signal import cont2discrete

    held = cont2discrete((A, B, np.zeros((0, len(A))), np.zeros((0, B.shape[1]))), dt)
    return held[0], held[1]


def simulate(model: StateSpace, t: Any, impulse: bool) -> tuple[Array, Array]:
    """Return times, and outputs from rest of shape (len(t), outputs, inputs), after a unit step or impulse."""
    times = _times(model) if t is None else real_array("t", t)
    if times.ndim != 1 or len(times) < 2 or np.any(np.diff(times) <= 0) or times[0] < 0:
        raise ValueError(f"t has shape {times.shape}: must be two or more times (s) from zero on, rising")
    steps = np.diff(times)
    if np.abs(steps - steps[0]).max() > 1e-9 * steps[0] or times[0] != 0:
        raise ValueError("t: must begin at zero and have equal distances, np.linspace(0, 2, 501)")
    if model.dt is None:
        A, B = zero_order_hold(model.A, model.B, float(steps[0]))
    elif abs(steps[0] / model.dt - 1) > 1e-9:
        raise ValueError(f"t: the model is sampled every {model.dt:g} s, and the times every {steps[0]:g} s")
    else:
        A, B = model.A, model.B
    out = np.empty((len(times), *model.D.shape))
    state = model.B if impulse and model.dt is None else np.zeros(model.B.shape)
    for k in range(len(times)):
        held = not impulse or (model.dt is not None and k == 0)
        out[k] = model.C @ state + (model.D if held else 0)
        state = A @ state + (B if held else 0)
    return times, out


def _times(model: StateSpace) -> Array:
    """Return times that cover several periods, or time constants, of the slowest motion."""
    if model.dt is not None:
        return np.asarray(np.arange(SHOWN_SAMPLE_COUNT) * model.dt, dtype=float)
    sizes = np.abs(np.linalg.eigvals(model.A))
    moving = sizes[sizes > 1e-6 * sizes.max(initial=0.0)]
    slowest = float(moving.min()) if len(moving) else 1.0
    return np.asarray(np.linspace(0, SHOWN_PERIOD_COUNT * 2 * np.pi / slowest, SHOWN_SAMPLE_COUNT + 1), dtype=float)
