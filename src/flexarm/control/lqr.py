"""State feedback with the least quadratic cost, integrals of outputs among the states."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.design_model import Task, require_readable, task_of
from flexarm.control.linear_controller import LinearController
from flexarm.control.linear_law import Matrices
from flexarm.control.riccati import regulator
from flexarm.control.weights import Cost, cost_of, rows, sampled_cost
from flexarm.foundation.numbers import Array

UNWINDING = 3.0  # how fast integrals follow what limits leave of a command, in rates of the slowest pole


def lqr(
    lin: StateSpace, Q: Any, R: Any = 1.0, integral: Any = None, references: Any = None, rate: float | None = None
) -> LinearController:
    """State feedback u = -K x with the least integral of x'Q x + u'R u, about the posture of a linear model.

    lin: from `fa.linearize`, in continuous time, not reduced: its states are read from the robot by name. Of its inputs
    actuators are used; those that it leaves out hold their torque.
    Q: weights of outputs and states by name, {"tip.y": 100.0, "upper.q'": 1.0}, or a matrix for the states.
    R: weights of inputs by name, one for all, or a matrix.
    integral: outputs whose error is integrated, by name with the integral's weight (1 in a list of names): what is
    constant does not push them away.
    references: by output, where it is to be; unless given, where it is in the posture.
    rate: of a digital controller (Hz): the gains are those of the sampled model with the same cost.

    >>> import flexarm as fa
    >>> rod = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])  # q'' = u
    >>> design = lqr(fa.linearize(rod), Q={"rod.q": 1.0})
    >>> design.K.round(3)  # 1 and the root of 2
    array([[1.   , 1.414]])
    """
    continuous = task_of(lin, integral, references, None)
    require_readable(continuous.model, list(lin.at))
    task = continuous if rate is None else task_of(lin, integral, references, rate)
    K, P = state_gain(continuous, task, Q, R)
    model = task.model
    states = [each.name for each in model.states]
    extra = [name for name in task.integrals if name not in states]
    n, m, count = *model.B.shape, len(task.integrals)
    measured = (*states, *extra)
    pick = np.array([[float(name == each) for each in measured] for name in task.integrals]).reshape(
        count, len(measured)
    )
    reading = np.hstack([np.eye(n), np.zeros((n, len(extra)))])
    goal, push = task.targets()
    own = Integrals(task, K[:, n:])
    matrices = Matrices(
        A=own.A,
        B=own.step * pick,
        C=-K[:, n:],
        D=-K[:, :n] @ reading,
        F=K[:, :n] @ goal + push,
        G=own.G,
        H=np.zeros((count, m)),
        W=own.unwound(K),
    )
    own_states = {"integral": count} if count else {}
    return LinearController(model, measured, own_states, matrices, task.references, K=K, P=P)


def state_gain(continuous: Task, task: Task, Q: Any, R: Any) -> tuple[Array, Array]:
    """K and P on states and integrals."""
    cost = _with_integrals(cost_of(continuous.model, Q, R), continuous)
    dt = task.model.dt
    if dt is not None:
        cost = sampled_cost(*continuous.augmented, cost, dt)
    A, B = task.augmented
    return regulator(A, B, cost, task.labels, task.inputs, dt)


def _with_integrals(cost: Cost, task: Task) -> Cost:
    Q, N, R = cost
    n, m, count = *N.shape, len(task.integrals)
    wider = np.zeros((n + count, n + count))
    wider[:n, :n] = Q
    wider[n:, n:] = np.diag(list(task.integrals.values()))
    return wider, np.vstack([N, np.zeros((count, m))]), R


class Integrals:
    """The part of a law that sums errors."""

    def __init__(self, task: Task, gain: Array) -> None:
        self._task, self._gain = task, gain
        self._dt, self.count = task.model.dt, len(task.integrals)
        self.step = 1.0 if self._dt is None else self._dt
        self.A = np.zeros((self.count, self.count)) if self._dt is None else np.eye(self.count)

    @property
    def G(self) -> Array:
        """(integrals, references)"""
        names = list(self._task.references)
        pick = [[float(name == each) for each in names] for name in self._task.integrals]
        return -self.step * np.array(pick).reshape(self.count, len(names))

    @property
    def C(self) -> tuple[Array, Array]:
        """What is summed, of states and inputs."""
        return rows(self._task.model, list(self._task.integrals), "integral")

    def unwound(self, K: Array) -> Array:
        """(integrals, inputs): what limits cut off drives the integrals back, faster than the slowest pole decays."""
        if not self.count:
            return np.zeros((0, K.shape[0]))
        A, B = self._task.augmented
        poles = np.linalg.eigvals(A - B @ K)
        if self._dt is None:
            share = UNWINDING * float(np.abs(poles.real).min())
        else:
            share = 1.0 - float(np.abs(poles).max()) ** UNWINDING
        return np.asarray(share * np.linalg.pinv(self._gain))
