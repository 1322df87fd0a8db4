"""Error of the second-order link model in a run, estimated from the vibration of its links.

The frequency of a second-order link that vibrates with deflections up to w is off by c (w/L)^2. Measured values of c in
the first mode are 0.02, 0.08, 0.22, 0.31, 0.37 for a held link that vibrates in one plane with 0, 0.05, 0.3, 1, 5 times
its mass at its tip, 0.1 for a link without a load that whirls, and 0.1 to 0.8 for one whose joint is free; in the
second mode 1 to 6, and more if the link has no shape beyond it. The phase error adds up over the run. The tip is off by
the amplitude times the phase error, times the lever by which the slope of the link moves what it carries.

These values hold for links without a load along their axis. A share of the load that buckles the robot leaves the rest
of the stiffness, and errors grow as its inverse (`dynamics/accuracy/stiffening.py`). benchmarks/stiffening.py compares
the estimate with exact runs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from flexarm.dynamics.accuracy.stiffening import MIN_SOFTENING, load_stiffness, replaceable_links, softening
from flexarm.dynamics.accuracy.validity import DEFLECTION_LIMIT, deflections, error_size, remedy
from flexarm.dynamics.bodies import Coordinate
from flexarm.dynamics.system import System
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.results.run import Run
from flexarm.robot import Link

BARE_FREQUENCY_ERROR, LOADED_FREQUENCY_ERROR, FREE_FREQUENCY_ERROR = 0.10, 0.37, 0.5
"""Relative error of the frequency of a second-order link, divided by (w/L)^2: of a link with a held joint that carries
nothing, or far more than its own mass; and of one whose joint is not moved as prescribed."""
HIGHER_FREQUENCY_ERROR = 4.0
"""The same for swings that are faster than HIGHER_MODES times the first frequency of the link."""
HIGHER_MODES = 3.0
MODAL_MASS = 0.24  # of a clamped bar in its first mode, as a share of its mass
MAX_STIFFENING_ERROR = 0.01
"""Estimated error, as a share of the peak deflection, up to which the second-order model is kept."""
MAX_POSTURES = 64  # whose frequencies are stored
_frequencies: WeakKeyDictionary[System, dict[tuple[object, ...], Array]] = WeakKeyDictionary()
LOADED_POSTURES = 5  # of a run, at which the stiffness that weight leaves is evaluated
MIN_SWING = 0.01  # of the peak deflection: smaller swings are no vibration


@dataclass(frozen=True)
class LinkError:
    """Estimated error of one second-order link.

    error: of tip and deflection, as a share of the largest peak deflection of the links listed with it.
    bend: peak deflection, as a share of the length.
    amplitude: largest amplitude of vibration, as a share of the length; frequency: of the vibration (Hz).
    """

    link: str
    error: float
    bend: float
    amplitude: float
    frequency: float

    @property
    def is_large(self) -> bool:
        return self.error > MAX_STIFFENING_ERROR or self.bend > DEFLECTION_LIMIT["shortening"]


def estimated_errors(run: Run, system: System) -> list[LinkError]:
    """Return the estimated errors of the links with the model "shortening".

    Parameters
    ----------
    run : Run
        A run of the system; its steps are read if it has them, else its samples.
    system : System
        The system that was simulated.

    Returns
    -------
    list of LinkError
        In the order of the links.
    """
    links = [each for each in system.robot.links if each.flexible is not None and each.stiffening == "shortening"]
    if not links:
        return []
    time, q = _states(run)
    across = [deflections(system, link, q) for link in links]
    distances = [np.hypot(w[..., 0], w[..., 1]).max(axis=1) for w in across]
    peak = max(float(each.max(initial=0.0)) for each in distances)
    found, free, left = [], _free_joints(run, system), None
    for link, w, far in zip(links, across, distances, strict=True):
        scale, slow = _reach(system, link) / peak if peak else 0.0, _frequency_error(system, link, free)
        swings = _swings(link, time, w, far)
        one = _link_error(link, slow, np.full(2, np.inf), scale, swings, far)
        # The stiffness that the load leaves takes the equations: it is computed if the decision depends on it.
        if one.error <= MAX_STIFFENING_ERROR < one.error / max(_least_stiffness(system, link, run), MIN_SOFTENING):
            left = _stiffness_left(system, run, q) if left is None else left
            slow /= max(left, MIN_SOFTENING)
            one = _link_error(link, slow, np.full(2, np.inf), scale, swings, far)
        # The frequencies take a mass matrix: they are computed if the decision depends on them.
        if one.error <= MAX_STIFFENING_ERROR < _link_error(link, slow, np.zeros(2), scale, swings, far).error:
            fast = HIGHER_MODES * _first_frequencies(system, link, q[0], free)
            one = _link_error(link, slow, fast, scale, swings, far)
        found.append(one)
    return found


def exact_instead(run: Run, system: System, errors: list[LinkError]) -> list[str]:
    """Return the links that must be exact for the run to be accurate, if all that is needed can be."""
    if run.status == "interrupted":
        return []
    diverged = run.status == "failed" and run.reason.startswith("diverged")
    limit = DEFLECTION_LIMIT["shortening"] / 3
    large = {each.link for each in errors if each.is_large or (diverged and each.bend > limit)}
    candidates = replaceable_links(system.robot) if large else []
    # A repeated run costs the same if all of its links are exact, and links that move each other share their errors.
    return candidates if large & set(candidates) else []


def record(run: Run, system: System, errors: list[LinkError], repeated: bool) -> None:
    """Store the models and the estimate in the statistics of a run."""
    models = {link.name: link.stiffening for link in system.robot.links if link.flexible is not None}
    estimate = {each.link: round(each.error, 6) for each in errors}
    run._add_statistics(stiffening={"models": models, "estimated_error": estimate, "repeated": repeated})


def repeat_note(errors: list[LinkError], names: list[str]) -> str:
    """Return the warning that a run was repeated with exact links."""
    worst = max(errors, key=lambda each: (each.is_large, each.error))
    listed = ", ".join(f"'{name}'" for name in names)
    if worst.error > MAX_STIFFENING_ERROR:
        size = error_size(worst.error)
        why = f"and vibrates: with the second-order model its deflection would be off by {size} of the peak"
    elif worst.is_large:
        why = f"and the second-order model is meant for less than {DEFLECTION_LIMIT['shortening']:.0%}"
    else:
        why = "and the run diverged with the second-order model"
    return (
        f"link '{worst.link}' bends by {worst.bend:.0%} of its length {why}; the run was repeated with the exact model "
        f"of {listed} (stiffening 'auto')"
    )


def warnings_of(errors: list[LinkError], system: System) -> list[str]:
    """Return a sentence for the second-order links whose vibration makes the estimated error too large.

    Links that bend beyond the limit of their model are left out; `validity.deflection_warnings` covers them.
    """
    large = [
        each for each in errors if each.error > MAX_STIFFENING_ERROR and each.bend <= DEFLECTION_LIMIT["shortening"]
    ]
    if not large:
        return []
    worst = max(large, key=lambda each: each.error)
    others = ", ".join(f"'{each.link}' ({each.error:.1%})" for each in large if each is not worst)
    size = error_size(worst.error)
    return [
        f"link '{worst.link}' vibrates by {worst.amplitude:.1%} of its length at about {worst.frequency:.3g} Hz: with "
        f"stiffening 'shortening' its deflection may be off by {size} of the peak, which grows with time"
        f"{f'; so may that of {others}' if others else ''}; {remedy(system.robot, system.robot.link(worst.link))}"
    ]


def lever(system: System, link: Link) -> float:
    """Return the motion of the outermost tip for a unit deflection of a link bent by a force at its tip.

    It is divided by the least stiffness that weight leaves (an upper estimate of the error).
    """
    return _reach(system, link) / max(_least_stiffness(system, link), MIN_SOFTENING)


def _reach(system: System, link: Link) -> float:
    """Return the same without a load: the slope at the tip moves what the link carries, out to the furthest point."""
    along, beside = {link.name: 0.0}, {link.name: _lateral_offset(link)}
    for each, parent in _outward(system, link):
        along[each.name] = along[parent] + abs(each.offset[0]) + each.length
        beside[each.name] = beside[parent] + math.hypot(*each.offset[1:]) + _lateral_offset(each)
    # A point beside the axis moves along it, across the deflection.
    pairs = ((1.0 + 1.5 * along[name] / link.length, 1.5 * beside[name] / link.length) for name in along)
    return max(math.hypot(*each) for each in pairs)


def _lateral_offset(link: Link) -> float:
    """Return the largest distance of a mass on a link from the link's axis."""
    carried = [each for each in (link.payload, *link.masses) if each is not None]
    return max((math.hypot(*each.offset[1:]) for each in carried), default=0.0)


