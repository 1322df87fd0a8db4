"""Profiles as tables of coefficients: what the compiled loop computes from them is what profiles are."""

from itertools import pairwise

import numpy as np
import pytest

import flexarm as fa
from flexarm.feedback.actuators import Motors
from flexarm.integrators.inputs import Schedule
from flexarm.profiles.coefficients import Stretch, fit_segment
from flexarm.profiles.parse import profile
from flexarm.profiles.tracing import Channel

RUN = Stretch(0.0, 2.0, lambda begin, end: np.linspace(begin, end, 9))
PROFILES = {
    "number": 0.7,
    "sine": fa.sine(2.0, 3.0, 0.4),
    "chirp": fa.chirp(1.5, 0.5, 8.0, 2.0),
    "cycloid": fa.cycloid(0.1, 1.2, 2.0),
    "polynomial": fa.rest_to_rest(0.0, 1.0, 2.0, smooth=5),
    "spline": fa.spline(np.linspace(0.0, 2.0, 9), np.sin(np.linspace(0.0, 2.0, 9)) ** 2, after="hold"),
    "formula": lambda t: np.exp(-(((t - 1.0) / 0.05) ** 2)) + 0.3 * t,
}


def value(segment, t):
    """A segment as driver.c evaluates it."""
    s = segment.scale * t + segment.shift
    out = segment.offset + segment.slope * s + segment.curvature * s**2 / 2
    out = out + segment.amplitude * np.sin(segment.frequency * s + segment.growth * s**2 + segment.phase)
    out = out + segment.decaying * np.exp(-segment.decay_rate * s)
    if segment.knots is not None:
        row = segment.rows[np.clip(np.searchsorted(segment.knots, s, side="right") - 1, 0, None)]
        x, total = (s - row[:, 0]) * row[:, 1], 0.0
        for each in row[:, 2:].T:
            total = total * x + each
        out = out + total
    return out


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("rate", [0, 1, 2])
def test_segments_are_the_profile_and_its_rates(name, rate):
    given = profile(PROFILES[name], name)
    times = np.linspace(0.01, 1.99, 333)
    found = given.segment(0.01, RUN, rate)
    wanted = given.values(times, rate)
    np.testing.assert_allclose(value(found, times), wanted, rtol=0, atol=3e-13 * max(1.0, np.abs(wanted).max()))


def test_pieces_between_breaks_have_segments_of_their_own():
    torque = fa.bang_bang(2.0, (0.5, 1.0))
    for t in (0.1, 0.5, 0.7, 1.0, 1.5):
        assert value(torque.segment(t, RUN), np.array([t])) == torque(t)


def test_a_function_that_can_only_be_called_has_none():
    assert profile(lambda t: float(t) ** 2, "torque").segment(0.0, RUN) is None


def test_what_has_a_kink_or_is_not_finite_has_none():
    assert fit_segment(lambda t: np.abs(t - np.pi / 10), RUN) is None
    assert fit_segment(lambda t: np.log(t - 0.5), RUN) is None
    assert fit_segment(lambda t: 1 / 0, RUN) is None  # an error of the user's function is left to the run


def test_a_short_pulse_is_seen_and_takes_intervals_only_where_it_is():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)])
    pulse = lambda t: np.exp(-(((t - 3.3) / 2e-3) ** 2))  # noqa: E731
    schedule = Schedule(fa.System(robot, native=False), {"rod": pulse}, None, ())
    schedule.look(10.0, np.zeros(1), np.zeros(1))
    found = schedule.torques[0].segment(0.0, Stretch(0.0, 10.0, schedule.pace.edges_between))
    times = np.linspace(3.28, 3.32, 101)
    np.testing.assert_allclose(value(found, times), pulse(times), atol=1e-12)
    assert ((found.knots > 3.2) & (found.knots < 3.4)).sum() > 0.5 * len(found.knots)


def test_a_fast_function_between_slow_edges_is_called_instead():
    """Where edges are too far apart to see it, no polynomial stands for it."""
    assert fit_segment(lambda t: np.sin(1e7 * t), RUN) is None


def test_a_channel_has_the_segment_of_its_own_clock():
    channel = Channel(profile(PROFILES["formula"], "reference"), 1, -0.5, 1.6)
    times = np.linspace(0.0, 2.0, 101)
    np.testing.assert_allclose(value(channel.segment(0.0, RUN), times), channel(times), atol=1e-11)


@pytest.mark.parametrize("actuator", [fa.Actuator(lag=0.02), fa.Actuator(slew=5.0), fa.Actuator(lag=0.02, slew=5.0)])
def test_held_torques_are_segments_between_their_kinks(actuator):
    system = fa.System(fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)]), native=False)
    held = Motors({"rod": actuator}, system, 1.0)(0.25, np.array([2.0]))
    ends = [held.since, *held.kinks, held.since + 1.0]
    for begin, end in pairwise(ends):
        times = np.linspace(begin, end, 11)[:-1]
        np.testing.assert_allclose(value(held.segments(begin)[0], times), held(times)[0], atol=1e-14)
