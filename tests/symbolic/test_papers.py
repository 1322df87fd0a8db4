"""Matrices printed in the papers of My et al. and Bien & My."""

from itertools import product

import pytest
import sympy
from sympy import Matrix, Rational, Symbol, cos, eye, sin, symbols

import flexarm as fa
from flexarm.symbolic import algebra
from tests.symbolic.cases import KINDS, arm, bending, link

l1, l2, d1, d2, gamma1, gamma2, theta1, theta2 = symbols("l_1 l_2 d_1 d_2 gamma_1 gamma_2 theta_1 theta_2")
ELEMENTS, NODE = 2, 1  # of each link; the node of link 1 at which a slide is


def u(i, j):
    return Symbol(f"u_{i}_{j}")


def touching(kind, contact="nodal"):
    if kind == "R":
        return fa.Revolute("z")
    slide = fa.SlidingPrismatic if kind == "Pa" else fa.FixedPrismatic
    return slide(angle=0.4, contact=contact)


def two_links(first, second):
    """Return one of the nine robots of the appendix; sliding links are held at their first node."""
    ground = fa.SlidingPrismatic(angle=0.4) if first == "Pa" else touching(first)
    links = [
        link("a", first, bending(ELEMENTS), joint=ground),
        link("b", second, bending(ELEMENTS), joint=touching(second)),
    ]
    k = ({"a": 0} if first == "Pb" else {}) | ({"b": NODE if second == "Pa" else 0} if second != "R" else {})
    return fa.equations(fa.Robot(links=links), k=k)


def turned(angle, x, y):
    T = eye(4)
    T[:2, :] = Matrix([[cos(angle), -sin(angle), 0, x], [sin(angle), cos(angle), 0, y]])
    return T


def first_matrix(kind):
    """Return Theta_01 of the appendix."""
    a1 = d1 - l1
    return {
        "R": turned(theta1, 0, 0),
        "Pa": turned(gamma1, d1, 0),
        "Pb": turned(gamma1, a1 * cos(gamma1), a1 * sin(gamma1)),
    }[kind]


def second_matrix(kind):
    """Return Theta_12 of the appendix."""
    tip, slope = u(1, 2 * ELEMENTS + 1), u(1, 2 * ELEMENTS + 2)
    there, lean = u(1, 2 * NODE + 1), u(1, 2 * NODE + 2)
    a2, angle = d2 - l2, gamma2 + slope
    return {
        "R": turned(theta2 + slope, l1, tip),
        "Pa": turned(gamma2 + lean, d2, there),
        "Pb": turned(angle, l1 + a2 * cos(angle), tip + a2 * sin(angle)),
    }[kind]


@pytest.mark.parametrize(("first", "second"), [*product(KINDS, KINDS)])
def test_transformation_matrices_and_ends_of_the_nine_robots(first, second):
    form = two_links(first, second)
    expected = first_matrix(first), second_matrix(second)
    for own, printed in zip(form.theta, expected, strict=True):
        assert all(sympy.expand(entry) == 0 for entry in own - printed)
    # the appendix's r_01 and r_0E, from the products: its RPa row prints sin for cos in the last term
    tip = Matrix([l1, u(1, 2 * ELEMENTS + 1), 0, 1]), Matrix([l2, u(2, 2 * ELEMENTS + 1), 0, 1])
    ends = expected[0] * tip[0], expected[0] * expected[1] * tip[1]
    for i, (length, end) in enumerate(zip((l1, l2), ends, strict=True)):
        own = form.r[i][-1].subs(Symbol("x"), length / ELEMENTS)
        assert all(sympy.simplify(sympy.expand_trig(entry)) == 0 for entry in (own - end)[:2]), i


def test_elemental_matrices():
    m, EI, size = symbols("m EI l_e")
    mass, stiffness = (Matrix(rows) for rows in (algebra.mass(m, size), algebra.stiffness(EI, size)))
    x = Symbol("x")
    shapes = Matrix(algebra.shapes(x, size))
    printed = Matrix(
        [
            [156, 22 * size, 54, -13 * size],
            [22 * size, 4 * size**2, 13 * size, -3 * size**2],
            [54, 13 * size, 156, -22 * size],
            [-13 * size, -3 * size**2, -22 * size, 4 * size**2],
        ]
    )
    assert sympy.simplify(mass - m * size / 420 * printed) == sympy.zeros(4)  # eq. (13)

    def integrated(matrix):
        return matrix.applyfunc(lambda entry: sympy.expand(sympy.integrate(sympy.expand(entry), (x, 0, size))))

    curvature, slope = shapes.diff(x, 2), shapes.diff(x)
    assert integrated(m * shapes * shapes.T) - mass.applyfunc(sympy.expand) == sympy.zeros(4)
    assert integrated(EI * curvature * curvature.T) - stiffness.applyfunc(sympy.expand) == sympy.zeros(4)  # eq. (27)
    turning = Matrix(algebra.slope_products(m, size)).applyfunc(sympy.expand)
    assert integrated(m * slope * slope.T) - turning == sympy.zeros(4)
    assert list(integrated(m * shapes)) == algebra.moment(m, size).tolist()
    assert list(integrated(m * x * shapes)) == algebra.first_moment(m, size).tolist()
    assert list(integrated(slope)) == algebra.SLOPE_MOMENT.tolist()


