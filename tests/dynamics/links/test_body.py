"""Rigid bodies as links: descriptions, and identities with a massless link that carries a hub."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

COM, INERTIA = (0.1, 0.02, 0.05), [0.02, 0.022, 0.014, 0.001, 0.002, -0.001]
BODY = fa.RigidBody(2.0, com=COM, inertia=INERTIA)
BEAM = {
    "section": fa.Section.rectangle(0.02, 0.01),
    "material": fa.Material(7e10, 2700.0, damping=1e-4),
    "flexible": fa.Flexible(bend_y=2, bend_z=1, twist=1),
}


def arm(body=True, **fields):
    """Return an arm whose wrist is a body, or a massless link with a hub, and carries another beam."""
    given = {"body": BODY} if body else {"length": 0.3, "mass": 0.0, "hub": fa.PointMass(2.0, COM, INERTIA)}
    return fa.Robot(
        links=[
            fa.Link("upper", 0.8, fa.Revolute("y"), **BEAM),
            fa.Link("wrist", joint=fa.Revolute((0.3, 0.2, 1.0), mount=(0.4, 0.1, 0)), **given),
            fa.Link("probe", 0.5, fa.Revolute("z", mount=(0.5, 0, 0)), parent="wrist", at=0.0, offset=COM, **BEAM),
        ],
        gravity=(1, 2, -9.81),
        **fields,
    )


def states(system, count=3):
    q, v, a = np.random.default_rng(4).normal(size=(3, count, system.nq))
    q[:, system.elastic] *= 0.01
    return q, v, a


def test_a_body_is_a_massless_link_with_a_hub():
    system, other = (fa.System(arm(body), native=False) for body in (True, False))
    q, v, a = states(system)
    assert_allclose(system.mass_matrix(q), other.mass_matrix(q), rtol=1e-13, atol=1e-13)
    assert_allclose(system.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a), rtol=1e-12, atol=1e-12)
    assert_allclose(system.forward_dynamics(q, v), other.forward_dynamics(q, v), rtol=1e-9)
    assert_allclose(system.gravity(q), other.gravity(q), rtol=1e-12, atol=1e-12)
    assert_allclose(system.energy(q, v).total, other.energy(q, v).total, rtol=1e-13)
    assert_allclose(system.tip(q), other.tip(q), atol=1e-14)
    for link in ("upper", "wrist", "probe"):
        assert_allclose(system.reaction(link, q, v, a), other.reaction(link, q, v, a), rtol=1e-10, atol=1e-10)
    assert_allclose(system.section_forces("wrist", 0.0, q, v, a), -system.reaction("wrist", q, v, a), atol=1e-10)


def test_runs_of_both_are_the_same():
    runs = [fa.simulate(arm(body), 0.3, q0={"upper.q": 0.3}, rtol=1e-7) for body in (True, False)]
    for run in runs:
        assert run.statistics["energy_share"] < 1e-5
    assert_allclose(runs[0].array("q"), runs[1].array("q"), atol=2e-6)


def test_a_free_chain_of_bodies_keeps_energy_and_momentum():
    """Without torques, the angular momentum about the axis of the first joint stays as it is."""
    robot = fa.Robot(
        links=[fa.Link("base", body=BODY), fa.Link("arm", joint=fa.Revolute("x"), offset=(0.3, 0, 0), body=BODY)]
    )
    system = fa.System(robot)
    run = fa.simulate(robot, 2.0, v0={"base.q": 2.0, "arm.q": -3.0}, rtol=1e-9)
    q, v = run.array("q"), run.array("v")
    momentum = np.einsum("nij,nj->ni", system.mass_matrix(q), v)[:, 0]
    assert_allclose(momentum, momentum[0], rtol=1e-7)
    assert_allclose(system.energy(q, v).total, system.energy(q[0], v[0]).total, rtol=1e-7)


def test_the_length_only_places_the_tip():
    robot = fa.Robot(links=[fa.Link("wrist", 0.4, body=BODY), fa.Link("end", 0.1, "weld", mass=0.0)])
    system, plain = fa.System(robot, native=False), fa.System(fa.Robot(links=[fa.Link("wrist", body=BODY)]))
    assert_allclose(system.tip(), (0.5, 0, 0))
    assert_allclose(plain.tip(), (0, 0, 0))
    assert_allclose(system.mass_matrix(), plain.mass_matrix())


@pytest.mark.parametrize("method", ["esdirk", "dop853", "generalized-alpha", "bdf"])
def test_bodies_alone_move_with_all_methods(method):
    robot = fa.Robot(links=[fa.Link("a", body=BODY)], gravity=(0, -9.81, 0))
    run = fa.simulate(robot, 1.0, method=method)
    inertia = INERTIA[2] + 2.0 * (COM[0] ** 2 + COM[1] ** 2)
    energy = inertia / 2 * run["a.q'"].values[-1] ** 2
    fall = 2.0 * 9.81 * (COM[1] - (COM[0] * np.sin(run["a.q"].values[-1]) + COM[1] * np.cos(run["a.q"].values[-1])))
    assert energy == pytest.approx(fall, rel=1e-2)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("links.wrist.body.mass", [1.0, 1.5, 2.0, 2.5]),
        ("links.wrist.body.com.0", [0.05, 0.1, 0.15, 0.2]),
        ("frames.tool.position.2", [0.1, 0.2, 0.3, 0.4]),
    ],
)
def test_sweeps_in_lanes_equal_single_runs(field, values):
    robot = arm(frames=[fa.Frame("tool", "wrist", position=(0.1, 0, 0.2))], tip="tool")
    given = {"duration": 0.2, "rtol": 1e-7}
    found = fa.sweep(robot, over={field: values}, measure=["tip", "gravity"], **given)
    for value, tip in zip(values, found["tip"].values, strict=True):
        assert_allclose(tip, fa.simulate(robot.with_({field: value}), **given).array("tip")[-1], atol=1e-6)


def test_derivatives_by_fields_of_a_body():
    robot = fa.Robot(links=[fa.Link("a", body=fa.RigidBody(2.0, com=(0.5, 0, 0), inertia=0.1))])
    derivative = fa.System(robot).derivative("mass_matrix", by=["links.a.body.mass", "links.a.body.com.0"])
    assert_allclose(derivative().ravel(), [0.25, 2.0], rtol=1e-8)


def test_modes_of_beams_carry_the_body():
    """The first shape of a beam with a body at its tip is that of the same point mass as payload."""
    end = fa.PointMass(2.0, COM, INERTIA)
    beams = [
        fa.Robot(links=[fa.Link("beam", 0.8, **BEAM), fa.Link("end", joint="weld", body=BODY)]),
        fa.Robot(links=[fa.Link("beam", 0.8, **BEAM, payload=end)]),
    ]
    first, second = (fa.modes(each, joints="locked").frequencies for each in beams)
    assert_allclose(first, second, rtol=1e-9)


def test_massless_bodies_are_allowed_between_others():
    robot = fa.Robot(links=[fa.Link("a", body=fa.RigidBody(0.0)), fa.Link("b", joint=fa.Revolute("x"), body=BODY)])
    run = fa.simulate(robot, 0.1, v0={"a.q": 1.0, "b.q": 2.0})
    assert run.status == "completed"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"mass": 1.0}, "mass = 1.0: must be left out: the link is a rigid body"),
        ({"mass": 0.0}, "mass = 0.0: must be left out"),
        ({"section": fa.Section.circle(0.1)}, "section: must be left out: the link is a rigid body"),
        ({"material": fa.Material(1e11, 1e3)}, "material: must be left out"),
        ({"length": 1.0, "flexible": fa.Flexible(bend_y=1)}, "flexible: must be left out"),
        ({"rotary_inertia": True}, "rotary_inertia = True: must be left out"),
        ({"length": -1.0}, r"length = -1.0: must be positive \(m\)"),
        (
            {"joint": fa.FixedPrismatic()},
            "joint.type = 'fixed-prismatic': slides along the link 'a', which has no length",
        ),
        (
            {"length": 1.0, "joint": fa.FixedPrismatic(rear="none")},
            "joint.rear = 'none': must be 'rigid' or 'flexible'",
        ),
        ({"body": None}, "length: is required"),
    ],
)
def test_what_a_body_excludes(fields, sentence):
    with pytest.raises(fa.DescriptionError, match=sentence):
        fa.Link(**{"name": "a", "body": BODY, **fields})


def test_nothing_slides_along_a_link_without_length():
    links = [fa.Link("a", body=BODY), fa.Link("b", 1.0, "sliding-prismatic", mass=1.0)]
    with pytest.raises(
        fa.DescriptionError, match=r"links\[1\].joint: slides along its parent 'a', which has no length"
    ):
        fa.Robot(links=links)


def test_bodies_have_no_sections():
    system = fa.System(fa.Robot(links=[fa.Link("a", 0.5, body=BODY)]))
    with pytest.raises(ValueError, match=r"x = 0.2: must be 0: link 'a' is a rigid body, which has no sections"):
        system.section_forces("a", 0.2)
