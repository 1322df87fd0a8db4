"""Spatial links with stiffening "auto": second order where that is accurate, else exact."""

import warnings

import numpy as np
import pytest

import flexarm as fa

STEEL = fa.Material(E=2.1e11, rho=7850)


def arm(stiffening="auto", payload=0.2, **more):
    flexible = fa.Flexible(bend_y=1, bend_z=1, stiffening=stiffening, **more)
    section = fa.Section.rectangle(0.0066, 0.0066)
    link = fa.Link("arm", 0.9, fa.Revolute("z"), section, STEEL, flexible, payload=fa.PointMass(payload))
    return fa.Robot(links=[link], gravity=(0, 0, -9.81))


def moved(robot, duration=0.7, **more):
    motion = {"arm": fa.minimum_jerk(0, 1.5, duration)}
    options = {"motion": motion, "q0": "equilibrium", "progress": False, "native": False, "rtol": 1e-6, "sample": 0.01}
    return fa.simulate(robot, 1.5, **{**options, **more})


def test_a_large_vibration_is_repeated_with_the_exact_model():
    with pytest.warns(fa.ValidityWarning, match="repeated with the exact model of 'arm'") as said:
        run = moved(arm())
    assert len(said) == 1
    found = run.statistics["stiffening"]
    assert found["models"] == {"arm": "exact"}
    assert found["repeated"]
    assert found["estimated_error"]["arm"] > 0.01
    np.testing.assert_array_equal(run.array("tip"), moved(arm("exact")).array("tip"))
    assert run.robot.link("arm").stiffening == "exact"


def test_a_small_vibration_keeps_the_second_order_model():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = moved(arm(payload=0.0), 1.2)
    found = run.statistics["stiffening"]
    assert found["models"] == {"arm": "shortening"}
    assert not found["repeated"]
    assert found["estimated_error"]["arm"] < 0.01


def test_shortening_that_is_given_stays_and_warns():
    with pytest.warns(fa.ValidityWarning, match="grows with time; take stiffening='exact'"):
        run = moved(arm("shortening"))
    assert run.statistics["stiffening"]["models"] == {"arm": "shortening"}


def test_a_system_keeps_its_model_and_warns():
    with pytest.warns(fa.ValidityWarning, match="take stiffening='exact'"):
        run = moved(fa.System(arm(), native=False))
    assert run.robot.link("arm").stiffening == "shortening"


def test_shear_has_no_exact_model_and_the_warning_says_so():
    with pytest.warns(fa.ValidityWarning, match="not available with shear"):
        moved(arm(shear=True))


def test_the_estimate_is_near_the_error():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second, exact = moved(arm("shortening")), moved(arm("exact"))
    peak = np.linalg.norm(exact.array("deflection")[:, 0, 1:], axis=1).max()
    error = np.linalg.norm(second.array("tip") - exact.array("tip"), axis=1).max() / peak
    assert 0.5 < second.statistics["stiffening"]["estimated_error"]["arm"] / error < 3


def test_postures_that_bend_far_take_the_exact_model():
    heavy = arm(payload=1.2)
    exact = arm("exact", payload=1.2)
    with pytest.warns(fa.ValidityWarning, match="exact model is used"):
        q = fa.equilibrium(heavy)
    np.testing.assert_allclose(q, fa.equilibrium(exact), rtol=1e-12)
    with pytest.warns(fa.ValidityWarning, match="exact model is used"):
        found = fa.modes(heavy, q, joints="locked")
    np.testing.assert_allclose(found.frequencies, fa.modes(exact, q, joints="locked").frequencies)
    with pytest.warns(fa.ValidityWarning, match="exact model is used"):
        linear = fa.linearize(heavy, q)
    np.testing.assert_allclose(linear.A, fa.linearize(exact, q).A)
