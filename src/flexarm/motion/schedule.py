"""Which profile drives what, and the inputs of a plant at any times."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import suggestion
from flexarm.mechanics.system import System
from flexarm.motion.inputs import Profile, constant, profile, traced
from flexarm.motion.plant import Load, Plant
from flexarm.motion.stabilization import Stabilization


@dataclass(frozen=True)
class Feedback:
    """A control law: torques of all actuators from (t, q, v).

    Without `rate` it is traced into the compiled step (plain arithmetic and numpy functions). With `rate` (Hz) it is
    called as a digital controller, its output held until the next sample; then it may be any Python function.
    `limit` saturates each torque.
    """

    law: Callable[[Any, Any, Any], Any]
    rate: float | None = None
    limit: float | None = None

    def __post_init__(self) -> None:
        for name in ("rate", "limit"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value > 0):
                raise ValueError(f"Feedback: {name} = {value}: must be positive")


@dataclass(frozen=True)
class PointLoad:
    """A force (N) and torque (N m) in world axes on the section at x of a link (None: its tip).

    Three numbers or profiles each.
    """

    link: str
    x: float | None = None
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)


class Schedule:
    """All inputs of one simulation."""

    def __init__(self, system: System, torque: Any, motion: Any, loads: Any) -> None:
        self.system = system
        self.feedback = _feedback(torque)
        self.torques = _torques(system, torque if self.feedback is None else None)
        self.motions = _motions(system, motion)
        self.loads = [_load(system, k, load) for k, load in enumerate(loads or ())]
        self.driven = list(self.motions)

    def plant(self, stabilization: Stabilization = "projection") -> Plant:
        law = None
        if self.feedback is not None and self.feedback.rate is None:
            law = self._traced_law
        return Plant(self.system, self.driven, [load for load, _ in self.loads], law, stabilization)

    @property
    def profiles(self) -> list[Profile]:
        return [*self.torques, *(p for _, parts in self.loads for p in parts), *self.motions.values()]

    def breaks(self, duration: float) -> list[float]:
        """Times inside the run at which an input may jump, then its end."""
        found = {time for each in self.profiles for time in each.breaks if 0 < time < duration}
        return [*sorted(found), duration]

    def inputs(self, t: Array, held: Array | None = None) -> Array:
        """Rows of plant inputs at times t; `held` replaces the torques by a digital controller's."""
        rows = [t]
        rows += [np.full(t.shape, value) for value in held] if held is not None else [p(t) for p in self.torques]
        rows += [p(t) for _, parts in self.loads for p in parts]
        rows += [p(t, rate) for rate in range(3) for p in self.motions.values()]
        return np.stack(rows, axis=1)

    def command(self, t: float, q: Array, v: Array) -> Array:
        """Torques of the feedback law as numbers."""
        assert self.feedback is not None
        return np.asarray(self._limited(_as_vector(self.feedback.law(t, q, v), self.system), np.clip))

    def _traced_law(self, t: Any, q: Any, v: Any) -> Any:
        import casadi as ca

        assert self.feedback is not None
        law = self.feedback.law
        try:
            torques = traced(lambda *state: _as_column(law(*state), self.system), t, q, v)
        except Exception as error:
            raise TypeError(
                f"the feedback law cannot be traced ({type(error).__name__}: {error}); write it with plain arithmetic "
                "and numpy functions of t, q, v, or give it a sample rate: fa.Feedback(law, rate=1000)"
            ) from None
        return self._limited(torques, lambda x, low, high: ca.fmin(ca.fmax(x, low), high))

    def _limited(self, torques: Any, clip: Callable[[Any, float, float], Any]) -> Any:
        limit = self.feedback.limit if self.feedback else None
        return torques if limit is None else clip(torques, -limit, limit)


def _feedback(torque: Any) -> Feedback | None:
    if isinstance(torque, Feedback):
        return torque
    if callable(torque) and not isinstance(torque, Profile):
        if len(inspect.signature(torque).parameters) != 3:
            raise TypeError(
                "torque: a function for all actuators must take (t, q, v); give functions of t by link name"
            )
        return Feedback(torque)
    return None


def _torques(system: System, torque: Any) -> list[Profile]:
    if torque is None:
        return [constant(0.0)] * system.nu
    if isinstance(torque, Mapping):
        for name in torque:
            if name not in system.inputs:
                raise KeyError(f"torque: there is no actuator at '{name}'{suggestion(str(name), list(system.inputs))}")
        return [profile(torque.get(name, 0.0), f"torque.{name}") for name in system.inputs]
    values = np.atleast_1d(np.asarray(torque, dtype=float))
    if values.shape != (system.nu,):
        raise ValueError(f"torque has shape {values.shape}: give one number for each of {', '.join(system.inputs)}")
    return [profile(float(value), f"torque[{k}]") for k, value in enumerate(values)]


def _motions(system: System, motion: Any) -> dict[int, Profile]:
    found = {}
    for name, given in (motion or {}).items():
        if name not in system.inputs:
            raise KeyError(f"motion: there is no joint at '{name}'{suggestion(str(name), list(system.inputs))}")
        actuated = int(system.input_matrix[:, system.inputs.index(name)].argmax())
        found[actuated] = profile(given, f"motion.{name}")
    return dict(sorted(found.items()))


def _load(system: System, number: int, load: Any) -> tuple[Load, list[Profile]]:
    if not isinstance(load, PointLoad):
        raise TypeError(f"loads[{number}] = {load!r}: must be a fa.PointLoad")
    parts = []
    for name in ("force", "torque"):
        values = list(getattr(load, name))
        if len(values) != 3:
            raise ValueError(f"loads[{number}].{name}: give three numbers or profiles, in world axes")
        parts += [profile(value, f"loads[{number}].{name}[{k}]") for k, value in enumerate(values)]
    link, x = system._place(load.link, load.x)
    return Load(link, x), parts


def _as_vector(value: Any, system: System) -> Array:
    if isinstance(value, Mapping):
        value = [value.get(name, 0.0) for name in system.inputs]
    out = np.asarray(value, dtype=float).reshape(-1)
    if out.shape != (system.nu,):
        raise ValueError(
            f"the feedback law gave {out.size} torques; there are {system.nu} actuators: {', '.join(system.inputs)}"
        )
    return out


def _as_column(value: Any, system: System) -> Any:
    import casadi as ca

    if isinstance(value, Mapping):
        value = [value.get(name, 0.0) for name in system.inputs]
    column = ca.vertcat(*value) if isinstance(value, (list, tuple, np.ndarray)) else ca.SX(value)
    if column.shape != (system.nu, 1):
        raise ValueError(
            f"it gave {column.shape[0]} torques; there are {system.nu} actuators: {', '.join(system.inputs)}"
        )
    return column