def _least_stiffness(system: System, link: Link, run: Run | None = None) -> float:
    """Return a lower estimate of the stiffness that loads along a link leave, from Euler's load of a clamped column."""
    outward = [each for each, _ in _outward(system, link)]
    push = float(np.linalg.norm(system.robot.gravity)) * (link.total_mass + sum(each.total_mass for each in outward))
    if run is not None and "load_places" in run.options:
        push += float(np.linalg.norm(run.array("loads")[:, :, :3], axis=2).sum(axis=1).max())
    if not push or link.material is None or link.section is None:
        return 1.0
    sections = [link.section.at(xi) for xi in (0.0, 0.5, 1.0)]
    softest = link.material.E * min(min(each.I_y, each.I_z) for each in sections)
    length = link.length + sum(each.length + float(np.linalg.norm(each.offset)) for each in outward)
    return 1.0 - push / (np.pi**2 * softest / (4 * length**2))


def _stiffness_left(system: System, run: Run, q: Array) -> float:
    """Return the least stiffness that weight and loads leave, at some postures of a run."""
    rows = np.linspace(0, len(q) - 1, LOADED_POSTURES).astype(int)
    loads: Array | None = None
    if "load_places" in run.options:
        values = run.array("loads")
        largest = values[int(np.linalg.norm(values[:, :, :3], axis=2).sum(axis=1).argmax())]
        places = [(link, x, each) for (link, x), each in zip(run.options["load_places"], largest, strict=True)]
        loads = load_stiffness(system, q[0], places)
    joints = np.where(system.elastic, 0.0, q[rows])
    return min(softening(system, each, loads) for each in np.unique(joints, axis=0))


