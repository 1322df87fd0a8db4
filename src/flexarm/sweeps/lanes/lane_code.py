"""The compiled code of a plant and a method for lanes, shared by all batches that want the same."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from functools import cached_property
from typing import Any

import casadi as ca

from flexarm.codegen.compiler import Build
from flexarm.codegen.groups import group_source
from flexarm.codegen.lock import building
from flexarm.codegen.simd_library import LaneLibrary, Width, widest
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.report import report
from flexarm.motion.sampling import LOW
from flexarm.motion.spectrum import small_motions

STEP, START, READ, SMALL = NAMES = ("flexarm_step", "flexarm_start", "flexarm_read", "flexarm_small_motions")
REMEMBERED = 16  # codes that are kept in memory; all of them are kept on disk

_codes: OrderedDict[tuple[object, ...], LaneCode] = OrderedDict()


class LaneCode:
    """Steps, starts, what is read of states, and small motions of one plant and method, for several robots at once."""

    def __init__(self, plant: Plant, method: Method, width: Width) -> None:
        self.plant, self.method, self.width = plant, method, width
        decides = None if method.identity is None else (*plant.identity, method.identity)

        def make() -> list[ca.Function]:
            made = (method.step(plant), plant.start, read(plant, method.order), small_motions(plant))
            return [_named(name, each) for name, each in zip(NAMES, made, strict=True)]

        self._library = LaneLibrary(NAMES, make, decides, width, group_source(STEP, READ))

    @cached_property
    def library(self) -> ctypes.CDLL | None:
        """None where there is no compiler, or it failed (one line says why)."""
        with building:
            return self._library.loaded

    @property
    def build(self) -> Build:
        """How the library was compiled."""
        return self._library.build

    @cached_property
    def measures(self) -> int:
        """How many errors a step tells."""
        with building:
            return self.plant.measures


def lane_code_of(plant: Plant, method: Method, width: Width | None = None) -> LaneCode:
    """Made, or found where it was made before."""
    width = width or widest()
    if method.identity is None:
        return LaneCode(plant, method, width)
    key = (*plant.identity, method.identity, width)
    with building:
        if key not in _codes:
            _codes[key] = LaneCode(plant, method, width)
            while len(_codes) > REMEMBERED:
                _codes.popitem(last=False)
        _codes.move_to_end(key)
        return _codes[key]


def read(plant: Plant, order: int) -> ca.Function:
    """(q, v, a, u, work and loss, numbers) -> what a run tells of a sample, in one column, of whose entries only the
    largest and the least are wanted (`readings.Readings` names them). States between steps are put onto the
    constraints; what drives a joint follows from the equations, as in `motion/readings.py`."""
    sizes = (plant.n, plant.n, plant.n, plant.input_count, 2)
    q, v, a, u, spent = (ca.MX.sym(name, size) for name, size in zip("qvaus", sizes))
    solver, forces, here, rates, gains = plant.constraint_solver, None, q, v, a
    if solver is not None and solver.projects:
        here, rates = plant.projected(q, v, u)
    if plant.driven and order > LOW:
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
    """The same function under another name."""
    inputs = function.mx_in()
    return ca.Function(name, inputs, function.call(inputs))
