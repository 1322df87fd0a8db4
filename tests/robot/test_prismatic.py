"""Prismatic joints and stops: descriptions, refusals, travel."""

from math import pi

import numpy as np
import pytest

import flexarm
import flexarm.robot as fa
from flexarm.robot import MovingJoint, Section

STEEL = fa.Material(2e11, 7850)
BAR = Section.rectangle(0.02, 0.01)
TAPER = Section.tapered(BAR, Section.rectangle(0.01, 0.01))
MODES = fa.Flexible(bend_y=2)
ELEMENTS = fa.Flexible(bend_y=4, bend_z=4, twist=3, stretch=2, basis="elements", stiffening="none")
REDUCED = fa.Flexible(bend_y=2, basis=fa.Reduced(8))
SWAP = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
KINDS = (fa.SlidingPrismatic, fa.FixedPrismatic)


def link(name="a", joint="revolute", flexible=None, section=BAR, **fields):
    return fa.Link(name, 2.0, joint, section, STEEL, flexible, **fields)


def message(build):
    with pytest.raises(fa.DescriptionError) as caught:
        build()
    return str(caught.value)


# --- joints by themselves ---


def test_they_are_public():
    for name in ("SlidingPrismatic", "FixedPrismatic", "Stop"):
        assert getattr(flexarm, name) is getattr(fa, name)
        assert name in flexarm.__all__
        assert name in fa.__all__


def test_positions_of_fields():
    assert fa.SlidingPrismatic(0.5, (0, 0, 0), "nodal") == fa.SlidingPrismatic(angle=0.5, contact="nodal")
    assert fa.FixedPrismatic(0.5, "rigid") == fa.FixedPrismatic(angle=0.5, rear="rigid")
    assert fa.Stop(1e4, 10) == fa.Stop(stiffness=1e4, damping=10)


def test_defaults():
    for kind in KINDS:
        joint = kind()
        assert (joint.angle, joint.mount, joint.contact, joint.limits) == (0.0, (0.0, 0.0, 0.0), "continuous", None)
        assert (joint.viscous, joint.coulomb, joint.coulomb_speed) == (0.0, 0.0, 0.001)
        assert (joint.drive, joint.stop) == (None, None)
    assert fa.FixedPrismatic().rear == "flexible"
    assert fa.Stop(1.0).damping == 0.0


def test_moving_joints_have_a_unit():
    assert fa.Revolute().unit == "rad"
    assert {kind().unit for kind in KINDS} == {"m"}
    assert all(isinstance(kind(), MovingJoint) for kind in (fa.Revolute, *KINDS))
    assert not isinstance(fa.Weld(), MovingJoint)


@pytest.mark.parametrize("kind", KINDS)
def test_mounts_by_angle_or_by_rotation(kind):
    assert np.allclose(kind(pi / 2).mount_matrix, SWAP)
    assert np.allclose(kind(mount=(0, 0, pi / 2)).mount_matrix, SWAP)
    assert np.allclose(kind(mount=SWAP).mount_matrix, SWAP)
    assert np.allclose(kind().mount_matrix, np.eye(3))
    assert np.allclose(kind(pi / 2, mount=np.eye(3)).mount_matrix, SWAP)


