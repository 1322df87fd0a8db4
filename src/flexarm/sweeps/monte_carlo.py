"""monte_carlo: a case with values drawn from distributions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.foundation.numbers import real_array, whole_number
from flexarm.foundation.sentences import shown
from flexarm.mechanics.arguments import Vector
from flexarm.robot import Robot
from flexarm.sweeps.conduct import How, conducted
from flexarm.sweeps.draws import drawn
from flexarm.sweeps.plan import MOST, plan_of
from flexarm.sweeps.rehearsal import case_of
from flexarm.sweeps.statistics import with_statistics

if TYPE_CHECKING:
    import xarray as xr

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
    """Runs of a `robot` from t = 0 to `duration` (s) with values drawn from distributions `over` its fields.

    over: by name, as in `fa.sweep`, frozen distributions: `scipy.stats.norm(0.15, 0.01)`. Fields are independent.
    members: how many are drawn.
    seed: the same gives the same values.
    sobol: True takes points of Sobol's sequence (scrambled), which fill the space evenly; best as powers of two.
    quantiles: at which probabilities the quantiles of measures are given.
    torque, motion, loads, q0, v0, measure, keep, executor, store, progress, threads, options: as in `fa.sweep`.

    A Dataset with the dimension `member`; the drawn values are coordinates. For each measure there are also its
    quantiles (`tip_quantiles`) and, by field, its first-order indices (`tip_first_order`): the share of its variance
    that the field explains alone, estimated from the members (`tip_first_order.attrs["estimator"]` tells how).
    Members that have no such number (of a run that failed, or `residual` of one that ended early) count in neither;
    `attrs["members"]` tells how many do.

    Members run in blocks in the order in which they were drawn. Statistics of a study that was interrupted are those of
    the members before the first that is missing, which are a random sample; the warning and `attrs["statistics"]` give
    their number.

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
    how = How(executor, store, progress, threads)
    case = case_of(robot, duration, options, torque=torque, motion=motion, loads=loads, q0=q0, v0=v0)
    plan = plan_of(case, drawn(over, count, whole_number("seed", seed), sobol), together=True)
    names = [each.name for each in plan.fields]

    def completed(data: xr.Dataset) -> xr.Dataset:
        return with_statistics(data, names, np.unique(levels).tolist(), sobol)

    return conducted(case, plan, measure, keep, how, "monte_carlo", completed)
