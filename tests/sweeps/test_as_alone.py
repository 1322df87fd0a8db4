"""Whatever is swept, members are what `fa.simulate` makes of them: cases in which they once were not."""

import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.ensemble.batch import Batch
from flexarm.sweeps.measures import member_outcome, standard_measures
from flexarm.sweeps.plan import plan_of

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

STEEL = fa.Material(E=2.1e11, rho=7850.0, damping=1e-3)
BAR = {"section": fa.Section.rectangle(0.012, 0.010), "material": STEEL}
RTOL = 1e-4
OPTIONS = {"rtol": RTOL, "sample": 0.005, "method": "esdirk"}


def link(name="a", **more):
    length = more.pop("length", 1.0)
    return fa.Link(name, length, **{**BAR, "flexible": fa.Flexible(bend_y=1), "payload": fa.PointMass(0.15), **more})


def compared(case, over, elementwise=False):
    """The Dataset, after every member was compared with what comes of it alone."""
    inputs = {name: getattr(case, name) for name in ("torque", "motion", "loads", "q0", "v0")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = fa.sweep(
            case.robot, over, case.duration, elementwise=elementwise, progress=False, **inputs, **case.options
        )
    plan = plan_of(case, over, elementwise)
    flat = {name: each.values.reshape(len(plan), -1) for name, each in found.data_vars.items()}
    doubted = flat.get("warnings", np.full((len(plan), 1), ""))
    for member in plan:
        single = member_outcome(case, member, standard_measures())
        assert flat["status"][member.number] == single.status, member
        assert bool(doubted[member.number, 0]) == bool(single.warnings), (member, single.warnings)
        if single.status == "failed":
            continue
        energy = max(abs(single.values[name]) for name in ("kinetic", "elastic", "gravity", "drive", "work")) + 1e-9
        for name, value in single.values.items():
            sizes = {"peak_torque": 1e-6 + np.abs(value).max(initial=0.0), "end": 1.0}
            within = (
                4 * RTOL if name in ("tip", "peak_deflection", "residual") else 100 * RTOL * sizes.get(name, energy)
            )
            if np.size(value):
                np.testing.assert_allclose(
                    flat[name][member.number], np.ravel(value), rtol=0, atol=within, err_msg=f"{name}, {member}"
                )
    return found


DRIVEN = link(joint=fa.Revolute("z", drive=fa.Drive(stiffness=500, rotor_inertia=1e-3, gear_ratio=10)))


def test_where_the_motion_of_a_driven_joint_begins():
    """With an elastic drive: the link began where another member's motion did."""
    case = SweepCase(fa.Robot(links=[DRIVEN]), 0.3, motion={"a": fa.cycloid(0, 1, 0.2)}, options=OPTIONS)
    found = compared(case, {"motion.a.y0": [0.0, 0.3]})
    assert "begins elsewhere" in found.attrs["notes"]
    assert compared(case, {"motion.a.t1": [0.15, 0.25]}).attrs["notes"] == ""  # it begins alike


def test_a_driven_speed_that_jumps_kicks_the_links_of_members():
    """At different times, so that members of a group are kicked one after the other."""
    case = SweepCase(fa.Robot(links=[link()]), 0.3, motion={"a": fa.ramp(0, 0.2, 0.05, 0.2)}, options=OPTIONS)
    found = compared(case, {"motion.a.t0": [0.05, 0.1], "links.a.payload.mass": [0.1, 0.2]})
    assert found.attrs["notes"] == ""


def test_a_start_at_rest_where_the_motion_begins():
    robot = fa.Robot(links=[link()], gravity=(0, -9.81, 0))
    case = SweepCase(robot, 0.2, motion={"a": fa.cycloid(0, 1.3, 0.2)}, q0="equilibrium", options=OPTIONS)
    compared(case, {"motion.a.y0": [0.0, 1.3]})


def test_motions_beside_a_law():
    robot = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 0.5, mass=1.0)])
    law = fa.Feedback(lambda t, q, v, gains: {"a": -gains["kd"] * v[0]}, gains={"kd": 1.0})
    case = SweepCase(robot, 0.2, torque=law, motion={"b": fa.cycloid(0, 0.3, 0.2)}, options=OPTIONS)
    compared(case, {"motion.b.y1": [0.1, 0.3], "gains.kd": [1.0, 2.0]})


def test_a_motion_that_jumps_in_some_members():
    case = SweepCase(fa.Robot(links=[link()]), 0.3, motion={"a": fa.ramp(0, 0, 0, 0.2)}, options=OPTIONS)
    compared(case, {"motion.a.y1": [0.0, 0.2]})


def test_members_that_end_where_they_begin():
    """All of a batch, some of it, and with measures of their own."""
    robot = fa.Robot(links=[link(joint=fa.Revolute("z", limits=(-0.5, 0.5)))])
    case = SweepCase(robot, 0.1, torque={"a": 1.0}, options=OPTIONS)
    compared(case, {"q0.a.q": [0.0, 0.5]})
    compared(case, {"q0.a.q": [0.5, 0.5]}, elementwise=True)
    with pytest.warns(UserWarning, match="1 of 2 members stopped"):
        found = fa.sweep(
            robot,
            {"q0.a.q": [0.0, 0.5]},
            0.1,
            torque={"a": 1.0},
            measure={"n": lambda run: len(run.array("time"))},
            **OPTIONS,
        )
    assert found["status"].values.tolist() == ["completed", "stopped"]
    stopped = {**OPTIONS, "events": lambda t, q, v: 0.35 - q[0]}
    compared(SweepCase(robot, 0.1, options=stopped), {"q0.a.q": [0.36, 0.4]})


