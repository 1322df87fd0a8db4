import csv
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.results.netcdf import DIGEST_MARK
from tests.integrators.methods.test_method import SOFT


@pytest.fixture(scope="module")
def run() -> fa.Run:
    return fa.simulate(SOFT, 0.2, torque={"upper": fa.sine(1.0, 2.0)}, points={"elbow": ("upper", 0.6)}, native=False)


def test_results_are_labelled(run):
    assert run["upper.q"].dims == ("time",)
    assert run.tip.dims == ("time", "axis")
    assert run.deflection("fore").dims == ("time", "axis")
    assert run.torque.sel(input="upper").values[0] == 0
    assert list(run.energy) == ["kinetic", "elastic", "gravity", "drive", "work", "dissipated", "balance"]
    assert run.data["tip"].attrs["units"] == "m"
    assert run.data["unit"].sel(coordinate="upper.q") == "rad"
    assert_allclose(
        run.data["tip_rotation"].values @ run.data["tip_rotation"].values.transpose(0, 2, 1)[0:],
        np.eye(3) + np.zeros((len(run.time), 1, 1)),
        atol=1e-9,
    )
    assert "completed" in repr(run)


def test_the_deflection_is_that_of_the_tip_in_the_root_frame(run):
    system = fa.System(SOFT, native=False)
    q = run.data["q"].values[-1]
    root, tip = system.frame("fore", 0.0, q), system.tip(q)
    local = root[:3, :3].T @ (tip - root[:3, 3])
    assert_allclose(run.deflection("fore").values[-1], local - [0.5, 0, 0], atol=1e-12)


def test_unknown_names_are_sentences(run):
    with pytest.raises(KeyError, match=r"there is no 'uper\.q' in this run; did you mean 'upper\.q'"):
        run["uper.q"]
    with pytest.raises(KeyError, match="there is no link 'for' in this run; did you mean 'fore'"):
        run.deflection("for")


def test_runs_carry_their_model_options_and_versions(run):
    assert run.robot == SOFT
    assert run.options["method"] == "auto"
    assert run.statistics["method"] in ("esdirk", "dop853")
    assert "sine(1, 2 Hz)" in run.options["torque"]
    assert run.statistics["steps"] > 10
    assert run.data.attrs["version"] == fa.__version__


def test_saved_runs_come_back_and_open_in_plain_xarray(run, tmp_path):
    file = tmp_path / "run.nc"
    run.save(file)
    again = fa.Run.load(file)
    assert again.robot == run.robot
    assert again.data.equals(run.data)
    with xr.open_dataset(file, engine="h5netcdf") as plain:
        assert plain["tip"].attrs["units"] == "m"
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.skipif(os.name == "nt", reason="limits as POSIX has them")
def test_a_full_disk_leaves_the_earlier_file_and_the_program_alive(run, tmp_path):
    """HDF5 would take the interpreter down while it cleans up."""
    run.save(tmp_path / "run.nc")
    files = [tmp_path / "run.nc", tmp_path / "run.csv"]
    files[1].write_text("earlier")
    before = [file.read_bytes() for file in files]
    code = """if True:
        import gc, resource, signal, sys
        import flexarm as fa
        run = fa.Run.load(sys.argv[1])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        for save, path in zip((run.save, run.to_csv), sys.argv[1:]):
            try:
                save(path)
            except OSError as error:
                print(error)
        gc.collect()
    """
    program = [sys.executable, "-c", code, *files]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{file}: cannot be written: File too large" for file in files]
    assert [file.read_bytes() for file in files] == before


def test_a_failed_save_leaves_the_earlier_file(run, tmp_path, monkeypatch):
    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    for save, name in ((run.save, "run.nc"), (run.to_csv, "run.csv")):
        (tmp_path / name).write_text("earlier")
        with pytest.raises(OSError, match=rf"{name}: cannot be written: No space left"):
            save(tmp_path / name)
        assert (tmp_path / name).read_text() == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.csv", "run.nc"]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        run.save(tmp_path / "nowhere" / "run.nc")


def test_many_threads_may_save_and_load_one_file(run, tmp_path):
    file = tmp_path / "run.nc"
    run.save(file)

    def work(_):
        run.save(file)
        return fa.Run.load(file).data.equals(run.data)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.999])
