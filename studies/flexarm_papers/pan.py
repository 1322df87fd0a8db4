"""Pan, Scott and Ulsoy (1990): a flexible beam that is pushed and pulled over two supports.

Section 5 of the paper, figures 7 to 9, is its one numerical example: a slow push, a fast push and a fast pull. They are
computed as the paper does it, by finite elements in a floating frame with constraints, and by a second description that
shares little with the first; then by the paper's own time integration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.foundation.numbers import Array
from flexarm.show.style import STYLES, Picture, grid
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
from flexarm_papers.study import Study

# --- the beam (section 5) ---

LENGTH, MASS_PER_METRE, RIGIDITY = 1.0, 1.0, 1.0  # m, kg/m, N m^2
SUPPORTS = (0.0, 0.25)  # m: the one nearest to H and the one nearest to E
DEFLECTION = 0.01  # m: of the observed end at the start

ELEMENTS, FEW_ELEMENTS = 16, 4  # here, and in the paper
MODES = 6  # of the second description

Describe = Callable[[str, int, Any, float], fa.Robot]


def floating(driven: str, elements: int, stiffening: Any, load: float = 0.0) -> fa.Robot:
    """The paper's way: elements in a frame that moves as the rigid beam would, led by its end H (left) or E (right);
    two constraints hold the beam on its supports. `load` (N/m) acts upward, all along the beam."""
    flexible = fa.Flexible(bend_y=elements, basis=fa.Elements(root="free"), stiffening=stiffening)
    return _supported([_beam(fa.SlidingPrismatic(0.0 if driven == "H" else np.pi), flexible)], load)


def rooted(driven: str, modes: int, stiffening: Any, load: float = 0.0) -> fa.Robot:
    """The same beam otherwise: modes of a beam clamped at its driven end, in a frame that rises and turns with it."""
    flexible = fa.Flexible(bend_y=modes, basis=fa.Modes(tip_mass=0), stiffening=stiffening)
    hinge = fa.Revolute("z", mount=(0, 0, 0 if driven == "H" else np.pi))
    rail = fa.Link("rail", 1.0, fa.SlidingPrismatic(np.pi / 2), mass=0.0, offset=(0, -0.5, 0))
    lift = fa.Link("lift", 1.0, fa.SlidingPrismatic(-np.pi / 2), mass=0.0)
    return _supported([rail, lift, _beam(hinge, flexible, at=0.0)], load)


def _beam(joint: Any, flexible: fa.Flexible, **more: Any) -> fa.Link:
    """Mass per metre and EI are all that matters, and all that is given: here a thin strip of steel has them."""
    steel = fa.Material(E=2e11, rho=7850.0)
    inertia = RIGIDITY / steel.E
    section = fa.Section.properties(A=MASS_PER_METRE / steel.rho, I_y=inertia, I_z=inertia)
    return fa.Link("beam", LENGTH, joint, section, steel, flexible, **more)


def _supported(links: list[fa.Link], load: float) -> fa.Robot:
    held = [fa.PointSupport("beam", (x, 0, 0), "y", name) for x, name in zip(SUPPORTS, ("H_side", "E_side"))]
    return fa.Robot("beam over supports", links=links, gravity=(0, load / MASS_PER_METRE, 0), constraints=held)


# --- its motions: equation (57) with the numbers of the captions ---


@dataclass(frozen=True)
class Case:
    """The overhang W beyond the support nearest to H falls from `start` by `travel` (m) in `duration` (s)."""

    name: str
    figure: int
    start: float
    travel: float
    duration: float
    observed: str

    @property
    def peak_speed(self) -> float:
        return 2 * abs(self.travel) / self.duration

    def place(self, x: float) -> fa.Profile:
        """Where the point of the beam x (m) right of H is over time; the origin is the support nearest to H."""
        return fa.cycloid(x - self.start, x - self.start + self.travel, self.duration)

    def acceleration(self, t: Array) -> Array:
        """Of the beam, to the right (m/s^2)."""
        return np.asarray(2 * np.pi * self.travel / self.duration**2 * np.sin(2 * np.pi * t / self.duration))


SLOW_PUSH = Case("slow push", 7, 0.725, 0.7, 3.5, "H")
FAST_PUSH = Case("fast push", 8, 0.725, 0.7, 0.7, "H")
FAST_PULL = Case("fast pull", 9, 0.025, -0.7, 0.7, "E")
CASES = (SLOW_PUSH, FAST_PUSH, FAST_PULL)


@cache
def travel(
    case: Case,
    describe: Describe = floating,
    driven: str = "H",
    count: int = ELEMENTS,
    stiffening: str = "shortening",
    rtol: float = 1e-5,
    **options: Any,
) -> fa.Run:
    """The run of a case, from rest, in the static shape of a uniform load that was just taken away."""
    system = _system(describe(driven, count, stiffening, 0.0))
    way = case.place(0.0 if driven == "H" else LENGTH)
    loaded = _system(describe(driven, count, "none", 1e-3))
    return fa.simulate(
        system,
        case.duration,
        motion={system.robot.links[0].name: way},
        q0=_bent(system, loaded, float(way(0.0)), _at(case.observed, driven)),
        points={end: ("beam", _at(end, driven)) for end in "HE"},
        sample=case.duration / 1400,
        rtol=rtol,
        progress=False,
        native=False,  # tracing takes most of the time, and compiling would take longer
        **options,
    )


@lru_cache(maxsize=16)
def _system(robot: fa.Robot) -> fa.System:
    return fa.System(robot, native=False)


def _at(end: str, driven: str) -> float:
    """Where an end is along the link, whose root is the driven end."""
    return 0.0 if end == driven else LENGTH


def _bent(system: fa.System, loaded: fa.System, place: float, observed: float) -> Array:
    """The static shape under a uniform load that lifts the observed end by DEFLECTION."""
    slide = system.robot.links[0].name
    straight = system.vector({f"{slide}.q": place} | ({"lift.q": 0.5} if slide == "rail" else {}))
    shape = fa.equilibrium(loaded, straight) - straight
    for _ in range(3):  # once would do, but for a frame that turns
        shape = shape * DEFLECTION / system.frame("beam", observed, straight + shape)[1, 3]
    return np.asarray(straight + shape)


def newmark(dt: float, stabilization: Any = "projection", method: str = "newmark") -> fa.Run:
    """The fast push with the paper's elements and steps of dt (s)."""
    return travel(FAST_PUSH, count=FEW_ELEMENTS, method=method, stabilization=stabilization, dt=dt)


