"""CasADi functions of one link, shared by all links with the same shapes and joint but other parameter values.

A long chain is then a loop of calls, whose code stays in the instruction cache; its size depends on the number of
different links only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import Any

import casadi as ca

from flexarm.dynamics import energies
from flexarm.dynamics.articulated import (
    Eliminated,
    Form,
    LocalInertia,
    eliminate,
    pack_eliminated,
    parent_inertia,
    unpack_eliminated,
)
from flexarm.dynamics.bodies import SymbolicBody
from flexarm.dynamics.equations import Equations
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.places import steps_to_place, tip_symbols
from flexarm.dynamics.spatial_algebra import Jet, acceleration_along, pose_along, twist_along
from flexarm.foundation.dataclass import dataclass

MATRICES = ("carry", "carry_x", "joint")


def pattern_key(pattern: ca.Sparsity) -> tuple[object, ...]:
    """Return a hashable key of a sparsity pattern."""
    return *pattern.shape, tuple(pattern.colind()), tuple(pattern.row())


def _by_patterns(make: Callable[..., ca.Function]) -> Callable[..., ca.Function]:
    """Cache a function for each sparsity pattern of its arguments: in the plane most of a motion is zero."""

    @wraps(make)
    def found(self: Any, *patterns: ca.Sparsity) -> ca.Function:
        made: dict[object, ca.Function] = self.__dict__.setdefault("_made", {})
        key = (make.__name__, *map(pattern_key, patterns))
        if key not in made:
            made[key] = make(self, *patterns)
        return made[key]

    return found


def _symbol(name: str, pattern: ca.Sparsity) -> tuple[ca.SX, ca.SX]:
    """Return symbols at the entries of a pattern, as an argument; and the same as a dense matrix."""
    given = ca.SX.sym(name, pattern)
    return given, ca.densify(given)


def _sparse(*parts: Any) -> Any:
    """Return a column or matrix of parts without structural zeros."""
    return ca.sparsify(ca.vertcat(*parts))


class LinkFunctions:
    """Functions of link i and of all links with the same signature; the last argument are the link's own parameters.

    Motions are (omega, its rate, acceleration) of a root frame; x, dx, ddx are own coordinates, the parent's come
    first.
    """

    def __init__(self, equations: Equations, i: int, own_parameters: Any) -> None:
        self._e, self._i, self._p = equations, i, own_parameters
        self.body: SymbolicBody = equations.chain.bodies[i]
        self.n = self.body.local.count
        parent = self.body.parent
        self.above = 0 if parent is None else equations.chain.bodies[parent].local.count

    def _own(self) -> list[Any]:
        return [ca.SX.sym(name, self.n) for name in ("x", "dx", "ddx")]

    def _parents(self) -> list[Any]:
        return [ca.SX.sym(name, self.above) for name in ("above_x", "above_dx", "above_ddx")]

    def _steps(self, above: list[Any], own: list[Any]) -> Any:
        return self._e.chain.joint_path(self._i, None if self.body.parent is None else Jet(*above), Jet(*own))

    @cached_property
    def _geometry(self) -> tuple[Any, Any, dict[str, Any]]:
        """V = carry V_parent + carry_x dx_parent + joint dx, at x of the parent and of the link."""
        x, dx, rest = self._own()
        above_x, above_dx, above_rest = self._parents()
        V = ca.SX.sym("V", 6)
        none = ca.SX.zeros(rest.shape), ca.SX.zeros(above_rest.shape)
        twist = ca.vertcat(*twist_along(self._steps([above_x, above_dx, none[1]], [x, dx, none[0]]), V[:3], V[3:]))
        found = {
            name: ca.sparsify(ca.jacobian(twist, by)) for name, by in zip(MATRICES, (V, above_dx, dx), strict=True)
        }
        return above_x, x, found

    @cached_property
    def geometry_size(self) -> int:
        return sum(int(each.nnz()) for each in self._geometry[2].values())

    @_by_patterns
    def move(self, pattern: ca.Sparsity) -> ca.Function:
        """Return the function (parent's motion, x, dx, ddx of both) -> motion, forces, geometry.

        Forces are those on the twist and on the own coordinates.
        """
        above, own = self._parents(), self._own()
        given, motion = _symbol("motion", pattern)
        moved = acceleration_along(self._steps(above, own), motion[:3], motion[3:6], motion[6:])
        force, inertia = self._e.link_forces(self._i)(*moved, *own, self._e.p)
        geometry = ca.vertcat(*(entry for each in self._geometry_at(above[0], own[0]) for entry in each.nonzeros()))
        own_force = ca.densify(inertia + self._internal(own[0], own[1]))
        return self._function("move", [given, *above, *own], [_sparse(*moved), _sparse(force), own_force, geometry])

    def _internal(self, x: Any, dx: Any) -> Any:
        """Return the forces of springs, dampers and friction."""
        body = self.body
        kept, lost = energies.own_varying_potential(body, x), energies.own_varying_dissipation(body, x, dx)
        varying = ca.gradient(kept, x) + ca.gradient(lost, dx)
        constant = energies.own_stiffness(body) @ x + energies.own_damping(body) @ dx
        return constant + varying + energies.own_friction(body, dx)

    @_by_patterns
    def back(self, pattern: ca.Sparsity) -> ca.Function:
        """Return the function (force on the twist, geometry) -> forces on parent's twist, its and own coordinates."""
        (given, force), packed = _symbol("force", pattern), ca.SX.sym("geometry", self.geometry_size)
        parts, start = [], 0
        for name in MATRICES:
            pattern = self._geometry[2][name].sparsity()
            parts.append(_sparse(ca.SX(pattern, packed[start : start + pattern.nnz()]).T @ force))
            start += pattern.nnz()
        return self._function("back", [given, packed], parts)

    def soften(self, x: Any, v: Any, stiff: Any, damp: Any) -> tuple[Any, Any]:
        """Return stiff K + damp D of the own springs and dampers, and the damping slope of friction."""
        body = self.body
        K = energies.own_stiffness(body) + ca.hessian(energies.own_varying_potential(body, x), x)[0]
        D = energies.own_damping(body) + ca.hessian(energies.own_varying_dissipation(body, x, v), v)[0]
        slope = ca.diag(ca.diag(ca.jacobian(energies.own_friction(body, v), v)))
        return stiff * K + damp * D, damp * slope

    @cached_property
    def softened(self) -> ca.Function:
        """Function (x, change, stiff, damp) -> (stiff K + damp D) change."""
        x, change, v = ca.SX.sym("x", self.n), ca.SX.sym("change", self.n), ca.SX.sym("v", self.n)
        stiff, damp = ca.SX.sym("stiff"), ca.SX.sym("damp")
        added = ca.densify(self.soften(x, v, stiff, damp)[0] @ change)
        return self._function("softened", [x, change, stiff, damp], [added])

    @_by_patterns
    def shift(self, *patterns: ca.Sparsity) -> ca.Function:
        """Return the function for small changes: (parent's twists, x, changes) -> twists, displacements of the link."""
        above, own = self._parents(), self._own()
        given, twists = zip(*(_symbol("V", pattern) for pattern in patterns), strict=True)
        outputs: list[list[Any]] = [[], []]
        for V, above_dx, dx in zip(twists, above[1:], own[1:], strict=True):
            steps = self._steps([above[0], above_dx, ca.SX.zeros(self.above)], [own[0], dx, ca.SX.zeros(self.n)])
            twist = ca.vertcat(*twist_along(steps, V[:3], V[3:]))
            squares = energies.squared_displacements(self.body, twist, own[0], dx)
            outputs[0].append(_sparse(twist))
            outputs[1].append(ca.densify(ca.vertcat(*squares)))
        return self._function("shift", [*given, *above, *own], [*outputs[0], *outputs[1]])

    @_by_patterns
    def report(self, *patterns: ca.Sparsity) -> ca.Function:
        """Return the function (R, p, twist of the parent, gravity, x, dx of both) -> pose, twist, energies, deflection.

        Energies are kinetic, elastic, gravity and drive energy; the deflection is that of the tip.
        """
        above, own = self._parents(), self._own()
        given, (R, p, V, g) = zip(*(_symbol(name, each) for name, each in zip("RpVg", patterns, strict=True)))
        steps = self._steps([*above[:2], ca.SX.zeros(self.above)], [*own[:2], ca.SX.zeros(self.n)])
        twist = ca.vertcat(*twist_along(steps, V[:3], V[3:]))
        R_own, p_own = pose_along(steps, R, p)
        mass, moment = energies.first_moment(self.body, own[0])
        found = ca.vertcat(
            energies.kinetic_energy(self.body, twist, own[0], own[1]),
            energies.strain_energy(self.body, own[0]),
            -ca.dot(g, mass * p_own + R_own @ moment),
            energies.drive_energy(self.body, own[0]),
        )
        bend = ca.densify(self.body.model.deflection(self.body, own[0]))
        return self._function(
            "report",
            [*given, *above[:2], *own[:2]],
            [_sparse(R_own), _sparse(p_own), _sparse(twist), ca.densify(found), bend],
        )

    @_by_patterns
    def tip(self, *patterns: ca.Sparsity) -> ca.Function:
        """Return the function (R, p, own x) -> R and p of the tip."""
        given, (R, p) = zip(*(_symbol(name, each) for name, each in zip("Rp", patterns, strict=True)))
        x = ca.SX.sym("x", self.n)
        steps = steps_to_place(self.body, tip_symbols(self.body), Jet.slow(x))
        return self._function("tip", [*given, x], [ca.densify(each) for each in pose_along(steps, R, p)])

    def fold(self, free: Sequence[int], free_above: Sequence[int], children: Sequence[Any], steered: bool) -> Fold:
        """Return the elimination of the link's free coordinates.

        Parameters
        ----------
        free, free_above : sequence of int
            Free coordinates of the link and of its parent.
        children : sequence of Sparsity
            Patterns of the inertia that children pass on.
        steered : bool
            True if a feedback law acts, with slopes by x and dx.
        """
        x, dx, _ = self._own()
        above_x, slopes = ca.SX.sym("above_x", self.above), ca.SX.sym("slopes", _two_columns(self.n, steered))
        stiff, damp = ca.SX.sym("stiff"), ca.SX.sym("damp")
        inertia = energies.inertia(self.body, x)
        springs, friction = self.soften(x, dx, stiff, damp)
        extra = springs + friction - ca.diag(stiff * slopes[:, 0] + damp * slopes[:, 1])
        rows, free, free_above = [*range(6), *(6 + k for k in free)], list(free), list(free_above)
        inertia = inertia[rows, rows]
        inertia[6:, 6:] += extra[free, free]
        carry, carry_x, joint = self._geometry_at(above_x, x)
        own = LocalInertia(
            self.body.parent, slice(0, len(free)), inertia, carry, carry_x[:, free_above], joint[:, free]
        )
        handed = [ca.SX.sym(name, pattern) for name, pattern in zip(("WW", "Wx", "xx"), children, strict=True)]
        form = Form.of(own)
        form.add(*handed)
        eliminated, left = eliminate(own, form)
        inputs = [above_x, x, dx, slopes, stiff, damp, *handed]
        up = parent_inertia(own, left)
        outputs = ca.cse([ca.densify(pack_eliminated([eliminated])), *up])
        return Fold(eliminated, ca.Function(f"fold_{self._i}", [*inputs, self._p], [*outputs]))

    def _geometry_at(self, above_x: Any, x: Any) -> list[Any]:
        given_above, given_x, found = self._geometry
        return list(ca.substitute([*found.values()], [given_above, given_x], [above_x, x]))

    def _function(self, name: str, inputs: list[Any], outputs: list[Any]) -> ca.Function:
        return ca.Function(f"{name}_{self._i}", [*inputs, self._p], [*ca.cse(outputs)])


@dataclass(frozen=True)
class Fold:
    """Elimination of a link's coordinates as functions.

    `function`: (parent's x, x, dx, slopes of a feedback law, stiff, damp, inertia of the children) -> (the eliminated
    link as a column, inertia passed to the parent).
    """

    like: Eliminated
    function: ca.Function

    @property
    def size(self) -> int:
        return int(self.function.numel_out(0))

    @property
    def handed(self) -> list[Any]:
        """Patterns of the inertia passed to the parent."""
        return [self.function.sparsity_out(k) for k in (1, 2, 3)]

    @_by_patterns
    def inward(self, pattern: ca.Sparsity) -> ca.Function:
        """Return the function (column, own forces, force at V) -> forces on own, on the parent's V and coordinates."""
        column, link = self._unpacked()
        own, (given, at_V) = ca.SX.sym("own", link.freed.shape[0]), _symbol("at_V", pattern)
        total = own + link.joint.T @ at_V
        at_W = at_V - link.freed.T @ total
        outputs = ca.cse([ca.densify(total), ca.sparsify(link.carry.T @ at_W), ca.densify(link.carry_x.T @ at_W)])
        return ca.Function("inward", [column, own, given], [*outputs])

    @_by_patterns
    def outward(self, pattern: ca.Sparsity) -> ca.Function:
        """Return the function (column, own forces, parent's V and accelerations) -> own accelerations, V."""
        column, link = self._unpacked()
        own, (given, V) = ca.SX.sym("own", link.freed.shape[0]), _symbol("V", pattern)
        above = ca.SX.sym("above", link.carry_x.shape[1])
        W = link.carry @ V + link.carry_x @ above
        a = link.accelerations(own) - link.freed @ W
        outputs = ca.cse([ca.densify(a), ca.sparsify(W + link.joint @ a)])
        return ca.Function("outward", [column, own, given, above], [*outputs])

    def _unpacked(self) -> tuple[Any, Eliminated]:
        column = ca.SX.sym("column", self.size)
        return column, unpack_eliminated(column, [self.like])[0]


def _two_columns(rows: int, full: bool) -> ca.Sparsity:
    return ca.Sparsity.dense(rows, 2) if full else ca.Sparsity(rows, 2)


def nodes_path(body: SymbolicBody) -> str:
    """Return the path of the parameters of a link's nodes."""
    return f"links.{body.link.name}.nodes"


def _under(path: str, parameters: Parameters) -> tuple[tuple[object, ...], ...]:
    """Return the structure of the parameters below a path."""
    return tuple(
        (name, each.fixed.shape, each.fixed.tobytes(), each.symmetric)
        for each in parameters.entries
        if (name := each.name.removeprefix(f"{path}.")) != each.name
    )


def link_signature(equations: Equations, i: int, parameters: Parameters) -> tuple[object, ...]:
    """Return what links must have in common to share functions: everything but names and parameter values."""
    body = equations.chain.bodies[i]
    above = None if body.parent is None else equations.chain.bodies[body.parent]
    description = body.link.model_copy(update={"name": "", "parent": None}).model_dump_json()
    entries = _under(f"links.{body.link.name}", parameters)
    if above is not None:
        entries += _under(nodes_path(above), parameters)
    seats = None if above is None else (above.local.count, above.local.elastic.start, above.local.elastic.stop)
    return description, entries, body.local.freedoms, body.local.motor, body.local.count, seats
