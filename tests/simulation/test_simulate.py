import math
import signal
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import table, unit_link
from tests.integrators.methods.test_method import SOFT

simulate_module = sys.modules[fa.simulate.__module__]

METHODS = ["generalized-alpha", "newmark", "rk4", "rk45", "adams", "bdf"]
ROD = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=1.0)], gravity=(0, -9.81, 0))


@pytest.fixture(scope="module")
def soft() -> fa.System:
    return fa.System(SOFT, native=False)


def run(robot, duration, **options) -> fa.Run:
    return fa.simulate(robot, duration, native=False, **options)


# --- right ---


@pytest.mark.parametrize("method", METHODS)
def test_all_methods_agree(soft, method):
    torque = {"upper": fa.bang_bang(1.0, (0.1, 0.2))}
    exact = run(soft, 0.4, torque=torque, method="rk45", rtol=1e-9, sample=0.05)
    rtol = {"generalized-alpha": 1e-5, "newmark": 1e-5}.get(method, 1e-7)
    found = run(soft, 0.4, torque=torque, method=method, rtol=rtol, sample=0.05)
    assert_allclose(found.tip.values, exact.tip.values, atol=2e-6)
    assert_allclose(found.energy["work"].values, exact.energy["work"].values, atol=2e-6)
    assert_allclose(found.energy["dissipated"].values, exact.energy["dissipated"].values, atol=2e-6)


def test_a_single_joint_that_is_driven_leaves_nothing_to_solve_for():
    driven = run(ROD, 1.0, motion={"rod": fa.cycloid(0.0, 1.0, 1.0)})
    assert driven["rod.q"].values[-1] == 1.0
    assert np.ptp(driven.energy["balance"].values) < 2e-3 * np.ptp(driven.energy["work"].values)


def test_a_run_that_loses_its_energy_by_its_integration_says_so():
    """The vibration of a beam in steps that are longer than its period, with all the numerical damping there is."""
    beam = fa.library.rotating_beam(modes=1)
    with pytest.warns(fa.ValidityWarning, match=r"the integration itself took out .* take a smaller dt"):
        run(beam, 20.0, motion={"beam": 0.0}, q0={"beam.bend_y[1]": 0.1}, dt=4.0, sample=1.0, radius=0.0)


def test_no_step_is_computed_in_vain_but_those_that_are_too_long(soft):
    torque = {"upper": fa.bang_bang(1.0, (0.1, 0.2))}
    told = run(soft, 0.4, torque=torque, method="generalized-alpha", rtol=1e-6).statistics
    assert told["rejected"] > 0
    assert told["computed"] == told["steps"] + told["rejected"]


def test_errors_are_within_the_tolerance_and_shrink_with_it(soft):
    exact = run(soft, 0.5, method="rk45", rtol=1e-10, sample=0.05).tip.values
    for method, most in (("generalized-alpha", 25), ("esdirk", 250)):
        runs = {rtol: run(soft, 0.5, method=method, rtol=rtol, sample=0.05) for rtol in (1e-3, 1e-4, 1e-5)}
        errors = {rtol: np.abs(each.tip.values - exact).max() for rtol, each in runs.items()}
        assert all(error < rtol for rtol, error in errors.items())  # of 1.1 m, the length of the arm
        assert 4 < errors[1e-3] / errors[1e-4] < most
        assert 4 < errors[1e-4] / errors[1e-5] < most


def test_energy_of_an_undamped_swing_at_default_tolerances():
    robot = SOFT.with_({"links.fore.material.damping": 0.0})
    swing = run(robot, 10.0)
    total = swing.energy["kinetic"].values.max()
    assert np.abs(swing.energy["balance"].values).max() < 1e-3 * total


@pytest.mark.parametrize("method", ["rk45", "adams"])
def test_energy_of_an_undamped_swing_at_tight_tolerances(method):
    robot = SOFT.with_({"links.fore.material.damping": 0.0})
    swing = run(robot, 2.0, method=method, rtol=1e-10, atol=1e-12)
    total = swing.energy["kinetic"].values.max()
    assert np.abs(swing.energy["balance"].values).max() < 1e-8 * total


def test_elastic_joint_pendulum_against_the_reference():
    """Uniform rod m = 1, l = 1 on an elastic joint J_e = 0.5, K = 50, released horizontal at rest; rotor free."""
    rows = table("elastic_joint_pendulum.csv")
    drive = fa.Drive(stiffness=50.0, rotor_inertia=0.5)
    robot = ROD.with_({"links.rod.joint.drive": drive})
    found = run(robot, 5.0, method="rk45", rtol=1e-10, atol=1e-12, sample=0.02)
    t = [float(row["t"]) for row in rows]
    assert_allclose(found.time.values, t, atol=1e-12)
    assert_allclose(found["rod.motor"].values, [float(row["q1_rotor"]) for row in rows], atol=1e-7)
    assert_allclose(found["rod.q"].values, [float(row["q2_link"]) for row in rows], atol=1e-7)


