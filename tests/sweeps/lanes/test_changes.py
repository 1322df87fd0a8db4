"""What members change, by name."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.sweeps.lanes.changes import changed_inputs, changed_start, law_parameters, parted
from flexarm.sweeps.member import Case
from tests.sweeps.lanes.test_batch import ARM, PUSH

SYSTEM = fa.System(ARM, native=False)


def test_changes_by_what_they_change():
    parts = parted({"gravity.1": 1.0, "q0.fore.q": 0.2, "v0.fore.q": 1, "gains.kp": 3.0, "torque.upper": 1.0})
    assert dict(parts.robot) == {"gravity.1": 1.0}
    assert dict(parts.state) == {"q0.fore.q": 0.2, "v0.fore.q": 1.0}
    assert dict(parts.inputs) == {"gains.kp": 3.0, "torque.upper": 1.0}
    with pytest.raises(ValueError, match=r"q0\.fore\.q"):
        parted({"q0.fore.q": "x"})


def test_where_a_run_begins():
    found = changed_start(Case(ARM, 1.0, q0={"upper.q": 1.0}), SYSTEM, {"q0.fore.q": 0.5, "v0.upper.q": 2.0})
    assert found == {"q0": {"upper.q": 1.0, "fore.q": 0.5}, "v0": {"upper.q": 2.0}}
    given = np.arange(SYSTEM.nq, dtype=float)
    found = changed_start(Case(ARM, 1.0, q0=given), SYSTEM, {"q0.upper.q": 9.0})
    assert found["q0"][SYSTEM.index("upper.q")] == 9.0
    np.testing.assert_array_equal(given, np.arange(SYSTEM.nq))  # it is the user's
    with pytest.raises(ValueError, match="leave one of them out"):
        changed_start(Case(ARM, 1.0, q0="equilibrium"), SYSTEM, {"q0.fore.q": 0.5})


def test_numbers_of_profiles():
    torque, motion = changed_inputs(Case(ARM, 1.0, torque=PUSH), {"torque.upper.amplitude": 0.5, "torque.fore": 2.0})
    assert torque["upper"](0.1) == 0.5
    assert torque["upper"].breaks == PUSH["upper"].breaks
    assert torque["fore"] == 2.0
    assert motion is None
    assert PUSH["upper"](0.1) == 0.02
    mapping = Case(ARM, 1.0, motion={"upper": {"profile": "cycloid", "start": 0, "end": 1, "duration": 0.5}})
    _, motion = changed_inputs(mapping, {"motion.upper.end": 3.0})
    assert motion["upper"](0.5) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"torque.upper.switch_times": 1.0}, "has no 'switch_times'; did you mean 'switch'"),
        ({"torque.fore.amplitude": 1.0}, "has no numbers by name"),
    ],
)
def test_profiles_without_such_a_number(change, sentence):
    case = Case(ARM, 1.0, torque={"upper": PUSH["upper"], "fore": lambda t: 0.0})
    with pytest.raises(ValueError, match=sentence):
        changed_inputs(case, change)


def test_gains_by_name_and_entries_of_vectors():
    def law(t, q, v, gains):
        return [gains["kp"] * q[0] + gains["k"][0] * v[0] + gains["k"][1], 0.0]

    feedback = fa.Feedback(law, gains={"kp": 1.0, "k": [2.0, 3.0]}, limit={"fore": 7.0})
    found = law_parameters(feedback, SYSTEM, {"gains.k[2]": 9.0, "gains.kp": 5.0})
    np.testing.assert_array_equal(found, [5.0, 2.0, 9.0, 7.0])
    assert feedback.gains == {"kp": 1.0, "k": [2.0, 3.0]}
