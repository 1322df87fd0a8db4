"""Materials: elastic constants and warnings about their units."""

import warnings

import pytest

import flexarm.robot as fa


def test_shear_modulus_from_either_constant():
    assert fa.Material(2e11, 7850, G=8e10).shear_modulus == 8e10
    assert fa.Material(2e11, 7850, nu=0.25).shear_modulus == pytest.approx(8e10, rel=1e-15)
    assert fa.Material(2e11, 7850, nu=0.0).shear_modulus == 1e11
    assert fa.Material(2e11, 7850).shear_modulus == pytest.approx(2e11 / 2.6, rel=1e-15)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"E": 0.0}, "E = 0.0: must be positive (Pa)"),
        ({"rho": -1}, "rho = -1: must be positive (kg/m3)"),
        ({"G": 8e10, "nu": 0.3}, "nu = 0.3: must be left out when G is given, since E and G determine it"),
        ({"nu": 0.51}, "nu = 0.51: must be above -1 and at most 0.5"),
        ({"nu": -1}, "nu = -1: must be above -1 and at most 0.5"),
        ({"damping": -1e-3}, "damping = -0.001: must be zero or positive (s)"),
    ],
)
def test_refusals(fields, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Material(**({"E": 2e11, "rho": 7850} | fields))
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("E", "rho", "word"),
    [
        (210, 7850, "GPa"),
        (2.1e5, 7850, "MPa"),
        (1e300, 7850, "^E = 1e300: "),
        (3e13, 7850, "E is in Pa"),
        (2e11, 7.85, "g/cm3"),
        (2e11, 4e4, "denser"),
    ],
)
def test_unit_warnings(E, rho, word):
    with pytest.warns(fa.UnitsWarning, match=word):
        fa.Material(E, rho)


def test_common_materials_raise_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for E, rho in [(1e6, 20), (2.1e11, 7850), (1.2e12, 3500), (5e11, 22590)]:
            fa.Material(E, rho)
