"""Mass matrix of exact links: what its nodes leave out, against integrals over a fine grid."""

import numpy as np
import pytest

import flexarm as fa


def mass_of_bending(system, eta, points=4001):
    """Return the mass matrix of the elastic coordinates of a planar link with an inextensible axis."""
    body = system._chain.bodies[0]
    x, h = np.linspace(0.0, body.link.length, points, retstep=True)
    slopes = body.integrals.shapes["bend_y"].derivative()(x)

    def along(values):
        return np.vstack([np.zeros_like(values[:1]), np.cumsum((values[1:] + values[:-1]) / 2 * h, axis=0)])

    angle = (slopes @ eta)[:, None]
    moved = np.stack([along(-np.sin(angle) * slopes), along(np.cos(angle) * slopes)])  # (2, points, shapes)
    weights = np.full(points, h) * body.link.mass_per_length(0.5)
    weights[[0, -1]] /= 2
    weights[-1] += body.link.payload.mass
    return np.einsum("apm,p,apn->mn", moved, weights, moved)


def bar(shapes, **fields):
    flexible = fa.Flexible(bend_y=shapes, stiffening="exact")
    section, steel = fa.Section.rectangle(0.01, 0.01), fa.Material(E=2.1e11, rho=7850)
    link = fa.Link("bar", 1.0, fa.Revolute("z"), section, steel, flexible, payload=fa.PointMass(0.3))
    return link.model_copy(update=fields)


def error_of_mass(system, eta):
    """Return the largest error of the mass matrix of bending, as a share of its diagonal."""
    fine = mass_of_bending(system, eta)
    scale = np.sqrt(np.diag(fine))
    q = np.concatenate([np.zeros(system.nq - len(eta)), eta])
    found = system.mass_matrix(q)[-len(eta) :, -len(eta) :]
    return (np.abs(found - fine) / np.outer(scale, scale)).max()


FIRST = [(1, 0, 0.3, 2e-4), (2, 0, 0.3, 1.5e-4), (3, 0, 0.3, 1e-4), (1, 0, 0.51, 5e-4), (2, 0, 0.51, 4e-4)]
LAST = [(2, 1, 0.3, 6e-3), (3, 2, 0.3, 6e-3), (2, 1, 0.51, 1.5e-2), (3, 2, 0.51, 1.5e-2)]


@pytest.mark.parametrize(("shapes", "bent", "share", "most"), [*FIRST, *LAST])
def test_few_nodes_are_as_accurate_as_theory_says(shapes, bent, share, most):
    system = fa.System(fa.Robot(links=[bar(shapes)]), native=False)
    eta = np.zeros(shapes)
    eta[bent] = share * system.sizes[1 + bent]
    assert most / 3 < error_of_mass(system, eta) < most


@pytest.mark.parametrize(("shapes", "most"), [(1, 3e-4), (2, 5e-4), (3, 4e-5)])
def test_nodes_of_a_bar_that_its_payload_bends_by_half_its_length(shapes, most):
    force = 2.06 * 2.1e11 * 1e-8 / 12  # P L^2 / EI = 2.06
    loaded = bar(shapes, joint=fa.Weld(), payload=fa.PointMass(force / 9.81))
    held = fa.System(fa.Robot(links=[loaded], gravity=(0, -9.81, 0)), native=False)
    eta = fa.equilibrium(held)
    assert -held.tip(eta)[1] == pytest.approx(0.5, abs=0.01)
    assert most / 3 < error_of_mass(held, eta) < most
