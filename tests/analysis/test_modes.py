"""Modes against reference tables, and properties of `fa.modes`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import omega, table, unit_link


def betas(row: dict[str, str], count: int = 5) -> np.ndarray:
    return np.array([float(row[f"betaL_{k}"]) for k in range(1, count + 1)])


@pytest.mark.parametrize("row", table("pinned_hub_payload.csv"), ids=lambda row: "/".join(list(row.values())[:2]))
def test_free_joint_with_hub_and_payload(row):
    """With 48 Hermite elements the fifth mode has an error of 1e-5 in beta = omega^(1/2)."""
    hub, payload = float(row["Jh/(mL^3)"]), float(row["Mp/(mL)"])
    link = unit_link(
        flexible=fa.Flexible(bend_y=48, basis="elements"),
        hub=fa.PointMass(0, inertia=hub) if hub else None,
        payload=fa.PointMass(payload) if payload else None,
    )
    found = fa.modes(fa.Robot(links=[link]))
    assert found.rigid.sum() == 1
    assert_allclose(np.sqrt(omega(found)[:5]), betas(row), rtol=1e-5)


def test_free_joint_with_a_few_modes():
    """The first mode has an error of 1e-5 in beta with 12 tip-mass modes."""
    row = next(r for r in table("pinned_hub_payload.csv") if (r["Jh/(mL^3)"], r["Mp/(mL)"]) == ("0.1", "0.5"))
    flexible = fa.Flexible(bend_y=12, basis=fa.Modes(tip_mass=0.5))
    link = unit_link(flexible=flexible, hub=fa.PointMass(0, inertia=0.1), payload=fa.PointMass(0.5))
    assert_allclose(np.sqrt(omega(fa.modes(fa.Robot(links=[link])))[0]), betas(row)[0], rtol=1e-5)


@pytest.mark.parametrize("row", table("spring_root_beam.csv"), ids=lambda row: "/".join(list(row.values())[:3]))
def test_flexible_joint_and_beam(row):
    """An elastic drive with its motor locked: a spring at the root."""
    spring, hub, payload = float(row["kL/EI"]), float(row["Jh/(mL^3)"]), float(row["Mp/(mL)"])
    link = unit_link(
        joint=fa.Revolute("z", drive=fa.Drive(stiffness=spring, rotor_inertia=1.0)),
        flexible=fa.Flexible(bend_y=48, basis="elements"),
        hub=fa.PointMass(0, inertia=hub) if hub else None,
        payload=fa.PointMass(payload) if payload else None,
    )
    found = fa.modes(fa.Robot(links=[link]), joints="locked")
    assert not found.rigid.any()
    assert_allclose(np.sqrt(omega(found)[:5]), betas(row), rtol=1e-5)


@pytest.mark.parametrize(
    "row", [r for r in table("rods_axial_torsion.csv") if r["case"] == "fixed-lump"], ids=lambda r: r["tip lump/rod"]
)
@pytest.mark.parametrize("family", ["stretch", "twist"])
def test_rods_with_a_tip_lump(row, family):
    lump = float(row["tip lump/rod"])
    point = fa.PointMass(lump, inertia=lump) if lump else None
    link = unit_link(joint=fa.Weld(), payload=point, flexible=fa.Flexible(**{family: 64}, basis=fa.Elements(order=2)))
    exact = [float(row[f"z_{k} (=wL/c)"]) for k in range(1, 7)]
    assert_allclose(omega(fa.modes(fa.Robot(links=[link])))[:6], exact, rtol=1e-5)


@pytest.mark.parametrize(
    "row",
    [r for r in table("rods_axial_torsion.csv") if r["case"] == "lump-rod-lump"],
    ids=lambda r: f"{r['tip lump/rod']}-{r['root lump/rod']}",
)
def test_shaft_between_two_lumps(row):
    """A shaft free to turn about its own axis, with inertias at both ends."""
    tip, root = float(row["tip lump/rod"]), float(row["root lump/rod"])
    link = unit_link(
        joint=fa.Revolute("x"),
        hub=fa.PointMass(0, inertia=root),
        payload=fa.PointMass(0, inertia=tip) if tip else None,
        flexible=fa.Flexible(twist=64, basis=fa.Elements(order=2)),
    )
    found = fa.modes(fa.Robot(links=[link]))
    exact = [float(row[f"z_{k} (=wL/c)"]) for k in range(1, 7)]
    assert found.rigid.sum() == 1
    assert_allclose(omega(found)[:6], exact, rtol=1e-5)


@pytest.mark.parametrize(
    "row", [r for r in table("rods_axial_torsion.csv") if r["case"].startswith("spring")], ids=lambda r: r["case"]
)
def test_shaft_on_an_elastic_drive(row):
    spring, tip = float(row["case"].split("=")[1].split(")")[0]), float(row["tip lump/rod"])
    link = unit_link(
        joint=fa.Revolute("x", drive=fa.Drive(stiffness=spring, rotor_inertia=1.0)),
        payload=fa.PointMass(0, inertia=tip) if tip else None,
        flexible=fa.Flexible(twist=64, basis=fa.Elements(order=2)),
    )
    exact = [float(row[f"z_{k} (=wL/c)"]) for k in range(1, 7)]
    assert_allclose(omega(fa.modes(fa.Robot(links=[link]), joints="locked"))[:6], exact, rtol=1e-5)


@pytest.mark.parametrize("row", table("two_link_frequencies.csv"), ids=lambda row: "-".join(list(row.values())[:4]))
def test_two_link_arm_at_postures(row):
    fields = {
        "section": fa.Section.rectangle(0.005, 0.005),
        "material": fa.Material(2e10, 7850),
        "flexible": fa.Flexible(bend_y=24, basis="elements"),
    }
    hubs = "hubs" in row["params"]
    arm = fa.Robot(
        links=[
            fa.Link("upper", 1.0, hub=fa.PointMass(0, inertia=0.01) if hubs else None, **fields),
            fa.Link(
                "fore",
                0.5,
                hub=fa.PointMass(0.1, inertia=0.002) if hubs else None,
                payload=fa.PointMass(0.15),
                **fields,
            ),
        ]
    )
    posture = {"fore.q": np.radians(float(row["theta2[deg]"]))}
    found = fa.modes(arm, posture, joints={"upper": row["joint1"], "fore": row["joint2"]})
    exact = [float(row[f"w{k}[rad/s]"]) for k in range(1, 7)]
    assert_allclose(omega(found)[:6], exact, rtol=1e-4)
    assert found.rigid.sum() == [row["joint1"], row["joint2"]].count("free")


@pytest.mark.parametrize("row", table("tokhi_azad_arm.csv"), ids=lambda row: f"{row['payload[kg]']}-{row['root']}")
def test_tokhi_azad_arm(row):
    arm = fa.library.tokhi_azad_arm(payload=float(row["payload[kg]"]))
    found = fa.modes(arm, joints="free" if "free" in row["root"] else "locked")
    exact = [float(row[f"f{k}[Hz]"]) for k in range(1, 6)]
    assert_allclose(found.frequencies[~found.rigid][:5], exact, rtol=1e-4)


@pytest.mark.parametrize("row", table("elastic_joint_frequencies.csv"), ids=lambda row: row["case"])
def test_elastic_joint_and_rigid_link(row):
    """A link of given inertia about its joint; gravity stiffness k_g from a pendulum hanging in a field of its own."""
    I, k_g = float(row["I_link"]), float(row["k_gravity"])  # noqa: E741
    drive = fa.Drive(stiffness=float(row["K"]), rotor_inertia=float(row["Jm"]), gear_ratio=float(row["N"]))
    link = fa.Link("link", 1.0, fa.Revolute("z", drive=drive), payload=fa.PointMass(I))  # a point mass at 1 m
    robot = fa.Robot(links=[link], gravity=(k_g / I, 0, 0))
    found = fa.modes(robot)
    exact = [float(row["w1"]), float(row["w2"])]
    assert_allclose(2 * np.pi * found.frequencies, exact, rtol=1e-10, atol=1e-6)
    assert found.rigid.sum() == (k_g == 0)
    if k_g == 0:
        locked = fa.modes(robot, joints="locked")
        assert_allclose(2 * np.pi * locked.frequencies, [float(row["rotor_locked(kg=0)"])], rtol=1e-10)


@pytest.mark.parametrize("row", table("rotating_cantilever.csv"), ids=lambda row: "-".join(list(row.values())[:2]))
def test_rotating_cantilever(row):
    """Flap (out of the plane of rotation) and lag (in it) to five digits; the hub is a rigid link without mass."""
    radius, speed = float(row["hub_radius/L"]), float(row["eta"])
    beam = unit_link(
        joint=fa.Weld() if radius else fa.Revolute("z"),
        flexible=fa.Flexible(bend_y=40, bend_z=40, basis="elements"),
    )
    links = [fa.Link("hub", radius, fa.Revolute("z")), beam] if radius else [beam]
    found = fa.modes(fa.Robot(links=links), v={f"{links[0].name}.q": speed}, joints="locked")
    flap = [float(row[f"flap{k}"]) for k in range(1, 4)]
    lag = [float(row[f"lag{k}"]) for k in range(1, 4)]
    assert_allclose(omega(found)[:6], np.sort(flap + lag), rtol=1e-5)


def test_gyroscopic_coupling_of_a_spinning_shaft():
    """A symmetric shaft seen in its own spinning frame: omega splits into omega +- Omega (Jeffcott)."""
    beam = unit_link(
        joint=fa.Revolute("x"),
        section=fa.Section.properties(A=1, I_y=1, I_z=1, J=1, I_p=1e-9),
        flexible=fa.Flexible(bend_y=3, bend_z=3, stiffening="none"),
        payload=fa.PointMass(0.5),
    )
    robot = fa.Robot(links=[beam])
    still = omega(fa.modes(robot, joints="locked"))[:2]
    spin = 0.7
    found = omega(fa.modes(robot, v={"beam.q": spin}))
    assert still[0] == pytest.approx(still[1])
    assert_allclose(found[:2], [still[0] - spin, still[0] + spin], rtol=1e-9)


@pytest.mark.parametrize("speed", np.linspace(3.55, 5.8, 12))
def test_anisotropic_shaft_is_unstable_between_its_critical_speeds(speed):
    """omega_y = 3.516 and omega_z = 2 * 3.516 in the two planes: between them the shaft whirls off."""
    beam = unit_link(
        joint=fa.Revolute("x"),
        section=fa.Section.properties(A=1, I_y=4, I_z=1, J=1, I_p=1e-9),
        flexible=fa.Flexible(bend_y=2, bend_z=2, stiffening="none"),
    )
    found = fa.modes(fa.Robot(links=[beam]), v={"beam.q": speed})
    assert found.kinds.count("unstable") == 1
    assert len(found) == 4
    assert found.participation(1).keys() == set(found.names)
    # the first mode alone, as two coupled oscillators seen in the spinning frame
    a, b = 3.5160152685**2 - speed**2, 4 * 3.5160152685**2 - speed**2
    total, product = a + b + 4 * speed**2, a * b
    growth = np.sqrt((-total + np.sqrt(total**2 - 4 * product)) / 2)
    assert found.eigenvalues[found.kinds.index("unstable")].real == pytest.approx(growth, rel=1e-6)


@pytest.mark.parametrize("speed", [2.0, 5.0])
def test_internal_damping_destabilises_a_shaft_above_its_critical_speed(speed):
    """Symmetric shaft, damping tau K: in its own spinning frame both whirls shift by the same rate,
    ratio = tau omega0 / 2 of the frequency omega0 -+ Omega; negative for the forward whirl above omega0."""
    tau = 1e-4
    beam = unit_link(
        joint=fa.Revolute("x"),
        section=fa.Section.properties(A=1, I_y=1, I_z=1, J=1, I_p=1e-9),
        flexible=fa.Flexible(bend_y=1, bend_z=1, stiffening="none", damping=fa.Damping(beta=tau)),
    )
    found = fa.modes(fa.Robot(links=[beam]), v={"beam.q": speed})
    system, here = found.system, np.ix_([1, 2], [1, 2])
    state = system.linearization(None, {"beam.q": speed})
    M, K, C = state.M[here], state.K[here], (state.G + state.D)[here]
    exact = np.linalg.eigvals(
        np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    )
    exact = sorted((value for value in exact if value.imag > 0), key=lambda value: value.imag)
    assert_allclose(found.damping_ratios, [-value.real / abs(value) for value in exact], rtol=1e-6)
    assert (found.damping_ratios.min() < 0) == (speed > 3.516)


def test_spinning_robots_keep_their_rigid_body_modes():
    beam = unit_link(joint=fa.Revolute("y"), flexible=fa.Flexible(bend_y=2, bend_z=2, stretch=2))
    roller = fa.Link("roller", 0.2, fa.Revolute("x"), mass=0.1, hub=fa.PointMass(0, inertia=0.01))
    robot = fa.Robot(links=[fa.Link("base", 0.5, fa.Revolute("z"), mass=1.0), beam, roller])
    for speed in (0.1, 1.0, 10.0):
        found = fa.modes(robot, v={"base.q": speed})
        assert found.kinds.count("rigid body") == 1  # the symmetric roller turns freely
        assert found.eigenvalues[0] == 0
        assert found.participation(0)["roller.q"] > 0.9


def test_speed_of_a_joint_with_an_elastic_drive_is_held_by_its_motor():
    drive = fa.Drive(stiffness=100.0, rotor_inertia=0.5)
    robot = fa.Robot(links=[fa.Link("a", 1.0, fa.Revolute("z", drive=drive), mass=1.0), fa.Link("b", 1.0, mass=1.0)])
    found = fa.modes(robot, v={"a.q": 6.0})
    assert len(found) == 2  # a.q on its spring and b.q in the centrifugal field
    assert not found.shapes[found.system.index("a.motor")].any()
    stiff = robot.with_({"links.a.joint.drive.stiffness": 1e9})
    slow = omega(fa.modes(stiff, v={"a.q": 6.0}))[0]
    assert slow == pytest.approx(6.0 * np.sqrt(1.5), rel=1e-6)  # rod hinged at radius 1: omega^2 = Omega^2 3 r / 2 l
    assert_allclose(fa.modes(robot, v={"a.motor": 6.0}).frequencies, found.frequencies)
    with pytest.raises(ValueError, match="only joints turn steadily"):
        fa.modes(fa.library.two_link_arm(), v={"fore.bend_y[1]": 1.0})


# --- gravity ---


def pendulum(gravity: tuple[float, float, float]) -> fa.Robot:
    return fa.Robot(links=[fa.Link("rod", 0.8, fa.Revolute("z"), mass=1.2)], gravity=gravity)


def test_pendulum_hanging_and_standing():
    rate = np.sqrt(1.5 * 9.81 / 0.8)  # uniform rod: omega^2 = 3 g / 2 l
    hanging = fa.modes(pendulum((0, -9.81, 0)), {"rod.q": -np.pi / 2})
    assert_allclose(2 * np.pi * hanging.frequencies, [rate])
    assert hanging.kinds == ["vibration"]
    standing = fa.modes(pendulum((0, -9.81, 0)), {"rod.q": np.pi / 2})
    assert standing.kinds == ["unstable"]
    assert standing.eigenvalues[0] == pytest.approx(rate)
    assert standing.frequencies[0] == 0
    turning_about_the_vertical = fa.modes(pendulum((0, 0, -9.81)), {"rod.q": 0.3})
    assert turning_about_the_vertical.kinds == ["rigid body"]


def test_turning_about_the_vertical_is_a_rigid_body_mode_of_any_mixture_of_joints():
    """A body on three joints of a tilted base, hanging still: no joint alone turns about the vertical."""
    links = [
        fa.Link("yaw", 0.1, fa.Revolute("z"), hub=fa.PointMass(0.1, inertia=0.01)),
        fa.Link("pitch", 0.1, fa.Revolute("y"), at=0.0, hub=fa.PointMass(0.1, inertia=0.01)),
        fa.Link("roll", 0.4, fa.Revolute("x"), at=0.0, mass=1.0, payload=fa.PointMass(1, (0.1, 0.2, 0.3), 0.02)),
    ]
    robot = fa.Robot(links=links, gravity=(0, 0, -9.81), base=fa.Pose(rotation=(0.4, -0.3, 0.2)))
    system = fa.System(robot, native=False)
    q = np.array([0.1, 0.2, 0.1])
    for _ in range(200):  # to a minimum of the potential: damped Newton on |K|
        values, vectors = np.linalg.eigh(system.gravity_stiffness(q))
        step = vectors @ ((vectors.T @ system.gravity(q)) / np.maximum(np.abs(values), 1e-3))
        q = q - np.clip(step, -0.2, 0.2)
    found = fa.modes(system, q)
    assert found.imbalance < 1e-9
    assert found.kinds == ["rigid body", "vibration", "vibration"]
    assert fa.modes(system, q + np.array([0.1, 0, 0])).imbalance > 1e-3


# --- what is reported ---


def test_shapes_are_mass_normalised_and_named():
    arm = fa.library.two_link_arm()
    found = fa.modes(arm, {"fore.q": 0.7})
    M = found.system.mass_matrix(found.q)
    assert_allclose(found.shapes.T @ M @ found.shapes, np.eye(len(found)), atol=1e-9)
    K = found.system.stiffness
    assert_allclose(
        np.diag(found.shapes.T @ K @ found.shapes), (2 * np.pi * found.frequencies) ** 2, rtol=1e-9, atol=1e-6
    )
    assert list(found.shape(2)) == list(found.system.names)
    assert (np.diff(found.frequencies) >= 0).all()
    assert sum(found.participation(3).values()) == pytest.approx(1)


def test_deflection_curves_are_combinations_of_the_shapes():
    found = fa.modes(fa.library.two_link_arm(), joints="locked")
    x, curve = found.deflection("upper", 0, points=11)
    assert_allclose(x, np.linspace(0, 1, 11))
    assert_allclose(curve[0], 0, atol=1e-12)
    step = 1e-6
    moved = found.system.axis("upper", step * found.shapes[:, 0], points=11)
    assert_allclose(moved[:, 1], step * curve[:, 1], atol=1e-12)  # upper's root does not move: its joint is locked


@pytest.mark.parametrize("stiffening", ["none", "shortening", "exact"])
def test_deflection_curves_do_not_depend_on_the_model(stiffening):
    """A light link's mass-normalised shape is many lengths high: it is a direction, no deflection."""
    light = unit_link(joint="weld", mass=1e-6, flexible=fa.Flexible(3, stiffening=stiffening))
    found = fa.modes(fa.Robot(links=[light]))
    for mode in range(3):
        _, curve = found.deflection("beam", mode)
        system = found.system
        assert_allclose(curve[-1], system.jacobian("beam", axes="world")[3:] @ found.shapes[:, mode], atol=1e-6)
        assert np.abs(curve[:, 1]).max() > 100
        assert_allclose(curve[:, [0, 2]], 0, atol=1e-6)