def test_starts_at_rest_that_are_none():
    """Soft ones buckle: they fail, and the others run."""
    upright = fa.Robot(
        links=[link(flexible=fa.Flexible(bend_y=2), payload=fa.PointMass(3.0), joint=fa.Weld())], gravity=(-9.81, 0, 0)
    )
    case = SweepCase(upright, 0.05, q0="equilibrium", options=OPTIONS)
    compared(case, {"links.a.material.E": [2e11, 2e8]})


@pytest.mark.slow
def test_numbers_of_shapes_that_are_picked():
    """A member with more shapes than others is of another structure, wherever it lies."""
    robot = fa.Robot(links=[link(flexible=fa.Flexible(up_to=100), payload=None)])
    over = {"links.a.material.E": np.linspace(0.8e11, 2e11, 6), "links.a.material.rho": np.linspace(3000, 6000, 6)}
    with pytest.warns(UserWarning, match="structures"):
        found = fa.sweep(robot, over, 0.01, torque={"a": 1.0}, measure={"n": lambda run: run.array("q").shape[1]})
    counts = {
        fa.System(robot.with_({"links.a.material.E": E, "links.a.material.rho": rho}), native=False).nq
        for E in over["links.a.material.E"]
        for rho in over["links.a.material.rho"]
    }
    assert set(found["n"].values.ravel()) == counts
    assert len(counts) > 1


def test_vibrations_that_samples_do_not_show():
    """Of the members that vibrate, not of the first one only."""
    limp = link(material=fa.Material(E=2.1e11, rho=7850.0, damping=1e-6))
    options = {"rtol": RTOL, "sample": 0.05, "method": "esdirk"}
    case = SweepCase(fa.Robot(links=[limp]), 2.0, torque={"a": fa.bang_bang(1.0, (0.1, 0.2))}, options=options)
    found = compared(case, {"torque.a.amplitude": [0.0, 1.0, 5.0]})
    assert [bool(str(each)) for each in found["warnings"].values] == [False, True, True]


def test_loops_that_are_moved_onto_their_constraints_say_so_once():
    bars = [fa.Link(name, length, mass=1.0) for name, length in (("crank", 0.5), ("coupler", 1.0))]
    bars.append(fa.Link("rocker", 0.8, mass=1.0, parent="ground", offset=(1.0, 0.0, 0.0)))
    robot = fa.Robot(links=bars, constraints=[fa.Loop("coupler", "rocker")])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = fa.sweep(
            robot, {"links.coupler.length": np.linspace(0.95, 1.05, 4)}, 0.02, q0={"crank.q": 1.0}, **OPTIONS
        )
    assert len(said) <= 1
    assert all("moved" in str(each) for each in found["warnings"].values)


def test_inputs_that_jump_at_a_sample_but_for_rounding():
    """That sample counts among those after the jump, alone too."""
    case = SweepCase(fa.Robot(links=[link()]), 0.6, torque={"a": fa.bang_bang(2.0, (0.2, 0.7))}, options=OPTIONS)
    compared(case, {"torque.a.switch.0": [0.225, 0.22500000000000003, np.nextafter(0.225, 0)]})


def test_robots_without_a_free_coordinate():
    """They run in lanes: what does not move, and what is driven."""
    still = fa.Robot(links=[fa.Link("a", 1.0, fa.Weld(), mass=1.0)], gravity=(0, -9.81, 0))
    assert compared(SweepCase(still, 0.1, options=OPTIONS), {"links.a.length": [0.5, 1.0, 2.0]}).attrs["notes"] == ""
    driven = fa.Robot(links=[fa.Link("a", 1.0, fa.Revolute("z", limits=(-1, 1)), mass=1.0)])
    case = SweepCase(driven, 0.3, motion={"a": fa.cycloid(0, 1, 0.4)}, options=OPTIONS)  # until it has energy
    assert compared(case, {"motion.a.y1": [0.5, 1.5], "links.a.mass": [1.0, 2.0]}).attrs["notes"] == ""


def test_a_member_that_an_explicit_method_suits_least_runs_by_itself():
    """The first one is slow, and chooses a method whose steps another, far stiffer, would keep at 1e-7 s for all."""
    case = SweepCase(fa.Robot(links=[link()]), 1.0, torque={"a": 0.1}, options={"rtol": RTOL, "sample": 0.005})
    over = {"links.a.material.E": [1e8, 2e9, 1e17]}
    sweep = tasks.prepare(case, plan_of(case, over), threads=1)
    ((portion, cohort),) = ((sweep.portion(task), sweep.jobs[task.job].cohort) for task in sweep.tasks)
    batch = Batch(cohort, portion.members, portion.rows)
    assert batch.stepper.method.explicit
    batch.run()
    assert [portion.members[place].member.number for place in batch.unstable] == [2]
    assert batch.stepper.steps.max() < 10_000
    compared(case, over)


def test_vibration_that_lanes_count_a_swing_too_few_of():
    """One that a single run tells of."""
    links = [link(payload=None), link("b", length=0.5)]
    two = fa.Robot(links=links)
    law = fa.pd(two, kp=20, kd=2, references={"a": 0.5, "b": 0.0})
    case = SweepCase(two, 0.5, torque=law, options={"rtol": RTOL / 10, "sample": 0.005})
    found = compared(case, {"gains.kp.a": [2e4], "links.b.payload.mass": [0.1]})
    assert "vibrates at about" in str(found["warnings"].values.item())
