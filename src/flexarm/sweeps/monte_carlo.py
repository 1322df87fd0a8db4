"""`monte_carlo`: members with values drawn from distributions, quantiles of their measures, and first-order indices.

First-order indices are estimated from the members (given data). Members are sorted into classes of equal size by the
value of a field, a straight line is fitted to a measure in each class, and the residuals are compared with the whole: 1
- (mean square about the lines) / (whole mean square), the adjusted correlation ratio. For values drawn at random mean
squares are by degrees of freedom, so that a field without effect has the share zero on average; a single estimate may
be slightly negative. Chance leaves about 2 sqrt(classes) / members. For points of a Sobol sequence the other fields are
spread evenly in each class, so squares are compared as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.dynamics.arguments import Vector
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array, real_array, whole_number
from flexarm.robot import Robot
from flexarm.sweeps.plan import MOST, plan_of
from flexarm.sweeps.prepare import case_of
from flexarm.sweeps.runner import RunSettings, run_plan
from flexarm.sweeps.table import MISSING

if TYPE_CHECKING:
    import xarray as xr


EDGE = 2.0**-53  # quantiles of unbounded distributions at 0 and 1 are infinite


def draw_values(over: Any, members: int, seed: int, sobol: bool) -> dict[str, list[Any]]:
    """Return for each field as many values as members: quantiles at points of the unit cube, random or of a Sobol
    sequence.
    """
    if not isinstance(over, Mapping) or not over:
        raise TypeError(
            f"over = {shown(over)}: must be distributions by name, "
            "{'links.fore.payload.mass': scipy.stats.norm(0.15, 0.01)}"
        )
    inverses = {name: _inverse(name, each) for name, each in over.items()}
    points = np.clip(_points(members, len(over), seed, sobol), EDGE, 1 - EDGE)
    found = {}
    for column, (name, inverse) in zip(points.T, inverses.items(), strict=True):
        values = np.asarray(inverse(column), dtype=float)
        if values.shape != column.shape or not np.isfinite(values).all():
            raise ValueError(f"over[{name!r}] = {shown(over[name])}: its quantiles are not finite numbers")
        whole = _is_discrete(over[name]) and (values == np.rint(values)).all()
        found[name] = values.astype(int).tolist() if whole else values.tolist()
    return found


def _is_discrete(distribution: Any) -> bool:
    """Return True if the values are whole numbers, which some fields need."""
    return hasattr(distribution, "pmf") and not hasattr(getattr(distribution, "dist", distribution), "pdf")


def _inverse(name: object, distribution: Any) -> Any:
    """Return the inverse distribution function."""
    inverse = getattr(distribution, "ppf", None) or getattr(distribution, "icdf", None)
    from scipy.stats import rv_continuous, rv_discrete

    if not callable(inverse) or isinstance(distribution, (type, rv_continuous, rv_discrete)):
        raise TypeError(
            f"over[{name!r}] = {shown(distribution)}: must be a frozen distribution, scipy.stats.norm(0.15, 0.01)"
        )
    try:
        inverse(0.5)
    except TypeError:  # one that is not frozen lacks its shape
        raise TypeError(
            f"over[{name!r}] = {shown(distribution)}: must be frozen: give it its numbers, scipy.stats.norm(0.15, 0.01)"
        ) from None
    return inverse


def _points(members: int, dimensions: int, seed: int, sobol: bool) -> Array:
    if not sobol:
        return np.asarray(np.random.default_rng(seed).random((members, dimensions)))
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, seed=np.random.default_rng(seed))
    if members & (members - 1):
        near = 2 ** round(np.log2(members))
        warn(
            f"members = {members}: Sobol's points are balanced where they are a power of two; take {near}", UserWarning
        )
    return np.asarray(sequence.random_base2((members - 1).bit_length())[:members], dtype=float)


LEAST = 8  # members: fewer explain nothing
MOST_CLASSES = 25
ESTIMATOR = "{} of the members, about straight lines in {} classes by each field"


def first_order(x: Array, y: Array, even: bool = False) -> Array:
    """Shares of the variance of each column of y (members, ...) that x (members,) explains alone; nan where y is still.
    `even`: the points fill the space evenly, as Sobol's do.

    >>> x = (np.arange(1000) + 0.5) / 1000
    >>> float(np.round(first_order(x, x[:, None])[0], 2))
    1.0
    """
    y = np.asarray(y, dtype=float)
    if len(x) < LEAST:
        return np.full(y.shape[1:], np.nan)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, classes(len(x)) + 1)[1:-1]))
    which = np.unique(np.searchsorted(edges, x, side="left"), return_inverse=True)[1]  # equal values in one class
    counts = np.bincount(which)
    centred = y - y.mean(axis=0)
    within = centred - _means(centred, which, counts)
    along = (x - _means(x, which, counts)).reshape(-1, *[1] * (y.ndim - 1))
    spread = np.bincount(which, np.ravel(along) ** 2)
    lines = spread > (1e-9 * np.abs(x).max(initial=0.0)) ** 2 * counts  # not of classes of one value
    slopes = _sums(along * within, which, counts) / _column(np.where(lines, spread, np.inf), y.ndim)
    within = within - along * slopes[which]
    freedom = (1, 1) if even else (len(x) - 1, max(len(x) - len(counts) - int(lines.sum()), 1))
    whole, noise = ((each**2).sum(axis=0) / of for each, of in zip((centred, within), freedom, strict=True))
    still = (centred**2).sum(axis=0) <= len(x) * (1e-12 * np.abs(y).max(axis=0)) ** 2  # rounding has no reasons
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(still, np.nan, 1 - noise / whole))


def classes(members: int) -> int:
    return int(min(MOST_CLASSES, max(2, round(members ** (1 / 3)))))


def _sums(values: Array, which: Any, counts: Any) -> Array:
    out = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(out, which, values)
    return out


def _means(values: Array, which: Any, counts: Any) -> Array:
    """Return the mean of each member's class."""
    return np.asarray((_sums(values, which, counts) / _column(counts, values.ndim))[which])


