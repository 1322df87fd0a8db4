"""Numbers of what slides along a link."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.beam.integrals import LinkIntegrals
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.place_numbers import add_shapes


def rail(elements: int) -> tuple[LinkIntegrals, Numbers]:
    flexible = fa.Flexible(bend_y=elements, basis="elements")
    bar = fa.Section.rectangle(0.01, 0.01)
    of = LinkIntegrals(fa.Link("rail", 1.3, section=bar, material=fa.Material(7e10, 2700), flexible=flexible))
    numbers = Numbers()
    add_shapes(numbers, "rail", of)
    return of, numbers


def test_shapes_of_a_mesh_have_numbers_where_they_live():
    """Each function on two elements; each product of slopes on one or two, and a constant beyond them."""
    counts = [len(rail(elements)[1].vector) for elements in (8, 16, 32)]
    assert counts[2] < 4.5 * counts[1] < 4.5**2 * counts[0]  # every pair on every element would be 8 times as many


@pytest.mark.parametrize("x", [0.0, 0.1, 0.65, 1.0, 1.3])
def test_the_polynomials_are_the_shortening(x):
    of, numbers = rail(4)
    entries = {each.name: each.value for each in numbers.entries}
    breaks, powers = entries["rail.bend_y.breaks"][:, 0], entries["rail.bend_y.H"]
    piece = min(int(np.searchsorted(breaks, x, "right")) - 1, 3)
    t = (2 * x - breaks[piece] - breaks[piece + 1]) / (breaks[piece + 1] - breaks[piece])
    found = np.polynomial.polynomial.polyval(t, powers.reshape(len(powers), 4, -1)[:, piece])
    np.testing.assert_allclose(found, of.shortening(0.0, x)[np.tril_indices(of.count)], atol=1e-12)
