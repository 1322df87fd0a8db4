"""Traced laws: CasADi functions of time, signals, parameters and states that are part of the compiled step."""

from __future__ import annotations

from copy import deepcopy
from functools import cached_property, partial
from types import CellType, FunctionType
from typing import Any

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import AWAY_OUT, Feedback, law_name, takes_view
from flexarm.feedback.measurements import NO_STATES, TracedView, Unreadable
from flexarm.feedback.outputs import Gains, column, require_links, split_output, state_column
from flexarm.foundation.named_arrays import NamedSymbols, UnknownName
from flexarm.foundation.validation import Array
from flexarm.profiles.bandwidth import Bandwidth, sampled_bandwidth, unlimited_bandwidth
from flexarm.profiles.tracing import Channel, tracing

PROBE_STATES = (0.0, 0.37, -0.23)  # of what is large for each coordinate, and that a second: where a law is looked at
KINK_OPERATIONS = {
    ca.OP_FMIN,
    ca.OP_FMAX,
    ca.OP_FABS,
    ca.OP_SIGN,
    ca.OP_IF_ELSE_ZERO,
    ca.OP_LT,
    ca.OP_LE,
    ca.OP_FLOOR,
    ca.OP_CEIL,
    ca.OP_FMOD,
}


class TracedLaw:
    """A law as a CasADi function of (t, q, v, channels, parameters, states, numbers of the robot, numbers of places)
    that gives torques and the rates of its states. Parameters are its gains and limits; states are its own, and those
    of actuators that have a lag. Each run makes its own: nothing that the law refers to is remembered beyond it.

    It is traced twice, however often it was found sound before: where a controller remembers something, its first
    answer is often that of one which does not (an integral is zero at first).
    """

    def __init__(self, feedback: Feedback, system: System) -> None:
        self.system, self._law, self._sees = system, copied(feedback.law), takes_view(feedback.law, feedback.gains)
        self._gains = None if feedback.gains is None else Gains(feedback.gains)
        self._own = None if feedback.states is None else Gains(feedback.states, "state")
        self._references = feedback.references or {}
        require_links(feedback.actuators or {}, system, "Feedback: actuators")
        self._motors = {name: each for name, each in (feedback.actuators or {}).items() if each.lag}
        limits = feedback.limits(system)
        self._limited = np.flatnonzero(np.isfinite(limits)).tolist()
        gains = np.zeros(0) if self._gains is None else self._gains.numbers()
        self.parameters = np.concatenate([gains, limits[self._limited]])
        self.states = [*(self._own or NO_STATES).labels, *(f"motor.{name}" for name in self._motors)]
        if twice := next((name for name in self.states if self.states.count(name) > 1), None):
            raise ValueError(f"Feedback: two of its states would be called '{twice}' in a run; give one another name")
        motors = np.array([each.start for each in self._motors.values()])
        self.start = np.concatenate([(self._own or NO_STATES).numbers(), motors])
        self.function, self.channels, self.places = self._trace()
        again, channels, _ = self._trace()
        if channels != self.channels or self.function.serialize() != again.serialize():
            raise TypeError(
                "the feedback law gives something else each time it is called (it remembers something, or draws random "
                f"numbers), so it cannot be compiled; {AWAY_OUT}"
            )

    @cached_property
    def abrupt(self) -> bool:
        """True if the law has kinks: limits, np.where, np.abs and the like."""
        return _has_kinks(self.function)

    @cached_property
    def abrupt_states(self) -> Array:
        """One for each state whose rate has kinks, zero for the others."""
        with building:
            arguments = self.function.sx_in()
            rates = self.function(*arguments)[1]
            each = [ca.Function("rate", arguments, [rates[k]]) for k in range(len(self.states))]
        return np.array([float(_has_kinks(one)) for one in each])

    @cached_property
    def reads(self) -> set[str]:
        """The coordinates on which it depends, or on whose rates."""
        with building:
            columns = {
                k
                for output in range(2)
                for argument in (1, 2)
                for k in self.function.jac_sparsity(output, argument).get_triplet()[1]
            }
        return {self.system.names[k] for k in columns}

    @cached_property
    def identity(self) -> str:
        """Text that identifies the law except for values of parameters and profiles."""
        return str(self.function.serialize())

    def torques(self, t: Array, q: Array, v: Array, states: Array) -> Array:
        """Rows of torques at samples."""
        return self.values(t, q, v, states)[:, : self.system.nu]

    def values(self, t: Array, q: Array, v: Array, states: Array) -> Array:
        """Rows of torques and of the rates of states at samples."""
        rows = [each(t) for each in self.channels]
        channels = np.reshape(rows, (len(rows), len(t)))
        numbers = (self.system.numbers, np.array(self.places))
        found = self.function(t[None, :], q.T, v.T, channels, self.parameters, states.T, *numbers)
        return np.asarray(np.vstack([each.full() for each in found]).T)

    def look(self, duration: float, q: Array, v: Array) -> Bandwidth:
        """Return the bandwidth of the law's own dependence on t, in a state and two others; profiles are excluded."""
        with building:
            arguments = self.function.sx_in()
            steady = not ca.depends_on(ca.vertcat(*self.function(*arguments)), arguments[0])
        if steady:
            return unlimited_bandwidth()
        sizes = self.system.sizes
        states = [(q + share * sizes, v + share * sizes) for share in PROBE_STATES]

        def torques(t: Array) -> Array:
            every = (np.repeat(part[None, :], len(t), axis=0) for state in states for part in state)
            own = np.repeat(self.start[None, :], len(t), axis=0)
            return np.hstack([self.torques(t, here, rates, own) for here, rates in zip(every, every, strict=True)])

        return sampled_bandwidth(torques, 0.0, duration, np.zeros(self.system.nu * len(states)))

    def _trace(self) -> tuple[ca.Function, list[Channel], list[float]]:
        equations, names = self.system.equations, self.system.names
        t, q, v = ca.SX.sym("t"), *map(_fresh, (equations.q, equations.v))
        gains, numbers = (Gains({}) if self._gains is None else self._gains).symbols()
        own, states = (self._own or NO_STATES).symbols()
        try:
            with tracing(t, numbers, self.parameters[: numbers.numel()]) as trace:
                view = TracedView(t, self.system, self._references, own, (q, v))
                seen = (view,) if self._sees else (NamedSymbols(q, names), NamedSymbols(v, names))
                more = () if self._gains is None else (gains,)
                answer = self._law(t, *seen, *more)
        except UnknownName as error:
            raise KeyError(f"the feedback law: {error.args[0]}") from None
        except Unreadable as error:
            raise ValueError(f"the feedback law: {error}") from None
        except Exception as error:
            raise TypeError(
                f"the feedback law '{law_name(self._law)}' cannot be traced ({_why(error)}); write it with plain "
                f"arithmetic, numpy functions and profiles of t, q, v, or {AWAY_OUT}"
            ) from error
        try:
            output, state_output = split_output(answer, self._own, "rates")
        except (TypeError, KeyError, ValueError) as error:
            raise type(error)(f"the feedback law: {error.args[0]}") from None
        torques = ca.densify(column(output, self.system))
        limits = ca.SX.sym("limits", len(self._limited))
        for place, k in enumerate(self._limited):
            torques[k] = ca.fmin(ca.fmax(torques[k], -limits[place]), limits[place])
        torques, motors, rates = self._through_motors(torques)
        places = ca.vertcat(ca.SX(0, 1), *view.symbols)
        arguments = [t, q, v, ca.vertcat(ca.SX(0, 1), *trace.symbols), ca.vertcat(numbers, limits)]
        arguments += [ca.vertcat(states, motors), equations.p, places]
        every = ca.densify(ca.vertcat(state_column(state_output, self._own), rates))
        function = ca.Function("law", arguments, [torques, every], {"allow_free": True})
        if function.has_free():
            raise TypeError(
                f"the feedback law remembers what it was given before, so it cannot be compiled; {AWAY_OUT}"
            )
        if _has_nan(function):
            raise ValueError("the feedback law: there is a nan in it that depends on nothing")
        return function, trace.channels, view.places

    def _through_motors(self, commands: Any) -> tuple[Any, Any, Any]:
        """Torques of actuators, some of which follow their commands with a lag; the states of these, and their
        rates."""
        symbols, rates = [ca.SX(0, 1)], [ca.SX(0, 1)]
        for name, motor in self._motors.items():
            k, torque = self.system.inputs.index(name), ca.SX.sym(f"motor_{name}")
            rates.append(motor.torque_rate(commands[k], torque))
            symbols.append(torque)
            commands[k] = torque
        return commands, ca.vertcat(*symbols), ca.vertcat(*rates)


