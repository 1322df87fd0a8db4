"""Inputs and outputs of a robot by name (`dynamics/quantity_names.py`), as functions of its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import casadi as ca
import numpy as np

from flexarm.dynamics.equations import Equations
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.quantity_names import (
    AXES,
    SECTION_COMPONENTS,
    WRENCH_COMPONENTS,
    derivative,
    derivative_unit,
    read_numbers,
    require_order,
    split_derivative,
    split_place,
    split_section,
)
from flexarm.dynamics.strains import surface_point
from flexarm.dynamics.system import System
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array


@dataclass(frozen=True)
class Input:
    """An input: the generalised force that it is (or the coordinate whose acceleration it is), and where it pushes.

    load: (link, x, wrench in world axes) of an input that is a force on a place.
    """

    name: str
    unit: str
    force: Array | None = None
    driven: int | None = None
    load: tuple[str, float | None, Array] | None = None


@dataclass(frozen=True)
class Output:
    """An output, as one of: the displacement of a place or a coordinate (the derivative of this `order`), a function of
    the state (q, v, a, loads, constraint forces), or a row of the constraints.

    path: (q) -> value, as a CasADi expression of the equations' q. read: (q, v, a, loads, forces) -> array.
    needs_forces: the function depends on a, loads and constraint forces.
    place: what it is of, where that has several names (`tip.y` and `fore(0.8).y`).
    """

    name: str
    unit: str
    order: int = 0
    path: Callable[[], Any] | None = None
    read: Callable[..., Array] | None = None
    needs_forces: bool = True
    row: int | None = None
    place: tuple[object, ...] = ()

    @property
    def identity(self) -> tuple[tuple[object, ...], int]:
        """Quantity and order of differentiation: equal for all names of a signal."""
        return self.place or split_derivative(self.name)[:1], self.order

    def expression(self, equations: Equations) -> Any:
        """Return the output as an expression of q, v and a of the equations."""
        assert self.path is not None
        value, e = ca.SX(self.path()), equations
        for _ in range(self.order):
            value = ca.jtimes(value, e.q, e.v) + ca.jtimes(value, e.v, e.a)
        return value


def as_they_are(values: Array) -> Any:
    return values


@dataclass(frozen=True)
class Signals:
    """Signals of a system, with named points, {"camera": ("fore", 0.2)}.

    `stand_in` maps the numbers of a place to what represents them in expressions: themselves, or symbols.
    """

    system: System
    points: Mapping[str, tuple[str, float | None]] = field(default_factory=dict)
    stand_in: Callable[[Array], Any] = as_they_are

    # --- inputs ---

    def input(self, name: str, q: Array) -> Input:
        """Return an input at a posture: the direction of a force depends on it."""
        system = self.system
        for k, each in enumerate(system.actuators):
            if each.name == name:
                return Input(name, each.unit, system.input_matrix[:, k])
        base, order = split_derivative(name)
        if order == 2 and base in system.names and system.coordinates[system.index(base)].kind != "elastic":
            index = system.index(base)
            return Input(name, derivative_unit(system.units[index], 2), driven=index)
        place, _, component = name.rpartition(".")
        if component in WRENCH_COMPONENTS and (found := self._place(place)) is not None:
            k = WRENCH_COMPONENTS.index(component)
            J = system.jacobian(*found, q, axes="world")  # angular rows first
            wrench = np.eye(6)[k]
            return Input(name, "N" if k < 3 else "N m", J[(k + 3) % 6], load=(*found, wrench))
        raise KeyError(f"inputs: there is no input {shown(name)}{suggestion(name, self.input_names)}")

    @property
    def input_names(self) -> list[str]:
        """Names that are suggested for unknown ones."""
        driven = [derivative(each.joint.name, 2) for each in self.system.actuators]
        return [*self.system.inputs, *driven, *(f"tip.{each}" for each in WRENCH_COMPONENTS)]

    # --- outputs ---

    def output(self, name: str) -> Output:
        """Return an output by name; raise KeyError with the nearest name if there is none."""
        found = self.find(name)
        if found is None:
            raise KeyError(f"outputs: there is no output {shown(name)}{suggestion(name, self.output_names)}")
        return found

    def find(self, name: str) -> Output | None:
        """Return an output by name; None if there is none."""
        require_order(name)
        base, order = split_derivative(name)
        for finder in (self._coordinate, self._point, self._deflection, self._section):
            if (found := finder(name, base, order)) is not None:
                return found
        return self._reaction(name) if order == 0 else None

    @property
    def output_names(self) -> list[str]:
        """Names that are suggested for unknown ones."""
        links = [link.name for link in self.system.robot.links]
        frames = [frame.name for frame in self.system.robot.frames]
        bent = [link.name for link in self.system.robot.links if link.flexible is not None]
        return [
            *self.system.names,
            *(
                f"{place}.{axis}"
                for place in ("tip", *self.points, *frames, *(f"{link}.tip" for link in links))
                for axis in AXES
            ),
            *(derivative(each, order) for order in (1, 2) for each in self.system.names),
            *(f"deflection.{link}.{axis}" for link in bent for axis in AXES),
            *(f"{link}.strain(0)" for link in bent),
            *(f"{link}.{what}(0)" for link in links for what in ("moment", *SECTION_COMPONENTS)),
            *(f"reaction.{link}.{each}" for link in links for each in WRENCH_COMPONENTS),
            *(f"reaction.{row}" for row in self.system.constraints),
        ]

    def _coordinate(self, name: str, base: str, order: int) -> Output | None:
        system = self.system
        if base not in system.names:
            return None
        k = system.index(base)
        return Output(name, derivative_unit(system.units[k], order), order, lambda: system.equations.q[k])

    def _point(self, name: str, base: str, order: int) -> Output | None:
        place, _, axis = base.rpartition(".")
        if axis not in AXES or (found := self._place(place)) is None:
            return None
        return Output(
            name,
            derivative_unit("m", order),
            order,
            lambda: self._position(*found)[AXES.index(axis)],
            place=(self.system.place(*found), axis),
        )

    def _position(self, link: str, x: float | None) -> Any:
        """Return the position of a place as an expression of q."""
        system, equations, there = self.system, self.system.equations, Parameters()
        place = system.place(link, x)
        system.add_place(there, "place", place)
        return system.parametric.frame(place.link, there)(equations.q, self.stand_in(there.vector), equations.p)[1]

    def _deflection(self, name: str, base: str, order: int) -> Output | None:
        word, _, rest = base.partition(".")
        link, _, axis = rest.rpartition(".")
        names = [each.name for each in self.system.robot.links]
        if word != "deflection" or axis not in AXES or link not in names:
            return None
        equations, number = self.system.equations, names.index(link)
        return Output(
            name, derivative_unit("m", order), order, lambda: equations.tip_deflection(number)[AXES.index(axis)]
        )

    def _section(self, name: str, base: str, order: int) -> Output | None:
        """Strain, force or moment of a section of a link."""
        found = split_section(base)
        if found is None or found.link not in [each.name for each in self.system.robot.links]:
            return None
        link, what, arguments = found
        if what == "strain":
            return self._gauge_output(name, link, arguments, order)
        if order:
            return None
        if what == "moment":
            what = self._bent(name, link)
        if what not in SECTION_COMPONENTS:
            return None
        system, component = self.system, SECTION_COMPONENTS.index(what)
        (x,) = read_numbers(name, arguments, 1)
        system.place(link, x)

        def cut(q: Array, v: Array, a: Array, loads: Any, forces: Any) -> Array:
            across = system.section_forces(link, x, q, v, a, loads=loads, constraint_forces=forces)
            return np.asarray(across[..., component])

        return Output(name, "N" if component < 3 else "N m", read=cut, place=(link, what, x))

    def _gauge_output(self, name: str, link: str, arguments: str, order: int) -> Output:
        """Return the strain of a link, or a derivative of it."""
        system = self.system
        x, y, z = self.gauge(name, link, arguments)
        at = (y, z) if "," in arguments else None  # checked against the section if it is given
        path = None if is_gripped(system.robot.link(link)) else lambda: self._strain(link, x, at)
        if order and path is None:
            raise ValueError(f"{name}: how fast strain changes is not known of a link that slides through its joint")
        return Output(
            name,
            derivative_unit("1", order),
            order,
            path,
            lambda q, v, a, loads, forces: system.strain(link, x, q, at=at),
            needs_forces=False,
            place=(link, "strain", x, y, z),
        )

    def _strain(self, link: str, x: float, at: tuple[float, float] | None) -> Any:
        """Return a strain as an expression, of a link that does not slide through its joint."""
        row = self.system._gauge_row(link, x, at)
        used = np.flatnonzero(row).tolist()
        return ca.dot(self.stand_in(row[used]), self.system.equations.q[used]) if used else ca.SX(0)

    def gauge(self, name: str, link: str, given: str) -> tuple[float, float, float]:
        """Return x and the point (y, z) of the section, from the text in brackets; on the surface unless given."""
        if given.count(",") == 2:
            x, y, z = read_numbers(name, given, 3)
            return x, y, z
        (x,) = read_numbers(name, given, 1)
        try:
            return x, *surface_point(self.system.robot.link(link), x)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def _bent(self, name: str, link: str) -> str:
        flexible = self.system.robot.link(link).flexible
        bends = [] if flexible is None else [each for each in ("bend_y", "bend_z") if getattr(flexible, each)]
        if len(bends) > 1:
            raise ValueError(f"{name}: link '{link}' bends both ways; take moment_y or moment_z")
        return "moment_y" if bends == ["bend_z"] else "moment_z"

    def _reaction(self, name: str) -> Output | None:
        word, _, rest = name.partition(".")
        if word != "reaction":
            return None
        system = self.system
        if rest in system.constraints:
            row = system.constraints.index(rest)
            return Output(name, system.constraint_rows[row].force_unit, row=row)
        link, _, component = rest.rpartition(".")
        if link not in [each.name for each in system.robot.links] or component not in WRENCH_COMPONENTS:
            return None
        k = WRENCH_COMPONENTS.index(component)

        def held(q: Array, v: Array, a: Array, loads: Any, forces: Any) -> Array:
            return np.asarray(system.reaction(link, q, v, a, loads=loads, constraint_forces=forces)[..., k])

        return Output(name, "N" if k < 3 else "N m", read=held)

    # --- places ---

    def place(self, at: Any) -> tuple[str, float | None]:
        """Return link and x of a place: "tip", a link, "fore(0.2)", a named point, or (link, x)."""
        links = [each.name for each in self.system.robot.links]
        if isinstance(at, (tuple, list)) and len(at) == 2:
            try:
                self.system.place(*at)
            except (KeyError, ValueError, TypeError) as error:
                raise type(error)(f"at: {error.args[0]}") from None
            return at[0], at[1]
        if not isinstance(at, str):
            raise TypeError(
                f"at = {shown(at)}: must be the name of a place, such as 'tip' or 'fore(0.2)', or (link, x)"
            )
        found = (at, None) if at in links and at not in self.points else self._place(at)
        if found is None:
            names = ["tip", *self.points, *links]
            raise KeyError(f"at: there is no place {shown(at)}{suggestion(at, names)}")
        return found

    def _place(self, word: str) -> tuple[str, float | None] | None:
        """A link and where on it, or a frame: `tip`, `fore.tip`, `fore(0.2)`, `tool` or a point of the user's."""
        links = [each.name for each in self.system.robot.links]
        if word in self.points:
            return self.points[word]
        if word == "tip":
            return self.system.robot.tip_name, None
        if word in [each.name for each in self.system.robot.frames]:
            return word, None
        if word.endswith(".tip") and word.removesuffix(".tip") in links:
            return word.removesuffix(".tip"), None
        found = split_place(word)
        if found is None or found[0] not in links:
            return None
        (x,) = read_numbers(word, found[1], 1)
        self.system.place(found[0], x)
        return found[0], x
