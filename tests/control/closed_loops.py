"""Robots under a compiled feedback as linear systems, for comparison with theory."""

import casadi as ca
import numpy as np

import flexarm as fa
from flexarm.feedback.traced_law import TracedLaw


def matrices(robot, feedback, q=None):
    """Return the state matrix for (q, v, states of the law) about a posture."""
    system = fa.System(robot, native=False)
    lin = fa.linearize(system, q=q)
    by_state, by_own, rates_by_state, rates_by_own = slopes(system, feedback, q)
    return np.block([[lin.A + lin.B @ by_state, lin.B @ by_own], [rates_by_state, rates_by_own]])


def slopes(system, feedback, q=None):
    """Return derivatives of torques and of state rates by (q, v) and by states."""
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
    """Return the poles in the upper half plane, the slowest first."""
    found = np.linalg.eigvals(matrices(robot, feedback, q))
    found = found[found.imag >= -1e-9]
    return found[np.argsort(np.abs(found))]


def closed_loop_poles(system, feedback, lin, q, t=100.0):
    """Return the poles of small motions about the posture of a linear model, states of the law included."""
    law = TracedLaw(feedback, system)
    arguments = law.function.sx_in()
    outputs = ca.vertcat(*law.function(*arguments))
    slopes = [ca.jacobian(outputs, arguments[k]) for k in (1, 2, 5)]
    channels = [float(each(np.array([t]))[0]) for each in law.channels]
    at = (t, system.posture(q), np.zeros(system.nq), channels, law.parameters, law.start, system.numbers, law.places)
    on_q, on_v, on_s = (each.full() for each in ca.Function("slopes", arguments, slopes)(*at))
    on_x, nu = np.hstack([on_q, on_v]), system.nu
    A = np.block([[lin.A + lin.B @ on_x[:nu], lin.B @ on_s[:nu]], [on_x[nu:], on_s[nu:]]])
    return np.linalg.eigvals(A)


def same_poles(found, expected, rtol=1e-6):
    """Return True if two sets of poles are equal within a relative tolerance."""
    left = list(expected)
    for pole in found:
        nearest = min(left, key=lambda each: abs(each - pole))
        if abs(nearest - pole) > rtol * max(abs(pole), 1.0):
            return False
        left.remove(nearest)
    return not left


ALUMINIUM = fa.Material(E=7e10, rho=2700.0, damping=1e-4)


def beam(modes=2, g=9.81):
    """A flexible link with a payload that a hinge holds against gravity."""
    flexible = fa.Flexible(bend_y=modes)
    section = fa.Section.rectangle(0.01, 0.03)
    link = fa.Link("beam", 1.0, fa.Revolute("z"), section, ALUMINIUM, flexible, payload=fa.PointMass(0.3))
    return fa.Robot("beam", links=[link], gravity=(0, -g, 0))
