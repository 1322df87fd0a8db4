"""Members made ready to run: in lanes and threads where they can, one by one where they must."""

from __future__ import annotations

from collections.abc import Sequence

from flexarm.foundation.sentences import told
from flexarm.motion.laws import Feedback
from flexarm.sweeps.kept import Measures
from flexarm.sweeps.lanes import engine
from flexarm.sweeps.lanes.candidates import Candidates
from flexarm.sweeps.lanes.settings import Settings
from flexarm.sweeps.lanes.sweep import Sweep
from flexarm.sweeps.member import Case, Member
from flexarm.sweeps.members import columns_of


def ready(
    case: Case, members: Sequence[Member], measures: Measures | None, keep_runs: bool, threads: int | None
) -> Sweep:
    """As `engine.prepare` has it; a member that cannot begin is told by its own outcome."""
    if (why := _why_alone(case, members[0])) is None:
        try:
            return engine.prepare(case, members, measures, keep_runs, threads)
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            why = told(error)
    sweep = Sweep(case, Settings(), measures, keep_runs)
    sweep.add_alone(Candidates(columns_of(members), {}, {}), why)
    return sweep


def _why_alone(case: Case, member: Member) -> str | None:
    """What is the same in all lanes but should vary."""
    roots = {name.partition(".")[0] for name in member.changes}
    if "references" in roots or (isinstance(case.torque, Feedback) and roots & {"loads", "motion"}):
        return "references of a law, and loads and motions beside one, cannot differ between members that run together"
    return None
