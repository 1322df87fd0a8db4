"""Files that commands write: checked before any work, said when they replace another, never lost when they fail."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexarm.foundation.files import atomically

if TYPE_CHECKING:
    from flexarm.motion.run import Run

PICTURES = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class Output:
    """A file to write; as text, its path and whether it replaces a file."""

    path: Path
    replaces: bool

    def __str__(self) -> str:
        return f"{self.path} (replaced)" if self.replaces else str(self.path)


def output(option: str, name: str, endings: Sequence[str] = ()) -> Output:
    """A file that can be written, or a sentence about the option that named it."""
    path = Path(name)
    if endings and path.suffix.lower() not in endings:
        listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise ValueError(f"{option} {name or repr(name)}: must end in {listed}")
    if not name or path.is_dir():
        raise ValueError(f"{option} {name or repr(name)}: is a directory, not a file")
    if not path.parent.is_dir():
        raise ValueError(f"{option} {name}: there is no folder '{path.parent}'")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(f"{option} {name}: nothing can be written in '{path.parent}': {error.strerror}") from None
    return Output(path, path.exists())


def film(option: str, name: str) -> Output:
    """The same for a film, whose kind must be one that can be made here."""
    from flexarm.show.films import kind_of

    try:
        kind_of(name)
    except (ValueError, OSError) as error:
        raise ValueError(f"{option} {error}") from None
    return output(option, name)


def draw(figure: Any, picture: Output) -> None:
    atomically(picture.path, lambda part: figure.savefig(part, dpi=150))


@dataclass(frozen=True)
class Kept:
    """Where results are; `problem` is a sentence if that is not where they should be."""

    where: str
    problem: str = ""


def keep(run: Run, results: Output) -> Kept:
    """Save a run where it should be or, if that fails, in a temporary folder: hours of work are not lost to a disk."""
    try:
        run.save(results.path)
        return Kept(str(results))
    except OSError as error:
        problem = f"{results.path}: cannot be written ({error.strerror or error})"
    try:
        refuge = Path(tempfile.mkdtemp(prefix="flexarm-")) / results.path.name
        run.save(refuge)
    except OSError as error:
        raise OSError(f"{problem}, nor can a temporary file ({error.strerror or error}): the run is lost") from None
    return Kept(str(refuge), f"{problem}; the results are kept in {refuge}")
