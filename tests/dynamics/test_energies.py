"""Kinetic energy against point masses moved by the poses; the other energies against their closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests import sliders
from tests.helpers import more_nodes, state, unit_link

THIN = fa.Section.properties(A=6e-4, I_y=4.5e-8, I_z=2e-8, I_p=1e-20)  # sections without inertia of their own


def spatial(stiffening: str, seed: int = 0, **changes) -> fa.Robot:
    """Three links in general position, drawn at random: flexible, rigid, flexible with everything on it."""
    rng = np.random.default_rng(seed)

    def turn() -> list[float]:
        return rng.uniform(-1, 1, 3).tolist()

    section = fa.Section.rectangle(*rng.uniform(0.01, 0.03, 2))
    material = fa.Material(7e10, 2700)
    # modes without a load: what hangs within the link would put kinks into them, which few nodes do not meet
    first = fa.Flexible(bend_y=2, bend_z=1, twist=1, stretch=1, stiffening=stiffening, basis=fa.Modes(tip_mass=0))
    last = fa.Flexible(bend_y=1, bend_z=2, twist=2, stretch=1, stiffening=stiffening, basis="elements")
    beam = {"section": section, "material": material, **changes}
    return fa.Robot(
        base=fa.Pose(turn(), turn()),
        gravity=(1.0, -3.0, -9.0),
        links=[
            fa.Link("a", rng.uniform(0.5, 1.0), fa.Revolute(turn(), mount=turn()), flexible=first, **beam),
            fa.Link(
                "b",
                rng.uniform(0.3, 0.5),
                fa.Revolute((1, 1, 0)),
                mass=0.7,
                hub=fa.PointMass(0.2, (0.0, 0.05, 0.02)),
                at=0.4,
                offset=(0.02, -0.03, 0.05),
            ),
            fa.Link(
                "c",
                rng.uniform(0.5, 0.7),
                fa.Revolute("z", mount=turn()),
                flexible=last,
                payload=fa.PointMass(0.4, (0.05, -0.02, 0.03), (0.01, 0.02, 0.025, 0.001, 0.002, -0.001)),
                masses=[fa.PointMass(0.25, at=0.2)],
                **beam,
            ),
        ],
    )


def mass_matrix_of_points(system: fa.System, q: np.ndarray) -> np.ndarray:
    """sum over points of m J^T J + J_w^T I J_w, with J from central differences of the poses: no twist, no integral."""
    points = []  # (link, x, mass, offset, inertia)
    nodes, weights = np.polynomial.legendre.leggauss(32)
    for link in system.robot.links:
        pieces = 2 if link.name == "c" else 1
        for piece in range(pieces):
            for node, weight in zip(nodes, weights):
                x = link.length * (piece + (node + 1) / 2) / pieces
                share = weight / 2 * link.length / pieces
                turning = np.zeros((3, 3))
                if link.section is not None:
                    polar = link.polar_inertia_per_length(x / link.length)
                    others = (
                        [link.inertia_y_per_length(0.0), link.inertia_z_per_length(0.0)]
                        if link.rotary_inertia
                        else [0, 0]
                    )
                    turning = np.diag([polar, *others]) * share
                points.append((link.name, x, link.mass_per_length(x / link.length) * share, np.zeros(3), turning))
        for mass, at in ((link.hub, 0.0), (link.payload, link.length), *((m, m.at) for m in link.masses)):
            if mass is not None:
                points.append((link.name, at, mass.mass, np.array(mass.offset), np.array(mass.inertia_matrix)))
    step = 1e-4
    M = np.zeros((system.nq, system.nq))
    moves = q + step * np.concatenate([k * np.eye(system.nq) for k in (-2, -1, 1, 2)])
    stencil = np.array([1, -8, 8, -1]) / (12 * step)
    for link, x, mass, offset, inertia in points:
        here = system.frame(link, x, q)
        there = system.frame(link, x, moves).reshape(4, system.nq, 4, 4)
        position = there[..., :3, 3] + there[..., :3, :3] @ offset
        J = np.einsum("s,snk->kn", stencil, position)
        spin = np.einsum("s,ji,snjk->nik", stencil, here[:3, :3], there[..., :3, :3])
        J_w = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]])
        M += mass * J.T @ J + J_w.T @ inertia @ J_w
    return M


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_of_a_random_spatial_robot_is_that_of_its_points(seed):
    """Exact links, large deflections, sections with inertia: nothing is neglected. Places are the same sums over nodes,
    but spins are interpolated between them, which shows in the twist of elements as wide as half the link."""
    system = fa.System(spatial("exact", seed, rotary_inertia=True), native=False)
    q, _, _ = state(system, seed, size=0.8)
    expected = mass_matrix_of_points(system, q)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((system.mass_matrix(q) - expected) / scale).max() < 5e-6


@pytest.mark.parametrize("seed", range(3))
def test_kinetic_energy_by_integrals_is_exact_to_second_order(seed, monkeypatch):
    """With deflections and their rates of size epsilon and joint rates of size one, what "shortening" drops from T is
    of order epsilon^3: every term that it keeps, of every family and pair of families, is right."""
    more_nodes(monkeypatch, 6)  # than a coarse mesh has, or it would be no judge
    full, short = (fa.System(spatial(kind, seed, section=THIN), native=False) for kind in ("exact", "shortening"))
    q, v, _ = state(full, seed, size=1.0)
    elastic = np.array(["[" in name for name in full.names])
    errors = []
    for size in (0.8, 0.4, 0.2, 0.1):  # below, the spin of thin sections about the straight or the bent axis is seen
        Q, V = np.where(elastic, size * q, q), np.where(elastic, size * v, 3 * v)
        errors.append(abs(float(full.energy(Q, V).kinetic - short.energy(Q, V).kinetic)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 2.9).all()


def test_zero_order_energy_drops_terms_of_second_order():
    full, none = (fa.System(spatial(kind, section=THIN), native=False) for kind in ("exact", "none"))
    q, v, _ = state(full, 1, size=1.0)
    elastic = np.array(["[" in name for name in full.names])
    errors = []
    for size in (0.25, 0.125, 0.0625):
        Q, V = np.where(elastic, size * q, q), np.where(elastic, size * v, 3 * v)
        errors.append(abs(float(full.energy(Q, V).kinetic - none.energy(Q, V).kinetic)))
    assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2, atol=0.2)


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
def test_turning_sections_carry_angular_momentum_and_energy(stiffening):
    """A shaft that turns about its axis while it twists and one that turns about y while it bends: T = 1/2 int rho I
    (omega + rate)^2, with the rates known at the tip of one linear or cubic element."""
    section, length = fa.Section.rectangle(0.04, 0.02), 0.7
    flexible = fa.Flexible(bend_z=1, twist=1, basis="elements", stiffening=stiffening)
    link = fa.Link("a", length, fa.Revolute("x"), section, fa.Material(7e10, 2700), flexible, rotary_inertia=True)
    system = fa.System(fa.Robot(links=[link]), native=False)
    spin, rate = 3.0, 2.0
    polar = 2700 * section.at(0.0).I_p
    twisting = system.energy(None, {"a.q": spin, "a.twist[1]": rate}).kinetic
    assert twisting == pytest.approx(polar * length / 2 * (spin**2 + spin * rate + rate**2 / 3), rel=1e-12)
    pitching = fa.System(fa.Robot(links=[link.model_copy(update={"joint": fa.Revolute("y")})]), native=False)
    both = pitching.energy(None, {"a.q": spin, "a.bend_z[1]": rate}).kinetic
    alone = [pitching.energy(None, {name: value}).kinetic for name, value in (("a.q", spin), ("a.bend_z[1]", rate))]
    mu, rotary = 2700 * section.at(0.0).A, 2700 * section.at(0.0).I_y
    # coupling: translation -int mu x N, rotation -int rho I_y N' (a link that rises along z turns about -y)
    assert both - sum(alone) == pytest.approx(-spin * rate * (mu * length**2 * 7 / 20 + rotary), rel=1e-12)


@pytest.mark.slow
def test_nodes_of_exact_links_are_enough(monkeypatch):
    """The effect of additional nodes decreases fast: a coarse mesh bends and twists by 2 % in every coordinate."""
    robot = spatial("exact", rotary_inertia=True)
    q, _, _ = state(fa.System(robot, native=False), 0, size=1.0)
    found = [fa.System(robot, native=False).mass_matrix(q)]
    for _ in range(3):
        more_nodes(monkeypatch, 3)
        found.append(fa.System(robot, native=False).mass_matrix(q))
    scale = np.sqrt(np.outer(np.diag(found[-1]), np.diag(found[-1])))
    few, more, many = (np.abs((each - found[-1]) / scale).max() for each in found[:-1])
    assert few < 4e-3
    assert more < 5e-5
    assert many < 5e-6


def test_energies_of_a_hanging_beam():
    mu, g = 1.0, 0.1
    robot = fa.Robot(links=[unit_link(joint=fa.Weld(), flexible=fa.Flexible(bend_y=4))], gravity=(0, -g, 0))
    system = fa.System(robot, native=False)
    sag = np.linalg.solve(system.stiffness, -system.gravity())
    tip = system.tip(sag)
    assert tip[1] == pytest.approx(-mu * g / 8, rel=1e-4)  # mu g L^4 / 8 EI
    energy = system.energy(sag)
    assert energy.elastic == pytest.approx(mu**2 * g**2 / 40, rel=1e-4)  # (mu g)^2 L^5 / 40 EI
    assert energy.kinetic == energy.drive == 0
    assert energy.total == pytest.approx(energy["elastic"] + energy["gravity"])


def test_static_tip_force_gives_textbook_deflection_and_slope():
    robot = fa.Robot(links=[unit_link(joint=fa.Weld(), flexible=fa.Flexible(bend_z=2, basis="elements"))])
    system = fa.System(robot, native=False)
    force = np.array([0.0, 0.0, 1e-3])
    bent = np.linalg.solve(system.stiffness, system.jacobian("beam", axes="world")[3:].T @ force)
    pose = system.frame("beam", None, bent)
    assert pose[2, 3] == pytest.approx(1e-3 / 3, rel=1e-6)
    assert np.arcsin(pose[2, 0]) == pytest.approx(1e-3 / 2, rel=1e-6)


def test_drive_energy_and_rotor():
    drive = fa.Drive(stiffness=80.0, damping=0.3, rotor_inertia=0.02, gear_ratio=5)
    link = fa.Link("one", 1.0, fa.Revolute("z", drive=drive, viscous=0.7), mass=3.0)
    system = fa.System(fa.Robot(links=[link]), native=False)
    assert system.names == ("one.q", "one.motor")
    energy = system.energy({"one.q": 0.1, "one.motor": 0.3}, {"one.q": 2.0, "one.motor": 3.0})
    assert energy.drive == pytest.approx(80 / 2 * 0.2**2)
    assert energy.kinetic == pytest.approx(3.0 / 3 / 2 * 2**2 + 0.02 * 25 / 2 * 3**2)
    assert_allclose(system.damping, [[1.0, -0.3], [-0.3, 0.3]])
    assert_allclose(system.input_matrix, [[0], [1]])


def test_rigid_drive_adds_the_reflected_rotor_to_the_joint():
    link = fa.Link("one", 1.0, fa.Revolute("z", drive=fa.Drive(rotor_inertia=0.02, gear_ratio=5)), mass=3.0)
    system = fa.System(fa.Robot(links=[link]), native=False)
    assert_allclose(system.mass_matrix(), [[1.0 + 0.5]])
    assert_allclose(system.input_matrix, [[1]])


def test_dry_friction_opposes_motion_and_saturates():
    link = fa.Link("one", 1.0, fa.Revolute("z", coulomb=0.4, coulomb_speed=0.01), mass=3.0)
    system = fa.System(fa.Robot(links=[link]), native=False)
    assert system.bias([0.0], [1.0])[0] == pytest.approx(0.4)
    assert system.bias([0.0], [-1.0])[0] == pytest.approx(-0.4)
    assert system.bias([0.0], [0.001])[0] == pytest.approx(0.4 * np.tanh(0.1))


# --- what foreshortening does to inertia ---


@pytest.mark.parametrize("family", ["bend_y", "bend_z"])
@pytest.mark.parametrize(("modes", "bend"), [(3, 0.2), (8, 0.12), (12, 0.1)])
def test_a_bent_link_on_a_free_hinge_keeps_its_inertia(family, modes, bend):
    """The modes almost represent a rotation of the link; the remaining inertia must stay positive."""
    flexible = fa.Flexible(bend_y=modes, bend_z=1)
    link = fa.Link("arm", 1.0, section=fa.Section.circle(0.02), material=fa.Material(7e10, 2700), flexible=flexible)
    system = fa.System(fa.Robot(links=[link]), native=False)
    first = system.vector({f"arm.{family}[1]": 1.0})
    first /= np.abs(system.deflection("arm", first)[1][-1]).max()
    for size in (0.01, 0.03, bend):
        assert np.linalg.eigvalsh(system.mass_matrix(size * first))[0] > 0


@pytest.mark.parametrize("kind", ["Pa", "Pb"])
def test_so_does_one_that_slides(kind):
    system = fa.System(sliders.pair("R", kind, modes=6), native=False)
    q = system.vector({"b.q": 0.4, "a.bend_y[1]": 0.02, "b.bend_y[1]": 0.02})
    bends = [np.abs(system.deflection(link, q)[1][-1, 1]) for link in ("a", "b")]
    assert max(bends) > 0.03
    assert np.linalg.eigvalsh(system.mass_matrix(q))[0] > 0


def test_a_slender_arm_moves_as_an_exact_one():
    """A torque that bends a light arm with a payload by 3 %: without terms of third order M was singular there."""
    torque, tips = {"arm": fa.bang_bang(0.05, (0.4, 0.8))}, {}
    for stiffening in ("none", "shortening", "exact"):
        arm = fa.Link(
            "arm",
            1.0,
            section=fa.Section.rectangle(0.005, 0.005),
            material=fa.Material(2e10, 7850, damping=1e-3),
            flexible=fa.Flexible(bend_y=3, basis="elements", stiffening=stiffening),
            payload=fa.PointMass(0.1),
        )
        run = fa.simulate(fa.Robot(links=[arm]), 0.8, torque=torque, sample=0.1, rtol=1e-6, native=False)
        assert run.reason == "completed"
        tips[stiffening] = run.tip.values
    apart = {model: np.abs(tips[model] - tips["exact"]).max() for model in ("none", "shortening")}
    assert apart["shortening"] < 0.1 * apart["none"]
