"""Natural frequencies of a robot over its postures, and a progress bar for work that is done piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.modes import Hold
from flexarm.analysis.modes import modes as modes_of
from flexarm.dynamics.accuracy.stiffening import exact_system, system_for_posture
from flexarm.dynamics.accuracy.validity import ValidityWarning, warn_of_posture
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.equilibrium import find_equilibrium
from flexarm.dynamics.system import System, as_system
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.foundation.progress import Progress
from flexarm.foundation.validation import Array, real_array, whole_number
from flexarm.robot import Robot

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

MAX_POSTURE_COUNT = 1_000_000


class _PieceProgress(Progress):
    """Progress bar that counts finished pieces."""

    doing, what = "finding modes", ""

    def words(self, t: float, pace: float) -> str:
        return f"{t:g} of {self.duration:g} {self.what}"


def run_pieces(pieces: Sequence[Any], work: Callable[[Any], None], what: str, progress: bool | None) -> int:
    """Call `work` for each piece; return the number of finished pieces, after an interrupt with a warning."""
    if progress is not None and not isinstance(progress, bool):
        raise ValueError(f"progress = {shown(progress)}: must be True, False or None")
    done = 0
    interrupts, bar = Interrupts(), _PieceProgress(float(len(pieces)), progress)
    bar.what = what
    try:
        with interrupts.catching(), bar:
            for piece in pieces:
                work(piece)
                interrupts.check()
                done += 1
                bar.update(done)
    except KeyboardInterrupt:
        if not done:
            raise
        warn(f"interrupted: {done} of {len(pieces)} {what} are done", ValidityWarning)
    return done


@dataclass(frozen=True, eq=False)
class FrequencyMap:
    """Frequencies and damping ratios of the slowest vibrations over a grid of postures.

    Parameters
    ----------
    over : dict of str to ndarray
        Values of the joint coordinates by name, one axis of the grid for each.
    units : dict of str to str
        Units of the joint coordinates.
    frequencies : ndarray, shape (..., modes)
        Frequencies (Hz), ascending; nan if fewer modes vibrate, or if the computation was interrupted.
    damping_ratios : ndarray, shape (..., modes)
        Damping ratios.

    See Also
    --------
    flexarm.frequency_map : Compute a map.
    """

    over: dict[str, Array]
    units: dict[str, str]
    frequencies: Array
    damping_ratios: Array

    @property
    def data(self) -> xr.Dataset:
        """Labelled xarray Dataset with one dimension for each joint, and the dimension `mode`, counted from 1."""
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
        """Plot lines over one joint or contours over two, one panel for each mode.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
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
    at_equilibrium: bool = False,
    progress: bool | None = None,
) -> FrequencyMap:
    """Compute the frequencies of the slowest vibrations over a grid of postures.

    Motors behind springs follow their joints.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion.
    over : dict of str to array_like
        Ascending values of joint coordinates (rad or m) by name, such as {"fore.q": np.linspace(0, 2)}; the grid has
        one axis for each.
    modes : int, optional
        Number of vibrations.
    q : dict of str to float or array_like, shape (nq,), optional
        Other coordinates, by name or as an array; zero by default.
    joints : {"locked", "free"} or dict of str to {"locked", "free"}, optional
        State of the joints, as in `modes`.
    at_equilibrium : bool, optional
        True evaluates the modes in equilibrium under gravity and loads at each posture, False with straight links.
    progress : bool, optional
        True shows a progress bar, False none. By default it is shown on a terminal. Ctrl-C ends the computation;
        remaining postures are nan.

    Returns
    -------
    FrequencyMap
        Frequencies and damping ratios on the grid.

    Raises
    ------
    KeyError
        If there is no joint coordinate of a given name.
    ValueError
        If values are not finite and ascending.

    Warns
    -----
    ValidityWarning
        If fewer modes vibrate at some postures, or the computation was interrupted.

    See Also
    --------
    flexarm.modes : Modes at one posture.
    flexarm.campbell : Frequencies over the speed of rotation.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> found = frequency_map(library.two_link_arm(), {"fore.q": [0.0, 1.5]}, modes=2)
    >>> found.frequencies.shape
    (2, 2)
    """
    system = as_system(robot)
    count = whole_number("modes", modes, least=1)
    if count > system.nq:
        raise ValueError(f"modes = {shown(modes)}: the robot has {system.nq} coordinates, and no more modes")
    if not isinstance(at_equilibrium, bool):
        raise ValueError(f"at_equilibrium = {shown(at_equilibrium)}: must be True or False")
    grid = PostureGrid(system, over, q)
    frequencies, ratios = np.full((2, *grid.shape, count), np.nan)

    def work(system: System, place: tuple[int, ...], posture: Array) -> None:
        found = modes_of(system, posture, joints=joints)
        kept = [k for k, kind in enumerate(found.kinds) if kind == "vibration"][:count]
        frequencies[place], ratios[place] = np.nan, np.nan
        frequencies[place][: len(kept)] = found.frequencies[kept]
        ratios[place][: len(kept)] = found.damping_ratios[kept]

    def settled(system: System, posture: Array) -> Array:
        return find_equilibrium(system, posture) if at_equilibrium else posture

    done = map_postures(robot, grid, settled, work, progress)
    few = sum(bool(np.isnan(frequencies[place]).any()) for place in grid.places[:done])
    if few:
        warn(
            f"modes = {count}: at {few} of {done} postures fewer vibrate (others are rigid-body motions, or grow); "
            "their frequencies are nan",
            ValidityWarning,
        )
    return FrequencyMap(grid.ranges, grid.units, frequencies, ratios)


