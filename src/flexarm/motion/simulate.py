"""simulate: the motion of a robot over time."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from flexarm.codegen.evaluator import Native
from flexarm.codegen.lock import building
from flexarm.foundation.heard import heard
from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import shown
from flexarm.mechanics.arguments import Vector
from flexarm.mechanics.reach import ValidityWarning, with_exact_links
from flexarm.mechanics.system import System
from flexarm.motion import truncation
from flexarm.motion.budget import Patience, require_finite_work, require_seen_inputs, sample_times
from flexarm.motion.digital_law import DigitalLaw
from flexarm.motion.events import Watch
from flexarm.motion.gains import Gains
from flexarm.motion.integration import Integration
from flexarm.motion.interrupts import Interrupts
from flexarm.motion.laws import recorded_torque
from flexarm.motion.loads import warn_of_idle_loads
from flexarm.motion.method_names import chosen_stabilization
from flexarm.motion.methods import Method
from flexarm.motion.plan import Plan, tolerance_of
from flexarm.motion.progress import Progress
from flexarm.motion.readings import Points
from flexarm.motion.results import results
from flexarm.motion.run import Run
from flexarm.motion.schedule import Schedule
from flexarm.motion.sensors import warn_of_unread_sensors
from flexarm.motion.stabilization import Stabilization
from flexarm.motion.start import initial_state
from flexarm.motion.stiffening import estimated_errors, exact_instead, record, repeat_note
from flexarm.motion.validity import warn_of_validity
from flexarm.motion.verification import largest_distance
from flexarm.robot import Robot

SHORTEST = 1e-12  # s: less is a slip of the keyboard


def simulate(
    robot: Robot | System,
    duration: float,
    *,
    torque: Any = None,
    motion: Mapping[str, Any] | None = None,
    loads: Any = (),
    q0: Vector | str = None,
    v0: Vector = None,
    method: str | Method = "auto",
    radius: float | None = None,
    stabilization: Stabilization = "projection",
    rtol: float = 1e-4,
    atol: float = 0.0,
    dt: float | None = None,
    sample: float | None = None,
    points: Mapping[str, tuple[str, float]] | None = None,
    stop: Any = None,
    verify: bool = False,
    progress: bool | None = None,
    native: Native = "auto",
) -> Run:
    """The motion of a `robot` from t = 0 to `duration` (s).

    torque: by link name a number, a profile (`fa.bang_bang`, ...) or a function of t; or one feedback law (t, q, v) ->
        torques of all actuators, traced into the compiled step anew for each run, `fa.Feedback(law, gains={"kp": 20})`
        for a law with numbers to tune, or `fa.Feedback(law, rate=1000)` called as a digital controller. It acts on the
        joint's side of a gear, unless the drive says torque_at="motor".
    motion: by link name the prescribed q(t) of driven joints; the torque this takes is in `run.torque`. A motion with
        a speed at t = 0 begins with that speed and undeformed links: it is no jolt.
    loads: `fa.PointLoad`s, forces and torques on points of links.
    q0, v0: initial coordinates and rates, by name or as arrays; rest where not given. q0="equilibrium" starts with the
        links hanging still under gravity, joints held at zero or where their motion starts; `fa.equilibrium(system, q)`
        gives it for other postures.
    method: auto takes one of the first two, by the robot's modes, inputs, tolerance and duration (which one is in
        `run.statistics`), and generalized-alpha where dt or radius is given; esdirk (implicit, order 5), dop853
        (explicit, order 8), generalized-alpha (implicit, order 2; `radius`: spectral radius at infinity, 0.9 unless
        given, less damps more), newmark, rk4, rk45, SUNDIALS' adams and bdf, and newmark-baumgarte: newmark with
        stabilization=fa.Baumgarte(5, 5). Or a method as an object, such as `fa.GeneralizedAlpha(radius=0.8)` or one
        of your own.
    stabilization: how the robot's constraints are kept: "projection" of q and v after every step, or
        `fa.Baumgarte(gamma, beta)` (adams and bdf always take the latter). An initial state is moved onto the
        constraints first.
    rtol, atol: how far links may be from where they should be, as a fraction of the robot's length and in metres
        (adams and bdf read them as tolerances on each coordinate, and start anew at every sample of a digital law: take
        esdirk there); each allows at most a tenth of its length. dt fixes the step instead.
    sample: time between samples (s). Unless given, a thousandth of the duration, or a whole part of that where the
        robot vibrates so fast that it would not be seen. `run.at(t)` reads a run at any other time.
    points: names of points to record, {"elbow": ("upper", 1.0)}: link and distance from its root.
    stop: a function of (t, q, v), or several: the run ends when one falls to zero.
    verify: True runs it a second time with a tenth of the tolerance (or half of dt); how far the links' ends are apart
        at most is in `run.error_estimate` (m), and a warning tells if that is more than allowed. What a digital
        controller said is said again, it is not asked.
    progress: True shows a bar, False none; None shows it on a terminal, when the run takes more than half a second.
    native: True compiles the steps to machine code before the first of them, False runs them in CasADi's virtual
        machine: some ten times slower, but ready at once. "auto" takes machine code that is there; if there is none it
        begins in the virtual machine, and changes over if the run turns out to be worth compiling.

    Laws and conditions read coordinates by place or by name, `q["fore.q"]`, from copies of their own. One that raises
    ends the run; what was computed is kept and the reason is in `run.reason`.
    """
    begin = clock.perf_counter()
    system = robot if isinstance(robot, System) else _system(robot) if isinstance(robot, Robot) else System(robot)
    duration = real_number("duration", real_number("duration", duration, "s", above=0), "s", least=SHORTEST)
    dt = None if dt is None else real_number("dt", dt, "s", above=0)
    sample = None if sample is None else real_number("sample", sample, "s", above=0)
    tolerance = tolerance_of(system.robot, rtol, atol, duration)
    held = chosen_stabilization(stabilization, method)
    plan = Plan(method, radius, dt, tolerance, held, native)
    _require_switches(progress=progress, native=native, verify=verify)
    recorded = recorded_points(system, points)
    interrupts = Interrupts()
    with interrupts.noticed():
        with building:
            schedule = Schedule(system, torque, motion, loads)
            require_finite_work(duration, dt, None if schedule.controller is None else schedule.controller.rate)
            wanted = sample_times(duration, sample, system.nq)
            watch = Watch(system, stop)
            q, v = initial_state(system, schedule, q0, v0)
        warn_of_idle_loads(system, schedule.loads, q)
        schedule.look(duration, q, v)
        require_seen_inputs(schedule.outlooks, schedule.pace, duration, dt)
        loop = plan.integration(schedule, q, v, wanted, watch, interrupts)
    _complete(loop, q, v, duration, progress)
    options = asked(schedule, loads, plan, method, sample)
    checked = _verified_unless_interrupted(plan, loop, q, v, progress) if verify else {}
    run = _gathered(loop, recorded, {**options, "verify": verify}, checked, begin)
    errors = estimated_errors(run, system)
    record(run, system, errors, repeated=False)
    # A System stays the model it is, and a digital controller, which has a state of its own, is not called twice.
    may_repeat = isinstance(robot, Robot) and not isinstance(schedule.controller, DigitalLaw)
    if may_repeat and (names := exact_instead(run, system, errors)):
        with heard():  # what it says of its inputs was said before
            again = simulate(
                with_exact_links(system.robot, names),
                duration,
                torque=torque,
                motion=motion,
                loads=loads,
                q0=q0,
                v0=v0,
                method=method,
                radius=radius,
                stabilization=stabilization,
                rtol=rtol,
                atol=atol,
                dt=dt,
                sample=sample,
                points=points,
                stop=stop,
                verify=verify,
                progress=progress,
                native=native,
            )
        if again.status != "interrupted" and not (again.status == "failed" and run.status != "failed"):
            exact = _system(again.robot)
            record(again, exact, errors, repeated=True)
            warnings.warn(repeat_note(errors, names), ValidityWarning, stacklevel=2)
            warn_of_validity(again, exact)
            return again
    with interrupts.noticed(), interrupts.held():  # the run is there: Ctrl-C must not lose it
        truncation.record(run, truncation.estimate(system, schedule, run))
    warn_of_validity(run, system, errors)
    if isinstance(schedule.controller, DigitalLaw) and run.status == "completed":
        warn_of_unread_sensors(schedule.controller.unread)
    return run


def asked(schedule: Schedule, loads: Any, plan: Plan, method: str | Method, sample: float | None) -> dict[str, Any]:
    """How a run was asked for, as its results tell it."""
    system, tolerance = schedule.system, plan.tolerance
    out: dict[str, Any] = {
        "duration": tolerance.horizon,
        "torque": recorded_torque(schedule.feedback or dict(zip(system.inputs, schedule.torques, strict=True))),
        "motion": repr({system.names[k]: each for k, each in schedule.motions.items()}),
        "loads": repr(list(loads or ())),
        **({"load_places": _load_places(schedule)} if schedule.loads else {}),
        "method": method if isinstance(method, str) else repr(method),
        "radius": plan.radius,
        **({"stabilization": repr(plan.stabilization)} if system.constraints else {}),
        "rtol": tolerance.rtol,
        "atol": tolerance.atol,
        "dt": plan.dt,
        "sample": sample,
    }
    if schedule.controller is not None:
        out["rate"] = schedule.controller.rate
    if schedule.feedback is not None and schedule.feedback.gains is not None:
        out["gains"] = Gains(schedule.feedback.gains).plain()
    return out


def _load_places(schedule: Schedule) -> list[tuple[str, float]]:
    """Link and place of each load, with which a run that was saved knows where they acted."""
    return [(schedule.system.robot.links[each.link].name, each.x) for each, _ in schedule.loads]


def _complete(loop: Integration, q: Array, v: Array, duration: float, progress: bool | None) -> None:
    with loop.interrupts.noticed(), Progress(duration, progress) as bar:
        loop.run(q, v, duration, bar, Patience(duration, loop.schedule.law is not None))


def _verified_unless_interrupted(plan: Plan, loop: Integration, q: Array, v: Array, progress: bool | None) -> Any:
    """The run itself is not lost, whatever becomes of its verification."""
    try:
        return _verified(plan, loop, q, v, progress)
    except BaseException as error:
        if not (isinstance(error, KeyboardInterrupt) or loop.interrupts.pressed):
            raise
        return {"error_estimate": None}


def _verified(
    plan: Plan, loop: Integration, q: Array, v: Array, progress: bool | None
) -> dict[str, float | int | None]:
    """How far the run is from one that is more accurate, up to where it came; for its statistics. Nothing if it was
    interrupted."""
    if loop.interrupts.pressed or not loop.t:
        return {"error_estimate": None}
    again, watch = loop.schedule.replayed(loop.recorder.commands), Watch(loop.system, None)
    finer = plan.tighter(loop.recorder.statistics)
    with loop.interrupts.noticed():
        tighter = finer.integration(again, q, v, loop.recorder.times, watch, loop.interrupts)
    _complete(tighter, q, v, loop.t, progress)
    found = largest_distance(loop.system, loop, tighter)
    if found is not None and plan.dt is not None:  # halved steps are not exact, either
        found /= 1 - 0.5**loop.stepper.order
    return {"error_estimate": found, "verification_steps": tighter.recorder.statistics.steps}


def _gathered(
    loop: Integration, points: Points, options: Mapping[str, Any], checked: Mapping[str, Any], begin: float
) -> Run:
    """The results. All is computed and what is left takes a moment: Ctrl-C waits for it."""
    interrupts = loop.interrupts
    before = interrupts.pressed
    with interrupts.noticed(), interrupts.held():
        run = results(loop, points, options, {**checked, "wall_time": clock.perf_counter() - begin})
    if interrupts.pressed and not before:
        loop.interrupted()
        run._records.attrs.update(reason=loop.reason, status=loop.status)
    return run


@lru_cache(maxsize=8)
def _system(robot: Robot) -> System:
    """The same robot simulated again need not be traced again."""
    return System(robot)


def _require_switches(**given: object) -> None:
    for name, value in given.items():
        others = {"native": "auto", "progress": None, "verify": False}
        if not isinstance(value, bool) and not (type(value) is type(others[name]) and value == others[name]):
            words = "'auto', True or False" if name == "native" else "True or False"
            raise ValueError(f"{name} = {shown(value)}: must be {words}")


def recorded_points(system: System, points: Any) -> Points:
    """Points to record, each known to lie on its link before any work is done."""
    if points is not None and not isinstance(points, Mapping):
        raise TypeError(f"points = {shown(points)}: must be a mapping, {{'elbow': ('upper', 1.0)}}")
    found: Points = {}
    for name, given in (points or {}).items():
        if not (isinstance(name, str) and isinstance(given, (list, tuple)) and len(given) == 2):
            raise TypeError(
                f"points[{name!r}] = {shown(given)}: must be a link's name and a distance from its root (m)"
            )
        link, x = given
        try:
            system.place(link, None if x is None else real_number("x", x, "m"))
        except (KeyError, TypeError, ValueError) as error:
            raise type(error)(f"points[{name!r}]: {error.args[0]}") from None
        found[name] = (link, x)
    return found
