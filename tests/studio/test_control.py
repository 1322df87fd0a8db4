"""Controllers that are switched on together."""

from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa
from flexarm.control.per_joint import usual_gains
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import computed
from flexarm.studio.control import FEEDBACKS, Control, at_rest
from flexarm.studio.export_python import python_program

SOFT = fa.library.two_link_arm().with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
STIFF = {f"links.{name}.material.E": 1e13 for name in ("upper", "fore")}
ARM = SOFT.with_({"gravity": (0.0, -9.81, 0.0), **STIFF})
HELD = StudioCase.of_robot(ARM, {"duration": 0.5, "q0": {"fore.q": 0.3}, "native": False})


def drop(control: Control) -> float:
    run = computed(replace(HELD, control=control)).run
    assert run.status == "completed"
    return float(np.abs(run["upper.q"].values).max())


@pytest.mark.filterwarnings("ignore")
def test_parts_add_up() -> None:
    """PD sags under the weight; with the weight held as well it sags by what the links bend alone."""
    alone = drop(Control(feedback="pd", kp=50.0, kd=5.0))
    both = drop(Control(feedback="pd", kp=50.0, kd=5.0, gravity=True))
    assert both < 0.3 * alone
    law = replace(HELD, control=Control(feedback="pd", gravity=True, strain=True)).arguments(fa.System(ARM))["torque"]
    assert {"kp.upper", "kd.fore", "strain.upper", "strain_rate.fore"} <= set(law.gains)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FEEDBACKS[1:])
def test_each_of_them_holds_the_arm(kind: str) -> None:
    gains = {"kp": 400.0, "kd": 40.0} if kind == "computed torque" else {"kp": 50.0, "kd": 5.0}
    assert drop(Control(feedback=kind, **gains)) < 0.3 < drop(Control())


def test_what_cannot_be_together_is_said() -> None:
    with pytest.raises(ValueError, match="computed torque holds the robot's weight already"):
        drop(Control(feedback="computed torque", gravity=True))
    rigid = replace(HELD, robot=ARM.rigid(), control=Control(strain=True))
    with pytest.raises(ValueError, match="strain: "):
        computed(rigid)
    moved = StudioCase.of_robot(ARM, {"duration": 0.1, "motion": {"upper": 0.0}, "native": False})
    with pytest.raises(ValueError, match="lqr holds a posture and follows no motion"):
        computed(replace(moved, control=Control(feedback="lqr")))
    with pytest.raises(ValueError, match="move as given have no torques"):
        computed(replace(moved, control=Control(gravity=True)))


@pytest.mark.filterwarnings("ignore")
def test_design_may_stay_while_the_robot_changes() -> None:
    heavy = HELD.with_({"links.fore.payload.mass": 0.5})
    follows = computed(replace(heavy, control=Control(feedback="pd", gravity=True))).run
    stays = computed(replace(heavy, control=Control(feedback="pd", gravity=True, plant=ARM))).run
    assert abs(stays["upper.q"].values[-1]) > 2 * abs(follows["upper.q"].values[-1])


def test_joints_stay_where_they_start_however_that_is_given() -> None:
    for start in ({"fore.q": 0.3}, [0.0, 0.0, 0.3, 0.0], np.array([0.0, 0.0, 0.3, 0.0])):
        system = fa.System(SOFT, native=False)
        assert at_rest(system, start)["fore.q"] == 0.3
        case = StudioCase.of_robot(SOFT, {"duration": 0.2, "q0": start, "native": False})
        run = computed(replace(case, control=Control(feedback="pd", kp=50.0, kd=5.0))).run
        assert np.abs(run["fore.q"].values - 0.3).max() < 1e-6
        assert "'fore': 0.3" in python_program(replace(case, control=Control(feedback="pd"))).text


def test_shapers_are_of_the_posture_in_which_a_run_begins() -> None:
    options = {"duration": 0.5, "torque": {"upper": fa.step(0.1)}, "q0": {"fore.q": 2.0}, "native": False}
    case = replace(StudioCase.of_robot(SOFT, options), control=Control(shaper="zv"))
    shaped = case.arguments(fa.System(SOFT, native=False))["torque"]["upper"]
    here = fa.shaper("zv", SOFT, q={"fore.q": 2.0}, joints="free")
    there = fa.shaper("zv", SOFT, joints="free")
    times = np.array([here.delays[1] * 0.999, here.delays[1] * 1.001])
    assert abs(here.delays[1] - there.delays[1]) > 0.01 * there.delays[1]
    np.testing.assert_allclose([shaped(t) for t in times], [here(fa.step(0.1))(t) for t in times])
    assert "q={'fore.q': 2.0}" in python_program(case).text
    slide = StudioCase.of_file("examples/08_telescope.yaml")  # which may not be at zero
    assert replace(slide, control=Control(shaper="zv")).arguments(fa.System(slide.robot, native=False))


