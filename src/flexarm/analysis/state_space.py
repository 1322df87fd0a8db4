"""Linear state-space models with named signals, and their reduction to fewer states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.analysis import transfer
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DECAY_TOLERANCE = 1e-9  # decay rate, relative to the fastest pole, below which a motion counts as undamped


def _reduce_modal(model: StateSpace, order: int) -> StateSpace:
    """Keep the slowest modes, and the static response of the others."""
    sizes = np.sort(np.abs(np.linalg.eigvals(model.A)))
    if sizes[order] - sizes[order - 1] <= 1e-6 * sizes[order]:
        raise ValueError(
            f"order = {order}: would keep one of a pair of poles at {sizes[order]:.4g} rad/s; "
            f"take {order - 1 if order > 1 else order + 1} or {order + 1}"
        )
    middle = (sizes[order] + sizes[order - 1]) / 2
    (A, B, C), (A_fast, B_fast, C_fast) = _split(model, lambda z: bool(np.abs(z) < middle))
    D = model.D - C_fast @ np.linalg.solve(A_fast, B_fast)  # static response of the fast modes
    return _with_matrices(model, A, B, C, D, "mode")


def _reduce_balanced(model: StateSpace, order: int) -> StateSpace:
    """Apply square-root balanced truncation to the decaying part; keep the undamped part whole."""
    from scipy.linalg import block_diag, solve_continuous_lyapunov

    limit = -DECAY_TOLERANCE * np.abs(np.linalg.eigvals(model.A)).max()
    (A_undamped, B_undamped, C_undamped), (A, B, C) = _split(model, lambda z: bool(z.real > limit))
    if (count := len(A_undamped)) >= order:
        raise ValueError(
            f"order = {order}: {count} states do not decay and are kept whole; take more, give the robot "
            "damping, or method='modal'"
        )
    reached = _gramian_factor(solve_continuous_lyapunov(A, -B @ B.T))
    seen = _gramian_factor(solve_continuous_lyapunov(A.T, -C.T @ C))
    left, sizes, right = np.linalg.svd(seen.T @ reached)
    kept = min(order - count, int((sizes > 1e-14 * sizes[0]).sum()))
    root = 1 / np.sqrt(sizes[:kept])
    onto, out_of = (seen @ left[:, :kept] * root).T, reached @ right[:kept].T * root
    A, B, C = onto @ A @ out_of, onto @ B, C @ out_of
    whole = block_diag(A_undamped, A), np.vstack([B_undamped, B]), np.hstack([C_undamped, C])
    return _with_matrices(model, *whole, model.D, "balanced")


def _split(model: StateSpace, first: Callable[[complex], bool]) -> list[tuple[Array, Array, Array]]:
    """Return (A, B, C) in two invariant subspaces: of the poles with `first(pole)` true, and of the others."""
    from scipy.linalg import schur

    spaces = []
    for selected in (first, lambda z: not first(z)):
        _, vectors, count = schur(model.A.astype(complex), output="complex", sort=selected)
        both = np.hstack([vectors[:, :count].real, vectors[:, :count].imag])
        spaces.append(np.linalg.svd(both)[0][:, :count] if count else np.zeros((len(model.A), 0)))
    base = np.hstack(spaces)
    A, B, C = np.linalg.solve(base, model.A @ base), np.linalg.solve(base, model.B), model.C @ base
    places = slice(0, spaces[0].shape[1]), slice(spaces[0].shape[1], None)
    return [(np.asarray(A[here, here]), np.asarray(B[here]), np.asarray(C[:, here])) for here in places]


def _gramian_factor(gramian: Array) -> Array:
    """Return L with L L' = gramian, clipping eigenvalues that rounding has made negative."""
    values, vectors = np.linalg.eigh((gramian + gramian.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _with_matrices(model: StateSpace, A: Array, B: Array, C: Array, D: Array, word: str) -> StateSpace:
    """Return the model with other matrices and generic state names."""
    states = tuple(Signal(f"{word}[{k + 1}]", "1") for k in range(len(A)))
    return replace(model, A=A, B=B, C=C, D=D, states=states, made_from=None)


def python_control(what: str) -> ModuleType:
    """Import python-control; raise ModuleNotFoundError with advice if it is missing."""
    try:
        import control
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{what} needs python-control: pip install 'control>=0.10.1'") from None
    return control  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Signal:
    """State, input or output of a linear model.

    Parameters
    ----------
    name : str
        Name, such as "tip.y".
    unit : str
        Unit, such as "m"; "1" if dimensionless.
    """

    name: str
    unit: str

    def __str__(self) -> str:
        return self.name if self.unit in ("", "1") else f"{self.name} ({self.unit})"


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Linear model dx/dt = A x + B u, y = C x + D u of small motions about a state of a robot.

    With a sampling period `dt` it is the sampled model x[k+1] = A x[k] + B u[k].

    Parameters
    ----------
    A : array_like, shape (n, n)
        State matrix.
    B : array_like, shape (n, nu)
        Input matrix.
    C : array_like, shape (ny, n)
        Output matrix.
    D : array_like, shape (ny, nu)
        Feedthrough matrix.
    states : tuple of Signal
        Names and units of the states.
    inputs : tuple of Signal
        Names and units of the inputs.
    outputs : tuple of Signal
        Names and units of the outputs.
    dt : float, optional
        Sampling period (s). By default the model is in continuous time.
    at : dict of str to float, optional
        Coordinates of the robot about which the model holds, by name.
    held : dict of str to float, optional
        Constant torques or forces of the actuators in that state, by link.
    made_from : SecondOrderModel, optional
        Equations of second order with the same poles and zeros, if only forces drive the robot. Zeros are computed from
        them, since they are more accurate there.
    speeds : dict of str to float, optional
        Rates of the coordinates in that state, by name, if the robot moves.
    outputs_at : dict of str to float, optional
        Values of the outputs in that state, by name.

    See Also
    --------
    flexarm.linearize : Linear model of a robot.
    flexarm.lqr : State feedback for a linear model.

    Notes
    -----
    Poles and zeros are in rad/s, frequencies in Hz. `lin["tip.y", "upper"]` is the part from the input "upper" to the
    output "tip.y".

    Examples
    --------
    >>> import numpy as np
    >>> mass = Signal("x", "m"), Signal("x'", "m/s")
    >>> lin = StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]], [[0]], mass, (Signal("f", "N"),), (Signal("x", "m"),))
    >>> np.abs(lin.poles)
    array([2., 2.])
    >>> lin.dc_gain
    array([[0.25]])
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[Signal, ...]
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    dt: float | None = None
    at: dict[str, float] = field(default_factory=dict, repr=False)
    held: dict[str, float] = field(default_factory=dict, repr=False)
    made_from: transfer.SecondOrderModel | None = field(default=None, repr=False)
    speeds: dict[str, float] = field(default_factory=dict, repr=False)
    outputs_at: dict[str, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("A", "B", "C", "D"):
            matrix = np.array(getattr(self, name), dtype=float)
            matrix.setflags(write=False)
            object.__setattr__(self, name, matrix)

    def __repr__(self) -> str:
        kind = "" if self.dt is None else f", sampled every {self.dt:g} s"
        inputs, outputs = (", ".join(map(str, each)) for each in (self.inputs, self.outputs))
        return f"StateSpace of {len(self.states)} states from {inputs or 'nothing'} to {outputs or 'nothing'}{kind}"

    # --- parts ---

    def __getitem__(self, pair: tuple[str, str]) -> StateSpace:
        """Return the part from one input to one output, as in `lin["tip.y", "upper"]`."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{shown(pair)}: give (output, input), as in lin['tip.y', 'upper']")
        return self.part([pair[0]], [pair[1]])

    def part(self, outputs: Sequence[str] | None = None, inputs: Sequence[str] | None = None) -> StateSpace:
        """Return the model of some outputs and inputs.

        Parameters
        ----------
        outputs : list of str, optional
            Names of the outputs to keep; all by default.
        inputs : list of str, optional
            Names of the inputs to keep; all by default.

        Returns
        -------
        StateSpace
            Model with the same states and the chosen signals.
        """
        rows = self._places("output", self.outputs, outputs)
        columns = self._places("input", self.inputs, inputs)
        return replace(
            self,
            B=self.B[:, columns],
            C=self.C[rows],
            D=self.D[np.ix_(rows, columns)],
            inputs=tuple(self.inputs[k] for k in columns),
            outputs=tuple(self.outputs[k] for k in rows),
            made_from=None if self.made_from is None else self.made_from._replace(B=self.made_from.B[:, columns]),
        )

    @staticmethod
    def _places(kind: str, signals: tuple[Signal, ...], names_given: Sequence[str] | None) -> list[int]:
        names = [each.name for each in signals]
        chosen = names if names_given is None else [names_given] if isinstance(names_given, str) else names_given
        for each in chosen:
            if each not in names:
                raise KeyError(f"there is no {kind} {shown(each)}{suggestion(each, names)}")
        return [names.index(each) for each in chosen]

    # --- poles, zeros, responses ---

    @property
    def poles(self) -> Array:
        """Eigenvalues of A (rad/s), the slowest first; those of a sampled model are in the z plane."""
        return transfer.poles(self.A)

    @property
    def zeros(self) -> Array:
        """Transmission zeros (rad/s) of a model with as many outputs as inputs.

        At a zero, some input at that complex frequency leaves all outputs at rest.
        """
        return transfer.zeros(self.A, self.B, self.C, self.D, self.made_from)

    def frf(self, f: Any) -> Array:
        """Compute the frequency response.

        Parameters
        ----------
        f : float or array_like
            Frequencies (Hz).

        Returns
        -------
        ndarray of complex, shape (len(f), outputs, inputs)
            Response in the units of outputs per inputs; of shape (outputs, inputs) if `f` is a number.
        """
        given = real_array("f", f)
        response = transfer.response(self, np.atleast_1d(given).ravel())
        return response[0] if given.ndim == 0 else response

    @property
    def dc_gain(self) -> Array:
        """Steady outputs for constant unit inputs, shape (outputs, inputs); infinite if a rigid-body motion drifts."""
        return transfer.dc_gain(self)

    def step(self, t: Any = None, output: str | None = None, input: str | None = None) -> tuple[Array, Array]:
        """Compute the response to a unit step of each input, from rest.

        Parameters
        ----------
        t : array_like, optional
            Equidistant times (s) from 0 on. By default they cover eight periods of the slowest motion.
        output : str, optional
            Name of one output; all by default.
        input : str, optional
            Name of one input; all by default.

        Returns
        -------
        t : ndarray
            Times (s).
        y : ndarray, shape (len(t), outputs, inputs)
            Outputs.
        """
        return transfer.simulate(self.part(output and [output], input and [input]), t, impulse=False)

    def impulse(self, t: Any = None, output: str | None = None, input: str | None = None) -> tuple[Array, Array]:
        """Compute the response to a unit impulse of each input, from rest.

        Parameters
        ----------
        t : array_like, optional
            Equidistant times (s) from 0 on. By default they cover eight periods of the slowest motion.
        output : str, optional
            Name of one output; all by default.
        input : str, optional
            Name of one input; all by default.

        Returns
        -------
        t : ndarray
            Times (s).
        y : ndarray, shape (len(t), outputs, inputs)
            Outputs. If an output depends on the input directly (D is not zero), the impulse itself is left out.
        """
        return transfer.simulate(self.part(output and [output], input and [input]), t, impulse=True)

    # --- other models ---

    def reduce(self, order: int, method: Literal["modal", "balanced"] = "modal") -> StateSpace:
        """Return a model of fewer states.

        Parameters
        ----------
        order : int
            Number of states to keep.
        method : {"modal", "balanced"}, optional
            "modal" keeps the slowest modes and the static response of the others. "balanced" keeps the states that
            contribute most from inputs to outputs; motions that do not decay are kept whole.

        Returns
        -------
        StateSpace
            Reduced model; its states have no physical names.

        Raises
        ------
        ValueError
            If the order splits a pair of poles, or is less than the number of undamped states ("balanced").
        """
        if self.dt is not None:
            raise ValueError("reduce: is for models in continuous time; reduce first, then sample with discrete(dt)")
        order = whole_number("order", order, least=1)
        if method not in ("modal", "balanced"):
            raise ValueError(f"method = {shown(method)}: must be 'modal' or 'balanced'")
        if order >= len(self.A):
            raise ValueError(f"order = {order}: must be less than the {len(self.A)} states that the model has")
        return _reduce_modal(self, order) if method == "modal" else _reduce_balanced(self, order)

    def discrete(self, dt: float) -> StateSpace:
        """Return the sampled model with inputs held constant over each period (zero-order hold).

        Parameters
        ----------
        dt : float
            Sampling period (s).

        Returns
        -------
        StateSpace
            Model that is exact at the samples.
        """
        if self.dt is not None:
            raise ValueError(f"discrete: the model is sampled already, every {self.dt:g} s")
        real_number("dt", dt, "s", above=0)
        A, B = transfer.zero_order_hold(self.A, self.B, float(dt))
        return replace(self, A=A, B=B, dt=float(dt), made_from=None)

    def to_scipy(self) -> Any:
        """Convert to `scipy.signal.StateSpace`, which has no names of signals.

        Returns
        -------
        scipy.signal.StateSpace
            The same matrices.
        """
        from scipy.signal import StateSpace as ScipyModel

        matrices = self.A, self.B, self.C, self.D
        return ScipyModel(*matrices) if self.dt is None else ScipyModel(*matrices, dt=self.dt)

    def to_control(self) -> Any:
        """Convert to python-control's StateSpace.

        Returns
        -------
        control.StateSpace
            The same matrices and names; dots in names become underscores (`tip_y`).

        Raises
        ------
        ModuleNotFoundError
            If python-control is not installed.
        """
        control, kinds = python_control("to_control"), ("states", "inputs", "outputs")
        names = {kind: [each.name.replace(".", "_") for each in getattr(self, kind)] for kind in kinds}
        return control.ss(self.A, self.B, self.C, self.D, *([] if self.dt is None else [self.dt]), **names)

    # --- figures ---

    def bode(self, f: Any = None) -> Figure:
        """Plot magnitude and phase of every output over frequency, one column for each input.

        Parameters
        ----------
        f : array_like, optional
            Frequencies (Hz). By default they cover the poles of the model.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from flexarm.plotting.frequency import bode_figure

        return bode_figure(self, f)

    def pole_zero_map(self) -> Figure:
        """Plot poles (crosses) and zeros (circles) in the complex plane.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from flexarm.plotting.frequency import pole_zero_figure

        return pole_zero_figure(self)
