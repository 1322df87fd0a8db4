"""A linear model: matrices with the names and units of their states, inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.analysis import reduction, transfer
from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown, suggestion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    made_from: transfer.SecondOrder | None = field(default=None, repr=False)
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
        return reduction.reduced(self, order, method)

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
        from flexarm.show.frequency import bode

        return bode(self, f)

    def pole_zero_map(self) -> Figure:
        """Poles (crosses) and zeros (rings) in the complex plane."""
        from flexarm.show.frequency import pole_zero_map

        return pole_zero_map(self)
