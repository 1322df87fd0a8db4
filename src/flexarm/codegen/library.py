"""Compile CasADi functions to shared libraries in the user's cache directory, and load them.

The name of a library contains a hash of its source (or of all that decides it), the flags and the compiler, so nothing
stale is loaded. It is written to a temporary file that is then renamed, so several processes may compile the same
function at once. Without a compiler the same functions run in CasADi's virtual machine, about ten times slower.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path

import casadi as ca

from flexarm._version import __version__
from flexarm.codegen.cache import fingerprint, kept_library, present_library, say_once
from flexarm.codegen.compiler import FLAGS, Build, Unwanted, compile_library, find_compiler, missing_compiler_note
from flexarm.codegen.driver import driver_source
from flexarm.codegen.loops import Runner, loop_source
from flexarm.codegen.sampler import sampler_source
from flexarm.codegen.source import generate_source

# Now, and not when it is first needed: the files may change while the program runs, but not what it runs.
CODE = (__version__, fingerprint(Path(__file__).parents[1]), ca.CasadiMeta.version())

SLOWER = "computing in CasADi's virtual machine, ~10x slower"


def compiled(function: ca.Function) -> ca.Function:
    """Return the function as machine code, or the function itself if it cannot be compiled (one line says why)."""
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
        """As CasADi's virtual machine runs them."""
        return self._make()

    @property
    def instructions(self) -> int:
        """Of all functions of symbols in it, those that others call included: what a compiler has to read."""
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
        """As machine code, if it is there already."""
        compiler = find_compiler()
        if compiler is None or self._depends is None:
            return None
        try:
            library = present_library(self.names[0], self._key(compiler))
            return None if library is None else self._loaded(library, compiler)
        except (OSError, RuntimeError):
            return None

    def built(self) -> list[Runner]:
        """As machine code, compiled if need be; as the virtual machine runs them where that cannot be had (one line
        says why)."""
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
        except Unwanted:
            return self.runners
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or next(iter(str(error).strip().splitlines()), "")
            say_once(f"compiling '{self.names[0]}' failed ({reason}); {SLOWER}")
            return self.runners

    @property
    def runners(self) -> list[Runner]:
        """As CasADi's virtual machine runs them."""
        return [Runner(function) for function in self.functions]

    def _key(self, compiler: tuple[str, ...]) -> str:
        identity = [self._source] if self._depends is None else [*self._depends, *CODE]
        return key_of(identity, compiler)

    def _build(self, compiler: tuple[str, ...], folder: Path) -> Path:
        return compile_library(compiler, self._source, folder / f"{self.names[0]}.c")

    def _loaded(self, library: Path, compiler: tuple[str, ...], lost: bool = False) -> list[Runner]:
        """Load a library; with `lost`, one that cannot be loaded is deleted."""
        try:
            build = Build.of(compiler, FLAGS)
            return [Runner(ca.external(name, str(library)), library, build) for name in self.names]
        except (OSError, RuntimeError):
            if lost:
                library.unlink(missing_ok=True)
            raise


def key_of(identity: Sequence[object], compiler: tuple[str, ...]) -> str:
    """Of a library, by all that decides it."""
    stat = os.stat(compiler[0])
    machine = (*FLAGS, *compiler, stat.st_size, stat.st_mtime_ns, platform.machine(), sys.platform)
    return hashlib.sha256("\0".join(map(str, [*identity, *machine])).encode()).hexdigest()[:32]
