"""Tests of exported programs: they compute the same run as the page."""

from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import compute_run
from flexarm.studio.control import Control
from flexarm.studio.export_python import Program, find_call
from flexarm.studio.files import encode_yaml, read_upload
from tests.studio.browserless import value_of

ARM = fa.library.two_link_arm(damping=1e-3).with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
HEAVY = ARM.with_({"gravity": (0.0, -9.81, 0.0)})
PUSHED = StudioCase(
    HEAVY,
    {
        "duration": 0.2,
        "torque": {"upper": {"profile": "bang-bang", "amplitude": 0.2, "switch": [0.05, 0.1]}, "fore": 0.01},
        "loads": [{"link": "fore", "x": 0.3, "force": [0, {"profile": "step", "y0": 0.0, "y1": 0.1}, 0]}],
        "points": {"middle": {"link": "fore", "x": 0.2}},
        "q0": {"fore.q": 0.3},
        "rtol": 1e-5,
    },
)
MOVED = StudioCase(
    ARM,
    {
        "duration": 0.2,
        "motion": {"upper": {"profile": "minimum-jerk", "y0": 0.0, "y1": 0.1, "t1": 0.1}, "fore": 0.3},
        "q0": {"fore.q": 0.3},
    },
)
AIM = {"upper": 0.1}
CONTROLS = [
    (PUSHED, Control()),
    (PUSHED, Control(feedback="pd", gravity=True, strain=True, strain_gain=0.5, shaper="zv")),
    (PUSHED, Control(feedback="lqr")),
    (PUSHED, Control(feedback="computed torque", kp=100.0, kd=20.0)),
    (PUSHED, Control(gravity=True)),
    (PUSHED, Control(feedback="pd", gravity=True, plant=ARM.with_({"links.fore.payload.mass": 0.3}))),
    (MOVED, Control(feedback="computed torque", kp=100.0, kd=20.0)),
    (MOVED, Control(feedback="pid", ki=2.0, shaper="zvd")),
    (MOVED, Control(shaper="ei")),
    (PUSHED, Control(feedback="pid", kp={"upper": 9.0, "fore": 5.0}, goals={"fore": 0.5}, travel_time=0.1)),
    (PUSHED, Control(feedback="pd", goals={"upper": 0.1}, shaper="zv")),
    (
        PUSHED,
        Control(
            feedback="lqr",
            weight={"upper": 50.0, "fore": 9.0},
            effort={"upper": 2.0, "fore": 1.0},
            goals={"upper": 0.1},
        ),
    ),
]


def run_of(text: str) -> fa.Run:
    namespace: dict[str, object] = {}
    exec(text.replace("    robot,\n", "    robot,\n    native=False,\n"), namespace)
    run = namespace["run"]
    assert isinstance(run, fa.Run)
    return run


@pytest.mark.parametrize(("case", "control"), CONTROLS)
@pytest.mark.filterwarnings("ignore")
def test_program_computes_the_same_run(case: StudioCase, control: Control) -> None:
    case = replace(case, control=control)
    shown = compute_run(case).run
    program = Program(case)
    assert not program.gaps
    run = run_of(program.text)
    assert run.status == shown.status == "completed"
    np.testing.assert_allclose(run.array("tip")[-1], shown.array("tip")[-1], atol=1e-6)
    np.testing.assert_allclose(run["torque"].values[-1], shown["torque"].values[-1], rtol=1e-3, atol=1e-4)


def test_program_raises_for_objects_that_cannot_be_exported() -> None:
    def own(t, q, v):
        return {"upper": -0.1 * v["upper.q"]}

    for torque, named in (
        ({"upper": lambda t: 0.1 * t}, r"torque.upper \(.*is a Python object"),
        (fa.Feedback(own), r"torque \(the feedback own\) is a Python object"),
        (fa.pd(ARM, 1.0, 0.1, {"upper": 0.1, "fore": 0.0}) + fa.gravity_torque(ARM), "with gains kp.upper, kp.fore"),
    ):
        program = Program(StudioCase.from_robot(ARM, {"duration": 0.1, "torque": torque}))
        assert program.gaps
        with pytest.raises(NotImplementedError, match=named):
            run_of(program.text)


LAWS = {
    "pd": fa.pd(ARM, {"upper": 5.0, "fore": 2.0}, 0.4, {"upper": fa.cycloid(0, 0.2, 0.1), "fore": 0.1}, limit=0.5),
    "one joint": fa.pd(ARM, {"fore": 2.0}, {"fore": 0.1}, {"fore": 0.1}, rate=1000.0),
    "pid": fa.pid(ARM, 5.0, 3.0, 0.4, {"upper": 0.1, "fore": 0.0}, limit={"upper": 0.3}),
    "tracking": fa.pid(ARM, 5.0, 3.0, 0.4, {"upper": 0.1, "fore": 0.0}, limit=0.2, tracking_time=0.05),
    "motors": fa.pd(
        ARM,
        5.0,
        0.4,
        {"upper": 0.1, "fore": 0.0},
        rate=500.0,
        sensors={"upper.q": fa.Sensor.encoder(4096)},
        actuators={"upper": fa.Actuator(limit=0.3)},
    ),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.filterwarnings("ignore")
def test_known_laws_are_exported(name: str) -> None:
    case = StudioCase.from_robot(ARM, {"duration": 0.15, "torque": LAWS[name], "native": False})
    number = next(each.name for each in case.parameters() if "kp.fore" in each.name)
    case = case.with_({number: 3.0})  # as in the page
    program = Program(case)
    assert not program.gaps
    run, shown = run_of(program.text.replace("    native=False,\n", "")), compute_run(case).run
    np.testing.assert_allclose(run.array("tip"), shown.array("tip"), atol=1e-9)


def test_law_of_another_robot_is_not_exported() -> None:
    drive = fa.Drive(rotor_inertia=1e-5, gear_ratio=50.0, torque_at="motor")
    geared = ARM.with_({"links.upper.joint.drive": drive})
    law = fa.pd(geared, 5.0, 0.4, {"upper": 0.1, "fore": 0.0})
    assert find_call(law, fa.System(geared, native=False)) is not None
    assert find_call(law, fa.System(ARM, native=False)) is None


def test_yaml_refuses_controllers() -> None:
    with pytest.raises(ValueError, match="cannot contain shapers and controllers; switch them off, or save as Python"):
        encode_yaml(replace(PUSHED, control=Control(gravity=True)))


def test_yaml_contains_profiles_and_sweep() -> None:
    case = StudioCase.from_robot(ARM, {"duration": 0.1, "torque": {"upper": fa.bang_bang(0.5, (0.05, 0.1))}})
    over = {"over": {"torque.upper.amplitude": {"from": 0.1, "to": 0.5, "count": 3}}}
    again = read_upload("arm.yaml", encode_yaml(replace(case, sweep=over)).encode())
    assert isinstance(again, StudioCase)
    assert again.robot == case.robot
    assert again.sweep == over
    assert value_of(again, "torque.upper.amplitude") == 0.5
    one, other = (compute_run(each).run for each in (case, again))
    np.testing.assert_allclose(one.array("tip"), other.array("tip"), atol=1e-12)
