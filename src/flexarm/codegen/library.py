"""Compile CasADi functions to shared libraries in the user's cache directory, and load them.

CasADi writes the equations of a robot as one function of thousands of assignments to local variables, for which
compilers take long: long functions are split. Expressions are built under one lock, since threads share what systems
have built.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path

import casadi as ca

from flexarm._version import __version__
from flexarm.codegen.cache import fingerprint, kept_library, present_library, say_once
from flexarm.codegen.compiler import (
    COMPILER_FLAGS,
    Build,
    ProgramEnding,
    compile_library,
    find_compiler,
    missing_compiler_note,
)
from flexarm.codegen.driver import driver_source
from flexarm.codegen.loops import Runner, loop_source
from flexarm.codegen.sampler import sampler_source

building = threading.RLock()


MAX_ASSIGNMENTS = 400  # assignments

_NAME = re.compile(r"^static int (casadi_f\d+)\(const casadi_real\*\* arg, .*\{$")
_DECLARATION = "  casadi_real a"
_LOAD = re.compile(r"arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0")
_STORE = re.compile(r"^  if \(res\[(\d+)\]!=0\) res\[\1\]\[(\d+)\]=([^;]*);$")
_ASSIGNMENT = re.compile(r"^  (a\d+)=([^;{}]*);$")
_VARIABLE = re.compile(r"\ba\d+\b")
_READ = re.compile(r"\bx(\d+)\[(\d+)\]")
_WRITTEN = re.compile(r"^  y(\d+)\[(\d+)\]=")


def generate_source(name: str, functions: Sequence[ca.Function]) -> str:
    """Return the C source of functions in one file, split into pieces for the compiler."""
    generator = ca.CodeGenerator(name, {"with_header": False})
    generator.add_include("stdlib.h")
    for function in functions:
        generator.add(function)
    return split(generator.dump())


def split(source: str) -> str:
    """Split the long functions of a C source into pieces; all else is unchanged."""
    lines = source.split("\n")
    out: list[str] = []
    at = 0
    none = max((int(index) + 1 for _, index in _LOAD.findall(source)), default=0)
    first: int | None = None  # where the zeros that stand for arrays which are not there can be declared
    while at < len(lines):
        head = _NAME.match(lines[at])
        end = lines.index("}", at) if head else at
        pieces = _pieces(head[1], lines[at + 1 : end]) if head else None
        if pieces is None:
            out.append(lines[at])
            at += 1
        else:
            definitions, calls = pieces
            first = len(out) if first is None else first
            out += [*definitions, lines[at], *calls, "}"]
            at = end + 1
    if first is not None and none:
        out.insert(first, f"static const casadi_real none[{none}] = {{0}};")
    return "\n".join(out)


def _pieces(name: str, body: list[str]) -> tuple[list[str], list[str]] | None:
    """Functions for the pieces of a body, and the body that calls them; None if it is not understood."""
    statements = [line for line in body if not line.startswith(_DECLARATION)]
    if len(statements) < 2 or statements.pop() != "  return 0;":
        return None
    if not all(_ASSIGNMENT.match(line) or _STORE.match(line) for line in statements):
        return None
    statements = [_STORE.sub(r"  y\1[\2]=\3;", _LOAD.sub(r"x\1[\2]", line)) for line in statements]
    if len(statements) <= MAX_ASSIGNMENTS:
        return [], [*_arrays(statements), _declared(*_reads_and_writes(statements)), *statements, "  return 0;"]
    parts = [statements[k : k + MAX_ASSIGNMENTS] for k in range(0, len(statements), MAX_ASSIGNMENTS)]
    needed, written = zip(*map(_reads_and_writes, parts), strict=True)
    later: set[str] = set()
    handed: list[set[str]] = []  # what each part must leave for those after it
    for reads, writes in zip(reversed(needed), reversed(written), strict=True):
        handed.insert(0, later)
        later = (later - writes) | reads
    place = {variable: k for k, variable in enumerate(sorted(set().union(*handed)))}
    definitions: list[str] = []
    for k, part in enumerate(parts):
        definitions += [
            f"static void {name}_{k}(const casadi_real** arg, casadi_real** res, casadi_real* kept) {{",
            *_arrays(part),
            _declared(needed[k], written[k]),
            *(f"  {variable}=kept[{place[variable]}];" for variable in sorted(needed[k])),
            *part,
            *(f"  kept[{place[variable]}]={variable};" for variable in sorted(written[k] & handed[k])),
            "}",
            "",
        ]
    calls = [f"  {name}_{k}(arg, res, kept);" for k in range(len(parts))]
    return definitions, [f"  casadi_real kept[{max(1, len(place))}];", *calls, "  return 0;"]


def _arrays(part: list[str]) -> list[str]:
    """Pointers to the arrays that a part reads and writes: to zeros, or to somewhere, where there is none."""
    sizes: dict[str, dict[int, int]] = {"x": {}, "y": {}}
    for line in part:
        written = [_WRITTEN.match(line)] if _WRITTEN.match(line) else []
        for kind, found in (("x", _READ.finditer(line)), ("y", written)):
            for each in found:
                assert each is not None
                array, index = int(each[1]), int(each[2])
                sizes[kind][array] = max(sizes[kind].get(array, 0), index + 1)
    out: list[str] = []
    out += [f"  const casadi_real* x{k} = arg[{k}] ? arg[{k}] : none;" for k in sorted(sizes["x"])]
    if sizes["y"]:
        out.append(f"  casadi_real nowhere[{max(sizes['y'].values())}];")
        out += [f"  casadi_real* y{k} = res[{k}] ? res[{k}] : nowhere;" for k in sorted(sizes["y"])]
    return out


def _declared(*variables: set[str]) -> str:
    names = sorted(set().union(*variables))
    return f"  casadi_real {', '.join(names)};" if names else ""


def _reads_and_writes(part: list[str]) -> tuple[set[str], set[str]]:
    """Variables that a part reads before it writes them, and those that it writes."""
    reads: set[str] = set()
    writes: set[str] = set()
    for line in part:
        assigned = _ASSIGNMENT.match(line)
        reads |= set(_VARIABLE.findall(assigned[2] if assigned else line)) - writes
        if assigned:
            writes.add(assigned[1])
    return reads, writes


# Now, and not when it is first needed: the files may change while the program runs, but not what it runs.
CODE_VERSION = (__version__, fingerprint(Path(__file__).parents[1]), ca.CasadiMeta.version())

SLOWER_NOTE = "computing in CasADi's virtual machine, ~10x slower"


def compiled(function: ca.Function) -> ca.Function:
    """Return the function as machine code, or itself if it cannot be compiled (a line gives the reason)."""
    return Library([function.name()], lambda: [function]).built()[0].function


class Library:
    """Functions that are compiled together, in one file, with a loop over rows for each (`many`).

    depends: all that decides what `make` gives. If such a library is in the cache, nothing is made: tracing a robot
        takes far longer than loading it. None: the source decides.
    driven: names of steps with which an integration loop is compiled (`driver.c`).
    sampled: such a step and the start of its plant, with which one for digital controllers is compiled (`sampler.c`).
    """

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[], Sequence[ca.Function]],
        depends: Sequence[object] | None = None,
        driven: Sequence[str] = (),
        sampled: tuple[str, str] | None = None,
    ) -> None:
        self.names, self._make, self._depends, self._driven, self._sampled = names, make, depends, driven, sampled

    @cached_property
    def functions(self) -> Sequence[ca.Function]:
        """The functions for CasADi's virtual machine."""
        return self._make()

    @property
    def instructions(self) -> int:
        """Number of instructions of all functions, including those that are called: the work of a compiler."""
        called = [each for function in self.functions for each in (function, *function.find_functions())]
        found = {each.__hash__(): each for each in called if each.is_a("SXFunction")}
        return sum(int(each.n_instructions()) for each in found.values())

    def write(self) -> None:
        """The source, which takes a while for large robots: done first, no folder waits for it."""
        _ = self._source

    @cached_property
    def _source(self) -> str:
        driven = (each.name() for each in self.functions if each.name() in self._driven)
        loops = [*map(loop_source, self.functions), *map(driver_source, driven)]
        if self._sampled is not None:
            named = {each.name(): each for each in self.functions}
            loops.append(sampler_source(*(named[name] for name in self._sampled)))
        return generate_source(self.names[0], self.functions) + "".join(loops)

    def found(self) -> list[Runner] | None:
        """The functions as machine code, if it exists already."""
        compiler = find_compiler()
        if compiler is None or self._depends is None:
            return None
        try:
            library = present_library(self.names[0], self._key(compiler))
            return None if library is None else self._loaded(library, compiler)
        except (OSError, RuntimeError):
            return None

    def built(self) -> list[Runner]:
        """The functions as machine code, compiled if needed, or for the virtual machine if that is impossible (with a
        log line).
        """
        compiler = find_compiler()
        if compiler is None:
            say_once(missing_compiler_note())
            return self.runners
        try:
            key = self._key(compiler)
            library = kept_library(self.names[0], key, partial(self._build, compiler))
            try:
                return self._loaded(library, compiler)
            except (OSError, RuntimeError):  # it was built for a computer that shares the cache but not its libraries
                library.unlink(missing_ok=True)
                library = kept_library(self.names[0], key, partial(self._build, compiler))
                return self._loaded(library, compiler, lost=True)
        except ProgramEnding:
            return self.runners
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or next(iter(str(error).strip().splitlines()), "")
            say_once(f"compiling '{self.names[0]}' failed ({reason}); {SLOWER_NOTE}")
            return self.runners

    @property
    def runners(self) -> list[Runner]:
        """The functions with loops over rows, for CasADi's virtual machine."""
        return [Runner(function) for function in self.functions]

    def _key(self, compiler: tuple[str, ...]) -> str:
        identity = [self._source] if self._depends is None else [*self._depends, *CODE_VERSION]
        return key_of(identity, compiler)

    def _build(self, compiler: tuple[str, ...], folder: Path) -> Path:
        return compile_library(compiler, self._source, folder / f"{self.names[0]}.c")

    def _loaded(self, library: Path, compiler: tuple[str, ...], lost: bool = False) -> list[Runner]:
        """Load a library; with `lost`, one that cannot be loaded is deleted."""
        try:
            build = Build.of(compiler, COMPILER_FLAGS)
            return [Runner(ca.external(name, str(library)), library, build) for name in self.names]
        except (OSError, RuntimeError):
            if lost:
                library.unlink(missing_ok=True)
            raise


def key_of(identity: Sequence[object], compiler: tuple[str, ...]) -> str:
    """Return the key of a library from everything that decides it."""
    stat = os.stat(compiler[0])
    machine = (*COMPILER_FLAGS, *compiler, stat.st_size, stat.st_mtime_ns, platform.machine(), sys.platform)
    return hashlib.sha256("\0".join(map(str, [*identity, *machine])).encode()).hexdigest()[:32]
