"""Sleeve joints: supports at their mouths, and limits of their links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flexarm.foundation.messages import format_number
from flexarm.robot.constraints import Mouth
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.joints import Sleeve
from flexarm.robot.links import GROUND, Link

if TYPE_CHECKING:
    from flexarm.robot.robot import Robot

MIN_OVERLAP = 0.01  # of a link's length; with its end at the mouth, both would hold the same point


def mouth_supports(robot: Robot) -> tuple[Mouth, ...]:
    """Return the supports at the mouths of a robot's sleeves."""
    found = []
    for link, parent in zip(robot.links, robot.parents, strict=True):
        if not isinstance(link.joint, Sleeve):
            continue
        carrier = None if parent is None else robot.links[parent]
        at, offset = mouth_position(link.joint, carrier), link.offset
        found.append(
            Mouth.model_construct(
                link=link.name,
                on=GROUND if carrier is None else carrier.name,
                at=None if carrier is None else at,
                position=(at + offset[0], *offset[1:]) if carrier is None else offset,
                name=f"{link.name}.mouth",
            )
        )
    return tuple(found)


def mouth_position(joint: Sleeve, carrier: Link | None) -> float:
    """Return the end of a sleeve along its carrier, or along the ground (None)."""
    if joint.mouth is not None:
        return joint.mouth
    return 0.0 if carrier is None else carrier.length


def sleeve_travel(joint: Sleeve, link: Link, carrier: Link | None) -> tuple[float, float]:
    """Return the limits of the link's end between which it is in the sleeve and the mouth is on the link."""
    mouth = mouth_position(joint, carrier)
    lowest = mouth - link.length
    return (lowest if carrier is None else max(lowest, 0.0)), mouth - MIN_OVERLAP * link.length


def sleeve_problems(link: Link, carrier: Link | None) -> Iterator[DescriptionProblem]:
    """Yield problems that prevent a link from sliding in a sleeve; paths start at the link."""
    joint = link.joint
    assert isinstance(joint, Sleeve)
    if carrier is not None and not 0 < mouth_position(joint, carrier) <= carrier.length:
        sentence = f"must lie on its parent {carrier.name!r}, above 0 and up to {format_number(carrier.length)} (m)"
        yield DescriptionProblem("joint.mouth", joint.mouth, sentence)
        return
    lowest, highest = sleeve_travel(joint, link, carrier)
    slack = 1e-9 * link.length  # rounding of differences of lengths
    if joint.limits is not None and not (lowest - slack <= joint.limits[0] and joint.limits[1] <= highest + slack):
        sentence = (
            f"must lie between {lowest:.6g} and {highest:.6g} (m): the end of {link.name!r} runs in the sleeve "
            "and its tip stays out of it"
        )
        yield DescriptionProblem("joint.limits", joint.limits, sentence)
    elif lowest >= highest:
        yield DescriptionProblem(
            "joint.mouth", joint.mouth, f"leaves {link.name!r} no way to slide: the sleeve is too short"
        )
    if link.flexible is None:
        return
    if link.flexible.shear:
        sentence = f"must be false: {link.name!r} slides in a sleeve, and such shapes have no shear"
        yield DescriptionProblem("flexible.shear", True, sentence)
    if link.flexible.loose:
        yield DescriptionProblem("flexible.basis.root", "free", "must be 'clamped': the sleeve holds the link's end")
