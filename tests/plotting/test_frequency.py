"""Tests of figures in the frequency domain: axes, units and curves."""

import numpy as np
import pytest

import flexarm as fa

T = np.arange(400) / 200


def test_spectrum_has_labelled_peaks():
    found = fa.spectrum(T, 3 * np.sin(2 * np.pi * 20 * T))
    (plot,) = found.plot().axes
    curve, dot = plot.get_lines()
    assert np.array_equal(curve.get_ydata(), found.amplitude[1:])
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == pytest.approx((20, 3))
    assert [each.get_text() for each in plot.texts] == ["20 Hz"]
    assert (plot.get_xlabel(), plot.get_ylabel()) == ("frequency (Hz)", "amplitude")


def test_density_has_the_square_of_the_unit():
    (plot,) = fa.spectrum(T, np.sin(2 * np.pi * 20 * T), scaling="density").plot().axes
    assert plot.get_ylabel() == "density of power (1/Hz)"
    assert len(plot.get_lines()) == 1


def test_zero_signal_can_be_drawn():
    assert fa.spectrum(T, np.zeros(400)).plot().axes


def test_decay_is_drawn_with_its_signal():
    x = np.exp(-T) * np.cos(30 * T)
    (plot,) = fa.decay(T, x).plot().axes
    signal, found, *envelope = plot.get_lines()
    assert np.array_equal(signal.get_ydata(), x)
    assert found.get_ydata() == pytest.approx(x, abs=1e-9)
    assert [each.get_ydata()[-1] for each in envelope] == pytest.approx([np.exp(-T[-1]), -np.exp(-T[-1])], rel=1e-6)
    assert plot.get_ylabel() == "x"


def test_response_is_drawn_with_a_linear_model():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)])
    run = fa.simulate(robot, 3.0, torque={"rod": fa.chirp(0.01, 0.5, 5.0, 2.5)}, native=False)
    found = run.frf("rod", "rod.q", np.linspace(1, 4, 20))
    upper, _, lower = found.plot(fa.linearize(robot, outputs=["rod.q"])).axes
    own, model = upper.get_lines()
    assert own.get_ydata() == pytest.approx(model.get_ydata(), rel=1e-2)
    assert lower.get_lines()[0].get_ydata() == pytest.approx(found.coherence)
    with pytest.raises(TypeError, match="must be a linear model"):
        found.plot(3)


def test_modes_and_orders_are_drawn_over_speed():
    found = fa.campbell(fa.library.rotating_beam(modes=2, stiffening="shortening"), "beam", [0.0, 3.0, 6.0], modes=2)
    (plot,) = found.plot(orders=(1, 3)).axes
    curves = [line for line in plot.get_lines() if line.get_label().startswith("mode")]
    assert [line.get_ydata().tolist() for line in curves] == found.frequencies.T.tolist()
    assert {each.get_text() for each in plot.texts} == {"1x", "3x"}
    assert plot.get_xlabel() == "speed of beam (rad/s)"
    for wrong in ([0], ["a"], [-1.0], [np.nan]):
        with pytest.raises(ValueError, match="orders"):
            found.plot(wrong)


def test_maps_are_lines_or_contours():
    arm = fa.library.two_link_arm()
    (plot,) = fa.frequency_map(arm, {"fore.q": [0.0, 1.0]}, modes=2).plot().axes
    assert [line.get_label() for line in plot.get_lines()] == ["mode 1", "mode 2"]
    assert plot.get_xlabel() == "fore.q (rad)"
    over = {"fore.q": [0.0, 1.0, 2.0], "upper.q": [0.0, 1.0]}
    panels = fa.frequency_map(arm, over, modes=2).plot().axes
    assert [each.get_title() for each in panels if each.get_title()] == ["mode 1", "mode 2"]
    with pytest.raises(ValueError, match="no figure"):
        fa.frequency_map(arm, {"fore.q": [0.0]}, modes=1).plot()
