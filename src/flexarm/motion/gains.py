"""Numbers of a feedback law by name: inputs of the compiled step, so that other values compile nothing new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.motion.named import NamedSymbols, UnknownName


class Gains(Mapping[str, Any]):
    """By name a number or a vector, that nobody can change; while a law is traced, symbols."""

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
        """All of them in a row."""
        return np.concatenate([np.zeros(0), *(np.atleast_1d(value) for value in self._values.values())])

    def symbols(self) -> tuple[Gains, ca.SX]:
        """The same names with symbols for numbers, and these in the order of `numbers`."""
        each = {name: ca.SX.sym(name, np.size(value)) for name, value in self._values.items()}
        seen = {name: NamedSymbols(each[name], ()) if np.ndim(value) else each[name] for name, value in self.items()}
        return Gains(seen, self._kind), ca.vertcat(ca.SX(0, 1), *each.values())

    def like(self, row: Array) -> Gains:
        """The same names with other numbers, in the order of `numbers`."""
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
