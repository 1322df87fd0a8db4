"""Laws about the motion of a run: slopes, and the torques and rates that the slopes leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.traced_law import TracedLaw
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

SLOPE_TIMES = 16  # of a run, at which slopes are taken; their mean counts
DIFFERENCE = 1e-6  # of what is large for a coordinate


@dataclass(frozen=True)
class LinearizedLaw:
    """Torques and rates of states as slopes times (q, v, states), plus functions of time.

    slopes: (nu + states, 2 nq + states); times: (times,); rest: (times, nu + states); start: states at the start.
    """

    slopes: Array
    times: Array
    rest: Array
    start: Array


def continuous_law(feedback: Feedback, system: System, law: TracedLaw | None) -> TracedLaw | None:
    """Return the law of a feedback as a function of the state; None if there is none.

    A digital law of the package without states is the same function at every sample. Any other digital law may have a
    memory.
    """
    if law is not None or feedback.states is not None or not getattr(feedback.law, "is_memoryless", False):
        return law
    try:
        return TracedLaw(replace(feedback, rate=None, sensors=None, actuators=None), system)
    except (TypeError, ValueError, KeyError):  # it reads what only a digital law can read
        return None


def linearized(law: TracedLaw, times: Array, q: Array, v: Array, states: Array) -> LinearizedLaw:
    """Linearize a law about a motion.

    Parameters
    ----------
    law : TracedLaw
        The law.
    times : ndarray, shape (times,)
        Times (s).
    q, v : ndarray, shape (times, nq)
        The motion.
    states : ndarray, shape (times, states)
        States of the law.
    """
    n, count = q.shape[1], len(law.start)
    here = np.hstack([q, v, states])
    values = law.values(times, here[:, :n], here[:, n : 2 * n], here[:, 2 * n :])
    some = np.unique(np.linspace(0, len(times) - 1, SLOPE_TIMES).astype(int))
    sizes = np.concatenate(
        [law.system.sizes, law.system.sizes, np.maximum(1.0, np.abs(states).max(axis=0, initial=0.0))]
    )
    changes = DIFFERENCE * np.vstack([np.diag(sizes[: 2 * n + count]), -np.diag(sizes[: 2 * n + count])])
    moved = (here[some][:, None, :] + changes).reshape(-1, 2 * n + count)
    at = np.repeat(times[some], len(changes))
    found = law.values(at, moved[:, :n], moved[:, n : 2 * n], moved[:, 2 * n :]).reshape(
        len(some), 2, -1, values.shape[1]
    )
    slopes = (found[:, 0] - found[:, 1]) / (2 * DIFFERENCE * sizes[: 2 * n + count, None])
    mean = slopes.mean(axis=0).T
    return LinearizedLaw(mean, times, values - here @ mean.T, law.start)
