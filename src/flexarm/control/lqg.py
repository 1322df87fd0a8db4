"""Linear-quadratic regulators, and compensators with an observer, with integrals of outputs among the states."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.augmented_model import DesignTask, design_task, require_readable
from flexarm.control.linear_controller import LinearController, Matrices
from flexarm.control.riccati import (
    Cost,
    integrated_gramian,
    observer_gain,
    output_rows,
    positive_by_name,
    quadratic_cost,
    regulator_gain,
    sampled_cost,
)
from flexarm.foundation.messages import suggestion
from flexarm.foundation.validation import Array

UNWINDING_RATIO = 3.0  # rate at which integrals unwind under limits, relative to the slowest pole


def lqr(
    lin: StateSpace, Q: Any, R: Any = 1.0, *, integral: Any = None, references: Any = None, rate: float | None = None
) -> LinearController:
    """Design a linear-quadratic regulator (LQR) about the posture of a linear model.

    Parameters
    ----------
    lin : StateSpace
        Model in continuous time from `linearize`, not reduced: its states are read from the robot by name. Of its
        inputs the actuators are used; actuators that are not inputs hold their torque.
    Q : dict of str to float or array_like, shape (n, n)
        Weights of outputs and states by name, {"tip.y": 100.0, "upper.q'": 1.0}, or a matrix for the states.
    R : float, dict of str to float or array_like, shape (nu, nu), optional
        Weights of the inputs: one for all, by name, or a matrix.
    integral : list of str or dict of str to float, optional
        Outputs whose error is integrated, which removes steady errors; a dict gives the weights of the integrals, which
        are 1 otherwise.
    references : dict of str to float, Profile or callable, optional
        References by output. By default outputs are held at their values in the posture.
    rate : float, optional
        Sample rate (Hz) of a digital controller, whose gains minimise the same cost; continuous by default.

    Returns
    -------
    LinearController
        Design with the gain `K` and the cost matrix `P`.

    Raises
    ------
    ValueError
        If the actuators cannot move an undamped mode, or a mode has no weight.
    KeyError
        If the model has no output or state of a given name.

    See Also
    --------
    lqg : With an observer.
    linearize : Linear model of a robot.

    Notes
    -----
    The feedback u = -K x minimises the integral of x'Q x + u'R u. Needs python-control.

    Examples
    --------
    >>> import flexarm as fa
    >>> rod = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])  # q'' = u
    >>> design = lqr(fa.linearize(rod), Q={"rod.q": 1.0})
    >>> design.K.round(3)  # 1 and the root of 2
    array([[1.   , 1.414]])
    """
    continuous = design_task(lin, integral, references, None)
    require_readable(continuous.model, list(lin.at))
    task = continuous if rate is None else design_task(lin, integral, references, rate)
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
        W=own.anti_windup(K),
    )
    own_states = {"integral": count} if count else {}
    return LinearController(model, measured, own_states, matrices, task.references, K=K, P=P)


def state_gain(continuous: DesignTask, task: DesignTask, Q: Any, R: Any) -> tuple[Array, Array]:
    """Return K and P for states and integrals."""
    cost = _add_integral_weights(quadratic_cost(continuous.model, Q, R), continuous)
    dt = task.model.dt
    if dt is not None:
        cost = sampled_cost(*continuous.augmented, cost, dt)
    A, B = task.augmented
    return regulator_gain(A, B, cost, task.labels, task.inputs, dt)


def _add_integral_weights(cost: Cost, task: DesignTask) -> Cost:
    Q, N, R = cost
    n, m, count = *N.shape, len(task.integrals)
    wider = np.zeros((n + count, n + count))
    wider[:n, :n] = Q
    wider[n:, n:] = np.diag(list(task.integrals.values()))
    return wider, np.vstack([N, np.zeros((count, m))]), R


class Integrals:
    """Part of a law that integrates errors."""

    def __init__(self, task: DesignTask, gain: Array) -> None:
        self._task, self._gain = task, gain
        self._dt, self.count = task.model.dt, len(task.integrals)
        self.step = 1.0 if self._dt is None else self._dt
        self.A = np.zeros((self.count, self.count)) if self._dt is None else np.eye(self.count)

    @property
    def G(self) -> Array:
        """Matrix (integrals, references) of the references in the rates of the integrals."""
        names = list(self._task.references)
        pick = [[float(name == each) for each in names] for name in self._task.integrals]
        return -self.step * np.array(pick).reshape(self.count, len(names))

    @property
    def C(self) -> tuple[Array, Array]:
        """Return the matrices of the integrated outputs by states and inputs."""
        return output_rows(self._task.model, list(self._task.integrals), "integral")

    def anti_windup(self, K: Array) -> Array:
        """Return the matrix (integrals, inputs) of back-calculation, faster than the slowest pole decays."""
        if not self.count:
            return np.zeros((0, K.shape[0]))
        A, B = self._task.augmented
        poles = np.linalg.eigvals(A - B @ K)
        if self._dt is None:
            share = UNWINDING_RATIO * float(np.abs(poles.real).min())
        else:
            share = 1.0 - float(np.abs(poles).max()) ** UNWINDING_RATIO
        return np.asarray(share * np.linalg.pinv(self._gain))


def lqg(
    lin: StateSpace,
    Q: Any,
    R: Any,
    process: Any,
    noise: Any,
    *,
    integral: Any = None,
    references: Any = None,
    rate: float | None = None,
) -> LinearController:
    """Design a linear-quadratic-Gaussian compensator: the state feedback of `lqr` with an observer.

    Parameters
    ----------
    lin : StateSpace
        Model in continuous time from `linearize`; it may be reduced (`StateSpace.reduce`).
    Q : dict of str to float or array_like, shape (n, n)
        Weights of outputs and states by name, or a matrix for the states.
    R : float, dict of str to float or array_like, shape (nu, nu)
        Weights of the inputs: one for all, by name, or a matrix.
    process : dict of str to float
        Intensities of white noise by input of the model (actuators, forces on places, ...) or by state, in the square
        of its unit times s.
    noise : dict of str to float
        Intensities of measurement noise by measured output. Only ratios to `process` have an effect.
    integral : list of str or dict of str to float, optional
        Measured outputs whose error is integrated, with weights in a dict.
    references : dict of str to float, Profile or callable, optional
        References by output. By default outputs are held at their values in the posture.
    rate : float, optional
        Sample rate (Hz) of a digital controller; continuous by default.

    Returns
    -------
    LinearController
        Design with the gains `K` and `L`.

    Raises
    ------
    ValueError
        If the actuators cannot move an undamped mode, the measured outputs do not show it, or an integrated output is
        not measured.
    KeyError
        If the model has no output or state of a given name.

    See Also
    --------
    lqr : State feedback without an observer.
    robust_lqg : Compensator for a family of models.

    Notes
    -----
    Needs python-control.

    Examples
    --------
    >>> import flexarm as fa
    >>> rod = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])  # q'' = u
    >>> design = lqg(fa.linearize(rod), {"rod.q": 1.0}, 1.0, process={"rod": 1.0}, noise={"rod.q": 1.0})
    >>> design.L.round(3).ravel().tolist()
    [1.414, 1.0]
    """
    continuous = design_task(lin, integral, references, None)
    task = continuous if rate is None else design_task(lin, integral, references, rate)
    intensities = positive_by_name("noise", noise)
    measured = list(intensities)
    output_rows(continuous.model, measured, "noise")
    for name in task.integrals:
        if name not in measured:
            raise ValueError(f"integral: '{name}' is not measured; give the intensity of its noise, too")
    K, P = state_gain(continuous, task, Q, R)
    W, V = _process_intensity(lin, process), np.diag(list(intensities.values()))
    dt = task.model.dt
    if dt is not None:
        W, V = integrated_gramian(lin.A, W, dt), V / dt
    states = [each.name for each in task.model.states]
    C = output_rows(task.model, measured, "noise")[0]
    L = observer_gain(task.model.A, C, W, V, states, measured, dt)
    return compensator(task, measured, K, L, P)


def compensator(task: DesignTask, measured: list[str], K: Array, L: Array, P: Array | None = None) -> LinearController:
    """Return the controller of an observer (gain L) with feedback of its states and of integrals (gain K)."""
    make = _continuous_matrices if task.model.dt is None else _sampled_matrices
    matrices, states = make(task, measured, K, L)
    return LinearController(task.model, tuple(measured), states, matrices, task.references, K=K, P=P, L=L)


def _continuous_matrices(task: DesignTask, measured: list[str], K: Array, L: Array) -> tuple[Matrices, dict[str, int]]:
    model, own = task.model, Integrals(task, K[:, len(task.model.A) :])
    n, m, count = *model.B.shape, len(task.integrals)
    C, D = output_rows(model, measured, "noise")
    goal, push = task.targets()
    zero = np.zeros((n, count))
    matrices = Matrices(
        A=np.block([[model.A - L @ C, zero], [zero.T, own.A]]),
        B=np.vstack([L, _select_integrals(task, measured)]),
        C=-K,
        D=np.zeros((m, len(measured))),
        F=K[:, :n] @ goal + push,
        G=np.vstack([np.zeros((n, len(task.references))), own.G]),
        H=np.vstack([model.B - L @ D, np.zeros((count, m))]),
        W=np.vstack([np.zeros((n, m)), own.anti_windup(K)]),
    )
    return matrices, {"estimate": n, **({"integral": count} if count else {})}


def _sampled_matrices(task: DesignTask, measured: list[str], K: Array, L: Array) -> tuple[Matrices, dict[str, int]]:
    """Return the matrices of a sampled compensator, and the numbers of its states by name.

    The prediction is corrected by the measurement, and torques follow from the corrected estimate. A measurement is due
    to the torques of the period before, which are stored if they act on it directly.
    """
    model, own = task.model, Integrals(task, K[:, len(task.model.A) :])
    n, m, count = *model.B.shape, len(task.integrals)
    C, D = output_rows(model, measured, "noise")
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
        B=np.vstack([model.A @ L, own.step * _select_integrals(task, measured), zero((last, len(measured)))]),
        C=np.hstack([-Kx @ keep, -Ki, Kx @ L @ D]),
        D=-Kx @ L,
        F=Kx @ goal + push,
        G=np.vstack([zero((n, len(task.references))), own.G, zero((last, len(task.references)))]),
        H=np.vstack([model.B, zero((count, m)), np.eye(m)[:last]]),
        W=np.vstack([zero((n, m)), own.anti_windup(K), zero((last, m))]),
    )
    parts = {"estimate": n, "integral": count, "last": last}
    return matrices, {name: size for name, size in parts.items() if size}


def _select_integrals(task: DesignTask, measured: list[str]) -> Array:
    pick = [[float(name == each) for each in measured] for name in task.integrals]
    return np.array(pick).reshape(len(task.integrals), len(measured))


def _process_intensity(lin: StateSpace, given: Any) -> Array:
    """Return the intensity of noise on the rates of the states."""
    found = positive_by_name("process", given)
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
