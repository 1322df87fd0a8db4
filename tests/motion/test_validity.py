"""Warnings begin where they say: each bound is tried from both sides, on a run whose samples are changed."""

import json
import warnings

import pytest

import flexarm as fa
from flexarm.motion.validity import warn_of_validity

BAR = fa.Link(
    "bar",
    length=2.0,
    section=fa.Section.rectangle(0.05, 0.05),
    material=fa.Material(E=7e10, rho=2700.0),
    flexible=fa.Flexible(bend_y=1, basis="elements"),
)
ARM = fa.Robot(links=[BAR])


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


def test_a_good_run_is_passed_in_silence(turned):
    assert said(turned) == ""


def audited(run, share, moved=2.0, **changes):
    """The run as if its integration had gained this share of the energy that moved (J)."""
    statistics = run.statistics | {
        "energy_share": share,
        "energy_balance": abs(share) * moved,
        "energy_moved": moved,
        "energy_worst_at": 0.05,
    }
    out = changed(run, **changes)
    out.data.attrs["statistics"] = json.dumps(statistics)
    return out


@pytest.mark.parametrize(("share", "word"), [(0.04, ""), (0.06, "put in"), (-0.04, ""), (-0.06, "took out")])
def test_the_integration_may_gain_or_lose_a_twentieth_of_the_energy_moved(turned, share, word):
    sentence = said(audited(turned, share))
    assert word in sentence
    assert bool(sentence) == bool(word)
    if word:
        assert "0.12 J until t = 0.05 s, where no more than 2 J moved" in sentence
        assert "take a smaller rtol" in sentence


def test_a_run_that_ended_early_is_not_audited(turned):
    sentence = said(audited(turned, 1.0, reason="stopped", status="stopped"))
    assert sentence == "the run ended early: stopped; what was computed is kept"


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
