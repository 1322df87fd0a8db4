"""One page in one browser: its case, its run, its time, its picture. Pages share nothing.

All work of a page is done in one thread of its own, job after job; events of the browser only leave jobs. Numbers that
are turned while a run is computed are taken together with the next one.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.mechanics.system import System
from flexarm.motion.run import Run
from flexarm.studio.case import Case
from flexarm.studio.computing import Result, computed
from flexarm.studio.control import OFF, Control
from flexarm.studio.control_panel import ControlPanel
from flexarm.studio.files_panel import FilesPanel
from flexarm.studio.film import Film, thickening
from flexarm.studio.knobs import Knobs
from flexarm.studio.modes_panel import ModesPanel, Shape
from flexarm.studio.plots_panel import PlotsPanel
from flexarm.studio.response_panel import ResponsePanel
from flexarm.studio.scene import Scene
from flexarm.studio.sweep import Sweep
from flexarm.studio.sweep_panel import SweepPanel
from flexarm.studio.time_line import TimeLine
from flexarm.studio.time_panel import TimePanel
from flexarm.studio.told import Told
from flexarm.studio.view_panel import ViewPanel
from flexarm.studio.words import BAD, NOTE, box

FRAME = 0.04  # s between frames while something moves
WIDTH = 330  # pixels of the plots
PATIENCE = 0.5  # s: a run that takes longer gives way to what is turned meanwhile
LONGEST = 60.0  # s of computing
UNDONE = 100  # cases that can be gone back to

RECORDED = "A recorded run: it can be looked at, not turned. Open a robot file to turn its numbers."


class Page:
    """What is shown to one client of the server. `start` is a case to compute, or a run that was computed before;
    `sweep` is one of that case, `first` waits for its run, if somebody computes it."""

    def __init__(
        self,
        client: Any,
        start: Case | Run,
        sweep: Sweep | None = None,
        first: Callable[[], Result | None] = lambda: None,
    ) -> None:
        self.client, self.start = client, start
        self.case: Case | None = None
        self.result: Result | None = None
        self.film: Film | None = None
        self.line = TimeLine()
        self.error = ""
        self.runs = 0
        self.shape: Shape | None = None
        self.kept: dict[str, Result] = {}
        self.kept_runs = 0
        self._before: list[Case] = []
        self._first: Case | None = None
        self._refused: dict[str, float] = {}
        self._turned: dict[str, float] = {}
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._closed = self._stop = False
        self.scene = Scene(client)
        self._build()
        self._thread = threading.Thread(target=self._work, daemon=True, name=f"page {client.client_id}")
        self._thread.start()
        self.do(lambda: self.open(start, first()))
        if sweep is not None:
            self.do(lambda: self.sweeps.take(sweep, self.case))

    # --- jobs ---

    @property
    def closed(self) -> bool:
        return self._closed

    def do(self, job: Callable[[], None]) -> None:
        """Leave a job to the page's thread; what it raises is shown in the page."""
        self._jobs.put(job)

    def close(self) -> None:
        self._closed = True
        self._jobs.put(None)

    def wait(self, timeout: float = 60.0) -> None:
        """Until all jobs that are there now are done."""
        done = threading.Event()
        self.do(done.set)
        if not done.wait(timeout):
            raise TimeoutError(f"the page is still at work after {timeout:g} s")

    def _work(self) -> None:
        last = time.monotonic()
        while not self._closed:
            moving = self.line.playing or self.shape is not None
            try:
                job = self._jobs.get(timeout=FRAME if moving else None)
            except queue.Empty:
                job = None
            if job is not None:
                self._guarded(job)
            now = time.monotonic()
            if moving and not self._closed and now - last >= FRAME / 2:
                self.line.advance(now - last)
                self._guarded(self.show)
            if not moving or now - last >= FRAME / 2:
                last = now

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            if not self._closed:
                self.say(error)

    # --- what a page does ---

    def open(self, what: Case | Run, first: Result | None = None) -> None:
        """Another robot, or a run that was computed before; `first` is the run of a case, if somebody has it."""
        if isinstance(what, Run):
            result, self.case = self.recorded(what), None
        else:
            result = first or self.compute(what)
            self.case = what
        self._first, self._before, self._refused = self.case, [], {}
        self.line.time = 0.0
        self.view.thicken_to(thickening(result.system))
        self._note(result)
        problems = self._draw()  # the arm first: knobs and plots take a browser longer
        assert self.film is not None
        self.scene.ground(result.system.robot, self.film.cloud)
        self.knobs.build(self.case)
        self.control_panel.show(OFF if self.case is None else self.case.control)
        self.sweeps.offer(self.case)
        self.plots.changed()
        for problem in problems[:1]:
            self.say(problem)

    @staticmethod
    def recorded(run: Run) -> Result:
        """A run that was computed before."""
        return Result(System(run.robot, native=False), run)

    def turn(self, path: str, value: float) -> None:
        """A number is turned; called from any thread."""
        with self._lock:
            self._turned[path] = value
        self.do(self._apply)

    def undo(self) -> None:
        if self._before:
            self._go_to(self._before.pop())

    def reset(self) -> None:
        if self._first is not None and self.case is not None and self._first is not self.case:
            self._before.append(self.case)
            self._go_to(self._first)

    def control(self, control: Control) -> None:
        """Shapers and controllers as they are switched now."""
        if self.case is None:
            raise ValueError("control: a recorded run has no simulation that could be computed again")
        case = replace(self.case, control=control)
        result = self.compute(case)
        self._before = [*self._before, self.case][-UNDONE:]
        self.case = case
        self._take(result)

    def go(self, case: Case) -> Result:
        """Another case of the same robot, from which one can go back."""
        before = self.case
        result = self._go_to(case)
        if before is not None:
            self._before = [*self._before, before][-UNDONE:]
        return result

    def _go_to(self, case: Case) -> Result:
        result = self.compute(case)
        self.case, self._refused = case, {}
        self.knobs.show(case)
        self.control_panel.show(case.control)
        self._take(result)
        return result

    def compute(self, case: Case, rigid: bool = False) -> Result:
        """The run of a case; what it came to, if it is stopped, takes too long, or nobody wants it any more."""
        begin, self._stop = time.monotonic(), False

        def enough() -> bool:
            waited = time.monotonic() - begin
            return self._closed or self._stop or waited > LONGEST or (waited > PATIENCE and bool(self._turned))

        return computed(case, rigid, enough)

    def _apply(self) -> None:
        """Take all that was turned; what cannot be stays refused until it can, and is said."""
        with self._lock:
            turned, self._turned = self._turned, {}
        if not turned or self.case is None:
            return
        problem: Exception | None = None
        for wanted in ({**self._refused, **turned}, turned):
            try:
                case = self.case.with_(wanted)
                result = self.compute(case)
            except Exception as error:
                problem = problem or error
                continue
            self._before = [*self._before, self.case][-UNDONE:]
            self.case = case
            self._refused = {path: value for path, value in self._refused.items() if path not in wanted}
            if result.run.status == "interrupted" and self._turned:
                return  # the next job has what is wanted now
            self._take(result)
            if self._refused and problem is not None:
                self.say(problem)
            return
        self._refused |= turned
        assert problem is not None
        self.say(problem)

    def _take(self, result: Result) -> None:
        """A run to be shown from now on."""
        self._note(result)
        self.redraw()

    def _note(self, result: Result) -> None:
        self.result, self.runs = result, self.runs + 1
        self.modes.clear()
        self.response.offer(result.system.inputs)
        self.line.stretch(float(result.run.array("time")[-1]))
        self.time_panel.stretch()
        self._tell()

    def _draw(self) -> list[Exception]:
        assert self.result is not None
        self.film = Film(self.result.system, self.result.run, self.view.magnify, self.view.thicken)
        problems = self.view.changed(self.film)
        self.show()
        return problems

    def redraw(self) -> None:
        """The film anew: of another run, or magnified otherwise."""
        if self.result is None:
            return
        problems = self._draw()
        self.plots.changed()
        for problem in problems[:1]:
            self.say(problem)

    def show(self) -> None:
        """The frame of the time shown."""
        if self.film is None:
            return
        if self.shape is not None:
            self.view.posture(self.film, self.shape.posture(time.monotonic()))
            return
        k = self.film.index(self.line.time)
        self.view.draw(self.film, k, playing=self.line.playing)
        self.time_panel.show()
        self.plots.follow()

    # --- words ---

    def say(self, error: BaseException) -> None:
        """An error, in the page."""
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        self.error = text or type(error).__name__
        self._error.content = box(self.error, *BAD)
        self._error.visible = True

    def forget(self) -> None:
        """What was said of an earlier action; a number that is refused still is."""
        if self.result is not None and not self._refused:
            self._tell()

    def _tell(self) -> None:
        assert self.result is not None
        run = self.result.run
        self.error = "" if run.status in ("completed", "stopped") else f"the run {run.reason}"
        self._error.visible = bool(self.error)
        if self.error:
            self._error.content = box(self.error, *BAD)
        share = run.statistics.get("energy_share")
        lost = f", energy balance to {abs(share):.1g}" if isinstance(share, float) and np.isfinite(share) else ""
        took = f" in {1e3 * self.result.seconds:.0f} ms" if self.result.seconds else ""
        ended = "" if run.status == "completed" else f"; {run.reason}"
        words = f"{self.result.system.robot.name}: {self.line.end:g} s computed{took}{lost}{ended}"
        notes = [RECORDED] if self.case is None else []
        if self.case is not None and self.case.made_up:
            notes.append("Nothing says what to compute: joints are moved a little.")
        notes += self.result.warned
        parts = [box(words), *(box(each, *NOTE) for each in notes)]
        self._status.content = "".join(parts)

    def _build(self) -> None:
        gui = self.client.gui
        gui.set_panel_label("flexarm studio")
        self._status = gui.add_html(box("computing ..."))
        self._error = gui.add_html("", visible=False)
        Told(self)
        self.time_panel = TimePanel(self)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Knobs"):
            back = gui.add_button_group("go back", ("Undo", "Reset", "Stop"))
            back.on_click(self._go_back)
            self.knobs = Knobs(gui, self.turn)
        with tabs.add_tab("View"):
            self.view = ViewPanel(self)
        panel = gui.add_panel()
        with panel.add_tab("Plots"):
            self.plots = PlotsPanel(self)
        panel.dock_left()
        panel.set_width(WIDTH)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH)
        with tabs.add_tab("Modes"):
            self.modes = ModesPanel(self)
        with tabs.add_tab("Response"):
            self.response = ResponsePanel(self)
        with tabs.add_tab("Control"):
            self.control_panel = ControlPanel(self)
        with tabs.add_tab("Sweep"):
            self.sweeps = SweepPanel(self)
        with tabs.add_tab("Files"):
            self.files = FilesPanel(self)

    async def _go_back(self, event: Any) -> None:
        """Callbacks are coroutines: these keep the order of events."""
        if event.target.value == "Stop":
            self._stop = True
        else:
            self.do(self.undo if event.target.value == "Undo" else self.reset)
