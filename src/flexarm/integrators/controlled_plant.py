"""Plant whose law has states (integrators, filters, observers), integrated with the robot by any method.

A state z with z' = g(t, q, v, z) is the rate of one more coordinate of unit mass on which the force g acts: methods
need to know second-order equations only.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.system import System
from flexarm.feedback.traced_law import PROBE_STATES, TracedLaw
from flexarm.foundation.validation import Array
from flexarm.integrators.constraint_solver import ConstraintSolver
from flexarm.integrators.plant import Plant, WithNumbers
from flexarm.integrators.state import Layout
from flexarm.profiles.tracing import Channel


class ControlledPlant(Plant):
    """A plant with the states of its law as further coordinates."""

    def __init__(self, robot: Plant) -> None:
        assert robot.law is not None
        self.robot, self.law, self.count = robot, robot.law, len(robot.law.states)
        self.structure, self.equations, self.loads = robot.structure, robot.equations, robot.loads
        self.n, self.nu, self.driven = robot.n + self.count, robot.nu, robot.driven
        self.free = [*robot.free, *range(robot.n, self.n)]
        self.numbers, self.horizon, self.solved = robot.numbers, robot.horizon, robot.solved
        self._p, self._made = robot._p, {}
        held = robot.constraint_solver
        self.constraint_solver = None if held is None else ControlledConstraints(self, held)

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.robot.n, self.robot.layout.multipliers, self.count)

    @property
    def identity(self) -> tuple[object, ...]:
        return *self.robot.identity, "states"

    @property
    def _input_sizes(self) -> list[int]:
        """Return the sizes of external inputs; the states are not among them."""
        return self.robot._input_sizes[:-1]

    # --- functions, of those of the robot ---

    def _split(self, *vectors: Any) -> list[Any]:
        """The robot's parts."""
        return [each[: self.robot.n] for each in vectors]

    def _named(self, name: str, inputs: list[Any], outputs: list[Any]) -> WithNumbers:
        return WithNumbers(self.step_function(name, inputs, outputs), self._p, self.numbers)

    def _vectors(self, names: str) -> list[Any]:
        sizes = {"u": self.input_count}
        return [ca.MX.sym(name, sizes.get(name, self.n)) for name in names]

    def _seen(self, v: Any, u: Any) -> Any:
        """Inputs as the robot's functions take them, with the states."""
        return ca.vertcat(u, v[self.robot.n :])

    @cached_property
    def residual(self) -> WithNumbers:
        q, v, a, u = self._vectors("qvau")
        seen = self._seen(v, u)
        robot = self.robot.residual(*self._split(q, v, a), seen)
        states = a[self.robot.n :] - self.robot.law_rates(*self._split(q, v), seen)
        return self._named("residual", [q, v, a, u], [ca.vertcat(robot, states)])

    @cached_property
    def factor(self) -> WithNumbers:
        q, v, u = self._vectors("qvu")
        stiff, damp = ca.MX.sym("stiff"), ca.MX.sym("damp")
        seen = self._seen(v, u)
        robot = self.robot.factor(*self._split(q, v), seen, stiff, damp)
        states = self.robot.law_inverse(self.robot.law_rate_slopes(*self._split(q, v), seen), damp)
        return self._named("factor", [q, v, u, stiff, damp], [ca.vertcat(robot, ca.vec(states))])

    def _factors(self, factors: Any) -> tuple[Any, Any]:
        """Return the factors of the robot, and the inverse of the matrix of the states."""
        own = factors.numel() - self.count**2
        return factors[:own], ca.reshape(factors[own:], self.count, self.count)

    @cached_property
    def substitute(self) -> WithNumbers:
        factors, r = ca.MX.sym("factors", self.factor.numel_out(0)), ca.MX.sym("r", len(self.free))
        (own, inverse), few = self._factors(factors), len(self.robot.free)
        found = ca.vertcat(self.robot.substitute(own, r[:few]), inverse @ r[few:])
        return self._named("substitute", [factors, r], [found])

    @cached_property
    def resolved(self) -> WithNumbers:
        factors, e = ca.MX.sym("factors", self.factor.numel_out(0)), ca.MX.sym("e", len(self.free))
        (q,), stiff, damp = self._vectors("q"), ca.MX.sym("stiff"), ca.MX.sym("damp")
        (own, inverse), few = self._factors(factors), len(self.robot.free)
        robot = self.robot.resolved(own, *self._split(q), e[:few], stiff, damp)
        return self._named("resolved", [factors, q, e, stiff, damp], [ca.vertcat(robot, inverse @ e[few:])])

    @cached_property
    def displacements(self) -> WithNumbers:
        (q,), changes = self._vectors("q"), [ca.MX.sym(name, len(self.free)) for name in "ef"]
        return self._named("displacements", [q, *changes], [*self.moved(q, ca.MX.zeros(self.n), *changes)])

    def moved(self, q: Any, v: Any, e: Any, f: Any) -> Any:
        return self._moved(q, v, e, f)

    @cached_property
    def _moved(self) -> WithNumbers:
        """An error of a state counts as what the torque that it makes would move; and one as large as the state is, or
        gets, as the length of the robot at least: states are results, too."""
        q, v = self._vectors("qv")
        changes = [ca.MX.sym(name, len(self.free)) for name in "ef"]
        few, (weights, least, large) = len(self.robot.free), self.robot.law_weights()
        counts = ca.fmax(weights, least * large / ca.fmax(large, ca.fabs(v[self.robot.n :])))
        moved = self.robot.displacements(*self._split(q), *(each[:few] for each in changes))
        both = [ca.vertcat(robot, counts * ca.fabs(each[few:])) for robot, each in zip(moved, changes, strict=True)]
        return self._named("moved", [q, v, *changes], both)

    @cached_property
    def abrupt(self) -> WithNumbers | None:
        if self.robot.abrupt is None:
            return None
        q, v, u = self._vectors("qvu")
        seen = self._seen(v, u)
        robot = self.robot.abrupt(*self._split(q, v), seen)
        assert self.law is not None
        own = -self.robot.law_rates(*self._split(q, v), seen) * self.law.abrupt_states
        return self._named("abrupt", [q, v, u], [ca.vertcat(robot, own)])

    @cached_property
    def forces(self) -> WithNumbers:
        q, v, u, r = self._vectors("qvur")
        found = self.robot.forces(*self._split(q, v), self._seen(v, u), *self._split(r))
        return self._named("forces", [q, v, u, r], [ca.vertcat(each, ca.MX.zeros(self.count)) for each in found])

    @cached_property
    def commanded(self) -> WithNumbers:
        (q, v, u), driving = self._vectors("qvu"), ca.MX.sym("driving", len(self.driven))
        found = self.robot.commanded(*self._split(q, v), self._seen(v, u), driving)
        return self._named("commanded", [q, v, u, driving], [found])

    @cached_property
    def slopes(self) -> WithNumbers:
        q, v, u = self._vectors("qvu")
        seen = self._seen(v, u)
        K, D = self.robot.slopes(*self._split(q, v), seen)
        own = -self.robot.law_rate_slopes(*self._split(q, v), seen)
        both = [ca.diagcat(K, ca.MX.zeros(self.count, self.count)), ca.diagcat(D, own)]
        return self._named("slopes", [q, v, u], [ca.densify(each) for each in both])

    def report(self, of_robot: ca.Function) -> ca.Function:
        """A report of samples, (q, v, a, u), of that of the robot."""
        q, v, a, u = self._vectors("qvau")
        found = of_robot(*self._split(q, v, a), self._seen(v, u), self.numbers)
        return self.step_function("report", [q, v, a, u], list(found))


