"""Linear models of a robot about a state, from named inputs to named outputs."""

from __future__ import annotations

import warnings
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
from flexarm.dynamics.shape_truncation import warn_of_frequencies
from flexarm.dynamics.stiffening import system_for_posture
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning, warn_of_posture
from flexarm.feedback.signals import Input, Output, Signals
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

NUDGE = 1e-6  # of what is large for a coordinate: differences of what has no expression
HELD = 1e-6  # against the robot's weight and springs: a smaller force is rounding


def linearize(
    robot: Robot | System,
    q: Vector = None,
    v: Vector = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    points: Mapping[str, tuple[str, float | None]] | None = None,
) -> StateSpace:
    """The linear model of small motions about the posture q and the speeds v (zero where not given).

    inputs: actuators by link (all of them unless given), `upper.q''` for the acceleration of a joint that is driven,
    `tip.fy`, `fore(0.2).tz` for forces and torques on places in world axes.
    outputs: coordinates and rates `upper.q`, `upper.q'`, `upper.q''`; places `tip.y`, `fore(0.2).y''`;
    `deflection.fore.y`; sections `fore.strain(0.1)`, `fore.moment(0.1)`; reactions `reaction.fore.fx`; all coordinates
    unless given.
    points: places of your own by name, {"camera": ("fore", 0.2)}.
    On constraints the model is projected: its states are coordinates that are independent. A posture that is no
    equilibrium is linearized with what it takes to hold it (`lin.held` tells it for actuators).

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
    signals = Signals(system, _points(system, points))
    for name, each in (("q", posture), ("v", rates)):
        if each.ndim != 1:
            raise ValueError(f"{name} has shape {each.shape}: a linear model holds about one state")
    if system.constraints:
        if rates.any():
            raise ValueError("v: linear models of robots with constraints are those at rest")
        posture = Assembly(system, ()).posture(posture)
    warn_of_posture(system, posture)
    given = [signals.input(each, posture) for each in _names("inputs", inputs, system.inputs)]
    wanted = [signals.output(each) for each in _names("outputs", outputs, system.names)]
    _require_effect(system, given)
    warn_of_frequencies(system, posture, [each.driven for each in given if each.driven is not None])
    return SmallMotions(system, posture, rates, given).model(wanted)


def _require_effect(system: System, given: list[Input]) -> None:
    """An actuator of a joint whose acceleration is an input, too, would move nothing."""
    driven = {each.driven: each.name for each in given if each.driven is not None}
    for each in given:
        pushed = [] if each.force is None or each.load is not None else np.flatnonzero(each.force).tolist()
        if pushed and all(k in driven for k in pushed):
            raise ValueError(f"inputs: '{each.name}' moves nothing, since {driven[pushed[0]]!r} drives its joint")


def _names(what: str, given: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    if given is None:
        return list(default)
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(each, str) for each in given):
        raise TypeError(f"{what} = {shown(given)}: must be a list of names")
    if len(set(given)) < len(given):
        raise ValueError(f"{what} = {shown(given)}: has a name twice")
    return list(given)


def _points(system: System, points: Any) -> dict[str, tuple[str, float | None]]:
    if points is not None and not isinstance(points, Mapping):
        raise TypeError(f"points = {shown(points)}: must be a mapping, {{'camera': ('fore', 0.2)}}")
    found = {}
    for name, place in (points or {}).items():
        if not isinstance(name, str) or not isinstance(place, (tuple, list)) or len(place) != 2:
            raise ValueError(f"points[{name!r}] = {shown(place)}: must be (link, x), x in m from its root or None")
        system.place(*place)
        found[name] = (place[0], place[1])
    return found


@dataclass(frozen=True)
class SmallMotions:
    """M a + (G + D) v + K q + Phi_q' forces = B u, Phi_q a = 0, about a state that forces hold."""

    system: System
    q: Array
    v: Array
    given: list[Input]

    @cached_property
    def hold(self) -> Array:
        """Generalised forces that keep the speeds as they are."""
        return self.system.inverse_dynamics(self.q, self.v, None)

    @cached_property
    def driven(self) -> list[int]:
        return [each.driven for each in self.given if each.driven is not None]

    @cached_property
    def free(self) -> list[int]:
        return [k for k in range(self.system.nq) if k not in self.driven]

    @cached_property
    def J(self) -> Array:
        return self.system.constraint_jacobian(self.q)

    @cached_property
    def constraint_forces(self) -> Array:
        """lambda of the state that is held: what coordinates without actuators tell, or else those without inputs;
        where both leave it open, constraints do as much as they can."""
        if not len(self.J):
            return np.zeros(0)
        every = range(self.system.nq)
        actuated = {each.coordinate.index for each in self.system.actuators}
        pushed = {int(k) for each in self.given if each.force is not None for k in np.flatnonzero(each.force)}
        for able in (actuated | set(self.driven), (actuated & pushed) | set(self.driven), set()):
            passive = [k for k in every if k not in able]
            forces, told = row_forces(self.J[:, passive], self.hold[passive])
            if told:
                break
        return -forces

    @cached_property
    def independent(self) -> tuple[list[int], Array]:
        """Coordinates that are states, and Z (nq, states): how all move with them. Driven ones are among them."""
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
        """Of the tree of links, and its stiffness with that of the constraints' forces."""
        small = self.system.linearization(self.q, self.v)
        held = self.system.constraint_stiffness(self.q, self.constraint_forces) if len(self.J) else 0
        return small, small.K + held

    @cached_property
    def accelerations(self) -> tuple[Array, Array, Array]:
        """What displacements, speeds (nq) and inputs do to accelerations (nq) and constraint forces (rows)."""
        nq, rows, free = self.system.nq, len(self.J), self.free
        small, K = self.slopes
        push, known = np.zeros((nq, len(self.given))), np.zeros((nq, len(self.given)))
        for k, each in enumerate(self.given):
            if each.driven is not None:
                known[each.driven, k] = 1.0
            else:
                assert each.force is not None
                push[:, k] = each.force
        J = self.J[:, free]
        block = np.block([[small.M[np.ix_(free, free)], J.T], [J, np.zeros((rows, rows))]])
        right = np.zeros((len(free) + rows, 2 * nq + len(self.given)))
        right[: len(free), :nq], right[: len(free), nq : 2 * nq] = -K[free], -(small.G + small.D)[free]
        right[: len(free), 2 * nq :] = (push - small.M @ known)[free]
        right[len(free) :, 2 * nq :] = -self.J @ known
        solved = np.linalg.solve(block, right)
        out = np.zeros((nq + rows, right.shape[1]))
        out[free], out[nq:] = solved[: len(free)], solved[len(free) :]
        out[:nq, 2 * nq :] += known
        return out[:, :nq], out[:, nq : 2 * nq], out[:, 2 * nq :]

    def model(self, wanted: list[Output]) -> StateSpace:
        system, nq = self.system, self.system.nq
        kept, Z = self.independent
        by_q, by_v, by_u = self.accelerations
        n = len(kept)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [by_q[kept] @ Z, by_v[kept] @ Z]])
        B = np.vstack([np.zeros((n, by_u.shape[1])), by_u[kept]])
        C, D = np.zeros((len(wanted), 2 * n)), np.zeros((len(wanted), len(self.given)))
        for k, (on_q, on_v, on_a, direct) in enumerate(OutputDerivatives(self).slopes(wanted)):
            C[k, :n], C[k, n:] = (on_q + on_a @ by_q[:nq]) @ Z, (on_v + on_a @ by_v[:nq]) @ Z
            D[k] = on_a @ by_u[:nq] + direct
        self._warn_of_holding()
        names = [system.names[k] for k in kept]
        units = [system.units[k] for k in kept]
        states = [Signal(name, unit) for name, unit in zip(names, units)]
        rates = [Signal(f"{name}'", f"{unit}/s") for name, unit in zip(names, units)]
        return StateSpace(
            A,
            B,
            C,
            D,
            (*states, *rates),
            tuple(Signal(each.name, each.unit) for each in self.given),
            tuple(Signal(each.name, each.unit) for each in wanted),
            at=dict(zip(system.names, self.q.tolist())),
            held=self._held(),
            made_from=self._second_order(),
            speeds={name: rate for name, rate in zip(system.names, self.v.tolist()) if rate},
            outputs_at=OutputDerivatives(self).values(wanted),
        )

    def _second_order(self) -> SecondOrderModel | None:
        """The same in the independent coordinates; not of joints whose accelerations are inputs."""
        if self.driven:
            return None
        (_, Z), (small, K) = self.independent, self.slopes
        push = (
            np.stack([np.asarray(each.force) for each in self.given], axis=1) if self.given else np.zeros((len(Z), 0))
        )
        M, D, K = (Z.T @ each @ Z for each in (small.M, small.G + small.D, K))
        return SecondOrderModel(M, D, K, Z.T @ push)

    def _held(self) -> dict[str, float]:
        """What the actuators give, in their own units."""
        forces = self.hold + self.J.T @ self.constraint_forces
        return {each.link: float(forces[each.coordinate.index] / each.gear) for each in self.system.actuators}

    def _warn_of_holding(self) -> None:
        """Say what holds a posture that is no equilibrium."""
        system = self.system
        forces = self.hold + self.J.T @ self.constraint_forces
        parts = system.gravity(self.q), system.spring_forces(self.q), forces
        size = max(float(np.abs(each * system.sizes).max(initial=0.0)) for each in parts)
        holding = np.flatnonzero(np.abs(forces * system.sizes) > HELD * max(size, 1e-300)).tolist()
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
        warnings.warn(
            "the posture is no equilibrium: the linear model is that of the robot held there by "
            f"{', '.join(words)}{way}",
            ValidityWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class OutputDerivatives:
    """Derivatives of outputs by q, v, a and the inputs themselves."""

    of: SmallMotions

    def slopes(self, wanted: list[Output]) -> list[tuple[Array, Array, Array, Array]]:
        paths = iter(self._of_paths([each for each in wanted if each.path is not None]))
        return [next(paths) if each.path is not None else self._other(each) for each in wanted]

    def values(self, wanted: list[Output]) -> dict[str, float]:
        """What the outputs are in the state that is held, by name."""
        of, still = self.of, np.zeros(self.of.system.nq)
        forces = -of.constraint_forces if len(of.J) else None
        out = {}
        for each in wanted:
            if each.row is not None:
                assert forces is not None
                out[each.name] = float(forces[each.row])
            elif each.path is None:
                assert each.read is not None
                out[each.name] = float(each.read(of.q, of.v, still, (), forces))
        paths = [each for each in wanted if each.path is not None]
        if paths:
            found = self._path_functions(paths)[0](of.q, of.v, still, of.system.numbers).full().ravel()
            out |= dict(zip([each.name for each in paths], found.tolist(), strict=True))
        return {each.name: out[each.name] for each in wanted}

    def _path_functions(self, wanted: list[Output]) -> tuple[ca.Function, ca.Function]:
        """(q, v, a, numbers) -> values, and their slopes by q, v, a."""
        e = self.of.system.equations
        with building:
            values = []
            for each in wanted:
                assert each.path is not None
                value = each.path()
                for _ in range(each.rate):
                    value = ca.jtimes(value, e.q, e.v) + ca.jtimes(value, e.v, e.a)
                values.append(value)
            column = ca.vertcat(*values)
            slopes = [ca.densify(ca.jacobian(column, each)) for each in (e.q, e.v, e.a)]
            given = [e.q, e.v, e.a, e.p]
            return ca.Function("outputs", given, [ca.densify(column)]), ca.Function("slopes", given, slopes)

    def _of_paths(self, wanted: list[Output]) -> list[tuple[Array, Array, Array, Array]]:
        """Exact, from the expressions."""
        if not wanted:
            return []
        still = np.zeros(self.of.system.nq)
        slopes = self._path_functions(wanted)[1]
        found = [each.full() for each in slopes(self.of.q, self.of.v, still, self.of.system.numbers)]
        direct = np.zeros(len(self.of.given))
        return [(found[0][k], found[1][k], found[2][k], direct) for k in range(len(wanted))]

    def _other(self, each: Output) -> tuple[Array, Array, Array, Array]:
        """Of a row of the constraints, whose force -lambda is known; of readings, by differences."""
        of, nq = self.of, self.of.system.nq
        none = np.zeros(nq)
        if each.row is not None:
            by_q, by_v, by_u = of.accelerations
            kept = nq + each.row
            return -by_q[kept], -by_v[kept], none, -by_u[kept]
        assert each.read is not None
        return self._by_differences(each)

    def _by_differences(self, each: Output) -> tuple[Array, Array, Array, Array]:
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
        on_q, on_v, on_a = slope(0, system.sizes * NUDGE), slope(1, system.sizes), slope(2, system.sizes)
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
