"""`flexarm run`.

`flexarm sweep`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexarm.cli.app import (
    EXIT_CODE_BY_STATUS,
    FAILED,
    FILE,
    INTERRUPTED,
    MAGNIFY,
    PICTURES,
    SET,
    check_film,
    parse_assignments,
    save_figure,
    save_results,
)
from flexarm.cli.app import check_output as checked_output

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.robot import Robot


def run(
    file: FILE,
    output: Annotated[str | None, typer.Option("-o", "--output", help="results (NetCDF); FILE's name with .nc")] = None,
    plot: Annotated[str | None, typer.Option(help="figure of the results; their name with .png")] = None,
    duration: Annotated[float | None, typer.Option(help="simulated time (s) instead of the file's")] = None,
    changes: SET = [],  # noqa: B006
    rigid: Annotated[bool, typer.Option("--rigid", help="run the rigid twin too and show the difference")] = False,
    animate: Annotated[str | None, typer.Option(help="film of the moving arm: .gif, .mp4 or .html")] = None,
    magnify: MAGNIFY = 1.0,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="let tables lie outside the folder of FILE")
    ] = False,
) -> None:
    """Simulate a robot as its file's `simulation` section says.

    Exits with 0 also where a joint limit or a condition of the model ends the run, with 1 if it diverges or fails, with
    130 after Ctrl-C and 143 after SIGTERM. What was computed until then is written in every case.
    """
    from rich.console import Console

    import flexarm
    from flexarm.plotting.animate import require_frames
    from flexarm.plotting.style import run_table
    from flexarm.plotting.time_series import run_figure

    results = checked_output("--output", file.with_suffix(".nc").name if output is None else output, [".nc"])
    picture = checked_output("--plot", str(results.path.with_suffix(".png")) if plot is None else plot, PICTURES)
    moving = None if animate is None else check_film("--animate", animate)
    robot, options = read_simulation(file, changes, duration, allow_outside)
    if moving is not None:
        require_frames(options["duration"])
    print(robot)
    found = flexarm.simulate(robot, **options)
    kept = save_results(found, results)  # before anything else can fail
    code = EXIT_CODE_BY_STATUS[found.status]
    twin = None
    if rigid and code == 0:
        twin = flexarm.simulate(robot.rigid(), **_of_rigid(options, robot.rigid()))
        code = EXIT_CODE_BY_STATUS[twin.status]
    Console(highlight=False).print(run_table(found, flexarm.modes(robot, q=found.data["q"].values[0]), twin))
    save_figure(run_figure(found, twin), picture)
    if moving is not None:
        found.animate(moving.path, magnify=magnify, other=twin)
    print(f"results in {kept.where}, figure in {picture}" + (f", film in {moving}" if moving is not None else ""))
    if code == FAILED:
        failed = f"the run {found.reason}" if twin is None else f"the run of the rigid twin {twin.reason}"
        print(f"error: {failed}", file=sys.stderr)
    if kept.problem:
        print(f"error: {kept.problem}", file=sys.stderr)
    raise typer.Exit(code or (FAILED if kept.problem else 0))


def read_simulation(
    file: Path, changes: list[str], duration: float | None, outside: bool
) -> tuple[Robot, dict[str, Any]]:
    """The robot and the options of `simulate`, from the file and the command line."""
    from flexarm.robot.io.files import read
    from flexarm.simulation.simulation_file import simulation_options

    robot, section = read(file)
    wanted = parse_assignments("--set", changes)
    section |= {
        name.removeprefix("simulation."): wanted.pop(name) for name in list(wanted) if name.startswith("simulation.")
    }
    if wanted:
        robot = robot.with_(wanted)
    section = section if duration is None else section | {"duration": duration}
    return robot, simulation_options(section, str(file), robot=robot, outside=outside)


def _of_rigid(options: dict[str, Any], twin: Any) -> dict[str, Any]:
    """The same simulation for the rigid twin: initial values of what it does not have are left out."""
    import flexarm

    names = flexarm.System(twin, native=False).names
    out = dict(options)
    for field in ("q0", "v0"):
        if isinstance(out.get(field), dict):
            out[field] = {name: value for name, value in out[field].items() if name in names}
    return out


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

    pass
    from flexarm.robot import DescriptionError
    from flexarm.robot.errors import DescriptionProblem
    from flexarm.robot.io.files import SWEEP, read_source
    from flexarm.sweeps.sweep import sweep_options

    results = checked_output("--output", f"{file.stem}_sweep.nc" if output is None else output, [".nc"])
    picture = checked_output("--plot", str(results.path.with_suffix(".png")) if plot is None else plot, PICTURES)
    section = read_source(file)[2].data.get(SWEEP)
    if not section:
        raise DescriptionError(
            [DescriptionProblem(SWEEP, ..., "is required: what to vary, see the file format")], str(file)
        )
    wanted = sweep_options(section, str(file))
    robot, options = read_simulation(file, changes, duration, allow_outside)
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
    save_figure(flexarm.plot_sweep(found, list(quantity) or None), picture)
    print(f"results in {results.path}, figure in {picture}")


def _told(found: xr.Dataset) -> int:
    """How many members ran, and the range of what came out, of drawn ones their quantiles; the number of those that did
    not fail."""
    import numpy as np

    from flexarm.plotting.sweeps import drawable_quantities

    states = found["status"].values
    done = int(np.isin(states, ("completed", "stopped")).sum())
    print(f"{done} of {states.size} members ran, in {found.attrs['wall_time']:.3g} s")
    drawn = "member" in found.dims and found.attrs.get("kind") == "monte_carlo"
    for name, each in drawable_quantities(found).items():
        values = each.values[np.isfinite(each.values)]
        if not values.size:
            continue
        low, middle, high = np.quantile(values, (0.05, 0.5, 0.95) if drawn else (0.0, 0.5, 1.0))
        ranges = f"{middle:.4g}, nine of ten {low:.4g} to {high:.4g}" if drawn else f"{low:.4g} to {high:.4g}"
        print(f"  {name:24} {ranges} {each.attrs.get('units', '')}".rstrip())
    return done