@pytest.mark.parametrize("kind", KINDS)
def test_drives_count_and_become_rigid(kind):
    drive = fa.Drive(stiffness=1e4, damping=1, rotor_inertia=1e-5, gear_ratio=600)
    joint = kind(0.3, limits=(0.1, 0.5), drive=drive, stop=fa.Stop(1e5))
    assert kind().coordinates == 1
    assert joint.coordinates == 2
    rigid = joint.rigid()
    assert rigid == kind(0.3, limits=(0.1, 0.5), drive=drive.rigid(), stop=fa.Stop(1e5))
    assert rigid.coordinates == 1
    assert kind().rigid() == kind()
    for contact in ("nodal", "element"):
        assert kind(contact=contact).rigid() == kind()  # rigid links have no nodes


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: fa.Stop(0), "stiffness = 0: must be positive (N m/rad, N/m in a prismatic joint)"),
        (lambda: fa.Stop(1, -1), "damping = -1: must be zero or positive (N m s/rad, N s/m in a prismatic joint)"),
        (lambda: fa.Revolute(stop=fa.Stop(1)), "limits: is required (rad), since the joint has a stop"),
        (lambda: fa.Revolute(stop=5), "stop = 5: must be Stop, or a mapping with its fields"),
        (
            lambda: fa.SlidingPrismatic(0.5, (0, 0, 1)),
            "mount = (0.0, 0.0, 1.0): must be left out with angle = 0.5 (rad): it is given instead of the angle",
        ),
        (lambda: fa.SlidingPrismatic("up"), "angle = 'up': must be a number (rad), not text"),
        (
            lambda: fa.SlidingPrismatic(contact="node"),
            "contact = 'node': unknown; did you mean 'nodal'? (allowed: continuous, nodal, element)",
        ),
        (
            lambda: fa.FixedPrismatic(rear="no"),
            "rear = 'no': unknown; did you mean 'none'? (allowed: flexible, rigid, none)",
        ),
        (
            lambda: fa.FixedPrismatic(limits=(1, 0.5)),
            "limits = (1.0, 0.5): the lower limit must be below the upper one (m)",
        ),
        (lambda: fa.FixedPrismatic(limits=1), "limits = 1: must be 2 finite numbers (m)"),
        (lambda: fa.FixedPrismatic(viscous=-1), "viscous = -1: must be zero or positive (N s/m)"),
        (lambda: fa.FixedPrismatic(coulomb=-1), "coulomb = -1: must be zero or positive (N)"),
        (lambda: fa.FixedPrismatic(coulomb_speed=0), "coulomb_speed = 0: must be positive (m/s)"),
        (
            lambda: fa.FixedPrismatic(rear="rigid", contact="nodal"),
            "contact = 'nodal': needs rear = 'flexible', not 'rigid': the mesh runs through the guide",
        ),
        (
            lambda: fa.FixedPrismatic(rear="none", contact="nodal"),
            "contact = 'nodal': needs rear = 'flexible', not 'none': the mesh runs through the guide",
        ),
        (
            lambda: fa.FixedPrismatic(rear="none", contact="element"),
            "contact = 'element': needs rear = 'flexible', not 'none': the mesh runs through the guide",
        ),
    ],
)
def test_refusals(build, expected):
    assert message(build) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_degrees_raise_a_warning(kind):
    with pytest.warns(fa.UnitsWarning, match=r"^angle = 90: looks like degrees; angles are in rad$"):
        kind(90)
    with pytest.warns(fa.UnitsWarning, match=r"^mount = .* looks like degrees"):
        kind(mount=(0, 90, 0))


# --- links ---


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"joint": fa.SlidingPrismatic(), "at": 0.5},
            "at = 0.5: must be left out: the joint rides along its parent; where it is is its coordinate",
        ),
        (
            {"joint": fa.FixedPrismatic(limits=(0.5, 3))},
            "joint.limits = (0.5, 3.0): must lie on the sliding link 'a', between 0 and 2 (m)",
        ),
        (
            {"joint": fa.FixedPrismatic(limits=(-0.5, 1))},
            "joint.limits = (-0.5, 1.0): must lie on the sliding link 'a', between 0 and 2 (m)",
        ),
        (
            {"joint": fa.FixedPrismatic(contact="nodal")},
            "joint.contact = 'nodal': needs a flexible link with basis elements, but 'a' is rigid",
        ),
        (
            {
                "joint": fa.FixedPrismatic(contact="nodal"),
                "flexible": fa.Flexible(bend_y=2, basis="elements", stiffening="shortening"),
            },
            "flexible.stiffening = 'shortening': must be 'none' with joint.contact = 'nodal', a scheme that has no "
            "shortening",
        ),
        (
            {
                "joint": fa.FixedPrismatic(contact="element"),
                "flexible": fa.Flexible(bend_y=2, basis="elements", stiffening="shortening"),
            },
            "flexible.stiffening = 'shortening': must be 'none' with joint.contact = 'element', a scheme that has no "
            "shortening",
        ),
        (
            {"joint": fa.FixedPrismatic(contact="element"), "flexible": MODES},
            "joint.contact = 'element': needs a flexible link with basis elements, but 'a' has basis modes",
        ),
        (
            {"joint": fa.FixedPrismatic(contact="nodal"), "flexible": MODES},
            "joint.contact = 'nodal': needs a flexible link with basis elements, but 'a' has basis modes",
        ),
        (
            {"joint": fa.FixedPrismatic(contact="nodal"), "flexible": REDUCED},
            "joint.contact = 'nodal': needs a flexible link with basis elements, but 'a' has basis reduced",
        ),
        (
            {"joint": fa.FixedPrismatic(), "flexible": MODES, "section": TAPER},
            "section.shape = 'tapered': must be the same along 'a': a link that slides through a guide has one section",
        ),
        (
            {"joint": fa.FixedPrismatic(), "flexible": MODES, "masses": [fa.PointMass(1, at=0.5)]},
            "masses = (PointMass(mass=1.0, at=0.5),): must be left out: 'a' slides through a guide, "
            "only a hub and a payload stay clear",
        ),
        (
            {"joint": fa.FixedPrismatic(rear="none"), "hub": fa.PointMass(1)},
            "hub = PointMass(mass=1.0): must be left out: with joint.rear = 'none' the link 'a' has no rear end",
        ),
    ],
)
def test_refusals_of_links(fields, expected):
    assert message(lambda: link(**fields)) == expected


