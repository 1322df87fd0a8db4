"""Sweeps: what to vary, how far it is, a map of what came out, and its points opened as runs."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import real
from flexarm.studio.case import Case
from flexarm.studio.computing import Result
from flexarm.studio.fields import fields, varied
from flexarm.studio.files import sweep_file
from flexarm.studio.number_box import add_number_box, count_in, number_in, written
from flexarm.studio.sweep import Sweep
from flexarm.studio.sweep_map import SweepMap
from flexarm.studio.sweeping import Range, swept
from flexarm.studio.words import BAD, NOTE, box

if TYPE_CHECKING:
    from flexarm.studio.page import Page

NOTHING = "nothing"
NONE_YET = "No sweep yet: choose one or two fields, or open the .nc of one (Files, or dropped on the page)."
FIRST = ("payload.mass", "amplitude", "mass", "length")  # what is offered first
SELDOM = 0.2  # s between two words of how far it is
SAME = 1e-3  # of the robot: how far apart two ends of the same run may be


class RangePanel:
    """What one field is varied over."""

    def __init__(self, gui: Any, label: str) -> None:
        self._known: dict[str, Any] = {}
        self._field = gui.add_dropdown(label, (NOTHING,), initial_value=NOTHING)
        self._first = add_number_box(gui, f"{label}: from", 0.0)
        self._last = add_number_box(gui, f"{label}: to", 1.0)
        self._count = add_number_box(gui, f"{label}: count", 11)

        async def chosen(event: Any) -> None:
            if event.client is not None:
                self._around()

        self._field.on_update(chosen)

    def offer(self, known: dict[str, Any], chosen: str) -> None:
        """Fields of another case."""
        self._known = known
        self._field.options = (NOTHING, *known)
        self._field.value = chosen if chosen in known else NOTHING
        self._around()

    def show(self, given: Range) -> None:
        self._first.value, self._last.value = written(given.first), written(given.last)
        self._count.value = written(given.count)

    def _around(self) -> None:
        name = str(self._field.value)
        if name in self._known:
            self.show(Range.around(name, self._known[name]))

    def value(self) -> list[Range]:
        name = str(self._field.value)
        if name == NOTHING:
            return []
        first, last = number_in(self._first.value, f"{name}: from"), number_in(self._last.value, f"{name}: to")
        count = count_in(self._count.value, f"{name}: count")
        return [Range(name, first, last, count, whole=self._known[name].whole)]


class SweepPanel:
    """The handles of a page's sweep. `base` is the case that was swept."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self.sweep: Sweep | None = None
        self.base: Case | None = None
        self._map: SweepMap | None = None
        self._thread: threading.Thread | None = None
        self._cancelled = False
        self._robots = 0  # that were opened: what comes of the one before is nobody's
        self._notes: list[str] = []
        self._done = gui.add_progress_bar(0.0, visible=False)
        self._cancel = gui.add_button("Cancel the sweep", visible=False)
        self._quantity = gui.add_dropdown("show", ("-",), initial_value="-", visible=False)
        self._picture = gui.add_html("", visible=False)
        self._said = gui.add_html(box(NONE_YET))
        self._member = gui.add_number("member", 0, step=1, min=0, visible=False)
        self._open = gui.add_button("Open this member as a run", visible=False)
        self._ranges = [RangePanel(gui, "vary"), RangePanel(gui, "and")]
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
                page.do(self.mark)

        async def asked(event: Any) -> None:
            page.want(lambda: self.open(int(self._member.value)))

        async def saved(event: Any) -> None:
            page.do(self.save)

        self._begin.on_click(begun)
        self._cancel.on_click(cancelled)
        self._quantity.on_update(drawn)
        self._member.on_update(chosen)
        self._open.on_click(asked)
        self._save.on_click(saved)

    # --- which sweep ---

    def offer(self, case: Case | None) -> None:
        """Another robot: its fields, and the sweep of the one before is gone."""
        self._cancelled, self._robots = True, self._robots + 1
        known = {} if case is None else fields(case)
        written = {} if case is None else _written(case)
        usual = next((name for end in FIRST for name in known if name.endswith(end)), NOTHING)
        names = [*written, NOTHING, NOTHING][:2] if written else [usual, NOTHING]
        for panel, name in zip(self._ranges, names, strict=True):
            panel.offer(known, name)
            if name in written:
                panel.show(written[name])
        self.sweep, self.base, self._map = None, None, None
        self._said.content = box(NONE_YET)
        self._see(False)

    def take(self, sweep: Sweep, base: Case | None, said: list[str] | None = None) -> None:
        """A sweep to be shown from now on; `base` is what its members change."""
        if base is None:
            raise ValueError(
                "sweep: a recorded run cannot be varied; open the sweep's robot file first, then the sweep"
            )
        varied(base, sweep.changes(0))  # a sweep of another robot is refused before anything is shown
        member = self._first_of(sweep)
        drawn = SweepMap(sweep, sweep.quantities[0], member)
        self.sweep, self.base, self._map = sweep, base, drawn
        self._quantity.options = tuple(sweep.quantities)
        self._quantity.value = sweep.quantities[0]
        self._member.max = sweep.size - 1
        self._member.value = member
        self._notes = [*_doubts(sweep, base), *(said or [])]
        self._tell()
        self._see(True)

    @staticmethod
    def _first_of(sweep: Sweep) -> int:
        """The first member that has a value."""
        good = np.isfinite(sweep.values(sweep.quantities[0]))
        return int(good.argmax()) if good.any() else 0

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
        self._cancel.visible = self._done.visible = True
        self._begin.disabled = True
        self._thread = threading.Thread(target=self._run, args=(case, ranges), daemon=True, name="sweep of a page")
        self._thread.start()

    def _run(self, case: Case, ranges: list[Range]) -> None:
        last, robots = 0.0, self._robots

        def tell(done: int, whole: int) -> None:
            nonlocal last
            if time.monotonic() - last > SELDOM:
                last = time.monotonic()
                self._done.value = 100.0 * done / whole
                self._said.content = box(f"{done} of {whole} members")

        problem: Exception | None = None
        try:
            sweep, said = swept(case, ranges, lambda: self._cancelled or self._page.closed, tell)
        except Exception as error:
            problem = error
        if self._page.closed:
            return
        self._cancel.visible = self._done.visible = False
        self._begin.disabled = False
        if robots != self._robots:
            return
        if problem is not None:
            self._page.do(lambda: self._failed(problem))
        else:
            self._page.do(lambda: self._finished(case, ranges, sweep, said))

    def _failed(self, problem: Exception) -> None:
        self._said.content = box(NONE_YET)
        self._tell()
        raise problem

    def _finished(self, case: Case, ranges: list[Range], sweep: Sweep, said: list[str]) -> None:
        self.take(sweep, case, said)
        if self._page.case is not None:  # a file that is saved has what was varied
            section = {"over": {each.field: each.section for each in ranges}}
            self._page.case = replace(self._page.case, sweep={**self._page.case.sweep, **section})

    # --- the map ---

    def draw(self) -> None:
        """The map of the quantity that is chosen."""
        if self.sweep is not None:
            self._page.forget()
            self._map = SweepMap(self.sweep, str(self._quantity.value), self._checked())
            self.mark()

    def mark(self) -> None:
        """A ring around the member that is chosen, and what it is."""
        if self.sweep is None or self._map is None:
            return
        member = self._checked()
        held = {name: place for name, place in self.sweep.place(member).items() if name in self._map.held}
        if held != self._map.held:  # it is on another slice
            self._map = SweepMap(self.sweep, self._map.quantity, member)
        self._tell()

    def clicked(self, x: float, y: float) -> None:
        """A place of the picture, as parts of its size."""
        member = None if self._map is None else self._map.member_at(x, y)
        if member is not None:
            self._member.value = member
            self.mark()
            self.open(member)

    def open(self, member: int) -> None:
        """Its run, and the knobs at its values."""
        if self.sweep is None or self.base is None:
            return
        page = self._page
        page.forget()
        changes = self.sweep.changes(member)
        control = self.base.control
        if not control.off and control.plant is None:  # all members had the controller of the robot that was swept
            control = replace(control, plant=self.base.robot)
        sweep = {} if page.case is None else page.case.sweep
        result = page.go(replace(varied(self.base, changes), control=control, sweep=sweep))
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

    def _checked(self) -> int:
        assert self.sweep is not None
        return min(max(int(self._member.value), 0), self.sweep.size - 1)

    def _tell(self) -> None:
        if self.sweep is None or self._map is None:
            return
        member = self._checked()
        self._picture.content = self._map.html(member)
        notes = "".join(box(each, *NOTE) for each in self._notes)
        colours = () if self.sweep.status(member) in ("completed", "stopped") else BAD
        self._said.content = notes + box(self.sweep.words(member, self._map.quantity), *colours)

    def _see(self, there: bool) -> None:
        for handle in (self._quantity, self._picture, self._member, self._open, self._save):
            handle.visible = there


