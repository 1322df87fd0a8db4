"""Cross-sections of a link."""

from flexarm.robot.sections.base import ConstantSection, Section, SectionProperties
from flexarm.robot.sections.shapes import Box, Circle, IBeam, Properties, Rectangle, Tube
from flexarm.robot.sections.varying import AnySection, SectionPiece, Stepped, Tapered

__all__ = [
    "AnySection",
    "Box",
    "Circle",
    "ConstantSection",
    "IBeam",
    "Properties",
    "Rectangle",
    "Section",
    "SectionPiece",
    "SectionProperties",
    "Stepped",
    "Tapered",
    "Tube",
]
