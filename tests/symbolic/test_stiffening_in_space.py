"""Closed forms of spatial robots with stiffening "shortening" and "exact", against `System`."""

from functools import partial

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from tests.symbolic import cases
from tests.symbolic.cases import BAR, LUMP, STEEL, TOLERANCE, size_ratio, state, worst
from tests.symbolic.test_code import test_c_compiles_without_warnings_and_gives_the_same as compiled

FAMILIES = ("bend_y", "bend_z", "twist", "stretch")


def shapes(**counts):
    return fa.Flexible(stiffening="shortening", **counts)


def bar(name, joint, flexible=None, length=1.0, **fields):
    return fa.Link(name, length, joint, BAR, STEEL, flexible, **fields)


def robot(*links):
    return fa.Robot("spatial", links=links, gravity=(0.5, -1.0, -9.81))


agrees = partial(cases.agrees, stiffening="shortening", parameters="numeric")


@pytest.mark.parametrize(
    "counts",
    [{"bend_y": 1, "bend_z": 1}, {"bend_y": 1, "twist": 1}, {"bend_z": 1, "twist": 1}, {"bend_z": 2, "stretch": 1}],
    ids=str,
)
def test_families_that_the_second_order_couples(counts):
    flexible = shapes(**counts)
    first, second = bar("a", fa.Revolute("z"), flexible), bar("b", fa.Revolute("y"), flexible, 0.7, payload=LUMP)
    agrees(robot(first, second))


def test_all_families_with_symbols():
    flexible = shapes(bend_y=1, bend_z=1, twist=1, stretch=1, damping=fa.Damping(ratio=0.02, alpha=0.1, beta=1e-3))
    second = bar("b", fa.Revolute("y"), shapes(bend_y=2, bend_z=1), 0.7, payload=LUMP)
    form = agrees(robot(bar("a", fa.Revolute("z"), flexible), second), parameters="symbolic")
    assert {"l_1", "EIz_1", "EIy_1", "GJ_1", "EA_1"} <= set(form.values)


@pytest.mark.parametrize("seed", range(6))
def test_random_robots_of_two_and_three_links(seed):
    random = np.random.default_rng(seed)
    links = []
    for index in range(2 + seed % 2):
        found = random.choice(FAMILIES, size=2 - (index == 2), replace=False)
        joint = fa.Revolute(tuple(random.uniform(-1, 1, 3).tolist()))
        basis = "elements" if random.random() < 0.2 else "modes"
        flexible = shapes(basis=basis, **{str(name): 1 for name in found})
        links.append(bar(f"l{index}", joint, flexible, float(random.uniform(0.5, 1.0))))
    agrees(robot(*links), seed=seed)


def test_meshes():
    flexible = shapes(bend_y=1, bend_z=1, twist=1, basis="elements")
    agrees(robot(bar("a", fa.Revolute("z"), flexible), bar("b", fa.Revolute("y"), shapes(bend_z=1), 0.7)))


def test_a_slide_along_a_bent_and_twisted_link():
    rail = bar("a", fa.Revolute("y"), shapes(bend_y=1, bend_z=1, twist=1))
    agrees(robot(rail, bar("b", fa.SlidingPrismatic(angle=0.4), shapes(bend_y=1), 0.7, payload=LUMP)))


@pytest.mark.parametrize("rear", ["rigid", "flexible"])
def test_a_link_that_slides_through_its_joint(rear):
    flexible = shapes(bend_y=1, bend_z=1, twist=1, stretch=1)
    joint = fa.FixedPrismatic(angle=0.4, rear=rear)
    through = bar("b", joint, flexible, payload=LUMP, rotary_inertia=True)
    agrees(robot(bar("a", fa.Revolute("y")), through, bar("c", fa.Revolute("y"), length=0.3)))


