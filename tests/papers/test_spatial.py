"""Advances in Mechanical Engineering 2013, 216014 (doi 10.1155/2013/216014): the spin-up against reference tables; the
Canadarm2 against mechanics that can be done by hand."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm_papers.figures import legend_columns
from flexarm_papers.spatial import canadarm, rotating_beam
from tests.helpers import table

G = 9.81
LOWER, PITCH, YAW, ROLL = (279.2, 7.11), (105.98, 0.5692), (105.98, 0.7026), (243.66, 1.3589)  # kg, m


@cache
def spun_up(speed: float, model: str) -> fa.Run:
    return rotating_beam.spun_up(speed, model, native=False)


def drop(robot: fa.Robot, duration: float = 0.2, rtol: float = 1e-6) -> fa.Run:
    return canadarm.dropped(robot, duration, rtol, native=False)


@cache
def drop_with(rotor_inertia: float = 10.0, joint_stiffness: float = 2.66e6, modes: int = 3) -> fa.Run:
    return drop(canadarm.canadarm2(rotor_inertia, joint_stiffness, modes))


# --- 4.1 the rotating beam ---


def test_the_first_bending_frequency():
    assert rotating_beam.first_frequency() == pytest.approx(2.910743 / (2 * np.pi), rel=1e-6)


@pytest.mark.parametrize("speed", rotating_beam.SPEEDS)
def test_peaks_with_stiffening_lie_between_those_of_the_references(speed):
    found, close = rotating_beam.peak(spun_up(speed, "high-order")), 1e-3 if speed <= 3 else 5e-3
    assert rotating_beam.LINEAR[speed] < found < rotating_beam.NONLINEAR[speed]
    assert found == pytest.approx(rotating_beam.LINEAR[speed], rel=close)
    assert found == pytest.approx(rotating_beam.NONLINEAR[speed], rel=close)


@pytest.mark.parametrize("speed", [0.6, 2.0])
def test_zero_order_peaks_below_the_first_frequency(speed):
    assert rotating_beam.peak(spun_up(speed, "zero-order")) == pytest.approx(rotating_beam.ZERO_ORDER[speed], rel=1e-4)


@pytest.mark.parametrize("speed", rotating_beam.SPEEDS)
def test_the_zero_order_model_runs_away_above_the_first_frequency_only(speed):
    run = spun_up(speed, "zero-order")
    assert rotating_beam.runs_away(run) == (speed > 2 * np.pi * rotating_beam.first_frequency())
    assert not rotating_beam.runs_away(spun_up(speed, "high-order"))


@pytest.mark.parametrize(
    ("name", "peaks"), [("spin_up", rotating_beam.LINEAR), ("spin_up_nonlinear", rotating_beam.NONLINEAR)]
)
def test_the_peaks_on_the_page_are_those_of_the_tables(name, peaks):
    """The tables are thinned to half a second, so that their lowest sample lies a little above the peak."""
    for speed, lowest in peaks.items():
        sample = min(float(row[f"y_tip_w0={speed:g}"]) for row in table(f"{name}.csv"))
        assert lowest <= sample == pytest.approx(lowest, rel=5e-3)


def test_the_zero_order_run_at_3_rad_per_s_follows_the_reference_as_far_as_it_goes():
    run = spun_up(3.0, "zero-order")
    rows = [row for row in table("spin_up_zero_order.csv") if float(row["t"]) <= 17]
    exact = [float(row["y_tip_w0=3"]) for row in rows]
    found = rotating_beam.bending(run).interp(time=[float(row["t"]) for row in rows])
    assert_allclose(found, exact, rtol=1e-3, atol=1e-4)
    assert float(found.sel(time=15.0)) == pytest.approx(-12.06, abs=0.01)


def test_there_is_no_resonance_at_the_first_frequency():
    """The paper suggests one at 3 rad/s; the peak grows a little less than the speed, and so smoothly."""
    speeds = (2.0, 2.5, 2.9, 3.0, 3.5)
    per_speed = [rotating_beam.peak(spun_up(speed, "high-order")) / speed for speed in speeds]
    assert (np.diff(per_speed) > 0).all()
    assert_allclose(np.diff(per_speed) / np.diff(speeds), 3.2e-3, rtol=0.2)


# --- 4.2 the Canadarm2: what can be known without moving ---


def test_masses_lengths_and_coordinates():
    arm = canadarm.canadarm2()
    assert arm.total_mass == pytest.approx(314.88 + 279.2 + 2 * 105.98 + 243.66)
    assert sum(link.length for link in arm.links) == pytest.approx(2 * 7.11 + 0.5692 + 0.7026 + 1.3589)
    assert arm.coordinates == 5 + 5 + 2 * 12


def test_the_booms_have_the_printed_stiffnesses_and_inertia():
    for name in ("upper", "lower"):
        boom = canadarm.canadarm2().link(name)
        section, material = boom.section.at(0.5), boom.material
        assert material.E * section.I_y == material.E * section.I_z == pytest.approx(3.8e6)
        stretch = material.E * section.A
        assert stretch == pytest.approx(2.84e7)
        assert material.shear_modulus * section.J == pytest.approx(2.93e6, rel=1e-3)
        assert boom.polar_inertia_per_length(0.5) * boom.length == pytest.approx(15.41)


def test_the_arm_starts_with_the_lower_boom_level():
    arm = canadarm.canadarm2()
    system = fa.System(arm, native=False)
    elbow, c, s = 7.11, np.cos(0.4 * np.pi), np.sin(0.4 * np.pi)
    reach = 7.11 + 0.5692 + 0.7026 + 1.3589
    assert_allclose(system.tip(canadarm.start(arm)), [elbow * c + reach, -0.475, elbow * s], atol=1e-12)


def test_the_weight_turns_shoulder_and_elbow_as_by_hand():
    arm = canadarm.canadarm2()
    system = fa.System(arm, native=False)
    found = system.gravity(canadarm.start(arm))
    elbow = hanging_on_the_elbow()
    out = 7.11 * np.cos(0.4 * np.pi)
    beyond = sum(mass for mass, _ in (LOWER, PITCH, YAW, ROLL))
    assert found[system.index("lower.q")] == pytest.approx(elbow, rel=1e-12)
    assert found[system.index("upper.q")] == pytest.approx(elbow + G * out * (314.88 / 2 + beyond), rel=1e-12)


def hanging_on_the_elbow() -> float:
    """Moment of everything beyond the elbow about it, stretched out level (N m)."""
    moment, root = 0.0, 0.0
    for mass, length in (LOWER, PITCH, YAW, ROLL):
        moment += mass * G * (root + length / 2)
        root += length
    return moment


def test_held_level_the_boom_sags_as_a_cantilever_and_the_springs_give_way():
    """In a thousandth of gravity, where statics are linear; twelve modes, since end moments take many."""
    level = canadarm.canadarm2(modes=12).with_(gravity=(0, 0, -G / 1000))
    system = fa.System(level, native=False)
    q = fa.equilibrium(system)
    beyond, moment, L = sum(mass for mass, _ in (LOWER, PITCH, YAW, ROLL)), hanging_on_the_elbow() / 1000, 7.11
    own, force = 314.88 / L * G / 1000, beyond * G / 1000
    sag = own * L**4 / (8 * canadarm.EI) + force * L**3 / (3 * canadarm.EI) + moment * L**2 / (2 * canadarm.EI)
    _, shape = system.deflection("upper", q)
    assert shape[-1, 1] == pytest.approx(-sag, rel=3e-3)
    shoulder = moment + force * L + own * L**2 / 2
    assert q[system.index("lower.q")] == pytest.approx(-moment / 2.66e6, rel=1e-3)
    assert q[system.index("upper.q")] == pytest.approx(-shoulder / 2.66e6, rel=1e-3)


# --- 4.2 the Canadarm2: the drop ---


def test_energy_is_conserved():
    run = drop_with()
    parts = [run.data[name] for name in ("kinetic", "elastic", "gravity", "drive")]
    total = sum(part - part[0] for part in parts)
    assert float(run.data["kinetic"].max()) > 1000
    assert float(abs(total).max()) < 1e-6 * float(run.data["kinetic"].max())
    assert float(run.data["elastic"].max()) > 1


def test_at_first_the_tip_falls_as_its_rigid_twins_does():
    """Rigid links on very stiff joints move as the rigid arm with the rotors' inertia."""
    arm = canadarm.canadarm2()
    stiff = arm.with_({f"links.{link}.joint.drive.stiffness": 1e8 for link in canadarm.JOINTS})
    stiff = stiff.with_({f"links.{link}.flexible": None for link in ("upper", "lower")})
    rigid = drop(arm.rigid())
    assert float(canadarm.tip_apart(drop(stiff), rigid).max()) < 1e-5
    assert float(rigid.tip.sel(axis="z")[-1] - rigid.tip.sel(axis="z")[0]) < -0.05


