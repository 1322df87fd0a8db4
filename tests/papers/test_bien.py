"""Bien & My: the study's robots and runs against what is known about them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm_papers import bien
from tests.helpers import omega, table

PINNED = [row for row in table("pinned_hub_payload.csv") if float(row["Jh/(mL^3)"]) == 0]


def impulse(times):
    """The integral of the bang-bang input over time."""
    start, end = bien.SWITCHES
    up, down = np.minimum(times, start), np.clip(times, start, end) - start
    return bien.AMPLITUDE * (up - down)


@pytest.mark.parametrize("row", PINNED, ids=lambda row: row["Mp/(mL)"])
def test_exact_beam_on_a_hinge_is_that_of_the_reference_table(row, monkeypatch):
    monkeypatch.setattr(bien, "PAYLOAD", float(row["Mp/(mL)"]) * bien.RHO * bien.AREA * bien.LENGTH)
    scale = np.sqrt(bien.EI / (bien.RHO * bien.AREA * bien.LENGTH**4))
    exact = scale * np.array([float(row[f"betaL_{k}"]) for k in range(1, 6)]) ** 2
    assert_allclose(bien.exact_vibrations(slides=False, count=5), exact, rtol=1e-10)


@pytest.mark.parametrize(("slides", "robot"), [(False, bien.on_a_hinge), (True, bien.on_a_slide)])
def test_frequencies_converge_to_the_exact_beam_with_the_fourth_power_of_the_element(slides, robot):
    exact = bien.exact_vibrations(slides, count=2)
    errors = np.array([bien.vibrations(robot(n)) for n in (4, 8, 16)]) / exact - 1
    assert (errors > 0).all()  # Rayleigh: a mesh is too stiff
    assert errors[-1].max() < 3e-5
    for k in range(2):
        assert_allclose(bien.orders((4, 8, 16), errors[:, k]), 4, atol=0.15)


@pytest.mark.parametrize(
    "row",
    [r for r in table("two_link_frequencies.csv") if r["params"] == "seed002"],
    ids=lambda r: "-".join(r.values())[:25],
)
def test_two_links_vibrate_as_in_the_reference_table(row):
    posture = {"fore.q": np.radians(float(row["theta2[deg]"]))}
    joints = {"upper": row["joint1"], "fore": row["joint2"]}
    exact = np.array([float(row[f"w{k}[rad/s]"]) for k in range(1, 4)])
    fine = omega(fa.modes(bien.two_links(12), posture, joints=joints))[:3]
    assert_allclose(fine, exact, rtol=1e-4)
    coarse = omega(fa.modes(bien.two_links(1), posture, joints=joints))[:3]
    assert (coarse > exact).all()


@pytest.mark.parametrize("robot", [bien.on_a_hinge(3), bien.on_a_hinge(3, "exact"), bien.on_a_slide(6)])
def test_momentum_of_the_joint_is_the_integral_of_what_drives_it(robot):
    run = bien.single(robot, 3.0)
    largest = bien.AMPLITUDE * bien.SWITCHES[0]
    # the error is that of the integration, at the default tolerance
    assert_allclose(bien.momentum(run), impulse(run.time.values), atol=2e-5 * largest)


def test_energy_is_balanced():
    for run in (bien.single(bien.on_a_hinge(7), 3.0), bien.double(bien.two_links(1), 3.0)):
        assert run.reason == "completed"
        assert float(np.abs(run.energy["balance"]).max()) < 5e-3 * float(run.energy["work"].max())
        assert (np.diff(run.energy["dissipated"]) >= -1e-12).all()


def test_one_element_is_too_few_and_three_are_enough():
    """Figure 4: the displacement of the end, against that of 14 elements."""
    fine = bien.flexural(bien.single(bien.on_a_hinge(14), 3.0))
    peak = np.abs(fine).max()
    off = {n: np.abs(bien.flexural(bien.single(bien.on_a_hinge(n), 3.0)) - fine).max() / peak for n in bien.ELEMENTS}
    assert off[1] > 0.5
    assert off[1] > off[3] > off[5] > off[7]
    assert off[3] < 0.05
    assert off[7] < 0.005


def test_links_bend_little_enough_for_the_beam_theory():
    for run in (bien.single(bien.on_a_hinge(1), 3.0), bien.single(bien.on_a_slide(6), 3.0)):
        assert np.abs(bien.flexural(run)).max() < 0.1 * bien.LENGTH
    assert_allclose(bien.EI / bien.STRIP_EI, 25)  # a strip of the same area would bend too far
    assert_allclose([bien.SQUARE.at(0).A, bien.STRIP.at(0).A], bien.AREA)


def test_a_slide_along_the_link_bends_nothing():
    along, across = (bien.single(bien.on_a_slide(3, each), 1.0) for each in (False, True))
    assert not bien.flexural(along).any()
    assert np.abs(bien.flexural(across)).max() > 0.01
    rigid = bien.AMPLITUDE / (bien.RHO * bien.AREA * bien.LENGTH + bien.PAYLOAD) / 2
    assert float(along["beam.q"][-1]) == pytest.approx(rigid, rel=1e-9)


def test_slide_moves_the_tip_along_itself():
    run = bien.single(bien.on_a_slide(3), 1.0)
    moved = run.tip.sel(axis="y").values
    assert_allclose(moved, run["beam.q"].values + bien.flexural(run), atol=1e-12)


@pytest.mark.parametrize("elements", [1, 2])
def test_mass_matrix_by_both_routes_of_assembly(elements):
    """Two elements each are the paper's own check of its algorithm."""
    assert max(bien.mass_matrix_differences(elements).values()) < 1e-15


def test_two_links_go_where_other_codes_take_them():
    """Tips at 1, 2, 5 and 10 s that Exudyn, MuJoCo and two prototypes agree on to 4e-5 m."""
    known = np.array([(1.49976, 0.02558), (1.49897, 0.05073), (1.49897, 0.05011), (1.49886, 0.04868)])

    def off(robot):
        tip = bien.double(robot).tip.values[[round(t / bien.SAMPLE) for t in (1, 2, 5, 10)], :2]
        return np.abs(tip - known).max(axis=1)

    assert off(bien.two_links(4, "shortening")).max() < 8e-5
    assert off(fa.library.two_link_arm(bien.DAMPING)).max() < 3e-4  # three modes
    assert off(bien.two_links(1))[:2].max() < 3e-4  # the paper's model, while it is driven
    assert off(bien.two_links(1))[3] > 1e-3
    assert off(bien.two_links(4))[3] > 1e-3  # no mesh makes up for foreshortening
