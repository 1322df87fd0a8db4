"""Closed forms of the models "shortening" and "exact" against `System`, each other and published values."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
import sympy
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from tests import helpers
from tests.symbolic import cases
from tests.symbolic.cases import GRAVITY, LUMP, STEEL, TOLERANCE, joint, link, size_ratio, state, worst
from tests.symbolic.test_code import test_c_compiles_without_warnings_and_gives_the_same as compiled

MODELS = ("shortening", "exact")


def shapes(model, count=1, basis="modes", **fields):
    return fa.Flexible(bend_y=count, basis=basis, stiffening=model, **fields)


def arm(*links):
    return fa.Robot("arm", links=links, gravity=GRAVITY)


agrees = partial(cases.agrees, stiffening="robot")


# --- comparison with System ---


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("count", [1, 2])
def test_two_links_with_hinges(model, count):
    flexible = shapes(model, count)
    form = agrees(arm(link("a", "R", flexible), link("b", "R", flexible, 0.7, payload=LUMP)))
    assert all(each.stiffening == model for each in form.robot.links)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "basis",
    ["modes", "elements", pytest.param(fa.Reduced(elements=4, interface="fixed"), marks=pytest.mark.slow)],
    ids=str,
)
def test_links_that_stretch_and_have_rotary_inertia(model, basis):
    flexible = shapes(model, 2, basis, stretch=1, damping=fa.Damping(ratio=0.02, alpha=0.1, beta=1e-3))
    agrees(arm(link("a", "R", flexible, rotary_inertia=True, hub=LUMP, payload=LUMP)))


@pytest.mark.parametrize("model", MODELS)
def test_links_that_only_stretch(model):
    flexible = fa.Flexible(stretch=2, stiffening=model)
    form = agrees(arm(link("a", "R", flexible, payload=LUMP), link("b", "R", length=0.5)))
    assert len(form.r[0]) == 1


@pytest.mark.parametrize("model", MODELS)
def test_points_of_a_link_have_distinct_abbreviations(model):
    branches = [link("b", "R", at=0.5), link("c", "R", parent="a", at=0.25)]
    form = agrees(arm(link("a", "R", shapes(model), payload=LUMP), *branches))
    written = re.findall(r"^(\S.*?) =\{\}&", form.latex(), re.M)
    assert {"xf_{1}", "xf_{1(2)}", "xf_{1(2),2}"} <= set(written)
    assert len(written) == len(set(written))


@pytest.mark.parametrize("model", MODELS)
def test_tapered_and_stepped_sections(model):
    thick, thin = fa.Section.rectangle(0.01, 0.03), fa.Section.rectangle(0.01, 0.02)
    pieces = [{"upto": 0.4, "section": thick}, {"upto": 1.0, "section": thin}]
    for section in (fa.Section.tapered(thick, thin), fa.Section.stepped(pieces)):
        bar = fa.Link("a", 1.0, fa.Revolute("z"), section, STEEL, shapes(model, 2), payload=LUMP)
        agrees(arm(bar, link("b", "R", at=0.3)))


@pytest.mark.parametrize("model", ["none", *MODELS])
def test_rotary_inertia_of_tapered_and_stepped_sections(model):
    """The parameter is the value at the root, and the equations are those of the whole link."""
    thick, thin = fa.Section.rectangle(0.05, 0.09), fa.Section.rectangle(0.03, 0.02)
    pieces = [{"upto": 0.4, "section": thick}, {"upto": 1.0, "section": thin}]
    for section in (fa.Section.tapered(thick, thin), fa.Section.stepped(pieces)):
        bent = fa.Link("a", 1.0, fa.Revolute("z"), section, STEEL, shapes(model, 2), rotary_inertia=True)
        straight = fa.Link("b", 0.7, fa.Revolute("z"), section, STEEL, rotary_inertia=True)
        form = agrees(arm(bent, straight))
        meanings = {each.symbol: each.meaning for each in form.parameters}
        assert meanings["jz_1"] == "inertia per length of the section about z of link 1 (a) at its root"
        assert form.values["jz_1"] == bent.inertia_z_per_length(0.0)


def test_rotary_inertia_of_tapered_sections_in_space():
    thick, thin = fa.Section.rectangle(0.05, 0.09), fa.Section.rectangle(0.03, 0.02)
    section, families = fa.Section.tapered(thick, thin), {"bend_y": 1, "bend_z": 1, "twist": 1}
    bent = fa.Flexible(**families, stiffening="none")
    first = fa.Link("a", 1.0, fa.Revolute("y"), section, STEEL, bent, rotary_inertia=True)
    second = fa.Link("b", 0.7, fa.Revolute("x"), section, STEEL, rotary_inertia=True)
    form = agrees(arm(first, second), parameters="numeric")
    assert not form.values


@pytest.mark.parametrize("model", MODELS)
def test_a_link_that_slides_along_a_bent_link(model):
    form = agrees(arm(link("a", "R", shapes(model, 2)), link("b", "Pa", shapes(model), 0.7, payload=LUMP)))
    letter = {"shortening": "H", "exact": "L"}[model]
    assert f"{letter}_2_1" in {str(each) for each in form.short.definitions}


@pytest.mark.parametrize("rear", ["flexible", "rigid"])
@pytest.mark.parametrize("stretch", [0, 1])
def test_a_shortened_link_that_slides_through_its_joint(rear, stretch):
    flexible = shapes("shortening", 2 - stretch, stretch=stretch)
    through = link("b", "Pb", flexible, joint=joint("Pb", rear=rear), rotary_inertia=True, hub=LUMP, payload=LUMP)
    agrees(arm(link("a", "R"), through, link("c", "R", length=0.3)), parameters="numeric")


def test_a_slide_on_a_shortened_link_that_slides():
    agrees(arm(link("a", "Pb", shapes("shortening")), link("b", "Pa", payload=LUMP)), parameters="numeric")


def test_a_mesh_that_is_held_by_constraints_only():
    held = (fa.PointSupport("a", (0, 0, 0)), fa.PointSupport("a", (1, 0, 0)))
    for model in ("none", "shortening"):
        flexible = shapes(model, 2, fa.Elements(root="free"), damping=fa.Damping(ratio=0.02))
        agrees(fa.Robot(links=[link("a", "R", flexible)], constraints=held))


def test_each_link_has_its_own_model():
    links = [link("a", "R", fa.Flexible(bend_y=1)), link("b", "R", fa.Flexible(bend_y=1, basis="elements"), 0.7)]
    form = agrees(arm(*links, link("c", "R", shapes("none"), 0.5)))
    assert [each.stiffening for each in form.robot.links] == ["exact", "shortening", "none"]
    assert [note.split("'")[1] for note in form.notes] == ["none", "shortening", "exact"]


def test_the_closed_form_of_the_library_arm_equals_the_simulated_model():
    agrees(fa.library.two_link_arm(), parameters="numeric")


@settings(max_examples=5, deadline=None, phases=[Phase.generate])
@given(helpers.robots(most=2, planar=True), st.sampled_from(["robot", "shortening"]))
def test_random_planar_trees_of_hinges(robot, model):
    form = fa.equations(robot, stiffening=model, parameters="numeric")
    system = fa.System(form.robot, native=False)
    error, where = worst(form, system, *helpers.state(system, 1)[:2])
    assert error < TOLERANCE, where


# --- analytical checks ---


@pytest.mark.parametrize(("model", "expected"), [("none", -1.0), ("shortening", 0.193), ("exact", 0.193)])
def test_a_spinning_beam_stiffens_as_published(model, expected):
    """omega^2 = omega_0^2 + (1.193 - 1) Omega^2, Southwell's number of the first mode in the plane of rotation."""
    bar = link("a", "R", shapes(model, 3, fa.Modes(tip_mass=0.0, tip_inertia=0.0)))
    at = fa.equations(fa.Robot(links=[bar]), stiffening="robot").lambdify()
    spin, small = 2.0, 1e-4
    q, v = np.array([0.0, small, 0.0, 0.0]), np.array([spin, 0.0, 0.0, 0.0])
    assert (at(q, v)["C"] @ v)[1] / (small * spin**2) == pytest.approx(expected, abs=1e-3)


