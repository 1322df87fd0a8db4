import numpy as np
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.integrators.state import Layout
from flexarm.results.step_history import between


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


def test_each_wanted_time_takes_the_polynomial_of_its_own_stretch():
    """At rest at 0 until t = 1, then at 5 when t = 2: the curve of the last stretch is no continuation of the first."""
    states = np.zeros((3, 8))
    states[2, 0] = 5.0
    found = between(np.array([0.0, 1.0, 2.0]), states, np.array([0.5, 1.0, 1.25, 1.5, 2.0]), Layout(1))
    s = np.array([0.25, 0.5, 1.0])
    assert_allclose(found[:, 0], [0.0, 0.0, *5 * (10 * s**3 - 15 * s**4 + 6 * s**5)], atol=1e-14)
    assert_allclose(found[2:, 1], 5 * (30 * s**2 - 60 * s**3 + 30 * s**4), atol=1e-13)


def test_powers_and_forces_of_constraints_run_straight_from_node_to_node():
    states = np.zeros((3, 10))
    states[:, 6:] = [[0, 1, 2, 3], [4, 3, 2, 1], [0, 0, 8, 0]]
    found = between(np.array([0.0, 1.0, 3.0]), states, np.array([0.25, 2.0]), Layout(1, 2))
    assert_allclose(found[:, 6:], [[1, 1.5, 2, 2.5], [2, 1.5, 5, 0.5]])


def test_accelerations_of_a_method_of_low_order_run_straight_from_node_to_node():
    """Its q and v carry errors of the step's square, of which the curve through them would make wrong accelerations."""
    states = np.zeros((2, 8))
    states[1, :3] = [0.5, 1.0, 1.0]
    wanted = np.array([0.25, 0.5])
    low, high = (between(np.array([0.0, 1.0]), states, wanted, Layout(1), order) for order in (2, 3))
    assert_allclose(low[:, 2], wanted)
    assert_allclose(low[:, 3], wanted)
    assert_allclose(low[:, :2], high[:, :2])
    assert abs(high[:, 2] - wanted).max() > 0.1


def test_samples_are_as_accurate_as_nodes_though_steps_are_longer_than_a_vibration():
    """Late in this motion a vibration of 6 Hz and 0.1 mm is left, and steps take most of its period."""
    arm = fa.library.two_link_arm(damping=1e-3)
    torque = {"upper": fa.bang_bang(0.02, (1, 2)), "fore": fa.bang_bang(0.005, (1, 2))}
    rough, fine = (fa.simulate(arm, 10.0, torque=torque, rtol=rtol, sample=0.01).array("tip") for rtol in (1e-2, 1e-7))
    assert np.linalg.norm(rough - fine, axis=1).max() < 1e-4  # m; 15 mm are allowed, nodes are within 0.05 mm
