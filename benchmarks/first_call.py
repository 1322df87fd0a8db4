"""Measure imports and first calls, each in a new process.

`python benchmarks/first_call.py` prints a table; `--against PATH` compares with another checkout of flexarm:
both are measured in turn, and the ratios are of medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
LIMIT = 300.0  # s for a process

Times = dict[str, float]  # s by what was done

COLD = "first simulation, nothing compiled"
WARM = "first simulation, compiled code in the cache"
SUM = "whole program: imports and this simulation"
ALONE = "numpy, CasADi and pydantic imported alone"
LABELLED = "the same with a look at run.data (xarray, pandas)"


IMPORTS = """
import time
start = time.perf_counter()
import numpy, casadi, pydantic
print(time.perf_counter() - start)
"""


# --- in a process of its own ---


def fill_cache() -> None:
    """Compile what the first program needs: a program that ends does not wait for compilers in the background."""
    import flexarm as fa

    arm = fa.library.two_link_arm(damping=1e-3)
    fa.simulate(arm, 10.0, torque=torques(fa), sample=0.01, native=True)


def torques(fa: Any) -> dict[str, Any]:
    return {"upper": fa.bang_bang(0.02, (1, 2)), "fore": fa.bang_bang(0.005, (1, 2))}


def newcomer() -> Times:
    """Time the steps of a first program, one after the other."""
    import warnings

    warnings.simplefilter("ignore")
    found: Times = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        out = work()
        found[name] = time.perf_counter() - start
        return out

    fa = timed("import flexarm", lambda: __import__("flexarm"))
    arm = timed("first robot (NumPy, pydantic)", lambda: fa.library.two_link_arm(damping=1e-3))
    timed("fa.simulate (CasADi, the package's own modules)", lambda: fa.simulate)
    torque = torques(fa)
    run = timed(WARM, lambda: fa.simulate(arm, 10.0, torque=torque, sample=0.01))
    found[SUM] = sum(found.values())
    timed(LABELLED, lambda: run.data)
    found[LABELLED] += found[SUM]
    timed("the same simulation again", lambda: fa.simulate(arm, 10.0, torque=torque, sample=0.01).data)
    timed("first fa.modes", lambda: fa.modes(arm))
    system = timed("first fa.System", lambda: fa.System(arm))
    timed("first inverse dynamics", lambda: system.inverse_dynamics(*[[0.1] * system.nq] * 3))
    return found


# --- around it ---


def in_new_process(checkout: Path, cache: str, bytecode: str, work: str = "--newcomer") -> Times:
    if not (checkout / "src" / "flexarm").is_dir():  # an installed package would be measured in its place
        raise SystemExit(f"{checkout}: has no src/flexarm")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {  # as of an installed package: Python's own bytecode is there after the first time
        "PYTHONPATH": str(checkout / "src"),
        "PYTHONPYCACHEPREFIX": bytecode,
        "FLEXARM_CACHE": cache,
    }
    command = [sys.executable, str(Path(__file__).resolve()), work]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise SystemExit(f"{checkout}: the program failed\n{done.stderr}")
    alone = subprocess.run([sys.executable, "-c", IMPORTS], env=environment, capture_output=True, text=True, check=True)
    return {ALONE: float(alone.stdout), **json.loads(done.stdout.splitlines()[-1])}


def measured(checkouts: Sequence[Path], repeats: int, cold_repeats: int) -> list[Times]:
    """Medians for each checkout; they take turns, so that a busy moment of the machine meets all."""
    warm: list[list[Times]] = [[] for _ in checkouts]
    cold: list[list[float]] = [[] for _ in checkouts]
    with tempfile.TemporaryDirectory() as folder:
        caches = [f"{folder}/cache-{place}" for place, _ in enumerate(checkouts)]
        for checkout, cache in zip(checkouts, caches, strict=True):
            in_new_process(checkout, cache, f"{folder}/bytecode", "--fill-cache")
            in_new_process(checkout, cache, f"{folder}/bytecode")  # and Python's own bytecode
        for turn in range(cold_repeats):
            for place, checkout in enumerate(checkouts):
                times = in_new_process(checkout, f"{folder}/empty-{place}-{turn}", f"{folder}/bytecode")
                cold[place].append(times[WARM])
        for _ in range(repeats):
            for place, checkout in enumerate(checkouts):
                warm[place].append(in_new_process(checkout, caches[place], f"{folder}/bytecode"))
    return [medians(*each) for each in zip(warm, cold, strict=True)]


def medians(warm: Sequence[Times], cold: Sequence[float]) -> Times:
    out = {name: statistics.median(each[name] for each in warm) for name in warm[0]}
    return {COLD: statistics.median(cold), **out} if cold else out


def table(found: Sequence[Times]) -> str:
    """Milliseconds; beside another checkout, those of both and the ratio."""
    rows = [["", "ms", *(["ms there", "ratio"] if len(found) > 1 else [])]]
    for name, seconds in found[0].items():
        row = [name, f"{1e3 * seconds:.1f}"]
        if len(found) > 1:
            row += [f"{1e3 * found[1][name]:.1f}", f"{seconds / found[1][name]:.2f}"]
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [str.ljust, *[str.rjust] * (len(widths) - 1)]
    return "\n".join("  ".join(put(*each) for put, *each in zip(aligned, row, widths, strict=True)) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout, measured side by side")
    parser.add_argument("--repeats", type=int, default=11, help="processes with compiled code in the cache (11)")
    parser.add_argument("--cold", type=int, default=3, help="processes with an empty cache (3)")
    parser.add_argument("--newcomer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fill-cache", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fill_cache:
        fill_cache()
        print("{}")
        return
    if given.newcomer:
        print(json.dumps(newcomer()))
        return
    if given.repeats < 1 or given.cold < 0:
        parser.error("--repeats must be at least 1, --cold at least 0")
    checkouts = [HERE] if given.against is None else [HERE, given.against.resolve()]
    print(table(measured(checkouts, given.repeats, given.cold)))


if __name__ == "__main__":
    main()
