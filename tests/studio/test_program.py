"""Programs that are copied compute the run that was shown."""

from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.case import Case
from flexarm.studio.computing import computed
from flexarm.studio.control import Control
from flexarm.studio.files import opened, yaml_file
from flexarm.studio.program import python_program

ARM = fa.library.two_link_arm(damping=1e-3).with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
HEAVY = ARM.with_({"gravity": (0.0, -9.81, 0.0)})
PUSHED = Case(
    HEAVY,
    {
        "duration": 0.2,
        "torque": {"upper": {"profile": "bang-bang", "amplitude": 0.2, "switch": [0.05, 0.1]}, "fore": 0.01},
        "loads": [{"link": "fore", "x": 0.3, "force": [0, {"profile": "step", "amplitude": 0.1}, 0]}],
        "points": {"middle": {"link": "fore", "x": 0.2}},
        "q0": {"fore.q": 0.3},
        "rtol": 1e-5,
    },
)
MOVED = Case(
    ARM,
    {
        "duration": 0.2,
        "motion": {"upper": {"profile": "minimum-jerk", "start": 0.0, "end": 0.1, "duration": 0.1}, "fore": 0.3},
        "q0": {"fore.q": 0.3},
    },
)
CONTROLS = [
    (PUSHED, Control()),
    (PUSHED, Control(feedback="pd", gravity=True, strain=True, strain_gain=0.5, shaper="zv")),
    (PUSHED, Control(feedback="lqr")),
    (PUSHED, Control(gravity=True)),
    (PUSHED, Control(feedback="pd", gravity=True, plant=ARM.with_({"links.fore.payload.mass": 0.3}))),
    (MOVED, Control(feedback="computed torque", kp=100.0, kd=20.0)),
    (MOVED, Control(feedback="pid", ki=2.0, shaper="zvd")),
    (MOVED, Control(shaper="ei")),
]


def run_of(text: str) -> fa.Run:
    spoken: dict[str, object] = {}
    exec(text.replace("fa.simulate(robot, ", "fa.simulate(robot, native=False, "), spoken)
    run = spoken["run"]
    assert isinstance(run, fa.Run)
    return run


@pytest.mark.parametrize(("case", "control"), CONTROLS)
@pytest.mark.filterwarnings("ignore")
def test_program_gives_the_run_that_is_shown(case: Case, control: Control) -> None:
    case = replace(case, control=control)
    shown = computed(case).run
    program = python_program(case)
    assert not program.gaps
    run = run_of(program.text)
    assert run.status == shown.status == "completed"
    np.testing.assert_allclose(run.array("tip")[-1], shown.array("tip")[-1], atol=1e-6)
    np.testing.assert_allclose(run["torque"].values[-1], shown["torque"].values[-1], rtol=1e-3, atol=1e-4)


def test_functions_leave_gaps_that_are_told() -> None:
    program = python_program(Case.of_robot(ARM, {"duration": 0.1, "torque": {"upper": lambda t: 0.1 * t}}))
    assert "'upper': ..." in program.text
    assert "torque.upper" in program.gaps[0]


def test_controllers_are_not_lost_in_a_file() -> None:
    with pytest.raises(ValueError, match="controllers cannot stand in a file; switch them off, or copy as Python"):
        yaml_file(replace(PUSHED, control=Control(gravity=True)))


def test_file_has_profiles_and_what_is_swept() -> None:
    case = Case.of_robot(ARM, {"duration": 0.1, "torque": {"upper": fa.bang_bang(0.5, (0.05, 0.1))}})
    over = {"over": {"torque.upper.amplitude": {"from": 0.1, "to": 0.5, "count": 3}}}
    again = opened("arm.yaml", yaml_file(replace(case, sweep=over)))
    assert isinstance(again, Case)
    assert again.robot == case.robot
    assert again.sweep == over
    assert again.value("simulation.torque:upper:amplitude") == 0.5
    one, other = (computed(each).run for each in (case, again))
    np.testing.assert_allclose(one.array("tip"), other.array("tip"), atol=1e-12)
