"""A link: a straight beam, rigid or flexible, with its joint and the masses on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from flexarm.foundation.messages import format_number
from flexarm.robot.description import Description, lazy_property
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Checked, Vector, Vector3, nonnegative, positive
from flexarm.robot.flexibility import FAMILIES, Elements, Flexible, Splines
from flexarm.robot.joints import AnyJoint, FixedPrismatic, Joint, Revolute, Sleeve
from flexarm.robot.masses import Material, PointMass
from flexarm.robot.sections import AnySection, Section

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_EXACT_MODES = 12
"""Number of modes up to which a step of an exact link takes at most about three times that of a second-order one."""

GROUND = "ground"
"""Name of the ground as a parent."""


class NameCheck(Checked):
    """Validation of names, which are parts of `name.q` and of paths: letters, digits, _ and -."""

    def check(self, value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(r"[\w-]+", value):
            raise ValueError("must be a name of letters, digits, _ and -")
        if value == GROUND:
            raise ValueError("must be another name: 'ground' is what the robot stands on")
        return value

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": r"^[\w-]+$", "not": {"const": GROUND}}


class Link(Description):
    """Straight link along its own x axis, rigid or flexible, with its joint; its frame is at its root, after the joint.

    See Also
    --------
    Robot : Tree of links.
    Section : Cross-sections.
    Flexible : Flexibility of a link.

    Examples
    --------
    >>> link = Link("upper", 1.0, section=Section.rectangle(0.02, 0.03), material=Material(E=7e10, rho=2700))
    >>> round(link.total_mass, 6)  # kg
    1.62
    """

    name: Annotated[str, NameCheck()] = Field(description="name, unique in the robot: letters, digits, _ and -")
    length: Annotated[float, positive("m")] = Field(description="length (m)")
    joint: AnyJoint = Field(Revolute.model_construct(), description="connection of the link with its parent")
    section: AnySection | None = Field(None, description="cross-section; a flexible link needs one")
    material: Material | None = Field(None, description="material; a flexible link needs one")
    flexible: Flexible | None = Field(None, description="flexibility of the link; a link without it is rigid")
    mass: Annotated[float, nonnegative("kg")] | None = Field(
        None, description="total mass of the link, spread evenly over its length (kg); replaces density times area"
    )
    hub: PointMass | None = Field(None, description="mass at the root")
    payload: PointMass | None = Field(None, description="mass at the tip")
    masses: tuple[PointMass, ...] = Field((), description="masses along the link, each with its `at`")
    rotary_inertia: bool = Field(
        False, strict=True, description="include the sections' rotary inertia about y and z (Rayleigh)"
    )
    parent: str | None = Field(
        None,
        description="name of the parent link, or ground; the previous link (ground for the first) unless given",
    )
    at: Annotated[float, nonnegative("m")] | None = Field(
        None, description="place of the joint on the parent, from the parent's root (m); its tip unless given"
    )
    offset: Annotated[Vector3, Vector("m")] = Field(
        (0.0, 0.0, 0.0), description="offset of the root from that point, in the axes of the parent's section (m)"
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            length: float,
            joint: Joint | str = "revolute",
            section: Section | None = None,
            material: Material | None = None,
            flexible: Flexible | None = None,
            mass: float | None = None,
            hub: PointMass | None = None,
            payload: PointMass | None = None,
            masses: Iterable[PointMass] = (),
            rotary_inertia: bool = False,
            parent: str | None = None,
            at: float | None = None,
            offset: ArrayLike = (0, 0, 0),
        ) -> None: ...

    @lazy_property
    def stiffening(self) -> Literal["none", "shortening", "exact"]:
        """Model of deformation ("none", "shortening" or "exact"): the given one, or the one selected for "auto".

        An exact link couples all of its shapes, which is expensive for a mesh or for many modes, and twice as expensive
        for a link that slides through its joint.
        """
        if self.flexible is None:
            return "none"
        if self.flexible.stiffening != "auto":
            return self.flexible.stiffening
        if isinstance(self.joint, FixedPrismatic) and self.joint.on_mesh:
            return "none"  # the scheme of the papers has no other model
        few = sum(self.flexible.counts.values()) <= MAX_EXACT_MODES and not self.flexible.meshed
        stepped = isinstance(self.joint, Sleeve) and self.section is not None and bool(self.section.breaks)
        plain = not (self.flexible.shear or isinstance(self.joint, FixedPrismatic) or stepped)
        return "exact" if few and plain and self.flexible.in_one_plane else "shortening"

    def mass_per_length(self, xi: float) -> float:
        """Return the mass per length at a fraction of the length.

        Parameters
        ----------
        xi : float
            Fraction of the length, between 0 and 1.

        Returns
        -------
        float
            Mass per length, 0 for a massless link (kg/m).
        """
        if self.mass is not None:
            return self.mass / self.length
        if self.section is None or self.material is None:
            return 0.0
        return self.material.rho * self.section.at(xi).A

    def polar_inertia_per_length(self, xi: float) -> float:
        """Return the inertia per length about the link's axis x at a fraction of the length.

        Parameters
        ----------
        xi : float
            Fraction of the length, between 0 and 1.

        Returns
        -------
        float
            Inertia per length (kg m).
        """
        return 0.0 if self.section is None else self._density(xi) * self.section.at(xi).I_p

    def inertia_y_per_length(self, xi: float) -> float:
        """Return the inertia per length about the section's y axis at a fraction of the length.

        Parameters
        ----------
        xi : float
            Fraction of the length, between 0 and 1.

        Returns
        -------
        float
            Inertia per length (kg m).
        """
        return 0.0 if self.section is None else self._density(xi) * self.section.at(xi).I_y

    def inertia_z_per_length(self, xi: float) -> float:
        """Return the inertia per length about the section's z axis at a fraction of the length.

        Parameters
        ----------
        xi : float
            Fraction of the length, between 0 and 1.

        Returns
        -------
        float
            Inertia per length (kg m).
        """
        return 0.0 if self.section is None else self._density(xi) * self.section.at(xi).I_z

    def _density(self, xi: float) -> float:
        """Return the density that gives the mass per length; a given `mass` scales that of the material."""
        return 0.0 if self.section is None else self.mass_per_length(xi) / self.section.at(xi).A

    @lazy_property
    def beam_mass(self) -> float:
        """Mass of the link without the masses on it (kg)."""
        breaks = (0.0, *(self.section.breaks if self.section is not None else ()), 1.0)
        # two Gauss points in each piece are exact: the area is at most quadratic along a taper
        points = [
            ((a + b + sign * (b - a) / sqrt(3)) / 2, (b - a) / 2) for a, b in pairwise(breaks) for sign in (-1, 1)
        ]
        return self.length * sum(weight * self.mass_per_length(xi) for xi, weight in points)

    @lazy_property
    def total_mass(self) -> float:
        """Mass of the link and the masses on it (kg).

        >>> Link("a", 2.0, mass=1.5, payload=PointMass(0.5)).total_mass
        2.0
        """
        lumps = [lump for lump in (self.hub, self.payload, *self.masses) if lump is not None]
        return self.beam_mass + sum(lump.mass for lump in lumps)

    @property
    def coordinates(self) -> int:
        """Number of coordinates of the link: joint, drive and deformations."""
        return self.joint.coordinates + self._elastic_coordinates

    @property
    def _elastic_coordinates(self) -> int:
        """Number of coordinates of the deformations; a link in a guide bends in front of it and behind it."""
        if self.flexible is None:
            return 0
        if not isinstance(self.joint, FixedPrismatic):
            return self.flexible.coordinates
        if self.joint.on_mesh:  # one mesh over the whole link, clamped nowhere
            free = sum(2 if family.startswith("bend") else 1 for family in self.flexible.counts)
            return self.flexible.coordinates + free
        return self.flexible.coordinates * (2 if self.joint.rear == "flexible" else 1)

    def rigid(self) -> Link:
        """Return the link without flexibility, also of its drive.

        Returns
        -------
        Link
            Copy with a rigid body and a rigid drive.
        """
        return self.model_copy(update={"flexible": None, "joint": self.joint.rigid()})

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from self._missing_parts()
        yield from self._missing_shear_areas()
        yield from self._coarse_meshes()
        yield from self._not_exact()
        if self.name == "tip" and len(self.joint.freedoms) > 1:
            sentence = "must be another name: the coordinates of its joint would be named like those of the robot's tip"
            yield DescriptionProblem("name", self.name, sentence)
        if self.joint.rides and self.at is not None:
            sentence = "must be left out: the joint rides along its parent; where it is is its coordinate"
            yield DescriptionProblem("at", self.at, sentence)
        if isinstance(self.joint, FixedPrismatic):
            yield from self._stuck_in_guides(self.joint)
        for place, lump in (("hub", self.hub), ("payload", self.payload)):
            if lump is not None and lump.at is not None:
                where = "root" if place == "hub" else "tip"
                yield DescriptionProblem(
                    f"{place}.at", lump.at, f"must be left out: a {place} sits at the {where}; use `masses`"
                )
        for index, lump in enumerate(self.masses):
            if lump.at is None:
                yield DescriptionProblem(
                    f"masses[{index}].at", ..., "is required: the distance from the link's root (m)"
                )
            elif lump.at > self.length:
                sentence = f"must lie on the link, between 0 and {format_number(self.length)} (m)"
                yield DescriptionProblem(f"masses[{index}].at", lump.at, sentence)

    def _missing_parts(self) -> Iterator[DescriptionProblem]:
        if self.flexible is not None:
            for field in ("section", "material"):
                if getattr(self, field) is None:
                    yield DescriptionProblem(field, ..., "is required, since the link is flexible")
            if self.mass == 0:
                yield DescriptionProblem("mass", self.mass, "must be positive (kg), since the link is flexible")
        elif self.mass is None and self.section is not None and self.material is None:
            yield DescriptionProblem("material", ..., "is required with a section, unless mass is given")
        elif self.mass is None and self.section is None and self.material is not None:
            yield DescriptionProblem("section", ..., "is required with a material, unless mass is given")

    def _missing_shear_areas(self) -> Iterator[DescriptionProblem]:
        if self.flexible is None or not self.flexible.shear or self.section is None:
            return
        for field in filter(None, (FAMILIES[family].shear for family in self.flexible.counts)):
            for path, part in self.section.plain_sections.items():
                if getattr(part.numbers(), field) is None:
                    yield DescriptionProblem(
                        f"section.{path}{field}", ..., "is required (m2), since the link bends with shear"
                    )

    def _coarse_meshes(self) -> Iterator[DescriptionProblem]:
        """Yield problems of meshes, which need a node at every step of the section."""
        if self.flexible is None or self.section is None:
            return
        pieces = len(self.section.breaks) + 1
        if pieces > 1 and isinstance(self.flexible.basis, Splines):
            sentence = "must be modes or elements: at the steps of the section curvature jumps, which splines cannot"
            yield DescriptionProblem("flexible.basis", self.flexible.basis.type, sentence)
        for field, elements in self.flexible.meshes.items():
            if elements < pieces:
                sentence = f"must be at least {pieces}: one element for each piece of the stepped section"
                yield DescriptionProblem(f"flexible.{field}", elements, sentence)

    def _not_exact(self) -> Iterator[DescriptionProblem]:
        """Yield problems of links with exact stiffening."""
        if self.flexible is None or self.stiffening != "exact":
            return
        lack = ""
        if self.flexible.shear:
            lack = "with shear: its sections stay normal to its axis"
        elif self.flexible.loose:
            lack = "with basis.root = 'free': its shapes must hold its root"
        elif isinstance(self.joint, FixedPrismatic) and not self.flexible.in_one_plane:
            lack = "for a link that bends in space and slides through its joint"
        elif isinstance(self.joint, FixedPrismatic) and self.flexible.meshed:
            lack = "for a mesh that slides through its joint; take modes"
        if lack:
            yield DescriptionProblem("flexible.stiffening", "exact", f"must be 'shortening' or 'none' {lack}")

    def _stuck_in_guides(self, joint: FixedPrismatic) -> Iterator[DescriptionProblem]:
        """Yield problems that prevent the link from sliding through its joint."""
        if joint.limits is not None and (joint.limits[0] < 0 or joint.limits[1] > self.length):
            sentence = f"must lie on the sliding link {self.name!r}, between 0 and {format_number(self.length)} (m)"
            yield DescriptionProblem("joint.limits", joint.limits, sentence)
        if joint.on_mesh and (lack := missing_mesh(self)):
            sentence = f"needs a flexible link with basis elements, but {self.name!r} {lack}"
            yield DescriptionProblem("joint.contact", joint.contact, sentence)
        elif joint.on_mesh and self.flexible is not None and self.stiffening != "none":
            sentence = f"must be 'none' with joint.contact = {joint.contact!r}, a scheme that has no shortening"
            yield DescriptionProblem("flexible.stiffening", self.flexible.stiffening, sentence)
        if self.flexible is not None and self.flexible.loose:
            yield DescriptionProblem("flexible.basis.root", "free", "must be 'clamped': the joint holds the link")
        if joint.rear == "none" and self.hub is not None:
            sentence = f"must be left out: with joint.rear = 'none' the link {self.name!r} has no rear end"
            yield DescriptionProblem("hub", self.hub, sentence)
        if self.flexible is None:
            return
        if self.flexible.shear:
            sentence = f"must be false: {self.name!r} slides through its joint, and such shapes have no shear"
            yield DescriptionProblem("flexible.shear", True, sentence)
        if self.section is not None and not self.section.uniform:
            sentence = f"must be the same along {self.name!r}: a link that slides through a guide has one section"
            yield DescriptionProblem("section.shape", self.section.shape, sentence)
        if self.masses:
            sentence = f"must be left out: {self.name!r} slides through a guide, only a hub and a payload stay clear"
            yield DescriptionProblem("masses", self.masses, sentence)

    def unit_warnings(self) -> list[tuple[str, str]]:
        found = [("length", "looks like mm; length is in m")] if self.length > 100 else []
        for field, size in self.section.extents().items() if self.section is not None else ():
            if size > self.length:
                found.append(
                    (
                        f"section.{field}",
                        f"is larger than the link's length {format_number(self.length)}; both are in m",
                    )
                )
        return found


def missing_mesh(link: Link) -> str:
    """Return why a link has no mesh with nodes that a joint could touch; empty if it has one."""
    if link.flexible is None:
        return "is rigid"
    return "" if isinstance(link.flexible.basis, Elements) else f"has basis {link.flexible.basis.type}"
