"""Steps in the virtual machine first, then as machine code: the same digits, one compiler, and a clean end."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen import compiler
from flexarm.integrators import compiled_step

pytestmark = pytest.mark.skipif(compiler.find_compiler() is None, reason="no C compiler on this machine")
needs_shell = pytest.mark.skipif(os.name != "posix", reason="the compilers here are shell scripts")

ROD = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=1.0)], gravity=(0, -9.81, 0))
ARM = fa.library.two_link_arm(damping=1e-3)
FOUR_BAR = fa.Robot(
    links=[
        fa.Link("crank", 0.5, mass=1.0),
        fa.Link("coupler", 1.0, mass=1.0),
        fa.Link("rocker", 0.8, mass=1.0, parent="ground", offset=(1.0, 0.0, 0.0)),
    ],
    constraints=[fa.Loop("coupler", "rocker")],
)
PUSH = {"torque": {"upper": fa.bang_bang(0.02, (0.2, 0.4))}}

CASES = {
    "arm": (ARM, PUSH),
    "explicit": (ARM, PUSH | {"method": "rk45"}),
    "driven": (ARM, {"motion": {"upper": fa.cycloid(0.0, 0.5, 0.4)}}),
    "law": (ARM, {"torque": lambda t, q, v: [0.01 - 0.1 * v[0], -0.01 * v["fore.q"]]}),
    "digital": (ARM, {"torque": fa.Feedback(lambda t, q, v: [0.01 - 0.1 * v[0], -0.01 * v["fore.q"]], rate=100)}),
    "load": (ARM, {"loads": [fa.PointLoad("fore", force=(0.0, 0.05, 0.0))]}),
    "four-bar": (FOUR_BAR, {"torque": {"crank": 1.0}, "q0": [1.57, -1.3, 1.2]}),
}


def simulated(robot=ROD, duration=0.5, **options):
    return fa.simulate(robot, duration, **{"rtol": 1e-5, "sample": 0.01, **options})


def digits(run):
    energies = [run.energy[name].values for name in ("kinetic", "elastic", "gravity")]
    return np.column_stack([run.time.values, run.data["q"].values, run.data["v"].values, run.tip.values, *energies])


@pytest.mark.parametrize("name", CASES)
def test_a_change_over_in_the_middle_of_a_run_changes_no_digit(compiled, changed_over, name, monkeypatch):
    monkeypatch.setattr("flexarm.simulation.integration.STEP_COUNT", 4)
    robot, options = CASES[name]
    mixed = simulated(robot, **options)
    assert len(changed_over) == 1  # one call of the virtual machine,
    assert mixed.statistics["chunks"] > 1  # and then others
    assert len(compiled) == 1
    for native in (False, True):
        np.testing.assert_array_equal(digits(simulated(robot, native=native, **options)), digits(mixed))
    assert len(compiled) == 1


def test_true_compiles_before_the_first_step_and_false_never(compiled, monkeypatch):
    monkeypatch.setattr(compiled_step.CompiledMethod, "spend", lambda *_: pytest.fail("ran in the virtual machine"))
    simulated(duration=0.01, native=False)
    assert compiled == []
    simulated(duration=0.01, native=True)
    assert len(compiled) == 1
    simulated(duration=0.01)
    assert len(compiled) == 1


def test_a_short_run_starts_no_compiler(compiled, monkeypatch):
    monkeypatch.setattr(compiled_step, "COMPILE_TIME_S", 1e3)
    simulated()
    assert compiled == []
    assert not compiled_step._threads


def test_the_time_of_several_runs_is_added_up(compiled, monkeypatch):
    monkeypatch.setattr(compiled_step.CompiledMethod, "_compile_time", 1.0)
    simulated()
    (one,) = compiled_step._codes.values()
    first = one._spent
    assert first > 0
    simulated()
    assert one._spent > first


def test_code_in_the_cache_is_taken_at_once(compiled, changed_over):
    first = simulated()
    compiled_step._codes.clear()
    again = simulated()
    assert len(changed_over) == len(compiled) == 1
    np.testing.assert_array_equal(digits(again), digits(first))


def test_more_iterations_are_the_same_code(compiled, changed_over):
    """A step decides for itself how many it takes."""
    simulated(q0=[1.5], dt=0.25, duration=2.5)
    simulated(q0=[1.5], dt=0.01, duration=2.5)
    assert len(compiled) == len(changed_over) == 1


def test_many_runs_at_once_start_one_compiler(compiled, monkeypatch):
    monkeypatch.setattr(compiled_step, "COMPILE_SHARE", 0.0)
    monkeypatch.setattr("flexarm.simulation.integration.STEP_COUNT", 4)
    count, found = 6, {}
    go = threading.Barrier(count)

    def work(k):
        go.wait()
        found[k] = digits(simulated(ARM, torque={"upper": 0.01 * k}, native=k == 0 or "auto"))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(compiled) == 1
    for k in range(count):
        np.testing.assert_array_equal(found[k], digits(simulated(ARM, torque={"upper": 0.01 * k}, native=False)))


# --- compilers that fail, or do not end ---


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Sets a shell script as the compiler."""

    def write(text, name="cc"):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
        monkeypatch.setenv("CC", str(path))

    return write


