"""Accelerations of many states at once."""

import numpy as np
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.codegen.loops import Runner
from flexarm.motion.schedule import Schedule
from flexarm.motion.starts import Starts


def test_many_states_have_the_accelerations_of_the_equations():
    system = fa.System(fa.library.two_link_arm(), native=False)
    schedule = Schedule(system, None, None, None)
    starts = Starts(Runner(schedule.plant().start), schedule.given.numbers)
    count = 507
    q, v = np.random.default_rng(0).normal(size=(2, count, system.nq)) * 0.01
    torque = np.random.default_rng(1).normal(size=(count, system.nu))
    found = starts(q, v, np.column_stack([np.zeros(count), torque]))
    assert len(found) == 3
    assert_allclose(found[0], system.forward_dynamics(q, v, torque), rtol=1e-9)
