"""Mass and stiffness matrices of a robot at rest with straight links, in NumPy.

In that state all link models agree, so no equations of motion are needed. Several bases of the same links are treated
together: their shapes are evaluated at the same points, which gives the mass matrix between two bases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.bodies import Body
from flexarm.dynamics.model import Chain
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import MovingJoint, RidingJoint, Robot, Sleeve
from flexarm.robot.joints import Joint, TurnAbout

X_AXIS = np.array([1.0, 0.0, 0.0])
TWIST_LEVER = 0.1  # distance from the axis at which twist is a displacement, as a share of the length


@dataclass(frozen=True)
class BasisMatrices:
    """Matrices of a robot with one basis.

    columns: indices of its coordinates among those of all bases: joints and motors, then elastic coordinates.
    """

    columns: NDArray[np.intp]
    mass: Array
    stiffness: Array
    damping: Array


@dataclass(frozen=True)
class StraightRobot:
    """Matrices of a robot with several bases.

    mass: (n, n), over joints and motors, then the shapes of the first basis, of the second, ...
    weight: (n,), generalized forces of gravity.
    tips: (links, 4, n), displacement (m) of the tip of every link in the world, in the link's axes, and that of a point
        at a tenth of the length from the axis due to rotation about the axis.
    deflections: (links, 4, n), the same against the root of the link.
    rigid: by link with a joint, the columns of the joint and of the motor behind an elastic drive.
    links: links by name, parents first. gravity: in the world (m/s2).
    """

    mass: Array
    weight: Array
    bases: tuple[BasisMatrices, ...]
    tips: Array
    deflections: Array
    rigid: dict[str, tuple[int, int | None]]
    links: dict[str, StraightLink]
    gravity: Array

    def force(self, link: str, x: float, wrench: Sequence[float]) -> Array:
        """Return the generalized forces (n,) of a force and a torque in world axes on the section at x of a link."""
        frame = self.links[link].frame(x)
        force, torque = np.array(wrench[:3]), np.array(wrench[3:])
        return np.asarray((frame.axes.T @ force) @ frame.move + (frame.axes.T @ torque) @ frame.turn)


class _Frame(NamedTuple):
    """Frame on a link: axes and position in the world, and rotation and displacement per coordinate in its own axes."""

    axes: Array
    position: Array
    turn: Array
    move: Array


def is_supported(robot: Robot) -> bool:
    """Return True if all joints are driven hinges, slides along smooth links or welds, and nothing else holds links."""
    return not robot.every_constraint and not any(
        link.joint.is_passive
        or not (_is_smooth_slide(link.joint) or hinge_axis(link.joint) is not None or not link.joint.freedoms)
        or (link.flexible is not None and link.flexible.loose)
        for link in robot.links
    )


def hinge_axis(joint: Joint) -> Array | None:
    """Return the axis of a joint that is a hinge, in its own axes; None for other joints."""
    motions = joint.elementary_motions
    is_hinge = len(motions) == 1 and isinstance(motions[0], TurnAbout) and motions[0].ratio is None
    return np.array(motions[0].axis) if is_hinge else None


def _is_smooth_slide(joint: Joint) -> bool:
    return isinstance(joint, RidingJoint) and not isinstance(joint, Sleeve) and not joint.on_mesh


def straight_robot(chains: Sequence[Chain], posture: dict[str, float]) -> StraightRobot:
    """Return the matrices of one robot with several bases.

    Parameters
    ----------
    chains : sequence of Chain
        The same robot with different shapes.
    posture : dict of str to float
        Coordinates of joints that are not zero, by link.
    """
    first = chains[0]
    joints, rigid = _rigid_columns(first)
    elastic, count = _elastic_columns(chains, joints)
    mass, weight, gravity = np.zeros((count, count)), np.zeros(count), np.array(first.robot.gravity, dtype=float)
    links: dict[int, StraightLink] = {}
    for i in first.order:
        body = first.bodies[i]
        shapes = [(chain.bodies[i].integrals, place) for chain, place in zip(chains, elastic[i], strict=True)]
        above = None if body.parent is None else links[body.parent]
        root = _root(first.robot, body, above, posture, rigid[i][0], count)
        links[i] = link = StraightLink(body, root, shapes, above, np.array(first.robot.base.matrix))
        link.add_mass(mass, weight, gravity)
        _add_rotor(mass, body, *rigid[i])
    return StraightRobot(
        mass,
        weight,
        tuple(_basis(chain, mass, joints, rigid, [each[k] for each in elastic]) for k, chain in enumerate(chains)),
        np.array([each.tip() for each in links.values()]),
        np.array([each.deflection() for each in links.values()]),
        {body.link.name: (joint, motor) for body, (joint, motor) in zip(first.bodies, rigid) if joint is not None},
        {each.body.link.name: each for each in links.values()},
        gravity,
    )


def _rigid_columns(chain: Chain) -> tuple[int, list[tuple[int | None, int | None]]]:
    """Return how many joints and motors there are, and the columns of both by body."""
    count, found = 0, []
    for body in chain.bodies:
        places: list[int | None] = []
        for own in (body.local.joint, body.local.motor):
            places.append(None if own is None else count)
            count += own is not None
        found.append((places[0], places[1]))
    return count, found


def _elastic_columns(chains: Sequence[Chain], count: int) -> tuple[list[list[slice]], int]:
    """Return the columns of each body's shapes by basis, after `count` others, and the number of all columns."""
    found: list[list[slice]] = [[] for _ in chains[0].bodies]
    for chain in chains:
        for places, body in zip(found, chain.bodies, strict=True):
            places.append(slice(count, count + body.integrals.count))
            count += body.integrals.count
    return found, count