def test_truncated_files_are_refused_in_a_sentence_alone(run, tmp_path, capfd, part):
    run.save(tmp_path / "run.nc")
    sound = (tmp_path / "run.nc").read_bytes()
    (tmp_path / "bad.nc").write_bytes(sound[: int(part * len(sound))])
    with pytest.raises(ValueError, match=r"bad\.nc: cannot be read as NetCDF"):
        fa.Run.load(tmp_path / "bad.nc")
    assert capfd.readouterr().err == ""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # h5netcdf's, as it gives up a file
def test_damaged_files_are_refused_in_a_sentence(run, tmp_path):
    run.save(tmp_path / "run.nc")
    sound, draw, refused = (tmp_path / "run.nc").read_bytes(), np.random.default_rng(1), 0
    for k in range(30):
        damaged = bytearray(sound)
        for place in draw.integers(5000, size=5):
            damaged[place] = draw.integers(256)
        (tmp_path / f"{k}.nc").write_bytes(damaged)
        try:
            fa.Run.load(tmp_path / f"{k}.nc")
        except ValueError as error:
            refused += f"{k}.nc: " in str(error)
    assert refused > 10


def test_folders_are_no_runs(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a file"):
        fa.Run.load(tmp_path)


def test_files_that_are_no_runs_are_refused(tmp_path, run):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        fa.Run.load(tmp_path / "a.nc")
    (tmp_path / "b.nc").write_text("text")
    with pytest.raises(ValueError, match="cannot be read as NetCDF"):
        fa.Run.load(tmp_path / "b.nc")
    xr.Dataset({"x": ("t", [1.0])}).to_netcdf(tmp_path / "c.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match="is no run of flexarm"):
        fa.Run.load(tmp_path / "c.nc")
    for version in ("0.0.1", "99.0.0"):
        fa.Run(run.data.assign_attrs(version=version)).save(tmp_path / "d.nc")
        with pytest.warns(UserWarning, match=f"was written by flexarm {version}; this is {fa.__version__}"):
            fa.Run.load(tmp_path / "d.nc")


def test_a_damaged_file_is_refused_before_it_is_opened(tmp_path, run, monkeypatch):
    """HDF5 may not return from one, wherever the damage is."""
    import h5py

    run.save(tmp_path / "a.nc")
    content = (tmp_path / "a.nc").read_bytes()
    monkeypatch.setattr(h5py, "File", None)
    for place in np.random.default_rng(1).integers(0, len(content) - 80, 130).tolist():
        changed = bytearray(content)
        changed[place] ^= 0x10
        (tmp_path / "b.nc").write_bytes(changed)
        with pytest.raises(ValueError, match="is damaged"):
            fa.Run.load(tmp_path / "b.nc")


def test_files_with_and_without_a_digest_are_read(tmp_path, run):
    run.save(tmp_path / "a.nc")
    content = (tmp_path / "a.nc").read_bytes()
    (tmp_path / "b.nc").write_bytes(content[: content.rindex(DIGEST_MARK)])  # as earlier versions wrote it
    assert fa.Run.load(tmp_path / "b.nc").data.identical(fa.Run.load(tmp_path / "a.nc").data)
    with xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as data:
        assert data.attrs["version"] == fa.__version__
    xr.Dataset({"own": ("x", np.arange(1000.0))}).to_netcdf(tmp_path / "a.nc", mode="a", engine="h5netcdf")
    assert fa.Run.load(tmp_path / "a.nc").data["own"].size == 1000  # a file that was changed on purpose


def test_csv_has_a_column_for_every_quantity(run, tmp_path):
    run.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(run.time)
    assert list(rows[0]) == ["time", *run.names]
    for name in ("upper.q", "upper.q'", "deflection.fore.y", "elbow.x", "torque.upper", "kinetic"):
        assert float(rows[-1][name]) == pytest.approx(float(run[name][-1]), rel=1e-9), name


def test_a_table_has_a_row_for_each_sample(run):
    table = run.to_dataframe()
    assert table.shape == (len(run.time), len(run.names))
    assert table.index.name == "time"
    assert_allclose(table["deflection.fore.y"], run.deflection("fore").sel(axis="y"), rtol=0)


@pytest.mark.parametrize("name", ["r.xlsx", "r.csv", "r"])
def test_results_are_not_written_under_a_name_that_says_otherwise(run, tmp_path, name):
    with pytest.raises(ValueError, match=r"must end in \.nc, since results are NetCDF; to_csv"):
        run.save(tmp_path / name)
    with pytest.raises(ValueError, match=r"must end in \.csv"):
        run.to_csv(tmp_path / f"{name}.nc")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [3, None, ["r.nc"]])
def test_a_path_that_is_none_is_named(run, path):
    for write in (run.save, run.to_csv):
        with pytest.raises(TypeError, match=r"path = .*: must be the name of a file"):
            write(path)


def test_compare_with_the_rigid_twin(run):
    rigid = fa.simulate(SOFT.rigid(), 0.2, torque={"upper": fa.sine(1.0, 2.0)}, native=False)
    difference = run.compare(rigid)
    assert difference["q"].sizes["coordinate"] == 2
    assert_allclose(difference["tip"].values, run.tip.values - rigid.tip.values, atol=1e-12)


def test_the_figure_shows_joints_deflections_torques_and_energies(run):
    titles = [plot.get_title() for plot in run.plot().axes]
    assert titles == ["joints", "tip deflection in the link's root frame", "actuators", "energies"]


def test_a_run_is_compared_as_far_as_the_other_one_came(run):
    early = fa.Run(run.data.isel(time=slice(0, 50)))
    apart = run.compare(early)["tip"].values
    assert_allclose(apart[:50], 0.0, atol=1e-15)
    assert np.isnan(apart[50:]).all()
    once = fa.Run(run.data.isel(time=[0]))
    assert_allclose(run.compare(once)["tip"].values[0], 0.0, atol=1e-15)
    with pytest.raises(TypeError, match="other = 3: must be a run"):
        run.compare(3)


def test_a_result_is_not_a_robot(tmp_path):
    run = fa.simulate(fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)]), 0.1, native=False)
    run.save(tmp_path / "a.nc")
    with pytest.raises(fa.DescriptionError, match=r"a\.nc: holds the results of a run, not a robot: fa\.Run\.load"):
        fa.load(tmp_path / "a.nc")


