"""Elastic stops at the ends of a joint's travel."""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexarm.mechanics.bodies import Body
from flexarm.mechanics.kinematics import Chain
from flexarm.robot import MovingJoint

FADE = 1e-3  # of the travel: over this depth the damping sets in, so that the force does not jump at the touch


def potential(chain: Chain, body: Body, x: Any) -> Any:
    """Energy of a body's stops, from its own coordinates."""
    energy = ca.SX(0)
    for depth, joint in _depths(chain, body, x):
        assert joint.stop is not None
        energy += joint.stop.stiffness / 2 * ca.fmax(0, depth) ** 2
    return energy


def dissipation(chain: Chain, body: Body, x: Any, dx: Any) -> Any:
    """Half the power that they take."""
    half = ca.SX(0)
    for depth, joint in _depths(chain, body, x):
        assert joint.stop is not None
        if joint.stop.damping:
            lower, upper = _travel(chain, body)
            touch = ca.fmin(1, ca.fmax(0, depth) / (FADE * (upper - lower)))
            half += joint.stop.damping / 2 * touch * dx[body.local.joint] ** 2
    return half


def _depths(chain: Chain, body: Body, x: Any) -> list[tuple[Any, MovingJoint]]:
    """How deep the joint is in each of its stops; negative outside."""
    joint = body.link.joint
    if not isinstance(joint, MovingJoint) or joint.stop is None:
        return []
    lower, upper = _travel(chain, body)
    at = x[body.local.joint]
    return [(lower - at, joint), (at - upper, joint)]


def _travel(chain: Chain, body: Body) -> tuple[float, float]:
    travel = chain.robot.travel(body.link)
    assert travel is not None
    return travel
