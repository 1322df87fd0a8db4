"""Forces and torques in joints: hand formulae, Newton and Euler in NumPy, the equations themselves, energy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import flexarm as fa
from tests import newton_euler
from tests.helpers import ALUMINIUM, robots, state
from tests.sliders import pair

G = 9.81
BAR = fa.Section.rectangle(0.02, 0.03)


def system(*links: fa.Link, **fields) -> fa.System:
    return fa.System(fa.Robot(links=links, **{"gravity": (0, -G, 0), **fields}), native=False)


# --- statics ---


def test_a_cantilever_carries_its_weight_and_its_payload():
    beam = system(fa.Link("beam", 2.0, fa.Weld(), mass=3.0, payload=fa.PointMass(0.5)))
    assert_allclose(beam.reaction("beam"), [0, 3.5 * G, 0, 0, 0, (3.0 * 1.0 + 0.5 * 2.0) * G], rtol=1e-14, atol=1e-13)


def test_two_links_in_gravity_by_hand():
    arm = system(fa.Link("upper", 1.0, mass=2.0), fa.Link("fore", 0.6, mass=1.5, payload=fa.PointMass(0.4)))
    one, two = 0.4, -1.1
    q = {"upper.q": one, "fore.q": two}
    level, out = np.cos(one), np.cos(one + two)
    elbow = (1.5 * 0.3 + 0.4 * 0.6) * out * G
    shoulder = elbow + (2.0 * 0.5 + 1.9 * 1.0) * level * G
    assert_allclose(arm.reaction("fore", q, axes="world"), [0, 1.9 * G, 0, 0, 0, elbow], rtol=1e-13, atol=1e-13)
    assert_allclose(arm.reaction("upper", q, axes="world"), [0, 3.9 * G, 0, 0, 0, shoulder], rtol=1e-13, atol=1e-13)
    turn = one + two
    along = [1.9 * G * np.sin(turn), 1.9 * G * np.cos(turn), 0, 0, 0, elbow]
    assert_allclose(arm.reaction("fore", q), along, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
def test_a_bent_cantilever_carries_the_moment_of_where_its_mass_is(stiffening):
    shapes = fa.Flexible(bend_y=3, stiffening=stiffening)
    beam = system(fa.Link("beam", 2.0, fa.Weld(), BAR, ALUMINIUM, shapes))
    q = fa.equilibrium(beam)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    pose = [beam.frame("beam", 1.0 + each, q)[0, 3] for each in nodes]
    mass = ALUMINIUM.rho * 6e-4
    found = beam.reaction("beam", q)
    assert_allclose(found[:2], [0, 2 * mass * G], rtol=1e-12, atol=1e-12)
    assert_allclose(found[5], mass * G * (weights @ pose), rtol=1e-10)


def test_a_load_is_carried_to_the_ground():
    arm = system(fa.Link("upper", 1.0, mass=2.0), fa.Link("fore", 0.5, mass=1.0), gravity=(0, 0, 0))
    wrench = np.array([1.0, -2.0, 3.0, 0.1, 0.2, 0.3])
    found = arm.reaction("upper", {"fore.q": np.pi / 2}, loads=[("fore", 0.2, wrench)], axes="world")
    torque = wrench[3:] + np.cross([1.0, 0.2, 0.0], wrench[:3])
    assert_allclose(found, -np.concatenate([wrench[:3], torque]), atol=1e-14)


# --- Newton and Euler ---


@st.composite
def rigid_trees(draw) -> fa.Robot:
    links = []
    for k in range(draw(st.integers(1, 5))):
        mount = draw(st.tuples(*[st.floats(-1.5, 1.5)] * 3))
        kind = draw(st.sampled_from(["revolute", "revolute", "weld", "slide", "guide"]))
        axis = draw(st.sampled_from(["x", "y", "z", (1.0, 2.0, -0.5)]))
        joint = {
            "revolute": fa.Revolute(axis, mount=mount),
            "weld": fa.Weld(mount=mount),
            "slide": fa.SlidingPrismatic(mount=mount),
            "guide": fa.FixedPrismatic(mount=mount),
        }[kind]
        parent = draw(st.sampled_from([None, "ground", *(each.name for each in links)])) if links else None
        hangs = bool(links) and parent != "ground" and kind != "slide"
        links.append(
            fa.Link(
                f"link{k}",
                draw(st.floats(0.4, 1.2)),
                joint,
                draw(st.sampled_from([None, BAR, fa.Section.tube(0.03, 0.02)])),
                ALUMINIUM,
                mass=draw(st.floats(0.2, 2.0)),
                rotary_inertia=draw(st.booleans()),
                hub=draw(st.sampled_from([None, fa.PointMass(0.1, inertia=(0.01, 0.02, 0.025))])),
                payload=draw(st.sampled_from([None, fa.PointMass(0.3, offset=(0.05, 0.02, 0.01), inertia=0.01)])),
                masses=draw(st.sampled_from([(), (fa.PointMass(0.2, offset=(0, 0.03, 0.02), at=0.2),)])),
                parent=parent,
                at=draw(st.sampled_from([None, 0.25])) if hangs else None,
                offset=draw(st.sampled_from([(0, 0, 0), (0.02, -0.04, 0.03)])),
            )
        )
    return fa.Robot(links=links, gravity=(1.0, -2.0, -9.5), base=fa.Pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.5)))


@settings(max_examples=25, deadline=None)
@given(rigid_trees(), st.integers(0, 10**6))
def test_rigid_trees_obey_newton_and_euler(robot, seed):
    found = fa.System(robot, native=False)
    q, v, a = np.random.default_rng(seed).uniform(-1, 1, (3, found.nq))
    for each in found.coordinates:
        if each.unit == "m":
            q[each.index] = 0.1 + 0.2 * abs(q[each.index])
    last = robot.links[-1]
    wrench = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    at = found.frame(last.name, 0.3, q)[:3, 3]
    exact = newton_euler.joint_wrenches(robot, found, q, v, a, ((len(robot.links) - 1, at, wrench),))
    for link, (_, force, torque) in zip(robot.links, exact):
        got = found.reaction(link.name, q, v, a, loads=[(last.name, 0.3, wrench)], axes="world")
        size = max(np.abs(force).max(), np.abs(torque).max())
        assert_allclose(got, [*force, *torque], atol=1e-10 * size)


# --- the equations themselves ---


@settings(max_examples=25, deadline=None)
@given(robots(most=4), st.integers(0, 10**6))
def test_a_free_hinge_gives_what_its_drive_gives_less_friction(robot, seed):
    """Whatever the links are: the row of a hinge in the equations is the torque about its axis, less its rotor's."""
    found = fa.System(robot, native=False)
    q, v, a = state(found, seed)
    tau = found.inverse_dynamics(q, v, a)
    for link in robot.links:
        joint = link.joint
        if not isinstance(joint, fa.Revolute):
            continue
        k = found.joint(link.name).index
        lost = joint.viscous * v[k] + joint.coulomb * np.tanh(v[k] / joint.coulomb_speed)
        if joint.drive is not None and joint.drive.elastic:
            lost -= joint.drive.stiffness * (q[k + 1] - q[k]) + joint.drive.damping * (v[k + 1] - v[k])
        elif joint.drive is not None:
            lost += joint.drive.reflected_inertia * a[k]
        wrench = found.reaction(link.name, q, v, a)
        size = max(np.abs(wrench).max(), np.abs(tau).max(), abs(lost))
        assert_allclose(np.dot(joint.axis_vector, wrench[3:]), tau[k] - lost, atol=1e-12 * size)


