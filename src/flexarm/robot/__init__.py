"""What a robot is: frozen, validated descriptions."""

from . import library
from .constraints import Loop, OnLine, OnPlane, PointSupport
from .drives import Drive, Stop
from .errors import DescriptionError, UnitsWarning
from .files import load, save, schema
from .flexibility import Damping, Elements, Flexible, Modes, Reduced, Splines, reduced
from .joints import FixedPrismatic, MovingJoint, Revolute, Riding, Sleeve, SlidingPrismatic, Weld
from .links import Link
from .masses import PointMass
from .materials import Material
from .pose import Pose
from .robot import Robot
from .sections import Section

__all__ = [
    "Damping",
    "DescriptionError",
    "Drive",
    "Elements",
    "FixedPrismatic",
    "Flexible",
    "Link",
    "Loop",
    "Material",
    "Modes",
    "MovingJoint",
    "OnLine",
    "OnPlane",
    "PointMass",
    "PointSupport",
    "Pose",
    "Reduced",
    "Revolute",
    "Riding",
    "Robot",
    "Section",
    "Sleeve",
    "SlidingPrismatic",
    "Splines",
    "Stop",
    "UnitsWarning",
    "Weld",
    "library",
    "load",
    "reduced",
    "save",
    "schema",
]