def test_the_mass_matrix_of_an_exact_link_is_that_of_its_position_vector():
    bar = link("a", "R", shapes("exact", 2))
    form = fa.equations(arm(bar), stiffening="robot", parameters="numeric")
    jacobian = sympy.lambdify(("x", *form.q), form.r[0][0][:2, 0].jacobian(form.q))
    q, _ = state(fa.System(arm(bar), native=False))
    q[1:] *= 10
    places, weights = np.polynomial.legendre.leggauss(30)
    M = np.zeros((3, 3))
    for x, weight in zip((1 + places) / 2, weights / 2, strict=True):
        J = jacobian(x, *q)
        M += bar.mass_per_length(x) * weight * J.T @ J
    assert np.allclose(form.lambdify()(q)["M"], M, rtol=1e-11, atol=1e-11)


def test_the_shortened_energy_is_complete_to_second_order():
    bar = link("a", "R", shapes("exact", 2))
    exact, short = (fa.equations(arm(bar), stiffening=model).lambdify() for model in ("exact", "shortening"))
    q, v = state(fa.System(arm(bar), native=False))

    def gap(small):
        scale = np.array([1.0, small, small])
        return abs((scale * v) @ (exact(scale * q)["M"] - short(scale * q)["M"]) @ (scale * v)) / 2

    order = np.log2(gap(0.2) / gap(0.1))
    assert order > 2.9


