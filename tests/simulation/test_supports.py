"""Beams on supports: loads that cross them, and a beam that is pushed over them (Pan, Scott and Ulsoy, section 5)."""

import numpy as np
import pytest

import flexarm as fa
from flexarm_papers.pan.beam import floating, rooted
from tests.helpers import table, unit_link

FORCE = 1e-3  # small, so that the references' linear theory holds


def columns(name, *wanted):
    rows = table(f"{name}.csv")
    return [np.array([float(row[column]) for row in rows]) for column in wanted]


def bridge(modes, mass):
    """A simply supported beam and a mass that rides along it."""
    links = [
        unit_link("beam", joint=fa.Revolute("z"), flexible=fa.Flexible(bend_y=modes, stiffening="none")),
        fa.Link("rider", 0.1, fa.SlidingPrismatic(), mass=0.0, hub=fa.PointMass(mass) if mass else None),
    ]
    return fa.Robot("bridge", links, constraints=[fa.OnPlane("beam", point=(1, 0, 0), normal=(0, 1, 0))])


def crossing(robot, speed, native):
    """Fractions of the way, and the deflections in the middle and under a weight that crosses the beam."""
    end = (1 - 1e-9) / speed
    run = fa.simulate(
        robot,
        end,
        motion={"rider": lambda t: speed * t},
        loads=[fa.PointLoad("rider", 0.0, force=(0, -FORCE, 0))],
        points={"middle": ("beam", 0.5), "rider": ("rider", 0.0)},
        sample=end / 200,
        rtol=1e-7,
        native=native,
    )
    found = run.data["points"].sel(axis="y") / FORCE
    return run.time.values * speed, -found.sel(point="middle").values, -found.sel(point="rider").values


@pytest.mark.parametrize("alpha", [0.25, 1])
def test_a_force_that_crosses_a_simply_supported_beam(alpha):
    wanted = f"w_mid/(PL^3/48EI)_alpha={alpha:g}"
    place, reference = columns("moving_force_simply_supported", "vt/L", wanted)
    x, middle, _ = crossing(bridge(10, 0.0), np.pi * alpha, native=False)
    assert np.abs(48 * np.interp(place, x, middle) - reference).max() < 1e-3 * np.abs(reference).max()


@pytest.mark.parametrize(
    ("mass", "speed", "modes"),
    [
        (0.5, 0.5, 10),
        pytest.param(0.5, 1.0, 14, marks=pytest.mark.slow),
        pytest.param(0.2, 0.5, 14, marks=pytest.mark.slow),
    ],
)
def test_a_mass_that_crosses_a_simply_supported_beam(mass, speed, modes):
    names = [f"{what}_mu={mass:g}_v={speed:g}" for what in ("w_mid", "w_under")]
    place, at_middle, under = columns("moving_mass_simply_supported", "vt/L", *names)
    x, middle, rider = crossing(bridge(modes, mass), speed, native=modes > 10)
    for found, reference in ((middle, at_middle), (rider, under)):
        # the references count deflection upward
        assert np.abs(np.interp(place, x, -found) - reference).max() < 1.5e-3 * np.abs(reference).max()


def tip_motion(case, describe, root, count, stiffening, **options):
    """Times and transverse displacement of the observed end: the overhang at H goes from 0.725 to 0.025 in a push and
    back in a pull; the start is the static shape under a uniform load with 0.01 at the observed end."""
    pull = case == "supports_fast_pull"
    duration = 3.5 if case == "supports_slow_push" else 0.7
    before, after = (0.025, 0.725) if pull else (0.725, 0.025)
    ends = [(-overhang if root == "H" else 1 - overhang) for overhang in (before, after)]
    system = fa.System(describe(root, count, stiffening), native=False)
    slide = system.robot.links[0].name
    observed = 0.0 if root == ("E" if pull else "H") else 1.0

    def tip(q):
        return system.frame("beam", observed, q)[..., 1, 3]

    middle = {"lift.q": 0.5} if slide == "rail" else {}
    straight = system.vector({f"{slide}.q": ends[0]} | middle)
    loaded = fa.equilibrium(fa.System(describe(root, count, stiffening, -1e-3), native=False), straight)
    for _ in range(5):
        loaded = straight + (loaded - straight) * 0.01 / abs(tip(loaded))
    motion = {slide: fa.cycloid(*ends, duration)}
    run = fa.simulate(system, duration, motion=motion, q0=loaded, sample=duration / 350, **options)
    assert run.reason == "completed"
    assert run.data["violation"].values.max() < 1e-9
    return run.time.values, tip(run.data["q"].values) * np.sign(tip(loaded))


