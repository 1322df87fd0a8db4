"""Motion on constraints: closed forms, energies, reactions, stabilization."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.integrators.inputs import Schedule
from tests.helpers import unit_link

A, B, C, D = 0.2, 0.5, 0.4, 0.45  # crank, coupler, rocker, ground of a crank-rocker
TURN = {"crank": lambda t: 1.0 + 2 * np.pi * t}


def four_bar(fields=None, **changes) -> fa.Robot:
    fields = fields or {"mass": 1.0}
    links = [
        fa.Link("crank", A, **fields),
        fa.Link("coupler", B, **fields),
        fa.Link("rocker", C, parent="ground", offset=(D, 0, 0), **fields),
    ]
    return fa.Robot("four-bar", links=links, constraints=[fa.Loop("coupler", "rocker")], **changes)


def beam(E: float, damping: float = 0.0) -> dict:
    material = fa.Material(E, 2700, damping=damping)
    return {"section": fa.Section.rectangle(0.01, 0.02), "material": material, "flexible": fa.Flexible(bend_y=2)}


def angles(crank):
    """Coupler (against the crank) and rocker of the open four-bar, in closed form."""
    x, y = A * np.cos(crank) - D, A * np.sin(crank)
    rocker = np.arctan2(y, x) - np.arccos((x**2 + y**2 + C**2 - B**2) / (2 * C * np.hypot(x, y)))
    coupler = np.arctan2(C * np.sin(rocker) - y, C * np.cos(rocker) - x)
    return {"coupler.q": np.unwrap(coupler) - crank, "rocker.q": np.unwrap(rocker)}


def at(crank: float) -> dict:
    return {"crank.q": crank} | {name: float(value[0]) for name, value in angles(np.array([crank])).items()}


def run(robot, duration, **options) -> fa.Run:
    return fa.simulate(robot, duration, native=False, **options)


@pytest.fixture(scope="module")
def rigid() -> fa.System:
    return fa.System(four_bar(gravity=(0, -9.81, 0)), native=False)


# --- right ---


@pytest.mark.parametrize("method", ["generalized-alpha", "newmark", "rk4", "rk45"])
def test_driven_four_bar_follows_the_closed_form(rigid, method):
    found = run(rigid, 1.0, motion=TURN, q0=at(1.0), method=method)
    for name, exact in angles(found["crank.q"].values).items():
        assert_allclose(found[name].values, exact, atol=1e-8)
    assert found.data["violation"].values.max() < 1e-12


@pytest.mark.parametrize(("method", "error"), [("adams", 1e-6), ("bdf", 1e-5)])
def test_driven_four_bar_with_sundials(rigid, method, error):
    found = run(rigid, 1.0, motion=TURN, q0=at(1.0), method=method, rtol=1e-8)
    for name, exact in angles(found["crank.q"].values).items():
        assert_allclose(found[name].values, exact, atol=error)


@pytest.mark.slow
def test_a_thousand_revolutions_without_drift():
    found = fa.simulate(four_bar(), 1000.0, motion=TURN, q0=at(1.0), sample=0.1)
    assert found.reason == "completed"
    assert found.data["violation"].values.max() < 1e-9
    crank = found["crank.q"].values
    assert_allclose(np.cos(found["rocker.q"].values), np.cos(angles(crank)["rocker.q"]), atol=1e-8)


def test_slider_crank_in_the_rigid_limit():
    robot = fa.Robot(
        links=[fa.Link("crank", A, mass=1.0), fa.Link("rod", B, mass=1.0)], constraints=[fa.OnLine("rod", name="rail")]
    )
    start = {"crank.q": 1.0, "rod.q": -1.0 - np.arcsin(A / B * np.sin(1.0))}
    found = run(robot, 1.0, motion=TURN, q0=start)
    crank = found["crank.q"].values
    assert_allclose(found.tip.values[:, 0], A * np.cos(crank) + np.sqrt(B**2 - (A * np.sin(crank)) ** 2), atol=1e-8)
    assert_allclose(found.tip.values[:, 1], 0, atol=1e-12)
    assert found.data["row"].values.tolist() == ["rail.y"]


def test_a_stiff_four_bar_tends_to_the_rigid_one():
    """At the rate 1/E: undamped vibration included."""
    gaps = []
    for E in (1e11, 1e12, 1e13):
        motion = {"crank": fa.cycloid(1.0, 2.0, 1.0)}
        found = run(four_bar(beam(E)), 1.0, motion=motion, q0=at(1.0), sample=0.02, rtol=1e-6)
        q = found.data["q"].sel(coordinate="rocker.q").values
        gaps.append(np.abs(q - angles(found["crank.q"].values)["rocker.q"]).max())
    assert_allclose(np.log10(np.array(gaps[:-1]) / gaps[1:]), 1.0, atol=0.15)


@pytest.mark.parametrize("fields", [None, beam(1e9)], ids=["rigid", "flexible"])
def test_energy_of_a_swinging_loop_is_kept(fields):
    robot = four_bar(fields, gravity=(0, -9.81, 0))
    found = run(robot, 0.5, q0=at(1.0), method="rk45", rtol=1e-10, sample=0.01)
    total = found.energy["kinetic"].values.max()
    assert np.abs(found.energy["balance"].values).max() < 1e-8 * total
    assert found.data["violation"].values.max() < 1e-12


def test_energy_balance_of_a_driven_loop(rigid):
    """The actuator of the crank does all of the work; constraint forces do none."""
    found = run(rigid, 1.0, motion=TURN, q0=at(1.0), method="rk45", rtol=1e-9)
    assert np.abs(found.energy["balance"].values).max() < 1e-6 * np.abs(found.energy["work"].values).max()
    t, speed = found.time.values, 2 * np.pi
    power = found.torque.sel(input="crank").values * speed
    work = np.concatenate([[0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(t))])
    assert_allclose(found.energy["work"].values, work, atol=1e-3)


@pytest.mark.parametrize(("method", "order"), [("generalized-alpha", 2), ("newmark", 2), ("rk4", 4)])
def test_order_of_the_methods_on_constraints(rigid, method, order):
    exact = run(rigid, 0.4, q0=at(1.0), method="rk45", dt=1e-4, sample=0.1).data["q"].values[-1]
    ends = [run(rigid, 0.4, q0=at(1.0), method=method, dt=dt, sample=0.1) for dt in (4e-3, 2e-3, 1e-3)]
    errors = [np.abs(each.data["q"].values[-1] - exact).max() for each in ends]
    assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), order, atol=0.35)


def test_a_pendulum_on_a_tilted_plane_is_a_planar_one():
    """A spatial pendulum whose tip stays on a plane through its pivot swings as one about the normal."""
    tilt = 0.4
    normal = (0.0, -np.sin(tilt), np.cos(tilt))
    links = [
        fa.Link("yaw", 0.1, fa.Revolute("z"), hub=fa.PointMass(0.0, inertia=1e-9)),
        fa.Link("rod", 1.0, fa.Revolute("y"), payload=fa.PointMass(1.0), parent="yaw", at=0.0),
    ]
    robot = fa.Robot(links=links, gravity=(0, 0, -9.81), constraints=[fa.OnPlane("rod", normal=normal)])
    found = run(robot, 1.0, method="rk45", rtol=1e-9, sample=0.01)
    equal = fa.Robot(links=[fa.Link("rod", 1.0, payload=fa.PointMass(1.0))], gravity=(0, -9.81 * np.sin(tilt), 0))
    swing = run(equal, 1.0, method="rk45", rtol=1e-9, sample=0.01).tip.values
    assert_allclose(found.tip.values[:, 0], swing[:, 0], atol=1e-6)
    assert_allclose(found.tip.values[:, 2], swing[:, 1] * np.sin(tilt), atol=1e-6)


def test_accelerations_and_forces_solve_the_whole_system_of_equations():
    """Link by link with a Schur complement = the dense system, driven joint included."""
    fields = beam(1e9) | {"flexible": fa.Flexible(bend_y=2, bend_z=1, twist=1, stretch=1)}
    system = fa.System(four_bar(fields, gravity=(1, -9, 2)), native=False)
    schedule = Schedule(system, None, {"crank": lambda t: 1.0 + t + 2 * t**2}, ())
    plant = schedule.plant()
    rng = np.random.default_rng(0)
    sizes = np.array([0.1 if "[" not in name else 1e-4 for name in system.names])
    q = system.vector(at(1.0)) + rng.uniform(-1, 1, system.nq) * sizes
    v = rng.uniform(-1, 1, system.nq) * 10 * sizes
    u = schedule.inputs(np.array([0.0]))[0]
    q[0], v[0] = 1.0, 1.0
    a, _, _, forces = (part.full()[:, 0] for part in plant.start(q, v, u, 0, 0, system.numbers))
    assert a[0] == 4.0
    J, free, still = system.constraint_jacobian(q), plant.free, np.zeros(system.nq)
    step = 1e-5
    gamma = sum(s * system.constraint_jacobian(q + s * step * v) @ v for s in (1, -1)) / (2 * step)
    left = system.inverse_dynamics(q, v, a) + J.T @ forces
    assert_allclose(left[free], 0, atol=1e-9 * np.abs(system.inverse_dynamics(q, v, still)).max())
    assert_allclose(J @ a + gamma, 0, atol=1e-9 * (np.abs(J) @ np.abs(a)).max())


# --- reactions ---


def test_reaction_of_a_pinned_link_carries_half_of_its_weight():
    for fields in ({"mass": 2.0}, {"mass": 2.0, **beam(1e11), "flexible": fa.Flexible(bend_y=2, stretch=1)}):
        link = fa.Link("bar", 1.0, **fields)
        robot = fa.Robot(
            links=[link], gravity=(0, -9.81, 0), constraints=[fa.Loop("bar", "ground", position=(1, 0, 0), name="pin")]
        )
        if "flexible" not in fields:  # rigid: two equations for one coordinate
            robot = robot.with_(constraints=[fa.OnPlane("bar", normal="y", name="pin")])
        found = run(robot, 0.1, q0="equilibrium", sample=0.01)
        row = "pin.normal" if "flexible" not in fields else "pin.y"
        assert_allclose(found.data["reaction"].sel(row=row).values, 9.81, rtol=1e-3)
        units = dict(zip(found.data["row"].values.tolist(), found.data["row_unit"].values.tolist(), strict=True))
        assert units[row] == "N"


def floating_bar():
    """A bar on two slides without mass: free in its plane."""
    return [
        fa.Link("x", 1.0, fa.SlidingPrismatic(angle=np.pi / 2), offset=(0, -0.5, 0)),
        fa.Link("y", 0.1, fa.SlidingPrismatic(angle=-np.pi / 2)),
        fa.Link("bar", 1.0, mass=2.0, at=0.0),
    ]


def test_reaction_of_a_weld_carries_the_moment():
    """A bar that is held by the constraint alone: its weight and the moment of that."""
    weld = fa.Loop("bar", "ground", first_at=0.0, joint="weld", name="wall")
    robot = fa.Robot(links=floating_bar(), gravity=(0, -9.81, 0), constraints=[weld])
    found = run(robot, 0.1, q0={"y.q": 0.5}, sample=0.01)
    reaction = found.data["reaction"].values[-1]
    assert found.data["row"].values.tolist() == ["wall.x", "wall.y", "wall.rz"]
    assert_allclose(reaction, [0, 2.0 * 9.81, 2.0 * 9.81 * 0.5], atol=1e-6)
    assert found.data["row_unit"].values.tolist() == ["N", "N", "N m"]


def test_reaction_of_a_swinging_link_equals_that_of_its_own_joint():
    """A pendulum whose pivot is a constraint, floating on two slides without mass."""
    pin = fa.Loop("bar", "ground", first_at=0.0, name="pin")
    robot = fa.Robot(links=floating_bar(), gravity=(0, -9.81, 0), constraints=[pin])
    found = run(robot, 0.5, q0={"y.q": 0.5}, method="rk45", rtol=1e-9, sample=0.01)
    q = found["bar.q"].values
    speed, spin = found.data["v"].sel(coordinate="bar.q").values, -1.5 * 9.81 * np.cos(q)
    centre = 0.5 * np.stack([-np.cos(q) * speed**2 - np.sin(q) * spin, -np.sin(q) * speed**2 + np.cos(q) * spin])
    assert_allclose(found.data["reaction"].values, 2.0 * (centre.T + np.array([0, 9.81])), atol=1e-5)


# --- stabilization ---


def drift(rigid, duration, **options):
    found = run(rigid, duration, motion=TURN, q0=at(1.0), dt=5e-3, **options)
    return found.data["violation"].values


def test_baumgarte_bounds_the_drift_that_grows_without(rigid):
    free = fa.Baumgarte(0.0, 0.0)  # what an iteration leaves of the accelerations adds up, too
    loose = drift(rigid, 10.0, method="newmark", stabilization=free, rtol=1e-8)
    papers = drift(rigid, 10.0, method="newmark-baumgarte")
    assert_allclose(loose[-1] / loose[100], 10, rtol=0.05)  # in proportion to time
    assert papers[500:].max() < 2 * papers[:500].max() < 1e-3
    assert papers.max() < 0.05 * loose.max()
    stiffer = drift(rigid, 10.0, method="newmark", stabilization=fa.Baumgarte(50.0, 50.0))
    assert stiffer.max() < 0.5 * papers.max()
    assert drift(rigid, 10.0).max() < 1e-12


def test_newmark_baumgarte_without_constraints_is_newmark():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)], gravity=(0, -9.81, 0))
    one, other = (run(robot, 0.2, method=name).tip.values for name in ("newmark", "newmark-baumgarte"))
    assert_allclose(one, other, atol=0)


def test_a_constraint_that_says_nothing_changes_nothing():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)], gravity=(0, -9.81, 0))
    flat = robot.with_(constraints=[fa.OnPlane("rod", normal="z")])
    one, other = (run(each, 0.2).tip.values for each in (robot, flat))
    assert_allclose(one, other, atol=0)
    assert len(fa.modes(flat)) == 1


def test_a_jump_of_a_driven_speed_leaves_the_loop_closed(rigid):
    motion = {"crank": fa.ramp(1.0, 2.0, 0.1, 0.3)}
    found = run(rigid, 0.5, motion=motion, q0=at(1.0))
    assert found.data["violation"].values.max() < 1e-12
    assert_allclose(found["rocker.q"].values[-1], at(2.0)["rocker.q"], atol=1e-9)
    assert_allclose(found.data["v"].values[-1], 0, atol=1e-9)


# --- supports ---


def test_a_propped_beam_on_a_support_sags_as_in_the_books():
    link = unit_link("beam", joint="weld", flexible=fa.Flexible(bend_y=8, basis="elements", stiffening="none"))
    robot = fa.Robot(
        links=[link], gravity=(0, -1e-3, 0), constraints=[fa.PointSupport("beam", (1.0, 0, 0), name="prop")]
    )
    found = run(robot, 0.02, q0="equilibrium", sample=0.01, dt=1e-3)
    assert_allclose(found.data["reaction"].sel(row="prop.y").values, 3 / 8 * 1e-3, rtol=1e-4)


def test_a_beam_that_is_pushed_over_two_supports():
    """Statics before and after a slow push: moments about the supports, whatever the beam's bending."""
    slides = floating_bar()[:2]
    beam_link = fa.Link("beam", 1.0, at=0.0, mass=1.0, **beam(7e10, damping=1e-3))
    supports = [fa.PointSupport("beam", (x, 0, 0), name=name) for name, x in (("left", 0.3), ("right", 0.55))]
    robot = fa.Robot(links=[*slides, beam_link], gravity=(0, -9.81, 0), constraints=supports)
    start = fa.equilibrium(fa.System(robot, native=False), {"y.q": 0.5})
    found = run(robot, 1.0, q0=start, motion={"x": fa.cycloid(0.0, -0.1, 0.5)})
    reaction = found.data["reaction"].values
    assert_allclose(reaction[0], [0.2 * 9.81, 0.8 * 9.81], rtol=1e-3)
    assert_allclose(reaction[-1], [0.6 * 9.81, 0.4 * 9.81], rtol=1e-3)
    assert found.data["violation"].values.max() < 1e-12


