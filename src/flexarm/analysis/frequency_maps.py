"""Long work one piece after the other: a bar that counts, and an end when the user wants one.

Frequencies of a robot over its postures.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.modes import Hold
from flexarm.analysis.modes import modes as modes_of
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.equilibrium import equilibrium
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.progress import Progress
from flexarm.foundation.validation import Array, real_array, whole_number
from flexarm.robot import Robot

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class _Counting(Progress):
    """Pieces done so far."""

    doing = "finding modes"

    def __init__(self, count: int, wanted: bool | None, what: str) -> None:
        super().__init__(float(count), wanted)
        self.what = what

    def words(self, t: float, pace: float) -> str:
        return f"{t:g} of {self.duration:g} {self.what}"


def one_by_one(pieces: Sequence[Any], work: Callable[[Any], None], what: str, progress: bool | None) -> int:
    """Do the work for each piece; how many are done, which are fewer than all after an interrupt (and a warning)."""
    if progress is not None and not isinstance(progress, bool):
        raise ValueError(f"progress = {shown(progress)}: must be True, False or None")
    done = 0
    interrupts = Interrupts()
    try:
        with interrupts.catching(), _Counting(len(pieces), progress, what) as bar:
            for piece in pieces:
                work(piece)
                interrupts.check()
                done += 1
                bar.update(done)
    except KeyboardInterrupt:
        if not done:
            raise
        warnings.warn(f"interrupted: {done} of {len(pieces)} {what} are done", ValidityWarning, stacklevel=3)
    return done


MOST = 1_000_000  # postures


@dataclass(frozen=True, eq=False)
class FrequencyMap:
    """Frequencies (Hz) and damping ratios of the slowest vibrations, counted from 1 in ascending order, at postures.

    over: the joints' values by name. units: theirs. frequencies, damping_ratios: (..., modes), an axis for each of
    them, in this order; nan where fewer vibrate, or where it was interrupted.
    """

    over: dict[str, Array]
    units: dict[str, str]
    frequencies: Array
    damping_ratios: Array

    @property
    def data(self) -> xr.Dataset:
        """The same as a labelled Dataset, a dimension for each joint, and `mode`."""
        import xarray as xr

        names = [*self.over, "mode"]
        coordinates: dict[str, Any] = {
            name: (name, values, {"units": self.units[name]}) for name, values in self.over.items()
        }
        coordinates["mode"] = np.arange(1, self.frequencies.shape[-1] + 1)
        return xr.Dataset(
            {
                "frequency": (names, self.frequencies.copy(), {"units": "Hz"}),
                "damping_ratio": (names, self.damping_ratios.copy(), {"units": "1"}),
            },
            coordinates,
        )

    def plot(self) -> Figure:
        """Lines over one joint, contours over two, a panel for each mode."""
        from flexarm.plotting.frequency import map_figure

        return map_figure(self)

    def __repr__(self) -> str:
        sizes = " x ".join(str(len(values)) for values in self.over.values())
        return f"FrequencyMap of {self.frequencies.shape[-1]} modes over {', '.join(self.over)} ({sizes})"


def frequency_map(
    robot: Robot | System,
    over: Mapping[str, Any],
    *,
    modes: int = 3,
    q: Vector = None,
    joints: Hold | Mapping[str, Hold] = "locked",
    sagging: bool = False,
    progress: bool | None = None,
) -> FrequencyMap:
    """The frequencies of the slowest vibrations at all postures of joints `over` ranges, {"fore.q": np.linspace(0, 2)}.

    Motors behind springs go with their joints.

    modes: how many. q: the other coordinates. joints: "locked", "free", or one of these by link, as in `fa.modes`.
    sagging: at each posture with links and drives where their load takes them (`fa.equilibrium`), not straight.
    progress: None shows a bar on a terminal only. Ctrl-C ends it, and postures that are left are nan.

    >>> from flexarm.robot import library
    >>> found = frequency_map(library.two_link_arm(), {"fore.q": [0.0, 1.5]}, modes=2)
    >>> found.frequencies.shape
    (2, 2)
    """
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    system = robot if isinstance(robot, System) else System(robot, native=False)
    count = whole_number("modes", modes, least=1)
    if count > system.nq:
        raise ValueError(f"modes = {shown(modes)}: the robot has {system.nq} coordinates, and no more modes")
    if not isinstance(sagging, bool):
        raise ValueError(f"sagging = {shown(sagging)}: must be True or False")
    ranges = _ranges(system, over)
    if both := [name for name in q if name in ranges] if isinstance(q, Mapping) else []:
        raise ValueError(f"q: gives {shown(both[0])}, over which the map goes")
    first = {name: float(values[0]) for name, values in ranges.items()}  # a slide may have to be somewhere
    start = system.posture({**q, **first} if isinstance(q, Mapping) else first if q is None else q)
    if start.ndim != 1:
        raise ValueError(f"q has shape {start.shape}: must be one posture")
    shape = tuple(len(values) for values in ranges.values())
    frequencies, ratios = np.full((2, *shape, count), np.nan)
    places = [system.index(name) for name in ranges]
    values = list(ranges.values())
    moved = [*zip(places, range(len(places))), *_motors(system, places, q)]

    def work(place: tuple[int, ...]) -> None:
        posture = start.copy()
        for index, number in moved:
            posture[index] += values[number][place[number]] - start[places[number]]
        found = modes_of(system, equilibrium(system, posture) if sagging else posture, joints=joints)
        kept = [k for k, kind in enumerate(found.kinds) if kind == "vibration"][:count]
        frequencies[place][: len(kept)] = found.frequencies[kept]
        ratios[place][: len(kept)] = found.damping_ratios[kept]

    pieces = list(product(*(range(size) for size in shape)))
    done = one_by_one(pieces, work, "postures", progress)
    few = sum(bool(np.isnan(frequencies[place]).any()) for place in pieces[:done])
    if few:
        warnings.warn(
            f"modes = {count}: at {few} of {done} postures fewer vibrate (others are rigid-body motions, or grow); "
            "their frequencies are nan",
            ValidityWarning,
            stacklevel=2,
        )
    return FrequencyMap(ranges, {name: system.units[system.index(name)] for name in ranges}, frequencies, ratios)


def _motors(system: System, places: list[int], q: Vector) -> list[tuple[int, int]]:
    """Motors behind springs that go along with joints, each with the number of its joint: all that q does not name."""
    named = q if isinstance(q, Mapping) else ()
    joints = {system.coordinates[k].link: number for number, k in enumerate(places)}
    return [
        (k, joints[each.link])
        for k, each in enumerate(system.coordinates)
        if each.kind == "motor" and each.link in joints and each.name not in named
    ]


def _ranges(system: System, over: Any) -> dict[str, Array]:
    if not isinstance(over, Mapping) or not over:
        raise TypeError(f"over = {shown(over)}: must be a mapping from coordinates to values")
    known = [each.name for each in system.coordinates if each.kind == "joint"]
    out = {}
    for name, values in over.items():
        if name not in known:
            raise KeyError(f"over: there is no joint coordinate {shown(name)}{suggestion(name, known)}")
        found = np.array(real_array(f"over['{name}']", values))
        if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
            raise ValueError(f"over['{name}'] = {shown(values)}: must be a list of finite values")
        if (np.diff(found) <= 0).any():
            raise ValueError(f"over['{name}'] = {shown(values)}: must rise")
        out[name] = found
    if np.prod([float(len(each)) for each in out.values()]) > MOST:
        raise ValueError(f"over: makes more than {MOST} postures")
    return out
