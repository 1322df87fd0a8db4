"""What members of one structure share."""

import numpy as np

import flexarm as fa
from flexarm.sweeps.ensemble.cohort import law_parameters
from tests.sweeps.ensemble.test_batch import ARM

SYSTEM = fa.System(ARM, native=False)


def test_gains_by_name_and_entries_of_vectors():
    def law(t, q, v, gains):
        return [gains["kp"] * q[0] + gains["k"][0] * v[0] + gains["k"][1], 0.0]

    feedback = fa.Feedback(law, gains={"kp": 1.0, "k": [2.0, 3.0]}, limit={"fore": 7.0})
    found = law_parameters(feedback, SYSTEM, {"gains.k[2]": 9.0, "gains.kp": 5.0})
    np.testing.assert_array_equal(found, [5.0, 2.0, 9.0, 7.0])
    assert feedback.gains == {"kp": 1.0, "k": [2.0, 3.0]}
