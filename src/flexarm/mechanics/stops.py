"""Elastic stops at the ends of a joint's travel."""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexarm.mechanics.bodies import SymbolicBody
from flexarm.robot import MovingJoint

FADE = 1e-3  # of the travel: over this depth the damping sets in, so that the force does not jump at the touch


def potential(body: SymbolicBody, x: Any) -> Any:
    """Energy of a body's stops, from its own coordinates."""
    energy = ca.SX(0)
    for depth in _depths(body, x):
        energy += body.numbers["joint.stop.stiffness"] / 2 * ca.fmax(0, depth) ** 2
    return energy


def dissipation(body: SymbolicBody, x: Any, dx: Any) -> Any:
    """Half the power that they take."""
    half = ca.SX(0)
    for depth in _depths(body, x):
        damping = body.numbers["joint.stop.damping"]
        if damping.nnz():
            lower, upper = ca.vertsplit(body.numbers["joint.limits"])
            touch = ca.fmin(1, ca.fmax(0, depth) / (FADE * (upper - lower)))
            half += damping / 2 * touch * dx[body.local.joint] ** 2
    return half


def _depths(body: SymbolicBody, x: Any) -> list[Any]:
    """How deep the joint is in each of its stops; negative outside."""
    joint = body.link.joint
    if not isinstance(joint, MovingJoint) or joint.stop is None:
        return []
    lower, upper = ca.vertsplit(body.numbers["joint.limits"])
    at = x[body.local.joint]
    return [lower - at, at - upper]