def test_numbers_that_were_damaged_on_the_disk_are_noticed(tmp_path):
    run = fa.simulate(fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)]), 1.0, torque=[1.0], native=False)
    path = tmp_path / "a.nc"
    run.save(path)
    whole = bytearray(path.read_bytes())
    place = whole.find(run.data["q"].values.tobytes())
    assert place > 0
    whole[place + 1000] ^= 0x10
    path.write_bytes(bytes(whole))
    with pytest.raises(ValueError, match="is damaged"):
        fa.Run.load(path)
    path.write_bytes(bytes(whole[: whole.rindex(DIGEST_MARK)]))  # HDF5's own checksum of the numbers
    with pytest.raises(ValueError, match="cannot be read as NetCDF"):
        fa.Run.load(path)


def test_what_becomes_of_its_arrays_is_not_the_runs():
    arm = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)])
    run = fa.simulate(arm, 0.1, torque={"rod": 1.0}, native=False)
    before = run.array("q").copy()
    with pytest.raises(ValueError, match="read-only"):
        run.array("q")[:, 0] *= 57.3
    angle = run["rod.q"]
    angle *= 57.3
    assert (run.array("q") == before).all()


def test_a_run_knows_when_its_inputs_jumped():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)])
    run = fa.simulate(robot, 0.5, torque={"rod": fa.bang_bang(0.1, (0.1, 0.3))}, native=False)
    assert run.continuous
    assert run.jumps == pytest.approx([0.0, 0.1, 0.3])
    copy = fa.Run(run.data)
    assert not copy.continuous
    assert not len(copy.jumps)


def test_results_name_the_link_whose_tip_they_give():
    links = [fa.Link("arm", 1.0, mass=1.0), fa.Link("sensor", 0.1, joint="weld", mass=0.1)]
    run = fa.simulate(fa.Robot(links=links), 0.1, native=False)
    assert run.data.attrs["tip_link"] == "sensor"
    assert "tip of link 'sensor'" in str(run.data["tip"].attrs)


def test_runs_of_robots_with_fields_that_are_not_known_are_refused_at_once(tmp_path, run):
    model = run.data.attrs["model"].replace('"length"', '"curve": 0.1, "length"', 1)
    fa.Run(run.data.assign_attrs(model=model, version="99.0.0")).save(tmp_path / "a.nc")
    expected = rf"a.nc, written by flexarm 99.0.0, has fields that {fa.__version__} does not know: links\[0\].curve"
    with pytest.raises(ValueError, match=expected):
        fa.Run.load(tmp_path / "a.nc")
    fa.Run(run.data.assign_attrs(model="[1]")).save(tmp_path / "b.nc")
    with pytest.raises(ValueError, match="has no robot"):
        fa.Run.load(tmp_path / "b.nc")
