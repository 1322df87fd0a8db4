"""What sticks out of a joint on one side of it: the whole link, scaled to that length.

Slopes and strains grow as it gets shorter, and material flows through the shapes: d(N eta)/dt = N deta + Nc zeta.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.beam.sparsity import SparsityPatterns
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet
from flexarm.foundation.dataclass import dataclass
from flexarm.robot.flexibility import FAMILIES

if TYPE_CHECKING:
    from flexarm.beam.integrals import LinkIntegrals
    from flexarm.dynamics.bodies import ShapeSymbols, SymbolicBody
    from flexarm.dynamics.parameters import Numbers

TURNED = ca.DM([-1, 1, -1])


@dataclass(frozen=True)
class SlidingPart:
    """Its length in units of the link's, elastic coordinates, rates."""

    shapes: ShapeSymbols
    length: Any
    scale: Any
    rate: Any
    eta: Any
    deta: Any
    turned: bool

    def axes(self, vector: Any) -> Any:
        """A vector in the part's own axes, which run outward; or back."""
        return TURNED * vector if self.turned else vector

    @property
    def kind(self) -> PartKind:
        return part_kind(self.shapes.stiffening)

    @property
    def numbers(self) -> SymbolsUnder:
        return self.shapes.numbers

    @property
    def flow(self) -> Any:
        return self.rate / self.scale

    @property
    def zeta(self) -> Any:
        return self.flow * self.eta

    @property
    def strain(self) -> Any:
        """Elastic energy: strain goes with 1/scale once or twice, length with the scale."""
        energy = ca.SX(0)
        for name, place in self.shapes.columns.items():
            eta = self.eta[place, 0]
            energy += ca.dot(eta, self.numbers[f"{name}.K"] @ eta) / 2 / self.scale ** (2 * self.shapes.order(name) - 1)
        return energy

    @property
    def dissipation(self) -> Any:
        """Half the power lost."""
        n, half = self.numbers, ca.SX(0)
        for name, place in self.shapes.columns.items():
            order = self.shapes.order(name)
            deta, zeta = self.deta[place, 0], self.zeta[place, 0]
            if n["strain_rate"].nnz():
                power = form(deta, zeta, *(n[f"{name}.{each}"] for each in ("K", "K_mixed", "K_flowing")))
                half += n["strain_rate"] * power / self.scale ** (2 * order - 1)
            if n["alpha"].nnz():
                half += n["alpha"] * self.scale * ca.dot(deta, n[f"{name}.M"] @ deta) / 2
            if f"{name}.D_ratios" in n:  # frequencies go with 1/scale^order, masses with the scale
                half += ca.dot(deta, n[f"{name}.D_ratios"] @ deta) / 2 * self.scale ** (1 - order)
        return half

    def kinetic_of_sections(self, omega: Any) -> Any:
        """Sections that do not tilt turn about x with the twist, about y and z with slopes, which go with 1/scale."""
        n, scale = self.numbers, self.scale
        energy = scale * ca.dot(omega, n["section_inertia"] * omega) / 2
        for row in range(3):
            if f"turning.{row}.j" not in n:
                continue
            turning, lean = n.under(f"turning.{row}"), 1 if row == 0 else 1 / scale
            pushed = ca.dot(turning["j"], self.deta) + ca.dot(turning["j_c"], self.zeta)
            energy += omega[row] * scale * lean * pushed
            forms = (turning[each] for each in ("plain", "mixed", "flowing"))
            energy += scale * lean**2 * form(self.deta, self.zeta, *forms)
        return energy


@dataclass(frozen=True)
class MovingPart:
    """The same with rates, for places on it."""

    shapes: ShapeSymbols
    length: Any
    scale: Jet
    eta: Jet
    turned: bool

    @property
    def kind(self) -> PartKind:
        return part_kind(self.shapes.stiffening)

    def back(self, section: tuple[Jet, Jet]) -> tuple[Jet, Jet]:
        """Place and angles of a section in link axes."""
        place, angles = section
        return (place.through(ca.diag(TURNED)), angles.through(ca.diag(TURNED))) if self.turned else section


class PartKind(ABC):
    """Which theory a part follows. Sections are a place from the joint and angles about z, y, x, in part axes."""

    @abstractmethod
    def add_numbers(self, numbers: Numbers, path: str, part: SlidingIntegrals) -> None:
        """All that its energies need."""

    @abstractmethod
    def add_end(self, numbers: Numbers, path: str, part: LinkIntegrals) -> None:
        """What its end needs."""

    @abstractmethod
    def add_rail(self, numbers: Numbers, path: str, part: LinkIntegrals) -> None:
        """What a place anywhere on it needs."""

    @abstractmethod
    def kinetic(self, part: SlidingPart, omega: Any, v: Any) -> Any:
        """v is the velocity of the joint, in part axes like omega."""

    @abstractmethod
    def first(self, part: SlidingPart) -> Any:
        """First moment of its mass about the joint, in part axes."""

    @abstractmethod
    def end(self, part: MovingPart, there: SymbolsUnder) -> tuple[Jet, Jet]:
        """The section at its end."""

    @abstractmethod
    def sliding(self, part: MovingPart, rail: SymbolsUnder, X: Jet) -> tuple[Jet, Jet]:
        """The section at X, counted on the whole link that is scaled."""


