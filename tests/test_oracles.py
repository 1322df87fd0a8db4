"""Oracles against answers in closed form and published ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.oracles import (
    absolute_coordinates,
    beam_on_hub,
    buckling,
    elastica,
    exact_link,
    rod,
    shortened_links,
    timoshenko,
    transformation_matrices,
)

# --- Timoshenko's beam ---


def test_slender_beams_vibrate_as_eulers():
    found = np.sqrt(timoshenko.clamped_free(1.0, 1.0, 1e12, 1.0, 4))
    assert_allclose(found, [1.875104068711961, 4.694091132974175, 7.854757438237613, 10.995540734875467], rtol=1e-9)


# --- a beam on a hub ---


def test_a_heavy_hub_holds_a_beam_as_a_clamp_does_and_a_light_one_as_a_hinge():
    clamped = beam_on_hub.collocated_zeros()
    assert_allclose(np.sqrt(clamped[:3]), [1.875104068711961, 4.694091132974175, 7.854757438237613], rtol=1e-12)
    assert_allclose(beam_on_hub.poles(1e9), clamped, rtol=1e-8)
    assert_allclose(np.sqrt(beam_on_hub.poles(0.0)[:2]), [3.926602312047919, 7.068582745628732], rtol=1e-9)
    assert_allclose(np.sqrt(beam_on_hub.tip_zeros()[0] / 2), 2.365020372431352, rtol=1e-9)  # tan a = -tanh a


# --- elastica ---


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        (1, (0.943567, 0.301721)),
        (2, (0.839358, 0.493457)),
        (5, (0.612372, 0.713792)),
        (10, (0.445004, 0.810609)),
    ],
)
def test_the_elastica_under_a_force_at_its_tip(load, expected):
    assert_allclose(elastica.tip((0, load))[:2], expected, atol=6e-7)


def test_the_elastica_in_closed_form():
    """A force across the beam: sqrt(P / EI) L = K(k) - F(phi, k), sin(phi) = 1 / (k sqrt 2), 2 k^2 = 1 + sin(angle)."""
    from scipy.special import ellipeinc, ellipkinc

    x, y, angle = elastica.tip((0.0, 3.0), EI=0.5, length=1.2)
    m = (1 + np.sin(angle)) / 2
    phi, root = np.arcsin(1 / np.sqrt(2 * m)), np.sqrt(3.0 / 0.5)
    K, E = (each(np.pi / 2, m) - each(phi, m) for each in (ellipkinc, ellipeinc))
    assert pytest.approx(root * 1.2, rel=1e-10) == K
    assert x == pytest.approx(np.sqrt(2 * np.sin(angle)) / root, rel=1e-10)
    assert y == pytest.approx(1.2 - 2 * E / root, rel=1e-9)


def test_a_moment_bends_a_circle():
    x, y, angle = elastica.tip((0, 0), moment=2.0)
    assert_allclose([x, y, angle], [np.sin(2) / 2, (1 - np.cos(2)) / 2, 2], rtol=1e-11)


# --- the rod in space ---

ROUND = {"length": 1.0, "GJ": 0.7, "EI_y": 1.0, "EI_z": 1.0}


@pytest.mark.parametrize("roll", [0.0, 0.4, np.pi / 2])
def test_a_round_rod_bends_in_the_plane_of_its_load(roll):
    across = np.array([0, np.cos(roll), np.sin(roll)])
    shape = rod.equilibrium(rod.Rod(**ROUND, force=tuple(4 * across)))
    x, y, _ = elastica.tip((0, 4))
    assert_allclose(shape.r[0], [x, *(y * across[1:])], atol=1e-9)


def test_a_moment_winds_a_helix_about_itself():
    """The tangent turns about the moment m by |m| / EI per length, whatever GJ is."""
    m = np.array([0.8, -0.5, 1.5])
    shape = rod.equilibrium(rod.Rod(**ROUND, moment=tuple(m)))
    size = np.linalg.norm(m)
    n, e = m / size, np.array([1.0, 0, 0])
    along, beside, over = n * (n @ e), e - n * (n @ e), np.cross(n, e)
    expected = along + beside * np.sin(size) / size + over * (1 - np.cos(size)) / size
    assert_allclose(shape.r[0], expected, atol=1e-10)


def test_root_moments_balance_weight_and_tip_loads():
    bar = rod.Rod(1.3, 0.4, 1.0, 2.0, (0.1, 0.2, 0.3), (0.3, -0.4, 0.5), (0.1, 0.1, -0.2), (0.2, 0, -0.6))
    x, weights = np.polynomial.legendre.leggauss(30)
    places = np.array([0.0, *((x + 1) / 2 * bar.length), bar.length])
    shape = rod.equilibrium(bar, places)
    load = np.cross(shape.r[-1], bar.force) + np.array(bar.moment)
    load = load + weights * bar.length / 2 @ np.cross(shape.r[1:-1], bar.weight)
    assert_allclose(shape.m[0], load, atol=1e-9)


def bend(J: float, load: float = 600.0, **give: float) -> np.ndarray:
    """How far the tip of the 45 degree bend moves in x, y, z: an arc in x-y from the origin along x, pushed along z."""
    E, G, radius = 1e7, 5e6, 100.0
    arc = rod.Rod(radius * np.pi / 4, G * J, E / 12, E / 12, (0, 0, 1 / radius), (0, 0, load), **give)
    return rod.equilibrium(arc).r[0] - radius * np.array([np.sin(np.pi / 4), 1 - np.cos(np.pi / 4), 0])


def test_the_bend_of_45_degrees():
    """With J = I_p = 1/6 in^4, as most authors take it, and with St Venant's 0.1406 in^4. Published results, by finite
    elements, scatter about both: Bathe and Bolourchi 1979 (23.5, 13.4, 53.4); a spectral element with J = I_p, in the
    documents of Kynema (23.646, 13.721, 53.578). Stretch and shear, which these have, hardly matter."""
    polar, saint_venant = bend(1 / 6), bend(0.140577)
    assert_allclose(np.abs(polar), [23.5594, 13.6042, 53.4686], atol=1e-4)  # the least energy says the same
    assert_allclose(np.abs(saint_venant), [23.8179, 13.7313, 53.6011], atol=1e-4)
    assert_allclose(np.abs(polar), [23.5, 13.4, 53.4], rtol=1.6e-2)
    for found in (polar, saint_venant):
        assert_allclose(np.abs(found), [23.646, 13.721, 53.578], rtol=1e-2)
    assert_allclose(bend(1 / 6, stretch=1e-7, shear=2.4e-7), polar, rtol=2e-4)


def test_a_light_push_moves_the_bend_as_linear_theory_says():
    radius, angle, load = 100.0, np.pi / 4, 0.06
    bending = (angle / 2 - np.sin(2 * angle) / 4) / (1e7 / 12)
    twisting = (1.5 * angle - 2 * np.sin(angle) + np.sin(2 * angle) / 4) / (5e6 / 6)
    assert bend(1 / 6, load)[2] == pytest.approx(load * radius**3 * (bending + twisting), rel=1e-6)


def test_the_least_energy_of_an_exact_link_is_the_equilibrium_of_the_rod():
    """Two oracles that share nothing: curvatures as sums of polynomials (exact_link), and shooting."""
    from scipy.optimize import minimize

    stiffness, bent, force = np.array([2.0, 1.0, 0.7]), np.array([0.3, 0.8, -0.2]), np.array([0.5, -1.5, 2.0])
    powers = [lambda x, k=k: np.polynomial.Legendre.basis(k, domain=[0, 1])(x) for k in range(7)]
    strains = exact_link.strains_of(dict.fromkeys(("bend_y", "bend_z", "twist"), powers))
    K = np.kron(stiffness, 1 / (2 * np.arange(7) + 1))  # of EI_z, EI_y, GJ
    rest = np.kron([bent[2], -bent[1], bent[0]], np.eye(7)[0])

    def energy(eta):
        sections = exact_link.in_space(strains, eta, 1.0, 100)
        pull = K * (eta - rest)
        return pull @ (eta - rest) / 2 - force @ sections.r[-1], pull - sections.J[-1].T @ force

    found = minimize(energy, rest, jac=True, method="BFGS", options={"gtol": 1e-9})
    tip = exact_link.in_space(strains, found.x, 1.0).r[-1]
    bar = rod.Rod(1.0, stiffness[2], stiffness[1], stiffness[0], tuple(bent), tuple(force))
    assert_allclose(tip, rod.equilibrium(bar).r[0], atol=1e-6)


# --- lateral buckling ---


def test_cantilevers_buckle_sideways_at_the_loads_of_the_books():
    assert buckling.tip_load() == pytest.approx(4.0126, abs=5e-5)
    assert buckling.own_weight() == pytest.approx(12.854, abs=5e-4)


def test_buckling_loads_are_zeros_of_bessel_functions():
    from scipy.special import jv

    assert jv(-1 / 4, buckling.tip_load() / 2) == pytest.approx(0, abs=1e-9)
    assert jv(-1 / 6, buckling.own_weight() / 6) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("load", "rigid"), [("tip", buckling.tip_load), ("weight", buckling.own_weight)])
def test_a_stiff_plane_of_load_leaves_no_deflection_before_buckling(load, rigid):
    assert buckling.with_deflection(1e-5, 1e-5, load) == pytest.approx(rigid(), rel=3e-5)


@pytest.mark.slow
def test_deflection_before_buckling_raises_the_load():
    """1 + 0.642 GJ / EI_y + 0.5 EI_z / EI_y to first order."""
    assert buckling.with_deflection(1e-3, 1e-6) / buckling.tip_load() - 1 == pytest.approx(0.5e-3, rel=5e-3)
    assert buckling.with_deflection(1e-6, 1e-3) / buckling.tip_load() - 1 == pytest.approx(0.642e-3, rel=5e-3)


# --- exact links ---


def random_strains(seed: int = 0, **counts: int):
    draw = np.random.default_rng(seed)
    families = {name: [np.polynomial.Polynomial(draw.normal(size=4)) for _ in range(n)] for name, n in counts.items()}
    return exact_link.strains_of(families), draw.normal(size=sum(counts.values())) * 0.7


SPACE = {"bend_y": 2, "bend_z": 2, "twist": 2, "stretch": 1}


def mass(x):
    return 1.0 + 0.5 * x


def rotary(x):
    return np.array([0.02 + 0 * x, 0.01 * (1 + x), 0.03 + 0 * x]).T


def test_constant_curvature_is_a_circle():
    strains, eta = exact_link.strains_of({"bend_y": [np.ones_like]}), np.array([2.5])
    for sections in (exact_link.in_plane(strains, eta, 1.2), exact_link.in_space(strains, eta, 1.2)):
        assert_allclose(sections.r[-1], [np.sin(3) / 2.5, (1 - np.cos(3)) / 2.5, 0], atol=1e-12)
        assert_allclose(
            sections.J[-1, :2, 0], [(3 * np.cos(3) - np.sin(3)) / 6.25, (3 * np.sin(3) + np.cos(3) - 1) / 6.25]
        )


def test_constant_curvature_and_twist_are_a_helix():
    from scipy.linalg import expm

    strains = exact_link.strains_of({name: [np.ones_like] for name in ("bend_y", "bend_z", "twist")})
    sections = exact_link.in_space(strains, np.array([1.5, -0.7, 2.0]), 1.0)
    hat = np.array([[0, -1.5, 0.7], [1.5, 0, -2.0], [-0.7, 2.0, 0]])
    assert_allclose(sections.R[-1], expm(hat), atol=1e-13)
    block = np.zeros((4, 4))
    block[:3, :3], block[:3, 3] = hat, [1, 0, 0]
    assert_allclose(sections.r[-1], expm(block)[:3, 3], atol=1e-12)


def test_in_a_plane_both_ways_agree():
    strains, eta = random_strains(bend_y=3, stretch=1)
    one, other = exact_link.in_plane(strains, eta, 1.3), exact_link.in_space(strains, eta, 1.3)
    assert_allclose(one.r[-1], other.r[-1], atol=1e-12)
    assert_allclose(one.J[-1], other.J[-1], atol=1e-12)
    assert_allclose(exact_link.inertia(one, mass, rotary).M, exact_link.inertia(other, mass, rotary).M, atol=1e-11)


def test_in_space_errors_fall_with_the_fourth_power_of_the_step():
    strains, eta = random_strains(**SPACE)
    fine = exact_link.in_space(strains, eta, 1.0, 4000)
    errors = [np.abs(exact_link.in_space(strains, eta, 1.0, n).J[-1] - fine.J[-1]).max() for n in (50, 100, 200)]
    assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 4, atol=0.2)
    assert np.abs(exact_link.in_space(strains, eta, 1.0).r[-1] - fine.r[-1]).max() < 1e-11


def test_rates_are_differences_of_places():
    strains, eta = random_strains(**SPACE)
    sections, step = exact_link.in_space(strains, eta, 1.0, 400), 1e-5
    for k in range(len(eta)):
        ahead, behind = (
            exact_link.in_space(strains, eta + sign * step * np.eye(len(eta))[k], 1.0, 400) for sign in (1, -1)
        )
        assert_allclose((ahead.r - behind.r) / (2 * step), sections.J[:, :, k], atol=1e-8)
        turning = (ahead.R[-1] - behind.R[-1]) / (2 * step) @ sections.R[-1].T
        assert_allclose(turning[[2, 0, 1], [1, 2, 0]], sections.W[-1, :, k], atol=1e-8)


def test_of_a_straight_link_the_mass_matrix_is_that_of_linear_theory():
    """Curvature x^k: deflection x^(k+2) / ((k+1)(k+2)), products of which are integrals of powers."""
    strains = exact_link.strains_of({"bend_y": [lambda x, k=k: x**k for k in range(3)]})
    M = exact_link.inertia(exact_link.in_plane(strains, np.zeros(3), 1.0), np.ones_like).M
    k = np.arange(3)
    scale = 1 / ((k + 1) * (k + 2))
    assert_allclose(M[6:, 6:], np.outer(scale, scale) / (np.add.outer(k, k) + 5), rtol=1e-12)
    assert_allclose(M[1, 6:], scale / (k + 3), rtol=1e-12)
    assert_allclose(M[5, 6:], scale / (k + 4), rtol=1e-12)
    assert_allclose(M[:6, :6], np.diag([1, 1, 1, 0, 1 / 3, 1 / 3]) + np.zeros((6, 6)) + _first_moment(0.5), atol=1e-13)


def _first_moment(c: float) -> np.ndarray:
    out = np.zeros((6, 6))
    out[1, 5] = out[5, 1] = c
    out[2, 4] = out[4, 2] = -c
    return out


def test_momentum_is_the_rate_of_the_first_moment():
    strains, eta = random_strains(**SPACE)
    rates, step = np.random.default_rng(1).normal(size=len(eta)), 1e-5
    found = exact_link.inertia(exact_link.in_space(strains, eta, 1.0, 400), mass)
    ahead, behind = (
        exact_link.inertia(exact_link.in_space(strains, eta + sign * step * rates, 1.0, 400), mass).c
        for sign in (1, -1)
    )
    assert_allclose(found.M[:3, 6:] @ rates, (ahead - behind) / (2 * step), atol=1e-8)
    assert_allclose(found.M[:3, 3:6] @ [0.1, 0.2, 0.3], np.cross([0.1, 0.2, 0.3], found.c), atol=1e-14)
    assert np.linalg.eigvalsh(found.M)[0] > 0


def test_whatever_turns_the_root_leaves_the_kinetic_energy():
    """A link that turns as a whole: root rates and rates of eta that bend it back cancel at the tip."""
    strains, eta = random_strains(**SPACE)
    sections = exact_link.in_space(strains, eta, 1.0, 400)
    M = exact_link.inertia(sections, mass, rotary).M
    v = np.random.default_rng(2).normal(size=len(M))
    moves = v[:3] + np.cross(v[3:6], sections.r) + sections.J @ v[6:]
    turns = np.einsum("pba,pb->pa", sections.R, v[3:6] + sections.W @ v[6:])
    energy = (sections.weights * mass(sections.x)) @ (moves**2).sum(1) + (
        sections.weights @ (rotary(sections.x) * turns**2).sum(1)
    )
    assert v @ M @ v == pytest.approx(energy, rel=1e-12)


# --- equations of motion as papers have them ---


def test_clamped_links_vibrate_as_eulers():
    """Eight elements, and modes that are the eigenfunctions themselves."""
    exact = np.array([1.875104068711961, 4.694091132974175]) ** 4
    stiffness = {"bend_y": 2.0}
    meshed = absolute_coordinates.Arm((absolute_coordinates.Link(1.0, 2.0, stiffness, 8),))
    modal = transformation_matrices.Arm((transformation_matrices.Link(1.0, 2.0, stiffness, 2),))
    for arm, rtol in ((meshed, 2e-4), (modal, 1e-12)):
        M, _ = arm.equations(*np.zeros((2, 1 + arm.links[0].count)))
        squares = np.linalg.eigvals(np.linalg.solve(M[1:, 1:], arm.links[0].K)).real
        assert_allclose(np.sort(squares)[:2], exact, rtol=rtol)


def test_rigid_arms_are_alike_in_both_formulations():
    """Two oracles that share nothing, at any posture and speed."""
    draw = np.random.default_rng(0)
    one, other = [], []
    for _ in range(4):
        axis, length, mass = draw.normal(size=3), draw.uniform(0.5, 1.5), draw.uniform(1, 3)
        axis /= np.linalg.norm(axis)
        mount = rod.rotation(draw.normal(size=4))
        one.append(absolute_coordinates.Link(length, mass, {}, 1, (0.1, 0, 0), tuple(axis), mount))
        other.append(transformation_matrices.Link(length, mass, {}, 0, 0.1, tuple(axis), mount))
    q, v = draw.normal(size=(2, 4))
    gravity = (1.0, 2.0, -9.0)
    M, h = absolute_coordinates.Arm(tuple(one), gravity).equations(q, v)
    same, forces = transformation_matrices.Arm(tuple(other), gravity).equations(q, v)
    assert_allclose(M, same, rtol=0, atol=1e-13 * np.abs(M).max())
    assert_allclose(h, forces, rtol=0, atol=1e-13 * np.abs(h).max())


@pytest.mark.parametrize("module", [absolute_coordinates, transformation_matrices])
def test_a_link_on_a_hinge_is_a_pendulum(module):
    """m l^2 / 3 and m g l / 2 cos(q)."""
    arm = module.Arm((module.Link(1.2, 2.5),), (0, -9.81, 0))
    M, h = arm.equations(np.array([0.4]), np.array([3.0]))
    assert M[0, 0] == pytest.approx(2.5 * 1.2**3 / 3)
    assert h[0] == pytest.approx(2.5 * 1.2 * 9.81 * 0.6 * np.cos(0.4))


# --- links that shorten ---


def test_links_that_do_not_bend_are_those_without_shortening():
    """Sums over links here, recursions inward and forces by d'Alembert's principle there."""
    stiffness, draw = {"twist": 3.0, "stretch": 50.0}, np.random.default_rng(1)
    link = transformation_matrices.Link(0.8, 1.5, stiffness, 2, 0.02, tip_mass=0.3)
    links = (link, replace(link, axis=(0.0, 0.6, 0.8), offset=(0.1, 0.0, -0.2), spring=5.0, rotor=0.2, length=1.1))
    q, v = draw.normal(size=(2, 11))
    shortened, recursive = (
        module.Arm(links, (1.0, 2.0, -9.0)).equations(q, v) for module in (shortened_links, transformation_matrices)
    )
    without = shortened_links.Arm(links, (1.0, 2.0, -9.0), products=False).equations(q, v)
    for one, other in zip(without, recursive, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-13 * np.abs(other).max())
    assert_allclose(shortened[0], recursive[0], rtol=0, atol=1e-13 * np.abs(recursive[0]).max())


@pytest.mark.parametrize("options", [{}, {"order": 2}, {"order": 2, "definite": True}], ids=str)
def test_a_spinning_beam_stiffens_by_southwells_number(options):
    """Forces of the turning hinge are (1.193 - 1) theta'^2 eta on a first mode in the plane, 1.193 across it."""
    link = transformation_matrices.Link(1.0, 1.0, {"bend_y": 1.0, "bend_z": 1.0}, 1)
    arm = shortened_links.Arm((link,), **options)
    eta, speed = 1e-6, 3.0
    for k, expected in ((1, 0.193), (2, 1.193)):
        q = eta * np.eye(3)[k]
        h = arm.equations(q, np.array([speed, 0.0, 0.0]))[1] - arm.equations(q, np.zeros(3))[1]
        assert h[k] / (eta * speed**2) == pytest.approx(expected, abs=5e-4)


def test_the_mass_matrix_of_links_that_shorten_is_that_of_their_points():
    """A tip mass alone, on a massless beam: m J' J of its place, by differences."""
    link = transformation_matrices.Link(1.2, 1e-12, {"bend_y": 1.0, "bend_z": 1.0}, 1, tip_mass=0.7)
    q = np.array([0.3, 2e-7, -3e-7])  # modes of unit mass of a light beam are long
    beam = shortened_links.Beam(link, True)
    moves, form = link.tip[0], beam.tip_forms[0]

    def place(q):
        turned = rod.rotation(np.array([np.cos(q[0] / 2), 0, 0, np.sin(q[0] / 2)]))
        return turned @ (np.array([1.2, 0, 0]) + q[1:] @ moves + q[1:] @ form @ q[1:] / 2)

    steps = np.diag([1e-5, 1e-10, 1e-10])
    J = np.array([(place(q + step) - place(q - step)) / (2 * step.sum()) for step in steps]).T
    M = shortened_links.Arm((link,)).equations(q, 0 * q)[0]
    size = np.sqrt(np.diag(M))
    assert_allclose(M / np.outer(size, size), 0.7 * J.T @ J / np.outer(size, size), rtol=0, atol=1e-6)
