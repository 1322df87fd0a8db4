"""Style of figures, validation of their arguments, and tables for the terminal."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from flexarm.analysis.modes import ModeSet
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.results.energy_balance import balance_sentence
from flexarm.results.run import Run

if TYPE_CHECKING:
    from rich.table import Table


# Colours that colour-blind readers can distinguish; dashes that differ, so that curves are readable in grey.
LINE_STYLES: list[tuple[str, Any]] = [
    ("#0b3c5d", "-"),
    ("#d9600f", "--"),
    ("#009988", "-."),
    ("#a326d6", (0, (2, 1))),
    ("#7d3a1c", (0, (5, 1))),
    ("#8877dd", (0, (3, 1, 1, 1))),
    ("#5f5f5f", (0, (8, 2))),
]
COMPARISON_COLOUR = "0.6"
JOINT_COLOUR = "0.15"


class Picture(Figure):
    """Figure without a window; notebooks display it, and `savefig` writes it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()


def draw_line(plot: Any, k: int, t: Any, values: Any, label: str) -> None:
    """Draw a curve in the k-th style."""
    colour, dashes = LINE_STYLES[k % len(LINE_STYLES)]
    plot.plot(t, values, color=colour, linestyle=dashes, linewidth=1.2, label=escape_math(label))


def escape_math(text: str) -> str:
    """Escape dollar signs, which Matplotlib would read as mathematics."""
    return text.replace("$", r"\$")


def wrap_title(text: str, width: float) -> str:
    """Escape a title and break it into lines that fit a width (inches)."""
    return escape_math(fill(text, int(11 * width)))


def draw_grid(plot: Any) -> None:
    plot.grid(color="0.9", linewidth=0.6)
    plot.set_axisbelow(True)


MAX_POSTURE_COUNT = 1000  # in one figure: more take minutes and cannot be distinguished


def require_run(name: str, value: object) -> Run:
    if not isinstance(value, Run):
        raise TypeError(f"{name} = {shown(value)}: must be a run, as fa.simulate gives it")
    return value


def require_optional_run(name: str, value: object) -> Run | None:
    return None if value is None else require_run(name, value)


def require_names(name: str, values: Sequence[object]) -> list[str]:
    """Return names of quantities as a list of str; it is checked later whether the run has them."""
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} = {shown(value)}: must be the name of a quantity, one of run.names")
    return [str(value) for value in values]


def require_bool(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} = {shown(value)}: must be True or False")
    return bool(value)


def require_count(name: str, value: object) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} = {shown(value)}: must be a whole number, at least 1")
    return int(value)


def require_magnification(value: object) -> float:
    """Return the factor by which deflections are exaggerated; 1 is true scale."""
    return real_number("magnify", value, least=0)


def require_file_name(name: str, value: object) -> Path:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise TypeError(f"{name} = {shown(value)}: must be the name of a file")
    return Path(os.fsdecode(value))


def select_times(name: str, run: Run, times: Any) -> Array:
    """Return times within the run (s); an integer is a number of evenly spaced times."""
    begin, end = float(run.time.values[0]), float(run.time.values[-1])
    if isinstance(times, Integral) and not isinstance(times, bool):
        if require_count(name, times) > MAX_POSTURE_COUNT:
            raise ValueError(f"{name} = {times}: at most {MAX_POSTURE_COUNT} postures are drawn in one picture")
        return np.linspace(begin, end, times)
    if isinstance(times, (str, bytes)) or np.ndim(times) != 1 or not len(times):
        raise ValueError(f"{name} = {shown(times)}: must be times (s) in a list, or how many times")
    if len(times) > MAX_POSTURE_COUNT:
        raise ValueError(
            f"{name}: are {len(times)} times; at most {MAX_POSTURE_COUNT} postures are drawn in one picture"
        )
    found = real_array(name, times)
    for time in found:
        if not begin <= time <= end:
            raise ValueError(f"{name}: {time:g} s is outside the run, which goes from {begin:g} to {end:g} s")
    return found


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
    rows.append((f"final tip (of {run.robot.links[-1].name})", _format_position(run.tip.values[-1])))
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
