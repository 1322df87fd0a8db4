"""Outcomes in a file as they come: lines that are only ever appended, so that whatever kills a program loses at most
the line that it was writing."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from flexarm.sweeps.member import Outcome

FORMAT = 1


class Journal:
    """A line for what the sweep is, and one for each outcome; each with its checksum.

    While it is open it is locked, where the system can: two sweeps do not write to one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: BinaryIO | None = None

    def head(self) -> dict[str, Any] | None:
        """What the sweep is; None where there is no journal, or none that was begun."""
        with suppress(FileNotFoundError), open(self.path, "rb") as stream:
            found = _read(stream.readline())
            return found if found is not None and found.get("flexarm sweep") == FORMAT else None
        return None

    def begin(self, head: Mapping[str, Any]) -> Iterator[Outcome]:
        """Open it to append: a new one with this head, or the one that is there, whose outcomes come back."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        self._stream = os.fdopen(descriptor, "r+b")
        try:
            self._lock()
            if self.head() is None:
                self._stream.truncate(0)
                self._append({"flexarm sweep": FORMAT, **head})
                self._sync()
                return iter(())
            found, end = self._outcomes()
            self._stream.seek(end)
            self._stream.truncate()  # half a line, of a program that was killed
            return iter(found)
        except BaseException:
            self.close()
            raise

    def write(self, outcome: Outcome) -> None:
        """Handed to the system: it survives the end of this program, whatever that is."""
        values = {name: np.asarray(value).tolist() for name, value in outcome.values.items()}
        line: dict[str, Any] = {"n": outcome.number, "values": values, "status": outcome.status}
        if outcome.reason:
            line["reason"] = outcome.reason
        if outcome.doubts:
            line["doubts"] = outcome.doubts
        self._append(line)

    def close(self) -> None:
        if self._stream is not None:
            stream, self._stream = self._stream, None
            with suppress(OSError, ValueError):
                stream.flush()
                os.fsync(stream.fileno())
            stream.close()

    def remove(self) -> None:
        self.close()
        with suppress(FileNotFoundError):
            self.path.unlink()

    def _outcomes(self) -> tuple[list[Outcome], int]:
        """All whole lines after the head, and where they end."""
        assert self._stream is not None
        self._stream.seek(0)
        end = len(self._stream.readline())
        found = []
        for line in self._stream:
            read = _read(line)
            if read is None:
                break
            values = {name: np.asarray(value, dtype=float) for name, value in read["values"].items()}
            doubts = tuple(read.get("doubts", ()))
            found.append(Outcome(read["n"], values, read["status"], read.get("reason", ""), None, doubts))
            end += len(line)
        return found, end

    def _append(self, line: Mapping[str, Any]) -> None:
        assert self._stream is not None
        text = json.dumps(line, separators=(",", ":")).encode()
        self._stream.write(b"%08x %s\n" % (zlib.crc32(text), text))
        self._stream.flush()

    def _sync(self) -> None:
        assert self._stream is not None
        os.fsync(self._stream.fileno())

    def _lock(self) -> None:
        assert self._stream is not None
        try:
            import fcntl
        except ImportError:  # a system without such locks
            return
        try:
            fcntl.flock(self._stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OSError(f"{self.path}: another sweep is writing to it; wait for it, or take another store") from None


def _read(line: bytes) -> dict[str, Any] | None:
    """What a line says; None if it is not whole."""
    if not line.endswith(b"\n") or line[8:9] != b" ":
        return None
    text = line[9:-1]
    try:
        if int(line[:8], 16) != zlib.crc32(text):
            return None
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
