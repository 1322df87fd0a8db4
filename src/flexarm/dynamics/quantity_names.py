"""Names of quantities: one spelling in runs, laws, linear models, simulations, plots, the command line and the studio.

| name | quantity |
|---|---|
| `upper.q`, `upper.motor`, `upper.bend_y[1]` | coordinates |
| `tip.y`, `fore.tip.y`, `fore(0.2).y` | positions of the robot's tip, a link's tip, a place |
| `tool.y`, `camera.y` | positions of a frame, a named point |
| `deflection.fore.y` | deflection of a link's tip against the straight link, in its root frame |
| `fore.strain(0.1)`, `fore.strain(0.1, 0.002, 0)` | strain at x on the surface of a link, or at x, y, z |
| `fore.moment(0.1)`, `fore.shear_y(0.1)` | bending moment, or another component, across a section |
| `reaction.fore.fx`, `reaction.loop[0].x` | reactions of joints and of constraints |

Primes are derivatives by time: `upper.q'` is a rate, `upper.q''` an acceleration. Inputs are `upper` (an actuator),
`upper.q''` (a driven joint) and `tip.fy`, `fore(0.2).tz` (a force or torque on a place, in world axes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from flexarm.foundation.messages import shown

AXES = ("x", "y", "z")
WRENCH_COMPONENTS = ("fx", "fy", "fz", "tx", "ty", "tz")
SECTION_COMPONENTS = ("axial", "shear_y", "shear_z", "torsion", "moment_y", "moment_z")
STATE_PARTS = ("q", "v", "a")
"""Coordinates, rates and accelerations: the part of a state by the order of the derivative."""

MAX_ORDER = 2  # of derivatives: accelerations
PRIME = "'"
_PLACE = re.compile(r"(?P<link>[^().']+)\((?P<x>[^()]*)\)")
_SECTION = re.compile(r"(?P<link>[^().']+)\.(?P<kind>\w+)\((?P<arguments>[^()]*)\)")


class SectionName(NamedTuple):
    """Link, kind (`strain`, `moment`, `shear_y`, ...) and text in brackets of a name such as `fore.strain(0.1)`."""

    link: str
    kind: str
    arguments: str


def derivative(name: str, order: int = 1) -> str:
    """Return the name of a derivative.

    >>> derivative("upper.q"), derivative("tip.y'"), derivative("fore.q", 2)
    ("upper.q'", "tip.y''", "fore.q''")
    """
    return name + PRIME * order


def split_derivative(name: str) -> tuple[str, int]:
    """Return the name without primes, and the order of the derivative.

    >>> split_derivative("upper.q''")
    ('upper.q', 2)
    """
    base = name.rstrip(PRIME)
    return base, len(name) - len(base)


def derivative_unit(unit: str, order: int) -> str:
    """Return the unit of a derivative.

    >>> derivative_unit("m", 2)
    'm/s2'
    """
    return unit + ("", "/s", "/s2")[order]


def state_names(coordinates: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Return the part of the state and the index of coordinates, rates and accelerations by name.

    >>> state_names(["a.q"])
    {'a.q': ('q', 0), "a.q'": ('v', 0), "a.q''": ('a', 0)}
    """
    names = list(coordinates)
    return {
        derivative(name, order): (part, index)
        for order, part in enumerate(STATE_PARTS)
        for index, name in enumerate(names)
    }


def joint_coordinate(input_name: str) -> str:
    """Return the coordinate of the joint that an input drives, from the name of the input.

    >>> joint_coordinate("upper"), joint_coordinate("cart.x")
    ('upper.q', 'cart.x')
    """
    return input_name if "." in input_name else f"{input_name}.q"


def split_place(name: str) -> tuple[str, str] | None:
    """Return link and text in brackets of a place such as `fore(0.2)`; None if it is spelled otherwise."""
    match = _PLACE.fullmatch(name)
    return None if match is None else (match["link"], match["x"])


def split_section(name: str) -> SectionName | None:
    """Return the parts of the name of a strain, force or moment; None if it is spelled otherwise.

    >>> split_section("fore.strain(0.1)")
    SectionName(link='fore', kind='strain', arguments='0.1')
    """
    match = _SECTION.fullmatch(name)
    return None if match is None else SectionName(match["link"], match["kind"], match["arguments"])


def strain_name(link: str, *place: float) -> str:
    """Return the name of the strain at x on the surface of a link, or at x, y, z.

    >>> strain_name("fore", 0.1)
    'fore.strain(0.1)'
    """
    return f"{link}.strain({', '.join(repr(float(each)) for each in place)})"


def read_numbers(name: str, text: str, count: int) -> list[float]:
    """Return the numbers in the brackets of a name; raise ValueError if there are not so many."""
    try:
        found = [float(each) for each in text.split(",")]
    except ValueError:
        found = []
    if len(found) != count:
        what = "a distance from the link's root (m)" if count == 1 else "x, y and z (m)"
        raise ValueError(f"{name}: in the brackets must stand {what}")
    return found


def require_order(name: str) -> None:
    """Raise KeyError if a name has more primes than an acceleration."""
    _, order = split_derivative(name)
    if order > MAX_ORDER:
        raise KeyError(f"{shown(name)}: has {order} primes; two are an acceleration, and there is no more")
