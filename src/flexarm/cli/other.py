"""Commands `paper`, `schema` and `studio`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def paper(
    name: Annotated[
        str | None, typer.Argument(help="name of a study, or all; by default the studies are listed")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="folder for the pages; created if it does not exist")
    ] = Path("papers"),
) -> None:
    """Recompute the numerical examples of a paper: a page, figures and data."""
    try:
        from flexarm_papers.progress import Steps
        from flexarm_papers.study import studies, study, write_index
    except ModuleNotFoundError as error:
        if error.name != "flexarm_papers":
            raise
        raise ValueError(STUDIES_ABSENT) from None

    if name is None:
        for each in studies():
            print(f"{each.name:<8} {each.paper} ({each.covers})")
        print("flexarm paper NAME runs one of them, flexarm paper all runs all")
        return
    chosen = studies() if name == "all" else [study(name)]
    if output.exists() and not output.is_dir():
        raise ValueError(f"--output {output}: is a file, not a folder")
    with Steps(sum(len(each.sections) for each in chosen)) as steps:
        pages = [each.run(output, steps) for each in chosen]
    if name == "all":
        pages.insert(0, write_index(output, chosen))
    print("pages in " + ", ".join(map(str, pages)))


STUDIES_ABSENT = (
    "the studies of the papers are not part of the installed package: they are run from the repository, whose folder "
    "studies/ holds them (make papers, or pip install --editable . there)"
)


def schema() -> None:
    """Print the JSON Schema of robot files."""
    import flexarm

    print(json.dumps(flexarm.schema(), indent=2))


def studio(
    file: Annotated[
        Path | None, typer.Argument(help="robot (YAML) or results of a run (NetCDF); by default a two-link arm")
    ] = None,
    port: Annotated[int, typer.Option(help="port to listen on; the next free one if it is in use")] = 8080,
    host: Annotated[
        str, typer.Option(help="address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="open a browser window")] = True,
    sweep: Annotated[
        Path | None, typer.Option(help="results of `flexarm sweep FILE` (NetCDF) to show as a map")
    ] = None,
) -> None:
    """Show and change a robot interactively in the browser, until Ctrl-C."""
    import flexarm

    try:
        server = flexarm.studio(file, host=host, port=port, browser=browser, sweep=sweep)
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None
    print(f"studio at {server.url}; Ctrl-C ends it", flush=True)
    try:
        server.wait()
    finally:
        server.stop()
