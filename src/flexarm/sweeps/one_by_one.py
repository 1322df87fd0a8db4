"""Members one after the other, each as `fa.simulate` runs it: for what does not fit into lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from flexarm.motion.laws import Feedback
from flexarm.motion.simulate import simulate
from flexarm.sweeps.applied import applied
from flexarm.sweeps.heard import heard
from flexarm.sweeps.kept import Measure, MeasureFailed, measured, usual_measures
from flexarm.sweeps.member import Case, Member, Outcome


def run(
    case: Case,
    members: Sequence[Member],
    measures: Mapping[str, Measure] | None = None,
    keep_runs: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Outcome]:
    """What comes of each member; one that cannot run is an outcome, too.

    measures: functions of a run by name; the usual ones unless given.
    keep_runs: whether outcomes have the histories.
    threads: is not used: a run at a time.
    progress: is called with how many are done.
    """
    chosen = usual_measures() if measures is None else measures
    for done, member in enumerate(members, 1):
        yield outcome(case, member, chosen, keep_runs)
        if progress is not None:
            progress(done)


def outcome(case: Case, member: Member, measures: Mapping[str, Measure], keep_run: bool = False) -> Outcome:
    """What comes of one member. Ctrl-C, which would only end its run, ends all."""
    with heard() as said:
        try:
            mine = applied(case, member.changes)
            found = simulate(
                mine.robot,
                mine.duration,
                torque=_fresh(mine.torque),
                motion=mine.motion,
                loads=mine.loads,
                q0=mine.q0,
                v0=mine.v0,
                **{"progress": False, **mine.options},
            )
            if found.status == "interrupted":
                raise KeyboardInterrupt
            values = measured(found, measures) if found.status != "failed" else {}
        except MeasureFailed as error:
            return Outcome(member.number, {}, "failed", str(error))
        except Exception as error:  # whatever is wrong with this member, the others go on
            text = error.args[0] if isinstance(error, KeyError) and error.args else error
            return Outcome(member.number, {}, "failed", f"{type(error).__name__}: {text}")
    doubts = tuple(each for each in said if not each.startswith("the run ended early"))  # its status says so
    reason = "" if found.status == "completed" else found.reason
    return Outcome(member.number, values, found.status, reason, found if keep_run else None, doubts)


def _fresh(torque: Any) -> Any:
    """A digital controller that is an object remembers what it said: each member begins with a copy of it."""
    if not isinstance(torque, Feedback) or torque.rate is None:
        return torque
    try:
        return replace(torque, law=deepcopy(torque.law))
    except Exception:  # what cannot be copied is called as it is
        return torque
