"""How long before and after its path an output has to be prepared and followed up.

While the output stands still the robot moves as the zeros of its linear model do: those in the right half plane lead up
to the path, those in the left one follow it. Zeros that do not decay leave no bounded motion to begin with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flexarm.analysis.transfer import zeros
from flexarm.control.inverse.servo import Goals, Servo
from flexarm.foundation.numbers import Array

CONSTANTS = 12.0  # time constants of the slowest zero: e^-12 = 6e-6 is left
LONGEST = 30.0  # durations of the path, that each window takes at most unless it is given
FEWEST = 3.0  # time constants that must fit into it: e^-3 = 5 % would be left
UNDAMPED = 1e-6  # of a zero's size: with a smaller real part it is on the imaginary axis


@dataclass(frozen=True)
class SmallMotionsAtRest:
    """M d'' + D d' + K d = B u, C d = (0 unless the path moves), about a posture (nq,) in which the robot rests."""

    servo: Servo
    q: Array
    goals: Goals  # of that one time

    @cached_property
    def matrices(self) -> tuple[Array, Array, Array, Array, Array]:
        """M, D, K, B and C."""
        system, rest = self.servo.system, np.zeros_like(self.q)[None]
        found = system.linearization(self.q)
        slope = self.servo.statics(self.q[None], rest, rest, self.goals)[1][0]
        C = slope[len(self.servo.passive) :]
        return found.M, found.G + found.D, found.K, system.input_matrix, C

    @cached_property
    def zeros(self) -> Array:
        """Of the outputs (rad/s, complex)."""
        M, D, K, B, C = self.matrices
        n, count = len(M), B.shape[1]
        inverse = np.linalg.inv(M)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ D]])
        whole = np.vstack([np.zeros((n, count)), inverse @ B]), np.hstack([C, np.zeros((count, n))])
        return np.asarray(zeros(A, *whole, np.zeros((count, count))))


def windows(ends: list[SmallMotionsAtRest], duration: float) -> tuple[float, float]:
    """Seconds before and after a path that lasts so long."""
    found = np.concatenate([each.zeros for each in ends])
    still = found[np.abs(found.real) <= UNDAMPED * np.abs(found)]
    if len(still):
        slowest = float(np.abs(still).min()) / (2 * np.pi)
        raise ValueError(
            f"tip: while the output stands still the robot would vibrate at {slowest:.4g} Hz without end, since it has "
            "zeros on the imaginary axis; give links (or joints) some damping, fa.Damping(ratio=0.01), or move the "
            "joints (output='joints')"
        )
    out = []
    for side in (found[found.real > 0], -found[found.real < 0]):
        slowest = float(side.real.min()) if len(side) else np.inf
        if slowest * LONGEST * duration < FEWEST:
            turns = float(np.abs(side[side.real.argmin()].imag)) / (2 * np.pi)
            raise ValueError(
                f"tip: while the output stands still the robot vibrates at {turns:.4g} Hz and needs {1 / slowest:.3g} "
                f"s to calm down to a third, which is long against a path of {duration:.3g} s; give it more damping, "
                "choose another output, or insist by telling how long the torques may go on (before and after)"
            )
        out.append(min(CONSTANTS / slowest, LONGEST * duration))
    return out[0], out[1]
