"""Validation of numbers and arrays given by users, with error messages that name the argument."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """Finite number in a unit, optionally bounded: above < value, least <= value <= most."""

    unit: str = ""
    above: float | None = None
    least: float | None = None
    most: float | None = None

    def check(self, value: object) -> float:
        """Return the value as a float, or raise a ValueError with the requirement."""
        number = real(value)
        if number is None:
            raise ValueError(f"must be a number{self._in_unit}, {_not_a_number(value)}")
        if not math.isfinite(number):
            raise ValueError(f"must be a finite number{self._in_unit}")
        if (
            (self.above is not None and not number > self.above)
            or (self.least is not None and not number >= self.least)
            or (self.most is not None and not number <= self.most)
        ):
            raise ValueError(f"must be {self._allowed}{self._in_unit}")
        return number

    @property
    def _in_unit(self) -> str:
        return f" ({self.unit})" if self.unit else ""

    @property
    def _allowed(self) -> str:
        if self.most is None and self.above == 0:
            return "positive"
        if self.most is None and self.least == 0:
            return "zero or positive"
        words = {"above": self.above, "at least": self.least, "at most": self.most}
        return " and ".join(f"{word} {bound:g}" for word, bound in words.items() if bound is not None)


def real_number(
    name: str,
    value: object,
    unit: str = "",
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
) -> float:
    """Return a finite number within bounds as a float, or raise a ValueError that names the argument.

    >>> real_number("length", "long", "m", above=0)
    Traceback (most recent call last):
    ValueError: length = 'long': must be a number (m), not text
    """
    try:
        return Bounds(unit, above, least, most).check(value)
    except ValueError as error:
        raise ValueError(f"{name} = {shown(value)}: {error}") from None


def whole_number(name: str, value: object, least: int = 0) -> int:
    """Return a whole number that is at least `least`, or raise a ValueError that names the argument.

    >>> whole_number("points", 2.5, least=1)
    Traceback (most recent call last):
    ValueError: points = 2.5: must be a whole number, at least 1
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} = {shown(value)}: must be a whole number, at least {least}")
    return int(value)


def real_array(name: str, values: Any) -> Array:
    """Return values as an array of floats, or raise a ValueError that names the argument.

    Text, booleans, complex numbers and ragged lists are refused.

    >>> real_array("q", [0, 1])
    array([0., 1.])
    >>> real_array("q", [0, 1j])
    Traceback (most recent call last):
    ValueError: q = [0, 1j]: must be an array of real numbers, not of complex numbers
    """
    if isinstance(values, (list, tuple)) and any(isinstance(each, bool) for each in values):
        raise ValueError(f"{name} = {shown(values)}: must be an array of real numbers, not of booleans")
    try:
        given = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} = {shown(values)}: its rows must be equally long") from None
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} = {shown(values)}: must be an array of real numbers, not of {_kind(given)}")
    return given.astype(float, copy=False)


def real(value: object) -> float | None:
    """Return a real number as a float; None for anything else, including booleans."""
    if type(value) is float:
        return value
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the range of floats
        return math.inf


def _not_a_number(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "not true or false"
    return "not text" if isinstance(value, str) else f"not {type(value).__name__}"


def _kind(array: NDArray[Any]) -> str:
    kinds = {"b": "booleans", "c": "complex numbers", "U": "text", "S": "text", "O": "objects"}
    return kinds.get(array.dtype.kind, str(array.dtype))