def _fresh(symbols: Any) -> Any:
    """Others of the same names: what a law has kept of an earlier trace is found out by its own."""
    return ca.vertcat(ca.SX(0, 1), *(ca.SX.sym(each.name()) for each in symbols.elements()))


def copied(law: Any) -> Any:
    """A copy of a controller, or of what a function refers to, with a memory of its own (one that is traced would be
    filled with symbols)."""
    if isinstance(law, partial):
        named = {name: _copied_value(value) for name, value in law.keywords.items()}
        return partial(copied(law.func), *map(_copied_value, law.args), **named)
    if not isinstance(law, FunctionType):
        return _copied_value(law)
    cells = None if law.__closure__ is None else tuple(map(_copied_value, law.__closure__))
    defaults = None if law.__defaults__ is None else tuple(map(_copied_value, law.__defaults__))
    other = FunctionType(law.__code__, law.__globals__, law.__name__, defaults, cells)
    other.__kwdefaults__ = {name: _copied_value(value) for name, value in (law.__kwdefaults__ or {}).items()}
    return other


def _copied_value(value: Any) -> Any:
    """Return a copy of a value, or the value itself if it contains something that cannot be copied."""
    try:
        return CellType(deepcopy(value.cell_contents)) if isinstance(value, CellType) else deepcopy(value)
    except Exception:
        return value


def _why(error: Exception) -> str:
    if "'Profile'" in str(error):
        return "a profile is a function of time: write aim(t), not aim"
    if "'Gains'" in str(error):
        return "gains are read by name, gains['kp'], and cannot be changed"
    if "truth value" in str(error):
        return "it decides by `if`, `min`, `max` or `and` on t, q, v or gains: use np.where, np.minimum, np.maximum"
    if "needs the value of a symbol" in str(error) and "float(" in str(error):
        return "float(), or a function of `math`, needs the value of a symbol: use np.sin, not math.sin"
    if "to_int" in str(error):
        return "int() needs the value of a symbol; a number that decides which formula it is cannot be a gain"
    if "not iterable" in str(error):
        return "it takes a vector apart by `for` or `*`: read entries by place or by name, q[0]"
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"


def _has_kinks(function: ca.Function) -> bool:
    return any(function.instruction_id(k) in KINK_OPERATIONS for k in range(function.n_instructions()))


def _has_nan(function: ca.Function) -> bool:
    constants = (k for k in range(function.n_instructions()) if function.instruction_id(k) == ca.OP_CONST)
    return any(np.isnan(function.instruction_constant(k)) for k in constants)
