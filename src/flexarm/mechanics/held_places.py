"""Where constraints touch links, and the wrenches with which they hold them there.

Every place of a constraint is displaced by a small virtual twist of its own; what the rows change with it is the wrench
that goes with a unit force of each row. So any kind of row is known without being told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.foundation.dataclass import dataclass
from flexarm.mechanics.closings import Closing, Key
from flexarm.mechanics.constraints import Constraints
from flexarm.mechanics.symbols import SymbolsUnder
from flexarm.robot.constraints import Constraint, PointSupport
from flexarm.robot.links import GROUND

if TYPE_CHECKING:
    from flexarm.mechanics.equations import Equations


@dataclass(frozen=True)
class Touch:
    """The number of a constraint, which of its sides, the link's number, pose of the place, symbols of its twist."""

    constraint: int
    side: str
    link: int
    R: Any
    p: Any
    virtual: Any


class HeldPlaces(Constraints):
    """The same rows, in places that can be displaced."""

    def __init__(
        self, equations: Equations, constraints: tuple[Constraint, ...], closings: Mapping[Key, Closing] | None
    ) -> None:
        self._touches: dict[str, Touch] = {}
        super().__init__(equations, constraints, closings)

    @property
    def touches(self) -> list[Touch]:
        return list(self._touches.values())

    def wrenches(self, forces: Any) -> list[Any]:
        """Of every touch: wrench (6, touches) on its link (torque first, in the axes of the place) under forces of the
        rows, rotations (3, 3 touches) and places (3, touches)."""
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
        """A pose (R, p), however it is seen, moved by the virtual twist of a place that is at `world`."""
        if key not in self._touches:
            names = [f"constraints.{name}" for name in self.names]
            index = names.index(key.rpartition(".")[0])
            self._touches[key] = Touch(index, side, link, *world, ca.SX.sym("virtual", 6))
        virtual = self._touches[key].virtual
        return R @ (ca.SX.eye(3) + ca.skew(virtual[:3])), p + R @ virtual[3:]

    def _section(self, link: str, there: SymbolsUnder) -> tuple[Any, Any]:
        side, pose = there.path.rpartition(".")[2], super()._section(link, there)
        return self._displaced(there.path, side, self._number(link), pose, *pose)

    def _root(self, index: int, support: PointSupport) -> tuple[Any, Any]:
        """A support sees its link's root frame,"""
        key, link = f"constraints.{self.names[index]}.root", self._number(support.link)
        world = self.equations.chain.poses(self.equations.q)[link]
        return self._displaced(key, "root", link, world, *super()._root(index, support))

    def _seat(self, index: int, support: PointSupport) -> tuple[Any, Any]:
        """and may be fixed to another link."""
        pose = super()._seat(index, support)
        if support.on == GROUND:
            return pose
        there, link = self._numbers(index).under("on"), self._number(support.on)
        return self._displaced(there.path, "on", link, self.equations.frame(link, there), *pose)
