"""Frames wherever a place is asked for: poses, Jacobians, runs, laws, linear models, loads, constraints, inversion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa

BEAM = {"section": fa.Section.rectangle(0.01, 0.02), "material": fa.Material(7e10, 2700.0, damping=1e-4)}
SPATIAL = fa.Flexible(bend_y=2, bend_z=2, twist=1, stretch=1)
BODY = fa.RigidBody(1.0, com=(0.05, 0.01, 0.02), inertia=(0.004, 0.005, 0.006))
POSITION, RPY = (0.1, -0.2, 0.3), (0.4, -0.5, 0.6)


def bending_arm(stiffening="shortening"):
    flexible = SPATIAL.model_copy(update={"stiffening": stiffening})
    return fa.Robot(
        links=[fa.Link("upper", 0.8, fa.Revolute("y"), **BEAM, flexible=flexible), fa.Link("wrist", body=BODY)],
        frames=[
            fa.Frame("side", "upper", x=0.3, position=POSITION, rpy=RPY),
            fa.Frame("end", "upper"),
            fa.Frame("tool", "wrist", position=POSITION, rpy=RPY),
        ],
        tip="tool",
    )


def planar_arm():
    return fa.Robot(
        links=[fa.Link("upper", 0.8, **BEAM, flexible=fa.Flexible(bend_y=2)), fa.Link("wrist", body=BODY)],
        frames=[fa.Frame("tool", "wrist", position=(0.1, 0.02, 0.0), rpy=(0, 0, 0.5))],
        tip="tool",
        gravity=(0, -9.81, 0),
    )


def posture(system, seed=0):
    q = np.random.default_rng(seed).normal(size=system.nq)
    q[system.elastic] *= 0.02
    return q


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
def test_frames_are_rigidly_fixed_to_bending_sections(stiffening):
    system = fa.System(bending_arm(stiffening), native=False)
    q, own = posture(system), np.eye(4)
    own[:3, :3], own[:3, 3] = Rotation.from_euler("xyz", RPY).as_matrix(), POSITION
    assert_allclose(system.pose("side", q), system.frame("upper", 0.3, q) @ own, atol=1e-14)
    assert_allclose(system.pose("end", q), system.frame("upper", None, q), atol=1e-14)
    assert_allclose(system.pose("tool", q), system.frame("wrist", None, q) @ own, atol=1e-14)
    assert_allclose(system.pose(None, q), system.pose("tool", q), atol=1e-14)
    assert_allclose(system.tip(q), system.pose("tool", q)[:3, 3], atol=1e-14)
    assert_allclose(system.tip(q, "side"), system.pose("side", q)[:3, 3], atol=1e-14)


def test_jacobians_of_frames_are_rates_of_their_poses():
    system = fa.System(bending_arm(), native=False)
    q, step = posture(system), 1e-6
    for name in ("side", "tool"):
        J, own = (system.jacobian(name, q=q, axes=axes) for axes in ("world", "own"))
        R = system.pose(name, q)[:3, :3]
        assert_allclose(R @ own[:3], J[:3], atol=1e-14)
        for k, change in enumerate(np.eye(system.nq) * step):
            ahead, behind = system.pose(name, q + change), system.pose(name, q - change)
            assert_allclose((ahead - behind)[:3, 3] / (2 * step), J[3:, k], atol=1e-8)
            spin = Rotation.from_matrix(ahead[:3, :3] @ behind[:3, :3].T).as_rotvec() / (2 * step)
            assert_allclose(spin, J[:3, k], atol=1e-8)


def test_casadi_functions_of_places():
    system = fa.System(bending_arm(), native=False)
    q = posture(system)
    R, p = system.casadi["frame"](q)
    assert_allclose(p.full().ravel(), system.tip(q), atol=1e-14)
    for name, x in (("tool", None), ("side", None), ("upper", 0.2)):
        R, p = system.casadi.frame(name, x)(q)
        pose = system.frame(name, x, q)
        assert_allclose(R.full(), pose[:3, :3], atol=1e-14)
        assert_allclose(p.full().ravel(), pose[:3, 3], atol=1e-14)
        for axes in ("own", "world"):
            J = system.casadi.jacobian(name, x, axes)(q).full()
            assert_allclose(J, system.jacobian(name, x, q, axes), atol=1e-13)
    for at in ((0.002, 0.003), (0, 0)):
        assert float(system.casadi.strain("upper", 0.2, at)(q)) == pytest.approx(system.strain("upper", 0.2, q, at))
    with pytest.raises(KeyError, match="there is no link or frame 'toll'; did you mean 'tool'"):
        system.casadi.frame("toll")
    with pytest.raises(ValueError, match="axes = 'body': must be 'own' or 'world'"):
        system.casadi.jacobian("tool", axes="body")


def test_runs_read_frames_by_name():
    arm = planar_arm()
    run = fa.simulate(arm, 0.2, points={"camera": "tool"})
    system = fa.System(arm, native=False)
    path = system.pose("tool", run.array("q"))[:, :3, 3]
    assert_allclose(run.array("tip"), path, atol=1e-14)
    for name in ("tip.y", "tool.y", "camera.y"):
        assert_allclose(run[name], path[:, 1], atol=1e-13)
    speed = np.einsum("tn,tn->t", system.jacobian("tool", q=run.array("q"), axes="world")[:, 4], run.array("v"))
    assert_allclose(run["tool.y'"], speed, atol=1e-12)
    assert "frame 'tool'" in str(run.data["tip"].attrs)


def test_laws_and_linear_models_read_frames():
    arm = planar_arm()

    def law(t, x):
        return {"upper": -5.0 * x["tool.y"] - 0.5 * x["tool.y'"], "wrist": -0.1 * x["tip.x"]}

    runs = [fa.simulate(arm, 0.1, torque=fa.Feedback(law, rate=rate), rtol=1e-8) for rate in (None, 5000.0)]
    assert_allclose(runs[0].array("tip")[-1], runs[1].array("tip")[-1], atol=1e-4)
    lin = fa.linearize(arm.with_(gravity=(0, 0, 0)), inputs=["tool.fy"], outputs=["tool.y", "tip.y"])
    J = fa.System(arm).jacobian("tool", axes="world")[4]
    assert_allclose(lin.C[:, : len(J)], [J, J], atol=1e-12)


def test_loads_act_at_frames():
    arm, force = planar_arm(), (3.0, -2.0, 0.0)
    system = fa.System(arm, native=False)
    q = posture(system)
    wrench = np.array([*force, 0, 0, 0.5])
    load = fa.PointLoad("tool", force=force, torque=(0, 0, 0.5))
    run = fa.simulate(arm, 0.05, q0=q, loads=[load], rtol=1e-8)
    J = system.jacobian("tool", q=q, axes="world")[[3, 4, 5, 0, 1, 2]]
    expected = system.forward_dynamics(q, None, J.T @ wrench)
    assert_allclose(run.array("a")[0], expected, rtol=1e-6, atol=1e-6)
    held = system.reaction("wrist", q, loads=[("tool", None, wrench)]) - system.reaction("wrist", q)
    R = system.frame("wrist", None, q)[:3, :3]
    assert_allclose(R @ held[:3], [-each for each in force], atol=1e-12)
    with pytest.raises(ValueError, match=r"x = 0.1: must be left out: 'tool' is a frame"):
        fa.simulate(arm, 0.1, loads=[fa.PointLoad("tool", 0.1)])


def four_bar(frames):
    """Return a four-bar linkage whose coupler is a body, closed at a frame of it or at welded massless links."""
    hub = {"body": BODY} if frames else {"length": 0.35, "mass": 0.0, "hub": fa.PointMass(1.0, BODY.com, BODY.inertia)}
    links = [
        fa.Link("crank", 0.2, mass=0.1),
        fa.Link("plate", **hub),
        fa.Link("rocker", 0.3, parent="ground", offset=(0.4, 0, 0), mass=0.2),
    ]
    if frames:
        given = {
            "frames": [fa.Frame("pin", "plate", position=(0.35, 0.1, 0))],
            "constraints": [fa.Loop("pin", "rocker")],
        }
        return fa.Robot(links=links, gravity=(0, -9.81, 0), **given)
    links.append(fa.Link("pin", 0.1, fa.Weld(mount=(0, 0, np.pi / 2)), parent="plate", mass=0.0))
    return fa.Robot(links=links, gravity=(0, -9.81, 0), constraints=[fa.Loop("pin", "rocker")])


def test_loops_close_at_frames():
    runs = [fa.simulate(four_bar(frames), 0.5, q0={"crank.q": 1.0}, rtol=1e-8) for frames in (True, False)]
    assert_allclose(runs[0].array("q"), runs[1].array("q"), atol=1e-7)
    assert_allclose(runs[0].array("reaction"), runs[1].array("reaction"), atol=1e-4)
    assert_allclose(runs[0].reaction("plate"), runs[1].reaction("plate"), atol=1e-4)
    assert runs[0].array("violation").max() < 1e-9


@pytest.mark.parametrize("constraint", [fa.OnLine("p", direction="x"), fa.OnPlane("p", normal="y")])
def test_frames_stay_on_lines_and_planes(constraint):
    links = [fa.Link("a", 0.5, mass=1.0), fa.Link("b", body=BODY)]
    robot = fa.Robot(links=links, frames=[fa.Frame("p", "b", position=(0.3, 0.05, 0))], constraints=[constraint])
    run = fa.simulate(robot.with_(gravity=(0, -9.81, 0)), 0.2, q0={"a.q": 0.5})
    assert np.abs(run["p.y"]).max() < 1e-9


def test_inverse_kinematics_and_torques_of_a_frame():
    arm = fa.from_dh([(0, np.pi / 2, 0.2, 0), (0.5, 0, 0, 0), (0.4, 0, 0, 0)], links=[BODY] * 3, gravity=(0, 0, -9.81))
    arm = arm.with_({"frames": [*arm.frames, fa.Frame("tool", "link3", position=(0, 0.1, 0.05))]})
    system = fa.System(arm, native=False)
    q = np.array([0.3, 0.5, 0.6])
    target = system.pose("tool", q)[:3, 3]
    for name in ("tool", None):
        found = fa.inverse_kinematics(arm.with_(tip="tool"), target, link=name, q0=q + 0.1)
        assert_allclose(system.tip(found, "tool"), target, atol=1e-9)
    with pytest.raises(ValueError, match="out of reach of frame 'tool'"):
        fa.inverse_kinematics(arm, (5, 0, 0), link="tool")
    path = np.linspace(0, 1, 30)[:, None] * [0.0, 0.0, 0.05] + target
    found = fa.rigid_torques(arm, path, np.linspace(0, 1, 30), link="tool", q0=q)
    assert_allclose(system.tip(found.q, "tool")[:, 2], found.times * 0.05 + target[2], atol=1e-6)


def test_inversion_of_a_frames_path():
    arm = planar_arm().with_(gravity=(0, 0, 0))
    motion = {"upper": fa.minimum_jerk(0, 0.3, 0.6), "wrist": fa.minimum_jerk(1.5, 1.2, 0.6)}
    for output in ("tool", "tip"):
        found = fa.invert(arm, motion, 0.6, output=output)
        assert found.missed(found.play(native=False)).max() < 1e-4


def test_saved_runs_have_loads_at_frames(tmp_path):
    run = fa.simulate(planar_arm(), 0.05, loads=[fa.PointLoad("tool", force=(0, 1, 0))])
    run.save(tmp_path / "run.nc")
    copy = fa.Run.load(tmp_path / "run.nc")
    assert_allclose(copy.reaction("wrist"), run.reaction("wrist"))
    assert_allclose(copy["tool.x"], run["tool.x"])


def test_one_structure_for_all_positions_of_a_tip():
    arm = planar_arm()
    system = fa.System(arm, native=False)
    moved = arm.with_({"frames.tool.position": (0.3, 0.1, 0.0)})
    assert fa.System(moved).structure is system.structure
    assert_allclose(system.numbers_of(moved), fa.System(moved).numbers)
    other = fa.System(arm.with_(tip="upper"))
    with pytest.raises(ValueError, match="the robot has its tip on wrist here and upper there"):
        system.numbers_of(other.robot)


def test_unknown_places_are_named():
    system = fa.System(bending_arm(), native=False)
    with pytest.raises(KeyError, match="there is no link or frame 'tol'; did you mean 'tool'"):
        system.pose("tol")
    with pytest.raises(KeyError, match=r"there is no output 'tol.x'; did you mean 'tool.x'"):
        fa.linearize(system, outputs=["tol.x"])
    with pytest.raises(KeyError, match="there is no link 'tool'"):
        system.reaction("tool")
    with pytest.raises(KeyError, match="there is no link 'tool'"):
        system.strain("tool", 0.1)
