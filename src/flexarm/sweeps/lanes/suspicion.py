"""Which members of a batch should be looked at closer: something should be known of them that lanes do not tell.

Lanes keep no steps, and describe no member's robot: what they know are the extremes of each coordinate and of the
energies. Where these may be beyond what the model or the integration bears, the member is run by itself, and that run
tells (`motion/validity.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

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
    turned = (furthest * crew.turns).sum(axis=1) / WIDE_TURN
    leaked = batch.groups.extremes.leak(crew.push / batch.duration**2) / (SEEN * LEAK)
    found = np.maximum(np.maximum(bent, phase_errors(batch, system)), turned) / (1 - ROUGH)
    if not batch.reads_nodes:
        found = np.maximum(found, _aliasing(arrays.rows(batch.groups.swings), arrays.rows(batch.groups.fast_swings)))
    return np.asarray(found if appears(system.robot) else np.maximum(found, leaked))


def _aliasing(swings: Array, fast: Array) -> Array:
    """Return how far the oscillations of each member, (members, coordinates), are beyond those that samples show: of
    at least `OFTEN`, a share of `FAST` is faster than a sample (`motion/vibration.py`)."""
    share = fast / np.maximum(swings, 1) / (SEEN * FAST)
    return np.asarray(np.minimum(share, swings / (SEEN * OFTEN)).max(axis=1, initial=0.0))


def phase_errors(batch: Batch, system: System) -> Array:
    """Return an upper estimate of the error of second-order links by member, divided by the error that is allowed.

    The estimate of a single run (`motion/stiffening.py`) takes the deflections of links; here the swings of each
    coordinate are followed while members run.
    """
    rows, crew, every = batch.arrays.rows, batch.crew, batch.groups.phase_errors
    shares, found, peak = rows(batch.groups.furthest) / crew.sizes, np.zeros(len(crew)), np.zeros(len(crew))
    for link in system.robot.links:
        if link.flexible is None or link.stiffening != "shortening":
            continue
        bends = [each for each in system.coordinates if each.link == link.name]
        places = [each.index for each in bends if each.family in ("bend_y", "bend_z")]
        peak = np.maximum(peak, link.length * shares[:, places].max(axis=1, initial=0.0))
        off = every[:, places].max(axis=1, initial=0.0)
        found = np.maximum(found, lever(system, link) * link.length * off)
    return np.asarray(np.divide(found, peak, out=np.zeros_like(found), where=peak > 0) / MAX_ERROR)


def second_looks(
    suspicious: Array, look: Callable[[int], Outcome], required: Collection[int] = ()
) -> dict[int, Outcome]:
    """Run members again by themselves and return their outcomes by place.

    Parameters
    ----------
    suspicious : ndarray, shape (members,)
        How far members are beyond what needs no second look. The most suspicious are run first, as long as some of
        them have warnings.
    look : callable
        Runs a member.
    required : collection of int
        Members that are run in any case.
    """
    found = {place: look(place) for place in required}
    beyond = np.count_nonzero(suspicious > 1)
    order = [place for place in np.argsort(-suspicious, kind="stable")[:beyond].tolist() if place not in found]
    for first in range(0, len(order), AT_ONCE):
        some = {place: look(place) for place in order[first : first + AT_ONCE]}
        found |= some
        if not any(each.doubts for each in some.values()):
            break
    return found
