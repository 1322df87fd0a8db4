"""Frequencies against those of twice the shapes."""

import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.accuracy.shape_truncation import (
    Comparison,
    Frequencies,
    Truncation,
    comparison,
    frequency_warnings,
    refined,
)
from flexarm.robot import library

STEEL = fa.Material(210e9, 7800.0)


def loaded_arm(shapes, payload=4.0):
    """Two links with light motors and a heavy payload: free joints feel the moment at a link's end."""
    bar, bends = fa.Section.rectangle(0.02, 0.02), fa.Flexible(bend_y=shapes)
    hub = fa.PointMass(1.0, inertia=0.01)
    upper = fa.Link("upper", 1.0, section=bar, material=STEEL, flexible=bends, hub=hub)
    load = fa.PointMass(payload)
    fore = fa.Link("fore", 0.8, section=bar, material=STEEL, flexible=bends, hub=hub, payload=load)
    return fa.Robot(links=[upper, fore])


def compared(robot, posture=()):
    found = comparison(robot, posture)
    assert isinstance(found, Comparison)
    return found


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize(("held", "joints"), [(False, "free"), (True, "locked")])
def test_frequencies_are_those_of_modes(held, joints):
    found = compared(loaded_arm(2), (("fore", 0.5),))
    figures = found.frequencies(found.actuated if held else ())
    for robot, frequencies in ((loaded_arm(2), figures.own), (loaded_arm(4), figures.refined)):
        modes = fa.modes(robot, q={"fore.q": 0.5}, joints=joints)
        for each in frequencies:
            assert np.abs(modes.frequencies - each).min() < 1e-9 * each


def test_too_few_shapes_are_told_with_the_number_that_would_do():
    with pytest.warns(fa.ValidityWarning, match=r"too few shapes: a mode at .* take bend_y=3 of 'upper'") as caught:
        fa.modes(loaded_arm(2))
    assert len(caught) == 1
    with pytest.warns(fa.ValidityWarning, match="too few shapes"):
        fa.linearize(loaded_arm(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", fa.ValidityWarning)
        enough = refined(loaded_arm(2), {("upper", "bend_y"): 3})
        fa.modes(enough)
        fa.linearize(enough)
        fa.modes(loaded_arm(2), joints="locked")
        fa.convergence(loaded_arm(2), 0.01, motion={"upper": 0.0, "fore": 0.0})  # which compares shapes itself


def test_modes_of_a_bare_held_beam_are_exact():
    found = compared(library.rotating_beam(modes=3))
    figures = found.frequencies(found.actuated)
    assert figures.refined
    assert figures.error < 1e-8


def test_the_table_of_a_robot_tells_what_to_expect():
    expected = "frequencies of strong modes are off by 1.9 % with joints free (51.74 for 50.79 Hz), 0.66 % with"
    assert expected in str(loaded_arm(2)).splitlines()
    assert "strong modes" not in str(loaded_arm(2).rigid())


def test_what_cannot_be_compared_says_why():
    assert comparison(loaded_arm(2).rigid(), ()) == "the robot has no flexible link"
    assert "more than 400" in comparison(loaded_arm(80), ())
    massless = fa.Robot(links=[fa.Link("a", 1.0, mass=0.0), *loaded_arm(2).links[1:]])
    assert frequency_warnings(massless, ()) == []


def test_figures_are_plain_data_and_back():
    figures = Frequencies((2.0,), (1.9,), (1.0,))
    found = Truncation(0.1, figures, Frequencies(), {"a": {"bend_y": 3}}, "", deflection={"a": 0.2})
    assert Truncation.from_plain(found.plain()) == found
    assert figures.error == pytest.approx(0.1 / 1.9)
