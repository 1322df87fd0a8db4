"""Feedback: control laws traced into the compiled step, or called as digital controllers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from types import CellType, FunctionType
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.building import building
from flexarm.mechanics.system import System
from flexarm.motion.gains import Gains, checked_gains
from flexarm.motion.named import NamedSymbols, UnknownName, mismatch, named_array
from flexarm.motion.outlook import Outlook, calm
from flexarm.motion.probing import probed
from flexarm.motion.profiles import Profile
from flexarm.motion.tracing import Channel, tracing

AWAY_OUT = "give it a sample rate, then it is called as it is: fa.Feedback(law, rate=1000)"


@dataclass(frozen=True)
class Feedback:
    """A control law: torques of all actuators from (t, q, v), or with `gains` from (t, q, v, gains).

    law: returns a torque for each actuator, in order or by link name. q and v can be read by place or by name,
        `q["fore.q"]`. Any callable: a function, a method, an object, a `functools.partial`.
    rate: without it the law is traced into the compiled step, anew for each run (plain arithmetic, numpy functions and
        profiles). With it (Hz) the law is called as a digital controller, its output held until the next sample; then
        it may be any Python function. It is called as it is: what it remembers goes on from run to run.
    limit: saturates torques (N m or N): one number for all, one for each actuator, or by link name.
    gains: numbers, or lists of numbers, by name, which the law reads as `gains["kp"]`. They are inputs of the compiled
        step, as the limits are: other values compile nothing new.

    >>> def law(t, q, v, gains):
    ...     return [-gains["kp"] * q[0] - gains["kd"] * v[0]]
    >>> Feedback(law, gains={"kp": 20.0, "kd": 2.0}).gains
    {'kp': 20.0, 'kd': 2.0}
    """

    law: Callable[..., Any]
    rate: float | None = None
    limit: float | Sequence[float] | Mapping[str, float] | None = None
    gains: Mapping[str, float | Sequence[float] | Array] | None = None

    def __post_init__(self) -> None:
        if self.gains is not None:
            object.__setattr__(self, "gains", checked_gains(self.gains))
        _require_law(self.law, "Feedback: law", self.gains)
        if self.rate is not None:
            real_number("Feedback: rate", self.rate, "Hz", above=0)
        if isinstance(self.limit, (Mapping, list, tuple)) and not self.limit:
            raise ValueError(f"Feedback: limit = {shown(self.limit)}: is empty; leave it out for no limit")
        if isinstance(self.limit, Mapping):
            for name, value in self.limit.items():
                real_number(f"Feedback: limit['{name}']", value, "N m or N", above=0)
        elif np.ndim(self.limit):  # type: ignore[arg-type]
            if not (real_array("Feedback: limit", self.limit) > 0).all():
                raise ValueError(f"Feedback: limit = {shown(self.limit)}: must be positive (N m or N)")
        elif self.limit is not None:
            real_number("Feedback: limit", self.limit, "N m or N", above=0)
        object.__setattr__(self, "limit", deepcopy(self.limit))  # what happens to a list later does not matter here

    def limits(self, system: System) -> Array:
        """The largest torque of each actuator of a `system`."""
        if self.limit is None:
            return np.full(system.nu, np.inf)
        if isinstance(self.limit, Mapping):
            return _by_link(self.limit, system, "Feedback: limit", np.inf)
        given = real_array("Feedback: limit", self.limit)
        if given.shape not in ((), (system.nu,)):
            raise ValueError(
                f"Feedback: limit = {shown(self.limit)}: give one number, or one for each of {', '.join(system.inputs)}"
            )
        return np.broadcast_to(given, (system.nu,))


def feedback_of(torque: Any) -> Feedback | None:
    """The feedback that `torque=` asks for, if it does."""
    if isinstance(torque, Feedback):
        return torque
    if callable(torque) and not isinstance(torque, Profile):
        _require_law(torque, "torque")
        return Feedback(torque)
    return None


def _require_law(law: Any, where: str, gains: Mapping[str, Any] | None = None) -> None:
    given = () if gains is None else (gains,)
    wanted = "(t, q, v)" if gains is None else "(t, q, v, gains)"
    if not callable(law):
        raise TypeError(f"{where} = {shown(law)}: must be a function of {wanted}")
    if wrong := mismatch(law, *given):
        if gains is not None:
            hint = "read gains['kp'] in it, or leave gains out"
        elif not mismatch(law, {}):
            hint = "if that is for its gains, give them: fa.Feedback(law, gains={'kp': 20.0})"
        else:
            hint = "give functions of t by link name"
        raise TypeError(f"{where} = {shown(law)}: a function for all actuators must take {wanted}, but {wrong}; {hint}")
    if gains is not None and (name := _in_the_place_of_gains(law)):
        raise TypeError(
            f"{where} = {shown(law)}: with gains it must take (t, q, v, gains), but its fourth argument, '{name}', is "
            f"for something else; read gains['{name}'] instead, or leave gains out"
        )


def _in_the_place_of_gains(law: Any) -> str:
    """`kp` of law(t, q, v, kp=20.0), which the mapping of all gains would replace."""
    try:
        parameters = [*inspect.signature(law).parameters.values()]
    except ValueError:  # a built-in does not tell
        return ""
    for fourth in parameters[3:4]:
        free = fourth.default is None or fourth.default is fourth.empty or isinstance(fourth.default, Mapping)
        if fourth.kind is fourth.POSITIONAL_OR_KEYWORD and not free:
            return fourth.name
    return ""


ELSEWHERE = (0.0, 0.37, -0.23)  # of what is large for each coordinate, and that a second: where a law is looked at
KINKS = {
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
    """A law as a CasADi function of (t, q, v, channels, parameters), the last of them its gains and limits. Each run
    makes its own: nothing that the law refers to is remembered beyond it.

    It is traced twice, however often it was found sound before: where a controller remembers something, its first
    answer is often that of one which does not (an integral is zero at first).
    """

    def __init__(self, feedback: Feedback, system: System) -> None:
        self.system, self._law = system, copied(feedback.law)
        self._gains = None if feedback.gains is None else Gains(feedback.gains)
        limits = feedback.limits(system)
        self._limited = np.flatnonzero(np.isfinite(limits)).tolist()
        gains = np.zeros(0) if self._gains is None else self._gains.numbers()
        self.parameters = np.concatenate([gains, limits[self._limited]])
        self.function, self.channels = self._trace()
        again, channels = self._trace()
        if channels != self.channels or self.function.serialize() != again.serialize():
            raise TypeError(
                "the feedback law gives something else each time it is called (it remembers something, or draws random "
                f"numbers), so it cannot be compiled; {AWAY_OUT}"
            )

    @cached_property
    def abrupt(self) -> bool:
        """Whether it has kinks: limits, np.where, np.abs and the like."""
        kinds = (self.function.instruction_id(k) for k in range(self.function.n_instructions()))
        return any(kind in KINKS for kind in kinds)

    @cached_property
    def reads(self) -> set[str]:
        """The coordinates on which it depends, or on whose rates."""
        with building:
            columns = {k for argument in (1, 2) for k in self.function.jac_sparsity(0, argument).get_triplet()[1]}
        return {self.system.names[k] for k in columns}

    @cached_property
    def identity(self) -> str:
        """All that the law is but for the values of its parameters and profiles, as text: what is compiled for it can
        be used again where this is the same."""
        return str(self.function.serialize())

    def torques(self, t: Array, q: Array, v: Array) -> Array:
        """Rows of torques at samples."""
        rows = [each(t) for each in self.channels]
        channels = np.reshape(rows, (len(rows), len(t)))
        found = self.function(t[None, :], q.T, v.T, channels, self.parameters)
        return np.asarray(found.full().T)

    def look(self, duration: float, q: Array, v: Array) -> Outlook:
        """How fast the law's own formula of t is, in a state and two others (where what is zero in the first is not):
        profiles in it tell of themselves."""
        with building:
            arguments = self.function.sx_in()
            steady = not ca.depends_on(self.function(*arguments), arguments[0])
        if steady:
            return calm()
        sizes = self.system.sizes
        states = [(q + share * sizes, v + share * sizes) for share in ELSEWHERE]

        def torques(t: Array) -> Array:
            every = (np.repeat(part[None, :], len(t), axis=0) for state in states for part in state)
            return np.hstack([self.torques(t, here, rates) for here, rates in zip(every, every, strict=True)])

        return probed(torques, 0.0, duration, np.zeros(self.system.nu * len(states)))

    def _trace(self) -> tuple[ca.Function, list[Channel]]:
        names = self.system.names
        t, q, v = ca.SX.sym("t"), ca.SX.sym("q", len(names)), ca.SX.sym("v", len(names))
        gains, numbers = (Gains({}) if self._gains is None else self._gains).symbols()
        try:
            with tracing(t, numbers, self.parameters[: numbers.numel()]) as trace:
                more = () if self._gains is None else (gains,)
                said = self._law(t, NamedSymbols(q, names), NamedSymbols(v, names), *more)
        except UnknownName as error:
            raise KeyError(f"the feedback law: {error.args[0]}") from None
        except Exception as error:
            raise TypeError(
                f"the feedback law cannot be traced ({_why(error)}); write it with plain arithmetic, numpy functions "
                f"and profiles of t, q, v, or {AWAY_OUT}"
            ) from error
        torques = ca.densify(_column(said, self.system))
        limits = ca.SX.sym("limits", len(self._limited))
        for place, k in enumerate(self._limited):
            torques[k] = ca.fmin(ca.fmax(torques[k], -limits[place]), limits[place])
        arguments = [t, q, v, ca.vertcat(ca.SX(0, 1), *trace.symbols), ca.vertcat(numbers, limits)]
        function = ca.Function("law", arguments, [torques], {"allow_free": True})
        if function.has_free():
            raise TypeError(
                f"the feedback law remembers what it was given before, so it cannot be compiled; {AWAY_OUT}"
            )
        if _has_nan(function):
            raise ValueError("the feedback law: there is a nan in it that depends on nothing")
        return function, trace.channels


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
    """The value itself where it holds something that cannot be copied, say a file."""
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
        return "it decides by `if`, `min`, `max` or `and` on t, q, v or gains: say np.where, np.minimum, np.maximum"
    if "to_int" in str(error):
        return "int() asks a symbol for its value; a number that decides which formula it is cannot be a gain"
    if "not iterable" in str(error):
        return "it takes a vector apart by `for` or `*`: read entries by place or by name, q[0]"
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"


def _has_nan(function: ca.Function) -> bool:
    constants = (k for k in range(function.n_instructions()) if function.instruction_id(k) == ca.OP_CONST)
    return any(np.isnan(function.instruction_constant(k)) for k in constants)


class DigitalLaw:
    """A law that is called once a period with copies of the state; its torques are held until the next call."""

    def __init__(self, feedback: Feedback, system: System) -> None:
        assert feedback.rate is not None
        self.system, self.rate, self._law = system, float(feedback.rate), feedback.law
        self._gains = () if feedback.gains is None else (feedback.gains,)
        self._limits = feedback.limits(system)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Torques of all actuators; a ValueError where one is not a number."""
        names = self.system.names
        said = self._law(t, named_array(q, names), named_array(v, names), *self._gains)
        torques = np.clip(_vector(said, self.system), -self._limits, self._limits)
        if not np.isfinite(torques).all():
            wrong = int((~np.isfinite(torques)).argmax())
            raise ValueError(f"it gave {torques[wrong]} for '{self.system.inputs[wrong]}'")
        return np.asarray(torques)


