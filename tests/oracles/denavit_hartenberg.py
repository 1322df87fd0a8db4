"""Kinematics and dynamics of rigid arms from Denavit-Hartenberg parameters, with NumPy, in world axes.

Rows are (a, alpha, d, theta); bodies are (mass, com, inertia) in the frame of their row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any
UR10 = [
    (0.0, np.pi / 2, 0.1273, 0.0),
    (-0.612, 0.0, 0.0, 0.0),
    (-0.5723, 0.0, 0.0, 0.0),
    (0.0, np.pi / 2, 0.163941, 0.0),
    (0.0, -np.pi / 2, 0.1157, 0.0),
    (0.0, 0.0, 0.0922, 0.0),
]
PUMA_560 = [  # Craig's, in the modified convention
    (0.0, 0.0, 0.0, 0.0),
    (0.0, -np.pi / 2, 0.2435, 0.0),
    (0.4318, 0.0, -0.0934, 0.0),
    (-0.0203, np.pi / 2, 0.4331, 0.0),
    (0.0, -np.pi / 2, 0.0, 0.0),
    (0.0, np.pi / 2, 0.0, 0.0),
]


def about_x(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def along(x: float, z: float) -> Array:
    out = np.eye(4)
    out[[0, 2], 3] = x, z
    return out


def frames(rows: Sequence[Any], convention: str, q: Array) -> tuple[list[Array], list[Array]]:
    """Return the frames of the rows, and the frames of the joints (their z axis is that of the joint)."""
    T, found, joints = np.eye(4), [], []
    for (a, alpha, d, theta), angle in zip(rows, q, strict=True):
        if convention == "standard":
            joints.append(T)
            T = T @ about_z(theta + angle) @ along(0, d) @ along(a, 0) @ about_x(alpha)
        else:
            joints.append(T @ about_x(alpha) @ along(a, 0))
            T = joints[-1] @ about_z(theta + angle) @ along(0, d)
        found.append(T)
    return found, joints


def mass_matrix(rows: Sequence[Any], convention: str, bodies: Sequence[Any], q: Array) -> Array:
    """Return the mass matrix as the sum of J' M J of the bodies, with geometric Jacobians of their centres."""
    found, joints = frames(rows, convention, q)
    M = np.zeros((len(rows), len(rows)))
    for k, (mass, com, inertia) in enumerate(bodies):
        T = found[k]
        centre, R = T[:3, 3] + T[:3, :3] @ com, T[:3, :3]
        turn, move = np.zeros((2, 3, len(rows)))
        for j in range(k + 1):
            axis = joints[j][:3, 2]
            turn[:, j], move[:, j] = axis, np.cross(axis, centre - joints[j][:3, 3])
        M += mass * move.T @ move + turn.T @ R @ inertia @ R.T @ turn
    return M


def gravity_torque(rows: Sequence[Any], convention: str, bodies: Sequence[Any], q: Array, g: Array) -> Array:
    """Return the generalized forces dU/dq of gravity."""
    found, joints = frames(rows, convention, q)
    out = np.zeros(len(rows))
    for k, (mass, com, _) in enumerate(bodies):
        centre = found[k][:3, 3] + found[k][:3, :3] @ com
        for j in range(k + 1):
            out[j] -= mass * g @ np.cross(joints[j][:3, 2], centre - joints[j][:3, 3])
    return out
