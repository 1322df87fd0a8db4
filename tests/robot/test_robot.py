"""Robots: parents, order of links, properties and problems."""

import numpy as np
import pytest

import flexarm.robot as fa
from flexarm.robot.library import rrr_arm, two_link_arm


def link(name, **fields):
    return fa.Link(name, 1.0, mass=1.0, **fields)


def test_the_parent_is_the_previous_link_unless_given():
    robot = fa.Robot(links=[link("a"), link("b"), link("c", parent="a", at=0.5), link("d", parent="ground")])
    assert robot.parents == (None, 0, 0, None)
    assert robot.order == (0, 1, 2, 3)


def test_a_parent_may_be_listed_later():
    robot = fa.Robot(links=[link("hand", parent="arm"), link("arm", parent="ground")])
    assert robot.parents == (1, None)
    assert robot.order == (1, 0)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([], "links = (): must have at least one link"),
        ([link("a"), link("b"), link("a")], "links[2].name = 'a': is already the name of links[0]"),
        (
            [link("upper"), link("fore", parent="uper")],
            "links[1].parent = 'uper': no such link; did you mean 'upper'? (allowed: ground, upper)",
        ),
        ([link("a"), link("b", parent="b")], "links[1].parent = 'b': a link cannot hang on itself"),
        (
            [link("upper", parent="fore"), link("fore")],
            "links: hang on each other in a circle: upper -> fore -> upper; "
            "a link hangs on the previous one unless it names a parent",
        ),
        ([link("a"), link("b", at=2)], "links[1].at = 2.0: must lie on its parent 'a', between 0 and 1 (m)"),
        ([link("a", at=0.5)], "links[0].at = 0.5: must be left out: the link hangs on the ground, use offset"),
    ],
)
def test_wrong_trees(links, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Robot(links=links)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": ""}, "name = '': must be text on one line"),
        ({"name": "a\nb"}, "name = 'a\\nb': must be text on one line"),
        ({"gravity": 9.81}, "gravity = 9.81: must be 3 finite numbers (m/s2)"),
        ({"links": {"a": 1}}, "links = {'a': 1}: must be a list of Link"),
        ({"links": link("a")}, "links = Link(name='a', length=1.0, mass=1.0): must be a list of Link"),
        ({"base": {"position": (0, 0)}}, "base.position = (0, 0): must be 3 finite numbers (m)"),
    ],
)
def test_wrong_robots(fields, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Robot(**({"links": [link("a")]} | fields))
    assert str(caught.value) == expected


def test_links_are_found_by_name():
    arm = two_link_arm()
    assert arm.link("fore") is arm.links[1]
    with pytest.raises(fa.DescriptionError) as caught:
        arm.link("for")
    assert str(caught.value) == "link = 'for': no such link; did you mean 'fore'? (allowed: upper, fore)"


def test_rigid_drops_flexibility_of_links_and_drives_only():
    elastic = rrr_arm(elastic_joints=True, rotor_inertia=3.0)
    rigid = elastic.rigid()
    assert rigid.name == "RRR arm (rigid)"
    assert rigid.rigid() == rigid
    assert rigid.coordinates == 3
    assert rigid.total_mass == elastic.total_mass
    drive = rigid.links[0].joint.drive
    assert (drive.elastic, drive.damping, drive.rotor_inertia) == (False, 0.0, 3.0)
    assert elastic.coordinates == 3 * (2 + 10)


def test_total_mass():
    assert two_link_arm().total_mass == pytest.approx(7850 * 2.5e-5 * 1.5 + 0.15)


def test_gravity_may_be_an_array():
    assert fa.Robot(links=[link("a")], gravity=np.array([0, 0, -9.81])).gravity == (0.0, 0.0, -9.81)


def test_gravity_in_millimetres_raises_a_warning():
    sentence = r"gravity = \(0\.0, 0\.0, -9810\.0\): looks like mm/s2; gravity is in m/s2"
    with pytest.warns(fa.UnitsWarning, match=sentence):
        fa.Robot(links=[link("a")], gravity=(0, 0, -9810))
    with pytest.warns(fa.UnitsWarning, match="looks like mm/s2"):
        fa.Robot(links=[link("a")]).with_(gravity=(0, 0, -9810))
