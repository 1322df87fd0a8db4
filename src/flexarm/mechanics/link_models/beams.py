"""Numbers that several kinds of links share: integrals of shapes, stiffness and damping."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.loads import Loads
from flexarm.beam.patterns import Patterns
from flexarm.beam.second_order import BENDS, MOVES, SecondOrder
from flexarm.robot import FixedPrismatic, Link, Weld

if TYPE_CHECKING:
    from flexarm.mechanics.numbers import Numbers

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
    known: dict[tuple[object, ...], Numbers] = beam.remembered
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
    patterns = Patterns(beam)
    add_mass(numbers, path, beam)
    numbers.add(f"{path}.a", "kg m", beam.a, patterns.a)
    numbers.add(f"{path}.b", "kg m2", beam.b, patterns.a)
    for pair in PAIRS:
        same, ones = pair[0] == pair[1], patterns.M_ones(pair)
        numbers.add(f"{path}.M.{pair}", "kg m2", beam.M[pair], patterns.M(pair), symmetric=same, ones=ones)
    if beam.stiffening == "none":
        return
    forms = SecondOrder(beam)
    for k, each in forms.present(MOVES):
        same, pattern = each.one == each.other, patterns.product(each)
        for power, unit in ((0, "kg m"), (1, "kg m2")):
            if same and power and not needs_all:
                value = -forms.moment(each, power) / (beam.g0 or 1.0)
                numbers.add(f"{path}.squeeze.{k}", "1", value, pattern, symmetric=True)
                continue
            numbers.add(f"{path}.bent.{power}.{k}", unit, forms.moment(each, power), pattern, symmetric=same)
    for axis in BENDS:
        if any(each.axis == axis for _, each in forms.present(MOVES)):
            numbers.add(f"{path}.line.{'xyz'[axis]}", "1/kg", forms.line(axis), symmetric=True)


def add_strain(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    """Stiffness and damping that do not change."""
    patterns = Patterns(beam)
    numbers.add(f"{path}.K", "J", beam.K, patterns.K, symmetric=True)
    numbers.add(f"{path}.D", "J s", beam.D, patterns.D, symmetric=True)


def add_section_inertia(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    """Of sections that do not tilt."""
    pattern = Patterns(beam).section_inertia
    numbers.add(f"{path}.section_inertia", "kg m2", np.where(pattern, beam.section_inertia, 0.0), pattern)