def _root(
    robot: Robot, body: Body, above: StraightLink | None, posture: dict[str, float], column: int | None, count: int
) -> _Frame:
    """Return the frame of a link's root."""
    joint, q = body.link.joint, posture.get(body.link.name, 0.0)
    riding = joint.rides
    if above is None:
        rest = np.zeros((3, count))
        frame = _Frame(np.array(robot.base.matrix), np.array(robot.base.position, dtype=float), rest, rest)
        frame = _shifted(frame, q * X_AXIS) if riding else frame
    else:
        frame = above.frame(q if riding else float(body.hangs_at or 0.0))
    frame = _shifted(frame, np.array(body.link.offset, dtype=float))
    if riding and column is not None:
        move = frame.move.copy()
        move[:, column] += X_AXIS
        frame = frame._replace(move=move)
    frame = _turned(frame, np.array(joint.mount_matrix))
    if (axis := hinge_axis(joint)) is not None and column is not None:
        turn = frame.turn.copy()
        turn[:, column] += axis
        frame = _turned(frame._replace(turn=turn), _rotation(axis, q))
    return frame


def _shifted(frame: _Frame, by: Array) -> _Frame:
    move = frame.move + _cross(frame.turn, by)
    return _Frame(frame.axes, frame.position + frame.axes @ by, frame.turn, move)


def _turned(frame: _Frame, by: Array) -> _Frame:
    return _Frame(frame.axes @ by, frame.position, by.T @ frame.turn, by.T @ frame.move)


def _cross(turn: Array, by: Array) -> Array:
    """Return turn x by of every column, (3, n)."""
    return np.asarray(np.cross(turn, by, axisa=0, axisc=0))


def _rotation(axis: Array, angle: float) -> Array:
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew)


