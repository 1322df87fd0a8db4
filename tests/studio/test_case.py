import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.case import SETTLE_TIME_S, History, StudioCase
from flexarm.studio.compute import compute_run
from flexarm.studio.control import Control
from tests.studio.browserless import value_of

FILE = "examples/two_link.yaml"
BAR = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])


def test_every_parameter_can_be_changed_by_its_name() -> None:
    case = StudioCase.from_file(FILE)
    paths = [each.name for each in case.parameters()]
    for path in ("links.fore.payload.mass", "links.upper.material.E", "links.upper.flexible.bend_y", "gravity.2",
                   "duration", "torque.upper.amplitude", "q0.fore.q"):  # fmt: skip
        assert path in paths
    for number in case.parameters():
        change = 1.0 if number.is_integer else 0.01
        if number.name.endswith(("flexible.bend_z", "flexible.twist", "flexible.stretch", ".mount.0", ".mount.1")):
            continue  # modes that the default link model does not combine, and mounts of unit length
        changed = case.with_({number.name: number.value + change})
        assert value_of(changed, number.name) == pytest.approx(number.value + change)
        assert value_of(case, number.name) == number.value  # the case itself is unchanged


def test_parameters_have_units() -> None:
    units = {each.name: each.unit for each in StudioCase.from_file(FILE).parameters()}
    assert units["links.fore.payload.mass"] == "kg"
    assert units["torque.upper.amplitude"] == "N m"
    assert units["torque.upper.switch.1"] == units["duration"] == "s"
    assert units["q0.fore.q"] == "rad"
    slide = {each.name: each.unit for each in StudioCase.from_file("examples/08_telescope.yaml").parameters()}
    assert slide["motion.boom.y1"] == "m"
    assert slide["motion.shoulder.y1"] == "rad"


def test_profile_parameters_have_units() -> None:
    torque = {"a": fa.chirp(1.0, 2.0, 3.0, 4.0)}
    chirped = {each.name: each.unit for each in StudioCase.from_robot(BAR, {"torque": torque}).parameters()}
    assert chirped["torque.a.f0"] == chirped["torque.a.f1"] == "Hz"
    assert chirped["torque.a.amplitude"] == "N m"
    options = {"motion": {"a": fa.trapezoid(0.0, 1.0, speed=1.0, acceleration=2.0)}, "v0": {"a.q": 0.0}, "q0": [0.1]}
    moved = {each.name: each.unit for each in StudioCase.from_robot(BAR, options).parameters()}
    assert moved["motion.a.speed"] == moved["v0.a.q"] == "rad/s"
    assert moved["motion.a.acceleration"] == "rad/s2"
    assert moved["q0.0"] == "rad"


def test_points_and_counts_have_the_format_of_simulate() -> None:
    for more in ({}, {"native": False}):
        options = {"duration": 0.1, "points": {"middle": ("a", 0.5)}, **more}
        case = StudioCase.from_robot(BAR, options).with_({"points.middle.x": 0.25})
        assert case.arguments(fa.System(BAR, native=False))["points"] == {"middle": ("a", 0.25)}
    smooth = StudioCase.from_robot(BAR, {"motion": {"a": fa.rest_to_rest(0.0, 1.0, 1.0, smooth=3)}})
    changed = smooth.with_({"motion.a.smooth": 4.0}).arguments(fa.System(BAR, native=False))
    assert changed["motion"]["a"](1.0) == pytest.approx(1.0)


def test_errors_without_a_file_begin_with_the_path() -> None:
    with pytest.raises(ValueError, match=r"^simulation\.duration"):
        StudioCase(BAR, {"duration": -1.0}).arguments(fa.System(BAR, native=False))


def test_invalid_values_are_refused() -> None:
    case = StudioCase.from_file(FILE)
    with pytest.raises(fa.DescriptionError, match=r"length = -1.*must be positive \(m\)"):
        case.with_({"links.fore.length": -1.0})
    with pytest.raises(ValueError, match="must be a whole number"):
        case.with_({"links.fore.flexible.bend_y": 1.5})
    with pytest.raises(fa.DescriptionError, match="did you mean 'length'"):
        case.with_({"links.fore.lenght": 1.0})
    with pytest.raises(ValueError, match=r"torque\.uper: this simulation .* did you mean 'torque\.upper"):
        case.with_({"torque.uper": 1.0})
    late = case.with_({"torque.upper.switch.0": 3.0})
    with pytest.raises(ValueError, match="switch"):
        late.arguments(fa.System(late.robot, native=False))


