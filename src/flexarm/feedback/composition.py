"""Composition of feedbacks: sums, and laws that transform the torques of another law."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from math import isclose
from typing import Any

import casadi as ca
import numpy as np

from flexarm.feedback.feedback import Feedback, takes_view
from flexarm.feedback.measurements import LawView
from flexarm.feedback.outputs import Gains, split_output
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown

Torques = dict[str, Any]
Answer = tuple[Torques, dict[str, Any]]
"""Torques by link, and by name rates of states (next values, where the law has a sample rate)."""


@dataclass(frozen=True)
class LawComponent:
    """Law of any signature, called by another one; its torques come by link."""

    law: Callable[..., Any]
    sees: bool
    has_gains: bool
    states: Gains | None

    @staticmethod
    def of(feedback: Feedback) -> LawComponent:
        states = None if feedback.states is None else Gains(feedback.states, "state")
        return LawComponent(feedback.law, takes_view(feedback.law, feedback.gains), feedback.gains is not None, states)

    @property
    def is_memoryless(self) -> bool:
        """True if it depends on its arguments only; a function of the user may have a memory."""
        return bool(getattr(self.law, "is_memoryless", False))

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        seen = (x,) if self.sees else (x.q, x.v)
        what = "rates" if x.period is None else "next values"
        output, states = split_output(self.law(t, *seen, *((gains,) if self.has_gains else ())), self.states, what)
        return _by_link(output, x.inputs), dict(states)

    def __deepcopy__(self, memo: Any) -> LawComponent:
        """Copy the objects to which a function refers, too: tracing a law must not change its owner's state."""
        from flexarm.feedback.traced_law import copied

        return LawComponent(copied(self.law), self.sees, self.has_gains, self.states)


@dataclass(frozen=True)
class Composed:
    """Law of (t, x, gains) with the links that it drives, if they are known."""

    answer: Callable[[Any, LawView, Mapping[str, Any]], Answer]
    links: tuple[str, ...] | None = None
    has_states: bool = False

    @property
    def is_memoryless(self) -> bool:
        """True if it depends on its arguments only."""
        return bool(getattr(self.answer, "is_memoryless", False))

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Any:
        torques, states = self.answer(t, x, gains)
        return (torques, states) if self.has_states else torques


@dataclass(frozen=True)
class WithoutGains:
    """The law of a `Composed` as a function of (t, x)."""

    law: Composed

    @property
    def is_memoryless(self) -> bool:
        """True if it depends on its arguments only."""
        return self.law.is_memoryless

    def __call__(self, t: Any, x: LawView) -> Any:
        return self.law(t, x, {})

    @property
    def links(self) -> tuple[str, ...] | None:
        return self.law.links


