"""Compute the run of a case, and compare the deflections of two runs."""

from __future__ import annotations

import sys
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
from flexarm.studio.mesh_frames import MeshFrames

REST_DURATION_S = 1e-3
MAX_SAMPLE_COUNT = 200_000


@dataclass(frozen=True)
class Result:
    """A run with its system, the warnings raised while it was computed, and the computing time (s)."""

    system: System
    run: Run
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0


def compute_run(case: StudioCase, rigid: bool = False, should_stop: Callable[[], bool] = lambda: False) -> Result:
    """Compute the run of a case, or of its rigid twin.

    The run ends early, and is returned as far as it was computed, once `should_stop` returns True.
    """
    begin = time.perf_counter()
    with collect_warnings() as messages:
        system = System(case.robot.rigid() if rigid else case.robot)
        options = case.arguments(system) if not rigid else _twin_arguments(case, system)
        _require_bounded(options)
        try:
            with end_runs_when(should_stop):
                run = simulate(system, **(options | {"progress": False}))
        except KeyboardInterrupt:
            raise ValueError("the run was stopped before it began") from None
    return Result(system, run, tuple(messages), time.perf_counter() - begin)


def _require_bounded(options: Mapping[str, Any]) -> None:
    """Raise an error if a run would have too many samples; reading samples cannot be interrupted."""
    sample, duration = options.get("sample"), options.get("duration")
    if isinstance(sample, float) and isinstance(duration, (int, float)) and 0 < MAX_SAMPLE_COUNT * sample < duration:
        raise ValueError(
            f"sample = {sample:g}: gives {duration / sample:.3g} samples in {duration:g} s; "
            f"at most {MAX_SAMPLE_COUNT} are shown here: take {duration / MAX_SAMPLE_COUNT:.2g} (s) or more"
        )


def compute_rest(case: StudioCase) -> Result:
    """Compute a short run of a robot without inputs, to show a case whose run cannot be computed."""
    return compute_run(StudioCase(case.robot, {"duration": REST_DURATION_S, "native": False}))


def compute_first_result(
    start: StudioCase | Run, should_stop: Callable[[], bool], on_valid: Callable[[], None]
) -> Result | None:
    """Compute the run with which all pages start; None if `should_stop` returns True before its end.

    `on_valid` is called once all arguments were found valid; errors in them are raised before.
    """
    if isinstance(start, Run):
        return None

    def stop_requested() -> bool:
        if sys.exception() is None:  # also called while an error propagates
            on_valid()
        return should_stop()

    found = compute_run(start, should_stop=stop_requested)
    MeshFrames(found.system, found.run, 1.0, 1.0).points(0)
    return found if found.run.status != "interrupted" else None


def _twin_arguments(case: StudioCase, system: System) -> dict[str, object]:
    """Return the arguments for the rigid twin: initial values of coordinates that it lacks are left out."""
    flexible = System(case.robot, native=False)
    options = case.arguments_without_control(flexible)
    for field in ("q0", "v0"):
        given = options.get(field)
        if isinstance(given, dict):
            options[field] = {name: value for name, value in given.items() if name in system.names}
        elif given is not None and not isinstance(given, str):
            raise ValueError(f"the rigid twin has other coordinates: give {field} by name, not as a list")
    return case.control.for_rigid_twin().apply(system, options)


LATE_SHARE = 0.25  # of a run, in which residual vibration is measured


def measure_deflections(run: Run) -> tuple[float, float]:
    """Return the largest deflection of all link ends (m), and their largest swing in the last quarter."""
    if "deflection" not in run.data:
        return 0.0, 0.0
    found, times = run.array("deflection"), run.array("time")
    late = found[times >= (1 - LATE_SHARE) * times[-1]]
    return float(np.abs(found).max(initial=0.0)), float(np.ptp(late, axis=0).max(initial=0.0))


def compare_deflections(run: Run, without: Run) -> str:
    """Return a Markdown table of the deflections with and without control; empty if no link deflects."""
    found = {"with": measure_deflections(run), "without": measure_deflections(without)}
    if not any(largest for largest, _ in found.values()):
        return ""
    rows = [f"| {name} | {1e3 * each[0]:.3g} mm | {1e3 * each[1]:.3g} mm |" for name, each in found.items()]
    return "\n".join(["| links | deflect by up to | move in the last quarter by |", "|---|---|---|", *rows])
