"""flexarm beside the absolute coordinates of Moolam, Braghin and Vicentini."""

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from tests.helpers import state
from tests.oracles.absolute_coordinates import FAMILIES, Arm, Link

LINKS = ("column", "upper", "fore")
TABLE = {"column": (1.0, 0.028, 8.33e-7, 1.66e-6), "upper": (4.0, 0.0020, 6.24e-7, 1.24e-6)}
TABLE["fore"] = (3.5, 0.0008, 5.37e-7, 1.07e-6)


def papers_arm(elastic_joints: bool = True, printed: bool = False) -> tuple[fa.Robot, Arm]:
    """The spatial arm of the paper's section 4 in both."""
    robot = fa.library.rrr_arm(elastic_joints).with_({f"links.{name}.flexible.stiffening": "none" for name in LINKS})
    up = Rotation.from_euler("y", -pi / 2).as_matrix()
    placed = {"column": ((1, 0, 0), up), "upper": ((0, 1, 0), up.T), "fore": ((0, 1, 0), np.eye(3))}
    spring, rotor = (5000.0, 5.0) if elastic_joints else (None, 0.0)
    links = []
    for name, (length, A, I, polar) in TABLE.items():  # noqa: E741
        stiffness = {"bend_y": 206e9 * I, "bend_z": 206e9 * I, "twist": 79.3e9 * polar}
        links.append(Link(length, 8253 * A, stiffness, 2, (8253 * polar, 0, 0), *placed[name], spring, rotor))
    return robot, Arm(tuple(links), printed=printed)


def random_arm(
    seed: int,
    planar: bool = False,
    E: float = 7e10,
    families: tuple[str, ...] = FAMILIES,
    most: int = 4,
    printed: bool = False,
) -> tuple[fa.Robot, Arm]:
    """Two to four links on hinges, elastic and rigid links and joints mixed, in the field of gravity."""
    draw = np.random.default_rng(seed)
    material = fa.Material(E=E, rho=2700, G=0.4 * E)
    allowed = [name for name in families if not planar or name in ("bend_y", "stretch")]
    links, mine = [], []
    for k in range(draw.integers(2, most + 1)):
        length, elements = draw.uniform(0.4, 1.5), int(draw.integers(1, most))
        A, I_y, I_z, J, polar = draw.uniform(1, 3, 5) * [1e-4, 1e-9, 1e-9, 2e-9, 2e-9]
        resists = {"bend_y": E * I_z, "bend_z": E * I_y, "twist": 0.4 * E * J, "stretch": E * A}
        chosen = [name for name in allowed if draw.random() < 0.7]
        angles = (0, 0, draw.uniform(-2, 2)) if planar else tuple(draw.uniform(-2, 2, 3))
        axis = np.array([0, 0, 1.0]) if planar else draw.normal(size=3)
        axis /= np.linalg.norm(axis)
        spring, rotor = (draw.uniform(50, 500), draw.uniform(0.1, 1)) if draw.random() < 0.5 else (None, 0.2)
        rotary = bool(draw.random() < 0.3) or not chosen
        flexible = fa.Flexible(**dict.fromkeys(chosen, elements), basis="elements", stiffening="none")
        drive = fa.Drive(spring, rotor_inertia=rotor) if spring else fa.Drive(rotor_inertia=rotor)
        links.append(
            fa.Link(
                f"link{k}",
                length=length,
                section=fa.Section.properties(A, I_y, I_z, J=J, I_p=polar),
                material=material,
                joint=fa.Revolute(tuple(axis), mount=angles, drive=drive),
                flexible=flexible if chosen else None,
                rotary_inertia=rotary,
            )
        )
        spin = 2700 * np.array([polar, I_y * rotary, I_z * rotary])
        mount = Rotation.from_euler("xyz", angles).as_matrix()
        stiffness = {name: resists[name] for name in chosen}
        mine.append(Link(length, 2700 * A, stiffness, elements, tuple(spin), tuple(axis), mount, spring, rotor))
    gravity = (1.0, -9.0, 0.0) if planar else (1.0, 2.0, -9.0)
    return fa.Robot(links=links, gravity=gravity), Arm(tuple(mine), gravity, printed=printed)


def assert_same(robot: fa.Robot, arm: Arm, seed: int = 0) -> None:
    """Mass matrix, forces without those of springs, which are large and would hide the others, and accelerations."""
    system = fa.System(robot, native=False)
    q, v, tau = state(system, seed)
    M, h = arm.equations(q, v)
    assert_allclose(M, system.mass_matrix(q), rtol=0, atol=1e-12 * np.abs(M).max())
    springs = system.stiffness @ q
    assert_allclose(arm.equations(q, 0 * v)[1] - system.gravity(q), springs, rtol=0, atol=1e-12 * np.abs(springs).max())
    turning = h - arm.equations(q, 0 * v)[1]
    expected = system.coriolis(q, v) @ v
    assert_allclose(turning, expected, rtol=0, atol=1e-11 * np.abs(expected).max() + 1e-13 * np.abs(springs).max())
    found, same = arm.accelerations(q, v, tau), system.forward_dynamics(q, v, tau)
    assert_allclose(found, same, rtol=0, atol=1e-9 * np.abs(same).max())


@pytest.mark.parametrize("elastic_joints", [True, False])
def test_the_papers_arm(elastic_joints):
    assert_same(*papers_arm(elastic_joints))


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_random_arms(seed, planar):
    assert_same(*random_arm(seed, planar), seed)


@pytest.mark.parametrize("planar", [True, False])
def test_soft_arms_move_alike(planar):
    """Thrown with joint rates of some 2 rad/s, in the field of gravity: the whole state over time."""
    robot, arm = random_arm(8, planar, E=1e10, families=("bend_y", "bend_z"), most=2)
    system = fa.System(robot, native=False)
    thrown = np.where([each.kind != "elastic" for each in system.coordinates], 2.0, 0.0)
    times = np.linspace(0, 0.1, 5)
    run = fa.simulate(robot, 0.1, v0=thrown, method="dop853", rtol=1e-9, sample=0.025, progress=False, native=False)
    expected = run.data["q"].values
    found = arm.motion(0 * thrown, thrown, 0 * thrown, times)
    assert np.abs(expected[:, system.elastic]).max() > 0.01
    assert_allclose(found, expected, rtol=0, atol=1e-7)


def test_hinges_as_printed_are_those_of_a_plane():
    robot, arm = random_arm(3, planar=True, printed=True)
    assert_same(robot, arm)


def test_in_space_hinges_as_printed_are_off_at_first_order_of_the_deflection():
    robot, arm = papers_arm(printed=True)
    system = fa.System(robot, native=False)
    q = state(system, 0)[0]
    off = []
    for share in (1.0, 0.5, 0.25):
        bent = np.where(system.elastic, share, 1.0) * q
        off.append(np.abs(arm.equations(bent, 0 * q)[0] - system.mass_matrix(bent)).max())
    assert_allclose(np.log2(np.array(off[:-1]) / off[1:]), 1.0, atol=0.1)
    assert off[0] > 1e-3 * np.abs(system.mass_matrix(q)).max()
