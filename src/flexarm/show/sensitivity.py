"""Sensitivity curves of shapers: vibration that is left where a mode is elsewhere than was thought (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import real_array
from flexarm.show.style import Picture, grid, line

if TYPE_CHECKING:
    from flexarm.control.shapers import Shaper


def plot_sensitivity(shapers: Mapping[str, Shaper], frequencies: Any = None) -> Picture:
    """Residual vibration over frequency, each shaper by its label; modes that were modelled as dotted lines."""
    modelled = sorted({f for each in shapers.values() for f in each.frequencies})
    f = np.linspace(0.4 * modelled[0], 1.6 * modelled[-1], 800) if frequencies is None else real_array("f", frequencies)
    figure = Picture(figsize=(7.0, 3.6))
    plot = figure.add_subplot()
    for k, (label, each) in enumerate(shapers.items()):
        line(plot, k, f, 100 * each.residual(f, min(each.ratios)), label)
    for frequency in modelled:
        plot.axvline(frequency, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    plot.set_xlabel("frequency of the vibration (Hz)")
    plot.set_ylabel("vibration left (%)")
    plot.set_ylim(bottom=0)
    grid(plot)
    plot.legend(fontsize=8, frameon=False)
    return figure
