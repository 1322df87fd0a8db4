"""Bien and My, "Using extended assembly algorithm in finite element method in building dynamic equation process of
flexible robot" (2018): one link on a hinge with 1, 3, 5 and 7 elements, one link on a slide with 20, and two links on
hinges with one element each, driven from rest; and the mass matrix by the paper's assembly of elements."""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import Any, Literal

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm_papers import drawings
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
from flexarm_papers.runs import simulate
from flexarm_papers.study import Study

ELEMENTS = (1, 3, 5, 7)  # of figure 4
FINE = 20  # elements of figure 5, and of the link that figure 4's are measured against
DURATION = 10.0  # s, Table 2
SAMPLE = 0.005  # s
POSTURE = (0.4, 0.02, 0.03, -0.7, 0.01, -0.02)  # joints and end nodes of two bent links, at which M is compared

# Table 2
LENGTH, FORE_LENGTH = 1.0, 0.5  # m
AREA, E, RHO = 2.5e-5, 2e10, 7850.0  # m^2, Pa, kg/m^3
PAYLOAD, FORE_PAYLOAD = 0.1, 0.15  # kg

# chosen: the paper's values stood in its figures 2 and 3, or nowhere
SQUARE = fa.Section.rectangle(0.005, 0.005)
STRIP = fa.Section.rectangle(0.001, 0.025)  # has the same area
EI, STRIP_EI = (E * section.at(0.0).I_z for section in (SQUARE, STRIP))  # N m^2
DAMPING = 1e-3  # s, Kelvin-Voigt
SWITCHES = (1.0, 2.0)  # s
AMPLITUDE = 0.05  # N m on the hinge, N on the slide
UPPER_AMPLITUDE, FORE_AMPLITUDE = 0.02, 0.005  # N m

COARSE, FINER = "1 element each", "4 elements each"
FORESHORTENED, MODES = "4 elements each, with foreshortening", "3 modes each, with foreshortening"

Stiffening = Literal["none", "shortening", "exact"]


# --- robots ---


def link(name: str, elements: int, stiffening: Stiffening = "none", **more: Any) -> fa.Link:
    """A link of Table 2. The paper's equations know no foreshortening: stiffening "none"."""
    fields: dict[str, Any] = {
        "length": LENGTH,
        "section": SQUARE,
        "material": fa.Material(E=E, rho=RHO, damping=DAMPING),
        "flexible": fa.Flexible(bend_y=elements, basis="elements", stiffening=stiffening),
    }
    return fa.Link(name, **{**fields, **more})


def on_a_hinge(elements: int, stiffening: Stiffening = "none") -> fa.Robot:
    """Figure 1a."""
    beam = link("beam", elements, stiffening, payload=fa.PointMass(PAYLOAD))
    return fa.Robot("link on a hinge", links=[beam])


def on_a_slide(elements: int, across: bool = True) -> fa.Robot:
    """Figure 1c. The link lies along x; its root slides along y, or with `across=False` along x."""
    turn = pi / 2 if across else 0.0
    slide = fa.SlidingPrismatic(angle=-turn)  # rides along the x axis of the base, which is turned
    beam = link("beam", elements, joint=slide, payload=fa.PointMass(PAYLOAD))
    return fa.Robot("link on a slide", links=[beam], base=fa.Pose((0, 0, 0), (0, 0, turn)))


def two_links(elements: int, stiffening: Stiffening = "none") -> fa.Robot:
    """Figure 1b."""
    fore = link("fore", elements, stiffening, length=FORE_LENGTH, payload=fa.PointMass(FORE_PAYLOAD))
    return fa.Robot("two links on hinges", links=[link("upper", elements, stiffening), fore])


# --- computations ---


def applied() -> fa.Profile:
    """Torque or force on the single link (figure 2)."""
    return fa.bang_bang(AMPLITUDE, SWITCHES)


