"""The robots of the paper: C_PaR and C_RPb of Table 3, the robot of the experiment, the nine of the appendix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import pi, sqrt
from typing import Any, Literal

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm.robot.joints import PrismaticContact

ROBOTS = ("C_PaR", "C_RPb")
ELEMENTS = {"C_PaR": 3, "C_RPb": 5}  # Table 3
E, RHO = 2e10, 7850.0  # N/m2, kg/m3, Table 3: the density of steel and a tenth of its modulus, taken as printed
PAYLOAD = 0.1  # kg


@dataclass(frozen=True)
class Model:
    """What is assumed of link 2: Kelvin-Voigt damping (s), how long a bent link is, how a guide holds it."""

    damping: float = 0.0
    stiffening: Literal["none", "shortening"] = "none"
    contact: PrismaticContact = "element"


PAPER = Model()
"""Equation (7) and section 4.3: no damping, no shortening, the element in the guide is held."""

OURS = Model(damping=2e-3, stiffening="shortening", contact="continuous")

STEPS = {
    "the paper's model": PAPER,
    "held at the point in the guide": replace(PAPER, contact="continuous"),
    "and bent links are shorter": replace(OURS, damping=0.0),
    "and damped: ours": OURS,
}
"""From the paper's model to ours, one change after the other."""


def strip(thickness: float, height: float) -> Any:
    """A section that is `thickness` wide in the plane of motion."""
    return fa.Section.rectangle(width=thickness, height=height)


def bar(area: float, second: float) -> Any:
    """The rectangle with this area (m2) and this second moment (m4) for bending in the plane."""
    thickness = sqrt(12 * second / area)
    return strip(thickness, area / thickness)


SECTIONS = {"C_PaR": strip(0.003, 0.04), "C_RPb": strip(0.0015, 0.03)}
READINGS = {"I of Table 3": bar(2e-5, 9e-11), "a strip of 20 x 1 mm": strip(0.001, 0.02)}
"""Sections of the experiment's link 2 with the printed A: section 5 changes l_1, l_2, m_t and A, so I stands."""


def material(model: Model) -> fa.Material:
    return fa.Material(E=E, rho=RHO, damping=model.damping)


def elements(count: int, model: Model = PAPER) -> fa.Flexible:
    """Cubic elements."""
    return fa.Flexible(bend_y=count, basis="elements", stiffening=model.stiffening)


def modes(count: int, stiffening: Literal["none", "exact"]) -> fa.Flexible:
    return fa.Flexible(bend_y=count, basis=fa.Modes(tip_mass=PAYLOAD), stiffening=stiffening)


def c_par(model: Model = PAPER, flexible: fa.Flexible | None = None) -> fa.Robot:
    """Table 3: a slide on the ground carries a rigid link across it, on which the flexible link turns."""
    first = fa.Link("link1", 0.2, fa.SlidingPrismatic(pi / 2), mass=1.4)
    bends, payload = flexible or elements(ELEMENTS["C_PaR"], model), fa.PointMass(PAYLOAD)
    second = fa.Link("link2", 0.8, fa.Revolute(), SECTIONS["C_PaR"], material(model), bends, payload=payload)
    return fa.Robot("C_PaR", links=[first, second])


def c_rpb(model: Model = PAPER, count: int = ELEMENTS["C_RPb"]) -> fa.Robot:
    """Table 3: a rigid link turns and holds the guide through which the flexible link slides."""
    first = fa.Link("link1", 0.2, fa.Revolute(), mass=3.9)
    guide, bends = fa.FixedPrismatic(0.0, contact=model.contact), elements(count, model)
    payload = fa.PointMass(PAYLOAD)
    second = fa.Link("link2", 0.8, guide, SECTIONS["C_RPb"], material(model), bends, payload=payload)
    return fa.Robot("C_RPb", links=[first, second])


def experiment(model: Model = PAPER, reading: str = "I of Table 3") -> fa.Robot:
    """Section 5: C_PaR with other lengths, payload and area of link 2."""
    first = fa.Link("link1", 0.005, fa.SlidingPrismatic(pi / 2), mass=1.4)
    section, bends, payload = READINGS[reading], elements(3, model), fa.PointMass(0.02)
    second = fa.Link("link2", 0.3, fa.Revolute(), section, material(model), bends, payload=payload)
    return fa.Robot("robot of the experiment", links=[first, second])


def built(name: str, model: Model = PAPER) -> fa.Robot:
    if name == "experiment":
        return experiment(model)
    return c_par(model) if name == "C_PaR" else c_rpb(model)


# --- the appendix ---

KINDS = ("R", "Pa", "Pb")
NINE = list(product(KINDS, KINDS))
ANGLES = (0.7, -1.1)  # gamma_1, gamma_2 of prismatic joints (rad), chosen for the picture, as are the postures
POSTURES = {"R": (0.7, -1.3), "Pa": (0.2, 0.7), "Pb": (0.7, 0.5)}  # of a first and of a second joint (rad, m)
BEND = 0.07  # amplitude of the first mode of each part (m)


def two_links(one: str, other: str) -> fa.Robot:
    """One of the nine robots of the appendix; by modes, since a slide rides on smooth shapes."""

    def link(name: str, length: float, kind: str, angle: float, payload: fa.PointMass | None) -> fa.Link:
        slide = fa.SlidingPrismatic if kind == "Pa" else fa.FixedPrismatic
        joint = fa.Revolute() if kind == "R" else slide(angle)
        return fa.Link(name, length, joint, SECTIONS["C_PaR"], material(PAPER), modes(1, "none"), payload=payload)

    first = link("link1", 1.0, one, ANGLES[0], None)
    return fa.Robot(one + other, links=[first, link("link2", 0.8, other, ANGLES[1], fa.PointMass(PAYLOAD))])


def posed(one: str, other: str, bend: float = BEND) -> tuple[fa.System, Array]:
    """A robot of the appendix in its posture, each part bent by its first mode."""
    system = fa.System(two_links(one, other), native=False)
    given = {"link1.q": POSTURES[one][0], "link2.q": POSTURES[other][1]}
    bent = {"link1.bend_y[1]": bend, "link2.bend_y[1]": -bend, "link1.rear.bend_y[1]": bend}
    return system, np.asarray(
        system.vector(given | {name: each for name, each in bent.items() if name in system.names})
    )
