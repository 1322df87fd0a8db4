"""What links know of their beams, computed once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.links.beam_parameters import REMEMBERED, add_once, beam_integrals
from flexarm.dynamics.model import Chain
from flexarm.dynamics.model_structure import numbers_of
from flexarm.dynamics.parameters import Numbers


def arm(stiffening, **changes):
    shapes = fa.Flexible(bend_y=2, basis=fa.Modes(tip_mass=0.1), stiffening=stiffening)
    return fa.library.two_link_arm().with_({"links.upper.flexible": shapes, "links.fore.flexible": shapes, **changes})


def fresh(robot):
    """Numbers with nothing remembered."""
    chain = Chain(robot)
    for body in chain.bodies:
        body.integrals.cache.clear()
    return numbers_of(chain)


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
@pytest.mark.parametrize(
    "changes",
    [
        {"links.fore.payload.mass": 0.3},
        {"links.upper.material.E": 3e10},
        {"links.fore.length": 0.4},
        {"links.fore.flexible.damping": fa.Damping(ratio=0.02)},
        {"links.fore.material.rho": 5000.0},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_remembered_of_one_robot_is_not_taken_for_another(stiffening, changes):
    robot = arm(stiffening)
    numbers_of(Chain(robot))
    other = robot.with_(changes)
    found, expected = numbers_of(Chain(other)), fresh(other)
    assert found.structure == expected.structure
    np.testing.assert_array_equal(found.vector, expected.vector)
    assert not np.array_equal(found.vector, numbers_of(Chain(robot)).vector)


def test_links_of_one_beam_have_numbers_of_their_own_names():
    link = arm("shortening").link("fore")
    two = fa.Robot("two", links=[link.model_copy(update={"name": name, "parent": None}) for name in ("a", "b")])
    names = numbers_of(Chain(two)).names
    assert len(set(names)) == len(names)
    assert (
        sum(name.startswith("links.a.K") for name in names) == sum(name.startswith("links.b.K") for name in names) > 0
    )


def test_what_fails_is_not_remembered_and_what_is_kept_is_bounded():
    beam = Chain(arm("shortening")).bodies[0].integrals

    def half(numbers):
        numbers.add("first", "m", 1.0)
        raise ValueError("no")

    beam.cache.clear()
    with pytest.raises(ValueError, match="no"):
        add_once(Numbers(), "x", beam, (), half)
    assert not beam.cache
    for k in range(3 * REMEMBERED):
        add_once(Numbers(), "links.a", beam, (k,), lambda numbers: numbers.add(".x", "m", 1.0))
        assert len(beam.cache) <= REMEMBERED


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
def test_what_is_at_one_place_is_computed_once_and_named_by_its_owner(stiffening):
    """The tip, a payload and a link that hangs there."""
    robot = arm(stiffening, **{"links.upper.payload.mass": 0.1})
    fresh(robot)
    numbers = numbers_of(Chain(robot))
    values = {each.name: each.value for each in numbers.entries}
    places = ("links.upper.tip", "links.upper.payload.place", "links.fore.place")
    tips = [name.removeprefix(places[0]) for name in values if name.startswith(f"{places[0]}.")]
    assert tips
    for name in tips:
        assert all(values[f"{place}{name}"] is values[f"{places[0]}{name}"] for place in places)


def test_two_threads_make_numbers_of_one_beam():
    robots = [arm("shortening", **{"links.fore.payload.mass": 0.01 * k}) for k in range(1, 9)]
    expected = [fresh(robot).vector for robot in robots]
    Chain(robots[0]).bodies[0].integrals.cache.clear()
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda k: numbers_of(Chain(robots[k % 8])).vector, range(80))]
    for k, vector in enumerate(found):
        np.testing.assert_array_equal(vector, expected[k % 8])


def test_beams_differ_by_all_that_their_integrals_depend_on():
    """Of a link only what is on a short list does not count."""
    link = arm("shortening").link("fore")
    known = beam_integrals(link, False, ())
    same = {"name": "other", "joint": fa.Revolute("y"), "payload": fa.PointMass(3.0), "offset": (0.0, 1.0, 0.0)}
    assert beam_integrals(link.model_copy(update=same), False, ()) is known
    for other in (
        {"length": 0.4},
        {"mass": 0.3},
        {"rotary_inertia": True},
        {"material": fa.Material(E=1e10, rho=3000)},
        {"flexible": link.flexible.model_copy(update={"stiffening": "exact"})},
        {"flexible": link.flexible.model_copy(update={"bend_y": 1})},
    ):
        assert beam_integrals(link.model_copy(update=other), False, ()) is not known
    assert beam_integrals(link, True, ()) is not known
