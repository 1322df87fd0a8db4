"""Atomic writing of files, and reading of regular files of limited size."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from flexarm.foundation.messages import shown

DRAFT_PREFIX = ".flexarm-draft-"  # start of the names of temporary files
MAX_DRAFT_AGE_S = 3600.0  # older temporary files belong to a program that was killed

FilePath = str | os.PathLike[str]

_lock = threading.Lock()
_swept: set[tuple[str, str]] = set()


@contextmanager
def atomic_file(path: FilePath) -> Iterator[BinaryIO]:
    """Open a stream whose content replaces the file if the block succeeds; on failure the earlier file remains.

    The content goes to a new temporary file in the same folder with an unpredictable name, is flushed to the disk and
    then renamed. A symbolic link is replaced, not followed. Permissions are those of the earlier file, or the default
    of the user's umask.
    """
    target = Path(_name(path))
    with _named_errors(target, "written"):
        _require_place(target)
        remove_abandoned(target.parent, DRAFT_PREFIX)
        draft = target.parent / f"{DRAFT_PREFIX}{secrets.token_hex(8)}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with open(descriptor, "wb") as stream:
                yield stream
                stream.flush()
                _keep_permissions(target, descriptor)
                os.fsync(descriptor)
            os.replace(draft, target)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise


def write_bytes(path: FilePath, content: bytes) -> None:
    """Write a file atomically."""
    with atomic_file(path) as stream:
        stream.write(content)


def write_text(path: FilePath, text: str) -> None:
    """Write UTF-8 text to a file atomically."""
    write_bytes(path, text.encode("utf-8"))


def write_atomically(path: FilePath, write: Callable[[str], object]) -> None:
    """Write a file atomically by a function that takes a file name: it gets a temporary one with the same suffix."""
    target = Path(_name(path))
    with _named_errors(target, "written"):
        _require_place(target)  # before any work
        with tempfile.TemporaryDirectory(prefix="flexarm-") as folder:
            part = os.path.join(folder, "part" + target.suffix)
            write(part)
            with open(part, "rb") as written, atomic_file(target) as stream:
                shutil.copyfileobj(written, stream)


def read_bytes(path: FilePath, max_bytes: int) -> bytes:
    """Return the content of a regular file of limited size; pipes and devices, which may never end, are refused."""
    file = _name(path)
    with _named_errors(file, "read"):
        _require_regular(file, os.stat(file))  # before it is opened: opening a pipe blocks until it has a writer
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(file, flags), "rb") as stream:
            _require_regular(file, os.fstat(stream.fileno()))
            content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(f"{file}: is larger than {_size(max_bytes)}, which is the most that is read")
    return content


def remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove temporary files and folders of killed programs: own ones with a prefix that are older than an hour.

    Each process cleans a folder once.
    """
    place = (os.path.abspath(folder), prefix)
    with _lock:
        if place in _swept:
            return
        _swept.add(place)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(prefix):
                continue
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if not is_owned(found) or time.time() - found.st_mtime < MAX_DRAFT_AGE_S:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def is_owned(found: os.stat_result) -> bool:
    """Return True if the file belongs to the current user, or if the system has no owners of files."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _name(path: object) -> str:
    """Return the path as text, or raise an error if it is not a file name."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path = {shown(path)}: must be the name of a file")
    file = os.fsdecode(path)
    if not file or "\0" in file:
        raise ValueError(f"path = {shown(file)}: must be the name of a file")
    return file


def _require_place(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(f"{target}: is a directory, not a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder '{target.parent}'")
    with suppress(FileNotFoundError):
        _require_regular(str(target), os.stat(target))  # replacing a device would destroy it


def _require_regular(file: str, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(f"{file}: is a directory, not a file")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{file}: is a pipe, a device or the like, not a file")


def _keep_permissions(target: Path, descriptor: int) -> None:
    with suppress(FileNotFoundError):
        earlier = os.lstat(target)
        if stat.S_ISREG(earlier.st_mode) and hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(earlier.st_mode) & 0o777)


@contextmanager
def _named_errors(file: FilePath, verb: str) -> Iterator[None]:
    """Turn errors of the system into sentences about the file that the user named."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:  # a sentence already
            raise
        missing = isinstance(error, FileNotFoundError) and verb == "read"
        why = "there is no such file" if missing else f"cannot be {verb}: {error.strerror}"
        sentence = type(error)(f"{file}: {why}")
        sentence.errno = error.errno
        raise sentence from None


def _size(count: int) -> str:
    return f"{count / 1e6:g} MB" if count >= 1e6 else f"{count} bytes"
