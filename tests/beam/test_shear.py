"""Shear in bending against statics, exact Timoshenko frequencies, the standard element and Engesser's column."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import flexarm as fa
from flexarm.beam.bases import lowest_modes
from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.properties import rotation
from tests.oracles import timoshenko

L, H = 1.0, 0.1
E, RHO, G = 7e10, 2700.0, 2.7e10
BAR = fa.Section.rectangle(H, H)
CONE = fa.Section.tapered(fa.Section.circle(0.12), fa.Section.circle(0.06))
STEPS = fa.Section.stepped([{"upto": 0.3, "section": fa.Section.circle(0.12)}, {"upto": 1.0, "section": BAR}])


def integrals(count=4, basis="modes", section=BAR, family="bend_y", G=G, shear=True, **fields) -> LinkIntegrals:
    flexible = fa.Flexible(**{family: count}, basis=basis, shear=shear)
    return LinkIntegrals(
        fa.Link("link", L, section=section, material=fa.Material(E, RHO, G=G), flexible=flexible, **fields)
    )


def exact(count, size=H, rotary=False):
    area, second = size**2, size**4 / 12
    inertia = RHO * second if rotary else 0.0
    return timoshenko.clamped_free(RHO * area, E * second, 5 / 6 * G * area, L, count, inertia)


def frequencies(link, count=4):
    return lowest_modes(link.M_elastic, link.K, count)[0]


# --- statics ---


@pytest.mark.parametrize("basis", ["elements", fa.Reduced(3, 1, "fixed")])
@pytest.mark.parametrize("family", ["bend_y", "bend_z"])
def test_tip_force_and_tip_moment_bend_a_uniform_link_exactly(basis, family):
    link = integrals(2, basis, fa.Section.rectangle(0.1, 0.2), family)
    section, axis = link.link.section.at(0), {"bend_y": 1, "bend_z": 2}[family]
    EI, kGA = E * {"bend_y": section.I_z, "bend_z": section.I_y}[family], G * 5 / 6 * section.A
    tip, turn = link.station(L).U[axis], np.abs(link.station(L).W).sum(axis=0)
    pushed, turned = np.linalg.solve(link.K, tip), np.linalg.solve(link.K, turn)
    assert tip @ pushed == pytest.approx(L**3 / (3 * EI) + L / kGA, rel=1e-12)
    assert_allclose([turn @ pushed, tip @ turned], L**2 / (2 * EI), rtol=1e-12)  # the section's own rotation
    assert turn @ turned == pytest.approx(L / EI, rel=1e-12)


@pytest.mark.parametrize("count", [1, 4])
def test_own_weight_bends_the_nodes_of_elements_exactly(count):
    link = integrals(count, "elements")
    EI, kGA = E * H**4 / 12, G * 5 / 6 * H**2
    eta = np.linalg.solve(link.K, link.a[1] / link.m)
    assert link.station(L).U[1] @ eta == pytest.approx(L**3 / (8 * EI) + L / (2 * kGA), rel=1e-12)


@pytest.mark.parametrize("section", [CONE, STEPS], ids=["tapered", "stepped"])
def test_tip_force_on_links_that_vary(section):
    x, weights = np.polynomial.legendre.leggauss(60)
    ends = [0.0, *section.breaks, 1.0]
    deflection = 0.0
    for a, b in pairwise(ends):
        for at, weight in zip((a + b + (b - a) * x) / 2, weights * (b - a) / 2, strict=True):
            here = section.at(float(at))
            deflection += weight * ((1 - at) ** 2 / (E * here.I_z) + 1 / (G * here.shear_y))
    mesh = integrals(32, "elements", section)
    tip = mesh.station(L).U[1]
    assert tip @ np.linalg.solve(mesh.K, tip) == pytest.approx(deflection, rel=3e-6)
    bare = integrals(32, "elements", section, shear=False)
    tip = bare.station(L).U[1]
    assert tip @ np.linalg.solve(bare.K, tip) < 0.995 * deflection


# --- frequencies ---


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("slenderness", [5, 20, pytest.param(100, marks=pytest.mark.slow)])
def test_ten_modes_have_the_exact_frequencies_to_ten_digits(slenderness, rotary):
    size = L / slenderness
    link = integrals(10, section=fa.Section.rectangle(size, size), rotary_inertia=rotary)
    assert_allclose(np.sqrt(np.diag(link.K)), exact(10, size, rotary), rtol=1e-10)
    assert_allclose(link.M_elastic, np.eye(10), atol=1e-12)
    assert np.count_nonzero(link.K) == np.count_nonzero(link.M_elastic) == 10


@pytest.mark.parametrize(
    ("slenderness", "errors"), [(5, [2e-6, 3e-4, 2e-3]), (10, [5e-8, 9e-6, 1e-4]), (20, [8e-10, 2e-7, 3e-6])]
)
def test_modes_with_the_shear_of_statics_would_be_too_stiff(slenderness, errors):
    """The shear strain gamma = -EI psi'' / kGA of statics neglects rotary inertia: a column of docs/theory.md."""
    size, G = L / slenderness, E / 2.6
    mu, EI, kGA, inertia = RHO * size**2, E * size**4 / 12, 5 / 6 * G * size**2, RHO * size**4 / 12
    x, weights = np.polynomial.legendre.leggauss(40)
    psi = [np.polynomial.Legendre.basis(k).integ(lbnd=-1) for k in range(16)]  # of x in [-1, 1], L = 1
    slope, strain = [2 * each.deriv() for each in psi], [-EI / kGA * 4 * each.deriv(2) for each in psi]
    moves = [(one + other).integ(lbnd=-1) / 2 for one, other in zip(psi, strain, strict=True)]
    psi, slope, strain, moves = (np.array([each(x) for each in group]) for group in (psi, slope, strain, moves))
    K = (EI * slope * weights) @ slope.T + (kGA * strain * weights) @ strain.T
    M = (mu * moves * weights) @ moves.T + (inertia * psi * weights) @ psi.T
    true = timoshenko.clamped_free(mu, EI, kGA, L, 3, inertia)
    assert_allclose(lowest_modes(M, K, 3)[0] / true - 1, errors, rtol=0.25)


@pytest.mark.parametrize("rotary", [False, True])
def test_frequencies_of_elements_converge_at_order_two_from_above(rotary):
    reference = frequencies(integrals(6, rotary_inertia=rotary), 3)
    errors = [frequencies(integrals(n, "elements", rotary_inertia=rotary), 3) / reference - 1 for n in (16, 32, 64)]
    assert np.all(np.array(errors) > 0)  # as shapes that do not jump are a Timoshenko beam's, whatever their shear
    assert_allclose(np.log2(np.array(errors[:-1]) / np.array(errors[1:])), 2, atol=0.1)
    assert errors[1][0] < 2e-6


@pytest.mark.parametrize("section", [CONE, STEPS], ids=["tapered", "stepped"])
def test_modes_of_links_that_vary_are_the_limit_of_meshes(section):
    found = frequencies(integrals(4, section=section), 3)
    coarse, fine = (frequencies(integrals(n, "elements", section), 3) for n in (64, 128))
    assert_allclose(fine + (fine - coarse) / 3, found, rtol=2e-7)


def test_reduced_meshes_have_the_modes_of_the_mesh():
    mesh = frequencies(integrals(12, "elements"), 3)
    assert_allclose(frequencies(integrals(3, fa.Reduced(12)), 3), mesh, rtol=1e-10)


def test_modes_with_a_tip_mass_sit_on_rotations_of_the_section():
    """Four shapes give the first four frequencies of the link with its load, which ten give too."""

    def squares(count):
        link = integrals(count, fa.Modes(5.0, 0.02))
        tip, turn = link.station(L).U[1], link.station(L).W[2]
        return eigh(link.K, link.M_elastic + 5.0 * np.outer(tip, tip) + 0.02 * np.outer(turn, turn), eigvals_only=True)

    assert_allclose(squares(4), squares(10)[:4], rtol=1e-9)


# --- shapes ---


def test_the_element_is_the_standard_one():
    """Stiffness and translational mass of Przemieniecki's two-node Timoshenko element."""
    link, h = LinkIntegrals(integrals(1, "elements").link, clamped=False), L
    EI, kGA, mu = E * H**4 / 12, G * 5 / 6 * H**2, RHO * H**2
    p = 12 * EI / (kGA * h**2)
    stiffness = np.array(
        [
            [12, 6 * h, -12, 6 * h],
            [6 * h, (4 + p) * h**2, -6 * h, (2 - p) * h**2],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, (2 - p) * h**2, -6 * h, (4 + p) * h**2],
        ]
    )
    assert_allclose(link.K, EI / (h**3 * (1 + p)) * stiffness, rtol=1e-11)
    first = [
        13 / 35 + 7 * p / 10 + p**2 / 3,
        (11 / 210 + 11 * p / 120 + p**2 / 24) * h,
        9 / 70 + 3 * p / 10 + p**2 / 6,
        -(13 / 420 + 3 * p / 40 + p**2 / 24) * h,
    ]
    assert_allclose(link.M_elastic[0], mu * h / (1 + p) ** 2 * np.array(first), rtol=1e-12)
    assert link.M_elastic[1, 1] == pytest.approx(mu * h**3 / (1 + p) ** 2 * (1 / 105 + p / 60 + p**2 / 120), rel=1e-12)