def test_the_rigid_arm_begins_to_fall_with_the_accelerations_of_a_double_pendulum():
    """Wrist locked: two bars in a plane, accelerations from the two by two equations written by hand."""
    arm = canadarm.canadarm2().rigid()
    welds = {f"links.{link}.joint": fa.Weld() for link in ("pitch", "yaw", "roll")}
    locked = arm.with_(welds)
    system = fa.System(locked, native=False)
    found = system.forward_dynamics(canadarm.start(locked), np.zeros(2))

    mass, centre, inertia = fore_arm()
    L, rotor, c = 7.11, 10.0, np.cos(-0.4 * np.pi)
    own, coupling = inertia + mass * centre**2, mass * L * centre * c
    M = np.array(
        [
            [314.88 * L**2 / 3 + mass * L**2 + own + 2 * coupling + rotor, own + coupling],
            [own + coupling, own + rotor],
        ]
    )
    elbow = hanging_on_the_elbow()
    moments = [elbow + G * L * np.cos(0.4 * np.pi) * (314.88 / 2 + mass), elbow]
    assert_allclose(found, np.linalg.solve(M, -np.array(moments)), rtol=1e-9)


def fore_arm() -> tuple[float, float, float]:
    """Lower boom and wrist as one stiff body: mass, centre from the elbow, inertia about the centre across the arm."""
    total = sum(mass for mass, _ in (LOWER, PITCH, YAW, ROLL))
    centre = hanging_on_the_elbow() / G / total
    inertia, root = 0.0, 0.0
    for mass, length in (LOWER, PITCH, YAW, ROLL):
        thick = 0.0 if (mass, length) == LOWER else mass * canadarm.WRIST_DIAMETER**2 / 16
        inertia += mass * length**2 / 12 + thick + mass * (root + length / 2 - centre) ** 2
        root += length
    return total, centre, inertia


