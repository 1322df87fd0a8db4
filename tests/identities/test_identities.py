"""What must hold for every robot (theory section 7), over random robots: planar and spatial trees of rigid and
flexible links, drives, payloads, any basis and any stiffening."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import robots, sizes, state

seeds = st.integers(0, 1000)
few = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


def scaled(values: np.ndarray, expected: np.ndarray, tolerance: float, scale: np.ndarray) -> None:
    """Equal to `tolerance` of each entry's own scale: of what was added up to make it."""
    assert (np.abs(values - expected) <= tolerance * scale + 1e-12).all()


@few
@given(robots(), seeds)
def test_forward_dynamics_inverts_inverse_dynamics(robot, seed):
    system = fa.System(robot, native=False)
    q, v, a = state(system, seed)
    tau = system.inverse_dynamics(q, v, a)
    # rounding of tau (stiff links: K q) is amplified by M^-1 and no more
    M = system.mass_matrix(q)
    allowed = 1e-13 * np.abs(np.linalg.inv(M)) @ (np.abs(tau) + np.abs(system.stiffness) @ np.abs(q)) + 1e-9
    assert (np.abs(system.forward_dynamics(q, v, tau) - a) <= 10 * allowed).all()


@few
@given(robots(), seeds)
def test_mass_matrix_is_symmetric_positive_definite(robot, seed):
    """At deflections for which "shortening" is meant: far beyond, its mass matrix may lose definiteness."""
    system = fa.System(robot, native=False)
    q, v, _ = state(system, seed, 0.15)
    M = system.mass_matrix(q)
    assert_allclose(M, M.T, rtol=1e-12, atol=1e-12 * np.abs(M).max(initial=1.0))
    scale = 1 / np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(M * np.outer(scale, scale)).min(initial=1.0) > 0
    assert system.energy(q, v).kinetic == pytest.approx(v @ M @ v / 2, rel=1e-10)


@few
@given(robots(most=3), seeds)
def test_mass_rate_minus_twice_coriolis_is_skew(robot, seed):
    system = fa.System(robot, native=False)
    q, v, _ = state(system, seed)
    step = 1e-4
    rate = (
        8 * (system.mass_matrix(q + step * v) - system.mass_matrix(q - step * v))
        - (system.mass_matrix(q + 2 * step * v) - system.mass_matrix(q - 2 * step * v))
    ) / (12 * step)
    C = system.coriolis(q, v)
    skew = rate - 2 * C
    scale = np.sqrt(np.outer(np.diag(system.mass_matrix(q)), np.diag(system.mass_matrix(q))))  # of entries of M
    scaled(skew, -skew.T, 1e-7, scale + np.abs(C) + np.abs(C.T))


@few
@given(robots(most=4), seeds)
def test_bias_is_the_sum_of_its_parts(robot, seed):
    system = fa.System(robot, native=False)
    q, v, _ = state(system, seed)
    friction = np.zeros(system.nq)
    for link in robot.links:
        if isinstance(link.joint, fa.Revolute):
            place = system.index(f"{link.name}.q")
            friction[place] = link.joint.coulomb * np.tanh(v[place] / link.joint.coulomb_speed)
    springs, dampers, weight = system.stiffness @ q, system.damping @ v, system.gravity(q)
    quick = system.coriolis(q, v) @ v
    # springs may be a million times the rest: without them every part shows
    others = system.bias(q, v) - system.bias(q, np.zeros_like(v))
    scaled(
        others, quick + dampers + friction, 1e-9, np.abs(quick) + np.abs(dampers) + 3e-6 * np.abs(springs)
    )  # 3e-15: they cancel
    still = np.abs(springs) + np.abs(weight)
    scaled(system.bias(q, np.zeros_like(v)), springs + weight, 1e-11, still)


@few
@given(robots(most=4), seeds)
def test_gravity_is_the_gradient_of_its_energy(robot, seed):
    system = fa.System(robot, native=False)
    q, _, _ = state(system, seed)
    step = 1e-4 * sizes(system)
    ends = [system.energy(q + sign * np.diag(step)).gravity for sign in (1, -1)]
    unit = sizes(system)
    assert_allclose(system.gravity(q) * unit, (ends[0] - ends[1]) / (2 * step) * unit, rtol=1e-6, atol=1e-7)


@few
@given(robots(most=4), seeds)
def test_power_of_all_forces_is_the_rate_of_energy(robot, seed):
    """d(T + U)/dt = v . (tau - D v - friction): along any motion, so the equations conserve energy."""
    system = fa.System(robot, native=False)
    q, v, a = state(system, seed)
    step = 1e-5
    ahead, behind = (system.energy(q + s * v + s**2 / 2 * a, v + s * a).total for s in (step, -step))
    q_rest = system.bias(q, v) - system.bias(q, np.zeros_like(v)) - system.coriolis(q, v) @ v  # D v + friction
    power = v @ (system.inverse_dynamics(q, v, a) - q_rest)
    assert (ahead - behind) / (2 * step) == pytest.approx(power, rel=1e-5, abs=1e-6 * (1 + abs(ahead)))


