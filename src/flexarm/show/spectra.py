"""Spectra, decays and frequency responses of runs (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.foundation.sentences import shown
from flexarm.show.style import STYLES, Picture, grid, line, plain

if TYPE_CHECKING:
    from flexarm.analysis.decays import Decay
    from flexarm.analysis.measured import FrequencyResponse
    from flexarm.analysis.spectra import Spectrum

RANGE = 1e-6  # of the highest: what is lower is not drawn


def spectrum_figure(spectrum: Spectrum) -> Picture:
    """Amplitude (or density of power) over frequency, with the peaks told."""
    dense = spectrum.scaling == "density"
    values = spectrum.density if dense else spectrum.amplitude
    figure = Picture(figsize=(7.0, 3.8))
    plot = figure.add_subplot()
    line(plot, 0, spectrum.frequency[1:], values[1:], spectrum.name)
    top = float(values[1:].max(initial=0.0))
    if top > 0:
        plot.set_yscale("log")
        plot.set_ylim(max(RANGE**2 * top if dense else RANGE * top, float(values[1:].min()) / 2), 4 * top)
    for each in spectrum.peaks() if not dense else ():
        plot.plot(each.frequency, each.amplitude, marker="o", markersize=4, color=STYLES[1][0], linestyle="")
        plot.annotate(
            f"{each.frequency:.4g} Hz",
            (each.frequency, each.amplitude),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=8,
        )
    unit = spectrum.unit if spectrum.unit not in ("", "1") else ""
    square = f" (({unit})$^2$/Hz)" if unit else " (1/Hz)"
    plot.set_ylabel(f"density of power{square}" if dense else f"amplitude{f' ({unit})' if unit else ''}")
    plot.set_xlabel("frequency (Hz)")
    plot.set_title(plain(spectrum.name), fontsize=10)
    plot.set_xlim(0, float(np.asarray(spectrum.frequency)[-1]))
    grid(plot)
    return figure


def decay_figure(decay: Decay) -> Picture:
    """A signal over time and what its vibrations add up to, with their envelope where there is one only."""
    figure = Picture(figsize=(7.0, 3.8))
    plot = figure.add_subplot()
    line(plot, 0, decay.times, decay.values, decay.name)
    line(plot, 1, decay.times, decay(decay.times), f"found (fit {decay.fit:.5g})")
    if len(decay.frequencies) == 1:
        s = decay.times - decay.times[0]
        size = decay.amplitudes[0] * np.exp(-decay.damping_ratios[0] * 2 * np.pi * decay.frequencies[0] * s)
        for sign in (1, -1):
            plot.plot(decay.times, decay.offset + sign * size, color="0.6", linewidth=0.8, linestyle=":")
    said = [f"{f:.4g} Hz, ratio {zeta:.3g}" for f, zeta in zip(decay.frequencies, decay.damping_ratios)]
    plot.set_title("; ".join(said), fontsize=10)
    plot.set_ylabel(plain(f"{decay.name} ({decay.unit})" if decay.unit not in ("", "1") else decay.name))
    plot.set_xlabel("time (s)")
    grid(plot)
    plot.legend(fontsize=8, frameon=False)
    return figure


def response_figure(found: FrequencyResponse, other: Any = None) -> Picture:
    """Magnitude, phase and coherence over frequency, with a linear model beside it."""
    if other is not None and not isinstance(other, StateSpace):
        raise TypeError(f"other = {shown(other)}: must be a linear model, as fa.linearize gives it")
    f = found.frequency
    figure = Picture(figsize=(7.0, 6.4))
    upper, middle, lower = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 1])
    line(upper, 0, f, found.magnitude, "run")
    line(middle, 0, f, np.degrees(found.phase), "run")
    if other is not None:
        model = other[found.output, found.input].frf(f)[:, 0, 0]
        line(upper, 1, f, np.abs(model), "linear model")
        line(middle, 1, f, np.degrees(np.unwrap(np.angle(model))), "linear model")
    line(lower, 2, f, found.coherence, "coherence")
    upper.set_yscale("log")
    upper.set_ylabel(plain(f"magnitude ({found.unit})"))
    upper.set_title(plain(f"from {found.input} to {found.output}"), fontsize=10)
    middle.set_ylabel("phase (degrees)")
    lower.set_ylabel("coherence")
    lower.set_ylim(0, 1.05)
    lower.set_xlabel("frequency (Hz)")
    for plot in (upper, middle, lower):
        grid(plot)
    upper.legend(fontsize=8, frameon=False)
    return figure
