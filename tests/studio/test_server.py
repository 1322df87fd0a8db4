import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import flexarm as fa
from flexarm.results.run import Run
from flexarm.studio import server, startup
from flexarm.studio.server import LARGEST
from tests.studio.browserless import Client

BAR = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])


def _address_of_this_machine() -> str | None:
    """One by which other machines would know it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))  # nothing is sent
            found = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if found.startswith("127.") else found


def test_only_this_machine_may_open_it() -> None:
    found = fa.studio(BAR, browser=False, port=8400)
    try:
        assert found.url == f"http://localhost:{found.port}"
        socket.create_connection(("127.0.0.1", found.port), 5).close()
        other = _address_of_this_machine()
        if other is not None:
            with pytest.raises(OSError, match=r"."):
                socket.create_connection((other, found.port), 2)
        assert f"{found.port}" in found._repr_html_()
        again = fa.studio(BAR, browser=False, port=found.port)  # a port that is taken gives way
        assert again.port != found.port
        again.stop()
    finally:
        found.stop()
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", found.port), 2)


def _answer(port: int, origin: str) -> str:
    """The first line of the answer to a page from somewhere that wants to be served."""
    asked = (
        f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: {origin}\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), 5) as wire:
        wire.sendall(asked.encode())
        return wire.recv(200).decode().splitlines()[0]


def test_pages_of_other_sites_are_refused() -> None:
    found = fa.studio(BAR, browser=False, port=8410)
    try:
        assert "403" in _answer(found.port, "http://elsewhere.example")
        assert "403" in _answer(found.port, "http://localhost.elsewhere.example")
        assert "101" in _answer(found.port, f"http://localhost:{found.port}")
        assert "101" in _answer(found.port, f"http://127.0.0.1:{found.port}")
    finally:
        found.stop()


def test_it_answers_to_names_of_this_machine_only() -> None:
    """Another site may give its own name this machine's address."""
    found = fa.studio(BAR, browser=False, port=8415)
    try:
        for name, expected in {"localhost": 200, "127.0.0.1": 200, "[::1]": 200, "localhost.evil.example": 403}.items():
            asked = urllib.request.Request(found.url, headers={"Host": f"{name}:{found.port}"})
            try:
                status = urllib.request.urlopen(asked, timeout=10).status
            except urllib.error.HTTPError as error:
                status = error.code
            assert status == expected, name
    finally:
        found.stop()


def test_address_of_version_six_has_brackets() -> None:
    found = object.__new__(server.Studio)
    found._host, found._server = "::1", type("Server", (), {"get_port": lambda self: 8080})()
    assert found.url == "http://[::1]:8080"


def test_page_has_the_studios_script() -> None:
    """Packed or not; the limit of files is the server's own."""
    found = fa.studio(BAR, browser=False, port=8420)
    try:
        for packing in ("gzip", "identity"):
            asked = urllib.request.Request(found.url, headers={"Accept-Encoding": packing})
            with urllib.request.urlopen(asked, timeout=10) as page:
                text = page.read().decode()
                assert int(page.headers["Content-Length"]) == len(text.encode())
            assert f"const LARGEST = {LARGEST};" in text
            assert "<title>flexarm studio</title>" in text
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{found.url}/nowhere.js", timeout=10)
    finally:
        found.stop()


