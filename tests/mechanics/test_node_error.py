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


@pytest.mark.parametrize(("shapes", "bent", "most"), [(1, 0, 5e-4), (2, 0, 5e-4), (3, 0, 2e-4), (2, 1, 0.01)])
def test_few_nodes_are_as_accurate_as_theory_says(shapes, bent, most):
    flexible = fa.Flexible(bend_y=shapes, stiffening="exact")
    section, steel = fa.Section.rectangle(0.01, 0.01), fa.Material(E=2.1e11, rho=7850)
    link = fa.Link("bar", 1.0, fa.Revolute("z"), section, steel, flexible, payload=fa.PointMass(0.3))
    system = fa.System(fa.Robot(links=[link]), native=False)
    q = np.zeros(system.nq)
    q[1 + bent] = 0.3 * system.sizes[1 + bent]
    fine = mass_of_bending(system, q[1:])
    scale = np.sqrt(np.diag(fine))
    assert (np.abs(system.mass_matrix(q)[1:, 1:] - fine) / np.outer(scale, scale)).max() < most
