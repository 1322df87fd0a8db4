"""Linear models of a robot about a state, from named inputs to named outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np

from flexarm.analysis.closed_loop import REFERENCE_PREFIX, LawSlopes
from flexarm.analysis.state_space import Signal, StateSpace
from flexarm.analysis.transfer import SecondOrderModel
from flexarm.codegen.library import building
from flexarm.dynamics.accuracy.shape_truncation import warn_of_frequencies
from flexarm.dynamics.accuracy.stiffening import system_for_posture
from flexarm.dynamics.accuracy.validity import ValidityWarning, warn_of_posture
from flexarm.dynamics.arguments import Linearization, Vector
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.equilibrium import dependent_coordinates, posture_at
from flexarm.dynamics.joint_reactions import row_forces
from flexarm.dynamics.quantity_names import derivative, derivative_unit
from flexarm.dynamics.system import System, as_system
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.signals import Input, Output, Signals
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

DIFFERENCE_STEP = 1e-6  # step of central differences, in units of each coordinate's characteristic size
NEGLIGIBLE_DEFLECTION = 1e-9  # of the softest coordinate, in units of its characteristic size: forces that cause less
ROUNDING_SHARE = 1e-12  # of the moment of the whole weight: of weight that passes through the axis of a hinge
FORCE_TOLERANCE = 1e-6  # holding force, relative to weight and spring forces, below which the posture is an equilibrium


def linearize(
    robot: Robot | System,
    q: Vector | Literal["equilibrium"] = None,
    v: Vector = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    points: Mapping[str, tuple[str, float | None]] | None = None,
    lock: Sequence[str] = (),
    torque: Feedback | Callable[..., Any] | None = None,
) -> StateSpace:
    """Linearize the equations of motion about a posture and speed.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion.
    q : dict of str to float, array_like of shape (nq,) or "equilibrium", optional
        Posture, by coordinate name or as an array; coordinates that are not given are zero. "equilibrium" is that
        in which the robot rests with its joints held at zero.
    v : dict of str to float or array_like, shape (nq,), optional
        Speeds, by coordinate name or as an array; zero by default.
    inputs : list of str, optional
        Names of inputs: actuators by link ("upper"), the acceleration of a driven joint ("upper.q''"), or forces (N)
        and torques (N m) on places in world axes ("tip.fy", "fore(0.2).tz"). All actuators by default; with a law also
        its references.
    outputs : list of str, optional
        Names of outputs: coordinates and their rates ("upper.q", "upper.q'", "upper.q''"), places ("tip.y",
        "fore(0.2).y''"), deflections ("deflection.fore.y"), sections ("fore.strain(0.1)", "fore.moment(0.1)") and
        reactions ("reaction.fore.fx"). All coordinates by default.
    points : dict of str to tuple, optional
        Named places (link, x), such as {"camera": ("fore", 0.2)}, x in m from the root of the link (None: its tip), or
        names of frames. Frames of the robot need no other name.
    lock : sequence of str, optional
        Names of actuators whose joints are held at the posture (the motor, if the drive is elastic), as
        `joints={"upper": "locked"}` does in `modes`. They are neither states nor inputs.
    torque : Feedback or callable, optional
        Control law without a sampling rate; the model is then that of the closed loop. Further states are those of the
        law, "law.sum", and of actuators with a lag. Further inputs are the references that the law reads,
        "reference.upper.q", and "reference.upper.q'" if it reads the rate. Torques of actuators are then disturbances,
        which add to those of the law.

    Returns
    -------
    StateSpace
        Linear model. Its states are the coordinates and their rates; with constraints, independent coordinates.

    Raises
    ------
    KeyError
        If there is no input or output of a given name.
    ValueError
        If speeds are given for a robot with constraints, an input has no effect, or the law has a sampling rate.

    Warns
    -----
    ValidityWarning
        If the posture is not an equilibrium. The model is then that of the robot held there by constant forces
        (`StateSpace.held` for actuators). If a torque of the law is at its limit.

    See Also
    --------
    flexarm.equilibrium : Posture in which the robot rests under its loads.
    flexarm.modes : Vibration modes at a posture.
    flexarm.lqr, flexarm.lqg : Controllers for linear models.

    Notes
    -----
    A law is linearized at t = 0 about its start, by the derivatives of its expressions; where it has a kink, as at a
    limit or in np.abs, the derivative is that on one side. Poles of the closed loop are `StateSpace.poles`.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> lin = linearize(library.rotating_beam(), inputs=["beam"], outputs=["beam.q", "tip.y"])
    >>> lin
    StateSpace of 14 states from beam (N m) to beam.q (rad), tip.y (m)
    >>> def law(t, x):
    ...     return {"beam": 40.0 * (x.reference("beam.q") - x["beam.q"]) - 8.0 * x["beam.q'"]}
    >>> feedback = Feedback(law, references={"beam.q": 0.0})
    >>> linearize(library.rotating_beam(), outputs=["tip.y"], torque=feedback)
    StateSpace of 14 states from reference.beam.q (rad), beam (N m) to tip.y (m)
    """
    system = as_system(robot)
    posture, rates = posture_at(robot, q), system.vector(v, "v")
    if posture.ndim == 1 and (exact := system_for_posture(robot, posture)) is not None:
        system = exact
    signals = Signals(system, _check_points(system, points))
    for name, each in (("q", posture), ("v", rates)):
        if each.ndim != 1:
            raise ValueError(f"{name} has shape {each.shape}: a linear model holds about one state")
    lock = _check_names("lock", lock, ())
    locked = _locked_coordinates(system, lock)
    if system.constraints:
        if rates.any():
            raise ValueError("v: linear models of robots with constraints are those at rest")
        posture = Assembly(system, locked).posture(posture)
    warn_of_posture(system, posture)
    law = None if torque is None else LawSlopes.of(torque, system, posture, rates)
    references = () if law is None else law.references
    default = [*references, *(name for name in system.inputs if name not in lock)]
    names = _check_names("inputs", inputs, default)
    given = [_input(signals, each, posture, references) for each in names if each not in references]
    chosen = [signals.output(each) for each in _check_names("outputs", outputs, system.names)]
    _require_effect(given, locked, lock)
    warn_of_frequencies(system, posture, [*locked, *(each.driven for each in given if each.driven is not None)])
    if law is None:
        return SmallMotions(system, posture, rates, given, locked).model(chosen)
    fixed = {*locked, *(each.driven for each in given)}
    acting = [k for k, each in enumerate(system.actuators) if each.coordinate.index not in fixed]
    own = [each.name for each in given]
    more = [signals.input(system.inputs[k], posture) for k in acting if system.inputs[k] not in own]
    small = SmallMotions(system, posture, rates, [*given, *more], locked, law.forces)
    return law.closed(small, small.model(chosen), acting).part(inputs=names)


def _input(signals: Signals, name: str, q: Array, references: Sequence[str]) -> Input:
    try:
        return signals.input(name, q)
    except KeyError:
        if not name.startswith(REFERENCE_PREFIX):
            raise
        raise KeyError(
            f"inputs: the law reads no reference {shown(name)}{suggestion(name, list(references))}"
        ) from None


def _locked_coordinates(system: System, lock: Sequence[str]) -> list[int]:
    """Return the indices of the coordinates that the actuators named move."""
    for name in lock:
        system.require_input(name, "lock")
    return [each.coordinate.index for each in system.actuators if each.name in lock]


def _require_effect(given: list[Input], locked: list[int], lock: Sequence[str]) -> None:
    """Require that no input acts on coordinates only that are locked or whose accelerations are inputs."""
    driven = {each.driven: each.name for each in given if each.driven is not None}
    for one in given:
        pushed = [] if one.force is None or one.load is not None else np.flatnonzero(one.force).tolist()
        if one.driven in locked or (pushed and all(k in locked for k in pushed)):
            raise ValueError(f"inputs: '{one.name}' moves nothing, since its joint is locked; lock = {shown(lock)}")
        if pushed and all(k in driven for k in pushed):
            raise ValueError(f"inputs: '{one.name}' moves nothing, since {driven[pushed[0]]!r} drives its joint")


def _check_names(what: str, given: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    if given is None:
        return list(default)
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(each, str) for each in given):
        raise TypeError(f"{what} = {shown(given)}: must be a list of names")
    if len(set(given)) < len(given):
        raise ValueError(f"{what} = {shown(given)}: has a name twice")
    return list(given)


def _check_points(system: System, points: Any) -> dict[str, tuple[str, float | None]]:
    if points is not None and not isinstance(points, Mapping):
        raise TypeError(f"points = {shown(points)}: must be a mapping, {{'camera': ('fore', 0.2)}}")
    found, frames = {}, [frame.name for frame in system.robot.frames]
    for name, place in (points or {}).items():
        place = (place, None) if place in frames else place
        if not isinstance(name, str) or not isinstance(place, (tuple, list)) or len(place) != 2:
            raise ValueError(f"points[{name!r}] = {shown(place)}: must be (link, x), x in m from its root or None")
        system.place(*place)
        found[name] = (place[0], place[1])
    return found


class SmallMotions:
    """Equations of small motions M a + (G + D) v + K q + Phi_q' lambda = B u, Phi_q a = 0 about a held state.

    `hold` are the generalised forces that keep the speeds constant without those of the constraints, `J` is the
    Jacobian of these; the accelerations of the coordinates `driven` are inputs, those of `locked` are zero, and those
    of `free` follow. `applied` are generalized forces of a law in the held state.
    """

    def __init__(
        self,
        system: System,
        q: Array,
        v: Array,
        given: list[Input],
        locked: Sequence[int] = (),
        applied: Array | float = 0.0,
    ) -> None:
        self.system, self.q, self.v, self.given, self.locked, self.applied = system, q, v, given, locked, applied
        self.hold, self.J = system.inverse_dynamics(q, v, None), system.constraint_jacobian(q)
        self.driven = [each.driven for each in given if each.driven is not None]
        self.free = [k for k in range(system.nq) if k not in (*self.driven, *locked)]
        columns = [np.zeros(system.nq) if each.force is None else each.force for each in given]
        self.push = np.reshape(columns, (len(given), system.nq)).T  # of unit inputs, zero for driven accelerations
        self.driven_accelerations = np.zeros_like(self.push)
        for k, each in enumerate(given):
            if each.driven is not None:
                self.driven_accelerations[each.driven, k] = 1.0

    @cached_property
    def held_forces(self) -> Array:
        """Return the generalised forces that hold the state."""
        return np.asarray(self.hold + self.J.T @ self.constraint_forces)

    @cached_property
    def constraint_forces(self) -> Array:
        """Return the constraint forces lambda in the held state.

        They follow from the coordinates without actuators, or else from those without inputs; if both leave them
        undetermined, constraints carry as much of the load as they can.
        """
        if not len(self.J):
            return np.zeros(0)
        actuated, driven = {each.coordinate.index for each in self.system.actuators}, {*self.driven, *self.locked}
        pushed = {int(k) for each in self.given if each.force is not None for k in np.flatnonzero(each.force)}
        for supported in (actuated | driven, (actuated & pushed) | driven, set()):
            passive = [k for k in range(self.system.nq) if k not in supported]
            forces, is_determined = row_forces(self.J[:, passive], self.hold[passive])
            if is_determined:
                break
        return -forces

    @cached_property
    def independent(self) -> tuple[list[int], Array]:
        """Return the coordinates that are states, with driven ones, and Z (nq, states): the motion of all with them."""
        nq, rows = self.system.nq, len(self.J)
        last = dependent_coordinates(self.system, self.q, self.free) if rows else []
        if len(last) < rows:
            raise ValueError(
                "the constraints leave no freedom to the joints that are locked, or whose accelerations are inputs: "
                f"{', '.join(self.system.names[k] for k in (*self.driven, *self.locked))}"
            )
        kept = [k for k in range(nq) if k not in last and k not in self.locked]
        if not kept:
            raise ValueError("lock: nothing is left that moves")
        Z = np.eye(nq)[:, kept]
        if rows:
            Z[last] = -np.linalg.solve(self.J[:, last], self.J[:, kept])
        return kept, Z

    @cached_property
    def slopes(self) -> tuple[Linearization, Array]:
        """Return the linearization of the unconstrained robot, and its stiffness with that of constraint forces."""
        small = self.system.linearization(self.q, self.v)
        held = self.system.constraint_stiffness(self.q, self.constraint_forces) if len(self.J) else 0
        return small, small.K + held

    @cached_property
    def accelerations(self) -> tuple[Array, Array, Array]:
        """Return derivatives of accelerations (nq) and constraint forces (rows) by displacements, speeds and inputs."""
        nq, rows, free = self.system.nq, len(self.J), self.free
        small, K = self.slopes
        J, n = self.J[:, free], len(free)
        block = np.block([[small.M[np.ix_(free, free)], J.T], [J, np.zeros((rows, rows))]])
        right = np.zeros((n + rows, 2 * nq + len(self.given)))
        right[:n, :nq], right[:n, nq : 2 * nq] = -K[free], -(small.G + small.D)[free]
        right[:n, 2 * nq :] = (self.push - small.M @ self.driven_accelerations)[free]
        right[n:, 2 * nq :] = -self.J @ self.driven_accelerations
        try:
            solved = np.linalg.solve(block, right)
        except np.linalg.LinAlgError:
            reason = self.system.singularity(self.q, self.driven) or "the mass matrix is singular at this posture"
            raise ValueError(reason) from None
        out = np.zeros((nq + rows, right.shape[1]))
        out[free], out[nq:] = solved[:n], solved[n:]
        out[:nq, 2 * nq :] += self.driven_accelerations
        return out[:, :nq], out[:, nq : 2 * nq], out[:, 2 * nq :]

    def model(self, outputs: list[Output]) -> StateSpace:
        """Return the linear model with the given outputs."""
        system, nq = self.system, self.system.nq
        kept, Z = self.independent
        by_q, by_v, by_u = self.accelerations
        n = len(kept)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [by_q[kept] @ Z, by_v[kept] @ Z]])
        B = np.vstack([np.zeros((n, by_u.shape[1])), by_u[kept]])
        C, D = np.zeros((len(outputs), 2 * n)), np.zeros((len(outputs), len(self.given)))
        derivatives = OutputDerivatives(self, outputs)
        for k, (on_q, on_v, on_a, direct) in enumerate(map(derivatives.slopes, outputs)):
            C[k, :n], C[k, n:] = (on_q + on_a @ by_q[:nq]) @ Z, (on_v + on_a @ by_v[:nq]) @ Z
            D[k] = on_a @ by_u[:nq] + direct
        self._warn_of_holding()
        states = [Signal(system.names[k], system.units[k]) for k in kept]
        rates = [Signal(derivative(each.name), derivative_unit(each.unit, 1)) for each in states]
        return StateSpace(
            A,
            B,
            C,
            D,
            (*states, *rates),
            tuple(Signal(each.name, each.unit) for each in self.given),
            tuple(Signal(each.name, each.unit) for each in outputs),
            at=dict(zip(system.names, self.q.tolist())),
            held={each.name: float(self.held_forces[each.coordinate.index] / each.gear) for each in system.actuators},
            made_from=self._second_order(),
            speeds={name: rate for name, rate in zip(system.names, self.v.tolist()) if rate},
            outputs_at={each.name: derivatives.value(each) for each in outputs},
        )

    def _second_order(self) -> SecondOrderModel | None:
        """Return the equations of second order in the independent coordinates; None if accelerations are inputs."""
        if self.driven:
            return None
        (_, Z), (small, K) = self.independent, self.slopes
        M, D, K = (Z.T @ each @ Z for each in (small.M, small.G + small.D, K))
        return SecondOrderModel(M, D, K, Z.T @ self.push)

    def _warn_of_holding(self) -> None:
        """Warn if forces are needed to hold the posture, which is then not an equilibrium."""
        system, forces = self.system, self.held_forces - self.applied
        forces[list(self.locked)] = 0.0
        parts = system.gravity(self.q), system.spring_forces(self.q), self.held_forces
        size = max(float(np.abs(each * system.sizes).max(initial=0.0)) for each in parts)
        springs = np.diag(system.stiffness_matrix(self.q)) * system.sizes**2
        negligible = NEGLIGIBLE_DEFLECTION * springs.min(where=springs > 0, initial=np.inf)
        links = system.robot.links
        weight = (
            float(np.linalg.norm(system.robot.gravity)) * system.robot.total_mass * sum(each.length for each in links)
        )
        rounding = max(ROUNDING_SHARE * weight, 1e-300)
        least = max(FORCE_TOLERANCE * size, negligible if np.isfinite(negligible) else 0.0, rounding)
        holding = np.flatnonzero(np.abs(forces * system.sizes) > least).tolist()
        if not holding:
            return
        actuated = {each.coordinate.index: each for each in system.actuators if each.coordinate.index in holding}
        words = [f"{forces[k] / each.gear:.4g} {each.unit} at '{each.name}'" for k, each in sorted(actuated.items())]
        bent = [system.names[k] for k in holding if k not in actuated]
        if bent:
            words.append(f"forces on {', '.join(repr(each) for each in bent[:3])}{', ...' if len(bent) > 3 else ''}")
        way = "; fa.equilibrium gives the posture in which links hang under their load" if bent else ""
        warn(
            "the posture is no equilibrium: the linear model is that of the robot held there by "
            f"{', '.join(words)}{way}",
            ValidityWarning,
        )


@dataclass(frozen=True)
class OutputDerivatives:
    """Values of outputs in the held state, and their derivatives by q, v, a and the inputs."""

    of: SmallMotions
    outputs: list[Output]

    @cached_property
    def _state(self) -> tuple[Array, Array, Array]:
        return self.of.q, self.of.v, np.zeros(self.of.system.nq)

    @cached_property
    def _forces(self) -> Array | None:
        """Return the constraint forces on the robot, None without constraints."""
        return -self.of.constraint_forces if len(self.of.J) else None

    @cached_property
    def _paths(self) -> dict[str, list[Array]]:
        """Return value and derivatives by q, v and a of the outputs that have expressions."""
        paths, e = [each for each in self.outputs if each.path is not None], self.of.system.equations
        with building:
            column = ca.vertcat(ca.SX(0, 1), *(each.expression(e) for each in paths))
            results = [ca.densify(column), *(ca.densify(ca.jacobian(column, each)) for each in (e.q, e.v, e.a))]
            function = ca.Function("outputs", [e.q, e.v, e.a, e.p], results)
        found = [each.full() for each in function(*self._state, self.of.system.numbers)]
        return {each.name: [rows[k] for rows in found] for k, each in enumerate(paths)}

    def value(self, output: Output) -> float:
        """Return the value of an output."""
        if output.path is not None:
            return float(self._paths[output.name][0][0])
        if output.row is not None:
            assert self._forces is not None
            return float(self._forces[output.row])
        assert output.read is not None
        return float(output.read(*self._state, (), self._forces))

    def slopes(self, output: Output) -> tuple[Array, Array, Array, Array]:
        """Return the derivatives of an output: exact or, if it is evaluated numerically, by differences."""
        of = self.of
        if output.path is not None:
            _, on_q, on_v, on_a = self._paths[output.name]
            return on_q, on_v, on_a, np.zeros(len(of.given))
        if output.row is not None:
            by_q, by_v, by_u = (each[of.system.nq + output.row] for each in of.accelerations)
            return -by_q, -by_v, np.zeros(of.system.nq), -by_u
        return self._differences(output)

    def _differences(self, output: Output) -> tuple[Array, Array, Array, Array]:
        """Return the derivatives of a numerically evaluated output by central differences."""
        assert output.read is not None
        of, nq, sizes, read, forces = self.of, self.of.system.nq, self.of.system.sizes, output.read, self._forces
        every = None if forces is None else np.tile(forces, (nq, 1))

        def slope(place: int, steps: Array) -> Array:
            ends = []
            for sign in (1.0, -1.0):
                state = list(self._state)
                state[place] = state[place] + sign * np.diag(steps)
                ends.append(np.asarray(read(*state, (), every)))
            return np.asarray((ends[0] - ends[1]) / (2 * steps))

        # forces are linear in a and quadratic in v: there any step is exact
        on_q, on_v, on_a = slope(0, sizes * DIFFERENCE_STEP), slope(1, sizes), slope(2, sizes)
        direct, base = np.zeros(len(of.given)), read(*self._state, (), forces)
        for k, given in enumerate(of.given):
            if given.load is not None:
                direct[k] = read(*self._state, (given.load,), forces) - base
        if forces is not None:  # linear in them
            by_q, by_v, by_u = (each[nq:] for each in of.accelerations)
            rows = np.array([read(*self._state, (), forces + row) - base for row in np.eye(len(forces))])
            on_q, on_v, direct = on_q - rows @ by_q, on_v - rows @ by_v, direct - rows @ by_u
        return on_q, on_v, on_a, direct
