"""Splines on a mesh: smoothness across nodes, clamping at the root, accuracy."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.beam.bases import spline_shapes
from tests.helpers import unit_link

NODES = np.array([0.0, 0.2, 0.5, 0.6, 1.0])


@pytest.mark.parametrize(("order", "degree"), [(1, 2), (2, 3), (1, 4), (2, 5)])
def test_they_are_clamped_and_smooth(order, degree):
    space = spline_shapes(NODES, order, degree)
    assert space.count == len(NODES) - 1 + degree - order
    assert space.degree == degree
    derivative = space
    for k in range(degree):
        if k < order:
            assert np.abs(derivative(0.0)).max() < 1e-14
        for node in NODES[1:-1]:
            left, right = derivative(node - 1e-9), derivative(node + 1e-9)
            assert np.abs(left - right).max() < 1e-6 * max(np.abs(left).max(), 1)
        derivative = derivative.derivative()


@pytest.mark.parametrize(("order", "degree"), [(1, 2), (2, 3), (1, 4), (2, 5)])
def test_they_make_every_clamped_polynomial_of_their_degree(order, degree):
    space, x = spline_shapes(NODES, order, degree), np.linspace(0, 1, 50)
    values = space(x)
    for power in range(order, degree + 1):
        found, *_ = np.linalg.lstsq(values, x**power, rcond=None)
        assert np.abs(values @ found - x**power).max() < 1e-12


def test_neighbours_alone_meet():
    for degree in (3, 5):
        alive = (spline_shapes(np.linspace(0, 1, 20), 2, degree).coefficients != 0).any(axis=0)
        assert (alive.sum(axis=0) <= degree + 1).all()


@pytest.mark.parametrize(("degree", "counts", "power"), [(3, (4, 8, 16), 4), (5, (6, 9, 13), 8)])
def test_frequencies_converge_with_a_power_of_the_elements_length(degree, counts, power):
    errors = []
    for count in counts:
        link = unit_link("beam", joint=fa.Weld(), flexible=fa.Flexible(bend_y=count, basis=fa.Splines(degree)))
        omega = 2 * np.pi * fa.modes(fa.Robot(links=[link])).frequencies[1]
        errors.append(omega / 4.694091132974175**2 - 1)  # of the clamped beam's second mode
    orders = np.log(np.array(errors[:-1]) / errors[1:]) / np.log(np.divide(counts[1:], counts[:-1]))
    assert orders == pytest.approx(power, abs=0.1 * power)


def test_a_joint_can_slide_on_them_for_any_degree():
    """Compare a beam under weight with few splines of degree 5 and many of 3; four exact elements bend far."""
    tips = []
    for degree, count, stiffening in ((3, 24, "shortening"), (5, 6, "shortening"), (3, 24, "exact"), (5, 4, "exact")):
        flexible = fa.Flexible(bend_y=count, basis=fa.Splines(degree), stiffening=stiffening)
        links = [unit_link("rail", joint=fa.Weld(), flexible=flexible)]
        if stiffening == "shortening":
            links.append(fa.Link("rider", 0.2, fa.SlidingPrismatic(limits=(0, 1)), mass=0.3))
        system = fa.System(fa.Robot(links=links, gravity=(0, -0.5, 0)), native=False)
        q = fa.equilibrium(system, {"rider.q": 0.45} if len(links) > 1 else None)
        tips.append(system.tip(q, "rail"))
    assert tips[0] == pytest.approx(tips[1], abs=1e-5)
    assert tips[2] == pytest.approx(tips[3], abs=1e-5)


def test_a_stepped_link_is_refused():
    thick, thin = fa.Section.circle(0.04), fa.Section.circle(0.02)
    section = fa.Section.stepped([{"upto": 0.3, "section": thick}, {"upto": 1.0, "section": thin}])
    one = fa.Flexible(bend_y=4, basis="splines")
    with pytest.raises(fa.DescriptionError, match="at the steps of the section curvature jumps"):
        fa.Link("a", 1.0, section=section, material=fa.Material(2e11, 7850), flexible=one)
