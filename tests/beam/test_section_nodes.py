"""Nodes of exact links: functions that are interpolated exactly, and integrals against quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.section_nodes import LinkNodes
from tests.beam.test_integrals import SECTIONS, rule

LENGTH = 0.8
COUNTS = {
    "plane": {"bend_y": 3},
    "other plane": {"bend_z": 1},
    "plane and stretch": {"bend_y": 2, "stretch": 2},
    "twist": {"twist": 2},
    "stretch": {"stretch": 2},
    "space": {"bend_y": 2, "bend_z": 3, "twist": 2, "stretch": 1},
}


def make(section: str = "uniform", counts: str = "plane", basis="modes", smooth=False) -> LinkIntegrals:
    flexible = fa.Flexible(**COUNTS[counts], basis=basis, stiffening="exact")
    material = fa.Material(7e10, 2700)
    link = fa.Link("link", LENGTH, section=SECTIONS[section], material=material, flexible=flexible, rotary_inertia=True)
    return LinkIntegrals(link, smooth)


REDUCED = fa.Reduced(4)
"""Shapes with kinks, which need nodes that tell them apart."""

CASES = [(s, c, b) for b in ("modes", REDUCED) for s in SECTIONS for c in COUNTS]


@pytest.fixture(params=CASES, ids=lambda p: f"{p[0]}-{p[1]}-{'modes' if p[2] == 'modes' else 'reduced'}")
def link(request):
    return make(*request.param)


def axis_functions(link: LinkIntegrals) -> list:
    """Return the first-order functions of t with their integrals: 1, u', v', w'."""
    spaces = [space for name, space in link.shapes.items() if name != "twist"]
    return [(space.derivative(), space) for space in spaces]


def test_constants_are_met_exactly(link):
    nodes = LinkNodes(link)
    for x in (0.0, 0.1, 0.32, 0.5, LENGTH):
        assert nodes.weights(x).sum() == pytest.approx(x, abs=1e-13)
    for piece in nodes.pieces:
        assert piece.weights.sum() == pytest.approx(piece.end - piece.start, rel=1e-12)


def test_what_is_linear_in_the_shapes_is_met_exactly(link):
    nodes = LinkNodes(link)
    for slopes, whole in axis_functions(link):
        for x in (0.1, 0.32, 0.5, LENGTH):
            expected = whole(np.array([x]))[0]
            found = nodes.weights(x) @ slopes(nodes.places)
            assert_allclose(found, expected, atol=1e-9 * np.abs(whole(nodes.places)).max())


def test_masses_and_first_moments_are_those_of_the_link(link):
    """Exact for the straight link, and to first order for the bent one."""
    nodes = LinkNodes(link)
    assert sum(piece.mass for piece in nodes.pieces) == pytest.approx(link.m, rel=1e-12)

    def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """int mu r and int mu r^2 from values (nodes, n) of dr/dx."""
        first, second, start = 0.0, 0.0, np.zeros(values.shape[1])
        for piece, own in zip(nodes.pieces, np.split(values, len(nodes.pieces)), strict=True):
            first += piece.mass * start + piece.beta @ own
            mixed = np.outer(start, piece.beta @ own)
            second += piece.mass * np.outer(start, start) + mixed + mixed.T + own.T @ piece.B @ own
            start = start + piece.weights @ own
        return first, second

    first, second = moments(np.ones((len(nodes.places), 1)))
    assert_allclose([first[0], second[0, 0]], [link.c0, link.g0], rtol=1e-12)
    for axis, name in enumerate(("stretch", "bend_y", "bend_z")):
        if name in link.columns:
            place, letter = link.columns[name], "uvw"[axis]
            first, second = moments(link.shapes[name].derivative()(nodes.places))
            assert_allclose(first, link.a[axis, place], atol=1e-9 * np.abs(link.a[axis, place]).max())
            expected = link.M[2 * letter][place, place]
            assert_allclose(second, expected, atol=1e-9 * np.abs(expected).max())