class PostureGrid:
    """Postures over a grid of joint coordinates; motors behind springs follow their joints.

    Parameters
    ----------
    system : System
        Equations of motion.
    over : dict of str to array_like
        Ascending values of joint coordinates by name, one axis of the grid for each.
    q : dict of str to float or array_like, shape (nq,), optional
        Other coordinates; zero by default.
    """

    def __init__(self, system: System, over: Any, q: Vector) -> None:
        self.ranges = _check_ranges(system, over)
        if both := [name for name in q if name in self.ranges] if isinstance(q, Mapping) else []:
            raise ValueError(f"q: gives {shown(both[0])}, over which the map goes")
        first = {name: float(values[0]) for name, values in self.ranges.items()}  # a slide may not allow zero
        self.start = system.posture({**q, **first} if isinstance(q, Mapping) else first if q is None else q)
        if self.start.ndim != 1:
            raise ValueError(f"q has shape {self.start.shape}: must be one posture")
        indices = [system.index(name) for name in self.ranges]
        axes = {system.coordinates[k].link: axis for axis, k in enumerate(indices)}
        named = q if isinstance(q, Mapping) else ()
        motors = [
            (k, axes[each.link])
            for k, each in enumerate(system.coordinates)
            if each.kind == "motor" and each.link in axes and each.name not in named
        ]
        self._indices, self._moved = indices, [*zip(indices, range(len(indices))), *motors]
        self.units = {name: system.units[k] for name, k in zip(self.ranges, indices)}
        self.shape = tuple(map(len, self.ranges.values()))
        self.places = list(np.ndindex(self.shape))

    def posture(self, place: tuple[int, ...]) -> Array:
        """Return the posture (nq,) at a place of the grid."""
        out, values = self.start.copy(), list(self.ranges.values())
        for index, axis in self._moved:
            out[index] += values[axis][place[axis]] - self.start[self._indices[axis]]
        return out


def map_postures(
    robot: Robot | System,
    grid: PostureGrid,
    settled: Callable[[System, Array], Array],
    work: Callable[[System, tuple[int, ...], Array], None],
    progress: bool | None,
) -> int:
    """Call `work` at each posture of a grid, after `settled` has moved it; return the number of finished postures.

    If links bend too far for the second-order model at some posture, all are evaluated anew with exact links; after
    Ctrl-C, a warning is raised instead.
    """
    system = as_system(robot)
    postures: list[Array] = []

    def piece(place: tuple[int, ...]) -> None:
        postures.append(settled(system, grid.posture(place)))
        work(system, place, postures[-1])

    try:
        done = run_pieces(grid.places, piece, "postures", progress)
        if done < len(grid.places):  # Ctrl-C: nothing is repeated
            if postures:
                bends = np.abs(np.array(postures) / system.sizes)[:, system.elastic].max(axis=1, initial=0.0)
                warn_of_posture(system, postures[int(bends.argmax())])
            return done
        exact = system_for_posture(robot, np.array(postures))
    except ArithmeticError:
        if (exact := exact_system(robot, "no static equilibrium was found")) is None:
            raise
    return done if exact is None else map_postures(exact, grid, settled, work, progress)


def _check_ranges(system: System, over: Any) -> dict[str, Array]:
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
    if np.prod([float(len(each)) for each in out.values()]) > MAX_POSTURE_COUNT:
        raise ValueError(f"over: makes more than {MAX_POSTURE_COUNT} postures")
    return out
