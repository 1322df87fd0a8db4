"""Tests of controllers and their combinations."""

from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa
from flexarm.control.per_joint import usual_gains
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import compute_run
from flexarm.studio.control import FEEDBACKS, Control, q0_posture
from flexarm.studio.export_python import Program

SOFT = fa.library.two_link_arm().with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
STIFF = {f"links.{name}.material.E": 1e13 for name in ("upper", "fore")}
ARM = SOFT.with_({"gravity": (0.0, -9.81, 0.0), **STIFF})
HELD = StudioCase.from_robot(ARM, {"duration": 0.5, "q0": {"fore.q": 0.3}, "native": False})


def drop(control: Control) -> float:
    run = compute_run(replace(HELD, control=control)).run
    assert run.status == "completed"
    return float(np.abs(run["upper.q"].values).max())


@pytest.mark.filterwarnings("ignore")
def test_controllers_add_up() -> None:
    """PD sags under the weight; with gravity compensation, only the links deflect."""
    alone = drop(Control(feedback="pd", kp=50.0, kd=5.0))
    both = drop(Control(feedback="pd", kp=50.0, kd=5.0, gravity=True))
    assert both < 0.3 * alone
    law = replace(HELD, control=Control(feedback="pd", gravity=True, strain=True)).arguments(fa.System(ARM))["torque"]
    assert {"kp.upper", "kd.fore", "strain.upper", "strain_rate.fore"} <= set(law.gains)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FEEDBACKS[1:])
def test_each_feedback_holds_the_arm(kind: str) -> None:
    gains = {"kp": 400.0, "kd": 40.0} if kind == "computed torque" else {"kp": 50.0, "kd": 5.0}
    assert drop(Control(feedback=kind, **gains)) < 0.3 < drop(Control())


def test_incompatible_controllers_are_refused() -> None:
    with pytest.raises(ValueError, match="computed torque already compensates the weight"):
        drop(Control(feedback="computed torque", gravity=True))
    rigid = replace(HELD, robot=ARM.rigid(), control=Control(strain=True))
    with pytest.raises(ValueError, match="strain: "):
        compute_run(rigid)
    moved = StudioCase.from_robot(ARM, {"duration": 0.1, "motion": {"upper": 0.0}, "native": False})
    with pytest.raises(ValueError, match="lqr holds a posture and follows no motion"):
        compute_run(replace(moved, control=Control(feedback="lqr")))
    with pytest.raises(ValueError, match="prescribed motions have no torques"):
        compute_run(replace(moved, control=Control(gravity=True)))


@pytest.mark.filterwarnings("ignore")
def test_design_can_be_kept_while_the_robot_changes() -> None:
    heavy = HELD.with_({"links.fore.payload.mass": 0.5})
    follows = compute_run(replace(heavy, control=Control(feedback="pd", gravity=True))).run
    stays = compute_run(replace(heavy, control=Control(feedback="pd", gravity=True, plant=ARM))).run
    assert abs(stays["upper.q"].values[-1]) > 2 * abs(follows["upper.q"].values[-1])


def test_joints_hold_start_positions_in_all_formats() -> None:
    for start in ({"fore.q": 0.3}, [0.0, 0.0, 0.3, 0.0], np.array([0.0, 0.0, 0.3, 0.0])):
        system = fa.System(SOFT, native=False)
        assert q0_posture(system, start)["fore.q"] == 0.3
        case = StudioCase.from_robot(SOFT, {"duration": 0.2, "q0": start, "native": False})
        run = compute_run(replace(case, control=Control(feedback="pd", kp=50.0, kd=5.0))).run
        assert np.abs(run["fore.q"].values - 0.3).max() < 1e-6
        assert "'fore': 0.3" in Program(replace(case, control=Control(feedback="pd"))).text


def test_shapers_are_designed_for_the_start_posture() -> None:
    options = {"duration": 0.5, "torque": {"upper": fa.step(0.0, 0.1)}, "q0": {"fore.q": 2.0}, "native": False}
    case = replace(StudioCase.from_robot(SOFT, options), control=Control(shaper="zv"))
    shaped = case.arguments(fa.System(SOFT, native=False))["torque"]["upper"]
    here = fa.shaper("zv", SOFT, q={"fore.q": 2.0}, joints="free")
    there = fa.shaper("zv", SOFT, joints="free")
    times = np.array([here.delays[1] * 0.999, here.delays[1] * 1.001])
    assert abs(here.delays[1] - there.delays[1]) > 0.01 * there.delays[1]
    np.testing.assert_allclose([shaped(t) for t in times], [here(fa.step(0.0, 0.1))(t) for t in times])
    assert "q={'fore.q': 2.0}" in Program(case).text
    slide = StudioCase.from_file("examples/08_telescope.yaml")  # cannot be at zero
    assert replace(slide, control=Control(shaper="zv")).arguments(fa.System(slide.robot, native=False))


