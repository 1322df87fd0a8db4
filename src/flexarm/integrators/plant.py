"""The robot as a method of integration sees it: residual, linear solve and forces, with driven joints, loads and a law.

It belongs to a structure: the numbers of a robot go into each of its functions.

Some coordinates may be driven, q(t) given; the others are free. A vector of inputs `u` at one time holds the time, the
actuator torques, the loads (force and torque at points, world axes), the driven coordinates with their two rates, the
profiles of time that a law refers to, its gains and limits, and its states (which `integrators/controlled_plant.py`
integrates).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from flexarm.dynamics import energies
from flexarm.dynamics import energies as stops
from flexarm.dynamics.articulated import back_substitute, pack_eliminated, unpack_eliminated
from flexarm.dynamics.model_structure import Structure
from flexarm.dynamics.parameters import Parameters, ParameterSymbols
from flexarm.feedback.traced_law import TracedLaw
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.integrators.constraint_solver import ConstraintSolver, Stabilization
from flexarm.integrators.link_loops import SharedLinks, has_shared_links
from flexarm.integrators.state import Layout
from flexarm.robot.joints import SlideJoint


@dataclass(frozen=True)
class Loads:
    """Points at which forces and torques act: their links, and the numbers of the places."""

    links: tuple[int, ...] = ()
    places: Parameters = field(default_factory=Parameters)


@dataclass(frozen=True)
class PlantParameters:
    """Numbers of a robot for the functions of its plant, and the size of each coordinate."""

    numbers: Array
    sizes: Array


class WithNumbers:
    """A function whose last argument are the plant's numbers: it is called without them."""

    def __init__(self, function: ca.Function, symbols: ca.SX, numbers: ca.MX) -> None:
        self.function, self._symbols, self._numbers = function, symbols, numbers

    def __call__(self, *arguments: Any) -> Any:
        inlined = any(isinstance(each, ca.SX) for each in arguments)
        return self.function(*arguments, self._symbols if inlined else self._numbers)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


