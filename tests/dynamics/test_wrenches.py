"""Wrenches about other points and in other axes."""

import numpy as np
from numpy.testing import assert_allclose

from flexarm.dynamics.joint_reactions import force_first, move_wrench, rotate_wrench, rotate_wrench_back


def test_a_force_beside_a_point_turns_about_it():
    pushed = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    assert_allclose(move_wrench(pushed, np.array([-3.0, 0.0, 0.0])), [0, 2, 0, 0, 0, 6])


def test_going_there_and_back_changes_nothing():
    rng = np.random.default_rng(0)
    wrench, r = rng.normal(size=(4, 6)), rng.normal(size=(5, 1, 3))
    assert move_wrench(wrench, r).shape == (5, 4, 6)
    assert_allclose(move_wrench(move_wrench(wrench, r), -r), np.broadcast_to(wrench, (5, 4, 6)), atol=1e-14)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert_allclose(rotate_wrench_back(R, rotate_wrench(R, wrench)), wrench, atol=1e-14)


def test_twists_have_their_turn_first():
    assert force_first(np.arange(6.0)).tolist() == [3, 4, 5, 0, 1, 2]
