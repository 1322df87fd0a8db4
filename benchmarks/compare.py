"""Compare flexarm with other tools: `python benchmarks/compare.py` (or `make bench`, with the extra `bench`).

Writes docs/benchmarks.md with tables and plots and prints which goals hold. `compare.py W1 W2` runs only some workloads
(W5 is growth; `forms` are closed forms) and prints, without touching the page, unless --write says so.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
import warnings
from pathlib import Path

import footprint
import formulation
import growth
import history
import page
import pictures
import search
import verdicts
import workloads
from peers.result import lines

DOCS = Path(__file__).parent.parent / "docs"


def compared(name: str, found: page.Findings) -> None:
    workload = workloads.ALL[name]
    print(f"\n{name}: {workload.title}", flush=True)
    workload.reference()
    checks = workload.checks()
    for other, gap in checks.items():
        print(f"  reference from {other}: {1e3 * gap:.2g} mm")
    candidates = workload.candidates()
    same = [goal.same for goal in workload.goals if goal.same]
    survey = search.survey(
        candidates, workload.error, workload.targets, same=same, say=lambda line: print(line, flush=True)
    )
    for target in workload.targets:
        print(f"  within {1e3 * target:.3g} mm")
        for tool in survey.tools:
            print(f"    {tool:<18}{page.told(survey.best(tool, target))}")
    found.surveys[name] = (workload, survey, checks)
    for tool in survey.tools:
        best = survey.best(tool, workload.targets[1]) or survey.most_accurate(tool)
        if best:
            place = next(
                k for k, each in enumerate(candidates) if (each.tool, each.setting) == (best.tool, best.setting)
            )
            found.footprints[name, tool] = footprint.footprint(name, place)
    found.verdicts += verdicts.of_goals(workload, survey)
    found.losses += verdicts.losses(workload, survey, found.footprints)


def user_lines() -> dict[str, int]:
    from peers import exudyn_models, flexarm_models, mujoco_models, scipy_solver

    return {
        "flexarm": lines(flexarm_models.two_link_arm),
        "Exudyn": lines(exudyn_models.two_link_arm, exudyn_models.implicit, exudyn_models.advance),
        "MuJoCo": lines(mujoco_models.two_link_arm, mujoco_models.two_link_spec, mujoco_models.sign),
        "solve_ivp on flexarm's equations": lines(
            scipy_solver.two_link_arm, scipy_solver.solve, scipy_solver.RightHandSide
        ),
    }


def closed_forms() -> dict[str, float]:
    return {"sympy.physics.mechanics": formulation.lagrange(2), "flexarm": formulation.formulate(2)}


def main() -> None:
    known = [*workloads.ALL, "W5", "forms", "history"]
    parser = argparse.ArgumentParser()
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(known))
    parser.add_argument("--write", action="store_true", help="write the page even if not everything was run")
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose of {', '.join(known)}")
    wanted = options.workloads or known
    warnings.simplefilter("ignore")
    found, start = page.Findings(), time.perf_counter()
    for name in workloads.ALL:
        if name in wanted:
            compared(name, found)
    found.lines = user_lines() if "W1" in wanted else {}
    if "W5" in wanted:
        found.costs = {kind: growth.all_costs(kind) for kind in growth.SIZES}
        found.verdicts += verdicts.of_growth(found.costs)
    if "forms" in wanted:
        found.formulation = closed_forms()
    if "history" in wanted:
        found.now = history.now()
    found.verdicts += verdicts.of_footprints(found.footprints)
    found.seconds = time.perf_counter() - start
    print(
        "\n" + page.summary(found) + "\n\nwhere flexarm is slower\n" + "\n".join(f"  {line}" for line in found.losses)
    )
    print(f"{found.seconds:.0f} s")
    if options.write or not options.workloads:
        write(found)


def write(found: page.Findings) -> None:
    images = DOCS / "images"
    images.mkdir(exist_ok=True)
    for name, (workload, survey, _) in found.surveys.items():
        pictures.work_precision(workload, survey, images / f"benchmark_{name.lower()}.png")
    if found.costs:
        pictures.growth(found.costs, images / "benchmark_growth.png")
    (DOCS / "benchmarks.md").write_text(page.written(found))
    print(f"wrote {(DOCS / 'benchmarks.md').relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
