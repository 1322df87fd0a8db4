"""One name, one quantity: the same in runs, laws, linear models, simulations, figures and the observations of gym."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics.quantity_names import (
    derivative,
    read_numbers,
    require_order,
    split_derivative,
    split_place,
    split_section,
    state_names,
    strain_name,
)
from flexarm.feedback.measurements import Instant, Reader
from flexarm.studio.curves import Quantities

ARM = fa.library.two_link_arm()
NAMES = [
    "upper.q",
    "upper.q'",
    "fore.bend_y[1]'",
    "tip.y",
    "tip.y'",
    "fore(0.2).x'",
    "deflection.fore.y",
    "fore.strain(0.1)",
    "fore.strain(0.1)'",
    "upper.strain(0.1, 0.0005, 0)",
]
WITH_FORCES = ["upper.q''", "tip.x''", "fore.moment(0.1)", "upper.shear_y(0.2)", "reaction.fore.fx"]


@pytest.fixture(scope="module")
def sim():
    stepped = fa.Simulation(ARM, 1e-3, q0={"fore.q": 0.5}, native=False)
    for _ in range(50):
        stepped.step({"upper": 0.05, "fore": -0.01})
    return stepped


@pytest.mark.parametrize("name", [*NAMES, *WITH_FORCES])
def test_a_quantity_is_the_same_everywhere(sim, name):
    system = sim.system
    expected = Reader(system)(name, Instant(sim.t, sim.q, sim.v, sim.a))
    assert_allclose(sim[name], expected, rtol=1e-9, atol=1e-12)
    given = {"q0": np.array(sim.q), "v0": np.array(sim.v), "torque": {"upper": 0.05, "fore": -0.01}, "native": False}
    run = fa.simulate(ARM, 0.001, **given)
    assert_allclose(float(run[name][0]), expected, rtol=1e-5, atol=1e-6)
    model = fa.linearize(ARM.with_({"gravity": (0.0, 0.0, 0.0)}), {"fore.q": 0.5}, outputs=[name])
    assert [each.name for each in model.outputs] == [name]
    assert model.outputs[0].unit == run[name].attrs["units"]
    assert run.plot(name).axes[0].get_ylabel()


@pytest.mark.parametrize("name", NAMES)
def test_laws_read_what_runs_have(name):
    read = []

    def law(t, x):
        read.append(x[name])
        return [0.05, -0.01]

    start = {"q0": {"fore.q": 0.5}, "v0": {"upper.q": 1.0}, "native": False}
    run = fa.simulate(ARM, 0.05, torque=fa.Feedback(law, rate=100.0), sample=0.01, **start)
    assert_allclose(run[name].values[: len(read)], read, rtol=1e-9, atol=1e-10)
    traced = fa.Feedback(lambda t, x: [0.05 - 0.001 * x[name], -0.01])
    run = fa.simulate(ARM, 0.05, torque=traced, **start)
    assert_allclose(run["torque.upper"].values, 0.05 - 0.001 * run[name].values, atol=1e-9)


def test_recorded_names_are_in_simulations_and_in_the_studio():
    run = fa.simulate(ARM, 0.01, native=False)
    stepped = fa.Simulation(ARM, 0.01, native=False)
    for name in run.names:
        if name != "balance":
            assert np.isfinite(stepped[name]), name
    assert set(run.names) <= set(Quantities(run).names)
    assert {"upper.q'", "upper.q''"} <= set(run.names)
    assert list(run.to_dataframe().columns) == run.names
    assert not [name for name in run.names if name.startswith(("v.", "a."))]


def test_unknown_names_are_told_the_nearest_one(sim):
    with pytest.raises(KeyError) as told:
        sim["uper.q'"]
    assert told.value.args[0].endswith("did you mean 'upper.q''?")
    with pytest.raises(KeyError, match=r"did you mean 'fore.strain\(0\)'"):
        sim["fora.strain(0.1)"]
    with pytest.raises(KeyError, match=r"did you mean 'upper\.q"):
        fa.linearize(ARM, outputs=["v.upper.q"])
    with pytest.raises(KeyError, match=r"the feedback law: .*did you mean 'tip\.y'"):
        fa.simulate(ARM, 0.01, torque=fa.Feedback(lambda t, x: [x["tipp.y"], 0.0]), native=False)


def test_names_are_taken_apart_and_put_together():
    assert derivative("a.q", 2) == "a.q''"
    assert split_derivative("a.strain(0.1)'") == ("a.strain(0.1)", 1)
    assert split_section("a.strain(0.1, 0.2, 0)") == ("a", "strain", "0.1, 0.2, 0")
    assert split_section("a(0.1).x") is None
    assert split_place("a(0.1)") == ("a", "0.1")
    assert split_place("a.tip") is None
    assert strain_name("a", np.float64(0.1), 1, 0) == "a.strain(0.1, 1.0, 0.0)"
    assert list(state_names(["a.q", "b.q"])) == ["a.q", "b.q", "a.q'", "b.q'", "a.q''", "b.q''"]
    assert read_numbers("a(1)", " 1e-1 ", 1) == [0.1]
    with pytest.raises(KeyError, match="3 primes"):
        require_order("a.q'''")
