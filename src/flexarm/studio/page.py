"""The page of one browser: its case, run, time and view. Pages share no state.

All work of a page runs in its own thread, one job after another; browser events only submit jobs. Parameters that
change while a run is computed are applied together in the next run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.messages import collect_warnings
from flexarm.results.run import Run
from flexarm.studio.case import History, StudioCase
from flexarm.studio.compute import REST_DURATION_S, Result, compute_rest, compute_run
from flexarm.studio.control import NO_CONTROL, Control
from flexarm.studio.mesh_frames import MeshFrames, thickness_factor
from flexarm.studio.panels.control import ControlPanel
from flexarm.studio.panels.files import FilesPanel
from flexarm.studio.panels.linear import ModeAnimation, ModesPanel, ResponsePanel
from flexarm.studio.panels.parameters import ParametersPanel
from flexarm.studio.panels.pictures import PicturesPanel
from flexarm.studio.panels.plots import PlotsPanel
from flexarm.studio.panels.sweep import SweepPanel
from flexarm.studio.panels.view import TimeLine, TimePanel, ViewPanel
from flexarm.studio.panels.widgets import Status, parse_number
from flexarm.studio.scene import Ground, InitialView, Scene, ViewState
from flexarm.studio.sweeps import SweepResults
from flexarm.studio.worker_thread import BrowserEvents, JobThread

PANEL_WIDTH_PX = 330
YIELD_AFTER_S = 0.5  # longer runs end early if another one is pending
KEEP_CAMERA_AFTER_S = 3.0  # later, the user may have moved the camera
BUSY_AFTER_S = 1.0  # longer runs are announced
MAX_RUN_TIME_S = 60.0  # computing time


class Page(JobThread):
    """The page of one client of the server: a case to compute, or a recorded run.

    A sweep of that case may be given, a preview to be shown until the run is computed, and a function that returns the
    run if it was already computed.
    """

    def __init__(
        self,
        client: Any,
        start: StudioCase | Run,
        sweep: SweepResults | None = None,
        preview: InitialView | None = None,
        first: Callable[[], Result | None] = lambda: None,
    ) -> None:
        super().__init__(f"page {client.client_id}")
        self.client = client
        self.case: StudioCase | None = None
        self.result: Result | None = None
        self.frames: MeshFrames | None = None
        self.timeline = TimeLine()
        self.run_count = 0
        self._described_result: Result | None = None  # shown by all panels
        self.shape: ModeAnimation | None = None
        self.kept: dict[str, Result] = {}  # by name, the oldest first
        self._history = History()
        self.control_error: Exception | None = None  # of invalid gains
        self._invalid: dict[str, float | str] = {}
        self._invalid_error: Exception | None = None
        self._changes: dict[str, float | str] = {}
        self._changed_at = 0.0  # by the user
        self._pending_runs = 0  # submitted jobs that need another run
        self._stale = False  # True if the view shows a previous case
        self._lock = threading.Lock()
        self._stop = False
        self.scene = Scene(client)
        self._preview_time = None if preview is None else time.monotonic()
        if preview is not None:  # first, because the panels take a browser longer
            self.scene.set_ground(preview.ground)
            self.scene.show(preview.view_state)
            client.flush()
        self._build()
        self.start()
        self.submit(lambda: self.open(start, first()))
        if sweep is not None:
            self.submit(lambda: self.sweeps.show_sweep(sweep, self.case))

    # --- jobs ---

    @property
    def is_moving(self) -> bool:
        return self.timeline.playing or self.shape is not None

    def draw_next_frame(self, seconds: float) -> None:
        self.timeline.advance(seconds)
        self.show()

    def report_failure(self, error: Exception) -> None:
        self.status.begin_action()
        self.status.show_error(error)

    def act(self, job: Callable[[], None]) -> None:
        """Submit a job of the user, which removes messages of earlier ones."""

        def run_job() -> None:
            if self.result is not None:
                self.reset_status()
                job()

        self.submit(run_job)

    def submit_run(self, job: Callable[[], None]) -> None:
        """Submit a job that needs another run; a run in progress then ends early. Called from any thread."""
        with self._lock:
            self._pending_runs += 1

        def run_job() -> None:
            with self._lock:
                self._pending_runs -= 1
            try:
                self.reset_status()
                job()
            finally:
                self._recompute_if_stale()

        self.submit(run_job)

    # --- actions ---

    def open(self, start: StudioCase | Run, first: Result | None = None, warned: Sequence[str] = ()) -> None:
        """Show another robot, or a recorded run.

        If it cannot be shown, the previous content stays; if there was none, the robot is shown at rest, so that its
        parameters can be corrected. `first` is the run of the case, if known; `warned` are warnings from reading it.
        """
        case, problem = None if isinstance(start, Run) else start, None
        try:
            result = self.load_recorded(start) if isinstance(start, Run) else first or self.compute(start)
            MeshFrames(result.system, result.run, 1.0, 1.0)  # raises if it cannot be drawn
        except Exception as error:
            if self.result is not None or case is None:
                raise
            self.status.show_text("This case cannot be computed.")
            self.status.show_error(error)  # first, because the robot at rest may fail, too
            result, problem = compute_rest(case), error
        result = replace(result, warnings=(*warned, *result.warnings))
        self.case, self._history = case, History(case)
        self._invalid, self._invalid_error, self.control_error = {}, problem, None
        self._stale = self._was_superseded(result)
        self.timeline.time = 0.0
        self.view.thicken_to(thickness_factor(result.system))
        self._set_result(result)
        problem = self._draw()  # first, because the panels take a browser longer
        self.scene.set_ground(
            Ground.from_points(result.system.robot, self.shown.cloud),
            look=self._preview_time is None or time.monotonic() - self._preview_time < KEEP_CAMERA_AFTER_S,
        )
        self._preview_time = None
        self.parameters_panel.build(case)
        self.control_panel.offer(None if case is None else result.system)
        self.control_panel.show(NO_CONTROL if case is None else case.control)
        self.sweeps.offer(case)
        self._update_panels(problem)

    @staticmethod
    def load_recorded(run: Run) -> Result:
        """Return the result of a recorded run."""
        if not all(np.isfinite(run.array(name)).all() for name in ("time", "q")):
            raise ValueError("this run has times or coordinates that are not finite: it cannot be shown")
        return Result(System(run.robot, native=False), run)

    def download(self, name: str, content: bytes) -> None:
        """Send a file to the browser, which saves it."""
        self.client.send_file_download(name, content, save_immediately=True)

    def set_parameter(self, name: str, value: float | str) -> None:
        """Set a parameter to a value or a typed text. Called from any thread."""
        with self._lock:
            self._changes[name], self._changed_at = value, time.monotonic()
        self.submit_run(self._apply_changes)

    def undo(self) -> None:
        if self._history.last is not None:
            self.go_to(self._history.last, is_undo=True)

    def reset(self) -> None:
        first = self._history.first
        if first is not None and self.case is not None and first is not self.case:
            self.go_to(first)
            self.control_panel.clear_goals()

    def set_control(self, control: Control) -> None:
        """Replace the shapers and controllers."""
        if self.case is None:
            raise ValueError("control: a recorded run cannot be computed again")
        before, case = vars(self.case.control), replace(self.case, control=control)
        result = self.compute(case)
        self.control_error = None
        changes = [f"control.{name}" for name, value in vars(control).items() if before[name] != value]
        self._accept(case, result, changes, time.monotonic())

    def go_to(self, case: StudioCase, is_undo: bool = False) -> Result:
        """Show another case of the same robot, and store the current one for undo."""
        result = self.compute(case)
        if is_undo:
            self._history.pop()
        elif self.case is not None:
            self._history.push(self.case)
        self.case, self._invalid, self._invalid_error, self.control_error = case, {}, None, None
        self.parameters_panel.show(case)
        self.control_panel.show(case.control)
        self._show_result(result)
        return result

    def compute(self, case: StudioCase, rigid: bool = False) -> Result:
        """Compute the run of a case; return it partially if it is stopped, takes too long, or is superseded."""
        begin, announced, self._stop = time.monotonic(), False, False

        def should_stop() -> bool:
            nonlocal announced
            waited = time.monotonic() - begin
            if waited > BUSY_AFTER_S and not announced:
                announced = True
                self.status.show_text("computing ... (Stop, in Parameters, ends it)")
            is_superseded = waited > YIELD_AFTER_S and self._pending_runs > 0
            return self.closed or self._stop or waited > MAX_RUN_TIME_S or is_superseded

        try:
            return compute_run(case, rigid, should_stop)
        except Exception:
            self.reset_status()  # removes the announcement
            raise

    def _apply_changes(self) -> None:
        """Apply all valid changes; invalid ones are reported and kept until they are corrected.

        Tries all changes together, then one after another.
        """
        with self._lock:
            changes, self._changes = self._changes, {}
        if not changes or self.case is None:
            return
        pending = [changes | {name: value for name, value in self._invalid.items() if name not in changes}]
        case, result = self.case, None
        self._invalid, self._invalid_error = {}, None
        while pending:
            group = pending.pop(0)
            try:
                with collect_warnings():  # of units, which the page shows anyway
                    changed = case.with_({name: parse_number(value, name) for name, value in group.items()})
                case, result = changed, self.compute(changed)
            except Exception as error:
                if len(group) > 1:
                    pending = [{name: value} for name, value in group.items()]
                    continue
                self._invalid |= group
                self._invalid_error = self._invalid_error or error
        if result is not None:
            self._accept(case, result, changes, self._changed_at)
        elif self._invalid_error is not None:
            self.report_failure(self._invalid_error)

    def _accept(self, case: StudioCase, result: Result, changes: Iterable[str], now: float) -> None:
        """Show another case and its run, and store the current one for undo."""
        if self.case is not None:
            self._history.push(self.case, changes, now)
        self.case = case
        self._show_result(result)

    def _was_superseded(self, result: Result) -> bool:
        return result.run.status == "interrupted" and self._pending_runs > 0

    def _recompute_if_stale(self) -> None:
        """Compute the run again if it was superseded by changes that were then rejected."""
        if self._stale and not self._pending_runs and not self.closed and self.case is not None:
            self._show_result(self.compute(self.case))

    def _show_result(self, result: Result) -> None:
        """Show a run, unless it was superseded: the next job then shows a newer one."""
        self._stale = self._was_superseded(result)
        if self._stale:
            return
        self._set_result(result)
        self.redraw()
        self.sweeps.update()

    def _set_result(self, result: Result) -> None:
        """Store the run, and clear what belongs to the previous one."""
        self.result, self.run_count = result, self.run_count + 1
        self.modes.clear()
        self.files.clear()
        self.timeline.end = float(result.run.array("time")[-1])
        self.timeline.seek(self.timeline.time)

    def _update_panels(self, problem: Exception | None) -> None:
        """Update the panels after the arm, because they take a browser longer."""
        assert self.result is not None
        if self._described_result is not self.result:
            self._described_result = self.result
            self.response.clear()
            self.response.offer(self.result)
            self.time_panel.update_range()
            self.reset_status()
        self.plots.update()
        self.control_panel.update()
        if problem is not None:
            self.status.show_error(problem)

    def _draw(self) -> Exception | None:
        """Draw the arm; return the error of what cannot be shown with it."""
        assert self.result is not None
        self.frames = MeshFrames(self.result.system, self.result.run, self.view.magnify, self.view.thicken)
        problem = self.view.update(self.frames)
        if self.shape is not None:
            self.modes.choose()  # rescales the mode to its previous size
        self.scene.show(self.view_state())
        self.client.flush()  # send it while the rest is prepared
        self.view.update_trace(self.frames)
        return problem

    def redraw(self) -> None:
        """Build the frames again for another run or another magnification."""
        if self.result is not None:
            self._update_panels(self._draw())

    def show(self) -> None:
        """Show the frame at the current time."""
        if self.result is not None:
            self.scene.show(self.view_state())
            if self.shape is None:
                self.time_panel.show()
                self.plots.follow()

    @property
    def shown(self) -> MeshFrames:
        """The frames of the run that is shown; users act only when there is one."""
        assert self.frames is not None
        return self.frames

    def view_state(self) -> ViewState:
        """Return the content of the view at the current time."""
        if self.shape is not None:
            return self.view.posture_state(self.shown, self.shape.posture(time.monotonic()))
        return self.view.view_state(self.shown, self.shown.index(self.timeline.time), self.timeline.playing)

    def reset_status(self) -> None:
        """Remove messages of earlier actions; errors of invalid parameters remain."""
        if self.result is None:
            return
        at_rest = self._invalid_error is not None and self.timeline.end == REST_DURATION_S
        self.status.show_result(self.result, self.case, at_rest)
        for problem in (self.control_error, self._invalid_error):
            if problem is not None:
                self.status.show_error(problem)

    def _build(self) -> None:
        gui = self.client.gui
        gui.set_panel_label("flexarm studio")
        self.status = Status(gui)
        BrowserEvents(self)
        self.time_panel = TimePanel(self)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Parameters"):
            back = gui.add_button_group("go back", ("Undo", "Reset", "Stop"))
            back.on_click(self._on_go_back)
            self.parameters_panel = ParametersPanel(gui, self.set_parameter)
        with tabs.add_tab("View"):
            self.view = ViewPanel(self)
        panel = gui.add_panel()
        with panel.add_tab("Plots"):
            self.plots = PlotsPanel(self)
        panel.dock_left()
        panel.set_width(PANEL_WIDTH_PX)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL_WIDTH_PX)
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

    async def _on_go_back(self, event: Any) -> None:
        """Handle a button. Callbacks are coroutines, because viser keeps the order of events for these only."""
        if event.target.value == "Stop":
            self._stop = True
        else:
            self.submit_run(self.undo if event.target.value == "Undo" else self.reset)
