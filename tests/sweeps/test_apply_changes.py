"""Changes by name."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.sweeps.apply_changes import PROFILES, STATES, apply_changes, gains_of, profile_number_names, profiles_of
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.plan import field

ARM = fa.library.two_link_arm()
T = np.linspace(0, 1, 11)


def law(t, x, gains):
    return {"upper": gains["kp"] * (x.reference("upper.q") - x["upper.q"]), "fore": gains["row"][1]}


CASE = SweepCase(
    ARM,
    1.0,
    torque={"upper": fa.bang_bang(0.02, (0.25, 0.5)), "fore": 0.1},
    motion=None,
    loads=[fa.PointLoad("fore", force=(0, fa.sine(1.0, 2.0), 0))],
    q0={"fore.q": 0.5},
)
FEEDBACK = SweepCase(
    ARM,
    1.0,
    torque=fa.Feedback(law, gains={"kp": 2.0, "row": [1.0, 2.0]}, references={"upper.q": fa.cycloid(0, 1, 2)}),
    q0=np.arange(8) / 100,
)


def test_fields_of_a_robot_change_as_with_says():
    changes = {"links.fore.payload.mass": 0.3, "links.upper.material.E": 1e10}
    assert apply_changes(CASE, changes).robot == ARM.with_(changes)
    assert CASE.robot == ARM


def test_initial_states_are_put_beside_the_others():
    found = apply_changes(CASE, {"q0.upper.q": 1.0, "v0.fore.q": 2.0})
    assert found.q0 == {"fore.q": 0.5, "upper.q": 1.0}
    assert found.v0 == {"fore.q": 2.0}
    found = apply_changes(FEEDBACK, {"q0.upper.q": 1.0})
    assert found.q0["upper.q"] == 1.0
    assert list(found.q0.values())[1:] == pytest.approx(FEEDBACK.q0[1:])


def test_numbers_of_profiles():
    found = apply_changes(CASE, {"torque.upper.switch.1": 0.6, "torque.upper.amplitude": 0.5, "torque.fore": 3.0})
    assert (found.torque["upper"](T) == fa.bang_bang(0.5, (0.25, 0.6))(T)).all()
    assert found.torque["fore"](0.3) == 3.0
    assert found.torque["fore"].made.given == {"value": 3.0}
    found = apply_changes(CASE, {"loads.0.force.1.frequency": 5.0, "loads.0.torque.2": 1.5})
    assert (found.loads[0].force[1](T) == fa.sine(1.0, 5.0)(T)).all()
    assert found.loads[0].torque[2](0.0) == 1.5
    assert CASE.loads[0].torque[2] == 0.0


def known_names(case):
    """Names of all that can be varied of a case, except for fields of the robot."""
    for root in STATES:
        yield from (f"{root}.{each}" for each in fa.System(case.robot, native=False).names)
    yield from (f"gains.{each}" for each in gains_of(case))
    for root in PROFILES:
        for place, given in profiles_of(case, root).items():
            yield from (
                f"{root}.{place}.{each}".removesuffix(".") for each in profile_number_names(given, f"{root}.{place}")
            )


@pytest.mark.parametrize("order", [1, -1])
def test_the_scale_multiplies_what_the_other_numbers_make(order):
    changes = dict([("torque.upper.scale", 2.0), ("torque.upper.amplitude", 0.5)][::order])
    assert apply_changes(CASE, changes).torque["upper"](T) == pytest.approx(fa.bang_bang(1.0, (0.25, 0.5))(T))


def test_functions_of_t_and_shaped_profiles_have_a_scale_only():
    case = SweepCase(ARM, 1.0, torque={"upper": np.sin, "fore": fa.shaper("zv", frequency=2.0)(fa.cycloid(0, 1, 0.5))})
    assert {name for name in known_names(case) if name.startswith("torque")} == {
        "torque.upper.scale",
        "torque.fore.scale",
    }
    found = apply_changes(case, {"torque.upper.scale": 3.0, "torque.fore.scale": -1.0})
    assert found.torque["upper"](T) == pytest.approx(3 * np.sin(T))
    assert found.torque["fore"](T) == pytest.approx(-case.torque["fore"](T))


def test_gains_and_references_of_a_law():
    found = apply_changes(FEEDBACK, {"gains.kp": 5.0, "gains.row[2]": 7.0, "references.upper.q.y1": 3.0}).torque
    assert found.gains == {"kp": 5.0, "row": [1.0, 7.0]}
    assert found.references["upper.q"](2.0) == pytest.approx(3.0)
    assert found.law is law


@pytest.mark.parametrize("case", [CASE, FEEDBACK])
def test_every_name_that_is_known_can_be_applied_with_its_own_value(case):
    """Twice the same is the same."""
    for name in known_names(case):
        found = field(case, name)
        again = apply_changes(case, {name: found.value})
        assert field(again, name).value == found.value if not name.endswith(".scale") else True
        assert found.meaning


@pytest.mark.parametrize(
    ("name", "unit", "value"),
    [
        ("links.fore.payload.mass", "kg", 0.15),
        ("links.upper.material.E", "Pa", 2e10),
        ("gravity.2", "m/s2", 0.0),
        ("q0.fore.q", "rad", 0.5),
        ("v0.fore.q", "rad/s", 0.0),
        ("q0.upper.bend_y[1]", "m kg^1/2", 0.0),
        ("torque.upper.amplitude", "N m", 0.02),
        ("torque.upper.switch.0", "s", 0.25),
        ("torque.upper.scale", "1", 1.0),
        ("torque.fore", "N m", 0.1),
        ("loads.0.force.1.frequency", "Hz", 2.0),
        ("loads.0.force.1.amplitude", "N", 1.0),
    ],
)
def test_fields_have_units_and_values(name, unit, value):
    found = field(CASE, name)
    assert (found.unit, found.value) == (unit, value)


def test_a_part_that_is_not_there_yet_has_a_unit_too():
    assert field(CASE, "links.upper.payload.mass", 0.1).unit == "kg"
    assert field(CASE, "links.upper.payload.mass", 0.1).value is None


def test_slides_and_their_motions_are_in_metres():
    rail = fa.Robot(links=[fa.Link("slide", 0.5, mass=1.0, joint=fa.SlidingPrismatic())])
    case = SweepCase(rail, 1.0, motion={"slide": fa.cycloid(0, 0.2, 1)})
    assert field(case, "motion.slide.y1").unit == "m"
    assert field(case, "motion.slide.t1").unit == "s"
    assert field(SweepCase(rail, 1.0, motion={"slide": fa.trapezoid(0, 1, 1, 2)}), "motion.slide.speed").unit == "m/s"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("links.fore.payload.mas", "did you mean 'mass'"),
        ("link.fore.length", "did you mean 'links'"),
        ("torqe.upper", "did you mean 'torque'"),
        ("torque.upper.amplitud", "did you mean 'torque.upper.amplitude'"),
        ("torque.uper.amplitude", "did you mean 'torque.upper'"),
        ("torque.upper", "no number 'torque.upper'"),
        ("q0.uper.q", "did you mean 'upper.q'"),
        ("gains.kp", "give the law some"),
        ("q0", "specify one"),
        ("loads.1.force.0", "did you mean 'loads.0.force.0'"),
        (3, "is no name"),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest(name, sentence):
    with pytest.raises((KeyError, TypeError, ValueError), match=sentence):
        field(CASE, name, 1.0)


def test_coordinates_of_an_equilibrium_cannot_be_varied():
    with pytest.raises(ValueError, match="finds the coordinates itself"):
        apply_changes(SweepCase(ARM, 1.0, q0="equilibrium"), {"q0.upper.q": 1.0})


def test_units_that_depend_on_the_joint():
    drive = fa.Drive(stiffness=500.0, rotor_inertia=1e-3)
    turning = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0, joint=fa.Revolute("z", drive=drive))])
    sliding = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0, joint=fa.SlidingPrismatic(drive=drive))])
    found = [field(SweepCase(each, 1.0), "links.a.joint.drive.stiffness").unit for each in (turning, sliding)]
    assert found == ["N m/rad", "N/m"]
