"""What laws answer: torques of all actuators, and with states their rates or their next values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.system import System
from flexarm.motion.gains import Gains


def parted(said: Any, states: Gains | None, what: str) -> tuple[Any, Mapping[str, Any]]:
    """Torques, and `what` is told of the states ("rates", "next values"), by name."""
    if states is None:
        return said, {}
    if not (isinstance(said, (tuple, list)) and len(said) == 2 and isinstance(said[1], Mapping)):
        first = next(iter(states))
        raise TypeError(
            f"it gave {shown(said)}: a law with states returns torques and the {what} of its states by name, "
            f"torques, {{'{first}': ...}}"
        )
    torques, told = said
    for name in told:
        if name not in states:
            raise KeyError(f"it has no state '{name}'{suggestion(name, list(states))}")
    if missing := [name for name in states if name not in told]:
        raise ValueError(f"it did not tell the {what} of '{missing[0]}'; all states must have theirs")
    return torques, told


def column(said: Any, system: System) -> Any:
    """Torques as symbols."""
    if isinstance(said, Mapping):
        require_links(said, system, "the feedback law")
        said = [said.get(name, 0.0) for name in system.inputs]
    try:
        found = ca.SX(ca.vertcat(*said) if isinstance(said, (list, tuple, np.ndarray)) else said)
    except Exception:  # CasADi's own words are a list of C++ prototypes
        raise TypeError(f"the feedback law gave {shown(said)}: must be a torque for each actuator") from None
    if found.shape != (system.nu, 1):
        raise ValueError(f"the feedback law: {_wrong_count(found.numel(), system)}")
    return found


def state_column(told: Mapping[str, Any], states: Gains | None) -> Any:
    """What is told of states, as symbols, in their order."""
    parts = [ca.SX(0, 1)]
    for name, start in (states or {}).items():
        given = told[name]
        try:
            part = ca.SX(ca.vertcat(*given) if isinstance(given, (list, tuple, np.ndarray)) else given)
        except Exception:
            raise TypeError(f"the rate of the state '{name}' is {shown(given)}: must be numbers") from None
        part = part.T if part.is_row() else part
        if part.shape != (np.size(start), 1):
            raise ValueError(f"the rate of the state '{name}' has {part.numel()} entries, the state {np.size(start)}")
        parts.append(part)
    return ca.vertcat(*parts)


def vector(said: Any, system: System) -> Array:
    """Torques as numbers."""
    if isinstance(said, Mapping):
        return by_link(said, system, "its torque", 0.0)
    out = real_array("its torque", said).reshape(-1)
    if out.shape != (system.nu,):
        raise ValueError(_wrong_count(out.size, system))
    return out


def state_values(told: Mapping[str, Any], states: Gains) -> Gains:
    """What is told of states, as numbers."""
    found: dict[str, Any] = {}
    for name, start in states.items():
        given = np.array(real_array(f"the state '{name}'", told[name]), dtype=float)
        if given.size != np.size(start):
            raise ValueError(f"the state '{name}' got {given.size} entries, it has {np.size(start)}")
        if not np.isfinite(given).all():
            raise ValueError(f"the state '{name}' became {given.ravel()[~np.isfinite(given.ravel())][0]}")
        found[name] = given.reshape(-1) if np.ndim(start) else float(given.reshape(()))
    return Gains(found, "state")


def by_link(given: Mapping[str, Any], system: System, what: str, otherwise: float) -> Array:
    require_links(given, system, what)
    values = [given.get(name, otherwise) for name in system.inputs]
    return np.array([np.inf if np.isposinf(x) else _number(x, f"{what}['{n}']") for n, x in zip(system.inputs, values)])


def require_links(given: Mapping[str, Any], system: System, what: str) -> None:
    for name in given:
        if name not in system.inputs:
            raise KeyError(f"{what}: there is no actuator at '{name}'{suggestion(name, system.inputs)}")


def _wrong_count(count: int, system: System) -> str:
    return f"it gave {count} torques; there are {system.nu} actuators: {', '.join(system.inputs)}"


def _number(value: Any, where: str) -> float:
    return real_number(where, np.asarray(value, dtype=float).item() if np.size(value) == 1 else value)
