"""flexarm beside the transformation matrices and recursive coefficients of Book and of those who followed him."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm_papers.spatial import canadarm
from tests.helpers import state
from tests.oracles.transformation_matrices import FAMILIES, Arm, Link


def canadarm2() -> tuple[fa.Robot, Arm]:
    """The five links of the paper's section 4.2 in both: two booms with three modes of each family, a rigid wrist."""
    robot = canadarm.canadarm2().with_({f"links.{name}.flexible.stiffening": "none" for name in ("upper", "lower")})
    driven = {"spring": 2.66e6, "rotor": 10.0}
    EI, EA, GJ, length = 3.8e6, 2.84e7, 2.7e10 * 2 * 3.8e6 / 7e10, 7.11
    stiffness = {"bend_y": EI, "bend_z": EI, "twist": GJ, "stretch": EA}

    def boom(mass: float, offset: tuple[float, float, float]) -> Link:
        return Link(length, mass / length, stiffness, 3, 15.41 / length, offset=offset, **driven)

    def wrist(axis: tuple[float, float, float], long: float, mass: float, wide: float = 0.35) -> Link:
        across = mass * (wide**2 / 16 + long**2 / 3)
        inertia = np.diag([mass * wide**2 / 8, across, across])
        return Link(long, 0.0, axis=axis, inertia=(mass, np.array([long / 2, 0, 0]), inertia), **driven)

    links = (
        boom(314.88, (0, 0, 0)),
        boom(279.2, (0, 0, 0.475)),
        wrist((0, 0, 1), 0.5692, 105.98),
        wrist((0, 1, 0), 0.7026, 105.98),
        wrist((1, 0, 0), 1.3589, 243.66),
    )
    return robot, Arm(links, (0, 0, -9.81), Rotation.from_euler("x", pi / 2).as_matrix())


def random_arm(seed: int, E: float = 7e10, families: tuple[str, ...] = FAMILIES, most: int = 4) -> tuple[fa.Robot, Arm]:
    """Two to four links on hinges, elastic and rigid links and joints mixed, with masses at the tips."""
    draw = np.random.default_rng(seed)
    material = fa.Material(E=E, rho=2700, G=0.4 * E)
    links, mine = [], []
    for k in range(draw.integers(2, most + 1)):
        length, modes, payload = draw.uniform(0.4, 1.5), int(draw.integers(1, most)), draw.uniform(0, 0.3)
        A, I_y, I_z, J, polar = draw.uniform(1, 3, 5) * [1e-4, 1e-9, 1e-9, 2e-9, 2e-9]
        resists = {"bend_y": E * I_z, "bend_z": E * I_y, "twist": 0.4 * E * J, "stretch": E * A}
        chosen = [name for name in families if draw.random() < 0.7]
        angles, offset, axis = (
            tuple(draw.uniform(-2, 2, 3)),
            tuple(draw.uniform(-0.1, 0.1, 3) * (k > 0)),
            draw.normal(size=3),
        )
        axis /= np.linalg.norm(axis)
        spring, rotor = (draw.uniform(50, 500), draw.uniform(0.1, 1)) if draw.random() < 0.5 else (None, 0.2)
        shapes = fa.Flexible(**dict.fromkeys(chosen, modes), basis=fa.Modes(tip_mass=0), stiffening="none")
        drive = fa.Drive(spring, rotor_inertia=rotor) if spring else fa.Drive(rotor_inertia=rotor)
        links.append(
            fa.Link(
                f"link{k}",
                length=length,
                section=fa.Section.properties(A, I_y, I_z, J=J, I_p=polar),
                material=material,
                joint=fa.Revolute(tuple(axis), mount=angles, drive=drive),
                flexible=shapes if chosen else None,
                payload=fa.PointMass(payload),
                offset=offset,
            )
        )
        mount = Rotation.from_euler("xyz", angles).as_matrix()
        stiffness = {name: resists[name] for name in chosen}
        beam = Link(length, 2700 * A, stiffness, modes, 2700 * polar, tuple(axis), mount, offset)
        mine.append(replace(beam, tip_mass=payload, spring=spring, rotor=rotor))
    gravity = (1.0, 2.0, -9.0)
    return fa.Robot(links=links, gravity=gravity), Arm(tuple(mine), gravity)


def assert_same(robot: fa.Robot, arm: Arm, seed: int = 0) -> None:
    """Mass matrix, weight, forces of velocity and accelerations; modes of both are known to ten digits."""
    system = fa.System(robot, native=False)
    q, v, tau = state(system, seed)
    M, h = arm.equations(q, v)
    still = arm.equations(q, 0 * v)[1]
    springs, turning = system.stiffness @ q, system.coriolis(q, v) @ v
    rounding = 1e-13 * np.abs(springs).max()
    assert_allclose(M, system.mass_matrix(q), rtol=0, atol=1e-11 * np.abs(M).max())
    assert_allclose(still - system.gravity(q), springs, rtol=0, atol=1e-10 * np.abs(springs).max())
    assert_allclose(h - still, turning, rtol=0, atol=1e-10 * np.abs(turning).max() + rounding)
    found, same = arm.accelerations(q, v, tau), system.forward_dynamics(q, v, tau)
    assert_allclose(found, same, rtol=0, atol=1e-8 * np.abs(same).max())


