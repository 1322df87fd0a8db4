"""CasADi functions as machine code: C source -> shared object, kept in the user's cache directory.

The file's name is a hash of the source (or of all that decides it), the flags and the compiler, so nothing stale is
ever loaded; it is written beside its place and moved there in one step, so several processes may compile the same
function at once.
Without a compiler the same functions run in CasADi's virtual machine, about ten times slower.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import casadi as ca

from flexarm._version import __version__
from flexarm.mechanics.code_cache import fingerprint, kept_library, say_once
from flexarm.mechanics.compiler import FLAGS, compile_library, find_compiler, tried
from flexarm.mechanics.splitting import split

# Now, and not when it is first needed: the files may change while the program runs, but not what it runs.
CODE = (__version__, fingerprint(Path(__file__).parents[1]), ca.CasadiMeta.version())

SLOWER = "computing in CasADi's virtual machine, ~10x slower"


def compiled(function: ca.Function) -> ca.Function:
    """The same function as machine code, or the function itself where that cannot be had (one line says why)."""
    return compiled_library([function.name()], lambda: [function])[0]


def compiled_library(
    names: Sequence[str], make: Callable[[], Sequence[ca.Function]], depends: Sequence[object] | None = None
) -> Sequence[ca.Function]:
    """Functions as machine code in one library, or as `make` gives them where that cannot be had.

    depends: all that decides what `make` gives. If such a library is in the cache, nothing is made: tracing a robot
        takes far longer than loading it.
    """
    compiler = find_compiler()
    if compiler is None:
        say_once(f"no C compiler found (tried {tried()}); {SLOWER}")
        return make()
    made: list[ca.Function] = []

    def source() -> str:
        made[:] = made or make()
        generator = ca.CodeGenerator(names[0], {"with_header": False})
        for function in made:
            generator.add(function)
        return split(generator.dump())

    def build(folder: Path) -> Path:
        return compile_library(compiler, source(), folder / f"{names[0]}.c")

    try:
        identity: Sequence[object] = [source()] if depends is None else [*depends, *CODE]
        key = _key(identity, compiler)
        library = kept_library(names[0], key, build)
        try:
            return [ca.external(name, str(library)) for name in names]
        except RuntimeError:  # it was built for a computer that shares the cache but not the system's libraries
            library.unlink(missing_ok=True)
            return [ca.external(name, str(kept_library(names[0], key, build))) for name in names]
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or next(iter(str(error).strip().splitlines()), "")
        say_once(f"compiling '{names[0]}' failed ({reason}); {SLOWER}")
        return made or make()


def _key(identity: Sequence[object], compiler: tuple[str, ...]) -> str:
    stat = os.stat(compiler[0])
    machine = (*FLAGS, *compiler, stat.st_size, stat.st_mtime_ns, platform.machine(), sys.platform)
    return hashlib.sha256("\0".join(map(str, [*identity, *machine])).encode()).hexdigest()[:32]
