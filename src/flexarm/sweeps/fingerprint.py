"""Whether two sweeps are the same: digests of what decides their results, part by part.

Functions count by what they compute: their code, constants, defaults and what they enclose. Globals that they read do
not; nor does anything that would differ from process to process, such as an address in memory.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from flexarm._version import __version__
from flexarm.motion.profiles import Profile
from flexarm.robot.description import Description
from flexarm.sweeps.member import Case
from flexarm.sweeps.plan import Plan

MOST = 12  # levels
PACKAGES = ("builtins", "abc", "collections", "functools", "typing", "flexarm", "numpy", "scipy", "casadi", "xarray")


def fingerprint(case: Case, plan: Plan, measures: Mapping[str, Any] | None, kept: str | None) -> dict[str, str]:
    """A digest of each part."""
    parts = {
        "flexarm's version": __version__,
        "the robot": case.robot,
        "duration": case.duration,
        "torque": case.torque,
        "motion": case.motion or {},
        "loads": list(case.loads or ()),
        "q0": case.q0,
        "v0": case.v0,
        "the options": {name: value for name, value in case.options.items() if name != "native"},
        "over": [[each.name for each in plan.fields], plan.columns, plan.together],
        "measure": measures,
        "keep": kept,
    }
    return {name: digest(part) for name, part in parts.items()}


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """In what two fingerprints differ, in words."""
    found = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def digest(value: Any) -> str:
    found = hashlib.sha256()
    for part in _parts(value, 0):
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()[:32]


def _parts(value: Any, level: int) -> Iterator[bytes]:
    """Bytes that tell what a value is."""
    yield type(value).__name__.encode()
    if level > MOST or value is None:
        return
    inner = level + 1
    if isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        yield repr(value.item() if isinstance(value, np.generic) else value).encode()
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        yield repr((value.shape, value.dtype.str)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Description):
        yield value.model_dump_json().encode()
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield repr(name).encode()
            yield from _parts(each, inner)
    elif isinstance(value, (list, tuple, np.ndarray)):
        yield str(len(value)).encode()
        for each in value:
            yield from _parts(each, inner)
    elif isinstance(value, (set, frozenset)):
        yield from sorted(digest(each).encode() for each in value)
    elif isinstance(value, Profile) and value.made is not None:
        yield from _parts([value.made.function.__name__, value.made.given], inner)
    elif isinstance(value, FunctionType):
        inside = [cell.cell_contents for cell in value.__closure__ or () if cell.cell_contents is not value]
        cells = [each.__qualname__ if isinstance(each, type) else each for each in inside]  # `super` has its own class
        yield from _parts([value.__qualname__, value.__defaults__, value.__kwdefaults__, cells, value.__code__], inner)
    elif isinstance(value, CodeType):
        yield value.co_code
        yield from _parts([value.co_names, value.co_varnames, value.co_consts], inner)
    elif isinstance(value, partial):
        yield from _parts([value.func, value.args, value.keywords], inner)
    elif isinstance(value, MethodType):
        yield from _parts([value.__func__, value.__self__], inner)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _parts({each.name: getattr(value, each.name) for each in fields(value) if each.compare}, inner)
    elif isinstance(getattr(value, "__wrapped__", None), FunctionType):  # decorated: lru_cache, jit, ...
        yield from _parts([type(value).__qualname__, value.__wrapped__], inner)
    elif isinstance(value, property):
        yield from _parts([value.fget, value.fset], inner)
    elif isinstance(value, type):
        yield from _parts(_of_class(value), inner)
    elif hasattr(value, "__qualname__"):  # functions that are not written in Python
        yield f"{getattr(value, '__module__', '')}.{value.__qualname__}".encode()
    elif not hasattr(value, "__dict__"):
        yield from _parts([_of_class(type(value)), _pickled(value)], inner)
    else:
        yield from _parts([_of_class(type(value)), vars(value)], inner)


def _of_class(kind: type) -> list[Any]:
    """Its name and, where it is no package's, what is written in it and in those that it is made of."""
    own = [each for each in kind.__mro__ if each.__module__.partition(".")[0] not in PACKAGES]
    written = [{name: vars(each)[name] for name in sorted(vars(each)) if _is_written(each, name)} for each in own]
    return [kind.__qualname__, written]


def _is_written(kind: type, name: str) -> bool:
    """Methods, and numbers and words that stand in a class."""
    value = vars(kind)[name]
    plain = isinstance(value, (int, float, str)) and not name.startswith("__")
    return plain or isinstance(value, (FunctionType, staticmethod, classmethod, property))


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        return b""
