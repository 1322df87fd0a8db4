"""`flexarm modes`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flexarm.cli.app import FILE, SET
from flexarm.cli.assignments import assignments
from flexarm.cli.outputs import PICTURES, draw, output


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
    from flexarm.show.tables import modes_table

    picture = None if plot is None else output("--plot", plot, PICTURES)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(assignments("--set", changes))
    hold: Any = joints if joints in ("free", "locked") else _holds(joints)
    found = flexarm.modes(robot, q=assignments("--q", posture), joints=hold)
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
        from flexarm.show.shapes import plot_modes

        draw(plot_modes(found), picture)
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
