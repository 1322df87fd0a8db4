"""Numbers of a simulation by the names that runs have them by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System

if TYPE_CHECKING:
    from flexarm.control.simulation import Simulation

AXES = "xyz"
ENERGIES = ("kinetic", "elastic", "gravity", "drive")


@dataclass(frozen=True)
class Reading:
    """What a state tells beyond itself: energies, the tip, deflections of the links' tips (links, 3)."""

    energies: Array
    tip: Array
    deflections: Array


def available(system: System) -> dict[str, Callable[[Simulation], float]]:
    """All numbers by name."""
    found: dict[str, Callable[[Simulation], float]] = {}
    for number, prefix in enumerate(("", "v.", "a.")):
        found |= {f"{prefix}{name}": partial(_part, number * system.nq + k) for k, name in enumerate(system.names)}
    found |= {f"tip.{axis}": partial(_tip, k) for k, axis in enumerate(AXES)}
    for k, link in enumerate(system.robot.links):
        found |= {f"deflection.{link.name}.{axis}": partial(_deflection, k, j) for j, axis in enumerate(AXES)}
    found |= {f"torque.{name}": partial(_torque, k) for k, name in enumerate(system.inputs)}
    found |= {name: partial(_energy, k) for k, name in enumerate(ENERGIES)}
    return found | {name: attrgetter(name) for name in ("work", "dissipated", "t", "error")}


def _part(k: int, sim: Any) -> float:
    """Of the state, which begins with q, v and a."""
    return float(sim._before[k])


def _torque(k: int, sim: Any) -> float:
    return float(sim.torque[k])


def _tip(k: int, sim: Any) -> float:
    return float(sim._read().tip[k])


def _deflection(link: int, axis: int, sim: Any) -> float:
    return float(sim._read().deflections[link, axis])


def _energy(k: int, sim: Any) -> float:
    return float(sim._read().energies[k])
