"""Paths of poses over time: rates and breaks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm.analysis.tip_paths import tip_path
from flexarm.profiles.profile import Profile
from flexarm.profiles.segments import Wave

TIMES = np.linspace(0, 2, 41)


def swirl(t):
    return np.array([np.cos(t), np.sin(2 * t), 0.3 * t])


@pytest.mark.parametrize("given", [swirl, [swirl(t) for t in TIMES]])
def test_positions_are_splines_with_smooth_accelerations(given):
    way = tip_path(given, TIMES)
    t = np.linspace(0, 2, 97)
    assert_allclose(way.poses(t), [swirl(each) for each in t], atol=2e-7)
    assert_allclose(way.rates(t, 1), np.stack([-np.sin(t), 2 * np.cos(2 * t), 0 * t + 0.3], 1), atol=2e-5)
    assert_allclose(way.rates(t, 2), np.stack([-np.cos(t), -4 * np.sin(2 * t), 0 * t], 1), atol=2e-3)


def test_angular_rates_are_those_of_the_axes_in_the_world():
    def frame(t):
        out = np.eye(4)
        out[:3, :3] = (Rotation.from_rotvec([0, 0, t**2]) * Rotation.from_rotvec([np.sin(t), 0.3, 0])).as_matrix()
        return out

    way = tip_path(frame, TIMES)
    t, step = np.array([0.7, 1.33]), 1e-4
    (ahead, here, behind) = (way.poses(t + k * step)[:, :3, :3] for k in (1, 0, -1))
    turned = Rotation.from_matrix(ahead @ behind.transpose(0, 2, 1)).as_rotvec() / (2 * step)
    assert_allclose(way.rates(t, 1)[:, 3:], turned, atol=1e-6)
    faster = (way.rates(t + step, 1) - way.rates(t - step, 1))[:, 3:] / (2 * step)
    assert_allclose(way.rates(t, 2)[:, 3:], faster, atol=1e-6)
    assert_allclose(here, [frame(each)[:3, :3] for each in t], atol=1e-6)


def test_rates_and_breaks_of_profiles():
    way = tip_path((fa.cycloid(0, 1, 1.5), 0.5, fa.sine(1.0, 0.5)), TIMES)
    assert way.breaks == (1.5,)
    t = np.array([0.4, 1.7])
    assert_allclose(way.rates(t, 2)[:, 0], fa.cycloid(0, 1, 1.5)(t, 2))
    first, second = way.grids
    assert first[-1] == np.nextafter(1.5, 0)
    assert second[0] == 1.5
    assert (np.diff(np.concatenate(way.grids)) > 0).all()


def test_short_pieces_have_points_enough():
    kink = Profile((-np.inf, 1.001), (Wave(0.0), Wave(1.001**2, -2 * 1.001, bend=2.0)), "bend")
    grids = tip_path((kink, 0.0, fa.cycloid(0, 1, 1.003)), TIMES).grids
    assert [len(grid) >= 6 for grid in grids] == [True] * 3


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ((fa.step(0.0, 1.0, 1.0), 0.0, 0.0), "jumps at t = 1 s"),
        ((fa.ramp(0, 1, 0.5, 1.5), 0.0, 0.0), r"has a speed that jumps at t = 0\.5 s, which no torque can do"),
        (np.zeros((5, 3)), r"path has shape \(5, 3\) at 41 times: must be positions"),
        (np.full((41, 3), np.nan), "path: is not finite at t = 0 s"),
        (np.zeros((41, 4, 4)), r"path\[0\] = .* must be a frame"),
        (lambda t: (t, t), r"path has shape \(41, 2\)"),
    ],
)
def test_invalid_paths_are_refused(path, sentence):
    with pytest.raises(ValueError, match=sentence):
        tip_path(path, TIMES)


def test_a_function_that_fails():
    with pytest.raises(TypeError, match="calling the function of t failed"):
        tip_path(lambda: 0, TIMES)


@pytest.mark.parametrize(
    "times", [[0, 1, 2], [0, 1, 1, 2, 3, 4, 5], "text", 3.0, np.zeros((6, 2)), [0, 1, 2, 3, 4, np.nan]]
)
def test_invalid_times_are_refused(times):
    with pytest.raises(ValueError, match="times"):
        tip_path(swirl, times)
