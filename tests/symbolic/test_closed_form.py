"""Closed forms against the independent derivation of `System`, and the two routes against each other."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import symengine
import sympy
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import flexarm as fa
from tests import helpers
from tests.symbolic import cases
from tests.symbolic.cases import (
    GRAVITY,
    KINDS,
    LUMP,
    STEEL,
    TOLERANCE,
    arm,
    bending,
    joint,
    link,
    state,
    worst,
    zero_order,
)

agrees = partial(cases.agrees, stiffening="none")


@pytest.mark.parametrize(("first", "second"), [*product(KINDS, KINDS)])
def test_all_pairs_of_joints_with_bending_links(first, second):
    agrees(
        fa.Robot(
            links=[link("a", first, bending(1, "modes")), link("b", second, bending(2, "modes"), 0.7, payload=LUMP)],
            gravity=GRAVITY,
        )
    )


def test_rigid_links_of_all_joints():
    links = [link("a", "Pa"), link("b", "R"), link("c", "Pb", payload=LUMP), link("d", "Pa"), link("e", "R")]
    agrees(fa.Robot(links=links, gravity=GRAVITY))


def test_a_joint_at_a_node():
    touching = fa.SlidingPrismatic(angle=0.3, contact="nodal")
    robot = fa.Robot(
        links=[link("a", "R", bending(3)), link("b", "Pa", bending(2), 0.7, joint=touching, payload=LUMP)],
        gravity=GRAVITY,
    )
    agrees(robot, k={"b": 2}, given={"b": 0.6})
    agrees(robot, k={"b": 0}, given={"b": 0.05})


@pytest.mark.parametrize("rear", ["flexible", "rigid"])
def test_the_part_of_a_link_behind_its_joint(rear):
    through = joint("Pb", rear=rear)
    middle = link("b", "Pb", bending(2), joint=through, rotary_inertia=True, payload=LUMP, hub=LUMP)
    base = fa.Pose((0.1, 0.2, 0.0), (0, 0, 0.3))
    agrees(fa.Robot(links=[link("a", "R", bending(1)), middle, link("c", "R")], gravity=GRAVITY, base=base))


def test_damping_friction_and_drives():
    damped = fa.Damping(ratio=0.02, alpha=0.1, beta=1e-3)
    hinge = fa.Revolute("-z", mount=(0, 0, 0.2), viscous=0.3, coulomb=0.1, drive=fa.Drive(50.0, 0.1, 0.02, 3.0))
    links = [
        link("a", "R", bending(2, damping=damped), joint=hinge, rotary_inertia=True),
        link("b", "Pb", bending(1, "modes", damping=damped), 0.7, rotary_inertia=True),
    ]
    form = agrees(fa.Robot(links=links, gravity=GRAVITY))
    system = fa.System(form.robot, native=False)
    q, v = state(system)
    at = dict(zip(form.v, v, strict=True)) | form.values
    friction = np.array((-form.F.subs(dict.fromkeys(("tau_1", "tau_2"), 0))).subs(at), dtype=float)[:, 0]
    smooth = system.coriolis(q, v) @ v + system.spring_forces(q) + system.damping_matrix(q) @ v + system.gravity(q)
    assert np.allclose(friction, system.bias(q, v) - smooth, atol=1e-9)
    assert [str(entry) for entry in form.F[1:3]] == ["tau_1", "0"]  # the actuator acts on the motor


@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(helpers.robots(most=3, planar=True), st.sampled_from(["symbolic", "numeric"]))
def test_random_planar_trees_of_hinges(robot, parameters):
    form = fa.equations(robot, stiffening="none", parameters=parameters)
    system = fa.System(zero_order(robot), native=False)
    assert form.names == system.names
    error, where = worst(form, system, *helpers.state(system, 1)[:2])
    assert error < TOLERANCE, where


@st.composite
def slides(draw):
    links = []
    for index in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(KINDS))
        flexible = draw(st.sampled_from([None, bending(1, "modes"), bending(2, fa.Modes(0.2, 0.01))]))
        payload = draw(st.sampled_from([None, LUMP]))
        links.append(link(f"l{index}", kind, flexible, draw(st.floats(0.5, 1.5)), payload=payload))
    return fa.Robot(links=links, gravity=draw(st.sampled_from([(0, 0, 0), GRAVITY])))


@settings(max_examples=8, deadline=None, phases=[Phase.generate])
@given(slides(), st.integers(0, 100))
def test_random_chains_of_all_joints(robot, seed):
    agrees(robot, seed=seed, parameters="numeric")


SECTION = fa.Section.rectangle(0.02, 0.03)
SPATIAL_LUMP = fa.PointMass(0.3, offset=(0.05, 0.02, 0.03), inertia=(0.01, 0.02, 0.025))


def spatial(name, hinge, payload=None, rotary=False, **shapes):
    flexible = fa.Flexible(**shapes) if shapes else None
    return fa.Link(name, 0.8, hinge, SECTION, STEEL, flexible, payload=payload, rotary_inertia=rotary)


@pytest.mark.slow
@pytest.mark.parametrize("basis", ["modes", "elements"])
def test_spatial_chains_with_elastic_drives(basis):
    drive = fa.Drive(5000.0, 1.0, 5.0)
    links = [
        spatial("a", fa.Revolute("z"), bend_y=1, bend_z=1, twist=1, basis=basis),
        spatial("b", fa.Revolute("y", mount=(0.3, 0.2, 0.1), drive=drive), SPATIAL_LUMP, True, bend_z=1, twist=1),
    ]
    pose = fa.Pose((0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
    agrees(fa.Robot(links=links, gravity=(1, -2, -9.5), base=pose), parameters="numeric")


def test_spatial_rigid_chain_about_any_axes():
    links = [
        spatial("a", fa.Revolute("z")),
        spatial("b", fa.Revolute((1, 2, -0.5)), SPATIAL_LUMP),
        spatial("c", fa.Revolute("-y", mount=(0, -np.pi / 2, 0)), rotary=True),
    ]
    agrees(fa.Robot(links=links, gravity=(1, -2, -9.5)))


# --- routes ---


@pytest.mark.parametrize("elements", [1, 2])
def test_both_routes_give_the_same_entries(elements):
    robot = arm(elements, payload=LUMP)
    extended, summed = (fa.equations(robot, route=route) for route in ("extended", "global"))
    for name in "MCKDG":
        gap = getattr(extended, name) - getattr(summed, name)
        assert all(sympy.expand(entry) == 0 for entry in gap), name


def test_both_routes_with_slides():
    robot = fa.Robot(links=[link("a", "Pa", bending(1, "modes")), link("b", "Pb", bending(1, "modes"))])
    q, v = state(fa.System(robot, native=False))
    one, two = (fa.equations(robot, route=route).lambdify()(q, v) for route in ("extended", "global"))
    for name in one:
        assert np.allclose(one[name], two[name], rtol=1e-13, atol=1e-13 * np.abs(two[name]).max())


def lagrange(form, lengths, q, v, a):
    """d/dt dT/dv - dT/dq + dU/dq from the position vectors alone, at a state."""
    sizes = form.values
    x = sympy.Symbol("x")
    T, U = sympy.Integer(0), sympy.Rational(1, 2) * (form.q.T * form.K.subs(sizes) * form.q)[0]
    gravity = [sizes.get("g_x", 0), sizes.get("g_y", 0)]
    for i, elements in enumerate(form.r):
        m, length = sizes[f"m_{i + 1}"], lengths[i]
        for r in elements:
            place = r[:2, 0].subs(sizes)
            speed = place.jacobian(form.q) * form.v
            for entry, g in zip(place, gravity, strict=True):
                U -= m * g * integral(entry, x, length)
            for p, one in powers(speed, x).items():
                for q_, two in powers(speed, x).items():
                    T += m / 2 * one.dot(two) * length ** (p + q_ + 1) / (p + q_ + 1)
    quick = symengine.sympify
    T, U, qs, vs = quick(T), quick(U), list(map(quick, form.q)), list(map(quick, form.v))
    momenta = [T.diff(each) for each in vs]
    at = dict(zip([*qs, *vs], [*q, *v], strict=True))
    out = []
    for k, momentum in enumerate(momenta):
        rate = sum(momentum.diff(qs[j]).subs(at) * v[j] + momentum.diff(vs[j]).subs(at) * a[j] for j in range(len(qs)))
        out.append(float(rate - T.diff(qs[k]).subs(at) + U.diff(qs[k]).subs(at)))
    return np.array(out)


def powers(vector, x):
    found = [sympy.Poly(entry, x) for entry in vector]
    degree = max(each.degree() for each in found)
    return {p: sympy.Matrix([each.coeff_monomial(x**p) for each in found]) for p in range(degree + 1)}


def integral(expression, x, length):
    return sum(c * length ** (n + 1) / (n + 1) for (n,), c in sympy.Poly(expression, x).terms())


def meshed_arm(contact, elements=2):
    through, shapes = fa.FixedPrismatic(angle=0.4, contact=contact), bending(elements)
    return fa.Robot(links=[link("a", "R", bending(1)), link("b", "Pb", shapes, joint=through)], gravity=GRAVITY)


@pytest.mark.parametrize(
    ("robot", "k", "lengths"),
    [(arm(1), {}, (1.0, 0.7)), (meshed_arm("nodal"), {"b": 1}, (1.0, 0.5))],
    ids=["RR", "R Pb nodal"],
)
def test_lagranges_equations_of_the_position_vectors(robot, k, lengths):
    form = fa.equations(robot, k=k)
    q, v, a = np.random.default_rng(3).uniform(-0.3, 0.3, (3, len(form.names)))
    at = form.lambdify()(q, v)
    own = at["M"] @ a + at["C"] @ v + at["K"] @ q + at["G"]
    other = lagrange(form, lengths, q, v, a)
    assert np.abs(own - other).max() < 1e-12 * np.abs(other).max()


@pytest.mark.parametrize(("contact", "elements", "k", "nodes"), [("nodal", 2, 1, (1,)), ("element", 3, 2, (1, 2))])
def test_a_link_held_by_its_mesh_equals_the_system_with_these_nodes_in_the_joint(contact, elements, k, nodes):
    """Fix the middle node, or both nodes of the middle element."""
    robot = meshed_arm(contact, elements)
    form, system = fa.equations(robot, k={"b": k}), fa.System(zero_order(robot), native=False)
    kept = [system.index(name) for name in form.names]
    held = [system.names[place] for place in range(system.nq) if place not in kept]
    assert held == [f"b.bend_y[{2 * node + side}]" for node in nodes for side in (1, 2)]
    q, v = np.zeros((2, system.nq))
    q[kept], v[kept] = np.random.default_rng(1).uniform(-0.1, 0.1, (2, len(kept)))
    length = robot.links[1].length
    q[system.index("b.q")] = length / 2
    assert np.abs(system.constraint(q)).max() < 1e-15
    at, here = form.lambdify()(q[kept], v[kept]), np.ix_(kept, kept)
    pairs = [
        (at["M"], system.mass_matrix(q)[here]),
        (at["C"] @ v[kept], (system.coriolis(q, v) @ v)[kept]),
        (at["K"], system.stiffness_matrix(q)[here]),
        (at["G"], system.gravity(q)[kept]),
    ]
    for own, other in pairs:
        assert np.abs(own - other).max() < TOLERANCE * np.abs(other).max()


# --- structure ---


def test_rate_of_mass_matrix_less_twice_coriolis_is_skew_symbolically():
    form = fa.equations(arm(1))
    rate = sympy.zeros(*form.M.shape)
    for q, v in zip(form.q, form.v, strict=True):
        rate += form.M.diff(q) * v
    skew = rate - 2 * form.C
    assert all(sympy.expand(entry) == 0 for entry in skew + skew.T)


def test_parameters_are_symbols_numbers_or_some_of_each():
    symbolic, numeric = (fa.equations(arm(1), parameters=kind) for kind in ("symbolic", "numeric"))
    some = fa.equations(arm(1), parameters=["m_1", "EI_2"])
    assert numeric.values == {}
    assert set(some.values) == {"m_1", "EI_2"}
    assert set(symbolic.values) >= {"l_1", "m_1", "EI_1", "l_2", "m_2", "EI_2", "g_x", "g_y"}
    values = np.array(symbolic.K.subs(symbolic.values), dtype=float)
    assert np.allclose(values, np.array(numeric.K, dtype=float), rtol=1e-14)
    assert {str(each) for each in some.M.free_symbols} <= {"m_1", *(str(q) for q in some.q)}


def test_values_can_be_changed_in_a_derived_form():
    robot = arm(1, payload=fa.PointMass(0.1))
    q, v = np.full((2, 6), 0.1)
    heavy = fa.equations(robot.with_({"links.b.payload.mass": 0.4})).lambdify()(q, v)
    again = fa.equations(robot).lambdify()(q, v, M_p2=0.4)
    assert np.allclose(heavy["M"], again["M"], rtol=1e-14)


def test_notes_name_the_model_of_flexible_links():
    robot = fa.library.two_link_arm()
    assert "(stiffening 'exact')" in fa.equations(robot).notes[0]
    assert "Foreshortening" in fa.equations(robot, stiffening="none").notes[0]
    assert fa.equations(robot.rigid()).notes == []


def test_rigid_bodies_without_length():
    body = fa.RigidBody(0.5, com=(0.05, 0.02, 0), inertia=(0.01, 0.02, 0.03))
    links = [link("a", "R", bending(2)), fa.Link("b", body=body), link("c", "R", offset=(0.1, 0.05, 0), at=0.0)]
    agrees(fa.Robot("bodies", links=links, gravity=GRAVITY))
    spatial = [fa.Link("a", joint=fa.Revolute("y"), body=body), fa.Link("b", joint=fa.Revolute((1, 2, 0)), body=body)]
    agrees(fa.Robot("bodies in space", links=spatial, gravity=GRAVITY))
