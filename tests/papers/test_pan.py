"""Pan, Scott and Ulsoy's beam, pushed and pulled over two supports (section 5)."""

import numpy as np
import pytest

import flexarm as fa
from flexarm_papers.pan import STUDY
from flexarm_papers.pan.beam import (
    CASES,
    DEFLECTION,
    FAST_PULL,
    FAST_PUSH,
    FEW_ELEMENTS,
    LENGTH,
    MODES,
    SAMPLE_COUNT,
    SLOW_PUSH,
    SUPPORTS,
    apart,
    finely_integrated,
    first_frequency_squared,
    floating,
    newmark,
    papers_own,
    rise,
    rooted,
    travel,
    vibration_energy,
)
from flexarm_papers.pan.rigid_axial_force import beam_matrices, difference_from_shortened_beam, rise_by_equation_16
from flexarm_papers.pan.sleeve import off as off_the_rigid
from flexarm_papers.pan.sleeve import softness
from flexarm_papers.progress import Steps
from tests.helpers import table


def reference(case, driven="H"):
    """Times, and the rise of the observed end."""
    rows = table(f"supports_{case.name.replace(' ', '_')}.csv")
    side = f"w_{case.observed}_" + (f"driver{driven}" if driven else "no_axial_force")
    return np.array([[float(row[column]) for row in rows] for column in ("t", side)])


def off(case, run, driven="H"):
    """Distance from the reference as a fraction of the initial rise, over time."""
    t, exact = reference(case, driven)
    return t, np.abs(np.interp(t, run.time.values, rise(run, case.observed)) - exact) / DEFLECTION


# --- the setting ---


def test_the_overhang_follows_equation_57():
    for case in CASES:
        t = np.linspace(0, case.duration, 50)
        T = case.duration
        W = case.start - case.travel / T * (t - T / (2 * np.pi) * np.sin(2 * np.pi * t / T))
        assert np.allclose(case.place(0.0)(t), -W)
        assert np.allclose(np.gradient(np.gradient(-W, t), t)[3:-3], case.acceleration(t)[3:-3], rtol=0.05, atol=0.05)
        rows = table(f"supports_{case.name.replace(' ', '_')}.csv")
        times, theirs = (np.array([float(row[name]) for row in rows]) for name in ("t", "W"))
        assert np.allclose(case.place(0.0)(times), -theirs, atol=1e-8)


@pytest.mark.parametrize(("describe", "count"), [(floating, 8), (rooted, 4)])
def test_the_beam_starts_in_the_static_shape_of_a_uniform_load(describe, count):
    """Ends of a beam with overhangs a and b beyond a span D under a uniform load p, by integration of its moments."""
    stiffening = "shortening" if describe is floating else "exact"
    run = travel(FAST_PUSH, describe, count=count, stiffening=stiffening)
    D = SUPPORTS[1] - SUPPORTS[0]
    a, b = FAST_PUSH.start, LENGTH - D - FAST_PUSH.start
    slope_a, slope_b = ((one**2 / 6 + other**2 / 12) * D - D**3 / 24 for one, other in ((a, b), (b, a)))
    at_H, at_E = (x * slope + x**4 / 8 for x, slope in ((a, slope_a), (b, slope_b)))
    # the shape is that of linear theory, and then put onto the supports of the bent beam
    assert rise(run, "H")[0] == pytest.approx(DEFLECTION, rel=3e-4)
    assert rise(run, "E")[0] == pytest.approx(DEFLECTION * at_E / at_H, rel=0.02)
    assert np.abs(run["v"].values[0]).max() == 0


# --- the motion ---


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(each, marks=[pytest.mark.slow] * (each is not FAST_PULL))
        for each in (SLOW_PUSH, FAST_PUSH, FAST_PULL)
    ],
    ids=lambda case: case.name,
)
def test_modes_with_a_moving_root_are_near_the_reference(case):
    """The second description: measured 4, 2.4 and 2 %, partly from its 6 modes, partly since it is not linear."""
    run = travel(case, rooted, count=MODES, stiffening="exact")
    t, error = off(case, run)
    assert run.reason == "completed"
    assert run["violation"].values.max() < 1e-14  # m: rounding, and a step is long
    assert error[t < 0.4 * case.duration].max() < 0.01
    assert error.max() < 0.05


