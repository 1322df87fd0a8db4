"""Flexibility of a link: families of deformation, shape functions (bases) and damping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from flexarm.foundation.dataclass import dataclass
from flexarm.robot.description import Description
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Checked, Count, Shorthand, finite_numbers, nonnegative, positive


@dataclass(frozen=True)
class Deformation:
    """Properties of a family of deformation.

    Parameters
    ----------
    order : int
        Order of the derivative whose square is the strain energy; lower ones vanish at a clamped root.
    section_property : str
        Property of the section that resists the deformation.
    modulus : {'E', 'G'}
        Modulus of the material.
    reversed_sign : int
        Sign in axes rotated by pi about y, in which the rear part of a sliding link is described.
    shear : str, optional
        Property of the section that resists shear in bending.
    """

    order: int
    section_property: str
    modulus: Literal["E", "G"]
    reversed_sign: int
    shear: str | None = None


FAMILIES: dict[str, Deformation] = {
    "bend_y": Deformation(2, "I_z", "E", 1, "shear_y"),
    "bend_z": Deformation(2, "I_y", "E", -1, "shear_z"),
    "twist": Deformation(1, "J", "G", -1),
    "stretch": Deformation(1, "A", "E", -1),
}
"""Families of deformation in the order of a link's elastic coordinates."""


# Limits for each family; with more, the derivation of the equations takes minutes without a gain in accuracy.
MAX_ELEMENTS = 500
MAX_MODES = 100
MODAL_UNIT = "m kg^1/2"


class RatioCheck(Checked):
    """Validation of one damping ratio for all modes, or a list of ratios."""

    ratio = nonnegative("")

    def check(self, value: object) -> float | tuple[float, ...]:
        ratios = finite_numbers(value)
        if ratios is None:
            return self.ratio.check(value)
        if not ratios or min(ratios) < 0:
            raise ValueError("must be numbers that are zero or positive")
        return ratios

    def json_schema(self) -> dict[str, Any]:
        one = self.ratio.json_schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


class Damping(Description):
    """Damping of a link's deformations, in addition to the Kelvin-Voigt damping of its material."""

    ratio: Annotated[float | tuple[float, ...], RatioCheck()] | None = Field(
        None,
        description="damping ratio of the clamped link's modes, one number or a list (no unit): the list goes by "
        "ascending frequency over bending, twist and stretch together, and its last ratio holds for all higher modes",
    )
    alpha: Annotated[float, nonnegative("1/s")] = Field(0.0, description="part proportional to the mass matrix (1/s)")
    beta: Annotated[float, nonnegative("s")] = Field(0.0, description="part proportional to the stiffness matrix (s)")

    if TYPE_CHECKING:

        def __init__(
            self, ratio: float | Sequence[float] | None = None, alpha: float = 0.0, beta: float = 0.0
        ) -> None: ...


class Basis(Description):
    """Base class of the kinds of shape functions of a link."""

    tag: ClassVar[str | None] = "type"

    def coordinates(self, family: str, count: int) -> int:
        """Return the number of coordinates of a family of deformation.

        Parameters
        ----------
        family : str
            Family of deformation.
        count : int
            Number given in `Flexible`.

        Returns
        -------
        int
        """
        return count

    def unit(self, family: str, index: int) -> str:
        """Return the unit of a coordinate of a family of deformation, counted from zero.

        Modes are normalized to unit modal mass, so that their coordinates have the same unit in all families.

        Parameters
        ----------
        family : str
            Family of deformation.
        index : int
            Place of the coordinate in its family.

        Returns
        -------
        str
        """
        return MODAL_UNIT


class Modes(Basis):
    """Assumed modes: the first modes of the link, clamped at its root and loaded with the bodies that it carries.

    With `tip_mass` or `tip_inertia` these are the only load: `Modes(tip_mass=0)` are modes of the bare link.
    """

    type: Literal["modes"] = Field("modes", description="kind of basis")
    tip_mass: Annotated[float, nonnegative("kg")] | None = Field(
        None, description="mass at the tip in the modes (kg), instead of the bodies that the link carries"
    )
    tip_inertia: Annotated[float, nonnegative("kg m2")] | None = Field(
        None, description="rotary inertia at the tip in the modes (kg m2), instead of the bodies that the link carries"
    )

    if TYPE_CHECKING:

        def __init__(self, tip_mass: float | None = None, tip_inertia: float | None = None) -> None: ...

    @property
    def given_load(self) -> bool:
        """True if the load is given here, instead of the bodies that the link carries."""
        return self.tip_mass is not None or self.tip_inertia is not None