def applied_to_two_links() -> dict[str, fa.Profile]:
    """Torques on the two links (figure 3)."""
    return {"upper": fa.bang_bang(UPPER_AMPLITUDE, SWITCHES), "fore": fa.bang_bang(FORE_AMPLITUDE, SWITCHES)}


@lru_cache
def single(robot: fa.Robot, duration: float = DURATION) -> fa.Run:
    return simulate(robot, duration, torque={"beam": applied()}, sample=SAMPLE, native=False)


@lru_cache
def double(robot: fa.Robot, duration: float = DURATION) -> fa.Run:
    return simulate(robot, duration, torque=applied_to_two_links(), sample=SAMPLE, native=False)


def flexural(run: fa.Run, name: str = "beam") -> Array:
    """Flexural displacement of a link's end (m)."""
    return np.asarray(run.deflection(name).sel(axis="y").values)


def shape_along(run: fa.Run, at: float) -> tuple[Array, Array]:
    """Places along the link and the flexural displacement there (m) at the sample nearest to a time."""
    x, bent = fa.System(run.robot, native=False).deflection("beam", run.data["q"].sel(time=at, method="nearest").values)
    return x, bent[:, 1]


def momentum(run: fa.Run) -> Array:
    """Momentum of the first joint's coordinate: what the time integral of the torque or force must equal."""
    M = fa.System(run.robot, native=False).mass_matrix(run.data["q"].values)
    return np.asarray(np.einsum("tj,tj->t", M[:, 0], run.data["v"].values))


def vibrations(robot: fa.Robot, count: int = 2) -> Array:
    """The lowest angular frequencies above the rigid-body motion (rad/s)."""
    found = fa.modes(robot)
    return np.asarray(2 * pi * found.frequencies[~found.rigid][:count])


def exact_vibrations(slides: bool, count: int = 2) -> Array:
    """The same of the Euler-Bernoulli beam, whose root hangs in a hinge or on a slide without inertia of its own.

    z = beta L solves coth z - cot z + 2 m z = 0 (hinge), tan z + tanh z + 2 m z = 0 (slide), m the payload over the
    mass of the beam: the first with w = w'' = 0 at the root, the second with w' = w''' = 0.
    """
    from scipy.optimize import brentq

    mass = RHO * AREA * LENGTH
    m = PAYLOAD / mass

    def hinge(z: float) -> float:
        return float(1 / np.tanh(z) - 1 / np.tan(z) + 2 * m * z)

    def slide(z: float) -> float:
        return float(np.tan(z) + np.tanh(z) + 2 * m * z)

    edge = 1e-9
    first = 0.5 if slides else 1.0  # the k-th root lies between poles (k - 1 + first) pi and (k + first) pi
    z = [brentq(slide if slides else hinge, (k + first) * pi + edge, (k + 1 + first) * pi - edge) for k in range(count)]
    return np.asarray(np.array(z) ** 2 * np.sqrt(EI / (mass * LENGTH**3)))


def orders(counts: tuple[int, ...], errors: Array) -> Array:
    """With which power of the element's length an error falls, from each number of elements to the next."""
    return np.asarray(-np.diff(np.log(errors)) / np.diff(np.log(counts)))


def mass_matrix_differences(elements: int = 1) -> dict[str, float]:
    """By route of assembly: the largest difference from `System`'s mass matrix of two bent links."""
    robot = two_links(elements)
    system = fa.System(robot, native=False)
    q = np.zeros(system.nq)
    for k, name in enumerate(("upper", "fore")):  # bent at the end nodes
        first = system.index(f"{name}.q")
        q[first], q[first + 2 * elements - 1 : first + 2 * elements + 1] = (
            POSTURE[3 * k],
            POSTURE[3 * k + 1 : 3 * k + 3],
        )
    M = system.mass_matrix(q)
    routes: tuple[Literal["extended", "global"], ...] = ("extended", "global")
    return {
        route: float(np.abs(fa.equations(robot, route=route).lambdify()(q, 0 * q)["M"] - M).max()) for route in routes
    }


