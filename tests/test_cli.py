"""Tests of the command line, run as a process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flexarm as fa

EXAMPLE = Path(__file__).parent.parent / "examples" / "two_link.yaml"


def flexarm(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from flexarm.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def refused(*words: object) -> str:
    """Return the error output of a command that must fail without a traceback."""
    done = flexarm(*words)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "pydantic" not in done.stderr
    return done.stderr


def test_modes_prints_robot_table_and_mass_matrix(tmp_path):
    picture = tmp_path / "modes.png"
    done = flexarm("modes", EXAMPLE, "--mass-matrix", "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert "two-link flexible arm" in done.stdout
    first = 2 * np.pi * fa.modes(fa.load(EXAMPLE)).frequencies[2]
    assert f"{first:.6g}" in done.stdout  # rad/s
    assert done.stdout.count("rigid body") == 2
    assert "upper.bend_y[3]" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_posture_joints_and_changes_reach_the_computation():
    done = flexarm(
        "modes", EXAMPLE, "--q", "fore.q=1.5708", "--joints", "upper=locked", "--set", "links.fore.payload.mass=0.3"
    )
    import flexarm as fa

    robot = fa.load(EXAMPLE).with_({"links.fore.payload.mass": 0.3})
    expected = fa.modes(robot, {"fore.q": 1.5708}, joints={"upper": "locked"})
    assert f"{expected.frequencies[1]:.6g}" in done.stdout


def test_schema_is_json_schema_with_units():
    done = flexarm("schema")
    schema = json.loads(done.stdout)
    assert schema["type"] == "object"
    assert "links" in schema["properties"]


def test_version_and_help():
    import flexarm as fa

    assert flexarm("--version").stdout.strip() == f"flexarm {fa.__version__}"
    assert "modes" in flexarm("--help").stdout


def test_warnings_about_units_are_one_line_each(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(EXAMPLE.read_text().replace("E: 2.1e11", "E: 200", 1))
    done = flexarm("modes", file)
    assert done.returncode == 0
    assert done.stderr.startswith(f"warning: {file}:")
    assert "links[0].material.E = 200" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["modes", "no-such.yaml"], "there is no such file"),
        (["modes", EXAMPLE, "--q", "fore=1"], "there is no coordinate 'fore'"),
        (["modes", EXAMPLE, "--q", "fore.q"], "--q fore.q: must look like name=value"),
        (["modes", EXAMPLE, "--q", "fore.q=[1"], "cannot be read as a value"),
        (["modes", EXAMPLE, "--q", "fore.q=much"], "q['fore.q'] = 'much': must be a number, not text"),
        (["modes", EXAMPLE, "--joints", "loose"], "--joints loose: must be free, locked, or"),
        (["modes", EXAMPLE, "--set", "links.for.length=2"], "did you mean 'fore'"),
        (["modes", EXAMPLE, "--set", "links.fore.length=-2"], "links[1].length = -2: must be positive (m)"),
        (["modes", EXAMPLE, "--plot", "no-such-folder/a.png"], "there is no folder 'no-such-folder'"),
        (["modes", EXAMPLE, "--plot", "a"], "--plot a: must end in .png, .pdf or .svg"),
        (["modes", EXAMPLE, "--plot", EXAMPLE.parent], "must end in .png, .pdf or .svg"),
        (["modes", EXAMPLE, "--plot", ""], "--plot '': must end in .png, .pdf or .svg"),
        (["mode", EXAMPLE], "No such command"),
    ],
)
def test_errors_are_single_sentences(words, sentence):
    assert sentence in refused(*words)


@pytest.mark.parametrize(
    ("section", "line", "words"),
    [
        ("  q0:\n    a.q: 2.0\n", 8, "joint 'a' starts at 2 rad, outside its travel"),
        ("  q0: {a.q: 0.3}\n  motion: {a: {profile: cycloid, y0: 0, y1: 1, t1: 1}}\n", 7, "starts with 0"),
        ("  dt: 3\n", 7, "is longer than the duration"),
    ],
)
def test_options_that_simulate_refuses_name_their_line(tmp_path, section, line, words):
    file = tmp_path / "arm.yaml"
    link = "{name: a, length: 1.0, mass: 1.0, joint: {type: revolute, limits: [-1, 1]}}"
    file.write_text(f"name: arm\nlinks:\n  - {link}\n\nsimulation:\n  duration: 1.0\n{section}")
    said = refused("run", file)
    assert f"{file}:{line}: " in said
    assert words in said


def test_options_of_the_command_line_have_no_line(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("name: arm\nlinks:\n  - {name: a, length: 1.0, mass: 1.0}\nsimulation: {duration: 1.0}\n")
    assert "arm.yaml:" not in refused("run", file, "--duration", "1e-13")


def test_errors_in_a_file_name_its_line(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(EXAMPLE.read_text().replace("length: 0.5", "lenght: 0.5"))
    said = refused("modes", file)
    line = next(k for k, text in enumerate(file.read_text().splitlines(), 1) if "lenght" in text)
    assert f"{file}:{line}: links[1].lenght" in said
    assert "did you mean 'length'?" in said


def test_a_rigid_robot_has_nothing_to_draw(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("name: rod\nlinks:\n  - {name: rod, length: 1.0, mass: 1.0}\n")
    assert "nothing in it is elastic" in refused("modes", file, "--plot", tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_ctrl_c_says_so_and_exits_as_shells_expect():
    code = """if True:
        import flexarm, os, signal
        from flexarm import cli
        flexarm.load = lambda file: os.kill(os.getpid(), signal.SIGINT)
        cli.main()
    """
    done = subprocess.run([sys.executable, "-c", code, "modes", "a.yaml"], capture_output=True, text=True)
    assert done.stderr.strip() == "interrupted"
    assert done.returncode == 130


def test_wrong_usage_exits_with_2():
    done = flexarm("modes", EXAMPLE, "--no-such-option")
    assert done.returncode == 2
    assert "No such option" in done.stderr
    assert "Usage:" in done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_consoles_that_lack_letters_show_something_else(tmp_path, encoding):
    file = tmp_path / "arm.yaml"
    file.write_text(EXAMPLE.read_text().replace("two-link", "\u4e8c-link", 1), encoding="utf-8")
    done = flexarm("modes", file, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert "?-link" in done.stdout


def test_nothing_is_computed_for_a_picture_that_cannot_be_written(tmp_path):
    done = flexarm("modes", tmp_path / "no-such.yaml", "--plot", tmp_path / "a.jpeg")
    assert "must end in" in done.stderr
    folder = tmp_path / "folder.png"
    folder.mkdir()
    assert "folder.png: is a directory" in refused("modes", EXAMPLE, "--plot", folder)


def test_a_robot_without_coordinates_cannot_vibrate(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("links:\n  - {name: rod, length: 1.0, mass: 1.0, joint: weld}\n")
    done = flexarm("modes", file, "--mass-matrix")
    assert done.returncode == 0, done.stderr
    assert "this robot has no coordinates: nothing can vibrate" in done.stdout


def test_a_joint_without_inertia_is_named(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("links:\n  - {name: rod, length: 1.0}\n")
    assert "rod.q" in refused("modes", file)


# --- flexarm run ---


@pytest.fixture
def arm(tmp_path) -> Path:
    """Return the example file with a duration of one second."""
    file = tmp_path / "arm.yaml"
    file.write_text(EXAMPLE.read_text().replace("duration: 5", "duration: 1"))
    return file


def test_run_prints_a_summary_and_writes_results_and_figure(arm, tmp_path):
    done = flexarm("run", arm, "--rigid", "-o", tmp_path / "out.nc", "--plot", tmp_path / "out.png", COLUMNS="100")
    assert done.returncode == 0, done.stderr
    assert "peak deflection of upper" in done.stdout
    assert "largest distance from the rigid twin" in done.stdout
    assert done.stderr == ""  # no progress bar without a terminal
    import flexarm as fa

    run = fa.Run.load(tmp_path / "out.nc")
    assert run.reason == "completed"
    assert run.time.values[-1] == 1.0
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_run_takes_changes_and_another_duration(arm, tmp_path):
    words = ["--duration", "0.2", "--set", "links.fore.payload.mass=0.3", "--set", "simulation.method=rk45"]
    done = flexarm("run", arm, "-o", tmp_path / "a.nc", "--plot", tmp_path / "a.png", *words)
    assert done.returncode == 0, done.stderr
    import flexarm as fa

    run = fa.Run.load(tmp_path / "a.nc")
    assert run.time.values[-1] == 0.2
    assert run.options["method"] == "rk45"
    assert run.robot.link("fore").payload.mass == 0.3


def test_run_says_what_is_wrong_before_any_work(arm, tmp_path):
    assert "must end in .nc" in refused("run", arm, "-o", tmp_path / "a.txt")
    assert "there is no folder" in refused("run", arm, "-o", tmp_path / "no" / "a.nc")
    assert "simulation.duration = -1" in refused(
        "run", arm, "--duration", "-1"
    ) or "duration = -1.0: must be positive" in (refused("run", arm, "--duration", "-1"))
    arm.write_text(arm.read_text().replace("switch:", "switches:"))
    assert "simulation.torque.upper: bang-bang takes amplitude, switch" in refused("run", arm)
    arm.write_text(arm.read_text().replace("duration: 1", "duration: soon"))
    assert re.search(
        r"arm\.yaml:\d+: simulation\.duration = 'soon': must be a number \(s\), not text", refused("run", arm)
    )
    assert "arm.yaml: simulation.duration = -1" in refused("run", arm, "--duration", "-1")
    assert not list(tmp_path.glob("*.nc"))


PENDULUM = """
links:
  - {name: rod, length: 1.0, mass: 1.0, joint: {type: revolute, limits: [-1, 1]}}
