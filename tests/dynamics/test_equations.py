"""The recursive equations against Lagrange's, closed forms, and their instruction counts."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from benchmarks.robots import planar_chain, sliding_pair, spatial_chain
from tests.dynamics.test_energies import spatial
from tests.helpers import state


def lagrange(system: fa.System, *motion: np.ndarray) -> np.ndarray:
    """d/dt dT/dv - dT/dq + dU/dq + D v by AD of the energies of the whole robot: no link-wise forces, no recursion."""
    e = system.equations
    kinetic, elastic, gravity, drive = e.energies
    momentum = ca.gradient(kinetic, e.v)
    rate = ca.jtimes(momentum, ca.vertcat(e.q, e.v), ca.vertcat(e.v, e.a))
    force = rate - ca.gradient(kinetic, e.q) + ca.gradient(elastic + gravity + drive, e.q) + e.D @ e.v
    return ca.Function("lagrange", [e.q, e.v, e.a, e.p], [force])(*motion, system.numbers).full()[:, 0]


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
def test_inverse_dynamics_is_lagranges(stiffening):
    robot = spatial(stiffening)
    drive = {"stiffness": 300.0, "damping": 0.2, "rotor_inertia": 0.02, "gear_ratio": 3.0}
    robot = robot.with_({"links.b.joint.drive": drive, "links.a.joint.viscous": 0.3, "links.a.material.damping": 1e-3})
    system = fa.System(robot, native=False)
    q, v, a = state(system, 5)
    expected = lagrange(system, q, v, a)
    assert_allclose(system.inverse_dynamics(q, v, a), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def test_two_rigid_links_have_their_textbook_equations():
    m1, m2, l1, l2, g = 2.0, 1.5, 0.8, 0.6, 9.81
    robot = fa.Robot(links=[fa.Link("one", l1, mass=m1), fa.Link("two", l2, mass=m2)], gravity=(0, -g, 0))
    system = fa.System(robot, native=False)
    q, v = np.array([0.7, -1.1]), np.array([1.3, -0.4])
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    coupling = m2 * l2**2 / 3 + m2 * l1 * l2 * c2 / 2
    M = [[m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3 + l1 * l2 * c2), coupling], [coupling, m2 * l2**2 / 3]]
    assert_allclose(system.mass_matrix(q), M, rtol=1e-13)
    h = m2 * l1 * l2 * s2 / 2
    C = [[-h * v[1], -h * (v[0] + v[1])], [h * v[0], 0]]
    assert_allclose(system.coriolis(q, v), C, rtol=1e-13, atol=1e-15)
    outer = m2 * g * l2 / 2 * np.cos(q.sum())
    assert_allclose(system.gravity(q), [(m1 / 2 + m2) * g * l1 * np.cos(q[0]) + outer, outer], rtol=1e-13)


def test_rigid_body_spins_by_eulers_equations():
    """Three revolute joints at one point carry a body: I domega + omega x I omega = 0 without torque."""
    inertia = np.diag([0.3, 0.5, 0.7])
    links = [
        fa.Link("roll", 1e-3, fa.Revolute("x")),
        fa.Link("pitch", 1e-3, fa.Revolute("y"), parent="roll", at=0.0),
        fa.Link("yaw", 1e-3, fa.Revolute("z"), parent="pitch", at=0.0, hub=fa.PointMass(0, inertia=inertia)),
    ]
    system = fa.System(fa.Robot(links=links), native=False)
    q, v = np.array([0.3, 0.4, -0.2]), np.array([1.0, -2.0, 0.5])
    a = system.forward_dynamics(q, v)
    step = 1e-6

    def omega(q, v):
        return system.jacobian("yaw", 0.0, q)[:3] @ v

    rate = (omega(q + step * v, v + step * a) - omega(q - step * v, v - step * a)) / (2 * step)
    expected = -np.linalg.solve(inertia, np.cross(omega(q, v), inertia @ omega(q, v)))
    assert_allclose(rate, expected, atol=1e-8)


def instructions(robot: fa.Robot, function: str = "inverse_dynamics") -> int:
    return int(fa.System(robot, native=False).parametric[function].n_instructions())


def with_model(robot: fa.Robot, stiffening: str) -> fa.Robot:
    return robot.with_({f"links.{link.name}.flexible.stiffening": stiffening for link in robot.links})


def test_inverse_dynamics_takes_few_instructions():
    assert instructions(with_model(planar_chain(2), "shortening")) <= 900
    assert instructions(planar_chain(2)) <= 1_400  # exact
    assert instructions(spatial_chain(5)) <= 19_500  # complete to second order, products of families included


@pytest.mark.parametrize(
    ("stiffening", "function", "most"),
    [
        ("shortening", "inverse_dynamics", 550),
        ("shortening", "forward_dynamics", 950),
        ("exact", "inverse_dynamics", 750),
        ("exact", "forward_dynamics", 2_000),
    ],
)
def test_cost_grows_in_proportion_to_the_links(stiffening, function, most):
    """The first two links are cheaper; each of the others costs what the third does."""
    two, three, forty = (instructions(with_model(planar_chain(count), stiffening), function) for count in (2, 3, 40))
    assert three - two <= most
    assert forty - two <= 1.02 * 38 * (three - two)


@pytest.mark.parametrize(("kind", "modes"), [("Pa", 3), ("Pb", 6)])
def test_prismatic_joints_cost_little_more_than_hinges(kind, modes):
    """Against an arm of hinges with as many coordinates: measured 2.0 (Pa) and 1.3 (Pb)."""
    assert fa.System(sliding_pair(kind)).nq == fa.System(sliding_pair("R", modes)).nq
    assert instructions(sliding_pair(kind)) <= 3 * instructions(sliding_pair("R", modes))


def test_what_cannot_move_costs_nothing():
    """Spatial formulas on a planar arm: out-of-plane mounts of the ground, or a hub at a root, add next to nothing."""
    arm = fa.library.two_link_arm()
    assert instructions(arm.with_({"links.fore.hub.mass": 0.1})) <= instructions(arm) + 60
    tilted = arm.with_({"base.rotation": (0.3, -0.4, 0.5)})
    assert instructions(tilted) == instructions(arm)  # without gravity the ground's attitude is immaterial
