"""Modes that inputs do not move or outputs do not show, by name (Popov, Belevitch and Hautus' test)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexarm.foundation.numbers import Array

UNMOVED = 1e-9  # smallest singular value, of a model that is balanced, against its largest
DECAYS = 1e-9  # of the fastest pole: a mode that decays more slowly does not


def require_moved(A: Array, B: Array, names: Sequence[str], by: str, dt: float | None = None) -> None:
    """A ValueError where a mode that does not decay is not reached. The words `by` end the sentence, "cannot be moved
    by 'fore'".
    """
    for pole, state in _unreached(A, B, dt):
        raise ValueError(f"{told(pole, state, names, dt)} {by}")


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


def told(pole: complex, shares: Array, names: Sequence[str], dt: float | None = None) -> str:
    """ "the mode at 12.3 Hz (mostly fore.bend_y[1])"."""
    rate = pole if dt is None else np.log(complex(pole)) / dt
    name = names[int(np.argmax(shares))]
    if abs(rate.imag) > 1e-6 * max(abs(rate), 1e-9):
        return f"the mode at {abs(rate) / (2 * np.pi):.4g} Hz (mostly {name})"
    kind = "the rigid motion" if abs(rate) < 1e-5 else f"the motion that grows as exp({rate.real:.4g} t)"
    return f"{kind} (mostly {name})"
