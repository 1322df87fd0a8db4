"""Keep compiled libraries on disk: where they are, which of them may be loaded, and which are evicted.

To load a library is to run it. Only files that the user alone can have written are loaded, from a folder that no one
else can write to; and each ends with a checksum of its key and content, so that a damaged one, which could take the
program down, is made anew.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import stat
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from flexarm.foundation.files import is_owned, remove_abandoned
from flexarm.foundation.messages import shown

DRAFT_PREFIX = ".build-"  # how the names of folders begin in which libraries are built
CHECKSUM_MARK = b"flexarm library"  # between a library and its checksum

ELF_HEADER_SIZE = 64
ELF_NOBITS = 8  # type of a section that takes no space in the file

SIZE_VARIABLE = "FLEXARM_CACHE_SIZE"
DEFAULT_SIZE = "500 MB"
SIZE_UNITS = {"": 1e6, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
IN_USE = 60.0  # s since a library was last built or loaded: a program may be about to open it

LIBRARY_PATTERN = re.compile(r"\w+-[0-9a-f]{32}\.so")  # name and key

log = logging.getLogger("flexarm")
_lock = threading.Lock()
_said: set[str] = set()


def present_library(name: str, key: str) -> Path | None:
    """The library of a key if it is there and may be loaded."""
    library = usable_directory() / f"{name}-{key}.so"
    if not _sound(library, key):
        return None
    touch(library)
    return library


def kept_library(name: str, key: str, build: Callable[[Path], Path]) -> Path:
    """The library of a key; if there is none that may be loaded, what `build` makes in the folder that it is given."""
    present = present_library(name, key)
    if present is not None:
        return present
    directory = usable_directory()
    library = directory / f"{name}-{key}.so"
    try:
        workplace = tempfile.mkdtemp(prefix=DRAFT_PREFIX, dir=directory)
    except OSError as error:
        library = _throwaway_for(f"the cache {directory} cannot be written ({error.strerror})") / library.name
        workplace = tempfile.mkdtemp(prefix=DRAFT_PREFIX, dir=library.parent)
    try:
        sealed = Path(workplace) / "sealed"
        _seal(build(Path(workplace)), sealed, key)
        os.replace(sealed, library)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    evict(library.parent, _most_bytes(), spared=library)
    return library


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


def usable_directory() -> Path:
    """Return the cache directory, created if need be, or a temporary one if it cannot be used."""
    directory = cache_directory()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if why := _not_private(os.stat(directory)):
            return _throwaway_for(f"the cache {directory} is not used, since it {why}")
    except OSError as error:
        return _throwaway_for(f"the cache {directory} cannot be written ({error.strerror})")
    remove_abandoned(directory, DRAFT_PREFIX)
    return directory


def sources(package: Path) -> list[str]:
    """The files of a package's code. (As text: a `Path` for each would take longer than to read them.)"""
    found = (os.path.join(folder, name) for folder, _, names in os.walk(package) for name in names)
    return sorted(each for each in found if each.endswith((".py", ".c")))


def fingerprint(package: Path) -> str:
    """A hash of a package's sources: other code makes other functions, whichever file it is in."""
    digest, start = hashlib.sha256(), len(str(package))
    for file in sources(package):
        with open(file, "rb", buffering=0) as stream:
            content = stream.readall()
        digest.update(f"{file[start:]}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def say_once(sentence: str) -> None:
    with _lock:
        if sentence not in _said:
            _said.add(sentence)
            log.warning("flexarm: %s", sentence)


def _most_bytes() -> float:
    given = os.environ.get(SIZE_VARIABLE, "").strip() or DEFAULT_SIZE
    try:
        return size_to_keep(given)
    except ValueError as error:
        say_once(f"{error}; {DEFAULT_SIZE} of compiled code are kept")
        return size_to_keep(DEFAULT_SIZE)


def _throwaway_for(reason: str) -> Path:
    say_once(f"{reason}; compiled code will not be kept")
    with _lock:
        return Path(_made_throwaway().name)


@cache
def _made_throwaway() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="flexarm-", ignore_cleanup_errors=True)


def _not_private(found: os.stat_result) -> str:
    """Why others may have written this; empty when they cannot have."""
    if not is_owned(found):
        return "belongs to another user"
    if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o022:
        return f"can be written by others (its mode is {stat.S_IMODE(found.st_mode):o}; chmod 700 makes it private)"
    return ""