def test_deflection_curves_are_about_the_posture():
    system = fa.System(fa.Robot(links=[unit_link(joint="weld", flexible=fa.Flexible(2, stiffening="exact"))]))
    found = fa.modes(system, [0.3, 0.0])
    _, curve = found.deflection("beam", 0)
    slope = system.jacobian("beam", q=found.q, axes="world")[3:] @ found.shapes[:, 0]
    assert_allclose(curve[-1], slope, rtol=1e-8)
    assert abs(slope[0]) > 0.05 * abs(slope[1])  # a bent link swings along its length, too


def test_locked_coordinates_stay_still():
    arm = fa.library.two_link_arm()
    found = fa.modes(arm, joints={"upper": "locked"})
    assert not found.shapes[found.system.index("upper.q")].any()
    assert found.shapes[found.system.index("fore.q")].any()
    assert len(found) == found.system.nq - 1


def test_damping_ratios():
    """Kelvin-Voigt: ratio = tau omega / 2 in every mode."""
    found = fa.modes(fa.library.two_link_arm(damping=1e-3))
    assert_allclose(found.damping_ratios, 1e-3 * np.pi * found.frequencies, rtol=1e-9, atol=1e-12)


def test_modes_of_a_system_reuse_it():
    system = fa.System(fa.library.two_link_arm(), native=False)
    assert fa.modes(system).system is system


