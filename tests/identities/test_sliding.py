"""What must hold for robots with prismatic joints on flexible links: energy, momentum, limits, damping."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.dynamics.test_equations import lagrange
from tests.helpers import more_nodes, omega
from tests.sliders import BAR, GAMMA, PAIRS, RATE, SOFT, START, WIDE, Points, pair, scattered, spatial_pair

STIFFENINGS = ["none", "shortening", "exact"]
SLIDERS = [("R", "Pa"), ("R", "Pb"), ("Pb", "Pa")]


def drift(robot: fa.Robot, duration: float) -> float:
    """Largest change of the total energy in a free motion, as a fraction of the energy that moves."""
    system = fa.System(robot, native=False)
    kinds = [{"revolute": "R", "sliding-prismatic": "Pa"}.get(link.joint.type, "Pb") for link in robot.links]
    q = {f"{name}.q": START[kind][k] for k, (name, kind) in enumerate(zip("ab", kinds, strict=True))}
    v = {f"{name}.q": RATE[kind][k] for k, (name, kind) in enumerate(zip("ab", kinds, strict=True))}
    for name, size in (("a.bend_y[1]", 4e-3), ("b.bend_y[1]", -3e-3), ("a.bend_z[1]", 3e-3), ("b.bend_z[1]", 2e-3)):
        if name in system.names:
            q[name] = size
            if (rear := name.replace(".", ".rear.")) in system.names:
                q[rear] = -size / 2
    run = fa.simulate(system, duration, q0=q, v0=v, method="rk45", rtol=1e-11, sample=duration / 20)
    assert run.reason == "completed"
    for name in q:
        assert np.ptp(run[name].values) > 1e-3  # everything moves
    if kinds == ["Pb", "Pa"]:
        assert (run["b.q"].values > robot.links[0].length - run["a.q"].values).all()
    total = sum(run.energy[name].values for name in ("kinetic", "elastic", "gravity", "drive"))
    return float(np.abs(total - total[0]).max() / run.energy["kinetic"].values.max())


# --- energy ---


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_energy_of_free_planar_motions(one, other):
    assert drift(pair(one, other), 1.0) < 1e-8


@pytest.mark.parametrize("stiffening", ["none", "exact"])
@pytest.mark.parametrize("other", ["Pa", "Pb"])
def test_energy_with_every_stiffening(other, stiffening):
    assert drift(pair("R", other, stiffening), 0.3) < 1e-8


@pytest.mark.parametrize(("one", "other"), [("R", "Pa"), pytest.param("R", "Pb", marks=pytest.mark.slow)])
def test_energy_of_free_motions_in_space(one, other):
    assert drift(spatial_pair(one, other), 0.2) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_energy_of_longer_free_motions_in_space(one, other):
    assert drift(spatial_pair(one, other).with_(gravity=(0.05, -0.1, -0.4)), 0.5) < 1e-8


# --- equations ---


@pytest.mark.parametrize("stiffening", STIFFENINGS)
@pytest.mark.parametrize(("one", "other"), SLIDERS)
def test_inverse_dynamics_is_lagranges(one, other, stiffening):
    """Nothing slides through or along links that bend in space and are exact: these are in a plane."""
    robot = (pair if stiffening == "exact" else spatial_pair)(one, other, stiffening)
    system = fa.System(robot, native=False)
    q, v, a = scattered(system, 1)
    expected = lagrange(system, q, v, a)
    assert_allclose(system.inverse_dynamics(q, v, a), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_mass_matrix_bias_and_their_solution(one, other):
    system = fa.System(spatial_pair(one, other), native=False)
    q, v, a = scattered(system, 2)
    M, h, tau = system.mass_matrix(q), system.bias(q, v), system.inverse_dynamics(q, v, a)
    size = np.abs(M) @ np.abs(a) + np.abs(h)
    assert (np.abs(tau - M @ a - h) <= 1e-11 * size).all()
    assert_allclose(M, M.T, atol=1e-14 * np.abs(M).max())
    scale = 1 / np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(M * np.outer(scale, scale)).min() > 1e-4
    assert system.energy(q, v).kinetic == pytest.approx(v @ M @ v / 2, rel=1e-12)
    assert_allclose(system.forward_dynamics(q, v, tau), a, rtol=1e-7, atol=1e-8 * np.abs(a).max())


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_power_is_the_rate_of_energy(one, other):
    system = fa.System(spatial_pair(one, other), native=False)
    q, v, a = scattered(system, 3)
    step = 1e-4

    def total(h: float) -> float:
        return float(system.energy(q + h * v + h**2 / 2 * a, v + h * a).total)

    rate = (8 * (total(step) - total(-step)) - total(2 * step) + total(-2 * step)) / (12 * step)
    terms = np.abs(v) @ np.abs(system.inverse_dynamics(q, v, a))
    assert v @ system.inverse_dynamics(q, v, a) == pytest.approx(rate, abs=1e-8 * terms)


@pytest.mark.parametrize(("one", "other"), SLIDERS)
def test_mass_rate_minus_twice_coriolis_is_skew(one, other):
    system = fa.System(pair(one, other), native=False)
    q, v, _ = scattered(system, 4)
    step = 1e-4
    rate = (system.mass_matrix(q + step * v) - system.mass_matrix(q - step * v)) / (2 * step)
    skew = rate - 2 * system.coriolis(q, v)
    assert_allclose(skew, -skew.T, atol=1e-6 * np.abs(rate).max())
    quick = system.bias(q, v) - system.bias(q, 0 * v)
    assert_allclose(system.coriolis(q, v) @ v, quick, atol=1e-10 * np.abs(quick).max())


# --- against material points, written anew in tests/sliders.py ---

NEEDLE = fa.Section.properties(A=2e-4, I_y=2e-8, I_z=3e-8, J=3e-8, I_p=1e-13)  # sections without inertia of their own


@pytest.mark.parametrize("rear", ["flexible", "rigid", "none"])
@pytest.mark.parametrize("stiffening", ["none", "exact"])
def test_kinetic_energy_is_that_of_the_points_for_every_rear(stiffening, rear, monkeypatch):
    more_nodes(monkeypatch)
    robot = pair("R", "Pb", stiffening).with_({"links.b.joint.rear": rear})
    system = fa.System(robot, native=False)
    q, v, _ = scattered(system, 5)
    assert system.energy(q, v).kinetic == pytest.approx(Points(system).kinetic(q, v), rel=1e-8)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_kinetic_energy_is_that_of_the_points(one, other):
    """The zero-order model is exact for points that do not draw nearer to the root."""
    system = fa.System(spatial_pair(one, other, "none", NEEDLE), native=False)
    q, v, _ = scattered(system, 6)
    assert system.energy(q, v).kinetic == pytest.approx(Points(system).kinetic(q, v), rel=1e-7)


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_kinetic_energy_of_exact_links_is_that_of_the_points(one, other, rotary, monkeypatch):
    """However far they bend, by a tenth of their length and more here; sections that turn included."""
    changes = {f"links.{name}.rotary_inertia": rotary for name in "ab"}
    system = fa.System(pair(one, other, "exact").with_(changes), native=False)
    q, v, _ = scattered(system, 6, size=0.1)
    expected = Points(system).kinetic(q, v)
    assert system.energy(q, v).kinetic == pytest.approx(expected, rel=1e-3)
    more_nodes(monkeypatch)
    assert fa.System(system.robot, native=False).energy(q, v).kinetic == pytest.approx(expected, rel=1e-6)


BASES = ["elements", fa.Reduced(3, 1, "fixed"), fa.Modes(0.2, 0.01)]


@pytest.mark.parametrize(
    ("basis", "stiffening"),
    [*((basis, kind) for basis in BASES for kind in ("none", "shortening")), (BASES[1], "exact"), (BASES[2], "exact")],
)
def test_links_of_any_basis_slide_through_their_joint(basis, stiffening, monkeypatch):
    """With rotary inertia, masses at both ends of the link and another link that hangs on it."""
    more_nodes(monkeypatch)
    flexible = fa.Flexible(bend_y=2, basis=basis, stiffening=stiffening)
    a, b = pair("R", "Pb", stiffening).links
    thick = fa.Section.rectangle(0.02, 0.1)
    hub, payload = fa.PointMass(0.2, offset=(0, 0.03, 0)), fa.PointMass(0.1, offset=(0.02, 0.01, 0), inertia=1e-3)
    changes = {"flexible": flexible, "rotary_inertia": True, "hub": hub, "payload": payload, "section": thick}
    c = fa.Link("c", 0.3, fa.Revolute(), mass=0.1)
    robot = fa.Robot(links=[a, b.model_copy(update=changes), c])
    system = fa.System(robot, native=False)
    q, v, acceleration = scattered(system, 13)
    expected = lagrange(system, q, v, acceleration)
    found = system.inverse_dynamics(q, v, acceleration)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
    if stiffening != "shortening":
        kinetic = Points(system).kinetic(q, v)
        kinks = basis == BASES[1] and stiffening == "exact"  # at the nodes of the mesh that was reduced
        assert system.energy(q, v).kinetic == pytest.approx(kinetic, rel=2e-5 if kinks else 1e-6)


@pytest.mark.parametrize(("one", "other"), SLIDERS)
def test_what_the_truncated_energies_drop_is_of_third_and_second_order(one, other):
    """Error of T against the points of exact links, when deflections and their rates become smaller."""
    found = {}
    for stiffening in ("none", "shortening"):
        system = fa.System(pair(one, other, stiffening), native=False)
        points = Points(system, "exact")
        q, v, _ = scattered(system, 7, size=0.04)
        elastic = np.array(["[" in name for name in system.names])
        errors = []
        for scale in (0.5, 0.125, 0.0625):
            bent, moving = np.where(elastic, scale * q, q), np.where(elastic, scale * v, v)
            errors.append(float(system.energy(bent, moving).kinetic) - points.kinetic(bent, moving))
        found[stiffening] = np.log2(np.abs(np.array(errors[:-1]) / errors[1:]))
    assert_allclose(found["none"][-1], 2, atol=0.4)
    # on the way to third order the error may pass through zero, and is then next to nothing
    assert found["shortening"][-1] > 2.7 or abs(errors[-1]) < 1e-9 * points.kinetic(bent, moving)


@pytest.mark.parametrize(
    ("one", "other"),
    [pytest.param(*each, marks=[pytest.mark.slow] * (each in (("Pa", "Pb"), ("Pb", "Pb")))) for each in PAIRS],
)
def test_frames_and_their_velocities(one, other):
    """Poses against the points' positions, twists against differences of poses in time."""
    system = fa.System(spatial_pair(one, other), native=False)
    q, v, _ = scattered(system, 8)
    points = Points(system)
    step = 1e-4
    for number, link in enumerate(system.robot.links):
        for x in (0.0, 0.2 * link.length, 0.7 * link.length, link.length):
            pose = system.frame(link.name, x, q)
            R, p = points.pose(number, x, q)
            assert_allclose(pose[:3, :3], R, atol=1e-12)
            assert_allclose(pose[:3, 3], p, atol=1e-12)
            near = {h: system.frame(link.name, x, q + h * step * v) for h in (-2, -1, 1, 2)}
            rate = (8 * (near[1] - near[-1]) - near[2] + near[-2]) / (12 * step)
            spin = rate[:3, :3] @ pose[:3, :3].T
            expected = np.array([spin[2, 1], spin[0, 2], spin[1, 0], *rate[:3, 3]])
            assert_allclose(system.jacobian(link.name, x, q, axes="world") @ v, expected, atol=1e-9)


