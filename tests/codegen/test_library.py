"""Compiled code: same digits, cached, safe with several processes, and not required."""

import logging
import multiprocessing
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import flexarm as fa
from flexarm.codegen import cache, compiler
from flexarm.codegen import library as library_module
from flexarm.foundation import files

needs_compiler = pytest.mark.skipif(compiler.find_compiler() is None, reason="no C compiler on this machine")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path / "cache"))
    cache._said.clear()
    files._swept.clear()
    return tmp_path / "cache"


def function(scale: float = 1.0) -> ca.Function:
    x = ca.SX.sym("x", 2)
    return ca.Function("f", [x], [scale * ca.sin(x[0]) * x[1]])


@needs_compiler
def test_compiled_functions_give_the_same_digits_as_the_virtual_machine():
    arm = fa.library.two_link_arm()
    compiled, virtual = fa.System(arm, native=True), fa.System(arm, native=False)
    q, v, a = np.random.default_rng(1).normal(size=(3, 5, virtual.nq)) * 0.1
    assert_array_equal(compiled.inverse_dynamics(q, v, a), virtual.inverse_dynamics(q, v, a))
    assert_array_equal(compiled.forward_dynamics(q, v, a), virtual.forward_dynamics(q, v, a))


@needs_compiler
def test_a_warm_cache_runs_no_compiler(own_cache, monkeypatch):
    library_module.compiled(function())
    assert [path.suffix for path in own_cache.iterdir()] == [".so"]
    monkeypatch.setattr(library_module, "compile_library", lambda *_: pytest.fail("the compiler ran"))
    again = library_module.compiled(function())
    assert float(again([1.0, 2.0])) == 2 * np.sin(1.0)


@needs_compiler
def test_another_source_or_compiler_is_another_file(own_cache, monkeypatch):
    library_module.compiled(function())
    library_module.compiled(function(2.0))
    monkeypatch.setattr(library_module, "COMPILER_FLAGS", (*library_module.COMPILER_FLAGS, "-g"))
    library_module.compiled(function())
    assert len(list(own_cache.iterdir())) == 3


def compile_and_call(scale: float) -> float:
    return float(library_module.compiled(function(scale))([1.0, 2.0]))


@needs_compiler
def test_many_processes_may_compile_the_same_function_at_once(own_cache):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        results = pool.map(compile_and_call, [3.0] * 8)
    assert results == [6 * np.sin(1.0)] * 8
    assert len(list(own_cache.iterdir())) == 1


def test_without_a_compiler_one_line_says_so_and_the_numbers_are_right(monkeypatch, caplog):
    monkeypatch.setenv("CC", "no-such-compiler")
    with caplog.at_level(logging.WARNING, logger="flexarm"):
        system = fa.System(fa.library.two_link_arm(), native=True)
        system.mass_matrix()
        system.gravity()
    assert len(caplog.records) == 1
    assert "no C compiler found (tried $CC = 'no-such-compiler')" in caplog.text
    assert_array_equal(system.mass_matrix(), fa.System(fa.library.two_link_arm(), native=False).mass_matrix())


def test_a_compiler_that_fails_is_reported_with_its_first_line(tmp_path, monkeypatch, caplog):
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho 'fatal: out of registers' >&2\nexit 1\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(broken))
    assert compile_and_call(1.0) == 2 * np.sin(1.0)
    assert "fatal: out of registers" in caplog.text


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="the compilers here are shell scripts")
def test_a_compiler_that_never_returns_costs_only_speed(tmp_path, monkeypatch, caplog, own_cache):
    never = tmp_path / "never-cc"
    never.write_text("#!/bin/sh\nsleep 1000\n")
    never.chmod(never.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(never))
    monkeypatch.setattr(compiler, "MIN_TIMEOUT_S", 0.1)
    assert compile_and_call(1.0) == 2 * np.sin(1.0)
    assert "compiling 'f' failed (the compiler did not end within" in caplog.text
    assert list(own_cache.iterdir()) == []


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="the compilers here are shell scripts")
def test_a_run_with_a_compiler_that_never_returns_ends(tmp_path, monkeypatch, caplog, own_cache):
    never = tmp_path / "never-cc"
    never.write_text(f"#!/bin/sh\necho called >> {tmp_path}/calls\nsleep 1000\n")
    never.chmod(never.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(never))
    monkeypatch.setattr(compiler, "MIN_TIMEOUT_S", 0.5)
    monkeypatch.setattr(compiler, "PATIENCE_PER_BYTE", 0.0)
    arm = fa.library.two_link_arm().with_({"name": "never compiled", "gravity": (0.0, -1.0, 0.3)})
    run = fa.simulate(arm, 0.05, native=True)
    assert_array_equal(run.array("q"), fa.simulate(arm, 0.05, native=False).array("q"))
    assert fa.Simulation(arm, native=True).t == 0
    assert "the compiler did not end within" in caplog.text
    assert (tmp_path / "calls").read_text().split() == ["called"]


@needs_compiler
@pytest.mark.skipif(os.name == "nt", reason="directories cannot be made unwritable this way")
def test_a_cache_that_cannot_be_written_costs_only_the_caching(tmp_path, monkeypatch, caplog):
    blocked = tmp_path / "file-in-the-way"
    blocked.write_text("")
    monkeypatch.setenv("FLEXARM_CACHE", str(blocked / "cache"))
    assert compile_and_call(1.0) == 2 * np.sin(1.0)
    assert "cannot be written" in caplog.text


