"""Observers with state feedback: separation, reduced models, sampling, and what is refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

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