def test_the_mass_matrix_of_an_exact_link_is_definite_however_far_it_bends():
    bar = link("a", "R", shapes("exact", 2), payload=LUMP)
    at, system = fa.equations(arm(bar), stiffening="robot").lambdify(), fa.System(arm(bar), native=False)
    for seed in range(20):
        q, v = state(system, seed)
        q[1:] *= 40  # twice its length
        assert np.linalg.eigvalsh(at(q, v)["M"]).min() > 0


@pytest.mark.parametrize("model", MODELS)
def test_rate_of_mass_matrix_less_twice_coriolis_is_skew(model):
    form = fa.equations(arm(link("a", "R", shapes(model, 2))), stiffening=model)
    rate = sympy.zeros(*form.M.shape)
    for q, v in zip(form.q, form.v, strict=True):
        rate += form.M.diff(q) * v
    values = form.values | {str(each): 0.1 + 0.2 * k for k, each in enumerate([*form.q, *form.v])}
    skew = np.array((rate - 2 * form.C).subs(values), dtype=float)
    assert np.abs(skew + skew.T).max() < 1e-12 * np.abs(skew).max()


@pytest.mark.parametrize("model", MODELS)
def test_position_vectors_lead_to_points_of_the_axis(model):
    robot = arm(link("a", "R", shapes(model, 2)), link("b", "R", shapes(model), 0.7))
    form, system = fa.equations(robot, stiffening="robot", parameters="numeric"), fa.System(robot, native=False)
    q, _ = state(system)
    at = form.values | {str(symbol): value for symbol, value in zip(form.q, q, strict=True)}
    for name, r, length in zip("ab", form.r, (1.0, 0.7), strict=True):
        for share in (0.4, 1.0):
            own = np.array(r[0].subs({"x": share * length} | at), dtype=float)[:3, 0]
            assert np.allclose(own, system.frame(name, share * length, q)[:3, 3], atol=1e-12)


# --- generated code and documents ---


