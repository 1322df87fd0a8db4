"""What is said at the top of a page: of its run, what should be known of it, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.motion.audit import words as audited
from flexarm.studio.case import Case
from flexarm.studio.computing import Result
from flexarm.studio.words import BAD, NOTE, box

RECORDED = "A recorded run: it can be looked at, not turned. Open a robot file to turn its numbers."
MADE_UP = "Nothing says what to compute: joints are moved a little."


class Status:
    """Two boxes; `error` is what stands in the second."""

    def __init__(self, gui: Any) -> None:
        self.error = ""
        self._said = 0  # errors of actions: the same one again is another one
        self._words = gui.add_html(box("computing ..."))
        self._error = gui.add_html("", visible=False)

    def count(self) -> None:
        """The next error is that of another action."""
        self._said += 1

    def busy(self) -> None:
        """A run takes long; what stands here is that of the one before."""
        self._words.content = box("computing ... (Stop, among the knobs, ends it)")

    def nothing(self) -> None:
        """Not even a robot at rest, so far."""
        self._words.content = box("Nothing can be computed of this.")

    def say(self, error: BaseException) -> None:
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        self.error = text or type(error).__name__
        self._show_error()

    def _show_error(self) -> None:
        """`page.js` shows it beside what was touched as well: this box may be scrolled out of sight."""
        self._error.content = box(self.error, *BAD, mark=f'data-studio="error" data-number="{self._said}"')
        self._error.visible = True

    def tell(self, result: Result, case: Case | None, at_rest: bool) -> None:
        """Of a run of a case, or of one that was recorded; `at_rest`: of a robot whose run cannot be computed."""
        run = result.run
        self.error = "" if run.status in ("completed", "stopped") else f"the run {run.reason}"
        self._error.visible = bool(self.error)
        if self.error:
            self._show_error()
        words = f"{run.robot.name}: at rest, for its run cannot be computed." if at_rest else _words(result)
        self._words.content = "".join([box(words), *(box(each, *NOTE) for each in _notes(result, case))])


def _words(result: Result) -> str:
    run = result.run
    share = run.statistics.get("energy_share")
    lost = f"; {audited(share, run.robot)}" if isinstance(share, float) and np.isfinite(share) else ""
    took = f" in {1e3 * result.seconds:.0f} ms" if result.seconds else ""
    ended = "" if run.status == "completed" else f"; {run.reason}"
    return f"{run.robot.name}: {run.array('time')[-1]:g} s computed{took}{lost}{ended}"


def _notes(result: Result, case: Case | None) -> list[str]:
    if case is None:
        return [RECORDED, *result.warned]
    doubts = [str(each) for each in case.robot.every_unit_warning()]
    new = [each for each in doubts if not any(each in said for said in result.warned)]
    return [*([MADE_UP] if case.made_up else []), *result.warned, *new]
