"""fa.monte_carlo: draws, quantiles, shares."""

import signal

import numpy as np
import pytest
from scipy.stats import norm, uniform

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from flexarm.sweeps.case import Member, SweepCase
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.store import Journal
from tests.sweeps.cases import BAR, MASS, QUICK, angle

OVER = {"torque.bar": norm(1.0, 0.1), MASS: uniform(2.9, 0.2)}


def studied(**given):
    return fa.monte_carlo(
        BAR, OVER, 1.0, **{"torque": {"bar": 0.0}, "measure": angle, "progress": False, **QUICK, **given}
    )


def test_quantiles_and_shares_are_those_of_the_formula():
    """angle = 1.5 torque / mass: nearly linear, so that shares are those of the squares of relative deviations."""
    found = studied(members=128, sobol=True)
    torque, mass = (found[name].values for name in OVER)
    assert found["angle"].dims == ("member",)
    assert found["angle"].values == pytest.approx(1.5 * torque / mass)
    assert found["torque.bar"].attrs["units"] == "N m"
    levels = found["quantile"].values
    assert found["angle_quantiles"].values == pytest.approx(np.quantile(found["angle"].values, levels))
    assert float(found["angle_quantiles"].sel(quantile=0.5)) == pytest.approx(0.5, rel=0.01)
    spread = float(np.diff(found["angle_quantiles"].sel(quantile=[0.05, 0.95]).values)[0])
    assert spread == pytest.approx(2 * 1.645 * 0.05, rel=0.1)
    variances = 0.1**2, (0.2 / 3) ** 2 / 12
    share = variances[0] / sum(variances)
    assert float(found["angle_first_order"].sel(field="torque.bar")) == pytest.approx(share, abs=0.05)
    assert float(found["angle_first_order"].sel(field=MASS)) == pytest.approx(1 - share, abs=0.1)
    assert "correlation ratio" in found["angle_first_order"].attrs["estimator"]


def test_the_same_seed_gives_the_same_members(tmp_path):
    first = studied(members=8, seed=3, store=tmp_path / "a.nc", measure=["tip"])
    assert first.equals(studied(members=8, seed=3, store=tmp_path / "a.nc", measure=["tip"]))
    assert first.drop_vars("reason").equals(studied(members=8, seed=3, measure=["tip"]).drop_vars("reason"))
    with pytest.raises(ValueError, match="differs in over"):
        studied(members=8, seed=4, store=tmp_path / "a.nc", measure=["tip"])
    other = studied(members=8, seed=3, store=tmp_path / "a.nc", measure=["tip"], quantiles=[0.1])
    assert other["tip_quantiles"].shape == (1, 3)
    assert "quantile" in other.coords


def test_members_that_fail_count_in_neither():
    def picky(run):
        if angle(run) > 0.5:
            raise ArithmeticError("too far")
        return angle(run)

    with pytest.warns(UserWarning, match="members failed"):
        found = studied(members=16, measure=picky)
    good = found["status"].values == "completed"
    assert 0 < good.sum() < 16
    assert float(found["picky_quantiles"][-1]) <= found["picky"].values[good].max() <= 0.5


def test_an_interrupted_study_has_statistics_of_its_first_draws(tmp_path, monkeypatch):
    real, seen = Journal.write, []

    def write(journal, outcome):
        seen.append(outcome.number)
        if len(seen) == 25:
            signal.raise_signal(signal.SIGINT)
        real(journal, outcome)

    monkeypatch.setattr(Journal, "write", write)
    given = {"members": 40, "threads": 1, "store": tmp_path / "a.nc"}
    with pytest.warns(UserWarning, match=r"interrupted after \d+ of 40 .* its statistics are of the first \d+ of 40"):
        found = studied(**given)
    first = int((found["status"].values == "missing").argmax())
    assert found["angle_quantiles"].attrs["members"] == first < 40
    assert found.attrs["statistics"].startswith(f"of the first {first} of 40 members drawn")
    if first:
        assert float(found["angle_quantiles"].sel(quantile=0.5)) == np.median(found["angle"].values[:first])
    whole = studied(**given)
    assert whole["angle_quantiles"].attrs["members"] == 40
    assert "statistics" not in whole.attrs


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_members_run_in_blocks_in_the_order_of_their_draws(monkeypatch):
    monkeypatch.setattr(tasks, "BLOCK_SIZE", 16)
    masses = np.random.default_rng(1).uniform(1.0, 4.0, 200).tolist()
    members = [Member(k, {MASS: mass}) for k, mass in enumerate(masses)]
    prepared = tasks.prepare(SweepCase(BAR, 1.0, torque={"bar": 1.0}), members, threads=1)
    order = [place for task in prepared.tasks for place in task.places]
    assert sorted(order) == list(range(200))
    for begin in range(0, 200, 16):
        assert sorted(order[begin : begin + 16]) == list(range(200))[begin : begin + 16]


def test_a_draw_that_makes_no_robot_is_told_before_anything_runs():
    with pytest.raises(ValueError, match=r"member \d+ .*cannot be: .*must be zero or positive"):
        fa.monte_carlo(BAR, {MASS: norm(1.0, 5.0)}, 1.0, members=50)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"members": 1}, "members"),
        ({"members": 1.5}, "members"),
        ({"seed": -1}, "seed"),
        ({"sobol": 1}, "sobol"),
        ({"quantiles": [2.0]}, "quantiles"),
        ({"quantiles": []}, "quantiles"),
    ],
)
def test_what_is_asked_for_is_checked(given, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        studied(**given)
