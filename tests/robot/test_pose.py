"""Rotations: angles and matrices."""

from math import cos, pi, sin

import numpy as np
import pytest

import flexarm.robot as fa

ROLL, PITCH, YAW = 0.3, -0.7, 1.9


def turn(axis, angle):
    """Rotation by Rodrigues' formula, independent of the code under test."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + sin(angle) * K + (1 - cos(angle)) * K @ K


def test_angles_mean_yaw_after_pitch_after_roll():
    expected = turn((0, 0, 1), YAW) @ turn((0, 1, 0), PITCH) @ turn((1, 0, 0), ROLL)
    assert np.allclose(fa.Pose(rotation=(ROLL, PITCH, YAW)).matrix, expected, atol=1e-15)


def test_a_matrix_is_kept_as_given():
    R = turn((0, 0.6, 0.8), 1.1)
    pose = fa.Pose(rotation=R)
    assert np.array_equal(pose.matrix, R)
    assert isinstance(pose.rotation[0], tuple)
    assert hash(pose) == hash(fa.Pose(rotation=R.tolist()))


@pytest.mark.parametrize(
    ("rotation", "word"),
    [
        (np.diag([1, 1, -1]), "its determinant is -1"),
        (np.diag([1, 1, 1 + 1e-5]), "its rows are not orthonormal"),
        ((0, 0), "must be three angles"),
        ([[1, 0], [0, 1]], "must be three angles"),
        ("z", "must be three angles"),
        ((0, 0, float("inf")), "must be three angles"),
    ],
)
def test_refusals(rotation, word):
    with pytest.raises(fa.DescriptionError, match=word):
        fa.Pose(rotation=rotation)


def test_degrees_raise_a_warning():
    with pytest.warns(fa.UnitsWarning, match="looks like degrees"):
        fa.Pose(rotation=(0, 0, 90))
    fa.Pose(rotation=(0, 0, 2 * pi))
