"""Limits that connect different descriptions of one robot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import omega

SECTION = fa.Section.rectangle(0.01, 0.02)


def arm(E: float) -> fa.Robot:
    fields = {
        "section": SECTION,
        "material": fa.Material(E, 2700),
        "flexible": fa.Flexible(bend_y=3, bend_z=2, twist=2),
    }
    return fa.Robot(
        gravity=(0, 0, -9.81),
        links=[
            fa.Link("upper", 0.6, fa.Revolute("z"), **fields),
            fa.Link("fore", 0.5, fa.Revolute("y"), payload=fa.PointMass(0.3), **fields),
        ],
    )


def test_joint_accelerations_tend_to_the_rigid_robots_as_stiffness_grows():
    """Quasi-static: the links carry their load, deflected by ~1/E, and the joints accelerate as if rigid."""
    rigid = fa.System(arm(1e11).rigid(), native=False)
    angles, rates = np.array([0.4, -0.3]), np.array([0.5, -0.2])
    expected = rigid.forward_dynamics(angles, rates, [0.1, -0.2])
    errors = []
    for E in (1e10, 1e11, 1e12):
        system = fa.System(arm(E), native=False)
        joints = [system.index("upper.q"), system.index("fore.q")]
        bends = [k for k in range(system.nq) if k not in joints]
        q, v, tau = np.zeros((3, system.nq))
        q[joints], v[joints], tau[joints] = angles, rates, [0.1, -0.2]
        for _ in range(20):  # deflections at which the elastic accelerations vanish
            a = system.forward_dynamics(q, v, tau)
            M, K = system.mass_matrix(q), system.stiffness
            flexibility = np.linalg.inv(np.linalg.inv(M)[np.ix_(bends, bends)])
            q[bends] += np.linalg.solve(K[np.ix_(bends, bends)], flexibility @ a[bends])
        assert np.abs(a[bends]).max() < 1e-6 * np.abs(a).max()
        errors.append(np.abs(a[joints] - expected).max())
    assert_allclose(np.log10(np.array(errors[:-1]) / errors[1:]), 1, atol=0.05)  # error ~ 1/E
    assert errors[-1] < 1e-4 * np.abs(expected).max()


def halves(flexible: fa.Flexible) -> np.ndarray:
    material = fa.Material(7e10, 2700)
    payload = fa.PointMass(0.2, inertia=1e-3)
    robot = fa.Robot(
        links=[
            fa.Link("root", 0.5, fa.Weld(), SECTION, material, flexible),
            fa.Link("end", 0.5, fa.Weld(), SECTION, material, flexible, payload=payload),
        ]
    )
    return omega(fa.modes(robot))[:8]


def whole(flexible: fa.Flexible) -> np.ndarray:
    link = fa.Link("whole", 1.0, fa.Weld(), SECTION, fa.Material(7e10, 2700), flexible)
    link = link.model_copy(update={"payload": fa.PointMass(0.2, inertia=1e-3)})
    return omega(fa.modes(fa.Robot(links=[link])))[:8]


def counts(each: int) -> dict[str, int]:
    return dict.fromkeys(("bend_y", "bend_z", "twist", "stretch"), each)


def test_two_halves_welded_are_one_link():
    """The same mesh cut in two links gives the same numbers."""
    assert_allclose(
        halves(fa.Flexible(**counts(8), basis="elements")),
        whole(fa.Flexible(**counts(16), basis="elements")),
        rtol=1e-8,
    )


@pytest.mark.slow
def test_halves_with_modes_meet_the_whole_at_first_order_and_craig_bampton_much_faster():
    """Clamped-free modes carry no load at their tip, where the other half hangs: their error falls as 1/n only."""
    exact = whole(fa.Flexible(bend_y=64, bend_z=64, basis="elements"))
    bare = fa.Modes(tip_mass=0)
    errors = np.array([halves(fa.Flexible(bend_y=n, bend_z=n, basis=bare))[0] / exact[0] - 1 for n in (4, 8, 16)])
    assert_allclose(np.log2(errors[:-1] / errors[1:]), 1, atol=0.15)
    loaded = halves(fa.Flexible(bend_y=4, bend_z=4))
    assert abs(loaded[0] / exact[0] - 1) < 1e-6 < 1e-3 * errors[0]
    fixed = halves(fa.Flexible(bend_y=3, bend_z=3, basis=fa.Reduced(32, interface="fixed")))  # 5 coordinates
    assert abs(fixed[0] / exact[0] - 1) < 1e-6


@pytest.mark.slow
def test_modes_elements_and_reduced_meshes_agree_on_an_arm():
    found = []
    for flexible in (
        fa.Flexible(bend_y=16),
        fa.Flexible(bend_y=24, basis="elements"),
        fa.Flexible(bend_y=14, basis=fa.Reduced(24)),
        fa.Flexible(bend_y=6, basis=fa.Reduced(24, interface="fixed")),
    ):
        robot = fa.library.two_link_arm().with_({"links.upper.flexible": flexible, "links.fore.flexible": flexible})
        found.append(omega(fa.modes(robot, {"fore.q": 0.5}))[:4])
    for other in found[1:]:
        assert_allclose(other, found[0], rtol=5e-4)


def test_a_stepped_link_is_two_welded_uniform_ones():
    thick, thin = fa.Section.rectangle(0.02, 0.02), fa.Section.rectangle(0.01, 0.02)
    material = fa.Material(7e10, 2700)
    stepped = fa.Section.stepped([{"upto": 0.5, "section": thick}, {"upto": 1.0, "section": thin}])
    mesh = {"basis": "elements"}
    one = fa.Robot(links=[fa.Link("a", 1.0, fa.Weld(), stepped, material, fa.Flexible(bend_y=16, twist=16, **mesh))])
    half = fa.Flexible(bend_y=8, twist=8, **mesh)
    two = fa.Robot(
        links=[fa.Link("a", 0.5, fa.Weld(), thick, material, half), fa.Link("b", 0.5, fa.Weld(), thin, material, half)]
    )
    assert_allclose(omega(fa.modes(one))[:6], omega(fa.modes(two))[:6], rtol=1e-8)
