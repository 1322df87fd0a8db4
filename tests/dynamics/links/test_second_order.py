"""Second-order links compared with exact ones: rolled round bars, lateral buckling, spinning blades."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import flexarm as fa
from tests.dynamics.links.test_exact import few, rolled, seen, shapes, softest
from tests.helpers import unit_link
from tests.oracles import buckling

BOTH = pytest.mark.parametrize("stiffening", ["shortening", "exact"])

# --- a round bar, rolled ---


def test_a_round_bar_of_second_order_depends_on_its_roll_at_third_order_of_the_deflection():
    moved, sags = [], []
    for load in (0.25, 0.5, 1.0):
        plain, other = (rolled(roll, "shortening", load) for roll in (0.0, 0.7))
        tip = plain.tip(fa.equilibrium(plain))
        moved.append(np.abs(other.tip(fa.equilibrium(other)) - tip).max())
        sags.append(np.linalg.norm(tip[1:]))
    orders = np.log2(np.array(moved[1:]) / moved[:-1]) / np.log2(np.array(sags[1:]) / sags[:-1])
    assert (orders > 2.8).all()
    assert moved[1] < 1e-3 * sags[1]


def test_accelerations_of_a_rolled_bar_differ_at_third_order_too():
    plain, other = (rolled(roll, "shortening", 0.0) for roll in (0.0, 0.7))
    unit, rates = np.random.default_rng(3).uniform(-1, 1, (2, plain.nq)) * plain.sizes
    differ = []
    for size in (0.02, 0.04, 0.08):
        q, v = size * unit, size * rates
        found = other.forward_dynamics(seen(0.7, q), seen(0.7, v)) - seen(0.7, plain.forward_dynamics(q, v))
        differ.append(np.abs(found / plain.sizes).max())
    assert (np.log2(np.array(differ[1:]) / differ[:-1]) > 2.8).all()


# --- lateral-torsional buckling ---


def cantilever(
    load: float, stiffening: str, n: int, weak: float, torsion: float, where: str, **counts: int
) -> fa.System:
    """Return a cantilever with EI = 1 in the plane of the load and `weak` sideways.

    Loads are in units of sqrt(EI GJ) / L^2 or / L^3.
    """
    at_tip = where == "tip"
    link = unit_link(
        joint=fa.Weld(),
        section=fa.Section.properties(A=1, I_y=1.0, I_z=weak, J=torsion, I_p=1e-2),
        flexible=shapes(n, stiffening=stiffening, **counts),
        mass=1e-6 if at_tip else 1.0,
        payload=fa.PointMass(1.0, inertia=1e-3) if at_tip else None,
    )
    return fa.System(fa.Robot(links=[link], gravity=(0, 0, -load * np.sqrt(weak * torsion))), native=False)


def sagging(system: fa.System) -> np.ndarray:
    """Equilibrium in the plane of the load, stable or not."""
    q = np.zeros(system.nq)
    flat = [k for k, name in enumerate(system.names) if "bend_z" in name]
    for _ in range(30):
        force = (system.spring_forces(q) + system.gravity(q))[flat]
        change = np.linalg.solve((system.stiffness_matrix(q) + system.gravity_stiffness(q))[np.ix_(flat, flat)], -force)
        q[flat] += change
        if np.abs(change).max() < 1e-13:
            break
    return q


def critical(stiffening: str, n: int, weak: float, torsion: float, where: str, **counts: int) -> float:
    """Return the load at which the lateral stiffness vanishes."""

    def left(load: float) -> float:
        system = cantilever(load, stiffening, n, weak, torsion, where, **counts)
        q = sagging(system)
        sideways = [k for k, name in enumerate(system.names) if "bend_z" not in name]
        here = np.ix_(sideways, sideways)
        scale = 1 / np.sqrt(np.diag(system.stiffness)[sideways])
        K = (system.stiffness_matrix(q) + system.gravity_stiffness(q))[here] * np.outer(scale, scale)
        return float(np.linalg.eigvalsh(K)[0])

    known = buckling.tip_load() if where == "tip" else buckling.own_weight()
    return brentq(left, 0.8 * known, 1.5 * known, rtol=1e-6)


@BOTH
def test_a_deep_cantilever_gives_way_sideways_under_a_load_at_its_tip(stiffening):
    """4.0126 sqrt(EI GJ) / L^2, with four shapes of a family; a bar 10^4 times stiffer in the plane of the load."""
    assert critical(stiffening, 4, 1e-4, 1e-4, "tip") == pytest.approx(buckling.tip_load(), rel=1e-3)


@BOTH
@pytest.mark.parametrize("n", [4, 6])
def test_a_deep_cantilever_gives_way_sideways_under_its_own_weight(stiffening, n):
    """12.854 sqrt(EI GJ) / L^3. Four modes cannot do it better than to 0.34 %: their curvatures are slow at the root,
    where the moment is. So they are held against Ritz's own answer with the same modes; six are within 0.1 %."""
    found, best = critical(stiffening, n, 1e-4, 1e-4, "weight"), buckling.own_weight_with_modes(n)
    assert found == pytest.approx(best, rel=6e-4)
    assert best == pytest.approx(buckling.own_weight(), rel=3.5e-3 if n == 4 else 5e-4)
    if n == 6:
        assert found == pytest.approx(buckling.own_weight(), rel=1e-3)


