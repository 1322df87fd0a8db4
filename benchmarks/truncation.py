"""Check of `run.truncation` against runs with twice the shapes: `python benchmarks/truncation.py [robots] [seed]`.

Random planar arms of one to three links with bang-bang torques. An alarm is an error of a frequency above 1 % with
joints free; the error of a run is the largest difference of tip deflections, of the peak deflection.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.mechanics.truncation import FREQUENCY_TOLERANCE

ALLOWED = 0.03  # of the peak deflection


def random_case(rng: np.random.Generator) -> tuple[fa.Robot, float, dict[str, Any]]:
    """Return a robot, a duration (s) and torques."""
    aluminium = fa.Material(E=70e9, rho=2700.0, damping=1e-4)
    links, torques, count = [], {}, int(rng.integers(1, 4))
    shapes, duration = int(rng.integers(1, 4)), float(rng.uniform(0.5, 1.5))
    for k in range(count):
        length, size = float(rng.uniform(0.3, 1.0)), float(rng.uniform(0.008, 0.02))
        links.append(
            fa.Link(
                f"link{k}",
                length,
                section=fa.Section.rectangle(size, size),
                material=aluminium,
                flexible=fa.Flexible(bend_y=shapes),
                hub=fa.PointMass(float(rng.uniform(0.2, 2.0)), inertia=float(10 ** rng.uniform(-3, -1))),
                payload=fa.PointMass(float(rng.uniform(0.1, 4.0))) if k == count - 1 else None,
            )
        )
    for k, link in enumerate(links):
        beyond = sum(each.total_mass * each.length**2 for each in links[k:])
        torques[link.name] = fa.bang_bang(
            float(rng.uniform(0.2, 1.0)) * beyond / duration**2, [duration / 3, 2 * duration / 3]
        )
    return fa.Robot("random", links=links), duration, torques


def doubled(robot: fa.Robot) -> fa.Robot:
    return robot.with_({f"links.{each.name}.flexible.bend_y": 2 * each.flexible.bend_y for each in robot.links})


def run_error(robot: fa.Robot, duration: float, torque: dict[str, Any]) -> tuple[fa.Run, float]:
    """Return the run and the largest difference of deflections, of their peak."""
    options = {"torque": torque, "sample": duration / 1000, "rtol": 1e-5, "progress": False}
    run, finer = (fa.simulate(each, duration, **options) for each in (robot, doubled(robot)))
    one, other = (each.array("deflection")[..., 1:] for each in (run, finer))
    samples = min(len(one), len(other))
    return run, float(np.abs(one[:samples] - other[:samples]).max() / np.abs(other).max())


def main(robots: int = 100, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    missed = false = alarms = 0
    for k in range(robots):
        robot, duration, torque = random_case(rng)
        run, error = run_error(robot, duration, torque)
        found = run.truncation["free"]
        alarm = found.error > FREQUENCY_TOLERANCE
        alarms += alarm
        missed += error > ALLOWED and not alarm
        false += error <= ALLOWED and alarm
        counts = [each.flexible.bend_y for each in robot.links]
        print(f"{k:4d} {counts!s:10} run {error:8.3%} frequency {found.error:8.3%} {found.reason}", flush=True)
    print(f"{robots} robots, {alarms} alarms: {missed} above {ALLOWED:.0%} unwarned, {false} false alarms")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(*(int(each) for each in sys.argv[1:]))