def coupling_of_slide(across: bool) -> float:
    """The largest entry of the mass matrix between the slide and a displacement (kg, of a slope kg m)."""
    M = fa.System(on_a_slide(FINE, across), native=False).mass_matrix()
    return float(np.abs(M[0, 1:]).max())


def hinged_runs() -> dict[int, fa.Run]:
    """By number of elements."""
    return {count: single(on_a_hinge(count)) for count in (*ELEMENTS, FINE)}


def two_link_models() -> dict[str, fa.Robot]:
    return {
        COARSE: two_links(1),
        "2 elements each": two_links(2),
        FINER: two_links(4),
        FORESHORTENED: two_links(4, "shortening"),
        MODES: fa.library.two_link_arm(DAMPING),
    }


# --- the page ---


def parameters(page: Page) -> None:
    bends = np.abs(flexural(single(on_a_hinge(FINE)))).max() / LENGTH
    weaker = EI / STRIP_EI
    page.text(f"""
        Three robots in a horizontal plane are driven from rest for {DURATION:g} s: a flexible link on a hinge, a
        flexible link on a slide, and an arm of two flexible links. Their equations are put together from the matrices
        of the elements by an algorithm that keeps the joints among the coordinates.
        """)
    page.figure(
        "robots",
        drawings.planar_links(LENGTH, FORE_LENGTH),
        "The three robots: joint coordinates q_1 and q_2, torques tau_1 and tau_2 or a force F, payloads m_t, elements "
        "between white marks; u is the flexural displacement of the end of a link from the line that leaves its root "
        "straight on.",
    )
    page.heading("Parameters (Table 2) and inputs (figures 2 and 3)")
    page.table(
        ["", "link on a hinge", "link on a slide", "two links on hinges"],
        [
            ("elements", ", ".join(map(str, ELEMENTS)), FINE, "1 each"),
            ("length (m)", LENGTH, LENGTH, f"{LENGTH}, {FORE_LENGTH}"),
            ("payload (kg)", PAYLOAD, PAYLOAD, FORE_PAYLOAD),
            *((name, *[f"{value:g}"] * 3) for name, value in (("A (m^2)", AREA), ("rho (kg/m^3)", RHO), ("E (Pa)", E))),
        ],
    )
    page.chosen(
        [
            (
                "second moment of area",
                f"square of 5 x 5 mm, I = {EI / E:.4g} m^4",
                f"fits A; a strip of 25 x 1 mm does as well, but bends {weaker:.0f} times as much under the same "
                f"torque: by {weaker * bends:.0%} of its length instead of {bends:.1%} on the hinge",
            ),
            (
                "torques and forces",
                f"bang-bang, +/- {AMPLITUDE} N m or N on the single link, +/- {UPPER_AMPLITUDE} and "
                f"{FORE_AMPLITUDE} N m on two links, switched at {SWITCHES[0]:g} and {SWITCHES[1]:g} s",
                "figures 2 and 3 were not at hand; with these, links bend by a few hundredths of their length",
            ),
            ("damping", f"Kelvin-Voigt, {DAMPING:g} s", "the matrix D is named, its numbers are not given"),
            ("inertia of hubs, mass of the slide", "none", "not mentioned"),
            ("which way the slide goes", "across the link", "see the link on a slide below"),
        ]
    )
    page.text("E is taken as printed, a tenth of that of the steel that has the printed density.")
    page.changed(
        [
            (
                "1, 3, 5 and 7 elements on the hinge, 1 each on two links",
                f"the same, and {FINE} on the hinge, 2 and 4 each on two links",
                "to see what more elements change",
            ),
            (
                "no foreshortening of bent links",
                "the same; with foreshortening, and with modes, beside it",
                "to see what the paper's equations leave out",
            ),
        ]
    )
    t = np.linspace(0, 4, 801)
    page.figure(
        "inputs",
        curves(
            {
                "single link,\n$\\tau_1$ (N m) or $F$ (N)": {"torque or force": (t, applied()(t))},
                "two links (N m)": {name: (t, torque(t)) for name, torque in applied_to_two_links().items()},
            }
        ),
        f"The inputs chosen for the paper's figures 2 and 3; nothing acts after {SWITCHES[1]:g} s.",
    )


