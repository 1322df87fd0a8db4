"""From the numbers of a link's integrals to symbols: a non-dimensional number times powers of length and mass."""

from __future__ import annotations

from dataclasses import dataclass

from flexarm.beam.integrals import LinkIntegrals
from flexarm.robot import Elements, Reduced
from flexarm.symbolic.algebra import Expr, fraction, number


@dataclass(frozen=True)
class Power:
    """Powers of the link's length l, its mass m l and its polar inertia j l."""

    l: float = 0  # noqa: E741
    ml: float = 0
    jl: float = 0

    def __mul__(self, other: Power) -> Power:
        return Power(self.l + other.l, self.ml + other.ml, self.jl + other.jl)


@dataclass(frozen=True)
class Scales:
    """What the powers stand for: symbols, and the numbers they have in the robot."""

    symbols: tuple[Expr, Expr, Expr]
    values: tuple[float, float, float]

    def __call__(self, value: float, power: Power, unit: Expr = 1, unit_value: float = 1.0) -> Expr:
        """The quantity with that value, as a number times the powers (and one more factor, if given)."""
        if value == 0:
            return 0
        base, out = unit_value, unit
        exponents = (power.l, power.ml, power.jl)
        for exponent, size, of in zip(exponents, self.values, self.symbols, strict=True):
            if exponent:
                base, out = base * size**exponent, out * of ** _exact(exponent)
        return fraction(value / base) * out


def _exact(exponent: float) -> Expr:
    return number(2 * exponent) / number(2)


def coordinate_powers(integrals: LinkIntegrals) -> list[Power]:
    """How each shape function of a link scales: nodes deflect by 1 and lean by l, modes are mass-normalised."""
    flexible = integrals.link.flexible
    out: list[Power] = []
    for name, space in integrals.shapes.items():
        assert flexible is not None
        bends = name.startswith("bend")
        nodal = [Power(), Power(l=1)] if bends else [Power()]
        mode = Power(jl=-0.5) if name == "twist" else Power(ml=-0.5)
        if isinstance(flexible.basis, Elements):
            out += (nodal * space.count)[: space.count]
        else:
            at_tip = flexible.basis.tip_shapes(name) if isinstance(flexible.basis, Reduced) else 0
            out += [*nodal[:at_tip], *[mode] * (space.count - at_tip)]
    return out
