"""Automatic choice of the numbers of shapes, and the accuracy of the frequencies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.robot.basis_selection import EXPECTED_ERROR, OUT_OF_PLANE, select_bases
from tests.helpers import omega, table, unit_link

BAR = {"section": fa.Section.rectangle(0.01, 0.02), "material": fa.Material(7e10, 2700)}


def link(name: str = "a", length: float = 1.0, joint: object = "revolute", **fields: object) -> fa.Link:
    return fa.Link(name, length, joint, **{"flexible": fa.Flexible(), **BAR, **fields})


def families(*links: fa.Link, **fields: object) -> list[set[str]]:
    """Not left out because nothing excites them."""
    found = select_bases(fa.Robot(links=links, **fields)).values()
    return [{*pick.first} for pick in found]


ALL = {"bend_y", "bend_z", "twist", "stretch"}


def test_a_planar_robot_bends_in_its_plane():
    assert families(link("a"), link("b")) == [{"bend_y", "stretch"}] * 2
    level = fa.Revolute("y")
    assert families(link("a", joint=level), link("b", joint=level)) == [{"bend_z", "stretch"}] * 2
    turned = link("b", joint=fa.Revolute("y", mount=(np.pi / 2, 0, 0)))  # its own y is the plane's normal
    assert families(link("a"), turned) == [{"bend_y", "stretch"}, {"bend_z", "stretch"}]
    pick = select_bases(fa.Robot(links=[link("a")]))["a"]
    assert pick.left_out["twist"] == pick.left_out["bend_z"] == OUT_OF_PLANE


@pytest.mark.parametrize(
    "changes",
    [
        {"gravity": (0, 0, -9.81)},
        {"links.b.joint.axis": "y"},
        {"links.b.joint.mount": (0.3, 0.0, 0.0)},
        {"links.b.offset": (0.0, 0.0, 0.1)},
        {"links.b.payload": fa.PointMass(0.1, offset=(0, 0, 0.05))},
        {"links.b.payload": fa.PointMass(0.1, inertia=(0.1, 0.1, 0.1, 0, 0.05, 0))},
    ],
)
def test_what_moves_it_out_of_its_plane(changes):
    arm = fa.Robot(links=[link("a"), link("b")])
    assert families(*arm.links, gravity=(3, -9.81, 0)) == [{"bend_y", "stretch"}] * 2
    assert families(*arm.with_(changes).links, gravity=changes.get("gravity", (0, 0, 0))) == [ALL] * 2


def test_without_hinges_gravity_determines_the_plane():
    assert families(link(joint="weld"), gravity=(0, 0, -9.81)) == [{"bend_z", "stretch"}]
    assert families(link(joint="weld")) == [ALL]


@pytest.mark.parametrize("row", table("clamped_tip_mass.csv"), ids=lambda row: "-".join(list(row.values())[:2]))
def test_first_frequencies_are_a_little_too_low(row):
    """Dunkerley's sum: exact without a load, and never more than a fifth below."""
    mass, inertia = float(row["Mp/(mL)"]), float(row["Jp/(mL^3)"])
    payload = fa.PointMass(mass, inertia=inertia)
    beam = unit_link(joint="weld", payload=payload, flexible=fa.Flexible())
    first = select_bases(fa.Robot(links=[beam]))["beam"].first["bend_y"]
    exact = float(row["betaL_1"]) ** 2 / (2 * np.pi)
    assert 0.8 * exact < first < 1.002 * exact


def test_counts_increase_with_the_bound():
    counts = []
    for bound in (1.0, 100.0, 1000.0, 1e4, 1e5):
        pick = select_bases(fa.Robot(links=[link(flexible=fa.Flexible(up_to=bound))]))["a"]
        counts.append(pick.counts.get("bend_y"))
        assert f"modes below {bound:.4g} Hz" in pick.summary()
        if "stretch" not in pick.counts:
            assert "no stretch: its first mode is at 1.26e+03 Hz" in pick.summary()
    assert counts == sorted(counts)
    assert counts[0] == 1  # the softest stays, however low the bound
    assert counts[-1] > 10