def papers_own(dt: float) -> fa.Run:
    """The paper's scheme: Newmark's method, alpha = 0.25, delta = 0.5, stabilised with gamma = beta = 5 1/s."""
    return newmark(dt, method="newmark-baumgarte")


def finely_integrated() -> fa.Run:
    """The same beam without much error of integration."""
    return travel(FAST_PUSH, count=FEW_ELEMENTS, rtol=1e-6)


# --- what is read from them ---


def rise(run: fa.Run, end: str) -> Array:
    """Transverse displacement of an end (m)."""
    return np.asarray(run.data["points"].sel(point=end, axis="y").values)


def apart(case: Case, one: fa.Run, other: fa.Run) -> Array:
    """Distance of the observed end in two runs over time, as a fraction of the initial rise."""
    return np.asarray(np.abs(rise(one, case.observed) - rise(other, case.observed)) / DEFLECTION)


def vibration_energy(run: fa.Run, elements: int = ELEMENTS) -> Array:
    """Energy of bending and of transverse motion (J) in a run of `floating` elements driven at H."""
    transverse = run["v"].values.copy()
    transverse[:, 0] = 0.0
    energy = _system(floating("H", elements, "none")).energy(run["q"].values, transverse)
    return np.asarray(energy.kinetic + energy.elastic)


def first_frequency_squared(case: Case, stiffening: str, t: Array, elements: int = 8) -> Array:
    """((rad/s)^2), of the beam held where it is at time t, under the axial force of that time with the drive at H;
    where it is negative, that force would buckle the beam."""
    system = _system(floating("H", elements, stiffening))
    q, a = np.zeros((2, len(t), system.nq))
    q[:, 0], a[:, 0] = case.place(0.0)(t), case.acceleration(t)
    about, rows = system.linearization(q, 0 * q, a), system.constraint_jacobian(q)
    return np.array([_lowest(M[1:, 1:], K[1:, 1:], J[:, 1:]) for M, K, J in zip(about.M, about.K, rows)])


