"""Gains of a law, which are inputs of the compiled step, and its outputs: torques, rates or next values of states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import casadi as ca
import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.named_arrays import NamedSymbols, UnknownName
from flexarm.foundation.validation import Array, real_array, real_number


class Gains(Mapping[str, Any]):
    """Read-only numbers and vectors by name; symbols while a law is traced."""

    __array_ufunc__ = None  # numpy would multiply by the list of names

    def __init__(self, values: Mapping[str, Any], kind: str = "gain") -> None:
        self._values, self._kind = dict(values), kind

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise UnknownName(f"there is no {self._kind} {shown(name)}{suggestion(name, list(self._values))}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return self.plain() == Gains(other).plain() if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __repr__(self) -> str:
        return repr(self.plain())

    def plain(self) -> dict[str, float | list[float]]:
        """Numbers and lists of numbers, as they may be written to a file."""
        return {name: _listed(value) for name, value in self._values.items()}

    def numbers(self) -> Array:
        """All values in one vector."""
        return np.concatenate([np.zeros(0), *(np.atleast_1d(value) for value in self._values.values())])

    def symbols(self) -> tuple[Gains, ca.SX]:
        """Return gains with symbols for numbers, and these symbols in the order of `numbers`."""
        each = {name: ca.SX.sym(name, np.size(value)) for name, value in self._values.items()}
        seen = {name: NamedSymbols(each[name], ()) if np.ndim(value) else each[name] for name, value in self.items()}
        return Gains(seen, self._kind), ca.vertcat(ca.SX(0, 1), *each.values())

    def like(self, row: Array) -> Gains:
        """Return gains with other numbers, given in the order of `numbers`."""
        ends = np.cumsum([np.size(value) for value in self._values.values()])[:-1]
        parts = np.split(np.asarray(row, dtype=float), ends) if self._values else []
        pairs = zip(self._values.items(), parts, strict=True)
        return Gains({name: part if np.ndim(old) else float(part[0]) for (name, old), part in pairs}, self._kind)

    @property
    def labels(self) -> list[str]:
        """A name for each number: `name`, or `name[1]`, `name[2]`, ... of a vector."""
        return [
            f"{name}[{k + 1}]" if np.ndim(value) else name
            for name, value in self._values.items()
            for k in range(np.size(value))
        ]


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def checked_gains(given: object, kind: str = "gain", like: str = "{'kp': 20.0}") -> Gains:
    """The gains (or states) that a user gives, as they are now; a sentence where one is no number."""
    where = f"Feedback: {kind}s"
    if not isinstance(given, Mapping):
        raise TypeError(f"{where} = {shown(given)}: must be a mapping of numbers by name, {like}")
    if not given:
        raise ValueError(f"{where} = {{}}: is empty; leave it out for a law without {kind}s")
    for name in given:
        if not isinstance(name, str) or not name:
            raise TypeError(f"{where}: {shown(name)}: the name of a {kind} must be text")
    return Gains({name: _checked(f"{where}['{name}']", value) for name, value in given.items()}, kind)


def _checked(where: str, value: Any) -> float | Array:
    if not isinstance(value, (list, tuple, np.ndarray)) or (isinstance(value, np.ndarray) and not value.ndim):
        return real_number(where, value.item() if isinstance(value, np.ndarray) else value)
    vector = real_array(where, value).copy()
    if vector.ndim != 1 or not vector.size:  # a traced matrix would answer K[0] with an entry, not with a row
        raise ValueError(f"{where} = {shown(value)}: must be a number or a list of numbers; give each row its own name")
    if not np.isfinite(vector).all():
        place = int((~np.isfinite(vector)).argmax())
        raise ValueError(f"{where}[{place}] = {shown(float(vector[place]))}: must be a finite number")
    vector.flags.writeable = False
    return vector


def split_output(output: Any, states: Gains | None, what: str) -> tuple[Any, Mapping[str, Any]]:
    """Split the output of a law into torques and its states by name; `what` names the latter in messages."""
    if states is None:
        return output, {}
    if not (isinstance(output, (tuple, list)) and len(output) == 2 and isinstance(output[1], Mapping)):
        first = next(iter(states))
        raise TypeError(
            f"it gave {shown(output)}: a law with states returns torques and the {what} of its states by name, "
            f"torques, {{'{first}': ...}}"
        )
    torques, state_output = output
    for name in state_output:
        if name not in states:
            raise KeyError(f"it has no state '{name}'{suggestion(name, list(states))}")
    if missing := [name for name in states if name not in state_output]:
        raise ValueError(f"it returned no {what} of '{missing[0]}'; all states need them")
    return torques, state_output


def column(output: Any, system: System) -> Any:
    """Torques as symbols."""
    if isinstance(output, Mapping):
        require_links(output, system, "the feedback law")
        output = [output.get(name, 0.0) for name in system.inputs]
    try:
        found = ca.SX(ca.vertcat(*output) if isinstance(output, (list, tuple, np.ndarray)) else output)
    except Exception:  # CasADi's own words are a list of C++ prototypes
        raise TypeError(f"the feedback law gave {shown(output)}: must be a torque for each actuator") from None
    if found.shape != (system.nu, 1):
        raise ValueError(f"the feedback law: {_wrong_count(found.numel(), system)}")
    return found


def state_column(state_output: Mapping[str, Any], states: Gains | None) -> Any:
    """Return the states in the output of a law as a column of symbols."""
    parts = [ca.SX(0, 1)]
    for name, start in (states or {}).items():
        given = state_output[name]
        try:
            part = ca.SX(ca.vertcat(*given) if isinstance(given, (list, tuple, np.ndarray)) else given)
        except Exception:
            raise TypeError(f"the rate of the state '{name}' is {shown(given)}: must be numbers") from None
        part = part.T if part.is_row() else part
        if part.shape != (np.size(start), 1):
            raise ValueError(f"the rate of the state '{name}' has {part.numel()} entries, the state {np.size(start)}")
        parts.append(part)
    return ca.vertcat(*parts)


def vector(output: Any, system: System) -> Array:
    """Torques as numbers."""
    if isinstance(output, Mapping):
        return by_link(output, system, "its torque", 0.0)
    out = real_array("its torque", output).reshape(-1)
    if out.shape != (system.nu,):
        raise ValueError(_wrong_count(out.size, system))
    return out


def state_values(state_output: Mapping[str, Any], states: Gains) -> Gains:
    """Return the states in the output of a law as numbers."""
    found: dict[str, Any] = {}
    for name, start in states.items():
        given = np.array(real_array(f"the state '{name}'", state_output[name]), dtype=float)
        if given.size != np.size(start):
            raise ValueError(f"the state '{name}' got {given.size} entries, it has {np.size(start)}")
        if not np.isfinite(given).all():
            raise ValueError(f"the state '{name}' became {given.ravel()[~np.isfinite(given.ravel())][0]}")
        found[name] = given.reshape(-1) if np.ndim(start) else float(given.reshape(()))
    return Gains(found, "state")


def by_link(given: Mapping[str, Any], system: System, what: str, otherwise: float) -> Array:
    require_links(given, system, what)
    values = [given.get(name, otherwise) for name in system.inputs]
    return np.array([np.inf if np.isposinf(x) else _number(x, f"{what}['{n}']") for n, x in zip(system.inputs, values)])


def require_links(given: Mapping[str, Any], system: System, what: str) -> None:
    for name in given:
        system.require_input(name, what)


def _wrong_count(count: int, system: System) -> str:
    return f"it gave {count} torques; there are {system.nu} actuators: {', '.join(system.inputs)}"


def _number(value: Any, where: str) -> float:
    return real_number(where, np.asarray(value, dtype=float).item() if np.size(value) == 1 else value)
