"""Profile a whole `fa.simulate` call: `python benchmarks/whole_call.py [W1|W2|digital] [--repeats 30]`.

A new robot is described for each call, as in `benchmarks/compare.py`. For each part the table has the least time of
all calls (ms) and the number of calls of Python functions, which does not depend on how busy the machine is.

digital: a two-link arm under an LQG at 500 Hz over 2 s against the same design in continuous time, called in turns; and
what a sample of a law in Python costs beside the law itself: the time inside the integration loop is compared with that
of the same law as matrices, which takes the same steps.
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
from flexarm.results import truncation_check
from flexarm.simulation import simulate as simulation
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
    (truncation_check, "estimate"): "checks",
    (simulation, "warn_of_validity"): "checks",
}

RATE, DURATION = 500.0, 2.0  # Hz, s
STIFFNESS, DAMPING = {"upper": 0.05, "fore": 0.02}, {"upper": 0.05, "fore": 0.02}  # N m/rad, N m s/rad
MOST_TIMES = 3.0  # that a digital controller may take, against the same in continuous time
MOST_ADDED = 30.0  # microseconds a sample of a law in Python

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


def lqg(arm: fa.Robot, rate: float | None) -> fa.Feedback:
    """Return an LQG that moves both joints, of a model with two modes."""
    references = {name: fa.cycloid(0.0, angle, 1.0) for name, angle in (("upper.q", 0.5), ("fore.q", 0.3))}
    model = fa.linearize(arm, outputs=list(references)).reduce(8)
    weights, noise = dict.fromkeys(references, 1.0), dict.fromkeys(references, 1e-3)
    process = {"upper": 1.0, "fore": 1.0}
    return fa.lqg(model, weights, 10.0, process, noise, references=references, rate=rate).feedback()


def python_law(calls: list[float]) -> Callable[..., list[float]]:
    """Return the law of `fa.pd` as a function; it appends its own time (s) to `calls`."""

    def law(t: float, q: Any, v: Any) -> list[float]:
        begin = time.perf_counter()
        errors = (("upper", 0.3 - q["upper.q"], v["upper.q"]), ("fore", -q["fore.q"], v["fore.q"]))
        out = [STIFFNESS[link] * error - DAMPING[link] * rate for link, error, rate in errors]
        calls.append(time.perf_counter() - begin)
        return out

    return law


def digital(repeats: int) -> str:
    """Return the costs of digital controllers."""
    arm, own = fa.library.two_link_arm(damping=1e-3), list[float]()
    laws = {
        "continuous": lqg(arm, None),
        "sampled": lqg(arm, RATE),
        "Python": fa.Feedback(python_law(own), rate=RATE),
        "matrices": fa.pd(arm, STIFFNESS, DAMPING, {"upper": 0.3, "fore": 0.0}, rate=RATE),
    }
    whole, loop = (dict.fromkeys(laws, float("inf")) for _ in range(2))
    steps, least = {}, float("inf")
    for _ in range(repeats + 1):  # the first compiles
        for name, law in laws.items():
            own.clear()
            begin = time.perf_counter()
            run = fa.simulate(arm, DURATION, torque=law, native=True)
            whole[name] = min(whole[name], time.perf_counter() - begin)
            loop[name] = min(loop[name], run.statistics["loop_time"])
            steps[name] = run.statistics["steps"]
            least = min(least, sum(own) or least)
    samples = RATE * DURATION
    added = 1e6 * (loop["Python"] - loop["matrices"] - least) / samples
    ratio = whole["sampled"] / whole["continuous"]
    rows = [f"{'digital':12} {'ms':>8} {'loop':>8} {'steps':>8}"]
    rows += [f"{name:12} {1e3 * whole[name]:8.2f} {1e3 * loop[name]:8.2f} {steps[name]:8}" for name in laws]
    rows.append(f"LQG at {RATE:g} Hz: {ratio:.2f} times the continuous one ({MOST_TIMES:g} are allowed)")
    rows.append(f"a law in Python: {added:.1f} us a sample beside its own {1e6 * least / samples:.1f} ({MOST_ADDED:g})")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = workloads()
    parser.add_argument("workloads", nargs="*", metavar="W1|W2|digital", help="all unless given")
    parser.add_argument("--repeats", type=int, default=30)
    given = parser.parse_args()
    names = [*known, "digital"]
    if unknown := set(given.workloads) - set(names):
        parser.error(f"there is no workload {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    flexarm_models.native = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.workloads or names:
            if name == "digital":
                print(digital(max(given.repeats, 1)), end="\n\n")
                continue
            work = known[name]
            work()  # compiles
            print(table(name, timed(work, max(given.repeats, 1)), counted(work)), end="\n\n")


if __name__ == "__main__":
    main()
