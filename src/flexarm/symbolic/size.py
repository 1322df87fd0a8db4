"""How large a closed form will be, estimated before the work starts."""

from __future__ import annotations

from flexarm.foundation.sentences import shown
from flexarm.mechanics.link_models.gripped import gripped
from flexarm.robot import Elements, Link, MovingJoint, Reduced, Robot, SlidingPrismatic
from flexarm.symbolic.supported import on_mesh, planar

LIMIT = 60_000
SPATIAL = 2.5  # three rotations for each bending link, where a planar one has a single angle
SLIDING = 2.5  # shapes that vary with d, where a link rides on a bending one or slides through its joint


def check(robot: Robot, limit: float, numeric: bool = False) -> None:
    """Refuse a robot whose equations nobody could read or compile, and say what to reduce."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise ValueError(f"limit = {shown(limit)}: must be a positive number of statements")
    shares = statements(robot)
    if (whole := sum(shares)) > limit:
        worst = robot.links[max(range(len(shares)), key=shares.__getitem__)]
        shorter = "" if numeric else "parameters='numeric' makes it shorter; "
        stiffened = any(link.stiffening != "none" for link in robot.links)
        plain = "stiffening='none', the zero-order model, is smaller; " if stiffened else ""
        raise ValueError(
            f"the closed form of {robot.name!r} would have about {_rounded(whole)} statements, more than {limit:g}: "
            f"{_advice(robot)} (most of it comes from link '{worst.name}', which "
            f"{moving(robot)[robot.links.index(worst)]} coordinates of other links and its joint move); "
            f"{shorter}{plain}limit=... raises this limit, and fa.System has none"
        )


def _advice(robot: Robot) -> str:
    flexible = any(link.flexible is not None for link in robot.links)
    return "take fewer elements or modes, or make links rigid" if flexible else "take fewer links"


def statements(robot: Robot) -> list[float]:
    """Per link, about how many statements its share of M and C takes with common subexpressions shared.

    f coordinates move the link's frame, e are its own: there are f^2 / 2 + f e entries in M that vary, each depending
    on the f (and those of the frame alone on the e). Measured within a factor of four
    (tests/symbolic/test_refusals.py).
    """
    found = []
    for link, parent, f in zip(robot.links, robot.parents, moving(robot), strict=True):
        e = _elastic(link)
        factor = (1.0 if planar(robot) else SPATIAL) * (SLIDING if _slides(robot, link, parent) else 1.0)
        found.append(factor * (f**3 + 2 * f**2 * e + _own(link.stiffening, e)))
    return found


def _own(stiffening: str, e: int) -> float:
    """Of a link alone: without stiffening its own matrix is constant, else it varies with its own coordinates."""
    if stiffening == "shortening":
        return 8.0 * e**2 + 12.0 * e
    return 12.0 * e**3 + 30.0 * e if stiffening == "exact" else 2.0 * e


def _slides(robot: Robot, link: Link, parent: int | None) -> bool:
    """Whether shapes vary with the link's joint."""
    if isinstance(link.joint, SlidingPrismatic) and not on_mesh(link):
        return parent is not None and robot.links[parent].flexible is not None
    return gripped(link) and link.flexible is not None


def moving(robot: Robot) -> list[int]:
    """Per link, how many coordinates move its frame."""
    found: dict[int, int] = {}
    for i in robot.order:
        parent, link = robot.parents[i], robot.links[i]
        above = 0 if parent is None else found[parent] + _at_tip(robot.links[parent])
        found[i] = above + (1 if isinstance(link.joint, MovingJoint) else 0)
    return [found[i] for i in range(len(robot.links))]


def _elastic(link: Link) -> int:
    return link.coordinates - link.joint.coordinates


def _at_tip(link: Link) -> int:
    """Elastic coordinates that move what hangs on the link: two per plane of bending where they are those of nodes."""
    if link.flexible is None:
        return 0
    basis = link.flexible.basis
    if isinstance(basis, Elements) or (isinstance(basis, Reduced) and basis.interface == "fixed"):
        return sum(2 if family.startswith("bend") else 1 for family in link.flexible.counts)
    return link.flexible.coordinates


def _rounded(count: float) -> str:
    return f"{round(count, -3):,.0f}".replace(",", " ")
