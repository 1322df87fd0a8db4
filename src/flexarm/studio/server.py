"""The server of the studio: one page for each browser of this machine.

It serves viser's page with the studio's own script (`page.js`), and refuses pages of other sites.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
import time
import warnings
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import cache
from http import HTTPStatus
from importlib import resources
from typing import TYPE_CHECKING, Any

from flexarm.foundation.messages import collect_warnings, shown

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.results.run import Run
    from flexarm.robot import Robot
    from flexarm.studio.compute import Result
    from flexarm.studio.page import Page
    from flexarm.studio.scene import InitialView


LOCALHOST = "127.0.0.1"
LOCAL_HOSTS = (LOCALHOST, "localhost", "::1")
LOCAL_NAME = r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
MAX_FILE_BYTES = 50_000_000  # of uploaded files
LIMIT_LINE = "const MAX_FILE_BYTES = 0;"  # in page.js

_start_lock = threading.Lock()


@contextlib.contextmanager
def guarded_requests(host: str) -> Iterator[None]:
    """Let the server that viser starts serve the studio's script, and pages of this machine only.

    viser checks neither the origin nor the host name: any site open in the same browser could connect to the server.
    It has no setting for either, so the function of websockets with which it starts is replaced during that call;
    servers of others that start meanwhile are not affected.
    """
    import websockets.asyncio.server as sockets

    original: Any = sockets.serve
    is_local = host in LOCAL_HOSTS

    def serve(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        if not arguments[0].__module__.startswith("viser."):
            return original(*arguments, process_request=process_request, **options)
        if is_local:
            options["origins"] = [re.compile(f"https?://{LOCAL_NAME}"), None]

        def handle(connection: Any, request: Any) -> Any:
            names = request.headers.get_all("Host")
            if is_local and not all(re.fullmatch(LOCAL_NAME, name, re.IGNORECASE) for name in names):
                return connection.respond(HTTPStatus.FORBIDDEN, "This studio answers to localhost only.\n")
            if "Accept-Encoding" in request.headers:  # the page must not be compressed
                del request.headers["Accept-Encoding"]
            found = process_request(connection, request)
            if found is not None and found.headers.get("Content-Type", "").startswith("text/html"):
                found.body = _insert_script(found.body)
                del found.headers["Content-Length"]
                found.headers["Content-Length"] = str(len(found.body))
            return found

        return original(*arguments, process_request=handle, **options)

    with _start_lock:
        sockets.serve = serve  # type: ignore[misc, assignment]
        try:
            yield
        finally:
            sockets.serve = original  # type: ignore[misc]


@cache
def _insert_script(page: bytes) -> bytes:
    """Insert the studio's script, with the size limit of uploaded files, into viser's page."""
    script = (resources.files("flexarm.studio") / "page.js").read_text(encoding="utf-8")
    assert LIMIT_LINE in script
    script = script.replace(LIMIT_LINE, f"const MAX_FILE_BYTES = {MAX_FILE_BYTES};")
    page = page.replace(b"<title>Viser</title>", b"<title>flexarm studio</title>")
    return page.replace(b"</head>", f"<script>{script}</script></head>".encode(), 1)


DEFAULT_PORT = 8080
STARTUP_TIMEOUT_S = 5.0  # the first page waits at most this long for the first run
JOIN_TIMEOUT_S = 2.0  # of a page's last job
LATE_WARNINGS = (  # of viser, if a browser disconnects while its page still draws
    ("Queued a .* on a closed connection", UserWarning),
    (r"coroutine '((\w*Panel|BrowserEvents|Page)\.|on_input|on_click).*' was never awaited", RuntimeWarning),
)
MISSING_VISER = "the studio needs viser: pip install 'viser>=1.1'"


class Studio:
    """Running studio, as returned by `fa.studio`; in a notebook it displays its page.

    Parameters
    ----------
    robot : Robot or Run
        See `flexarm.studio`.
    options : mapping
        Arguments of `fa.simulate`.
    host : str
        Address on which the server listens.
    port : int
        Port on which the server listens.
    sweep : optional
        See `flexarm.studio`.
    browser : bool, optional
        Open a page in the browser.

    See Also
    --------
    flexarm.studio : Opens a studio.

    Examples
    --------
    >>> import flexarm as fa
    >>> viewer = fa.studio(fa.library.two_link_arm(), browser=False)  # doctest: +SKIP
    >>> viewer.url  # doctest: +SKIP
    'http://localhost:8080'
    >>> viewer.stop()  # doctest: +SKIP
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
        self._host = _check_host(host)
        self.pages: dict[int, Page] = {}
        self._lock = threading.Lock()
        self._stopped = False
        self._checked = threading.Event()  # the case is known to be valid or invalid
        self._view: Future[InitialView | None] = Future()
        self._first_result: Future[Result | None] = Future()
        is_file = isinstance(robot, (str, os.PathLike)) and os.fsdecode(robot).lower().endswith((".yaml", ".yml"))
        if deferred := is_file and not options and sweep is None:
            _require_robot(robot)  # the rest is done while the browser loads the page
        else:
            self._prepare(robot, options, sweep)
            self._require_valid()
        self._server = _start_viser(self._host, _check_port(port))
        self._filters = _ignore_late_warnings()
        self._server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        if browser:
            threading.Thread(target=webbrowser.open, args=(self.url,), daemon=True, name="studio browser").start()
        try:
            if deferred:
                self._prepare(robot, options, sweep)
            self._server.on_client_connect(self._on_connect)  # called for clients that are connected already, too
            self._server.on_client_disconnect(self._on_disconnect)
            self._require_valid()
        except BaseException:
            self.stop()
            raise

    def _prepare(self, robot: Any, options: Mapping[str, Any], sweep: Any) -> None:
        """Resolve what to open, and compute its first run while the browser loads the page."""
        from flexarm.studio.compute import compute_first_result
        from flexarm.studio.files import resolve_start, resolve_sweep
        from flexarm.studio.scene import initial_view

        self._start = resolve_start(robot, options)
        self._sweep = resolve_sweep(sweep, self._start)
        end = time.monotonic() + STARTUP_TIMEOUT_S

        def should_stop() -> bool:
            return self._stopped or time.monotonic() > end

        def warm_up() -> None:
            import flexarm.studio.page  # noqa: F401  # so that browsers need not wait for it

            _settle(self._view, lambda: initial_view(self._start))
            _settle(self._first_result, lambda: compute_first_result(self._start, should_stop, self._checked.set))
            self._checked.set()

        threading.Thread(target=warm_up, daemon=True, name="studio warm-up").start()

    def _require_valid(self) -> None:
        """Raise the error of a case that cannot be computed in the caller, not in a waiting page."""
        self._checked.wait()
        if self._first_result.done():
            self._first_result.result()

    @property
    def port(self) -> int:
        """Port on which the server listens; differs from the requested one if that was in use."""
        return int(self._server.get_port())

    @property
    def url(self) -> str:
        """Address of the page."""
        shown_host = "localhost" if self._host in (LOCALHOST, "0.0.0.0", "::") else self._host
        return f"http://{f'[{shown_host}]' if ':' in shown_host else shown_host}:{self.port}"

    def wait(self) -> None:
        """Block until Ctrl-C."""
        threading.Event().wait()

    def stop(self) -> None:
        """Close all pages and stop the server. Saved files are kept."""
        with self._lock:
            pages, self.pages, self._stopped = list(self.pages.values()), {}, True
        for page in pages:
            page.close()
        for page in pages:
            page.join(JOIN_TIMEOUT_S)  # its last job needs the server's event loop
        with _without_output():
            self._server.stop()
        for each in self._filters:
            if each in warnings.filters:
                warnings.filters.remove(each)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"Studio at {self.url}"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="600" style="border:0"></iframe>'

    def _on_connect(self, client: Any) -> None:
        from flexarm.studio.page import Page

        view = _wait_briefly(self._view)
        with self._lock:
            if not self._stopped and client.client_id in self._server.get_clients():  # not disconnected already
                self.pages[client.client_id] = Page(
                    client, self._start, self._sweep, view, lambda: _wait_briefly(self._first_result)
                )

    def _on_disconnect(self, client: Any) -> None:
        with self._lock:
            page = self.pages.pop(client.client_id, None)
        if page is not None:
            page.close()


