"""Where links and their points are: the papers' transformation matrices and position vectors."""

from __future__ import annotations

from itertools import pairwise

from flexarm.beam.polynomials import merged
from flexarm.symbolic import hermite
from flexarm.symbolic.algebra import ZERO, Expr, Rows, Vector, plus, symbol
from flexarm.symbolic.beams import Beam, displacement
from flexarm.symbolic.frames import Frame, Matrix3, apply
from flexarm.symbolic.model import Body, Model


def transforms(model: Model) -> list[Rows]:
    """Theta_(i-1)i of My et al., eq. (2): from the frame of a link's parent (the ground's for the first) to its own.

    Their frame of a link that slides through its joint is at its rear end, a = d - l before the joint.
    """
    out = []
    for i in range(len(model.bodies)):
        body = model.bodies[i]
        above = None if body.parent is None else model.bodies[body.parent]
        R, p = _pose(model.ground if above is None else above.frame, body.frame)
        back = ZERO if above is None else _rear(above)
        x, y, z = plus(p, (-back[0], 0, 0), apply(R, _rear(body)))
        out.append([[*R[0], x], [*R[1], y], [*R[2], z], [0, 0, 0, 1]])
    return out


def points(model: Model) -> list[list[Rows]]:
    """r_0ij(x) of eq. (5), in the ground's frame: for each link, for each element, a column of four.

    x runs from the left node of an element; in a link that is one piece, from its root.
    """
    out = []
    x = symbol("x")
    for i in range(len(model.bodies)):
        body = model.bodies[i]
        R, p = _pose(model.ground, body.frame)
        out.append([[[entry] for entry in (*plus(p, apply(R, rho)), 1)] for rho in _local(body.beam, x)])
    return out


def _local(beam: Beam, x: Expr) -> list[Vector]:
    """r_ij(x) of eq. (3)."""
    if beam.mesh:
        size = beam.l / beam.elements
        found = []
        for j in range(beam.elements):
            nodes = [displacement(node) for node in beam.mesh[2 * j : 2 * j + 4]]
            w = sum(s * u for s, u in zip(hermite.shapes(x, size), nodes, strict=True))
            found.append((j * size + x, w, 0))
        return found
    breaks = merged([0.0, beam.integrals.length], *(space.breaks for space in beam.integrals.shapes.values()))
    middles = (breaks[:-1] + breaks[1:]) / 2
    return [beam.moving_place(x, float(middle))[0] for middle in middles]


def _pose(start: Frame, end: Frame) -> tuple[Matrix3, Vector]:
    """Rotation and position of a frame on one that it hangs on."""
    path = end.path
    p: Vector = ZERO
    for before, frame in pairwise(path):
        if start in before.path:
            p = plus(p, apply(start.rotation(before), frame.origin))
    return start.rotation(end), p


def _rear(body: Body) -> Vector:
    """From the frame of a link to the papers', in its own axes."""
    if not body.beam.gripped or body.beam.d is None:
        return ZERO
    return body.beam.d[1] - body.beam.l, 0, 0
