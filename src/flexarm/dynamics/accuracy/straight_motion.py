"""Forces on straight links in a prescribed motion: weight, centrifugal and Coriolis forces, on the shapes of all bases.

This is inverse dynamics by Newton and Euler, at many times together, of links that move but do not bend. Accelerations
of joints are left out: the mass matrix has their forces.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexarm.dynamics.accuracy.straight_links import X_AXIS, StraightLink, StraightRobot, hinge_axis
from flexarm.foundation.validation import Array

Wrench = tuple[Array, Array]  # force and moment, each (times, 3)


def motion_forces(robot: StraightRobot, positions: Mapping[str, Array], rates: Mapping[str, Array]) -> Array:
    """Return the generalized forces (n, times) of weight and of velocities.

    Parameters
    ----------
    robot : StraightRobot
        The robot; its posture has no influence.
    positions, rates : mapping of str to ndarray, shape (times,)
        Coordinates of joints and their rates by link.
    """
    count = len(next(iter(positions.values())))
    out = np.zeros((len(robot.mass), count))
    moving = {
        name: _LinkMotion(each, positions.get(name), rates.get(name), count) for name, each in robot.links.items()
    }
    for each in moving.values():  # parents first
        parent = each.link.parent
        each.follow(None if parent is None else moving[parent], robot.gravity)
    for name, each in reversed(moving.items()):
        each.add_forces(out, robot.rigid.get(name, (None, None))[0])
        parent = each.link.parent
        if parent is not None:
            each.push(moving[parent], out)
    return out


class _LinkMotion:
    """Motion of one link in its own axes: rotation rate, its rate, acceleration of the root less gravity, and the force
    and moment at the root that the link and all that it carries exert on its joint.
    """

    def __init__(self, link: StraightLink, q: Array | None, rate: Array | None, count: int) -> None:
        self.link, zero = link, np.zeros(count)
        self.q, self.rate = zero if q is None else q, zero if rate is None else rate
        self.turn, self.turn_rate, self.acceleration = np.zeros((3, count, 3))
        self.force, self.moment = np.zeros((2, count, 3))
        joint = link.body.link.joint
        self.rides = joint.rides
        by = np.broadcast_to(np.array(joint.mount_matrix), (count, 3, 3))
        self.axis = hinge_axis(joint)
        self.by = by if self.axis is None else by @ _rotations(self.axis, self.q)  # to the axes of the parent

    @property
    def place(self) -> Array:
        """Return the root in the axes of the parent, (times, 3)."""
        x = self.q if self.rides else np.full(len(self.q), self.link.body.hangs_at or 0.0)
        return np.asarray(x[:, None] * X_AXIS + np.array(self.link.body.link.offset, dtype=float))

    def at(self, place: Array) -> Array:
        """Return the acceleration less gravity at points fixed to the link."""
        inward = np.cross(self.turn, np.cross(self.turn, place))
        return np.asarray(self.acceleration + np.cross(self.turn_rate, place) + inward)

    def follow(self, parent: _LinkMotion | None, gravity: Array) -> None:
        """Set the motion from that of the parent."""
        if parent is None:
            ground = np.broadcast_to(-gravity, self.acceleration.shape)
            self.acceleration = _inward(self.link.base_axes.T @ self.by, ground)
        else:
            moved = parent.at(self.place)
            if self.rides:
                moved = moved + 2 * np.cross(parent.turn, self.rate[:, None] * X_AXIS)
            self.acceleration = _inward(self.by, moved)
            self.turn, self.turn_rate = _inward(self.by, parent.turn), _inward(self.by, parent.turn_rate)
        if self.axis is not None:
            spin = self.rate[:, None] * self.axis
            self.turn_rate = self.turn_rate + np.cross(self.turn, spin)
            self.turn = self.turn + spin

    def add_forces(self, out: Array, joint: int | None) -> None:
        """Add the forces of the link's own mass on its shapes, and of all that it carries on its joint (column)."""
        beam = max((beam for beam, _ in self.link.shapes), key=lambda beam: len(beam.grid.x))
        along = self.at(X_AXIS) - self.acceleration  # per distance from the root
        self.force -= beam.m * self.acceleration + beam.c0 * along
        self.moment -= np.cross(X_AXIS, beam.c0 * self.acceleration + beam.g0 * along)
        self.moment -= self._spin(np.diag(beam.section_inertia))
        for beam, columns in self.link.shapes:
            if beam.count:
                out[columns] -= (self.acceleration @ beam.a + along @ beam.b).T
                out[columns] -= beam.j.T @ self.turn_rate.T  # without the gyroscopic moments of sections
        for _, lump, at in self.link.body.link.lumps:
            place = at * X_AXIS + np.array(lump.offset, dtype=float)
            force = -lump.mass * self.at(place)
            moment = np.cross(np.array(lump.offset, dtype=float), force) - self._spin(np.array(lump.inertia_matrix))
            self.take(out, np.full(len(force), at), (force, moment))
        if joint is not None:
            out[joint] += self.moment @ self.axis if self.axis is not None else _outward(self.by, self.force)[:, 0]

    def take(self, out: Array, x: Array, wrench: Wrench) -> None:
        """Add a force and a moment on the section at x (times,), in the link's axes."""
        force, moment = wrench
        self.force += force
        self.moment += moment + np.cross(x[:, None] * X_AXIS, force)
        for beam, columns in self.link.shapes:
            if beam.count:
                if (x == x[0]).all():
                    there = beam.station(float(x[0]))
                    out[columns] += there.U.T @ force.T + there.W.T @ moment.T
                else:
                    places = np.clip(x, 0.0, beam.length)
                    out[columns] += np.einsum("ta,tan->nt", force, beam.displacement(places))
                    out[columns] += np.einsum("ta,tan->nt", moment, beam.rotation(places))

    def push(self, parent: _LinkMotion, out: Array) -> None:
        """Pass the force and the moment at the root on to the parent."""
        force, moment = _outward(self.by, self.force), _outward(self.by, self.moment)
        offset, place = np.array(self.link.body.link.offset, dtype=float), self.place
        parent.take(out, place[:, 0] - offset[0], (force, moment + np.cross(offset, force)))

    def _spin(self, inertia: Array) -> Array:
        """Return the rate of angular momentum of a body with this inertia."""
        return np.asarray(self.turn_rate @ inertia + np.cross(self.turn, self.turn @ inertia))


def _rotations(axis: Array, angle: Array) -> Array:
    """Return the rotation matrices (times, 3, 3) about an axis."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(
        np.eye(3) + np.sin(angle)[:, None, None] * skew + (1 - np.cos(angle))[:, None, None] * skew @ skew
    )


def _inward(by: Array, vectors: Array) -> Array:
    """Return vectors (times, 3) of the parent's axes in the link's axes."""
    return np.asarray(np.einsum("tji,tj->ti", by, vectors))


def _outward(by: Array, vectors: Array) -> Array:
    """Return vectors (times, 3) of the link's axes in the parent's axes."""
    return np.asarray(np.einsum("tij,tj->ti", by, vectors))
