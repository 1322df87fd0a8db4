"""Poles of a robot under a compiled law, from the law's own derivatives."""

import casadi as ca
import numpy as np

import flexarm as fa
from flexarm.motion.traced_law import TracedLaw


def closed_loop_poles(system, feedback, lin, q, t=100.0):
    """Of small motions about the posture of a linear model (all actuators its inputs), states of the law included."""
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


def same_poles(found, wanted, rtol=1e-6):
    """Whether two sets of poles are the same, each within a part of its size."""
    left = list(wanted)
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
