"""What one field of a sweep is varied over: a range around the number that it is now, until somebody types another.

Sweeps: what to vary, how far it is, a map of what came out, and its points opened as runs.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.progress import format_time_left
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import Result
from flexarm.studio.files import sweep_file
from flexarm.studio.panels.widgets import BAD, NOTE, add_number_box, box, count_in, number_in, written
from flexarm.studio.sweep_members import SweepMap, SweepResults
from flexarm.studio.sweep_run import (
    Range,
    alike,
    can_be,
    doubts,
    fields,
    member_of,
    put_back,
    sweepable,
    swept,
    varied,
    written_ranges,
)

if TYPE_CHECKING:
    from flexarm.studio.page import Page


NOTHING = "nothing"


class RangePanel:
    """The handles of one range."""

    def __init__(self, gui: Any, label: str) -> None:
        self._case: StudioCase | None = None
        self._known: Mapping[str, Any] = {}
        self._typed = False
        self._field = gui.add_dropdown(label, (NOTHING,), initial_value=NOTHING)
        self._first = add_number_box(gui, f"{label}: from", 0.0)
        self._last = add_number_box(gui, f"{label}: to", 1.0)
        self._count = add_number_box(gui, f"{label}: count", 11)

        async def chosen(event: Any) -> None:
            if event.client is not None:
                self._typed = False
                self._around()

        async def typed(event: Any) -> None:
            if event.client is not None:
                self._typed = True

        self._field.on_update(chosen)
        for handle in (self._first, self._last, self._count):
            handle.on_update(typed)

    def offer(self, case: StudioCase | None, chosen: str) -> None:
        """Fields of another robot."""
        self._typed = False
        self._field.value = NOTHING
        self._take(case)
        self._field.value = chosen if chosen in self._known else NOTHING
        self._around()

    def follow(self, case: StudioCase | None) -> None:
        """Other numbers of the same robot, or other controllers: what cannot be swept with them is not offered."""
        chosen = str(self._field.value)
        self._take(case)
        self._field.value = chosen if chosen in self._known else NOTHING
        if not self._typed:
            self._around()

    def show(self, given: Range) -> None:
        """A range that somebody wrote."""
        self._typed = True
        self._put(given)

    def value(self) -> list[Range]:
        name = str(self._field.value)
        if name == NOTHING:
            return []
        first, last = number_in(self._first.value, f"{name}: from"), number_in(self._last.value, f"{name}: to")
        count = count_in(self._count.value, f"{name}: count")
        return [Range(name, first, last, count, whole=self._known[name].whole)]

    def _take(self, case: StudioCase | None) -> None:
        known = {} if case is None else fields(case)
        self._case = case
        self._known = {name: each for name, each in known.items() if case is not None and sweepable(case, name)}
        options = (NOTHING, *self._known)
        if tuple(self._field.options) != options:
            self._field.options = options

    def _around(self) -> None:
        name, case = str(self._field.value), self._case
        if case is not None and name in self._known:
            number = self._known[name]
            self._put(Range.around(name, number, lambda value: can_be(case, number.path, value)))

    def _put(self, given: Range) -> None:
        self._first.value, self._last.value = written(given.first), written(given.last)
        self._count.value = written(given.count)


NONE_YET = "No sweep yet: choose one or two fields, or open the .nc of one (Files, or dropped on the page)."
LEFT_OUT = (
    "Torques, motions, starts and gains are not offered while shapers or controllers are on, which are made of them."
)
FIRST = ("payload.mass", "amplitude", "mass", "length")  # what is offered first
SELDOM = 0.2  # s between two words of how far it is
SAME = 1e-3  # of the robot: how far apart two ends of the same run may be


class SweepPanel:
    """The handles of a page's sweep. `base` is the case that was swept."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self.sweep: SweepResults | None = None
        self.base: StudioCase | None = None
        self._map: SweepMap | None = None
        self._thread: threading.Thread | None = None
        self._cancelled = False
        self._robots = 0  # that were opened: what comes of the one before is nobody's
        self._notes: list[str] = []
        self._chosen: int | None = None  # the member that has a ring
        self._opened: tuple[int, StudioCase] | None = None
        self._told_of_member: list[str] = []
        self._done = gui.add_progress_bar(0.0, visible=False)
        self._far = gui.add_html("", visible=False)
        self._cancel = gui.add_button("Cancel the sweep", visible=False)
        self._quantity = gui.add_dropdown("show", ("-",), initial_value="-", visible=False)
        self._picture = gui.add_html("", visible=False)
        self._said = gui.add_html(box(NONE_YET))
        self._member = add_number_box(gui, "member", 0)
        self._member.visible = False
        self._open = gui.add_button("Open this member as a run", visible=False)
        self._ranges = [RangePanel(gui, "vary"), RangePanel(gui, "and")]
        self._left_out = gui.add_html(box(LEFT_OUT, *NOTE), visible=False)
        self._begin = gui.add_button("Sweep")
        self._save = gui.add_button("Save the sweep (.nc)", visible=False)

        async def begun(event: Any) -> None:
            page.do(self.begin)

        async def cancelled(event: Any) -> None:
            self._cancelled = True

        async def drawn(event: Any) -> None:
            if event.client is not None:
                page.do(self.draw)

        async def chosen(event: Any) -> None:
            if event.client is not None:
                page.do(self._choose)

        async def asked(event: Any) -> None:
            page.want(lambda: self.open(count_in(self._member.value, "member")))

        async def saved(event: Any) -> None:
            page.do(self.save)

        self._begin.on_click(begun)
        self._cancel.on_click(cancelled)
        self._quantity.on_update(drawn)
        self._member.on_update(chosen)
        self._open.on_click(asked)
        self._save.on_click(saved)

    # --- which sweep ---

    def offer(self, case: StudioCase | None) -> None:
        """Another robot: its fields, and the sweep of the one before is gone."""
        self._cancelled, self._robots = True, self._robots + 1
        known = {} if case is None else fields(case)
        ranges = {} if case is None else written_ranges(case)
        usual = next((name for end in FIRST for name in known if name.endswith(end)), NOTHING)
        names = [*ranges, NOTHING, NOTHING][:2] if ranges else [usual, NOTHING]
        for panel, name in zip(self._ranges, names, strict=True):
            panel.offer(case, name)
            if name in ranges:
                panel.show(ranges[name])
        self.sweep, self.base, self._map, self._chosen = None, None, None, None
        self._said.content = box(NONE_YET)
        self._tell_fields(case)
        self._see(False)

    def changed(self) -> None:
        """Another run: other numbers to vary around, and perhaps none of the members any more."""
        case = self._page.case
        for panel in self._ranges:
            panel.follow(case)
        self._tell_fields(case)
        if self.sweep is not None and (self._told_of_member or self._shown() != self._chosen):
            self._told_of_member = []
            self._point_to(self._shown())
            self.mark()

    def _tell_fields(self, case: StudioCase | None) -> None:
        hidden = case is not None and any(not sweepable(case, name) for name in fields(case))
        self._left_out.visible = hidden

    def take(self, sweep: SweepResults, base: StudioCase | None, said: list[str] | None = None) -> None:
        """A sweep to be shown from now on; `base` is what its members change."""
        if base is None:
            raise ValueError(
                "sweep: a recorded run cannot be varied; open the sweep's robot file first, then the sweep"
            )
        varied(base, sweep.changes(0))  # a sweep of another robot is refused before anything is shown
        shown = member_of(sweep, base, self._page.case)
        drawn = SweepMap(sweep, sweep.quantities[0], shown or 0)
        self.sweep, self.base, self._map = sweep, base, drawn
        self._quantity.options = tuple(sweep.quantities)
        self._quantity.value = sweep.quantities[0]
        self._notes, self._told_of_member = [*doubts(sweep, base), *(said or [])], []
        self._point_to(shown)
        self._tell()
        self._see(True)

    def _shown(self) -> int | None:
        """The member whose run is shown, if it is one."""
        page = self._page
        if self._opened is not None and page.case is not None and alike(self._opened[1], page.case):
            return self._opened[0]
        return None if self.sweep is None or self.base is None else member_of(self.sweep, self.base, page.case)

    def _point_to(self, member: int | None) -> None:
        self._chosen = member
        self._member.value = "" if member is None else written(member)

    def _choose(self) -> None:
        """The member whose number was typed."""
        self._page.forget()
        if self.sweep is not None:
            member = count_in(self._member.value, "member")
            self.sweep.changes(member)  # one that there is
            self._chosen, self._told_of_member = member, []
            self.mark()

    # --- computing one ---

    def begin(self) -> None:
        """Sweep what the page is about, beside the page's own thread: it can be looked at meanwhile."""
        page = self._page
        page.forget()
        if page.case is None:
            raise ValueError("sweep: a recorded run cannot be varied; open a robot file")
        if self._thread is not None and self._thread.is_alive():
            raise ValueError("sweep: one is being computed; cancel it first")
        ranges = [each for panel in self._ranges for each in panel.value()]
        case, self._cancelled = page.case, False
        members = math.prod(len(each.values()) for each in ranges)
        self._far.content = box(f"preparing {members} members ...")
        self._cancel.visible = self._done.visible = self._far.visible = True
        self._begin.disabled = True
        self._thread = threading.Thread(target=self._run, args=(case, ranges), daemon=True, name="sweep of a page")
        self._thread.start()

    def _run(self, case: StudioCase, ranges: list[Range]) -> None:
        begin, last, robots = time.monotonic(), 0.0, self._robots

        def tell(done: int, whole: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last > SELDOM:
                last = now
                self._done.value = 100.0 * done / whole
                self._far.content = box(
                    f"{done} of {whole} members, {format_time_left(whole - done, done / max(now - begin, 1e-9))}"
                )

        problem: Exception | None = None
        try:
            sweep, said = swept(case, ranges, lambda: self._cancelled or self._page.closed, tell)
        except Exception as error:
            problem = error
        if self._page.closed:
            return
        self._cancel.visible = self._done.visible = self._far.visible = False
        self._begin.disabled = False

        def finish() -> None:
            if robots != self._robots:  # told here, where robots are opened: one may just have been
                return
            if problem is not None:
                raise problem
            self._finished(case, ranges, sweep, said)

        self._page.do(finish)

    def _finished(self, case: StudioCase, ranges: list[Range], sweep: SweepResults, said: list[str]) -> None:
        self.take(sweep, case, said)
        if self._page.case is not None:  # a file that is saved has what was varied
            section = {"over": {each.field: each.section for each in ranges}}
            self._page.case = replace(self._page.case, sweep={**self._page.case.sweep, **section})

    # --- the map ---

    def draw(self) -> None:
        """The map of the quantity that is chosen."""
        if self.sweep is not None:
            self._page.forget()
            self._map = SweepMap(self.sweep, str(self._quantity.value), self._chosen or 0)
            self.mark()

    def mark(self) -> None:
        """A ring around the member that is chosen, and what it is."""
        if self.sweep is None or self._map is None:
            return
        if self._chosen is not None:
            place = self.sweep.place(self._chosen)
            if {name: place[name] for name in self._map.held} != self._map.held:  # it is on another slice
                self._map = SweepMap(self.sweep, self._map.quantity, self._chosen)
        self._tell()

    def clicked(self, x: float, y: float) -> None:
        """A place of the picture, as parts of its size."""
        member = None if self._map is None else self._map.member_at(x, y)
        if member is not None:
            self.open(member)

    def open(self, member: int) -> None:
        """Its run, and the knobs at its values."""
        if self.sweep is None or self.base is None:
            return
        page = self._page
        page.forget()
        changes, before = self.sweep.changes(member), page.case
        self._point_to(member)
        self._told_of_member = []
        self.mark()
        control = self.base.control
        if not control.off and control.plant is None:  # all members had the controller of the robot that was swept
            control = replace(control, plant=self.base.robot)
        sweep = {} if before is None else before.sweep
        wanted = replace(varied(self.base, changes), control=control, sweep=sweep)
        self._opened = member, wanted
        result = page.go(wanted)
        self._told_of_member = [] if before is None else put_back(before, wanted, set(self.sweep.fields))
        self.mark()
        self._compare(member, result)

    def save(self) -> None:
        if self.sweep is not None:
            self._page.client.send_file_download("sweep.nc", sweep_file(self.sweep), save_immediately=True)

    def _compare(self, member: int, result: Result) -> None:
        """A run that does not end where the sweep says is not that member: this is said."""
        assert self.sweep is not None
        expected, run = self.sweep.tip(member), result.run
        if expected is None or run.status not in ("completed", "stopped"):
            return
        found = run.array("tip")[-1]
        size = sum(link.length for link in result.system.robot.links)
        if np.linalg.norm(found - expected) > SAME * size:
            where = [", ".join(f"{each:.4g}" for each in point) for point in (found, expected)]
            raise ValueError(
                f"sweep: this run ends with the tip at ({where[0]}) m, and the sweep has it at ({where[1]}) m: "
                "it was made of another robot, another simulation, or other shapers and controllers"
            )

    def _tell(self) -> None:
        if self.sweep is None or self._map is None:
            return
        member = self._chosen
        self._picture.content = self._map.html(member)
        notes = "".join(box(each, *NOTE) for each in [*self._notes, *self._told_of_member])
        if member is None:
            self._said.content = notes + box(f"{self.sweep.size} members; the run that is shown is none of them.")
            return
        colours = () if self.sweep.status(member) in ("completed", "stopped") else BAD
        self._said.content = notes + box(self.sweep.words(member, self._map.quantity), *colours)

    def _see(self, there: bool) -> None:
        for handle in (self._quantity, self._picture, self._member, self._open, self._save):
            handle.visible = there
