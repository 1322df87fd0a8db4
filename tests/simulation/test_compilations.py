"""What goes in as a number compiles nothing new."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.integrators import compiled_step

ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=3.0)])
aim = fa.cycloid(0.0, 1.0, 0.8)


def law(t, q, v, gains):
    return [gains["kp"] * (aim(t) - q[0]) - gains["kd"] * v[0]]


def law_of(profile):
    return lambda t, q, v: [profile(t) - v[0]]


def feedback(kp=20.0, kd=2.0, **more):
    return {"torque": fa.Feedback(law, gains={"kp": kp, "kd": kd}, **more)}


SAME = {
    "gains": [feedback(), feedback(kp=40.0), feedback(kp=0.0, kd=-1.0), feedback(kp=1)],
    "limits": [feedback(limit=1.0), feedback(limit=2.0, kp=1.0), feedback(limit=[3.0]), feedback(limit={"a": 0.1})],
    "amplitudes in a law": [{"torque": law_of(fa.sine(1.0, f))} for f in (1.0, 2.0)]
    + [{"torque": law_of(fa.bang_bang(a, (0.2, 0.4)))} for a in (1.0, 2.0)],
    "delays by a gain": [
        {"torque": fa.Feedback(lambda t, q, v, gains: [aim(t - gains["T"])], gains={"T": T})} for T in (0.1, 0.2)
    ],
    "amplitudes of a torque": [{"torque": {"a": fa.sine(a, 1.0)}} for a in (1.0, 2.0)] + [{"torque": [3.0]}],
    "tolerances": [feedback() | each for each in ({"rtol": 1e-8}, {"rtol": 1e-6}, {"atol": 1e-3}, {"dt": 0.01})],
    "samples and durations": [feedback() | {"sample": 0.05}, feedback() | {"duration": 0.2}],
    "initial states": [feedback(), feedback() | {"q0": [0.3]}, feedback() | {"v0": [1.0]}],
    "gains of a digital law": [feedback(rate=100), feedback(kp=40.0, rate=100), feedback(rate=200, limit=1.0)],
    "chunks of a digital law": [feedback(rate=100), {"torque": [3.0]}, {"torque": {"a": fa.sine(1.0, 1.0)}}],
    "robots": [
        {"torque": [1.0], "robot": ROD.with_(change)}
        for change in ({}, {"links.a.mass": 2.0}, {"links.a.length": 0.5}, {"links.a.mass": 1.0, "name": "light"})
    ],
}


@pytest.mark.parametrize("runs", SAME.values(), ids=SAME)
def test_other_numbers_compile_nothing_new(compiled, changed_over, runs):
    defaults = {"robot": ROD, "duration": 0.5, "rtol": 1e-4, "method": "esdirk"}
    found = [fa.simulate(**{**defaults, **options}) for options in runs]
    assert len(compiled) == 1
    assert len(compiled_step._codes) == 1
    ends = {(each.time.values.size, *each.data["q"].values[-1], *each.torque.values.sum(axis=0)) for each in found}
    assert len(ends) == len(runs)  # they were taken, not ignored


def test_another_formula_is_another_code(compiled, changed_over):
    for torque in (lambda t, q, v: [-2.0 * q[0]], lambda t, q, v: [-3.0 * q[0]]):
        fa.simulate(ROD, 0.1, torque=torque)
    assert len(compiled) == 2


def test_gains_are_found_again_in_the_cache(compiled, changed_over):
    first = fa.simulate(ROD, 0.5, **feedback())
    compiled_step._codes.clear()
    again = fa.simulate(ROD, 0.5, **feedback())
    other = fa.simulate(ROD, 0.5, **feedback(kp=40.0))
    assert len(compiled) == 1
    np.testing.assert_array_equal(again.data["q"].values, first.data["q"].values)
    interpreted = fa.simulate(ROD, 0.5, native=False, **feedback(kp=40.0))
    np.testing.assert_allclose(other.data["q"].values, interpreted.data["q"].values, atol=1e-9)
