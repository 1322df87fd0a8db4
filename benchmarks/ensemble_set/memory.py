"""Memory of a sweep with many members, in a process of its own."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from ensemble_set import own
from ensemble_set.arms import Grid
from flexarm.sweeps.case import SweepCase

SHORT = 0.05  # s: histories are not kept, so longer runs take no more
SCRIPT = Path(__file__).resolve().parents[1] / "ensemble.py"


def grid_of(members: int) -> Grid:
    """As many, as square as they can be."""
    payloads = next(each for each in range(math.isqrt(members), 0, -1) if not members % each)
    return Grid(payloads, members // payloads)


def swept(case: SweepCase, members: int) -> dict[str, float]:
    """Here: members, seconds, and the largest memory that this process ever had (MB)."""
    grid, begin = grid_of(members), time.perf_counter()
    own.swept(replace(case, duration=SHORT), grid)
    seconds = time.perf_counter() - begin
    return {"members": len(grid), "seconds": seconds, "peak": most()}


def most() -> float:
    """MB. Where the system tells: of this program alone, `ru_maxrss` begins with what the process had that started
    it."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak(setting: str, members: int) -> dict[str, float]:
    """As `swept`, with the setting of this name, in a new process."""
    command = [sys.executable, str(SCRIPT), "--large", str(members), "--setting", setting]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