def _lowest(M: Array, K: Array, J: Array) -> float:
    from scipy.linalg import eigh, null_space

    free = null_space(J)
    return float(eigh(free.T @ K @ free, free.T @ M @ free, eigvals_only=True)[0])


# --- the page ---


def the_example(page: Page) -> None:
    page.heading("The example")
    page.text(
        f"""
        A beam of {LENGTH:g} m, {MASS_PER_METRE:g} kg/m and EI = {RIGIDITY:g} N m² lies on two supports
        {SUPPORTS[1]:g} m apart that hold it from above and from below. A uniform load bends it until one end, H (left)
        or E (right), has risen by {1000 * DEFLECTION:g} mm. At t = 0 the load is taken away, and the beam is moved
        lengthwise over the supports, from rest to rest, by W = C1 - C2/T (t - T/(2 pi) sin(2 pi t/T)), equation (57).
        The example is Buffinton and Kane's (1985), with whose curves the paper compares its own. All of them stood in
        figures that are lost: this page shows what is computed here.
        """
    )
    rows = [(each.name, each.figure, each.start, each.travel, each.duration, each.observed) for each in CASES]
    page.table(["case", "figure", "C1 (m)", "C2 (m)", "T (s)", "observed end"], rows)
    page.text(
        f"""
        The beam is described twice. First as in the paper: {ELEMENTS} beam elements (the paper has {FEW_ELEMENTS}) in a
        frame that follows the rigid beam, and two constraints that move along the beam. Then by {MODES} modes of a beam
        clamped at its driven end, in a frame that rises and turns with that end, geometrically exact
        (`stiffening="exact"`). "No axial force" means elements without the shortening of the bent beam.
        """
    )
    page.chosen(
        [
            (
                "which overhang W is",
                "that of H, beyond the support next to it; E's is then L - D - W",
                "then the observed end has the long overhang at the start of all three cases",
            ),
            (
                "where the beam is driven",
                "always at H",
                """equation (18) lets the axial force enter at the origin of the frame, the left end; if that is H, a
                falling W is a push and a rising W a pull, as the cases are called""",
            ),
            ("time step", "error control; fixed steps where the paper's scheme is shown", "none is given"),
            ("damping", "none", "none is mentioned"),
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
    below = {f"{FEW_ELEMENTS} elements": few, by_modes: modes}
    t, shown = elements.time.values, rise(elements, case.observed)
    panels = {
        f"rise of {case.observed} (mm)": {label: (t, 1000 * rise(run, case.observed)) for label, run in above.items()},
        f"difference from {ELEMENTS}\nelements (% of 10 mm)": {
            label: (t, 100 * (rise(run, case.observed) - shown) / DEFLECTION) for label, run in below.items()
        },
    }
    caption = f"Figure {case.figure} of the paper: end {case.observed} in the {case.name}. {seen}"
    page.figure(f"figure_{case.figure}", curves(panels), caption)
    most, most_without = (1000 * np.abs(rise(run, case.observed)).max() for run in (elements, without))
    page.text(
        f"""
        The end is at most {most:.1f} mm off its place ({most_without:.1f} mm without axial force). In percent of the
        initial rise the two descriptions differ by {100 * apart(case, elements, modes).max():.1f} % at most,
        {FEW_ELEMENTS} elements from {ELEMENTS} by {100 * apart(case, elements, few).max():.0f} %, and the axial force
        changes the curve by {100 * apart(case, elements, without).max():.0f} %.
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
        "first frequency squared\n((rad/s)²)": {label: (moments, square) for label, square in squares.items()},
        "energy of vibration\n(mJ)": {label: (t, energy) for label, energy in energies.items()},
    }
    page.figure(
        "push_and_pull",
        curves(panels),
        "The same overhang, drawn in by a push and by a pull. In the middle: the first frequency, squared, of the beam "
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
        panel = panels.setdefault(f"{case.name}:\nrise of {case.observed} (mm)", {})
        panel[f"driven at {end}"] = (run.time.values, 1000 * rise(run, case.observed))
    caption = (
        "The same motion led by one end or the other: a push led by H is a pull led by E, and the other way round."
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
        "The beam over its supports (triangles), in the push and in the pull; dashed without axial force. Heights are "
        "drawn much larger than lengths. The dot is the driven end H.",
    )
    panels = {
        f"{case.name}:\nreaction (N)": {
            f"at the support next to {end}": (run.time.values, run["reaction"].sel(row=f"{end}_side.y").values)
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
    figure = Picture(figsize=(10.5, 1.0 * count + 0.9))
    plots: Any = figure.subplots(count, len(cases), sharex=True, sharey=True)
    for column, case in enumerate(cases):
        for row, t in enumerate(np.linspace(0, case.duration, count)):
            plot = plots[row, column]
            for (colour, dashes), width, stiffening in zip(STYLES, (2.0, 1.2), ("shortening", "none")):
                q = travel(case, stiffening=stiffening)["q"].sel(time=t, method="nearest").values
                x, y, _ = _system(floating("H", ELEMENTS, stiffening)).axis("beam", q).T
                plot.plot(x, 1000 * y, color=colour, linestyle=dashes, linewidth=width)
                plot.plot(x[0], 1000 * y[0], "o", color=colour, markersize=2.2 * width)
            plot.plot(SUPPORTS, [-2.3, -2.3], "^", SUPPORTS, [2.3, 2.3], "v", color="0.45", markersize=5)
            plot.set_title(f"{case.name}, t = {t:.2f} s", fontsize=8, loc="left", pad=2)
            grid(plot)
        plots[-1, column].set_xlabel("x (m)")
    figure.supylabel("height (mm)", fontsize=10)
    return figure


def the_papers_integration(page: Page) -> None:
    page.heading("The paper's integration")
    schemes = {
        "5 1/s (the paper)": papers_own(1e-3),
        "50 1/s": newmark(1e-3, fa.Baumgarte(50, 50)),
        "0 (not stabilised)": newmark(1e-3, fa.Baumgarte(0, 0)),
        "projection": newmark(1e-3),
    }
    floor = 1e-20  # m: what is exactly zero has no logarithm
    violations = {name: (run.time.values, np.maximum(run["violation"].values, floor)) for name, run in schemes.items()}
    picture = curves({"violation of the supports (m)": violations})
    picture.axes[0].set_yscale("log")
    page.figure(
        "violation",
        picture,
        f"How far the beam is off its supports in the fast push, by gamma = beta: Newmark's method (alpha = 0.25, "
        f"delta = 0.5), {FEW_ELEMENTS} elements, steps of 1 ms. Projection after every step is flexarm's own way.",
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
    projected = 100 * apart(FAST_PUSH, schemes["projection"], finely_integrated()).max()
    left = [(1 + gamma * FAST_PUSH.duration) * np.exp(-gamma * FAST_PUSH.duration) for gamma in (5, 50)]
    page.text(
        f"""
        The table has the paper's scheme against a finer integration of the same {FEW_ELEMENTS} elements: its error is
        of second order, as it should be. Violations hardly matter to the motion: if they are projected away, with steps
        of 1 ms, end H is {projected:.2f} % off. gamma = 5 1/s is slow for so short a motion, after whose
        {FAST_PUSH.duration:g} s {100 * left[0]:.0f} % of a violation are left ({100 * left[1]:.0e} % with 50 1/s). In
        equation (54) the term beta² Phi has another sign than in (49); (49) is taken here, since with (54) violations
        would grow. The paper also found its scheme more efficient than codes of Gear's type: that depends on the codes
        of its time and is not repeated.
        """
    )


def the_number_of_elements(page: Page) -> None:
    page.heading("The number of elements and modes")
    few = (FEW_ELEMENTS, 6, 8)
    shown = {}
    for count in (ELEMENTS, *few[:2]):
        run = travel(SLOW_PUSH, count=count)
        late = (run.time.values > 1.7) & (run.time.values < 2.8)
        shown[f"{count} elements"] = (run.time.values[late], 1000 * rise(run, "H")[late])
    page.figure("elements", curves({"rise of H (mm)": shown}), "The slow push while the overhang becomes short.")
    runs = {f"{count} elements": {case: travel(case, count=count) for case in CASES} for count in few}
    for count in (4, MODES):
        by_modes = {case: travel(case, rooted, count=count, stiffening="exact") for case in CASES}
        runs[f"{count} modes, moving root"] = by_modes
    page.table(
        ["", *(case.name for case in CASES)],
        [
            (label, *(f"{100 * apart(case, travel(case), run).max():.1f} %" for case, run in found.items()))
            for label, found in runs.items()
        ],
    )
    page.text(
        f"""
        The table has the largest distance from {ELEMENTS} elements, in percent of the initial rise. A support makes the
        shear force jump, which a cubic or a sum of modes cannot follow; this matters once the overhang is short and
        vibrates fast. In the slow push {FEW_ELEMENTS} elements are then out of step, as the figure shows.
        """
    )


def what_the_paper_states(page: Page) -> None:
    page.heading("The paper's statements")
    push, slow = travel(FAST_PUSH), travel(SLOW_PUSH)
    t, peak, tail = push.time.values, rise(push, "H").max(), rise(push, "H")[push.time.values > 0.5]
    alike, unlike = (
        np.abs(rise(travel(FAST_PUSH, stiffening=kind), "H") - rise(travel(FAST_PULL, stiffening=kind), "E")).max()
        for kind in ("none", "shortening")
    )
    axial = {case: apart(case, travel(case), travel(case, stiffening="none")).max() for case in CASES}
    few_slow = apart(SLOW_PUSH, slow, travel(SLOW_PUSH, count=FEW_ELEMENTS))
    few_fast = apart(FAST_PUSH, push, travel(FAST_PUSH, count=FEW_ELEMENTS))
    leaves = slow.time.values[(few_slow > 0.05).argmax()]
    violating = apart(FAST_PUSH, papers_own(1e-3), newmark(1e-3)).max()
    stepping = apart(FAST_PUSH, papers_own(1e-3), finely_integrated()).max()
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
                "slow push: four elements agree excellently with another solution",
                f"they are within 5 % of {ELEMENTS} elements until {leaves:.1f} s, and then up to "
                f"{100 * few_slow.max():.0f} % off",
                few_slow.max() < 0.05,
            ),
            (
                "fast push: there is some disagreement beyond 0.5 s",
                f"four elements are off by up to {100 * few_fast[t < 0.4].max():.0f} % until 0.4 s, by "
                f"{100 * few_fast[t < 0.5].max():.0f} % until 0.5 s, then by {100 * few_fast[t > 0.5].max():.0f} %",
                few_fast[t > 0.5].max() > max(0.05, few_fast[t < 0.5].max()),
            ),
            (
                "it is unimportant, the amplitudes being small there",
                f"{1000 * np.sqrt((tail**2).mean()):.1f} mm (root mean square), {1000 * peak:.1f} mm at the peak",
                np.sqrt((tail**2).mean()) < peak / 5,
            ),
            (
                "gamma = beta = 5 1/s is satisfactory",
                f"violations move the end by up to {100 * violating:.2f} %, steps of 1 ms by {100 * stepping:.2f} %",
                violating < stepping,
            ),
        ]
    )
    page.text(
        """
        There is no other numerical example in the paper. The spherical robot on which its formulation was tried, by
        experiment and simulation, is the subject of a second paper (Pan, Ulsoy and Scott: Experimental model validation
        for a flexible robot with a prismatic joint, same journal and year, pages 315-323); this one prints none of that
        robot's parameters, so it is not reproduced.
        """
    )


STUDY = Study(
    name="pan",
    paper="Pan, Scott and Ulsoy: Dynamic modeling and simulation of flexible robots with prismatic joints, 1990",
    covers="figures 7 to 9",
    sections=(
        the_example,
        slow_push,
        fast_push,
        fast_pull,
        push_against_pull,
        the_driven_end,
        poses_and_reactions,
        the_papers_integration,
        the_number_of_elements,
        what_the_paper_states,
    ),
)
