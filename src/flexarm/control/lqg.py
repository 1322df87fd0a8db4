"""Linear-quadratic regulators, and compensators with an observer, with integrals of outputs among the states."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from flexarm.analysis.state_space import StateSpace
from flexarm.control.linear_controller import LinearController, Matrices
from flexarm.control.riccati import (
    integrated_gramian,
    observer_gain,
    output_rows,
    positive_by_name,
    quadratic_cost,
    regulator_gain,
    sampled_cost,
)
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile

MAX_RATE_HZ = 1e6  # rounding dominates the difference of samples at higher rates
HOLDING_TOLERANCE = 1e-8  # error of a unit reference in the state that holds it


@dataclass(frozen=True, eq=False)
class DesignTask:
    """Model with actuators as inputs, weights of integrals by output, and references by output."""

    model: StateSpace
    integrals: dict[str, float]
    references: dict[str, Profile]

    def sampled(self, rate: Any) -> DesignTask:
        """Return the task with the model sampled at a rate (Hz), or the task itself if the rate is None."""
        if rate is None:
            return self
        rate = real_number("rate", real_number("rate", rate, "Hz", above=0), "Hz", most=MAX_RATE_HZ)
        return replace(self, model=self.model.discrete(1 / rate))

    @property
    def augmented(self) -> tuple[Array, Array]:
        """Return A and B with the integrals as further states; in a sampled model these are sums times the period."""
        A, B = self.model.A, self.model.B
        C, D = output_rows(self.model, list(self.integrals), "integral")
        n, m = len(A), len(C)
        step, identity = (1.0, np.zeros((m, m))) if self.model.dt is None else (self.model.dt, np.eye(m))
        return np.block([[A, np.zeros((n, m))], [step * C, identity]]), np.vstack([B, step * D])

    def targets(self) -> tuple[Array, Array]:
        """Return states (n, references) and inputs (nu, references) that hold outputs at unit references."""
        model, names = self.model, list(self.references)
        C, D = output_rows(model, names, "references")
        n = len(model.A)
        A = model.A if model.dt is None else model.A - np.eye(n)
        block, right = np.block([[A, model.B], [C, D]]), np.vstack([np.zeros((n, len(names))), np.eye(len(names))])
        sizes = np.maximum(np.abs(block).max(axis=1, keepdims=True, initial=0.0), 1e-300)
        found = np.linalg.lstsq(block / sizes, right / sizes, rcond=1e-13)[0]
        missed = np.abs((C @ found[:n] + D @ found[n:]) - np.eye(len(names))).max(axis=0, initial=0.0)
        moving = np.abs((A @ found[:n] + model.B @ found[n:]) / sizes[:n]).max(axis=0, initial=0.0)
        for name, gap, drift in zip(names, missed, moving, strict=True):
            if gap > HOLDING_TOLERANCE or drift > HOLDING_TOLERANCE:
                actors = " and ".join(repr(each.name) for each in model.inputs)
                raise ValueError(
                    f"references: {actors} cannot hold '{name}' at another value, with the others as they are"
                )
        return found[:n], found[n:]


def design_task(lin: Any, integral: Any, references: Any) -> DesignTask:
    """Return the design task, in continuous time, of checked arguments."""
    model = _controlled(lin)
    return DesignTask(model, _integrals(model, integral), _references(model, references))


def _controlled(lin: Any) -> StateSpace:
    """Return the checked model with only actuators as inputs."""
    if not isinstance(lin, StateSpace):
        raise TypeError(f"lin = {shown(lin)}: must be a StateSpace, from fa.linearize")
    if lin.dt is not None:
        raise ValueError("lin is sampled already; give it in continuous time, and the rate: rate=1000")
    if lin.speeds:
        moving = ", ".join(f"{name} = {rate:g}" for name, rate in lin.speeds.items())
        raise ValueError(f"lin holds about a state that moves ({moving}); a design needs one about a posture at rest")
    inputs = [each.name for each in lin.inputs]
    if driven := [name for name in inputs if name.endswith("''")]:
        raise ValueError(
            f"lin has the input {driven[0]!r}: a joint that is driven is not moved by torques; leave it out"
        )
    actuators = [name for name in inputs if name in lin.held]
    if not actuators:
        raise ValueError(
            f"lin has no input that is an actuator of the robot, but {', '.join(inputs) or 'none'}; "
            "fa.linearize(robot, inputs=[...]) takes links by name"
        )
    return lin.part(None, actuators)


def _integrals(model: StateSpace, given: Any) -> dict[str, float]:
    if given is None:
        return {}
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(each, str) for each in given):
        if len(set(given)) < len(given):
            raise ValueError(f"integral = {shown(given)}: has a name twice")
        given = dict.fromkeys(given, 1.0)
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"integral = {shown(given)}: must be names of outputs, or weights by name, {{'tip.y': 10.0}}")
    found = positive_by_name("integral", given)
    output_rows(model, list(found), "integral")
    return found


def _references(model: StateSpace, given: Any) -> dict[str, Profile]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not given:
        raise TypeError(
            f"references = {shown(given)}: must be numbers, profiles or functions of t by output, {{'tip.y': 0.1}}"
        )
    output_rows(model, [str(name) for name in given], "references")
    return {str(name): profile(value, f"references['{name}']") for name, value in given.items()}


def require_readable(model: StateSpace, coordinates: Sequence[str]) -> None:
    """Raise ValueError if the states of a model are not coordinates of the robot and their rates."""
    for each in model.states:
        if each.name.removesuffix("'") not in coordinates:
            raise ValueError(
                f"lin: its state '{each.name}' cannot be read from the robot (the model is reduced); take fa.lqg, "
                "which estimates it from outputs"
            )


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
    continuous = design_task(lin, integral, references)
    require_readable(continuous.model, list(lin.at))
    task = continuous.sampled(rate)
    K, P = state_gain(continuous, task, Q, R)
    model, n = task.model, len(task.model.A)
    states = [each.name for each in model.states]
    measured = [*states, *(name for name in task.integrals if name not in states)]
    reading = np.eye(n, len(measured))
    own = np.zeros((0, 0)), np.zeros((0, len(measured))), np.zeros((len(K), 0)), -K[:, :n] @ reading
    matrices = _with_integrals(task, measured, K, *own, np.zeros((0, len(K))))
    own_states = {"integral": len(task.integrals)} if task.integrals else {}
    return LinearController(model, tuple(measured), own_states, matrices, task.references, K=K, P=P)


def state_gain(continuous: DesignTask, task: DesignTask, Q: Any, R: Any) -> tuple[Array, Array]:
    """Return K and P for states and integrals."""
    q, N, r = quadratic_cost(continuous.model, Q, R)
    weights = np.diag(list(continuous.integrals.values()))
    cost = block_diag(q, weights), np.vstack([N, np.zeros((len(weights), len(r)))]), r
    dt = task.model.dt
    if dt is not None:
        cost = sampled_cost(*continuous.augmented, cost, dt)
    labels = [*(each.name for each in task.model.states), *(f"the integral of {name}" for name in task.integrals)]
    return regulator_gain(*task.augmented, cost, labels, [each.name for each in task.model.inputs], dt)


def _with_integrals(
    task: DesignTask, measured: list[str], K: Array, A: Array, B: Array, C: Array, D: Array, H: Array
) -> Matrices:
    """Return the matrices of a controller with states of its own, and of integrals that unwind under limits."""
    n, dt, count, zero = len(task.model.A), task.model.dt, len(task.integrals), np.zeros
    goal, push = task.targets()
    step, own = (1.0, zero((count, count))) if dt is None else (dt, np.eye(count))
    unwinding = zero((0, len(K)))
    if count:
        full = task.augmented
        poles = np.linalg.eigvals(full[0] - full[1] @ K)
        slowest = np.abs(poles.real).min() if dt is None else np.abs(poles).max()
        share = UNWINDING_RATIO * slowest if dt is None else 1.0 - slowest**UNWINDING_RATIO
        unwinding = share * np.linalg.pinv(K[:, n:])
    return Matrices(
        A=block_diag(A, own),
        B=np.vstack([B, step * _select(task.integrals, measured)]),
        C=np.hstack([C, -K[:, n:]]),
        D=D,
        F=K[:, :n] @ goal + push,
        G=np.vstack([zero((len(A), len(task.references))), -step * _select(task.integrals, task.references)]),
        H=np.vstack([H, zero((count, len(K)))]),
        W=np.vstack([zero((len(A), len(K))), unwinding]),
    )


def _select(rows: Collection[str], columns: Collection[str]) -> Array:
    """Return the matrix that selects the columns with the names of rows."""
    return np.reshape([[float(row == name) for name in columns] for row in rows], (len(rows), len(columns)))


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
    continuous = design_task(lin, integral, references)
    task = continuous.sampled(rate)
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
    """Return the controller of an observer (gain L) with feedback of its states and of integrals (gain K).

    In a sampled controller the prediction is corrected by the measurement, and torques follow from the corrected
    estimate. A measurement is due to the torques of the period before, which are stored if they act on it directly.
    """
    model = task.model
    n, m = model.B.shape
    C, D = output_rows(model, measured, "noise")
    Kx, last = K[:, :n], 0
    own = model.A - L @ C, L, -Kx, np.zeros((m, len(measured))), model.B - L @ D
    if model.dt is not None:
        keep, last = np.eye(n) - L @ C, m if D.any() else 0
        D = D[:, :last]
        own = (
            np.block([[model.A @ keep, -model.A @ L @ D], [np.zeros((last, n + last))]]),
            np.vstack([model.A @ L, np.zeros((last, len(measured)))]),
            np.hstack([-Kx @ keep, Kx @ L @ D]),
            -Kx @ L,
            np.vstack([model.B, np.eye(m)[:last]]),
        )
    states = {"estimate": n, "last": last, "integral": len(task.integrals)}
    states = {name: size for name, size in states.items() if size}
    matrices = _with_integrals(task, measured, K, *own)
    return LinearController(model, tuple(measured), states, matrices, task.references, K=K, P=P, L=L)


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
