"""Moolam, Braghin and Vicentini, "Dynamic modeling and simulation of spatial manipulator with flexible links and
joints": a spatial arm with three hinges under constant torques, rigid, with flexible links, with flexible joints."""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm.plotting.colours import LINE_STYLES
from flexarm.plotting.style import Picture, draw_grid
from flexarm_papers import drawings
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
from flexarm_papers.runs import simulate
from flexarm_papers.study import Study

LINKS = ("column", "upper", "fore")
TORQUE = 400.0  # N m at each joint
STIFFNESS = 5000.0  # N m/rad of each joint
ELEMENTS = 2  # of each link

# chosen: the paper does not tell
ROTOR = 5.0  # kg m^2, each motor's, as its joint feels it
ROTORS = (1.0, 5.0, 10.0)  # kg m^2, tried
DURATION = 1.0  # s
SAMPLE = 1e-3  # s

LINKS_BEND, ALL_BENDS = "flexible links", "flexible links and joints"
NOTABLE = 1e-3  # of the reach: deviations above this are called significant
BENT = {"upper": -pi / 4, "fore": pi / 2}  # rad, another start: upper arm raised, forearm down


# --- robots ---


def flexible_joints(rotor: float = ROTOR) -> fa.Robot:
    """Table 1, links of two elements each, 5000 N m/rad in every joint."""
    return fa.library.rrr_arm(elastic_joints=True, rotor_inertia=rotor)


def flexible_links(rotor: float = ROTOR) -> fa.Robot:
    """The same with rigid joints. It keeps the rotors, so that nothing but the springs is missing; 0: no rotors."""
    drive = fa.Drive(rotor_inertia=rotor) if rotor else None
    return fa.library.rrr_arm().with_({f"links.{name}.joint.drive": drive for name in LINKS})


def rigid_arm(rotor: float = ROTOR) -> fa.Robot:
    """The same with rigid links as well."""
    return flexible_links(rotor).rigid()


def slim_column(robot: fa.Robot) -> fa.Robot:
    """With a tenth of the column's area and mass, its moments as they are."""
    column: Any = robot.link("column").section
    section = fa.Section.properties(column.A / 10, column.I_y, column.I_z, J=column.J, I_p=column.I_p)
    return robot.with_({"links.column.section": section})


def meshed(robot: fa.Robot, elements: int, **more: Any) -> fa.Robot:
    """With other numbers of elements, or with other fields of `Flexible`."""
    shapes = fa.Flexible(bend_y=elements, bend_z=elements, twist=elements, basis="elements", **more)
    return robot.with_({f"links.{name}.flexible": shapes for name in LINKS})


def papers_model(robot: fa.Robot) -> fa.Robot:
    """Return the robot with the paper's links: six coordinates a node, displacements linear in them (equation 3)."""
    return meshed(robot, ELEMENTS, stretch=ELEMENTS, stiffening="none")


# --- computations ---


@lru_cache
def pushed(robot: fa.Robot, duration: float = DURATION, bent: bool = False) -> fa.Run:
    """From rest under the constant torques, the arm stretched out or `bent`. Springs in the joints shield the links
    from the step of the torque; without them all modes of the links ring for ever, up to some kHz, and short explicit
    steps are best."""
    springs = robot.links[0].joint.coordinates == 2
    stretches = any(link.flexible and link.flexible.stretch for link in robot.links)  # too fast for explicit steps
    ringing = any(link.flexible for link in robot.links) and not springs and not stretches
    steps: dict[str, Any] = {"method": "rk4", "dt": 1e-4} if ringing else {"rtol": 1e-5}
    if bent:
        sides = ("q", "motor") if springs else ("q",)
        steps["q0"] = {f"{name}.{side}": angle for name, angle in BENT.items() for side in sides}
    torque = dict.fromkeys(LINKS, TORQUE)
    return simulate(robot, duration, torque=torque, sample=SAMPLE, native=False, **steps)


def deviation(run: fa.Run, rigid: fa.Run) -> Array:
    """How far the tip is from the rigid arm's (time, axis), in m: the paper's deformation of the end-effector."""
    return np.asarray(run.tip.values - rigid.tip.values)


def joint_deviation(run: fa.Run, rigid: fa.Run, name: str) -> Array:
    """How far a joint's angle is from the rigid arm's (rad)."""
    return np.asarray(run[f"{name}.q"].values - rigid[f"{name}.q"].values)


