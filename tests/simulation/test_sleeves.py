"""Links that slide in a sleeve of another link (Pan, Scott and Ulsoy, eqs. 22-25), and supports on links."""

import numpy as np
import pytest

import flexarm as fa
from tests.oracles.beam_in_sleeve import BeamInSleeve

STEEL = fa.Material(E=2e11, rho=7850.0)
SECTION = fa.Section.properties(A=1 / STEEL.rho, I_y=1 / STEEL.E, I_z=1 / STEEL.E)  # 1 kg/m, 1 N m^2
ELEMENTS = fa.Flexible(bend_y=8, basis="elements")


def beam(joint, flexible=ELEMENTS, **more):
    return fa.Link("beam", 1.0, joint, SECTION, STEEL, flexible, **more)


def telescope(joint=None, flexible=ELEMENTS, carrier=None, gravity=(0, 0, 0), constraints=(), **more):
    """A carrier of 1 m on a hinge, and a beam in it."""
    carrier = fa.Link("carrier", 1.0, fa.Revolute("z"), mass=3.0) if carrier is None else carrier
    return fa.Robot(
        links=[carrier, beam(joint or fa.Sleeve(), flexible, **more)], gravity=gravity, constraints=constraints
    )


def test_a_turning_sleeve_against_elements_and_a_multiplier_of_their_own():
    """Another mesh and another integration; 2.6e-6 m were found, 1.5e-4 without shortening (of 15 mm of deflection)."""

    def torque(t):
        return 0.25 * np.sin(2 * np.pi * t)

    def push(t):
        return -0.6 * np.sin(2 * np.pi * t)

    times = np.linspace(0, 1, 41)
    own = BeamInSleeve(1.0, 1.0, 1.0, 1.0, 1.0, 6, torque, push)
    found = own.run(np.r_[0, 0.55, np.zeros(own.count)], times)
    run = fa.simulate(
        telescope(),
        1.0,
        torque={"carrier": torque, "beam": push},
        q0={"beam.q": 0.55},
        sample=1 / 40,
        native=False,
        rtol=1e-6,
    )
    size = np.abs(found[:, -2]).max()
    assert np.abs(run.tip.values[:, :2] - own.tip(found)).max() < 1e-3 * size
    assert np.abs(run["beam.q"].values - found[:, 1]).max() < 1e-5


def tip_under_load(load, inside, weight=1.0):
    """Of a beam of 1 m and 1 N m^2 that is clamped at its end, held `inside` from it, with a weight per metre."""
    out = 1 - inside
    moment = load * out + weight * out**2 / 2
    slope = moment * inside / 4 - weight * inside**3 / 48
    return load * out**3 / 3 + weight * out**4 / 8 + slope * out


