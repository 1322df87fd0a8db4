"""Figures of spectra, decays and frequency responses: axes, units and curves."""

import numpy as np
import pytest

import flexarm as fa

T = np.arange(400) / 200


def test_a_spectrum_is_drawn_with_its_peaks():
    found = fa.spectrum(T, 3 * np.sin(2 * np.pi * 20 * T))
    (plot,) = found.plot().axes
    curve, dot = plot.get_lines()
    assert np.array_equal(curve.get_ydata(), found.amplitude[1:])
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == pytest.approx((20, 3))
    assert [each.get_text() for each in plot.texts] == ["20 Hz"]
    assert (plot.get_xlabel(), plot.get_ylabel()) == ("frequency (Hz)", "amplitude")


def test_a_density_has_the_square_of_the_unit():
    (plot,) = fa.spectrum(T, np.sin(2 * np.pi * 20 * T), scaling="density").plot().axes
    assert plot.get_ylabel() == "density of power (1/Hz)"
    assert len(plot.get_lines()) == 1


def test_nothing_at_all_can_be_drawn():
    assert fa.spectrum(T, np.zeros(400)).plot().axes


def test_a_decay_is_drawn_over_its_signal():
    x = np.exp(-T) * np.cos(30 * T)
    (plot,) = fa.decay(T, x).plot().axes
    signal, found, *envelope = plot.get_lines()
    assert np.array_equal(signal.get_ydata(), x)
    assert found.get_ydata() == pytest.approx(x, abs=1e-9)
    assert [each.get_ydata()[-1] for each in envelope] == pytest.approx([np.exp(-T[-1]), -np.exp(-T[-1])], rel=1e-6)
    assert plot.get_ylabel() == "x"


def test_a_response_is_drawn_beside_a_linear_model():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)])
    run = fa.simulate(robot, 3.0, torque={"rod": fa.chirp(0.01, 0.5, 5.0, 2.5)}, native=False)
    found = run.frf("rod", "rod.q", np.linspace(1, 4, 20))
    upper, _, lower = found.plot(fa.linearize(robot, outputs=["rod.q"])).axes
    own, model = upper.get_lines()
    assert own.get_ydata() == pytest.approx(model.get_ydata(), rel=1e-2)
    assert lower.get_lines()[0].get_ydata() == pytest.approx(found.coherence)
    with pytest.raises(TypeError, match="must be a linear model"):
        found.plot(3)