def test_all_modes_up_to_the_bound_are_there():
    """Count the modes below the bound of clamped links with any load, computed with many shapes."""
    for mass, inertia in ((0, 0), (0.1, 0), (3, 0), (3, 0.5), (0, 10), (1e3, 1e3)):
        for bound in (0.5, 3, 20, 60, 200):
            payload = fa.PointMass(mass, inertia=inertia)
            beam = unit_link(joint="weld", payload=payload, flexible=fa.Flexible(up_to=bound))
            robot = fa.Robot(links=[beam], gravity=(0, -1, 0))
            many = robot.with_({"links.beam.flexible": fa.Flexible(bend_y=30)})
            below = int(np.sum(fa.modes(many).frequencies < bound))
            assert below <= robot.resolved().link("beam").flexible.bend_y <= below + 3


def test_no_accuracy_is_promised_for_other_loads():
    def words(flexible: fa.Flexible, payload: fa.PointMass | None = None) -> str:
        return select_bases(fa.Robot(links=[link(flexible=flexible, payload=payload)]))["a"].summary()

    lump = fa.PointMass(1.0)
    bare = fa.Flexible(basis=fa.Modes(tip_mass=0))
    assert "expect frequencies to 0.5 %" in words(bare)  # nothing hangs there
    for flexible in (bare, fa.Flexible(basis=fa.Reduced(10))):
        assert "how good they are is not known" in words(flexible, lump)
    assert "expect frequencies to 0.5 %" in words(fa.Flexible(), lump)
    assert "expect frequencies to 0.5 %" in words(fa.Flexible(basis="elements"), lump)
    many = select_bases(fa.Robot(links=[link(flexible=fa.Flexible(up_to=1e300))]))["a"]
    assert many.counts == {"bend_y": 100, "stretch": 100}
    assert "bend_y would take 31832, more than there can be" in many.summary()


@pytest.mark.parametrize(
    ("at", "lump", "basis", "promised"),
    [
        (0.3, fa.PointMass(1.0), "modes", True),
        (0.3, fa.PointMass(1.0, inertia=1e-5), "modes", True),
        (0.3, fa.PointMass(1.0, inertia=1e-3), "modes", False),
        (0.5, fa.PointMass(0.0, inertia=1e-2), "modes", False),
        (0.3, fa.PointMass(1.0, inertia=1e-2), "elements", True),  # they are ten
        (0.33, fa.PointMass(1.0, inertia=1e-2), "elements", False),
        (0.3, fa.PointMass(1.0), fa.Reduced(20, interface="fixed"), False),
        (1.0, fa.PointMass(1.0, inertia=1e-2), "modes", True),
    ],
)
def test_nothing_is_promised_where_curvature_jumps(at, lump, basis, promised):
    """At inertia inside a link; smooth modes and elements without a node there are far off."""
    masses = [lump.model_copy(update={"at": at})]
    beam = link(joint="weld", masses=masses, flexible=fa.Flexible(up_to=300, basis=basis))
    robot = fa.Robot(links=[beam], gravity=(0, -1e-9, 0))
    fine = robot.with_({"links.a.flexible": fa.Flexible(100, basis="elements")})
    exact = fa.modes(fine).frequencies
    exact = exact[exact < 300]
    error = np.abs(fa.modes(robot).frequencies[: len(exact)] / exact - 1).max()
    output = select_bases(robot)["a"].summary()
    assert ("expect frequencies to 0.5 %" in output) == promised == (error < EXPECTED_ERROR)
    if not promised and basis == "modes":
        assert f"at {at:g} m, inside the link, a load makes its curvature or strain jump; take more shapes" in output
    elif not promised and basis == "elements":
        assert "take elements with a node there" in output


def test_a_link_inside_is_such_a_load():
    mast = fa.Link("b", 0.2, "weld", mass=1.0, parent="a", at=0.4)
    robot = fa.Robot(links=[link(flexible=fa.Flexible(up_to=300)), mast])
    assert "at 0.4 m, inside the link, a load makes" in select_bases(robot)["a"].summary()


def test_a_basis_with_a_given_number_of_modes():
    for bound, more in ((1000.0, "bend_y would take 8, more than the 3 that basis.modes keeps"), (1.0, "expect")):
        robot = fa.Robot(links=[link(flexible=fa.Flexible(basis=fa.Reduced(10, modes=3), up_to=bound))])
        pick = select_bases(robot)["a"]
        assert pick.counts["bend_y"] == 3
        assert more in pick.summary()
        assert robot.coordinates == 1 + sum(pick.counts.values())
    coarse = fa.Robot(links=[link(flexible=fa.Flexible(basis=fa.Reduced(2), up_to=1000))])
    assert "bend_y would take 8, more than its mesh can make" in select_bases(coarse)["a"].summary()


