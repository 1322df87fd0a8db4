"""What links know of their beams, computed once."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.mechanics.chain import Chain
from flexarm.mechanics.link_models.beams import REMEMBERED, add_once
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.structure import numbers_of


def arm(stiffening, **changes):
    shapes = fa.Flexible(bend_y=2, basis=fa.Modes(tip_mass=0.1), stiffening=stiffening)
    return fa.library.two_link_arm().with_({"links.upper.flexible": shapes, "links.fore.flexible": shapes, **changes})


def fresh(robot):
    """Numbers with nothing remembered."""
    chain = Chain(robot)
    for body in chain.bodies:
        body.integrals.remembered.clear()
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

    beam.remembered.clear()
    with pytest.raises(ValueError, match="no"):
        add_once(Numbers(), beam, ("x",), half)
    assert not beam.remembered
    for k in range(3 * REMEMBERED):
        add_once(Numbers(), beam, (k,), lambda numbers: numbers.add("x", "m", 1.0))
        assert len(beam.remembered) <= REMEMBERED
