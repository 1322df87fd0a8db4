"""Which numbers a robot has, link by link."""

from __future__ import annotations

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.patterns import Patterns
from flexarm.beam.sliding import SlidingIntegrals
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.chain import Chain
from flexarm.mechanics.coordinates import elastic_drive
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.place_numbers import add_nodes, add_place, add_shapes
from flexarm.robot import FixedPrismatic, MovingJoint, PointMass, Reduced, Revolute, SlidingPrismatic
from flexarm.robot.joints import Prismatic

PAIRS = ("uu", "uv", "uw", "vv", "vw", "ww")
CONVECTED = tuple(one + other for one in "uvw" for other in "uvw")


def robot_numbers(chain: Chain) -> Numbers:
    """All numbers of a robot but those of its constraints."""
    out, robot = Numbers(), chain.robot
    out.fact("the robot", "has the links", ", ".join(link.name for link in robot.links))
    for body in chain.bodies:
        try:
            _add_link(out, chain, body)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"link '{body.link.name}': its shapes cannot be computed; its length, section, material or mass is far "
                "too large or too small"
            ) from None
    out.add_given("gravity", "m/s2", robot.gravity)
    out.add_given("base.position", "m", robot.base.position)
    out.add_directions("base.rotation", robot.base.matrix)
    return out


def _add_link(out: Numbers, chain: Chain, body: Body) -> None:
    link, path, where = body.link, f"links.{body.link.name}", f"link '{body.link.name}'"
    above = "the ground" if body.parent is None else f"'{chain.bodies[body.parent].link.name}'"
    out.fact(where, "hangs on", above)
    out.add(f"{path}.length", "m", link.length)
    _add_joint(out, chain, body)
    _add_seat(out, chain, body)
    _add_flexibility(out, body)
    out.fact(where, "has rotary_inertia =", str(link.rotary_inertia))
    parts: list[tuple[str, LinkIntegrals]] = [(path, body.integrals)]
    if body.rear is not None:
        parts.append((f"{path}.rear", body.rear))
    for stem, integrals in parts:
        if isinstance(integrals, SlidingIntegrals):
            _add_sliding(out, stem, integrals)
        else:
            _add_beam(out, stem, integrals)
    add_place(out, f"{path}.tip", body, link.length)
    for name, lump, at in lumps(body):
        _add_lump(out, f"{path}.{name}", body, lump, at)
    for name, missing in (("hub", link.hub is None), ("payload", link.payload is None)):
        out.fact(where, f"a {name}", not missing)
    out.fact(where, "has so many masses along it:", len(link.masses))
    mass = link.total_mass
    out.fact(where, "a mass", mass > 0)
    if mass > 0:
        out.add(f"{path}.mass_inverse", "1/kg", 1 / mass)


def lumps(body: Body) -> list[tuple[str, PointMass, float]]:
    """Everything fixed to a link, by name, with where along it."""
    link = body.link
    found = [("hub", link.hub, 0.0), ("payload", link.payload, link.length)]
    found += [(f"masses.{k}", mass, mass.at or 0.0) for k, mass in enumerate(link.masses)]
    return [(name, mass, at) for name, mass, at in found if mass is not None]


def _add_lump(out: Numbers, path: str, body: Body, lump: PointMass, at: float) -> None:
    out.add(f"{path}.mass", "kg", lump.mass)
    out.add_given(f"{path}.offset", "m", lump.offset)
    out.add_given(f"{path}.inertia", "kg m2", lump.inertia_matrix, symmetric=True)
    add_place(out, f"{path}.place", body, at)


def _add_joint(out: Numbers, chain: Chain, body: Body) -> None:
    joint, path = body.link.joint, f"links.{body.link.name}.joint"
    where = f"the joint of link '{body.link.name}'"
    out.fact(where, "is", f"a {type(joint).__name__}")
    out.add_directions(f"{path}.mount", joint.mount_matrix)
    if isinstance(joint, Revolute):
        out.add_directions(f"{path}.axis", joint.axis_vector)
    if isinstance(joint, Prismatic):
        out.fact(where, "has contact =", joint.contact)
    if isinstance(joint, FixedPrismatic):
        out.fact(where, "has rear =", joint.rear)
    if not isinstance(joint, MovingJoint):
        return
    force = "N m" if joint.unit == "rad" else "N"
    stiffness, damping = f"{force}/{joint.unit}", f"{force} s/{joint.unit}"
    out.add_given(f"{path}.viscous", damping, joint.viscous)
    out.add_given(f"{path}.coulomb", force, joint.coulomb)
    out.add(f"{path}.coulomb_speed", f"{joint.unit}/s", joint.coulomb_speed)
    drive, stop = joint.drive, joint.stop
    out.fact(where, "a drive", drive is not None)
    out.fact(where, "an elastic drive", elastic_drive(body.link) is not None)
    if drive is not None:
        out.fact(where, "has torque_at =", drive.torque_at)
        inertia = "kg m2" if joint.unit == "rad" else "kg"
        out.add(f"{path}.drive.reflected_inertia", inertia, drive.reflected_inertia)
        out.add_given(f"{path}.drive.damping", damping, drive.damping)
        if drive.stiffness is not None:
            out.add(f"{path}.drive.stiffness", stiffness, drive.stiffness)
        if drive.torque_at == "motor":
            out.add(f"{path}.drive.gear_ratio", "1" if joint.unit == "rad" else "rad/m", drive.gear_ratio)
    out.fact(where, "a stop", stop is not None)
    if stop is not None:
        travel = chain.robot.travel(body.link)
        assert travel is not None
        out.add(f"{path}.limits", joint.unit, travel)
        out.add(f"{path}.stop.stiffness", stiffness, stop.stiffness)
        out.add_given(f"{path}.stop.damping", damping, stop.damping)


