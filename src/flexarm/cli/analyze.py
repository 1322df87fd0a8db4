"""Commands `modes`, `bode`, `equations`, `plot` and `animate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flexarm.cli.app import (
    FILE,
    MAGNIFY,
    OTHER,
    PICTURES,
    RESULTS,
    SET,
    check_film,
    check_output,
    parse_assignments,
    save_figure,
)
from flexarm.foundation.files import write_text


def modes(
    file: FILE,
    posture: Annotated[list[str], typer.Option("--q", help="posture: fore.q=0.5 (repeatable)")] = [],  # noqa: B006
    joints: Annotated[str, typer.Option(help="free, locked, or by link: upper=locked,fore=free")] = "free",
    most: Annotated[int, typer.Option(min=1, help="number of modes to list")] = 12,
    changes: SET = [],  # noqa: B006
    mass_matrix: Annotated[bool, typer.Option("--mass-matrix", help="print the mass matrix at the posture")] = False,
    plot: Annotated[str | None, typer.Option(help="file for a figure of the first mode shapes")] = None,
) -> None:
    """Print the vibration modes of a robot."""
    from rich.console import Console

    import flexarm
    from flexarm.plotting.tables import modes_table

    picture = None if plot is None else check_output("--plot", plot, PICTURES)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(parse_assignments("--set", changes))
    hold: Any = joints if joints in ("free", "locked") else _parse_joint_holds(joints)
    found = flexarm.modes(robot, q=parse_assignments("--q", posture), joints=hold)
    print(robot)
    if not found.names:
        print("this robot has no coordinates: nothing can vibrate")
        return
    Console(highlight=False).print(modes_table(found, most, f"modes, joints {joints}"))
    if found.imbalance > 1e-6:
        print("note: this posture is not an equilibrium; the modes are those of the robot linearized about it")
    if len(found) > most:
        print(f"{len(found) - most} more modes; --most {len(found)} lists all")
    if mass_matrix:
        _print_matrix("mass matrix M(q)", found.system.mass_matrix(found.q), found.names)
    if picture is not None:
        from flexarm.plotting.arm_figures import plot_modes

        save_figure(plot_modes(found), picture)
        print(f"mode shapes drawn in {picture}")


def _parse_joint_holds(joints: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in joints.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise ValueError(f"--joints {joints}: must be free, locked, or link=free|locked separated by commas")
    return {name.strip(): hold.strip() for name, _, hold in pairs}


def _print_matrix(title: str, matrix: Any, names: tuple[str, ...]) -> None:
    width = max(len(name) for name in names)
    print(f"{title}, coordinates in the order of the rows:")
    for name, row in zip(names, matrix, strict=True):
        print(f"  {name:<{width}} " + " ".join(f"{entry:10.3g}" for entry in row))


def bode(
    file: FILE,
    sources: Annotated[list[str], typer.Option("--from", help="input: upper, upper.q'', tip.fy (repeatable)")],
    outputs: Annotated[list[str], typer.Option("--to", help="output: tip.y, fore.q, fore.strain(0.1) (repeatable)")],
    posture: Annotated[list[str], typer.Option("--q", help="posture: fore.q=0.5 (repeatable)")] = [],  # noqa: B006
    at_equilibrium: Annotated[
        bool,
        typer.Option("--at-equilibrium", help="linearize about the static equilibrium, motors held at --q"),
    ] = False,
    changes: SET = [],  # noqa: B006
    plot: Annotated[str, typer.Option(help="file for the figure of magnitude and phase")] = "bode.png",
) -> None:
    """Plot the frequency response of a robot, and print its poles and zeros."""
    import flexarm

    picture = check_output("--plot", plot, PICTURES)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(parse_assignments("--set", changes))
    q: Any = parse_assignments("--q", posture)
    if at_equilibrium:
        q = flexarm.equilibrium(robot, q)
    model = flexarm.linearize(robot, q=q, inputs=sources, outputs=outputs)
    print(model)
    print(f"poles (Hz): {_format_roots(model.poles)}")
    for given in model.inputs:
        for each in model.outputs:
            zeros = model[each.name, given.name].zeros
            print(f"zeros from {given.name} to {each.name} (Hz): {_format_roots(zeros)}")
    save_figure(model.bode(), picture)
    print(f"frequency response drawn in {picture}")


def _format_roots(roots: Any, max_count: int = 6) -> str:
    """Format the frequencies (Hz) of poles or zeros, and the number of them in the right half plane."""
    import numpy as np

    found = np.unique(np.round(np.abs(roots) / (2 * np.pi), 6))
    unstable = int((roots.real > 1e-6 * np.abs(roots).max(initial=0.0)).sum())
    listed = (", ".join(f"{each:.4g}" for each in found[:max_count]) or "none") + (", ..." * (len(found) > max_count))
    return listed + (f", {unstable} of them in the right half plane" if unstable else "")


FORMATS = {"text": ".txt", "latex": ".tex", "python": ".py", "c": ".c", "matlab": ".m"}


def equations(
    file: FILE,
    form: Annotated[
        str | None, typer.Option("--format", help="text, latex, python, c or matlab; by default from the ending of -o")
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="write to this file instead of printing")] = None,
    parameters: Annotated[
        str, typer.Option(help="symbolic, numeric, or the parameters to keep as symbols: l_1,m_1")
    ] = "symbolic",
    route: Annotated[str, typer.Option(help="method to assemble the mass matrix: extended or global")] = "extended",
    nodes: Annotated[
        list[str],
        typer.Option("--k", help="node or element at a joint with contact nodal or element: fore=2 (repeatable)"),
    ] = [],  # noqa: B006
    stiffening: Annotated[
        str | None,
        typer.Option(
            help="model of flexible links: none, shortening, exact, or robot (that of each link; default if possible)"
        ),
    ] = None,
    changes: SET = [],  # noqa: B006
) -> None:
    """Print the equations of motion of a robot in closed form."""
    import flexarm

    kind = select_format(form, output)
    target = None if output is None else check_output("--output", output)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(parse_assignments("--set", changes))
    words = [each.strip() for each in parameters.split(",")]
    keep: Any = words[0] if words[0] in ("symbolic", "numeric") and len(words) == 1 else words
    method: Any = route
    model: Any = stiffening
    found = flexarm.equations(robot, parameters=keep, route=method, k=parse_assignments("--k", nodes), stiffening=model)
    written = getattr(found, kind)()
    if target is None:
        print(written)
        return
    write_text(target.path, written)
    print(f"{found}, written to {target}")


def select_format(form: str | None, output: str | None) -> str:
    """Return the format of equations from the --format option or the ending of the output file."""
    if form is None:
        endings = {ending: name for name, ending in FORMATS.items()}
        if output is None:
            return "text"
        if (ending := Path(output).suffix) not in endings:
            raise ValueError(f"--output {output}: must end in one of {', '.join(endings)}, or give --format")
        return endings[ending]
    if form not in FORMATS:
        raise ValueError(f"--format {form}: must be one of {', '.join(FORMATS)}")
    return form


def plot(
    results: RESULTS,
    what: Annotated[
        list[str] | None,
        typer.Argument(help='quantities, one panel each: upper.q "upper.q\'" tip.x torque.upper', show_default=False),
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="file for the figure; by default RESULTS with .png")
    ] = None,
    trajectory: Annotated[bool, typer.Option("--trajectory", help="draw the arm and the path of its tip")] = False,
    times: Annotated[list[float], typer.Option("--time", help="time at which to draw the arm (s; repeatable)")] = [],  # noqa: B006
    magnify: MAGNIFY = 1.0,
    other: OTHER = None,
) -> None:
    """Plot the results of a run, or the path of its tip."""
    from flexarm.results.run import Run

    picture = check_output("--output", results.with_suffix(".png").name if output is None else output, PICTURES)
    run, compared = Run.load(results), None if other is None else Run.load(other)
    if trajectory or times:
        if what:
            raise ValueError(f"{what[0]}: quantities and --trajectory are two figures; give one of them")
        save_figure(run.plot_trajectory(times or 5, other=compared, magnify=magnify), picture)
    else:
        save_figure(run.plot(*(what or ()), other=compared), picture)
    print(f"figure in {picture}")


def animate(
    results: RESULTS,
    film: Annotated[str, typer.Argument(help=".gif, .mp4 or .html", show_default=False)],
    fps: Annotated[float, typer.Option(help="frames per second")] = 25.0,
    speed: Annotated[float, typer.Option(help="simulated seconds per second of the film")] = 1.0,
    magnify: MAGNIFY = 1.0,
    other: OTHER = None,
) -> None:
    """Make a film of the moving arm from the results of a run."""
    from flexarm.results.run import Run

    target = check_film("animate", film)
    compared = None if other is None else Run.load(other)
    Run.load(results).animate(target.path, fps=fps, speed=speed, magnify=magnify, other=compared)
    print(f"film in {target}")
