"""Point masses on a link (hubs, payloads and others) and materials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from flexarm.robot.description import Description
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import (
    Checked,
    Matrix3,
    Quantity,
    Vector,
    Vector3,
    finite_matrix,
    finite_numbers,
    matrix_schema,
    nonnegative,
    numbers_schema,
    positive,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


Inertia = float | tuple[float, ...] | Matrix3


class CheckedInertia(Checked):
    """Validation of an inertia: 1, 3 or 6 numbers (xx, yy, zz, xy, xz, yz) or a symmetric matrix, not negative."""

    unit = "kg m2"
    number = Quantity("kg m2")

    def check(self, value: object) -> Inertia:
        inertia = self._form(value)
        matrix = np.array(inertia_matrix(inertia))
        scale = float(np.abs(matrix).max())
        if np.abs(matrix - matrix.T).max() > 1e-9 * scale:
            raise ValueError("must be a symmetric matrix (kg m2)")
        if (lowest := float(np.linalg.eigvalsh(matrix)[0])) < -1e-9 * scale:
            raise ValueError(f"must not be negative about any axis, but is {lowest:.3g} kg m2 about one")
        return inertia

    def _form(self, value: object) -> Inertia:
        numbers, matrix = finite_numbers(value), finite_matrix(value)
        if numbers is not None and len(numbers) in (3, 6):
            return numbers
        if matrix is not None:
            return matrix
        if isinstance(value, (list, tuple, np.ndarray)):
            raise ValueError("must be one, three (xx, yy, zz) or six (and xy, xz, yz) numbers or a 3x3 matrix (kg m2)")
        return self.number.check(value)

    def json_schema(self) -> dict[str, Any]:
        one = {"type": "number", "minimum": 0}
        return {"anyOf": [one, numbers_schema(3), numbers_schema(6), matrix_schema()], "unit": "kg m2"}


class BodyInertia(CheckedInertia):
    """Validation of the inertia of a rigid body: no principal moment exceeds the sum of the other two."""

    tolerance = 1e-6  # CAD programs and data sheets round

    def check(self, value: object) -> Inertia:
        inertia = super().check(value)
        small, middle, large = (float(each) for each in np.linalg.eigvalsh(np.array(inertia_matrix(inertia))))
        if large > (1 + self.tolerance) * (small + middle):
            raise ValueError(
                "must be an inertia that a body can have: no principal moment exceeds the sum of the other two, but "
                f"they are {small:.4g}, {middle:.4g} and {large:.4g} kg m2"
            )
        return inertia


def inertia_matrix(inertia: Inertia) -> Matrix3:
    """Return the 3x3 matrix of an inertia given in any of its forms."""
    if isinstance(inertia, float):
        inertia = (inertia,) * 3
    if isinstance(inertia[0], tuple):
        return inertia
    xx, yy, zz, xy, xz, yz = (*inertia, 0.0, 0.0, 0.0)[:6]
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


class PointMass(Description):
    """Point mass, or with an inertia a rigid body, fixed to a link.

    Examples
    --------
    >>> PointMass(1.0, inertia=[1, 2, 3]).inertia_matrix
    ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    """

    mass: Annotated[float, nonnegative("kg")] = Field(description="mass (kg); may be 0")
    offset: Annotated[Vector3, Vector("m")] = Field(
        (0.0, 0.0, 0.0), description="centre of mass from the point of the link's axis, in the section's axes (m)"
    )
    inertia: Annotated[Inertia, CheckedInertia()] | None = Field(
        None,
        description="inertia about its own centre of mass, in the section's axes (kg m2): "
        "one number, xx yy zz, xx yy zz xy xz yz, or a 3x3 matrix",
    )
    at: Annotated[float, nonnegative("m")] | None = Field(
        None, description="distance from the link's root (m); only for `masses`"
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            mass: float,
            offset: ArrayLike = (0, 0, 0),
            inertia: ArrayLike | None = None,
            at: float | None = None,
        ) -> None: ...

    @property
    def inertia_matrix(self) -> Matrix3:
        """Inertia about its own centre of mass as a 3x3 matrix (kg m2)."""
        return inertia_matrix(0.0 if self.inertia is None else self.inertia)

    @property
    def empty(self) -> bool:
        """True if mass and inertia are zero."""
        return self.mass == 0 and not np.any(self.inertia_matrix)


class RigidBody(Description):
    """Rigid body that is a whole link: mass, centre of mass and inertia in the axes of the link's root frame.

    See Also
    --------
    Link : A link takes it as `body`.
    Frame : Frame at any pose on a link.

    Examples
    --------
    >>> RigidBody(2.0, com=(0, 0, 0.05), inertia=[0.01, 0.01, 0.004]).inertia_matrix
    ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.004))
    """

    mass: Annotated[float, nonnegative("kg")] = Field(description="mass (kg); may be 0")
    com: Annotated[Vector3, Vector("m")] = Field(
        (0.0, 0.0, 0.0), description="centre of mass in the link's root frame (m)"
    )
    inertia: Annotated[Inertia, BodyInertia()] | None = Field(
        None,
        description="inertia about the centre of mass, in the axes of the link's root frame (kg m2): "
        "one number, xx yy zz, xx yy zz xy xz yz, or a 3x3 matrix; a point mass unless given",
    )

    if TYPE_CHECKING:

        def __init__(self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None) -> None: ...

    @property
    def lump(self) -> PointMass:
        """The body as a mass at the root of its link."""
        return PointMass.model_construct(mass=self.mass, offset=self.com, inertia=self.inertia, at=None)

    @property
    def inertia_matrix(self) -> Matrix3:
        """Inertia about the centre of mass as a 3x3 matrix (kg m2)."""
        return self.lump.inertia_matrix

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.mass == 0 and np.any(self.inertia_matrix):
            yield DescriptionProblem("mass", self.mass, "must be positive (kg), since the body has an inertia")


COMMON_POISSON_RATIO = 0.3
"""Default if neither G nor nu is given, that of most metals."""


class Material(Description):
    """Linear elastic, isotropic material with Kelvin-Voigt damping: stress = E (strain + damping * strain rate).

    Examples
    --------
    >>> steel = Material(E=2.1e11, rho=7850, nu=0.3)
    >>> f"{steel.shear_modulus:.3g}"
    '8.08e+10'
    """

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
        """Shear modulus: G, or E / (2 (1 + nu)) (Pa)."""
        if self.G is not None:
            return self.G
        return self.E / (2.0 * (1.0 + (COMMON_POISSON_RATIO if self.nu is None else self.nu)))

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.G is not None and self.nu is not None:
            yield DescriptionProblem("nu", self.nu, "must be left out when G is given, since E and G determine it")

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
