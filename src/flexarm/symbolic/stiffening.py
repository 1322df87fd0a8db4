"""Choice of the model of flexible links: the one that is simulated, or the papers' zero-order model."""

from __future__ import annotations

import warnings

from flexarm.mechanics.reach import ValidityWarning
from flexarm.robot import Link, Robot
from flexarm.symbolic.supported import lack_of_stiffening

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
    lack = _lack(robot, kept)
    if not found or not lack:
        return "robot"
    second = (
        "" if _lack(stiffened(robot, "shortening"), kept) else "stiffening='shortening' derives second-order links, "
    )
    warnings.warn(
        f"the closed form is of the zero-order model, links without stiffening, while fa.System and fa.simulate have "
        f"{', '.join(found)}: {lack}; {second}stiffening='none' derives the zero-order model without this warning",
        ValidityWarning,
        stacklevel=3,
    )
    return "none"


def _lack(robot: Robot, kept: bool) -> str:
    """Return why the models of a robot's links have no closed form; an empty string if they have one."""
    if kept:
        return "boundary = 'kept' has a closed form for stiffening 'none' only"
    return next(filter(None, (lack_of_stiffening(robot, index) for index in range(len(robot.links)))), "")


def note(robot: Robot) -> list[str]:
    """What the equations leave out, or keep, of bent links."""
    found = {link.stiffening for link in robot.links if link.flexible is not None}
    sentences = {
        "none": "Foreshortening of bent links is left out (stiffening 'none'), as in the papers.",
        "shortening": "Links are complete to second order in their deflections (stiffening 'shortening').",
        "exact": "Links bend as far as they like (stiffening 'exact'); chi are angles of their axis at nodes.",
    }
    return [sentence for name, sentence in sentences.items() if name in found]