@pytest.mark.parametrize(("n", "counts"), [(1, {}), (3, {"bend_z": 1})])
def test_own_weight_turns_few_shapes_over_as_it_does_exact_ones(n, counts):
    """One shape in the stiff plane is what picking gives such a beam."""
    second, exact = (critical(each, n, 1e-4, 1e-4, "weight", **counts) for each in ("shortening", "exact"))
    assert second == pytest.approx(exact, rel=5e-3)


@pytest.mark.parametrize(("weak", "torsion"), [(0.05, 0.05), pytest.param(0.2, 0.1, marks=pytest.mark.slow)])
def test_deflection_before_buckling_counts_in_exact_links_only(weak, torsion):
    """It raises the load by 7 and 26 %; to second order there is none of it."""
    known = buckling.with_deflection(weak, torsion)
    assert critical("exact", 4, weak, torsion, "tip") == pytest.approx(known, rel=1e-3)
    assert critical("shortening", 4, weak, torsion, "tip") == pytest.approx(buckling.tip_load(), rel=1e-3)


@BOTH
def test_modes_lose_their_frequency_where_the_cantilever_gives_way(stiffening):
    """Frequencies squared fall to zero there: extrapolated from two loads below."""
    known, loads, squares = buckling.tip_load(), np.array([0.98, 0.99]), []
    for share in loads:
        system = cantilever(share * known, stiffening, 4, 1e-4, 1e-4, "tip")
        squares.append(fa.modes(system, fa.equilibrium(system)).frequencies[0] ** 2)
    lost = loads[1] + (loads[1] - loads[0]) * squares[1] / (squares[0] - squares[1])
    assert lost == pytest.approx(1, abs=2e-3)
    with pytest.raises(ArithmeticError, match="buckles"):
        fa.equilibrium(cantilever(1.01 * known, stiffening, 4, 1e-4, 1e-4, "tip"))


# --- definite up to a tenth of the length ---


@few
@given(st.integers(0, 10**6), st.floats(0.01, 0.1), st.booleans())
def test_to_second_order_the_mass_matrix_is_definite_up_to_a_tenth_of_the_length(seed, size, stretches):
    """Three shapes share it."""
    link = unit_link(
        joint=fa.Revolute((1, 2, -0.5)), flexible=shapes(3, plane=True, stiffening="shortening", stretch=int(stretches))
    )
    system = fa.System(fa.Robot(links=[link]), native=False)
    q = np.random.default_rng(seed).uniform(-1, 1, system.nq) * size / 3 * system.sizes
    assert softest(system, q) > 0


def bar(stiffening: str) -> fa.System:
    """1 m of aluminium, 10 x 20 mm, on a hinge that swings it along z."""
    link = fa.Link(
        "beam",
        1.0,
        fa.Revolute("y"),
        fa.Section.rectangle(0.01, 0.02),
        fa.Material(E=7e10, rho=2700),
        shapes(2, stiffening=stiffening),
    )
    return fa.System(fa.Robot(links=[link]), native=False)


