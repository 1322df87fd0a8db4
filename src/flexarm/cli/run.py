"""Commands `run` and `sweep`."""

from __future__ import annotations

import re
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
    check_output,
    parse_assignments,
    save_figure,
    save_results,
)

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.robot import Robot


def run(
    file: FILE,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="file for the results (NetCDF); by default FILE with .nc")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(help="file for the figure; by default the results' name with .png")
    ] = None,
    duration: Annotated[float | None, typer.Option(help="simulated time (s), instead of that in FILE")] = None,
    changes: SET = [],  # noqa: B006
    rigid: Annotated[
        bool, typer.Option("--rigid", help="also simulate the rigid robot and show the difference")
    ] = False,
    animate: Annotated[str | None, typer.Option(help="file for a film of the moving arm: .gif, .mp4 or .html")] = None,
    magnify: MAGNIFY = 1.0,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="allow tables outside the folder of FILE")
    ] = False,
) -> None:
    """Simulate a robot with the options in the `simulation` section of its file.

    The exit code is 0 also if a joint limit or a condition of the model ends the run, 1 if the run diverges or fails,
    130 after Ctrl-C and 143 after SIGTERM. The results computed until then are written in every case.
    """
    from rich.console import Console

    import flexarm
    from flexarm.plotting.films import require_frame_count
    from flexarm.plotting.tables import run_table
    from flexarm.plotting.time_series import run_figure
    from flexarm.simulation.simulation_file import located_errors

    results = check_output("--output", file.with_suffix(".nc").name if output is None else output, [".nc"])
    picture = check_output("--plot", str(results.path.with_suffix(".png")) if plot is None else plot, PICTURES)
    moving = None if animate is None else check_film("--animate", animate)
    robot, options = read_simulation(file, changes, duration, allow_outside)
    if moving is not None:
        require_frame_count(options["duration"])
    print(robot)
    with located_errors(str(file), _unchanged(options, changes, duration)):
        found = flexarm.simulate(robot, **options)
    saved = save_results(found, results)  # before anything else can fail
    code = EXIT_CODE_BY_STATUS[found.status]
    twin = None
    if rigid and code == 0:
        twin = flexarm.simulate(robot.rigid(), **_rigid_options(options, robot.rigid()))
        code = EXIT_CODE_BY_STATUS[twin.status]
    Console(highlight=False).print(run_table(found, flexarm.modes(robot, q=found.data["q"].values[0]), twin))
    save_figure(run_figure(found, twin), picture)
    if moving is not None:
        found.animate(moving.path, magnify=magnify, other=twin)
    print(f"results in {saved.location}, figure in {picture}" + (f", film in {moving}" if moving is not None else ""))
    if code == FAILED:
        failed = f"the run {found.reason}" if twin is None else f"the run of the rigid twin {twin.reason}"
        print(f"error: {failed}", file=sys.stderr)
    if saved.problem:
        print(f"error: {saved.problem}", file=sys.stderr)
    raise typer.Exit(code or (FAILED if saved.problem else 0))


def read_simulation(
    file: Path, changes: list[str], duration: float | None, outside: bool
) -> tuple[Robot, dict[str, Any]]:
    """Return the robot and the options of `simulate` from the file and the command line."""
    from flexarm.robot.io.files import read
    from flexarm.simulation.simulation_file import simulation_options

    robot, section = read(file)
    values = parse_assignments("--set", changes)
    section |= {
        name.removeprefix("simulation."): values.pop(name) for name in list(values) if name.startswith("simulation.")
    }
    if values:
        robot = robot.with_(values)
    section = section if duration is None else section | {"duration": duration}
    return robot, simulation_options(section, str(file), robot=robot, outside=outside)


def _unchanged(options: dict[str, Any], changes: list[str], duration: float | None) -> list[str]:
    """Return the names of options that are those of the file."""
    words = [each.split("=")[0].removeprefix("simulation.") for each in changes if each.startswith("simulation.")]
    given = {re.split(r"[.\[]", each)[0] for each in words} | (set() if duration is None else {"duration"})
    return [name for name in options if name not in given]


def _rigid_options(options: dict[str, Any], twin: Any) -> dict[str, Any]:
    """Return the options without initial values of coordinates that the rigid robot does not have."""
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
        str | None, typer.Option("-o", "--output", help="file for the results (NetCDF); by default FILE with _sweep.nc")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(help="file for the figure; by default the results' name with .png")
    ] = None,
    quantity: Annotated[list[str], typer.Option(help="quantity to plot: tip.y, residual (repeatable)")] = [],  # noqa: B006
    duration: Annotated[float | None, typer.Option(help="simulated time (s), instead of that in FILE")] = None,
    changes: SET = [],  # noqa: B006
    threads: Annotated[int | None, typer.Option(help="number of threads; by default all cores")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="overwrite an existing results file")] = False,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="allow tables outside the folder of FILE")
    ] = False,
) -> None:
    """Simulate a robot many times, varying the parameters in the `sweep` section of its file.

    Results are written as they are computed; repeating the command resumes an interrupted sweep. Results of another
    sweep are not overwritten unless --replace is given. The exit code is 1 if no member could be simulated, 130 after
    Ctrl-C and 143 after SIGTERM.
    """
    import flexarm
    from flexarm.robot import DescriptionError
    from flexarm.robot.errors import DescriptionProblem
    from flexarm.robot.io.files import SWEEP, read_source
    from flexarm.simulation.simulation_file import located_errors
    from flexarm.sweeps.sweep import sweep_options

    results = check_output("--output", f"{file.stem}_sweep.nc" if output is None else output, [".nc"])
    picture = check_output("--plot", str(results.path.with_suffix(".png")) if plot is None else plot, PICTURES)
    section = read_source(file)[2].data.get(SWEEP)
    if not section:
        raise DescriptionError(
            [DescriptionProblem(SWEEP, ..., "is required: the parameters to vary, see the file format")], str(file)
        )
    settings = sweep_options(section, str(file))
    robot, options = read_simulation(file, changes, duration, allow_outside)
    if replace:
        for each in (results.path, Path(f"{results.path}.part")):
            each.unlink(missing_ok=True)
    function: Any = flexarm.monte_carlo if settings.drawn else flexarm.sweep
    with located_errors(str(file), _unchanged(options, changes, duration)):
        found = function(robot, **settings.options, **options, store=results.path, threads=threads)
    done = _print_summary(found)
    if found.attrs["status"] == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if not done:
        print(f"error: no member of the sweep could be simulated; {results} contains the reasons", file=sys.stderr)
        raise typer.Exit(FAILED)
    save_figure(flexarm.plot_sweep(found, list(quantity) or None), picture)
    print(f"results in {results.path}, figure in {picture}")


def _print_summary(found: xr.Dataset) -> int:
    """Print the ranges of the measures (quantiles of a Monte Carlo study); return the number of finished members."""
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
        ranges = f"{middle:.4g}, 90 % between {low:.4g} and {high:.4g}" if drawn else f"{low:.4g} to {high:.4g}"
        print(f"  {name:24} {ranges} {each.attrs.get('units', '')}".rstrip())
    return done
