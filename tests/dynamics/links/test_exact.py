"""Geometrically exact links against direct integration, elasticas and independent rod models."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import unit_link
from tests.oracles import elastica, exact_link, rod

AXIS = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
PLUMB = np.array([0.3, -0.5, 0.8])
INERTIA = {"I_p": 0.08, "I_y": 0.03, "I_z": 0.05}
BLADE = fa.Section.properties(A=1, J=0.04, **INERTIA)


def shapes(n: int, plane: bool = False, **more) -> fa.Flexible:
    counts = {"bend_y": n} if plane else {"bend_y": n, "bend_z": n, "twist": n}
    return fa.Flexible(**{**counts, "stiffening": "exact", "basis": fa.Modes(tip_mass=0), **more})


def on_a_hinge(flexible: fa.Flexible, **changes) -> fa.System:
    fields = {"joint": fa.Revolute(tuple(AXIS)), "section": BLADE, "rotary_inertia": True}
    link = unit_link(flexible=flexible, **{**fields, **changes})
    return fa.System(fa.Robot(links=[link], gravity=PLUMB), native=False)


def brute(system: fa.System, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mass matrix, gravity, and the tip's place and section axes of a link on a hinge at zero."""
    beam = system._chain.bodies[0].integrals
    rows = {"bend_y": (2, 1.0), "bend_z": (1, -1.0), "twist": (0, 1.0), "stretch": (3, 1.0)}
    bent = {
        name: of.derivative().derivative() if name.startswith("bend") else of.derivative()
        for name, of in beam.shapes.items()
    }

    def strains(x):
        out = np.zeros((len(x), 4, beam.count))
        for name, of in bent.items():
            row, sign = rows[name]
            out[:, row, beam.columns[name]] = sign * of(np.minimum(x, beam.length))
        return out

    planar = set(beam.columns) <= {"bend_y", "stretch"}
    sections = (exact_link.in_plane if planar else exact_link.in_space)(strains, eta, beam.length)
    found = exact_link.inertia(sections, np.ones_like, lambda x: np.tile([0.08, 0.03, 0.05], (len(x), 1)))
    rates = np.zeros((6 + beam.count, 1 + beam.count))
    rates[3:6, 0], rates[6:, 1:] = AXIS, np.eye(beam.count)
    weight = np.einsum("p,pai,a->i", sections.weights, sections.J, PLUMB)
    gravity = -np.array([AXIS @ np.cross(found.c, PLUMB), *weight])
    return rates.T @ found.M @ rates, gravity, sections.r[-1], sections.R[-1]


def errors(system: fa.System, eta: np.ndarray, kept=slice(None)) -> np.ndarray:
    """The largest of mass matrix and gravity, of each entry's own size, of the tip's place and of its axes."""
    M, gravity, place, axes = brute(system, eta)
    q = np.array([0.0, *eta])
    size = 1 / np.sqrt(np.diag(M))
    inertia = np.abs(system.mass_matrix(q) - M) * np.outer(size, size)
    pose = system.frame("beam", None, q)
    worst = (
        inertia[kept][:, kept],
        ((system.gravity(q) - gravity) * size)[kept],
        pose[:3, 3] - place,
        pose[:3, :3] - axes,
    )
    return np.array([np.abs(each).max() for each in worst])


# --- mass matrix, gravity and tip against brute force ---

ALLOWED = {  # mass matrix, gravity, tip, axes of its section, with all shapes at random deflected by so much together
    "plane": {0.01: (2e-6, 3e-5, 3e-8, 1e-14), 0.1: (1e-4, 3e-4, 3e-6, 1e-14), 1.0: (1e-2, 4e-3, 4e-4, 1e-14)},
    "space": {0.01: (1e-4, 4e-5, 1e-7, 1e-7), 0.1: (1e-3, 4e-4, 1e-5, 1e-5), 1.0: (1e-2, 4e-3, 1e-3, 2e-3)},
}


