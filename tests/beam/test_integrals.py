"""Every integral of theory section 3 against dense quadrature of its definition."""

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
            flexible=fa.Flexible(bend_y=2, bend_z=3, twist=2, stretch=1, basis=basis),
            rotary_inertia=True,
        )
    )


@pytest.fixture(params=[(s, b) for s in SECTIONS for b in ("modes", "elements")], ids=lambda p: "-".join(p))
def case(request):
    """A link and a dense midpoint rule that knows where its pieces end."""
    section, basis = request.param
    link = make(section, basis)
    cells = 24_000  # a multiple of every number of pieces, so no cell straddles a break
    x = (np.arange(cells) + 0.5) * link.length / cells
    properties = [link.link.section.at(value) for value in x[:: cells // 6000] / link.length]
    area = np.repeat([p.A for p in properties], cells // 6000)
    moments = {name: np.repeat([getattr(p, name) for p in properties], cells // 6000) for name in ("I_p", "I_y", "I_z")}
    return link, x, 2700 * area * link.length / cells, {k: 2700 * v * link.length / cells for k, v in moments.items()}


def test_moments(case):
    link, x, mass, _ = case
    N = link.displacement(x)
    assert_allclose([link.m, link.c0, link.g0], [mass.sum(), mass @ x, mass @ x**2], rtol=3e-4)
    for name, found, expected in (
        ("a", link.a, np.einsum("g,gin->in", mass, N)),
        ("b", link.b, np.einsum("g,gin->in", mass * x, N)),
        ("vw", link.M["vw"], np.einsum("g,gi,gj->ij", mass, N[:, 1], N[:, 2])),
        ("uv", link.M["uv"], np.einsum("g,gi,gj->ij", mass, N[:, 0], N[:, 1])),
        ("ww", link.M["ww"], np.einsum("g,gi,gj->ij", mass, N[:, 2], N[:, 2])),
    ):
        assert_allclose(found, expected, rtol=1e-3, atol=3e-4 * np.abs(expected).max(), err_msg=name)


def test_turning_sections(case):
    link, x, _, moments = case
    W = link.rotation(x)
    inertia = np.stack([moments["I_p"], moments["I_y"], moments["I_z"]], axis=1)
    assert_allclose(link.section_inertia, inertia.sum(axis=0), rtol=3e-4)
    expected = np.einsum("gi,gin->in", inertia, W)
    assert_allclose(link.j, expected, rtol=1e-3, atol=3e-4 * np.abs(expected).max())
    translation = link.M["uu"] + link.M["vv"] + link.M["ww"]
    turning = np.einsum("gi,gim,gin->mn", inertia, W, W)
    assert_allclose(link.M_elastic - translation, turning, rtol=1e-3, atol=1e-3 * np.abs(turning).max())


def test_shortening(case):
    link, x, mass, _ = case
    slopes = link.rotation(x)[:, 1:]
    growth = np.einsum("gim,gin->gmn", slopes, slopes) * (x[1] - x[0])
    H = np.cumsum(growth, axis=0) - growth / 2
    for found, expected in (
        (link.H0, np.einsum("g,gmn->mn", mass, H)),
        (link.H1, np.einsum("g,gmn->mn", mass * x, H)),
        (link.station(link.length).H, growth.sum(axis=0)),
        (link.station(0.3).H, growth[x < 0.3].sum(axis=0)),
        (link.shortening(0.1, 0.3), growth[(x > 0.1) & (x < 0.3)].sum(axis=0)),
    ):
        assert_allclose(found, expected, rtol=1e-3, atol=3e-4 * np.abs(expected).max())


@pytest.mark.parametrize("basis", ["modes", "elements"])
def test_uniform_link_has_textbook_moments(basis):
    link = make("uniform", basis)
    m = 2700 * 0.02 * 0.03 * 0.8
    assert_allclose([link.m, link.c0, link.g0], [m, m * 0.4, m * 0.8**2 / 3], rtol=1e-14)
    I_y, I_z = 0.02 * 0.03**3 / 12, 0.03 * 0.02**3 / 12
    assert_allclose(link.section_inertia, 2700 * 0.8 * np.array([I_y + I_z, I_y, I_z]), rtol=1e-13)


def test_hermite_shortening_matrix_is_the_geometric_stiffness_of_textbooks():
    """int N'^T N' of one cubic element of length h: rows of 1/(30 h) [36, -3 h; -3 h, 4 h^2] at its free end."""
    h = 0.8
    link = LinkIntegrals(unit_link(length=h, flexible=fa.Flexible(bend_y=1, basis="elements")))
    assert_allclose(link.station(h).H, np.array([[36, -3 * h], [-3 * h, 4 * h**2]]) / (30 * h), rtol=1e-13)


def test_zero_order_model_has_no_shortening():
    link = LinkIntegrals(unit_link(flexible=fa.Flexible(bend_y=3, stiffening="none")))
    assert not link.H0.any()
    assert not link.H1.any()
    assert not link.station(1.0).H.any()


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
    expected = 2 * np.sqrt(squares) * np.array([*given, *[0.0] * (len(squares) - 3)])
    assert_allclose(modal, np.diag(expected), atol=1e-6 * expected.max())
