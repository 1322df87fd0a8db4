"""The integration loop with a digital controller, compiled with a step (`sampler.c`) or in Python.

Both go from one breakpoint to the next, with the samples of the controller between them: the controller gives torques
that are held, accelerations are restarted, steps follow until the next sample. A controller is called, or it is linear
and its matrices are in the compiled loop. The loop in Python calls every controller; tests compare the other one with
it.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, Protocol

import casadi as ca
import numpy as np

from flexarm.codegen.driver import Driver, DriverInputs, DriverStatus
from flexarm.codegen.loops import Runner
from flexarm.foundation.validation import Array

# Read now, and not when it is first compiled: the file may change while a program runs, and with it the structure
SOURCE = files("flexarm.codegen").joinpath("sampler.c").read_text()

CALLED, LINEAR = 0, 1
SIGNAL, READING, CHANGE = 0, 1, 2  # sources of what a linear controller measures
TAKEN, FAILED, PAUSED = 0, 1, 2  # samples

_CALL, _RESTART = ctypes.CFUNCTYPE(ctypes.c_int), ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double)
_SIZES = ("coordinates", "forces", "torques", "first_torque", "signals", "channels", "measured", "references")
_INTEGER_ARRAYS = ("waits", "moves", "sources", "places", "channel_signals", "channel_delays")
_ARRAYS = (
    *("lags", "first_torques", "limits", "sizes"),
    *("signal_rows", "signal_offsets", "biases", "resolutions", "noise", "reference_table"),
    *("saturated_rows", "lower", "upper", "command_rows", "state_rows"),
    *("values", "commands", "next_states", "readings", "last_readings", "lines"),
    *("start", "target", "command_lines", "held_times", "held", "start_inputs"),
)


class SamplerControl(ctypes.Structure):
    """Instructions to a sampled loop, and its results; the same structure as `flexarm_sampler` in `sampler.c`."""

    _fields_ = (
        *((name, ctypes.c_longlong) for name in ("kind", "next", "is_fresh", "softens")),
        *((name, ctypes.c_longlong) for name in ("rows", "samples", "most_rows", "most_samples")),
        *((name, ctypes.c_longlong) for name in (*_SIZES, "states", "saturated", "command_line", "reading_line")),
        *((name, ctypes.c_double) for name in ("rate", "slack", "final", "size")),
        *((name, ctypes.c_double) for name in ("soft_stiffness", "soft_damping")),
        *((name, ctypes.c_double) for name in ("kick", "shortening", "first_size", "since")),
        *((name, ctypes.c_void_p) for name in (*_INTEGER_ARRAYS, *_ARRAYS)),
        ("call", _CALL),
        ("restart", _RESTART),
    )


class LaggedTorques(Protocol):
    """Torques from a sample to the next one: each goes from `start` to `target` with its lag."""

    @property
    def start(self) -> Array: ...

    @property
    def target(self) -> Array: ...

    @property
    def since(self) -> float: ...


class SampledDriver:
    """A driver with the samples of a digital controller between breakpoints.

    Parameters
    ----------
    driver : Driver
        Of a plant in which no law has states.
    coordinates, forces, first_torque : int
        Numbers of coordinates and of multipliers in a state; the first torque among the inputs.
    lags : numpy.ndarray
        Time constants of the actuators (s).
    sizes : numpy.ndarray
        What is large for each coordinate.
    rate : float
        Samples a second.
    slack : float
        Times that are nearer than this (s) are the same.
    softening : tuple of float
        Of a start by the size h of the step that follows: by how much K and D count there, times h^2 and h.
    """

    def __init__(
        self,
        driver: Driver,
        coordinates: int,
        forces: int,
        first_torque: int,
        lags: Array,
        sizes: Array,
        rate: float,
        slack: float,
        softening: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.driver, self._restart = driver, _unset
        self.failure: BaseException | None = None
        self.on_sample: Callable[[float, Array], LaggedTorques | None] = _unset
        nu, rows = len(lags), driver.capacity // 2 + 1
        self.start, self.target = np.zeros((2, nu))
        self.held_times, self.held = np.zeros(rows), np.zeros((rows, 2, nu))
        self._kept: dict[str, Array] = {
            "lags": np.array(lags, dtype=float),
            "sizes": np.array(sizes, dtype=float),
            "start": self.start,
            "target": self.target,
            "held_times": self.held_times,
            "held": self.held,
            "start_inputs": np.zeros(driver.control.columns),
        }
        self.control = SamplerControl(
            kind=CALLED,
            coordinates=coordinates,
            forces=forces,
            torques=nu,
            first_torque=first_torque,
            softens=any(softening),
            soft_stiffness=softening[0],
            soft_damping=softening[1],
            rate=rate,
            slack=slack,
            call=_CALL(self._call),
            **{name: each.ctypes.data for name, each in self._kept.items()},
        )

    def set_restart(self, restart: Callable[[float, Array, float], Array]) -> None:
        """Restart states by a function of (t, state, size of the next step), where a plant's start is not enough."""

        def call(h: float) -> int:
            try:
                state = self.driver.path[self.control.rows]
                state[:] = restart(self.driver.control.t, state, h)
            except BaseException as error:
                self.failure = error
                return FAILED
            return TAKEN

        self.control.restart = self._restart_call = _RESTART(call)

    def set_linear(self, counts: Mapping[str, int], arrays: Mapping[str, Array]) -> None:
        """Evaluate a linear controller from now on, in the compiled loop only; `arrays` are those of `sampler.c`."""
        self._kept |= {
            name: np.ascontiguousarray(each, dtype=np.int64 if name in _INTEGER_ARRAYS else float)
            for name, each in arrays.items()
        }
        for name, count in counts.items():
            setattr(self.control, name, count)
        for name in arrays:
            setattr(self.control, name, self._kept[name].ctypes.data)
        self.control.kind = LINEAR

    def connect(self, step: Runner, restart: Callable[[Array, Array, Array, float], list[Array]]) -> None:
        """Drive this step from now on; `restart` gives accelerations and powers at (q, v, inputs) for a step size."""
        self._restart = restart
        self._run: Callable[[], int] = self._drive
        if step.library is None:
            return
        library, name = ctypes.CDLL(str(step.library)), step.function.name()
        drive, self._sample = getattr(library, f"{name}_drive_sampled"), getattr(library, f"{name}_sample")
        drive.restype = ctypes.c_longlong
        references = ctypes.byref(self.driver.control), ctypes.byref(self.control)
        self._run = lambda: int(drive(*references))

    def array(self, name: str) -> Array:
        """Return an array of a linear controller by its name in `sampler.c`."""
        return self._kept[name]

    @property
    def next_tick(self) -> float:
        """Time of the next sample (s)."""
        return float(self.control.next / self.control.rate)

    def first_stop(self, t: float, final: float) -> float:
        """Return where the steps from t end first: at a sample, or at the end of this stretch."""
        tick = t if self.next_tick <= t + self.control.slack else self.next_tick
        return tick if t < tick < final - self.control.slack else final

    def sample(self, t: float, state: Array) -> bool:
        """Take a sample of a linear controller in a state; False if it gave something that is not finite."""
        self.driver.control.t = t
        pointer = ctypes.c_void_p(np.ascontiguousarray(state).ctypes.data)
        failed = self._sample(ctypes.byref(self.driver.control), ctypes.byref(self.control), pointer)
        self.control.next += not failed
        return not failed

    def advance(self, inputs: DriverInputs) -> DriverStatus:
        """Take steps and samples from the state in `driver.path[0]` until the end of a stretch, or until something else
        ends them.

        Afterwards `driver.times` and `driver.path` hold the nodes, `control.rows` of them after the first; the time of
        a sample occurs twice. If a controller failed, `failure` is the reason: it is not called again.
        """
        self.failure = None
        return self.driver.advance(inputs, self._run)

    def _call(self) -> int:
        """Call the controller; the loop ends where that failed, and where the nodes so far must be looked at first."""
        try:
            held = self.on_sample(self.driver.control.t, self.driver.path[self.control.rows])
            if held is None:
                return PAUSED
            self.start[:], self.target[:], self.control.since = held.start, held.target, held.since
        except BaseException as error:
            self.failure = error
            return FAILED
        return TAKEN

    def _drive(self) -> int:
        """The loop of `sampler.c` in Python."""
        c, d, driver = self.driver.control, self.control, self.driver
        times, path, began, most_attempts = driver.times, driver.path, time.perf_counter(), c.most_attempts
        counted = dict.fromkeys(("steps", "attempts", "rejected", "unsolved"), 0)
        status: int = DriverStatus.REACHED_STOP
        d.rows = d.samples = 0
        times[0] = c.t
        try:
            while status == DriverStatus.REACHED_STOP and c.t < d.final:
                if self.next_tick <= c.t + d.slack:
                    status = self._take_sample(bool(counted["attempts"]) and time.perf_counter() - began > c.patience)
                    if status != DriverStatus.REACHED_STOP:
                        break
                c.stop = self.first_stop(c.t, d.final)
                if c.is_fixed:
                    count = math.ceil((c.stop - c.t) / min(d.size, c.longest) - 1e-9)
                    c.dt = (c.stop - c.t) / max(1, count)
                softened = d.is_fresh and d.softens
                if softened and not self._restarted(path[d.rows], c.next_size()[0]):
                    status = DriverStatus.INPUTS_FAILED
                    break
                c.most_attempts = 1 if softened else most_attempts
                c.most_steps = d.most_rows - d.rows
                driver.times, driver.path = times[d.rows :], path[d.rows :]
                status = driver.run()
                driver.times, driver.path = times, path
                d.rows += c.steps
                counted = {name: value + getattr(c, name) for name, value in counted.items()}
                d.is_fresh = d.is_fresh and not c.steps
                if softened and status == DriverStatus.ENOUGH_STEPS and d.rows < d.most_rows:
                    status = DriverStatus.REACHED_STOP
        finally:
            driver.times, driver.path = times, path
        c.stop, c.most_attempts = d.final, most_attempts
        for name, value in counted.items():
            setattr(c, name, value)
        return status

    def _take_sample(self, is_late: bool) -> DriverStatus:
        """Take the sample of this moment, and restart after it; REACHED_STOP if the loop may go on."""
        c, d, times, path = self.driver.control, self.control, self.driver.times, self.driver.path
        if d.samples >= d.most_samples or d.rows + 2 > d.most_rows:
            return DriverStatus.ENOUGH_STEPS
        if is_late:
            return DriverStatus.TIME_IS_UP
        if (taken := self._call()) != TAKEN:
            return DriverStatus.ENOUGH_STEPS if taken == PAUSED else DriverStatus.INPUTS_FAILED
        path[d.rows + 1] = path[d.rows]
        d.rows, d.samples, d.next = d.rows + 1, d.samples + 1, d.next + 1
        times[d.rows] = c.t
        c.previous, c.was_rejected, d.is_fresh = 0.0, False, True
        if not self._restarted(path[d.rows], 0.0):
            return DriverStatus.INPUTS_FAILED
        self._brace(path[d.rows - 1], path[d.rows])
        return DriverStatus.REACHED_STOP

    def _restarted(self, state: Array, h: float) -> bool:
        """Recompute accelerations, powers and multipliers of a state for a first step of size h; False if inputs
        failed.
        """
        if self.control.restart:
            return bool(self.control.restart(h) == TAKEN)
        n, t = self.control.coordinates, np.array([self.driver.control.t])
        inputs = self.driver.inputs_at(t)
        if inputs is None:
            return False
        a, given, drained, *forces = self._restart(state[:n], state[n : 2 * n], inputs[0], h)
        state[2 * n : 3 * n] = state[3 * n : 4 * n] = a
        state[4 * n + 2 : 4 * n + 4] = given, drained
        if forces:
            state[4 * n + 4 :] = forces[0]
        return True

    def _brace(self, before: Array, after: Array) -> None:
        """Take shorter steps where accelerations have jumped."""
        c, d, sizes = self.driver.control, self.control, self._kept["sizes"]
        part = slice(2 * d.coordinates, 3 * d.coordinates)
        jump = np.abs(after[part] - before[part]) / sizes
        if d.kick > 0 and jump.max(initial=0.0) > d.kick * (np.abs(after[part]) / sizes).max(initial=0.0):
            c.dt = d.shortening * min(c.dt, d.first_size)


def _unset(*_: Any) -> Any:
    raise RuntimeError("the sampler is not connected")


def sampler_source(step: ca.Function, start: ca.Function) -> str:
    """Return C that drives a step of this name with samples between breakpoints."""
    return SOURCE.replace("@STEP@", step.name()).replace("@START@", start.name())
