"""Outputs of a run at any times: energies, tips, deflections, torques and loads, from samples and between them."""

from __future__ import annotations

import json
import threading
from functools import cached_property, partial
from typing import Any

import numpy as np

from flexarm.codegen.library import building
from flexarm.codegen.loops import Runner
from flexarm.dynamics.system import System
from flexarm.feedback.digital_law import Commands, held_at
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array
from flexarm.integrators.compiled_step import Report, report
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.stepper import ScalarStepper
from flexarm.results.dataset import Arrays, Deferred, Variable, arrays
from flexarm.results.step_history import EQUAL_TIMES, LOW_ORDER, StepHistory, snapped
from flexarm.robot import Robot

Points = dict[str, tuple[str, float | None]]  # by name: link, and place on it


@dataclass(frozen=True)
class Inputs:
    """Inputs of a run at any time: at a jump those after it, at the end of the run those before."""

    schedule: Schedule
    stepper: ScalarStepper
    jumps: Array
    commands: Commands  # of a digital controller; it may have a memory, so it is not asked again
    end: float

    @property
    def may_be_late(self) -> bool:
        """True if inputs are the same whenever they are evaluated, and are not themselves results."""
        return self.schedule.is_data and not self.schedule.loads

    def moment(self, times: Array) -> Array:
        """Return the times at which inputs are evaluated for given times."""
        near = snapped(times, self.jumps, EQUAL_TIMES * self.end)
        return np.minimum(near, np.nextafter(self.end, -np.inf)) if self.end > 0 else near

    def at(self, moments: Array) -> Array:
        """Return the inputs at given times; nan where a function of the user fails."""
        held = self._held(moments)
        try:
            return self.schedule.inputs(moments, held)
        except Exception:
            rows = [
                self._one(moments[k : k + 1], None if held is None else held[:, k : k + 1]) for k in range(len(moments))
            ]
            return np.concatenate(rows)

    def _one(self, moment: Array, held: Array | None) -> Array:
        try:
            return self.schedule.inputs(moment, held)
        except Exception:
            return np.full((1, self.stepper.plant.input_count), np.nan)

    def _held(self, moments: Array) -> Array | None:
        """Return the last output of the digital controller at each time."""
        return held_at(self.commands, moments) if self.commands else None

    def settled(
        self, moments: Array, q: Array, v: Array, a: Array, inputs: Array
    ) -> tuple[Array, Array, Array, Array | None]:
        """Return states projected onto the constraints, with accelerations of the equations and multipliers.

        Interpolated states fit q and v much better than their derivatives: forces computed from these would be wrong
        where a step resolves a vibration with few nodes. Methods of low order have errors in q and v that stiff modes
        turn into large accelerations; their states are not projected, except at jumps.
        """
        anew = (np.isin(moments, self.jumps) | (self.stepper.order > LOW_ORDER)) & np.isfinite(inputs).all(axis=1)
        solver = self.stepper.plant.constraint_solver
        forces = None
        if solver is not None:
            columns = (q.T, v.T, a.T, inputs.T, self.schedule.given.numbers)
            if solver.projects:
                q, v, a, forces = (part.full().T for part in solver.settled(*columns))
            else:
                forces = solver.multipliers(*columns).full().T
        if anew.any():
            a = a.copy()
            a[anew], _, _, *held = self.stepper.starts(q[anew], v[anew], inputs[anew])
            if held:
                assert forces is not None
                forces[anew] = held[0]
        return q, v, a, forces


