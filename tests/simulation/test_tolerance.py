"""rtol means what it says: ends of runs against references by other methods (benchmarks/tolerance.py)."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import tolerance
from tolerance_set import cases, measuring, references

# one of each kind that is quick in the virtual machine
QUICK = (
    "planar 0",
    "spatial 0",
    "jumps 4",
    "friction 1",
    "stops 4",
    "stiff gains 0",
    "chirps 2",
    "fast sines 3",
    "pulses 7",
    "driven 0",
    "digital 1",
    "loops 0",
    "drives 1",
    "pendulums 1",
    "metal 1",
    "spin-up 0",
    "riders 1",
    "mixed 1",
)


@pytest.mark.parametrize("name", QUICK)
def test_the_end_is_where_it_should_be_or_the_run_warns(name: str) -> None:
    row = tolerance.measured(name, {"native": False})
    assert not row.outcome.failure
    assert not row.silent, row.line()


@pytest.mark.slow
def test_nine_of_ten_runs_keep_their_tolerance_and_nearly_all_keep_three_times_it_or_warn() -> None:
    rows = tolerance.in_processes(partial(tolerance.measured, options={}), tolerance.kept(), workers=2)
    print(tolerance.summary(rows))
    assert np.mean([row.error <= 1 for row in rows]) >= 0.9
    assert np.mean([not row.silent for row in rows]) >= 0.99
    assert not [row.name for row in rows if row.outcome.failure]


def test_every_case_has_a_reference_or_a_reason_why_not() -> None:
    known = references.read()
    assert list(known) == cases.names()
    assert len(tolerance.kept()) >= 120
    for each in known.values():
        assert each.dropped or (each.found and each.agreement < references.AGREE)


def test_a_case_is_the_same_each_time_and_stretched_in_all_its_numbers() -> None:
    name = "spin-up 2"
    assert cases.case(name) == cases.case(name)
    one, other = cases.case(name), cases.case(name, stretch=1e-3)
    assert other.length == pytest.approx(1.001 * one.length)
    assert other.duration == pytest.approx(1.001 * one.duration)
    assert other.rtol == one.rtol


def outcome(gap: float, **fields: str) -> measuring.Outcome:
    return measuring.Outcome([[0.0, 0.0, 0.0], [1.0, gap, 0.0]], **fields)


def test_the_error_is_the_largest_distance_of_a_point() -> None:
    assert outcome(0.3).distance([[0.0, 0.0, 0.1], [1.0, 0.0, 0.0]]) == pytest.approx(0.3)
    assert outcome(0.0, failure="diverged").distance([[0.0, 0.0, 0.0]]) == np.inf
    assert outcome(np.nan).distance([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]) == np.inf


def test_the_summary_names_who_is_far_off_without_a_word() -> None:
    rows = [
        tolerance.Row("loops 0", 1e-3, 0.5, outcome(0.0)),
        tolerance.Row("loops 1", 1e-3, 7.0, outcome(0.0)),
        tolerance.Row("metal 0", 1e-3, 8.0, outcome(0.0, warning="the integration itself put in 3 J")),
        tolerance.Row("metal 1", 1e-3, np.inf, outcome(0.0, failure="diverged")),
    ]
    text = tolerance.summary(rows)
    assert [line.split()[:4] for line in text.splitlines()[1:4]] == [
        ["loops", "2", "50.0%", "50.0%"],
        ["metal", "2", "0.0%", "0.0%"],
        ["all", "4", "25.0%", "25.0%"],
    ]
    assert text.split("without a warning:")[1].split() == ["loops", "1", "(7)", "failed:", "metal", "1:", "diverged"]


def test_a_run_that_takes_too_long_is_ended_and_says_so() -> None:
    """Ten million steps in the virtual machine take minutes on any machine."""
    found = measuring.outcome(cases.case("vibration 0"), native=False, limit=0.05, method="rk4", dt=1e-6)
    assert found.failure == "OutOfTime: not finished after 0.05 s"
