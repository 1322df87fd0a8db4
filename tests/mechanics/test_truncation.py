"""Frequencies against those of twice the shapes."""

import pytest

import flexarm as fa
from flexarm.mechanics.truncation import Truncation, truncation
from flexarm.robot import library

STEEL = fa.Material(210e9, 7800.0)


def loaded_arm(shapes):
    bar, bends = fa.Section.rectangle(0.02, 0.02), fa.Flexible(bend_y=shapes)
    hub = fa.PointMass(1.0, inertia=0.01)
    upper = fa.Link("upper", 1.0, section=bar, material=STEEL, flexible=bends, hub=hub)
    fore = fa.Link("fore", 0.8, section=bar, material=STEEL, flexible=bends, hub=hub, payload=fa.PointMass(4.0))
    return fa.Robot(links=[upper, fore])


def test_frequencies_are_those_of_modes():
    found = truncation(loaded_arm(2), "free")
    for robot, frequencies in ((loaded_arm(2), found.frequencies), (loaded_arm(4), found.refined)):
        modes = fa.modes(robot)
        assert frequencies == pytest.approx(modes.frequencies[~modes.rigid][: len(frequencies)], rel=1e-6)
    assert found.error > 0.01
    assert "has too few shapes" in found.sentences()[0]
    assert found.link in ("upper", "fore")
    assert 2 < found.shapes["bend_y"] <= 4


def test_modes_of_a_bare_held_beam_are_exact():
    found = truncation(library.rotating_beam(modes=3), "held")
    assert found.reason == ""
    assert found.frequencies
    assert found.error < 1e-8
    assert found.sentences() == []


def test_a_run_has_the_figures_at_its_start():
    run = fa.simulate(loaded_arm(2), 0.01, q0={"fore.q": 0.5}, native=False)
    modes = fa.modes(loaded_arm(2), q={"fore.q": 0.5})
    lively = modes.frequencies[~modes.rigid]
    assert run.truncation["free"].frequencies[0] == pytest.approx(lively[0], rel=1e-6)
    assert set(run.truncation) == {"free", "held"}


def test_what_cannot_be_compared_says_why():
    assert "no flexible link" in truncation(loaded_arm(2).rigid(), "free").reason
    assert "60" in truncation(loaded_arm(40), "free").reason
    assert Truncation(reason="none").sentences() == []