def test_what_links_may_have():
    ends = {"hub": fa.PointMass(1), "payload": fa.PointMass(1)}
    link(joint=fa.FixedPrismatic(limits=(0, 2)), flexible=MODES, **ends)
    link(joint=fa.FixedPrismatic(contact="nodal"), flexible=ELEMENTS, **ends)
    link(joint=fa.FixedPrismatic(contact="element"), flexible=ELEMENTS, **ends)
    link(joint=fa.FixedPrismatic(), section=TAPER, masses=[fa.PointMass(1, at=0.5)])  # rigid
    link(joint=fa.FixedPrismatic(), flexible=MODES, section=Section.tapered(BAR, BAR))
    link(joint=fa.FixedPrismatic(rear="none"), payload=fa.PointMass(1), at=0.5)


@pytest.mark.parametrize(
    ("joint", "flexible", "expected"),
    [
        (fa.FixedPrismatic(), None, 1),
        (fa.FixedPrismatic(), MODES, 1 + 2 * 2),
        (fa.FixedPrismatic(rear="rigid"), MODES, 1 + 2),
        (fa.FixedPrismatic(rear="none"), MODES, 1 + 2),
        (fa.FixedPrismatic(), ELEMENTS, 1 + 2 * (8 + 8 + 3 + 2)),
        (fa.FixedPrismatic(contact="nodal"), ELEMENTS, 1 + (10 + 10 + 4 + 3)),
        (fa.FixedPrismatic(contact="element"), ELEMENTS, 1 + (10 + 10 + 4 + 3)),
        (fa.FixedPrismatic(drive=fa.Drive(1e4, rotor_inertia=1e-5)), MODES, 2 + 2 * 2),
        (fa.SlidingPrismatic(), ELEMENTS, 1 + (8 + 8 + 3 + 2)),
    ],
)
def test_coordinates(joint, flexible, expected):
    assert link(joint=joint, flexible=flexible).coordinates == expected


def test_shorthand():
    assert link(joint="sliding-prismatic").joint == fa.SlidingPrismatic()
    assert link(joint="fixed-prismatic").joint == fa.FixedPrismatic()


# --- robots ---


@pytest.mark.parametrize(
    ("joint", "flexible", "expected"),
    [
        (
            fa.SlidingPrismatic(limits=(0, 3)),
            None,
            "joint.limits = (0.0, 3.0): must lie on its parent 'rail', between 0 and 2 (m)",
        ),
        (
            fa.SlidingPrismatic(limits=(-1, 1)),
            MODES,
            "joint.limits = (-1.0, 1.0): must lie on its parent 'rail', between 0 and 2 (m)",
        ),
        (
            fa.SlidingPrismatic(),
            ELEMENTS,
            "joint.contact = 'continuous': cannot ride on its parent 'rail', whose basis is elements: its curvature "
            "jumps at nodes; give 'rail' basis modes or splines, or this joint contact nodal or element",
        ),
        (
            fa.SlidingPrismatic(),
            REDUCED,
            "joint.contact = 'continuous': cannot ride on its parent 'rail', whose basis is reduced: its curvature "
            "jumps at nodes; give 'rail' basis modes or splines, or basis elements and this joint contact nodal or "
            "element",
        ),
        (
            fa.SlidingPrismatic(contact="nodal"),
            None,
            "joint.contact = 'nodal': needs a flexible parent with basis elements, but 'rail' is rigid",
        ),
        (
            fa.SlidingPrismatic(contact="element"),
            MODES,
            "joint.contact = 'element': needs a flexible parent with basis elements, but 'rail' has basis modes",
        ),
        (
            fa.SlidingPrismatic(contact="nodal"),
            MODES,
            "joint.contact = 'nodal': needs a flexible parent with basis elements, but 'rail' has basis modes",
        ),
    ],
)
def test_refusals_of_rides(joint, flexible, expected):
    assert (
        message(lambda: fa.Robot(links=[link("rail", flexible=flexible), link("a", joint)])) == "links[1]." + expected
    )


