"""Write docs/benchmarks.md from the numbers of one run."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import history
import search
from footprint import Footprint
from growth import TITLES, Cost, exponent
from search import Survey, Trial
from verdicts import Verdict
from workloads import Workload

SILENT = 10  # times the loosest target: a setting that ended without a message and has a larger error is listed


LIMIT = """\
The number of instructions of a step is proportional to the number of links (`tests/dynamics/test_equations.py` asserts
it). The additional time is most likely due to memory: a step is straight-line code, which for fifty links exceeds the
caches of the processor; this was not measured separately. Elements of a link are coupled through its joint and its
shortening, which adds vectors of their number, but no matrices, to the band of its mesh.
"""


@dataclass
class Findings:
    """Everything one run of compare.py measured."""

    surveys: dict[str, tuple[Workload, Survey, dict[str, float]]] = field(default_factory=dict)
    footprints: dict[tuple[str, str], Footprint] = field(default_factory=dict)
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    formulation: dict[str, float] = field(default_factory=dict)
    now: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    seconds: float = 0.0


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


METHODS = """\
## Methods

The figures show flexarm's methods on the same equations, from rough to fine tolerances. They are written by
`benchmarks/precision.py --plot` and `benchmarks/frontier.py --plot`; [work and precision](precision.md) has numbers and
remarks.

![clamped arm](images/precision_clamped.png)
![W1](images/precision_w1.png)
![W3](images/precision_w3.png)
![W4](images/precision_w4.png)
![W3, shapes and methods](images/precision_w3_frontier.png)
"""


def written(found: Findings) -> str:
    parts = [_opening(found), _verdicts(found), _losses(found)]
    parts += [_workload(*each) for each in found.surveys.values()]
    parts.append(METHODS)
    if found.footprints:
        parts.append(_footprints(found))
    if found.costs:
        parts.append(_growth(found.costs))
    if found.formulation:
        parts.append(_formulation(found.formulation))
    if found.now:
        parts.append(_faster(found.now))
    return "\n".join(parts)


def _opening(found: Findings) -> str:
    return f"""# Benchmarks

This page compares flexarm with alternative tools on the same tasks, in one run of `make bench`
(`benchmarks/compare.py`, {found.seconds / 60:.0f} minutes). The script writes all numbers of this page, except for the
column "before" of the last table, which was measured once.

Every tool runs many settings in one thread. The error of a setting is the largest distance from a converged reference
at any sampled time. For each accuracy the tables show each tool's cheapest setting that meets it, measured
{search.REPEATS} times (slow ones less often) after one warm-up call. Times are medians, with the shortest and longest
in brackets. "Solver loop" is the time stepping alone. "Whole call" builds the model from its description, solves it and
returns the results in arrays; flexarm has simulated the robot before, so its compiled code is cached.

Small errors may be accidental, for every tool: the errors of a coarse mesh and of long steps can cancel. If the
reference differs from the other solutions by more than a target, errors of that size are not resolved.

[Ensembles](ensemble.md) compares the simulation of many arms with MuJoCo's rollout and Exudyn's ParameterVariation.

