"""Laws from Python that a program can say: which function of flexarm made them, and of what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from flexarm.control.driven_joints import Side, driven_joints
from flexarm.control.pd import ErrorLaw, pd
from flexarm.control.pid import IntegralLaw, pid
from flexarm.mechanics.system import System
from flexarm.motion.laws import Feedback

ASIDE = ("limit", "rate", "sensors", "actuators")


def call_of(law: Feedback, system: System) -> tuple[str, dict[str, Any]] | None:
    """The name of the function, and what it is to be given besides the robot; None where nobody can tell.

    Laws that hold a model of their robot are none of these: which robot that was is not in them.
    """
    answer = getattr(law.law, "answer", None)
    if isinstance(answer, ErrorLaw):
        return _made(pd, law, answer, {}, system)
    if isinstance(answer, IntegralLaw) and answer.feedforward is None:
        return _made(pid, law, answer.errors, {"ki": _by_link("ki", answer.errors, law)}, system)
    return None


def _made(
    function: Callable[..., Feedback], law: Feedback, errors: ErrorLaw, more: Mapping[str, Any], system: System
) -> tuple[str, dict[str, Any]] | None:
    """The call, if it gives this very law."""
    side = _side(errors, system)
    if side is None:
        return None
    aims = law.references or {}
    given: dict[str, Any] = {name: _by_link(name, errors, law) for name in ("kp", "kd")}
    given |= {**more, "references": {each.link: aims[each.signal] for each in errors.joints}, "side": side}
    given |= {name: getattr(law, name) for name in ASIDE}
    given = {name: each for name, each in given.items() if each is not None and (name, each) != ("side", "motor")}
    again = [given, *({**given, "tracking_time": each} for each in _tracking_times(law))]
    return next(((function.__name__, each) for each in again if _same(function(system, **each), law)), None)


def _side(errors: ErrorLaw, system: System) -> Side | None:
    """On which the joints of this robot are measured; None where they are those of another robot."""
    sides: tuple[Side, Side] = ("motor", "joint")
    return next((side for side in sides if set(errors.joints) <= set(driven_joints(system, side))), None)


def _by_link(name: str, errors: ErrorLaw, law: Feedback) -> dict[str, Any]:
    gains = law.gains or {}
    return {each.link: gains[f"{name}.{each.link}"] for each in errors.joints}


def _tracking_times(law: Feedback) -> list[float]:
    return [1 / float(np.sum(each)) for name, each in (law.gains or {}).items() if name.startswith("reset.") and each]


def _same(one: Feedback, other: Feedback) -> bool:
    return all(_equal(getattr(one, name) or {}, getattr(other, name) or {}) for name in ("gains", "states"))


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.allclose(one[name], other[name], rtol=1e-12) for name in one)
