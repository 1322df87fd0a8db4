"""Robot in symbols: frames, the pieces of mass on them, drives, friction and gravity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import symengine

from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.model import all_integrals
from flexarm.robot import Drive, FixedPrismatic, Link, MovingJoint, PointMass, Robot, SlidingPrismatic
from flexarm.robot.flexibility import FAMILIES
from flexarm.robot.joints import Freedom, FreedomProperties, SlideAlong, SlideJoint, TurnAbout
from flexarm.symbolic import algebra, checks
from flexarm.symbolic.algebra import ZERO, Expr, ExprArray, Scales, X, coordinate_exponents, number, numbers, vector
from flexarm.symbolic.beams import Beam, ClosedFormShapes, SectionPose, moving_section_pose, node_pose, section_pose
from flexarm.symbolic.checks import yaw
from flexarm.symbolic.frames import Step, SymbolicFrame, constant_rotation, rotation_about
from flexarm.symbolic.link_segment import ClosedFormPart
from flexarm.symbolic.mass_matrix import ClosedFormDamping, MassPiece, damping_piece, element_piece, lump_piece
from flexarm.symbolic.stiffened_mass import ClosedFormExactPart, ShortenedPart
from flexarm.symbolic.symbols import (
    Abbreviations,
    ClosedFormCoordinates,
    ClosedFormSymbols,
    LinkIndices,
    joint_freedoms,
)

PART_KINDS = {"none": ClosedFormPart, "shortening": ShortenedPart, "exact": ClosedFormExactPart}
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
RATIO_MEANINGS = {TurnAbout: "rotation", SlideAlong: "translation"}
RATIO_UNITS = {TurnAbout: "rad/m", SlideAlong: "m/rad"}
Entries = dict[tuple[int, int], Expr]


def link_pieces(beam: Beam, damped: ClosedFormDamping) -> list[MassPiece]:
    """Return the piece of a link, or the two parts on either side of the joint that it slides through."""
    kind: type[ClosedFormPart] = PART_KINDS[beam.stiffening]
    if not beam.slides_through_joint:
        return [kind(beam, beam.front, number(1), None, damped).piece()]
    assert beam.d is not None
    column, d = beam.d
    out = [kind(beam, beam.front, d / beam.l, (column, 1), damped).piece()]
    if beam.rear is not None:
        kind = PART_KINDS[beam.rear.integrals.stiffening]
        out.append(kind(beam, beam.rear, (beam.l - d) / beam.l, (column, -1), damped).piece())
    return out


@dataclass
class ClosedFormBody:
    """Link with its frame, its beam, and the pieces on each frame."""

    link: Link
    frame: SymbolicFrame
    beam: Beam
    parent: int | None
    carried: list[tuple[SymbolicFrame, MassPiece]] = field(default_factory=list)


class Model:
    """Frames and pieces of a robot, drives, friction and gravity in symbols."""

    def __init__(self, robot: Robot, symbols: ClosedFormSymbols, k: Mapping[str, int], kept: bool) -> None:
        self.robot, self.symbols, self.k = robot, symbols, k
        self.planar, self.ground = checks.is_planar(robot), SymbolicFrame()
        self.coordinates = ClosedFormCoordinates(symbols)
        integrals = list(zip(*all_integrals(self.robot), strict=True))
        for n, (link, both) in enumerate(zip(self.robot.links, integrals, strict=True), 1):
            self.coordinates.add(n, link, *both, k, kept)
        self.short = Abbreviations(self.coordinates.indices)
        self._beams = [self._beam(i, *both) for i, both in enumerate(integrals)]
        self.bodies: dict[int, ClosedFormBody] = {}
        for i in self.robot.order:
            self.bodies[i] = self._body(i)
        self.gravity = self._gravity()

    @property
    def size(self) -> int:
        return len(self.coordinates.all)

    def _q(self, index: int | None) -> Expr:
        """Return the symbol of a coordinate; zero for those that a boundary condition eliminates."""
        return 0 if index is None else self.coordinates.all[index].q

    def _parameter(self, name: str, value: float, meaning: str, unit: str) -> Expr:
        """Return a parameter as a symbol or a number; zero if it is zero."""
        return self.symbols.parameter(name, value, meaning, unit) if value else number(0)

    # --- links ---

    def _beam(self, i: int, integrals: LinkIntegrals, rear: LinkIntegrals | None) -> Beam:
        link, own, n = self.robot.links[i], self.coordinates.own[i], i + 1
        of, slides = f"of link {n} ({link.name})", isinstance(link.joint, SlideJoint)
        length = self._parameter(f"l_{n}", link.length, f"length {of}", "m")
        per_length = link.beam_mass / link.length if link.length else 0.0
        m = self._parameter(f"m_{n}", per_length, f"mass per length {of}", "kg/m")
        rotary = self._rotary(n, link, of)
        polar, polar_value = rotary.get(0, (number(0), 0.0))
        return Beam(
            integrals,
            Scales((length, m * length, polar * length), (link.length, link.beam_mass, polar_value * link.length)),
            length,
            m,
            self._rigidity(n, link, of),
            rotary,
            self._shapes(integrals, own.front),
            None if rear is None else self._shapes(rear, own.rear),
            [(index, self._q(index)) for index in own.mesh],
            (own.joint, self._q(own.joint)) if own.joint is not None and slides else None,
            n,
            self.short,
            self.planar,
        )

    def _shapes(self, integrals: LinkIntegrals, columns: list[int]) -> ClosedFormShapes:
        exponents = coordinate_exponents(integrals) if columns else np.zeros((0, 3))
        return ClosedFormShapes(integrals, columns, vector(*map(self._q, columns)), exponents)

    def _rigidity(self, n: int, link: Link, of: str) -> dict[str, tuple[Expr, float]]:
        """Return EI, GJ and EA at the root of a link for its families of shape functions."""
        out = {}
        names = {"bend_y": "EI" if self.planar else "EIz", "bend_z": "EIy", "twist": "GJ", "stretch": "EA"}
        meanings = {"twist": ("torsional stiffness", "N m2"), "stretch": ("axial stiffness", "N")}
        for family in link.flexible.counts if link.flexible is not None else ():
            assert link.section is not None
            assert link.material is not None
            modulus = link.material.shear_modulus if family == "twist" else link.material.E
            value = modulus * getattr(link.section.at(0.0), FAMILIES[family].section_property)
            meaning, unit = meanings.get(family, ("bending stiffness", "N m2"))
            out[family] = self._parameter(f"{names[family]}_{n}", value, f"{meaning} {of}{_at_root(link)}", unit), value
        return out

    def _rotary(self, n: int, link: Link, of: str) -> dict[int, tuple[Expr, float]]:
        """Return the inertia per length at the root by axis: x in space, y and z with `rotary_inertia`."""
        ends = (link.polar_inertia_per_length, link.inertia_y_per_length, link.inertia_z_per_length)
        rows = ((2,) if self.planar else (0, 1, 2)) if link.rotary_inertia else (() if self.planar else (0,))
        out = {}
        for row in rows if link.section is not None else ():
            if value := ends[row](0.0):
                meaning = f"inertia per length of the section about {'xyz'[row]} {of}{_at_root(link)}"
                out[row] = self._parameter(f"j{'xyz'[row]}_{n}", value, meaning, "kg m"), value
        return out

    # --- frames ---

    def _body(self, i: int) -> ClosedFormBody:
        link, beam, parent = self.robot.links[i], self._beams[i], self.robot.parents[i]
        (origin, angles), above = self._joint_pose(i, parent)
        steps = _section_turns(angles)
        if any(link.offset):
            above = above.child(origin, steps, self.short)
            origin, steps = numbers(link.offset), []
        steps += self._mount(i, link)
        for motion in link.joint.elementary_motions:
            amount = self._q(self.coordinates.own[i].joints[motion.freedom])
            if motion.ratio is not None:
                meaning = f"{RATIO_MEANINGS[type(motion)]} of joint {i + 1} ({link.name}) per unit of its coordinate"
                unit = RATIO_UNITS[type(motion)]
                amount *= self._parameter(f"r_{i + 1}", motion.ratio, meaning, unit)
            if isinstance(motion, TurnAbout):
                steps.append(rotation_about(motion.axis, amount))
            else:
                above = above.child(origin, steps, self.short)
                origin, steps = amount * numbers(motion.axis), []
        frame = above.child(origin, steps, self.short)
        if isinstance(link.joint, FixedPrismatic) and not beam.slides_through_joint:
            assert beam.d is not None
            frame = frame.child((beam.d[1] - beam.l) * X, (), self.short)
        body = ClosedFormBody(link, frame, beam, parent)
        body.carried = [(frame, piece) for piece in self._pieces(i, link, beam)]
        body.carried += [self._point_mass_piece(body, *each) for each in _point_masses(i + 1, link)]
        return body

    def _joint_pose(self, i: int, parent: int | None) -> tuple[SectionPose, SymbolicFrame]:
        """Return the pose of the section that carries a joint, and the frame of that pose."""
        link, d = self.robot.links[i], self._q(self.coordinates.own[i].joint)
        slides = isinstance(link.joint, SlidingPrismatic)
        if parent is None:
            return (d * X if slides else ZERO, ZERO), self.ground
        above, beam = self.bodies[parent].frame, self._beams[parent]
        if not slides:
            return section_pose(beam, self.robot.links[parent].length if link.at is None else link.at), above
        if checks.has_mesh_contact(link):  # the end of element k is node k
            return node_pose(beam, self.k[link.name], d), above
        return moving_section_pose(beam, d, label=str(i + 1)), above

    def _mount(self, i: int, link: Link) -> list[Step]:
        """Return the rotation of the mount, with an angle gamma if about z."""
        steps: list[Step] = []
        flat = yaw(link.joint.mount_matrix)
        if flat is None:
            steps.append(constant_rotation(link.joint.mount_matrix))
        elif flat or isinstance(link.joint, SlideJoint):
            meaning = f"angle from its parent to link {i + 1} ({link.name})"
            steps.append(rotation_about(AXES[2], self.symbols.parameter(f"gamma_{i + 1}", flat, meaning, "rad")))
        return steps

    # --- masses ---

    def _pieces(self, i: int, link: Link, beam: Beam) -> list[MassPiece]:
        damped = self._damped(i + 1, link, beam)
        if not beam.mesh:
            return link_pieces(beam, damped) if link.beam_mass else []
        found = [element_piece(beam, j, damped) for j in range(beam.elements)]
        if damped.ratios is not None:  # of the clamped link, without the nodes at its root
            first = 0 if link.flexible is not None and link.flexible.loose else 2
            columns = [column for column, _ in beam.mesh[first:] if column is not None]
            found.append(damping_piece(columns, damped.ratios))
        return found

    def _damped(self, n: int, link: Link, beam: Beam) -> ClosedFormDamping:
        if link.flexible is None or link.material is None:
            return ClosedFormDamping()
        given, of = link.flexible.damping, f"of link {n} ({link.name})"
        stiffness = self._parameter(f"kappa_{n}", link.material.damping, f"Kelvin-Voigt time {of}", "s")
        if given is None:
            return ClosedFormDamping(stiffness)
        stiffness += self._parameter(f"beta_{n}", given.beta, f"damping per stiffness {of}", "s")
        mass = self._parameter(f"alpha_{n}", given.alpha, f"damping per mass {of}", "1/s")
        return ClosedFormDamping(stiffness, mass, None if given.ratio is None else beam.integrals.D_ratios)

    def _point_mass_piece(
        self, body: ClosedFormBody, tag: str, lump: PointMass, at: float
    ) -> tuple[SymbolicFrame, MassPiece]:
        origin, angles = section_pose(body.beam, at)
        inertia = np.array(lump.inertia_matrix)
        if self.planar:
            inertia[:2, :], inertia[:, :2] = 0.0, 0.0
        leans = any(lump.offset) or inertia.any()
        frame = body.frame.child(origin, _section_turns(angles) if leans else [], self.short)
        what = {"h": "hub", "p": "payload"}.get(tag[0], "mass") + f" {tag.lstrip('hp')}"
        what += f" on link {body.link.name}"
        mass = self._parameter(f"M_{tag}", lump.mass, f"mass of {what}", "kg")
        rows = algebra.zeros(3, 3)
        for p, q in np.argwhere(np.triu(inertia)).tolist():
            axes = "" if self.planar else "xyz"[p] + "xyz"[q]
            meaning = f"inertia {axes or 'zz'} of {what} about its centre"
            rows[p, q] = rows[q, p] = self._parameter(f"J{axes}_{tag}", float(inertia[p, q]), meaning, "kg m2")
        return frame, lump_piece(mass, numbers(lump.offset), rows)

    # --- drives, friction and gravity ---

    def _joints(self) -> Iterator[tuple[int, str, MovingJoint, LinkIndices, Drive | None]]:
        """Yield number, description, joint, coordinates and drive of each joint that moves."""
        for i, (link, own) in enumerate(zip(self.robot.links, self.coordinates.own, strict=True)):
            if isinstance(link.joint, MovingJoint):
                yield i + 1, f"of joint {i + 1} ({link.name})", link.joint, own, link.joint.drive

    def _freedoms(self) -> Iterator[tuple[int, str, str, Freedom, FreedomProperties, int]]:
        """Yield number and description of each joint, and for each freedom its index, properties and coordinate."""
        for i, (link, own) in enumerate(zip(self.robot.links, self.coordinates.own, strict=True)):
            named, given = joint_freedoms(i + 1, link.joint), link.joint.freedom_properties
            for (name, freedom), each, k in zip(named, given, own.joints, strict=True):
                yield i + 1, f"of joint {i + 1} ({link.name})", name, freedom, each, k

    def drives(self) -> tuple[dict[int, Expr], Entries, Entries]:
        """Return reflected inertias by coordinate, and the entries of K and D due to drives and joints."""
        M: dict[int, Expr] = {}
        K: Entries = defaultdict(lambda: number(0))
        D: Entries = defaultdict(lambda: number(0))
        for _, of, name, freedom, each, k in self._freedoms():
            per, force = f"/{freedom.unit}", freedom.force_unit
            D[k, k] += self._parameter(f"b_{name}", each.viscous, f"viscous friction {of}", f"{force} s{per}")
            if each.stiffness:
                K[k, k] += self._parameter(f"ks_{name}", each.stiffness, f"stiffness of the spring {of}", force + per)
        for n, of, joint, own, drive in self._joints():
            if drive is None:
                continue
            assert own.joint is not None
            turns, actuated = joint.unit == "rad", own.actuated[0]
            inertia = f"inertia of the rotor {of}, reflected to the joint"
            M[actuated] = self._parameter(f"J_r{n}", drive.reflected_inertia, inertia, "kg m2" if turns else "kg")
            if own.motor is not None:
                unit = "N m/rad" if turns else "N/m"
                stiffness = self.symbols.parameter(
                    f"k_{n}", drive.stiffness or 0.0, f"stiffness of the drive {of}", unit
                )
                damping = self._parameter(f"c_{n}", drive.damping, f"damping of the drive {of}", f"{unit} s")
                for matrix, value in ((K, stiffness), (D, damping)):
                    for row in (own.joint, own.motor):
                        for column in (own.joint, own.motor):
                            matrix[row, column] += value if row == column else -value
        return M, K, D

    def gears(self) -> dict[int, Expr]:
        """Return the gear ratios of torques at motor shafts, by coordinate on which they act."""
        out = {}
        for n, of, joint, own, drive in self._joints():
            if drive is not None and drive.torque_at == "motor":
                unit = "-" if joint.unit == "rad" else "rad/m"
                out[own.actuated[0]] = self.symbols.parameter(f"n_{n}", drive.gear_ratio, f"gear ratio {of}", unit)
        return out

    def dry_friction(self) -> dict[int, Expr]:
        """Return Coulomb friction by coordinate, smoothed as in the package `dynamics`."""
        out = {}
        for _, of, name, freedom, each, k in self._freedoms():
            if each.coulomb:
                force = self._parameter(f"f_{name}", each.coulomb, f"Coulomb friction {of}", freedom.force_unit)
                out[k] = force * symengine.tanh(self.coordinates.all[k].v / number(each.coulomb_speed))
        return out

    def _gravity(self) -> ExprArray:
        """Return gravity in the axes of the ground; its component normal to the plane of a planar robot is zero."""
        g = np.array(self.robot.base.matrix).T @ np.array(self.robot.gravity)
        out = algebra.zeros(3)
        for row in range(2 if self.planar else 3):
            if abs(g[row]) > 1e-15 * float(np.abs(g).max()):
                axis = "xyz"[row]
                out[row] = self._parameter(f"g_{axis}", float(g[row]), f"gravity along the ground's {axis}", "m/s2")
        return out


def _at_root(link: Link) -> str:
    """Return the end of the meaning of a parameter that is the value at the root."""
    return "" if link.section is None or link.section.uniform else " at its root"


def _section_turns(angles: ExprArray) -> list[Step]:
    """Return the rotations Rz(v') Ry(-w') Rx(theta)."""
    return [rotation_about(AXES[row], angles[row]) for row in (2, 1, 0) if angles[row] != 0]


def _point_masses(n: int, link: Link) -> list[tuple[str, PointMass, float]]:
    """Return the point masses of a link: tag of their symbols, mass, and position along the link."""
    tags = {"hub": f"h{n}", "payload": f"p{n}", "body": f"b{n}"}
    found = [(tags.get(name) or f"{n}_{int(name[7:]) + 1}", lump, at) for name, lump, at in link.lumps]
    return [(tag, lump, at) for tag, lump, at in found if not lump.empty]
