"""Linear models: responses, reduction, sampling and conversion to SciPy and python-control."""

import numpy as np
import pytest
from scipy import signal

import flexarm as fa
from flexarm.analysis.state_space import Signal, StateSpace


def oscillator(zeta=0.05):
    """omega = 2 rad/s."""
    A, B = [[0, 1], [-4, -4 * zeta]], [[0], [1]]
    names = (Signal("x", "m"), Signal("x'", "m/s"))
    return StateSpace(A, B, [[1, 0], [0, 1]], np.zeros((2, 1)), names, (Signal("f", "N"),), names)


@pytest.fixture(scope="module")
def damped():
    robot = fa.library.two_link_arm().with_({"links.upper.material.damping": 1e-3, "links.fore.material.damping": 1e-3})
    return fa.linearize(robot, {"fore.q": 0.6}, inputs=["upper", "fore"], outputs=["upper.q", "tip.y"])


def test_step_and_impulse_against_formulas():
    model, zeta, omega = oscillator(), 0.05, 2.0
    root = np.sqrt(1 - zeta**2)
    t, y = model.impulse(np.linspace(0, 10, 501), output="x")
    assert y[:, 0, 0] == pytest.approx(np.exp(-zeta * omega * t) * np.sin(omega * root * t) / (omega * root), abs=1e-12)
    t, y = model.step(output="x", input="f")
    swing = np.cos(omega * root * t) + zeta / root * np.sin(omega * root * t)
    assert y[:, 0, 0] == pytest.approx((1 - np.exp(-zeta * omega * t) * swing) / 4, abs=1e-12)
    assert model.dc_gain[:, 0] == pytest.approx([0.25, 0], abs=1e-6)


def test_frequency_responses_are_scipys(damped):
    f = np.array([0.1, 1.0, 20.0])
    part = damped["tip.y", "upper"]
    _, theirs = signal.freqresp(part.to_scipy(), 2 * np.pi * f)
    assert part.frf(f)[:, 0, 0] == pytest.approx(theirs, rel=1e-6)
    assert part.frf(1.0).shape == (1, 1)


def test_zeros_are_those_of_a_polynomial():
    """(s + 3)(s - 1) / (s + 1)(s + 2)(s + 4)."""
    num, den = np.poly([-3, 1]), np.poly([-1, -2, -4])
    A, B, C, D = signal.tf2ss(num, den)
    one = (Signal("u", "1"),)
    model = StateSpace(A, B, C, D, tuple(Signal(f"x{k}", "1") for k in range(3)), one, one)
    assert np.sort(model.zeros.real) == pytest.approx([-3, 1])
    assert np.sort(model.poles.real) == pytest.approx([-4, -2, -1])


def test_zeros_of_several_inputs_and_outputs(damped):
    """Zeros are where the transfer matrix loses rank."""
    zeros = damped.zeros
    assert len(zeros) > 0
    for s in zeros[np.abs(zeros) < 500]:
        G = damped.C @ np.linalg.solve(s * np.eye(len(damped.A)) - damped.A, damped.B) + damped.D
        sizes = np.linalg.svd(G, compute_uv=False)
        assert sizes[-1] < 1e-5 * sizes[0]


def test_as_many_outputs_as_inputs():
    with pytest.raises(ValueError, match="as many outputs as inputs, and here are 2 and 1"):
        _ = oscillator().zeros


@pytest.mark.parametrize("method", ["modal", "balanced"])
def test_reduced_models_have_nearly_the_same_response(damped, method):
    f = np.geomspace(0.05, 3.0, 40)
    whole = damped["tip.y", "fore"]
    small = whole.reduce(10, method)
    assert small.A.shape == (10, 10)
    assert np.abs(small.frf(f) / whole.frf(f) - 1).max() < 0.02