def test_bases():
    def counts(basis: object) -> dict[str, int]:
        arm = fa.Robot(links=[link(flexible=fa.Flexible(up_to=500, basis=basis))])
        return arm.resolved().link("a").flexible.counts

    assert counts("modes")["bend_y"] == 6
    assert counts("elements")["bend_y"] >= 5
    assert counts(fa.Reduced(16, interface="fixed"))["bend_y"] == 4
    assert counts(fa.Reduced(2))["bend_y"] == 4  # all that the mesh can make
    steps = [{"upto": k / 12, "section": fa.Section.circle(0.01 + 0.001 * (k % 2))} for k in range(1, 13)]
    stepped = link(section=fa.Section.stepped(steps), flexible=fa.Flexible(basis="elements"))
    assert fa.Robot(links=[stepped]).resolved().link("a").flexible.bend_y == 12


@pytest.mark.parametrize("basis", ["elements", fa.Elements(order=2), fa.Reduced(20, interface="fixed")])
def test_other_bases_are_as_good(basis):
    flexible = fa.Flexible(up_to=500, basis=basis)
    arm = fa.Robot(links=[link("a", flexible=flexible), link("b", 0.6, "weld", flexible=flexible)], gravity=(0, 0, -1))
    fine = fa.Robot(links=[each.model_copy(update={"flexible": fa.Flexible(12, 12, 6, 6)}) for each in arm.links])
    exact = omega(fa.modes(fine, joints="locked"))
    exact = exact[exact < 2 * np.pi * 500]
    assert_allclose(omega(fa.modes(arm.with_(gravity=(0, 0, 0)), joints="locked"))[:1], exact[:1], rtol=EXPECTED_ERROR)
    picked = fa.Robot(links=arm.resolved().links)
    assert_allclose(omega(fa.modes(picked, joints="locked"))[: len(exact)], exact, rtol=2 * EXPECTED_ERROR)


# --- the robot ---


def test_a_robot_is_resolved_where_it_is_computed():
    arm = fa.library.two_link_arm().with_({"links.fore.flexible": fa.Flexible(), "links.upper.flexible": fa.Flexible()})
    system = fa.System(arm, native=False)
    assert system.robot == arm.resolved() != arm
    assert arm.coordinates == system.nq == 9
    assert system.robot.resolved() is system.robot
    assert arm.rigid().coordinates == 2
    assert fa.equations(arm).values


def refusal(robot: fa.Robot) -> str:
    with pytest.raises(fa.DescriptionError) as found:
        robot.resolved()
    with pytest.raises(fa.DescriptionError) as again:
        fa.System(robot, native=False)
    assert str(again.value) == str(found.value)
    return str(found.value)


def test_selected_numbers_are_validated_like_given_ones():
    guided = link(joint=fa.FixedPrismatic(), flexible=fa.Flexible(stiffening="exact"))
    output = refusal(fa.Robot(links=[guided]))
    assert output.startswith("links[0].flexible.stiffening = 'exact': must be 'shortening' or 'none' for a link that")
    assert "(picked for link 'a': bend_y 3, bend_z 2" in output
    ratios = link(flexible=fa.Flexible(damping=fa.Damping((0.01, 0.02, 0.03, 0.04))))
    assert "has 4 ratios, but the link has only 3 elastic coordinates (picked for link 'a': bend_y 3)" in refusal(
        fa.Robot(links=[ratios])
    )
    coarse = link(flexible=fa.Flexible(basis=fa.Reduced(1, interface="fixed"), up_to=100))
    assert "makes 2 shapes of bend_y, but 3 are asked for; take more elements or fewer modes (picked" in refusal(
        fa.Robot(links=[coarse])
    )
    rail = link("rail", flexible=fa.Flexible(stiffening="exact"))
    cart = fa.Link("cart", 0.1, fa.SlidingPrismatic(), mass=0.1)
    output = refusal(fa.Robot(links=[rail, cart], gravity=(0, 0, -9.81)))
    assert "'cart' slides along 'rail', which bends in space (picked for link 'rail': bend_y" in output


