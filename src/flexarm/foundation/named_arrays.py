"""Vectors of coordinates with entries by index or by name, as control laws and conditions receive them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.messages import suggestion
from flexarm.foundation.validation import Array


class UnknownName(KeyError):
    """Name of a coordinate or gain that does not exist."""


class NamedArray(np.ndarray[Any, np.dtype[np.float64]]):
    """Array whose entries can also be selected by name, `q["fore.q"]`."""

    names: tuple[str, ...] = ()

    def __array_finalize__(self, source: Any) -> None:
        self.names = ()  # results of computations do not inherit the names

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_index(key, self.names) if isinstance(key, str) else key)


class NamedSymbols(ca.SX):
    """Column of symbols whose entries can also be selected by name."""

    def __init__(self, symbols: Any, names: Sequence[str]) -> None:
        super().__init__(symbols)
        self.names = tuple(names)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a NumPy function to plain CasADi symbols, since CasADi does not handle its subclasses."""
        return function(*_plain(args), **_plain(kwargs))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc is np.matmul and method == "__call__" and not kwargs:
            return _product(*inputs)
        return getattr(ufunc, method)(*_plain(inputs), **_plain(kwargs))

    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self)

    def _changed_in_place(self, other: Any) -> Any:
        raise TypeError("what a law is given cannot be changed in place: write e = q - 1 instead of e -= 1")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = _changed_in_place

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_index(key, self.names) if isinstance(key, str) else key)


def call_error(function: Any, *more: Any) -> str:
    """Return why a function cannot be called with (t, q, v, *more); empty if it can or has no known signature."""
    try:
        inspect.signature(function).bind(0.0, (), (), *more)
    except TypeError as error:
        return str(error)
    except ValueError:
        pass
    return ""


def _product(first: Any, second: Any) -> Any:
    """Multiply like NumPy: the product of two vectors, also of a row of gains, is a scalar."""
    one, other = (ca.SX(each) if isinstance(each, ca.SX) else np.asarray(each, dtype=float) for each in (first, second))
    flat = [np.ndim(each) == 1 if isinstance(each, np.ndarray) else each.is_column() for each in (one, other)]
    if all(flat):
        return ca.dot(ca.SX(one), ca.SX(other))
    return ca.mtimes(ca.SX(one).T if flat[0] else ca.SX(one), ca.SX(other))


def _plain(value: Any) -> Any:
    if isinstance(value, NamedSymbols):
        return ca.SX(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(each) for each in value)
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, dict) else value


def named_array(values: Array, names: tuple[str, ...]) -> NamedArray:
    """Return a writable copy of values as an array with names."""
    out = np.array(values, dtype=float).view(NamedArray)
    out.names = names
    return out


def _index(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise UnknownName(f"there is no coordinate '{name}'{suggestion(name, names)}")
    return names.index(name)
