"""Changed copies of robots."""

import warnings

import pytest

import flexarm.robot as fa
from flexarm.robot.library import two_link_arm


def test_changes_by_name_index_and_keyword():
    arm = two_link_arm()
    other = arm.with_({"links.upper.length": 1.2, "links.1.section.width": 0.01}, gravity=(0, -9.81, 0), name="new")
    assert other.links[0].length == 1.2
    assert other.links[1].section == fa.Section.rectangle(0.01, 0.005)
    assert (other.name, other.gravity) == ("new", (0.0, -9.81, 0.0))
    assert other.links[1].payload == arm.links[1].payload
    assert arm == two_link_arm()


def test_no_change_is_the_same_robot():
    assert two_link_arm().with_() == two_link_arm()


def test_several_changes_of_one_link_keep_the_kinds_of_its_parts():
    arm = two_link_arm().with_({"links.fore.payload.mass": 0.2, "links.fore.joint.viscous": 0.1})
    assert arm.link("fore").joint == fa.Revolute(viscous=0.1)
    assert arm == two_link_arm().with_({"links.fore.payload.mass": 0.2}).with_({"links.fore.joint.viscous": 0.1})


def test_several_entries_of_a_default_and_whole_parts_in_order():
    moved = {"links.fore.length": 0.6, "links.fore.offset.0": 0.1, "links.1.offset.2": 0.3, "gravity.1": -9.81}
    arm = two_link_arm().with_(moved)
    assert (arm.link("fore").offset, arm.gravity) == ((0.1, 0.0, 0.3), (0.0, -9.81, 0.0))
    whole, part = ("links.fore.payload", {"mass": 0.5, "inertia": 0.1}), ("links.fore.payload.mass", 0.7)
    assert two_link_arm().with_(dict([whole, part])).link("fore").payload == fa.PointMass(0.7, inertia=0.1)
    assert two_link_arm().with_(dict([part, whole])).link("fore").payload == fa.PointMass(0.5, inertia=0.1)


def test_missing_parts_are_made():
    arm = two_link_arm().with_(
        {
            "links.upper.payload.mass": 0.3,
            "links.upper.payload.inertia": 1e-3,
            "links.fore.joint.drive.rotor_inertia": 1e-4,
            "links.fore.flexible.damping.ratio": 0.01,
            "base.position": (0, 0, 1),
        }
    )
    assert arm.link("upper").payload == fa.PointMass(0.3, inertia=1e-3)
    assert arm.link("fore").joint == fa.Revolute("z", drive=fa.Drive(rotor_inertia=1e-4))
    assert arm.link("fore").flexible == fa.Flexible(bend_y=3, damping=fa.Damping(0.01))
    assert arm.base == fa.Pose((0, 0, 1))


def test_descriptions_and_none_can_be_put_in():
    tube = fa.Section.tube(0.01, 0.008)
    arm = two_link_arm().with_(
        {"links.upper.section": tube, "links.upper.section.inner": 0.007, "links.fore.payload": None}
    )
    assert arm.link("upper").section == fa.Section.tube(0.01, 0.007)
    assert arm.link("fore").payload is None


def test_new_links_can_be_changed_at_once():
    rod = fa.Link("rod", 1.0, mass=1.0)
    assert two_link_arm().with_({"links": [rod], "links.rod.mass": 2.0}).total_mass == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"links.uper.length": 1},
            "links.uper.length: there is no 'uper'; did you mean 'upper'? (allowed: upper, fore, 0, 1)",
        ),
        ({"links.2.length": 1}, "links.2.length: there is no '2' (allowed: upper, fore, 0, 1)"),
        ({"links.upper.length.m": 1}, "links.upper.length.m: has no part 'm' to change: its owner is 1.0"),
        ({"links.fore.length": -1}, "links[1].length = -1: must be positive (m)"),
        (
            {"links.fore.payload.mas": 1},
            "links[1].payload.mas: unknown field; did you mean 'mass'? (allowed: mass, offset, inertia, at)",
        ),
        (
            {"gravty": 1},
            "gravty: unknown field; did you mean 'gravity'? (allowed: name, links, gravity, base, constraints, "
            "frames, tip)",
        ),
        ({"links.upper.name": "fore"}, "links[1].name = 'fore': is already the name of links[0]"),
        ({3: 1}, "changes: a path is text such as 'links.fore.length', but got 3"),
        ({"links.upper.section": None}, "links[0].section: is required, since the link is flexible"),
    ],
)
def test_refusals(changes, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        two_link_arm().with_(changes)
    assert str(caught.value) == expected


def test_a_kind_is_changed_by_its_tag_alone():
    arm = two_link_arm().with_({"links.fore.joint.type": "weld", "links.fore.flexible.basis.type": "elements"})
    assert arm.link("fore").joint == fa.Weld()
    assert arm.link("fore").flexible == fa.Flexible(bend_y=3, basis="elements")
    with pytest.raises(fa.DescriptionError) as caught:
        two_link_arm().with_({"links.fore.joint.viscous": 0.1}).with_({"links.fore.joint.type": "weld"})
    assert str(caught.value) == "links[1].joint.viscous: unknown field (allowed: type, mount)"


def test_parts_at_their_default_can_be_entered():
    arm = two_link_arm().with_({"gravity.2": -9.81, "links.fore.flexible.basis.tip_mass": 0.2})
    assert arm.gravity == (0.0, 0.0, -9.81)
    assert arm.link("fore").flexible == fa.Flexible(bend_y=3, basis=fa.Modes(tip_mass=0.2))


def test_only_warnings_caused_by_a_change_are_raised():
    with pytest.warns(fa.UnitsWarning):
        doubtful = two_link_arm().with_({"links.upper.material.E": 200})
    with pytest.warns(fa.UnitsWarning) as caught:
        doubtful.with_({"links.upper.length": 2.0, "links.fore.length": 500})
    assert [str(each.message) for each in caught] == ["links[1].length = 500: looks like mm; length is in m"]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doubtful.with_({"links.upper.material.rho": 7800})
