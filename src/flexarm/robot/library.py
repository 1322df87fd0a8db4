"""Robots from the literature, with their sources and the parameters that had to be chosen."""

from __future__ import annotations

from math import pi
from typing import Literal

from flexarm.foundation.messages import shown
from flexarm.foundation.validation import real_number, whole_number
from flexarm.robot.drives import Drive
from flexarm.robot.flexibility import MAX_MODES, Flexible, Modes
from flexarm.robot.joints import Revolute, SlidingPrismatic
from flexarm.robot.links import Link
from flexarm.robot.masses import Material, PointMass
from flexarm.robot.robot import Robot
from flexarm.robot.sections import Section


def two_link_arm(damping: float = 0.0) -> Robot:
    """Return a planar arm with two flexible links and a payload, in a horizontal plane.

    Parameters
    ----------
    damping : float, optional
        Kelvin-Voigt time constant of the material (s).

    Returns
    -------
    Robot
        Arm with the links "upper" and "fore".

    Notes
    -----
    Bien & My: lengths, E, rho, A = 2.5e-5 m2 and the payload. Chosen: the 5 x 5 mm square with this A and three modes
    for each link.

    Examples
    --------
    >>> [link.name for link in two_link_arm().links], two_link_arm().coordinates
    (['upper', 'fore'], 8)
    """
    soft = Material(E=2e10, rho=7850.0, damping=damping)  # a tenth as stiff as steel, but as heavy
    bar = Section.rectangle(0.005, 0.005)
    shapes = Flexible(bend_y=3)
    return Robot(
        name="two-link flexible arm",
        links=[
            Link("upper", length=1.0, joint=Revolute("z"), section=bar, material=soft, flexible=shapes),
            Link(
                "fore",
                length=0.5,
                joint=Revolute("z"),
                section=bar,
                material=soft,
                flexible=shapes,
                payload=PointMass(0.15),
            ),
        ],
    )


def rotating_beam(modes: int = 6, stiffening: Literal["none", "shortening", "exact"] = "exact") -> Robot:
    """Return a long beam on a hinge, the classical test of dynamic stiffening during spin-up.

    Parameters
    ----------
    modes : int, optional
        Number of bending modes.
    stiffening : {'exact', 'shortening', 'none'}, optional
        Model of large bending; "none" is the paper's zero-order model.

    Returns
    -------
    Robot
        Robot with the link "beam".

    Notes
    -----
    Advances in Mechanical Engineering 2013, 216014, section 4.1: length, A, I, rho and E. Chosen: the same I in both
    directions, and the number of modes.

    Examples
    --------
    >>> rotating_beam(modes=2).coordinates
    3
    """
    aluminium = Material(E=6.8952e10, rho=2766.7)
    section = Section.properties(A=7.2968e-5, I_y=8.2189e-9, I_z=8.2189e-9)
    if whole_number("modes", modes, least=1) > MAX_MODES:
        raise ValueError(f"modes = {shown(modes)}: must be at most {MAX_MODES}")
    shapes = Flexible(bend_y=modes, stiffening=stiffening)
    return Robot(
        name="rotating beam", links=[Link("beam", length=8.0, section=section, material=aluminium, flexible=shapes)]
    )


def tokhi_azad_arm(payload: float = 0.0) -> Robot:
    """Return the aluminium single-link arm of Tokhi and Azad in the horizontal plane.

    Parameters
    ----------
    payload : float, optional
        Mass at the tip (kg).

    Returns
    -------
    Robot
        Robot with the link "arm".

    Notes
    -----
    Tokhi & Azad, Flexible Robot Manipulators (IET, 2008): 19.008 x 3.2004 mm, E = 71 GPa, rho = 2710 kg/m3, hub inertia
    5.8598e-4 kg m2, L = 0.9 m. Quoted from memory of the book, so not to be compared with their measurements. Chosen:
    twelve modes.

    Examples
    --------
    >>> round(tokhi_azad_arm(payload=0.1).total_mass, 3)  # kg
    0.248
    """
    real_number("payload", payload, "kg", least=0.0)
    aluminium = Material(E=71e9, rho=2710.0)
    strip = Section.rectangle(width=0.0032004, height=0.019008)
    return Robot(
        name="Tokhi-Azad flexible arm",
        links=[
            Link(
                "arm",
                length=0.9,
                section=strip,
                material=aluminium,
                flexible=Flexible(bend_y=12),
                hub=PointMass(0.0, inertia=5.8598e-4),
                payload=PointMass(payload) if payload else None,
            )
        ],
    )


