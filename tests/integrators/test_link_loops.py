"""Loops over links that share code, against the equations written out link by link."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from benchmarks.robots import planar_chain, spatial_chain
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.traced_law import TracedLaw
from flexarm.integrators import compiled_step
from flexarm.integrators.compiled_step import report
from flexarm.integrators.plant import Plant


def rough() -> fa.Robot:
    """Equal links with everything on them, in two branches, in gravity."""
    joint = fa.Revolute(
        (0.6, 0.0, 0.8), mount=(0.3, 0.0, 1.0), viscous=0.2, coulomb=0.1, limits=(-0.05, 0.05), stop=fa.Stop(50.0, 2.0)
    )
    link = fa.Link(
        "a",
        0.7,
        joint.model_copy(update={"drive": fa.Drive(stiffness=80.0, damping=0.1, rotor_inertia=0.02, gear_ratio=3)}),
        fa.Section.rectangle(0.02, 0.01),
        fa.Material(7e10, 2700, damping=1e-3),
        fa.Flexible(bend_y=2, bend_z=1, twist=1, stretch=1, basis="elements", damping=fa.Damping(alpha=0.3)),
        hub=fa.PointMass(0.2, inertia=0.01),
        payload=fa.PointMass(0.3, offset=(0.0, 0.02, 0.0)),
        rotary_inertia=True,
    )

    def named(name, parent, at=None):
        return link.model_copy(update={"name": name, "parent": parent, "at": at})

    links = [named("a", "ground"), named("b", "a"), named("c", "b"), named("d", "a", 0.35), named("e", "d")]
    return fa.Robot(links=links, gravity=(1.0, -2.0, -9.0), base=fa.Pose((0.1, 0.2, 0.3), (0.1, -0.2, 0.3)))


def welded() -> fa.Robot:
    """Hinges and welds in turn: some links have no coordinate of their own but those of bending."""
    links = []
    for k, each in enumerate(planar_chain(6).links):
        links.append(each if k % 2 == 0 else each.model_copy(update={"joint": fa.Weld(mount=(0, 0, 0.4))}))
    return fa.Robot(links=links, gravity=(0.0, -9.81, 0.0))


ROBOTS = {
    "planar": planar_chain(4),
    "spatial": spatial_chain(3, damping=1e-4),
    "rigid": planar_chain(5).rigid(),
    "rough": rough(),
    "welded": welded(),
}


def both(structure, monkeypatch, *given) -> list[Plant]:
    found = []
    for shared in (True, False):
        monkeypatch.setattr("flexarm.integrators.plant.has_shared_links", lambda structure, shared=shared: shared)
        plant = Plant(structure, *given)
        assert (plant.shared is not None) is shared
        found.append(plant)
    return found


def law(t, q, v):
    return [-3.0 * q[0] - 0.5 * v[0] + 0.1 * q[1], *[0.0] * 4]


@pytest.mark.parametrize("driven", [(), (0,), (1,)])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_function_of_a_plant_is_the_same(name, driven, monkeypatch):
    system = fa.System(ROBOTS[name], native=False)
    steered = TracedLaw(Feedback(law), system) if name == "rough" and not driven else None
    plants = both(system.structure, monkeypatch, driven, None, steered)
    rng, n = np.random.default_rng(3), system.nq
    q, v, a = rng.uniform(-1, 1, (3, n)) * 0.1 * system.sizes
    u, free = rng.normal(size=plants[0].input_count), n - len(driven)
    r, s = rng.normal(size=(2, free))
    stiff, damp, numbers = 1e-4, 1e-2, system.numbers
    found = []
    for plant in plants:
        factors = plant.factor.function(q, v, u, stiff, damp, numbers)
        found.append(
            [
                plant.residual.function(q, v, a, u, numbers),
                plant.substitute.function(factors, r, numbers),
                plant.resolved.function(factors, q, r, stiff, damp, numbers),
                *plant.displacements.function(q, r, s, numbers),
                *report(plant)(q, v, a, u, numbers),
            ]
        )
    for one, other in zip(*found, strict=True):
        expected = other.full()
        assert_allclose(one.full(), expected, rtol=1e-9, atol=1e-11 * max(np.abs(expected).max(initial=0.0), 1e-12))


@pytest.mark.parametrize("method", ["generalized-alpha", "rk45"])
def test_runs_are_the_same(method, monkeypatch):
    robot, torque, tips = ROBOTS["planar"], {"link0": fa.bang_bang(0.02, (0.05, 0.1))}, []
    for shared in (True, False):
        monkeypatch.setattr("flexarm.integrators.plant.has_shared_links", lambda structure, shared=shared: shared)
        compiled_step._codes.clear()
        run = fa.simulate(robot, 0.1, torque=torque, dt=2e-4, sample=0.02, native=False, method=method)
        tips.append(np.column_stack([run.array("tip"), run.array("kinetic"), run.array("elastic")]))
    compiled_step._codes.clear()
    assert_allclose(tips[0], tips[1], rtol=1e-9, atol=1e-12)


def test_code_grows_with_the_kinds_of_links_not_with_their_count():
    def size(count):
        system = fa.System(planar_chain(count), native=False)
        plant = Plant(system.structure)
        assert plant.shared is not None
        parts = {f for name in ("residual", "factor") for f in getattr(plant, name).function.find_functions()}
        return sum(f.n_instructions() for f in parts if f.is_a("SXFunction") and not f.name().startswith("applied"))

    assert size(40) == size(80)


def test_links_may_be_called_as_parts_of_a_robot_are():
    names = ["base", "gravity", "links", *(f"link{k}" for k in range(3, 30))]
    chain = planar_chain(30)
    renamed = fa.Robot(links=[each.model_copy(update={"name": name}) for each, name in zip(chain.links, names)])
    tips = [fa.simulate(each, 2e-3, dt=1e-3, sample=1e-3, native=False).array("tip") for each in (chain, renamed)]
    assert_allclose(tips[0], tips[1], rtol=0, atol=0)


def test_small_robots_and_those_of_other_kinds_are_written_out():
    slider = fa.Link("slider", 0.5, fa.SlidingPrismatic(), mass=1.0)
    long = planar_chain(40)
    for robot in (fa.library.two_link_arm(), planar_chain(5), fa.Robot(links=[*long.links, slider])):
        assert Plant(fa.System(robot, native=False).structure).shared is None
    assert Plant(fa.System(long, native=False).structure).shared is not None
