"""Moolam, Braghin & Vicentini, "Dynamic modeling and simulation of spatial manipulator with flexible links and joints":
a spatial arm with three hinges under constant torques: rigid, with flexible links, with flexible links and joints."""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.foundation.numbers import Array
from flexarm.show.trajectory import trajectory_figure
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
from flexarm_papers.study import Study

LINKS = ("column", "upper", "fore")
TORQUE = 400.0  # N m at each joint
STIFFNESS = 5000.0  # N m/rad of each joint
ELEMENTS = 2  # of each link

# chosen: the paper does not tell
ROTOR = 5.0  # kg m2, each motor's, as its joint feels it
ROTORS = (1.0, 5.0, 10.0)  # kg m2, tried
DURATION = 1.0  # s
SAMPLE = 1e-3  # s

LINKS_BEND, ALL_BENDS = "flexible links", "flexible links and joints"
NOTABLE = 1e-3  # of the reach: deviations above this are called significant


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


# --- computations ---


@lru_cache
def pushed(robot: fa.Robot, duration: float = DURATION) -> fa.Run:
    """From rest under the constant torques. Springs in the joints shield the links from the step of the torque; without
    them all modes of the links ring for ever, up to some kHz, and short explicit steps are best."""
    springs = robot.links[0].joint.coordinates == 2
    ringing = any(link.flexible for link in robot.links) and not springs
    steps: dict[str, Any] = {"method": "rk4", "dt": 1e-4} if ringing else {"rtol": 1e-5}
    torque = dict.fromkeys(LINKS, TORQUE)
    return fa.simulate(robot, duration, torque=torque, sample=SAMPLE, progress=False, native=False, **steps)


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
    """That of a solid disc (m4); no other section of this area has less."""
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
    page.heading("Parameters (Table 1)")
    links: Any = flexible_links().links
    numbers = [link.section.at(0.0) for link in links]
    steel = links[0].material
    page.table(
        ["", *LINKS],
        [
            ("length (m)", *(link.length for link in links)),
            ("A (m2)", *(f"{each.A:g}" for each in numbers)),
            ("I (m4)", *(f"{each.I_z:g}" for each in numbers)),
            ("polar moment (m4)", *(f"{each.I_p:g}" for each in numbers)),
            ("mass (kg)", *(f"{link.total_mass:.1f}" for link in links)),
        ],
    )
    column = numbers[0]
    slim = largest(deviation(pushed(slim_column(flexible_joints())), pushed(flexible_joints())))
    page.text(f"""
        E = {steel.E / 1e9:g} GPa, G = {steel.G / 1e9:g} GPa, density {steel.rho:g} kg/m3; {ELEMENTS} elements for each
        link; joint stiffness {STIFFNESS:g} N m/rad; no damping anywhere. The area printed for link 1 must be a
        misprint: no section of {column.A:g} m2 has a polar moment below {least_polar_moment(column.A):.2g} m4, that of
        a solid disc. A tenth of it would do ({least_polar_moment(column.A / 10):.3g} m4). It is kept as printed; a
        tenth would move the tip by {1000 * slim:.1f} mm at most: the column hardly does more than turn about itself.
        """)
    page.chosen(
        [
            ("posture at the start", "column up, upper and fore along x", "figure 5 is lost"),
            ("axes of the joints", "1 vertical, 2 and 3 about y at the start", "figure 5 is lost"),
            ("gravity", "none", "not mentioned"),
            ("inertia of the motors", f"{ROTOR:g} kg m2 each", "named J_j, but not given; below are others"),
            (
                "duration",
                f"{DURATION:g} s",
                "the axes of the figures are lost; after this the forearm has folded back over the upper arm",
            ),
            ("stretch of the links", "left out", "the paper's elements have it; see the last table for what it does"),
            ("foreshortening of bent links", "taken into account", "not mentioned; see the last table as well"),
        ]
    )


