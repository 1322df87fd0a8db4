"""How large the equations of a robot become, told before they are made."""

from __future__ import annotations

import warnings

from flexarm.mechanics.link_models import model_of
from flexarm.robot import Link, Robot

LARGE = 100_000  # instructions: seconds to trace, minutes to compile
HUGE = 2_000_000  # hours, and more memory than most machines have


def size_estimate(robot: Robot) -> int:
    """About how many instructions the larger of inverse dynamics and mass matrix takes, within a factor of three."""
    return round(sum(link_size(link) for link in robot.links))


def require_size(robot: Robot) -> None:
    """Refuse a robot whose equations would never be ready, and warn of one that takes long."""
    size = size_estimate(robot)
    if size <= LARGE:
        return
    largest = max(robot.links, key=link_size)
    share = f"{link_size(largest) / size:.0%} of them"
    where = f"about {_round(size)} instructions in the equations of '{robot.name}', {share} "
    way = f"in link '{largest.name}'; take fewer shapes or links, basis elements, or stiffening 'shortening'"
    if size > HUGE:
        raise ValueError(f"{where}{way}; {_round(HUGE)} are the most")
    wait = "or wait: the first call takes some seconds, machine code minutes"
    warnings.warn(f"{where}{way}, {wait}", UserWarning, stacklevel=3)


def _round(number: float) -> str:
    """Two digits, thousands apart."""
    return f"{float(f'{number:.2g}'):,.0f}".replace(",", " ")


def link_size(link: Link) -> float:
    """Of a link and its joint."""
    return 40.0 + model_of(link).size(link)
