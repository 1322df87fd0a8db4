"""Symbols for the numbers of a robot, by name."""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexarm.foundation.dataclass import dataclass
from flexarm.mechanics.numbers import Numbers


class Symbols:
    """The entries of some numbers as matrices of symbols, by name."""

    def __init__(self, numbers: Numbers, name: str = "numbers") -> None:
        counts = [int(each.free.sum()) for each in numbers.entries]
        self.column = ca.SX.sym(name, sum(counts))
        self._found: dict[str, ca.SX] = {}
        start = 0
        for each, count in zip(numbers.entries, counts, strict=True):
            self._found[each.name] = each.symbol(
                self.column[start : start + count, 0]
            )  # without the 0, none of one is a row
            start += count

    def __getitem__(self, name: str) -> ca.SX:
        return self._found[name]

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def find(self, name: str) -> ca.SX | None:
        return self._found.get(name)

    def under(self, path: str) -> SymbolsUnder:
        return SymbolsUnder(self, path)


@dataclass(frozen=True)
class SymbolsUnder:
    """Those whose names begin with a path."""

    symbols: Symbols
    path: str

    def __getitem__(self, name: str) -> ca.SX:
        return self.symbols[f"{self.path}.{name}"]

    def __contains__(self, name: str) -> bool:
        return f"{self.path}.{name}" in self.symbols

    def find(self, name: str) -> ca.SX | None:
        return self.symbols.find(f"{self.path}.{name}")

    def get(self, name: str, otherwise: float) -> Any:
        found = self.find(name)
        return otherwise if found is None else found

    def under(self, path: str) -> SymbolsUnder:
        return SymbolsUnder(self.symbols, f"{self.path}.{path}")
