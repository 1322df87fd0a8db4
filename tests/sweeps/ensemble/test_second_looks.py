"""What should be known of members is what is told of each of them alone."""

import re

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.simd_library import SSE2
from flexarm.sweeps.case import Member, Outcome, SweepCase
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.ensemble.second_looks import FIRST_LOOKS, second_looks
from flexarm.sweeps.measures import member_outcome, standard_measures

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

ROD = fa.Robot(links=[fa.Link("a", 1.0, mass=3.0)], gravity=(0, -9.81, 0))
BAR = {"section": fa.Section.rectangle(0.005, 0.005), "material": fa.Material(E=2e10, rho=7850.0, damping=1e-3)}
SOFT = fa.Robot(
    links=[fa.Link("a", 1.0, **BAR, flexible=fa.Flexible(bend_y=3), payload=fa.PointMass(0.1))], gravity=(0, 0, 0)
)
TWISTED = fa.Robot(
    links=[
        fa.Link(
            "a",
            1.0,
            **BAR,
            flexible=fa.Flexible(twist=1, stiffening="shortening"),
            payload=fa.PointMass(0.1, inertia=(1e-3, 1e-3, 1e-3)),
        )
    ]
)
PUSHED = [fa.PointLoad("a", torque=(0.0, 0, 0))]

CASES = {
    "energy": (
        SweepCase(ROD, 2.0, q0={"a.q": -1.0}, options={"dt": 0.25, "method": "rk4"}),
        [Member(0, {"links.a.mass": 3.0}), Member(1, {"links.a.mass": 4.0})],
        "energy|integration itself",
    ),
    "turns": (
        SweepCase(SOFT, 0.4, torque={"a": 0.0}, options={"rtol": 1e-2, "method": "esdirk"}),
        [Member(0, {"torque.a": 0.01}), Member(1, {"torque.a": 12.0})],
        "link 'a' turns by",
    ),
    "twists": (
        SweepCase(TWISTED, 0.1, loads=PUSHED, motion={"a": 0.0}, options={"rtol": 1e-2, "method": "esdirk"}),
        [Member(0, {"loads.0.torque.0": 0.001}), Member(1, {"loads.0.torque.0": 1.0})],
        "link 'a' twists by",
    ),
    "hidden vibration": (
        SweepCase(
            fa.library.two_link_arm(1e-5).with_({"links.0.flexible.bend_y": 1, "links.1.flexible.bend_y": 1}),
            3.0,
            torque={"upper": fa.bang_bang(0.2, (0.1, 0.2))},
            options={"rtol": 1e-3, "method": "esdirk", "sample": 0.3},
        ),
        [Member(0, {"links.fore.payload.mass": 0.1})],
        "vibrates at about",
    ),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "turns")) for name in CASES])
def test_lanes_tell_what_is_told_of_one(name):
    case, these, words = CASES[name]
    sweep = tasks.prepare(case, these, threads=1, width=SSE2)
    assert sweep.notes == []
    found = {each.number: each for each in tasks.run(sweep, threads=1)}
    for member in these:
        alone = member_outcome(case, member, standard_measures())
        assert len(found[member.number].warnings) == len(alone.warnings)

    assert any(re.search(words, sentence) for each in found.values() for sentence in each.warnings)


def test_no_more_second_looks_than_tell_anything():
    looked = []

    def look(place):
        looked.append(place)
        return Outcome(place, {}, "completed", warnings=("odd",) if place in (19, 18) else ())

    suspicious = np.linspace(0.5, 3, 20)
    found = second_looks(suspicious, look)
    assert looked == list(range(19, 19 - 2 * FIRST_LOOKS, -1))  # the first tell something, the next do not
    assert found[19].warnings == ("odd",)
    assert second_looks(np.full(20, 0.9), look) == {}
    looked.clear()
    found = second_looks(np.full(20, 0.9), look, required=[5, 3])
    assert looked == [*found] == [5, 3]


def test_warnings_of_fast_vibration_are_those_of_single_runs():
    """Of arms of which some vibrate too fast for their samples."""
    case = SweepCase(
        fa.library.two_link_arm(1e-4),
        3.0,
        torque={"upper": fa.bang_bang(0.02, (0.5, 1.0)), "fore": fa.bang_bang(0.005, (0.5, 1.0))},
        options={"rtol": 1e-3, "sample": 0.05},
    )
    values = [(mass, E) for mass in (0.02, 0.15, 0.4) for E in (5e9, 1.3e10, 3e10, 8e10, 2e11)]
    fields = ("links.fore.payload.mass", "links.upper.material.E")
    these = [Member(k, dict(zip(fields, each, strict=True))) for k, each in enumerate(values)]
    found = {each.number: each for each in tasks.run(tasks.prepare(case, these, threads=1), threads=1)}

    def warns(outcome):
        return any("vibrates at about" in sentence for sentence in outcome.warnings)

    expected = [warns(member_outcome(case, member, standard_measures())) for member in these]
    assert 2 < sum(expected) < len(these)
    assert [warns(found[member.number]) for member in these] == expected


def test_members_that_fail_have_the_warnings_of_their_runs():
    """A link that bends beyond its model before its run diverges."""
    case = SweepCase(
        fa.Robot(
            links=[
                fa.Link(
                    "a",
                    1.0,
                    **BAR,
                    flexible=fa.Flexible(bend_y=1, stiffening="none"),
                    joint=fa.Weld(),
                    payload=fa.PointMass(0.1),
                )
            ]
        ),
        2.0,
        loads=[fa.PointLoad("a", force=(0, 0.0, 0))],
        options={"rtol": 1e-3, "method": "esdirk", "sample": 0.01},
    )
    these = [Member(0, {"loads.0.force.1": 0.001}), Member(1, {"loads.0.force.1": 300.0})]
    sweep = tasks.prepare(case, these, threads=1, width=SSE2)
    assert sweep.notes == []
    found = {each.number: each for each in tasks.run(sweep, threads=1)}
    alone = member_outcome(case, these[1], standard_measures())
    assert found[1].status == alone.status == "failed"
    assert alone.warnings
    assert found[1].warnings == alone.warnings


def test_a_member_that_vibrates_is_repeated_among_members_that_sag_further():
    """Most members hang still with a large deflection and have nothing to tell; one that bends less vibrates."""
    steel, section = fa.Material(E=2.1e11, rho=7850), fa.Section.rectangle(0.0066, 0.0066)
    flexible, load = fa.Flexible(bend_y=2, bend_z=2), fa.PointMass(0.1)
    link = fa.Link("a", 0.9, section=section, material=steel, flexible=flexible, payload=load)
    robot = fa.Robot(links=[link], gravity=(0, 0, -9.81))
    case = SweepCase(robot, 1.5, motion={"a": fa.minimum_jerk(0, 1.5, 20.0)}, q0="equilibrium")
    masses, fast = np.linspace(0.06, 0.95, 12), 1
    changes = [
        {"links.a.payload.mass": float(mass), "motion.a.t1": 0.65 if k == fast else 20.0}
        for k, mass in enumerate(masses)
    ]
    these = [Member(k, each) for k, each in enumerate(changes)]
    sweep = tasks.prepare(case, these, threads=1, width=SSE2)
    found = {each.number: each for each in tasks.run(sweep, threads=1)}
    repeated = [k for k, each in found.items() if any("repeated with the exact" in said for said in each.warnings)]
    assert repeated == [fast]
    alone = member_outcome(case, these[fast], standard_measures())
    np.testing.assert_allclose(found[fast].values["tip"], alone.values["tip"], rtol=1e-12)
