"""The server of the studio: pages for browsers of this machine, each with a state of its own."""

from __future__ import annotations

import contextlib
import io
import os
import threading
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexarm.foundation.sentences import shown
from flexarm.studio.served import HERE, own_page

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.motion.run import Run
    from flexarm.robot import Robot
    from flexarm.studio.case import Case
    from flexarm.studio.computing import Result
    from flexarm.studio.page import Page
    from flexarm.studio.standing import Standing
    from flexarm.studio.sweep import Sweep

PORT = 8080
BEGINNING = 5.0  # s: as long as the first page waits for what is being prepared
ENDING = 2.0  # s: as long as a page may take to end its job
OWN_CALLBACKS = r"coroutine '(\w*Panel|Plot|Knobs|Told|Page)\..*' was never awaited"
MISSING = "the studio needs viser: pip install 'viser>=1.1'"


class Studio:
    """A studio that is open: `url` leads to it, `stop()` closes it; a notebook shows it.

    robot, options, host, port, sweep and browser as in `fa.studio`.
    """

    def __init__(
        self,
        robot: Any,
        options: Mapping[str, Any],
        host: str,
        port: int,
        sweep: Any = None,
        browser: bool = False,
    ) -> None:
        self._start: Case | Run
        self._sweep: Sweep | None = None
        self._beginning: threading.Thread | None = None
        self._standing: Standing | None = None
        self._first: Result | None = None
        self._host = _host(host)
        self.pages: dict[int, Page] = {}
        self._lock = threading.Lock()
        self._stopped = False
        self._gone: set[int] = set()  # browsers that left before their page was made
        self._known, self._begun = threading.Event(), threading.Event()
        self._stands = threading.Event()  # it is known how the robot stands before its run
        self._checked = threading.Event()  # what is to be computed can be, or cannot
        self._problem: Exception | None = None
        if late := not options and sweep is None and _is_robot_file(robot):
            _require_robot(robot)  # all else of it can wait until the browser loads the page
        else:
            self._begin(robot, options, sweep)
            self._require_computable()
        self._server = _viser(self._host, _port(port))
        # a browser may leave while its page still draws: that is no news
        warnings.filterwarnings("ignore", message="Queued a .* on a closed connection")
        warnings.filterwarnings("ignore", message=OWN_CALLBACKS, category=RuntimeWarning)
        self._server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        self._server.on_client_connect(self._opened)
        self._server.on_client_disconnect(self._left)
        if browser:
            threading.Thread(target=_browse, args=(self.url,), daemon=True, name="studio's browser").start()
        if late:
            try:
                self._begin(robot, options, sweep)
                self._known.set()
                self._require_computable()
            except BaseException:
                self.stop()
                raise
        self._known.set()

    def _begin(self, robot: Any, options: Mapping[str, Any], sweep: Any) -> None:
        """Know what to open; its first run is computed from now on."""
        from flexarm.studio.beginning import beginning, beginning_sweep

        self._start = beginning(robot, options)
        self._sweep = beginning_sweep(sweep, self._start)
        self._beginning = threading.Thread(target=self._warm_up, daemon=True, name="studio begins")
        self._beginning.start()

    def _require_computable(self) -> None:
        """What cannot be computed is said to whoever called, not in a page that waits."""
        self._checked.wait()
        if self._problem is not None:
            raise self._problem

    @property
    def port(self) -> int:
        """Where it listens; another one than asked for if that was taken."""
        return int(self._server.get_port())

    @property
    def url(self) -> str:
        shown_host = "localhost" if self._host in (HERE, "0.0.0.0", "::") else self._host
        return f"http://{f'[{shown_host}]' if ':' in shown_host else shown_host}:{self.port}"

    def wait(self) -> None:
        """Until Ctrl-C."""
        threading.Event().wait()

    def stop(self) -> None:
        """Close it. What was saved stays."""
        with self._lock:
            pages, self.pages, self._stopped = list(self.pages.values()), {}, True
        self._known.set()
        self._stands.set()
        for page in pages:
            page.close()
        for page in pages:
            page.join(ENDING)  # what it still draws would be left to a loop that is gone
        if self._beginning is not None:
            self._beginning.join(ENDING)
        with _quietly():
            self._server.stop()

    def __repr__(self) -> str:
        return f"Studio at {self.url}"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="600" style="border:0"></iframe>'

    def _warm_up(self) -> None:
        """Trace, compile and import while the browser loads the page."""
        from flexarm.studio.beginning import first_result, first_view

        end = time.monotonic() + BEGINNING

        def enough() -> bool:
            return self._stopped or time.monotonic() > end

        self._standing = first_view(self._start)
        self._stands.set()
        try:
            self._first = first_result(self._start, enough, self._checked.set)
        except Exception as error:  # once it runs, the page says it
            self._problem = error
        self._checked.set()
        self._begun.set()

    def _opened(self, client: Any) -> None:
        self._known.wait()
        from flexarm.studio.page import Page

        self._stands.wait(BEGINNING)
        with self._lock:
            if self._stopped or client.client_id in self._gone:
                return
            self.pages[client.client_id] = Page(client, self._start, self._sweep, self._standing, self._first_run)

    def _first_run(self) -> Result | None:
        self._begun.wait(BEGINNING)
        return self._first

    def _left(self, client: Any) -> None:
        with self._lock:
            page = self.pages.pop(client.client_id, None)
            if page is None:
                self._gone.add(client.client_id)
        if page is not None:
            page.close()


