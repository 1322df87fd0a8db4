"""Collocation on a periodic grid."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.analysis.rigid_kinematics import RigidTwin
from flexarm.control.inversion.output_constraint import OutputConstraint
from flexarm.control.inversion.rigid_reference import twin_path
from flexarm.control.inversion.solvers import PeriodicCollocation, static_postures
from tests.control.arms import MOVE, single


@pytest.fixture(scope="module")
def ring():
    twin = RigidTwin(single(1))
    constraint = OutputConstraint(
        twin, ("arm", None), twin_path(twin, {"arm": MOVE}, 1.0, None, ("arm", None), None, None)
    )
    goals = constraint.goals(np.arange(-0.2, 1.2, 0.02))
    return PeriodicCollocation(constraint, goals, 0.02, static_postures(constraint, goals, loaded=False))


def test_rates_are_exact_for_polynomials_of_degree_four(ring):
    t = 0.02 * np.arange(len(ring.statics))
    bump = ring.statics + ((t - 0.6) ** 4)[:, None]
    v, a = ring.rates(bump)
    base = ring.rates(ring.statics)
    assert (v - base[0])[2:-2, 0] == pytest.approx(4 * (t - 0.6)[2:-2] ** 3, abs=1e-9)
    assert (a - base[1])[2:-2, 0] == pytest.approx(12 * (t - 0.6)[2:-2] ** 2, abs=1e-9)


def test_from_slow_to_fast_it_comes_to_the_same_motion(ring):
    directly = ring.solve(ring.statics, lambda share: None)
    assert ring.solve_by_continuation(lambda share: None) == pytest.approx(directly, abs=1e-9)


def test_motions_that_are_not_found_are_none(ring):
    assert ring.solve(np.full_like(ring.statics, np.nan), lambda share: None) is None


def test_links_too_soft_for_a_posture_are_refused(ring, monkeypatch):
    monkeypatch.setattr("flexarm.control.inversion.solvers.MAX_ITERATIONS", 1)
    with pytest.raises(ArithmeticError, match="no posture was found"):
        static_postures(ring.constraint, ring.goals, loaded=True)


def test_a_motion_that_is_not_found_is_refused(monkeypatch):
    monkeypatch.setattr("flexarm.control.inversion.solvers.MAX_ITERATIONS", 0)
    monkeypatch.setattr(
        "flexarm.control.inversion.bounded_motion.static_postures", lambda constraint, goals, loaded: goals.q.copy()
    )
    with pytest.raises(ArithmeticError, match="no bounded motion was found"):
        fa.inverse(single(1), {"arm": MOVE}, 1.0)
