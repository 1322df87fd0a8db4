"""Forces of a motion of straight links against inverse dynamics."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.accuracy.shape_truncation import refined
from flexarm.dynamics.accuracy.straight_links import straight_robot
from flexarm.dynamics.accuracy.straight_motion import motion_forces
from flexarm.dynamics.model import Chain
from tests.dynamics.accuracy.test_straight_links import ROBOTS


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name or "tree")
def test_forces_are_those_of_inverse_dynamics_without_accelerations(robot):
    rng, count = np.random.default_rng(0), 4
    system = fa.System(refined(robot.resolved(), {}), native=False)  # the same shapes, without stiffening
    straight = straight_robot([Chain(robot.resolved())], {})
    positions, rates = ({link: rng.uniform(0.1, 0.35, count) for link in straight.rigid} for _ in range(2))
    q, v = np.zeros((2, count, system.nq))
    for k, each in enumerate(system.coordinates):
        if each.kind != "elastic":  # motors turn with their joints
            q[:, k], v[:, k] = positions[each.link], rates[each.link]
    expected = -system.inverse_dynamics(q, v, np.zeros_like(q)) + v @ system.damping
    rigid = [k for k, each in enumerate(system.coordinates) if each.kind != "elastic"]
    order = [*rigid, *np.flatnonzero(system.elastic).tolist()]
    found = motion_forces(straight, positions, rates)
    np.testing.assert_allclose(found.T, expected[:, order], rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_robot_at_rest_feels_its_weight():
    robot = ROBOTS[1].resolved()
    posture = {"upper": 0.4, "fore": -0.2}
    straight = straight_robot([Chain(robot)], {link: posture.get(link, 0.0) for link in straight_names(robot)})
    positions = {link: np.full(2, posture.get(link, 0.0)) for link in straight.rigid}
    found = motion_forces(straight, positions, {link: np.zeros(2) for link in straight.rigid})
    np.testing.assert_allclose(found, np.repeat(straight.weight[:, None], 2, axis=1), atol=1e-12)


def straight_names(robot):
    return [link.name for link in robot.links]