def test_joints_go_to_their_set_points() -> None:
    system = fa.System(SOFT, native=False)
    gains = usual_gains(system, {}, bandwidth=0.5)
    case = StudioCase.of_robot(SOFT, {"duration": 6.0, "q0": {"fore.q": 0.3}, "native": False})
    goal = Control(feedback="pd", kp=gains.kp, kd=gains.kd, goals={"upper": 0.4})
    at_once = computed(replace(case, control=goal)).run
    slowly = computed(replace(case, control=replace(goal, travel=3.0))).run
    for run in (at_once, slowly):
        assert run["upper.q"].values[-1] == pytest.approx(0.4, abs=0.02)
        assert run["fore.q"].values[-1] == pytest.approx(0.3, abs=0.1)  # stays where it starts
    peak = [float(np.abs(run["torque"].values).max()) for run in (at_once, slowly)]
    assert peak[1] < 0.5 * peak[0]
    shaped = replace(case, control=replace(goal, shaper="zv")).arguments(system)["torque"].references["upper.q"]
    assert 0 < shaped(0.0) < 0.4
    assert shaped(6.0) == pytest.approx(0.4)
    with pytest.raises(ValueError, match="set point: joints go there by feedback"):
        computed(replace(case, control=replace(goal, feedback="none")))
    with pytest.raises(ValueError, match="no actuator drives 'hand'; there are those of upper, fore"):
        computed(replace(case, control=replace(goal, goals={"hand": 1.0})))
    held = computed(replace(case, control=replace(goal, feedback="lqr", weight=1.0, effort=gains.effort))).run
    assert held["upper.q"].values[-1] == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("kind", FEEDBACKS[1:])
def test_gains_that_suit_the_robot_settle(kind: str) -> None:
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
    case = StudioCase.of_robot(SOFT, {"duration": 5 / gains.bandwidth, "native": False})
    run = computed(replace(case, control=control)).run
    assert run.status == "completed"
    late = run.array("time") > 0.9 * run.array("time")[-1]
    assert np.abs(run["upper.q"].values[late] - 0.2).max() < 0.02
    assert np.abs(run["fore.q"].values[late] + 0.1).max() < 0.02


def test_shaper_without_anything_to_shape_says_so() -> None:
    fed = StudioCase.of_robot(SOFT, {"duration": 0.1, "torque": fa.pd(SOFT, 1.0, 0.1, {"upper": 0.1, "fore": 0.0})})
    with pytest.raises(ValueError, match="nothing of this simulation can be shaped: its torques come from a feedback"):
        computed(replace(fed, control=Control(shaper="zv")))
    still = StudioCase.of_robot(SOFT, {"duration": 0.1, "q0": {"fore.q": 0.1}})
    with pytest.raises(ValueError, match="it has neither torques nor motions"):
        computed(replace(still, control=Control(shaper="zv", feedback="pd")))


def test_joints_that_follow_begin_where_their_motions_do() -> None:
    slide = StudioCase.of_file("examples/08_telescope.yaml")
    first = slide.arguments(fa.System(slide.robot, native=False))["motion"]["boom"](0.0)
    followed = replace(slide.with_({"simulation.duration": 0.05}), control=Control(feedback="pd"))
    assert computed(followed).run["boom.q"].values[0] == pytest.approx(first)
    assert "'boom.q': 0.4" in python_program(followed).text


def test_a_motion_that_begins_at_zero_is_a_beginning_too() -> None:
    """A joint elsewhere that is to follow it begins where it does, not where q0 says."""
    motion = {"fore": fa.cycloid(0.0, 0.2, 0.3)}
    case = StudioCase.of_robot(SOFT, {"duration": 0.05, "q0": {"fore.q": 0.5}, "motion": motion, "native": False})
    run = computed(replace(case, control=Control(feedback="pd", kp=5.0, kd=1.0))).run
    assert run["fore.q"].values[0] == 0.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("feedback", ["pd", "pid"])
def test_strain_is_fed_back_by_a_gain_that_the_robot_bears(feedback: str) -> None:
    """Of the arm of the library, with all its shapes."""
    robot = fa.library.two_link_arm()
    gains = usual_gains(fa.System(robot, native=False), {})
    control = Control(feedback=feedback, kp=gains.kp, kd=gains.kd, ki=gains.ki, strain=True)
    case = StudioCase.of_robot(robot, {"duration": 1.0, "torque": {"upper": fa.bang_bang(0.2, (0.2, 0.4))}})
    run = computed(replace(case, control=control)).run
    assert run.status == "completed"
    assert run.statistics["steps"] < 1000
