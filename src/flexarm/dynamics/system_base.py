"""Robot, coordinates, structure and parameters of a system, and the evaluation of its compiled functions."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.evaluator import Evaluator, Native
from flexarm.codegen.library import building
from flexarm.dynamics.accuracy.validity import require_size, size_estimate
from flexarm.dynamics.arguments import Arguments, Vector
from flexarm.dynamics.bodies import ActuatorInput, Coordinate
from flexarm.dynamics.equations import Equations
from flexarm.dynamics.model import Chain
from flexarm.dynamics.model_structure import BoundFunctions, Functions, Structure, parameters_of, structure_of
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.places import Place, add_place
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

if TYPE_CHECKING:
    from flexarm.robot.basis_selection import BasisSelection

Mask = NDArray[np.bool_]


class SystemBase:
    """Base class of `System`: everything but geometry and equations of motion."""

    def __init__(self, robot: Robot, native: Native = "auto") -> None:
        if not isinstance(robot, Robot):
            kind = type(robot).__name__
            raise TypeError(
                f"robot: System needs a Robot, but got {kind}: {shown(robot)}; fa.load reads one from a file"
            )
        if not (isinstance(native, bool) or (isinstance(native, str) and native == "auto")):
            raise ValueError(f"native = {shown(native)}: must be 'auto', True or False")
        self._given, robot = robot, robot.resolved()
        require_size(robot)
        self.robot = robot
        self.native: Native = native
        self._chain = Chain(robot)
        self._arguments = Arguments(self._chain)
        self._evaluators: dict[ca.Function, Evaluator] = {}
        self._lock = threading.Lock()
        self._description: tuple[Structure, Parameters, Array] | None = None

    @property
    def picks(self) -> dict[str, BasisSelection]:
        """Automatic choices of the number of shapes, by link whose description leaves it open."""
        from flexarm.robot.basis_selection import select_bases

        return select_bases(self._given)

    @property
    def size_estimate(self) -> int:
        """Approximate number of instructions of the larger of inverse dynamics and mass matrix."""
        return size_estimate(self.robot)

    @cached_property
    def model(self) -> str:
        """The robot as JSON, stored with results."""
        return self.robot.model_dump_json()

    # --- structure and parameters ---

    @property
    def _described(self) -> tuple[Structure, Parameters, Array]:
        """Structure, parameters and their vector."""
        # No `cached_property`: before Python 3.12 all systems share its lock, which can deadlock with `building`.
        if self._description is None:
            with building:
                structure, parameters = structure_of(self._chain)
                vector = structure.parameters.vector_of(parameters, same=True)
                vector.setflags(write=False)
                self._description = structure, parameters, vector
        return self._description

    @property
    def structure(self) -> Structure:
        """Symbols, expressions and functions shared by all robots that differ in parameter values only."""
        return self._described[0]

    @property
    def equations(self) -> Equations:
        """Equations of motion as CasADi expressions with symbols for the parameters."""
        return self.structure.equations

    @property
    def numbers(self) -> Array:
        """Values of all parameters of the robot, in the order in which its functions take them (read-only).

        Parameters are lengths, masses, integrals of shapes, etc. They depend on each other: a length also enters
        integrals and positions. Use `numbers_of` for the values of a changed robot and `derivative` for derivatives by
        fields of the description.
        """
        return self._described[2]

    @property
    def number_names(self) -> tuple[str, ...]:
        """Names of the parameters in `numbers`: `links.fore.payload.mass`, `links.fore.K[1,1]`, ..."""
        return tuple(self._described[1].names)

    @property
    def number_units(self) -> tuple[str, ...]:
        """Units of the parameters in `numbers`."""
        return tuple(self._described[1].units)

    def numbers_of(self, robot: Robot) -> Array:
        """Return the parameter values of another robot of the same structure.

        Parameters
        ----------
        robot : Robot
            Robot that differs from that of the system in parameter values only.

        Returns
        -------
        ndarray
            Values in the order of `numbers`.

        Raises
        ------
        ValueError
            If the structures differ; the message names the first difference.

        Examples
        --------
        >>> from flexarm.dynamics.system import System
        >>> from flexarm.robot import library
        >>> system = System(library.two_link_arm())
        >>> heavier = system.numbers_of(system.robot.with_({"links.fore.payload.mass": 0.2}))
        >>> place = system.number_names.index("links.fore.payload.mass")
        >>> float(system.numbers[place]), float(heavier[place])
        (0.15, 0.2)
        """
        if not isinstance(robot, Robot):
            raise TypeError(f"robot = {shown(robot)}: must be a Robot")
        return self.structure.parameters.vector_of(parameters_of(Chain(robot.resolved(like=self.robot))))

    @property
    def parametric(self) -> Functions:
        """CasADi functions with the parameters as last argument, by name; shared by all robots of the structure."""
        return self.structure.functions

    @cached_property
    def casadi(self) -> BoundFunctions:
        """CasADi functions of this robot, by name: `casadi["inverse_dynamics"](q, v, a)`, `casadi.frame("tool")(q)`."""
        return BoundFunctions(self.structure.functions, self.numbers, self._place, self._gauge_row)

    # --- coordinates ---

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Name, link, kind and unit of each generalized coordinate, in the order of q."""
        return tuple(self._chain.coordinates.all)

    @property
    def actuators(self) -> tuple[ActuatorInput, ...]:
        """Link, unit and actuated coordinate of each input."""
        return tuple(self._chain.coordinates.actuators)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates: `upper.q`, `upper.motor`, `upper.bend_y[1]`, ..."""
        return tuple(self._chain.coordinates.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the coordinates: "rad", "m", or "m kg^1/2" for modes, which have unit modal mass."""
        return tuple(self._chain.coordinates.units)

    @property
    def meshes(self) -> Array:
        """Number of elements of the finest mesh of each coordinate's link, 1 without a mesh; shape (nq,).

        About this many nodal coordinates add up to the amplitude of one mode.
        """
        shapes = {link.name: link.flexible for link in self.robot.links if link.flexible is not None}
        elements = {name: max(each.counts.values()) for name, each in shapes.items() if each.meshed}
        return np.array([elements.get(each.link, 1) for each in self.coordinates], dtype=float)

    @property
    def sizes(self) -> Array:
        """Characteristic size of each coordinate, shape (nq,).

        One radian or one metre for joints and motors; for elastic coordinates a deflection as large as the link's
        length.
        """
        return self._chain.coordinates.sizes.copy()

    @property
    def elastic(self) -> Mask:
        """Mask of the elastic coordinates, shape (nq,)."""
        return np.array([each.kind == "elastic" for each in self.coordinates], dtype=bool)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the links whose joint has an actuator, in the order of the inputs."""
        return tuple(self._chain.coordinates.inputs)

    @property
    def input_units(self) -> tuple[str, ...]:
        """Units of the inputs: "N m" or "N"."""
        return tuple(self._chain.coordinates.input_units)

    @property
    def nq(self) -> int:
        """Number of generalized coordinates."""
        return self._chain.coordinates.count

    def __repr__(self) -> str:
        return f"System of '{self.robot.name}': {self.nq} coordinates, {self.nu} inputs"

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return len(self.inputs)

    @property
    def input_matrix(self) -> Array:
        """Matrix B of generalized forces per unit of each input, shape (nq, nu).

        An elastic drive acts on its motor's coordinate. An entry is the gear ratio where torques are counted at the
        motor's shaft (`torque_at="motor"`), else 1.
        """
        return self._chain.coordinates.input_matrix.copy()

    def joint(self, link: str) -> Coordinate:
        """Return the coordinate of a link's joint, which has only one.

        Parameters
        ----------
        link : str
            Name of the link.

        Returns
        -------
        Coordinate
            The joint's coordinate.

        Raises
        ------
        KeyError
            If the link does not exist or has no moving joint.
        ValueError
            If the joint has several coordinates.

        See Also
        --------
        joints : Coordinates of a joint of any kind.
        """
        found = self.joints(link)
        if not found:
            moved = [each.link for each in self.coordinates if each.kind == "joint"]
            raise KeyError(f"there is no joint that moves link {shown(link)}{suggestion(link, moved)}")
        if len(found) > 1:
            names = ", ".join(each.name for each in found)
            raise ValueError(f"the joint of link '{link}' has several coordinates ({names}): take joints('{link}')")
        return found[0]

    def joints(self, link: str) -> tuple[Coordinate, ...]:
        """Return the coordinates of a link's joint: one for each of its freedoms, none for a weld.

        Parameters
        ----------
        link : str
            Name of the link.

        Returns
        -------
        tuple of Coordinate
            The joint's coordinates.

        Raises
        ------
        KeyError
            If the link does not exist.
        """
        names = [each.name for each in self.robot.links]
        if link not in names:
            raise KeyError(f"there is no link {shown(link)}{suggestion(link, names)}")
        return tuple(each for each in self.coordinates if each.link == link and each.kind == "joint")

    def require_input(self, name: object, what: str, kind: str = "actuator") -> None:
        """Raise KeyError if there is no input of a name.

        Parameters
        ----------
        name : object
            Name of an input.
        what : str
            Name of the argument in the message.
        kind : str, optional
            What is missing if there is no such input, in the message.

        Raises
        ------
        KeyError
            If there is no such input, or its joint is passive.
        """
        if name in self.inputs:
            return
        coordinates = {each.name: each for each in self.coordinates if each.kind == "joint"}
        link = coordinates[name].link if name in coordinates else name
        if link in [each.name for each in self.robot.links]:
            joint = self.robot.link(str(link)).joint
            if joint.is_passive:
                raise KeyError(
                    f"{what}: the joint of '{link}' is passive: nothing drives it, unless it has actuated = true"
                )
            own = [each.name for each in self.actuators if each.link == link]
            if len(own) > 1:
                raise KeyError(f"{what}: '{link}' has several inputs: {', '.join(own)}")
        raise KeyError(f"{what}: there is no {kind} at {shown(name)}{suggestion(str(name), self.inputs)}")

    def index(self, name: str) -> int:
        """Return the index of a coordinate in q.

        Parameters
        ----------
        name : str
            Name of the coordinate, one of `names`.

        Returns
        -------
        int
            Index of the coordinate.

        Raises
        ------
        KeyError
            If there is no such coordinate.

        Examples
        --------
        >>> from flexarm.dynamics.system import System
        >>> from flexarm.robot import library
        >>> System(library.two_link_arm()).index("fore.q")
        4
        """
        return self._chain.coordinates.index(name)

    def vector(self, values: Vector, name: str = "q") -> Array:
        """Return coordinates as an array.

        Parameters
        ----------
        values : array_like, mapping or None
            Array of shape (..., nq); or values by coordinate name, the others zero; or None for zeros.
        name : str, optional
            Name of the argument in error messages.

        Returns
        -------
        ndarray, shape (..., nq)
            The coordinates.

        Raises
        ------
        ValueError
            If the shape is wrong or a value is not finite.
        KeyError
            If a mapping has an unknown coordinate.
        """
        return self._arguments.vector(name, values)

    def posture(self, q: Vector = None, name: str = "q") -> Array:
        """Return coordinates as an array, with elastic drives relaxed unless their motor is given.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates. If a mapping gives a joint but not its motor, the motor follows the joint.
        name : str, optional
            Name of the argument in error messages.

        Returns
        -------
        ndarray, shape (..., nq)
            The coordinates.
        """
        out = self.vector(q, name).copy()
        given = q if isinstance(q, Mapping) else {}
        for each in self.coordinates:
            if each.kind == "motor" and each.name not in given and self.joint(each.link).name in given:
                out[each.index] = out[self.joint(each.link).index]
        return out

    # --- positions on links ---

    def place(self, name: str, x: float | None = None) -> Place:
        """Return a frame, or a validated position on a link.

        Parameters
        ----------
        name : str
            Name of a link or of a frame.
        x : float, optional
            Distance from the link's root (m); the tip if omitted. A frame has its own.

        Returns
        -------
        Place
            Index of the link, distance from its root (m), and the frame if there is one.

        Raises
        ------
        KeyError
            If there is no such link or frame.
        ValueError
            If x is not on the link, or given with a frame.
        """
        return self._arguments.place(name, x)

    def add_place(self, numbers: Parameters, path: str, place: Place) -> None:
        """Add the parameters of a place to a set of parameters.

        Parameters
        ----------
        numbers : Parameters
            Set of parameters, extended in place.
        path : str
            Prefix of the names of the new parameters.
        place : Place
            Frame, or position on a link.
        """
        add_place(numbers, path, self._chain.bodies[place.link], place)

    def _gauge_row(self, link: str, x: float, at: Sequence[float] | None) -> Array:
        """Return the strain of a link per unit of each coordinate, (nq,)."""
        raise NotImplementedError

    def _place(self, name: str, x: float | None) -> tuple[int, Parameters]:
        """Return the index of a link, and the parameters of a frame or of a position on it."""
        place, there = self.place(name, x), Parameters()
        add_place(there, "place", self._chain.bodies[place.link], place, anywhere=True)
        return place.link, there

    # --- evaluation ---

    def _call(self, function: str | ca.Function, *more: Array, **given: Vector) -> list[Array]:
        """Evaluate a function of `parametric` at arguments by name, followed by further arrays."""
        functions, parameters = self.structure.functions, self._described[2]
        function = functions[function] if isinstance(function, str) else function
        vectors = [self._arguments.vector(name, value) for name, value in given.items()]
        with self._lock:
            if function not in self._evaluators:
                self._evaluators[function] = Evaluator(functions.code(function), self.native)
            evaluator = self._evaluators[function]
        return evaluator(*vectors, *more, parameters)
