"""How far off a run is: what `verify=True` finds, by a second run with a tenth of the tolerance."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.integration import Integration


def largest_distance(system: System, run: Integration, tighter: Integration) -> float | None:
    """Of the links' ends in one run from those in the other (m), over all samples that both have; None where the other
    was interrupted or did not get beyond its start."""
    times, others = run.recorder.times, tighter.recorder.times
    common = np.intersect1d(times, others)
    if len(common) < 2 or tighter.status == "interrupted":
        return None
    rows = (each.recorder.rows[np.searchsorted(each.recorder.times, common)] for each in (run, tighter))
    here, there = (_ends(system, each[:, run.layout.q]) for each in rows)
    return float(np.linalg.norm(here - there, axis=-1).max())


def _ends(system: System, q: Array) -> Array:
    """Of all links, root and tip: (2 links, samples, 3)."""
    places = [(link.name, x) for link in system.robot.links for x in (0.0, None)]
    return np.stack([system.frame(name, x, q)[:, :3, 3] for name, x in places])
