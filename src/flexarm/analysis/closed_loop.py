"""Closed loops of linear models: slopes of a control law, and the model of the robot under the law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.analysis.state_space import Signal, StateSpace
from flexarm.codegen.library import building
from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.quantity_names import derivative, derivative_unit
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback, feedback_of
from flexarm.feedback.signals import Signals
from flexarm.feedback.traced_law import TracedLaw
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array

if TYPE_CHECKING:
    from flexarm.analysis.linear import SmallMotions

REFERENCE_PREFIX = "reference."
AT_LIMIT = 1 - 1e-9  # share of a limit from which a torque counts as limited


@dataclass(frozen=True)
class LawSlopes:
    """Derivatives of the torques (nu) and of the rates of the states of a law, in one state of the robot.

    by_q, by_v: (nu + states, nq); by_states: (nu + states, states); by_references: (nu + states, references);
    forces: generalized forces (nq,) of the law in that state; references: names of the inputs.
    """

    system: System
    by_q: Array
    by_v: Array
    by_states: Array
    by_references: Array
    forces: Array
    references: tuple[str, ...]
    states: tuple[str, ...]

    @staticmethod
    def of(torque: Any, system: System, q: Array, v: Array) -> LawSlopes:
        """Linearize a law at t = 0, with its states at their start."""
        feedback = _continuous(torque)
        marked = {name: replace(each, name=f"{REFERENCE_PREFIX}{name}") for name, each in _references(feedback)}
        law = TracedLaw(replace(feedback, references=marked or None), system)
        with building:
            arguments = law.function.sx_in()
            outputs = ca.vertcat(*law.function(*arguments))
            slopes = [ca.densify(ca.jacobian(outputs, arguments[k])) for k in (1, 2, 5, 3)]
            function = ca.Function("slopes", arguments, [ca.densify(outputs), *slopes], {"allow_free": True})
        channels = [float(each(np.zeros(1))[0]) for each in law.channels]
        numbers = system.numbers, np.array(law.places, dtype=float)
        found = function(0.0, q, v, channels, law.parameters, law.start, *numbers)
        values, by_q, by_v, by_states, by_channels = (each.full() for each in found)
        torques = values[: system.nu, 0]
        _warn_of_limits(torques, feedback.limits(system), system)
        own = [k for k, each in enumerate(law.channels) if each.profile in marked.values()]
        names = tuple(derivative(law.channels[k].profile.name, law.channels[k].order) for k in own)
        forces = np.asarray(system.input_matrix @ torques)
        return LawSlopes(system, by_q, by_v, by_states, by_channels[:, own], forces, names, tuple(law.states))

    def closed(self, small: SmallMotions, lin: StateSpace, acting: Sequence[int]) -> StateSpace:
        """Return the model of the closed loop: its inputs are the references and those of the open loop.

        `acting` are the actuators whose torques the law gives.
        """
        _, Z = small.independent
        nu, count = self.system.nu, len(self.states)
        on_x = np.hstack([self.by_q @ Z, self.by_v @ Z])
        columns = [[each.name for each in lin.inputs].index(self.system.inputs[k]) for k in acting]
        B, D = lin.B[:, columns], lin.D[:, columns]
        on_x, rates_by_x = on_x[list(acting)], on_x[nu:]
        on_s, rates_by_s = self.by_states[list(acting)], self.by_states[nu:]
        on_r, rates_by_r = self.by_references[list(acting)], self.by_references[nu:]
        return replace(
            lin,
            A=np.block([[lin.A + B @ on_x, B @ on_s], [rates_by_x, rates_by_s]]),
            B=np.block([[B @ on_r, lin.B], [rates_by_r, np.zeros((count, len(lin.inputs)))]]),
            C=np.hstack([lin.C + D @ on_x, D @ on_s]),
            D=np.hstack([D @ on_r, lin.D]),
            states=(*lin.states, *(Signal(f"law.{name}", "1") for name in self.states)),
            inputs=(*(Signal(name, self._unit(name)) for name in self.references), *lin.inputs),
            made_from=None,
        )

    def _unit(self, reference: str) -> str:
        base = reference.removeprefix(REFERENCE_PREFIX)
        name = base.rstrip("'")
        found = Signals(self.system).find(name)
        return "1" if found is None else derivative_unit(found.unit, len(base) - len(name))


def _references(feedback: Feedback) -> list[tuple[str, Any]]:
    return list((feedback.references or {}).items())


def _continuous(torque: Any) -> Feedback:
    """Return the feedback in the argument `torque`; raise an error if there is none, or a digital one."""
    feedback = feedback_of(torque)
    if feedback is None:
        raise TypeError(f"torque = {shown(torque)}: must be a control law, fa.Feedback(...) or a function of (t, x)")
    if feedback.rate is not None:
        raise ValueError(
            f"torque: a law with a sample rate ({feedback.rate:g} Hz) has no continuous linear model: leave out its "
            "rate; or linearize the robot alone, and sample it with lin.discrete(dt)"
        )
    return feedback


def _warn_of_limits(torques: Array, limits: Array, system: System) -> None:
    limited = [name for name, u, limit in zip(system.inputs, torques, limits) if abs(u) >= AT_LIMIT * limit]
    if limited:
        warn(
            f"torque: the law is at its limit at '{', '.join(limited)}' in this state, where its torque does not react",
            ValidityWarning,
        )
