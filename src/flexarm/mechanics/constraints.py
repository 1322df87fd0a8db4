"""Constraint equations Phi(q) = 0 and their derivatives, as CasADi expressions.

Rows of positions are in metres along the world's axes (of a PointSupport along those of the link's root); rows of
rotations are in radians about the axes of the first section. A row is the displacement of the first side against the
second, so that -lambda is the force or moment on the first side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.foundation.families import FAMILIES
from flexarm.foundation.numbers import Array
from flexarm.mechanics.bodies import nodally_held
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.moving_shapes import values_at_nodes
from flexarm.mechanics.rotations import Shift
from flexarm.mechanics.section_poses import moving_place
from flexarm.robot.constraints import Constraint, Loop, OnLine, OnPlane, PointSupport, constraint_names
from flexarm.robot.links import GROUND
from flexarm.robot.pose import rotation_matrix

if TYPE_CHECKING:
    from flexarm.mechanics.equations import Equations

SAMPLES = 5  # random postures at which rows are looked at
IDLE = 1e-10  # of a row that is a robot's length or a radian: what moves it less is rounding
AXES = "xyz"


@dataclass(frozen=True)
class Row:
    """One equation: its name, the number of its constraint, its expression, its unit (m or rad).

    `jet` has the expression with its rates, where they are cheaper written than by AD.
    """

    name: str
    constraint: int
    value: Any
    unit: str
    jet: Jet | None = None

    @property
    def force_unit(self) -> str:
        return "N" if self.unit == "m" else "N m"


class Constraints:
    """All constraints of a robot. Rows that hold whatever the coordinates are left out."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self.robot = equations.chain.robot
        self.names = constraint_names(self.robot.constraints)
        self.length = sum(link.length for link in self.robot.links)
        self.rows: list[Row] = []
        for index, constraint in enumerate(self.robot.constraints):
            for unit in ("m", "rad"):
                block = [row for row in self._written(index, constraint) if row.unit == unit]
                self.rows += self._independent(block)
        for number, body in enumerate(equations.chain.bodies):
            if nodally_held(body.link):
                self.rows += self._grip(number, len(self.names))
                self.names.append(f"{body.link.name}.grip")

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def scales(self) -> Array:
        """What is a large violation of each row."""
        return np.array([self.length if row.unit == "m" else 1.0 for row in self.rows])

    # --- expressions ---

    @cached_property
    def value(self) -> Any:
        """Phi(q)."""
        return ca.cse(ca.vertcat(ca.SX(0, 1), *(row.value for row in self.rows)))

    @cached_property
    def jacobian(self) -> Any:
        """Phi_q."""
        return ca.cse(ca.jacobian(self.value, self.equations.q))

    @cached_property
    def rate(self) -> Any:
        """Phi_q v."""
        return self._with_jets(ca.jtimes(self.value, self.equations.q, self.equations.v), "dx")

    @cached_property
    def acceleration(self) -> Any:
        """Phi_q a + gamma, gamma = d(Phi_q v)/dq v."""
        e = self.equations
        rate = ca.jtimes(self.value, e.q, e.v)
        return self._with_jets(ca.jtimes(self.value, e.q, e.a) + ca.jtimes(rate, e.q, e.v), "ddx")

    def _with_jets(self, expressions: Any, order: str) -> Any:
        """Rates of the rows that bring their own instead of those by AD."""
        if not any(row.jet for row in self.rows):
            return expressions
        parts = [expressions[k] if row.jet is None else getattr(row.jet, order) for k, row in enumerate(self.rows)]
        return ca.vertcat(*parts)

    def pull(self, forces: Any) -> Any:
        """Phi_q^T lambda."""
        return ca.jtimes(self.value, self.equations.q, forces, True)

    # --- rows ---

    def _written(self, index: int, constraint: Constraint) -> list[Row]:
        """Every row of a constraint, also those that say nothing."""
        name = self.names[index]
        if isinstance(constraint, Loop):
            return self._loop(index, constraint)
        if isinstance(constraint, OnLine):
            _, p = self._section(constraint.link, constraint.at)
            sides = _across(constraint.direction_vector)
            return [
                Row(f"{name}.{label}", index, ca.dot(ca.DM(side), p - ca.DM(constraint.point)), "m")
                for label, side in sides.items()
            ]
        if isinstance(constraint, OnPlane):
            _, p = self._section(constraint.link, constraint.at)
            gap = ca.dot(ca.DM(constraint.normal_vector), p - ca.DM(constraint.point))
            return [Row(f"{name}.normal", index, gap, "m")]
        assert isinstance(constraint, PointSupport)
        return self._support(index, constraint)

    def _loop(self, index: int, loop: Loop) -> list[Row]:
        name = self.names[index]
        R1, p1 = self._section(loop.first, loop.first_at)
        if loop.second == GROUND:
            R2, p2 = ca.SX.eye(3), ca.SX(ca.DM(loop.position))
        else:
            R2, p2 = self._section(loop.second, loop.second_at)
        mounted = R2 @ ca.SX(ca.sparsify(ca.DM(rotation_matrix(loop.mount)))).T
        gap = p1 - p2
        rows = [Row(f"{name}.{axis}", index, gap[k], "m") for k, axis in enumerate(AXES)]
        if loop.joint == "weld":
            turned = R1.T @ mounted
            trace = turned[0, 0] + turned[1, 1] + turned[2, 2]
            # 2 tan(angle / 2) about the axis of rotation: zero at no turn only, and with unit slope there
            slips = [turned[j, k] - turned[k, j] for j, k in ((1, 2), (2, 0), (0, 1))]
            return rows + [
                Row(f"{name}.r{axis}", index, 2 * slip / (1 + trace), "rad")
                for axis, slip in zip(AXES, slips, strict=True)
            ]
        axis = ca.DM(loop.axis_vector)
        seen = mounted.T @ (R1 @ axis)  # the first side's axis, in the second's (turned back by the mount)
        for label, about in _across(loop.axis_vector).items():
            rows.append(Row(f"{name}.r{label}", index, ca.dot(ca.cross(ca.DM(about), axis), seen), "rad"))
        return rows

    def _support(self, index: int, support: PointSupport) -> list[Row]:
        """The axis passes the support: v(x) = Y and w(x) = Z, (X, Y, Z) the support in the link's root frame."""
        e, number = self.equations, self._number(support.link)
        stands, along = self._moving(self._stands(support)), self._moving(self._along(support))
        own = Jet(*(e.chain.part(vector, number) for vector in (e.q, e.v, e.a)))
        there = moving_place(e.chain.bodies[number], along, own)[0]
        assert isinstance(there, Shift)
        gap = Jet(there.r, there.dr, there.ddr) - stands
        return [
            Row(f"{self.names[index]}.{axis}", index, gap.of(k).x, "m", gap.of(k))
            for k, axis in enumerate(AXES)
            if axis in support.directions
        ]

    def _moving(self, expression: Any) -> Jet:
        """An expression of q with its rates by AD."""
        e = self.equations
        rate = ca.jtimes(expression, e.q, e.v)
        return Jet(expression, rate, ca.jtimes(rate, e.q, e.v) + ca.jtimes(expression, e.q, e.a))

    def _stands(self, support: PointSupport) -> Any:
        """A support in its link's root frame."""
        R, p = self.equations.chain.poses(self.equations.q)[self._number(support.link)]
        return R.T @ (ca.DM(support.position) - p)

    def _along(self, support: PointSupport) -> Any:
        """Where on its link a support stands, as its places are counted."""
        X = self._stands(support)[0]
        body = self.equations.chain.bodies[self._number(support.link)]
        if not body.gripped:
            return X
        own = self.equations.chain.part(self.equations.q, self._number(support.link))
        return X + body.link.length - own[body.local.joint]

    @cached_property
    def supports(self) -> list[tuple[str, str, ca.Function]]:
        """Of each point support its name, its link and where on the link it stands: q -> x."""
        return [
            (name, each.link, ca.Function("where", [self.equations.q], [self._along(each)]))
            for name, each in zip(self.names, self.robot.constraints)  # links held at a node come after these
            if isinstance(each, PointSupport)
        ]

    def _number(self, link: str) -> int:
        return [each.name for each in self.robot.links].index(link)

    def _section(self, link: str, at: float | None) -> tuple[Any, Any]:
        number = self._number(link)
        return self.equations.frame(number, self.robot.links[number].length if at is None else at)

    def _grip(self, number: int, index: int) -> list[Row]:
        """The node nearest to the joint through which a link slides has no deflection and no slope."""
        body, rows = self.equations.chain.bodies[number], []
        own = self.equations.chain.part(self.equations.q, number)
        eta, place = body.elastic(own), body.link.length - own[body.local.joint]
        for name, space in body.integrals.shapes.items():
            functions = [(name, space, "rad" if name == "twist" else "m")]
            if FAMILIES[name].order == 2:
                functions.append((f"{name}'", space.derivative(), "rad"))
            for label, each, unit in functions:
                held = values_at_nodes(each.breaks, each(each.breaks), place)
                value = held @ eta[body.integrals.columns[name], 0]
                rows.append(Row(f"{body.link.name}.grip.{label}", index, value, unit))
        return rows

    # --- rows that say nothing ---

    def _independent(self, block: list[Row]) -> list[Row]:
        """The rows of a block without those that no coordinate moves: out of the plane of a planar robot. Where this
        plane is askew to the axes, the rows are turned into it."""
        if not block:
            return []
        scale = self.length if block[0].unit == "m" else 1.0
        values, slopes = self._sampled(ca.vertcat(*(row.value for row in block)))
        values, slopes = values / scale, slopes / scale
        moved = np.abs(slopes).max(axis=1, initial=0.0) > IDLE
        self._require_closed([row for row, moves in zip(block, moved) if not moves], values[~moved], scale)
        block = [row for row, moves in zip(block, moved) if moves]
        if len(block) < 2 or isinstance(self.robot.constraints[block[0].constraint], PointSupport):
            return block  # a support's rows are in the link's own axes, where its plane cannot be askew
        turn, sizes, _ = np.linalg.svd(slopes[moved], full_matrices=False)
        idle = sizes <= IDLE * sizes[0]
        if not idle.any():
            return block
        self._require_closed(block, turn[:, idle].T @ values[moved], scale)
        stem = self.names[block[0].constraint]
        prefix = "" if block[0].unit == "m" else "r"
        turned = ca.DM(turn[:, ~idle].T) @ ca.vertcat(*(row.value for row in block))
        return [
            Row(f"{stem}.{prefix}{k + 1}", block[0].constraint, turned[k], block[0].unit) for k in range(turned.numel())
        ]

    def _sampled(self, values: Any) -> tuple[Array, Array]:
        """Values (rows, samples) and scaled Jacobians side by side at random postures."""
        coordinates, q = self.equations.chain.coordinates, self.equations.q
        at = ca.Function("at", [q], [ca.densify(values), ca.densify(ca.jacobian(values, q))])
        rng, found = np.random.default_rng(0), []
        share = [0.05 if each.kind == "elastic" else 1.0 for each in coordinates.all]
        sizes = coordinates.sizes
        for _ in range(SAMPLES):
            posture = rng.uniform(-1, 1, coordinates.count) * sizes * np.array(share)
            value, slope = (part.full() for part in at(posture))
            found.append((value[:, 0], slope * sizes))
        return np.column_stack([value for value, _ in found]), np.hstack([slope for _, slope in found])

    def _require_closed(self, rows: list[Row], values: Array, scale: float) -> None:
        """What no coordinate moves must be zero by itself."""
        if not rows:
            return
        gap = float(np.abs(values).max(initial=0.0))
        if gap > 1e-9:
            what = "apart" if rows[0].unit == "m" else "out of line"
            raise ValueError(
                f"'{self.names[rows[0].constraint]}' cannot close: its two sides stay {gap * scale:.4g} {rows[0].unit} "
                f"{what} in a direction in which the robot cannot move"
            )


def _across(direction: tuple[float, float, float]) -> dict[str, Array]:
    """Two unit vectors across a direction, by name: coordinate axes where the direction is one."""
    u = np.array(direction)
    names = [name for name, along in zip(AXES, np.abs(u) > 1 - 1e-12) if not along]
    if len(names) == 2:
        return {name: np.eye(3)[AXES.index(name)] for name in names}
    second = np.eye(3)[int(np.abs(u).argmin())]  # the axis most across
    first = np.cross(second, u)
    first /= np.linalg.norm(first)
    return {"1": first, "2": np.cross(u, first)}
