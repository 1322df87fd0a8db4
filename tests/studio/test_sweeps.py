"""Tests of sweeps in a page without a browser."""

import re
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import compute_run
from flexarm.studio.control import Control
from flexarm.studio.files import encode_sweep, read_upload
from flexarm.studio.page import Page
from flexarm.studio.panels.control import DESIGN_HINT
from flexarm.studio.panels.files import OPEN_LABEL
from flexarm.studio.sweeps import (
    MAX_MEMBER_COUNT,
    Range,
    SweepMap,
    SweepResults,
    is_valid,
    run_sweep,
    sweepable_parameters,
)
from tests.studio.browserless import Client, value_of

BAR = fa.Robot("bar", links=[fa.Link("a", 1.0, mass=3.0, payload=fa.PointMass(mass=0.1))])
OPTIONS = {"duration": 0.5, "torque": {"a": fa.bang_bang(1.0, (0.1, 0.2))}, "q0": {"a.q": 0.1}, "native": False}
CASE = StudioCase.from_robot(BAR, OPTIONS)
MASS, PUSH = "links.a.mass", "torque.a.amplitude"
OVER = {MASS: [2.0, 3.0, 4.0], PUSH: [0.5, 1.0, 1.5, 2.0]}


@pytest.fixture(scope="module")
def data():
    return fa.sweep(BAR, OVER, **OPTIONS)


def opened_page(start: StudioCase = CASE, sweep: SweepResults | None = None) -> Page:
    page = Page(Client(), start, sweep)
    page.wait()
    return page


def act(page: Page, name: str, value: object = True) -> None:
    page.client.gui.made[name].set_by_user(value)
    page.wait()


def position(drawn: SweepMap, member: int) -> tuple[float, float]:
    """Return the first position of a member in the picture."""
    x, y = drawn._positions[drawn._members == member][0]
    return float(x), float(y)


def until_swept(page: Page) -> None:
    page.sweeps.task._thread.join(60)
    page.wait()


def test_sweep_file_of_another_version_gives_a_warning(data) -> None:
    with pytest.warns(UserWarning, match="was written by flexarm 99.0; this is"):
        read_upload("a.nc", encode_sweep(SweepResults(data.assign_attrs(version="99.0"))))


def test_sweepable_parameters() -> None:
    known = sweepable_parameters(CASE)
    assert {MASS, PUSH, "q0.a.q", "torque.a.switch.0", "links.a.payload.mass"} <= set(known)
    assert not any("duration" in name for name in known)
    found = fa.sweep(
        BAR, {name: [known[name].value] for name in (MASS, PUSH, "q0.a.q", "torque.a.switch.0")}, **OPTIONS
    )
    assert found["status"].item() == "completed"


def test_member_equals_the_case_with_its_values(data) -> None:
    sweep = SweepResults(data)
    for member in (0, 5, 11):
        run = fa.simulate(**_arguments(CASE.with_(sweep.changes(member))))
        np.testing.assert_allclose(run.array("tip")[-1], sweep.final_tip(member), atol=1e-5)
    assert sweep.changes(5) == {MASS: 3.0, PUSH: 1.0}
    doubled = CASE.with_({"torque.a.scale": 2.0, PUSH: 0.5})  # the scale applies to the changed profile
    assert doubled.arguments(fa.System(BAR, native=False))["torque"]["a"](0.05) == 1.0
    assert CASE.with_({"v0.a.q": 2.0}).plan["v0"] == {"a.q": 2.0}
    with pytest.raises(ValueError, match=r"gains\.kp: this simulation has no parameter of that name"):
        CASE.with_({"gains.kp": 1.0})


def _arguments(case: StudioCase) -> dict:
    return {"robot": case.robot, **case.arguments(fa.System(case.robot, native=False))}


@pytest.mark.parametrize("quantity", ["tip.y", "peak_torque.a"])
def test_every_point_of_a_map_belongs_to_its_member(data, quantity: str) -> None:
    flat = SweepMap(SweepResults(data), quantity, 0)
    assert [flat.member_at(*position(flat, k)) for k in range(12)] == list(range(12))
    assert flat.member_at(0.001, 0.001) is None
    line = SweepMap(SweepResults(data.isel({PUSH: 1})[["tip", "status", "reason"]]), "tip.y", 0)
    assert [line.member_at(*position(line, k)) for k in range(3)] == [0, 1, 2]
    assert 'data-studio="map"' in flat.html(3)


