"""Sections against textbook formulas, numerical integration over the area and the torsion problem itself."""

from math import pi

import numpy as np
import pytest

import flexarm.robot as fa
from flexarm.robot import Section
from flexarm.robot.sections import SectionProperties


def area(section, xi=0.0):
    return section.at(xi).A


def torsion(section, xi=0.0):
    return section.at(xi).J


PLAIN = [
    (Section.rectangle(0.03, 0.05), lambda y, z: np.ones_like(y, bool), 0.03, 0.05),
    (Section.circle(0.04), lambda y, z: y**2 + z**2 < 0.02**2, 0.04, 0.04),
    (Section.tube(0.04, 0.03), lambda y, z: (y**2 + z**2 < 0.02**2) & (y**2 + z**2 > 0.015**2), 0.04, 0.04),
    (Section.box(0.03, 0.05, 0.004), lambda y, z: (abs(y) > 0.011) | (abs(z) > 0.021), 0.03, 0.05),
    (Section.ibeam(0.03, 0.05, 0.004, 0.002), lambda y, z: (abs(y) < 0.001) | (abs(z) > 0.021), 0.03, 0.05),
]


@pytest.mark.parametrize(("section", "inside", "width", "height"), PLAIN, ids=lambda v: getattr(v, "shape", ""))
def test_moments_are_the_integrals_over_the_area(section, inside, width, height):
    n = 1500  # midpoints of a grid; the grid lines fall on every straight edge above
    y, z = np.meshgrid((np.arange(n) + 0.5) / n * width - width / 2, (np.arange(n) + 0.5) / n * height - height / 2)
    dA = width * height / n**2
    covered = inside(y, z)
    numbers = section.at(0.3)
    assert area(section) == pytest.approx(covered.sum() * dA, rel=1e-3)
    assert numbers.I_z == pytest.approx((y**2 * covered).sum() * dA, rel=2e-3)
    assert numbers.I_y == pytest.approx((z**2 * covered).sum() * dA, rel=2e-3)
    assert numbers.I_p == pytest.approx(numbers.I_y + numbers.I_z, rel=1e-14)


def test_width_lies_along_y():
    flat = Section.rectangle(width=0.02, height=0.01).at(0)
    assert flat.I_z == pytest.approx(0.01 * 0.02**3 / 12)
    assert flat.I_y == pytest.approx(0.02 * 0.01**3 / 12)
    beam = Section.ibeam(width=0.05, height=0.1, flange=0.005, web=0.003).at(0)
    assert beam.I_y > 3 * beam.I_z


def test_round_sections_twist_with_their_polar_moment():
    assert torsion(Section.circle(0.04)) == pytest.approx(pi * 0.04**4 / 32, rel=1e-14)
    assert torsion(Section.tube(0.04, 0.03)) == pytest.approx(pi * (0.04**4 - 0.03**4) / 32, rel=1e-14)


@pytest.mark.parametrize(("ratio", "beta"), [(1, 0.1406), (1.5, 0.196), (2, 0.229), (4, 0.281), (10, 0.312)])
def test_rectangle_torsion_agrees_with_the_table(ratio, beta):
    """J = beta a b^3 as tabulated by Timoshenko & Goodier, art. 109."""
    assert torsion(Section.rectangle(ratio, 1)) / ratio == pytest.approx(beta, abs=5e-4)


@pytest.mark.parametrize("ratio", [1.0, 1.3, 3.0, 40.0, 1000.0])
def test_rectangle_torsion_agrees_with_its_slow_series(ratio):
    n = np.arange(1, 20001, 2)
    slow = ratio * (1 / 3 - 64 / pi**5 / ratio * np.sum(np.tanh(n * pi * ratio / 2) / n**5.0))
    assert torsion(Section.rectangle(ratio, 1)) == pytest.approx(slow, rel=1e-11)
    assert torsion(Section.rectangle(1, ratio)) == torsion(Section.rectangle(ratio, 1))


