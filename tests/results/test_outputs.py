"""A run between its samples."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.results import step_history as node_module

BAR = {"section": fa.Section.rectangle(0.05, 0.05), "material": fa.Material(E=2e6, rho=2700.0)}
SWING = fa.Robot(
    links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 0.7, mass=0.5)], gravity=(0, -9.81, 0)
)  # a double pendulum
SOFT = fa.Robot(links=[fa.Link("a", 1.0, flexible=fa.Flexible(bend_y=1), **BAR)])
ARM = fa.Robot(links=[fa.Link("arm", 1.0, mass=3.0)])  # inertia 1 about its root
FOUR_BAR = fa.Robot(
    links=[
        fa.Link("crank", 0.2, mass=1.0),
        fa.Link("coupler", 0.7, mass=1.0),
        fa.Link("rocker", 0.5, mass=1.0, parent="ground", offset=(0.7, 0, 0)),
    ],
    constraints=[fa.Loop("coupler", "rocker")],
)
INSIDE = np.linspace(0, 1, 997)[1:-1]


@pytest.fixture(scope="module")
def stepped():
    """A torque of 1 N m that turns to -1 N m at t = 0.5 s."""
    return fa.simulate(ARM, 1.0, torque={"arm": jump()}, native=False)


def jump():
    return fa.bang_bang(1.0, (0.5, 1.0))


def swung(method, dt, robot=SWING):
    torque = {"a": fa.sine(1.0, 1.0)}
    return fa.simulate(robot, 1.0, torque=torque, q0={"a.q": 0.5}, method=method, dt=dt, rtol=1e-12, native=False)


def test_samples_are_what_the_steps_say():
    run = fa.simulate(
        SOFT, 0.3, torque={"a": fa.sine(0.5, 3.0)}, points={"middle": ("a", 0.5)}, sample=0.01, native=False
    )
    again = run.at(run.array("time"))
    for name in run._records.names:
        assert_allclose(again.array(name), run.array(name), atol=1e-10, err_msg=name)
    assert again.names == run.names
    assert again.options == run.options


def test_constraints_hold_between_steps():
    run = fa.simulate(
        FOUR_BAR,
        0.3,
        motion={"crank": fa.cycloid(0, 2.0, 0.3)},
        q0={"coupler.q": 0.7954, "rocker.q": 1.5908},
        sample=0.01,
        native=False,
    )
    there = run.at(np.linspace(0, 0.3, 301))
    assert there.array("violation").max() < 1e-9
    assert there.array("reaction").shape == (301, 2)
    assert_allclose(run.at(run.array("time")).torque, run.torque, atol=1e-9)


@pytest.mark.parametrize(
    ("method", "sizes", "orders"),
    [
        ("esdirk", (0.005, 0.0025), (5, 5, 4)),
        ("rk45", (0.01, 0.005), (5, 5, 4)),
        ("generalized-alpha", (0.01, 0.005), (2, 2, 2)),
    ],
)
def test_a_run_is_read_between_its_steps_at_the_order_of_its_method(method, sizes, orders):
    exact = swung("rk45", 0.001).at(INSIDE)
    errors = [
        [np.abs(swung(method, dt).at(INSIDE).array(name) - exact.array(name)).max() for name in "qva"] for dt in sizes
    ]
    assert (np.log2(np.divide(*errors)) > np.array(orders) - 0.35).all()


def test_at_a_jump_the_run_is_read_after_it_and_before_it_just_before(stepped):
    times = [0.25, 0.5 - 1e-9, 0.5, 0.75]
    there = stepped.at(times)
    assert_allclose(there.array("torque")[:, 0], [1, 1, -1, -1])
    assert_allclose(there.array("a")[:, 0], [1, 1, -1, -1], atol=1e-9)
    assert_allclose(there.array("q")[:, 0], [1 / 32, 1 / 8, 1 / 8, 7 / 32], atol=1e-8)


def test_samples_at_jumps_obey_the_equations(stepped):
    """Acceleration and torque are both those after the jump; at the end, those before."""
    assert_allclose(stepped.array("a")[:, 0], stepped.array("torque")[:, 0], atol=1e-9)
    assert stepped.array("torque")[-1, 0] == -1


def test_samples_at_the_ticks_of_a_controller_obey_the_equations():
    law = fa.Feedback(lambda t, q, v: [np.cos(40 * t)], rate=30)
    run = fa.simulate(ARM, 1.0, torque=law, sample=1 / 90, native=False)
    assert_allclose(run.array("a"), run.array("torque"), atol=1e-9)
    assert_allclose(run.array("torque")[:-1, 0], np.cos(40 * (np.arange(90) // 3) / 30), atol=1e-12)


def test_flexible_samples_at_jumps_obey_the_equations():
    run = fa.simulate(SOFT, 0.4, torque={"a": fa.bang_bang(1.0, (0.1, 0.2))}, sample=0.1, native=False)
    system = fa.System(SOFT, native=False)
    for row in (0, 1, 2):
        found = system.inverse_dynamics(*(run.array(name)[row] for name in "qva"))
        assert_allclose(found, [run.array("torque")[row, 0], *np.zeros(system.nq - 1)], atol=1e-8)


def test_a_time_is_a_sample_and_times_keep_their_order(stepped):
    assert stepped.at(0.5).tip.shape == (1, 3)
    assert len(stepped.at(np.float32(0.5)).time) == 1
    assert_allclose(stepped.at([0.5, 0.1, 0.1]).array("time"), [0.5, 0.1, 0.1])
    assert_allclose(stepped.at([0.5, 0.1])["arm.q"].values, stepped.at([0.1, 0.5])["arm.q"].values[::-1])
    assert_allclose(stepped.at(0.3).at(0.7)["arm.q"].values, stepped.at(0.7)["arm.q"].values)


def test_energies_are_balanced_against_the_start(stepped):
    assert_allclose(stepped.at(0.4).energy["balance"], 0.0, atol=1e-9)
    assert_allclose(stepped.at(0.4).energy["kinetic"], 0.08, atol=1e-9)


@pytest.mark.parametrize("t", [-0.1, 1.1, np.nan, np.inf, [0.5, 2.0]])
def test_times_outside_the_run_are_refused(stepped, t):
    with pytest.raises(ValueError, match=r"t = .*: must be between 0 and 1 s, the end of this run"):
        stepped.at(t)


@pytest.mark.parametrize("t", ["now", None, [], [[0.1]], True, 1j, [0.1, "b"]])
def test_what_is_no_time_is_refused(stepped, t):
    with pytest.raises(ValueError, match="t = "):
        stepped.at(t)


def test_the_end_may_be_missed_by_rounding(stepped):
    assert_allclose(stepped.at(1 + 1e-15).array("q"), stepped.array("q")[-1:])


def test_a_run_that_ended_early_is_read_up_to_there():
    with pytest.warns(fa.ValidityWarning, match="ended early"):
        run = fa.simulate(ARM, 2.0, torque=[1.0], events=lambda t, q, v: 0.5 - q[0], native=False)
    assert_allclose(run.at([0.5, 1.0 - 1e-9]).array("q")[:, 0], [0.125, 0.5], atol=1e-8)
    with pytest.raises(ValueError, match="must be between 0 and 1 s"):
        run.at(1.1)


def test_saved_runs_are_read_between_their_samples_but_for_what_needs_inputs(stepped, tmp_path):
    stepped.save(tmp_path / "run.nc")
    again = fa.Run.load(tmp_path / "run.nc")
    assert again.data.identical(stepped.data)
    assert again.names == stepped.names
    there, then = again.at([0.2, 0.6]), stepped.at([0.2, 0.6])
    for name in ("time", "q", "v", "a", "tip", "deflection", "kinetic", "work", "balance"):
        assert_allclose(there.array(name), then.array(name), atol=1e-12, err_msg=name)
    for read in (lambda: there.torque, lambda: there["torque.arm"], lambda: there.array("torque")):
        with pytest.raises(KeyError, match=r"there is no 'torque.*has left its inputs behind"):
            read()
    assert [name for name in there.names if "torque" in name] == []
    assert list(there.to_dataframe().columns) == there.names


def test_points_and_constraints_of_saved_runs(tmp_path):
    start = {"coupler.q": 0.7954, "rocker.q": 1.5908}
    run = fa.simulate(
        FOUR_BAR, 0.2, torque={"crank": 1.0}, q0=start, points={"elbow": ("crank", 0.2)}, sample=0.05, native=False
    )
    run.save(tmp_path / "run.nc")
    there, then = fa.Run.load(tmp_path / "run.nc").at(0.123), run.at(0.123)
    assert_allclose(there["elbow.x"], then["elbow.x"], atol=1e-6)
    assert there.array("violation")[0] < 1e-5
    with pytest.raises(KeyError, match="inputs behind"):
        there["reaction"]


def test_files_without_steps_are_read_at_their_samples_only(stepped, tmp_path):
    fa.Run(stepped.data).save(tmp_path / "old.nc")
    with pytest.raises(ValueError, match=r"between its samples: it was made from data.*run\.data\.interp"):
        fa.Run.load(tmp_path / "old.nc").at(0.5)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda run: pickle.loads(pickle.dumps(run))])
def test_copies_are_as_saved_runs(stepped, again):
    other = again(stepped)
    assert_allclose(other.at(0.3).array("q"), stepped.at(0.3).array("q"), atol=1e-12)
    with pytest.raises(KeyError, match="inputs behind"):
        other.at(0.3).torque  # noqa: B018
    assert copy.copy(stepped).at(0.3).array("torque")[0, 0] == 1.0


def test_other_data_have_other_steps(stepped):
    run = copy.copy(stepped)
    run.data = stepped.data.isel(time=slice(0, 10))
    with pytest.raises(ValueError, match="cannot be read between"):
        run.at(0.001)


def test_long_runs_say_that_their_steps_were_not_kept(monkeypatch):
    monkeypatch.setattr(node_module, "MAX_HISTORY_BYTES", 1000)
    run = fa.simulate(ARM, 1.0, torque=[1.0], dt=1e-3, native=False)
    with pytest.raises(ValueError, match="its 1000 steps take more memory than"):
        run.at(0.5)


def test_sundials_keeps_its_steps():
    run = fa.simulate(ARM, 1.0, torque=[1.0], method="adams", native=False)
    with pytest.raises(ValueError, match="adams and bdf keep their steps to themselves"):
        run.at(0.5)


def test_threads_may_read_one_run(stepped):
    times = [np.linspace(0, 1, 50 + k) for k in range(16)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda t: stepped.at(t).array("kinetic"), times))
    for t, kinetic in zip(times, found, strict=True):
        assert_allclose(kinetic, np.where(t < 0.5, t, 1 - t) ** 2 / 2, atol=1e-8)


def test_runs_are_compared_at_the_order_of_the_other(stepped):
    coarse = fa.simulate(ARM, 1.0, torque={"arm": jump()}, sample=0.25, native=False)
    assert np.abs(stepped.compare(coarse)["q"]).max() < 1e-9
    straight = np.abs(stepped.compare(fa.Run(coarse.data))["q"]).max()
    assert straight > 5e-3