def test_further_fields_are_fixed_at_the_values_of_the_member() -> None:
    over = OVER | {"q0.a.q": [0.0, 0.5]}
    sweep = SweepResults(fa.sweep(BAR, over, measure=["tip"], **OPTIONS))
    second = SweepMap(sweep, "tip.y", 1)
    assert second.fixed == {"q0.a.q": 0.5}
    assert second.member_at(*position(second, 7)) == 7
    page = opened_page(sweep=sweep)
    act(page, "member", 7)
    act(page, "member", 8)  # on the other slice
    act(page, "Open this member as a run")
    assert not page.status.error
    assert value_of(page.case, "q0.a.q") == 0.0
    page.close()


def test_members_of_monte_carlo_can_be_opened() -> None:
    from scipy import stats

    found = fa.monte_carlo(BAR, {MASS: stats.uniform(2, 2)}, members=20, measure=["tip"], **OPTIONS)
    cloud = SweepMap(SweepResults(found), "tip.y", 0)
    assert cloud.member_at(*position(cloud, 7)) == 7
    page = opened_page(sweep=SweepResults(found))
    x, y = position(cloud, 7)
    page.submit(lambda: page.sweeps._quantity.set_by_user("tip.y"))
    page.wait()
    page.submit(lambda: page.sweeps.click(x, y))
    page.wait()
    assert not page.status.error
    assert value_of(page.case, MASS) == pytest.approx(float(found[MASS][7]))
    page.close()


def test_click_opens_a_member_and_undo_reverts_it(data) -> None:
    page = opened_page(sweep=SweepResults(data))
    assert not page.status.error
    act(page, "show", "tip.y")
    x, y = position(page.sweeps._map, 9)
    act(page, "page event", f'{{"kind": "map", "x": {x}, "y": {y}, "number": 1}}')
    assert not page.status.error
    assert value_of(page.case, MASS) == 4.0
    assert page.client.gui.made[MASS].value == "4"  # the field follows
    assert page.client.gui.made["torque.a.amplitude"].value == "1"
    np.testing.assert_allclose(page.result.run.array("tip")[-1], data["tip"].values.reshape(12, 3)[9], atol=1e-5)
    assert "member 9 (links.a.mass = 4 kg" in page.sweeps._text.content
    act(page, "go back", "Undo")
    assert value_of(page.case, MASS) == 3.0
    act(page, "page event", "not an event")
    act(page, "page event", '{"kind": "map", "x": "left", "y": []}')
    assert not page.status.error
    page.close()


def test_sweep_in_the_page_can_be_saved_and_opened(tmp_path: Path) -> None:
    page = opened_page()
    act(page, "vary", MASS)
    act(page, "vary: count", 5)
    act(page, "Sweep")
    until_swept(page)
    assert not page.status.error
    assert page.sweeps.sweep.size == 5
    assert page.sweeps.sweep.changes(0) == {MASS: 1.5}  # half of the value
    assert page.sweeps._picture.visible
    assert page.case.sweep == {"over": {MASS: {"from": 1.5, "to": 4.5, "count": 5}}}
    act(page, "Save the sweep (.nc)")
    content = page.client.files["sweep.nc"]
    other = opened_page()
    act(other, OPEN_LABEL, SimpleNamespace(name="sweep.nc", content=content))
    assert not other.status.error
    assert other.sweeps.sweep.changes(4) == {MASS: 4.5}
    act(other, "dropped file", SimpleNamespace(name="run.exe", content=b""))
    assert "must be a robot" in other.status.error
    for each in (page, other):
        each.close()


