"""The server of the studio: pages for browsers of this machine, each with a state of its own."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import os
import re
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flexarm.foundation.sentences import shown, unknown
from flexarm.motion.run import Run
from flexarm.motion.simulate import simulate
from flexarm.robot import Robot
from flexarm.robot.library import two_link_arm
from flexarm.studio.case import Case
from flexarm.studio.computing import computed
from flexarm.studio.curves import Quantities
from flexarm.studio.film import Film
from flexarm.studio.page import Page

HERE = "127.0.0.1"
PORT = 8080
BEGINNING = 5.0  # s: as long as the first page waits for what is being prepared
LOCAL = (HERE, "localhost", "::1")
OWN = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")  # where pages of this machine are from
MISSING = "the studio needs viser: pip install flexarm[studio]"


class Studio:
    """A studio that is open: `url` leads to it, `stop()` closes it; a notebook shows it.

    robot, options, host and port as in `fa.studio`.
    """

    def __init__(self, robot: Any, options: Mapping[str, Any], host: str, port: int) -> None:
        self._start = _start(robot, options)
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
        page = Page(client, self._start)
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
    **options: Any,
) -> Studio:
    """Open the studio: a page in the browser in which a robot is seen, changed and understood live.

    robot: a robot, a run, or the name of a file: a robot's YAML or a run's NetCDF; a two-link arm unless given.
    options: what `fa.simulate` is to be given, `duration=5, torque={"upper": fa.bang_bang(0.1, (1, 2))}`; a file's own
    `simulation` section unless given. Numbers, profiles and gains in it get knobs, too.
    host, port: where it listens. Only this machine can open it; host="0.0.0.0" lets others, who can then change and
    read all that the page can. A port that is taken gives way to the next one.
    browser: whether to open a page at once.

    It goes on beside the program: `fa.studio(robot).wait()` waits until Ctrl-C, `stop()` ends it.
    """
    if not isinstance(browser, bool):
        raise TypeError(f"browser = {shown(browser)}: must be True or False")
    found = Studio(robot, options, host, port)
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
        return robot if isinstance(robot, Run) else Run.load(robot)
    case = Case.of_file(os.fsdecode(robot))
    return Case.of_robot(case.robot, options, case.file) if options else case


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
    with _quietly(), _own_pages_only(host):
        return viser.ViserServer(host=host, port=port, verbose=False)


@contextlib.contextmanager
def _own_pages_only(host: str) -> Iterator[None]:
    """A server that is made inside, for this machine alone, refuses pages of other sites that a browser has open:
    viser asks nobody where a page is from, and the address of this machine is no secret."""
    import websockets.asyncio.server as sockets

    usual: Any = sockets.serve
    if host in LOCAL:
        sockets.serve = functools.partial(usual, origins=[OWN, None])  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        sockets.serve = usual  # type: ignore[misc]


def _quietly() -> contextlib.AbstractContextManager[Any]:
    """viser tells its address and its end on stdout, which is the program's."""
    return contextlib.redirect_stdout(io.StringIO())
