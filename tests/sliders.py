"""Robots with prismatic joints that several test files share, and a second opinion on where their points are."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

import flexarm as fa

KINDS = ("R", "Pa", "Pb")
PAIRS = list(product(KINDS, KINDS))
LENGTHS = (1.0, 0.8)
GAMMA = (0.3, -0.9)
"""Angles of the prismatic joints."""

SOFT = fa.Material(2e9, 1500)
BAR = fa.Section.rectangle(0.02, 0.01)


def joint(kind: str, angle: float = 0.0, **fields: Any) -> Any:
    """R: a hinge; Pa: a slider along the previous link; Pb: a guide for the link itself."""
    if kind == "R":
        return fa.Revolute(**fields)
    return fa.SlidingPrismatic(angle, **fields) if kind == "Pa" else fa.FixedPrismatic(angle, **fields)


def pair(one: str, other: str, stiffening: str = "shortening", modes: int = 2, **fields: Any) -> fa.Robot:
    """Two planar links that bend, hung by joints of two kinds."""
    flexible = fa.Flexible(bend_y=modes, stiffening=stiffening)
    a = fa.Link("a", LENGTHS[0], joint(one, GAMMA[0]), BAR, SOFT, flexible)
    b = fa.Link("b", LENGTHS[1], joint(other, GAMMA[1]), BAR, SOFT, flexible, payload=fa.PointMass(0.05))
    return fa.Robot("pair", links=[a, b], **fields)


def bend(system: fa.System, link: str, q: np.ndarray, x: float, d: float | None = None) -> tuple[float, float]:
    """Deflection along y and slope of a link at the material point x, from its shape functions.

    `d`: the length in front of the joint that the link slides through.
    """
    body = next(body for body in system._chain.bodies if body.link.name == link)
    eta, L = q[body.local.all][body.local.elastic], body.link.length
    if d is None:
        shapes = body.integrals.shapes["bend_y"]
        return float((shapes(x) @ eta)[0]), float((shapes.derivative()(x) @ eta)[0])
    if x >= L - d:
        shapes, eta, scale, at = body.integrals.shapes["bend_y"], eta[: body.integrals.count], d / L, (x - L + d) / d
        return float((shapes(at * L) @ eta)[0]), float((shapes.derivative()(at * L) @ eta)[0]) / scale
    shapes, eta, scale, at = body.rear.shapes["bend_y"], eta[body.integrals.count :], 1 - d / L, (L - d - x) / (L - d)
    return float((shapes(at * L) @ eta)[0]), -float((shapes.derivative()(at * L) @ eta)[0]) / scale


# --- positions of material points, written anew with numpy from the shape functions alone ---

GAUSS = np.polynomial.legendre.leggauss(16)


def _breaks(integrals: Any) -> np.ndarray:
    """Ends of the pieces on which all shapes of a link are smooth."""
    return np.unique(np.concatenate([[0.0, integrals.length], *(space.breaks for space in integrals.shapes.values())]))


def _nodes(cuts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points and weights between cuts."""
    parts = [(a + (b - a) / 2 * (GAUSS[0] + 1), (b - a) / 2 * GAUSS[1]) for a, b in pairwise(cuts)]
    return np.concatenate([x for x, _ in parts]), np.concatenate([w for _, w in parts])


