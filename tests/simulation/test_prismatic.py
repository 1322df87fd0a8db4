"""Motions with prismatic joints: against references computed independently, driven, free, from node to node."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import table, unit_link
from tests.sliders import BAR, SOFT, joint, pair

FORCE = 0.01  # of the reference's unit force, so that deflections stay small


def run(robot, duration, **options) -> fa.Run:
    return fa.simulate(robot, duration, native=False, **options)


def column(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in rows])


# --- loads that move along a cantilever ---


def moving_load(mass: float, speed: float, flexible: fa.Flexible, contact: str = "continuous", **options) -> fa.Run:
    """A rider at constant speed from the root to the tip of a unit cantilever, pushed down by FORCE."""
    beam = unit_link("beam", joint=fa.Weld(), flexible=flexible)
    hub = fa.PointMass(mass) if mass else None
    rider = fa.Link("rider", 0.1, fa.SlidingPrismatic(contact=contact), hub=hub)
    return run(
        fa.Robot(links=[beam, rider]),
        1 / speed,
        motion={"rider": fa.ramp(0.0, 1.0, 0.0, 1 / speed)},
        loads=[fa.PointLoad("rider", 0.0, force=(0, -FORCE, 0))],
        points={"tip": ("beam", 1.0), "under": ("rider", 0.0)},
        sample=0.05 / speed,
        **options,
    )


def deflections(found: fa.Run) -> np.ndarray:
    """(time, tip and under the load), for a unit force."""
    return found.data["points"].values[:, :, 1] / FORCE


@pytest.mark.parametrize("speed", [0.25, 0.5, 1, 2])
def test_a_force_that_moves_along_a_cantilever(speed):
    rows = table("moving_force_cantilever.csv")
    expected = -np.stack([column(rows, f"w_{where}_v={speed:g}") for where in ("tip", "under")], axis=1)
    found = moving_load(0.0, speed, fa.Flexible(bend_y=8, stiffening="none"), rtol=1e-6)
    assert_allclose(found.time.values[1:] * speed, column(rows, "vt/L"), atol=1e-9)
    assert_allclose(deflections(found)[1:], expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize(("mass", "speed"), [(0.2, 0.5), (0.5, 0.5), (0.5, 1), (1, 1)])
def test_a_mass_that_moves_along_a_cantilever(mass, speed):
    """With all convective terms."""
    rows = table("moving_mass_cantilever.csv")
    key = f"mu={mass:g}_v={speed:g}"
    expected = np.stack([column(rows, f"w_{where}_{key}") for where in ("tip", "under")], axis=1)
    found = moving_load(mass, speed, fa.Flexible(bend_y=8, stiffening="none"), rtol=1e-6)
    assert_allclose(found.time.values * speed, column(rows, "vt/L"), atol=1e-9)
    assert_allclose(deflections(found), expected, atol=1e-3 * np.abs(expected).max())
    assert np.abs(found.energy["balance"].values).max() < 1e-3 * np.abs(found.energy["work"].values).max()


# --- a link that slides out of its guide or into it (link 2 of C_RPb of My et al.) ---

LENGTH = 0.8
BLADE = fa.Section.properties(A=4.5e-5, I_y=8.4375e-12, I_z=8.4375e-12, J=1.7e-11, I_p=1.7e-11)
MOTIONS = {
    "ext_const": (fa.ramp(0.4, 0.8, 0.0, 4.0), 0.1),
    "ret_const": (fa.ramp(0.8, 0.4, 0.0, 4.0), -0.1),
    "ext_cyc": (fa.cycloid(0.4, 0.8, 2.0), 0.0),
    "ret_cyc": (fa.cycloid(0.8, 0.4, 2.0), 0.0),
}


def blade(stiffening: str, payload: float) -> fa.System:
    link = fa.Link(
        "b",
        LENGTH,
        fa.FixedPrismatic(rear="rigid"),
        BLADE,
        fa.Material(2e10, 7850),
        fa.Flexible(bend_y=8, basis=fa.Modes(tip_mass=payload), stiffening=stiffening),
        payload=fa.PointMass(payload) if payload else None,
    )
    return fa.System(fa.Robot(links=[link]), native=False)


def static_shape(system: fa.System, d: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q, v of w = 0.01 (6 xi^2 - 4 xi^3 + xi^4)/3 whose material does not move across: 0 = N deta + (rate/d)(1 - xi) N'
    eta, both projected on the modes."""
    shapes = system._chain.bodies[0].integrals.shapes["bend_y"]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    xi, root = (nodes + 1) / 2, np.sqrt(weights)
    N, slope = shapes(xi * LENGTH), shapes.derivative()(xi * LENGTH) * LENGTH

    def projected(values: np.ndarray) -> np.ndarray:
        return np.linalg.lstsq(root[:, None] * N, root * values, rcond=None)[0]

    eta = projected(0.01 * (6 * xi**2 - 4 * xi**3 + xi**4) / 3)
    return np.array([d, *eta]), np.array([rate, *projected(-(rate / d) * (1 - xi) * (slope @ eta))])


