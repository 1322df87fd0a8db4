"""Linear digital controllers as matrices, which the compiled integration loop evaluates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.codegen.sampler import CHANGE, READING, SIGNAL
from flexarm.dynamics.quantity_names import AXES, derivative, split_derivative
from flexarm.feedback.digital_law import DigitalLaw
from flexarm.feedback.measurements import NO_STATES, LawView, Reader
from flexarm.feedback.outputs import Gains, column, state_column
from flexarm.feedback.sensors import Senses, SensorChannel
from flexarm.foundation.named_arrays import NamedSymbols, UnknownName
from flexarm.foundation.validation import Array
from flexarm.profiles.tracing import silent_numpy_support

MOST_NUMBERS = 4_000_000  # in tables of references and noise


class NotLinear(Exception):
    """An expression that is not a linear function with limits."""


@dataclass
class LinearRows:
    """Linear functions of variables z and of w, w[i] = min(max(saturated[i] (z, w), lower[i]), upper[i]).

    Rows have an entry for each variable, then for each w, then a constant. That of w[i] has zeros from w[i] on.
    """

    rows: Array
    saturated: Array
    lower: Array
    upper: Array


@dataclass
class _Terms:
    """Coefficients of variables by their place, with the constant at -1; w[i] follow the variables."""

    terms: dict[int, float] = field(default_factory=dict)

    @property
    def constant(self) -> float:
        """The value; a `NotLinear` where it depends on variables."""
        if any(value for place, value in self.terms.items() if place >= 0):
            raise NotLinear
        return self.terms.get(-1, 0.0)

    @property
    def is_constant(self) -> bool:
        return not any(value for place, value in self.terms.items() if place >= 0)

    def plus(self, other: _Terms, factor: float = 1.0) -> _Terms:
        out = dict(self.terms)
        for place, value in other.terms.items():
            out[place] = out.get(place, 0.0) + factor * value
        return _Terms(out)

    def times(self, factor: float) -> _Terms:
        return _Terms({place: value * factor for place, value in self.terms.items()})


def linear_rows(expression: ca.SX, variables: ca.SX) -> LinearRows:
    """Return the coefficients of an expression that consists of sums, products with numbers and limits.

    Raises
    ------
    NotLinear
        If it has anything else in it.
    """
    function = ca.Function("rows", [variables], [ca.densify(expression)])
    reader, work = _TermReader(variables.numel()), dict[int, _Terms]()
    out = [_Terms() for _ in range(expression.numel())]
    for k in range(function.n_instructions()):
        operation, to = function.instruction_id(k), function.instruction_output(k)
        places = function.instruction_input(k)
        if operation == ca.OP_CONST:
            work[to[0]] = _Terms({-1: function.instruction_constant(k)})
        elif operation == ca.OP_INPUT:
            work[to[0]] = _Terms({places[1]: 1.0})
        elif operation == ca.OP_OUTPUT:
            out[to[1]] = work[places[0]]
        else:
            work[to[0]] = reader.apply(operation, [work[place] for place in places])
    width = reader.count + len(reader.limited) + 1
    saturated = np.array([_dense(value, width) for value, _, _ in reader.limited]).reshape(-1, width)
    lower, upper = (np.array([each[k] for each in reader.limited]) for k in (1, 2))
    return LinearRows(np.array([_dense(each, width) for each in out]).reshape(-1, width), saturated, lower, upper)


class _TermReader:
    """Applies operations to linear functions of so many variables; `limited` are those that were limited."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.limited: list[tuple[_Terms, float, float]] = []

    def apply(self, operation: int, given: list[_Terms]) -> _Terms:
        """Return the linear function that an operation makes of others; raise NotLinear if it makes none."""
        if operation in (ca.OP_ADD, ca.OP_SUB):
            return given[0].plus(given[1], 1.0 if operation == ca.OP_ADD else -1.0)
        if operation == ca.OP_DIV:
            return given[0].times(1 / given[1].constant)
        if operation in (ca.OP_NEG, ca.OP_TWICE):
            return given[0].times(-1.0 if operation == ca.OP_NEG else 2.0)
        if operation not in (ca.OP_MUL, ca.OP_FMIN, ca.OP_FMAX):
            raise NotLinear
        one, other = given if given[1].is_constant else given[::-1]
        if operation == ca.OP_MUL:
            return one.times(other.constant)
        bound = other.constant
        return self._limit(one, *((-np.inf, bound) if operation == ca.OP_FMIN else (bound, np.inf)))

    def _limit(self, value: _Terms, lower: float, upper: float) -> _Terms:
        if value.is_constant:
            return _Terms({-1: min(max(value.constant, lower), upper)})
        self.limited.append((value, lower, upper))
        return _Terms({self.count + len(self.limited) - 1: 1.0})


