"""A uniform beam on a hub that turns freely, mu = L = EI = 1: poles and zeros from the torque at the hub.

Euler and Bernoulli's beam, small motions: v'''' = b^4 v, omega = b^2. Poles and zeros are roots of equations of one
number, each to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

LOW, HIGH = 0.5, 18.0  # the first five of each are between


def roots(function: Callable[[float], float], low: float = LOW, high: float = HIGH, count: int = 3000) -> np.ndarray:
    """All places between where it changes its sign."""
    x = np.linspace(low, high, count)
    values = [function(each) for each in x]
    changes = [k for k in range(count - 1) if values[k] * values[k + 1] < 0]
    return np.array([brentq(function, x[k], x[k + 1], xtol=1e-14) for k in changes])


def poles(hub: float, count: int = 5) -> np.ndarray:
    """Return the natural frequencies (rad/s) of the beam on a hub of the given inertia J.

    With v = 0 and v'' + b^4 J v' = 0 at the hub and a free tip, the 4 x 4 determinant of cos, cosh, sin and sinh
    expands to cos b sinh b - sin b cosh b = J b^3 (1 + cos b cosh b). Divided by cosh b its terms are of order one;
    a numerical determinant loses ten digits at a heavy hub, more or fewer by the LAPACK kernel of the processor.
    """

    def residual(b: float) -> float:
        clamped = np.cos(b) + 1 / np.cosh(b)
        return float(np.cos(b) * np.tanh(b) - np.sin(b) - hub * b**3 * clamped)

    return roots(residual)[:count] ** 2


def collocated_zeros(count: int = 5) -> np.ndarray:
    """Frequencies (rad/s) at which a torque leaves the hub at rest: those of the clamped beam, cos b cosh b = -1."""
    return roots(lambda b: np.cos(b) + 1 / np.cosh(b))[:count] ** 2


def tip_zeros(count: int = 5) -> np.ndarray:
    """Real numbers s (1/s), zeros from torque to tip at s and -s.

    The torque turns the hub and the tip rests: no deflection at the hub; none, no moment and no shear at the tip;
    s^2 = 4 a^4. The shape is a sum of products of sin, cos with sinh, cosh of a (1 - x): tan a = -tanh a.
    """
    return 2 * roots(lambda a: np.sin(a) + np.tanh(a) * np.cos(a))[:count] ** 2