# --- momentum ---


def floating(stiffening: str, rear: str = "flexible") -> fa.Robot:
    """A link that slides through a guide which floats and turns freely in the plane."""
    return fa.Robot(
        links=[
            fa.Link("x", 10.0, fa.SlidingPrismatic(np.pi / 2)),
            fa.Link("y", 0.1, fa.SlidingPrismatic(-np.pi / 2)),
            fa.Link("turn", 0.2, fa.Revolute(), mass=0.3, at=0.0),
            fa.Link(
                "bar",
                1.0,
                fa.FixedPrismatic(rear=rear),
                BAR,
                SOFT,
                fa.Flexible(bend_y=2, stiffening=stiffening),
                at=0.0,
            ),
        ],
    )


@pytest.mark.parametrize("stiffening", STIFFENINGS)
def test_momentum_of_a_link_that_slides_through_a_floating_guide(stiffening, monkeypatch):
    more_nodes(monkeypatch)
    robot = floating(stiffening)
    system = fa.System(robot, native=False)
    q = {"y.q": 5.0, "turn.q": 0.3, "bar.q": 0.6, "bar.bend_y[1]": 4e-3, "bar.rear.bend_y[2]": -1e-3}
    v = {"x.q": 0.3, "y.q": -0.2, "turn.q": 0.5, "bar.q": -0.2}
    run = fa.simulate(system, 0.15, q0=q, v0=v, method="rk45", rtol=1e-9, sample=0.015)
    assert run.reason == "completed"
    q, v = run.data["q"].values, run.data["v"].values
    momenta = np.einsum("tij,tj->ti", system.mass_matrix(q), v)
    names = [system.index(name) for name in ("x.q", "y.q", "turn.q")]
    px, py, spin = momenta[:, names].T
    about_origin = spin + q[:, names[0]] * py - q[:, names[1]] * px
    for each in (px, py, about_origin):
        assert_allclose(each, each[0], atol=1e-8 * np.abs(momenta[0]).max())
    if stiffening == "shortening":  # truncates T; the others are exact for their points
        return
    points = Points(system)
    for row in (0, 4, 10):
        linear, angular = points.momentum(q[row], v[row])
        assert_allclose(linear[:2], (px[0], py[0]), atol=1e-8)
        assert angular[2] == pytest.approx(about_origin[0], abs=1e-7)


