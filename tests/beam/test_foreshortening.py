"""Displacements and rotations of second order against quadrature of their definitions and against exact links."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS, SecondOrderBlocks, select_functions
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.properties import rotation
from tests.beam.test_integrals import SECTIONS, make, rule, same
from tests.helpers import unit_link
from tests.oracles import exact_link

FAMILIES = {"bend_y": 2, "bend_z": 3, "twist": 2, "stretch": 2}


@pytest.fixture(params=[(s, b) for s in SECTIONS for b in ("modes", "elements")], ids=lambda p: "-".join(p))
def link(request):
    return make(*request.param)


def values(link: LinkIntegrals, name: str, what: str, x: np.ndarray) -> np.ndarray:
    """Return values of a family without shear, from its functions alone."""
    order = {"value": 0, "slope": 1, "rotation": 1, "curvature": 2}[what]
    space = link.shapes[name]
    return space.derivative(order)(x) if order else space(x)


def block(link: LinkIntegrals, product, end: float) -> np.ndarray:
    x, weights = rule(link, end)
    if product.integrated == "twice":
        weights = weights * (end - x)  # int_0^end int_0^s f = int_0^end (end - s) f
    one, other = values(link, product.one, product.quantity, x), values(link, product.other, product.other_quantity, x)
    return product.sign * np.einsum("g,gm,gn->mn", weights, one, other)


@pytest.mark.parametrize("product", [*DISPLACEMENT_PRODUCTS[:6], *ROTATION_PRODUCTS])
def test_blocks_at_places_are_their_definition(link, product):
    forms = SecondOrderBlocks(link)
    for x in (0.1, 0.3, link.length):
        same(forms.at(product, x), block(link, product, x))
    assert not forms.at(product, 0.0).any()


@pytest.mark.parametrize("product", DISPLACEMENT_PRODUCTS[:6])
def test_moments_are_those_of_the_blocks(link, product):
    x, weights = rule(link, link.length)
    mass = 2700 * weights * [link.link.section.at(value).A for value in x / link.length]
    along = np.array([block(link, product, value) for value in x])
    for power in (0, 1):
        same(SecondOrderBlocks(link).moment(product, power), np.einsum("g,gmn->mn", mass * x**power, along))


def test_products_of_families_that_are_there():
    forms = SecondOrderBlocks(make("uniform", "modes"))
    assert [k for k, _ in forms.present(DISPLACEMENT_PRODUCTS)] == [0, 1, 2, 3, 4, 5]  # without shear
    assert [k for k, _ in forms.present(ROTATION_PRODUCTS)] == [0, 1, 2]
    plane = SecondOrderBlocks(
        LinkIntegrals(unit_link(flexible=fa.Flexible(bend_y=3, stretch=1, stiffening="shortening")))
    )
    assert [k for k, _ in plane.present(DISPLACEMENT_PRODUCTS)] == [0, 2]
    assert not plane.present(ROTATION_PRODUCTS)


def test_zero_order_model_has_no_second_order():
    forms = SecondOrderBlocks(
        LinkIntegrals(unit_link(flexible=fa.Flexible(bend_y=3, bend_z=2, twist=1, stiffening="none")))
    )
    assert not forms.present(DISPLACEMENT_PRODUCTS)
    assert not forms.present(ROTATION_PRODUCTS)
    assert not forms.displacement_forms(1.0).any()


def test_hermite_shortening_matrix_is_the_geometric_stiffness_of_textbooks():
    """int N'^T N' of one cubic element of length h: rows of 1/(30 h) [36, -3 h; -3 h, 4 h^2] at its free end."""
    h = 0.8
    link = LinkIntegrals(unit_link(length=h, flexible=fa.Flexible(bend_y=1, basis="elements")))
    expected = np.array([[36, -3 * h], [-3 * h, 4 * h**2]]) / (30 * h)
    assert_allclose(SecondOrderBlocks(link).displacement_forms(h)[0], -expected, rtol=1e-13)


def test_forms_of_displacements_are_symmetric_and_made_of_the_blocks():
    link = make("tapered", "modes")
    forms, eta = SecondOrderBlocks(link), np.random.default_rng(0).normal(size=link.count)
    F = forms.displacement_forms(0.5)
    assert_allclose(F, F.transpose(0, 2, 1), atol=1e-15)
    expected = np.zeros(3)
    for each in DISPLACEMENT_PRODUCTS[:6]:
        one, other = eta[link.columns[each.one]], eta[link.columns[each.other]]
        expected[each.axis] += one @ block(link, each, 0.5) @ other / (2 if each.one == each.other else 1)
    assert_allclose(np.einsum("m,imn,n->i", eta, F, eta) / 2, expected, rtol=1e-10)


def test_links_in_threads_are_what_they_are_alone():
    def moments():
        forms = SecondOrderBlocks(make("tapered", "modes"))
        return [forms.moment(each, 1) for each in DISPLACEMENT_PRODUCTS[:6]]

    alone = moments()
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda _: moments(), range(8)))
    for each in together:
        assert all(np.array_equal(one, other) for one, other in zip(each, alone, strict=True))


# --- against links that are exact ---


def sections_of(link: LinkIntegrals, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axis (points, 3) and angles (points, 3) about x, y, z of a link that bends as far as it likes, by the oracle for
    the rotation; with shear the axis leans against the sections, and keeps its length (Engesser)."""
    spaces = {name: [*range(space.count)] for name, space in link.shapes.items()}
    rates = {name: (rotation(space) if name.startswith("bend") else space) for name, space in link.shapes.items()}
    rates = {name: space.derivative() for name, space in rates.items()}
    listed = {name: [lambda x, n=name, k=k: rates[n](x)[:, k] for k in spaces[name]] for name in spaces}
    found = exact_link.in_space(exact_link.strains_of(listed), eta, link.length, steps=600)
    lean = np.ones((len(found.x), 3))
    for name, axis in (("bend_y", 1), ("bend_z", 2)):
        space = link.shapes[name]
        lean[:, axis] = (space.derivative()(found.x) - rotation(space)(found.x)) @ eta[link.columns[name]]
    lean[:, 0] = np.sqrt(1 - (lean[:, 1:] ** 2).sum(axis=1))
    stretch = link.shapes["stretch"].derivative()(found.x) @ eta[link.columns["stretch"]]
    lean *= 1 + stretch[:, None]
    axis = exact_link._simpson(np.einsum("pij,pj->pi", found.R, lean), found.x[1])
    R = found.R  # = Rz(c) Ry(b) Rx(a)
    angles = [np.arctan2(R[:, 2, 1], R[:, 2, 2]), -np.arcsin(R[:, 2, 0]), np.arctan2(R[:, 1, 0], R[:, 0, 0])]
    return axis, np.stack(angles, axis=1)