def test_a_link_that_slides_off_its_support_ends_the_run():
    links = [fa.Link("slide", 1.0, fa.SlidingPrismatic(), mass=1.0), fa.Link("bar", 1.0, mass=1.0, at=0.0)]
    robot = fa.Robot(links=links, constraints=[fa.PointSupport("bar", (1.5, 0, 0), name="roll")])
    with pytest.warns(fa.ValidityWarning, match="link 'bar' slid off its support 'roll' at t = 0.5"):
        found = run(robot, 1.0, q0={"slide.q": 1.0}, motion={"slide": lambda t: 1.0 - t})
    assert_allclose(found.time.values[-1], 0.5, atol=1e-6)


# --- said ---


def test_an_initial_state_off_the_constraints_is_moved_and_reported(rigid):
    with pytest.warns(
        fa.ValidityWarning, match=r"q0 does not satisfy the constraints .* 'rocker.q' most, by 0.0956 rad to 1.2956"
    ):
        run(rigid, 0.01, motion={"crank": 1.0}, q0=at(1.0) | {"rocker.q": 1.2})
    with pytest.warns(fa.ValidityWarning, match=r"v0 does not satisfy .* rad/s"):
        run(rigid, 0.01, q0=at(1.0), v0={"crank.q": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(rigid, 0.01, motion=TURN, q0=at(1.0))


def test_a_mechanism_that_locks_says_so():
    """A crank that is driven further than the coupler reaches."""
    links = [fa.Link("crank", 0.5, mass=1.0), fa.Link("coupler", 0.3, mass=1.0)]
    links.append(fa.Link("rocker", 0.3, mass=1.0, parent="ground", offset=(0.6, 0, 0)))
    robot = fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")])
    with pytest.warns(fa.ValidityWarning, match=r"nearly singular there: 'loop\[0\]' cannot be held"):
        found = run(
            robot, 1.0, motion={"crank": lambda t: 2 * np.pi * t}, q0={"coupler.q": 1.40335, "rocker.q": 1.73824}
        )
    reach = np.arccos((0.5**2 + 0.6**2 - 0.6**2) / (2 * 0.5 * 0.6))  # coupler and rocker in line
    assert_allclose(2 * np.pi * found.time.values[-1], reach, atol=0.02)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"stabilization": "none"}, "stabilization = 'none': must be 'projection' or fa.Baumgarte"),
        ({"motion": {"crank": 1.0, "rocker": 1.0}}, "2 equations for 1 free coordinates, 1 too many"),
    ],
)
def test_wrong_options_are_sentences(rigid, options, expected):
    with pytest.raises(ValueError, match=expected):
        run(rigid, 0.1, **options)
    with pytest.raises(ValueError, match="Baumgarte: gamma = -1"):
        fa.Baumgarte(-1)


def test_results_survive_files(rigid, tmp_path):
    found = run(rigid, 0.1, motion=TURN, q0=at(1.0))
    found.save(tmp_path / "loop.nc")
    again = fa.Run.load(tmp_path / "loop.nc")
    assert_allclose(again.data["reaction"].values, found.data["reaction"].values)
    assert again.robot == found.robot
    assert again.options["stabilization"] == "'projection'"
    found.to_csv(tmp_path / "loop.csv")
    assert "reaction.loop[0].x" in (tmp_path / "loop.csv").read_text().splitlines()[0]
