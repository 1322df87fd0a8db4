"""Torques for a path of the tip: the rigid twin follows it, stiffer robots more closely."""

import warnings
from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.analysis import rigid_torques as module
from flexarm.profiles.profile import Profile
from flexarm.profiles.segments import Wave

DURATION = 2.0
TIMES = np.linspace(0, DURATION, 81)
LINE = (fa.cycloid(1.2, 0.7, 1.5), fa.cycloid(0.2, 0.6, 1.5), 0.0)  # then half a second at rest
ELBOW = {"fore.q": 1.0}


def line(t: float) -> list[float]:
    return [each(t) if callable(each) else each for each in LINE]


def rigid_link(name: str, length: float = 1.0, **fields: object) -> fa.Link:
    return fa.Link(name, length, mass=2.0, hub=fa.PointMass(1.0, inertia=0.05), **fields)


def follow(robot: fa.Robot, plan: fa.RigidTorques, **more: object) -> fa.Run:
    """Simulate a robot, or its rigid twin, with the torques."""
    names = fa.System(robot, native=False).names
    v0 = {name: rate for name, rate in plan.v0.items() if name in names}  # the twin has no motors
    options = {"rtol": 1e-8, "sample": 0.05, "progress": False, "native": False, **more}
    return fa.simulate(robot, DURATION, torque=plan.torque, q0=plan.q0, v0=v0, **options)


def off(run: fa.Run, path) -> float:
    """Return the largest distance of the tip from a path."""
    return float(np.linalg.norm(run.tip.values - [path(t) for t in run.time.values], axis=1).max())


# --- the rigid twin follows ---


def test_a_link_on_a_hinge_by_hand():
    """The torque is I times the angular acceleration, plus the weight."""
    robot = fa.Robot(links=[fa.Link("arm", 1.2, mass=3.0)], gravity=(0, -9.81, 0))
    turn = fa.cycloid(0.0, 1.0, DURATION)
    plan = fa.rigid_torques(robot, lambda t: (1.2 * np.cos(turn(t)), 1.2 * np.sin(turn(t)), 0), TIMES)
    by_hand = 3 * 1.2**2 / 3 * turn(plan.times, 2) + 3 * 9.81 * 0.6 * np.cos(turn(plan.times))
    assert_allclose(plan.torques[:, 0], by_hand, atol=2e-4)
    assert_allclose(plan.q[:, 0], turn(plan.times), atol=1e-8)


@pytest.mark.parametrize("path", [LINE, line, [line(t) for t in TIMES]], ids=["profiles", "function", "samples"])
def test_the_twin_follows_the_path(path):
    arm = fa.library.two_link_arm()
    plan = fa.rigid_torques(arm, path, TIMES, q0=ELBOW)
    assert off(follow(arm.rigid(), plan), line) < (1e-6 if path is LINE else 2e-5)  # of samples: the corner at 1.5 s


def test_a_smooth_function_is_followed_as_well_as_profiles():
    def loop(t):
        return (0.9 + 0.2 * np.cos(pi * t), 0.3 + 0.2 * np.sin(pi * t), 0.0)

    arm = fa.library.two_link_arm()
    plan = fa.rigid_torques(arm, loop, TIMES, q0=ELBOW)
    assert max(map(abs, plan.v0.values())) > 0.1  # it begins in motion
    assert off(follow(arm.rigid(), plan), loop) < 1e-6


def test_in_space_with_gravity_and_motors():
    arm = fa.library.rrr_arm(elastic_joints=True).with_(gravity=(0, 0, -9.81))

    def path(t):
        s = fa.cycloid(0, 1, DURATION)(t)
        return (4.0 + s, -1.0 + 2 * s, 2.0 - s)

    plan = fa.rigid_torques(arm, path, TIMES, q0={"upper.q": -0.8, "fore.q": 1.2})
    assert off(follow(arm.rigid(), plan), path) < 1e-6
    assert sorted(plan.torque) == ["column", "fore", "upper"]
    assert {"upper.q", "upper.motor"} <= set(plan.v0)


def test_slides_are_pushed():
    robot = fa.Robot(
        links=[rigid_link("arm"), fa.Link("rod", 1.0, fa.FixedPrismatic(angle=0.4), mass=1.0)], gravity=(0, -9.81, 0)
    )
    path = (fa.cycloid(1.3, 1.5, DURATION), fa.cycloid(0.3, -0.2, DURATION), 0.0)
    plan = fa.rigid_torques(robot, path, TIMES, q0={"rod.q": 0.5})
    assert off(follow(robot, plan), lambda t: [each(t) if callable(each) else each for each in path]) < 1e-6


