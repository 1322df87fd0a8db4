"""Rows of the members of a cohort (`Sampler.row`): interpolated where they are many, else computed one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.robot import Robot
from flexarm.sweeps.applied import changed_robot
from flexarm.sweeps.lanes.candidates import Candidate, parted, points
from flexarm.sweeps.lanes.cohort import Cohort
from flexarm.sweeps.lanes.sampler import OtherStructure
from flexarm.sweeps.lanes.surrogate import Surrogate, surrogate

WORTH = 24  # members for which interpolation is not worth its nodes
CORNERS = 4  # fields whose corners are all looked at
WRONG = (ValueError, TypeError, KeyError, ArithmeticError)


@dataclass(frozen=True)
class Rows:
    """Of members in order: interpolated in these fields, or a row for each."""

    fields: tuple[str, ...]
    found: Surrogate | Array

    def of(self, these: Sequence[Candidate], places: Sequence[int]) -> Array:
        """Those of the members at these places."""
        if isinstance(self.found, Surrogate):
            return self.found(points(these, self.fields))
        return self.found[list(places)]

    def speeds(self, cohort: Cohort, these: Sequence[Candidate]) -> Array:
        """By member, how fast it vibrates (`Cohort.speeds`); of many, by a plane through those that were computed."""
        if not isinstance(self.found, Surrogate):
            return cohort.speeds(self.found)
        spread = np.ptp(self.found.points, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        known = np.column_stack([np.ones(len(self.found.points)), self.found.points / spread])
        slopes = np.linalg.lstsq(known, cohort.speeds(self.found.rows), rcond=None)[0][1:]
        return np.asarray(points(these, self.fields) @ (slopes / spread))


def rows_of(cohort: Cohort, these: Sequence[Candidate]) -> tuple[Rows, list[bool]]:
    """The rows of those members that are of the cohort, and which those are; a ValueError where one is no robot."""
    fields = tuple(sorted({name for each in these for name in each.smooth}))
    if not fields:
        return Rows(fields, np.repeat(cohort.sampler.row({})[None], len(these), axis=0)), [True] * len(these)
    smooth = all(len(each.smooth) == len(fields) for each in these) and not _jumps(cohort.robot)
    if smooth and len(these) > WORTH:
        made = _interpolated(cohort, these, fields)
        if made is not None:
            return Rows(fields, made), [True] * len(these)
    require_robots(cohort, these)
    known: dict[tuple[Any, ...], Array | None] = {}
    for each in these:
        key = tuple(sorted(each.smooth.items()))
        if key not in known:
            known[key] = _computed(cohort, each)
    found = [known[tuple(sorted(each.smooth.items()))] for each in these]
    mine = [row for row in found if row is not None]
    return Rows(fields, np.stack(mine) if mine else np.zeros((0, 0))), [row is not None for row in found]


def _jumps(robot: Robot) -> bool:
    """Whether numbers may jump between members: where numbers of shapes are picked for each of them, and where damping
    goes by the order of frequencies, of which two may change places."""
    flexible = [link.flexible for link in robot.links if link.flexible is not None]
    return any(each.up_to is not None or isinstance(getattr(each.damping, "ratio", None), tuple) for each in flexible)


def require_robots(cohort: Cohort, these: Sequence[Candidate]) -> None:
    """Values that make no robot: which member has them, and why."""
    for each in these:
        try:
            each.robot_of(cohort.robot)
        except WRONG as error:
            raise each.about(error) from None


def _computed(cohort: Cohort, one: Candidate) -> Array | None:
    """None of a robot of another structure, or of one that finds no rest: it will tell."""
    try:
        return cohort.sampler.row(one.smooth)
    except (OtherStructure, ArithmeticError):
        return None
    except WRONG as error:
        raise one.about(error) from None


def _interpolated(cohort: Cohort, these: Sequence[Candidate], fields: tuple[str, ...]) -> Surrogate | None:
    at = points(these, fields)

    def named(point: Array) -> Mapping[str, float]:
        return dict(zip(fields, point.tolist(), strict=True))

    def row(point: Array) -> Array:
        return cohort.sampler.row(named(point))

    ends = np.stack([at.min(axis=0), at.max(axis=0)])
    count = min(len(fields), CORNERS)
    try:
        for corner in np.ndindex(*(2,) * count):
            which = [*corner, *(0,) * (len(fields) - count)]
            changed_robot(cohort.robot, parted(named(ends[which, range(len(fields))])).robot)
        return surrogate(at, row, cohort.sampler.scale, np.random.default_rng(0))
    except WRONG:  # members are looked at one by one
        return None
