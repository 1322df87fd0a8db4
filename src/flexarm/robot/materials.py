"""What a link is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from .description import Description
from .errors import Problem
from .quantities import Quantity, nonnegative, positive

COMMON_POISSON_RATIO = 0.3
"""Taken when neither G nor nu is given: that of most metals."""


class Material(Description):
    """A linear elastic, isotropic material with Kelvin-Voigt damping: stress = E (strain + damping * strain rate)."""

    E: Annotated[float, positive("Pa")] = Field(description="Young's modulus (Pa)")
    rho: Annotated[float, positive("kg/m3")] = Field(description="density (kg/m3)")
    G: Annotated[float, positive("Pa")] | None = Field(None, description="shear modulus (Pa); give G or nu, not both")
    nu: Annotated[float, Quantity("", above=-1.0, most=0.5)] | None = Field(
        None, description="Poisson's ratio (no unit); 0.3 when neither G nor nu is given"
    )
    damping: Annotated[float, nonnegative("s")] = Field(0.0, description="Kelvin-Voigt time constant (s)")

    if TYPE_CHECKING:

        def __init__(
            self, E: float, rho: float, G: float | None = None, nu: float | None = None, damping: float = 0.0
        ) -> None: ...

    @property
    def shear_modulus(self) -> float:
        """G, or E / (2 (1 + nu)) (Pa).

        >>> f"{Material(E=2.1e11, rho=7850, nu=0.3).shear_modulus:.3g}"
        '8.08e+10'
        """
        if self.G is not None:
            return self.G
        return self.E / (2.0 * (1.0 + (COMMON_POISSON_RATIO if self.nu is None else self.nu)))

    def conflicts(self) -> Iterator[Problem]:
        if self.G is not None and self.nu is not None:
            yield Problem("nu", self.nu, "must be left out when G is given, since E and G determine it")

    def unit_warnings(self) -> list[tuple[str, str]]:
        found = []
        if self.E < 1e6:
            unit = "GPa" if self.E < 1e4 else "MPa"
            found.append(("E", f"looks like {unit}; E is in Pa (steel 2.1e11)"))
        elif self.E > 2e13:
            found.append(("E", "is stiffer than any material; E is in Pa (steel 2.1e11)"))
        if self.rho < 20:
            found.append(("rho", "looks like g/cm3; rho is in kg/m3 (steel 7850)"))
        elif self.rho > 3e4:
            found.append(("rho", "is denser than any material; rho is in kg/m3 (steel 7850)"))
        return found
