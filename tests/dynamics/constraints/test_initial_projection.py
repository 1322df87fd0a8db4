"""Postures on constraints: which are refused as singular or redundant, and which are only near to that."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.constraints.initial_projection import Assembly


def pinned(bend, tilt):
    """Three links; the tip of the second lies on two planes that meet at an angle `tilt`, the elbow bent by `bend`."""
    point = (1 + np.cos(bend), np.sin(bend), 0)
    planes = [fa.OnPlane("b", point=point, normal=(np.cos(turn), np.sin(turn), 0)) for turn in (0.0, tilt)]
    links = [fa.Link(name, 1.0, mass=1.0) for name in "abc"]
    system = fa.System(fa.Robot(links=links, constraints=planes), native=False)
    return Assembly(system, []), np.array([0.0, bend, 0.3])


@pytest.mark.parametrize("tilt", [1.0, 1e-3, 1e-6])
def test_planes_that_are_nearly_the_same_still_hold_two_motions(tilt):
    assembly, q = pinned(1.0, tilt)
    assert assembly.posture(q) == pytest.approx(q, abs=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 1e-11])
def test_planes_that_are_the_same_are_redundant(tilt):
    assembly, q = pinned(1.0, tilt)
    with pytest.raises(ValueError, match=r"redundant constraints 'on-plane\[0\]' and 'on-plane\[1\]'"):
        assembly.posture(q)


def test_a_posture_in_which_nothing_moves_a_point_is_singular():
    """A stretched arm moves its tip across itself only; bent by a little it moves it along, too."""
    assembly, q = pinned(0.0, np.pi / 2)
    with pytest.raises(ValueError, match=r"the posture a\.q = 0, b\.q = 0, c\.q = 0\.3 is singular: .*on-plane\[0\]"):
        assembly.posture(q)
    assembly, q = pinned(1e-3, np.pi / 2)
    assert assembly.posture(q) == pytest.approx(q, abs=1e-9)


@pytest.mark.parametrize(("tilt", "near"), [(0.2, False), (0.005, True)])
def test_what_nearly_depends_on_each_other_is_named_where_a_run_fails(tilt, near):
    assembly, q = pinned(1.0, tilt)
    assert assembly.nearly_singular(q) == ("'on-plane[0]' and 'on-plane[1]'" if near else "")
