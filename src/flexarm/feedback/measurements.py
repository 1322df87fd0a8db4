"""Measurements of a law: signals by name, references and its own states, the `x` of law(t, x)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.quantity_names import AXES, derivative, state_names
from flexarm.dynamics.system import System
from flexarm.feedback.outputs import Gains
from flexarm.feedback.signals import Output, Signals
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.named_arrays import NamedArray, NamedSymbols, UnknownName, named_array
from flexarm.foundation.validation import Array
from flexarm.profiles.profile import Profile

NO_STATES = Gains({}, "state")


class Unreadable(ValueError):
    """A signal that there is, but that a law cannot read."""


class LawView(ABC):
    """Signals by name, `x["fore.q"]`, `x["fore.q'"]`, `x["tip.y"]`, `x["fore.strain(0.1)"]`: outputs of `fa.linearize`.

    `x.tip` is the position of the last link's tip, `x.q` and `x.v` are all coordinates and rates, by index or by name.
    """

    period: float | None = None
    """Time from one call to the next (s) of a law with a sample rate; None of a law that is compiled."""

    def __init__(self, t: Any, references: Mapping[str, Profile], states: Gains) -> None:
        self._t, self._references, self._states = t, references, states

    @abstractmethod
    def __getitem__(self, name: str) -> Any:
        """A signal by name."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """Links whose joints have actuators, in the order of torques."""

    @property
    @abstractmethod
    def q(self) -> Any:
        """All coordinates, by index or by name."""

    @property
    @abstractmethod
    def v(self) -> Any:
        """Rates of all coordinates."""

    @property
    @abstractmethod
    def tip(self) -> Any:
        """Position of the last link's tip (m), in world axes."""

    def reference(self, name: str, order: int = 0) -> Any:
        """Return the present value of a reference, or of its first or second derivative."""
        if _text(name) not in self._references:
            known = list(self._references)
            raise UnknownName(f"there is no reference {shown(name)}{suggestion(_text(name), known)}")
        return self._references[name](self._t, order)

    def state(self, name: str) -> Any:
        """A state of the law's own, by its name in `Feedback(states={name: start})`."""
        return self._states[_text(name)]


class TracedView(LawView):
    """Measurements as symbols; `places` are the values of symbols for places on links."""

    def __init__(
        self, t: Any, system: System, references: Mapping[str, Profile], states: Gains, state: tuple[Any, Any]
    ) -> None:
        """`state`: symbols for q and v, which stand for those of the system's equations."""
        super().__init__(t, references, states)
        self._system, self._state, self._known = system, state, dict[str, Any]()
        self.places: list[float] = []
        self.symbols: list[Any] = []

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._system.inputs

    @property
    def q(self) -> NamedSymbols:
        return NamedSymbols(self._state[0], self._system.names)

    @property
    def v(self) -> NamedSymbols:
        return NamedSymbols(self._state[1], self._system.names)

    @property
    def tip(self) -> NamedSymbols:
        return NamedSymbols(ca.vertcat(*(self[f"tip.{axis}"] for axis in AXES)), AXES)

    def __getitem__(self, name: str) -> Any:
        if _text(name) not in self._known:
            try:
                self._known[name] = self._expression(_output(Signals(self._system, {}, self._stand_in), name))
            except ValueError as error:  # a place beside its link, a gauge on an axis
                raise Unreadable(str(error)) from None
        return self._known[name]

    def _expression(self, output: Output) -> Any:
        if output.path is None or output.order > 1:
            what = "slides through its joint" if "strain" in output.name else "depends on accelerations"
            raise ValueError(
                f"'{output.name}' {what}, so a compiled law cannot read it; give it a sample rate, then it reads what "
                "is there: fa.Feedback(law, rate=1000)"
            )
        equations = self._system.equations
        value = output.expression(equations)
        return ca.substitute(value, ca.vertcat(equations.q, equations.v), ca.vertcat(*self._state))

    def _stand_in(self, values: Array) -> Any:
        made = ca.SX.sym(f"place{len(self.symbols)}", len(values))
        self.places += [float(each) for each in values]
        self.symbols.append(made)
        return made