def test_python_objects_have_parameters() -> None:
    def law(t, x, gains):
        return {"a": -gains["kp"] * x["a.q"]}

    pushed = StudioCase.from_robot(BAR, {"duration": 0.1, "torque": {"a": lambda t: 2.0}, "native": False})
    named = StudioCase.from_robot(BAR, {"duration": 0.1, "torque": {"a": fa.step(0.0, 2.0)}, "native": False})
    assert value_of(named, "torque.a.y1") == 2.0
    assert named.section is None  # files have no field `native`
    more = named.with_({"torque.a.y1": 3.0})
    assert more.arguments(fa.System(BAR, native=False))["torque"]["a"]["y1"] == 3.0
    twice = pushed.with_({"torque.a.scale": 2.0})
    assert twice.arguments(fa.System(BAR, native=False))["torque"]["a"](0.05) == 4.0
    held = StudioCase.from_robot(BAR, {"torque": fa.Feedback(law, gains={"kp": 3.0})})
    assert value_of(held, "gains.kp") == 3.0
    assert held.with_({"gains.kp": 5.0}).plan["torque"].gains["kp"] == 5.0
    assert held.section is None
    assert pushed.section is None


def test_arguments_are_copied() -> None:
    start, torque = {"a.q": 0.5}, {"a": 1.0}
    case = StudioCase.from_robot(BAR, {"q0": start, "torque": torque})
    start["a.q"], torque["a"] = 9.0, 9.0
    assert value_of(case, "q0.a.q") == 0.5
    assert value_of(case, "torque.a") == 1.0


def test_robot_without_simulation_gets_a_default_motion() -> None:
    case = StudioCase.from_robot(BAR, {})
    assert case.is_default
    assert case.plan["motion"]["a"]["y1"] == 0.3
    slide = fa.Robot(links=[fa.Link("a", 1.0, fa.SlidingPrismatic(), mass=3.0)])
    assert StudioCase.from_robot(slide, {}).plan["torque"]["a"]["amplitude"] == pytest.approx(6.0)  # 2 m/s2 of 3 kg
    assert StudioCase.from_robot(fa.load("examples/08_telescope.yaml"), {}).is_default  # singular at d = 0


def test_control_is_applied() -> None:
    arm = fa.library.two_link_arm().with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
    case = StudioCase.from_robot(
        arm, {"duration": 0.5, "torque": {"upper": fa.bang_bang(0.2, (0.1, 0.2))}, "native": False}
    )
    plain = compute_run(case).run
    from dataclasses import replace

    held = compute_run(replace(case, control=Control(feedback="pd", kp=50.0, kd=5.0))).run
    assert np.abs(held["upper.q"].values).max() < 0.3 * np.abs(plain["upper.q"].values).max()
    shaped = replace(case, control=Control(shaper="zv")).arguments(fa.System(arm, native=False))["torque"]["upper"]
    assert "zv-shaped" in shaped.name
    twin = compute_run(replace(case, control=Control(shaper="zv", feedback="pd")), rigid=True)
    assert twin.system.nq == 2


def test_history_has_a_case_for_each_completed_change() -> None:
    cases = [StudioCase(BAR, {"duration": 1.0 + k}) for k in range(6)]
    history = History(cases[0])
    history.push(cases[0], ["mass"], now=0.0)
    history.push(cases[1], ["mass"], now=0.9 * SETTLE_TIME_S)
    history.push(cases[2], ["mass"], now=1.8 * SETTLE_TIME_S)  # still the same change
    assert (len(history), history.last) == (1, cases[0])
    history.push(cases[3], ["mass"], now=3.0 * SETTLE_TIME_S)
    history.push(cases[4], ["length"], now=3.1 * SETTLE_TIME_S)
    history.push(cases[5], now=3.1 * SETTLE_TIME_S)
    assert (len(history), history.last) == (4, cases[5])
    history.pop()
    history.push(cases[5], ["length"], now=3.2 * SETTLE_TIME_S)  # a new change after an undo
    assert (len(history), history.first) == (4, cases[0])