def test_sweep_can_be_cancelled_and_runs_once() -> None:
    def slow(t, q, v):
        time.sleep(0.001)
        return {"a": 0.1}

    page = opened_page(
        StudioCase.from_robot(BAR, {"duration": 0.2, "torque": fa.Feedback(slow, rate=100.0), "native": False})
    )
    act(page, "vary", MASS)
    act(page, "vary: count", 2000)
    act(page, "Sweep")
    act(page, "Sweep")
    assert "one is being computed" in page.status.error
    end = time.monotonic() + 30
    while not re.search(r"[1-9]\d* of 2000 members, [0-9 min]*\d+ s left", page.sweeps.task._text.content):
        assert time.monotonic() < end
        time.sleep(0.05)
    page.set_parameter(MASS, 3.5)  # the page stays responsive
    page.wait(10)
    assert value_of(page.case, MASS) == 3.5
    act(page, "Cancel the sweep")
    until_swept(page)
    assert not page.sweeps.task._cancel.visible
    found = page.sweeps.sweep
    if found is None:
        assert "cancelled" in page.status.error
    else:
        assert (found.data["status"].values == "missing").any()
        assert any("interrupted" in each for each in page.sweeps._notes)
    page.close()


def test_failed_members_show_their_reason() -> None:
    wild = {"duration": 1.0, "method": "rk4", "dt": 0.1, "native": False, "torque": {"a": fa.sine(1.0, 1.0)}}
    spring = BAR.with_({"links.a.joint.viscous": 1.0})
    with pytest.warns(UserWarning, match="1 of 3 members failed"):
        found = fa.sweep(spring, {"links.a.joint.viscous": [1.0, 1e6, 2.0]}, measure=["tip"], **wild)
    assert found["status"].values.tolist() == ["completed", "failed", "completed"]
    page = opened_page(StudioCase.from_robot(spring, wild), SweepResults(found))
    assert any("1 of 3 members failed" in each for each in page.sweeps._notes)
    act(page, "member", 1)
    assert "member 1 (links.a.joint.viscous = 1e+06" in page.sweeps._text.content
    assert "failed" in page.sweeps._text.content
    assert page.sweeps._map.member_at(*position(page.sweeps._map, 1)) == 1  # failed members can be clicked
    act(page, "Open this member as a run")
    assert page.status.error  # the previous run stays
    act(page, "member", 2)
    act(page, "Open this member as a run")
    assert not page.status.error
    assert value_of(page.case, "links.a.joint.viscous") == 2.0
    page.close()


def test_sweep_of_another_robot_is_detected(data) -> None:
    other = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])
    page = opened_page(StudioCase.from_robot(other, {"duration": 0.5, "native": False}))
    act(page, OPEN_LABEL, SimpleNamespace(name="sweep.nc", content=encode_sweep(SweepResults(data))))
    assert "'a'" in page.status.error
    assert page.sweeps.sweep is None
    page.close()
    longer = fa.Robot("other bar", links=[fa.Link("a", 1.5, mass=3.0)])  # same names, another robot
    page = opened_page(StudioCase.from_robot(longer, OPTIONS | {"duration": 0.4}), SweepResults(data))
    assert any("The sweep is of 'bar', this robot is 'other bar'" in each for each in page.sweeps._notes)
    assert any("take 0.5 s, those of this simulation 0.4 s" in each for each in page.sweeps._notes)
    act(page, "Open this member as a run")
    assert "it was computed for another robot, another simulation" in page.status.error
    page.close()


def test_members_keep_the_controller_of_the_sweep() -> None:
    page = opened_page()
    page.submit(lambda: page.set_control(Control(feedback="pd", gravity=True, kp=5.0)))
    page.wait()
    act(page, "vary", MASS)
    act(page, "vary: count", 3)
    act(page, "Sweep")
    until_swept(page)
    assert not page.status.error
    act(page, "member", 2)
    act(page, "Open this member as a run")
    assert not page.status.error  # it ends where the member did
    assert page.case.control.plant == BAR
    assert page.client.gui.made[DESIGN_HINT].value
    page.close()


def test_another_robot_removes_the_sweep(data) -> None:
    page = opened_page(sweep=SweepResults(data))
    page.submit(lambda: page.open(StudioCase.from_robot(fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)]), {})))
    page.wait()
    assert page.sweeps.sweep is None
    assert not page.sweeps._picture.visible
    act(page, "page event", '{"kind": "map", "x": 0.5, "y": 0.5}')
    assert not page.status.error
    page.close()