def test_square_torsion_solves_prandtls_problem():
    """Finite differences of lap(phi) = -2 with phi = 0 on the edge, J = 2 integral of phi."""
    n, steps = 60, 1 / 60
    k = np.arange(1, n)
    # the discrete sine transform diagonalises the 5-point Laplacian
    S = np.sin(np.pi * np.outer(k, k) / n) * np.sqrt(2 / n)
    eigen = (2 - 2 * np.cos(np.pi * k / n)) / steps**2
    phi = S @ ((S @ np.full((n - 1, n - 1), 2.0) @ S) / (eigen[:, None] + eigen)) @ S
    assert torsion(Section.rectangle(1, 1)) == pytest.approx(2 * phi.sum() * steps**2, rel=1e-3)


def test_box_torsion_is_bredts():
    b, h, t = 0.046, 0.026, 0.004
    assert torsion(Section.box(0.05, 0.03, t)) == pytest.approx(4 * (b * h) ** 2 / ((2 * b + 2 * h) / t), rel=1e-13)


def test_ibeam_torsion_adds_its_strips():
    assert torsion(Section.ibeam(0.05, 0.1, 0.006, 0.004)) == pytest.approx(
        (2 * 0.05 * 0.006**3 + 0.088 * 0.004**3) / 3
    )


def test_properties_default_to_the_polar_moment():
    assert Section.properties(1e-4, 2e-9, 3e-9).at(1) == SectionProperties(1e-4, 2e-9, 3e-9, 5e-9, 5e-9)
    assert Section.properties(1e-4, 2e-9, 3e-9, J=1e-9, I_p=6e-9).at(1) == SectionProperties(
        1e-4, 2e-9, 3e-9, 1e-9, 6e-9
    )


@pytest.mark.parametrize(
    ("root", "tip", "middle"),
    [
        (Section.rectangle(0.02, 0.04), Section.rectangle(0.01, 0.02), Section.rectangle(0.015, 0.03)),
        (Section.tube(0.04, 0.03), Section.tube(0.02, 0.01), Section.tube(0.03, 0.02)),
        (Section.properties(2e-4, 2e-9, 4e-9), Section.properties(1e-4, 1e-9, 2e-9, J=1e-9), None),
    ],
)
def test_tapers_vary_linearly(root, tip, middle):
    taper = Section.tapered(root, tip)
    assert not taper.uniform
    assert taper.breaks == ()
    assert (taper.at(0), taper.at(1)) == (root.at(0), tip.at(0))
    if middle is not None:
        assert area(taper, 0.5) == pytest.approx(middle.at(0).A, rel=1e-14)
        assert torsion(taper, 0.5) == pytest.approx(middle.at(0).J, rel=1e-14)
    else:
        assert torsion(taper, 0.5) == pytest.approx((6e-9 + 1e-9) / 2)
        assert area(taper, 0.25) == pytest.approx(1.75e-4)


def test_steps_are_closed_on_the_left():
    thick, thin = Section.circle(0.02), Section.circle(0.01)
    steps = Section.stepped([{"upto": 0.4, "section": thick}, {"upto": 1.0, "section": thin}])
    assert steps.breaks == (0.4,)
    assert not steps.uniform
    areas = [steps.at(xi).A for xi in (0.0, 0.39999, 0.4, 1.0)]
    assert areas == [thick.at(0).A, thick.at(0).A, thin.at(0).A, thin.at(0).A]


def test_sections_that_do_not_vary_are_uniform():
    bar = Section.circle(0.02)
    assert bar.uniform
    assert Section.tapered(bar, bar).uniform
    assert Section.stepped([{"upto": 0.5, "section": bar}, {"upto": 1, "section": bar}]).uniform


@pytest.mark.parametrize("xi", [-0.1, 1.1, float("nan")])
def test_fractions_lie_on_the_link(xi):
    for section in (Section.circle(1), Section.tapered(Section.circle(1), Section.circle(2))):
        with pytest.raises(ValueError, match="between 0 and 1"):
            section.at(xi)


