"""Linear models of fewer states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexarm.foundation.numbers import Array, whole_number
from flexarm.foundation.sentences import shown

if TYPE_CHECKING:
    from flexarm.analysis.state_space import StateSpace

STILL = 1e-9  # of the fastest pole: what decays more slowly does not


def reduced(model: StateSpace, order: int, method: str) -> StateSpace:
    """By the slowest modes, or by what matters most between inputs and outputs."""
    order = whole_number("order", order, least=1)
    if method not in ("modal", "balanced"):
        raise ValueError(f"method = {shown(method)}: must be 'modal' or 'balanced'")
    if order >= len(model.A):
        raise ValueError(f"order = {order}: must be less than the {len(model.A)} states that the model has")
    return _modal(model, order) if method == "modal" else _balanced(model, order)


def _modal(model: StateSpace, order: int) -> StateSpace:
    sizes = np.sort(np.abs(np.linalg.eigvals(model.A)))
    if sizes[order] - sizes[order - 1] <= 1e-6 * sizes[order]:
        raise ValueError(
            f"order = {order}: would keep one of a pair of poles at {sizes[order]:.4g} rad/s; "
            f"take {order - 1 if order > 1 else order + 1} or {order + 1}"
        )
    slow, fast = split(model.A, lambda z: np.abs(z) < (sizes[order] + sizes[order - 1]) / 2)
    (A, B, C), (A_fast, B_fast, C_fast) = _parts(model, slow, fast)
    D = model.D - C_fast @ np.linalg.solve(A_fast, B_fast)  # at rest the fast modes follow at once
    return _named(model, A, B, C, D, "mode")


def _balanced(model: StateSpace, order: int) -> StateSpace:
    """Square-root balanced truncation of what decays; what does not is kept whole."""
    from scipy.linalg import solve_continuous_lyapunov

    limit = -STILL * np.abs(np.linalg.eigvals(model.A)).max()
    lasting, fading = split(model.A, lambda z: z.real > limit)
    if lasting.shape[1] >= order:
        raise ValueError(
            f"order = {order}: {lasting.shape[1]} states do not decay and are kept whole; take more, give the robot "
            "damping, or method='modal'"
        )
    (A_lasting, B_lasting, C_lasting), (A, B, C) = _parts(model, lasting, fading)
    reached = _root(solve_continuous_lyapunov(A, -B @ B.T))
    seen = _root(solve_continuous_lyapunov(A.T, -C.T @ C))
    left, sizes, right = np.linalg.svd(seen.T @ reached)
    kept = min(order - lasting.shape[1], int((sizes > 1e-14 * sizes[0]).sum()))
    root = 1 / np.sqrt(sizes[:kept])
    onto, out_of = (seen @ left[:, :kept] * root).T, reached @ right[:kept].T * root
    A, B, C = onto @ A @ out_of, onto @ B, C @ out_of
    zero = np.zeros((len(A_lasting), len(A)))
    return _named(
        model,
        np.block([[A_lasting, zero], [zero.T, A]]),
        np.vstack([B_lasting, B]),
        np.hstack([C_lasting, C]),
        model.D,
        "balanced",
    )


def split(A: Array, first: Callable[[complex], bool]) -> tuple[Array, Array]:
    """Real bases of the motions whose poles are among the first, and of the others."""
    from scipy.linalg import schur

    spaces = []
    for wanted in (first, lambda z: not first(z)):
        _, vectors, count = schur(A.astype(complex), output="complex", sort=wanted)
        both = np.hstack([vectors[:, :count].real, vectors[:, :count].imag])
        spaces.append(np.linalg.svd(both)[0][:, :count] if count else np.zeros((len(A), 0)))
    return spaces[0], spaces[1]


def _parts(model: StateSpace, one: Array, other: Array) -> list[tuple[Array, Array, Array]]:
    """The model of each of two spaces that do not mix."""
    base = np.hstack([one, other])
    A, B, C = np.linalg.solve(base, model.A @ base), np.linalg.solve(base, model.B), model.C @ base
    places = slice(0, one.shape[1]), slice(one.shape[1], None)
    return [(np.asarray(A[here, here]), np.asarray(B[here]), np.asarray(C[:, here])) for here in places]


def _root(gramian: Array) -> Array:
    """L with L L' = the matrix, which rounding may have made indefinite."""
    values, vectors = np.linalg.eigh((gramian + gramian.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _named(model: StateSpace, A: Array, B: Array, C: Array, D: Array, word: str) -> StateSpace:
    from flexarm.analysis.state_space import Signal

    states = tuple(Signal(f"{word}[{k + 1}]", "1") for k in range(len(A)))
    return replace(model, A=A, B=B, C=C, D=D, states=states, made_from=None)
