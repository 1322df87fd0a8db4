"""Numbers of places on a link: the shapes where something is fixed, and along what something slides."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.patterns import NEAR, Pattern, Patterns
from flexarm.beam.polynomials import PiecewisePolynomials
from flexarm.foundation.families import FAMILIES
from flexarm.foundation.numbers import Array
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.numbers import Numbers
from flexarm.robot import Elements


def add_place(numbers: Numbers, path: str, body: Body, x: float) -> None:
    """Where something is fixed to a link. On one that slides through its joint an end is known; elsewhere the part
    that has the place is found while it moves."""
    if not body.gripped:
        add_station(numbers, path, body.integrals, x)
        return
    end = _end(body, x)
    numbers.fact(path, "is at", f"the {end}" if end != "inside" else "a place between the ends")
    if end == "tip":
        add_station(numbers, f"{path}.front", body.integrals, body.link.length)
        return
    if end == "root" and body.rear is not None:
        add_station(numbers, f"{path}.rear", body.rear, body.link.length)
        return
    numbers.add(f"{path}.x", "m", x)
    add_shapes(numbers, f"{path}.front", body.integrals)
    if body.rear is not None:
        add_shapes(numbers, f"{path}.rear", body.rear)


def add_any_place(numbers: Numbers, path: str, body: Body, x: float) -> None:
    """The same with numbers for all that could have a value at some x: one function serves every place."""
    if body.gripped:
        add_place(numbers, path, body, x)
    else:
        add_station(numbers, path, body.integrals, x, anywhere=True)


def _end(body: Body, x: float) -> str:
    near = NEAR * body.link.length
    if x <= near and body.rear is not None:
        return "root"
    return "tip" if x >= body.link.length - near else "inside"


def add_station(numbers: Numbers, path: str, integrals: LinkIntegrals, x: float, anywhere: bool = False) -> None:
    """Shapes at x; `anywhere`: with numbers for all that could have a value at some x."""
    patterns = Patterns(integrals)
    x = x if anywhere else patterns.snapped(x)
    station = integrals.station(x)
    (U, U_ones), (W, W_ones), H = patterns.U(x), patterns.W(x), patterns.H(0.0, x)
    if anywhere:
        none = np.zeros_like(U)
        U, U_ones, W, W_ones, H = patterns.a, none, patterns.turned, none, patterns.H()
    numbers.add(f"{path}.x", "m", station.x, np.array(anywhere or x > NEAR * integrals.length))
    numbers.add(f"{path}.U", "m", station.U, U, ones=U_ones)
    numbers.add(f"{path}.W", "rad", station.W, W, ones=W_ones)
    numbers.add(f"{path}.H", "m", station.H, H, symmetric=True)


def add_shapes(numbers: Numbers, path: str, integrals: LinkIntegrals) -> None:
    """The functions themselves, in powers of a coordinate from -1 to 1 on each of their pieces."""
    for name, space in integrals.shapes.items():
        _add_polynomials(numbers, f"{path}.{name}.N", space, _lives(integrals, name))
        numbers.add(f"{path}.{name}.breaks", "m", space.breaks, space.breaks > 0)
        if name.startswith("bend") and integrals.stiffening != "none":
            pairs, lives = products(space.derivative()).integral(), _lives(integrals, name)
            one, other = np.tril_indices(space.count)
            both = lives[:, one] & lives[:, other]
            pattern = np.repeat(both[None], pairs.degree + 1, axis=0)
            pattern[0] = np.logical_or.accumulate(both, axis=0)  # what has grown stays as it is
            _add_polynomials(numbers, f"{path}.{name}.H", pairs, pattern)


def add_nodes(numbers: Numbers, path: str, integrals: LinkIntegrals) -> None:
    """The nodes of a mesh, and the functions there: one or zero each."""
    for name, space in integrals.shapes.items():
        numbers.add(f"{path}.{name}.nodes", "m", space.breaks, space.breaks > 0)
        numbers.add_whole(f"{path}.{name}.N", space(space.breaks))
        if FAMILIES[name].order == 2:
            numbers.add_whole(f"{path}.{name}.dN", space.derivative()(space.breaks))
        if name.startswith("bend") and integrals.stiffening != "none":
            place, patterns = integrals.columns[name], Patterns(integrals)
            for k, node in enumerate(space.breaks.tolist()):
                H, pattern = integrals.shortening(0.0, node), patterns.H(0.0, node)
                numbers.add(f"{path}.{name}.H.{k}", "m", H[place, place], pattern[place, place])


def _add_polynomials(numbers: Numbers, path: str, space: PiecewisePolynomials, pattern: Pattern) -> None:
    """(degree + 1, pieces * functions): powers of the local coordinate, the lowest first."""
    powers = np.einsum("jk,kpn->jpn", _legendre_in_powers(space.degree), space.coefficients)
    flat = powers.reshape(len(powers), -1)
    numbers.add(path, "1", flat, np.broadcast_to(pattern, powers.shape).reshape(flat.shape), powers=True)


def _lives(integrals: LinkIntegrals, name: str) -> Pattern:
    """(pieces, functions): where a function is not zero by construction."""
    space, flexible = integrals.shapes[name], integrals.link.flexible
    if flexible is not None and isinstance(flexible.basis, Elements):
        return np.asarray((space.coefficients != 0).any(axis=0))
    return np.ones(space.coefficients.shape[1:], dtype=bool)


def _legendre_in_powers(degree: int) -> Array:
    """Column k: the coefficients of Legendre's polynomial P_k."""
    out = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        out[: k + 1, k] = legendre.leg2poly(np.eye(degree + 1)[k])[: k + 1]
    return out


def products(functions: PiecewisePolynomials) -> PiecewisePolynomials:
    """All products of two of the functions: the lower half of their matrix, row by row."""
    degree, (one, other) = 2 * functions.degree, np.tril_indices(functions.count)
    nodes, weights = legendre.leggauss(degree + 1)
    values = np.einsum("gk,kpn->gpn", legendre.legvander(nodes, functions.degree), functions.coefficients)
    pairs = values[:, :, one] * values[:, :, other]
    projection = (np.arange(degree + 1) + 0.5)[:, None] * legendre.legvander(nodes, degree).T * weights
    return PiecewisePolynomials(functions.breaks, np.einsum("kg,gpn->kpn", projection, pairs))