def _column(values: Any, dimensions: int) -> Array:
    return np.asarray(values, dtype=float).reshape(-1, *[1] * (dimensions - 1))


def random_sample(data: xr.Dataset) -> int:
    """Return the number of members, in the order in which they were drawn, that are a random sample.

    These are all members or, of a study that was interrupted, whole blocks before the first missing member: inside a
    block the fastest members run first.
    """
    if "status" not in data:
        return int(data.sizes["member"])
    missing = data["status"].values == MISSING
    if not missing.any():
        return len(missing)
    size = int(data.attrs["block_size"])
    return int(missing.argmax()) // size * size


def with_statistics(data: xr.Dataset, fields: Sequence[str], levels: Sequence[float], even: bool) -> xr.Dataset:
    """Add quantiles and first-order indices of each measure to the results of a Monte Carlo study.

    They are over the members that have the measure. Members of a study that was interrupted are no random sample: which
    of them are done depends on how long they take. Its statistics are those of whole blocks of members, in the order in
    which they were drawn, if they are not too few; `attrs["statistics"]` gives their number.
    """
    made: dict[str, Any] = {}
    drawn, members = random_sample(data), int(data.sizes["member"])
    for name, each in data.data_vars.items():
        if each.dtype.kind != "f" or each.dims[:1] != ("member",):
            continue
        known = np.isfinite(each.values).all(axis=tuple(range(1, each.ndim)))
        known[drawn:] = False
        rows, rest = each.values[known], each.dims[1:]
        about = {key: value for key, value in each.attrs.items() if key == "units"} | {"members": len(rows)}
        words = each.attrs.get("long_name", name)
        made[f"{name}_quantiles"] = (
            ("quantile", *rest),
            np.quantile(rows, levels, axis=0) if len(rows) else np.full((len(levels), *rows.shape[1:]), np.nan),
            {"long_name": f"quantiles of {words}", **about},
        )
        shares = [first_order(data[field].values[known].astype(float), rows, even) for field in fields]
        kind = "correlation ratio" if even else "adjusted correlation ratio"
        made[f"{name}_first_order"] = (
            ("field", *rest),
            np.array(shares),
            {
                "long_name": f"share of the variance of {words} that each field explains",
                "estimator": ESTIMATOR.format(kind, classes(max(len(rows), 1))),
                "members": len(rows),
            },
        )
    old = [name for name in data.variables if str(name).endswith(("_quantiles", "_first_order"))]
    kept = data.drop_vars([*old, *({"quantile", "field"} & set(data.coords))])
    kept.attrs.pop("statistics", None)
    if not drawn and members:
        kept.attrs["statistics"] = "withheld, since the first block of members drawn is not done"
    elif drawn < members:
        kept.attrs["statistics"] = f"of the first {drawn} of {members} members drawn, which are all done"
    return kept.assign(made).assign_coords(quantile=list(levels), field=list(fields))


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def monte_carlo(
    robot: Robot,
    over: Mapping[str, Any],
    duration: float,
    *,
    members: int = 1000,
    seed: int = 1,
    sobol: bool = False,
    quantiles: Sequence[float] = QUANTILES,
    torque: Any = None,
    motion: Mapping[str, Any] | None = None,
    loads: Any = (),
    q0: Vector | str = None,
    v0: Vector = None,
    measure: Any = None,
    keep: Literal["runs"] | None = None,
    executor: Any = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    threads: int | None = None,
    **options: Any,
) -> xr.Dataset:
    """Simulate a robot with values of its fields drawn from distributions.

    Parameters
    ----------
    robot : Robot
        The robot.
    over : mapping
        Frozen distributions by name of a field (see `fa.sweep`), for example `scipy.stats.norm(0.15, 0.01)`. Fields are
        independent.
    duration : float
        End time of each run (s).
    members : int, optional
        Number of draws.
    seed : int, optional
        Seed of the draws.
    sobol : bool, optional
        If True, draws are points of a scrambled Sobol sequence, which fill the space evenly; best as powers of two.
    quantiles : sequence of float, optional
        Probabilities of the quantiles of measures.
    torque, motion, loads, q0, v0 : optional
        As for `fa.simulate`.
    measure : callable, mapping or list of str, optional
        Functions of a run by name that return numbers or arrays, `{"peak": lambda run: ...}`, one such function, or
        names of standard measures. By default all of these: `peak_deflection` of each link, `tip`, energies and time at
        the `end`, `residual` vibration of the tip after the last jump of the inputs, `peak_torque` of each actuator.
    keep : {"runs"}, optional
        "runs" keeps the histories in the variable `run`.
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
        With the dimension `member`; the drawn values are coordinates. For each measure there are its quantiles
        (`tip_quantiles`) and, by field, first-order indices (`tip_first_order`): the share of the variance that the
        field explains alone, estimated from the members (`tip_first_order.attrs["estimator"]`). Members without such a
        number (of a run that failed, or `residual` of one that ended early) do not count; `attrs["members"]` is the
        number of those that do.

    Notes
    -----
    Members run in blocks of 128, in the order in which they were drawn; inside a block the fastest run first.
    Statistics of an interrupted study are those of whole blocks, which are a random sample; the warning and
    `attrs["statistics"]` give the number of their members. Those that are done beyond these are no random sample.

    Examples
    --------
    >>> from flexarm.robot import Link
    >>> from scipy.stats import uniform
    >>> bar = Robot(links=[Link("bar", 1.0, mass=3.0)])
    >>> fields = {"torque.bar": uniform(1.0, 0.1), "links.bar.mass": uniform(3.0, 0.1)}
    >>> options = {"torque": {"bar": 1.0}, "measure": ["tip"], "native": False}
    >>> found = monte_carlo(bar, fields, 0.5, members=16, sobol=True, **options)
    >>> found.sizes["member"], float(found["tip_first_order"].sel(axis="y", field="torque.bar")) > 0.5
    (16, True)
    """
    count = whole_number("members", members, least=2)
    if count > MOST:
        raise ValueError(f"members = {count}: at most {MOST:.0e} are run")
    if not isinstance(sobol, bool):
        raise TypeError(f"sobol = {shown(sobol)}: must be True or False")
    levels = real_array("quantiles", quantiles)
    if levels.ndim != 1 or not levels.size or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(f"quantiles = {shown(quantiles)}: must be a list of probabilities between 0 and 1")
    how = RunSettings(executor, store, progress, threads)
    case = case_of(robot, duration, options, torque=torque, motion=motion, loads=loads, q0=q0, v0=v0)
    plan = plan_of(case, draw_values(over, count, whole_number("seed", seed), sobol), elementwise=True)
    names = [each.name for each in plan.fields]

    def completed(data: xr.Dataset) -> xr.Dataset:
        return with_statistics(data, names, np.unique(levels).tolist(), sobol)

    return run_plan(case, plan, measure, keep, how, "monte_carlo", completed)
