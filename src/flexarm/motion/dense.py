"""A run between its samples: read at any time from the steps that were kept."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array, real_array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.system import System
from flexarm.motion.nodes import Nodes
from flexarm.motion.readings import Points, Readings
from flexarm.motion.records import Arrays, Variable
from flexarm.robot import Robot

NEAR = 1e-9  # of a run's length: so far beyond its end, a time is the end's
INPUTS_ARE_GONE = (
    "a run that was saved, copied or sent elsewhere has left its inputs behind: at times between samples it knows no "
    "torques and reactions; take those of its samples, or simulate it again"
)


class Dense:
    """The steps of a run and what they are read with; inputs are at hand where the run was made."""

    def __init__(self, nodes: Nodes, readings: Readings | None = None) -> None:
        self.nodes = nodes
        self._given = readings
        self._lock = threading.Lock()  # readings work on arrays of their own

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have no inputs: these are functions of the user's, and compiled code."""
        return Dense, (self.nodes,)

    def at(self, t: Any, attributes: dict[str, str]) -> Arrays:
        """All quantities at times t, in the order given."""
        times = self._times(t)
        with self._lock:
            readings = self._readings(attributes)
            asked = np.concatenate([[0.0], times])  # energies are balanced against the start
            return without_first(readings(asked, self.nodes.at(np.minimum(asked, self.nodes.end)), dict(attributes)))

    def system(self, attributes: dict[str, str]) -> System:
        """The equations of the robot of the run."""
        with self._lock:
            return self._readings(attributes).system

    def _times(self, t: Any) -> Array:
        times, end = np.array(real_array("t", t), dtype=float), self.nodes.end
        if times.ndim > 1 or not times.size:
            raise ValueError(f"t = {shown(t)}: must be a time (s) or a list of times")
        for each in np.atleast_1d(times):
            if not 0 <= each <= end * (1 + NEAR):
                raise ValueError(f"t = {each:.9g}: must be between 0 and {end:.9g} s, the end of this run")
        return np.atleast_1d(times)

    def _readings(self, attributes: dict[str, str]) -> Readings:
        if self._given is None:
            points: Points = json.loads(attributes["options"]).get("points", {})
            self._given = Readings(System(Robot.model_validate(json.loads(attributes["model"]))), points)
        return self._given


def without_first(arrays: Arrays) -> Arrays:
    return arrays._replace(
        variables={name: Variable(each.dims, each.values[1:], each.attrs) for name, each in arrays.variables.items()}
    )
