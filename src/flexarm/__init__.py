"""flexarm: the dynamics of robots whose links and joints bend."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flexarm._version import __version__

if TYPE_CHECKING:
    from flexarm.analysis.convergence import Convergence, convergence
    from flexarm.analysis.inverse_kinematics import inverse_kinematics
    from flexarm.analysis.linear import linearize
    from flexarm.analysis.modes import ModeSet, modes
    from flexarm.analysis.rigid_torques import RigidTorques, rigid_torques
    from flexarm.analysis.state_space import Signal, StateSpace
    from flexarm.control.shapers import Shaper, shaper
    from flexarm.mechanics.answers import Energy, Linearization
    from flexarm.mechanics.derivatives import Derivative
    from flexarm.mechanics.equilibrium import equilibrium
    from flexarm.mechanics.reach import ValidityWarning
    from flexarm.mechanics.system import System
    from flexarm.motion.actuators import Actuator
    from flexarm.motion.generalized_alpha import GeneralizedAlpha, Newmark
    from flexarm.motion.inputs import (
        Profile,
        bang_bang,
        chirp,
        cycloid,
        ramp,
        sine,
        spin_up,
        spline,
        step,
        table,
    )
    from flexarm.motion.laws import Feedback
    from flexarm.motion.loads import PointLoad
    from flexarm.motion.methods import Method
    from flexarm.motion.point_to_point import minimum_jerk, rest_to_rest, s_curve, trapezoid
    from flexarm.motion.run import Run
    from flexarm.motion.runge_kutta import RungeKutta
    from flexarm.motion.sensors import Sensor
    from flexarm.motion.simulate import simulate
    from flexarm.motion.stabilization import Baumgarte
    from flexarm.robot import (
        Damping,
        DescriptionError,
        Drive,
        Elements,
        FixedPrismatic,
        Flexible,
        Link,
        Loop,
        Material,
        Modes,
        OnLine,
        OnPlane,
        PointMass,
        PointSupport,
        Pose,
        Reduced,
        Revolute,
        Robot,
        Section,
        Sleeve,
        SlidingPrismatic,
        Splines,
        Stop,
        UnitsWarning,
        Weld,
        library,
        load,
        reduced,
        save,
        schema,
    )
    from flexarm.show.animate import Animation
    from flexarm.show.histories import plot_compare
    from flexarm.show.shapes import plot_modes
    from flexarm.show.sweeps import plot_sweep
    from flexarm.sweeps.monte_carlo import monte_carlo
    from flexarm.sweeps.sensitivity import sensitivity
    from flexarm.sweeps.sweeping import sweep
    from flexarm.symbolic.closed_form import ClosedForm, equations

# Everything is imported when first used: `import flexarm` costs nothing, and describing a robot loads no solver.
_LATER = {
    "flexarm.analysis.convergence": ("Convergence", "convergence"),
    "flexarm.analysis.inverse_kinematics": ("inverse_kinematics",),
    "flexarm.analysis.linear": ("linearize",),
    "flexarm.analysis.modes": ("ModeSet", "modes"),
    "flexarm.analysis.rigid_torques": ("RigidTorques", "rigid_torques"),
    "flexarm.analysis.state_space": ("Signal", "StateSpace"),
    "flexarm.control.shapers": ("Shaper", "shaper"),
    "flexarm.mechanics.equilibrium": ("equilibrium",),
    "flexarm.mechanics.reach": ("ValidityWarning",),
    "flexarm.mechanics.answers": ("Energy", "Linearization"),
    "flexarm.mechanics.derivatives": ("Derivative",),
    "flexarm.mechanics.system": ("System",),
    "flexarm.motion.inputs": (
        "Profile",
        "bang_bang",
        "chirp",
        "cycloid",
        "ramp",
        "sine",
        "spin_up",
        "spline",
        "step",
        "table",
    ),
    "flexarm.motion.point_to_point": ("minimum_jerk", "rest_to_rest", "s_curve", "trapezoid"),
    "flexarm.motion.actuators": ("Actuator",),
    "flexarm.motion.laws": ("Feedback",),
    "flexarm.motion.sensors": ("Sensor",),
    "flexarm.motion.generalized_alpha": ("GeneralizedAlpha", "Newmark"),
    "flexarm.motion.methods": ("Method",),
    "flexarm.motion.runge_kutta": ("RungeKutta",),
    "flexarm.motion.run": ("Run",),
    "flexarm.motion.loads": ("PointLoad",),
    "flexarm.motion.simulate": ("simulate",),
    "flexarm.motion.stabilization": ("Baumgarte",),
    "flexarm.robot": (
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
        "OnLine",
        "OnPlane",
        "PointMass",
        "PointSupport",
        "Pose",
        "Reduced",
        "Revolute",
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
    ),
    "flexarm.show.animate": ("Animation",),
    "flexarm.show.histories": ("plot_compare",),
    "flexarm.show.shapes": ("plot_modes",),
    "flexarm.show.sweeps": ("plot_sweep",),
    "flexarm.sweeps.monte_carlo": ("monte_carlo",),
    "flexarm.sweeps.sensitivity": ("sensitivity",),
    "flexarm.sweeps.sweeping": ("sweep",),
    "flexarm.symbolic.closed_form": ("ClosedForm", "equations"),
}
_HOME = {name: module for module, names in _LATER.items() for name in names}

__all__ = [
    "Actuator",
    "Animation",
    "Baumgarte",
    "ClosedForm",
    "Convergence",
    "Damping",
    "Derivative",
    "DescriptionError",
    "Drive",
    "Elements",
    "Energy",
    "Feedback",
    "FixedPrismatic",
    "Flexible",
    "GeneralizedAlpha",
    "Linearization",
    "Link",
    "Loop",
    "Material",
    "Method",
    "ModeSet",
    "Modes",
    "Newmark",
    "OnLine",
    "OnPlane",
    "PointLoad",
    "PointMass",
    "PointSupport",
    "Pose",
    "Profile",
    "Reduced",
    "Revolute",
    "RigidTorques",
    "Robot",
    "Run",
    "RungeKutta",
    "Section",
    "Sensor",
    "Shaper",
    "Signal",
    "Sleeve",
    "SlidingPrismatic",
    "Splines",
    "StateSpace",
    "Stop",
    "System",
    "UnitsWarning",
    "ValidityWarning",
    "Weld",
    "__version__",
    "bang_bang",
    "chirp",
    "convergence",
    "cycloid",
    "equations",
    "equilibrium",
    "inverse_kinematics",
    "library",
    "linearize",
    "load",
    "minimum_jerk",
    "modes",
    "monte_carlo",
    "plot_compare",
    "plot_modes",
    "plot_sweep",
    "ramp",
    "reduced",
    "rest_to_rest",
    "rigid_torques",
    "s_curve",
    "save",
    "schema",
    "sensitivity",
    "shaper",
    "simulate",
    "sine",
    "spin_up",
    "spline",
    "step",
    "sweep",
    "table",
    "trapezoid",
]


if not TYPE_CHECKING:  # type checkers read the imports above, and refuse names that are not there

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'flexarm' has no attribute '{name}'")
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value


def __dir__() -> list[str]:
    return __all__