CASES = ["supports_slow_push", "supports_fast_push", "supports_fast_pull"]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("root", "stiffening"), [("H", "shortening"), ("E", "shortening"), ("H", "none")])
def test_a_beam_pushed_over_two_supports_against_the_reference(case, root, stiffening):
    """8 elements; measured with 8, 16, 32: 3, 0.4, 0.1 % of the amplitude over the whole motion."""
    end = "E" if "pull" in case else "H"
    side = f"w_{end}_driver{root}" if stiffening == "shortening" else f"w_{end}_no_axial_force"
    t, reference = columns(case, "t", side)
    times, found = tip_motion(case, floating, root, 8, stiffening, native=False, rtol=1e-4)
    error = np.abs(np.interp(t, times, found) - reference) / 0.01
    assert error[t < 0.3 * t[-1]].max() < 1e-2
    assert error.max() < 4e-2


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("root", ["H", "E"])
def test_a_beam_pushed_over_two_supports_with_many_elements(case, root):
    t, reference = columns(case, "t", f"w_{'E' if 'pull' in case else 'H'}_driver{root}")
    times, found = tip_motion(case, floating, root, 16, "shortening", rtol=1e-5)
    assert np.abs(np.interp(t, times, found) - reference).max() < 2e-2 * 0.01  # the reference is linear, 10 mm are not


@pytest.mark.slow
def test_push_and_pull_differ_by_shortening_alone():
    """The axial force that moves the beam enters at one end: pushed it compresses, pulled it stretches. A push led at
    H is a pull led at E; without shortening it does not matter who leads."""
    options = {"native": False, "rtol": 1e-4}
    _, push = tip_motion("supports_fast_push", floating, "H", 6, "shortening", **options)
    _, pulled = tip_motion("supports_fast_push", floating, "E", 6, "shortening", **options)
    _, pull = tip_motion("supports_fast_pull", floating, "E", 6, "shortening", **options)
    assert np.abs(push - pull).max() < 1e-9
    assert np.abs(push - pulled).max() > 2e-3
    one, other = (tip_motion("supports_fast_push", floating, root, 6, "none", **options)[1] for root in "HE")
    assert np.abs(one - other).max() < 1e-9


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_descriptions_of_the_pushed_beam_agree():
    """Modes in a frame that turns with the root need stiffening="exact": their mass matrix is so ill-conditioned (a
    rising root is almost a sum of clamped modes) that the truncation of "shortening" makes it indefinite."""
    t, reference = columns("supports_fast_push", "t", "w_H_driverH")
    errors = []
    for modes in (4, 6):
        times, found = tip_motion("supports_fast_push", rooted, "H", modes, "exact")
        errors.append(np.abs(np.interp(t, times, found) - reference).max() / 0.01)
    assert errors[1] < 0.08
    assert errors[1] < errors[0]


def extending(contact, basis, count):
    flexible = fa.Flexible(bend_y=count, basis=basis, stiffening="none")
    material = fa.Material(2e10, 7850, damping=1e-3)
    joint = fa.FixedPrismatic(contact=contact)
    link = fa.Link("tube", 0.8, joint, fa.Section.rectangle(0.0015, 0.03), material, flexible)
    return fa.Robot("telescope", [link], gravity=(0, -1.0, 0))


