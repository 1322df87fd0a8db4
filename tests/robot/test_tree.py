"""Order and cycles of trees given by parents."""

from hypothesis import given
from hypothesis import strategies as st

from flexarm.robot.carried_inertia import find_cycle, parents_first


def test_a_tree_in_order_keeps_its_order():
    assert parents_first([None, 0, 0, 1, None]) == (0, 1, 2, 3, 4)


def test_parents_listed_later_come_first():
    assert parents_first([2, None, 1]) == (1, 2, 0)


@given(st.permutations(range(12)), st.data())
def test_every_node_follows_its_parent(names, data):
    parents: list[int | None] = [None] * 12
    for place, name in enumerate(names[1:], start=1):
        parents[name] = data.draw(st.sampled_from([None, *names[:place]]))
    order = parents_first(parents)
    assert sorted(order) == list(range(12))
    assert all(parent is None or order.index(parent) < order.index(node) for node, parent in enumerate(parents))
    assert find_cycle(parents) == []


def test_long_chains_need_no_recursion():
    n = 5000
    assert parents_first([*range(1, n), None]) == tuple(reversed(range(n)))


def test_a_circle_runs_from_parent_to_child_and_closes():
    assert find_cycle([2, 0, 1]) == [0, 1, 2, 0]
    assert find_cycle([None, 2, 1, 1]) == [1, 2, 1]
