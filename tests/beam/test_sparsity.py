"""Entries that are zero or one by construction, for every basis and any length, section and material."""

from functools import partial

import numpy as np
import pytest

import flexarm as fa
from flexarm.beam.bases import mesh
from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.section_nodes import LinkNodes
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.beam.sparsity import SparsityPatterns

BASES = {
    "modes": fa.Modes(),
    "tip mass": fa.Modes(0.2),
    "tip inertia": fa.Modes(0.0, 0.01),
    "tip mass and inertia": fa.Modes(0.2, 0.01),
    "elements": fa.Elements(),
    "quadratic elements": fa.Elements(order=2),
    "reduced": fa.Reduced(5),
    "Craig-Bampton": fa.Reduced(5, 2, "fixed"),
}
FAMILIES = {
    "plane": {"bend_y": 3},
    "other plane": {"bend_z": 2},
    "twist": {"twist": 2},
    "stretch": {"stretch": 3},
    "plane and stretch": {"bend_y": 2, "stretch": 3},
    "space": {"bend_y": 3, "bend_z": 2, "twist": 2, "stretch": 3},
}
PLACES = (0.0, 0.2, 1 / 3, 0.4, 0.5, 2 / 3, 0.77, 1.0)  # of a link's length; some of them are nodes


def bar(draw):
    return fa.Section.rectangle(*draw.uniform(0.01, 0.03, 2))


def stepped(draw):
    return fa.Section.stepped([{"upto": 0.4, "section": bar(draw)}, {"upto": 1.0, "section": bar(draw)}])


SECTIONS = {"uniform": bar, "tapered": lambda draw: fa.Section.tapered(bar(draw), bar(draw)), "stepped": stepped}

KINDS = {
    "clamped": LinkIntegrals,
    "smooth": partial(LinkIntegrals, smooth=True),
    "free": partial(LinkIntegrals, clamped=False),
    "sliding": SlidingIntegrals,
}


def integrals(basis, families, section="uniform", kind="clamped", seed=0, **fields):
    """Return the integrals of a link with random numbers."""
    draw = np.random.default_rng(seed)
    damping = fa.Damping(*draw.uniform(0.01, 0.1, 1), alpha=draw.uniform(0.1, 1), beta=draw.uniform(1e-4, 1e-3))
    stiffening = fields.pop("stiffening", "shortening")
    shear, damping = fields.pop("shear", False), fields.pop("damping", damping)
    flexible = fa.Flexible(**families, basis=basis, stiffening=stiffening, damping=damping, shear=shear)
    return KINDS[kind](
        fa.Link(
            "link",
            length=draw.uniform(0.1, 10.0),
            section=SECTIONS[section](draw),
            material=fa.Material(10 ** draw.uniform(9, 12), draw.uniform(500, 8000), nu=draw.uniform(0.1, 0.4)),
            flexible=flexible,
            **fields,
        )
    )


def known(of: LinkIntegrals):
    """By name: values, where there are numbers, and where there is a one (or minus one)."""
    p, nothing = SparsityPatterns(of), {}
    for name in ("a", "b"):
        yield name, getattr(of, name), p.a, nothing
    for name in ("section_inertia", "j", "K", "D", "D_ratios", "M_elastic"):
        yield name, getattr(of, name), getattr(p, name), nothing
    forms = SecondOrderBlocks(of)
    for k, each in forms.present(DISPLACEMENT_PRODUCTS):
        for power in (0, 1):
            yield f"moment {power} of {k}", forms.moment(each, power), p.product(each), nothing
    for axes, value in of.M.items():
        yield f"M.{axes}", value, p.M(axes), p.M_ones(axes)
    for name, place in of.columns.items():
        yield f"M.{name}", of.M_elastic[place, place], p.mass_of(name), p.unit_of(name)
    for x in (fraction * of.length for fraction in PLACES):
        station = of.station(x)
        yield f"U({x})", station.U, *p.U(x)
        yield f"W({x})", station.W, *p.W(x)
        for k, each in (*forms.present(DISPLACEMENT_PRODUCTS), *forms.present(ROTATION_PRODUCTS)):
            yield f"product {k} at {x}", forms.at(each, x), p.product(each, x), nothing
    if of.stiffening == "exact":
        yield from known_of_nodes(of, p)
    if isinstance(of, SlidingIntegrals):
        yield from known_of_sliding(of, p)


def known_of_nodes(of: LinkIntegrals, p: SparsityPatterns):
    """Rotations at the nodes of an exact link, between them, and its stretch there."""
    before = 0.0
    for x in LinkNodes(of).places.tolist():
        yield f"W({x})", of.station(x).W, p.W(x)[0], {}
        turns = of.rotation(np.array([before, x]))
        yield f"turn from {before} to {x}", turns[1] - turns[0], p.relative_rotation(before, x), {}
        for name, place in of.columns.items():
            values = of.shapes[name](x)[0]
            assert len(values) == place.stop - place.start
            yield f"{name}({x})", values, p.nonzero_at(name, x), {}
        before = x


def known_of_sliding(of: SlidingIntegrals, p: SparsityPatterns):
    for name in ("a_c", "b_c"):
        yield name, getattr(of, name), p.a, {}
    for axes, value in of.M_c.items():
        yield f"M_c.{axes}", value, p.M(axes, convected=True), {}
    yield "M_cc", of.M_cc, p.M_cc, {}
    for row in range(3):
        j, j_c, *products = of.turning(row)
        for name, value in (("j", j), ("j_c", j_c)):
            yield f"turning.{row}.{name}", value, p.j[row], {}
        for name, value in zip(("plain", "mixed", "flowing"), products, strict=True):
            yield f"turning.{row}.{name}", value, p.turning(row), {}
    for family, (plain, mixed, flowing) in of.convected_damping.items():
        yield f"{family}.plain", plain, p.stiffness_of(family), {}
        yield f"{family}.mixed", mixed, p.overlap(family), {}
        yield f"{family}.flowing", flowing, p.overlap(family), {}