class Plant:
    """CasADi functions of robots of one structure, with a given set of driven coordinates, loads and (traced) feedback
    law. In an expression of a method `numbers`, `horizon` (how long errors add up, s) and `solved` (energy of rates
    that may be missed, J) stand for what a step is given."""

    def __init__(
        self,
        structure: Structure,
        driven: Sequence[int] = (),
        loads: Loads | None = None,
        law: TracedLaw | None = None,
        stabilization: Stabilization = "projection",
    ) -> None:
        self.structure = structure
        self.equations = structure.equations
        self.n, self.nu = structure.coordinates.count, len(structure.coordinates.actuators)
        self.driven = list(driven)
        self.free = [k for k in range(self.n) if k not in driven]
        self.loads = Loads() if loads is None else loads
        self.law = law
        self._made: dict[tuple[object, ...], Any] = {}
        rows = structure.constraints.count if structure.constrained else 0
        self.constraint_solver = ConstraintSolver(self, stabilization) if rows else None

    # Symbols are made when a function is: most plants only serve to find the code of an equal one.

    @cached_property
    def _places(self) -> ParameterSymbols:
        return ParameterSymbols(self.loads.places, "places")

    @cached_property
    def _law_places(self) -> ca.SX:
        return ca.SX.sym("law_places", 0 if self.law is None else len(self.law.places))

    @cached_property
    def _weights(self) -> ca.SX:
        return ca.SX.sym("weights", 0 if self.law is None else 3 * len(self.law.states))

    @cached_property
    def _p(self) -> ca.SX:
        return ca.vertcat(self.equations.p, self._places.column, self._law_places, self._weights)

    @cached_property
    def numbers(self) -> ca.MX:
        return ca.MX.sym("numbers", self._p.numel())

    @cached_property
    def horizon(self) -> ca.MX:
        return ca.MX.sym("horizon")

    @cached_property
    def solved(self) -> ca.MX:
        return ca.MX.sym("solved")

    @cached_property
    def layout(self) -> Layout:
        """Layout of a state of this plant."""
        return Layout(self.n, 0 if self.constraint_solver is None else self.constraint_solver.count)

    @cached_property
    def identity(self) -> tuple[object, ...]:
        """Everything that decides the functions: plants with equal identity have equal functions."""
        held = self.constraint_solver and self.constraint_solver.stabilization
        law = self.law and self.law.identity
        places = self.loads.links, self.loads.places.structure
        return self.structure.digest, tuple(self.driven), places, law, held

    @property
    def _input_sizes(self) -> list[int]:
        law = (0, 0, 0)
        if self.law is not None:
            law = len(self.law.channels), len(self.law.parameters), len(self.law.states)
        return [1, self.nu, 6 * len(self.loads.links), *[len(self.driven)] * 3, *law]

    @property
    def input_count(self) -> int:
        return sum(self._input_sizes)

    @cached_property
    def input_places(self) -> list[slice]:
        """Places of time, torques, loads, driven q, v and a, and the law's profiles, parameters and states."""
        return [slice(*ends) for ends in pairwise(np.cumsum([0, *self._input_sizes]).tolist())]

    def split(self, u: Any) -> tuple[Any, Any, Any, list[Any]]:
        """Time, torques, loads, [q, v, a] of the driven coordinates."""
        parts = [u[place, 0] for place in self.input_places]
        return parts[0], parts[1], parts[2], parts[3:6]

    def whole(self, free: Any, driven: Any) -> Any:
        """A vector of all coordinates from its two kinds."""
        parts: list[Any] = [None] * self.n
        for place, k in enumerate(self.free):
            parts[k] = free[place]
        for place, k in enumerate(self.driven):
            parts[k] = driven[place]
        return ca.vertcat(*parts) if self.driven else free

    # --- functions ---

    def function(self, name: str, inputs: list[Any], outputs: list[Any]) -> WithNumbers:
        """Return a function of expressions in symbols."""
        return WithNumbers(ca.Function(name, [*inputs, self._p], outputs), self._p, self.numbers)

    def step_function(self, name: str, inputs: list[Any], outputs: list[Any]) -> ca.Function:
        """Return a function of expressions that call the plant's own functions."""
        return ca.Function(name, [*inputs, self.numbers], outputs)

    def made(self, key: tuple[object, ...], make: Callable[[Plant], Any]) -> Any:
        """Return an object that a method derives from this plant, created once: repeated calls share machine code."""
        if key not in self._made:
            self._made[key] = make(self)
        return self._made[key]

    @cached_property
    def _symbols(self) -> tuple[Any, Any, Any, Any]:
        e = self.equations
        return e.q, e.v, e.a, ca.SX.sym("u", self.input_count)

    @cached_property
    def shared(self) -> SharedLinks | None:
        """Loops over the links, if they are many."""
        return SharedLinks(self) if has_shared_links(self.structure) else None

    def _loop(self, name: str) -> WithNumbers | None:
        """A function as such a loop."""
        return None if self.shared is None else WithNumbers(getattr(self.shared, name), self._p, self.numbers)

    @cached_property
    def applied(self) -> WithNumbers:
        """(q, v, u) -> generalised forces of actuators, law and loads."""
        q, v, _, u = self._symbols
        return self.function("applied", [q, v, u], [ca.cse(ca.densify(self._applied))])

    @cached_property
    def law_slopes(self) -> WithNumbers:
        """(q, v, u) -> (n, 2): of the law's force at each coordinate by itself and by its rate."""
        q, v, _, u = self._symbols
        law = self.equations.input_matrix @ self._commanded
        slopes = [ca.diag(ca.jacobian(law, by)) for by in (q, v)]
        return self.function("law_slopes", [q, v, u], [ca.cse(ca.densify(ca.horzcat(*slopes)))])

    @cached_property
    def _applied(self) -> Any:
        """Generalised forces of actuators, law and loads."""
        e = self.equations
        _, v, _, u = self._symbols
        _, torque, wrenches, _ = self.split(u)
        if self.law is not None:
            torque = torque + self._commanded
        force = e.input_matrix @ torque
        for k, link in enumerate(self.loads.links):
            there = self._places.under(f"loads.{k}")
            R, _ = e.frame(link, there)
            push, turn = wrenches[6 * k : 6 * k + 3], wrenches[6 * k + 3 : 6 * k + 6]
            twist = e.twist(link, there)
            force = force + ca.jtimes(twist, v, ca.vertcat(R.T @ turn, R.T @ push), True)
        return force

    @cached_property
    def _commanded(self) -> Any:
        """Torques of the law."""
        return self._steered[0]

    @cached_property
    def _steered(self) -> tuple[Any, Any]:
        """Torques of the law, and the rates of its states."""
        assert self.law is not None
        q, v, _, u = self._symbols
        given = (u[place, 0] for place in self.input_places[6:])
        torques, rates = self.law.function(u[0], q, v, *given, self.equations.p, self._law_places)
        return torques, rates

    @cached_property
    def commanded(self) -> WithNumbers:
        """(q, v, u, forces at driven coordinates) -> torques of all actuators, driven joints included."""
        q, v, _, u = self._symbols
        driving = ca.SX.sym("driving", len(self.driven))
        torques = self.split(u)[1] if self.law is None else self.split(u)[1] + self._commanded
        torques = ca.densify(ca.SX(torques))
        for column, actuator in enumerate(self.structure.coordinates.actuators):
            place = actuator.coordinate.index
            if place in self.driven:
                torques[column] += driving[self.driven.index(place)] / self.equations.input_matrix[place, column]
        return self.function("commanded", [q, v, u, driving], [ca.cse(torques)])

    @cached_property
    def law_rates(self) -> WithNumbers:
        """(q, v, u) -> rates of the law's states."""
        q, v, _, u = self._symbols
        return self.function("law_rates", [q, v, u], [ca.cse(ca.densify(self._steered[1]))])

    @cached_property
    def law_rate_slopes(self) -> WithNumbers:
        """(q, v, u) -> the same, differentiated by the states."""
        q, v, _, u = self._symbols
        slopes = ca.jacobian(self._steered[1], u[self.input_places[-1], 0])
        return self.function("law_rate_slopes", [q, v, u], [ca.cse(ca.densify(slopes))])

    @cached_property
    def law_inverse(self) -> WithNumbers:
        """(slopes of the rates, damp) -> (1 - damp slopes)^-1: what S is for the law's states."""
        count = len(self.law.states) if self.law is not None else 0
        slopes, damp = ca.SX.sym("slopes", count, count), ca.SX.sym("damp")
        return self.function("law_inverse", [slopes, damp], [ca.cse(ca.inv(ca.SX.eye(count) - damp * slopes))])

    @cached_property
    def law_weights(self) -> WithNumbers:
        """() -> how far an error of each state of the law moves the robot (m for each of its units), how much it counts
        at least, and what is large for it."""
        return self.function("law_weights", [], ca.vertsplit(self._weights, self._weights.numel() // 3))

    @cached_property
    def residual(self) -> WithNumbers:
        """(q, v, a, u) -> what is missing to equilibrium at every coordinate: zero at the free ones in a motion."""
        if (loop := self._loop("residual")) is not None:
            return loop
        q, v, a, u = self._symbols
        return self.function("residual", [q, v, a, u], [ca.cse(self.equations.inverse_dynamics - self._applied)])

    @cached_property
    def _eliminated(self) -> tuple[Any, Any, list[Any]]:
        stiff, damp = ca.SX.sym("stiff"), ca.SX.sym("damp")
        K, D = self._slopes
        tree = self.equations.articulated.restricted(self.free, ca.sparsify(stiff * K + damp * D))
        return stiff, damp, tree.eliminate()

    @cached_property
    def _slopes(self) -> tuple[Any, Any]:
        """K and D with the slopes of dry friction and of a law's own part at each actuated coordinate: all of it for
        decoupled controllers."""
        e = self.equations
        q, v, _, _ = self._symbols
        K, D = self._springs_and_dampers
        slope = ca.diag(ca.diag(ca.jacobian(energies.dry_friction(e.chain, v), v)))
        if self.law is not None:
            law = e.input_matrix @ self._commanded
            K = K - ca.diag(ca.diag(ca.jacobian(law, q)))
            slope = slope - ca.diag(ca.diag(ca.jacobian(law, v)))
        return K, D + slope

    @cached_property
    def slopes(self) -> WithNumbers:
        """(q, v, u) -> K and D, with slopes of friction and law, at the free coordinates."""
        q, v, _, u = self._symbols
        found = (ca.densify(matrix[self.free, self.free]) for matrix in self._slopes)
        return self.function("slopes", [q, v, u], [*ca.cse(list(found))])

    @cached_property
    def _springs_and_dampers(self) -> tuple[Any, Any]:
        """K and D of the links one by one, as the iteration matrix takes them; positive semidefinite."""
        e = self.equations
        varying, _ = ca.hessian(energies.varying_potential(e.chain, e.q), e.q)
        elastic = np.array([each.kind == "elastic" for each in self.structure.coordinates.all], dtype=float)
        keep = ca.sparsify(ca.DM(np.outer(elastic, elastic)))  # how it changes with joints may be negative
        bodies = enumerate(e.chain.bodies)
        stopped = sum((stops.stop_energy(body, e.chain.part(e.q, i)) for i, body in bodies), ca.SX(0))
        return e.K + keep * varying + ca.hessian(stopped, e.q)[0], e.linear_damping

    @cached_property
    def factor(self) -> WithNumbers:
        """(q, v, u, stiff, damp) -> factors of S = M + damp D + stiff K at the free coordinates."""
        if (loop := self._loop("factor")) is not None:
            return loop
        q, v, _, u = self._symbols
        stiff, damp, links = self._eliminated
        return self.function("factor", [q, v, u, stiff, damp], [ca.cse(ca.densify(pack_eliminated(links)))])

    @cached_property
    def substitute(self) -> WithNumbers:
        """(factors, r) -> S^-1 r at the free coordinates."""
        if (loop := self._loop("substitute")) is not None:
            return loop
        _, _, links = self._eliminated
        factors = ca.SX.sym("factors", self.factor.numel_out(0))
        r = ca.SX.sym("r", len(self.free))
        solution = back_substitute(unpack_eliminated(factors, links), self.equations.chain.order, r)
        return self.function("substitute", [factors, r], [ca.cse(ca.densify(solution))])

    @cached_property
    def resolved(self) -> WithNumbers:
        """(factors, q, e, stiff, damp) -> S^-1 M e at the free coordinates: the part in modes that a step resolves."""
        if (loop := self._loop("resolved")) is not None:
            return loop
        _, _, links = self._eliminated
        factors, e = ca.SX.sym("factors", self.factor.numel_out(0)), ca.SX.sym("e", len(self.free))
        stiff, damp = ca.SX.sym("stiff"), ca.SX.sym("damp")
        K, D = (matrix[self.free, self.free] for matrix in self._springs_and_dampers)
        added = (stiff * K + damp * D) @ e
        left = e - back_substitute(unpack_eliminated(factors, links), self.equations.chain.order, added)
        return self.function("resolved", [factors, self.equations.q, e, stiff, damp], [ca.cse(ca.densify(left))])

    @cached_property
    def displacements(self) -> WithNumbers:
        """(q, e, f) -> how far two small changes of the free coordinates move each link (m): the root mean square over
        its mass, whatever the coordinates; a motor counts as if it turned its link."""
        if (loop := self._loop("displacements")) is not None:
            return loop
        q, changes = self.equations.q, [ca.SX.sym(name, len(self.free)) for name in "ef"]
        moved = [ca.sqrt(ca.vertcat(*self._squared_displacements(each))) for each in changes]
        return self.function("displacements", [q, *changes], [*ca.cse(moved)])

    def _squared_displacements(self, change: Any) -> list[Any]:
        chain, q = self.equations.chain, self.equations.q
        dq = self.whole(change, ca.SX.zeros(len(self.driven)))
        squares = []
        for i, (body, twist) in enumerate(zip(chain.bodies, chain.twists(q, dq), strict=True)):
            x, dx = chain.part(q, i), chain.part(dq, i)
            squares += energies.squared_displacements(body, ca.vertcat(*twist), x, dx)
        return squares

    def moved(self, q: Any, v: Any, e: Any, f: Any) -> Any:
        """Return displacements of the links for changes of the coordinates about a state."""
        return self.displacements(q, e, f)

    @property
    def measures(self) -> int:
        """Number of displacements in an error."""
        return int(self.displacements.numel_out(0))

    @property
    def law_is_abrupt(self) -> bool:
        return self.law is not None and self.law.abrupt

    @cached_property
    def abrupt(self) -> WithNumbers | None:
        """(q, v, u) -> those forces at the free coordinates that may change within a step however short: of dry
        friction, stops and laws with kinks; None where there are none."""
        e = self.equations
        q, v, _, u = self._symbols
        bodies = [(body, e.chain.part(q, i), e.chain.part(v, i)) for i, body in enumerate(e.chain.bodies)]
        potential = sum((stops.stop_energy(body, x) for body, x, _ in bodies), ca.SX(0))
        lost = sum((stops.stop_dissipation(body, x, dx) for body, x, dx in bodies), ca.SX(0))
        force = energies.dry_friction(e.chain, v) + ca.gradient(potential, q) + ca.gradient(lost, v)
        if self.law_is_abrupt:
            force = force - e.input_matrix @ self._commanded
        if not ca.sparsify(force).nnz():
            return None
        return self.function("abrupt", [q, v, u], [ca.cse(ca.densify(force[self.free]))])

    @cached_property
    def forces(self) -> WithNumbers:
        """(q, v, u, residual) -> generalised forces of all inputs (at a driven coordinate the residual is its
        actuator's force), and of all that dissipates."""
        e = self.equations
        q, v, _, u = self._symbols
        r = ca.SX.sym("r", self.n)
        given = ca.densify(self._applied)
        for k in self.driven:
            given[k] += r[k]
        return self.function("forces", [q, v, u, r], [ca.cse(given), ca.densify(e.dampers)])

    # --- for the methods, as MX ---

    def motion(self, q: Any, v: Any, u: Any, stiff: Any = 0, damp: Any = 0) -> tuple[Any, Any]:
        """Accelerations of all coordinates, and the multipliers of the constraints (None without). With `stiff` and
        `damp`, those of S instead of M: modes that a step cannot resolve then start as if they had given way already,
        instead of being thrown far by their first acceleration."""
        _, _, _, (_, _, a_driven) = self.split(u)
        still = self.whole(ca.MX.zeros(len(self.free)), a_driven)
        missing = self.of_free(self.residual(q, v, still, u))
        factors = self.factor(q, v, u, stiff, damp)
        a = self.substitute(factors, -missing)
        if self.constraint_solver is None:
            return self.whole(a, a_driven), None
        constrained = self.constraint_solver.at(q, factors)
        forces = constrained.forces(self.constraint_solver.acceleration(q, v, self.whole(a, a_driven)))
        return self.whole(a - constrained.G @ forces, a_driven), forces

    def projected(self, q: Any, v: Any, u: Any, stiff: Any = 0, damp: Any = 0) -> tuple[Any, Any]:
        """Return q and v projected onto the constraints, if these are projected."""
        if self.constraint_solver is None or not self.constraint_solver.projects:
            return q, v
        return self.constraint_solver.at(q, self.factor(q, v, u, stiff, damp)).projected(q, v)

    def energy_forces(self, q: Any, v: Any, a: Any, u: Any, forces: Any = None) -> Any:
        """(forces that put energy in, forces that take it out) in a motion with these multipliers."""
        left = self.residual(q, v, a, u) if self.driven else ca.MX.zeros(self.n)
        if self.driven and self.constraint_solver is not None:
            left = left + self.constraint_solver.pull(q, forces)
        return self.forces(q, v, u, left)

    @cached_property
    def start(self) -> ca.Function:
        """(q, v, u, stiff, damp) -> accelerations, power of the inputs, power dissipated; then with constraints their
        multipliers."""
        q, v, u = (ca.MX.sym(name, size) for name, size in zip("qvu", (self.n, self.n, self.input_count)))
        stiff, damp = ca.MX.sym("stiff"), ca.MX.sym("damp")
        a, forces = self.motion(q, v, u, stiff, damp)
        powers = (ca.dot(v, force) for force in self.energy_forces(q, v, a, u, forces))
        more = () if forces is None else (forces,)
        return self.step_function("start", [q, v, u, stiff, damp], [a, *powers, *more])

    @property
    def nodal_slides(self) -> list[int]:
        """Slides that count by the nodes of a mesh."""
        return [
            body.local.place(body.local.joint)
            for body in self.equations.chain.bodies
            if isinstance(body.link.joint, SlideJoint) and body.link.joint.on_mesh
        ]

    def switched(self, q: Any, ahead: Any) -> Any:
        """Return q with slides at the node that they reach in the step: S depends on it."""
        slides = self.nodal_slides
        return ca.vertcat(*(ahead[k] if k in slides else q[k] for k in range(self.n))) if slides else q

    def of_free(self, vector: Any) -> Any:
        return vector[self.free, 0] if self.driven else vector