def _settle(future: Future[Any], compute: Callable[[], Any]) -> None:
    try:
        future.set_result(compute())
    except Exception as error:
        future.set_exception(error)


def _wait_briefly(future: Future[Any]) -> Any:
    """Return the result of a preparation; None if it failed or takes too long, so that the page computes it."""
    with contextlib.suppress(Exception):
        return future.result(STARTUP_TIMEOUT_S)
    return None


def studio(
    robot: Robot | Run | str | os.PathLike[str] | None = None,
    *,
    host: str = LOCALHOST,
    port: int = DEFAULT_PORT,
    browser: bool = True,
    sweep: xr.Dataset | str | os.PathLike[str] | None = None,
    **options: Any,
) -> Studio:
    """Open the studio, an interactive view of a robot in the browser.

    The page shows the robot, its run, plots, vibration modes, frequency responses, controllers and sweeps. All
    parameters of the robot and of the simulation can be changed; the run is then computed again. The studio runs in
    the background until `stop()` is called or the program ends.

    Parameters
    ----------
    robot : Robot, Run, str or path, optional
        A robot, a run, or the name of a robot file (`.yaml`) or a run (`.nc`). The default is a two-link arm.
    host : str, optional
        Address on which the server listens. The default, "127.0.0.1", admits this machine only; with "0.0.0.0" other
        machines can read and change everything that the page can, without a password.
    port : int, optional
        Port; if it is in use, the next free one. The default is 8080.
    browser : bool, optional
        Open a page in the browser. The default is True.
    sweep : Dataset, str or path, optional
        Result of `fa.sweep` or `fa.monte_carlo` of this simulation, or its file: a map whose points open as runs.
    **options
        Arguments of `fa.simulate`, as in `duration=5, torque={"upper": fa.bang_bang(0.1, (1, 2))}`. The default is the
        file's `simulation` section, or a small motion. Profiles and gains in them can be changed in the page, too.

    Returns
    -------
    Studio
        The running studio, with `url`, `wait()` and `stop()`.

    Raises
    ------
    TypeError, ValueError
        If the simulation cannot be computed, or an argument is invalid.
    ModuleNotFoundError
        If viser is not installed.

    See Also
    --------
    Run.show : Opens the studio with a recorded run.
    simulate : Computes a run.

    Examples
    --------
    >>> import flexarm as fa
    >>> viewer = fa.studio(fa.library.two_link_arm(), duration=2.0, browser=False)  # doctest: +SKIP
    >>> viewer.wait()  # doctest: +SKIP
    """
    if not isinstance(browser, bool):
        raise TypeError(f"browser = {shown(browser)}: must be True or False")
    return Studio(robot, options, host, port, sweep, browser)


