"""simulate: the motion of a robot over time."""

from __future__ import annotations

import json
import platform
import time as clock
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from flexarm._version import __version__
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System, Vector
from flexarm.motion import methods
from flexarm.motion.events import Watch
from flexarm.motion.integration import Integration, Tolerance
from flexarm.motion.methods import Method
from flexarm.motion.progress import Progress
from flexarm.motion.run import Run, dataset
from flexarm.motion.schedule import Schedule
from flexarm.motion.stabilization import Baumgarte, Stabilization
from flexarm.motion.stabilization import checked as checked_stabilization
from flexarm.motion.start import initial_state
from flexarm.motion.stepper import Stepper
from flexarm.motion.sundials import SundialsStepper
from flexarm.motion.validity import warn_of_validity
from flexarm.robot import Robot

SUNDIALS = ("adams", "bdf")
METHODS: dict[str, Callable[[float, int], Method]] = {
    "generalized-alpha": methods.GeneralizedAlpha,
    "newmark": lambda radius, iterations: methods.Newmark(iterations),
    "newmark-baumgarte": lambda radius, iterations: methods.Newmark(iterations),
    "rk4": lambda radius, iterations: methods.rk4(),
    "rk45": lambda radius, iterations: methods.rk45(),
}

CHUNK = 250  # steps a call
CHUNK_OF_CONTROLLER = 8  # a digital controller speaks after a few steps

FOR_SUNDIALS = Baumgarte(20.0, 20.0)  # it has no steps of ours after which to project


def simulate(
    robot: Robot | System,
    duration: float,
    *,
    torque: Any = None,
    motion: Mapping[str, Any] | None = None,
    loads: Any = (),
    q0: Vector | str = None,
    v0: Vector = None,
    method: str = "generalized-alpha",
    radius: float = 0.9,
    stabilization: Stabilization = "projection",
    rtol: float = 1e-4,
    atol: float = 0.0,
    dt: float | None = None,
    sample: float | None = None,
    points: Mapping[str, tuple[str, float]] | None = None,
    stop: Any = None,
    progress: bool | None = None,
    native: bool = True,
) -> Run:
    """The motion of a robot from t = 0 to `duration` (s).

    torque: by link name a number, a profile (`fa.bang_bang`, ...) or a function of t; or one feedback law (t, q, v) ->
        torques of all actuators, traced into the compiled step, or `fa.Feedback(law, rate=1000)` called as a digital
        controller.
    motion: by link name the prescribed q(t) of driven joints; the torque this takes is in `run.torque`.
    loads: `fa.PointLoad`s, forces and torques on points of links.
    q0, v0: initial coordinates and rates, by name or as arrays; rest where not given. q0="equilibrium" starts with the
        links hanging still under gravity, joints held at zero or where their motion starts; `fa.equilibrium(system, q)`
        gives it for other postures.
    method: generalized-alpha (`radius`: spectral radius at infinity, less damps more), newmark, rk4, rk45, SUNDIALS'
        adams and bdf, and newmark-baumgarte: newmark with stabilization=fa.Baumgarte(5, 5).
    stabilization: how the robot's constraints are kept: "projection" of q and v after every step, or
        `fa.Baumgarte(gamma, beta)` (adams and bdf always take the latter). An initial state is moved onto the
        constraints first.
    rtol, atol: how far links may be from where they should be, as a fraction of the robot's length and in metres
        (adams and bdf read them as tolerances on each coordinate). dt fixes the step instead.
    sample: time between samples (s); a thousandth of the duration unless given.
    points: names of points to record, {"elbow": ("upper", 1.0)}: link and distance from its root.
    stop: a function of (t, q, v), or several: the run ends when one falls to zero.
    """
    begin = clock.perf_counter()
    system = robot if isinstance(robot, System) else _system(robot)
    wanted = _sample_times(duration, sample)
    _check(method, radius, rtol, atol, dt, duration)
    kept = _stabilization(stabilization, method)
    schedule = Schedule(system, torque, motion, loads)
    q, v = initial_state(system, schedule, q0, v0)

    length = sum(link.length for link in system.robot.links) or 1.0

    def steppers(iterations: int) -> Stepper | SundialsStepper:
        return _stepper(system, schedule, method, radius, kept, iterations, rtol, atol, native)

    with Progress(duration, progress) as bar:
        loop = Integration(
            schedule=schedule,
            steppers=steppers,
            duration=float(duration),
            tolerance=Tolerance(rtol, atol, length),
            dt=float(wanted[1]) if method in SUNDIALS else dt,
            wanted=wanted,
            watch=Watch(system, stop),
            report=bar.update,
        )
        loop.run(q, v)
    options = {
        "duration": duration,
        "torque": repr(schedule.feedback or dict(zip(system.inputs, schedule.torques, strict=True))),
        "motion": repr({system.names[k]: each for k, each in schedule.motions.items()}),
        "loads": repr(list(loads or ())),
        "method": method,
        "radius": radius,
        **({"stabilization": repr(kept)} if system.constraints else {}),
        "rtol": rtol,
        "atol": atol,
        "dt": dt,
        "sample": float(wanted[1] - wanted[0]),
    }
    run = _gather(system, schedule, loop, points or {}, options, begin)
    warn_of_validity(run, system.robot)
    return run