def test_integrals_of_pieces_are_their_definition(link):
    """B, beta and spin from values of the interpolation at points of another rule."""
    nodes = LinkNodes(link)
    x, weights = rule(link, LENGTH)
    properties = [link.link.section.at(value) for value in x / LENGTH]
    mass = 2700 * weights * [each.A for each in properties]
    inertia = 2700 * weights[:, None] * np.array([[each.I_p, each.I_y, each.I_z] for each in properties])
    for k, piece in enumerate(nodes.pieces):
        inside = (x > piece.start) & (x < piece.end)
        own = slice(k * nodes.per_piece, (k + 1) * nodes.per_piece)
        L = np.array([nodes.weights(each)[own] for each in x[inside]])
        assert piece.mass == pytest.approx(mass[inside].sum(), rel=1e-12)
        assert_allclose(piece.beta, mass[inside] @ L, atol=1e-11 * np.abs(piece.beta).max())
        assert_allclose(piece.B, L.T @ (mass[inside][:, None] * L), atol=1e-11 * np.abs(piece.B).max())
        spin = nodes._turns[k].values(x[inside])
        expected = np.einsum("ga,gh,gk->ahk", inertia[inside], spin, spin)
        assert_allclose(piece.spin, expected, atol=1e-10 * np.abs(expected).max())
        assert_allclose(piece.nodes, nodes.places[own])


def test_rotations_that_are_linear_in_the_shapes_have_their_inertia(link):
    """The sections' part of the mass matrix of the straight link, family by family."""
    nodes = LinkNodes(link)
    translation = link.M["uu"] + link.M["vv"] + link.M["ww"]
    expected = link.M_elastic - translation
    W, found = link.rotation(nodes.places), np.zeros_like(expected)
    for piece, own in zip(nodes.pieces, np.split(W, len(nodes.pieces)), strict=True):
        found += np.einsum("him,ihk,kin->mn", own, piece.spin, own)
    scale = np.abs(expected).max() or 1.0
    assert_allclose(found, expected, atol=1e-8 * scale)


def test_forms_are_definite():
    """The mass of a link is a sum of squares in every shape."""
    for section in SECTIONS:
        for piece in LinkNodes(make(section, "space")).pieces:
            whole = np.block([[np.array([[piece.mass]]), piece.beta[None]], [piece.beta[:, None], piece.B]])
            assert np.linalg.eigvalsh(whole)[0] > -1e-12 * np.linalg.eigvalsh(whole)[-1]


def test_how_many_nodes_there_are():
    """Twice the shapes of bending, one more in space and one more for each shape of stretch; elements have three."""
    assert LinkNodes(make("uniform", "plane")).per_piece == 6
    assert LinkNodes(make("uniform", "other plane")).per_piece == 3
    assert LinkNodes(make("uniform", "plane and stretch")).per_piece == 6
    assert LinkNodes(make("uniform", "space")).per_piece == 8
    stepped = LinkNodes(make("stepped", "plane"))
    assert_allclose(stepped.breaks, [0, 0.4 * LENGTH, LENGTH])
    assert len(stepped.places) == 12
    meshed = LinkNodes(make("uniform", "plane", "elements"))
    assert (len(meshed.pieces), meshed.per_piece) == (3, 3)
    assert len(LinkNodes(make("stepped", "plane", smooth=True)).pieces) == 1  # something slides over the step


@pytest.mark.parametrize("section", ["uniform", "tapered"])
def test_weights_as_functions(section):
    nodes = LinkNodes(make(section, "plane and stretch"))
    functions = nodes.weight_functions()
    for x in (0.0, 0.1, 0.43, LENGTH):
        assert_allclose(functions(x)[0], nodes.weights(x), atol=1e-13)


def test_the_axis_of_a_circle():
    """A constant curvature is not among the clamped modes; a mesh bends into a circle and meets its tip."""
    link = make("uniform", "plane", fa.Elements())
    nodes, angle = LinkNodes(link), 1.5
    phi = angle * nodes.places / LENGTH
    radius = LENGTH / angle
    for x, error in ((0.2, 2e-5), (LENGTH, 1e-8)):  # between nodes a parabola; Gauss' sum over whole elements
        turned = angle * x / LENGTH
        assert nodes.weights(x) @ np.cos(phi) == pytest.approx(radius * np.sin(turned), abs=error * LENGTH)
        assert nodes.weights(x) @ np.sin(phi) == pytest.approx(radius * (1 - np.cos(turned)), abs=error * LENGTH)
