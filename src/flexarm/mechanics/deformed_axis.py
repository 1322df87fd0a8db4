"""Where the points of a link's deformed axis are, in its root frame."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.foundation.numbers import Array
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.functions import Functions
from flexarm.mechanics.link_numbers import add_rail
from flexarm.mechanics.numbers import Numbers


def points_along(body: Body, eta: Array, x: Array) -> Array:
    """(..., points, 3) at the distances x along a link, from its elastic coordinates."""
    U, H = _shapes(body.integrals, tuple(x.tolist()))
    out = np.einsum("pin,...n->...pi", U, eta)
    out[..., 0] += x - np.einsum("...m,pmn,...n->...p", eta, H, eta) / 2
    return np.asarray(out)


@lru_cache(maxsize=16)  # a film asks for the same places at every frame
def _shapes(integrals: LinkIntegrals, x: tuple[float, ...]) -> tuple[Array, Array]:
    """Displacements U (points, 3, n) and shortenings H (points, n, n)."""
    return integrals.displacement(np.array(x)), np.stack([integrals.shortening(0.0, each) for each in x])


def points_along_gripped(body: Body, link: int, functions: Functions, numbers: Array, q: Array, x: Array) -> Array:
    """The same of a link that slides through its joint, from all coordinates q (..., nq)."""
    rail = Numbers()
    add_rail(rail, "rail", body)
    leading, count = q.shape[:-1], len(x)
    states = np.broadcast_to(q[..., None, :], (*leading, count, q.shape[-1])).reshape(-1, q.shape[-1])
    places = np.broadcast_to(x, (*leading, count)).reshape(-1)
    found = functions.axis(link, rail)(states.T, places[None, :], rail.vector, numbers)
    return np.asarray(np.array(found).T.reshape(*leading, count, 3))
