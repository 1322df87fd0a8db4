"""First-order indices, against those that are known."""

import numpy as np
import pytest
import xarray as xr

from flexarm.sweeps.monte_carlo import draw_values, first_order, with_statistics


def ishigami(x):
    return np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])


@pytest.mark.parametrize(("count", "within"), [(1000, 0.06), (20_000, 0.012)])
def test_the_function_of_ishigami(count, within):
    """Indices 0.3139, 0.4424 and 0, of a function with an interaction, for which no regression does."""
    x = np.random.default_rng(3).uniform(-np.pi, np.pi, (count, 3))
    found = [float(first_order(column, ishigami(x))) for column in x.T]
    assert found == pytest.approx([0.3139, 0.4424, 0.0], abs=within)


def test_a_sum_of_independent_terms():
    """Shares are those of the variances: 1, 4 and 9 of 14."""
    x = np.random.default_rng(1).normal(size=(10_000, 3))
    y = x @ np.array([1.0, 2.0, 3.0])
    found = [first_order(column, np.column_stack([y, -y])) for column in x.T]
    assert np.array(found) == pytest.approx(np.array([[1, 1], [4, 4], [9, 9]]) / 14, abs=0.02)


def test_what_explains_nothing_has_no_share_on_average():
    rng = np.random.default_rng(2)
    shares = [float(first_order(rng.random(400), rng.random(400))) for _ in range(200)]
    assert abs(np.mean(shares)) < 3 * np.std(shares) / np.sqrt(200)


@pytest.mark.parametrize("count", [64, 512])
def test_nor_on_points_of_sobol(count):
    """There the others are spread evenly in each class; corrected as for random points it would be -0.11 and -0.03."""
    from scipy.stats import qmc

    shares = []
    for seed in range(100):
        x = qmc.Sobol(2, seed=seed).random(count)
        shares.append([float(first_order(x[:, k], x[:, 0], even=True)) for k in (0, 1)])
    assert np.mean(shares, axis=0) == pytest.approx([1.0, 0.0], abs=0.02)


def test_members_without_a_measure_do_not_count():
    x, y = np.arange(100.0), np.arange(100.0)
    y[::10] = np.nan  # residuals of runs that ended early
    data = xr.Dataset({"m": ("member", y), "v": (("member", "axis"), np.column_stack([x, -x]))})
    found = with_statistics(data.assign_coords(a=("member", x)), ["a"], [0.5], even=False)
    assert float(found["m_quantiles"][0]) == np.nanmedian(y)
    assert float(found["m_first_order"][0]) == pytest.approx(1.0)
    assert (found["m_quantiles"].attrs["members"], found["v_quantiles"].attrs["members"]) == (90, 100)


def test_statistics_of_a_partial_study_are_of_its_first_draws():
    """Members that are done beyond the first that is missing are those that were quick, and do not count."""
    y = np.arange(100.0)
    status = np.where((y < 40) | (y > 90), "completed", "missing")
    variables = {"m": ("member", np.where(status == "missing", np.nan, y)), "status": ("member", status)}
    data = xr.Dataset(variables, attrs={"block_size": 16})
    found = with_statistics(data.assign_coords(a=("member", y)), ["a"], [0.5], even=False)
    assert float(found["m_quantiles"][0]) == np.median(y[:32])  # whole blocks
    assert found["m_quantiles"].attrs["members"] == 32
    assert found.attrs["statistics"] == "of the first 32 of 100 members drawn, which are all done"
    status[0] = "missing"
    none = with_statistics(found.assign(status=("member", status)), ["a"], [0.5], even=False)
    assert np.isnan(none["m_quantiles"]).all()
    assert none.attrs["statistics"] == "withheld, since the first block of members drawn is not done"
    whole = with_statistics(found.assign(status=("member", ["completed"] * 100)), ["a"], [0.5], even=False)
    assert "statistics" not in whole.attrs


def test_values_that_repeat_are_of_one_class():
    x = np.repeat([1.0, 2.0], 500)
    assert float(first_order(x, x**2)) == pytest.approx(1.0)


def test_what_is_still_has_no_shares():
    assert np.isnan(first_order(np.arange(100.0), np.full((100, 2), 3.0))).all()
    assert np.isnan(first_order(np.arange(3.0), np.arange(3.0)))


def test_draws_follow_their_distributions_and_repeat():
    from scipy.stats import norm, poisson, uniform

    over = {"a": norm(2.0, 0.5), "b": uniform(1.0, 3.0), "c": poisson(4.0)}
    for sobol in (False, True):
        found = draw_values(over, 4096, 7, sobol)
        assert found == draw_values(over, 4096, 7, sobol)
        assert found["a"] != draw_values(over, 4096, 8, sobol)["a"]
        means = [np.mean(column) for column in found.values()]
        assert means == pytest.approx([2.0, 2.5, 4.0], abs=0.1 if not sobol else 0.01)
        assert np.corrcoef(found["a"], found["b"])[0, 1] == pytest.approx(0.0, abs=0.05)


def test_sobols_points_want_a_power_of_two():
    from scipy.stats import norm

    with pytest.warns(UserWarning, match="take 1024"):
        draw_values({"a": norm(0, 1)}, 1000, 1, True)


def test_only_frozen_distributions_can_be_drawn_from():
    from scipy.stats import gamma, norm

    for wrong in (3.0, [1.0, 2.0], "norm", gamma, norm):
        with pytest.raises(TypeError, match="frozen"):
            draw_values({"a": wrong}, 10, 1, False)
    with pytest.raises(ValueError, match="not finite"):
        draw_values({"a": norm(np.nan, 1.0)}, 10, 1, False)
