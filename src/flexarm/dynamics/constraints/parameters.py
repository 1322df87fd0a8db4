"""Parameters of a robot's constraints."""

from __future__ import annotations

import numpy as np

from flexarm.dynamics.bodies import Body
from flexarm.dynamics.links.beam_parameters import add_nodes, nodally_held
from flexarm.dynamics.model import Chain
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.places import Place, add_place
from flexarm.foundation.validation import Array
from flexarm.robot.constraints import Constraint, Loop, OnLine, OnPlane, PointSupport, constraint_names
from flexarm.robot.links import GROUND
from flexarm.robot.pose import rotation_matrix

AXES = "xyz"


def add_constraints(out: Parameters, chain: Chain) -> None:
    """Add the parameters of all constraints, and of links that are held at nodes of their mesh."""
    constraints = chain.robot.every_constraint
    names = constraint_names(constraints)
    out.fact("the robot", "has the constraints", ", ".join(names) or "none")
    for name, constraint in zip(names, constraints, strict=True):
        _add(out, chain, f"constraints.{name}", constraint)
    for body in chain.bodies:
        if nodally_held(body.link):
            add_nodes(out, f"links.{body.link.name}.grip", body.integrals)


def _add(out: Parameters, chain: Chain, path: str, constraint: Constraint) -> None:
    out.fact(path, "is of the kind", constraint.type)
    out.fact(path, "holds", ", ".join(link for link, _, _ in constraint.places.values()))
    if isinstance(constraint, Loop):
        _add_loop(out, chain, path, constraint)
    elif isinstance(constraint, PointSupport):
        out.fact(path, "has directions =", constraint.directions)
        out.add_given(f"{path}.position", "m", constraint.position or (0.0, 0.0, 0.0))
        if constraint.on != GROUND:
            _add_place(out, chain, f"{path}.on", constraint.on, constraint.at)
        body = _body(chain, constraint.link)
        body.model.add_rail(out, f"{path}.rail", body)
    elif isinstance(constraint, (OnLine, OnPlane)):
        _add_place(out, chain, f"{path}.place", constraint.link, constraint.at)
        out.add_given(f"{path}.point", "m", constraint.point)
        if isinstance(constraint, OnPlane):
            out.add_directions(f"{path}.normal", constraint.normal_vector)
        else:
            _add_sides(out, path, perpendicular_axes(constraint.direction_vector))


def _add_loop(out: Parameters, chain: Chain, path: str, loop: Loop) -> None:
    out.fact(path, "has joint =", loop.joint)
    _add_place(out, chain, f"{path}.first", loop.first, loop.first_at)
    if loop.second == GROUND:
        out.add_given(f"{path}.position", "m", loop.position)
    else:
        _add_place(out, chain, f"{path}.second", loop.second, loop.second_at)
    out.add_directions(f"{path}.mount", rotation_matrix(loop.mount))
    if loop.joint != "weld":
        out.add_directions(f"{path}.axis", loop.axis_vector)
        sides = perpendicular_axes(loop.axis_vector)
        _add_sides(out, path, {label: np.cross(side, loop.axis_vector) for label, side in sides.items()})


def _add_sides(out: Parameters, path: str, sides: dict[str, Array]) -> None:
    out.fact(path, "has rows along", ", ".join(sides))
    for label, side in sides.items():
        out.add_directions(f"{path}.side.{label}", side)


def _add_place(out: Parameters, chain: Chain, path: str, link: str, at: float | None) -> None:
    place = Place(*chain.robot.place(link, at))
    if place.frame is not None:
        out.fact(path, "is a frame on", chain.robot.links[place.link].name)
    add_place(out, path, chain.bodies[place.link], place)


def _body(chain: Chain, link: str) -> Body:
    return next(body for body in chain.bodies if body.link.name == link)


def perpendicular_axes(direction: tuple[float, float, float]) -> dict[str, Array]:
    """Return two unit vectors perpendicular to a direction, by name; coordinate axes where possible."""
    u = np.array(direction)
    names = [name for name, along in zip(AXES, np.abs(u) > 1 - 1e-12) if not along]
    if len(names) == 2:
        return {name: np.eye(3)[AXES.index(name)] for name in names}
    second = np.eye(3)[int(np.abs(u).argmin())]  # the axis closest to perpendicular
    first = np.cross(second, u)
    first /= np.linalg.norm(first)
    return {"1": first, "2": np.cross(u, first)}
