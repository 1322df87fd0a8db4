"""Strain at points of sections: how section frames turn along the link, sections that hold a point, shear, slides."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import ALUMINIUM
from tests.sliders import pair

BAR = fa.Section.rectangle(0.02, 0.03)
SPACE = {"bend_y": 2, "bend_z": 2, "twist": 1, "stretch": 2}


def beam(section=BAR, length=1.0, **shapes) -> fa.System:
    link = fa.Link("beam", length, fa.Weld(), section, ALUMINIUM, fa.Flexible(**shapes))
    return fa.System(fa.Robot(links=[link]), native=False)


def fibre(system: fa.System, link: str, q, x: float, y: float, z: float) -> float:
    """Strain of the material line through (y, z) of the sections, by differences of frames along the link."""
    h = 1e-4

    def point(at: float) -> np.ndarray:
        frame = system.frame(link, at, q)
        return frame[:3, 3] + frame[:3, :3] @ [0.0, y, z]

    return float(np.linalg.norm(point(x + h) - point(x - h)) / (2 * h) - 1)


@pytest.mark.parametrize("stiffening", ["exact", "shortening"])
def test_strain_is_that_of_material_lines(stiffening):
    found = beam(**SPACE, stiffening=stiffening)
    q = np.random.default_rng(1).uniform(-1, 1, found.nq) * found.sizes * 1e-3
    for x, y, z in ((0.3, 0.01, -0.015), (0.7, -0.01, 0.0), (0.5, 0.0, 0.0)):
        assert_allclose(found.strain("beam", x, q, at=(y, z)), fibre(found, "beam", q, x, y, z), atol=3e-8)


def test_a_bar_bent_by_a_tip_moment_has_the_strain_of_its_curvature():
    found = beam(bend_y=1, basis="elements")
    bent = np.linalg.solve(found.stiffness, found.jacobian("beam", None, np.zeros(found.nq))[2])
    curvature = 1.0 / (ALUMINIUM.E * BAR.at(0).I_z)
    strain = found.strain("beam", [0.0, 0.5, 1.0], bent, at=(0.01, 0.0))
    assert_allclose(strain, -0.01 * curvature, rtol=1e-10)


def test_with_shear_strain_comes_from_how_sections_turn():
    """A short bar under a tip force: its axis bends by more, its sections by E I psi' = F (L - x)."""
    found = beam(length=0.1, bend_y=1, basis="elements", shear=True)
    bent = np.linalg.solve(found.stiffness, found.jacobian("beam", None, np.zeros(found.nq))[4])
    x = np.array([0.0, 0.05, 0.1])
    exact = -0.01 * (0.1 - x) / (ALUMINIUM.E * BAR.at(0).I_z)
    assert_allclose(found.strain("beam", x, bent, at=(0.01, 0.0)), exact, rtol=1e-9, atol=1e-18)


@pytest.mark.parametrize("stiffening", ["none", "exact"])
def test_links_that_slide_are_strained_more_the_shorter_they_stick_out(stiffening):
    found = fa.System(pair("R", "Pb", stiffening), native=False)
    q = found.vector({"b.q": 0.5, "b.bend_y[1]": 3e-4, "b.bend_y[2]": 1e-5, "b.rear.bend_y[1]": 2e-4})
    for x in (0.1, 0.25, 0.4, 0.7):  # the guide is at 0.3
        bent = (slope(found, q, x + 1e-4) - slope(found, q, x - 1e-4)) / 2e-4
        assert_allclose(found.strain("b", x, q, at=(0.01, 0.0)), -0.01 * bent, rtol=2e-4)
    none = fa.System(pair("R", "Pb").with_({"links.b.joint.rear": "none"}), native=False)
    assert np.isnan(none.strain("b", 0.1, none.vector({"b.q": 0.5})))


def slope(found: fa.System, q, x: float) -> float:
    R, root = (found.frame("b", each, q)[:3, :3] for each in (x, 0.3 + 1e-9))
    turned = root.T @ R
    return float(np.arctan2(turned[1, 0], turned[0, 0]))


