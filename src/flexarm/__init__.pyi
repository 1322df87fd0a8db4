"""Public names of flexarm. Each is imported from its module when it is first used (`__init__.py`)."""

from ._version import __version__ as __version__
from .analysis.campbell import Campbell as Campbell
from .analysis.campbell import campbell as campbell
from .analysis.convergence import Convergence as Convergence
from .analysis.convergence import convergence as convergence
from .analysis.damping_identification import Decay as Decay
from .analysis.damping_identification import decay as decay
from .analysis.frequency_maps import FrequencyMap as FrequencyMap
from .analysis.frequency_maps import frequency_map as frequency_map
from .analysis.frequency_response import FrequencyResponse as FrequencyResponse
from .analysis.inverse_kinematics import inverse_kinematics as inverse_kinematics
from .analysis.linear import linearize as linearize
from .analysis.modes import ModeSet as ModeSet
from .analysis.modes import modes as modes
from .analysis.rigid_torques import RigidTorques as RigidTorques
from .analysis.rigid_torques import rigid_torques as rigid_torques
from .analysis.spectra import Spectrum as Spectrum
from .analysis.spectra import spectrum as spectrum
from .analysis.state_space import Signal as Signal
from .analysis.state_space import StateSpace as StateSpace
from .analysis.statics import compliance as compliance
from .analysis.statics import compliance_map as compliance_map
from .analysis.statics import equilibrium as equilibrium
from .analysis.statics import stiffness as stiffness
from .control.feedforward import feedforward as feedforward
from .control.feedforward import gravity_torque as gravity_torque
from .control.filters import low_pass as low_pass
from .control.filters import notch as notch
from .control.inversion.inversion import invert as invert
from .control.inversion.result import Inversion as Inversion
from .control.linear_controller import LinearController as LinearController
from .control.linear_controller import Margins as Margins
from .control.lqg import lqg as lqg
from .control.lqg import lqr as lqr
from .control.model_based import (
    computed_torque as computed_torque,
)
from .control.model_based import (
    elastic_joint_linearization as elastic_joint_linearization,
)
from .control.pid import pd as pd
from .control.pid import pid as pid
from .control.robust_lqg import robust_lqg as robust_lqg
from .control.shapers import Shaper as Shaper
from .control.shapers import shaper as shaper
from .control.strain import strain_feedback as strain_feedback
from .dynamics.accuracy.validity import ValidityWarning as ValidityWarning
from .dynamics.arguments import Energy as Energy
from .dynamics.arguments import Linearization as Linearization
from .dynamics.parameter_derivatives import Derivative as Derivative
from .dynamics.system import System as System
from .feedback.actuators import Actuator as Actuator
from .feedback.feedback import Feedback as Feedback
from .feedback.sensors import Sensor as Sensor
from .integrators.constraint_solver import Baumgarte as Baumgarte
from .integrators.loads import PointLoad as PointLoad
from .integrators.methods.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from .integrators.methods.generalized_alpha import Newmark as Newmark
from .integrators.methods.method import Method as Method
from .integrators.methods.runge_kutta import RungeKutta as RungeKutta
from .plotting.animate import Animation as Animation
from .plotting.arm_figures import plot_modes as plot_modes
from .plotting.sweeps import plot_sweep as plot_sweep
from .plotting.time_series import plot_compare as plot_compare
from .profiles.point_to_point import (
    minimum_jerk as minimum_jerk,
)
from .profiles.point_to_point import (
    rest_to_rest as rest_to_rest,
)
from .profiles.point_to_point import (
    s_curve as s_curve,
)
from .profiles.point_to_point import (
    trapezoid as trapezoid,
)
from .profiles.profile import Profile as Profile
from .profiles.standard import (
    bang_bang as bang_bang,
)
from .profiles.standard import (
    chirp as chirp,
)
from .profiles.standard import (
    cycloid as cycloid,
)
from .profiles.standard import (
    ramp as ramp,
)
from .profiles.standard import (
    sine as sine,
)
from .profiles.standard import (
    spin_up as spin_up,
)
from .profiles.standard import (
    spline as spline,
)
from .profiles.standard import (
    step as step,
)
from .profiles.standard import (
    table as table,
)
from .results.run import Run as Run
from .robot import (
    Cylindrical as Cylindrical,
)
from .robot import (
    Damping as Damping,
)
from .robot import (
    DescriptionError as DescriptionError,
)
from .robot import (
    Drive as Drive,
)
from .robot import (
    Elements as Elements,
)
from .robot import (
    FixedPrismatic as FixedPrismatic,
)
from .robot import (
    Flexible as Flexible,
)
from .robot import (
    Frame as Frame,
)
from .robot import (
    Link as Link,
)
from .robot import (
    Loop as Loop,
)
from .robot import (
    Material as Material,
)
from .robot import (
    Modes as Modes,
)
from .robot import (
    OnLine as OnLine,
)
from .robot import (
    OnPlane as OnPlane,
)
from .robot import (
    Planar as Planar,
)
from .robot import (
    PointMass as PointMass,
)
from .robot import (
    PointSupport as PointSupport,
)
from .robot import (
    Pose as Pose,
)
from .robot import (
    Prismatic as Prismatic,
)
from .robot import (
    Reduced as Reduced,
)
from .robot import (
    Revolute as Revolute,
)
from .robot import (
    RigidBody as RigidBody,
)
from .robot import (
    Robot as Robot,
)
from .robot import (
    Screw as Screw,
)
from .robot import (
    Section as Section,
)
from .robot import (
    Sleeve as Sleeve,
)
from .robot import (
    SlidingPrismatic as SlidingPrismatic,
)
from .robot import (
    Splines as Splines,
)
from .robot import (
    Stop as Stop,
)
from .robot import (
    UnitsWarning as UnitsWarning,
)
from .robot import (
    Universal as Universal,
)
from .robot import (
    Weld as Weld,
)
from .robot import (
    from_dh as from_dh,
)
from .robot import (
    library as library,
)
from .robot import (
    load as load,
)
from .robot import (
    save as save,
)
from .robot import (
    schema as schema,
)
from .simulation.simulate import simulate as simulate
from .simulation.stepped import Simulation as Simulation
from .simulation.stepped import SimulationState as SimulationState
from .simulation.stepped_checks import StepError as StepError
from .studio.server import Studio as Studio
from .studio.server import studio as studio
from .sweeps.monte_carlo import monte_carlo as monte_carlo
from .sweeps.sensitivity import sensitivity as sensitivity
from .sweeps.sweep import sweep as sweep
from .symbolic.closed_form import ClosedForm as ClosedForm
from .symbolic.closed_form import equations as equations
