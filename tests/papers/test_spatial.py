"""Advances in Mechanical Engineering 2013, 216014: the spin-up against reference tables; the Canadarm2 against
mechanics that can be done by hand."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm_papers import spatial
from flexarm_papers.figures import legend_columns
from tests.helpers import table

G = 9.81
LOWER, PITCH, YAW, ROLL = (279.2, 7.11), (105.98, 0.5692), (105.98, 0.7026), (243.66, 1.3589)  # kg, m


@cache
def spun_up(speed: float, model: str) -> fa.Run:
    return spatial.spun_up(speed, model, native=False)


def drop(robot: fa.Robot, duration: float = 0.2, rtol: float = 1e-6) -> fa.Run:
    return spatial.dropped(robot, duration, rtol, native=False)


@cache
def drop_with(rotor_inertia: float = 10.0, joint_stiffness: float = 2.66e6, modes: int = 3) -> fa.Run:
    return drop(spatial.canadarm2(rotor_inertia, joint_stiffness, modes))


# --- 4.1 the rotating beam ---


def test_the_first_bending_frequency():
    assert spatial.first_frequency() == pytest.approx(2.910743 / (2 * np.pi), rel=1e-6)


@pytest.mark.parametrize("speed", spatial.SPEEDS)
def test_peaks_with_stiffening_lie_between_those_of_the_references(speed):
    found, close = spatial.peak(spun_up(speed, "high-order")), 1e-3 if speed <= 3 else 5e-3
    assert spatial.LINEAR[speed] < found < spatial.NONLINEAR[speed]
    assert found == pytest.approx(spatial.LINEAR[speed], rel=close)
    assert found == pytest.approx(spatial.NONLINEAR[speed], rel=close)


@pytest.mark.parametrize("speed", [0.6, 2.0])
def test_zero_order_peaks_below_the_first_frequency(speed):
    assert spatial.peak(spun_up(speed, "zero-order")) == pytest.approx(spatial.ZERO_ORDER[speed], rel=1e-4)


@pytest.mark.parametrize("speed", spatial.SPEEDS)
def test_the_zero_order_model_runs_away_above_the_first_frequency_only(speed):
    run = spun_up(speed, "zero-order")
    assert spatial.runs_away(run) == (speed > 2 * np.pi * spatial.first_frequency())
    assert not spatial.runs_away(spun_up(speed, "high-order"))


@pytest.mark.parametrize(("name", "peaks"), [("spin_up", spatial.LINEAR), ("spin_up_nonlinear", spatial.NONLINEAR)])
def test_the_peaks_on_the_page_are_those_of_the_tables(name, peaks):
    """The tables are thinned to half a second, so that their lowest sample lies a little above the peak."""
    for speed, lowest in peaks.items():
        sample = min(float(row[f"y_tip_w0={speed:g}"]) for row in table(f"{name}.csv"))
        assert lowest <= sample == pytest.approx(lowest, rel=5e-3)


def test_the_zero_order_run_at_3_rad_per_s_follows_the_reference_as_far_as_it_goes():
    run = spun_up(3.0, "zero-order")
    rows = [row for row in table("spin_up_zero_order.csv") if float(row["t"]) <= 17]
    exact = [float(row["y_tip_w0=3"]) for row in rows]
    found = spatial.bending(run).interp(time=[float(row["t"]) for row in rows])
    assert_allclose(found, exact, rtol=1e-3, atol=1e-4)
    assert float(found.sel(time=15.0)) == pytest.approx(-12.06, abs=0.01)


def test_there_is_no_resonance_at_the_first_frequency():
    """The paper suggests one at 3 rad/s; the peak even grows less than the speed."""
    assert spatial.peak(spun_up(3.0, "high-order")) / spatial.peak(spun_up(2.0, "high-order")) < 3.0 / 2.0


# --- 4.2 the Canadarm2: what can be known without moving ---


def test_masses_lengths_and_coordinates():
    arm = spatial.canadarm2()
    assert arm.total_mass == pytest.approx(314.88 + 279.2 + 2 * 105.98 + 243.66)
    assert sum(link.length for link in arm.links) == pytest.approx(2 * 7.11 + 0.5692 + 0.7026 + 1.3589)
    assert arm.coordinates == 5 + 5 + 2 * 12


def test_the_booms_have_the_printed_stiffnesses_and_inertia():
    for name in ("upper", "lower"):
        boom = spatial.canadarm2().link(name)
        section, material = boom.section.at(0.5), boom.material
        assert material.E * section.I_y == material.E * section.I_z == pytest.approx(3.8e6)
        stretch = material.E * section.A
        assert stretch == pytest.approx(2.84e7)
        assert material.shear_modulus * section.J == pytest.approx(2.93e6, rel=1e-3)
        assert boom.polar_inertia_per_length(0.5) * boom.length == pytest.approx(15.41)


def test_the_arm_starts_with_the_lower_boom_level():
    arm = spatial.canadarm2()
    system = fa.System(arm, native=False)
    elbow, c, s = 7.11, np.cos(0.4 * np.pi), np.sin(0.4 * np.pi)
    reach = 7.11 + 0.5692 + 0.7026 + 1.3589
    assert_allclose(system.tip(spatial.start(arm)), [elbow * c + reach, -0.475, elbow * s], atol=1e-12)


def test_the_weight_turns_shoulder_and_elbow_as_by_hand():
    arm = spatial.canadarm2()
    system = fa.System(arm, native=False)
    found = system.gravity(spatial.start(arm))
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
    level = spatial.canadarm2(modes=12).with_(gravity=(0, 0, -G / 1000))
    system = fa.System(level, native=False)
    q = fa.equilibrium(system)
    beyond, moment, L = sum(mass for mass, _ in (LOWER, PITCH, YAW, ROLL)), hanging_on_the_elbow() / 1000, 7.11
    own, force = 314.88 / L * G / 1000, beyond * G / 1000
    sag = own * L**4 / (8 * spatial.EI) + force * L**3 / (3 * spatial.EI) + moment * L**2 / (2 * spatial.EI)
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
    arm = spatial.canadarm2()
    stiff = arm.with_({f"links.{link}.joint.drive.stiffness": 1e8 for link in spatial.JOINTS})
    stiff = stiff.with_({f"links.{link}.flexible": None for link in ("upper", "lower")})
    rigid = drop(arm.rigid())
    assert float(spatial.tip_apart(drop(stiff), rigid).max()) < 1e-5
    assert float(rigid.tip.sel(axis="z")[-1] - rigid.tip.sel(axis="z")[0]) < -0.05


def test_the_rigid_arm_begins_to_fall_with_the_accelerations_of_a_double_pendulum():
    """Wrist locked: two bars in a plane, accelerations from the two by two equations written by hand."""
    arm = spatial.canadarm2().rigid()
    welds = {f"links.{link}.joint": fa.Weld() for link in ("pitch", "yaw", "roll")}
    locked = arm.with_(welds)
    system = fa.System(locked, native=False)
    found = system.forward_dynamics(spatial.start(locked), np.zeros(2))

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
        thick = 0.0 if (mass, length) == LOWER else mass * spatial.WRIST_DIAMETER**2 / 16
        inertia += mass * length**2 / 12 + thick + mass * (root + length / 2 - centre) ** 2
        root += length
    return total, centre, inertia


def test_a_heavier_rotor_winds_up_its_spring_more():
    sizes = [float(abs(spatial.wind_up(drop_with(J), "upper")).max()) for J in spatial.ROTOR_INERTIAS]
    assert (np.diff(sizes) > 0).all()
    assert sizes[-1] > 2 * sizes[0]


def test_a_softer_joint_winds_up_more_but_the_drop_hardly_depends_on_it():
    runs = [drop_with(joint_stiffness=K) for K in spatial.STIFFNESSES]
    sizes = [float(abs(spatial.wind_up(run, "upper")).max()) for run in runs]
    assert (np.diff(sizes) < 0).all()
    turned = abs(runs[0]["pitch.q"]).max()
    assert abs(runs[0]["pitch.q"] - runs[-1]["pitch.q"]).max() < 0.01 * turned


def test_ever_stiffer_joints_come_to_those_without_springs():
    arm = spatial.canadarm2()
    rigid_joints = arm.with_({f"links.{link}.joint.drive.stiffness": None for link in spatial.JOINTS})
    limit = drop(rigid_joints)
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
    assert np.abs(spatial.twist(run, "upper")).max() > 1e-4
    flat = drop(spatial.canadarm2().with_({"links.lower.offset": (0, 0, 0)}))
    assert float(abs(flat.deflection("upper").sel(axis="z")).max()) < 1e-12
    assert np.abs(spatial.twist(flat, "upper")).max() < 1e-12


def test_the_twist_of_the_tip_is_that_of_its_coordinates():
    arm = spatial.canadarm2()
    system = fa.System(arm, native=False)
    run = drop_with()
    q = run.data["q"].values.copy()
    bend = ["twist" not in name for name in system.names]
    q[:, bend] = 0.0
    turned = system.frame("upper", None, q)[:, :3, :3]
    alone = np.arctan2(turned[:, 2, 1], turned[:, 1, 1]) - np.pi / 2  # the base lies on its side
    assert_allclose(spatial.twist(run, "upper"), alone, atol=1e-6)


@pytest.mark.slow
def test_the_whole_drop_agrees_with_every_order():
    """Through the whip at 2 s, where the booms bend by 0.4 m, and after it."""
    run, full = spatial.dropped(spatial.canadarm2()), spatial.dropped(spatial.every_order(spatial.canadarm2()))
    assert run.reason == full.reason == "completed"
    assert float(run.deflection("upper").sel(axis="y").max()) > 0.3
    apart = spatial.tip_apart(run, full)
    assert float(apart.sel(time=slice(0, spatial.WHIP)).max()) < 3e-6  # of the booms' terms of third order
    assert float(apart.max()) < 4e-3  # they bend by 0.4 m of 7
    assert float(abs(run.data["balance"]).max()) < 1e-8 * float(run.data["kinetic"].max())


@pytest.mark.slow
def test_the_mass_matrix_stays_definite_through_the_whip():
    run = spatial.dropped(spatial.canadarm2())
    system = fa.System(run.robot, native=False)
    least = [np.linalg.eigvalsh(system.mass_matrix(q))[0] for q in run.data["q"].values[::20]]
    assert min(least) > least[0] / 2


@pytest.mark.slow
def test_the_whole_drop_does_not_depend_on_the_integrator():
    run = spatial.dropped(spatial.canadarm2())
    options = {"q0": spatial.start(run.robot), "sample": spatial.SAMPLE, "progress": False}
    other = fa.simulate(run.robot, spatial.DROP, method="generalized-alpha", rtol=1e-6, **options)
    assert float(spatial.tip_apart(run, other).max()) < 1e-5


@pytest.mark.slow
def test_the_joints_stiffness_moves_the_tip_by_less_than_a_thousandth_of_the_reach():
    softest, stiffest = (spatial.dropped(spatial.canadarm2(joint_stiffness=K)) for K in (0.6e6, 5e6))
    assert 1e-3 < float(spatial.tip_apart(softest, stiffest).max()) < 1e-3 * 16.85


def test_results_side_by_side_carry_their_parameter():
    data = spatial.by("stiffness", {K: spatial.joint_angles(drop_with(joint_stiffness=K)) for K in (0.6e6, 5e6)})
    assert data["lower"].sel(stiffness=5e6)[0] == pytest.approx(-0.4 * np.pi)
    largest = spatial.envelope(data["upper"])
    assert_allclose(largest.time, [0.05, 0.15], atol=1e-3)
    assert float(largest.max()) == pytest.approx(0.4 * np.pi, rel=1e-4)


def test_long_labels_take_fewer_columns():
    assert legend_columns(["2 kg m2"] * 4, 7.0) == 4
    assert legend_columns(["a label of some thirty letters"] * 4, 7.0) == 2
    assert legend_columns(["a label" * 20] * 3, 7.0) == 1
    assert legend_columns(["short"] * 5, 7.0) == 3
