"""How a run is computed: its method, its tolerance, its steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from flexarm.codegen.evaluator import Native
from flexarm.codegen.lock import building
from flexarm.foundation.numbers import Array, real_number
from flexarm.motion.choice import better, usual
from flexarm.motion.events import Watch
from flexarm.motion.integration import Integration
from flexarm.motion.interrupts import Interrupts
from flexarm.motion.method_names import Compiled, Solver, chosen_method, name_of
from flexarm.motion.methods import Method
from flexarm.motion.recorder import Recorder, Statistics
from flexarm.motion.schedule import Schedule
from flexarm.motion.stabilization import Stabilization
from flexarm.motion.step_size import LARGEST_RTOL, SMALLEST_RTOL, Tolerance
from flexarm.motion.stepper import CompiledStepper, Stepper
from flexarm.robot import Link, Robot
from flexarm.robot.joints import Prismatic

CAPACITY = 1024  # steps a call
CAPACITY_OF_CONTROLLER = 64  # where each sample of a digital controller is a breakpoint
NEXT_TO_NOTHING = 1e-6  # of the robot's mass
TIGHTER = 10.0  # times a tolerance, to see how far off a run is; what else bounds steps is halved


@dataclass(frozen=True)
class Plan:
    """What `simulate` was asked for, as far as it concerns the steps."""

    method: str | Method
    radius: float | None
    dt: float | None
    tolerance: Tolerance
    stabilization: Stabilization
    native: Native
    longest: float = math.inf  # step (s)

    def __post_init__(self) -> None:
        _ = self.solver  # what cannot be is told now

    @property
    def solver(self) -> Solver:
        return chosen_method(self.method, self.radius, self.tolerance, self.dt)

    def tighter(self, run: Statistics) -> Plan:
        """Of a run that is more accurate than another, whatever bounded the steps of that."""
        dt = None if self.dt is None else self.dt / 2
        return replace(self, dt=dt, tolerance=self.tolerance.divided(TIGHTER), longest=run.largest_step / 2)

    def integration(
        self, schedule: Schedule, q: Array, v: Array, wanted: Array, watch: Watch, interrupts: Interrupts
    ) -> Integration:
        """The run from (q, v), ready to start."""
        with building:
            chooses = self.method == "auto" and self.radius is None and self.dt is None
            solver = Compiled(usual(schedule.system.robot), self.tolerance) if chooses else self.solver
            stepper = self._stepper(solver, schedule)
            if chooses and isinstance(stepper, CompiledStepper):
                other = better(stepper, schedule, q, v, self.tolerance)
                if other is not None:
                    stepper = self._stepper(Compiled(other, self.tolerance), schedule)
        return self.integration_with(stepper, schedule, wanted, watch, interrupts)

    def integration_with(
        self, stepper: Stepper, schedule: Schedule, wanted: Array, watch: Watch, interrupts: Interrupts
    ) -> Integration:
        """The same with a stepper that is chosen already."""
        size = self.solver.step_size(self.tolerance.horizon, self.dt, float(wanted[1]))
        statistics = Statistics(name_of(self.method, stepper))
        recorder = Recorder(wanted, stepper.plant.layout, stepper.order, statistics)
        return Integration(schedule, stepper, size, watch, recorder, interrupts, self.longest)

    def stepper(self, method: Method, schedule: Schedule) -> Stepper:
        """Of a method that was chosen for other robots of the structure."""
        return self._stepper(Compiled(method, self.tolerance), schedule)

    def _stepper(self, solver: Solver, schedule: Schedule) -> Stepper:
        restarts = schedule.controller is not None and not isinstance(solver, Compiled)
        capacity = CAPACITY_OF_CONTROLLER if restarts else CAPACITY
        stepper = solver.stepper(schedule.plant(self.stabilization), capacity, self.native, schedule.given)
        if stepper.plant.constraint_solver is not None:
            stepper.plant.constraint_solver.prepare()
        return stepper


def tolerance_of(robot: Robot, rtol: float, atol: float, duration: float) -> Tolerance:
    """Return the tolerance of a run, if `rtol` and `atol` (m) allow errors of at most a tenth of the robot's length."""
    length = sum(link.length for link in robot.links) or 1.0
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
    """Of a motor's coordinate (m), or 1 where that is a length."""
    return 1.0 if isinstance(link.joint, Prismatic) else link.length
