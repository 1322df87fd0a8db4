"""Torques that are known before a run, as a feedback that others can be added to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from flexarm.control.driven_joints import driven_joints, require_known
from flexarm.foundation.sentences import shown
from flexarm.mechanics.system import System
from flexarm.motion.law_sums import Answer, composed
from flexarm.motion.law_view import View
from flexarm.motion.laws import Feedback


@dataclass(frozen=True)
class GivenTorques:
    """A law that says what its references say: `feedforward.upper`, ..."""

    is_memoryless: ClassVar[bool] = True

    name: str
    links: tuple[str, ...]

    def __call__(self, t: Any, x: View, gains: Mapping[str, Any]) -> Answer:
        return {link: x.reference(f"{self.name}.{link}") for link in self.links}, {}


def given_torques(torques: Mapping[str, Any], name: str, rate: float | None) -> Feedback:
    """A feedback of numbers, profiles or functions of t by link."""
    references = {f"{name}.{link}": each for link, each in torques.items()}
    return composed(GivenTorques(name, tuple(torques)), [*torques], references=references, rate=rate)


def given_feedback(system: System, feedforward: Any, rate: float | None) -> Feedback | None:
    """What `feedforward=` of a controller asks for."""
    if feedforward is None or isinstance(feedforward, Feedback):
        return feedforward
    if not isinstance(feedforward, Mapping) or not feedforward:
        raise TypeError(
            f"feedforward = {shown(feedforward)}: must be torques by link, as fa.feedforward gives them, or a Feedback"
        )
    require_known("feedforward", feedforward, [each.link for each in driven_joints(system)])
    return given_torques(feedforward, "feedforward", rate)
