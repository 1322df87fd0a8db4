"""Stepping by hand: what simulate computes, step by step, and nothing in silence."""

import copy
import pickle
import threading
import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler

ALUMINIUM = fa.Material(E=7e10, rho=2700, damping=1e-4)
STRIP = fa.Section.rectangle(0.004, 0.02)


def link(name, length, inertia=0.02, **fields):
    joint = fa.Revolute("z", drive=fa.Drive(rotor_inertia=inertia))
    return fa.Link(name, length, joint, STRIP, ALUMINIUM, **fields)


ARM = fa.Robot(
    "arm",
    links=[
        link("upper", 0.5, flexible=fa.Flexible(bend_y=2)),
        link("fore", 0.4, 0.01, flexible=fa.Flexible(bend_y=1), payload=fa.PointMass(0.1)),
    ],
)
SYSTEM = fa.System(ARM, native=False)
ROD = fa.Robot("rod", links=[fa.Link("rod", 1.0, section=STRIP, material=ALUMINIUM)], gravity=(0, -9.81, 0))
PENDULUM = fa.System(ROD, native=False)


def simulation(robot=SYSTEM, dt=0.01, **options):
    return fa.Simulation(robot, dt, **{"native": False, **options})


def law(t, q, v):
    return [
        2 * (0.5 - q["upper.q"]) - 0.5 * v["upper.q"],
        0.5 * (0.3 - q["fore.q"]) - 0.1 * v["fore.q"],
    ]


def stepped(sim, steps, torque=None):
    for _ in range(steps):
        sim.step(torque)
    return sim


@pytest.fixture(scope="module")
def reference():
    """With a digital controller of the same rate."""
    return fa.simulate(SYSTEM, 0.3, torque=fa.Feedback(law, rate=100), rtol=1e-8, sample=0.01, native=False)


def far(sim, reference):
    return float(np.linalg.norm(sim.tip - reference.tip.values[-1]))


# --- it is what simulate computes ---


def test_a_loop_of_steps_is_a_run_with_a_digital_controller(reference):
    sim = simulation()
    for k in range(30):
        assert sim.t == pytest.approx(k * 0.01, abs=1e-15)
        sim.step(law(sim.t, sim.q, sim.v))
    assert far(sim, reference) < 1e-6
    assert sim.q == pytest.approx(reference.array("q")[-1], abs=1e-5)
    assert sim.torque == pytest.approx(reference.array("torque")[-1], abs=1e-4)  # of the last period
    assert sim["tip.x"] == sim.tip[0]


@pytest.mark.parametrize(("method", "order"), [("esdirk", 4), ("generalized-alpha", 2), ("rk4", 4)])
def test_substeps_converge_with_the_order_of_the_method(method, order, reference):
    errors = []
    for substeps in (6, 12):
        sim = simulation(method=method, substeps=substeps, rtol=0.1)
        for _ in range(30):
            sim.step(law(sim.t, sim.q, sim.v))
        errors.append(far(sim, reference))
        assert sim.error > errors[-1] / 3  # the estimate tells
    assert errors[0] / errors[1] > 0.6 * 2**order or errors[0] < 1e-8


def test_a_pendulum_keeps_its_energy():
    sim = simulation(PENDULUM, 0.02, q0={"rod.q": 1.0})
    before = sim.energy.total
    stepped(sim, 200)
    assert sim.energy.total == pytest.approx(before, rel=1e-6)
    assert abs(sim["rod.q"] - 1.0) > 0.1
    assert sim.work == sim.dissipated == 0


