"""What control is worth: deflections of a run, and of the same without."""

from __future__ import annotations

import numpy as np

from flexarm.motion.run import Run

LAST = 0.25  # of a run: when what still vibrates is what is left


def deflections(run: Run) -> tuple[float, float]:
    """The largest deflection of all links' ends (m), and how far they swing within the last quarter."""
    if "deflection" not in run.data:
        return 0.0, 0.0
    found, times = run.array("deflection"), run.array("time")
    late = found[times >= (1 - LAST) * times[-1]]
    return float(np.abs(found).max(initial=0.0)), float(np.ptp(late, axis=0).max(initial=0.0))


def worth(run: Run, without: Run) -> str:
    """Both in a table of Markdown; empty where neither bends."""
    found = {"with": deflections(run), "without": deflections(without)}
    if not any(largest for largest, _ in found.values()):
        return ""
    rows = [f"| {name} | {1e3 * each[0]:.3g} mm | {1e3 * each[1]:.3g} mm |" for name, each in found.items()]
    return "\n".join(["| links | deflect by up to | move in the last quarter by |", "|---|---|---|", *rows])
