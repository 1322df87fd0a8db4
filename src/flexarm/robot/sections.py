"""Cross-sections of a link.

Axes: x runs along the link; `width` extends along y, `height` along z, both centred on the axis.
I_z = integral of y^2 dA resists bending in y, I_y = integral of z^2 dA resists bending in z. The shear areas shear_y
and shear_z are those of a uniform shear strain with the same force, after Cowper (1966) for nu = 0; for nu = 0.3 they
would be 2 % (rectangle) to 6 % (thin tube) larger.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from math import exp, hypot, pi
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import format_number, shown
from flexarm.foundation.validation import real
from flexarm.robot.description import Description, lazy_property
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Quantity, positive

EDGE_TOLERANCE = 1e-9  # relative to a dimension; points on an edge belong to the section in spite of rounding


@dataclass(frozen=True)
class SectionProperties:
    """Numerical properties of a section.

    Parameters
    ----------
    A : float
        Area (m2).
    I_y, I_z, J, I_p : float
        Second moments of area, torsion constant and polar moment (m4).
    shear_y, shear_z : float, optional
        Shear areas along y and z (m2); None if unknown.
    """

    A: float
    I_y: float
    I_z: float
    J: float
    I_p: float
    shear_y: float | None = None
    shear_z: float | None = None


class Section(Description):
    """Cross-section of a link, uniform or varying along it.

    Sections are created by the static methods: `rectangle`, `circle`, `tube`, `box`, `ibeam`, `properties`, `tapered`
    and `stepped`.

    Examples
    --------
    >>> Section.tube(outer=0.06, inner=0.05).extents()
    {'outer': 0.06}
    """

    tag: ClassVar[str | None] = "shape"

    @abstractmethod
    def at(self, xi: float) -> SectionProperties:
        """Return the properties at a fraction of the link's length.

        Parameters
        ----------
        xi : float
            Fraction of the length, between 0 and 1.

        Returns
        -------
        SectionProperties
            Area `A`, moments `I_y`, `I_z`, `J`, `I_p`, shear areas `shear_y`, `shear_z` (m2, m4).
        """

    def has(self, xi: float, y: float, z: float) -> bool | None:
        """Return True if a point is inside the section.

        Parameters
        ----------
        xi : float
            Fraction of the length, between 0 and 1.
        y, z : float
            Point in the axes of the section (m).

        Returns
        -------
        bool or None
            None if the shape is unknown, as for `Section.properties`.
        """
        shape = self.plain_at(xi)
        return None if shape is None else shape.holds(y, z)

    def plain_at(self, xi: float) -> ConstantSection | None:
        """Return the constant section at a fraction of the link's length.

        Parameters
        ----------
        xi : float
            Fraction of the length, between 0 and 1.

        Returns
        -------
        Section or None
            None if the shape is unknown.
        """
        return None

    @property
    def breaks(self) -> tuple[float, ...]:
        """Interior fractions of the length where the properties jump."""
        return ()

    @property
    @abstractmethod
    def uniform(self) -> bool:
        """True if the section is the same along the whole link."""

    @property
    def plain_sections(self) -> dict[str, ConstantSection]:
        """Constant sections that this section consists of, by their paths ("root.")."""
        return {}

    def extents(self) -> dict[str, float]:
        """Return the outer dimensions.

        Returns
        -------
        dict of str to float
            Dimensions by field (m).
        """
        return {}

    @staticmethod
    def rectangle(width: float, height: float) -> Rectangle:
        """Return a solid rectangle.

        Parameters
        ----------
        width, height : float
            Extents along y and along z (m).

        Returns
        -------
        Rectangle
            Section.

        Examples
        --------
        >>> bar = Section.rectangle(0.02, 0.03).at(0)
        >>> f"A = {bar.A:.1e} m2, I_y = {bar.I_y:.1e} m4, I_z = {bar.I_z:.1e} m4"
        'A = 6.0e-04 m2, I_y = 4.5e-08 m4, I_z = 2.0e-08 m4'
        """
        return Rectangle(width, height)

    @staticmethod
    def circle(diameter: float) -> Circle:
        """Return a solid circle.

        Parameters
        ----------
        diameter : float
            Diameter (m).

        Returns
        -------
        Circle
            Section.
        """
        return Circle(diameter)

    @staticmethod
    def tube(outer: float, inner: float) -> Tube:
        """Return a round tube.

        Parameters
        ----------
        outer, inner : float
            Outer and inner diameter (m).

        Returns
        -------
        Tube
            Section.

        Examples
        --------
        >>> Section.tube(0.05, 0.06)
        Traceback (most recent call last):
        flexarm.robot.errors.DescriptionError: inner = 0.06: must be smaller than outer = 0.05 (m)
        """
        return Tube(outer, inner)

    @staticmethod
    def box(width: float, height: float, thickness: float) -> Box:
        """Return a rectangular hollow section.

        Parameters
        ----------
        width, height : float
            Outer extents along y and along z (m).
        thickness : float
            Thickness of the walls (m).

        Returns
        -------
        Box
            Section, with torsion constant and shear areas of thin walls.
        """
        return Box(width, height, thickness)

    @staticmethod
    def ibeam(width: float, height: float, flange: float, web: float) -> IBeam:
        """Return an I-beam with its web along z.

        Parameters
        ----------
        width, height : float
            Width of the flanges along y and whole height along z (m).
        flange, web : float
            Thicknesses of each flange and of the web (m).

        Returns
        -------
        IBeam
            Section, with torsion constant and shear areas of thin walls.
        """
        return IBeam(width, height, flange, web)

    @staticmethod
    def properties(
        A: float,
        I_y: float,
        I_z: float,
        J: float | None = None,
        I_p: float | None = None,
        shear_y: float | None = None,
        shear_z: float | None = None,
    ) -> Properties:
        """Return a section given by its numerical properties.

        Parameters
        ----------
        A : float
            Area (m2).
        I_y, I_z : float
            Second moments of area (m4): I_y, the integral of z^2, resists bending in z, and I_z bending in y.
        J, I_p : float, optional
            Torsion constant and polar moment of area (m4); I_y + I_z by default.
        shear_y, shear_z : float, optional
            Shear areas along y and z (m2), required for bend_y and bend_z with shear.

        Returns
        -------
        Properties
            Section.
        """
        return Properties(A, I_y, I_z, J, I_p, shear_y, shear_z)

    @staticmethod
    def tapered(root: PlainSection, tip: PlainSection) -> Tapered:
        """Return a section whose dimensions vary linearly along the link.

        Parameters
        ----------
        root, tip : Section
            Constant sections of the same shape at both ends.

        Returns
        -------
        Tapered
            Section.

        Examples
        --------
        >>> cone = Section.tapered(Section.circle(0.04), Section.circle(0.02))
        >>> cone.at(0.5) == Section.circle(0.03).at(0)
        True
        """
        return Tapered(root, tip)

    @staticmethod
    def stepped(pieces: Iterable[SectionPiece | Mapping[str, Any]]) -> Stepped:
        """Return a section with pieces of different constant sections.

        Parameters
        ----------
        pieces : iterable of mapping
            Pieces from root to tip, each `{"upto": fraction of the length, "section": constant section}`; the last
            ends at 1.

        Returns
        -------
        Stepped
            Section.

        Examples
        --------
        >>> thick, thin = Section.circle(0.04), Section.circle(0.02)
        >>> Section.stepped([{"upto": 0.3, "section": thick}, {"upto": 1.0, "section": thin}]).breaks
        (0.3,)
        """
        given = tuple(pieces) if isinstance(pieces, Iterable) and not isinstance(pieces, Mapping) else pieces
        return Stepped(given)  # refuses anything else


class ConstantSection(Section):
    """Section that is constant along the link."""

    @abstractmethod
    def numbers(self) -> SectionProperties:
        """Return the properties of this shape."""

    def holds(self, y: float, z: float) -> bool | None:
        """Return True if the point (y, z) is inside, edges included; None if the shape is unknown."""
        return None

    def plain_at(self, xi: float) -> ConstantSection:
        _check_fraction(xi)
        return self

    def at(self, xi: float) -> SectionProperties:
        _check_fraction(xi)
        return self._numbers

    @lazy_property
    def _numbers(self) -> SectionProperties:
        return self.numbers()

    @property
    def uniform(self) -> bool:
        return True

    @property
    def plain_sections(self) -> dict[str, ConstantSection]:
        return {"": self}


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


class Tapered(Section):
    """Section whose dimensions (for `properties`, whose numbers) vary linearly from root to tip."""

    shape: Literal["tapered"] = Field("tapered", description="kind of section")
    root: PlainSection = Field(description="section at the root")
    tip: PlainSection = Field(description="section at the tip, of the same shape as the root's")

    if TYPE_CHECKING:

        def __init__(self, root: PlainSection, tip: PlainSection) -> None: ...

    def at(self, xi: float) -> SectionProperties:
        _check_fraction(xi)
        if isinstance(self.root, Properties):
            root, tip = self.root.numbers(), self.tip.numbers()
            names = [field.name for field in fields(SectionProperties)]
            pairs = [(getattr(root, name), getattr(tip, name)) for name in names]
            values: Any = [None if None in pair else _between(*pair, xi) for pair in pairs]
            return SectionProperties(*values)
        return self.plain_at(xi).numbers()

    def plain_at(self, xi: float) -> ConstantSection:
        """Return the shape at the fraction xi of the length; for `properties`, that of the root."""
        _check_fraction(xi)
        if isinstance(self.root, Properties):
            return self.root
        names = [name for name in type(self.root).model_fields if name != "shape"]
        sizes = {name: _between(getattr(self.root, name), getattr(self.tip, name), xi) for name in names}
        return type(self.root).model_construct(None, **sizes)

    @property
    def uniform(self) -> bool:
        return self.root == self.tip

    @property
    def plain_sections(self) -> dict[str, ConstantSection]:
        return {"root.": self.root, "tip.": self.tip}

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.root.shape != self.tip.shape:
            yield DescriptionProblem(
                "tip.shape", self.tip.shape, f"must be the same as root.shape = {self.root.shape!r}"
            )

    def extents(self) -> dict[str, float]:
        ends: dict[str, ConstantSection] = {"root": self.root, "tip": self.tip}
        return {f"{end}.{name}": size for end, section in ends.items() for name, size in section.extents().items()}


class SectionPiece(Description):
    """Piece of a stepped section, from the end of the piece before it."""

    upto: Annotated[float, Quantity("", above=0.0, most=1.0)] = Field(
        description="where the piece ends, as a fraction of the link's length (no unit)"
    )
    section: PlainSection = Field(description="section of the piece")

    if TYPE_CHECKING:

        def __init__(self, upto: float, section: PlainSection) -> None: ...


class Stepped(Section):
    """Section with pieces of different constant sections."""

    shape: Literal["stepped"] = Field("stepped", description="kind of section")
    pieces: tuple[SectionPiece, ...] = Field(
        description="pieces from root to tip; the last ends at 1", json_schema_extra={"minItems": 1}
    )

    if TYPE_CHECKING:

        def __init__(self, pieces: Iterable[SectionPiece | Mapping[str, Any]]) -> None: ...

    def at(self, xi: float) -> SectionProperties:
        return self.plain_at(xi).at(0.0)

    def plain_at(self, xi: float) -> ConstantSection:
        _check_fraction(xi)
        return next((piece for piece in self.pieces if xi < piece.upto), self.pieces[-1]).section

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(piece.upto for piece in self.pieces[:-1])

    @property
    def uniform(self) -> bool:
        return all(piece.section == self.pieces[0].section for piece in self.pieces)

    @property
    def plain_sections(self) -> dict[str, ConstantSection]:
        return {f"pieces[{index}].section.": piece.section for index, piece in enumerate(self.pieces)}

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if not self.pieces:
            yield DescriptionProblem("pieces", self.pieces, "must have at least one piece")
            return
        for index, (before, piece) in enumerate(pairwise(self.pieces), start=1):
            if piece.upto <= before.upto:
                sentence = f"must be above {format_number(before.upto)}, where the piece before it ends"
                yield DescriptionProblem(f"pieces[{index}].upto", piece.upto, sentence)
        if self.pieces[-1].upto != 1.0:
            path = f"pieces[{len(self.pieces) - 1}].upto"
            yield DescriptionProblem(path, self.pieces[-1].upto, "must be 1: the last piece ends at the tip")


AnySection = Annotated[
    Rectangle | Circle | Tube | Box | IBeam | Properties | Tapered | Stepped, Field(discriminator="shape")
]


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


def _between(root: float, tip: float, xi: float) -> float:
    return (1.0 - xi) * root + xi * tip


def _check_fraction(xi: float) -> None:
    number = real(xi)
    if number is None or not 0.0 <= number <= 1.0:
        raise ValueError(f"xi = {shown(xi)}: must be a fraction of the length, between 0 and 1")
