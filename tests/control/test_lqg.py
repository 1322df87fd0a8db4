"""State feedback and observers: cost, poles, reduced models, integrals, sampling, limits, refusals."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import simpson

import flexarm as fa
from flexarm.control import linear_controller
from flexarm.control.riccati import integrated_gramian
from tests.control.closed_loops import beam, closed_loop_poles, same_poles

ROD = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])  # q'' = u


@pytest.fixture(scope="module")
def hanging():
    system = fa.System(beam(), native=False)
    q = fa.equilibrium(system, {"beam.q": 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        lin = fa.linearize(system, q, inputs=["beam", "tip.fy"], outputs=["beam.q", "tip.y", "beam.strain(0.1)"])
    return system, q, lin


def design_of(lin, **given):
    given = {"integral": {"tip.y": 5000.0}, **given}
    noise = {"beam.q": 1e-6, "tip.y": 1e-6}
    return fa.lqg(lin, {"tip.y": 100.0}, 0.1, process={"beam": 1.0, "tip.fy": 1.0}, noise=noise, **given)


def test_poles_are_those_of_feedback_and_observer(hanging):
    """The separation principle, on the model and by the law as it is compiled for the robot."""
    system, q, lin = hanging
    design = design_of(lin, integral=None)
    B, C = lin.B[:, :1], lin.C[:2]
    expected = np.concatenate([np.linalg.eigvals(lin.A - B @ design.K), np.linalg.eigvals(lin.A - design.L @ C)])
    assert same_poles(design.poles, expected)
    plain = lin.part(None, ["beam"])
    assert same_poles(closed_loop_poles(system, design.feedback(), plain, q), expected, 1e-5)


def test_an_estimate_of_a_reduced_model_serves_the_robot(hanging):
    """Under a constant load, and towards a reference; reduced and sampled."""
    system, q, lin = hanging
    goal = lin.outputs_at["tip.y"] + 0.002
    for model, rate in ((lin, None), (lin.reduce(4), None), (lin.reduce(4), 200.0)):
        design = design_of(model, references={"tip.y": goal}, rate=rate)
        slowest = design.closed_loop(lin).poles
        assert (slowest.real.max() < 0) if rate is None else (np.abs(slowest).max() < 1)
        load = [fa.PointLoad("beam", force=[0, -0.3, 0])]
        run = fa.simulate(system, 3.0, torque=design.feedback(), q0=q, loads=load, native=False)
        assert run.tip.values[-1, 1] == pytest.approx(goal, abs=3e-5)


def test_a_digital_one_becomes_the_continuous_one():
    lin = fa.linearize(ROD)
    given = ({"rod.q": 1.0}, 1.0, {"rod": 1.0}, {"rod.q": 1.0})
    exact = fa.simulate(ROD, 3.0, torque=fa.lqg(lin, *given).feedback(), q0={"rod.q": 0.5}, rtol=1e-9, native=False)
    ends = []
    for rate in (20.0, 80.0):
        design = fa.lqg(lin, *given, rate=rate)
        decay = np.log(np.abs(design.poles)).max() * rate
        assert decay == pytest.approx(-np.sqrt(0.5), rel=1.0 / rate)
        run = fa.simulate(ROD, 3.0, torque=design.feedback(), q0={"rod.q": 0.5}, rtol=1e-9, native=False)
        ends.append(np.abs(run["rod.q"].values - exact["rod.q"].values).max())
    assert ends[1] < 0.3 * ends[0] < 0.02


def test_a_digital_one_builds_no_expressions_at_its_samples(hanging, monkeypatch):
    system, q, lin = hanging
    law = design_of(lin.reduce(4), rate=200.0).feedback()
    fa.simulate(system, 0.1, torque=law, q0=q, native=False)  # the law is traced once

    def refused(matrix):
        raise AssertionError("a matrix of CasADi is built at a sample")

    monkeypatch.setattr(linear_controller.ca, "sparsify", refused)
    run = fa.simulate(system, 0.1, torque=law, q0=q, native=False)
    assert run.status == "completed"


def test_a_sampled_observer_of_an_output_that_inputs_reach_at_once(hanging):
    """The closed loop with the model agrees with a simulation of the linear model."""
    _, _, lin = hanging
    design = design_of(lin.reduce(4), rate=200.0, integral=None)
    assert "last" in design.states
    model, own = design.model, design.matrices
    x, s, last = np.array([1e-3, 0, 0, 0]), np.zeros(len(own.A)), np.zeros(1)
    states = [np.concatenate([x, last, s])]
    C, D = model.C[:2], model.D[:2]
    for _ in range(50):
        y = C @ x + D @ last
        u = own.C @ s + own.D @ y
        s = own.A @ s + own.B @ y + own.H @ u
        x, last = model.A @ x + model.B @ u, u
        states.append(np.concatenate([x, last, s]))
    A = design.closed_loop().A
    found = [states[0]]
    for _ in range(50):
        found.append(A @ found[-1])
    assert_allclose(found, states, atol=1e-12)


def test_noise_of_a_period_is_exact_for_fast_modes_too():
    F = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert_allclose(integrated_gramian(F, np.diag([0.0, 1.0]), 0.6), [[0.6**3 / 3, 0.18], [0.18, 0.6]], rtol=1e-12)
    stiff = np.diag([-1e5, -1.0])
    assert_allclose(np.diag(integrated_gramian(stiff, np.eye(2), 1.0)), [0.5e-5, (1 - np.exp(-2)) / 2], rtol=1e-9)


def test_what_is_refused(hanging):
    _, _, lin = hanging
    free = fa.linearize(beam(g=0.0), inputs=["beam", "tip.fz"], outputs=["beam.q", "beam.strain(0.1)"])
    given = {"lin": lin, "Q": {"tip.y": 1.0}, "R": 1.0, "process": {"beam": 1.0}, "noise": {"beam.q": 1.0}}
    for change, words in [
        ({"noise": {"beam.p": 1.0}}, "did you mean 'beam.q'"),
        ({"noise": {"beam.q": 0.0}}, "positive"),
        ({"noise": 1.0}, "noise = 1.0"),
        ({"process": {"bean": 1.0}}, "did you mean 'beam'"),
        ({"integral": {"tip.y": 1.0}}, "'tip.y' is not measured"),
        ({"lin": free, "Q": {"beam.q": 1.0}, "noise": {"beam.strain(0.1)": 1.0}}, "the rigid motion .* is not seen in"),
        ({"lin": free, "Q": {"beam.q": 1.0}, "process": {"tip.fz": 1.0}}, "is reached by no noise of `process`"),
    ]:
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            fa.lqg(**{**given, **change})


def test_missing_python_control_gives_advice(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "control", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'control>=0\.10\.1'"):
        fa.lqr(fa.linearize(ROD), {"rod.q": 1.0})


# --- state feedback ---


@pytest.fixture(scope="module")
def held_beam():
    """A beam held at an angle against gravity: system, posture, linear model."""
    system = fa.System(beam(), native=False)
    q = fa.equilibrium(system, {"beam.q": 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        lin = fa.linearize(system, q, inputs=["beam"], outputs=["beam.q", "tip.y"])
    return system, q, lin


def test_the_gain_of_a_double_integrator():
    design = fa.lqr(fa.linearize(ROD), {"rod.q": 4.0}, {"rod": 0.25})
    assert_allclose(design.K, [[4.0, np.sqrt(8.0)]])
    assert design.states == {}
    margin = design.margins()["rod"]
    assert margin.distance == pytest.approx(1.0, abs=1e-6)  # Kalman's circle
    assert margin.phase > np.pi / 3


def test_the_cost_that_is_left_is_what_a_simulation_costs(held_beam):
    system, q, lin = held_beam
    design = fa.lqr(lin, {"tip.y": 100.0, "beam.q'": 0.1}, 0.1)
    x0 = np.zeros(6)
    x0[0], x0[3] = 1e-4, 1e-3
    start = {**dict(zip(system.names, q)), "beam.q": q[0] + x0[0]}
    run = fa.simulate(
        system, 3.0, torque=design.feedback(), q0=start, v0={"beam.q": x0[3]}, sample=2e-4, rtol=1e-10, native=False
    )
    y = run.tip.values[:, 1] - lin.outputs_at["tip.y"]
    rate = run.data["v"].values[:, 0]
    u = run.torque.values[:, 0] - lin.held["beam"]
    cost = simpson(100.0 * y**2 + 0.1 * rate**2 + 0.1 * u**2, x=run.data["time"].values)
    assert cost == pytest.approx(x0 @ design.P @ x0, rel=2e-3)


def test_a_sampled_design_has_the_cost_between_samples():
    """The cost is the integral, not a sum over samples, at two samples per second."""
    design = fa.lqr(fa.linearize(ROD), {"rod.q": 1.0}, 1.0, rate=2.0)
    run = fa.simulate(ROD, 30.0, torque=design.feedback(), q0={"rod.q": 1.0}, sample=0.005, rtol=1e-9, native=False)
    t, q, u = run.data["time"].values, run["rod.q"].values, run.torque.values[:, 0]
    held = np.asarray(u[np.minimum((t * 2 + 1e-9).astype(int) * 100, len(u) - 1)])  # its value from the sample on
    assert simpson(q**2, x=t) + (held[:-1:100] ** 2).sum() * 0.5 == pytest.approx(design.P[0, 0], rel=1e-6)


def test_the_law_on_the_robot_has_the_poles_of_the_design(held_beam):
    system, q, lin = held_beam
    design = fa.lqr(lin, {"tip.y": 100.0}, 0.1, integral={"tip.y": 50.0})
    expected = np.linalg.eigvals(np.block([[lin.A, np.zeros((6, 1))], [lin.C[1:], np.zeros((1, 1))]])
                               - np.vstack([lin.B, [[0.0]]]) @ design.K)  # fmt: skip
    assert same_poles(design.poles, expected)
    assert same_poles(closed_loop_poles(system, design.feedback(), lin, q), expected, 1e-5)
    assert design.poles.real.max() < 0


def test_integrals_remove_what_a_constant_load_leaves(held_beam):
    system, q, lin = held_beam
    load = [fa.PointLoad("beam", force=[0, -0.5, 0])]
    errors = {}
    for name, integral in (("without", None), ("with", {"tip.y": 500.0})):
        design = fa.lqr(lin, {"tip.y": 100.0}, 0.1, integral=integral)
        run = fa.simulate(system, 6.0, torque=design.feedback(), q0=q, loads=load, native=False)
        errors[name] = abs(run.tip.values[-1, 1] - lin.outputs_at["tip.y"])
    assert errors["without"] > 5e-3
    assert errors["with"] < 1e-4 * errors["without"] + 2e-5


def test_references_are_where_outputs_go(held_beam):
    system, q, lin = held_beam
    goal = lin.outputs_at["tip.y"] + 0.002
    design = fa.lqr(lin, {"tip.y": 100.0}, 0.1, references={"tip.y": goal})
    run = fa.simulate(system, 4.0, torque=design.feedback(), q0=q, native=False)
    assert run.tip.values[-1, 1] == pytest.approx(goal, abs=2e-5)
    closed = design.closed_loop()
    assert closed.dc_gain[closed.outputs.index(next(each for each in closed.outputs if each.name == "beam.q")), 0] > 0


def test_a_digital_regulator_becomes_the_continuous_one():
    lin = fa.linearize(ROD)
    design = fa.lqr(lin, {"rod.q": 1.0}, 1.0, integral=["rod.q"])
    gaps, ends = [], []
    exact = fa.simulate(ROD, 2.0, torque=design.feedback(), q0={"rod.q": 0.5}, rtol=1e-9, native=False)
    for rate in (20.0, 40.0, 80.0):
        digital = fa.lqr(lin, {"rod.q": 1.0}, 1.0, integral=["rod.q"], rate=rate)
        assert np.abs(digital.poles).max() < 1
        run = fa.simulate(ROD, 2.0, torque=digital.feedback(), q0={"rod.q": 0.5}, rtol=1e-9, native=False)
        gaps.append(np.abs(digital.K - design.K).max())
        ends.append(abs(float(run["rod.q"][-1] - exact["rod.q"][-1])))
    assert_allclose(np.divide(gaps[:-1], gaps[1:]), 2.0, atol=0.25)
    assert ends[2] < 0.3 * ends[0] < 0.01


def test_a_limit_does_not_wind_integrals_up():
    lin = fa.linearize(ROD)
    design = fa.lqr(lin, {"rod.q": 1.0}, 1.0, integral={"rod.q": 1.0}, references={"rod.q": 3.0})
    run = fa.simulate(ROD, 25.0, torque=design.feedback(limit=0.3), rtol=1e-6, native=False)
    assert np.abs(run.torque.values).max() == pytest.approx(0.3)
    assert float(run["rod.q"].max()) < 3.3
    assert float(run["rod.q"][-1]) == pytest.approx(3.0, abs=5e-3)


def test_two_actuators_by_name_and_one_that_only_holds():
    arm = fa.Robot("arm", links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)])
    lin = fa.linearize(arm)
    design = fa.lqr(lin, {"a.q": 1.0, "b.q": 1.0}, {"a": 1.0, "b": 2.0}, references={"b.q": 0.1, "a.q": 0.05})
    run = fa.simulate(arm, 15.0, torque=design.feedback(), native=False)
    assert_allclose(run.data["q"].values[-1], [0.05, 0.1], atol=2e-3)
    assert set(design.margins()) == {"a", "b"}


def test_an_actuator_that_the_model_leaves_out_holds_its_torque():
    arm = fa.Robot("arm", links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)], gravity=(9.81, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        lin = fa.linearize(arm, {"b.q": 0.4}, inputs=["a"])
    design = fa.lqr(lin, {"a.q": 1.0})
    run = fa.simulate(arm, 0.5, torque=design.feedback(), q0={"b.q": 0.4}, native=False)
    assert_allclose(run.torque.values, np.tile([lin.held["a"], lin.held["b"]], (len(run.torque), 1)), atol=1e-6)
    assert lin.held["b"] == pytest.approx(0.5 * 9.81 * np.sin(0.4))


def test_what_a_regulator_refuses():
    lin = fa.linearize(ROD)
    flexible = fa.linearize(beam(g=0.0))
    for given, words in [
        ({"lin": flexible.reduce(4)}, "cannot be read from the robot"),
        ({"lin": lin.discrete(0.1)}, "sampled already"),
        ({"lin": fa.linearize(ROD, inputs=["tip.fy"])}, "no input that is an actuator"),
        ({"lin": fa.linearize(ROD, inputs=["rod.q''"])}, "driven"),
        ({"lin": fa.linearize(ROD, v={"rod.q": 1.0})}, "a state that moves"),
        ({"Q": {"rod.p": 1.0}}, "did you mean 'rod.q'"),
        ({"Q": {"rod.q": -1.0}}, "positive"),
        ({"Q": {"rod.q'": 1.0}}, r"the rigid motion \(mostly rod.q\) has no weight"),
        ({"Q": np.eye(3)}, "2 rows"),
        ({"Q": -np.eye(2)}, "negative eigenvalues"),
        ({"R": {"rob": 1.0}}, "did you mean 'rod'"),
        ({"R": 0.0}, "positive"),
        ({"integral": "rod.q"}, "names of outputs"),
        ({"integral": ["rod.q'"]}, r"the integral of rod.q'.* cannot be moved|rigid motion .* cannot be moved"),
        ({"references": {"rod.q'": 1.0}}, "cannot hold 'rod.q''"),
        ({"references": 3.0}, "by output"),
        ({"rate": 0.0}, "rate = 0.0"),
    ]:
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            fa.lqr(**{"lin": lin, "Q": {"rod.q": 1.0}, "R": 1.0, **given})


def test_a_mode_that_is_not_moved_is_named():
    """Two pendulums side by side, of which one is pushed."""
    held_beam = [fa.Link("a", 1.0, mass=1.0), fa.Link("b", 0.5, mass=1.0, parent="ground")]
    lin = fa.linearize(fa.Robot("two", links=held_beam, gravity=(9.81, 0, 0)), inputs=["a"])
    hertz = np.sqrt(1.5 * 9.81 / 0.5) / (2 * np.pi)
    with pytest.raises(ValueError, match=rf"the mode at {hertz:.4g} Hz \(mostly b\.q'?\) cannot be moved by 'a'"):
        fa.lqr(lin, {"a.q": 1.0, "b.q": 1.0})
    with pytest.raises(ValueError, match=rf"the mode at {hertz:.4g} Hz .* has no weight in Q"):
        fa.lqr(fa.linearize(fa.Robot("two", links=held_beam, gravity=(9.81, 0, 0))), {"a.q": 1.0})


def test_a_design_may_be_used_twice_and_its_arguments_changed():
    weights, goals = {"rod.q": 1.0}, {"rod.q": 0.3}
    design = fa.lqr(fa.linearize(ROD), weights, references=goals)
    law = design.feedback()
    first = fa.simulate(ROD, 1.0, torque=law, native=False)
    weights["rod.q"], goals["rod.q"] = 9.0, 9.0
    again = fa.simulate(ROD, 1.0, torque=law, native=False)
    assert_allclose(first["rod.q"].values, again["rod.q"].values, atol=0)
