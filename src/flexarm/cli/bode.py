"""`flexarm bode`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flexarm.cli.app import FILE, SET
from flexarm.cli.assignments import assignments
from flexarm.cli.outputs import PICTURES, draw, output


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

    picture = output("--plot", plot, PICTURES)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(assignments("--set", changes))
    q: Any = assignments("--q", posture)
    if sagging:
        q = flexarm.equilibrium(robot, q)
    model = flexarm.linearize(robot, q=q, inputs=sources, outputs=outputs)
    print(model)
    print(f"poles (Hz): {_listed(np.abs(model.poles) / (2 * np.pi))}{_right(model.poles)}")
    for given in model.inputs:
        for each in model.outputs:
            zeros = model[each.name, given.name].zeros
            print(f"zeros from {given.name} to {each.name} (Hz): {_listed(np.abs(zeros) / (2 * np.pi))}{_right(zeros)}")
    draw(model.bode(), picture)
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