@pytest.mark.parametrize("model", MODELS)
def test_lengths_can_be_changed_in_a_derived_form(model):
    def at(length):
        bare = shapes(model, 1, fa.Modes(tip_mass=0.0, tip_inertia=0.0), stretch=1)
        return fa.equations(arm(link("a", "R", bare, length, payload=LUMP)), stiffening=model)

    one, other = at(1.0), at(1.4)
    q, v = np.random.default_rng(2).uniform(0.01, 0.05, (2, 3))
    changed, fresh = one.lambdify()(q, v, **other.values), other.lambdify()(q, v)
    for name in fresh:
        assert np.abs(changed[name] - fresh[name]).max() < 1e-9 * np.abs(fresh[name]).max(), name


@pytest.mark.parametrize("model", MODELS)
def test_both_routes(model):
    robot = arm(link("a", "R", shapes(model)), link("b", "R", shapes(model), payload=LUMP))
    q, v = state(fa.System(robot, native=False))
    one = fa.equations(robot, stiffening=model).lambdify()(q, v)
    two = fa.equations(robot, stiffening=model, route="global").lambdify()(q, v)
    for name in one:
        assert np.allclose(one[name], two[name], rtol=1e-12, atol=1e-12 * np.abs(one[name]).max())


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("model", MODELS)
def test_generated_c(model, tmp_path):
    compiled(fa.equations(arm(link("a", "R", shapes(model), payload=LUMP)), stiffening=model), tmp_path)


def test_latex():
    bar = link("a", "R", shapes("exact"), payload=LUMP)
    pages = {model: fa.equations(arm(bar), stiffening=model).latex() for model in MODELS}
    assert "\\chi_{1(3)} ={}&" in pages["exact"]
    assert "\\sigma_{1} ={}&" in pages["shortening"]
    for model, page in pages.items():
        assert "xf_{1,2} ={}&" in page
        assert "an index after a comma: derivative by that entry" in page
        assert f"(stiffening '{model}')" in page
        assert page.count("{") == page.count("}")


def test_one_link_with_one_shape_stays_readable():
    """The whole of its C; without stiffening the sign of the first term is the other one."""
    form = fa.equations(arm(link("a", "R", shapes("shortening"))), stiffening="robot", parameters="numeric")
    eta, theta_dot, eta_dot = sympy.symbols("eta_1_1 theta_1_dot eta_1_1_dot")
    C = form.C.applyfunc(lambda entry: sympy.expand(entry).n(3))
    assert C[1, 0] == (sympy.Float(0.193336, 6) * eta * theta_dot).n(3)
    assert C[0, 0] == -(sympy.Float(0.193336, 6) * eta * eta_dot).n(3)
    assert C[1, 1] == 0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("counts", [(1,), (4,), (1, 1), (2, 2)], ids=str)
def test_the_estimated_size_is_right_within_a_factor_of_four(model, counts):
    robot = arm(*(link(f"l{k}", "R", shapes(model, count)) for k, count in enumerate(counts)))
    assert 0.25 < size_ratio(robot, stiffening=model) < 4


# --- options and errors ---


def refusal(robot, **options):
    with pytest.raises((ValueError, TypeError)) as caught:
        fa.equations(robot, **options)
    return str(caught.value)


