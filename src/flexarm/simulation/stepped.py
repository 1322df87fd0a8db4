"""`Simulation`: a robot that is stepped by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

import numpy as np

from flexarm.codegen.evaluator import Native
from flexarm.codegen.library import building
from flexarm.dynamics.arguments import Energy, Vector
from flexarm.dynamics.system import System
from flexarm.feedback.measurements import Instant, Reader
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.named_arrays import NamedArray, named_array
from flexarm.foundation.validation import Array, real_array, real_number, whole_number
from flexarm.integrators.constraint_solver import Stabilization
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.loads import warn_of_idle_loads
from flexarm.integrators.methods.method import Method
from flexarm.integrators.registry import METHODS, SUNDIALS, chosen_stabilization
from flexarm.integrators.zero_order_hold import ZeroOrderHoldStepper
from flexarm.profiles.profile import Profile
from flexarm.profiles.segments import Wave
from flexarm.profiles.standard import constant
from flexarm.robot import Robot
from flexarm.simulation.initial_state import initial_state
from flexarm.simulation.options import default_method, tolerance_of
from flexarm.simulation.stepped_checks import ABSURD_SQUARE, GivenWarnings, Reading, StepChecks, StepError, available

MIN_STEP_S = 1e-9  # s
MOST_SUBSTEPS = 10_000
ERROR_HORIZON_S = 1.0  # s, for which errors are reported
INSIDE_STEP = 1e-9  # of a step: loads at its ends are those just inside
FLOAT_TYPE = np.dtype(float)


@dataclass(frozen=True)
class SimulationState:
    """Complete state of a `Simulation`, `sim.state`: it can be kept, pickled and restored.

    Parameters
    ----------
    t : float
        Time (s).
    robot : str
        Fingerprint of the robot.
    steps_by : str
        Method and duration of its steps.
    start : float
        Start of the steps that are counted (s).
    since : float
        Time of the last reset (s).
    column : bytes
        State of the method.
    """

    t: float  # s
    robot: str  # a fingerprint
    steps_by: str  # the method and the length of its steps
    start: float  # of the steps that are counted (s)
    since: float  # the last reset (s)
    column: bytes

    def __repr__(self) -> str:
        return f"SimulationState(t={self.t:g}, robot={self.robot[:8]!r}, steps_by={self.steps_by!r})"


class Simulation:
    """Robot that is stepped by hand, with the torques held over each step.

    Parameters
    ----------
    robot : Robot or System
        The robot. A `fa.System` can be shared by many simulations.
    dt : float, optional
        Duration of a step (s).
    q0, v0 : optional
        Initial coordinates and rates, as for `fa.simulate`.
    loads : sequence of PointLoad, optional
        Forces and torques on points of links; their profiles are evaluated at the stages of each step.
    method : str or Method, optional
        As for `fa.simulate`, except `"adams"` and `"bdf"`. `"auto"` is `"esdirk"` (implicit, order 5; it damps motions
        that are too fast for the step), or generalized-alpha if a slide counts by the nodes of a mesh.
    substeps : int, optional
        Number of equal parts in which each step is computed.
    stabilization : optional
        How constraints are maintained, as for `fa.simulate`.
    rtol : float, optional
        Largest position error of the links in a second, as a fraction of the robot's length; from 1e-13 to 0.1. It
        decides how accurately each step is solved. The step size is fixed: a larger estimated error (`sim.error`) gives
        one warning.
    native : {"auto", True, False}, optional
        As for `fa.simulate`. With "auto" rounding changes when machine code takes over.

    Notes
    -----
    Values that are read (`q`, `v`, `a`, ...) are copies. Each simulation has arrays of its own, so that many can run in
    threads, each in one. `copy.copy` and pickle give another simulation in the same state.

    A step without a result raises `fa.StepError` and leaves the state unchanged, also when a joint reaches the end of
    its travel.

    Examples
    --------
    >>> import flexarm as fa
    >>> sim = fa.Simulation(fa.library.two_link_arm(), dt=1e-3, native=False)
    >>> for _ in range(100):
    ...     sim.step({"upper": 0.02 - 0.001 * sim.v["upper.q"]})
    >>> round(sim.t, 6), len(sim.q), sim.error < 1e-6
    (0.1, 8, True)
    """

    def __init__(
        self,
        robot: Robot | System,
        dt: float = 1e-3,
        *,
        q0: Vector | str = None,
        v0: Vector = None,
        loads: Any = (),
        method: str | Method = "auto",
        substeps: int = 1,
        stabilization: Stabilization = "projection",
        rtol: float = 1e-4,
        native: Native = "auto",
    ) -> None:
        self._system = robot if isinstance(robot, System) else System(robot)
        self._dt = real_number("dt", real_number("dt", dt, "s", above=0), "s", least=MIN_STEP_S)
        if whole_number("substeps", substeps, least=1) > MOST_SUBSTEPS:
            raise ValueError(f"substeps = {substeps}: must be at most {MOST_SUBSTEPS}")
        if not isinstance(native, bool) and not (isinstance(native, str) and native == "auto"):
            raise ValueError(f"native = {shown(native)}: must be 'auto', True or False")
        self._tolerance = tolerance_of(self.system.robot, rtol, 0.0, ERROR_HORIZON_S)
        stepped = _method(method, self.system.robot)
        held = chosen_stabilization(stabilization, method)
        self._options: dict[str, Any] = {
            **{"loads": tuple(loads) if isinstance(loads, list) else loads, "method": method, "substeps": substeps},
            **{"stabilization": stabilization, "rtol": rtol, "native": native},
        }
        with building:
            self._schedule = Schedule(self.system, None, None, loads)
            self._schedule.require_data(np.inf)
            self._initial = initial_state(self.system, self._schedule, q0, v0)
            self._stepper = ZeroOrderHoldStepper(
                self._schedule.plant(held), stepped, self.dt, substeps, native, self._schedule.given, self._tolerance
            )
        warn_of_idle_loads(self.system, self._schedule.loads, self._initial[0])
        self._lock, self._given_warnings = threading.Lock(), GivenWarnings()
        self._nodes = (np.arange(substeps)[:, None] + np.array(stepped.nodes)) / substeps
        self._shape, places = (self.system.nu,), self._stepper.plant.input_places
        self._torques = self._stepper.inputs[:, :, places[1]]
        profiles = [each for _, parts in self._schedule.loads for each in parts]
        self._varies = not all(_is_constant(each) for each in profiles)
        if profiles and not self._varies:
            self._stepper.inputs[:, :, places[2]] = [each(0.0) for each in profiles]
        self._before, self._after, self._diagnostics = (
            self._stepper.before,
            self._stepper.after,
            self._stepper.diagnostics,
        )
        self._robot_key = _fingerprint(self._schedule.given.numbers.tobytes(), repr(self._stepper.plant.identity))
        self._steps_by = f"{stepped!r}, {self.dt!r} s in {substeps}"
        self._reading: Reading | None = None
        self.reset()

    # --- going on ---

    def step(self, torque: Any = None) -> None:
        """Advance by dt with constant torques.

        Parameters
        ----------
        torque : array_like or mapping, optional
            Torques of the actuators (N m or N), in the order of `system.inputs` or by link name (others are zero). By
            default none.

        Raises
        ------
        StepError
            If the step has no result.
        """
        if not (isinstance(torque, np.ndarray) and torque.dtype is FLOAT_TYPE and torque.shape == self._shape):
            torque = self._checked(torque)
        with self._lock:
            self._torques[:] = torque
            if self._varies:
                self._read_loads()
            if self._stepper.take() < 0:
                raise RuntimeError("the step's machine code could not be run; native=False does without it")
            error, left, alarms, size, _ = self._diagnostics.tolist()
            watch = self._watch
            if alarms or error > watch.allowed or left > watch.unsolved or not size < ABSURD_SQUARE or watch.always:
                self._look()
            self._reading = None
            self._before[:] = self._after  # all that changes, at once

    def reset(self, q0: Vector | str = None, v0: Vector = None, t: float = 0.0) -> None:
        """Start again.

        Parameters
        ----------
        q0, v0 : optional
            Coordinates and rates, as for `fa.simulate`. By default those with which the simulation was created.
        t : float, optional
            Time (s).
        """
        t = real_number("t", t, "s")
        if t + self.dt / 2 == t:
            raise ValueError(f"t = {shown(t)}: is so large that steps of {self.dt:g} s are lost in its rounding")
        q, v = self._initial
        if q0 is not None or v0 is not None:
            with building:
                given = q if q0 is None else q0, v if v0 is None else v0
                q, v = initial_state(self.system, self._schedule, *given)
        with self._lock:
            layout, stepper = self._stepper.layout, self._stepper
            column, at = np.zeros(layout.size), layout.state
            column[at.q], column[at.v] = q, v
            state, idle = column[None, layout.own, None], self._idle(t)[None, :, None]
            a, power, drained, *forces = (each[0, :, 0] for each in stepper.start(state, idle, np.zeros(1)))
            column[at.a] = column[at.aux] = a
            column[at.given], column[at.drained] = power[0], drained[0]
            if forces:
                column[at.forces] = forces[0]
            column[layout.last] = np.inf  # unlike any inputs
            self._begin(column, t, t)

    @property
    def state(self) -> SimulationState:
        """Complete state of the simulation.

        It can be assigned to this or another simulation of the same robot, `sim.state = kept`.
        """
        with self._lock:
            column = self._before.tobytes()
            return SimulationState(self.t, self._robot_key, self._steps_by, self._start, self._since, column)

    @state.setter
    def state(self, kept: SimulationState) -> None:
        if not isinstance(kept, SimulationState):
            raise TypeError(f"state = {shown(kept)}: must be what `sim.state` of a simulation gave")
        if kept.robot != self._robot_key:
            raise ValueError(f"state = {shown(kept)}: is of another robot, of other loads or another stabilization")
        column, start = np.frombuffer(kept.column).copy(), kept.start
        if kept.steps_by != self._steps_by:  # what other steps have prepared for the next is of no use here
            column[self._stepper.layout.last], column[-1], start = np.inf, 0.0, kept.t
        with self._lock:
            self._begin(column, start, kept.since)

    def copy(self) -> Simulation:
        """Return an independent simulation in the same state.

        Returns
        -------
        Simulation
        """
        return _made_again(
            self.system, self.dt, self._options, self._initial, replace(self._given_warnings), self.state
        )

    __copy__ = copy

    def __deepcopy__(self, memory: Any) -> Simulation:
        return self.copy()

    def __reduce__(self) -> Any:
        return _made_again, (self.system, self.dt, self._options, self._initial, self._given_warnings, self.state)

    # --- reading ---

    @property
    def system(self) -> System:
        """Equations of the robot."""
        return self._system

    @property
    def dt(self) -> float:
        """Duration of a step (s)."""
        return self._dt

    @property
    def t(self) -> float:
        """Time (s)."""
        return self._time(self._before)

    @property
    def q(self) -> NamedArray:
        """Coordinates, by index or by name: `sim.q["upper.q"]`."""
        return named_array(self._before[self._stepper.layout.state.q], self.system.names)

    @property
    def v(self) -> NamedArray:
        """Rates of the coordinates."""
        return named_array(self._before[self._stepper.layout.state.v], self.system.names)

    @property
    def a(self) -> NamedArray:
        """Accelerations at the end of the last step, with its torques; before the first step without torques."""
        return named_array(self._before[self._stepper.layout.state.a], self.system.names)

    @property
    def torque(self) -> Array:
        """Torques of the last step in the order of `system.inputs`; zero before the first one."""
        torques = self._before[self._stepper.layout.last][1 : 1 + self.system.nu]
        return np.where(np.isfinite(torques), torques, 0.0)

    @property
    def tip(self) -> Array:
        """Position of the last link's tip (m), shape (3,)."""
        return self._read().tip.copy()

    @property
    def energy(self) -> Energy:
        """Kinetic, elastic, gravitational and drive energy (J)."""
        return Energy(*self._read().energies)

    @property
    def work(self) -> float:
        """Work of torques and loads since the reset (J)."""
        return float(self._before[self._stepper.layout.state.work])

    @property
    def dissipated(self) -> float:
        """Energy dissipated by damping and friction since the reset (J)."""
        return float(self._before[self._stepper.layout.state.lost])

    @property
    def error(self) -> float:
        """Estimated position error of the links (m): the sum of the errors of all steps since the reset."""
        return float(self._before[self._stepper.layout.diagnostics][0])

    def __getitem__(self, name: str) -> float:
        """Return a number by name.

        Parameters
        ----------
        name : str
            `upper.q`, `upper.q'`, `upper.q''`, `tip.x`, `deflection.upper.y`, `torque.upper`, `kinetic`, `elastic`,
            `gravity`, `drive`, `work`, `dissipated`, `t`, `error`, or an output of `fa.linearize`, such as `tip.y'` or
            `fore.strain(0.1)`.

        Returns
        -------
        float
        """
        return self.reader(name)(self)

    def reader(self, name: str) -> Callable[[Simulation], float]:
        """Return the function that reads a number from simulations of this robot, for loops that need it often.

        Parameters
        ----------
        name : str
            Name of the number, as for `sim[name]`.

        Returns
        -------
        callable
            It takes a simulation and returns a float.
        """
        if isinstance(name, str) and name in self._readers:
            return self._readers[name]
        if isinstance(name, str) and self._outputs.has(name):
            return partial(_read_output, self._outputs, name)
        known = [*self._readers, *self._outputs.names]
        raise KeyError(f"there is no {shown(name)} in this simulation{suggestion(name, known)}")

    def __repr__(self) -> str:
        return f"Simulation({self.system.robot.name!r}, dt={self.dt:g}, t={self.t:g})"

    # --- inside ---

    @cached_property
    def _readers(self) -> dict[str, Callable[[Simulation], float]]:
        return available(self.system)

    @cached_property
    def _outputs(self) -> Reader:
        """Outputs of linear models and laws."""
        return Reader(self.system)

    def _instant(self) -> Instant:
        """Return the state with the loads that acted when its accelerations were computed."""
        at = self._stepper.layout.state
        parts = (self._before[part] for part in (at.q, at.v, at.a, at.forces))
        return self._schedule.instant(max(self._start, self.t - INSIDE_STEP * self.dt), *parts)

    def _begin(self, column: Array, start: float, since: float) -> None:
        """Continue from a state without knowledge of earlier steps."""
        watch = StepChecks(self.system, self._stepper, self._tolerance, self.dt, self._given_warnings)
        watch.require_at_start(column[self._stepper.layout.own])
        self._watch, self._start, self._since, self._reading = watch, start, since, None
        self._before[:] = column

    def _time(self, column: Array) -> float:
        """Return the time of a state, from the number of steps, so that it does not drift."""
        return float(self._start + column[-1] / len(self._torques) * self.dt)

    def _look(self) -> None:
        """Examine a step whose checks failed."""
        if not np.isfinite(self._torques).all():
            k = int(np.argmin(np.isfinite(self._torques[0, 0])))
            value = self._torques[0, 0, k]
            raise ValueError(f"torque of '{self.system.inputs[k]}' = {value}: must be finite")
        self._watch.look(self.t, self._time(self._after) - self._since)

    def _idle(self, t: float) -> Array:
        """Return the inputs without torques."""
        rows, failure = self._schedule.inputs_until_failure(np.array([t]))
        if failure is not None:
            raise ValueError(str(failure)) from None
        idle: Array = rows[0]
        return idle

    def _read_loads(self) -> None:
        ends = np.clip(
            self._nodes, INSIDE_STEP, 1 - INSIDE_STEP
        )  # a load that jumps between two steps does so for both
        times = (self.t + self.dt * ends).ravel()
        rows, failure = self._schedule.inputs_until_failure(times, self._torques[0, 0].copy())
        if failure is not None:
            raise StepError(str(failure))
        self._stepper.inputs[:] = rows.reshape(self._stepper.inputs.shape)

    def _read(self) -> Reading:
        """Return energies, tip and deflections of the present state, evaluated once for each state."""
        with self._lock:
            if self._reading is None:
                at, inputs = self._stepper.layout.state, np.zeros((1, self._stepper.plant.input_count))
                rows = (self._before[part][None, :] for part in (at.q, at.v, at.a))
                energies, _, tip, _, bends = self._stepper.report(*rows, inputs)
                self._reading = Reading(energies[0], tip[0], bends[0])
            return self._reading

    def _checked(self, torque: Any) -> Array:
        """Return torques that were not given as an array of floats."""
        system = self.system
        if torque is None:
            return np.zeros(system.nu)
        if isinstance(torque, Mapping):
            for name in torque:
                system.require_input(name, "torque")
            return np.array([real_number(f"torque['{name}']", torque.get(name, 0.0)) for name in system.inputs])
        values = np.atleast_1d(real_array("torque", torque))
        if values.shape != (system.nu,):
            raise ValueError(
                f"torque has shape {values.shape}: give one number for each of {', '.join(system.inputs) or 'none'}"
            )
        return values


def _read_output(outputs: Reader, name: str, sim: Simulation) -> float:
    return outputs(name, sim._instant())


def _method(method: Any, robot: Robot) -> Method:
    """Return the integration method for the argument `method`."""
    if isinstance(method, Method):
        return method
    if isinstance(method, str) and method == "auto":
        return default_method(robot)
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    why = ": chooses its own steps" if isinstance(method, str) and method in SUNDIALS else ""
    raise ValueError(f"method = {shown(method)}{why}: must be one of {', '.join(METHODS)}, or a fa.Method")


def _is_constant(load: Profile) -> bool:
    """Return True if a load is a constant number."""
    return isinstance(load.pieces[0], Wave) and load == constant(load(0.0))


def _fingerprint(numbers: bytes, identity: str) -> str:
    return sha256(numbers + identity.encode()).hexdigest()


def _made_again(
    system: System,
    dt: float,
    options: dict[str, Any],
    initial: tuple[Array, Array],
    given_warnings: GivenWarnings,
    state: SimulationState,
) -> Simulation:
    sim = Simulation(system, dt, q0=initial[0], v0=initial[1], **options)
    sim._initial, sim._given_warnings = initial, given_warnings
    sim.state = state
    return sim
