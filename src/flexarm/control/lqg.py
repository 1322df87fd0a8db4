"""State feedback with the least quadratic cost, integrals of outputs among the states.

State feedback from an observer: the compensator of least cost under noise, integrals of outputs among the states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.augmented_model import DesignTask, require_readable, task_of
from flexarm.control.linear_controller import LinearController, Matrices
from flexarm.control.riccati import Cost, accumulated, by_name, cost_of, observer, regulator, rows, sampled_cost
from flexarm.foundation.messages import suggestion
from flexarm.foundation.validation import Array

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


def state_gain(continuous: DesignTask, task: DesignTask, Q: Any, R: Any) -> tuple[Array, Array]:
    """K and P on states and integrals."""
    cost = _with_integrals(cost_of(continuous.model, Q, R), continuous)
    dt = task.model.dt
    if dt is not None:
        cost = sampled_cost(*continuous.augmented, cost, dt)
    A, B = task.augmented
    return regulator(A, B, cost, task.labels, task.inputs, dt)


def _with_integrals(cost: Cost, task: DesignTask) -> Cost:
    Q, N, R = cost
    n, m, count = *N.shape, len(task.integrals)
    wider = np.zeros((n + count, n + count))
    wider[:n, :n] = Q
    wider[n:, n:] = np.diag(list(task.integrals.values()))
    return wider, np.vstack([N, np.zeros((count, m))]), R


class Integrals:
    """The part of a law that sums errors."""

    def __init__(self, task: DesignTask, gain: Array) -> None:
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


def lqg(
    lin: StateSpace,
    Q: Any,
    R: Any,
    process: Any,
    noise: Any,
    integral: Any = None,
    references: Any = None,
    rate: float | None = None,
) -> LinearController:
    """The compensator of an observer and the state feedback of `fa.lqr`, about the posture of a linear model.

    lin: from `fa.linearize`, in continuous time; it may be reduced (`lin.reduce`).
    Q, R, integral, references, rate: as in `fa.lqr`. Integrals are of outputs that are measured.
    process: intensities of white noise by input (actuators, forces on places, ... of the model) or by state, in the
    square of their unit times s.
    noise: by output that is measured the intensity of its noise. Only ratios to `process` count.

    >>> import flexarm as fa
    >>> rod = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])  # q'' = u
    >>> design = lqg(fa.linearize(rod), {"rod.q": 1.0}, 1.0, process={"rod": 1.0}, noise={"rod.q": 1.0})
    >>> design.L.round(3).ravel().tolist()
    [1.414, 1.0]
    """
    continuous = task_of(lin, integral, references, None)
    task = continuous if rate is None else task_of(lin, integral, references, rate)
    intensities = by_name("noise", noise)
    measured = list(intensities)
    rows(continuous.model, measured, "noise")
    for name in task.integrals:
        if name not in measured:
            raise ValueError(f"integral: '{name}' is not measured; tell the intensity of its noise, too")
    K, P = state_gain(continuous, task, Q, R)
    W, V = _process(lin, process), np.diag(list(intensities.values()))
    dt = task.model.dt
    if dt is not None:
        W, V = accumulated(lin.A, W, dt), V / dt
    states = [each.name for each in task.model.states]
    C = rows(task.model, measured, "noise")[0]
    L = observer(task.model.A, C, W, V, states, measured, dt)
    return compensator(task, measured, K, L, P)


def compensator(task: DesignTask, measured: list[str], K: Array, L: Array, P: Array | None = None) -> LinearController:
    """The law of an observer (gain L) and feedback of its states and of integrals (gain K)."""
    make = _continuous if task.model.dt is None else _sampled
    matrices, states = make(task, measured, K, L)
    return LinearController(task.model, tuple(measured), states, matrices, task.references, K=K, P=P, L=L)


def _continuous(task: DesignTask, measured: list[str], K: Array, L: Array) -> tuple[Matrices, dict[str, int]]:
    model, own = task.model, Integrals(task, K[:, len(task.model.A) :])
    n, m, count = *model.B.shape, len(task.integrals)
    C, D = rows(model, measured, "noise")
    goal, push = task.targets()
    zero = np.zeros((n, count))
    matrices = Matrices(
        A=np.block([[model.A - L @ C, zero], [zero.T, own.A]]),
        B=np.vstack([L, _picked(task, measured)]),
        C=-K,
        D=np.zeros((m, len(measured))),
        F=K[:, :n] @ goal + push,
        G=np.vstack([np.zeros((n, len(task.references))), own.G]),
        H=np.vstack([model.B - L @ D, np.zeros((count, m))]),
        W=np.vstack([np.zeros((n, m)), own.unwound(K)]),
    )
    return matrices, {"estimate": n, **({"integral": count} if count else {})}


def _sampled(task: DesignTask, measured: list[str], K: Array, L: Array) -> tuple[Matrices, dict[str, int]]:
    """What was foreseen for now is corrected by what is read, then torques follow from it. What is read at a sample is
    due to the torques before it, which are remembered where that matters."""
    model, own = task.model, Integrals(task, K[:, len(task.model.A) :])
    n, m, count = *model.B.shape, len(task.integrals)
    C, D = rows(model, measured, "noise")
    goal, push = task.targets()
    Kx, Ki = K[:, :n], K[:, n:]
    keep = np.eye(n) - L @ C
    last = m if D.any() else 0
    D = D[:, :last]
    zero = np.zeros
    matrices = Matrices(
        A=np.block(
            [
                [model.A @ keep, zero((n, count)), -model.A @ L @ D],
                [zero((count, n)), own.A, zero((count, last))],
                [zero((last, n)), zero((last, count)), zero((last, last))],
            ]
        ),
        B=np.vstack([model.A @ L, own.step * _picked(task, measured), zero((last, len(measured)))]),
        C=np.hstack([-Kx @ keep, -Ki, Kx @ L @ D]),
        D=-Kx @ L,
        F=Kx @ goal + push,
        G=np.vstack([zero((n, len(task.references))), own.G, zero((last, len(task.references)))]),
        H=np.vstack([model.B, zero((count, m)), np.eye(m)[:last]]),
        W=np.vstack([zero((n, m)), own.unwound(K), zero((last, m))]),
    )
    parts = {"estimate": n, "integral": count, "last": last}
    return matrices, {name: size for name, size in parts.items() if size}


def _picked(task: DesignTask, measured: list[str]) -> Array:
    pick = [[float(name == each) for each in measured] for name in task.integrals]
    return np.array(pick).reshape(len(task.integrals), len(measured))


def _process(lin: StateSpace, given: Any) -> Array:
    """The intensity of noise on the rates of the states."""
    found = by_name("process", given)
    inputs, states = ([each.name for each in part] for part in (lin.inputs, lin.states))
    out = np.zeros_like(lin.A)
    for name, intensity in found.items():
        if name in inputs:
            column = lin.B[:, inputs.index(name)]
        elif name in states:
            column = np.eye(len(lin.A))[states.index(name)]
        else:
            raise KeyError(f"process: the model has no input or state '{name}'{suggestion(name, [*inputs, *states])}")
        out += intensity * np.outer(column, column)
    return out
