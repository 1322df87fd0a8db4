import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.dynamics.test_energies import spatial
from tests.helpers import state, unit_link


def test_mass_matrix_is_the_derivative_of_the_inverse_dynamics():
    system = fa.System(spatial("shortening"), native=False)
    q, v, _ = state(system, 2)
    columns = system.inverse_dynamics(q, v, np.eye(system.nq)) - system.bias(q, v)
    assert_allclose(system.mass_matrix(q), columns.T, rtol=1e-8, atol=1e-9 * np.abs(columns).max())


def test_forward_dynamics_without_the_mass_matrix_equals_the_one_with_it():
    system = fa.System(spatial("shortening"), native=False)
    q, v, _ = state(system, 4)
    tau = np.random.default_rng(1).normal(size=system.nq)
    expected = np.linalg.solve(system.mass_matrix(q), tau - system.bias(q, v))
    assert_allclose(system.forward_dynamics(q, v, tau), expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


def test_links_without_coordinates_are_carried_along():
    robot = fa.Robot(
        links=[
            fa.Link("pillar", 0.5, fa.Weld(mount=(0, -np.pi / 2, 0)), mass=5.0),
            fa.Link("arm", 1.0, fa.Revolute("y"), mass=3.0),
            fa.Link("tool", 0.2, fa.Weld(mount=(0, 0, np.pi / 2)), mass=0.5),
        ]
    )
    system = fa.System(robot, native=False)
    # rod about its end, plus the tool: a rod of 0.2 m that points along the axis at 1 m
    assert_allclose(system.mass_matrix([0.3]), [[3.0 / 3 + 0.5]])
    assert_allclose(system.forward_dynamics([0.3], [0.0], [1.5]), [1.0])


def test_a_robot_that_cannot_move_has_empty_equations():
    system = fa.System(fa.Robot(links=[fa.Link("pillar", 0.5, fa.Weld(), mass=1.0)]), native=False)
    assert system.nq == system.nu == 0
    assert system.mass_matrix([]).shape == (0, 0)
    assert system.inverse_dynamics([], [], []).shape == (0,)
    assert_allclose(system.tip([]), [0.5, 0, 0])


@pytest.mark.parametrize("seed", range(4))
def test_factors_handed_over_as_a_column_solve_the_same_with_stiffness_and_held_coordinates(seed):
    """S = M + extra on some of the coordinates, through pack and unpack, against the dense solution."""
    import casadi as ca

    from flexarm.dynamics.articulated import back_substitute, pack_eliminated, unpack_eliminated

    robot = spatial("shortening", seed) if seed else fa.Robot(links=[fa.Link("a", 1.0, mass=1.0), unit_link("b")])
    system = fa.System(robot, native=False)
    e = system.equations
    tree = e.articulated
    free = [k for k in range(system.nq) if k != seed - 1]  # one coordinate held, or none
    extra = 0.3 * system.stiffness
    links = tree.restricted(free, ca.SX(ca.sparsify(ca.DM(extra)))).eliminate()
    column = pack_eliminated(links)
    again = unpack_eliminated(column, links)
    force = np.random.default_rng(seed).normal(size=len(free))
    found = ca.Function("f", [e.q, e.p], [back_substitute(again, tree.order, ca.SX(ca.DM(force)))])
    q, _, _ = state(system, seed)
    here = np.ix_(free, free)
    expected = np.linalg.solve((system.mass_matrix(q) + extra)[here], force)
    assert_allclose(found(q, system.numbers).full()[:, 0], expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max())
