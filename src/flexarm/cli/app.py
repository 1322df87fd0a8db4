"""The program `flexarm`, and the arguments that several commands take.

How commands end: exit codes, and a polite end on SIGTERM.

`name=value` words of the command line.

Files that commands write: checked before any work, said when they replace another, never lost when they fail.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexarm._version import __version__
from flexarm.foundation.files import write_atomically

if TYPE_CHECKING:
    from flexarm.results.run import Run


EXIT_CODES = """Exit codes: 0 the command did what was asked; so it is when a joint limit or a condition of the model
ends a run. 1 an error, or a run that diverged or failed. 2 wrong usage. 130 after Ctrl-C and 143 after SIGTERM; what a
run had computed until then is written."""

app = typer.Typer(
    help="The dynamics of robots whose links and joints bend.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

FILE = Annotated[Path, typer.Argument(help="robot description (YAML)", show_default=False)]
SET = Annotated[list[str], typer.Option("--set", help="change a parameter: links.fore.payload.mass=0.3 (repeatable)")]
RESULTS = Annotated[Path, typer.Argument(help="results of a run (NetCDF)", show_default=False)]
OTHER = Annotated[Path | None, typer.Option(help="results of another run, drawn beside it")]
MAGNIFY = Annotated[float, typer.Option(help="how much larger than life deflections are drawn")]


@app.callback(invoke_without_command=True)
def version_option(
    version: Annotated[bool, typer.Option("--version", help="print the version and stop")] = False,
) -> None:
    if version:
        print(f"flexarm {__version__}")
        raise typer.Exit


FAILED = 1
INTERRUPTED = 128 + signal.SIGINT  # what a shell expects after Ctrl-C
TERMINATED = 128 + signal.SIGTERM

CODES = {"completed": 0, "stopped": 0, "interrupted": INTERRUPTED, "failed": FAILED}  # by a run's status


class Termination:
    """SIGTERM as Ctrl-C: a run keeps what it has, a command writes it. `asked` tells the two apart afterwards."""

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt


def assignments(option: str, words: list[str]) -> dict[str, Any]:
    """Values are read as YAML, so numbers, lists and names all work."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    out = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise ValueError(f"{option} {word}: must look like name=value")
        try:
            out[name] = YAML(typ="safe").load(value)
        except YAMLError:
            raise ValueError(f"{option} {word}: '{value}' cannot be read as a value") from None
    return out


PICTURES = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class OutputFile:
    """A file to write; as text, its path and whether it replaces a file."""

    path: Path
    replaces: bool

    def __str__(self) -> str:
        return f"{self.path} (replaced)" if self.replaces else str(self.path)


def output(option: str, name: str, endings: Sequence[str] = ()) -> OutputFile:
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
    return OutputFile(path, path.exists())


def film(option: str, name: str) -> OutputFile:
    """The same for a film, whose kind must be one that can be made here."""
    from flexarm.plotting.films import kind_of

    try:
        kind_of(name)
    except (ValueError, OSError) as error:
        raise ValueError(f"{option} {error}") from None
    return output(option, name)


def draw(figure: Any, picture: OutputFile) -> None:
    write_atomically(picture.path, lambda part: figure.savefig(part, dpi=150))


@dataclass(frozen=True)
class Kept:
    """Where results are; `problem` is a sentence if that is not where they should be."""

    where: str
    problem: str = ""


def keep(run: Run, results: OutputFile) -> Kept:
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
