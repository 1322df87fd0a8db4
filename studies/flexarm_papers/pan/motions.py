"""The motions of the beam (figures 7 to 9), push against pull, and what the whole beam does."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.plotting.colours import LINE_STYLES
from flexarm.plotting.style import Picture, draw_grid
from flexarm_papers import drawings
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
from flexarm_papers.pan.beam import (
    CASES,
    DEFLECTION,
    ELEMENTS,
    FAST_PULL,
    FAST_PUSH,
    FEW_ELEMENTS,
    LENGTH,
    MASS_PER_METRE,
    MODES,
    RIGIDITY,
    SLOW_PUSH,
    SUPPORTS,
    Case,
    apart,
    first_frequency_squared,
    floating,
    rise,
    rooted,
    system_of,
    travel,
    vibration_energy,
)
from flexarm_papers.pan.rigid_axial_force import FINE_ELEMENTS, mesh_error, rise_by_equation_16


def the_example(page: Page) -> None:
    page.heading("The example")
    page.text(
        f"""
        A beam of L = {LENGTH:g} m, {MASS_PER_METRE:g} kg/m and EI = {RIGIDITY:g} N m^2 lies on two supports
        D = {SUPPORTS[1]:g} m apart that hold it from above and from below. A uniform load bends it until one end, H
        (left) or E (right), has risen by {1000 * DEFLECTION:g} mm. At t = 0 the load is taken away, and the beam is
        moved lengthwise over the supports, from rest to rest, by W = C_1 - C_2/T (t - T/(2 pi) sin(2 pi t/T)), equation
        (57). The example is Buffinton and Kane's (Dynamics of a beam moving over supports, International Journal of
        Solids and Structures 21, 1985), with whose curves the paper compares its own. None of these curves was at hand:
        this page shows what is computed here.
        """
    )
    page.figure(
        "beam",
        drawings.supported_beam(LENGTH, SUPPORTS[1]),
        "The beam at the start of a push, not to scale. W is the overhang of H beyond the first support; the drive "
        "acts at H. In the pull E has the long overhang, and W grows.",
    )
    rows = [(each.name, each.figure, each.start, each.travel, each.duration, each.observed) for each in CASES]
    page.table(["case", "figure", "C_1 (m)", "C_2 (m)", "T (s)", "observed end"], rows)
    page.text(
        f"""
        The beam is described twice. First as in the paper: beam elements in a frame that follows the rigid beam, and
        two constraints that move along the beam. Then by {MODES} modes of a beam clamped at its driven end, in a frame
        that rises and turns with that end, geometrically exact (`stiffening="exact"`). "No axial force" means elements
        without the shortening of the bent beam.
        """
    )
    page.chosen(
        [
            (
                "which overhang W is (figure 6)",
                "that of H, beyond the support next to it; E's is then L - D - W",
                "then the observed end has the long overhang at the start of all three cases",
            ),
            (
                "where the beam is driven",
                "always at H",
                """equation (18) lets the axial force enter at the origin of the frame, the left end; if that is H, a
                falling W is a push and a rising W a pull, as the cases are called""",
            ),
            ("time step of the paper's scheme", "0.5 to 4 ms, shown further below", "none is given"),
            ("damping", "none", "none is mentioned"),
        ]
    )
    page.changed(
        [
            (
                f"{FEW_ELEMENTS} elements",
                f"{ELEMENTS} elements; {FEW_ELEMENTS} beside them",
                f"their error is at most {100 * max(mesh_error(case) for case in CASES):.2f} % of the initial rise, "
                f"estimated with {FINE_ELEMENTS} elements of equation (16)",
            ),
            (
                "Newmark's method, constraints stabilised",
                "steps of order 5 with error control, constraints projected; the paper's scheme further below",
                "to see the beam without errors of integration",
            ),
            (
                "work of the rigid beam's axial force in the shortening, equation (16)",
                "kinetic energy of the shortened beam",
                "the same for small displacements, and one model for all motions; equation (16) taken literally "
                "is computed beside it",
            ),
        ]
    )


def slow_push(page: Page) -> None:
    _tell(page, SLOW_PUSH, "The force that moves the beam is small, and leaving it out shifts the curve a little.")


def fast_push(page: Page) -> None:
    _tell(page, FAST_PUSH, "While the beam is sped up, the push bends the overhang instead of letting it swing back.")


def fast_pull(page: Page) -> None:
    _tell(page, FAST_PULL, "Pulled, the beam is tight at first, and swings back sooner than without axial force.")


def _tell(page: Page, case: Case, seen: str) -> None:
    """The displacement of the observed end by both descriptions, and how far they are apart."""
    page.heading(f"{case.name.capitalize()} (figure {case.figure})")
    elements, few, without = travel(case), travel(case, count=FEW_ELEMENTS), travel(case, stiffening="none")
    modes = travel(case, rooted, count=MODES, stiffening="exact")
    by_modes = f"{MODES} modes, moving root"
    above = {f"{ELEMENTS} elements, constraints": elements, by_modes: modes, "no axial force": without}
    t, shown = elements.time.values, rise(elements, case.observed)
    literal = rise_by_equation_16(case)
    below = {
        f"{FEW_ELEMENTS} elements": rise(few, case.observed),
        by_modes: rise(modes, case.observed),
        f"{ELEMENTS} elements, equation (16)": literal,
    }
    panels = {
        f"rise of ${case.observed}$ (mm)": {
            label: (t, 1000 * rise(run, case.observed)) for label, run in above.items()
        },
        f"difference from {ELEMENTS}\nelements (% of 10 mm)": {
            label: (t, 100 * (w - shown) / DEFLECTION) for label, w in below.items()
        },
    }
    caption = (
        f"For figure {case.figure}: above the rise of end {case.observed} in the {case.name}; below the "
        f"differences of fewer elements, of the second description and of equation (16) taken literally. {seen}"
    )
    page.figure(f"figure_{case.figure}", curves(panels), caption)
    most, most_without = (1000 * np.abs(rise(run, case.observed)).max() for run in (elements, without))
    page.text(
        f"""
        The end is at most {most:.1f} mm off its place ({most_without:.1f} mm without axial force). In percent of the
        initial rise the two descriptions differ by {100 * apart(case, elements, modes).max():.1f} % at most,
        {FEW_ELEMENTS} elements from {ELEMENTS} by {100 * apart(case, elements, few).max():.0f} %, and the axial force
        changes the curve by {100 * apart(case, elements, without).max():.0f} %. Equation (16) taken literally gives
        {1000 * np.abs(literal).max():.1f} mm at most, and a curve that differs by
        {100 * (np.abs(literal - shown) / DEFLECTION).max():.2f} %.
        """
    )
    page.data(case.name.replace(" ", "_"), elements)


def push_against_pull(page: Page) -> None:
    page.heading("Push against pull")
    kinds = {
        "push": (FAST_PUSH, "shortening"),
        "pull": (FAST_PULL, "shortening"),
        "push, no axial force": (FAST_PUSH, "none"),
        "pull, no axial force": (FAST_PULL, "none"),
    }
    runs = {label: travel(case, stiffening=stiffening) for label, (case, stiffening) in kinds.items()}
    t, moments = runs["push"].time.values, np.linspace(0, FAST_PUSH.duration, 141)
    rises = {label: 1000 * rise(runs[label], case.observed) for label, (case, _) in kinds.items()}
    squares = {label: first_frequency_squared(*kind, moments) for label, kind in kinds.items()}
    energies = {label: 1000 * vibration_energy(run) for label, run in runs.items()}
    panels = {
        "rise of the observed\nend (mm)": {label: (t, y) for label, y in rises.items()},
        "first frequency,\nsquared (rad$^2$/s$^2$)": {label: (moments, square) for label, square in squares.items()},
        "energy of vibration\n(mJ)": {label: (t, energy) for label, energy in energies.items()},
    }
    page.figure(
        "push_and_pull",
        curves(panels),
        "The same overhang, drawn in by a push and by a pull: the rise of its end above, its energy of vibration "
        "below. In the middle the first frequency, squared, of the beam "
        "held where it is, under the axial force of that moment; where it is negative, the force would buckle the beam "
        "if it lasted. Without axial force, push and pull have one and the same curve.",
    )
    force = MASS_PER_METRE * LENGTH * FAST_PUSH.acceleration(moments).max()
    buckled = moments[squares["push"] < 0]
    page.text(
        f"""
        The drive at H moves all of the beam, with up to {force:.1f} N: the axial force is largest there and falls to
        nothing at E. In the push it compresses the long overhang while the beam is sped up; between {buckled[0]:.2f}
        and {buckled[-1]:.2f} s it is more than the beam could bear for long: instead of swinging back the end rises to
        {rises["push"].max():.1f} mm, until the overhang is shorter and tension takes over. In the pull the overhang of
        E is drawn along without a force at its end, and the curve changes less.
        """
    )
    work, balance = (runs["push"][name].values for name in ("work", "balance"))
    far = [1000 * np.abs(rise(runs[label], end)).max() for label, end in (("push", "E"), ("pull", "H"))]
    page.text(
        f"""
        A beam that is drawn in while it swings takes energy from the drive: {energies["push"][0]:.2f} mJ of vibration
        become {energies["push"][-1]:.1f} mJ in the push, {energies["pull"][-1]:.1f} mJ in the pull and
        {energies["push, no axial force"][-1]:.1f} mJ without axial force. The other end, at which the paper does not
        look, swings as well: E by up to {far[0]:.0f} mm in the push, H by up to {far[1]:.0f} mm in the pull, where
        braking compresses the overhang that grows. In the push the work of the drive, up to {work.max():.2f} J, and the
        energy of the beam differ by {1000 * np.abs(balance).max():.2f} mJ at most.
        """
    )


def the_driven_end(page: Page) -> None:
    page.heading("The driven end")
    count = 8  # enough to see it
    runs = {(case, end): travel(case, driven=end, count=count) for case in (FAST_PUSH, FAST_PULL) for end in "HE"}
    panels: dict[str, dict[str, tuple[Any, Any]]] = {}
    for (case, end), run in runs.items():
        panel = panels.setdefault(f"{case.name}:\nrise of ${case.observed}$ (mm)", {})
        panel[f"driven at ${end}$"] = (run.time.values, 1000 * rise(run, case.observed))
    caption = (
        "The observed end in one and the same motion, led by one end or the other: a push led by H is a pull led by E, "
        "and the other way round."
    )
    page.figure("driven_end", curves(panels), caption)
    twins = [np.abs(rise(runs[FAST_PUSH, a], "H") - rise(runs[FAST_PULL, b], "E")).max() for a, b in ("HE", "EH")]
    differ = apart(FAST_PUSH, runs[FAST_PUSH, "H"], runs[FAST_PUSH, "E"]).max()
    page.text(
        f"""
        What is a push and what a pull is decided by the end that leads: in one and the same motion, driven at E instead
        of H, end H is elsewhere by up to {100 * differ:.0f} % of its initial rise. A push led by H and a pull led by E
        are mirror images; with {count} elements they are computed to be the same to {max(twins):.0e} m.
        """
    )


def poses_and_reactions(page: Page) -> None:
    page.heading("What the whole beam does")
    page.figure(
        "poses",
        poses((FAST_PUSH, FAST_PULL), 7),
        "The beam over its supports (triangles) at seven times, in the push (left) and in the pull (right), driven at "
        "H; dashed without axial force. Heights are drawn much larger than lengths.",
    )
    panels = {
        f"{case.name}:\nreaction (N)": {
            f"at the support next to ${end}$": (run.time.values, run["reaction"].sel(row=f"{end}_side.y").values)
            for end in "HE"
        }
        for case, run in ((case, travel(case)) for case in (FAST_PUSH, FAST_PULL))
    }
    page.figure("reactions", curves(panels), "Forces of the two supports on the beam, positive upward.")
    push, pull = (np.abs(travel(case)["reaction"].values).max() for case in (FAST_PUSH, FAST_PULL))
    page.text(
        f"""
        The forces change their signs with the vibration, so both supports must hold from above and from below. They
        reach {push:.1f} N in the push and {pull:.1f} N in the pull, when the overhang of the observed end is short.
        """
    )


def poses(cases: tuple[Case, ...], count: int) -> Picture:
    """The bent beam at some times, one below the other."""
    figure = Picture(figsize=(8.6, 1.05 * count + 0.9))
    plots: Any = figure.subplots(count, len(cases), sharex=True, sharey=True)
    kinds = {"with axial force": ("shortening", 2.2), "no axial force": ("none", 1.3)}
    for column, case in enumerate(cases):
        for row, t in enumerate(np.linspace(0, case.duration, count)):
            plot = plots[row, column]
            for (colour, dashes), (label, (stiffening, width)) in zip(LINE_STYLES, kinds.items()):
                q = travel(case, stiffening=stiffening)["q"].sel(time=t, method="nearest").values
                x, y, _ = system_of(floating("H", ELEMENTS, stiffening)).axis("beam", q).T
                plot.plot(x, 1000 * y, color=colour, linestyle=dashes, linewidth=width, label=label)
                if stiffening != "none":
                    _name_ends(plot, x[[0, -1]], 1000 * y[[0, -1]], colour)
            plot.plot(SUPPORTS, [-3.5, -3.5], "^", SUPPORTS, [3.5, 3.5], "v", color="0.45", markersize=5)
            plot.set_title(f"{case.name}, t = {t:.2f} s", fontsize=9, loc="left", pad=2)
            plot.set_xlim(-0.85, 1.07)
            plot.set_ylim(-14, 22)
            draw_grid(plot)
        plots[-1, column].set_xlabel("x (m)")
    figure.supylabel("height (mm)", fontsize=10)
    handles, names = plots[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    return figure


def _name_ends(plot: Any, x: Any, y: Any, colour: str) -> None:
    """H is driven, and marked."""
    plot.plot(x[0], y[0], "o", color=colour, markersize=4.5)
    for name, place, height, side in (("$H$", x[0], y[0], "right"), ("$E$", x[1], y[1], "left")):
        off = (-6 if side == "right" else 5, 5)
        plot.annotate(name, (place, height), xytext=off, textcoords="offset points", ha=side, va="center", fontsize=10)