def test_a_heavier_rotor_winds_up_its_spring_more():
    sizes = [float(abs(canadarm.wind_up(drop_with(J), "upper")).max()) for J in canadarm.ROTOR_INERTIAS]
    assert (np.diff(sizes) > 0).all()
    assert sizes[-1] > 2 * sizes[0]


def test_a_softer_joint_winds_up_more_but_the_drop_hardly_depends_on_it():
    runs = [drop_with(joint_stiffness=K) for K in canadarm.STIFFNESSES]
    sizes = [float(abs(canadarm.wind_up(run, "upper")).max()) for run in runs]
    assert (np.diff(sizes) < 0).all()
    turned = abs(runs[0]["pitch.q"]).max()
    assert abs(runs[0]["pitch.q"] - runs[-1]["pitch.q"]).max() < 0.01 * turned


def test_ever_stiffer_joints_come_to_those_without_springs():
    arm = canadarm.canadarm2()
    limit = drop(canadarm.without_springs(arm))
    apart = [abs(drop_with(joint_stiffness=K)["lower.q"] - limit["lower.q"]).max() for K in (0.6e6, 5e6, 5e7)]
    assert (np.diff(apart) < 0).all()
    assert apart[-1] < 1.5e-5


def test_more_modes_converge():
    tips = [drop_with(modes=modes).tip.values[-1] for modes in (2, 3, 4)]
    steps = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    assert steps[1] < steps[0] / 2
    assert steps[1] < 1e-4


def test_the_offset_between_the_booms_bends_and_twists_the_upper_one_out_of_the_plane():
    run = drop_with()
    assert float(abs(run.deflection("upper").sel(axis="z")).max()) > 1e-3
    assert np.abs(canadarm.twist(run, "upper")).max() > 1e-4
    flat = drop(canadarm.canadarm2().with_({"links.lower.offset": (0, 0, 0)}))
    assert float(abs(flat.deflection("upper").sel(axis="z")).max()) < 1e-12
    assert np.abs(canadarm.twist(flat, "upper")).max() < 1e-12


def test_the_twist_of_the_tip_is_that_of_its_coordinates():
    arm = canadarm.canadarm2()
    system = fa.System(arm, native=False)
    run = drop_with()
    q = run.data["q"].values.copy()
    bend = ["twist" not in name for name in system.names]
    q[:, bend] = 0.0
    turned = system.frame("upper", None, q)[:, :3, :3]
    alone = np.arctan2(turned[:, 2, 1], turned[:, 1, 1]) - np.pi / 2  # the base lies on its side
    assert_allclose(canadarm.twist(run, "upper"), alone, atol=1e-6)


@pytest.mark.slow
def test_the_whole_drop_agrees_with_every_order():
    """Through the whip at 2 s, where the booms bend by 0.4 m, and after it."""
    run, full = canadarm.dropped(canadarm.canadarm2()), canadarm.dropped(canadarm.every_order(canadarm.canadarm2()))
    assert run.reason == full.reason == "completed"
    assert float(run.deflection("upper").sel(axis="y").max()) > 0.3
    apart = canadarm.tip_apart(run, full)
    assert float(apart.sel(time=slice(0, canadarm.WHIP)).max()) < 3e-6  # of the booms' terms of third order
    assert float(apart.max()) < 4e-3  # they bend by 0.4 m of 7
    assert float(abs(run.data["balance"]).max()) < 1e-8 * float(run.data["kinetic"].max())


