"""What a sweep is made of: the case that all members share, what each of them changes, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flexarm.motion.run import Run
from flexarm.robot import Robot


@dataclass(frozen=True)
class Case:
    """The same for all members: a robot, and what `fa.simulate` takes."""

    robot: Robot
    duration: float
    torque: Any = None
    motion: Mapping[str, Any] | None = None
    loads: Any = ()
    q0: Any = None
    v0: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)  # rtol, method, dt, sample, ...


@dataclass(frozen=True)
class Member:
    """One run: by name what it changes. Fields of the robot (`links.fore.payload.mass`), initial coordinates and rates
    (`q0.upper.q`, `v0.upper.q`), gains of a law (`gains.kp`), numbers of profiles (`torque.upper.amplitude`).

    changes: numbers; whole numbers, words and truth values where a field of the robot takes these."""

    number: int
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What came of a member: values of the measures by name (numbers or arrays; none of a run that failed), how its run
    ended, and what was warned of."""

    number: int
    values: Mapping[str, Any]
    status: str
    reason: str = ""
    run: Run | None = None
    doubts: tuple[str, ...] = ()
