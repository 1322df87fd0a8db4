"""Robots that differ in numbers only share everything that was built for the first, and it makes no difference."""

import threading
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics import model_structure
from flexarm.integrators import compiled_step
from flexarm.robot.path_updates import apply_changes, value_at
from tests.differences import numbers_in
from tests.helpers import robots, state
from tests.sliders import pair, scattered, spatial_pair

seeds = st.integers(0, 1000)


def some(count: int) -> settings:
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


def shaken(robot: fa.Robot, seed: int, longer: tuple[float, float] = (0.8, 1.25)) -> fa.Robot:
    """Other numbers everywhere, none of them zero. Places on a link stay where they are among its elements, and a
    section keeps its proportions: the pieces of a mesh and of a taper belong to the structure."""
    rng = np.random.default_rng(seed)
    lengths = {link.name: float(rng.uniform(*longer)) for link in robot.links}
    sections = {link.name: float(rng.uniform(0.8, 1.25)) for link in robot.links}
    changes = {}
    for path in numbers_in(robot):
        value, _ = value_at(robot, path)
        _, k, *field = path.split(".") if path.startswith("links") else ("", "-1", path)
        link, parent = robot.links[int(k)], robot.parents[int(k)]
        factor = float(rng.uniform(0.8, 1.25))
        if field == ["at"]:
            factor = 1.0 if parent is None else lengths[robot.links[parent].name]
        elif field == ["length"] or (field[0] == "masses" and field[-1] == "at"):
            factor = lengths[link.name]
        elif field[0] == "section":
            factor = 1.0 if field[-1] == "upto" else sections[link.name]
        elif "inertia" in field and field[-1].isdecimal():
            factor = 1.0  # three moments keep the inequality of triangles
        changes[path] = value * factor
    return fa.Robot.model_validate(apply_changes(robot, changes))


def answers(robot: fa.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """Of every function of a system."""
    system, name = fa.System(robot, native=False), robot.links[-1].name
    values = {"q": q, "v": v, "a": a, "tau": a, "x": a}
    found = {}
    for each, function in system.parametric.items():
        values["forces"] = np.ones(function.size1_in("forces")) if "forces" in function.name_in() else a
        outputs = function.call([*(values[key] for key in function.name_in()[:-1]), system.numbers])
        found |= {f"{each}.{k}": output.full() for k, output in enumerate(outputs)}
        if each in ("bias", "tip"):
            outputs = system.casadi[each].call([values[key] for key in function.name_in()[:-1]])
            found[f"{each} of the robot"] = outputs[0].full()
    length = robot.links[-1].length
    found |= {"frame": system.frame(name, 0.3 * length, q), "jacobian": system.jacobian(name, 0.6 * length, q)}
    found |= {"axis": system.axis(name, q), "K": system.stiffness, "D": system.damping, "sizes": system.sizes}
    return found


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_structure, "_known", OrderedDict())
    monkeypatch.setattr(compiled_step, "_codes", OrderedDict())