def test_energy_is_what_torques_put_in_and_damping_takes_out():
    sim = simulation(dt=0.005, substeps=2)
    for k in range(100):
        sim.step(np.array([0.5, -0.2]) * (-1) ** (k // 10))
    assert sim.dissipated > 0
    assert sim.energy.total == pytest.approx(sim.work - sim.dissipated, rel=1e-5)
    assert sim["kinetic"] + sim["elastic"] + sim["gravity"] + sim["drive"] == pytest.approx(sim.energy.total)


def test_accelerations_are_those_of_the_torque_that_is_held():
    sim = simulation()
    stepped(sim, 3, [0.1, 0.0])
    stepped(sim, 1, [-0.3, 0.2])
    wanted = SYSTEM.forward_dynamics(sim.q, sim.v, {"upper": -0.3, "fore": 0.2})
    assert sim.a == pytest.approx(wanted, rel=1e-4, abs=1e-4 * np.abs(wanted).max())


def test_torques_that_do_not_jump_change_nothing_between_steps():
    """Generalised-alpha carries its accelerations from step to step: two steps are one in two substeps."""
    one, two = simulation(method="newmark", substeps=2), simulation(dt=0.005, method="newmark")
    torque = np.array([0.3, 0.1])
    stepped(one, 10, torque)
    stepped(two, 20, torque)
    assert np.array_equal(one.q, two.q)


def test_loads_are_those_of_simulate():
    push = [
        fa.PointLoad("fore", force=(0.0, fa.bang_bang(2.0, (0.05, 0.1)), 0.0)),
        fa.PointLoad("upper", 0.2, (0, 1, 0)),
    ]
    run = fa.simulate(SYSTEM, 0.2, loads=push, rtol=1e-8, sample=0.01, native=False)
    sim = stepped(simulation(loads=push, substeps=2), 20)
    assert far(sim, run) < 1e-6
    still = [fa.PointLoad("fore", force=(0.0, 0.5, 0.0))]
    run = fa.simulate(SYSTEM, 0.1, loads=still, rtol=1e-8, sample=0.01, native=False)
    assert far(stepped(simulation(loads=still), 10), run) < 1e-6


def test_a_load_that_fails_is_told():
    def force(t):
        return 1.0 if t < 0.015 else 1 / 0

    sim = simulation(loads=[fa.PointLoad("fore", force=(force, 0.0, 0.0))])
    sim.step()
    with pytest.raises(fa.StepError, match=r"loads\[0\] failed"):
        sim.step()
    assert sim.t == 0.01
    with pytest.raises(ValueError, match=r"loads\[0\] failed at t = 0.02 s"):
        sim.reset(t=0.02)
    assert sim.t == 0.01


def test_what_a_simulation_is_cannot_be_changed_under_its_feet():
    sim = simulation()
    for name in ("dt", "system", "t", "q"):
        with pytest.raises(AttributeError):
            setattr(sim, name, 1.0)


# --- other robots ---


def test_constraints_are_kept():
    rod = {"section": fa.Section.rectangle(0.006, 0.02), "material": ALUMINIUM}
    linkage = fa.Robot(
        links=[
            fa.Link("crank", 0.2, **rod),
            fa.Link("coupler", 0.7, **rod, flexible=fa.Flexible(bend_y=1)),
            fa.Link("rocker", 0.5, **rod, parent="ground", offset=(0.7, 0, 0)),
        ],
        constraints=[fa.Loop("coupler", "rocker")],
    )
    system, start = fa.System(linkage, native=False), {"coupler.q": 0.7954, "rocker.q": 1.5908}
    sim = stepped(simulation(system, 2e-3, q0=start), 50, {"crank": 0.3})
    run = fa.simulate(system, 0.1, torque={"crank": 0.3}, q0=start, rtol=1e-7, sample=0.1, native=False)
    assert far(sim, run) < 1e-6
    assert np.abs(system.constraint(sim.q)).max() < 1e-12
    assert np.abs(system.constraint_jacobian(sim.q) @ sim.v).max() < 1e-9
    baumgarte = stepped(simulation(system, 2e-3, q0=start, stabilization=fa.Baumgarte(20, 20)), 50, {"crank": 0.3})
    assert far(baumgarte, run) < 1e-5
    twin = sim.copy()
    for each in (sim, twin):
        each.reset()
    assert twin.state == sim.state
    with pytest.warns(fa.ValidityWarning, match="q0 does not satisfy the constraints") as told:
        off = simulation(system, q0={"coupler.q": 0.6, "rocker.q": 1.5})
    assert (len(told), told[0].filename) == (1, __file__)
    off.reset()  # says no more


def rail(**joint):
    beam = fa.Link("beam", 2.0, fa.Weld(), fa.Section.rectangle(0.05, 0.012), ALUMINIUM, fa.Flexible(bend_y=1))
    car = fa.Link("car", 0.1, fa.SlidingPrismatic(limits=(0.2, 1.9), **joint), mass=0.5)
    return fa.Robot(links=[beam, car])


def test_a_slide_at_the_end_of_its_travel_stops_the_simulation_before_it():
    sim = simulation(rail(), q0={"car.q": 1.803}, v0={"car.q": 1.0})
    with pytest.raises(fa.StepError, match=r"'car.q' reached its upper limit 1.9 m at t = 0\.\d+ s") as told:
        stepped(sim, 20)
    assert told.value.status == "stopped"
    assert sim["car.q"] < 1.9
    before = sim.state
    with pytest.raises(fa.StepError):
        sim.step()
    assert sim.state == before
    stepped(sim, 1, [-200.0])  # a way on


def test_a_stop_is_felt_and_one_that_is_jumped_over_is_told():
    stop = {"stop": fa.Stop(2e4)}
    sim = simulation(rail(**stop), 1e-3, q0={"car.q": 1.85}, v0={"car.q": 1.0})
    stepped(sim, 100)
    assert sim["car.q'"] == pytest.approx(-1.0, rel=1e-2)
    sim = simulation(rail(**stop), 0.02, q0={"car.q": 1.85}, v0={"car.q": 1.0}, rtol=0.1)
    with pytest.warns(fa.ValidityWarning, match="runs into its stop"):
        stepped(sim, 20)


def test_motors_on_soft_gears_and_friction():
    drive = fa.Drive(stiffness=50.0, damping=0.1, rotor_inertia=0.02)
    robot = fa.Robot(links=[fa.Link("a", 0.5, fa.Revolute("z", coulomb=0.05, drive=drive), mass=0.3)])
    system = fa.System(robot, native=False)
    torque = {"a": fa.bang_bang(0.2, (0.1, 0.2))}
    run = fa.simulate(system, 0.2, torque=torque, rtol=1e-7, sample=0.1, native=False)
    sim = simulation(system, 1e-3)
    for _ in range(200):
        sim.step({"a": torque["a"](sim.t + 1e-9)})
    assert far(sim, run) < 1e-6
    assert sim.dissipated > 0
    assert sim.q["a.motor"] != sim.q["a.q"]


def test_a_robot_without_actuators():
    robot = fa.Robot(
        links=[fa.Link("mast", 1.0, fa.Weld(), STRIP, ALUMINIUM, flexible=fa.Flexible(bend_y=1))], gravity=(0, -9.81, 0)
    )
    sim = simulation(robot)
    stepped(sim, 3)
    stepped(sim, 1, [])
    assert sim["deflection.mast.y"] < 0
    with pytest.raises(ValueError, match="torque has shape"):
        sim.step([1.0])
    rested = simulation(robot, q0="equilibrium")
    stepped(rested, 10)
    assert rested.v == pytest.approx(np.zeros(1), abs=1e-9)


# --- state in and out ---


def test_what_is_read_is_a_copy_and_arguments_may_change_later():
    q0, torque = np.full(SYSTEM.nq, 0.0), np.array([0.2, 0.1])
    sim, other = simulation(q0=q0), simulation(q0=q0)
    q0[:] = 9.0
    for each in (sim.q, sim.v, sim.a, sim.tip, sim.torque):
        each[:] = 7.0
    stepped(sim, 2, torque)
    torque[:] = 9.0
    sim.reset()
    assert np.array_equal(stepped(sim, 3, [0.2, 0.1]).q, stepped(other, 3, {"upper": 0.2, "fore": 0.1}).q)
    assert sim.q["upper.q"] == sim.q[0] == sim["upper.q"]


def test_a_copy_a_snapshot_and_a_reset_go_the_same_way_to_the_last_bit():
    sim = stepped(simulation(), 5, [0.3, -0.1])
    twin, kept = sim.copy(), sim.state
    others = [twin, copy.copy(sim), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), simulation()]
    others[-1].state = pickle.loads(pickle.dumps(kept))
    end = stepped(sim, 5, [0.1, 0.1]).state
    assert end != kept
    for each in others:
        assert each.state == kept  # nothing happened to them
        assert stepped(each, 5, [0.1, 0.1]).state == end
    sim.state = kept
    assert stepped(sim, 5, [0.1, 0.1]).state == end
    sim.reset()
    assert stepped(stepped(sim, 5, [0.3, -0.1]), 5, [0.1, 0.1]).state == end
    assert (end.t, repr(end)[:22]) == (pytest.approx(0.1), "SimulationState(t=0.1,")


def test_a_snapshot_for_other_steps_and_for_another_robot():
    sim = stepped(simulation(), 5, [0.3, -0.1])
    finer = simulation(dt=0.001, method="generalized-alpha")
    finer.state = sim.state
    assert finer.t == pytest.approx(0.05)
    assert np.array_equal(finer.q, sim.q)
    stepped(finer, 50, [0.1, 0.1])
    assert finer.t == pytest.approx(0.1)
    assert finer.tip == pytest.approx(stepped(sim, 5, [0.1, 0.1]).tip, abs=1e-5)
    with pytest.raises(ValueError, match="is of another robot"):
        simulation(PENDULUM).state = sim.state
    heavier = fa.Robot("arm", links=[ARM.links[0], link("fore", 0.4, 0.02, flexible=fa.Flexible(bend_y=1))])
    with pytest.raises(ValueError, match="is of another robot"):
        simulation(heavier).state = sim.state
    with pytest.raises(TypeError, match=r"must be what `sim\.state`"):
        sim.state = sim.q


def test_reset_takes_the_words_of_simulate():
    sim = simulation(PENDULUM, q0={"rod.q": 0.5})
    stepped(sim, 3)
    sim.reset(t=2.0)
    assert (sim.t, sim["rod.q"], sim["rod.q'"]) == (2.0, 0.5, 0.0)
    sim.reset([0.1], {"rod.q": 3.0})
    assert (sim.t, sim["rod.q"], sim["rod.q'"]) == (0.0, 0.1, 3.0)
    assert sim.error == sim.work == 0.0
    with pytest.raises(KeyError, match=r"did you mean 'rod\.q'"):
        sim.reset({"rod.w": 1.0})
    with pytest.raises(ValueError, match="rounding"):
        sim.reset(t=1e300)


def test_simulations_in_threads_go_as_they_go_alone():
    torques = [np.array([0.3, -0.1]), np.array([-0.2, 0.2])]
    alone = [stepped(simulation(), 60, each).state for each in torques]
    together = [simulation() for _ in torques]
    threads = [threading.Thread(target=stepped, args=(s, 60, u)) for s, u in zip(together, torques, strict=True)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each.state for each in together] == alone


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
def test_machine_code_says_the_same():
    slow, fast = simulation(PENDULUM, q0=[1.0]), simulation(PENDULUM, q0=[1.0], native=True)
    waiting = simulation(PENDULUM, q0=[1.0], native="auto")  # it is there now
    for each in (slow, fast, waiting):
        stepped(each, 20, [0.1])
    assert fast._stepper.is_compiled
    assert waiting._stepper.is_compiled
    assert fast.q == pytest.approx(slow.q, rel=1e-12)
    assert fast.state == waiting.state
    twin = fast.copy()
    assert stepped(twin, 5).state == stepped(fast, 5).state


# --- nothing in silence ---


def test_a_step_that_is_too_long_is_told_once_with_a_way_out():
    sim = simulation(dt=0.05, method="generalized-alpha")
    with pytest.warns(fa.ValidityWarning, match=r"a step of 0\.05 s is long for this robot: .* substeps=\d") as told:
        stepped(sim, 20, [0.5, 0.2])
    assert len(told) == 1
    assert told[0].filename == __file__
    assert sim.error > 1e-4 * 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.reset()
        stepped(sim, 20, [0.5, 0.2])


def test_the_estimate_knows_how_far_off_a_simulation_is(reference):
    for method in ("generalized-alpha", "esdirk"):
        sim = simulation(method=method, rtol=0.1)
        for _ in range(30):
            sim.step(law(sim.t, sim.q, sim.v))
        assert 0.3 < sim.error / far(sim, reference) < 100


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")  # it bends far first
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_an_unstable_method_is_found_out(method):
    sim = simulation(dt=0.02, method=method, rtol=0.1)
    with pytest.raises(fa.StepError, match="diverged at t = "):
        stepped(sim, 200, [0.5, 0.2])
    assert np.isfinite(sim.q).all()
    sim.reset()
    assert sim.t == 0


def test_links_that_bend_too_far_are_told():
    flexible = fa.Flexible(bend_y=2, stiffening="shortening")
    soft = fa.Robot(links=[link("a", 1.0, flexible=flexible)])
    sim = simulation(soft, 2e-3)
    with pytest.warns(fa.ValidityWarning, match="link 'a' bends by .* at t = ") as told:
        stepped(sim, 150, [8.0])
    assert len(told) == 1


def test_an_exact_link_that_coils_up_is_told():
    flexible = fa.Flexible(bend_y=2, stiffening="exact")
    soft = fa.Robot(links=[link("a", 1.0, flexible=flexible)])
    sim = simulation(soft, 2e-3, rtol=0.1)
    with pytest.warns(fa.ValidityWarning, match="turns by .* between two of the nodes"), pytest.raises(fa.StepError):
        stepped(sim, 300, [400.0])


def test_torques_are_checked():
    sim = simulation()
    for torque, words in (
        ({"uper": 1.0}, "there is no actuator at 'uper'; did you mean 'upper'?"),
        ({"upper": "much"}, r"torque\['upper'\] = 'much': must be a number"),
        ([1.0], r"torque has shape \(1,\): give one number for each of upper, fore"),
        ([[1.0, 2.0]], r"torque has shape \(1, 2\)"),
        (["a", "b"], "torque = .*: must be an array of real numbers"),
        ([1j, 0], "not of complex"),
        (np.array([np.nan, 0.0]), "torque of 'upper' = nan: must be finite"),
        (np.array([0.0, np.inf]), "torque of 'fore' = inf: must be finite"),
    ):
        with pytest.raises((ValueError, KeyError), match=words):
            sim.step(torque)
    assert sim.t == 0
    stepped(sim, 1, np.array([1, 0]))  # whole numbers
    stepped(sim, 1, np.array([1, 0], dtype=np.float32))
    stepped(sim, 1, (1, 0))
    assert stepped(simulation(PENDULUM), 1, 0.5).torque == pytest.approx([0.5])


def test_names_are_checked():
    sim = simulation()
    with pytest.raises(KeyError, match=r"there is no 'tipp\.x' in this simulation; did you mean 'tip\.x'"):
        sim["tipp.x"]
    with pytest.raises(ValueError, match="'adams': chooses its own steps"):
        simulation(method="adams")
    assert repr(sim) == "Simulation('arm', dt=0.01, t=0)"
    assert sim["torque.upper"] == sim["error"] == sim["t"] == sim["fore.q'"] == sim["work"] == 0


def test_error_of_a_step_is_pickled():
    told = pickle.loads(pickle.dumps(fa.StepError("why", "stopped")))
    assert (str(told), told.status) == ("why", "stopped")
