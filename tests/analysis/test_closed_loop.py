"""Linear models of closed loops and of locked motors, against simulations, differences and other analyses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.control.closed_loops import beam, matrices, same_poles
from tests.simulation.test_constraints import at, four_bar

pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")

AIM = {"beam.q": 0.0}


def with_integral(start: float = 0.0, **more) -> fa.Feedback:
    """A law with a state, a signal of the tip, and a nonlinear spring."""

    def law(t, x, gains):
        error = x.reference("beam.q") - x["beam.q"]
        torque = gains["kp"] * np.sin(error) - gains["kd"] * x["beam.q'"] + gains["ki"] * x.state("sum")
        return {"beam": torque - 0.5 * x["tip.y'"]}, {"sum": error}

    gains = {"kp": 30.0, "kd": 6.0, "ki": 20.0}
    return fa.Feedback(law, gains=gains, references=AIM, states={"sum": start}, **more)


def test_poles_are_those_of_a_simulated_closed_loop():
    """Each column of the transition matrix is the difference of two runs from neighbouring states."""
    robot = beam(modes=1, g=0.0)
    system, duration, step = fa.System(robot, native=False), 0.05, 1e-4
    lin = fa.linearize(robot, torque=with_integral())
    names = [each.name for each in lin.states]
    assert names == [*system.names, *(f"{name}'" for name in system.names), "law.sum"]

    def end(state: np.ndarray) -> np.ndarray:
        q0, v0 = (dict(zip(system.names, part)) for part in (state[: system.nq], state[system.nq : 2 * system.nq]))
        options = {"rtol": 1e-9, "native": False}
        run = fa.simulate(robot, duration, torque=with_integral(state[-1]), q0=q0, v0=v0, **options)
        return np.array([run[name][-1] for name in names])

    sides = [[end(way * step * unit) for unit in np.eye(len(names))] for way in (1, -1)]
    transition = (np.array(sides[0]) - sides[1]).T / (2 * step)
    expected = np.exp(duration * np.linalg.eigvals(lin.A))
    assert same_poles(np.linalg.eigvals(transition), expected, rtol=1e-5)


@pytest.mark.parametrize("make", [fa.pd, lambda *given, **more: fa.pid(given[0], given[1], 5.0, *given[2:], **more)])
def test_poles_and_references_of_controllers_of_the_package(make):
    robot = beam()
    q = fa.equilibrium(robot, {"beam.q": 0.5})
    feedback = make(robot, 40.0, 8.0, {"beam.q": 0.5})
    lin = fa.linearize(robot, q, torque=feedback, outputs=["beam.q", "tip.y"])
    assert same_poles(lin.poles, np.linalg.eigvals(matrices(robot, feedback, q)))
    assert lin.inputs[0].name == "reference.beam.q"
    assert lin.inputs[-1].name == "beam"
    plain = fa.linearize(robot, q, outputs=["beam.q"])
    if len(lin.states) == len(plain.states):  # a disturbance meets the stiffness of the loop
        k = 1 / plain.dc_gain[0, 0] + 40.0
        assert lin["beam.q", "beam"].dc_gain[0, 0] == pytest.approx(1 / k, rel=1e-6)
    else:
        assert lin["beam.q", "reference.beam.q"].dc_gain[0, 0] == pytest.approx(1.0)


def test_the_response_to_a_reference_is_that_of_a_run():
    robot, size = beam(modes=1, g=0.0), 1e-3
    aim = fa.minimum_jerk(0.0, size, 0.3)
    feedback = fa.pd(robot, 40.0, 8.0, {"beam.q": aim})
    lin = fa.linearize(robot, torque=feedback, outputs=["tip.y", "tip.y''"])
    run = fa.simulate(robot, 0.5, torque=feedback, sample=0.005, rtol=1e-7, native=False)
    time = run.time.values
    orders = [each.name.count("'") if "reference" in each.name else None for each in lin.inputs]
    inputs = np.array([np.zeros_like(time) if order is None else aim(time, order) for order in orders]).T
    from scipy.signal import lsim

    _, y, _ = lsim(lin.to_scipy(), inputs, time)
    assert_allclose(y[:, 0], run["tip.y"], atol=5e-4 * size)


def test_names_of_inputs_choose_references_and_disturbances():
    robot = beam(modes=1)
    lin = fa.linearize(
        robot, torque=with_integral(), inputs=["tip.fy", "reference.beam.q"], outputs=["tip.y", "beam.q''"]
    )
    assert [each.name for each in lin.inputs] == ["tip.fy", "reference.beam.q"]
    every = fa.linearize(robot, torque=with_integral(), outputs=["tip.y", "beam.q''"])
    assert [each.name for each in every.inputs] == ["reference.beam.q", "beam"]
    assert_allclose(lin["beam.q''", "reference.beam.q"].D, every["beam.q''", "reference.beam.q"].D)
    with pytest.raises(KeyError, match=r"reads no reference 'reference\.bean\.q'"):
        fa.linearize(robot, torque=with_integral(), inputs=["reference.bean.q"])


def test_equal_references_are_different_inputs():
    arm = fa.library.two_link_arm()
    feedback = fa.pd(arm, 40.0, 8.0, {"upper.q": 0.0, "fore.q": 0.0})
    names = [each.name for each in fa.linearize(arm, torque=feedback).inputs]
    assert {"reference.upper.q", "reference.fore.q"} <= set(names)


def test_a_motor_with_a_lag_is_a_state():
    robot = beam(modes=1, g=0.0)
    lag = with_integral(actuators={"beam": fa.Actuator(lag=0.01)})
    lin = fa.linearize(robot, torque=lag)
    assert [each.name for each in lin.states[-2:]] == ["law.sum", "law.motor.beam"]
    assert lin.A[-1, -1] == pytest.approx(-100.0)


def test_laws_that_have_no_linear_model_are_refused():
    robot = beam(modes=1)
    with pytest.raises(ValueError, match=r"sample rate \(1000 Hz\) has no continuous linear model"):
        fa.linearize(robot, torque=fa.pd(robot, 40.0, 8.0, {"beam.q": 0.0}, rate=1000))
    with pytest.raises(TypeError, match="must be a control law"):
        fa.linearize(robot, torque={"beam": 1.0})


@pytest.mark.filterwarnings("default::flexarm.ValidityWarning")
def test_a_law_at_its_limit_causes_a_warning():
    robot = beam(modes=1, g=0.0)
    feedback = fa.pd(robot, 40.0, 8.0, {"beam.q": 1.0}, limit=5.0)
    with pytest.warns(fa.ValidityWarning, match="at its limit at 'beam'"):
        fa.linearize(robot, torque=feedback)


@pytest.mark.filterwarnings("error::flexarm.ValidityWarning")
def test_a_law_that_carries_the_weight_leaves_no_force_to_hold():
    robot = beam(modes=3)
    q = fa.equilibrium(robot, {"beam.q": 0.5})
    weight = float(fa.System(robot).gravity(q)[0])

    def law(t, x):
        return {"beam": weight + 40.0 * (0.5 - x["beam.q"]) - 8.0 * x["beam.q'"]}

    lin = fa.linearize(robot, q, torque=law)
    assert lin.held["beam"] == pytest.approx(weight)
    assert (lin.poles.real < 0).all()


def test_closed_loops_of_constrained_robots_and_locked_motors():
    """A PD on the crank of a four-bar; locking its motor is the limit of large gains."""
    links = [
        link if link.name == "crank" else link.model_copy(update={"joint": fa.Revolute("z", actuated=False)})
        for link in four_bar().links
    ]
    robot = four_bar().model_copy(update={"links": tuple(links)})
    start = at(1.0)
    lin = fa.linearize(robot, start, torque=fa.pd(robot, 50.0, 5.0, {"crank.q": start["crank.q"]}), outputs=["crank.q"])
    assert len(lin.states) == 2
    plain = fa.linearize(robot, start, outputs=["crank.q"])
    inertia = 1 / plain.frf(1e3)[0, 0].real / -((2 * np.pi * 1e3) ** 2)
    assert np.prod(lin.poles).real == pytest.approx(50.0 / inertia, rel=1e-4)
    with pytest.raises(ValueError, match="nothing is left that moves"):
        fa.linearize(robot, start, lock=["crank"])


# --- locked motors ---


@pytest.mark.parametrize("lock", [["upper"], ["upper", "fore"]])
def test_locked_motors_have_the_modes_of_locked_joints(lock):
    arm = fa.library.two_link_arm()
    q = {"fore.q": 0.7}
    lin = fa.linearize(arm, q, lock=lock, inputs=["tip.fy"], outputs=["tip.y"])
    modes = fa.modes(arm, q, joints=dict.fromkeys(lock, "locked"))
    found = np.sort(np.abs(lin.poles))[::2] / (2 * np.pi)
    assert_allclose(found[~modes.rigid], modes.frequencies[~modes.rigid], rtol=1e-6)
    assert "upper.q" not in [each.name for each in lin.states]
    assert [each.name for each in fa.linearize(arm, q, lock=["upper"]).inputs] == ["fore"]


def test_the_static_gain_of_a_locked_robot_is_its_compliance():
    drive = fa.Drive(stiffness=200.0, rotor_inertia=0.01, damping=1.0)
    flexible = fa.Flexible(bend_y=2, basis="elements")
    section = fa.Section.rectangle(0.01, 0.03)
    material = fa.Material(E=7e10, rho=2700.0, damping=1e-4)
    link = fa.Link("arm", 1.0, fa.Revolute("z", drive=drive), section, material, flexible)
    robot = fa.Robot(links=[link])
    lin = fa.linearize(robot, lock=["arm"], inputs=["tip.fx", "tip.fy"], outputs=["tip.x", "tip.y"])
    assert_allclose(lin.dc_gain, fa.compliance(robot).matrix[:2, :2], atol=1e-12)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"lock": ["nothing"]}, KeyError, "lock: there is no actuator at 'nothing'"),
        ({"lock": "upper"}, TypeError, "must be a list of names"),
        ({"lock": ["upper"], "inputs": ["upper"]}, ValueError, "'upper' moves nothing, since its joint is locked"),
        ({"lock": ["upper"], "inputs": ["upper.q''"]}, ValueError, "joint is locked"),
    ],
)
def test_bad_locks_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        fa.linearize(fa.library.two_link_arm(), **given)