def test_robot_file_is_read_after_the_server_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong then leaves no server behind."""
    found = fa.studio("examples/two_link.yaml", browser=False, port=8430)
    assert found._start.robot.name == "two-link flexible arm"
    found.stop()

    def never(*_: object) -> None:
        raise ValueError("it cannot be")

    monkeypatch.setattr(startup, "beginning", never)
    with pytest.raises(ValueError, match="it cannot be"):
        fa.studio("examples/two_link.yaml", browser=False, port=8440)
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", 8440), 2)


def test_browser_that_leaves_early_leaves_no_page() -> None:
    found = fa.studio(BAR, browser=False, port=8450)
    try:
        client = Client(7)
        found._left(client)  # before its page was made
        found._opened(client)
        assert not found.pages
        found._opened(Client(8))
        assert list(found.pages) == [8]
    finally:
        found.stop()
    found._opened(Client(9))
    assert not found.pages


def test_arguments_are_checked_before_a_server_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_viser", lambda *_: pytest.fail("a server was started"))
    run = fa.simulate(BAR, 0.01, native=False)
    with pytest.raises(TypeError, match="must be a Robot, a Run, or the name of a file"):
        fa.studio(3)
    with pytest.raises(TypeError, match="duration = 2: a run is computed already"):
        fa.studio(run, duration=2)
    with pytest.raises(ValueError, match="port = 99999: must be a whole number"):
        run.show(port=99999)
    with pytest.raises(TypeError, match="host = None"):
        fa.studio(BAR, host=None)
    with pytest.raises(fa.DescriptionError, match=r"nowhere\.yaml"):
        fa.studio("nowhere.yaml")
    with pytest.raises(TypeError, match="unknown option 'durtion'"):
        fa.studio(BAR, durtion=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"torque": {"b": 1.0}}, r"torque\.b: there is no such actuator; there are a"),
        ({"duration": -1}, "duration = -1: must be positive"),
        ({"torque": {"a": fa.bang_bang(1.0, (0.1, 0.2))}, "sample": 7.0}, "sample = 7: must be at most the duration"),
        ({"q0": {"c.q": 1.0}}, "there is no such coordinate"),
    ],
)
def test_what_cannot_be_computed_is_raised_at_the_call(monkeypatch: pytest.MonkeyPatch, options, said: str) -> None:
    monkeypatch.setattr(server, "_viser", lambda *_: pytest.fail("a server was started"))
    with pytest.raises(ValueError, match=said):
        fa.studio(BAR, browser=False, **options)


def test_file_that_cannot_be_computed_leaves_no_server(tmp_path: Path) -> None:
    file = tmp_path / "bar.yaml"
    file.write_text("links: [{name: a, length: 1, mass: 1}]\nsimulation: {duration: 1, torque: {b: 1.0}}\n")
    with pytest.raises(ValueError, match=r"bar\.yaml:2: simulation\.torque\.b: there is no such actuator"):
        fa.studio(file, browser=False, port=8460)
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", 8460), 2)


def test_run_that_begins_is_not_waited_for() -> None:
    """All that is given is right once the first step is taken."""

    def slow(t, q, v):
        time.sleep(0.05)
        return {"a": 0.0}

    begin = time.monotonic()
    found = fa.studio(BAR, browser=False, port=8470, duration=10.0, torque=fa.Feedback(slow, rate=100.0), native=False)
    try:
        assert time.monotonic() - begin < server.BEGINNING
        assert found._problem is None
        assert not found._begun.is_set()
    finally:
        found.stop()


def test_run_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(server, "studio", lambda run, **options: given.append((run, options)))
    run = fa.simulate(BAR, 0.01, native=False)
    run.show(browser=False, port=8111)
    assert given == [(run, {"host": "127.0.0.1", "port": 8111, "browser": False})]
    assert isinstance(run, Run)


def test_missing_viser_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'viser>=1\.1'"):
        fa.studio(BAR, browser=False)


def test_pages_do_without_matplotlib() -> None:
    """It takes half a second, for which the arm would wait; whoever draws a figure imports it."""
    asked = "import sys, flexarm.studio.page; sys.exit('matplotlib.figure' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0


def test_room_is_what_is_called() -> None:
    """Whatever was imported first."""
    import inspect
    import re

    import flexarm.studio.mesh_frames as film
    from flexarm.studio.server import studio

    assert fa.studio.film is film
    assert callable(fa.studio)
    for name in inspect.signature(studio).parameters:
        assert re.search(rf"\b{name}\b", studio.__doc__ or ""), name
