"""flexarm's stiffening "shortening" in space beside the high-order model of Advances in Mechanical Engineering 2013,
216014, written with NumPy; what that model and flexarm's have in common, and what they do not."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from tests.oracles.shortened_links import Arm
from tests.oracles.transformation_matrices import FAMILIES, Link
from tests.symbolic.cases import state

BENDING = ("bend_y", "bend_z")
ARMS = {
    "bending in a plane of each link": (("bend_y",), ("bend_z",)),
    "bending in two planes": (BENDING, BENDING),
    "stretch": (("bend_y", "stretch"), ("bend_z", "stretch")),
    "twist": (("bend_y", "twist"), ("bend_z", "twist")),
    "all": (FAMILIES, FAMILIES),
    "three links": (("bend_z",), (), BENDING),
}
GRAVITY = (1.0, 2.0, -9.0)


def arms(*families: tuple[str, ...], modes: int = 1, seed: int = 0, **options) -> tuple[fa.Robot, Arm]:
    """Return a robot of uniform links on hinges about any axes, the second of them elastic, and its oracle."""
    draw = np.random.default_rng(seed)
    E, links, mine = 2e10, [], []
    for k, own in enumerate(families):
        length, tip = draw.uniform(0.5, 1.2), draw.uniform(0.1, 0.4)
        A, I_y, I_z, J, polar = draw.uniform(1, 3, 5) * [1e-4, 1e-9, 1e-9, 2e-9, 2e-9]
        angles, offset, axis = draw.uniform(-2, 2, 3), draw.uniform(-0.1, 0.1, 3) * (k > 0), draw.normal(size=3)
        axis /= np.linalg.norm(axis)
        spring, rotor = (200.0, 0.3) if k == 1 else (None, 0.2)
        drive = fa.Drive(spring, rotor_inertia=rotor) if spring else fa.Drive(rotor_inertia=rotor)
        shapes = {name: modes for name in FAMILIES if name in own}
        links.append(
            fa.Link(
                f"link{k}",
                length=length,
                section=fa.Section.properties(A, I_y, I_z, J=J, I_p=polar),
                material=fa.Material(E=E, rho=2700, G=0.4 * E),
                joint=fa.Revolute(tuple(axis), mount=tuple(angles), drive=drive),
                flexible=fa.Flexible(**shapes, basis=fa.Modes(tip_mass=0), stiffening="shortening") if own else None,
                payload=fa.PointMass(tip),
                offset=tuple(offset),
            )
        )
        stiffness = {"bend_y": E * I_z, "bend_z": E * I_y, "twist": 0.4 * E * J, "stretch": E * A}
        mount = Rotation.from_euler("xyz", angles).as_matrix()
        beam = Link(length, 2700 * A, {name: stiffness[name] for name in shapes}, modes if own else 0, 2700 * polar)
        beam = replace(beam, axis=tuple(axis), mount=mount, offset=tuple(offset))
        mine.append(replace(beam, tip_mass=tip, spring=spring, rotor=rotor))
    return fa.Robot(links=links, gravity=GRAVITY), Arm(tuple(mine), GRAVITY, **options)


# --- with the terms that flexarm keeps ---


def assert_same(found: tuple[np.ndarray, ...], expected: tuple[np.ndarray, ...]) -> None:
    """Compare mass matrices, forces at rest and forces of velocity, each to 1e-11 of its largest entry."""
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-11 * np.abs(other).max())


def forces_of(M: np.ndarray, moving: np.ndarray, at_rest: np.ndarray) -> tuple[np.ndarray, ...]:
    return M, at_rest, moving - at_rest


@pytest.mark.parametrize("modes", [1, 3])
@pytest.mark.parametrize("families", ARMS.values(), ids=ARMS)
def test_systems_with_the_same_terms(families, modes):
    robot, arm = arms(*families, modes=modes, order=2, definite=True)
    system = fa.System(robot, native=False)
    q, v = state(system, modes)
    M, h = arm.equations(q, v)
    expected = forces_of(M, h, arm.equations(q, 0 * v)[1])
    assert_same(forces_of(system.mass_matrix(q), system.bias(q, v), system.bias(q, 0 * v)), expected)


@pytest.mark.parametrize("families", ARMS.values(), ids=ARMS)
def test_closed_forms_with_the_same_terms(families):
    robot, arm = arms(*families, order=2, definite=True)
    form = fa.equations(robot, stiffening="shortening", parameters="numeric")
    q, v = state(fa.System(robot, native=False), 2)
    found = form.lambdify()(q, v)
    M, h = arm.equations(q, v)
    expected = forces_of(M, h, arm.equations(q, 0 * v)[1])
    assert_same((found["M"], found["K"] @ q + found["G"], found["C"] @ v), expected)


# --- with all terms of the paper ---


def linear_parts(robot: fa.Robot, arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    """Return what forces of both are to first order of the deflections, their rates and second rates, without K q.

    Half of the difference of opposite deflections, so that what is left is of third order.
    """
    system, step = fa.System(robot, native=False), 1e-5
    motion = (*state(system, 1), np.random.default_rng(1).uniform(-1, 1, system.nq))
    out = []
    for sign in (1, -1):
        q, v, a = (np.where(system.elastic, sign * step, 1.0) * each for each in motion)
        M, h = arm.equations(q, v)
        out.append(np.array([M @ a + h, system.inverse_dynamics(q, v, a)]) - system.stiffness @ q)
    paper, own = (out[0] - out[1]) / (2 * step)
    return paper, own


def differs(robot: fa.Robot, arm: Arm) -> float:
    """Return the difference of the parts of first order, relative to the largest force."""
    paper, own = linear_parts(robot, arm)
    return float(np.abs(paper - own).max() / np.abs(own).max())


@pytest.mark.parametrize("families", ARMS.values(), ids=ARMS)
def test_small_deflections_move_as_with_all_terms(families):
    """Dynamic stiffening is complete: what flexarm leaves out is not seen at first order, at any posture and speed."""
    assert differs(*arms(*families, modes=2)) < 1e-9


@pytest.mark.parametrize("families", ARMS.values(), ids=ARMS)
def test_what_flexarm_leaves_out_is_of_third_order_in_the_kinetic_energy(families):
    robot, arm = arms(*families, modes=2)
    system = fa.System(robot, native=False)
    q, v = state(system, 0)

    def off(share: float) -> float:
        bent, rates = (np.where(system.elastic, share, 1.0) * each for each in (q, v))
        return rates @ (arm.equations(bent, 0 * v)[0] - system.mass_matrix(bent)) @ rates

    for sign, order in ((-1, 3), (1, 4)):
        parts = [off(share) + sign * off(-share) for share in (1 / 4, 1 / 8)]
        assert np.log2(parts[0] / parts[1]) == pytest.approx(order, abs=0.1)


def test_the_papers_own_forms_suffice_where_only_the_last_link_bends():
    """As printed: sections at the tip turn by 1 + hat(angles), and no products of two families."""
    assert differs(*arms((), BENDING, modes=2, products=False, linear=True)) < 1e-9


def test_the_papers_own_forms_lack_terms_of_first_order_elsewhere():
    """Axes that are linear in the deflection, the roll of links that bend in two planes, and bending by stretch and
    twist: each is missing at first order by itself."""
    first_link = (("bend_y",), ())
    assert differs(*arms(*first_link, modes=2, products=False)) < 1e-9
    assert differs(*arms(*first_link, modes=2, products=False, linear=True)) > 1e-3
    assert differs(*arms(BENDING, (), modes=2, products=False)) > 1e-3
    for family in ("stretch", "twist"):
        assert differs(*arms((), ("bend_y", family), modes=2, products=False)) > 1e-3
