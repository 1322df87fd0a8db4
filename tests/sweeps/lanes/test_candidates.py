"""Members before they run."""

import numpy as np
import pytest

from flexarm.sweeps.lanes.candidates import candidates, parted, points
from flexarm.sweeps.member import Member
from tests.sweeps.lanes.test_batch import ARM


def test_changes_by_what_they_change():
    parts = parted({"gravity.1": 1.0, "q0.fore.q": 0.2, "v0.fore.q": 1, "gains.kp": 3.0, "torque.upper": 1.0})
    assert dict(parts.robot) == {"gravity.1": 1.0}
    assert dict(parts.state) == {"q0.fore.q": 0.2, "v0.fore.q": 1.0}
    assert dict(parts.inputs) == {"gains.kp": 3.0, "torque.upper": 1.0}
    with pytest.raises(ValueError, match=r"q0\.fore\.q"):
        parted({"q0.fore.q": "x"})


def test_members_that_differ_by_numbers_only_are_together():
    changes = [
        {"links.fore.payload.mass": 0.1, "links.fore.flexible.bend_y": 1},
        {"links.fore.payload.mass": 0.2, "links.fore.flexible.bend_y": 2},
        {"links.fore.payload.mass": 0.3, "links.fore.flexible.bend_y": 1},
    ]
    found = candidates(ARM, [Member(k, each) for k, each in enumerate(changes)])
    assert [[each.member.number for each in group] for group in found] == [[0, 2], [1]]
    np.testing.assert_array_equal(points(found[0], ["links.fore.payload.mass"]), [[0.1], [0.3]])
    assert found[0][1].robot_of(ARM).link("fore").payload.mass == 0.3