def wind_up(run: fa.Run, name: str) -> Array:
    """Motor against link of an elastic joint (rad)."""
    return np.asarray(run[f"{name}.motor"].values - run[f"{name}.q"].values)


def largest(vectors: Array) -> float:
    """The largest length among vectors."""
    return float(np.linalg.norm(vectors, axis=-1).max())


def least_polar_moment(area: float) -> float:
    """That of a solid disc (m^4); no other section of this area has less."""
    return area**2 / (2 * pi)


def reach() -> float:
    return sum(link.length for link in flexible_links().links)


# --- the page ---


def the_arm(page: Page) -> None:
    page.text(f"""
        A spatial arm of three links is pushed from rest by {TORQUE:g} N m at each joint: rigid, with flexible links,
        and with flexible links and joints. The paper shows how far the tip and the joints of the flexible arms are from
        those of the rigid one.
        """)
    page.figure(
        "robot",
        drawings.rrr_arm(tuple(link.length for link in flexible_links().links), TORQUE, STIFFNESS),
        "The arm at the start, as chosen here: column up, upper arm and forearm along X; chain lines are the axes of "
        "the joints, arrows positive turns.",
    )
    page.heading("Parameters (Table 1)")
    links: Any = flexible_links().links
    numbers = [link.section.at(0.0) for link in links]
    steel = links[0].material
    page.table(
        ["", *LINKS],
        [
            ("length (m)", *(link.length for link in links)),
            ("A (m^2)", *(f"{each.A:g}" for each in numbers)),
            ("I (m^4)", *(f"{each.I_z:g}" for each in numbers)),
            ("polar moment (m^4)", *(f"{each.I_p:g}" for each in numbers)),
            ("mass (kg)", *(f"{link.total_mass:.1f}" for link in links)),
        ],
    )
    column = numbers[0]
    slim = largest(deviation(pushed(slim_column(flexible_joints())), pushed(flexible_joints())))
    page.text(f"""
        E = {steel.E / 1e9:g} GPa, G = {steel.G / 1e9:g} GPa, density {steel.rho:g} kg/m^3; {ELEMENTS} elements for each
        link; joint stiffness {STIFFNESS:g} N m/rad; no damping anywhere. The area printed for link 1 must be a
        misprint: no section of {column.A:g} m^2 has a polar moment below {least_polar_moment(column.A):.2g} m^4, that
        of a solid disc. A tenth of it would do ({least_polar_moment(column.A / 10):.3g} m^4). It is kept as printed; a
        tenth would move the tip by {1000 * slim:.1f} mm at most: the column hardly does more than turn about itself.
        """)
    page.chosen(
        [
            ("posture at the start (figure 5)", "column up, upper and fore along X", "another one is tried below"),
            ("axes of the joints (figure 5)", "1 vertical, 2 and 3 about Y at the start", "usual for an RRR robot"),
            ("gravity", "none", "not mentioned; tried below"),
            ("inertia of the motors", f"{ROTOR:g} kg m^2 each", "named J_j, but not given; others are tried below"),
            (
                "motors of the arms with rigid joints",
                "the same inertia, rigidly on the joint",
                "then nothing but springs and links makes the difference",
            ),
            ("torsion constant", "the polar moment", "only one number is printed"),
            (
                "duration",
                f"{DURATION:g} s",
                "the figures were not at hand; after this the forearm has folded back over the upper arm",
            ),
        ]
    )
    page.changed(
        [
            (
                "elements that stretch: six coordinates at each node",
                "bending and twist only",
                "stretch hardly moves the tip: see the last table; verdicts are about the paper's elements",
            ),
            (
                "displacements and strains linear in the coordinates (equations 3 and 16): no foreshortening",
                "foreshortening, to second order",
                "links that turn are stiffened by it: see the last table; verdicts are about the paper's model",
            ),
        ]
    )


