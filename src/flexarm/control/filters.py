"""Filters on the torques of a feedback law: notch and low-pass.

The states of z1' = w z2, z2' = w (u - z1 - 2 ratio z2) are the low-pass z1 = w^2 u / (s^2 + 2 ratio w s + w^2) and the
band-pass z2 = s z1 / w; a notch is u minus a part of the band-pass. With a sample rate the trapezoidal rule is used,
with the filter's frequency prewarped (Tustin's method).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from flexarm.feedback.composition import Answer, LawComponent, composed, links_of, renamed
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import real_number

BUTTERWORTH_RATIO = 0.5**0.5


def notch(
    feedback: Feedback,
    frequency: float,
    *,
    ratio: float = 0.5,
    depth: float = 0.05,
    links: Sequence[str] | None = None,
) -> Feedback:
    """Add a notch filter to the torques of a feedback, against a resonance.

    Parameters
    ----------
    feedback : Feedback
        Feedback whose torques are filtered, before its limits apply.
    frequency : float
        Frequency of the resonance (Hz), w / (2 pi).
    ratio : float, optional
        Width of the notch: about from (1 - ratio) to (1 + ratio) of the frequency.
    depth : float, optional
        Part of the torque that passes at the frequency, 0 to 1.
    links : sequence of str, optional
        Links whose torques are filtered. By default all that the feedback drives; required for a law given as a
        function.

    Returns
    -------
    Feedback
        Filtered feedback with the gains "notch.frequency", "notch.ratio" and "notch.depth" ("notch2.frequency", ... for
        a second notch).

    Raises
    ------
    ValueError
        If the frequency is not below half the sample rate of the feedback.

    See Also
    --------
    low_pass : Low-pass filter.

    Notes
    -----
    The transfer function is (s^2 + 2 depth ratio w s + w^2) / (s^2 + 2 ratio w s + w^2).

    Examples
    --------
    >>> quiet = notch(Feedback(lambda t, x: {"arm": -x["arm.q"]}), 12.0, links=["arm"])
    >>> sorted(quiet.gains), quiet.states
    (['notch.depth', 'notch.frequency', 'notch.ratio'], {'notch.arm': [0.0, 0.0]})
    """
    ratio = real_number("ratio", ratio, above=0)
    depth = real_number("depth", depth, least=0, most=1)
    return _add_filter(feedback, "notch", frequency, {"ratio": ratio, "depth": depth}, links)


def low_pass(
    feedback: Feedback, frequency: float, *, order: Literal[1, 2] = 2, links: Sequence[str] | None = None
) -> Feedback:
    """Add a low-pass filter to the torques of a feedback.

    Parameters
    ----------
    feedback : Feedback
        Feedback whose torques are filtered, before its limits apply. Filtered torques start at zero.
    frequency : float
        Cut-off frequency (Hz), w / (2 pi), at which 0.707 of a torque passes.
    order : {1, 2}, optional
        Order of the filter: w / (s + w), or Butterworth's w^2 / (s^2 + sqrt(2) w s + w^2).
    links : sequence of str, optional
        Links whose torques are filtered. By default all that the feedback drives; required for a law given as a
        function.

    Returns
    -------
    Feedback
        Filtered feedback with the gain "low_pass.frequency".

    Raises
    ------
    ValueError
        If the frequency is not below half the sample rate of the feedback.

    See Also
    --------
    notch : Notch filter.

    Examples
    --------
    >>> low_pass(Feedback(lambda t, x: {"arm": -x["arm.q"]}), 50.0, order=1, links=["arm"]).states
    {'low_pass.arm': [0.0]}
    """
    if isinstance(order, bool) or order not in (1, 2):
        raise ValueError(f"order = {shown(order)}: must be 1 or 2")
    return _add_filter(feedback, "low_pass", frequency, {"ratio": BUTTERWORTH_RATIO} if order == 2 else {}, links)


@dataclass(frozen=True)
class Filtered:
    """Law whose torques each pass a filter with states of its own."""

    part: LawComponent
    kind: str
    name: str
    links: tuple[str, ...]
    order: int

    @property
    def is_memoryless(self) -> bool:
        """True if it depends on its arguments only."""
        return self.part.is_memoryless

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        torques, states = self.part(t, x, gains)
        for link in self.links:
            name = f"{self.name}.{link}"
            torques[link], states[name] = self._step(torques.get(link, 0.0), x.state(name), x.period, gains)
        return torques, states

    def _step(self, u: Any, z: Any, period: float | None, gains: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Return the filtered torque, and the rates of the states or (with a period) their next values."""
        omega = 2 * np.pi * gains[f"{self.name}.frequency"]
        warped = None if period is None else np.tan(omega * period / 2)
        if self.order == 1:
            if warped is None:
                return z[0], [omega * (u - z[0])]
            change = warped / (1 + warped) * (u - z[0])
            return z[0] + change, [z[0] + 2 * change]
        ratio, (low, band) = gains[f"{self.name}.ratio"], (z[0], z[1])
        if warped is None:
            states = [omega * band, omega * (u - low - 2 * ratio * band)]
        else:
            band = (z[1] + warped * (u - z[0])) / (1 + warped * (warped + 2 * ratio))
            low = z[0] + warped * band
            states = [2 * low - z[0], 2 * band - z[1]]
        if self.kind == "low_pass":
            return low, states
        return u - 2 * ratio * (1 - gains[f"{self.name}.depth"]) * band, states


def _add_filter(feedback: Any, kind: str, frequency: Any, numbers: Mapping[str, float], links: Any) -> Feedback:
    if not isinstance(feedback, Feedback):
        raise TypeError(f"feedback = {shown(feedback)}: must be a Feedback, such as fa.pd(...) or fa.Feedback(law)")
    frequency = real_number("frequency", frequency, "Hz", above=0)
    if feedback.rate is not None and frequency >= feedback.rate / 2:
        raise ValueError(
            f"frequency = {frequency:g} Hz: must be below half the law's sample rate, {feedback.rate / 2:g} Hz"
        )
    chosen, order = _links(feedback, links), 2 if "ratio" in numbers else 1
    own_gains, own_states = dict(feedback.gains or {}), dict(feedback.states or {})
    name = renamed(kind, own_gains | own_states)
    return composed(
        Filtered(LawComponent.of(feedback), kind, name, tuple(chosen), order),
        links_of(feedback),
        rate=feedback.rate,
        limit=feedback.limit,
        gains=own_gains | {f"{name}.{key}": value for key, value in {"frequency": frequency, **numbers}.items()},
        references=feedback.references,
        states=own_states | {f"{name}.{link}": [0.0] * order for link in chosen},
        sensors=feedback.sensors,
        actuators=feedback.actuators,
    )


def _links(feedback: Feedback, links: Any) -> Sequence[str]:
    driven = links_of(feedback)
    if links is None:
        if driven is None:
            raise ValueError("links: the links that a law of your own drives are not known; name them, links=['fore']")
        return driven
    proper = isinstance(links, Sequence) and not isinstance(links, str)
    if not proper or not links or not all(isinstance(each, str) and each for each in links):
        raise TypeError(f"links = {shown(links)}: must be a list of links, ['fore']")
    if len(set(links)) < len(links):
        raise ValueError(f"links = {shown(links)}: has a link twice")
    if driven is not None and (unknown := [each for each in links if each not in driven]):
        raise ValueError(f"links: the feedback does not drive '{unknown[0]}'; it drives {', '.join(driven)}")
    return list(links)
