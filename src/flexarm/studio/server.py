"""What the server answers: viser's page with the studio's own script in it, to pages of this machine alone.

The server of the studio: pages for browsers of this machine, each with a state of its own.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexarm.foundation.messages import shown

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.results.run import Run
    from flexarm.robot import Robot
    from flexarm.studio.case import StudioCase
    from flexarm.studio.compute import Result
    from flexarm.studio.page import Page
    from flexarm.studio.startup import Standing
    from flexarm.studio.sweep_members import SweepResults


HERE = "127.0.0.1"
LOCAL = (HERE, "localhost", "::1")
OWN = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")  # where pages of this machine are from
OWN_NAME = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)  # by which they ask for it
LARGEST = 50_000_000  # bytes of a file that is opened
LIMIT = "const LARGEST = 0;"

_lock = threading.Lock()  # what is changed below belongs to all threads


@contextlib.contextmanager
def own_page(host: str) -> Iterator[None]:
    """A server that is made inside has the studio's script in its page. For this machine alone, it refuses pages of
    other sites that a browser has open: viser asks nobody where a page is from, and the address of this machine is no
    secret. It answers to the names of this machine only: a site could give its own name that address."""
    import websockets.asyncio.server as sockets

    usual: Any = sockets.serve

    def serve(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        if host in LOCAL:
            options["origins"] = [OWN, None]
        answer = with_script(process_request)
        return usual(*arguments, process_request=for_us(answer) if host in LOCAL else answer, **options)

    with _lock:
        sockets.serve = serve  # type: ignore[misc, assignment]
        try:
            yield
        finally:
            sockets.serve = usual  # type: ignore[misc]


def for_us(answer: Callable[[Any, Any], Any] | None) -> Any:
    """The same answers, to those who ask for this machine by a name of its own."""

    def answered(connection: Any, request: Any) -> Any:
        if not all(OWN_NAME.fullmatch(name) for name in request.headers.get_all("Host")):
            return connection.respond(HTTPStatus.FORBIDDEN, "This studio answers to localhost only.\n")
        return None if answer is None else answer(connection, request)

    return answered


def with_script(answer: Callable[[Any, Any], Any] | None) -> Any:
    """The same answers; the page itself with the script."""
    if answer is None:
        return None

    def answered(connection: Any, request: Any) -> Any:
        found = answer(connection, request)
        kind = "" if found is None else found.headers.get("Content-Type", "")
        if found is not None and found.status_code == 200 and kind.startswith("text/html"):
            packed = found.headers.get("Content-Encoding") == "gzip"
            found.body = _scripted(gzip.decompress(found.body) if packed else found.body)
            for name, value in {"Content-Encoding": "identity", "Content-Length": str(len(found.body))}.items():
                del found.headers[name]
                found.headers[name] = value
        return found

    return answered


@cache
def _scripted(page: bytes) -> bytes:
    script = f"<script>{own_script()}</script></head>"
    return page.replace(b"<title>Viser</title>", b"<title>flexarm studio</title>").replace(
        b"</head>", script.encode(), 1
    )


def own_script() -> str:
    """The studio's script, with the size of files that are opened."""
    text = (resources.files("flexarm.studio") / "page.js").read_text(encoding="utf-8")
    assert LIMIT in text
    return text.replace(LIMIT, f"const LARGEST = {LARGEST};")


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
        self._start: StudioCase | Run
        self._sweep: SweepResults | None = None
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
        from flexarm.studio.startup import beginning, beginning_sweep

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
        from flexarm.studio.startup import first_result, first_view

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
    from flexarm.robot.io.files import read

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
