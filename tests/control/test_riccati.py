"""Modes that inputs do not reach, named by frequency and by their dominant state."""

import numpy as np
import pytest

from flexarm.control.riccati import require_reachable

NAMES = ["a", "b", "a'", "b'"]


def oscillators(first, second, damping=0.0):
    zero, one = np.zeros((2, 2)), np.eye(2)
    return np.block([[zero, one], [-np.diag([first**2, second**2]), -damping * one]])


def test_what_is_pushed_passes_in_any_units():
    A, B = oscillators(3.0, 40.0), np.array([[0.0], [0.0], [1.0], [1.0]])
    scale = np.diag([1e3, 1e-2, 1e3, 1e-2])
    require_reachable(A, B, NAMES, "cannot be moved")
    require_reachable(scale @ A @ np.linalg.inv(scale), scale @ B * 1e-6, NAMES, "cannot be moved")


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_an_unreached_mode_is_named(scale):
    A, B = oscillators(3.0, 40.0), np.array([[0.0], [0.0], [1.0], [0.0]])
    T = np.diag([1.0, scale, 1.0, scale])
    with pytest.raises(ValueError, match=rf"the mode at {40 / (2 * np.pi):.4g} Hz \(mostly b'?\) cannot be moved"):
        require_reachable(T @ A @ np.linalg.inv(T), T @ B, NAMES, "cannot be moved")


def test_a_mode_that_decays_need_not_be_moved():
    B = np.array([[0.0], [0.0], [1.0], [0.0]])
    require_reachable(oscillators(3.0, 40.0, damping=0.1), B, NAMES, "cannot be moved")


def test_two_equal_modes_need_two_inputs():
    A = oscillators(3.0, 3.0)
    with pytest.raises(ValueError, match=r"0\.4775 Hz"):
        require_reachable(A, np.array([[0.0], [0.0], [1.0], [1.0]]), NAMES, "cannot be moved")
    require_reachable(A, np.vstack([np.zeros((2, 2)), np.eye(2)]), NAMES, "cannot be moved")


def test_rigid_motions_growing_ones_and_sampled_models():
    push = np.array([[0.0], [0.0], [1.0], [0.0]])
    with pytest.raises(ValueError, match=r"the rigid motion \(mostly b'?\)"):
        require_reachable(oscillators(3.0, 0.0), push, NAMES, "cannot be moved")
    with pytest.raises(ValueError, match=r"grows as exp\(2 t\) \(mostly b'?\)"):
        require_reachable(oscillators(3.0, 2j).real, push, NAMES, "cannot be moved")
    from scipy.linalg import expm

    A = expm(oscillators(3.0, 40.0) * 0.01)
    with pytest.raises(ValueError, match=rf"the mode at {40 / (2 * np.pi):.4g} Hz"):
        require_reachable(A, push, NAMES, "cannot be moved", dt=0.01)
