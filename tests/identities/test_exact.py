"""What must hold for links that bend far: one set of equations, links cut in two, and small deflections as ever."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import unit_link
from tests.oracles import rod

PLANAR = {"bend_y": 3, "stretch": 1}
SPATIAL = {"bend_y": 2, "bend_z": 2, "twist": 1, "stretch": 1}


def two_links(stiffening: str, rotary: bool = True, counts: dict[str, int] = SPATIAL) -> fa.System:
    section = fa.Section.properties(A=1, I_y=0.03, I_z=0.05, J=0.04, I_p=0.08)
    fields = {
        "section": section,
        "rotary_inertia": rotary,
        "flexible": fa.Flexible(**counts, stiffening=stiffening, damping=fa.Damping(beta=0.01)),
    }
    payload = fa.PointMass(0.3, offset=(0.1, 0.05, -0.02), inertia=(0.01, 0.02, 0.025))
    links = [
        unit_link("root", joint=fa.Revolute("z", mount=(0.1, 0.2, 0.3)), **fields),
        unit_link("end", joint=fa.Revolute((1, 0.5, -2)), payload=payload, offset=(0.02, 0.01, -0.03), **fields),
    ]
    return fa.System(fa.Robot(links=links, gravity=(0.3, -0.5, 0.8)), native=False)


def lagrange(system: fa.System, *motion: np.ndarray) -> np.ndarray:
    """d/dt dT/dv - dT/dq + dU/dq + D v by AD of the energies of the whole robot."""
    e = system.equations
    kinetic, *potential = e.energies
    rate = ca.jtimes(ca.gradient(kinetic, e.v), ca.vertcat(e.q, e.v), ca.vertcat(e.v, e.a))
    force = rate - ca.gradient(kinetic, e.q) + ca.gradient(sum(potential), e.q) + e.D @ e.v
    return ca.Function("lagrange", [e.q, e.v, e.a, e.p], [force])(*motion, system.numbers).full()[:, 0]


def motion(system: fa.System, size: float, seed: int = 2) -> np.ndarray:
    unit = np.where(system.elastic, size, 1.0) * system.sizes
    return np.random.default_rng(seed).uniform(-1, 1, (3, system.nq)) * unit


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize(("stiffening", "size"), [("exact", 0.3), ("shortening", 0.02), ("none", 0.02)])
def test_inverse_dynamics_is_lagranges(stiffening, size, rotary):
    system = two_links(stiffening, rotary)
    q, v, a = motion(system, size)
    expected = lagrange(system, q, v, a)
    assert_allclose(system.inverse_dynamics(q, v, a), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("counts", [PLANAR, SPATIAL])
@pytest.mark.parametrize("size", [0.1, 0.6])
def test_forward_dynamics_inverts_inverse_dynamics_far_out(counts, size):
    system = two_links("exact", counts=counts)
    q, v, a = motion(system, size)
    assert_allclose(system.forward_dynamics(q, v, system.inverse_dynamics(q, v, a)), a, rtol=1e-8, atol=1e-8)
    M = system.mass_matrix(q)
    assert system.energy(q, v).kinetic == pytest.approx(v @ M @ v / 2, rel=1e-11)
    rest = system.inverse_dynamics(q, v, np.zeros_like(a))
    assert_allclose(system.inverse_dynamics(q, v, a), M @ a + rest, rtol=1e-10, atol=1e-10 * np.abs(rest).max())


def test_mass_rate_minus_twice_coriolis_is_skew_far_out():
    system = two_links("exact")
    q, v, _ = motion(system, 0.5)
    h = 1e-4
    ends = [system.mass_matrix(q + k * h * v) for k in (-2, -1, 1, 2)]
    rate = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    skew = rate - 2 * system.coriolis(q, v)
    assert_allclose(skew, -skew.T, atol=1e-7 * np.abs(rate).max())


# --- a link cut in two ---

SECTION = fa.Section.properties(A=1, I_y=0.5, I_z=1.0, J=0.4, I_p=0.1)
SKEW = np.array([0.5, 1.6, -2.2])


def hanging(pieces: int, flexible: fa.Flexible) -> tuple[fa.System, np.ndarray]:
    links = [
        unit_link(
            f"piece{k}",
            length=1 / pieces,
            joint=fa.Weld(),
            section=SECTION,
            flexible=flexible,
            payload=fa.PointMass(0.5) if k == pieces - 1 else None,
        )
        for k in range(pieces)
    ]
    q = None
    for share in (0.5, 1.0):
        system = fa.System(fa.Robot(links=links, gravity=share * SKEW), native=False)
        q = fa.equilibrium(system, q)
    return system, q


def mesh(n: int, order: int = 1) -> fa.Flexible:
    return fa.Flexible(bend_y=n, bend_z=n, twist=n, basis=fa.Elements(order=order), stiffening="exact")


def test_a_mesh_cut_in_two_links_bends_as_the_whole():
    """The same curvatures at the same nodes, in space; but for the interval of nodes across which they jump."""
    (one, q), (two, halves) = hanging(1, mesh(2)), hanging(2, mesh(1))
    assert np.linalg.norm(one.tip(q) - [1, 0, 0]) > 0.4
    assert_allclose(two.tip(halves), one.tip(q), atol=5e-6)
    found, expected = (fa.modes(system, at).frequencies for system, at in ((two, halves), (one, q)))
    assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize(("order", "rate"), [(1, 1.6), (2, 2.5)])
def test_pieces_tend_to_the_whole_in_space(order, rate):
    """One cubic of bending a piece, and a line or a parabola of twist, which sets the order."""
    bar = rod.Rod(1.0, GJ=0.4, EI_y=0.5, EI_z=1.0, force=tuple(0.5 * SKEW), weight=tuple(SKEW))
    exact, found = rod.equilibrium(bar).r[0], []
    for pieces in (2, 4):
        system, q = hanging(pieces, mesh(1, order))
        found.append(np.abs(system.tip(q) - exact).max())
    assert np.log2(found[0] / found[1]) > rate
    assert found[-1] < 2e-3


# --- small deflections as ever ---


def agree(robots: list[fa.Robot], atol: float, duration: float = 0.3, **inputs) -> None:
    one, other = (fa.simulate(robot, duration, rtol=1e-8, sample=1e-3, native=False, **inputs) for robot in robots)
    assert one.reason == other.reason == "completed"
    there, here = (run.data["points"].values if "points" in inputs else run.tip.values for run in (one, other))
    assert np.ptp(there, axis=0).max() > 100 * atol  # it moves
    assert_allclose(here, there, atol=atol)


def both(make, **changes) -> list[fa.Robot]:
    return [make(stiffening, **changes) for stiffening in ("shortening", "exact")]


STIFF = fa.Section.rectangle(0.02, 0.02)
STEEL = fa.Material(E=2.1e11, rho=7850)


def steel(name: str, length: float, stiffening: str, **fields) -> fa.Link:
    shapes = fa.Flexible(bend_y=2, stiffening=stiffening)
    return fa.Link(name, length, **{"section": STIFF, "material": STEEL, "flexible": shapes, **fields})


def four_bar(stiffening: str) -> fa.Robot:
    links = [
        steel("crank", 0.3, stiffening),
        steel("coupler", 0.8, stiffening),
        steel("rocker", 0.6, stiffening),
    ]
    closing = fa.Loop("rocker", "ground", position=(0.9, 0, 0))
    return fa.Robot(links=links, constraints=[closing], gravity=(0, -9.81, 0))


def test_closed_loops_of_exact_links_move_as_ever():
    start = {"crank.q": 1.0, "coupler.q": -1.0, "rocker.q": -1.5}
    agree(both(four_bar), 5e-6, q0=start, points={"middle": ("coupler", 0.4)})


def on_a_support(stiffening: str) -> fa.Robot:
    beam = steel("beam", 1.0, stiffening, joint=fa.Revolute("z"))
    return fa.Robot(links=[beam], constraints=[fa.PointSupport("beam", (0.7, 0, 0), "y")], gravity=(0, -9.81, 0))


def test_exact_links_on_supports_move_as_ever():
    load = fa.PointLoad("beam", 1.0, force=(0, fa.step(0.0, -40.0, 0.0), 0))
    agree(both(on_a_support), 1e-6, duration=0.05, loads=[load])


def with_a_cart(stiffening: str) -> fa.Robot:
    links = [
        steel("rail", 1.0, stiffening, joint=fa.Weld()),
        fa.Link("cart", 0.1, fa.SlidingPrismatic(), mass=2.0, hub=fa.PointMass(1.0, inertia=0.01)),
    ]
    return fa.Robot(links=links, gravity=(0, -9.81, 0))


def test_carts_slide_along_exact_links_as_ever():
    agree(both(with_a_cart), 2e-6, q0={"cart.q": 0.4}, v0={"cart.q": 1.0})


def through_a_guide(stiffening: str) -> fa.Robot:
    return fa.Robot(links=[steel("ram", 1.0, stiffening, joint=fa.FixedPrismatic())], gravity=(0, -9.81, 0))


def test_exact_links_slide_through_their_joint_as_ever():
    agree(both(through_a_guide), 1e-7, motion={"ram": fa.cycloid(0.5, 0.8, 0.3)})


def test_loads_bend_exact_links_as_ever():
    make = lambda stiffening: fa.Robot(links=[steel("beam", 1.0, stiffening, joint=fa.Weld())])  # noqa: E731
    loads = [fa.PointLoad("beam", 0.5, force=(0, 100.0, 0)), fa.PointLoad("beam", torque=(0, 0, 20.0))]
    agree(both(make), 1e-5, duration=0.05, loads=loads)
