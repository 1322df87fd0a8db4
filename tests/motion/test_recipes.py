"""Profiles know how they were made."""

import pickle

import numpy as np
import pytest

import flexarm as fa
from flexarm.motion.inputs import constant

MADE = {
    "constant": constant(2.0),
    "bang_bang": fa.bang_bang(0.1, (1, 2)),
    "step": fa.step(1.0, at=0.5),
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
    assert profile.recipe.function.__name__ == name
    for number, value in profile.recipe.numbers.items():
        again = profile.recipe.with_(number, int(value) if number == "smooth" else value)
        assert (again(T) == profile(T)).all()
    assert (pickle.loads(pickle.dumps(profile))(T) == profile(T)).all()
    assert pickle.loads(pickle.dumps(profile)).recipe.numbers == profile.recipe.numbers


def test_other_numbers_make_other_profiles():
    push = MADE["bang_bang"]
    assert push.recipe.with_("amplitude", 0.3)(0.5) == 0.3
    assert push.recipe.with_("switch.0", 0.4)(0.5) == -0.1
    with pytest.raises(ValueError, match="ascending"):
        push.recipe.with_("switch.0", 3.0)
    with pytest.raises(KeyError, match="did you mean 'amplitude'"):
        push.recipe.with_("amplitud", 1.0)


def test_lists_that_change_later_do_not_matter():
    times = [1.0, 2.0]
    push = fa.bang_bang(0.1, times)
    times[0] = 1.5
    assert push.recipe.numbers["switch.0"] == 1.0


def test_profiles_are_equal_whatever_they_were_made_with():
    assert fa.sine(1.0, 2.0) == fa.sine(amplitude=1.0, frequency=2.0)
    assert fa.sine(1.0, 2.0).look(0.0, 1.0, 0)[0].recipe is None
