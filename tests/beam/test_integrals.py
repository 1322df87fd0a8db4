"""Every integral of theory section 3 against quadrature of its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.beam.integrals import LinkIntegrals
from tests.helpers import table, unit_link

SECTIONS = {
    "uniform": fa.Section.rectangle(0.02, 0.03),
    "tapered": fa.Section.tapered(fa.Section.rectangle(0.02, 0.03), fa.Section.rectangle(0.01, 0.02)),
    "stepped": fa.Section.stepped(
        [
            {"upto": 0.4, "section": fa.Section.rectangle(0.02, 0.03)},
            {"upto": 1.0, "section": fa.Section.rectangle(0.01, 0.03)},
        ]
    ),
}


def make(section: str, basis: object) -> LinkIntegrals:
    return LinkIntegrals(
        fa.Link(
            "link",
            length=0.8,
            section=SECTIONS[section],
            material=fa.Material(7e10, 2700),
            flexible=fa.Flexible(bend_y=2, bend_z=3, twist=2, stretch=2, basis=basis),
            rotary_inertia=True,
        )
    )


def rule(link: LinkIntegrals, end: float) -> tuple[np.ndarray, np.ndarray]:
    """40-point Gauss quadrature of [0, end] on every piece of the link: an order of its own, beyond any integrand."""
    breaks = np.concatenate([space.breaks for space in link.shapes.values()] + [[0.4 * link.length]])
    ends = np.unique(np.append(breaks[breaks < end], end))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = np.diff(ends)[:, None] / 2
    return ((ends[:-1] + ends[1:])[:, None] / 2 + half * nodes).ravel(), (half * weights).ravel()


@pytest.fixture(params=[(s, b) for s in SECTIONS for b in ("modes", "elements")], ids=lambda p: "-".join(p))
def case(request):
    link = make(*request.param)
    x, weights = rule(link, link.length)
    properties = [link.link.section.at(value) for value in x / link.length]
    mass = 2700 * weights * [p.A for p in properties]
    inertia = 2700 * weights[:, None] * np.array([[p.I_p, p.I_y, p.I_z] for p in properties])
    return link, x, mass, inertia


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert_allclose(found, expected, rtol=1e-10, atol=2e-11 * np.abs(expected).max())


def test_moments(case):
    link, x, mass, _ = case
    N = link.displacement(x)
    same(np.array([link.m, link.c0, link.g0]), np.array([mass.sum(), mass @ x, mass @ x**2]))
    same(link.a, np.einsum("g,gin->in", mass, N))
    same(link.b, np.einsum("g,gin->in", mass * x, N))
    for name in ("uu", "uv", "uw", "vv", "vw", "ww"):
        left, right = ("uvw".index(letter) for letter in name)
        same(link.M[name], np.einsum("g,gi,gj->ij", mass, N[:, left], N[:, right]))


def test_turning_sections(case):
    link, x, _, inertia = case
    W = link.rotation(x)
    same(link.section_inertia, inertia.sum(axis=0))
    same(link.j, np.einsum("gi,gin->in", inertia, W))
    translation = link.M["uu"] + link.M["vv"] + link.M["ww"]
    same(link.M_elastic, translation + np.einsum("gi,gim,gin->mn", inertia, W, W))


def test_turning_sections_of_a_taper_whose_mass_is_given():
    """The mass is spread evenly, so the inertia of the sections goes like I/A, which is no polynomial."""
    section = fa.Section.tapered(fa.Section.box(0.09, 0.06, 0.001), fa.Section.box(0.02, 0.02, 0.009))
    link = LinkIntegrals(make("tapered", "elements").link.model_copy(update={"mass": 2.0, "section": section}))
    x, weights = rule(link, link.length)
    about = [link.link.polar_inertia_per_length, link.link.inertia_y_per_length, link.link.inertia_z_per_length]
    inertia = weights[:, None] * np.array([[each(value) for each in about] for value in x / link.length])
    W = link.rotation(x)
    same(link.section_inertia, inertia.sum(axis=0))
    same(link.j, np.einsum("gi,gin->in", inertia, W))
    translation = link.M["uu"] + link.M["vv"] + link.M["ww"]
    same(link.M_elastic - translation, np.einsum("gi,gim,gin->mn", inertia, W, W))


@pytest.mark.parametrize("basis", ["modes", "elements"])
def test_uniform_link_has_textbook_moments(basis):
    link = make("uniform", basis)
    m = 2700 * 0.02 * 0.03 * 0.8
    assert_allclose([link.m, link.c0, link.g0], [m, m * 0.4, m * 0.8**2 / 3], rtol=1e-14)
    I_y, I_z = 0.02 * 0.03**3 / 12, 0.03 * 0.02**3 / 12
    assert_allclose(link.section_inertia, 2700 * 0.8 * np.array([I_y + I_z, I_y, I_z]), rtol=1e-13)


@pytest.mark.parametrize(
    ("root", "tip"), [((0.05, 0.005), (0.005, 0.005)), ((0.03, 0.001), (0.001, 0.03)), ((0.1, 0.002), (0.001, 0.002))]
)
def test_torsion_constant_of_any_taper_is_met(root, tip):
    """It has a kink in its higher derivatives where the long side becomes the short one."""
    section = fa.Section.tapered(fa.Section.rectangle(*root), fa.Section.rectangle(*tip))
    link = fa.Link("link", 1.0, section=section, material=fa.Material(7e10, 2700, G=1.0), flexible=fa.Flexible(twist=2))
    x = np.linspace(0, 1, 777)
    exact = [section.at(value).J for value in x]
    assert_allclose(LinkIntegrals(link).families["twist"].stiffness(x)[:, 0], exact, rtol=1e-9)
    meshed = link.model_copy(update={"flexible": fa.Flexible(twist=2, basis="elements")})
    assert LinkIntegrals(meshed).count == meshed.flexible.coordinates == 2  # whatever pieces the fit needed


def test_root_shapes_are_exact_zeros():
    """So that what hangs at the root costs no instruction for deflections that are not there."""
    for basis in ("modes", "elements", fa.Reduced(6)):
        root = make("tapered", basis).station(0.0)
        assert not root.U.any()
        assert not root.W.any()


@pytest.mark.parametrize("support", ["clamped-clamped", "clamped-pinned", "free-free", "pinned-free", "pinned-pinned"])
def test_all_supports_follow_from_the_integrals(support):
    """Root supports freed by adding rigid motions (from m, c0, g0, a, b), tip supports by constraints."""
    link = LinkIntegrals(unit_link(flexible=fa.Flexible(bend_y=64, basis="elements")))
    n = link.count
    M, K = np.zeros((2, n + 2, n + 2))
    M[0, 0], M[0, 1], M[1, 1] = link.m, link.c0, link.g0
    M[0, 2:], M[1, 2:] = link.a[1], link.b[1]
    M = np.triu(M) + np.triu(M, 1).T
    M[2:, 2:], K[2:, 2:] = link.M_elastic, link.K
    tip = np.concatenate([[1.0, 1.0], link.station(1.0).U[1]])
    slope = np.concatenate([[0.0, 1.0], link.station(1.0).W[2]])
    root, end = support.split("-")
    rows = {"clamped": np.eye(n + 2)[:2], "pinned": np.eye(n + 2)[:1], "free": np.zeros((0, n + 2))}[root]
    rows = np.vstack([rows, {"clamped": [tip, slope], "pinned": [tip], "free": np.zeros((0, n + 2))}[end]])
    basis = np.linalg.svd(rows)[2][len(rows) :].T if len(rows) else np.eye(n + 2)
    from scipy.linalg import eigh

    squares = eigh(basis.T @ K @ basis, basis.T @ M @ basis, eigvals_only=True)
    exact = [float(row["betaL"]) for row in table("beam_frequencies.csv") if row["support"] == support][:5]
    exact = [value for value in exact if value > 0]
    loose = {"free-free": 2, "pinned-free": 1}.get(support, 0)
    assert_allclose(squares[:loose], 0, atol=1e-2)
    assert_allclose(squares[loose : loose + len(exact)] ** 0.25, exact, rtol=3e-6)


# --- damping ---


def damped(material: float = 0.0, damping: fa.Damping | None = None) -> LinkIntegrals:
    flexible = fa.Flexible(bend_y=3, stretch=2, damping=damping, basis="elements")
    return LinkIntegrals(
        fa.Link(
            "link",
            1.0,
            section=SECTIONS["tapered"],
            material=fa.Material(7e10, 2700, damping=material),
            flexible=flexible,
        )
    )


def test_kelvin_voigt_and_rayleigh_damping():
    link = damped(1e-3)
    assert_allclose(link.D, 1e-3 * link.K)
    link = damped(1e-3, fa.Damping(alpha=0.5, beta=2e-3))
    assert_allclose(link.D, 3e-3 * link.K + 0.5 * link.M_elastic, rtol=1e-12)


def test_modal_damping_gives_each_mode_its_ratio():
    from scipy.linalg import eigh

    given = [0.01, 0.02, 0.05]
    link = damped(damping=fa.Damping(ratio=given))
    squares, vectors = eigh(link.K, link.M_elastic)
    modal = vectors.T @ link.D @ vectors
    expected = 2 * np.sqrt(squares) * np.array([*given, *[0.05] * (len(squares) - 3)])  # the last one holds beyond
    assert_allclose(modal, np.diag(expected), atol=1e-6 * expected.max())