def test_joints_reach_their_set_points() -> None:
    system = fa.System(SOFT, native=False)
    gains = usual_gains(system, {}, bandwidth=0.5)
    case = StudioCase.from_robot(SOFT, {"duration": 6.0, "q0": {"fore.q": 0.3}, "native": False})
    goal = Control(feedback="pd", kp=gains.kp, kd=gains.kd, goals={"upper": 0.4})
    at_once = compute_run(replace(case, control=goal)).run
    slowly = compute_run(replace(case, control=replace(goal, travel_time=3.0))).run
    for run in (at_once, slowly):
        assert run["upper.q"].values[-1] == pytest.approx(0.4, abs=0.02)
        assert run["fore.q"].values[-1] == pytest.approx(0.3, abs=0.1)  # holds its start position
    peak = [float(np.abs(run["torque"].values).max()) for run in (at_once, slowly)]
    assert peak[1] < 0.5 * peak[0]
    shaped = replace(case, control=replace(goal, shaper="zv")).arguments(system)["torque"].references["upper.q"]
    assert 0 < shaped(0.0) < 0.4
    assert shaped(6.0) == pytest.approx(0.4)
    with pytest.raises(ValueError, match="set point: needs feedback"):
        compute_run(replace(case, control=replace(goal, feedback="none")))
    with pytest.raises(ValueError, match="no actuator drives 'hand'; driven links: upper, fore"):
        compute_run(replace(case, control=replace(goal, goals={"hand": 1.0})))
    held = compute_run(replace(case, control=replace(goal, feedback="lqr", weight=1.0, effort=gains.effort))).run
    assert held["upper.q"].values[-1] == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("kind", FEEDBACKS[1:])
def test_default_gains_settle(kind: str) -> None:
    system = fa.System(SOFT, native=False)
    gains = usual_gains(system, {})
    lowest = fa.modes(system, joints="locked").frequencies[0]
    assert gains.bandwidth == pytest.approx(lowest / 2, rel=1e-3)
    model = kind == "computed torque"
    control = Control(
        feedback=kind,
        kp=gains.kp_law if model else gains.kp,
        kd=gains.kd_law if model else gains.kd,
        ki=gains.ki,
        weight=1.0,
        effort=gains.effort,
        goals={"upper": 0.2, "fore": -0.1},
    )
    case = StudioCase.from_robot(SOFT, {"duration": 5 / gains.bandwidth, "native": False})
    run = compute_run(replace(case, control=control)).run
    assert run.status == "completed"
    late = run.array("time") > 0.9 * run.array("time")[-1]
    assert np.abs(run["upper.q"].values[late] - 0.2).max() < 0.02
    assert np.abs(run["fore.q"].values[late] + 0.1).max() < 0.02


def test_shaper_without_profiles_is_refused() -> None:
    fed = StudioCase.from_robot(SOFT, {"duration": 0.1, "torque": fa.pd(SOFT, 1.0, 0.1, {"upper": 0.1, "fore": 0.0})})
    with pytest.raises(ValueError, match="this simulation has nothing to shape: torques come from a feedback law"):
        compute_run(replace(fed, control=Control(shaper="zv")))
    still = StudioCase.from_robot(SOFT, {"duration": 0.1, "q0": {"fore.q": 0.1}})
    with pytest.raises(ValueError, match="there are neither torques nor motions"):
        compute_run(replace(still, control=Control(shaper="zv", feedback="pd")))


def test_following_joints_start_where_their_motions_do() -> None:
    slide = StudioCase.from_file("examples/08_telescope.yaml")
    first = slide.arguments(fa.System(slide.robot, native=False))["motion"]["boom"](0.0)
    followed = replace(slide.with_({"duration": 0.05}), control=Control(feedback="pd"))
    assert compute_run(followed).run["boom.q"].values[0] == pytest.approx(first)
    assert "'boom.q': 0.4" in Program(followed).text


def test_start_of_a_motion_at_zero_overrides_q0() -> None:
    motion = {"fore": fa.cycloid(0.0, 0.2, 0.3)}
    case = StudioCase.from_robot(SOFT, {"duration": 0.05, "q0": {"fore.q": 0.5}, "motion": motion, "native": False})
    run = compute_run(replace(case, control=Control(feedback="pd", kp=5.0, kd=1.0))).run
    assert run["fore.q"].values[0] == 0.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("feedback", ["pd", "pid"])
def test_default_strain_feedback_is_stable(feedback: str) -> None:
    """With the library's arm and all its modes."""
    robot = fa.library.two_link_arm()
    gains = usual_gains(fa.System(robot, native=False), {})
    control = Control(feedback=feedback, kp=gains.kp, kd=gains.kd, ki=gains.ki, strain=True)
    case = StudioCase.from_robot(robot, {"duration": 1.0, "torque": {"upper": fa.bang_bang(0.2, (0.2, 0.4))}})
    run = compute_run(replace(case, control=control)).run
    assert run.status == "completed"
    assert run.statistics["steps"] < 1000
