import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.integrators.plant import Plant
from flexarm.integrators.step_size import MOST_COORDINATES, LocalSpectrum, small_motions

ROD = {"section": fa.Section.rectangle(0.006, 0.02), "material": fa.Material(E=7e10, rho=2700.0, damping=1e-4)}


def spectrum(robot, q=None, driven=()):
    system = fa.System(robot, native=False)
    plant = Plant(system.structure, driven)
    q = np.zeros(system.nq) if q is None else q
    v, u = np.zeros(system.nq), np.zeros(plant.input_count)
    return LocalSpectrum.of(*(each.full() for each in small_motions(plant)(q, v, u, system.numbers)))


def test_explicit_methods_step_robots_whose_modes_are_too_many_to_know():
    long = fa.Flexible(bend_y=MOST_COORDINATES // 2, basis="elements")
    robot = fa.Robot(links=[fa.Link("a", 1.0, **ROD, flexible=long)])
    assert fa.System(robot).nq > MOST_COORDINATES
    run = fa.simulate(robot, 1e-6, torque={"a": 0.1}, method="rk45", sample=1e-6, native=False)
    assert run.reason == "completed"


def test_frequencies_and_decay_are_those_of_the_modes():
    robot = fa.Robot(
        links=[fa.Link("a", 1.0, **ROD, flexible=fa.Flexible(bend_y=2)), fa.Link("b", 0.5, **ROD, mass=0.3)]
    )
    found, known = spectrum(robot), fa.modes(robot)
    assert_allclose(found.frequencies[2:] / (2 * np.pi), known.frequencies[2:], rtol=1e-8)
    assert_allclose(found.decays[2:], known.damping_ratios[2:] * found.frequencies[2:], rtol=1e-2)
    assert np.abs(found.rates).max() == pytest.approx(found.frequencies.max(), rel=1e-6)
    assert_allclose(found.to_modes @ found.shapes, np.eye(4), atol=1e-9)


def test_what_constraints_hold_does_not_move():
    linkage = fa.Robot(
        links=[
            fa.Link("crank", 0.2, **ROD),
            fa.Link("coupler", 0.7, **ROD),
            fa.Link("rocker", 0.5, **ROD, parent="ground", offset=(0.7, 0, 0)),
        ],
        constraints=[fa.Loop("coupler", "rocker")],
    )
    assert len(spectrum(linkage, np.array([0.0, 0.7954, 1.5908])).frequencies) == 1


def test_modes_that_stand_still_are_left_out():
    beam = fa.Robot(links=[fa.Link("beam", 1.0, fa.Weld(), **ROD, flexible=fa.Flexible(bend_y=3))])
    found = spectrum(beam)
    first = found.shapes[:, 0]
    assert_allclose(found.moving(0 * first, first).frequencies, found.frequencies[:1])
    assert len(found.moving(0 * first, first + 1e-3 * found.shapes[:, 2]).frequencies) == 2


def test_what_is_not_finite_has_no_modes():
    lost = LocalSpectrum.of(np.full((2, 2), np.nan), np.eye(2), np.eye(2))
    assert not len(lost.frequencies)
    assert not len(lost.moving(np.ones(2), np.ones(2)).rates)
    assert not len(LocalSpectrum.of(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))).rates)


def test_robots_of_many_coordinates_have_no_modes_to_look_at(monkeypatch):
    monkeypatch.setattr("flexarm.integrators.step_size.MOST_COORDINATES", 1)
    many = spectrum(fa.Robot(links=[fa.Link(name, 1.0, **ROD) for name in "ab"]))
    assert not len(many.moving(np.ones(2), np.ones(2)).rates)
