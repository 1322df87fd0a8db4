"""Which members of a batch must be run again by themselves, and warnings of the others.

Lanes record no steps and make no robot of a member: what is known of it are the extremes of coordinates and energies,
and the vibration of its links. A member for which these may exceed what the model or the integration allows is run
again by `simulate`, whose warnings it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.accuracy.shape_truncation import MAX_TRUNCATION_ERROR, Truncation
from flexarm.dynamics.accuracy.stiffening import replaceable_links
from flexarm.dynamics.accuracy.validity import MAX_NODE_TURN, coordinate_limit, deflection_limit, deflection_warnings
from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule
from flexarm.results import truncation_check
from flexarm.results.checks import MAX_ENERGY_ERROR
from flexarm.results.energy_balance import appears
from flexarm.results.stiffening_check import MAX_STIFFENING_ERROR, lever
from flexarm.results.vibration import FAST_SHARE, MIN_SWING_COUNT
from flexarm.sweeps.apply_changes import apply_changes
from flexarm.sweeps.case import Outcome
from flexarm.sweeps.ensemble.batch import Batch
from flexarm.sweeps.ensemble.cohort import Cohort
from flexarm.sweeps.ensemble.member_data import SIZE_TOLERANCE
from flexarm.sweeps.ensemble.member_groups import MemberGroup

MARGIN = 0.7  # of the largest energy error and number of swings: lanes look at some nodes only
PHASE_MARGIN = 0.8  # of the error of second-order links: lanes take shapes of a typical member, at few places
FIRST_LOOKS = 2  # members: if none of so many has warnings, less suspicious ones have none
CLOSELY_CHECKED = 16  # members of a batch whose number of shapes is checked if that of one was too small


def suspicion(batch: Batch, system: System) -> Array:
    """Return how far each member is beyond what needs no second look: more than 1 needs one."""
    models = {link.name: link.stiffening for link in system.robot.links}
    limits = np.array(
        [coordinate_limit(models[each.link], each.family) if each.family else np.inf for each in system.coordinates]
    )
    data, found, rows = batch.data, batch.statistics, batch.lanes.unpack
    furthest = rows(found.furthest)
    bent = (furthest / (limits * data.sizes))[:, system.elastic].max(axis=1, initial=0.0)
    turned = (furthest * data.turns).sum(axis=1) / MAX_NODE_TURN
    beyond = np.maximum(np.maximum(bent, phase_errors(batch, system)), turned) / (1 - SIZE_TOLERANCE)
    if not batch.sampling.includes_nodes:
        beyond = np.maximum(beyond, _aliasing(rows(found.swings), rows(found.fast_swings)))
    if appears(system.robot):
        return np.asarray(beyond)
    errors = found.extremes.energy_errors(data.push / batch.duration**2) / (MARGIN * MAX_ENERGY_ERROR)
    return np.asarray(np.maximum(beyond, errors))


def _aliasing(swings: Array, fast: Array) -> Array:
    """Return how far vibrations of members, (members, coordinates), are beyond those that samples show."""
    share = fast / np.maximum(swings, 1) / (MARGIN * FAST_SHARE)
    return np.asarray(np.minimum(share, swings / (MARGIN * MIN_SWING_COUNT)).max(axis=1, initial=0.0))


def phase_errors(batch: Batch, system: System) -> Array:
    """Return an upper estimate of the error of second-order links by member, divided by the error that is allowed.

    The estimate of a single run (`results/stiffening_check.py`) takes the deflections of links at more places, and the
    shapes and joints of the member.
    """
    signals, every, bends = batch.data.signals, batch.statistics.phase_errors, batch.statistics.largest_bends
    found, peak = np.zeros(len(batch)), np.zeros(len(batch))
    for k, link in enumerate(system.robot.links):
        own = signals.links == k
        if own.any():
            off = np.stack([every[:, own & (signals.axes == axis)].max(axis=1, initial=0.0) for axis in range(2)])
            found = np.maximum(found, lever(system, link) * link.length * np.hypot(*off))
            peak = np.maximum(peak, link.length * bends[:, own].max(axis=1))
    share = np.divide(found, peak, out=np.zeros_like(found), where=peak > 0)
    return np.asarray(share / (PHASE_MARGIN * MAX_STIFFENING_ERROR))


def repeated_members(batch: Batch, system: System) -> set[int]:
    """Return the members that `simulate` may repeat with exact links: their values change."""
    if not replaceable_links(system.robot):
        return set()
    diverged = {place for place, end in batch.endings.items() if end.reason.startswith("diverged")}
    return diverged | set(np.flatnonzero(phase_errors(batch, system) > 1 - SIZE_TOLERANCE).tolist())


def second_looks(
    suspicious: Array, run: Callable[[int], Outcome], required: Collection[int] = ()
) -> dict[int, Outcome]:
    """Run members again by themselves and return their outcomes by index.

    Parameters
    ----------
    suspicious : ndarray, shape (members,)
        Of `suspicion`. The most suspicious members are run first, as long as some of them have warnings.
    run : callable
        Runs a member.
    required : collection of int
        Members that are run in any case.
    """
    found = {place: run(place) for place in required}
    beyond = np.count_nonzero(suspicious > 1)
    order = [place for place in np.argsort(-suspicious, kind="stable")[:beyond].tolist() if place not in found]
    for first in range(0, len(order), FIRST_LOOKS):
        some = {place: run(place) for place in order[first : first + FIRST_LOOKS]}
        found |= some
        if not any(each.warnings for each in some.values()):
            break
    return found


def batch_warnings(
    cohort: Cohort, batch: Batch, these: MemberGroup, values: Mapping[str, Array]
) -> dict[int, tuple[str, ...]]:
    """Return the warnings of members that follow from what lanes know, by index."""
    at_start = [place for place, end in batch.endings.items() if not end.time]
    moved = np.ones(len(these), dtype=bool)
    moved[at_start] = False
    found = dict.fromkeys(np.flatnonzero(moved).tolist(), cohort.warnings) if cohort.warnings else {}
    for place, sentences in batch.warnings.items():
        found[place] = (*found.get(place, ()), *sentences)
    robot = cohort.system.robot
    for k, link in enumerate(robot.links) if values else ():
        if (most := deflection_limit(link)) < 1:
            bent = values["peak_deflection"][:, k] / these.lengths(k, link)
            for place in np.flatnonzero(moved & (bent > most)).tolist():
                found[place] = (*found.get(place, ()), *deflection_warnings(robot, link, float(bent[place])))
    return found


def shape_warnings(
    cohort: Cohort, batch: Batch, these: MemberGroup, checked: Sequence[int], stored: Batch | None
) -> dict[int, list[str]]:
    """Return warnings of too few shapes, by index.

    `checked` members are compared, and more of them if one of these has too few shapes. `stored`: a batch of the
    checked members with recorded nodes, if the estimate needs them (`needs_nodes`); then only these are compared.
    """
    found: dict[int, Truncation] = {}
    shapes, moved = None, batch.moved
    evenly = np.unique(np.linspace(0, len(moved) - 1, CLOSELY_CHECKED).astype(int)) if moved else ()
    more = [moved[k] for k in evenly] if stored is None else []
    for places in (checked, more):
        for place in (each for each in places if each not in found):
            again = None if stored is None else list(checked).index(place)
            found[place] = _truncation(cohort, batch, these, place, shapes, stored, again)
            shapes = found[place].shapes or shapes
        if all((each.error or 0.0) <= MAX_TRUNCATION_ERROR for each in found.values()):
            break
    warnings = {place: truncation_check.warnings_of(each, batch.ending_of(place).time) for place, each in found.items()}
    return {place: sentences for place, sentences in warnings.items() if sentences}


def needs_nodes(schedule: Schedule) -> bool:
    """Return True if the estimate of too few shapes takes accelerations or torques from the nodes of a run."""
    profiles = (*schedule.torques, *schedule.motions.values())
    return schedule.feedback is not None or any(truncation_check.is_function(each) for each in profiles)


def _truncation(
    cohort: Cohort,
    batch: Batch,
    these: MemberGroup,
    place: int,
    shapes: dict[str, dict[str, int]] | None,
    stored: Batch | None,
    again: int | None,
) -> Truncation:
    """Estimate the error of a member; `again`: its index in the stored batch."""
    changes, schedule, case = these[place].inputs, cohort.schedule, cohort.case
    system, q, v = batch.members.system(place), batch.data.q[place], batch.data.v[place]
    with building:
        if changes or case.loads or schedule.feedback is not None:
            driven = apply_changes(case, changes)
            schedule = Schedule(system, driven.torque, driven.motion, driven.loads)
            schedule.look(case.duration, q, v)
        rates = torques = None
        if stored is not None and again is not None:
            nodes = stored.recorders[again].keeper.nodes
            assert nodes is not None
            rates = nodes.times, nodes.motions(system.nq)[1]
            if schedule.feedback is None:
                times = batch.sampling.times  # as a run has torques
                torques = times, np.column_stack([each.values(times) for each in schedule.torques])
        end = batch.ending_of(place).time
        inputs = truncation_check.RunInputs(system, schedule, end, np.array([q, v]), rates, torques)
        return truncation_check.estimate_of(inputs, shapes)
