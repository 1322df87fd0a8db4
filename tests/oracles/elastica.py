"""A clamped, inextensible planar beam under dead loads at its tip, however large its deflection."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

STEPS = 8  # in which the loads grow, so that each solution is the guess of the next


def tip(force: tuple[float, float], moment: float = 0.0, EI: float = 1.0, length: float = 1.0) -> np.ndarray:
    """(x, y, angle) of the tip of a beam along x, clamped at the origin.

    EI theta'' = Fx sin(theta) - Fy cos(theta), theta(0) = 0, EI theta'(L) = moment; x' = cos(theta), y' = sin(theta).
    """
    return along(np.array([length]), force, moment, EI, length)[0]


def along(
    x: np.ndarray, force: tuple[float, float], moment: float = 0.0, EI: float = 1.0, length: float = 1.0
) -> np.ndarray:
    """(points, 3): the same at the material points `x`, ascending."""
    curvature = 0.0
    for share in np.linspace(0, 1, STEPS + 1)[1:]:

        def missed(guess: np.ndarray, share: float = share) -> float:
            ends = _integrated(float(guess[0]), (share * force[0], share * force[1]), EI, length).y[:, -1]
            return float(ends[1] - share * moment / EI)

        found = root(missed, [curvature], tol=1e-13)
        curvature = float(found.x[0])
    if abs(missed(found.x)) > 1e-9 * max(1.0, abs(curvature)):
        raise ArithmeticError(f"shooting for the elastica missed the tip's moment by {missed(found.x):.1g}")
    solved = _integrated(curvature, force, EI, length, x).y
    return np.array([solved[2], solved[3], solved[0]]).T


def _integrated(curvature: float, force: tuple[float, float], EI: float, length: float, x: np.ndarray | None = None):
    def rates(_: float, state: np.ndarray) -> list[float]:
        cos, sin = np.cos(state[0]), np.sin(state[0])
        return [state[1], (force[0] * sin - force[1] * cos) / EI, cos, sin]

    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "t_eval": x}
    return solve_ivp(rates, (0, length), [0.0, curvature, 0.0, 0.0], **options)
