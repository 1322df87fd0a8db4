"""Where things sit on a link: from its root frame to a point of its deformed axis and into the section's axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals, Station
from flexarm.beam.polynomials import PiecewisePolynomials
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.constants import constant
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.moving_shapes import shortening_at, values_at, values_at_nodes
from flexarm.mechanics.rotations import Shift, Step, Turn, X, Y, Z


def place(body: Body, station: Station, own: Jet) -> list[Step]:
    """A place that is fixed to the link; `own` are the body's coordinates."""
    if body.gripped:
        return _on_gripped(body, Jet.constant(station.x), own, station.x)
    eta = own.of(body.local.elastic)
    return [*along_axis(station, eta), *section_turn(station, eta)]


def moving_place(body: Body, x: Jet, own: Jet, nodal: bool = False) -> list[Step]:
    """A place that moves along the link, x from its root; `nodal`: it deflects as the nearest node does."""
    if body.gripped:
        return _on_gripped(body, x, own)
    if not body.integrals.count:
        return [along_x(x)]
    section = _section(body.integrals, x, own.of(body.local.elastic), nodal)
    return _steps(section.displacement + (x - section.shortening).along_x, section.angles)


def _on_gripped(body: Body, x: Jet, own: Jet, fixed: float | None = None) -> list[Step]:
    """A place on a link whose joint divides it; x counts from the end behind the joint, the root frame is the joint.

    At the ends (`fixed`) the part is known and the shapes are constant; elsewhere it is whichever has the place.
    """
    length, d = body.link.length, own.of(body.local.joint)
    out = d / Jet.constant(length)
    room = Jet.constant(1.0) - out  # scales of the parts in front and behind
    along = (x + d - Jet.constant(length)).along_x
    elastic, count = own.of(body.local.elastic), body.integrals.count
    if body.rear is None or fixed != 0:
        at = Jet.constant(length) if fixed == length else Jet.constant(length) - (Jet.constant(length) - x) / out
        if body.rear is None and fixed != length:  # what is not there is thought straight
            at = at.choose(at.x > 0, Jet.constant(0.0))
        front = _scaled(_section(body.integrals, at, elastic.of(slice(0, count))), out, 1)
        if body.rear is None or fixed == length:
            return _steps(along + front[0], front[1])
    at = Jet.constant(length) if fixed == 0 else Jet.constant(length) - x / room
    behind = _scaled(_section(body.rear, at, elastic.of(slice(count, None))), room, -1)
    if fixed == 0:
        return _steps(along + behind[0], behind[1])
    ahead = x.x >= length - d.x
    displacement, angles = (one.choose(ahead, other) for one, other in zip(front, behind, strict=True))
    return _steps(along + displacement, angles)


@dataclass(frozen=True)
class _Section:
    """Displacement (3), shortening and angles (3) of a section of the axis, with their rates."""

    displacement: Jet
    shortening: Jet
    angles: Jet


def _scaled(section: _Section, scale: Jet, outward: int) -> tuple[Jet, Jet]:
    """Displacement and angles in a part that is `scale` times as long as the link, so its slopes and its shortening
    are 1/scale as large; `outward` is -1 for one that runs against the link's axis."""
    lean = Jet.constant(outward) / scale
    slopes = (section.angles.of(1) * lean).above(section.angles.of(2) * lean)
    return section.displacement - (section.shortening * lean).along_x, section.angles.of(0).above(slopes)


def _section(integrals: LinkIntegrals, x: Jet, eta: Jet, nodal: bool = False) -> _Section:
    """At a moving x of a link, or at a constant one."""
    rows = dict.fromkeys(("stretch", "bend_y", "bend_z", "twist", "bend_y'", "bend_z'"), Jet.constant(0.0))
    s = Jet.constant(0.0)
    if integrals.stiffening != "none" and integrals.count:
        s = shortening(_shortening_matrix(integrals, x, nodal), eta)
    for name, space in integrals.shapes.items():
        part = eta.of(integrals.columns[name])
        rows[name] = _combined(_orders(space, x, nodal), x, part)
        if name.startswith("bend"):
            orders = _orders(space.derivative(), x, nodal)
            slope = rows[name + "'"] = _combined(orders, x, part)
            if integrals.stiffening != "none" and not (nodal or x.still):  # the integral's end moves
                tilt, dtilt = slope.x**2 / 2, slope.x * (slope.dx + orders[0] @ part.dx)
                s = s + Jet(ca.SX(0), tilt * x.dx, dtilt * x.dx + tilt * x.ddx)
    return _Section(
        rows["stretch"].above(rows["bend_y"]).above(rows["bend_z"]),
        s,
        rows["twist"].above(-rows["bend_z'"]).above(rows["bend_y'"]),
    )