class StraightLink:
    """A link with the shapes of all bases, each at its columns; `base_axes` are those of the robot's base."""

    def __init__(
        self,
        body: Body,
        root: _Frame,
        shapes: list[tuple[LinkIntegrals, slice]],
        parent: StraightLink | None,
        base_axes: Array,
    ) -> None:
        self.body, self.root, self.shapes, self.base_axes = body, root, shapes, base_axes
        self.parent = None if parent is None else parent.body.link.name

    def frame(self, x: float) -> _Frame:
        """Return the frame of the section at x."""
        place = _shifted(self.root, x * X_AXIS)
        turn, move = place.turn.copy(), place.move.copy()
        for beam, columns in self.shapes:
            if beam.count:
                station = beam.station(x)
                turn[:, columns] += station.W
                move[:, columns] += station.U
        return place._replace(turn=turn, move=move)

    def tip(self) -> Array:
        """Return displacements (4, n): of the tip, and of a point off the axis due to rotation about the axis."""
        length = self.body.link.length
        frame = self.frame(length)
        return np.vstack([frame.move, TWIST_LEVER * length * frame.turn[:1]])

    def deflection(self) -> Array:
        """Return displacements (4, n) as in `tip`, relative to the root."""
        length = self.body.link.length
        out = np.zeros((4, self.root.move.shape[1]))
        for beam, columns in self.shapes:
            if beam.count:
                station = beam.station(length)
                out[:3, columns], out[3, columns] = station.U, TWIST_LEVER * length * station.W[0]
        return out

    def add_mass(self, mass: Array, weight: Array, gravity: Array) -> None:
        """Add mass and weight of the link and of everything fixed to it."""
        own_gravity = self.root.axes.T @ gravity
        self._add_beam(mass, weight, own_gravity)
        for _, lump, at in self.body.link.lumps:
            place = _shifted(self.frame(at), np.array(lump.offset, dtype=float))
            mass += lump.mass * place.move.T @ place.move
            mass += place.turn.T @ np.array(lump.inertia_matrix) @ place.turn
            weight += lump.mass * own_gravity @ place.move

    def _add_beam(self, mass: Array, weight: Array, gravity: Array) -> None:
        # The grid of the largest degree is exact for products of all shapes.
        beam = max((beam for beam, _ in self.shapes), key=lambda beam: len(beam.grid.x))
        grid, root = beam.grid, self.root
        x = grid.x
        turn, move = (np.repeat(each[None], len(x), axis=0) for each in (root.turn, root.move))
        move[:, 1] += x[:, None] * root.turn[2]
        move[:, 2] -= x[:, None] * root.turn[1]
        for each, columns in self.shapes:
            if each.count:
                turn[:, :, columns] += each.rotation(x)
                move[:, :, columns] += each.displacement(x)
        weights = np.repeat((grid.weights * beam.properties.mass(grid)[:, 0])[:, None], 3, axis=1)
        for field, per_point in ((move, weights), (turn, beam._rotary_inertia(grid))):
            rows = field.reshape(-1, field.shape[2])
            mass += rows.T @ (per_point.reshape(-1, 1) * rows)
        weight += np.einsum("p,a,pan->n", weights[:, 0], gravity, move)


def _add_rotor(mass: Array, body: Body, joint: int | None, motor: int | None) -> None:
    drive = body.link.joint.drive if isinstance(body.link.joint, MovingJoint) else None
    if drive is not None and joint is not None:
        place = joint if motor is None else motor
        mass[place, place] += drive.reflected_inertia


def _basis(
    chain: Chain, mass: Array, joints: int, rigid: list[tuple[int | None, int | None]], elastic: list[slice]
) -> BasisMatrices:
    columns = np.concatenate([np.arange(joints), *(np.arange(each.start, each.stop) for each in elastic)])
    stiffness, damping = np.zeros((2, len(columns), len(columns)))
    start = joints
    for body, (joint, motor) in zip(chain.bodies, rigid, strict=True):
        own = slice(start, start + body.integrals.count)
        stiffness[own, own], damping[own, own] = body.integrals.K, body.integrals.D
        start = own.stop
        moving = body.link.joint
        if joint is None or not isinstance(moving, MovingJoint):
            continue
        damping[joint, joint] += moving.viscous
        stiffness[joint, joint] += moving.stiffness
        if motor is not None and moving.drive is not None and moving.drive.stiffness is not None:
            spring = np.array([[1.0, -1.0], [-1.0, 1.0]])
            stiffness[np.ix_([joint, motor], [joint, motor])] += moving.drive.stiffness * spring
            damping[np.ix_([joint, motor], [joint, motor])] += moving.drive.damping * spring
    return BasisMatrices(columns, mass[np.ix_(columns, columns)], stiffness, damping)
