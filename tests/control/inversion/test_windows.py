"""Durations of pre- and post-actuation."""

from types import SimpleNamespace

import numpy as np
import pytest

from flexarm.control.inversion.solvers import actuation_windows


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
