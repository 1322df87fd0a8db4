"""Spectra, decays and frequency responses of runs (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexarm.show.style import STYLES, Picture, grid, line, plain

if TYPE_CHECKING:
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