def test_elements_stand_in_the_robots_matrices():
    form = fa.equations(arm(2), boundary="kept")
    place = form.names.index("a.u[1]")
    inside = slice(place, place + 4)
    half = Symbol("l_1") / 2
    stiffness = Matrix(algebra.stiffness(Symbol("EI_1"), half))
    assert sympy.expand(form.K[inside, inside][:2, :] - stiffness[:2, :]) == sympy.zeros(2, 4)
    assert sympy.expand(form.M[place, place] - Rational(156, 420) * Symbol("m_1") * half) == 0


def zeros(matrix):
    return {(i, j) for i in range(matrix.rows) for j in range(matrix.cols) if matrix[i, j] == 0}


def pairs(rows, columns):
    """Return index pairs of a symmetric matrix."""
    return {pair for i in rows for j in columns for pair in ((i, j), (j, i))}


def test_sizes_and_zeros_of_bien_and_my():
    two = fa.equations(arm(2), boundary="kept")
    names, first = two.link_mass("a")
    assert (len(names), first.shape) == (7, (7, 7))  # eq. (5)
    # besides the printed zeros, the couplings of deflection and slope of a node between equal elements cancel
    assert zeros(first) == pairs((1, 2), (5, 6)) | pairs((3,), (4,))
    names, second = two.link_mass("b")
    assert names == ["a.q", "a.u[5]", "a.u[6]", "b.q", *(f"b.u[{k}]" for k in range(1, 7))]  # eq. (8)
    assert second.shape == (10, 10)  # eq. (9)
    assert zeros(second) == pairs((4, 5), (8, 9)) | pairs((6,), (7,)) | pairs((1,), (7,))
    one = fa.equations(arm(1), boundary="kept")
    assert [len(one.link_mass(name)[0]) for name in "ab"] == [5, 8]
    assert one.M.shape == (10, 10)  # eq. (12)
    assert zeros(one.M) == pairs((1, 2), range(5, 10))


def test_boundary_conditions_take_out_rows_and_columns():
    kept, eliminated = (fa.equations(arm(1), boundary=boundary) for boundary in ("kept", "eliminated"))
    stay = [k for k, name in enumerate(kept.names) if not name.endswith(("u[1]", "u[2]"))]
    clamped = {u(i, j): 0 for i in (1, 2) for j in (1, 2)}
    for name in "MK":
        small = getattr(kept, name).extract(stay, stay).subs(clamped)
        assert sympy.expand(small - getattr(eliminated, name)) == sympy.zeros(len(stay))


def test_the_node_in_a_joint_does_not_move():
    robot = fa.Robot(links=[link("a", "Pb", bending(3), joint=touching("Pb"))])
    for k in range(4):
        form = fa.equations(robot, k={"a": k})
        kept = [j for j in range(1, 9) if (j - 1) // 2 != k]
        assert form.names == ("a.q", *(f"a.bend_y[{j}]" for j in kept))


def test_the_element_in_a_joint_does_not_move():
    """Section 4.3: the displacements of both of its nodes are zero."""
    robot = fa.Robot(links=[link("a", "Pb", bending(3), joint=touching("Pb", "element"))])
    for k in (1, 2, 3):
        form = fa.equations(robot, k={"a": k})
        kept = [j for j in range(1, 9) if (j - 1) // 2 not in (k - 1, k)]
        assert form.names == ("a.q", *(f"a.bend_y[{j}]" for j in kept))


def test_a_slide_follows_the_end_of_its_element():
    """Table 2: u_(i-1)(2k+1) and u_(i-1)(2k+2), of the distal node of element k."""
    robot = fa.Robot(links=[link("a", "R", bending(2)), link("b", "Pa", joint=touching("Pa", "element"))])
    for k in (1, 2):
        printed = turned(gamma2 + u(1, 2 * k + 2), d2, u(1, 2 * k + 1))
        assert all(sympy.expand(entry) == 0 for entry in fa.equations(robot, k={"b": k}).theta[1] - printed)
