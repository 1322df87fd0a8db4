"""Structure of a robot: symbols, expressions and CasADi functions that do not depend on parameter values."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np

from flexarm.codegen.evaluator import SharedFunction
from flexarm.codegen.library import building
from flexarm.dynamics.bodies import Coordinates, erase_values, make_symbolic
from flexarm.dynamics.constraints.equations import Constraints, HeldPlaces
from flexarm.dynamics.constraints.independent_rows import Key, SelectedRows, sample_rows, select_rows
from flexarm.dynamics.constraints.parameters import add_constraints
from flexarm.dynamics.equations import Equations
from flexarm.dynamics.joint_reactions import own_wrenches, root_wrenches, section_motion
from flexarm.dynamics.kinematics import Kinematics
from flexarm.dynamics.links.beam_parameters import nodally_held
from flexarm.dynamics.model import Chain, robot_parameters
from flexarm.dynamics.parameters import Parameters, ParameterSymbols
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array

# Rank of each output: scalar (0), vector (1) or matrix (2).
OUTPUT_RANKS = {
    **dict.fromkeys(("kinetic", "elastic", "gravity", "drive"), 0),
    **dict.fromkeys(("tau", "a", "h", "G", "p", "Phi", "Kx", "gyroscopic_x", "Dx"), 1),
    **dict.fromkeys(("M", "C", "K", "gyroscopic", "D", "R", "J", "Phi_q"), 2),
    **dict.fromkeys(("wrenches", "rotations", "places", "motions"), 2),
}

PlaceFinder = Callable[[str, float | None], tuple[int, Parameters]]
GaugeFinder = Callable[[str, float, Sequence[float] | None], Array]
Recipe = tuple[list[Any], list[Any], list[str], list[str]]


class Functions(Mapping[str, ca.Function]):
    """CasADi functions of a structure by name, each built at first use, with the parameters as last argument.

    Poses and Jacobians of any position on a link take the parameters of that position as the argument before it.
    """

    def __init__(self, structure: Structure) -> None:
        e = self._equations = structure.equations
        self._structure = structure
        self._made: dict[Any, ca.Function] = {}
        self._codes: dict[ca.Function, SharedFunction] = {}
        self._recipes: dict[str, Callable[[], Recipe]] = {
            "inverse_dynamics": lambda: ([e.q, e.v, e.a], [e.inverse_dynamics], ["q", "v", "a"], ["tau"]),
            "forward_dynamics": lambda: ([e.q, e.v, e.tau], [e.forward_dynamics], ["q", "v", "tau"], ["a"]),
            "mass_matrix": lambda: ([e.q], [e.mass_matrix], ["q"], ["M"]),
            "bias": lambda: ([e.q, e.v], [e.bias], ["q", "v"], ["h"]),
            "coriolis": lambda: ([e.q, e.v], [e.coriolis], ["q", "v"], ["C"]),
            "gravity": lambda: ([e.q], [e.gravity], ["q"], ["G"]),
            "spring_forces": lambda: ([e.q], [e.springs], ["q"], ["h"]),
            "stiffness_matrix": lambda: ([e.q], [e.spring_stiffness], ["q"], ["K"]),
            "damping_matrix": lambda: ([e.q], [e.linear_damping], ["q"], ["D"]),
            "gravity_stiffness": lambda: ([e.q], [e.gravity_stiffness], ["q"], ["K"]),
            "linearization": lambda: (
                [e.q, e.v, e.a],
                list(e.linearization),
                ["q", "v", "a"],
                ["K", "gyroscopic", "D"],
            ),
            "linearization_along": lambda: _linearization_along(e),
            "energy": lambda: ([e.q, e.v], list(e.energies), ["q", "v"], ["kinetic", "elastic", "gravity", "drive"]),
            "momentum": lambda: ([e.q, e.v], [e.momentum], ["q", "v"], ["p"]),
            "tip": lambda: ([e.q], [e.tip], ["q"], ["p"]),
            "frame": lambda: ([e.q], list(e.tip_pose), ["q"], ["R", "p"]),
        }
        if structure.constrained:
            self._recipes |= {
                "constraint": lambda: ([e.q], [structure.constraints.value], ["q"], ["Phi"]),
                "constraint_jacobian": lambda: ([e.q], [structure.constraints.jacobian], ["q"], ["Phi_q"]),
                "constraint_stiffness": lambda: _constraint_stiffness(structure),
            }

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self._recipes:
            raise KeyError(f"there is no function '{name}'{suggestion(name, list(self._recipes))}")
        return self._cached(name, name, self._recipes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._recipes)

    def __len__(self) -> int:
        return len(self._recipes)

    @property
    def constants(self) -> ca.Function:
        """Function of the parameters: the constant parts of K and D."""
        e = self._equations
        return self._cached("constants", "constants", lambda: ([], [e.K, e.D], [], ["K", "D"]))

    def along(self, name: str) -> ca.Function:
        """Return the derivative of a function along a change of the parameters: (..., change) -> changes."""
        p = self._equations.p

        def recipe() -> Recipe:
            inputs, outputs, name_in, name_out = self._recipes[name]()
            change = ca.SX.sym("change", p.shape[0])
            columns = [ca.jtimes(ca.vec(ca.densify(output)), p, change) for output in outputs]
            changes = [ca.reshape(each, *output.shape) for each, output in zip(columns, outputs, strict=True)]
            return [*inputs, change], changes, [*name_in, "change"], name_out

        return self._cached(("along", name), f"{name}_along_numbers", recipe)

    def frame(self, link: int, there: Parameters) -> ca.Function:
        """Return the function (q, parameters of a position) -> rotation and position of the section in the world."""
        e = self._equations

        def recipe() -> Recipe:
            place = ParameterSymbols(there, "place")
            return [e.q, place.column], list(e.frame(link, place.under("place"))), ["q", "place"], ["R", "p"]

        return self._cached(("frame", link, there.structure), "frame", recipe)

    def root(self, link: int) -> ca.Function:
        """Return the function q -> rotation and position of a link's root frame in the world."""
        e = self._equations
        return self._cached(("root", link), "root", lambda: ([e.q], list(e.chain.poses(e.q)[link]), ["q"], ["R", "p"]))

    def jacobian(self, link: int, there: Parameters) -> ca.Function:
        """Return the function (q, parameters of a position) -> Jacobian (6, nq) of the section, in its own axes."""
        e = self._equations

        def recipe() -> Recipe:
            place = ParameterSymbols(there, "place")
            return [e.q, place.column], [e.jacobian(link, place.under("place"))], ["q", "place"], ["J"]

        return self._cached(("jacobian", link, there.structure), "jacobian", recipe)

    def load(self, link: int, there: Parameters) -> ca.Function:
        """Return the function (q, wrench, parameters of a position) -> generalized forces of a load, and its stiffness.

        The wrench is a force and a torque in world axes on the section; the stiffness is minus the derivative by q.
        """
        e = self._equations

        def recipe() -> Recipe:
            place, wrench = ParameterSymbols(there, "place"), ca.SX.sym("wrench", 6)
            rotation, _ = e.frame(link, place.under("place"))
            own = ca.vertcat(rotation.T @ wrench[3:], rotation.T @ wrench[:3])  # angular rows first
            forces = e.jacobian(link, place.under("place")).T @ own
            return [e.q, wrench, place.column], [forces, -ca.jacobian(forces, e.q)], ["q", "w", "place"], ["tau", "K"]

        return self._cached(("load", link, there.structure), "load", recipe)

    # --- reactions and internal forces ---

    @property
    def tree(self) -> ca.Function:
        """Function (q, v, a) -> wrenches of inertia and gravity at the links' roots; poses and motions of the roots."""
        e = self._equations
        names = ["wrenches", "rotations", "places", "motions"]
        return self._cached("tree", "tree", lambda: ([e.q, e.v, e.a], root_wrenches(e), ["q", "v", "a"], names))

    @property
    def held(self) -> ca.Function:
        """Function (q, forces of constraint rows) -> wrenches on links where constraints act, and poses there."""
        e, structure = self._equations, self._structure

        def recipe() -> Recipe:
            forces = ca.SX.sym("forces", structure.constraints.count)
            names = ["wrenches", "rotations", "places"]
            return [e.q, forces], structure.held_places.wrenches(forces), ["q", "forces"], names

        return self._cached("held", "held", recipe)

    def own_wrenches(self, link: int) -> ca.Function:
        """Return the function (root motion, x, dx, ddx) -> wrenches at the root of a link alone, and of its masses."""

        def recipe() -> Recipe:
            given, found = own_wrenches(self._equations, link)
            return given, found, ["motion", "x", "dx", "ddx"], ["wrenches"]

        return self._cached(("own_wrenches", link), "own_wrenches", recipe)

    def section_motion(self, link: int, there: Parameters) -> ca.Function:
        """Return the function (root motion, x, dx, ddx, parameters of a position) -> pose and motion of the section."""

        def recipe() -> Recipe:
            place = ParameterSymbols(there, "place")
            given, found = section_motion(self._equations, link, place.under("place"))
            return [*given, place.column], found, ["motion", "x", "dx", "ddx", "place"], ["p"]

        return self._cached(("section_motion", link, there.structure), "section_motion", recipe)

    def code(self, function: ca.Function) -> SharedFunction:
        """Return the compiled form of a function, shared by all systems of the structure."""
        with building:
            if function not in self._codes:
                self._codes[function] = SharedFunction(function, [OUTPUT_RANKS[name] for name in function.name_out()])
            return self._codes[function]

    def _cached(self, key: Any, name: str, recipe: Callable[[], Recipe]) -> ca.Function:
        with building:  # expressions are built once, by the first thread that needs them
            if key not in self._made:
                inputs, outputs, name_in, name_out = recipe()
                dense = [ca.densify(output) for output in outputs]
                arguments = [*inputs, self._equations.p], dense, [*name_in, "numbers"], name_out
                self._made[key] = ca.Function(name, *arguments)
            return self._made[key]


