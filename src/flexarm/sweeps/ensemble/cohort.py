"""Members whose robots are of one structure: what is prepared once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.codegen.library import building
from flexarm.codegen.simd_library import SimdWidth
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.outputs import Gains
from flexarm.foundation.messages import collect_warnings, suggestion
from flexarm.foundation.validation import Array, real_number
from flexarm.integrators.constraint_solver import Stabilization
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.loads import warn_of_idle_loads
from flexarm.integrators.methods.method import Method
from flexarm.integrators.registry import Compiled, chosen_stabilization
from flexarm.integrators.step_size import LocalSpectrum
from flexarm.results.checks import smoothed_steps
from flexarm.robot import Robot
from flexarm.simulation.initial_state import initial_state
from flexarm.simulation.options import IntegrationOptions, cheaper_method, default_method, tolerance_of
from flexarm.simulation.run_checks import require_finite_work, require_seen_inputs, sample_times
from flexarm.simulation.simulate import MIN_DURATION_S
from flexarm.sweeps.apply_changes import apply_changes
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble.lane_code import LaneCode, lane_code_of
from flexarm.sweeps.ensemble.lane_stepper import LaneStepper
from flexarm.sweeps.ensemble.member_groups import MemberOfGroup
from flexarm.sweeps.ensemble.parameter_rows import RowMaker

RIGID_FREQUENCY_SHARE = 1e-6  # of the fastest: lower frequencies are those of rigid motions


class NotBatchable(Exception):
    """Members cannot share their steps, and why."""


@dataclass(frozen=True)
class MemberOptions:
    """Arguments of `fa.simulate` for members; `width`: SIMD lanes, if not those of the processor."""

    method: str | Method = "auto"
    radius: float | None = None
    stabilization: Stabilization = "projection"
    rtol: float = 1e-4
    atol: float = 0.0
    dt: float | None = None
    sample: float | None = None
    points: Mapping[str, tuple[str, float]] | None = None
    events: Any = None
    verify: bool = False
    native: Any = "auto"
    width: SimdWidth | None = None

    @staticmethod
    def of(options: Mapping[str, Any], width: SimdWidth | None = None) -> MemberOptions:
        """Return the options of a case; raise TypeError for an unknown one."""
        known = [each.name for each in fields(MemberOptions) if each.name != "width"]
        for name in options:
            if name not in known:
                raise TypeError(f"there is no option '{name}'{suggestion(name, known)}")
        return MemberOptions(**options, width=width)

    @property
    def selects_method(self) -> bool:
        """True if the method is selected automatically."""
        return self.method == "auto" and self.radius is None and self.dt is None

    def integration_options(self, robot: Robot, duration: float) -> IntegrationOptions:
        """Return the options of the integration of a robot."""
        duration = real_number("duration", real_number("duration", duration, "s", above=0), "s", least=MIN_DURATION_S)
        dt = None if self.dt is None else real_number("dt", self.dt, "s", above=0)
        require_finite_work(duration, dt, None)
        tolerance = tolerance_of(robot, self.rtol, self.atol, duration)
        held = chosen_stabilization(self.stabilization, self.method)
        return IntegrationOptions(self.method, self.radius, dt, tolerance, held, self.native)

    def sample_times(self, duration: float, coordinates: int) -> Array:
        """Return the times of the samples (s)."""
        sample = None if self.sample is None else real_number("sample", self.sample, "s", above=0)
        return sample_times(float(duration), sample, coordinates)


@dataclass(frozen=True)
class _MemberDynamics:
    """Dynamics of one member, by which a method is selected. (`LocalDynamics`.)"""

    stepper: LaneStepper

    @property
    def plant(self) -> Any:
        return self.stepper.plant

    def _packed(self, q: Array, v: Array) -> Array:
        at = self.stepper.layout
        row = np.zeros(at.size)
        row[at.every_q], row[at.every_v] = q, v
        return self.stepper.lanes.pack(row[None])

    def spectrum(self, q: Array, v: Array, u: Array) -> LocalSpectrum:
        return self.stepper.spectra(self._packed(q, v), self.stepper.lanes.pack(u[None]))[0]

    def accelerations(self, q: Array, v: Array, u: Array) -> Array:
        found = self.stepper.start(self._packed(q, v), self.stepper.lanes.pack(u[None]), np.zeros(1))[0]
        return np.asarray(self.stepper.lanes.of(found, 0))


class Cohort:
    """Members of a case that change numbers of a `robot`.

    Parameters
    ----------
    typical : Robot
        The robot of one of them; its structure is that of all.
    """

    def __init__(self, case: SweepCase, robot: Robot, typical: Robot, options: MemberOptions) -> None:
        self.case, self.robot, self.typical, self.options = case, robot, typical, options
        self.system = System(typical, native=False)
        self.plan = options.integration_options(self.system.robot, case.duration)
        with building:
            self.schedule = Schedule(self.system, case.torque, case.motion, case.loads)
        self.rows = RowMaker(case, robot, self.system, self.schedule)

    def look(self, one: MemberOfGroup) -> None:
        """Determine the bandwidth of the inputs, in the initial state of the typical member."""
        try:
            self._begun = apply_changes(replace(self.case, robot=self.system.robot), one.state)
            with collect_warnings():  # they are in `warnings`
                q, v = initial_state(self.system, self.schedule, self._begun.q0, self._begun.v0)
        except (ValueError, TypeError, KeyError) as error:
            raise one.error(error) from None
        self.schedule.look(self.case.duration, q, v)
        require_seen_inputs(self.schedule.outlooks, self.schedule.pace, self.case.duration, self.plan.dt)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that all members share, from the typical one."""
        with collect_warnings() as found:
            q, _ = initial_state(self.system, self.schedule, self._begun.q0, self._begun.v0)
            warn_of_idle_loads(self.system, self.schedule.loads, q)
        return (*found, *smoothed_steps(self.system))

    def why_single(self, inputs: Mapping[str, float]) -> str:
        """Return why members with these inputs cannot run in lanes; empty if they can."""
        if not any(path.startswith("motion.") for path in inputs):
            return ""
        with suppress(ValueError, TypeError, KeyError), building:
            driven = apply_changes(self.case, inputs)
            own = Schedule(self.system, driven.torque, driven.motion, driven.loads).motions
            pairs = [(own[joint], each) for joint, each in self.schedule.motions.items()]
            differ = any(one(0.0, order) != other(0.0, order) for one, other in pairs for order in (0, 1))
            return "the motion of a driven joint begins elsewhere" if differ else ""
        return "its motion is refused"

    # --- code ---

    def require_lanes(self, one: MemberOfGroup, method: Method | None = None) -> None:
        """Prepare the code for lanes, for this method or for one that suits a member.

        Raises
        ------
        NotBatchable
            If members cannot run in lanes.
        """
        if reason := self._why_not_batchable():
            raise NotBatchable(reason)
        self._one = one
        self.method = self._selected_method(one) if method is None else method
        self.code = self._code(self.method)

    def _why_not_batchable(self) -> str:
        if self.options.verify:
            return "verify=True runs each of them twice"
        if self.options.native is False:
            return "native=False selects CasADi's virtual machine"
        if not isinstance(self.plan.solver, Compiled):
            return f"{self.options.method} chooses its own steps"
        if self.schedule.controller is not None:
            return "a law with a sample rate is called as it is"
        if any(getattr(link.joint, "stop", None) for link in self.system.robot.links):
            return "contacts with stops are looked for in each of them"
        return ""

    def _code(self, method: Method) -> LaneCode:
        with building:
            code = lane_code_of(self.schedule.plant(self.plan.stabilization), method, self.options.width)
        if code.library is None:
            raise NotBatchable("there is no machine code for lanes")
        return code

    def _selected_method(self, one: MemberOfGroup) -> Method:
        solver = self.plan.solver
        assert isinstance(solver, Compiled)
        if not self.options.selects_method:
            return solver.method
        method, row = default_method(self.system.robot), self.rows.row(one.smooth)[None]
        data = self.rows.member_data(row, self.plan.tolerance)
        dynamics = _MemberDynamics(LaneStepper(self._code(method), data.numbers, data.sizes))
        return cheaper_method(dynamics, self.schedule, data.q[0], data.v[0], self.plan.tolerance) or method

    def speeds(self, rows: Array) -> Array:
        """Return the logarithm of the frequency of the slowest vibration of members (rad/s), (members,).

        Members with similar frequencies need steps of similar sizes. A member without vibrations has a huge number.
        """
        data = self.rows.member_data(rows, self.plan.tolerance)
        stepper = LaneStepper(self.code, data.numbers, data.sizes)
        at = stepper.layout
        states = np.zeros((len(rows), at.size))
        states[:, at.q], states[:, at.v], states[:, at.law_states] = data.q, data.v, data.law_states
        inputs, _ = self.schedule.inputs_until_failure(np.zeros(1))
        if not len(inputs):
            return np.zeros(len(rows))
        packed = stepper.lanes.pack(np.repeat(inputs, len(rows), axis=0))
        found = [each.frequencies for each in stepper.spectra(stepper.lanes.pack(states), packed)]
        slowest = [each[each > RIGID_FREQUENCY_SHARE * each.max(initial=0.0)].min(initial=1e300) for each in found]
        return np.asarray(np.log(np.array(slowest, dtype=float)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what a cohort is made of; it is made again elsewhere, with the method that was selected here."""
        return _made_again, (self.case, self.robot, self.typical, self.options, self._one, self.method)

    # --- inputs of members ---

    @cached_property
    def law_is_steady(self) -> bool:
        """True if the law has no formula of the time, whose bandwidth gains might change."""
        law, start = self.schedule.law, np.zeros(self.system.nq)
        return law is None or law.look(self.case.duration, start, start).probes == 0

    def schedule_of(self, inputs: Mapping[str, float], q: Array, v: Array) -> Schedule:
        """Return the schedule of a member with other profiles, or other gains of a law."""
        if self.schedule.law is not None:
            assert self.schedule.feedback is not None
            schedule = copy(self.schedule)
            schedule.law = copy(self.schedule.law)
            schedule.law.parameters = law_parameters(self.schedule.feedback, self.system, inputs)
        else:
            driven = apply_changes(self.case, inputs)
            with building:
                schedule = Schedule(self.system, driven.torque, driven.motion, driven.loads)
        schedule.look(self.case.duration, q, v)
        return schedule


def _made_again(
    case: SweepCase, robot: Robot, typical: Robot, options: MemberOptions, one: MemberOfGroup, method: Method
) -> Cohort:
    cohort = Cohort(case, robot, typical, options)
    cohort.look(one)
    cohort.require_lanes(one, method)
    return cohort


def law_parameters(feedback: Feedback, system: System, changes: Mapping[str, float]) -> Array:
    """Return the numbers of a law for its plant: gains, then limits."""
    gains = {path: value for path, value in changes.items() if path.startswith("gains.")}
    changed = apply_changes(SweepCase(system.robot, 1.0, torque=feedback), gains).torque
    numbers = np.zeros(0) if changed.gains is None else Gains(changed.gains).numbers()
    limits = changed.limits(system)
    return np.concatenate([numbers, limits[np.isfinite(limits)]])