@pytest.mark.parametrize(
    ("name", "stiffening", "suffix"),
    [
        ("ext_const", "shortening", ""),
        ("ret_const", "shortening", ""),
        ("ext_cyc", "shortening", "_axial"),
        ("ext_cyc", "none", "_noaxial"),
        ("ret_cyc", "shortening", "_axial"),
        ("ret_cyc", "none", "_noaxial"),
    ],
)
@pytest.mark.parametrize("payload", ["0", "0.1"])
def test_a_link_that_slides_through_its_guide(name, stiffening, suffix, payload):
    rows = table(f"prismatic_{name}.csv")
    motion, rate = MOTIONS[name]
    system = blade(stiffening, float(payload))
    q, v = static_shape(system, motion(0.0), rate)
    found = run(system, 4.0, motion={"b": motion}, q0=q, v0=v, sample=0.1, rtol=1e-6)
    assert_allclose(found.time.values, column(rows, "t"), atol=1e-9)
    assert_allclose(found["b.q"].values, column(rows, "l"), atol=1e-9)
    key = f"Mt={payload}{suffix}"
    tip, slope = column(rows, f"w_tip_{key}"), column(rows, f"slope_tip_{key}")
    turned = found.data["tip_rotation"].values
    assert_allclose(found.tip.values[:, 1], tip, atol=5e-3 * np.abs(tip).max())
    # modes that know of the payload; those of a free tip reach 1.1 % in slope
    assert_allclose(np.arctan2(turned[:, 1, 0], turned[:, 0, 0]), slope, atol=5e-3 * np.abs(slope).max())
    energy = column(rows, f"energy_{key}")
    if stiffening == "none" and name.endswith("cyc"):
        bent = found.energy["elastic"].values[-1] + found.energy["kinetic"].values[-1]  # at the end the slide stands
        assert bent == pytest.approx(energy[-1], rel=2e-2)


def test_the_two_models_of_a_slide_differ_by_what_the_references_differ():
    rows = table("prismatic_ext_cyc.csv")
    motion, rate = MOTIONS["ext_cyc"]
    found = []
    for stiffening in ("shortening", "none"):
        system = blade(stiffening, 0.0)
        q, v = static_shape(system, 0.4, rate)
        found.append(run(system, 4.0, motion={"b": motion}, q0=q, v0=v, sample=0.1, rtol=1e-6).tip.values[:, 1])
    expected = column(rows, "w_tip_Mt=0_axial") - column(rows, "w_tip_Mt=0_noaxial")
    assert np.abs(expected).max() > 2e-4
    assert_allclose(found[0] - found[1], expected, atol=0.02 * np.abs(expected).max())


# --- driven and free ---


@pytest.mark.parametrize("other", ["Pa", "Pb"])
def test_forces_of_a_driven_slide_reproduce_its_motion(other):
    system = fa.System(pair("R", other, gravity=(0, -0.5, 0)), native=False)
    motion = {"a": fa.cycloid(0.0, 0.1, 0.4), "b": fa.cycloid(0.6, 0.5, 0.4)}
    options = {"method": "rk45", "sample": 5e-4}
    driven = run(system, 0.4, motion=motion, rtol=1e-8, **options)
    assert_allclose(driven["b.q"].values, motion["b"](driven.time.values), atol=1e-12)
    t = driven.time.values
    forces = {name: fa.table({"t": t, "tau": driven.torque.sel(input=name).values}) for name in ("a", "b")}
    free = run(system, 0.4, torque=forces, q0={"b.q": 0.6}, rtol=1e-8, **options)
    for name in ("a.q", "b.q", "a.bend_y[1]", "b.bend_y[1]"):
        assert_allclose(free[name].values, driven[name].values, atol=2e-5)
    work = driven.energy["work"].values
    assert_allclose(free.energy["work"].values, work, atol=1e-3 * np.abs(work).max())


def slide(other: str, method: str, rtol: float, sample: float = 0.2 / 250) -> fa.Run:
    """Links swing in a weak field and slide on each other; after a while the second one leaves the first."""
    robot = pair("R", other, gravity=(0, -0.5, 0))
    start = {"q0": {"a.q": -0.2, "b.q": 0.5}, "v0": {"b.q": -0.1}}
    return run(robot, 0.2, method=method, rtol=rtol, sample=sample, **start)


@pytest.mark.parametrize("other", ["Pa", "Pb"])
def test_methods_agree_on_a_free_slide(other):
    exact = slide(other, "rk45", 1e-9)
    assert np.ptp(exact["b.q"].values) > 0.01
    for method, rtol in (("generalized-alpha", 1e-6), ("newmark", 1e-6), ("adams", 1e-8), ("bdf", 1e-8)):
        found = slide(other, method, rtol)
        assert_allclose(found.tip.values, exact.tip.values, atol=1e-5)
        assert_allclose(found["b.q"].values, exact["b.q"].values, atol=1e-5)


