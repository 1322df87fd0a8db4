import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.curves import CURSOR_RANGE, POINTS_PER_CURVE, Curves, Quantities, select_samples

ARM = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])


@pytest.fixture(scope="module")
def run() -> fa.Run:
    return fa.simulate(ARM, 1.0, torque={"a": 1.0}, native=False)


def test_groups_and_names(run: fa.Run) -> None:
    found = Quantities(run)
    assert found.names[:2] == ["joints", "tip"]
    assert set(run.names) < set(found.names)
    joints = found.curves("joints")
    assert (list(joints.values), joints.unit) == (["a.q"], "rad")
    assert len(joints.times) == POINTS_PER_CURVE
    np.testing.assert_allclose(joints.values["a.q"], 1.5 * joints.times**2, atol=1e-3)  # tau / (m l^2 / 3) t^2 / 2
    assert list(found.curves("tip").values) == ["tip.x", "tip.y"]  # z is constant


def test_cursor_is_at_the_current_time(run: fa.Run) -> None:
    curves = Quantities(run).curves("a.q")
    for time in (0.0, 0.123, 1.0):
        times, values, needle = curves.with_cursor(time)
        assert (np.diff(times) >= 0).all()
        assert len(times) == len(values) == len(needle)
        assert times[needle.argmax()] == pytest.approx(time)
        assert np.isfinite(values).all()
        assert ((needle >= CURSOR_RANGE[0]) & (needle <= CURSOR_RANGE[1])).sum() == 0  # the baseline is invisible
        assert (needle > CURSOR_RANGE[1]).sum() == 1


def test_peaks_are_kept() -> None:
    times = np.linspace(0, 1, 50_001)
    values = np.zeros((len(times), 1))
    values[12_345], values[33_333], values[40_000:40_500] = 5.0, -3.0, np.nan
    kept = select_samples([values[:, 0]], len(times))
    assert len(kept) < 3 * POINTS_PER_CURVE
    assert {0, 12_345, 33_333, 50_000} <= set(kept.tolist())
    assert np.isnan(values[kept]).any()  # gaps remain gaps


def test_peaks_of_ghosts_are_kept(run: fa.Run) -> None:
    peaked = fa.Run(run.data.copy(deep=True))
    peaked.data["q"].values[len(run.array("time")) // 3] = 9.0
    curves = Quantities(run).curves("a.q", {"ghost": Quantities(peaked)})
    assert curves.values["a.q (ghost)"].max() == 9.0


def test_ghost_at_rest_is_drawn(run: fa.Run) -> None:
    resting = fa.simulate(ARM, 1.0, native=False)
    curves = Quantities(run).curves("joints", {"ghost": Quantities(resting)})
    assert not curves.values["a.q (ghost)"].any()
    assert list(Quantities(resting).curves("joints", {"ghost": Quantities(run)}).values) == ["a.q", "a.q (ghost)"]


def test_shorter_ghost_ends_at_its_end(run: fa.Run) -> None:
    short = fa.simulate(ARM, 0.5, native=False)
    curves = Quantities(run).curves("a.q", {"ghost": Quantities(short)}).in_readable_units()
    assert list(curves.values) == ["a.q", "a.q (ghost)"]
    assert not curves.is_complete
    np.testing.assert_array_equal(np.isnan(curves.values["a.q (ghost)"]), curves.times > 0.5)


@pytest.mark.parametrize(
    ("values", "unit", "factor", "readable_unit"),
    [
        ([0.0, 2e-7], "J", 1e9, "nJ"),
        ([-3e-4, 1e-3], "m", 1e3, "mm"),
        ([0.0, 4e4], "N m", 1e-3, "kN m"),
        ([0.0, 4e-5], "1", 1e6, "1e-6"),
        ([0.9, 0.9 + 1e-9], "m", 1e6, "µm"),  # more digits would not fit
        ([0.0, 0.0], "m", 1.0, "m"),
        ([1e-30, 2e-30], "m", 1e30, "1e-30 m"),
    ],
)
def test_values_are_scaled_to_readable_units(values: list[float], unit: str, factor: float, readable_unit: str) -> None:
    shown = Curves(np.array([0.0, 1.0]), {"a": np.array(values)}, unit).in_readable_units()
    assert shown.unit == readable_unit
    np.testing.assert_allclose(shown.values["a"], factor * np.array(values))


def test_curves_are_split_at_gaps() -> None:
    times = np.arange(8.0)
    gaps = np.array([np.nan, 1.0, 2.0, np.nan, np.inf, 3.0, np.nan, 4.0])
    shown = Curves(times, {"a": gaps, "b": times}, "").in_readable_units()
    assert list(shown.values) == ["a", "a, from 5 s", "a, from 7 s", "b"]
    assert shown.parts == {"a, from 5 s": "a", "a, from 7 s": "a"}
    for each in shown.values.values():  # no gaps within parts
        good = np.flatnonzero(np.isfinite(each))
        assert (np.diff(good) == 1).all()
    together = np.nansum([shown.values[label] for label in list(shown.values)[:3]], axis=0)
    np.testing.assert_array_equal(together, np.where(np.isfinite(gaps), gaps, 0.0))
    assert shown.range == (0.0, 7.0)
