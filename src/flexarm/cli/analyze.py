"""`flexarm modes`.

`flexarm bode`.

`flexarm equations`.

`flexarm plot` and `flexarm animate`: results of a run drawn later.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flexarm.cli.app import FILE, MAGNIFY, OTHER, PICTURES, RESULTS, SET, check_output, parse_assignments, save_figure
from flexarm.cli.app import check_film as checked_film
from flexarm.cli.app import check_output as checked_output
from flexarm.foundation.files import write_text


def modes(
    file: FILE,
    posture: Annotated[list[str], typer.Option("--q", help="posture: fore.q=0.5 (repeatable)")] = [],  # noqa: B006
    joints: Annotated[str, typer.Option(help="free, locked, or by link: upper=locked,fore=free")] = "free",
    most: Annotated[int, typer.Option(min=1, help="how many modes to list")] = 12,
    changes: SET = [],  # noqa: B006
    mass_matrix: Annotated[bool, typer.Option("--mass-matrix", help="print the mass matrix at the posture")] = False,
    plot: Annotated[str | None, typer.Option(help="draw the first mode shapes into this file")] = None,
) -> None:
    """Print the vibration modes of a robot."""
    from rich.console import Console

    import flexarm
    from flexarm.plotting.style import modes_table

    picture = None if plot is None else check_output("--plot", plot, PICTURES)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(parse_assignments("--set", changes))
    hold: Any = joints if joints in ("free", "locked") else _holds(joints)
    found = flexarm.modes(robot, q=parse_assignments("--q", posture), joints=hold)
    print(robot)
    if not found.names:
        print("this robot has no coordinates: nothing can vibrate")
        return
    Console(highlight=False).print(modes_table(found, most, f"modes, joints {joints}"))
    if found.imbalance > 1e-6:
        print("note: the robot would not stay at this posture by itself; the modes are those about it all the same")
    if len(found) > most:
        print(f"{len(found) - most} more modes; --most {len(found)} lists all")
    if mass_matrix:
        _print_matrix("mass matrix M(q)", found.system.mass_matrix(found.q), found.names)
    if picture is not None:
        from flexarm.plotting.arm_figures import plot_modes

        save_figure(plot_modes(found), picture)
        print(f"mode shapes drawn in {picture}")


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


def bode(
    file: FILE,
    sources: Annotated[list[str], typer.Option("--from", help="input: upper, upper.q'', tip.fy (repeatable)")],
    outputs: Annotated[list[str], typer.Option("--to", help="output: tip.y, fore.q, fore.strain(0.1) (repeatable)")],
    posture: Annotated[list[str], typer.Option("--q", help="posture: fore.q=0.5 (repeatable)")] = [],  # noqa: B006
    sagging: Annotated[
        bool, typer.Option("--sagging", help="links and drives where their load takes them, motors held at --q")
    ] = False,
    changes: SET = [],  # noqa: B006
    plot: Annotated[str, typer.Option(help="draw magnitude and phase into this file")] = "bode.png",
) -> None:
    """Draw the frequency response of a robot, and print its poles and zeros."""
    import numpy as np

    import flexarm

    picture = check_output("--plot", plot, PICTURES)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(parse_assignments("--set", changes))
    q: Any = parse_assignments("--q", posture)
    if sagging:
        q = flexarm.equilibrium(robot, q)
    model = flexarm.linearize(robot, q=q, inputs=sources, outputs=outputs)
    print(model)
    print(f"poles (Hz): {_listed(np.abs(model.poles) / (2 * np.pi))}{_right(model.poles)}")
    for given in model.inputs:
        for each in model.outputs:
            zeros = model[each.name, given.name].zeros
            print(f"zeros from {given.name} to {each.name} (Hz): {_listed(np.abs(zeros) / (2 * np.pi))}{_right(zeros)}")
    save_figure(model.bode(), picture)
    print(f"frequency response drawn in {picture}")


def _right(places: Any) -> str:
    import numpy as np

    count = int((places.real > 1e-6 * np.abs(places).max(initial=0.0)).sum())
    return f", {count} of them in the right half plane" if count else ""


def _listed(values: object, most: int = 6) -> str:
    import numpy as np

    found = np.unique(np.round(np.asarray(values, dtype=float), 6))
    words = ", ".join(f"{each:.4g}" for each in found[:most])
    return (words or "none") + (", ..." if len(found) > most else "")


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

    kind = select_format(form, output)
    target = None if output is None else checked_output("--output", output)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(parse_assignments("--set", changes))
    words = [each.strip() for each in parameters.split(",")]
    keep: Any = words[0] if words[0] in ("symbolic", "numeric") and len(words) == 1 else words
    way: Any = route
    model: Any = stiffening
    found = flexarm.equations(robot, parameters=keep, route=way, k=parse_assignments("--k", nodes), stiffening=model)
    written = getattr(found, kind)()
    if target is None:
        print(written)
        return
    write_text(target.path, written)
    print(f"{found}, written to {target}")


def select_format(form: str | None, output: str | None) -> str:
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
    from flexarm.results.run import Run

    picture = checked_output("--output", results.with_suffix(".png").name if output is None else output, PICTURES)
    found, beside = Run.load(results), None if other is None else Run.load(other)
    if trajectory or times:
        if what:
            raise ValueError(f"{what[0]}: quantities and --trajectory are two figures; ask for one of them")
        save_figure(found.plot_trajectory(times or 5, other=beside, magnify=magnify), picture)
    else:
        save_figure(found.plot(*(what or ()), other=beside), picture)
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
    from flexarm.results.run import Run

    target = checked_film("animate", film)
    beside = None if other is None else Run.load(other)
    Run.load(results).animate(target.path, fps=fps, speed=speed, magnify=magnify, other=beside)
    print(f"film in {target}")
