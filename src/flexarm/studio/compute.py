"""From a case to a run, with all that was said on the way.

What control is worth: deflections of a run, and of the same without.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import end_runs_when
from flexarm.foundation.messages import collect_warnings
from flexarm.results.run import Run
from flexarm.simulation.simulate import simulate
from flexarm.studio.case import StudioCase

MOMENT = 1e-3  # s
MOST_SAMPLES = 200_000


@dataclass(frozen=True)
class Result:
    """A run, the system that made it, what was warned of, and how long it took (s)."""

    system: System
    run: Run
    warned: tuple[str, ...] = ()
    seconds: float = 0.0


def computed(case: StudioCase, rigid: bool = False, enough: Callable[[], bool] = lambda: False) -> Result:
    """The run of a case, or of its rigid twin; as far as it came when somebody has `enough`."""
    begin = time.perf_counter()
    with collect_warnings() as said:
        system = System(case.robot.rigid() if rigid else case.robot)
        options = case.arguments(system) if not rigid else _of_twin(case, system)
        _require_bounded(options)
        try:
            with end_runs_when(enough):
                run = simulate(system, **(options | {"progress": False}))
        except KeyboardInterrupt:
            raise ValueError("the run was stopped before it began") from None
    return Result(system, run, tuple(said), time.perf_counter() - begin)


def _require_bounded(options: Mapping[str, Any]) -> None:
    """What a page can hold: reading samples cannot be stopped."""
    sample, duration = options.get("sample"), options.get("duration")
    if isinstance(sample, float) and isinstance(duration, (int, float)) and 0 < MOST_SAMPLES * sample < duration:
        raise ValueError(
            f"sample = {sample:g}: gives {duration / sample:.3g} samples in {duration:g} s; at most {MOST_SAMPLES} are "
            f"shown here: take {duration / MOST_SAMPLES:.2g} (s) or more"
        )


def at_rest(case: StudioCase) -> Result:
    """The robot of a case that cannot be computed: a moment in which nobody pushes it."""
    return computed(StudioCase(case.robot, {"duration": MOMENT, "native": False}))


def _of_twin(case: StudioCase, system: System) -> dict[str, object]:
    """The same for the rigid twin: initial values of what it does not have are left out."""
    flexible = System(case.robot, native=False)
    options = case.uncontrolled(flexible)
    for field in ("q0", "v0"):
        given = options.get(field)
        if isinstance(given, dict):
            options[field] = {name: value for name, value in given.items() if name in system.names}
        elif given is not None and not isinstance(given, str):
            raise ValueError(f"the rigid twin has other coordinates: give {field} by name, not as a list")
    return case.control.of_twin().applied(system, options)


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