@pytest.mark.slow
def test_the_mass_matrix_stays_definite_through_the_whip():
    run = canadarm.dropped(canadarm.canadarm2())
    system = fa.System(run.robot, native=False)
    least = [np.linalg.eigvalsh(system.mass_matrix(q))[0] for q in run.data["q"].values[::20]]
    assert min(least) > least[0] / 2


@pytest.mark.slow
def test_the_whole_drop_does_not_depend_on_the_integrator():
    run = canadarm.dropped(canadarm.canadarm2())
    options = {"q0": canadarm.start(run.robot), "sample": canadarm.SAMPLE, "progress": False}
    other = fa.simulate(run.robot, canadarm.DROP, method="generalized-alpha", rtol=1e-6, **options)
    assert float(canadarm.tip_apart(run, other).max()) < 1e-5


@pytest.mark.slow
def test_with_free_motors_the_joints_stiffness_moves_the_tip_by_less_than_a_thousandth_of_the_reach():
    softest, stiffest = (canadarm.dropped(canadarm.canadarm2(joint_stiffness=K)) for K in (0.6e6, 5e6))
    assert float(canadarm.tip_apart(softest, stiffest).max()) == pytest.approx(8.0e-3, rel=0.02)
    assert 8.0e-3 < 1e-3 * 16.85


@pytest.mark.slow
def test_with_held_motors_the_joints_stiffness_moves_the_tip_by_metres():
    """Measured with rtol 1e-6 and 1e-8: 1.094 m after a second, 6.024 m within three."""
    softest, stiffest = (canadarm.held(canadarm.canadarm2(joint_stiffness=K)) for K in (0.6e6, 5e6))
    apart = canadarm.tip_apart(softest, stiffest)
    assert float(apart.sel(time=1.0, method="nearest")) == pytest.approx(1.094, abs=2e-3)
    assert float(apart.max()) == pytest.approx(6.024, abs=2e-3)


def test_held_motors_stay_and_the_rotors_inertia_plays_no_part():
    light, heavy = (canadarm.held(canadarm.canadarm2(rotor_inertia=J), 0.2, native=False) for J in (2.0, 15.0))
    for link in canadarm.JOINTS:
        assert_allclose(light[f"{link}.motor"], canadarm.POSTURE.get(link, 0.0), atol=1e-12)
    assert float(canadarm.tip_apart(light, heavy).max()) < 1e-6


def test_the_held_arm_at_rest_winds_up_its_shoulder_by_the_weight():
    """On rigid booms, in a thousandth of gravity: the tip sinks as the springs of shoulder, elbow "
    "and pitch give way."""
    K, small = 0.6e6, 1e-3
    arm = canadarm.canadarm2(joint_stiffness=K).with_(gravity=(0, 0, -G * small))
    stiff = arm.with_({f"links.{boom}.flexible": None for boom in ("upper", "lower")})
    system, q0 = fa.System(stiff, native=False), canadarm.start(stiff)
    moment = system.gravity(q0)
    tip = system.tip(q0)
    sunk = 0.0
    for link, root in (
        ("upper", 0.0),
        ("lower", 7.11 * np.cos(0.4 * np.pi)),
        ("pitch", 7.11 * (1 + np.cos(0.4 * np.pi))),
    ):
        sunk += moment[system.index(f"{link}.q")] / K * (tip[0] - root)
    assert canadarm.held_at_rest(stiff)[2] - tip[2] == pytest.approx(-sunk, rel=2e-3)


def test_results_side_by_side_carry_their_parameter():
    data = canadarm.by("stiffness", {K: canadarm.joint_angles(drop_with(joint_stiffness=K)) for K in (0.6e6, 5e6)})
    assert data["lower"].sel(stiffness=5e6)[0] == pytest.approx(-0.4 * np.pi)
    largest = canadarm.envelope(data["upper"])
    assert_allclose(largest.time, [0.05, 0.15], atol=1e-3)
    assert float(largest.max()) == pytest.approx(0.4 * np.pi, rel=1e-4)


def test_long_labels_take_fewer_columns():
    assert legend_columns(["2 kg m2"] * 4, 7.0) == 4
    assert legend_columns(["a label of some thirty letters"] * 4, 7.0) == 2
    assert legend_columns(["a label" * 20] * 3, 7.0) == 1
    assert legend_columns(["short"] * 5, 7.0) == 3


def test_the_zero_order_booms_of_the_canadarm2_are_the_others_for_small_deflections():
    """While the arm drops freely its booms hardly bend: all models of them take the tip the same way."""
    arm = canadarm.canadarm2()
    zero = canadarm.zero_order(arm)
    assert {link.flexible.stiffening for link in zero.links if link.flexible} == {"none"}
    assert float(canadarm.tip_apart(drop(zero), drop(arm)).max()) < 1e-4
