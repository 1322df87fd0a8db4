"""Splines on a mesh: smooth across nodes, clamped at the root, as accurate as cubics can be."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.beam.splines import splines
from tests.helpers import unit_link

NODES = np.array([0.0, 0.2, 0.5, 0.6, 1.0])


@pytest.mark.parametrize("order", [1, 2])
def test_they_are_clamped_and_smooth(order):
    space = splines(NODES, order)
    assert space.count == len(NODES)  # elements and one more
    assert space.degree == order + 1
    derivative = space
    for k in range(order + 1):
        if k < order:
            assert np.abs(derivative(0.0)).max() < 1e-14
        for node in NODES[1:-1]:
            left, right = derivative(node - 1e-9), derivative(node + 1e-9)
            assert np.abs(left - right).max() < 1e-6 * max(np.abs(left).max(), 1)
        derivative = derivative.derivative()


@pytest.mark.parametrize("order", [1, 2])
def test_they_make_every_clamped_polynomial_of_their_degree(order):
    space, x = splines(NODES, order), np.linspace(0, 1, 50)
    values = space(x)
    for power in range(order, order + 2):
        found, *_ = np.linalg.lstsq(values, x**power, rcond=None)
        assert np.abs(values @ found - x**power).max() < 1e-12


def test_neighbours_alone_meet():
    alive = (splines(NODES, 2).coefficients != 0).any(axis=0)
    assert (alive.sum(axis=0) <= 4).all()


def test_frequencies_converge_with_the_fourth_power():
    errors = []
    for count in (4, 8, 16):
        link = unit_link("beam", joint=fa.Weld(), flexible=fa.Flexible(bend_y=count, basis="splines"))
        omega = 2 * np.pi * fa.modes(fa.Robot(links=[link])).frequencies[1]
        errors.append(omega / 4.694091132974175**2 - 1)  # of the clamped beam's second mode
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(4, abs=0.3)


def test_a_stepped_link_is_refused():
    thick, thin = fa.Section.circle(0.04), fa.Section.circle(0.02)
    section = fa.Section.stepped([{"upto": 0.3, "section": thick}, {"upto": 1.0, "section": thin}])
    one = fa.Flexible(bend_y=4, basis="splines")
    with pytest.raises(fa.DescriptionError, match="at the steps of the section curvature jumps"):
        fa.Link("a", 1.0, section=section, material=fa.Material(2e11, 7850), flexible=one)
