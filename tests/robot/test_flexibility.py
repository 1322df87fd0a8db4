"""Deformations, bases and their counts of coordinates."""

import pytest

import flexarm.robot as fa
from flexarm.robot.library import two_link_arm


def test_strings_are_shorthand_for_default_bases():
    assert fa.Flexible(bend_y=1).basis == fa.Modes()
    assert fa.Flexible(bend_y=1, basis="elements").basis == fa.Elements()
    assert fa.Reduced(8, 3, "fixed") == fa.Reduced(elements=8, modes=3, interface="fixed")


@pytest.mark.parametrize(
    ("basis", "coordinates"),
    [
        ("modes", 3 + 2 + 1),
        ("elements", 2 * 3 + 2 + 1),
        (fa.Elements(order=2), 2 * 3 + 2 * 2 + 2 * 1),
        (fa.Reduced(10), 3 + 2 + 1),
        (fa.Reduced(10, modes=4), 4 + 4 + 4),
        (fa.Reduced(10, interface="fixed"), (3 + 2) + (2 + 1) + (1 + 1)),
    ],
)
def test_coordinates_of_bases(basis, coordinates):
    assert fa.Flexible(bend_y=3, twist=2, stretch=1, basis=basis).coordinates == coordinates


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (
            lambda: fa.Flexible(bend_y=2, twist=1, up_to=50),
            "up_to = 50.0: must be left out with bend_y = 2, twist = 1: it is what numbers are picked by",
        ),
        (lambda: fa.Flexible(up_to=0), "up_to = 0: must be positive (Hz)"),
        (lambda: fa.Flexible(bend_y=-1), "bend_y = -1: must be a whole number, 0 to 500"),
        (lambda: fa.Flexible(bend_y=2.0), "bend_y = 2.0: must be a whole number, 0 to 500"),
        (lambda: fa.Flexible(twist=True), "twist = True: must be a whole number, 0 to 500"),
        (
            lambda: fa.Flexible(bend_y=1, stiffening="shorten"),
            "stiffening = 'shorten': unknown; did you mean 'shortening'? (allowed: auto, none, shortening, exact)",
        ),
        (
            lambda: fa.Flexible(bend_y=1, basis="element"),
            "basis.type = 'element': unknown; did you mean 'elements'? (allowed: modes, elements, splines, reduced)",
        ),
        (lambda: fa.Flexible(bend_y=1, basis="reduced"), "basis.elements: is required"),
        (
            lambda: fa.Flexible(twist=3, basis=fa.Reduced(3, interface="fixed")),
            "basis.elements = 3: makes 3 shapes of twist, but 4 are asked for; take more elements or fewer modes",
        ),
        (lambda: fa.Elements(order=3), "order = 3: must be a whole number, 1 to 2"),
        (lambda: fa.Reduced(0), "elements = 0: must be a whole number, 1 to 500"),
        (lambda: fa.Reduced(2, interface="loose"), "interface = 'loose': unknown (allowed: free, fixed)"),
        (lambda: fa.Modes(tip_mass=-1), "tip_mass = -1: must be zero or positive (kg)"),
        (lambda: fa.Damping(ratio=-0.1), "ratio = -0.1: must be zero or positive"),
        (
            lambda: fa.Damping(ratio=[0.1, -0.1]),
            "ratio = [0.1, -0.1]: must be numbers that are zero or positive",
        ),
        (
            lambda: fa.Flexible(bend_y=2, twist=1, damping=fa.Damping([0.1] * 4)),
            "damping.ratio = (0.1, 0.1, 0.1, 0.1): has 4 ratios, but the link has only 3 elastic coordinates",
        ),
        (lambda: fa.Flexible(bend_y=501), "bend_y = 501: must be a whole number, 0 to 500"),
        (lambda: fa.Flexible(twist=101), "twist = 101: must be at most 100 with basis modes"),
        (lambda: fa.Reduced(501), "elements = 501: must be a whole number, 1 to 500"),
        (lambda: fa.Damping(alpha=-1), "alpha = -1: must be zero or positive (1/s)"),
        (lambda: fa.Damping(beta=-1), "beta = -1: must be zero or positive (s)"),
    ],
)
def test_refusals(build, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        build()
    assert str(caught.value) == expected


def test_without_numbers_they_are_selected_with_the_robot():
    assert fa.Flexible().open
    assert fa.Flexible(up_to=50).counts == {}
    assert not fa.Flexible(twist=1).open
    with pytest.raises(ValueError, match=r"robot\.resolved"):
        _ = fa.Flexible().coordinates


def test_ratios_for_each_mode_become_a_tuple():
    assert fa.Damping(ratio=[0.01, 0.02]).ratio == (0.01, 0.02)
    assert fa.Damping(0.01).ratio == 0.01
    assert fa.Flexible(bend_y=3, damping=fa.Damping([0.01, 0.02])).damping.ratio == (0.01, 0.02)


# --- shear ---


def sheared(**fields):
    return fa.Link("rail", 1.0, flexible=fa.Flexible(bend_y=2, shear=True), **{**SOLID, **fields})


SOLID = {"section": fa.Section.circle(0.02), "material": fa.Material(7e10, 2700)}
NUMBERS = {"A": 1e-4, "I_y": 1e-9, "I_z": 1e-9}


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: fa.Flexible(twist=2, shear=True),
            "shear = True: must be false: shear belongs to bending, but bend_y and bend_z are 0",
        ),
        (
            lambda: sheared(section=fa.Section.properties(**NUMBERS, shear_z=8e-5)),
            "section.shear_y: is required (m2), since the link bends with shear",
        ),
        (
            lambda: sheared(
                section=fa.Section.tapered(
                    fa.Section.properties(**NUMBERS, shear_y=8e-5), fa.Section.properties(**NUMBERS)
                )
            ),
            "section.tip.shear_y: is required (m2), since the link bends with shear",
        ),
        (
            lambda: sheared(joint=fa.FixedPrismatic()),
            "flexible.shear = True: must be false: 'rail' slides through its joint, and such shapes have no shear",
        ),
        (
            lambda: fa.Robot(links=[sheared(), fa.Link("cart", 0.1, fa.SlidingPrismatic(), mass=1.0)]),
            "links[0].flexible.shear = True: must be false: 'cart' slides along 'rail', and such shapes have no shear",
        ),
        (
            lambda: fa.Robot(links=[sheared()], constraints=[fa.PointSupport("rail", (0.5, 0, 0))]),
            "constraints[0].link = 'rail': must be a link without flexible.shear: it slides on the support, and such "
            "shapes have none",
        ),
    ],
)
def test_refusals_of_shear(build, sentence):
    with pytest.raises(fa.DescriptionError) as caught:
        build()
    assert str(caught.value) == sentence


