"""Panel of sweeps: ranges of parameters, progress, and a map of the results whose points open as runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.messages import format_number
from flexarm.foundation.validation import Array
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import Result
from flexarm.studio.files import encode_sweep
from flexarm.studio.panels.widgets import (
    BackgroundTask,
    add_number_box,
    on_click,
    on_input,
    parse_count,
    parse_number,
    text_box,
)
from flexarm.studio.sweeps import (
    SUCCESSFUL,
    Range,
    SweepMap,
    SweepResults,
    describe_resets,
    find_member,
    find_mismatches,
    is_same_case,
    is_valid,
    read_ranges,
    run_sweep,
    sweepable_parameters,
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

    def offer(self, case: StudioCase | None, chosen: str, given: Range | None = None) -> None:
        """Offer the parameters of another robot, with a given range of the chosen one."""
        self._is_typed = given is not None
        self._field.value = NO_FIELD
        self._update(case, chosen)
        if given is not None:
            self._set_range(given)

    def follow(self, case: StudioCase | None) -> None:
        """Follow a changed case; parameters that cannot be swept with its controllers are hidden."""
        self._update(case, str(self._field.value))

    def value(self) -> list[Range]:
        """Return the chosen range, as a list with one item or none."""
        name = str(self._field.value)
        if name == NO_FIELD:
            return []
        first, last = parse_number(self._first.value, f"{name}: from"), parse_number(self._last.value, f"{name}: to")
        count = parse_count(self._count.value, f"{name}: count")
        return [Range(name, first, last, count, is_integer=self._known[name].is_integer)]

    def _update(self, case: StudioCase | None, chosen: str) -> None:
        self._case, self._known = case, sweepable_parameters(case)
        options = (NO_FIELD, *self._known)
        if tuple(self._field.options) != options:
            self._field.options = options
        self._field.value = chosen if chosen in self._known else NO_FIELD
        if not self._is_typed:
            self._set_default_range()

    def _set_default_range(self) -> None:
        name, case = str(self._field.value), self._case
        if case is not None and name in self._known:
            self._set_range(Range.around(self._known[name], lambda value: is_valid(case, name, value)))

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
TIP_TOLERANCE = 1e-3  # relative to the robot, of final tip positions of equal runs


class SweepPanel:
    """The fields of a page's sweep; `base` is the case that was swept."""

    base: StudioCase  # if there is a map

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._map: SweepMap | None = None
        self._notes: list[str] = []
        self._chosen: int | None = None  # marked member
        self._opened: tuple[int, StudioCase] | None = None
        self._member_notes: list[str] = []
        self.task = BackgroundTask(page, "sweep", "members")
        self._quantity = gui.add_dropdown("show", ("-",), initial_value="-", visible=False)
        self._picture = gui.add_html("", visible=False)
        self._text = gui.add_html(text_box(NO_SWEEP_TEXT))
        self._member = add_number_box(gui, "member", 0)
        self._member.visible = False
        self._open = gui.add_button("Open this member as a run", visible=False)
        self._ranges = [RangePanel(gui, "vary"), RangePanel(gui, "and")]
        self._hidden_note = gui.add_html(text_box(HIDDEN_FIELDS_TEXT, "note"), visible=False)
        begin = gui.add_button("Sweep")
        self._save = gui.add_button("Save the sweep (.nc)", visible=False)

        on_click(lambda: page.act(self.begin), begin)
        on_input(lambda: page.act(self.draw), self._quantity)
        on_input(lambda: page.act(self._choose_typed), self._member)
        on_click(lambda: page.submit_run(lambda: self.open(parse_count(self._member.value, "member"))), self._open)
        on_click(lambda: page.act(self.save), self._save)

    @property
    def sweep(self) -> SweepResults | None:
        """The sweep that is shown."""
        return None if self._map is None else self._map.sweep

    # --- the sweep ---

    def offer(self, case: StudioCase | None) -> None:
        """Offer the parameters of another robot, and remove the previous sweep."""
        self.task.cancel(discard=True)
        known, ranges = sweepable_parameters(case), {} if case is None else read_ranges(case)
        default = next((name for end in DEFAULT_FIELDS for name in known if name.endswith(end)), NO_FIELD)
        for panel, name in zip(self._ranges, [*(ranges or [default]), NO_FIELD, NO_FIELD]):
            panel.offer(case, name, ranges.get(name))
        self._map = self._chosen = self._opened = None
        self._text.content = text_box(NO_SWEEP_TEXT)
        self._hidden_note.visible = False
        self._set_visible(False)

    def update(self) -> None:
        """Follow another run: ranges around its values, and the member that it equals, if any."""
        case = self._page.case
        for panel in self._ranges:
            panel.follow(case)
        parameters = [] if case is None else case.parameters()
        self._hidden_note.visible = sum(each.is_sweepable for each in parameters) > len(sweepable_parameters(case))
        if self._map is not None:
            if self._opened is not None and case is not None and is_same_case(self._opened[1], case):
                member: int | None = self._opened[0]
            else:
                member = find_member(self._map.sweep, self.base, case)
            if self._member_notes or member != self._chosen:
                self._mark(member)

    def show_sweep(self, sweep: SweepResults, base: StudioCase | None, warned: Sequence[str] = ()) -> None:
        """Show a sweep; `base` is the case that its members change."""
        if base is None:
            raise ValueError(
                "sweep: a recorded run cannot be varied; open the robot file of the sweep first, then the sweep"
            )
        base.with_(sweep.changes(0))  # raises for a sweep of another robot
        member = find_member(sweep, base, self._page.case)
        self._map, self.base = SweepMap(sweep, sweep.quantities[0], member or 0), base
        self._quantity.options = tuple(sweep.quantities)
        self._quantity.value = sweep.quantities[0]
        self._notes = [*find_mismatches(sweep, base), *warned]
        self._mark(member)
        self._set_visible(True)

    # --- computation ---

    def begin(self) -> None:
        """Compute a sweep of the current case in a thread of its own; the page remains usable."""
        page = self._page
        if page.case is None:
            raise ValueError("sweep: a recorded run cannot be varied; open a robot file")
        ranges, case = [each for panel in self._ranges for each in panel.value()], page.case

        def work() -> tuple[SweepResults, list[str]]:
            return run_sweep(case, ranges, lambda: self.task.is_cancelled, self.task.report)

        def finish(found: tuple[SweepResults, list[str]]) -> None:
            self.show_sweep(found[0], case, found[1])
            if page.case is not None:  # so that saved files contain the ranges
                section = {"over": {each.field: each.section for each in ranges}}
                page.case = replace(page.case, sweep={**page.case.sweep, **section})

        self.task.start(work, finish)

    # --- the map ---

    def draw(self) -> None:
        """Draw the map of the chosen quantity."""
        if self._map is not None:
            self._map = SweepMap(self._map.sweep, str(self._quantity.value), self._chosen or 0)
            self._update_map()

    def _choose_typed(self) -> None:
        """Mark the member whose number was typed."""
        if self._map is not None:
            member = parse_count(self._member.value, "member")
            self._map.sweep.changes(member)  # raises for an invalid number
            self._mark(member, typed=True)

    def _mark(self, member: int | None, notes: Sequence[str] = (), typed: bool = False) -> None:
        """Mark a member in the map, which may be on another slice of the sweep, and describe it."""
        assert self._map is not None
        self._chosen, self._member_notes, sweep = member, list(notes), self._map.sweep
        if not typed:
            self._member.value = "" if member is None else format_number(member)
        if member is not None and not self._map.fixed.items() <= sweep.changes(member).items():
            self._map = SweepMap(sweep, self._map.quantity, member)
        self._update_map()

    def click(self, x: float, y: float) -> None:
        """Open the member at a position of the map, relative to its size."""
        member = None if self._map is None else self._map.member_at(x, y)
        if member is not None:
            self.open(member)

    def open(self, member: int) -> None:
        """Open a member: show its run and its parameters."""
        if self._map is None:
            return
        page, sweep = self._page, self._map.sweep
        changes, before = sweep.changes(member), page.case
        self._mark(member)
        control = self.base.control
        if not control.is_off and control.plant is None:  # all members had the controller of the base case
            control = replace(control, plant=self.base.robot)
        section = {} if before is None else before.sweep
        target = replace(self.base.with_(changes), control=control, sweep=section)
        self._opened = member, target
        result = page.go_to(target)
        self._mark(member, [] if before is None else describe_resets(before, target, set(sweep.columns)))
        _require_same_run(sweep.final_tip(member), result)

    def save(self) -> None:
        if self._map is not None:
            self._page.download("sweep.nc", encode_sweep(self._map.sweep))

    def _update_map(self) -> None:
        assert self._map is not None
        member, sweep = self._chosen, self._map.sweep
        self._picture.content = self._map.html(member)
        notes = [text_box(each, "note") for each in [*self._notes, *self._member_notes]]
        if member is None:
            text = text_box(f"{sweep.size} members; the current run is not one of them.")
        else:
            description = sweep.describe(member, self._map.quantity)
            text = text_box(description, "plain" if sweep.are_successful[member] else "error")
        self._text.content = "".join([*notes, text])

    def _set_visible(self, visible: bool) -> None:
        for handle in (self._quantity, self._picture, self._member, self._open, self._save):
            handle.visible = visible


def _require_same_run(expected: Array | None, result: Result) -> None:
    """Raise an error if a run does not end where the sweep's member did."""
    if expected is None or result.run.status not in SUCCESSFUL:
        return
    found = result.run.array("tip")[-1]
    size = result.system.robot.size
    if np.linalg.norm(found - expected) > TIP_TOLERANCE * size:
        where = [", ".join(f"{each:.4g}" for each in point) for point in (found, expected)]
        raise ValueError(
            f"sweep: this run ends with the tip at ({where[0]}) m, and the sweep has it at ({where[1]}) m: "
            "it was computed for another robot, another simulation, or other shapers and controllers"
        )