def test_sweep_is_discarded_if_another_robot_is_opened() -> None:
    page, gate = opened_page(), threading.Event()
    act(page, "Sweep")
    page.submit(lambda: bool(gate.wait(60)) and None)  # the next robot is queued
    rod = b"name: rod\nlinks: [{name: rod, length: 1, mass: 3}]\n"
    page.client.gui.made[OPEN_LABEL].set_by_user(SimpleNamespace(name="rod.yaml", content=rod))
    page.sweeps.task._thread.join(60)
    gate.set()
    page.wait()
    page.wait()
    assert page.case.robot.name == "rod"
    assert page.sweeps.sweep is None
    assert not page.case.sweep
    page.close()


def test_ranges_are_read_from_the_file() -> None:
    text = b"links: [{name: a, length: 1, mass: 1}]\nsweep: {over: {links.a.mass: {from: 1, to: 2, count: 4}}}\n"
    case = read_upload("arm.yaml", text)
    assert isinstance(case, StudioCase)
    page = opened_page(case)
    assert page.sweeps._ranges[0].value() == [Range("links.a.mass", 1.0, 2.0, 4)]
    assert page.sweeps._ranges[1].value() == []
    page.close()


def test_invalid_sweeps_are_refused(data) -> None:
    def never() -> bool:
        return False

    with pytest.raises(ValueError, match=f"at most {MAX_MEMBER_COUNT} can be run here"):
        run_sweep(CASE, [Range(MASS, 1, 2, 200), Range(PUSH, 1, 2, 200)], never, lambda *_: None)
    with pytest.raises(ValueError, match="is varied twice"):
        run_sweep(CASE, [Range(MASS, 1, 2, 2), Range(MASS, 1, 2, 2)], never, lambda *_: None)
    with pytest.raises(ValueError, match="do not give 3 values"):
        Range(MASS, 1, 1, 3).values()
    assert Range("n", 1, 3, 9, is_integer=True).values() == [1, 2, 3]
    with pytest.raises(ValueError, match="has no members to open"):
        SweepResults(data.assign_attrs(kind="sensitivity"))
    with pytest.raises(TypeError, match="must be the Dataset of a sweep"):
        fa.studio(BAR, sweep=3)
    with pytest.raises(TypeError, match="give the robot instead of a run"):
        fa.studio(fa.simulate(BAR, 0.01, native=False), sweep=data)


def test_sweep_file_needs_a_robot(data, tmp_path: Path) -> None:
    path = tmp_path / "sweep.nc"
    path.write_bytes(encode_sweep(SweepResults(data)))
    with pytest.raises(ValueError, match="is a sweep, which does not contain its robot"):
        fa.studio(path)
    run = tmp_path / "run.nc"
    fa.simulate(BAR, 0.01, native=False).save(run)
    with pytest.raises(ValueError, match="is one run, not a sweep"):
        fa.studio(BAR, sweep=run)


def test_ranges_of_counts_are_integers() -> None:
    section = Range("links.a.flexible.bend_y", 1.0, 4.0, 4, is_integer=True).section
    assert [type(each) for each in section.values()] == [int, int, int]


def test_scale_factors_are_swept() -> None:
    pushed = StudioCase.from_robot(BAR, {"duration": 0.1, "torque": {"a": lambda t: 1.0}, "native": False})
    twice = pushed.with_({"torque.a.scale": 2.0})
    found, _ = run_sweep(twice, [Range("torque.a.scale", 1.0, 3.0, 2)], lambda: False, lambda *_: None)
    for member in (0, 1):
        run = compute_run(twice.with_(found.changes(member))).run
        np.testing.assert_allclose(run.array("tip")[-1], found.final_tip(member), atol=1e-9)