class Elements(Basis):
    """Finite elements: cubic Hermite for bending, polynomials of degree `order` for stretch and twist."""

    type: Literal["elements"] = Field("elements", description="kind of basis")
    order: Annotated[int, Count(1, 2)] = Field(
        1, description="degree of the stretch and twist elements, 1 or 2 (no unit)"
    )
    root: Literal["clamped", "free"] = Field(
        "clamped",
        description="clamped: deflections are zero at the root; free: they are not, constraints must hold the link",
    )

    if TYPE_CHECKING:

        def __init__(self, order: int = 1, root: Literal["clamped", "free"] = "clamped") -> None: ...

    def coordinates(self, family: str, count: int) -> int:
        inner = count * (2 if family.startswith("bend") else self.order)
        return inner + (_per_node(family) if self.root == "free" else 0)

    def unit(self, family: str, index: int) -> str:
        return _nodal_unit(family, index)


class Splines(Basis):
    """B-splines: of a `degree` for bending, of one less for stretch and twist.

    Unlike that of elements, their curvature is continuous, so that joints may slide along the link.
    """

    type: Literal["splines"] = Field("splines", description="kind of basis")
    degree: Literal[3, 5] = Field(
        3, description="degree of bending splines, 3 or 5 (no unit); those of 5 are smoother, and exact with far fewer"
    )

    if TYPE_CHECKING:

        def __init__(self, degree: Literal[3, 5] = 3) -> None: ...

    def coordinates(self, family: str, count: int) -> int:
        return count + self.degree - 2

    def unit(self, family: str, index: int) -> str:
        return "rad" if family == "twist" else "m"


class Reduced(Basis):
    """Component modes of a meshed link (component mode synthesis).

    Examples
    --------
    >>> Flexible(bend_y=2, basis=Reduced(20, interface="fixed")).coordinates
    4
    """

    type: Literal["reduced"] = Field("reduced", description="kind of basis")
    elements: Annotated[int, Count(1, MAX_ELEMENTS)] = Field(description="elements of the mesh")
    modes: Annotated[int, Count(1, MAX_MODES)] | None = Field(
        None, description="modes kept of each family; the family's own count unless given"
    )
    interface: Literal["free", "fixed"] = Field(
        "free",
        description="free: modes of the clamped link; fixed: Craig-Bampton, tip shapes and modes with the tip held",
    )

    if TYPE_CHECKING:

        def __init__(
            self, elements: int, modes: int | None = None, interface: Literal["free", "fixed"] = "free"
        ) -> None: ...

    def coordinates(self, family: str, count: int) -> int:
        return (self.modes or count) + self.tip_shapes(family)

    def unit(self, family: str, index: int) -> str:
        # coordinates of the node at the tip, if any, come before those of the modes
        return _nodal_unit(family, index) if index < self.tip_shapes(family) else MODAL_UNIT

    def tip_shapes(self, family: str) -> int:
        """Return the number of static Craig-Bampton shapes: 2 for bending, 1 for stretch and twist.

        Parameters
        ----------
        family : str
            Family of deformation.

        Returns
        -------
        int
        """
        return 0 if self.interface == "free" else _per_node(family)

    def mesh_size(self, family: str) -> int:
        """Return the number of coordinates of the mesh, which limits the number of modes.

        Parameters
        ----------
        family : str
            Family of deformation.

        Returns
        -------
        int
        """
        return self.elements * _per_node(family)


def _nodal_unit(family: str, index: int) -> str:
    """Return the unit of a coordinate of a node: deflections and slopes alternate."""
    return "rad" if family == "twist" or (family.startswith("bend") and index % 2) else "m"


def _per_node(family: str) -> int:
    return 2 if family.startswith("bend") else 1


AnyBasis = Annotated[
    Modes | Elements | Splines | Reduced, Field(discriminator="type"), Shorthand(("modes", "elements", "splines"))
]
ShapeCount = Annotated[int, Count(0, MAX_ELEMENTS)]


Stiffening = Literal["auto", "none", "shortening", "exact"]


