"""Controllers that are switched on together."""

from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.case import Case
from flexarm.studio.computing import computed
from flexarm.studio.control import FEEDBACKS, Control

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
