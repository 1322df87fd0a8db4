"""Numbers of what slides along a link."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.links.beam_parameters import add_shapes
from flexarm.dynamics.parameters import Numbers


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
    breaks, powers = entries["rail.F.0.breaks"][:, 0], entries["rail.F.0"]
    piece = min(int(np.searchsorted(breaks, x, "right")) - 1, 3)
    t = (2 * x - breaks[piece] - breaks[piece + 1]) / (breaks[piece + 1] - breaks[piece])
    found = np.polynomial.polynomial.polyval(t, powers.reshape(len(powers), 4, -1)[:, piece])
    np.testing.assert_allclose(
        found, SecondOrderBlocks(of).at(DISPLACEMENT_PRODUCTS[0], x)[np.tril_indices(of.count)], atol=1e-12
    )


@pytest.mark.parametrize("basis", ["modes", "elements"])
def test_the_polynomials_are_all_products_of_families(basis):
    """Rows of pairs, of a family with itself the lower half."""
    flexible = fa.Flexible(bend_y=2, bend_z=3, twist=2, stretch=1, basis=basis, stiffening="shortening")
    bar = fa.Section.rectangle(0.01, 0.01)
    of = LinkIntegrals(fa.Link("rail", 1.3, section=bar, material=fa.Material(7e10, 2700), flexible=flexible))
    numbers, forms = Numbers(), SecondOrderBlocks(of)
    add_shapes(numbers, "rail", of)
    entries = {each.name: each.value for each in numbers.entries}
    for kind, products in (("F", DISPLACEMENT_PRODUCTS), ("Q", ROTATION_PRODUCTS)):
        for k, product in forms.present(products):
            breaks, powers = entries[f"rail.{kind}.{k}.breaks"][:, 0], entries[f"rail.{kind}.{k}"]
            pieces = len(breaks) - 1
            for x in (0.0, 0.3, 0.65, 0.9, 1.3):
                piece = min(int(np.searchsorted(breaks, x, "right")) - 1, pieces - 1)
                t = (2 * x - breaks[piece] - breaks[piece + 1]) / (breaks[piece + 1] - breaks[piece])
                found = np.polynomial.polynomial.polyval(t, powers.reshape(len(powers), pieces, -1)[:, piece])
                block = forms.at(product, x)
                expected = block[np.tril_indices(len(block))] if product.one == product.other else block.ravel()
                np.testing.assert_allclose(found, expected, atol=1e-9 * max(np.abs(forms.at(product, 1.3)).max(), 1e-9))