@needs_compiler
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"not a library",
        lambda content: content[: len(content) // 2],  # SIGBUS when it is loaded
        lambda content: content[:64] + bytes(len(content) - 64),  # SIGSEGV
        lambda content: content[:-1],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    ],
)
def test_a_damaged_file_in_the_cache_is_made_anew(own_cache, caplog, damage):
    library_module.compiled(function(7.0))
    (library,) = own_cache.iterdir()
    sound = library.read_bytes()
    library.unlink()  # what is loaded stays loaded: the damaged file must be another one
    library.write_bytes(damage(sound))
    assert compile_and_call(7.0) == 14 * np.sin(1.0)
    assert list(own_cache.iterdir()) == [library]
    assert library.stat().st_size == len(sound)
    assert not caplog.records


@needs_compiler
def test_a_library_that_this_system_cannot_load_is_made_anew(own_cache, monkeypatch):
    """As on a computer that shares the home folder but not the system's libraries."""
    library_module.compiled(function(3.0))
    (library,) = own_cache.iterdir()
    key = library.stem.removeprefix("f-")
    (foreign := own_cache / "foreign").write_bytes(b"for another machine")
    library.unlink()
    cache._seal(foreign, library, key)
    foreign.unlink()
    assert cache._sound(library, key)
    assert compile_and_call(3.0) == 6 * np.sin(1.0)


def test_an_unbalanced_quote_names_no_compiler(monkeypatch, caplog):
    monkeypatch.setenv("CC", '"')
    assert compile_and_call(1.0) == compile_and_call(0.5) * 2
    assert len(caplog.records) == 1
    assert """no C compiler found (tried $CC = '"')""" in caplog.text


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="the compilers here are shell scripts")
@pytest.mark.parametrize(("script", "said"), [("exit 1", "exit status 1"), ('echo "$6: bad" >&2; exit 1', "f.c: bad")])
def test_many_threads_report_a_failing_compiler_once(tmp_path, monkeypatch, caplog, script, said):
    broken = tmp_path / "broken-cc"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(broken))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(compile_and_call, [1.0] * 10)) == [2 * np.sin(1.0)] * 10
    (record,) = caplog.records
    assert f"compiling 'f' failed ({said})" in record.getMessage()


@needs_compiler
def test_compiled_code_that_cannot_be_kept_is_removed_at_the_end(tmp_path):
    blocked, temporary = tmp_path / "file-in-the-way", tmp_path / "temporary"
    blocked.write_text("")
    temporary.mkdir()
    code = """if True:
        import casadi as ca, os, tempfile
        from flexarm.codegen import library as library_module
        x = ca.SX.sym("x")
        f = library_module.compiled(ca.Function("f", [x], [2 * x]))
        print(float(f(3.0)), len(os.listdir(tempfile.gettempdir())))
    """
    environment = {**os.environ, "FLEXARM_CACHE": str(blocked / "cache"), "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["6.0", "1"]
    assert list(temporary.iterdir()) == []


@needs_compiler
def test_what_is_kept_by_what_it_depends_on_is_not_made_again(own_cache, monkeypatch):
    def value(make, depends):
        return float(library_module.Library(["f"], make, [depends]).built()[0].function([1.0, 2.0]))

    assert library_module.Library(["f"], lambda: pytest.fail("made"), ["three"]).found() is None
    assert value(lambda: [function(3.0)], "three") == 6 * np.sin(1.0)
    assert value(lambda: pytest.fail("made again"), "three") == 6 * np.sin(1.0)
    assert library_module.Library(["f"], lambda: pytest.fail("made again"), ["three"]).found() is not None
    assert value(lambda: [function(4.0)], "four") == 8 * np.sin(1.0)
    monkeypatch.setattr(library_module, "CODE_VERSION", ("edited",))  # code that has changed makes everything anew
    assert value(lambda: [function(5.0)], "three") == 10 * np.sin(1.0)


@needs_compiler
def test_a_robot_simulated_before_is_not_traced_again(own_cache, monkeypatch):
    from flexarm.integrators.methods.method import Method

    def run(length):
        link = fa.Link("arm", length, mass=1.0)
        return fa.simulate(fa.System(fa.Robot(links=[link])), 0.1, torque={"arm": 1.0})["arm.q"].values[-1]

    first, longer = run(1.0), run(2.0)
    assert longer == pytest.approx(first / 4, rel=1e-6)
    monkeypatch.setattr(Method, "step", lambda *_: pytest.fail("traced again"))
    assert run(1.0) == first
    assert run(2.0) == longer


def test_code_in_any_file_that_is_run_counts():
    """All modules that a run imports are among those whose content is part of the key."""
    code = """if True:
        import sys
        import flexarm as fa
        fa.simulate(fa.library.two_link_arm(), 0.001, native=False)
        print(*(module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "flexarm"), sep="\\n")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    package = Path(library_module.__file__).parents[1]
    run = set(done.stdout.splitlines())
    assert {"foundation", "robot", "beam", "dynamics", "simulation"} <= {Path(path).parent.name for path in run}
    assert run <= set(cache.sources(package))
    assert library_module.CODE_VERSION[1] == cache.fingerprint(package)
