import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.meshes import extent, has_open_ends, match_corner_counts, outline

SHAPES = [
    fa.Section.rectangle(0.02, 0.03),
    fa.Section.circle(0.04),
    fa.Section.tube(0.04, 0.03),
    fa.Section.box(0.02, 0.03, 0.002),
    fa.Section.ibeam(0.02, 0.03, 0.004, 0.003),
]


def area(corners: np.ndarray) -> float:
    y, z = corners.T
    return 0.5 * abs(float(np.dot(y, np.roll(z, -1)) - np.dot(z, np.roll(y, -1))))


@pytest.mark.parametrize("section", SHAPES)
def test_corners_lie_on_the_edge_of_the_section(section: fa.Section) -> None:
    for y, z in outline(section, 0.3, 1.0):
        assert section.has(0.3, y, z)
    corners = outline(section, 0.3, 1.0)
    for y, z in corners[np.linalg.norm(corners, axis=1) > 0.99 * np.linalg.norm(corners, axis=1).max()]:
        assert not section.has(0.3, 1.01 * y, 1.01 * z)


def test_outlines_enclose_the_areas_of_solid_sections() -> None:
    assert area(outline(SHAPES[0], 0.0, 1.0)) == pytest.approx(SHAPES[0].at(0).A)
    assert area(outline(SHAPES[4], 0.0, 1.0)) == pytest.approx(SHAPES[4].at(0).A)
    assert area(outline(SHAPES[1], 0.0, 1.0)) == pytest.approx(SHAPES[1].at(0).A, rel=0.02)  # of twenty corners
    assert [has_open_ends(each) for each in SHAPES] == [False, False, True, True, True]


def test_numbers_are_drawn_as_the_rectangle_that_has_them() -> None:
    bar = SHAPES[0].at(0)
    known = fa.Section.properties(A=bar.A, I_y=bar.I_y, I_z=bar.I_z)
    np.testing.assert_allclose(outline(known, 0.0, 1.0), outline(SHAPES[0], 0.0, 1.0))


def test_tapers_vary_and_steps_may_change_their_shape() -> None:
    cone = fa.Section.tapered(fa.Section.circle(0.04), fa.Section.circle(0.02))
    assert extent(outline(cone, 0.5, 1.0)) == pytest.approx(0.03)
    stepped = fa.Section.stepped([{"upto": 0.5, "section": SHAPES[0]}, {"upto": 1.0, "section": SHAPES[1]}])
    both = match_corner_counts([outline(stepped, xi, 1.0) for xi in (0.2, 0.8)])
    assert both.shape == (2, 20, 2)
    assert area(both[0]) == pytest.approx(SHAPES[0].at(0).A)  # corners that are put in change nothing
