"""Whether a run can be computed at all: counted before it starts, and watched while it goes."""

from __future__ import annotations

import os
import time as clock
import warnings
from collections.abc import Mapping

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.reach import ValidityWarning
from flexarm.motion.outlook import Outlook, Pace
from flexarm.motion.validity import OF_LAWS

MOST_STEPS = 100_000_000  # some minutes of the smallest robot
MOST_CALLS = 10_000_000  # of a digital controller: each is a call of Python
NUMBERS_A_SAMPLE = 12  # for each coordinate: q, v, a and what they pass through on their way into the results
AFTER, LONG = 5.0, 600.0  # s: a run that after so long promises to take that long says so


def sample_times(duration: float, sample: float | None, coordinates: int) -> Array:
    """Times of the samples, both ends among them; a ValueError where they do not fit into memory."""
    step = duration / 1000 if sample is None else sample
    if step > duration:
        raise ValueError(f"sample = {sample:g}: must be at most the duration, {duration:g} s")
    needed = duration / step * (NUMBERS_A_SAMPLE * coordinates + 50) * 8
    if needed > (room := memory() / 2):
        raise ValueError(
            f"sample = {sample:g}: {duration / step:.3g} samples of this robot need about {needed / 1e9:.3g} GB of "
            f"memory, and {room / 1e9:.3g} GB may be used; take a longer time between samples (s)"
        )
    count = int(np.floor(duration / step + 1e-9))
    times = step * np.arange(count + 1)
    if duration - times[-1] <= 1e-9 * duration:
        times[-1] = duration
    return np.asarray(times if times[-1] == duration else np.append(times, duration), dtype=float)


def require_finite_work(duration: float, dt: float | None, rate: float | None) -> None:
    """Refuse steps and calls of a controller that would never end."""
    if dt is not None and dt > duration:
        raise ValueError(f"dt = {dt:g}: is longer than the duration, {duration:g} s")
    if dt is not None and duration / dt > MOST_STEPS:
        raise ValueError(
            f"dt = {dt:g}: makes {duration / dt:.3g} steps of the duration, {duration:g} s; at most "
            f"{MOST_STEPS:.0e} are taken; take a longer step (s), or leave dt out"
        )
    if rate is not None and duration * rate > MOST_CALLS:
        raise ValueError(
            f"Feedback: rate = {rate:g}: makes {duration * rate:.3g} calls in {duration:g} s, and at most "
            f"{MOST_CALLS:.0e} are made; take a lower rate (Hz)"
        )


def require_seen_inputs(outlooks: Mapping[str, Outlook], pace: Pace, duration: float, dt: float | None) -> None:
    """Refuse inputs that take too many steps to be seen; warn of those that will not be."""
    for name, each in outlooks.items():
        if each.unresolved:
            _doubt(
                f"{name} is faster than could be found out by calling it {each.probes} times, at t = "
                f"{each.fastest:.4g} s within {each.longest:.2g} s: there the result depends on where the steps "
                "happen to be; give a profile, which knows how fast it is (fa.sine, fa.chirp, fa.spline)"
            )
    if not outlooks or not np.isfinite(pace.longest).any():
        return
    name, fastest = min(outlooks.items(), key=lambda item: item[1].longest)
    seen = f"{name} is so fast at t = {fastest.fastest:.4g} s that only steps up to {fastest.longest:.3g} s see it"
    if dt is None and pace.steps > MOST_STEPS:
        raise ValueError(
            f"{seen}: that makes {pace.steps:.3g} of the duration, {duration:g} s, and at most {MOST_STEPS:.0e} are "
            "taken; give a slower input, or a dt (s) that does not see it"
        )
    if dt is not None and dt > fastest.longest:
        _doubt(f"dt = {dt:g}: {seen}; take a shorter dt, or leave it out")


def _doubt(sentence: str) -> None:
    warnings.warn(sentence, ValidityWarning, stacklevel=4)


def memory() -> float:
    """Bytes that this machine has; a modest guess where it does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8e9


class Patience:
    """Says once, when a run promises to take long, how long; a law in it (not of a digital controller) may be why."""

    def __init__(self, duration: float, law: bool = False) -> None:
        self.duration, self._begin, self._said = duration, clock.perf_counter(), False
        self._hint = f"; {OF_LAWS}" if law else ""

    def update(self, t: float) -> None:
        spent = clock.perf_counter() - self._begin
        if self._said or spent < AFTER or not t:
            return
        if (total := spent * self.duration / t) > LONG:
            self._said = True
            warnings.warn(
                f"after {spent:.0f} s this run has come to t = {t:.3g} of {self.duration:g} s: it will take about "
                f"{total / 60:.0f} minutes; a larger rtol or dt is faster, and Ctrl-C keeps what was computed"
                f"{self._hint}",
                ValidityWarning,
                stacklevel=2,
            )
