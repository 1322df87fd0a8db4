"""Robot in symbols: frames, the pieces of mass on them, drives, friction and gravity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.model import all_integrals
from flexarm.foundation.validation import Array
from flexarm.robot import FixedPrismatic, Link, MovingJoint, PointMass, Revolute, Robot, SlidingPrismatic
from flexarm.robot.joints import Prismatic
from flexarm.symbolic import checks, mass_elements
from flexarm.symbolic.algebra import ZERO, Expr, Rows, Scales, Vector, coordinate_powers, number, tanh
from flexarm.symbolic.beams import Beam, ClosedFormShapes, SectionPose
from flexarm.symbolic.coordinates import ClosedFormCoordinates
from flexarm.symbolic.frames import Frame, Step, Z, constant_rotation, rotation_about, yaw
from flexarm.symbolic.link_segment import ClosedFormPart
from flexarm.symbolic.mass_elements import ClosedFormDamping, MassPiece
from flexarm.symbolic.stiffened_mass import ClosedFormExactPart, ShortenedPart
from flexarm.symbolic.symbols import Abbreviations, ClosedFormSymbols

PART_KINDS = {"none": ClosedFormPart, "shortening": ShortenedPart, "exact": ClosedFormExactPart}


def link_pieces(beam: Beam, damped: ClosedFormDamping) -> list[MassPiece]:
    """Return the piece of a link, or the two parts on either side of the joint that it slides through."""
    kind: type[ClosedFormPart] = PART_KINDS[beam.stiffening]
    if not beam.slides_through_joint:
        return [kind(beam, beam.front, 1, None, damped).piece()]
    assert beam.d is not None
    column, d = beam.d
    out = [kind(beam, beam.front, d / beam.l, (column, 1), damped).piece()]
    if beam.rear is not None:
        kind = PART_KINDS[beam.rear.integrals.stiffening]
        out.append(kind(beam, beam.rear, (beam.l - d) / beam.l, (column, -1), damped).piece())
    return out


AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
STIFFNESS_PROPERTIES = {"bend_y": "I_z", "bend_z": "I_y", "twist": "J", "stretch": "A"}


@dataclass
class ClosedFormBody:
    """Link with its frame, its beam, and the pieces on each frame."""

    link: Link
    frame: Frame
    beam: Beam
    parent: int | None
    carried: list[tuple[Frame, MassPiece]] = field(default_factory=list)


class Model:
    """Frames and pieces of a robot, drives, friction and gravity in symbols."""

    def __init__(self, robot: Robot, symbols: ClosedFormSymbols, k: Mapping[str, int], kept: bool) -> None:
        self.robot, self.symbols, self.k = robot, symbols, k
        self.planar = checks.is_planar(robot)
        self.ground = Frame()
        self.coordinates = ClosedFormCoordinates(symbols)
        integrals, rears = all_integrals(self.robot)
        for i, link in enumerate(self.robot.links):
            self.coordinates.add(i + 1, link, integrals[i], rears[i], k, kept)
        self.short = Abbreviations(self.coordinates.indices)
        self._beams = [self._beam(i, integrals[i], rears[i]) for i in range(len(self.robot.links))]
        self.bodies: dict[int, ClosedFormBody] = {}
        for i in self.robot.order:
            self.bodies[i] = self._body(i)
        self.gravity = self._gravity()

    @property
    def size(self) -> int:
        return len(self.coordinates.all)

    def _q(self, index: int | None) -> Expr:
        assert index is not None
        return self.coordinates.all[index].q

    # --- links ---

    def _beam(self, i: int, integrals: LinkIntegrals, rear: LinkIntegrals | None) -> Beam:
        link, own, n = self.robot.links[i], self.coordinates.own[i], i + 1
        of = f"of link {n} ({link.name})"
        length = self.symbols.parameter(f"l_{n}", link.length, f"length {of}", "m") if link.length else number(0)
        per_length = link.beam_mass / link.length if link.length else 0.0
        m = self.symbols.parameter(f"m_{n}", per_length, f"mass per length {of}", "kg/m") if per_length else number(0)
        rotary = self._rotary(n, link, of)
        polar, polar_value = rotary.get(0, (number(0), 0.0))
        scales = Scales((length, m * length, polar * length), (link.length, link.beam_mass, polar_value * link.length))
        mesh = [None if index is None else (index, self._q(index)) for index in own.mesh]
        return Beam(
            integrals,
            scales,
            length,
            m,
            self._rigidity(n, link, integrals, of),
            rotary,
            self._shapes(integrals, own.front),
            None if rear is None else self._shapes(rear, own.rear),
            mesh,
            (own.joint, self._q(own.joint)) if own.joint is not None and isinstance(link.joint, Prismatic) else None,
            n,
            self.short,
            self.planar,
        )

    def _shapes(self, integrals: LinkIntegrals, columns: list[int]) -> ClosedFormShapes:
        powers = coordinate_powers(integrals) if columns else []
        return ClosedFormShapes(integrals, columns, [self._q(column) for column in columns], powers)

    def _rigidity(self, n: int, link: Link, integrals: LinkIntegrals, of: str) -> dict[str, tuple[Expr, float]]:
        """Return EI, GJ and EA at the root of a link for its families of shape functions."""
        out = {}
        bending = "EI" if self.planar else "EIz"
        names = {"bend_y": bending, "bend_z": "EIy", "twist": "GJ", "stretch": "EA"}
        meanings = {"twist": ("torsional stiffness", "N m2"), "stretch": ("axial stiffness", "N")}
        for family in link.flexible.counts if link.flexible is not None else ():
            assert link.section is not None
            assert link.material is not None
            modulus = link.material.shear_modulus if family == "twist" else link.material.E
            value = modulus * getattr(link.section.at(0.0), STIFFNESS_PROPERTIES[family])
            meaning, unit = meanings.get(family, ("bending stiffness", "N m2"))
            where = "" if link.section.uniform else " at its root"
            name = names[family]
            expr = self.symbols.parameter(f"{name}_{n}", value, f"{meaning} {of}{where}", unit)
            out[family] = expr, value
        return out

    def _rotary(self, n: int, link: Link, of: str) -> dict[int, tuple[Expr, float]]:
        """Return the rotary inertia per length at the root by axis: x in space, y and z with `rotary_inertia`."""
        if link.section is None:
            return {}
        ends = {0: link.polar_inertia_per_length, 1: link.inertia_y_per_length, 2: link.inertia_z_per_length}
        rows = ((2,) if self.planar else (0, 1, 2)) if link.rotary_inertia else (() if self.planar else (0,))
        out = {}
        for row in rows:
            value = ends[row](0.0)
            if value:
                meaning = f"inertia per length of the section about {'xyz'[row]} {of}"
                out[row] = self.symbols.parameter(f"j{'xyz'[row]}_{n}", value, meaning, "kg m"), value
        return out

    # --- frames ---

    def _body(self, i: int) -> ClosedFormBody:
        link, beam, parent = self.robot.links[i], self._beams[i], self.robot.parents[i]
        (origin, angles), above = self._joint_pose(i, parent)
        steps = [*_section_turns(angles)]
        if any(link.offset):
            above = above.child(origin, steps, self.short)
            origin, steps = _vector(link.offset), []
        steps += self._joint_turns(i, link)
        frame = above.child(origin, steps, self.short)
        if isinstance(link.joint, FixedPrismatic) and not beam.slides_through_joint:
            assert beam.d is not None
            frame = frame.child((beam.d[1] - beam.l, 0, 0), (), self.short)
        body = ClosedFormBody(link, frame, beam, parent)
        body.carried = [(frame, piece) for piece in self._pieces(i, link, beam)]
        for tag, lump, at in _point_masses(i + 1, link):
            body.carried.append(self._point_mass_piece(body, tag, lump, at))
        return body

    def _joint_pose(self, i: int, parent: int | None) -> tuple[SectionPose, Frame]:
        """Return the pose of the section that carries a joint, and the frame of that pose."""
        link, own = self.robot.links[i], self.coordinates.own[i]
        slides = isinstance(link.joint, SlidingPrismatic)
        if parent is None:
            return ((self._q(own.joint) if slides else 0, 0, 0), ZERO), self.ground
        above, beam = self.bodies[parent].frame, self._beams[parent]
        if not slides:
            at = self.robot.links[parent].length if link.at is None else link.at
            return beam.section_pose(at), above
        if checks.has_mesh_contact(link):  # the end of element k is node k
            return beam.node_pose(self.k[link.name], self._q(own.joint)), above
        return beam.moving_section_pose(self._q(own.joint), label=str(i + 1)), above

    def _joint_turns(self, i: int, link: Link) -> list[Step]:
        """Return the rotations of the mount (with an angle gamma if about z) and of the joint."""
        steps: list[Step] = []
        flat = yaw(link.joint.mount_matrix)
        if flat is None:
            steps.append(constant_rotation(link.joint.mount_matrix))
        elif flat or isinstance(link.joint, Prismatic):
            meaning = f"angle from its parent to link {i + 1} ({link.name})"
            steps.append(rotation_about(Z, self.symbols.parameter(f"gamma_{i + 1}", flat, meaning, "rad")))
        if isinstance(link.joint, Revolute):
            steps.append(rotation_about(link.joint.axis_vector, self._q(self.coordinates.own[i].joint)))
        return steps

    # --- masses ---

    def _pieces(self, i: int, link: Link, beam: Beam) -> list[MassPiece]:
        damped = self._damped(i + 1, link, beam)
        if not beam.mesh:
            return link_pieces(beam, damped) if link.beam_mass else []
        found = [mass_elements.element_piece(beam, j, damped) for j in range(beam.elements)]
        if damped.ratios is not None:  # of the clamped link, without the nodes at its root
            first = 0 if link.flexible is not None and link.flexible.loose else 2
            indices = [node[0] for node in beam.mesh[first:] if node is not None]
            found.append(_only_damping(indices, damped.ratios))
        return found

    def _damped(self, n: int, link: Link, beam: Beam) -> ClosedFormDamping:
        if link.flexible is None or link.material is None:
            return ClosedFormDamping()
        given, of = link.flexible.damping, f"of link {n} ({link.name})"
        stiffness, mass, ratios = number(0), number(0), None
        if link.material.damping:
            time = link.material.damping
            stiffness += self.symbols.parameter(f"kappa_{n}", time, f"Kelvin-Voigt time {of}", "s")
        if given is not None:
            if given.beta:
                stiffness += self.symbols.parameter(f"beta_{n}", given.beta, f"damping per stiffness {of}", "s")
            if given.alpha:
                mass += self.symbols.parameter(f"alpha_{n}", given.alpha, f"damping per mass {of}", "1/s")
            if given.ratio is not None:
                ratios = beam.integrals.D_ratios
        return ClosedFormDamping(stiffness, mass, ratios)

    def _point_mass_piece(self, body: ClosedFormBody, tag: str, lump: PointMass, at: float) -> tuple[Frame, MassPiece]:
        origin, angles = body.beam.section_pose(at)
        inertia = np.array(lump.inertia_matrix)
        if self.planar:
            inertia[:2, :], inertia[:, :2] = 0.0, 0.0
        leans = any(lump.offset) or inertia.any()
        frame = body.frame.child(origin, _section_turns(angles) if leans else [], self.short)
        what = {"h": "hub", "p": "payload"}.get(tag[0], "mass") + f" {tag.lstrip('hp')}"
        what += f" on link {body.link.name}"
        mass = self.symbols.parameter(f"M_{tag}", lump.mass, f"mass of {what}", "kg") if lump.mass else number(0)
        rows: Rows = [[0] * 3 for _ in range(3)]
        for p in range(3):
            for q in range(p, 3):
                if value := float(inertia[p, q]):
                    axes = "" if self.planar else "xyz"[p] + "xyz"[q]
                    meaning = f"inertia {axes or 'zz'} of {what} about its centre"
                    rows[p][q] = rows[q][p] = self.symbols.parameter(f"J{axes}_{tag}", value, meaning, "kg m2")
        return frame, mass_elements.lump_piece(mass, _vector(lump.offset), rows)

    # --- drives, friction and gravity ---

    def drives(self) -> tuple[dict[int, Expr], dict[tuple[int, int], Expr], dict[tuple[int, int], Expr]]:
        """Return reflected inertias by coordinate, and the entries of K and D due to drives and joints."""
        M: dict[int, Expr] = {}
        K: dict[tuple[int, int], Expr] = {}
        D: dict[tuple[int, int], Expr] = {}
        for i, (link, own) in enumerate(zip(self.robot.links, self.coordinates.own, strict=True)):
            joint = link.joint
            if not isinstance(joint, MovingJoint):
                continue
            assert own.joint is not None
            turns, of = joint.unit == "rad", f"of joint {i + 1} ({link.name})"
            if joint.viscous:
                unit = "N m s/rad" if turns else "N s/m"
                D[own.joint, own.joint] = self._parameter(f"b_{i + 1}", joint.viscous, f"viscous friction {of}", unit)
            drive = joint.drive
            if drive is None:
                continue
            rotor = own.joint if own.motor is None else own.motor
            if drive.reflected_inertia:
                unit = "kg m2" if turns else "kg"
                inertia = f"inertia of the rotor {of}, reflected to the joint"
                M[rotor] = self._parameter(f"J_r{i + 1}", drive.reflected_inertia, inertia, unit)
            if own.motor is not None:
                unit = "N m/rad" if turns else "N/m"
                stiffness = self._parameter(f"k_{i + 1}", drive.stiffness or 0.0, f"stiffness of the drive {of}", unit)
                _add_spring(K, own.joint, own.motor, stiffness)
                if drive.damping:
                    damping = self._parameter(f"c_{i + 1}", drive.damping, f"damping of the drive {of}", f"{unit} s")
                    _add_spring(D, own.joint, own.motor, damping)
        return M, K, D

    def gears(self) -> dict[int, Expr]:
        """Return the gear ratios of torques at motor shafts, by coordinate on which they act."""
        out = {}
        for i, (link, own) in enumerate(zip(self.robot.links, self.coordinates.own, strict=True)):
            drive = link.joint.drive if isinstance(link.joint, MovingJoint) else None
            if drive is not None and drive.torque_at == "motor":
                index = own.joint if own.motor is None else own.motor
                assert index is not None
                unit = "-" if isinstance(link.joint, Revolute) else "rad/m"
                meaning = f"gear ratio of joint {i + 1} ({link.name})"
                out[index] = self._parameter(f"n_{i + 1}", drive.gear_ratio, meaning, unit)
        return out

    def dry_friction(self) -> dict[int, Expr]:
        """Return Coulomb friction by coordinate, smoothed as in the package `dynamics`."""
        out = {}
        for i, (link, own) in enumerate(zip(self.robot.links, self.coordinates.own, strict=True)):
            joint = link.joint
            if isinstance(joint, MovingJoint) and joint.coulomb:
                assert own.joint is not None
                force = self._parameter(
                    f"f_{i + 1}",
                    joint.coulomb,
                    f"Coulomb friction of joint {i + 1} ({link.name})",
                    "N m" if joint.unit == "rad" else "N",
                )
                out[own.joint] = force * tanh(self.coordinates.all[own.joint].v / number(joint.coulomb_speed))
        return out

    def _parameter(self, name: str, value: float, meaning: str, unit: str) -> Expr:
        return self.symbols.parameter(name, value, meaning, unit)

    def _gravity(self) -> Vector:
        """Return gravity in the axes of the ground; its component normal to the plane of a planar robot is zero."""
        g = np.array(self.robot.base.matrix).T @ np.array(self.robot.gravity)
        out = [number(0)] * 3
        for row in range(2 if self.planar else 3):
            if abs(g[row]) > 1e-15 * float(np.abs(g).max()):
                name = f"g_{'xyz'[row]}"
                out[row] = self.symbols.parameter(
                    name, float(g[row]), f"gravity along the ground's {'xyz'[row]}", "m/s2"
                )
        return out[0], out[1], out[2]


def _section_turns(angles: Vector) -> list[Step]:
    """Return the rotations Rz(v') Ry(-w') Rx(theta)."""
    return [rotation_about(AXES[row], angles[row]) for row in (2, 1, 0) if angles[row] != 0]


def _point_masses(n: int, link: Link) -> list[tuple[str, PointMass, float]]:
    """Return the point masses of a link: tag of their symbols, mass, and position along the link."""
    tags = {"hub": f"h{n}", "payload": f"p{n}", "body": f"b{n}"}
    found = [(tags.get(name) or f"{n}_{int(name[7:]) + 1}", lump, at) for name, lump, at in link.lumps]
    return [(tag, lump, at) for tag, lump, at in found if not lump.empty]


def _vector(vector: tuple[float, float, float]) -> Vector:
    x, y, z = (number(entry) for entry in vector)
    return x, y, z


def _add_spring(matrix: dict[tuple[int, int], Expr], one: int, other: int, value: Expr) -> None:
    for row in (one, other):
        for column in (one, other):
            matrix[row, column] = matrix.get((row, column), 0) + (value if row == column else -value)


def _only_damping(indices: list[int], D: Array) -> MassPiece:
    n = len(indices)
    zero: Rows = [[0] * n for _ in range(n)]
    rows = [[number(float(entry)) for entry in row] for row in D]
    return MassPiece(0, columns=indices, A=[ZERO] * n, k=[ZERO] * n, M=zero, K=zero, D=rows)
