"""The longest steps that see inputs."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.profiles.bandwidth import (
    MARGIN_STEPS,
    RESOLVED_PERIODS,
    Bandwidth,
    StepBounds,
    combined_bandwidth,
    constant_bandwidth,
    node_factor,
    unlimited_bandwidth,
)
from flexarm.profiles.tracing import Channel


def test_the_pace_is_that_of_the_fastest_input_at_a_time():
    pace = StepBounds.of(np.array([[0.0, 4.0, 0.5], [1.0, 2.0, 0.1]]), 10.0)
    found = [pace.ahead(t, 10.0) for t in (0.0, 1.0, 3.0, 6.0)]
    assert [longest for longest, _ in found] == pytest.approx([0.4, 0.1, 0.4, np.inf])  # halves of halves
    assert [until for _, until in found] == pytest.approx(
        [1 - 0.1 * MARGIN_STEPS, 2 + 0.1 * MARGIN_STEPS, 4 + 0.4 * MARGIN_STEPS, 10.0]
    )
    assert pace.ahead(0.0, 0.3) == (pytest.approx(0.4), 0.3)
    assert pace.steps == pytest.approx(1.4 / 0.1 + (0.8 + 4.8 - 2.2) / 0.4)


def test_times_that_differ_by_rounding_are_the_same():
    pace = StepBounds.of(np.array([[1.2, 2.0, 0.1]]), 3.0)
    edge = pace.edges[1]
    assert pace.ahead(np.nextafter(edge, 0), 3.0)[0] == pytest.approx(0.1)
    assert pace.ahead(0.5, np.nextafter(edge, 9))[1] == np.nextafter(edge, 9)  # no step from one to the other


def test_nothing_bounds_what_is_calm():
    assert StepBounds.of(unlimited_bandwidth().stretches, 1.0).ahead(0.0, 1.0) == (np.inf, 1.0)
    assert combined_bandwidth([]).longest == np.inf


def test_a_delayed_input_is_fast_later():
    found = constant_bandwidth(1.0, 2.0, 0.1).delayed(-2.0, 5.0)  # x(5 - 2 t)
    assert found.stretches.tolist() == [[1.5, 2.0, 0.05]]
    assert Bandwidth(np.zeros((0, 3)), jumps=(1.0, 3.0)).delayed(2.0, 0.0).jumps == (0.5, 1.5)
    channel = Channel(fa.chirp(1.0, 1.0, 9.0, 4.0), 0, 2.0, -2.0)
    assert channel.look(0.0, 10.0).longest == pytest.approx(RESOLVED_PERIODS / 18, rel=0.25)
    assert channel.look(0.0, 0.9).longest == np.inf


def test_methods_that_see_the_ends_of_steps_only_take_shorter_ones():
    assert node_factor((0.0, 1.0)) == node_factor((1.0,)) == 0.5
    assert node_factor((0.0, 0.5, 1.0)) == 1.0
    assert node_factor(np.linspace(0, 1, 9)) == 1.0
