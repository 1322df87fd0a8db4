"""Numbers of profiles by name."""

import pickle

import numpy as np
import pytest

import flexarm as fa
from flexarm.profiles.standard import constant
from flexarm.sweeps.apply_changes import profile_number, profile_number_names, profile_numbers, profile_with

MADE = {
    "constant": constant(2.0),
    "bang_bang": fa.bang_bang(0.1, (1, 2)),
    "step": fa.step(0.0, 1.0, 0.5),
    "ramp": fa.ramp(0.0, 1.0, 0.5, 1.5),
    "sine": fa.sine(1.0, 2.0),
    "chirp": fa.chirp(1.0, 1.0, 5.0, 2.0),
    "cycloid": fa.cycloid(0.0, 1.0, 2.0),
    "spin_up": fa.spin_up(3.0, 2.0),
    "spline": fa.spline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]),
    "minimum_jerk": fa.minimum_jerk(0.0, 1.0, 2.0),
    "rest_to_rest": fa.rest_to_rest(0.0, 1.0, 2.0, smooth=2),
    "trapezoid": fa.trapezoid(0.0, 1.0, 1.0, 2.0),
    "s_curve": fa.s_curve(0.0, 1.0, 1.0, 2.0, 10.0),
}
T = np.linspace(0, 3, 31)


@pytest.mark.parametrize("name", MADE)
def test_a_profile_made_again_with_its_own_numbers_is_the_same(name):
    profile = MADE[name]
    for number in profile_number_names(profile, "torque.a"):
        own = profile_number(profile, number, "torque.a")
        again = profile_with(profile, {number: int(own) if number == "smooth" else own}, "torque.a")
        assert again(T) == pytest.approx(profile(T), rel=1e-14)
    sent = pickle.loads(pickle.dumps(profile))
    assert (sent(T) == profile(T)).all()
    assert profile_numbers(sent) == profile_numbers(profile)


def test_other_numbers_make_other_profiles():
    push = MADE["bang_bang"]
    assert profile_with(push, {"amplitude": 0.3}, "torque.a")(0.5) == 0.3
    assert profile_with(push, {"switch.0": 0.4}, "torque.a")(0.5) == -0.1
    assert profile_with(push, {"scale": 3.0}, "torque.a")(0.5) == pytest.approx(0.3)
    assert profile_with(2.0, {"": 3.0}, "torque.a")(0.5) == profile_with(2.0, {"value": 3.0}, "torque.a")(0.5) == 3.0
    with pytest.raises(ValueError, match=r"torque.a: switch = .*ascending"):
        profile_with(push, {"switch.0": 3.0}, "torque.a")
    with pytest.raises(KeyError, match=r"did you mean 'torque.a.amplitude'"):
        profile_with(push, {"amplitud": 1.0}, "torque.a")
    with pytest.raises(ValueError, match="amplitude"):
        profile_with(push, {"amplitude": np.nan}, "torque.a")


def test_lists_that_change_later_do_not_matter():
    times = [1.0, 2.0]
    push = fa.bang_bang(0.1, times)
    times[0] = 1.5
    assert profile_numbers(push)["switch.0"] == 1.0


def test_profiles_are_equal_whatever_they_were_made_with():
    assert fa.sine(1.0, 2.0) == fa.sine(amplitude=1.0, frequency=2.0)


def test_numbers_that_fit_together_only_are_changed_at_once():
    """Each alone would put the switch times out of order."""
    later = profile_with(fa.bang_bang(0.1, (0.3, 0.6)), {"switch.0": 0.7, "switch.1": 1.4, "scale": 2.0}, "torque.a")
    assert later.breaks == (0.0, 0.7, 1.4)
    assert later(0.5) == pytest.approx(0.2)
