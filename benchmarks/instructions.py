"""Count CasADi instructions of a step, which do not depend on the machine: `python benchmarks/instructions.py`.

`benchmarks/instructions.json` holds the counts that were reached. A test compares: a change that makes steps costlier
fails it; one that makes them cheaper (or a new robot here) is recorded with `--record`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import casadi as ca

import flexarm as fa
from flexarm.integrators.plant import Plant
from robots import planar_chain, sliding_pair, spatial_chain

RECORD = Path(__file__).with_suffix(".json")
SLACK = 1.02  # versions of CasADi differ a little in what they find to share

# how often a step of generalised-alpha with two iterations calls each function
CALLS = {"residual": 2, "factor": 1, "substitute": 2, "resolved": 2, "displacements": 1, "forces": 2}
# and the implicit method of order 5 with one iteration a stage, two in the first: `benchmarks/work.py` counts how many
# more there are in a run
CALLS_OF_ORDER_5 = {"residual": 7, "factor": 1, "substitute": 7, "resolved": 1, "displacements": 1, "forces": 6}


def robots() -> dict[str, tuple[fa.Robot, list[str]]]:
    """By name: the robot, and its driven links."""
    return {
        "two-link arm": (fa.library.two_link_arm(damping=1e-3), []),
        "rotating beam, driven": (fa.library.rotating_beam(), ["beam"]),
        "RRR arm": (fa.library.rrr_arm(), []),
        "RRR arm, elastic joints": (fa.library.rrr_arm(elastic_joints=True), []),
        "20 planar links": (planar_chain(20), []),
        "5 spatial links": (spatial_chain(5, damping=1e-4), []),
        "R-Pa": (sliding_pair("Pa"), []),
        "R-Pb": (sliding_pair("Pb"), []),
    }


def counts(robot: fa.Robot, driven: list[str]) -> dict[str, int]:
    """Instructions of each function, and of whole steps."""
    system = fa.System(robot, native=False)
    plant = Plant(system.structure, [system.index(f"{name}.q") for name in driven])
    found = {name: instructions(plant, name) for name in CALLS}
    steps = {"step": CALLS, "step of order 5": CALLS_OF_ORDER_5}
    return found | {name: _step(found, each, bool(driven)) for name, each in steps.items()}


def _step(costs: dict[str, int], times: dict[str, int], driven: bool) -> int:
    """A driven joint's force, for the energy that it puts in, is in the residual: one more wherever forces are."""
    return sum(each * costs[name] for name, each in times.items()) + driven * times["forces"] * costs["residual"]


def instructions(plant: Plant, name: str) -> int:
    """Of a function of a plant; where it is a loop over links, those of all that it calls."""
    return sum(each.n_instructions() for each in calls(getattr(plant, name).function))


def calls(function: ca.Function) -> list[ca.Function]:
    """The functions of symbols that a function calls, each as often as it does."""
    if function.is_a("SXFunction"):
        return [function]
    places = (k for k in range(function.n_instructions()) if function.instruction_id(k) == ca.OP_CALL)
    return [each for k in places for each in calls(function.instruction_MX(k).which_function())]


def recorded() -> dict[str, dict[str, int]]:
    return dict(json.loads(RECORD.read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the instructions of a step.")
    parser.add_argument("--record", action="store_true", help="write the counts to instructions.json")
    wanted = parser.parse_args()
    found = {name: counts(*robot) for name, robot in robots().items()}
    before = recorded() if RECORD.exists() else {}
    print(f"{'robot':<26}" + "".join(f"{name:>13}" for name in [*CALLS, "step", "of order 5", "recorded"]))
    for name, each in found.items():
        old = before.get(name, {}).get("step", "")
        print(f"{name:<26}" + "".join(f"{value:>13}" for value in [*each.values(), old]))
    if wanted.record:
        RECORD.write_text(json.dumps(found, indent=2) + "\n")
        print(f"recorded in {RECORD.name}")


if __name__ == "__main__":
    main()