class Flexible(Description):
    """Flexibility of a link. Each number counts shape functions (modes) or elements; 0 leaves the deformation out.

    Without numbers they are selected (`Robot.resolved`): modes up to a frequency, of deformations that the robot can
    excite. Numbers that are all 0 are refused: a link without `flexible` is rigid.

    Examples
    --------
    >>> Flexible(bend_y=3, twist=1).coordinates
    4
    """

    bend_y: ShapeCount = Field(0, description="shapes of bending along y (number, at most 100; elements at most 500)")
    bend_z: ShapeCount = Field(0, description="shapes of bending along z (likewise)")
    twist: ShapeCount = Field(0, description="shapes of twist about x (likewise)")
    stretch: ShapeCount = Field(0, description="shapes of stretch along x (likewise)")
    basis: AnyBasis = Field(
        Modes.model_construct(), description="kind of shape functions: modes, elements, splines or reduced"
    )
    stiffening: Stiffening = Field(
        "auto",
        description="model of large bending: exact (arbitrarily large), shortening (second order, to about 10 % of the "
        "length), none (the papers' zero-order model, without centrifugal stiffening); auto is exact for up to 12 "
        "modes in one plane, without shear, of a link that does not slide through its joint, else shortening; runs of "
        "modes in space are repeated with exact where the error of shortening exceeds 1 % of the peak deflection",
    )
    damping: Damping | None = Field(None, description="damping in addition to the material's own")
    shear: bool = Field(
        False,
        strict=True,
        description="bending with shear, for short links; Timoshenko's with the link's rotary_inertia",
    )
    up_to: Annotated[float, positive("Hz")] | None = Field(
        None,
        description="instead of numbers: they are selected for modes up to this frequency (Hz); without either, up to "
        "ten times the lowest first frequency of such links",
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            bend_y: int = 0,
            bend_z: int = 0,
            twist: int = 0,
            stretch: int = 0,
            basis: Basis | Literal["modes", "elements", "splines"] = "modes",
            stiffening: Stiffening = "auto",
            damping: Damping | None = None,
            shear: bool = False,
            up_to: float | None = None,
        ) -> None: ...

    @property
    def open(self) -> bool:
        """True if there are no numbers, so that they are selected."""
        return not self.counts

    @property
    def counts(self) -> dict[str, int]:
        """Given number for each family of deformation that the link has."""
        return {family: count for family in FAMILIES if (count := getattr(self, family))}

    @property
    def coordinates(self) -> int:
        """Number of elastic coordinates of the link.

        >>> Flexible(bend_y=3, basis="elements").coordinates  # a deflection and a slope at each node
        6
        """
        if self.open:
            raise ValueError("flexible: has no numbers of shapes; robot.resolved() is the robot with those picked")
        return sum(self.basis.coordinates(family, count) for family, count in self.counts.items())

    @property
    def in_one_plane(self) -> bool:
        """True if sections rotate about at most one axis."""
        return sum(family != "stretch" for family in self.counts) < 2

    @property
    def loose(self) -> bool:
        """True if only constraints hold the link relative to its root frame."""
        return isinstance(self.basis, Elements) and self.basis.root == "free"

    @property
    def smooth(self) -> bool:
        """True if curvature is continuous, so that joints may slide along the link."""
        return isinstance(self.basis, (Modes, Splines))

    @property
    def meshed(self) -> bool:
        """True if the shapes are those of elements or splines, which couple with their neighbours only."""
        return isinstance(self.basis, (Elements, Splines))

    @property
    def meshes(self) -> dict[str, int]:
        """Numbers of elements by the field that gives them."""
        if isinstance(self.basis, Reduced):
            return {"basis.elements": self.basis.elements}
        return self.counts if self.meshed else {}

    def _only_zeros(self) -> Iterator[DescriptionProblem]:
        """Yield a problem if numbers are given and all are zero, which is neither flexible nor left open."""
        # A dump of a description without numbers lists every field, with zeros for fields that were not given.
        dumped = self.model_fields_set >= set(type(self).model_fields)
        zeros = [family for family in FAMILIES if family in self.model_fields_set]
        if zeros and not self.counts and not dumped:
            sentence = (
                "must be at least 1 in one of the families: without shapes the link is rigid, so leave its flexible "
                "out; leave out the numbers to have them picked"
            )
            yield DescriptionProblem(zeros[0], 0, sentence)

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from self._only_zeros()
        if self.counts and self.up_to is not None:
            given = ", ".join(f"{family} = {count}" for family, count in self.counts.items())
            yield DescriptionProblem(
                "up_to", self.up_to, f"must be left out with {given}: it is what numbers are picked by"
            )
        if not self.meshed:
            for family, count in self.counts.items():
                if count > MAX_MODES:
                    yield DescriptionProblem(family, count, f"must be at most {MAX_MODES} with basis {self.basis.type}")
        if isinstance(self.basis, Reduced):
            for family, count in self.counts.items():
                if (needed := self.basis.coordinates(family, count)) > (available := self.basis.mesh_size(family)):
                    sentence = (
                        f"makes {available} shapes of {family}, but {needed} are asked for; take more elements or "
                        "fewer modes"
                    )
                    yield DescriptionProblem("basis.elements", self.basis.elements, sentence)
        if self.shear and isinstance(self.basis, Splines):
            yield DescriptionProblem("shear", True, "must be false with basis splines, whose shapes have none")
        if self.shear and self.counts and not (self.bend_y or self.bend_z):
            yield DescriptionProblem(
                "shear", True, "must be false: shear belongs to bending, but bend_y and bend_z are 0"
            )
        ratios = self.damping.ratio if self.damping is not None else None
        if isinstance(ratios, tuple) and self.counts and len(ratios) > self.coordinates:
            sentence = f"has {len(ratios)} ratios, but the link has only {self.coordinates} elastic coordinates"
            yield DescriptionProblem("damping.ratio", ratios, sentence)
