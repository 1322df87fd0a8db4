"""The order in which compilers are looked for: $CC, compilers on the path, the package ziglang, none."""

import importlib
import importlib.util
import logging
import os
import shutil
import sys
import tomllib
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import flexarm as fa
from flexarm.codegen import cache, compiler
from flexarm.codegen.library import Library, compiled
from flexarm.codegen.simd_library import LaneLibrary

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
HAS_ZIGLANG = importlib.util.find_spec("ziglang") is not None
needs_shell = pytest.mark.skipif(os.name != "posix", reason="the compilers here are shell scripts")
needs_compiler = pytest.mark.skipif(CC is None, reason="no C compiler on this machine")


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A path without compilers, no $CC, no ziglang, an empty cache; returns the folder on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_said", set())
    monkeypatch.setitem(sys.modules, "ziglang", None)  # as if it were not installed
    return folder


def program(path, text="exit 0"):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def ziglang(bare, monkeypatch, tmp_path):
    """A package of that name whose compiler is the system's; it writes down where it keeps things."""
    package = tmp_path / "packages" / "ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.delitem(sys.modules, "ziglang")
    monkeypatch.syspath_prepend(package.parent)
    importlib.invalidate_caches()
    return program(
        package / "zig",
        f"""[ "$1" = cc ] && [ "$2" = -mcpu=baseline ] || exit 7
        shift 2
        echo "$ZIG_LOCAL_CACHE_DIR" > {tmp_path}/local
        echo "$ZIG_GLOBAL_CACHE_DIR" > {tmp_path}/global
        PATH={os.defpath} exec {CC} "$@" """,
    )


def function() -> ca.Function:
    x = ca.SX.sym("x")
    return ca.Function("f", [x], [ca.sin(x) * x + 1])


@needs_shell
def test_compilers_on_the_path_come_before_ziglang_and_cc_before_both(bare, ziglang, monkeypatch, tmp_path):
    assert compiler.find_compiler() == (ziglang, "cc", *compiler.ZIG_FLAGS)
    for name in ("clang", "gcc", "cc"):
        assert compiler.find_compiler() != (path := program(bare / name),)
        assert compiler.find_compiler() == (path,)
    named = program(tmp_path / "other")
    monkeypatch.setenv("CC", f"{named} -g")
    assert compiler.find_compiler() == (named, "-g")
    monkeypatch.setenv("CC", "no-such-compiler")  # what is named is meant: nothing else is taken
    assert compiler.find_compiler() is None


@needs_shell
def test_a_package_without_its_program_is_no_compiler(ziglang):
    os.chmod(ziglang, 0o644)
    assert compiler.find_compiler() is None
    os.unlink(ziglang)
    assert compiler.find_compiler() is None


@needs_shell
@needs_compiler
def test_ziglang_makes_libraries_of_its_own(ziglang, monkeypatch, tmp_path):
    found = compiled(function())
    assert float(found(0.7)) == float(function()(0.7))
    own = tmp_path / "cache"
    assert [each.suffix for each in own.iterdir()] == [".so"]
    monkeypatch.setenv("CC", CC)
    monkeypatch.setenv("PATH", os.defpath)
    compiled(function())
    assert len(list(own.iterdir())) == 2  # another compiler, another library
    # what it keeps of one source is deleted with the folder of the build; its own libraries stay
    local = (tmp_path / "local").read_text().strip()
    assert local.startswith(f"{own}{os.sep}.build-")
    assert not os.path.exists(local)
    assert (tmp_path / "global").read_text().strip() == str(own / "zig")


@needs_shell
@needs_compiler
def test_where_zig_keeps_its_libraries_can_be_set(ziglang, monkeypatch, tmp_path):
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", "/elsewhere")
    compiled(function())
    assert (tmp_path / "global").read_text().strip() == "/elsewhere"


@needs_shell
def test_the_first_call_of_zig_may_take_longer(ziglang, monkeypatch, tmp_path):
    waited = []
    monkeypatch.setattr(compiler.subprocess.Popen, "wait", lambda process, timeout=None: waited.append(timeout) or 0)
    for command in ((program(tmp_path / "plain"),), compiler.find_compiler()):
        compiler.compile_library(command, "int x;", tmp_path / "f.c")
    assert waited[1] == pytest.approx(waited[0] + compiler.ZIG_PATIENCE)


@needs_shell
def test_a_ziglang_that_fails_costs_only_speed(ziglang, caplog):
    program(Path(ziglang), "echo 'error: no space left' >&2; exit 1")
    assert float(compiled(function())(0.7)) == float(function()(0.7))
    assert "error: no space left" in caplog.text


def test_without_any_compiler_one_line_says_how_to_get_one(bare, caplog):
    with caplog.at_level(logging.WARNING, logger="flexarm"):
        for _ in range(2):
            runner = Library(["f"], lambda: [function()]).built()[0]
            assert LaneLibrary(["f"], lambda: [function()], None).loaded is None
    assert runner.library is None
    (record,) = caplog.records
    message = record.getMessage()
    assert "no C compiler found (tried cc, gcc, clang, the Python package ziglang)" in message
    assert f"pip install '{compiler.ZIG_REQUIREMENT}'" in message
    assert "\n" not in message


def test_the_package_in_the_message_is_that_of_the_extra():
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert declared["optional-dependencies"]["compiler"] == [compiler.ZIG_REQUIREMENT]


def test_without_any_compiler_runs_give_the_same_numbers(bare):
    arm = fa.library.two_link_arm()
    options = {"torque": {"upper": 0.1}, "sample": 0.05}
    found = fa.simulate(arm, 0.1, native=True, **options)
    assert_array_equal(found.tip, fa.simulate(arm, 0.1, native=False, **options).tip)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_ZIGLANG, reason="no ziglang")
def test_the_real_ziglang_gives_the_digits_of_the_virtual_machine(bare, monkeypatch, caplog):
    monkeypatch.delitem(sys.modules, "ziglang")
    assert compiler.is_zig(compiler.find_compiler())
    arm = fa.library.two_link_arm()
    options = {"torque": {"upper": 0.1}, "sample": 0.05}
    found = fa.simulate(arm, 0.2, native=True, **options)
    assert_array_equal(found.tip, fa.simulate(arm, 0.2, native=False, **options).tip)
    made = LaneLibrary(["f"], lambda: [function()], None)
    assert made.loaded is not None
    assert np.isfinite(found.tip).all()
    assert caplog.records == []
