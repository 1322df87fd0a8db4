"""Unsupported kinds of parts are refused and never ignored."""

from typing import ClassVar, Literal

import numpy as np
import pytest
from pydantic import Field

import flexarm as fa
from flexarm.plotting.arm_points import Arm
from flexarm.robot.constraints import Constraint
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import MovingJoint

STEEL = {"section": {"shape": "rectangle", "width": 0.02, "height": 0.005}, "material": {"E": 2.1e11, "rho": 7850.0}}


class Helical(MovingJoint):
    """A kind of its own."""

    unit: ClassVar[Literal["rad", "m"]] = "rad"
    type: Literal["helical"] = Field("helical")
    mount: tuple[float, float, float] = (0.0, 0.0, 0.0)
    limits: None = None
    viscous: float = 0.0
    coulomb: float = 0.0
    coulomb_speed: float = 0.01
    drive: None = None
    stop: None = None
    stiffness: float = 0.0
    rest: float = 0.0
    actuated: bool = True

    @property
    def words(self):
        return ["helical"]


class Screw(fa.Revolute):
    """A kind that passes for a hinge."""

    pitch: float = 0.01


class Splines(Basis):
    type: Literal["splines"] = Field("splines")


class Structural(fa.Damping):
    loss: float = 0.01


class OnSphere(Constraint):
    type: Literal["on-sphere"] = Field("on-sphere")
    name: None = None

    @property
    def places(self):
        return {}


class Belt(fa.Drive):
    slack: float = 0.01


def arm(**changes):
    """A one-link robot with parts of the link (or of the robot) replaced unchecked, as no file could."""
    link = fa.Link("arm", 0.5, flexible=fa.Flexible(bend_y=1), **STEEL)
    robot = fa.Robot(links=[link])
    constraints = changes.pop("constraints", ())
    return robot.model_copy(update={"links": (link.model_copy(update=changes),), "constraints": constraints})


ROBOTS = {
    "Helical": arm(joint=Helical()),
    "Screw": arm(joint=Screw()),
    "Belt": arm(joint=fa.Revolute().model_copy(update={"drive": Belt()})),
    "Splines": arm(flexible=fa.Flexible(bend_y=1).model_copy(update={"basis": Splines()})),
    "Structural": arm(flexible=fa.Flexible(bend_y=1).model_copy(update={"damping": Structural()})),
    "OnSphere": arm(constraints=(OnSphere(),)),
}


@pytest.mark.parametrize("kind", ROBOTS)
def test_the_equations_of_motion_refuse_it(kind):
    with pytest.raises(fa.DescriptionError, match=f"the equations of motion cannot take a .* of the kind {kind} "):
        fa.System(ROBOTS[kind])


@pytest.mark.parametrize("kind", [kind for kind in ROBOTS if kind != "OnSphere"])  # it leaves all constraints out
def test_closed_forms_refuse_it(kind):
    with pytest.raises(fa.DescriptionError, match=f"the closed form cannot take a .* of the kind {kind} "):
        fa.equations(ROBOTS[kind])


@pytest.mark.parametrize("kind", ["Helical", "Screw", "OnSphere"])
def test_drawings_refuse_it(kind):
    system = fa.System(arm())
    system.robot = ROBOTS[kind]
    with pytest.raises(fa.DescriptionError, match=f"the drawing cannot take a .* of the kind {kind} "):
        Arm(system, np.zeros((1, 2)))


def test_the_message_has_the_path_and_the_supported_kinds():
    with pytest.raises(fa.DescriptionError) as found:
        fa.System(ROBOTS["Helical"])
    assert str(found.value) == (
        "links[0].joint: the equations of motion cannot take a joint of the kind Helical "
        "(known: Revolute, Prismatic, Screw, Universal, Cylindrical, Planar, SlidingPrismatic, FixedPrismatic, Sleeve, "
        "Weld)"
    )


def test_robots_are_looked_at_one_by_one():
    """Whatever was accepted or refused before, and parts that were."""
    known = fa.System(arm()).robot
    for _ in range(2):
        with pytest.raises(fa.DescriptionError, match="of the kind Screw"):
            fa.System(known.model_copy(update={"links": (known.links[0], *ROBOTS["Screw"].links[:1])}))
        assert fa.System(known).robot == known


def test_the_table_uses_the_description_of_the_kind():
    assert "helical" in str(ROBOTS["Helical"])


def test_a_joint_without_words_for_the_table_cannot_be_made():
    class Silent(Helical):
        words = MovingJoint.words

    with pytest.raises(TypeError, match="words"):
        Silent()


def test_a_section_must_define_uniform():
    class Odd(fa.Section):
        shape: Literal["odd"] = Field("odd")

        def at(self, xi):
            raise NotImplementedError

    with pytest.raises(TypeError, match="uniform"):
        Odd()
