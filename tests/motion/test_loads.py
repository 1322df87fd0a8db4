import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.motion.loads import loads_of

ROD = fa.System(fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)]), native=False)


def test_loads_are_checked_where_they_are_made():
    for wrong, sentence in (
        ({"force": (1, 2)}, r"force = \(1, 2\): give three numbers or profiles"),
        ({"torque": (0, "much", 0)}, r"torque\[1\] = 'much': must be a number, a profile"),
        ({"x": -1.0}, r"x = -1\.0: must be zero or positive \(m\)"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            fa.PointLoad("a", **wrong)


def test_places_are_checked_against_the_robot():
    with pytest.raises(KeyError, match=r"loads\[0\]: there is no link 'b'"):
        loads_of(ROD, [fa.PointLoad("b")])
    with pytest.raises(ValueError, match=r"loads\[1\]: x = 2"):
        loads_of(ROD, [fa.PointLoad("a"), fa.PointLoad("a", 2.0)])
    with pytest.raises(TypeError, match=r"loads = .*must be a list of fa\.PointLoad"):
        loads_of(ROD, fa.PointLoad("a"))


def test_a_load_keeps_what_it_was_given():
    force = np.array([0.0, 1.0, 0.0])
    load = fa.PointLoad("a", force=force)
    force[:] = 9.0
    assert load.force == (0.0, 1.0, 0.0)


def test_a_load_across_the_plane_of_picked_shapes_is_told():
    arm = fa.library.two_link_arm().with_(
        {f"links.{name}.flexible": fa.Flexible(up_to=50) for name in ("upper", "fore")}
    )
    told = r"loads\[0\]: force z on link 'fore' moves nothing: shapes were picked .* bend_z or twist \(upper, fore\)"
    with pytest.warns(fa.ValidityWarning, match=told):
        fa.simulate(arm, 0.01, loads=[fa.PointLoad("fore", force=(0, 0, 1.0))], native=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fa.simulate(arm, 0.01, loads=[fa.PointLoad("fore", force=(0.5, 1.0, 0), torque=(0, 0, 1e-3))], native=False)
