"""Linear models of fewer states.

A linear model: matrices with the names and units of their states, inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.analysis import transfer
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STILL = 1e-9  # of the fastest pole: what decays more slowly does not


def reduced(model: StateSpace, order: int, method: str) -> StateSpace:
    """By the slowest modes, or by what matters most between inputs and outputs."""
    order = whole_number("order", order, least=1)
    if method not in ("modal", "balanced"):
        raise ValueError(f"method = {shown(method)}: must be 'modal' or 'balanced'")
    if order >= len(model.A):
        raise ValueError(f"order = {order}: must be less than the {len(model.A)} states that the model has")
    return _modal(model, order) if method == "modal" else _balanced(model, order)


def _modal(model: StateSpace, order: int) -> StateSpace:
    sizes = np.sort(np.abs(np.linalg.eigvals(model.A)))
    if sizes[order] - sizes[order - 1] <= 1e-6 * sizes[order]:
        raise ValueError(
            f"order = {order}: would keep one of a pair of poles at {sizes[order]:.4g} rad/s; "
            f"take {order - 1 if order > 1 else order + 1} or {order + 1}"
        )
    slow, fast = split(model.A, lambda z: np.abs(z) < (sizes[order] + sizes[order - 1]) / 2)
    (A, B, C), (A_fast, B_fast, C_fast) = _parts(model, slow, fast)
    D = model.D - C_fast @ np.linalg.solve(A_fast, B_fast)  # at rest the fast modes follow at once
    return _named(model, A, B, C, D, "mode")


def _balanced(model: StateSpace, order: int) -> StateSpace:
    """Square-root balanced truncation of what decays; what does not is kept whole."""
    from scipy.linalg import solve_continuous_lyapunov

    limit = -STILL * np.abs(np.linalg.eigvals(model.A)).max()
    lasting, fading = split(model.A, lambda z: z.real > limit)
    if lasting.shape[1] >= order:
        raise ValueError(
            f"order = {order}: {lasting.shape[1]} states do not decay and are kept whole; take more, give the robot "
            "damping, or method='modal'"
        )
    (A_lasting, B_lasting, C_lasting), (A, B, C) = _parts(model, lasting, fading)
    reached = _root(solve_continuous_lyapunov(A, -B @ B.T))
    seen = _root(solve_continuous_lyapunov(A.T, -C.T @ C))
    left, sizes, right = np.linalg.svd(seen.T @ reached)
    kept = min(order - lasting.shape[1], int((sizes > 1e-14 * sizes[0]).sum()))
    root = 1 / np.sqrt(sizes[:kept])
    onto, out_of = (seen @ left[:, :kept] * root).T, reached @ right[:kept].T * root
    A, B, C = onto @ A @ out_of, onto @ B, C @ out_of
    zero = np.zeros((len(A_lasting), len(A)))
    return _named(
        model,
        np.block([[A_lasting, zero], [zero.T, A]]),
        np.vstack([B_lasting, B]),
        np.hstack([C_lasting, C]),
        model.D,
        "balanced",
    )


def split(A: Array, first: Callable[[complex], bool]) -> tuple[Array, Array]:
    """Real bases of the motions whose poles are among the first, and of the others."""
    from scipy.linalg import schur

    spaces = []
    for wanted in (first, lambda z: not first(z)):
        _, vectors, count = schur(A.astype(complex), output="complex", sort=wanted)
        both = np.hstack([vectors[:, :count].real, vectors[:, :count].imag])
        spaces.append(np.linalg.svd(both)[0][:, :count] if count else np.zeros((len(A), 0)))
    return spaces[0], spaces[1]


def _parts(model: StateSpace, one: Array, other: Array) -> list[tuple[Array, Array, Array]]:
    """The model of each of two spaces that do not mix."""
    base = np.hstack([one, other])
    A, B, C = np.linalg.solve(base, model.A @ base), np.linalg.solve(base, model.B), model.C @ base
    places = slice(0, one.shape[1]), slice(one.shape[1], None)
    return [(np.asarray(A[here, here]), np.asarray(B[here]), np.asarray(C[:, here])) for here in places]


def _root(gramian: Array) -> Array:
    """L with L L' = the matrix, which rounding may have made indefinite."""
    values, vectors = np.linalg.eigh((gramian + gramian.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _named(model: StateSpace, A: Array, B: Array, C: Array, D: Array, word: str) -> StateSpace:
    pass

    states = tuple(Signal(f"{word}[{k + 1}]", "1") for k in range(len(A)))
    return replace(model, A=A, B=B, C=C, D=D, states=states, made_from=None)


@dataclass(frozen=True)
class Signal:
    """A state, an input or an output: its name and its unit."""

    name: str
    unit: str

    def __str__(self) -> str:
        return self.name if self.unit in ("", "1") else f"{self.name} ({self.unit})"


@dataclass(frozen=True, eq=False)
class StateSpace:
    """dx/dt = A x + B u, y = C x + D u of small motions about a state; with `dt`, x[k+1] = A x[k] + B u[k].

    states, inputs, outputs: signals with names and units. Poles and zeros are in rad/s, frequencies in Hz.
    at: the coordinates about which it holds, by name; speeds: their rates, where they move; held: what actuators give
    there; outputs_at: what outputs are there, all by name.
    made_from: the equations of second order, where nothing but forces drives the robot; zeros are found from these.
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
        """The part to one output from one input: `lin["tip.y", "upper"]`."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{shown(pair)}: give (output, input), as in lin['tip.y', 'upper']")
        return self.part([pair[0]], [pair[1]])

    def part(self, outputs: Sequence[str] | None = None, inputs: Sequence[str] | None = None) -> StateSpace:
        """The model of some outputs and inputs, by name; all unless given."""
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
    def _places(kind: str, signals: tuple[Signal, ...], wanted: Sequence[str] | None) -> list[int]:
        names = [each.name for each in signals]
        if wanted is None:
            return list(range(len(names)))
        for each in [wanted] if isinstance(wanted, str) else wanted:
            if each not in names:
                raise KeyError(f"there is no {kind} {shown(each)}{suggestion(each, names)}")
        return [names.index(each) for each in ([wanted] if isinstance(wanted, str) else wanted)]

    # --- poles, zeros, responses ---

    @property
    def poles(self) -> Array:
        """Eigenvalues of A (rad/s), the slowest first; of a sampled model in the z plane."""
        return transfer.poles(self.A)

    @property
    def zeros(self) -> Array:
        """Where inputs do not come through (rad/s): transmission zeros, of as many outputs as inputs."""
        return transfer.zeros(self.A, self.B, self.C, self.D, self.made_from)

    def frf(self, f: Any) -> Array:
        """Frequency response (len(f), outputs, inputs) at frequencies f (Hz), complex; (outputs, inputs) at one."""
        given = real_array("f", f)
        response = transfer.response(self, np.atleast_1d(given).ravel())
        return response[0] if given.ndim == 0 else response

    @property
    def dc_gain(self) -> Array:
        """(outputs, inputs): what constant inputs lead to; infinite where a rigid motion runs away."""
        return transfer.dc_gain(self)

    def step(self, t: Any = None, output: str | None = None, input: str | None = None) -> tuple[Array, Array]:
        """Times `t` (s; chosen unless given) and outputs (len(t), outputs, inputs) after a unit step of each input, or
        of one `input` at one `output`."""
        return transfer.forced(self.part(output and [output], input and [input]), t, transfer.STEP)

    def impulse(self, t: Any = None, output: str | None = None, input: str | None = None) -> tuple[Array, Array]:
        """The same after a unit impulse: times `t`, all signals or one `input` and one `output`. (Of an output that
        answers at once, D, what follows the impulse itself.)"""
        return transfer.forced(self.part(output and [output], input and [input]), t, transfer.IMPULSE)

    # --- other models ---

    def reduce(self, order: int, method: Literal["modal", "balanced"] = "modal") -> StateSpace:
        """A model of `order` states by a `method`: the slowest modes, what the others do at rest kept ("modal"), or
        those that matter most between inputs and outputs ("balanced"; motions that do not decay are kept whole)."""
        if self.dt is not None:
            raise ValueError("reduce: is for models in continuous time; reduce first, then sample with discrete(dt)")
        return reduced(self, order, method)

    def discrete(self, dt: float) -> StateSpace:
        """The same sampled every `dt` (s), inputs held in between: exact at the samples."""
        if self.dt is not None:
            raise ValueError(f"discrete: the model is sampled already, every {self.dt:g} s")
        real_number("dt", dt, "s", above=0)
        A, B = transfer.held_inputs(self.A, self.B, float(dt))
        return replace(self, A=A, B=B, dt=float(dt), made_from=None)

    def to_scipy(self) -> Any:
        """As scipy.signal.StateSpace (which has no names)."""
        from scipy.signal import StateSpace as ScipyModel

        matrices = self.A, self.B, self.C, self.D
        return ScipyModel(*matrices) if self.dt is None else ScipyModel(*matrices, dt=self.dt)

    def to_control(self) -> Any:
        """As python-control's StateSpace, with the names of its signals (which cannot have dots there: `tip_y`)."""
        try:
            import control
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_control needs python-control: pip install 'control>=0.10.1'") from None
        names = {
            kind: [each.name.replace(".", "_") for each in getattr(self, kind)]
            for kind in ("states", "inputs", "outputs")
        }
        return control.ss(self.A, self.B, self.C, self.D, *([] if self.dt is None else [self.dt]), **names)

    # --- figures ---

    def bode(self, f: Any = None) -> Figure:
        """Magnitude and phase of every output over frequencies `f` (Hz; chosen unless given), a column an input."""
        from flexarm.plotting.frequency import bode_figure

        return bode_figure(self, f)

    def pole_zero_map(self) -> Figure:
        """Poles (crosses) and zeros (rings) in the complex plane."""
        from flexarm.plotting.frequency import pole_zero_figure

        return pole_zero_figure(self)
