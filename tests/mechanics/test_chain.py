"""Links that are the same in many robots."""

import numpy as np

import flexarm as fa
from flexarm.mechanics.chain import remembered_links
from flexarm.mechanics.system import System


def test_numbers_of_links_that_are_remembered_are_the_same():
    shapes = fa.Flexible(bend_y=2, basis="elements")  # modes are loaded with what a link carries
    arm = fa.library.two_link_arm().with_({"links.upper.flexible": shapes, "links.fore.flexible": shapes})
    robots = [arm.with_({"links.fore.payload.mass": mass}) for mass in (0.1, 0.2, 0.3)]
    before = [System(each, native=False).numbers for each in robots]
    with remembered_links():
        systems = [System(each, native=False) for each in robots]
        inside = [each.numbers for each in systems]
    np.testing.assert_array_equal(inside, before)
    upper = [system._chain.bodies[0].integrals for system in systems]
    assert upper[0] is upper[1] is upper[2]
    outside = [System(each, native=False)._chain.bodies[0].integrals for each in robots[:2]]
    assert outside[0] is not outside[1]
