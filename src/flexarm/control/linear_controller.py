"""Linear controllers about a posture: the law on a robot, closed loops with linear models, and stability margins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from flexarm.analysis.state_space import Signal, StateSpace, python_control
from flexarm.control.riccati import output_rows
from flexarm.feedback.feedback import Feedback
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.profiles.profile import Profile

FREQUENCY_RANGE_DECADES = 3  # beyond the slowest and the fastest pole
_POSITIVE_OFFSETS = np.geomspace(1e-2, 30, 40)
RESONANCE_OFFSETS = np.concatenate([-_POSITIVE_OFFSETS[::-1], _POSITIVE_OFFSETS])  # in half-power widths


@dataclass(frozen=True, eq=False)
class Matrices:
    """Matrices of u = C s + D y + F r and s' = A s + B y + G r + H w + W (u - w), w the saturated u.

    In a sampled law the second equation gives the next states. All of y, r, u are relative to the posture.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    F: Array
    G: Array
    H: Array
    W: Array


def operating_value(model: StateSpace, name: str) -> float:
    """Return the value of an output or a state in the posture of a model; rates are zero."""
    return model.outputs_at.get(name, model.at.get(name, 0.0))


@dataclass(frozen=True, repr=False, eq=False)
class LinearLaw:
    """Law (t, x) of a linear controller, with finite limits of its torques by actuator. It has no memory."""

    follows_limits: ClassVar[bool] = True  # the states depend on the saturated torques
    is_memoryless: ClassVar[bool] = True

    design: LinearController
    limits: Mapping[str, float]

    @property
    def links(self) -> tuple[str, ...]:
        """Actuators; those that are not inputs hold their torque."""
        return tuple(self.design.model.held)

    def __repr__(self) -> str:
        return repr(self.design)

    def __deepcopy__(self, memo: Any) -> LinearLaw:
        return self

    def __call__(self, t: Any, x: Any) -> Any:
        design = self.design
        y = [x[name] - operating_value(design.model, name) for name in design.measured]
        r = [x.reference(name) - operating_value(design.model, name) for name in design.references]
        s, own = [x.state(name) for name in design.states], vars(design.matrices)
        if any(isinstance(each, ca.SX) for each in (*y, *r, *s)):
            own = {name: ca.sparsify(ca.DM(each)) for name, each in own.items()}  # without zeros
            return self._evaluate(own, [ca.vertcat(ca.DM(0, 1), *each) for each in (y, r, s)], ca.fmin, ca.fmax)
        rows = [np.concatenate([np.zeros(0), *map(np.ravel, each)]) for each in (y, r, s)]
        return self._evaluate(own, rows, np.minimum, np.maximum)

    def _evaluate(self, own: Mapping[str, Any], given: list[Any], smaller: Any, larger: Any) -> Any:
        """Return the torques and, if there are states, their derivatives (next values of a sampled controller)."""
        y, r, s = given
        u = own["C"] @ s + own["D"] @ y + own["F"] @ r
        inputs, held = [each.name for each in self.design.model.inputs], self.design.model.held
        saturated = [u[k] for k in range(len(inputs))]
        for k, name in enumerate(inputs):
            if name in self.limits:  # smaller and larger keep nan
                low, high = -self.limits[name] - held[name], self.limits[name] - held[name]
                saturated[k] = smaller(larger(u[k], low), high)
        torques = {**held, **{name: saturated[k] + held[name] for k, name in enumerate(inputs)}}
        if not self.design.states:
            return torques
        w = np.array(saturated) if isinstance(u, np.ndarray) else ca.vertcat(*saturated)
        states = own["A"] @ s + own["B"] @ y + own["G"] @ r + own["H"] @ w + own["W"] @ (u - w)
        ends = np.cumsum([0, *self.design.states.values()]).tolist()
        return torques, {name: states[ends[k] : ends[k + 1]] for k, name in enumerate(self.design.states)}


