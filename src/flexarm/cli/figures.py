"""`flexarm plot` and `flexarm animate`: results of a run drawn later."""

from __future__ import annotations

from typing import Annotated

import typer

from flexarm.cli.app import MAGNIFY, OTHER, RESULTS
from flexarm.cli.outputs import PICTURES, draw
from flexarm.cli.outputs import film as checked_film
from flexarm.cli.outputs import output as checked_output


def plot(
    results: RESULTS,
    what: Annotated[
        list[str] | None,
        typer.Argument(help="quantities, one panel each: upper.q tip.x torque.upper ...", show_default=False),
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="figure; RESULTS' name with .png")] = None,
    trajectory: Annotated[bool, typer.Option("--trajectory", help="draw the arm and the way of its tip")] = False,
    times: Annotated[list[float], typer.Option("--time", help="draw the arm then (s; repeatable)")] = [],  # noqa: B006
    magnify: MAGNIFY = 1.0,
    other: OTHER = None,
) -> None:
    """Draw the results of a run, or the way of its tip."""
    from flexarm.motion.run import Run

    picture = checked_output("--output", results.with_suffix(".png").name if output is None else output, PICTURES)
    found, beside = Run.load(results), None if other is None else Run.load(other)
    if trajectory or times:
        if what:
            raise ValueError(f"{what[0]}: quantities and --trajectory are two figures; ask for one of them")
        draw(found.plot_trajectory(times or 5, other=beside, magnify=magnify), picture)
    else:
        draw(found.plot(*(what or ()), other=beside), picture)
    print(f"figure in {picture}")


def animate(
    results: RESULTS,
    film: Annotated[str, typer.Argument(help=".gif, .mp4 or .html", show_default=False)],
    fps: Annotated[float, typer.Option(help="frames a second")] = 25.0,
    speed: Annotated[float, typer.Option(help="simulated seconds for each second of the film")] = 1.0,
    magnify: MAGNIFY = 1.0,
    other: OTHER = None,
) -> None:
    """Make a film of the moving arm from the results of a run."""
    from flexarm.motion.run import Run

    target = checked_film("animate", film)
    beside = None if other is None else Run.load(other)
    Run.load(results).animate(target.path, fps=fps, speed=speed, magnify=magnify, other=beside)
    print(f"film in {target}")