def test_a_stop_pushes_through_its_joint():
    joint = fa.Revolute(limits=(-1.0, 1.0), stop=fa.Stop(1000.0))
    rod = system(fa.Link("rod", 1.0, joint, mass=2.0))
    tau = rod.inverse_dynamics({"rod.q": 1.2}, {}, {})
    push = -1000.0 * 0.2
    assert_allclose(rod.reaction("rod", {"rod.q": 1.2})[5], tau[0] + push, rtol=1e-12)


def test_slides_on_rigid_links_give_their_force_along_the_slide():
    rail, rider = fa.Link("rail", 1.0, mass=1.0), fa.Link("rider", 0.5, fa.SlidingPrismatic(0.4), mass=0.7)
    guide = fa.Link("guide", 0.8, fa.FixedPrismatic(-0.3, viscous=2.0), mass=0.5)
    robot = system(rail, rider, guide)
    q, v, a = np.random.default_rng(3).uniform(0.2, 0.7, (3, robot.nq))
    tau = robot.inverse_dynamics(q, v, a)
    slide = np.array([np.cos(0.4), -np.sin(0.4), 0.0])  # the rail's axis, in the rider's
    assert_allclose(slide @ robot.reaction("rider", q, v, a)[:3], tau[1], rtol=1e-12)
    assert_allclose(robot.reaction("guide", q, v, a)[0], tau[2] - 2.0 * v[2], rtol=1e-12)


def test_a_link_that_bends_and_slides_is_pushed_out_by_its_bending():
    """The guide exerts a larger axial force than the drive, by the force on the clamped root of a bent bar."""
    robot = fa.System(pair("R", "Pb", "none"), native=False)
    q = robot.vector({"b.q": 0.5, "b.bend_y[1]": 0.004})
    d, tau = robot.index("b.q"), robot.inverse_dynamics(q, None, None)
    pushed = robot.spring_forces(q)[d]
    assert pushed < 0
    assert_allclose(tau[d] - robot.reaction("b", q)[0], pushed, rtol=1e-9)


