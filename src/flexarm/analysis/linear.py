"""Linear models of a robot about a state, from named inputs to named outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.analysis.state_space import Signal, StateSpace
from flexarm.analysis.transfer import SecondOrderModel
from flexarm.codegen.library import building
from flexarm.dynamics.arguments import Linearization, Vector
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.equilibrium import dependent_coordinates
from flexarm.dynamics.joint_reactions import row_forces
from flexarm.dynamics.quantity_names import derivative, derivative_unit
from flexarm.dynamics.shape_truncation import warn_of_frequencies
from flexarm.dynamics.stiffening import system_for_posture
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning, warn_of_posture
from flexarm.feedback.signals import Input, Output, Signals
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

DIFFERENCE_STEP = 1e-6  # step of central differences, in units of each coordinate's characteristic size
FORCE_TOLERANCE = 1e-6  # holding force, relative to weight and spring forces, below which the posture is an equilibrium


def linearize(
    robot: Robot | System,
    q: Vector = None,
    v: Vector = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    points: Mapping[str, tuple[str, float | None]] | None = None,
) -> StateSpace:
    """Linearize the equations of motion about a posture and speed.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion.
    q : dict of str to float or array_like, shape (nq,), optional
        Posture, by coordinate name or as an array. Coordinates that are not given are zero.
    v : dict of str to float or array_like, shape (nq,), optional
        Speeds, by coordinate name or as an array; zero by default.
    inputs : list of str, optional
        Names of inputs: actuators by link ("upper"), the acceleration of a driven joint ("upper.q''"), or forces (N)
        and torques (N m) on places in world axes ("tip.fy", "fore(0.2).tz"). All actuators by default.
    outputs : list of str, optional
        Names of outputs: coordinates and their rates ("upper.q", "upper.q'", "upper.q''"), places ("tip.y",
        "fore(0.2).y''"), deflections ("deflection.fore.y"), sections ("fore.strain(0.1)", "fore.moment(0.1)") and
        reactions ("reaction.fore.fx"). All coordinates by default.
    points : dict of str to tuple, optional
        Named places (link, x), such as {"camera": ("fore", 0.2)}, x in m from the root of the link (None: its tip).

    Returns
    -------
    StateSpace
        Linear model. Its states are the coordinates and their rates; with constraints, independent coordinates.

    Raises
    ------
    KeyError
        If there is no input or output of a given name.
    ValueError
        If speeds are given for a robot with constraints, or an input has no effect.

    Warns
    -----
    ValidityWarning
        If the posture is not an equilibrium. The model is then that of the robot held there by constant forces
        (`StateSpace.held` for actuators).

    See Also
    --------
    flexarm.equilibrium : Posture in which the robot rests under its loads.
    flexarm.modes : Vibration modes at a posture.
    flexarm.lqr, flexarm.lqg : Controllers for linear models.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> lin = linearize(library.rotating_beam(), inputs=["beam"], outputs=["beam.q", "tip.y"])
    >>> lin
    StateSpace of 14 states from beam (N m) to beam.q (rad), tip.y (m)
    """
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    system = robot if isinstance(robot, System) else System(robot, native=False)
    posture, rates = system.posture(q), system.vector(v, "v")
    if posture.ndim == 1 and (exact := system_for_posture(robot, posture)) is not None:
        system = exact
    signals = Signals(system, _check_points(system, points))
    for name, each in (("q", posture), ("v", rates)):
        if each.ndim != 1:
            raise ValueError(f"{name} has shape {each.shape}: a linear model holds about one state")
    if system.constraints:
        if rates.any():
            raise ValueError("v: linear models of robots with constraints are those at rest")
        posture = Assembly(system, ()).posture(posture)
    warn_of_posture(system, posture)
    given = [signals.input(each, posture) for each in _check_names("inputs", inputs, system.inputs)]
    chosen = [signals.output(each) for each in _check_names("outputs", outputs, system.names)]
    _require_effect(system, given)
    warn_of_frequencies(system, posture, [each.driven for each in given if each.driven is not None])
    return SmallMotions(system, posture, rates, given).model(chosen)


def _require_effect(system: System, given: list[Input]) -> None:
    """Raise ValueError if an actuator acts only on joints whose accelerations are inputs."""
    driven = {each.driven: each.name for each in given if each.driven is not None}
    for each in given:
        pushed = [] if each.force is None or each.load is not None else np.flatnonzero(each.force).tolist()
        if pushed and all(k in driven for k in pushed):
            raise ValueError(f"inputs: '{each.name}' moves nothing, since {driven[pushed[0]]!r} drives its joint")


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
    found = {}
    for name, place in (points or {}).items():
        place = (place, None) if isinstance(place, str) else place
        if not isinstance(name, str) or not isinstance(place, (tuple, list)) or len(place) != 2:
            raise ValueError(f"points[{name!r}] = {shown(place)}: must be (link, x), x in m from its root or None")
        system.place(*place)
        found[name] = (place[0], place[1])
    return found


@dataclass(frozen=True)
class SmallMotions:
    """Equations of small motions M a + (G + D) v + K q + Phi_q' lambda = B u, Phi_q a = 0 about a held state."""

    system: System
    q: Array
    v: Array
    given: list[Input]

    @cached_property
    def hold(self) -> Array:
        """Return the generalised forces that keep the speeds constant."""
        return self.system.inverse_dynamics(self.q, self.v, None)

    @cached_property
    def driven(self) -> list[int]:
        """Return the coordinates whose accelerations are inputs."""
        return [each.driven for each in self.given if each.driven is not None]

    @cached_property
    def free(self) -> list[int]:
        """Return the coordinates whose accelerations are not inputs."""
        return [k for k in range(self.system.nq) if k not in self.driven]

    @cached_property
    def J(self) -> Array:
        """Return the constraint Jacobian."""
        return self.system.constraint_jacobian(self.q)

    @cached_property
    def constraint_forces(self) -> Array:
        """Return the constraint forces lambda in the held state.

        They follow from the coordinates without actuators, or else from those without inputs; if both leave them
        undetermined, constraints carry as much of the load as they can.
        """
        if not len(self.J):
            return np.zeros(0)
        every = range(self.system.nq)
        actuated = {each.coordinate.index for each in self.system.actuators}
        pushed = {int(k) for each in self.given if each.force is not None for k in np.flatnonzero(each.force)}
        for supported in (actuated | set(self.driven), (actuated & pushed) | set(self.driven), set()):
            passive = [k for k in every if k not in supported]
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
                "the constraints leave no freedom to the joints whose accelerations are inputs: "
                f"{', '.join(self.system.names[k] for k in self.driven)}"
            )
        kept = [k for k in range(nq) if k not in last]
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
        push, driven_accelerations = np.zeros((nq, len(self.given))), np.zeros((nq, len(self.given)))
        for k, each in enumerate(self.given):
            if each.driven is not None:
                driven_accelerations[each.driven, k] = 1.0
            else:
                assert each.force is not None
                push[:, k] = each.force
        J = self.J[:, free]
        block = np.block([[small.M[np.ix_(free, free)], J.T], [J, np.zeros((rows, rows))]])
        right = np.zeros((len(free) + rows, 2 * nq + len(self.given)))
        right[: len(free), :nq], right[: len(free), nq : 2 * nq] = -K[free], -(small.G + small.D)[free]
        right[: len(free), 2 * nq :] = (push - small.M @ driven_accelerations)[free]
        right[len(free) :, 2 * nq :] = -self.J @ driven_accelerations
        solved = np.linalg.solve(block, right)
        out = np.zeros((nq + rows, right.shape[1]))
        out[free], out[nq:] = solved[: len(free)], solved[len(free) :]
        out[:nq, 2 * nq :] += driven_accelerations
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
        for k, (on_q, on_v, on_a, direct) in enumerate(OutputDerivatives(self).slopes(outputs)):
            C[k, :n], C[k, n:] = (on_q + on_a @ by_q[:nq]) @ Z, (on_v + on_a @ by_v[:nq]) @ Z
            D[k] = on_a @ by_u[:nq] + direct
        self._warn_of_holding()
        names = [system.names[k] for k in kept]
        units = [system.units[k] for k in kept]
        states = [Signal(name, unit) for name, unit in zip(names, units)]
        rates = [Signal(derivative(name), derivative_unit(unit, 1)) for name, unit in zip(names, units)]
        return StateSpace(
            A,
            B,
            C,
            D,
            (*states, *rates),
            tuple(Signal(each.name, each.unit) for each in self.given),
            tuple(Signal(each.name, each.unit) for each in outputs),
            at=dict(zip(system.names, self.q.tolist())),
            held=self._held(),
            made_from=self._second_order(),
            speeds={name: rate for name, rate in zip(system.names, self.v.tolist()) if rate},
            outputs_at=OutputDerivatives(self).values(outputs),
        )

    def _second_order(self) -> SecondOrderModel | None:
        """Return the equations of second order in the independent coordinates; None if accelerations are inputs."""
        if self.driven:
            return None
        (_, Z), (small, K) = self.independent, self.slopes
        push = (
            np.stack([np.asarray(each.force) for each in self.given], axis=1) if self.given else np.zeros((len(Z), 0))
        )
        M, D, K = (Z.T @ each @ Z for each in (small.M, small.G + small.D, K))
        return SecondOrderModel(M, D, K, Z.T @ push)

    def _held(self) -> dict[str, float]:
        """Return the constant torque or force of each actuator."""
        forces = self.hold + self.J.T @ self.constraint_forces
        return {each.link: float(forces[each.coordinate.index] / each.gear) for each in self.system.actuators}

    def _warn_of_holding(self) -> None:
        """Warn if forces are needed to hold the posture, which is then not an equilibrium."""
        system = self.system
        forces = self.hold + self.J.T @ self.constraint_forces
        parts = system.gravity(self.q), system.spring_forces(self.q), forces
        size = max(float(np.abs(each * system.sizes).max(initial=0.0)) for each in parts)
        holding = np.flatnonzero(np.abs(forces * system.sizes) > FORCE_TOLERANCE * max(size, 1e-300)).tolist()
        if not holding:
            return
        actuated = {each.coordinate.index: each for each in system.actuators}
        words = [
            f"{forces[k] / actuated[k].gear:.4g} {actuated[k].unit} at '{actuated[k].link}'"
            for k in holding
            if k in actuated
        ]
        bent = [system.names[k] for k in holding if k not in actuated]
        if bent:
            words.append(f"forces on {', '.join(repr(each) for each in bent[:3])}{', ...' if len(bent) > 3 else ''}")
        way = "; fa.equilibrium gives the posture in which links hang under their load" if bent else ""
        warn(
            "the posture is no equilibrium: the linear model is that of the robot held there by "
            f"{', '.join(words)}{way}",
            ValidityWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class OutputDerivatives:
    """Derivatives of outputs by q, v, a and the inputs."""

    of: SmallMotions

    def slopes(self, outputs: list[Output]) -> list[tuple[Array, Array, Array, Array]]:
        """Return the derivatives of each output by q, v, a and the inputs."""
        paths = iter(self._of_paths([each for each in outputs if each.path is not None]))
        return [next(paths) if each.path is not None else self._other(each) for each in outputs]

    def values(self, outputs: list[Output]) -> dict[str, float]:
        """Return the values of the outputs in the held state, by name."""
        of, still = self.of, np.zeros(self.of.system.nq)
        forces = -of.constraint_forces if len(of.J) else None
        out = {}
        for each in outputs:
            if each.row is not None:
                assert forces is not None
                out[each.name] = float(forces[each.row])
            elif each.path is None:
                assert each.read is not None
                out[each.name] = float(each.read(of.q, of.v, still, (), forces))
        paths = [each for each in outputs if each.path is not None]
        if paths:
            found = self._path_functions(paths)[0](of.q, of.v, still, of.system.numbers).full().ravel()
            out |= dict(zip([each.name for each in paths], found.tolist(), strict=True))
        return {each.name: out[each.name] for each in outputs}

    def _path_functions(self, outputs: list[Output]) -> tuple[ca.Function, ca.Function]:
        """Return functions (q, v, a, parameters) -> values, and -> their derivatives by q, v and a."""
        e = self.of.system.equations
        with building:
            column = ca.vertcat(*(each.expression(e) for each in outputs))
            slopes = [ca.densify(ca.jacobian(column, each)) for each in (e.q, e.v, e.a)]
            given = [e.q, e.v, e.a, e.p]
            return ca.Function("outputs", given, [ca.densify(column)]), ca.Function("slopes", given, slopes)

    def _of_paths(self, outputs: list[Output]) -> list[tuple[Array, Array, Array, Array]]:
        """Return derivatives of outputs that have expressions, by automatic differentiation."""
        if not outputs:
            return []
        still = np.zeros(self.of.system.nq)
        slopes = self._path_functions(outputs)[1]
        found = [each.full() for each in slopes(self.of.q, self.of.v, still, self.of.system.numbers)]
        direct = np.zeros(len(self.of.given))
        return [(found[0][k], found[1][k], found[2][k], direct) for k in range(len(outputs))]

    def _other(self, each: Output) -> tuple[Array, Array, Array, Array]:
        """Return derivatives of a constraint force or, by differences, of an output that is evaluated numerically."""
        of, nq = self.of, self.of.system.nq
        zero = np.zeros(nq)
        if each.row is not None:
            by_q, by_v, by_u = of.accelerations
            kept = nq + each.row
            return -by_q[kept], -by_v[kept], zero, -by_u[kept]
        assert each.read is not None
        return self._by_differences(each)

    def _by_differences(self, each: Output) -> tuple[Array, Array, Array, Array]:
        """Return derivatives of a numerically evaluated output by central differences."""
        assert each.read is not None
        of, system = self.of, self.of.system
        nq, read = system.nq, each.read
        forces = -of.constraint_forces if len(of.J) else None

        def slope(place: int, steps: Array) -> Array:
            ends = []
            for sign in (1.0, -1.0):
                state = [of.q, of.v, np.zeros(nq)]
                state[place] = state[place] + sign * np.diag(steps)
                ends.append(np.asarray(read(*state, (), None if forces is None else np.tile(forces, (nq, 1)))))
            return np.asarray((ends[0] - ends[1]) / (2 * steps))

        # forces are linear in a and quadratic in v: there any step is exact
        on_q, on_v, on_a = slope(0, system.sizes * DIFFERENCE_STEP), slope(1, system.sizes), slope(2, system.sizes)
        direct = np.zeros(len(of.given))
        still = of.q, of.v, np.zeros(nq)
        base = read(*still, (), forces)
        for k, given in enumerate(of.given):
            if given.load is not None:
                direct[k] = read(*still, (given.load,), forces) - base
        if forces is not None:  # linear in them
            by_q, by_v, by_u = of.accelerations
            rows = np.array([read(*still, (), forces + row) - base for row in np.eye(len(forces))])
            on_q, on_v = on_q - rows @ by_q[nq:], on_v - rows @ by_v[nq:]
            direct = direct - rows @ by_u[nq:]
        return on_q, on_v, on_a, direct