def test_the_two_descriptions_agree():
    modes = travel(FAST_PULL, rooted, count=MODES, stiffening="exact")
    assert apart(FAST_PULL, travel(FAST_PULL, count=8), modes).max() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_four_elements_are_too_few_once_the_overhang_is_short(case):
    """The paper's four are good at first; it found the slow push in excellent agreement throughout."""
    errors = {}
    for count in (FEW_ELEMENTS, 6, 8):
        t, errors[count] = off(case, travel(case, count=count))
    early = t < 0.3 * case.duration
    assert all(error[early].max() < 0.01 for error in errors.values())
    assert errors[8].max() < errors[6].max() < errors[FEW_ELEMENTS].max()
    assert errors[8].max() < 0.03
    assert errors[FEW_ELEMENTS].max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("driven", ["H", ""])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_the_page_shows_is_the_reference(case, driven):
    """Which is linear: that the shortened beam is elsewhere over its supports is 1.4 % at 10 mm in the fast push, and
    0.3 % at 2 mm."""
    _, error = off(case, travel(case, stiffening="shortening" if driven else "none"), driven)
    assert error.max() < (0.02 if driven else 0.005)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equation_16_taken_literally_is_the_linear_reference(case):
    """The reference is linear, too; 16 elements were measured 0.33, 0.33 and 0.18 % off, 24 below 0.09 %."""
    t, exact = reference(case)
    times = np.linspace(0, case.duration, SAMPLE_COUNT + 1)
    for count, allowed in ((16, 0.004), (24, 0.001)):
        if count == 16 or case is not SLOW_PUSH:
            error = np.abs(np.interp(t, times, rise_by_equation_16(case, count)) - exact) / DEFLECTION
            assert error.max() < allowed


def test_matrices_of_equation_16():
    """Mass, load, rigid-body modes; the axial force does the work of a beam that is turned as a whole."""
    beam = beam_matrices(3)
    x = np.linspace(0, LENGTH, 4)
    lifted, turned = np.array([np.ones(4), np.zeros(4)]).T.ravel(), np.array([x, np.ones(4)]).T.ravel()
    assert lifted @ beam.mass @ lifted == pytest.approx(1)
    assert turned @ beam.mass @ turned == pytest.approx(1 / 3)
    assert turned @ beam.load == pytest.approx(1 / 2)
    assert np.allclose(beam.stiffness @ np.array([lifted, turned]).T, 0, atol=1e-9)
    assert turned @ beam.axial @ turned == pytest.approx(-1 / 2)  # the integral of -(L - x)


@pytest.mark.slow
def test_the_shortened_beam_tends_to_equation_16_for_small_amplitudes():
    """Measured 1.4 % at 10 mm in the fast push: more than the error of the mesh, and falling with the amplitude."""
    large, small = (difference_from_shortened_beam(FAST_PUSH, rise) for rise in (DEFLECTION, DEFLECTION / 5))
    assert 0.01 < large < 0.02
    assert small < large / 3


def test_modes_are_mirrored_too():
    """A push led by H is a pull led by E, also in frames that turn."""
    options = {"describe": rooted, "count": 4, "stiffening": "exact", "rtol": 1e-4}
    push, pull = travel(FAST_PUSH, driven="H", **options), travel(FAST_PULL, driven="E", **options)
    assert np.abs(rise(push, "H") - rise(pull, "E")).max() < 1e-6
    assert np.abs(rise(push, "E") - rise(pull, "H")).max() < 1e-6


@pytest.mark.slow
def test_the_axial_force_matters_in_fast_motions_and_more_in_a_push():
    changes = [apart(case, *(travel(case, count=6, stiffening=s) for s in ("shortening", "none"))) for case in CASES]
    slow, push, pull = (change.max() for change in changes)
    assert push > 10 * slow
    assert push > 5 * pull > 5 * slow


def test_a_push_makes_the_beam_rise_and_a_pull_makes_it_swing_back_sooner():
    push, pull, plain = (
        travel(case, count=8, stiffening=kind)
        for case, kind in ((FAST_PUSH, "shortening"), (FAST_PULL, "shortening"), (FAST_PUSH, "none"))
    )
    first_zero = [np.argmax(rise(run, end) < 0) for run, end in ((push, "H"), (plain, "H"), (pull, "E"))]
    assert first_zero[0] > first_zero[1] > first_zero[2] > 0
    assert rise(push, "H").max() == pytest.approx(reference(FAST_PUSH)[1].max(), rel=0.01)
    assert rise(push, "H").max() > 1.4 * DEFLECTION
    assert rise(pull, "E").max() == pytest.approx(DEFLECTION)


# --- the held beam ---


def test_the_first_frequency_of_the_held_beam():
    """At rest it is that of `fa.modes`; under way a push is a pull that runs backwards."""
    t = np.linspace(0, FAST_PUSH.duration, 29)
    push, plain = (first_frequency_squared(FAST_PUSH, kind, t) for kind in ("shortening", "none"))
    pull = first_frequency_squared(FAST_PULL, "shortening", t)
    robot = floating("H", 8, "none")
    q = fa.System(robot, native=False).vector({"beam.q": -FAST_PUSH.start})
    known = fa.modes(robot, q, joints="locked")
    omega = 2 * np.pi * known.frequencies[~known.rigid][0]
    assert push[0] == pytest.approx(plain[0])
    assert plain[0] == pytest.approx(omega**2, rel=1e-6)
    assert np.allclose(push, pull[::-1])
    assert plain.min() > 0


def test_the_push_alone_would_buckle_the_overhang_for_a_while():
    t = np.linspace(0, 0.35, 36)
    held = [first_frequency_squared(case, "shortening", t) for case in (SLOW_PUSH, FAST_PUSH, FAST_PULL)]
    assert held[0].min() > 0
    assert 0.05 < t[held[1] < 0][0] < 0.1
    assert 0.2 < t[held[1] < 0][-1] < 0.3
    assert (held[2] >= held[2][0] - 1e-9).all()


