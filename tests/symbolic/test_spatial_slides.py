"""Spatial robots with prismatic joints against `System`, the planar closed form and each other."""

from itertools import product

import numpy as np
import pytest
import sympy
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from tests.symbolic.cases import GRAVITY, KINDS, LUMP, STEEL, agrees, bending, link, size_ratio, state
from tests.symbolic.test_code import test_c_compiles_without_warnings_and_gives_the_same as compiled

ASKEW = (0.3, 0.2, 0.1)
SECTION = fa.Section.rectangle(0.02, 0.03)
SOLID = fa.PointMass(0.3, offset=(0.05, 0.02, 0.03), inertia=(0.01, 0.02, 0.025))
FAMILIES = {"bend_y": 1, "bend_z": 1, "twist": 1, "stretch": 1}


def joint(kind, **fields):
    if kind == "R":
        return fa.Revolute("y", mount=ASKEW, **fields)
    return {"Pa": fa.SlidingPrismatic, "Pb": fa.FixedPrismatic}[kind](mount=ASKEW, **fields)


def bar(name, how, length=0.8, shapes=None, **fields):
    flexible = None if shapes is None else fa.Flexible(stiffening="none", **shapes)
    return fa.Link(name, length, how, SECTION, STEEL, flexible, **fields)


def robot(*links):
    return fa.Robot("askew", links=links, gravity=(1, -2, -9.5), base=fa.Pose((0.1, 0.2, 0.3), (0.3, 0.4, 0.5)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(*pair, marks=[pytest.mark.slow] * (pair == ("R", "Pb")))
        for pair in product(KINDS, KINDS)
        if pair != ("R", "R")
    ],
)
def test_all_pairs_of_joints_with_bending_links(first, second):
    shapes = {"bend_y": 1, "bend_z": 1}
    agrees(
        robot(
            bar("a", joint(first), shapes=shapes),
            bar("b", joint(second), 0.7, {"bend_z": 1, "twist": 1}, payload=SOLID),
        ),
        parameters="numeric",
    )


@pytest.mark.parametrize(("rear", "basis"), [*product(("flexible", "rigid"), ("modes", "elements"))])
def test_every_deformation_of_a_link_that_slides_through_its_joint(rear, basis):
    damped = fa.Damping(ratio=0.02, alpha=0.1, beta=1e-3)
    shapes = FAMILIES | {"basis": basis, "damping": damped}
    through = joint("Pb", rear=rear)
    agrees(robot(bar("a", through, shapes=shapes, rotary_inertia=True, hub=SOLID, payload=SOLID)), parameters="numeric")


def test_every_deformation_of_a_link_on_which_another_rides():
    rail = bar("a", fa.Revolute("z"), shapes=FAMILIES, rotary_inertia=True)
    form = agrees(robot(rail, bar("b", joint("Pa"), payload=SOLID)))
    assert {"N_2_1", "dN_2_1", "W_2_1", "dW_2_1", "T_2_1", "S_2_1"} <= {str(each) for each in form.short.definitions}


def test_a_slide_on_a_link_that_slides():
    rail = bar("a", joint("Pb"), shapes={"bend_z": 1, "twist": 1})
    form = agrees(robot(rail, bar("b", joint("Pa"), payload=SOLID)), parameters="numeric")
    assert any("'b' is taken to ride on 'a' in front" in note for note in form.notes)


def test_a_joint_at_a_node():
    mesh = bar("a", fa.Revolute("y"), shapes={"bend_y": 3, "basis": "elements"}, rotary_inertia=True)
    riding = bar("b", fa.SlidingPrismatic(mount=ASKEW, contact="nodal"), shapes={"bend_z": 1}, payload=SOLID)
    agrees(robot(mesh, riding), k={"b": 2}, given={"b": 0.8 * 2 / 3}, parameters="numeric")


def test_a_mesh_has_the_inertia_of_its_sections_about_its_axis():
    mesh = bar("a", fa.Revolute("x"), shapes={"bend_y": 2, "basis": "elements"})
    form = agrees(robot(mesh))
    assert sympy.Symbol("jx_1") in form.M[0, 0].free_symbols


@st.composite
def chains(draw):
    links = []
    for index in range(draw(st.integers(1, 2))):
        shapes = draw(st.sampled_from([None, {"bend_z": 1}, {"bend_y": 1, "twist": 1}, {"bend_y": 1, "bend_z": 1}]))
        how = joint(draw(st.sampled_from(KINDS)))
        rotary = draw(st.booleans())
        links.append(bar(f"l{index}", how, draw(st.floats(0.5, 1.5)), shapes, rotary_inertia=rotary, payload=SOLID))
    return robot(*links)


@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(chains(), st.integers(0, 100))
def test_random_chains(which, seed):
    agrees(which, seed=seed, parameters="numeric")


