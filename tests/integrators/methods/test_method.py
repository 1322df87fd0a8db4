"""Orders of convergence on a nonlinear flexible robot, and what the methods promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

SOFT = fa.Robot(
    "soft arm",
    gravity=(0, -9.81, 0),
    links=[
        fa.Link("upper", 0.6, mass=0.5),
        fa.Link(
            "fore",
            0.5,
            section=fa.Section.rectangle(0.006, 0.02),
            material=fa.Material(1e10, 1200, damping=2e-4),
            flexible=fa.Flexible(
                bend_y=2, basis=fa.Modes(tip_mass=0)
            ),  # slower than with the payload: steps resolve it
            payload=fa.PointMass(0.1),
        ),
    ],
)


@pytest.fixture(scope="module")
def system() -> fa.System:
    return fa.System(SOFT, native=False)


def end(system: fa.System, method: str, dt: float, **options) -> np.ndarray:
    run = fa.simulate(
        system, 0.4, torque={"upper": fa.sine(1.0, 2.0)}, method=method, dt=dt, sample=0.1, native=False, **options
    )
    return np.concatenate([run.data["q"].values[-1], run.data["v"].values[-1] / 50])


@pytest.mark.parametrize(
    ("method", "order", "dt"),
    [("generalized-alpha", 2, 2e-3), ("newmark", 2, 2e-3), ("rk4", 4, 2e-3), ("rk45", 5, 1e-3)],
)
def test_measured_order(system, method, order, dt):
    exact = end(system, "rk45", 5e-5)
    errors = [np.abs(end(system, method, dt / k) - exact).max() for k in (1, 2, 4)]
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert_allclose(rates, order, atol=0.35)


def test_inputs_that_jump_keep_the_order_if_and_only_if_steps_end_there(system):
    """Steps land on the switch times by themselves: second order through a bang-bang torque."""

    def tip(dt, method="generalized-alpha"):
        torque = {"upper": fa.bang_bang(2.0, (0.1017, 0.2371))}
        run = fa.simulate(system, 0.4, torque=torque, dt=dt, method=method, sample=0.2, native=False)
        return run.tip.values[-1]

    exact = tip(1e-4, "rk45")
    errors = [np.abs(tip(dt) - exact).max() for dt in (2e-3, 1e-3, 5e-4)]
    assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2, atol=0.4)


def test_numerical_damping_follows_the_spectral_radius(system):
    """Radius 1 keeps the energy of an unresolved mode, radius 0 kills it."""
    stiff = SOFT.with_({"links.fore.material.E": 2e13, "links.fore.material.damping": 0.0}, gravity=(0, 0, 0))
    lively = fa.System(stiff, native=False)
    left = {}
    for radius in (1.0, 0.5, 0.0):
        run = fa.simulate(lively, 0.1, v0={"fore.bend_y[2]": 0.01}, dt=1e-3, radius=radius, sample=0.1, native=False)
        left[radius] = float(run.energy["elastic"][-1] + run.energy["kinetic"][-1]) / float(run.energy["kinetic"][0])
    assert left[1.0] > 0.95
    assert left[0.5] < 0.7  # what is left is the turning of the joints
    assert left[0.0] < 0.7


def test_stiff_metal_runs_at_millisecond_steps():
    """200 GPa, stretch and twist in the kHz range, stiff drive: the step follows the slow motion."""
    steel = {"section": fa.Section.tube(0.06, 0.05), "material": fa.Material(2e11, 7850, damping=1e-5)}
    flexible = fa.Flexible(bend_y=2, bend_z=2, twist=2, stretch=2)
    drive = fa.Drive(stiffness=1e6, damping=10.0, rotor_inertia=0.01, gear_ratio=50)
    links = [fa.Link(f"l{k}", 1.0, fa.Revolute(a, drive=drive), flexible=flexible, **steel) for k, a in enumerate("zy")]
    robot = fa.Robot(links=links)
    assert fa.modes(robot).frequencies[-1] > 3000
    torque = {"l0": fa.sine(50.0, 1.0), "l1": fa.sine(20.0, 0.7)}
    run = fa.simulate(robot, 1.0, torque=torque, native=False, rtol=1e-2)
    assert run.reason == "completed"
    assert run.statistics["largest_step"] > 1e-3
    exact = fa.simulate(robot.rigid(), 1.0, torque=torque, native=False, method="rk45", rtol=1e-8)
    assert np.abs(run.tip.values - exact.tip.values).max() < 5e-3


@pytest.mark.parametrize(("dt", "radius"), [(1e-3, 0.9), (1e-3, 0.5), (2e-3, 0.0)])
def test_step_torques_on_undamped_metal_at_millisecond_steps(dt, radius):
    """The spatial RRR arm of Moolam et al., 400 N m at each joint from rest: tips at 0.25 and 0.5 s that several codes
    agree on to 2 mm; its highest modes lie above 10 kHz and are damped away unresolved."""
    arm = fa.library.rrr_arm()
    torque = {link.name: 400.0 for link in arm.links}
    run = fa.simulate(arm, 0.5, torque=torque, dt=dt, radius=radius, sample=0.25, native=False)
    assert run.reason == "completed"
    assert_allclose(run.tip.values[1:], [[7.414, 0.080, 0.449], [6.413, 0.302, -0.863]], atol=8e-3)


def test_error_control_does_not_chase_ripple_below_the_tolerance():
    """Step torques on undamped metal: modes up to 2.8 kHz ring for ever, but hardly move the links."""
    arm = fa.library.rrr_arm()
    torque = {link.name: 400.0 for link in arm.links}
    run = fa.simulate(arm, 0.5, torque=torque, sample=0.25, rtol=1e-3, native=False)
    # RRR arm of Moolam et al.; rtol = 1e-3 is 7 mm on this arm
    assert run.tip.values[1:] == pytest.approx(np.array([[7.414, 0.080, 0.449], [6.413, 0.302, -0.863]]), abs=7e-3)
    assert run.statistics["steps"] < 1000


def test_stiff_metal_runs_at_millisecond_steps_at_default_tolerances():
    steel, flexible = fa.Material(2e11, 7850, nu=0.3), fa.Flexible(bend_y=2, bend_z=2, twist=1, stretch=1)
    drive = fa.Drive(stiffness=1e4, rotor_inertia=1e-3, gear_ratio=100)
    links = [
        fa.Link(name, length, fa.Revolute("z", drive=drive), fa.Section.tube(d, 0.9 * d), steel, flexible)
        for name, length, d in (("upper", 0.8, 0.08), ("fore", 0.6, 0.06))
    ]
    system = fa.System(fa.Robot("steel", links).with_({"links.fore.payload": fa.PointMass(5.0)}))
    assert fa.modes(system).frequencies[-1] > 3000  # Hz
    torque = {"upper": fa.bang_bang(100.0, (0.2, 0.4)), "fore": fa.bang_bang(30.0, (0.2, 0.4))}
    run = fa.simulate(system, 0.5, torque=torque, native=False, sample=0.05)
    assert run.statistics["steps"] < 500
    exact = fa.simulate(system, 0.5, torque=torque, method="rk4", dt=2e-5, native=False, sample=0.05)
    assert np.abs(run.tip.values - exact.tip.values).max() < 2e-4  # rtol is 1.4e-4 m of this arm


@pytest.mark.parametrize(("method", "speed"), [("generalized-alpha", 10.0), ("esdirk", 30.0)])
def test_an_iteration_that_does_not_converge_is_reported(method, speed):
    arm, v0 = fa.library.two_link_arm().rigid(), {"upper.q": speed / 3, "fore.q": speed}
    with pytest.warns(fa.ValidityWarning, match="Newton's iteration did not converge in [0-9]+ of [0-9]+ steps"):
        fa.simulate(arm, 1.0, v0=v0, dt=0.05, sample=0.5, native=False, method=method)