# --- limits ---


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_straight_links_have_the_rigid_robots_equations(one, other):
    """Held straight, a flexible robot takes the joint forces of the rigid one, whose links slide as a whole."""
    robot = spatial_pair(one, other)
    system, rigid = fa.System(robot, native=False), fa.System(robot.rigid(), native=False)
    q, v, a = (np.where(["[" in name for name in system.names], 0, each) for each in scattered(system, 9))
    joints = [system.index("a.q"), system.index("b.q")]
    expected = rigid.inverse_dynamics(q[joints], v[joints], a[joints])
    assert_allclose(system.inverse_dynamics(q, v, a)[joints], expected, rtol=1e-11)
    assert_allclose(system.energy(q, v).total, rigid.energy(q[joints], v[joints]).total, rtol=1e-11)


@pytest.mark.parametrize("rear", ["flexible", "rigid"])
def test_a_stiff_link_slides_as_the_rigid_one(rear):
    robot = pair("R", "Pb", gravity=(0, -9.81, 0)).with_({"links.b.joint.rear": rear})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stiff = fa.Material(SOFT.E * 1e6, SOFT.rho)
        stiff_robot = robot.with_({"links.a.material": stiff, "links.b.material": stiff})
    start = {"q0": {"a.q": 0.4, "b.q": 0.45}, "v0": {"a.q": 1.0, "b.q": -0.1}, "sample": 0.02, "native": False}
    found = fa.simulate(stiff_robot, 0.2, rtol=1e-5, **start)
    expected = fa.simulate(robot.rigid(), 0.2, method="rk45", rtol=1e-9, **start)
    for name in ("a.q", "b.q"):
        assert_allclose(found[name].values, expected[name].values, atol=1e-4)
    assert np.ptp(expected["b.q"].values) > 0.05