@BOTH
@pytest.mark.parametrize("size", [0.003, 0.03, 0.1])
def test_the_mass_matrix_of_a_slender_bar_that_twists_is_definite(stiffening, size):
    """Bent along y by more than its thickness: twist then moves more mass than its sections' own inertia."""
    system = bar(stiffening)
    q = np.zeros(system.nq)
    q[system.index("beam.bend_y[1]")] = size * system.sizes[system.index("beam.bend_y[1]")]
    assert softest(system, q) > 0


# --- a wide blade that spins ---


@BOTH
@pytest.mark.parametrize(("basis", "error"), [("elements", 2e-2), (fa.Modes(0), 5e-3)])
def test_a_wide_blade_feels_propeller_moment_and_gyroscopic_torques(stiffening, basis, error):
    """About z with Omega, per length: rho (I_z - I_y) Omega^2 against twist, -rho (I_p - I_z) Omega^2 against tilt
    beside the tension's, rho (I_p + I_y - I_z) Omega between the rates of twist and tilt (a tennis racket's).
    What is quadratic in the shapes is known at nodes only."""
    Omega, I_p, I_y, I_z = 2.0, 0.09, 0.02, 0.06
    link = unit_link(
        joint=fa.Revolute("z"),
        section=fa.Section.properties(A=1, I_y=I_y, I_z=I_z, J=0.04, I_p=I_p),
        flexible=shapes(2, stiffening=stiffening, basis=basis),
        rotary_inertia=True,
    )
    system = fa.System(fa.Robot(links=[link]), native=False)
    found = system.linearization(None, {"beam.q": Omega})
    beam = system._chain.bodies[0].integrals
    twist, slope = beam.shapes["twist"], beam.shapes["bend_z"].derivative()
    nodes, weights = np.polynomial.legendre.leggauss(40)
    x = np.concatenate([(nodes + 1) / 4, (nodes + 3) / 4])  # in two elements
    dx = np.tile(weights / 4, 2)
    columns = {name: np.arange(1, system.nq)[place] for name, place in beam.columns.items()}
    t, w = columns["twist"], columns["bend_z"]
    N, S = twist(x), slope(x)

    def form(left, factor, right):
        return left.T @ ((factor * dx)[:, None] * right)

    K = system.stiffness
    one = np.ones_like(x)
    against_twist = Omega**2 * (I_z - I_y) * form(N, one, N)
    against_tilt = Omega**2 * form(S, (1 - x**2) / 2 - (I_p - I_z), S)
    for place, known in ((t, against_twist), (w, against_tilt)):
        assert_allclose((found.K - K)[np.ix_(place, place)], known, atol=error * np.abs(known).max())
    between = Omega * (I_p + I_y - I_z) * form(N, one, S)
    assert_allclose(found.G[np.ix_(t, w)], between, atol=error * np.abs(between).max())
    assert_allclose(found.G[np.ix_(w, t)], -found.G[np.ix_(t, w)].T, atol=1e-12)


@BOTH
def test_frequencies_of_twist_rise_with_the_speed_of_a_wide_blade(stiffening):
    """omega^2 + Omega^2 (I_z - I_y) / I_p, for every shape: nodes have the first to 1e-4, the third to 1.5 %."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.UnitsWarning)
        link = unit_link(
            joint=fa.Revolute("z"),
            section=fa.Section.properties(A=1, I_y=0.01, I_z=0.09, J=0.04, I_p=0.1),
            flexible=fa.Flexible(twist=3, stiffening=stiffening),
            rotary_inertia=True,
        )
    system, Omega = fa.System(fa.Robot(links=[link]), native=False), 3.0
    still, spinning = (
        (2 * np.pi * fa.modes(system, v={"beam.q": speed}, joints="locked").frequencies) ** 2 for speed in (0.0, Omega)
    )
    assert_allclose(spinning - still, 0.8 * Omega**2, rtol=2e-2)
    assert (spinning - still)[0] == pytest.approx(0.8 * Omega**2, rel=2e-4)