def _dense(value: _Terms, width: int) -> Array:
    row = np.zeros(width)
    for place, each in value.terms.items():
        row[place] = each
    return row


class _SymbolicSample(LawView):
    """Readings of a controller at one sample as symbols; those that it used are in `measured` and `references`."""

    def __init__(self, law: DigitalLaw, states: Gains) -> None:
        super().__init__(ca.SX.sym("t"), law.references, states)
        self.period = 1 / law.rate
        self._reader, self._sensed = law.reader, _readings(law.senses)
        self.measured: dict[Hashable, tuple[Any, tuple[int, Any]]] = {}  # symbols, and sources
        self.read: dict[tuple[str, int], Any] = {}
        self.looked: set[Hashable] = set()

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._reader.system.inputs

    @property
    def q(self) -> Any:
        return self._vector(0)

    @property
    def v(self) -> Any:
        return self._vector(1)

    @property
    def tip(self) -> Any:
        return NamedSymbols(ca.vertcat(*(self[f"tip.{axis}"] for axis in AXES)), AXES)

    def _vector(self, order: int) -> Any:
        names = self._reader.system.names
        return NamedSymbols(ca.vertcat(*(self[derivative(name, order)] for name in names)), names)

    def __getitem__(self, name: str) -> Any:
        key: Hashable = name
        if name not in self._sensed:
            key = self._reader.require(name).identity
        if key in self._sensed:
            self.looked.add(key)
            return self._measured(key, self._sensed[key])
        return self._measured(name, (SIGNAL, name))

    def _measured(self, key: Hashable, source: tuple[int, Any]) -> Any:
        if key not in self.measured:
            self.measured[key] = ca.SX.sym(f"y{len(self.measured)}"), source
        return self.measured[key][0]

    def reference(self, name: str, order: int = 0) -> Any:
        if name not in self._references:
            raise UnknownName(name)
        return self.read.setdefault((name, order), ca.SX.sym(f"r{len(self.read)}"))


def _readings(senses: Senses) -> dict[Hashable, tuple[int, int]]:
    """Return source and index of each sensor, by all names of its signal."""
    found: dict[Hashable, tuple[int, int]] = {}
    for k, (name, (what, order)) in enumerate(senses.signals.items()):
        found[name] = found[what, order] = READING, k
        if (what, order + 1) not in senses.signals.values():
            found[derivative(name)] = found[what, order + 1] = CHANGE, k
    return found


@dataclass(frozen=True)
class LinearSampler:
    """A linear controller as `codegen/sampler.c` evaluates it."""

    counts: Mapping[str, int]
    arrays: Mapping[str, Array]
    looked: frozenset[Hashable]  # sensors that it reads

    @staticmethod
    def of(law: DigitalLaw, samples: int) -> LinearSampler | None:
        """Return the matrices of a law for a number of samples; None if it can only be called.

        A law of the user may have a memory: only laws that are declared to have none are called with symbols.
        """
        if not getattr(law.law, "is_memoryless", False):
            return None
        try:
            with building, silent_numpy_support():
                return _linear_sampler(law, samples)
        except Exception:  # its error is raised where it is called
            return None


