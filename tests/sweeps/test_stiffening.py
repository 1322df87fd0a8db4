"""Members whose spatial links vibrate too far for the second-order model run as `simulate` runs them."""

import warnings

import numpy as np
import pytest

import flexarm as fa

LOADS = [0.01, 0.2]


def arm(payload=0.01, stiffening="auto"):
    flexible = fa.Flexible(bend_y=1, bend_z=1, stiffening=stiffening)
    section, steel = fa.Section.rectangle(0.0066, 0.0066), fa.Material(E=2.1e11, rho=7850)
    link = fa.Link("arm", 0.9, fa.Revolute("z"), section, steel, flexible, payload=fa.PointMass(payload))
    return fa.Robot(links=[link], gravity=(0, 0, -9.81))


@pytest.mark.parametrize("keep", [None, "runs"])
def test_members_are_what_simulate_gives(keep):
    case = {"motion": {"arm": fa.minimum_jerk(0, 1.5, 0.7)}, "q0": "equilibrium", "progress": False, "native": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fa.sweep(arm(), {"links.arm.payload.mass": LOADS}, 1.5, keep=keep, **case)
        alone = [fa.simulate(arm(each), 1.5, **case) for each in LOADS]
    assert [run.statistics["stiffening"]["repeated"] for run in alone] == [False, True]
    peaks = [np.linalg.norm(run.array("deflection")[:, 0], axis=1).max() for run in alone]
    np.testing.assert_allclose(np.ravel(found["peak_deflection"]), peaks, rtol=2e-3)


@pytest.mark.parametrize("keep", [None, "runs"])
@pytest.mark.parametrize("native", [False, True])
def test_members_with_shortening_given_warn(keep, native):
    case = {"motion": {"arm": fa.minimum_jerk(0, 1.5, 0.7)}, "q0": "equilibrium", "progress": False, "native": native}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = fa.sweep(arm(stiffening="shortening"), {"links.arm.payload.mass": LOADS}, 1.5, keep=keep, **case)
    told = [str(each.message) for each in said if "take stiffening='exact'" in str(each.message)]
    assert len(told) == 1
    assert "repeated" not in told[0]
    assert np.isfinite(found["peak_deflection"]).all()


def test_members_in_lanes_are_what_simulate_gives():
    loads = np.linspace(0.01, 0.2, 12)
    case = {"motion": {"arm": fa.minimum_jerk(0, 1.5, 0.7)}, "q0": "equilibrium", "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fa.sweep(arm(), {"links.arm.payload.mass": loads}, 1.5, native=True, **case)
        alone = [fa.simulate(arm(each), 1.5, **case) for each in loads]
    assert 0 < sum(run.statistics["stiffening"]["repeated"] for run in alone) < len(loads)
    peaks = [np.linalg.norm(run.array("deflection")[:, 0], axis=1).max() for run in alone]
    np.testing.assert_allclose(np.ravel(found["peak_deflection"]), peaks, rtol=2e-3)