def show_run(run: Run, *, host: str = LOCALHOST, port: int = DEFAULT_PORT, browser: bool = True) -> Studio:
    """Open a run in the studio (`Run.show`)."""
    return studio(run, host=host, port=port, browser=browser)


def _require_robot(file: Any) -> None:
    """Raise the errors of a robot file before a server starts."""
    from flexarm.robot.io.files import read

    with collect_warnings():  # shown when the file is read again
        read(file)


def _check_host(host: object) -> str:
    if not isinstance(host, str) or not host:
        raise TypeError(f"host = {shown(host)}: must be an address, '127.0.0.1' for this machine alone")
    return host


def _check_port(port: object) -> int:
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < 65536:
        raise ValueError(f"port = {shown(port)}: must be a whole number, 1 to 65535")
    return port


def _start_viser(host: str, port: int) -> Any:
    try:
        import viser
    except ModuleNotFoundError as error:
        if error.name != "viser":
            raise
        raise ModuleNotFoundError(MISSING_VISER, name="viser") from None
    with _without_output(), guarded_requests(host):
        return viser.ViserServer(host=host, port=port, verbose=False)


def _ignore_late_warnings() -> list[Any]:
    """Ignore warnings about disconnected browsers while a studio runs; return the filters."""
    found = []
    for message, category in LATE_WARNINGS:
        warnings.filterwarnings("ignore", message=message, category=category)
        found.append(warnings.filters[0])
    return found


def _without_output() -> contextlib.AbstractContextManager[Any]:
    """Suppress viser's messages on stdout."""
    return contextlib.redirect_stdout(io.StringIO())