def test_modal_reduction_keeps_poles_and_what_is_at_rest():
    robot = fa.library.two_link_arm()
    lin = fa.linearize(robot, {"fore.q": 0.6}, inputs=["fore"], outputs=["fore.strain(0.1)"])
    small = lin.reduce(8)
    assert np.sort(np.abs(small.poles))[-4:] == pytest.approx(np.sort(np.abs(lin.poles))[4:8], rel=1e-6)
    assert small.frf(1e-3)[0, 0] == pytest.approx(lin.frf(1e-3)[0, 0], rel=1e-6)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda _: diagonal((0.0, -1.0), (1.0, 1.0), (1.0, 1.0)).frf([0.0, 1.0]),
            "f = 0 Hz: the model has a pole there",
        ),
        (lambda _: oscillator().frf(np.nan), "f = nan: must be frequencies"),
        (lambda lin: lin.reduce(16), "must be less than the 16 states"),
        (lambda lin: lin.reduce(5), "would keep one of a pair of poles"),
        (lambda lin: lin.reduce(4, "best"), "must be 'modal' or 'balanced'"),
        (lambda lin: lin.discrete(0.0), "dt = 0.0: must be"),
        (lambda lin: lin.discrete(0.1).discrete(0.1), "sampled already"),
        (lambda lin: lin["tip.y", "uper"], "there is no input 'uper'; did you mean 'upper'"),
        (lambda lin: lin["tip.y"], "give \\(output, input\\)"),
        (lambda lin: lin.step([0.0, 1.0, 1.5]), "equal distances"),
    ],
)
def test_invalid_arguments_are_refused(damped, call, sentence):
    with pytest.raises((ValueError, KeyError, TypeError), match=sentence):
        call(damped)


def test_undamped_robots_have_nothing_to_balance():
    lin = fa.linearize(fa.library.two_link_arm(), {"fore.q": 0.6}, inputs=["fore"], outputs=["tip.y"])
    with pytest.raises(ValueError, match="16 states do not decay"):
        lin.reduce(8, "balanced")


def test_samples_are_exact(damped):
    sampled = damped.discrete(0.01)
    t = np.arange(201) * 0.01
    assert sampled.step(t)[1] == pytest.approx(damped.step(t)[1], rel=1e-6, abs=1e-9)
    assert "sampled every 0.01 s" in repr(sampled)


def test_python_control_gives_the_same_results(damped):
    control = pytest.importorskip("control")
    theirs = damped.to_control()
    assert isinstance(theirs, control.StateSpace)
    assert theirs.input_labels == ["upper", "fore"]
    f = np.array([0.3, 3.0])
    assert theirs(2j * np.pi * f[0]) == pytest.approx(damped.frf(f)[0], rel=1e-6)
    assert damped.discrete(0.01).to_control().dt == 0.01


def test_matrices_cannot_be_written_to(damped):
    with pytest.raises(ValueError, match="read-only"):
        damped.A[0, 0] = 1.0


def test_figures(damped):
    picture = damped.bode()
    assert len(picture.axes) == 4
    assert "frequency (Hz)" in [plot.get_xlabel() for plot in picture.axes]
    assert len(damped["tip.y", "upper"].pole_zero_map().axes) == 1
    with pytest.raises(ValueError, match="positive frequencies"):
        damped.bode([0.0, 1.0])


def diagonal(poles, forces, seen):
    states = tuple(Signal(f"x{k}", "1") for k in range(len(poles)))
    one = (Signal("u", "1"),)
    return StateSpace(np.diag(poles), np.reshape(forces, (-1, 1)), [seen], [[0.0]], states, one, one)


@pytest.mark.parametrize(
    ("poles", "forces", "gain"),
    [
        ((-1e-3, -1e6), (1e-3, 1e6), 2.0),  # slow and fast by nine orders
        ((-1e-2, -1e3, -1e5), (1e-2, 0.0, 0.0), 1.0),
        ((0.0, -1e-2, -1e5), (0.0, 1e-2, 1e5), 2.0),
        ((0.0, -1.0), (1.0, 1.0), np.inf),
    ],
)
def test_dc_gain_with_slow_and_fast_modes(poles, forces, gain):
    model = diagonal(poles, forces, [1.0] * len(poles))
    assert model.dc_gain[0, 0] == pytest.approx(gain, rel=1e-6)
    assert model.discrete(0.01).dc_gain[0, 0] == pytest.approx(gain, rel=1e-6)


def test_dc_gain_of_a_robot_that_may_drift():
    """A constant torque accelerates the robot; its deflection is bounded by its inertia."""
    arm = fa.linearize(fa.library.rotating_beam(), inputs=["beam"], outputs=["beam.q", "deflection.beam.y", "tip.y''"])
    slow = arm.frf(1e-3)[:, 0].real
    assert np.isinf(arm.dc_gain[0, 0])
    assert arm.dc_gain[1:, 0] == pytest.approx(slow[1:], rel=1e-5)
