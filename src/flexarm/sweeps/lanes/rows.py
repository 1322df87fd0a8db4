"""Rows of the members of a cohort (`Sampler.row`): interpolated where they are many, else computed one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.robot import Robot
from flexarm.sweeps.applied import changed_robot
from flexarm.sweeps.lanes.candidates import Candidate, Candidates, parted
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

    def of(self, these: Candidates, places: Sequence[int]) -> Array:
        """Those of the members at these places."""
        if isinstance(self.found, Surrogate):
            return self.found(these.points(self.fields))
        return self.found[list(places)]

    def speeds(self, cohort: Cohort, these: Candidates) -> Array:
        """By member, how fast it vibrates (`Cohort.speeds`); of many, by a plane through those that were computed."""
        if not isinstance(self.found, Surrogate):
            return cohort.speeds(self.found)
        spread = np.ptp(self.found.points, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        known = np.column_stack([np.ones(len(self.found.points)), self.found.points / spread])
        slopes = np.linalg.lstsq(known, cohort.speeds(self.found.rows), rcond=None)[0][1:]
        return np.asarray(these.points(self.fields) @ (slopes / spread))


def rows_of(cohort: Cohort, these: Candidates) -> tuple[Rows, NDArray[np.bool_]]:
    """The rows of those members that are of the cohort, and which those are; a ValueError where one is no robot."""
    fields, everyone = tuple(sorted(these.fields("robot", "state"))), np.ones(len(these), dtype=bool)
    if not fields:
        return Rows(fields, np.repeat(cohort.sampler.row({})[None], len(these), axis=0)), everyone
    if len(these) > WORTH and not np.isnan(these.points(fields)).any() and not _jumps(cohort.robot):
        made = _interpolated(cohort, these, fields)
        if made is not None:
            return Rows(fields, made), everyone
    require_robots(cohort, these)
    firsts, which = these.alike("robot", "state")
    known = [_computed(cohort, these[place]) for place in firsts]
    found = [known[kind] for kind in which.tolist()]
    mine = [row for row in found if row is not None]
    return Rows(fields, np.stack(mine) if mine else np.zeros((0, 0))), np.array([row is not None for row in found])


def _jumps(robot: Robot) -> bool:
    """Whether numbers may jump between members: where numbers of shapes are picked for each of them, and where damping
    goes by the order of frequencies, of which two may change places."""
    flexible = [link.flexible for link in robot.links if link.flexible is not None]
    return any(each.up_to is not None or isinstance(getattr(each.damping, "ratio", None), tuple) for each in flexible)


def require_robots(cohort: Cohort, these: Candidates) -> None:
    """Values that make no robot: which member has them, and why."""
    for each in (these[place] for place in these.alike("robot").firsts):
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


def _interpolated(cohort: Cohort, these: Candidates, fields: tuple[str, ...]) -> Surrogate | None:
    at = these.points(fields)

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