def test_frames_of_six_axes():
    axes, lengths = ["z", "y", "y", "x", "y", "x"], [0.4, 0.5, 0.4, 0.1, 0.1, 0.1]
    robot = fa.Robot(links=[rigid_link(f"link{k}", lengths[k], joint=fa.Revolute(axes[k])) for k in range(6)])
    system = fa.System(robot, native=False)
    start, change = np.array([0.3, -0.5, 0.8, 0.4, 0.7, 0.2]), np.array([0.5, 0.3, -0.4, 0.3, 0.2, -0.6])
    share = fa.cycloid(0, 1, DURATION)
    plan = fa.rigid_torques(robot, lambda t: system.frame("link5", None, start + share(t) * change), TIMES, q0=start)
    assert_allclose(plan.q, start + share(plan.times)[:, None] * change, atol=1e-7)
    assert_allclose(plan.v, share(plan.times, 1)[:, None] * change, atol=1e-5)


def test_rates_are_those_of_the_joints():
    plan = fa.rigid_torques(
        fa.library.rrr_arm(), (fa.cycloid(4, 5, 2), fa.cycloid(-1, 1, 2), 2.0), TIMES, q0={"fore.q": 1.0}
    )
    step = plan.times[1] - plan.times[0]
    assert_allclose((plan.q[2:] - plan.q[:-2])[3:-3] / (2 * step), plan.v[1:-1][3:-3], atol=5e-4)
    assert_allclose((plan.v[2:] - plan.v[:-2])[3:-3] / (2 * step), plan.a[1:-1][3:-3], atol=5e-3)


def test_accelerations_may_jump():
    """Torques jump with the acceleration, and the rigid twin still follows."""
    steady = Wave(1.2 + 0.1 * 0.77**2, -0.2 * 0.77)
    rise = Profile((-np.inf, 0.0, 0.77), (Wave(1.2), Wave(1.2, bend=-0.2), steady), "rise")
    path = (rise, 0.3, 0.0)
    arm = fa.library.two_link_arm()
    plan = fa.rigid_torques(arm, path, np.linspace(0.0, 2.0, 30), q0=ELBOW)
    assert plan.breaks == (0.77,)
    assert [time for time, _ in plan.torque["upper"].jumps() if 0 < time < 2] == [0.77]
    assert off(follow(arm.rigid(), plan), lambda t: [rise(t), 0.3, 0.0]) < 1e-6


def test_torques_at_a_motors_shaft_are_smaller_by_the_gear():
    arm = fa.library.two_link_arm()
    geared = arm.with_({"links.upper.joint.drive": fa.Drive(rotor_inertia=1e-9, gear_ratio=50.0, torque_at="motor")})
    plain, small = (fa.rigid_torques(each, LINE, TIMES, q0=ELBOW).torques[:, 0] for each in (arm, geared))
    assert_allclose(50 * small, plain, atol=1e-4 * np.abs(plain).max())


def test_joints_that_do_not_serve_the_path_are_held():
    links = [rigid_link("trunk"), rigid_link("left"), rigid_link("right", parent="trunk")]
    robot = fa.Robot(links=links, gravity=(0, -9.81, 0))
    path = (fa.cycloid(1.3, 1.0, DURATION), fa.cycloid(0.5, 1.0, DURATION), 0.0)
    plan = fa.rigid_torques(robot, path, TIMES, q0={"left.q": 1.0, "right.q": 0.5}, link="left")
    assert_allclose(plan.q[:, 2], 0.5, atol=0)
    run = follow(robot, plan)
    assert_allclose(run["right.q"].values, 0.5, atol=1e-6)
    found = fa.System(robot, native=False).tip(run.data["q"].values, "left")
    assert_allclose(found[-1], [1.0, 1.0, 0.0], atol=1e-5)  # standing links magnify what the integration misses


def test_a_redundant_arm_moves_the_joints_that_are_named():
    robot = fa.Robot(links=[rigid_link("a"), rigid_link("b"), rigid_link("c")])
    path = (fa.cycloid(2.0, 1.6, DURATION), fa.cycloid(0.5, 1.0, DURATION), 0.0)
    with pytest.raises(ValueError, match=r"joints: 3 may move \(a, b, c\), but the path has 2 components"):
        fa.rigid_torques(robot, path, TIMES, q0=[0.1, 0.4, 0.6])
    plan = fa.rigid_torques(robot, path, TIMES, q0=[0.1, 0.4, 0.6], joints=["a", "b"])
    assert_allclose(plan.q[:, 2], 0.6, atol=0)
    assert off(follow(robot, plan), lambda t: [each(t) if callable(each) else each for each in path]) < 1e-6


# --- the flexible robot does not ---


def stiffened(times: float) -> fa.Robot:
    arm = fa.library.two_link_arm(1e-3)
    return arm.with_({f"links.{link.name}.material.E": times * link.material.E for link in arm.links})