@dataclass(frozen=True)
class Replay:
    """A digital controller that says again what another said: it may have a memory, so it is not asked again."""

    rate: float
    commands: list[tuple[float, Array]]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        spoken = min(round(t * self.rate), len(self.commands) - 1)
        return self.commands[spoken][1]


def _vector(said: Any, system: System) -> Array:
    if isinstance(said, Mapping):
        return _by_link(said, system, "its torque", 0.0)
    out = real_array("its torque", said).reshape(-1)
    if out.shape != (system.nu,):
        raise ValueError(_wrong_count(out.size, system))
    return out


def _column(said: Any, system: System) -> Any:
    if isinstance(said, Mapping):
        _require_links(said, system, "the feedback law")
        said = [said.get(name, 0.0) for name in system.inputs]
    try:
        column = ca.SX(ca.vertcat(*said) if isinstance(said, (list, tuple, np.ndarray)) else said)
    except Exception:  # CasADi's own words are a list of C++ prototypes
        raise TypeError(f"the feedback law gave {shown(said)}: must be a torque for each actuator") from None
    if column.shape != (system.nu, 1):
        raise ValueError(f"the feedback law: {_wrong_count(column.numel(), system)}")
    return column


def _wrong_count(count: int, system: System) -> str:
    return f"it gave {count} torques; there are {system.nu} actuators: {', '.join(system.inputs)}"


def _by_link(given: Mapping[str, Any], system: System, what: str, otherwise: float) -> Array:
    _require_links(given, system, what)
    values = [given.get(name, otherwise) for name in system.inputs]
    return np.array([np.inf if np.isposinf(x) else _number(x, f"{what}['{n}']") for n, x in zip(system.inputs, values)])


def _number(value: Any, where: str) -> float:
    return real_number(where, np.asarray(value, dtype=float).item() if np.size(value) == 1 else value)


def _require_links(given: Mapping[str, Any], system: System, what: str) -> None:
    for name in given:
        if name not in system.inputs:
            raise KeyError(f"{what}: there is no actuator at '{name}'{suggestion(name, system.inputs)}")
