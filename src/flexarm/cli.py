"""The command line: `flexarm modes FILE`, `flexarm schema`. A user of it never sees a traceback."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from flexarm._version import __version__

app = typer.Typer(
    help="The dynamics of robots whose links and joints bend.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

FILE = Annotated[Path, typer.Argument(help="robot description (YAML)", show_default=False)]
SET = Annotated[list[str], typer.Option("--set", help="change a parameter: links.fore.payload.mass=0.3 (repeatable)")]


@app.callback(invoke_without_command=True)
def version_option(
    version: Annotated[bool, typer.Option("--version", help="print the version and stop")] = False,
) -> None:
    if version:
        print(f"flexarm {__version__}")
        raise typer.Exit


@app.command()
def modes(
    file: FILE,
    posture: Annotated[list[str], typer.Option("--q", help="posture: fore.q=0.5 (repeatable)")] = [],  # noqa: B006
    joints: Annotated[str, typer.Option(help="free, locked, or by link: upper=locked,fore=free")] = "free",
    most: Annotated[int, typer.Option(min=1, help="how many modes to list")] = 12,
    changes: SET = [],  # noqa: B006
    mass_matrix: Annotated[bool, typer.Option("--mass-matrix", help="print the mass matrix at the posture")] = False,
    plot: Annotated[Path | None, typer.Option(help="draw the first mode shapes into this file")] = None,
) -> None:
    """Print the vibration modes of a robot."""
    from rich.console import Console
    from rich.table import Table

    import flexarm

    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(_assignments("--set", changes))
    hold: Any = joints if joints in ("free", "locked") else _holds(joints)
    found = flexarm.modes(robot, q=_assignments("--q", posture), joints=hold)
    console = Console(highlight=False)
    print(robot)
    table = Table(title=f"modes, joints {joints}")
    for number in ("mode", "Hz", "rad/s", "damping"):
        table.add_column(number, justify="right")
    for word in ("kind", "moves most"):
        table.add_column(word)
    for row in found.rows(most):
        table.add_row(*row)
    console.print(table)
    if len(found) > most:
        print(f"{len(found) - most} more modes; --most {len(found)} lists all")
    if mass_matrix:
        _print_matrix("mass matrix M(q)", found.system.mass_matrix(found.q), found.names)
    if plot is not None:
        from flexarm.show.plots import mode_shapes

        mode_shapes(found).savefig(plot, dpi=150)
        print(f"mode shapes drawn in {plot}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of robot files."""
    import flexarm

    print(json.dumps(flexarm.schema(), indent=2))


def _assignments(option: str, words: list[str]) -> dict[str, Any]:
    """`name=value` words; values are read as YAML, so numbers, lists and names all work."""
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


def _holds(joints: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in joints.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise ValueError(f"--joints {joints}: must be free, locked, or link=free|locked separated by commas")
    return {name.strip(): hold.strip() for name, _, hold in pairs}


def _print_matrix(title: str, matrix: Any, names: tuple[str, ...]) -> None:
    width = max(len(name) for name in names)
    print(f"{title}, coordinates in the order of the rows:")
    for name, row in zip(names, matrix, strict=True):
        print(f"  {name:<{width}} " + " ".join(f"{entry:10.3g}" for entry in row))


def main() -> None:
    """Entry point: errors become one sentence on stderr and a non-zero exit code."""
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except (ValueError, KeyError, OSError) as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        sys.exit(f"error: {text}")
    except Exception as error:
        if os.environ.get("FLEXARM_DEBUG"):
            raise
        where = "run again with FLEXARM_DEBUG=1 to see where, and report it"
        sys.exit(f"error: flexarm failed where it should not ({type(error).__name__}: {error}); {where}")
