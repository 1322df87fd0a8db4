"""What all robots of one structure share: symbols for their numbers, expressions and functions."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property

import casadi as ca

from flexarm.codegen.lock import building
from flexarm.foundation.numbers import Array
from flexarm.mechanics.bodies import erased, symbolic
from flexarm.mechanics.chain import Chain
from flexarm.mechanics.closings import Closing, Key, close, sampled
from flexarm.mechanics.constraint_numbers import add_constraints
from flexarm.mechanics.constraints import Constraints
from flexarm.mechanics.coordinates import Coordinates
from flexarm.mechanics.equations import Equations
from flexarm.mechanics.functions import Functions
from flexarm.mechanics.held_places import HeldPlaces
from flexarm.mechanics.kinematics import Kinematics
from flexarm.mechanics.link_models.beams import nodally_held
from flexarm.mechanics.link_numbers import robot_numbers
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.symbols import Symbols

REMEMBERED = 32  # structures, with all that was built for them

_known: OrderedDict[tuple[object, ...], Structure] = OrderedDict()


class Structure:
    """Made from the first robot that has it, of which it keeps no number."""

    def __init__(self, chain: Chain, numbers: Numbers, closings: Mapping[Key, Closing] | None) -> None:
        self.digest = hashlib.sha256(repr(numbers.structure).encode()).hexdigest()
        self.numbers = numbers.erased()
        symbols = Symbols(numbers)
        bodies = [symbolic(body, symbols.under(f"links.{body.link.name}")) for body in chain.bodies]
        self.coordinates = _without_sizes(chain.coordinates)
        self.equations = Equations(Kinematics(bodies, self.coordinates, chain.order, symbols))
        self.constrained = bool(chain.robot.every_constraint) or any(nodally_held(body.link) for body in chain.bodies)
        self._constraints, self._closings = erased(chain.robot.every_constraint), closings
        self.functions = Functions(self)

    @cached_property
    def constraints(self) -> Constraints:
        return Constraints(self.equations, self._constraints, self._closings)

    @cached_property
    def held_places(self) -> HeldPlaces:
        """The same constraints with the places at which they hold links."""
        return HeldPlaces(self.equations, self._constraints, self._closings)

    @cached_property
    def _raw_rows(self) -> dict[Key, ca.Function]:
        e = self.equations
        found = {}
        for key, (_, rows) in self.constraints.blocks.items():
            values = ca.vertcat(*(row.value for row in rows))
            found[key] = ca.Function("rows", [e.q, e.p], [ca.densify(values), ca.densify(ca.jacobian(values, e.q))])
        return found

    def closings(self, vector: Array, chain: Chain, numbers: Numbers) -> dict[Key, Closing]:
        """What a robot's numbers keep of the rows as they are written here; numbers that turn them are added."""
        length = sum(link.length for link in chain.robot.links)
        found = {}
        for key, (block, _) in self.constraints.blocks.items():
            rows = self._raw_rows[key]

            def at(q: Array, rows: ca.Function = rows) -> tuple[Array, Array]:
                value, slope = rows(q, vector)
                return value.full(), slope.full()

            scale = length if block.unit == "m" else 1.0
            found[key] = close(numbers, block, *sampled(at, chain.coordinates), scale)
        return found


def structure_of(chain: Chain) -> tuple[Structure, Numbers]:
    """The structure of a robot, and its numbers."""
    with building:
        numbers, closings = _described(chain)
        return _remembered(chain, numbers, closings), numbers


def widened(chain: Chain, others: Iterable[Numbers]) -> tuple[Structure, Numbers]:
    """The structure of which a robot is with all of these others, and its numbers."""
    with building:
        numbers, closings = _described(chain)
        joined = numbers.joined(others)
        return _remembered(chain, joined, closings), joined


def numbers_of(chain: Chain) -> Numbers:
    """Only the numbers."""
    with building:
        return _described(chain)[0]


def _described(chain: Chain) -> tuple[Numbers, dict[Key, Closing]]:
    """All numbers, and what is kept of the constraints' rows: that follows from the rows as they are written."""
    numbers = robot_numbers(chain)
    add_constraints(numbers, chain)
    if not chain.robot.every_constraint:
        return numbers, {}
    return numbers, _remembered(chain, numbers, None).closings(numbers.vector, chain, numbers)


def _remembered(chain: Chain, numbers: Numbers, closings: Mapping[Key, Closing] | None) -> Structure:
    key = numbers.structure  # a large one, so that it is looked up as seldom as possible
    found = _known.pop(key, None) or Structure(chain, numbers, closings)
    _known[key] = found  # the last again
    while len(_known) > REMEMBERED:
        _known.popitem(last=False)
    return found


def _without_sizes(coordinates: Coordinates) -> Coordinates:
    """The records without what is large for each: that is a robot's own."""
    out = copy(coordinates)
    out.all = [replace(each, _shapes=None, _shape=-1) for each in coordinates.all]
    out.__dict__.pop("sizes", None)
    return out
