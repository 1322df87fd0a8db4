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
from flexarm.studio import files, server
from flexarm.studio.server import MAX_FILE_BYTES
from tests.studio.browserless import Client

BAR = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])


def _address_of_this_machine() -> str | None:
    """Return an address at which other machines can reach this one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))  # sends nothing
            found = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if found.startswith("127.") else found


def test_only_this_machine_can_connect() -> None:
    found = fa.studio(BAR, browser=False, port=8400)
    try:
        assert found.url == f"http://localhost:{found.port}"
        socket.create_connection(("127.0.0.1", found.port), 5).close()
        other = _address_of_this_machine()
        if other is not None:
            with pytest.raises(OSError, match=r"."):
                socket.create_connection((other, found.port), 2)
        assert f"{found.port}" in found._repr_html_()
        again = fa.studio(BAR, browser=False, port=found.port)  # a used port is skipped
        assert again.port != found.port
        again.stop()
    finally:
        found.stop()
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", found.port), 2)


def _answer(port: int, origin: str) -> str:
    """Return the first line of the answer to a WebSocket request from an origin."""
    request = (
        f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: {origin}\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), 5) as wire:
        wire.sendall(request.encode())
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


def test_other_host_names_are_refused() -> None:
    """Another site could resolve its own name to this machine's address."""
    found = fa.studio(BAR, browser=False, port=8415)
    try:
        for name, expected in {"localhost": 200, "127.0.0.1": 200, "[::1]": 200, "localhost.evil.example": 403}.items():
            request = urllib.request.Request(found.url, headers={"Host": f"{name}:{found.port}"})
            try:
                status = urllib.request.urlopen(request, timeout=10).status
            except urllib.error.HTTPError as error:
                status = error.code
            assert status == expected, name
    finally:
        found.stop()


def test_ipv6_address_has_brackets() -> None:
    found = object.__new__(server.Studio)
    found._host, found._server = "::1", type("Server", (), {"get_port": lambda self: 8080})()
    assert found.url == "http://[::1]:8080"


def test_page_contains_the_script() -> None:
    """With the server's own size limit, compressed or not."""
    found = fa.studio(BAR, browser=False, port=8420)
    try:
        for packing in ("gzip", "identity"):
            request = urllib.request.Request(found.url, headers={"Accept-Encoding": packing})
            with urllib.request.urlopen(request, timeout=10) as page:
                text = page.read().decode()
                assert int(page.headers["Content-Length"]) == len(text.encode())
            assert f"const MAX_FILE_BYTES = {MAX_FILE_BYTES};" in text
            assert "<title>flexarm studio</title>" in text
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{found.url}/nowhere.js", timeout=10)
    finally:
        found.stop()


def test_robot_file_is_read_after_the_server_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors at that time stop the server."""
    found = fa.studio("examples/two_link.yaml", browser=False, port=8430)
    assert found._start.robot.name == "two-link flexible arm"
    found.stop()

    def never(*_: object) -> None:
        raise ValueError("it cannot be")

    monkeypatch.setattr(files, "resolve_start", never)
    with pytest.raises(ValueError, match="it cannot be"):
        fa.studio("examples/two_link.yaml", browser=False, port=8440)
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", 8440), 2)


def test_early_disconnect_leaves_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fa.studio(BAR, browser=False, port=8450)
    try:
        monkeypatch.setattr(found._server, "get_clients", lambda: {8: None})
        found._on_connect(Client(7))  # it disconnected before its page existed
        assert not found.pages
        found._on_connect(Client(8))
        assert list(found.pages) == [8]
    finally:
        found.stop()
    found._on_connect(Client(9))
    assert not found.pages


def test_arguments_are_checked_before_a_server_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_start_viser", lambda *_: pytest.fail("a server was started"))
    run = fa.simulate(BAR, 0.01, native=False)
    with pytest.raises(TypeError, match="must be a Robot, a Run, or the name of a file"):
        fa.studio(3)
    with pytest.raises(TypeError, match="duration = 2: a run is already computed"):
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
    ("options", "message"),
    [
        ({"torque": {"b": 1.0}}, r"torque\.b: there is no such actuator; there are a"),
        ({"duration": -1}, "duration = -1: must be positive"),
        ({"torque": {"a": fa.bang_bang(1.0, (0.1, 0.2))}, "sample": 7.0}, "sample = 7: must be at most the duration"),
        ({"q0": {"c.q": 1.0}}, "there is no such coordinate"),
    ],
)
def test_invalid_simulations_raise_in_the_caller(monkeypatch: pytest.MonkeyPatch, options, message: str) -> None:
    monkeypatch.setattr(server, "_start_viser", lambda *_: pytest.fail("a server was started"))
    with pytest.raises(ValueError, match=message):
        fa.studio(BAR, browser=False, **options)


def test_invalid_file_leaves_no_server(tmp_path: Path) -> None:
    file = tmp_path / "bar.yaml"
    file.write_text("links: [{name: a, length: 1, mass: 1}]\nsimulation: {duration: 1, torque: {b: 1.0}}\n")
    with pytest.raises(ValueError, match=r"bar\.yaml:2: simulation\.torque\.b: there is no such actuator"):
        fa.studio(file, browser=False, port=8460)
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", 8460), 2)


def test_call_returns_while_the_first_run_is_computed() -> None:
    """The arguments are known to be valid after the first step."""

    def slow(t, q, v):
        time.sleep(0.05)
        return {"a": 0.0}

    begin = time.monotonic()
    found = fa.studio(BAR, browser=False, port=8470, duration=10.0, torque=fa.Feedback(slow, rate=100.0), native=False)
    try:
        assert time.monotonic() - begin < server.STARTUP_TIMEOUT_S
        assert not found._first_result.done()
    finally:
        found.stop()


def test_show_opens_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(server, "studio", lambda run, **options: given.append((run, options)))
    run = fa.simulate(BAR, 0.01, native=False)
    run.show(browser=False, port=8111)
    assert given == [(run, {"host": "127.0.0.1", "port": 8111, "browser": False})]
    assert isinstance(run, Run)


def test_missing_viser_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'viser>=1\.1'"):
        fa.studio(BAR, browser=False)


def test_pages_do_not_import_matplotlib() -> None:
    """Importing it takes half a second; figures import it when they are drawn."""
    code = "import sys, flexarm.studio.page; sys.exit('matplotlib.figure' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_arguments_of_studio_are_documented() -> None:
    import inspect
    import re

    from flexarm.studio.server import studio

    assert fa.studio is studio
    for name in inspect.signature(studio).parameters:
        assert re.search(rf"\b{name}\b", studio.__doc__ or ""), name
