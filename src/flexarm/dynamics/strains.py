"""Strain of a link along its axis, from the curvatures and the stretch that its shapes describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.properties import rotation
from flexarm.dynamics.links.sliding import gripped
from flexarm.foundation.messages import format_number, shown
from flexarm.foundation.validation import Array, real_number
from flexarm.robot.flexibility import FAMILIES

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import Body
    from flexarm.robot import Link

LEVERS = ("stretch", "bend_y", "bend_z")
RIGID = "link '{link}' is rigid and has no strain; take the moments of its sections, which every link has"


def strain(body: Body, own: Array, x: Array, y: Array, z: Array) -> Array:
    """(..., len(x)): u' - y v'' - z w'' at (y, z) of the sections at x, from the body's own coordinates (..., n)."""
    eta, of = own[..., body.local.elastic], body.integrals
    if not gripped(body.link):
        return np.asarray(np.einsum("xn,...n->...x", strain_rows(body, x, y, z), eta))
    weights = _weights(y, z)
    length, out = body.link.length, own[..., [body.local.own_joint]]
    guide, in_front = length - out, x >= length - out - 1e-12 * length
    front = _scaled(of, eta[..., : of.count], out / length, x - guide, weights)
    if body.rear is None:
        return np.where(in_front, front, np.nan)
    weights["stretch"] = -weights["stretch"]  # along an axis that runs the other way
    rear = _scaled(body.rear, eta[..., of.count :], guide / length, guide - x, weights)
    return np.where(in_front, front, rear)


def strain_rows(body: Body, x: Array, y: Array, z: Array) -> Array:
    """(len(x), n): derivatives of the strain by the elastic coordinates of a link that does not slide in its joint."""
    of, weights = body.integrals, _weights(y, z)
    return sum((weights[name][:, None] * _strains(of, name, x) for name in LEVERS), np.zeros((len(x), of.count)))


def _weights(y: Array, z: Array) -> dict[str, Array]:
    return dict(zip(LEVERS, (np.ones(len(y)), -y, -z), strict=True))


def surface_point(link: Link, x: float) -> tuple[float, float]:
    """Return (y, z) where a strain gauge is glued by default: on the surface, in the plane in which the link bends.

    A link that stretches and does not bend has the same strain all over its section; the point is on its axis then.
    """
    flexible = link.flexible
    if flexible is None:
        raise ValueError(RIGID.format(link=link.name))
    bends = [family for family in ("bend_y", "bend_z") if getattr(flexible, family)]
    if not bends and flexible.stretch:
        return 0.0, 0.0
    half = _half_size(link, x / link.length, bends[0]) if len(bends) == 1 else None
    if half is None:
        why = "bends both ways" if len(bends) > 1 else "has no section of known size" if bends else "does not bend"
        raise ValueError(
            f"link '{link.name}' {why}: where on the section is the strain gauge? Give y and z (m), "
            f"strain('{link.name}', {x:g}, at=(0.002, 0)) or '{link.name}.strain({x:g}, 0.002, 0)'; "
            "on the axis of the link there is no bending strain"
        )
    return (half, 0.0) if bends == ["bend_y"] else (0.0, half)


def _half_size(link: Link, xi: float, family: str) -> float | None:
    """Return half the size of a section in the direction in which a family bends it, None if it is unknown."""
    shape = None if link.section is None else link.section.plain_at(min(xi, 1.0))
    extents = {} if shape is None else shape.extents()
    names = ("width" if family == "bend_y" else "height", "diameter", "outer")
    return next((extents[name] / 2 for name in names if name in extents), None)


def point_of_section(at: object) -> tuple[float, float]:
    """y and z from what a user gives."""
    if not isinstance(at, (list, tuple, np.ndarray)) or len(at) != 2:
        raise ValueError(f"at = {shown(at)}: must be (y, z), a point of the section (m)")
    return real_number("at: y", at[0], "m"), real_number("at: z", at[1], "m")


def require_in_section(link: Link, x: Array, y: float, z: float) -> None:
    """A ValueError where there is no material at (y, z), as far as the section's shape is known."""
    assert link.section is not None
    for each in x.tolist():
        if link.section.has(min(each / link.length, 1.0), y, z) is False:
            sizes = ", ".join(f"{name} {format_number(size)} m" for name, size in link.section.extents().items())
            raise ValueError(
                f"at = ({y:g}, {z:g}): must lie in the section of link '{link.name}' at x = {each:g} m "
                f"({type(link.section).__name__.lower()}{', ' if sizes else ''}{sizes})"
            )


def _scaled(of: LinkIntegrals, eta: Array, scale: Array, ahead: Array, weights: dict[str, Array]) -> Array:
    """(..., x) of a part that is the whole link, scaled: strains grow as it gets shorter."""
    total = np.zeros(ahead.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        where = np.nan_to_num(np.clip(ahead / scale, 0.0, of.length))
        for name, weight in weights.items():
            rows = _strains(of, name, where.ravel()).reshape(*where.shape, of.count)
            found = np.einsum("...xn,...n->...x", rows, eta)
            total = total + weight * found / scale ** FAMILIES[name].order
    return total


def _strains(of: LinkIntegrals, family: str, x: Array) -> Array:
    """(len(x), n): curvatures or stretches of the shapes of a family; where there is shear, of how sections turn."""
    out = np.zeros((len(x), of.count))
    if family in of.columns:
        space = of.shapes[family]
        bent = space if family == "stretch" else rotation(space)
        out[:, of.columns[family]] = bent.derivative()(x)
    return out
