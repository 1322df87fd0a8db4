"""Deformations, bases and their counts of coordinates."""

import pytest

import flexarm.robot as fa


def test_strings_are_shorthand_for_default_bases():
    assert fa.Flexible(bend_y=1).basis == fa.Modes()
    assert fa.Flexible(bend_y=1, basis="elements").basis == fa.Elements()
    assert fa.reduced(8, modes=3, interface="fixed") == fa.Reduced(elements=8, modes=3, interface="fixed")


@pytest.mark.parametrize(
    ("basis", "coordinates"),
    [
        ("modes", 3 + 2 + 1),
        ("elements", 2 * 3 + 2 + 1),
        (fa.Elements(order=2), 2 * 3 + 2 * 2 + 2 * 1),
        (fa.reduced(10), 3 + 2 + 1),
        (fa.reduced(10, modes=4), 4 + 4 + 4),
        (fa.reduced(10, interface="fixed"), (3 + 2) + (2 + 1) + (1 + 1)),
    ],
)
def test_coordinates_of_bases(basis, coordinates):
    assert fa.Flexible(bend_y=3, twist=2, stretch=1, basis=basis).coordinates == coordinates


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (
            lambda: fa.Flexible(),
            "bend_y = 0: one of bend_y, bend_z, twist, stretch must be positive; leave `flexible` out for a rigid link",
        ),
        (lambda: fa.Flexible(bend_y=-1), "bend_y = -1: must be a whole number, 0 to 500"),
        (lambda: fa.Flexible(bend_y=2.0), "bend_y = 2.0: must be a whole number, 0 to 500"),
        (lambda: fa.Flexible(twist=True), "twist = True: must be a whole number, 0 to 500"),
        (
            lambda: fa.Flexible(bend_y=1, stiffening="shorten"),
            "stiffening = 'shorten': unknown; did you mean 'shortening'? (allowed: none, shortening, full)",
        ),
        (
            lambda: fa.Flexible(bend_y=1, basis="element"),
            "basis.type = 'element': unknown; did you mean 'elements'? (allowed: modes, elements, reduced)",
        ),
        (lambda: fa.Flexible(bend_y=1, basis="reduced"), "basis.elements: is required"),
        (
            lambda: fa.Flexible(twist=3, basis=fa.reduced(3, interface="fixed")),
            "basis.elements = 3: makes 3 shapes of twist, but 4 are asked for; take more elements or fewer modes",
        ),
        (lambda: fa.Elements(order=3), "order = 3: must be a whole number, 1 to 2"),
        (lambda: fa.reduced(0), "elements = 0: must be a whole number, 1 to 500"),
        (lambda: fa.reduced(2, interface="loose"), "interface = 'loose': unknown (allowed: free, fixed)"),
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
        (lambda: fa.reduced(501), "elements = 501: must be a whole number, 1 to 500"),
        (lambda: fa.Damping(alpha=-1), "alpha = -1: must be zero or positive (1/s)"),
        (lambda: fa.Damping(beta=-1), "beta = -1: must be zero or positive (s)"),
    ],
)
def test_refusals(build, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        build()
    assert str(caught.value) == expected


def test_ratios_for_each_mode_become_a_tuple():
    assert fa.Damping(ratio=[0.01, 0.02]).ratio == (0.01, 0.02)
    assert fa.Damping(0.01).ratio == 0.01
    assert fa.Flexible(bend_y=3, damping=fa.Damping([0.01, 0.02])).damping.ratio == (0.01, 0.02)
