"""Compiled code of a plant and a method, shared by all runs that need the same, and the report function of samples.

A run of a structure that is not compiled yet starts in CasADi's virtual machine. A compiler runs beside it when that
pays; the run changes over to machine code when it is ready.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time as clock
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

import casadi as ca

from flexarm.codegen.compiler import find_compiler, stop_compilers
from flexarm.codegen.evaluator import Native
from flexarm.codegen.library import Library, building
from flexarm.codegen.loops import Runner, evaluate_rows
from flexarm.foundation.validation import Array
from flexarm.integrators.controlled_plant import ControlledPlant
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant
from flexarm.integrators.step_size import small_motions


def report(plant: Plant) -> ca.Function:
    """Return the function that evaluates a sample.

    (q, v, a, u, numbers) -> energies (kinetic, elastic, gravity, drive), rotation and position of the robot's tip,
    forces missing at driven coordinates, and deflections of the links' tips.
    """
    if isinstance(plant, ControlledPlant):
        return plant.report(report(plant.robot))
    if plant.shared is not None:
        return plant.shared.report
    e = plant.equations
    R, p = e.tip_pose
    q, v, a, u = e.q, e.v, e.a, ca.SX.sym("u", plant.input_count)
    missing = plant.residual(q, v, a, u)[plant.driven] if plant.driven else ca.SX(0, 1)
    bends = ca.horzcat(*(e.tip_deflection(link) for link in range(len(e.chain.bodies))))
    found = [ca.densify(each) for each in (ca.vertcat(*e.energies), R, p, missing, bends)]
    return plant.function("report", [q, v, a, u], [*ca.cse(found)]).function


class Report:
    """A report of many samples."""

    def __init__(self, runner: Runner, numbers: Array) -> None:
        self._runner, self._numbers, self.build = runner, numbers, runner.build
        self.inputs = runner.input_sizes[3]  # of the plant

    def __call__(self, *columns: Array) -> tuple[Array, ...]:
        """Energies (n, 4), rotations (n, 3, 3), positions (n, 3), forces (n, driven) and deflections (n, links, 3) for
        rows of q, v, a, u."""
        energies, R, p, missing, bends = evaluate_rows(self._runner, columns, self._numbers)
        R = R.reshape(-1, 3, 3).swapaxes(1, 2)  # CasADi stores column after column
        return energies, R, p, missing, bends.reshape(len(bends), -1, 3)


# In the library of a run: names that nothing else has, since a loader may take the function of another (the C library
# has a `step`).
FUNCTION_NAMES = ("flexarm_step", "flexarm_start", "flexarm_report", "flexarm_small_motions")
MAX_STORED_METHODS = (
    32  # codes of different structures, methods, ... that are kept in memory; all of them are kept on disk
)

# The compiler takes about this long (s), and for each instruction of the functions: the mean of two fits to gcc 12's
# processor time, with that of writing the source, for eight robots of 93 to 53 000 instructions (0.35 s to 9 s) with an
# empty cache. Other work ran on the machine; the fits gave 1.5e-4 and 1.8e-4. It starts when a share of that was spent
# in the virtual machine: whatever comes, that is not much more than the better of both would have taken.
COMPILE_TIME_S = 0.33
COMPILING_EACH = 1.65e-4
COMPILE_SHARE = 0.3

# A program that ends before its compiler waits until that should be done even on a busy machine, if
# that is soon (s): or a short program, started again and again, would never find its code in the cache.
COMPILE_MARGIN = 4.0
LONGEST_WAIT = 5.0

_codes: OrderedDict[tuple[object, ...], CompiledMethod] = OrderedDict()
_threads: set[_CompilerThread] = set()


class _CompilerThread(threading.Thread):
    """Compiles in the background of a run; expected to finish at the time `until`."""

    def __init__(self, work: Callable[[], None], until: float) -> None:
        super().__init__(target=work, name="flexarm compiler", daemon=True)
        self.until = until


class CompiledMethod:
    """Steps, start, report and small motions of one plant and method."""

    def __init__(self, plant: Plant, method: Method) -> None:
        self.plant = plant
        decides = None if method.identity is None else (*plant.identity, method.identity)

        def make() -> list[ca.Function]:
            made = (method.step(plant), plant.start, report(plant), small_motions(plant))
            return [_named(name, each) for name, each in zip(FUNCTION_NAMES, made, strict=True)]

        driven = FUNCTION_NAMES[:1] if method.is_driven else ()
        self.library = Library(FUNCTION_NAMES, make, decides, driven, FUNCTION_NAMES[:2] if driven else None)
        self.compiled: list[Runner] | None = None  # as machine code, once there is any
        self._failed: set[object] = set()  # compilers: what one could not do it cannot do the second time
        self._spent = 0.0
        self.forget_threads()

    def forget_threads(self) -> None:
        """Reset threads and locks in a forked process, which has no threads."""
        self._lock, self._compiling = threading.Lock(), threading.Lock()
        self._thread: _CompilerThread | None = None

    def runners(self, native: Native) -> list[Runner]:
        """Return the functions with which a run starts."""
        if native is True:
            self._compile()
        elif native == "auto":
            with self._lock:
                self.compiled = self.compiled or self.library.found()
        return self._interpreted if native is False or self.compiled is None else self.compiled

    @cached_property
    def _interpreted(self) -> list[Runner]:
        with building:
            return self.library.runners

    @cached_property
    def _compile_time(self) -> float:
        return COMPILE_TIME_S + COMPILING_EACH * self.library.instructions

    def spend(self, seconds: float) -> None:
        """Record time spent in the virtual machine; start the compiler when that pays."""
        with self._lock:
            self._spent += seconds
            busy = self._thread is not None and self._thread.is_alive()
            if busy or self._spent < COMPILE_SHARE * self._compile_time or find_compiler() in self._failed:
                return
            until = clock.monotonic() + COMPILE_MARGIN * self._compile_time
            self._thread = _CompilerThread(self._compile_beside, until)
            if not _begins(self._thread):
                self._failed.add(find_compiler())

    def _compile_beside(self) -> None:
        try:
            if self.library.found() is None:
                self.library.write()
            self._compile()
        finally:
            if self.compiled is None:
                self._failed.add(find_compiler())
            _threads.difference_update({each for each in _threads if each is threading.current_thread()})

    def _compile(self) -> None:
        """Compile in one thread; others that need the code wait for it."""
        with self._compiling:
            if self.compiled is not None or (compiler := find_compiler()) in self._failed:
                return
            built = self.library.built()
            if all(each.library is not None for each in built):
                self.compiled = built
            else:
                self._failed.add(compiler)


def _named(name: str, function: ca.Function) -> ca.Function:
    """Return the function under another name."""
    inputs = function.mx_in()
    return ca.Function(name, inputs, function.call(inputs))


def code_of(plant: Plant, method: Method) -> CompiledMethod:
    """Made, or found where it was made before."""
    if method.identity is None:
        return CompiledMethod(plant, method)
    key = (*plant.identity, method.identity)
    with building:
        if key not in _codes:
            _codes[key] = CompiledMethod(plant, method)
            while len(_codes) > MAX_STORED_METHODS:
                _codes.popitem(last=False)
        _codes.move_to_end(key)
        return _codes[key]


def _begins(thread: _CompilerThread) -> bool:
    """Start a thread that is ended with the program, before what it works with is."""
    _threads.add(thread)
    atexit.unregister(_end)
    atexit.register(_end)
    if (processes := sys.modules.get("multiprocessing.util")) is not None:  # their ends run no other functions
        processes.Finalize(None, _end, exitpriority=0)
    try:
        thread.start()
    except RuntimeError:  # there are too many, or the program is about to end
        _threads.discard(thread)
        return False
    return True


def _end() -> None:
    """Wait for code that is nearly there; then end compilers, and let their threads clear up."""
    if getattr(sys, "last_type", None) is None:  # no one waits for anything after an error or Ctrl-C
        with suppress(KeyboardInterrupt):
            latest = clock.monotonic() + LONGEST_WAIT
            for thread in list(_threads):
                if thread.until <= latest:
                    thread.join(max(0.0, thread.until - clock.monotonic()))
    stop_compilers()
    for thread in list(_threads):
        thread.join(2.0)


def _forked() -> None:
    _threads.clear()
    for code in _codes.values():
        code.forget_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