@settings(max_examples=10, deadline=None)
@given(robots(most=3), st.integers(0, 10**6))
def test_what_the_ground_gives_is_the_rate_of_momentum(robot, seed):
    found = fa.System(robot, native=False)
    q, v, a = state(found, seed)
    roots = [link.name for link, parent in zip(robot.links, robot.parents) if parent is None]
    total = sum(found.reaction(name, q, v, a, axes="world")[:3] for name in roots)
    assert_allclose(total, momentum_rate(found, q, v, a), atol=2e-5 * max(1.0, np.abs(total).max()))


def momentum_rate(found: fa.System, q, v, a) -> np.ndarray:
    """Rate of the robot's momentum less its weight, by differences of its centre of mass, from the potential."""
    pulls = [fa.System(found.robot.with_(gravity=tuple(-each)), native=False) for each in np.eye(3)]

    def centre(x):
        return np.array([float(each.energy(x).gravity) for each in pulls])

    h = 1e-3
    ahead, behind = (centre(q + s * h * v + h**2 / 2 * a) for s in (1, -1))
    return (ahead - 2 * centre(q) + behind) / h**2 - found.robot.total_mass * np.array(found.robot.gravity)


@settings(max_examples=10, deadline=None)
@given(rigid_trees(), st.integers(0, 10**6))
def test_the_power_of_a_reaction_is_the_rate_of_the_energy_outboard(robot, seed):
    found = fa.System(robot, native=False)
    q, v, a = np.random.default_rng(seed).uniform(0.2, 0.35, (3, found.nq))
    last = robot.links[-1]

    def energy(t: float) -> float:
        here = newton_euler.frames(robot, found, q + t * v + t**2 / 2 * a, v + t * a, a)[-1]
        total = 0.0
        for centre, mass, inertia in newton_euler.bodies(last):
            at, spin = here.shifted(centre), here.R.T @ here.omega
            total += mass * (at.v @ at.v / 2 - np.dot(robot.gravity, at.p)) + spin @ inertia @ spin / 2
        return total

    at, h = newton_euler.frames(robot, found, q, v, a)[-1], 1e-4
    if isinstance(last.joint, fa.FixedPrismatic):  # the material that is in the guide
        at = at.shifted((last.length - q[found.joint(last.name).index], 0, 0))
    wrench = found.reaction(last.name, q, v, a, axes="world")
    power = wrench @ np.concatenate([at.v, at.omega])
    assert_allclose(power, (energy(h) - energy(-h)) / (2 * h), rtol=1e-6, atol=1e-6)


# --- constraints ---


def four_bar(cut: str, **fields) -> fa.Robot:
    """Return the same linkage, opened at one of two of its joints."""
    crank, coupler = fa.Link("crank", 0.2, mass=1.0), fa.Link("coupler", 0.5, mass=2.0)
    if cut == "coupler":
        rocker = fa.Link("rocker", 0.4, parent="ground", offset=(0.45, 0, 0), mass=1.5)
        loop = fa.Loop("coupler", "rocker", name="loop")
    else:
        rocker = fa.Link("rocker", 0.4, mass=1.5)
        loop = fa.Loop("rocker", "ground", position=(0.45, 0, 0), name="loop")
    return fa.Robot(links=[crank, coupler, rocker], constraints=[loop], gravity=(0, -G, 0), **fields)


