"""Every example runs, quickly, and what it finds is right."""

import json
import re
import runpy
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest

import flexarm as fa
from flexarm.robot.io.files import read
from flexarm.simulation.simulation_file import simulation_options

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOK = EXAMPLES / "first_arm.ipynb"


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Runs an example in an empty folder and gives its variables."""
    monkeypatch.chdir(tmp_path)
    return lambda name: runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def test_the_list_of_examples_is_complete():
    listed = set(re.findall(r"`([\w.]+\.(?:py|yaml|ipynb))`", (EXAMPLES / "README.md").read_text()))
    assert listed == {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".yaml", ".ipynb")}


def test_01_first_arm(example):
    found = example("01_first_arm.py")
    assert float(found["peak"]) == pytest.approx(0.0829, rel=0.03)  # with six elements a link
    again = fa.Run.load("first_arm.nc")
    assert again.data.identical(found["run"].data)
    assert Path("first_arm.png").stat().st_size > 10_000


def test_02_modes(example):
    found = example("02_modes.py")
    assert found["free"].rigid.sum() == 2
    clamped = 1.8751**2 * np.sqrt(6.8952e10 * 8.2189e-9 / (2766.7 * 7.2968e-5)) / 8.0**2 / (2 * np.pi)
    assert found["still"].frequencies[0] == pytest.approx(clamped, rel=1e-4)
    assert found["spinning"].frequencies[0] > found["still"].frequencies[0]
    assert Path("modes.png").exists()


def test_03_from_a_file(example):
    found = example("03_from_a_file.py")
    assert found["frequencies"] == sorted(found["frequencies"], reverse=True)
    assert Path("heavy_arm.yaml").exists()


def test_04_feedback(example):
    found = example("04_feedback.py")
    assert float(found["ideal"]["arm.q"][-1]) == pytest.approx(0.5, abs=1e-3)
    assert float(found["digital"]["arm.q"][-1]) == pytest.approx(0.5, abs=5e-3)
    assert float(abs(found["digital"].torque).max()) == pytest.approx(0.8)  # its limit


def test_05_spin_up(example):
    runs = example("05_spin_up.py")["runs"]
    for run in runs.values():
        assert float(run.data["v"].sel(coordinate="beam.q")[-1]) == pytest.approx(2.5)
    stiff, soft = (float(abs(run.deflection("beam").sel(axis="y")).max()) for run in runs.values())
    assert soft > 1.3 * stiff


def test_06_elastic_joints(example):
    found = example("06_elastic_joints.py")
    assert found["found"].frequencies[1] == pytest.approx(found["expected"], rel=1e-9)


def test_07_spatial_arm(example):
    found = example("07_spatial_arm.py")
    run = found["run"]
    # the boom as a cantilever under its own weight, and force and moment from what hangs on it
    EI = 2.1e11 * np.pi / 64 * (0.05**4 - 0.045**4)
    mu, g, L, stick = 7850 * np.pi / 4 * (0.05**2 - 0.045**2), 9.81, 2.0, 1.5
    force, moment = (8 + mu * stick) * g, (8 * stick + mu * stick**2 / 2) * g
    by_hand = (mu * g * L**4 / 8 + force * L**3 / 3 + moment * L**2 / 2) / EI
    assert -float(run.deflection("boom").sel(axis="z")[0]) == pytest.approx(by_hand, rel=0.02)
    assert run.reason == "completed"


def test_08_telescope(example):
    found = example("08_telescope.py")
    assert list(found["frequencies"].values()) == sorted(found["frequencies"].values(), reverse=True)
    assert float(found["run"]["boom.q"][-1]) == pytest.approx(1.0)


def test_09_rider(example):
    found = example("09_rider.py")
    EI, mu, g, L, load, d = 7e10 * 0.05 * 0.012**3 / 12, 2700 * 0.05 * 0.012, 9.81, 2.0, 0.7, 1.9
    by_hand = -(mu * g * L**4 / 8 + load * g * d**2 * (3 * L - d) / 6) / EI
    assert float(found["slow"].deflection("beam").sel(axis="z")[-1]) == pytest.approx(by_hand, rel=0.02)


def test_10_optimise(example):
    found = example("10_optimise.py")
    assert float(found["run"]["arm.q"][-1]) == pytest.approx(0.5, abs=0.005)
    assert found["ringing"] < 0.1 * found["largest"]


def test_11_animation(example):
    example("11_animation.py")
    for film in ("two_link_arm.gif", "true_scale.gif"):
        assert Path(film).read_bytes().startswith(b"GIF89a")
        assert Path(film).stat().st_size < 1_500_000


def test_12_closed_loop(example):
    found = example("12_closed_loop.py")
    run = found["run"]
    assert float(run.data["violation"].max()) < 1e-6
    assert float(run["crank.q"][-1]) == pytest.approx(2 * np.pi)
    assert 0 < found["peak"] < 0.1
    assert Path("four_bar.gif").read_bytes().startswith(b"GIF89a")


def test_13_tip_path(example):
    found = example("13_tip_path.py")
    missed = {name: each.max() for name, each in found["errors"].items()}
    assert missed["rigid"] < 5e-5  # at the default tolerance of a run
    assert 0.01 < missed["flexible"] < 0.05
    tenth = np.linalg.norm(found["again"].tip.values - found["target"], axis=1).max()
    assert missed["flexible"] / tenth == pytest.approx(10, rel=0.1)
    assert Path("tip_path.png").exists()


def test_14_sleeve(example):
    found = example("14_sleeve.py")
    load, weight, half = 0.4 * 9.81, 2700 * 0.01 * 0.03 * 9.81, 0.6  # half of the boom is inside
    by_hand = load + weight * half + 1.5 * (load + weight * half / 2) + 3 * weight * half / 8
    assert float(found["held"][0]) == pytest.approx(by_hand, rel=1e-3)
    assert Path("sleeve.png").exists()


def test_15_stepping(example):
    found = example("15_stepping.py")
    sim = found["sim"]
    assert 1.5 < sim.t < 5.0
    assert sim["arm.q"] == pytest.approx(0.5, abs=2e-3)
    assert sim.error < 1e-6
    assert found["other"].t == pytest.approx(sim.t + 0.05)
    assert found["other"]["arm.q"] > sim["arm.q"] + 0.05


def test_16_inversion(example):
    found = example("16_inversion.py")
    inversion, path_length = found["found"], found["path_length"]
    assert inversion.missed(found["run"]).max() < 1e-3 * path_length
    assert inversion.missed(found["more"]).max() < 1e-2 * path_length
    assert found["twin"].missed(found["plain"]).max() > 5e-3 * path_length
    assert abs(inversion.torque["arm"](inversion.before)) > 0.05 * abs(inversion.torques).max()
    assert Path("inversion.png").stat().st_size > 10_000


def test_17_two_masses(example):
    found = example("17_two_masses.py")
    assert found["design"].worst < 0.95
    assert len(found["left"]) == 31
    assert max(found["left"]) <= 0.1
    assert max(found["forces"]) <= 1.0
    assert Path("two_masses.png").exists()


def test_19_two_joints(example):
    found = example("19_two_joints.py")
    worst, left = found["worst"], found["left"]
    assert len(worst) == 5
    assert left["LQG"] < 0.1 < left["computed torque, fast = 1"] < 1.0 < left["PD, rigid feedforward"]
    assert max(worst[name] for name in worst if name != "LQG") < 30 < worst["LQG"]  # mm; LQG has no feedforward
    assert Path("two_joints.png").stat().st_size > 10_000


def test_20_six_axis_arm(example):
    found = example("20_six_axis_arm.py")
    assert found["first"]["stretched"][0] < found["first"]["bent"][0] < 10  # Hz
    assert found["sag"][2] == pytest.approx(4.8e-3, rel=0.05)
    assert found["swing"][-1] < found["swing"].max() < 12  # mm
    assert Path("six_axis_arm.png").stat().st_size > 10_000


def test_18_sweep(example):
    found = example("18_sweep.py")
    assert set(found["found"]["status"].values.ravel()) == {"completed"}
    # what is drawn spreads the tip as far as its derivatives say
    slope = found["slopes"]["tip_derivative"].sel(axis="y").values * [0.005, 4e8]
    assert found["high"] - found["low"] == pytest.approx(2 * 1.645e3 * np.linalg.norm(slope), rel=0.2)
    for name in ("sweep.nc", "sweep.png", "spread.png"):
        assert Path(name).exists()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_every_file_can_be_run(path):
    robot, section = read(path)
    run = fa.simulate(robot, **simulation_options({**section, "duration": 0.1}, str(path)))
    assert run.reason == "completed"


def _code() -> str:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def test_the_notebook_runs_as_a_script_and_carries_no_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = json.loads(NOTEBOOK.read_text())
    assert content["nbformat"] == 4
    assert not any(cell.get("outputs") for cell in content["cells"])
    found: dict = {}
    exec(_code(), found)
    assert found["run"].reason == "completed"


def test_the_notebook_shows_figures_and_a_player(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(fa.__file__).parents[1]))  # the kernel runs elsewhere
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.get("data", {}) for cell in book.cells for output in cell.get("outputs", ())]
    assert sum("image/png" in data for data in shown) == 3
    assert any("data:image/png;base64" in "".join(data.get("text/html", "")) for data in shown)
