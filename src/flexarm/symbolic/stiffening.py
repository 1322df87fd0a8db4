"""Choice of the model of flexible links: the one that is simulated, or the papers' zero-order model."""

from __future__ import annotations

import warnings

from flexarm.mechanics.reach import ValidityWarning
from flexarm.robot import Link, Robot
from flexarm.symbolic.supported import as_simulated

STIFFENINGS = ("none", "shortening", "exact", "robot")


def stiffened(robot: Robot, stiffening: str) -> Robot:
    """The same robot with all flexible links of that model; "robot" leaves each its own, which is simulated."""

    def of(link: Link) -> Link:
        if link.flexible is None:
            return link
        return link.model_copy(update={"flexible": link.flexible.model_copy(update={"stiffening": stiffening})})

    return robot if stiffening == "robot" else robot.model_copy(update={"links": tuple(map(of, robot.links))})


def default_model(robot: Robot, kept: bool) -> str:
    """Return "robot" if the links' own models have a closed form; else warn and return "none"."""
    found = [f"'{link.name}' ({link.stiffening})" for link in robot.links if link.stiffening != "none"]
    if not found or (as_simulated(robot) and not kept):
        return "robot"
    warnings.warn(
        "the closed form is of the zero-order model, links without stiffening, while fa.System and fa.simulate "
        f"have {', '.join(found)}, for which there is no closed form here; stiffening='none' of these links makes both "
        "the same, and fa.equations(..., stiffening='robot') says what is missing",
        ValidityWarning,
        stacklevel=3,
    )
    return "none"


def note(robot: Robot) -> list[str]:
    """What the equations leave out, or keep, of bent links."""
    found = {link.stiffening for link in robot.links if link.flexible is not None}
    sentences = {
        "none": "Foreshortening of bent links is left out (stiffening 'none'), as in the papers.",
        "shortening": "Links are complete to second order in their deflections (stiffening 'shortening').",
        "exact": "Links bend as far as they like (stiffening 'exact'); chi are angles of their axis at nodes.",
    }
    return [sentence for name, sentence in sentences.items() if name in found]