def test_parameters_of_controllers_cannot_be_swept() -> None:
    case = replace(StudioCase.from_robot(BAR, {"duration": 0.1, "native": False}), control=Control(feedback="pd"))
    with pytest.raises(ValueError, match=r"q0\.a\.q cannot be varied while shapers or controllers are on"):
        run_sweep(case, [Range("q0.a.q", 0.0, 1.0, 2)], lambda: False, lambda *_: None)


def ringed(page: Page) -> int:
    return page.sweeps._picture.content.count("studio-ring")


def test_current_run_is_marked(data) -> None:
    page = opened_page(sweep=SweepResults(data))  # mass 3, amplitude 1: the sixth of twelve
    assert page.client.gui.made["member"].value == "5"
    assert ringed(page) == 1
    act(page, MASS, "3.3")
    assert page.client.gui.made["member"].value == ""
    assert ringed(page) == 0
    assert "the current run is not one of them" in page.sweeps._text.content
    act(page, "Open this member as a run")
    assert page.status.error == "member = '': must be a number"
    act(page, MASS, "2")
    assert page.client.gui.made["member"].value == "1"
    act(page, "duration", "0.3")  # same values, another simulation
    assert ringed(page) == 0
    act(page, "member", "12")
    assert page.status.error == "member = 12: must be 0 to 11"
    page.close()


def test_opened_member_reports_other_resets(data) -> None:
    page = opened_page(sweep=SweepResults(data))
    page.submit(lambda: page.set_control(Control(feedback="pd", kp=5.0)))
    page.wait()
    act(page, "duration", "0.4")
    act(page, "member", "7")
    act(page, "Open this member as a run")
    assert not page.status.error
    assert page.case.control.is_off
    assert "Shapers and controllers are off, as in the sweep" in page.sweeps._text.content
    assert "Reset to the values of the sweep: duration (s)." in page.sweeps._text.content
    assert page.client.gui.made["feedback"].value == "none"
    act(page, "member", "8")
    assert "Reset to" not in page.sweeps._text.content
    page.close()


def test_parameters_of_controllers_are_hidden() -> None:
    page = opened_page()
    field = page.client.gui.made["vary"]
    assert PUSH in field.options
    act(page, "vary", PUSH)
    page.submit(lambda: page.set_control(Control(feedback="pd", kp=5.0)))
    page.wait()
    assert {PUSH, "q0.a.q"}.isdisjoint(field.options)
    assert MASS in field.options
    assert field.value == "nothing"
    assert page.sweeps._hidden_note.visible
    page.submit(lambda: page.set_control(Control()))
    page.wait()
    assert PUSH in field.options
    assert not page.sweeps._hidden_note.visible
    page.close()


def test_range_follows_the_current_value() -> None:
    page = opened_page()
    act(page, "vary", MASS)
    assert page.sweeps._ranges[0].value() == [Range(MASS, 1.5, 4.5, 11)]
    act(page, MASS, "6")
    assert page.sweeps._ranges[0].value() == [Range(MASS, 3.0, 9.0, 11)]
    act(page, "vary: count", "1e1")
    act(page, MASS, "8")  # typed ranges are kept
    assert page.sweeps._ranges[0].value() == [Range(MASS, 3.0, 9.0, 10)]
    act(page, "vary: count", "2.5")
    act(page, "Sweep")
    assert page.status.error == f"{MASS}: count = '2.5': must be a whole number"
    page.close()


def test_ranges_contain_valid_values_only() -> None:
    light = CASE.with_({"links.a.payload.mass": 0.0})
    numbers = sweepable_parameters(light)
    name = "links.a.payload.mass"
    found = Range.around(numbers[name], lambda value: is_valid(light, name, value))
    assert (found.first, found.last) == (0.0, 0.5)
    start = Range.around(replace(numbers["q0.a.q"], value=0.0), lambda _: True)
    assert (start.first, start.last) == (-0.5, 0.5)


def test_first_quantity_is_one_that_varies() -> None:
    upright = fa.Robot("upright", links=[fa.Link("a", 1.0, fa.Revolute("y"), mass=3.0)])
    found = fa.sweep(upright, {MASS: [2.0, 3.0]}, measure=["tip"], duration=0.3, torque={"a": 1.0}, native=False)
    assert SweepResults(found).quantities[0] == "tip.z"
