"""Run a case; return the positions of its links at the end, and the cost."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import flexarm as fa
from tolerance_set.cases import Case

LIMIT = 30.0  # s for a run, beside what is compiled for it
ENERGIES = ("kinetic", "elastic", "gravity", "drive", "work", "dissipated")


@dataclass(frozen=True)
class Outcome:
    """Of a run; `failure` says why there are no positions."""

    positions: list[list[float]]  # m: root and tip of every link at the end
    steps: int = 0
    computed: int = 0
    loop: float = 0.0  # s
    leak: float = 0.0  # what the integration put in or took out, of the energy that changed its form
    warning: str = ""
    failure: str = ""

    def distance(self, positions: list[list[float]]) -> float:
        """The largest between its points and others (m); infinite if it failed."""
        if self.failure:
            return float("inf")
        gap = np.linalg.norm(np.array(self.positions) - np.array(positions), axis=1).max()
        return float(gap) if np.isfinite(gap) else float("inf")


class OutOfTime(Exception):
    pass


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Inside, work that takes longer is ended; only the main thread hears of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise OutOfTime(f"not finished after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, if CasADi swallows the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(case: Case, native: bool = True, limit: float = LIMIT, **options: Any) -> Outcome:
    """The case with these options of `fa.simulate`: its own tolerance unless they give one."""
    given = {"rtol": case.rtol, "progress": False, "native": native} | case.inputs | options
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if native:  # what is compiled does not count
                fa.simulate(case.robot, 1e-6, **(given | {"rtol": 1e-3, "dt": None}))
            said.clear()
            with limited(limit):
                run = fa.simulate(case.robot, case.duration, **given)
    except Exception as error:  # whatever it is, the other cases go on
        return Outcome([], failure=f"{type(error).__name__}: {error}")
    # a link that bends far is no matter of accuracy
    warned = [str(each.message) for each in said if issubclass(each.category, fa.ValidityWarning)]
    warning = "; ".join(each for each in warned if " bends by " not in each)
    if run.status != "completed":
        return Outcome([], warning=warning, failure=run.reason)
    found = run.statistics
    return Outcome(_positions(case, run), found["steps"], found["computed"], found["loop_time"], _leak(run), warning)


def _positions(case: Case, run: fa.Run) -> list[list[float]]:
    system, q = fa.System(case.robot), run.array("q")[-1]
    places = ((link.name, x) for link in case.robot.links for x in (0.0, None))
    return [[float(f"{each:.12g}") for each in system.frame(name, x, q)[:3, 3]] for name, x in places]


def _leak(run: fa.Run) -> float:
    moved = max(float(np.ptp(run.array(name))) for name in ENERGIES)
    return float(np.abs(run.array("balance")).max()) / max(moved, 1e-300)
