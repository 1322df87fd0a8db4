"""How large the equations of a robot become, told before they are made."""

from __future__ import annotations

import warnings

from flexarm.mechanics.bodies import gripped
from flexarm.robot import Elements, Link, Robot

LARGE = 100_000  # instructions: seconds to trace, minutes to compile
HUGE = 2_000_000  # hours, and more memory than most machines have


def size_estimate(robot: Robot) -> int:
    """About how many instructions the inverse dynamics takes, within a factor of three."""
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
    warnings.warn(f"{where}{way}, or wait: the first call and the first run take minutes", UserWarning, stacklevel=3)


def _round(number: float) -> str:
    """Two digits, thousands apart."""
    return f"{float(f'{number:.2g}'):,.0f}".replace(",", " ")


def link_size(link: Link) -> float:
    """Counted on single links; modes couple every shape with every other one, elements only neighbours."""
    joint, flexible = 40.0, link.flexible
    if flexible is None:
        return joint
    meshed = isinstance(flexible.basis, Elements)
    counts = [flexible.basis.coordinates(family, count) for family, count in flexible.counts.items()]
    n = sum(counts)
    if flexible.stiffening == "none":
        elastic = 30.0 * n
    elif flexible.stiffening == "full":
        elastic = 1200.0 * n if meshed else 100.0 * n + 40.0 * n * sum(count**2 for count in counts)
    else:
        elastic = 140.0 * n if meshed else sum(50.0 * count + 10.5 * count**2 for count in counts)
    return joint + elastic * (2 if gripped(link) else 1)
