"""Derivatives of a system's functions by what a user writes: AD by the numbers, times how these change with a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.codegen.evaluator import Evaluator
from flexarm.foundation.numbers import Array, real_array
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.answers import Energy, Linearization
from flexarm.mechanics.arguments import Arguments, Vector
from flexarm.mechanics.chain import Chain
from flexarm.mechanics.rates import Rates
from flexarm.mechanics.structure import widened

if TYPE_CHECKING:
    from flexarm.mechanics.system import System


class Derivative:
    """How one of a system's functions changes with fields of its robot, with its arguments held.

    Called with the arguments of the function, as the system's own method: an array with one more dimension, the last,
    for the fields `by`; an `Energy` or a `Linearization` of such arrays, or a tuple where the function has several
    outputs. Coordinates of modes are held too, in the scale of modes that change with the robot.
    """

    def __init__(self, system: System, chain: Chain, rates: Rates, function: str, by: Sequence[str]) -> None:
        names = list(system.parametric)
        if not isinstance(function, str) or function not in names:
            raise KeyError(f"function: there is no {shown(function)}{suggestion(function, names)}")
        self.system, self.function, self.by = system, function, _paths(by)
        self._arguments = Arguments(chain)
        found = [rates.by(path) for path in self.by]
        self._inputs = [rate.inputs for rate in found]
        self.errors = np.array([rate.error for rate in found])  # of d(numbers) / d(field), estimated, relative
        self._structure, numbers = widened(chain, (rate.numbers for rate in found))
        self._numbers = numbers.vector
        self._directions = np.array([rate.direction(numbers) for rate in found])
        self._evaluators: dict[str, Evaluator] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made anew."""
        return type(self.system).derivative, (self.system, self.function, self.by)

    def __repr__(self) -> str:
        return f"<derivative of {self.function}({', '.join(self.arguments)}) by {', '.join(self.by)}>"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of the function: q, v, ..."""
        return tuple(self._along.name_in()[:-2])

    @property
    def _along(self) -> ca.Function:
        return self._structure.functions.along(self.function)

    def __call__(self, *given: Vector, **named: Vector) -> Any:
        """The derivative at arguments of the function, in order or by name; those left out are zero."""
        vectors = self._vectors(given, named)
        if self.function == "forward_dynamics":
            self.system._accelerations(*vectors)
        if self.function == "linearization":
            mass = self._changes("mass_matrix", *vectors[:1])[0]
            K, G, D = self._changes(self.function, *vectors)
            return Linearization(np.broadcast_to(mass, K.shape).copy(), K, G, D)
        changes = self._changes(self.function, *vectors)
        if self.function == "energy":
            return Energy(*changes)
        return changes[0] if len(changes) == 1 else tuple(changes)

    def _changes(self, function: str, *vectors: Array) -> list[Array]:
        """Each output with the fields last."""
        code = self._structure.functions.code(self._structure.functions.along(function))
        if function not in self._evaluators:
            self._evaluators[function] = Evaluator(code, self.system.native)
        evaluator = self._evaluators[function]
        found = evaluator(*(vector[..., None, :] for vector in vectors), self._directions, self._numbers)
        out = [np.moveaxis(each, -1 - len(shape), -1) for each, shape in zip(found, evaluator.shapes, strict=True)]
        if not all(np.isfinite(each).all() for each in out):
            raise ValueError(f"the derivative of {function} is not finite: its arguments are too large, or singular")
        return out

    def _vectors(self, given: Sequence[Vector], named: Mapping[str, Vector]) -> list[Array]:
        names = self.arguments
        if len(given) > len(names):
            raise TypeError(f"{self.function} has {len(names)} arguments ({', '.join(names)}), but got {len(given)}")
        by_name = dict(zip(names, given, strict=False))
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"{self.function} has no argument {name!r}{suggestion(name, names)}")
            if name in by_name:
                raise TypeError(f"{self.function} got {name} twice: by position and by name")
            by_name[name] = value
        return [self._vector(name, by_name.get(name)) for name in names]

    def _vector(self, name: str, value: Vector) -> Array:
        if name == "tau":
            self._require_fixed_gears(value)
            return self._arguments.forces(value)
        if name != "forces":
            return self._arguments.vector(name, value)
        count = self._along.size1_in("forces")
        rows = real_array(name, np.zeros(count) if value is None else value)
        if rows.ndim == 0 or rows.shape[-1] != count or not np.isfinite(rows).all():
            raise ValueError(f"forces = {shown(value)}: must be {count} finite numbers, one for each row")
        return rows

    def _require_fixed_gears(self, tau: Vector) -> None:
        """Torques at a motor's shaft would be other forces with another gear."""
        for path, inputs in zip(self.by, self._inputs, strict=True):
            if tau is not None and inputs.any():
                raise ValueError(
                    f"tau = {shown(tau)}: must be left out in a derivative by {path}, with which the forces of a "
                    "torque at the motor's shaft change (torque_at = 'motor')"
                )

    @cached_property
    def casadi(self) -> ca.Function:
        """The derivative as a CasADi function of the arguments, for an optimiser: a matrix for each output, with a
        column for each field; a matrix is stacked column after column."""
        along = self._along
        given = [ca.SX.sym(name, along.size1_in(name)) for name in self.arguments]
        columns = [along.call([*given, ca.DM(change), ca.DM(self._numbers)]) for change in self._directions]
        outputs = [ca.densify(ca.cse(ca.horzcat(*(ca.vec(each) for each in output)))) for output in zip(*columns)]
        return ca.Function(f"{self.function}_derivative", given, outputs, list(self.arguments), along.name_out())


def _paths(by: Sequence[str]) -> tuple[str, ...]:
    if isinstance(by, str) or not isinstance(by, Sequence) or not all(isinstance(path, str) for path in by) or not by:
        raise ValueError(
            f"by = {shown(by)}: must be a list of paths to numbers of the robot, such as ['links.fore.payload.mass']"
        )
    return tuple(by)