def _turn(axis: int, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


class Points:
    """Where the material points of a robot are, in the zero-order model ("none"), complete to second order
    ("shortening"), or however far links bend ("exact"); as each link has it unless told."""

    def __init__(self, system: fa.System, stiffening: str | None = None) -> None:
        self.system, self.stiffening = system, stiffening
        self.bodies = system._chain.bodies
        spaces = [space for b in self.bodies for i in (b.integrals, b.rear) if i for space in i.shapes.values()]
        self.derivatives = {(id(space), order): space.derivative(order) for space in spaces for order in (1, 2)}

    def pose(self, k: int, x: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(R, p) of the section of link k at the material point x."""
        body, link = self.bodies[k], self.bodies[k].link
        own = q[body.local.all]
        if body.parent is not None:
            riding = isinstance(link.joint, fa.SlidingPrismatic)
            above = self.bodies[body.parent].link
            R, p = self.pose(body.parent, own[0] if riding else above.length if link.at is None else link.at, q)
        else:
            base = self.system.robot.base
            R, p = np.array(base.matrix), np.array(base.position)
            if isinstance(link.joint, fa.SlidingPrismatic):
                p = p + R[:, 0] * own[0]
        p = p + R @ np.array(link.offset)
        R = R @ np.array(link.joint.mount_matrix)
        if isinstance(link.joint, fa.Revolute):
            K = np.cross(np.eye(3), link.joint.axis_vector)  # Rodrigues
            R = R @ (np.eye(3) + np.sin(own[0]) * K + (1 - np.cos(own[0])) * K @ K)
        turn, r = self._section(body, x, own)
        return R @ turn, p + R @ r

    def _section(self, body: Any, x: float, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(R, r) of a section, in the frame of the joint."""
        L, eta = body.link.length, own[body.local.elastic]
        if not isinstance(body.link.joint, fa.FixedPrismatic):
            return self._bent(body.integrals, eta, x, 1.0, 1)
        d, count = own[0], body.integrals.count
        if x >= L - d:
            return self._bent(body.integrals, eta[:count], x - L + d, d / L, 1)
        if body.rear is None or not body.rear.count:
            return np.eye(3), np.array([x - L + d, 0.0, 0.0])
        return self._bent(body.rear, eta[count:], L - d - x, 1 - d / L, -1)

    def _bent(self, integrals: Any, eta: np.ndarray, x: float, scale: float, outward: int) -> tuple[Any, Any]:
        """At the distance x from where a beam of scale * its length is held, which runs outward or backward."""
        if outward < 0:  # in axes turned by half a turn about y
            signs = {"bend_y": 1, "bend_z": -1, "twist": -1, "stretch": -1}
            eta = eta.copy()
            for name, columns in integrals.columns.items():
                eta[columns] *= signs[name]
            turn, r = self._bent(integrals, eta, x, scale, 1)
            half = np.diag([-1.0, 1.0, -1.0])
            return half @ turn @ half, half @ r

        def value(name: str, at: Any, order: int = 0) -> Any:
            if name not in integrals.shapes:
                return np.zeros(np.shape(at))
            space = integrals.shapes[name]
            functions = self.derivatives[id(space), order] if order else space
            return functions(at / scale) @ eta[integrals.columns[name]] / scale**order

        model, here = self.stiffening or integrals.stiffening, np.array([x])
        u, v, w, twist = (float(value(name, here)[0]) for name in ("stretch", "bend_y", "bend_z", "twist"))
        angles = np.array([twist, -value("bend_z", here, 1)[0], value("bend_y", here, 1)[0]])
        r = np.array([x + u, v, w])
        if model != "none" and x > 0:
            nodes, weights = _nodes([0.0, *(b for b in _breaks(integrals) * scale if 0 < b < x), x])
            lean, rise = value("bend_y", nodes, 1), value("bend_z", nodes, 1)
            stretch = value("stretch", nodes, 1)
            if model == "exact":
                planes = [name for name in ("bend_y", "bend_z", "twist") if name in integrals.shapes]
                assert len(planes) < 2, "of links that bend in one plane"
                ahead = weights * (1 + stretch) * np.cos(lean + rise)
                across = [(weights * (1 + stretch)) @ np.sin(each) for each in (lean, rise)]
                r = np.array([ahead.sum(), *across])
            else:
                theta, v2, w2 = value("twist", nodes), value("bend_y", nodes, 2), value("bend_z", nodes, 2)
                left = weights * (x - nodes)
                r[0] -= weights @ (lean**2 + rise**2) / 2
                r[1] += weights @ (stretch * lean) - left @ (theta * w2)
                r[2] += weights @ (stretch * rise) + left @ (theta * v2)
                angles -= np.array([weights @ (rise * v2), weights @ (theta * v2), weights @ (theta * w2)])
        return _turn(2, angles[2]) @ _turn(1, angles[1]) @ _turn(0, angles[0]), r

    def masses(self, q: np.ndarray) -> list[tuple[int, float, float]]:
        """(link, x, mass) of points that stand for the material of every link, at the state q."""
        out = []
        for k, body in enumerate(self.bodies):
            L, density = body.link.length, body.link.mass_per_length(0.5)
            cuts = _breaks(body.integrals)
            if isinstance(body.link.joint, fa.FixedPrismatic):
                d = q[body.local.start]
                cuts = L - d + cuts * d / L
                if body.rear is not None:
                    cuts = np.concatenate([(L - d) - _breaks(body.rear)[::-1] * (1 - d / L), cuts[1:]])
                elif body.link.joint.rear != "none":  # a rigid link moves as a whole
                    cuts = np.array([0.0, L])
            out += [(k, x, density * weight) for x, weight in zip(*_nodes(cuts), strict=True)]
        return out

    def kinetic(self, q: np.ndarray, v: np.ndarray, step: float = 1e-4) -> float:
        """1/2 sum m |dp/dt|^2 of the links' material and of what is fixed to them, velocities by differences."""

        def rate(value):
            return (8 * (value(step) - value(-step)) - value(2 * step) + value(-2 * step)) / (12 * step)

        energy = 0.0
        for k, x, mass in self.masses(q):
            velocity = rate(lambda h, k=k, x=x: self.pose(k, x, q + h * v)[1])
            energy += mass / 2 * velocity @ velocity
            link = self.bodies[k].link
            if link.rotary_inertia:
                turning = rate(lambda h, k=k, x=x: self.pose(k, x, q + h * v)[0])
                spin = self.pose(k, x, q)[0].T @ turning
                about = (link.polar_inertia_per_length, link.inertia_y_per_length, link.inertia_z_per_length)
                inertia = np.array([each(0.5) for each in about]) * mass / link.mass_per_length(0.5)
                energy += inertia @ np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) ** 2 / 2
        for k, body in enumerate(self.bodies):
            link = body.link
            for point, x in ((link.hub, 0.0), (link.payload, link.length), *((m, m.at) for m in link.masses)):
                if point is None:
                    continue

                def centre(h, k=k, x=x, point=point):
                    R, p = self.pose(k, x, q + h * v)
                    return p + R @ np.array(point.offset)

                velocity = rate(centre)
                R = self.pose(k, x, q)[0]
                dR = rate(lambda h, k=k, x=x: self.pose(k, x, q + h * v)[0])
                spin = R.T @ dR
                omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
                energy += point.mass / 2 * velocity @ velocity + omega @ np.array(point.inertia_matrix) @ omega / 2
        return float(energy)

    def momentum(self, q: np.ndarray, v: np.ndarray, step: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular momentum about the world's origin of the links' material (no point masses)."""
        linear, angular = np.zeros(3), np.zeros(3)
        for k, x, mass in self.masses(q):
            there = {h: self.pose(k, x, q + h * step * v)[1] for h in (-2, -1, 0, 1, 2)}
            velocity = (8 * (there[1] - there[-1]) - there[2] + there[-2]) / (12 * step)
            linear += mass * velocity
            angular += mass * np.cross(there[0], velocity)
        return linear, angular


# --- states ---

START = {"R": (0.4, -0.7), "Pa": (0.6, 0.65), "Pb": (0.6, 0.45)}
"""Of a first and of a second joint: on their links, and the slider of PbPa in front of the joint."""
RATE = {"R": (0.5, -0.4), "Pa": (0.1, -0.12), "Pb": (-0.1, -0.1)}


def scattered(system: fa.System, seed: int, size: float = 0.03, rate: float = 0.3) -> tuple[np.ndarray, ...]:
    """q, v, a: joints at START with random rates, elastic coordinates random: `size` of what is large for them."""
    q, v, a = np.random.default_rng(seed).uniform(-1, 1, (3, system.nq))
    elastic = np.array(["[" in name for name in system.names])
    large = np.array(system._chain.coordinates.sizes)
    q, v, a = (
        np.where(elastic, size * large * q, 0),
        np.where(elastic, rate * large * v, v),
        np.where(elastic, large * a, a),
    )
    for place, link in enumerate(system.robot.links):
        if (name := f"{link.name}.q") in system.names:
            q[system.index(name)] = START[kind(link)][min(place, 1)]
    return q, v, a


def kind(link: fa.Link) -> str:
    kinds = {fa.Revolute: "R", fa.SlidingPrismatic: "Pa", fa.FixedPrismatic: "Pb"}
    return kinds[type(link.joint)]


WIDE = fa.Section.properties(A=2e-4, I_y=2e-8, I_z=3e-8, J=3e-8, I_p=5e-8)
RUBBER = fa.Material(1e8, 1500)  # soft against stretch and twist too, so that their waves do not ask for short steps


def spatial_pair(one: str, other: str, stiffening: str = "shortening", section: Any = WIDE, modes: int = 1) -> fa.Robot:
    """Two links that bend both ways, twist and stretch, on tilted joints, with hubs and payloads that have inertia."""
    mounts = ((0.3, -0.4, 0.5), (-0.6, 0.2, 0.9))
    joints = [
        fa.Revolute((1, 2, -0.5), mount=mount) if kind == "R" else joint(kind, mount=mount)
        for kind, mount in zip((one, other), mounts, strict=True)
    ]
    fields: dict[str, Any] = {
        "section": section,
        "material": RUBBER,
        "flexible": fa.Flexible(bend_y=modes, bend_z=modes, twist=1, stretch=1, stiffening=stiffening),
        "hub": fa.PointMass(0.1, inertia=1e-3),
        "payload": fa.PointMass(0.1, offset=(0.02, 0.03, -0.02), inertia=(1e-3, 2e-3, 2.5e-3)),
    }
    links = [fa.Link(name, L, j, **fields) for name, L, j in zip("ab", LENGTHS, joints, strict=True)]
    return fa.Robot("pair", links=links, base=fa.Pose((0.1, 0.2, 0.3), (0.5, -0.3, 1.1)), gravity=(1.0, -2.0, -9.5))
