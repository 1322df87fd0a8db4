"""`flexarm studio`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio(
    file: Annotated[
        Path | None, typer.Argument(help="robot (YAML) or results of a run (NetCDF); a two-link arm unless given")
    ] = None,
    port: Annotated[int, typer.Option(help="where to listen; the next one if it is taken")] = 8080,
    host: Annotated[str, typer.Option(help="who may open it: 127.0.0.1 this machine, 0.0.0.0 all")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="open a page at once")] = True,
    sweep: Annotated[Path | None, typer.Option(help="results of `flexarm sweep FILE` (NetCDF), as a map")] = None,
) -> None:
    """See, change and understand a robot in the browser, until Ctrl-C."""
    import flexarm

    try:
        found = flexarm.studio(file, host=host, port=port, browser=browser, sweep=sweep)
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None
    print(f"studio at {found.url}; Ctrl-C ends it", flush=True)
    try:
        found.wait()
    finally:
        found.stop()
