"""How far joints travel: limits, stops, slides that leave their link."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.results.checks import ValidityWarning

METAL = fa.Material(2e10, 7850)
STRIP = fa.Section.rectangle(0.03, 0.003)


def strip(name, joint, flexible=True, **more):
    bends = fa.Flexible(bend_y=2) if flexible else None
    return fa.Link(name, 0.8, joint, STRIP, METAL, bends, **more)


def arm(joint, **more):
    return fa.System(fa.Robot("arm", [strip("upper", fa.Revolute()), strip("fore", joint)], **more))


@pytest.mark.parametrize(
    ("joint", "start", "speed", "sentence"),
    [
        (fa.SlidingPrismatic(), 0.5, 2.0, "'fore.q' reached its upper limit 0.8 m at t = "),
        (fa.SlidingPrismatic(), 0.5, -2.0, "'fore.q' reached its lower limit 0 m at t = "),
        (fa.FixedPrismatic(), 0.5, 2.0, "'fore.q' reached its upper limit 0.792 m at t = "),
        (fa.FixedPrismatic(rear="rigid"), 0.5, 2.0, "'fore.q' reached its upper limit 0.8 m at t = "),
        (fa.FixedPrismatic(), 0.5, -2.0, "'fore.q' reached its lower limit 0.008 m at t = "),
        (fa.FixedPrismatic(limits=(0.3, 0.6)), 0.5, -2.0, "'fore.q' reached its lower limit 0.3 m at t = "),
    ],
)
def test_a_slide_that_leaves_its_link_ends_the_run_there(joint, start, speed, sentence):
    with pytest.warns(ValidityWarning, match="the run ended early"):
        run = fa.simulate(arm(joint), 1.0, q0={"fore.q": start}, v0={"fore.q": speed}, native=False)
    assert run.reason.startswith(sentence)
    end = float(run["fore.q"].values[-1])
    assert end == pytest.approx(float(run.reason.split("limit ")[1].split(" m")[0]), abs=1e-6)


def test_a_slide_that_starts_outside_its_link_is_a_sentence():
    for joint, start, travel in (
        (fa.SlidingPrismatic(), 0.9, "from 0 to 0.8 m"),
        (fa.FixedPrismatic(), 0.0, "from 0.008 to 0.792 m"),
        (fa.FixedPrismatic(), 0.8, "from 0.008 to 0.792 m"),
    ):
        with pytest.raises(ValueError, match=f"joint 'fore' starts at {start:g} m, outside its travel {travel}"):
            fa.simulate(arm(joint), 0.1, q0={"fore.q": start}, native=False)
    with pytest.raises(ValueError, match="joint 'fore' starts at 1 m, outside its travel"):
        fa.simulate(arm(fa.SlidingPrismatic()), 0.1, motion={"fore": fa.cycloid(1.0, 1.5, 0.1)}, native=False)


def test_equations_of_a_link_that_has_left_its_joint_are_refused():
    system = arm(fa.FixedPrismatic())
    for q in (-0.1, 0.0, 0.8, 1.0):
        with pytest.raises(ValueError, match=r"q of 'fore.q' is .*: it must lie between 0 and 0.8 m"):
            system.mass_matrix({"fore.q": q})


def test_a_rider_meets_the_joint_of_its_carrier():
    robot = fa.Robot("arm", [strip("upper", fa.FixedPrismatic()), strip("fore", fa.SlidingPrismatic())])
    start = {"upper.q": 0.4, "fore.q": 0.5}
    with pytest.warns(ValidityWarning):
        run = fa.simulate(robot, 1.0, q0=start, v0={"upper.q": -0.2, "fore.q": -0.3}, native=False)
    assert run.reason.startswith("'fore.q' met the joint of link 'upper' at t = ")
    assert float(run["fore.q"][-1] + run["upper.q"][-1]) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("joint", [fa.SlidingPrismatic, fa.FixedPrismatic])
def test_an_elastic_stop_throws_a_slide_back_with_its_energy(joint):
    hard = fa.Stop(stiffness=1e4)
    robot = fa.Robot(
        "rail", [strip("upper", fa.Weld(), False), strip("fore", joint(limits=(0.2, 0.6), stop=hard), False)]
    )
    run = fa.simulate(
        robot, 0.5, q0={"fore.q": 0.5}, v0={"fore.q": 1.0}, native=False, method="rk45", rtol=1e-9, sample=1e-3
    )
    assert run.reason == "completed"
    mass = robot.links[1].beam_mass
    deepest = float(run["fore.q"].max()) - 0.6
    assert deepest == pytest.approx(np.sqrt(mass / 1e4), rel=1e-3)  # kinetic energy into the spring
    speed = run.data["v"].sel(coordinate="fore.q").values
    assert speed[-1] == pytest.approx(-1.0, abs=1e-6)
    assert np.abs(run.energy["balance"].values).max() < 1e-6  # a kink of the force at the touch
    assert float(run.energy["drive"].max()) > 0.9 * mass / 2


def test_a_damped_stop_takes_energy_away_and_a_hinge_may_have_one_too():
    joint = fa.Revolute(limits=(-1.0, 0.5), stop=fa.Stop(stiffness=500.0, damping=2.0))
    robot = fa.Robot("gate", [strip("gate", joint)])
    run = fa.simulate(robot, 1.0, v0={"gate.q": 2.0}, native=False)
    assert run.reason == "completed"
    assert 0.5 < float(run["gate.q"].max()) < 0.6
    assert float(run.energy["dissipated"][-1]) > 0.1 * float(run.energy["kinetic"][0])
    assert np.abs(run.energy["balance"].values).max() < 2e-3 * float(run.energy["kinetic"][0])


def test_units_of_a_run_follow_the_joints():
    run = fa.simulate(arm(fa.FixedPrismatic()), 0.01, q0={"fore.q": 0.4}, native=False)
    units = dict(zip(run.data["coordinate"].values, run.data["unit"].values, strict=True))
    assert units["upper.q"] == "rad"
    assert units["fore.q"] == "m"
    assert units["fore.rear.bend_y[2]"] == "m kg^1/2"
    assert run.data["input_unit"].values.tolist() == ["N m", "N"]
    assert "travel (m)" in run.plot().axes[0].get_ylabel()


def test_a_telescope_sags_as_a_clamped_beam_of_its_length():
    """Static tip deflection mu g d^4 / (8 E I) of the part in front; the part behind sags the other way."""
    robot = fa.Robot("telescope", [strip("tube", fa.FixedPrismatic())], gravity=(0, -9.81, 0))
    system = fa.System(robot, native=False)
    for d in (0.3, 0.6):
        q = fa.equilibrium(system, {"tube.q": d})
        EI, mu = 2e10 * 0.003 * 0.03**3 / 12, 7850 * 0.03 * 0.003
        tip = system.frame("tube", None, q)[1, 3]
        end = system.frame("tube", 0.0, q)[1, 3]
        assert tip == pytest.approx(-mu * 9.81 * d**4 / (8 * EI), rel=1e-3)
        assert end == pytest.approx(-mu * 9.81 * (0.8 - d) ** 4 / (8 * EI), rel=1e-3)


def test_a_slide_that_overruns_its_stop_has_left_its_link():
    weak = fa.SlidingPrismatic(stop=fa.Stop(stiffness=10.0))
    robot = fa.Robot("rail", [strip("upper", fa.Weld(), False), strip("fore", weak, False)])
    with pytest.warns(ValidityWarning, match=r"'fore\.q' overran its stop and left its link at t = "):
        run = fa.simulate(robot, 2.0, q0={"fore.q": 0.5}, torque={"fore": 30.0}, native=False)
    assert 0.8 < float(run["fore.q"][-1]) < 0.9


@pytest.mark.parametrize("contact", ["nodal", "element"])
def test_links_held_at_nodes_switch_under_error_control(contact):
    flexible = fa.Flexible(bend_y=4, basis="elements", stiffening="none")
    link = fa.Link("boom", 0.8, fa.FixedPrismatic(contact=contact), STRIP, METAL, flexible)
    robot = fa.Robot("crane", [link], gravity=(0, -9.81, 0))
    run = fa.simulate(robot, 0.5, motion={"boom": fa.cycloid(0.25, 0.6, 0.5)}, q0="equilibrium", native=False)
    assert run.reason == "completed"


def test_a_joint_with_an_elastic_drive_starts_with_its_motor():
    drive = fa.Drive(stiffness=1e4, rotor_inertia=1e-4, gear_ratio=100)
    system = fa.System(fa.Robot("x", [strip("fore", fa.FixedPrismatic(drive=drive))]), native=False)
    assert fa.equilibrium(system, {"fore.q": 0.5})[:2] == pytest.approx([0.5, 0.5])
    for start in (None, "equilibrium"):
        run = fa.simulate(system, 0.02, motion={"fore": fa.cycloid(0.4, 0.6, 1.0)}, q0=start, native=False)
        assert run["fore.q"].values[0] == pytest.approx(0.4)


def test_what_is_not_behind_a_joint_is_thought_straight():
    system = fa.System(fa.Robot("x", [strip("fore", fa.FixedPrismatic(rear="none"))]), native=False)
    q = system.vector({"fore.q": 0.5, "fore.bend_y[1]": 0.01})
    assert system.frame("fore", 0.1, q)[:3, 3] == pytest.approx([-0.2, 0.0, 0.0])


def test_a_part_that_bends_keeps_some_length():
    """At a limit of 0 a part in front of the guide would have no finite frequency: the run ends a little before."""
    strip, steel = fa.Section.rectangle(0.002, 0.02), fa.Material(E=2.1e11, rho=7850.0)
    guide = fa.FixedPrismatic(limits=(0.0, 1.0), rear="rigid")
    link = fa.Link("strip", 1.0, guide, section=strip, material=steel, flexible=fa.Flexible(bend_y=1))
    system = fa.System(fa.Robot(links=[link]), native=False)
    with pytest.warns(fa.ValidityWarning, match="reached its lower limit"):
        run = fa.simulate(system, 2.0, motion={"strip": fa.ramp(0.2, 0.0, 0.5, 1.5)}, native=False, sample=0.05)
    assert run["strip.q"].values[-1] == pytest.approx(1e-4)
    assert np.isfinite(system.energy(run.data["q"].values).total).all()