# --- energy and forces ---


def test_the_work_of_the_drive_is_the_energy_of_the_beam():
    runs = [travel(FAST_PUSH, count=FEW_ELEMENTS, rtol=rtol) for rtol in (1e-4, 1e-5, 1e-6)]
    errors = [np.abs(run["balance"].values).max() for run in runs]
    assert errors[0] > 5 * errors[1] > 25 * errors[2]
    fine = runs[-1]
    assert (fine["dissipated"].values == 0).all()
    gained = vibration_energy(fine, FEW_ELEMENTS)[[0, -1]]  # at rest there is no other energy
    assert fine["work"].values[-1] == pytest.approx(gained[1] - gained[0], abs=2 * errors[2])
    assert gained[1] > 20 * gained[0]


def test_the_work_of_the_drive_is_its_force_times_its_speed():
    run = finely_integrated()
    power = run.torque.sel(input="beam").values * run.data["v"].sel(coordinate="beam.q").values
    steps = np.diff(run.time.values) * (power[1:] + power[:-1]) / 2
    assert np.allclose(np.cumsum(steps), run["work"].values[1:], atol=2e-4)


def test_supports_and_momentum():
    """The two reactions are all that acts across the beam: they make up the change of its transverse momentum."""
    run = travel(FAST_PUSH, count=8)
    system = fa.System(floating("H", 8, "none"), native=False)
    lifted = np.zeros(system.nq)
    lifted[1::2] = 1.0  # after the slide: rise and slope of every node
    momentum = run["v"].values @ (system.mass_matrix(run["q"].values[0]) @ lifted)
    force = run["reaction"].values.sum(axis=1)
    impulse = np.concatenate([[0], np.cumsum(np.diff(run.time.values) * (force[1:] + force[:-1]) / 2)])
    assert np.abs(momentum - momentum[0] - impulse).max() < 5e-3 * np.abs(momentum).max()


# --- the paper's integration ---


def test_the_papers_scheme_is_of_second_order():
    errors = [apart(FAST_PUSH, papers_own(dt), finely_integrated()).max() for dt in (2e-3, 1e-3, 5e-4)]
    assert errors[0] / errors[1] == pytest.approx(4, abs=1)
    assert errors[1] / errors[2] == pytest.approx(4, abs=1)
    assert errors[2] < 0.003


def test_stabilised_constraints_are_violated_and_projected_ones_are_not():
    stabilised, stronger, loose, projected = (
        run["violation"].values
        for run in (
            papers_own(1e-3),
            newmark(1e-3, fa.Baumgarte(50, 50)),
            newmark(1e-3, fa.Baumgarte(0, 0)),
            newmark(1e-3),
        )
    )
    assert projected.max() < 1e-17
    assert 1e-6 < stabilised.max() < 1e-5
    assert stronger[-1] < 1e-2 * stabilised[-1] < stabilised[-1] < 0.5 * loose[-1]
    assert papers_own(2e-3)["violation"].values.max() > 2 * stabilised.max()


def test_violations_matter_less_than_the_time_step():
    own, projected = papers_own(1e-3), newmark(1e-3)
    assert apart(FAST_PUSH, own, projected).max() < 0.5 * apart(FAST_PUSH, own, finely_integrated()).max()
    assert np.allclose(rise(own, "H"), rise(newmark(1e-3, fa.Baumgarte(5, 5)), "H"), rtol=0, atol=1e-15)


# --- the page ---


@pytest.mark.slow
def test_the_page(tmp_path):
    page = STUDY.run(tmp_path, Steps(len(STUDY.sections))).read_text()
    assert page.count("| yes |") == 6
    assert page.count("| **no** |") == 0
    assert page.count("| cannot be decided |") == 4  # three agreements with curves that are not at hand, and speed
    assert "0.5 % of" not in page  # accuracies are computed
    assert f"{100 * difference_from_shortened_beam(FAST_PUSH):.2f} %" in page
    figures = {path.stem for path in (tmp_path / "pan").glob("*.png")}
    assert {"figure_7", "figure_8", "figure_9", "push_and_pull", "poses", "reactions", "violation"} <= figures
    assert all(f"({figure}.png)" in page for figure in figures)
    assert fa.Run.load(tmp_path / "pan/data/fast_push.nc").reason == "completed"


# --- the joint of figure 4 on a link that turns ---


@pytest.mark.parametrize("inside", [0.25, 0.5])
def test_a_beam_in_a_sleeve_is_as_soft_as_statics_say(inside):
    out = LENGTH - inside
    assert softness(fa.Sleeve(), inside) == pytest.approx(out**3 / 3 + out**2 * inside / 4, rel=1e-6)
    assert softness(fa.FixedPrismatic(rear="rigid"), inside) == pytest.approx(out**3 / 3, rel=1e-3)


def test_in_a_sleeve_the_beam_swings_further_than_clamped_at_its_mouth():
    sleeve, clamped = (np.abs(off_the_rigid(how)[1]).max() for how in ("sleeve", "clamped at the mouth"))
    assert 1.2 * clamped < sleeve < 1.75 * clamped