@pytest.mark.parametrize(("contact", "last"), [("nodal", 0.05), ("element", 0.15)])
def test_contact_of_a_sliding_mesh_tends_to_the_continuous_one(contact, last):
    """Nodes in the joint are held, and let go when the next ones are: the nearest, or both of an element (My et al.).
    Errors fall at about first order, and with them what the switching does to the energy. Measured with 4, 8, 16, 32
    elements: 8.8, 3.1, 1.8, 0.6 % of the largest deflection (nodal), 22, 11, 5.4, 2.5 % (element)."""
    motion = {"tube": fa.cycloid(0.3, 0.6, 1.0)}
    options = {"motion": motion, "q0": "equilibrium", "sample": 0.02, "native": False}
    exact = fa.simulate(extending("continuous", "modes", 4), 1.0, **options)
    errors, balances = [], []
    for count in (4, 8, 16):
        run = fa.simulate(extending(contact, "elements", count), 1.0, dt=2e-3, **options)
        errors.append(np.sqrt(((run.tip.values - exact.tip.values) ** 2).mean()))
        balances.append(np.abs(run.energy["balance"].values).max())
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < errors[0] / 3
    assert balances[2] < balances[1] < balances[0]
    assert errors[2] < last * np.abs(exact.tip.values[:, 1]).max()


# --- links that bend far, and sections with steps ---

ALUMINIUM, STRIP = fa.Material(7e10, 2700), fa.Section.rectangle(0.006, 0.008)


@pytest.mark.parametrize(("stiffening", "height", "apart"), [("exact", 0.3, 1e-8), ("shortening", 0.06, 1e-4)])
def test_the_axis_passes_its_support_however_it_bends(stiffening, height, apart):
    """The tip and the strain at the root of the exact one as by minimising its strain energy with the axis through the
    support (scipy.optimize, SLSQP): (0.8409, 0.5019) m and -0.00589."""
    flexible = fa.Flexible(bend_y=6, stiffening=stiffening)
    held = fa.PointSupport("a", (0.6, height, 0), "y")
    robot = fa.Robot(links=[fa.Link("a", 1.0, fa.Weld(), STRIP, ALUMINIUM, flexible)], constraints=[held])
    system = fa.System(robot, native=False)
    q = fa.equilibrium(system)
    axis = system.axis("a", q, points=4001)
    assert np.interp(0.6, axis[:, 0], axis[:, 1]) == pytest.approx(height, abs=max(apart, 1e-7))
    if stiffening == "exact":
        assert system.tip(q)[:2] == pytest.approx([0.8409, 0.5019], abs=1e-4)
        assert system.strain("a", 0.0, q, at=(0.003, 0)) == pytest.approx(-0.00589, abs=1e-5)


def test_a_link_that_does_not_reach_its_support_is_not_on_it():
    held = fa.PointSupport("a", (0.97, 0.5, 0), "y")
    link = fa.Link("a", 1.0, fa.Weld(), STRIP, ALUMINIUM, fa.Flexible(bend_y=6, stiffening="exact"))
    with pytest.raises((ValueError, ArithmeticError)):
        fa.equilibrium(fa.System(fa.Robot(links=[link], constraints=[held]), native=False))


def test_steps_of_the_section_do_not_matter_to_a_support():
    """Three modes were 9 % off when they were smooth over the step; 40 elements have 6.5322 Hz."""
    thick, thin = fa.Section.rectangle(0.02, 0.015), fa.Section.rectangle(0.01, 0.01)
    section = fa.Section.stepped([{"upto": 0.4, "section": thick}, {"upto": 1.0, "section": thin}])
    carrier = fa.Link("c", 1.0, fa.Weld(), mass=1.0)
    beam = fa.Link("b", 1.2, fa.Sleeve(), section, ALUMINIUM, fa.Flexible(bend_y=12), payload=fa.PointMass(0.2))
    robot = fa.Robot(links=[carrier, beam], gravity=(0, -9.81, 0))
    assert beam.stiffening == "shortening"
    found = fa.modes(robot, q={"b.q": 0.7}, joints="locked").frequencies[0]
    assert found == pytest.approx(6.5322, rel=1e-3)


def test_a_plane_that_is_askew_to_the_links_axes():
    links = [fa.Link(name, 1.0, fa.Revolute((0, 1, 1)), STRIP, ALUMINIUM) for name in "ac"]
    robot = fa.Robot(links=links, constraints=[fa.PointSupport("c", (1.2, 0, 0))], gravity=(0, 0, -3))
    assert len(fa.System(robot, native=False).constraints) == 1
    with pytest.warns(fa.ValidityWarning, match="was moved onto them"):
        run = fa.simulate(robot, 0.2, q0={"a.q": 0.3, "c.q": -0.9}, native=False)
    assert run.reason == "completed"
