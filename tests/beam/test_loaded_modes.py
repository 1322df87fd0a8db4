"""Modes of loaded links against exact transcendental solutions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import flexarm as fa
from flexarm.beam.bases import all_modes
from flexarm.beam.integrals import LinkIntegrals
from flexarm.robot.carried_inertia import CarriedBody, carried_bodies
from tests.helpers import omega, table, unit_link

LOADS = st.builds(
    lambda mass, radius, lean: CarriedBody(1.0, mass, lean * mass * radius, (mass * radius**2,) * 3),
    st.floats(-5, 5).map(lambda power: 10**power),
    st.floats(-3, 1).map(lambda power: 10**power),
    st.floats(-0.99, 0.99),
)


def loaded(load: CarriedBody, family: str = "bend_y", count: int = 4, **fields) -> LinkIntegrals:
    return LinkIntegrals(unit_link(flexible=fa.Flexible(**{family: count}), **fields), loads=(load,))


def frequencies(of: LinkIntegrals, load: CarriedBody, family: str = "bend_y") -> np.ndarray:
    """Return the frequencies of the clamped link with the load, in its shapes."""
    tip, slope = of.shapes[family](load.at), of.shapes[family].derivative()(load.at)
    mass = of.M_elastic + (load.inertia[0] if family == "twist" else load.mass) * tip.T @ tip
    if family.startswith("bend"):
        about = load.inertia[2 if family == "bend_y" else 1]
        mass = mass + load.moment * (tip.T @ slope + slope.T @ tip) + about * slope.T @ slope
    return np.sqrt(all_modes(mass, of.K)[0])


def boundary(b: float, load: CarriedBody) -> float:
    """Zero where b is beta L of a clamped beam with a load, scaled down by the growth of cosh:
    EI w'' = omega^2 (J w' + c w), EI w''' = -omega^2 (m w + c w')."""
    m, c, J = load.mass, load.moment, load.inertia[2]
    cs, sn, ch, sh = np.cos(b), np.sin(b), 0.5 * (1 + np.exp(-2 * b)), 0.5 * (1 - np.exp(-2 * b))
    cs, sn = cs * np.exp(-b), sn * np.exp(-b)
    value, first = np.array([ch - cs, sh - sn]), b * np.array([sh + sn, ch - cs])
    second, third = b**2 * np.array([ch + cs, sh + sn]), b**3 * np.array([sh - sn, ch + cs])
    turn, push = second - b**4 * (J * first + c * value), third + b**4 * (m * value + c * first)
    return float(turn[0] * push[1] - turn[1] * push[0])


@pytest.mark.parametrize("row", table("clamped_tip_mass.csv"), ids=lambda row: "-".join(list(row.values())[:2]))
def test_ten_digits_of_every_mode_with_mass_and_inertia(row):
    inertia = float(row["Jp/(mL^3)"])
    load = CarriedBody(1.0, float(row["Mp/(mL)"]), 0.0, (inertia,) * 3)
    exact = [float(row[f"betaL_{k}"]) ** 2 for k in range(1, 6)]
    assert_allclose(frequencies(loaded(load, count=5), load), exact, rtol=1e-10)


@pytest.mark.parametrize("family", ["twist", "stretch"])
def test_ten_digits_of_rods_with_lumps(family):
    for row in table("rods_axial_torsion.csv"):
        if row["case"] == "fixed-lump":
            lump = float(row["tip lump/rod"])
            load = CarriedBody(1.0, lump, 0.0, (lump,) * 3)
            exact = [float(row[f"z_{k} (=wL/c)"]) for k in range(1, 5)]
            assert_allclose(frequencies(loaded(load, family), load, family), exact, rtol=1e-10)


@pytest.mark.parametrize("lean", [-0.9, -0.3, 0.5, 0.95])
@pytest.mark.parametrize("mass", [0.1, 2.0, 50.0])
def test_centres_of_mass_before_and_behind_the_tip(mass, lean):
    load = CarriedBody(1.0, mass, lean * mass * 0.4, (mass * 0.4**2,) * 3)
    for found in np.sqrt(frequencies(loaded(load), load)):
        exact = brentq(boundary, found * (1 - 1e-4), found * (1 + 1e-4), args=(load,), xtol=1e-14)
        assert found == pytest.approx(exact, rel=1e-9)


@given(LOADS, st.sampled_from(["bend_y", "bend_z", "twist", "stretch"]), st.integers(1, 6))
def test_they_are_as_sparse_as_modes_without_a_load(load, family, count):
    of = loaded(load, family, count)
    assert_allclose(of.M_elastic, np.eye(count), atol=1e-9)
    assert_allclose(of.K, np.diag(np.diag(of.K)), atol=1e-9 * of.K.max())
    assert (np.diff(np.diag(of.K)) > 0).all()
    assert (of.shapes[family](1.0) > 0.5).all()  # no sign that could jump


@given(LOADS, st.integers(1, 4))
def test_with_its_load_no_other_shapes_are_better(load, count):
    """So no more than modes of the bare link: Rayleigh and Ritz."""
    bare = LinkIntegrals(unit_link(flexible=fa.Flexible(bend_y=count)))
    assert (frequencies(loaded(load, count=count), load) <= frequencies(bare, load) * (1 + 1e-9)).all()


@pytest.mark.parametrize(("inertia", "support", "low"), [(0.0, "clamped-pinned", 1), (1e6, "clamped-clamped", 2)])
def test_a_heavy_load_holds_the_tip(inertia, support, low):
    load = CarriedBody(1.0, 1e6, 0.0, (inertia,) * 3)
    exact = [
        float(row["betaL^2 (=w*sqrt(mL^4/EI))"]) for row in table("beam_frequencies.csv") if row["support"] == support
    ]
    found = frequencies(loaded(load, count=8), load)
    assert_allclose(found[low:], exact[: 8 - low], rtol=1e-5)
    if not inertia:
        assert found[0] == pytest.approx(np.sqrt(3 / 1e6), rel=1e-6)


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e-6])
def test_a_small_load_is_none(size):
    bare = LinkIntegrals(unit_link(flexible=fa.Flexible(bend_y=4, twist=2)))
    load = CarriedBody(1.0, size, 0.0, (size,) * 3)
    near = LinkIntegrals(bare.link, loads=(load,))
    for family in ("bend_y", "twist"):
        change = near.shapes[family].coefficients - bare.shapes[family].coefficients
        assert np.abs(change).max() < 1e-10 + 2e3 * size


