"""Contacts with stops that steps have jumped over.

A joint may run into a stiff stop and come back within one step. Where the step begins and where it ends all looks well,
and the error estimate, which sees displacements, is content; but the curve between dives deep into the stop, or the
energy of the impact is gone. So the energy of steps in contact is balanced.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.audit import leaks
from flexarm.motion.report import Report
from flexarm.motion.sampling import between
from flexarm.motion.state import Layout
from flexarm.robot import MovingJoint

INSIDE = np.array([0.25, 0.5, 0.75])  # of a step: where it is looked at
SHORT = 1e-8  # s: such steps have tried enough
LEAK = 0.01  # of the largest energy of the motion so far: what a step in contact may put in or take out


class Contacts:
    """The stops of a robot's joints in one run."""

    def __init__(self, system: System) -> None:
        self._stops = [
            (system.joint(link.name).index, *link.joint.limits)
            for link in system.robot.links
            if isinstance(link.joint, MovingJoint) and link.joint.stop is not None and link.joint.limits is not None
            if not leaks(system.robot)
        ]
        self._largest = 0.0  # J

    @property
    def any(self) -> bool:
        """Whether there are stops to be looked at."""
        return bool(self._stops)

    def first_missed(self, times: Array, states: Array, layout: Layout, report: Report) -> int | None:
        """Return the first of the steps between these nodes that jumped over a contact, if one did."""
        rows = self._in_contact(times, states, layout)
        rows = rows[np.diff(times)[rows] >= SHORT]
        if not rows.size:
            return None
        inside = times[rows, None] + np.diff(times)[rows, None] * INSIDE
        looked_at = between(times, states, inside.ravel(), layout).reshape(*inside.shape, -1)
        path = np.concatenate([states[rows, None], looked_at, states[rows + 1, None]], axis=1)
        leaked, moving = _balance(path, layout, report)
        most = np.maximum.accumulate(np.maximum(moving, self._largest))
        jumped = leaked > LEAK * most
        passed = int(jumped.argmax()) if jumped.any() else len(rows)
        self._largest = float(most[passed - 1]) if passed else self._largest
        return int(rows[passed]) if passed < len(rows) else None

    def _in_contact(self, times: Array, states: Array, layout: Layout) -> NDArray[np.intp]:
        """The steps in which a joint is, or may have been, in a stop."""
        touched = np.zeros(len(times) - 1, dtype=bool)
        for place, lower, upper in self._stops:
            q, v = states[:, layout.q][:, place], np.abs(states[:, layout.v][:, place])
            reach = np.maximum(v[:-1], v[1:]) * np.diff(times)
            touched |= (np.minimum(q[:-1], q[1:]) - reach < lower) | (np.maximum(q[:-1], q[1:]) + reach > upper)
        return np.flatnonzero(touched)


def _balance(path: Array, layout: Layout, report: Report) -> tuple[Array, Array]:
    """Of points along each step, (steps, points, state): the worst of the energy's balance, and the largest energy of
    motion and springs at its ends."""
    flat = path.reshape(-1, path.shape[-1])
    inputs = np.zeros((len(flat), report.inputs))
    energies = report(*(flat[:, part] for part in layout.motions), inputs)[0].reshape(*path.shape[:2], -1)
    total = energies.sum(axis=2) - path[..., layout.work] + path[..., layout.lost]
    moving = energies[:, [0, -1]][..., [0, 1, 3]].sum(axis=2).max(axis=1)  # gravity has its zero anywhere
    return np.abs(total - total[:, :1]).max(axis=1), moving
