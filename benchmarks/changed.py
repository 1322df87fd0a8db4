"""Time of simulating a robot with other parameters against the same robot again: `python benchmarks/changed.py`.

W1, the planar two-link arm for 10 s, in one process: the same robot, robots with another payload, and robots with
another payload, modulus and length, in turn. The first call has compiled the structure. Whole calls are timed, from the
robot to its results; making the robot with `with_` is not.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Iterator

import flexarm as fa

TORQUE = {"upper": fa.bang_bang(0.02, (2, 4)), "fore": fa.bang_bang(0.01, (2, 4))}
SHAPES = {
    "Craig-Bampton, 1 mode": fa.Flexible(bend_y=1, basis=fa.Reduced(12, 1, "fixed")),
    "3 modes": fa.Flexible(bend_y=3),
    "3 elements": fa.Flexible(bend_y=3, basis="elements"),
}


def arm(shapes: fa.Flexible) -> fa.Robot:
    both = {"links.upper.flexible": shapes, "links.fore.flexible": shapes}
    return fa.library.two_link_arm(damping=1e-3).with_(both)


def w1(robot: fa.Robot) -> fa.Run:
    return fa.simulate(robot, 10.0, torque=TORQUE, rtol=1e-3, sample=0.01)


def robots(robot: fa.Robot, count: int) -> Iterator[tuple[fa.Robot, fa.Robot, fa.Robot]]:
    """The same, with another payload, with all changed."""
    for k in range(1, count + 1):
        share = k / count
        payload = {"links.fore.payload.mass": 0.15 * (1 + 0.5 * share)}
        others = {"links.upper.material.E": 2e10 * (1 + 0.2 * share), "links.fore.length": 0.5 * (1 + 0.1 * share)}
        others |= {"links.upper.length": 1.0 - 0.1 * share}
        yield robot, robot.with_(payload), robot.with_(payload | others)


def seconds(robot: fa.Robot) -> float:
    start = time.perf_counter()
    w1(robot)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="Time robots with changed numbers.")
    parser.add_argument("--count", type=int, default=200, help="robots of each kind")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore", fa.ValidityWarning)
    names = ("the same", "other payload", "all changed")
    print(f"{'ms a call, median (sum of all as a ratio)':<44}" + "".join(f"{name:>22}" for name in names))
    for title, shapes in SHAPES.items():
        robot = arm(shapes)
        fa.simulate(robot, 10.0, torque=TORQUE, rtol=1e-3, sample=0.01, native=True)
        times = list(zip(*([seconds(each) for each in turn] for turn in robots(robot, wanted.count)), strict=True))
        cells = (f"{1e3 * statistics.median(row):.2f} ({sum(row) / sum(times[0]):.2f})" for row in times)
        print(f"{title:<44}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