@needs_shell
def test_a_compiler_that_fails_is_tried_once(compiled, changed_over, script, caplog, monkeypatch):
    script("echo broken >&2; exit 1")
    monkeypatch.setattr("flexarm.simulation.integration.STEP_COUNT", 4)
    with caplog.at_level(logging.WARNING, logger="flexarm"):
        runs = [simulated(ARM, native=native, **PUSH) for native in ("auto", "auto", True)]
    assert len(compiled) == 1
    assert [each.getMessage() for each in caplog.records] == [
        f"flexarm: compiling '{compiled_step.FUNCTION_NAMES[0]}' failed (broken); "
        "computing in CasADi's virtual machine, ~10x slower"
    ]
    for each in runs:
        np.testing.assert_array_equal(digits(each), digits(runs[0]))
    monkeypatch.delenv("CC")
    del changed_over[:]
    simulated(ARM, **PUSH)  # another compiler may do it
    assert len(compiled) == 2
    assert len(changed_over) == 1


def test_without_a_compiler_one_line_says_so(compiled, changed_over, monkeypatch, caplog):
    monkeypatch.setenv("CC", "no-such-compiler")
    for _ in range(2):
        assert simulated().status == "completed"
    assert compiled == []
    assert len(caplog.records) == 1
    assert "no C compiler found" in caplog.text


def test_where_no_thread_can_be_started_the_virtual_machine_goes_on(compiled, monkeypatch, caplog):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(compiled_step, "COMPILE_SHARE", 0.0)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert simulated().status == "completed"
    assert compiled == []
    assert not compiled_step._threads
    assert not caplog.records


PROGRAM = """
import os, signal, sys, threading, time, warnings
import flexarm as fa
from flexarm.codegen import compiler
from flexarm.integrators import compiled_step as code

rod = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=1.0)], gravity=(0, -9.81, 0))

def alive():
    return [each.pid for each in compiler._running.processes if each.poll() is None]

def wait_for_compiler():
    while not alive():
        time.sleep(0.01)

code.COMPILE_SHARE = 0.0
"""


def program(lines, tmp_path, **environment):
    """Runs it with a compiler that does not end; what it prints, its messages, and when each of its lines came."""
    never = tmp_path / "never-cc"
    never.write_text("#!/bin/sh\nsleep 1000\n")
    never.chmod(0o700)
    cache = tmp_path / "own-cache"
    variables = {**os.environ, "CC": str(never), "FLEXARM_CACHE": str(cache), **environment}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + lines], env=variables, capture_output=True, text=True, timeout=120
    )
    ended = time.time()
    return done.stdout.split(), done.stderr, [each.name for each in cache.iterdir()], ended


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@needs_shell
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks /proc which processes run")
def test_a_program_that_ends_stops_its_compiler_and_leaves_nothing(tmp_path):
    lines = """
print(fa.simulate(rod, 1.0).status)
wait_for_compiler()
print(*alive(), time.time())
"""
    (status, pid, last), said, left, ended = program(lines, tmp_path)
    assert status == "completed"
    assert said == ""
    assert left == []
    assert gone(pid)
    assert ended - float(last) < 60  # it does not wait for a compiler that sleeps a thousand seconds


@needs_shell
def test_a_program_that_ends_while_the_source_is_written_starts_no_compiler(tmp_path):
    lines = """
from flexarm.codegen.library import Library
write = Library.write
Library.write = lambda self: (writing.set(), time.sleep(0.3), write(self))
writing = threading.Event()
fa.simulate(rod, 1.0)
writing.wait()
"""
    _, said, left, _ = program(lines, tmp_path)
    assert said == ""
    assert left == []


@needs_shell
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")
def test_an_interrupt_keeps_the_run_and_ends_no_compiler(tmp_path):
    lines = """
def press():
    wait_for_compiler()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press).start()
warnings.simplefilter("ignore")  # that it ended early
run = fa.simulate(rod, 1e5, q0=[0.5], dt=1e-3, sample=100.0)
print(run.status, len(alive()))
"""
    (status, compilers), said, left, _ = program(lines, tmp_path)
    assert status == "interrupted"
    assert compilers == "1"
    assert said == ""
    assert left == []


@needs_shell
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_compiles_for_itself(tmp_path):
    lines = """
fa.simulate(rod, 1.0)
wait_for_compiler()
child = os.fork()
if child == 0:
    del os.environ["CC"]
    print(fa.simulate(rod, 1.0, native=True).status, flush=True)
    print(next(iter(code._codes.values())).compiled is not None, flush=True)
    sys.exit()
os.waitpid(child, 0)
print(len(alive()))
"""
    out, said, left, _ = program(lines, tmp_path)
    assert out == ["completed", "True", "1"]
    assert said == ""
    assert [name.partition("-")[0] for name in left] == ["flexarm_step"]


@needs_shell
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_processes_of_a_pool_end_as_cleanly(tmp_path):
    lines = """
from multiprocessing import get_context

def work():
    fa.simulate(rod, 1.0)
    wait_for_compiler()
    print(*alive(), flush=True)

process = get_context("fork").Process(target=work)
process.start()
process.join()
"""
    (pid,), said, left, _ = program(lines, tmp_path)
    assert said == ""
    assert left == []
    assert gone(pid)


@needs_shell
def test_a_short_program_that_is_started_again_finds_its_code(tmp_path):
    """Its compiler is not done when it ends: it waits a little, so that the next one is fast."""
    lines = """
del os.environ["CC"]
code.COMPILE_SHARE, code.COMPILE_MARGIN, code.LONGEST_WAIT = 0.0, 1e3, 1e4
fa.simulate(rod, 1.0)
"""
    _, said, left, _ = program(lines, tmp_path)
    assert said == ""
    assert [name.partition("-")[0] for name in left] == ["flexarm_step"]
