"""Trees given by the index of each node's parent (None at a root)."""

from __future__ import annotations

from collections.abc import Sequence


def parents_first(parents: Sequence[int | None]) -> tuple[int, ...]:
    """Every node after its parent; nodes that already stand so keep their order.

    >>> parents_first([2, None, 1])
    (1, 2, 0)
    """
    placed: dict[int, None] = {}
    for start in range(len(parents)):
        branch: list[int] = []
        node: int | None = start
        while node is not None and node not in placed:
            branch.append(node)
            node = parents[node]
        placed.update(dict.fromkeys(reversed(branch)))
    return tuple(placed)


def circle(parents: Sequence[int | None]) -> list[int]:
    """A circle of parents, parent before child, its first node repeated at the end; empty when there is none.

    >>> circle([None, 2, 1]), circle([None, 0, 1])
    ([1, 2, 1], [])
    """
    clear: set[int] = set()  # nodes from which the way leads to a root
    for start in range(len(parents)):
        way: dict[int, None] = {}
        node: int | None = start
        while node is not None and node not in way and node not in clear:
            way[node] = None
            node = parents[node]
        if node in way:
            seen = list(way)
            turn = seen[seen.index(node) :]
            first = turn.index(min(turn))  # begin with the link that is listed first
            around = [turn[first], *reversed(turn[first + 1 :] + turn[:first])]
            return [*around, turn[first]]
        clear.update(way)
    return []
