"""Warnings of postures that bend links further than their models allow, in all functions."""

import warnings

import numpy as np
import pytest

import flexarm as fa
from tests.helpers import unit_link

TWICE = 2.0  # P L^2 / EI of the payload's weight: the tip is at (0.839358, -0.493457)


def cantilever(flexible: fa.Flexible, gravity=(0, -TWICE, 0)) -> fa.System:
    link = unit_link(joint=fa.Weld(), flexible=flexible, mass=1e-9, payload=fa.PointMass(1.0))
    return fa.System(fa.Robot(links=[link], gravity=gravity), native=False)


@pytest.mark.parametrize(
    ("fields", "model"),
    [
        ({"basis": "elements"}, "shortening"),
        ({"shear": True}, "shortening"),
        ({"twist": 1}, "shortening"),
        ({"bend_y": 13}, "shortening"),
        ({"stiffening": "none"}, "none"),
    ],
)
def test_equilibrium_and_modes_tell_that_a_link_bends_too_far(fields, model):
    section = {"section": fa.Section.properties(A=1, I_y=1, I_z=1, J=1, I_p=1, shear_y=1e3, shear_z=1e3)}
    link = unit_link(joint=fa.Weld(), mass=1.0, payload=fa.PointMass(1.0, inertia=1.0), **section)
    link = link.model_copy(update={"flexible": fa.Flexible(**{"bend_y": 4, **fields})})
    system = fa.System(fa.Robot(links=[link], gravity=(0, -0.8, 0)), native=False)
    message = rf"link 'beam' bends by \d+% of its length; stiffening '{model}' is meant for less than"
    with pytest.warns(fa.ValidityWarning, match=message):
        q = fa.equilibrium(system)
    with pytest.warns(fa.ValidityWarning, match=message):
        fa.modes(system, q=q)


def test_accelerations_of_links_that_bend_or_twist_too_far_are_told():
    """There the mass matrix may not even be definite."""
    flexible = fa.Flexible(bend_y=2, bend_z=2, twist=1)
    section = fa.Section.properties(A=1, I_y=1, I_z=1, J=1, I_p=1)
    system = fa.System(fa.Robot(links=[unit_link(flexible=flexible, section=section)]), native=False)
    q = np.zeros((3, system.nq))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.forward_dynamics(q, None)
        fa.System(fa.Robot(links=[fa.Link("post", 1.0, fa.Weld(), mass=1.0)])).forward_dynamics([], [])  # no coordinate
    for name, far, message in (("bend_z[1]", 0.3, r"bends by \d+%"), ("twist[1]", 0.25, r"twists by about 0\.25 rad")):
        q[1] = 0.0
        q[1, system.index(f"beam.{name}")] = far * system.sizes[system.index(f"beam.{name}")]
        with pytest.warns(fa.ValidityWarning, match=f"link 'beam' {message}.*take stiffening='exact'") as found:
            system.forward_dynamics(q, None)
        assert found[0].filename == __file__


def test_exact_links_bend_as_far_as_they_like_in_silence():
    system = cantilever(fa.Flexible(bend_y=4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        q = fa.equilibrium(system)
        fa.modes(system, q=q)
    assert system.tip(q) == pytest.approx([0.839358, -0.493457, 0.0], abs=1e-5)


def test_exact_links_that_turn_far_between_their_nodes_are_told():
    system = cantilever(fa.Flexible(bend_y=1))
    with pytest.warns(fa.ValidityWarning, match=r"link 'beam' turns by .* rad between two of the nodes"):
        fa.modes(system, q=np.array([20 * system.sizes[0]]))


def test_what_no_equilibrium_is_found_for_names_the_model_that_could_do_it():
    with pytest.raises(ArithmeticError, match=r"or take stiffening='exact' of 'beam', which bears deflections of any"):
        fa.equilibrium(cantilever(fa.Flexible(bend_y=3, stiffening="shortening"), (-3.0, 0, 0)))  # Euler's is 2.467


def test_links_are_looked_at_all_along_and_however_they_are_rolled():
    rubber = fa.Material(E=2e9, rho=6000.0)
    strip = {"section": fa.Section.rectangle(0.002, 0.01), "material": rubber}
    mesh = fa.Link("b", 1.0, fa.Weld(), **strip, flexible=fa.Flexible(bend_y=8, basis="elements"))
    propped = fa.Robot(links=[mesh], gravity=(0, -9.81, 0), constraints=[fa.OnPlane("b", normal="y")])
    with pytest.warns(fa.ValidityWarning, match=r"link 'b' bends by 4\d% of its length"):
        fa.equilibrium(propped)
    for roll in (0.0, np.pi / 4):
        shapes = fa.Flexible(bend_y=3, bend_z=3, twist=1)
        bar = fa.Link("b", 1.0, fa.Weld(mount=(roll, 0, 0)), fa.Section.circle(0.01), fa.Material(2e9, 1000.0), shapes)
        robot = fa.Robot(links=[bar], gravity=(0, -18.0, 0))
        with pytest.warns(fa.ValidityWarning, match="link 'b' bends by 18% of its length"):
            fa.equilibrium(fa.System(robot, native=False))
        with pytest.warns(fa.ValidityWarning, match="'b' bends by 18.0% of .*less than 10%.*exact model is used"):
            fa.equilibrium(robot)


@pytest.mark.parametrize("out", [0.1, 0.9])
def test_both_parts_of_a_link_that_slides_are_looked_at(out):
    fields = {"section": fa.Section.rectangle(0.003, 0.01), "material": fa.Material(E=2e9, rho=1000.0)}
    ram = fa.Link("b", 1.0, fa.FixedPrismatic(), **fields, flexible=fa.Flexible(bend_y=3))
    with pytest.warns(fa.ValidityWarning, match=r"link 'b' bends by \d+% of its length"):
        fa.equilibrium(fa.System(fa.Robot(links=[ram], gravity=(0, -9.81, 0)), native=False), {"b.q": out})


def test_runs_are_looked_at_between_their_samples():
    fields = {"section": fa.Section.rectangle(0.003, 0.01), "material": fa.Material(E=2e9, rho=1000.0)}
    bar = fa.Link("b", 1.0, fa.Weld(), **fields, flexible=fa.Flexible(bend_y=1, stiffening="shortening"))
    robot = fa.Robot(links=[bar], gravity=(0, -9.81, 0))
    period = 1 / fa.modes(robot).frequencies[0]
    with pytest.warns(fa.ValidityWarning, match=r"link 'b' bends by 1\d\d% of its length"):
        fa.simulate(robot, 2 * period, sample=period, native=False)
