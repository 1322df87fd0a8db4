"""Constraint equations Phi(q) = 0, their derivatives and forces, as CasADi expressions.

Rows of positions are in metres along the axes of the world (for a PointSupport, of the link's root); rows of rotations
are in radians about the axes of the first section. A row is the displacement of the first side relative to the second,
so that -lambda is the force or moment on the first side (docs/theory.md, "Constraints").

For the wrenches on links, each position of a constraint gets a small virtual twist; the derivatives of the rows by it
are the wrenches of unit row forces, whatever the kind of row.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.dynamics.constraints.independent_rows import ConstraintRows, Key, SelectedRows, rotation_name
from flexarm.dynamics.constraints.parameters import AXES
from flexarm.dynamics.links.beam_parameters import nodally_held
from flexarm.dynamics.links.sliding_shapes import GUIDE_NODES
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Shift, Step, Turn, Y, Z, pose_along
from flexarm.foundation.dataclass import dataclass
from flexarm.robot import FixedPrismatic
from flexarm.robot.constraints import Constraint, Loop, Mouth, OnLine, OnPlane, PointSupport, constraint_names
from flexarm.robot.links import GROUND

if TYPE_CHECKING:
    from flexarm.dynamics.equations import Equations


NEWTON_ITERATIONS = 4  # for the position of a support on an exact link


@dataclass(frozen=True)
class Row:
    """Constraint equation: name, index of its constraint, expression and unit ("m" or "rad").

    `jet` holds the expression with its rates, where these are cheaper than by algorithmic differentiation.
    """

    name: str
    constraint: int
    value: Any
    unit: str
    jet: Jet | None = None

    @property
    def force_unit(self) -> str:
        """Unit of the row's constraint force."""
        return "N" if self.unit == "m" else "N m"