def _orders(space: PiecewisePolynomials, x: Jet, nodal: bool) -> list[Any]:
    """The functions at x and their first two derivatives there (none where x stands still or counts by nodes)."""
    none = ca.SX(1, space.count)
    if x.still:
        return [constant(space(float(x.x))), none, none]
    if nodal:
        return [values_at_nodes(space.breaks, space(space.breaks), x.x), none, none]
    slope = space.derivative()
    return [values_at(each, x.x) for each in (space, slope, slope.derivative())]


def _combined(orders: list[Any], x: Jet, eta: Jet) -> Jet:
    """N(x) eta."""
    N, dN, ddN = orders
    slope = dN @ eta.x
    second = 2 * (dN @ eta.dx) * x.dx + (ddN @ eta.x) * x.dx**2 + slope * x.ddx
    return Jet(N @ eta.x, N @ eta.dx + slope * x.dx, N @ eta.ddx + second)


def _shortening_matrix(integrals: LinkIntegrals, x: Jet, nodal: bool) -> Any:
    if x.still:
        return constant(integrals.shortening(0.0, float(x.x)))
    if not nodal:
        return shortening_at(integrals, x.x)
    nodes = np.unique(np.concatenate([space.breaks for space in integrals.shapes.values()]))
    values = np.array([integrals.shortening(0.0, float(node)).ravel() for node in nodes])
    return ca.reshape(values_at_nodes(nodes, values, x.x), integrals.count, integrals.count)


def _steps(displacement: Jet, angles: Jet) -> list[Step]:
    """From the displacement and the angles of a section."""
    steps: list[Step] = [Shift(displacement.x, displacement.dx, displacement.ddx)]
    for row in (2, 1, 0):
        angle = angles.of(row)
        if not (angle.still and angle.x.is_zero()):
            steps.append(Turn((X, Y, Z)[row], angle.x, angle.dx, angle.ddx))
    return steps


def along_x(d: Jet) -> Step:
    """Along the axis of a frame."""
    r = d.along_x
    return Shift(r.x, r.dx, r.ddx)


def along_axis(station: Station, eta: Jet) -> list[Step]:
    """From a link's root frame to a point of its deformed axis, axes kept: rho = (x + u - s, v, w)."""
    return [deflected(station, eta, shortening(constant(station.H), eta))]


def shortening(H: Any, eta: Jet) -> Jet:
    """s = 1/2 eta^T H eta."""
    lean, dlean = H @ eta.x, H @ eta.dx
    return Jet(ca.dot(eta.x, lean) / 2, ca.dot(eta.dx, lean), ca.dot(eta.ddx, lean) + ca.dot(eta.dx, dlean))


def deflected(station: Station, eta: Jet, s: Jet) -> Step:
    U = ca.sparsify(ca.DM(station.U))

    def rho(x: Any, eta: Any, s: Any) -> Any:
        return ca.vertcat(x - s, 0, 0) + U @ eta

    return Shift(rho(station.x, eta.x, s.x), rho(0, eta.dx, s.dx), rho(0, eta.ddx, s.ddx))


def section_turn(station: Station, eta: Jet) -> list[Step]:
    """From there into the section's axes: Rz(v') Ry(-w') Rx(theta)."""
    W = ca.sparsify(ca.DM(station.W))
    angles, rates, second_rates = W @ eta.x, W @ eta.dx, W @ eta.ddx
    present = [row for row in (2, 1, 0) if station.W[row].any()]
    return [Turn((X, Y, Z)[row], angles[row], rates[row], second_rates[row]) for row in present]