BAR = Section.circle(0.01)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: Section.rectangle(0, 1), "width = 0: must be positive (m)"),
        (lambda: Section.circle("5mm"), "diameter = '5mm': must be a number (m), not text"),
        (lambda: Section.tube(0.02, 0.02), "inner = 0.02: must be smaller than outer = 0.02 (m)"),
        (lambda: Section.box(0.02, 0.03, 0.01), "thickness = 0.01: must be less than half the smaller side 0.02 (m)"),
        (lambda: Section.ibeam(0.02, 0.03, 0.015, 0.01), "flange = 0.015: must be less than half of height = 0.03 (m)"),
        (lambda: Section.ibeam(0.02, 0.03, 0.01, 0.03), "web = 0.03: must be at most width = 0.02 (m)"),
        (lambda: Section.properties(1e-4, 1e-9, 1e-9, J=0), "J = 0: must be positive (m4)"),
        (
            lambda: Section.tapered(BAR, Section.rectangle(1, 1)),
            "tip.shape = 'rectangle': must be the same as root.shape = 'circle'",
        ),
        (lambda: Section.stepped([]), "pieces = (): must have at least one piece"),
        (
            lambda: Section.stepped([{"upto": 0.5, "section": BAR}]),
            "pieces[0].upto = 0.5: must be 1: the last piece ends at the tip",
        ),
        (
            lambda: Section.stepped([{"upto": u, "section": BAR} for u in (0.5, 0.4, 1)]),
            "pieces[1].upto = 0.4: must be above 0.5, where the piece before it ends",
        ),
        (
            lambda: Section.stepped([{"upto": 1.5, "section": BAR}]),
            "pieces[0].upto = 1.5: must be above 0 and at most 1",
        ),
        (
            lambda: Section.stepped([{"upto": 1, "section": Section.tapered(BAR, BAR)}]),
            "pieces[0].section.shape = 'tapered': unknown (allowed: rectangle, circle, tube, box, ibeam, properties)",
        ),
    ],
)
def test_refusals(build, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        build()
    assert str(caught.value) == expected


# --- shear areas ---


def test_shear_areas_of_solid_and_round_sections():
    assert Section.rectangle(0.02, 0.03).at(0).shear_y == pytest.approx(5 / 6 * 6e-4)
    for inner, factor in ((1e-6, 6 / 7), (0.0399999, 1 / 2)):
        tube = Section.tube(0.04, inner).at(0)
        assert tube.shear_y / tube.A == pytest.approx(factor, rel=1e-4)
    bar = Section.circle(0.04).at(0)
    assert bar.shear_y == bar.shear_z == pytest.approx(6 / 7 * bar.A)


@pytest.mark.parametrize("shape", ["box", "ibeam"])
def test_shear_areas_of_thin_walls_are_those_of_the_flow_of_shear(shape):
    """I^2 / int q^2 / t along the mid line, with q = int t z ds from the free ends (I) or the symmetry plane (box)."""
    b, h, t = 0.05, 0.08, 1e-5
    webs = 2 if shape == "box" else 1
    section = (Section.box(b + t, h + t, t) if shape == "box" else Section.ibeam(b, h + t, t, t)).at(0)
    s, ds = (np.arange(100000) + 0.5) / 100000, 1e-5
    flange = t * h / 2 * s * b / 2  # half a flange, from its free end or from the middle
    share = 2 / webs * t * h / 2 * b / 2  # what enters each web
    z = (s - 0.5) * h
    web = share + t * (h**2 / 4 - z**2) / 2
    energy = 4 * (flange**2 / t).sum() * ds * b / 2 + webs * (web**2 / t).sum() * ds * h
    assert section.shear_z == pytest.approx(section.I_y**2 / energy, rel=2e-3)
    assert 0.85 < section.shear_z / (webs * t * h) < 1.0  # nearly the area of the webs


def test_flanges_carry_shear_along_y():
    assert Section.ibeam(0.05, 0.08, 0.004, 0.002).at(0).shear_y == pytest.approx(5 / 6 * 2 * 0.05 * 0.004)
    tall, wide = Section.box(0.03, 0.05, 0.002).at(0), Section.box(0.05, 0.03, 0.002).at(0)
    assert (tall.shear_y, tall.shear_z) == (wide.shear_z, wide.shear_y)
