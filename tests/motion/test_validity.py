"""Warnings begin where they say: each bound is tried from both sides, on a run whose samples are changed."""

import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.motion.records import ENERGIES
from flexarm.motion.validity import warn_of_validity

BAR = fa.Link(
    "bar",
    length=2.0,
    section=fa.Section.rectangle(0.05, 0.05),
    material=fa.Material(E=7e10, rho=2700.0),
    flexible=fa.Flexible(bend_y=1, basis="elements"),
)
ARM = fa.Robot(links=[BAR])
SLIDE = fa.FixedPrismatic(limits=(0.2, 1.8), contact="nodal")
NODAL = ARM.with_({"links.bar.joint": SLIDE, "links.bar.flexible.stiffening": "none"})


@pytest.fixture(scope="module")
def turned():
    """A bar that is turned by a torque."""
    return fa.simulate(ARM, 0.1, torque={"bar": 1.0}, sample=0.01, native=False)


def changed(run, reason="completed", status="completed", **variables):
    """The run with other values at its sixth sample."""
    data = run.data.copy(deep=True)
    data.attrs |= {"reason": reason, "status": status}
    for name, value in variables.items():
        data[name][5] = value
    return fa.Run(data)


def said(run, robot=ARM):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_validity(run, robot)
    return " ".join(str(each.message) for each in caught)


def moved(run):
    """The largest change of an energy in the run (J): here all is kinetic, and comes from the torque."""
    return float(np.ptp(run.data["work"].values))


def test_a_good_run_is_passed_in_silence(turned):
    assert said(turned) == ""


@pytest.mark.parametrize(("share", "word"), [(0.04, ""), (0.06, "put in"), (-0.04, ""), (-0.06, "took out")])
def test_the_integration_may_gain_or_lose_a_twentieth_of_the_energy_moved(turned, share, word):
    sentence = said(changed(turned, balance=share * moved(turned)))
    assert word in sentence
    assert bool(sentence) == bool(word)
    if word:
        assert f"{abs(share) * moved(turned):.3g} J until t = 0.05 s" in sentence
        assert "take a smaller rtol" in sentence


def without_energies(run):
    """The run with all energies zero."""
    return fa.Run(run.data.assign({name: 0 * run.data[name] for name in ENERGIES}))


def test_a_robot_at_rest_leaks_nothing(turned):
    """Rounding is no leak, however large beside nothing."""
    still = without_energies(turned)
    nothing = 1e-12 * BAR.total_mass * (BAR.length / 0.1) ** 2
    assert said(changed(still, balance=1e-3)) == ""
    assert said(changed(still, kinetic=0.6 * nothing, balance=1e-3)) == ""
    assert "put in" in said(changed(still, kinetic=1.6 * nothing, balance=1e-3))


def test_a_large_store_that_does_not_change_is_no_motion(turned):
    """1e-9 of the largest energy is its rounding."""
    still = without_energies(turned)
    high = fa.Run(still.data.assign(gravity=still.data["gravity"] + 1e6))
    assert said(changed(high, kinetic=0.6e-3, balance=1.0)) == ""
    assert "put in" in said(changed(high, kinetic=1.6e-3, balance=1.0))


def test_a_run_that_ended_early_is_not_audited(turned):
    sentence = said(changed(turned, "stopped", "stopped", balance=moved(turned)))
    assert sentence == "the run ended early: stopped; what was computed is kept"


def test_contact_at_nodes_is_not_audited(turned):
    """Energy goes where a node changes."""
    assert said(changed(turned, balance=moved(turned)), NODAL) == ""


@pytest.mark.parametrize(("share", "warned"), [(0.14, False), (0.16, True)])
def test_a_link_that_bends_by_15_per_cent_of_its_length_is_out_of_the_beam_theorys_depth(turned, share, warned):
    sentence = said(changed(turned, deflection=[[0.0, share * BAR.length, 0.0]]))
    assert ("link 'bar' bends by 16% of its length at t = 0.05 s" in sentence) == warned
    assert bool(sentence) == warned


def test_stretch_is_no_bending(turned):
    assert said(changed(turned, deflection=[[1.0, 0.0, 0.0]])) == ""


def test_divergence_with_truncated_stiffening_points_to_the_full_one(turned):
    bent = [[0.0, 0.1 * BAR.length, 0.0]]
    diverged = changed(turned, "diverged at t = 0.05 s", "failed", deflection=bent)
    assert "stiffening='full'" in said(diverged)
    assert "stiffening" not in said(changed(turned, "diverged at t = 0.05 s", "failed"))  # it hardly bends
    assert "stiffening" not in said(diverged, ARM.with_({"links.bar.flexible.stiffening": "none"}))
