"""flexarm: the dynamics of robots whose links and joints bend."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flexarm._version import __version__

if TYPE_CHECKING:
    from flexarm.analysis.convergence import Convergence, convergence
    from flexarm.analysis.decays import Decay, decay
    from flexarm.analysis.frequency_maps import FrequencyMap, frequency_map
    from flexarm.analysis.inverse_kinematics import inverse_kinematics
    from flexarm.analysis.linear import linearize
    from flexarm.analysis.measured import FrequencyResponse
    from flexarm.analysis.modes import ModeSet, modes
    from flexarm.analysis.rigid_torques import RigidTorques, rigid_torques
    from flexarm.analysis.rotation import Campbell, campbell
    from flexarm.analysis.spectra import Spectrum, spectrum
    from flexarm.analysis.state_space import Signal, StateSpace
    from flexarm.control.computed_torque import computed_torque
    from flexarm.control.elastic_joints import elastic_joint_linearization
    from flexarm.control.feedforward import feedforward
    from flexarm.control.filters import low_pass, notch
    from flexarm.control.gravity import gravity_torque
    from flexarm.control.inverse.inversion import inverse
    from flexarm.control.inverse.inverted import Inversion
    from flexarm.control.linear_controller import LinearController
    from flexarm.control.loop_margins import Margins
    from flexarm.control.lqg import lqg
    from flexarm.control.lqr import lqr
    from flexarm.control.pd import pd
    from flexarm.control.pid import pid
    from flexarm.control.robust_lqg import robust_lqg
    from flexarm.control.shapers import Shaper, shaper
    from flexarm.control.simulation import Simulation, SimulationState
    from flexarm.control.step_watch import StepError
    from flexarm.control.strain import strain_feedback
    from flexarm.mechanics.answers import Energy, Linearization
    from flexarm.mechanics.derivatives import Derivative
    from flexarm.mechanics.equilibrium import equilibrium
    from flexarm.mechanics.reach import ValidityWarning
    from flexarm.mechanics.system import System
    from flexarm.motion.actuators import Actuator
    from flexarm.motion.generalized_alpha import GeneralizedAlpha, Newmark
    from flexarm.motion.inputs import (
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
    from flexarm.motion.profiles import Profile
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
    from flexarm.studio.server import Studio, studio
    from flexarm.sweeps.monte_carlo import monte_carlo
    from flexarm.sweeps.sensitivity import sensitivity
    from flexarm.sweeps.sweeping import sweep
    from flexarm.symbolic.closed_form import ClosedForm, equations

# Everything is imported when first used: `import flexarm` costs nothing, and describing a robot loads no solver.
_LATER = {
    "flexarm.analysis.convergence": ("Convergence", "convergence"),
    "flexarm.analysis.decays": ("Decay", "decay"),
    "flexarm.analysis.frequency_maps": ("FrequencyMap", "frequency_map"),
    "flexarm.analysis.inverse_kinematics": ("inverse_kinematics",),
    "flexarm.analysis.linear": ("linearize",),
    "flexarm.analysis.measured": ("FrequencyResponse",),
    "flexarm.analysis.modes": ("ModeSet", "modes"),
    "flexarm.analysis.rigid_torques": ("RigidTorques", "rigid_torques"),
    "flexarm.analysis.rotation": ("Campbell", "campbell"),
    "flexarm.analysis.spectra": ("Spectrum", "spectrum"),
    "flexarm.analysis.state_space": ("Signal", "StateSpace"),
    "flexarm.control.feedforward": ("feedforward",),
    "flexarm.control.filters": ("low_pass", "notch"),
    "flexarm.control.gravity": ("gravity_torque",),
    "flexarm.control.pd": ("pd",),
    "flexarm.control.pid": ("pid",),
    "flexarm.control.inverse.inversion": ("inverse",),
    "flexarm.control.inverse.inverted": ("Inversion",),
    "flexarm.control.computed_torque": ("computed_torque",),
    "flexarm.control.elastic_joints": ("elastic_joint_linearization",),
    "flexarm.control.linear_controller": ("LinearController",),
    "flexarm.control.loop_margins": ("Margins",),
    "flexarm.control.lqg": ("lqg",),
    "flexarm.control.lqr": ("lqr",),
    "flexarm.control.robust_lqg": ("robust_lqg",),
    "flexarm.control.shapers": ("Shaper", "shaper"),
    "flexarm.control.simulation": ("Simulation", "SimulationState"),
    "flexarm.control.step_watch": ("StepError",),
    "flexarm.control.strain": ("strain_feedback",),
    "flexarm.mechanics.equilibrium": ("equilibrium",),
    "flexarm.mechanics.reach": ("ValidityWarning",),
    "flexarm.mechanics.answers": ("Energy", "Linearization"),
    "flexarm.mechanics.derivatives": ("Derivative",),
    "flexarm.mechanics.system": ("System",),
    "flexarm.motion.inputs": (
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
    "flexarm.motion.profiles": ("Profile",),
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
    "flexarm.studio": ("studio",),  # the room itself, which can be called
    "flexarm.studio.server": ("Studio",),
    "flexarm.symbolic.closed_form": ("ClosedForm", "equations"),
}
_HOME = {name: module for module, names in _LATER.items() for name in names}

__all__ = [
    "Actuator",
    "Animation",
    "Baumgarte",
    "Campbell",
    "ClosedForm",
    "Convergence",
    "Damping",
    "Decay",
    "Derivative",
    "DescriptionError",
    "Drive",
    "Elements",
    "Energy",
    "Feedback",
    "FixedPrismatic",
    "Flexible",
    "FrequencyMap",
    "FrequencyResponse",
    "GeneralizedAlpha",
    "Inversion",
    "LinearController",
    "Linearization",
    "Link",
    "Loop",
    "Margins",
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
    "Simulation",
    "SimulationState",
    "Sleeve",
    "SlidingPrismatic",
    "Spectrum",
    "Splines",
    "StateSpace",
    "StepError",
    "Stop",
    "Studio",
    "System",
    "UnitsWarning",
    "ValidityWarning",
    "Weld",
    "__version__",
    "bang_bang",
    "campbell",
    "chirp",
    "computed_torque",
    "convergence",
    "cycloid",
    "decay",
    "elastic_joint_linearization",
    "equations",
    "equilibrium",
    "feedforward",
    "frequency_map",
    "gravity_torque",
    "inverse",
    "inverse_kinematics",
    "library",
    "linearize",
    "load",
    "low_pass",
    "lqg",
    "lqr",
    "minimum_jerk",
    "modes",
    "monte_carlo",
    "notch",
    "pd",
    "pid",
    "plot_compare",
    "plot_modes",
    "plot_sweep",
    "ramp",
    "reduced",
    "rest_to_rest",
    "rigid_torques",
    "robust_lqg",
    "s_curve",
    "save",
    "schema",
    "sensitivity",
    "shaper",
    "simulate",
    "sine",
    "spectrum",
    "spin_up",
    "spline",
    "step",
    "strain_feedback",
    "studio",
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