@few
@given(robots(most=4), seeds, st.floats(0, 1))
def test_jacobians_are_derivatives_of_poses(robot, seed, where):
    system = fa.System(robot, native=False)
    q, _, _ = state(system, seed)
    link = robot.links[-1]
    x = where * link.length
    step = 1e-5 * sizes(system)
    ahead, behind = (system.frame(link.name, x, q + s * np.diag(step)) for s in (1, -1))
    rate = (ahead - behind) / (2 * step[:, None, None])
    R = system.frame(link.name, x, q)[:3, :3]
    spin = R.T @ rate[:, :3, :3]
    expected = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0], *(rate[:, :3, 3] @ R).T])
    unit = sizes(system)
    assert_allclose(system.jacobian(link.name, x, q) * unit, expected * unit, atol=1e-9)
    world = system.jacobian(link.name, x, q, axes="world")
    assert_allclose(world[3:] * unit, rate[:, :3, 3].T * unit, atol=1e-9)


@few
@given(robots(most=4), seeds, st.tuples(*[st.floats(-3, 3)] * 3))
def test_turning_the_base_and_gravity_together_changes_nothing(robot, seed, turn):
    R = np.array(fa.Pose(rotation=turn).matrix)
    base = fa.Pose(R @ robot.base.position, R @ np.array(robot.base.matrix))
    turned = fa.Robot(links=robot.links, gravity=R @ robot.gravity, base=base)
    first, second = fa.System(robot, native=False), fa.System(turned, native=False)
    q, v, a = state(first, seed)
    expected = first.inverse_dynamics(q, v, a)
    scaled(
        second.inverse_dynamics(q, v, a), expected, 1e-11, np.abs(first.stiffness) @ np.abs(q) + np.abs(expected) + 1
    )
    assert_allclose(second.tip(q), R @ first.tip(q), atol=1e-12)


@few
@given(robots(most=3, planar=True), seeds)
def test_a_planar_robot_is_a_spatial_one_that_stays_in_its_plane(robot, seed):
    """With out-of-plane families added: they feel no force and change nothing. Exact links have one more node in space
    than in the plane, which shows as far as few nodes are exact (1e-3 of M at a tenth of the length,
    tests/dynamics/links/test_exact.py)."""
    exact = any(link.stiffening == "exact" for link in robot.links)
    grown = []
    for link in robot.links:
        if link.flexible is not None:
            counts = {"bend_z": 2, "twist": 2}
            link = link.model_copy(update={"flexible": link.flexible.model_copy(update=counts)})
        grown.append(link)
    flat = fa.System(robot, native=False)
    spatial = fa.System(fa.Robot(links=grown, gravity=robot.gravity, base=robot.base), native=False)
    q, v, a = state(flat, seed)
    where = [spatial.index(name) for name in flat.names]
    Q, V, A = np.zeros((3, spatial.nq))
    Q[where], V[where], A[where] = q, v, a
    forces, expected = spatial.inverse_dynamics(Q, V, A), flat.inverse_dynamics(q, v, a)
    scaled(forces[where], expected, 1e-3 if exact else 1e-10, np.abs(flat.stiffness) @ np.abs(q) + np.abs(expected) + 1)
    others = np.delete(forces, where)
    assert_allclose(others, 0, atol=1e-10 * np.abs(expected).max(initial=1.0))


@few
@given(robots(most=3), seeds)
def test_undeformed_robot_is_its_rigid_twin(robot, seed):
    """eta = 0 and wind-up = 0: poses, and joint rows of the mass matrix, are the rigid robot's."""
    flexible, rigid = fa.System(robot, native=False), fa.System(robot.rigid(), native=False)
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-2, 2, rigid.nq)
    motion = np.zeros((flexible.nq, rigid.nq))  # joint motions with the motors turning along
    for column, name in enumerate(rigid.names):
        motion[flexible.index(name), column] = 1
        motor = name.replace(".q", ".motor")
        if motor in flexible.names:
            motion[flexible.index(motor), column] = 1
    q = motion @ angles
    assert_allclose(flexible.tip(q), rigid.tip(angles), atol=1e-12)
    found, expected = motion.T @ flexible.mass_matrix(q) @ motion, rigid.mass_matrix(angles)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max(initial=1.0))


@few
@given(robots(most=4), seeds)
def test_batches_are_loops(robot, seed):
    system = fa.System(robot, native=False)
    batch = [np.array(part).reshape(2, 3, -1) for part in zip(*(state(system, seed + k) for k in range(6)))]
    q, v, a = batch
    tau = system.inverse_dynamics(q, v, a)
    M = system.mass_matrix(q)
    assert tau.shape == (2, 3, system.nq)
    assert M.shape == (2, 3, system.nq, system.nq)
    for i in range(2):
        for j in range(3):
            assert_allclose(tau[i, j], system.inverse_dynamics(q[i, j], v[i, j], a[i, j]), rtol=1e-14)
            assert_allclose(M[i, j], system.mass_matrix(q[i, j]), rtol=1e-14)
