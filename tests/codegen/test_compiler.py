import os
import stat
import time

import pytest

from flexarm.codegen import compiler

needs_shell = pytest.mark.skipif(os.name != "posix", reason="the compilers here are shell scripts")


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "cc"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return (str(path),)

    return write


def alive(pid):
    """Whether a process still runs; one that is only waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ended(pid):
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def pid_in(path):
    while not (path.exists() and path.read_text().strip()):
        time.sleep(0.01)
    return int(path.read_text())


@needs_shell
def test_the_library_stands_beside_the_source(tmp_path, script):
    # the arguments are five flags, the source, -o, the library, -lm
    built = compiler.compile_library(script('cp "$6" "$8"'), "int x;", tmp_path / "f.c")
    assert built == tmp_path / "f.so"
    assert built.read_text() == "int x;"


@needs_shell
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks /proc which processes run")
def test_a_compiler_that_never_returns_is_stopped_with_its_children(tmp_path, script, monkeypatch):
    monkeypatch.setattr(compiler, "MIN_TIMEOUT_S", 1.0)
    never = script(f"sleep 1000 & echo $! > {tmp_path}/child; cat; wait")
    with pytest.raises(RuntimeError, match="the compiler did not end within 1 s and was stopped"):
        compiler.compile_library(never, "int x;", tmp_path / "f.c")
    assert ended(pid_in(tmp_path / "child"))


@needs_shell
def test_a_compiler_that_did_not_end_is_called_once(tmp_path, script, monkeypatch):
    monkeypatch.setattr(compiler, "MIN_TIMEOUT_S", 1.0)
    never = script(f"echo called >> {tmp_path}/calls; sleep 1000")
    for _ in range(3):
        with pytest.raises(RuntimeError, match="the compiler did not end within 1 s and was stopped"):
            compiler.compile_library(never, "int x;", tmp_path / "f.c")
    assert (tmp_path / "calls").read_text().split() == ["called"]
    repaired = script('cp "$6" "$8"')
    os.utime(repaired[0], (1, 1))
    assert compiler.compile_library(repaired, "int x;", tmp_path / "f.c").exists()


@needs_shell
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks /proc which processes run")
def test_an_interrupt_ends_the_compiler_too(tmp_path, script, monkeypatch):
    wait = compiler.subprocess.Popen.wait

    def interrupted(process, timeout=None):
        if timeout is None:
            return wait(process)
        pid_in(tmp_path / "child")
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler.subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiler.compile_library(script(f"sleep 1000 & echo $! > {tmp_path}/child; wait"), "int x;", tmp_path / "f.c")
    assert ended(pid_in(tmp_path / "child"))


@needs_shell
def test_patience_grows_with_the_source_to_a_limit(tmp_path, script, monkeypatch):
    waited = []
    monkeypatch.setattr(compiler.subprocess.Popen, "wait", lambda process, timeout=None: waited.append(timeout) or 0)
    for size in (0, 1_000_000, 100_000_000):
        compiler.compile_library(script("exit 0"), "x" * size, tmp_path / "f.c")
    assert waited == pytest.approx([20.0, 120.0, 1800.0])