@dataclass(frozen=True)
class Margins:
    """Stability margins of a loop.

    Parameters
    ----------
    gain : float
        Factor by which the loop gain may change before the loop is unstable: above 1 by growing, below 1 by falling,
        inf if any change is allowed.
    phase : float
        Phase lag (rad) that makes the loop unstable; negative for a lead.
    distance : float
        Smallest distance of the loop's frequency response from -1.

    See Also
    --------
    LinearController.margins : Compute the margins of a design.
    """

    gain: float
    phase: float
    distance: float


def loop_margins(plant: StateSpace, C: Array, D: Array, own: Matrices, k: int, dt: float | None) -> Margins:
    """Return the margins of the loop opened at the input k, the others closed."""
    library = python_control("margins")
    frequencies = _loop_frequencies(plant.A, own.A, dt)
    points = 1j * frequencies if dt is None else np.exp(1j * frequencies * dt)
    response = np.array([_loop_gain(z, plant, C, D, own, k) for z in points])
    data = np.abs(response), np.degrees(np.unwrap(np.angle(response))), frequencies
    gain, phase, distance, *_ = library.stability_margins(data)
    return Margins(float(gain), float(np.radians(phase)), float(min(distance, np.abs(1 + response).min())))


def _loop_gain(z: complex, plant: StateSpace, C: Array, D: Array, own: Matrices, k: int) -> complex:
    """Return minus the command of the input k that returns per unit given to it, at the complex frequency z."""
    P = C @ np.linalg.solve(z * np.eye(len(plant.A)) - plant.A, plant.B) + D
    # the law: (z - A) s = B y + H u, u = C s + D y; the observer receives the command of the opened input
    if len(own.A):
        inner = np.linalg.solve(z * np.eye(len(own.A)) - own.A, np.hstack([own.B, own.H]))
        by_y, by_u = own.C @ inner[:, : own.B.shape[1]] + own.D, own.C @ inner[:, own.B.shape[1] :]
    else:
        by_y, by_u = own.D, np.zeros((len(own.D), len(own.D)))
    K = np.linalg.solve(np.eye(len(by_u)) - by_u, by_y)  # u = K y, observers fed by what is commanded
    L = -K @ P
    others = [j for j in range(len(L)) if j != k]
    if not others:
        return complex(L[k, k])
    closed = np.linalg.solve(np.eye(len(others)) + L[np.ix_(others, others)], L[np.ix_(others, [k])])
    return complex(L[k, k] - (L[np.ix_([k], others)] @ closed)[0, 0])


def _loop_frequencies(A: Array, own: Array, dt: float | None) -> Array:
    """Return frequencies in rad/s, dense around resonances."""
    poles = np.concatenate([np.linalg.eigvals(A), np.linalg.eigvals(own) if len(own) else np.zeros(0)])
    if dt is not None:
        poles = np.log(poles[np.abs(poles) > 1e-12].astype(complex)) / dt
    sizes = np.abs(poles)
    sizes = sizes[sizes > 1e-6 * max(sizes.max(initial=0.0), 1e-300)]
    if not len(sizes):
        sizes = np.array([1.0 if dt is None else 0.1 / dt])
    low, high = sizes.min() * 10.0**-FREQUENCY_RANGE_DECADES, sizes.max() * 10.0**FREQUENCY_RANGE_DECADES
    around = [abs(p) + RESONANCE_OFFSETS * max(abs(p.real), 1e-4 * abs(p)) for p in poles if abs(p.imag) > abs(p.real)]
    every = np.unique(np.concatenate([np.geomspace(low, high, 2000), *around]))
    most = np.inf if dt is None else np.pi / dt
    return np.asarray(every[(every > low) & (every < most)])


