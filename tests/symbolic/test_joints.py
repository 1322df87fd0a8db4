"""Closed forms of robots with joints of all kinds against the equations of motion."""

import pytest

import flexarm as fa
from tests.dynamics.joints.chains import KINDS
from tests.symbolic.cases import BAR, STEEL, agrees

PLANAR = {
    "planar in a plane": fa.Planar(("x", "y")),
    "prismatic in a plane": fa.Prismatic((0.6, 0.8, 0.0)),
    "springs": fa.Planar(stiffness=(30.0, 20.0, 5.0), viscous=(1.0, 2.0, 0.1), coulomb=(0.1, 0.2, 0.3), actuated=True),
}
ALL = {**KINDS, **PLANAR}


def arm(kind, **flexible):
    links = [
        fa.Link("a", 0.5, mass=1.0, payload=fa.PointMass(0.2)),
        fa.Link("b", 0.4, ALL[kind], mass=0.5, payload=fa.PointMass(0.3, inertia=(1e-3, 2e-3, 3e-3))),
        fa.Link("c", 0.3, **(flexible or {"mass": 0.4})),
    ]
    return fa.Robot(links=links, gravity=(0.5, -9.81, 0.0 if kind in PLANAR else 1.0))


@pytest.mark.parametrize("kind", ALL)
def test_the_closed_form_is_that_of_the_equations(kind):
    robot = arm(kind)
    form = agrees(robot)
    assert len(form.actuators) == fa.System(robot, native=False).nu


def test_a_bending_link_on_a_planar_joint():
    agrees(arm("planar in a plane", section=BAR, material=STEEL, flexible=fa.Flexible(bend_y=1)))


def test_pitch_and_springs_are_parameters():
    form = fa.equations(arm("screw").with_({"links.b.joint.stiffness": 3.0}))
    named = {each.symbol: (each.meaning, each.unit) for each in form.parameters}
    assert named["r_2"] == ("translation of joint 2 (b) per unit of its coordinate", "m/rad")
    assert named["ks_2"] == ("stiffness of the spring of joint 2 (b)", "N m/rad")
    assert form.values["ks_2"] == 3.0


def test_springs_at_rest_elsewhere_are_refused():
    robot = arm("revolute").with_({"links.b.joint.stiffness": 3.0, "links.b.joint.rest": 0.2})
    with pytest.raises(ValueError, match=r"'b': joint.rest: must be zero"):
        fa.equations(robot)