# --- analytical checks ---


def test_a_gantry_moves_its_masses():
    links = [
        bar("bridge", fa.SlidingPrismatic(mount=(0, 0, np.pi / 2))),  # along x, its own axis along y
        bar("cart", fa.SlidingPrismatic(mount=(0, -np.pi / 2, 0))),  # along the bridge, its own axis along z
        bar("ram", fa.FixedPrismatic(), payload=fa.PointMass(2.0)),
    ]
    form = fa.equations(fa.Robot(links=links, gravity=(0, 0, -9.81)))
    bridge, cart, ram = (sympy.Symbol(f"m_{k}") * sympy.Symbol(f"l_{k}") for k in (1, 2, 3))
    ram += sympy.Symbol("M_p3")
    upright = {sympy.Symbol("gamma_1"): sympy.pi / 2, sympy.Symbol("gamma_3"): 0}
    expected = sympy.diag(bridge + cart + ram, cart + ram, ram)
    assert (form.M.subs(upright) - expected).applyfunc(sympy.simplify) == sympy.zeros(3)
    assert form.C.is_zero_matrix
    assert sympy.expand(form.G.subs(upright)[2] + sympy.Symbol("g_z") * ram) == 0


@pytest.mark.parametrize("kind", ["Pa", "Pb"])
def test_the_plane_set_upright_is_the_plane(kind):
    arm = [link("a", "R", bending(1, "modes")), link("b", kind, bending(1, "modes"), payload=LUMP)]
    flat = fa.Robot(links=arm, gravity=GRAVITY)
    raised = [link("a", "R", bending(1, "modes"), joint=fa.Revolute("z", mount=(np.pi / 2, 0, 0))), arm[1]]
    standing = fa.Robot(links=raised, gravity=(GRAVITY[0], 0, GRAVITY[1]))
    q, v = state(fa.System(flat, native=False))
    one, two = (fa.equations(each).lambdify()(q, v) for each in (flat, standing))
    for name in one:
        scale = np.abs(one[name]).max()
        assert np.abs(one[name] - two[name]).max() < 1e-13 * scale, name


def test_lengths_and_stiffness_can_be_changed_in_a_derived_form():
    def at(length, E):
        shapes = FAMILIES | {"basis": fa.Modes(tip_mass=0.0, tip_inertia=0.0)}
        soft = STEEL.model_copy(update={"E": E})
        moving = fa.Flexible(stiffening="none", **shapes)
        own = fa.Link("a", length, joint("Pb"), SECTION, soft, moving, payload=SOLID)
        return fa.equations(robot(own))

    one, other = at(0.8, 2e10), at(1.1, 5e10)
    q, v = np.random.default_rng(2).uniform(0.1, 0.5, (2, len(one.names)))
    changed, fresh = one.lambdify()(q, v, **other.values), other.lambdify()(q, v)
    for name in fresh:
        assert np.abs(changed[name] - fresh[name]).max() < 1e-9 * np.abs(fresh[name]).max(), name


def written():
    return fa.equations(robot(bar("a", joint("Pb", rear="rigid"), shapes={"bend_y": 1, "twist": 1}, payload=SOLID)))


def test_both_routes():
    which = robot(bar("a", fa.Revolute("z"), shapes={"bend_z": 1}), bar("b", joint("Pa"), payload=SOLID))
    q, v = state(fa.System(which, native=False))
    one, two = (fa.equations(which, route=route).lambdify()(q, v) for route in ("extended", "global"))
    for name in one:
        assert np.allclose(one[name], two[name], rtol=1e-13, atol=1e-13 * np.abs(two[name]).max())


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_generated_c(tmp_path):
    compiled(written(), tmp_path)


def test_latex():
    page = written().latex()
    assert "d_{1}" in page
    assert "\\phi_{1(1)}" in page
    assert page.count("{") == page.count("}")


@pytest.mark.parametrize(
    "which",
    [
        robot(bar("a", fa.Revolute("z")), bar("b", joint("Pb"), shapes={"bend_y": 1, "bend_z": 1}, payload=SOLID)),
        robot(bar("a", fa.Revolute("z"), shapes={"bend_y": 1, "bend_z": 1}), bar("b", joint("Pa"), payload=SOLID)),
        fa.Robot(links=[link("a", "R"), link("b", "Pb", bending(1, "modes"))]),
    ],
    ids=["R Pb", "R Pa", "plane"],
)
def test_the_estimated_size_is_right_within_a_factor_of_four(which):
    assert 0.25 < size_ratio(which) < 4


def test_material_that_appears_in_a_joint_is_refused():
    with pytest.raises(ValueError, match=r"links\[0\] 'a': rear='none' has no closed form here: material appears"):
        fa.equations(robot(bar("a", joint("Pb", rear="none"), shapes={"bend_z": 1})))
