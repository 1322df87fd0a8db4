"""Link models of the equations of motion; a new one is a module here and an entry in KINDS."""

from __future__ import annotations

from flexarm.dynamics.links.body import BodyLink
from flexarm.dynamics.links.exact import ExactLink
from flexarm.dynamics.links.model import LinkModel, RigidLink
from flexarm.dynamics.links.second_order import SecondOrderLink
from flexarm.dynamics.links.sliding import GrippedLink
from flexarm.robot import Link

KINDS: tuple[LinkModel, ...] = (GrippedLink(), BodyLink(), RigidLink(), SecondOrderLink(), ExactLink())
"""All link models; the first that accepts a link is used."""


def model_of(link: Link) -> LinkModel:
    """Return the model of a link."""
    return next(kind for kind in KINDS if kind.accepts(link))