FAMILIES = {"bend_y": 6, "bend_z": 5, "twist": 3, "stretch": 3}


def beam(length: float, joint: object, **fields: object) -> fa.Robot:
    flexible = fields.pop("flexible", fa.Flexible(**FAMILIES))
    return fa.Robot(links=[fa.Link("b", length, joint, WIDE, SOFT, flexible, **fields)])


@pytest.mark.parametrize("d", [0.3, 0.5, 0.95])
def test_a_locked_slide_has_the_frequencies_of_a_clamped_beam(d):
    """With the same shapes: those with a payload are other ones for a shorter link."""
    bare = fa.Flexible(**FAMILIES, basis=fa.Modes(tip_mass=0))
    fields = {"flexible": bare, "payload": fa.PointMass(0.2, offset=(0.01, 0, 0), inertia=1e-3)}
    slide = beam(1.0, fa.FixedPrismatic(rear="rigid"), **fields)
    found = omega(fa.modes(slide, {"b.q": d}, joints="locked"))
    clamped = omega(fa.modes(beam(d, fa.Weld(), **fields)))
    assert_allclose(found, clamped, rtol=1e-8)
    both = omega(fa.modes(beam(1.0, fa.FixedPrismatic(), **fields), {"b.q": d}, joints="locked"))
    behind = omega(fa.modes(beam(1 - d, fa.Weld())))
    assert_allclose(both, np.sort([*clamped, *behind]), rtol=1e-8)


