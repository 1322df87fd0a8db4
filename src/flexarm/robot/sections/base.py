"""Base classes of cross-sections of a link.

Axes: x runs along the link; `width` extends along y, `height` along z, both centred on the axis.
I_z = integral of y^2 dA resists bending in y, I_y = integral of z^2 dA resists bending in z. The shear areas shear_y
and shear_z are those of a uniform shear strain with the same force, after Cowper (1966) for nu = 0; for nu = 0.3 they
would be 2 % (rectangle) to 6 % (thin tube) larger.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import real
from flexarm.robot.description import Description, lazy_property

if TYPE_CHECKING:
    from flexarm.robot.sections.shapes import Box, Circle, IBeam, PlainSection, Properties, Rectangle, Tube
    from flexarm.robot.sections.varying import SectionPiece, Stepped, Tapered


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
        from flexarm.robot.sections.shapes import Rectangle

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
        from flexarm.robot.sections.shapes import Circle

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
        from flexarm.robot.sections.shapes import Tube

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
        from flexarm.robot.sections.shapes import Box

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
        from flexarm.robot.sections.shapes import IBeam

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
        from flexarm.robot.sections.shapes import Properties

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
        from flexarm.robot.sections.varying import Tapered

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
        from flexarm.robot.sections.varying import Stepped

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
        check_fraction(xi)
        return self

    def at(self, xi: float) -> SectionProperties:
        check_fraction(xi)
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


def check_fraction(xi: float) -> None:
    """Raise ValueError if a position is no fraction of the length."""
    number = real(xi)
    if number is None or not 0.0 <= number <= 1.0:
        raise ValueError(f"xi = {shown(xi)}: must be a fraction of the length, between 0 and 1")
