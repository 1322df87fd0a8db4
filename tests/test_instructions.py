"""Steps do not become costlier unnoticed: instruction counts against those on record."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import instructions

ROBOTS = instructions.robots()


@pytest.mark.parametrize("name", ROBOTS)
def test_a_step_costs_no_more_than_on_record(name):
    found, record = instructions.counts(*ROBOTS[name]), instructions.recorded()[name]
    for part, count in found.items():
        allowed = instructions.SLACK * record[part] + 5
        assert count <= allowed, f"{part} of {name}: {count} instructions, {record[part]} on record"
