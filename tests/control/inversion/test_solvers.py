"""The linear inverse against the exact bilateral solution."""

import numpy as np
import pytest
from scipy.integrate import quad

import flexarm as fa
from tests.control.arms import single


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
    found = fa.inverse(arm, {"arm": path}, 1.0, method="linear")
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
    found = fa.inverse(single(3), {"arm": fa.minimum_jerk(0.0, 0.3, 1.0)}, 1.0, method="linear")
    slope = found.system.jacobian("arm", None, None, axes="world")[4]
    assert found.q @ slope == pytest.approx(fa.minimum_jerk(0.0, 0.3, 1.0)(found.t - found.before), abs=1e-10)


def test_under_gravity_it_begins_and_ends_at_rest():
    found = fa.inverse(single(1, gravity=(0, -9.81, 0)), {"arm": fa.minimum_jerk(0.0, 0.1, 1.0)}, 1.0, method="linear")
    assert found.left < 1e-4
    assert found.torques[0] == pytest.approx(found.system.inverse_dynamics(found.q0, None, None)[:1], rel=1e-4)
    assert np.abs(found.v[[0, -1]]).max() < 1e-4 * np.abs(found.v).max()
