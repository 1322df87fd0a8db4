import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.beam import bases
from flexarm.beam.bases import lowest_modes
from flexarm.beam.integrals import LinkIntegrals
from tests.helpers import table, unit_link

CLAMPED_FREE = np.array(
    [float(row["betaL"]) for row in table("beam_frequencies.csv") if row["support"] == "clamped-free"]
)
FIXED_ROD = (np.arange(1, 6) - 0.5) * np.pi


def integrals(**flexible) -> LinkIntegrals:
    return LinkIntegrals(unit_link(flexible=fa.Flexible(**flexible)))


def frequencies(link: LinkIntegrals, count: int = 5) -> np.ndarray:
    return lowest_modes(link.M_elastic, link.K, count)[0]


# --- elements ---


@pytest.mark.parametrize("count", [1, 2, 5])
def test_element_matrices_are_eq_13_and_27_of_my_et_al(count):
    m, EI, length = 0.942, 1.8, 0.8
    h = length / count
    mass = np.array(
        [
            [156, 22 * h, 54, -13 * h],
            [22 * h, 4 * h**2, 13 * h, -3 * h**2],
            [54, 13 * h, 156, -22 * h],
            [-13 * h, -3 * h**2, -22 * h, 4 * h**2],
        ]
    )
    stiffness = np.array(
        [
            [12, 6 * h, -12, 6 * h],
            [6 * h, 4 * h**2, -6 * h, 2 * h**2],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, 2 * h**2, -6 * h, 4 * h**2],
        ]
    )
    M, K = np.zeros((2, 2 * count + 2, 2 * count + 2))
    for j in range(count):
        place = slice(2 * j, 2 * j + 4)
        M[place, place] += m * h / 420 * mass
        K[place, place] += EI / h**3 * stiffness
    link = LinkIntegrals(
        fa.Link(
            "link",
            length=length,
            section=fa.Section.properties(A=1.2e-4, I_y=9e-11, I_z=9e-11),
            material=fa.Material(E=2e10, rho=7850),
            flexible=fa.Flexible(bend_y=count, basis="elements"),
        )
    )
    assert_allclose(link.M_elastic, M[2:, 2:], rtol=1e-12, atol=1e-14)  # the root is clamped
    assert_allclose(link.K, K[2:, 2:], rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize(
    ("family", "basis", "exact", "order"),
    [
        ("bend_y", "elements", CLAMPED_FREE[:3] ** 2, 4),
        ("bend_z", "elements", CLAMPED_FREE[:3] ** 2, 4),
        ("stretch", "elements", FIXED_ROD[:3], 2),
        ("twist", "elements", FIXED_ROD[:3], 2),
        ("twist", fa.Elements(order=2), FIXED_ROD[:3], 4),
    ],
)
def test_frequencies_of_elements_converge_at_their_order(family, basis, exact, order):
    errors = [frequencies(integrals(**{family: count}, basis=basis), 3) / exact - 1 for count in (8, 16, 32)]
    rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert_allclose(rates, order, atol=0.25)


def test_nodal_coordinates_are_deflection_and_slope_at_the_nodes():
    link = integrals(bend_y=3, basis="elements")
    nodes = np.array([1, 2, 3]) / 3
    assert_allclose(link.displacement(nodes)[:, 1, 0::2], np.eye(3), atol=1e-14)
    assert_allclose(link.displacement(nodes)[:, 1, 1::2], 0, atol=1e-14)
    assert_allclose(link.rotation(nodes[:-1])[:, 2, 1::2], np.eye(3)[:2], atol=1e-13)


# --- modes ---


def test_ten_modes_have_the_exact_frequencies_to_ten_digits_and_unit_mass():
    link = integrals(bend_y=10)
    assert_allclose(np.sqrt(np.diag(link.K)), CLAMPED_FREE**2, rtol=1e-10)
    assert_allclose(link.M_elastic, np.eye(10), atol=1e-12)
    assert np.count_nonzero(link.K) == np.count_nonzero(link.M_elastic) == 10  # and exact zeros elsewhere


def test_modes_are_the_analytic_eigenfunctions():
    x = np.linspace(0, 1, 41)
    shapes = integrals(bend_y=4).displacement(x)[:, 1]
    for mode, beta in enumerate(CLAMPED_FREE[:4]):
        sigma = (np.cosh(beta) + np.cos(beta)) / (np.sinh(beta) + np.sin(beta))
        exact = np.cosh(beta * x) - np.cos(beta * x) - sigma * (np.sinh(beta * x) - np.sin(beta * x))
        assert_allclose(shapes[:, mode], exact * np.sign(exact[-1]), atol=1e-9)


@pytest.mark.parametrize("family", ["stretch", "twist"])
def test_rod_modes_are_sines(family):
    link = integrals(**{family: 5})
    assert_allclose(np.sqrt(np.diag(link.K)), FIXED_ROD, rtol=1e-12)


def test_modes_with_a_tip_mass_have_its_frequencies():
    for row in table("clamped_tip_mass.csv"):
        mass, inertia = float(row["Mp/(mL)"]), float(row["Jp/(mL^3)"])
        exact = np.array([float(row[f"betaL_{k}"]) for k in range(1, 6)])
        link = integrals(bend_y=5, basis=fa.Modes(tip_mass=mass, tip_inertia=inertia))
        tip = link.station(1.0)
        lump = mass * np.outer(tip.U[1], tip.U[1]) + inertia * np.outer(tip.W[2], tip.W[2])
        assert_allclose(lowest_modes(link.M_elastic + lump, link.K, 5)[0], exact**2, rtol=1e-8)


@pytest.mark.parametrize("family", ["bend_y", "bend_z", "twist", "stretch"])
def test_shapes_are_clamped_at_the_root(family):
    for basis in ("modes", "elements", fa.Reduced(4), fa.Reduced(4, interface="fixed")):
        link = integrals(**{family: 3}, basis=basis)
        root = link.station(0.0)
        assert_allclose(root.U, 0, atol=1e-12)
        assert_allclose(root.W, 0, atol=1e-11)


@pytest.mark.parametrize("family", ["bend_y", "twist", "stretch"])
@pytest.mark.parametrize("count", [1, 4])
def test_modes_of_uniform_links_are_those_of_the_general_way(family, count):
    """A tip mass of next to nothing asks for an eigenproblem of its own."""
    fields = {"length": 0.7, "section": fa.Section.rectangle(0.02, 0.03), "material": fa.Material(7e10, 2700)}
    tip = fa.Modes(tip_mass=1e-200, tip_inertia=1e-200)
    x = np.linspace(0, 0.7, 11)
    shared, own = (
        LinkIntegrals(fa.Link("link", flexible=fa.Flexible(**{family: count}, basis=basis), **fields)).shapes[family]
        for basis in ("modes", tip)
    )
    assert_allclose(shared(x), own(x), atol=1e-11)


def test_shared_arrays_are_read_only():
    first = integrals(bend_y=2)
    before = integrals(bend_y=2).K
    first.shapes["bend_y"].coefficients[:] = 0.0
    assert_allclose(integrals(bend_y=2).K, before)
    with pytest.raises(ValueError, match="read-only"):
        bases._unit_modes(2, 2, 16, ())[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        bases._clamped_coefficients((0.0, 1.0), 2, 16)[0] = 0.0


# --- reduced ---


def test_reduced_modes_are_the_first_modes_of_the_mesh():
    mesh = frequencies(integrals(bend_y=12, basis="elements"), 4)
    assert_allclose(frequencies(integrals(bend_y=4, basis=fa.Reduced(12)), 4), mesh, rtol=1e-9)
    assert_allclose(frequencies(integrals(bend_y=1, basis=fa.Reduced(12, modes=4)), 4), mesh, rtol=1e-9)


def test_craig_bampton_is_exact_in_statics_and_converges_to_the_mesh():
    link = integrals(bend_y=1, basis=fa.Reduced(12, modes=1, interface="fixed"))
    force = np.array([1.0, 0.0, 0.0])  # at the tip's deflection, which is the first coordinate
    assert_allclose(np.linalg.solve(link.K, force)[:2], [1 / 3, 1 / 2], rtol=1e-9)  # F L^3/3EI, F L^2/2EI
    mesh = frequencies(integrals(bend_y=12, basis="elements"), 3)
    errors = [
        np.abs(frequencies(integrals(bend_y=1, basis=fa.Reduced(12, modes=k, interface="fixed")), 3) / mesh - 1).max()
        for k in (2, 6, 22)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-7  # all modes of the inner nodes: nothing is left out


@pytest.mark.parametrize("family", ["bend_y", "stretch"])
def test_modes_with_the_tip_held_have_a_sign_that_small_changes_keep(family):
    order, first = (2, 2) if family == "bend_y" else (1, 1)
    for length in np.linspace(0.9, 1.1, 9):
        link = unit_link(length=length, flexible=fa.Flexible(**{family: 5}, basis=fa.Reduced(12, interface="fixed")))
        strain = LinkIntegrals(link).shapes[family].derivative(order)(0.0)[0]
        assert (strain[first:] > 0).all()


# --- products over quadrature points ---


@pytest.mark.parametrize("width", [1, 3, 200])
def test_products_part_by_part_are_the_products(width):
    """Return functions that are nonzero on `width` points, ordered or not, some zero everywhere."""
    random = np.random.default_rng(width)
    values, weights = np.zeros((2, 170, 90)), random.normal(size=170)
    for side in range(2):
        for column in range(80):
            start = random.integers(0, 170)
            values[side, start : start + width, column] = random.normal(size=min(width, 170 - start))
    left, right = values
    assert bases.MAX_DENSE_FUNCTIONS < 90
    assert_allclose(bases.weighted_product(weights, left, right), (left.T * weights) @ right, atol=1e-12)
    assert_allclose(bases.weighted_product(weights, left), (left.T * weights) @ left, atol=1e-12)


# --- sections that vary ---


def tapered(tip: float, **flexible) -> fa.Link:
    section = fa.Section.tapered(fa.Section.rectangle(0.01, 0.02), fa.Section.rectangle(0.01 * tip, 0.02))
    return fa.Link("link", 1.0, section=section, material=fa.Material(7e10, 2700), flexible=fa.Flexible(**flexible))


def test_a_wedge_has_kirchhoffs_frequencies():
    """Kirchhoff's cantilever wedge, ending in an edge: 5.315, 15.21, 30.02 (Leissa, after Kirchhoff 1882)."""
    link = LinkIntegrals(tapered(1e-4, bend_y=4))
    scale = np.sqrt(7e10 * 0.01**2 / 12 / 2700)
    assert_allclose(np.sqrt(np.diag(link.K))[:3] / scale, [5.315, 15.21, 30.02], rtol=1e-3)


@pytest.mark.parametrize("family", ["bend_y", "bend_z", "twist", "stretch"])
def test_modes_and_elements_of_a_tapered_link_agree(family):
    modes = frequencies(LinkIntegrals(tapered(0.4, **{family: 3})), 3)
    count = 64 if "bend" in family else 500
    elements = frequencies(LinkIntegrals(tapered(0.4, **{family: count}, basis="elements")), 3)
    assert_allclose(elements, modes, rtol=1e-4 if "bend" in family else 2e-5)


def test_modes_of_a_stepped_link_converge_like_those_of_a_smooth_one():
    thick, thin = fa.Section.rectangle(0.02, 0.02), fa.Section.rectangle(0.01, 0.02)
    section = fa.Section.stepped([{"upto": 0.25, "section": thick}, {"upto": 1.0, "section": thin}])
    link = fa.Link("link", 1.0, section=section, material=fa.Material(7e10, 2700), flexible=fa.Flexible(bend_y=3))
    mesh = link.model_copy(update={"flexible": fa.Flexible(bend_y=64, basis="elements")})
    exact = frequencies(LinkIntegrals(mesh), 3)
    assert_allclose(frequencies(LinkIntegrals(link), 3), exact, rtol=2e-6)


@pytest.mark.parametrize("count", [2, 5, 6, 7])
def test_meshes_put_a_node_at_every_step(count):
    thick, thin = fa.Section.circle(0.02), fa.Section.circle(0.01)
    section = fa.Section.stepped([{"upto": 0.4, "section": thick}, {"upto": 1.0, "section": thin}])
    fields = {"section": section, "material": fa.Material(7e10, 2700), "length": 1.0}
    link = LinkIntegrals(fa.Link("link", flexible=fa.Flexible(bend_y=count, basis="elements"), **fields))
    nodes = link.shapes["bend_y"].breaks
    assert len(nodes) == count + 1
    assert 0.4 in nodes
    exact = frequencies(LinkIntegrals(fa.Link("link", flexible=fa.Flexible(bend_y=8), **fields)), 1)
    assert frequencies(link, 1) == pytest.approx(exact, rel={2: 5e-3}.get(count, 2e-4))


def test_all_modes_are_accurate_at_both_ends():
    """A stiff mesh on a soft spring: the lowest mode and the highest differ by 1e11 in omega^2."""
    from scipy.linalg import eigh

    from flexarm.beam.bases import all_modes

    n = 40
    chain = np.diag([2.0] * (n - 1) + [1.0]) - np.diag([1.0] * (n - 1), 1) - np.diag([1.0] * (n - 1), -1)
    K, M = 1e12 * chain, np.eye(n)
    K[0, 0] = 1e12 + 1e3
    squares, vectors = all_modes(M, K)
    assert squares[0] == pytest.approx(1e3 / n, rel=1e-5)  # the chain on its spring, as one body
    assert_allclose(squares[n // 2 :], eigh(K, M, eigvals_only=True)[n // 2 :], rtol=1e-10)
    assert_allclose(vectors.T @ M @ vectors, np.eye(n), atol=1e-6)


def test_rotary_inertia_lowers_the_frequencies_as_rayleighs_beam():
    """Rayleigh's first-order estimate: omega falls by 1/2 (r/L)^2 int (w')^2 / int w^2."""
    fields = {
        "length": 1.0,
        "section": fa.Section.rectangle(0.02, 0.02),
        "material": fa.Material(7e10, 2700),
        "flexible": fa.Flexible(bend_y=6),
    }
    slender = LinkIntegrals(fa.Link("link", **fields))
    rayleigh = LinkIntegrals(fa.Link("link", rotary_inertia=True, **fields))
    x, weights = slender.grid.x, slender.grid.weights
    slopes = slender.rotation(x)[:, 2, 0] / slender.displacement(np.array([1.0]))[0, 1, 0]
    values = slender.displacement(x)[:, 1, 0] / slender.displacement(np.array([1.0]))[0, 1, 0]
    drop = 0.5 * 0.02**2 / 12 * (weights @ slopes**2) / (weights @ values**2)
    measured = 1 - frequencies(rayleigh, 1)[0] / frequencies(slender, 1)[0]
    assert measured == pytest.approx(drop, rel=1e-2)