def part_kind(stiffening: str) -> PartKind:
    from flexarm.dynamics.links.exact_part import ExactPart
    from flexarm.dynamics.links.second_order_part import SecondOrderPart

    return ExactPart() if stiffening == "exact" else SecondOrderPart()


def parts(body: SymbolicBody, x: Any, dx: Any) -> list[SlidingPart]:
    """Both sides of the joint, from the body's own coordinates and rates."""
    length, d, dd = body.length, x[body.local.joint], dx[body.local.joint]
    out = [SlidingPart(body.shapes, length, d / length, dd / length, body.front(x), body.front(dx), False)]
    if body.rear is not None:
        signs = _signs(body.rear)
        eta, deta = signs * body.behind(x), signs * body.behind(dx)
        out.append(SlidingPart(body.rear, length, (length - d) / length, -dd / length, eta, deta, True))
    return out


def moving_parts(body: SymbolicBody, own: Jet) -> list[MovingPart]:
    """Both sides of the joint, with their rates."""
    length, elastic, count = Jet.constant(body.length), own.of(body.local.elastic), body.shapes.count
    out = own.of(body.local.joint) / length
    found = [MovingPart(body.shapes, body.length, out, elastic.of(slice(0, count)), False)]
    if body.rear is not None:
        eta = elastic.of(slice(count, None)).through(ca.diag(_signs(body.rear)))
        found.append(MovingPart(body.rear, body.length, Jet.constant(1.0) - out, eta, True))
    return found


def _signs(shapes: ShapeSymbols) -> Any:
    """How deflections change their sign when the axes are turned."""
    return ca.DM(
        [FAMILIES[name].reversed_sign for name, place in shapes.columns.items() for _ in range(place.start, place.stop)]
    )


def form(deta: Any, zeta: Any, plain: Any, mixed: Any, flowing: Any) -> Any:
    return ca.dot(deta, plain @ deta) / 2 + ca.dot(deta, mixed @ zeta) + ca.dot(zeta, flowing @ zeta) / 2


def add_strain_by_family(numbers: Numbers, path: str, part: SlidingIntegrals) -> None:
    """Stiffness and damping of each family."""
    flexible, material, patterns = part.link.flexible, part.link.material, SparsityPatterns(part)
    if flexible is None or material is None or not part.count:
        return
    given = flexible.damping
    numbers.add_given(f"{path}.strain_rate", "s", material.damping + (0.0 if given is None else given.beta))
    numbers.add_given(f"{path}.alpha", "1/s", 0.0 if given is None else given.alpha)
    ratios = given is not None and given.ratio is not None
    numbers.fact(path, "damping ratios", ratios)
    for name in part.families:
        place = part.columns[name]
        overlap = patterns.overlap(name)
        plain, mixed, flowing = part.convected_damping[name]
        numbers.add(f"{path}.{name}.K", "J", plain, patterns.stiffness_of(name), symmetric=True)
        numbers.add(f"{path}.{name}.K_mixed", "J", mixed, overlap)
        numbers.add(f"{path}.{name}.K_flowing", "J", flowing, overlap, symmetric=True)
        mass, ones = part.M_elastic[place, place], patterns.unit_of(name)
        numbers.add(f"{path}.{name}.M", "kg m2", mass, patterns.mass_of(name), symmetric=True, ones=ones)
        if ratios:
            pattern = patterns.D_ratios[place, place]
            numbers.add(f"{path}.{name}.D_ratios", "J s", part.D_ratios[place, place], pattern, symmetric=True)


def add_turning(numbers: Numbers, path: str, part: SlidingIntegrals) -> None:
    """Of sections that turn without tilting."""
    patterns = SparsityPatterns(part)
    numbers.add(f"{path}.section_inertia", "kg m2", part.section_inertia, patterns.section_inertia)
    for row in range(3):
        if patterns.section_inertia[row]:
            j, j_c, plain, mixed, flowing = part.turning(row)
            stem, pattern = f"{path}.turning.{row}", patterns.turning(row)
            numbers.add(f"{stem}.j", "kg m2", j, patterns.j[row])
            # of slopes, integrated by parts, nothing is left of it
            j_c, flows = (j_c, patterns.j[row]) if row == 0 else (0 * j_c, np.zeros(part.count, dtype=bool))
            numbers.add(f"{stem}.j_c", "kg m2", j_c, flows)
            numbers.add(f"{stem}.plain", "kg m2", plain, pattern, symmetric=True)
            numbers.add(f"{stem}.mixed", "kg m2", mixed, pattern)
            numbers.add(f"{stem}.flowing", "kg m2", flowing, pattern, symmetric=True)
