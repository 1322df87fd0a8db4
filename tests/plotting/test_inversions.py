"""Figures of inverse dynamics."""

import numpy as np
import pytest

import flexarm as fa
from tests.control.arms import MOVE, single


def test_torques_path_and_what_was_missed():
    found = fa.invert(single(1), {"arm": MOVE}, 1.0, sample=0.02)
    figure = found.plot(found.play(native=False))
    torque, place, missed = figure.axes
    assert torque.get_ylabel() == "torque (N m)"
    assert (torque.get_lines()[0].get_ydata() == found.torques[:, 0]).all()
    assert [each.get_text() for each in place.get_legend().get_texts()] == ["path", "x", "y"]
    assert np.max(missed.get_lines()[0].get_ydata()) < 1.0  # mm
    marks = [line.get_xdata()[0] for line in torque.get_lines()[1:]]
    assert marks == pytest.approx([found.before, found.before + 1.0])
    assert len(found.plot().axes) == 2
    with pytest.raises(TypeError, match="run = 3"):
        found.plot(3)