def test_shear_has_bending_to_go_with(tmp_path):
    """However stiff it is."""
    truss = fa.Section.properties(A=0.01, I_y=0.1, I_z=0.1, J=0.1, shear_y=0.005, shear_z=0.005)
    stub = {"joint": "weld", "section": truss}
    plain, sheared = (
        fa.Robot(links=[link(flexible=fa.Flexible(up_to=1.0, shear=shear), **stub)], gravity=(0, -9.81, 0)).resolved()
        for shear in (False, True)
    )
    assert plain.link("a").flexible.counts == {"stretch": 1}
    assert sheared.link("a").flexible.counts == {"bend_y": 1, "stretch": 1}
    sheared.save(tmp_path / "stub.yaml")
    assert fa.load(tmp_path / "stub.yaml") == sheared


def test_files_keep_them_open(tmp_path):
    arm = fa.library.two_link_arm().with_(
        {"links.fore.flexible": fa.Flexible(), "links.upper.flexible": fa.Flexible(up_to=40)}
    )
    arm.save(tmp_path / "arm.yaml")
    assert fa.load(tmp_path / "arm.yaml") == arm
    assert fa.load(tmp_path / "arm.yaml").resolved() == arm.resolved()


def test_selection_is_repeated_for_changed_robots_but_not_for_derivatives():
    arm = fa.Robot(links=[link("a", flexible=fa.Flexible(up_to=200.0))])
    system = fa.System(arm, native=False)
    soft = arm.with_({"links.a.material.E": 7e8})
    assert soft.coordinates > arm.coordinates
    kept = system.numbers_of(soft)
    assert_allclose(kept, fa.System(system.robot.with_({"links.a.material.E": 7e8}), native=False).numbers)
    by = system.derivative("inverse_dynamics", ["links.a.material.E"])(np.full(system.nq, 0.01))
    stiffness = system.stiffness_matrix() @ np.full(system.nq, 0.01) / 7e10
    assert_allclose(by[:, 0], stiffness, rtol=1e-6, atol=1e-12)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([3.0, 10.0, 30.0]))
def test_frequencies_up_to_the_bound_have_the_expected_error(seed, planar, bound):
    """Random arms, joints locked and free, at random postures, against five more shapes of bending."""
    draw = np.random.default_rng(seed)
    links = []
    for k in range(draw.integers(1, 4)):
        length, axis = 10 ** draw.uniform(-0.5, 0.5), "z" if planar else "zyx"[draw.integers(3)]
        section = fa.Section.rectangle(*(length * 10 ** draw.uniform(-2.3, -1.3, 2)))
        bare = fa.Link(f"l{k}", length, fa.Revolute(axis), section, BAR["material"])
        size = bare.beam_mass
        payload = fa.PointMass(
            size * 10 ** draw.uniform(-2, 1.5), inertia=size * length**2 * 10 ** draw.uniform(-4, -0.5)
        )
        hub = fa.PointMass(size * 10 ** draw.uniform(-2, 1), inertia=size * length**2 * 10 ** draw.uniform(-3, 0))
        links.append(bare.model_copy(update={"flexible": fa.Flexible(), "payload": payload, "hub": hub}))
    slowest = min(min(pick.first.values()) for pick in select_bases(fa.Robot(links=links)).values())
    flexible = fa.Flexible(up_to=bound * slowest)
    arm = fa.Robot(links=[each.model_copy(update={"flexible": flexible}) for each in links])
    picked = arm.resolved()
    fine = picked.with_(
        {
            f"links.{each.name}.flexible": fa.Flexible(
                **{name: count + 5 for name, count in each.flexible.counts.items()}
            )
            for each in picked.links
        }
    )
    q = {f"{each.name}.q": draw.uniform(-2, 2) for each in links}
    for joints in ("locked", "free"):
        exact = omega(fa.modes(fine, q, joints=joints))
        exact = exact[exact < 2 * np.pi * bound * slowest]
        found = omega(fa.modes(picked, q, joints=joints))[: len(exact)]
        assert_allclose(found, exact[: len(found)], rtol=EXPECTED_ERROR)