@pytest.mark.parametrize("section", [BAR, CONE, STEPS], ids=["uniform", "tapered", "stepped"])
def test_nodal_coordinates_are_deflections_and_rotations(section):
    link = integrals(4, "elements", section)
    nodes = link.shapes["bend_y"].breaks[1:]
    assert_allclose(link.displacement(nodes)[:, 1, 0::2], np.eye(4), atol=1e-13)
    assert_allclose(link.displacement(nodes)[:, 1, 1::2], 0, atol=1e-13)
    assert_allclose(link.rotation(nodes)[:, 2, 1::2], np.eye(4), atol=1e-12)
    assert_allclose(link.rotation(nodes)[:, 2, 0::2], 0, atol=1e-11)


@pytest.mark.parametrize("basis", ["modes", fa.Modes(1.0, 0.1), "elements", fa.Reduced(5), fa.Reduced(5, 2, "fixed")])
@pytest.mark.parametrize("section", [BAR, CONE], ids=["uniform", "tapered"])
def test_without_give_there_is_no_shear(basis, section):
    stiff, bare = (integrals(3, basis, section, G=1e6 * G, shear=shear) for shear in (True, False))
    pairs = [(getattr(stiff, name), getattr(bare, name)) for name in ("K", "M_elastic", "a", "b")]
    pairs += [
        tuple(SecondOrderBlocks(each).moment(DISPLACEMENT_PRODUCTS[0], power) for each in (stiff, bare))
        for power in (0, 1)
    ]
    for one, other in pairs:
        assert_allclose(one, other, rtol=2e-4, atol=2e-6 * np.abs(other).max())