class ControlledConstraints(ConstraintSolver):
    """Constraints of a robot, in vectors that have the law's states, too."""

    def __init__(self, plant: ControlledPlant, robot: ConstraintSolver) -> None:
        super().__init__(plant, robot.stabilization)
        self.robot, self._controlled = robot, plant

    def _of_robot(self, name: str, vectors: str, forces: bool = False, padded: tuple[int, ...] = ()) -> WithNumbers:
        """Return a function of the robot's constraints; `padded` outputs have zeros for the states."""
        plant = self._controlled
        inputs, more = plant._vectors(vectors), [ca.MX.sym("forces", self.count)] if forces else []
        found = getattr(self.robot, name)(*plant._split(*inputs), *more)
        outputs = list(found) if isinstance(found, (list, tuple)) else [found]
        for place in padded:
            outputs[place] = ca.vertcat(outputs[place], ca.MX.zeros(plant.count))
        return plant._named(name, [*inputs, *more], outputs)

    @cached_property
    def value(self) -> WithNumbers:
        return self._of_robot("value", "q")

    @cached_property
    def rate(self) -> WithNumbers:
        return self._of_robot("rate", "qv")

    @cached_property
    def acceleration(self) -> WithNumbers:
        return self._of_robot("acceleration", "qva")

    @cached_property
    def trial(self) -> WithNumbers:
        return self._of_robot("trial", "qva", forces=True, padded=(0,))

    @cached_property
    def pull(self) -> WithNumbers:
        return self._of_robot("pull", "q", forces=True, padded=(0,))

    @cached_property
    def constrained(self) -> WithNumbers:
        plant = self._controlled
        (q,), factors = plant._vectors("q"), ca.MX.sym("factors", plant.factor.numel_out(0))
        J, G, inverse = self.robot.constrained(*plant._split(q), plant._factors(factors)[0])
        none = ca.MX.zeros(self.count, plant.count)
        return plant._named("constrained", [q, factors], [ca.horzcat(J, none), ca.vertcat(G, none.T), inverse])


PROBE_COUNT = 9  # moments of a run at which a law is looked at
RESPONSE_TIME_S = 1.0  # s: so long a torque that is wrong moves the robot, then its loop has answered; chosen


