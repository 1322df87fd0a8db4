"""What the server answers: viser's page with the studio's own script in it, to pages of this machine alone."""

from __future__ import annotations

import contextlib
import gzip
import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from http import HTTPStatus
from importlib import resources
from typing import Any

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