def test_small_swings_of_a_pendulum_have_its_period():
    omega = np.sqrt(1.5 * 9.81)
    found = run(ROD, 2.0, q0={"rod.q": -np.pi / 2 + 1e-4}, method="rk45", rtol=1e-9, atol=1e-13)
    assert_allclose(found["rod.q"].values + np.pi / 2, 1e-4 * np.cos(omega * found.time.values), atol=1e-10)


def spun_up(w0: str, stiffening: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tip's deflection: found, by linear theory with centrifugal stiffening, of the nonlinear beam."""
    tables = ("spin_up.csv", "spin_up_nonlinear.csv")
    linear, nonlinear = (
        np.array([float(row[f"y_tip_w0={w0}"]) for row in table(name) if float(row["t"]) <= 20]) for name in tables
    )
    beam = fa.library.rotating_beam(modes=8, stiffening=stiffening)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run(beam, 20.0, motion={"beam": fa.spin_up(float(w0), 15.0)}, sample=0.5, rtol=1e-6)
    return found.deflection("beam").values[:, 1], linear, nonlinear


@pytest.mark.parametrize("w0", ["0.6", "2", "3", "8", "10"])
def test_spin_up_of_the_exact_beam_is_that_of_the_nonlinear_reference(w0):
    """Advances in Mechanical Engineering 2013, 216014, section 4.1: the peak to 1e-5 of itself, all of the curve as
    well as the tolerance lets it."""
    y, _, nonlinear = spun_up(w0, "exact")
    peak = np.abs(nonlinear).max()
    assert y.min() == pytest.approx(nonlinear.min(), rel=2e-5)
    assert np.abs(y - nonlinear).max() < (2e-5 if float(w0) <= 3 else 3e-4) * peak


@pytest.mark.parametrize("w0", ["0.6", "2", "3", "8", "10"])
def test_spin_up_to_second_order_lies_between_the_linear_and_the_nonlinear_beam(w0):
    y, linear, nonlinear = spun_up(w0, "shortening")
    assert linear.min() < y.min() < nonlinear.min()
    apart = np.abs(linear - nonlinear).max()
    assert np.abs(y - nonlinear).max() < 0.7 * apart
    assert np.abs(y - linear).max() < 0.5 * apart


@pytest.mark.parametrize("w0", ["0.6", "2", "3"])
def test_the_zero_order_model_softens_and_diverges_as_the_reference_says(w0):
    rows = [row for row in table("spin_up_zero_order.csv") if float(row["t"]) <= 15]
    beam = fa.library.rotating_beam(modes=8, stiffening="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run(beam, 15.0, motion={"beam": fa.spin_up(float(w0), 15.0)}, sample=0.5, rtol=1e-6)
    exact = np.array([float(row[f"y_tip_w0={w0}"]) for row in rows])
    assert_allclose(found.deflection("beam").values[:, 1], exact, atol=1e-4 * np.abs(exact).max())


def test_the_zero_order_model_above_its_frequency_runs_away_and_says_so():
    beam = fa.library.rotating_beam(modes=4, stiffening="none")
    with pytest.warns(fa.ValidityWarning, match=r"diverged at t = .*'beam.bend_y\[1\]' bends its link"):
        found = run(beam, 20.0, motion={"beam": fa.spin_up(8.0, 15.0)})
    assert 5 < found.time.values[-1] < 20
    assert np.isfinite(found.data["q"].values).all()
    assert found.reason.startswith("diverged")


def test_torques_of_a_driven_run_reproduce_its_motion(soft):
    driven = run(
        soft, 0.5, motion={"upper": fa.cycloid(0.0, 0.5, 0.4), "fore": fa.sine(0.3, 1.0)}, rtol=1e-6, method="rk45"
    )
    names = {"t": driven.time.values}
    torque = {link: fa.table({**names, "tau": driven.torque.sel(input=link).values}) for link in ("upper", "fore")}
    start = {"upper.q": 0.0, "fore.q": 0.0}
    rates = {"upper.q": 0.0, "fore.q": 0.3 * 2 * np.pi}
    free = run(soft, 0.5, torque=torque, q0=start, v0=rates, method="rk45", rtol=1e-8)
    assert_allclose(free.tip.values, driven.tip.values, atol=5e-6)
    assert_allclose(driven["upper.q"].values, fa.cycloid(0.0, 0.5, 0.4)(driven.time.values), atol=1e-9)


def test_mirror_images_move_as_mirror_images(soft):
    still = fa.System(SOFT.with_(gravity=(0, 0, 0)), native=False)
    one = run(still, 0.3, torque={"upper": 1.0, "fore": -0.2})
    other = run(still, 0.3, torque={"upper": -1.0, "fore": 0.2})
    assert_allclose(one.tip.values * [1, -1, 1], other.tip.values, atol=1e-12)


def test_a_turned_base_with_turned_gravity_gives_the_turned_motion():
    turn = fa.Pose(rotation=(0.5, -0.3, 1.1))
    R = np.array(turn.matrix)
    turned = fa.Robot(links=SOFT.links, base=turn, gravity=R @ SOFT.gravity)
    here, there = run(SOFT, 0.3), run(turned, 0.3)
    assert_allclose(there.tip.values, here.tip.values @ R.T, atol=1e-9)


def test_a_shifted_input_gives_the_shifted_motion():
    still = fa.System(SOFT.with_(gravity=(0, 0, 0)), native=False)
    early = run(still, 0.3, torque={"upper": fa.step(0.0, 1.0, 0.0)}, sample=0.05, rtol=1e-5)
    late = run(still, 0.5, torque={"upper": fa.step(0.0, 1.0, 0.2)}, sample=0.05, rtol=1e-5)
    assert_allclose(late.tip.values[4:], early.tip.values, atol=2e-5)
    assert_allclose(late.tip.values[:5], early.tip.values[:1].repeat(5, axis=0), atol=1e-12)


def test_the_static_start_stays_where_it_is():
    robot = SOFT.with_({"links.upper.joint.drive": {"stiffness": 200.0, "rotor_inertia": 0.1}})
    system = fa.System(robot, native=False)
    sag = fa.equilibrium(system)
    assert np.abs(system.gravity(sag) + system.stiffness @ sag)[system.index("fore.bend_y[1]")] < 1e-10
    still = {"upper": 0.0, "fore": 0.0}
    found = run(system, 0.3, q0="equilibrium", motion=still)
    assert_allclose(found.data["q"].values, sag + np.zeros((len(found.time), 1)), atol=1e-7)
    dropped = run(system, 0.3, motion=still)
    assert np.abs(dropped.data["q"].values - sag).max() > 1e-3


def test_a_link_too_soft_for_its_load_has_no_equilibrium():
    """A column under its own weight and a payload, far beyond Euler's load."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wet = fa.System(SOFT.with_({"links.fore.material.E": 2e5}, gravity=(-9.81, 0.1, 0)), native=False)
    with pytest.raises(ArithmeticError, match=r"no static equilibrium was found: 'fore.bend_y"):
        fa.equilibrium(wet)


def test_loads_on_points_do_their_work():
    """A constant force on the tip of a free rod, and the same as a joint torque while the rod turns little."""
    rod = ROD.with_(gravity=(0, 0, 0))
    pushed = run(rod, 0.2, loads=[fa.PointLoad("rod", force=(0, 0.01, 0))], rtol=1e-8)
    assert pushed["rod.q"].values[-1] == pytest.approx(0.01 * 3 * 0.2**2 / 2, rel=1e-4)
    assert_allclose(pushed.energy["work"].values, pushed.energy["kinetic"].values, atol=1e-9)
    turned = run(rod, 0.2, loads=[fa.PointLoad("rod", x=0.3, torque=(0, 0, fa.sine(0.01, 1.0)))], rtol=1e-8)
    equal = run(rod, 0.2, torque={"rod": fa.sine(0.01, 1.0)}, rtol=1e-8)
    assert_allclose(turned["rod.q"].values, equal["rod.q"].values, atol=1e-12)


# --- feedback ---


def pd(t, q, v):
    return [-30.0 * q[0] - 3.0 * v[0], -8.0 * q[1] - 0.5 * v[1]]


def test_a_traced_law_is_the_closed_loop(soft):
    """Against springs and dampers in place of the law: the same robot with elastic, damped joints."""
    closed = run(soft, 0.6, torque=pd, rtol=1e-6)
    state = closed.data["q"].values, closed.data["v"].values
    expected = np.stack([pd(0, q, v) for q, v in zip(*state, strict=True)])
    assert_allclose(closed.torque.values, expected, atol=1e-12)
    from scipy.integrate import solve_ivp

    n = soft.nq
    ode = solve_ivp(
        lambda t, x: np.concatenate([x[n:], soft.forward_dynamics(x[:n], x[n:], pd(t, x[:n], x[n:]))]),
        (0, 0.6),
        np.zeros(2 * n),
        rtol=1e-8,
        atol=1e-10,
        method="DOP853",
    )
    assert_allclose(closed.data["q"].values[-1], ode.y[:n, -1], atol=1e-5)


def test_a_digital_controller_tends_to_the_continuous_one():
    """With inertia at the joint: without, no sampling rate could damp it."""
    robot = fa.System(SOFT.with_({"links.fore.hub": {"mass": 0.1, "inertia": 0.02}}), native=False)
    exact = run(robot, 0.3, torque=pd, rtol=1e-5, sample=0.05).tip.values
    errors = []
    for rate in (200, 400):
        found = run(robot, 0.3, torque=fa.Feedback(pd, rate=rate), rtol=1e-3, sample=0.05)
        assert found.reason == "completed"
        errors.append(np.abs(found.tip.values - exact).max())
    assert errors[1] < 0.65 * errors[0]  # first order in the sampling time


def test_a_digital_controller_that_cannot_hold_the_arm_ends_in_a_sentence(soft):
    with pytest.warns(fa.ValidityWarning, match=r"diverged at t = "):
        run(soft, 1.0, torque=fa.Feedback(pd, rate=200), rtol=1e-2)


def test_a_digital_controller_may_be_any_python_function(soft):
    seen = []

    def clumsy(t, q, v):
        seen.append(t)
        return {"upper": 1.0 if int(t * 100) % 2 else -1.0}

    jolt = fa.PointLoad("fore", force=(0, fa.step(0.0, 0.01, 0.033), 0))  # a stop that is none of the controller's
    found = run(soft, 0.1, torque=fa.Feedback(clumsy, rate=50), loads=[jolt], rtol=1e-2, sample=0.01)
    assert_allclose(seen, [0.0, 0.02, 0.04, 0.06, 0.08], atol=1e-12)  # asked once a period, so it may keep a memory
    told = [1.0 if int(t * 100) % 2 else -1.0 for t in np.repeat(seen, 2)]
    assert_allclose(found.torque.sel(input="upper").values[:10], told)
    with pytest.raises(TypeError, match=r"the feedback law 'clumsy' cannot be traced .* give it a sample rate"):
        run(soft, 0.1, torque=clumsy)


def test_saturation_limits_the_torque(soft):
    hard = run(soft, 0.2, torque=fa.Feedback(lambda t, q, v: [5.0 * np.sin(40 * t), 0 * t], limit=1.0))
    assert np.abs(hard.torque.values).max() == pytest.approx(1.0)


# --- events ---


def test_joint_limits_stop_the_run_at_the_limit():
    limited = ROD.with_({"links.rod.joint.limits": (-1.0, 1.0)})
    with pytest.warns(fa.ValidityWarning, match=r"'rod.q' reached its lower limit -1 rad at t = "):
        found = run(limited, 5.0, rtol=1e-6)
    assert found["rod.q"].values[-1] == pytest.approx(-1.0, abs=1e-6)
    assert found.time.values[-1] < 1.0


def test_a_condition_of_the_user_stops_the_run():
    def above(t, q, v):
        return 0.5 + q[0]

    with pytest.warns(fa.ValidityWarning, match="'above' reached zero"):
        found = run(ROD, 5.0, events=above, rtol=1e-6)
    assert found["rod.q"].values[-1] == pytest.approx(-0.5, abs=1e-6)


def test_large_deflections_are_doubted():
    soft = SOFT.with_({"links.fore.material.E": 1.5e9, "links.fore.flexible.stiffening": "shortening"})
    with pytest.warns(fa.ValidityWarning, match=r"link 'fore' bends by \d+% of its length at t = "):
        run(soft, 0.2, motion={"upper": 0.0, "fore": 0.0})


def test_a_mass_matrix_that_bending_spoils_is_not_blamed_on_a_lack_of_mass():
    """Rubber arms that fall, to second order."""
    fields = {
        "section": fa.Section.rectangle(0.01, 0.02),
        "material": fa.Material(5e6, 1100),
        "flexible": fa.Flexible(bend_y=3, stiffening="shortening"),
    }
    links = [fa.Link("upper", 0.4, **fields), fa.Link("fore", 0.3, **fields, payload=fa.PointMass(0.01))]
    with pytest.warns(fa.ValidityWarning, match=r"links bend further there than their model bears.*='exact' of link"):
        found = run(fa.Robot(links=links, gravity=(0, -9.81, 0)), 1.0)
    assert found.reason.startswith("diverged")


def test_an_explicit_method_with_too_long_a_step_says_which_coordinate_left(soft):
    with pytest.warns(fa.ValidityWarning, match=r"diverged at t = .*'fore.bend_y\[\d\]'"):
        found = run(soft, 1.0, method="rk4", dt=0.02)
    assert np.isfinite(found.data["q"].values).all()


def test_an_interrupt_keeps_what_was_computed(soft):
    def impatient(t, q, v):
        if t > 0.3:
            raise KeyboardInterrupt
        return 1.0

    with pytest.warns(fa.ValidityWarning, match="interrupted"):
        found = run(soft, 1.0, events=impatient, dt=1e-3)
    assert found.reason.startswith("interrupted")
    assert len(found.time) > 1


def test_an_interrupt_before_the_run_is_one(soft):
    def impatient(t):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(soft, 1.0, torque={"upper": impatient})


def test_an_interrupt_keeps_the_very_last_state_also_between_samples(soft):
    def law(t, q, v):
        if t > 0.2:
            signal.raise_signal(signal.SIGINT)
        return [1.0, 0.0]

    with pytest.warns(fa.ValidityWarning, match="interrupted"):
        found = run(soft, 1.0, torque=fa.Feedback(law, rate=100), sample=0.5, dt=1e-3)
    assert found.time.values.tolist() == [0.0, pytest.approx(0.21)]
    whole = run(soft, 0.21, torque=fa.Feedback(lambda t, q, v: [1.0, 0.0], rate=100), sample=0.21, dt=1e-3)
    assert_allclose(found.data["q"].values[-1], whole.data["q"].values[-1], rtol=1e-9)


def test_an_interrupt_while_results_are_gathered_does_not_lose_the_run(soft, monkeypatch):
    gather = simulate_module.results

    def impatient(*arguments):
        signal.raise_signal(signal.SIGINT)
        return gather(*arguments)

    monkeypatch.setattr(simulate_module, "results", impatient)
    with pytest.warns(fa.ValidityWarning, match="interrupted"):
        found = run(soft, 0.1)
    assert found.time.values[-1] == 0.1
    assert found.status == "interrupted"


def test_functions_of_time_that_fail_late_end_the_run_there(soft):
    with pytest.warns(fa.ValidityWarning, match="ended early"):
        found = run(soft, 1.0, torque={"upper": lambda t: math.sqrt(0.5 - t)})
    assert found.reason.startswith("the torque of 'upper' failed at t = 0.5")
    assert 0.4 < found.time.values[-1] <= 0.5
    with pytest.warns(fa.ValidityWarning, match="ended early"):
        found = run(soft, 1.0, loads=[fa.PointLoad("fore", force=(0, lambda t: 0.1 if t < 0.5 else math.nan, 0))])
    assert found.reason.startswith("loads[0] is not finite at t = 0.5")
    with pytest.raises(TypeError, match=r"torque.upper = .*: calling the function at t = 0 failed"):
        run(soft, 1.0, torque={"upper": lambda t: 1 / 0})


def test_a_condition_that_gives_no_number_or_raises_ends_the_run(soft):
    for condition, told in (
        (lambda t, q, v: math.nan if t > 0.1 else 1.0, "gave nan at t = 0.1"),
        (lambda t, q, v: next(iter(())) if t > 0.1 else 1.0, "failed at t = 0.1"),
        (lambda t, q, v: 1 / (t < 0.1), "(ZeroDivisionError: division by zero)"),
    ):
        with pytest.warns(fa.ValidityWarning, match="ended early"):
            found = run(soft, 0.5, events=condition)
        assert told in found.reason
        assert 0.1 <= found.time.values[-1] < 0.2
    for wrong in (True, None, [1.0], 1j):
        with pytest.raises(ValueError, match=r"events: .*must be a number that is positive until the run should end"):
            run(soft, 0.5, events=lambda t, q, v, wrong=wrong: wrong)
    by_name = run(ROD, 1.0, events=lambda t, q, v: q["rod.q"] + 0.5, q0={"rod.q": 0.0})
    assert by_name["rod.q"].values[-1] == pytest.approx(-0.5, abs=1e-9)


def test_a_run_that_ends_at_a_limit_ends_on_it():
    slide = fa.Link("slide", 1.0, fa.SlidingPrismatic(limits=(0.0, 2.0)), mass=1.0)
    robot = fa.Robot(links=[slide])
    with pytest.warns(fa.ValidityWarning, match="lower limit 0 m"):
        found = run(robot, 3.0, torque={"slide": lambda t: -1.0 - 0.3 * t}, q0={"slide.q": 0.7})
    assert found["slide.q"].values[-1] == 0.0
    with pytest.warns(fa.ValidityWarning, match="lower limit 0 m"):  # now just where a sample falls
        found = run(robot, 1.0, v0={"slide.q": -0.7}, q0={"slide.q": 0.35}, sample=0.5)
    assert found["slide.q"].values[-1] == 0.0
    assert found.time.values.tolist() == [0.0, pytest.approx(0.5)]


def test_a_limit_passed_within_a_step_is_seen():
    """A slide thrown a little beyond its limit, and back before the step ends."""
    slide = fa.Link("slide", 1.0, fa.SlidingPrismatic(limits=(0.0, 0.8)), mass=1.0)
    v0 = math.sqrt(2 * (0.80001 - 0.3))  # turns at 0.80001 m
    with pytest.warns(fa.ValidityWarning, match="upper limit 0.8 m"):
        found = run(fa.Robot(links=[slide]), 1.9, torque={"slide": -1.0}, v0={"slide.q": v0}, q0={"slide.q": 0.3})
    assert found.status == "stopped"
    assert found["slide.q"].values.max() <= 0.8 + 1e-12


def test_a_condition_that_is_met_before_the_run_is_refused(soft):
    with pytest.raises(ValueError, match="events: 'below' is -1 at the start"):
        run(soft, 0.1, events=type("", (), {"__call__": lambda self, t, q, v: -1.0, "__name__": "below"})())
    back = run(ROD, 1.0, events=lambda t, q, v: -q["rod.q"])  # it begins at zero and leaves it
    assert back.status == "completed"


def test_functions_of_time_that_never_give_the_same_are_refused(soft):
    draw, calls = np.random.default_rng(0), []
    for function in (lambda t: draw.uniform(), lambda t: calls.append(t) or len(calls)):
        with pytest.raises(ValueError, match=r"torque\.upper = .*: gives something else each time it is called"):
            run(soft, 0.1, torque={"upper": function})


def test_jumps_of_profiles_inside_a_function_of_time_are_met_exactly():
    first, second = fa.step(0.0, 1.0, 0.3001), fa.step(0.0, 1.0, 0.3006)
    found = run(fa.Robot(links=[fa.Link("a", 1.0, mass=3.0)]), 1.0, torque={"a": lambda t: first(t) - second(t)})
    assert found["a.q"].values[-1] == pytest.approx(0.0005 * (0.7 - 0.00035), rel=1e-9)


def test_a_method_may_be_an_object(soft):
    def tip(method, dt):
        return run(soft, 0.2, torque={"upper": 1.0}, method=method, dt=dt, sample=0.1).tip.values[-1]

    exact = run(soft, 0.2, torque={"upper": 1.0}, method="rk45", rtol=1e-11, sample=0.1).tip.values[-1]
    heun = fa.RungeKutta(2, 2, A=[[0, 0], [1, 0]], b=[0.5, 0.5], c=[0, 1], e=[-0.5, 0.5])
    errors = [np.abs(tip(heun, dt) - exact).max() for dt in (2e-4, 1e-4)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)
    assert (tip(fa.GeneralizedAlpha(), 0.01) == tip("generalized-alpha", 0.01)).all()
    assert (tip(fa.GeneralizedAlpha(radius=0.2), 0.01) != tip("generalized-alpha", 0.01)).any()


def test_a_method_of_the_users_is_not_taken_for_the_one_it_comes_from(soft):
    class HalfSteps(fa.GeneralizedAlpha):
        """Two steps of half the size."""

        nodes = (0.0, 0.5, 1.0)

        def advance(self, plant, state, inputs, dt):
            middle, first, _ = super().advance(plant, state, inputs[:2], dt / 2)
            after, second, left = super().advance(plant, middle, inputs[1:], dt / 2)
            return after, first + second, left

    def tip(method, dt):
        return run(soft, 0.2, torque={"upper": 1.0}, method=method, dt=dt, sample=0.1).tip.values[-1]

    fine = tip("generalized-alpha", 0.005)
    near, far = (np.abs(tip(method, 0.01) - fine).max() for method in (HalfSteps(), "generalized-alpha"))
    assert near < 0.6 * far
    with pytest.raises(ValueError, match=r"method = .*must be one of auto, esdirk, .* or a fa\.Method"):
        run(soft, 0.1, method=HalfSteps)


# --- same inputs, same digits; the same whether compiled or not ---


def test_runs_are_reproducible_to_the_last_bit(soft):
    first, second = (run(soft, 0.3, torque={"upper": 1.0}) for _ in range(2))
    assert (first.data["q"].values == second.data["q"].values).all()


def test_compiled_runs_equal_those_in_the_virtual_machine(tmp_path, monkeypatch, soft):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path))
    compiled = fa.simulate(SOFT, 0.3, torque={"upper": 1.0})
    virtual = run(soft, 0.3, torque={"upper": 1.0})
    assert (compiled.data["q"].values == virtual.data["q"].values).all()


def test_samples_fall_where_they_are_wanted(soft):
    found = run(soft, 0.35, sample=0.1)
    assert_allclose(found.time.values, [0, 0.1, 0.2, 0.3, 0.35])
    fine = run(soft, 0.01, sample=1e-5)
    assert len(fine.time) == 1001
    assert_allclose(
        np.gradient(fine["upper.q"].values, fine.time.values)[1:-1], fine.data["v"].values[1:-1, 0], atol=1e-6
    )


def test_points_are_recorded():
    found = run(ROD, 0.2, points={"middle": ("rod", 0.5)})
    assert_allclose(found.data["points"].sel(point="middle").values, found.tip.values / 2, atol=1e-12)


def test_a_robot_of_constant_torque_starts_from_rest_by_its_own_inertia():
    beam = unit_link(flexible=fa.Flexible(bend_y=3), hub=fa.PointMass(0, inertia=1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run(fa.Robot(links=[beam]), 0.01, torque=[1.0], method="rk45")
    assert found.data["a"].values[0, 0] == pytest.approx(1.0, rel=0.2)  # the bent beam lags: hub inertia counts first


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"duration": -1.0}, "duration = -1.0: must be positive"),
        ({"method": "euler"}, "method = 'euler': must be one of auto, esdirk, generalized-alpha"),
        ({"rtol": 0.0}, "rtol = 0.0: must be positive"),
        ({"dt": -1e-3}, "dt = -0.001: must be positive"),
        ({"dt": 2.0}, "is longer than the duration"),
        ({"radius": 1.5}, "radius = 1.5: must be at least 0 and at most 1"),
        ({"radius": 0.5, "method": "rk45"}, "radius = 0.5: belongs to method 'generalized-alpha', not to 'rk45'"),
        ({"sample": 5.0}, "sample = 5: must be at most the duration"),
        ({"torque": {"elbow": 1.0}}, "torque: there is no actuator at 'elbow'"),
        ({"torque": [1.0]}, r"torque has shape \(1,\): give one number for each of upper, fore"),
        ({"torque": lambda t: 1.0}, r"must take \(t, q, v\)"),
        ({"motion": {"elbow": 1.0}}, "motion: there is no joint at 'elbow'"),
        ({"q0": "rest"}, "q0 = 'rest': must be 'equilibrium'"),
        ({"q0": {"upper": 1.0}}, "there is no coordinate 'upper'; did you mean 'upper.q'"),
        ({"loads": [1.0]}, r"loads\[0\] = 1.0: must be a fa.PointLoad"),
        ({"method": "adams", "dt": 0.1}, "adams chooses its own steps"),
    ],
)
def test_wrong_input_is_a_sentence(soft, options, sentence):
    with pytest.raises((ValueError, KeyError, TypeError), match=sentence):
        fa.simulate(soft, **{"duration": 1.0, "native": False, **options})


@pytest.mark.parametrize("method", ["rk45", "rk4"])
def test_explicit_methods_do_not_flutter_at_the_limit_of_stability(method):
    """The highest modes of damped elements limit the step; what they dissipate must not be their flutter."""
    flexible = fa.Flexible(bend_y=4, basis="elements")
    metal, bar = fa.Material(7e10, 2700, damping=1e-3), fa.Section.rectangle(0.006, 0.03)
    robot = fa.Robot("shelf", [fa.Link("shelf", 1.0, fa.Weld(), bar, metal, flexible)], gravity=(0, -9.81, 0))
    lost = [
        float(run(robot, 0.05, method=each, sample=0.05).energy["dissipated"][-1])
        for each in (method, "generalized-alpha")
    ]
    assert lost[0] == pytest.approx(lost[1], rel=0.1)


def test_a_law_that_gives_no_number_and_a_joint_without_inertia_are_named(soft):
    with pytest.raises(ValueError, match=r"the feedback law failed at t = 0 s \(ValueError: it gave nan for 'upper'\)"):
        run(soft, 0.1, torque=fa.Feedback(lambda t, q, v: [float("nan"), 0.0], rate=100))
    links = [fa.Link("arm", 1.0, mass=1.0), fa.Link("pen", 0.2, fa.Revolute("x"), mass=0.1)]
    with pytest.raises(ValueError, match=r"the mass matrix is singular: 'pen\.q' has no inertia"):
        run(fa.Robot("x", links), 0.1)


@pytest.mark.parametrize(
    "function",
    {
        "a sum": lambda t: np.sum([np.sin(3 * t), 2 * np.sin(5 * t)]),
        "a mean": lambda t: np.mean([np.sin(3 * t), 2 * np.sin(5 * t)]),
        "two harmonics": lambda t: np.sum(np.array([1.0, 2.0]) * np.sin(np.array([3.0, 5.0]) * t)),
    }.values(),
)
def test_functions_that_reduce_are_not_summed_over_time(function):
    found = run(ROD, 1.0, torque={"rod": function}, sample=0.1)
    assert_allclose(found.torque.values[:, 0], [function(t) for t in found.time.values], atol=1e-12)


def test_hints_where_a_run_diverged(soft):
    pair = {"torque": fa.Feedback(lambda t, q, v: -1e4 * v[[0, 3]], rate=50)}
    with pytest.warns(fa.ValidityWarning, match=r"speaks every 0\.02 s shakes joints that feel little inertia"):
        run(soft, 1.0, **pair)
    with pytest.warns(fa.ValidityWarning, match="a law that jumps"):
        run(ROD, 1.0, torque=lambda t, q, v: [1.0 / (0.1 - q[0]) ** 2])


def test_absurd_tolerances_and_durations_are_refused(soft):
    with pytest.raises(ValueError, match="rtol = 1e-15: must be at least 1e-13"):
        run(soft, 1.0, rtol=1e-15)
    with pytest.raises(ValueError, match="duration = 1e-300: must be at least 1e-12"):
        run(soft, 1e-300)
    assert run(ROD, 1e3, q0={"rod.q": -np.pi / 2}).status == "completed"  # hangs still, for a long time


def test_a_motion_that_jumps_is_refused(soft):
    for motion, told in (
        (fa.bang_bang(1.0, (0.1, 0.2)), "jumps by -2 rad at t = 0.1 s"),
        (fa.step(0.0, 1.0, 0.5), "by 1 rad"),
    ):
        with pytest.raises(ValueError, match=rf"motion\.upper = .*{told}.*no joint can follow"):
            run(soft, 1.0, motion={"upper": motion})
    run(soft, 0.05, motion={"upper": fa.step(0.0, 1.0)})  # from the start there: no jump on the way


def test_a_joint_has_one_master(soft):
    for torque in ({"upper": 1.0}, {"upper": 0.0}, [1.0, 0.0]):
        with pytest.raises(
            ValueError, match=r"torque\.upper: has no effect, since motion prescribes how the joint moves"
        ):
            run(soft, 0.1, torque=torque, motion={"upper": 0.0})
    for name, value in (("q0", 0.3), ("v0", 2.0)):
        with pytest.raises(ValueError, match=rf"{name}\['upper\.q'\] = {value}: its motion starts with"):
            run(soft, 0.1, motion={"upper": fa.spin_up(1.0, 1.0)}, **{name: {"upper.q": value}})


def test_the_torque_of_a_driven_joint_counts_what_a_law_says_for_it():
    """The motion is the same whatever the law commands there, and so is the torque that it takes."""
    swing, law = {"rod": fa.cycloid(0.0, 1.0, 1.0)}, fa.Feedback(lambda t, q, v: [5.0 - 2 * v[0]])
    alone, commanded = run(ROD, 1.0, motion=swing), run(ROD, 1.0, motion=swing, torque=law)
    assert_allclose(commanded["rod.q"].values, alone["rod.q"].values, atol=1e-12)
    assert_allclose(commanded.torque.values, alone.torque.values, atol=1e-9)
    assert_allclose(commanded.energy["work"].values, alone.energy["work"].values, atol=1e-6)


def test_messages_name_what_was_given(soft):
    with pytest.raises(TypeError, match=r"path = None: must be the path of a file that run\.save wrote"):
        fa.Run.load(None)
    with pytest.raises(ValueError, match=r"too large \(v0 of 'upper\.q' is 1e\+200\)"):
        run(soft, 0.1, v0={"upper.q": 1e200})
    with pytest.raises((TypeError, ValueError), match="max"):
        run(soft, 0.1, torque=max)
