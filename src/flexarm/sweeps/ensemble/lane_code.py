"""Compiled code of a plant and a method for several robots at once, shared by all batches that need the same."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from functools import cached_property
from typing import Any

import casadi as ca

from flexarm.codegen.compiler import Build
from flexarm.codegen.groups import group_source
from flexarm.codegen.library import building
from flexarm.codegen.simd_library import LaneLibrary, SimdWidth, widest
from flexarm.foundation.dataclass import dataclass
from flexarm.integrators.compiled_step import report
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant
from flexarm.integrators.step_size import small_motions
from flexarm.results.step_history import LOW_ORDER

STEP, START, READ, SMALL = NAMES = ("flexarm_step", "flexarm_start", "flexarm_read", "flexarm_small_motions")
MAX_STORED_CODES = 16  # in memory; all of them are kept on disk

_codes: OrderedDict[tuple[object, ...], LaneCode] = OrderedDict()


class LaneCode:
    """Steps, starts, readings and small motions of one plant and method, for several robots at once."""

    def __init__(self, plant: Plant, method: Method, width: SimdWidth) -> None:
        self.plant, self.method, self.width = plant, method, width
        decides = None if method.identity is None else (*plant.identity, method.identity)

        def make() -> list[ca.Function]:
            made = (method.step(plant), plant.start, reading(plant, method.order), small_motions(plant))
            return [_named(name, each) for name, each in zip(NAMES, made, strict=True)]

        self._library = LaneLibrary(NAMES, make, decides, width, group_source(STEP, READ))

    @cached_property
    def library(self) -> ctypes.CDLL | None:
        """The compiled library; None if there is no compiler, or it failed."""
        with building:
            return self._library.loaded

    @property
    def build(self) -> Build:
        """How the library was compiled."""
        return self._library.build

    @cached_property
    def measures(self) -> int:
        """Number of errors that a step returns."""
        with building:
            return self.plant.measures


def lane_code_of(plant: Plant, method: Method, width: SimdWidth | None = None) -> LaneCode:
    """Return the code of a plant and a method, which may have been made before."""
    width = width or widest()
    if method.identity is None:
        return LaneCode(plant, method, width)
    key = (*plant.identity, method.identity, width)
    with building:
        if key not in _codes:
            _codes[key] = LaneCode(plant, method, width)
            while len(_codes) > MAX_STORED_CODES:
                _codes.popitem(last=False)
        _codes.move_to_end(key)
        return _codes[key]


@dataclass(frozen=True)
class ReadingLayout:
    """Places in a reading: kinetic, elastic, gravitational and drive energy, work, loss, energy balance but for a
    constant, tip, square of the deflection of each link's tip, torques."""

    links: int
    actuators: int

    stores = slice(0, 6)
    gained = 6
    tip = slice(7, 10)

    @property
    def deflections(self) -> slice:
        return slice(10, 10 + self.links)

    @property
    def torques(self) -> slice:
        return slice(10 + self.links, self.count)

    @property
    def count(self) -> int:
        return 10 + self.links + self.actuators


def reading(plant: Plant, order: int) -> ca.Function:
    """(q, v, a, u, work and loss, numbers) -> quantities of a sample whose extremes are wanted (`ReadingLayout`).

    States between steps are projected onto the constraints; torques of driven joints follow from the equations, as in
    `results/outputs.py`.
    """
    sizes = (plant.n, plant.n, plant.n, plant.input_count, 2)
    q, v, a, u, spent = (ca.MX.sym(name, size) for name, size in zip("qvaus", sizes))
    solver, forces, here, rates, gains = plant.constraint_solver, None, q, v, a
    if solver is not None and solver.projects:
        here, rates = plant.projected(q, v, u)
    if plant.driven and order > LOW_ORDER:
        gains, forces = plant.motion(here, rates, u)
    elif plant.driven and solver is not None:
        about = solver.at(here, plant.factor(here, rates, u, 0, 0))
        forces = solver._multipliers(about, plant.residual(here, rates, gains, u))
    energies, _, tip, missing, bends = report(plant)(here, rates, gains, u, plant.numbers)
    if forces is not None and solver is not None:
        missing = missing + solver.pull(here, forces)[plant.driven]
    torques = plant.commanded(here, rates, u, missing)
    gained = ca.sum1(energies) - spent[0] + spent[1]
    column = ca.vertcat(energies, spent, gained, tip, ca.sum1(bends**2).T, torques)
    return plant.step_function("read", [q, v, a, u, spent], [column])


def _named(name: str, function: ca.Function) -> Any:
    """Return a function under another name."""
    inputs = function.mx_in()
    return ca.Function(name, inputs, function.call(inputs))
