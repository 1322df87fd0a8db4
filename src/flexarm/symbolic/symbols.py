"""Symbols of a closed form with the names of the papers, its coordinates, and abbreviations of common subexpressions.

Deflection and slope at a joint (u_f and u_s in the papers) and shape functions at sliding joints are abbreviated, so
that entries of M and their derivatives remain small sums of products.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from keyword import iskeyword, softkwlist
from typing import Any

import numpy as np
import symengine

from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.bodies import elastic_drive
from flexarm.foundation.messages import shown, suggestion
from flexarm.robot import Elements, FixedPrismatic, Link, Reduced
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import Freedom, Joint
from flexarm.symbolic import algebra
from flexarm.symbolic.algebra import Expr, number, symbol
from flexarm.symbolic.checks import clamped_nodes, has_mesh_contact, is_meshed

# Names of arguments, results and intermediate values in generated functions
RESERVED_SYMBOLS = {*"qvpMCKDGEI", "math", "numpy", "cos", "sin", "tanh", "sqrt", "pi"}
_INTERMEDIATE = re.compile(
    r"x\d*|(angle|sum)_\d+|(d*([NWTSHQL]|xf|uf|wf|c[xyz]|I[xyz]{1,2}|k[xyz])|t|us|ws|phis|sigma|chi)_\w+"
)

_C = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main memset "
    "NULL acos asin atan atan2 ceil cosh exp fabs floor fmod log pow sinh tan cbrt hypot fmin fmax"
)
_MATLAB = "case catch classdef end function global otherwise parfor persistent spmd switch zeros nargin Inf NaN i j"
LANGUAGE_WORDS = {*_C.split(), *_MATLAB.split(), *softkwlist, *dir(builtins), "NAMES", "PARAMETERS", "np"}
"""Words of C, Python and MATLAB that cannot be names in generated functions."""


def is_reserved_word(name: str) -> bool:
    return iskeyword(name) or name in LANGUAGE_WORDS or name in RESERVED_SYMBOLS


@dataclass(frozen=True)
class SymbolInfo:
    """Symbol with its LaTeX form, meaning and unit."""

    symbol: str
    latex: str
    meaning: str
    unit: str


class ClosedFormSymbols:
    """Symbols of a closed form, with checks that their names are valid and unique.

    `parameters` is "symbolic", "numeric" (parameters are replaced by their values), or the names of those to keep as
    symbols; `rename` maps default names to new ones.
    """

    def __init__(self, parameters: str | Collection[str], rename: Mapping[str, str]) -> None:
        are_names = isinstance(parameters, Collection) and all(isinstance(each, str) for each in parameters)
        if not are_names or (isinstance(parameters, str) and parameters not in ("symbolic", "numeric")):
            raise ValueError(
                f"parameters = {shown(parameters)}: must be 'symbolic', 'numeric' or a list of the symbols to keep"
            )
        self._keep = parameters if isinstance(parameters, str) else set(parameters)
        if not isinstance(rename, Mapping):
            raise ValueError(f"rename = {shown(rename)}: must be a mapping from symbols to names, {{'m_1': 'mu'}}")
        for name, new in rename.items():
            if not isinstance(new, str):
                raise ValueError(f"rename '{name}' to {shown(new)}: must be a name")
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", new) or iskeyword(new):
                raise ValueError(f"rename '{name}' to {shown(new)}: must be letters, digits and _ that code can use")
            if new in RESERVED_SYMBOLS or _INTERMEDIATE.fullmatch(new):
                raise ValueError(f"rename '{name}' to '{new}': the generated functions use that name themselves")
            if is_reserved_word(new):
                raise ValueError(f"rename '{name}' to '{new}': is a word of C, Python or MATLAB; choose another name")
        self._rename = dict(rename)
        self._default_names: set[str] = set()
        self._parameter_names: set[str] = set()
        self.parameters: dict[str, SymbolInfo] = {}
        self.values: dict[str, float] = {}

    def variable(self, name: str) -> str:
        """Return the name of a coordinate, a rate or a torque after renaming."""
        self._default_names.add(name)
        return self._rename.get(name, name)

    def parameter(self, name: str, value: float, meaning: str, unit: str) -> Expr:
        """Return a parameter of the robot as a symbol or as its value."""
        self._parameter_names.add(name)
        if not (self._keep == "symbolic" or name in self._keep):
            return number(value)
        own = self.variable(name)
        new = SymbolInfo(own, latex_name(own), meaning, unit)
        _require_same(self.parameters.setdefault(own, new), new)
        self.values[own] = float(value)
        return symbol(own)

    def check(self, variables: list[SymbolInfo]) -> None:
        """Raise ValueError for symbols with the same name, and for names of symbols that do not exist."""
        found: dict[str, SymbolInfo] = {}
        for each in [*variables, *self.parameters.values()]:
            _require_same(found.setdefault(each.symbol, each), each)
        kept = [] if isinstance(self._keep, str) else sorted(self._keep)
        for what, names, known in (
            ("rename", self._rename, self._default_names),
            ("parameters", kept, self._parameter_names),
        ):
            for name in names:
                if name not in known:
                    raise ValueError(f"{what}: there is no symbol '{name}'{suggestion(name, sorted(known))}")


def _require_same(one: SymbolInfo, other: SymbolInfo) -> None:
    if one != other:
        raise ValueError(
            f"the symbol '{one.symbol}' would mean two things: {one.meaning} and {other.meaning}; choose another name "
            "for one of them"
        )


def latex_name(name: str) -> str:
    """Return the LaTeX form of a name: \\theta_{1} for `theta_1`, u_{1(3)} for `u_1_3`, EI_{1} for `EI_1`."""
    head, *rest = name.split("_")
    greek = {"alpha", "beta", "gamma", "eta", "theta", "kappa", "tau", "phi", "zeta", "sigma", "chi"}
    letter = "\\" + head if head in greek else head
    if not rest:
        return letter
    index = rest[0] + "".join(f"({each})" for each in rest[1:])
    return f"{letter}_{{{index}}}"


def rate_latex(latex: str) -> str:
    """Return the LaTeX form of the rate of a coordinate."""
    letter, underscore, index = latex.partition("_")
    return f"\\dot{{{letter}}}{underscore}{index}"


class Abbreviations:
    """Abbreviations with their definitions and derivatives by coordinates, whose indices are in `q`."""

    def __init__(self, q: Mapping[Expr, int]) -> None:
        self.q = q
        self.definitions: dict[Expr, Expr] = {}
        self.latex: dict[str, str] = {}
        self._names: dict[Expr, Expr] = {}
        self._slopes: dict[Expr, Callable[[Expr], Expr]] = {}

    def name(self, label: str, expression: Expr) -> Expr:
        """Return the abbreviation of an expression; symbols and numbers are returned unchanged."""
        expression = symengine.sympify(expression)
        if expression.is_Symbol or expression.is_Number:
            return expression
        if expression not in self._names:
            self._names[expression] = self.define(label, expression, lambda by: self.diff(expression, by))
        return self._names[expression]

    def name_with_derivatives(self, label: str, expression: Expr, by: tuple[int, ...] = ()) -> Expr:
        """Return the abbreviation of an expression and of its derivatives `by` coordinates, xf_{1,2} in LaTeX."""
        expression = symengine.sympify(expression)
        if expression.is_Symbol or not self.coordinates([expression]):
            return expression
        if expression not in self._names:
            latex = f"{latex_name(label)[:-1]},{' '.join(map(str, by))}}}" if by else None

            def slope(at: Expr) -> Expr:
                own = label if by else str(self._names[expression])
                again = tuple(sorted((*by, self.q[at] + 1)))
                return self.name_with_derivatives(own, self.diff(expression, at), again)

            own = "_".join(["d" * len(by) + label, *map(str, by)])
            self._names[expression] = self.define(own, expression, slope, latex)
        return self._names[expression]

    def define(self, label: str, expression: Expr, slope: Callable[[Expr], Expr], latex: str | None = None) -> Expr:
        """Define a new abbreviation with a function that returns its derivative with respect to a coordinate."""
        own = next(name for k in count(1) if (name := f"{label}_{k}" if k > 1 else label) not in self.latex)
        found = symbol(own)
        self.definitions[found], self._slopes[found] = expression, slope
        self.latex[own] = latex_name(own) if latex is None else latex
        return found

    def diff(self, expression: Any, by: Expr) -> Any:
        """Return the derivative of an expression, or of a vector, by a coordinate, including that of abbreviations."""
        if isinstance(expression, np.ndarray):
            return np.array([self.diff(each, by) for each in expression], dtype=object)
        out = algebra.diff(expression, by)
        for each in self._abbreviations_in([expression]):
            if (slope := self._slopes[each](by)) != 0:
                out += algebra.diff(expression, each) * slope
        return out

    def coordinates(self, expressions: Iterable[Expr]) -> list[tuple[Expr, int]]:
        """Return the coordinates on which expressions depend with their indices, in order."""
        found: dict[Expr, int] = {}
        inner = list(expressions)
        while inner:
            found |= {each: self.q[each] for part in inner for each in _symbols_in(part) if each in self.q}
            inner = [self.definitions[each] for each in self._abbreviations_in(inner)]
        return sorted(found.items(), key=lambda pair: pair[1])

    def _abbreviations_in(self, expressions: Iterable[Expr]) -> list[Expr]:
        if not self.definitions:
            return []
        return [each for part in expressions for each in _symbols_in(part) if each in self.definitions]

    def expanded(self, expression: Expr) -> Expr:
        """Return an expression without abbreviations."""
        while inner := self._abbreviations_in([expression]):
            expression = symengine.sympify(expression).subs({each: self.definitions[each] for each in inner})
        return expression

    def used(self, expressions: Iterable[Expr]) -> list[tuple[Expr, Expr]]:
        """Return the definitions on which expressions depend, each after those that it depends on."""
        found: dict[Expr, Expr] = {}

        def visit(expression: Expr) -> None:
            for each in sorted(set(self._abbreviations_in([expression])), key=str):
                if each not in found:
                    visit(self.definitions[each])
                    found[each] = self.definitions[each]

        for expression in expressions:
            visit(expression)
        return list(found.items())


def _symbols_in(expression: Expr) -> set[Expr]:
    return symengine.sympify(expression).free_symbols  # type: ignore[no-any-return]


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

    joints: list[int] = field(default_factory=list)
    motor: int | None = None
    front: list[int] = field(default_factory=list)
    rear: list[int] = field(default_factory=list)
    mesh: list[int | None] = field(default_factory=list)

    @property
    def joint(self) -> int | None:
        """Index of the coordinate of a joint with one freedom; None for other joints."""
        return self.joints[0] if len(self.joints) == 1 else None

    @property
    def actuated(self) -> list[int]:
        """Indices of the coordinates on which actuators of the joint act."""
        return self.joints if self.motor is None else [self.motor]


def joint_freedoms(n: int, joint: Joint) -> list[tuple[str, Freedom]]:
    """Return the freedoms of joint n with the index of their symbols: n, or n_1, n_2, ... if there are several."""
    several = len(joint.freedoms) > 1
    return [(f"{n}_{k}" if several else str(n), freedom) for k, freedom in enumerate(joint.freedoms, 1)]


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
        for place, (name, freedom) in enumerate(joint_freedoms(n, link.joint)):
            letter, what = ("theta", "angle") if freedom.unit == "rad" else ("d", "extension")
            of = f"of joint {n} ({link.name})"
            own.joints.append(
                self._new(f"{link.name}.{freedom.name}", f"{letter}_{name}", f"{what} {of}", freedom.unit)
            )
            if elastic_drive(link):
                meaning = f"motor {of}, in the joint's units"
                own.motor = self._new(f"{link.name}.motor", f"{letter}_m{name}", meaning, freedom.unit)
            if not link.joint.actuated:
                continue
            torque, drive = self._symbols.variable(f"tau_{name}"), getattr(link.joint, "drive", None)
            at_motor = drive is not None and drive.torque_at == "motor"
            meaning = f"{'torque' if freedom.unit == 'rad' else 'force'} of the actuator {of}"
            meaning += ", at the motor's shaft" if at_motor else ""
            unit = "N m" if at_motor else freedom.force_unit
            self.torques[own.actuated[place]] = SymbolInfo(torque, latex_name(torque), meaning, unit)
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
