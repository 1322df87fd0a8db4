import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.curves import POINTS, Quantities, telling

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
    assert len(joints.times) == POINTS
    np.testing.assert_allclose(joints.values["a.q"], 1.5 * joints.times**2, atol=1e-3)  # tau / (m l^2 / 3) t^2 / 2
    assert list(found.curves("tip").values) == ["tip.x", "tip.y"]  # z never moves


def test_needle_stands_at_the_time_shown(run: fa.Run) -> None:
    curves = Quantities(run).curves("a.q")
    for time in (0.0, 0.123, 1.0):
        times, values, needle = curves.with_cursor(time)
        assert (np.diff(times) >= 0).all()
        assert len(times) == len(values) == len(needle)
        assert times[needle.argmax()] == pytest.approx(time)
        assert np.isfinite(values).all()
        assert (needle > needle.min()).sum() == 1


def test_no_peak_is_lost() -> None:
    times = np.linspace(0, 1, 50_001)
    values = np.zeros((len(times), 1))
    values[12_345], values[33_333], values[40_000:40_500] = 5.0, -3.0, np.nan
    kept = telling([values[:, 0]], len(times))
    assert len(kept) < 3 * POINTS
    assert {0, 12_345, 33_333, 50_000} <= set(kept.tolist())
    assert np.isnan(values[kept]).any()  # what is no number is no zero


def test_peaks_of_ghosts_are_seen(run: fa.Run) -> None:
    peaked = fa.Run(run.data.copy(deep=True))
    peaked.data["q"].values[len(run.array("time")) // 3] = 9.0
    curves = Quantities(run).curves("a.q", {"ghost": Quantities(peaked)})
    assert curves.values["a.q (ghost)"].max() == 9.0


def test_shorter_ghost_says_where_it_ends(run: fa.Run) -> None:
    short = fa.simulate(ARM, 0.5, native=False)
    labels = list(Quantities(run).curves("a.q", {"ghost": Quantities(short)}).values)
    assert labels == ["a.q", "a.q (ghost to 0.5 s)"]
