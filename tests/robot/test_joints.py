"""Joints and drives."""

from math import pi, sqrt

import numpy as np
import pytest

import flexarm.robot as fa


def test_axes_by_name_and_by_direction():
    assert fa.Revolute("-y").axis_vector == (0.0, -1.0, 0.0)
    assert fa.Revolute((0, 3, 4)).axis_vector == pytest.approx((0, 0.6, 0.8))
    assert fa.Revolute(np.ones(3)).axis_vector == pytest.approx((1 / sqrt(3),) * 3)


def test_mounts_turn_frames():
    up = np.array(fa.Revolute("x", mount=(0, -pi / 2, 0)).mount_matrix)
    assert np.allclose(up @ [1, 0, 0], [0, 0, 1])
    assert fa.Weld().mount_matrix == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    swap = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    assert fa.Weld(swap).mount_matrix == fa.Revolute(mount=swap).mount_matrix


def test_coordinates_of_joints():
    assert fa.Weld().coordinates == 0
    assert fa.Revolute(drive=fa.Drive(rotor_inertia=1)).coordinates == 1
    assert fa.Revolute(drive=fa.Drive(stiffness=1, rotor_inertia=1)).coordinates == 2


def test_drive_reflects_its_rotor_through_the_gear():
    drive = fa.Drive(stiffness=100, rotor_inertia=2e-5, gear_ratio=50)
    assert drive.elastic
    assert drive.reflected_inertia == pytest.approx(0.05)
    assert not fa.Drive().elastic


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (
            lambda: fa.Revolute("w"),
            "axis = 'w': unknown axis (allowed: x, y, z, -x, -y, -z) or three numbers",
        ),
        (lambda: fa.Revolute((0, 0, 0)), "axis = (0, 0, 0): must not be zero: it has no direction"),
        (lambda: fa.Revolute(3), "axis = 3: must be an axis (x, y, z, -x, -y, -z) or three numbers"),
        (
            lambda: fa.Revolute(limits=(1, 0.5)),
            "limits = (1.0, 0.5): the lower limit must be below the upper one (rad)",
        ),
        (lambda: fa.Revolute(limits=(1, 2, 3)), "limits = (1, 2, 3): must be 2 finite numbers (rad)"),
        (lambda: fa.Revolute(viscous=-1), "viscous = -1: must be zero or positive (N m s/rad)"),
        (lambda: fa.Revolute(coulomb=-1), "coulomb = -1: must be zero or positive (N m)"),
        (lambda: fa.Revolute(coulomb_speed=0), "coulomb_speed = 0: must be positive (rad/s)"),
        (lambda: fa.Drive(stiffness=0), "stiffness = 0: must be positive (N m/rad, N/m in a prismatic joint)"),
        (
            lambda: fa.Drive(stiffness=10),
            "rotor_inertia = 0.0: must be positive (kg m2): behind a spring the motor would have no inertia",
        ),
        (lambda: fa.Drive(damping=1), "damping = 1.0: needs a stiffness: a rigid drive has nothing to damp"),
    ],
)
def test_refusals(build, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        build()
    assert str(caught.value) == expected


def test_degrees_raise_a_warning():
    with pytest.warns(fa.UnitsWarning, match=r"limits = \(-90\.0, 90\.0\): looks like degrees"):
        fa.Revolute(limits=(-90, 90))
    with pytest.warns(fa.UnitsWarning, match="mount = .* looks like degrees"):
        fa.Weld((0, 0, 90))
