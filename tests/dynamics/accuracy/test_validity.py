"""Motions without inertia are found whatever the units, and only they are."""

from math import pi

import numpy as np
import pytest

import flexarm as fa
from benchmarks.robots import planar_chain
from flexarm.dynamics.singularity import SINGULAR_EIGENVALUE, massless_motions

STEEL = {"section": fa.Section.rectangle(0.02, 0.005), "material": fa.Material(2.1e11, 7850.0)}


def two_slides(tilt=0.3, rail=0.0):
    """Two slides along one line; only the second carries a mass."""
    first = fa.Link("rail", 1.0, fa.SlidingPrismatic(angle=tilt), mass=rail)
    second = fa.Link("cart", 0.5, fa.SlidingPrismatic(), mass=0.3, parent="rail")
    base = fa.Pose(rotation=(0.1, 0.2, tilt))
    return fa.Robot(links=[first.model_copy(update={"joint": fa.SlidingPrismatic()}), second], base=base)


def test_two_slides_along_one_line_without_a_mass_between_them():
    system = fa.System(two_slides(), native=False)
    sentence = r"'rail.q', 'cart.q' slide along the same direction, and no mass lies between them; give a link between"
    with pytest.raises(ValueError, match=sentence):
        system.forward_dynamics({"cart.q": 0.3}, None, [1.0, 0.0])
    with pytest.raises(ValueError, match=sentence):  # also where no force makes the accelerations large
        system.forward_dynamics({"cart.q": 0.3}, None)
    assert "singular" in system.singularity()


def test_any_mass_between_them_is_enough():
    system = fa.System(two_slides(rail=1e-6), native=False)
    assert system.singularity() is None
    a = system.forward_dynamics(None, None, [1e-6, 0.0])
    assert a[0] == pytest.approx(1.0)


def test_a_driven_coordinate_needs_no_inertia():
    system = fa.System(two_slides(), native=False)
    assert system.singularity(held=[0]) is None
    assert system.singularity(held=[1]) is None


def test_a_mass_on_the_axis_up_to_rounding():
    """The lever is the rounding of cos(pi / 2), its inertia the square of that."""
    links = [fa.Link("a", 1.0, fa.Revolute("x"), payload=fa.PointMass(1.0, offset=(0, np.cos(pi / 2), 0)))]
    system = fa.System(fa.Robot(links=[fa.Link("base", 1.0, mass=5.0), *links]), native=False)
    with pytest.raises(ValueError, match=r"'a\.q' has no inertia"):
        system.forward_dynamics(None, None, {"a": 1e-3})


def test_a_robot_that_becomes_singular_on_its_way():
    """A wrist whose first and last axes fall into line: only one of the two turns has an inertia of its own."""
    tool = fa.Link("c", 0.1, fa.Revolute("x"), payload=fa.PointMass(1.0, inertia=0.1))
    wrist = fa.Robot(links=[fa.Link("a", 0.1, fa.Revolute("x")), fa.Link("b", 0.1, fa.Revolute("y")), tool])
    system = fa.System(wrist, native=False)
    assert np.isfinite(system.forward_dynamics({"b.q": 1.0}, None, {"a": 1.0})).all()
    with pytest.raises(ValueError, match=r"'a.q', 'c.q' have no inertia together"):
        system.forward_dynamics({"b.q": 1e-9}, None, {"a": 1.0})


@pytest.mark.parametrize(
    "robot",
    [
        planar_chain(10),
        fa.Robot(links=[fa.Link("a", 1.0, flexible=fa.Flexible(bend_y=60, basis="elements"), **STEEL)]),
        fa.Robot(links=[fa.Link("arm", 2.0, mass=500.0), fa.Link("hair", 1e-3, mass=1e-9)]),
    ],
    ids=["chain", "mesh", "very unlike links"],
)
def test_ill_conditioned_robots_are_not_singular(robot):
    assert fa.System(robot, native=False).singularity() is None


def test_units_do_not_matter():
    M = np.array([[2.0, 2.0], [2.0, 2.0]])
    for scale in (np.array([1.0, 1.0]), np.array([1e6, 1e-6])):
        found = massless_motions(M * np.outer(scale, scale), 1 / scale)
        assert found.shape == (2, 1)
        assert found[0, 0] / found[1, 0] == pytest.approx(-1.0)
    assert massless_motions(
        M + np.diag([10 * SINGULAR_EIGENVALUE, 10 * SINGULAR_EIGENVALUE]) * 2, np.ones(2)
    ).shape == (2, 0)


@pytest.mark.parametrize("angle", [0.0, 1.57])
def test_slides_along_one_direction_are_named_as_such(angle):
    """`angle` turns the link behind a slide, so it does not make a gantry of two slides; turning the carriage does."""
    rail = fa.Link("rail", 1.0, fa.Weld(), mass=1.0)

    def robot(first: float, second: float) -> fa.Robot:
        a = fa.Link("a", 0.5, fa.SlidingPrismatic(angle=first), mass=0.0)
        return fa.Robot(links=[rail, a, fa.Link("b", 0.5, fa.SlidingPrismatic(angle=second), mass=1.0)])

    q = {"a.q": 0.3, "b.q": 0.2}
    sentence = fa.System(robot(0.0, angle), native=False).singularity(q)
    assert sentence is not None
    assert "'a.q', 'b.q' slide along the same direction" in sentence
    assert "not the direction in which it slides" in sentence
    assert fa.System(robot(np.pi / 2, angle), native=False).singularity(q) is None


def slides(first: fa.Link, second: fa.Link) -> str | None:
    rail = fa.Link("rail", 1.0, fa.Weld(), mass=1.0)
    return fa.System(fa.Robot(links=[rail, first, second]), native=False).singularity({"a.q": 0.2, "b.q": 0.2})


@pytest.mark.parametrize("parent", ["a", "rail"])
def test_slides_that_carry_nothing_lack_inertia_whatever_their_directions(parent):
    """Other directions would not help two parallel slides that carry no mass, in a row or beside each other."""
    first = fa.Link("a", 0.5, fa.SlidingPrismatic(), mass=0.0)
    second = fa.Link("b", 0.5, fa.SlidingPrismatic(), mass=0.0, parent=parent)
    sentence = "the mass matrix is singular: 'a.q', 'b.q' have no inertia; give their links a mass, a hub or a payload"
    assert slides(first, second) == sentence


def test_a_link_that_slides_through_its_joint_is_turned_by_its_own_angle():
    """The message gives the rule of fixed prismatic joints, and following it makes the mass matrix regular."""
    first = fa.Link("a", 0.5, fa.FixedPrismatic(), mass=0.0)
    sentence = slides(first, fa.Link("b", 0.5, fa.FixedPrismatic(), mass=1.0))
    assert sentence is not None
    assert "'a.q', 'b.q' slide along the same direction" in sentence
    assert "slides along its own link, which its `angle` and `mount` turn" in sentence
    assert "not the direction" not in sentence
    assert slides(first, fa.Link("b", 0.5, fa.FixedPrismatic(angle=0.5), mass=1.0)) is None
