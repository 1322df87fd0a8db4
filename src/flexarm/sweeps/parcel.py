"""What is sent to workers: the case and its measures, as bytes that each worker opens once."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flexarm.foundation.sentences import shown
from flexarm.sweeps.kept import Measure
from flexarm.sweeps.member import Case, Member, Outcome
from flexarm.sweeps.running import run


@dataclass(frozen=True)
class Job:
    """All that members have in common."""

    case: Case
    measures: Mapping[str, Measure] | None
    keep_runs: bool


def packed(job: Job, by_value: bool) -> bytes:
    """A job as bytes. `by_value`: functions of the program itself go along with their code, for workers that do not
    have it."""
    problem: Exception | None = None
    for name in ("cloudpickle", "pickle") if by_value else ("pickle", "cloudpickle"):
        try:
            return bytes(_module(name).dumps(job))
        except ImportError:
            continue
        except Exception as error:
            problem = problem or error
    raise TypeError(f"executor: {_culprit(job)} cannot be sent to other processes ({problem}); {_advice()}")


def work(parcel: bytes | Job, members: Sequence[Member]) -> list[Outcome]:
    """What a worker does: some members, a thread for each worker being enough."""
    job = parcel if isinstance(parcel, Job) else _opened(parcel)
    return list(run(job.case, members, job.measures, job.keep_runs, threads=1))


@lru_cache(maxsize=4)
def _opened(parcel: bytes) -> Job:
    job = pickle.loads(parcel)
    assert isinstance(job, Job)
    return job


def _module(name: str) -> Any:
    from importlib import import_module

    return import_module(name)


def _culprit(job: Job) -> str:
    """Which part cannot be pickled."""
    parts = {name: getattr(job.case, name) for name in ("torque", "motion", "loads", "options")}
    parts |= {f"measure {name!r}": each for name, each in (job.measures or {}).items()}
    for name, part in parts.items():
        try:
            pickle.dumps(part)
        except Exception:
            return f"{name} = {shown(part)}"
    return "the case"


def _advice() -> str:
    return "write functions at the top of a module, or install cloudpickle (it comes with the extra 'cluster')"