def test_the_canadarm2_of_the_paper():
    assert_same(*canadarm2())


@pytest.mark.parametrize("seed", range(8))
def test_random_arms(seed):
    assert_same(*random_arm(seed), seed)


def test_the_rotating_beam_of_the_paper():
    """Section 4.1, zero-order: the beam's deflection under prescribed acceleration and speed of its hinge."""
    robot = fa.library.rotating_beam(3, "none")
    A, I, rho, E = 7.2968e-5, 8.2189e-9, 2.7667e3, 6.8952e10  # noqa: E741
    arm = Arm((Link(8.0, rho * A, {"bend_y": E * I}, 3),))
    system = fa.System(robot, native=False)
    q, v, a = state(system, 1)
    M, h = arm.equations(q, 3 * v)
    expected = system.inverse_dynamics(q, 3 * v, a)[1:]
    assert_allclose((M @ a + h)[1:], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    softer = 3.0**2 * M[1:, 1:]  # by turning at 3 rad/s, which leaves nothing of the first mode's stiffness
    assert np.linalg.eigvalsh(system.stiffness[1:, 1:] - softer)[0] < 0


def test_the_canadarm2_falls_alike():
    """Let go in the paper's posture, for a tenth of a second."""
    robot, arm = canadarm2()
    robot = robot.with_({f"links.{name}.flexible": None for name in ("lower",)})
    arm = replace(arm, links=(arm.links[0], replace(arm.links[1], stiffness={}, modes=0), *arm.links[2:]))
    system = fa.System(robot, native=False)
    q0 = system.vector(canadarm.start(robot))
    times = np.linspace(0, 0.1, 3)
    found = arm.motion(q0, 0 * q0, 0 * q0, times)
    run = fa.simulate(robot, 0.1, q0=q0, method="dop853", rtol=1e-10, sample=0.05, progress=False, native=False)
    assert_allclose(found, run.data["q"].values, rtol=0, atol=1e-8)
    assert np.abs(found[-1] - q0)[~system.elastic].max() > 0.01


def test_soft_arms_move_alike():
    robot, arm = random_arm(8, E=1e10, families=("bend_y", "bend_z"), most=2)
    system = fa.System(robot, native=False)
    thrown = np.where(system.elastic, 0.0, 2.0)
    run = fa.simulate(robot, 0.1, v0=thrown, method="dop853", rtol=1e-9, sample=0.025, progress=False, native=False)
    found = arm.motion(0 * thrown, thrown, 0 * thrown, np.linspace(0, 0.1, 5))
    assert_allclose(found, run.data["q"].values, rtol=0, atol=1e-7)


# --- what the paper's own forms leave out ---


def off(arm: Arm, system: fa.System, q: np.ndarray) -> list[float]:
    """By how much the mass matrix differs at the deflections of q, at half and at a quarter of them."""
    out = []
    for share in (1.0, 0.5, 0.25):
        bent = np.where(system.elastic, share, 1.0) * q
        out.append(np.abs(arm.equations(bent, 0 * q)[0] - system.mass_matrix(bent)).max())
    return out


def test_axes_that_are_linear_in_the_deflection_lack_terms_of_first_order():
    robot, arm = canadarm2()
    system = fa.System(robot, native=False)
    q = state(system, 0)[0]
    found = off(replace(arm, linear=True), system, q)
    assert found[0] > 5e-5 * np.abs(system.mass_matrix(q)).max()
    assert_allclose(np.log2(np.array(found[:-1]) / found[1:]), 1.0, atol=0.1)
    straight = np.where(system.elastic, 0.0, q)
    M = replace(arm, linear=True).equations(straight, 0 * q)[0]
    assert_allclose(M, system.mass_matrix(straight), rtol=0, atol=1e-10 * np.abs(M).max())


def test_the_last_link_may_bend_linearly():
    robot, arm = canadarm2()
    robot = robot.with_({"links.upper.flexible": None})
    first = replace(arm.links[0], stiffness={}, modes=0)
    both = fa.Robot(links=robot.links[:2], gravity=robot.gravity, base=robot.base)
    assert_same(both, replace(arm, links=(first, arm.links[1]), linear=True))


def test_twist_that_does_not_see_the_links_spin_lacks_the_sections_inertia():
    """Where the upper boom's twist turns the lower one about its axis, the lower one's sections do not take part."""
    robot, arm = canadarm2()
    system = fa.System(robot, native=False)
    q = system.vector(None)
    missing = system.mass_matrix(q) - replace(arm, spin=False).equations(q, q)[0]
    upper, lower = ([system.index(f"{name}.twist[{k}]") for k in (1, 2, 3)] for name in ("upper", "lower"))
    tip = np.full(3, np.sqrt(2 / 15.41))  # of twist modes of unit mass, all to the same side
    momentum = np.sqrt(2 * 15.41) * np.array([1, -1 / 3, 1 / 5]) * 2 / pi
    assert_allclose(missing[np.ix_(upper, lower)], np.outer(tip, momentum), rtol=1e-9)
