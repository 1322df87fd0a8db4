"""Numbers of places on a link: the shapes where something is fixed, and along what something slides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.patterns import Pattern, Patterns
from flexarm.beam.polynomials import PiecewisePolynomials, multiplied, pairs_of
from flexarm.beam.second_order import MOVES, TURNS, Product, SecondOrder, functions
from flexarm.foundation.families import FAMILIES
from flexarm.foundation.numbers import Array
from flexarm.mechanics.numbers import Numbers


def add_shapes(numbers: Numbers, path: str, integrals: LinkIntegrals) -> None:
    """The functions themselves, in powers of a coordinate from -1 to 1 on each of their pieces."""
    for name, space in integrals.shapes.items():
        add_polynomials(numbers, f"{path}.{name}", space, _lives(integrals, name))
    if integrals.stiffening not in ("none", "exact"):
        _add_forms(numbers, f"{path}.F", integrals, MOVES)
        _add_forms(numbers, f"{path}.Q", integrals, TURNS)


def _add_forms(numbers: Numbers, path: str, integrals: LinkIntegrals, products: Sequence[Product]) -> None:
    """Displacements and angles of second order."""
    shapes = integrals.shapes
    for k, each in SecondOrder(integrals).present(products):
        one, other = functions(shapes[each.one], each.what), functions(shapes[each.other], each.other_what)
        grown = multiplied(one, other, both=each.one != each.other).integral()
        lives = _pair_lives(integrals, each, grown.breaks)
        if each.integrated == "twice":
            grown = grown.integral()
        # what has grown stays as it is, and goes on in a straight line where it was integrated twice
        pattern = np.repeat(lives[None], grown.degree + 1, axis=0)
        past = np.logical_or.accumulate(lives, axis=0)
        pattern[0] = past
        if each.integrated == "twice":
            pattern[1] = past
        signed = PiecewisePolynomials(grown.breaks, each.sign * grown.coefficients)
        add_polynomials(numbers, f"{path}.{k}", signed, pattern)


def _pair_lives(integrals: LinkIntegrals, product: Product, breaks: Array) -> Pattern:
    """(pieces, pairs): where the product of two functions is not zero by construction."""
    middles = (breaks[:-1] + breaks[1:]) / 2
    alive = []
    for name in (product.one, product.other):
        of = integrals.shapes[name].breaks
        alive.append(_lives(integrals, name)[np.clip(np.searchsorted(of, middles) - 1, 0, len(of) - 2)])
    one, other = pairs_of(alive[0].shape[1], alive[1].shape[1], product.one != product.other)
    return np.asarray(alive[0][:, one] & alive[1][:, other])


def add_nodes(numbers: Numbers, path: str, integrals: LinkIntegrals) -> None:
    """The nodes of a mesh, and the functions there: one or zero each."""
    forms, patterns = SecondOrder(integrals), Patterns(integrals)
    for name, space in integrals.shapes.items():
        numbers.add(f"{path}.{name}.nodes", "m", space.breaks, space.breaks > 0)
        numbers.add_whole(f"{path}.{name}.N", space(space.breaks))
        if FAMILIES[name].order == 2:
            numbers.add_whole(f"{path}.{name}.dN", space.derivative()(space.breaks))
    for kind, products in (("F", MOVES), ("Q", TURNS)):
        for k, each in forms.present(products):
            for node, x in enumerate(integrals.shapes[each.one].breaks.tolist()):
                numbers.add(f"{path}.{kind}.{k}.{node}", "m", forms.at(each, x), patterns.product(each, x))


def add_polynomials(numbers: Numbers, path: str, space: PiecewisePolynomials, pattern: Pattern | None = None) -> None:
    """(degree + 1, pieces * functions): powers of the local coordinate, the lowest first; and their pieces."""
    powers = np.einsum("jk,kpn->jpn", _legendre_in_powers(space.degree), space.coefficients)
    flat = powers.reshape(len(powers), -1)
    present = np.ones(powers.shape, dtype=bool) if pattern is None else np.broadcast_to(pattern, powers.shape)
    numbers.add(path, "1", flat, present.reshape(flat.shape), powers=True)
    numbers.add(f"{path}.breaks", "m", space.breaks, space.breaks > 0)


def _lives(integrals: LinkIntegrals, name: str) -> Pattern:
    """(pieces, functions): where a function is not zero by construction."""
    space, flexible = integrals.shapes[name], integrals.link.flexible
    if flexible is not None and flexible.meshed:
        return np.asarray((space.coefficients != 0).any(axis=0))
    return np.ones(space.coefficients.shape[1:], dtype=bool)


def _legendre_in_powers(degree: int) -> Array:
    """Column k: the coefficients of Legendre's polynomial P_k."""
    out = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        out[: k + 1, k] = legendre.leg2poly(np.eye(degree + 1)[k])[: k + 1]
    return out
