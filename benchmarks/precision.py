"""Work and precision of every method on the same equations: `python benchmarks/precision.py` (or `make bench`).

The error is the largest distance of the tip over a run from a converged one of the same equations; the loop is the
fastest of several; instructions are those of CasADi that the steps execute. `--against PATH` sets the methods of
another checkout beside these, in the same run. `--plot` writes docs/images/precision_*.png.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import flexarm as fa
import work
from flexarm.integrators.registry import METHODS
from precision_cases import CASES, Case

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
BY_TOLERANCE = ("auto", "esdirk", "dop853", "generalized-alpha", "newmark", "rk45", "adams", "bdf")
BY_STEP = ("rk4",)
TOLERANCES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7)
REPEATS = 15
ENOUGH = 1.0  # s of one method at one setting: slow ones are repeated less often, but twice
LONGEST = 0.5  # s of a loop: finer settings of a method that takes this long are left out
COUNTED = 2000  # steps: instructions of longer runs are told from those that a step of a shorter one took


@dataclass(frozen=True)
class Point:
    """A method at one setting: rtol, or dt for methods of fixed steps; `chosen` is what method="auto" took."""

    method: str
    setting: float
    error: float  # m
    steps: int  # computed
    loop: float  # s
    chosen: str = ""
    instructions: float = math.nan  # of all steps

    def line(self) -> str:
        what = "dt" if self.method in BY_STEP else "rtol"
        took = f"  ({self.chosen})" if self.method == "auto" else ""
        return (
            f"{self.method:<20}{what:>5} {self.setting:<8.0e}{1e3 * self.error:>12.3g}{self.steps:>9}"
            f"{self.instructions / max(self.steps, 1):>12.0f}{1e-6 * self.instructions:>12.4g}"
            f"{1e3 * self.loop:>11.4g}{1e6 * self.loop / max(self.steps, 1):>9.3g}{took}"
        )


COLUMNS = {"setting": 14, "error mm": 12, "steps": 9, "instr/step": 12, "M instr": 12, "loop ms": 11, "us/step": 9}
HEAD = f"{'method':<20}" + "".join(f"{name:>{width}}" for name, width in COLUMNS.items())


def track(case: Case, **options: Any) -> tuple[np.ndarray, fa.Run]:
    run = case.work(**options)
    if run.reason != "completed":
        raise RuntimeError(run.reason)
    return run.array("tip"), run


def measured(case: Case, method: str, setting: float, reference: np.ndarray) -> Point:
    options = {"method": method, "dt" if method in BY_STEP else "rtol": setting}
    case.work(**options, **({} if method in METHODS else {"native": "auto"}))
    loops: list[float] = []
    while len(loops) < 2 or (len(loops) < REPEATS and sum(loops) < ENOUGH):
        tip, run = track(case, **options)
        loops.append(run.statistics["loop_time"])
    error = float(np.linalg.norm(tip - reference, axis=1).max())
    told = run.statistics
    return Point(method, setting, error, told["computed"], min(loops), told.get("method", method))


def ladder(case: Case, method: str, reference: np.ndarray) -> Iterator[Point]:
    """From rough to fine, as long as that is quick."""
    for setting in case.fixed if method in BY_STEP else TOLERANCES:
        try:
            point = measured(case, method, setting, reference)
        except RuntimeError as problem:
            print(f"{method}, {setting:g}: {problem}", file=sys.stderr)
            continue
        yield point
        if point.loop > LONGEST:
            return


@dataclass
class Instructions:
    """What the steps of a case execute; calls are counted where there are few steps."""

    case: Case
    of_a_step: dict[str, float] = field(default_factory=dict)  # by method
    of_a_run: dict[tuple[str, float], float] = field(default_factory=dict)

    def added(self, point: Point) -> Point:
        """The point with its instructions, which are not known of SUNDIALS."""
        key, few = (point.chosen, point.setting), point.steps <= COUNTED or point.chosen not in self.of_a_step
        if key not in self.of_a_run and point.chosen in METHODS and few:
            setting = {"dt" if point.method in BY_STEP else "rtol": point.setting}
            found = work.executed(partial(self.case.work, **setting), METHODS[point.chosen]())
            self.of_a_run[key] = found["instructions"]
            self.of_a_step[point.chosen] = found["instructions"] / point.steps
        estimate = self.of_a_step.get(point.chosen, math.nan) * point.steps
        return replace(point, instructions=self.of_a_run.get(key, estimate))


def surveyed(case: Case, methods: Sequence[str], reference: np.ndarray, say: Callable[[str], None]) -> list[Point]:
    instructions, found = Instructions(case), []
    for method in methods:
        if method in METHODS or method in case.others:
            for point in ladder(case, method, reference):
                found.append(instructions.added(point))
                say(found[-1].line())
    return found


def elsewhere(checkout: Path, case: Case, reference: np.ndarray) -> list[Point]:
    """The same with another checkout of flexarm, in a process of its own, from the same reference."""
    if not (checkout / "src" / "flexarm").is_dir():  # an installed package would be measured in its place
        raise SystemExit(f"{checkout}: has no src/flexarm")
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "reference.npy"
        np.save(file, reference)
        command = [sys.executable, str(Path(__file__).resolve()), case.name, "--json", str(file)]
        environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{checkout}: the program failed\n{done.stderr}")
    return [Point(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def main() -> None:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(names))
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout, set beside this one")
    parser.add_argument("--plot", action="store_true", help="write docs/images/precision_*.png")
    parser.add_argument("--json", type=Path, metavar="REFERENCE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.cases) - set(names):
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose of {', '.join(names)}")
    warnings.simplefilter("ignore")
    wanted = [case for case in CASES if case.name in (given.cases or names)]
    if given.json is not None:
        points = surveyed(wanted[0], ("generalized-alpha", "rk45"), np.load(given.json), lambda line: None)
        print(json.dumps([asdict(each) for each in points]))
        return
    for case in wanted:
        reported(case, given.against, given.plot)


def reported(case: Case, against: Path | None, plot: bool) -> None:
    reference, _ = track(case, **case.finest)
    print(f"\n{case.title}; a tolerance of 1e-3 is {case.length:.3g} mm\n{HEAD}", flush=True)
    here = surveyed(case, (*BY_TOLERANCE, *BY_STEP), reference, partial(print, flush=True))
    there = [] if against is None else elsewhere(against.resolve(), case, reference)
    if there:
        print("there\n" + "\n".join(each.line() for each in there), flush=True)
        import precision_goals

        print("\n".join(precision_goals.lines(case, here, there)), flush=True)
    if plot:
        import pictures

        pictures.by_method(case.title, here, IMAGES / f"precision_{case.name.lower()}.png")


if __name__ == "__main__":
    main()