@pytest.mark.parametrize("size", [0.01, 0.1, 1.0])
@pytest.mark.parametrize(
    "flexible",
    [
        shapes(2, plane=True),
        shapes(5, plane=True),
        shapes(3, plane=True, stretch=2),
        shapes(4, plane=True, basis=fa.Reduced(10)),
        shapes(3),
        shapes(3, bend_z=2, twist=1, stretch=1),
        shapes(3, bend_z=0),
    ],
    ids=["plane 2", "plane 5", "plane stretch", "plane reduced", "space 3", "space stretch", "space one bending"],
)
def test_any_shape_has_the_mass_matrix_of_brute_force(flexible, size):
    """The remaining error is of second order in the deflection in a plane, of first order in space."""
    system = on_a_hinge(flexible)
    allowed = ALLOWED["plane" if flexible.in_one_plane else "space"][size]
    worst = np.zeros(4)
    for seed in range(3):
        unit = np.random.default_rng(seed).uniform(-1, 1, system.nq - 1)
        eta = unit * size / max(flexible.bend_y, 1) * system.sizes[1:]
        worst = np.maximum(worst, errors(system, eta))
    assert (worst < allowed).all(), worst


def lowest(system: fa.System) -> list[int]:
    """Places of each family's first shape in eta."""
    return [place.start for place in system._chain.bodies[0].integrals.columns.values()]


def errors_of_lowest(flexible: fa.Flexible, size: float) -> np.ndarray:
    system = on_a_hinge(flexible)
    first = lowest(system)
    eta = np.zeros(system.nq - 1)
    eta[first] = size * system.sizes[1:][first]
    return errors(system, eta, kept=[0, *(1 + k for k in first)])


def test_in_a_plane_errors_of_the_first_shape_fall_by_a_hundred_with_every_shape_more():
    """At a deflection as large as the length, errors are 3e-3, 2e-4, 6e-7, 5e-8 with 1, 2, 3, 4 shapes."""
    found = [errors_of_lowest(shapes(n, plane=True), 1.0)[0] for n in (1, 2, 3, 4, 6)]
    assert (np.array(found) < [4e-3, 3e-4, 1e-6, 1e-7, 2e-10]).all()


def test_in_space_errors_of_the_first_shapes_fall_with_the_fourth_power_of_the_shapes():
    """Magnus' series to second term between nodes, twice as many as shapes."""
    found = np.array([errors_of_lowest(shapes(n), 1.0)[[0, 2]] for n in (2, 4)])
    assert (np.log2(found[0] / found[1]) > 2.8).all()
    assert (found[1] < [1e-4, 2e-5]).all()


@pytest.mark.parametrize(("flexible", "order"), [(shapes(3, plane=True), 2), (shapes(3), 1)])
def test_errors_vanish_with_the_deflection(flexible, order):
    system = on_a_hinge(flexible)
    unit = np.random.default_rng(5).uniform(-1, 1, system.nq - 1) * system.sizes[1:]
    large, small = (errors(system, size * unit)[0] for size in (2e-2, 1e-2))
    assert np.log2(large / small) == pytest.approx(order, abs=0.1)


def test_elements_meet_brute_force_at_third_order_and_their_tips_at_fourth():
    found = []
    for n in (5, 10, 20):  # whole panels of brute force
        system = on_a_hinge(shapes(n, plane=True, basis="elements"))
        x = np.arange(1, n + 1) / n
        bent = np.stack([0.4 * x**2 - 0.1 * x**3, 0.8 * x - 0.3 * x**2], axis=1)  # the same shape on every mesh
        found.append(errors(system, bent.ravel())[[0, 2]])
    rates = np.log2(np.array(found[:-1]) / found[1:])
    assert (rates[-1] > [2.8, 3.8]).all()
    assert (found[-1] < [2e-4, 1e-6]).all()


# --- definite, whatever the shape ---

few = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
SYSTEMS: dict[str, fa.System] = {}


def hinged(kind: str) -> fa.System:
    if kind not in SYSTEMS:
        flexible = {
            "plane": shapes(6, plane=True),
            "stretched": shapes(4, plane=True, stretch=2),
            "space": shapes(3),
            "mesh": shapes(5, plane=True, basis="elements"),
        }[kind]
        SYSTEMS[kind] = on_a_hinge(flexible, rotary_inertia=False)
    return SYSTEMS[kind]


