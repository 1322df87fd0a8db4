"""Which method serves a robot, its inputs, a tolerance and a duration best: what `method="auto"` takes.

How many steps each would take is estimated from the modes at the start, and from how far the inputs shake each of them:
an implicit method follows only those that matter, an explicit one must follow all that move.

How a run is computed: its method, its tolerance, its steps.
"""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import Protocol

import numpy as np

from flexarm.codegen.evaluator import Native
from flexarm.codegen.library import building
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.validation import Array, real_number
from flexarm.integrators.constraint_solver import Stabilization
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.methods.dop853 import Dop853
from flexarm.integrators.methods.esdirk import Esdirk
from flexarm.integrators.methods.generalized_alpha import GeneralizedAlpha
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant
from flexarm.integrators.registry import Compiled, Solver, chosen_method, name_of
from flexarm.integrators.step_runner import CompiledStepper
from flexarm.integrators.step_size import LARGEST_RTOL, SMALLEST_RTOL, STABILITY_FACTOR, LocalSpectrum, Tolerance
from flexarm.integrators.stepper import ScalarStepper
from flexarm.results.step_history import Recorder, Statistics
from flexarm.robot import Link, Robot
from flexarm.robot.joints import SlideJoint
from flexarm.simulation.events import EventDetector
from flexarm.simulation.single_run import SingleRun

MOST_JUMPS = 20  # of the inputs that are looked at
DECAY_FACTOR = 5.0  # times that a mode takes to decay to a third: what it still has to be followed
MAX_STORED_CHOICES = 64  # choices
COST_RATIO = 1.4  # a step of order 8 costs this much more than an implicit one of order 5: 1.0 to 1.6 were measured


_chosen: dict[tuple[object, ...], bool] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class StepCostEstimate:
    """Steps with which a method follows a vibration of frequency w (rad/s) and amplitude A (m) over a time T: those
    with constant A w T (w dt)^order = the error allowed. Constants are measured on an undamped beam."""

    order: int
    constant: float

    def steps(self, amplitudes: Array, frequencies: Array, times: Array, allowed: float) -> float:
        turned = frequencies * times
        finer = (self.constant * amplitudes * turned / allowed) ** (1 / self.order)
        return float((turned * finer)[amplitudes > allowed].max(initial=0.0))


IMPLICIT_COST, EXPLICIT_COST = StepCostEstimate(5, 7.5e-5), StepCostEstimate(8, 5e-7)


def default_method(robot: Robot) -> Method:
    """The method with which a run begins. Where a load jumps from node to node, one that looks at the end of a step
    only: stages on both sides of a jump do not fit together."""
    return GeneralizedAlpha() if _on_mesh(robot) else Esdirk()


class LocalDynamics(Protocol):
    """Small motions of a robot and its response to forces, by which a method is selected."""

    @property
    def plant(self) -> Plant: ...

    def spectrum(self, q: Array, v: Array, u: Array) -> LocalSpectrum: ...

    def accelerations(self, q: Array, v: Array, u: Array) -> Array: ...


