"""Numbers that several kinds of links share: integrals of shapes, stiffness and damping.

Numbers of nodes that links in a plane and in space share.

Numbers of places on a link: the shapes where something is fixed, and along what something slides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.foreshortening import (
    BENDING_FAMILIES,
    DISPLACEMENT_PRODUCTS,
    ROTATION_PRODUCTS,
    Product,
    SecondOrderBlocks,
    select_functions,
)
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.loaded_modes import Loads
from flexarm.beam.polynomials import PiecewisePolynomials, multiply, pair_indices
from flexarm.beam.section_nodes import LinkNodes
from flexarm.beam.sparsity import Pattern, SparsityPatterns
from flexarm.dynamics.parameters import Numbers
from flexarm.foundation.validation import Array
from flexarm.robot import FixedPrismatic, Link, Weld
from flexarm.robot.flexibility import FAMILIES

if TYPE_CHECKING:
    from flexarm.dynamics.parameters import Numbers


PAIRS = ("uu", "uv", "uw", "vv", "vw", "ww")
REMEMBERED = 32  # things that a beam knows its numbers of

NOT_OF_BEAMS: dict[str, Any] = {
    "name": "",
    "joint": Weld.model_construct(),
    "parent": None,
    "at": None,
    "offset": (0.0, 0.0, 0.0),
    "hub": None,
    "payload": None,
    "masses": (),
}
"""Fields of a link on which its integrals do not depend: how it hangs, and what hangs on it."""


def beam_integrals(link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
    """Links that are the same beam, with the same loads in its modes, share them: other joints need no new ones."""
    loose = link.flexible is not None and link.flexible.loose
    own = tuple((name, value) for name, value in vars(link).items() if name not in NOT_OF_BEAMS)
    return _integrals(type(link), own, link.stiffening, smooth, not (loose or nodally_held(link)), loads)


@lru_cache(maxsize=32)
def _integrals(
    kind: type[Link], own: tuple[tuple[str, Any], ...], stiffening: str, smooth: bool, clamped: bool, loads: Loads
) -> LinkIntegrals:
    beam = kind.model_construct(None, **dict(own), **NOT_OF_BEAMS)
    if beam.flexible is not None:  # its model may follow from its joint
        beam = beam.model_copy(update={"flexible": beam.flexible.model_copy(update={"stiffening": stiffening})})
    return LinkIntegrals(beam, smooth, clamped, loads)


def nodally_held(link: Link) -> bool:
    """Whether the link slides through its joint as a whole and is held there at nodes of its mesh."""
    joint = link.joint
    return isinstance(joint, FixedPrismatic) and joint.on_mesh and link.flexible is not None


def add_once(
    numbers: Numbers, path: str, beam: LinkIntegrals, key: tuple[object, ...], add: Callable[[Numbers], None]
) -> None:
    """What follows from a beam and this key alone, under a path: computed once for all robots that have that beam, and
    for all that is at the same place of it. `add` leaves the path out."""
    known: dict[tuple[object, ...], Numbers] = beam.cache
    own = known.get((path, *key))
    if own is None:
        bare = known.get(key)
        if bare is None:
            bare = type(numbers)()
            add(bare)
        own = bare.under(path)
        if len(known) > REMEMBERED - 2:  # which come now
            known.clear()
        known[key], known[path, *key] = bare, own  # whole: what fails is not remembered, and other threads may look
    numbers.include(own)


def add_mass(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    """What a straight link needs."""
    numbers.add(f"{path}.m", "kg", beam.m)
    numbers.add(f"{path}.c0", "kg m", beam.c0)
    numbers.add(f"{path}.g0", "kg m2", beam.g0)


def add_shape_integrals(numbers: Numbers, path: str, beam: LinkIntegrals, needs_all: bool = False) -> None:
    """What the energy of its points needs; `needs_all`: int mu x s too, beside the squeeze that stands for it."""
    patterns = SparsityPatterns(beam)
    add_mass(numbers, path, beam)
    numbers.add(f"{path}.a", "kg m", beam.a, patterns.a)
    numbers.add(f"{path}.b", "kg m2", beam.b, patterns.a)
    for pair in PAIRS:
        same, ones = pair[0] == pair[1], patterns.M_ones(pair)
        numbers.add(f"{path}.M.{pair}", "kg m2", beam.M[pair], patterns.M(pair), symmetric=same, ones=ones)
    if beam.stiffening == "none":
        return
    forms = SecondOrderBlocks(beam)
    for k, each in forms.present(DISPLACEMENT_PRODUCTS):
        same, pattern = each.one == each.other, patterns.product(each)
        for power, unit in ((0, "kg m"), (1, "kg m2")):
            if same and power and not needs_all:
                value = -forms.moment(each, power) / (beam.g0 or 1.0)
                numbers.add(f"{path}.squeeze.{k}", "1", value, pattern, symmetric=True)
                continue
            numbers.add(f"{path}.bent.{power}.{k}", unit, forms.moment(each, power), pattern, symmetric=same)
    for axis in BENDING_FAMILIES:
        if any(each.axis == axis for _, each in forms.present(DISPLACEMENT_PRODUCTS)):
            numbers.add(f"{path}.line.{'xyz'[axis]}", "1/kg", forms.rigid_projection(axis), symmetric=True)


def add_strain(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    """Stiffness and damping that do not change."""
    patterns = SparsityPatterns(beam)
    numbers.add(f"{path}.K", "J", beam.K, patterns.K, symmetric=True)
    numbers.add(f"{path}.D", "J s", beam.D, patterns.D, symmetric=True)


def add_section_inertia(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    """Of sections that do not tilt."""
    pattern = SparsityPatterns(beam).section_inertia
    numbers.add(f"{path}.section_inertia", "kg m2", np.where(pattern, beam.section_inertia, 0.0), pattern)


def add_stretch(numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes) -> None:
    """u' at the nodes, where the link stretches."""
    if "stretch" not in beam.columns:
        return
    columns, x = beam.columns["stretch"], nodes.places
    rows, present = np.zeros((len(x), beam.count)), np.zeros((len(x), beam.count), dtype=bool)
    rows[:, columns] = beam.shapes["stretch"].derivative()(x)
    present[:, columns] = np.stack([SparsityPatterns(beam).nonzero_at("stretch", each) for each in x.tolist()])
    numbers.add(f"{path}.stretch", "1", rows, present)


