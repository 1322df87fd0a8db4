"""The C compiler: which one, and a call of it that ends."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from pathlib import Path

# -O1 compiles about ten times faster than -O3 and runs within a factor of two of it; no contraction to fused
# multiply-add, so that compiled code gives the virtual machine's digits.
FLAGS = ("-O1", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared")
COMPILERS = ("cc", "gcc", "clang")

PATIENCE = 20.0  # s that a compiler may take for any source,
PATIENCE_PER_BYTE = 1e-4  # and for each byte of it: five times what one takes on a busy machine
MOST_PATIENCE = 1800.0


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


def tried() -> str:
    """Where a compiler was looked for."""
    named = os.environ.get("CC")
    return ", ".join(COMPILERS) if named is None else f"$CC = {named!r}"


class Unwanted(RuntimeError):
    """The program ends: nobody waits for a compiler any more."""


class _Running:
    """Compilers that this process waits for."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """A process that was forked has none yet."""
        self.lock = threading.Lock()
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.ending = False
        self.hung: dict[tuple[object, ...], str] = {}  # by compiler, what was said when it did not end


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


def compile_library(compiler: tuple[str, ...], source: str, c_file: Path, flags: tuple[str, ...] = FLAGS) -> Path:
    """Write the source to a file and make a library beside it; a compiler that fails or does not end is an error, and
    `Unwanted` one that was stopped since the program ends.

    A compiler that did not end is not called again by this process, unless its file changes: each robot has several
    libraries, and each would take as long.
    """
    identity = (*compiler, os.stat(compiler[0]).st_mtime_ns)
    if identity in _running.hung:
        raise RuntimeError(_running.hung[identity])
    c_file.write_text(source)
    patience = min(PATIENCE + PATIENCE_PER_BYTE * len(source), MOST_PATIENCE)
    built, messages = c_file.with_suffix(".so"), c_file.with_suffix(".log")
    # a file takes the messages: a pipe would stay open as long as any child of the compiler lives
    with open(messages, "wb") as log, _running.lock:
        if _running.ending:
            raise Unwanted("the program ends")
        process = subprocess.Popen(
            [*compiler, *flags, str(c_file), "-o", str(built), "-lm"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
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
        raise Unwanted("the program ends")
    if status:
        said = messages.read_text(errors="replace").strip().replace(f"{c_file.parent}{os.sep}", "")
        raise RuntimeError(next(iter(said.splitlines()), "") or f"exit status {status}")
    return built


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
