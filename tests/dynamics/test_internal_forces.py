"""Forces and moments across sections: hand formulae, both ends of links, Newton and Euler, curvature of the shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics.internal_forces import LinkSectionForces
from flexarm.dynamics.joint_reactions import Balance
from tests import newton_euler
from tests.dynamics.test_joint_reactions import rigid_trees
from tests.helpers import ALUMINIUM, robots, state, unit_link

G = 9.81
BAR = fa.Section.rectangle(0.02, 0.03)
X = np.linspace(0.0, 2.0, 9)


def cantilever(flexible=None, gravity=G, **fields) -> fa.System:
    beam = fa.Link("beam", 2.0, fa.Weld(), BAR, ALUMINIUM, flexible, **fields)
    return fa.System(fa.Robot(links=[beam], gravity=(0, -gravity, 0)), native=False)


# --- statics ---


@pytest.mark.parametrize("flexible", [None, fa.Flexible(bend_y=2, stiffening="none")])
def test_a_cantilever_by_hand(flexible):
    """Own weight, a mass and a load along it; sagging moments are negative: v'' < 0."""
    beam = cantilever(flexible, masses=[fa.PointMass(0.5, at=1.0)])
    load = ("beam", 1.5, np.array([3.0, 7.0, 0, 0, 0, 0.2]))
    found = beam.section_forces("beam", X, loads=[load])
    mu, out = ALUMINIUM.rho * 6e-4, 2.0 - X
    weight, mass, pushed = mu * G * out, np.where(X <= 1.0, 0.5 * G, 0.0), X <= 1.5
    assert_allclose(found[:, 0], 3.0 * pushed, atol=1e-13)
    assert_allclose(found[:, 1], 7.0 * pushed - weight - mass, rtol=1e-12, atol=1e-13)
    moment = (7.0 * (1.5 - X) + 0.2) * pushed - weight * out / 2 - mass * (1.0 - X)
    assert_allclose(found[:, 5], moment, rtol=1e-12, atol=1e-13)
    assert_allclose(found[:, [2, 3, 4]], 0, atol=1e-13)


def test_bending_in_z_and_torsion_have_the_signs_of_their_shapes():
    """A tip force along z makes w'' > 0 and a moment -EI w'' about y; a torque about x a positive torsion."""
    beam = cantilever(fa.Flexible(bend_z=1, twist=1, stretch=1, basis="elements", stiffening="none"), gravity=0.0)
    tip = np.array([5.0, 0, 2.0, 0.3, 0, 0])
    push = beam.jacobian("beam", None, np.zeros(beam.nq), axes="world").T @ np.concatenate([tip[3:], tip[:3]])
    q = np.linalg.solve(beam.stiffness, push)
    found = beam.section_forces("beam", 0.0, q, loads=[("beam", None, tip)])
    assert_allclose(found[[0, 2, 3]], [5.0, 2.0, 0.3], rtol=1e-5)  # section axes, at the root those of the world
    x, _, z = beam.tip(q)
    assert_allclose(found[4], 5.0 * z - 2.0 * x, rtol=1e-12)
    E, A, I_y = ALUMINIUM.E, 6e-4, BAR.at(0).I_y
    assert_allclose(beam.strain("beam", 0.5, q, at=(0, 0)), 5.0 / (E * A), rtol=1e-9)
    bent = beam.strain("beam", 0.5, q, at=(0.0, 0.015)) - beam.strain("beam", 0.5, q, at=(0, 0))
    assert bent < 0  # pressed on the side that it bends to
    assert_allclose(-bent / 0.015 * E * I_y, 2.0 * 1.5, rtol=1e-9)


@pytest.mark.parametrize("basis", ["modes", "elements"])
def test_the_moment_of_the_shapes_tends_to_that_of_equilibrium(basis):
    """EI v'' of few shapes is far off, and equilibrium is not; with many they meet."""
    errors = []
    for count in (2, 4, 8):
        beam = cantilever(fa.Flexible(bend_y=count, basis=basis, stiffening="none"))
        q, x = fa.equilibrium(beam), np.linspace(0.05, 1.9, 40)
        exact = beam.section_forces("beam", x, q)[:, 5]
        assert_allclose(exact, -ALUMINIUM.rho * 6e-4 * G * (2 - x) ** 2 / 2, rtol=1e-10)
        shapes = -beam.strain("beam", x, q, at=(0.01, 0.0)) / 0.01 * ALUMINIUM.E * BAR.at(0).I_z
        errors.append(np.abs(shapes - exact).max() / np.abs(exact).max())
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    assert errors[2] < 0.02


def test_a_supported_link_has_the_moments_of_the_textbook():
    """Clamped and propped at its end, under its own weight: 3/8 of it at the prop, -1/8 q L^2 at the root."""
    link = unit_link(joint=fa.Weld(), flexible=fa.Flexible(bend_y=8, stiffening="none"))
    prop = fa.PointSupport("beam", (1.0, 0, 0), "y", name="prop")
    beam = fa.System(fa.Robot(links=[link], gravity=(0, -1e-3, 0), constraints=[prop]), native=False)
    q = fa.equilibrium(beam)
    found = beam.section_forces("beam", [0.0, 0.5, 0.99], q, constraint_forces=[3 / 8 * 1e-3])
    x = np.array([0.0, 0.5, 0.99])
    moment = 3 / 8 * 1e-3 * (1 - x) - 1e-3 * (1 - x) ** 2 / 2
    assert_allclose(found[:, 5], moment, rtol=1e-4, atol=1e-9)


# --- both ends of links ---


@settings(max_examples=12, deadline=None)
@given(robots(most=3), st.integers(0, 10**6))
def test_both_ends_of_every_link_meet_joints(robot, seed):
    """Section forces equal minus the reaction at the root, and minus the reactions of attached links at the tip."""
    found = fa.System(robot, native=False)
    q, v, a = state(found, seed)
    for link in robot.links:
        wrench = found.reaction(link.name, q, v, a)
        ends = found.section_forces(link.name, [0.0, link.length], q, v, a)
        size = np.abs(wrench).max() + 1e-9
        assert_allclose(ends[0], -wrench, atol=1e-10 * size)
        hung = [each for each, parent in zip(robot.links, robot.parents) if parent is not None]
        hung = [each.name for each in hung if parent_of(robot, each) == link.name and each.at in (None, link.length)]
        if link.payload is None and hung:
            tip = found.frame(link.name, None, q)
            total = np.zeros(6)
            for name in hung:
                each = found.reaction(name, q, v, a, axes="world")
                arm = root_of(found, name, q) - tip[:3, 3]
                total += np.concatenate([each[:3], each[3:] + np.cross(arm, each[:3])])
            turned = np.concatenate([tip[:3, :3].T @ total[:3], tip[:3, :3].T @ total[3:]])
            assert_allclose(ends[1], -turned, atol=1e-10 * size)


def parent_of(robot: fa.Robot, link: fa.Link) -> str | None:
    parent = robot.parents[robot.links.index(link)]
    return None if parent is None else robot.links[parent].name


def root_of(found: fa.System, link: str, q) -> np.ndarray:
    return found.frame(link, 0.0, q)[:3, 3]


@settings(max_examples=20, deadline=None)
@given(rigid_trees(), st.integers(0, 10**6), st.floats(0.05, 0.95))
def test_rigid_links_that_are_cut_obey_newton_and_euler(robot, seed, share):
    """The last link, cut in two that are welded together: the reaction in the weld."""
    last = robot.links[-1]
    found = fa.System(robot, native=False)
    q, v, a = np.random.default_rng(seed).uniform(0.2, 0.35, (3, found.nq))
    x = share * last.length
    at = newton_euler.frames(robot, found, q, v, a)[-1]
    gravity, force, torque = np.array(robot.gravity), np.zeros(3), np.zeros(3)
    behind = isinstance(last.joint, fa.FixedPrismatic) and x < last.length - q[found.joint(last.name).index]
    for centre, mass, inertia in pieces(last, x, behind):
        here, J = at.shifted(centre), at.R @ inertia @ at.R.T
        push = mass * (here.a - gravity)
        force += push
        torque += np.cross(at.R @ (centre - [x, 0, 0]), push) + J @ at.alpha + np.cross(at.omega, J @ at.omega)
    exact = np.concatenate([at.R.T @ force, at.R.T @ torque]) * (1 if behind else -1)
    assert_allclose(found.section_forces(last.name, x, q, v, a), exact, atol=1e-10 * max(1.0, np.abs(exact).max()))


def pieces(link: fa.Link, x: float, behind: bool) -> list:
    """Bodies of the part of a link on one side of x."""
    (_, mass, inertia), *_ = newton_euler.bodies(link)
    L = link.length
    length, centre = (x, x / 2) if behind else (L - x, (L + x) / 2)
    part = mass * length / L
    own = np.diag(inertia) - np.array([0, 1, 1]) * mass * L**2 / 12
    out = [(np.array([centre, 0, 0]), part, np.diag(own * length / L + np.array([0, 1, 1]) * part * length**2 / 12))]
    places = [(0.0, link.hub), (L, link.payload), *((each.at, each) for each in link.masses)]
    for at, lump in places:
        if lump is not None and (at < x) == behind:
            out.append((np.array([at, 0, 0]) + np.array(lump.offset), lump.mass, np.array(lump.inertia_matrix)))
    return out


@pytest.mark.parametrize(("stiffening", "most"), [("none", 1e-12), ("shortening", 2e-4), ("exact", 1e-10)])
def test_points_take_what_the_energy_of_a_link_takes(stiffening, most):
    """The wrench that is distributed over a link is the truncation error of its energy only."""
    shapes = fa.Flexible(bend_y=3, stiffening=stiffening)
    arm = fa.Robot(links=[fa.Link(name, 1.0, section=BAR, material=ALUMINIUM, flexible=shapes) for name in "ab"])
    found = fa.System(arm, native=False)
    q, v, a = state(found, 1, size=1.0)
    cuts = LinkSectionForces(Balance(found, q, v, a, (), None), 1)
    whole = found.reaction("b", q, v, a)
    assert np.abs(cuts.unresolved).max() < most * np.abs(whole).max()


# --- prismatic joints ---


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
@pytest.mark.parametrize("rear", ["flexible", "rigid", "none"])
def test_a_link_that_slides_through_its_guide_is_free_at_both_ends(rear, stiffening):
    """And its guide gives what is missing between both sides."""
    shapes = fa.Flexible(bend_y=2, stiffening=stiffening)
    links = [
        fa.Link("a", 0.5, mass=1.0),
        fa.Link("b", 0.8, fa.FixedPrismatic(rear=rear), BAR, ALUMINIUM, shapes, payload=fa.PointMass(0.3)),
    ]
    found = fa.System(fa.Robot(links=links, gravity=(1, -9, 0)), native=False)
    q, v, a = np.random.default_rng(2).uniform(-1, 1, (3, found.nq)) * np.where(found.elastic, 0.01, 0.5)
    q[found.index("b.q")] = d = 0.37
    v[found.index("b.q")] = 0.0  # material that appears takes its momentum in the guide
    guide = 0.8 - d
    before, after = found.section_forces("b", [guide - 1e-8, guide], q, v, a)
    wrench = found.reaction("b", q, v, a)
    if rear == "none":
        assert np.isnan(before).all()
        assert_allclose(after, -wrench, atol=1e-6 * np.abs(wrench).max())
        return
    assert_allclose(before - after, wrench, atol=1e-6 * np.abs(wrench).max())
    assert_allclose(found.section_forces("b", 0.0, q, v, a), 0, atol=1e-10)
    payload = found.section_forces("b", 0.8, q, v, a)
    assert_allclose(payload[3:], 0, atol=1e-10)
    assert np.abs(payload[:3]).max() > 0.1


@pytest.mark.parametrize("contact", ["nodal", "element"])
def test_a_mesh_that_is_gripped_at_its_nodes_needs_no_forces_of_its_grip(contact):
    shapes = fa.Flexible(bend_y=4, basis="elements", stiffening="none")
    joint = fa.FixedPrismatic(contact=contact)
    links = [fa.Link("a", 0.5, mass=1.0), fa.Link("b", 0.8, joint, BAR, ALUMINIUM, shapes)]
    found = fa.System(fa.Robot(links=links, gravity=(0, -G, 0)), native=False)
    assert found.constraints
    q = found.vector({"b.q": 0.3})
    before, after = found.section_forces("b", [0.5 - 1e-8, 0.5], q)
    assert_allclose(before - after, found.reaction("b", q), atol=1e-6)
    mu = ALUMINIUM.rho * 6e-4
    assert_allclose([before[5], after[5]], [-mu * G * 0.5**2 / 2, -mu * G * 0.3**2 / 2], rtol=1e-6)


def test_a_rider_counts_where_it_is():
    links = [fa.Link("rail", 1.0, fa.Weld(), mass=0.0), fa.Link("rider", 0.2, fa.SlidingPrismatic(), mass=2.0)]
    found = fa.System(fa.Robot(links=links, gravity=(0, -G, 0)), native=False)
    q = np.array([[0.3], [0.8]])
    forces = found.section_forces("rail", [0.2, 0.5], q)
    assert_allclose(forces[..., 1], [[-2 * G, 0], [-2 * G, -2 * G]], atol=1e-12)
    assert_allclose(forces[..., 5], [[-2 * G * 0.2, 0], [-2 * G * 0.7, -2 * G * 0.4]], atol=1e-12)


# --- arguments ---


def test_shapes_batches_and_empty_batches():
    beam = cantilever(fa.Flexible(bend_y=2))
    q = np.zeros((3, 4, 2))
    assert beam.section_forces("beam", 0.5, q).shape == (3, 4, 6)
    assert beam.section_forces("beam", [0.5], q).shape == (3, 4, 1, 6)
    assert beam.section_forces("beam", [0.5], q[:0]).shape == (0, 4, 1, 6)
    assert beam.section_forces("beam", [], q).shape == (3, 4, 0, 6)
    x = np.array([1.0, 0.5])
    assert_allclose(beam.section_forces("beam", x)[0], beam.section_forces("beam", 1.0))
    assert x.tolist() == [1.0, 0.5]


def test_a_massless_link_and_a_robot_without_coordinates():
    post = fa.Link("post", 1.0, fa.Weld(), mass=0.0, payload=fa.PointMass(2.0))
    found = fa.System(fa.Robot(links=[post], gravity=(0, -G, 0)), native=False)
    assert_allclose(found.section_forces("post", 0.25)[[1, 5]], [-2 * G, -2 * G * 0.75])


def test_what_is_wrong_is_said():
    beam = cantilever()
    with pytest.raises(KeyError, match="there is no link 'boom'"):
        beam.section_forces("boom", 0.5)
    with pytest.raises(ValueError, match=r"x = 2\.5: must lie on link 'beam', between 0 and 2 m"):
        beam.section_forces("beam", [0.5, 2.5])
    with pytest.raises(ValueError, match="x has shape"):
        beam.section_forces("beam", [[0.5]])
    with pytest.raises(ValueError, match="x = nan"):
        beam.section_forces("beam", float("nan"))