def test_robots_that_cannot_vibrate():
    still = fa.modes(fa.Robot(links=[fa.Link("pillar", 1.0, fa.Weld(), mass=1.0)]))
    assert len(still) == 0
    for link in (fa.Link("a", 1.0), fa.Link("a", 1.0, fa.Revolute("x"), payload=fa.PointMass(1.0))):
        with pytest.raises(ValueError, match=r"'a.q' can move without moving any mass"):
            fa.modes(fa.Robot(links=[link]))


def test_high_modes_of_a_stiff_mesh_on_a_soft_drive_are_right():
    """Rounding must not spoil the top of the spectrum: it is that of the mesh with a free root."""
    fields = {"section": fa.Section.rectangle(0.01, 0.01), "material": fa.Material(2e11, 7850)}
    flexible = fa.Flexible(bend_y=60, stretch=60, basis="elements")
    soft = fa.Drive(stiffness=1e-3, rotor_inertia=1.0)
    found = fa.modes(fa.Robot(links=[fa.Link("a", 1.0, fa.Revolute("z", drive=soft), flexible=flexible, **fields)]))
    free = fa.modes(fa.Robot(links=[fa.Link("a", 1.0, fa.Revolute("z"), flexible=flexible, **fields)]))
    assert_allclose(found.frequencies[-150:], free.frequencies[-150:], rtol=1e-8)
    inertia = 7850 * 1e-4 / 3
    assert omega(found)[0] == pytest.approx(np.sqrt(1e-3 * (1 + 1 / inertia)), rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"joints": "loose"}, ValueError, "'loose' for link 'upper' is neither 'free' nor 'locked'"),
        ({"joints": {"elbow": "free"}}, KeyError, "there is no link 'elbow'"),
        ({"q": {"fore": 0.1}}, KeyError, "there is no coordinate 'fore'; did you mean 'fore.q'"),
        ({"q": [0.1, 0.2]}, ValueError, r"shape \(2,\)"),
        ({"q": {"fore.q": float("nan")}}, ValueError, r"\['fore.q'\] = nan"),
    ],
)
def test_wrong_input_is_refused_with_a_message(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        fa.modes(fa.library.two_link_arm(), **arguments)


def test_motors_follow_the_given_joints():
    """A posture given by its joints has no drive wound up, so the robot would stay there."""
    joint = fa.Revolute(drive=fa.Drive(stiffness=50.0, rotor_inertia=0.01))
    found = fa.modes(fa.Robot(links=[fa.Link("a", 1.0, joint, mass=1.0)]), q={"a.q": 0.5})
    assert found.imbalance < 1e-12
    assert_allclose(found.q, [0.5, 0.5])


def test_a_posture_beyond_the_model_is_refused():
    robot = fa.library.two_link_arm().with_({"links.upper.flexible.stiffening": "shortening"})  # exact ones bear it
    with pytest.raises(ValueError, match="q: links bend too far at this posture"):
        fa.modes(robot, q={"upper.bend_y[1]": 1e3})


def test_modes_and_linear_models_in_equilibrium():
    robot = fa.library.two_link_arm().with_({"gravity": (0, -9.81, 0)})
    q = fa.equilibrium(robot)
    found = fa.modes(robot, "equilibrium", joints="locked")
    assert_allclose(found.q, q)
    assert_allclose(fa.linearize(robot, q="equilibrium").A, fa.linearize(robot, q).A)
    with pytest.raises(ValueError, match="q = 'rest': must be 'equilibrium', or coordinates"):
        fa.modes(robot, "rest")


def test_a_set_of_modes_shows_its_frequencies():
    assert repr(fa.modes(fa.library.two_link_arm())).startswith("ModeSet of 8 modes, 2 of them rigid: ")