def _frequency_error(system: System, link: Link, free: list[Coordinate]) -> float:
    """Return the relative error of the first frequency of a link, divided by (w/L)^2."""
    if any(each.link == link.name for each in free):
        return FREE_FREQUENCY_ERROR
    carried = link.total_mass - link.beam_mass - (link.hub.mass if link.hub is not None else 0.0)
    carried += sum(each.total_mass for each, _ in _outward(system, link))
    share = carried / (carried + MODAL_MASS * link.beam_mass) if carried else 0.0
    return BARE_FREQUENCY_ERROR + (LOADED_FREQUENCY_ERROR - BARE_FREQUENCY_ERROR) * share


def _first_frequencies(system: System, link: Link, q: Array, free: list[Coordinate]) -> Array:
    """Return the first frequency of a link (Hz) in bend_y and bend_z; infinite if it has no second one."""
    q = np.where(system.elastic, 0.0, q)
    places = [] if system.constraints else [each.index for each in free]
    known = _frequencies.setdefault(system, {})
    key = (link.name, q.tobytes(), *places)
    found = known.get(key)
    if found is None:
        found = _computed_frequencies(system, link, q, places)
        if len(known) > MAX_POSTURES:
            known.clear()
        known[key] = found
    return found


def _computed_frequencies(system: System, link: Link, q: Array, free: list[int]) -> Array:
    M, K = system.mass_matrix(q), system.stiffness_matrix(q)
    if free:
        M = M - M[:, free] @ np.linalg.lstsq(M[np.ix_(free, free)], M[free, :], rcond=None)[0]
    found = np.full(2, np.inf)
    for axis, family in enumerate(("bend_y", "bend_z")):
        own = [each.index for each in system.coordinates if (each.link, each.family) == (link.name, family)]
        if len(own) > 1:
            squares = np.linalg.eigvals(np.linalg.lstsq(M[np.ix_(own, own)], K[np.ix_(own, own)], rcond=None)[0])
            found[axis] = np.sqrt(max(0.0, float(squares.real.min()))) / (2 * np.pi)
    return found


