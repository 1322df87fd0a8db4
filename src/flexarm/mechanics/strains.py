"""Strain of a link along its axis, from the curvatures and the stretch that its shapes describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.shear import rotation
from flexarm.foundation.families import FAMILIES
from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import short, shown
from flexarm.mechanics.link_models.gripped import gripped

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Body
    from flexarm.robot import Link

LEVERS = ("stretch", "bend_y", "bend_z")


def strain(body: Body, own: Array, x: Array, y: float, z: float) -> Array:
    """(..., len(x)): u' - y v'' - z w'' at (y, z) of the sections at x, from the body's own coordinates (..., n)."""
    eta, of = own[..., body.local.elastic], body.integrals
    weights = dict(zip(LEVERS, (1.0, -y, -z), strict=True))
    if not gripped(body.link):
        rows = sum((weights[name] * _strains(of, name, x) for name in LEVERS), np.zeros((len(x), of.count)))
        return np.asarray(np.einsum("xn,...n->...x", rows, eta))
    length, out = body.link.length, own[..., [body.local.own_joint]]
    guide, in_front = length - out, x >= length - out - 1e-12 * length
    front = _scaled(of, eta[..., : of.count], out / length, x - guide, weights)
    if body.rear is None:
        return np.where(in_front, front, np.nan)
    weights["stretch"] *= -1.0  # along an axis that runs the other way
    rear = _scaled(body.rear, eta[..., of.count :], guide / length, guide - x, weights)
    return np.where(in_front, front, rear)


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
            sizes = ", ".join(f"{name} {short(size)} m" for name, size in link.section.extents().items())
            raise ValueError(
                f"at = ({y:g}, {z:g}): must lie in the section of link '{link.name}' at x = {each:g} m "
                f"({type(link.section).__name__.lower()}{', ' if sizes else ''}{sizes})"
            )


def _scaled(of: LinkIntegrals, eta: Array, scale: Array, ahead: Array, weights: dict[str, float]) -> Array:
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
