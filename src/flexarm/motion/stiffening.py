"""Error of the second-order link model in a run, estimated from the vibration of its links.

The frequency of a second-order link that vibrates with deflections up to w is off by about 0.35 (w/L)^2. The phase
error adds up over the run, and the tip is off by the amplitude times the phase error, times the lever by which the
slope of the link moves what it carries. benchmarks/stiffening.py compares the estimate with exact runs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.mechanics.reach import LARGE_DEFLECTION, STATIONS, could_be_exact
from flexarm.mechanics.stiffening import replaceable_links
from flexarm.mechanics.system import System
from flexarm.motion.run import Run
from flexarm.robot import FixedPrismatic, Link

FREQUENCY_ERROR = 0.35
"""Relative error of the frequency of a second-order link, divided by (w/L)^2."""
MAX_ERROR = 0.01
"""Estimated error, as a share of the peak deflection, up to which the second-order model is kept."""
MIN_SWING = 0.01  # of the peak deflection: smaller swings are no vibration


@dataclass(frozen=True)
class LinkError:
    """Estimated error of one second-order link.

    error: of the deflection, as a share of the peak deflection; bend: peak deflection, as a share of the length.
    amplitude: largest amplitude of vibration, as a share of the length; frequency: of the vibration (Hz).
    """

    link: str
    error: float
    bend: float
    amplitude: float
    frequency: float

    @property
    def is_large(self) -> bool:
        return self.error > MAX_ERROR or self.bend > LARGE_DEFLECTION["shortening"]


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
    return [_link_error(link, lever(system, link), time, _deflections(system, link, q)) for link in links]


def exact_instead(run: Run, system: System, errors: list[LinkError]) -> list[str]:
    """Return the links that must be exact for the run to be accurate, if all that is needed can be."""
    if run.status == "interrupted":
        return []
    diverged = run.status == "failed" and run.reason.startswith("diverged")
    limit = LARGE_DEFLECTION["shortening"] / 3
    large = {each.link for each in errors if each.is_large or (diverged and each.bend > limit)}
    candidates = replaceable_links(system.robot) if large else []
    # A repeated run costs the same if all of its links are exact, and links that move each other share their errors.
    return candidates if large & set(candidates) else []


def record(run: Run, system: System, errors: list[LinkError], repeated: bool) -> None:
    """Store the models and the estimate in the statistics of a run."""
    models = {link.name: link.stiffening for link in system.robot.links if link.flexible is not None}
    estimate = {each.link: round(each.error, 6) for each in errors}
    statistics = {**run.statistics, "stiffening": {"models": models, "estimated_error": estimate, "repeated": repeated}}
    run._records.attrs["statistics"] = json.dumps(statistics, default=float)


def repeat_note(errors: list[LinkError], names: list[str]) -> str:
    """Return the sentence that tells that a run was repeated with exact links."""
    worst = max(errors, key=lambda each: (each.is_large, each.error))
    listed = ", ".join(f"'{name}'" for name in names)
    return (
        f"link '{worst.link}' bends by {worst.bend:.0%} of its length and vibrates: with the second-order model its "
        f"deflection would be off by about {worst.error:.1%} of the peak; the run was repeated with the exact model "
        f"of {listed} (stiffening 'auto')"
    )


def warnings_of(errors: list[LinkError], system: System) -> list[str]:
    """Return a sentence for each second-order link whose estimated error is too large."""
    found = []
    for each in errors:
        if each.error > MAX_ERROR:
            link = system.robot.link(each.link)
            found.append(
                f"link '{each.link}' vibrates by {each.amplitude:.1%} of its length at about {each.frequency:.3g} Hz: "
                f"with stiffening 'shortening' its deflection may be off by {each.error:.1%} of the peak, which grows "
                f"with time; {_remedy(link)}"
            )
    return found


def _remedy(link: Link) -> str:
    if could_be_exact(link):
        return "take stiffening='exact'"
    flexible = link.flexible
    assert flexible is not None
    if flexible.shear:
        return "stiffening='exact' is not available with shear: leave shear out if the link is slender"
    if isinstance(link.joint, FixedPrismatic):
        return "stiffening='exact' is not available for a link that slides through its joint in space: damp it"
    return "stiffening='exact' is not available for it: damp it, or split it into several links welded together"


def lever(system: System, link: Link) -> float:
    """Return the motion of the outermost tip for a unit deflection of a link bent by a force at its tip."""
    robot = system.robot
    carried = {link.name: 0.0}
    for each, parent in zip(robot.links, robot.parents, strict=True):
        if parent is not None and (name := robot.links[parent].name) in carried:
            carried[each.name] = carried[name] + each.length
    return 1.0 + 1.5 * max(carried.values()) / link.length


def _link_error(link: Link, lever: float, time: Array, w: Array) -> LinkError:
    """Estimate from the deflections w (times, stations, 2) across the axis of a link."""
    far = np.linalg.norm(w, axis=2).max(axis=1)
    peak = float(far.max(initial=0.0))
    if peak <= 1e-9 * link.length or len(time) < 3:
        return LinkError(link.name, 0.0, peak / link.length, 0.0, 0.0)
    error, amplitude, frequency = 0.0, 0.0, 0.0
    station = int(np.ptp(w, axis=0).max(axis=1).argmax())
    for axis in range(2):
        turns = _turning_points(w[:, station, axis], MIN_SWING * peak)
        if len(turns) < 3:
            continue
        half = np.abs(np.diff(w[turns, station, axis])) / 2
        largest = np.maximum.reduceat(far, turns[:-1])
        phase = np.cumsum(np.pi * FREQUENCY_ERROR * (largest / link.length) ** 2)  # a swing is half a period
        error = float(np.hypot(error, lever * (half * np.minimum(2.0, phase)).max() / peak))
        if half.max() > amplitude * link.length:
            amplitude, frequency = float(half.max()) / link.length, 0.5 / float(np.median(np.diff(time[turns])))
    return LinkError(link.name, error, peak / link.length, amplitude, frequency)


def _turning_points(w: Array, least: float) -> NDArray[np.intp]:
    """Return the places between which w rises and falls by at least so much."""
    turns, furthest, sign = [0], 0, 0
    for k in range(1, len(w)):
        if not sign:
            if abs(w[k] - w[0]) >= least:
                sign, furthest = (1 if w[k] > w[0] else -1), k
        elif sign * (w[k] - w[furthest]) >= 0:
            furthest = k
        elif abs(w[k] - w[furthest]) >= least:
            turns.append(furthest)
            sign, furthest = -sign, k
    return np.array([*turns, furthest] if sign else turns, dtype=np.intp)


def _deflections(system: System, link: Link, q: Array) -> Array:
    """Return (times, stations, 2): how far stations of a link are from its straight axis (m)."""
    body = next(each for each in system._chain.bodies if each.link.name == link.name)
    x = np.linspace(0.0, link.length, STATIONS)
    bent, straight = (
        body.model.points(body, each[..., body.local.all], x) for each in (q, np.where(system.elastic, 0.0, q))
    )
    return np.asarray((bent - straight)[..., 1:])


def _states(run: Run) -> tuple[Array, Array]:
    if isinstance(run._dense, str):
        return run.array("time"), run.array("q")
    nodes: Any = run._dense.nodes
    return nodes.times, nodes.rows[:, : run.array("q").shape[1]]
