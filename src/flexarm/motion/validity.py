"""What a user should know of a run that looks like any other: warnings about its validity."""

from __future__ import annotations

import warnings

import numpy as np

from flexarm.motion.records import ENERGIES
from flexarm.motion.run import Run
from flexarm.robot import Robot
from flexarm.robot.joints import Prismatic

GAIN = 0.1  # of the energy that was moved about: an integration that puts in more is not to be trusted
LOSS = 0.5  # and one that takes out more has damped what should have moved (some, of vibration, is its purpose)
LARGE_DEFLECTION = 0.15  # of a link's length: beyond this the beam theory is out of its depth


class ValidityWarning(UserWarning):
    """A result that the model's assumptions do not cover."""


def warn_of_validity(run: Run, robot: Robot) -> None:
    """Warn where a run ended early, did not converge, leaks energy or bends too far."""
    for sentence in (*_early_end(run, robot), *_unsolved(run), *_leak(run, robot), *_large_deflections(run, robot)):
        warnings.warn(sentence, ValidityWarning, stacklevel=3)


def _early_end(run: Run, robot: Robot) -> list[str]:
    if run.status == "completed":
        return []
    return [f"the run ended early: {run.reason}; what was computed is kept{_hint(run, robot)}"]


def _hint(run: Run, robot: Robot) -> str:
    """What may be at fault where a run diverged."""
    if not run.reason.startswith("diverged"):
        return ""
    if "rate" in run.options:
        return (
            f"; a controller that speaks every {1 / run.options['rate']:.3g} s shakes joints that feel little inertia: "
            "raise its rate, lower its gains, or give the joints the hub or rotor that a motor has"
        )
    if "Feedback" in run.options["torque"] and "changes too fast" in run.reason:
        return "; a law that jumps (np.sign, np.where) wants a smooth one (np.tanh), or a sample rate"
    largest = np.abs(run.array("deflection")).max(axis=(0, 2))
    bends = [bend / link.length for bend, link in zip(largest, robot.links, strict=True) if link.flexible]
    truncated = any(link.flexible and link.flexible.stiffening == "shortening" for link in robot.links)
    if truncated and max(bends) > LARGE_DEFLECTION / 3:  # its mass matrix may lose definiteness
        return "; stiffening='full' bears larger deflections than 'shortening'"
    return ""


def _unsolved(run: Run) -> list[str]:
    statistics = run.statistics
    if not statistics["unsolved"]:
        return []
    return [
        f"Newton's iteration did not converge in {statistics['unsolved']} of {statistics['steps']} steps of "
        f"dt = {run.options['dt']:g} s; take a shorter step, or leave dt out"
    ]


def _leak(run: Run, robot: Robot) -> list[str]:
    """A run that gains or loses much energy by its integration is wrong, however smooth it looks."""
    joints = [link.joint for link in robot.links if isinstance(link.joint, Prismatic)]
    if run.status != "completed" or any(
        each.contact == "nodal" or getattr(each, "rear", "") == "none" for each in joints
    ):
        return []  # energy goes where a node changes, and comes with material that appears
    values = {name: run.array(name) for name in ENERGIES}
    balance = values.pop("balance")
    moved = max(np.ptp(each) for each in values.values())
    time = run.array("time")
    speed = sum(link.length for link in robot.links) / float(time[-1])
    nothing = 1e-12 * sum(link.total_mass for link in robot.links) * speed**2  # J, beside moving about once
    at_rest = moved <= max(nothing, 1e-9 * max(np.abs(each).max() for each in values.values()))
    worst = int(np.abs(balance).argmax())
    if at_rest or abs(balance[worst]) <= (GAIN if balance[worst] > 0 else LOSS) * moved:
        return []
    did = "put in" if balance[worst] > 0 else "took out"
    return [
        f"the integration itself {did} {abs(balance[worst]):.3g} J until t = {time[worst]:.4g} s, where "
        f"no more than {moved:.3g} J changed their form: do not trust this run; take a smaller "
        f"{'dt' if run.options['dt'] else 'rtol'}, or another method"
    ]


def _large_deflections(run: Run, robot: Robot) -> list[str]:
    found = []
    time, deflection = run.array("time"), run.array("deflection")
    for place, link in enumerate(robot.links):
        bend = np.abs(deflection[:, place, 1:]).max(axis=1)
        worst = int(bend.argmax())
        if link.flexible is not None and bend[worst] > LARGE_DEFLECTION * link.length:
            found.append(
                f"link '{link.name}' bends by {bend[worst] / link.length:.0%} of its length at "
                f"t = {time[worst]:.4g} s; the beam model is meant for less than {LARGE_DEFLECTION:.0%}"
            )
    return found