def test_the_flexible_arm_misses_the_path_by_part_of_its_deflection():
    """With free joints the tip deviates by less than the links deflect."""
    arm = stiffened(10)
    run = follow(arm, fa.rigid_torques(arm, LINE, TIMES, q0=ELBOW), rtol=1e-6)
    bent = max(float(np.linalg.norm(run.deflection(name).values, axis=1).max()) for name in ("upper", "fore"))
    assert 1e-3 < bent < 0.05
    assert 0.02 * bent < off(run, line) < bent


def test_a_stiffer_arm_misses_it_less():
    """The deviation is proportional to the flexibility if vibrations are small."""
    missed = []
    for stiffer in (10, 100):
        arm = stiffened(stiffer)
        missed.append(off(follow(arm, fa.rigid_torques(arm, LINE, TIMES, q0=ELBOW), rtol=1e-7), line))
    assert missed[0] / missed[1] == pytest.approx(10, rel=0.2)


def test_driven_by_motion_the_joints_do_what_the_twin_does():
    arm = fa.library.two_link_arm(1e-3)
    plan = fa.rigid_torques(arm, LINE, TIMES, q0=ELBOW)
    run = fa.simulate(arm, DURATION, motion=plan.motion, q0=plan.q0, sample=0.1, progress=False, native=False)
    system = fa.System(arm, native=False)
    straight = np.where(system.elastic, 0.0, run.data["q"].values)
    assert_allclose(system.tip(straight), [line(t) for t in run.time.values], atol=1e-6)


# --- refusals ---


def test_a_singular_posture_on_the_way():
    path = np.linspace((1.5, 0, 0), (1.0, 0, 0), len(TIMES))
    with pytest.raises(ValueError, match=r"path: at t = 0 s the posture .* is singular"):
        fa.rigid_torques(fa.library.two_link_arm(), path, TIMES)


def test_out_of_reach_names_the_time():
    path = (fa.cycloid(1.2, 1.8, DURATION), 0.3, 0.0)
    with pytest.raises(ValueError, match=r"path at t = 0\.95 s = .*out of reach .* from the pose before"):
        fa.rigid_torques(fa.library.two_link_arm(), path, TIMES, q0=ELBOW)


def test_closed_loops_are_refused():
    links = [
        rigid_link("crank", 0.2),
        rigid_link("coupler", 0.7),
        rigid_link("rocker", 0.5, parent="ground", offset=(0.7, 0, 0)),
    ]
    robot = fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")])
    with pytest.raises(ValueError, match="has constraints: which of its actuators"):
        fa.rigid_torques(robot, LINE, TIMES)


def test_a_path_that_is_not_smooth_causes_a_warning(monkeypatch):

    monkeypatch.setattr(module, "MAX_POINT_COUNT", 100)
    with pytest.warns(fa.ValidityWarning, match=r"torques are off by up to .* the path is not smooth"):
        fa.rigid_torques(fa.library.two_link_arm(), line, TIMES, q0=ELBOW)


def test_functions_are_resolved_between_the_times_and_jumps_refused():
    arm = fa.library.two_link_arm()
    path = lambda t: (1.2 + 0.05 * np.sin(6 * np.pi * t), 0.3, 0.0)  # noqa: E731
    plan = fa.rigid_torques(arm, path, np.linspace(0, 1, 11), q0={"fore.q": 1.0})
    run = fa.simulate(arm.rigid(), 1.0, torque=plan.torque, q0=plan.q0, v0=plan.v0, rtol=1e-8, native=False)
    assert np.abs(run.array("tip") - [path(t) for t in run.array("time")]).max() < 1e-6
    with pytest.raises(ValueError, match=r"path: near t = 0\.\d+ s the function is not smooth"):
        fa.rigid_torques(arm, lambda t: (1.2 if t < 0.5 else 1.1, 0.3, 0.0), np.linspace(0, 1, 11), q0={"fore.q": 1.0})


def test_paths_that_stand_still_or_end_with_their_profile_are_smooth():
    arm, times = fa.library.two_link_arm(), np.linspace(0, 1, 21)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        still = fa.rigid_torques(arm, lambda t: (1.2, 0.3, 0.0), times, q0={"fore.q": 1.0})
        bent = [fa.spline([0, 0.3, 1], [1.3, 1.2, 0.9]), 0.3, 0.0]
        ends = fa.rigid_torques(arm, bent, times, q0={"fore.q": 1.0})
    assert len(still.times) < 50
    assert np.abs(still.torques).max() < 1e-9
    assert np.abs(ends.v[-1] - ends.v[-2]).max() < 0.2 * np.abs(ends.v).max()
