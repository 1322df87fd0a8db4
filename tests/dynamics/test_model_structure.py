"""Parameters of robots of one structure, and messages about robots of another."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.robot.library import two_link_arm
from tests.helpers import ALUMINIUM

BAR = fa.Section.rectangle(0.02, 0.01)


def robot(*more: fa.Link, constraints=(), **fields) -> fa.Robot:
    """Two links, the second with the fields."""
    upper = fa.Link("upper", 1.0, section=BAR, material=ALUMINIUM, flexible=fa.Flexible(bend_y=2))
    fore = {"section": BAR, "material": ALUMINIUM, "flexible": fa.Flexible(bend_y=2), "payload": fa.PointMass(0.2)}
    return fa.Robot(links=[upper, fa.Link("fore", 0.5, **{**fore, **fields}), *more], constraints=constraints)


ANY = fa.FixedPrismatic(rear="rigid")
LINE = fa.OnLine("fore", name="line")
DIFFERENCES = [
    (robot(), robot(payload=None), "link 'fore' has a payload here and none there"),
    (robot(payload=None), robot(), "link 'fore' has no payload here and one there"),
    (robot(), robot(hub=fa.PointMass(1.0)), "link 'fore' has no hub here and one there"),
    (robot(), robot(joint=fa.Weld()), "the joint of link 'fore' is a Revolute here and a Weld there"),
    (robot(), robot(joint=fa.Revolute(drive=fa.Drive(rotor_inertia=1.0))),
     "the joint of link 'fore' has no drive here and one there"),
    (robot(joint=fa.Revolute(drive=fa.Drive(1.0, rotor_inertia=1.0))),
     robot(joint=fa.Revolute(drive=fa.Drive(rotor_inertia=1.0))),
     "the joint of link 'fore' has an elastic drive here and none there"),
    (robot(joint=fa.Revolute(drive=fa.Drive(rotor_inertia=1.0))),
     robot(joint=fa.Revolute(drive=fa.Drive(1.0, rotor_inertia=1.0))),
     "the joint of link 'fore' has no elastic drive here and one there"),
    (robot(joint=fa.Revolute(drive=fa.Drive(rotor_inertia=1.0))),
     robot(joint=fa.Revolute(drive=fa.Drive(rotor_inertia=1.0, torque_at="motor"))),
     "the joint of link 'fore' has torque_at = joint here and motor there"),
    (robot(), robot(joint=fa.Revolute(limits=(0, 1), stop=fa.Stop(1.0))),
     "the joint of link 'fore' has no stop here and one there"),
    (robot(), robot(flexible=fa.Flexible(bend_y=3)), "link 'fore' has the shapes bend_y 2 here and bend_y 3 there"),
    (robot(), robot(flexible=fa.Flexible(bend_y=1, twist=1)),
     "link 'fore' has the shapes bend_y 2 here and bend_y 1, twist 1 there"),
    (robot(), robot(flexible=None), "link 'fore' has a flexible beam here and none there"),
    (robot(), robot(flexible=fa.Flexible(bend_y=1, basis="elements")),
     "link 'fore' has the basis modes here and elements there"),
    (robot(flexible=fa.Flexible(bend_y=3, basis=fa.Reduced(5))),
     robot(flexible=fa.Flexible(bend_y=1, basis=fa.Reduced(5, 1, "fixed"))),
     "link 'fore' has modes of the interface free here and fixed there"),
    (robot(), robot(flexible=fa.Flexible(bend_y=2, stiffening="none")),
     "link 'fore' has stiffening = exact here and none there"),
    (robot(), robot(rotary_inertia=True), "link 'fore' has rotary_inertia = False here and True there"),
    (robot(), robot(masses=[fa.PointMass(1.0, at=0.1)]), "link 'fore' has so many masses along it: 0 here and 1 there"),
    (robot(), robot(parent="ground"), "link 'fore' hangs on 'upper' here and the ground there"),
    (robot(), robot(fa.Link("hand", 0.1, mass=1.0)),
     "the robot has the links upper, fore here and upper, fore, hand there"),
    (robot(), fa.Robot(links=[each.model_copy(update={"name": f"{each.name}1"}) for each in robot().links]),
     "the robot has the links upper, fore here and upper1, fore1 there"),
    (robot(), robot(constraints=[LINE]), "the robot has the constraints none here and line there"),
    (robot(constraints=[LINE]), robot(constraints=[fa.OnPlane("fore", normal="y", name="line")]),
     "constraints.line is of the kind on-line here and on-plane there"),
    (robot(constraints=[LINE]), robot(constraints=[fa.OnLine("upper", name="line")]),
     "constraints.line holds fore here and upper there"),
    (robot(joint=ANY, flexible=None), robot(joint=fa.FixedPrismatic(rear="none"), flexible=None),
     "the joint of link 'fore' has rear = rigid here and none there"),
    (robot(), robot().with_(gravity=(0, -9.81, 0)), "gravity.1 is 0 here by construction and -9.81 there"),
    (robot(), robot(joint=fa.Revolute(mount=(0, 0, np.pi / 3))),
     "links.fore.joint.mount[1,1] is 1 here by construction and 0.5 there"),
    (robot(), robot(joint=fa.Revolute(viscous=0.1)),
     "links.fore.joint.viscous is 0 here by construction and 0.1 there"),
]  # fmt: skip


@pytest.mark.parametrize(("here", "there", "sentence"), DIFFERENCES, ids=[each[2] for each in DIFFERENCES])
def test_another_structure_is_told_by_its_first_difference(here, there, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of it below
        fa.System(here).numbers_of(there)
    assert str(caught.value).startswith(f"the robot has another structure: {sentence}")


def test_a_number_that_is_zero_there_is_a_number_here():
    here = robot(joint=fa.Revolute(viscous=0.1, mount=(0, 0, 0.3)), payload=fa.PointMass(0.2, offset=(0, 0.1, 0)))
    there = robot(joint=fa.Revolute(), payload=fa.PointMass(0.0))
    system = fa.System(here, native=False)
    q, v, a = 0.1 * np.random.default_rng(0).normal(size=(3, system.nq))
    tau = system.parametric["inverse_dynamics"](q, v, a, system.numbers_of(there)).full()[:, 0]
    assert_allclose(tau, fa.System(there, native=False).inverse_dynamics(q, v, a), rtol=1e-12)


TAPER = fa.Section.tapered(fa.Section.circle(0.02), fa.Section.circle(0.01))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"links.fore.length": 1e300}, r"^the number links.fore.\S+ is (inf|nan): must be finite"),
        ({"links.fore.section": TAPER, "links.fore.length": 1e300}, "^link 'fore': its shapes cannot be computed"),
        ({"links.fore.section": TAPER, "links.fore.length": 1e-200}, "^link 'fore': its shapes cannot be computed"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_numbers_that_are_not_finite_are_refused_by_name(change, sentence):
    arm = two_link_arm()
    with pytest.raises(ValueError, match=sentence):
        fa.System(arm).numbers_of(arm.with_(change))
    with pytest.raises(ValueError, match=sentence):
        fa.System(arm.with_(change)).mass_matrix()


@pytest.mark.filterwarnings("ignore")
def test_a_rigid_link_that_is_too_long_is_told_by_its_number():
    rods = [fa.Robot(links=[fa.Link("rod", length, mass=1.0)]) for length in (1.0, 1e300)]
    with pytest.raises(ValueError, match=r"^the number links.rod.g0 is inf: must be finite"):
        fa.System(rods[0]).numbers_of(rods[1])


def test_names_are_as_many_as_numbers_and_units():
    system = fa.System(two_link_arm())
    assert len(system.numbers) == len(system.number_names) == len(system.number_units)
    assert len(set(system.number_names)) == len(system.numbers)
    values = dict(zip(system.number_names, system.numbers))
    assert values["links.fore.payload.mass"] == 0.15
    assert values["links.upper.length"] == 1.0


@pytest.mark.parametrize(("modes", "tip_mass"), [(100, 0.0), (60, 0.27), (12, 270.0), (4, 2.7e5)])
def test_rounding_in_many_modes_is_none_of_the_structure(modes, tip_mass):
    """The first frequencies of a clamped bar with that mass at its tip, with the shapes of just that bar."""
    flexible = fa.Flexible(bend_y=modes, stiffening="none", basis=fa.Modes(tip_mass=tip_mass))
    few = fa.Flexible(bend_y=8, stiffening="none", basis="elements")
    bars = [
        fa.Link("a", 1.0, section=BAR, material=ALUMINIUM, flexible=each, payload=fa.PointMass(tip_mass))
        for each in (flexible, few)
    ]
    found, expected = (fa.modes(fa.Robot(links=[bar]), joints="locked").frequencies[:2] for bar in bars)
    assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("contact", ["nodal", "element"])
def test_what_a_node_is_follows_from_the_mesh_not_from_rounding(contact):
    def sled(length):
        flexible = fa.Flexible(bend_y=3, basis="elements")
        rail = fa.Link("a", length, section=BAR, material=ALUMINIUM, flexible=flexible)
        return fa.Robot(links=[rail, fa.Link("b", 0.1, fa.SlidingPrismatic(contact=contact), mass=1.0)])

    first = fa.System(sled(1.0)).structure
    for length in np.random.default_rng(0).uniform(0.1, 5.0, 20):
        assert fa.System(sled(float(length))).structure is first


@pytest.mark.parametrize("basis", ["modes", "elements", None])
@pytest.mark.parametrize("away", [5.6e-17, 1e-10, -1e-10])
def test_a_place_that_is_at_a_node_but_for_rounding_is_at_it(basis, away):
    flexible = None if basis is None else fa.Flexible(bend_y=4, basis=basis)
    rail = fa.Link("a", 1.0, section=BAR, material=ALUMINIUM, flexible=flexible)

    def arm(at):
        lump = fa.PointMass(0.1, at=at)
        links = [rail.model_copy(update={"masses": (lump,)}), fa.Link("b", 0.2, mass=1.0, at=at)]
        return fa.System(fa.Robot(links=links), native=False)

    for node in (0.0, 0.25, 1.0):
        at = min(max(node + away, 0.0), 1.0)
        near, exact = arm(at), arm(node)
        assert_allclose(near.mass_matrix(), exact.mass_matrix(), rtol=1e-7, atol=1e-9)


# Fields that are no numbers: each is a fact of the structure (link_numbers.py, constraint_numbers.py), or seen in its
# patterns, or decides nothing in the equations. A new one must be put where it belongs.
FACTS = {
    "Robot": {"links", "constraints"},
    "Link": {"joint", "flexible", "hub", "payload", "masses", "rotary_inertia", "parent", "at"},
    "Revolute": {"type", "axis", "drive", "stop", "mount", "actuated"},
    "Prismatic": {"type", "axis", "drive", "stop", "mount", "actuated"},
    "Screw": {"type", "axis", "drive", "stop", "mount", "actuated"},
    "Universal": {"type", "axes", "mount", "actuated"},
    "Cylindrical": {"type", "axis", "mount", "actuated"},
    "Planar": {"type", "axes", "mount", "actuated"},
    "SlidingPrismatic": {"type", "contact", "drive", "stop", "mount", "actuated"},
    "FixedPrismatic": {"type", "rear", "contact", "drive", "stop", "mount", "actuated"},
    "Sleeve": {"type", "mouth", "drive", "stop", "actuated"},
    "Weld": {"type", "mount"},
    "Drive": {"stiffness", "torque_at"},
    "Stop": set(),
    "Flexible": {"bend_y", "bend_z", "twist", "stretch", "basis", "stiffening", "damping"},
    "Damping": {"ratio"},
    "Modes": {"type"},
    "Elements": {"type", "order", "root"},
    "Splines": {"type", "degree"},
    "Reduced": {"type", "elements", "modes", "interface"},
    "PointMass": {"inertia", "at"},
    "Loop": {"type", "first", "second", "first_at", "second_at", "joint", "axis", "mount"},
    "OnLine": {"type", "link", "at", "direction"},
    "OnPlane": {"type", "link", "at", "normal"},
    "PointSupport": {"type", "link", "position", "directions", "on", "at"},
    "Pose": {"rotation"},
}
DECIDE_NOTHING = {"name", "limits", "section", "material", "mass", "base", "shear", "tip_mass", "tip_inertia", "up_to"}


@pytest.mark.parametrize("kind", FACTS)
def test_every_field_that_is_no_number_is_known_to_the_structure(kind):
    fields = getattr(fa, kind).model_fields
    parameters = {
        name for name, field in fields.items() if field.annotation is float or "Vector3" in str(field.annotation)
    }
    vectors = ("tuple[float, float]", "tuple[float, float, float]")
    parameters |= {name for name, field in fields.items() if str(field.annotation) in vectors}
    assert set(fields) - parameters - DECIDE_NOTHING == FACTS[kind]
