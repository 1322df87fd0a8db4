"""Design task of a linear controller: a linear model with actuators only, integrals of outputs, and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.riccati import output_rows, positive_by_name
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile

MAX_RATE_HZ = 1e6  # rounding dominates the difference of samples at higher rates
HOLDING_TOLERANCE = 1e-8  # error of a unit reference in the state that holds it


@dataclass(frozen=True, eq=False)
class DesignTask:
    """Model with actuators as inputs, weights of integrals by output, and references by output."""

    model: StateSpace
    integrals: dict[str, float]
    references: dict[str, Profile]

    @property
    def augmented(self) -> tuple[Array, Array]:
        """Return A and B with the integrals as further states; in a sampled model these are sums times the period."""
        A, B = self.model.A, self.model.B
        C, D = output_rows(self.model, list(self.integrals), "integral")
        n, m = len(A), len(C)
        step, identity = (1.0, np.zeros((m, m))) if self.model.dt is None else (self.model.dt, np.eye(m))
        return np.block([[A, np.zeros((n, m))], [step * C, identity]]), np.vstack([B, step * D])

    @property
    def labels(self) -> list[str]:
        """Return the names of the states, integrals included."""
        return [*(each.name for each in self.model.states), *(f"the integral of {name}" for name in self.integrals)]

    @property
    def inputs(self) -> list[str]:
        """Return the names of the inputs."""
        return [each.name for each in self.model.inputs]

    def targets(self) -> tuple[Array, Array]:
        """Return states (n, references) and inputs (nu, references) that hold outputs at unit references."""
        model, names = self.model, list(self.references)
        C, D = output_rows(model, names, "references")
        n = len(model.A)
        A = model.A if model.dt is None else model.A - np.eye(n)
        block, right = np.block([[A, model.B], [C, D]]), np.vstack([np.zeros((n, len(names))), np.eye(len(names))])
        sizes = np.maximum(np.abs(block).max(axis=1, keepdims=True, initial=0.0), 1e-300)
        found = np.linalg.lstsq(block / sizes, right / sizes, rcond=1e-13)[0]
        missed = np.abs((C @ found[:n] + D @ found[n:]) - np.eye(len(names))).max(axis=0, initial=0.0)
        moving = np.abs((A @ found[:n] + model.B @ found[n:]) / sizes[:n]).max(axis=0, initial=0.0)
        for name, gap, drift in zip(names, missed, moving, strict=True):
            if gap > HOLDING_TOLERANCE or drift > HOLDING_TOLERANCE:
                actors = " and ".join(repr(each) for each in self.inputs)
                raise ValueError(
                    f"references: {actors} cannot hold '{name}' at another value, with the others as they are"
                )
        return found[:n], found[n:]


def design_task(lin: Any, integral: Any, references: Any, rate: Any) -> DesignTask:
    """Return the design task of checked arguments; the model is sampled if a rate (Hz) is given."""
    model = _controlled(lin)
    if rate is not None:
        model = model.discrete(
            1 / real_number("rate", real_number("rate", rate, "Hz", above=0), "Hz", most=MAX_RATE_HZ)
        )
    integrals = _integrals(model, integral)
    return DesignTask(model, integrals, _references(model, references))


def _controlled(lin: Any) -> StateSpace:
    """Return the checked model with only actuators as inputs."""
    if not isinstance(lin, StateSpace):
        raise TypeError(f"lin = {shown(lin)}: must be a StateSpace, from fa.linearize")
    if lin.dt is not None:
        raise ValueError("lin is sampled already; give it in continuous time, and the rate: rate=1000")
    if lin.speeds:
        moving = ", ".join(f"{name} = {rate:g}" for name, rate in lin.speeds.items())
        raise ValueError(f"lin holds about a state that moves ({moving}); a design needs one about a posture at rest")
    inputs = [each.name for each in lin.inputs]
    if driven := [name for name in inputs if name.endswith("''")]:
        raise ValueError(
            f"lin has the input {driven[0]!r}: a joint that is driven is not moved by torques; leave it out"
        )
    actuators = [name for name in inputs if name in lin.held]
    if not actuators:
        raise ValueError(
            f"lin has no input that is an actuator of the robot, but {', '.join(inputs) or 'none'}; "
            "fa.linearize(robot, inputs=[...]) takes links by name"
        )
    return lin.part(None, actuators)


def _integrals(model: StateSpace, given: Any) -> dict[str, float]:
    if given is None:
        return {}
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(each, str) for each in given):
        if len(set(given)) < len(given):
            raise ValueError(f"integral = {shown(given)}: has a name twice")
        given = dict.fromkeys(given, 1.0)
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"integral = {shown(given)}: must be names of outputs, or weights by name, {{'tip.y': 10.0}}")
    found = positive_by_name("integral", given)
    output_rows(model, list(found), "integral")
    return found


def _references(model: StateSpace, given: Any) -> dict[str, Profile]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not given:
        raise TypeError(
            f"references = {shown(given)}: must be numbers, profiles or functions of t by output, {{'tip.y': 0.1}}"
        )
    output_rows(model, [str(name) for name in given], "references")
    return {str(name): profile(value, f"references['{name}']") for name, value in given.items()}


def require_readable(model: StateSpace, coordinates: Sequence[str]) -> None:
    """Raise ValueError if the states of a model are not coordinates of the robot and their rates."""
    for each in model.states:
        if each.name.removesuffix("'") not in coordinates:
            raise ValueError(
                f"lin: its state '{each.name}' cannot be read from the robot (the model is reduced); take fa.lqg, "
                "which estimates it from outputs"
            )