@pytest.mark.parametrize(
    ("joint", "expected"),
    [
        (
            fa.SlidingPrismatic(contact="nodal"),
            "joint.contact = 'nodal': needs a flexible parent with basis elements, but the joint rides on the ground",
        ),
        (
            fa.SlidingPrismatic(contact="element"),
            "joint.contact = 'element': needs a flexible parent with basis elements, but the joint rides on the ground",
        ),
        (
            fa.SlidingPrismatic(stop=fa.Stop(1e5)),
            "joint.limits: is required (m), since the joint has a stop and the ground has no ends",
        ),
    ],
)
def test_refusals_on_the_ground(joint, expected):
    assert message(lambda: fa.Robot(links=[link("a", joint)])) == "links[0]." + expected


def robots():
    slide, guide = fa.SlidingPrismatic, fa.FixedPrismatic
    stop = fa.Stop(1e5, 20.0)
    drive = fa.Drive(stiffness=1e5, rotor_inertia=1e-5, gear_ratio=600)
    yield fa.Robot(links=[link("a", slide(limits=(-5, 5), stop=stop))])
    yield fa.Robot(links=[link("rail"), link("a", slide(0.5, stop=stop, drive=drive), MODES)])
    yield fa.Robot(links=[link("rail", flexible=MODES), link("a", slide(mount=SWAP, limits=(0, 2), viscous=3))])
    yield fa.Robot(links=[link("rail", flexible=ELEMENTS), link("a", slide(contact="nodal"))])
    yield fa.Robot(links=[link("rail", guide(rear="none"), MODES), link("a", slide())])
    yield fa.Robot(links=[link("rail", guide(contact="nodal"), ELEMENTS), link("a", slide(contact="nodal"))])
    yield fa.Robot(links=[link("rail", guide(contact="element"), ELEMENTS), link("a", slide(contact="element"))])
    yield fa.Robot(links=[link("a"), link("b", guide(0.1, "rigid", coulomb=1, coulomb_speed=0.01), MODES, at=0.5)])
    yield fa.Robot(links=[link("a", fa.Revolute(limits=(-1, 1), stop=stop))])


@pytest.mark.parametrize("robot", list(robots()))
def test_round_trips(robot, tmp_path):
    robot.save(tmp_path / "arm.yaml")
    assert fa.load(tmp_path / "arm.yaml") == robot
    assert robot.with_() == robot
    assert robot.rigid().with_() == robot.rigid()  # what rigid() leaves is valid
    assert eval(repr(robot), dict(vars(fa), **vars(fa.sections))) == robot


