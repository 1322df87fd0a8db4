"""Derivatives by fields of a robot from whole systems of changed robots, for tests of `System.derivative`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.robot.description import Description
from flexarm.robot.path_updates import apply_changes, value_at

CENTRAL = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
FORWARD = {0: -25 / 12, 1: 4.0, 2: -3.0, 3: 4 / 3, 4: -1 / 4}


def changed_robot(robot: fa.Robot, path: str, value: float) -> fa.Robot:
    """A changed copy, without warnings about units."""
    return fa.Robot.model_validate(apply_changes(robot, {path: value}))


def outputs(system: fa.System, function: str, *arguments: Any) -> list[np.ndarray]:
    """Of a function of a system with the numbers of its robot."""
    found = system.parametric[function].call([*map(np.asarray, arguments), system.numbers])
    return [each.full().squeeze() for each in found]


def differences(robot: fa.Robot, function: str, path: str, *arguments: Any) -> list[tuple[np.ndarray, float]]:
    """For each output its derivative by the number at a path, and how large what rounding leaves of it may be."""
    value, unit = value_at(robot, path)
    reach = 1.0 if unit == "rad" else abs(value) or (0.01 if unit == "kg" else 1.0)
    step = 2e-3 * reach

    def near(k: int) -> list[np.ndarray]:
        return outputs(fa.System(changed_robot(robot, path, value + k * step), native=False), function, *arguments)

    try:
        weights, found = CENTRAL, {k: near(k) for k in CENTRAL}
    except fa.DescriptionError:
        weights, found = FORWARD, {k: near(k) for k in FORWARD}
    out = []
    for k, here in enumerate(outputs(fa.System(robot, native=False), function, *arguments)):
        rate = sum(weight * found[node][k] for node, weight in weights.items()) / step
        out.append((rate, 1e-12 * float(np.abs(here).max(initial=0.0)) / step))
    return out


def numbers_in(part: object, path: str = "") -> Iterator[str]:
    """Paths to all numbers of a description that can change by little."""
    if isinstance(part, float):
        yield path
    elif isinstance(part, tuple):
        for k, item in enumerate(part):
            yield from numbers_in(item, f"{path}.{k}")
    elif isinstance(part, Description):
        for name in type(part).model_fields:
            yield from numbers_in(getattr(part, name), f"{path}.{name}" if path else name)
