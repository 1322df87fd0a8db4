"""Panel of sweeps: ranges of parameters, progress, and a map of the results whose points open as runs."""

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
from flexarm.studio.files import encode_sweep
from flexarm.studio.panels.widgets import (
    ERROR_COLOURS,
    NOTE_COLOURS,
    add_number_box,
    format_number,
    on_click,
    on_input,
    parse_count,
    parse_number,
    text_box,
)
from flexarm.studio.sweep_members import SweepMap, SweepResults
from flexarm.studio.sweep_run import (
    Range,
    can_sweep,
    describe_resets,
    find_member,
    find_mismatches,
    is_same_case,
    is_valid,
    read_ranges,
    run_sweep,
    sweepable_parameters,
    vary_case,
)

if TYPE_CHECKING:
    from flexarm.studio.page import Page


NO_FIELD = "nothing"


class RangePanel:
    """The fields of one range; it follows the current value of its parameter until the user types another range."""

    def __init__(self, gui: Any, label: str) -> None:
        self._case: StudioCase | None = None
        self._known: Mapping[str, Any] = {}
        self._is_typed = False
        self._field = gui.add_dropdown(label, (NO_FIELD,), initial_value=NO_FIELD)
        self._first = add_number_box(gui, f"{label}: from", 0.0)
        self._last = add_number_box(gui, f"{label}: to", 1.0)
        self._count = add_number_box(gui, f"{label}: count", 11)

        on_input(self._on_field, self._field)
        on_input(self._on_typing, self._first, self._last, self._count)

    def _on_field(self) -> None:
        self._is_typed = False
        self._set_default_range()

    def _on_typing(self) -> None:
        self._is_typed = True

    def offer(self, case: StudioCase | None, chosen: str) -> None:
        """Offer the parameters of another robot."""
        self._is_typed = False
        self._field.value = NO_FIELD
        self._update_fields(case)
        self._field.value = chosen if chosen in self._known else NO_FIELD
        self._set_default_range()

    def follow(self, case: StudioCase | None) -> None:
        """Follow a changed case; parameters that cannot be swept with its controllers are hidden."""
        chosen = str(self._field.value)
        self._update_fields(case)
        self._field.value = chosen if chosen in self._known else NO_FIELD
        if not self._is_typed:
            self._set_default_range()

    def show(self, new_range: Range) -> None:
        """Show a given range."""
        self._is_typed = True
        self._set_range(new_range)

    def value(self) -> list[Range]:
        """Return the chosen range, as a list with one item or none."""
        name = str(self._field.value)
        if name == NO_FIELD:
            return []
        first, last = parse_number(self._first.value, f"{name}: from"), parse_number(self._last.value, f"{name}: to")
        count = parse_count(self._count.value, f"{name}: count")
        return [Range(name, first, last, count, is_integer=self._known[name].is_integer)]

    def _update_fields(self, case: StudioCase | None) -> None:
        parameters = {} if case is None else sweepable_parameters(case)
        self._case = case
        self._known = {name: each for name, each in parameters.items() if case is not None and can_sweep(case, name)}
        options = (NO_FIELD, *self._known)
        if tuple(self._field.options) != options:
            self._field.options = options

    def _set_default_range(self) -> None:
        name, case = str(self._field.value), self._case
        if case is not None and name in self._known:
            number = self._known[name]
            self._set_range(Range.around(name, number, lambda value: is_valid(case, number.path, value)))

    def _set_range(self, new_range: Range) -> None:
        self._first.value, self._last.value = format_number(new_range.first), format_number(new_range.last)
        self._count.value = format_number(new_range.count)


NO_SWEEP_TEXT = (
    "No sweep yet: choose one or two parameters, or open a sweep (.nc) in Files or by dropping it on the page."
)
HIDDEN_FIELDS_TEXT = (
    "Torques, motions, initial values and gains are hidden while shapers or controllers are on, which depend on them."
)
DEFAULT_FIELDS = ("payload.mass", "amplitude", "mass", "length")  # name endings, in order of preference
PROGRESS_INTERVAL_S = 0.2
TIP_TOLERANCE = 1e-3  # relative to the robot, of final tip positions of equal runs