def arm_in_space(page: Page) -> None:
    page.heading("The motion")
    run, rigid = pushed(flexible_joints()), pushed(rigid_arm())
    page.figure(
        "arm",
        deviating(run, rigid),
        f"The rigid arm (grey) and the arm with flexible links and joints (blue), from the side and from above, at "
        f"five times. Where the two differ, the difference is drawn {MAGNIFIED} times as large; thin lines are the "
        "ways of the tips.",
    )
    models = {"rigid": rigid_arm(), LINKS_BEND: flexible_links(), ALL_BENDS: flexible_joints()}
    page.table(
        ["arm", "joints free: lowest frequencies (Hz)", "motors locked: lowest frequencies (Hz)"],
        [
            (
                label,
                *(
                    ", ".join(f"{each:.2f}" for each in found.frequencies[~found.rigid][:4]) or "-"
                    for found in (fa.modes(robot), fa.modes(robot, joints="locked"))
                ),
            )
            for label, robot in models.items()
        ],
    )
    page.text("Frequencies are those at the start, all three arms with the same rotors.")
    for name, robot in (("rigid", rigid_arm()), ("links", flexible_links()), ("links_and_joints", flexible_joints())):
        page.data(name, pushed(robot))


MAGNIFIED = 10


def deviating(run: fa.Run, rigid: fa.Run) -> Picture:
    """Both arms at five times, from the side and from above, what is between them magnified."""
    times = (0.0, 0.4, 0.6, 0.8, 1.0)
    figure = Picture(figsize=(8.0, 6.8))
    plots: Any = figure.subplots(2, 1, sharex=True, height_ratios=(4.2, 2.3))
    blue, far = LINE_STYLES[0][0], "0.62"
    stiff, soft = (axes_of(each, rigid.time.values) for each in (rigid, run))
    bent = stiff + MAGNIFIED * (soft - stiff)
    for plot, up in zip(plots, (2, 1)):
        for arm, colour, width, dashes in ((stiff, far, 4.0, "-"), (bent, blue, 1.8, "-")):
            plot.plot(arm[:, -1, 0], arm[:, -1, up], color=colour, linewidth=0.8, linestyle=dashes, zorder=1)
            for t in times:
                k = round(t / SAMPLE)
                plot.plot(arm[k, :, 0], arm[k, :, up], color=colour, linewidth=width, solid_capstyle="round", zorder=2)
        plot.set_aspect("equal")
        plot.set_ylabel(f"{'XYZ'[up]} (m)")
        draw_grid(plot)
    beside = ((6, 8), (-4, -14), (2, -15), (6, 6), (-20, -13))  # points, off the tips seen from above
    for t, off in zip(times, beside):
        k = round(t / SAMPLE)
        words = {"textcoords": "offset points", "fontsize": 10}
        plots[0].annotate(f"{t:g} s", stiff[k, -1, ::2], xytext=(5, -13), **words)
        plots[1].annotate(f"{t:g} s", bent[k, -1, :2], xytext=off, color=blue, **words)
    plots[0].set_xlim(-0.3, 8.2)
    plots[0].set_ylim(-2.2, 2.0)
    plots[1].set_ylim(-0.7, 1.6)
    plots[0].plot([], [], color=far, linewidth=4.0, label="rigid")
    plots[0].plot([], [], color=blue, linewidth=1.8, label=f"flexible links and joints, difference x {MAGNIFIED}")
    plots[1].set_xlabel("X (m)")
    handles, labels = plots[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    return figure


def axes_of(run: fa.Run, times: Array, points: int = 21) -> Array:
    """Points of the arm from foot to tip (time, point, axis), in m."""
    system, q = fa.System(run.robot, native=False), run.data["q"].sel(time=times, method="nearest").values
    return np.concatenate([system.axis(name, q, points) for name in LINKS], axis=1)


def tip_deformation(page: Page) -> None:
    page.heading("Deformation of the end-effector (figures 6, 7 and 8)")
    rigid = pushed(rigid_arm())
    runs = {LINKS_BEND: pushed(flexible_links()), ALL_BENDS: pushed(flexible_joints())}
    page.figure(
        "figures_6_to_8",
        curves(
            {
                f"${axis}$ (mm)": {label: (run.time, 1000 * deviation(run, rigid)[:, k]) for label, run in runs.items()}
                for k, axis in enumerate("XYZ")
            }
        ),
        "For figures 6, 7 and 8: the tip of the flexible arms minus that of the rigid arm, along X, Y and Z. All have "
        "the same rotors.",
    )
    page.text("The paper's statements about this are evaluated further below, over all inputs that were tried.")


def what_the_paper_states(page: Page) -> None:
    page.heading("The paper's statements")
    models = {"the paper's model": tried(paper=True), "ours": tried()}
    deviations, ratios, effects, additions = [], [], [], []
    for label, cases in models.items():
        links, joints = ([each[k] for each in cases.values()] for k in (0, 1))
        added = [b / a for a, b in zip(links, joints)]
        deviations.append(
            f"{label}: {_span(links)} mm with flexible links, {_span(joints)} mm with flexible joints, too"
        )
        ratios.append(f"{label}: {min(added):.1f} to {max(added):.1f} times")
        effects.append(min(*links, *joints))
        additions.append(max(b - a for a, b in zip(links, joints)))
    page.text("""
        Both statements are evaluated with the paper's model (six coordinates at each node, no foreshortening) and with
        ours, over all inputs that were tried. The verdict is about the paper's model.
        """)
    page.statements(
        [
            (
                "the flexibility of links and joints has a significant effect on the motion of the arm",
                f"largest deviation of the tip over all inputs tried, {'; '.join(deviations)}. The least is "
                f"{effects[0] / reach():.2%} of the reach of {reach():g} m in the paper's model (significant: above "
                f"{NOTABLE:.1%})",
                effects[0] > NOTABLE * reach(),
            ),
            (
                "flexible joints can alter the motion significantly on top of that",
                f"deviation of the tip relative to flexible links alone, {'; '.join(ratios)}",
                additions[0] > NOTABLE * reach(),
            ),
        ]
    )


def _span(sizes: list[float]) -> str:
    return f"{1000 * min(sizes):.0f} to {1000 * max(sizes):.0f}"


@lru_cache
def tried(paper: bool = False) -> dict[str, tuple[float, float]]:
    """Return the largest deviation of the tip (m) with flexible links, and with flexible joints too, by input tried.

    `paper`: with the links of `papers_model`.
    """
    found = {}
    for rotor in ROTORS:
        found[f"motors of {rotor:g} kg m^2"] = _off(rotor, paper=paper)
    found["gravity along -Z"] = _off(ROTOR, paper=paper, gravity=(0.0, 0.0, -9.81))
    found["upper arm raised by 45 degrees, forearm at a right angle to it"] = _off(ROTOR, bent=True, paper=paper)
    return found


def _off(rotor: float, bent: bool = False, paper: bool = False, **changes: Any) -> tuple[float, float]:
    arms = [arm(rotor).with_(**changes) if changes else arm(rotor) for arm in (flexible_links, flexible_joints)]
    rigid = pushed(arms[0].rigid(), bent=bent)
    links, joints = (pushed(papers_model(arm) if paper else arm, bent=bent) for arm in arms)
    return largest(deviation(links, rigid)), largest(deviation(joints, rigid))


def joint_deformation(page: Page) -> None:
    page.heading("Deformation of the joints (figures 9, 10 and 11)")
    rigid = pushed(rigid_arm())
    runs = {LINKS_BEND: pushed(flexible_links()), ALL_BENDS: pushed(flexible_joints())}
    page.figure(
        "figures_9_to_11",
        curves(
            {
                rf"$\theta_{k}$ (mrad)": {
                    label: (run.time, 1000 * joint_deviation(run, rigid, name)) for label, run in runs.items()
                }
                for k, name in enumerate(LINKS, 1)
            }
        ),
        "For figures 9, 10 and 11: the joints' angles theta_1, theta_2 and theta_3, on the side of the link, minus "
        "those of the rigid arm.",
    )
    springy = runs[ALL_BENDS]
    page.figure(
        "wind_up",
        curves(
            {
                "motor - link (mrad)": {
                    f"joint {k}": (springy.time, 1000 * wind_up(springy, name)) for k, name in enumerate(LINKS, 1)
                }
            }
        ),
        "What the springs in the joints do meanwhile, which the paper does not show: angle of the motor minus that of "
        "the link.",
    )
    still = TORQUE / STIFFNESS
    twisted = max(float(np.abs(wind_up(springy, name)).max()) for name in LINKS)
    bent = runs[LINKS_BEND]
    turned = float(np.abs(joint_deviation(bent, rigid, "upper")).max())
    height = float(np.abs(deviation(bent, rigid)[:, 2]).max())
    out = reach() - rigid.robot.links[0].length
    page.text(f"""
        The angle of a joint is that of its link's root, and a link that bends back lets its root run ahead. So the
        joints tell little about the tip: joint 2 of the arm with flexible links is ahead by as much as
        {1000 * turned:.1f} mrad, which would be {1000 * turned * out:.0f} mm at the end of {out:g} m, but the tip is
        never more than {1000 * height:.0f} mm too high or too low. The springs are wound up by as much as
        {1000 * twisted:.0f} mrad, {twisted / still:.1f} times the {1000 * still:.0f} mrad that {TORQUE:g} N m hold in
        balance: the torques come at once and find the motors at rest.
        """)


def inertia_of_the_motors(page: Page) -> None:
    page.heading("What the missing inputs do")
    rows = []
    for rotor in (0.0, *ROTORS):
        rigid = pushed(rigid_arm(rotor))
        links = largest(deviation(pushed(flexible_links(rotor)), rigid))
        joints = largest(deviation(pushed(flexible_joints(rotor)), rigid)) if rotor else None
        tip = rigid.tip.values[round(0.5 / SAMPLE)]
        rows.append((rotor, tip, links, joints))
    page.table(
        ["each motor (kg m^2)", "rigid arm: tip at 0.5 s (m)", "flexible links: tip off by (mm)", "and joints (mm)"],
        [
            (
                f"{rotor:g}",
                ", ".join(f"{each:.3f}" for each in tip),
                f"{1000 * links:.0f}",
                "-" if joints is None else f"{1000 * joints:.0f}",
            )
            for rotor, tip, links, joints in rows
        ],
    )
    light, heavy = (joints / links for _, _, links, joints in (rows[1], rows[-1]) if joints is not None)
    moved = float(np.linalg.norm(rows[-1][1] - rows[0][1]))
    page.text(f"""
        Largest distances in {DURATION:g} s, each against the rigid arm with the same motors. The motors' inertia
        matters to all arms: that of {ROTORS[-1]:g} kg m^2 keeps the rigid arm's tip {moved:.2f} m behind at 0.5 s, more
        than any flexibility does. Light motors hand the torque on at once, so flexible joints add little ({light:.1f}
        times the deviation of flexible links with {ROTORS[0]:g} kg m^2); heavy ones swing on their springs ({heavy:.1f}
        times with {ROTORS[-1]:g} kg m^2). A comparison with a rigid arm that has no motors would mix the two.
        """)
    page.table(
        ["chosen otherwise", "flexible links: tip off by (mm)", "and joints (mm)"],
        [(label, f"{1000 * a:.0f}", f"{1000 * b:.0f}") for label, (a, b) in tried().items() if "motors" not in label],
    )


def elements(page: Page) -> None:
    page.heading("Are two elements enough?")
    rigid = pushed(rigid_arm())
    models = {f"{count}": meshed(flexible_joints(), count) for count in (1, 2, 3)}
    models["2, with stretch"] = meshed(flexible_joints(), 2, stretch=2)
    models["2, without foreshortening"] = meshed(flexible_joints(), 2, stiffening="none")
    runs = {label: pushed(robot) for label, robot in models.items()}
    finest = runs["3"]
    page.table(
        ["elements", "coordinates", "tip off the rigid arm's (mm)", "off that with 3 elements (mm)"],
        [
            (
                label,
                run.data.sizes["coordinate"],
                f"{1000 * largest(deviation(run, rigid)):.2f}",
                "-" if run is finest else f"{1000 * largest(deviation(run, finest)):.2f}",
            )
            for label, run in runs.items()
        ],
    )
    lost = max(float(np.abs(run.energy["balance"]).max() / run.energy["work"].max()) for run in runs.values())
    page.text(f"""
        Largest distances in {DURATION:g} s with flexible links and joints. The energy of these runs is balanced to
        {lost:.0e} of the work of the torques.
        """)


STUDY = Study(
    name="moolam",
    short="Moolam, Braghin and Vicentini",
    paper="R. K. Moolam, F. Braghin and F. Vicentini, Dynamic modeling and simulation of spatial manipulator with "
    "flexible links and joints (Politecnico di Milano and ITIA-CNR; where and when it appeared is "
    "not in the text at hand)",
    covers="figures 6 to 11, Table 1",
    sections=(
        the_arm,
        arm_in_space,
        tip_deformation,
        joint_deformation,
        inertia_of_the_motors,
        what_the_paper_states,
        elements,
    ),
)
