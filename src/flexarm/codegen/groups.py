"""Drive many groups of SIMD lanes, each with its own step sizes, and evaluate their nodes (`groups.c`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from flexarm.codegen.driver import driver_source

NODE_STRIDE = 16  # nodes: energies are evaluated at every so many, and at the last of a call
NEEDS_ATTENTION, NO_MEMORY = 1, 2  # results of a pass over groups
LONGEST_PASS_S = 0.02  # after which a pass over groups returns, so that interrupts are seen

# Read when the program starts: the file may change while it runs.
SOURCE = files("flexarm.codegen").joinpath("groups.c").read_text()

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int)


_INTEGERS = (
    "groups group every coordinates bounded readings wanted_count reads_nodes is_low_order checks_all signals "
    "status left node"
)
_REALS = "close sample smallest_share error_level largest_turn patience slow_error step_seconds node_seconds"
_ADDRESSES = (
    "controls states buffer is_active places kinds wanted quintic cubic reaching taken samples steps "
    "sizes far turns lower upper unusual living furthest fastest beyond "
    "turned_at turning_times swings fast_swings "
    "signal_links signal_stations signal_shapes fast_errors "
    "link_bends swing_begin swing_begin_times swing_bends swing_far swing_far_times far_bends "
    "phases phase_errors deflections is_falling fast_limits "
    "range node_range first fill_readings"
)
BATCH_TYPE = np.dtype(
    [
        *((name, np.int64) for name in _INTEGERS.split()),
        *((name, np.float64) for name in _REALS.split()),
        *((name, np.uintp) for name in _ADDRESSES.split()),
    ]
)
"""`flexarm_batch` of `groups.c`; addresses of arrays are integers."""


class GroupDriver:
    """Groups of lanes that are driven to a common stop, each with step sizes of its own.

    Parameters
    ----------
    library : ctypes.CDLL
        With the loops of `group_source`.
    controls : ndarray of CONTROL
        One record for each group; `times`, `path` and other arrays may be shared by all.
    fill_inputs, fill_readings : callable
        Called without arguments where inputs of the present group are functions of the user: they fill the inputs at
        its stage times. The first returns 1 where that failed.
    arrays : ndarray
        By the names of the fields of `BATCH`, arrays with the group first and the lane last. They stay in place.
    numbers : int or float
        Other fields of `BATCH`.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        controls: Any,
        fill_inputs: Callable[[], int],
        fill_readings: Callable[[], int],
        arrays: dict[str, Any],
        **numbers: float,
    ) -> None:
        self.controls = controls
        self._kept = arrays, _CALLBACK(fill_inputs), _CALLBACK(fill_readings)  # addresses below are of these
        self._record = np.zeros(1, BATCH_TYPE)
        self.batch = batch = self._record[0]
        for name, value in {"groups": len(controls), "patience": LONGEST_PASS_S, **numbers}.items():
            batch[name] = value
        for name, each in {"controls": controls, **arrays}.items():
            if not each.flags.c_contiguous:
                raise ValueError(f"{name}: must be contiguous")
            batch[name] = each.ctypes.data
        batch["fill_readings"] = ctypes.cast(self._kept[2], ctypes.c_void_p).value
        controls["fill_inputs"] = ctypes.cast(self._kept[1], ctypes.c_void_p).value
        address = ctypes.c_void_p(self._record.ctypes.data)
        advance, evaluate = library["flexarm_advance"], library["flexarm_evaluate_group"]
        advance.argtypes = [ctypes.c_void_p]
        evaluate.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_longlong]
        self._advance: Callable[[], int] = partial(advance, address)
        self._evaluate: Callable[[float, int], int] = partial(evaluate, address)

    @property
    def group(self) -> int:
        """The present group."""
        return int(self.batch["group"])

    @group.setter
    def group(self, value: int) -> None:
        self.batch["group"] = value

    def advance(self) -> bool:
        """Drive groups from the present one on, with one call of the driver each.

        Return True if the present group needs attention: it may have reached a limit, or its driver failed.
        """
        return self._checked(self._advance())

    def read_until(self, limit: float) -> None:
        """Evaluate samples of the present group up to a time (s)."""
        self._checked(self._evaluate(limit, 0))

    def finish(self) -> None:
        """Evaluate the remaining nodes of the present group."""
        self._checked(self._evaluate(np.inf, 1))

    @staticmethod
    def _checked(found: int) -> bool:
        if found == NO_MEMORY:
            raise MemoryError("there is no memory for the steps of a group of robots")
        return found == NEEDS_ATTENTION


def group_source(step: str, read: str) -> str:
    """Return C that drives groups of lanes by a step and evaluates their nodes by a function, given by name."""
    text = SOURCE
    for name, value in {"STEP": step, "READ": read, "NODE_STRIDE": NODE_STRIDE}.items():
        text = text.replace(f"@{name}@", str(value))
    return driver_source(step) + text
