"""Constraint equations, closing, equilibrium and modes on constraints."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics.constraints.initial_projection import Assembly
from tests.helpers import unit_link

SOFT = {
    "section": fa.Section.rectangle(0.01, 0.02),
    "material": fa.Material(7e10, 2700),
    "flexible": fa.Flexible(bend_y=2, bend_z=1, twist=1, stretch=1),
}


def spatial(*constraints) -> fa.System:
    links = [
        fa.Link("a", 0.6, fa.Revolute("z"), **SOFT),
        fa.Link("b", 0.5, fa.Revolute("y", mount=(0.3, 0, 0)), **SOFT),
        fa.Link("c", 0.7, fa.Revolute("x"), parent="ground", offset=(0.3, 0.2, 0), **SOFT),
    ]
    return fa.System(fa.Robot(links=links, constraints=constraints), native=False)


def planar(*constraints, links=None, **fields) -> fa.System:
    links = links or [fa.Link("a", 0.6, mass=1.0), fa.Link("b", 0.5, mass=1.0)]
    return fa.System(fa.Robot(links=links, constraints=constraints, **fields), native=False)


# --- equations ---


@pytest.mark.parametrize(
    "constraint",
    [
        fa.Loop("b", "c", axis=(1.0, 2.0, -1.0), mount=(0.1, 0.2, 0.3)),
        fa.Loop("b", "c", second_at=0.3, joint="weld", mount=(0.1, 0.2, 0.3)),
        fa.Loop("b", "ground", position=(0.3, 0.2, 0.1)),
        fa.OnLine("b", at=0.2, point=(0.1, 0, 0), direction=(1, 2, 3)),
        fa.OnPlane("c", normal=(1, 2, 3)),
        fa.PointSupport("b", (0.9, 0.1, 0.05)),
    ],
)
def test_jacobian_and_quadratic_part_are_derivatives(constraint):
    system = spatial(constraint)
    rng, n = np.random.default_rng(1), system.nq
    q, v, a = rng.uniform(-1, 1, (3, n)) * np.array([0.3 if "[" not in name else 0.02 for name in system.names])
    step = 1e-6
    along = [system.constraint(q + s * v) for s in (-step, step)]
    assert_allclose(system.constraint_jacobian(q) @ v, (along[1] - along[0]) / (2 * step), atol=1e-8)
    e, rows = system.equations, system.structure.constraints
    second = ca.Function("second", [e.q, e.v, e.a, e.p], [rows.acceleration])(q, v, a, system.numbers).full()[:, 0]
    h = 1e-4
    path = [system.constraint(q + t * v + t**2 / 2 * a) for t in (-h, 0, h)]
    assert_allclose(second, (path[0] - 2 * path[1] + path[2]) / h**2, rtol=1e-6, atol=1e-6)


def test_rows_and_their_names():
    assert spatial(fa.Loop("b", "c")).constraints == tuple(f"loop[0].{row}" for row in ("x", "y", "z", "rx", "ry"))
    assert spatial(fa.Loop("b", "c", joint="weld", name="end")).constraints == tuple(
        f"end.{row}" for row in ("x", "y", "z", "rx", "ry", "rz")
    )
    assert spatial(fa.OnLine("b", direction="y"), fa.OnPlane("b", at=0.1)).constraints == (
        "on-line[0].x",
        "on-line[0].z",
        "on-plane[1].normal",
    )
    assert spatial().constraints == ()
    assert spatial().constraint(np.zeros((4, 18))).shape == (4, 0)


def test_what_a_planar_robot_cannot_violate_is_left_out():
    assert planar(fa.Loop("b", "ground", position=(0.5, 0.2, 0))).constraints == ("loop[0].x", "loop[0].y")
    weld = fa.Loop("b", "ground", joint="weld", position=(0.5, 0.2, 0))
    assert planar(weld).constraints == ("loop[0].x", "loop[0].y", "loop[0].rz")
    assert planar(fa.PointSupport("b", (0.8, 0, 0))).constraints == ("point-support[0].y",)
    assert planar(fa.OnLine("b", direction=(1, 1, 0))).constraints == ("on-line[0].1",)


def test_rows_of_a_robot_in_a_plane_askew_are_turned_into_it():
    base = fa.Pose((0, 0, 0), (0.3, 0.2, 0.1))
    goal = np.array(base.matrix) @ (0.5, 0.2, 0)
    flat = planar(fa.Loop("b", "ground", position=(0.5, 0.2, 0)))
    askew = planar(fa.Loop("b", "ground", position=goal, axis="z", mount=np.array(base.matrix).T), base=base)
    assert askew.constraints == ("loop[0].1", "loop[0].2")
    q = np.array([0.3, 0.4])
    assert_allclose(np.linalg.norm(askew.constraint(q)), np.linalg.norm(flat.constraint(q)), rtol=1e-12)


def test_a_loop_out_of_the_plane_of_motion_cannot_close():
    with pytest.raises(ValueError, match=r"'loop\[0\]' cannot close: its two sides stay 0.1 m apart in a direction"):
        _ = planar(fa.Loop("b", "ground", position=(0.5, 0.2, 0.1))).constraints
    with pytest.raises(ValueError, match="out of line in a direction in which the robot cannot move"):
        _ = planar(fa.Loop("b", "ground", position=(0.5, 0.2, 0), mount=(0.5, 0, 0))).constraints


# --- closing ---


def test_the_nearest_closed_state_holds_what_is_held():
    system = planar(fa.Loop("b", "c"), links=four_bar_links())
    q, v = Assembly(system, [0]).state(np.array([1.0, -0.5, 1.5]), np.array([2.0, 0.0, 0.0]))
    assert q[0] == 1.0
    assert v[0] == 2.0
    assert_allclose(system.constraint(q), 0, atol=1e-12)
    assert_allclose(system.constraint_jacobian(q) @ v, 0, atol=1e-12)


def test_joints_close_a_loop_rather_than_links_bend():
    system = planar(fa.Loop("b", "c"), links=four_bar_links(**SOFT | {"flexible": fa.Flexible(bend_y=2)}))
    q = Assembly(system, []).posture(system.vector({"a.q": 1.0, "b.q": -0.5, "c.q": 1.5}))
    assert np.abs(q[[k for k, name in enumerate(system.names) if "[" in name]]).max() < 1e-4


def four_bar_links(**fields):
    fields = fields or {"mass": 1.0}
    return [
        fa.Link("a", 0.2, **fields),
        fa.Link("b", 0.5, **fields),
        fa.Link("c", 0.4, parent="ground", offset=(0.45, 0, 0), **fields),
    ]


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        ([fa.Loop("b", "ground", position=(3, 0, 0))], r"'loop\[0\]' cannot close: a gap of 2.3 m remains"),
        (
            [fa.OnLine("b", point=(0, 0.1, 0)), fa.OnLine("b", point=(0, 0.12, 0))],
            r"'on-line\[0\]' and 'on-line\[1\]' contradict each other: a gap of 0.01 m remains",
        ),
        (
            [fa.OnLine("b", point=(0, 0.1, 0)), fa.OnLine("b", point=(1, 0.1, 0), name="again")],
            r"redundant constraints 'on-line\[0\]' and 'again': 1 of their equations repeat others",
        ),
        (
            [fa.Loop("b", "c"), fa.Loop("c", "b", name="again")],
            r"redundant constraints 'loop\[0\]' and 'again': 4 equations for 3 free coordinates, 1 too many",
        ),
        (
            [fa.PointSupport("b", (1.5, 0.2, 0), name="roll")],
            "the support 'roll' is not on link 'b' at the start: it stands 1.4",
        ),
    ],
)
def test_constraints_that_cannot_be_met(constraints, expected):
    system = planar(*constraints, links=four_bar_links())
    with pytest.raises(ValueError, match=expected):
        Assembly(system, []).posture(np.array([1.0, -0.7, 1.3]))


def test_a_posture_that_is_singular_is_told_from_redundant_constraints():
    system = planar(fa.OnLine("b", point=(0.7, 0, 0), direction="y"), links=four_bar_links())
    with pytest.raises(ValueError, match=r"is singular: to first order no free coordinate moves 'on-line\[0\].x'"):
        Assembly(system, []).posture(np.zeros(3))
    parallelogram = [
        fa.Link("a", 0.2, mass=1.0),
        fa.Link("b", 0.4, mass=1.0),
        fa.Link("c", 0.2, mass=1.0, parent="ground", offset=(0.4, 0, 0)),
    ]
    with pytest.raises(ValueError, match=r"is singular: the equations 'loop\[0\].y' constrain|is singular"):
        Assembly(planar(fa.Loop("b", "c"), links=parallelogram), []).posture(np.zeros(3))
    third = fa.Link("d", 0.2, mass=1.0, parent="ground", offset=(0.2, 0, 0))
    twice = planar(fa.Loop("b", "c"), fa.Loop("d", "b", second_at=0.2), links=[*parallelogram, third])
    with pytest.raises(ValueError, match=r"redundant constraints 'loop\[0\]' and 'loop\[1\]': 1 of their"):
        Assembly(twice, []).posture(np.array([1.0, -1.0, 1.0, 1.0]))


# --- equilibrium and modes ---


def halves(elements: int, **fields) -> fa.Robot:
    """Two cantilevers that meet in the middle, each half of a clamped-clamped beam."""
    half = {"length": 0.5, "flexible": fa.Flexible(bend_y=elements, stretch=1, basis="elements")}
    other = unit_link("b", **half, joint=fa.Weld((0, 0, np.pi)), parent="ground", offset=(1, 0, 0))
    loop = fa.Loop("a", "b", joint="weld", mount=(0, 0, np.pi))
    return fa.Robot(links=[unit_link("a", **half, joint="weld"), other], constraints=[loop], **fields)


def test_welded_halves_vibrate_as_one_clamped_beam():
    found = 2 * np.pi * fa.modes(halves(6)).frequencies
    for exact in (22.373285, 61.672823):  # roots of cos(bL) cosh(bL) = 1, squared
        assert np.abs(found / exact - 1).min() < 2e-4


def test_a_propped_cantilever():
    beam = unit_link("a", joint="weld", flexible=fa.Flexible(bend_y=8, basis="elements"))
    found = fa.modes(fa.Robot(links=[beam], constraints=[fa.OnPlane("a", normal="y")]))
    assert_allclose(2 * np.pi * found.frequencies[:2], [15.418206, 49.964862], rtol=6e-4)
    assert_allclose(found.shapes[[k for k, name in enumerate(found.names) if name == "a.bend_y[15]"]], 0, atol=1e-12)


def test_static_deflection_of_welded_halves():
    system = fa.System(halves(2, gravity=(0, -1e-3, 0)), native=False)
    q = fa.equilibrium(system)
    assert_allclose(system.tip(q, "a")[1], -1e-3 / 384, rtol=1e-5)  # mu g L^4 / (384 EI)
    assert_allclose(system.constraint(q), 0, atol=1e-14)


def test_small_swings_of_a_hanging_parallelogram():
    """All of its mass moves as that of a mathematical pendulum."""
    links = [
        fa.Link("a", 0.5, payload=fa.PointMass(1.0)),
        fa.Link("b", 0.3, mass=2.0),
        fa.Link("c", 0.5, parent="ground", offset=(0.3, 0, 0), payload=fa.PointMass(1.0)),
    ]
    system = planar(fa.Loop("b", "c"), links=links, gravity=(0, -9.81, 0))
    hang = {"a.q": -np.pi / 2, "b.q": np.pi / 2, "c.q": -np.pi / 2}
    found = fa.modes(system, hang)
    assert_allclose(2 * np.pi * found.frequencies, [np.sqrt(9.81 / 0.5)], rtol=1e-10)
    assert found.imbalance < 1e-12
    with pytest.raises(ValueError, match="in steady rotation"):
        fa.modes(system, hang, v={"a.q": 1.0})
    assert len(fa.modes(system, hang, joints={"a": "locked"})) == 0


def test_equilibrium_holds_the_crank_and_lets_the_loop_sag():
    links = four_bar_links(**SOFT | {"flexible": fa.Flexible(bend_y=2)})
    system = planar(fa.Loop("b", "c"), links=links, gravity=(0, -9.81, 0))
    q = fa.equilibrium(system, {"a.q": 1.0, "b.q": -0.5, "c.q": 1.5})
    assert q[0] == 1.0
    assert_allclose(system.constraint(q), 0, atol=1e-13)
    run = fa.simulate(system, 0.2, q0=q, motion={"a": 1.0}, native=False, sample=0.01)
    assert np.abs(run.data["q"].values - q).max() < 1e-7


@pytest.mark.parametrize("forces", ["text", None, 1.0, [1.0, 2.0], [float("nan")], [1j], ["a"]])
def test_constraint_forces_are_as_many_numbers_as_rows(forces):
    link = fa.Link("a", 1.0, mass=1.0)
    system = fa.System(
        fa.Robot(links=[link], constraints=[fa.OnPlane("a", point=(0, 0.5, 0), normal="y")]), native=False
    )
    with pytest.raises(ValueError, match="forces = "):
        system.constraint_stiffness([0.5], forces)