@pytest.mark.parametrize(
    ("section", "inside", "outside"),
    [
        (BAR, [(0.01, 0.015), (0, 0)], [(0.0101, 0), (0, 0.0151)]),
        (fa.Section.circle(0.02), [(0.01, 0), (0.007, 0.007)], [(0.008, 0.008)]),
        (fa.Section.tube(0.03, 0.02), [(0.0, 0.015), (0.01, 0)], [(0, 0), (0.016, 0)]),
        (fa.Section.box(0.04, 0.06, 0.005), [(0.02, 0), (0, 0.03), (0.016, 0.026)], [(0, 0), (0.014, 0), (0, 0.031)]),
        (fa.Section.ibeam(0.04, 0.06, 0.005, 0.004), [(0, 0), (0.02, 0.03), (0.002, 0.01)], [(0.01, 0), (0.021, 0.03)]),
    ],
)
def test_points_must_lie_in_the_section(section, inside, outside):
    found = beam(section, bend_y=1)
    for at in inside:
        assert section.has(0.5, *at) is True
        found.strain("beam", 0.5, at=at)
    for at in outside:
        assert section.has(0.5, *at) is False
        with pytest.raises(ValueError, match=r"must lie in the section of link 'beam' at x = 0.5 m"):
            found.strain("beam", 0.5, at=at)


def test_sections_that_vary_hold_a_point_here_and_not_there():
    cone = fa.Section.tapered(fa.Section.circle(0.04), fa.Section.circle(0.02))
    steps = fa.Section.stepped([{"upto": 0.5, "section": BAR}, {"upto": 1.0, "section": fa.Section.circle(0.01)}])
    for section in (cone, steps):
        assert section.has(0.2, 0.008, 0.008) is True
        assert section.has(1.0, 0.008, 0.008) is False
    parameters = fa.Section.properties(A=1e-4, I_y=1e-9, I_z=1e-9)
    assert parameters.has(0.5, 1.0, 1.0) is None
    assert fa.Section.tapered(parameters, parameters).has(0.5, 1.0, 1.0) is None
    beam(parameters, bend_y=1).strain("beam", 0.5, at=(1.0, 1.0))


def test_what_is_wrong_is_said():
    rigid = fa.System(fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)]), native=False)
    with pytest.raises(ValueError, match="link 'rod' is rigid and has no strain"):
        rigid.strain("rod", 0.5)
    found = beam(bend_y=1)
    for at in (0.01, (0.01,), (0, 0, 0), "yz"):
        with pytest.raises(ValueError, match=r"at = .*: must be \(y, z\)"):
            found.strain("beam", 0.5, at=at)
    with pytest.raises(ValueError, match="at: y = nan"):
        found.strain("beam", 0.5, at=(float("nan"), 0.0))
    with pytest.raises(ValueError, match="x = 2: must lie on link 'beam'"):
        found.strain("beam", 2.0)


def test_the_gauge_is_on_the_surface_unless_a_point_is_given():
    """The default is the same in feedback laws and linear models; on a cone the surface differs at each section."""
    cone = beam(fa.Section.tapered(fa.Section.circle(0.04), fa.Section.circle(0.02)), bend_y=2)
    q, x = np.array([0.01, -0.002]), [0.0, 0.25, 0.9]
    surface = [cone.strain("beam", each, q, at=(y, 0)) for each, y in zip(x, (0.02, 0.0175, 0.011), strict=True)]
    assert_allclose(cone.strain("beam", x, q), surface, rtol=1e-12)
    upright = beam(bend_z=1)
    assert_allclose(upright.strain("beam", 0.1, [0.01]), upright.strain("beam", 0.1, [0.01], at=(0, 0.015)))
    bar = beam(stretch=1)
    assert_allclose(bar.strain("beam", 0.1, [0.01]), bar.strain("beam", 0.1, [0.01], at=(0.01, 0.015)))
    for unclear in (beam(bend_y=1, bend_z=1), beam(fa.Section.properties(A=1e-4, I_y=1e-9, I_z=1e-9), bend_y=1)):
        with pytest.raises(ValueError, match="where on the section is the strain gauge"):
            unclear.strain("beam", 0.1)


def test_shapes_of_answers():
    found = beam(bend_y=1)
    q = np.zeros((3, 1))
    assert found.strain("beam", 0.5).shape == ()
    assert found.strain("beam", 0.5, q).shape == (3,)
    assert found.strain("beam", [0.5, 0.6], q).shape == (3, 2)
