"""Derivatives of a system's functions by fields of the robot's description.

Functions are differentiated algorithmically by the parameters, and the parameters numerically by the fields
(docs/theory.md, "Equations of motion").
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.codegen.evaluator import Evaluator
from flexarm.dynamics.arguments import Arguments, Energy, Linearization, Vector
from flexarm.dynamics.model import Chain
from flexarm.dynamics.model_structure import parameters_of, widened_structure
from flexarm.dynamics.parameters import Parameters
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.finite_differences import (
    BACKWARD,
    CENTRAL,
    FORWARD,
    derivative,
    derivative_jump,
    estimated_error,
)
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array
from flexarm.robot import Robot
from flexarm.robot.errors import DescriptionError
from flexarm.robot.path_updates import apply_changes, value_at

if TYPE_CHECKING:
    from flexarm.dynamics.system import System


RELATIVE_STEP = 0.01  # of a large change of a field
# Factors of that step, tried in order until the target error is reached.
STEP_FACTORS = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 10.0, 100.0, 1e4)
TARGET_ERROR = 1e-10
MAX_ERROR = 1e-6  # weights of the nodes of exact links have errors of 1e-11, which differences divide by the step
KINK_TOLERANCE = 1e-3  # difference between one-sided derivatives, which are less accurate


@dataclass(frozen=True)
class ParameterRate:
    """Derivative of the parameters by a field; `parameters` has entries for all parameters that change."""

    path: str
    parameters: Parameters
    entries: Sequence[Array]  # derivative of each entry
    inputs: Array  # d(input matrix) / d(field)
    error: float  # estimated, relative

    def direction(self, parameters: Parameters) -> Array:
        """Return the derivative of the vector of a set of parameters."""
        parts = [rate[entry.free] for entry, rate in zip(parameters.entries, self.entries, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0)


class ParameterRates:
    """Derivatives of the parameters of one robot by fields, each computed once."""

    def __init__(self, chain: Chain) -> None:
        self._robot, self._parameters, self._inputs = chain.robot, parameters_of(chain), chain.coordinates.input_matrix
        self._found: dict[str, ParameterRate] = {}
        self._lock = threading.Lock()

    def by(self, path: str) -> ParameterRate:
        """Return the derivative by the field at a path, as in `Robot.with_`."""
        with self._lock:
            if path not in self._found:
                self._found[path] = self._rate(path)
            return self._found[path]

    def _rate(self, path: str) -> ParameterRate:
        value, unit = self._field(path)
        reach, size = self._sizes(value, unit)
        best, refusal = None, None
        for scale in STEP_FACTORS:
            try:
                rate = self._with_step(path, value, RELATIVE_STEP * reach * scale, size)
            except (ValueError, OverflowError) as error:
                refusal = refusal or error
                continue
            if best is None or rate.error < best.error:
                best = rate
            elif best.error <= MAX_ERROR:
                break
            if best.error <= TARGET_ERROR:
                break
        if best is None:
            raise ValueError(f"by = {path!r}: there is no derivative by it where it is {shown(value)}; {refusal}")
        if not best.error <= MAX_ERROR:
            raise ValueError(
                f"by = {path!r}: there is no derivative by it where it is {shown(value)}; the robot's numbers jump or "
                f"have a kink there (differences agree to {best.error:.1g} only)"
            )
        return best

    def _field(self, path: str) -> tuple[float, str]:
        """Return value and unit of a field; a ValueError explains why it has no derivative."""
        try:
            value, unit = value_at(self._robot, path)
        except DescriptionError as error:
            raise ValueError(f"by: {error}") from None
        if value is None and path.endswith(".flexible.up_to"):  # the resolved robot has numbers of shapes instead
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
        """Return what is a large change of a field at its value, and of fields in its unit."""
        length, mass = self._robot.size, self._robot.total_mass
        typical = {"rad": 1.0, "m": length, "kg": mass, "kg m2": mass * length**2}.get(unit, 0.0)
        reach = 1.0 if unit == "rad" else abs(value) or typical or 1.0
        return reach, max(reach, typical)

    def _with_step(self, path: str, value: float, step: float, size: float) -> ParameterRate:
        """Return the derivative for one step; a ValueError if the robot is invalid, or another, at that distance."""
        found: dict[int, tuple[Parameters, Array]] = {0: (self._parameters, self._inputs)}

        def near(node: int) -> tuple[Parameters, Array]:
            if node not in found:
                robot = Robot.model_validate(apply_changes(self._robot, {path: value + node * step}))
                chain = Chain(robot)
                parameters = parameters_of(chain)
                self._parameters.require_entries_of(parameters)
                found[node] = parameters, chain.coordinates.input_matrix
            return found[node]

        for nodes in (CENTRAL, FORWARD, BACKWARD):
            try:
                neighbours = {node: near(node) for node in nodes}
                break
            except DescriptionError as error:  # the next formula uses the other side
                refusal = error
        else:
            raise refusal
        return self._from(path, neighbours, step, size)

    def _from(
        self, path: str, neighbours: dict[int, tuple[Parameters, Array]], step: float, size: float
    ) -> ParameterRate:
        entries, worst = [], 0.0
        for k, entry in enumerate(self._parameters.entries):
            values: dict[int, Array] = {
                node: parameters.entries[k].value for node, (parameters, _) in neighbours.items()
            }
            rate, last, before = derivative(values, step)
            entries.append(rate)
            if entry.powers:  # coefficients almost cancel: the function is more accurate than they are
                at = _values_of_powers(len(rate))
                values = {node: at @ value for node, value in values.items()}
                rate, last, before = derivative(values, step)
            large = max(float(np.abs(rate).max(initial=0.0)), float(np.abs(values[0]).max(initial=0.0)) / size)
            if large:
                apart = derivative_jump(values, step) / large
                worst = max(worst, estimated_error(last, before) / large, apart if apart > KINK_TOLERANCE else 0.0)
        inputs = derivative({node: matrix for node, (_, matrix) in neighbours.items()}, step)[0]
        joined = self._parameters.joined(parameters for parameters, _ in neighbours.values())
        return ParameterRate(path, joined, entries, inputs, worst if all(map(_finite, entries)) else np.inf)


def _values_of_powers(count: int) -> Array:
    """Return the matrix from coefficients of powers to values at points from -1 to 1."""
    return np.vander(np.cos(np.linspace(0, np.pi, count)), increasing=True)


def _finite(array: Array) -> bool:
    return bool(np.isfinite(array).all())


class Derivative:
    """Derivative of one of a system's functions by fields of its robot, made by `System.derivative`.

    Parameters
    ----------
    system : System
        The system.
    chain : Chain
        Its bodies.
    rates : ParameterRates
        Derivatives of the parameters by fields.
    function : str
        Name of the function.
    by : sequence of str
        Paths of the fields.

    Attributes
    ----------
    errors : ndarray, shape (fields,)
        Estimated relative errors of the derivatives of the parameters by the fields.

    See Also
    --------
    System.derivative : Return a derivative, with an example.

    Notes
    -----
    Call it with the arguments of the function. The result has one more dimension, the last, for the fields: an array,
    an `Energy` or a `Linearization` of such arrays, or a tuple if the function has several outputs. The arguments are
    held; coordinates of modes keep their values in modes that change with the robot.
    """

    def __init__(self, system: System, chain: Chain, rates: ParameterRates, function: str, by: Sequence[str]) -> None:
        names = list(system.parametric)
        if not isinstance(function, str) or function not in names:
            raise KeyError(f"function: there is no {shown(function)}{suggestion(function, names)}")
        self.system, self.function, self.by = system, function, _paths(by)
        self._arguments = Arguments(chain)
        found = [rates.by(path) for path in self.by]
        self._inputs = [rate.inputs for rate in found]
        self.errors = np.array([rate.error for rate in found])
        self._structure, parameters = widened_structure(chain, (rate.parameters for rate in found))
        self._parameters = parameters.vector
        self._directions = np.array([rate.direction(parameters) for rate in found])
        self._evaluators: dict[str, Evaluator] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle without functions, which are rebuilt."""
        return type(self.system).derivative, (self.system, self.function, self.by)

    def __repr__(self) -> str:
        return f"<derivative of {self.function}({', '.join(self.arguments)}) by {', '.join(self.by)}>"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments: `("q", "v", ...)`."""
        return tuple(self._along.name_in()[:-2])

    @property
    def _along(self) -> ca.Function:
        return self._structure.functions.along(self.function)

    def __call__(self, *given: Vector, **named: Vector) -> Any:
        """Return the derivative at arguments of the function.

        Parameters
        ----------
        *given, **named : array_like or mapping
            Arguments of the function, in order or by name; those left out are zero.

        Returns
        -------
        ndarray, Energy, Linearization or tuple of ndarray
            Derivatives of the outputs, with the fields as the last dimension.

        Raises
        ------
        ValueError
            If the derivative is not finite.
        """
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
        """Return the derivative of each output, with the fields as the last dimension."""
        code = self._structure.functions.code(self._structure.functions.along(function))
        if function not in self._evaluators:
            self._evaluators[function] = Evaluator(code, self.system.native)
        evaluator = self._evaluators[function]
        found = evaluator(*(vector[..., None, :] for vector in vectors), self._directions, self._parameters)
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
        """Raise a ValueError if torques at a motor's shaft are given and a field changes their generalized force."""
        for path, inputs in zip(self.by, self._inputs, strict=True):
            if tau is not None and inputs.any():
                raise ValueError(
                    f"tau = {shown(tau)}: must be left out in a derivative by {path}, with which the forces of a "
                    "torque at the motor's shaft change (torque_at = 'motor')"
                )

    @cached_property
    def casadi(self) -> ca.Function:
        """CasADi function of the arguments with a matrix for each output and a column for each field.

        Outputs that are matrices are stacked column by column.
        """
        along = self._along
        given = [ca.SX.sym(name, along.size1_in(name)) for name in self.arguments]
        columns = [along.call([*given, ca.DM(change), ca.DM(self._parameters)]) for change in self._directions]
        outputs = [ca.densify(ca.cse(ca.horzcat(*(ca.vec(each) for each in output)))) for output in zip(*columns)]
        return ca.Function(f"{self.function}_derivative", given, outputs, list(self.arguments), along.name_out())


def _paths(by: Sequence[str]) -> tuple[str, ...]:
    if isinstance(by, str) or not isinstance(by, Sequence) or not all(isinstance(path, str) for path in by) or not by:
        raise ValueError(
            f"by = {shown(by)}: must be a list of paths to numbers of the robot, such as ['links.fore.payload.mass']"
        )
    return tuple(by)
