"""flexarm: the dynamics of robots whose links and joints bend."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flexarm._version import __version__
from flexarm.robot import (
    Damping,
    DescriptionError,
    Drive,
    Elements,
    Flexible,
    Link,
    Material,
    Modes,
    PointMass,
    Pose,
    Reduced,
    Revolute,
    Robot,
    Section,
    UnitsWarning,
    Weld,
    library,
    load,
    reduced,
    save,
    schema,
)

if TYPE_CHECKING:
    from flexarm.analysis.modes import ModeSet, modes
    from flexarm.mechanics.system import Energy, Linearization, System

# What computes is imported when first used: describing a robot needs none of it.
_LATER = {
    "Energy": "flexarm.mechanics.system",
    "Linearization": "flexarm.mechanics.system",
    "ModeSet": "flexarm.analysis.modes",
    "System": "flexarm.mechanics.system",
    "modes": "flexarm.analysis.modes",
}

__all__ = [
    "Damping",
    "DescriptionError",
    "Drive",
    "Elements",
    "Energy",
    "Flexible",
    "Linearization",
    "Link",
    "Material",
    "ModeSet",
    "Modes",
    "PointMass",
    "Pose",
    "Reduced",
    "Revolute",
    "Robot",
    "Section",
    "System",
    "UnitsWarning",
    "Weld",
    "__version__",
    "library",
    "load",
    "modes",
    "reduced",
    "save",
    "schema",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'flexarm' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