"""


@pytest.fixture
def rod(tmp_path, monkeypatch) -> Path:
    """Return the file of a rigid rod that reaches its joint limit, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "rod.yaml"
    file.write_text(PENDULUM + "simulation: {duration: 2, torque: {rod: 1.0}}\n")
    return file


def altered(change: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the command after a change of the package, for example one that makes a disk fail."""
    code = f"import flexarm\n{change}\nfrom flexarm.cli import main\nmain()"
    return subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True)


def test_a_joint_limit_is_a_normal_end(rod):
    done = flexarm("run", rod, COLUMNS="100")
    assert done.returncode == 0, done.stderr
    assert "'rod.q' reached its upper limit 1 rad" in done.stdout


def test_a_run_that_diverged_fails_and_keeps_what_it_has(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(EXAMPLE.read_text().replace("amplitude: 0.15", "amplitude: 2e3"))
    results = tmp_path / "a.nc"
    done = flexarm("run", file, "-o", results, "--set", "simulation.dt=0.01", "--set", "simulation.method=rk4")
    assert done.returncode == 1, done.stdout
    assert "error: the run diverged at t = " in done.stderr
    import flexarm as fa

    assert fa.Run.load(results).reason.startswith("diverged")


SIGNAL = """
import os, signal
from flexarm.foundation.progress import Progress
def update(self, t):
    if t > 0.3:
        os.kill(os.getpid(), signal.{name})
Progress.update = update
"""


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.parametrize(("name", "code", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_signals_end_a_run_but_its_results_are_written(arm, tmp_path, name, code, word):
    done = altered(SIGNAL.format(name=name), "run", arm, "--rigid", "-o", tmp_path / "a.nc")
    assert done.returncode == code, done.stderr
    assert done.stderr.splitlines()[-1] == word
    import flexarm as fa

    found = fa.Run.load(tmp_path / "a.nc")
    assert found.reason.startswith("interrupted at t = ")
    assert 0.2 < found.time.values[-1] < 1.0
    assert (tmp_path / "a.png").exists()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody can write")
def test_an_unwritable_place_is_found_before_the_run(rod, tmp_path):
    never = "flexarm.simulate = lambda *_, **__: exit('the run began')"
    for words in (["-o", "/proc/a.nc"], ["--plot", "/proc/a.png"], ["--animate", "/proc/a.gif"]):
        done = altered(never, "run", rod, *words)
        assert f"{words[1]}: nothing can be written in '/proc'" in done.stderr
        assert done.returncode == 1


def test_results_that_cannot_be_saved_are_kept_elsewhere(rod, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    change = f"""
import shutil
simulate = flexarm.simulate
def simulate_and_lose_the_folder(*words, **options):
    found = simulate(*words, **options)
    shutil.rmtree({str(gone)!r})
    return found
flexarm.simulate = simulate_and_lose_the_folder
"""
    done = altered(change, "run", rod, "-o", gone / "a.nc", "--plot", tmp_path / "a.png")
    assert done.returncode == 1
    problem, _, fallback = done.stderr.splitlines()[-1].partition("; the results are kept in ")
    assert problem.startswith(f"error: {gone / 'a.nc'}: cannot be written")
    import flexarm as fa

    assert fa.Run.load(fallback).reason.startswith("'rod.q' reached")
    assert f"results in {fallback}" in done.stdout.replace("\n", " ")


def test_the_figure_is_named_after_the_results_and_replaced_files_are_reported(rod, tmp_path):
    (tmp_path / "rod.png").write_text("mine")
    done = flexarm("run", rod, "-o", "other.nc")
    assert "results in other.nc, figure in other.png" in done.stdout
    assert (tmp_path / "rod.png").read_text() == "mine"
    done = flexarm("run", rod, "-o", "other.nc", "--plot", "new.png")
    assert "results in other.nc (replaced), figure in new.png\n" in done.stdout


def test_help_says_how_commands_end():
    assert "143 after SIGTERM" in " ".join(flexarm("--help").stdout.split())
    assert "130 after Ctrl-C" in " ".join(flexarm("run", "--help").stdout.split())


def test_tables_outside_the_files_folder_must_be_allowed(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "torque.csv").write_text("t,torque\n0,1\n1,1\n")
    file = tmp_path / "model" / "arm.yaml"
    table = "{profile: table, source: ../torque.csv}"
    file.write_text(
        f"links: [{{name: a, length: 1, mass: 1}}]\nsimulation:\n  duration: 0.01\n  torque: {{a: {table}}}\n"
    )
    words = ["run", file, "-o", tmp_path / "a.nc", "--plot", tmp_path / "a.png"]
    expected = "arm.yaml:4: simulation.torque.a.source = '../torque.csv': lies outside the robot file's folder"
    assert expected in refused(*words)
    done = flexarm(*words, "--allow-outside")
    assert done.returncode == 0, done.stderr


# --- flexarm plot, flexarm animate ---


def test_results_can_be_drawn_and_filmed_later(arm, tmp_path):
    film = tmp_path / "a.gif"
    words = ["-o", tmp_path / "a.nc", "--plot", tmp_path / "a.png", "--duration", "0.2", "--animate", film]
    done = flexarm("run", arm, *words, "--magnify", "5")
    assert done.returncode == 0, done.stderr
    assert f"film in {film}" in done.stdout
    assert film.read_bytes().startswith(b"GIF89a")
    for extra in ([], ["upper.q", "tip.y"], ["--trajectory"], ["--time", "0.1"]):
        picture = tmp_path / "b.png"
        done = flexarm("plot", tmp_path / "a.nc", *extra, "-o", picture)
        assert done.returncode == 0, done.stderr
        assert picture.read_bytes().startswith(b"\x89PNG")
        picture.unlink()
    done = flexarm("animate", tmp_path / "a.nc", tmp_path / "b.html", "--fps", "10", "--other", tmp_path / "a.nc")
    assert done.returncode == 0, done.stderr
    assert "<!DOCTYPE html>" in (tmp_path / "b.html").read_text()
    assert flexarm("plot", tmp_path / "a.nc", "upper.q'", "upper.strain(0.1)", "-o", tmp_path / "d.png").returncode == 0
    assert "there is no 'upper.p'" in refused("plot", tmp_path / "a.nc", "upper.p", "-o", tmp_path / "c.png")
    assert "two figures" in refused("plot", tmp_path / "a.nc", "upper.q", "--trajectory", "-o", tmp_path / "c.png")
    assert "must end in .gif, .mp4 or .html" in refused("animate", tmp_path / "a.nc", tmp_path / "c.avi")
    assert "there is no such file" in refused("animate", tmp_path / "no.nc", tmp_path / "c.gif")


def test_a_film_that_cannot_be_written_is_refused_before_the_run(arm, tmp_path):
    assert "--animate" in refused("run", arm, "--animate", tmp_path / "no" / "a.gif")
    assert not list(tmp_path.glob("*.nc"))


# --- equations ---

SMALL = ("--set", "links.upper.flexible.bend_y=1", "--set", "links.fore.flexible=null")


def test_equations_are_printed_or_written(tmp_path):
    done = flexarm("equations", EXAMPLE, *SMALL, "--parameters", "l_1,m_1")
    assert done.returncode == 0, done.stderr
    assert "eta_1_1 = upper.bend_y[1]" in done.stdout
    assert "K[2,2] = " in done.stdout
    done = flexarm("equations", EXAMPLE, *SMALL, "--stiffening", "robot")
    assert "(stiffening 'exact')" in done.stdout
    assert "zero-order" not in done.stderr
    heads = {"arm.tex": "\\documentclass", "arm.py": "# Equations", "arm.c": "// Equations", "arm.m": "function [M, C"}
    for name, head in heads.items():
        written = tmp_path / name
        done = flexarm("equations", EXAMPLE, *SMALL, "--route", "global", "-o", written)
        assert done.returncode == 0, done.stderr
        assert written.read_text().startswith(head)
        assert f"written to {written}" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--format", "maple"), "--format maple: must be one of text, latex, python, c, matlab"),
        (("-o", "nowhere/arm.c"), "--output nowhere/arm.c: there is no folder 'nowhere'"),
        (("--stiffening", "full"), "stiffening = 'full': must be one of 'none', 'shortening', 'exact', 'robot'"),
        (("--route", "short"), "route = 'short': must be one of 'extended', 'global'"),
        (("--k", "fore=2"), "k of 'fore': no joint with contact nodal or element has that name; there are none"),
        (("--parameters", "m_9"), "parameters: there is no symbol 'm_9'"),
        (("--set", "links.upper.flexible.bend_y=40"), "the closed form of 'two-link flexible arm' would have about"),
    ],
)
def test_wrong_equations_are_answered_with_a_sentence(words, sentence):
    assert sentence in refused("equations", EXAMPLE, *words)


def test_bode_prints_poles_and_zeros_and_draws(tmp_path):
    picture = tmp_path / "bode.png"
    done = flexarm("bode", EXAMPLE, "--from", "upper", "--to", "tip.y", "--q", "fore.q=0.5", "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert "StateSpace of" in done.stdout
    assert "in the right half plane" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    heavy = ("--set", "gravity=[0, -0.5, 0]", "--at-equilibrium", "--q", "upper.q=1.2")  # it stands, and would fall
    done = flexarm("bode", EXAMPLE, "--from", "upper", "--to", "upper.q", *heavy, "--plot", picture)
    assert "forces on" not in done.stderr  # torques hold it, and nothing else
    assert re.search(r"poles \(Hz\): .*, 2 of them in the right half plane", done.stdout)
    assert "did you mean 'upper'?" in refused("bode", EXAMPLE, "--from", "uper", "--to", "tip.y", "--plot", picture)


SWEPT = """links:
  - {name: bar, length: 1.0, mass: 3.0}
simulation: {duration: 1.0, torque: {bar: 1.0}, method: rk4, dt: 0.05, sample: 0.05}
sweep:
  over: {links.bar.mass: {from: 1.0, to: 4.0, count: 4}}
"""


def test_sweep_writes_results_and_a_figure_and_goes_on_where_it_was(tmp_path, monkeypatch):
    import xarray as xr

    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text(SWEPT)
    done = flexarm("sweep", "arm.yaml", "--quantity", "tip.y")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 of 4 members ran, in ")
    assert "results in arm_sweep.nc, figure in arm_sweep.png" in done.stdout
    assert Path("arm_sweep.png").read_bytes().startswith(b"\x89PNG")
    found = xr.load_dataset("arm_sweep.nc")
    assert found["tip"].sel(axis="y").values == pytest.approx(np.sin(1.5 / np.arange(1, 5)))
    assert "differs in duration; it is left alone" in refused("sweep", "arm.yaml", "--duration", "0.5")
    assert flexarm("sweep", "arm.yaml", "--duration", "0.5", "--replace").returncode == 0


def test_sweep_says_what_is_wrong_before_any_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text(SWEPT.partition("sweep:")[0])
    assert "sweep: is required" in refused("sweep", "arm.yaml")
    Path("arm.yaml").write_text(SWEPT.replace("bar.mass", "bar.mas"))
    assert "did you mean 'mass'" in refused("sweep", "arm.yaml")
    assert not list(tmp_path.glob("*.nc*"))


def test_studio_serves_until_it_is_ended(tmp_path):
    import signal
    from urllib.request import urlopen

    code = "from flexarm.cli import main; main()"
    words = [sys.executable, "-c", code, "studio", str(EXAMPLE), "--no-browser", "--port", "8470"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = re.search(r"http://localhost:\d+", process.stdout.readline())[0]
        assert b"<html" in urlopen(address, timeout=10).read().lower()
        process.send_signal(signal.SIGTERM)
        said, errors = process.communicate(timeout=20)
    assert process.returncode == 143
    assert errors.strip() == "terminated"
    assert "viser" not in said
    (tmp_path / "bad.yaml").write_text("links: []\n")
    assert "links" in refused("studio", tmp_path / "bad.yaml", "--no-browser")
