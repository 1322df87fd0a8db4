"""The program `flexarm`, and the arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flexarm._version import __version__

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
