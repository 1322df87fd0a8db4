"""Controllers that are switched on together."""

from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.case import Case
from flexarm.studio.computing import computed
from flexarm.studio.control import FEEDBACKS, Control, at_rest
from flexarm.studio.program import python_program

SOFT = fa.library.two_link_arm().with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
STIFF = {f"links.{name}.material.E": 1e13 for name in ("upper", "fore")}
ARM = SOFT.with_({"gravity": (0.0, -9.81, 0.0), **STIFF})
HELD = Case.of_robot(ARM, {"duration": 0.5, "q0": {"fore.q": 0.3}, "native": False})


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
    moved = Case.of_robot(ARM, {"duration": 0.1, "motion": {"upper": 0.0}, "native": False})
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
        case = Case.of_robot(SOFT, {"duration": 0.2, "q0": start, "native": False})
        run = computed(replace(case, control=Control(feedback="pd", kp=50.0, kd=5.0))).run
        assert np.abs(run["fore.q"].values - 0.3).max() < 1e-6
        assert "'fore': 0.3" in python_program(replace(case, control=Control(feedback="pd"))).text


def test_shapers_are_of_the_posture_in_which_a_run_begins() -> None:
    options = {"duration": 0.5, "torque": {"upper": fa.step(0.1)}, "q0": {"fore.q": 2.0}, "native": False}
    case = replace(Case.of_robot(SOFT, options), control=Control(shaper="zv"))
    shaped = case.arguments(fa.System(SOFT, native=False))["torque"]["upper"]
    here = fa.shaper("zv", SOFT, q={"fore.q": 2.0}, joints="free")
    there = fa.shaper("zv", SOFT, joints="free")
    times = np.array([here.delays[1] * 0.999, here.delays[1] * 1.001])
    assert abs(here.delays[1] - there.delays[1]) > 0.01 * there.delays[1]
    np.testing.assert_allclose([shaped(t) for t in times], [here(fa.step(0.1))(t) for t in times])
    assert "q={'fore.q': 2.0}" in python_program(case).text
    slide = Case.of_file("examples/08_telescope.yaml")  # which may not be at zero
    assert replace(slide, control=Control(shaper="zv")).arguments(fa.System(slide.robot, native=False))
