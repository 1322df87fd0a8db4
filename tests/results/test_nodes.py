import numpy as np
from numpy.testing import assert_allclose

from flexarm.integrators.state import Layout
from flexarm.results import step_history as module
from flexarm.results.step_history import StepHistory, StepStore, snapped

LAYOUT = Layout(1)


def states(*rows):
    """Of q, v and a."""
    out = np.zeros((len(rows), LAYOUT.size))
    out[:, :3] = rows
    return out


def test_both_sides_of_a_jump_are_kept():
    """Rest, then unit acceleration from t = 1 on."""
    keeper = StepStore(LAYOUT, 5)
    keeper.keep(np.array([0.0, 1.0]), states([0, 0, 0], [0, 0, 0]))
    keeper.keep(np.array([1.0, 2.0]), states([0, 0, 1], [0.5, 1, 1]))
    found = keeper.nodes.at(np.array([0.5, np.nextafter(1, 0), 1.0, 1.5, 2.0]))
    assert_allclose(found[:, 2], [0, 0, 1, 1, 1], atol=1e-12)
    assert_allclose(found[:, 0], [0, 0, 0, 0.125, 0.5], atol=1e-12)


def test_work_and_loss_are_cubic():
    t = np.array([0.0, 1.0])
    rows = np.column_stack([t, 1 + 0 * t, 0 * t, t**3, t**2, 3 * t**2, 2 * t])
    s = np.array([0.2, 0.7])
    assert_allclose(StepHistory(t, rows, 5).at(s)[:, -2:], np.column_stack([s**3, s**2]), atol=1e-15)


def test_too_many_nodes_are_not_kept(monkeypatch):
    monkeypatch.setattr(module, "MAX_HISTORY_BYTES", 200)
    keeper = StepStore(LAYOUT, 5)
    keeper.keep(np.array([0.0, 1.0]), states([0, 0, 0], [0, 0, 0]))
    assert keeper.nodes is not None
    for _ in range(3):
        keeper.keep(np.array([1.0, 2.0]), states([0, 0, 0], [0, 0, 0]))
    assert keeper.nodes is None
    assert not keeper.blocks


def test_a_single_node_is_what_there_is():
    keeper = StepStore(LAYOUT, 5)
    keeper.keep(np.zeros(1), states([1, 2, 3]))
    assert_allclose(keeper.nodes.at(np.zeros(2)), [[1, 2, 3, 0, 0]] * 2)


def test_times_that_are_marks_but_for_rounding_are_the_marks():
    times = np.array([0.0, 0.1 + 1e-17, 0.3 - 1e-14, 0.3 + 1e-14, 0.5, 0.9])
    assert_allclose(snapped(times, np.array([0.1, 0.3]), 1e-13), [0.0, 0.1, 0.3, 0.3, 0.5, 0.9], rtol=0, atol=0)
