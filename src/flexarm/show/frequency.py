"""Linear models in the frequency plane: Bode's diagram, poles and zeros (matplotlib)."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.foundation.numbers import Array, real_array
from flexarm.show.style import STYLES, Picture, grid, line, plain

POINTS = 600
FEW = 7  # ticks of a phase


def bode(model: StateSpace, f: Any = None) -> Picture:
    """Magnitude and phase of every output over frequency, a column for each input."""
    if not model.inputs or not model.outputs:
        raise ValueError("bode: the model has no inputs or no outputs")
    frequencies = _frequencies(model) if f is None else real_array("f", f)
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
            line(upper, k, frequencies, np.abs(response[:, k, column]), f"{output.name} ({unit})")
            line(lower, k, frequencies, np.degrees(_phase(response[:, k, column])), output.name)
        upper.set_xscale("log")
        upper.set_yscale("log")
        upper.set_title(plain(f"from {given}"), fontsize=10)
        upper.set_ylabel("magnitude")
        upper.tick_params(labelbottom=False)
        lower.set_yticks(_turns(*lower.get_ylim()))
        lower.set_ylabel("phase (degrees)")
        lower.set_xlabel("frequency (Hz)")
        for plot in (upper, lower):
            grid(plot)
        upper.legend(fontsize=8, frameon=False)
    return figure


def pole_zero_map(model: StateSpace) -> Picture:
    """Poles (crosses) and zeros (rings) in the complex plane."""
    figure = Picture(figsize=(6.4, 5.2))
    plot = figure.add_subplot()
    poles = model.poles
    plot.plot(poles.real, poles.imag, linestyle="", marker="x", color=STYLES[0][0], label="poles")
    if len(model.inputs) == len(model.outputs):
        zeros = model.zeros
        shown = zeros[np.abs(zeros) <= 3 * np.abs(poles).max(initial=0.0)]
        ring: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": STYLES[1][0]}
        plot.plot(shown.real, shown.imag, linestyle="", marker="o", label="zeros", **ring)
    if model.dt is not None:
        turn = np.exp(2j * np.pi * np.linspace(0, 1, 200))
        plot.plot(turn.real, turn.imag, color="0.6", linewidth=0.8)
        plot.set_aspect("equal")
    else:
        plot.axvline(0, color="0.6", linewidth=0.8, zorder=0)
        plot.set_xscale("symlog", linthresh=_small(poles.real))
        plot.set_yscale("symlog", linthresh=_small(poles.imag))
        plot.margins(0.08)  # after the scales, or marks at the edges are cut
        plot.set_xticks(_decades(_small(poles.real), *plot.get_xlim()))
        plot.set_yticks(_decades(_small(poles.imag), *plot.get_ylim()))
    unit = " (rad/s)" if model.dt is None else ""
    plot.set_xlabel(f"real part{unit}")
    plot.set_ylabel(f"imaginary part{unit}")
    grid(plot)
    plot.legend(fontsize=8, frameon=False)
    return figure


def _turns(low: float, high: float) -> Array:
    """Ticks of phases (degrees): quarters of a turn, or as many of them that few are enough."""
    step = next(each for each in (45, 90, 180, 360, 720, 1440, 10**9) if (high - low) / each <= FEW)
    return np.asarray(step * np.arange(np.ceil(low / step), np.floor(high / step) + 1), dtype=float)


def _decades(small: float, low: float, high: float) -> Array:
    """Ticks of a scale that is logarithmic to both sides: zero, and powers of ten with room between them."""
    top = max(abs(low), abs(high))
    powers = np.arange(np.log10(small), np.floor(np.log10(max(top, small))) + 0.5)
    powers = powers[:: max(1, -(-len(powers) // 3))]
    found = np.concatenate([-(10.0 ** powers[::-1]), [0.0], 10.0**powers])
    return found[(found >= low) & (found <= high)]


def _small(values: Array) -> float:
    """The power of ten below all of them that are not zero: a tick, between which and zero there is no other."""
    sizes = np.abs(values)[np.abs(values) > 1e-9 * np.abs(values).max(initial=1e-300)]
    return float(10 ** np.floor(np.log10(sizes.min()))) if len(sizes) else 1.0


def _phase(values: Array) -> Array:
    """Without jumps; a response that is real begins at zero or at half a turn below."""
    out = np.unwrap(np.angle(values))
    return np.asarray(out - 2 * np.pi * np.ceil(out[0] / (2 * np.pi) - 0.5 - 1e-9) if len(out) else out)


def _frequencies(model: StateSpace) -> Array:
    """From a decade below the slowest motion to half a decade above the fastest, peaks included."""
    poles = model.poles if model.dt is None else np.log(model.poles[model.poles != 0].astype(complex)) / model.dt
    sizes = np.abs(poles) / (2 * np.pi)
    moving = sizes[sizes > 1e-6 * sizes.max(initial=1e-300)]
    low, high = (float(moving.min()) / 10, float(moving.max()) * 3) if len(moving) else (0.01, 10.0)
    if model.dt is not None:
        high = min(high, 0.5 / model.dt)
    # around resonances the curve turns within a share of the frequency that is their damping
    peaks = np.abs(poles.imag[poles.imag > 0]) / (2 * np.pi)
    near = np.concatenate([peak * (1 + np.array([-0.01, -0.001, 0.001, 0.01])) for peak in peaks] or [np.zeros(0)])
    both = np.concatenate([np.geomspace(low, high, POINTS), near])
    return np.unique(both[(both >= low) & (both <= high)])
