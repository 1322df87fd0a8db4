"""The prismatic joint of the paper's figure 4 on a link that turns (figure 1), for which the paper has no example."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm_papers.drawings import sleeve_on_a_hinge
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
from flexarm_papers.pan.beam import LENGTH, RIGIDITY, beam
from flexarm_papers.runs import simulate

CARRIER = 1.0  # m, and as many kg
ELEMENTS = 16
TURN, DURATION = 0.2, 2.0  # rad, s
INSIDE = (0.25, 0.65)  # m: of the beam, before and after

HELD = {
    "sleeve": (fa.Sleeve(), "shortening"),
    "sleeve, no axial force": (fa.Sleeve(), "none"),
    "clamped at the mouth": (fa.FixedPrismatic(rear="rigid"), "shortening"),
}


def robot(joint: Any, stiffening: Any = "shortening", tip: float = 0.0, gravity: float = 0.0) -> fa.Robot:
    """Link 1, rigid, on a hinge; link 2, the beam of the example, in it."""
    basis: Any = fa.Splines() if isinstance(joint, fa.Sleeve) else fa.Modes(tip_mass=0)
    count = ELEMENTS if isinstance(joint, fa.Sleeve) else 6
    flexible = fa.Flexible(bend_y=count, basis=basis, stiffening=stiffening)
    carrier = fa.Link("carrier", CARRIER, fa.Revolute("z"), mass=1.0)
    payload = fa.PointMass(tip) if tip else None
    return fa.Robot(links=[carrier, beam(joint, flexible, payload=payload)], gravity=(0, -gravity, 0))


@cache
def turned(how: str) -> fa.Run:
    """The robot turned, and the beam drawn in, from rest to rest."""
    joint, stiffening = HELD[how]
    ends = [CARRIER - inside for inside in INSIDE] if isinstance(joint, fa.Sleeve) else [LENGTH - x for x in INSIDE]
    motion = {"carrier": fa.cycloid(0.0, TURN, DURATION), "beam": fa.cycloid(ends[0], ends[1], DURATION)}
    return simulate(
        robot(joint, stiffening),
        DURATION,
        motion=motion,
        sample=DURATION / 400,
        rtol=1e-6,
        native=False,
    )


def off(how: str) -> tuple[Array, Array]:
    """Times, and how far the tip is off its place on the rigid robot, across the sleeve (m)."""
    run = turned(how)
    t, tip = run.time.values, run.tip.values
    angle = fa.cycloid(0.0, TURN, DURATION)(t)
    return t, np.asarray(-np.sin(angle) * tip[:, 0] + np.cos(angle) * tip[:, 1])


def softness(joint: Any, inside: float) -> float:
    """Deflection of the tip at rest per force on it (m/N), without the beam's own weight."""
    weight, gravity = 1e6, 1e-9
    system = fa.System(robot(joint, "none", tip=weight, gravity=gravity), native=False)
    d = CARRIER - inside if isinstance(joint, fa.Sleeve) else LENGTH - inside
    q = fa.equilibrium(system, {"beam.q": d})
    return float(-system.frame("beam", None, q)[1, 3] / (weight * gravity))


def a_sleeve_that_turns(page: Page) -> None:
    page.heading("A sleeve that turns (figures 1 and 4)")
    page.text(
        f"""
        The paper's formulation is for robots of several links. Its joint of figure 4, equations (22) to (25), is a
        sleeve: the left end of link 2 runs in link 1 without play, and a bilateral support at the mouth, D', holds its
        axis. The paper has no numerical example of it; here is one, with the beam of the example: link 1, rigid,
        {CARRIER:g} m long, turns by {TURN:g} rad in {DURATION:g} s while the beam is drawn in from {INSIDE[0]:g} to
        {INSIDE[1]:g} m. In the paper the sleeve is rigid; `fa.Sleeve` may also be in a link that bends.
        """
    )
    page.figure(
        "sleeve",
        sleeve_on_a_hinge(CARRIER, LENGTH),
        "The robot, not to scale: s tells where the beam's end is in the sleeve, D' is its mouth.",
    )
    page.figure(
        "sleeve_turned",
        curves({"tip off the rigid robot's,\nacross the sleeve (mm)": {how: _in_mm(how) for how in HELD}}),
        "The tip while the robot turns and the beam is drawn in. Between its end and the mouth the beam bends: it "
        "swings more slowly, and further, than one that the mouth clamps.",
    )
    rows = []
    for inside in (0.25, 0.5, 0.75):
        out = LENGTH - inside
        by_hand = (out**3 / 3 + out**2 * inside / 4) / RIGIDITY
        held, clamped = softness(fa.Sleeve(), inside), softness(fa.FixedPrismatic(rear="rigid"), inside)
        rows.append((f"{inside:g}", f"{held:.6f}", f"{by_hand:.6f}", f"{held / clamped:.3f}"))
    page.table(["inside (m)", "tip per force (m/N)", "by hand (m/N)", "against a mouth that clamps"], rows)
    largest = {how: 1000 * float(np.abs(off(how)[1]).max()) for how in HELD}
    page.text(
        f"""
        By hand: b^3 / (3 EI) + b^2 c / (4 EI) with b outside and c inside. In motion the tip is off by
        {largest["sleeve"]:.1f} mm at most; {largest["clamped at the mouth"]:.1f} mm if the mouth clamps, and
        {largest["sleeve, no axial force"]:.1f} mm without the axial force that turning and drawing in cause. Elements
        with a multiplier of their own, integrated by SciPy, agree with such a run to 3e-6 m
        (`tests/simulation/test_sleeves.py`).
        """
    )


def _in_mm(how: str) -> tuple[Array, Array]:
    t, values = off(how)
    return t, 1000 * values