def test_the_table_shows_shear():
    assert "bend_y 2, modes, shear" in str(fa.Robot(links=[sheared()]))


def test_shear_areas_that_are_given_are_enough():
    given = fa.Section.properties(**NUMBERS, shear_y=8e-5)
    assert sheared(section=given).section.at(0.5).shear_y == 8e-5
    taper = fa.Section.tapered(given, fa.Section.properties(**NUMBERS, shear_y=4e-5))
    assert sheared(section=taper).section.at(0.5).shear_y == pytest.approx(6e-5)


@pytest.mark.parametrize(
    "numbers", [{"bend_y": 0}, {"twist": 0, "stretch": 0}, dict.fromkeys(("bend_y", "bend_z", "twist", "stretch"), 0)]
)
def test_zero_shapes_are_refused_and_not_selected(numbers):
    with pytest.raises(fa.DescriptionError, match="without shapes the link is rigid"):
        fa.Flexible(**numbers)
    with pytest.raises(fa.DescriptionError, match=r"flexible.*without shapes the link is rigid"):
        two_link_arm().with_({"links.fore.flexible": numbers})


def test_zero_with_other_shapes_is_accepted():
    assert fa.Flexible(bend_y=2, bend_z=0) == fa.Flexible(bend_y=2)
    assert fa.Flexible().open
    assert fa.Flexible.model_validate(fa.Flexible().model_dump()).open
    with pytest.raises(fa.DescriptionError, match="without shapes"):
        two_link_arm().with_({"links.fore.flexible.bend_y": 0})
