"""Point masses and their inertia."""

import numpy as np
import pytest

import flexarm.robot as fa
from flexarm.dynamics.system import System


@pytest.mark.parametrize(
    ("inertia", "matrix"),
    [
        (None, np.zeros((3, 3))),
        (2, np.diag([2, 2, 2])),
        ((1, 2, 3), np.diag([1, 2, 3])),
        ((1, 2, 3, 0.1, 0.2, 0.3), [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]),
        (np.diag([1.0, 2.0, 3.0]), np.diag([1, 2, 3])),
    ],
)
def test_inertia_in_all_its_forms(inertia, matrix):
    lump = fa.PointMass(1, inertia=inertia)
    assert np.array_equal(lump.inertia_matrix, matrix)
    hash(lump)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"mass": -1}, "mass = -1: must be zero or positive (kg)"),
        ({"mass": 1, "inertia": -1}, "inertia = -1: must not be negative about any axis, but is -1 kg m2 about one"),
        (
            {"mass": 1, "inertia": (1, 1, 1, 2, 0, 0)},
            "inertia = (1, 1, 1, 2, 0, 0): must not be negative about any axis, but is -1 kg m2 about one",
        ),
        (
            {"mass": 1, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]},
            "inertia = [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]: must be a symmetric matrix (kg m2)",
        ),
        (
            {"mass": 1, "inertia": (1, 2)},
            "inertia = (1, 2): must be one, three (xx, yy, zz) or six (and xy, xz, yz) numbers or a 3x3 matrix (kg m2)",
        ),
        ({"mass": 1, "inertia": "big"}, "inertia = 'big': must be a number (kg m2), not text"),
        ({"mass": 1, "offset": 3}, "offset = 3: must be 3 finite numbers (m)"),
        ({"mass": 1, "at": -0.1}, "at = -0.1: must be zero or positive (m)"),
    ],
)
def test_refusals(fields, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.PointMass(**fields)
    assert str(caught.value) == expected


def test_a_pure_inertia_needs_no_mass():
    assert fa.PointMass(0, inertia=(0, 0, 1e-4)).mass == 0


@pytest.mark.parametrize("lump", [fa.PointMass(0), fa.PointMass(0, inertia=0), fa.PointMass(0, offset=(0.1, 0, 0))])
def test_a_mass_of_zero_is_no_mass(lump):
    assert lump.empty
    arm = fa.library.two_link_arm()
    bare, empty = (arm.with_({"links.fore.payload": each}) for each in (None, lump))
    one, two = (System(robot, native=False) for robot in (bare, empty))
    q = np.random.default_rng(0).normal(size=one.nq) * 0.1
    assert np.array_equal(one.inverse_dynamics(q, q, q), two.inverse_dynamics(q, q, q))
    assert empty.total_mass == bare.total_mass


def test_a_sweep_of_payloads_may_start_at_zero():
    arm = fa.library.two_link_arm()
    assert [arm.with_({"links.fore.payload.mass": each}).links[1].payload.mass for each in (0.0, 0.1)] == [0.0, 0.1]


def test_an_inertia_without_mass_is_something():
    assert not fa.PointMass(0, inertia=0.1).empty


def test_rigid_bodies_take_inertias_in_all_forms():
    for given in (0.1, (0.1, 0.1, 0.1), (0.1, 0.1, 0.1, 0, 0, 0), np.diag([0.1, 0.1, 0.1])):
        assert fa.RigidBody(1.0, inertia=given).inertia_matrix == ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    assert fa.RigidBody(1.0).inertia_matrix == ((0.0,) * 3,) * 3


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"inertia": [1, 1, 2.1]},
            r"exceeds the sum of the other two, but they are 1, 1 and 2.1 kg",
        ),
        ({"inertia": [1, 1, 1, 1.5, 0, 0]}, "must not be negative about any axis"),
        ({"inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "must be a symmetric matrix"),
        ({"inertia": [1, 1]}, "must be one, three"),
        ({"mass": -1.0}, "mass = -1.0: must be"),
        ({"mass": 0.0, "inertia": 1.0}, "mass = 0.0: must be positive .*, since the body has an inertia"),
        ({"com": (0, 1)}, "com = .*: must be 3 finite numbers"),
    ],
)
def test_inertias_that_no_body_has(fields, sentence):
    with pytest.raises(fa.DescriptionError, match=sentence):
        fa.RigidBody(**{"mass": 1.0, **fields})


def test_a_thin_rod_and_a_flat_plate_are_bodies():
    assert fa.RigidBody(1.0, inertia=(0, 1, 1)).mass == 1.0
    assert fa.RigidBody(1.0, inertia=(1, 1, 2)).mass == 1.0


def test_problems_of_a_body_have_their_path():
    with pytest.raises(fa.DescriptionError, match=r"links\[0\].body.inertia = .*: must be an inertia that a body can"):
        fa.Robot(links=[{"name": "a", "body": {"mass": 1, "inertia": [1, 1, 3]}}])
