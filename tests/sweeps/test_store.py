"""Nothing is lost: kill -9, Ctrl-C, other sweeps, damaged files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.store import Journal
from tests.sweeps.cases import BAR, QUICK, angle, known, swept

MASSES = np.linspace(1.0, 4.0, 20).tolist()
ROOT = Path(__file__).parent.parent.parent
PROGRAM = f"""
from tests.sweeps.cases import slow_angle, swept
found = swept({MASSES}, store="sweep.nc", measure={{"angle": slow_angle}})
print(found.attrs["status"], int((found["status"] == "completed").sum()), flush=True)
"""


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture
def program(tmp_path):
    """A sweep in another process, some of whose members are done."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    words = [sys.executable, "-c", PROGRAM]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(words, cwd=tmp_path, env=environment, **pipes)
    part = tmp_path / "sweep.nc.part"
    begin = time.monotonic()
    while lines(part) < 4:
        assert running.poll() is None, running.stderr.read()
        assert time.monotonic() - begin < 60
        time.sleep(0.01)
    yield running
    running.kill()
    running.communicate()


@pytest.fixture
def counted(monkeypatch):
    """Numbers of the members that were run."""
    numbers, real = [], tasks.compute

    def computed(sweep, threads, **how):
        for found in real(sweep, threads, **how):
            numbers.extend(found.numbers.tolist())
            yield found

    monkeypatch.setattr(tasks, "compute", computed)
    return numbers


def again(folder, **given):
    from tests.sweeps.cases import slow_angle

    return swept(MASSES, store=folder / "sweep.nc", measure={"angle": slow_angle}, **given)


def test_a_sweep_that_was_killed_goes_on_where_it_was(program, tmp_path, counted):
    program.kill()  # -9
    program.wait()
    part = tmp_path / "sweep.nc.part"
    assert not (tmp_path / "sweep.nc").exists()
    whole = part.read_bytes()
    done = lines(part) - 1
    part.write_bytes(whole + b'12345678 {"n":9,"val')  # half a line, of a program killed while it wrote
    found = again(tmp_path)
    assert len(counted) == len(MASSES) - done
    assert found["angle"].values == pytest.approx(known(MASSES))
    assert not part.exists()
    xr.testing.assert_equal(found.drop_vars("reason"), xr.load_dataset(tmp_path / "sweep.nc").drop_vars("reason"))


def test_ctrl_c_keeps_what_was_computed_and_nobody_else_writes(program, tmp_path, counted):
    with pytest.raises(OSError, match="another sweep is writing"):
        again(tmp_path)
    program.send_signal(signal.SIGINT)
    said, warned = program.communicate(timeout=30)
    assert said.startswith("interrupted ")
    assert "the same call goes on" in warned
    done = int(said.split()[1])
    assert 3 <= done < len(MASSES)
    found = again(tmp_path)
    assert len(counted) == len(MASSES) - done
    assert found["angle"].values == pytest.approx(known(MASSES))
    assert found.attrs["status"] == "completed"


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_ctrl_c_while_a_task_is_kept_loses_none_of_it(tmp_path, monkeypatch):
    """All that was computed together is kept; so is what a table has of it."""
    real, seen = Journal.write, []

    def write(journal, outcome):
        if not seen:
            signal.raise_signal(signal.SIGINT)
        seen.append(outcome.number)
        real(journal, outcome)

    monkeypatch.setattr(Journal, "write", write)
    with pytest.warns(UserWarning, match=r"was interrupted after \d+ of 20 members"):
        found = swept(MASSES, store=tmp_path / "a.nc", measure=["tip"], native=True)
    assert found.attrs["status"] == "interrupted"
    assert 1 < len(seen) == lines(tmp_path / "a.nc.part") - 1
    done = found["status"].values == "completed"
    assert np.flatnonzero(done).tolist() == sorted(seen)
    assert np.isfinite(found["tip"].values[done]).all()


