"""Tables for the terminal (rich)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.modes import ModeSet
from flexarm.results.energy_balance import balance_sentence
from flexarm.results.run import Run

if TYPE_CHECKING:
    from rich.table import Table


def modes_table(modes: ModeSet, max_count: int, title: str) -> Table:
    """Return a table of the first modes: frequency, damping ratio, kind, and coordinate of largest participation."""
    from rich.table import Table

    table = Table(title=title)
    for number in ("mode", "Hz", "rad/s", "damping"):
        table.add_column(number, justify="right")
    for word in ("kind", "moves most"):
        table.add_column(word)
    for mode, (frequency, kind) in enumerate(zip(modes.frequencies[:max_count], modes.kinds, strict=False)):
        share = modes.participation(mode)
        largest = max(share, key=lambda name: share[name])
        growth = f" ({modes.eigenvalues[mode].real:.3g} 1/s)" if kind == "unstable" else ""
        numbers = (frequency, 2 * np.pi * frequency, modes.damping_ratios[mode])
        words = (kind + growth, f"{largest} ({share[largest]:.0%})")
        table.add_row(str(mode + 1), *(f"{number:.6g}" for number in numbers), *words)
    return table


def run_table(run: Run, modes: ModeSet, rigid: Run | None) -> Table:
    """Return a summary of a run: frequencies, peak deflections, final tip, energy balance, statistics."""
    from rich.table import Table

    table = Table(title=f"{run.data.attrs['robot']}: {run.time.values[-1]:g} s", show_header=False)
    table.add_column("quantity")
    table.add_column("value")
    for name, value in _run_rows(run, modes, rigid):
        table.add_row(name, value)
    return table


def _run_rows(run: Run, modes: ModeSet, rigid: Run | None) -> list[tuple[str, str]]:
    statistics = run.statistics
    elastic = modes.frequencies[~modes.rigid][:4]
    rows = [("first frequencies", ", ".join(f"{f:.4g}" for f in elastic) + " Hz" if len(elastic) else "rigid")]
    for link in run.robot.links:
        if link.flexible is not None:
            bend = np.linalg.norm(run.deflection(link.name).values[:, 1:], axis=1)
            peak = int(bend.argmax())
            when = f"at {run.time.values[peak]:.4g} s ({bend[peak] / link.length:.2%} of its length)"
            rows.append((f"peak deflection of {link.name}", f"{1000 * bend[peak]:.4g} mm {when}"))
    rows.append((f"final tip (of {run.robot.tip_name})", _format_position(run.tip.values[-1])))
    if rigid is not None:
        distance = np.linalg.norm(run.compare(rigid)["tip"].values, axis=1)  # NaN after an early end of the rigid run
        rows.append(("final tip of the rigid twin", _format_position(rigid.tip.values[-1])))
        rows.append(("largest distance from the rigid twin", f"{1000 * np.nanmax(distance):.4g} mm"))
    share = statistics.get("energy_share")
    breakdown = f", {balance_sentence(share, run.robot)}" if share else ""
    rows.append(("energy balance", f"{statistics['energy_balance']:.2e} J{breakdown}"))
    if run.error_estimate is not None:
        rows.append(("estimated error", f"{1000 * run.error_estimate:.2g} mm"))
    steps = f"{statistics['steps']} of {statistics['smallest_step']:.2g} to {statistics['largest_step']:.2g} s"
    steps += f" by {statistics['method']}" if statistics.get("method") else ""
    rows.append(("steps", f"{steps}, {statistics['rejected']} repeated"))
    pace = run.time.values[-1] / statistics["wall_time"]
    rows.append(
        (
            "time taken",
            f"{statistics['wall_time']:.3g} s ({pace:.3g} x real time), loop {statistics['loop_time']:.3g} s",
        )
    )
    if run.status != "completed":
        rows.append(("ended early", run.reason))
    return rows


def _format_position(position: Any) -> str:
    return "(" + ", ".join(f"{value:.5f}" for value in position) + ") m"
