"""How much compiled code is kept on the disk: beyond that, what was not used for longest goes."""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

from flexarm.foundation.files import owned
from flexarm.foundation.sentences import shown

VARIABLE = "FLEXARM_CACHE_SIZE"
DEFAULT = "500 MB"
UNITS = {"": 1e6, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
IN_USE = 60.0  # s since a library was last built or loaded: a program may be about to open it

OURS = re.compile(r"\w+-[0-9a-f]{32}\.so")  # name and key


def size_to_keep(given: str) -> float:
    """Bytes of compiled code that may stay, from what $FLEXARM_CACHE_SIZE says.

    >>> size_to_keep("200"), size_to_keep("1.5 GB")
    (200000000.0, 1500000000.0)
    """
    found = re.fullmatch(r"([0-9.]+)\s*([a-z]*)", given.strip().lower())
    with suppress(ValueError, KeyError):
        if found is not None:
            return float(found[1]) * UNITS[found[2]]
    raise ValueError(f"{VARIABLE} = {shown(given)}: must be a number of MB, or one with B, kB, MB, GB or TB ('2 GB')")


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
                if OURS.fullmatch(entry.name):
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and owned(found):
                        libraries.append((entry.path, found))
    return libraries


def _gone(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:  # another program was faster
        return True
    except OSError:  # say, a system that keeps files which a program runs
        return False
    return True
