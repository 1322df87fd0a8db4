"""Robots with joints of all kinds, and their equations of motion by an independent recursion in NumPy."""

from dataclasses import dataclass

import numpy as np

import flexarm as fa
from flexarm.robot.joints import TurnAbout

TILTED = (0.3, -0.4, 0.2)

KINDS = {
    "revolute": fa.Revolute((1.0, 2.0, 2.0), mount=TILTED),
    "passive": fa.Revolute("y", mount=TILTED, actuated=False),
    "prismatic": fa.Prismatic((2.0, -1.0, 2.0), mount=TILTED),
    "screw": fa.Screw((0.0, 3.0, 4.0), pitch=0.7, mount=TILTED),
    "universal": fa.Universal(("x", (0.0, 1.0, 1.0)), mount=TILTED),
    "cylindrical": fa.Cylindrical((1.0, 1.0, 0.0), mount=TILTED),
    "planar": fa.Planar(("z", "x"), mount=TILTED),
    "driven planar": fa.Planar(mount=TILTED, actuated=True),
    "weld": fa.Weld(mount=TILTED),
}
"""Joints that consist of elementary motions."""

SLIDES = {
    "sliding prismatic": fa.SlidingPrismatic(mount=TILTED),
    "fixed prismatic": fa.FixedPrismatic(mount=TILTED),
    "sleeve": fa.Sleeve(),
}


def body(rng):
    """Return a payload with a random inertia."""
    shape = rng.normal(size=(3, 3))
    inertia = 0.02 * (shape @ shape.T + 0.5 * np.eye(3))
    return fa.PointMass(float(rng.uniform(0.5, 2.0)), offset=0.1 * rng.normal(size=3), inertia=inertia)


def random_tree(rng, kinds, gravity=(0.4, -1.0, -9.0)):
    """Return a tree of rigid links with these kinds of joints, branch by branch."""
    links, line = [], []
    for k, kind in enumerate(kinds):
        line = line[: int(rng.integers(1, len(line) + 1))] if line else []
        at = {"parent": line[-1], "at": 0.1} if line else {}
        line = [*line, f"l{k}"]
        offset = 0.2 * rng.normal(size=3)
        links.append(fa.Link(f"l{k}", 0.4, KINDS[kind], mass=0.0, payload=body(rng), offset=offset, **at))
    base = fa.Pose(position=(0.1, 0.2, 0.3), rotation=(0.5, 0.1, -0.2))
    return fa.Robot(links=links, gravity=gravity, base=base)


def rotation(axis, angle):
    """Return a rotation matrix, by Rodrigues' formula."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew


@dataclass
class Reference:
    """Mass matrix, gravity and inverse dynamics of a tree, from the joint axes in the world."""

    robot: fa.Robot

    def jacobians(self, q):
        """Return mass, inertia in the world and Jacobians (3, n) of velocity and rotation of each payload."""
        n, robot = len(q), self.robot
        found, start = {}, 0
        out = []
        for i in robot.order:
            link, parent = robot.links[i], robot.parents[i]
            if parent is None:
                R, p, v, w = (
                    np.array(robot.base.matrix),
                    np.array(robot.base.position),
                    np.zeros((3, n)),
                    np.zeros((3, n)),
                )
            else:
                R, p, v, w = (each.copy() for each in found[parent])
                p, v = self.moved(R @ [link.at, 0, 0], p, v, w)
            p, v = self.moved(R @ np.array(link.offset), p, v, w)
            R = R @ np.array(link.joint.mount_matrix)
            for motion in link.joint.elementary_motions:
                column, ratio = start + motion.freedom, 1.0 if motion.ratio is None else motion.ratio
                axis = R @ np.array(motion.axis)
                if isinstance(motion, TurnAbout):
                    w = w.copy()
                    w[:, column] += ratio * axis
                    R = R @ rotation(motion.axis, ratio * q[column])
                else:
                    p, v = self.moved(ratio * q[column] * axis, p, v, w)
                    v[:, column] += ratio * axis
            start += len(link.joint.freedoms)
            found[i] = R, p, v, w
            lump = link.payload
            _, velocity = self.moved(R @ (np.array([link.length, 0, 0]) + np.array(lump.offset)), p, v, w)
            out.append((lump.mass, R @ np.array(lump.inertia_matrix) @ R.T, velocity, w))
        return out

    @staticmethod
    def moved(r, p, v, w):
        """Return position and velocities of a point at r from another one of the same body."""
        return p + r, v + np.cross(w, r, axisa=0, axisc=0)

    def mass(self, q):
        return sum(m * v.T @ v + w.T @ J @ w for m, J, v, w in self.jacobians(q))

    def weight(self, q):
        return -sum(m * np.array(self.robot.gravity) @ v for m, _, v, _ in self.jacobians(q))

    def inverse_dynamics(self, q, v, a, h=1e-5):
        """Return M a + dM/dt v - grad(v M v) / 2 + weight, with derivatives by differences."""
        rate = (self.mass(q + h * v) - self.mass(q - h * v)) / (2 * h)
        steps = h * np.eye(len(q))
        slopes = np.array([v @ (self.mass(q + e) - self.mass(q - e)) @ v / (2 * h) for e in steps])
        return self.mass(q) @ a + rate @ v - slopes / 2 + self.weight(q)
