"""Many two-link arms in Exudyn: its ParameterVariation, in processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from peers import exudyn_models  # before exudyn: it asks for the fast build, also in processes that import this anew

from exudyn.processing import ParameterVariation  # isort: skip


def member(given: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Times and tips of one arm (s, m), and the seconds that its solver and all of it took."""
    arm = {"payload": given["payload"], "upper_E": given["upper_E"]}
    result = exudyn_models.two_link_arm(**given["functionData"], **arm)
    return result.times, result.track, result.loop, result.whole


def varied(
    payloads: Sequence[float], moduli: Sequence[float], setting: Mapping[str, Any], processes: int
) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
    """All combinations, as `member` gives them."""
    _, found = ParameterVariation(
        member,
        {"payload": list(payloads), "upper_E": list(moduli)},
        useMultiProcessing=True,
        numberOfThreads=processes,
        showProgress=False,
        parameterFunctionData=dict(setting),
    )
    return list(found)
