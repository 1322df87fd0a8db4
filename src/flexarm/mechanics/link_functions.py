"""The functions of one link, shared by all links of its kind: the same shapes, the same joint, other numbers.

A long chain is then a loop of calls. Its code is as long as its kinds of links are many, and stays in the cache of the
processor; written out link by link it would not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from flexarm.mechanics import energies, stops
from flexarm.mechanics.articulated import Eliminated, Form, LocalInertia, eliminate, handed_over, packed, unpacked
from flexarm.mechanics.bodies import SymbolicBody
from flexarm.mechanics.equations import Equations, deflection
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.rotations import acceleration_along, pose_along, twist_along
from flexarm.mechanics.section_poses import place

MATRICES = ("carry", "carry_x", "joint")


class LinkFunctions:
    """Of a link i and all of its kind. Their last argument are the link's own numbers.

    Motions are (omega, its rate, acceleration) of a root frame, with the parent's coordinates x, dx, ddx.
    """

    def __init__(self, equations: Equations, i: int, own_numbers: Any) -> None:
        self._e, self._i, self._p = equations, i, own_numbers
        self.body: SymbolicBody = equations.chain.bodies[i]
        self.n = self.body.local.count
        parent = self.body.parent
        self.above = 0 if parent is None else equations.chain.bodies[parent].local.count

    def _own(self) -> list[Any]:
        return [ca.SX.sym(name, self.n) for name in ("x", "dx", "ddx")]

    def _parents(self) -> list[Any]:
        return [ca.SX.sym(name, self.above) for name in ("above_x", "above_dx", "above_ddx")]

    def _steps(self, above: list[Any], own: list[Any]) -> Any:
        return self._e.chain.arrival(self._i, None if self.body.parent is None else Jet(*above), Jet(*own))

    @cached_property
    def _geometry(self) -> tuple[Any, Any, dict[str, Any]]:
        """V = carry V_parent + carry_x dx_parent + joint dx, at x of the parent and its own."""
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

    @cached_property
    def move(self) -> ca.Function:
        """(motion of the parent, its x, dx, ddx, own x, dx, ddx) -> motion, force on the twist and on the own
        coordinates, geometry."""
        above, own = self._parents(), self._own()
        motion = ca.SX.sym("motion", 9)
        moved = acceleration_along(self._steps(above, own), motion[:3], motion[3:6], motion[6:])
        force, inertia = self._e.link_forces(self._i)(*moved, *own, self._e.p)
        geometry = ca.vertcat(*(entry for each in self._geometry_at(above[0], own[0]) for entry in each.nonzeros()))
        outputs = [ca.vertcat(*moved), force, inertia + self._internal(own[0], own[1]), geometry]
        return self._function("move", [motion, *above, *own], outputs)

    def _internal(self, x: Any, dx: Any) -> Any:
        """Springs, dampers and friction."""
        body = self.body
        varying = ca.gradient(stops.potential(body, x), x) + ca.gradient(stops.dissipation(body, x, dx), dx)
        constant = energies.own_stiffness(body) @ x + energies.own_damping(body) @ dx
        return constant + varying + energies.own_friction(body, dx)

    @cached_property
    def back(self) -> ca.Function:
        """(force on the twist, geometry) -> forces on the parent's twist, on its coordinates, and on the own ones."""
        force, packed = ca.SX.sym("force", 6), ca.SX.sym("geometry", self.geometry_size)
        parts, start = [], 0
        for name in MATRICES:
            pattern = self._geometry[2][name].sparsity()
            parts.append(ca.SX(pattern, packed[start : start + pattern.nnz()]).T @ force)
            start += pattern.nnz()
        return self._function("back", [force, packed], parts)

    def soften(self, x: Any, v: Any, stiff: Any, damp: Any) -> tuple[Any, Any]:
        """stiff K + damp D of the own springs and dampers, and the slope of friction."""
        body = self.body
        K = energies.own_stiffness(body) + ca.hessian(stops.potential(body, x), x)[0]
        D = energies.own_damping(body) + ca.hessian(stops.dissipation(body, x, v), v)[0]
        slope = ca.diag(ca.diag(ca.jacobian(energies.own_friction(body, v), v)))
        return stiff * K + damp * D, damp * slope

    @cached_property
    def softened(self) -> ca.Function:
        """(x, change, stiff, damp) -> (stiff K + damp D) change."""
        x, change, v = ca.SX.sym("x", self.n), ca.SX.sym("change", self.n), ca.SX.sym("v", self.n)
        stiff, damp = ca.SX.sym("stiff"), ca.SX.sym("damp")
        return self._function("softened", [x, change, stiff, damp], [self.soften(x, v, stiff, damp)[0] @ change])

    @cached_property
    def shift(self) -> ca.Function:
        """(twist of the parent, its x, dx, own x, dx) -> twist, and what the link moves by: 2 T / mass, levers."""
        above, own = self._parents(), self._own()
        V = ca.SX.sym("V", 6)
        none = [ca.SX.zeros(self.above), ca.SX.zeros(self.n)]
        steps = self._steps([*above[:2], none[0]], [*own[:2], none[1]])
        twist = ca.vertcat(*twist_along(steps, V[:3], V[3:]))
        squares = energies.squared_displacements(self.body, twist, own[0], own[1])
        return self._function("shift", [V, *above[:2], *own[:2]], [twist, ca.vertcat(*squares)])

    @cached_property
    def tell(self) -> ca.Function:
        """(R, p, twist of the parent, its x, dx, own x, dx, gravity) -> R, p, twist, energies (kinetic, elastic,
        gravity, drive), deflection of the tip."""
        above, own = self._parents(), self._own()
        R, p, V, g = ca.SX.sym("R", 3, 3), ca.SX.sym("p", 3), ca.SX.sym("V", 6), ca.SX.sym("g", 3)
        steps = self._steps([*above[:2], ca.SX.zeros(self.above)], [*own[:2], ca.SX.zeros(self.n)])
        twist = ca.vertcat(*twist_along(steps, V[:3], V[3:]))
        R_own, p_own = pose_along(steps, R, p)
        mass, moment = energies.first_moment(self.body, own[0])
        found = ca.vertcat(
            energies.kinetic(self.body, twist, own[0], own[1]),
            energies.bending(self.body, own[0]),
            -ca.dot(g, mass * p_own + R_own @ moment),
            energies.wind_up(self.body, own[0]),
        )
        bend = deflection(self.body, own[0])
        inputs = [R, p, V, *above[:2], *own[:2], g]
        return self._function("tell", inputs, [R_own, p_own, twist, found, bend])

    @cached_property
    def tip(self) -> ca.Function:
        """(R, p, own x) -> R and p of the tip."""
        R, p, x = ca.SX.sym("R", 3, 3), ca.SX.sym("p", 3), ca.SX.sym("x", self.n)
        steps = place(self.body, self.body.numbers.under("tip"), Jet.slow(x))
        return self._function("tip", [R, p, x], list(pose_along(steps, R, p)))

    def fold(self, free: Sequence[int], free_above: Sequence[int], children: Sequence[Any], steered: bool) -> Fold:
        """The elimination of the link's free coordinates. `children`: patterns of the inertia that they hand over;
        `steered`: whether a law acts, with slopes by x and dx."""
        x, dx, rate = self._own()
        above_x, V, slopes = (
            ca.SX.sym("above_x", self.above),
            ca.SX.sym("V", 6),
            ca.SX.sym("slopes", _two_columns(self.n, steered)),
        )
        stiff, damp = ca.SX.sym("stiff"), ca.SX.sym("damp")
        inertia, _ = ca.hessian(energies.kinetic(self.body, V, x, rate), ca.vertcat(V, rate))
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
        up = [ca.sparsify(each) for each in handed_over(own, left)]
        outputs = ca.cse([ca.densify(packed([eliminated])), *up])
        return Fold(eliminated, ca.Function(f"fold_{self._i}", [*inputs, self._p], [*outputs]))

    def _geometry_at(self, above_x: Any, x: Any) -> list[Any]:
        given_above, given_x, found = self._geometry
        return list(ca.substitute([*found.values()], [given_above, given_x], [above_x, x]))

    def _function(self, name: str, inputs: list[Any], outputs: list[Any]) -> ca.Function:
        dense = [ca.densify(each) for each in outputs]
        return ca.Function(f"{name}_{self._i}", [*inputs, self._p], [*ca.cse(dense)])


