"""A member by itself, as `fa.simulate` runs it: for what does not fit into lanes, and for second looks."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from flexarm.foundation.heard import heard
from flexarm.foundation.sentences import told as sentence
from flexarm.motion.laws import Feedback
from flexarm.motion.run import Run
from flexarm.motion.simulate import simulate
from flexarm.sweeps.applied import applied
from flexarm.sweeps.kept import MeasureFailed, Measures, measured
from flexarm.sweeps.member import Case, Member, Outcome


def outcome(case: Case, member: Member, measures: Measures, keep_run: bool = False) -> Outcome:
    """What comes of one member; one that cannot run is an outcome, too. Ctrl-C, which would only end its run, ends
    all."""
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
        except Exception as error:  # whatever is wrong with this member, the others go on
            return Outcome(member.number, {}, "failed", f"{type(error).__name__}: {sentence(error)}")
        if found.status == "interrupted":
            raise KeyboardInterrupt
        made = told(member.number, found, measures, keep_run)
    doubts = tuple(each for each in said if not each.startswith("the run ended early"))  # its status says so
    return replace(made, doubts=doubts)


def told(number: int, run: Run, measures: Measures, keep_run: bool) -> Outcome:
    """The outcome of a run, by measures; one that failed has none."""
    try:
        values = measured(run, measures) if run.status != "failed" else {}
    except MeasureFailed as error:
        return Outcome(number, error.others, "failed", str(error))
    reason = "" if run.status == "completed" else run.reason
    return Outcome(number, values, run.status, reason, run if keep_run else None)


def _fresh(torque: Any) -> Any:
    """A digital controller that is an object remembers what it said: each member begins with a copy of it."""
    if not isinstance(torque, Feedback) or torque.rate is None:
        return torque
    try:
        return replace(torque, law=deepcopy(torque.law))
    except Exception:  # what cannot be copied is called as it is
        return torque
