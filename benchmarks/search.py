"""Find the cheapest accurate setting of each tool by trying all settings.

Every trial runs in a child process with a time limit: a setting that crawls or crashes costs only itself. A trial that
fails, or gives something that is not a number, never counts as cheap; it is kept with its reason for the page.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from peers import flexarm_models
from peers.result import Candidate, Failed, Result

LIMIT = 20.0  # s for a candidate
COMPILES = 10  # times that limit for tools that compile at the first call
CONTENDERS = 3  # of each tool for each target are measured again
REPEATS = 7
ENOUGH = 10.0  # s: slow settings are repeated less often, but twice


@dataclass(frozen=True)
class Trial:
    """A candidate's error and times; `failure` says why it has none."""

    tool: str
    setting: str
    error: float = math.nan
    loops: tuple[float, ...] = ()
    wholes: tuple[float, ...] = ()
    steps: int = 0
    failure: str = ""

    @property
    def loop(self) -> float:
        return statistics.median(self.loops) if self.loops else math.nan

    @property
    def whole(self) -> float:
        return statistics.median(self.wholes) if self.wholes else math.nan

    @property
    def spread(self) -> tuple[float, float]:
        """Quickest and slowest loop."""
        return (min(self.loops), max(self.loops)) if self.loops else (math.nan, math.nan)

    def meets(self, target: float) -> bool:
        return not self.failure and self.error <= target  # NaN never does


@dataclass
class Survey:
    """All trials of a workload, and the winners by tool and target."""

    trials: list[Trial] = field(default_factory=list)
    targets: tuple[float, ...] = ()

    @property
    def tools(self) -> list[str]:
        return list(dict.fromkeys(trial.tool for trial in self.trials))

    def best(self, tool: str, target: float, of: str = "loop", same: str = "") -> Trial | None:
        """The cheapest trial of a tool that meets the target; those measured often count before those tried once.

        `same`: of those whose setting begins with it.
        """
        fit = [t for t in self.trials if t.tool == tool and t.setting.startswith(same) and t.meets(target)]
        often = [trial for trial in fit if len(trial.loops) > 1]
        return min(often or fit, key=lambda trial: getattr(trial, of), default=None)

    def most_accurate(self, tool: str) -> Trial | None:
        return min(
            (trial for trial in self.trials if trial.tool == tool and not math.isnan(trial.error)),
            key=lambda trial: trial.error,
            default=None,
        )

    def failures(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.failure]


def deviation(result: Result, reference: CubicSpline) -> float:
    """The largest distance from the reference at the result's own times; NaN when it does not cover the time."""
    end = reference.x[-1]
    if len(result.times) < 20 or abs(result.times[-1] - end) > 1e-6 * end or not np.isfinite(result.track).all():
        return math.nan
    return float(np.linalg.norm(result.track - reference(result.times), axis=1).max())


def survey(
    candidates: Sequence[Candidate],
    error: Callable[[Result], float],
    targets: Iterable[float],
    limit: float = LIMIT,
    repeats: int = REPEATS,
    same: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: None,
) -> Survey:
    found = Survey(targets=tuple(targets))
    for candidate in candidates:
        compiles = candidate.tool.startswith(("flexarm", "solve_ivp"))
        trial = attempt(candidate, error, 1, limit * COMPILES if compiles else limit)
        found.trials.append(trial)
        say(
            f"  {trial.tool:<22}{trial.setting:<44}"
            + (trial.failure or f"{trial.error:10.2e}{1e3 * trial.loop:10.2f} ms")
        )
    for place in sorted(set().union(*(_contenders(found, begin) for begin in ("", *same)))):
        often = max(2, min(repeats, int(ENOUGH / found.trials[place].whole)))
        again = attempt(candidates[place], error, often, limit * COMPILES)
        found.trials[place] = again if not again.failure else replace(found.trials[place], failure=again.failure)
    return found


def _contenders(found: Survey, same: str) -> set[int]:
    """Places of the trials that may win: the quickest few of each tool for each target, by loop and by whole call."""
    places: set[int] = set()
    for tool in found.tools:
        own = [k for k, trial in enumerate(found.trials) if trial.tool == tool and not math.isnan(trial.error)]
        for target in found.targets:
            fit = [k for k in own if found.trials[k].meets(target) and found.trials[k].setting.startswith(same)]
            for cost in ("loop", "whole"):
                places.update(sorted(fit, key=lambda k: getattr(found.trials[k], cost))[:CONTENDERS])
        places.update(sorted(own, key=lambda k: found.trials[k].error)[:1])
    return places


def attempt(candidate: Candidate, error: Callable[[Result], float], repeats: int, limit: float) -> Trial:
    """In a child process: once to warm caches up, then `repeats` times measured."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_work, args=(candidate, error, repeats, there))
    child.start()
    there.close()
    empty = Trial(candidate.tool, candidate.setting)
    try:
        if not here.poll(limit):
            return replace(empty, failure=f"not finished after {limit:.0f} s")
        return here.recv()  # type: ignore[no-any-return]
    except EOFError:
        return replace(empty, failure="the process died")
    finally:
        child.kill()
        child.join()


def _work(candidate: Candidate, error: Callable[[Result], float], repeats: int, there: Any) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # some tools talk
    os.dup2(1, 2)
    flexarm_models.native = True
    trial = Trial(candidate.tool, candidate.setting)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # some leave files
        try:
            candidate.run()
            results = [candidate.run() for _ in range(repeats)]
            found = error(results[-1])
            trial = replace(
                trial,
                error=found,
                loops=tuple(result.loop for result in results),
                wholes=tuple(result.whole for result in results),
                steps=results[-1].steps,
                failure="" if math.isfinite(found) else "the answer is not a number or ends early",
            )
        except Failed as problem:
            trial = replace(trial, failure=str(problem))
        except Exception as problem:
            trial = replace(trial, failure=f"{type(problem).__name__}: {problem}")
        there.send(trial)
        there.close()