def test_a_round_bar_has_no_preferred_axes():
    """Check that the mass matrix does not depend on the axes of round sections, which tests products of families."""
    tube = fa.Section.circle(0.02)

    def entry(roll):
        flexible = shapes(bend_y=1, bend_z=1, twist=1)
        joint = fa.Revolute((0.0, float(np.cos(roll)), float(-np.sin(roll))))
        link = fa.Link("a", 1.0, joint, tube, STEEL, flexible)
        form = fa.equations(fa.Robot(links=[link]), stiffening="shortening")
        y, z = 0.03 * np.cos(roll) + 0.02 * np.sin(roll), -0.03 * np.sin(roll) + 0.02 * np.cos(roll)
        return form.lambdify()([0.0, y, z, 0.01])["M"][0, 0]

    assert entry(0.7) == pytest.approx(entry(0.0), rel=1e-12)


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_generated_code_and_latex(tmp_path):
    flexible = shapes(bend_y=1, twist=1)
    form = fa.equations(
        robot(bar("a", fa.Revolute("z"), flexible), bar("b", fa.Revolute("y"), length=0.5)), stiffening="shortening"
    )
    compiled(form, tmp_path)
    assert "sigma_{1}" in form.latex()
    assert "(stiffening 'shortening')" in form.text()


def test_the_estimated_size_is_right_within_a_factor_of_four():
    for counts in ({"bend_y": 1, "bend_z": 1}, {"bend_y": 1, "bend_z": 1, "twist": 1}, {"bend_y": 2, "bend_z": 2}):
        given = robot(bar("a", fa.Revolute("z"), shapes(**counts)), bar("b", fa.Revolute("y"), shapes(**counts)))
        assert 0.25 < size_ratio(given, stiffening="shortening", parameters="numeric") < 4, counts


# --- exact links that bend in one plane each ---


def exact(**counts):
    return fa.Flexible(stiffening="exact", **counts)


@pytest.mark.parametrize(
    "flexible",
    [exact(bend_y=2), exact(bend_z=1, stretch=1), exact(bend_z=1, basis="elements"), exact(twist=1, stretch=1)],
)
def test_exact_links_that_bend_in_one_plane_or_twist(flexible):
    first, second = bar("a", fa.Revolute("z"), flexible), bar("b", fa.Revolute((0.0, 0.6, 0.8)), exact(bend_y=1), 0.7)
    agrees(robot(first, second), stiffening="exact")


def test_exact_links_with_symbols():
    second = bar("b", fa.Revolute("y"), exact(bend_z=1), 0.7, payload=LUMP)
    form = agrees(robot(bar("a", fa.Revolute("z"), exact(bend_y=1)), second), stiffening="exact", parameters="symbolic")
    assert {"l_1", "EIz_1", "EIy_2"} <= set(form.values)


@pytest.mark.parametrize("counts", [{"bend_y": 1}, {"bend_z": 2}], ids=str)
def test_exact_links_that_bend_far(counts):
    """Check the mass matrix at deflections at which the tips point backwards."""
    given = robot(bar("a", fa.Revolute((0.6, 0.0, 0.8)), exact(**counts)), bar("b", fa.Revolute("x"), length=0.3))
    system = fa.System(given, native=False)
    q, v = state(system)
    q[system.elastic] *= 2.0 / np.abs(q[system.elastic]).max()
    error, where = worst(fa.equations(given, stiffening="exact", parameters="numeric"), system, q, v)
    assert error < TOLERANCE, where


def test_a_slide_along_an_exact_link():
    rail = bar("a", fa.Revolute("y"), exact(bend_z=1))
    agrees(
        robot(rail, bar("b", fa.SlidingPrismatic(angle=0.4), exact(bend_y=1), 0.7, payload=LUMP)), stiffening="exact"
    )


def test_links_of_several_models():
    links = [
        bar("a", fa.Revolute("z"), exact(bend_z=1)),
        bar("b", fa.Revolute("y"), shapes(bend_y=1, twist=1), 0.7),
        bar("c", fa.Revolute("z"), fa.Flexible(bend_y=1, stiffening="none"), 0.5),
    ]
    agrees(robot(*links), stiffening="robot")


def test_tilting_sections_in_space_are_refused():
    given = robot(bar("a", fa.Revolute("y"), shapes(bend_z=1), rotary_inertia=True))
    with pytest.raises(ValueError, match="in space only without rotary_inertia"):
        fa.equations(given, stiffening="shortening")