@pytest.mark.parametrize("inside", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_at_rest_it_is_a_beam_on_two_supports(inside, angle):
    """The hinge is held by what it takes; gravity acts across the sleeve."""
    g, load = 1e-3, 0.3
    across = (g * np.sin(angle), -g * np.cos(angle), 0)
    robot = telescope(payload=fa.PointMass(load), gravity=across)
    system = fa.System(robot, native=False)
    q = fa.equilibrium(system, {"carrier.q": angle, "beam.q": 1 - inside})
    pose = system.frame("carrier", 0.0, q)
    tip = pose[:3, :3].T @ system.frame("beam", None, q)[:3, 3]
    assert -tip[1] == pytest.approx(tip_under_load(load * g, inside, g), rel=1e-6)


def test_between_nodes_it_converges():
    """The shear jumps at the mouth, inside an element: errors fall with the third power of their length."""
    exact, errors = tip_under_load(1e-3, 0.43, 0.0), []
    for count in (4, 8, 16, 32):
        flexible = fa.Flexible(bend_y=count, basis="splines")
        light = telescope(flexible=flexible, payload=fa.PointMass(1e6), gravity=(0, -1e-9, 0))
        system = fa.System(light, native=False)
        q = fa.equilibrium(system, {"beam.q": 0.57})
        errors.append(abs(-system.frame("beam", None, q)[1, 3] / exact - 1))
    assert errors[-1] < 2e-5
    assert np.log2(errors[0] / errors[-1]) / 3 > 2.5


@pytest.mark.slow
def test_two_mouths_close_together_clamp():
    """In the limit they hold the slope, too, and all is as in a fixed guide: the error is linear in their distance."""
    motion = {"carrier": fa.cycloid(0.0, 0.3, 1.0), "beam": fa.cycloid(0.5, 0.4, 1.0)}
    options = {"motion": motion, "native": False, "rtol": 1e-6, "sample": 0.01, "q0": {"beam.q": 0.5}}
    guided = telescope(fa.FixedPrismatic(rear="rigid"), fa.Flexible(bend_y=4, stiffening="shortening"))
    wanted, rigid = (fa.simulate(each, 0.4, **options).tip.values for each in (guided, guided.rigid()))
    still, tips = [], []
    for gap in (0.05, 0.025):
        extra = fa.PointSupport("beam", (-gap, 0, 0), "y", on="carrier")
        robot = telescope(flexible=fa.Flexible(bend_y=40, basis="splines"), constraints=[extra])
        heavy = robot.with_({"links.beam.payload": {"mass": 1e4}, "gravity": (0, -1e-6, 0)})
        system = fa.System(heavy, native=False)
        q = fa.equilibrium(system, {"beam.q": 0.5})
        still.append(-system.frame("beam", None, q)[1, 3] / (1e-2 * 0.5**3 / 3) - 1)
        tips.append(fa.simulate(robot, 0.4, **options).tip.values)
    assert 0 < still[1] < 0.52 * still[0] < 0.06
    far, near, limit = (np.abs(each - wanted).max() for each in (*tips, 2 * tips[1] - tips[0]))
    assert near < 0.55 * far
    assert limit < 0.02 * np.abs(wanted - rigid).max()


@pytest.mark.parametrize("stiffening", ["shortening", "none"])
def test_with_a_carrier_at_rest_it_is_a_support_in_space(stiffening):
    flexible = fa.Flexible(bend_y=6, basis="elements", stiffening=stiffening)
    welded = telescope(flexible=flexible, carrier=fa.Link("carrier", 1.0, fa.Weld(), mass=1.0), gravity=(0, -0.5, 0))
    support = fa.PointSupport("beam", (1, 0, 0), "y")
    on_ground = fa.Robot(links=[beam(fa.SlidingPrismatic(), flexible)], gravity=(0, -0.5, 0), constraints=[support])
    in_ground = fa.Robot(links=[beam(fa.Sleeve(mouth=1.0), flexible)], gravity=(0, -0.5, 0))
    runs = [
        fa.simulate(each, 1.0, motion={"beam": fa.cycloid(0.7, 0.2, 1.0)}, native=False, dt=5e-3)  # the same steps
        for each in (welded, on_ground, in_ground)
    ]
    for run in (runs[0], runs[2]):
        assert np.abs(run.tip.values - runs[1].tip.values).max() < 1e-8  # what iterations leave
        assert np.abs(run.data["reaction"].values - runs[1].data["reaction"].values).max() < 1e-6


def test_a_sleeve_of_a_base_that_is_turned():
    base = fa.Pose((0.3, -0.2, 0.1), (0, 0, np.pi / 2))
    plain = fa.Robot(links=[beam(fa.Sleeve(mouth=0.2))], gravity=(0, -0.5, 0))
    turned = fa.Robot(links=[beam(fa.Sleeve(mouth=0.2))], gravity=(0.5, 0, 0), base=base)
    q = [fa.equilibrium(fa.System(each, native=False), {"beam.q": -0.4}) for each in (plain, turned)]
    assert q[0] == pytest.approx(q[1], abs=1e-12)


CARRIERS = {
    "modes": fa.Flexible(bend_y=2),
    "splines": fa.Flexible(bend_y=3, basis="splines"),
    "in space": fa.Flexible(bend_y=2, bend_z=2, twist=1),
}


@pytest.mark.parametrize("kind", CARRIERS)
def test_energy_is_conserved_on_a_carrier_that_turns_and_bends(kind):
    tube, aluminium = fa.Section.tube(0.03, 0.002), fa.Material(7e10, 2700)
    carrier = fa.Link("carrier", 1.0, fa.Revolute("z"), tube, aluminium, CARRIERS[kind])
    families = {name: 3 for name in CARRIERS[kind].counts if name.startswith("bend")}
    robot = fa.Robot(
        links=[
            carrier,
            fa.Link("beam", 1.2, fa.Sleeve(), fa.Section.rectangle(0.006, 0.004), aluminium, fa.Flexible(**families)),
        ],
        gravity=(0, -1, 0.3),
    )
    start = {"q0": {"carrier.q": 0.3, "beam.q": 0.4}, "v0": {"beam.q": 0.2, "carrier.q": 1.0}}
    run = fa.simulate(robot, 0.1, native=False, rtol=1e-8, **start)
    moved = np.ptp(run.energy["kinetic"].values)
    assert abs(run.energy["balance"].values[-1]) < 1e-6 * moved  # samples between steps see fast modes less well
    assert run.data["violation"].values.max() < 1e-9


def test_splines_carry_a_slide_as_modes_do():
    """A slide on a mesh: its curvature is continuous, so the slide passes nodes without a jolt."""
    tips, balances = [], []
    for flexible in (fa.Flexible(bend_y=5, stiffening="shortening"), fa.Flexible(bend_y=12, basis="splines")):
        carrier = fa.Link("carrier", 1.0, fa.Revolute("z"), SECTION, STEEL, flexible)
        rider = fa.Link("rider", 0.1, fa.SlidingPrismatic(np.pi / 2), mass=0.3)
        robot = fa.Robot(links=[carrier, rider], gravity=(0, -0.05, 0))
        run = fa.simulate(
            robot, 2.0, q0={"rider.q": 0.2}, v0={"rider.q": 0.3, "carrier.q": 0.1}, native=False, rtol=1e-7, sample=0.05
        )
        tips.append(run.tip.values)
        balances.append(abs(run.energy["balance"].values[-1]) / np.ptp(run.energy["kinetic"].values))
    assert np.abs(tips[1] - tips[0]).max() < 2e-4
    assert max(balances) < 1e-5


def test_a_telescope_of_three_stages():
    stages = [fa.Link("base", 1.0, fa.Revolute("z"), mass=3.0)]
    for k, (height, width) in enumerate([(0.02, 0.03), (0.012, 0.02)]):
        section, flexible = fa.Section.rectangle(height, width), fa.Flexible(bend_y=4, basis="splines")
        stages.append(fa.Link(f"stage_{k}", 1.0, fa.Sleeve(), section, fa.Material(7e10, 2700), flexible))
    robot = fa.Robot(links=stages, gravity=(0, -9.81, 0))
    out = {f"stage_{k}": fa.cycloid(0.2, 0.6, 0.5) for k in range(2)}
    run = fa.simulate(
        robot,
        0.5,
        motion=out | {"base": fa.cycloid(0, 0.2, 0.5)},
        q0={"stage_0.q": 0.2, "stage_1.q": 0.2},
        native=False,
    )
    assert run.reason == "completed"
    assert run.data["violation"].values.max() < 1e-9
    assert run.tip.values[-1, 0] == pytest.approx(2.2 * np.cos(0.2), abs=0.05)


def test_the_mouth_gives_back_what_it_takes():
    """At rest: the hinge of the carrier holds all weight, the section behind the mouth what the mouth gives."""
    g, inside, load = 1e-3, 0.5, 0.3
    robot = telescope(payload=fa.PointMass(load), gravity=(0, -g, 0))
    run = fa.simulate(
        robot,
        1e-3,
        motion={"carrier": lambda t: 0 * t, "beam": lambda t: 1 - inside + 0 * t},
        q0="equilibrium",
        native=False,
    )
    total = run.reaction("carrier")[0].values
    weight = {"carrier": (3.0, 0.5), "beam": (1.0, 1 - inside + 0.5), "load": (load, 2 - inside)}
    assert total[1] == pytest.approx(g * sum(m for m, _ in weight.values()), rel=1e-6)
    assert total[5] == pytest.approx(g * sum(m * x for m, x in weight.values()), rel=1e-6)
    out = 1 - inside
    moment = g * (load * out + out**2 / 2)
    # of a propped cantilever: what its far end's moment and its own weight ask of the prop
    prop = g * (load + out) + 3 * moment / (2 * inside) + 3 * g * inside / 8
    (mouth,) = run.reaction("beam.mouth")[0].values
    assert mouth == pytest.approx(prop, rel=1e-5)
    tip_of_carrier = run.force("carrier", 0.999)[0].values  # outboard of it are 1 g of it, and the mouth
    assert -tip_of_carrier[1] == pytest.approx(prop + 0.003 * g, rel=1e-5)


def test_a_sleeve_is_watched_at_both_ends():
    robot = telescope()
    assert robot.travel("beam") == (0.0, 0.99)
    out = fa.simulate(robot, 5.0, q0={"beam.q": 0.5}, v0={"beam.q": 0.5}, native=False)
    assert "'beam.q' reached its upper limit 0.99 m" in out.reason
    short = telescope(fa.Sleeve(mouth=0.3))
    assert short.travel("beam") == (0.0, 0.29)


def test_statics_in_a_sleeve_that_bends():
    """Both beams see P and the mouth's R: R = P (3 Lb - a) / (2 a) EIc / (EIc + EIb), a from the end to the mouth. The
    end's moment makes the carrier's curvature jump, so it converges with the first power only."""
    load, ratio, inside = 1e-3, 5.0, 0.5
    thick = fa.Section.properties(A=1 / STEEL.rho, I_y=ratio / STEEL.E, I_z=ratio / STEEL.E)
    exact = load * (3 - inside) / (2 * inside) * ratio / (ratio + 1)
    errors = []
    for count in (8, 32):
        shapes = fa.Flexible(bend_y=count, basis="splines", stiffening="none")
        carrier = fa.Link("carrier", 1.0, fa.Weld(), thick, STEEL, shapes, mass=1e-3)
        robot = telescope(flexible=shapes, carrier=carrier, gravity=(0, -1e-9, 0), payload=fa.PointMass(1e6))
        system = fa.System(robot, native=False)
        q = fa.equilibrium(system, {"beam.q": 1 - inside})
        behind, ahead = (system.section_forces("carrier", x, q)[1] for x in (0.999, 0.4))
        errors.append(abs(behind / exact + 1))
        assert ahead == pytest.approx(-load, rel=1e-3)  # outboard of the end both forces are there
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 5e-3


def test_forces_of_constraints_are_found_at_rest():
    """As a run has them; a state that does not tell them asks for them."""
    system = fa.System(telescope(gravity=(0, -1, 0)), native=False)
    q = fa.equilibrium(system, {"beam.q": 0.5})
    run = fa.simulate(
        system, 1e-3, motion={"carrier": lambda t: 0 * t, "beam": lambda t: 0.5 + 0 * t}, q0="equilibrium", native=False
    )
    assert system.reaction("carrier", q)[1] == pytest.approx(4.0, rel=1e-9)
    there = np.r_[run.force("beam", 0.2)[0].values, run.moment("beam", 0.2)[0].values]
    assert system.section_forces("beam", 0.2, q) == pytest.approx(there, abs=1e-4)
    with pytest.raises(ValueError, match="constraint_forces: is required"):
        system.reaction("carrier", {"beam.q": 0.5})  # not at rest: the beam would start to swing


def test_a_support_that_comes_to_the_root_ends_the_run():
    support = fa.PointSupport("beam", (0.5, 0, 0), "y")
    robot = fa.Robot(links=[beam(fa.SlidingPrismatic())], constraints=[support])
    run = fa.simulate(robot, 1.0, motion={"beam": fa.cycloid(0.2, 0.8, 1.0)}, native=False)
    assert "slid off its support 'point-support[0]'" in run.reason
    assert "its root" in run.reason
    with pytest.raises(ValueError, match="is at the root of link 'beam' at the start"):
        fa.simulate(robot, 1.0, q0={"beam.q": 0.499}, native=False)


def test_what_is_picked_for_links_that_slide_promises_nothing():
    robot = telescope(flexible=fa.Flexible(up_to=5))
    assert "frequencies may be some per cent off: where something slides along it" in " ".join(str(robot).split())
