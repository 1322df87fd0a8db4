"""Parameters shared by link models: integrals of shapes, stiffness and damping, nodes, and shapes along a link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

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
from flexarm.dynamics.parameters import Parameters
from flexarm.foundation.validation import Array
from flexarm.robot import FixedPrismatic, Link, Weld
from flexarm.robot.flexibility import FAMILIES

PAIRS = ("uu", "uv", "uw", "vv", "vw", "ww")
MAX_CACHED_PARAMETER_SETS = 32  # per beam

NON_BEAM_FIELDS: dict[str, Any] = {
    "name": "",
    "joint": Weld.model_construct(),
    "parent": None,
    "at": None,
    "offset": (0.0, 0.0, 0.0),
    "hub": None,
    "payload": None,
    "masses": (),
}
"""Fields of a link on which its integrals do not depend: its joint and position, and what is attached to it."""


def beam_integrals(link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
    """Return the integrals of a link, shared by links that are the same beam with the same loads in its modes."""
    loose = link.flexible is not None and link.flexible.loose
    own = tuple((name, value) for name, value in vars(link).items() if name not in NON_BEAM_FIELDS)
    return _integrals(type(link), own, link.stiffening, smooth, not (loose or nodally_held(link)), loads)


@lru_cache(maxsize=32)
def _integrals(
    kind: type[Link], own: tuple[tuple[str, Any], ...], stiffening: str, smooth: bool, clamped: bool, loads: Loads
) -> LinkIntegrals:
    beam = kind.model_construct(None, **dict(own), **NON_BEAM_FIELDS)
    if beam.flexible is not None:  # "auto" may depend on the joint
        beam = beam.model_copy(update={"flexible": beam.flexible.model_copy(update={"stiffening": stiffening})})
    return LinkIntegrals(beam, smooth, clamped, loads)


def nodally_held(link: Link) -> bool:
    """Return True if a link slides through its joint as a whole and is held there at nodes of its mesh."""
    joint = link.joint
    return isinstance(joint, FixedPrismatic) and joint.on_mesh and link.flexible is not None


def add_cached(
    parameters: Parameters, path: str, beam: LinkIntegrals, key: tuple[object, ...], add: Callable[[Parameters], None]
) -> None:
    """Add parameters that follow from a beam and a key alone, under a path.

    They are computed once for all robots that have that beam, and for everything at the same position on it. `add` adds
    them with names without the path.
    """
    cached: dict[tuple[object, ...], Parameters] = beam.cache
    own = cached.get((path, *key))
    if own is None:
        bare = cached.get(key)
        if bare is None:
            bare = type(parameters)()
            add(bare)
        own = bare.under(path)
        if len(cached) > MAX_CACHED_PARAMETER_SETS - 2:  # room for the two that are added
            cached.clear()
        # Stored when complete: failures are not cached, and other threads may read.
        cached[key], cached[path, *key] = bare, own
    parameters.include(own)


def add_mass(parameters: Parameters, path: str, beam: LinkIntegrals) -> None:
    """Add mass, first moment and inertia of a straight link."""
    parameters.add(f"{path}.m", "kg", beam.m)
    parameters.add(f"{path}.c0", "kg m", beam.c0)
    parameters.add(f"{path}.g0", "kg m2", beam.g0)


def add_shape_integrals(parameters: Parameters, path: str, beam: LinkIntegrals, needs_all: bool = False) -> None:
    """Add the integrals for the energy of a link's points.

    `needs_all`: include int mu x s, in addition to the squeeze that replaces it.
    """
    patterns = SparsityPatterns(beam)
    add_mass(parameters, path, beam)
    parameters.add(f"{path}.a", "kg m", beam.a, patterns.a)
    parameters.add(f"{path}.b", "kg m2", beam.b, patterns.a)
    for pair in PAIRS:
        same, ones = pair[0] == pair[1], patterns.M_ones(pair)
        parameters.add(f"{path}.M.{pair}", "kg m2", beam.M[pair], patterns.M(pair), symmetric=same, ones=ones)
    if beam.stiffening == "none":
        return
    forms = SecondOrderBlocks(beam)
    for k, each in forms.present(DISPLACEMENT_PRODUCTS):
        same, pattern = each.one == each.other, patterns.product(each)
        for power, unit in ((0, "kg m"), (1, "kg m2")):
            if same and power and not needs_all:
                value = -forms.moment(each, power) / (beam.g0 or 1.0)
                parameters.add(f"{path}.squeeze.{k}", "1", value, pattern, symmetric=True)
                continue
            parameters.add(f"{path}.bent.{power}.{k}", unit, forms.moment(each, power), pattern, symmetric=same)
    for axis in BENDING_FAMILIES:
        if any(each.axis == axis for _, each in forms.present(DISPLACEMENT_PRODUCTS)):
            parameters.add(f"{path}.line.{'xyz'[axis]}", "1/kg", forms.rigid_projection(axis), symmetric=True)


def add_strain(parameters: Parameters, path: str, beam: LinkIntegrals) -> None:
    """Add constant stiffness and damping."""
    patterns = SparsityPatterns(beam)
    parameters.add(f"{path}.K", "J", beam.K, patterns.K, symmetric=True)
    parameters.add(f"{path}.D", "J s", beam.D, patterns.D, symmetric=True)


def add_section_inertia(parameters: Parameters, path: str, beam: LinkIntegrals) -> None:
    """Add the inertia of sections that do not tilt."""
    pattern = SparsityPatterns(beam).section_inertia
    parameters.add(f"{path}.section_inertia", "kg m2", np.where(pattern, beam.section_inertia, 0.0), pattern)


def add_stretch(parameters: Parameters, path: str, beam: LinkIntegrals, nodes: LinkNodes) -> None:
    """Add the stretch u' at the nodes, if the link stretches."""
    if "stretch" not in beam.columns:
        return
    columns, x = beam.columns["stretch"], nodes.places
    rows, present = np.zeros((len(x), beam.count)), np.zeros((len(x), beam.count), dtype=bool)
    rows[:, columns] = beam.shapes["stretch"].derivative()(x)
    present[:, columns] = np.stack([SparsityPatterns(beam).nonzero_at("stretch", each) for each in x.tolist()])
    parameters.add(f"{path}.stretch", "1", rows, present)


