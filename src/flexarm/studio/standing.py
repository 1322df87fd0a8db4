"""A robot as it stands before its run is computed: a page shows it at once, and its run when that is ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flexarm.mechanics.system import System
from flexarm.show.arm import Arm
from flexarm.studio.case import Case
from flexarm.studio.film import thickening
from flexarm.studio.ground import Ground
from flexarm.studio.still import Still
from flexarm.studio.triangles import Triangles, bodies_of, corners


@dataclass(frozen=True)
class Standing:
    """What is seen of it, and where it stands."""

    still: Still
    ground: Ground


def standing(case: Case) -> Standing | None:
    """The robot of a case where that says that joints start, links straight; None where only the run knows it."""
    start = case.plan.get("q0") or {}
    system = System(case.robot)
    if system.constraints or not isinstance(start, Mapping) or not set(start) <= set(system.names):
        return None
    q = np.zeros((1, system.nq))
    for name, value in start.items():
        q[0, system.index(name)] = value
    bodies = bodies_of(system, q, 1.0, thickening(system))
    seen = Triangles(bodies)
    return Standing(
        Still(corners(bodies)[0], seen.faces, seen.plain), Ground.of(case.robot, Arm(system, q, 1.0, 5).cloud)
    )
