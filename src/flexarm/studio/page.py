"""One page in one browser: its case, its run, its time, its picture. Pages share nothing.

All work of a page is done in one thread of its own, job after job; events of the browser only leave jobs. Numbers that
are turned while a run is computed are taken together with the next one.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.results.run import Run
from flexarm.studio.case import History, StudioCase
from flexarm.studio.compute import MOMENT, Result, at_rest, computed
from flexarm.studio.control import OFF, Control
from flexarm.studio.mesh_frames import MeshFrames, thickening
from flexarm.studio.panels.control import ControlPanel
from flexarm.studio.panels.files import FilesPanel
from flexarm.studio.panels.linear import ModesPanel, ResponsePanel, Shape
from flexarm.studio.panels.parameters import Knobs
from flexarm.studio.panels.pictures import PicturesPanel
from flexarm.studio.panels.plots import PlotsPanel
from flexarm.studio.panels.sweep import SweepPanel
from flexarm.studio.panels.view import TimeLine, TimePanel, ViewPanel
from flexarm.studio.panels.widgets import Status
from flexarm.studio.scene import Ground, Scene
from flexarm.studio.startup import Standing
from flexarm.studio.sweep_members import SweepResults
from flexarm.studio.sweep_run import Possible, changed
from flexarm.studio.worker_thread import BrowserEvents, Jobs

WIDTH = 330  # pixels of the plots
PATIENCE = 0.5  # s: a run that takes longer gives way to what is turned meanwhile
LOOKED = 3.0  # s after which somebody may have turned the camera
LONG = 1.0  # s after which it is said that a run is computed,
LONGEST = 60.0  # and at which it ends


class Page(Jobs):
    """What is shown to one client of the server. `start` is a case to compute, or a run that was computed before;
    `sweep` is one of that case, `stands` is how its robot stands before its run, `first` waits for that run, if
    somebody computes it."""

    def __init__(
        self,
        client: Any,
        start: StudioCase | Run,
        sweep: SweepResults | None = None,
        stands: Standing | None = None,
        first: Callable[[], Result | None] = lambda: None,
    ) -> None:
        super().__init__(f"page {client.client_id}")
        self.client = client
        self.case: StudioCase | None = None
        self.result: Result | None = None
        self.film: MeshFrames | None = None
        self.ground: Ground | None = None
        self.line = TimeLine()
        self.runs = 0
        self._followed: Result | None = None  # of which all handles tell
        self.shape: Shape | None = None
        self.kept: dict[str, Result] = {}
        self.kept_runs = 0
        self._history = History()
        self.doubt: Exception | None = None  # what is wrong with gains that are typed
        self._refused: dict[str, float | str] = {}
        self._refusal: Exception | None = None
        self._turned: dict[str, float | str] = {}
        self._turned_at = 0.0  # when a hand did so
        self._wanted = 0  # jobs that wait and want another run
        self._stale = False  # whether the picture is of a case before
        self._lock = threading.Lock()
        self._stop = False
        self.scene = Scene(client)
        self._stood = None if stands is None else time.monotonic()
        if stands is not None:  # the robot first: all handles together take a browser longer
            self.scene.ground(stands.ground)
            self.scene.show(stands.still)
            client.flush()
        self._build()
        self.start()
        self.do(lambda: self.open(start, first()))
        if sweep is not None:
            self.do(lambda: self.sweeps.take(sweep, self.case))

    # --- jobs ---

    @property
    def moving(self) -> bool:
        return self.line.playing or self.shape is not None

    def move(self, seconds: float) -> None:
        self.line.advance(seconds)
        self.show()

    def trouble(self, error: Exception) -> None:
        self.status.count()
        self.say(error)

    def want(self, job: Callable[[], None]) -> None:
        """Leave a job that wants another run: one that is computed meanwhile gives way. Called from any thread."""
        with self._lock:
            self._wanted += 1

        def wanted() -> None:
            with self._lock:
                self._wanted -= 1
            try:
                job()
            finally:
                self._settle()

        self.do(wanted)

    # --- what a page does ---

    def open(self, what: StudioCase | Run, first: Result | None = None, said: Sequence[str] = ()) -> None:
        """Another robot, or a run that was computed before; `first` is the run of a case, if somebody has it; `said`
        is what was warned of when it was read. One that cannot be shown leaves what was there; where nothing was, the
        robot at rest, so that its numbers can be set right."""
        case, problem = None if isinstance(what, Run) else what, None
        try:
            result = self.recorded(what) if isinstance(what, Run) else first or self.compute(what)
        except Exception as error:
            if self.result is not None or case is None:
                raise
            self.status.nothing()
            self.say(error)  # in case it cannot even be at rest
            result, problem = at_rest(case), error
        result = replace(result, warned=(*said, *result.warned))
        before, history, time_before = (self.case, self.result), self._history, self.line.time
        self._history = History(case)
        try:
            self._show_opened(case, result, 0.0)
        except Exception:
            if before[1] is not None:
                self._history = history
                self._show_opened(before[0], before[1], time_before)
            raise
        self._stale = self._gave_way(result)
        if problem is not None:
            self._refusal = problem
            self._tell()

    def _show_opened(self, case: StudioCase | None, result: Result, begin: float) -> None:
        self.case, self._refused, self._refusal, self.doubt = case, {}, None, None
        self.line.time = begin
        self.view.thicken_to(thickening(result.system))
        self._note(result)
        problems = self._draw()  # the arm first: knobs and plots take a browser longer
        assert self.film is not None
        self.ground = Ground.of(result.system.robot, self.film.cloud)
        self.scene.ground(self.ground, look=self._stood is None or time.monotonic() - self._stood < LOOKED)
        self._stood = None
        self.knobs.build(self.case)
        self.control_panel.offer(_goal_units(result.system) if self.case is not None else {})
        self.control_panel.show(OFF if self.case is None else self.case.control)
        self.sweeps.offer(self.case)
        self._follow(problems)

    @staticmethod
    def recorded(run: Run) -> Result:
        """A run that was computed before."""
        if not all(np.isfinite(run.array(name)).all() for name in ("time", "q")):
            raise ValueError("this run has times or coordinates that are no numbers: it cannot be shown")
        return Result(System(run.robot, native=False), run)

    def turn(self, path: str, value: float | str) -> None:
        """A number is turned, or a text typed for it; called from any thread."""
        with self._lock:
            self._turned[path], self._turned_at = value, time.monotonic()
        self.want(self._apply)

    def undo(self) -> None:
        if self._history.last is not None:
            self._go_to(self._history.last)
            self._history.pop()

    def reset(self) -> None:
        first = self._history.first
        if first is not None and self.case is not None and first is not self.case:
            self.go(first)
            self.control_panel.forget_goals()

    def control(self, control: Control) -> None:
        """Shapers and controllers as they are switched now."""
        if self.case is None:
            raise ValueError("control: a recorded run has no simulation that could be computed again")
        before, case = vars(self.case.control), replace(self.case, control=control)
        result = self.compute(case)
        self.doubt = None
        turned = [f"control.{name}" for name, value in vars(control).items() if before[name] != value]
        self._accept(case, result, turned, time.monotonic())

    def go(self, case: StudioCase) -> Result:
        """Another case of the same robot, from which one can go back."""
        before = self.case
        result = self._go_to(case)
        if before is not None:
            self._history.keep(before)
        return result

    def _go_to(self, case: StudioCase) -> Result:
        result = self.compute(case)
        self.case, self._refused, self._refusal, self.doubt = case, {}, None, None
        self.knobs.show(case)
        self.control_panel.show(case.control)
        self._take(result)
        return result

    def compute(self, case: StudioCase, rigid: bool = False) -> Result:
        """The run of a case; what it came to, if it is stopped, takes too long, or nobody wants it any more."""
        begin, told, self._stop = time.monotonic(), False, False

        def enough() -> bool:
            nonlocal told
            waited = time.monotonic() - begin
            if waited > LONG and not told:
                told = True
                self.status.busy()
            return self._closed or self._stop or waited > LONGEST or (waited > PATIENCE and self._wanted > 0)

        try:
            return computed(case, rigid, enough)
        except Exception:
            self.forget()  # that it is being computed
            raise

    def _apply(self) -> None:
        """Take all that was turned and can be; what cannot stays refused until it can, and is said."""
        with self._lock:
            turned, self._turned = self._turned, {}
        if not turned or self.case is None:
            return
        found = self._possible(
            self.case, turned | {path: each for path, each in self._refused.items() if path not in turned}
        )
        self._refused, self._refusal = found.refused, found.problem
        if found.result is not None:
            self._accept(found.case, found.result, turned, self._turned_at)
        elif found.problem is not None:
            self.trouble(found.problem)

    def _possible(self, case: StudioCase, wanted: Mapping[str, float | str]) -> Possible:
        """As many of these numbers as can be, and their run: all together, else those that the robot bears, else one
        after the other."""
        try:
            whole = changed(case, wanted)
            return Possible(whole, self.compute(whole))
        except Exception as error:
            if len(wanted) == 1:
                return Possible(case, None, dict(wanted), error)
        borne = Possible(case)
        for path, value in wanted.items():
            borne = borne.tried(path, value, lambda _: None)
        if 0 < len(borne.refused) < len(wanted):
            with contextlib.suppress(Exception):
                return replace(borne, result=self.compute(borne.case))
        found = Possible(case)
        for path, value in wanted.items():
            found = found.tried(path, value, self.compute)
        return found

    def _accept(self, case: StudioCase, result: Result, turned: Iterable[str], now: float) -> None:
        """Another case, from which one can go back, and its run; these of its numbers were turned now."""
        if self.case is not None:
            self._history.keep(self.case, turned, now)
        self.case = case
        self._take(result)

    def _gave_way(self, result: Result) -> bool:
        return result.run.status == "interrupted" and self._wanted > 0

    def _settle(self) -> None:
        """A run that gave way to what then was refused is computed again."""
        if self._stale and not self._wanted and not self._closed and self.case is not None:
            self._take(self.compute(self.case))

    def _take(self, result: Result) -> None:
        """A run to be shown from now on, unless it gave way: the next job has what is wanted now."""
        self._stale = self._gave_way(result)
        if self._stale:
            return
        self._note(result)
        self.redraw()
        self.sweeps.changed()

    def _note(self, result: Result) -> None:
        """A run that is to be drawn: all that is seen with the arm."""
        self.result, self.runs = result, self.runs + 1
        self.modes.clear()
        self.files.clear()
        self.line.stretch(float(result.run.array("time")[-1]))

    def _follow(self, problems: Sequence[Exception] = ()) -> None:
        """All that follows once the arm is on its way, for which a browser takes longer."""
        assert self.result is not None
        if self._followed is not self.result:
            self._followed = self.result
            self.response.clear()
            self.response.offer(self.result)
            self.time_panel.stretch()
            self._tell()
        self.plots.changed()
        self.control_panel.changed()
        for problem in problems[:1]:
            self.say(problem)

    def _draw(self) -> list[Exception]:
        assert self.result is not None
        self.film = MeshFrames(self.result.system, self.result.run, self.view.magnify, self.view.thicken)
        problems = self.view.changed(self.film)
        if self.shape is not None:
            self.modes.choose()  # as large as before, whatever is magnified
        self._show_arm()
        self.client.flush()  # it is on its way while all else is made
        self.view.trace(self.film)
        return problems

    def redraw(self) -> None:
        """The film anew: of another run, or magnified otherwise."""
        if self.result is None:
            return
        self._follow(self._draw())

    def show(self) -> None:
        """The frame of the time shown."""
        self._show_arm()
        if self.film is not None and self.shape is None:
            self.time_panel.show()
            self.plots.follow()

    def _show_arm(self) -> None:
        if self.film is None:
            return
        if self.shape is not None:
            self.view.posture(self.film, self.shape.posture(time.monotonic()))
        else:
            self.view.draw(self.film, self.film.index(self.line.time), playing=self.line.playing)

    # --- words ---

    @property
    def error(self) -> str:
        return self.status.error

    def say(self, error: BaseException) -> None:
        """An error, in the page."""
        self.status.say(error)

    def forget(self) -> None:
        """What was said of an earlier action; numbers that are refused still are."""
        if self.result is not None:
            self._tell()

    def _tell(self) -> None:
        assert self.result is not None
        self.status.tell(self.result, self.case, self._refusal is not None and self.line.end == MOMENT)
        for problem in (self.doubt, self._refusal):
            if problem is not None:
                self.say(problem)

    def _build(self) -> None:
        gui = self.client.gui
        gui.set_panel_label("flexarm studio")
        self.status = Status(gui)
        BrowserEvents(self)
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
            self.pictures = PicturesPanel(self)

    async def _go_back(self, event: Any) -> None:
        """Callbacks are coroutines: these keep the order of events."""
        if event.target.value == "Stop":
            self._stop = True
        else:
            self.want(self.undo if event.target.value == "Undo" else self.reset)


def _goal_units(system: System) -> dict[str, str]:
    """By link the units of joints that are driven."""
    return {
        each.link: "rad" if unit == "N m" else "m"
        for each, unit in zip(system.actuators, system.input_units, strict=True)
    }
