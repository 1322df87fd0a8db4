"""What is sent to workers: what members have in common, as bytes that each worker opens once."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any

from flexarm.codegen.lock import building
from flexarm.foundation.sentences import shown
from flexarm.sweeps.lanes.job import Job, Portion
from flexarm.sweeps.outcomes import Outcomes


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


def work(parcel: bytes | Job, portion: Portion) -> tuple[Outcomes, list[str]]:
    """What a worker does: some members, in one thread; and what it notes of how they were run."""
    notes: list[str] = []
    job = parcel if isinstance(parcel, Job) else _opened(parcel)
    return job.compute(portion, noted=notes.append), notes


def _opened(parcel: bytes) -> Job:
    with building:  # by one thread, the others find it
        return _job(parcel)


@lru_cache(maxsize=4)
def _job(parcel: bytes) -> Job:
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
