"""Measure the cost of a closed loop: `python benchmarks/constraints.py`.

A four-bar against the same links without the loop: CasADi instructions of one step of generalized-alpha with two
iterations, and the measured time of a compiled step. Then how well the loop stays closed.
"""

from __future__ import annotations

import warnings

import numpy as np

import flexarm as fa
from flexarm.integrators.inputs import Schedule

START = {"crank.q": 1.0, "coupler.q": -0.551831, "rocker.q": 1.295634}
BEAM = {
    "section": fa.Section.rectangle(0.01, 0.02),
    "material": fa.Material(7e10, 2700, damping=1e-4),
    "flexible": fa.Flexible(bend_y=3),
}


def four_bar(**fields: object) -> fa.Robot:
    links = [
        fa.Link("crank", 0.2, **fields),
        fa.Link("coupler", 0.5, **fields),
        fa.Link("rocker", 0.4, parent="ground", offset=(0.45, 0, 0), **fields),
    ]
    return fa.Robot(links=links, gravity=(0, -9.81, 0), constraints=[fa.Loop("coupler", "rocker")])


def instructions(system: fa.System, iterations: int = 2) -> int:
    """Of one step: every function as often as the step calls it."""
    plant = Schedule(system, None, None, ()).plant()
    calls = {
        plant.factor: 1,
        plant.residual: iterations,
        plant.substitute: iterations,
        plant.resolved: 2,
        plant.displacements: 1,
        plant.forces: 2,
    }
    if plant.constraint_solver is not None:
        calls |= {
            plant.constraint_solver.constrained: 1,
            plant.constraint_solver.trial: iterations,
            plant.constraint_solver.value: 2,
            plant.constraint_solver.rate: 1,
        }
    return sum(times * function.n_instructions() for function, times in calls.items())


def microseconds(system: fa.System) -> float:
    fa.simulate(system, 0.5, q0=START, dt=1e-3, native=True)
    found = [fa.simulate(system, 5.0, q0=START, dt=1e-3).statistics for _ in range(3)]
    return min(1e6 * each["loop_time"] / each["computed"] for each in found)


def cost() -> None:
    print(f"{'four-bar':>10}{'instructions':>14}{'open':>8}{'ratio':>8}{'us/step':>9}{'open':>7}{'ratio':>7}")
    for name, robot in {"rigid": four_bar(mass=1.0), "flexible": four_bar(**BEAM)}.items():
        closed, tree = fa.System(robot), fa.System(robot.with_(constraints=()))
        a, b, s, t = instructions(closed), instructions(tree), microseconds(closed), microseconds(tree)
        print(f"{name:>10}{a:>14}{b:>8}{a / b:>8.2f}{s:>9.2f}{t:>7.2f}{s / t:>7.2f}")


def drift() -> None:
    system = fa.System(four_bar(mass=1.0))
    print("\ncrank at one turn a second for 100 s, dt = 5 ms: largest gap of the loop (m)")
    kinds = {
        "none": {"stabilization": fa.Baumgarte(0.0, 0.0)},
        "Baumgarte(5, 5)": {},
        "Baumgarte(50, 50)": {"stabilization": fa.Baumgarte(50.0, 50.0)},
    }
    options = {name: {"method": "newmark-baumgarte", **each} for name, each in kinds.items()}
    for name, each in {**options, "projection": {"method": "newmark"}}.items():
        run = fa.simulate(system, 100.0, motion={"crank": lambda t: 1 + 2 * np.pi * t}, q0=START, dt=5e-3, **each)
        print(f"{name:>20}{float(run.data['violation'].max()):>12.1e}")


if __name__ == "__main__":
    warnings.simplefilter("ignore", fa.ValidityWarning)
    cost()
    drift()
