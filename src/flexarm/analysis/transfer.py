"""From inputs to outputs of a linear model: poles, zeros, responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexarm.foundation.validation import Array, real_array

if TYPE_CHECKING:
    from flexarm.analysis.state_space import StateSpace

STEP, IMPULSE = "step", "impulse"
SAME = 1e-6  # against what is large: models that differ by less are one
PUSHED = 1e-13  # of what c and b could do together: less is rounding
RANK = 1e-11  # against what is large: below it a row of the scaled pencil says nothing
STILL = 1e-13  # against the largest singular value: smaller ones are zero
SIDE_BY_SIDE = 1e-9  # of vectors of size one: what they have in common beyond rounding
PERIODS, SAMPLES = 8, 800  # of the slowest motion that are shown unless times are given
MANY = 200  # frequencies that are solved for at once


def poles(A: Array) -> Array:
    """Eigenvalues, the smallest first."""
    found = np.linalg.eigvals(A)
    return np.asarray(found[np.lexsort((found.imag, np.round(np.abs(found), 12)))])


def zeros(A: Array, B: Array, C: Array, D: Array, made_from: SecondOrderModel | None = None) -> Array:
    """Transmission zeros: those of forces and displacements as motions in which the outputs rest, others by reducing
    the pencil to one without zeros at infinity (Emami-Naeini and Van Dooren)."""
    from scipy.linalg import eigvals

    if B.shape[1] != C.shape[0]:
        raise ValueError(
            f"zeros are those of as many outputs as inputs, and here are {C.shape[0]} and {B.shape[1]}: "
            "take a part of the model, lin['tip.y', 'upper']"
        )
    if (second := _second_order(A, B, C, D, made_from)) is not None:
        return _of_displacements(second, C[:, : len(second.M)])
    A, B, C, D = _scaled(A, B, C, D)
    for _ in range(2):  # rows, then columns
        A, B, C, D = _without_infinite(A, B, C, D)
        A, B, C, D = A.T, C.T, B.T, D.T
    states, inputs = A.shape[0], D.shape[1]
    if not states:
        return np.zeros(0, dtype=complex)
    if D.shape[0] != inputs:
        raise ValueError("the model has no zeros of its own: some input or output does nothing")
    if not inputs:
        return poles(A)
    # columns that [C D] does not see are all that moves at a zero
    _, _, turned = np.linalg.svd(np.hstack([C, D]))
    seen = turned[inputs:].T
    left, right = np.hstack([A, B]) @ seen, seen[:states]
    found = eigvals(left, right)
    found = found[np.isfinite(found)]
    return np.asarray(found[np.lexsort((found.imag, np.round(np.abs(found), 12)))])


class SecondOrderModel(NamedTuple):
    """M a + D v + K q = B u: what a model of first order was made from. It knows more digits."""

    M: Array
    D: Array
    K: Array
    B: Array


def _second_order(
    A: Array, B: Array, C: Array, D: Array, made_from: SecondOrderModel | None
) -> SecondOrderModel | None:
    """If outputs are displacements that forces push at once (C M^-1 B invertible, so that there are as many zeros as
    states but two for each output)."""
    n, inputs = len(A) // 2, B.shape[1]
    if not inputs or len(A) != 2 * n or n <= inputs or D.any() or B[:n].any() or C[:, n:].any():
        return None
    if A[:n, :n].any() or not np.array_equal(A[:n, n:], np.eye(n)):
        return None
    sizes = np.outer(np.linalg.norm(C[:, :n], axis=1), np.linalg.norm(B[n:], axis=0))
    if (sizes == 0).any() or np.linalg.svd(C[:, :n] @ B[n:] / sizes, compute_uv=False)[-1] < PUSHED:
        return None
    plain = SecondOrderModel(np.eye(n), -A[n:, n:], -A[n:, :n], B[n:])
    return plain if made_from is None or not _agree(plain, made_from) else made_from


def _agree(plain: SecondOrderModel, made_from: SecondOrderModel) -> bool:
    """Whether a model is still the one that was made: its matrices may have been replaced."""
    M = made_from.M
    if [each.shape for each in plain] != [each.shape for each in made_from]:
        return False
    pairs = [(M @ one, other) for one, other in zip(plain[1:], made_from[1:])]
    return all(_norm(one - other) <= SAME * max(_norm(one), _norm(other)) for one, other in pairs)


def _of_displacements(of: SecondOrderModel, c: Array) -> Array:
    """Where s^2 M q + s D q + K q = B u and c q = 0, as they stand: eliminating u and an unknown first would spoil
    zeros from a hub to a tip, which are the roots of differences of large numbers.

    Without damping the unknown is s^2; with it, s q is another one.
    """
    from scipy.linalg import eigvals

    (n, inputs), own = of.B.shape, np.abs(np.diag(of.K)) / np.diag(of.M)
    fast = float(np.sqrt(own[own > 0].min(initial=np.inf)))
    fast = fast if np.isfinite(fast) else 1.0  # a unit of time
    scale = 1 / np.sqrt(np.abs(np.diag(of.K)) + fast**2 * np.diag(of.M))
    M, D, K = (each * scale * scale[:, None] for each in (fast**2 * of.M, fast * of.D, of.K))
    b, c = of.B * scale[:, None], c * scale
    b, c = b / np.abs(b).max(axis=0), c / np.abs(c).max(axis=1)[:, None]
    damped = bool(D.any())
    size = (2 if damped else 1) * n + inputs
    left, right = np.zeros((2, size, size))
    rows = slice(size - inputs - n, size - inputs)
    left[rows, :n], left[rows, -inputs:], left[-inputs:, :n] = -K, b, c
    right[rows, rows] = M
    if damped:
        left[:n, n : 2 * n], left[rows, n : 2 * n], right[:n, :n] = np.eye(n), -D, np.eye(n)
    values = eigvals(left, right, homogeneous_eigvals=True)
    share = np.abs(values[1]) / np.hypot(*np.abs(values))
    wanted = size - (3 if damped else 2) * inputs
    kept = np.argsort(-share, kind="stable")[:wanted]  # the others are infinite
    found = values[0][kept] / values[1][kept]
    if not damped:
        roots = np.sqrt(found.astype(complex))
        found = np.concatenate([roots, -roots])
    found = np.asarray(found * fast, dtype=complex)
    return np.asarray(found[np.lexsort((found.imag, np.round(np.abs(found), 12)))])


def _scaled(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """The same zeros in units in which all is about as large: states balanced, inputs and outputs of size one."""
    from scipy.linalg import matrix_balance

    _, (scale, _) = matrix_balance(A, permute=False, separate=True)
    A, B, C = A * scale / scale[:, None], B / scale[:, None], C * scale
    rows = np.maximum(np.abs(C).max(axis=1, initial=0), np.abs(D).max(axis=1, initial=0))
    C, D = C / np.where(rows > 0, rows, 1)[:, None], D / np.where(rows > 0, rows, 1)[:, None]
    columns = np.maximum(np.abs(B).max(axis=0, initial=0), np.abs(D).max(axis=0, initial=0))
    return A, B / np.where(columns > 0, columns, 1), C, D / np.where(columns > 0, columns, 1)


def _without_infinite(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """Rows of D made independent: what is left of the outputs is traded for states, until nothing is."""
    while True:
        states, outputs = A.shape[0], D.shape[0]
        left, sizes, _ = np.linalg.svd(D) if D.size else (np.eye(outputs), np.zeros(0), None)
        rank = int((sizes > RANK * max(1.0, _norm(D))).sum())
        if rank == outputs:
            return A, B, C, D
        C, D = left.T @ C, left.T @ D
        idle, C, D = C[rank:], C[:rank], D[:rank]
        _, sizes, turned = np.linalg.svd(idle) if idle.size else (None, np.zeros(0), np.eye(states))
        known = int((sizes > RANK * max(_norm(idle), 1e-300)).sum()) if _norm(idle) > RANK else 0
        if known == 0:
            return A, B, C, D
        turned = np.roll(turned, -known, axis=0).T  # those that the outputs tell come last
        A, B, C = turned.T @ A @ turned, turned.T @ B, C @ turned
        kept = states - known
        A, B, C, D = A[:kept, :kept], B[:kept], np.vstack([C[:, :kept], A[kept:, :kept]]), np.vstack([D, B[kept:]])
        if kept == 0:
            return A, B, C, D
        sizes = np.maximum(np.abs(np.hstack([C, D])).max(axis=1, initial=0), 1e-300)
        C, D = C / sizes[:, None], D / sizes[:, None]


def _norm(matrix: Array) -> float:
    return float(np.abs(matrix).max(initial=0.0))


def response(model: StateSpace, f: Array) -> Array:
    """(len(f), outputs, inputs)."""
    if not np.isfinite(f).all():
        raise ValueError(f"f = {f[~np.isfinite(f)][0]}: must be frequencies (Hz)")
    s = 2j * np.pi * f
    if model.dt is not None:
        s = np.exp(s * model.dt)
    out = np.empty((len(f), *model.D.shape), dtype=complex)
    identity = np.eye(len(model.A))
    for start in range(0, len(f), MANY):
        part = s[start : start + MANY, None, None] * identity - model.A
        try:
            found = np.linalg.solve(part, np.broadcast_to(model.B, (len(part), *model.B.shape)))
        except np.linalg.LinAlgError:
            here = f[start : start + MANY][np.linalg.matrix_rank(part) < len(identity)]
            at = f"f = {here[0]:g} Hz" if len(here) else "f"
            raise ValueError(f"{at}: the model has a pole there, its response has no bound") from None
        out[start : start + MANY] = model.C @ found
    return np.asarray(out + model.D)


def dc_gain(model: StateSpace) -> Array:
    """At rest. Where some motions do not return, at frequencies that are slow against all others: what still grows
    there has no bound."""
    held = model.A if model.dt is None else model.A - np.eye(len(model.A))
    lasting = _lasting(held)
    if not lasting:
        return np.asarray(model.D - model.C @ np.linalg.solve(held, model.B))
    sizes = np.abs(np.linalg.eigvals(model.A) if model.dt is None else np.linalg.eigvals(held) / model.dt)
    moving = np.sort(sizes)[lasting:]
    slow = 1e-4 * (float(moving.min()) if len(moving) else 1.0) / (2 * np.pi)
    there, slower = response(model, np.array([slow, slow / 10]))
    return np.where(np.abs(slower) > 5 * np.abs(there), np.inf, slower.real)


def _lasting(A: Array) -> int:
    """How many eigenvalues of A are zero, where none is so more than twice with one vector: q' = v, v' = 0."""
    from scipy.linalg import matrix_balance

    if not A.size:
        return 0
    balanced, _ = matrix_balance(A, permute=False, separate=True)
    left, sizes, right = np.linalg.svd(balanced)
    count = int((sizes <= STILL * sizes.max()).sum())
    if not count:
        return 0
    met = left[:, -count:].T @ right[-count:].T
    return 2 * count - int((np.linalg.svd(met, compute_uv=False) > SIDE_BY_SIDE).sum())


def held_inputs(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    """Over a time dt in which inputs do not change."""
    from scipy.linalg import expm

    states, inputs = B.shape
    block = np.zeros((states + inputs,) * 2)
    block[:states, :states], block[:states, states:] = A * dt, B * dt
    grown = expm(block)
    return grown[:states, :states], grown[:states, states:]


def forced(model: StateSpace, t: Any, what: str) -> tuple[Array, Array]:
    """Times, and outputs (len(t), outputs, inputs), from rest."""
    times = _times(model) if t is None else real_array("t", t)
    if times.ndim != 1 or len(times) < 2 or np.any(np.diff(times) <= 0) or times[0] < 0:
        raise ValueError(f"t has shape {times.shape}: must be two or more times (s) from zero on, rising")
    steps = np.diff(times)
    if np.abs(steps - steps[0]).max() > 1e-9 * steps[0] or times[0] != 0:
        raise ValueError("t: must begin at zero and have equal distances, np.linspace(0, 2, 501)")
    if model.dt is None:
        A, B = held_inputs(model.A, model.B, float(steps[0]))
    elif abs(steps[0] / model.dt - 1) > 1e-9:
        raise ValueError(f"t: the model is sampled every {model.dt:g} s, and the times every {steps[0]:g} s")
    else:
        A, B = model.A, model.B
    out = np.empty((len(times), *model.D.shape))
    state = np.array(model.B) if what == IMPULSE and model.dt is None else np.zeros(model.B.shape)
    for k in range(len(times)):
        held = what == STEP or (model.dt is not None and k == 0)
        out[k] = model.C @ state + (model.D if held else 0)
        state = A @ state + (B if held else 0)
    return times, out


def _times(model: StateSpace) -> Array:
    """Some periods, or time constants, of the slowest motion."""
    if model.dt is not None:
        return np.asarray(np.arange(SAMPLES) * model.dt, dtype=float)
    sizes = np.abs(np.linalg.eigvals(model.A))
    moving = sizes[sizes > 1e-6 * sizes.max(initial=0.0)]
    slowest = float(moving.min()) if len(moving) else 1.0
    return np.asarray(np.linspace(0, PERIODS * 2 * np.pi / slowest, SAMPLES + 1), dtype=float)
