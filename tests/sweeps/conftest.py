import pytest

from flexarm.sweeps.ensemble import tasks


@pytest.fixture(autouse=True)
def few_members_in_lanes(monkeypatch):
    """Run members in lanes however few they are: that is what most of these tests are about."""
    monkeypatch.setattr(tasks, "MIN_LANE_MEMBERS", 1)
