"""`flexarm equations`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flexarm.cli.app import FILE, SET
from flexarm.cli.assignments import assignments
from flexarm.cli.outputs import output as checked_output
from flexarm.foundation.files import write_text

FORMATS = {"text": ".txt", "latex": ".tex", "python": ".py", "c": ".c", "matlab": ".m"}


def equations(
    file: FILE,
    form: Annotated[
        str | None, typer.Option("--format", help="text, latex, python, c or matlab; by the ending of -o unless given")
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="write to this file instead of printing")] = None,
    parameters: Annotated[str, typer.Option(help="symbolic, numeric, or the symbols to keep: l_1,m_1")] = "symbolic",
    route: Annotated[str, typer.Option(help="assembly of the mass matrix: extended or global")] = "extended",
    nodes: Annotated[
        list[str],
        typer.Option("--k", help="node or element in a joint on a mesh: fore=2 (repeatable)"),
    ] = [],  # noqa: B006
    stiffening: Annotated[
        str | None,
        typer.Option(
            help="model of flexible links: none, shortening, exact or robot (each link's own, the default if it exists)"
        ),
    ] = None,
    changes: SET = [],  # noqa: B006
) -> None:
    """Print the equations of motion of a robot in closed form."""
    import flexarm

    kind = format_of(form, output)
    target = None if output is None else checked_output("--output", output)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(assignments("--set", changes))
    words = [each.strip() for each in parameters.split(",")]
    keep: Any = words[0] if words[0] in ("symbolic", "numeric") and len(words) == 1 else words
    way: Any = route
    model: Any = stiffening
    found = flexarm.equations(robot, parameters=keep, route=way, k=assignments("--k", nodes), stiffening=model)
    written = getattr(found, kind)()
    if target is None:
        print(written)
        return
    write_text(target.path, written)
    print(f"{found}, written to {target}")


def format_of(form: str | None, output: str | None) -> str:
    """The format of equations, asked for or by the ending of the file."""
    if form is None:
        endings = {ending: name for name, ending in FORMATS.items()}
        if output is None:
            return "text"
        if (ending := Path(output).suffix) not in endings:
            raise ValueError(f"--output {output}: must end in one of {', '.join(endings)}, or say --format")
        return endings[ending]
    if form not in FORMATS:
        raise ValueError(f"--format {form}: must be one of {', '.join(FORMATS)}")
    return form