def test_a_sundials_method_ends_where_the_run_ends():
    start = {"q0": {"b.q": 0.6, "b.bend_y[1]": 1e-4}, "v0": {"b.q": -5.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(blade("none", 0.0), 0.05, method="adams", rtol=1e-6, sample=0.005, **start).reason == "completed"


@pytest.mark.parametrize("kind", ["Pa", "Pb"])
def test_a_straight_link_falls_along_its_axis(kind):
    """Through its guide, or as a slider along a hanging link: d = d0 + g t^2 / 2."""
    flexible = fa.Flexible(bend_y=3)
    a = fa.Link("a", 1.0, fa.Weld(), BAR, SOFT, flexible)
    b = fa.Link("b", 0.8, joint(kind), BAR, SOFT, flexible)
    found = run(fa.Robot(links=[a, b], gravity=(9.81, 0, 0)), 0.2, q0={"b.q": 0.4}, method="rk45", rtol=1e-9)
    t = found.time.values
    assert_allclose(found["b.q"].values, 0.4 + 9.81 * t**2 / 2, atol=1e-9)
    assert np.abs(found["b.bend_y[1]"].values).max() < 1e-9


def test_a_bent_link_pushes_itself_out_of_its_guide():
    """It would rather stick out further, where it is softer: the force on d at rest is 3 U / d."""
    system = blade("none", 0.0)
    q = system.vector({"b.q": 0.5, "b.bend_y[1]": 2e-3})
    push = -system.spring_forces(q)[0]
    assert push == pytest.approx(3 * system.energy(q).elastic / 0.5, rel=1e-12)
    found = run(system, 0.3, q0=q, method="rk45", rtol=1e-8)
    assert found["b.q"].values[-1] > 0.50005


def test_a_slide_stops_at_the_end_of_its_link():
    with pytest.warns(fa.ValidityWarning, match=r"'b.q' reached its upper limit 0.792 m at t = "):
        found = run(pair("R", "Pb"), 1.0, q0={"b.q": 0.6}, v0={"b.q": 0.5})
    assert found["b.q"].values[-1] == pytest.approx(0.792, abs=1e-6)


# --- from node to node ---


def meshed(elements: int, mass: float = 0.0, speed: float = 1.0, contact: str = "nodal", **options) -> fa.Run:
    flexible = fa.Flexible(bend_y=elements, basis="elements", stiffening="none")
    return moving_load(mass, speed, flexible, contact=contact, **options)


@pytest.mark.parametrize(("contact", "order", "last"), [("nodal", 1.5, 1e-3), ("element", 0.9, 0.05)])
def test_a_force_from_node_to_node_tends_to_one_that_moves(contact, order, last):
    """Measured with 4, 8, 16, 32 elements. Nearest nodes: 6.1e-2, 9.2e-3, 1.1e-3, 4.7e-4 of the largest deflection,
    order 2.3 on the whole, though not evenly: which modes the jumps excite depends on their timing. Ends of elements,
    where the force is half an element ahead in the mean: 0.39, 0.18, 0.087, 0.043, order 1.1. The energy balance stays
    closed to 1e-4 of the work, since a force that jumps does work only on what moves."""
    exact = deflections(moving_load(0.0, 1.0, fa.Flexible(bend_y=10, stiffening="none"), rtol=1e-6))[:, 0]
    errors = []
    for elements in (4, 8, 16, 32):
        found = meshed(elements, contact=contact, dt=1e-3)
        errors.append(np.abs(deflections(found)[:, 0] - exact).max() / np.abs(exact).max())
        balance = np.abs(found.energy["balance"].values).max()
        assert balance < 3e-4 * np.abs(found.energy["work"].values).max()
    assert (np.diff(errors) < 0).all()
    assert np.log2(errors[0] / errors[-1]) / 3 > order
    assert errors[-1] < last


def test_a_mass_from_node_to_node_tends_to_one_that_moves_only_if_it_is_slow():
    """A node carries the mass without its convective velocity d' w'. Measured with mass 0.2 and 4, 8, 16, 32 elements:
    38, 19, 7, 3 % of the largest deflection at the speed 0.05, but 8, 20, 12, 12 % at the speed 1."""
    errors = {}
    for speed, elements in ((0.05, 4), (0.05, 16), (1.0, 16)):
        exact = deflections(moving_load(0.2, speed, fa.Flexible(bend_y=6, stiffening="none"), rtol=1e-5))[:, 0]
        found = meshed(elements, mass=0.2, speed=speed, dt=2e-3)
        assert found.reason == "completed"
        errors[speed, elements] = np.abs(deflections(found)[:, 0] - exact).max() / np.abs(exact).max()
    assert errors[0.05, 16] < errors[0.05, 4] / 4
    assert errors[1.0, 16] > 0.1
