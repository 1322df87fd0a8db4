"""Conventions of spatial_algebra.py, by differentiating poses in time."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from flexarm.dynamics.spatial_algebra import (
    GeneralRotation,
    Mount,
    Shift,
    Turn,
    X,
    Y,
    Z,
    acceleration_along,
    pose_along,
    rotation,
    simplify,
    twist_along,
)

t = ca.SX.sym("t")


def rates(expression):
    first = ca.jacobian(expression, t)
    return expression, first, ca.jacobian(first, t)


def number(expression, at=0.7):
    return ca.Function("f", [t], [expression])(at).full()


TILT = ca.SX(ca.DM(np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])))
AXIS = tuple(np.array([1.0, -2.0, 2.0]) / 3)


def swing(R):
    """Return any rotation with its angular velocity in the new axes from R^T dR."""
    spin = R.T @ ca.reshape(ca.jacobian(ca.vec(R), t), 3, 3)
    omega = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
    return GeneralRotation(R, omega, ca.jacobian(omega, t))


@pytest.fixture
def path():
    return [
        Turn(Z, *rates(0.3 + t**2)),
        Shift(*rates(ca.vertcat(1 + t, t**2, -0.5 * t))),
        Mount(TILT),
        Turn(AXIS, *rates(ca.sin(2 * t))),
        Turn(Y, *rates(-t)),
        Turn(Y, *rates(t**3)),
        Shift(*rates(ca.vertcat(0.2, ca.cos(t), 0))),
        Turn(X, *rates(0.4 * t)),
        swing(rotation(Z, ca.sin(t)) @ rotation(Y, t**2) @ rotation(X, -t)),
        Shift(*rates(ca.vertcat(t, 0.1, -(t**2)))),
    ]


def test_rotation_matrices_are_proper_and_turn_the_right_way():
    R = number(rotation(Z, np.pi / 2))
    assert_allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    R = number(rotation(AXIS, 0.9))
    assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1)
    assert_allclose(R @ AXIS, AXIS, atol=1e-14)
    assert np.trace(R) == pytest.approx(1 + 2 * np.cos(0.9))


def test_twist_is_angular_first_in_the_moving_frames_own_axes(path):
    R, p = pose_along(path, ca.SX.eye(3), ca.SX.zeros(3))
    omega, v = twist_along(path, ca.SX.zeros(3), ca.SX.zeros(3))
    dR = ca.reshape(ca.jacobian(ca.vec(R), t), 3, 3)
    spin = number(R.T @ dR)
    assert_allclose(spin, -spin.T, atol=1e-13)
    assert_allclose(number(omega)[:, 0], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-13)
    assert_allclose(number(v), number(R.T @ ca.jacobian(p, t)), atol=1e-13)


def test_acceleration_is_that_of_the_origin(path):
    R, p = pose_along(path, ca.SX.eye(3), ca.SX.zeros(3))
    omega, _ = twist_along(path, ca.SX.zeros(3), ca.SX.zeros(3))
    same, domega, a = acceleration_along(path, ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(3))
    assert_allclose(number(same), number(omega), atol=1e-13)
    assert_allclose(number(domega), number(ca.jacobian(omega, t)), atol=1e-13)
    assert_allclose(number(a), number(R.T @ ca.jacobian(ca.jacobian(p, t), t)), atol=1e-12)


def test_simplified_paths_lead_to_the_same_place_in_fewer_steps(path):
    short = simplify([Mount(ca.SX.eye(3)), *path])
    assert len(short) == len(path) - 1
    start = (ca.SX.eye(3), ca.SX.zeros(3))
    for long, brief in zip(pose_along(path, *start), pose_along(short, *start)):
        assert_allclose(number(brief), number(long), atol=1e-14)
    rest = (ca.SX.zeros(3),) * 3
    for long, brief in zip(acceleration_along(path, *rest), acceleration_along(short, *rest)):
        assert_allclose(number(brief), number(long), atol=1e-12)
