"""PD of the joints of De Luca and Siciliano's arm with two flexible links: clamped frequencies and settling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import flexarm as fa
from control_set.part import Part, Row
from flexarm.plotting.style import draw_line

KP, KD = {"upper": 160.0, "fore": 60.0}, {"upper": 11.0, "fore": 1.1}
GOAL = {"upper": 0.5, "fore": 0.5}  # rad, a step
FIRST = 0.48  # Hz
RATIOS = (0.0, 0.01, 0.02, 0.05)  # damping of 0.48 Hz, in proportion to frequency
PUBLISHED = ((0.48, 1.80), (2.18, 15.91))  # Hz, of the links clamped
SETTLED = 0.02  # of the way


def clamped() -> list[Row]:
    """Each link welded, with mass and inertia at its tip of all that it carries while the arm is straight."""
    arm = fa.library.de_luca_siciliano_arm()
    behind = 0.1 + 0.1 * 0.5**2 / 3 + 0.1 * 0.5**2 + 0.0005
    loads = fa.PointMass(1.2, inertia=behind), fa.PointMass(0.1, inertia=0.0005)
    rows = []
    for link, load, wanted in zip(arm.links, loads, PUBLISHED):
        welded = fa.Robot(links=[link.model_copy(update={"joint": fa.Weld(), "hub": None, "payload": load})])
        found = fa.modes(welded).frequencies
        holds = bool(np.abs(found - wanted).max() < 6e-3 + 3e-3 * max(wanted))
        asked = f"clamped `{link.name}` link: {wanted[0]:.2f} and {wanted[1]:.2f} Hz"
        rows.append(Row(asked, f"{found[0]:.3f} and {found[1]:.3f} Hz", holds))
    return rows


def at_goal(arm: fa.Robot) -> fa.StateSpace:
    at = {f"{link}.q": each for link, each in GOAL.items()}
    outputs = [f"{link}.q{prime}" for prime in ("", "'") for link in GOAL]
    return fa.linearize(arm, at, inputs=list(GOAL), outputs=outputs)


def under_pd(lin: fa.StateSpace) -> np.ndarray:
    """Poles with the loop closed."""
    gains = np.hstack([np.diag([each[link] for link in GOAL]) for each in (KP, KD)])
    return np.linalg.eigvals(lin.A - lin.B @ gains @ lin.C)


def vibrations(arm: fa.Robot) -> np.ndarray:
    """Poles of the arm under PD at the goal, those above the real axis, the lowest first."""
    poles = under_pd(at_goal(arm))
    poles = poles[poles.imag > 1e-6]
    return poles[np.argsort(np.abs(poles))]


def rate_needed(ratio: float = 0.05) -> Row:
    """Joint 2 pushes against the slope of link 1, which has little inertia at its tip: a slow law shakes it."""
    lin = at_goal(fa.library.de_luca_siciliano_arm(damping=2 * ratio / (2 * math.pi * FIRST)))
    stable = {rate: np.abs(under_pd(lin.discrete(1 / rate))).max() < 1 for rate in (500, 1000, 2000, 5000, 10000)}
    enough = next((rate for rate in stable if all(stable[each] for each in stable if each >= rate)), None)
    said = "stable at none of " if enough is None else f"stable from {enough} Hz on, of "
    return Row("the same PD as a digital law, with 5 %", said + ", ".join(f"{rate}" for rate in stable) + " Hz")


def settling(ratios: tuple[float, ...] = RATIOS, longest: float = 900.0) -> Part:
    rows, shown = [], []
    for ratio in ratios:
        arm = fa.library.de_luca_siciliano_arm(damping=2 * ratio / (2 * math.pi * FIRST))
        poles = vibrations(arm)
        end = min(longest, 8.0 + 1.5 * math.log(SETTLED) / poles[0].real)
        run = fa.simulate(arm, end, torque=fa.pd(arm, KP, KD, GOAL), sample=0.02, progress=False)
        t, tip = run.array("time"), run.array("tip")
        goal = fa.System(arm, native=False).tip({f"{link}.q": each for link, each in GOAL.items()})
        off = np.linalg.norm(tip - goal, axis=1) / np.linalg.norm(tip[0] - goal)
        outside = np.flatnonzero(off > SETTLED)
        time = t[outside[-1]]
        settles = bool(poles.real.max() < 0 and time < 0.99 * end)
        found = f"after {time:.0f} s" if settles else f"not within {end:.0f} s"
        for pole in dict.fromkeys((poles[0], poles[np.argmax(poles.real)])):
            found += f"; {pole.imag / (2 * math.pi):.2f} Hz decays with {-pole.real:.2g} 1/s"
        name = "without damping of its links" if ratio == 0 else f"with {100 * ratio:g} % in its first mode"
        rows.append(Row(f"under PD 160/11 and 60/1.1 the tip settles to 2 % of its step, {name}", found, settles))
        shown.append((name, t, off))

    def panel(plot: Any) -> None:
        for k, (name, t, off) in enumerate(shown):
            early, most = t < 60, np.maximum.accumulate(off[::-1])[::-1]
            draw_line(plot, k, t[early], 100 * most[early], name)
        plot.axhline(100 * SETTLED, color="0.6", linewidth=0.8)
        plot.set(
            xlabel="t (s)",
            ylabel="largest later distance of the tip from its goal (% of the step)",
            yscale="log",
            ylim=(0.1, 200),
        )
        plot.set(title="De Luca and Siciliano's arm, PD 160/11, 60/1.1")
        plot.legend(fontsize=8)

    return Part(rows, [panel])


def part() -> Part:
    settled = settling()
    return Part([*clamped(), *settled.rows, rate_needed()], settled.panels)