def _linear_sampler(law: DigitalLaw, samples: int) -> LinearSampler | None:
    states, symbols = (law.own or NO_STATES).symbols()
    view = _SymbolicSample(law, states)
    output, state_output = law.ask(ca.SX.sym("t"), view)
    sources = [source for _, source in view.measured.values()]
    sensors = list(law.senses.channels.values())
    if samples * (len(view.read) + len(sensors)) > MOST_NUMBERS:
        return None
    every = [*(symbol for symbol, _ in view.measured.values()), *view.read.values(), symbols]
    answers = ca.vertcat(column(output, law.system), state_column(state_output, law.own))
    found = linear_rows(answers, ca.vertcat(ca.SX(0, 1), *every))
    signals = [*dict.fromkeys([*law.senses.signals, *(place for source, place in sources if source == SIGNAL)])]
    outputs = [signal_row(law.reader, name) for name in signals]
    nu, motors, start = law.system.nu, law.motors, (law.own or NO_STATES).numbers()
    times = np.arange(samples) / law.rate
    z = len(sources) + len(view.read) + len(start)
    values = np.zeros(z + len(found.saturated) + len(signals))
    values[z - len(start) : z] = start
    counts = {
        "signals": len(signals),
        "channels": len(sensors),
        "measured": len(sources),
        "references": len(view.read),
        "states": len(start),
        "saturated": len(found.saturated),
        "command_line": max(motors.waits, default=0) + 1,
        "reading_line": max((each.delay for each in sensors), default=0) + 1,
    }
    arrays = {
        **_sensor_arrays(sensors, samples, counts["reading_line"]),
        "waits": np.array(motors.waits),
        "moves": motors.moves,
        "sources": np.array([source for source, _ in sources]),
        "places": np.array([signals.index(place) if source == SIGNAL else place for source, place in sources]),
        "first_torques": motors.start,
        "limits": law.limits,
        "signal_rows": np.array([row[:-1] for row in outputs]),
        "signal_offsets": np.array([row[-1] for row in outputs]),
        "reference_table": np.array([law.references[name].values(times, order) for name, order in view.read]).T,
        "saturated_rows": found.saturated,
        "lower": found.lower,
        "upper": found.upper,
        "command_rows": found.rows[:nu],
        "state_rows": found.rows[nu:],
        "values": values,
        "commands": np.zeros(nu),
        "next_states": np.zeros(len(start)),
        "command_lines": np.zeros((counts["command_line"], nu)),
    }
    if not all(np.isfinite(arrays[name]).all() for name in ("reference_table", "command_rows", "state_rows")):
        return None
    return LinearSampler(counts, arrays, frozenset(view.looked))


def _sensor_arrays(sensors: Sequence[SensorChannel], samples: int, line: int) -> dict[str, Array]:
    """Return the arrays of sensors; `line` is the number of readings that they keep."""
    return {
        "channel_signals": np.arange(len(sensors)),
        "channel_delays": np.array([each.delay for each in sensors]),
        "biases": np.array([each.sensor.bias for each in sensors]),
        "resolutions": np.array([each.sensor.resolution for each in sensors]),
        "noise": np.array([each.noise(samples) for each in sensors]).T,
        "readings": np.zeros(len(sensors)),
        "last_readings": np.zeros(len(sensors)),
        "lines": np.zeros((len(sensors), line)),
    }


def signal_row(reader: Reader, name: str) -> Array:
    """Return the coefficients of a signal in (q, v, 1); a `NotLinear` where it has none."""
    system = reader.system
    n, row = system.nq, np.zeros(2 * system.nq + 1)
    base, order = split_derivative(name)
    if base in system.names and order < 2:
        row[order * n + system.names.index(base)] = 1.0
        return row
    output = reader.require(name)
    if output.path is None or output.order > 1:
        raise NotLinear
    e = system.equations
    expression = ca.substitute(output.expression(e), e.p, ca.DM(system.numbers))
    found = linear_rows(ca.SX(expression), ca.vertcat(e.q, e.v))
    if len(found.saturated):
        raise NotLinear
    return np.asarray(found.rows[0])
