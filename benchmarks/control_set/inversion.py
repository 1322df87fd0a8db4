"""Inversion: the tip of a steel strip on a path of 90 degrees, simulated with the same model and a finer one."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa
from control_set.part import Part, Row, below
from flexarm.plotting.style import draw_line
from tests.control.arms import MOVE, single

WAY = np.pi / 2  # m, of a tip at 1 m


def off(found: fa.Inversion, run: fa.Run) -> float:
    """The largest distance of the tip from its path, as a share of it."""
    return float(found.missed(run).max() / WAY)


def part(modes: int = 2) -> Part:
    arm, options = single(modes), {"rtol": 1e-6, "progress": False}
    found = fa.invert(arm, {"arm": MOVE}, 1.0)
    run, more = found.play(**options), found.play(single(modes + 2), **options)
    twin = fa.invert(arm.rigid(), {"arm": MOVE}, 1.0)
    plain = fa.simulate(arm, 1.0, torque=twin.torque, **options)
    before, largest = found.t < found.before - 1e-9, np.abs(found.torques).max()
    still = float(np.ptp(found.tip[before], axis=0).max())
    early = float(np.abs(found.torques[before]).max() / largest)
    rows = [
        below("the tip is within 1e-3 of the path's length, same model", off(found, run), 1e-3),
        below("within 1 %, simulated with two more modes", off(found, more), 1e-2),
        Row(
            "the torque starts before the tip moves",
            f"{1e3 * found.before:.0f} ms before, {100 * early:.0f} % of its largest by then; tip moved by {still:g} m",
            bool(early > 1e-2 and still == 0),
        ),
        Row(
            "internal motion is bounded: part cut off by the windows",
            f"{found.left:.0e} of the path; {1e3 * found.after:.0f} ms of torque after it",
            bool(found.left < 1e-4),
        ),
        Row("torques of the rigid twin, for comparison", f"{off(twin, plain):.1e}"),
    ]

    def torque(plot: Any) -> None:
        t = np.linspace(-found.before, 1 + found.after, 1001)
        draw_line(plot, 0, t, found.torque["arm"](t + found.before), "inversion")
        inside = (t >= 0) & (t < 1)
        draw_line(plot, 1, t[inside], twin.torque["arm"](t[inside]), "rigid twin")
        plot.axvspan(0, 1, color="0.93", zorder=0)
        plot.set(xlabel="t (s); the tip moves in grey", ylabel="torque (N m)", title="a quarter of a turn in 1 s")
        plot.legend(fontsize=8)

    def tip(plot: Any) -> None:
        for k, (name, inversion, each) in enumerate(
            (("same model", found, run), ("two more modes", found, more), ("rigid twin's torques", twin, plain))
        ):
            draw_line(plot, k, each.array("time") - inversion.before, 1e3 * inversion.missed(each), name)
        plot.set(xlabel="t (s)", ylabel="tip off its path (mm)", yscale="log", ylim=(1e-4, 500))
        plot.set(title="played back through simulate")
        plot.legend(fontsize=8, loc="upper center")

    return Part(rows, [torque, tip])