@pytest.mark.parametrize("d", [0.35, 0.8, 1.0])
@pytest.mark.parametrize("stiffening", STIFFENINGS)
def test_a_locked_slider_is_welded_there(d, stiffening):
    """Where it stands: at a point of its carrier, or at its tip. With the same shapes: a rider is no load of them."""
    described = pair if stiffening == "exact" else spatial_pair
    riding = described("R", "Pa", stiffening).with_({"links.a.flexible.basis.tip_mass": 0.0})
    a, b = riding.links
    at = None if d == 1.0 else d
    mount = (0, 0, GAMMA[1]) if stiffening == "exact" else b.joint.mount
    fixed = b.model_copy(update={"joint": fa.Weld(mount=mount), "at": at})
    welded = fa.Robot(links=[a, fixed], base=riding.base, gravity=riding.gravity)
    slides, stands = fa.System(riding, native=False), fa.System(welded, native=False)
    assert [name for name in slides.names if name != "b.q"] == list(stands.names)
    q, v, acceleration = scattered(slides, 10)
    place = slides.index("b.q")
    q[place], v[place], acceleration[place] = d, 0, 0
    others = [k for k in range(slides.nq) if k != place]
    expected = stands.inverse_dynamics(q[others], v[others], acceleration[others])
    assert_allclose(slides.inverse_dynamics(q, v, acceleration)[others], expected, rtol=1e-6, atol=1e-5)
    assert_allclose(slides.tip(q), stands.tip(q[others]), atol=1e-9)  # a carrier's modes are one polynomial: 1e-9
    still = fa.modes(riding.with_(gravity=(0, 0, 0)), {"b.q": d}, joints="locked")
    same = fa.modes(welded.with_(gravity=(0, 0, 0)), joints="locked")
    assert_allclose(omega(still), omega(same), rtol=1e-6)


def test_a_slider_on_a_rigid_link_is_a_slider_on_a_stiff_one():
    robot = spatial_pair("R", "Pa")
    rigid = robot.with_({"links.a.flexible": None})
    system, straight = fa.System(robot, native=False), fa.System(rigid, native=False)
    q, v, a = scattered(system, 11)
    bends = [k for k, name in enumerate(system.names) if name.startswith("a.") and "[" in name]
    q[bends] = v[bends] = a[bends] = 0
    others = [k for k in range(system.nq) if k not in bends]
    expected = straight.inverse_dynamics(q[others], v[others], a[others])
    assert_allclose(system.inverse_dynamics(q, v, a)[others], expected, rtol=1e-9, atol=1e-10)


# --- damping ---

DAMPINGS = {
    "Kelvin-Voigt": (1e-3, None),
    "alpha": (0.0, fa.Damping(alpha=2.0)),
    "beta": (0.0, fa.Damping(beta=1e-3)),
    "ratio": (0.0, fa.Damping(ratio=[0.02, 0.05])),
}


def damped(robot: fa.Robot, name: str) -> fa.Robot:
    material, damping = DAMPINGS[name]
    changes = {}
    for link in robot.links:
        changes[f"links.{link.name}.material.damping"] = material
        if damping is not None:
            changes[f"links.{link.name}.flexible.damping"] = damping
    return robot.with_(changes)


@pytest.mark.parametrize("name", DAMPINGS)
def test_damping_takes_energy_and_the_balance_closes(name):
    robot = damped(pair("Pb", "Pb"), name)
    system, undamped = fa.System(robot, native=False), fa.System(pair("Pb", "Pb"), native=False)
    for seed in range(3):
        q, v, _ = scattered(system, seed)
        D = system.damping_matrix(q)
        assert_allclose(D, D.T, atol=1e-12 * np.abs(D).max())
        assert np.linalg.eigvalsh(D).min() >= -1e-12 * np.abs(D).max()
        lost = system.bias(q, v) - undamped.bias(q, v)
        assert v @ lost > 0
        assert_allclose(D @ v, lost, atol=1e-9 * np.abs(system.bias(q, v)).max())
    q = {"a.q": 0.6, "b.q": 0.45, "a.bend_y[1]": 4e-3, "b.bend_y[1]": -3e-3, "b.rear.bend_y[1]": 2e-3}
    v = {"a.q": -0.1, "b.q": -0.1}
    run = fa.simulate(system, 0.1, q0=q, v0=v, method="rk45", rtol=1e-11, sample=0.01, native=False)
    dissipated = run.energy["dissipated"].values
    assert (np.diff(dissipated) > 0).all()
    start = run.energy["kinetic"].values[0] + run.energy["elastic"].values[0]
    assert dissipated[-1] > 0.01 * start
    assert np.abs(run.energy["balance"].values).max() < 1e-8 * start


