"""Coordinates of a closed form: those of `System` in the same order, with the symbols of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.bodies import elastic_drive
from flexarm.robot import Elements, FixedPrismatic, Link, MovingJoint, Reduced
from flexarm.robot.flexibility import Basis
from flexarm.symbolic.algebra import Expr, symbol
from flexarm.symbolic.checks import clamped_nodes, has_mesh_contact, is_meshed
from flexarm.symbolic.symbols import ClosedFormSymbols, SymbolInfo, latex_name, rate_latex

NODE_LETTERS = {"bend_y": "u", "bend_z": "w", "twist": "phi", "stretch": "s"}
MODE_LETTERS = {"bend_y": "eta", "bend_z": "zeta", "twist": "phi", "stretch": "s"}


@dataclass(frozen=True)
class ClosedFormCoordinate:
    """Coordinate with its name in `System`, its symbol and that of its rate."""

    name: str
    named: SymbolInfo
    rate: SymbolInfo

    @property
    def q(self) -> Expr:
        return symbol(self.named.symbol)

    @property
    def v(self) -> Expr:
        return symbol(self.rate.symbol)


@dataclass
class LinkIndices:
    """Indices of the coordinates of a link; `mesh` is None where a boundary condition eliminates one."""

    joint: int | None = None
    motor: int | None = None
    front: list[int] = field(default_factory=list)
    rear: list[int] = field(default_factory=list)
    mesh: list[int | None] = field(default_factory=list)

    @property
    def actuated(self) -> int:
        """Index of the coordinate on which the actuator acts."""
        found = self.joint if self.motor is None else self.motor
        assert found is not None
        return found


def elastic_unit(basis: Basis, family: str, index: int) -> str:
    """Return the unit of an elastic coordinate of a family, counted from zero.

    The coordinates of nodes are alternately deflections and slopes, or twists or stretches. Modes are normalized to
    unit modal mass, so that their coordinates have the same unit in all families. The coordinates of reduced links
    begin with those of the node at the tip, if any.
    """
    at_node = isinstance(basis, Elements)
    if isinstance(basis, Reduced):
        at_node = index < basis.tip_shapes(family)
    if not at_node:
        return "m kg^1/2"
    return "rad" if family == "twist" or (family.startswith("bend") and index % 2) else "m"


class ClosedFormCoordinates:
    """Coordinates of a robot, link by link."""

    def __init__(self, symbols: ClosedFormSymbols) -> None:
        self.all: list[ClosedFormCoordinate] = []
        self.own: list[LinkIndices] = []
        self.torques: dict[int, SymbolInfo] = {}  # by coordinate on which they act
        self._symbols = symbols

    @property
    def indices(self) -> dict[Expr, int]:
        return {each.q: index for index, each in enumerate(self.all)}

    def add(
        self, n: int, link: Link, front: LinkIntegrals, rear: LinkIntegrals | None, k: Mapping[str, int], kept: bool
    ) -> None:
        """Add the coordinates of link `n`, counted from 1."""
        own = LinkIndices()
        self.own.append(own)
        if isinstance(link.joint, MovingJoint):
            turns, of = link.joint.unit == "rad", f"of joint {n} ({link.name})"
            letter, unit, what = ("theta", "rad", "angle") if turns else ("d", "m", "extension")
            own.joint = self._new(f"{link.name}.q", f"{letter}_{n}", f"{what} {of}", unit)
            if elastic_drive(link):
                own.motor = self._new(f"{link.name}.motor", f"{letter}_m{n}", f"motor {of}, in the joint's units", unit)
            torque = self._symbols.variable(f"tau_{n}")
            at_motor = link.joint.drive is not None and link.joint.drive.torque_at == "motor"
            meaning = f"{'torque' if turns else 'force'} of the actuator {of}"
            meaning += ", at the motor's shaft" if at_motor else ""
            unit = "N m" if turns or at_motor else "N"
            self.torques[own.actuated] = SymbolInfo(torque, latex_name(torque), meaning, unit)
        if is_meshed(link):
            own.mesh = self._mesh(n, link, k, kept)
            return
        own.front = self._shapes(n, link, front, "")
        if rear is not None:
            own.rear = self._shapes(n, link, rear, "rear.")

    def _mesh(self, n: int, link: Link, k: Mapping[str, int], kept: bool) -> list[int | None]:
        """Add the coordinates of nodes j = 0, 1, ...: deflection u_i(2j+1) and slope u_i(2j+2)."""
        assert link.flexible is not None
        slides, clamped = isinstance(link.joint, FixedPrismatic) and has_mesh_contact(link), clamped_nodes(link, k)
        first = 1 if slides or link.flexible.loose else -1  # the root is not clamped
        found: list[int | None] = []
        for index in range(2 * link.flexible.bend_y + 2):
            if index // 2 in clamped and not kept:
                found.append(None)
                continue
            name = f"{link.name}.u[{index + 1}]" if kept else f"{link.name}.bend_y[{index + first}]"
            what, unit = ("slope", "rad") if index % 2 else ("deflection", "m")
            meaning = f"{what} of node {index // 2} of link {n} ({link.name})"
            found.append(self._new(name, f"u_{n}_{index + 1}", meaning, unit))
        return found

    def _shapes(self, n: int, link: Link, integrals: LinkIntegrals, prefix: str) -> list[int]:
        found = []
        for name, space in integrals.shapes.items():
            assert link.flexible is not None
            nodes = isinstance(link.flexible.basis, Elements)
            clamped = 2 if nodes and name.startswith("bend") and not link.flexible.loose else 0
            letter = (NODE_LETTERS if nodes else MODE_LETTERS)[name] + ("r" if prefix else "")
            kind, part = "node" if nodes else "shape", " behind the joint" if prefix else ""
            for index in range(space.count):
                meaning = f"{name} coordinate {index + 1} ({kind}) of link {n} ({link.name}){part}"
                label, unit = f"{letter}_{n}_{index + 1 + clamped}", elastic_unit(link.flexible.basis, name, index)
                found.append(self._new(f"{link.name}.{prefix}{name}[{index + 1}]", label, meaning, unit))
        return found

    def _new(self, name: str, label: str, meaning: str, unit: str) -> int:
        own, rate = self._symbols.variable(label), self._symbols.variable(f"{label}_dot")
        named = SymbolInfo(own, latex_name(own), meaning, unit)
        moving = SymbolInfo(rate, rate_latex(named.latex), f"rate of {own}", f"{unit}/s")
        self.all.append(ClosedFormCoordinate(name, named, moving))
        return len(self.all) - 1
