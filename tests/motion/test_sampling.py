import numpy as np
from numpy.testing import assert_allclose

from flexarm.motion.sampling import between
from flexarm.motion.state import Layout


def test_quintic_motions_and_cubic_energies_are_interpolated_exactly():
    def state(t):
        q = np.array([1 + t - t**3 + 0.5 * t**5, 2 * t**4])
        v = np.array([1 - 3 * t**2 + 2.5 * t**4, 8 * t**3])
        a = np.array([-6 * t + 10 * t**3, 24 * t**2])
        return np.concatenate([q, v, a, a, [t**3, 2 * t**2, 3 * t**2, 4 * t]])

    times = np.array([0.0, 0.3, 1.0])
    wanted = np.array([0.0, 0.1, 0.3, 0.77, 1.0])
    found = between(times, np.array([state(t) for t in times]), wanted, Layout(2))
    expected = np.array([state(t) for t in wanted])
    assert_allclose(found[:, :10], expected[:, :10], atol=1e-12)
