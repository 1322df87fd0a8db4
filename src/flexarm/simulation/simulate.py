"""`simulate`: the motion of a robot over time."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from flexarm.codegen.evaluator import Native
from flexarm.codegen.library import building
from flexarm.dynamics.accuracy.validity import ValidityWarning, with_exact_links
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.feedback.digital_law import DigitalLaw
from flexarm.feedback.feedback import recorded_torque
from flexarm.feedback.outputs import Gains
from flexarm.feedback.sensors import warn_of_unread_sensors
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import collect_warnings, shown, warn
from flexarm.foundation.progress import Progress
from flexarm.foundation.validation import Array, real_number
from flexarm.integrators.constraint_solver import Stabilization
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.loads import warn_of_idle_loads
from flexarm.integrators.methods.method import Method
from flexarm.integrators.registry import chosen_stabilization
from flexarm.results import truncation_check
from flexarm.results.checks import warn_of_validity
from flexarm.results.outputs import Points
from flexarm.results.run import Run
from flexarm.results.stiffening_check import estimated_errors, exact_instead, record, repeat_note
from flexarm.robot import Robot
from flexarm.simulation.build_run import results
from flexarm.simulation.events import EventDetector
from flexarm.simulation.initial_state import initial_state
from flexarm.simulation.options import IntegrationOptions, tolerance_of
from flexarm.simulation.run_checks import DurationNotice, require_finite_work, require_seen_inputs, sample_times
from flexarm.simulation.single_run import SingleRun


def largest_distance(system: System, run: SingleRun, tighter: SingleRun) -> float | None:
    """Return the largest distance between the links' ends of two runs over their common samples (m), or None.

    None if the second run was interrupted or has no sample beyond its start.
    """
    times, others = run.recorder.times, tighter.recorder.times
    common = np.intersect1d(times, others)
    if len(common) < 2 or tighter.status == "interrupted":
        return None
    rows = (each.recorder.rows[np.searchsorted(each.recorder.times, common)] for each in (run, tighter))
    here, there = (_ends(system, each[:, run.layout.q]) for each in rows)
    return float(np.linalg.norm(here - there, axis=-1).max())


def _ends(system: System, q: Array) -> Array:
    """Return the positions of root and tip of all links, shape (2 links, samples, 3)."""
    places = [(link.name, x) for link in system.robot.links for x in (0.0, None)]
    return np.stack([system.frame(name, x, q)[:, :3, 3] for name, x in places])


MIN_DURATION_S = 1e-12  # s: less is a slip of the keyboard
INTERRUPTED_REPEAT = "interrupted while it was repeated with exact links: this is the run with second-order links"


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
    events: Any = None,
    verify: bool = False,
    progress: bool | None = None,
    native: Native = "auto",
) -> Run:
    """Simulate the motion of a robot.

    Parameters
    ----------
    robot : Robot or System
        The robot. Its equations are derived and compiled once for all robots of the same structure.
    duration : float
        End time (s); the run starts at t = 0.
    torque : mapping, callable or Feedback, optional
        Torques of the actuators (N m or N). By link name a number, a profile (`fa.bang_bang`, ...) or a function of t;
        or a feedback law `law(t, q, v)` that returns the torques of all actuators and is traced into the compiled step;
        or a `fa.Feedback`. Torques act on the joint side of a gear unless the drive has `torque_at="motor"`.
    motion : mapping, optional
        Prescribed coordinates q(t) of driven joints by link name, as profiles or functions of t. The torques that they
        need are in `run.torque`. A motion with a speed at t = 0 begins with that speed and undeformed links.
    loads : sequence of PointLoad, optional
        Forces and torques on points of links.
    q0, v0 : array_like or mapping, optional
        Initial coordinates and rates, by index or by name; zero where not given. `q0="equilibrium"` starts in static
        equilibrium under gravity, with joints at zero or where their motion starts (`fa.equilibrium` for other
        postures).
    method : str or Method, optional
        `"auto"` (default) selects `"esdirk"` (implicit, order 5) or `"dop853"` (explicit, order 8) from the robot's
        modes, the inputs, the tolerance and the duration, and `"generalized-alpha"` if `dt` or `radius` is given.
        Others are `"newmark"`, `"newmark-baumgarte"`, `"rk4"`, `"rk45"`, and SUNDIALS' `"adams"` and `"bdf"`.
        `run.statistics["method"]` is the method used.
    radius : float, optional
        Spectral radius of generalized-alpha at infinite frequency (0.9); smaller values damp more.
    stabilization : {"projection"} or Baumgarte, optional
        How constraints are maintained: by projection of q and v after every step, or by `fa.Baumgarte(gamma, beta)`
        (always for `"adams"` and `"bdf"`). An initial state is projected onto the constraints first.
    rtol : float, optional
        Largest position error of the links over the run, as a fraction of the robot's length (1e-4).
    atol : float, optional
        The same in metres (0); the larger of both bounds holds. `"adams"` and `"bdf"` use both as tolerances of each
        coordinate.
    dt : float, optional
        Fixed step size (s) instead of error control.
    sample : float, optional
        Time between samples (s). By default a thousandth of the duration, or a whole part of that if the robot vibrates
        faster than such samples show. `run.at(t)` interpolates at other times.
    points : mapping, optional
        Points to record, by name a link and a distance from its root (m), or a frame: `{"elbow": ("upper", 1.0)}`.
    events : callable or sequence of callable, optional
        Functions of (t, q, v); the run ends when one of them falls to zero.
    verify : bool, optional
        If True, a second run with a tenth of the tolerance (or half of `dt`) estimates the error, `run.error_estimate`
        (m), and a warning is given if it exceeds the tolerance. Recorded outputs of digital controllers are replayed.
    progress : bool, optional
        Show a progress bar. By default on a terminal, if the run takes more than half a second.
    native : {"auto", True, False}, optional
        True compiles the steps to machine code first, False runs them in CasADi's virtual machine (some ten times
        slower). `"auto"` uses machine code from the cache, else starts in the virtual machine and changes over when
        compilation pays.

    Returns
    -------
    Run
        Samples, energies, statistics and the recorded steps. A run that ends early is kept; `run.status` and
        `run.reason` give the reason.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the motion cannot start.
    TypeError
        If an argument is of a wrong type.
    KeyError
        If a link, joint or coordinate is unknown.

    Warns
    -----
    ValidityWarning
        If the result is outside the validity of the model: large deflections, too few shapes, aliased samples, lost
        energy, ...

    See Also
    --------
    Simulation : Step a robot by hand.
    sweep : Simulate many robots.
    linearize : Linear model about a posture.

    Notes
    -----
    With `stiffening="auto"`, a run of a spatial robot whose links vibrate too far for the second-order model is
    repeated with exact links. Laws and conditions read coordinates by index or by name, `q["fore.q"]`, from copies. A
    law that raises ends the run.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.two_link_arm()
    >>> run = fa.simulate(arm, 0.2, torque={"upper": fa.bang_bang(0.02, (0.1, 0.2))}, native=False)
    >>> run.status
    'completed'
    >>> run["tip.y"].sizes["time"]
    1001
    """
    begin = clock.perf_counter()
    system = robot if isinstance(robot, System) else _system(robot) if isinstance(robot, Robot) else System(robot)
    duration = real_number("duration", real_number("duration", duration, "s", above=0), "s", least=MIN_DURATION_S)
    dt = None if dt is None else real_number("dt", dt, "s", above=0)
    sample = None if sample is None else real_number("sample", sample, "s", above=0)
    tolerance = tolerance_of(system.robot, rtol, atol, duration)
    held = chosen_stabilization(stabilization, method)
    plan = IntegrationOptions(method, radius, dt, tolerance, held, native)
    _require_switches(progress=progress, native=native, verify=verify)
    recorded = recorded_points(system, points)
    interrupts = Interrupts()
    with interrupts.catching():
        with building:
            schedule = Schedule(system, torque, motion, loads)
            require_finite_work(duration, dt, None if schedule.controller is None else schedule.controller.rate)
            wanted = sample_times(duration, sample, system.nq)
            watch = EventDetector(system, events)
            q, v = initial_state(system, schedule, q0, v0)
        warn_of_idle_loads(system, schedule.loads, q)
        schedule.look(duration, q, v)
        require_seen_inputs(schedule.outlooks, schedule.pace, duration, dt)
        loop = plan.integration(schedule, q, v, wanted, watch, interrupts)
    _complete(loop, q, v, duration, progress)
    options = run_arguments(schedule, loads, plan, method, sample)
    checked = _verified_unless_interrupted(plan, loop, q, v, progress) if verify else {}
    run = _gathered(loop, recorded, {**options, "verify": verify}, checked, begin)
    errors = estimated_errors(run, system)
    record(run, system, errors, repeated=False)
    # A System stays the model it is, and a digital controller, which has a state of its own, is not called twice.
    may_repeat = isinstance(robot, Robot) and not isinstance(schedule.controller, DigitalLaw)
    if may_repeat and (names := exact_instead(run, system, errors)):
        repeat = partial(
            simulate,
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
            events=events,
            verify=verify,
            progress=progress,
            native=native,
        )
        if (again := _unless_interrupted(repeat)) is None:
            run._records.attrs.update(status="interrupted", reason=INTERRUPTED_REPEAT)
        elif not (again.status == "failed" and run.status != "failed"):
            exact = _system(again.robot)
            record(again, exact, errors, repeated=True)
            warn(repeat_note(errors, names), ValidityWarning)
            warn_of_validity(again, exact)
            return again
    with interrupts.catching(), interrupts.deferring():  # the run is there: Ctrl-C must not lose it
        truncation_check.record(run, truncation_check.estimate(system, schedule, run))
    warn_of_validity(run, system, errors)
    if isinstance(schedule.controller, DigitalLaw) and run.status == "completed":
        warn_of_unread_sensors(schedule.controller.unread)
    return run


def _unless_interrupted(repeat: Callable[[], Run]) -> Run | None:
    """Return the repeated run, or None if it was interrupted."""
    try:
        with collect_warnings():  # the first run gave the same warnings
            again = repeat()
    except KeyboardInterrupt:
        return None
    return None if again.status == "interrupted" else again


def run_arguments(
    schedule: Schedule, loads: Any, plan: IntegrationOptions, method: str | Method, sample: float | None
) -> dict[str, Any]:
    """Return the arguments of a run as plain data, for its results."""
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


def _load_places(schedule: Schedule) -> list[tuple[str, float | None]]:
    """Return link and place, or frame, of each load, so that a saved run has them."""
    links = schedule.system.robot.links
    places = [each for each, _ in schedule.loads]
    return [(links[each.link].name, each.x) if each.frame is None else (each.frame.name, None) for each in places]


def _complete(loop: SingleRun, q: Array, v: Array, duration: float, progress: bool | None) -> None:
    with loop.interrupts.catching(), Progress(duration, progress) as bar:
        loop.run(q, v, duration, bar, DurationNotice(duration, loop.schedule.law is not None))


def _verified_unless_interrupted(
    plan: IntegrationOptions, loop: SingleRun, q: Array, v: Array, progress: bool | None
) -> Any:
    """Verify a run; keep the run itself if that is interrupted."""
    try:
        return _verified(plan, loop, q, v, progress)
    except BaseException as error:
        if not (isinstance(error, KeyboardInterrupt) or loop.interrupts.pressed):
            raise
        return {"error_estimate": None}


def _verified(
    plan: IntegrationOptions, loop: SingleRun, q: Array, v: Array, progress: bool | None
) -> dict[str, float | int | None]:
    """Return the estimated error of a run from a more accurate one, for its statistics; None if it was interrupted."""
    if loop.interrupts.pressed or not loop.t:
        return {"error_estimate": None}
    again, watch = loop.schedule.replayed(loop.recorder.commands), EventDetector(loop.system, None)
    finer = plan.tighter(loop.recorder.statistics)
    with loop.interrupts.catching():
        tighter = finer.integration(again, q, v, loop.recorder.times, watch, loop.interrupts)
    _complete(tighter, q, v, loop.t, progress)
    found = largest_distance(loop.system, loop, tighter)
    if found is not None and plan.dt is not None:  # halved steps are not exact, either
        found /= 1 - 0.5**loop.stepper.order
    return {"error_estimate": found, "verification_steps": tighter.recorder.statistics.steps}


def _gathered(
    loop: SingleRun, points: Points, options: Mapping[str, Any], checked: Mapping[str, Any], begin: float
) -> Run:
    """Build the run; Ctrl-C is deferred, since all is computed."""
    interrupts = loop.interrupts
    before = interrupts.pressed
    with interrupts.catching(), interrupts.deferring():
        run = results(loop, points, options, {**checked, "wall_time": clock.perf_counter() - begin})
    if interrupts.pressed and not before:
        loop.interrupted()
        run._records.attrs.update(reason=loop.reason, status=loop.status)
    return run


@lru_cache(maxsize=8)
def _system(robot: Robot) -> System:
    """Return the system of a robot; repeated simulations of a robot share it."""
    return System(robot)


def _require_switches(**given: object) -> None:
    for name, value in given.items():
        others = {"native": "auto", "progress": None, "verify": False}
        if not isinstance(value, bool) and not (type(value) is type(others[name]) and value == others[name]):
            words = "'auto', True or False" if name == "native" else "True or False"
            raise ValueError(f"{name} = {shown(value)}: must be {words}")


def recorded_points(system: System, points: Any) -> Points:
    """Validate the points to record before any work is done."""
    if points is not None and not isinstance(points, Mapping):
        raise TypeError(f"points = {shown(points)}: must be a mapping, {{'elbow': ('upper', 1.0)}}")
    found: Points = {}
    for name, given in (points or {}).items():
        given = (given, None) if given in [frame.name for frame in system.robot.frames] else given
        if not (isinstance(name, str) and isinstance(given, (list, tuple)) and len(given) == 2):
            raise TypeError(
                f"points[{name!r}] = {shown(given)}: must be a link's name and a distance from its root (m), or a "
                "frame's name"
            )
        link, x = given
        try:
            system.place(link, None if x is None else real_number("x", x, "m"))
        except (KeyError, TypeError, ValueError) as error:
            raise type(error)(f"points[{name!r}]: {error.args[0]}") from None
        found[name] = (link, x)
    return found
