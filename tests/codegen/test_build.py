"""What `run.statistics` says of the code that computed a run."""

import pytest

import flexarm as fa
from flexarm.codegen.compiler import COMPILER_FLAGS, Build, find_compiler
from flexarm.codegen.simd_library import widest

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
ROBOT = fa.library.two_masses()
KEYS = ("compiler", "compiler_flags", "lanes", "vector_math")


def build_of(run):
    return tuple(run.statistics[key] for key in KEYS)


@pytest.mark.parametrize("method", ["esdirk", "bdf"])
def test_of_the_virtual_machine(method):
    run = fa.simulate(ROBOT, 0.1, torque={"mass": 1.0}, native=False, method=method)
    assert build_of(run) == (None, "", 1, "")


def test_without_a_compiler_it_is_the_virtual_machine(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert build_of(fa.simulate(ROBOT, 0.1, native=True, dt=0.05)) == (None, "", 1, "")


@needs_compiler
def test_of_machine_code(tmp_path):
    run = fa.simulate(ROBOT, 0.1, torque={"mass": 1.0}, native=True, method="esdirk")
    compiler, *options = find_compiler()
    assert build_of(run) == (compiler, " ".join([*options, *COMPILER_FLAGS]), 1, "")
    run.save(tmp_path / "run.nc")
    assert build_of(fa.Run.load(tmp_path / "run.nc")) == build_of(run)


@needs_compiler
def test_of_members_in_lanes():
    found = fa.sweep(ROBOT, {"links.mass.mass": [0.8, 0.9, 1.0, 1.1]}, 0.2, torque={"mass": 1.0}, keep="runs")
    for run in found["run"].values:
        compiler, flags, lanes, vector_math = build_of(run)
        assert (compiler, lanes, vector_math) == (find_compiler()[0], widest().lanes, "sin, cos")
        assert flags.split()[len(flags.split()) - len(widest().flags) :] == list(widest().flags)
        assert "-O3" in flags.split()


def test_the_program_of_zig_is_told_from_its_options():
    found = Build.of(("/there/zig", "cc", "-mcpu=baseline"), ("-O1",))
    assert (found.compiler, found.compiler_flags) == ("/there/zig cc", "-mcpu=baseline -O1")