@pytest.mark.parametrize("name", DAMPINGS)
def test_a_locked_slide_decays_as_a_beam_of_its_length(name):
    flexible = fa.Flexible(bend_y=3, bend_z=3)
    d = 0.4
    slide = damped(beam(1.0, fa.FixedPrismatic(rear="rigid"), flexible=flexible), name)
    found = fa.modes(slide, {"b.q": d}, joints="locked").damping_ratios
    assert_allclose(found, fa.modes(damped(beam(d, fa.Weld(), flexible=flexible), name)).damping_ratios, rtol=1e-8)
    assert (found > 0).all()


def test_kelvin_voigt_damping_is_that_of_the_materials_strain_rate():
    """Power lost = time constant * int k (rate of strain of the material)^2, strains from the shapes by differences."""
    system = fa.System(damped(beam(1.0, fa.FixedPrismatic()), "Kelvin-Voigt"), native=False)
    body, link = system._chain.bodies[0], system.robot.links[0]
    q, v, _ = np.random.default_rng(0).uniform(-0.01, 0.01, (3, system.nq))
    q[0], v[0] = 0.55, 0.3
    nodes, weights = np.polynomial.legendre.leggauss(40)
    section, power, step = WIDE.at(0.5), 0.0, 1e-5
    stiffness = {
        "bend_y": SOFT.E * section.I_z,
        "bend_z": SOFT.E * section.I_y,
        "twist": SOFT.shear_modulus * section.J,
        "stretch": SOFT.E * section.A,
    }

    def strain(name: str, x: np.ndarray, at: np.ndarray, front: bool) -> np.ndarray:
        integrals, part = (body.integrals, slice(0, body.integrals.count)) if front else (body.rear, slice(17, None))
        d = at[0] if front else 1 - at[0]
        outward = x - 1 + at[0] if front else 1 - at[0] - x
        order = 2 if name.startswith("bend") else 1
        space = integrals.shapes[name]
        for _ in range(order):
            space = space.derivative()
        return space(outward / d) @ at[1:][part][integrals.columns[name]] / d**order

    for front, (start, end) in ((True, (0.45, 1.0)), (False, (0.0, 0.45))):
        x, w = start + (end - start) / 2 * (nodes + 1), (end - start) / 2 * weights
        for name, k in stiffness.items():
            near = {h: strain(name, x, q + h * step * v, front) for h in (-2, -1, 1, 2)}
            rate = (8 * (near[1] - near[-1]) - near[2] + near[-2]) / (12 * step)
            power += link.material.damping * k * float(w @ rate**2)
    assert v @ system.damping_matrix(q) @ v == pytest.approx(power, rel=1e-7)


def test_friction_drives_and_stiffness_along_a_slide():
    """Viscous and Coulomb friction, a rigid drive and an elastic one act on d as on an angle."""
    drive = fa.Drive(stiffness=500.0, damping=2.0, rotor_inertia=1e-3, gear_ratio=20)
    robot = pair("Pa", "Pb").with_(
        {"links.a.joint.viscous": 0.5, "links.b.joint.coulomb": 0.2, "links.a.joint.drive": drive}
    )
    system, plain = fa.System(robot, native=False), fa.System(pair("Pa", "Pb"), native=False)
    q, v, a = scattered(system, 12)
    motor, slide = system.index("a.motor"), system.index("a.q")
    others = [k for k in range(system.nq) if k != motor]
    extra = system.inverse_dynamics(q, v, a)
    extra[others] -= plain.inverse_dynamics(q[others], v[others], a[others])
    wound, turning = q[motor] - q[slide], v[motor] - v[slide]
    expected = np.zeros(system.nq)
    expected[motor] = 500 * wound + 2 * turning + 1e-3 * 400 * a[motor]
    expected[slide] = 0.5 * v[slide] - 500 * wound - 2 * turning
    expected[system.index("b.q")] = 0.2 * np.tanh(v[system.index("b.q")] / 1e-3)
    assert_allclose(extra, expected, atol=1e-9)