@dataclass(frozen=True, eq=False)
class LinearController:
    """Linear controller about the posture of a linear model, such as a design of `lqr` or `lqg`.

    Parameters
    ----------
    model : StateSpace
        Model for which it was designed.
    measured : tuple of str
        Names of the measured signals.
    states : dict of str to int
        Numbers of the controller's own states, by name.
    matrices : Matrices
        Matrices of the controller.
    references : dict of str to Profile, optional
        References by output.
    K : ndarray, optional
        Gain on the model's states and on integrals.
    P : ndarray, optional
        Matrix of the optimal cost x0' P x0.
    L : ndarray, optional
        Gain of the observer.
    worst : float, optional
        Worst requirement of `robust_lqg`, relative to its allowed value.

    See Also
    --------
    flexarm.lqr, flexarm.lqg, flexarm.robust_lqg : Designs.
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
        """Sampling period (s), None in continuous time."""
        return self.model.dt

    def feedback(
        self,
        *,
        limit: Any = None,
        sensors: Mapping[str, Any] | None = None,
        actuators: Mapping[str, Any] | None = None,
    ) -> Feedback:
        """Return the law for `simulate(torque=...)`, including the torques that hold the posture.

        Parameters
        ----------
        limit : float, sequence of float or dict of str to float, optional
            Largest torque (N m) or force (N) of the actuators, as in `Feedback`. The observer receives limited torques,
            and integrals do not wind up.
        sensors : dict of str to Sensor, optional
            Sensors by signal, as in `Feedback`.
        actuators : dict of str to Actuator, optional
            Actuators by link, as in `Feedback`; their limits count like `limit`.

        Returns
        -------
        Feedback
            Law of the design.
        """
        limits = actuator_limits(limit, self.model)
        for name, motor in actuators.items() if isinstance(actuators, Mapping) else ():
            limits[name] = min(limits.get(name, np.inf), getattr(motor, "limit", np.inf))
        finite = {name: each for name, each in limits.items() if np.isfinite(each)}
        return Feedback(
            LinearLaw(self, finite),
            rate=None if self.dt is None else 1 / self.dt,
            limit=limit,
            references=self.references or None,
            states={name: [0.0] * count for name, count in self.states.items()} or None,
            sensors=sensors,
            actuators=actuators,
        )

    # --- on linear models ---

    def closed_loop(self, model: StateSpace | None = None) -> StateSpace:
        """Return the closed loop from references to measured signals.

        Parameters
        ----------
        model : StateSpace, optional
            Model, continuous or sampled like the design, with its inputs and measured signals; by default that of the
            design.

        Returns
        -------
        StateSpace
            Closed loop.
        """
        plant, C, D = self._plant(model)
        own = self.matrices
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
            (*plant.states, *(Signal(each, "1") for each in labels)),
            tuple(Signal(name, units.get(name, "1")) for name in self.references),
            tuple(Signal(name, units.get(name, "1")) for name in self.measured),
            dt=self.dt,
            at=self.model.at,
            held=self.model.held,
        )

    @property
    def poles(self) -> Array:
        """Poles of the closed loop with the model of the design (rad/s; in the z plane if sampled)."""
        return self.closed_loop().poles

    def margins(self, model: StateSpace | None = None) -> dict[str, Margins]:
        """Compute the stability margins of the loop opened at each input, the others closed.

        Parameters
        ----------
        model : StateSpace, optional
            Model with the inputs and measured signals of the design; by default that of the design.

        Returns
        -------
        dict of str to Margins
            Margins by input.
        """
        plant = self._plant(model)
        return {each.name: loop_margins(*plant, self.matrices, k, self.dt) for k, each in enumerate(self.model.inputs)}

    def _plant(self, model: StateSpace | None) -> tuple[StateSpace, Array, Array]:
        """Return a model and C, D of its measured signals; in a sampled one the last input is a state."""
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
        C, D = output_rows(plant, self.measured, "model")
        if self.dt is None or not D.any():
            return plant, C, D
        (n, m), last = plant.B.shape, tuple(Signal(f"last {each.name}", each.unit) for each in plant.inputs)
        A = np.block([[plant.A, np.zeros((n, m))], [np.zeros((m, n + m))]])
        B, C = np.vstack([plant.B, np.eye(m)]), np.hstack([C, D])
        wider = replace(plant, A=A, B=B, C=C, D=0 * D, states=(*plant.states, *last), made_from=None)
        return wider, C, 0 * D


def actuator_limits(limit: Any, model: StateSpace) -> dict[str, float]:
    """Return the limits by actuator; `Feedback` checks them further."""
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