def _written(case: Case) -> dict[str, Range]:
    """Ranges and lists of a file's `sweep` section that the page can show."""
    found, known = {}, fields(case)
    over = case.sweep.get("over")
    for name, given in over.items() if isinstance(over, dict) else ():
        if isinstance(given, list) and len(given) > 1 and all(real(each) is not None for each in given):
            even = np.linspace(given[0], given[-1], len(given))
            given = {"from": given[0], "to": given[-1], "count": len(given)} if np.allclose(given, even) else None
        if not isinstance(given, dict) or name not in known or given.get("spacing", "linear") != "linear":
            continue
        first, last, count = (real(given.get(each)) for each in ("from", "to", "count"))
        if first is not None and last is not None and count is not None:
            found[name] = Range(name, first, last, int(count), known[name].whole)
    return found


def _doubts(sweep: Sweep, base: Case) -> list[str]:
    """What makes one doubt that a sweep is of this case."""
    found = []
    if sweep.robot and sweep.robot != base.robot.name:
        found.append(f"The sweep is of {sweep.robot!r}, this robot is {base.robot.name!r}.")
    length = real(base.plan.get("duration"))
    if sweep.duration is not None and length is not None and abs(sweep.duration - length) > 1e-9 * length:
        found.append(f"The sweep's runs take {sweep.duration:g} s, those of this simulation {length:g} s.")
    summary = str(sweep.data.attrs.get("summary", ""))
    return found + ([summary] if summary else [])