class Constraints:
    """Constraints of a robot, with the rows in `selected`; with all rows if it is None."""

    def __init__(
        self,
        equations: Equations,
        constraints: tuple[Constraint, ...],
        selected: Mapping[Key, SelectedRows] | None,
    ) -> None:
        self.equations, self.constraints = equations, constraints
        self.names = constraint_names(constraints)
        self.rows: list[Row] = []
        self.blocks: dict[Key, tuple[ConstraintRows, list[Row]]] = {}
        for index, constraint in enumerate(constraints):
            for unit in ("m", "rad"):
                rows = [row for row in self._all_rows(index, constraint) if row.unit == unit]
                if not rows:
                    continue
                block = ConstraintRows(self.names[index], len(rows), unit)
                self.blocks[index, unit] = block, rows
                self.rows += rows if selected is None else self._select(index, block, rows, selected[index, unit])
        for number, body in enumerate(equations.chain.bodies):
            if nodally_held(body.link):
                self.rows += self._guide_rows(number, len(self.names))
                self.names.append(f"{body.link.name}.grip")

    def _select(self, index: int, block: ConstraintRows, rows: list[Row], selection: SelectedRows) -> list[Row]:
        kept = [rows[k] for k in selection.kept]
        if selection.turned is None:
            return kept
        turn = self.equations.chain.parameters[rotation_name(block)]
        turned = turn @ ca.vertcat(*(row.value for row in kept))
        prefix = "" if block.unit == "m" else "r"
        return [Row(f"{block.name}.{prefix}{k + 1}", index, turned[k], block.unit) for k in range(selection.turned)]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.rows)

    # --- expressions ---

    @cached_property
    def value(self) -> Any:
        """Constraint violations Phi(q), (rows,)."""
        return ca.cse(ca.vertcat(ca.SX(0, 1), *(row.value for row in self.rows)))

    @cached_property
    def jacobian(self) -> Any:
        """Constraint Jacobian Phi_q, (rows, nq)."""
        return ca.cse(ca.jacobian(self.value, self.equations.q))

    @cached_property
    def rate(self) -> Any:
        """Rate Phi_q v, (rows,)."""
        return self._with_jets(ca.jtimes(self.value, self.equations.q, self.equations.v), "dx")

    @cached_property
    def acceleration(self) -> Any:
        """Second rate Phi_q a + gamma, (rows,), with gamma = d(Phi_q v)/dq v."""
        e = self.equations
        rate = ca.jtimes(self.value, e.q, e.v)
        return self._with_jets(ca.jtimes(self.value, e.q, e.a) + ca.jtimes(rate, e.q, e.v), "ddx")

    def _with_jets(self, expressions: Any, order: str) -> Any:
        """Return the expressions with those of rows that have a jet replaced by it."""
        if not any(row.jet for row in self.rows):
            return expressions
        parts = [expressions[k] if row.jet is None else getattr(row.jet, order) for k, row in enumerate(self.rows)]
        return ca.vertcat(*parts)

    def pull(self, forces: Any) -> Any:
        """Return the generalized forces Phi_q^T lambda, (nq,)."""
        return ca.jtimes(self.value, self.equations.q, forces, True)

    # --- rows ---

    def _all_rows(self, index: int, constraint: Constraint) -> list[Row]:
        """Return every row of a constraint, redundant ones included."""
        name, n = self.names[index], self._parameters(index)
        if isinstance(constraint, Loop):
            return self._loop_rows(index, constraint)
        if isinstance(constraint, OnLine):
            _, p = self._section(constraint.link, n.under("place"))
            sides = self._sides(n)
            return [Row(f"{name}.{label}", index, ca.dot(side, p - n["point"]), "m") for label, side in sides.items()]
        if isinstance(constraint, OnPlane):
            _, p = self._section(constraint.link, n.under("place"))
            return [Row(f"{name}.normal", index, ca.dot(n["normal"], p - n["point"]), "m")]
        assert isinstance(constraint, PointSupport)
        return self._support_rows(index, constraint)

    def _parameters(self, index: int) -> SymbolsUnder:
        return self.equations.chain.parameters.under(f"constraints.{self.names[index]}")

    @staticmethod
    def _sides(n: SymbolsUnder) -> dict[str, Any]:
        """Return directions perpendicular to an axis, by name."""
        return {label: n[f"side.{label}"] for label in (*AXES, "1", "2") if f"side.{label}" in n}

    def _loop_rows(self, index: int, loop: Loop) -> list[Row]:
        name, n = self.names[index], self._parameters(index)
        R1, p1 = self._section(loop.first, n.under("first"))
        if loop.second == GROUND:
            R2, p2 = ca.SX.eye(3), n["position"]
        else:
            R2, p2 = self._section(loop.second, n.under("second"))
        mounted = R2 @ n["mount"].T
        gap = p1 - p2
        rows = [Row(f"{name}.{axis}", index, gap[k], "m") for k, axis in enumerate(AXES)]
        if loop.joint == "weld":
            turned = R1.T @ mounted
            trace = turned[0, 0] + turned[1, 1] + turned[2, 2]
            # 2 tan(angle / 2) about the axis of rotation: zero without rotation only, with unit slope there
            slips = [turned[j, k] - turned[k, j] for j, k in ((1, 2), (2, 0), (0, 1))]
            return rows + [
                Row(f"{name}.r{axis}", index, 2 * slip / (1 + trace), "rad")
                for axis, slip in zip(AXES, slips, strict=True)
            ]
        seen = mounted.T @ (R1 @ n["axis"])  # the first side's axis in those of the second, without the mount
        for label, side in self._sides(n).items():
            rows.append(Row(f"{name}.r{label}", index, ca.dot(side, seen), "rad"))
        return rows

    def _support_rows(self, index: int, support: PointSupport) -> list[Row]:
        """Return the rows of a support: the axis of the link passes through it."""
        e, number = self.equations, self._number(support.link)
        at, link = self._support_position(index, support), e.chain.bodies[number].link
        if link.stiffening == "exact":
            place = self._position_on_exact_link(index, support, at)[1]
            gaps = [Jet(place[k] - at[k], None, None) for k in range(3)]
        else:
            own = Jet(*(e.chain.part(vector, number) for vector in (e.q, e.v, e.a)))
            gaps = self._gaps(
                index, support, self._jet_of(at), self._jet_of(self._position_on_straight_link(support, at)), own
            )
        return [
            Row(f"{self.names[index]}.{axis}", index, gaps[k].x, "m", None if gaps[k].dx is None else gaps[k])
            for k, axis in enumerate(AXES)
            if axis in support.directions
        ]

    def _gaps(self, index: int, support: PointSupport, support_position: Jet, along: Jet, own: Jet) -> list[Jet]:
        """Return the gaps between support and axis, for a second-order link.

        The point at X along the straight link has moved back, so the axis is followed along its slope to the support.
        """
        steps = self._steps_to(index, support, along, own)
        there = steps[0]
        assert isinstance(there, Shift)
        gap = Jet(there.r, there.dr, there.ddr) - support_position
        found = [gap.of(k) for k in range(3)]
        if self.equations.chain.bodies[self._number(support.link)].link.stiffening == "none":
            return found
        back = -found[0]
        for step in steps[1:]:
            if isinstance(step, Turn) and step.axis in (Y, Z):
                lean = back * Jet(step.angle, step.rate, step.second_rate)
                k, lean = (1, lean) if step.axis == Z else (2, -lean)
                found[k] = found[k] + lean
        return found

    def _position_on_exact_link(self, index: int, support: PointSupport, at: Any) -> tuple[Any, Any]:
        """Return the position x on an exact link as far along as its support, and its axis (3,) there (Newton)."""
        own = Jet.slow(self.equations.chain.part(self.equations.q, self._number(support.link)))
        x = self._position_on_straight_link(support, at)
        for _ in range(NEWTON_ITERATIONS):
            R, p = pose_along(self._steps_to(index, support, Jet.slow(x), own), ca.SX.eye(3), ca.SX.zeros(3))
            back, tangent = at[0] - p[0], R[:, 0]
            x = x + back / tangent[0]
        return x, p + back / tangent[0] * tangent

    def _steps_to(self, index: int, support: PointSupport, along: Jet, own: Jet) -> list[Step]:
        """Return the steps from the root frame of a support's link to a position on it."""
        body = self.equations.chain.bodies[self._number(support.link)]
        return body.model.moving_place(body, self._parameters(index).under("rail"), along, own)

    def _jet_of(self, expression: Any) -> Jet:
        """Return an expression of q with its rates by algorithmic differentiation."""
        e = self.equations
        rate = ca.jtimes(expression, e.q, e.v)
        return Jet(expression, rate, ca.jtimes(rate, e.q, e.v) + ca.jtimes(expression, e.q, e.a))

    def _support_position(self, index: int, support: PointSupport) -> Any:
        """Return the position (3,) of a support in its link's root frame."""
        R, p = self._root(index, support)
        R_seat, p_seat = self._support_base(index, support)
        return R.T @ (p_seat + R_seat @ self._parameters(index)["position"] - p)

    def _common(self, support: PointSupport) -> int | None:
        """Return the last common ancestor of both sides of a support; what lies below does not affect the rows."""
        if support.on == GROUND:
            return None
        return self.equations.chain.common_ancestor(self._number(support.link), self._number(support.on))

    def _root(self, index: int, support: PointSupport) -> tuple[Any, Any]:
        """Return (R, p) of the root of a support's link."""
        return self.equations.chain.pose_from(self._common(support), self._number(support.link), self.equations.q)

    def _support_base(self, index: int, support: PointSupport) -> tuple[Any, Any]:
        """Return (R, p) of what a support is fixed to: the world, the base, or a section of a link."""
        e = self.equations
        if support.on == GROUND:
            n = e.chain.parameters
            on_base = isinstance(support, Mouth)
            return (n["base.rotation"], n["base.position"]) if on_base else (ca.SX.eye(3), ca.SX.zeros(3))
        number = self._number(support.on)
        pose = e.chain.pose_from(self._common(support), number, e.q)
        return pose_along(e.to_section(number, self._parameters(index).under("on")), *pose)

    def _position_on_straight_link(self, support: PointSupport, support_position: Any) -> Any:
        """Return the position of a support on its straight link, as positions on the link are counted."""
        number = self._number(support.link)
        body = self.equations.chain.bodies[number]
        return body.model.position_at(body, support_position[0], self.equations.chain.part(self.equations.q, number))

    def _position_on_link(self, index: int, support: PointSupport) -> Any:
        """Return the position of a support on its bent link."""
        e, number, at = self.equations, self._number(support.link), self._support_position(index, support)
        if e.chain.bodies[number].link.stiffening == "exact":
            return self._position_on_exact_link(index, support, at)[0]
        x = self._position_on_straight_link(support, at)
        there = self._steps_to(index, support, Jet.slow(x), Jet.slow(e.chain.part(e.q, number)))[0]
        assert isinstance(there, Shift)
        return x + at[0] - there.r[0]

    @cached_property
    def supports(self) -> list[tuple[str, str, ca.Function]]:
        """Name, link and position function (q, parameters) -> x of each point support."""
        e = self.equations
        found = []
        for index, each in enumerate(self.constraints):
            if isinstance(each, PointSupport):
                where = ca.Function("where", [e.q, e.p], [self._position_on_link(index, each)])
                found.append((self.names[index], each.link, where))
        return found

    def _number(self, name: str) -> int:
        """Return the index of a link, or of the link that carries a frame."""
        return self.equations.owners[name]

    def _section(self, link: str, there: SymbolsUnder) -> tuple[Any, Any]:
        return self.equations.frame(self._number(link), there)

    def _guide_rows(self, number: int, index: int) -> list[Row]:
        """Return rows that hold the nodes in a link's guide: zero deflection and slope."""
        body, rows = self.equations.chain.bodies[number], []
        assert isinstance(body.link.joint, FixedPrismatic)
        own = self.equations.chain.part(self.equations.q, number)
        eta, place = body.elastic(own), body.length - own[body.local.joint]
        for grip, node in GUIDE_NODES[body.link.joint.contact].items():
            shapes = node(body.shapes, body.parameters.under("grip"))
            for name, columns in body.shapes.columns.items():
                for slope in range(body.shapes.order(name)):
                    value = shapes.orders(name, place, slope=bool(slope))[0] @ eta[columns, 0]
                    unit = "rad" if slope or name == "twist" else "m"
                    rows.append(Row(f"{body.link.name}.{grip}.{name}{slope * chr(39)}", index, value, unit))
        return rows


