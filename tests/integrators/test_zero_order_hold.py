"""A held step is a step of its method, from accelerations of what is held."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.methods.esdirk import Esdirk
from flexarm.integrators.methods.runge_kutta import rk4
from flexarm.integrators.step_runner import CompiledStepper
from flexarm.integrators.zero_order_hold import ZeroOrderHoldLayout, ZeroOrderHoldMethod, ZeroOrderHoldStepper
from flexarm.simulation.options import tolerance_of

METAL = fa.Material(7e10, 2700, damping=1e-3)
BEAM = fa.Link("beam", 1.0, section=fa.Section.rectangle(0.01, 0.02), material=METAL, flexible=fa.Flexible(bend_y=1))
SYSTEM = fa.System(fa.Robot(links=[BEAM], gravity=(0, -9.81, 0)), native=False)
DT = 2e-3


class OfTheUser(fa.Newmark):
    """A method that we do not know."""


class Constant:
    """Inputs that do not change, not even the time."""

    segments = None

    def __init__(self, row, nodes):
        self._rows = np.tile(row, (nodes, 1))

    def __call__(self, times):
        return self._rows


def steppers(method, substeps=1):
    """The plain one and the held one."""
    schedule, tolerance = Schedule(SYSTEM, None, None, ()), tolerance_of(SYSTEM.robot, 1e-4, 0.0, 1.0)
    plain = CompiledStepper(schedule.plant(), method, 4, False, schedule.given)
    held = ZeroOrderHoldStepper(schedule.plant(), method, DT * substeps, substeps, False, schedule.given, tolerance)
    plain.set_bounds(tolerance, is_fixed=True, smallest=0.0)
    return plain, held


def started(plain, u, dt=DT):
    at = plain.plant.layout
    state = at.at_rest(np.array([0.3, 0.01]), np.array([0.5, -0.1]))
    a, given, drained = (each[0, :, 0] for each in plain.start(state[None, :, None], u[None, :, None], np.array([dt])))
    state[at.a] = state[at.aux] = a
    state[at.given], state[at.drained] = given[0], drained[0]
    return state


@pytest.mark.parametrize("method", [Esdirk(), fa.GeneralizedAlpha(), rk4(), OfTheUser()], ids=repr)
def test_it_is_a_step_of_the_method_from_accelerations_of_its_inputs(method):
    plain, held = steppers(method, substeps=3)
    u = np.array([0.0, 0.7])
    state, layout = started(plain, u), held.layout
    errors = []
    plain.driver.path[0] = state
    for k in range(3):
        control = plain.driver.control
        control.t, control.stop, control.dt, control.longest = k * DT, (k + 1) * DT, DT, np.inf
        control.most_steps = control.most_attempts = 1
        plain.driver.advance(Constant(u, len(plain.nodes)))
        plain.driver.path[0] = plain.driver.path[1]
        errors.append((plain.driver.errors.max(), plain.driver.left.max()))
    errors = np.array(errors)
    held.before[layout.own] = state
    held.before[layout.own][layout.state.a] = held.before[layout.own][layout.state.aux] = 99.0  # of other torques
    held.before[layout.last] = [0.0, -3.0]
    held.inputs[:] = u
    assert held.take() == 3
    assert held.after[layout.own] == pytest.approx(plain.driver.path[0], rel=1e-13, abs=1e-13)
    assert held.after[layout.last].tolist() == u.tolist()
    error, left, alarms, size_of_all, steps = held.diagnostics
    assert error == pytest.approx(DT * errors.sum())
    assert left == pytest.approx(errors[:, 1].max())
    assert (alarms, steps) == (0, 3)
    assert size_of_all == pytest.approx(held.after[layout.own] @ held.after[layout.own])


def test_accelerations_stay_where_nothing_jumps():
    _, held = steppers(fa.Newmark())
    state, layout = started(steppers(fa.Newmark())[0], np.array([0.0, 0.7])), held.layout
    found = []
    for last in (0.7, 0.7 * (1 + 1e-12), 0.7001):
        held.before[layout.own], held.before[layout.last] = state, [5.0, last]  # its time does not matter
        held.before[layout.own][layout.state.a] += 1.0
        held.inputs[:] = [0.0, 0.7]
        held.take()
        found.append(held.after.copy())
    assert np.array_equal(found[0], found[1])
    assert not np.allclose(found[0], found[2])


def test_bounds_are_counted_and_numbers_that_are_not_are_reported():
    _, held = steppers(Esdirk())
    state, layout = started(steppers(Esdirk())[0], np.array([0.0, 0.7])), held.layout
    held.before[layout.own], held.before[layout.last] = state, np.inf
    held.inputs[:] = [0.0, 0.7]
    held.high[0], held.low[2] = 0.2, 5.0  # q of the joint, and its rate
    held.take()
    assert held.diagnostics[2] == 2
    held.inputs[:] = [0.0, np.nan]
    held.take()
    assert not held.diagnostics[3] < 1e200


def test_a_method_that_we_do_not_know_has_no_identity():
    assert ZeroOrderHoldMethod(OfTheUser()).identity is None
    assert ZeroOrderHoldMethod(Esdirk()).identity == ("held", *Esdirk().identity)
    assert ZeroOrderHoldMethod(Esdirk()).identity != ZeroOrderHoldMethod(fa.Newmark()).identity


def test_parts_of_a_held_state_follow_each_other():
    layout = ZeroOrderHoldLayout(steppers(Esdirk())[1].layout.state, 2)
    assert layout.own.stop == layout.last.start
    assert layout.last.stop == layout.diagnostics.start
    assert layout.diagnostics.stop == layout.size
