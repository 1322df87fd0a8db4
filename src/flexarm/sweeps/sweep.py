"""`sweep`: all combinations of values of fields; and the section `sweep:` of a robot file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.dynamics.arguments import Vector
from flexarm.foundation.messages import describe_unknown, shown, suggestion
from flexarm.foundation.validation import real, whole_number
from flexarm.robot import DescriptionError, Robot
from flexarm.robot.errors import DescriptionProblem, join_paths
from flexarm.robot.io.files import SWEEP
from flexarm.robot.io.yaml_source import Source
from flexarm.sweeps.measures import STANDARD_MEASURES
from flexarm.sweeps.plan import plan_of
from flexarm.sweeps.prepare import case_of
from flexarm.sweeps.runner import RunSettings, run_plan

if TYPE_CHECKING:
    import xarray as xr


def sweep(
    robot: Robot,
    over: Mapping[str, Any],
    duration: float,
    *,
    torque: Any = None,
    motion: Mapping[str, Any] | None = None,
    loads: Any = (),
    q0: Vector | str = None,
    v0: Vector = None,
    measure: Any = None,
    keep: Literal["runs"] | None = None,
    elementwise: bool = False,
    executor: Any = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    threads: int | None = None,
    **options: Any,
) -> xr.Dataset:
    """Simulate a robot with all combinations of values of its fields.

    Parameters
    ----------
    robot : Robot
        The robot.
    over : mapping
        Values by name of a field: fields of the robot (`links.fore.payload.mass`, as for `robot.with_`), initial
        coordinates and rates (`q0.upper.q`, `v0.upper.q`), gains of a law (`gains.kp`) and numbers of profiles
        (`torque.upper` if it is a number, `torque.upper.amplitude`, `torque.upper.switch.0`, `motion.upper.t1`,
        `references.fore.q.y1`, `loads.0.force.1`, and `scale` of any profile, which multiplies it).
    duration : float
        End time of each run (s).
    torque, motion, loads, q0, v0 : optional
        As for `fa.simulate`.
    measure : callable, mapping or list of str, optional
        Functions of a run by name that return numbers or arrays, `{"peak": lambda run: ...}`, one such function, or
        names of standard measures. By default all of these: `peak_deflection` of each link, `tip`, energies and time at
        the `end`, `residual` vibration of the tip after the last jump of the inputs, `peak_torque` of each actuator.
    keep : {"runs"}, optional
        "runs" keeps the histories in the variable `run`.
    elementwise : bool, optional
        If True, values are combined index by index, one member for each position in the lists, instead of in all
        combinations.
    executor : concurrent.futures.Executor or dask.distributed.Client, optional
        Runs batches of members on its workers; workers that die are tolerated.
    store : path-like, optional
        A file ("sweep.nc") or folder that keeps members as they finish: the same call continues after an interruption.
        A store of another sweep is refused and left unchanged.
    progress : bool, optional
        Show a progress bar. By default on a terminal.
    threads : int, optional
        Number of threads (default: all cores). If a law or a measure is a Python function that cannot be compiled, an
        `executor` of processes is faster.
    **options
        Further arguments of `fa.simulate`: rtol, method, dt, sample, events, ...

    Returns
    -------
    xarray.Dataset
        Its dimensions are the fields, with units; its variables are the measures and the `status` and `reason` of each
        member. A member that fails has nan, status "failed" and its reason; the others continue.

    See Also
    --------
    monte_carlo : Values drawn from distributions.
    sensitivity : Derivatives of measures.

    Examples
    --------
    >>> from flexarm.robot import Link
    >>> bar = Robot(links=[Link("bar", 1.0, mass=3.0)])
    >>> found = sweep(bar, {"links.bar.mass": [3.0, 6.0]}, 1.0, torque={"bar": 1.0}, native=False)
    >>> angle = found["tip"].sel(axis="y").values  # sin(t^2 torque / (2 I)), I = m / 3
    >>> [round(float(each), 4) for each in angle]
    [0.4794, 0.2474]
    """
    if not isinstance(elementwise, bool):
        raise TypeError(f"elementwise = {shown(elementwise)}: must be True or False")
    how = RunSettings(executor, store, progress, threads)
    case = case_of(robot, duration, options, torque=torque, motion=motion, loads=loads, q0=q0, v0=v0)
    return run_plan(case, plan_of(case, over, elementwise), measure, keep, how)


RANGE = ("from", "to", "count", "spacing")
DRAWING = ("members", "seed", "sobol")
FIELDS = ("over", "elementwise", "measure", *DRAWING)
MOST = 1_000_000  # values of one field


@dataclass(frozen=True)
class SweepRequest:
    """Arguments of `fa.monte_carlo` if values are drawn, else of `fa.sweep`."""

    drawn: bool
    options: dict[str, Any]


def sweep_options(section: Mapping[str, Any], file: str) -> SweepRequest:
    """Return the request of the section of a file."""
    problems: list[DescriptionProblem] = []
    try:
        return _read(section)
    except DescriptionError as error:
        problems = error.problems
    try:
        source = Source.read(file)
        problems = [replace(each, line=source.line(each.path)) for each in problems]
    except DescriptionError:
        pass  # the file is gone
    raise DescriptionError(problems, file)


def _read(section: Mapping[str, Any]) -> SweepRequest:
    problems = [
        DescriptionProblem(join_paths(SWEEP, str(name)), ..., describe_unknown("unknown field", name, FIELDS))
        for name in section
        if name not in FIELDS
    ]
    over, drawn = _read_over(section.get("over"), problems)
    options: dict[str, Any] = {}
    for name, kind in {"members": int, "seed": int, "sobol": bool, "elementwise": bool}.items():
        value = section.get(name)
        if value is None:
            continue
        if wrong := _wrong(name, value, kind, drawn):
            problems.append(DescriptionProblem(join_paths(SWEEP, name), value, wrong))
        options[name] = value
    if (measures := section.get("measure")) is not None:
        options["measure"] = _read_measures(measures, problems)
    if problems:
        raise DescriptionError(problems)
    return SweepRequest(drawn, {"over": over, **options})


def _read_over(given: Any, problems: list[DescriptionProblem]) -> tuple[dict[str, Any], bool]:
    """Return the values by field, and True if they are distributions; add what is wrong to the problems."""
    where = join_paths(SWEEP, "over")
    if not isinstance(given, Mapping) or not given:
        sentence = "is required: values by field, links.fore.payload.mass: [0.1, 0.2]"
        problems.append(DescriptionProblem(where, ..., sentence))
        return {}, False
    over: dict[str, Any] = {}
    for name, each in given.items():
        try:
            over[str(name)] = _values(each)
        except ValueError as error:
            problems.append(DescriptionProblem(join_paths(where, str(name)), each, str(error)))
    drawn = any(_is_distribution(each) for each in given.values())
    if drawn and not all(_is_distribution(each) for each in given.values()):
        problems.append(DescriptionProblem(where, ..., "has distributions and values; give one or the other"))
    return over, drawn


def _read_measures(given: Any, problems: list[DescriptionProblem]) -> Any:
    """Return a list of names of measures; add what is wrong to the problems."""
    where, names = join_paths(SWEEP, "measure"), [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(each, str) for each in names):
        problems.append(DescriptionProblem(where, given, f"must be names of measures: {', '.join(STANDARD_MEASURES)}"))
        return names
    for name in names:
        if name not in STANDARD_MEASURES:
            sentence = f"there is no such measure{suggestion(name, list(STANDARD_MEASURES))}"
            problems.append(DescriptionProblem(where, name, sentence))
    return names


def _wrong(name: str, value: Any, kind: type, drawn: bool) -> str:
    if name in DRAWING and not drawn:
        return "is of values that are drawn; give distributions in over"
    if name == "elementwise" and drawn:
        return "is of values that are listed, and these are drawn"
    if kind is bool:
        return "" if isinstance(value, bool) else "must be true or false"
    try:
        whole_number(name, value, least=2 if name == "members" else 0)
    except ValueError as error:
        return str(error).partition(": ")[2]
    return ""


def _is_distribution(given: Any) -> bool:
    return isinstance(given, Mapping) and "distribution" in given


def _values(given: Any) -> Any:
    """Return a list, a range or a distribution."""
    if _is_distribution(given):
        return _distribution(given)
    if isinstance(given, list):
        return given
    if not isinstance(given, Mapping):
        raise ValueError(
            "must be a list, {from: 0, to: 0.5, count: 11} or {distribution: norm, loc: 0.15, scale: 0.01}"
        )
    strangers = [str(name) for name in given if name not in RANGE]
    if strangers:
        raise ValueError(describe_unknown(f"{strangers[0]} is unknown", strangers[0], RANGE))
    ends = [real(given.get(name)) for name in ("from", "to")]
    if None in ends or not np.isfinite(np.array(ends, dtype=float)).all():
        raise ValueError("needs numbers from and to")
    count = whole_number("count", given.get("count"), least=1)
    if count > MOST:
        raise ValueError(f"count = {count}: at most {MOST}")
    spacing = given.get("spacing", "linear")
    if spacing not in ("linear", "log"):
        raise ValueError(f"spacing = {shown(spacing)}: must be linear or log")
    start, stop = (float(each) for each in ends if each is not None)
    if spacing == "log" and not (start > 0 and stop > 0):
        raise ValueError("spacing log needs positive ends")
    return (np.geomspace if spacing == "log" else np.linspace)(start, stop, count)


def _distribution(given: Mapping[str, Any]) -> Any:
    """Return a distribution of scipy.stats by name, with its numbers."""
    from scipy import stats

    name = given["distribution"]
    kind = getattr(stats, name, None) if isinstance(name, str) else None
    if not isinstance(kind, (stats.rv_continuous, stats.rv_discrete)):
        known = [
            each for each in dir(stats) if isinstance(getattr(stats, each), (stats.rv_continuous, stats.rv_discrete))
        ]
        raise ValueError(f"there is no distribution {shown(name)} in scipy.stats{suggestion(name, known)}")
    numbers = {str(key): real(value) for key, value in given.items() if key != "distribution"}
    if wrong := [key for key, value in numbers.items() if value is None]:
        raise ValueError(f"{wrong[0]} = {shown(given[wrong[0]])}: must be a number")
    try:
        frozen = kind(**numbers)
    except TypeError as error:
        raise ValueError(f"{name} does not take these numbers ({error})") from None
    if not np.isfinite(frozen.ppf(0.5)):
        raise ValueError(f"{name} cannot have these numbers")
    return frozen