def _free_joints(run: Run, system: System) -> list[Coordinate]:
    """Return the coordinates of joints and drives whose motion is not prescribed."""
    moved = run.options["motion"]
    return [each for each in system.coordinates if each.kind != "elastic" and f"'{each.name}'" not in moved]


def _outward(system: System, link: Link) -> list[tuple[Link, str]]:
    """Return the links that a link carries, each with the name of its parent."""
    robot, names, found = system.robot, {link.name}, []
    for index in robot.order:
        each, parent = robot.links[index], robot.parents[index]
        if parent is not None and (name := robot.links[parent].name) in names:
            names.add(each.name)
            found.append((each, name))
    return found


class Swings(NamedTuple):
    """Swings of a link across one of its axes, from one turning point to the next.

    halves: half of the way (m); furthest: largest deflection until the next turning point, as a share of the length;
    frequencies: that of a vibration with such swings (Hz).
    """

    halves: Array
    furthest: Array
    frequencies: Array


def _swings(link: Link, time: Array, w: Array, far: Array) -> list[Swings | None]:
    """Return the swings along y and z, from deflections w (times, stations, 2) and the largest of them at each time."""
    peak = float(far.max(initial=0.0))
    if peak <= 1e-9 * link.length or len(time) < 3:
        return [None, None]
    station, found = int(np.ptp(w, axis=0).max(axis=1).argmax()), list[Swings | None]()
    for axis in range(2):
        turns = _turning_points(w[:, station, axis], MIN_SWING * peak)
        if len(turns) < 3:
            found.append(None)
            continue
        halves = np.abs(np.diff(w[turns, station, axis])) / 2
        furthest = np.maximum.reduceat(far, turns[:-1]) / link.length
        found.append(Swings(halves, furthest, 0.5 / np.diff(time[turns])))
    return found


def _link_error(
    link: Link, slow_error: float, fast: Array, lever: float, swings: list[Swings | None], far: Array
) -> LinkError:
    """Estimate the error from the swings of a link.

    fast: frequency (Hz), by axis, above which a swing is one of a higher mode; lever (1/m) scales the error.
    """
    error, amplitude, frequency = 0.0, 0.0, 0.0
    for limit, axis in zip(fast.tolist(), swings, strict=True):
        if axis is None:
            continue
        is_fast, off = axis.frequencies > limit, 0.0
        for coefficient, these in ((slow_error, ~is_fast), (HIGHER_FREQUENCY_ERROR, is_fast)):
            if these.any():
                # A swing is half a period.
                phase = np.cumsum(np.where(these, np.pi * coefficient * axis.furthest**2, 0.0))
                off = max(off, float((axis.halves * np.minimum(2.0, phase))[these].max()))
        error = math.hypot(error, lever * off)
        largest = float(axis.halves.max()) / link.length
        if largest > amplitude:
            amplitude, frequency = largest, float(np.sort(axis.frequencies)[len(axis.frequencies) // 2])
    return LinkError(link.name, error, float(far.max(initial=0.0)) / link.length, amplitude, frequency)


def _turning_points(w: Array, least: float) -> NDArray[np.intp]:
    """Return the places between which w rises and falls by at least so much."""
    turns, furthest, sign = [0], 0, 0
    values = w.tolist()
    begin = extreme = values[0]
    for k, now in enumerate(values):
        if not sign:
            if abs(now - begin) >= least:
                sign, furthest, extreme = (1 if now > begin else -1), k, now
        elif sign * (now - extreme) >= 0:
            furthest, extreme = k, now
        elif abs(now - extreme) >= least:
            turns.append(furthest)
            sign, furthest, extreme = -sign, k, now
    return np.array([*turns, furthest] if sign else turns, dtype=np.intp)


def _states(run: Run) -> tuple[Array, Array]:
    if isinstance(run._dense, str):
        return run.array("time"), run.array("q")
    nodes: Any = run._dense.nodes
    return nodes.times, nodes.rows[:, : run.array("q").shape[1]]