class BoundFunctions(Mapping[str, ca.Function]):
    """CasADi functions with the parameters of one robot bound: `functions["inverse_dynamics"](q, v, a)`.

    Functions of a place are methods: `functions.frame("tool")(q)`.
    """

    def __init__(self, functions: Functions, parameters: Array, place: PlaceFinder, gauge: GaugeFinder) -> None:
        self._functions, self._parameters, self._find_place, self._find_gauge = functions, parameters, place, gauge
        self._bound: dict[Any, ca.Function] = {}

    def __getitem__(self, name: str) -> ca.Function:
        return self._bind(name, self._functions[name], self._parameters)

    def frame(self, name: str, x: float | None = None) -> ca.Function:
        """Return the function q -> rotation (3, 3) and position (3,) of a frame or a section of a link in the world.

        Parameters
        ----------
        name : str
            Name of a frame or of a link.
        x : float, optional
            Distance of the section from the link's root (m); the tip if omitted. A frame has its own.

        Returns
        -------
        casadi.Function
            Function with the outputs `R` and `p`.
        """
        link, there = self._find_place(name, x)
        return self._bind(("frame", name, x), self._functions.frame(link, there), there.vector, self._parameters)

    def jacobian(self, name: str, x: float | None = None, axes: Literal["own", "world"] = "own") -> ca.Function:
        """Return the function q -> geometric Jacobian (6, nq) of a frame or a section of a link.

        Parameters
        ----------
        name : str
            Name of a frame or of a link.
        x : float, optional
            Distance of the section from the link's root (m); the tip if omitted. A frame has its own.
        axes : {"own", "world"}, optional
            Axes in which the twist is written: those of the frame (default) or of the world.

        Returns
        -------
        casadi.Function
            Function with the output `J`: angular velocity (first three rows) and velocity per generalized velocity.
        """
        if axes not in ("own", "world"):
            raise ValueError(f"axes = {shown(axes)}: must be 'own' or 'world'")
        link, there = self._find_place(name, x)
        own = self._bind(("jacobian", name, x), self._functions.jacobian(link, there), there.vector, self._parameters)
        if axes == "own":
            return own
        with building:
            q = ca.SX.sym("q", own.size1_in(0))
            R, J = self.frame(name, x)(q)[0], own(q)
            return ca.Function("jacobian", [q], [ca.cse(ca.vertcat(R @ J[:3, :], R @ J[3:, :]))], ["q"], ["J"])

    def strain(self, link: str, x: float, at: Sequence[float] | None = None) -> ca.Function:
        """Return the function q -> axial strain of a flexible link, as measured by a strain gauge.

        Parameters
        ----------
        link : str
            Name of the link.
        x : float
            Distance from the root of the link (m).
        at : (float, float), optional
            Point (y, z) of the section (m); on the surface by default, as in `System.strain`.

        Returns
        -------
        casadi.Function
            Function with the output `strain`.
        """
        row = self._find_gauge(link, x, at)
        q = ca.SX.sym("q", len(row))
        used = np.flatnonzero(row).tolist()
        return ca.Function("strain", [q], [ca.dot(ca.DM(row[used]), q[used]) if used else ca.SX(0)], ["q"], ["strain"])

    def _bind(self, key: Any, function: ca.Function, *last: Array) -> ca.Function:
        with building:
            if key not in self._bound:
                self._bound[key] = bind(function, *last)
            return self._bound[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


def bind(function: ca.Function, *last: Array) -> ca.Function:
    """Return a function with values bound to its last arguments."""
    count = function.n_in() - len(last)
    given = [ca.SX.sym(function.name_in(k), function.sparsity_in(k)) for k in range(count)]
    outputs = function.call([*given, *map(ca.DM, last)])
    names = function.name_in()[:count], function.name_out()
    return ca.Function(function.name(), given, [ca.densify(ca.cse(each)) for each in outputs], *names)


def _constraint_stiffness(structure: Structure) -> Recipe:
    e, forces = structure.equations, ca.SX.sym("forces", structure.constraints.count)
    return [e.q, forces], [ca.jacobian(structure.constraints.pull(forces), e.q)], ["q", "forces"], ["K"]


def _linearization_along(e: Equations) -> Recipe:
    """Return products of the matrices of a linearization with a vector; size at most twice that of the equations."""
    x = ca.SX.sym("x", e.q.shape[0])
    return [e.q, e.v, e.a, x], [*e.linearization_along(x)], ["q", "v", "a", "x"], ["Kx", "gyroscopic_x", "Dx"]


MAX_CACHED_STRUCTURES = 32

_structures: OrderedDict[tuple[object, ...], Structure] = OrderedDict()


class Structure:
    """Structure made from the first robot that has it; no parameter values are kept."""

    def __init__(self, chain: Chain, parameters: Parameters, selected_rows: Mapping[Key, SelectedRows] | None) -> None:
        self.digest = hashlib.sha256(repr(parameters.structure).encode()).hexdigest()
        self.parameters = parameters.erased()
        symbols = ParameterSymbols(parameters)
        bodies = [make_symbolic(body, symbols.under(f"links.{body.link.name}")) for body in chain.bodies]
        self.coordinates = _without_sizes(chain.coordinates)
        robot = chain.robot
        names = [*(each.name for each in robot.links), *(each.name for each in robot.frames)]
        owners = {name: robot.place(name)[0] for name in names}
        tip_link = owners[robot.tip_name]
        self.equations = Equations(Kinematics(bodies, self.coordinates, chain.order, symbols), owners, tip_link)
        self.constrained = bool(chain.robot.every_constraint) or any(nodally_held(body.link) for body in chain.bodies)
        self._constraints, self._selected_rows = erase_values(chain.robot.every_constraint), selected_rows
        self.functions = Functions(self)

    @cached_property
    def constraints(self) -> Constraints:
        """Constraint equations with independent rows."""
        return Constraints(self.equations, self._constraints, self._selected_rows)

    @cached_property
    def held_places(self) -> HeldPlaces:
        """The constraints, with the positions at which they act."""
        return HeldPlaces(self.equations, self._constraints, self._selected_rows)

    @cached_property
    def _raw_rows(self) -> dict[Key, ca.Function]:
        e = self.equations
        found = {}
        for key, (_, rows) in self.constraints.blocks.items():
            values = ca.vertcat(*(row.value for row in rows))
            found[key] = ca.Function("rows", [e.q, e.p], [ca.densify(values), ca.densify(ca.jacobian(values, e.q))])
        return found

    def selected_rows(self, vector: Array, chain: Chain, parameters: Parameters) -> dict[Key, SelectedRows]:
        """Select the independent constraint rows for a robot's parameters; parameters that rotate rows are added."""
        length = chain.robot.size
        found = {}
        for key, (block, _) in self.constraints.blocks.items():
            rows = self._raw_rows[key]

            def at(q: Array, rows: ca.Function = rows) -> tuple[Array, Array]:
                value, slope = rows(q, vector)
                return value.full(), slope.full()

            scale = length if block.unit == "m" else 1.0
            found[key] = select_rows(parameters, block, *sample_rows(at, chain.coordinates), scale)
        return found


def structure_of(chain: Chain) -> tuple[Structure, Parameters]:
    """Return the structure of a robot, and its parameters."""
    with building:
        parameters, selected_rows = _describe(chain)
        return _cached_structure(chain, parameters, selected_rows), parameters


def widened_structure(chain: Chain, others: Iterable[Parameters]) -> tuple[Structure, Parameters]:
    """Return the structure that includes a robot and others with the same entries, and the robot's parameters in it."""
    with building:
        parameters, selected_rows = _describe(chain)
        joined = parameters.joined(others)
        return _cached_structure(chain, joined, selected_rows), joined


def parameters_of(chain: Chain) -> Parameters:
    """Return the parameters of a robot."""
    with building:
        return _describe(chain)[0]


def _describe(chain: Chain) -> tuple[Parameters, dict[Key, SelectedRows]]:
    """Return all parameters of a robot, and the independent rows of its constraints."""
    parameters = robot_parameters(chain)
    add_constraints(parameters, chain)
    if not chain.robot.every_constraint:
        return parameters, {}
    return parameters, _cached_structure(chain, parameters, None).selected_rows(parameters.vector, chain, parameters)


def _cached_structure(
    chain: Chain, parameters: Parameters, selected_rows: Mapping[Key, SelectedRows] | None
) -> Structure:
    key = parameters.structure  # its hash is slow
    found = _structures.pop(key, None) or Structure(chain, parameters, selected_rows)
    _structures[key] = found  # most recently used last
    while len(_structures) > MAX_CACHED_STRUCTURES:
        _structures.popitem(last=False)
    return found


def _without_sizes(coordinates: Coordinates) -> Coordinates:
    """Return the coordinates without characteristic sizes, which depend on parameter values."""
    out = copy(coordinates)
    out.all = [replace(each, _shapes=None, _shape=-1) for each in coordinates.all]
    out.__dict__.pop("sizes", None)
    return out
