"""Where things sit on a link: from its root frame to a point of its deformed axis and into the section's axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexarm.mechanics.bodies import SymbolicBody
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.moving_shapes import NodalShapes, SlidingShapes
from flexarm.mechanics.rotations import Shift, Step, Turn, X, Y, Z
from flexarm.mechanics.symbols import SymbolsUnder


def place(body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
    """A place that is fixed to the link; `own` are the body's coordinates."""
    if body.gripped:
        return _fixed_on_gripped(body, there, own)
    eta = own.of(body.local.elastic)
    return [*along_axis(there, eta), *section_turn(there, eta)]


def moving_place(body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, nodal: bool = False) -> list[Step]:
    """A place that moves along the link, x from its root; `nodal`: it deflects as the nearest node does."""
    if body.gripped:
        return _on_gripped(body, rail, x, own)
    if not body.shapes.count:
        return [along_x(x)]
    shapes = NodalShapes(body.shapes, rail) if nodal else SlidingShapes(body.shapes, rail)
    section = _moving_section(shapes, x, own.of(body.local.elastic))
    return _steps(section.displacement + (x - section.shortening).along_x, section.angles)


def _fixed_on_gripped(body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
    """At the ends the part is known and the shapes are constant; elsewhere it is whichever has the place."""
    elastic, count, d = own.of(body.local.elastic), body.shapes.count, own.of(body.local.joint)
    out = d / Jet.constant(body.length)
    if "front.U" in there:
        displacement, angles = _scaled(_fixed_section(there.under("front"), elastic.of(slice(0, count))), out, 1)
        return _steps(d.along_x + displacement, angles)
    if "rear.U" in there:
        room, eta = Jet.constant(1.0) - out, elastic.of(slice(count, None))
        displacement, angles = _scaled(_fixed_section(there.under("rear"), eta), room, -1)
        return _steps((d - Jet.constant(body.length)).along_x + displacement, angles)
    return _on_gripped(body, there, Jet.constant(there["x"]), own)


def _on_gripped(body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet) -> list[Step]:
    """A place on a link whose joint divides it; x counts from the end behind the joint, the root frame is the joint."""
    length, d = Jet.constant(body.length), own.of(body.local.joint)
    out = d / length
    room = Jet.constant(1.0) - out  # scales of the parts in front and behind
    along = (x + d - length).along_x
    elastic, count = own.of(body.local.elastic), body.shapes.count
    at = length - (length - x) / out
    if body.rear is None:  # what is not there is thought straight
        at = at.choose(at.x > 0, Jet.constant(0.0))
    ahead = SlidingShapes(body.shapes, rail.under("front"))
    front = _scaled(_moving_section(ahead, at, elastic.of(slice(0, count))), out, 1)
    if body.rear is None:
        return _steps(along + front[0], front[1])
    back = SlidingShapes(body.rear, rail.under("rear"))
    section = _moving_section(back, length - x / room, elastic.of(slice(count, None)))
    behind = _scaled(section, room, -1)
    in_front = x.x >= length.x - d.x
    displacement, angles = (one.choose(in_front, other) for one, other in zip(front, behind, strict=True))
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


def _fixed_section(there: SymbolsUnder, eta: Jet) -> _Section:
    """Where the shapes are constant."""
    U, W = there["U"], there["W"]
    moved, turned = (Jet(*(matrix @ each for each in (eta.x, eta.dx, eta.ddx))) for matrix in (U, W))
    return _Section(moved, shortening(there["H"], eta), turned)


def _moving_section(shapes: NodalShapes | SlidingShapes, x: Jet, eta: Jet) -> _Section:
    """At a moving x of a link."""
    rows = dict.fromkeys(("stretch", "bend_y", "bend_z", "twist", "bend_y'", "bend_z'"), Jet.constant(0.0))
    s = Jet.constant(0.0)
    shortens = shapes.of.stiffening != "none" and shapes.of.count
    if shortens:
        s = shortening(shapes.shortening(x.x), eta)
    for name, columns in shapes.of.columns.items():
        part = eta.of(columns)
        rows[name] = _combined(shapes.orders(name, x.x), x, part)
        if name.startswith("bend"):
            orders = shapes.orders(name, x.x, slope=True)
            slope = rows[name + "'"] = _combined(orders, x, part)
            if shortens and isinstance(shapes, SlidingShapes):  # the integral's end moves
                tilt, dtilt = slope.x**2 / 2, slope.x * (slope.dx + orders[0] @ part.dx)
                s = s + Jet(ca.SX(0), tilt * x.dx, dtilt * x.dx + tilt * x.ddx)
    return _Section(
        rows["stretch"].above(rows["bend_y"]).above(rows["bend_z"]),
        s,
        rows["twist"].above(-rows["bend_z'"]).above(rows["bend_y'"]),
    )


def _combined(orders: list[Any], x: Jet, eta: Jet) -> Jet:
    """N(x) eta."""
    N, dN, ddN = orders
    slope = dN @ eta.x
    second = 2 * (dN @ eta.dx) * x.dx + (ddN @ eta.x) * x.dx**2 + slope * x.ddx
    return Jet(N @ eta.x, N @ eta.dx + slope * x.dx, N @ eta.ddx + second)


def _steps(displacement: Jet, angles: Jet) -> list[Step]:
    """From the displacement and the angles of a section."""
    steps: list[Step] = [Shift(displacement.x, displacement.dx, displacement.ddx)]
    for row in (2, 1, 0):
        angle = angles.of(row)
        if not angle.idle:
            steps.append(Turn((X, Y, Z)[row], angle.x, angle.dx, angle.ddx))
    return steps


def along_x(d: Jet) -> Step:
    """Along the axis of a frame."""
    r = d.along_x
    return Shift(r.x, r.dx, r.ddx)


def along_axis(there: SymbolsUnder, eta: Jet) -> list[Step]:
    """From a link's root frame to a point of its deformed axis, axes kept: rho = (x + u - s, v, w)."""
    return [deflected(there, eta, shortening(there["H"], eta))]


def shortening(H: Any, eta: Jet) -> Jet:
    """s = 1/2 eta^T H eta."""
    lean, dlean = H @ eta.x, H @ eta.dx
    return Jet(ca.dot(eta.x, lean) / 2, ca.dot(eta.dx, lean), ca.dot(eta.ddx, lean) + ca.dot(eta.dx, dlean))


def deflected(there: SymbolsUnder, eta: Jet, s: Jet) -> Step:
    U = there["U"]

    def rho(x: Any, eta: Any, s: Any) -> Any:
        return ca.vertcat(x - s, 0, 0) + U @ eta

    return Shift(rho(there["x"], eta.x, s.x), rho(0, eta.dx, s.dx), rho(0, eta.ddx, s.ddx))


def section_turn(there: SymbolsUnder, eta: Jet) -> list[Step]:
    """From there into the section's axes: Rz(v') Ry(-w') Rx(theta)."""
    W = there["W"]
    angles, rates, second_rates = W @ eta.x, W @ eta.dx, W @ eta.ddx
    present = [row for row in (2, 1, 0) if W[row, :].nnz()]
    return [Turn((X, Y, Z)[row], angles[row], rates[row], second_rates[row]) for row in present]