def test_the_simulated_model_is_the_default():
    robot = arm(link("a", "R", fa.Flexible(bend_y=1)))
    bent = fa.Flexible(bend_y=1, bend_z=1)
    in_space = fa.Robot(links=[link("a", "R", bent), link("b", "R", joint=fa.Revolute("y"))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in (robot, in_space):
            default = fa.equations(each)
            assert default.text() == fa.equations(each, stiffening="robot").text()
            assert default.text() != fa.equations(each, stiffening="none").text()
        fa.equations(robot.rigid(), stiffening="exact")


def test_the_default_is_of_zero_order_with_a_warning_where_the_simulated_model_has_no_closed_form():
    hinge, second = link("b", "R", joint=fa.Revolute("y")), "stiffening='shortening' derives second-order links"
    exact_in_space = fa.Robot(links=[link("a", "R", fa.Flexible(bend_y=1, bend_z=1, stiffening="exact")), hinge])
    tilting = fa.Robot(links=[link("a", "R", shapes("shortening", 1), rotary_inertia=True), hinge])
    sliding = arm(link("a", "Pb", fa.Flexible(bend_y=1, stiffening="exact")))
    mesh = arm(link("a", "R", shapes("shortening", 1, "elements")))
    for robot, options, why, has_second in (
        (exact_in_space, {}, "only if it bends in one plane or twists, but has bend_y and bend_z", True),
        (tilting, {}, "'shortening' has a closed form in space only without rotary_inertia", False),
        (sliding, {}, "'exact' has a closed form only where a link does not slide through its joint", True),
        (mesh, {"boundary": "kept"}, "boundary = 'kept' has a closed form for stiffening 'none' only", False),
    ):
        with pytest.warns(fa.ValidityWarning, match="zero-order model") as caught:
            default = fa.equations(robot, **options)
        message = str(caught[0].message)
        assert why in message
        assert (second in message) == has_second
        assert caught[0].filename == __file__
        assert default.text() == fa.equations(robot, stiffening="none", **options).text()
        if not options:
            assert why in refusal(robot, stiffening="robot")


def test_a_form_that_is_too_large_hints_at_the_zero_order_model():
    robot = arm(link("a", "R", fa.Flexible(bend_y=2)))
    assert "stiffening='none', the zero-order model, is smaller" in refusal(robot, limit=1)
    assert "zero-order" not in refusal(robot, limit=1, stiffening="none")


@pytest.mark.parametrize("wrong", ["full", "auto", "", 3, ["none"]])
def test_models_that_do_not_exist(wrong):
    sentence = refusal(arm(link("a", "R", shapes("none"))), stiffening=wrong)
    assert sentence.startswith("stiffening = ")
    assert sentence.endswith("must be one of 'none', 'shortening', 'exact', 'robot'")


def test_exact_links_that_bend_in_two_planes():
    bent = fa.Flexible(bend_y=1, bend_z=1, stiffening="exact")
    robot = fa.Robot(links=[link("a", "R", bent), link("b", "R", joint=fa.Revolute("y"))])
    for model in ("robot", "exact"):
        sentence = refusal(robot, stiffening=model)
        assert sentence.startswith("links[0] 'a': stiffening 'exact' has a closed form only if it bends in one plane")
        assert sentence.endswith("fa.equations(..., stiffening='none') is the papers' zero-order model")


def test_exact_links_that_slide_through_their_joint():
    sentence = refusal(arm(link("a", "Pb", shapes("exact"))), stiffening="robot")
    assert "stiffening 'exact' has a closed form only where a link does not slide through its joint" in sentence


def test_exact_meshes_with_a_free_root():
    held = (fa.PointSupport("a", (0, 0, 0)), fa.PointSupport("a", (1, 0, 0)))
    robot = fa.Robot(links=[link("a", "R", shapes("none", 2, fa.Elements(root="free")))], constraints=held)
    assert "only where its shapes hold its root (see basis.root)" in refusal(robot, stiffening="exact")


def test_nodal_contacts_are_of_zero_order():
    touching = fa.SlidingPrismatic(contact="nodal")
    robot = arm(link("a", "R", shapes("none", 3, "elements")), link("b", "Pa", joint=touching))
    assert "closed form without contact nodal or element (see link 'b')" in refusal(
        robot, stiffening="shortening", k={"b": 1}
    )
    through = arm(link("a", "Pb", shapes("none", 3, "elements"), joint=fa.FixedPrismatic(contact="nodal")))
    assert "has a closed form without contact nodal;" in refusal(through, stiffening="shortening", k={"a": 1})


def test_other_options_of_stiffened_links():
    robot = arm(link("a", "R", shapes("shortening", 1, "elements")))
    assert "and stiffening = 'none'" in refusal(robot, stiffening="robot", boundary="kept")
    for name in ("chi_1_1", "sigma_1", "dxf_1_2", "H_2_1", "xf_1", "ddkz_1_1_2_2"):
        assert "the generated functions use that name" in refusal(robot, stiffening="robot", rename={"m_1": name})
