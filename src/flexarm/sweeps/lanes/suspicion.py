"""Which members of a batch should be looked at closer: something should be known of them that lanes do not tell.

Lanes keep no steps, and describe no member's robot: what they know are the extremes of each coordinate and of the
energies. Where these may be beyond what the model or the integration bears, the member is run by itself, and that run
tells (`motion/validity.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.reach import WIDE_TURN, largest
from flexarm.mechanics.system import System
from flexarm.motion.audit import appears
from flexarm.motion.stiffening import MAX_ERROR, lever
from flexarm.motion.validity import LEAK
from flexarm.motion.vibration import FAST, OFTEN
from flexarm.sweeps.lanes.batch import Batch
from flexarm.sweeps.lanes.crew import ROUGH
from flexarm.sweeps.member import Outcome

SEEN = 0.7  # of the worst of the energy's balance, and of swings: lanes look at some steps only
AT_ONCE = 2  # members: where none of so many has anything to tell, less suspicious ones have not


def suspicion(batch: Batch, system: System) -> Array:
    """By member of a batch that has run, how many times it is beyond what needs no second look."""
    models = {link.name: link.stiffening for link in system.robot.links}
    limits = np.array(
        [largest(models[each.link], each.family) if each.family else np.inf for each in system.coordinates]
    )
    arrays, crew = batch.arrays, batch.crew
    furthest = arrays.rows(batch.groups.furthest)
    bent = (furthest / (limits * crew.sizes))[:, system.elastic].max(axis=1, initial=0.0)
    vibrating = _phase_errors(batch, system, furthest / crew.sizes)
    turned = (furthest * crew.turns).sum(axis=1) / WIDE_TURN
    leaked = batch.groups.extremes.leak(crew.push / batch.duration**2) / (SEEN * LEAK)
    found = np.maximum(np.maximum(bent, vibrating), turned) / (1 - ROUGH)
    if not batch.reads_nodes:
        found = np.maximum(found, _aliasing(arrays.rows(batch.groups.swings), arrays.rows(batch.groups.fast_swings)))
    return np.asarray(found if appears(system.robot) else np.maximum(found, leaked))


def _aliasing(swings: Array, fast: Array) -> Array:
    """Return how far the oscillations of each member, (members, coordinates), are beyond those that samples show: of
    at least `OFTEN`, a share of `FAST` is faster than a sample (`motion/vibration.py`)."""
    share = fast / np.maximum(swings, 1) / (SEEN * FAST)
    return np.asarray(np.minimum(share, swings / (SEEN * OFTEN)).max(axis=1, initial=0.0))


def _phase_errors(batch: Batch, system: System, shares: Array) -> Array:
    """Return an upper estimate of the error of second-order links, divided by the error that is allowed.

    The error of a swing is its amplitude times the phase that all swings before it add up to, each at the largest
    deflection of the link (`motion/stiffening.py` has the estimate of a single run). Those of all coordinates add up.
    """
    second_order = {link.name for link in system.robot.links if link.stiffening == "shortening"}
    found, rows, groups = np.zeros(len(shares)), batch.arrays.rows, batch.groups
    weighted = rows(groups.weighted_swings) / (2 * batch.crew.sizes)
    for name in second_order:
        bends = [each for each in system.coordinates if each.link == name and each.family in ("bend_y", "bend_z")]
        bent = shares[:, [each.index for each in bends]].max(axis=1, initial=0.0)
        off = np.pi * bent * weighted[:, [each.index for each in bends]].sum(axis=1)
        found = np.maximum(found, lever(system, system.robot.link(name)) * off)
    return np.asarray(found / (SEEN * MAX_ERROR))


def second_looks(suspicious: Array, look: Callable[[int], Outcome]) -> dict[int, Outcome]:
    """Return outcomes of members that were run again by themselves, by place: the most suspicious first, as long as
    some of them have warnings."""
    beyond = np.count_nonzero(suspicious > 1)
    order = np.argsort(-suspicious, kind="stable")[:beyond].tolist()
    found: dict[int, Outcome] = {}
    for first in range(0, len(order), AT_ONCE):
        some = {place: look(place) for place in order[first : first + AT_ONCE]}
        found |= some
        if not any(each.doubts for each in some.values()):
            break
    return found