def studio(
    robot: Robot | Run | str | os.PathLike[str] | None = None,
    *,
    host: str = HERE,
    port: int = PORT,
    browser: bool = True,
    sweep: xr.Dataset | str | os.PathLike[str] | None = None,
    **options: Any,
) -> Studio:
    """Open the studio: a page in the browser in which a robot is seen, changed and understood live.

    robot: a robot, a run, or the name of a file: a robot's YAML or a run's NetCDF; a two-link arm unless given.
    options: what `fa.simulate` is to be given, `duration=5, torque={"upper": fa.bang_bang(0.1, (1, 2))}`; a file's own
    `simulation` section unless given. Numbers, profiles and gains in it get knobs, too; what cannot be computed is
    raised here.
    host, port: where it listens. Only this machine can open it; host="0.0.0.0" lets others, who can then change and
    read all that the page can. A port that is taken gives way to the next one.
    browser: whether to open a page at once.
    sweep: many runs of that simulation, as `fa.sweep` or `fa.monte_carlo` gave them, or the name of their file: a map
    whose points open as runs.

    It goes on beside the program: `fa.studio(robot).wait()` waits until Ctrl-C, `stop()` ends it.
    """
    if not isinstance(browser, bool):
        raise TypeError(f"browser = {shown(browser)}: must be True or False")
    return Studio(robot, options, host, port, sweep, browser)


def shown_run(run: Run, *, host: str = HERE, port: int = PORT, browser: bool = True) -> Studio:
    """What `run.show()` opens."""
    return studio(run, host=host, port=port, browser=browser)


def _is_robot_file(robot: Any) -> bool:
    return isinstance(robot, (str, os.PathLike)) and Path(os.fsdecode(robot)).suffix.lower() in (".yaml", ".yml")


def _require_robot(file: Any) -> None:
    """What is wrong with a file is said before a server starts."""
    from flexarm.robot.files import read

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when it is read again
        read(file)


def _browse(url: str) -> None:
    import webbrowser

    webbrowser.open(url)


def _host(host: object) -> str:
    if not isinstance(host, str) or not host:
        raise TypeError(f"host = {shown(host)}: must be an address, '127.0.0.1' for this machine alone")
    return host


def _port(port: object) -> int:
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < 65536:
        raise ValueError(f"port = {shown(port)}: must be a whole number, 1 to 65535")
    return port


def _viser(host: str, port: int) -> Any:
    try:
        import viser
    except ModuleNotFoundError as error:
        if error.name != "viser":
            raise
        raise ModuleNotFoundError(MISSING, name="viser") from None
    with _quietly(), own_page(host):
        return viser.ViserServer(host=host, port=port, verbose=False)


def _quietly() -> contextlib.AbstractContextManager[Any]:
    """viser tells its address and its end on stdout, which is the program's."""
    return contextlib.redirect_stdout(io.StringIO())