def test_a_sweep_that_is_done_is_read(tmp_path, counted):
    first = swept([1.0, 2.0], store=tmp_path / "a.nc")
    assert sorted(counted) == [0, 1]
    second = swept([1.0, 2.0], store=str(tmp_path / "a.nc"))
    assert sorted(counted) == [0, 1]
    xr.testing.assert_equal(first, second)
    assert first.attrs == second.attrs
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"masses": [1.0, 3.0]}, "over"),
        ({"torque": {"bar": 2.0}}, "torque"),
        ({"dt": 0.1}, "the options"),
        ({"measure": {"angle": lambda run: 0.0}}, "measure"),
        ({"q0": {"bar.q": 0.1}}, "q0"),
    ],
)
def test_a_store_of_another_sweep_is_refused_and_left_alone(tmp_path, given, what):
    swept([1.0, 2.0], store=tmp_path / "a.nc")
    before = (tmp_path / "a.nc").read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another sweep, which differs in {what}; it is left alone"):
        swept(**{"masses": [1.0, 2.0], "store": tmp_path / "a.nc", **given})
    assert (tmp_path / "a.nc").read_bytes() == before


def test_what_is_no_sweep_is_refused_and_left_alone(tmp_path):
    fa.simulate(BAR, 0.1, **QUICK).save(tmp_path / "run.nc")
    (tmp_path / "text.nc").write_text("text")
    (tmp_path / "new.nc.part").write_text("somebody's notes\n")
    for name in ("run.nc", "text.nc", "new.nc"):
        with pytest.raises(ValueError, match=r"no sweep of flexarm|cannot be read"):
            swept([1.0], store=tmp_path / name)
    assert (tmp_path / "text.nc").read_text() == "text"
    assert (tmp_path / "new.nc.part").read_text() == "somebody's notes\n"


@pytest.mark.parametrize("name", ["a.txt", "nowhere/a.nc", "", 3, "a.nc/b"])
def test_a_store_must_be_a_file_or_a_folder(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError, OSError), match="store"):
        swept([1.0], store=name)


def test_histories_are_kept_in_a_folder(tmp_path, counted):
    first = swept([1.0, 2.0], store=tmp_path / "all", keep="runs")
    second = swept([1.0, 2.0], store=tmp_path / "all", keep="runs")
    assert sorted(counted) == [0, 1]
    for found in (first, second):
        assert [angle(run) for run in found["run"].values] == pytest.approx(known([1.0, 2.0]))
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["runs", "sweep.nc"]
    with pytest.raises(ValueError, match="need a folder"):
        swept([1.0], store=tmp_path / "a.nc", keep="runs")


def test_members_that_failed_are_remembered_with_their_reasons(tmp_path, counted):
    def picky(run):
        return 1 / (float(run.robot.links[0].mass) - 2.0)

    for _ in range(2):
        with pytest.warns(UserWarning, match="1 of 2 members failed"):
            found = swept([1.0, 2.0], measure=picky, store=tmp_path / "a.nc")
    assert sorted(counted) == [0, 1]
    assert "ZeroDivisionError" in str(found["reason"].values[1])


def test_a_damaged_line_is_run_again(tmp_path):
    from flexarm.sweeps.case import Outcome

    journal = Journal(tmp_path / "part")
    list(journal.begin({"fingerprint": {}}))
    for number in range(3):
        journal.write(Outcome(number, {"x": np.array([0.1, np.nan, np.inf])}, "completed", warnings=("odd",)))
    journal.close()
    good = (tmp_path / "part").read_bytes().splitlines(keepends=True)
    (tmp_path / "part").write_bytes(b"".join([*good[:3], good[3].replace(b"0.1", b"0.2")]))
    found = list(Journal(tmp_path / "part").begin({}))
    assert [each.number for each in found] == [0, 1]
    assert found[0].values["x"] == pytest.approx([0.1, np.nan, np.inf], nan_ok=True)
    assert found[0].warnings == ("odd",)


def test_a_store_whose_first_line_was_cut_begins_anew(tmp_path):
    (tmp_path / "a.nc.part").write_bytes(b'12345678 {"flexarm sweep":1,"fing')
    assert swept([1.0], store=tmp_path / "a.nc")["angle"].values == pytest.approx(known([1.0]))
