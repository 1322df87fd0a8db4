"""LinearController: a linear law about a posture as a design, and what it does to linear models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexarm.analysis.state_space import Signal, StateSpace
from flexarm.control.linear_law import LinearLaw, Matrices
from flexarm.control.loop_margins import Margins, margins_of
from flexarm.control.weights import rows
from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.motion.laws import Feedback
from flexarm.motion.profiles import Profile


@dataclass(frozen=True, eq=False)
class LinearController:
    """A linear controller about the posture of a linear model; `simulate(torque=design.feedback())` runs it.

    model: what it was designed for. measured: names of what it reads. states: its own, by name, as many as they are.
    matrices: its own. references: by output profiles. K, P: gains on the model's states and on integrals, and the cost
    x0' P x0 that is left of them. L: of its observer. worst: of requirements on a family of models, the worst as a
    part of what is allowed.
    """

    model: StateSpace
    measured: tuple[str, ...]
    states: dict[str, int]
    matrices: Matrices = field(repr=False)
    references: dict[str, Profile] = field(default_factory=dict)
    K: Array | None = field(default=None, repr=False)
    P: Array | None = field(default=None, repr=False)
    L: Array | None = field(default=None, repr=False)
    worst: float | None = None

    def __repr__(self) -> str:
        actors = ", ".join(each.name for each in self.model.inputs)
        own = ", ".join(f"{name} ({count})" for name, count in self.states.items())
        kind = "" if self.dt is None else f", sampled every {self.dt:g} s"
        return f"LinearController of {actors} from {', '.join(self.measured)}, states: {own or 'none'}{kind}"

    @property
    def dt(self) -> float | None:
        """Its period (s); None in continuous time."""
        return self.model.dt

    def feedback(
        self,
        limit: Any = None,
        sensors: Mapping[str, Any] | None = None,
        actuators: Mapping[str, Any] | None = None,
    ) -> Feedback:
        """The law on the robot, with what holds the posture added. Its observer knows of the `limit` (as in
        `fa.Feedback`) and of those of `actuators`, and its integrals do not wind up. `sensors` and `actuators` are
        those of `fa.Feedback`."""
        limits = limits_of(limit, self.model)
        for name, motor in actuators.items() if isinstance(actuators, Mapping) else ():
            limits[name] = min(limits.get(name, np.inf), getattr(motor, "limit", np.inf))
        finite = {name: each for name, each in limits.items() if np.isfinite(each)}
        given = self.model, self.matrices, self.measured, list(self.references), self.states
        law = LinearLaw(*given, finite, repr(self))
        return Feedback(
            law,
            rate=None if self.dt is None else 1 / self.dt,
            limit=limit,
            references=self.references or None,
            states={name: [0.0] * count for name, count in self.states.items()} or None,
            sensors=sensors,
            actuators=actuators,
        )

    # --- on linear models ---

    def closed_loop(self, model: StateSpace | None = None) -> StateSpace:
        """From references to what is measured, of the `model` of the design or of another one (continuous, or sampled
        as the design is) that has the same inputs and what is measured among its outputs or states."""
        plant, C, D = self._plant(model)
        own, n = self.matrices, len(plant.A)
        if self.dt is not None and D.any():  # what is read at a sample is due to the input before it
            plant, C, D = _with_last_input(plant, C, D)
            n = len(plant.A)
        inner = np.linalg.inv(np.eye(len(own.C)) - own.D @ D)
        on_x, on_s, on_r = inner @ own.D @ C, inner @ own.C, inner @ own.F
        B = plant.B
        A = np.block(
            [
                [plant.A + B @ on_x, B @ on_s],
                [own.B @ (C + D @ on_x) + own.H @ on_x, own.A + own.B @ D @ on_s + own.H @ on_s],
            ]
        )
        given = np.vstack([B @ on_r, own.G + own.B @ D @ on_r + own.H @ on_r])
        labels = [f"{name}[{k + 1}]" for name, count in self.states.items() for k in range(count)]
        units = {each.name: each.unit for each in (*self.model.states, *self.model.outputs)}
        return StateSpace(
            A,
            given,
            np.hstack([C + D @ on_x, D @ on_s]),
            D @ on_r,
            (*plant.states[:n], *(Signal(each, "1") for each in labels)),
            tuple(Signal(name, units.get(name, "1")) for name in self.references),
            tuple(Signal(name, units.get(name, "1")) for name in self.measured),
            dt=self.dt,
            at=self.model.at,
            held=self.model.held,
        )

    @property
    def poles(self) -> Array:
        """Of the closed loop with the model of the design (rad/s; of a sampled one in the z plane)."""
        return self.closed_loop().poles

    def margins(self, model: StateSpace | None = None) -> dict[str, Margins]:
        """By input, how far the loop opened there is from instability, the others closed; with the `model` of the
        design or with another one."""
        plant, C, D = self._plant(model)
        if self.dt is not None and D.any():
            plant, C, D = _with_last_input(plant, C, D)
        own = self.matrices
        return {each.name: margins_of(plant, C, D, own, k, self.dt) for k, each in enumerate(self.model.inputs)}

    def _plant(self, model: StateSpace | None) -> tuple[StateSpace, Array, Array]:
        """With the inputs of the design, and what is measured of it."""
        given = self.model if model is None else model
        if not isinstance(given, StateSpace):
            raise TypeError(f"model = {shown(model)}: must be a StateSpace, from fa.linearize")
        if given.dt is None and self.dt is not None:
            given = given.discrete(self.dt)
        if given.dt != self.dt:
            raise ValueError(f"model: is sampled every {given.dt:g} s, the design is not")
        names = [each.name for each in given.inputs]
        for each in self.model.inputs:
            if each.name not in names:
                raise KeyError(f"model: has no input '{each.name}'{suggestion(each.name, names)}")
        plant = given.part(None, [each.name for each in self.model.inputs])
        return plant, *rows(plant, self.measured, "model")


def limits_of(limit: Any, model: StateSpace) -> dict[str, float]:
    """By actuator; `Feedback` has checked what is given, or will."""
    every = list(model.held)
    if limit is None:
        return {}
    if isinstance(limit, Mapping):
        if not limit:
            raise ValueError(f"limit = {shown(limit)}: is empty; leave it out for no limit")
        return {name: real_number(f"limit['{name}']", value, above=0) for name, value in limit.items()}
    if not np.ndim(limit):
        return dict.fromkeys(every, real_number("limit", limit, above=0))
    given = real_array("limit", limit)
    if given.shape != (len(every),):
        raise ValueError(f"limit = {shown(limit)}: give one number, or one for each of {', '.join(every)}")
    return dict(zip(every, given.tolist(), strict=True))


def _with_last_input(plant: StateSpace, C: Array, D: Array) -> tuple[StateSpace, Array, Array]:
    """The same with the last input as further states, by which y = C x + D (last u)."""
    n, m = plant.B.shape
    last = tuple(Signal(f"last {each.name}", each.unit) for each in plant.inputs)
    A = np.block([[plant.A, np.zeros((n, m))], [np.zeros((m, n + m))]])
    wider = StateSpace(
        A,
        np.vstack([plant.B, np.eye(m)]),
        np.hstack([C, D]),
        np.zeros_like(D),
        (*plant.states, *last),
        plant.inputs,
        tuple(Signal(f"y[{k + 1}]", "1") for k in range(len(C))),
        dt=plant.dt,
    )
    return wider, np.hstack([C, D]), np.zeros_like(D)
