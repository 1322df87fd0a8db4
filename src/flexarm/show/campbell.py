"""Frequencies over speed (Campbell's diagram) and over postures (matplotlib)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexarm.foundation.numbers import real_array
from flexarm.foundation.sentences import shown
from flexarm.show.style import STYLES, Picture, grid, line, plain

if TYPE_CHECKING:
    from flexarm.analysis.frequency_maps import FrequencyMap
    from flexarm.analysis.rotation import Campbell

FLAT = 1e-9  # of a frequency: what differs by less is the same everywhere


def campbell_figure(found: Campbell, orders: Sequence[float]) -> Picture:
    """Each mode over the speed, unstable stretches thick and red; lines of orders vibrations a turn."""
    wanted = real_array("orders", orders) if len(orders) else np.zeros(0)
    if wanted.ndim != 1 or not (np.isfinite(wanted).all() and (wanted > 0).all()):
        raise ValueError(f"orders = {shown(orders)}: must be positive numbers of vibrations a turn")
    speeds, frequencies = found.speeds, found.frequencies
    figure = Picture(figsize=(7.0, 4.6))
    plot = figure.add_subplot()
    top = 1.08 * max(float(frequencies.max(initial=0.0)), np.finfo(float).tiny)
    for order in wanted.tolist():
        plot.plot(speeds, order * np.abs(speeds) / (2 * np.pi), color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        fastest = float(np.abs(speeds).max())
        reached = min(fastest, 2 * np.pi * top / order)
        if reached > 0:
            plot.annotate(
                f"{order:g}x", (reached, order * reached / (2 * np.pi)), fontsize=8, color="0.4", ha="right", va="top"
            )
    for mode in range(frequencies.shape[1]):
        line(plot, mode, speeds, frequencies[:, mode], f"mode {mode + 1}")
        grows = np.where(found.unstable[:, mode], frequencies[:, mode], np.nan)
        plot.plot(speeds, grows, color=STYLES[1][0], linewidth=4, alpha=0.4, zorder=0)
    plot.set_ylim(0, top)
    plot.set_xlabel(plain(f"speed of {found.joint} (rad/s)"))
    plot.set_ylabel("frequency (Hz)")
    grid(plot)
    plot.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def map_figure(found: FrequencyMap) -> Picture:
    """Frequencies as lines over one joint, or as contours over two, a panel for each mode."""
    names, ranges = list(found.over), list(found.over.values())
    labels = [plain(f"{name} ({found.units[name]})") for name in names]
    if len(names) > 2:
        raise ValueError(f"a map over {len(names)} joints has no figure; take a part of its data, .data.sel(...)")
    if any(len(values) < 2 for values in ranges):
        raise ValueError("a map of one posture has no figure")
    count = found.frequencies.shape[-1]
    if len(names) == 1:
        figure = Picture(figsize=(7.0, 4.0))
        plot = figure.add_subplot()
        for mode in range(count):
            line(plot, mode, ranges[0], found.frequencies[:, mode], f"mode {mode + 1}")
        plot.set_xlabel(labels[0])
        plot.set_ylabel("frequency (Hz)")
        plot.set_ylim(bottom=0)
        grid(plot)
        plot.legend(fontsize=8, frameon=False)
        return figure
    columns = min(count, 3)
    rows = -(-count // columns)
    figure = Picture(figsize=(4.0 * columns + 0.6, 3.4 * rows))
    for mode in range(count):
        plot = figure.add_subplot(rows, columns, mode + 1)
        values = found.frequencies[:, :, mode].T
        if np.isfinite(values).any() and np.nanmax(values) - np.nanmin(values) > FLAT * np.nanmax(values):
            filled = plot.contourf(*ranges, values, levels=12, cmap="viridis")
            figure.colorbar(filled, ax=plot, label="Hz")
            said = f"mode {mode + 1}"
        else:  # nothing to tell apart
            middle = f"{np.nanmean(values):.4g} Hz" if np.isfinite(values).any() else "none"
            said = f"mode {mode + 1}: {middle} everywhere"
            plot.set_xlim(*ranges[0][[0, -1]])
            plot.set_ylim(*ranges[1][[0, -1]])
        plot.set_title(said, fontsize=10)
        plot.set_xlabel(labels[0])
        plot.set_ylabel(labels[1])
    return figure