@pytest.mark.parametrize("section", [BAR, CONE], ids=["uniform", "tapered"])
def test_modes_have_the_shear_of_statics_where_sections_do_not_resist_turning(section):
    link = integrals(3, section=section)
    shapes, family = link.shapes["bend_y"], link.families["bend_y"]
    turns, x = rotation(shapes), np.linspace(0.01, 0.99, 50)
    step = 1e-5

    def moment(at):
        return family.stiffness(at) * turns.derivative()(at)

    force = -(moment(x + step) - moment(x - step)) / (2 * step)
    strain = shapes.derivative()(x) - turns(x)
    assert_allclose(family.shear(x) * strain, force, atol=1e-5 * np.abs(force).max())


# --- the axis ---


def test_a_column_buckles_at_engessers_load():
    """P = P_E / (1 + P_E / kGA): the axis keeps its length, so it shortens by its own slope, shear included."""
    link, size = integrals(64, "elements", fa.Section.rectangle(0.2, 0.2)), 0.2
    EI, kGA = E * size**4 / 12, G * 5 / 6 * size**2
    euler = np.pi**2 * EI / (4 * L**2)
    found = eigh(-SecondOrderBlocks(link).displacement_forms(L)[0], link.K, eigvals_only=True)
    assert 1 / found[-1] == pytest.approx(euler / (1 + euler / kGA), rel=1e-5)


def test_a_robot_with_a_short_link():
    """Frequencies, payload and statics through the whole of the equations."""
    arm = fa.Robot(
        links=[fa.Link("a", L, fa.Revolute("z"), BAR, fa.Material(E, RHO, G=G), fa.Flexible(bend_y=4, shear=True))],
        gravity=(0, -9.81, 0),
    )
    omega = 2 * np.pi * fa.modes(arm.with_(gravity=(0, 0, 0)), joints="locked").frequencies
    assert_allclose(omega[-4:], exact(4), rtol=1e-8)
    system = fa.System(arm)
    q, v, a = np.random.default_rng(0).normal(size=(3, system.nq)) * 1e-3
    assert_allclose(system.forward_dynamics(q, v, system.inverse_dynamics(q, v, a)), a, rtol=1e-6, atol=1e-9)
    bare = fa.System(arm.with_({"links.a.flexible.shear": False, "links.a.flexible.stiffening": "shortening"}))
    assert bare.structure is system.structure  # numbers differ, equations do not
