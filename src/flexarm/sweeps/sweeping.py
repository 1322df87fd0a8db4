"""sweep: a case with all combinations of values of its fields."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from flexarm.foundation.sentences import shown
from flexarm.mechanics.arguments import Vector
from flexarm.robot import Robot
from flexarm.sweeps.conduct import How, conducted
from flexarm.sweeps.plan import plan_of
from flexarm.sweeps.rehearsal import case_of

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
    together: bool = False,
    executor: Any = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    threads: int | None = None,
    **options: Any,
) -> xr.Dataset:
    """Runs of a `robot` from t = 0 to `duration` (s) with all combinations of values `over` its fields.

    over: values by name. Names are fields of the robot (`links.fore.payload.mass`, as `robot.with_` has them), initial
        coordinates and rates (`q0.upper.q`, `v0.upper.q`), gains of a law (`gains.kp`) and numbers of profiles:
        `torque.upper` where that is a number, `torque.upper.amplitude`, `torque.upper.switch.0`,
        `motion.upper.duration`, `references.fore.q.end`, `loads.0.force.1`, and `scale` of any, which multiplies it.
    torque, motion, loads, q0, v0: as in `fa.simulate`; so are `options` (rtol, method, dt, sample, stop, ...).
    measure: functions of a run by name, which give numbers or arrays, {"peak": lambda run: ...}, or one such function,
        or names of usual measures in a list. Without it all the usual ones: `peak_deflection` of each link, `tip`,
        energies and time at the `end`, `residual` vibration of the tip after the last jump of the inputs, `peak_torque`
        of each actuator.
    keep: "runs" keeps the histories, in the variable `run`.
    together: True takes values side by side, one member for each place in the lists, instead of all combinations.
    executor: any `concurrent.futures.Executor` or a Dask `Client`: batches of members go to its workers, and workers
        that die are tolerated.
    store: a file, "sweep.nc", or a folder, that keeps members as they finish: the same call again goes on where it was
        stopped, by Ctrl-C or by anything else. A store of another sweep is refused and left alone.
    progress: True shows a bar, False none; None shows it on a terminal.
    threads: on so many cores; all unless given. Python runs on one core at a time: where a law or a measure is a
        function of Python that cannot be compiled, threads hardly help, and an `executor` of processes does.

    A Dataset whose dimensions are the fields, with their units; its variables are the measures, `status` and `reason`
    of each member. A member that fails has nan, status "failed" and its reason; the others go on.

    >>> from flexarm.robot import Link
    >>> bar = Robot(links=[Link("bar", 1.0, mass=3.0)])
    >>> found = sweep(bar, {"links.bar.mass": [3.0, 6.0]}, 1.0, torque={"bar": 1.0}, native=False)
    >>> angle = found["tip"].sel(axis="y").values  # sin(t^2 torque / (2 I)), I = m / 3
    >>> [round(float(each), 4) for each in angle]
    [0.4794, 0.2474]
    """
    if not isinstance(together, bool):
        raise TypeError(f"together = {shown(together)}: must be True or False")
    how = How(executor, store, progress, threads)
    case = case_of(robot, duration, options, torque=torque, motion=motion, loads=loads, q0=q0, v0=v0)
    return conducted(case, plan_of(case, over, together), measure, keep, how)