def _sound(library: Path, key: str) -> bool:
    """Return True if a library exists, belongs to the user, and was built for the key."""
    try:
        found = os.lstat(library)
        if not stat.S_ISREG(found.st_mode) or _not_private(found):
            return False
        content = library.read_bytes()
    except OSError:
        return False
    end = len(content) - len(CHECKSUM_MARK) - hashlib.sha256().digest_size
    return end > 0 and content[end:] == CHECKSUM_MARK + _checksum(memoryview(content)[:end], key)


def _seal(built: Path, sealed: Path, key: str) -> None:
    """Write a copy with its checksum at the end, which loaders ignore, accessible to the user only."""
    content = built.read_bytes()
    if is_incomplete(content):
        raise OSError(f"the compiler wrote an incomplete library, {built.name} of {len(content)} bytes")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(sealed, flags, 0o600), "wb") as stream:
        stream.write(content + CHECKSUM_MARK + _checksum(content, key))


def is_incomplete(content: bytes) -> bool:
    """Return True for an ELF file (64 bits) that ends before its segments and sections do; loading it may crash.

    Other formats are not examined.
    """
    if not content.startswith(b"\x7fELF\x02"):
        return not content
    if len(content) < ELF_HEADER_SIZE:
        return True
    order = "<" if content[5] == 1 else ">"
    segments, sections = struct.unpack_from(f"{order}QQ", content, 32)
    segment_size, segment_count, section_size, section_count = struct.unpack_from(f"{order}4H", content, 54)
    if max(segments + segment_size * segment_count, sections + section_size * section_count) > len(content):
        return True
    places = [(segments + k * segment_size + 8, 24) for k in range(segment_count)]  # offset, and size behind it
    places += [
        (sections + k * section_size + 24, 8)
        for k in range(section_count)
        if struct.unpack_from(f"{order}I", content, sections + k * section_size + 4)[0] != ELF_NOBITS
    ]
    ends = (sum(struct.unpack_from(f"{order}Q", content, at + more)[0] for more in (0, to)) for at, to in places)
    return max(ends, default=0) > len(content)


def _checksum(content: bytes | memoryview, key: str) -> bytes:
    digest = hashlib.sha256(key.encode())
    digest.update(content)
    return digest.digest()


def size_to_keep(given: str) -> float:
    """Return the number of bytes of compiled code to keep, from the value of $FLEXARM_CACHE_SIZE.

    >>> size_to_keep("200"), size_to_keep("1.5 GB")
    (200000000.0, 1500000000.0)
    """
    found = re.fullmatch(r"([0-9.]+)\s*([a-z]*)", given.strip().lower())
    with suppress(ValueError, KeyError):
        if found is not None:
            return float(found[1]) * SIZE_UNITS[found[2]]
    raise ValueError(
        f"{SIZE_VARIABLE} = {shown(given)}: must be a number of MB, or one with B, kB, MB, GB or TB ('2 GB')"
    )


def touch(library: Path) -> None:
    """Note that a library is used. (The time of its last change: that of access is often not kept.)"""
    with suppress(OSError):  # in a cache that can only be read
        os.utime(library)


def evict(directory: Path, most: float, spared: Path) -> None:
    """Delete libraries, those first that were not used for longest, until `most` bytes are left.

    `spared` and whatever was used in the last minute stay. A program that runs a deleted library goes on running it;
    two that evict at once delete the same ones.
    """
    libraries = _libraries(directory)
    total = sum(found.st_size for _, found in libraries)
    now = time.time()
    for path, found in sorted(libraries, key=lambda each: each[1].st_mtime_ns):
        if total <= most:
            return
        if path != str(spared) and abs(now - found.st_mtime) > IN_USE and _gone(path):
            total -= found.st_size


def _libraries(directory: Path) -> list[tuple[str, os.stat_result]]:
    """Files of the user's own that are named as libraries of this package are."""
    libraries = []
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with suppress(OSError):  # another program was faster
                if LIBRARY_PATTERN.fullmatch(entry.name):
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and is_owned(found):
                        libraries.append((entry.path, found))
    return libraries


def _gone(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:  # another program was faster
        return True
    except OSError:  # some systems keep files which a program runs
        return False
    return True
