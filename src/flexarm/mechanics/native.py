"""CasADi functions as machine code: C source -> shared object, kept in the user's cache directory.

The file's name is a hash of the source (or of all that decides it), the flags and the compiler, so nothing stale is
ever loaded; it is written beside its place and moved there in one step, so several processes may compile the same
function at once.
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
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import casadi as ca

from flexarm.mechanics.splitting import split

# -O1 compiles about ten times faster than -O3 and runs within a factor of two of it; no contraction to fused
# multiply-add, so that compiled code gives the virtual machine's digits.
FLAGS = ("-O1", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared")

ROOMS = ("robot", "beam", "mechanics", "motion")  # whose code decides what is compiled

COMPILERS = ("cc", "gcc", "clang")
SLOWER = "computing in CasADi's virtual machine, ~10x slower"

log = logging.getLogger("flexarm")
_lock = threading.Lock()
_said: set[str] = set()


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
        _say_once(f"no C compiler found (tried {_tried()}); {SLOWER}")
        return make()
    made: list[ca.Function] = []

    def source() -> str:
        made[:] = made or make()
        generator = ca.CodeGenerator(names[0], {"with_header": False})
        for function in made:
            generator.add(function)
        return split(generator.dump())

    try:
        identity: list[object] = [source()] if depends is None else [*depends, *_sources(), ca.CasadiMeta.version()]
        library = _library(names[0], identity, source, compiler)
        try:
            return [ca.external(name, str(library)) for name in names]
        except RuntimeError:  # the file in the cache is damaged: make it anew
            library.unlink(missing_ok=True)
            library = _library(names[0], identity, source, compiler)
            return [ca.external(name, str(library)) for name in names]
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or _first_line(str(error))
        _say_once(f"compiling '{names[0]}' failed ({reason}); {SLOWER}")
        return made or make()


@cache
def _sources() -> tuple[object, ...]:
    """What is different when the code that makes functions is: its files, their sizes and times."""
    files = sorted(entry.path for room in ROOMS for entry in os.scandir(Path(__file__).parents[1] / room))
    stats = [os.stat(path) for path in files]
    return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in zip(files, stats) if path.endswith(".py"))


def find_compiler() -> tuple[str, ...] | None:
    """Command of the C compiler: $CC if it is set (and only that), else the first of cc, gcc, clang."""
    named = os.environ.get("CC")
    for candidate in COMPILERS if named is None else [named]:
        try:
            words = shlex.split(candidate)
        except ValueError:  # a quote that is not closed
            continue
        path = shutil.which(words[0]) if words else None
        if path is not None:
            return (path, *words[1:])
    return None


def _tried() -> str:
    named = os.environ.get("CC")
    return ", ".join(COMPILERS) if named is None else f"$CC = {named!r}"


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


def _library(name: str, identity: list[object], source: Callable[[], str], compiler: tuple[str, ...]) -> Path:
    stat = os.stat(compiler[0])
    identity = [*identity, *FLAGS, *compiler, stat.st_size, stat.st_mtime_ns, platform.machine(), sys.platform]
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
        library = _throwaway_directory() / library.name
        workplace = tempfile.mkdtemp(dir=library.parent)
    try:
        built = Path(workplace) / library.name
        _build(Path(workplace) / f"{name}.c", source(), built, compiler)
        os.replace(built, library)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return library


def _build(c_file: Path, source: str, built: Path, compiler: tuple[str, ...]) -> None:
    c_file.write_text(source)
    done = subprocess.run(
        [*compiler, *FLAGS, str(c_file), "-o", str(built), "-lm"], capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        said = _first_line(done.stderr).replace(f"{c_file.parent}{os.sep}", "")  # no two of these have the same name
        raise RuntimeError(said or f"exit status {done.returncode}")


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def _throwaway_directory() -> Path:
    """A directory that goes when the program ends."""
    with _lock:
        return Path(_made_throwaway().name)


@cache
def _made_throwaway() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="flexarm-", ignore_cleanup_errors=True)


def _say_once(sentence: str) -> None:
    with _lock:
        if sentence not in _said:
            _said.add(sentence)
            log.warning("flexarm: %s", sentence)
