"""How the numbers of a robot change with a field of its description."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.chain import Chain
from flexarm.mechanics.differences import BACKWARD, CENTRAL, FORWARD, derivative, estimated_error, kink
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.structure import numbers_of
from flexarm.robot import Robot
from flexarm.robot.changes import changed, value_at
from flexarm.robot.errors import DescriptionError

STEP = 0.01  # of what is a large change of a field
SCALES = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 10.0, 100.0, 1e4)  # of that step, one after the other until one is good
GOOD = 1e-10
ENOUGH = 1e-6  # weights of the nodes of exact links are known to 1e-11, and differences divide that by their step
KINK = 1e-3  # between derivatives from the left and from the right, which are less accurate


@dataclass(frozen=True)
class Rate:
    """d(numbers) / d(field). `numbers`: those of the robot, with places for all that changes."""

    path: str
    numbers: Numbers
    entries: Sequence[Array]  # of the numbers, each with its derivative
    inputs: Array  # d(input matrix) / d(field)
    error: float  # estimated, relative

    def direction(self, numbers: Numbers) -> Array:
        """The derivative of the vector of these numbers."""
        parts = [rate[entry.free] for entry, rate in zip(numbers.entries, self.entries, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0)


class Rates:
    """Of one robot, each computed once."""

    def __init__(self, chain: Chain) -> None:
        self._robot, self._numbers, self._inputs = chain.robot, numbers_of(chain), chain.coordinates.input_matrix
        self._found: dict[str, Rate] = {}
        self._lock = threading.Lock()

    def by(self, path: str) -> Rate:
        """By the number at a path, as `Robot.with_` takes it; a ValueError if there is none."""
        with self._lock:
            if path not in self._found:
                self._found[path] = self._rate(path)
            return self._found[path]

    def _rate(self, path: str) -> Rate:
        value, unit = self._field(path)
        reach, size = self._sizes(value, unit)
        best, refusal = None, None
        for scale in SCALES:
            try:
                rate = self._with_step(path, value, STEP * reach * scale, size)
            except (ValueError, OverflowError) as error:
                refusal = refusal or error
                continue
            if best is None or rate.error < best.error:
                best = rate
            elif best.error <= ENOUGH:
                break
            if best.error <= GOOD:
                break
        if best is None:
            raise ValueError(f"by = {path!r}: there is no derivative by it where it is {shown(value)}; {refusal}")
        if not best.error <= ENOUGH:
            raise ValueError(
                f"by = {path!r}: there is no derivative by it where it is {shown(value)}; the robot's numbers jump or "
                f"have a kink there (differences agree to {best.error:.1g} only)"
            )
        return best

    def _field(self, path: str) -> tuple[float, str]:
        """Its value and unit."""
        try:
            value, unit = value_at(self._robot, path)
        except DescriptionError as error:
            raise ValueError(f"by: {error}") from None
        if value is None and path.endswith(".flexible.up_to"):  # the robot at hand has the numbers instead
            raise ValueError(f"by = {path!r}: it picks numbers of shapes, and these cannot change by little")
        if value is None:
            raise ValueError(f"by = {path!r}: the robot has none; give it a value, by which a derivative can be taken")
        if isinstance(value, tuple):
            entries = f"{path}.0 to {path}.{len(value) - 1}"
            raise ValueError(f"by = {path!r}: must be one number; it has {len(value)} entries, {entries}")
        if unit == "rad" and path.split(".")[-2].isdecimal():
            raise ValueError(f"by = {path!r}: an entry of a matrix cannot change alone; give the rotation as angles")
        if not isinstance(value, float):
            raise ValueError(f"by = {path!r}: must be a number that can change by little, but it is {shown(value)}")
        return value, unit

    def _sizes(self, value: float, unit: str) -> tuple[float, float]:
        """What is a large change of a field at its value, and of fields in its unit."""
        length, mass = sum(link.length for link in self._robot.links), self._robot.total_mass
        typical = {"rad": 1.0, "m": length, "kg": mass, "kg m2": mass * length**2}.get(unit, 0.0)
        reach = 1.0 if unit == "rad" else abs(value) or typical or 1.0
        return reach, max(reach, typical)

    def _with_step(self, path: str, value: float, step: float, size: float) -> Rate:
        """A ValueError where the robot cannot be described, or becomes another, within that distance."""
        found: dict[int, tuple[Numbers, Array]] = {0: (self._numbers, self._inputs)}

        def near(node: int) -> tuple[Numbers, Array]:
            if node not in found:
                robot = Robot.model_validate(changed(self._robot, {path: value + node * step}))
                chain = Chain(robot)
                numbers = numbers_of(chain)
                self._numbers.require_entries_of(numbers)
                found[node] = numbers, chain.coordinates.input_matrix
            return found[node]

        for nodes in (CENTRAL, FORWARD, BACKWARD):
            try:
                neighbours = {node: near(node) for node in nodes}
                break
            except DescriptionError as error:  # on the other side, perhaps
                refusal = error
        else:
            raise refusal
        return self._from(path, neighbours, step, size)

    def _from(self, path: str, neighbours: dict[int, tuple[Numbers, Array]], step: float, size: float) -> Rate:
        entries, worst = [], 0.0
        for k, entry in enumerate(self._numbers.entries):
            values: dict[int, Array] = {node: numbers.entries[k].value for node, (numbers, _) in neighbours.items()}
            rate, last, before = derivative(values, step)
            entries.append(rate)
            if entry.powers:  # coefficients are less accurate than the function, in which they all but cancel
                at = _values_of_powers(len(rate))
                values = {node: at @ value for node, value in values.items()}
                rate, last, before = derivative(values, step)
            large = max(float(np.abs(rate).max(initial=0.0)), float(np.abs(values[0]).max(initial=0.0)) / size)
            if large:
                apart = kink(values, step) / large
                worst = max(worst, estimated_error(last, before) / large, apart if apart > KINK else 0.0)
        inputs = derivative({node: matrix for node, (_, matrix) in neighbours.items()}, step)[0]
        joined = self._numbers.joined(numbers for numbers, _ in neighbours.values())
        return Rate(path, joined, entries, inputs, worst if all(map(_finite, entries)) else np.inf)


def _values_of_powers(count: int) -> Array:
    """What makes values at points from -1 to 1 of the coefficients of so many powers."""
    return np.vander(np.cos(np.linspace(0, np.pi, count)), increasing=True)


def _finite(array: Array) -> bool:
    return bool(np.isfinite(array).all())