@lru_cache(maxsize=8)
def _system(robot: Robot) -> System:
    """The same robot simulated again need not be traced again."""
    return System(robot)


def _stepper(
    system: System,
    schedule: Schedule,
    method: str,
    radius: float,
    stabilization: Stabilization,
    iterations: int,
    rtol: float,
    atol: float,
    native: bool,
) -> Stepper | SundialsStepper:
    """Steppers are kept with their system: what was traced and compiled once serves again."""
    kept: dict[Any, Any] = system.__dict__.setdefault("_steppers", {})
    feedback = schedule.feedback
    digital = feedback is not None and feedback.rate is not None
    loads = tuple(load for load, _ in schedule.loads)
    law = None if digital else feedback  # a traced law is part of the compiled step
    tolerances = (rtol, atol) if method in SUNDIALS else ()
    kept_by = stabilization if system.constraints else None
    key = (method, radius, kept_by, iterations, *tolerances, native, digital, tuple(schedule.driven), loads, law)
    if key not in kept:
        count = CHUNK_OF_CONTROLLER if digital else CHUNK
        if method in SUNDIALS:
            kept[key] = SundialsStepper(schedule.plant(stabilization), method, count, rtol, rtol / 10 + atol)
        else:
            fixed = [system.model, *key] if law is None else None
            plant = schedule.plant(stabilization)
            kept[key] = Stepper(plant, METHODS[method](radius, iterations), count, native, fixed)
    stepper: Stepper | SundialsStepper = kept[key]
    return stepper


def _stabilization(given: object, method: str) -> Stabilization:
    chosen = checked_stabilization(given)
    if isinstance(chosen, Baumgarte):
        return chosen
    return FOR_SUNDIALS if method in SUNDIALS else Baumgarte() if method == "newmark-baumgarte" else chosen