def softest(system: fa.System, q: np.ndarray) -> float:
    M = system.mass_matrix(q)
    assert_allclose(M, M.T, rtol=1e-12, atol=1e-14)
    size = 1 / np.sqrt(np.diag(M))
    return float(np.linalg.eigvalsh(M * np.outer(size, size))[0])


@few
@given(st.sampled_from(["plane", "stretched", "space", "mesh"]), st.integers(0, 10**6), st.floats(0.01, 1.0))
def test_the_mass_matrix_is_definite_in_every_shape(kind, seed, size):
    """Each shape deflected by up to `size` of the length, all at once: the sum of squares has no other way."""
    system = hinged(kind)
    q = np.random.default_rng(seed).uniform(-1, 1, system.nq) * size * system.sizes
    if "stretched" in kind:
        stretch = [k for k, name in enumerate(system.names) if "stretch" in name]
        q[stretch] *= 0.2  # a link is longer than nothing
    assert softest(system, q) > 0


# --- statics in a plane: the elastica ---


def pulled(load: float, flexible: fa.Flexible) -> fa.System:
    """A weightless bar with EI = L = 1 and a dead load across its tip."""
    link = unit_link(joint=fa.Weld(), mass=1e-9, payload=fa.PointMass(1.0), flexible=flexible)
    return fa.System(fa.Robot(links=[link], gravity=(0, load, 0)), native=False)


def equilibrium(load: float, flexible: fa.Flexible) -> tuple[fa.System, np.ndarray]:
    q = None
    for share in (0.25, 0.5, 0.75, 1.0):
        system = pulled(share * load, flexible)
        q = fa.equilibrium(system, q)
    return system, q


LOADED = fa.Modes(tip_mass=1e-7)  # a hundred times the bar's
TIPS = {1: (0.943567, 0.301721), 2: (0.839358, 0.493457), 5: (0.612372, 0.713792), 10: (0.445004, 0.810609)}


@pytest.mark.parametrize("load", TIPS)
@pytest.mark.parametrize(
    "flexible",
    [
        shapes(8, plane=True, basis=LOADED),
        shapes(4, plane=True, basis=fa.Reduced(16, interface="fixed")),
        shapes(8, plane=True, basis="elements"),
    ],
    ids=["modes", "reduced", "elements"],
)
def test_tips_under_a_force_are_those_of_the_elastica(flexible, load):
    system, q = equilibrium(load, flexible)
    assert_allclose(system.tip(q), [*TIPS[load], 0], atol=1e-5)


@pytest.mark.parametrize("load", [1, 10])
def test_the_elastica_is_met_at_fourth_order_by_elements(load):
    exact = elastica.tip((0, load))[:2]
    found = []
    for n in (4, 8, 16):
        system, q = equilibrium(load, shapes(n, plane=True, basis="elements"))
        found.append(np.abs(system.tip(q)[:2] - exact).max())
    assert_allclose(np.log2(np.array(found[:-1]) / found[1:]), 4, atol=0.4)
    assert found[-1] < {1: 2e-9, 10: 1e-6}[load]


def test_the_elastica_is_met_at_fifth_order_by_loaded_modes():
    exact = elastica.tip((0, 5))[:2]
    found = []
    for n in (2, 4, 8):
        system, q = equilibrium(5, shapes(n, plane=True, basis=LOADED))
        found.append(np.abs(system.tip(q)[:2] - exact).max())
    assert (np.log2(np.array(found[:-1]) / found[1:]) > 5).all()
    assert found[-1] < 2e-7


def wound(system: fa.System, moment: float, steps: int) -> np.ndarray:
    """Return coordinates of a bar held by a tip moment about z, as forces W^T M on its elastic coordinates."""
    q = np.zeros(system.nq)
    for share in np.linspace(0, 1, steps + 1)[1:]:
        for _ in range(20):
            force = system.jacobian("beam", None, q, axes="world")[2] * share * moment
            change = np.linalg.solve(system.stiffness, force) - q
            q = q + change
            if np.abs(change).max() < 1e-14:
                break
    return q


