"""`Feedback`: a control law with gains, references, states, sensors and actuators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.actuators import Actuator, checked_actuators
from flexarm.feedback.outputs import by_link, checked_gains
from flexarm.feedback.sensors import Sensor, checked_sensors
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import MAX_LISTED_NAMES, shown
from flexarm.foundation.named_arrays import call_error
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile

AWAY_OUT = "give it a sample rate, then it is called as it is: fa.Feedback(law, rate=1000)"


@dataclass(frozen=True)
class Feedback:
    """Control law that computes the torques of all actuators during a simulation.

    Feedbacks are added: the torques of `one + other` are the sums of theirs. The sum has the signals and gains of both,
    and all limits hold for the sum.

    Parameters
    ----------
    law : callable
        `law(t, x)` or `law(t, q, v)`, with `gains` as a further argument if gains are given. It returns the torques, in
        the order of the actuators or by link name. Signals are read by name: `x["fore.q"]`, `x["fore.q'"]` (a
        rate), `x["tip.y"]`, `x["upper.strain(0.1)"]`, `x.reference("fore.q")`, `x.state("sum")`; `x.tip` is the
        position of the tip, `x.q` and `x.v` are all coordinates and rates, `x.period` is the time to the next call (s).
        q and v are read by index or by name.
    rate : float, optional
        Sampling rate (Hz). Without it the law is traced into the compiled step, anew for each run; it may use
        arithmetic, NumPy functions and profiles. With it the law is called as a digital controller whose output is held
        until the next sample; it may be any Python function, and an object keeps its state from run to run.
    limit : float, sequence or mapping, optional
        Saturation of the torques (N m or N): one number for all, one for each actuator, or by link name.
    gains : mapping, optional
        Numbers, or lists of numbers, by name. They are inputs of the compiled step, as the limits are: other values
        need no compilation.
    references : mapping, optional
        Numbers, profiles or functions of t by name, read as `x.reference("fore.q")` and `x.reference("fore.q", 1)`
        (rate).
    states : mapping, optional
        Initial values of the law's own states by name. The law then returns torques and, by name, the rates of its
        states, `torques, {"sum": error}`; with a sampling rate their next values. Each run starts from the initial
        values.
    sensors : mapping, optional
        `fa.Sensor` by signal, for laws with a sampling rate. A warning is given if a signal is never read.
    actuators : mapping, optional
        `fa.Actuator` by link.

    Examples
    --------
    >>> def law(t, x, gains):
    ...     error = x.reference("beam.q") - x["beam.q"]
    ...     torque = gains["kp"] * error - gains["kd"] * x["beam.q'"] + gains["ki"] * x.state("sum")
    ...     return {"beam": torque}, {"sum": error}
    >>> Feedback(law, gains={"kp": 20.0, "kd": 2.0, "ki": 5.0}, references={"beam.q": 1.0}, states={"sum": 0.0}).gains
    {'kp': 20.0, 'kd': 2.0, 'ki': 5.0}
    """

    law: Callable[..., Any]
    rate: float | None = None
    limit: float | Sequence[float] | Mapping[str, float] | None = None
    gains: Mapping[str, float | Sequence[float] | Array] | None = None
    references: Mapping[str, Any] | None = None
    states: Mapping[str, float | Sequence[float] | Array] | None = None
    sensors: Mapping[str, Sensor] | None = None
    actuators: Mapping[str, Actuator] | None = None

    def __post_init__(self) -> None:
        if self.gains is not None:
            object.__setattr__(self, "gains", checked_gains(self.gains))
        _require_law(self.law, "Feedback: law", self.gains)
        if self.rate is not None:
            real_number("Feedback: rate", self.rate, "Hz", above=0)
        self._take_limit()
        if self.references is not None:
            object.__setattr__(self, "references", _checked_references(self.references))
        if self.states is not None:
            object.__setattr__(self, "states", checked_gains(self.states, "state", "{'sum': 0.0}"))
        if self.sensors is not None:
            object.__setattr__(self, "sensors", checked_sensors(self.sensors))
            if self.rate is None:
                raise ValueError("Feedback: sensors are read by a law with a sample rate; give it one: rate=1000")
        if self.actuators is not None:
            object.__setattr__(self, "actuators", checked_actuators(self.actuators, self.rate))
        for name in ("references", "states"):
            if getattr(self, name) is not None and not takes_view(self.law, self.gains):
                raise TypeError(
                    f"Feedback: law = {shown(self.law)}: {name} are read from x; write it as "
                    f"law(t, x{', gains' if self.gains is not None else ''})"
                )

    def __repr__(self) -> str:
        """Return one line: driven links, rate, gains, references, states, limit, sensors and actuators."""
        links = getattr(self.law, "links", None)
        parts = [f"links {_enumerated(links)}" if isinstance(links, tuple) else f"law {law_name(self.law)}"]
        parts += ["continuous" if self.rate is None else f"rate {self.rate:g} Hz"]
        for word, given in (("gains", self.gains), ("states", self.states)):
            if given:
                parts.append(f"{word} {_enumerated(f'{key} = {_short(value)}' for key, value in given.items())}")
        if self.limit is not None:
            parts.append(f"limit {shown(self.limit)}")
        for word in ("references", "sensors", "actuators"):
            if names := getattr(self, word):
                parts.append(f"{word} {_enumerated(names)}")
        return f"Feedback({'; '.join(parts)})"

    def __add__(self, other: object) -> Feedback:
        from flexarm.feedback.composition import added

        return added(self, other) if isinstance(other, Feedback) else NotImplemented

    def _take_limit(self) -> None:
        if isinstance(self.limit, (Mapping, list, tuple)) and not self.limit:
            raise ValueError(f"Feedback: limit = {shown(self.limit)}: is empty; leave it out for no limit")
        if isinstance(self.limit, Mapping):
            for name, value in self.limit.items():
                real_number(f"Feedback: limit['{name}']", value, "N m or N", above=0)
        elif np.ndim(self.limit):  # type: ignore[arg-type]
            if not (real_array("Feedback: limit", self.limit) > 0).all():
                raise ValueError(f"Feedback: limit = {shown(self.limit)}: must be positive (N m or N)")
        elif self.limit is not None:
            real_number("Feedback: limit", self.limit, "N m or N", above=0)
        object.__setattr__(self, "limit", deepcopy(self.limit))  # what happens to a list later does not matter here

    def limits(self, system: System) -> Array:
        """Return the saturation of each actuator.

        Parameters
        ----------
        system : System
            The robot whose actuators are limited.

        Returns
        -------
        ndarray
            Largest torques (N m or N); infinite without a limit.
        """
        motors = {name: each.limit for name, each in (self.actuators or {}).items()}
        of_motors = by_link(motors, system, "Feedback: actuators", np.inf)
        if self.limit is None:
            return of_motors
        if isinstance(self.limit, Mapping):
            return np.minimum(of_motors, by_link(self.limit, system, "Feedback: limit", np.inf))
        given = real_array("Feedback: limit", self.limit)
        if given.shape not in ((), (system.nu,)):
            raise ValueError(
                f"Feedback: limit = {shown(self.limit)}: give one number, or one for each of {', '.join(system.inputs)}"
            )
        return np.minimum(of_motors, np.broadcast_to(given, (system.nu,)))


def _enumerated(words: Iterable[str]) -> str:
    """Return words separated by commas, the first LISTED of many."""
    every = [*words]
    return ", ".join(every[:MAX_LISTED_NAMES]) + (f", ... ({len(every)})" if len(every) > MAX_LISTED_NAMES else "")


def _short(value: Any) -> str:
    return f"{value:g}" if np.ndim(value) == 0 else f"{'x'.join(map(str, np.shape(value)))} numbers"


def law_name(law: Any) -> str:
    """Return the name of a function, or that of the class of any other callable."""
    return str(getattr(law, "__name__", type(law).__name__))


def recorded_torque(torque: Any) -> str:
    """Return the text that a run or a sweep saves of its `torque=`: every field of a Feedback with its values."""
    if not isinstance(torque, Feedback):
        return repr(torque)
    values = ((each.name, getattr(torque, each.name)) for each in fields(torque))
    return f"Feedback({', '.join(f'{name}={value!r}' for name, value in values)})"


def feedback_of(torque: Any) -> Feedback | None:
    """Return the feedback in the argument `torque`, or None."""
    if isinstance(torque, Feedback):
        return torque
    if callable(torque) and not isinstance(torque, Profile):
        _require_law(torque, "torque")
        return Feedback(torque)
    return None


def takes_view(law: Any, gains: Mapping[str, Any] | None = None) -> bool:
    """Return True for a law of (t, x), False for one of (t, q, v), each with or without gains.

    A second argument named q means coordinates.
    """
    count = 2 if gains is None else 3
    try:
        parameters = [*inspect.signature(law).parameters.values()]
    except (TypeError, ValueError):  # a built-in has no signature
        return False
    places = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters) or [each.name for each in places[1:2]] == ["q"]:
        return False
    needed = [each for each in places if each.default is each.empty]
    return len(needed) == count <= len(places)


def _checked_references(given: object) -> dict[str, Profile]:
    if not isinstance(given, Mapping) or not given:
        raise TypeError(
            f"Feedback: references = {shown(given)}: must be a mapping of numbers, profiles or functions of t by name, "
            "{'fore.q': fa.cycloid(0, 1, 2)}"
        )
    return {str(name): profile(value, f"Feedback: references['{name}']") for name, value in given.items()}


def _require_law(law: Any, where: str, gains: Mapping[str, Any] | None = None) -> None:
    given = () if gains is None else (gains,)
    wanted = "(t, q, v) or (t, x)" if gains is None else "(t, q, v, gains) or (t, x, gains)"
    if not callable(law):
        raise TypeError(f"{where} = {shown(law)}: must be a function of {wanted}")
    if gains is None and _wants_gains(law):
        raise TypeError(
            f"{where} = {shown(law)}: it takes gains, and there are none; give them: "
            "fa.Feedback(law, gains={'kp': 20.0})"
        )
    if takes_view(law, gains):
        return
    if wrong := call_error(law, *given):
        if gains is not None:
            hint = "read gains['kp'] in it, or leave gains out"
        elif not call_error(law, {}):
            hint = "if that is for its gains, give them: fa.Feedback(law, gains={'kp': 20.0})"
        else:
            hint = "give functions of t by link name"
        raise TypeError(f"{where} = {shown(law)}: a function for all actuators must take {wanted}, but {wrong}; {hint}")
    if gains is not None and (name := _in_the_place_of_gains(law)):
        raise TypeError(
            f"{where} = {shown(law)}: with gains it must take (t, q, v, gains), but its fourth argument, '{name}', is "
            f"for something else; read gains['{name}'] instead, or leave gains out"
        )


def _wants_gains(law: Any) -> bool:
    """law(t, x, gains), which without gains looks like one of (t, q, v)."""
    try:
        parameters = [*inspect.signature(law).parameters.values()]
    except (TypeError, ValueError):  # a built-in has no signature
        return False
    return any(each.name == "gains" and each.default is each.empty for each in parameters[2:3])


def _in_the_place_of_gains(law: Any) -> str:
    """`kp` of law(t, q, v, kp=20.0), which the mapping of all gains would replace."""
    try:
        parameters = [*inspect.signature(law).parameters.values()]
    except ValueError:  # a built-in has no signature
        return ""
    for fourth in parameters[3:4]:
        free = fourth.default is None or fourth.default is fourth.empty or isinstance(fourth.default, Mapping)
        if fourth.kind is fourth.POSITIONAL_OR_KEYWORD and not free:
            return fourth.name
    return ""