class RunOutputs:
    """Evaluates the arrays of a run at any times from its states. Without inputs there are no torques and reactions."""

    def __init__(self, system: System, points: Points, inputs: Inputs | None = None) -> None:
        self.system, self.points, self.inputs = system, points, inputs
        self._lock = threading.Lock()  # the functions work on arrays of their own

    @cached_property
    def _report(self) -> Report:
        if self.inputs is not None:
            return self.inputs.stepper.report
        with building:
            idle = Schedule(self.system, None, None, ())
            return Report(Runner(report(idle.plant())), idle.given.numbers)

    def __call__(
        self, times: Array, rows: Array, attributes: dict[str, str], *, accelerations_later: bool = False
    ) -> Arrays:
        """Evaluate all arrays from rows of (q, v, a, work, lost), the first three with the states of a law behind them.

        The first row is the start, relative to which energies are balanced. With `accelerations_later`, accelerations
        and torques are computed when they are read, unless functions of the user are among the inputs, which may have a
        memory.
        """
        with self._lock:
            return self._read(times, rows, attributes, accelerations_later and self._may_defer)

    @property
    def _may_defer(self) -> bool:
        """True if accelerations follow from q, v and inputs alone, and nothing else from accelerations."""
        return self.inputs is not None and self.inputs.schedule.law is None and not self.system.constraints

    def _forces(self, times: Array, q: Array, v: Array, a: Array, given: Array | None) -> dict[str, Array]:
        """Return accelerations and torques at samples of a robot without constraints."""
        assert self.inputs is not None
        moments = self.inputs.moment(times)
        given = self.inputs.at(moments) if given is None else given
        with self._lock:
            q, v, a, _ = self.inputs.settled(moments, q, v, a, given)
            driving = self._report(q, v, a, given)[3] if self.inputs.schedule.driven else np.zeros((len(q), 0))
            return {"a": a, "torque": _torques(self.inputs, given, q, v, driving, None)}

    def _read(self, times: Array, rows: Array, attributes: dict[str, str], deferred: bool) -> Arrays:
        system, n = self.system, self.system.nq
        work, lost = rows[:, -2], rows[:, -1]
        width = (rows.shape[1] - 2) // 3
        q, v, a = every = [rows[:, k * width : (k + 1) * width] for k in range(3)]
        forces, given, parts = None, np.zeros((len(times), self._report.inputs)), dict[str, Any]()
        later: Deferred | None = None
        inputs_later = deferred and self.inputs is not None and self.inputs.may_be_late
        if self.inputs is None:
            every = [each[:, :n] for each in every]
        elif not inputs_later:
            moments = self.inputs.moment(times)
            given = self.inputs.at(moments)
            if not deferred:
                *every, forces = self.inputs.settled(moments, q, v, a, given)
        energies, tip_rotation, tip, driving, deflection = self._report(*every, given)
        total = energies.sum(axis=1)
        if self.inputs is not None:
            if deferred:
                later = Deferred(partial(self._forces, times, q, v, a, None if inputs_later else given))
            parts["torque"] = later or _torques(self.inputs, given, every[0], every[1], driving, forces)
            parts["loads"] = _loads(self.inputs, given)
            parts["law_states"] = _law_states(self.inputs, every[1])
        q, v, a = (each[:, :n] for each in every)
        if forces is not None:
            parts["reaction"] = -forces
        if system.constraints:
            parts["rows"] = {row.name: row.force_unit for row in system.constraint_rows}
            parts["violation"] = np.abs(system.constraint(q)).max(axis=1, initial=0.0)
        return arrays(
            names=system.names,
            units=system.units,
            kinds=[each.kind for each in system.coordinates],
            inputs=system.inputs,
            input_units=system.input_units,
            links=[link.name for link in system.robot.links],
            time=times,
            q=q,
            v=v,
            a=later or a,
            tip=tip,
            tip_name=_tip(system.robot),
            tip_rotation=tip_rotation,
            deflection=deflection,
            points={name: system.frame(link, x, q)[:, :3, 3] for name, (link, x) in self.points.items()},
            attributes=attributes,
            **dict(zip(("kinetic", "elastic", "gravity", "drive"), energies.T, strict=True)),
            work=work,
            dissipated=lost,
            balance=total - total[0] - work + lost,
            **parts,
        )


def _tip(robot: Robot) -> str:
    """Return a description of the robot's tip."""
    name = robot.tip_name
    return f"frame '{name}'" if robot.place(name)[2] else f"the tip of link '{name}'"


