"""`flexarm run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexarm.cli.app import FILE, MAGNIFY, SET
from flexarm.cli.assignments import assignments
from flexarm.cli.exits import CODES, FAILED
from flexarm.cli.outputs import PICTURES, draw, film, keep
from flexarm.cli.outputs import output as checked_output

if TYPE_CHECKING:
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
    from flexarm.show.animate import require_frames
    from flexarm.show.runs import run_figure
    from flexarm.show.tables import run_table

    results = checked_output("--output", file.with_suffix(".nc").name if output is None else output, [".nc"])
    picture = checked_output("--plot", str(results.path.with_suffix(".png")) if plot is None else plot, PICTURES)
    moving = None if animate is None else film("--animate", animate)
    robot, options = asked(file, changes, duration, allow_outside)
    if moving is not None:
        require_frames(options["duration"])
    print(robot)
    found = flexarm.simulate(robot, **options)
    kept = keep(found, results)  # before anything else can fail
    code = CODES[found.status]
    twin = None
    if rigid and code == 0:
        twin = flexarm.simulate(robot.rigid(), **_of_rigid(options, robot.rigid()))
        code = CODES[twin.status]
    Console(highlight=False).print(run_table(found, flexarm.modes(robot, q=found.data["q"].values[0]), twin))
    draw(run_figure(found, twin), picture)
    if moving is not None:
        found.animate(moving.path, magnify=magnify, other=twin)
    print(f"results in {kept.where}, figure in {picture}" + (f", film in {moving}" if moving is not None else ""))
    if code == FAILED:
        failed = f"the run {found.reason}" if twin is None else f"the run of the rigid twin {twin.reason}"
        print(f"error: {failed}", file=sys.stderr)
    if kept.problem:
        print(f"error: {kept.problem}", file=sys.stderr)
    raise typer.Exit(code or (FAILED if kept.problem else 0))


def asked(file: Path, changes: list[str], duration: float | None, outside: bool) -> tuple[Robot, dict[str, Any]]:
    """The robot and the options of `simulate`, from the file and the command line."""
    from flexarm.motion.simulation_file import simulation_options
    from flexarm.robot.files import read

    robot, section = read(file)
    wanted = assignments("--set", changes)
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
