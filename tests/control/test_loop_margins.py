"""Margins against closed forms, and against loops changed by their margins."""

from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa

ROD = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])  # q'' = u


def test_of_a_double_integrator_with_state_feedback():
    """L = (1.414 s + 1) / s^2: its phase margin is known."""
    margin = fa.lqr(fa.linearize(ROD), {"rod.q": 1.0}).margins()["rod"]
    w = np.sqrt(1 + np.sqrt(2))  # |L| = 1
    assert margin.phase == pytest.approx(np.arctan(np.sqrt(2) * w), rel=1e-4)
    assert margin.gain == np.inf


@pytest.mark.parametrize("rate", [None, 20.0])
def test_a_loop_whose_gain_is_changed_by_its_margin_is_at_the_edge(rate):
    masses = fa.linearize(fa.library.two_masses(1.0), inputs=["mass"], outputs=["mass.q"])
    design = fa.lqg(masses, {"mass.q": 0.1}, 1.0, {"mass": 1.0}, {"mass.q": 1.0}, rate=rate)
    gain = design.margins()["mass"].gain
    assert 0.2 < gain < 5 and gain != 1  # noqa: PT018
    for factor, stable in ((gain**0.98, True), (gain**1.02, False)):
        other = replace(masses, B=factor * masses.B)
        poles = design.closed_loop(other).poles
        assert ((poles.real.max() < 0) if rate is None else (np.abs(poles).max() < 1)) == stable


def test_each_of_two_inputs_with_the_other_closed():
    arm = fa.Robot("arm", links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)])
    lin = fa.linearize(arm)
    noise = {"a.q": 1e-4, "b.q": 1e-4}
    design = fa.lqg(lin, {"a.q": 1.0, "b.q": 1.0}, 1.0, {"a": 1.0, "b": 1.0}, noise)
    for k, (name, margin) in enumerate(design.margins().items()):
        scale = np.ones(2)
        for factor, stable in ((margin.gain**0.98, True), (margin.gain**1.02, False)):
            scale[k] = factor
            assert (design.closed_loop(replace(lin, B=lin.B * scale)).poles.real.max() < 0) == stable, name
