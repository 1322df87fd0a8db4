"""Find a C compiler and call it.

The compiler is `$CC` if that is set (and only that), else the first of cc, gcc and clang on the path, else the one of
the Python package `ziglang` (the extra `compiler`). Without any, CasADi's virtual machine is used.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from flexarm.codegen.cache import usable_directory

# -O1 compiles about ten times faster than -O3 and runs within a factor of two of it; no contraction to fused
# multiply-add, so that compiled code gives the virtual machine's digits.
COMPILER_FLAGS = ("-O1", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared")
COMPILERS = ("cc", "gcc", "clang")
ZIG_REQUIREMENT = "ziglang>=0.16"  # as in pyproject.toml
# Zig compiles for the processor at hand by default; a cache may be shared by computers with different ones.
ZIG_FLAGS = ("-mcpu=baseline", "-fno-sanitize=undefined")

MIN_TIMEOUT_S = 20.0  # s that a compiler may take for any source,
PATIENCE_PER_BYTE = 1e-4  # and for each byte of it: five times what one takes on a busy machine
MOST_PATIENCE = 1800.0
ZIG_PATIENCE = 120.0  # s more: its first call for a kind of processor builds its own libraries, which takes 4 to 9 s


def find_compiler() -> tuple[str, ...] | None:
    """Return the command of the C compiler, or None if there is none.

    $CC if it is set (and only that), else the first of cc, gcc and clang, else the compiler of the package ziglang.
    """
    named = os.environ.get("CC")
    for candidate in COMPILERS if named is None else [named]:
        try:
            words = shlex.split(candidate)
        except ValueError:  # a quote that is not closed
            continue
        path = shutil.which(words[0]) if words else None
        if path is not None:
            return (path, *words[1:])
    return _find_zig() if named is None else None


def _find_zig() -> tuple[str, ...] | None:
    """Return the command of the compiler in the Python package ziglang, or None if it is not installed.

    Its program is called directly, not by `python -m ziglang`: it starts sooner, and its own file is part of the key of
    compiled code.
    """
    try:
        found = importlib.util.find_spec("ziglang")
    except (ImportError, ValueError):
        return None
    for folder in (found and found.submodule_search_locations) or ():
        path = shutil.which(os.path.join(folder, "zig"))
        if path is not None:
            return (path, "cc", *ZIG_FLAGS)
    return None


def is_zig(compiler: tuple[str, ...]) -> bool:
    """Return True if the command calls Zig's compiler."""
    return compiler[1:2] == ("cc",) and Path(compiler[0]).stem == "zig"


@dataclass(frozen=True)
class Build:
    """How code was made: recorded in `run.statistics`.

    Parameters
    ----------
    compiler : str or None
        Program that compiled it; None for CasADi's virtual machine.
    compiler_flags : str
        Its options.
    lanes : int
        Robots that one call of the code computes.
    vector_math : str
        Functions that are computed in vectors by flexarm; all others are those of the C library.
    """

    compiler: str | None = None
    compiler_flags: str = ""
    lanes: int = 1
    vector_math: str = ""

    @classmethod
    def of(cls, command: tuple[str, ...], flags: tuple[str, ...], lanes: int = 1, vector_math: str = "") -> Build:
        """Return the build that a compiler's command and flags make."""
        words = 2 if is_zig(command) else 1
        return cls(shlex.join(command[:words]), shlex.join((*command[words:], *flags)), lanes, vector_math)


def missing_compiler_note() -> str:
    """Return one line: where a compiler was searched, the consequence, and how to get one."""
    named = os.environ.get("CC")
    if named is None:
        tried = ", ".join((*COMPILERS, "the Python package ziglang"))
        remedy = f"pip install '{ZIG_REQUIREMENT}' (flexarm's extra 'compiler') installs one"
    else:
        tried, remedy = f"$CC = {named!r}", "set CC to a compiler, or unset it"
    return (
        f"no C compiler found (tried {tried}); computing in CasADi's virtual machine, ~10x slower, "
        f"and members of sweeps one by one; {remedy}"
    )


class ProgramEnding(RuntimeError):
    """The program ends and needs no compiled code any more."""


class _Running:
    """Compilers that this process waits for."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """A process that was forked has none yet."""
        self.lock = threading.Lock()
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.ending = False
        self.hung: dict[tuple[object, ...], str] = {}  # by compiler, the message when it did not end


_running = _Running()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.forget)


def stop_compilers() -> None:
    """The program ends: stop all compilers, and let none begin."""
    with _running.lock:
        _running.ending = True
        processes = list(_running.processes)
    for process in processes:
        _kill(process)


def compile_library(
    compiler: tuple[str, ...], source: str, c_file: Path, flags: tuple[str, ...] = COMPILER_FLAGS
) -> Path:
    """Write the source to a file and compile it to a library next to it.

    A compiler that fails or does not end raises an error; `Unwanted` is raised if it was stopped because the program
    ends. A compiler that did not end is not called again by this process, unless its file changes: each robot has
    several libraries, and each would take as long.
    """
    identity = (*compiler, os.stat(compiler[0]).st_mtime_ns)
    if identity in _running.hung:
        raise RuntimeError(_running.hung[identity])
    c_file.write_text(source)
    patience = min(MIN_TIMEOUT_S + PATIENCE_PER_BYTE * len(source), MOST_PATIENCE)
    environment = None
    if is_zig(compiler):
        patience += ZIG_PATIENCE
        environment = _zig_environment(c_file.parent)
    built, messages = c_file.with_suffix(".so"), c_file.with_suffix(".log")
    # a file takes the messages: a pipe would stay open as long as any child of the compiler lives
    with open(messages, "wb") as log, _running.lock:
        if _running.ending:
            raise ProgramEnding("the program ends")
        process = subprocess.Popen(
            [*compiler, *flags, str(c_file), "-o", str(built), "-lm"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
            env=environment,
        )
        _running.processes.add(process)
    try:
        status = process.wait(patience)
    except BaseException as error:  # Ctrl-C reaches this program alone, since the compiler has a session of its own
        _kill(process)
        if isinstance(error, subprocess.TimeoutExpired):
            _running.hung[identity] = f"the compiler did not end within {patience:.0f} s and was stopped"
            raise RuntimeError(_running.hung[identity]) from None
        raise
    finally:
        _running.processes.discard(process)
    if status and _running.ending:
        raise ProgramEnding("the program ends")
    if status:
        text = messages.read_text(errors="replace").strip().replace(f"{c_file.parent}{os.sep}", "")
        raise RuntimeError(next(iter(text.splitlines()), "") or f"exit status {status}")
    return built


def _zig_environment(folder: Path) -> dict[str, str]:
    """Return the environment for Zig: caches of a source are removed with the folder in which it is compiled.

    The libraries that it builds at its first call stay next to compiled code, unless $ZIG_GLOBAL_CACHE_DIR is set.
    """
    environment = {**os.environ, "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(usable_directory() / "zig"))
    return environment


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the compiler and all that it started."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
    process.wait()
