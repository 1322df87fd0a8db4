"""Nodes of a mesh that represent the position of a sliding joint: the nearest, or those of the element in it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

STRIP, METAL = fa.Section.rectangle(0.002, 0.03), fa.Material(E=7e10, rho=2700.0)
LENGTH = 0.8  # m
EI = METAL.E * STRIP.at(0.0).I_z


def mesh(count, **families):
    return fa.Flexible(bend_y=count, basis="elements", stiffening="none", **families)


def guided(contact, count=5, **families):
    """A strip that slides through a guide on the ground."""
    joint = fa.FixedPrismatic(contact=contact)
    return fa.System(fa.Robot(links=[fa.Link("strip", LENGTH, joint, STRIP, METAL, mesh(count, **families))]), False)


def ridden(contact, count=4):
    """A slide on a clamped strip."""
    strip = fa.Link("strip", LENGTH, fa.Weld(), STRIP, METAL, mesh(count))
    return fa.System(
        fa.Robot(links=[strip, fa.Link("slide", 0.1, fa.SlidingPrismatic(contact=contact), mass=0.1)]), False
    )


def held(system, d):
    """Coordinates of the strip that its guide holds at d."""
    slopes = system.constraint_jacobian(system.vector({"strip.q": d}))
    return [name for name, column in zip(system.names, slopes.T, strict=True) if np.abs(column).max() > 0]


def followed(system, d):
    """Coordinates of the strip that move or turn the slide at d."""
    found = []
    for name in system.names:
        if name.startswith("strip"):
            frames = [system.frame("slide", 0.0, {"slide.q": d, name: bend}) for bend in (0.0, 1e-3)]
            found += [name] if np.abs(frames[1] - frames[0]).max() > 1e-9 else []
    return found


def nodes(*parameters, first=0):
    """Deflection and slope of nodes of the strip, whose first coordinates belong to the node `first`."""
    return [f"strip.bend_y[{2 * (number - first) + k}]" for number in parameters for k in (1, 2)]


# --- a guide: the strip's nodes 0, ..., 5 are 0.16 m apart, and L - d is in it ---


@pytest.mark.parametrize(
    ("d", "nearest", "element"),
    [
        (0.3, 3, 4),  # 0.5 m: nearest is 0.48 m; the element from 0.48 to 0.64 m leaves 0.16 m in front
        (0.31, 3, 4),
        (0.4, 2, 3),  # in the middle of an element
        (0.32, 3, 3),  # at a node: on the element that ends there, as far as rounding tells
        (0.32 - 1e-12, 3, 3),
        (0.32 + 1e-12, 3, 3),
        (0.32 - 1e-6, 3, 4),
        (0.48, 2, 2),
        (0.0, 5, 5),  # all of it behind the guide: the last element
        (0.8, 0, 1),  # all of it in front: the first
        (-0.1, 5, 5),  # beyond its ends
        (0.9, 0, 1),
    ],
)
def test_nodes_that_a_guide_holds(d, nearest, element):
    if d != 0.4:  # there two nodes are equally near
        assert held(guided("nodal"), d) == nodes(nearest)
    assert held(guided("element"), d) == nodes(element - 1, element)


def test_an_element_is_held_in_all_that_it_does():
    """Each family by its own mesh: two elements that bend, three that twist."""
    system = guided("element", 2, twist=3)
    assert held(system, 0.3) == [*nodes(1, 2), "strip.twist[2]", "strip.twist[3]"]
    ends = [f"strip.grip.{end}.{row}" for end in ("proximal", "distal") for row in ("bend_y", "bend_y'", "twist")]
    assert list(system.constraints) == ends


def test_a_link_of_one_element_does_not_bend():
    system = guided("element", 1)
    assert held(system, 0.3) == nodes(0, 1)
    run = fa.simulate(system, 0.1, q0={"strip.q": 0.3}, torque={"strip": 0.5}, sample=0.02, native=False)
    fallen = 0.5 / (METAL.rho * 6e-5 * LENGTH) * run.time.values**2 / 2
    assert_allclose(run["strip.q"].values, 0.3 + fallen, rtol=1e-6)
    assert np.abs(run.data["q"].values[:, 1:]).max() == 0


# --- a slide: nodes 1, ..., 4 are 0.2 m apart, the root is clamped ---


@pytest.mark.parametrize(
    ("d", "nearest", "element"),
    [
        (0.0, 0, 1),
        (0.05, 0, 1),
        (0.2, 1, 1),  # at a node: the one that it is at
        (0.2 - 1e-12, 1, 1),
        (0.2 + 1e-12, 1, 1),
        (0.2 + 1e-6, 1, 2),
        (0.35, 2, 2),
        (0.45, 2, 3),
        (0.8, 4, 4),
        (0.9, 4, 4),  # beyond the tip
        (-0.1, 0, 1),
    ],
)
def test_nodes_that_a_slide_follows(d, nearest, element):
    assert followed(ridden("nodal"), d) == (nodes(nearest, first=1) if nearest else [])
    assert followed(ridden("element"), d) == nodes(element, first=1)


def test_a_slide_is_at_its_own_place_along_the_link():
    """My et al., Table 2: it is at d, and deflects as the end of the element does."""
    frame = ridden("element").frame("slide", 0.0, {"slide.q": 0.45, "strip.bend_y[5]": 0.01})
    assert_allclose(frame[:2, 3], [0.45, 0.01], atol=1e-15)


# --- how soft a link is that sticks out by d ---

PLACES = LENGTH * (np.arange(640) + 0.5) / 640  # evenly, and at no node of the meshes below


def compliance(system, d):
    """Static deflection of the tip under a unit force there: K u + Phi_q' f = e, Phi_q u = 0."""
    q = system.vector({"strip.q": d})
    rows = system.constraint_jacobian(q)[:, 1:]
    stiffness, none = system.stiffness_matrix(q)[1:, 1:], np.zeros((len(rows), len(rows)))
    tip = system.jacobian("strip", LENGTH, q)[4, 1:]  # along y
    load = np.concatenate([tip, np.zeros(len(rows))])
    return load @ np.linalg.solve(np.block([[stiffness, rows.T], [rows, none]]), load)


