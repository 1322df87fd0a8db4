"""How a guide holds link 2 of C_RPb: by the element in it, at the nearest node, at any point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm.plotting.style import Picture, grid, line
from flexarm.robot.joints import PrismaticContact
from flexarm_papers.figures import Curves, curves
from flexarm_papers.my.robots import PAPER, SECTIONS, E, c_rpb
from flexarm_papers.my.runs import (
    MESH_STEP,
    SLIDE,
    SLIDE_ENDS,
    at_rest_again,
    changes,
    flexible_run,
    flexural,
    last,
    moved,
    push,
    slid,
    stored,
)
from flexarm_papers.page import Page

ON_MESH: tuple[PrismaticContact, ...] = ("element", "nodal")
MESHES = (5, 10, 20)
FINER = (*MESHES, 40)
DRIVEN = (*FINER, 80)
LENGTH = 0.8  # m
PERIOD = 0.6  # s, of the slowest vibration of C_RPb in the paper's model, or a little more


# --- how soft link 2 is ---


@cache
def _system(contact: PrismaticContact, count: int) -> fa.System:
    return fa.System(c_rpb(replace(PAPER, contact=contact), count), native=False)


def compliance(contact: PrismaticContact, count: int, d: float) -> float:
    """Static deflection of link 2's tip under a unit force there (m/N): K u + Phi_q' f = e, Phi_q u = 0."""
    system = _system(contact, count)
    q, bends = system.vector({"link2.q": d}), slice(2, None)
    held = system.constraint_jacobian(q)[:, bends]
    load = np.concatenate([system.jacobian("link2", LENGTH, q)[4, bends], np.zeros(len(held))])
    K, none = system.stiffness_matrix(q)[bends, bends], np.zeros((len(held), len(held)))
    return float(load @ np.linalg.solve(np.block([[K, held.T], [held, none]]), load))


def free_length(contact: PrismaticContact, count: int, d: float) -> float:
    """The length of the cantilever that is as soft (m)."""
    return float(np.cbrt(3 * E * SECTIONS["C_RPb"].at(0.0).I_z * compliance(contact, count, d)))


def places(count: int = 640) -> Array:
    """Evenly along the link, at no node of the meshes."""
    return LENGTH * (np.arange(count) + 0.5) / count


@cache
def errors(contact: PrismaticContact, count: int) -> tuple[float, float]:
    """Of the compliance, as parts of that of the whole link: the worst over all d, and the mean."""
    off = np.array([free_length(contact, count, d) ** 3 - d**3 for d in places()]) / LENGTH**3
    return float(np.abs(off).max()), float(abs(off.mean()))


def order(contact: PrismaticContact, which: int) -> float:
    """With which power of the elements' size the worst (0) or the mean (1) error falls, over the finer meshes."""
    coarse, fine = errors(contact, FINER[-2]), errors(contact, FINER[-1])
    return float(np.log2(coarse[which] / fine[which]))


def how_the_guide_holds(page: Page) -> None:
    page.heading("How the guide holds link 2")
    start = 0.3
    lengths = {each: free_length(each, 5, start) for each in ON_MESH}
    page.text(f"""
        Section 4.3 holds link 2 of C_RPb by the element k that is in the guide: the displacements of both of its
        nodes are zero, and k changes as the link slides (`contact="element"`). Beside it here are the node nearest to
        the guide (`contact="nodal"`) and the point in the guide (`contact="continuous"`). With five elements and d_2
        = {start:g} m, where the motion above starts, the paper's rule leaves {lengths["element"]:.2f} m of link 2
        free, the nearest node {lengths["nodal"]:.2f} m.
    """)
    caption = """Left: the free length of link 2 in front of the guide, from its static compliance, with five elements.
        Right: errors of the compliance over all d_2, as parts of that of the whole link."""
    page.figure("contact_statics", _statics(), " ".join(caption.split()))
    rows = [
        (
            each,
            *(f"{100 * errors(each, n)[0]:.1f} %, {100 * errors(each, n)[1]:.2g} %" for n in FINER),
            f"{order(each, 0):.1f}, {order(each, 1):.1f}",
        )
        for each in ON_MESH
    ]
    page.table(["compliance off: worst of 640 places, mean", *(f"n = {n}" for n in FINER), "order: worst, mean"], rows)
    page.text("""
        Held by its element, link 2 is never softer than it should be and stiffer by up to a whole element: worst and
        mean error fall with the first power of the element's length. The nearest node errs by half an element either
        way, so its mean error falls with the second power. At a node the paper's rule is exact in front of the guide;
        behind it an element too much is held.
    """)


def _statics() -> Picture:
    figure = Picture(figsize=(10.5, 3.6))
    left, right = figure.subplots(1, 2)
    d = places(320)
    line(left, 0, d, d, "continuous")
    for k, each in enumerate(ON_MESH, start=1):
        line(left, k, d, [free_length(each, 5, x) for x in d], each)
    left.set_xlabel("d_2 (m)")
    left.set_ylabel("free length (m)")
    for k, each in enumerate(ON_MESH):
        found = 100 * np.array([errors(each, n) for n in FINER])
        for which, (label, marker) in enumerate((("worst", "o"), ("mean", "s"))):
            line(right, 2 * k + which, FINER, found[:, which], f"{each}, {label}")
            right.lines[-1].set_marker(marker)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xticks(FINER, [str(n) for n in FINER])
    right.minorticks_off()
    right.set_xlabel("elements")
    right.set_ylabel("compliance off (%)")
    for plot in (left, right):
        grid(plot)
        plot.legend(fontsize=8, frameon=False)
    return figure


