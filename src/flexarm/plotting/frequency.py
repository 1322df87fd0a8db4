"""Figures in the frequency domain: Campbell diagrams, frequency maps, Bode plots, pole-zero maps, spectra,
decays, measured frequency responses, and sensitivity curves of input shapers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array
from flexarm.plotting.colours import LINE_STYLES
from flexarm.plotting.style import Picture, draw_line, escape_math, label_plot

if TYPE_CHECKING:
    from flexarm.analysis.campbell import Campbell
    from flexarm.analysis.damping_identification import Decay
    from flexarm.analysis.frequency_maps import FrequencyMap
    from flexarm.analysis.frequency_response import FrequencyResponse
    from flexarm.analysis.spectra import Spectrum
    from flexarm.control.shapers import Shaper


CONSTANT_FREQUENCY_TOLERANCE = 1e-9  # relative


def campbell_figure(found: Campbell, orders: Sequence[float]) -> Picture:
    """Plot the frequency of each mode over the speed, unstable ranges highlighted, and lines of engine orders.

    An order is a number of vibrations per turn.
    """
    values = real_array("orders", orders) if len(orders) else np.zeros(0)
    if values.ndim != 1 or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"orders = {shown(orders)}: must be positive numbers of vibrations per turn")
    speeds, frequencies = found.speeds, found.frequencies
    figure = Picture(figsize=(7.0, 4.6))
    plot = figure.add_subplot()
    top = 1.08 * max(float(frequencies.max(initial=0.0)), np.finfo(float).tiny)
    for order in values.tolist():
        plot.plot(speeds, order * np.abs(speeds) / (2 * np.pi), color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        fastest = float(np.abs(speeds).max())
        reached = min(fastest, 2 * np.pi * top / order)
        if reached > 0:
            plot.annotate(
                f"{order:g}x", (reached, order * reached / (2 * np.pi)), fontsize=8, color="0.4", ha="right", va="top"
            )
    for mode in range(frequencies.shape[1]):
        draw_line(plot, mode, speeds, frequencies[:, mode], f"mode {mode + 1}")
        unstable = np.where(found.unstable[:, mode], frequencies[:, mode], np.nan)
        plot.plot(speeds, unstable, color=LINE_STYLES[1][0], linewidth=4, alpha=0.4, zorder=0)
    plot.set_ylim(0, top)
    label_plot(
        plot, f"speed of {found.joint} (rad/s)", "frequency (Hz)", True, loc="center left", bbox_to_anchor=(1.0, 0.5)
    )
    return figure


def map_figure(found: FrequencyMap) -> Picture:
    """Plot frequencies as curves over one joint, or as contours over two joints with a panel for each mode."""
    names, ranges = list(found.over), list(found.over.values())
    labels = [f"{name} ({found.units[name]})" for name in names]
    if len(names) > 2:
        raise ValueError(f"a map over {len(names)} joints has no figure; take a part of its data, .data.sel(...)")
    if any(len(values) < 2 for values in ranges):
        raise ValueError("a map of one posture has no figure")
    count = found.frequencies.shape[-1]
    if len(names) == 1:
        figure = Picture(figsize=(7.0, 4.0))
        plot = figure.add_subplot()
        for mode in range(count):
            draw_line(plot, mode, ranges[0], found.frequencies[:, mode], f"mode {mode + 1}")
        plot.set_ylim(bottom=0)
        label_plot(plot, labels[0], "frequency (Hz)", legend=True)
        return figure
    columns = min(count, 3)
    rows = -(-count // columns)
    figure = Picture(figsize=(4.0 * columns + 0.6, 3.4 * rows))
    for mode in range(count):
        plot = figure.add_subplot(rows, columns, mode + 1)
        values, title = found.frequencies[:, :, mode].T, f"mode {mode + 1}"
        finite = values[np.isfinite(values)]
        if finite.size and np.ptp(finite) > CONSTANT_FREQUENCY_TOLERANCE * finite.max():
            filled = plot.contourf(*ranges, values, levels=12, cmap="viridis")
            figure.colorbar(filled, ax=plot, label="Hz")
        else:
            title += f": {f'{finite.mean():.4g} Hz' if finite.size else 'none'} everywhere"
            plot.set(xlim=ranges[0][[0, -1]], ylim=ranges[1][[0, -1]])
        plot.set_title(title, fontsize=10)
        plot.set(xlabel=escape_math(labels[0]), ylabel=escape_math(labels[1]))
    return figure


FREQUENCY_COUNT = 600
MAX_PHASE_TICK_COUNT = 7


def bode_figure(model: StateSpace, f: Any = None) -> Picture:
    """Plot magnitude and phase of each output over frequency, with a column for each input."""
    if not model.inputs or not model.outputs:
        raise ValueError("bode: the model has no inputs or no outputs")
    frequencies = _default_frequencies(model) if f is None else real_array("f", f)
    if frequencies.ndim != 1 or len(frequencies) < 2 or not (frequencies > 0).all():
        raise ValueError(f"f has shape {frequencies.shape}: must be two or more positive frequencies (Hz)")
    response = model.frf(frequencies)
    columns = len(model.inputs)
    figure = Picture(figsize=(6.4 * columns, 6.0))
    for column, given in enumerate(model.inputs):
        upper = figure.add_subplot(2, columns, column + 1)
        lower = figure.add_subplot(2, columns, columns + column + 1, sharex=upper)
        for k, output in enumerate(model.outputs):
            unit = f"{output.unit}/({given.unit})" if " " in given.unit else f"{output.unit}/{given.unit}"
            draw_line(upper, k, frequencies, np.abs(response[:, k, column]), f"{output.name} ({unit})")
            draw_line(lower, k, frequencies, np.degrees(_phase(response[:, k, column])), output.name)
        upper.set(xscale="log", yscale="log")
        upper.set_title(escape_math(f"from {given}"), fontsize=10)
        upper.tick_params(labelbottom=False)
        label_plot(upper, "", "magnitude", legend=True)
        lower.set_yticks(_phase_ticks(*lower.get_ylim()))
        label_plot(lower, "frequency (Hz)", "phase (degrees)")
    return figure


def pole_zero_figure(model: StateSpace) -> Picture:
    """Plot poles (crosses) and zeros (circles) in the complex plane."""
    figure = Picture(figsize=(6.4, 5.2))
    plot = figure.add_subplot()
    poles = model.poles
    plot.plot(poles.real, poles.imag, linestyle="", marker="x", color=LINE_STYLES[0][0], label="poles")
    if len(model.inputs) == len(model.outputs):
        zeros = model.zeros
        shown = zeros[np.abs(zeros) <= 3 * np.abs(poles).max(initial=0.0)]
        ring: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": LINE_STYLES[1][0]}
        plot.plot(shown.real, shown.imag, linestyle="", marker="o", label="zeros", **ring)
    if model.dt is not None:
        turn = np.exp(2j * np.pi * np.linspace(0, 1, 200))
        plot.plot(turn.real, turn.imag, color="0.6", linewidth=0.8)
        plot.set_aspect("equal")
    else:
        plot.axvline(0, color="0.6", linewidth=0.8, zorder=0)
        small = [_linear_threshold(each) for each in (poles.real, poles.imag)]
        plot.set_xscale("symlog", linthresh=small[0])
        plot.set_yscale("symlog", linthresh=small[1])
        plot.margins(0.08)  # after the scales are set, so that markers at the edges are not cut
        plot.set_xticks(_symlog_ticks(small[0], *plot.get_xlim()))
        plot.set_yticks(_symlog_ticks(small[1], *plot.get_ylim()))
    unit = " (rad/s)" if model.dt is None else ""
    label_plot(plot, f"real part{unit}", f"imaginary part{unit}", legend=True)
    return figure


def _phase_ticks(low: float, high: float) -> Array:
    """Return ticks of phases (degrees) at multiples of 45 degrees or more."""
    step = next(each for each in (45, 90, 180, 360, 720, 1440, 10**9) if (high - low) / each <= MAX_PHASE_TICK_COUNT)
    return np.asarray(step * np.arange(np.ceil(low / step), np.floor(high / step) + 1), dtype=float)


def _symlog_ticks(small: float, low: float, high: float) -> Array:
    """Return ticks of a symmetric logarithmic scale: zero and at most about three powers of ten on each side."""
    top = max(abs(low), abs(high))
    powers = np.arange(np.log10(small), np.floor(np.log10(max(top, small))) + 0.5)
    powers = powers[:: max(1, -(-len(powers) // 3))]
    found = np.concatenate([-(10.0 ** powers[::-1]), [0.0], 10.0**powers])
    return found[(found >= low) & (found <= high)]


def _linear_threshold(values: Array) -> float:
    """Return the largest power of ten below all nonzero values."""
    sizes = np.abs(values)[np.abs(values) > 1e-9 * np.abs(values).max(initial=1e-300)]
    return float(10 ** np.floor(np.log10(sizes.min()))) if len(sizes) else 1.0


def _phase(values: Array) -> Array:
    """Return the unwrapped phase (rad); a real response starts at 0 or -pi."""
    out = np.unwrap(np.angle(values))
    return np.asarray(out - 2 * np.pi * np.ceil(out[0] / (2 * np.pi) - 0.5 - 1e-9) if len(out) else out)


def _default_frequencies(model: StateSpace) -> Array:
    """Return frequencies from a decade below the slowest pole to half a decade above the fastest, refined at peaks."""
    poles = model.poles if model.dt is None else np.log(model.poles[model.poles != 0].astype(complex)) / model.dt
    sizes = np.abs(poles) / (2 * np.pi)
    nonzero = sizes[sizes > 1e-6 * sizes.max(initial=1e-300)]
    low, high = (float(nonzero.min()) / 10, float(nonzero.max()) * 3) if len(nonzero) else (0.01, 10.0)
    if model.dt is not None:
        high = min(high, 0.5 / model.dt)
    # The width of a resonance is its damping ratio times its frequency.
    peaks = np.abs(poles.imag[poles.imag > 0]) / (2 * np.pi)
    near = np.concatenate([peak * (1 + np.array([-0.01, -0.001, 0.001, 0.01])) for peak in peaks] or [np.zeros(0)])
    both = np.concatenate([np.geomspace(low, high, FREQUENCY_COUNT), near])
    return np.unique(both[(both >= low) & (both <= high)])


AMPLITUDE_RANGE = 1e-6  # lower limit of the plot relative to the largest amplitude


def spectrum_figure(spectrum: Spectrum) -> Picture:
    """Plot the amplitude (with its peaks labelled) or the power density over frequency."""
    dense = spectrum.scaling == "density"
    values = spectrum.density if dense else spectrum.amplitude
    figure = Picture(figsize=(7.0, 3.8))
    plot = figure.add_subplot()
    draw_line(plot, 0, spectrum.frequency[1:], values[1:], spectrum.name)
    top = float(values[1:].max(initial=0.0))
    if top > 0:
        low = max(AMPLITUDE_RANGE ** (2 if dense else 1) * top, float(values[1:].min()) / 2)
        plot.set(yscale="log", ylim=(low, 4 * top))
    for each in spectrum.peaks() if not dense else ():
        plot.plot(each.frequency, each.amplitude, marker="o", markersize=4, color=LINE_STYLES[1][0], linestyle="")
        place = (each.frequency, each.amplitude)
        plot.annotate(f"{each.frequency:.4g} Hz", place, xytext=(4, 3), textcoords="offset points", fontsize=8)
    unit = spectrum.unit if spectrum.unit not in ("", "1") else ""
    square = f" (({unit})²/Hz)" if unit else " (1/Hz)"
    plot.set_title(escape_math(spectrum.name), fontsize=10)
    plot.set_xlim(0, float(spectrum.frequency[-1]))
    amplitude = f"amplitude{f' ({unit})' if unit else ''}"
    label_plot(plot, "frequency (Hz)", f"density of power{square}" if dense else amplitude)
    return figure


def decay_figure(decay: Decay) -> Picture:
    """Plot a signal and its fit by decaying vibrations; a single vibration is drawn with its envelope."""
    figure = Picture(figsize=(7.0, 3.8))
    plot = figure.add_subplot()
    draw_line(plot, 0, decay.times, decay.values, decay.name)
    draw_line(plot, 1, decay.times, decay(decay.times), f"fit ({decay.fit:.5g})")
    if len(decay.frequencies) == 1:
        s = decay.times - decay.times[0]
        size = decay.amplitudes[0] * np.exp(-decay.damping_ratios[0] * 2 * np.pi * decay.frequencies[0] * s)
        for sign in (1, -1):
            plot.plot(decay.times, decay.offset + sign * size, color="0.6", linewidth=0.8, linestyle=":")
    words = [f"{f:.4g} Hz, ratio {zeta:.3g}" for f, zeta in zip(decay.frequencies, decay.damping_ratios)]
    plot.set_title("; ".join(words), fontsize=10)
    unit = f" ({decay.unit})" if decay.unit not in ("", "1") else ""
    label_plot(plot, "time (s)", f"{decay.name}{unit}", legend=True)
    return figure


def response_figure(found: FrequencyResponse, other: Any = None) -> Picture:
    """Plot magnitude, phase and coherence over frequency, and the response of a linear model for comparison."""
    if other is not None and not isinstance(other, StateSpace):
        raise TypeError(f"other = {shown(other)}: must be a linear model, as fa.linearize gives it")
    f = found.frequency
    figure = Picture(figsize=(7.0, 6.4))
    upper, middle, lower = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 1])
    draw_line(upper, 0, f, found.magnitude, "run")
    draw_line(middle, 0, f, np.degrees(found.phase), "run")
    if other is not None:
        model = other[found.output, found.input].frf(f)[:, 0, 0]
        draw_line(upper, 1, f, np.abs(model), "linear model")
        draw_line(middle, 1, f, np.degrees(np.unwrap(np.angle(model))), "linear model")
    draw_line(lower, 2, f, found.coherence, "coherence")
    upper.set_yscale("log")
    upper.set_title(escape_math(f"from {found.input} to {found.output}"), fontsize=10)
    label_plot(upper, "", f"magnitude ({found.unit})", legend=True)
    label_plot(middle, "", "phase (degrees)")
    lower.set_ylim(0, 1.05)
    label_plot(lower, "frequency (Hz)", "coherence")
    return figure


def plot_sensitivity(shapers: Mapping[str, Shaper], frequencies: Any = None) -> Picture:
    """Plot the residual vibration of shapers over the true frequency; design frequencies are dotted lines."""
    modelled = sorted({f for each in shapers.values() for f in each.frequencies})
    f = np.linspace(0.4 * modelled[0], 1.6 * modelled[-1], 800) if frequencies is None else real_array("f", frequencies)
    figure = Picture(figsize=(7.0, 3.6))
    plot = figure.add_subplot()
    for k, (label, each) in enumerate(shapers.items()):
        draw_line(plot, k, f, 100 * each.residual(f, min(each.ratios)), label)
    for frequency in modelled:
        plot.axvline(frequency, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    plot.set_ylim(bottom=0)
    label_plot(plot, "frequency of the vibration (Hz)", "vibration left (%)", legend=True)
    return figure
