"""Count CasADi instructions of a run: the calls of each function of its plant, in the virtual machine.

Steps decide themselves how many iterations they take, so their functions are called through counters.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from unittest import mock

import casadi as ca

import flexarm as fa
from flexarm.integrators import inputs
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant
from instructions import CALLS, instructions


class Counter(ca.Callback):
    """A function that knows how often it was called."""

    def __init__(self, function: ca.Function) -> None:
        super().__init__()
        self.function, self.calls = function, 0
        self.construct(f"counted_{function.name()}", {})

    def get_n_in(self) -> int:
        return int(self.function.n_in())

    def get_n_out(self) -> int:
        return int(self.function.n_out())

    def get_sparsity_in(self, k: int) -> ca.Sparsity:
        return self.function.sparsity_in(k)

    def get_sparsity_out(self, k: int) -> ca.Sparsity:
        return self.function.sparsity_out(k)

    def eval(self, arguments: Any) -> Any:
        self.calls += 1
        return self.function.call(arguments)


def counted(method: Method) -> Method:
    """The same method as a class from elsewhere: nothing that is made for it is kept."""
    made = copy.copy(method)
    made.__class__ = type(type(method).__name__, (type(method),), {})
    return made


def executed(work: Callable[..., fa.Run], method: Method) -> dict[str, int]:
    """Calls of each function in a run, and the `instructions` of all."""
    counters: dict[str, Counter] = {}
    costs: dict[str, int] = {}

    def plant(*arguments: Any) -> Plant:
        made = Plant(*arguments)
        counters.clear()  # of the plant that a run makes last
        for name in CALLS:
            costs[name] = instructions(made, name)
            function = getattr(made, name)
            function.function = counters[name] = Counter(function.function)
        return made

    with mock.patch.object(inputs, "Plant", plant):
        work(method=counted(method), native=False)
    calls = {name: each.calls for name, each in counters.items()}
    return calls | {"instructions": sum(times * costs[name] for name, times in calls.items())}