def add_shapes(parameters: Parameters, path: str, integrals: LinkIntegrals) -> None:
    """Add the shape functions, as coefficients of powers of a coordinate from -1 to 1 on each piece."""
    for name, space in integrals.shapes.items():
        add_polynomials(parameters, f"{path}.{name}", space, _nonzero_pattern(integrals, name))
    if integrals.stiffening not in ("none", "exact"):
        _add_forms(parameters, f"{path}.F", integrals, DISPLACEMENT_PRODUCTS)
        _add_forms(parameters, f"{path}.Q", integrals, ROTATION_PRODUCTS)


def _add_forms(parameters: Parameters, path: str, integrals: LinkIntegrals, products: Sequence[Product]) -> None:
    """Add displacements and angles of second order."""
    shapes = integrals.shapes
    for k, each in SecondOrderBlocks(integrals).present(products):
        one, other = (
            select_functions(shapes[each.one], each.quantity),
            select_functions(shapes[each.other], each.other_quantity),
        )
        grown = multiply(one, other, both=each.one != each.other).integral()
        lives = _nonzero_product_pattern(integrals, each, grown.breaks)
        if each.integrated == "twice":
            grown = grown.integral()
        # An integral stays constant beyond its integrand, and continues linearly if integrated twice.
        pattern = np.repeat(lives[None], grown.degree + 1, axis=0)
        past = np.logical_or.accumulate(lives, axis=0)
        pattern[0] = past
        if each.integrated == "twice":
            pattern[1] = past
        signed = PiecewisePolynomials(grown.breaks, each.sign * grown.coefficients)
        add_polynomials(parameters, f"{path}.{k}", signed, pattern)


def _nonzero_product_pattern(integrals: LinkIntegrals, product: Product, breaks: Array) -> Pattern:
    """Return the mask (pieces, pairs) of products of two functions that are not zero by construction."""
    middles = (breaks[:-1] + breaks[1:]) / 2
    alive = []
    for name in (product.one, product.other):
        of = integrals.shapes[name].breaks
        alive.append(_nonzero_pattern(integrals, name)[np.clip(np.searchsorted(of, middles) - 1, 0, len(of) - 2)])
    one, other = pair_indices(alive[0].shape[1], alive[1].shape[1], product.one != product.other)
    return np.asarray(alive[0][:, one] & alive[1][:, other])


def add_nodes(parameters: Parameters, path: str, integrals: LinkIntegrals) -> None:
    """Add the nodes of a mesh, and the functions there, which are one or zero."""
    forms, patterns = SecondOrderBlocks(integrals), SparsityPatterns(integrals)
    for name, space in integrals.shapes.items():
        parameters.add(f"{path}.{name}.nodes", "m", space.breaks, space.breaks > 0)
        parameters.add_whole(f"{path}.{name}.N", space(space.breaks))
        if FAMILIES[name].order == 2:
            parameters.add_whole(f"{path}.{name}.dN", space.derivative()(space.breaks))
    for kind, products in (("F", DISPLACEMENT_PRODUCTS), ("Q", ROTATION_PRODUCTS)):
        for k, each in forms.present(products):
            for node, x in enumerate(integrals.shapes[each.one].breaks.tolist()):
                parameters.add(f"{path}.{kind}.{k}.{node}", "m", forms.at(each, x), patterns.product(each, x))


def add_polynomials(
    parameters: Parameters, path: str, space: PiecewisePolynomials, pattern: Pattern | None = None
) -> None:
    """Add the coefficients (degree + 1, pieces * functions) of powers of the local coordinate, and the pieces.

    Powers are in ascending order.
    """
    powers = np.einsum("jk,kpn->jpn", _legendre_in_powers(space.degree), space.coefficients)
    flat = powers.reshape(len(powers), -1)
    present = np.ones(powers.shape, dtype=bool) if pattern is None else np.broadcast_to(pattern, powers.shape)
    parameters.add(path, "1", flat, present.reshape(flat.shape), powers=True)
    parameters.add(f"{path}.breaks", "m", space.breaks, space.breaks > 0)


def _nonzero_pattern(integrals: LinkIntegrals, name: str) -> Pattern:
    """Return the mask (pieces, functions) of functions that are not zero by construction."""
    space, flexible = integrals.shapes[name], integrals.link.flexible
    if flexible is not None and flexible.meshed:
        return np.asarray((space.coefficients != 0).any(axis=0))
    return np.ones(space.coefficients.shape[1:], dtype=bool)


def _legendre_in_powers(degree: int) -> Array:
    """Return the matrix whose column k has the power coefficients of the Legendre polynomial P_k."""
    out = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        out[: k + 1, k] = legendre.leg2poly(np.eye(degree + 1)[k])[: k + 1]
    return out
