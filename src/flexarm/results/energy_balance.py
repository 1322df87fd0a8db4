"""Energy balance of a run: energy that the integration has gained or lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.robot import Robot
from flexarm.robot.joints import SlideJoint

ROUNDING_SHARE = 1e-9  # of the largest energy
REST_SHARE = 1e-12  # of the energy of a robot that moves about once in the run
MIN_REPORTED_SHARE = 1e-6  # shares below are not worth telling


class EnergyBalance(NamedTuple):
    """Largest error of the balance (J, and when), and the energy moved (J): the largest kinetic energy or change of any
    energy.

    No energy is moved in a robot at rest, and the balance is unknown if links gain or lose energy by their model.
    """

    balance: float
    sample: int
    moved: float

    @property
    def share(self) -> float:
        """Energy gained by the integration, or by contact from node to node, as a share of the energy moved; negative
        if lost.
        """
        return self.balance / self.moved if self.moved else 0.0


def energy_balance(energies: Mapping[str, Array], robot: Robot, duration: float) -> EnergyBalance:
    """Evaluate the energy balance from energies over time by name."""
    balance = energies["balance"]
    stores = {name: each for name, each in energies.items() if name != "balance"}
    worst = int(np.abs(balance).argmax())
    moved = max(float(stores["kinetic"].max()), *(float(np.ptp(each)) for each in stores.values()))
    speed = robot.size / duration if duration else 0.0
    nothing = REST_SHARE * sum(link.total_mass for link in robot.links) * speed**2
    at_rest = moved <= max(nothing, ROUNDING_SHARE * max(float(np.abs(each).max()) for each in stores.values()))
    return EnergyBalance(float(balance[worst]), worst, 0.0 if at_rest or appears(robot) else moved)


def leaks(robot: Robot) -> bool:
    """Energy goes where a node of contact changes, and comes with material that appears."""
    return switches(robot) or appears(robot)


def switches(robot: Robot) -> bool:
    """Return True if a joint touches a mesh from node to node, which adds and removes energy."""
    return any(each.on_mesh for each in _slides(robot))


def appears(robot: Robot) -> bool:
    """Return True if material appears in a joint, and energy with it."""
    return any(getattr(each, "rear", "") == "none" for each in _slides(robot))


def _slides(robot: Robot) -> list[SlideJoint]:
    return [link.joint for link in robot.links if isinstance(link.joint, SlideJoint)]


def balance_sentence(share: float, robot: Robot) -> str:
    """Return a sentence about the energy that the integration, or contact from node to node, has gained or lost."""
    part = (
        f"{100 * abs(share):.2g} %" if abs(share) >= MIN_REPORTED_SHARE else f"less than {100 * MIN_REPORTED_SHARE:g} %"
    )
    who = "contact from node to node" if switches(robot) else "the integration"
    return f"{who} {'gained' if share > 0 else 'lost'} {part} of the energy moved"