def de_luca_siciliano_arm(damping: float = 0.0, modes: int = 2) -> Robot:
    """Return the planar arm with two flexible links of De Luca and Siciliano, in a horizontal plane.

    Parameters
    ----------
    damping : float, optional
        Kelvin-Voigt time constant of the material (s).
    modes : int, optional
        Number of bending modes of each link, two in their model.

    Returns
    -------
    Robot
        Arm with the links "upper" and "fore".

    Notes
    -----
    Each link has 0.5 m, 0.1 kg and EI = 1 N m2; the hubs have 0.1 kg m2, the second one 1 kg; the payload has 0.1 kg
    and 0.0005 kg m2. Modes are those of their model: each link is clamped, with the mass and inertia at its tip of the
    following bodies of the straight arm, but without their first moment: 0.48 and 1.80 Hz for link 1 (1.2 kg,
    0.134 kg m2), 2.18 and 15.91 Hz for link 2. Their gains for regulation are kp = 160 and 60 N m/rad, kd = 11 and
    1.1 N m s/rad. Chosen: a strip of aluminium with this EI and mass.

    Examples
    --------
    >>> round(de_luca_siciliano_arm().total_mass, 3)  # kg
    1.3
    """
    if whole_number("modes", modes, least=1) > MAX_MODES:
        raise ValueError(f"modes = {shown(modes)}: must be at most {MAX_MODES}")
    length, mass, hub, tip = 0.5, 0.1, 0.1, PointMass(0.1, inertia=5e-4)
    aluminium = Material(E=7e10, rho=2700.0, damping=damping)
    area = mass / length / aluminium.rho
    width = (12 / (aluminium.E * area)) ** 0.5  # E A width^2 / 12 = 1 N m2
    strip = Section.rectangle(width, area / width)
    behind = hub + (mass / 3 + tip.mass) * length**2 + 5e-4  # kg m2 about joint 2

    def link(name: str, basis: Modes, root: float, payload: PointMass | None) -> Link:
        return Link(
            name,
            length=length,
            joint=Revolute("z"),
            section=strip,
            material=aluminium,
            flexible=Flexible(bend_y=modes, basis=basis),
            hub=PointMass(root, inertia=hub),
            payload=payload,
        )

    carried = Modes(tip_mass=1.0 + mass + tip.mass, tip_inertia=behind)
    return Robot(
        name="De Luca-Siciliano arm",
        links=[link("upper", carried, 0.0, None), link("fore", Modes(tip_mass=0.1, tip_inertia=5e-4), 1.0, tip)],
    )


def rrr_arm(elastic_joints: bool = False, rotor_inertia: float = 5.0) -> Robot:
    """Return a spatial arm with three revolute joints: the first about the vertical z, the others about y.

    Link 1 points up; links 2 and 3 are along x at q = 0.

    Parameters
    ----------
    elastic_joints : bool, optional
        Give the joints elastic drives of 5000 N m/rad.
    rotor_inertia : float, optional
        Inertia of the rotors of elastic drives (kg m2).

    Returns
    -------
    Robot
        Arm with the links "column", "upper" and "fore".

    Notes
    -----
    Moolam et al., Table 1: lengths, A, I, polar moments, E, G, rho; two elements for each link; joint stiffness. The
    printed A of link 1, 0.028 m2, is too large for its moments (0.0028 would fit); it is kept. Chosen: the posture at
    q = 0, no gravity, bending and twist but no stretch, the polar moment also as the torsion constant, and the rotor
    inertia, which the paper does not give.

    Examples
    --------
    >>> rrr_arm(elastic_joints=True).coordinates - rrr_arm().coordinates  # three motors
    3
    """
    if not isinstance(elastic_joints, bool):
        raise ValueError(f"elastic_joints = {shown(elastic_joints)}: must be True or False")
    steel = Material(E=206e9, rho=8253.0, G=79.3e9)
    shapes = Flexible(bend_y=2, bend_z=2, twist=2, basis="elements")
    drive = Drive(stiffness=5000.0, rotor_inertia=rotor_inertia) if elastic_joints else None

    def link(name: str, length: float, joint: Revolute, A: float, second: float, polar: float) -> Link:
        section = Section.properties(A, second, second, J=polar, I_p=polar)
        return Link(name, length=length, joint=joint, section=section, material=steel, flexible=shapes)

    up, level = (0.0, -pi / 2, 0.0), (0.0, pi / 2, 0.0)  # pitches that turn the link's axis x to z, and back
    return Robot(
        name="RRR arm",
        links=[
            link("column", 1.0, Revolute("x", mount=up, drive=drive), 0.028, 8.33e-7, 1.66e-6),
            link("upper", 4.0, Revolute("y", mount=level, drive=drive), 0.0020, 6.24e-7, 1.24e-6),
            link("fore", 3.5, Revolute("y", drive=drive), 0.0008, 5.37e-7, 1.07e-6),
        ],
    )


def two_masses(stiffness: float = 1.0) -> Robot:
    """Return two masses of 1 kg on a line with a spring between them, the benchmark of Wie and Bernstein.

    Parameters
    ----------
    stiffness : float, optional
        Stiffness of the spring (N/m), between 0.5 and 2 N/m in the benchmark.

    Returns
    -------
    Robot
        Robot with the link "mass".

    Notes
    -----
    Wie & Bernstein, Benchmark problems for robust control design, Journal of Guidance, Control, and Dynamics 15, 1992:
    the force acts on the first mass, here the motor of an elastic drive (`mass.motor`); the position of the second one
    (`mass.q`) is measured.

    Examples
    --------
    >>> two_masses(stiffness=0.5).coordinates
    2
    """
    spring = Drive(stiffness=real_number("stiffness", stiffness, "N/m", above=0), rotor_inertia=1.0)
    return Robot(name="two masses", links=[Link("mass", length=0.1, mass=1.0, joint=SlidingPrismatic(drive=spring))])