{machine("numpy", "scipy", "casadi", "exudyn", "mujoco", "sympy")}; Exudyn runs its fast build.
"""


def machine(*packages: str) -> str:
    """On what was measured, with versions."""
    said = ", ".join(f"{name} {_version(name)}" for name in ("flexarm", *packages))
    where = f"{_processor()}, {os.cpu_count()} cores, {platform.system()}"
    return f"Machine: {where}; Python {platform.python_version()}, {said}"


def _verdicts(found: Findings) -> str:
    rows = [(each.claim, each.measured, "yes" if each.holds else "**no**") for each in found.verdicts]
    return "## Goals\n\n" + table(("goal", "measured", "holds"), rows)


def _losses(found: Findings) -> str:
    said = "\n".join(f"- {sentence}" for sentence in found.losses) or "In no comparison of this run."
    return f"## Where flexarm is slower\n\n{said}\n"


def _workload(workload: Workload, survey: Survey, checks: dict[str, float]) -> str:
    parts = [f"## {workload.name}: {workload.title}\n"]
    parts.append(f"Reference: {workload.converged}. Differences from other solutions:\n")
    parts.append(table(("compared with", "mm"), [(name, f"{1e3 * gap:.2g}") for name, gap in checks.items()]))
    for target in workload.targets:
        rows = [_row(workload, survey, tool, target) for tool in survey.tools]
        parts.append(f"### {workload.observed} within {1e3 * target:.3g} mm\n")
        heads = (
            "tool",
            "setting",
            "error mm",
            "steps",
            "solver loop ms",
            "us a step",
            "simulated s per s",
            "whole call ms",
        )
        parts.append(table(heads, rows))
    parts.append(f"![error against time](images/benchmark_{workload.name.lower()}.png)\n")
    parts.append(_failures(workload, survey))
    return "\n".join(parts)


def _row(workload: Workload, survey: Survey, tool: str, target: float) -> tuple[str, ...]:
    best, whole = survey.best(tool, target), survey.best(tool, target, "whole")
    if best is None or whole is None:
        nearest = survey.most_accurate(tool)
        said = f"none of {sum(t.tool == tool for t in survey.trials)} settings"
        if nearest:
            said += f"; the best: {nearest.setting}, {1e3 * nearest.error:.2g} mm in {1e3 * nearest.loop:.3g} ms"
        return (tool, said, *("",) * 6)
    low, high = best.spread
    return (
        tool,
        best.setting,
        f"{1e3 * best.error:.2g}",
        str(best.steps),
        f"{1e3 * best.loop:.3g} ({1e3 * low:.3g} ... {1e3 * high:.3g})",
        f"{1e6 * best.loop / best.steps:.3g}",
        f"{workload.duration / best.loop:.3g}",
        f"{1e3 * whole.whole:.3g}",
    )


def _failures(workload: Workload, survey: Survey) -> str:
    far = SILENT * max(workload.targets)
    wrong = [trial for trial in survey.trials if not trial.failure and trial.error > far]
    rows = [(trial.tool, trial.setting, trial.failure) for trial in survey.failures()]
    rows += [(trial.tool, trial.setting, f"no message, error {1e3 * trial.error:.3g} mm") for trial in wrong]
    if not rows:
        return "Every setting gave a result.\n"
    return "Settings that failed, or ended without an error message but with a large error:\n\n" + table(
        ("tool", "setting", "what happened"), rows
    )


def _footprints(found: Findings) -> str:
    rows = [
        (name, tool, f"{each.cold:.3g}", f"{each.warm:.3g}", f"{each.again:.3g}", f"{each.memory:.0f}")
        for (name, tool), each in found.footprints.items()
    ]
    heads = ("workload", "tool", "cold s", "warm s", "again s", "memory MB")
    text = """## First call and memory

Each tool runs in a process of its own with its setting for the second accuracy above; imports are not counted. The
columns are the first call with an empty cache (cold), the first call in a new process with the compiled code in the
cache (warm), the second call there (again), and the peak memory (every process imports all the tools). Only flexarm and
solve_ivp on its equations compile.

"""
    counted = ", ".join(f"{tool} {count}" for tool, count in found.lines.items())
    return text + table(heads, rows) + f"\nLines of user code that build and solve W1: {counted}.\n"


def _growth(costs: dict[str, list[Cost]]) -> str:
    parts = [
        "## W5: growth\n",
        "Implicit steps of 1 ms; a simulated second at rtol 1e-3; set-up with an empty cache.\n",
    ]
    for kind, found in costs.items():
        heads = (kind, "coordinates N", "set-up s", "us a step", "ms a simulated second", "memory MB")
        rows = [
            (c.size, c.coordinates, f"{c.setup:.2f}", f"{1e6 * c.step:.3g}", f"{1e3 * c.second:.3g}", f"{c.memory:.0f}")
            if not c.failure
            else (c.size, c.coordinates, c.failure, "", "", "")
            for c in found
        ]
        costs_of_steps, costs_of_setup = exponent(found, "step"), exponent(found, "setup")
        title = TITLES[kind][0].upper() + TITLES[kind][1:]
        parts.append(f"{title}: a step costs N^{costs_of_steps:.2f}, set-up N^{costs_of_setup:.2f}.\n")
        parts.append(table(heads, rows))
    parts.append("![growth](images/benchmark_growth.png)\n")
    parts.append(LIMIT)
    return "\n".join(parts)


def _formulation(times: dict[str, float]) -> str:
    rows = [(name, f"{seconds:.3g}") for name, seconds in times.items()]
    return (
        "## Closed forms\n\nM, C, K and G of the two-link arm in symbols, two elements a link "
        "(`benchmarks/formulation.py`):\n\n" + table(("tool", "s"), rows)
    )


def _faster(now: dict[str, float]) -> str:
    rows = [(name, f"{history.BEFORE[name]:.6g}", f"{value:.5g}") for name, value in now.items()]
    return f"## Costs compared with an early version\n\n{history.REMARK}\n\n" + table(("cost", "before", "now"), rows)


def summary(found: Findings) -> str:
    width = max((len(each.claim) for each in found.verdicts), default=0)
    return "\n".join(f"{'holds' if v.holds else 'FAILS':<7}{v.claim:<{width}}  {v.measured}" for v in found.verdicts)


def _version(package: str) -> str:
    try:
        return version(package)
    except Exception:
        return "not installed"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def told(trial: Trial | None) -> str:
    """One line about a trial, for the terminal."""
    if trial is None:
        return "none"
    loop = f"{1e3 * trial.loop:.3g} ms" if not math.isnan(trial.loop) else trial.failure
    return f"{trial.setting}: {1e3 * trial.error:.2g} mm, loop {loop}, whole call {1e3 * trial.whole:.3g} ms"