@given(LOADS)
def test_shapes_follow_a_load_smoothly(load):
    nearly = CarriedBody(1.0, load.mass * (1 + 1e-6), load.moment * (1 + 1e-6), load.inertia)
    change = loaded(nearly).shapes["bend_y"].coefficients - loaded(load).shapes["bend_y"].coefficients
    assert np.abs(change).max() < 1e-4


def test_loads_along_a_stepped_link():
    """A mass in the middle, by elements with a node there."""
    sections = [{"upto": 0.4, "section": fa.Section.circle(0.02)}, {"upto": 1.0, "section": fa.Section.circle(0.015)}]
    bar = fa.Link("a", 1.0, fa.Weld(), fa.Section.stepped(sections), fa.Material(7e10, 2700))
    masses = (fa.PointMass(0.5, at=0.4), fa.PointMass(0.3, inertia=0.01, at=1.0))

    def first(flexible: fa.Flexible) -> np.ndarray:
        link = bar.model_copy(update={"flexible": flexible, "masses": masses})
        return omega(fa.modes(fa.Robot(links=[link])))[:2]

    exact = first(fa.Flexible(bend_y=40, basis="elements"))
    assert_allclose(first(fa.Flexible(bend_y=3)), exact, rtol=1e-6)
    assert not np.allclose(first(fa.Flexible(bend_y=3, basis=fa.Modes(tip_mass=0))), exact, rtol=1e-2)


