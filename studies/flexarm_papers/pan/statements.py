"""What the paper states, judged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexarm_papers.page import Page
from flexarm_papers.pan.beam import (
    CASES,
    DEFLECTION,
    ELEMENTS,
    FAST_PULL,
    FAST_PUSH,
    FEW_ELEMENTS,
    SLOW_PUSH,
    Case,
    apart,
    finely_integrated,
    newmark,
    papers_own,
    rise,
    travel,
)
from flexarm_papers.pan.rigid_axial_force import (
    FINE_ELEMENTS,
    difference_by_equation_16,
    difference_from_shortened_beam,
    mesh_error,
)

UNDECIDED = "Buffinton and Kane's curve would decide it"


def what_the_paper_states(page: Page) -> None:
    page.heading("The paper's statements")
    page.text(
        f"""
        The paper compares its {FEW_ELEMENTS} elements with Buffinton and Kane's solution, whose curves and number of
        shapes are not available. What can be computed is the difference between {FEW_ELEMENTS} and {ELEMENTS} elements.
        Those {ELEMENTS} differ from equation (16) by {_listed(difference_from_shortened_beam)} % of the initial rise in
        the three cases, which is the nonlinearity of the model at this amplitude; with equation (16) itself they are
        within {_listed(mesh_error)} % of {FINE_ELEMENTS} elements. If Buffinton and Kane's solution has converged,
        the differences below are what the paper saw.
        """
    )
    few = travel(FAST_PUSH, count=FEW_ELEMENTS)
    peak, tail = rise(few, "H").max(), rise(few, "H")[few.time.values > 0.5]
    alike, unlike = (
        np.abs(rise(travel(FAST_PUSH, stiffening=kind), "H") - rise(travel(FAST_PULL, stiffening=kind), "E")).max()
        for kind in ("none", "shortening")
    )
    axial = {case: apart(case, travel(case), travel(case, stiffening="none")).max() for case in CASES}
    page.statements(
        [
            (
                "the peak speeds are 0.4 m/s (slow) and 2 m/s (fast)",
                " and ".join(f"{case.peak_speed:.3g} m/s" for case in CASES[:2]),
                np.allclose([case.peak_speed for case in CASES], [0.4, 2, 2]),
            ),
            (
                "without axial shortening, push and pull would respond alike",
                f"the curves are the same to {alike:.0e} m",
                alike < 1e-9,
            ),
            (
                "with it, the fast pull responds quite differently from the pushes",
                f"push and pull are up to {1000 * unlike:.0f} mm apart",
                unlike > DEFLECTION,
            ),
            (
                "at high speed the shortening can be important",
                f"it moves the end by up to {100 * axial[FAST_PUSH]:.0f} % of its initial rise in the fast push, by "
                f"{100 * axial[SLOW_PUSH]:.0f} % in the slow one",
                axial[FAST_PUSH] > 3 * axial[SLOW_PUSH],
            ),
            (
                "slow push: excellent agreement with Buffinton and Kane",
                f"{_few_elements(SLOW_PUSH, 1.7, 2.0)}; {UNDECIDED}",
                None,
            ),
            (
                "fast push: very good agreement with them on the whole, slight disagreement beyond 0.5 s",
                f"{_few_elements(FAST_PUSH, 0.4, 0.5)}: the disagreement begins where the paper saw it; {UNDECIDED}",
                None,
            ),
            (
                "fast pull: very good overall agreement with them",
                f"{_few_elements(FAST_PULL, 0.4, 0.5)}; {UNDECIDED}",
                None,
            ),
            (
                "fast push: the amplitudes beyond 0.5 s are small",
                f"{1000 * np.sqrt((tail**2).mean()):.1f} mm root mean square, {1000 * np.abs(tail).max():.1f} mm at "
                f"most, against {1000 * peak:.1f} mm at the peak ({FEW_ELEMENTS} elements)",
                np.sqrt((tail**2).mean()) < peak / 5,
            ),
            _stabilisation(),
            (
                "the scheme is more efficient than codes of Gear's type",
                "not repeated: the codes, their tolerances and their times on one machine would decide it",
                None,
            ),
        ]
    )
    page.text(
        """
        There is no other numerical example in the paper. The spherical robot on which its formulation was tried, by
        experiment and simulation, is the subject of its second part (Pan, Ulsoy and Scott, Experimental model
        validation for a flexible robot with a prismatic joint, ASME Journal of Mechanical Design 112 (3), 1990,
        pp. 315-323, doi:10.1115/1.2912610); this one prints none of that robot's parameters, so it is not computed.
        """
    )


def _listed(measure: Callable[[Case], float]) -> str:
    """Format a measure of the three cases in percent."""
    return ", ".join(f"{100 * measure(case):.2f}" for case in CASES)


def _few_elements(case: Case, *until: float) -> str:
    """How far the paper's elements are from many, as time goes on."""
    run = travel(case, count=FEW_ELEMENTS)
    off, t = apart(case, travel(case), run), run.time.values
    steps = [f"{100 * off[t < end].max():.0f} % until {end:g} s" for end in until]
    literal = difference_by_equation_16(case, FEW_ELEMENTS)
    return (
        f"{FEW_ELEMENTS} elements differ from {ELEMENTS} by up to {', '.join(steps)} and then {100 * off.max():.0f} % "
        f"of the initial rise ({100 * literal:.0f} % with equation (16))"
    )


def _stabilisation() -> tuple[str, str, bool]:
    """Whether violations matter beside the error of the steps, whichever they were."""
    found = {}
    for dt in (2e-3, 1e-3, 5e-4):
        own = papers_own(dt)
        found[dt] = (apart(FAST_PUSH, own, newmark(dt)).max(), apart(FAST_PUSH, own, finely_integrated()).max())
    told = ", ".join(f"{100 * a:.2g} and {100 * b:.2g} % with {1000 * dt:g} ms" for dt, (a, b) in found.items())
    return (
        "gamma = beta = 5 1/s is satisfactory",
        f"the end is moved by violations and by the error of the steps by up to {told}",
        all(a < b for a, b in found.values()),
    )
