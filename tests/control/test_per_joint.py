"""Suggested gains: poles of the loops that they close."""

import numpy as np
import pytest
from scipy.linalg import null_space

import flexarm as fa
from flexarm.control.per_joint import DAMPING_RATIO, usual_gains
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.system import System


def poles(M, K, D):
    n = len(M)
    top, low = np.hstack([np.zeros((n, n)), np.eye(n)]), -np.linalg.solve(M, np.hstack([K, D]))
    return np.linalg.eigvals(np.vstack([top, low]))


def slowest(found):
    """Frequency (Hz) and damping ratio of the slowest pair."""
    pole = min(found[found.imag > 0], key=abs)
    return abs(pole) / (2 * np.pi), -pole.real / abs(pole)


def test_a_rigid_joint_has_the_given_bandwidth_and_damping():
    system = System(fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)]), native=False)
    gains = usual_gains(system, {}, 2.5)
    found = poles(system.mass_matrix(), [[gains.kp["rod"]]], [[gains.kd["rod"]]])
    assert slowest(found) == pytest.approx((2.5, DAMPING_RATIO), rel=1e-3)


@pytest.mark.parametrize("robot", [fa.library.two_link_arm(), fa.library.tokhi_azad_arm()], ids=lambda each: each.name)
def test_links_that_bend_leave_some_of_it(robot):
    system = System(robot, native=False)
    gains = usual_gains(system, {})
    K, D = system.stiffness_matrix(), system.damping_matrix()
    for link in gains.kp:
        place = system.joint(link).index
        K[place, place] += gains.kp[link]
        D[place, place] += gains.kd[link]
    hertz, ratio = slowest(poles(system.mass_matrix(), K, D))
    assert 0.6 * gains.bandwidth < hertz < 1.2 * gains.bandwidth
    assert 0.4 < ratio < DAMPING_RATIO


def four_bar():
    links = [
        fa.Link("crank", 0.2, mass=0.3),
        fa.Link("coupler", 0.5, mass=0.4),
        fa.Link("rocker", 0.4, mass=0.5, parent="ground", offset=(0.45, 0, 0)),
    ]
    return fa.Robot("four-bar", links=links, constraints=[fa.Loop("coupler", "rocker")])


@pytest.mark.parametrize("crank", [0.6, 1.2])
def test_joints_of_a_loop_hold_what_they_move_together(crank):
    """One degree of freedom: all three controllers together have the bandwidth, and the damping ratio, of one."""
    system = System(four_bar(), native=False)
    gains = usual_gains(system, {"crank.q": crank}, 2.0)
    q = Assembly(system, ()).posture(system.posture({"crank.q": crank}))
    free = null_space(system.constraint_jacobian(q))
    K, D = (np.diag([each[link.name] for link in system.robot.links]) for each in (gains.kp, gains.kd))
    found = poles(*(free.T @ each @ free for each in (system.mass_matrix(q), K, D)))
    assert slowest(found) == pytest.approx((2.0, DAMPING_RATIO), rel=2e-3)


def test_a_joint_that_hardly_moves_is_not_given_any_gain():
    """Crank and coupler in line: the rocker stands still there, and what it would hold has no bounds."""
    away = np.arccos((0.7**2 + 0.45**2 - 0.4**2) / (2 * 0.7 * 0.45))
    gains = usual_gains(System(four_bar(), native=False), {"crank.q": away, "coupler.q": 0.0}, 2.0)
    assert 0 < gains.kp["rocker"] <= 1.01e4 * min(gains.kp.values())


def test_loops_that_cannot_move_are_refused():
    links = [fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)]
    truss = fa.Robot(links=links, constraints=[fa.Loop("b", "ground", position=(1.2, 0.0, 0.0))])
    with pytest.raises(ValueError, match="no joint to move"):
        usual_gains(System(truss, native=False), {"a.q": 0.9, "b.q": -1.8}, 2.0)


def test_what_falls_over_has_no_frequency_to_be_slower_than():
    drive = fa.Drive(stiffness=1.0, rotor_inertia=0.01)
    rod = fa.Link("rod", 1.0, fa.Revolute("y", drive=drive), mass=3.0)
    system = System(fa.Robot("rod", links=[rod], gravity=(-9.81, 0.0, 0.0)), native=False)
    assert usual_gains(system, {}).bandwidth == 1.0
