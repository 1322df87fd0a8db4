"""The kinds of links that the equations of motion know. A new one is a file here and a line in KINDS."""

from __future__ import annotations

from flexarm.dynamics.links.exact import ExactLink
from flexarm.dynamics.links.model import LinkModel, RigidLink
from flexarm.dynamics.links.second_order import SecondOrderLink
from flexarm.dynamics.links.sliding import GrippedLink
from flexarm.robot import Link

KINDS: tuple[LinkModel, ...] = (GrippedLink(), RigidLink(), SecondOrderLink(), ExactLink())
"""The first that takes a link is its kind."""


def model_of(link: Link) -> LinkModel:
    """The kind of a link."""
    return next(kind for kind in KINDS if kind.takes(link))
