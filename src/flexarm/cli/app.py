"""Typer application, and the arguments, exit codes and file checks that several commands share."""

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


EXIT_CODES = """Exit codes: 0 success, also if a joint limit or a condition of the model ends a run. 1 error, or a run
that diverged or failed. 2 wrong usage. 130 after Ctrl-C and 143 after SIGTERM; the results computed until then are
written."""

app = typer.Typer(
    help="Dynamics of robots with flexible links and joints.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

FILE = Annotated[Path, typer.Argument(help="robot description (YAML)", show_default=False)]
SET = Annotated[list[str], typer.Option("--set", help="change a parameter: links.fore.payload.mass=0.3 (repeatable)")]
RESULTS = Annotated[Path, typer.Argument(help="results of a run (NetCDF)", show_default=False)]
OTHER = Annotated[Path | None, typer.Option(help="results of another run to draw for comparison")]
MAGNIFY = Annotated[float, typer.Option(help="factor by which drawn deflections are exaggerated")]


@app.callback(invoke_without_command=True)
def version_option(
    version: Annotated[bool, typer.Option("--version", help="print the version and exit")] = False,
) -> None:
    if version:
        print(f"flexarm {__version__}")
        raise typer.Exit


FAILED = 1
INTERRUPTED = 128 + signal.SIGINT  # the convention of shells
TERMINATED = 128 + signal.SIGTERM

EXIT_CODE_BY_STATUS = {"completed": 0, "stopped": 0, "interrupted": INTERRUPTED, "failed": FAILED}


class Termination:
    """Handler that turns SIGTERM into KeyboardInterrupt, so that results are written as after Ctrl-C.

    `requested` is true after SIGTERM and false after Ctrl-C.
    """

    def __init__(self) -> None:
        self.requested = False

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        raise KeyboardInterrupt


def parse_assignments(option: str, words: list[str]) -> dict[str, Any]:
    """Parse `name=value` arguments; values are YAML, so that numbers, lists and names are allowed."""
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
    """Path of a file to write; `replaces` is true if the file exists already."""

    path: Path
    replaces: bool

    def __str__(self) -> str:
        return f"{self.path} (replaced)" if self.replaces else str(self.path)


def check_output(option: str, name: str, endings: Sequence[str] = ()) -> OutputFile:
    """Return the file that an option names, or raise ValueError if it cannot be written."""
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


def check_film(option: str, name: str) -> OutputFile:
    """Return the film file that an option names, or raise ValueError if its format is not available."""
    from flexarm.plotting.films import require_film_file

    try:
        require_film_file(name)
    except (ValueError, OSError) as error:
        raise ValueError(f"{option} {error}") from None
    return check_output(option, name)


def save_figure(figure: Any, picture: OutputFile) -> None:
    write_atomically(picture.path, lambda part: figure.savefig(part, dpi=150))


@dataclass(frozen=True)
class SavedResults:
    """Location of saved results; `problem` is empty unless they were saved elsewhere than requested."""

    location: str
    problem: str = ""


def save_results(run: Run, results: OutputFile) -> SavedResults:
    """Save a run to its file or, if that fails, to a temporary folder so that no computed results are lost."""
    try:
        run.save(results.path)
        return SavedResults(str(results))
    except OSError as error:
        problem = f"{results.path}: cannot be written ({error.strerror or error})"
    try:
        fallback = Path(tempfile.mkdtemp(prefix="flexarm-")) / results.path.name
        run.save(fallback)
    except OSError as error:
        raise OSError(f"{problem}, nor can a temporary file ({error.strerror or error}): the run is lost") from None
    return SavedResults(str(fallback), f"{problem}; the results are kept in {fallback}")