def equal(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_allclose(found[name], value, rtol=1e-12, atol=1e-14 * np.abs(value).max(initial=0.0), err_msg=name)


@some(4)
@given(robots(most=2), seeds)
def test_another_robot_of_a_structure_answers_as_if_it_were_the_first(robot, seed):
    other = shaken(robot, seed)
    first, second = fa.System(robot, native=False), fa.System(other, native=False)
    assert second.structure is first.structure
    assert_allclose(first.numbers_of(other), second.numbers, rtol=0)
    assert second.number_names == first.number_names
    arguments = state(second, seed)
    found = answers(other, *arguments)
    with pytest.MonkeyPatch.context() as patch:
        forget(patch)
        assert fa.System(other, native=False).structure is not first.structure
        equal(found, answers(other, *arguments))


@some(15)
@given(robots(most=4), seeds)
def test_links_ten_times_as_long_or_short_are_of_the_structure(robot, seed):
    other = shaken(robot, seed, (0.1, 10.0))
    assert fa.System(other).structure is fa.System(robot).structure


@pytest.mark.parametrize(
    ("make", "kinds"), [(pair, ("R", "Pa")), (pair, ("R", "Pb")), (pair, ("Pb", "Pa")), (spatial_pair, ("Pa", "R"))]
)
def test_sliding_joints(make, kinds, monkeypatch):
    robot = make(*kinds)
    other = shaken(robot, 1, (1.0, 1.25))
    assert fa.System(other).structure is fa.System(robot).structure
    arguments = scattered(fa.System(other), 2)
    found = answers(other, *arguments)
    forget(monkeypatch)
    equal(found, answers(other, *arguments))


def four_bar(lengths: tuple[float, ...] = (0.5, 1.0, 0.8), mass: float = 1.0) -> fa.Robot:
    bar, soft = fa.Section.rectangle(0.01, 0.01), fa.Material(7e10, 2700.0)
    crank, rocker = fa.Link("crank", lengths[0], mass=mass), fa.Link("rocker", lengths[2], mass=mass, parent="ground",
                                                                     offset=(1.0, 0.0, 0.0))  # fmt: skip
    coupler = fa.Link("coupler", lengths[1], section=bar, material=soft, flexible=fa.Flexible(bend_y=2))
    return fa.Robot(links=[crank, coupler, rocker], constraints=[fa.Loop("coupler", "rocker", name="loop")])


OPEN = {"crank.q": 1.2, "coupler.q": -0.8, "rocker.q": 1.6}


def test_constraints(monkeypatch):
    robot, other = four_bar(), four_bar((0.4, 1.1, 0.9), 0.7)
    assert fa.System(other).structure is fa.System(robot).structure
    arguments = 0.1 * np.random.default_rng(0).normal(size=(3, fa.System(other).nq))
    found = answers(other, *arguments)
    assert "constraint_stiffness.0" in found
    forget(monkeypatch)
    equal(found, answers(other, *arguments))


def moved(robot: fa.Robot) -> dict[str, np.ndarray]:
    """A short run, vibration modes and the equilibrium."""
    run = fa.simulate(robot, 2e-3, dt=1e-4, sample=5e-4, q0={}, native=False)
    found = {name: run.array(name) for name in ("q", "v", "tip")}
    modes = fa.modes(robot, joints="locked")
    return found | {"modes": modes.frequencies, "hung": fa.equilibrium(fa.System(robot))}


@some(4)
@given(robots(most=3), seeds)
def test_motion_modes_and_equilibrium(robot, seed):
    # under gravity joints must be held: springs to rest against are those of the links alone
    welds = [link.model_copy(update={"joint": fa.Weld(mount=link.joint.mount)}) for link in robot.links]
    base = fa.Robot(links=welds, gravity=(0.5, -1.0, 0.2)) if seed % 2 else robot.with_(gravity=(0, 0, 0))
    if not fa.System(base).nq:
        return
    other = shaken(base, seed)
    moved(base)
    found = moved(other)
    with pytest.MonkeyPatch.context() as patch:
        forget(patch)
        expected = moved(other)
    equal(found, expected)


@pytest.mark.filterwarnings("ignore:q0 does not satisfy")
def test_closed_loops_move_as_if_alone(monkeypatch):
    robot, other = four_bar(), four_bar((0.4, 1.1, 0.9), 0.7)
    torque = {"crank": 0.1}

    def run(robot: fa.Robot) -> np.ndarray:
        return fa.simulate(robot, 5e-3, torque=torque, dt=1e-3, sample=1e-3, native=False, q0=OPEN).array("q")

    run(robot)
    found = run(other)
    forget(monkeypatch)
    assert_allclose(found, run(other), rtol=1e-12, atol=1e-14)


def test_threads_with_robots_of_one_structure():
    robots = [four_bar(mass=1.0 + 0.1 * k) for k in range(4)]
    arguments = 0.1 * np.random.default_rng(1).normal(size=(3, fa.System(robots[0]).nq))
    alone = [answers(robot, *arguments) for robot in robots]
    found: list = [None] * len(robots)
    go = threading.Barrier(len(robots))

    def work(k):
        go.wait()
        for _ in range(3):
            found[k] = answers(robots[k], *arguments)

    with pytest.MonkeyPatch.context() as patch:
        forget(patch)  # so that all of them build it
        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(robots))]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    for one, expected in zip(found, alone, strict=True):
        equal(one, expected)
