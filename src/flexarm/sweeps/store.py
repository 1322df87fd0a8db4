"""Stores of sweeps: members are kept as they finish, and found when the sweep is called again.

`sweep.nc` is written when all members are done; until then the journal `sweep.nc.part` beside it has a line for each
member. A folder contains both and, with `keep="runs"`, the histories. A store belongs to one sweep, which is identified
by digests of what decides its results. Functions count by their code, constants, defaults and enclosed values; globals
that they read do not, nor does anything that differs from process to process, such as an address in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from flexarm._version import __version__
from flexarm.foundation.files import write_bytes
from flexarm.foundation.messages import shown
from flexarm.profiles.profile import Profile
from flexarm.results.netcdf import netcdf, read_netcdf
from flexarm.results.run import Run
from flexarm.robot.description import Description
from flexarm.sweeps.case import Outcome, SweepCase
from flexarm.sweeps.plan import SweepPlan

if TYPE_CHECKING:
    import xarray as xr


MOST = 12  # levels
PACKAGES = ("builtins", "abc", "collections", "functools", "typing", "flexarm", "numpy", "scipy", "casadi", "xarray")


def fingerprint(
    case: SweepCase, plan: SweepPlan, measures: Mapping[str, Any] | None, kept: str | None
) -> dict[str, str]:
    """Return the digest of each part of a sweep."""
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
        "over": [[each.name for each in plan.fields], plan.columns, plan.elementwise],
        "measure": measures,
        "keep": kept,
    }
    return {name: digest(part) for name, part in parts.items()}


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return in words in what two fingerprints differ."""
    found = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def digest(value: Any) -> str:
    found = hashlib.sha256()
    for part in _parts(value, 0):
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()[:32]


def _parts(value: Any, level: int) -> Iterator[bytes]:
    """Yield bytes that identify a value."""
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
    else:
        if isinstance(value, CodeType):
            yield value.co_code
        content = _content(value)
        yield from [content] if isinstance(content, bytes) else _parts(content, inner)


def _content(value: Any) -> list[Any] | dict[str, Any] | bytes:
    """Return what determines a function, a class or an object."""
    if isinstance(value, Profile) and value.made is not None:
        return [value.made.function.__name__, value.made.given]
    if isinstance(value, FunctionType):
        return [value.__qualname__, value.__defaults__, value.__kwdefaults__, _enclosed(value), value.__code__]
    if isinstance(value, CodeType):
        return [value.co_names, value.co_varnames, value.co_consts]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value) if each.compare}
    if isinstance(getattr(value, "__wrapped__", None), FunctionType):  # decorated: lru_cache, jit, ...
        return [type(value).__qualname__, value.__wrapped__]
    if isinstance(value, property):
        return [value.fget, value.fset]
    if isinstance(value, type):
        return _of_class(value)
    if hasattr(value, "__qualname__"):  # functions that are not written in Python
        return f"{getattr(value, '__module__', '')}.{value.__qualname__}".encode()
    return [_of_class(type(value)), vars(value) if hasattr(value, "__dict__") else _pickled(value)]


def _enclosed(function: FunctionType) -> list[Any]:
    """Return what a function refers to; of classes, such as its own for `super`, the names."""
    inside = [cell.cell_contents for cell in function.__closure__ or () if cell.cell_contents is not function]
    return [each.__qualname__ if isinstance(each, type) else each for each in inside]


def _of_class(kind: type) -> list[Any]:
    """Return the name of a class and, unless it belongs to a package, what is defined in it and in its bases."""
    own = [each for each in kind.__mro__ if each.__module__.partition(".")[0] not in PACKAGES]
    written = [{name: vars(each)[name] for name in sorted(vars(each)) if _is_written(each, name)} for each in own]
    return [kind.__qualname__, written]


def _is_written(kind: type, name: str) -> bool:
    """Return True for methods, and for numbers and words that are defined in a class."""
    value = vars(kind)[name]
    plain = isinstance(value, (int, float, str)) and not name.startswith("__")
    return plain or isinstance(value, (FunctionType, staticmethod, classmethod, property))


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        return b""


FORMAT = 2


