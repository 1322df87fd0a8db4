"""`flexarm sweep`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexarm.cli.app import FILE, SET
from flexarm.cli.exits import FAILED, INTERRUPTED
from flexarm.cli.outputs import PICTURES, draw
from flexarm.cli.outputs import output as checked_output

if TYPE_CHECKING:
    import xarray as xr


def sweep(
    file: FILE,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="results (NetCDF); FILE's name with _sweep.nc")
    ] = None,
    plot: Annotated[str | None, typer.Option(help="figure of the results; their name with .png")] = None,
    quantity: Annotated[list[str], typer.Option(help="measure to draw: tip.y, residual (repeatable)")] = [],  # noqa: B006
    duration: Annotated[float | None, typer.Option(help="simulated time (s) instead of the file's")] = None,
    changes: SET = [],  # noqa: B006
    threads: Annotated[int | None, typer.Option(help="cores; all unless given")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="discard what is in the results' file")] = False,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="let tables lie outside the folder of FILE")
    ] = False,
) -> None:
    """Simulate a robot many times, with what its file's `sweep` section varies.

    Results are kept as they come: the same command again goes on where it was stopped. A file of another sweep is left
    alone, unless --replace is given. Exits with 1 if no member could be run, with 130 after Ctrl-C and 143 after
    SIGTERM.
    """
    import flexarm
    from flexarm.cli.run import asked
    from flexarm.robot import DescriptionError
    from flexarm.robot.errors import Problem
    from flexarm.robot.files import SWEEP, read_source
    from flexarm.sweeps.sweep_file import sweep_options

    results = checked_output("--output", f"{file.stem}_sweep.nc" if output is None else output, [".nc"])
    picture = checked_output("--plot", str(results.path.with_suffix(".png")) if plot is None else plot, PICTURES)
    section = read_source(file)[2].data.get(SWEEP)
    if not section:
        raise DescriptionError([Problem(SWEEP, ..., "is required: what to vary, see the file format")], str(file))
    wanted = sweep_options(section, str(file))
    robot, options = asked(file, changes, duration, allow_outside)
    if replace:
        for each in (results.path, Path(f"{results.path}.part")):
            each.unlink(missing_ok=True)
    many: Any = flexarm.monte_carlo if wanted.drawn else flexarm.sweep
    found = many(robot, **wanted.options, **options, store=results.path, threads=threads)
    done = _told(found)
    if found.attrs["status"] == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if not done:
        print(f"error: no member of the sweep could be run; {results} says why", file=sys.stderr)
        raise typer.Exit(FAILED)
    draw(flexarm.plot_sweep(found, list(quantity) or None), picture)
    print(f"results in {results.path}, figure in {picture}")


def _told(found: xr.Dataset) -> int:
    """How many members ran, and the range of what came out, of drawn ones their quantiles; the number of those that did
    not fail."""
    import numpy as np

    from flexarm.show.sweeps import quantities

    states = found["status"].values
    done = int(np.isin(states, ("completed", "stopped")).sum())
    print(f"{done} of {states.size} members ran, in {found.attrs['wall_time']:.3g} s")
    drawn = "member" in found.dims and found.attrs.get("kind") == "monte_carlo"
    for name, each in quantities(found).items():
        values = each.values[np.isfinite(each.values)]
        if not values.size:
            continue
        low, middle, high = np.quantile(values, (0.05, 0.5, 0.95) if drawn else (0.0, 0.5, 1.0))
        ranges = f"{middle:.4g}, nine of ten {low:.4g} to {high:.4g}" if drawn else f"{low:.4g} to {high:.4g}"
        print(f"  {name:24} {ranges} {each.attrs.get('units', '')}".rstrip())
    return done