def errors(contact, count):
    """Worst and mean of the compliance's error over all places, as parts of that of the whole link."""
    system = guided(contact, count)
    off = np.array([compliance(system, d) for d in PLACES]) * 3 * EI - PLACES**3
    return np.array([np.abs(off).max(), np.abs(off.mean())]) / LENGTH**3


def test_a_link_held_at_any_point_is_as_soft_as_its_free_length():
    assert errors("continuous", 2).max() < 1e-9


@pytest.mark.parametrize(
    ("contact", "d", "free"), [("nodal", 0.3, 0.32), ("element", 0.3, 0.16), ("element", 0.32, 0.32)]
)
def test_a_link_held_by_its_mesh_is_as_soft_as_what_its_nodes_leave_free(contact, d, free):
    assert compliance(guided(contact), d) == pytest.approx(free**3 / (3 * EI), rel=1e-9)


@pytest.mark.parametrize(("contact", "worst", "mean"), [("nodal", 1, 2), ("element", 1, 1)])
def test_order_of_the_compliance(contact, worst, mean):
    """Measured with 4, 8, 16, 32 elements. The nearest node errs by up to half an element, either way: 33, 17, 8.9,
    4.4 % of the compliance of the whole link, on the mean 1.6, 0.39, 0.098, 0.024 %. The element in the guide leaves
    too little free, always, by up to a whole element: 58, 33, 17, 8.9 %, on the mean 11, 5.9, 3.0, 1.5 %."""
    found = np.array([errors(contact, count) for count in (4, 8, 16, 32)])
    orders = np.log2(found[:-1] / found[1:])[-1]
    assert_allclose(orders, [worst, mean], atol=0.1)


def test_the_element_in_a_guide_leaves_less_free_than_there_is():
    system = guided("element", 8)
    free = np.cbrt([3 * EI * compliance(system, d) for d in PLACES])
    assert ((free <= PLACES + 1e-9) & (free > PLACES - LENGTH / 8)).all()