def _add_seat(out: Numbers, chain: Chain, body: Body) -> None:
    """Where a link hangs on its parent, or along what it rides."""
    path = f"links.{body.link.name}"
    out.add_given(f"{path}.offset", "m", body.link.offset)
    if body.parent is None:
        return
    above, joint = chain.bodies[body.parent], body.link.joint
    if isinstance(joint, SlidingPrismatic):
        add_rail(out, f"{path}.rail", above, joint.contact == "nodal")
    else:
        assert body.hangs_at is not None
        add_place(out, f"{path}.place", above, body.hangs_at)


def add_rail(out: Numbers, path: str, body: Body, nodal: bool = False) -> None:
    """What slides along a link needs its shapes; at nodes, those of the nodes."""
    if nodal and not body.gripped:
        add_nodes(out, path, body.integrals)
        return
    add_shapes(out, f"{path}.front" if body.gripped else path, body.integrals)
    if body.gripped and body.rear is not None:
        add_shapes(out, f"{path}.rear", body.rear)


def _add_flexibility(out: Numbers, body: Body) -> None:
    where, flexible = f"link '{body.link.name}'", body.link.flexible
    out.fact(where, "a flexible beam", flexible is not None)
    if flexible is None:
        return
    basis = flexible.basis
    counts = ", ".join(f"{name} {each.stop - each.start}" for name, each in body.integrals.columns.items())
    out.fact(where, "has the shapes", counts)
    out.fact(where, "has the basis", basis.type)
    if isinstance(basis, Reduced):
        out.fact(where, "has modes of the interface", basis.interface)
    out.fact(where, "has stiffening =", flexible.stiffening)


def _add_first_moment(out: Numbers, path: str, beam: LinkIntegrals, patterns: Patterns) -> None:
    """What the mass of a link, or of a part of it, and its centre need."""
    out.add(f"{path}.m", "kg", beam.m)
    out.add(f"{path}.c0", "kg m", beam.c0)
    out.add(f"{path}.a", "kg m", beam.a, patterns.a)
    out.add(f"{path}.H0", "kg m", beam.H0, patterns.H(), symmetric=True)


def _add_beam(out: Numbers, path: str, beam: LinkIntegrals) -> None:
    patterns = Patterns(beam)
    _add_first_moment(out, path, beam, patterns)
    out.add(f"{path}.K", "J", beam.K, patterns.K, symmetric=True)
    out.add(f"{path}.D", "J s", beam.D, patterns.D, symmetric=True)
    if beam.stiffening == "full":
        _add_slices(out, path, beam, patterns)
        return
    out.add(f"{path}.section_inertia", "kg m2", beam.section_inertia, patterns.section_inertia)
    out.add(f"{path}.g0", "kg m2", beam.g0)
    out.add(f"{path}.b", "kg m2", beam.b, patterns.a)
    out.add(f"{path}.j", "kg m2", beam.j, patterns.j)
    for pair in PAIRS:
        _add_mass(out, path, pair, beam, patterns)
    out.add(f"{path}.squeeze", "1", beam.H1 / (beam.g0 or 1.0), patterns.H(), symmetric=True)
    if beam.link.rotary_inertia:  # else translation is all but that of twist
        ones = patterns.M_elastic_ones
        out.add(f"{path}.M_elastic", "kg m2", beam.M_elastic, patterns.M_elastic, symmetric=True, ones=ones)
    elif twist := beam.columns.get("twist"):
        mass, ones = beam.M_elastic[twist, twist], patterns.unit_of("twist")
        out.add(f"{path}.M_twist", "kg m2", mass, patterns.mass_of("twist"), symmetric=True, ones=ones)


def _add_mass(out: Numbers, path: str, pair: str, beam: LinkIntegrals, patterns: Patterns) -> None:
    same, ones = pair[0] == pair[1], patterns.M_ones(pair)
    out.add(f"{path}.M.{pair}", "kg m2", beam.M[pair], patterns.M(pair), symmetric=same, ones=ones)