def test_files(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(
        "links:\n"
        "  - {name: rail, length: 2, mass: 1}\n"
        "  - name: a\n"
        "    length: 1\n"
        "    mass: 1\n"
        "    joint: {type: sliding-prismatic, angle: 0.5, limits: [0.1, 1.5], stop: {stiffness: 1e5}}\n"
        "  - name: b\n"
        "    length: 1\n"
        "    mass: 1\n"
        "    joint: {type: fixed-prismatic, rear: none, limits: [0.1, 1.5]}\n"
    )
    assert message(lambda: fa.load(path)) == (
        f"{path}:10: links[2].joint.limits = (0.1, 1.5): must lie on the sliding link 'b', between 0 and 1 (m)"
    )
    path.write_text(path.read_text().replace("none, limits: [0.1, 1.5]", "none"))
    _, a, b = fa.load(path).links
    assert a.joint == fa.SlidingPrismatic(0.5, limits=(0.1, 1.5), stop=fa.Stop(1e5))
    assert b.joint == fa.FixedPrismatic(rear="none")


def test_travel():
    slide, guide = fa.SlidingPrismatic, fa.FixedPrismatic
    robot = fa.Robot(
        links=[
            link("hinge", fa.Revolute(limits=(-1, 2))),
            link("free"),
            link("weld", "weld"),
            link("slide", slide()),
            link("short", slide(limits=(0.5, 1.0)), parent="weld"),
            link("trolley", slide(), parent="ground"),
            link("track", slide(limits=(-3, 4)), parent="ground"),
            link("rigid", guide()),
            link("both", guide(), MODES),
            link("front", guide(rear="rigid"), MODES),
            link("tape", guide(rear="none"), MODES),
            link("own", guide(limits=(0, 2)), MODES),
        ]
    )
    travels = {each.name: robot.travel(each) for each in robot.links}
    assert travels == {
        "hinge": (-1.0, 2.0),
        "free": None,
        "weld": None,
        "slide": (0.0, 2.0),
        "short": (0.5, 1.0),
        "trolley": None,
        "track": (-3.0, 4.0),
        "rigid": (0.0, 2.0),
        "both": pytest.approx((0.02, 1.98)),
        "front": pytest.approx((0.02, 2.0)),
        "tape": pytest.approx((0.02, 2.0)),
        "own": (0.0, 2.0),
    }
    assert robot.travel("slide") == (0.0, 2.0)
    assert message(lambda: robot.travel("slid")).startswith("link = 'slid': no such link; did you mean 'slide'?")


def test_schema():
    kinds = fa.schema()["$defs"]
    slide, guide = kinds["SlidingPrismatic"]["properties"], kinds["FixedPrismatic"]["properties"]
    assert list(slide) == [name for name in guide if name != "rear"]
    assert list(guide)[:3] == ["type", "angle", "rear"]
    assert guide["rear"]["enum"] == ["flexible", "rigid", "none"]
    for fields in (slide, guide):
        assert (fields["angle"]["unit"], fields["limits"]["anyOf"][0]["unit"]) == ("rad", "m")
        assert [fields[name]["unit"] for name in ("viscous", "coulomb", "coulomb_speed")] == ["N s/m", "N", "m/s"]
        assert fields["contact"]["enum"] == ["continuous", "nodal", "element"]
        assert all(field["description"] for field in fields.values())
    assert kinds["Stop"]["required"] == ["stiffness"]
    assert kinds["SlidingPrismatic"]["required"] == ["type"]


def test_the_table_shows_the_joint():
    robot = fa.Robot(
        links=[
            link("a", fa.FixedPrismatic(0.5, "none"), MODES),
            link("b", "sliding-prismatic", ELEMENTS),
            link("c", fa.SlidingPrismatic(contact="nodal", drive=fa.Drive(1e4, rotor_inertia=1e-5)), ELEMENTS),
            link("d", fa.SlidingPrismatic(contact="element")),
        ]
    )
    html = robot._repr_html_()
    cells = ("fixed prismatic, 0.5 rad, rear none", "sliding prismatic", "sliding prismatic, nodal, elastic")
    for cell in (*cells, "sliding prismatic, element"):
        assert f"<td>{cell}</td>" in html
    assert str(robot).isascii()


@pytest.mark.parametrize(
    ("shapes", "kind"),
    [({"bend_z": 2}, "bends in space"), ({"twist": 1}, "bends in space"), ({"basis": "elements"}, "is a mesh")],
)
def test_nothing_slides_along_an_exact_link_in_space_or_of_elements(shapes, kind):
    rail = link("rail", flexible=fa.Flexible(bend_y=2, stiffening="exact", **shapes))
    contact = "nodal" if "basis" in shapes else "continuous"
    rider = link("rider", fa.SlidingPrismatic(contact=contact))
    support = fa.PointSupport("rail", (1.0, 0.0, 0.0))
    for output, build in (
        ("'rider'", lambda: fa.Robot(links=[rail, rider])),
        ("a support", lambda: fa.Robot(links=[rail], constraints=[support])),
    ):
        text = message(build)
        assert text.startswith("links[0].flexible.stiffening = 'exact': must be 'shortening' or 'none', or its ")
        assert text.endswith(f": {output} slides along 'rail', which {kind}")
    second_order = rail.model_copy(update={"flexible": rail.flexible.model_copy(update={"stiffening": "shortening"})})
    assert fa.Robot(links=[second_order, rider], constraints=[support])
    assert fa.Robot(links=[link("rail", flexible=fa.Flexible(2, stiffening="exact"))], constraints=[support])
