"""The paper's integration in time, and how many elements it takes."""

from __future__ import annotations

import numpy as np

import flexarm as fa
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
from flexarm_papers.pan.beam import (
    CASES,
    DEFLECTION,
    ELEMENTS,
    FAST_PUSH,
    FEW_ELEMENTS,
    MODES,
    SLOW_PUSH,
    Case,
    apart,
    finely_integrated,
    newmark,
    papers_own,
    rise,
    rooted,
    travel,
)
from flexarm_papers.pan.rigid_axial_force import (
    FINE_ELEMENTS,
    difference_by_equation_16,
    difference_from_shortened_beam,
    mesh_error,
)


def the_papers_integration(page: Page) -> None:
    page.heading("The paper's integration")
    projection = newmark(1e-3)
    schemes = {
        "5 1/s (the paper)": papers_own(1e-3),
        "50 1/s": newmark(1e-3, fa.Baumgarte(50, 50)),
        "0 (not stabilised)": newmark(1e-3, fa.Baumgarte(0, 0)),
    }
    kept = float(projection["violation"].values.max())
    violations = {rf"$\gamma = \beta$ = {label}": _violation(run) for label, run in schemes.items()}
    picture = curves({"violation of the supports (m)": violations})
    picture.axes[0].set_yscale("log")
    picture.axes[0].set_ylim(1e-10, 1e-4)
    page.figure(
        "violation",
        picture,
        f"How far the beam is off its supports in the fast push, by gamma = beta: Newmark's method (alpha = 0.25, "
        f"delta = 0.5), {FEW_ELEMENTS} elements, steps of 1 ms. Projection after every step, flexarm's own way, keeps "
        f"it below {kept:.0e} m, far below the picture.",
    )
    page.table(
        ["time step (ms)", "largest violation (m)", "end H off (% of 10 mm)", "energy balance (mJ)"],
        [
            (
                f"{1000 * dt:g}",
                f"{run['violation'].values.max():.1e}",
                f"{100 * apart(FAST_PUSH, run, finely_integrated()).max():.2f}",
                f"{1000 * np.abs(run['balance'].values).max():.2f}",
            )
            for dt, run in ((dt, papers_own(dt)) for dt in (4e-3, 2e-3, 1e-3, 5e-4))
        ],
    )
    projected = 100 * apart(FAST_PUSH, projection, finely_integrated()).max()
    left = [(1 + gamma * FAST_PUSH.duration) * np.exp(-gamma * FAST_PUSH.duration) for gamma in (5, 50)]
    page.text(
        f"""
        The table has the paper's scheme against a finer integration of the same {FEW_ELEMENTS} elements: its error is
        of second order, as it should be. Violations hardly matter to the motion: if they are projected away, with steps
        of 1 ms, end H is {projected:.2f} % off. gamma = 5 1/s is slow for so short a motion, after whose
        {FAST_PUSH.duration:g} s {100 * left[0]:.0f} % of a violation are left ({100 * left[1]:.0e} % with 50 1/s). In
        equation (54) the term beta^2 Phi has another sign than in (49); (49) is taken here, since with (54) violations
        would grow.
        """
    )


def _violation(run: fa.Run) -> tuple[np.ndarray, np.ndarray]:
    """What is exactly zero has no logarithm."""
    values = run["violation"].values
    return run.time.values, np.where(values > 0, values, np.nan)


def the_number_of_elements(page: Page) -> None:
    page.heading("The number of elements and modes")
    few = (FEW_ELEMENTS, 6, 8)
    shown = {}
    for count in (ELEMENTS, *few[:2]):
        run = travel(SLOW_PUSH, count=count)
        late = (run.time.values > 1.7) & (run.time.values < 2.8)
        shown[f"{count} elements"] = (run.time.values[late], 1000 * rise(run, "H")[late])
    page.figure(
        "elements",
        curves({"rise of $H$ (mm)": shown}),
        "The slow push from 1.7 to 2.8 s, while the overhang of H becomes short: four elements fall out of step.",
    )
    runs = {f"{count} elements": {case: travel(case, count=count) for case in CASES} for count in few}
    for count in (4, MODES):
        by_modes = {case: travel(case, rooted, count=count, stiffening="exact") for case in CASES}
        runs[f"{count} modes, moving root"] = by_modes
    page.table(
        ["", *(f"{case.name}{kind}" for case in CASES for kind in ("", ", equation (16)"))],
        [
            (label, *(f"{100 * each:.1f} %" if each is not None else "-" for each in errors(found)))
            for label, found in runs.items()
        ],
    )
    page.text(
        f"""
        The table shows the largest difference from {ELEMENTS} elements, in percent of the initial rise. The columns of
        equation (16) compare elements of that model among themselves. At a support the shear force jumps, which cubic
        elements or a few modes cannot represent. This matters once the overhang is short and vibrates fast: in the
        slow push {FEW_ELEMENTS} elements are then out of phase, as the figure shows.
        """
    )


def errors(runs: dict[Case, fa.Run]) -> list[float | None]:
    """Return the differences from ELEMENTS elements case by case, with the package's model and with equation (16)."""
    found: list[float | None] = []
    for case, run in runs.items():
        elements = count_of(run)
        found.append(float(apart(case, travel(case), run).max()))
        found.append(None if elements is None else difference_by_equation_16(case, elements))
    return found


def count_of(run: fa.Run) -> int | None:
    """Return the number of elements of a run, None if its basis is not elements."""
    flexible = run.robot.link("beam").flexible
    assert flexible is not None
    return flexible.bend_y if isinstance(flexible.basis, fa.Elements) else None


def equation_16_literally(page: Page) -> None:
    """Compare the model of this page with the paper's rigid axial force."""
    page.heading("Equation (16) taken literally")
    small = DEFLECTION / 5
    page.table(
        [
            "case",
            f"difference, rise of {1000 * DEFLECTION:g} mm",
            f"difference, rise of {1000 * small:g} mm",
            f"error of {ELEMENTS} elements",
        ],
        [
            (
                case.name,
                f"{100 * difference_from_shortened_beam(case):.2f} %",
                f"{100 * difference_from_shortened_beam(case, small):.2f} %",
                f"{100 * mesh_error(case):.2f} %",
            )
            for case in CASES
        ],
    )
    page.text(
        f"""
        In the paper the axial force of the rigid beam, F(x) = -mu (L - x) a with the drive at H, enters as a geometric
        stiffness, equation (16). The model is then linear. It is computed here with elements and Runge-Kutta steps
        that share only the prescribed motion with flexarm (`studies/flexarm_papers/pan/rigid_axial_force.py`). The
        model of the other sections gives the shortened beam its kinetic energy instead, and is nonlinear. The second
        and third columns show the largest difference between the two, with {ELEMENTS} elements each, in percent of the
        initial rise: it falls with the amplitude. The last column is the difference of {ELEMENTS} from {FINE_ELEMENTS}
        elements in equation (16).
        """
    )
