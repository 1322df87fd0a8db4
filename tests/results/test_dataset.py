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
from flexarm.results.dataset import Arrays, Records
from flexarm.simulation import simulate as simulation

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
@pytest.mark.parametrize("name", ["tipp", "bar.qq", 3, None, ["q"]])
def test_an_array_that_is_not_there_is_a_sentence(name, read_first):
    run = simulated()
    if read_first:
        run.data  # noqa: B018
    with pytest.raises(KeyError, match=r"there is no .* in this run; (did you mean '[\w.]+'|there are q, v, a)"):
        run.array(name)


def test_saved_without_having_been_read(tmp_path):
    run = simulated()
    run.save(tmp_path / "a.nc")
    assert fa.Run.load(tmp_path / "a.nc").data.identical(run.data)


def test_records_of_a_dataset_hold_it():
    data = simulated().data
    assert Records(data).dataset is data


# --- what is computed when it is read ---


@pytest.fixture
def settled(monkeypatch):
    """Count the computations of accelerations at samples."""
    from flexarm.results.outputs import Inputs

    calls, own = [], Inputs.settled

    def counted(self, *given):
        calls.append(len(given[0]))
        return own(self, *given)

    monkeypatch.setattr(Inputs, "settled", counted)
    return calls


def driven(**options) -> fa.Run:
    """A driven joint and a free one."""
    links = [fa.Link("arm", 1.0, mass=1.0), fa.Link("fore", 0.5, fa.Revolute("z", viscous=0.01), mass=0.5)]
    move = {"arm": fa.cycloid(0.0, 0.5, 0.2)}
    return fa.simulate(fa.Robot(links=links), 0.2, motion=move, native=False, **options)


def test_accelerations_and_torques_are_computed_when_they_are_read_and_once(settled):
    run = driven()
    for name in ("time", "q", "v", "tip", "deflection", "kinetic", "balance"):
        run.array(name)
    assert not settled
    found = run.array("torque"), run.array("a")
    assert np.shares_memory(run.array("a"), found[1])
    assert settled == [len(run.array("time"))]
    again = run.at(run.array("time"))
    np.testing.assert_array_equal(again.array("a")[1:], found[1][1:])
    np.testing.assert_allclose(again.array("torque"), found[0], rtol=1e-12, atol=1e-15)


def test_torques_read_later_are_those_of_inverse_dynamics():
    run = driven()
    system = fa.System(run.robot)
    tau = system.inverse_dynamics(run.array("q"), run.array("v"), run.array("a"))
    np.testing.assert_allclose(run.array("torque")[:, 0], tau[:, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "file", "copy", "data"])
def test_what_was_not_read_is_in_copies_pickles_and_files(way, tmp_path):
    expected, run = driven(), driven()
    if way == "pickle":
        run = pickle.loads(pickle.dumps(run))
    elif way == "deepcopy":
        run = copy.deepcopy(run)
    elif way == "copy":
        run = copy.copy(run)
    elif way == "data":
        run = fa.Run(run.data)
    else:
        run.save(tmp_path / "run.nc")
        run = fa.Run.load(tmp_path / "run.nc")
    for name in ("a", "torque"):
        np.testing.assert_array_equal(run.array(name), expected.array(name))


def test_threads_that_read_at_once_compute_once(settled):
    run, barrier = driven(), Barrier(8)

    def read(name):
        barrier.wait()
        return np.array(run.array(name)), run.at(0.1).array("torque")

    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(read, ["a", "torque"] * 4)]
    assert settled.count(len(run.array("time"))) == 1
    expected = driven()
    for name, (values, between) in zip(["a", "torque"] * 4, found, strict=True):
        np.testing.assert_array_equal(values, expected.array(name))
        np.testing.assert_array_equal(between, expected.at(0.1).array("torque"))


def test_an_interrupted_computation_starts_again(monkeypatch):
    from flexarm.results.outputs import Inputs

    run, own = driven(), Inputs.settled

    def pressed(self, *given):
        monkeypatch.setattr(Inputs, "settled", own)
        raise KeyboardInterrupt

    monkeypatch.setattr(Inputs, "settled", pressed)
    with pytest.raises(KeyboardInterrupt):
        run.array("a")
    np.testing.assert_array_equal(run.array("a"), driven().array("a"))


def test_functions_of_the_user_are_not_called_when_results_are_read():
    """A function with a memory answers as the run went on, not as its results are read."""
    state = {"size": 1.0, "calls": 0}

    def torque(t):
        state["calls"] += 1
        return state["size"] if float(t) < 0.05 else -state["size"]

    run = fa.simulate(ARM, 0.1, torque={"arm": torque}, native=False)
    calls, state["size"] = state["calls"], 5.0
    torques = run.array("torque")[:, 0]
    assert state["calls"] == calls
    np.testing.assert_allclose(np.abs(torques), 1.0)
    np.testing.assert_allclose(run.array("a")[:, 0], torques / (1 / 3))


def test_runs_of_laws_and_constraints_have_their_torques_at_once(settled):
    law = fa.Feedback(lambda t, q, v: -2.0 * q - v)
    run = fa.simulate(ARM, 0.1, torque=law, q0={"arm.q": 0.1}, native=False)
    assert settled
    before = len(settled)
    expected = -2.0 * run.array("q") - run.array("v")
    np.testing.assert_allclose(run.array("torque"), expected, rtol=1e-9, atol=1e-12)
    assert len(settled) == before


def test_a_first_simulation_does_not_import_what_it_does_not_need():
    """Masked arrays of NumPy take 10 ms: `np.unique`, `np.median` and `np.quantile` import them."""
    unneeded = (
        "numpy.ma",
        "flexarm.results.netcdf",
        "flexarm.results.internal_forces",
        "flexarm.dynamics.parameter_derivatives",
    )
    code = f"""
fa.simulate(arm, 1.0, torque={{"upper": fa.bang_bang(0.02, (0.3, 0.6))}}, native=False)
print(*(name for name in {unneeded} if name in sys.modules))
show()
"""
    assert loaded(code) == [set(), set()]
