"""Wie and Bernstein's two masses: one compensator for all springs from 0.5 to 2 N/m."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np

import flexarm as fa
from control_set.part import Part, Row

WITHIN, SETTLED, LIMIT = 15.0, 0.1, 1.0  # s, m, N


def model(stiffness: float) -> fa.StateSpace:
    return fa.linearize(fa.library.two_masses(stiffness), inputs=["mass", "tip.fx"], outputs=["mass.q"])


def part(designed: int = 8, tried: int = 31) -> Part:
    """Designed for so many springs, tried with so many."""
    noises = {"process": {"mass": 1.0, "tip.fx": 1.0}, "noise": {"mass.q": 1.0}}
    first = fa.lqg(model(1.6), {"mass.q": 0.02}, 1.0, **noises)
    family = [model(each) for each in np.linspace(0.5, 2.0, designed)]
    design = fa.robust_lqg(first, family, {"tip.fx": 1.0}, {"mass.q": SETTLED}, WITHIN, limit=LIMIT)
    springs = np.linspace(0.5, 2.0, tried)
    worst = {each: max(each.closed_loop(model(k)).poles.real.max() for k in springs) for each in (first, design)}
    left, pushed, shown = [], [], []
    for stiffness in springs:
        masses, law = fa.library.two_masses(stiffness), design.feedback(limit=LIMIT)
        run = fa.simulate(masses, 40.0, torque=law, v0={"mass.q": 1.0}, sample=0.05, progress=False)
        t, position = run.array("time"), run["mass.q"].values
        left.append(np.abs(position[t >= WITHIN]).max())
        pushed.append(np.abs(run.torque.values).max())
        shown.append((stiffness, t, position))
    text = f"{tried} springs, 0.5 to 2 N/m"
    rows = [
        Row(
            f"one compensator (order {len(first.model.A)}) is stable for {text}",
            f"slowest pole {worst[design]:.3f} 1/s",
            bool(worst[design] < 0),
        ),
        Row(
            "after a unit impulse on the second mass it is within 0.1 m from 15 s on",
            f"within {max(left):.3f} m",
            bool(max(left) <= SETTLED),
        ),
        Row("with at most 1 N", f"{max(pushed):.2f} N", bool(max(pushed) <= LIMIT)),
        Row("the initial LQG design for 1.6 N/m, all springs", f"slowest pole {worst[first]:+.3f} 1/s"),
    ]

    def panel(plot: Any) -> None:
        colours = matplotlib.colormaps["viridis"]
        for stiffness, t, position in shown:
            plot.plot(t, position, color=colours((stiffness - 0.5) / 1.5), linewidth=0.8)
        plot.fill_between([WITHIN, 40], -SETTLED, SETTLED, color="0.85", zorder=0)
        plot.set(xlabel="t (s)", ylabel="second mass (m)", title="two masses, soft (dark) to stiff springs")

    return Part(rows, [panel])
