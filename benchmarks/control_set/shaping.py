"""Input shapers: published widths and durations, and residual vibration of the two-link arm."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa
from control_set.part import Part, Row
from flexarm.plotting.style import draw_line

PUBLISHED = {  # width at 5 % of residual vibration, undamped, and periods (Singhose)
    "zv": (0.064, 0.5),
    "zvd": (0.287, 1.0),
    "zvdd": (0.480, 1.5),
    "ei": (0.3995, 1.0),
    "two-hump-ei": (0.7245, 1.5),
    "three-hump-ei": (0.964, 2.0),
}
MOVE = 2.5  # s


def table() -> Part:
    rows = []
    for kind, (width, periods) in PUBLISHED.items():
        found = fa.shaper(kind, frequency=1.0)
        insensitive = found.insensitivity(0.05)
        holds = abs(insensitive - width) <= 5e-4 and abs(found.duration - periods) < 1e-9
        asked = f"`{kind}`: insensitive over {width:g} of the frequency, {periods:g} periods long"
        rows.append(Row(asked, f"{insensitive:.4f}, {found.duration:g}", holds))

    def panel(plot: Any) -> None:
        f = np.linspace(0.4, 1.6, 601)
        for k, kind in enumerate(PUBLISHED):
            draw_line(plot, k, f, 100 * fa.shaper(kind, frequency=1.0).residual(f), kind)
        plot.axhline(5, color="0.7", linewidth=0.8)
        plot.set(xlabel="frequency / modelled", ylabel="residual vibration (%)", ylim=(0, 40), title="shapers")
        plot.legend(fontsize=8)

    return Part(rows, [panel])


def two_link(kinds: tuple[str, ...] = ("zv", "zvd", "ei"), end: float = 9.0) -> Part:
    """Both joints driven; the first mode of the posture half way is shaped."""
    arm, half_way = fa.library.two_link_arm(), {"upper.q": 0.1, "fore.q": 0.2}
    command = {"upper": fa.cycloid(0, 0.2, MOVE), "fore": fa.cycloid(0, 0.3, MOVE)}
    shapers = {kind: fa.shaper(kind, arm, modes=1, q=half_way) for kind in kinds}
    after = MOVE + 0.1 + max(each.duration for each in shapers.values())
    commands = {None: command} | {
        kind: {link: each(own) for link, own in command.items()} for kind, each in shapers.items()
    }

    def run(robot: fa.Robot, motion: dict[str, Any]) -> fa.Run:
        return fa.simulate(robot, end, motion=motion, rtol=1e-6, sample=0.01, progress=False)

    runs = {kind: run(arm, motion) for kind, motion in commands.items()}
    left = {kind: each.residual("tip", after=after) for kind, each in runs.items()}
    heavy = arm.with_({"links.fore.payload.mass": 0.18})
    other = {kind: run(heavy, commands[kind]).residual("tip", after=after) for kind in (None, "zvd")}
    rows = []
    for kind in kinds:
        times = left[None] / left[kind]
        text = f"`{kind}` on the two-link arm reduces the residual vibration"
        found = f"{times:.0f} times, from {1e3 * left[None]:.1f} to {1e3 * left[kind]:.2g} mm"
        asked = f"{text}, at least 50 times" if kind == "zvd" else text
        rows.append(Row(asked, found, bool(times >= 50) if kind == "zvd" else None))
    off = f"{other[None] / other['zvd']:.0f} times, from {1e3 * other[None]:.1f} to {1e3 * other['zvd']:.2g} mm"
    rows.append(Row("the same `zvd` with a fifth more payload than in its design", off))

    def panel(plot: Any) -> None:
        for k, (kind, each) in enumerate(runs.items()):
            draw_line(plot, k, each.array("time"), 1e3 * each["deflection.upper.y"].values, kind or "as commanded")
        plot.set(xlabel="t (s)", ylabel="deflection of the upper link (mm)", title="two-link arm, 2.5 s and shaper")
        plot.legend(fontsize=8)

    return Part(rows, [panel])


def part() -> Part:
    theory, robot = table(), two_link()
    return Part([*theory.rows, *robot.rows], [*theory.panels, *robot.panels])