@dataclass(frozen=True)
class Fold:
    """A link after elimination, as functions: (parent's x, own x, dx, slopes of a law, stiff, damp, what the children
    hand over) -> (the eliminated link as a column, what it hands over)."""

    like: Eliminated
    function: ca.Function

    @property
    def size(self) -> int:
        return int(self.function.numel_out(0))

    @property
    def handed(self) -> list[Any]:
        """Patterns of what is handed over."""
        return [self.function.sparsity_out(k) for k in (1, 2, 3)]

    @cached_property
    def inward(self) -> ca.Function:
        """(column, force on the own coordinates, force at V) -> forces on the own ones, the parent's V, its own."""
        column, link = self._unpacked()
        own, at_V = ca.SX.sym("own", link.freed.shape[0]), ca.SX.sym("at_V", 6)
        total = own + link.joint.T @ at_V
        at_W = at_V - link.freed.T @ total
        outputs = [total, link.carry.T @ at_W, link.carry_x.T @ at_W]
        return ca.Function("inward", [column, own, at_V], [ca.densify(each) for each in ca.cse(outputs)])

    @cached_property
    def outward(self) -> ca.Function:
        """(column, force on the own coordinates, parent's V, its accelerations) -> own accelerations, V."""
        column, link = self._unpacked()
        own, V = ca.SX.sym("own", link.freed.shape[0]), ca.SX.sym("V", 6)
        above = ca.SX.sym("above", link.carry_x.shape[1])
        W = link.carry @ V + link.carry_x @ above
        a = link.accelerations(own) - link.freed @ W
        outputs = ca.cse([ca.densify(a), ca.densify(W + link.joint @ a)])
        return ca.Function("outward", [column, own, V, above], [*outputs])

    def _unpacked(self) -> tuple[Any, Eliminated]:
        column = ca.SX.sym("column", self.size)
        return column, unpacked(column, [self.like])[0]


def _two_columns(rows: int, full: bool) -> ca.Sparsity:
    return ca.Sparsity.dense(rows, 2) if full else ca.Sparsity(rows, 2)


def kind_of(equations: Equations, i: int, numbers: Numbers) -> tuple[object, ...]:
    """What links must have in common to share functions: all but names and numbers."""
    body = equations.chain.bodies[i]
    above = None if body.parent is None else equations.chain.bodies[body.parent]
    description = body.link.model_copy(update={"name": "", "parent": None}).model_dump_json()
    entries = tuple(
        (name, each.fixed.shape, each.fixed.tobytes(), each.symmetric)
        for each in numbers.entries
        if (name := each.name.removeprefix(f"links.{body.link.name}.")) != each.name
    )
    seats = None if above is None else (above.local.count, above.local.elastic.start, above.local.elastic.stop)
    return description, entries, body.local.joint, body.local.motor, body.local.count, seats
