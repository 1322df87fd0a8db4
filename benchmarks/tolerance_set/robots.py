"""The robots of the cases: few structures with many parameters, to limit compilation."""

from __future__ import annotations

from math import acos, pi
from typing import Any

import flexarm as fa
from tolerance_set.draw import Draw

DOWN = (0.0, -9.81, 0.0)  # in the plane in which planar robots move


def rod(
    draw: Draw, name: str, flexible: fa.Flexible | None = None, most_damping: float = 3e-3, **fields: Any
) -> fa.Link:
    """Of something soft: a first clamped frequency of 1 to 20 Hz. Kelvin-Voigt damping in seconds, 0 for none."""
    thickness = draw.between(0.004, 0.008)
    damping = draw.about(most_damping / 30, most_damping) if most_damping else 0.0
    material = fa.Material(draw.about(1e10, 7e10), draw.between(1500, 7850), damping=damping)
    given = {"length": draw.between(0.4, 1.0), "section": fa.Section.rectangle(thickness, 0.02)}
    return fa.Link(name, **(given | {"material": material, "flexible": flexible} | fields))


def bar(draw: Draw, name: str, flexible: fa.Flexible | None = None, **fields: Any) -> fa.Link:
    """Of steel: a first clamped frequency of 20 to 100 Hz."""
    section = fa.Section.rectangle(draw.between(0.01, 0.02), 0.02)
    given = {"length": draw.between(0.4, 0.8), "section": section, "material": fa.Material(2.1e11, 7850.0)}
    return fa.Link(name, **(given | {"flexible": flexible} | fields))


def lump(draw: Draw, name: str, **fields: Any) -> fa.Link:
    """A rigid link."""
    given = {"length": draw.between(0.3, 0.8), "mass": draw.between(0.3, 2.0)}
    return fa.Link(name, **(given | fields))


def payload(draw: Draw) -> fa.PointMass:
    return fa.PointMass(draw.between(0.02, 0.2))


def hub(draw: Draw) -> fa.PointMass:
    return fa.PointMass(0.0, inertia=draw.about(1e-3, 1e-2))


# --- planar ---


def rigid_pair(draw: Draw, **fields: Any) -> fa.Robot:
    return fa.Robot(links=[lump(draw, "upper"), lump(draw, "fore", payload=payload(draw))], **fields)


def one_rod(draw: Draw, **fields: Any) -> fa.Robot:
    """One link with three modes and a hub."""
    return fa.Robot(links=[rod(draw, "upper", fa.Flexible(bend_y=3), hub=hub(draw), **fields)])


def rod_of_elements(draw: Draw) -> fa.Robot:
    """One undamped link of two elements, with a payload."""
    shapes = fa.Flexible(bend_y=2, basis="elements")
    return fa.Robot(links=[rod(draw, "upper", shapes, most_damping=0.0, hub=hub(draw), payload=payload(draw))])


def two_rods(draw: Draw) -> fa.Robot:
    shapes = fa.Flexible(bend_y=2)
    return fa.Robot(links=[rod(draw, "upper", shapes), rod(draw, "fore", shapes, payload=payload(draw))])


def three_links(draw: Draw) -> fa.Robot:
    """Rigid, flexible, rigid."""
    return fa.Robot(links=[lump(draw, "base"), rod(draw, "upper", fa.Flexible(bend_y=2)), lump(draw, "fore", mass=0.1)])


def steel_pair(draw: Draw) -> fa.Robot:
    """Two undamped links of steel."""
    shapes = fa.Flexible(bend_y=2)
    return fa.Robot(links=[bar(draw, "upper", shapes), bar(draw, "fore", shapes, payload=payload(draw))])


# --- spatial ---


def spatial_rod(draw: Draw) -> fa.Robot:
    """One link that bends both ways and twists, with a payload beside its axis."""
    mass = fa.PointMass(draw.between(0.02, 0.1), offset=(0, draw.between(0.01, 0.03), 0), inertia=1e-4)
    shapes = fa.Flexible(bend_y=2, bend_z=2, twist=1, stiffening="shortening")  # that of the references
    return fa.Robot(links=[rod(draw, "upper", shapes, hub=hub(draw), payload=mass)], gravity=(0, 0, -1.0))


def spatial_arm(draw: Draw) -> fa.Robot:
    """A rigid column and two soft links whose axes are not parallel."""
    shapes = fa.Flexible(bend_y=1, bend_z=1, twist=1, stiffening="shortening")
    up = (0.0, -pi / 2, 0.0)
    return fa.Robot(
        links=[
            lump(draw, "column", joint=fa.Revolute("x", mount=up), hub=hub(draw)),
            rod(draw, "upper", shapes, joint=fa.Revolute("y", mount=(0.0, pi / 2, 0.0))),
            rod(draw, "fore", shapes, joint=fa.Revolute("y"), payload=fa.PointMass(0.05, inertia=1e-4)),
        ]
    )


# --- joints ---


def friction(draw: Draw, torque: float) -> dict[str, float]:
    return {"coulomb": draw.between(0.2, 0.6) * torque, "coulomb_speed": draw.about(0.002, 0.02)}