# --- robots ---


def test_robots_that_differ_in_what_they_carry_share_their_structure():
    arm = fa.library.two_link_arm()
    structure = fa.System(arm, native=False).structure
    for mass in (1e-6, 0.3, 1e3):
        assert fa.System(arm.with_({"links.fore.payload.mass": mass}), native=False).structure is structure
    bare = {f"links.{name}.flexible.basis.tip_mass": 0.0 for name in ("upper", "fore")}
    assert fa.System(arm.with_(bare), native=False).structure is structure


def test_a_payload_of_nothing_is_none():
    arm = fa.library.two_link_arm()
    none, nothing = arm.with_({"links.fore.payload": None}), arm.with_({"links.fore.payload.mass": 0.0})
    assert_allclose(omega(fa.modes(nothing)), omega(fa.modes(none)), rtol=1e-9)
    assert carried_bodies(nothing)[1] == ()


def test_de_luca_and_sicilianos_first_link():
    """0.5 m, 0.2 kg/m, EI = 1 N m2, with the second link (0.1 kg), its hub (1 kg, 0.1 kg m2) and the payload (0.1 kg,
    5e-4 kg m2) behind a hinge: the second frequency, exactly 1.7966 Hz."""
    bar = {"length": 0.5, "mass": 0.1}
    hub, payload = fa.PointMass(1.0, inertia=0.1), fa.PointMass(0.1, inertia=5e-4)

    def second(count: int, basis: object) -> float:
        first = unit_link("one", flexible=fa.Flexible(bend_y=count, basis=basis), **bar)
        two = fa.Link("two", 0.5, mass=0.1, hub=hub, payload=payload)
        carrying = fa.PointMass(1.2, inertia=0.1 + 0.1 * 0.5**2 / 3 + 0.1 * 0.5**2 + 5e-4)
        lumped = fa.Robot(links=[first.model_copy(update={"payload": carrying})])
        [load] = carried_bodies(fa.Robot(links=[first, two]))[0]
        assert (load.mass, load.inertia[2]) == (pytest.approx(1.2), pytest.approx(carrying.inertia))
        return float(fa.modes(lumped, joints="locked").frequencies[1])

    bare = [second(count, fa.Modes(tip_mass=0)) for count in (2, 3, 8)]
    assert_allclose(bare, [2.80, 2.36, 1.98], atol=0.006)
    assert second(2, "modes") == pytest.approx(1.7966, abs=5e-5)


@pytest.mark.parametrize("elbow", [0.0, 0.8, np.pi / 2])
def test_the_sag_of_a_two_link_arm(elbow):
    """With four modes each, in any posture; modes of bare links are 1 to 3 % off."""
    four = {f"links.{name}.flexible.bend_y": 4 for name in ("upper", "fore")}
    arm = fa.library.two_link_arm().with_({"gravity": (0, -1, 0)} | four)

    def tip(changes: dict[str, object]) -> np.ndarray:
        system = fa.System(arm.with_(changes), native=False)
        return system.tip(fa.equilibrium(system, {"fore.q": elbow}))

    fine = fa.Flexible(bend_y=8, basis="elements", stiffening="exact")
    mesh = {f"links.{name}.flexible": fine for name in ("upper", "fore")}
    bare = {f"links.{name}.flexible.basis.tip_mass": 0.0 for name in ("upper", "fore")}
    straight = fa.System(arm.rigid(), native=False).tip({"fore.q": elbow})
    exact = tip(mesh)
    sag = np.linalg.norm(exact - straight)
    assert np.linalg.norm(tip({}) - exact) < 2e-5 * sag
    assert np.linalg.norm(tip(bare) - exact) > 1e-2 * sag


