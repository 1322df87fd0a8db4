"""Bodies that links carry: masses, first moments and inertias of masses and following links."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.robot.carried_inertia import CarriedBody, carried_bodies, hub_load, reference_loads
from tests.helpers import robots


def rod(name: str, length: float = 0.5, mass: float = 1.2, joint: object = "revolute", **fields: object) -> fa.Link:
    return fa.Link(name, length, joint, mass=mass, **fields)


def test_a_hinged_link_is_its_mass_and_its_inertia_about_the_hinge():
    upper, fore = carried_bodies(fa.library.two_link_arm())
    mass = 7850 * 2.5e-5 * 0.5
    inertia = mass * 0.5**2 / 3 + 0.15 * 0.5**2
    [load] = upper
    assert (load.at, load.moment) == (1.0, 0.0)
    assert load.mass == pytest.approx(mass + 0.15, rel=1e-12)
    assert load.inertia[2] == pytest.approx(inertia, rel=1e-12)
    assert load.inertia[0] == pytest.approx(inertia / 2, rel=1e-3)  # the mean of both extremes, and the bar's own
    assert fore == (CarriedBody(0.5, 0.15, 0.0, (0.0, 0.0, 0.0)),)


def test_what_is_welded_keeps_its_first_moment():
    [load], _ = carried_bodies(fa.Robot(links=[rod("a"), rod("b", joint="weld", offset=(0.1, 0, 0))]))
    assert load.moment == pytest.approx(1.2 * 0.35)
    assert_allclose(load.inertia, (0, 1.2 * (0.25**2 / 3 + 0.35**2), 1.2 * (0.25**2 / 3 + 0.35**2)), atol=1e-15)


@pytest.mark.parametrize("angle", [0.3, 2.0])
def test_the_load_does_not_depend_on_where_a_hinge_stands(angle):
    def arm(mount: float) -> fa.Robot:
        payload = fa.PointMass(0.3, offset=(0.1, 0.02, 0.3), inertia=(0.1, 0.2, 0.15))
        return fa.Robot(links=[rod("a"), rod("b", joint=fa.Revolute("z", mount=(0, 0, mount)), payload=payload)])

    [one], [other] = carried_bodies(arm(0.0))[0], carried_bodies(arm(angle))[0]
    assert_allclose([other.mass, *other.inertia], [one.mass, *one.inertia], rtol=1e-12)
    assert abs(other.moment) < 1e-15


def test_it_is_the_mean_over_a_turn():
    offset = (0.1, -0.2, 0.05)
    axis = fa.Revolute((1, 2, 2)).axis_vector

    def load(joint: object, mount: object) -> np.ndarray:
        payload = fa.PointMass(0.3, offset=(0.1, 0.02, 0.3), inertia=(0.1, 0.2, 0.15))
        joint = type(joint)(mount=mount) if isinstance(joint, fa.Weld) else joint
        [found], _ = carried_bodies(fa.Robot(links=[rod("a"), rod("b", joint=joint, payload=payload, offset=offset)]))
        return np.array([found.mass, found.moment, *found.inertia])

    turns = []
    for angle in 2 * np.pi * np.arange(5) / 5:  # exact for what is quadratic in sine and cosine
        K = np.cross(np.eye(3), axis) * -1
        turns.append(load(fa.Weld(), np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K))
    assert_allclose(load(fa.Revolute((1, 2, 2)), None), np.mean(turns, axis=0), rtol=1e-9, atol=1e-12)


def test_places_along_a_link():
    masses = [fa.PointMass(0.2, at=0.25), fa.PointMass(0.3, at=0.5)]
    a = rod("a", masses=masses, payload=fa.PointMass(0.1), hub=fa.PointMass(5.0))
    b = rod("b", at=0.25)
    first, tip = carried_bodies(fa.Robot(links=[a, b]))[0]
    assert (first.at, first.mass) == (0.25, pytest.approx(1.4))
    assert (tip.at, tip.mass) == (0.5, pytest.approx(0.4))  # hubs sit at the root and move nothing


def test_what_rides_has_no_place_on_its_rail_but_loads_what_is_below():
    arm = fa.Robot(links=[rod("a"), rod("rail", joint="weld"), rod("b", joint=fa.SlidingPrismatic())])
    (below,), rail, _ = carried_bodies(arm)
    assert rail == ()
    assert below.mass == pytest.approx(2.4)
    assert below.moment == pytest.approx(1.2 * 0.25 + 1.2 * (0.25 + 0.25))  # in the middle of its travel


def test_a_link_in_a_guide_stands_in_the_middle_of_its_travel():
    arm = fa.Robot(links=[rod("a"), rod("b", joint=fa.FixedPrismatic(rear="rigid", limits=(0.1, 0.4)))])
    [load], _ = carried_bodies(arm)
    assert (load.mass, load.moment) == (pytest.approx(1.2), pytest.approx(1.2 * (0.25 - 0.25)))


def test_the_rear_end_carries_the_hub():
    link = rod("a", hub=fa.PointMass(0.3, offset=(-0.02, 0, 0)))
    [load] = hub_load(link)
    assert (load.at, load.mass, load.moment) == (0.5, 0.3, pytest.approx(0.006))
    assert hub_load(rod("a")) == ()


def test_the_basis_may_give_the_load():
    bar = {"section": fa.Section.circle(0.01), "material": fa.Material(7e10, 2700)}
    what = (CarriedBody(0.5, 1.0, 0.2, (0.1, 0.1, 0.1)),)

    def loads(basis: object) -> tuple[CarriedBody, ...]:
        return reference_loads(fa.Link("a", 0.5, flexible=fa.Flexible(bend_y=1, basis=basis), **bar), what)

    assert loads("modes") == what
    assert loads(fa.Modes(tip_mass=0)) == loads(fa.Modes(tip_inertia=0)) == loads("elements") == ()
    assert loads(fa.Modes(tip_inertia=0.3)) == (CarriedBody(0.5, 0.0, 0.0, (0.3, 0.3, 0.3)),)


@given(robots())
def test_all_mass_beyond_a_link_is_carried(robot):
    parents = robot.parents
    for index, loads in enumerate(carried_bodies(robot)):
        beyond = [k for k in range(len(robot.links)) if index in _above(parents, k)]
        fixed = [robot.links[index].payload, *robot.links[index].masses]
        riding = [k for k in beyond if isinstance(robot.links[_next(parents, index, k)].joint, fa.SlidingPrismatic)]
        at_root = [k for k in beyond if robot.links[_next(parents, index, k)].at == 0]
        mass = sum(robot.links[k].total_mass for k in beyond if k not in (*riding, *at_root))
        mass += sum(lump.mass for lump in fixed if lump is not None and lump.at != 0)
        assert sum(load.mass for load in loads) == pytest.approx(mass)
        for load in loads:
            assert min(load.inertia) >= -1e-12 * max(load.inertia)
            for about in load.inertia[1:]:  # a body is not smaller than its centre of mass
                assert load.mass * about >= load.moment**2 * (1 - 1e-9) - 1e-18


def _above(parents, k):
    while parents[k] is not None:
        k = parents[k]
        yield k


def _next(parents, index, k):
    """The link on the way from k that hangs on the link of that index."""
    while parents[k] != index:
        k = parents[k]
    return k
