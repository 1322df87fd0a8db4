"""Parameters of a robot by name, and symbols for them.

The structure of a robot decides which parameters exist and which entries of a matrix are zero or one by
construction; all others are symbols in every expression. Values enter expressions in no other way (docs/theory.md,
"Equations of motion").
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

# Rounding accepted where a value is fixed by construction, relative to the largest entry; 100 modes leave 1e-8.
ROUNDING_TOLERANCE = 1e-4
DIFFERENT_STRUCTURE = "the robot has another structure"
MAX_FACT_LENGTH = 100  # characters of a fact in a message


class Entry(NamedTuple):
    """Scalar, vector or matrix; `fixed` holds what is given by construction, nan where there is a parameter."""

    name: str
    unit: str
    value: Array
    fixed: Array
    symmetric: bool
    powers: bool = False  # rows are coefficients of powers of a coordinate from -1 to 1

    @property
    def free(self) -> Any:
        """Mask of the parameters; for a symmetric matrix, in its lower half only."""
        free = np.isnan(self.fixed)
        return free & _lower_half(len(free)) if self.symmetric else free

    @property
    def names(self) -> list[str]:
        """Names of the parameters in the entry."""
        return [self.place(index) for index in np.argwhere(self.free)]

    def place(self, index: Any) -> str:
        """Return the name of one parameter: `links.fore.K[1,1]`, or `gravity.2` for a vector."""
        if self.value.size == 1:
            return self.name
        row, column = (int(k) for k in index)
        return f"{self.name}.{row}" if self.fixed.shape[1] == 1 else f"{self.name}[{row + 1},{column + 1}]"

    def symbol(self, column: Any) -> ca.SX:
        """Return the matrix with the symbols of a column as parameters."""
        place = np.full(self.fixed.shape, -1)  # index among the symbols, then the constants; -1 for zeros
        free, constant = self.free, ~np.isnan(self.fixed) & (self.fixed != 0)
        place[free] = np.arange(free.sum())
        if self.symmetric:
            place = np.maximum(place, place.T)
        place[constant] = free.sum() + np.arange(constant.sum())
        # All at once: the time of an assignment entry by entry grows with the square of their number.
        cols, rows = np.nonzero(place.T >= 0)
        ends = np.searchsorted(cols, np.arange(self.fixed.shape[1] + 1))
        height, width = self.fixed.shape
        sparsity = ca.Sparsity(height, width, ends.tolist(), rows.tolist())
        values = ca.vertcat(ca.SX(column), ca.SX(ca.DM(self.fixed[constant])))
        return ca.SX(sparsity, values[place[rows, cols].tolist()])


class Fact(NamedTuple):
    """Part of a structure other than a parameter: presence or kind of something; `what` is a thing or a verb."""

    where: str
    what: str
    value: object

    def difference(self, other: Fact) -> str:
        """Return the difference from the same fact of another robot as a sentence."""
        if self.value is True:
            return f"{self.where} has {self.what} here and none there"
        if self.value is False:
            article, _, thing = self.what.partition(" ")
            one = article in ("a", "an")
            return f"{self.where} has no {thing if one else self.what} here and {'one' if one else 'some'} there"
        here, there = (shorten(str(value), MAX_FACT_LENGTH) for value in (self.value, other.value))
        return f"{self.where} {self.what} {here} here and {there} there"


class Parameters:
    """Ordered entries and facts of a robot; its structure is everything but the values."""

    def __init__(self, entries: Iterable[Entry] = (), facts: Iterable[Fact] = ()) -> None:
        self.entries: list[Entry] = []
        self.facts = list(facts)
        self._keys: list[tuple[object, ...]] = []  # entries without values
        self._found: _EntryLayout | None = None
        for each in entries:
            self._append(each)

    def _append(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._keys.append((entry.name, entry.fixed.shape, entry.fixed.tobytes(), entry.symmetric))

    def fact(self, where: str, what: str, value: object) -> None:
        """Add a fact that decides which expressions exist."""
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
        """Add an entry.

        Parameters
        ----------
        name, unit : str
            Name and unit.
        value : array_like
            Value; a vector is a column.
        pattern : array_like of bool, optional
            False where an entry is zero by construction; True everywhere by default.
        symmetric : bool, optional
            Use the lower half of a symmetric matrix.
        ones : array_like of bool, optional
            True where an entry is 1 or -1 by construction.
        powers : bool, optional
            Rows are coefficients of powers of a coordinate from -1 to 1.
        """
        matrix = np.array(value, dtype=float)
        matrix = matrix.reshape(-1, 1) if matrix.ndim < 2 else matrix
        if pattern is None and ones is None:
            self._append(Entry(name, unit, matrix, _all_free_pattern(*matrix.shape), symmetric))
            return
        there = True if pattern is None else np.asarray(pattern).reshape(matrix.shape)
        fixed = np.where(there, _all_free_pattern(*matrix.shape), 0.0)
        if ones is not None:
            fixed[ones] = np.sign(matrix[ones])
        self._append(Entry(name, unit, matrix, fixed, symmetric, powers))

    def include(self, others: Parameters) -> None:
        """Append all entries and facts of another set."""
        self.entries += others.entries
        self.facts += others.facts
        self._keys += others._keys

    def under(self, path: str) -> Parameters:
        """Return the same parameters with a path before all names."""
        entries = (each._replace(name=f"{path}{each.name}") for each in self.entries)
        return Parameters(entries, (each._replace(where=f"{path}{each.where}") for each in self.facts))

    def add_given(self, name: str, unit: str, value: Any, symmetric: bool = False) -> None:
        """Add values given by a user; zeros belong to the structure."""
        self.add(name, unit, value, np.asarray(value, dtype=float) != 0, symmetric)

    def add_directions(self, name: str, value: Any) -> None:
        """Add unit vectors or a rotation; entries 0, 1 and -1 belong to the structure."""
        matrix = np.asarray(value, dtype=float)
        matrix = matrix[:, None] if matrix.ndim == 1 else matrix
        whole = np.round(matrix)
        fixed = np.where(np.abs(matrix - whole) < 1e-15, whole + 0.0, np.nan)
        self._append(Entry(name, "1", matrix, fixed, False))

    def add_whole(self, name: str, value: Array) -> None:
        """Add whole numbers that were computed with rounding; all of them belong to the structure."""
        self._append(Entry(name, "1", value, np.round(value) + 0.0, False))

    @property
    def structure(self) -> tuple[object, ...]:
        """Facts, names and patterns of the entries, without values."""
        return tuple(map(tuple, self.facts)), tuple(self._keys)

    @property
    def vector(self) -> Array:
        """Values of all parameters."""
        return self.vector_of(self)

    def vector_of(self, other: Parameters, same: bool = False) -> Array:
        """Return the values of another set of parameters where this one has parameters.

        Parameters
        ----------
        other : Parameters
            Parameters of a robot; entries that are zero in its structure may be parameters in this one.
        same : bool, optional
            Skip the comparison of the structures, which are equal.

        Raises
        ------
        ValueError
            If the structures differ, or a value is not finite.
        """
        if not same and other is not self and other.structure != self.structure:
            self.require_entries_of(other)
            self._require_patterns_of(other)
        values = _flatten([each.value for each in other.entries])
        vector: Array = values[self._places.free]
        if not np.isfinite(vector).all():
            wrong = int((~np.isfinite(vector)).argmax())
            sentence = "must be finite; the values from which it is computed are too large or too small"
            raise ValueError(f"the number {self.names[wrong]} is {vector[wrong]}: {sentence}")
        if (stray := self._places.stray(values)) is not None:
            raise ValueError(
                f"{self.entries[stray].name} cannot be computed: rounding errors appear where it is zero by "
                "construction; take fewer modes, or a smaller tip mass of the basis"
            )
        return vector

    @property
    def _places(self) -> _EntryLayout:
        """Positions of the parameters among all entries, cached until entries are added."""
        if self._found is None or self._found.count != len(self.entries):
            self._found = _EntryLayout(self.entries)
        return self._found

    def joined(self, others: Iterable[Parameters]) -> Parameters:
        """Return parameters for every entry that is one here or in one of the others, which have the same entries."""
        entries = list(self.entries)
        for other in others:
            self.require_entries_of(other)
            for k, (own, theirs) in enumerate(zip(entries, other.entries, strict=True)):
                fixed = np.where(own.fixed == theirs.fixed, own.fixed, np.nan)
                entries[k] = own._replace(fixed=fixed)
        return Parameters(entries, self.facts)

    def require_entries_of(self, other: Parameters) -> None:
        """Raise a ValueError that names the first fact or entry in which another robot differs."""
        theirs = {(each.where, each.what): each for each in other.facts}
        for fact in self.facts:
            found = theirs.get((fact.where, fact.what))
            if found is not None and found.value != fact.value:
                raise ValueError(f"{DIFFERENT_STRUCTURE}: {fact.difference(found)}")
        shapes, other_shapes = ({each.name: each.fixed.shape for each in one.entries} for one in (self, other))
        for name, shape in shapes.items():
            if name not in other_shapes:
                raise ValueError(f"{DIFFERENT_STRUCTURE}: there is {name} here and not there")
            if shape != other_shapes[name]:
                here, there = (" x ".join(map(str, size)) for size in (shape, other_shapes[name]))
                raise ValueError(f"{DIFFERENT_STRUCTURE}: {name} is {here} here and {there} there")
        for name in other_shapes:
            if name not in shapes:
                raise ValueError(f"{DIFFERENT_STRUCTURE}: there is {name} there and not here")

    def _require_patterns_of(self, other: Parameters) -> None:
        """Raise a ValueError if what is zero or one here by construction is not so in the other robot."""
        for own, given in zip(self.entries, other.entries, strict=True):
            wrong = ~np.isnan(own.fixed) & (own.fixed != given.fixed)
            if wrong.any():
                here, there = own.fixed[wrong][0], given.value[wrong][0]
                name = own.place(np.argwhere(wrong)[0])
                way = "" if here else "; a robot that has it takes one without it, not the other way round"
                raise ValueError(
                    f"{DIFFERENT_STRUCTURE}: {name} is {here:g} here by construction and {there:.6g} there{way}"
                )

    def erased(self) -> Parameters:
        """Return the parameters without values."""
        return Parameters((each._replace(value=np.full_like(each.value, np.nan)) for each in self.entries), self.facts)

    @property
    def names(self) -> list[str]:
        """Names of the parameters in the vector."""
        return [name for each in self.entries for name in each.names]

    @property
    def units(self) -> list[str]:
        """Units of the parameters in the vector."""
        return [each.unit for each in self.entries for _ in each.names]


class _EntryLayout:
    """Positions of parameters and of fixed values in the entries, flattened to one column."""

    def __init__(self, entries: list[Entry]) -> None:
        self.count = len(entries)
        self.free = np.flatnonzero(_flatten([each.free for each in entries]))
        fixed = _flatten([each.fixed for each in entries])
        self._constant = np.flatnonzero(~np.isnan(fixed))
        self._fixed = fixed[self._constant]
        sizes = np.array([each.fixed.size for each in entries], dtype=int)
        self._owner = np.repeat(np.arange(len(entries)), sizes)[self._constant]
        self._filled = np.flatnonzero(sizes)
        self._starts = (np.cumsum(sizes) - sizes)[self._filled]

    def stray(self, values: Array) -> int | None:
        """Return the index of the first entry that deviates from its fixed values by more than rounding, or None."""
        if not len(self._constant):
            return None
        scale = np.zeros(self.count)
        scale[self._filled] = np.maximum.reduceat(np.abs(values), self._starts)
        wrong = np.abs(values[self._constant] - self._fixed) > ROUNDING_TOLERANCE * scale[self._owner]
        return int(self._owner[wrong.argmax()]) if wrong.any() else None


def _flatten(matrices: list[Any]) -> Any:
    return np.concatenate([each.ravel() for each in matrices]) if matrices else np.zeros(0)


@lru_cache(maxsize=64)
def _all_free_pattern(rows: int, columns: int) -> Array:
    out = np.full((rows, columns), np.nan)
    out.setflags(write=False)
    return out


@lru_cache(maxsize=64)
def _lower_half(size: int) -> Any:
    return np.tril(np.ones((size, size), dtype=bool))


class ParameterSymbols:
    """Entries as matrices of symbols, by name."""

    def __init__(self, parameters: Parameters, name: str = "numbers") -> None:
        counts = [int(each.free.sum()) for each in parameters.entries]
        self.column = ca.SX.sym(name, sum(counts))
        self._found: dict[str, ca.SX] = {}
        start = 0
        for each, count in zip(parameters.entries, counts, strict=True):
            # Without the index 0, an empty slice would be a row.
            self._found[each.name] = each.symbol(self.column[start : start + count, 0])
            start += count

    def __getitem__(self, name: str) -> ca.SX:
        return self._found[name]

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def find(self, name: str) -> ca.SX | None:
        """Return the symbols of an entry, or None."""
        return self._found.get(name)

    def under(self, path: str) -> SymbolsUnder:
        return SymbolsUnder(self, path)


@dataclass(frozen=True)
class SymbolsUnder:
    """View of the symbols whose names begin with a path."""

    symbols: ParameterSymbols
    path: str

    def __getitem__(self, name: str) -> ca.SX:
        return self.symbols[f"{self.path}.{name}"]

    def __contains__(self, name: str) -> bool:
        return f"{self.path}.{name}" in self.symbols

    def find(self, name: str) -> ca.SX | None:
        return self.symbols.find(f"{self.path}.{name}")

    def get(self, name: str, otherwise: float) -> Any:
        """Return the symbols of an entry, or another value if it does not exist."""
        found = self.find(name)
        return otherwise if found is None else found

    def under(self, path: str) -> SymbolsUnder:
        return SymbolsUnder(self.symbols, f"{self.path}.{path}")