class SweepPanel:
    """The fields of a page's sweep; `base` is the case that was swept."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self.sweep: SweepResults | None = None
        self.base: StudioCase | None = None
        self._map: SweepMap | None = None
        self._thread: threading.Thread | None = None
        self._cancelled = False
        self._robot_count = 0  # of opened robots; results for an earlier one are discarded
        self._notes: list[str] = []
        self._chosen: int | None = None  # marked member
        self._opened: tuple[int, StudioCase] | None = None
        self._member_notes: list[str] = []
        self._progress_bar = gui.add_progress_bar(0.0, visible=False)
        self._progress_text = gui.add_html("", visible=False)
        self._cancel = gui.add_button("Cancel the sweep", visible=False)
        self._quantity = gui.add_dropdown("show", ("-",), initial_value="-", visible=False)
        self._picture = gui.add_html("", visible=False)
        self._text = gui.add_html(text_box(NO_SWEEP_TEXT))
        self._member = add_number_box(gui, "member", 0)
        self._member.visible = False
        self._open = gui.add_button("Open this member as a run", visible=False)
        self._ranges = [RangePanel(gui, "vary"), RangePanel(gui, "and")]
        self._hidden_note = gui.add_html(text_box(HIDDEN_FIELDS_TEXT, *NOTE_COLOURS), visible=False)
        self._begin = gui.add_button("Sweep")
        self._save = gui.add_button("Save the sweep (.nc)", visible=False)

        on_click(lambda: page.submit(self.begin), self._begin)
        on_click(self._on_cancel, self._cancel)
        on_input(lambda: page.submit(self.draw), self._quantity)
        on_input(lambda: page.submit(self._choose), self._member)
        on_click(lambda: page.submit_run(lambda: self.open(parse_count(self._member.value, "member"))), self._open)
        on_click(lambda: page.submit(self.save), self._save)

    def _on_cancel(self) -> None:
        self._cancelled = True

    # --- the sweep ---

    def offer(self, case: StudioCase | None) -> None:
        """Offer the parameters of another robot, and remove the previous sweep."""
        self._cancelled, self._robot_count = True, self._robot_count + 1
        parameters = {} if case is None else sweepable_parameters(case)
        ranges = {} if case is None else read_ranges(case)
        default = next((name for end in DEFAULT_FIELDS for name in parameters if name.endswith(end)), NO_FIELD)
        names = [*ranges, NO_FIELD, NO_FIELD][:2] if ranges else [default, NO_FIELD]
        for panel, name in zip(self._ranges, names, strict=True):
            panel.offer(case, name)
            if name in ranges:
                panel.show(ranges[name])
        self.sweep, self.base, self._map, self._chosen = None, None, None, None
        self._text.content = text_box(NO_SWEEP_TEXT)
        self._update_hidden_note(case)
        self._set_visible(False)

    def update(self) -> None:
        """Follow another run: ranges around its values, and the member that it equals, if any."""
        case = self._page.case
        for panel in self._ranges:
            panel.follow(case)
        self._update_hidden_note(case)
        if self.sweep is not None and (self._member_notes or self._shown_member() != self._chosen):
            self._member_notes = []
            self._choose_member(self._shown_member())
            self.mark()

    def _update_hidden_note(self, case: StudioCase | None) -> None:
        has_hidden = case is not None and any(not can_sweep(case, name) for name in sweepable_parameters(case))
        self._hidden_note.visible = has_hidden

    def show_sweep(self, sweep: SweepResults, base: StudioCase | None, warned: list[str] | None = None) -> None:
        """Show a sweep; `base` is the case that its members change."""
        if base is None:
            raise ValueError(
                "sweep: a recorded run cannot be varied; open the robot file of the sweep first, then the sweep"
            )
        vary_case(base, sweep.changes(0))  # raises for a sweep of another robot
        shown = find_member(sweep, base, self._page.case)
        drawn = SweepMap(sweep, sweep.quantities[0], shown or 0)
        self.sweep, self.base, self._map = sweep, base, drawn
        self._quantity.options = tuple(sweep.quantities)
        self._quantity.value = sweep.quantities[0]
        self._notes, self._member_notes = [*find_mismatches(sweep, base), *(warned or [])], []
        self._choose_member(shown)
        self._update_map()
        self._set_visible(True)

    def _shown_member(self) -> int | None:
        """Return the member whose run is shown, or None."""
        page = self._page
        if self._opened is not None and page.case is not None and is_same_case(self._opened[1], page.case):
            return self._opened[0]
        return None if self.sweep is None or self.base is None else find_member(self.sweep, self.base, page.case)

    def _choose_member(self, member: int | None) -> None:
        self._chosen = member
        self._member.value = "" if member is None else format_number(member)

    def _choose(self) -> None:
        """Choose the member whose number was typed."""
        self._page.reset_status()
        if self.sweep is not None:
            member = parse_count(self._member.value, "member")
            self.sweep.changes(member)  # raises for an invalid number
            self._chosen, self._member_notes = member, []
            self.mark()

    # --- computation ---

    def begin(self) -> None:
        """Compute a sweep of the current case in a thread of its own; the page remains usable."""
        page = self._page
        page.reset_status()
        if page.case is None:
            raise ValueError("sweep: a recorded run cannot be varied; open a robot file")
        if self._thread is not None and self._thread.is_alive():
            raise ValueError("sweep: one is being computed; cancel it first")
        ranges = [each for panel in self._ranges for each in panel.value()]
        case, self._cancelled = page.case, False
        members = math.prod(len(each.values()) for each in ranges)
        self._progress_text.content = text_box(f"preparing {members} members ...")
        self._cancel.visible = self._progress_bar.visible = self._progress_text.visible = True
        self._begin.disabled = True
        self._thread = threading.Thread(target=self._run, args=(case, ranges), daemon=True, name="sweep of a page")
        self._thread.start()

    def _run(self, case: StudioCase, ranges: list[Range]) -> None:
        begin, last, robots = time.monotonic(), 0.0, self._robot_count

        def report(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last > PROGRESS_INTERVAL_S:
                last = now
                self._progress_bar.value = 100.0 * done / total
                self._progress_text.content = text_box(
                    f"{done} of {total} members, {format_time_left(total - done, done / max(now - begin, 1e-9))}"
                )

        problem: Exception | None = None
        try:
            sweep, messages = run_sweep(case, ranges, lambda: self._cancelled or self._page.closed, report)
        except Exception as error:
            problem = error
        if self._page.closed:
            return
        self._cancel.visible = self._progress_bar.visible = self._progress_text.visible = False
        self._begin.disabled = False

        def finish() -> None:
            if robots != self._robot_count:  # checked in the page's thread, which opens robots
                return
            if problem is not None:
                raise problem
            self._finished(case, ranges, sweep, messages)

        self._page.submit(finish)

    def _finished(self, case: StudioCase, ranges: list[Range], sweep: SweepResults, messages: list[str]) -> None:
        self.show_sweep(sweep, case, messages)
        if self._page.case is not None:  # so that saved files contain the ranges
            section = {"over": {each.field: each.section for each in ranges}}
            self._page.case = replace(self._page.case, sweep={**self._page.case.sweep, **section})

    # --- the map ---

    def draw(self) -> None:
        """Draw the map of the chosen quantity."""
        if self.sweep is not None:
            self._page.reset_status()
            self._map = SweepMap(self.sweep, str(self._quantity.value), self._chosen or 0)
            self.mark()

    def mark(self) -> None:
        """Mark the chosen member in the map, and describe it."""
        if self.sweep is None or self._map is None:
            return
        if self._chosen is not None:
            place = self.sweep.index_of(self._chosen)
            if {name: place[name] for name in self._map.fixed} != self._map.fixed:  # the member is on another slice
                self._map = SweepMap(self.sweep, self._map.quantity, self._chosen)
        self._update_map()

    def click(self, x: float, y: float) -> None:
        """Open the member at a position of the map, relative to its size."""
        member = None if self._map is None else self._map.member_at(x, y)
        if member is not None:
            self.open(member)

    def open(self, member: int) -> None:
        """Open a member: show its run and its parameters."""
        if self.sweep is None or self.base is None:
            return
        page = self._page
        page.reset_status()
        changes, before = self.sweep.changes(member), page.case
        self._choose_member(member)
        self._member_notes = []
        self.mark()
        control = self.base.control
        if not control.is_off and control.plant is None:  # all members had the controller of the base case
            control = replace(control, plant=self.base.robot)
        sweep = {} if before is None else before.sweep
        target = replace(vary_case(self.base, changes), control=control, sweep=sweep)
        self._opened = member, target
        result = page.go_to(target)
        self._member_notes = [] if before is None else describe_resets(before, target, set(self.sweep.fields))
        self.mark()
        self._require_same_run(member, result)

    def save(self) -> None:
        if self.sweep is not None:
            self._page.client.send_file_download("sweep.nc", encode_sweep(self.sweep), save_immediately=True)

    def _require_same_run(self, member: int, result: Result) -> None:
        """Raise an error if a run does not end where the sweep's member did."""
        assert self.sweep is not None
        expected, run = self.sweep.final_tip(member), result.run
        if expected is None or run.status not in ("completed", "stopped"):
            return
        found = run.array("tip")[-1]
        size = result.system.robot.size
        if np.linalg.norm(found - expected) > TIP_TOLERANCE * size:
            where = [", ".join(f"{each:.4g}" for each in point) for point in (found, expected)]
            raise ValueError(
                f"sweep: this run ends with the tip at ({where[0]}) m, and the sweep has it at ({where[1]}) m: "
                "it was computed for another robot, another simulation, or other shapers and controllers"
            )

    def _update_map(self) -> None:
        if self.sweep is None or self._map is None:
            return
        member = self._chosen
        self._picture.content = self._map.html(member)
        notes = "".join(text_box(each, *NOTE_COLOURS) for each in [*self._notes, *self._member_notes])
        if member is None:
            self._text.content = notes + text_box(f"{self.sweep.size} members; the current run is not one of them.")
            return
        colours = () if self.sweep.status(member) in ("completed", "stopped") else ERROR_COLOURS
        self._text.content = notes + text_box(self.sweep.describe(member, self._map.quantity), *colours)

    def _set_visible(self, visible: bool) -> None:
        for handle in (self._quantity, self._picture, self._member, self._open, self._save):
            handle.visible = visible
