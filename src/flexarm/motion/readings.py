"""What a run tells of its states: energies, tips, deflections and, while its inputs are at hand, torques."""

from __future__ import annotations

import threading
from functools import cached_property, partial
from typing import Any

import numpy as np

from flexarm.codegen.lock import building
from flexarm.codegen.loops import Runner
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.digital_law import Commands, held_at
from flexarm.motion.nodes import ROUNDING, snapped
from flexarm.motion.records import Arrays, Deferred, arrays
from flexarm.motion.report import Report, report
from flexarm.motion.sampling import LOW
from flexarm.motion.schedule import Schedule
from flexarm.motion.stepper import Stepper

Points = dict[str, tuple[str, float | None]]  # by name: link, and place on it


@dataclass(frozen=True)
class Inputs:
    """What drove a run, at any time of it: inputs are those after a jump, at the end of the run those before."""

    schedule: Schedule
    stepper: Stepper
    jumps: Array
    commands: Commands  # of a digital controller; it may have a memory, so it is not asked again
    end: float

    @property
    def may_be_late(self) -> bool:
        """True if inputs are the same whenever they are evaluated, and are not themselves results."""
        return self.schedule.is_data and not self.schedule.loads

    def moment(self, times: Array) -> Array:
        """The times at which inputs are asked for."""
        near = snapped(times, self.jumps, ROUNDING * self.end)
        return np.minimum(near, np.nextafter(self.end, -np.inf)) if self.end > 0 else near

    def at(self, moments: Array) -> Array:
        """Not numbers where a function of the user's fails: the steps happened not to ask for them there."""
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
        """What the digital controller said last."""
        return held_at(self.commands, moments) if self.commands else None

    def settled(
        self, moments: Array, q: Array, v: Array, a: Array, inputs: Array
    ) -> tuple[Array, Array, Array, Array | None]:
        """States on the constraints, since they may lie between steps, and the multipliers of these; with the
        accelerations of the equations.

        What is read between steps fits q and v much better than their derivatives: forces, which are made of these,
        would be far off where a step follows a vibration with few nodes. Methods of low order have errors in q and v
        that stiff modes would make large accelerations of; theirs are taken as they are, but for jumps, where steps
        begin with others that stiff modes bear better.
        """
        anew = (np.isin(moments, self.jumps) | (self.stepper.order > LOW)) & np.isfinite(inputs).all(axis=1)
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


class Readings:
    """Arrays of a run at any times, from its states then. Without inputs there are no torques and reactions."""

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
        """From rows of (q, v, a, work, lost), the first three with a law's states behind them; the first row is the
        start, against which energies are balanced.

        accelerations_later: compute accelerations and torques when they are read. Functions of the user may have a
        memory: inputs with such functions are evaluated now.
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


def _loads(inputs: Inputs, given: Array) -> dict[str, Array]:
    """By name, the six components of each load."""
    start = 1 + inputs.schedule.system.nu
    return {f"loads[{k}]": given[:, start + 6 * k : start + 6 * k + 6] for k in range(len(inputs.schedule.loads))}


def _law_states(inputs: Inputs, v: Array) -> dict[str, Array]:
    """By name, of a law that was integrated with the robot."""
    law = inputs.schedule.law
    return {} if law is None else dict(zip(law.states, v[:, inputs.schedule.system.nq :].T, strict=True))


def _torques(inputs: Inputs, given: Array, q: Array, v: Array, driving: Array, forces: Array | None) -> Array:
    """Of every actuator: as given or commanded, and what drives the driven joints. (q and v have the law's states.)"""
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
