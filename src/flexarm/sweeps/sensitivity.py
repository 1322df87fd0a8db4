"""`sensitivity`: derivatives of measures by fields, from finite differences of members that run alike."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.arguments import Vector
from flexarm.foundation.finite_differences import derivative_weights
from flexarm.foundation.messages import collect_warnings, error_text, shown, warn
from flexarm.foundation.validation import Array, real_number
from flexarm.robot import Robot
from flexarm.simulation.simulate import simulate
from flexarm.sweeps.apply_changes import apply_changes
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.measures import STANDARD_MEASURES
from flexarm.sweeps.plan import Field, SweepPlan, field
from flexarm.sweeps.prepare import case_of
from flexarm.sweeps.runner import RunSettings, run_plan

if TYPE_CHECKING:
    import xarray as xr

STEP = 1e-3  # of what is a large change of a field
DERIVATIVE_RTOL = 1e-9  # rtol: what is left of it, divided by a step, is the error of a derivative
STENCILS = ((-2, -1, 0, 1, 2), (0, 1, 2, 3, 4), (-4, -3, -2, -1, 0))  # to both sides, or to the one that there is
COARSE: dict[tuple[int, ...], tuple[int, ...]] = {
    (-2, -1, 0, 1, 2): (-1, 0, 1),
    (0, 1, 2, 3, 4): (0, 1, 2, 3),
    (-4, -3, -2, -1, 0): (-3, -2, -1, 0),
}
SAMPLE_REFINEMENT = 10  # times the samples of a run, for peaks that lie between them
SEEN = 1e-4  # of a measure: changes of less, by a large change of a field, are none
MAX_RELATIVE_ERROR = 0.01  # of the largest derivative of a measure: differences that agree no better raise a warning


def sensitivity(
    robot: Robot,
    by: Sequence[str],
    duration: float,
    *,
    step: float = STEP,
    torque: Any = None,
    motion: Mapping[str, Any] | None = None,
    loads: Any = (),
    q0: Vector | str = None,
    v0: Vector = None,
    measure: Any = None,
    executor: Any = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    threads: int | None = None,
    **options: Any,
) -> xr.Dataset:
    """Compute derivatives of measures of a run by fields of the robot and its inputs.

    Parameters
    ----------
    robot : Robot
        The robot.
    by : sequence of str
        Names of fields, as for `fa.sweep`.
    duration : float
        End time of the runs (s).
    step : float, optional
        Change of a field as a fraction of its value (of 1 rad or 1 m for coordinates). Differences are of fourth order,
        over two steps to each side, or over four to one side if there is no robot on the other.
    torque, motion, loads, q0, v0 : optional
        As for `fa.simulate`.
    measure : callable, mapping or list of str, optional
        Functions of a run by name that return numbers or arrays, `{"peak": lambda run: ...}`, one such function, or
        names of standard measures. By default all of these: `peak_deflection` of each link, `tip`, energies and time at
        the `end`, `residual` vibration of the tip after the last jump of the inputs, `peak_torque` of each actuator.
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
        Further arguments of `fa.simulate`.

    Returns
    -------
    xarray.Dataset
        The measures, their derivatives (`tip_derivative`, with dimension `field`) and an estimate of the errors of the
        derivatives (`tip_derivative_error`), from differences of lower order and to both sides.

    Notes
    -----
    All members run with one method, at the same samples, with a fixed step or a tolerance far below the changes
    (rtol=1e-9 by default), so that measures change smoothly. A measure that takes the largest of samples has kinks
    where another sample becomes the largest; runs have ten times as many samples as usual unless `sample` is given, and
    the estimate shows kinks.

    Examples
    --------
    >>> from flexarm.robot import Link
    >>> bar = Robot(links=[Link("bar", 1.0, mass=3.0)])
    >>> def angle(run):
    ...     return run.array("q")[-1, 0]
    >>> found = sensitivity(bar, ["torque.bar"], 2.0, torque={"bar": 0.5}, measure=angle, native=False)
    >>> round(float(found["angle_derivative"][0]), 6)  # t^2 / (2 I), I = m / 3
    2.0
    """
    share = real_number("step", step, above=0, most=0.1)
    names = _names(by)
    how = RunSettings(executor, store, progress, threads)
    case = case_of(robot, duration, options, torque=torque, motion=motion, loads=loads, q0=q0, v0=v0)
    fields = [_field(case, name) for name in names]
    reaches = [_large_change(case.robot, each) for each in fields]
    steps = [share * reach for reach in reaches]
    stencils = [_stencil(case, each, size) for each, size in zip(fields, steps, strict=True)]
    plan = _plan(fields, steps, stencils)
    case = _with_fixed_choices(case)
    chosen = [name for name in STANDARD_MEASURES if name not in ("balance", "end")] if measure is None else measure
    data = run_plan(case, plan, chosen, None, how, "sensitivity")
    return _derivatives(data, fields, steps, stencils)


def _names(by: Any) -> list[str]:
    names = [by] if isinstance(by, str) else by
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(each, str) for each in names):
        raise TypeError(f"by = {shown(by)}: must be names of fields in a list, ['links.fore.payload.mass']")
    if len(set(names)) < len(names):
        raise ValueError(f"by = {shown(by)}: has a field twice")
    return list(names)


def _field(case: SweepCase, name: str) -> Field:
    try:
        found = field(case, name)
    except (KeyError, ValueError, TypeError) as error:
        text = error_text(error)
        raise type(error)(text.replace("over:", "by:", 1)) from None
    if not isinstance(found.value, float):
        now = "the robot has none" if found.value is None else f"it is {shown(found.value)}"
        raise ValueError(f"by: {name!r} must be a number that can change by little, but {now}")
    return found


def _large_change(robot: Robot, each: Field) -> float:
    """Return a large change of a field: its own size, a radian or, if it is zero, the size of the robot."""
    length, mass = sum(link.length for link in robot.links), robot.total_mass
    typical = {"m": length, "kg": mass, "kg m2": mass * length**2}.get(each.unit, 1.0)
    return 1.0 if each.unit == "rad" else abs(each.value) or typical or 1.0


def _stencil(case: SweepCase, each: Field, size: float) -> tuple[int, ...]:
    """Return the nodes around a field at which there are robots."""
    refusal: Exception | None = None
    for stencil in STENCILS:
        try:
            for node in (min(stencil), max(stencil)):
                apply_changes(case, {each.name: each.value + node * size})
            return stencil
        except ValueError as error:
            refusal = error
    raise ValueError(f"by: {each.name!r} cannot change by {shown(size)} from {shown(each.value)}: {refusal}")


def _plan(fields: Sequence[Field], steps: Sequence[float], stencils: Sequence[Sequence[int]]) -> SweepPlan:
    """Return the case itself and, for each field, its neighbours."""
    rows: list[list[float]] = [[each.value for each in fields]]
    for k, (size, stencil) in enumerate(zip(steps, stencils, strict=True)):
        for node in stencil:
            if node:
                rows.append(list(rows[0]))
                rows[-1][k] += node * size
    return SweepPlan(tuple(fields), tuple(zip(*rows, strict=True)), elementwise=True)


def _with_fixed_choices(case: SweepCase) -> SweepCase:
    """Return the case with the method and the samples that a run would choose automatically."""
    options = {"rtol": DERIVATIVE_RTOL, **case.options} if case.options.get("dt") is None else dict(case.options)
    inputs = {name: getattr(case, name) for name in ("torque", "motion", "loads", "q0", "v0")}
    with collect_warnings():  # the first member gives them again
        tried = simulate(case.robot, case.duration, **inputs, **{**options, "verify": False, "progress": False})
    if tried.status == "interrupted":
        raise KeyboardInterrupt
    options.setdefault("sample", tried.options["sample"] / SAMPLE_REFINEMENT)
    if options.get("method", "auto") == "auto" and options.get("radius") is None and options.get("dt") is None:
        options["method"] = tried.statistics["method"]
    return replace(case, options=options)


def _derivatives(
    data: xr.Dataset, fields: Sequence[Field], steps: Sequence[float], stencils: Sequence[tuple[int, ...]]
) -> xr.Dataset:
    made: dict[str, Any] = {}
    doubted = []
    for name, each in data.data_vars.items():
        if each.dtype.kind != "f":
            continue
        found, errors = _differences(each.values, steps, stencils)
        rest, words = each.dims[1:], each.attrs.get("long_name", name)
        made[str(name)] = (rest, each.values[0], each.attrs)
        made[f"{name}_derivative"] = (("field", *rest), found, {"long_name": f"derivative of {words} by each field"})
        made[f"{name}_derivative_error"] = (
            ("field", *rest),
            errors,
            {"long_name": "estimated error of the derivative"},
        )
        doubted += [
            f"{name} by {one.name}"
            for one, value, error, one_step in zip(fields, found, errors, steps, strict=True)
            if _is_uncertain(each.values[0], value, error, one_step / STEP)
        ]
    if doubted:
        listed = ", ".join(doubted[:4]) + (", ..." if len(doubted) > 4 else "")
        warn(f"derivatives are not sure to a per cent: {listed}; see their errors", UserWarning)
    import xarray as xr

    kept = {name: data.coords[name] for name in data.coords if "member" not in data.coords[name].dims}
    coordinates = {
        **kept,
        "field": ("field", [each.name for each in fields]),
        "unit": ("field", [each.unit for each in fields]),
        "value": ("field", [each.value for each in fields]),
        "step": ("field", list(steps)),
    }
    return xr.Dataset(made, coords=coordinates, attrs=data.attrs)


def _is_uncertain(value: Array, slope: Array, error: Array, reach: float) -> bool:
    """Return True if a derivative has a large error and is not negligible."""
    largest, off = (float(np.nanmax(np.abs(each), initial=0.0)) for each in (slope, error))
    return off > MAX_RELATIVE_ERROR * largest and off * reach > SEEN * float(np.nanmax(np.abs(value), initial=0.0))


def _differences(rows: Array, steps: Sequence[float], stencils: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
    """Return derivatives by each field and their estimated errors."""
    found, errors, place = [], [], 1
    for size, stencil in zip(steps, stencils, strict=True):
        values = {0: rows[0]}
        for node in stencil:
            if node:
                values[node], place = rows[place], place + 1
        fine, coarse = (_slope(values, nodes) / size for nodes in (stencil, COARSE[stencil]))
        found.append(fine)
        errors.append(np.maximum(np.abs(fine - coarse), _kink(values) / size))
    return np.array(found), np.array(errors)


def _kink(values: Mapping[int, Array]) -> Array:
    """Return half of the difference of the slopes to both sides, which central differences do not show."""
    if not {-2, -1, 1, 2} <= values.keys():
        return np.zeros_like(values[0])
    left, right = (side * (4 * values[side] - values[2 * side] - 3 * values[0]) / 2 for side in (-1, 1))
    return np.asarray(np.abs(right - left) / 2)


def _slope(values: Mapping[int, Array], nodes: Sequence[int]) -> Array:
    changes = [share * (values[node] - values[0]) for node, share in zip(nodes, derivative_weights(nodes), strict=True)]
    return np.asarray(sum(changes))
