"""Small robots whose tips are to follow paths."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa

STEEL = fa.Material(2.1e11, 7850.0)
STRIP = {"section": fa.Section.rectangle(0.004, 0.03), "material": STEEL}
MOVE = fa.minimum_jerk(0.0, np.pi / 2, 1.0)


def single(modes: int = 2, gravity: tuple[float, float, float] = (0, 0, 0), **flexible: Any) -> fa.Robot:
    """A steel strip of one metre that carries a mass."""
    shapes = fa.Flexible(bend_y=modes, **flexible)
    link = fa.Link("arm", 1.0, **STRIP, flexible=shapes, payload=fa.PointMass(0.2), hub=fa.PointMass(0.0, inertia=0.01))
    return fa.Robot(links=[link], gravity=gravity)


def double(modes: int = 1, gravity: tuple[float, float, float] = (0, 0, 0), damping: float = 1e-3) -> fa.Robot:
    """Two strips of aluminium in a plane, motors as masses."""
    bar = {
        "section": fa.Section.rectangle(0.006, 0.03),
        "material": fa.Material(7e10, 2700.0, damping=damping),
        "flexible": fa.Flexible(bend_y=modes, stiffening="shortening"),
        "hub": fa.PointMass(0.8, inertia=0.01),
    }
    links = [fa.Link("upper", 0.8, **bar), fa.Link("fore", 0.6, **bar, payload=fa.PointMass(0.5))]
    return fa.Robot(links=links, gravity=gravity)


def sprung(damping: float = 0.0, **drive: Any) -> fa.Robot:
    """A rigid link behind a spring."""
    hinge = fa.Revolute("z", drive=fa.Drive(200.0, rotor_inertia=0.05, damping=damping, **drive))
    return fa.Robot(links=[fa.Link("arm", 1.0, hinge, mass=0.0, payload=fa.PointMass(0.3))])
