"""The compiled code of a plant and a method, shared by all runs that want the same.

A run of a structure that is not compiled yet begins in CasADi's virtual machine. The compiler starts beside it when the
time spent there suggests that it pays, and the run changes over when it is done; the results are the same digits.
"""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from functools import cached_property

import casadi as ca

from flexarm.mechanics.building import building
from flexarm.mechanics.compiler import find_compiler, stop_compilers
from flexarm.mechanics.evaluate import Native
from flexarm.mechanics.many import Runner
from flexarm.mechanics.native import Library
from flexarm.mechanics.size import calls
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.report import report

NAMES = ("step", "start", "report")
REMEMBERED = 32  # codes of different structures, methods, ... that are kept in memory; all of them are kept on disk

# The compiler takes about this long (s), and for each instruction of the functions. It starts when a share of that was
# spent in the virtual machine: whatever comes, that is not much more than the better of both would have taken.
COMPILING = 0.3
COMPILING_EACH = 6e-5
SHARE = 0.3

_codes: OrderedDict[tuple[object, ...], Code] = OrderedDict()
_threads: set[threading.Thread] = set()


class Code:
    """Steps, start and report of one plant and method."""

    def __init__(self, plant: Plant, method: Method) -> None:
        self.plant = plant
        decides = None if method.identity is None else (*plant.identity, method.identity)

        def make() -> list[ca.Function]:
            return [method.step(plant), plant.start, report(plant)]

        self.library = Library(NAMES, make, decides)
        self.compiled: list[Runner] | None = None
        self._spent, self._started = 0.0, False
        self._lock = threading.Lock()

    def runners(self, native: Native) -> list[Runner]:
        """What a run should begin with."""
        if native is False:
            return self._interpreted
        with self._lock:
            if self.compiled is None and native is True:
                self.compiled = self.library.built()
            elif self.compiled is None:
                self.compiled = self.library.found()
            return self.compiled or self._interpreted

    @cached_property
    def _interpreted(self) -> list[Runner]:
        with building:
            return self.library.runners

    @cached_property
    def _compile_time(self) -> float:
        parts = {each for function in self.library.functions for each in calls(function)}
        return COMPILING + COMPILING_EACH * sum(each.n_instructions() for each in parts)

    def spend(self, seconds: float) -> None:
        """Tell how long the virtual machine worked; the compiler may start beside it."""
        with self._lock:
            self._spent += seconds
            if self._started or self._spent < SHARE * self._compile_time or find_compiler() is None:
                return
            self._started = True
        thread = threading.Thread(target=self._compile, name="flexarm compiler", daemon=True)
        _threads.add(thread)
        thread.start()

    def _compile(self) -> None:
        try:
            compiled = self.library.built()
            if all(each.library is not None for each in compiled):
                self.compiled = compiled
        finally:
            _threads.discard(threading.current_thread())


def code_of(plant: Plant, method: Method) -> Code:
    """Made, or found where it was made before."""
    if method.identity is None:
        return Code(plant, method)
    key = (*plant.identity, method.identity)
    with building:
        if key not in _codes:
            _codes[key] = Code(plant, method)
            while len(_codes) > REMEMBERED:
                _codes.popitem(last=False)
        _codes.move_to_end(key)
        return _codes[key]


@atexit.register
def _end() -> None:
    """Nobody waits for code any more: end compilers, and let their threads clear up."""
    if _threads:
        stop_compilers()
        for thread in list(_threads):
            thread.join(2.0)
