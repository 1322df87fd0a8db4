"""Where the time of a whole `fa.simulate` call goes: `python benchmarks/whole_call.py [W1] [W2] [--repeats 30]`.

The robot is described anew for each call, as in `benchmarks/compare.py`. For each part the table has the least time of
all calls (ms) and the number of calls of Python functions, which does not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import flexarm as fa
from flexarm.motion import simulate as simulation
from flexarm.motion import truncation
from peers import flexarm_models

PARTS = {
    "description": "the robot, validated",
    "preparation": "system, inputs, initial state, method",
    "loop": "integration",
    "results": "samples, energies, statistics",
    "checks": "estimates of errors, warnings",
}
TIMED = {  # functions that `simulate` calls by name, and the part that they are
    (simulation, "_complete"): "loop",
    (simulation, "_gathered"): "results",
    (simulation, "estimated_errors"): "checks",
    (truncation, "estimate"): "checks",
    (simulation, "warn_of_validity"): "checks",
}

Costs = dict[str, float]  # by part


def workloads() -> dict[str, Callable[[], fa.Run]]:
    """Return whole calls by name: a robot described and simulated."""
    shapes = fa.Flexible(bend_y=3, basis="modes")
    return {
        "W1": lambda: flexarm_models.two_link_arm(shapes, shapes, rtol=1e-3),
        "W2": lambda: flexarm_models.spin_up_beam(3, "shortening", rtol=1e-3),
    }


@contextmanager
def measured_parts(measure: Callable[[], float]) -> Iterator[Costs]:
    """Fill costs by part while calls are made, in what is measured (seconds, or calls of functions)."""
    found = dict.fromkeys(PARTS, 0.0)

    def watched(own: Callable[..., Any], part: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            before = measure()
            try:
                return own(*args, **options)
            finally:
                found[part] += measure() - before

        return call

    originals = {place: getattr(*place) for place in TIMED}
    simulate = fa.simulate

    def whole(*args: Any, **options: Any) -> fa.Run:
        before, inside = measure(), sum(found.values())
        found["description"] += before - begin
        run = simulate(*args, **options)
        found["preparation"] += measure() - before - (sum(found.values()) - inside - (before - begin))
        return run

    try:
        for (module, name), part in TIMED.items():
            setattr(module, name, watched(originals[module, name], part))
        fa.simulate = whole  # type: ignore[assignment]
        begin = measure()
        yield found
    finally:
        fa.simulate = simulate  # type: ignore[assignment]
        for (module, name), own in originals.items():
            setattr(module, name, own)


def timed(work: Callable[[], Any], repeats: int) -> Costs:
    """Return the least time of each part (s)."""
    best = dict.fromkeys(PARTS, float("inf"))
    for _ in range(repeats):
        with measured_parts(time.perf_counter) as found:
            work()
        best = {part: min(best[part], seconds) for part, seconds in found.items()}
    return best


def counted(work: Callable[[], Any]) -> Costs:
    """Return how many Python functions each part calls."""
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    with measured_parts(lambda: calls) as found:
        sys.setprofile(count)
        try:
            work()
        finally:
            sys.setprofile(None)
    return found


def table(name: str, seconds: Costs, calls: Costs) -> str:
    """Return the costs of a workload, part by part."""
    rows = [f"{name:12} {'ms':>8} {'calls':>8}"]
    rows += [f"{part:12} {1e3 * seconds[part]:8.2f} {calls[part]:8.0f}  {what}" for part, what in PARTS.items()]
    rest = [part for part in PARTS if part != "loop"]
    for title, parts in (("whole", [*PARTS]), ("but the loop", rest)):
        rows.append(f"{title:12} {1e3 * sum(map(seconds.get, parts)):8.2f} {sum(map(calls.get, parts)):8.0f}")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = workloads()
    parser.add_argument("workloads", nargs="*", metavar="W1|W2", help="all unless given")
    parser.add_argument("--repeats", type=int, default=30)
    given = parser.parse_args()
    if unknown := set(given.workloads) - set(known):
        parser.error(f"there is no workload {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    flexarm_models.native = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.workloads or known:
            work = known[name]
            work()  # compiles
            print(table(name, timed(work, max(given.repeats, 1)), counted(work)), end="\n\n")


if __name__ == "__main__":
    main()
