"""Linear method against the exact bilateral solution, windows, and collocation on a periodic grid."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad

import flexarm as fa
from flexarm.analysis.rigid_kinematics import RigidTwin
from flexarm.control.inversion.output_constraint import OutputConstraint, twin_path
from flexarm.control.inversion.solvers import PeriodicCollocation, actuation_windows, static_postures
from tests.control.arms import MOVE, single


def test_one_mode_against_the_bilateral_laplace_transform():
    """The tip on its path, theta = y - phi eta / L, leaves m eta'' + k eta = -c y'' with m < 0, whose only bounded
    solution is eta(t) = c / (2 m z) integral of exp(-z |t - s|) y''(s) ds, z = sqrt(-k / m)."""
    arm = single(1, stiffening="none")
    system = fa.System(arm, native=False)
    M, K = system.mass_matrix(), system.stiffness
    slope = system.jacobian("arm", None, None, axes="world")[4, :]  # of y, 1 m from the hub
    L, phi = slope
    m, c, k = M[1, 1] - M[1, 0] * phi / L, M[1, 0], K[1, 1]
    assert m < 0
    z = np.sqrt(-k / m)
    path = fa.minimum_jerk(0.0, 0.3, 1.0)
    found = fa.invert(arm, {"arm": path}, 1.0, method="linear")
    assert np.sort(found.zeros.real) == pytest.approx([-z, z])

    def eta(t):
        inside = [quad(lambda s: np.exp(-z * abs(t - s)) * path(s, 2), *ends, epsabs=1e-13)[0]
                  for ends in ((0.0, np.clip(t, 0, 1)), (np.clip(t, 0, 1), 1.0))]  # fmt: skip
        return c / m * sum(inside) / (2 * z)

    times = np.array([-0.1, -0.02, 0.0, 0.1, 0.4, 0.8, 1.0, 1.05])
    exact = np.array([eta(t) for t in times])
    where = np.array([np.interp(t + found.before, found.t, found.q[:, 1]) for t in times])
    assert where == pytest.approx(exact, abs=1e-4 * np.abs(exact).max())
    # and the torque: row of the hub
    second = np.array([(-k * e - c * path(t, 2) * (0 <= t < 1)) / m for t, e in zip(times, exact)])
    expected = np.array([path(t, 2) * (0 <= t < 1) for t in times])
    torque = M[0, 0] * (expected - phi / L * second) + M[0, 1] * second
    assert found.torque["arm"](times + found.before) == pytest.approx(torque, abs=1e-3 * np.abs(torque).max())


def test_the_tip_of_the_linear_model_is_where_it_should_be():
    found = fa.invert(single(3), {"arm": fa.minimum_jerk(0.0, 0.3, 1.0)}, 1.0, method="linear")
    slope = found.system.jacobian("arm", None, None, axes="world")[4]
    assert found.q @ slope == pytest.approx(fa.minimum_jerk(0.0, 0.3, 1.0)(found.t - found.before), abs=1e-10)


def test_under_gravity_it_begins_and_ends_at_rest():
    found = fa.invert(single(1, gravity=(0, -9.81, 0)), {"arm": fa.minimum_jerk(0.0, 0.1, 1.0)}, 1.0, method="linear")
    assert found.left < 1e-4
    assert found.torques[0] == pytest.approx(found.system.inverse_dynamics(found.q0, None, None)[:1], rel=1e-4)
    assert np.abs(found.v[[0, -1]]).max() < 1e-4 * np.abs(found.v).max()


# --- windows ---


def ends(*zeros):
    return [SimpleNamespace(zeros=np.array(zeros, dtype=complex))]


def test_twelve_time_constants_of_the_slowest_zero_on_each_side():
    assert actuation_windows(ends(4, -3, 40, -30 + 5j, -30 - 5j), 1.0) == pytest.approx((3.0, 4.0))


def test_no_zeros_need_no_windows():
    assert actuation_windows(ends(), 1.0) == (0.0, 0.0)


def test_windows_are_no_longer_than_thirty_times_the_path():
    assert actuation_windows(ends(-0.2 + 6j, -0.2 - 6j), 1.0) == (0.0, 30.0)


def test_what_hardly_decays_is_refused():
    with pytest.raises(ValueError, match=r"vibrates at 1 Hz and needs 20 s to decay"):
        actuation_windows(ends(-0.05 + 2j * np.pi, -0.05 - 2j * np.pi), 1.0)
    with pytest.raises(ValueError, match=r"vibrate at 1 Hz without end"):
        actuation_windows(ends(2j * np.pi, -2j * np.pi, 5, -5), 1.0)


# --- collocation ---


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
        fa.invert(single(1), {"arm": MOVE}, 1.0)
