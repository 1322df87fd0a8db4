import warnings

import pytest

import flexarm as fa
from flexarm.simulation import run_checks
from flexarm.simulation.run_checks import DurationNotice, require_finite_work, sample_times

ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=1.0)])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dt": 1e-12}, r"dt = 1e-12: makes 1e\+12 steps of the duration, 1 s"),
        ({"torque": fa.Feedback(lambda t, q, v: [0.0], rate=1e12)}, r"rate = 1e\+12: makes 1e\+12 calls in 1 s"),
        ({"sample": 1e-12}, r"sample = 1e-12: 1e\+12 samples of this robot need about .* GB of memory"),
        ({"duration": 1e12, "dt": 1e-3}, "dt = 0.001: makes"),
    ],
)
def test_runs_without_end_are_refused_before_they_start(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        fa.simulate(ROD, **{"duration": 1.0, "native": False, **options})


def test_bounds_let_through_what_can_be_done():
    require_finite_work(1.0, 1.0 / run_checks.MOST_STEPS, None)
    require_finite_work(1.0, None, run_checks.MOST_CALLS)
    assert len(sample_times(1.0, 1e-5, 10)) == 100_001


def test_memory_bounds_samples_by_the_size_of_the_robot(monkeypatch):
    monkeypatch.setattr(run_checks, "memory", lambda: 2e6)
    assert len(sample_times(1.0, 1e-3, 3)) == 1001
    with pytest.raises(ValueError, match=r"sample = 0\.001"):
        sample_times(1.0, 1e-3, 300)


def test_a_run_that_promises_to_take_long_says_so_once(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(run_checks.clock, "perf_counter", lambda: now[0])
    patience = DurationNotice(100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        now[0] = 1.0
        patience.update(0.01)  # too early to tell
        now[0] = 10.0
        patience.update(50.0)  # fast enough
    now[0] = 20.0
    with pytest.warns(fa.ValidityWarning, match=r"come to t = 1 of 100 s: it will take about 33 minutes"):
        patience.update(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        now[0] = 40.0
        patience.update(1.1)


def test_a_law_that_jumps_may_be_why_a_run_takes_long(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(run_checks.clock, "perf_counter", lambda: now[0])
    patience = DurationNotice(100.0, law=True)
    now[0] = 20.0
    with pytest.warns(fa.ValidityWarning, match=r"minutes.*; a law that jumps .* needs a smooth form"):
        patience.update(1.0)
