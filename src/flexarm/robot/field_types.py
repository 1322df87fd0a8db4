"""Annotations of fields that validate numbers with units and tagged unions, with their JSON Schema."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Bounds, real

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]


class Checked(ABC):
    """Base class of annotations; `check` converts any input into the stored value or raises ValueError."""

    @abstractmethod
    def check(self, value: object) -> object: ...

    @abstractmethod
    def json_schema(self) -> dict[str, Any]: ...

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return self.json_schema()


@dataclass(frozen=True)
class Quantity(Bounds, Checked):
    """Finite number in a unit, optionally bounded."""

    def json_schema(self) -> dict[str, Any]:
        bounds = {"exclusiveMinimum": self.above, "minimum": self.least, "maximum": self.most}
        return {"type": "number", "unit": self.unit or "1"} | {key: b for key, b in bounds.items() if b is not None}


def positive(unit: str) -> Quantity:
    """Return the annotation of a positive number."""
    return Quantity(unit, above=0.0)


def nonnegative(unit: str) -> Quantity:
    """Return the annotation of a number that is zero or positive."""
    return Quantity(unit, least=0.0)


@dataclass(frozen=True)
class Count(Checked):
    """Whole number from `least` to `most`."""

    least: int
    most: int

    def check(self, value: object) -> int:
        number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
        if number is None or not self.least <= number <= self.most:
            raise ValueError(f"must be a whole number, {self.least} to {self.most}")
        return number

    def json_schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Vector(Checked):
    """Exactly `size` finite numbers in a unit, from a list, a tuple or an array."""

    unit: str
    size: int = 3

    def check(self, value: object) -> tuple[float, ...]:
        numbers = finite_numbers(value)
        if numbers is None or len(numbers) != self.size:
            raise ValueError(f"must be {self.size} finite numbers ({self.unit})")
        return numbers

    def json_schema(self) -> dict[str, Any]:
        return numbers_schema(self.size) | {"unit": self.unit}


def finite_numbers(value: object) -> tuple[float, ...] | None:
    """Return a sequence of finite numbers as a tuple of floats; None for anything else."""
    items = _items(value)
    numbers = [real(item) for item in items] if items is not None else [None]
    if any(number is None or not math.isfinite(number) for number in numbers):
        return None
    return tuple(number for number in numbers if number is not None)


def finite_matrix(value: object) -> Matrix3 | None:
    """Return a 3x3 matrix of finite numbers as rows of floats; None for anything else."""
    rows = [finite_numbers(row) for row in _items(value) or ()]
    if len(rows) != 3 or any(row is None or len(row) != 3 for row in rows):
        return None
    return tuple(rows)  # type: ignore[return-value]


def numbers_schema(size: int) -> dict[str, Any]:
    """Return the JSON Schema of a list of numbers."""
    return {"type": "array", "items": {"type": "number"}, "minItems": size, "maxItems": size}


def matrix_schema() -> dict[str, Any]:
    """Return the JSON Schema of a 3x3 matrix."""
    return {"type": "array", "items": numbers_schema(3), "minItems": 3, "maxItems": 3}


def _items(value: object) -> Sequence[object] | None:
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    return value if isinstance(value, (list, tuple)) else None


@dataclass(frozen=True)
class Shorthand:
    """Annotation that accepts `joint: weld` for `joint: {type: weld}`; `names` are kinds without required fields.

    Tags are written with hyphens, `point-support`; underscores are accepted too.
    """

    names: tuple[str, ...] = ()

    def expand(self, value: object) -> object:
        """Return plain data with the tag of a shorthand."""
        if isinstance(value, str):
            value = {"type": value}
        if isinstance(value, dict) and isinstance(tag := value.get("type"), str):
            return value | {"type": tag.replace("_", "-")}
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.expand, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(self.names)}, handler(schema)]} if self.names else handler(schema)
