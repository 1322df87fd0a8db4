"""The server of the studio: pages for browsers of this machine, each with a state of its own."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import threading
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexarm.foundation.sentences import shown, unknown
from flexarm.motion.run import Run
from flexarm.motion.simulate import simulate
from flexarm.robot import Robot
from flexarm.robot.library import two_link_arm
from flexarm.studio.case import Case
from flexarm.studio.computing import computed
from flexarm.studio.curves import Quantities
from flexarm.studio.fields import varied
from flexarm.studio.files import results
from flexarm.studio.film import Film
from flexarm.studio.page import Page
from flexarm.studio.served import HERE, own_page
from flexarm.studio.sweep import Sweep

if TYPE_CHECKING:
    import xarray as xr

PORT = 8080
BEGINNING = 5.0  # s: as long as the first page waits for what is being prepared
MISSING = "the studio needs viser: pip install flexarm[studio]"


class Studio:
    """A studio that is open: `url` leads to it, `stop()` closes it; a notebook shows it.

    robot, options, host, port and sweep as in `fa.studio`.
    """

    def __init__(self, robot: Any, options: Mapping[str, Any], host: str, port: int, sweep: Any = None) -> None:
        self._start = _start(robot, options)
        self._sweep = _sweep(sweep, self._start)
        self._host = _host(host)
        self.pages: dict[int, Page] = {}
        self._lock = threading.Lock()
        self._server = _viser(self._host, _port(port))
        # a browser may leave while its page still draws: that is no news
        warnings.filterwarnings("ignore", message="Queued a .* on a closed connection")
        self._server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        self._warm = threading.Thread(target=self._warm_up, daemon=True, name="studio begins")
        self._warm.start()
        self._server.on_client_connect(self._opened)
        self._server.on_client_disconnect(self._left)

    @property
    def port(self) -> int:
        """Where it listens; another one than asked for if that was taken."""
        return int(self._server.get_port())

    @property
    def url(self) -> str:
        shown_host = "localhost" if self._host in (HERE, "0.0.0.0", "::") else self._host
        return f"http://{shown_host}:{self.port}"

    def wait(self) -> None:
        """Until Ctrl-C."""
        threading.Event().wait()

    def stop(self) -> None:
        """Close it. What was saved stays."""
        with self._lock:
            pages, self.pages = list(self.pages.values()), {}
        for page in pages:
            page.close()
        with _quietly():
            self._server.stop()

    def __repr__(self) -> str:
        return f"Studio at {self.url}"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="600" style="border:0"></iframe>'

    def _warm_up(self) -> None:
        """Trace, compile and import while the browser loads the page: what is thrown away here is quick later."""
        end = time.monotonic() + BEGINNING
        with contextlib.suppress(Exception):  # the page will say it
            if isinstance(self._start, Case):
                found = computed(self._start, enough=lambda: time.monotonic() > end)
                Film(found.system, found.run, 1.0, 1.0).alone(0)
                Quantities(found.run).curves("tip")

    def _opened(self, client: Any) -> None:
        self._warm.join(BEGINNING)
        page = Page(client, self._start, self._sweep)
        with self._lock:
            self.pages[client.client_id] = page

    def _left(self, client: Any) -> None:
        with self._lock:
            page = self.pages.pop(client.client_id, None)
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
    `simulation` section unless given. Numbers, profiles and gains in it get knobs, too.
    host, port: where it listens. Only this machine can open it; host="0.0.0.0" lets others, who can then change and
    read all that the page can. A port that is taken gives way to the next one.
    browser: whether to open a page at once.
    sweep: many runs of that simulation, as `fa.sweep` or `fa.monte_carlo` gave them, or the name of their file: a map
    whose points open as runs.

    It goes on beside the program: `fa.studio(robot).wait()` waits until Ctrl-C, `stop()` ends it.
    """
    if not isinstance(browser, bool):
        raise TypeError(f"browser = {shown(browser)}: must be True or False")
    found = Studio(robot, options, host, port, sweep)
    if browser:
        import webbrowser

        webbrowser.open(found.url)
    return found


def shown_run(run: Run, *, host: str = HERE, port: int = PORT, browser: bool = True) -> Studio:
    """What `run.show()` opens."""
    return studio(run, host=host, port=port, browser=browser)


def _start(robot: Any, options: Mapping[str, Any]) -> Case | Run:
    known = [name for name in inspect.signature(simulate).parameters if name not in ("robot", "progress")]
    for name in options:
        if name not in known:
            raise TypeError(unknown(f"unknown option {name!r}", name, known))
    if robot is None:
        return Case.of_robot(two_link_arm(damping=1e-3), options)
    if isinstance(robot, Robot):
        return Case.of_robot(robot, options)
    if not isinstance(robot, (Run, str, os.PathLike)) or robot == "":
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, a Run, or the name of a file (.yaml or .nc)")
    if isinstance(robot, Run) or Path(os.fsdecode(robot)).suffix.lower() == ".nc":
        if options:
            name = next(iter(options))
            raise TypeError(f"{name} = {shown(options[name])}: a run is computed already; give its robot to compute it")
        found = robot if isinstance(robot, Run) else results(robot)
        if isinstance(found, Sweep):
            raise ValueError(f"{robot}: is a sweep, which does not hold its robot; give the robot, and this as sweep")
        return found
    case = Case.of_file(os.fsdecode(robot))
    return Case.of_robot(case.robot, options, case.file) if options else case


def _sweep(sweep: Any, start: Case | Run) -> Sweep | None:
    """What fits the case that is opened, so that a page can show it."""
    if sweep is None:
        return None
    if isinstance(start, Run):
        raise TypeError("sweep: is of a robot that can be computed; give the robot instead of a run")
    if isinstance(sweep, (str, os.PathLike)):
        found = results(sweep)
        if not isinstance(found, Sweep):
            raise ValueError(f"sweep = {os.fsdecode(sweep)!r}: is one run, not a sweep")
    else:
        found = Sweep(sweep)
    varied(start, found.changes(0))
    return found


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
