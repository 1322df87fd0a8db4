"""Descriptions of sleeves and supports on links."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.robot.errors import DescriptionError

STRIP = fa.Section.rectangle(0.01, 0.004)
STEEL = fa.Material(2e11, 7850)


def telescope(joint, carrier=None, flexible=None, constraints=(), **more):
    carrier = carrier or fa.Link("carrier", 1.0, mass=1.0)
    beam = fa.Link("beam", 0.8, joint, STRIP, STEEL, flexible or fa.Flexible(bend_y=2), **more)
    return fa.Robot(links=[carrier, beam], constraints=constraints)


def test_a_sleeve_survives_a_file(tmp_path):
    robot = telescope(fa.Sleeve(mouth=0.9, viscous=2.0), offset=(0, 0.1, 0))
    fa.save(robot, tmp_path / "robot.yaml")
    assert fa.load(tmp_path / "robot.yaml") == robot
    assert "sleeve" in str(robot)


def test_it_makes_the_support_at_its_mouth():
    robot = telescope(fa.Sleeve(), offset=(0, 0.1, 0))
    (mouth,) = robot.every_constraint
    assert (mouth.link, mouth.on, mouth.at, mouth.position) == ("beam", "carrier", 1.0, (0, 0.1, 0))
    assert robot.constraints == ()
    assert fa.System(robot, native=False).constraints == ("beam.mouth.y",)


@pytest.mark.parametrize(
    ("mouth", "travel"), [(None, (0.2, 0.992)), (0.9, (0.1, 0.892)), (0.5, (0.0, 0.492))], ids=["tip", "0.9", "0.5"]
)
def test_its_end_stays_in_the_sleeve(mouth, travel):
    assert telescope(fa.Sleeve(mouth)).travel("beam") == pytest.approx(travel)


def test_on_the_ground_it_lies_along_the_base():
    robot = fa.Robot(links=[fa.Link("beam", 0.8, fa.Sleeve(), STRIP, STEEL, fa.Flexible(bend_y=2))])
    assert robot.travel("beam") == pytest.approx((-0.8, -0.008))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"joint": fa.Sleeve(mouth=1.2)}, "must lie on its parent 'carrier', above 0 and up to 1 (m)"),
        ({"joint": fa.Sleeve(mouth=0.005)}, "leaves 'beam' no way to slide"),
        ({"joint": fa.Sleeve(limits=(0.1, 0.9))}, "must lie between 0.2 and 0.992 (m): the end of 'beam' runs"),
        ({"flexible": fa.Flexible(bend_y=2, shear=True)}, "slides in a sleeve, and such shapes have no shear"),
        ({"flexible": fa.Flexible(bend_y=2, basis=fa.Elements(root="free"))}, "the sleeve holds the link's end"),
        (
            {"flexible": fa.Flexible(bend_y=2, bend_z=2, stiffening="exact")},
            "the mouth of its sleeve slides along 'beam', which bends in space",
        ),
        ({"at": 0.3}, "must be left out: the joint rides along its parent"),
    ],
)
def test_impossible_sleeves_are_refused(change, sentence):
    with pytest.raises(DescriptionError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        telescope(**{"joint": fa.Sleeve()} | change)


def test_a_mesh_with_kinks_is_no_sleeve():
    carrier = fa.Link("carrier", 1.0, section=STRIP, material=STEEL, flexible=fa.Flexible(bend_y=4, basis="elements"))
    with pytest.raises(DescriptionError, match=r"give 'carrier' basis modes or splines$"):
        telescope(fa.Sleeve(), carrier)
    with pytest.raises(DescriptionError, match="give 'carrier' basis modes or splines, or this joint contact nodal"):
        telescope(fa.SlidingPrismatic(), carrier)


@pytest.mark.parametrize(
    ("support", "sentence"),
    [
        (lambda: fa.PointSupport("beam"), "position: is required"),
        (lambda: fa.PointSupport("beam", on="beam"), "must be another link than the one that slides on it"),
        (lambda: fa.PointSupport("beam", (0, 0, 0), at=0.1), "at = 0.1: must be left out"),
        (
            lambda: telescope(fa.Revolute(), constraints=[fa.PointSupport("beam", on="carier")]),
            "did you mean 'carrier'",
        ),
        (
            lambda: telescope(fa.Revolute(), constraints=[fa.PointSupport("beam", on="carrier", at=3.0)]),
            "must lie on link 'carrier', between 0 and 1",
        ),
    ],
)
def test_supports_that_cannot_be(support, sentence):
    with pytest.raises(DescriptionError, match=sentence):
        support()


def test_a_support_on_a_link_survives_a_file(tmp_path):
    held = fa.PointSupport("beam", (0, -0.01, 0), "y", "rest", on="carrier", at=0.5)
    robot = telescope(fa.SlidingPrismatic(), constraints=[held])
    fa.save(robot, tmp_path / "robot.yaml")
    assert fa.load(tmp_path / "robot.yaml").constraints == (held,)
    assert fa.System(robot, native=False).constraints == ("rest.y",)


def test_splines_count_their_coordinates():
    assert fa.Flexible(bend_y=4, twist=3, basis="splines").coordinates == 9
    with pytest.raises(DescriptionError, match="must be false with basis splines"):
        fa.Flexible(bend_y=4, basis=fa.Splines(), shear=True)


def test_the_equations_of_a_mouth_change_with_its_place():
    """Numbers of joints that make constraints are numbers like others: differences tell the same."""
    robots = [telescope(fa.Sleeve(mouth)) for mouth in (0.9, 0.8)]
    systems = [fa.System(each, native=False) for each in robots]
    assert systems[0].structure is systems[1].structure
    q = systems[0].vector({"beam.q": 0.5, "beam.bend_y[1]": 0.01})
    gaps = [system.constraint(q) for system in systems]
    shapes = [system.frame("beam", mouth - 0.5, q) for system, mouth in zip(systems, (0.9, 0.8))]
    assert np.ravel(gaps) == pytest.approx([each[1, 3] for each in shapes], rel=3e-3)
