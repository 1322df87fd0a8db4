"""State feedback from an observer: the compensator of least cost under noise, integrals of outputs among the states."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.design_model import Task, task_of
from flexarm.control.linear_controller import LinearController
from flexarm.control.linear_law import Matrices
from flexarm.control.lqr import Integrals, state_gain
from flexarm.control.riccati import observer
from flexarm.control.weights import accumulated, by_name, rows
from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import suggestion


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


def compensator(task: Task, measured: list[str], K: Array, L: Array, P: Array | None = None) -> LinearController:
    """The law of an observer (gain L) and feedback of its states and of integrals (gain K)."""
    make = _continuous if task.model.dt is None else _sampled
    matrices, states = make(task, measured, K, L)
    return LinearController(task.model, tuple(measured), states, matrices, task.references, K=K, P=P, L=L)


def _continuous(task: Task, measured: list[str], K: Array, L: Array) -> tuple[Matrices, dict[str, int]]:
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


def _sampled(task: Task, measured: list[str], K: Array, L: Array) -> tuple[Matrices, dict[str, int]]:
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


def _picked(task: Task, measured: list[str]) -> Array:
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