# --- motions ---


def held_and_free(page: Page) -> None:
    page.text(f"""
        Two motions: with d_2 driven from {SLIDE(0.0):g} to {SLIDE(SLIDE_ENDS):g} m in {SLIDE_ENDS:g} s, damped as
        ours is; and with the force of figure 4, undamped as the paper has it, so that the link slides as it likes.
    """)
    held = {"continuous": slid(5, "continuous")} | {_label(each, n): slid(n, each) for each in ON_MESH for n in DRIVEN}
    free = {"continuous": flexible_run("C_RPb", replace(PAPER, contact="continuous"))}
    free |= {
        _label(each, n): moved("C_RPb", c_rpb(replace(PAPER, contact=each), n)) for each in ON_MESH for n in MESHES
    }
    shown = ["continuous", *(_label(each, n) for each in ON_MESH for n in (MESHES[0], MESHES[-1]))]
    panels: dict[str, Curves] = {
        "tip (mm), d_2 driven": {label: (held[label].time, 1000 * flexural(held[label])) for label in shown},
        "d_2 (m), under its force": {label: (free[label].time, free[label]["link2.q"]) for label in shown},
    }
    caption = "C_RPb held at any point, by the element in the guide and at the nearest node."
    page.figure("contact", curves(panels), caption)
    bend = flexural(held["continuous"])

    def off(label: str) -> str:
        return f"{np.abs(flexural(held[label]) - bend).max() / np.abs(bend).max():.0%}"

    page.table(
        ["displacement off, d_2 driven", *(f"n = {n}" for n in DRIVEN)],
        [(each, *(off(_label(each, n)) for n in DRIVEN)) for each in ON_MESH],
    )
    pushed, hold = (1000 * at_rest_again(held["continuous"], force) for force in _forces(held["continuous"]))
    others = [1000 * at_rest_again(held[label], _forces(held[label])[1]) for label in held if label != "continuous"]
    page.text(f"""
        The largest difference from continuous contact, as a fraction of the largest displacement. Driven, both rules
        approach the continuous one as elements grow: slowly, since a free length that is wrong is a wrong frequency,
        and phases part. After the slide the bent link is pushed out by {pushed:.2f} mN if it is held at any point,
        and takes a force of {hold:+.2f} mN to stay; on a mesh nothing pushes, and it takes {min(others):+.2f} to
        {max(others):+.2f} mN against the inertia of the vibration, which draws the link in.
    """)
    page.table(
        ["under its force", "d_2 at last (m)", "energy at last (mJ)", "energy that changes of node brought (mJ)"],
        [(label, _ending(run), *_energies(run)) for label, run in free.items()],
    )
    stores, after = caught()
    spread = _spread((MESH_STEP, 2 * MESH_STEP, 4 * MESH_STEP))
    page.text(f"""
        Under its force no mesh approaches the continuous one: between two changes of node the elastic energy does not
        depend on d_2, so nothing pushes the link out. And a change that catches a node while it is displaced bends
        the rest of the link at once: it brings energy out of nothing, which without damping stays. That is not due to
        the projection: merely taking out the caught displacements, as rows and columns are taken out, would make
        between {1000 * after.min():.2f} and {1000 * after.max():.2f} mJ of {1000 * stores:.2f} mJ with five elements,
        {1000 * after.mean():.1f} mJ in the mean over a period of the vibration. How much depends on the phase in
        which the node is caught, so that d_2 at last is not well defined: with five elements and the paper's rule it
        is between {min(spread):.3f} and {max(spread):.3f} m with time steps from {1000 * MESH_STEP:g} to
        {4000 * MESH_STEP:g} ms.
    """)


def _label(contact: PrismaticContact, count: int) -> str:
    return f"{contact}, n = {count}"


def _forces(run: fa.Run) -> tuple[Array, Array]:
    """By which the bent link pushes itself out, and which holds d_2 (N)."""
    return push(run), np.asarray(run.torque.sel(input="link2").values)


def caught() -> tuple[float, Array]:
    """Energy of C_RPb in the paper's model before d_2 falls below 0.32 m (J), and what it would be after node 4 were
    caught in any phase of the period before, its displacement, slope and rates set to zero and all else left."""
    run = flexible_run("C_RPb")
    system, time, when = fa.System(run.robot, native=False), run.time.values, changes(run)[-1]
    before = (time > time[when] - PERIOD) & (np.arange(len(time)) < when)
    nodes = [system.index(f"link2.bend_y[{k}]") for k in (9, 10)]
    q, v = (run.data[each].values[before].copy() for each in "qv")
    q[:, nodes], v[:, nodes] = 0.0, 0.0
    energy = system.energy(q, v)
    return float(stored(run)[before].mean()), np.asarray(energy.kinetic + energy.elastic)


def _ending(run: fa.Run) -> str:
    """d_2 at last, and when, if the link reached its end before."""
    end, time = last(run), float(run.time[-1])
    return f"{end:.3f}" if run.reason == "completed" else f"{end:.3f} (its end, after {time:.1f} s)"


def _energies(run: fa.Run) -> tuple[str, str]:
    return f"{1000 * stored(run)[-1]:.2f}", f"{1000 * float(run.energy['balance'][-1]):+.2f}"


def _spread(steps: Sequence[float]) -> list[float]:
    return [last(moved("C_RPb", c_rpb(), step=step)) for step in steps]