def extended_assembly(page: Page) -> None:
    page.heading("The extended assembly")
    differences = {count: mass_matrix_differences(count) for count in (1, 2)}
    most = {count: max(found.values()) for count, found in differences.items()}
    whole = fa.equations(two_links(1), boundary="kept")
    columns, first = fa.equations(on_a_hinge(2), boundary="kept").link_mass("beam")
    empty = {(i + 1, j + 1) for i in range(7) for j in range(i, 7) if first[i, j] == 0}
    said = {(2, 6), (2, 7), (3, 6), (3, 7)}
    page.text(f"""
        `fa.equations(robot, route="extended")` is the paper's algorithm (Table 1): matrices of elements are added into
        those of links, and these into the robot's. `route="global"` adds every element into the robot's matrix at once.
        At a posture with both links bent, the mass matrix of the two-link arm with two elements each differs from that
        which `fa.System` finds from the kinetic energy by {differences[2]["extended"]:.1e} (extended) and
        {differences[2]["global"]:.1e} (global), in SI units: rounding.
        """)
    page.statements(
        [
            (
                "the robot's matrix has 2 n_1 + 2 n_2 + 6 rows: 10 with one element each",
                f"{len(whole.names)}, clamped nodes included; without them {len(fa.equations(two_links(1)).names)}",
                len(whole.names) == 10,
            ),
            (
                "the matrix of one link with two elements has 7 rows; its entries (2, 6), (2, 7), (3, 6), (3, 7) are 0",
                f"{len(columns)} rows; zero above the diagonal: {', '.join(map(str, sorted(empty)))}"
                + (", the last because the two elements are equal" if empty - said == {(4, 5)} else ""),
                len(columns) == 7 and said <= empty,
            ),
            (
                "with n_1 = n_2 = 2 the algorithm gives what is assembled by hand",
                f"both routes agree with the kinetic energy, which needs no assembly, to {most[2]:.1e} ({most[1]:.1e} "
                "with one element each)",
                max(most.values()) < 1e-12,
            ),
        ]
    )


