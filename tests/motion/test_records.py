"""Results are plain arrays until their Dataset is asked for; nobody can tell, except by the clock."""

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import xarray as xr

import flexarm as fa
from flexarm.motion import simulate as simulation
from flexarm.motion.records import Arrays, Records

ARM = fa.Robot(links=[fa.Link("arm", 1.0, mass=1.0)])
HEAVY = ("xarray", "pandas", "matplotlib", "sympy", "scipy", "rich", "typer", "h5py", "ruamel")


def simulated(**options) -> fa.Run:
    return fa.simulate(ARM, 0.1, torque={"arm": 1.0}, points={"end": ("arm", 1.0)}, native=False, **options)


def is_plain(run) -> bool:
    return isinstance(run._records._held, Arrays)


def loaded(code: str) -> list[set[str]]:
    """The heavy packages that a new program has loaded wherever it says `show()`."""
    program = f"""if True:
        import sys
        import flexarm as fa
        def show():
            print(*(name for name in {HEAVY} if name in sys.modules))
        arm = fa.library.two_link_arm(damping=1e-3)
        {code.replace(chr(10), chr(10) + "        ")}
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [set(line.split()) for line in done.stdout.split("\n")[:-1]]


def test_a_simulation_loads_nothing_heavy_until_its_data_are_read():
    code = """run = fa.simulate(arm, 0.01, torque={"upper": fa.bang_bang(0.01, (0.002, 0.004))}, native=False)
assert run.status == run.reason == "completed" and run.robot == arm and "completed" in repr(run)
show()
run.data
show()"""
    before, after = loaded(code)
    assert before == set()
    assert {"xarray", "pandas"} <= after
    assert not {"matplotlib", "sympy", "rich", "typer"} & after


@pytest.mark.parametrize(
    "call",
    [
        "fa.modes(arm).frequencies",
        "fa.System(arm, native=False).inverse_dynamics(*[[0.1] * fa.System(arm).nq] * 3)",
        "fa.System(arm, native=False).forward_dynamics(*[[0.1] * fa.System(arm).nq] * 2, [0.0, 0.0])",
        "fa.equilibrium(fa.System(arm, native=False))",
        "fa.simulate(arm, 0.001, method='rk45', native=False)",
        "fa.simulate(arm, 0.01, torque=lambda t, q, v: [-v[0], -v[1]], native=False)",
        "import warnings; warnings.simplefilter('ignore'); fa.simulate(arm, 1.0, torque=[1.0, 0.0], native=False)",
    ],
)
def test_other_calls_load_nothing_heavy(call):
    assert loaded(f"{call}\nshow()") == [set()]


def test_warnings_read_the_arrays():
    bar = fa.Section.rectangle(0.005, 0.005)
    flexible = fa.Flexible(bend_y=1, stiffening="shortening")
    link = fa.Link("bar", 1.0, section=bar, material=fa.Material(E=7e9, rho=2700.0), flexible=flexible)
    with pytest.warns(fa.ValidityWarning, match="link 'bar' bends by"):
        run = fa.simulate(fa.Robot(links=[link]), 0.3, torque=[3.0], native=False)
    assert is_plain(run)


def test_the_dataset_is_made_once_and_is_what_was_recorded():
    run = simulated()
    assert is_plain(run)
    plain = run._records._held
    assert isinstance(run.data, xr.Dataset)
    assert run.data is run.data
    assert set(run.data.variables) == {*plain.variables, *(name for name, _, _ in plain.labels)}
    for name, variable in plain.variables.items():
        assert run.data[name].dims == variable.dims
        assert np.array_equal(run.data[name].values, variable.values), name
    assert run.data.attrs == plain.attrs
    assert run.time.attrs == {"units": "s"}
    assert {type(each) for each in (run.time, run.tip, run.torque, run["arm.q"])} == {xr.DataArray}


def test_threads_that_ask_at_once_get_the_same_dataset():
    for _ in range(5):
        run, together = simulated(), Barrier(8)

        def read(_, run=run, together=together):
            together.wait()
            return run.data

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(read, range(8)))
        assert all(each is run.data for each in found)


@pytest.mark.parametrize("read_first", [False, True])
def test_runs_are_pickled_and_copied_as_they_are(read_first):
    run = simulated()
    if read_first:
        run.data.attrs["note"] = "mine"
    for again in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert is_plain(again) is not read_first
        assert repr(again) == repr(run)
        again.data["q"].values[:] = 7.0  # of its own
        assert not (run.array("q") == 7.0).any()
    assert pickle.loads(pickle.dumps(run)).data.identical(run.data)
    assert copy.copy(run).data is run.data


def test_a_shallow_copy_shares_a_dataset_that_is_made_later():
    run = simulated()
    other = copy.copy(run)
    assert other.data is run.data


def test_what_a_user_does_to_the_data_is_what_the_run_says():
    run = simulated()
    run.data.attrs |= {"reason": "stopped", "status": "stopped"}
    run.data["time"] = run.data["time"] * 2
    assert (run.reason, run.status) == ("stopped", "stopped")
    assert "to t = 0.2 s, stopped" in repr(run)
    assert run.array("time")[-1] == pytest.approx(0.2)


def test_data_can_be_replaced_by_data():
    run = simulated()
    run.data = run.data.isel(time=slice(0, 5))
    assert len(run.time) == 5
    with pytest.raises(TypeError, match="data = 3: must be the Dataset of a run"):
        run.data = 3
    assert len(run.time) == 5


def test_an_interruption_while_results_are_gathered_is_in_the_run(monkeypatch):
    """Ctrl-C comes when all is computed: the run is whole and says so."""
    gather = simulation.results

    def pressed(loop, *rest):
        loop.interrupts.pressed = True
        return gather(loop, *rest)

    monkeypatch.setattr(simulation, "results", pressed)
    with pytest.warns(fa.ValidityWarning, match="the run ended early: interrupted"):
        run = simulated()
    assert is_plain(run)
    assert run.status == run.data.attrs["status"] == "interrupted"
    assert run.reason == run.data.attrs["reason"]


def test_arrays_are_the_numbers_of_the_data_before_and_after_it_is_made():
    run = simulated()
    names = ["time", "q", "v", "a", "tip", "tip_rotation", "deflection", "torque", "kinetic", "points"]
    before = {name: run.array(name) for name in names}
    assert is_plain(run)
    run.data  # noqa: B018
    for name, values in before.items():
        assert type(values) is type(run.array(name)) is np.ndarray
        assert np.array_equal(values, run.data[name].values), name
        assert np.array_equal(values, run.array(name)), name


@pytest.mark.parametrize("read_first", [False, True])
@pytest.mark.parametrize("name", ["tipp", "coordinate", "link", "arm.q", 3, None, ["q"]])
def test_an_array_that_is_not_there_is_a_sentence(name, read_first):
    run = simulated()
    if read_first:
        run.data  # noqa: B018
    with pytest.raises(KeyError, match=r"there is no array .* in this run; (did you mean '\w+'|there are q, v, a)"):
        run.array(name)


def test_saved_without_having_been_read(tmp_path):
    run = simulated()
    run.save(tmp_path / "a.nc")
    assert fa.Run.load(tmp_path / "a.nc").data.identical(run.data)


def test_records_of_a_dataset_hold_it():
    data = simulated().data
    assert Records(data).dataset is data