def error_weights(
    system: System, plant: Plant, law: TracedLaw, numbers: Array, state: tuple[Array, Array], duration: float
) -> Array:
    """Return the weights of errors in the states of a law.

    First, how far a unit error in each state moves the robot (m): the effect of its torque in the response time of a
    loop (a state that no torque uses counts by the states that it changes). Second, the least weight: the robot's
    length for an error as large as the state. Third, the size of each state.
    """
    slopes, large = torque_slopes(law, duration, *state)
    q, free = state[0], plant.free
    M = system.mass_matrix(q)[np.ix_(free, free)]
    push = (system.input_matrix @ slopes)[free]
    changes = np.linalg.lstsq(M, push, rcond=1e-12)[0] * RESPONSE_TIME_S**2 / 2
    moved = [plant.displacements.function(q, each, 0 * each, numbers)[0].full().max() for each in changes.T]
    found = np.nan_to_num(np.array(moved, dtype=float).reshape(len(law.states)))
    length = system.robot.size
    return np.concatenate([found / duration, length / large / duration, large])


def torque_slopes(law: TracedLaw, duration: float, q: Array, v: Array) -> tuple[Array, Array]:
    """(nu, states): the largest that is found, of torques by the states of a law; where none reads a state, of what it
    changes in a second (and so on), or the most that is felt of it meanwhile, since a filter forgets. And what is large
    for each state. Looked at over the duration of a run, about the state (q, v) in which it begins."""
    looks = _ProbeStates(law, duration, q, v)
    start = np.repeat(law.start[:, None], looks.count, axis=1)
    _, chain, speeds = (_largest(each) for each in looks(start))
    quickest = np.maximum(np.diag(chain), 1 / duration)  # what follows something does not add it up
    large = np.maximum(np.abs(law.start), speeds / quickest)
    large = np.where(large > 0, large, 1.0)
    torques, rates, _ = looks(start + looks.shares.T * large[:, None])
    direct, chain = _largest(torques), _largest(rates)
    unread = ~direct.any(axis=0)
    if unread.any():
        most = np.max([_felt(*each) for each in zip(torques, rates, strict=True)], axis=0)
        for _ in law.states:
            still = ~direct.any(axis=0)
            direct[:, still] = (direct @ chain)[:, still]
        direct[:, unread] = np.fmin(direct, most)[:, unread]
    return direct, large


class _ProbeStates:
    """Moments and postures in which a law is looked at."""

    def __init__(self, law: TracedLaw, duration: float, q: Array, v: Array) -> None:
        with building:
            arguments = law.function.sx_in()
            torques, rates = law.function(*arguments)
            slopes = [ca.densify(ca.jacobian(each, arguments[5])) for each in (torques, rates)]
            self._function = ca.Function("slopes", arguments, [*slopes, rates])
        self._law, self.count = law, PROBE_COUNT * len(PROBE_STATES)
        self._t = np.repeat(np.linspace(0.0, duration, PROBE_COUNT), len(PROBE_STATES))
        self.shares = np.tile(PROBE_STATES, PROBE_COUNT)[:, None]
        sizes = law.system.sizes
        self._state = (q + self.shares * sizes).T, (v + self.shares * sizes).T
        rows = [_tried(each, self._t) for each in law.channels]
        self._channels = np.reshape(rows, (len(rows), self.count))

    def __call__(self, states: Array) -> list[Array]:
        """Slopes of torques and of rates by the states, and these rates: in each look."""
        law, count = self._law, len(self._law.states)
        given = (self._t[None, :], *self._state, self._channels, law.parameters, states)
        found = self._function(*given, law.system.numbers, np.array(law.places))
        shapes = (-1, count), (count, count), (count,)
        return [
            np.stack([part.reshape(shape) for part in np.split(each.full(), self.count, axis=1)])
            for each, shape in zip(found, shapes, strict=True)
        ]


def _largest(looks: Array) -> Array:
    sizes = np.abs(looks)
    return np.asarray(np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0))


def _felt(torques: Array, rates: Array) -> Array:
    """The largest |torques exp(rates t)| within a second, at times that double, and between them."""
    if not np.isfinite(rates).all():
        return np.full(torques.shape, np.nan)
    halvings = max(1, int(np.ceil(np.log2(max(2.0, 4 * np.abs(rates).sum(axis=1).max(initial=0.0))))))
    short = rates / 2.0**halvings
    step = term = np.eye(len(rates))
    for k in range(1, 14):
        term = term @ short / k
        step = step + term
    most = np.abs(torques)
    with np.errstate(all="ignore"):  # what grows without bound is no bound
        for _ in range(halvings):
            twice = step @ step
            most = np.fmax(most, np.fmax(np.abs(torques @ step), np.abs(torques @ twice @ step)))
            step = twice
        return np.asarray(np.fmax(most, np.abs(torques @ step)))


def _tried(channel: Channel, t: Array) -> Array:
    """Evaluate a channel; zeros where a function of the user fails, which ends the run when it gets there."""
    try:
        return channel(t)
    except Exception:
        return np.zeros(t.shape)
