import numpy as np
from numpy.testing import assert_allclose

from flexarm.codegen.driver import CONTROL_TYPE
from flexarm.integrators.state import Layout
from flexarm.results.step_history import Recorder

LAYOUT = Layout(1)


def states(times):
    """A point that moves with unit speed."""
    out = np.zeros((len(times), LAYOUT.size))
    out[:, LAYOUT.q] = np.array(times)[:, None]
    out[:, LAYOUT.v] = 1.0
    return out


def recorder(*wanted):
    out = Recorder(np.array(wanted), LAYOUT, 2)
    out.start(states([0.0])[0])
    return out


def test_samples_are_taken_between_nodes_once_each():
    kept = recorder(0.0, 0.1, 0.2, 0.3, 0.4)
    kept.record(np.array([0.0, 0.15]), states([0.0, 0.15]), 0.15)
    kept.record(np.array([0.15, 0.3]), states([0.15, 0.3]), 0.3)
    kept.record(np.array([0.3, 0.35]), states([0.3, 0.35]), 0.35)
    kept.flush()
    assert_allclose(kept.times, [0.0, 0.1, 0.2, 0.3])
    assert_allclose(kept.rows[:, 0], kept.times, atol=1e-15)


def test_the_last_state_is_kept_if_it_lies_between_samples():
    kept = recorder(0.0, 0.1, 0.2)
    kept.record(np.array([0.0, 0.15]), states([0.0, 0.15]), 0.15)
    kept.finish(0.15, states([0.15])[0])
    assert_allclose(kept.times, [0.0, 0.1, 0.15])
    kept.finish(0.15, states([0.15])[0])
    assert len(kept.times) == 3


def test_the_record_owns_what_it_holds():
    kept, state = recorder(0.0, 1.0), states([0.5])[0]
    kept.finish(0.5, state)
    state[:] = 7.0
    assert kept.rows[-1, 0] == 0.5


def test_a_sample_at_the_end_of_a_stretch_is_of_the_next_one():
    """There inputs may jump."""
    kept = recorder(0.0, 0.1, 0.2)
    kept.record(np.array([0.0, 0.1]), states([0.0, 0.1]), 0.1)
    kept.flush()
    assert_allclose(kept.times, [0.0])
    after = states([0.1, 0.2])
    after[:, LAYOUT.a] = 5.0
    kept.record(np.array([0.1, 0.2]), after, 0.2)
    kept.flush()
    assert_allclose(kept.rows[:, LAYOUT.a][:, 0], [0.0, 5.0])
    kept.finish(0.2, states([0.2])[0])
    assert_allclose(kept.times, [0.0, 0.1, 0.2])
    assert kept.jumps == [0.0, 0.1]


def test_nodes_are_kept_once_but_twice_where_inputs_jump():
    kept = recorder(0.0, 1.0)
    kept.record(np.array([0.0, 0.1]), states([0.0, 0.1]), 0.1)
    kept.record(np.array([0.1, 0.2]), states([0.1, 0.2]), 0.2, jumped=False)
    kept.record(np.array([0.2, 0.3]), states([0.2, 0.3]), 0.25)  # an event ends the run
    kept.finish(0.25, states([0.25])[0])
    nodes = kept.keeper.nodes
    assert_allclose(nodes.times, [0.0, 0.1, 0.2, 0.2, 0.25])
    assert_allclose(nodes.rows[:, 0], nodes.times)
    assert_allclose(nodes.jumps, [0.0, 0.2])


def test_statistics_count_what_was_done():
    statistics, control = recorder(0.0, 1.0).statistics, np.zeros(1, CONTROL_TYPE)[0]
    for good, done in {2: (2, 3, 1, 1), 4: (4, 4, 0, 0), 0: (3, 3, 0, 0)}.items():  # the last jumped over a contact
        for name, count in zip(("steps", "attempts", "rejected", "unsolved"), done, strict=True):
            control[name] = count
        control["shortest_taken"], control["longest_taken"] = 0.05, 0.1
        statistics.count(control, good)
    told = (statistics.steps, statistics.rejected, statistics.computed, statistics.chunks, statistics.unsolved)
    assert told == (6, 2, 10, 3, 1)
    assert (statistics.smallest_step, statistics.largest_step) == (0.05, 0.1)


def test_samples_do_not_depend_on_when_they_are_computed():
    wanted, times = np.linspace(0.0, 1.0, 41), np.linspace(0.0, 1.0, 14) ** 1.5
    nodes = np.random.default_rng(1).normal(size=(len(times), LAYOUT.size))
    found = []
    for every in (1, 4, 100):
        kept = Recorder(wanted, LAYOUT, 5)
        kept.start(nodes[0])
        for k in range(len(times) - 1):
            kept.record(times[k : k + 2], nodes[k : k + 2], times[k + 1], jumped=k in (0, 5))
            if k % every == 0:
                kept.flush()
        kept.finish(1.0, nodes[-1])
        found.append(kept.rows)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