class Instant:
    """A robot at one moment, as numbers: what sensors and digital laws read."""

    def __init__(
        self,
        t: float,
        q: Array,
        v: Array,
        a: Array,
        loads: Callable[[float], Sequence[Any]] = lambda t: (),
        constraint_forces: Array | None = None,
    ) -> None:
        self.t, self.q, self.v, self.a = t, q, v, a
        self._loads, self.constraint_forces = loads, constraint_forces

    @cached_property
    def loads(self) -> Sequence[Any]:
        """Loads at this moment: link, place and components."""
        return self._loads(self.t)


class Reader:
    """Reads signals of a system at instants; functions are made once."""

    def __init__(self, system: System) -> None:
        self.system, self._signals = system, Signals(system)
        self._outputs: dict[str, Output] = {}
        self._functions: dict[str, ca.Function] = {}
        # coordinates and their rates are read as they stand: a call of a function takes much longer
        self._coordinates = state_names(system.names)

    @property
    def names(self) -> list[str]:
        """Names of outputs that are suggested for unknown ones."""
        return self._signals.output_names

    def has(self, name: str) -> bool:
        """Return True if there is an output of this name."""
        return self._signals.find(name) is not None

    def require(self, name: str) -> Output:
        """Return the output of this name; raise UnknownName if there is none."""
        if name not in self._outputs:
            self._outputs[name] = _output(self._signals, name)
        return self._outputs[name]

    def __call__(self, name: str, at: Instant) -> float:
        if (found := self._coordinates.get(name)) is not None:
            return float(getattr(at, found[0])[found[1]])
        output = self.require(name)
        if output.path is not None:
            return float(self._function(output)(at.q, at.v, at.a, self.system.numbers))
        if output.row is not None:
            assert at.constraint_forces is not None
            return float(at.constraint_forces[output.row])
        assert output.read is not None
        return float(output.read(at.q, at.v, at.a, at.loads, at.constraint_forces))

    def _function(self, output: Output) -> ca.Function:
        if output.name not in self._functions:
            with building:
                e = self.system.equations
                self._functions[output.name] = ca.Function("signal", [e.q, e.v, e.a, e.p], [output.expression(e)])
        return self._functions[output.name]


class SampledView(LawView):
    """Measurements as numbers at one time; `sensed` are readings of sensors by name and by kind."""

    def __init__(
        self,
        at: Instant,
        reader: Reader,
        references: Mapping[str, Profile],
        states: Gains,
        sensed: Mapping[Hashable, float],
        period: float,
        looked: set[Hashable],
    ) -> None:
        """`looked`: at which of `sensed` the law has looked so far; what it looks at here is put in."""
        super().__init__(at.t, references, states)
        self._at, self._reader, self._sensed, self.period = at, reader, sensed, period
        self._looked = looked

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._reader.system.inputs

    @property
    def q(self) -> NamedArray:
        return self._vector(self._at.q, 0)

    @property
    def v(self) -> NamedArray:
        return self._vector(self._at.v, 1)

    def _vector(self, values: Array, order: int) -> NamedArray:
        names = self._reader.system.names
        out = named_array(values, names)
        for k, name in enumerate(names):
            if (signal := derivative(name, order)) in self._sensed:
                out[k] = self._shown(signal)
        return out

    @property
    def tip(self) -> NamedArray:
        return named_array(np.array([self[f"tip.{axis}"] for axis in AXES]), AXES)

    def __getitem__(self, name: str) -> float:
        if _text(name) in self._sensed:
            return self._shown(name)
        shown_as = self._reader.require(name).identity
        return self._shown(shown_as) if shown_as in self._sensed else self._reader(name, self._at)

    def _shown(self, key: Hashable) -> float:
        self._looked.add(key)
        return self._sensed[key]


def _output(signals: Signals, name: object) -> Output:
    try:
        return signals.output(_text(name))
    except KeyError as error:
        raise UnknownName(str(error.args[0]).removeprefix("outputs: ")) from None


def _text(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{shown(name)}: signals are read by name, x['fore.q']; x.q and x.v are vectors")
    return name