def constrained(found: fa.System, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and forces of the rows, from the whole matrix."""
    J, h = found.constraint_jacobian(q), 1e-4
    ahead, behind = (found.constraint_jacobian(q + s * h * v) for s in (1, -1))
    far = [found.constraint_jacobian(q + s * 2 * h * v) for s in (1, -1)]
    rate = (8 * (ahead - behind) - (far[0] - far[1])) / (12 * h)
    n, m = found.nq, len(J)
    whole = np.block([[found.mass_matrix(q), -J.T], [J, np.zeros((m, m))]])
    solved = np.linalg.solve(whole, np.concatenate([tau - found.bias(q, v), -rate @ v]))
    return solved[:n], solved[n:]


def test_a_joint_in_the_tree_and_as_a_loop_carries_the_same():
    """A four-bar linkage opened at one of two joints: the reaction of one is the multiplier of the other."""
    from tests.simulation.test_constraints import at

    open_loop, chain = fa.System(four_bar("coupler"), native=False), fa.System(four_bar("ground"), native=False)
    q1 = open_loop.vector(at(1.0))
    turn = np.cumsum(q1[:2])
    # in the chain the rocker runs the other way, from the coupler's end to the ground
    q2 = chain.vector({"crank.q": q1[0], "coupler.q": q1[1], "rocker.q": q1[2] + np.pi - turn[1]})
    J1 = open_loop.constraint_jacobian(q1)
    v1 = np.array([1.3, *np.linalg.solve(J1[:, 1:], -J1[:, 0] * 1.3)])
    v2 = np.array([v1[0], v1[1], v1[2] - v1[0] - v1[1]])
    tau = np.array([0.7, 0.0, 0.0])
    a1, held1 = constrained(open_loop, q1, v1, tau)
    a2, held2 = constrained(chain, q2, v2, tau)
    given1, given2 = {"constraint_forces": held1, "axes": "world"}, {"constraint_forces": held2, "axes": "world"}
    ground = open_loop.reaction("rocker", q1, v1, a1, **given1)
    assert_allclose(ground[:2], held2, rtol=1e-8)
    elbow = chain.reaction("rocker", q2, v2, a2, **given2)  # on the rocker; the loop's force is on the coupler
    assert_allclose(elbow[:2], -held1, rtol=1e-8)
    for link in ("crank", "coupler"):
        one, other = open_loop.reaction(link, q1, v1, a1, **given1), chain.reaction(link, q2, v2, a2, **given2)
        assert_allclose(one, other, rtol=1e-8, atol=1e-8)
    assert_allclose(open_loop.reaction("crank", q1, v1, a1, **given1)[5], 0.7, rtol=1e-8)


def test_a_loop_between_a_link_and_what_hangs_on_it_is_no_force_on_its_own_joint():
    links = [fa.Link("a", 1.0, mass=1.0), fa.Link("b", 0.5, mass=1.0)]
    loop = fa.Loop("b", "a", second_at=0.5, joint="weld", mount=(0, 0, np.pi))
    robot = fa.System(fa.Robot(links=links, constraints=[loop]), native=False)
    forces = np.random.default_rng(0).normal(size=len(robot.constraints))
    q = {"a.q": 0.3, "b.q": np.pi}
    assert_allclose(robot.reaction("a", q, constraint_forces=forces), 0, atol=1e-14)
    assert np.abs(robot.reaction("b", q, constraint_forces=forces)).max() > 0.1


# --- arguments ---


def test_batches_and_single_states_are_the_same():
    arm = fa.System(fa.library.two_link_arm(), native=False)
    q, v, a = np.random.default_rng(1).normal(size=(3, 2, 4, arm.nq)) * 0.01
    load = np.random.default_rng(2).normal(size=(4, 6))
    kept = q.copy(), load.copy()
    whole = arm.reaction("fore", q, v[0, 0], a, loads=[("fore", None, load)])
    assert whole.shape == (2, 4, 6)
    one = arm.reaction("fore", q[1, 2], v[0, 0], a[1, 2], loads=[("fore", None, load[2])])
    assert_allclose(whole[1, 2], one, rtol=1e-14)
    assert (q == kept[0]).all()
    assert (load == kept[1]).all()
    assert arm.reaction("fore", np.zeros((0, arm.nq))).shape == (0, 6)


def test_a_robot_without_coordinates_has_reactions():
    post = system(fa.Link("post", 1.0, fa.Weld(), mass=1.0), fa.Link("arm", 1.0, fa.Weld(), mass=1.0))
    assert post.nq == 0
    assert_allclose(post.reaction("post"), [0, 2 * G, 0, 0, 0, (0.5 + 1.5) * G])
    assert_allclose(post.reaction("post", np.zeros((3, 0))), np.tile([0, 2 * G, 0, 0, 0, 2 * G], (3, 1)))


def test_what_is_wrong_is_said():
    arm = system(fa.Link("upper", 1.0, mass=1.0), fa.Link("fore", 1.0, mass=1.0))
    with pytest.raises(KeyError, match="there is no link 'for'; did you mean 'fore'"):
        arm.reaction("for")
    with pytest.raises(ValueError, match="axes = 'own': must be 'joint' or 'world'"):
        arm.reaction("fore", axes="own")
    with pytest.raises(KeyError, match=r"loads\[0\]: there is no link 'x'"):
        arm.reaction("fore", loads=[("x", 0.5, np.zeros(6))])
    with pytest.raises(ValueError, match=r"loads\[0\]: x = 2: must lie on link 'fore'"):
        arm.reaction("fore", loads=[("fore", 2.0, np.zeros(6))])
    with pytest.raises(ValueError, match=r"loads\[0\]: the wrench has shape \(3,\)"):
        arm.reaction("fore", loads=[("fore", 0.5, np.zeros(3))])
    with pytest.raises(TypeError, match=r"loads\[0\] = 'fore': must be \(link, x, wrench\)"):
        arm.reaction("fore", loads=["fore"])
    with pytest.raises(ValueError, match="constraint_forces has shape"):
        arm.reaction("fore", constraint_forces=[1.0])
    loop = fa.System(four_bar("ground"), native=False)
    with pytest.raises(ValueError, match="constraint_forces: is required"):
        loop.reaction("crank")