def _add_slices(out: Numbers, path: str, beam: LinkIntegrals, patterns: Patterns) -> None:
    before = 0.0
    out.fact(path, "is cut into so many slices:", len(beam.slices))
    for k, piece in enumerate(beam.slices):
        x, stem = piece.station.x, f"{path}.slices.{k}"
        out.add(f"{stem}.x", "m", x)
        out.add(f"{stem}.mass", "kg", piece.mass)
        out.add(f"{stem}.inertia", "kg m2", piece.inertia, patterns.section_inertia)
        out.add(f"{stem}.U", "m", piece.station.U, patterns.U(x)[0])
        out.add(f"{stem}.W", "rad", piece.station.W, patterns.W(x)[0])
        out.add(f"{stem}.H", "m", piece.station.H, patterns.H(before, x), symmetric=True)
        before = x


def _add_sliding(out: Numbers, path: str, part: SlidingIntegrals) -> None:
    """Of a part of a link that slides through its joint."""
    patterns = Patterns(part)
    _add_first_moment(out, path, part, patterns)
    _add_strain(out, path, part, patterns)
    if part.stiffening == "full":
        _add_slices(out, path, part, patterns)
        for k, (Nc, Wc) in enumerate(zip(*part.convected_slices, strict=True)):
            x = part.slices[k].station.x
            out.add(f"{path}.slices.{k}.Nc", "m", Nc, patterns.U(x)[0])
            out.add(f"{path}.slices.{k}.Wc", "rad", Wc, patterns.W(x)[0])
        return
    out.add(f"{path}.g0", "kg m2", part.g0)
    out.add(f"{path}.g0_inverse", "1/(kg m2)", 1 / (part.g0 or 1.0))
    out.add(f"{path}.section_inertia", "kg m2", part.section_inertia, patterns.section_inertia)
    out.add(f"{path}.H1", "kg m2", part.H1, patterns.H(), symmetric=True)
    for name in ("b", "a_c", "b_c"):
        out.add(f"{path}.{name}", "kg m2", getattr(part, name), patterns.a)
    for pair in PAIRS:
        _add_mass(out, path, pair, part, patterns)
    for pair in CONVECTED:
        out.add(f"{path}.M_c.{pair}", "kg m2", part.M_c[pair], patterns.M(pair, convected=True))
    out.add(f"{path}.M_cc", "kg m2", part.M_cc, patterns.M_cc, symmetric=True)
    for row in range(3):
        if patterns.section_inertia[row]:
            j, j_c, plain, mixed, flowing = part.turning(row)
            stem, pattern = f"{path}.turning.{row}", patterns.turning(row)
            out.add(f"{stem}.j", "kg m2", j, patterns.j[row])
            # of slopes, integrated by parts, nothing is left of it
            j_c, flows = (j_c, patterns.j[row]) if row == 0 else (0 * j_c, np.zeros(part.count, dtype=bool))
            out.add(f"{stem}.j_c", "kg m2", j_c, flows)
            out.add(f"{stem}.plain", "kg m2", plain, pattern, symmetric=True)
            out.add(f"{stem}.mixed", "kg m2", mixed, pattern)
            out.add(f"{stem}.flowing", "kg m2", flowing, pattern, symmetric=True)


def _add_strain(out: Numbers, path: str, part: SlidingIntegrals, patterns: Patterns) -> None:
    """Stiffness and damping of each family."""
    flexible, material = part.link.flexible, part.link.material
    if flexible is None or material is None or not part.count:
        return
    given = flexible.damping
    out.add_given(f"{path}.strain_rate", "s", material.damping + (0.0 if given is None else given.beta))
    out.add_given(f"{path}.alpha", "1/s", 0.0 if given is None else given.alpha)
    ratios = given is not None and given.ratio is not None
    out.fact(path, "damping ratios", ratios)
    for name in part.families:
        place = part.columns[name]
        overlap = patterns.overlap(name)
        plain, mixed, flowing = part.damped[name]
        out.add(f"{path}.{name}.K", "J", plain, patterns.stiffness_of(name), symmetric=True)
        out.add(f"{path}.{name}.K_mixed", "J", mixed, overlap)
        out.add(f"{path}.{name}.K_flowing", "J", flowing, overlap, symmetric=True)
        mass, ones = part.M_elastic[place, place], patterns.unit_of(name)
        out.add(f"{path}.{name}.M", "kg m2", mass, patterns.mass_of(name), symmetric=True, ones=ones)
        if ratios:
            pattern = patterns.D_ratios[place, place]
            out.add(f"{path}.{name}.D_ratios", "J s", part.D_ratios[place, place], pattern, symmetric=True)
