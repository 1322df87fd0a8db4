"""Members that run in lanes are warned of too few shapes as `simulate` warns, whatever drives them."""

import re

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from tests.dynamics.accuracy.test_shape_truncation import loaded_arm

pytestmark = [
    pytest.mark.skipif(find_compiler() is None, reason="no C compiler"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

ARM = loaded_arm(2)
MOVE = fa.minimum_jerk(0.0, 0.5, 0.2)
PAYLOAD = "links.fore.payload.mass"


def push(t):
    return 20.0 if float(t) < 0.1 else -20.0


def swing(t):
    return float(0.1 * np.sin(40.0 * float(t)))


DRIVES = {
    "profile": {"torque": {"upper": fa.bang_bang(20.0, (0.1, 0.2))}},
    "function": {"torque": {"upper": push}},
    "motion": {"motion": {"upper": MOVE, "fore": 0.0}},
    "motion by a function": {"motion": {"upper": swing, "fore": 0.0}},
    "law": {"torque": fa.pd(ARM, 4000.0, 400.0, references={"upper": MOVE, "fore": 0.0})},
}


@pytest.mark.parametrize("drive", DRIVES.values(), ids=DRIVES)
def test_members_in_lanes_are_warned_as_single_runs(drive):
    payloads = [2.0, 3.0, 4.0, 5.0, 6.0]
    options = {"rtol": 1e-5, "progress": False}
    found = fa.sweep(ARM, {PAYLOAD: payloads}, 0.3, **drive, **options)
    assert found.attrs["notes"] == ""
    for payload, told in zip(payloads, found["warnings"].values, strict=True):
        run = fa.simulate(ARM.with_({PAYLOAD: payload}), 0.3, **drive, **options)
        assert run.truncation.error > 0.01
        assert "too few shapes" in told
        if run.truncation.error > 0.2:
            assert "off by more than 20%" in told
        else:  # other steps: a motion that is a function is read from them
            percent = float(re.search(r"off by about ([\d.]+)%", told)[1])
            assert percent == pytest.approx(100 * run.truncation.error, rel=0.05)


def test_the_check_changes_no_value_of_members_with_a_law(monkeypatch):
    """Members that run again for the estimate keep the values of their lanes."""
    from flexarm.sweeps.ensemble import second_looks

    over, options = {PAYLOAD: np.linspace(2.0, 6.0, 12)}, {"rtol": 1e-5, "progress": False}
    checked = fa.sweep(ARM, over, 0.3, **DRIVES["law"], **options)
    monkeypatch.setattr(second_looks, "shape_warnings", lambda *given: {})
    plain = fa.sweep(ARM, over, 0.3, **DRIVES["law"], **options)
    assert "warnings" not in plain
    np.testing.assert_array_equal(checked["tip"], plain["tip"])
    assert (
        sum("too few shapes" in each for each in checked["warnings"].values) == 6
    )  # the first and the last among them
