import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.bodies import Coordinate

STEEL = {"section": {"shape": "rectangle", "width": 0.02, "height": 0.005}, "material": {"E": 2.1e11, "rho": 7850.0}}


def arm():
    elastic = fa.Revolute(drive=fa.Drive(stiffness=100.0, rotor_inertia=0.01))
    upper = fa.Link("upper", 0.5, joint=elastic, flexible=fa.Flexible(bend_y=2, twist=1), **STEEL)
    slide = fa.Link("slide", 0.4, joint=fa.FixedPrismatic(), flexible=fa.Flexible(bend_z=1), **STEEL)
    tool = fa.Link("tool", 0.1, joint="weld", mass=0.1)
    return fa.System(fa.Robot(links=[upper, slide, tool]), native=False)


def test_each_coordinate_is_a_record():
    found = [(each.name, each.link, each.kind, each.unit, each.family, each.part) for each in arm().coordinates]
    assert found == [
        ("upper.q", "upper", "joint", "rad", None, None),
        ("upper.motor", "upper", "motor", "rad", None, None),
        ("upper.bend_y[1]", "upper", "elastic", "m kg^1/2", "bend_y", "front"),
        ("upper.bend_y[2]", "upper", "elastic", "m kg^1/2", "bend_y", "front"),
        ("upper.twist[1]", "upper", "elastic", "m kg^1/2", "twist", "front"),
        ("slide.q", "slide", "joint", "m", None, None),
        ("slide.bend_z[1]", "slide", "elastic", "m kg^1/2", "bend_z", "front"),
        ("slide.rear.bend_z[1]", "slide", "elastic", "m kg^1/2", "bend_z", "rear"),
    ]


def test_names_units_sizes_and_places_are_those_of_the_records():
    system = arm()
    assert system.names == tuple(each.name for each in system.coordinates)
    assert system.units == tuple(each.unit for each in system.coordinates)
    assert [each.index for each in system.coordinates] == list(range(system.nq))
    np.testing.assert_array_equal(system.sizes, [each.size for each in system.coordinates])
    np.testing.assert_array_equal(system.elastic, [each.kind == "elastic" for each in system.coordinates])


def test_a_coordinate_of_its_size_deflects_its_link_by_the_links_length():
    system = arm()
    bend = system.coordinates[system.index("upper.bend_y[1]")]
    _, moved = system.deflection("upper", {bend.name: bend.size, "slide.q": 0.2})
    slope = np.gradient(moved[:, 1], 0.5 / 50)
    assert max(np.abs(moved[:, 1]).max() / 0.5, np.abs(slope).max()) == pytest.approx(1.0, rel=0.02)


def test_actuators_act_on_the_motor_where_there_is_one():
    system = arm()
    assert [(each.link, each.unit, each.coordinate.name, each.gear) for each in system.actuators] == [
        ("upper", "N m", "upper.motor", 1.0),
        ("slide", "N", "slide.q", 1.0),
    ]
    for column, each in enumerate(system.actuators):
        assert np.flatnonzero(system.input_matrix[:, column]).tolist() == [each.coordinate.index]
    assert (system.inputs, system.input_units) == (("upper", "slide"), ("N m", "N"))


def test_the_joint_of_a_link():
    system = arm()
    assert isinstance(system.joint("upper"), Coordinate)
    assert system.joint("slide").name == "slide.q"
    with pytest.raises(KeyError, match="no joint that moves link 'tool'; there are upper, slide"):
        system.joint("tool")
