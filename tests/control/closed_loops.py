"""Robots under a compiled feedback as linear systems: what theory says of closed loops."""

import casadi as ca
import numpy as np

import flexarm as fa
from flexarm.motion.traced_law import TracedLaw


def matrices(robot, feedback, q=None):
    """A of (q, v, states of the law), about a posture."""
    system = fa.System(robot, native=False)
    lin = fa.linearize(system, q=q)
    by_state, by_own, rates_by_state, rates_by_own = slopes(system, feedback, q)
    return np.block([[lin.A + lin.B @ by_state, lin.B @ by_own], [rates_by_state, rates_by_own]])


def slopes(system, feedback, q=None):
    """Of torques and of the rates of states: by (q, v), by states."""
    law = TracedLaw(feedback, system)
    arguments = law.function.sx_in()
    found = law.function(*arguments)
    by = ca.vertcat(arguments[1], arguments[2]), arguments[5]
    function = ca.Function("slopes", arguments, [ca.jacobian(each, one) for each in found for one in by])
    channels = [float(each(np.zeros(1))[0]) for each in law.channels]
    at = system.posture(q), np.zeros(system.nq)
    numbers = system.numbers, np.array(law.places)
    return [each.full() for each in function(0.0, *at, channels, law.parameters, law.start, *numbers)]


def poles(robot, feedback, q=None):
    """Of the upper half plane, slowest vibration first."""
    found = np.linalg.eigvals(matrices(robot, feedback, q))
    found = found[found.imag >= -1e-9]
    return found[np.argsort(np.abs(found))]
