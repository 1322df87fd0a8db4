"""Shapes of constant cross-sections, and their properties."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, hypot, pi
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from flexarm.foundation.messages import format_number
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import positive
from flexarm.robot.sections.base import ConstantSection, SectionProperties

EDGE_TOLERANCE = 1e-9  # relative to a dimension; points on an edge belong to the section in spite of rounding


Length = Annotated[float, positive("m")]


class Rectangle(ConstantSection):
    """Solid rectangle."""

    shape: Literal["rectangle"] = Field("rectangle", description="kind of section")
    width: Length = Field(description="extent along y (m)")
    height: Length = Field(description="extent along z (m)")

    if TYPE_CHECKING:

        def __init__(self, width: float, height: float) -> None: ...

    def numbers(self) -> SectionProperties:
        b, h = self.width, self.height
        torsion, shear = _rectangle_torsion(max(b, h), min(b, h)), 5 / 6 * b * h
        return _with_polar(b * h, b * h**3 / 12, h * b**3 / 12, torsion, shear, shear)

    def holds(self, y: float, z: float) -> bool:
        return _within(y, z, self.width, self.height)

    def extents(self) -> dict[str, float]:
        return {"width": self.width, "height": self.height}


class Circle(ConstantSection):
    """Solid circle."""

    shape: Literal["circle"] = Field("circle", description="kind of section")
    diameter: Length = Field(description="diameter (m)")

    if TYPE_CHECKING:

        def __init__(self, diameter: float) -> None: ...

    def numbers(self) -> SectionProperties:
        return _ring(self.diameter, 0.0)

    def holds(self, y: float, z: float) -> bool:
        return 2 * hypot(y, z) <= self.diameter * (1 + EDGE_TOLERANCE)

    def extents(self) -> dict[str, float]:
        return {"diameter": self.diameter}


class Tube(ConstantSection):
    """Round tube."""

    shape: Literal["tube"] = Field("tube", description="kind of section")
    outer: Length = Field(description="outer diameter (m)")
    inner: Length = Field(description="inner diameter (m), smaller than the outer one")

    if TYPE_CHECKING:

        def __init__(self, outer: float, inner: float) -> None: ...

    def numbers(self) -> SectionProperties:
        return _ring(self.outer, self.inner)

    def holds(self, y: float, z: float) -> bool:
        return self.inner * (1 - EDGE_TOLERANCE) <= 2 * hypot(y, z) <= self.outer * (1 + EDGE_TOLERANCE)

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.inner >= self.outer:
            yield DescriptionProblem(
                "inner", self.inner, f"must be smaller than outer = {format_number(self.outer)} (m)"
            )

    def extents(self) -> dict[str, float]:
        return {"outer": self.outer}


class Box(ConstantSection):
    """Rectangular hollow section, with the torsion constant (Bredt) and shear areas of thin walls at their mid line."""

    shape: Literal["box"] = Field("box", description="kind of section")
    width: Length = Field(description="outer extent along y (m)")
    height: Length = Field(description="outer extent along z (m)")
    thickness: Length = Field(description="thickness of the walls (m), less than half the smaller side")

    if TYPE_CHECKING:

        def __init__(self, width: float, height: float, thickness: float) -> None: ...

    def numbers(self) -> SectionProperties:
        b, h, t = self.width, self.height, self.thickness
        b_in, h_in, b_mid, h_mid = b - 2 * t, h - 2 * t, b - t, h - t
        return _with_polar(
            b * h - b_in * h_in,
            (b * h**3 - b_in * h_in**3) / 12,
            (h * b**3 - h_in * b_in**3) / 12,
            2 * t * (b_mid * h_mid) ** 2 / (b_mid + h_mid),
            _thin_walled_shear(2 * t, b_mid, h_mid, t),
            _thin_walled_shear(2 * t, h_mid, b_mid, t),
        )

    def holds(self, y: float, z: float) -> bool:
        b, h, t = self.width, self.height, self.thickness
        wall = 2 * abs(y) >= (b - 2 * t) * (1 - EDGE_TOLERANCE) or 2 * abs(z) >= (h - 2 * t) * (1 - EDGE_TOLERANCE)
        return wall and _within(y, z, b, h)

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if 2 * self.thickness >= (side := min(self.width, self.height)):
            yield DescriptionProblem(
                "thickness", self.thickness, f"must be less than half the smaller side {format_number(side)} (m)"
            )

    def extents(self) -> dict[str, float]:
        return {"width": self.width, "height": self.height}


class IBeam(ConstantSection):
    """I-beam with its web along z.

    The torsion constant is the sum of b t^3 / 3 over flanges and web. Flanges carry shear along y, the web along z, as
    thin walls.
    """

    shape: Literal["ibeam"] = Field("ibeam", description="kind of section")
    width: Length = Field(description="width of the flanges along y (m)")
    height: Length = Field(description="whole height along z (m)")
    flange: Length = Field(description="thickness of each flange (m), less than half the height")
    web: Length = Field(description="thickness of the web (m), at most the width")

    if TYPE_CHECKING:

        def __init__(self, width: float, height: float, flange: float, web: float) -> None: ...

    def numbers(self) -> SectionProperties:
        b, h, f, w = self.width, self.height, self.flange, self.web
        clear = h - 2 * f
        return _with_polar(
            2 * b * f + clear * w,
            (b * h**3 - (b - w) * clear**3) / 12,
            (2 * f * b**3 + clear * w**3) / 12,
            (2 * b * f**3 + clear * w**3) / 3,
            5 / 6 * 2 * b * f,  # two rectangles
            _thin_walled_shear(w, h - f, b, f),
        )

    def holds(self, y: float, z: float) -> bool:
        in_web, in_flange = (
            2 * abs(y) <= self.web * (1 + EDGE_TOLERANCE),
            2 * abs(z) >= (self.height - 2 * self.flange) * (1 - EDGE_TOLERANCE),
        )
        return (in_web or in_flange) and _within(y, z, self.width, self.height)

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if 2 * self.flange >= self.height:
            yield DescriptionProblem(
                "flange", self.flange, f"must be less than half of height = {format_number(self.height)} (m)"
            )
        if self.web > self.width:
            yield DescriptionProblem("web", self.web, f"must be at most width = {format_number(self.width)} (m)")

    def extents(self) -> dict[str, float]:
        return {"width": self.width, "height": self.height}


Area = Annotated[float, positive("m2")]
SecondMoment = Annotated[float, positive("m4")]


class Properties(ConstantSection):
    """Section given by its numerical properties."""

    shape: Literal["properties"] = Field("properties", description="kind of section")
    A: Area = Field(description="area (m2)")
    I_y: SecondMoment = Field(description="integral of z^2 dA, resists bending in z (m4)")
    I_z: SecondMoment = Field(description="integral of y^2 dA, resists bending in y (m4)")
    J: SecondMoment | None = Field(None, description="torsion constant (m4); I_y + I_z unless given")
    I_p: SecondMoment | None = Field(None, description="polar moment of area (m4); I_y + I_z unless given")
    shear_y: Area | None = Field(
        None,
        description="area that resists shear along y (m2), 5/6 A for a rectangle; bending in y with shear needs it",
    )
    shear_z: Area | None = Field(None, description="area that resists shear along z (m2), likewise")

    if TYPE_CHECKING:

        def __init__(
            self,
            A: float,
            I_y: float,
            I_z: float,
            J: float | None = None,
            I_p: float | None = None,
            shear_y: float | None = None,
            shear_z: float | None = None,
        ) -> None: ...

    def numbers(self) -> SectionProperties:
        polar = self.I_y + self.I_z
        return SectionProperties(
            self.A, self.I_y, self.I_z, self.J or polar, self.I_p or polar, self.shear_y, self.shear_z
        )


PlainSection = Annotated[Rectangle | Circle | Tube | Box | IBeam | Properties, Field(discriminator="shape")]


def _within(y: float, z: float, width: float, height: float) -> bool:
    return 2 * abs(y) <= width * (1 + EDGE_TOLERANCE) and 2 * abs(z) <= height * (1 + EDGE_TOLERANCE)


def _with_polar(A: float, I_y: float, I_z: float, J: float, shear_y: float, shear_z: float) -> SectionProperties:
    return SectionProperties(A, I_y, I_z, J, I_y + I_z, shear_y, shear_z)


def _ring(outer: float, inner: float) -> SectionProperties:
    second = pi * (outer**4 - inner**4) / 64
    area, ratio = pi * (outer**2 - inner**2) / 4, (inner / outer) ** 2
    shear = area * 6 * (1 + ratio) ** 2 / (7 * (1 + ratio) ** 2 + 20 * ratio)  # 6/7 for a bar, 1/2 for a thin tube
    return _with_polar(area, second, second, 2 * second, shear, shear)


def _thin_walled_shear(web: float, height: float, width: float, flange: float) -> float:
    """Return the shear area along webs of a total thickness between two flanges (Cowper 1966 at nu = 0).

    It is I^2 / int q^2 / thickness with the shear flow q in webs and flanges for a force I.
    """
    m, n = 2 * width * flange / (web * height), width / height
    return 10 * web * height * (1 + 3 * m) ** 2 / (12 + 60 * m + 90 * m**2 + 30 * m * n**2)


def _rectangle_torsion(a: float, b: float) -> float:
    """Return Saint-Venant's torsion constant of a rectangle with long side a (Timoshenko & Goodier, art. 109).

    J = a b^3 (1/3 - 64/pi^5 b/a sum over odd n of tanh(n pi a / 2b) / n^5), with tanh = 1 - 2/(e^(n pi a/b) + 1)
    so that the slow part sums to 31 zeta(5)/32 and the rest falls like e^(-n pi).
    """
    slow = 31 / 32 * 1.0369277551433699263
    fast = sum(2 * exp(-n * pi * a / b) / ((1 + exp(-n * pi * a / b)) * n**5) for n in (1, 3, 5, 7, 9))
    return a * b**3 * (1 / 3 - 64 / pi**5 * (b / a) * (slow - fast))
