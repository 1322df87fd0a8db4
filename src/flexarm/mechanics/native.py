"""CasADi functions as machine code: C source -> shared object, kept in the user's cache directory.

The file's name is a hash of the source, the flags and the compiler, so nothing stale is ever loaded; it is written
beside its place and moved there in one step, so several processes may compile the same function at once.
Without a compiler the same functions run in CasADi's virtual machine, about ten times slower.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import casadi as ca

# -O1 compiles about ten times faster than -O3 and runs within a factor of two of it; no contraction to fused
# multiply-add, so that compiled code gives the virtual machine's digits.
FLAGS = ("-O1", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared")

log = logging.getLogger("flexarm")


def compiled(function: ca.Function) -> ca.Function:
    """The same function as machine code, or the function itself where that cannot be had (one line says why)."""
    compiler = find_compiler()
    if compiler is None:
        _say_once("no C compiler found (tried $CC, cc, gcc, clang); computing in CasADi's virtual machine, ~10x slower")
        return function
    generator = ca.CodeGenerator(function.name(), {"with_header": False})
    generator.add(function)
    source = generator.dump()
    try:
        library = _library(function.name(), source, compiler)
        return ca.external(function.name(), str(library))
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or str(error)
        first = detail.strip().splitlines()[0] if detail.strip() else type(error).__name__
        _say_once(f"compiling '{function.name()}' failed ({first}); computing in CasADi's virtual machine, ~10x slower")
        return function


def find_compiler() -> tuple[str, ...] | None:
    """Command of the C compiler: $CC if it is set (and only that), else the first of cc, gcc, clang."""
    named = os.environ.get("CC")
    for candidate in [named] if named is not None else ["cc", "gcc", "clang"]:
        words = shlex.split(candidate)
        path = shutil.which(words[0]) if words else None
        if path is not None:
            return (path, *words[1:])
    return None


def cache_directory() -> Path:
    """$FLEXARM_CACHE, or flexarm's folder in the user's cache directory."""
    given = os.environ.get("FLEXARM_CACHE")
    if given:
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "flexarm"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "flexarm"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flexarm"


def _library(name: str, source: str, compiler: tuple[str, ...]) -> Path:
    stat = os.stat(compiler[0])
    identity = [source, *FLAGS, *compiler, stat.st_size, stat.st_mtime_ns, platform.machine(), sys.platform]
    key = hashlib.sha256("\0".join(map(str, identity)).encode()).hexdigest()[:32]
    directory = cache_directory()
    library = directory / f"{name}-{key}.so"
    if library.exists():
        return library
    try:
        directory.mkdir(parents=True, exist_ok=True)
        workplace = tempfile.mkdtemp(prefix=".build-", dir=directory)
    except OSError as error:
        _say_once(f"the cache {directory} cannot be written ({error.strerror}); compiled code will not be kept")
        library = Path(_throwaway_directory()) / library.name
        workplace = tempfile.mkdtemp(dir=library.parent)
    try:
        c_file, built = Path(workplace) / f"{name}.c", Path(workplace) / library.name
        c_file.write_text(source)
        command = [*compiler, *FLAGS, str(c_file), "-o", str(built), "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        os.replace(built, library)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return library


@cache
def _throwaway_directory() -> str:
    return tempfile.mkdtemp(prefix="flexarm-")


@cache
def _say_once(sentence: str) -> None:
    log.warning("flexarm: %s", sentence)