@dataclass(frozen=True)
class ConstrainedPlace:
    """Position at which a constraint acts on a link, with its pose and the symbols of its virtual twist."""

    constraint: int
    side: str
    link: int
    R: Any
    p: Any
    virtual: Any


class HeldPlaces(Constraints):
    """Constraints with positions that can be displaced virtually."""

    def __init__(
        self, equations: Equations, constraints: tuple[Constraint, ...], selected: Mapping[Key, SelectedRows] | None
    ) -> None:
        self._touches: dict[str, ConstrainedPlace] = {}
        super().__init__(equations, constraints, selected)

    @property
    def touches(self) -> list[ConstrainedPlace]:
        """All positions at which constraints act on links."""
        return list(self._touches.values())

    def wrenches(self, forces: Any) -> list[Any]:
        """Return wrenches (6, places) on links under row forces, rotations (3, 3 places) and positions (3, places).

        Wrenches are torque first, in the axes of the place.
        """
        virtual = ca.vertcat(ca.SX(0, 1), *(each.virtual for each in self.touches))
        pulled = ca.jtimes(self.value, virtual, forces, True)
        found = [
            ca.reshape(pulled, 6, len(self.touches)),
            ca.horzcat(ca.SX(3, 0), *(each.R for each in self.touches)),
            ca.horzcat(ca.SX(3, 0), *(each.p for each in self.touches)),
        ]
        still = ca.SX.zeros(virtual.shape)
        return [*ca.cse([ca.densify(each) for each in ca.substitute(found, [virtual], [still])])]

    def _displaced(self, key: str, side: str, link: int, world: tuple[Any, Any], R: Any, p: Any) -> tuple[Any, Any]:
        """Return a pose (R, p) displaced by the virtual twist of a place whose pose in the world is `world`."""
        if key not in self._touches:
            names = [f"constraints.{name}" for name in self.names]
            index = names.index(key.rpartition(".")[0])
            self._touches[key] = ConstrainedPlace(index, side, link, *world, ca.SX.sym("virtual", 6))
        virtual = self._touches[key].virtual
        return R @ (ca.SX.eye(3) + ca.skew(virtual[:3])), p + R @ virtual[3:]

    def _section(self, link: str, there: SymbolsUnder) -> tuple[Any, Any]:
        side, pose = there.path.rpartition(".")[2], super()._section(link, there)
        return self._displaced(there.path, side, self._number(link), pose, *pose)

    def _root(self, index: int, support: PointSupport) -> tuple[Any, Any]:
        key, link = f"constraints.{self.names[index]}.root", self._number(support.link)
        world = self.equations.chain.poses(self.equations.q)[link]
        return self._displaced(key, "root", link, world, *super()._root(index, support))

    def _support_base(self, index: int, support: PointSupport) -> tuple[Any, Any]:
        pose = super()._support_base(index, support)
        if support.on == GROUND:
            return pose
        there, link = self._parameters(index).under("on"), self._number(support.on)
        return self._displaced(there.path, "on", link, self.equations.frame(link, there), *pose)