@pytest.mark.parametrize(("flexible", "error"), [(shapes(8, plane=True, basis="elements"), 2e-4)])
def test_a_moment_closes_the_circle(flexible, error):
    link = unit_link(joint=fa.Weld(), flexible=flexible)
    system = fa.System(fa.Robot(links=[link]), native=False)
    for turns in (0.25, 0.5, 1.0):
        angle = 2 * np.pi * turns
        q = wound(system, angle, 1)
        place = np.array([np.sin(angle), 1 - np.cos(angle), 0]) / angle
        assert_allclose(system.tip(q), place, atol=error)
        pose = system.frame("beam", None, q)
        assert np.arctan2(pose[1, 0], pose[0, 0]) == pytest.approx((angle + np.pi) % (2 * np.pi) - np.pi, abs=1e-9)


# --- statics in space: the rod ---


def test_tips_in_space_are_those_of_the_rod():
    """Bending about both axes and twist of a narrow section under a skew force; a deflection of 75 %."""
    force = (0.3, 1.6, -2.6)
    stiffness = {"GJ": 0.4, "EI_y": 1.0, "EI_z": 0.5}
    exact = rod.equilibrium(rod.Rod(length=1.0, force=force, **stiffness)).r[0]
    section = fa.Section.properties(A=1, I_y=1.0, I_z=0.5, J=0.4, I_p=1)
    found = []
    for n in (2, 3, 4):
        q = None
        for share in (0.5, 1.0):
            link = unit_link(
                joint=fa.Weld(), mass=1e-9, payload=fa.PointMass(1.0), section=section, flexible=shapes(n, basis=LOADED)
            )
            system = fa.System(fa.Robot(links=[link], gravity=share * np.array(force)), native=False)
            q = fa.equilibrium(system, q)
        found.append(np.abs(system.tip(q) - exact).max())
    assert np.linalg.norm(exact - [1, 0, 0]) > 0.7
    assert found[2] < found[1] < found[0]
    assert found[-1] < 1e-3


def bend(pieces: int) -> np.ndarray:
    """The tip of the 45 degree bend, made of straight pieces with the arc's length, moves by so much."""
    radius, turn = 100.0, np.pi / 4 / pieces
    section = fa.Section.properties(A=1, I_y=1 / 12, I_z=1 / 12, J=1 / 6, I_p=1 / 6)
    mesh = shapes(1, basis="elements")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.UnitsWarning)
        links = [
            fa.Link(
                f"piece{k}",
                radius * turn,
                fa.Weld(mount=(0, 0, turn if k else turn / 2)),
                section,
                fa.Material(E=1e7, rho=1, G=5e6),
                mesh,
                mass=1e-9,
                payload=fa.PointMass(1.0) if k == pieces - 1 else None,
            )
            for k in range(pieces)
        ]
    q = None
    for load in (200.0, 400.0, 600.0):
        system = fa.System(fa.Robot(links=links, gravity=(0, 0, load)), native=False)
        q = fa.equilibrium(system, q)
    return system.tip(q) - system.tip()


def test_the_bend_of_45_degrees():
    """Straight pieces stand for the arc at second order; two numbers of them tell the limit."""
    coarse, fine = bend(2), bend(4)
    limit = fine + (fine - coarse) / 3
    assert_allclose(limit, [-23.5594, -13.6042, 53.4686], rtol=1e-3)
    published = np.array([-23.65, -13.72, 53.58])
    assert np.linalg.norm(limit - published) < 5e-3 * np.linalg.norm(published)
    assert_allclose(limit, published, rtol=1e-2)  # component by component: rods with other torsion, see test_oracles


@pytest.mark.slow
def test_the_bend_of_45_degrees_is_met_at_second_order_in_the_pieces():
    exact = np.array([-23.5594, -13.6042, 53.4686])
    found = [bend(pieces) for pieces in (2, 4, 8)]
    worst = np.array([np.abs(each - exact).max() for each in found])
    assert_allclose(np.log2(worst[:-1] / worst[1:]), 2, atol=0.15)
    assert_allclose(found[2] + (found[2] - found[1]) / 3, exact, atol=2e-3)


