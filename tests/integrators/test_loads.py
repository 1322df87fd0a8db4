import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.integrators.loads import loads_of

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
    told = r"loads\[0\]: force z on link 'fore' moves nothing that was picked: .* bend_z or twist \(upper, fore\)"
    with pytest.warns(fa.ValidityWarning, match=told):
        fa.simulate(arm, 0.01, loads=[fa.PointLoad("fore", force=(0, 0, 1.0))], native=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fa.simulate(arm, 0.01, loads=[fa.PointLoad("fore", force=(0.5, 1.0, 0), torque=(0, 0, 1e-3))], native=False)


def test_a_load_across_a_picked_link_is_told_though_another_link_bends_that_way():
    full = fa.Flexible(bend_y=2, bend_z=2, twist=1)
    arm = fa.library.two_link_arm().with_(
        {"links.upper.flexible": full, "links.fore.flexible": fa.Flexible(up_to=50), "links.upper.material.G": 8e9}
    )
    with pytest.warns(fa.ValidityWarning, match=r"force z on link 'fore' moves nothing that was picked.*\(fore\)"):
        fa.simulate(arm, 0.01, loads=[fa.PointLoad("fore", force=(0, 0, 0.1))], native=False)


def test_loads_on_robots_that_slide_are_looked_at_where_they_are():
    section, steel = fa.Section.rectangle(0.02, 0.02), fa.Material(2e11, 7850)
    ram = fa.Link("out", 0.8, fa.FixedPrismatic(), section=section, material=steel, flexible=fa.Flexible(bend_y=1))
    fore = fa.Link("fore", 0.5, section=section, material=steel, flexible=fa.Flexible())
    loads = [fa.PointLoad("fore", force=(0, 1.0, 0))]
    robot = fa.Robot(links=[fa.Link("base", 0.5, mass=1.0), ram, fore])
    assert fa.simulate(robot, 0.01, q0={"out.q": 0.5}, loads=loads, native=False).reason == "completed"
