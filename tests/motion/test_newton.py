import numpy as np

import flexarm as fa


def test_what_iterations_leave_does_not_add_up_over_many_steps():
    torque = dict.fromkeys(("column", "upper", "fore"), 400.0)

    def tip(iterations):
        method = fa.GeneralizedAlpha(iterations=iterations)
        run = fa.simulate(fa.library.rrr_arm(), 0.3, torque=torque, dt=2e-4, rtol=1e-2, sample=0.02, method=method)
        return run.array("tip")

    allowed = 1e-2 * 8.5
    assert np.abs(tip(2) - tip(8)).max() < 0.01 * allowed
