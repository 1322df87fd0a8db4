"""Third and fourth rates of profiles, against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.profiles.derived import second_rate
from flexarm.profiles.parse import profile

T = np.linspace(0.05, 0.95, 7)


def test_of_waves_polynomials_formulas_and_shaped_ones():
    w = 2 * np.pi * 0.7
    found = second_rate(fa.sine(2.0, 0.7), "r")
    assert_allclose(found(T, 1), -2 * w**3 * np.cos(w * T), rtol=1e-12)
    assert_allclose(found(T, 2), 2 * w**4 * np.sin(w * T), rtol=1e-12)
    cubic = second_rate(fa.rest_to_rest(0.0, 1.0, 1.0, smooth=1), "r")  # 3 t^2 - 2 t^3
    assert_allclose(cubic(T), 6 - 12 * T)
    assert_allclose(cubic(T, 1), -12.0 + 0 * T)
    formula = second_rate(profile(lambda t: np.exp(2 * t), "r"), "r")
    assert_allclose(formula(T, 2), 16 * np.exp(2 * T), rtol=1e-12)
    shaped = second_rate(fa.shaper("zv", frequency=2.0)(fa.minimum_jerk(0.0, 1.0, 1.0)), "r")
    plain = second_rate(fa.minimum_jerk(0.0, 1.0, 1.0), "r")
    late = T[T > 0.3]
    assert_allclose(shaped(late, 1), (plain(late, 1) + plain(late - 0.25, 1)) / 2, rtol=1e-9)


def test_what_has_none_is_refused():
    for given in (fa.spline([0, 1, 2], [0, 1, 0]), profile(lambda t: float(t) ** 2, "r")):
        with pytest.raises(ValueError, match=r"references\['a.q'\] = .* no third and fourth rates"):
            second_rate(given, "references['a.q']")