def composed(
    answer: Callable[[Any, LawView, Mapping[str, Any]], Answer],
    links: Sequence[str] | None,
    **fields: Any,
) -> Feedback:
    """A feedback of a law that answers by link, with other fields of a feedback; None is left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    law = Composed(answer, None if links is None else tuple(links), "states" in given)
    return Feedback(law if "gains" in given else WithoutGains(law), **given)


def links_of(feedback: Feedback) -> tuple[str, ...] | None:
    """Return the links that a feedback drives, if they are known."""
    found = getattr(feedback.law, "links", None)
    return found if isinstance(found, tuple) else None


@dataclass(frozen=True)
class Sum:
    """Torques of two laws, added."""

    parts: tuple[LawComponent, LawComponent]

    @property
    def is_memoryless(self) -> bool:
        """True if both depend on their arguments only."""
        return all(part.is_memoryless for part in self.parts)

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        (first, states), (second, more) = (part(t, x, gains) for part in self.parts)
        return {name: first.get(name, 0.0) + second.get(name, 0.0) for name in {**first, **second}}, {
            **states,
            **more,
        }


def added(first: Feedback, second: Feedback) -> Feedback:
    """The feedback whose torques are the sums of both.

    A limit is what a motor can give: so each holds for the sum, the smaller one where both have one.
    """
    for one, other in ((first, second), (second, first)):
        _require_known_limits(one, other)
    known = [links_of(each) for each in (first, second)]
    links = None if None in known else [*dict.fromkeys(name for each in known if each is not None for name in each)]
    return composed(Sum((LawComponent.of(first), LawComponent.of(second))), links, **combined_feedback(first, second))


def _require_known_limits(one: Feedback, other: Feedback) -> None:
    """Require the limits of laws whose integrals or observers follow what limits leave of a torque."""
    law = getattr(one.law, "law", one.law)
    follows = getattr(getattr(law, "answer", law), "follows_limits", False)
    brings = other.limit is not None or any(np.isfinite(each.limit) for each in (other.actuators or {}).values())
    if follows and brings and other.limit != one.limit:
        raise ValueError(
            "feedbacks are added of which one has integrals or an observer that follow its own limits, and the other "
            "brings more: give the limits to the first, fa.pid(..., limit=...) or design.feedback(limit=...)"
        )


def combined_feedback(first: Feedback, second: Feedback) -> dict[str, Any]:
    """Combine all but the laws of two feedbacks; a name that both have must mean the same."""
    if not _same_rate(first.rate, second.rate):
        rates = " and ".join("none" if each.rate is None else f"{each.rate:g} Hz" for each in (first, second))
        raise ValueError(f"feedbacks are added that have the same sample rate: these have {rates}; give both the same")
    if both := set(first.states or {}) & set(second.states or {}):
        raise ValueError(f"feedbacks are added whose states have different names: both have {shown(min(both))}")
    names = ("gains", "references", "sensors", "actuators")
    fields = {name: _joined(name, getattr(first, name), getattr(second, name)) for name in names}
    states = {**(first.states or {}), **(second.states or {})} or None
    return {"rate": first.rate, "limit": _smaller(first.limit, second.limit), "states": states, **fields}


def renamed(name: str, taken: Mapping[str, Any] | None) -> str:
    """A name that is not taken as the first word of others: `notch`, `notch2`, ..."""
    words = {each.partition(".")[0] for each in taken or {}}
    count = 1
    while (found := name if count == 1 else f"{name}{count}") in words:
        count += 1
    return found


def _joined(what: str, first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> dict[str, Any] | None:
    one, other = first or {}, second or {}
    for name in one:
        if name in other and not _same(one[name], other[name]):
            raise ValueError(
                f"feedbacks are added whose {what} agree: '{name}' is {shown(one[name])} in one and "
                f"{shown(other[name])} in the other; give one of them another name"
            )
    return {**one, **other} or None


def _same_rate(one: float | None, other: float | None) -> bool:
    """But for rounding: the rate of a sampled design is one over its period."""
    return one == other if one is None or other is None else isclose(one, other, rel_tol=1e-12)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _smaller(one: Any, other: Any) -> Any:
    """Return the smaller of two limits, each a number, one for each actuator, or by link."""
    if one is None or other is None:
        return deepcopy(other if one is None else one)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return {name: min(each[name] for each in (one, other) if name in each) for name in {**one, **other}}
    if isinstance(one, Mapping) or isinstance(other, Mapping):
        raise ValueError(
            f"feedbacks are added whose limits are given in one way: {shown(one)} and {shown(other)}; give both by link"
        )
    if np.ndim(one) and np.ndim(other) and np.size(one) != np.size(other):
        raise ValueError(f"feedbacks are added whose limits are equally many: {shown(one)} and {shown(other)} are not")
    smaller = np.minimum(one, other)
    return smaller.tolist() if np.ndim(smaller) else float(smaller)


def _by_link(output: Any, inputs: Sequence[str]) -> Torques:
    if isinstance(output, Mapping):
        return dict(output)
    if isinstance(output, (ca.SX, ca.DM)):
        entries = [output[k] for k in range(output.numel())]
    else:
        entries = list(output) if isinstance(output, (list, tuple, np.ndarray)) else [output]
    if len(entries) != len(inputs):
        raise ValueError(f"it gave {len(entries)} torques; there are {len(inputs)} actuators: {', '.join(inputs)}")
    return dict(zip(inputs, entries, strict=True))