def check(of: LinkIntegrals) -> None:
    for name, value, pattern, ones in known(of):
        scale = np.abs(value).max(initial=0.0)
        outside = np.abs(value[~np.asarray(pattern)]).max(initial=0.0)
        assert outside <= 1e-9 * scale, f"{name} has {outside:.3g} beside {scale:.3g} where it should be zero"
        if not isinstance(ones, dict):
            np.testing.assert_allclose(np.abs(value[ones]), 1.0, rtol=1e-9, err_msg=name)
            assert not (ones & ~pattern).any(), f"{name}: a one is no zero"


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("families", FAMILIES)
@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("rotary", [False, True])
def test_what_is_zero_or_one_by_construction_is(basis, families, section, rotary):
    for seed, stiffening in enumerate(("shortening", "none")):
        options = {"seed": seed, "stiffening": stiffening, "rotary_inertia": rotary}
        check(integrals(BASES[basis], FAMILIES[families], section, **options))


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("rotary", [False, True])
def test_of_links_with_shear(basis, section, rotary):
    for seed, stiffening in enumerate(("shortening", "none")):
        families = {"bend_y": 3, "bend_z": 2, "twist": 2}
        options = {"seed": seed, "stiffening": stiffening, "rotary_inertia": rotary, "shear": True}
        check(integrals(BASES[basis], families, section, **options))


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("families", FAMILIES)
def test_of_links_that_slide_through_a_joint(basis, families):
    for seed, stiffening in enumerate(("shortening", "none")):
        options = {"seed": seed, "stiffening": stiffening, "rotary_inertia": bool(seed)}
        check(integrals(BASES[basis], FAMILIES[families], kind="sliding", **options))


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize(
    ("basis", "kind"),
    [("modes", "smooth"), ("tip mass", "smooth"), ("elements", "free"), ("quadratic elements", "free")],
)
def test_of_links_along_which_something_slides_and_of_free_roots(basis, kind, section):
    check(integrals(BASES[basis], FAMILIES["space"], section, kind, damping=fa.Damping(alpha=0.1, beta=1e-3)))


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("families", FAMILIES)
def test_of_links_that_are_exact(basis, families):
    for seed, section in enumerate(SECTIONS):
        check(integrals(BASES[basis], FAMILIES[families], section, seed=seed, stiffening="exact"))


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(("kind", "section"), [*(("clamped", name) for name in SECTIONS), ("sliding", "uniform")])
def test_patterns_do_not_depend_on_numbers(basis, kind, section):
    made = partial(integrals, BASES[basis], FAMILIES["space"], section, kind, rotary_inertia=True)
    first = [(pattern, ones) for _, _, pattern, ones in known(made(seed=0))]
    for seed in range(1, 6):
        for (pattern, ones), (_, _, again, other_ones) in zip(first, known(made(seed=seed)), strict=True):
            np.testing.assert_array_equal(again, pattern)
            if not isinstance(ones, dict):
                np.testing.assert_array_equal(other_ones, ones)


def test_modes_are_orthogonal_and_elements_meet_their_neighbours():
    """Not all is a number: that is what the patterns are for."""
    modes = SparsityPatterns(integrals(fa.Modes(), {"bend_y": 4, "stretch": 2}))
    for pattern in (modes.K, modes.M_elastic, modes.D_ratios):
        np.testing.assert_array_equal(pattern, np.eye(6, dtype=bool))
    np.testing.assert_array_equal(modes.M_ones("vv"), np.diag([True] * 4 + [False] * 2) & modes.M("vv"))
    meshed = SparsityPatterns(integrals(fa.Elements(), {"bend_y": 4}))
    apart = np.abs(np.subtract.outer(np.arange(8) // 2, np.arange(8) // 2))  # of nodes
    np.testing.assert_array_equal(meshed.K, apart <= 1)
    at_node, ones = meshed.U(0.5 * meshed._of.length)
    assert at_node.sum() == ones.sum() == 1


def test_what_may_be_a_number_is_one_somewhere():
    """No entry of a tapered link's matrices is called a number and is zero all the same."""
    for basis in ("modes", "elements", "Craig-Bampton"):
        of = integrals(BASES[basis], {"bend_y": 3, "bend_z": 2}, "tapered", rotary_inertia=True)
        for name, value, pattern, _ in known(of):
            if name in ("a", "K", "D", "D_ratios", "M_elastic", "moment 0 of 0", "moment 0 of 1"):
                assert (value[pattern] != 0).all(), f"{basis}: {name}"


@pytest.mark.parametrize(("shares", "count"), [((1 / 3, 2 / 3), 3), ((0.2, 0.8), 6), ((0.1, 0.3, 0.6), 11)])
def test_a_mesh_has_the_same_elements_at_every_length(shares, count):
    """Pieces whose elements are equally long get the next one by their order, not by the rounding of a length."""
    breaks = np.concatenate([[0.0], np.cumsum(shares)])
    first = mesh(breaks, count)
    for length in np.random.default_rng(0).uniform(0.1, 10.0, 300):
        np.testing.assert_allclose(mesh(breaks * length, count) / length, first, atol=1e-12)
