import numpy as np

import flexarm as fa
from flexarm.robot.flexibility import FAMILIES


def test_descriptions_and_coordinates_list_families_in_one_order():
    flexible = fa.Flexible(stretch=1, twist=1, bend_z=1, bend_y=1)
    assert list(flexible.counts) == list(FAMILIES)
    link = fa.Link(
        "a",
        length=1.0,
        section=fa.Section.circle(0.02),
        material=fa.Material(E=2e11, G=8e10, rho=7800.0),
        flexible=flexible,
    )
    names = fa.System(fa.Robot("r", links=[link]), native=False).names
    assert names == ("a.q", *(f"a.{family}[1]" for family in FAMILIES))


def test_signs_of_the_reversed_axes_follow_from_half_a_turn_about_y():
    turned = np.diag([-1.0, 1.0, -1.0])
    assert FAMILIES["bend_y"].reversed_sign == turned[1, 1]  # displacement along y
    assert FAMILIES["bend_z"].reversed_sign == turned[2, 2]
    assert FAMILIES["twist"].reversed_sign == FAMILIES["stretch"].reversed_sign == turned[0, 0]