class Journal:
    """A line for the sweep and one for each outcome, each with its checksum; lines are only ever appended.

    Whatever kills a program loses at most the line that it was writing. An open journal is locked if the system can:
    two sweeps do not write to one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: BinaryIO | None = None

    def head(self) -> dict[str, Any] | None:
        """Return what the sweep is; None if there is no journal, or none that was begun."""
        with suppress(FileNotFoundError), open(self.path, "rb") as stream:
            found = _parsed_line(stream.readline())
            return found if found is not None and found.get("flexarm sweep") == FORMAT else None
        return None

    def begin(self, head: Mapping[str, Any]) -> Iterator[Outcome]:
        """Open the journal to append: a new one with this head, or an existing one, whose outcomes are returned."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        self._stream = os.fdopen(descriptor, "r+b")
        try:
            self._lock()
            if self.head() is None:
                self._stream.truncate(0)
                self._append({"flexarm sweep": FORMAT, **head})
                self._sync()
                return iter(())
            found, end = self._outcomes()
            self._stream.seek(end)
            self._stream.truncate()  # half a line, of a program that was killed
            return iter(found)
        except BaseException:
            self.close()
            raise

    def write(self, outcome: Outcome) -> None:
        """Pass an outcome to the operating system: it survives the end of this program."""
        values = {name: np.asarray(value).tolist() for name, value in outcome.values.items()}
        line: dict[str, Any] = {"n": outcome.number, "values": values, "status": outcome.status}
        if outcome.reason:
            line["reason"] = outcome.reason
        if outcome.warnings:
            line["warnings"] = outcome.warnings
        if outcome.is_exact:
            line["is_exact"] = True
        self._append(line)

    def close(self) -> None:
        if self._stream is not None:
            stream, self._stream = self._stream, None
            with suppress(OSError, ValueError):
                stream.flush()
                os.fsync(stream.fileno())
            stream.close()

    def remove(self) -> None:
        self.close()
        with suppress(FileNotFoundError):
            self.path.unlink()

    def _outcomes(self) -> tuple[list[Outcome], int]:
        """Return the outcomes of all whole lines after the head, and where they end."""
        assert self._stream is not None
        self._stream.seek(0)
        end = len(self._stream.readline())
        found = []
        for line in self._stream:
            read = _parsed_line(line)
            if read is None:
                break
            values = {name: np.asarray(value, dtype=float) for name, value in read["values"].items()}
            found.append(
                Outcome(
                    read["n"],
                    values,
                    read["status"],
                    read.get("reason", ""),
                    warnings=tuple(read.get("warnings", ())),
                    is_exact=read.get("is_exact", False),
                )
            )
            end += len(line)
        return found, end

    def _append(self, line: Mapping[str, Any]) -> None:
        assert self._stream is not None
        text = json.dumps(line, separators=(",", ":")).encode()
        self._stream.write(b"%08x %s\n" % (zlib.crc32(text), text))
        self._stream.flush()

    def _sync(self) -> None:
        assert self._stream is not None
        os.fsync(self._stream.fileno())

    def _lock(self) -> None:
        assert self._stream is not None
        try:
            import fcntl
        except ImportError:  # a system without such locks
            return
        try:
            fcntl.flock(self._stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OSError(f"{self.path}: another sweep is writing to it; wait for it, or take another store") from None


def _parsed_line(line: bytes) -> dict[str, Any] | None:
    """Return the content of a line; None if it is not whole."""
    if not line.endswith(b"\n") or line[8:9] != b" ":
        return None
    text = line[9:-1]
    try:
        if int(line[:8], 16) != zlib.crc32(text):
            return None
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


IN_FOLDER = "sweep.nc"
RUNS = "runs"


class Store:
    """Files of one sweep; those of another one are left unchanged."""

    def __init__(self, path: Path, folder: bool, fingerprint: dict[str, str]) -> None:
        self.named, self.folder = path, folder
        self.file = path / IN_FOLDER if folder else path
        self.fingerprint = fingerprint
        self.journal = Journal(self.file.with_name(self.file.name + ".part"))

    def finished(self) -> xr.Dataset | None:
        """Return the results if this sweep is done; raise ValueError if another one is kept here."""
        if self.file.exists():
            data = read_netcdf(self.file)
            self._require_own(_parsed_json(data.attrs.get("fingerprint")))
            return data
        head = self.journal.head()
        if head is not None:
            self._require_own(head.get("fingerprint"))
        elif self.journal.path.exists() and self.journal.path.stat().st_size and not self._unborn():
            self._require_own(None)
        return None

    def begin(self) -> Iterator[Outcome]:
        """Prepare to keep members; return those that are there."""
        if self.folder:
            self.named.mkdir(exist_ok=True)
        return self.journal.begin({"fingerprint": self.fingerprint})

    def keep(self, outcome: Outcome) -> None:
        """Keep a member: its history first, so that a member with a line has one."""
        if outcome.run is not None:
            (self.named / RUNS).mkdir(exist_ok=True)
            outcome.run.save(self._run(outcome.number))
        self.journal.write(outcome)

    def run(self, number: int) -> Run | None:
        return Run.load(self._run(number)) if self._run(number).exists() else None

    def finish(self, data: xr.Dataset) -> None:
        """Write the results of the finished sweep to one file and remove the journal."""
        write_bytes(self.file, netcdf(data.assign_attrs(fingerprint=json.dumps(self.fingerprint))))
        self.journal.remove()

    def close(self) -> None:
        self.journal.close()

    def _run(self, number: int) -> Path:
        return self.named / RUNS / f"{number:07d}.nc"

    def _unborn(self) -> bool:
        """Return True for a journal whose program was killed while it wrote the first line."""
        content = self.journal.path.read_bytes()
        return b"\n" not in content and b'"flexarm sweep"' in content

    def _require_own(self, found: Any) -> None:
        if not isinstance(found, dict):
            raise ValueError(f"store = {str(self.named)!r}: what is there is no sweep of flexarm; it is left alone")
        if found != self.fingerprint:
            raise ValueError(
                f"store = {str(self.named)!r}: belongs to another sweep, which differs in "
                f"{differences(found, self.fingerprint)}; it is left alone: take another name, or remove it"
            )


def store_of(given: Any, fingerprint: dict[str, str], keeps_runs: bool) -> Store:
    """Return the store for the argument `store`: a .nc file, or a folder."""
    if not isinstance(given, (str, os.PathLike)) or not os.fspath(given) or "\0" in os.fsdecode(given):
        raise TypeError(f"store = {shown(given)}: must be the name of a file, 'sweep.nc', or of a folder")
    path = Path(os.fsdecode(given))
    folder = path.is_dir() or path.suffix == ""
    if not folder and path.suffix.lower() != ".nc":
        raise ValueError(f"store = {str(path)!r}: must end in .nc, or be a folder: results are NetCDF")
    if keeps_runs and not folder:
        raise ValueError(f"store = {str(path)!r}: histories need a folder; take store={str(path.with_suffix(''))!r}")
    if folder and path.exists() and not path.is_dir():
        raise ValueError(f"store = {str(path)!r}: is a file; name one that ends in .nc, or a folder")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"store = {str(path)!r}: there is no folder '{path.parent}'")
    return Store(path, folder, fingerprint)


def _parsed_json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None