def _loads(inputs: Inputs, given: Array) -> dict[str, Array]:
    """Return the six components of each load by name."""
    start = 1 + inputs.schedule.system.nu
    return {f"loads[{k}]": given[:, start + 6 * k : start + 6 * k + 6] for k in range(len(inputs.schedule.loads))}


def _law_states(inputs: Inputs, v: Array) -> dict[str, Array]:
    """Return the states of a law that was integrated with the robot, by name."""
    law = inputs.schedule.law
    return {} if law is None else dict(zip(law.states, v[:, inputs.schedule.system.nq :].T, strict=True))


def _torques(inputs: Inputs, given: Array, q: Array, v: Array, driving: Array, forces: Array | None) -> Array:
    """Return the torque of every actuator: as given or commanded, and of driven joints as needed for their motion."""
    schedule = inputs.schedule
    system = schedule.system
    out = given[:, 1 : 1 + system.nu].copy()
    if schedule.law is not None:
        n = system.nq
        out = schedule.law.torques(given[:, 0], q[:, :n], v[:, :n], v[:, n:])
    if schedule.driven:
        if forces is not None and (solver := inputs.stepper.plant.constraint_solver) is not None:
            driving = driving + solver.pull.function(q.T, forces.T, schedule.given.numbers).full().T[:, schedule.driven]
        forces_at = dict(zip(schedule.driven, driving.T, strict=True))
        for column, actuator in enumerate(system.actuators):
            if (place := actuator.coordinate.index) in forces_at:
                out[:, column] += forces_at[place] / actuator.gear  # beside what a law commands there
    return out


END_TOLERANCE = 1e-9  # of a run's length: so far beyond its end, a time is the end's
INPUTS_ARE_GONE = (
    "a run that was saved, copied or sent elsewhere has left its inputs behind: at times between samples it knows no "
    "torques and reactions; take those of its samples, or simulate it again"
)


class DenseOutput:
    """Recorded steps of a run with what is needed to evaluate outputs between samples."""

    def __init__(self, nodes: StepHistory, readings: RunOutputs | None = None) -> None:
        self.nodes = nodes
        self._given = readings
        self._lock = threading.Lock()  # readings work on arrays of their own

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without inputs: these are functions of the user and compiled code."""
        return DenseOutput, (self.nodes,)

    def at(self, t: Any, attributes: dict[str, str]) -> Arrays:
        """Evaluate all outputs at times t, in the order given."""
        times = self._times(t)
        with self._lock:
            readings = self._readings(attributes)
            asked = np.concatenate([[0.0], times])  # energies are balanced against the start
            return without_first(readings(asked, self.nodes.at(np.minimum(asked, self.nodes.end)), dict(attributes)))

    def system(self, attributes: dict[str, str]) -> System:
        """Return the equations of the robot."""
        with self._lock:
            return self._readings(attributes).system

    def _times(self, t: Any) -> Array:
        times, end = np.array(real_array("t", t), dtype=float), self.nodes.end
        if times.ndim > 1 or not times.size:
            raise ValueError(f"t = {shown(t)}: must be a time (s) or a list of times")
        for each in np.atleast_1d(times):
            if not 0 <= each <= end * (1 + END_TOLERANCE):
                raise ValueError(f"t = {each:.9g}: must be between 0 and {end:.9g} s, the end of this run")
        return np.atleast_1d(times)

    def _readings(self, attributes: dict[str, str]) -> RunOutputs:
        if self._given is None:
            points: Points = json.loads(attributes["options"]).get("points", {})
            self._given = RunOutputs(System(Robot.model_validate(json.loads(attributes["model"]))), points)
        return self._given


def without_first(arrays: Arrays) -> Arrays:
    return arrays._replace(
        variables={name: Variable(each.dims, each.values[1:], each.attrs) for name, each in arrays.variables.items()}
    )