def _check(method: str, radius: float, rtol: float, atol: float, dt: float | None, duration: float) -> None:
    if method not in METHODS and method not in SUNDIALS:
        raise ValueError(f"method = {method!r}: must be one of {', '.join([*METHODS, *SUNDIALS])}")
    if method in SUNDIALS and dt is not None:
        raise ValueError(f"dt = {dt}: {method} chooses its own steps; leave dt out")
    if not 0 <= radius <= 1:
        raise ValueError(f"radius = {radius}: must lie between 0 (damps all that is unresolved) and 1 (damps nothing)")
    if not (np.isfinite(atol) and atol >= 0):
        raise ValueError(f"atol = {atol}: must not be negative (m)")
    for name, value in (("rtol", rtol), ("dt", dt)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise ValueError(f"{name} = {value}: must be positive")
    if dt is not None and dt > duration:
        raise ValueError(f"dt = {dt:g}: is longer than the duration, {duration:g} s")


def _sample_times(duration: float, sample: float | None) -> Array:
    if not (np.isfinite(duration) and duration > 0):
        raise ValueError(f"duration = {duration}: must be positive (s)")
    step = duration / 1000 if sample is None else sample
    if not (np.isfinite(step) and 0 < step <= duration):
        raise ValueError(f"sample = {sample}: must be positive and at most the duration, {duration:g} s")
    count = int(np.floor(duration / step + 1e-9))
    times = step * np.arange(count + 1)
    if duration - times[-1] <= 1e-9 * duration:
        times[-1] = duration
    return np.asarray(times if times[-1] == duration else np.append(times, duration), dtype=float)


def _gather(
    system: System, schedule: Schedule, loop: Integration, points: Mapping[str, Any], options: Any, begin: float
) -> Run:
    n, times, samples = system.nq, np.array(loop.times), np.concatenate(loop.blocks)
    q, v, a = samples[:, :n], samples[:, n : 2 * n], samples[:, 2 * n : 3 * n]
    forces = None
    inputs = schedule.inputs(times, _held(loop, times))
    if (constraint_solver := loop.stepper.plant.constraint_solver) is not None:
        columns = (q.T, v.T, a.T, inputs.T)
        if constraint_solver.projects:  # samples lie between steps
            q, v, a, forces = (part.full().T for part in constraint_solver.settled(*columns))
        else:
            forces = constraint_solver.multipliers(*columns).full().T
    energies, tip_rotation, tip, driving, deflection = loop.stepper.report(q, v, a, inputs)
    work, lost = samples[:, 4 * n], samples[:, 4 * n + 1]
    total = energies.sum(axis=1)
    statistics = {
        **vars(loop.statistics),
        "wall_time": clock.perf_counter() - begin,
        "energy_balance": float(np.abs(total - total[0] - work + lost).max()),
    }
    attributes = {
        "robot": system.robot.name,
        "model": system.model,
        "options": json.dumps(options, default=float),
        "statistics": json.dumps(statistics, default=float),
        "reason": loop.reason,
        "version": __version__,
        "python": platform.python_version(),
    }
    return Run(
        dataset(
            names=system.names,
            units=system._chain.coordinates.units,
            inputs=system.inputs,
            input_units=system._chain.coordinates.input_units,
            links=[link.name for link in system.robot.links],
            time=times,
            q=q,
            v=v,
            a=a,
            tip=tip,
            tip_rotation=tip_rotation,
            deflection=deflection,
            torque=_torques(system, schedule, loop, inputs, q, v, driving, forces),
            points={name: system.frame(link, x, q)[:, :3, 3] for name, (link, x) in points.items()},
            attributes=attributes,
            **dict(zip(("kinetic", "elastic", "gravity", "drive"), energies.T, strict=True)),
            work=work,
            dissipated=lost,
            balance=total - total[0] - work + lost,
            **_constraint_results(system, q, forces),
        )
    )


def _constraint_results(system: System, q: Array, forces: Array | None) -> dict[str, Any]:
    if forces is None:
        return {}
    rows = system._equations.constraints.rows
    return {
        "rows": {row.name: row.force_unit for row in rows},
        "reaction": -forces,
        "violation": np.abs(system.constraint(q)).max(axis=1, initial=0.0),
    }


def _held(loop: Integration, times: Array) -> Array | None:
    """What the digital controller said then; it may have a memory, so it is not asked again."""
    if not loop.commands:
        return None
    spoken, torques = zip(*loop.commands, strict=True)
    return np.array(torques)[np.searchsorted(np.array(spoken), times + 1e-12, side="right") - 1].T


def _torques(
    system: System,
    schedule: Schedule,
    loop: Integration,
    inputs: Array,
    q: Array,
    v: Array,
    driving: Array,
    forces: Array | None,
) -> Array:
    out = inputs[:, 1 : 1 + system.nu].copy()
    feedback = schedule.feedback
    if feedback is not None and feedback.rate is None:
        out = np.array([schedule.command(float(t), *state) for t, *state in zip(inputs[:, 0], q, v, strict=True)])
    if schedule.driven:
        if forces is not None and (constraint_solver := loop.stepper.plant.constraint_solver) is not None:
            driving = driving + constraint_solver.pull(q.T, forces.T).full().T[:, schedule.driven]
        for place, force in zip(schedule.driven, driving.T, strict=True):
            out[:, int(system.input_matrix[place].argmax())] = force
    return out