def cheaper_method(
    stepper: LocalDynamics, schedule: Schedule, q: Array, v: Array, tolerance: Tolerance
) -> Method | None:
    """A method that takes less work than that of the `stepper`, which is implicit and of order 5, if there is one."""
    robot = schedule.system.robot
    if schedule.controller is not None or not _smooth(robot) or _on_mesh(robot):
        return None
    inputs, _ = schedule.inputs_until_failure(_shaking_times(schedule, tolerance.horizon))
    if not len(inputs):
        return None
    layout = stepper.plant.layout
    start = layout.at_rest(q, v, schedule.law_start)
    masses = sorted(link.total_mass for link in robot.links if link.total_mass) or [1.0]
    mass = (masses[(len(masses) - 1) // 2] + masses[len(masses) // 2]) / 2  # np.median imports numpy.ma
    vectors = (schedule.given.numbers.tobytes(), start.tobytes(), inputs.tobytes())
    key = (*stepper.plant.identity, *vectors, mass, tolerance.horizon, tolerance.allowed)
    is_better = _chosen.get(key)
    if is_better is None:
        is_better = _compared(stepper, start, inputs, mass, tolerance)
        with _lock:
            _chosen[key] = is_better
            while len(_chosen) > MAX_STORED_CHOICES:
                _chosen.pop(next(iter(_chosen)))
    return Dop853() if is_better else None


def _compared(stepper: LocalDynamics, start: Array, inputs: Array, mass: float, tolerance: Tolerance) -> bool:
    """Return True if the explicit method takes less work than the implicit one."""
    layout = stepper.plant.layout
    q, v = start[layout.every_q], start[layout.every_v]
    spectrum = stepper.spectrum(q, v, inputs[0])
    if not len(spectrum.frequencies):
        return False
    explicit, free = Dop853(), stepper.plant.free
    kicks = np.stack([stepper.accelerations(q, v, each)[free] for each in inputs])
    implicit_steps, explicit_steps = _steps(spectrum, v[free], kicks, mass, tolerance)
    moving = spectrum.moving(v[free], _kicked(kicks, layout.states))
    stable = tolerance.horizon / (STABILITY_FACTOR * explicit.longest_step(moving.rates, tolerance.horizon))
    return bool(COST_RATIO * max(explicit_steps, stable) < implicit_steps)


def _kicked(kicks: Array, states: int) -> Array:
    """The largest of each coordinate; the states of a law, which come last, move once the robot does."""
    found = np.abs(kicks).max(axis=0)
    if states:
        found[-states:] = max(found.max(), 1.0)
    return np.asarray(found)


def _smooth(robot: Robot) -> bool:
    """Return True if no force of the robot is stiff only at times (dry friction, stops)."""
    rubs = any(each.coulomb for link in robot.links for each in link.joint.freedom_properties)
    return not rubs and not any(getattr(link.joint, "stop", None) for link in robot.links)


def _on_mesh(robot: Robot) -> bool:
    """Return True if a slide counts by the nodes of a mesh."""
    return any(isinstance(link.joint, SlideJoint) and link.joint.on_mesh for link in robot.links)


def _shaking_times(schedule: Schedule, duration: float) -> Array:
    stops = sorted({0.0, *(time for time in schedule.jumps if 0 < time < duration)})
    return np.array(stops[:MOST_JUMPS])


def _steps(spectrum: LocalSpectrum, v: Array, kicks: Array, mass: float, tolerance: Tolerance) -> tuple[float, float]:
    """Return the numbers of steps of both methods.

    Modes have unit mass, so that a mode of size 1 moves the `mass` by its square root.
    """
    w = spectrum.frequencies
    swings = w > 1e-6 * w.max(initial=0.0)
    pushed, thrown = np.abs(kicks @ spectrum.to_modes.T).max(axis=0)[swings], np.abs(spectrum.to_modes @ v)[swings]
    w = w[swings]
    amplitudes = (pushed / w**2 + thrown / w) / np.sqrt(mass)
    decays = np.maximum(spectrum.decays[swings], 1e-9 / tolerance.horizon)
    times = np.minimum(tolerance.horizon, DECAY_FACTOR * len(kicks) / decays)
    implicit, explicit = (
        each.steps(amplitudes, w, times, tolerance.allowed) for each in (IMPLICIT_COST, EXPLICIT_COST)
    )
    return implicit, explicit


CALL_CAPACITY = 1024  # steps a call
CAPACITY_OF_CONTROLLER = 64  # where each sample of a digital controller is a breakpoint
NEXT_TO_NOTHING = 1e-6  # of the robot's mass
VERIFICATION_FACTOR = 10.0  # times a tolerance, to see how far off a run is; what else bounds steps is halved


@dataclass(frozen=True)
class IntegrationOptions:
    """Options of `simulate` that concern the steps."""

    method: str | Method
    radius: float | None
    dt: float | None
    tolerance: Tolerance
    stabilization: Stabilization
    native: Native
    longest: float = math.inf  # step (s)

    def __post_init__(self) -> None:
        _ = self.solver  # raises what cannot be now

    @property
    def solver(self) -> Solver:
        return chosen_method(self.method, self.radius, self.tolerance, self.dt)

    def tighter(self, run: Statistics) -> IntegrationOptions:
        """Return options of a more accurate run than a given one, whatever bounded its steps."""
        dt = None if self.dt is None else self.dt / 2
        return replace(self, dt=dt, tolerance=self.tolerance.divided(VERIFICATION_FACTOR), longest=run.largest_step / 2)

    def integration(
        self, schedule: Schedule, q: Array, v: Array, wanted: Array, watch: EventDetector, interrupts: Interrupts
    ) -> SingleRun:
        """The run from (q, v), ready to start."""
        with building:
            chooses = self.method == "auto" and self.radius is None and self.dt is None
            solver = Compiled(default_method(schedule.system.robot), self.tolerance) if chooses else self.solver
            stepper = self._stepper(solver, schedule)
            if chooses and isinstance(stepper, CompiledStepper):
                other = cheaper_method(stepper, schedule, q, v, self.tolerance)
                if other is not None:
                    stepper = self._stepper(Compiled(other, self.tolerance), schedule)
        return self.single_run(stepper, schedule, wanted, watch, interrupts)

    def single_run(
        self, stepper: ScalarStepper, schedule: Schedule, wanted: Array, watch: EventDetector, interrupts: Interrupts
    ) -> SingleRun:
        """Return the run of a stepper that was selected before."""
        size = self.solver.step_size(self.tolerance.horizon, self.dt, float(wanted[1]))
        statistics = Statistics(name_of(self.method, stepper))
        recorder = Recorder(wanted, stepper.plant.layout, stepper.order, statistics)
        return SingleRun(schedule, stepper, size, watch, recorder, interrupts, self.longest)

    def stepper(self, method: Method, schedule: Schedule) -> ScalarStepper:
        """Return the stepper of a method that was selected for other robots of the structure."""
        return self._stepper(Compiled(method, self.tolerance), schedule)

    def _stepper(self, solver: Solver, schedule: Schedule) -> ScalarStepper:
        restarts = schedule.controller is not None and not isinstance(solver, Compiled)
        capacity = CAPACITY_OF_CONTROLLER if restarts else CALL_CAPACITY
        stepper = solver.stepper(schedule.plant(self.stabilization), capacity, self.native, schedule.given)
        if stepper.plant.constraint_solver is not None:
            stepper.plant.constraint_solver.prepare()
        return stepper


def tolerance_of(robot: Robot, rtol: float, atol: float, duration: float) -> Tolerance:
    """Return the tolerance of a run, if `rtol` and `atol` (m) allow errors of at most a tenth of the robot's length."""
    length = robot.size
    rtol = real_number("rtol", real_number("rtol", rtol, above=0), least=SMALLEST_RTOL, most=LARGEST_RTOL)
    atol = real_number("atol", atol, "m", least=0, most=LARGEST_RTOL * length)
    return Tolerance(rtol, atol, length, duration, _lightest(robot))


def _lightest(robot: Robot) -> float:
    masses, motors = map(np.array, moving_masses(robot))
    return float(lightest(masses, motors))


def moving_masses(robot: Robot) -> tuple[list[float], list[float]]:
    """Masses of the links (kg), and of motors as if at the tips of theirs."""
    drives = [(link, getattr(link.joint, "drive", None)) for link in robot.links]
    motors = [drive.reflected_inertia / _lever(link) ** 2 for link, drive in drives if drive and drive.elastic]
    return [link.total_mass for link in robot.links], motors


def lightest(masses: Array, motors: Array) -> Array:
    """The least of them along the first axis; what is next to nothing does not count."""
    least = np.minimum(masses.min(axis=0, initial=np.inf), motors.min(axis=0, initial=np.inf))
    return np.asarray(np.maximum(least, NEXT_TO_NOTHING * masses.sum(axis=0)))


def _lever(link: Link) -> float:
    """Return the lever of a motor's coordinate (m), or 1 if the coordinate is a length."""
    return 1.0 if link.joint.freedoms[0].unit == "m" else link.extent or 1.0
