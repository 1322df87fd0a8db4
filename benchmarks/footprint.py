"""Time of the first call and memory of a tool, in a process of its own.

`python benchmarks/footprint.py W1 17` runs candidate 17 of W1 and prints JSON. compare.py calls it with an empty cache
(cold), then again with the cache that this left (warm).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

LIMIT = 300.0  # s


@dataclass(frozen=True)
class Footprint:
    """Seconds of the first call in a new process, without imports, and peak memory in MB."""

    cold: float
    warm: float
    again: float  # the second call in the same process
    memory: float


def footprint(workload: str, place: int) -> Footprint:
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (_apart(workload, place, cache) for _ in range(2))
    return Footprint(cold["first"], warm["first"], warm["again"], max(cold["memory"], warm["memory"]))


def _apart(workload: str, place: int, cache: str) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).resolve()), workload, str(place)]
    environment = {**os.environ, "FLEXARM_CACHE": cache}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=True)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def main() -> None:
    import workloads

    candidate = workloads.ALL[sys.argv[1]].candidates()[int(sys.argv[2])]
    times = []
    for _ in range(2):
        start = time.perf_counter()
        candidate.run()
        times.append(time.perf_counter() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"first": times[0], "again": times[1], "memory": memory}))


if __name__ == "__main__":
    main()
