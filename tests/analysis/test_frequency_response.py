"""Frequency responses from runs against those of the linear model, and warnings."""

import warnings

import numpy as np
import pytest

import flexarm as fa

OUTPUTS = ["tip.y", "tip.y'", "tip.y''", "beam.q", "deflection.beam.y", "beam.strain(1, 0.01, 0)"]
SWEEP = 10.0


@pytest.fixture(scope="module")
def system():
    damping = {"links.beam.flexible.damping": fa.Damping(ratio=0.02)}
    return fa.System(fa.library.rotating_beam(modes=3).with_(damping), native=False)


def chirped(system, amplitude, after):
    torque = {"beam": fa.chirp(amplitude, 0.2, 10.0, SWEEP)}
    return fa.simulate(system, SWEEP + after, torque=torque, rtol=1e-8, sample=0.02, native=False)


@pytest.fixture(scope="module")
def run(system):
    return chirped(system, 0.05, 2.0)


@pytest.fixture(scope="module")
def lin(system):
    return fa.linearize(system, inputs=["beam"], outputs=OUTPUTS)


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_chirp_gives_the_response_of_the_linear_model(run, lin, output):
    found = run.frf("beam", output)
    expected = lin[output, "beam"].frf(found.frequency)[:, 0, 0]
    assert found.frequency[[0, -1]] == pytest.approx([0.2, 10.0], abs=1.5)
    assert np.abs(found.response / expected - 1).max() < 5e-3
    assert found.unit == f"{lin[output, 'beam'].outputs[0].unit}/(N m)"
    assert np.median(found.coherence) > 0.99


def test_at_given_frequencies(run, lin):
    peak = np.abs(lin.poles.imag[np.abs(lin.poles.imag) > 1]).min() / (2 * np.pi)
    f = [1.0, peak, 5.0]
    found = run.frf("beam", "tip.y''", f)
    assert found.response == pytest.approx(lin["tip.y''", "beam"].frf(f)[:, 0, 0], rel=2e-3)
    assert found.magnitude == pytest.approx(np.abs(found.response))
    assert np.exp(1j * found.phase) == pytest.approx(found.response / found.magnitude)
    with pytest.raises(ValueError, match=r"does not excite 1\de?|f: must be at most"):
        run.frf("beam", "tip.y", [40.0])


def test_a_driven_joint_is_an_input(system):
    motion = {"beam": lambda t: 1e-4 * (1 - np.cos(2 * np.pi * (0.5 + 0.4 * t) * t))}
    shaken = fa.simulate(system, 6.0, motion=motion, rtol=1e-9, sample=0.02, native=False)
    model = fa.linearize(system, inputs=["beam.q''"], outputs=["deflection.beam.y"])
    with pytest.warns(fa.ValidityWarning, match="still moves at the end"):
        found = shaken.frf("beam.q''", "deflection.beam.y", [2.0])
    assert found.unit == "m/(rad/s2)"
    assert np.abs(found.response / model.frf([2.0])[:, 0, 0] - 1).max() < 0.5


def test_feedback_does_not_disturb_the_response(system, lin):
    """The torque of the actuator is the input, even if a feedback determines it."""
    sweep = fa.chirp(0.05, 0.2, 10.0, SWEEP)
    law = fa.Feedback(lambda t, q, v: [sweep(t) - 20 * q["beam.q"] - 40 * v["beam.q"]])
    held = fa.simulate(system, SWEEP + 6, torque=law, rtol=1e-9, sample=0.02, native=False)
    found = held.frf("beam", "tip.y''", np.linspace(1.0, 9.0, 60))
    expected = lin["tip.y''", "beam"].frf(found.frequency)[:, 0, 0]
    assert np.abs(found.response / expected - 1).max() < 1e-2


def test_what_holds_the_robot_is_no_input(system):
    """A robot held against gravity has the response about its deflected state."""
    heavy = fa.System(system.robot.with_({"gravity": (0, -0.2, 0)}), native=False)
    q0 = fa.equilibrium(heavy)
    hold, sweep = float(heavy.inverse_dynamics(q0, None, None)[0]), fa.chirp(0.02, 0.2, 8.0, 8.0)
    run = fa.simulate(
        heavy, 10.0, torque={"beam": lambda t: hold + sweep(t)}, q0=q0, rtol=1e-9, sample=0.02, native=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run.frf("beam", "beam.strain(1, 0.01, 0)", np.linspace(1, 7, 40))
    with pytest.warns(fa.ValidityWarning, match="no equilibrium"):
        about = fa.linearize(heavy, q0, inputs=["beam"], outputs=["beam.strain(1, 0.01, 0)"])
    assert np.abs(found.response / about.frf(found.frequency)[:, 0, 0] - 1).max() < 1e-2
    loose = fa.simulate(heavy, 2.0, torque={"beam": lambda t: hold + sweep(t)}, native=False)
    with pytest.warns(fa.ValidityWarning, match="links are not in equilibrium"):
        loose.frf("beam", "tip.y")


def test_other_inputs_cause_a_warning():
    links = [fa.Link(name, 1.0, mass=1.0) for name in ("upper", "fore")]
    arm, sweep = fa.System(fa.Robot(links=links), native=False), fa.chirp(1e-3, 1.0, 10.0, 1.5)
    both = fa.simulate(arm, 2.0, torque={"upper": sweep, "fore": lambda t: 0.5 * sweep(t)}, native=False)
    with pytest.warns(fa.ValidityWarning, match="fore: act in this run, too"):
        both.frf("upper", "tip.y''")
    push = [fa.PointLoad("fore", force=(0, lambda t: 1e-3 * np.sin(t), 0))]
    with pytest.warns(fa.ValidityWarning, match="loads: act in this run, too"):
        fa.simulate(arm, 2.0, torque={"upper": sweep}, loads=push, native=False).frf("upper", "tip.y''")
    held = fa.simulate(arm, 2.0, torque={"upper": sweep}, motion={"fore": 0.0}, rtol=1e-8, native=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = held.frf("upper", "tip.y''", [2.0, 4.0, 7.0])
    lin = fa.linearize(arm, inputs=["upper", "fore.q''"], outputs=["tip.y''"])
    assert found.response == pytest.approx(lin["tip.y''", "upper"].frf(found.frequency)[:, 0, 0], rel=1e-2)


def test_nonlinearity_reduces_the_coherence(system, run):
    far = chirped(system, 20.0, 2.0)
    assert far.frf("beam", "tip.y''").coherence.mean() < 0.95 < 0.99 < run.frf("beam", "tip.y''").coherence.mean()


def test_motion_at_start_or_end_causes_a_warning(system):
    with pytest.warns(fa.ValidityWarning, match="still moves at the end"):
        chirped(system, 0.05, 0.0).frf("beam", "tip.y")
    run = chirped(system, 0.05, 2.0)
    with pytest.warns(fa.ValidityWarning, match="the robot moves at t = 2 s"):
        run.frf("beam", "tip.y", after=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.frf("beam", "tip.y")


def test_names_and_runs_that_cannot_be_read(run, system):
    with pytest.raises(KeyError, match="there is no 'bean'"):
        run.frf("bean", "tip.y")
    with pytest.raises(KeyError, match="did you mean 'tip"):
        run.frf("beam", "tip.w")
    with pytest.raises(ValueError, match="simulate it again"):
        fa.Run(run.data).frf("beam", "tip.y")
    still = fa.simulate(system, 0.5, native=False)
    with pytest.raises(ValueError, match="'beam' does nothing"):
        still.frf("beam", "tip.y")
