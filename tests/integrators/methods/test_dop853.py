import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.integrate._ivp import dop853_coefficients as scipys

import flexarm as fa
from flexarm.integrators.methods.dop853 import FIFTH_ORDER_WEIGHTS, THIRD_ORDER_WEIGHTS, Dop853, _dense


def test_numbers_are_scipys():
    ours = Dop853()
    assert_array_equal(ours.A, scipys.A[:12, :12])
    assert_array_equal(ours.b, scipys.B)
    assert_array_equal(ours.c, scipys.C[:12])
    assert_array_equal(_dense(THIRD_ORDER_WEIGHTS), scipys.E3[:12])
    assert_array_equal(_dense(FIFTH_ORDER_WEIGHTS), scipys.E5[:12])


def test_order_eight_on_a_pendulum():
    pendulum = fa.System(fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)], gravity=(0, -9.81, 0)), native=False)

    def end(dt):
        run = fa.simulate(pendulum, 2.0, method="dop853", dt=dt, sample=2.0, native=False)
        return np.concatenate([run.array("q")[-1], run.array("v")[-1]])

    exact = end(0.01)
    errors = np.array([np.abs(end(dt) - exact).max() for dt in (0.1, 0.05)])
    assert np.log2(errors[0] / errors[1]) == pytest.approx(8, abs=0.5)