def elements_label(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"


def rotational_joint(page: Page) -> None:
    page.heading("Single link on a hinge (figure 4)")
    runs = hinged_runs()
    for count, run in runs.items():
        page.data(f"hinge_{count}", run)
    labels = {count: elements_label(count) for count in ELEMENTS}
    closer = slice(round(0.8 / SAMPLE), round(1.8 / SAMPLE) + 1)
    page.figure(
        "figure_4",
        curves(
            {
                "$q_1$ (rad)": {labels[n]: (runs[n].time, runs[n]["beam.q"]) for n in ELEMENTS},
                "$u$ of the end (mm)": {labels[n]: (runs[n].time, 1000 * flexural(runs[n])) for n in ELEMENTS},
                "the same, closer (mm)": {
                    labels[n]: (runs[n].time[closer], 1000 * flexural(runs[n])[closer]) for n in ELEMENTS
                },
                f"$u$ off {labels[7]} (mm)": {
                    labels[n]: (runs[n].time, 1000 * (flexural(runs[n]) - flexural(runs[7]))) for n in (3, 5)
                },
            }
        ),
        "For figure 4: joint angle and flexural displacement of the link's end, with 1, 3, 5 and 7 elements, in the "
        "middle and below, closer. One element swings too far and at the wrong pace; three or more can hardly be told "
        "apart. At the bottom: how far 3 and 5 elements are from 7.",
    )


def convergence(page: Page) -> None:
    runs = hinged_runs()
    peak = float(np.abs(flexural(runs[FINE])).max())
    exact = exact_vibrations(slides=False)
    found = {n: vibrations(on_a_hinge(n)) for n in runs}
    away = {n: float(np.abs(flexural(run) - flexural(runs[FINE])).max()) / peak for n, run in runs.items()}
    page.table(
        ["elements", "1st frequency (rad/s)", "error", "2nd (rad/s)", "error", "largest displacement (mm)", "off by"],
        [
            (
                n,
                *(text for k in (0, 1) for text in (f"{found[n][k]:.3f}", f"{found[n][k] / exact[k] - 1:.1e}")),
                f"{1000 * np.abs(flexural(run)).max():.2f}",
                f"{away[n]:.1%}" if n != FINE else "-",
            )
            for n, run in runs.items()
        ],
    )
    several = ELEMENTS[1:]
    rates = orders(several, np.array([found[n][0] / exact[0] - 1 for n in several]))
    stiff = single(on_a_hinge(ELEMENTS[-1], "exact"))
    apart = float(np.linalg.norm(stiff.tip - runs[ELEMENTS[-1]].tip, axis=1).max())
    page.text(f"""
        Errors are those against the Euler-Bernoulli beam ({exact[0]:.3f} and {exact[1]:.3f} rad/s); "off by" is the
        largest difference of the displacement from that with {FINE} elements, over its peak. From 3 to 5 and from 5 to
        7 elements the error of the first frequency falls with the power {rates[0]:.2f} and {rates[1]:.2f} of the
        element's length; cubic elements should have 4. Foreshortening, which the paper's equations leave out, moves
        the tip by {1000 * apart:.1f} mm at most (7 elements, `stiffening="exact"`).
        """)


def shape_of_the_link(page: Page) -> None:
    runs = hinged_runs()
    peak = float(np.abs(flexural(runs[FINE])).max())
    at = float(runs[FINE].time[int(np.abs(flexural(runs[FINE])).argmax())])
    shapes = {n: shape_along(run, at) for n, run in runs.items()}
    page.figure(
        "shape",
        curves(
            {
                "$u$ along the link (mm)": {
                    elements_label(n): (x, 1000 * bent) for n, (x, bent) in shapes.items() if n in (1, 3, FINE)
                }
            },
            xlabel="place along the link (m)",
        ),
        f"Flexural displacement along the link at {at:.2f} s, when its end is furthest out, with 1, 3 and {FINE} "
        "elements; the last two lie on each other.",
    )
    along = {n: float(np.abs(bent - shapes[FINE][1]).max()) / peak for n, (_, bent) in shapes.items()}
    page.statements(
        [
            (
                "many elements suit the elastic displacement at any point of the link",
                f"at {at:.2f} s the displacement is wrong by {along[1]:.0%} of its peak somewhere along the link with "
                f"1 element, by {along[3]:.2%} with 3 and {along[7]:.2%} with 7: three would do here",
                along[1] > along[3] > along[7],
            )
        ]
    )


def translational_joint(page: Page) -> None:
    page.heading("Single link on a slide (figure 5)")
    coupling = {across: coupling_of_slide(across) for across in (True, False)}
    exact, found = exact_vibrations(slides=True), vibrations(on_a_slide(FINE))
    run = single(on_a_slide(FINE))
    page.data("slide", run)
    page.text(f"""
        The text does not say which way the slide goes. It goes across the link here: the elements keep their length
        L_1/n_1 (Table 2), so the link does not slide out of a guide, and the joint's coordinate stands in the matrix of
        every element beside its displacements. For a slide along the link that coupling is {coupling[False]:g} kg:
        a force would not bend the link, and there would be no displacement to show. Across the link it is
        as large as {coupling[True]:.3g} kg.
        """)
    page.figure(
        "figure_5",
        curves(
            {
                "$q_1$ (m)": {"slide": (run.time, run["beam.q"])},
                "$u$ of the end (mm)": {"slide": (run.time, 1000 * flexural(run))},
            }
        ),
        f"For figure 5: displacement of the slide and flexural displacement of the link's end, {FINE} elements.",
    )
    still = AMPLITUDE * SWITCHES[0] ** 2 / (RHO * AREA * LENGTH + PAYLOAD)  # two halves of a bang-bang
    page.text(f"""
        The slide ends at {float(run["beam.q"][-1]):.4f} m; a rigid link of the same mass would be {still:.4f} m away.
        The link swings by up to {1000 * np.abs(flexural(run)).max():.1f} mm, with {found[0]:.4f} and
        {found[1]:.3f} rad/s; the exact beam on a slide without mass has {exact[0]:.4f} and {exact[1]:.3f} rad/s.
        """)


def two_link_arm(page: Page) -> None:
    page.heading("Two links on hinges (figure 6)")
    runs = {label: double(robot) for label, robot in two_link_models().items()}
    for name, label in (("two_links", COARSE), ("two_links_fine", FORESHORTENED), ("two_links_modes", MODES)):
        page.data(name, runs[label])
    shown = {label: runs[label] for label in (COARSE, FINER, MODES)}
    begin = slice(round(4.0 / SAMPLE) + 1)  # later there is nothing new to see
    angles = {
        f"angle of {name} (rad)": {label: (run.time, run[f"{name}.q"]) for label, run in shown.items()}
        for name in ("upper", "fore")
    }
    ends = {
        f"end of {name} (mm)": {
            label: (run.time[begin], 1000 * flexural(run, name)[begin]) for label, run in shown.items()
        }
        for name in ("upper", "fore")
    }
    page.figure(
        "figure_6",
        curves({**angles, **ends}, columns=2),
        "For figure 6: joint angles and flexural displacements of the ends of both links, with one element "
        "each as in the paper, with four, and with three modes each. After the torques have ended the joints drift "
        "slowly, more so with foreshortening.",
    )


def two_link_convergence(page: Page) -> None:
    runs = {label: double(robot) for label, robot in two_link_models().items()}
    first = {label: vibrations(robot) for label, robot in two_link_models().items()}
    page.table(
        ["model", "frequencies (rad/s)", *(f"tip.y at {t} s (mm)" for t in (1, 2, 5, 10)), "largest end of fore (mm)"],
        [
            (
                label,
                ", ".join(f"{each:.2f}" for each in first[label]),
                *(f"{1000 * float(run.tip.sel(axis='y').sel(time=t, method='nearest')):.2f}" for t in (1, 2, 5, 10)),
                f"{1000 * np.abs(flexural(run, 'fore')).max():.2f}",
            )
            for label, run in runs.items()
        ],
    )
    high = [first[COARSE][k] / first[FORESHORTENED][k] - 1 for k in (0, 1)]
    bend = np.abs(flexural(runs[COARSE], "fore")).max() / np.abs(flexural(runs[FORESHORTENED], "fore")).max()
    drift = {
        label: 1000 * float(np.abs(run.tip[-1] - runs[FORESHORTENED].tip[-1]).max()) for label, run in runs.items()
    }
    page.text(f"""
        One element each is too stiff: its first two frequencies are {high[0]:.0%} and {high[1]:.0%} too high, and the
        forearm's end swings {bend:.1f} times as far from the tangent at its root as it should. The tip hardly notices:
        it is {drift[COARSE]:.1f} mm off at {DURATION:g} s, and {drift[FINER]:.1f} mm of that do not go away
        with more elements, but with the foreshortening that the paper's equations leave out.
        """)


STUDY = Study(
    name="bien",
    short="Bien and My (2018)",
    paper="D. X. Bien and C. A. My, Using extended assembly algorithm in finite element method in building dynamic "
    "equation process of flexible robot, 2018 (Military Technical Academy; accepted 15 September 2018, the journal is "
    "not in the text at hand)",
    covers="figures 2 to 6, Table 2",
    sections=(
        parameters,
        extended_assembly,
        rotational_joint,
        convergence,
        shape_of_the_link,
        translational_joint,
        two_link_arm,
        two_link_convergence,
    ),
)