def cart(draw: Draw, flexible: bool) -> fa.Robot:
    """A cart between two stops, with a rod on it or a rigid pole."""
    stop = fa.Stop(draw.about(1e3, 1e5), draw.between(5, 50))
    joint = fa.SlidingPrismatic(limits=(-draw.between(0.1, 0.3), draw.between(0.1, 0.3)), stop=stop)
    body = lump(draw, "cart", length=0.1, joint=joint)
    if not flexible:
        return fa.Robot(links=[body])
    pole = rod(draw, "pole", fa.Flexible(bend_y=2), joint=fa.Weld(mount=(0, 0, pi / 2)))
    return fa.Robot(links=[body, pole])


def stopped_rod(draw: Draw) -> fa.Robot:
    """A flexible link whose joint has elastic stops."""
    stop = fa.Stop(draw.about(30, 1000), draw.between(0.05, 0.3))
    joint = fa.Revolute(limits=(-draw.between(0.1, 0.5), draw.between(0.1, 0.5)), stop=stop)
    return fa.Robot(links=[rod(draw, "upper", fa.Flexible(bend_y=2), joint=joint, hub=hub(draw))])


def geared(draw: Draw, flexible: bool) -> fa.Robot:
    """A link behind a soft gear."""
    drive = fa.Drive(
        stiffness=draw.about(20, 500),
        damping=draw.about(1e-3, 0.05),
        rotor_inertia=draw.about(1e-5, 1e-4),
        gear_ratio=50,
    )
    make = (lambda **fields: rod(draw, "upper", fa.Flexible(bend_y=2), **fields)) if flexible else None
    fields: dict[str, Any] = {"joint": fa.Revolute(drive=drive), "payload": payload(draw)}
    return fa.Robot(links=[make(**fields) if make else lump(draw, "upper", **fields)])


def four_bar(draw: Draw, flexible: bool) -> tuple[fa.Robot, dict[str, float]]:
    """A crank that can turn round, a coupler and a rocker; and its angles when the crank lies at zero."""
    size = draw.between(0.8, 1.3)
    a, b, c, d = (size * draw.between(0.95, 1.05) * each for each in (0.2, 0.7, 0.5, 0.7))
    shapes = fa.Flexible(bend_y=2) if flexible else None
    robot = fa.Robot(
        links=[
            rod(draw, "crank", length=a, hub=hub(draw)),
            rod(draw, "coupler", shapes, length=b),
            rod(draw, "rocker", length=c, parent="ground", offset=(d, 0, 0)),
        ],
        constraints=[fa.Loop("coupler", "rocker")],
    )
    gap = d - a
    coupler = acos((b**2 + gap**2 - c**2) / (2 * b * gap))
    rocker = pi - acos((c**2 + gap**2 - b**2) / (2 * c * gap))
    return robot, {"coupler.q": coupler, "rocker.q": rocker}


def clamped(draw: Draw, damped: bool) -> fa.Robot:
    """A beam without a joint, which vibrates for a long time."""
    return fa.Robot(links=[rod(draw, "beam", fa.Flexible(bend_y=3), 1e-4 if damped else 0.0, joint=fa.Weld())])


def spinner(draw: Draw) -> fa.Robot:
    """A long beam to be spun up."""
    section = fa.Section.rectangle(draw.between(0.008, 0.014), 0.03)
    material = fa.Material(7e10, 2700.0)
    return fa.Robot(
        links=[fa.Link("beam", draw.between(2, 5), section=section, material=material, flexible=fa.Flexible(bend_y=3))]
    )


def trolley(draw: Draw) -> fa.Robot:
    """A mass that rides along a clamped beam."""
    beam = rod(draw, "beam", fa.Flexible(bend_y=2), length=draw.between(1, 1.5), joint=fa.Weld())
    rider = lump(draw, "trolley", length=0.1, mass=draw.between(0.02, 0.1), joint=fa.SlidingPrismatic())
    return fa.Robot(links=[beam, rider], gravity=(0.0, -draw.between(0.1, 0.5), 0.0))


def workshop_arm(draw: Draw, acceleration: float) -> fa.Robot:
    """Two links of steel with friction in their joints, the first between stops."""
    plain = steel_pair(draw)
    stop = {"limits": (-0.2, 0.2), "stop": fa.Stop(draw.about(500, 5000), draw.between(0.5, 5))}
    links = []
    for k, link in enumerate(plain.links):
        rough = friction(draw, inertia(plain, k) * acceleration)
        links.append(link.model_copy(update={"joint": fa.Revolute(**(rough | (stop if k == 0 else {})))}))
    return fa.Robot(links=links)


# --- what it takes to move them ---


def inertia(robot: fa.Robot, first: int) -> float:
    """About the joint of a link, of it and all that follow it when they are stretched out (kg m2)."""
    out, reach = 0.0, 0.0
    for link in robot.links[first:]:
        out += link.beam_mass * ((reach + link.length / 2) ** 2 + link.length**2 / 12)
        reach += link.length
        out += (link.payload.mass if link.payload else 0.0) * reach**2
        out += max(map(max, link.hub.inertia_matrix)) if link.hub else 0.0
    return out


def stiffness(link: fa.Link) -> float:
    """Of the clamped link's tip against a force (N/m)."""
    assert link.section is not None
    assert link.material is not None
    section = link.section.at(0.0)
    return 3 * link.material.E * min(section.I_y, section.I_z) / link.length**3


def softness(link: fa.Link) -> float:
    """The angular acceleration (rad/s2) that bends a link by about a twentieth of its length."""
    if link.flexible is None:
        return 1e3
    carried = link.beam_mass / 4 + (link.payload.mass if link.payload else 0.0)
    return 0.05 * stiffness(link) / carried
