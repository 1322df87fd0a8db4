"""The numbers of a robot: what goes into its functions, by name.

A robot's structure decides which numbers there are, and which entries of a matrix are zero or one by construction; all
others are symbols in every expression. This is the only way by which a number becomes part of one.

Symbols for the numbers of a robot, by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shorten
from flexarm.foundation.validation import Array

# Of the largest entry: what may stand where there is none by construction. A hundred modes leave 1e-8.
ROUNDING = 1e-4
ANOTHER = "the robot has another structure"
LONGEST = 100  # letters of a fact in a sentence


class Entry(NamedTuple):
    """A number, vector or matrix: `fixed` holds what is so by construction, and nan where there is a number."""

    name: str
    unit: str
    value: Array
    fixed: Array
    symmetric: bool
    powers: bool = False  # whether rows are the coefficients of powers of a coordinate from -1 to 1

    @property
    def free(self) -> Any:
        """Where the numbers stand; of a symmetric matrix in its lower half."""
        free = np.isnan(self.fixed)
        return free & _lower_half(len(free)) if self.symmetric else free

    @property
    def names(self) -> list[str]:
        return [self.place(index) for index in np.argwhere(self.free)]

    def place(self, index: Any) -> str:
        """The name of one number: `links.fore.K[1,1]`; of a vector as paths have it, `gravity.2`."""
        if self.value.size == 1:
            return self.name
        row, column = (int(k) for k in index)
        return f"{self.name}.{row}" if self.fixed.shape[1] == 1 else f"{self.name}[{row + 1},{column + 1}]"

    def symbol(self, column: Any) -> ca.SX:
        """The matrix with these symbols for its numbers."""
        place = np.full(self.fixed.shape, -1)  # of each entry among the symbols, then the constants; -1 for zeros
        free, known = self.free, ~np.isnan(self.fixed) & (self.fixed != 0)
        place[free] = np.arange(free.sum())
        if self.symmetric:
            place = np.maximum(place, place.T)
        place[known] = free.sum() + np.arange(known.sum())
        # at once: entry by entry it would take a time that grows with the square of their number
        cols, rows = np.nonzero(place.T >= 0)
        ends = np.searchsorted(cols, np.arange(self.fixed.shape[1] + 1))
        height, width = self.fixed.shape
        sparsity = ca.Sparsity(height, width, ends.tolist(), rows.tolist())
        values = ca.vertcat(ca.SX(column), ca.SX(ca.DM(self.fixed[known])))
        return ca.SX(sparsity, values[place[rows, cols].tolist()])


class Fact(NamedTuple):
    """What belongs to the structure and is no number: whether something is there, or of which kind it is."""

    where: str
    what: str
    value: object

    def difference(self, other: Fact) -> str:
        """How the same fact of another robot differs, in a sentence: `what` is a thing (has it or not) or a verb."""
        if self.value is True:
            return f"{self.where} has {self.what} here and none there"
        if self.value is False:
            article, _, thing = self.what.partition(" ")
            one = article in ("a", "an")
            return f"{self.where} has no {thing if one else self.what} here and {'one' if one else 'some'} there"
        here, there = (shorten(str(value), LONGEST) for value in (self.value, other.value))
        return f"{self.where} {self.what} {here} here and {there} there"


class Numbers:
    """Entries in order. Their structure is what they are without their values, and the facts."""

    def __init__(self, entries: Iterable[Entry] = (), facts: Iterable[Fact] = ()) -> None:
        self.entries: list[Entry] = []
        self.facts = list(facts)
        self._keys: list[tuple[object, ...]] = []  # of the entries: all but their values
        self._found: _Places | None = None
        for each in entries:
            self._append(each)

    def _append(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._keys.append((entry.name, entry.fixed.shape, entry.fixed.tobytes(), entry.symmetric))

    def fact(self, where: str, what: str, value: object) -> None:
        """Something that decides which expressions there are."""
        self.facts.append(Fact(where, what, value))

    def add(
        self,
        name: str,
        unit: str,
        value: Any,
        pattern: Any = None,
        symmetric: bool = False,
        ones: Any = None,
        powers: bool = False,
    ) -> None:
        """One more entry. `pattern`: where there are numbers, False where there is a zero by construction; `ones`:
        where there is 1 or -1 by construction."""
        matrix = np.array(value, dtype=float)
        matrix = matrix.reshape(-1, 1) if matrix.ndim < 2 else matrix
        if pattern is None and ones is None:
            self._append(Entry(name, unit, matrix, _all_free(*matrix.shape), symmetric))
            return
        there = True if pattern is None else np.asarray(pattern).reshape(matrix.shape)
        fixed = np.where(there, _all_free(*matrix.shape), 0.0)
        if ones is not None:
            fixed[ones] = np.sign(matrix[ones])
        self._append(Entry(name, unit, matrix, fixed, symmetric, powers))

    def include(self, others: Numbers) -> None:
        """All that another has, after what is here."""
        self.entries += others.entries
        self.facts += others.facts
        self._keys += others._keys

    def under(self, path: str) -> Numbers:
        """The same with a path before all names."""
        entries = (each._replace(name=f"{path}{each.name}") for each in self.entries)
        return Numbers(entries, (each._replace(where=f"{path}{each.where}") for each in self.facts))

    def add_given(self, name: str, unit: str, value: Any, symmetric: bool = False) -> None:
        """What a user gives entry by entry: a zero is none."""
        self.add(name, unit, value, np.asarray(value, dtype=float) != 0, symmetric)

    def add_directions(self, name: str, value: Any) -> None:
        """Unit vectors or a rotation: what is 0, 1 or -1 belongs to the structure."""
        matrix = np.asarray(value, dtype=float)
        matrix = matrix[:, None] if matrix.ndim == 1 else matrix
        whole = np.round(matrix)
        fixed = np.where(np.abs(matrix - whole) < 1e-15, whole + 0.0, np.nan)
        self._append(Entry(name, "1", matrix, fixed, False))

    def add_whole(self, name: str, value: Array) -> None:
        """What is a whole number by construction, and computed with rounding: nothing of it is a number."""
        self._append(Entry(name, "1", value, np.round(value) + 0.0, False))

    @property
    def structure(self) -> tuple[object, ...]:
        """All but the values."""
        return tuple(map(tuple, self.facts)), tuple(self._keys)

    @property
    def vector(self) -> Array:
        return self.vector_of(self)

    def vector_of(self, other: Numbers, same: bool = False) -> Array:
        """The numbers of another robot where this one has its own; a ValueError if it is not of this structure.

        What is zero there and a number here does not matter. `same`: it is known that the structures are the same.
        """
        if not same and other is not self and other.structure != self.structure:
            self.require_entries_of(other)
            self._require_patterns_of(other)
        values = _flat([each.value for each in other.entries])
        vector: Array = values[self._places.free]
        if not np.isfinite(vector).all():
            wrong = int((~np.isfinite(vector)).argmax())
            sentence = "must be finite; what it is made of is too large or too small"
            raise ValueError(f"the number {self.names[wrong]} is {vector[wrong]}: {sentence}")
        if (stray := self._places.stray(values)) is not None:
            raise ValueError(
                f"{self.entries[stray].name} cannot be computed: rounding stands in it where there is nothing by "
                "construction; take fewer modes, or a smaller tip mass of the basis"
            )
        return vector

    @property
    def _places(self) -> _Places:
        """Where numbers stand among all entries, one after the other; found once unless entries are added."""
        if self._found is None or self._found.count != len(self.entries):
            self._found = _Places(self.entries)
        return self._found

    def joined(self, others: Iterable[Numbers]) -> Numbers:
        """The same with numbers wherever one of the others has one: all of them are of this structure."""
        entries = list(self.entries)
        for other in others:
            self.require_entries_of(other)
            for k, (own, theirs) in enumerate(zip(entries, other.entries, strict=True)):
                fixed = np.where(own.fixed == theirs.fixed, own.fixed, np.nan)
                entries[k] = own._replace(fixed=fixed)
        return Numbers(entries, self.facts)

    def require_entries_of(self, other: Numbers) -> None:
        """A ValueError tells the first fact or entry in which another robot differs."""
        theirs = {(each.where, each.what): each for each in other.facts}
        for fact in self.facts:
            found = theirs.get((fact.where, fact.what))
            if found is not None and found.value != fact.value:
                raise ValueError(f"{ANOTHER}: {fact.difference(found)}")
        shapes, other_shapes = ({each.name: each.fixed.shape for each in one.entries} for one in (self, other))
        for name, shape in shapes.items():
            if name not in other_shapes:
                raise ValueError(f"{ANOTHER}: there is {name} here and not there")
            if shape != other_shapes[name]:
                here, there = (" x ".join(map(str, size)) for size in (shape, other_shapes[name]))
                raise ValueError(f"{ANOTHER}: {name} is {here} here and {there} there")
        for name in other_shapes:
            if name not in shapes:
                raise ValueError(f"{ANOTHER}: there is {name} there and not here")

    def _require_patterns_of(self, other: Numbers) -> None:
        """What is zero or one here by construction must be so there."""
        for own, given in zip(self.entries, other.entries, strict=True):
            wrong = ~np.isnan(own.fixed) & (own.fixed != given.fixed)
            if wrong.any():
                here, there = own.fixed[wrong][0], given.value[wrong][0]
                name = own.place(np.argwhere(wrong)[0])
                way = "" if here else "; a robot that has it takes one without it, not the other way round"
                raise ValueError(f"{ANOTHER}: {name} is {here:g} here by construction and {there:.6g} there{way}")

    def erased(self) -> Numbers:
        """The same without values."""
        return Numbers((each._replace(value=np.full_like(each.value, np.nan)) for each in self.entries), self.facts)

    @property
    def names(self) -> list[str]:
        """Of every number in the vector."""
        return [name for each in self.entries for name in each.names]

    @property
    def units(self) -> list[str]:
        return [each.unit for each in self.entries for _ in each.names]


class _Places:
    """Of the entries of some numbers, as one column: which are numbers, and what the others are by construction."""

    def __init__(self, entries: list[Entry]) -> None:
        self.count = len(entries)
        self.free = np.flatnonzero(_flat([each.free for each in entries]))
        fixed = _flat([each.fixed for each in entries])
        self._known = np.flatnonzero(~np.isnan(fixed))
        self._fixed = fixed[self._known]
        sizes = np.array([each.fixed.size for each in entries], dtype=int)
        self._owner = np.repeat(np.arange(len(entries)), sizes)[self._known]
        self._filled = np.flatnonzero(sizes)
        self._starts = (np.cumsum(sizes) - sizes)[self._filled]

    def stray(self, values: Array) -> int | None:
        """The entry whose values are not what they are by construction, but for rounding; None if there is none."""
        if not len(self._known):
            return None
        scale = np.zeros(self.count)
        scale[self._filled] = np.maximum.reduceat(np.abs(values), self._starts)
        wrong = np.abs(values[self._known] - self._fixed) > ROUNDING * scale[self._owner]
        return int(self._owner[wrong.argmax()]) if wrong.any() else None


def _flat(matrices: list[Any]) -> Any:
    return np.concatenate([each.ravel() for each in matrices]) if matrices else np.zeros(0)


@lru_cache(maxsize=64)
def _all_free(rows: int, columns: int) -> Array:
    out = np.full((rows, columns), np.nan)
    out.setflags(write=False)
    return out


@lru_cache(maxsize=64)
def _lower_half(size: int) -> Any:
    return np.tril(np.ones((size, size), dtype=bool))


class ParameterSymbols:
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

    symbols: ParameterSymbols
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
