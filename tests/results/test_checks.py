"""Warnings begin where they say: each bound is tried from both sides, on a run whose samples are changed."""

import json
import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.accuracy.validity import DEFLECTION_LIMIT
from flexarm.results.checks import warn_of_validity
from tests.helpers import unit_link

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
    """Return the warnings of a run, without those of too few shapes (test_truncation.py)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_validity(run, fa.System(robot, native=False))
    return " ".join(str(each.message) for each in caught if "too few shapes" not in str(each.message))


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


def with_model(stiffening: str) -> fa.Robot:
    return ARM.with_({"links.bar.flexible.stiffening": stiffening})


@pytest.mark.parametrize(
    ("stiffening", "share", "warned"),
    [
        ("none", 0.04, False),
        ("none", 0.06, True),
        ("shortening", 0.09, False),
        ("shortening", 0.11, True),
        ("exact", 0.16, False),
        ("exact", 1.5, False),
    ],
)
def test_a_link_that_bends_further_than_its_model_is_meant_for(turned, stiffening, share, warned):
    sentence = said(changed(turned, deflection=[[0.0, share * BAR.length, 0.0]]), with_model(stiffening))
    limit = {"none": "5%", "shortening": "10%"}.get(stiffening)
    expected = (
        f"link 'bar' bends by {share:.0%} of its length at t = 0.05 s; stiffening '{stiffening}' is "
        f"meant for less than {limit}; take stiffening='exact'"
    )
    assert sentence == (expected if warned else "")


@pytest.mark.parametrize("stiffening", DEFLECTION_LIMIT)
def test_limits_are_where_the_tip_is_off_by_a_thousandth_of_the_length(stiffening):
    """In the equilibrium of a bar that a force at its tip bends, against the exact link."""
    force = 3 * DEFLECTION_LIMIT[stiffening]  # P L^2 / EI
    link = unit_link(joint=fa.Weld(), mass=1e-9, payload=fa.PointMass(1.0))
    tips = []
    for model in ("exact", stiffening):
        bar = link.model_copy(update={"flexible": fa.Flexible(bend_y=4, stiffening=model)})
        system = fa.System(fa.Robot(links=[bar], gravity=(0, -force, 0)), native=False)
        tips.append(system.tip(fa.equilibrium(system)))
    assert 0.5e-3 < np.linalg.norm(tips[1] - tips[0]) < 2e-3


def test_what_cannot_be_exact_is_not_told_to(turned):
    bent = changed(turned, deflection=[[0.0, 0.2 * BAR.length, 0.0]])
    sheared = ARM.with_({"links.bar.flexible.shear": True})
    assert "is meant for less than 10%; stiffening='exact' is not available with shear: leave" in said(bent, sheared)
    diverged = changed(turned, "diverged at t = 0.05 s", "failed", deflection=[[0.0, 0.1 * BAR.length, 0.0]])
    assert "stiffening" not in said(diverged, sheared)


def test_stretch_is_no_bending(turned):
    assert said(changed(turned, deflection=[[1.0, 0.0, 0.0]])) == ""


def test_divergence_of_truncated_models_points_to_the_exact_one(turned):
    bent = [[0.0, 0.1 * BAR.length, 0.0]]
    diverged = changed(turned, "diverged at t = 0.05 s", "failed", deflection=bent)
    assert "; stiffening='exact' of link 'bar' bears deflections of any size" in said(diverged)
    assert "; stiffening='exact' of link 'bar' bears deflections of any size" in said(diverged, with_model("none"))
    assert "stiffening" not in said(changed(turned, "diverged at t = 0.05 s", "failed"))  # it hardly bends
    assert "stiffening" not in said(diverged, with_model("exact"))