def add_shapes(numbers: Numbers, path: str, integrals: LinkIntegrals) -> None:
    """The functions themselves, in powers of a coordinate from -1 to 1 on each of their pieces."""
    for name, space in integrals.shapes.items():
        add_polynomials(numbers, f"{path}.{name}", space, _lives(integrals, name))
    if integrals.stiffening not in ("none", "exact"):
        _add_forms(numbers, f"{path}.F", integrals, DISPLACEMENT_PRODUCTS)
        _add_forms(numbers, f"{path}.Q", integrals, ROTATION_PRODUCTS)


def _add_forms(numbers: Numbers, path: str, integrals: LinkIntegrals, products: Sequence[Product]) -> None:
    """Displacements and angles of second order."""
    shapes = integrals.shapes
    for k, each in SecondOrderBlocks(integrals).present(products):
        one, other = (
            select_functions(shapes[each.one], each.quantity),
            select_functions(shapes[each.other], each.other_quantity),
        )
        grown = multiply(one, other, both=each.one != each.other).integral()
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
    one, other = pair_indices(alive[0].shape[1], alive[1].shape[1], product.one != product.other)
    return np.asarray(alive[0][:, one] & alive[1][:, other])


def add_nodes(numbers: Numbers, path: str, integrals: LinkIntegrals) -> None:
    """The nodes of a mesh, and the functions there: one or zero each."""
    forms, patterns = SecondOrderBlocks(integrals), SparsityPatterns(integrals)
    for name, space in integrals.shapes.items():
        numbers.add(f"{path}.{name}.nodes", "m", space.breaks, space.breaks > 0)
        numbers.add_whole(f"{path}.{name}.N", space(space.breaks))
        if FAMILIES[name].order == 2:
            numbers.add_whole(f"{path}.{name}.dN", space.derivative()(space.breaks))
    for kind, products in (("F", DISPLACEMENT_PRODUCTS), ("Q", ROTATION_PRODUCTS)):
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