# --- a round bar does not care how it is rolled ---

ROUND = fa.Section.properties(A=1, I_y=1.0, I_z=1.0, J=1.2, I_p=2.0)


def rolled(roll: float, stiffening: str, load: float = 2.0) -> fa.System:
    c, s = np.cos(roll), np.sin(roll)
    offset = (0.1, c * 0.05 + s * 0.02, -s * 0.05 + c * 0.02)
    link = unit_link(
        joint=fa.Weld(mount=(roll, 0, 0)),
        section=ROUND,
        mass=0.05,
        flexible=shapes(2, stretch=1, stiffening=stiffening, basis=fa.Modes(0.4, 0.01)),  # the same in y and z
        payload=fa.PointMass(0.4, offset=offset, inertia=0.01),
        rotary_inertia=True,
    )
    return fa.System(fa.Robot(links=[link], gravity=(0, 0.3 * load, -load)), native=False)


def seen(roll: float, eta: np.ndarray) -> np.ndarray:
    """Coordinates of the same shape in axes rolled about the link."""
    y, z, rest = eta[:2], eta[2:4], eta[4:]
    c, s = np.cos(roll), np.sin(roll)
    return np.concatenate([c * y + s * z, -s * y + c * z, rest])


@pytest.mark.parametrize("roll", [0.7, np.pi / 2, -2.1])
def test_an_exact_round_bar_moves_the_same_however_it_is_rolled(roll):
    plain, other = rolled(0.0, "exact"), rolled(roll, "exact")
    still = fa.equilibrium(plain)
    assert np.abs(plain.tip(still) - [1, 0, 0]).max() > 0.25
    assert_allclose(other.tip(fa.equilibrium(other)), plain.tip(still), atol=1e-14)
    q, v = np.random.default_rng(3).uniform(-1, 1, (2, plain.nq)) * [[0.4], [1.0]] * plain.sizes
    expected = seen(roll, plain.forward_dynamics(q, v))
    found = other.forward_dynamics(seen(roll, q), seen(roll, v))
    assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_an_exact_round_bar_swings_the_same_however_it_is_rolled():
    one, other = (
        fa.simulate(rolled(roll, "exact"), 0.4, dt=1e-3, method="esdirk", native=False) for roll in (0.0, 0.7)
    )
    assert np.ptp(one.tip.values, axis=0).max() > 0.05
    assert_allclose(other.tip.values, one.tip.values, atol=1e-13)


# --- what is refused ---


def refusal(link) -> str:
    with pytest.raises(fa.DescriptionError) as found:
        link()
    return str(found.value)


def test_what_cannot_be_exact_is_refused():
    guided = fa.FixedPrismatic()
    assert "its sections stay normal to its axis" in refusal(
        lambda: unit_link(flexible=shapes(2, plane=True, shear=True), section=fa.Section.rectangle(0.1, 0.1))
    )
    loose = fa.Elements(root="free")
    assert "its shapes must hold its root" in refusal(lambda: unit_link(flexible=shapes(2, plane=True, basis=loose)))
    assert "bends in space and slides through its joint" in refusal(lambda: unit_link(flexible=shapes(1), joint=guided))
    assert "a mesh that slides through its joint; take modes" in refusal(
        lambda: unit_link(flexible=shapes(2, plane=True, basis="elements"), joint=guided)
    )


def test_nothing_slides_along_an_exact_link_in_space():
    links = [
        unit_link("rail", flexible=shapes(1)),
        fa.Link("cart", 0.2, fa.SlidingPrismatic(), mass=1.0, hub=fa.PointMass(0.1, inertia=0.1)),
    ]
    assert "'cart' slides along 'rail', which bends in space" in refusal(lambda: fa.Robot(links=links))


def test_full_is_no_longer_a_kind_of_stiffening():
    assert "exact" in refusal(lambda: fa.Flexible(bend_y=1, stiffening="full"))