def test_few_shapes_have_a_share_of_the_inertia_behind_a_hinge():
    """Which would take one of them: joints that are let go do not feel it. What is welded there counts."""
    load = CarriedBody(1.0, 2.0, 0.0, (0.5, 0.5, 0.5), (0.0, 0.0, 0.5))
    share = CarriedBody(1.0, 2.0, 0.0, (0.5, 0.5, 0.005))
    whole = CarriedBody(1.0, 2.0, 0.0, (0.5, 0.5, 0.5))
    for family, count, same in (
        ("bend_y", 2, share),
        ("bend_y", 3, share),
        ("bend_y", 1, whole),
        ("bend_y", 4, whole),
        ("bend_z", 2, whole),
    ):
        one, other = (loaded(each, family, count).shapes[family].coefficients for each in (load, same))
        assert_allclose(one, other, atol=1e-9)
    arm = fa.library.two_link_arm()
    two = {f"links.{name}.flexible.bend_y": 2 for name in ("upper", "fore")}
    mesh = {f"links.{name}.flexible": fa.Flexible(bend_y=8, basis="elements") for name in ("upper", "fore")}
    few, exact = (omega(fa.modes(arm.with_(changes)))[0] for changes in (two, mesh))
    assert few == pytest.approx(exact, rel=1e-2)
    [upper], [fore] = carried_bodies(arm)
    given = {"upper": fa.Modes(upper.mass, upper.inertia[2]), "fore": fa.Modes(fore.mass)}
    held = two | {f"links.{name}.flexible.basis": basis for name, basis in given.items()}
    few, exact = (omega(fa.modes(arm.with_(changes), joints="locked")) for changes in (held, mesh))
    assert (np.abs(few[:2] / exact[:2] - 1) < [1e-6, 2e-2]).all()
    assert "(hinged: 1 % of the inertia in bend_y)" in " ".join(str(arm.with_(two)).split())


@pytest.mark.parametrize("posture", ["0", "30", "90"])
def test_locked_arms_at_any_posture(posture):
    """The load is that of no posture, and good for all: 1e-3 with four modes each, 4 % with three."""
    arm = fa.library.two_link_arm()
    four = arm.with_({f"links.{name}.flexible.bend_y": 4 for name in ("upper", "fore")})
    for row in table("two_link_frequencies.csv"):
        if (row["params"], row["joint1"], row["joint2"], row["theta2[deg]"]) == (
            "seed002",
            "locked",
            "locked",
            posture,
        ):
            exact = [float(row[f"w{k}[rad/s]"]) for k in (1, 2)]
            for each, rtol in ((four, 1e-3), (arm, 4e-2)):
                found = fa.modes(each, {"fore.q": np.radians(float(posture))}, joints="locked")
                assert_allclose(omega(found)[:2], exact, rtol=rtol)


@pytest.mark.parametrize("posture", [0.0, 0.5, np.pi / 2])
def test_arms_whose_joints_are_let_go(posture):
    """Two frequencies to 5 % with three modes each; with all of the inertia behind the hinge it would be 13 %."""
    arm = fa.library.two_link_arm()
    mesh = {f"links.{name}.flexible": fa.Flexible(bend_y=8, basis="elements") for name in ("upper", "fore")}
    found, exact = (omega(fa.modes(each, {"fore.q": posture})) for each in (arm, arm.with_(mesh)))
    found, exact = (each[each > 1e-6 * each.max()][:2] for each in (found, exact))
    assert_allclose(found, exact, rtol=5e-2)


def test_de_luca_and_sicilianos_arm_with_its_second_joint_locked():
    """With two modes, at right angles; 2.37 Hz if the inertia behind the hinge did not count."""
    first = unit_link("one", flexible=fa.Flexible(bend_y=2), length=0.5, mass=0.1)
    hub, payload = fa.PointMass(1.0, inertia=0.1), fa.PointMass(0.1, inertia=5e-4)
    arm = fa.Robot(links=[first, fa.Link("two", 0.5, mass=0.1, hub=hub, payload=payload)])
    assert fa.modes(arm, {"two.q": np.pi / 2}, joints="locked").frequencies[1] == pytest.approx(1.7966, rel=1e-2)