@pytest.mark.parametrize("shear", [False, True])
@pytest.mark.parametrize("section", ["uniform", "tapered"])
def test_displacements_and_angles_are_those_of_an_exact_link_to_second_order(section, shear):
    """The part even in the amplitude, by differences of the exact sections; odd, the shapes themselves."""
    given = make(section, "modes").link
    flexible = fa.Flexible(**FAMILIES, shear=shear, stiffening="shortening")
    link = LinkIntegrals(given.model_copy(update={"flexible": flexible, "length": 0.4 if shear else 0.8}))
    forms, small = SecondOrderBlocks(link), 2e-3
    eta = np.random.default_rng(5).uniform(-1, 1, link.count) * link.sizes
    if shear:
        assert [k for k, _ in forms.present(DISPLACEMENT_PRODUCTS)] == [*range(8)]
    one, other, none = (sections_of(link, size * eta) for size in (small, -small, 0.0))
    for step in (150, 300, 600):
        x = link.length * step / 600
        for found, forms_there, linear, unit in (
            (0, forms.displacement_forms(x), link.displacement(np.array([x]))[0], link.length),
            (1, turned(link, x), link.rotation(np.array([x]))[0], 1.0),
        ):
            even = (one[found][step] + other[found][step] - 2 * none[found][step]) / small**2
            odd = (one[found][step] - other[found][step]) / (2 * small)
            assert_allclose(odd, linear @ eta, atol=1e-4 * unit)
            assert_allclose(even, np.einsum("m,imn,n->i", eta, forms_there, eta), atol=1e-3 * unit)


def turned(link: LinkIntegrals, x: float) -> np.ndarray:
    """(3, n, n): forms of the angles."""
    out = np.zeros((3, link.count, link.count))
    for _, each in SecondOrderBlocks(link).present(ROTATION_PRODUCTS):
        found = SecondOrderBlocks(link).at(each, x)
        out[each.axis, link.columns[each.one], link.columns[each.other]] += found
        out[each.axis, link.columns[each.other], link.columns[each.one]] += found.T
    return out


def test_what_is_meant_of_a_family():
    plain = make("uniform", "modes").shapes["bend_y"]
    x = np.linspace(0, 0.8, 7)
    assert_allclose(select_functions(plain, "value")(x), plain(x))
    assert_allclose(select_functions(plain, "rotation")(x), plain.derivative()(x))
    assert_allclose(select_functions(plain, "curvature")(x), plain.derivative(2)(x), atol=1e-9)
    assert not select_functions(plain, "shear")(x).any()
