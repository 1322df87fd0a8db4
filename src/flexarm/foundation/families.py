"""The families of deformation of a link, in the order of its elastic coordinates."""

from __future__ import annotations

from typing import Literal

from flexarm.foundation.dataclass import dataclass


@dataclass(frozen=True)
class Deformation:
    """What one family is.

    order: of the derivative whose square is the strain energy; shapes and their lower ones vanish at a clamped root.
    resists: the property of the section that does.
    modulus: of the material.
    reversed: its sign in axes turned by half a turn about y, in which the rear part of a sliding link is described.
    shear: of bending, the property of the section that resists its shear.
    """

    order: int
    resists: str
    modulus: Literal["E", "G"]
    reversed: int
    shear: str | None = None


FAMILIES: dict[str, Deformation] = {
    "bend_y": Deformation(2, "I_z", "E", 1, "shear_y"),
    "bend_z": Deformation(2, "I_y", "E", -1, "shear_z"),
    "twist": Deformation(1, "J", "G", -1),
    "stretch": Deformation(1, "A", "E", -1),
}