def arm_in_space(page: Page) -> None:
    page.heading("The motion")
    run, rigid = pushed(flexible_joints()), pushed(rigid_arm())
    page.figure(
        "arm",
        trajectory_figure(run, [0.0, 0.4, 0.6, 0.8, 1.0], other=rigid),
        "The arm with flexible links and joints at five times, and the way of its tip; in grey the rigid arm.",
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


def tip_deformation(page: Page) -> None:
    page.heading("Deformation of the end-effector (figures 6, 7 and 8)")
    rigid = pushed(rigid_arm())
    runs = {LINKS_BEND: pushed(flexible_links()), ALL_BENDS: pushed(flexible_joints())}
    page.figure(
        "figures_6_to_8",
        curves(
            {
                f"{axis} (mm)": {label: (run.time, 1000 * deviation(run, rigid)[:, k]) for label, run in runs.items()}
                for k, axis in enumerate("XYZ")
            }
        ),
        "Figures 6, 7 and 8 of the paper: the tip of the flexible arms against that of the rigid arm, along X, Y "
        "and Z. All have the same rotors.",
    )
    off = {label: largest(deviation(run, rigid)) for label, run in runs.items()}
    share = {label: each / reach() for label, each in off.items()}
    ratio = off[ALL_BENDS] / off[LINKS_BEND]
    page.statements(
        [
            (
                "flexibility of links and joints has a significant effect on the motion of the arm",
                f"the tip is off by up to {1000 * off[LINKS_BEND]:.0f} mm with flexible links and "
                f"{1000 * off[ALL_BENDS]:.0f} mm with flexible joints too, {share[LINKS_BEND]:.2%} and "
                f"{share[ALL_BENDS]:.2%} of the reach of {reach():g} m (significant: above {NOTABLE:.1%})",
                min(share.values()) > NOTABLE,
            ),
            (
                "flexible joints can alter the motion significantly on top of that",
                f"the tip is off {ratio:.1f} times as far as with flexible links alone",
                off[ALL_BENDS] - off[LINKS_BEND] > NOTABLE * reach(),
            ),
        ]
    )


def joint_deformation(page: Page) -> None:
    page.heading("Deformation of the joints (figures 9, 10 and 11)")
    rigid = pushed(rigid_arm())
    runs = {LINKS_BEND: pushed(flexible_links()), ALL_BENDS: pushed(flexible_joints())}
    page.figure(
        "figures_9_to_11",
        curves(
            {
                f"theta {k} (mrad)": {
                    label: (run.time, 1000 * joint_deviation(run, rigid, name)) for label, run in runs.items()
                }
                for k, name in enumerate(LINKS, 1)
            }
        ),
        "Figures 9, 10 and 11 of the paper: the joints' angles, on the side of the link, against those of the rigid "
        "arm.",
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
        "What the springs in the joints do meanwhile, which the paper does not show: motor against link.",
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
    page.heading("What the missing motor inertia does")
    rows = []
    for rotor in (0.0, *ROTORS):
        rigid = pushed(rigid_arm(rotor))
        links = largest(deviation(pushed(flexible_links(rotor)), rigid))
        joints = largest(deviation(pushed(flexible_joints(rotor)), rigid)) if rotor else None
        tip = rigid.tip.values[round(0.5 / SAMPLE)]
        rows.append((rotor, tip, links, joints))
    page.table(
        ["each motor (kg m2)", "rigid arm: tip at 0.5 s (m)", "flexible links: tip off by (mm)", "and joints (mm)"],
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
        matters to all arms: that of {ROTORS[-1]:g} kg m2 keeps the rigid arm's tip {moved:.2f} m behind at 0.5 s, more
        than any flexibility does. Light motors hand the torque on at once, so flexible joints add little ({light:.1f}
        times the deviation of flexible links with {ROTORS[0]:g} kg m2); heavy ones swing on their springs ({heavy:.1f}
        times with {ROTORS[-1]:g} kg m2). A comparison with a rigid arm that has no motors would mix the two.
        """)


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
    paper="Moolam, Braghin & Vicentini, Dynamic modeling and simulation of spatial manipulator with flexible links and "
    "joints",
    covers="figures 6 to 11, Table 1",
    sections=(the_arm, arm_in_space, tip_deformation, joint_deformation, inertia_of_the_motors, elements),
)
